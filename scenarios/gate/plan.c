#include "scenarios/gate/plan.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/session.h"
#include "scenarios/gate/strict.h"
#include "sim/engine/job.h"

#include <string.h>

#define GRID_KEYS "payload_bytes keys parallelism concurrency interval_s"

const char *plan_keys_name(uint32_t keys)
{
    static const char *const names[PLAN_KEYS_COUNT] = {"even", "hot"};
    CHECK(keys < PLAN_KEYS_COUNT);
    return names[keys];
}

/* --- the grid ---------------------------------------------------------------------------------- */

static uint32_t read_small(struct json_input *input,
                           json_t *object,
                           const char *key,
                           uint64_t most,
                           uint32_t small[PLAN_LIST_MAX])
{
    uint64_t numbers[PLAN_LIST_MAX] = {0};
    const uint32_t count = strict_numbers(input, object, key, 1, most, numbers, PLAN_LIST_MAX);
    for (uint32_t i = 0; i < count; i++) {
        small[i] = (uint32_t)numbers[i];
    }
    return count;
}

static void read_keys(struct json_input *input, json_t *object, struct plan_grid *grid)
{
    size_t count = 0;
    const char *const *names = json_input_texts(input, object, "keys", &count);
    grid->keys_count = 0;
    for (size_t i = 0; i < count && i < PLAN_LIST_MAX; i++) {
        const bool is_hot = strcmp(names[i], plan_keys_name(PLAN_KEYS_HOT)) == 0;
        if (!is_hot && strcmp(names[i], plan_keys_name(PLAN_KEYS_EVEN)) != 0) {
            json_input_complain(input, "grid.keys", "even, hot");
        }
        grid->keys[grid->keys_count] = is_hot ? PLAN_KEYS_HOT : PLAN_KEYS_EVEN;
        grid->keys_count++;
    }
}

static void read_intervals(struct json_input *input, json_t *object, struct plan_grid *grid)
{
    uint64_t seconds[PLAN_LIST_MAX] = {0};
    grid->interval_count =
        strict_numbers(input, object, "interval_s", 1, 3600, seconds, PLAN_LIST_MAX);
    for (uint32_t i = 0; i < grid->interval_count; i++) {
        grid->intervals[i] = SECONDS(seconds[i]);
    }
}

static void read_payloads(struct json_input *input, json_t *object, struct plan_grid *grid)
{
    grid->payload_count = read_small(input, object, "payload_bytes", 2000000, grid->payload_bytes);
}

static void read_grid(struct json_input *input, struct plan *plan)
{
    json_t *grid = json_input_object(input, input->root, "grid");
    strict_keys(input, grid, "grid", GRID_KEYS);
    read_payloads(input, grid, &plan->grid);
    read_keys(input, grid, &plan->grid);
    plan->grid.parallelism_count =
        read_small(input, grid, "parallelism", JOB_SUBTASK_MAX, plan->grid.parallelism);
    plan->grid.concurrency_count =
        read_small(input, grid, "concurrency", 1000, plan->grid.concurrency);
    read_intervals(input, grid, &plan->grid);
    json_t *quick = json_input_object(input, input->root, "quick");
    strict_keys(input, quick, "quick", "payload_bytes interval_s repetitions ceiling_per_s");
    plan->quick = plan->grid;
    read_payloads(input, quick, &plan->quick);
    read_intervals(input, quick, &plan->quick);
    plan->quick_repetitions =
        (uint32_t)strict_number(input, quick, "repetitions", 1, DECISION_RUN_MAX);
    plan->quick_ceiling_per_s = strict_number(input, quick, "ceiling_per_s", 1, 1000000);
}

/* --- how it is measured ------------------------------------------------------------------------ */

static void read_load(struct json_input *input, struct plan *plan)
{
    json_t *load = json_input_object(input, input->root, "load");
    strict_keys(input, load, "load", "share ceiling_per_s bytes_max");
    plan->load_share = strict_ratio(input, load, "share");
    plan->ceiling_per_s = strict_number(input, load, "ceiling_per_s", 1, 1000000);
    plan->bytes_max = strict_number(input, load, "bytes_max", 1000000, 250000000);
    json_t *window = json_input_object(input, input->root, "window");
    strict_keys(input, window, "window", "warm_up_s measure_s intervals checkpoints_least");
    plan->warm_up = SECONDS(strict_number(input, window, "warm_up_s", 1, 3600));
    plan->measured = SECONDS(strict_number(input, window, "measure_s", 1, 3600));
    plan->measured_intervals = (uint32_t)strict_number(input, window, "intervals", 2, 100);
    plan->checkpoints_least = (uint32_t)strict_number(input, window, "checkpoints_least", 2, 100);
    plan->repetitions =
        (uint32_t)strict_number(input, input->root, "repetitions", 1, DECISION_RUN_MAX);
    plan->repetitions_varied =
        (uint32_t)strict_number(input, input->root, "repetitions_varied", 1, DECISION_RUN_MAX);
    plan->hot_share = strict_ratio(input, input->root, "hot_share");
}

static void read_stage_1(struct json_input *input, struct plan *plan)
{
    json_t *stage = json_input_object(input, input->root, "stage_1");
    strict_keys(input,
                stage,
                "stage_1",
                "payload_bytes concurrency warm_up_s measure_s interval_s repeats");
    plan->primitive_payload_bytes =
        (uint32_t)strict_number(input, stage, "payload_bytes", 16, 2000000);
    plan->primitive_concurrency = (uint32_t)strict_number(input, stage, "concurrency", 2, 1000);
    plan->primitive_warm_up = SECONDS(strict_number(input, stage, "warm_up_s", 1, 3600));
    plan->primitive_measured = SECONDS(strict_number(input, stage, "measure_s", 1, 3600));
    plan->primitive_interval = SECONDS(strict_number(input, stage, "interval_s", 1, 3600));
    plan->repeats = strict_ratio(input, stage, "repeats");
    json_t *calibration = json_input_object(input, input->root, "calibration");
    strict_keys(input, calibration, "calibration", "concurrency interval_s slower_ms");
    plan->calibration_concurrency =
        (uint32_t)strict_number(input, calibration, "concurrency", 1, 1000);
    plan->calibration_interval = SECONDS(strict_number(input, calibration, "interval_s", 1, 3600));
    plan->calibration_slower = MS(strict_number(input, calibration, "slower_ms", 1, 10000));
}

/* --- arms and candidates ----------------------------------------------------------------------- */

static void read_arm(struct json_input *input, json_t *item, struct plan_arm *arm)
{
    strict_keys(input,
                item,
                "arms",
                "name scenario concurrency_option model_latency_option is_protected is_staged "
                "is_keyed hot_keys");
    *arm = (struct plan_arm){
        .name = json_input_text(input, item, "name"),
        .scenario = json_input_text(input, item, "scenario"),
        .concurrency_option = json_input_text(input, item, "concurrency_option"),
        .model_latency_option = json_input_text(input, item, "model_latency_option"),
        .is_protected = json_input_bool(input, item, "is_protected"),
        .is_staged = json_input_bool(input, item, "is_staged"),
        .is_keyed = json_input_bool(input, item, "is_keyed"),
        .hot_keys = json_input_text(input, item, "hot_keys"),
    };
}

static uint32_t
find_arm(struct json_input *input, const struct plan *plan, json_t *item, const char *key)
{
    const char *name = json_input_text(input, item, key);
    const char *allowed = "";
    for (uint32_t i = 0; i < plan->arm_count; i++) {
        if (strcmp(plan->arms[i].name, name) == 0) {
            return i;
        }
        allowed =
            text_format(input->texts, "%s%s%s", allowed, i > 0 ? ", " : "", plan->arms[i].name);
    }
    json_input_complain(input, key, allowed);
    return 0;
}

static uint8_t read_verdict(struct json_input *input, json_t *item, const char *key)
{
    const char *name = json_input_text(input, item, key);
    const char *allowed = "\"\"";
    if (name[0] == '\0') {
        return DECISION_NO_VERDICT;
    }
    for (uint32_t i = DECISION_GENERAL; i < DECISION_VERDICT_COUNT; i++) {
        if (strcmp(decision_verdict_name(i), name) == 0) {
            return (uint8_t)i;
        }
        allowed = text_format(input->texts, "%s, %s", allowed, decision_verdict_name(i));
    }
    json_input_complain(input, key, allowed);
    return DECISION_NO_VERDICT;
}

static void
read_candidate(struct json_input *input, json_t *item, struct plan *plan, uint32_t index)
{
    strict_keys(input,
                item,
                "candidates",
                "name candidate baseline primitive exempt_from_p95 exempt_from_stage_1 expected");
    json_t *expected = json_input_object(input, item, "expected");
    strict_keys(input, expected, "expected", "stage_1 stage_2");
    const bool has_primitive = json_input_text(input, item, "primitive")[0] != '\0';
    plan->candidates[index] = (struct plan_candidate){
        .name = json_input_text(input, item, "name"),
        .candidate = find_arm(input, plan, item, "candidate"),
        .baseline = find_arm(input, plan, item, "baseline"),
        .primitive = has_primitive ? find_arm(input, plan, item, "primitive") : PLAN_ARM_MAX,
        .exempt_latency = json_input_text(input, item, "exempt_from_p95"),
        .exempt_stage_1 = json_input_text(input, item, "exempt_from_stage_1"),
        .expected_stage_1 = read_verdict(input, expected, "stage_1"),
        .expected_stage_2 = read_verdict(input, expected, "stage_2"),
    };
    if (!has_primitive && plan->candidates[index].exempt_stage_1[0] == '\0') {
        json_input_complain(input, "primitive", "an arm, unless exempt_from_stage_1 says why not");
    }
}

static uint32_t list_of(struct json_input *input, const char *key, uint32_t most, json_t **list)
{
    *list = json_input_list(input, input->root, key);
    const size_t count = json_array_size(*list);
    if (count == 0 || count > most) {
        json_input_complain(input, key, text_format(input->texts, "a list of 1 to %u", most));
        return 0;
    }
    return (uint32_t)count;
}

static void read_arms(struct json_input *input, struct plan *plan)
{
    json_t *list = NULL;
    plan->arm_count = list_of(input, "arms", PLAN_ARM_MAX, &list);
    for (uint32_t i = 0; i < plan->arm_count; i++) {
        read_arm(input, json_array_get(list, i), &plan->arms[i]);
    }
    plan->candidate_count = list_of(input, "candidates", PLAN_CANDIDATE_MAX, &list);
    for (uint32_t i = 0; i < plan->candidate_count; i++) {
        read_candidate(input, json_array_get(list, i), plan, i);
    }
}

enum status plan_read(struct text_pool *texts, const char *path, struct plan *plan)
{
    struct json_input input;
    *plan = (struct plan){0};
    enum status status = json_input_open(&input, texts, path);
    if (status == STATUS_OK) {
        strict_keys(
            &input,
            input.root,
            "",
            "schema load window repetitions repetitions_varied grid quick hot_share stage_1 "
            "calibration arms candidates");
        read_grid(&input, plan);
        read_load(&input, plan);
        read_stage_1(&input, plan);
        read_arms(&input, plan);
        status = input.failed ? STATUS_USAGE : STATUS_OK;
    }
    json_input_close(&input);
    return status;
}

enum status plan_open(struct text_pool *texts, struct plan *plan)
{
    const char *root = scenarios_folder(texts);
    if (root == NULL) {
        complain("no folder scenarios beside the binary or above the current directory");
        return STATUS_USAGE;
    }
    return plan_read(texts, text_format(texts, "%s/gate/plan.json", root), plan);
}

uint32_t plan_find_candidate(const struct plan *plan, const char *name)
{
    for (uint32_t i = 0; i < plan->candidate_count; i++) {
        if (strcmp(plan->candidates[i].name, name) == 0) {
            return i;
        }
    }
    return PLAN_CANDIDATE_MAX;
}
