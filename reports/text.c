#include "reports/text.h"

#include "reports/failure.h"
#include "sinks/base/check.h"

#include <inttypes.h>
#include <string.h>

/* Violations of one sweep that are printed in full; the others get a line each. */
#define FULL_VIOLATIONS 3
#define ORACLE_COLUMNS  26
#define LINE_COLUMNS    100
#define PAIR_NAMES      400
#define NEVER_SHOWN     5u  /* names: a screen is for what matters */
#define NEVER_FROM      500 /* counted runs: fewer are a spot check */

/* Print one line: what is cut short or has control characters is still one line. */
static void print_line(FILE *file, const char *indent, const char *text)
{
    (void)fputs(indent, file);
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        (void)fputc(c < 0x20 || c == 0x7f ? ' ' : c, file);
    }
    (void)fputc('\n', file);
}

/* SGR parameters of ECMA-48, 8.3.117, for what is to be seen first. */
#define BOLD   "1"
#define RED    "31;1"
#define GREEN  "32;1"
#define YELLOW "33;1"

static void print_in(FILE *file, enum report_style style, const char *colour, const char *text)
{
    if (style == REPORT_COLOUR) {
        (void)fprintf(file, "\033[%sm%s\033[0m", colour, text);
    } else {
        (void)fputs(text, file);
    }
}

struct page {
    FILE *file;
    enum report_style style;
};

/* The first word of a line of interest is set in colour. */
static void print_failure_line(void *context, enum failure_part part, const char *line)
{
    const struct page *page = context;
    const size_t indent = strspn(line, " ");
    const size_t word = strcspn(line + indent, ":");
    char start[16];
    if (part == FAILURE_PART_PLAIN || word >= sizeof start) {
        (void)fprintf(page->file, "%s\n", line);
        return;
    }
    (void)snprintf(start, sizeof start, "%.*s", (int)word, line + indent);
    (void)fprintf(page->file, "%.*s", (int)indent, line);
    print_in(page->file, page->style, part == FAILURE_PART_BROKEN ? RED : BOLD, start);
    (void)fprintf(page->file, "%s\n", line + indent + word);
}

void report_text_violation(FILE *file, const struct report_run *run, size_t index)
{
    struct page page = {.file = file};
    failure_lines(&run->violations[index], &page, print_failure_line);
}

/* Names behind each other, in lines of LINE_COLUMNS. */
static void print_names(FILE *file, const char *indent, const char *const *names, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const bool is_last = i + 1 == count;
        const size_t size = strlen(names[i]) + (is_last ? 0 : 1);
        const bool starts = used == 0 || used + 1 + size > LINE_COLUMNS;
        if (starts) {
            (void)fprintf(file, "%s%s", used == 0 ? "" : "\n", indent);
        }
        used = starts ? strlen(indent) + size : used + 1 + size;
        (void)fprintf(file, "%s%s%s", starts ? "" : " ", names[i], is_last ? "\n" : ",");
    }
}

static void print_never(FILE *file, const struct report_run *run)
{
    if (run->never_count <= NEVER_SHOWN) {
        (void)fprintf(file, "  never reached:\n");
        print_names(file, "    ", run->never, run->never_count);
        return;
    }
    (void)fprintf(
        file, "  never reached (%u of %zu, all in --json):\n", NEVER_SHOWN, run->never_count);
    print_names(file, "    ", run->never, NEVER_SHOWN);
}

/* What was reached is told of a sweep in which nothing is wrong, and what was not, of one that is more
 * than a spot check. */
static void print_marks(FILE *file, const struct report_run *run)
{
    size_t pairs = 0;
    for (size_t i = 0; i < run->reached_count; i++) {
        pairs += run->reached[i].is_pair ? 1 : 0;
    }
    const size_t marks = run->reached_count - pairs;
    const bool tells_never = run->never_count > 0 && run->counted >= NEVER_FROM;
    if (marks == 0 || run->violation_count > 0) {
        return;
    }
    (void)fprintf(file,
                  "  marks: %zu of %zu reached, and %zu of %" PRIu64
                  " pairs of a fault and a phase\n",
                  marks,
                  marks + run->never_count,
                  pairs,
                  run->pair_count);
    if (tells_never) {
        print_never(file, run);
    }
}

static void print_verdict(FILE *file, const struct report_run *run, enum report_style style)
{
    const char *colour = run->as_expected                      ? GREEN
                         : run->verdict == REPORT_INCONCLUSIVE ? YELLOW
                                                               : RED;
    (void)fprintf(file, "%s: ", run->scenario);
    print_in(file, style, colour, report_verdict_name(run->verdict));
    (void)fprintf(file,
                  "%s%s%s\n",
                  run->as_expected ? ", as expected" : " (expected ",
                  run->as_expected ? "" : report_verdict_name(run->expected),
                  run->as_expected ? "" : ")");
}

/* What kept runs from counting, what is missing, and what was broken. */
static void print_findings(FILE *file, const struct report_run *run, enum report_style style)
{
    struct page page = {.file = file, .style = style};
    if (run->shard_count > 1) {
        (void)fprintf(
            file, "  shard %" PRIu32 " of %" PRIu32 "\n", run->shard_index, run->shard_count);
    }
    if (run->refused > 0) {
        (void)fprintf(file, "  refused in %" PRIu64 " runs: ", run->refused);
        print_line(file, "", run->refusal);
    }
    if (run->limited > 0) {
        (void)fprintf(file, "  a limit ended %" PRIu64 " runs: ", run->limited);
        print_line(file, "", run->limit);
    }
    for (size_t i = 0; i < run->shortfall_count; i++) {
        print_line(file, "  missing: ", run->shortfalls[i]);
    }
    print_marks(file, run);
    for (size_t i = 0; i < run->violation_count; i++) {
        if (i < FULL_VIOLATIONS) {
            failure_lines(&run->violations[i], &page, print_failure_line);
        } else {
            failure_brief(&run->violations[i], &page, print_failure_line);
        }
    }
}

/* Nothing where all runs drew order by their seeds. */
static void print_policy(FILE *file, const struct report_policy *policy)
{
    if (policy->name == NULL || strcmp(policy->name, "seeds") == 0) {
        return;
    }
    (void)fprintf(file,
                  "  policy %s: %" PRIu64 " runs by seeds, %" PRIu64 " by priorities; ",
                  policy->name,
                  policy->by_seeds,
                  policy->by_pct);
    if (policy->bound == 0) {
        (void)fprintf(file, "there was no order to choose\n");
        return;
    }
    (void)fprintf(file,
                  "a bug of depth %" PRIu32 " among %" PRIu32 " chains and %" PRIu32
                  " steps is hit by one of these with probability at least 1/%" PRIu64
                  "%s, by %" PRIu64 " at least %" PRIu32 ".%" PRIu32 " %%\n",
                  policy->depth,
                  policy->chains,
                  policy->steps,
                  policy->bound,
                  policy->bound == UINT64_MAX ? " or less" : "",
                  policy->by_pct,
                  policy->permille / 10,
                  policy->permille % 10);
}

void report_text_run(FILE *file, const struct report_run *run, enum report_style style)
{
    print_verdict(file, run, style);
    (void)fprintf(file,
                  "  seeds %s, profile %s: %" PRIu64 " runs, %" PRIu64 " counted, %" PRIu64
                  " vacuous, %" PRIu64 " with a violation, digest 0x%016" PRIx64 "\n",
                  run->seeds,
                  run->profile,
                  run->runs,
                  run->counted,
                  run->vacuous,
                  run->violating,
                  run->digest);
    print_policy(file, &run->policy);
    print_findings(file, run, style);
}

static void print_levels(FILE *file, const struct report_explored *explored)
{
    (void)fputs("  runs by deviations:", file);
    for (uint32_t i = 0; i <= explored->deviations && i < REPORT_LEVEL_MAX; i++) {
        (void)fprintf(file, "%s %" PRIu32 ": %" PRIu64, i == 0 ? "" : ",", i, explored->levels[i]);
    }
    (void)fprintf(file, "; %" PRIu64 " distinct traces\n", explored->distinct);
}

static void print_states(FILE *file, const struct report_explored *explored)
{
    const struct report_run *run = &explored->run;
    (void)fprintf(file,
                  "  %s: %" PRIu64 " states, %" PRIu64 " transitions, %" PRIu64
                  " that break its invariant",
                  explored->is_complete ? "all that can be reached" : "a part of it",
                  explored->distinct,
                  run->runs,
                  run->violating);
    if (explored->states_known > 0) {
        (void)fprintf(file,
                      "; published: %" PRIu64 " and %" PRIu64,
                      explored->states_known,
                      explored->transitions_known);
    }
    (void)fprintf(file,
                  "\n  states are told apart by whole 64-bit digests; %" PRIu64 " ms, %" PRIu64
                  " transitions per s\n",
                  run->elapsed_ms,
                  run->runs_per_s);
}

void report_text_explored(FILE *file,
                          const struct report_explored *explored,
                          enum report_style style)
{
    const struct report_run *run = &explored->run;
    print_verdict(file, run, style);
    if (explored->is_states) {
        print_states(file, explored);
        print_findings(file, run, style);
        return;
    }
    (void)fprintf(file,
                  "  %s at most %" PRIu32 " %s, profile %s: %" PRIu64 " runs, %" PRIu64
                  " counted, %" PRIu64 " vacuous, %" PRIu64
                  " with a violation, digest 0x%016" PRIx64 "\n",
                  explored->is_complete ? "all runs with" : "a part of the runs with",
                  explored->deviations,
                  explored->crash_points      ? "crashes, each in the recovery from the last"
                  : explored->deviations == 1 ? "deviation"
                                              : "deviations",
                  run->profile,
                  run->runs,
                  run->counted,
                  run->vacuous,
                  run->violating,
                  run->digest);
    print_levels(file, explored);
    (void)fprintf(file,
                  "  crash points hit: %" PRIu64 " of %" PRIu64 " seen; %" PRIu64 " ms, %" PRIu64
                  " runs per s\n",
                  explored->crash_points_hit,
                  explored->crash_points_seen,
                  run->elapsed_ms,
                  run->runs_per_s);
    print_findings(file, run, style);
}

/* Print at most columns of text, with dots where it was cut, padded. Bytes stand for columns: the
 * texts of claims are ASCII but for a sign or two. */
static void print_cell(FILE *file, const char *text, int columns)
{
    const int size = (int)strlen(text);
    if (size <= columns) {
        (void)fprintf(file, "%-*s  ", columns, text);
    } else {
        (void)fprintf(file, "%.*s..  ", columns - 2, text);
    }
}

static void print_what_was_explored(FILE *file, const struct report_claim *claim)
{
    if (claim->explored_runs == 0) {
        return;
    }
    (void)fprintf(file,
                  ", all %" PRIu64 " runs with at most %" PRIu32 " %s",
                  claim->explored_runs,
                  claim->explored_deviations,
                  claim->explored_deviations == 1 ? "deviation" : "deviations");
    if (claim->crash_points_seen > 0) {
        (void)fprintf(file,
                      ", %" PRIu64 "/%" PRIu64 " crash points",
                      claim->crash_points_hit,
                      claim->crash_points_seen);
    }
}

static void print_established(FILE *file, const struct report_claim *claim)
{
    if (claim->has_witness) {
        (void)fprintf(file,
                      "witness of %" PRIu32 " %s, calm %s, twin %s",
                      claim->witness_deviations,
                      claim->witness_deviations == 1 ? "entry" : "entries",
                      claim->calm_breaks ? "breaks" : "clean",
                      report_verdict_name(claim->twin));
    } else if (claim->figure_count > 0) {
        (void)fprintf(file, "%s", claim->figures[0]);
        if (claim->figure_count > 1) {
            (void)fprintf(file, ", and %zu more", claim->figure_count - 1);
        }
    } else if (claim->figures_or_null != NULL) {
        (void)fprintf(file, "%s", claim->figures_or_null);
    } else {
        (void)fprintf(file, "%" PRIu64 " seeds", claim->seeds);
        if (claim->crashes > 0) {
            (void)fprintf(file, ", %" PRIu64 " crashes", claim->crashes);
        }
        if (claim->twin != REPORT_UNTESTED) {
            (void)fprintf(file, ", twin %s", report_verdict_name(claim->twin));
        }
    }
    print_what_was_explored(file, claim);
    if (claim->mutants_killed > 0) {
        (void)fprintf(file,
                      ", %" PRIu32 " %s",
                      claim->mutants_killed,
                      claim->mutants_killed == 1 ? "mutant" : "mutants");
    }
    if (claim->elapsed_ms > 0) { /* 0: it was not timed, as what merge joins */
        (void)fprintf(file, ", %" PRIu64 " ms", claim->elapsed_ms);
    }
    (void)fprintf(file, "\n");
}

void report_text_claims(FILE *file, const struct report_claim *claims, size_t count)
{
    size_t as_expected = 0;
    print_cell(file, "claim", 9);
    print_cell(file, "sink", 24);
    print_cell(file, "condition", 40);
    print_cell(file, "property", 32);
    print_cell(file, "expected", 8);
    print_cell(file, "verdict", 12);
    (void)fprintf(file, "established\n");
    for (size_t i = 0; i < count; i++) {
        const struct report_claim *claim = &claims[i];
        print_cell(file, claim->id, 9);
        print_cell(file, claim->sink, 24);
        print_cell(file, claim->condition, 40);
        print_cell(file, claim->property, 32);
        print_cell(file, report_verdict_name(claim->expected), 8);
        print_cell(file, report_verdict_name(claim->verdict), 12);
        print_established(file, claim);
        as_expected += claim->as_expected ? 1 : 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (!claims[i].as_expected) {
            (void)fprintf(file, "%s: not as expected: ", claims[i].id);
            print_line(file, "", claims[i].why);
        }
    }
    (void)fprintf(file, "%zu of %zu claims as expected\n", as_expected, count);
}

static bool has_killed(const struct report_mutant *mutant, const char *oracle)
{
    for (size_t i = 0; i < mutant->killed_by_count; i++) {
        if (strcmp(mutant->killed_by[i], oracle) == 0) {
            return true;
        }
    }
    return false;
}

/* The distinct oracles over all kills, in order of appearance. */
static size_t collect_oracles(const struct report_mutant *mutants,
                              size_t count,
                              const char *oracles[ORACLE_COLUMNS])
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < mutants[i].killed_by_count; k++) {
            size_t at = 0;
            while (at < found && strcmp(oracles[at], mutants[i].killed_by[k]) != 0) {
                at++;
            }
            if (at == found && found < ORACLE_COLUMNS) {
                oracles[found++] = mutants[i].killed_by[k];
            }
        }
    }
    return found;
}

void report_text_mutants(FILE *file, const struct report_mutant *mutants, size_t count)
{
    const char *oracles[ORACLE_COLUMNS] = {0};
    const size_t oracle_count = collect_oracles(mutants, count, oracles);
    size_t killed = 0;
    for (size_t i = 0; i < oracle_count; i++) {
        (void)fprintf(file, "  %c = %s\n", 'A' + (int)i, oracles[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const struct report_mutant *mutant = &mutants[i];
        print_cell(file, mutant->name, 44);
        for (size_t k = 0; k < oracle_count; k++) {
            (void)fputc(has_killed(mutant, oracles[k]) ? 'A' + (int)k : '.', file);
        }
        killed += mutant->killed ? 1 : 0;
        if (mutant->killed && mutant->scenario[0] == '\0') {
            (void)fprintf(file, "  killed by %s\n", mutant->oracle);
        } else if (mutant->killed) {
            (void)fprintf(file,
                          "  killed by %s in %" PRIu64 " runs, %" PRIu32 " choices\n",
                          mutant->oracle,
                          mutant->runs_to_kill,
                          mutant->deviations);
        } else {
            print_line(file, "  NOT KILLED: ", mutant->why);
        }
    }
    (void)fprintf(file, "%zu of %zu mutants killed\n", killed, count);
}

/* What was looked for near it, and found or not. */
static void print_near(FILE *file, const struct report_entry *entry)
{
    const bool found = entry->near_found;
    (void)fprintf(file,
                  "  near it: %s after %" PRIu32 " %s",
                  found ? "found" : "nothing found",
                  entry->near_runs,
                  entry->near_runs == 1 ? "run" : "runs");
    if (found) {
        (void)fprintf(file,
                      ", %" PRIu32 " %s away\n",
                      entry->near_steps,
                      entry->near_steps == 1 ? "step" : "steps");
    } else {
        (void)fputs(entry->near_all_tried ? ", all that is near was tried\n" : "\n", file);
    }
}

void report_text_entry(FILE *file, const struct report_entry *entry)
{
    (void)fprintf(file, "%s: %s: ", entry->file, report_entry_state_name(entry->state));
    if (entry->was == entry->is) {
        (void)fprintf(file, "%s", report_verdict_name(entry->is));
    } else {
        (void)fprintf(
            file, "was %s, is %s", report_verdict_name(entry->was), report_verdict_name(entry->is));
    }
    (void)fprintf(file, ", aligned %" PRIu32 "/%" PRIu32, entry->aligned, entry->entries);
    if (entry->drifted > 0) {
        (void)fprintf(file, ", drifted %" PRIu32, entry->drifted);
    }
    (void)fputc('\n', file);
    if (entry->state == REPORT_ENTRY_CHANGED) {
        (void)fprintf(file,
                      "  digest 0x%016" PRIx64 " was 0x%016" PRIx64 "\n",
                      entry->digest,
                      entry->digest_was);
    }
    if (entry->finding[0] != '\0' && entry->state != REPORT_ENTRY_SAME) {
        print_line(file, "  broken: ", entry->finding);
    }
    if (entry->searched) {
        print_near(file, entry);
    }
    for (size_t i = 0; i < entry->gone_count; i++) {
        print_line(file, "  - ", entry->gone[i]);
    }
    for (size_t i = 0; i < entry->come_count; i++) {
        print_line(file, "  + ", entry->come[i]);
    }
    if (entry->command[0] != '\0') {
        print_line(file, "  to keep that: ", entry->command);
    }
}

void report_text_entries(FILE *file, const struct report_entry *entries, size_t count)
{
    size_t counts[REPORT_ENTRY_STATE_COUNT] = {0};
    for (size_t i = 0; i < count; i++) {
        counts[entries[i].state]++;
    }
    (void)fprintf(file, "%zu %s:", count, count == 1 ? "entry" : "entries");
    for (unsigned state = 0; state < REPORT_ENTRY_STATE_COUNT; state++) {
        (void)fprintf(file,
                      "%s %zu %s",
                      state == 0 ? "" : ",",
                      counts[state],
                      report_entry_state_name((enum report_entry_state)state));
    }
    (void)fputc('\n', file);
}

void report_text_metrics(FILE *file, const struct report_metric *metrics, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct report_metric *metric = &metrics[i];
        print_cell(file, metric->name, 48);
        (void)fprintf(file, "%14" PRIu64 " %-12s", metric->value, metric->unit);
        if (metric->reference > 0) {
            (void)fprintf(file,
                          " reference %12" PRIu64 ", ratio %" PRIu64 ".%03" PRIu64,
                          metric->reference,
                          metric->ratio_thousandth / 1000,
                          metric->ratio_thousandth % 1000);
        }
        (void)fputc('\n', file);
    }
}

/* Marks, or pairs: how many there are, and how many were reached. */
static void
count_surveyed(const struct report_survey *survey, bool pairs, size_t *count, size_t *reached)
{
    *count = 0;
    *reached = 0;
    for (size_t i = 0; i < survey->count; i++) {
        const struct report_surveyed *record = &survey->records[i];
        if (record->is_pair == pairs && record->unit_test_or_null == NULL) {
            *count += 1;
            *reached += record->runs > 0 ? 1 : 0;
        }
    }
}

bool report_text_survey(FILE *file, const struct report_survey *survey)
{
    const char *names[PAIR_NAMES];
    size_t name_count = 0;
    size_t count = 0;
    size_t reached = 0;
    bool all = true;
    count_surveyed(survey, false, &count, &reached);
    (void)fprintf(file,
                  "%zu of %zu marks reached by %" PRIu64 " runs of %" PRIu64 " scenarios\n",
                  reached,
                  count,
                  survey->runs,
                  survey->scenarios);
    for (size_t i = 0; i < survey->count; i++) {
        const struct report_surveyed *record = &survey->records[i];
        if (record->runs == 0 && record->wanted) {
            (void)fprintf(file, "never reached: %s: %s\n", record->name, record->sentence);
            all = false;
        } else if (record->runs == 0 && record->is_pair && name_count < PAIR_NAMES) {
            names[name_count++] = record->name;
        }
    }
    count_surveyed(survey, true, &count, &reached);
    (void)fprintf(file, "%zu of %zu pairs of a fault and a phase", reached, count);
    (void)fprintf(file, name_count > 0 ? "; never:\n" : "\n");
    print_names(file, "  ", names, name_count);
    return all;
}
