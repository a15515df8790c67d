/* What things cost in the gate's simulated arms: a named file of whole numbers, each with the source
 * that it comes from. They are inputs: a verdict describes this cost model, not the service (13.9).
 * Processor time that was measured enters as a frozen number, marked MEASURED, like any other. */
#ifndef SCENARIOS_GATE_COSTS_H
#define SCENARIOS_GATE_COSTS_H

#include "scenarios/cli/status.h"
#include "scenarios/cli/text.h"
#include "sim/link.h"

#include <stdbool.h>

/* X(constant, name, most values, least, most, is_time, sentence) */
#define COSTS(X)                                                                                   \
    X(COST_LEG, "leg_ns", 1, 1, MINUTES(1), COST_OF_LATENCY, "one way between job and service")    \
    X(COST_SERVICE_TIMES,                                                                          \
      "service_times_ns",                                                                          \
      LINK_SERVICE_TIMES_MAX,                                                                      \
      1,                                                                                           \
      MINUTES(1),                                                                                  \
      COST_OF_LATENCY,                                                                             \
      "what the service spends on a request: these, equally often")                                \
    X(COST_PARALLELISM,                                                                            \
      "service_parallelism",                                                                       \
      1,                                                                                           \
      1,                                                                                           \
      10000,                                                                                       \
      COST_OF_NEITHER,                                                                             \
      "requests that the service works on at once")                                                \
    X(COST_SERVICE_PER_KIB,                                                                        \
      "service_per_kib_ns",                                                                        \
      1,                                                                                           \
      0,                                                                                           \
      SECONDS(1),                                                                                  \
      COST_OF_LATENCY,                                                                             \
      "what each KiB of payload adds to that")                                                     \
    X(COST_NAME_LATENCY,                                                                           \
      "name_latency_ns",                                                                           \
      1,                                                                                           \
      0,                                                                                           \
      MINUTES(1),                                                                                  \
      COST_OF_LATENCY,                                                                             \
      "how much longer a named create takes")                                                      \
    X(COST_CPU_PER_EVENT,                                                                          \
      "cpu_per_event_ns",                                                                          \
      1,                                                                                           \
      0,                                                                                           \
      SECONDS(1),                                                                                  \
      COST_OF_CPU,                                                                                 \
      "what a task spends on an event")                                                            \
    X(COST_CPU_PER_KIB,                                                                            \
      "cpu_per_kib_ns",                                                                            \
      1,                                                                                           \
      0,                                                                                           \
      SECONDS(1),                                                                                  \
      COST_OF_CPU,                                                                                 \
      "what each KiB of payload adds to that")                                                     \
    X(COST_CHECKPOINT,                                                                             \
      "checkpoint_duration_ns",                                                                    \
      1,                                                                                           \
      0,                                                                                           \
      HOURS(1),                                                                                    \
      COST_OF_LATENCY,                                                                             \
      "from a checkpoint's trigger to its completion, at the least")

enum cost_id {
#define X(constant, name, count, least, most, kind, sentence) constant,
    COSTS(X)
#undef X
    COST_COUNT,
};

enum cost_kind {
    COST_OF_NEITHER = 0,
    COST_OF_LATENCY,
    COST_OF_CPU,
};

struct cost {
    uint64_t values[LINK_SERVICE_TIMES_MAX];
    uint32_t count;
    bool is_measured; /* else a number of the model's */
    const char *source;
};

struct costs {
    const char *name;
    const char *title;
    struct cost all[COST_COUNT];
    uint64_t digest; /* of names, numbers, kinds and sources */
};

/* A verdict must stand under each of them (13.9). */
enum costs_variant {
    COSTS_AS_GIVEN = 0,
    COSTS_LATENCY_HALVED,
    COSTS_LATENCY_DOUBLED,
    COSTS_CPU_HALVED,
    COSTS_CPU_DOUBLED,
    COSTS_VARIANT_COUNT,
};

/* Read a file by path, or by name among scenarios/gate/costs-NAME.json. Texts go to the pool.
 * STATUS_OK, or STATUS_USAGE with one line on standard error. */
MUST_USE enum status
costs_read(struct text_pool *texts, const char *name_or_path, struct costs *costs);

/* The same with latencies or processor time halved or doubled. */
struct costs costs_varied(const struct costs *costs, enum costs_variant variant);

/* Mean of a request's time at the service, with this payload. */
nanos costs_service_mean(const struct costs *costs, uint32_t payload_bytes);
/* What a payload adds at the service, and to an event. */
nanos costs_service_extra(const struct costs *costs, uint32_t payload_bytes);
nanos costs_cpu_per_event(const struct costs *costs, uint32_t payload_bytes);

static inline uint64_t costs_value(const struct costs *costs, enum cost_id id)
{
    return costs->all[id].values[0];
}

const char *cost_name(enum cost_id id);
const char *cost_sentence(enum cost_id id);
const char *costs_variant_name(uint32_t variant);

#endif
