#include "sinks/bigquery/exactly_once/exactly_once.h"

#include "sinks/base/check.h"
#include "sinks/bigquery/options.h"
#include "sinks/port/bigquery.h"

static const char *const phases[] = {
#define BIGQUERY_PHASE(name, text) (text),
#include "sinks/bigquery/taps.def"
#undef BIGQUERY_PHASE
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
     .sentence = "A barrier waits until all rows before it are in their streams."},
    {.name = "stream_lifetime",
     .clause = "BQW-05",
     .left = {{.fact = SINK_TIMING_OPTION, .key = "buffered_ttl"}},
     .right = {{.fact = SINK_TIMING_FIRST_COMMIT}},
     .sentence = "The last possible first flush must still find the stream; each flush is traffic "
                 "that renews it."},
};

static enum err validate(const struct sink_option_value *options,
                         const struct sink_job *job,
                         struct byte_writer *message)
{
    struct bigquery_config config;
    const enum err err = bigquery_configure(options, &config, message);
    const char *refusal = bigquery_staged_refusal(job);
    if (err != ERR_OK || refusal == NULL) {
        return err;
    }
    byte_writer_text(message, refusal);
    return ERR_INVALID;
}

const struct sink_type bigquery_exactly_once = {
    .abi_version = SINK_ABI_VERSION,
    .type_size = sizeof(struct sink_type),
    .event_size = sizeof(struct sink_event),
    .effect_size = sizeof(struct sink_effect),
    .name = "bigquery-exactly-once",
    .sentence = "Appends rows to BUFFERED streams at offsets and flushes those of a checkpoint.",
    .kind = SINK_KIND_SINK,
    .guarantee = SINK_EXACTLY_ONCE,
    .committer_kind = SINK_COMMITTER_PER_SUBTASK,
    .service = &bigquery_service,
    .options = bigquery_options,
    .option_count = BIGQUERY_OPTION_COUNT,
    .timings = timings,
    .timing_count = ARRAY_COUNT(timings),
    .phases = phases,
    .phase_count = BIGQUERY_PHASE_COUNT,
    .metrics = metrics,
    .metric_count = BIGQUERY_METRIC_COUNT,
    .writer = &bigquery_exactly_once_writer_half,
    .committer_or_null = &bigquery_exactly_once_committer_half,
    .validate = validate,
};

const struct sink_type bigquery_committed = {
    .abi_version = SINK_ABI_VERSION,
    .type_size = sizeof(struct sink_type),
    .event_size = sizeof(struct sink_event),
    .effect_size = sizeof(struct sink_effect),
    .name = "bigquery-committed",
    .sentence = "Appends rows to COMMITTED streams at offsets, which show them at once.",
    .kind = SINK_KIND_SINK,
    .guarantee = SINK_AT_LEAST_ONCE,
    .committer_kind = SINK_COMMITTER_NONE,
    .service = &bigquery_service,
    .options = bigquery_options,
    .option_count = BIGQUERY_OPTION_COUNT,
    .timings = timings,
    .timing_count = 1, /* no row waits for a flush */
    .phases = phases,
    .phase_count = BIGQUERY_PHASE_HANDED_OVER, /* it stages nothing */
    .metrics = metrics,
    .metric_count = BIGQUERY_METRIC_COUNT,
    .writer = &bigquery_committed_writer_half,
    .validate = validate,
};
