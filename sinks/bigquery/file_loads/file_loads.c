#include "sinks/bigquery/file_loads/file_loads.h"

#include "sinks/base/check.h"
#include "sinks/bigquery/file_loads/file_loads_options.h"
#include "sinks/bigquery/options.h"
#include "sinks/port/bigquery.h"
#include "sinks/port/storage.h"

static const char *const phases[] = {
#define FILE_LOADS_PHASE(name, text) (text),
#include "sinks/bigquery/file_loads/file_loads_taps.def"
#undef FILE_LOADS_PHASE
};

static const char *const metrics[] = {
#define FILE_LOADS_METRIC(name, text) (text),
#include "sinks/bigquery/file_loads/file_loads_taps.def"
#undef FILE_LOADS_METRIC
};

static const struct port_service *const further_services[] = {&storage_service};

static const struct sink_timing timings[] = {
    {.name = "barrier_stores_files",
     .clause = "FW13",
     .left = {{.fact = SINK_TIMING_CHECKPOINT_TIMEOUT}},
     .right = {{.fact = SINK_TIMING_WAVE}},
     .or_equal = true,
     .sentence = "A barrier waits until the files before it are stored."},
    {.name = "object_lifetime",
     .clause = "GCS-12",
     .left = {{.fact = SINK_TIMING_OPTION, .key = "object_lifetime"}},
     .right = {{.fact = SINK_TIMING_FIRST_COMMIT}, {.fact = SINK_TIMING_OPTION, .key = "job_time"}},
     .sentence = "A load that a restart starts must still find its files when it reads them."},
};

/* A streaming job loads at each checkpoint: it may only append, and not too often. */
static const char *refusal_of(const struct file_loads_config *config, const struct sink_job *job)
{
    const char *refusal = bigquery_staged_refusal(job);
    if (refusal != NULL || job->batch) {
        return refusal;
    }
    if (config->plan.write != BIGQUERY_WRITE_APPEND) {
        return "write_disposition: a streaming job may only write_append";
    }
    if (job->checkpoint_interval < config->checkpoint_interval_min) {
        return "checkpoint interval: it is less than min_checkpoint_interval";
    }
    return NULL;
}

static enum err validate(const struct sink_option_value *options,
                         const struct sink_job *job,
                         struct byte_writer *message)
{
    struct file_loads_config config;
    const enum err err = file_loads_configure(options, &config, message);
    const char *refusal = err == ERR_OK ? refusal_of(&config, job) : NULL;
    if (refusal == NULL) {
        return err;
    }
    byte_writer_text(message, refusal);
    return ERR_INVALID;
}

const struct sink_type bigquery_file_loads = {
    .abi_version = SINK_ABI_VERSION,
    .type_size = sizeof(struct sink_type),
    .event_size = sizeof(struct sink_event),
    .effect_size = sizeof(struct sink_effect),
    .name = "bigquery-file-loads",
    .sentence = "Stages rows as files and loads those of a checkpoint by jobs.",
    .kind = SINK_KIND_SINK,
    .guarantee = SINK_EXACTLY_ONCE,
    .committer_kind = SINK_COMMITTER_GLOBAL,
    .service = &bigquery_service,
    .further_services = further_services,
    .further_service_count = ARRAY_COUNT(further_services),
    .options = file_loads_options,
    .option_count = FILE_LOADS_OPTION_COUNT,
    .timings = timings,
    .timing_count = ARRAY_COUNT(timings),
    .phases = phases,
    .phase_count = FILE_LOADS_PHASE_COUNT,
    .metrics = metrics,
    .metric_count = FILE_LOADS_METRIC_COUNT,
    .writer = &bigquery_file_loads_writer_half,
    .committer_or_null = &bigquery_file_loads_committer_half,
    .validate = validate,
};
