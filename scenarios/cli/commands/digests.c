/* digests: what runs come to, in lines for programs. Not in the help: the command line asks another
 * process, or another build of itself, by it.
 *
 *   seed 7 digest 0x0123456789abcdef events 214     a run, each in a process of its own
 *   seed 7 crash signal 11                          or it crashed
 *   seed 7 hang                                     or did not end
 *   tape digest ...                                 the same for a tape
 *
 * With --until EVENT the runs end before that event. With --trace the event before that one follows:
 *
 *   time 1000000                                    when, ns
 *   choice cloudtasks.create.fate/writer0#0 = ...   the last choice before it; or nothing
 *   line #12 writer0: sends request 3 ...            what it left in the journal */
#include "scenarios/cli/command.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/sweep/failures.h"
#include "scenarios/cli/sweep/reproducer.h"

#include <inttypes.h>
#include <string.h>

#define LINE_SIZE 400

/* Another byte than a replay's first run fills its arena with. */
#define FILL 0xa5

struct digests {
    struct session *session;
    struct scenario *scenario;
    struct reproducer *reproducer;
    struct tape tape;
    bool has_tape;
};

static struct run_request request_of(const struct digests *digests, uint64_t seed, uint64_t until)
{
    struct run_request request = digests->has_tape
                                     ? reproducer_tape_request(&digests->tape)
                                     : reproducer_seed_request(digests->scenario, seed);
    request.until_event = until;
    request.fill_on = true;
    request.fill = FILL;
    return request;
}

/* Run until an event and print how it ended; false when nothing is left to look at. */
static bool run(const struct digests *digests, uint64_t seed, uint64_t until, bool quiet)
{
    const struct options *options = digests->session->options;
    const struct run_request request = request_of(digests, seed, until);
    int detail = 0;
    const enum reproducer_end end =
        reproducer_run_guarded(digests->reproducer, &request, options->hang_after, &detail);
    if (!quiet && digests->has_tape) {
        (void)printf("tape ");
    } else if (!quiet) {
        (void)printf("seed %" PRIu64 " ", seed);
    }
    if (end == REPRODUCER_DONE) {
        const struct result *result = reproducer_result(digests->reproducer);
        if (!quiet) {
            (void)printf(
                "digest 0x%016" PRIx64 " events %" PRIu64 "\n", result->digest, result->events);
        }
        return reproducer_world(digests->reproducer) != NULL;
    }
    if (!quiet && end == REPRODUCER_HUNG) {
        (void)printf("hang\n");
    } else if (!quiet) {
        (void)printf("crash signal %d\n", detail);
    }
    return false;
}

static void print_last_choice(const struct digests *digests)
{
    struct text_pool *texts = &digests->session->texts;
    const struct tape recorded = reproducer_recorded(digests->reproducer);
    const char *const *choices = NULL;
    const size_t count =
        failures_choices(texts, failures_tape_text(texts, digests->scenario, &recorded), &choices);
    if (count > 0) {
        (void)printf("choice %s\n", choices[count - 1]);
    }
}

/* The event before --until: what it added to the journal. */
static void print_event(const struct digests *digests, uint64_t seed)
{
    const uint64_t until = digests->session->options->until_event;
    uint32_t from = 0;
    if (until > 1) {
        if (!run(digests, seed, until - 1, true)) {
            return;
        }
        from = reproducer_world(digests->reproducer)->journal->count;
        print_last_choice(digests);
    }
    if (!run(digests, seed, until, true)) {
        return;
    }
    const struct world *world = reproducer_world(digests->reproducer);
    (void)printf("time %" PRIu64 "\n", reproducer_result(digests->reproducer)->ended_at);
    for (uint32_t i = from; i < world->journal->count; i++) {
        uint8_t line[LINE_SIZE];
        struct byte_writer writer;
        byte_writer_init(&writer, line, sizeof line);
        reproducer_describe(digests->reproducer, i, &writer);
        const struct bytes view = byte_writer_view(&writer);
        (void)printf("line #%" PRIu32 " %.*s\n", i, (int)view.size, (const char *)view.data);
    }
}

static void print_one(const struct digests *digests, uint64_t seed)
{
    const struct options *options = digests->session->options;
    (void)run(digests, seed, options->until_event, false);
    if (options->until_event > 0 && option_is_given(options, OPTION_BIT(TRACE))) {
        print_event(digests, seed);
    }
}

static enum status print_all(struct digests *digests)
{
    const struct options *options = digests->session->options;
    const bool has_seeds = option_is_given(options, OPTION_BIT(SEEDS));
    enum status status = STATUS_OK;
    if (options->tape != NULL) {
        status = session_tape(digests->session, options->tape, &digests->tape);
        digests->has_tape = true;
    } else if (!has_seeds && digests->scenario->has_tape) {
        digests->tape = digests->scenario->tape;
        digests->has_tape = true;
    } else if (!has_seeds) {
        complain("digests: neither --seeds nor --tape given; wanted: one of them");
        status = STATUS_USAGE;
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (digests->has_tape) {
        print_one(digests, 0);
        return STATUS_OK;
    }
    const uint64_t count = seed_range_count(options->seeds);
    for (uint64_t i = 0; i < count; i++) {
        print_one(digests, options->seeds.first + i);
    }
    return STATUS_OK;
}

enum status command_digests(const struct options *options)
{
    struct session session;
    struct digests digests = {.session = &session};
    enum status status = session_open(&session, options);
    if (status == STATUS_OK) {
        status = session_scenario(&session, options->arguments[0], &digests.scenario);
    }
    if (status == STATUS_OK) {
        digests.reproducer = reproducer_create(digests.scenario);
        if (digests.reproducer == NULL) {
            complain("no memory for a run");
            status = STATUS_INTERNAL;
        } else {
            status = print_all(&digests);
            reproducer_destroy(digests.reproducer);
        }
    }
    if (digests.scenario != NULL) {
        scenario_destroy(digests.scenario);
    }
    session_close(&session);
    return status;
}
