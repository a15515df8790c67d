#include "sinks/generic/idempotent.h"

#include "sinks/base/check.h"
#include "sinks/generic/options.h"
#include "sinks/port/keyed.h"

static const struct sink_option table[IDEMPOTENT_OPTION_COUNT] = {
#define IDEMPOTENT_OPTION(name, key, type, fallback, min, max, sentence)                           \
    {(key), (type), false, (fallback), NULL, (min), (max), NULL, (sentence)},
#include "sinks/generic/idempotent_options.def"
#undef IDEMPOTENT_OPTION
};

static const char *const phases[] = {
#define IDEMPOTENT_PHASE(name, text) (text),
#include "sinks/generic/idempotent_taps.def"
#undef IDEMPOTENT_PHASE
};

static const char *const metrics[] = {
#define IDEMPOTENT_METRIC(name, text) (text),
#include "sinks/generic/idempotent_taps.def"
#undef IDEMPOTENT_METRIC
};

static const struct sink_timing timings[] = {
    {.name = "retry_budget",
     .clause = "C1",
     .left = {{.fact = SINK_TIMING_CHECKPOINT_TIMEOUT}},
     .right = {{.fact = SINK_TIMING_WAVE}},
     .or_equal = true,
     .sentence =
         "A barrier waits for what was sent, and without buffer_in_state for all the rest."},
};

enum err idempotent_configure(const struct sink_option_value *options,
                              struct idempotent_config *config,
                              struct byte_writer *message)
{
    const struct generic_options all = {table, options, IDEMPOTENT_OPTION_COUNT};
    enum err err = generic_options_check(&all, message);
    if (err == ERR_OK) {
        err = generic_schedule_check(&all, IDEMPOTENT_OPTION_RETRY_INITIAL_BACKOFF, message);
    }
    if (err == ERR_OK) {
        *config = (struct idempotent_config){
            .batch_max = narrow_u32(options[IDEMPOTENT_OPTION_MAX_BATCH_ENTRIES].number),
            .buffered_max = narrow_u32(options[IDEMPOTENT_OPTION_MAX_BUFFERED_ENTRIES].number),
            .linger = options[IDEMPOTENT_OPTION_LINGER].number,
            .retry = generic_schedule_at(&all, IDEMPOTENT_OPTION_RETRY_INITIAL_BACKOFF),
            .request_timeout = options[IDEMPOTENT_OPTION_REQUEST_TIMEOUT].number,
            .distinct_keys = options[IDEMPOTENT_OPTION_DISTINCT_KEYS].number != 0,
            .buffer_in_state = options[IDEMPOTENT_OPTION_BUFFER_IN_STATE].number != 0,
        };
    }
    return err;
}

static enum err validate(const struct sink_option_value *options,
                         const struct sink_job *job,
                         struct byte_writer *message)
{
    struct idempotent_config config;
    (void)job;
    return idempotent_configure(options, &config, message);
}

const struct sink_type generic_idempotent = {
    .abi_version = SINK_ABI_VERSION,
    .type_size = sizeof(struct sink_type),
    .event_size = sizeof(struct sink_event),
    .effect_size = sizeof(struct sink_effect),
    .name = "generic-idempotent",
    .sentence = "Appends records to a keyed store in batches, each once by its position.",
    .kind = SINK_KIND_SINK,
    .guarantee = SINK_EFFECTIVELY_ONCE,
    .committer_kind = SINK_COMMITTER_NONE,
    .service = &keyed_service,
    .options = table,
    .option_count = IDEMPOTENT_OPTION_COUNT,
    .timings = timings,
    .timing_count = ARRAY_COUNT(timings),
    .phases = phases,
    .phase_count = IDEMPOTENT_PHASE_COUNT,
    .metrics = metrics,
    .metric_count = IDEMPOTENT_METRIC_COUNT,
    .writer = &idempotent_writer_half,
    .validate = validate,
};
