/* replay: one run again, of a seed or a tape, made twice to see that it comes out the same. */
#include "reports/text.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/plots/recovery_plots.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/story/subject.h"
#include "scenarios/cli/sweep/entry.h"
#include "scenarios/cli/sweep/reproducer.h"
#include "scenarios/cli/sweep/steady.h"
#include "scenarios/cli/sweep/summary.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#define LINE_SIZE 400

/* The arena is filled with another byte for each of the two runs, so that a read of memory that
 * nobody wrote shows as a difference. */
#define FILL_FIRST  0x00
#define FILL_SECOND 0xa5

struct replay {
    struct session *session;
    const char *word;
    struct scenario *scenario;
    struct reproducer *reproducer;
    struct tape tape;
    bool has_tape;
    bool strict;
    bool is_kept; /* the tape is an entry, which says itself what its run is to show */
    struct entry entry;
    struct subject_filter filter;
};

static struct run_request request_of(const struct replay *replay, uint8_t fill)
{
    const struct options *options = replay->session->options;
    struct run_request request = replay->has_tape
                                     ? reproducer_tape_request(&replay->tape)
                                     : reproducer_seed_request(replay->scenario, options->seed);
    request.keep_trace = true;
    request.until_event = options->until_event;
    request.fill_on = true;
    request.fill = fill;
    return request;
}

static void print_trace(const struct replay *replay)
{
    const struct world *world = reproducer_world(replay->reproducer);
    const uint32_t count = world == NULL ? 0 : world->journal->count;
    for (uint32_t i = 0; i < count; i++) {
        if (subject_filter_takes(&replay->filter, journal_at(world->journal, i))) {
            uint8_t line[LINE_SIZE];
            struct byte_writer writer;
            byte_writer_init(&writer, line, sizeof line);
            reproducer_describe(replay->reproducer, i, &writer);
            const struct bytes view = byte_writer_view(&writer);
            (void)printf("#%" PRIu32 " %.*s\n", i, (int)view.size, (const char *)view.data);
        }
    }
}

static const char *verdict_name(const struct result *result)
{
    switch ((enum run_verdict)result->verdict) {
    case RUN_OK:
        return "ok";
    case RUN_VIOLATION:
        return "violation";
    case RUN_VACUOUS:
        return "vacuous: nothing happened";
    case RUN_LIMIT:
        return "no verdict: a limit ended the run";
    case RUN_REFUSED:
        return "refused";
    }
    UNREACHABLE();
}

static void print_finding(const struct replay *replay, const struct result_finding *found)
{
    uint8_t line[LINE_SIZE];
    struct byte_writer writer;
    byte_writer_init(&writer, line, sizeof line);
    reproducer_describe(replay->reproducer, found->finding.position, &writer);
    const struct bytes view = byte_writer_view(&writer);
    (void)printf("  broken: %s: %s: %s\n    decided by: #%" PRIu32 " %.*s\n",
                 summary_oracle_name(found->oracle),
                 summary_subject(
                     &replay->session->texts, found->finding.subject_kind, found->finding.subject),
                 found->finding.message,
                 found->finding.position,
                 (int)view.size,
                 (const char *)view.data);
}

static void print_result(const struct replay *replay, const struct result *result)
{
    (void)printf("%s: %s\n", replay->scenario->name, verdict_name(result));
    if (result->message[0] != '\0') {
        (void)printf("  %s\n", result->message);
    }
    if (replay->has_tape) {
        (void)printf(
            "  aligned %" PRIu32 "/%" PRIu32, result->alignment.aligned, result->alignment.entries);
        if (result->alignment.drifted > 0) {
            (void)printf(", drifted %" PRIu32, result->alignment.drifted);
        }
    } else {
        (void)printf("  seed %" PRIu64, replay->session->options->seed);
    }
    (void)printf(", %" PRIu64 " events, %" PRIu32 " draws, %" PRIu32
                 " choices, digest 0x%016" PRIx64 "\n",
                 result->events,
                 result->draws,
                 reproducer_recorded(replay->reproducer).count,
                 result->digest);
    for (uint32_t i = 0; i < result->finding_count; i++) {
        print_finding(replay, &result->findings[i]);
    }
}

static void print_stop(const struct replay *replay, nanos now)
{
    (void)printf("%s: stopped before event %" PRIu64 " at %" PRIu64 ".%09" PRIu64 " s\n",
                 replay->scenario->name,
                 replay->session->options->until_event,
                 now / NANOS_PER_S,
                 now % NANOS_PER_S);
    (void)fflush(stdout);
}

/* Stand still where a debugger can look at the run, and step into the event. */
static void break_here(void *context)
{
    const struct replay *replay = context;
    print_stop(replay, world_now(reproducer_world(replay->reproducer)));
    (void)raise(SIGTRAP);
}

static bool breaks(const struct result *result, const char *oracle)
{
    for (uint32_t i = 0; i < result->finding_count; i++) {
        if (oracle[0] == '\0' ||
            strcmp(oracle, summary_oracle_name(result->findings[i].oracle)) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_as_expected(const struct scenario *scenario, const struct result *result)
{
    switch ((enum scenario_expectation)scenario->expectation) {
    case EXPECT_HOLDS:
        return result->verdict == RUN_OK || result->verdict == RUN_VACUOUS;
    case EXPECT_FAILS:
        return breaks(result, scenario->expected_oracle);
    case EXPECT_REFUSED:
        return result->verdict == RUN_REFUSED;
    }
    UNREACHABLE();
}

/* A kept tape is judged by what it says, and looked for near it when it is out of step. */
static enum status judge_entry(const struct replay *replay)
{
    struct report_entry record;
    const enum status status =
        entry_judge(replay->session, &replay->entry, replay->scenario, &record);
    if (status != STATUS_OK) {
        return status;
    }
    report_text_entry(stdout, &record);
    return entry_status(replay->session->options, &record);
}

static enum status status_of(const struct replay *replay, const struct result *result)
{
    if (replay->is_kept) {
        return judge_entry(replay);
    }
    const struct choice_alignment *alignment = &result->alignment;
    if (replay->strict && replay->has_tape &&
        (alignment->aligned != alignment->entries || alignment->drifted != 0)) {
        (void)printf("  the tape is out of step with the run, and strict replay was asked for\n");
        return STATUS_BROKEN;
    }
    if (result->verdict == RUN_LIMIT) {
        return STATUS_INTERNAL;
    }
    return is_as_expected(replay->scenario, result) ? STATUS_OK : STATUS_BROKEN;
}

/* What a run that did not end had come to. */
static void print_last(const struct replay *replay)
{
    const struct world *world = reproducer_world(replay->reproducer);
    if (world == NULL || world->journal->count == 0) {
        return;
    }
    uint8_t line[LINE_SIZE];
    struct byte_writer writer;
    byte_writer_init(&writer, line, sizeof line);
    reproducer_describe(replay->reproducer, world->journal->count - 1, &writer);
    const struct bytes view = byte_writer_view(&writer);
    (void)printf("    last: #%" PRIu32 " %.*s\n",
                 world->journal->count - 1,
                 (int)view.size,
                 (const char *)view.data);
}

/* Once, in this process, where the debugger is. */
static enum status replay_for_debugger(struct replay *replay)
{
    struct run_request request = request_of(replay, FILL_FIRST);
    request.at_event = break_here;
    request.at_event_context = replay;
    const struct result *result = reproducer_run(replay->reproducer, &request);
    if (option_is_given(replay->session->options, OPTION_BIT(TRACE))) {
        print_trace(replay);
    }
    print_result(replay, result);
    return status_of(replay, result);
}

/* The first of two runs, in a process of its own, so that one that crashes is told, too. */
static enum status run_guarded(const struct replay *replay, uint64_t *digest)
{
    const struct options *options = replay->session->options;
    const struct run_request request = request_of(replay, FILL_FIRST);
    int detail = 0;
    const enum reproducer_end end =
        reproducer_run_guarded(replay->reproducer, &request, options->hang_after, &detail);
    switch (end) {
    case REPRODUCER_DONE:
        *digest = reproducer_result(replay->reproducer)->digest;
        return STATUS_OK;
    case REPRODUCER_CRASHED:
        (void)printf("%s: violation\n  broken: crash: the run %s%s after %" PRIu32 " choices\n",
                     replay->scenario->name,
                     detail == 0 ? "ended the process by itself" : "died of signal ",
                     detail == 0 ? "" : text_format(&replay->session->texts, "%d", detail),
                     reproducer_recorded(replay->reproducer).count);
        break;
    case REPRODUCER_HUNG:
        (void)printf("%s: violation\n  broken: hang: the run did not end within %" PRIu64 " s\n",
                     replay->scenario->name,
                     options->hang_after / NANOS_PER_S);
        break;
    case REPRODUCER_NO_PROCESS:
        complain("no process for the run");
        return STATUS_INTERNAL;
    }
    print_last(replay);
    if (option_is_given(options, OPTION_BIT(TRACE))) {
        print_trace(replay);
    }
    return STATUS_BROKEN;
}

/* A sink that was brought is looked at more closely than those of the product, which other gates
 * compare on other builds. */
static enum status check_steadiness(const struct replay *replay)
{
    const char *why = NULL;
    const struct options *options = replay->session->options;
    uint64_t seed = options->seed;
    const struct steady_subject subject = {
        .scenario = replay->scenario,
        .word = replay->word,
        .seeds = {seed, seed},
        .tape_or_null = replay->has_tape ? &replay->tape : NULL,
        .tape_path_or_null = options->tape,
    };
    if (session_sink(replay->session) == NULL ||
        steady_check(replay->session, &subject, &why, &seed)) {
        return STATUS_OK;
    }
    (void)printf("  nondeterminism: %s\n", why);
    return STATUS_NONDETERMINISM;
}

static enum status replay_twice(const struct replay *replay)
{
    const struct options *options = replay->session->options;
    uint64_t digest = 0;
    const enum status status = run_guarded(replay, &digest);
    if (status != STATUS_OK) {
        return status;
    }
    const struct run_request request = request_of(replay, FILL_SECOND);
    const struct result *result = reproducer_run(replay->reproducer, &request);
    if (option_is_given(options, OPTION_BIT(TRACE))) {
        print_trace(replay);
    }
    if (options->until_event > 0 && result->end == RUN_END_NONE && result->verdict != RUN_REFUSED) {
        print_stop(replay, result->ended_at);
        return STATUS_OK;
    }
    print_result(replay, result);
    if (result->digest != digest) {
        (void)printf("  nondeterminism: run again it gives digest 0x%016" PRIx64 "\n", digest);
        return STATUS_NONDETERMINISM;
    }
    const enum status judged = status_of(replay, result);
    return status_worse(judged, check_steadiness(replay));
}

/* How many of --seed, --tape and --fuzz are given. */
static uint32_t sources_given(const struct options *options)
{
    return (option_is_given(options, OPTION_BIT(SEED)) ? 1u : 0u) +
           (option_is_given(options, OPTION_BIT(TAPE)) ? 1u : 0u) +
           (option_is_given(options, OPTION_BIT(FUZZ)) ? 1u : 0u);
}

/* What to replay: --seed, --tape, --fuzz, the kept tape, or the scenario's own tape. */
static enum status choose_source(struct replay *replay)
{
    struct session *session = replay->session;
    const struct options *options = session->options;
    const bool seed = option_is_given(options, OPTION_BIT(SEED));
    if (sources_given(options) > (replay->is_kept ? 0 : 1)) {
        complain("replay: --seed, --tape, --fuzz: %s given; allowed: %s",
                 replay->is_kept ? "one" : "more than one",
                 replay->is_kept ? "none with a kept tape" : "one of them");
        return STATUS_USAGE;
    }
    if (option_is_given(options, OPTION_BIT(BREAK)) && options->until_event == 0) {
        complain("replay: --break: wanted beside it: --until EVENT");
        return STATUS_USAGE;
    }
    if (options->only != NULL && subject_filter_parse(options->only, &replay->filter) != ERR_OK) {
        complain("replay: --only \"%s\": allowed: record N, identity 0xN, request N, resource N, "
                 "checkpoint N, or a lane such as writer0",
                 options->only);
        return STATUS_USAGE;
    }
    replay->strict = option_is_given(options, OPTION_BIT(STRICT));
    if (replay->is_kept) {
        replay->has_tape = true;
        replay->tape = replay->entry.tape;
        return STATUS_OK;
    }
    if (options->tape != NULL) {
        replay->has_tape = true;
        return session_tape(session, options->tape, &replay->tape);
    }
    if (options->fuzz != NULL) {
        replay->has_tape = true;
        return session_fuzz_input(session, options->fuzz, &replay->tape);
    }
    if (!seed && replay->scenario->has_tape) {
        replay->has_tape = true;
        replay->strict = replay->strict || replay->scenario->strict_tape;
        replay->tape = replay->scenario->tape;
        return STATUS_OK;
    }
    if (!seed) {
        complain("replay: neither --seed nor --tape nor --fuzz given; wanted: one of them");
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

/* A word that ends like a tape is a kept one, and names its scenario; else it is a scenario. */
static enum status load(struct replay *replay)
{
    const size_t size = strlen(replay->word);
    replay->is_kept = size > 5 && strcmp(replay->word + size - 5, ".tape") == 0;
    if (!replay->is_kept) {
        return session_scenario(replay->session, replay->word, &replay->scenario);
    }
    const enum status status = entry_read(replay->session, replay->word, &replay->entry);
    return status == STATUS_OK ? entry_scenario(replay->session, &replay->entry, &replay->scenario)
                               : status;
}

/* Of the run as it was replayed, but for --until. */
static enum status draw(const struct replay *replay)
{
    struct plotting plotting;
    struct session *session = replay->session;
    struct run_request request = request_of(replay, FILL_SECOND);
    enum status status = plotting_open(&plotting, session);
    if (status != STATUS_OK) {
        return status;
    }
    request.until_event = 0;
    status = recovery_plots_draw(
        &plotting,
        replay->scenario,
        &request,
        replay->has_tape ? "a tape"
                         : text_format(&session->texts, "seed %" PRIu64, session->options->seed));
    plotting_close(&plotting);
    return status;
}

enum status command_replay(const struct options *options)
{
    struct session session;
    struct replay replay = {.session = &session, .word = options->arguments[0]};
    enum status status = session_open(&session, options);
    if (status == STATUS_OK) {
        status = load(&replay);
    }
    if (status == STATUS_OK) {
        status = choose_source(&replay);
    }
    if (status == STATUS_OK) {
        replay.reproducer = reproducer_create(replay.scenario);
        if (replay.reproducer == NULL) {
            complain("no memory for a run");
            status = STATUS_INTERNAL;
        } else {
            status = option_is_given(options, OPTION_BIT(BREAK)) ? replay_for_debugger(&replay)
                                                                 : replay_twice(&replay);
            if (options->plots != NULL) {
                const enum status drawn = draw(&replay);
                status = status_worse(status, drawn);
            }
            reproducer_destroy(replay.reproducer);
        }
    }
    if (replay.scenario != NULL) {
        scenario_destroy(replay.scenario);
    }
    session_close(&session);
    return status;
}
