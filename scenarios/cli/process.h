/* Run another program and wait for it. */
#ifndef SCENARIOS_CLI_PROCESS_H
#define SCENARIOS_CLI_PROCESS_H

#include "scenarios/cli/text.h"

/* Run words[0] with the arguments that follow, NULL-terminated, its standard output and errors
 * written to a file. Its exit status; 128 + n when signal n ended it; -1 when it could not be
 * started. */
int process_run(const char *const *words, const char *log);

/* The same, with what it writes to standard output kept in the pool; standard errors are shared.
 * More than 64 MiB are cut off. */
int process_read(const char *const *words, struct text_pool *texts, struct bytes *output);

#endif
