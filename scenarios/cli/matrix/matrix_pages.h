/* The files that matrix leaves: JSON, Markdown, a page of HTML. */
#ifndef SCENARIOS_CLI_MATRIX_MATRIX_PAGES_H
#define SCENARIOS_CLI_MATRIX_MATRIX_PAGES_H

#include "reports/matrix.h"
#include "scenarios/cli/session.h"

struct matrix_pages {
    struct session *session;
    const struct report_claim *claims;
    const struct report_evidence *evidence; /* one per claim */
    size_t count;
};

/* Whether they can be written; asked before long work. STATUS_OK, or STATUS_USAGE with a line on
 * standard error; so with write. */
MUST_USE enum status matrix_pages_check(struct session *session);
MUST_USE enum status matrix_pages_write(const struct matrix_pages *pages);

#endif
