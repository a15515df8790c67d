/* All claims of the product: every JSON file in scenarios/claims, for list and matrix. */
#ifndef SCENARIOS_CLI_MATRIX_CLAIMS_H
#define SCENARIOS_CLI_MATRIX_CLAIMS_H

#include "scenarios/claims/claims.h"
#include "scenarios/cli/status.h"
#include "scenarios/cli/text.h"

#define CLAIM_SETS_MAX 64

/* Zeroed, a book is empty and may be closed. */
struct claims_book {
    struct claim_set *sets[CLAIM_SETS_MAX];
    size_t set_count;
};

/* Read the product's claims. STATUS_OK, or STATUS_USAGE with a line on standard error; close the
 * book in any case. */
MUST_USE enum status claims_open(struct text_pool *texts, struct claims_book *book);

/* Add a file of the user's own, whose claims may be about a sink that was brought. */
MUST_USE enum status
claims_open_file(struct claims_book *book, const char *path, const struct sink_type *sink_or_null);
void claims_close(struct claims_book *book);

/* Claims in order of files and places: the i-th, NULL past the end; by id, NULL if there is none. */
const struct claim *claims_book_at(const struct claims_book *book, size_t index);
const struct claim *claims_book_find(const struct claims_book *book, const char *id);

enum status claims_list(void);

#endif
