#include "scenarios/cli/sweep/baseline.h"

#include "reports/failure.h"
#include "scenarios/cli/json_input.h"
#include "scenarios/cli/sweep/reproducer.h"
#include "scenarios/cli/sweep/run_records.h"
#include "scenarios/cli/sweep/summary.h"
#include "scenarios/wiring/catalogue.h"

#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 4096u

/* A scenario under a profile, as it came out then. */
struct old_run {
    const char *scenario;
    const char *profile;
    const char *expected;
    const char *verdict;
    struct report_violation *violations;
    size_t violation_count;
    bool compared;
};

struct baseline {
    struct session *session;
    struct old_run *runs;
    size_t run_count;
    struct report_old_failure *old; /* room for every failure and verdict of the file */
    struct report_baseline record;
};

/* --- reading ----------------------------------------------------------------------------------- */

static void
read_violation(struct json_input *input, json_t *json, struct report_violation *violation)
{
    violation->oracles = json_input_texts(input, json, "oracles", &violation->oracle_count);
    violation->subject = json_input_text(input, json, "subject");
    violation->tape = json_input_text(input, json, "tape");
    violation->message = json_input_text(input, json, "message");
    if (violation->oracle_count == 0) {
        json_input_complain(input, "oracles", "at least one name");
    }
}

static void read_run(struct json_input *input, json_t *json, struct old_run *run)
{
    json_t *list = json_input_list(input, json, "violations");
    run->scenario = json_input_text(input, json, "scenario");
    run->profile = json_input_text(input, json, "profile");
    run->expected = json_input_text(input, json, "expected");
    run->verdict = json_input_text(input, json, "verdict");
    run->violation_count = json_array_size(list);
    run->violations = text_memory(input->texts, run->violation_count + 1, sizeof *run->violations);
    for (size_t i = 0; i < run->violation_count && !input->failed; i++) {
        read_violation(input, json_array_get(list, i), &run->violations[i]);
    }
}

static void read_runs(struct json_input *input, struct baseline *baseline)
{
    json_t *list = json_input_list(input, input->root, "runs");
    size_t failures = 0;
    baseline->run_count = json_array_size(list);
    baseline->runs = text_memory(input->texts, baseline->run_count + 1, sizeof *baseline->runs);
    for (size_t i = 0; i < baseline->run_count && !input->failed; i++) {
        read_run(input, json_array_get(list, i), &baseline->runs[i]);
        failures += baseline->runs[i].violation_count + 1;
    }
    baseline->old = text_memory(input->texts, failures + 1, sizeof *baseline->old);
}

enum status baseline_read(struct session *session, const char *path, struct baseline **baseline)
{
    struct json_input input;
    *baseline = text_memory(&session->texts, 1, sizeof **baseline);
    (*baseline)->session = session;
    enum status status = json_input_open(&input, &session->texts, path);
    if (status == STATUS_OK) {
        read_runs(&input, *baseline);
        status = input.failed ? STATUS_USAGE : STATUS_OK;
    }
    json_input_close(&input);
    (*baseline)->record = (struct report_baseline){.file = path, .old = (*baseline)->old};
    return status;
}

/* --- comparing --------------------------------------------------------------------------------- */

/* Of a verdict that is not as expected: does it say more than the violations do? */
static bool verdict_speaks(size_t violation_count, const char *verdict)
{
    return violation_count == 0 || strcmp(verdict, report_verdict_name(REPORT_INCONCLUSIVE)) == 0;
}

static bool is_of(const struct old_run *old, const struct report_run *run)
{
    return strcmp(old->scenario, run->scenario) == 0 && strcmp(old->profile, run->profile) == 0;
}

static bool is_as_expected(const struct old_run *old)
{
    return strcmp(old->expected, old->verdict) == 0;
}

/* Its place in a list, or the list's length. */
static size_t find_alike(const char *scenario,
                         const struct report_violation *wanted,
                         const struct report_violation *list,
                         size_t count)
{
    char left[FAILURE_FINGERPRINT_SIZE];
    char right[FAILURE_FINGERPRINT_SIZE];
    size_t i = 0;
    failure_fingerprint(scenario, wanted, left);
    for (; i < count; i++) {
        failure_fingerprint(scenario, &list[i], right);
        if (strcmp(left, right) == 0) {
            break;
        }
    }
    return i;
}

static bool was_known(const struct baseline *baseline,
                      const struct report_run *run,
                      const struct report_violation *violation)
{
    for (size_t i = 0; i < baseline->run_count; i++) {
        const struct old_run *old = &baseline->runs[i];
        if (is_of(old, run) && !is_as_expected(old) &&
            find_alike(run->scenario, violation, old->violations, old->violation_count) <
                old->violation_count) {
            return true;
        }
    }
    return false;
}

static bool verdict_was_known(const struct baseline *baseline, const struct report_run *run)
{
    for (size_t i = 0; i < baseline->run_count; i++) {
        const struct old_run *old = &baseline->runs[i];
        if (is_of(old, run) && !is_as_expected(old) &&
            verdict_speaks(old->violation_count, old->verdict) &&
            strcmp(old->verdict, report_verdict_name(run->verdict)) == 0) {
            return true;
        }
    }
    return false;
}

/* Mark what was found now. */
static void mark(struct baseline *baseline, struct report_run *run)
{
    struct text_pool *texts = &baseline->session->texts;
    struct report_violation *marked = text_memory(texts, run->violation_count + 1, sizeof *marked);
    for (size_t i = 0; i < run->violation_count; i++) {
        marked[i] = run->violations[i];
        marked[i].novelty =
            was_known(baseline, run, &marked[i]) ? REPORT_NOVELTY_KNOWN : REPORT_NOVELTY_NEW;
        baseline->record.new_count += marked[i].novelty == REPORT_NOVELTY_NEW ? 1 : 0;
    }
    run->violations = marked;
    if (verdict_speaks(run->violation_count, report_verdict_name(run->verdict))) {
        run->novelty = verdict_was_known(baseline, run) ? REPORT_NOVELTY_KNOWN : REPORT_NOVELTY_NEW;
        baseline->record.new_count += run->novelty == REPORT_NOVELTY_NEW ? 1 : 0;
    }
}

/* --- what became of the earlier ones ----------------------------------------------------------- */

static struct culprit culprit_of_old(const struct report_violation *violation, uint8_t oracle)
{
    const char *number = strchr(violation->subject, ' ');
    return (struct culprit){
        .oracle = oracle,
        .subject_kind = run_record_subject_kind(violation->subject),
        .subject = number == NULL ? 0 : strtoull(number + 1, NULL, 0),
    };
}

/* Run a tape in a process of its own, for a sink that was brought may take it along. */
static bool
tape_shows(struct reproducer *reproducer, const struct culprit *culprit, const struct tape *tape)
{
    int detail = 0;
    const struct run_request request = reproducer_tape_request(tape);
    const enum reproducer_end end =
        reproducer_run_guarded(reproducer, &request, SECONDS(60), &detail);
    if (culprit->oracle == SUMMARY_ORACLE_CRASH || culprit->oracle == SUMMARY_ORACLE_HANG) {
        return end ==
               (culprit->oracle == SUMMARY_ORACLE_HANG ? REPRODUCER_HUNG : REPRODUCER_CRASHED);
    }
    return end == REPRODUCER_DONE && culprit_find(culprit, reproducer_result(reproducer)) != NULL;
}

/* Look for a failure where it was. Says why in words. */
static bool look_again(const struct scenario *scenario,
                       const struct report_violation *violation,
                       const char **why)
{
    uint8_t oracle = 0;
    struct tape_header header;
    struct tape_fault fault;
    struct tape tape = {.entries = memory_take(ENTRIES_MAX * sizeof *tape.entries),
                        .capacity = ENTRIES_MAX};
    struct reproducer *reproducer = reproducer_create(scenario);
    bool shows = false;
    *why = "no seed found it, and its tape is not one of this build";
    if (violation->tape[0] == '\0') {
        *why = "no seed found it, and it has no tape";
    } else if (reproducer != NULL &&
               summary_oracle_parse(violation->oracles[0], &oracle) == ERR_OK &&
               tape_read_text(
                   bytes_of_text(violation->tape), catalogue_registry(), &tape, &header, &fault) ==
                   ERR_OK) {
        const struct culprit culprit = culprit_of_old(violation, oracle);
        shows = tape_shows(reproducer, &culprit, &tape);
        *why = shows ? "no seed found it, and its tape shows it"
                     : "no seed found it, and its tape shows it no more";
    }
    if (reproducer != NULL) {
        reproducer_destroy(reproducer);
    }
    free(tape.entries);
    return shows;
}

static struct report_old_failure *add_old(struct baseline *baseline, const struct old_run *old)
{
    struct report_old_failure *failure = &baseline->old[baseline->record.old_count];
    baseline->record.old_count++;
    *failure = (struct report_old_failure){
        .scenario = old->scenario,
        .profile = old->profile,
        .oracle = "",
        .subject = "",
        .message = "",
    };
    return failure;
}

static void follow_violations(struct baseline *baseline,
                              const struct scenario *scenario,
                              const struct old_run *old,
                              const struct report_run *run)
{
    for (size_t i = 0; i < old->violation_count; i++) {
        const struct report_violation *violation = &old->violations[i];
        struct report_old_failure *failure = add_old(baseline, old);
        failure->oracle = violation->oracles[0];
        failure->subject = violation->subject;
        failure->message = violation->message;
        failure->is_there =
            find_alike(run->scenario, violation, run->violations, run->violation_count) <
            run->violation_count;
        failure->why = "found again";
        if (!failure->is_there) {
            failure->is_there = look_again(scenario, violation, &failure->why);
        }
    }
}

static void
follow_verdict(struct baseline *baseline, const struct old_run *old, const struct report_run *run)
{
    struct report_old_failure *failure = add_old(baseline, old);
    const char *verdict = report_verdict_name(run->verdict);
    failure->is_there = !run->as_expected && strcmp(verdict, old->verdict) == 0;
    failure->why = text_format(&baseline->session->texts,
                               "%s then, %s now, expected %s",
                               old->verdict,
                               verdict,
                               report_verdict_name(run->expected));
}

void baseline_compare(struct baseline *baseline,
                      const struct scenario *scenario,
                      struct report_run *run)
{
    if (!run->as_expected) {
        mark(baseline, run);
    }
    for (size_t i = 0; i < baseline->run_count; i++) {
        struct old_run *old = &baseline->runs[i];
        if (!is_of(old, run) || old->compared) {
            continue;
        }
        old->compared = true;
        if (is_as_expected(old)) {
            continue;
        }
        follow_violations(baseline, scenario, old, run);
        if (verdict_speaks(old->violation_count, old->verdict)) {
            follow_verdict(baseline, old, run);
        }
    }
}

const struct report_baseline *baseline_record(struct baseline *baseline)
{
    baseline->record.not_run = 0;
    for (size_t i = 0; i < baseline->run_count; i++) {
        baseline->record.not_run += baseline->runs[i].compared ? 0 : 1;
    }
    return &baseline->record;
}

enum status baseline_status(const struct report_run *run)
{
    bool is_known = run->novelty != REPORT_NOVELTY_NEW;
    for (size_t i = 0; i < run->violation_count; i++) {
        is_known = is_known && run->violations[i].novelty != REPORT_NOVELTY_NEW;
    }
    const enum status status = summary_status(run);
    return status == STATUS_BROKEN && is_known ? STATUS_OK : status;
}
