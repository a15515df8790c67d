/* Sinks that users bring and that are no good are told for what they are: tiny plugins, built with cc
 * in a temporary folder, each with one thing wrong.
 *
 * link: binary scenarios/cli/workshop_testkit scenarios/cli/process scenarios/cli/text
 * link: sinks/base/bytes
 */
#include "scenarios/cli/workshop_testkit.h"
#include "sinks/base/test.h"

#include <stdio.h>
#include <string.h>

#define RECORD_BEGIN "    const struct sink_user *user = writer->env->user;\n"
#define TIMER_BEGIN  "    writer->timer_set = false;\n"
#define FAIL         "{ fail(writer, effects, SINK_REASON_SERVICE, \"no\"); return; }\n"

/* One line of the sink that new-sink makes, and what stands in its place; or top in front of all. */
struct change {
    const char *name;
    const char *old;
    const char *new;
    const char *top;
    int status;
    const char *says[4];
};

static void build_changed(struct workshop *workshop, const struct change *change)
{
    const char *source =
        workshop_edit(workshop, workshop_read(workshop, "sink.c"), change->old, change->new);
    workshop_build(workshop,
                   change->name,
                   text_format(&workshop->texts, "%s%s", change->top ? change->top : "", source));
}

static void check_change(struct workshop *workshop, const struct change *change, const char *seeds)
{
    build_changed(workshop, change);
    workshop_must(workshop,
                  text_format(&workshop->texts,
                              "\"$SINKPROOF\" run scenario.json --sink %s.so --hang-after 1s"
                              " --seeds %s",
                              change->name,
                              seeds),
                  change->status);
    for (size_t i = 0; i < ARRAY_COUNT(change->says) && change->says[i] != NULL; i++) {
        workshop_says(workshop, change->says[i]);
    }
}

/* Goal: what can be seen of a plugin before a run is one line with path, value seen and value wanted,
 * and status 2. Method: types with one member wrong, and objects that are none. */
static void a_plugin_that_does_not_fit_is_one_line(void **state)
{
    static const struct {
        const char *old;
        const char *new;
        const char *says;
    } changes[] = {
        {"SINK_ABI_VERSION,", "7,", "\"p.so\": abi_version is 7; allowed: 3"},
        {".type_size = sizeof(struct sink_type)", ".type_size = 8", "type_size is 8; allowed: "},
        {".event_size = sizeof(struct sink_event)", ".event_size = 8", "event_size is 8; allowed"},
        {".effect_size = sizeof(struct sink_effect)", ".effect_size = 8", "effect_size is 8; allo"},
        {"EXPORTED const", "const", "has no symbol sinkproof_sink"},
        {"    .writer = &writer_half,\n", "", "lacks its writer"},
        {"    .name = \"my-sink\",\n", "", "lacks its name"},
        {"    .service = &generic_service,\n", "", "lacks its service"},
        {".service = &generic_service",
         ".further_service_count = 1, .service = &generic_service",
         "lacks its further_services, or one of them: at most 2"},
        {".service = &generic_service",
         ".further_service_count = 1, .further_services = (const struct port_service *const[])"
         "{&(const struct port_service){\"telegraph\", 0, 0}}, .service = &generic_service",
         "no model of its service telegraph; allowed: cloudtasks"},
        {"    .options = options,\n", "", "lacks its options"},
        {"\"Puts on their way at once\"", "NULL", "lacks its options in part"},
        {".writer = &writer_half",
         ".timing_count = 1, .writer = &writer_half",
         "lacks its timings"},
        {".writer = &writer_half",
         ".committer_kind = SINK_COMMITTER_GLOBAL, .writer = &writer_half",
         "lacks its committer"},
        {"init, step, digest, fini}", "init, step, digest, 0}", "lacks its writer, or a part"},
        {".service = &generic_service",
         ".service = &(const struct port_service){\"telegraph\", 0, 0}",
         "no model of its service telegraph; allowed: cloudtasks bigquery generic table keyed"},
        {".service = &generic_service",
         ".service = (const struct port_service *)(uintptr_t)64",
         "loading it died of signal"},
        {"EXPORTED",
         "__attribute__((constructor)) static void begin(void) { __builtin_trap(); }\nEXPORTED",
         "loading it died of signal"},
        {"EXPORTED",
         "void _exit(int);\n"
         "__attribute__((constructor)) static void begin(void) { _exit(0); }\nEXPORTED",
         "loading it ended the process"},
    };
    struct workshop *workshop = *state;
    workshop_make_kit(workshop);
    const char *source = workshop_read(workshop, "sink.c");
    for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
        workshop_build(
            workshop, "p", workshop_edit(workshop, source, changes[i].old, changes[i].new));
        const int status = workshop_run(workshop, "\"$SINKPROOF\" run scenario.json --sink p.so");
        /* A sanitizer turns the signal of a wild pointer into an exit. */
        const bool is_wild = strstr(changes[i].says, "died of signal") != NULL &&
                             strstr(workshop->output, "loading it ended the process") != NULL;
        assert_int_equal(status, 2);
        if (!is_wild) {
            workshop_says(workshop, changes[i].says);
            assert_ptr_equal(strchr(workshop->output, '\n'),
                             workshop->output + strlen(workshop->output) - 1);
        }
    }
    workshop_must(workshop, "\"$SINKPROOF\" run scenario.json --sink sink.c", 2);
    workshop_says(workshop, "--sink \"sink.c\": ");
    workshop_must(workshop, "\"$SINKPROOF\" run scenario.json --sink none.so", 2);
    workshop_says(workshop, "--sink \"none.so\": ");
}

/* Goal: a plugin whose messages lie otherwise than the host's is refused, not run. Method: the tables
 * of a generic.def with one line changed. */
static void a_plugin_with_other_tables_is_one_line(void **state)
{
    static const struct {
        const char *old;
        const char *new;
        const char *says;
    } changes[] = {
        {"PORT_FIELD_BYTES(generic_put_request, 1, key)",
         "PORT_FIELD_U64(generic_put_request, 1, key)",
         "generic_put_request"},
        {"PORT_FIELD_BYTES(generic_put_request, 2, value)",
         "PORT_FIELD_BYTES(generic_put_request, 7, value)",
         "generic_put_request.value: number is 7; allowed: 2"},
        {"PORT_FIELD_TEXT(generic_put_request, 4, destination)",
         "PORT_FIELD_BYTES(generic_put_request, 4, destination)",
         "generic_put_request.destination: type is "},
        {"PORT_METHOD(generic, 1, put, \"Put\"",
         "PORT_METHOD(generic, 2, put, \"Put\"",
         "generic.Put: its id is 2; allowed: 1"},
        {"put, \"Put\"", "put, \"Push\"", "generic.Push: the service has no such method"},
        {"&generic_put_result_message)", "NULL)", "Put is missing in its tables"},
    };
    struct workshop *workshop = *state;
    workshop_make_kit(workshop);
    workshop_must(
        workshop, "mkdir -p sinks/port && cp \"$ROOT\"/sinks/port/generic.* sinks/port", 0);
    const char *table = workshop_read(workshop, "sinks/port/generic.def");
    for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
        workshop_write(workshop,
                       "sinks/port/generic.def",
                       workshop_edit(workshop, table, changes[i].old, changes[i].new));
        workshop_must(workshop,
                      "cc -std=c11 -I. -I\"$ROOT\" -fPIC -fvisibility=hidden -shared sink.c"
                      " sinks/port/generic.c kit.a -o other.so",
                      0);
        workshop_must(workshop, "\"$SINKPROOF\" run scenario.json --sink other.so", 2);
        workshop_says(workshop, changes[i].says);
    }
}

/* Goal: a sink that crashes, hangs, leaks or breaks the contract costs its runs and not the sweep, and
 * is named with a seed and the command that replays it. */
static void misbehaviour_is_told_with_its_seed(void **state)
{
    static const struct change changes[] = {
        {.name = "quits",
         .old = TIMER_BEGIN,
         .new = "    exit(0);\n",
         .top = "#include <stdlib.h>\n",
         .status = 1,
         .says = {"broken: crash", "the process of the run ended by itself", "seed ", "replay: "}},
        {.name = "leaks",
         .old = "    allocator_give(writer->env->allocator, put, sizeof(*put));\n",
         .new = "",
         .status = 1,
         .says = {"broken: contract", "memory not given back", "seed 1", "replay: "}},
        {.name = "answers_twice",
         .old = "        effects_barrier_done(effects, writer->barrier);\n",
         .new = "        effects_barrier_done(effects, writer->barrier);\n"
                "        effects_barrier_done(effects, writer->barrier);\n",
         .status = 1,
         .says = {"broken: contract", "two answers to one barrier", "seed 1", "replay: "}},
        {.name = "sends_nothing",
         .old = ".payload = put->message",
         .new = ".payload = NULL",
         .status = 1,
         .says = {"broken: contract", "malformed send", "seed 1", "replay: "}},
        {.name = "says_nonsense",
         .old = "        effects_simple(effects, SINK_EFFECT_OPENED);\n",
         .new = "        effects_simple(effects, SINK_EFFECT_OPENED);\n"
                "        effects_add(effects, SINK_EFFECT_TAP)->kind = 99;\n",
         .status = 1,
         .says = {"broken: contract", "effect of no known kind", "seed 1", "replay: "}},
        {.name = "runs_over",
         .old = "        effects_simple(effects, SINK_EFFECT_OPENED);\n",
         .new = "        effects_simple(effects, SINK_EFFECT_OPENED);\n"
                "        effects->count = 100000;\n",
         .status = 1,
         .says = {"broken: contract", "too many effects in one step", "seed 1", "replay: "}},
        {.name = "forgets_a_record",
         .old = "            effects_token(effects, SINK_EFFECT_ACCEPTED, put->token);\n",
         .new = "",
         .status = 1,
         .says = {"broken: liveness", "seed 1", "replay: "}},
    };
    struct workshop *workshop = *state;
    workshop_make_kit(workshop);
    for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
        check_change(workshop, &changes[i], "1-6");
    }
}

static void a_crash_and_a_hang_are_told_with_their_seeds(void **state)
{
    static const struct change crash = {
        .name = "crashes",
        .old = TIMER_BEGIN,
        .new = "    *(volatile int *)0 = 1;\n",
        .status = 1,
        .says = {"broken: crash", "the process of the run ", "seed ", "replay: "},
    };
    static const struct change hang = {
        .name = "hangs",
        .old = TIMER_BEGIN,
        .new = "    for (volatile int i = 0; i >= 0; i = 0) {}\n",
        .status = 1,
        .says = {"broken: hang", "did not end within 1 s", "seed ", "replay: "},
    };
    struct workshop *workshop = *state;
    workshop_make_kit(workshop);
    check_change(workshop, &crash, "1-6");
    check_change(workshop, &hang, "1-2");
    workshop_must(workshop,
                  "\"$SINKPROOF\" replay scenario.json --sink hangs.so --hang-after 1s --seed 1",
                  1);
    workshop_says(workshop, "broken: hang");
    workshop_must(workshop, "\"$SINKPROOF\" replay scenario.json --sink crashes.so --seed 1", 1);
    workshop_says(workshop, "broken: crash");
}

/* Goal: a sink that uses more than its state, the time and the event is caught as such, with status
 * 3. Method: one for each thing that it must not use. */
static void nondeterminism_is_status_3_with_a_seed(void **state)
{
    static const struct change changes[] = {
        {.name = "globals",
         .old = RECORD_BEGIN,
         .new = RECORD_BEGIN "    static int seen;\n    if (seen++ % 40 == 39) " FAIL},
        {.name = "clock",
         .old = RECORD_BEGIN,
         .new =
             RECORD_BEGIN "    struct timespec now;\n    (void)clock_gettime(CLOCK_REALTIME, &now);"
                          "\n    if (now.tv_nsec / 1000 % 2 == 1) " FAIL,
         .top = "#include <time.h>\n"},
        {.name = "addresses",
         .old = RECORD_BEGIN,
         .new = RECORD_BEGIN "    void *memory = malloc(40);\n    const uintptr_t at = (uintptr_t)"
                             "memory;\n    free(memory);\n    if ((at >> 4) % 7 < 4) " FAIL,
         .top = "#include <stdlib.h>\n"},
        {.name = "leftovers",
         .old = "allocator_take_zeroed(allocator, sizeof(*put));\n",
         .new = "allocator_take(allocator, sizeof(*put));\n"
                "    if (put != NULL && put->request == UINT64_C(0xa5a5a5a5a5a5a5a5)) {\n"
                "        writer->puts = NULL;\n        put = NULL;\n    }\n"},
    };
    struct workshop *workshop = *state;
    workshop_make_kit(workshop);
    for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
        struct change change = changes[i];
        change.status = 3;
        change.says[0] = "determinism: seed ";
        change.says[1] = " gave digest 0x";
        change.says[2] = " replay scenario.json --seed ";
        check_change(workshop, &change, "1-12");
    }
    workshop_must(workshop, "\"$SINKPROOF\" replay scenario.json --sink clock.so --seed 2", 3);
    workshop_says(workshop, "nondeterminism: ");
    workshop_must(
        workshop, "\"$SINKPROOF\" matrix claims.json --sink globals.so --seeds 1-12 --jobs 1", 3);
    workshop_says(workshop, "nondeterminism: seed ");
    workshop_must(
        workshop, "\"$SINKPROOF\" explore scenario.json --sink globals.so --deviations 1", 3);
    workshop_says(workshop, "scenario.json: determinism: a run, made again, did not draw");
}

/* Goal: a plugin that is in order is told so by the same commands. */
static void a_good_plugin_is_as_expected(void **state)
{
    struct workshop *workshop = *state;
    workshop_make_kit(workshop);
    workshop_build(workshop, "good", workshop_read(workshop, "sink.c"));
    workshop_must(workshop, "\"$SINKPROOF\" run scenario.json --sink good.so --seeds 1-100", 0);
    workshop_says(workshop, "holds, as expected");
    workshop_must(workshop, "\"$SINKPROOF\" replay scenario.json --sink ./good.so --seed 7", 0);
    workshop_must(workshop, "\"$SINKPROOF\" matrix claims.json --sink good.so --seeds 1-100", 0);
    workshop_says(workshop, "1 of 1 claims as expected");
    workshop_must(workshop, "\"$SINKPROOF\" matrix --sink good.so", 2);
    workshop_must(workshop, "\"$SINKPROOF\" matrix claims.json", 2);
    workshop_says(workshop, "claims[0].sink");
    workshop_must(workshop, "\"$SINKPROOF\" run scenario.json", 2);
    workshop_says(workshop, "sink.type: \"my-sink\"; allowed: ");
    workshop_says(workshop, "or any other with --sink X.so");
    /* Letters of the dead would lie among the records. */
    workshop_must(workshop,
                  "sed 's/\"workload\"/\"policy\": \"dead_letter\", &/' scenario.json >dead.json &&"
                  " \"$SINKPROOF\" run dead.json --sink good.so",
                  2);
    workshop_says(workshop, "dead.json: policy: \"dead_letter\"; allowed: ");
}

/* Goal: --break stops a debugger before the event, in the run, and the run can go on into the sink.
 * Method: without a debugger the signal ends the process; with gdb, if it is there, a breakpoint in
 * the plugin is met behind the stop. */
static void break_stops_before_the_event(void **state)
{
    struct workshop *workshop = *state;
    const char *replay = "\"$SINKPROOF\" replay scenario.json --sink ./good.so --seed 3 --until 30";
    workshop_make_kit(workshop);
    workshop_must(workshop, "cp sink.c good.c", 0);
    workshop_build(workshop, "good", workshop_read(workshop, "sink.c"));
    workshop_must(workshop, text_format(&workshop->texts, "exec %s", replay), 0);
    workshop_says(workshop, "stopped before event 30");
    workshop_must(workshop, text_format(&workshop->texts, "exec %s --break", replay), 128 + 5);
    workshop_says(workshop, "stopped before event 30");
    if (workshop_run(workshop, "command -v gdb") != 0) {
        return;
    }
    workshop_must(workshop,
                  text_format(&workshop->texts,
                              "cc -std=c11 -O0 -g -I\"$ROOT\" -fPIC -fvisibility=hidden -shared"
                              " sink.c kit.a -o good.so &&"
                              " ASAN_OPTIONS=detect_leaks=0 gdb -nx -batch -ex run"
                              " -ex 'break end_pauses' -ex 'break take_answer' -ex continue"
                              " -ex 'bt 3' -ex delete -ex continue --args %s --break",
                              replay),
                  0);
    workshop_says(workshop, "received signal SIGTRAP");
    workshop_says(workshop, "sink.c:");
    workshop_says(workshop, "seed 3, ");
}

#define WORKSHOP_TEST(function)                                                                    \
    cmocka_unit_test_setup_teardown(function, workshop_open, workshop_close)

TEST_MAIN(plugin,
          WORKSHOP_TEST(a_plugin_that_does_not_fit_is_one_line),
          WORKSHOP_TEST(a_plugin_with_other_tables_is_one_line),
          WORKSHOP_TEST(misbehaviour_is_told_with_its_seed),
          WORKSHOP_TEST(a_crash_and_a_hang_are_told_with_their_seeds),
          WORKSHOP_TEST(nondeterminism_is_status_3_with_a_seed),
          WORKSHOP_TEST(a_good_plugin_is_as_expected),
          WORKSHOP_TEST(break_stops_before_the_event))
