/* A sink that crashes or hangs costs its own run: the sweep goes on, and the finding has a seed, a
 * tape and a last event. The sink is the template of new-sink with a bug written into it; where
 * there is no compiler the test is skipped.
 * link: binary scenarios/cli/process scenarios/cli/text sinks/base/bytes
 */
#include "scenarios/cli/process.h"
#include "scenarios/cli/text.h"
#include "sinks/base/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_SIZE ((size_t)64 << 10)

struct shell {
    char folder[64];
    struct text_pool texts;
    char output[OUTPUT_SIZE];
};

static int set_up(void **state)
{
    struct shell *shell = calloc(1, sizeof *shell);
    assert_non_null(shell);
    (void)snprintf(shell->folder, sizeof shell->folder, "/tmp/sinkproof-guard-XXXXXX");
    assert_non_null(mkdtemp(shell->folder));
    *state = shell;
    return 0;
}

static int tear_down(void **state)
{
    struct shell *shell = *state;
    const char *const remove_all[] = {"rm", "-rf", shell->folder, NULL};
    (void)process_run(remove_all, "/dev/null");
    text_pool_fini(&shell->texts);
    free(shell);
    return 0;
}

static int run(struct shell *shell, const char *const *words)
{
    const char *log = text_format(&shell->texts, "%s/output", shell->folder);
    const int status = process_run(words, log);
    FILE *file = fopen(log, "rb");
    assert_non_null(file);
    const size_t size = fread(shell->output, 1, OUTPUT_SIZE - 1, file);
    shell->output[size] = '\0';
    (void)fclose(file);
    return status;
}

/* Write a sink with a bug at the start of its step, and build it. NULL: there is no compiler. */
static const char *build_sink(struct shell *shell, const char *bug)
{
    const char *sink = text_format(&shell->texts, "%s/mine", shell->folder);
    const char *binary = getenv("SINKPROOF");
    char here[2048];
    assert_non_null(binary);
    assert_non_null(getcwd(here, sizeof here));
    const char *const create[] = {binary, "new-sink", sink, NULL};
    const char *const plant[] = {
        "sed",
        "-i",
        text_format(&shell->texts, "s|^    (void)now;.*$|%s|", bug),
        text_format(&shell->texts, "%s/sink.c", sink),
        NULL,
    };
    const char *const make[] = {
        "make",
        "-s",
        "-C",
        sink,
        text_format(&shell->texts, "SINKPROOF=%s/%s", here, binary),
        "MAKEFLAGS=",
        NULL,
    };
    const char *const probe[] = {"cc", "--version", NULL};
    if (run(shell, probe) != 0) {
        return NULL;
    }
    assert_int_equal(run(shell, create), 0);
    assert_int_equal(run(shell, plant), 0);
    if (run(shell, make) != 0) {
        fail_msg("the sink does not build: %s", shell->output);
    }
    return sink;
}

/* Sweep a sink's own scenario. */
static int sweep(struct shell *shell, const char *sink, const char *seeds)
{
    const char *const words[] = {
        getenv("SINKPROOF"),
        "run",
        text_format(&shell->texts, "%s/scenario.json", sink),
        "--sink",
        text_format(&shell->texts, "%s/libmine.so", sink),
        "--seeds",
        seeds,
        "--hang-after",
        "500ms",
        NULL,
    };
    return run(shell, words);
}

static void a_sink_that_crashes_is_a_violation_with_a_tape(void **state)
{
    struct shell *shell = *state;
    const char *sink = build_sink(
        shell, "if (now != 0 \\&\\& event->kind == SINK_EVENT_TIMER) { __builtin_trap(); }");
    if (sink == NULL) {
        skip();
    }
    assert_int_equal(sweep(shell, sink, "1-40"), 1);
    if (strstr(shell->output, "broken: crash") == NULL) {
        fail_msg("no crash told: %s", shell->output);
    }
    assert_non_null(strstr(shell->output, "40 runs"));
    assert_non_null(strstr(shell->output, "of signal"));
    assert_non_null(strstr(shell->output, "decided by: "));
}

static void a_sink_that_hangs_is_a_violation_with_its_seed(void **state)
{
    struct shell *shell = *state;
    const char *sink =
        build_sink(shell, "while (now != 0 \\&\\& event->kind == SINK_EVENT_TIMER) {}");
    if (sink == NULL) {
        skip();
    }
    assert_int_equal(sweep(shell, sink, "1-2"), 1);
    if (strstr(shell->output, "broken: hang") == NULL) {
        fail_msg("no hang told: %s", shell->output);
    }
    assert_non_null(strstr(shell->output, "2 runs"));
}

#define RUN_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

TEST_MAIN(guard,
          RUN_TEST(a_sink_that_crashes_is_a_violation_with_a_tape),
          RUN_TEST(a_sink_that_hangs_is_a_violation_with_its_seed))
