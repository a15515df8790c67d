/* The built binary from outside: exit statuses, and that results do not depend on how they were
 * made. Runs in the root of the source tree.
 * link: binary scenarios/cli/process scenarios/cli/text sinks/base/bytes
 */
#include "scenarios/cli/process.h"
#include "scenarios/cli/text.h"
#include "sinks/base/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_SIZE ((size_t)1 << 20)
#define WORDS_MAX   24

#define HOLDS "cloudtasks/exactly-once-small"
#define FAILS "cloudtasks/at-least-once-ct-al-2"

/* A folder of the test's own, and what the last command printed. */
struct shell {
    char folder[64];
    struct text_pool texts;
    char *output;
};

static int set_up(void **state)
{
    struct shell *shell = calloc(1, sizeof *shell);
    assert_non_null(shell);
    (void)snprintf(shell->folder, sizeof shell->folder, "/tmp/sinkproof-cli-XXXXXX");
    assert_non_null(mkdtemp(shell->folder));
    shell->output = calloc(1, OUTPUT_SIZE);
    assert_non_null(shell->output);
    *state = shell;
    return 0;
}

static int tear_down(void **state)
{
    struct shell *shell = *state;
    const char *const remove_all[] = {"rm", "-rf", shell->folder, NULL};
    (void)process_run(remove_all, "/dev/null");
    text_pool_fini(&shell->texts);
    free(shell->output);
    free(shell);
    return 0;
}

static const char *at(struct shell *shell, const char *name)
{
    return text_format(&shell->texts, "%s/%s", shell->folder, name);
}

/* Read a whole text file. */
static const char *content(struct shell *shell, const char *name)
{
    char *text = text_memory(&shell->texts, OUTPUT_SIZE, 1);
    FILE *file = fopen(at(shell, name), "rb");
    assert_non_null(file);
    (void)fread(text, 1, OUTPUT_SIZE - 1, file);
    (void)fclose(file);
    return text;
}

static void write_content(struct shell *shell, const char *name, const char *text)
{
    FILE *file = fopen(at(shell, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* Run the binary with the words of a line ("@name" is a file in the folder); its exit status. */
static int run(struct shell *shell, const char *line)
{
    const char *words[WORDS_MAX] = {getenv("SINKPROOF")};
    size_t count = 1;
    const char *start = line;
    assert_non_null(words[0]);
    while (*start != '\0') {
        const size_t size = strcspn(start, " ");
        const struct bytes word = {(const uint8_t *)start, size};
        assert_true(count + 1 < WORDS_MAX);
        words[count] = text_copy(&shell->texts, word);
        if (words[count][0] == '@') {
            words[count] = at(shell, words[count] + 1);
        }
        count++;
        start += size + (start[size] == ' ' ? 1 : 0);
    }
    const int status = process_run(words, at(shell, "output"));
    const char *output = content(shell, "output");
    memcpy(shell->output, output, OUTPUT_SIZE);
    return status;
}

static void assert_status(struct shell *shell, const char *line, int expected)
{
    const int status = run(shell, line);
    if (status != expected) {
        fail_msg("%s: status %d, wanted %d: %s", line, status, expected, shell->output);
    }
}

/* One line, on which all of the parts stand. */
static void assert_one_line_with(const struct shell *shell, const char *const parts[3])
{
    const char *end = strchr(shell->output, '\n');
    assert_non_null(end);
    assert_string_equal(end, "\n");
    for (size_t i = 0; i < 3 && parts[i] != NULL; i++) {
        if (strstr(shell->output, parts[i]) == NULL) {
            fail_msg("\"%s\" lacks \"%s\"", shell->output, parts[i]);
        }
    }
}

static void bad_usage_is_status_2_with_one_line(void **state)
{
    struct shell *shell = *state;
    static const struct {
        const char *line;
        const char *parts[3];
    } cases[] = {
        {"nonsense", {"\"nonsense\"", "no such command", "replay"}},
        {"run", {"run", "0 arguments", "SCENARIO"}},
        {"run " HOLDS " --bogus", {"--bogus", "no such option", NULL}},
        {"run " HOLDS " --seeds 5-4", {"--seeds", "\"5-4\"", "A <= B"}},
        {"run " HOLDS " --shard 3/2", {"--shard", "\"3/2\"", "I/N"}},
        {"run " HOLDS " --quick", {"--quick", "not an option of this command", NULL}},
        {"run " HOLDS " --stop-at no-such", {"--stop-at", "no-such", "list oracles"}},
        {"run " HOLDS " --sink /nonexistent.so", {"--sink", "/nonexistent.so", NULL}},
        {"run " HOLDS " --json /nonexistent/x.json", {"--json", "/nonexistent/x.json", "folder"}},
        {"run no/such", {"no/such", NULL, NULL}},
        {"list nonsense", {"nonsense", "allowed", "scenarios"}},
        {"replay " HOLDS, {"--seed", "--tape", "one of them"}},
        {"replay " HOLDS " --seed 1 --tape x", {"--seed", "--tape", "one of them"}},
        {"replay " HOLDS " --seed 1 --break", {"--break", "--until", NULL}},
        {"replay " HOLDS " --seed 1 --only blue", {"--only", "blue", "record N"}},
        {"replay " HOLDS " --tape /nonexistent", {"--tape", "/nonexistent", NULL}},
        {"shrink " HOLDS, {"--seed", "--tape", "one of them"}},
        {"matrix NO-SUCH-1", {"NO-SUCH-1", "list claims", NULL}},
        {"matrix --mutants /nonexistent", {"/nonexistent", "JSON", NULL}},
        {"mutants --source /nonexistent", {"--source", "/nonexistent", NULL}},
        {"merge /nonexistent", {"/nonexistent", NULL, NULL}},
        {"help nonsense", {"\"nonsense\"", "no such command", NULL}},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        assert_status(shell, cases[i].line, 2);
        assert_one_line_with(shell, cases[i].parts);
    }
    assert_status(shell, "", 2);
}

static void help_version_and_lists_are_status_0(void **state)
{
    struct shell *shell = *state;
    static const char *const lines[] = {
        "help",
        "--help",
        "help run",
        "matrix --help",
        "--version",
        "list",
        "list scenarios",
        "list sinks",
        "list models",
        "list oracles",
        "list claims",
        "list clauses",
        "list mutants",
        "list sites",
    };
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        assert_status(shell, lines[i], 0);
        assert_true(strlen(shell->output) > 10);
    }
    assert_status(shell, "--version", 0);
    assert_int_equal(strncmp(shell->output, "sinkproof ", 10), 0);
    assert_status(shell, "list scenarios", 0);
    assert_non_null(strstr(shell->output, HOLDS "\n"));
}

static void a_sweep_ends_with_the_status_of_its_expectation(void **state)
{
    struct shell *shell = *state;
    assert_status(shell, "run " HOLDS " --seeds 1-60", 0);
    assert_non_null(strstr(shell->output, "holds, as expected"));
    assert_status(shell, "run " FAILS " --seeds 1-60", 0);
    assert_non_null(strstr(shell->output, "fails, as expected"));
    assert_non_null(strstr(shell->output, "replay: "));
    /* What should have failed, and may not be seen, is not as expected. */
    assert_status(shell, "run " FAILS " --seeds 1-60 --without-oracle effectively-once", 1);
    assert_status(shell, "run " HOLDS " " FAILS " --seeds 1-20", 0);
}

/* Everything of a JSON file but its times. */
static const char *without_times(struct shell *shell, const char *name)
{
    const char *text = content(shell, name);
    char *kept = text_memory(&shell->texts, strlen(text) + 1, 1);
    size_t size = 0;
    while (*text != '\0') {
        const size_t line = strcspn(text, "\n") + (strchr(text, '\n') != NULL ? 1 : 0);
        const char *times[] = {"\"elapsed_ms\"", "\"runs_per_s\"", "\"events_per_s\""};
        bool is_time = false;
        for (size_t i = 0; i < ARRAY_COUNT(times); i++) {
            const char *found = strstr(text, times[i]);
            is_time = is_time || (found != NULL && found < text + line);
        }
        if (!is_time) {
            memcpy(kept + size, text, line);
            size += line;
        }
        text += line;
    }
    return kept;
}

static void the_number_of_workers_changes_nothing(void **state)
{
    struct shell *shell = *state;
    assert_status(shell, "run " FAILS " --seeds 5-90 --jobs 1 --json @one", 0);
    assert_status(shell, "run " FAILS " --seeds 5-90 --jobs 3 --json @three", 0);
    assert_string_equal(without_times(shell, "one"), without_times(shell, "three"));
}

static void shards_merge_to_the_whole(void **state)
{
    struct shell *shell = *state;
    assert_status(shell, "run " FAILS " " HOLDS " --seeds 1-100 --json @whole", 0);
    const char *whole = text_format(&shell->texts, "%s", shell->output);
    assert_status(shell, "run " FAILS " " HOLDS " --seeds 1-100 --shard 1/3 --json @s1", 0);
    assert_status(shell, "run " FAILS " " HOLDS " --seeds 1-100 --shard 2/3 --json @s2", 0);
    assert_status(shell, "run " FAILS " " HOLDS " --seeds 1-100 --shard 3/3 --json @s3", 0);
    assert_status(shell, "merge @s2 @s3 @s1 --json @merged", 0);
    assert_string_equal(shell->output, whole);
    assert_string_equal(without_times(shell, "merged"), without_times(shell, "whole"));
    assert_status(shell, "merge @s1 @s3", 2);
    assert_non_null(strstr(shell->output, "shard 2/3"));
    assert_status(shell, "merge @s1 @s2 @s3 @s1", 2);
}

static void a_damaged_file_of_results_is_status_2(void **state)
{
    struct shell *shell = *state;
    assert_status(shell, "run " HOLDS " --seeds 1-10 --json @results", 0);
    const char *text = content(shell, "results");
    char *cut = text_format(&shell->texts, "%s", text);
    cut[strlen(cut) / 2] = '\0';
    write_content(shell, "cut", cut);
    assert_status(shell, "merge @cut", 2);
    write_content(shell, "other", "{\"schema\": 2}\n");
    assert_status(shell, "merge @other", 2);
    write_content(shell, "empty", "");
    assert_status(shell, "merge @empty", 2);
    write_content(shell, "odd", "{\"schema\": 1, \"runs\": [7], \"evidence\": [{}]}\n");
    assert_status(shell, "merge @odd", 2);
}

static void a_damaged_scenario_is_status_2(void **state)
{
    struct shell *shell = *state;
    write_content(shell, "cut.json", "{\"schema\": 1, \"sink\": {\"type\": ");
    assert_status(shell, "run @cut.json", 2);
    const char *const parts[3] = {"cut.json", "line", NULL};
    assert_one_line_with(shell, parts);
}

/* Goal: who sets a limit too low is told which, and no verdict is made up. */
static void a_limit_is_status_4_and_one_line_that_names_it(void **state)
{
    struct shell *shell = *state;
    write_content(shell,
                  "low.json",
                  "{\"schema\": 1, \"budgets\": {\"arena_bytes\": 65536},\n"
                  "\"sink\": {\"type\": \"cloudtasks-exactly-once\", \"options\":\n"
                  "{\"queue\": \"projects/p/locations/l/queues/q\"}},\n"
                  "\"models\": [{\"type\": \"cloudtasks\"}], \"workload\": {\"records\": 8}}\n");
    assert_status(shell, "run @low.json --seeds 1-20", 4);
    assert_non_null(strstr(shell->output,
                           "\n  a limit ended 20 runs: seed 1: memory is used up: "
                           "budgets.arena_bytes is 65536, reached after event "));
    assert_status(shell, "replay @low.json --seed 1", 4);
    assert_non_null(strstr(shell->output, "\n  memory is used up: budgets.arena_bytes is 65536"));
}

static void a_seed_replays_shrinks_and_its_tape_replays(void **state)
{
    struct shell *shell = *state;
    assert_status(shell, "replay " FAILS " --seed 1", 0);
    assert_non_null(strstr(shell->output, "broken: effectively-once: record "));
    assert_status(shell, "shrink " FAILS " --seed 1 -o @tape", 0);
    assert_non_null(strstr(shell->output, "entries from"));
    const char *tape = content(shell, "tape");
    assert_int_equal(strncmp(tape, "sinkproof-tape 1\n", 17), 0);
    assert_status(shell, "replay " FAILS " --tape @tape --strict", 0);
    assert_non_null(strstr(shell->output, "broken: effectively-once"));
    assert_status(shell, "replay " FAILS " --tape @tape --trace --only writer0", 0);
    assert_non_null(strstr(shell->output, "writer0: "));
    assert_null(strstr(shell->output, "coordinator0: "));
    assert_status(shell, "shrink " FAILS " --tape @tape", 0);
    assert_non_null(strstr(shell->output, "sinkproof-tape 1\n"));
    assert_status(shell, "replay " FAILS " --tape @tape --until 20", 0);
    assert_non_null(strstr(shell->output, "stopped before event 20"));
    /* 128 + 5: SIGTRAP, with no debugger there to take it. */
    assert_status(shell, "replay " FAILS " --tape @tape --until 20 --break", 133);
}

static void a_tape_that_was_cut_is_status_2(void **state)
{
    struct shell *shell = *state;
    assert_status(shell, "shrink " FAILS " --seed 1 -o @tape", 0);
    char *tape = text_format(&shell->texts, "%s", content(shell, "tape"));
    tape[strlen(tape) - 7] = '\0';
    write_content(shell, "cut", tape);
    assert_status(shell, "replay " FAILS " --tape @cut", 2);
    const char *const parts[3] = {"cut:", NULL, NULL};
    assert_one_line_with(shell, parts);
}

static void a_tape_that_no_run_follows_fails_when_strict(void **state)
{
    struct shell *shell = *state;
    write_content(shell,
                  "tape",
                  "sinkproof-tape 1\nidentity 0x0000000000000001\n"
                  "link.latency/writer0#999999 = twice (1/4)\nend 1\n");
    assert_status(shell, "replay " HOLDS " --tape @tape", 0);
    assert_non_null(strstr(shell->output, "aligned 0/1"));
    assert_status(shell, "replay " HOLDS " --tape @tape --strict", 1);
}

static void what_breaks_nothing_cannot_be_shrunk(void **state)
{
    struct shell *shell = *state;
    assert_status(shell, "shrink " HOLDS " --seed 1", 1);
    const char *const parts[3] = {"breaks nothing", NULL, NULL};
    assert_one_line_with(shell, parts);
}

/* Goal: --out keeps what a report promises. Method: replay by the command that was kept. */
static void kept_failures_can_be_replayed(void **state)
{
    struct shell *shell = *state;
    assert_status(shell, "run " FAILS " --seeds 1-5 --out @kept", 0);
    const char *stem = "kept/cloudtasks-at-least-once-ct-al-2-effectively-once-1-seed1";
    const char *trace = content(shell, text_format(&shell->texts, "%s.trace", stem));
    assert_non_null(strstr(trace, "#0 "));
    const char *command = content(shell, text_format(&shell->texts, "%s.command", stem));
    assert_non_null(strstr(command, " replay " FAILS " --tape "));
    assert_status(shell, text_format(&shell->texts, "replay " FAILS " --tape @%s.tape", stem), 0);
    assert_non_null(strstr(shell->output, "broken: effectively-once"));
}

/* Goal: marks that no scenario reaches fail the command, and are told. Method: one scenario, which can
 * reach some of the catalogue only. */
static void marks_that_no_scenario_reaches_are_status_1(void **state)
{
    struct shell *shell = *state;
    assert_status(shell, "marks " HOLDS " --seeds 1-20 --json @marks", 1);
    assert_non_null(strstr(shell->output, " marks reached by 20 runs of 1 scenarios\n"));
    assert_non_null(strstr(shell->output, "never reached: cloudtasks.quota_spent: a call meets"));
    assert_null(strstr(shell->output, "never reached: judge.effect:"));
    assert_null(strstr(shell->output, "never reached: link.stream_cut:"));
    const char *json = content(shell, "marks");
    assert_non_null(strstr(json, "\"name\": \"link.stream_cut\""));
    assert_non_null(strstr(json, "\"unit_test\": \"sim/link_stream_test.c\""));
    assert_status(shell, "marks no-such-scenario", 2);
}

/* Goal: a scenario that does not reach what it must fails the command. Method: the calm run reaches an
 * effect and no pause; a sweep of fewer seeds than the scenario has is not asked. */
static void a_scenario_that_misses_a_mark_that_it_must_reach_is_told(void **state)
{
    struct shell *shell = *state;
    static const char missed[] = ": must reach link.paused, and none of 20 runs does\n";
    write_content(shell,
                  "calm.json",
                  "{\"schema\": 1, \"title\": \"calm\", \"seeds\": 20,"
                  " \"sink\": {\"type\": \"cloudtasks-at-least-once\", \"options\":"
                  " {\"queue\": \"projects/p/locations/l/queues/q\"}},"
                  " \"faults\": {\"kinds\": [\"order\"]}, \"workload\": {\"records\": 3},"
                  " \"must_reach\": [\"judge.effect\", \"link.paused\"]}");
    assert_status(shell, "marks @calm.json --seeds 1-20", 1);
    assert_non_null(strstr(shell->output, missed));
    assert_null(strstr(shell->output, "must reach judge.effect"));
    assert_status(shell, "marks @calm.json --seeds 1-19", 1);
    assert_null(strstr(shell->output, "must reach"));
}

/* Goal: what timing says of a rule can be gated on, and what it keeps shows the failure again. Method: a
 * scenario whose unit is 0.2 s short, and the one beside it that has 0.8 s to spare. */
static void a_margin_decides_the_status_and_its_run_is_kept(void **state)
{
    struct shell *shell = *state;
    assert_status(
        shell, "timing generic/transactional-tm-2-unit --fail-under 0s --out @kept --json @t", 1);
    assert_non_null(strstr(shell->output, "-0.200000001 s  unit_ttl  (table: GT-09)"));
    assert_non_null(strstr(content(shell, "t"), "\"margin_ns\": -200000001"));
    assert_status(shell, "run @kept/timing-unit_ttl.json", 0);
    assert_non_null(strstr(shell->output, "fails, as expected"));
    assert_status(shell, "timing generic/transactional-tm-2-unit", 0);
    assert_status(shell, "timing generic/transactional-tm-2-unit-inside --fail-under 799ms", 0);
    assert_status(shell, "timing generic/transactional-tm-2-unit-inside --fail-under 800ms", 1);
    assert_status(shell, "timing generic/transactional --fail-under soon", 2);
    assert_status(shell, "timing no-such-scenario", 2);
}

/* Goal: a figure is measured, and is in the file. */
static void a_figure_is_a_claim(void **state)
{
    struct shell *shell = *state;
    assert_status(shell, "matrix TM-1.GN-TX TM-2.GN-TX --json @claims", 0);
    assert_non_null(strstr(shell->output, "2 of 2 claims as expected"));
    assert_non_null(strstr(content(shell, "claims"), "latencies 0.101 s to 1.101 s"));
    assert_non_null(strstr(content(shell, "claims"), "unit_ttl by -200000001 ns"));
}

/* Goal: a rare mark leaves a tape that shows it. Method: a list of marks and tapes is kept; a sweep of
 * the seed of the first tape reaches the mark, and its tape gives a run. */
static void rare_marks_leave_a_tape(void **state)
{
    struct shell *shell = *state;
    char mark[64];
    unsigned seed = 0;
    assert_status(shell, "run " HOLDS " --seeds 1-600 --out @kept", 0);
    const char *list = content(shell, "kept/exemplars/cloudtasks-exactly-once-small.txt");
    assert_int_equal(sscanf(list,
                            "%63[^:]: in %*u of 600 runs, first "
                            "cloudtasks-exactly-once-small-seed%u.tape\n",
                            mark,
                            &seed),
                     2);
    assert_status(shell,
                  text_format(&shell->texts, "run " HOLDS " --seeds %u-%u --json @one", seed, seed),
                  0);
    assert_non_null(strstr(content(shell, "one"), mark));
    const char *tape = text_format(
        &shell->texts, "kept/exemplars/cloudtasks-exactly-once-small-seed%u.tape", seed);
    assert_status(shell, text_format(&shell->texts, "replay " HOLDS " --tape @%s", tape), 0);
}

static void a_claim_is_certified(void **state)
{
    struct shell *shell = *state;
    assert_status(shell, "matrix CT-EO-7 EA-9.CT-EO-16 --seeds 1-200", 0);
    assert_non_null(strstr(shell->output, "2 of 2 claims as expected"));
    assert_status(shell, "matrix CT-AL-2 --seeds 1-200 --json @claims", 0);
    assert_non_null(strstr(shell->output, "1 of 1 claims as expected"));
    assert_non_null(strstr(content(shell, "claims"), "\"verdict\": \"fails\""));
    assert_status(shell, "merge @claims", 0);
    assert_non_null(strstr(shell->output, "1 of 1 claims as expected"));
}

static void a_claim_counts_the_mutants_that_were_killed_on_it(void **state)
{
    struct shell *shell = *state;
    write_content(shell,
                  "mutants",
                  "{\"schema\": 1, \"mutants\": [{\"name\": \"m\", \"target\": \"cloudtasks\","
                  " \"scenario\": \"" FAILS "\", \"mechanism\": \"m\","
                  " \"oracle\": \"effectively-once\", \"killed\": true,"
                  " \"killed_by\": [\"effectively-once\"], \"runs_to_kill\": 1,"
                  " \"deviations\": 1}]}\n");
    assert_status(
        shell, "matrix CT-AL-1 CT-AL-2 --seeds 1-60 --mutants @mutants --json @claims", 0);
    const char *second = strstr(content(shell, "claims"), "CT-AL-2");
    assert_non_null(strstr(content(shell, "claims"), "\"mutants_killed\": 0"));
    assert_non_null(strstr(second, "\"mutants_killed\": 1"));
    assert_status(shell, "matrix CT-AL-2 --mutants @claims", 2);
}

static void seeds_may_come_from_a_text_or_the_clock(void **state)
{
    struct shell *shell = *state;
    assert_status(shell, "run " HOLDS " --seeds 1-20 --seed-from 3f2c1ab --json @a", 0);
    assert_status(shell, "run " HOLDS " --seeds 1-20 --seed-from 3f2c1ab --json @b", 0);
    assert_string_equal(without_times(shell, "a"), without_times(shell, "b"));
    assert_status(shell, "run " HOLDS " --for 100ms", 0);
}

#define RUN_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

TEST_MAIN(cli,
          RUN_TEST(bad_usage_is_status_2_with_one_line),
          RUN_TEST(help_version_and_lists_are_status_0),
          RUN_TEST(a_sweep_ends_with_the_status_of_its_expectation),
          RUN_TEST(the_number_of_workers_changes_nothing),
          RUN_TEST(shards_merge_to_the_whole),
          RUN_TEST(a_damaged_file_of_results_is_status_2),
          RUN_TEST(a_damaged_scenario_is_status_2),
          RUN_TEST(a_limit_is_status_4_and_one_line_that_names_it),
          RUN_TEST(a_seed_replays_shrinks_and_its_tape_replays),
          RUN_TEST(a_tape_that_was_cut_is_status_2),
          RUN_TEST(a_tape_that_no_run_follows_fails_when_strict),
          RUN_TEST(what_breaks_nothing_cannot_be_shrunk),
          RUN_TEST(kept_failures_can_be_replayed),
          RUN_TEST(marks_that_no_scenario_reaches_are_status_1),
          RUN_TEST(a_scenario_that_misses_a_mark_that_it_must_reach_is_told),
          RUN_TEST(a_margin_decides_the_status_and_its_run_is_kept),
          RUN_TEST(a_figure_is_a_claim),
          RUN_TEST(rare_marks_leave_a_tape),
          RUN_TEST(a_claim_is_certified),
          RUN_TEST(a_claim_counts_the_mutants_that_were_killed_on_it),
          RUN_TEST(seeds_may_come_from_a_text_or_the_clock))
