/* A folder of a test's own in which it builds sinks and runs the binary under test. */
#ifndef SCENARIOS_CLI_WORKSHOP_TESTKIT_H
#define SCENARIOS_CLI_WORKSHOP_TESTKIT_H

#include "scenarios/cli/text.h"

struct workshop {
    char folder[64];
    struct text_pool texts;
    const char *output; /* read: of the last command, standard output and errors in one */
};

/* Make the folder; for cmocka's setup and teardown, with the workshop as state. */
int workshop_open(void **state);
int workshop_close(void **state);

/* Run a command by sh in the folder, with $SINKPROOF the whole path of the binary and $ROOT that of
 * the source tree. Its exit status; 128 + n after signal n. */
int workshop_run(struct workshop *workshop, const char *command);

/* The same, and fail the test when the status is another. */
void workshop_must(struct workshop *workshop, const char *command, int status);

/* The text must be in the last output. */
void workshop_says(const struct workshop *workshop, const char *text);

/* A file in the folder. */
void workshop_write(struct workshop *workshop, const char *name, const char *text);
const char *workshop_read(struct workshop *workshop, const char *name);

/* text with the one place where old stands replaced; fails the test unless there is exactly one. */
const char *
workshop_edit(struct workshop *workshop, const char *text, const char *old, const char *new);

/* Write the sink that new-sink makes to sink.c, and what it is built with to kit.a and flags. */
void workshop_make_kit(struct workshop *workshop);

/* Build NAME.so from a source text and kit.a. */
void workshop_build(struct workshop *workshop, const char *name, const char *source);

#endif
