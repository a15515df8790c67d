/* The commands, one file each in commands/; main.c lists them. */
#ifndef SCENARIOS_CLI_COMMAND_H
#define SCENARIOS_CLI_COMMAND_H

#include "scenarios/cli/options.h"
#include "scenarios/cli/status.h"

typedef enum status command_function(const struct options *options);

struct command {
    const char *name;
    const char *arguments; /* "SCENARIO..." */
    const char *sentence;  /* NULL: not for people, and not in the help */
    size_t argument_min;
    size_t argument_max;
    uint64_t allowed; /* OPTION_BITs */
    command_function *run;
};

command_function command_bench;
command_function command_diff;
command_function command_digests;
command_function command_explore;
command_function command_explain;
command_function command_gate;
command_function command_list;
command_function command_marks;
command_function command_matrix;
command_function command_merge;
command_function command_mutants;
command_function command_new_sink;
command_function command_rejudge;
command_function command_replay;
command_function command_run;
command_function command_shrink;
command_function command_timing;

#define SINKPROOF_VERSION "0.1.0"

#endif
