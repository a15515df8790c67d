#include "scenarios/cli/sweep/merge_explored.h"

#include "reports/text.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/search/explore_file.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/sweep/run_records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS_MAX 65536u

/* Shards of one exploration. */
struct group {
    struct report_explored whole;
    struct summary summary;
    struct summary_demand demand;
    struct report_violation *violations; /* of all shards */
    size_t violation_count;
    struct report_count *marks;
    size_t mark_count;
    struct digest_set traces;
    bool *seen; /* by shard index */
    uint32_t seen_count;
};

struct merger {
    struct text_pool *texts;
    struct group *groups;
    size_t group_count;
};

static bool is_same(const struct report_explored *a, const struct report_explored *b)
{
    return a->is_states == b->is_states && strcmp(a->run.scenario, b->run.scenario) == 0 &&
           strcmp(a->run.profile, b->run.profile) == 0 && a->deviations == b->deviations &&
           a->crash_points == b->crash_points;
}

static struct group *group_of(struct merger *merger, const struct report_explored *record)
{
    for (size_t i = 0; i < merger->group_count; i++) {
        if (is_same(&merger->groups[i].whole, record)) {
            return &merger->groups[i];
        }
    }
    const struct allocator allocator = allocator_of_malloc();
    merger->groups =
        memory_resize(merger->groups, (merger->group_count + 1) * sizeof *merger->groups);
    struct group *group = &merger->groups[merger->group_count++];
    memset(group, 0, sizeof *group);
    group->whole = *record;
    group->whole.is_complete = true;
    digest_set_init(&group->traces, &allocator);
    return group;
}

/* --- one shard ----------------------------------------------------------------------------------- */

static bool
mark_shard(struct json_input *input, struct group *group, uint64_t index, uint64_t count)
{
    if (index < 1 || index > count || count > SHARDS_MAX ||
        (group->seen_count > 0 && count != group->whole.run.shard_count)) {
        json_input_complain(input, "shard", "one of the same number of shards in all files");
        return false;
    }
    if (group->seen_count == 0) {
        group->seen = text_memory(input->texts, (size_t)count + 1, sizeof *group->seen);
        group->whole.run.shard_count = (uint32_t)count;
    }
    if (group->seen[index]) {
        json_input_complain(input, "shard", "each shard once");
        return false;
    }
    group->seen[index] = true;
    group->seen_count++;
    return true;
}

static void
add_violations(struct json_input *input, json_t *list, json_t *details, struct group *group)
{
    const size_t count = json_array_size(list);
    struct report_violation *all = text_memory(
        input->texts, group->violation_count + count + 1, sizeof(struct report_violation));
    if (group->violation_count > 0) {
        memcpy(all, group->violations, group->violation_count * sizeof *all);
    }
    for (size_t i = 0; i < count && !input->failed; i++) {
        struct report_violation *violation = &all[group->violation_count];
        run_record_violation(input, json_array_get(list, i), json_array_get(details, i), violation);
        if (!input->failed && violation->run_or_null == NULL) {
            json_input_complain(input, "run", "the name of a run of an exploration");
        }
        group->violation_count += input->failed ? 0 : 1;
    }
    group->violations = all;
}

static void add_levels(struct json_input *input, json_t *list, struct report_explored *whole)
{
    if (json_array_size(list) != whole->deviations + 1u || whole->deviations >= REPORT_LEVEL_MAX) {
        json_input_complain(input, "runs_by_deviations", "a number for each number of deviations");
        return;
    }
    for (uint32_t i = 0; i <= whole->deviations; i++) {
        const json_t *level = json_array_get(list, i);
        if (!json_is_integer(level) || json_integer_value(level) < 0) {
            json_input_complain(input, "runs_by_deviations", "numbers from 0 on");
        }
        whole->levels[i] += (uint64_t)json_integer_value(level);
    }
}

/* All shards list the same marks in the same order. */
static void add_marks(struct json_input *input, json_t *list, struct group *group)
{
    const size_t count = json_array_size(list);
    if (group->marks == NULL) {
        group->marks = text_memory(input->texts, count + 1, sizeof *group->marks);
        group->mark_count = count;
    }
    for (size_t i = 0; i < count && i < group->mark_count; i++) {
        json_t *item = json_array_get(list, i);
        group->marks[i].name = json_input_text(input, item, "name");
        group->marks[i].count += json_input_number(input, item, "count");
        group->marks[i].wanted = json_input_number(input, item, "wanted");
    }
}

/* The set that the shard left beside its file. One that is no shard has none, and need not. */
static void
add_traces(struct json_input *input, json_t *object, json_t *evidence, struct group *group)
{
    char message[EXPLORE_FILE_MESSAGE];
    const char *key = group->whole.is_states ? "states" : "distinct_traces";
    if (group->whole.run.shard_count == 1) {
        group->whole.distinct = json_input_number(input, object, key);
        return;
    }
    const char *name = json_input_text(input, evidence, "traces");
    const char *slash = strrchr(input->path, '/');
    const int folder = slash == NULL ? 0 : (int)(slash - input->path) + 1;
    const char *path = text_format(input->texts, "%.*s%s", folder, input->path, name);
    if (input->failed) {
        return;
    }
    struct report_explored shard = group->whole;
    shard.distinct = json_input_number(input, object, key);
    shard.run.shard_index = (uint32_t)json_input_number(input, evidence, "shard");
    const enum err error =
        traces_file_read(path, traces_what(input->texts, &shard), &group->traces, message);
    if (error == ERR_NOT_FOUND) {
        complain(
            "%s: its traces are missing; allowed: \"%s\", as the shard left it", input->path, path);
    } else if (error != ERR_OK) {
        complain("%s", message);
    }
    input->failed = error != ERR_OK;
    group->whole.distinct = group->traces.count;
}

static void
add_counts(struct json_input *input, json_t *object, json_t *evidence, struct group *group)
{
    struct summary *summary = &group->summary;
    struct report_explored *whole = &group->whole;
    summary->runs += json_input_number(input, object, "runs");
    summary->counted += json_input_number(input, object, "counted");
    summary->events += json_input_number(input, object, "events");
    summary->digest += json_input_number(input, object, "digest");
    summary->violating += json_input_number(input, evidence, "violating");
    summary->vacuous += json_input_number(input, evidence, "vacuous");
    summary->refused += json_input_number(input, evidence, "refused");
    summary->limited += json_input_number(input, evidence, "limited");
    summary->excused += json_input_number(input, evidence, "excused");
    const char *refusal = json_input_text(input, evidence, "refusal");
    if (refusal[0] != '\0') {
        (void)snprintf(summary->refusal, sizeof summary->refusal, "%s", refusal);
    }
    whole->crash_points_hit += json_input_number(input, object, "crash_points_hit");
    whole->crash_points_seen += json_input_number(input, object, "crash_points_seen");
    whole->is_complete = json_input_bool(input, object, "complete") && whole->is_complete;
    const uint64_t elapsed_ms = json_input_number(input, object, "elapsed_ms");
    whole->run.elapsed_ms = elapsed_ms > whole->run.elapsed_ms ? elapsed_ms : whole->run.elapsed_ms;
    group->demand.expected = run_record_verdict(input, object, "expected");
    group->demand.expected_oracle = json_input_text(input, evidence, "expected_oracle");
}

/* States of a system: shards have made many of them, and transitions, more than once. */
static void
add_states(struct merger *merger, struct json_input *input, json_t *object, json_t *evidence)
{
    const struct report_explored names = {
        .run.scenario = json_input_text(input, object, "scenario"),
        .run.profile = "none",
        .is_states = true,
    };
    struct group *group = group_of(merger, &names);
    struct report_explored *whole = &group->whole;
    if (input->failed || !mark_shard(input,
                                     group,
                                     json_input_number(input, evidence, "shard"),
                                     json_input_number(input, evidence, "shards"))) {
        return;
    }
    const uint64_t elapsed_ms = json_input_number(input, object, "elapsed_ms");
    whole->run.elapsed_ms = elapsed_ms > whole->run.elapsed_ms ? elapsed_ms : whole->run.elapsed_ms;
    whole->run.violating += json_input_number(input, object, "violations");
    whole->is_complete = json_input_bool(input, object, "complete") && whole->is_complete;
    whole->states_known = json_input_number(input, object, "states_published");
    whole->transitions_known = json_input_number(input, object, "transitions_published");
    whole->run.runs = json_input_number(input, object, "transitions");
    add_traces(input, object, evidence, group);
    if (whole->run.shard_count > 1) {
        whole->run.runs = group->traces.tag_sum; /* those that start at each state */
    }
}

static void
add_shard(struct merger *merger, struct json_input *input, json_t *object, json_t *evidence)
{
    if (json_object_get(object, "states") != NULL) {
        add_states(merger, input, object, evidence);
        return;
    }
    const struct report_explored names = {
        .run.scenario = json_input_text(input, object, "scenario"),
        .run.profile = json_input_text(input, object, "profile"),
        .deviations = (uint32_t)json_input_number(input, object, "deviations"),
        .crash_points = json_input_bool(input, object, "crash_points"),
    };
    struct group *group = group_of(merger, &names);
    if (input->failed || !mark_shard(input,
                                     group,
                                     json_input_number(input, evidence, "shard"),
                                     json_input_number(input, evidence, "shards"))) {
        return;
    }
    add_counts(input, object, evidence, group);
    add_levels(input, json_input_list(input, object, "runs_by_deviations"), &group->whole);
    group->demand.kinds |=
        run_record_kinds(input, json_input_list(input, evidence, "kinds"), &group->summary);
    add_marks(input, json_input_list(input, evidence, "marks"), group);
    add_violations(input,
                   json_input_list(input, object, "violations"),
                   json_input_list(input, evidence, "details"),
                   group);
    add_traces(input, object, evidence, group);
}

/* --- the whole ----------------------------------------------------------------------------------- */

/* The next number of a run's name, behind what is no digit; false at its end. */
static bool next_number(const char **name, uint64_t *number)
{
    *name += strcspn(*name, "0123456789");
    if (**name == '\0') {
        return false;
    }
    char *end = NULL;
    *number = strtoull(*name, &end, 10);
    *name = end;
    return true;
}

static uint32_t count_numbers(const char *name)
{
    uint32_t count = 0;
    uint64_t number = 0;
    while (next_number(&name, &number)) {
        count++;
    }
    return count;
}

/* The order in which one exploration makes runs: by their number of deviations, then by these. */
static int compare_runs(const char *left, const char *right)
{
    const uint32_t counts[2] = {count_numbers(left), count_numbers(right)};
    uint64_t numbers[2] = {0, 0};
    if (counts[0] != counts[1]) {
        return counts[0] < counts[1] ? -1 : 1;
    }
    while (next_number(&left, &numbers[0]) && next_number(&right, &numbers[1])) {
        if (numbers[0] != numbers[1]) {
            return numbers[0] < numbers[1] ? -1 : 1;
        }
    }
    return 0;
}

/* Names were checked when they were read. */
static uint8_t oracle_of(const struct report_violation *violation)
{
    uint8_t oracle = 0;
    return summary_oracle_parse(violation->oracles[0], &oracle) == ERR_OK ? oracle : 0;
}

static int compare_violations(const void *a, const void *b)
{
    const struct report_violation *left = a;
    const struct report_violation *right = b;
    const int runs = compare_runs(left->run_or_null, right->run_or_null);
    if (runs != 0) {
        return runs;
    }
    if (oracle_of(left) != oracle_of(right)) {
        return oracle_of(left) < oracle_of(right) ? -1 : 1;
    }
    return (int)run_record_subject_kind(left->subject) -
           (int)run_record_subject_kind(right->subject);
}

/* Keep the first violation of each oracle on each kind of subject. */
static void pick_violations(struct group *group)
{
    size_t kept = 0;
    qsort(group->violations, group->violation_count, sizeof *group->violations, compare_violations);
    for (size_t i = 0; i < group->violation_count; i++) {
        const struct report_violation *violation = &group->violations[i];
        bool is_first = true;
        for (size_t k = 0; k < kept; k++) {
            is_first = is_first && (oracle_of(&group->violations[k]) != oracle_of(violation) ||
                                    run_record_subject_kind(group->violations[k].subject) !=
                                        run_record_subject_kind(violation->subject));
        }
        if (is_first && kept < SUMMARY_FINDING_MAX) {
            group->summary.findings[kept] =
                (struct summary_finding){.oracle = oracle_of(violation)};
            group->violations[kept++] = *violation;
        }
    }
    group->summary.finding_count = (uint32_t)kept;
    group->whole.run.violations = group->violations;
    group->whole.run.violation_count = kept;
}

static enum status check_shards(const struct group *group)
{
    const struct report_run *run = &group->whole.run;
    for (uint32_t i = 1; i <= run->shard_count; i++) {
        if (!group->seen[i]) {
            complain("merge: shard %" PRIu32 "/%" PRIu32 " of %s is missing",
                     i,
                     run->shard_count,
                     run->scenario);
            return STATUS_USAGE;
        }
    }
    return STATUS_OK;
}

static enum status finish_states(struct merger *merger, struct report_explored *whole)
{
    whole->run.shard_index = 1;
    whole->run.shard_count = 1;
    whole->run.runs_per_s = rate_per_second(whole->run.runs, whole->run.elapsed_ms);
    explore_judge_states(merger->texts, whole);
    report_text_explored(stdout, whole, output_style());
    return summary_status(&whole->run);
}

static enum status finish_group(struct merger *merger, struct group *group)
{
    static const struct summary_marks no_marks = {0};
    struct report_run *run = &group->whole.run;
    const enum status status = check_shards(group);
    if (status != STATUS_OK) {
        return status;
    }
    if (group->whole.is_states) {
        return finish_states(merger, &group->whole);
    }
    pick_violations(group);
    group->demand.marks = &no_marks;
    group->demand.one_run = true;
    group->demand.oracles = SUMMARY_ORACLES_ALL;
    summary_judge(&group->summary, &group->demand, merger->texts, run);
    run->marks = group->marks;
    run->mark_count = group->mark_count;
    run->shard_index = 1;
    run->shard_count = 1;
    run->runs_per_s = rate_per_second(run->runs, run->elapsed_ms);
    if (!group->whole.is_complete) {
        explore_is_a_part(merger->texts, run, "a shard was ended before all its runs were made");
    }
    report_text_explored(stdout, &group->whole, output_style());
    return summary_status(run);
}

static enum status read_input(struct merger *merger, struct json_input *input)
{
    json_t *records = json_input_list(input, input->root, "explored");
    json_t *evidence = json_input_list(input, input->root, "evidence");
    if (json_array_size(records) != json_array_size(evidence)) {
        json_input_complain(input, "evidence", "one record per exploration");
    }
    for (size_t i = 0; i < json_array_size(records) && !input->failed; i++) {
        add_shard(merger, input, json_array_get(records, i), json_array_get(evidence, i));
    }
    return input->failed ? STATUS_USAGE : STATUS_OK;
}

static enum status finish(struct merger *merger, const char *json_or_null)
{
    struct report_explored *records =
        text_memory(merger->texts, merger->group_count + 1, sizeof *records);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < merger->group_count; i++) {
        const enum status one = finish_group(merger, &merger->groups[i]);
        if (one == STATUS_USAGE) {
            return one;
        }
        status = status_worse(status, one);
        records[i] = merger->groups[i].whole;
    }
    return status_worse(status, output_explored(json_or_null, records, merger->group_count));
}

enum status merge_explored(struct text_pool *texts,
                           struct json_input *inputs,
                           size_t input_count,
                           const char *json_or_null)
{
    struct merger merger = {.texts = texts};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < input_count && status == STATUS_OK; i++) {
        status = read_input(&merger, &inputs[i]);
    }
    if (status == STATUS_OK) {
        status = finish(&merger, json_or_null);
    }
    for (size_t i = 0; i < merger.group_count; i++) {
        digest_set_fini(&merger.groups[i].traces);
    }
    free(merger.groups);
    return status;
}
