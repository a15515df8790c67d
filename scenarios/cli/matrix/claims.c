#include "scenarios/cli/matrix/claims.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/session.h"

#include <stdio.h>
#include <string.h>

enum status
claims_open_file(struct claims_book *book, const char *path, const struct sink_type *sink_or_null)
{
    struct scenario_fault fault = {{0}};
    if (book->set_count == CLAIM_SETS_MAX) {
        complain("%s: too many files of claims; allowed: %d", path, CLAIM_SETS_MAX);
        return STATUS_USAGE;
    }
    const enum err error =
        claims_load_own(path, sink_or_null, &book->sets[book->set_count], &fault);
    if (error != ERR_OK) {
        complain("%s", fault.message[0] != '\0' ? fault.message : err_name(error));
        return STATUS_USAGE;
    }
    book->set_count++;
    return STATUS_OK;
}

enum status claims_open(struct text_pool *texts, struct claims_book *book)
{
    const char *const *names = NULL;
    const char *root = scenarios_folder(texts);
    *book = (struct claims_book){0};
    if (root == NULL) {
        complain("no folder scenarios beside the binary or above the current directory");
        return STATUS_USAGE;
    }
    const char *folder = text_format(texts, "%s/claims", root);
    const size_t count = folder_names(texts, folder, &names);
    for (size_t i = 0; i < count; i++) {
        const size_t size = strlen(names[i]);
        if (size > 5 && strcmp(names[i] + size - 5, ".json") == 0) {
            const enum status status =
                claims_open_file(book, text_format(texts, "%s/%s", folder, names[i]), NULL);
            if (status != STATUS_OK) {
                return status;
            }
        }
    }
    return STATUS_OK;
}

void claims_close(struct claims_book *book)
{
    for (size_t i = 0; i < book->set_count; i++) {
        claims_destroy(book->sets[i]);
    }
    *book = (struct claims_book){0};
}

const struct claim *claims_book_at(const struct claims_book *book, size_t index)
{
    for (size_t i = 0; i < book->set_count; i++) {
        const uint32_t count = claims_count(book->sets[i]);
        if (index < count) {
            return claims_at(book->sets[i], (uint32_t)index);
        }
        index -= count;
    }
    return NULL;
}

const struct claim *claims_book_find(const struct claims_book *book, const char *id)
{
    for (size_t i = 0; i < book->set_count; i++) {
        const struct claim *claim = claims_find(book->sets[i], id);
        if (claim != NULL) {
            return claim;
        }
    }
    return NULL;
}

static void print_claim(const struct claim *claim)
{
    (void)printf("%-9s %s: %s: ", claim->id, claim->sink, claim->condition);
    for (uint32_t i = 0; i < claim->property_count; i++) {
        (void)printf("%s%s", i > 0 ? ", " : "", claim->properties[i]);
    }
    (void)printf(": %s\n", claim->holds ? "holds" : "fails");
}

enum status claims_list(void)
{
    struct text_pool texts = {0};
    struct claims_book book;
    const enum status status = claims_open(&texts, &book);
    size_t next = 0;
    const struct claim *claim = NULL;
    while (status == STATUS_OK && (claim = claims_book_at(&book, next)) != NULL) {
        print_claim(claim);
        next++;
    }
    claims_close(&book);
    text_pool_fini(&texts);
    return status;
}
