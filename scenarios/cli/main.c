/* sinkproof: the command line. */
#include "scenarios/cli/command.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/text.h"
#include "scenarios/wiring/catalogue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANY_NUMBER SIZE_MAX

#define SWEEP_OPTIONS                                                                              \
    (OPTION_BIT(JOBS) | OPTION_BIT(HANG_AFTER) | OPTION_BIT(SEEDS) | OPTION_BIT(JSON) |            \
     OPTION_BIT(OUT) | OPTION_BIT(SHARD))
#define SELECTION_OPTIONS (OPTION_BIT(PROFILE) | OPTION_BIT(SINK) | OPTION_BIT(WITHOUT_ORACLE))
#define RUN_OPTIONS                                                                                \
    (SWEEP_OPTIONS | SELECTION_OPTIONS | OPTION_BIT(FOR) | OPTION_BIT(SEED_FROM) |                 \
     OPTION_BIT(STOP_AT) | OPTION_BIT(POLICY) | OPTION_BIT(DEPTH) | OPTION_BIT(JUNIT) |            \
     OPTION_BIT(SARIF) | OPTION_BIT(SUMMARY) | OPTION_BIT(BASELINE) | OPTION_BIT(PLOTS))
#define SOURCE_OF_RUN                                                                              \
    (OPTION_BIT(SEED) | OPTION_BIT(TAPE) | OPTION_BIT(FUZZ) | OPTION_BIT(HANG_AFTER) |             \
     OPTION_BIT(POLICY) | OPTION_BIT(DEPTH))
#define REJUDGE_OPTIONS                                                                            \
    (OPTION_BIT(JSON) | OPTION_BIT(STRICT) | OPTION_BIT(UPDATE) | OPTION_BIT(ATTEMPTS) |           \
     OPTION_BIT(SINK) | OPTION_BIT(WITHOUT_ORACLE) | OPTION_BIT(HANG_AFTER))
#define REPLAY_OPTIONS                                                                             \
    (SELECTION_OPTIONS | SOURCE_OF_RUN | OPTION_BIT(STRICT) | OPTION_BIT(TRACE) |                  \
     OPTION_BIT(ONLY) | OPTION_BIT(UNTIL) | OPTION_BIT(BREAK) | OPTION_BIT(PLOTS))
#define DIGESTS_OPTIONS                                                                            \
    (SELECTION_OPTIONS | OPTION_BIT(SEEDS) | OPTION_BIT(TAPE) | OPTION_BIT(HANG_AFTER) |           \
     OPTION_BIT(UNTIL) | OPTION_BIT(TRACE))
#define SHRINK_OPTIONS                                                                             \
    (SELECTION_OPTIONS | SOURCE_OF_RUN | OPTION_BIT(ORACLE) | OPTION_BIT(ATTEMPTS) |               \
     OPTION_BIT(BELOW) | OPTION_BIT(FOR) | OPTION_BIT(RESUME) | OPTION_BIT(OUT) |                  \
     OPTION_BIT(OUTPUT))
#define EXPLORE_OPTIONS                                                                            \
    (SELECTION_OPTIONS | OPTION_BIT(JOBS) | OPTION_BIT(HANG_AFTER) | OPTION_BIT(JSON) |            \
     OPTION_BIT(OUT) | OPTION_BIT(SHARD) | OPTION_BIT(STOP_AT) | OPTION_BIT(DEVIATIONS) |          \
     OPTION_BIT(MAX_RUNS) | OPTION_BIT(RESUME) | OPTION_BIT(CRASH_POINTS) |                        \
     OPTION_BIT(RE_EXECUTE))
#define EXPLAIN_OPTIONS                                                                            \
    (SELECTION_OPTIONS | SOURCE_OF_RUN | OPTION_BIT(ORACLE) | OPTION_BIT(ATTEMPTS) |               \
     OPTION_BIT(BELOW) | OPTION_BIT(FOR) | OPTION_BIT(JSON) | OPTION_BIT(OUTPUT))
#define MATRIX_OPTIONS                                                                             \
    (SWEEP_OPTIONS | OPTION_BIT(QUICK) | OPTION_BIT(SMALL) | OPTION_BIT(SINK) |                    \
     OPTION_BIT(MUTANTS) | OPTION_BIT(JUNIT) | OPTION_BIT(SUMMARY) | OPTION_BIT(MARKDOWN) |        \
     OPTION_BIT(HTML))
#define GATE_OPTIONS                                                                               \
    (OPTION_BIT(JOBS) | OPTION_BIT(HANG_AFTER) | OPTION_BIT(SEEDS) | OPTION_BIT(JSON) |            \
     OPTION_BIT(OUT) | OPTION_BIT(QUICK) | OPTION_BIT(COSTS) | OPTION_BIT(CELL) |                  \
     OPTION_BIT(PLOTS))
#define MUTANTS_OPTIONS                                                                            \
    (OPTION_BIT(JSON) | OPTION_BIT(JOBS) | OPTION_BIT(SHARD) | OPTION_BIT(OUT) |                   \
     OPTION_BIT(SAMPLE) | OPTION_BIT(WITHOUT_ORACLE) | OPTION_BIT(SOURCE) |                        \
     OPTION_BIT(HANG_AFTER) | OPTION_BIT(PLOTS) | OPTION_BIT(SEARCHES))

static const struct command commands[] = {
    {"list",
     "[scenarios|sinks|models|oracles|claims|clauses|mutants|sites|marks|fields]",
     "what there is, one item per line, its name first",
     0,
     1,
     OPTION_BIT(SOURCE),
     command_list},
    {"run",
     "SCENARIO...",
     "sweep the seeds of scenarios and judge what the services did",
     1,
     ANY_NUMBER,
     RUN_OPTIONS,
     command_run},
    {"replay",
     "SCENARIO|ENTRY.tape",
     "make one run again, of a seed, a tape or a kept tape, and show it",
     1,
     1,
     REPLAY_OPTIONS,
     command_replay},
    {"shrink",
     "SCENARIO",
     "find the smallest tape that fails in the same way",
     1,
     1,
     SHRINK_OPTIONS,
     command_shrink},
    {"explain",
     "SCENARIO",
     "say why a run fails: what each choice is for, what decided, and which run near it passes",
     1,
     1,
     EXPLAIN_OPTIONS,
     command_explain},
    {"rejudge",
     "[ENTRY.tape...]",
     "run kept tapes again, all by default, and show where their verdicts differ",
     0,
     ANY_NUMBER,
     REJUDGE_OPTIONS,
     command_rejudge},
    {"explore",
     "SCENARIO|x1-s|x1-m|x1-l",
     "make every run with few choices that are not 0, fewest first; or count a system's states",
     1,
     1,
     EXPLORE_OPTIONS,
     command_explore},
    {"timing",
     "SCENARIO",
     "tell which times must exceed which and by how much they do, and show those that do not",
     1,
     1,
     OPTION_BIT(JSON) | OPTION_BIT(OUT) | OPTION_BIT(ATTEMPTS) | OPTION_BIT(FAIL_UNDER) |
         OPTION_BIT(PROFILE) | OPTION_BIT(SINK),
     command_timing},
    {"matrix",
     "[CLAIM...]",
     "certify or refute every claim",
     0,
     ANY_NUMBER,
     MATRIX_OPTIONS,
     command_matrix},
    {"marks",
     "[SCENARIO...]",
     "sweep scenarios, all by default, and tell which behaviour marks none of them reaches, or not "
     "the "
     "one that must",
     0,
     ANY_NUMBER,
     OPTION_BIT(SEEDS) | OPTION_BIT(JOBS) | OPTION_BIT(JSON) | OPTION_BIT(HANG_AFTER) |
         SELECTION_OPTIONS,
     command_marks},
    {"mutants",
     "[NAME...]",
     "build the planted bugs and show which oracle kills which",
     0,
     ANY_NUMBER,
     MUTANTS_OPTIONS,
     command_mutants},
    {"merge",
     "FILE...",
     "join the JSON files of all shards of a sweep, or of a matrix, whose pages it writes",
     1,
     ANY_NUMBER,
     OPTION_BIT(JSON) | OPTION_BIT(MARKDOWN) | OPTION_BIT(HTML) | OPTION_BIT(SINK) |
         OPTION_BIT(HANG_AFTER),
     command_merge},
    {"diff",
     "SCENARIO",
     "find where another build, or another sink, first does something else",
     1,
     1,
     OPTION_BIT(WITH) | OPTION_BIT(WITH_SINK) | OPTION_BIT(SINK) | OPTION_BIT(SEEDS) |
         OPTION_BIT(PROFILE) | OPTION_BIT(HANG_AFTER),
     command_diff},
    {"gate",
     "[CANDIDATE...|published]",
     "judge by simulated figures whether a candidate is fast enough to replace its current path",
     0,
     ANY_NUMBER,
     GATE_OPTIONS,
     command_gate},
    {"new-sink",
     "DIR",
     "write a small sink of your own to start from, with its Makefile and scenarios",
     1,
     1,
     OPTION_BIT(NAME),
     command_new_sink},
    {"bench",
     "",
     "measure speed, beside reference loops",
     0,
     0,
     OPTION_BIT(JSON) | OPTION_BIT(QUICK),
     command_bench},
    {"digests", "SCENARIO", NULL, 1, 1, DIGESTS_OPTIONS, command_digests},
};

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(commands); i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static void print_overview(FILE *file)
{
    (void)fprintf(file, "usage: sinkproof COMMAND [ARGUMENT...] [OPTION...]\n\ncommands:\n");
    for (size_t i = 0; i < ARRAY_COUNT(commands); i++) {
        if (commands[i].sentence != NULL) {
            (void)fprintf(file, "  %-16s %s\n", commands[i].name, commands[i].sentence);
        }
    }
    (void)fprintf(file,
                  "  %-16s %s\n  %-16s %s\n  %-16s %s\n\n"
                  "exit status: 0 as expected; 1 a claim or expectation broken, or inconclusive;\n"
                  "2 usage or bad input; 3 nondeterminism; 4 a limit or an internal error\n",
                  "help",
                  "this text, or that of a command: sinkproof help run",
                  "--version",
                  "version and digest of the clauses",
                  "--print-include",
                  "the folder to compile a sink of your own with: cc -I");
}

static void print_help(FILE *file, const struct command *command)
{
    (void)fprintf(file, "usage: sinkproof %s %s", command->name, command->arguments);
    options_synopsis(file, command->allowed);
    (void)fprintf(
        file, "\n\n%s\n\n", command->sentence != NULL ? command->sentence : "not for people");
    options_describe(file, command->allowed);
}

static enum status print_version(void)
{
    (void)printf(
        "sinkproof %s, clauses 0x%016" PRIx64 "\n", SINKPROOF_VERSION, catalogue_clause_digest());
    return STATUS_OK;
}

static enum status print_include(void)
{
    struct text_pool texts = {0};
    const char *folder = include_folder(&texts);
    if (folder == NULL) {
        complain(
            "--print-include: neither ../include/sinkproof nor a source tree beside the binary");
    } else {
        (void)printf("%s\n", folder);
    }
    text_pool_fini(&texts);
    return folder == NULL ? STATUS_USAGE : STATUS_OK;
}

static enum status unknown_command(const char *name)
{
    (void)fprintf(stderr, "sinkproof: \"%s\": no such command; allowed:", name);
    for (size_t i = 0; i < ARRAY_COUNT(commands); i++) {
        if (commands[i].sentence != NULL) {
            (void)fprintf(stderr, " %s", commands[i].name);
        }
    }
    (void)fprintf(stderr, " help --version --print-include\n");
    return STATUS_USAGE;
}

static enum status help(const char *name_or_null)
{
    if (name_or_null == NULL) {
        print_overview(stdout);
        return STATUS_OK;
    }
    const struct command *command = find_command(name_or_null);
    if (command == NULL) {
        return unknown_command(name_or_null);
    }
    print_help(stdout, command);
    return STATUS_OK;
}

static bool asks_for_help(size_t count, const char **words)
{
    for (size_t i = 0; i < count && strcmp(words[i], "--") != 0; i++) {
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

static enum status
run_command(const struct command *command, const char *program, size_t count, const char **words)
{
    const struct options_rule rule = {
        .command = command->name,
        .allowed = command->allowed,
        .argument_min = command->argument_min,
        .argument_max = command->argument_max,
        .arguments = command->arguments,
    };
    struct options options;
    char message[OPTION_MESSAGE_SIZE];
    if (asks_for_help(count, words)) {
        print_help(stdout, command);
        return STATUS_OK;
    }
    if (options_parse(&rule, words, count, &options, message) != ERR_OK) {
        (void)fprintf(stderr, "sinkproof %s\n", message);
        return STATUS_USAGE;
    }
    options.program = program;
    return command->run(&options);
}

static enum status dispatch(size_t count, const char **words, const char *program)
{
    if (count == 0) {
        print_overview(stderr);
        return STATUS_USAGE;
    }
    if (strcmp(words[0], "--version") == 0) {
        return print_version();
    }
    if (strcmp(words[0], "--print-include") == 0) {
        return print_include();
    }
    if (strcmp(words[0], "help") == 0 || strcmp(words[0], "--help") == 0 ||
        strcmp(words[0], "-h") == 0) {
        return help(count > 1 ? words[1] : NULL);
    }
    const struct command *command = find_command(words[0]);
    return command == NULL ? unknown_command(words[0])
                           : run_command(command, program, count - 1, words + 1);
}

int main(int argc, char **argv)
{
    const char **words = NULL;
    const char *program = argc > 0 ? argv[0] : "sinkproof";
    const size_t count = argc > 1 ? (size_t)argc - 1 : 0;
    words = memory_take((count + 1) * sizeof *words);
    for (size_t i = 0; i < count; i++) {
        words[i] = argv[i + 1];
    }
    enum status status = dispatch(count, words, program);
    free(words);
    /* Results that could not be written are no results. */
    if ((fflush(stdout) != 0 || ferror(stdout) != 0) && status != STATUS_USAGE) {
        (void)fprintf(stderr, "sinkproof: standard output: cannot be written\n");
        status = STATUS_INTERNAL;
    }
    return (int)status;
}
