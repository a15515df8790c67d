#include "sinks/generic/transactional.h"

#include "sinks/base/check.h"
#include "sinks/generic/options.h"
#include "sinks/port/table.h"

static const struct sink_option table[TRANSACTIONAL_OPTION_COUNT] = {
#define TRANSACTIONAL_OPTION(name, key, type, fallback, text, min, max, sentence)                  \
    {(key), (type), false, (fallback), (text), (min), (max), NULL, (sentence)},
#include "sinks/generic/transactional_options.def"
#undef TRANSACTIONAL_OPTION
};

static const char *const phases[] = {
#define TRANSACTIONAL_PHASE(name, text) (text),
#include "sinks/generic/transactional_taps.def"
#undef TRANSACTIONAL_PHASE
};

static const char *const metrics[] = {
#define TRANSACTIONAL_METRIC(name, text) (text),
#include "sinks/generic/transactional_taps.def"
#undef TRANSACTIONAL_METRIC
};

static const struct sink_timing timings[] = {
    {.name = "retry_budget",
     .clause = "C2",
     .left = {{.fact = SINK_TIMING_CHECKPOINT_TIMEOUT}},
     .right = {{.fact = SINK_TIMING_WAVE}},
     .or_equal = true,
     .sentence =
         "A barrier waits until all rows before it are staged, and for the commit before it."},
};

enum err transactional_configure(const struct sink_option_value *options,
                                 struct transactional_config *config,
                                 struct byte_writer *message)
{
    const struct generic_options all = {table, options, TRANSACTIONAL_OPTION_COUNT};
    enum err err = generic_options_check(&all, message);
    if (err == ERR_OK) {
        err = generic_schedule_check(&all, TRANSACTIONAL_OPTION_RETRY_INITIAL_BACKOFF, message);
    }
    if (err == ERR_OK) {
        *config = (struct transactional_config){
            .application = options[TRANSACTIONAL_OPTION_APPLICATION].text,
            .batch_rows_max = narrow_u32(options[TRANSACTIONAL_OPTION_MAX_BATCH_ROWS].number),
            .buffered_rows_max = narrow_u32(options[TRANSACTIONAL_OPTION_MAX_BUFFERED_ROWS].number),
            .retry = generic_schedule_at(&all, TRANSACTIONAL_OPTION_RETRY_INITIAL_BACKOFF),
            .request_timeout = options[TRANSACTIONAL_OPTION_REQUEST_TIMEOUT].number,
        };
    }
    return err;
}

static const char *refusal_of(const struct sink_job *job)
{
    if (job->policy != SINK_POLICY_FAIL) {
        return "failure policy: records may be dropped or diverted; it must fail the job";
    }
    if (!job->checkpointing) {
        return "checkpointing: off; it must be on";
    }
    if (!job->barriers_exactly_once) {
        return "checkpointing mode: at least once; it must be exactly once";
    }
    if (job->bounded && !job->checkpoints_after_finish) {
        return "checkpoints after tasks finish: off; they must be on for bounded input";
    }
    return NULL;
}

static enum err validate(const struct sink_option_value *options,
                         const struct sink_job *job,
                         struct byte_writer *message)
{
    struct transactional_config config;
    const enum err err = transactional_configure(options, &config, message);
    const char *refusal = refusal_of(job);
    if (err != ERR_OK || refusal == NULL) {
        return err;
    }
    byte_writer_text(message, refusal);
    return ERR_INVALID;
}

const struct sink_type generic_transactional = {
    .abi_version = SINK_ABI_VERSION,
    .type_size = sizeof(struct sink_type),
    .event_size = sizeof(struct sink_event),
    .effect_size = sizeof(struct sink_effect),
    .name = "generic-transactional",
    .sentence = "Stages rows in units of a table and commits those of a checkpoint at once.",
    .kind = SINK_KIND_SINK,
    .guarantee = SINK_EXACTLY_ONCE,
    .committer_kind = SINK_COMMITTER_GLOBAL,
    .service = &table_service,
    .options = table,
    .option_count = TRANSACTIONAL_OPTION_COUNT,
    .timings = timings,
    .timing_count = ARRAY_COUNT(timings),
    .phases = phases,
    .phase_count = TRANSACTIONAL_PHASE_COUNT,
    .metrics = metrics,
    .metric_count = TRANSACTIONAL_METRIC_COUNT,
    .writer = &transactional_writer_half,
    .committer_or_null = &transactional_committer_half,
    .validate = validate,
};
