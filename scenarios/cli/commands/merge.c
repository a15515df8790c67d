/* merge: the JSON files of all shards of a command, joined to what one unsharded run would have
 * written, but for times. Records of mutants are taken in turn from the files, so those stand in the
 * order of their shards. */
#include "reports/text.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/json_input.h"
#include "scenarios/cli/matrix/merge_claims.h"
#include "scenarios/cli/mutants/mutant_records.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/policy.h"
#include "scenarios/cli/progress.h"
#include "scenarios/cli/session.h"
#include "scenarios/cli/sweep/merge_explored.h"
#include "scenarios/cli/sweep/run_records.h"
#include "scenarios/cli/sweep/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS_MAX 65536u

/* Shards of one sweep. */
struct group {
    struct scenario_policy policy;
    bool has_policy;
    struct report_run run; /* names from the first shard, then the whole */
    struct summary summary;
    struct summary_demand demand;
    struct report_violation *violations; /* of all shards */
    size_t violation_count;
    struct report_count *marks;
    size_t mark_count;
    struct report_mark *reached; /* by any shard */
    size_t reached_count;
    bool *seen; /* by shard index */
    uint32_t seen_count;
};

struct merger {
    struct session *session;
    struct text_pool *texts; /* of the session */
    const struct options *options;
    struct json_input *inputs;
    struct group *groups;
    size_t group_count;
};

/* --- sweeps ------------------------------------------------------------------------------------ */

static struct group *group_of(struct merger *merger, const struct report_run *run)
{
    for (size_t i = 0; i < merger->group_count; i++) {
        const struct report_run *known = &merger->groups[i].run;
        if (strcmp(known->scenario, run->scenario) == 0 &&
            strcmp(known->profile, run->profile) == 0 && strcmp(known->seeds, run->seeds) == 0) {
            return &merger->groups[i];
        }
    }
    merger->groups =
        memory_resize(merger->groups, (merger->group_count + 1) * sizeof *merger->groups);
    struct group *group = &merger->groups[merger->group_count++];
    memset(group, 0, sizeof *group);
    group->run = *run;
    group->run.elapsed_ms = 0;
    return group;
}

/* Put a shard's violations behind those of others, and into the summary, which picks. */
static void add_violations(struct json_input *input,
                           json_t *list,
                           json_t *details,
                           struct group *group,
                           struct summary *summary)
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
        if (input->failed || summary->finding_count == SUMMARY_FINDING_MAX) {
            return;
        }
        struct summary_finding *finding = &summary->findings[summary->finding_count++];
        finding->seed = violation->seed;
        finding->subject_kind = run_record_subject_kind(violation->subject);
        if (summary_oracle_parse(violation->oracles[0], &finding->oracle) == ERR_OK) {
            group->violation_count++;
        }
    }
    group->violations = all;
}

/* All shards list the same marks in the same order. */
static void add_marks(struct json_input *input, json_t *list, struct group *group)
{
    const size_t count = json_array_size(list);
    if (group->seen_count == 0) {
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

static struct report_mark *reached_of(struct group *group, const char *name)
{
    for (size_t i = 0; i < group->reached_count; i++) {
        if (strcmp(group->reached[i].name, name) == 0) {
            return &group->reached[i];
        }
    }
    return NULL;
}

/* What any shard reached. */
static void add_reached(struct json_input *input, json_t *list, struct group *group)
{
    const size_t count = json_array_size(list);
    struct report_mark *all =
        text_memory(input->texts, group->reached_count + count + 1, sizeof *all);
    if (group->reached_count > 0) {
        memcpy(all, group->reached, group->reached_count * sizeof *all);
    }
    group->reached = all;
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_array_get(list, i);
        const struct report_mark mark = {
            .name = json_input_text(input, item, "name"),
            .count = json_input_number(input, item, "count"),
            .first_seed = json_input_number(input, item, "first_seed"),
            .is_pair = json_input_bool(input, item, "pair"),
        };
        struct report_mark *known = reached_of(group, mark.name);
        if (known == NULL) {
            group->reached[group->reached_count++] = mark;
        } else {
            known->count += mark.count;
            known->first_seed =
                mark.first_seed < known->first_seed ? mark.first_seed : known->first_seed;
        }
    }
}

/* What no shard reached: of the first shard's list, what the others did not reach either. */
static void add_never(struct json_input *input, json_t *evidence, struct group *group)
{
    if (group->seen_count == 0) {
        group->run.never =
            json_input_texts(input, evidence, "never_reached", &group->run.never_count);
    }
}

static void finish_marks(struct text_pool *texts, struct group *group)
{
    const char **never = text_memory(texts, group->run.never_count + 1, sizeof *never);
    size_t count = 0;
    for (size_t i = 0; i < group->run.never_count; i++) {
        if (reached_of(group, group->run.never[i]) == NULL) {
            never[count++] = group->run.never[i];
        }
    }
    group->run.never = never;
    group->run.never_count = count;
    behaviour_sort(group->reached, group->reached_count);
    group->run.reached = group->reached;
    group->run.reached_count = group->reached_count;
    group->run.marks = group->marks;
    group->run.mark_count = group->mark_count;
}

/* The marks that the scenario must reach are asked of the whole. */
static void ask_for_marks(struct text_pool *texts, struct group *group)
{
    struct report_count *must = text_memory(texts, group->mark_count + 1, sizeof *must);
    for (size_t i = 0; i < group->mark_count; i++) {
        if (group->marks[i].wanted > 0) {
            must[group->demand.must_count++] = group->marks[i];
        }
    }
    group->demand.must = must;
}

/* "seed 17: ..." of the lowest seed. */
static void
take_limit(struct json_input *input, json_t *evidence, uint64_t limited, struct summary *summary)
{
    const char *text = json_input_text(input, evidence, "limit");
    if (limited == 0) {
        return;
    }
    summary->limited = limited;
    if (strncmp(text, "seed ", 5) == 0) {
        char *end = NULL;
        summary->limit_seed = strtoull(text + 5, &end, 10);
        (void)snprintf(summary->limit,
                       sizeof summary->limit,
                       "%s",
                       strncmp(end, ": ", 2) == 0 ? end + 2 : end);
    }
}

static void join_in_order(struct summary *whole, const struct summary *part)
{
    const bool part_limits_first =
        part->limited > 0 && (whole->limited == 0 || part->limit_seed < whole->limit_seed);
    summary_join(whole, part);
    if (part_limits_first) {
        whole->limit_seed = part->limit_seed;
        memcpy(whole->limit, part->limit, sizeof whole->limit);
    }
}

static bool
mark_shard(struct json_input *input, struct group *group, uint64_t index, uint64_t count)
{
    if (index < 1 || index > count || count > SHARDS_MAX ||
        (group->seen_count > 0 && count != group->run.shard_count)) {
        json_input_complain(input, "shard", "one of the same number of shards in all files");
        return false;
    }
    if (group->seen_count == 0) {
        group->seen = text_memory(input->texts, (size_t)count + 1, sizeof *group->seen);
        group->run.shard_count = (uint32_t)count;
    }
    if (group->seen[index]) {
        json_input_complain(input, "shard", "each shard once");
        return false;
    }
    group->seen[index] = true;
    return true;
}

/* What a sweep by a policy adds up to; null where there was none, as of a tape. */
static void add_policy(struct json_input *input,
                       json_t *object_or_null,
                       struct group *group,
                       struct summary *part)
{
    if (json_is_null(object_or_null)) {
        return;
    }
    const uint64_t depth = json_input_number(input, object_or_null, "depth");
    if (policy_parse(json_input_text(input, object_or_null, "name"), &group->policy.kind) !=
            ERR_OK ||
        depth < 1 || depth > PCT_DEPTH_MAX) {
        json_input_complain(input, "policy", "a policy of this version");
        return;
    }
    group->policy.depth = (uint32_t)depth;
    group->policy.steps = (uint32_t)json_input_number(input, object_or_null, "steps");
    part->pct_runs = json_input_number(input, object_or_null, "by_pct");
    part->pct_chains = (uint32_t)json_input_number(input, object_or_null, "chains");
    group->has_policy = true;
}

static void
add_run(struct merger *merger, struct json_input *input, json_t *object, json_t *evidence)
{
    const struct report_run names = {
        .scenario = json_input_text(input, object, "scenario"),
        .profile = json_input_text(input, object, "profile"),
        .seeds = json_input_text(input, object, "seeds"),
    };
    struct group *group = group_of(merger, &names);
    struct summary *part = memory_take(sizeof *part);
    part->runs = json_input_number(input, object, "runs");
    part->counted = json_input_number(input, object, "counted");
    part->events = json_input_number(input, object, "events");
    part->digest = json_input_number(input, object, "digest");
    part->violating = json_input_number(input, evidence, "violating");
    part->vacuous = json_input_number(input, evidence, "vacuous");
    part->refused = json_input_number(input, evidence, "refused");
    part->excused = json_input_number(input, evidence, "excused");
    take_limit(input, evidence, json_input_number(input, evidence, "limited"), part);
    (void)snprintf(
        part->refusal, sizeof part->refusal, "%s", json_input_text(input, evidence, "refusal"));
    add_policy(input, json_object_get(evidence, "policy"), group, part);
    part->crash_runs =
        json_input_number(input, json_input_object(input, evidence, "crashes"), "count");
    group->demand.kinds |= run_record_kinds(input, json_input_list(input, evidence, "kinds"), part);
    add_marks(input, json_input_list(input, evidence, "marks"), group);
    add_reached(input, json_input_list(input, evidence, "reached"), group);
    add_never(input, evidence, group);
    group->run.pair_count = json_input_number(input, evidence, "pairs");
    group->demand.must_after = json_input_number(input, evidence, "must_after");
    add_violations(input,
                   json_input_list(input, object, "violations"),
                   json_input_list(input, evidence, "details"),
                   group,
                   part);
    const uint64_t elapsed_ms = json_input_number(input, object, "elapsed_ms");
    group->run.elapsed_ms = elapsed_ms > group->run.elapsed_ms ? elapsed_ms : group->run.elapsed_ms;
    group->demand.expected = run_record_verdict(input, object, "expected");
    group->demand.expected_oracle = json_input_text(input, evidence, "expected_oracle");
    group->demand.one_run = strcmp(names.seeds, "tape") == 0;
    group->demand.oracles = SUMMARY_ORACLES_ALL;
    if (!input->failed && mark_shard(input,
                                     group,
                                     json_input_number(input, evidence, "shard"),
                                     json_input_number(input, evidence, "shards"))) {
        join_in_order(&group->summary, part);
        group->seen_count++;
    }
    free(part);
}

static bool is_of(const struct summary_finding *finding, const struct report_violation *violation)
{
    return finding->seed == violation->seed &&
           finding->subject_kind == run_record_subject_kind(violation->subject) &&
           strcmp(violation->oracles[0], summary_oracle_name(finding->oracle)) == 0;
}

static int compare_violations(const void *a, const void *b)
{
    const struct report_violation *left = a;
    const struct report_violation *right = b;
    uint8_t oracles[2] = {0, 0};
    if (left->seed != right->seed) {
        return left->seed < right->seed ? -1 : 1;
    }
    if (summary_oracle_parse(left->oracles[0], &oracles[0]) != ERR_OK ||
        summary_oracle_parse(right->oracles[0], &oracles[1]) != ERR_OK) {
        return 0;
    }
    if (oracles[0] != oracles[1]) {
        return oracles[0] < oracles[1] ? -1 : 1;
    }
    return (int)run_record_subject_kind(left->subject) -
           (int)run_record_subject_kind(right->subject);
}

/* Keep the violations that the whole sweep would have kept, in its order. */
static void pick_violations(struct text_pool *texts, struct group *group)
{
    struct report_violation *kept =
        text_memory(texts, group->violation_count + 1, sizeof(struct report_violation));
    size_t count = 0;
    for (size_t i = 0; i < group->violation_count; i++) {
        for (uint32_t k = 0; k < group->summary.finding_count; k++) {
            if (is_of(&group->summary.findings[k], &group->violations[i])) {
                kept[count++] = group->violations[i];
                break;
            }
        }
    }
    qsort(kept, count, sizeof *kept, compare_violations);
    group->run.violations = kept;
    group->run.violation_count = count;
}

static enum status check_complete(const struct group *group)
{
    for (uint32_t i = 1; i <= group->run.shard_count; i++) {
        if (!group->seen[i]) {
            complain("merge: shard %" PRIu32 "/%" PRIu32 " of %s, seeds %s, is missing",
                     i,
                     group->run.shard_count,
                     group->run.scenario,
                     group->run.seeds);
            return STATUS_USAGE;
        }
    }
    return STATUS_OK;
}

static enum status finish_group(struct merger *merger, struct group *group)
{
    static const struct summary_marks no_marks = {0};
    const enum status status = check_complete(group);
    if (status != STATUS_OK) {
        return status;
    }
    group->demand.marks = &no_marks;
    ask_for_marks(merger->texts, group);
    if (group->has_policy) {
        policy_report(&group->policy, &group->summary, &group->run);
    }
    summary_judge(&group->summary, &group->demand, merger->texts, &group->run);
    finish_marks(merger->texts, group);
    group->run.shard_index = 1;
    group->run.shard_count = 1;
    group->run.runs_per_s = rate_per_second(group->run.runs, group->run.elapsed_ms);
    group->run.events_per_s = rate_per_second(group->run.events, group->run.elapsed_ms);
    pick_violations(merger->texts, group);
    report_text_run(stdout, &group->run, output_style());
    return summary_status(&group->run);
}

static enum status read_runs(struct merger *merger, struct json_input *input)
{
    json_t *runs = json_input_list(input, input->root, "runs");
    json_t *evidence = json_input_list(input, input->root, "evidence");
    if (json_array_size(runs) != json_array_size(evidence)) {
        json_input_complain(input, "evidence", "one record per run");
    }
    for (size_t i = 0; i < json_array_size(runs) && !input->failed; i++) {
        add_run(merger, input, json_array_get(runs, i), json_array_get(evidence, i));
    }
    return input->failed ? STATUS_USAGE : STATUS_OK;
}

static enum status merge_runs(struct merger *merger)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < merger->options->argument_count; i++) {
        const enum status one = read_runs(merger, &merger->inputs[i]);
        if (one != STATUS_OK) {
            return one;
        }
    }
    struct report_run *runs = text_memory(merger->texts, merger->group_count + 1, sizeof *runs);
    for (size_t i = 0; i < merger->group_count; i++) {
        const enum status one = finish_group(merger, &merger->groups[i]);
        if (one == STATUS_USAGE) {
            return one;
        }
        status = status_worse(status, one);
        runs[i] = merger->groups[i].run;
    }
    return status_worse(status, output_runs(merger->options->json, runs, merger->group_count));
}

/* --- mutants ------------------------------------------------------------------------------------ */

/* How many records all files hold under a key, and the most that one of them holds. */
static size_t count_records(struct merger *merger, const char *key, size_t *longest)
{
    size_t total = 0;
    *longest = 0;
    for (size_t i = 0; i < merger->options->argument_count; i++) {
        const size_t count =
            json_array_size(json_input_list(&merger->inputs[i], merger->inputs[i].root, key));
        total += count;
        *longest = count > *longest ? count : *longest;
    }
    return total;
}

static bool any_failed(const struct merger *merger)
{
    for (size_t i = 0; i < merger->options->argument_count; i++) {
        if (merger->inputs[i].failed) {
            return true;
        }
    }
    return false;
}

static enum status merge_mutants(struct merger *merger)
{
    size_t longest = 0;
    const size_t total = count_records(merger, "mutants", &longest);
    struct report_mutant *mutants = text_memory(merger->texts, total + 1, sizeof *mutants);
    enum status status = STATUS_OK;
    size_t count = 0;
    for (size_t row = 0; row < longest; row++) {
        for (size_t i = 0; i < merger->options->argument_count; i++) {
            struct json_input *input = &merger->inputs[i];
            json_t *record = json_array_get(json_object_get(input->root, "mutants"), row);
            if (record != NULL) {
                mutant_record_read(input, record, &mutants[count]);
                status = mutants[count].killed ? status : STATUS_BROKEN;
                count++;
            }
        }
    }
    if (any_failed(merger)) {
        return STATUS_USAGE;
    }
    report_text_mutants(stdout, mutants, count);
    return status_worse(status, output_mutants(merger->options->json, mutants, count));
}

static enum status merge(struct merger *merger)
{
    const struct options *options = merger->options;
    json_t *first = merger->inputs[0].root;
    if (json_object_get(first, "claims") != NULL) {
        return merge_claims(merger->session, merger->inputs, options->argument_count);
    }
    if (options->html != NULL || options->markdown != NULL) {
        complain("merge: --html and --markdown: wanted: files that matrix wrote");
        return STATUS_USAGE;
    }
    if (json_object_get(first, "mutants") != NULL) {
        return merge_mutants(merger);
    }
    if (json_object_get(first, "explored") != NULL) {
        return merge_explored(
            merger->texts, merger->inputs, options->argument_count, options->json);
    }
    return merge_runs(merger);
}

enum status command_merge(const struct options *options)
{
    struct session session;
    enum status status = session_open(&session, options);
    struct merger merger = {.session = &session, .texts = &session.texts, .options = options};
    merger.inputs = text_memory(merger.texts, options->argument_count, sizeof *merger.inputs);
    for (size_t i = 0; i < options->argument_count && status == STATUS_OK; i++) {
        status = json_input_open(&merger.inputs[i], merger.texts, options->arguments[i]);
    }
    if (status == STATUS_OK) {
        status = merge(&merger);
    }
    for (size_t i = 0; i < options->argument_count; i++) {
        json_input_close(&merger.inputs[i]);
    }
    free(merger.groups);
    session_close(&session);
    return status;
}
