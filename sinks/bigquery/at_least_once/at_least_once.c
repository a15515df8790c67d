#include "sinks/bigquery/at_least_once/at_least_once.h"

#include "sinks/base/check.h"
#include "sinks/bigquery/options.h"
#include "sinks/port/bigquery.h"

static const char *const phases[] = {
#define BIGQUERY_EAGER_PHASE(name, text) (text),
#include "sinks/bigquery/taps.def"
#undef BIGQUERY_EAGER_PHASE
};

static const char *const metrics[] = {
#define BIGQUERY_METRIC(name, text) (text),
#include "sinks/bigquery/taps.def"
#undef BIGQUERY_METRIC
};

static const struct sink_timing timings[] = {
    {.name = "retry_budget",
     .clause = "FW13",
     .left = {{.fact = SINK_TIMING_CHECKPOINT_TIMEOUT}},
     .right = {{.fact = SINK_TIMING_WAVE}},
     .or_equal = true,
     .sentence = "A barrier waits until all rows before it are in their tables."},
};

/* Every job will do: what a job without checkpoints loses is its own. */
static enum err validate(const struct sink_option_value *options,
                         const struct sink_job *job,
                         struct byte_writer *message)
{
    struct bigquery_config config;
    (void)job;
    return bigquery_configure_eager(options, &config, message);
}

const struct sink_type bigquery_at_least_once = {
    .abi_version = SINK_ABI_VERSION,
    .type_size = sizeof(struct sink_type),
    .event_size = sizeof(struct sink_event),
    .effect_size = sizeof(struct sink_effect),
    .name = "bigquery-at-least-once",
    .sentence = "Appends rows to the default stream of their table.",
    .kind = SINK_KIND_SINK,
    .guarantee = SINK_AT_LEAST_ONCE,
    .committer_kind = SINK_COMMITTER_NONE,
    .service = &bigquery_service,
    .options = bigquery_eager_options,
    .option_count = BIGQUERY_EAGER_OPTION_COUNT,
    .timings = timings,
    .timing_count = ARRAY_COUNT(timings),
    .phases = phases,
    .phase_count = BIGQUERY_EAGER_PHASE_COUNT,
    .metrics = metrics,
    .metric_count = BIGQUERY_METRIC_COUNT,
    .writer = &bigquery_at_least_once_writer_half,
    .validate = validate,
};
