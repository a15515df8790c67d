#include "scenarios/fuzz/tape_bench.h"

#include "reports/text.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/search/shrinking.h"
#include "scenarios/cli/sweep/entry.h"
#include "scenarios/cli/sweep/failures.h"
#include "scenarios/cli/sweep/summary.h"
#include "scenarios/wiring/catalogue.h"
#include "sim/tape.h"
#include "sinks/base/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENARIO_DEFAULT  "cloudtasks/exactly-once-small"
#define ARENA_CAP_DEFAULT ((size_t)8 << 20)
#define DECISIVE_SIZE     400

static const char *environment(const char *name, const char *fallback)
{
    const char *value = getenv(name);
    return value == NULL || value[0] == '\0' ? fallback : value;
}

/* Bit per oracle that counts. */
static uint64_t wanted_oracles(void)
{
    const char *name = environment("ORACLE", "any");
    uint8_t oracle = 0;
    if (strcmp(name, "any") != 0 && summary_oracle_parse(name, &oracle) != ERR_OK) {
        (void)fprintf(stderr, "%s: ORACLE must be one of: build/sinkproof list oracles\n", name);
        exit(1);
    }
    return summary_stop_oracles(name);
}

static struct tape_bench *create(void)
{
    const char *name = environment("SCENARIO", SCENARIO_DEFAULT);
    const struct scenario_options options = {.name = name};
    struct scenario_fault fault;
    struct tape_bench *bench = calloc(1, sizeof *bench);
    CHECK(bench != NULL);
    if (scenario_load(name, &options, &bench->scenario, &fault) != ERR_OK) {
        (void)fprintf(stderr, "%s\n", fault.message);
        exit(1);
    }
    if (bench->scenario->expectation != EXPECT_HOLDS) {
        (void)fprintf(stderr, "%s: SCENARIO must be one that is expected to hold\n", name);
        exit(1);
    }
    const size_t cap = bench->scenario->config.arena_soft_cap;
    const size_t size = (cap > 0 ? cap : ARENA_CAP_DEFAULT) + RUN_HEADROOM;
    void *memory = aligned_alloc(16, size);
    CHECK(memory != NULL);
    runner_init(&bench->runner, memory, size);
    bench->oracles = wanted_oracles();
    bench->tape = (struct tape){.entries = bench->entries, .capacity = TAPE_BENCH_ENTRIES};
    return bench;
}

struct tape_bench *tape_bench(void)
{
    static struct tape_bench *bench = NULL;
    if (bench == NULL) {
        bench = create();
    }
    return bench;
}

void tape_bench_run(struct tape_bench *bench, struct bytes input)
{
    tape_read_fuzz(input, catalogue_registry(), &bench->tape);
    const struct run_request request = {.choice = {.mode = CHOICE_REPLAY,
                                                   .tape = &bench->tape,
                                                   .offer_capacity = TAPE_BENCH_OFFERS}};
    runner_run(&bench->runner, &bench->scenario->config, &request, &bench->result);
    CHECK(bench->result.verdict != RUN_REFUSED);
    bench->executions++;
    bench->has_run = true;
    bench->ran = digest_bytes(input);
}

void tape_bench_want(struct tape_bench *bench, struct bytes input)
{
    if (!bench->has_run || bench->ran != digest_bytes(input)) {
        tape_bench_run(bench, input);
    }
}

const struct result_finding *tape_bench_finding(const struct tape_bench *bench)
{
    for (uint32_t i = 0; i < bench->result.finding_count; i++) {
        const struct result_finding *found = &bench->result.findings[i];
        if ((bench->oracles >> found->oracle & 1) != 0) {
            return found;
        }
    }
    return NULL;
}

/* --- the report -------------------------------------------------------------------------------- */

/* What a finding is told from. */
struct telling {
    struct tape_bench *bench;
    struct text_pool texts;
    struct reproducer *reproducer;
    struct culprit culprit;
    struct shrinking shrinking;
    uint32_t found; /* entries before shrinking */
    struct report_violation violation;
    struct report_run run;
};

/* Leave the tape; its path. */
static const char *keep(struct telling *telling, const char *text)
{
    struct text_pool *texts = &telling->texts;
    const char *folder = environment("FOUND", ".");
    char *name = text_format(texts,
                             "%s-%s-%016" PRIx64 ".tape",
                             telling->bench->scenario->name,
                             summary_oracle_name(telling->culprit.oracle),
                             digest_bytes(bytes_of_text(text)));
    for (char *at = name; *at != '\0'; at++) {
        *at = *at == '/' ? '-' : *at;
    }
    const char *path = text_format(texts, "%s/%s", folder, name);
    if (folder_make(folder) != ERR_OK || file_write(path, bytes_of_text(text)) != ERR_OK) {
        (void)fprintf(stderr, "FOUND \"%s\": cannot write there\n", folder);
    }
    return path;
}

/* Shrink what the last run broke first, and leave the smallest run in the reproducer. */
static void shrink(struct telling *telling)
{
    struct tape_bench *bench = telling->bench;
    const struct result_finding *first = tape_bench_finding(bench);
    const struct shrinking_limits limits = {.attempts = FAILURE_ATTEMPTS};
    const struct choice *choice = bench->runner.world->choice;
    telling->culprit = (struct culprit){
        .oracle = first->oracle,
        .subject_kind = first->finding.subject_kind,
        .subject = first->finding.subject,
    };
    telling->found = choice->recorded.count;
    shrinking_run(
        &telling->shrinking, telling->reproducer, &choice->recorded, &telling->culprit, &limits);
    struct run_request last = reproducer_tape_request(&telling->shrinking.result.tape);
    last.keep_trace = true;
    (void)reproducer_run(telling->reproducer, &last);
}

static void fill_violation(struct telling *telling)
{
    struct text_pool *texts = &telling->texts;
    const struct result *result = reproducer_result(telling->reproducer);
    const struct tape *tape = &telling->shrinking.result.tape;
    const struct finding *found = culprit_find(&telling->culprit, result);
    const char **oracles = text_memory(texts, 1, sizeof *oracles);
    uint8_t decisive[DECISIVE_SIZE];
    struct byte_writer writer;
    CHECK(found != NULL);
    byte_writer_init(&writer, decisive, sizeof decisive);
    reproducer_describe(telling->reproducer, found->position, &writer);
    struct tape_header header = failures_header(telling->bench->scenario);
    entry_fill_header(texts, &telling->culprit, result->digest, &header);
    const char *text = entry_text(texts, &header, tape);
    const char *path = keep(telling, text);
    oracles[0] = summary_oracle_name(telling->culprit.oracle);
    telling->violation = (struct report_violation){
        .oracles = oracles,
        .oracle_count = 1,
        .subject = summary_subject(texts, found->subject_kind, found->subject),
        .tape = text,
        .deviations = tape->count,
        .message = found->message,
        .decisive = text_copy(texts, byte_writer_view(&writer)),
        .command = text_format(texts, "build/sinkproof replay %s", text_shell_word(texts, path)),
        .deviations_found = telling->found,
        .run_or_null = "tape",
    };
    telling->violation.choice_count = failures_choices(texts, text, &telling->violation.choices);
}

void tape_bench_report(struct tape_bench *bench)
{
    struct telling telling = {
        .bench = bench,
        .reproducer = reproducer_create_alone(bench->scenario),
    };
    CHECK(telling.reproducer != NULL);
    CHECK(tape_bench_finding(bench) != NULL);
    shrink(&telling);
    fill_violation(&telling);
    telling.run = (struct report_run){
        .scenario = bench->scenario->name,
        .profile = profile_name(bench->scenario->config.profile),
        .seeds = "none",
        .runs = bench->executions,
        .counted = bench->executions,
        .expected = REPORT_HOLDS,
        .verdict = REPORT_FAILS,
        .violations = &telling.violation,
        .violation_count = 1,
        .violating = 1,
        .digest = reproducer_result(telling.reproducer)->digest,
    };
    report_text_run(stderr, &telling.run, REPORT_PLAIN);
    shrinking_free(&telling.shrinking);
    reproducer_destroy(telling.reproducer);
    text_pool_fini(&telling.texts);
}
