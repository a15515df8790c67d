#include "scenarios/cli/sweep/steady.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/process.h"
#include "scenarios/cli/progress.h"
#include "scenarios/cli/sweep/reproducer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RUNS_MAX       32u
#define RUNS_LEAST     8u /* however slow the machine is */
#define MILLISECONDS   1000u
#define PROCESSES      3u  /* started anew: one may be loaded where this one is */
#define RUNS_ELSEWHERE 16u /* in each of these */
#define FILL_FIRST     0x00
#define FILL_SECOND    0xa5

/* One run, made twice in one process. */
struct twice {
    uint64_t seed;
    bool done;
    uint64_t digests[2];
};

struct check {
    struct session *session;
    const struct steady_subject *subject;
    struct twice runs[RUNS_MAX];
    uint32_t count;
    const char **why;
    uint64_t *seed;
};

static void
differs(const struct check *check, const struct twice *run, const char *where, uint64_t other)
{
    *check->seed = run->seed;
    *check->why = text_format(&check->session->texts,
                              "%s gave digest 0x%016" PRIx64 " and, %s, 0x%016" PRIx64
                              ": the sink depends on more than its state, the time and the event",
                              check->subject->tape_or_null != NULL
                                  ? "the tape"
                                  : text_format(&check->session->texts, "seed %" PRIu64, run->seed),
                              run->digests[0],
                              where,
                              other);
}

static bool run_twice(const struct check *check, struct reproducer *reproducer, struct twice *run)
{
    const struct steady_subject *subject = check->subject;
    struct run_request requests[2];
    for (uint32_t i = 0; i < 2; i++) {
        requests[i] = subject->tape_or_null != NULL
                          ? reproducer_tape_request(subject->tape_or_null)
                          : reproducer_seed_request(subject->scenario, run->seed);
        requests[i].fill_on = true;
        requests[i].fill = i == 0 ? FILL_FIRST : FILL_SECOND;
    }
    const enum reproducer_end end = reproducer_run_twice_guarded(
        reproducer, requests, check->session->options->hang_after, run->digests);
    run->done = end == REPRODUCER_DONE;
    return end != REPRODUCER_HUNG;
}

/* The first and the second run of each; false when they differ. */
static bool first_and_second(struct check *check)
{
    const uint64_t count =
        check->subject->tape_or_null != NULL ? 1 : seed_range_count(check->subject->seeds);
    const uint64_t started = wall_milliseconds();
    struct reproducer *reproducer = reproducer_create(check->subject->scenario);
    bool same = true;
    for (uint64_t i = 0; reproducer != NULL && same && i < count && i < RUNS_MAX; i++) {
        struct twice *run = &check->runs[check->count];
        run->seed = check->subject->seeds.first + i;
        if (!run_twice(check, reproducer, run)) {
            break;
        }
        check->count++;
        if (run->done && run->digests[0] != run->digests[1]) {
            differs(check, run, "run again in the same process", run->digests[1]);
            same = false;
        }
        if (check->count >= RUNS_LEAST && wall_milliseconds() - started > MILLISECONDS) {
            break;
        }
    }
    if (reproducer != NULL) {
        reproducer_destroy(reproducer);
    }
    return same;
}

static uint32_t elsewhere_count(const struct check *check)
{
    return check->count < RUNS_ELSEWHERE ? check->count : RUNS_ELSEWHERE;
}

/* What another process says of all runs, as command_digests.c writes it. */
static struct bytes ask(const struct check *check)
{
    const struct options *options = check->session->options;
    struct text_pool *texts = &check->session->texts;
    const struct steady_subject *subject = check->subject;
    const char *program = program_path(texts);
    const char *words[20] = {
        "env",
        "MALLOC_PERTURB_=165",
        program != NULL ? program : options->program,
        "digests",
        subject->word,
        "--profile",
        profile_name(subject->scenario->config.profile),
        "--hang-after",
        text_format(texts, "%" PRIu64 "ms", options->hang_after / NANOS_PER_MS),
    };
    size_t count = 9;
    struct bytes output = {0};
    if (subject->tape_or_null == NULL) {
        words[count++] = "--seeds";
        words[count++] = text_format(texts,
                                     "%" PRIu64 "-%" PRIu64,
                                     check->runs[0].seed,
                                     check->runs[elsewhere_count(check) - 1].seed);
    } else if (subject->tape_path_or_null != NULL) {
        words[count++] = "--tape";
        words[count++] = subject->tape_path_or_null;
    }
    if (options->sink != NULL) {
        words[count++] = "--sink";
        words[count++] = options->sink;
    }
    if (options->without_oracle != NULL) {
        words[count++] = "--without-oracle";
        words[count++] = options->without_oracle;
    }
    if (process_read(words, texts, &output) != 0) {
        output = (struct bytes){0};
    }
    return output;
}

/* The third run of some; false when one differs. */
static bool third(const struct check *check)
{
    const char *text = (const char *)ask(check).data;
    for (uint32_t i = 0; text != NULL && i < elsewhere_count(check); i++) {
        const struct twice *run = &check->runs[i];
        const char *digest = strstr(text, " digest ");
        const char *end = strchr(text, '\n');
        uint64_t value = 0;
        if (end == NULL) {
            break;
        }
        const bool told =
            digest != NULL && digest < end && sscanf(digest, " digest 0x%" SCNx64, &value) == 1;
        if (run->done && told && value != run->digests[0]) {
            differs(check, run, "in another process", value);
            return false;
        }
        text = end + 1;
    }
    return true;
}

bool steady_check(struct session *session,
                  const struct steady_subject *subject,
                  const char **why,
                  uint64_t *seed)
{
    struct check check = {.session = session, .subject = subject, .why = why, .seed = seed};
    bool same = first_and_second(&check);
    for (uint32_t i = 0; i < PROCESSES && same && check.count > 0; i++) {
        same = third(&check);
    }
    return same;
}
