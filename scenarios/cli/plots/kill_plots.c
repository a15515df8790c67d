#include "scenarios/cli/plots/kill_plots.h"

#include "scenarios/cli/command.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/plots/plot_points.h"
#include "scenarios/wiring/catalogue.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SEARCHES_MAX 6u
#define WORDS_MAX    (SEARCHES_MAX + 4u)
#define HEAD_FIRST   "mutant"
#define HEAD_LAST    "fewest" /* what stands behind the searches */

/* The runs that a search needed for each bug that it killed. */
struct search {
    const char *name;
    uint64_t *runs;
    size_t killed;
};

static void add_kill(struct search *search, uint64_t runs)
{
    search->runs = memory_resize(search->runs, (search->killed + 1) * sizeof *search->runs);
    search->runs[search->killed] = runs;
    search->killed++;
}

/* Bugs killed within so many runs. */
static void accumulate(struct search *search, struct points *points)
{
    qsort(search->runs, search->killed, sizeof *search->runs, points_compare);
    for (size_t i = 0; i < search->killed; i++) {
        if (i == 0) {
            points_add(points, search->runs[0], 0);
        }
        if (i + 1 == search->killed || search->runs[i] != search->runs[i + 1]) {
            points_add(points, search->runs[i], i + 1);
        }
    }
}

static enum status
draw(struct session *session, struct search *searches, size_t count, size_t mutant_count)
{
    struct plotting plotting;
    struct points points[SEARCHES_MAX] = {{0}};
    struct report_series series[SEARCHES_MAX];
    const enum status status = plotting_open(&plotting, session);
    if (status != STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        accumulate(&searches[i], &points[i]);
        series[i] = points_series(&points[i],
                                  text_format(&session->texts,
                                              "%s: %zu of %zu killed",
                                              searches[i].name,
                                              searches[i].killed,
                                              mutant_count),
                                  REPORT_SERIES_STEPS);
    }
    const struct report_plot plot = {
        .name = "runs-to-kill",
        .title = "Runs to kill: planted bugs that are killed within so many runs",
        .subtitle = "each in the scenario, the profile and by the oracle that its patch names",
        .facts = text_format(&session->texts,
                             "version %s, digest of the clauses 0x%016" PRIx64,
                             SINKPROOF_VERSION,
                             catalogue_clause_digest()),
        .x = {.label = "runs", .unit = "runs", .shown = "", .shown_size = 1, .log_base = 10},
        .y = {.label = "planted bugs killed", .unit = "mutants", .shown = "", .shown_size = 1},
        .series = series,
        .series_count = count,
    };
    plotting_add(&plotting, &plot);
    plotting_close(&plotting);
    points_free(points, count);
    return plotting.status;
}

static void free_searches(struct search *searches, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(searches[i].runs);
    }
}

enum status
kill_plots_of_records(struct session *session, const struct report_mutant *records, size_t count)
{
    struct search search = {.name = "seeds"};
    size_t judged = 0;
    for (size_t i = 0; i < count; i++) {
        /* A unit test judges without runs. */
        if (records[i].scenario[0] == '\0') {
            continue;
        }
        judged++;
        if (records[i].killed) {
            add_kill(&search, records[i].runs_to_kill);
        }
    }
    const enum status status = draw(session, &search, 1, judged);
    free_searches(&search, 1);
    return status;
}

/* --- the table --------------------------------------------------------------------------------- */

/* The words of a line; more than there is room for are left out. */
static size_t split(struct text_pool *texts, struct bytes line, const char *words[WORDS_MAX])
{
    size_t count = 0;
    size_t at = 0;
    while (at < line.size && count < WORDS_MAX) {
        size_t end = at;
        while (end < line.size && line.data[end] != ' ') {
            end++;
        }
        if (end > at) {
            words[count] = text_copy(texts, (struct bytes){line.data + at, end - at});
            count++;
        }
        at = end + 1;
    }
    return count;
}

struct table {
    struct search searches[SEARCHES_MAX];
    size_t search_count; /* 0: no heads were read */
    size_t mutant_count;
    bool is_bad;
};

/* Tables of several calls, one behind the other, are one. */
static void read_heads(struct table *table, const char *const *words, size_t count)
{
    const bool has_heads = table->search_count > 0;
    for (size_t i = 1; !has_heads && i < count && strcmp(words[i], HEAD_LAST) != 0; i++) {
        table->is_bad = table->is_bad || table->search_count == SEARCHES_MAX;
        if (!table->is_bad) {
            table->searches[table->search_count] = (struct search){.name = words[i]};
            table->search_count++;
        }
    }
}

static void read_row(struct table *table, const char *const *words, size_t count)
{
    if (count < table->search_count + 1) {
        table->is_bad = true;
        return;
    }
    for (size_t i = 0; i < table->search_count; i++) {
        uint64_t runs = 0;
        if (number_parse(words[i + 1], &runs) == ERR_OK && runs > 0) {
            add_kill(&table->searches[i], runs);
        } else if (strcmp(words[i + 1], "-") != 0) {
            table->is_bad = true;
        }
    }
    table->mutant_count++;
}

/* The last line tells sums, "fewest runs: ...". */
static void read_line(struct table *table, const char *const *words, size_t count)
{
    if (count == 0 || strcmp(words[0], HEAD_LAST) == 0) {
        return;
    }
    if (strcmp(words[0], HEAD_FIRST) == 0) {
        read_heads(table, words, count);
    } else if (table->search_count > 0) {
        read_row(table, words, count);
    } else {
        table->is_bad = true;
    }
}

static void read_table(struct table *table, struct text_pool *texts, struct bytes content)
{
    size_t at = 0;
    while (at < content.size && !table->is_bad) {
        const char *words[WORDS_MAX];
        size_t end = at;
        while (end < content.size && content.data[end] != '\n') {
            end++;
        }
        const size_t count = split(texts, (struct bytes){content.data + at, end - at}, words);
        read_line(table, words, count);
        at = end + 1;
    }
}

enum status kill_plots_of_table(struct session *session, const char *path)
{
    struct table table = {.is_bad = false};
    struct bytes content = {0};
    const enum err err = file_read(&session->texts, path, &content);
    if (err == ERR_OK) {
        read_table(&table, &session->texts, content);
    }
    enum status status = STATUS_USAGE;
    if (err != ERR_OK || table.is_bad || table.mutant_count == 0) {
        complain("--searches \"%s\": %s; allowed: what tools/searches printed",
                 path,
                 err != ERR_OK ? err_name(err) : "no such table");
    } else {
        status = draw(session, table.searches, table.search_count, table.mutant_count);
    }
    free_searches(table.searches, table.search_count);
    return status;
}
