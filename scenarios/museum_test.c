/* docs/bug-museum.md and the headers of the patches say the same.
 * link: product
 */
#include "scenarios/cli/files.h"
#include "scenarios/cli/mutants/mutants.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define PAGE          "docs/bug-museum.md"
#define PRIMITIVE_MAX 24
#define ID_SIZE       6u

/* The page and what it is compared with. */
struct museum {
    struct text_pool texts;
    const char *page;
    struct mutant *mutants;
    size_t count;
};

static void museum_open(struct museum *museum)
{
    *museum = (struct museum){0};
    struct bytes content = {0};
    assert_int_equal(file_read(&museum->texts, PAGE, &content), ERR_OK);
    museum->page = text_copy(&museum->texts, content);
    assert_int_equal(mutants_read(&museum->texts, ".", &museum->mutants, &museum->count),
                     STATUS_OK);
}

static void museum_close(struct museum *museum)
{
    text_pool_fini(&museum->texts);
}

/* The next line that begins with a text, copied, or NULL; *at is behind it then. */
static const char *next_row(struct museum *museum, const char **at, const char *beginning)
{
    while (**at != '\0') {
        const struct bytes line = {(const uint8_t *)*at, strcspn(*at, "\n")};
        *at += line.size + ((*at)[line.size] == '\n');
        if (line.size >= strlen(beginning) &&
            memcmp(line.data, beginning, strlen(beginning)) == 0) {
            return text_copy(&museum->texts, line);
        }
    }
    return NULL;
}

static const char *next_planted(struct museum *museum, const char **at)
{
    return next_row(museum, at, "| [");
}

/* A row of the other table: "| AMB-06 | ...". */
static const char *next_missing(struct museum *museum, const char **at)
{
    const char *row = next_row(museum, at, "| ");
    while (row != NULL && (strlen(row) < 2 + ID_SIZE || row[5] != '-' || row[2] == '[')) {
        row = next_row(museum, at, "| ");
    }
    return row;
}

/* What the page must say of a mutant and one of its cases. */
struct wanted {
    const char *beginning; /* case, address, mechanism */
    const char *middle;    /* mutant, who catches it */
};

static struct wanted wanted_of(struct museum *museum, const struct mutant *mutant, const char *id)
{
    struct text_pool *texts = &museum->texts;
    const char *by = mutant->test_or_null != NULL
                         ? text_format(texts, "unit test `%s`", mutant->test_or_null)
                         : mutant->oracle;
    return (struct wanted){
        .beginning = text_format(texts,
                                 "| [%.6s](%.*s) | %s | ",
                                 id,
                                 (int)strcspn(mutant->source_or_null, " "),
                                 mutant->source_or_null,
                                 mutant->mechanism),
        .middle = text_format(texts, " | `%s` | %s | ", mutant->name, by),
    };
}

static bool is_on_page(struct museum *museum, const struct wanted *wanted)
{
    const char *at = museum->page;
    for (const char *row = next_planted(museum, &at); row != NULL;
         row = next_planted(museum, &at)) {
        if (strncmp(row, wanted->beginning, strlen(wanted->beginning)) == 0 &&
            strstr(row, wanted->middle) != NULL) {
            return true;
        }
    }
    return false;
}

static size_t planted_rows(struct museum *museum)
{
    const char *at = museum->page;
    size_t count = 0;
    while (next_planted(museum, &at) != NULL) {
        count++;
    }
    return count;
}

/* Goal: neither of them rots. Method: each patch that names a case has its row, for the first scenario
 * that it is tried in, and there are no other rows. */
static void the_page_lists_the_patches(void **state)
{
    (void)state;
    struct museum museum;
    size_t pairs = 0;
    museum_open(&museum);
    for (size_t i = 0; i < museum.count; i++) {
        const struct mutant *mutant = &museum.mutants[i];
        const bool is_row = mutant->museum_or_null != NULL && mutant->label == mutant->name;
        const char *ids = is_row ? mutant->museum_or_null : "";
        for (; *ids != '\0'; ids += ID_SIZE + strspn(ids + ID_SIZE, " ")) {
            const struct wanted wanted = wanted_of(&museum, mutant, ids);
            if (!is_on_page(&museum, &wanted)) {
                fail_msg(PAGE " lacks the row\n%s...%s", wanted.beginning, wanted.middle);
            }
            pairs++;
        }
    }
    assert_int_equal(planted_rows(&museum), pairs);
    assert_true(pairs >= 30);
    museum_close(&museum);
}

/* Goal: what a scenario shows has a tape of some length, what a unit test shows has none. */
static void each_row_ends_with_a_count_of_choices(void **state)
{
    (void)state;
    struct museum museum;
    museum_open(&museum);
    const char *at = museum.page;
    for (const char *row = next_planted(&museum, &at); row != NULL;
         row = next_planted(&museum, &at)) {
        const size_t size = strlen(row);
        assert_true(size > 8);
        assert_string_equal(row + size - 2, " |");
        const bool is_test = strstr(row, " | unit test `") != NULL;
        const char last = row[size - 3];
        if (is_test ? last != '-' : last < '0' || last > '9') {
            fail_msg("no count of choices: %s", row);
        }
    }
    museum_close(&museum);
}

/* "F12 F3 | ...": the primitives of a row, each of which is explained below the table. */
static void check_primitives(struct museum *museum, const char *row)
{
    const char *at = row + ID_SIZE + 5;
    uint32_t count = 0;
    while (*at == 'F') {
        char *end = NULL;
        const unsigned long number = strtoul(at + 1, &end, 10);
        assert_in_range(number, 1, PRIMITIVE_MAX);
        const char *line = text_format(&museum->texts, "\n- F%lu: ", number);
        if (strstr(museum->page, line) == NULL) {
            fail_msg("F%lu is not explained: %s", number, row);
        }
        count++;
        at = end + strspn(end, " ");
    }
    assert_true(count > 0);
    assert_int_equal(*at, '|');
}

/* Goal: what is said to be missing is not there, and it is said why. */
static void what_is_missing_names_its_primitives(void **state)
{
    (void)state;
    struct museum museum;
    size_t missing = 0;
    museum_open(&museum);
    const char *at = museum.page;
    for (const char *row = next_missing(&museum, &at); row != NULL;
         row = next_missing(&museum, &at)) {
        const char *link = text_format(&museum.texts, "| [%.6s](", row + 2);
        if (strstr(museum.page, link) != NULL) {
            fail_msg("%.6s is planted and missing", row + 2);
        }
        check_primitives(&museum, row);
        missing++;
    }
    assert_true(missing > 0);
    museum_close(&museum);
}

/* Goal: the page's own count is right. */
static void the_page_counts_its_cases(void **state)
{
    (void)state;
    struct museum museum;
    size_t cases = 0;
    size_t missing = 0;
    char before[ID_SIZE + 1] = "";
    museum_open(&museum);
    const char *at = museum.page;
    for (const char *row = next_planted(&museum, &at); row != NULL;
         row = next_planted(&museum, &at)) {
        cases += strncmp(row + 3, before, ID_SIZE) != 0;
        memcpy(before, row + 3, ID_SIZE);
    }
    at = museum.page;
    while (next_missing(&museum, &at) != NULL) {
        missing++;
    }
    const char *line = text_format(&museum.texts,
                                   "\n%zu of %zu cases are planted so far, in %zu patches.",
                                   cases,
                                   cases + missing,
                                   planted_rows(&museum));
    if (strstr(museum.page, line) == NULL) {
        fail_msg("not on the page:%s", line);
    }
    museum_close(&museum);
}

TEST_MAIN(museum,
          TEST(the_page_lists_the_patches),
          TEST(each_row_ends_with_a_count_of_choices),
          TEST(what_is_missing_names_its_primitives),
          TEST(the_page_counts_its_cases))
