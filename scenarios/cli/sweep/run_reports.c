#include "scenarios/cli/sweep/run_reports.h"

#include "reports/junit.h"
#include "reports/sarif.h"
#include "reports/step_summary.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/sweep/summary.h"
#include "scenarios/wiring/catalogue.h"

#include <inttypes.h>
#include <string.h>

#define PATH_SIZE 4096

struct results {
    const struct report_run *runs;
    size_t run_count;
    const struct report_baseline *baseline_or_null;
    const struct report_claim *claims;
    size_t claim_count;
    const struct report_sarif *sarif;
};

enum status run_reports_check(const struct options *options)
{
    enum status status = output_check(options->json);
    if (status == STATUS_OK) {
        status = output_check_of("--junit", options->junit);
    }
    if (status == STATUS_OK) {
        status = output_check_of("--sarif", options->sarif);
    }
    return status == STATUS_OK ? output_check_of("--summary", options->summary) : status;
}

/* --- what is said of a scenario ---------------------------------------------------------------- */

/* Take out "." and ".." of a path from the root, in place. */
static void make_plain(char *path)
{
    size_t used = 0;
    for (const char *at = path; *at != '\0';) {
        const size_t size = strcspn(at + 1, "/");
        if (size == 2 && at[1] == '.' && at[2] == '.') {
            while (used > 0 && path[--used] != '/') {
            }
        } else if (size > 0 && !(size == 1 && at[1] == '.')) {
            memmove(path + used, at, size + 1);
            used += size + 1;
        }
        at += size + 1;
    }
    path[used] = '\0';
}

/* Without the current folder before it, so that it means the same in another clone. */
static const char *path_from_here(struct text_pool *texts, const char *path)
{
    char *whole = text_format(texts, "%s", path_whole(texts, path));
    const char *here = path_whole(texts, "");
    const size_t size = strlen(here);
    if (whole[0] != '/') {
        return whole;
    }
    make_plain(whole);
    return size > 0 && strncmp(whole, here, size) == 0 ? whole + size : whole;
}

void run_reports_describe(struct session *session,
                          const struct scenario *scenario,
                          const char *word,
                          struct report_run *run)
{
    char path[PATH_SIZE];
    const struct run_config *config = &scenario->config;
    const char **oracles = text_memory(&session->texts, ORACLE_MAX, sizeof *oracles);
    for (uint32_t i = 0; i < config->oracle_count; i++) {
        oracles[i] = config->oracles[i]->name;
    }
    run->oracles = oracles;
    run->oracle_count = config->oracle_count;
    run->file = scenario_find(word, path, sizeof path) ? path_from_here(&session->texts, path) : "";
}

/* --- writing ----------------------------------------------------------------------------------- */

static bool write_junit(const void *context, FILE *file)
{
    const struct results *results = context;
    return report_junit_runs(file, results->runs, results->run_count);
}

static bool write_junit_claims(const void *context, FILE *file)
{
    const struct results *results = context;
    return report_junit_claims(file, results->claims, results->claim_count);
}

static bool write_sarif(const void *context, FILE *file)
{
    const struct results *results = context;
    return report_sarif_runs(file, results->sarif);
}

static bool write_summary(const void *context, FILE *file)
{
    const struct results *results = context;
    return report_step_summary_runs(
        file, results->runs, results->run_count, results->baseline_or_null);
}

static bool write_summary_claims(const void *context, FILE *file)
{
    const struct results *results = context;
    return report_step_summary_claims(file, results->claims, results->claim_count);
}

/* All oracles, and the two that no judge calls. */
static const struct report_rule *rules_of(struct text_pool *texts, size_t *count)
{
    struct report_rule *rules = text_memory(texts, oracle_type_count + 2, sizeof *rules);
    for (size_t i = 0; i < oracle_type_count; i++) {
        rules[i] = (struct report_rule){
            .name = oracle_types[i]->name,
            .sentence = oracle_types[i]->sentence,
        };
    }
    rules[oracle_type_count] = (struct report_rule){
        .name = summary_oracle_name(SUMMARY_ORACLE_CRASH),
        .sentence = "a run does not take its process with it",
    };
    rules[oracle_type_count + 1] = (struct report_rule){
        .name = summary_oracle_name(SUMMARY_ORACLE_HANG),
        .sentence = "a run comes to its end",
    };
    *count = oracle_type_count + 2;
    return rules;
}

enum status run_reports_write(struct session *session,
                              const struct report_run *runs,
                              size_t count,
                              const struct report_baseline *baseline_or_null)
{
    const struct options *options = session->options;
    struct report_sarif sarif = {
        .version = SINKPROOF_VERSION,
        .clauses = text_format(&session->texts, "0x%016" PRIx64, catalogue_clause_digest()),
        .runs = runs,
        .run_count = count,
    };
    const struct results results = {
        .runs = runs,
        .run_count = count,
        .baseline_or_null = baseline_or_null,
        .sarif = &sarif,
    };
    sarif.rules = rules_of(&session->texts, &sarif.rule_count);
    enum status status = output_runs(options->json, runs, count);
    enum status one = output_whole("--junit", options->junit, &results, write_junit);
    status = status_worse(status, one);
    one = output_whole("--sarif", options->sarif, &results, write_sarif);
    status = status_worse(status, one);
    one = output_added("--summary", options->summary, &results, write_summary);
    return status_worse(status, one);
}

enum status run_reports_write_claims(const struct options *options,
                                     const struct report_claim *claims,
                                     size_t count)
{
    const struct results results = {.claims = claims, .claim_count = count};
    const enum status status =
        output_whole("--junit", options->junit, &results, write_junit_claims);
    const enum status one =
        output_added("--summary", options->summary, &results, write_summary_claims);
    return status_worse(status, one);
}
