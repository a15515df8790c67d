/* The files that matrix and merge leave: JSON, Markdown, a page of HTML. */
#ifndef SCENARIOS_CLI_MATRIX_MATRIX_PAGES_H
#define SCENARIOS_CLI_MATRIX_MATRIX_PAGES_H

#include "reports/matrix.h"
#include "scenarios/cli/session.h"

struct matrix_pages {
    struct session *session; /* where its options say */
    const char *budget;      /* in words, and the command that makes it again */
    const char *command;
    const struct report_claim *claims;
    const struct report_evidence *evidence; /* one per claim */
    size_t count;
};

/* Of the command matrix: its budget in words; itself, without what changes nothing in the result. */
const char *matrix_pages_budget(struct text_pool *texts, const struct options *options);
const char *matrix_pages_command(struct text_pool *texts, const struct options *options);

/* Whether they can be written; asked before long work. STATUS_OK, or STATUS_USAGE with a line on
 * standard error; so with write. */
MUST_USE enum status matrix_pages_check(struct session *session);
MUST_USE enum status matrix_pages_write(const struct matrix_pages *pages);

#endif
