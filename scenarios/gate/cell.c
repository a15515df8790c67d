#include "scenarios/gate/cell.h"

#include "scenarios/cli/files.h"
#include "sinks/base/digest.h"

#include <jansson.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MILLI_PER_S    UINT64_C(1000000000000) /* records per 1000 s of one per ns */
#define CALIBRATED_LEG 1u

/* Memory of a run: what is kept of a record beside its payload, and copies of that. */
#define ARENA_BASE          (UINT64_C(64) << 20)
#define ARENA_PER_RECORD    UINT64_C(4096)
#define ARENA_COPIES        UINT64_C(4)
#define EVENTS_PER_RECORD   UINT64_C(64)
#define CHANNEL_CAPACITY    UINT64_C(65536)
#define CRASHED_DENOMINATOR 10u /* of the window: so much is replayed */
#define RESTART_DELAY_MS    100u

const char *cell_purpose_name(uint32_t purpose)
{
    static const char *const names[CELL_PURPOSE_COUNT] = {
        "load", "crashed", "primitive", "repeated", "serial", "free", "slower"};
    CHECK(purpose < CELL_PURPOSE_COUNT);
    return names[purpose];
}

/* --- load -------------------------------------------------------------------------------------- */

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static nanos most_of(nanos a, nanos b)
{
    return a > b ? a : b;
}

/* What so much of each subtask is, over all of them. With hot keys the subtask that they lead to is full
 * before the others are: it has the share of all records that they are. */
static uint64_t
over_subtasks(const struct plan *plan, const struct cell_shape *shape, uint64_t each)
{
    const struct ratio hot = plan->hot_share;
    const bool is_hot = shape->keys == PLAN_KEYS_HOT &&
                        (uint64_t)shape->parallelism * hot.numerator > hot.denominator;
    return is_hot ? each * hot.denominator / hot.numerator : each * shape->parallelism;
}

uint64_t
cell_capacity(const struct plan *plan, const struct costs *costs, const struct cell_shape *shape)
{
    const nanos service = costs_service_mean(costs, shape->payload_bytes);
    const nanos trip = 2 * costs_value(costs, COST_LEG) + service;
    const nanos cpu = 2 * costs_cpu_per_event(costs, shape->payload_bytes); /* record and answer */
    uint64_t capacity = over_subtasks(plan, shape, shape->concurrency * MILLI_PER_S / trip);
    capacity = least_of(capacity, costs_value(costs, COST_PARALLELISM) * MILLI_PER_S / service);
    return cpu == 0 ? capacity : least_of(capacity, over_subtasks(plan, shape, MILLI_PER_S / cpu));
}

uint64_t cell_offered(const struct cell *cell)
{
    return cell->shape.parallelism * MILLI_PER_S / cell->record_interval;
}

/* So many records in so long: each source the same number. */
static void set_rate(struct cell *cell, uint64_t milli_per_s, nanos length)
{
    const uint64_t sources = cell->shape.parallelism;
    const uint64_t rate = milli_per_s > 0 ? milli_per_s : 1;
    cell->record_interval = sources * MILLI_PER_S / rate;
    const uint64_t each = length / cell->record_interval;
    cell->records = (uint32_t)((each > 0 ? each : 1) * sources);
}

/* Stage 2: a share of what the current path carries, within what the plan allows (13.4, 13.6). */
static void plan_load(const struct plan *plan,
                      const struct costs *costs,
                      uint64_t ceiling_per_s,
                      struct cell *cell)
{
    cell->warm_up = most_of(plan->warm_up, cell->shape.interval);
    cell->measured = most_of(plan->measured, cell->shape.interval * plan->measured_intervals);
    const nanos length = cell->warm_up + cell->measured;
    const uint64_t wanted = nanos_scale(cell_capacity(plan, costs, &cell->shape), plan->load_share);
    const uint64_t records_max = plan->bytes_max / cell->shape.payload_bytes;
    const uint64_t bounded = least_of(ceiling_per_s * 1000, records_max * MILLI_PER_S / length);
    cell->at_ceiling = bounded < wanted;
    set_rate(cell, least_of(wanted, bounded), length);
}

/* Stage 1: more than the service takes, and as many as it takes in the time. */
static void plan_primitive(const struct plan *plan, const struct costs *costs, struct cell *cell)
{
    cell->warm_up = plan->primitive_warm_up;
    cell->measured = plan->primitive_measured;
    set_rate(cell, cell_capacity(plan, costs, &cell->shape), cell->warm_up + cell->measured);
    cell->record_interval = NANOS_PER_US;
}

/* Calibration: half of what the slower service carries, of both. */
static void plan_calibration(const struct plan *plan, struct cell *cell)
{
    const uint64_t capacity =
        (uint64_t)cell->shape.concurrency * MILLI_PER_S / plan->calibration_slower;
    cell->warm_up = most_of(plan->warm_up, cell->shape.interval);
    cell->measured = most_of(plan->measured, cell->shape.interval * plan->measured_intervals);
    set_rate(cell, capacity / 2, cell->warm_up + cell->measured);
}

void cell_plan(const struct plan *plan,
               const struct costs *costs,
               uint64_t ceiling_per_s,
               struct cell *cell)
{
    switch ((enum cell_purpose)cell->purpose) {
    case CELL_LOAD:
    case CELL_CRASHED:
        plan_load(plan, costs, ceiling_per_s, cell);
        return;
    case CELL_PRIMITIVE:
    case CELL_REPEATED:
    case CELL_SERIAL:
        plan_primitive(plan, costs, cell);
        return;
    case CELL_FREE:
    case CELL_SLOWER:
        plan_calibration(plan, cell);
        return;
    case CELL_PURPOSE_COUNT:
        break;
    }
    UNREACHABLE();
}

uint64_t cell_load_digest(const struct costs *costs, const struct cell *cell)
{
    uint64_t digest = digest_fold(costs->digest, cell->variant);
    digest = digest_fold(digest, cell->record_interval);
    digest = digest_fold(digest, cell->warm_up);
    return digest_fold(digest, cell->measured);
}

const char *cell_name(struct text_pool *texts, const struct plan *plan, const struct cell *cell)
{
    return text_format(texts,
                       "%s-%s-%" PRIu32 "-%s-p%" PRIu32 "-c%" PRIu32 "-%" PRIu64 "s-v%u-%" PRIu64,
                       plan->arms[cell->arm].name,
                       cell_purpose_name(cell->purpose),
                       cell->shape.payload_bytes,
                       plan_keys_name(cell->shape.keys),
                       cell->shape.parallelism,
                       cell->shape.concurrency,
                       cell->shape.interval / NANOS_PER_S,
                       (unsigned)cell->variant,
                       cell->seed);
}

/* --- the scenario ------------------------------------------------------------------------------ */

/* Set "engine.checkpoint.interval_ns"; objects on the way are made. */
static void put(json_t *root, const char *path, json_t *value)
{
    json_t *at = root;
    char key[64];
    for (const char *dot = strchr(path, '.'); dot != NULL; dot = strchr(path, '.')) {
        const size_t size = (size_t)(dot - path);
        CHECK(size < sizeof(key));
        memcpy(key, path, size);
        key[size] = '\0';
        json_t *next = json_object_get(at, key);
        if (next == NULL) {
            next = json_object();
            (void)json_object_set_new(at, key, next);
        }
        at = next;
        path = dot + 1;
    }
    (void)json_object_set_new(at, path, value);
}

static void put_number(json_t *root, const char *path, uint64_t number)
{
    put(root, path, json_integer((json_int_t)number));
}

static void put_service(json_t *root,
                        const struct plan *plan,
                        const struct costs *costs,
                        const struct cell *cell)
{
    const nanos extra = costs_service_extra(costs, cell->shape.payload_bytes);
    const struct cost *times = &costs->all[COST_SERVICE_TIMES];
    const bool is_calibration = cell->purpose == CELL_FREE || cell->purpose == CELL_SLOWER;
    put_number(
        root, "link.latency_ns", is_calibration ? CALIBRATED_LEG : costs_value(costs, COST_LEG));
    put_number(root, "link.service_parallelism", costs_value(costs, COST_PARALLELISM));
    if (is_calibration) {
        put_number(root,
                   "link.service_time_ns",
                   cell->purpose == CELL_SLOWER ? plan->calibration_slower : 0);
        return;
    }
    json_t *list = json_array();
    for (uint32_t i = 0; i < times->count; i++) {
        (void)json_array_append_new(list,
                                    json_integer((json_int_t)times->values[i] + (json_int_t)extra));
    }
    put(root, "link.service_times_ns", list);
    const char *option = plan->arms[cell->arm].model_latency_option;
    if (option[0] != '\0' && costs_value(costs, COST_NAME_LATENCY) > 0) {
        json_t *model = json_array_get(json_object_get(root, "models"), 0);
        char path[80];
        (void)snprintf(path, sizeof(path), "options.%.60s", option);
        put_number(model, path, costs_value(costs, COST_NAME_LATENCY));
    }
}

static void put_engine(json_t *root, const struct costs *costs, const struct cell *cell)
{
    const struct cell_shape *shape = &cell->shape;
    const uint64_t each = cell->records / shape->parallelism;
    const bool is_open = cell->purpose == CELL_LOAD || cell->purpose == CELL_CRASHED;
    put_number(root, "engine.sources", shape->parallelism);
    put_number(root, "engine.subtasks", shape->parallelism);
    put_number(root, "engine.record_interval_ns", cell->record_interval);
    /* In an open loop nothing waits at the source: a channel holds what one emits. */
    put_number(root,
               "engine.channel_capacity",
               is_open ? least_of(each + 1, CHANNEL_CAPACITY) : 2 * (uint64_t)shape->concurrency);
    put_number(root, "engine.checkpoint.interval_ns", shape->interval);
    put_number(root, "engine.checkpoint.duration_ns", costs_value(costs, COST_CHECKPOINT));
    put_number(root, "engine.cpu_per_event_ns", costs_cpu_per_event(costs, shape->payload_bytes));
}

static void put_workload(json_t *root, const struct plan *plan, const struct cell *cell)
{
    put_number(root, "workload.records", cell->records);
    put_number(root, "workload.payload_bytes", cell->shape.payload_bytes);
    char text[32];
    (void)snprintf(text, sizeof(text), "0x%" PRIx64, cell->seed);
    put(root, "workload.seed", json_string(text));
    if (cell->shape.keys == PLAN_KEYS_HOT) {
        put(root, "workload.keys", json_string("shared"));
        put_number(root, "workload.key_count", cell->records);
        (void)snprintf(text,
                       sizeof(text),
                       "%" PRIu32 "/%" PRIu32,
                       plan->hot_share.numerator,
                       plan->hot_share.denominator);
        put(root, "workload.key_skew", json_string(text));
    }
    if (cell->purpose == CELL_REPEATED) {
        (void)snprintf(text,
                       sizeof(text),
                       "%" PRIu32 "/%" PRIu32,
                       plan->repeats.numerator,
                       plan->repeats.denominator);
        put(root, "workload.repeats", json_string(text));
        put(root, "workload.equal_is_one", json_true());
    }
}

static void put_bounds(json_t *root, const struct cell *cell)
{
    const uint64_t each = ARENA_PER_RECORD + ARENA_COPIES * (uint64_t)cell->shape.payload_bytes;
    put_number(root,
               "budgets.arena_bytes",
               least_of(ARENA_BASE + cell->records * each, UINT64_C(4) << 30));
    put_number(root, "budgets.events", (UINT64_C(1) << 20) + cell->records * EVENTS_PER_RECORD);
    if (cell->purpose == CELL_CRASHED) {
        const nanos window = cell->measured / CRASHED_DENOMINATOR;
        const uint64_t crashes = (window + cell->shape.interval - 1) / cell->shape.interval;
        json_t *kinds = json_array();
        (void)json_array_append_new(kinds, json_string("crash"));
        put(root, "faults.kinds", kinds);
        put_number(root, "faults.caps.crash", crashes);
        put_number(root, "faults.cap_total", crashes);
        put_number(root, "engine.restart.delay_ms", RESTART_DELAY_MS);
    }
}

static json_t *load_base(struct text_pool *texts, const char *name, struct scenario_fault *fault)
{
    char path[1024];
    struct bytes content = {0};
    json_error_t error;
    if (!scenario_find(name, path, sizeof(path)) || file_read(texts, path, &content) != ERR_OK) {
        (void)snprintf(fault->message,
                       sizeof(fault->message),
                       "gate: arms.scenario \"%.100s\": no such scenario",
                       name);
        return NULL;
    }
    json_t *root =
        json_loadb((const char *)content.data, content.size, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(root)) {
        (void)snprintf(fault->message, sizeof(fault->message), "%.200s: not a JSON object", path);
        json_decref(root);
        return NULL;
    }
    return root;
}

const char *cell_json(struct text_pool *texts,
                      const struct plan *plan,
                      const struct costs *costs,
                      const struct cell *cell,
                      struct scenario_fault *fault)
{
    const struct plan_arm *arm = &plan->arms[cell->arm];
    char path[96];
    json_t *root = load_base(texts, arm->scenario, fault);
    if (root == NULL) {
        return NULL;
    }
    (void)snprintf(path, sizeof(path), "sink.options.%.60s", arm->concurrency_option);
    put_number(root, path, cell->shape.concurrency);
    put_service(root, plan, costs, cell);
    put_engine(root, costs, cell);
    put_workload(root, plan, cell);
    put_bounds(root, cell);
    char *dumped = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    const char *text = dumped == NULL ? NULL : text_copy(texts, bytes_of_text(dumped));
    free(dumped);
    return text;
}
