#include "sinks/cloudtasks/cloudtasks_sinks.h"

#include "sinks/base/check.h"
#include "sinks/cloudtasks/committer.h"
#include "sinks/cloudtasks/eager_writer.h"
#include "sinks/cloudtasks/options.h"
#include "sinks/cloudtasks/staged_writer.h"
#include "sinks/cloudtasks/taps.h"
#include "sinks/port/cloudtasks.h"

static const char *const eager_phases[] = {
#define CLOUDTASKS_EAGER_PHASE(name, text) (text),
#include "sinks/cloudtasks/taps.def"
#undef CLOUDTASKS_EAGER_PHASE
};

static const char *const staged_phases[] = {
#define CLOUDTASKS_STAGED_PHASE(name, text) (text),
#include "sinks/cloudtasks/taps.def"
#undef CLOUDTASKS_STAGED_PHASE
};

static const char *const metrics[] = {
#define CLOUDTASKS_METRIC(name, text) (text),
#include "sinks/cloudtasks/taps.def"
#undef CLOUDTASKS_METRIC
};

#define FACT(name)                                                                                 \
    {                                                                                              \
        .fact = SINK_TIMING_##name                                                                 \
    }
#define OPTION(name)                                                                               \
    {                                                                                              \
        .fact = SINK_TIMING_OPTION, .option = CLOUDTASKS_OPTION_##name                             \
    }

static const struct sink_timing unnamed_timings[] = {
    {.name = "retry_budget",
     .clause = "sinks 3.3",
     .left = {FACT(CHECKPOINT_TIMEOUT)},
     .right = {FACT(WAVE)},
     .or_equal = true,
     .sentence =
         "A barrier waits for all open requests, the worst of which use up their attempts."},
};

static const struct sink_timing named_timings[] = {
    {.name = "retry_budget",
     .clause = "sinks 3.3",
     .left = {FACT(CHECKPOINT_TIMEOUT)},
     .right = {FACT(WAVE)},
     .or_equal = true,
     .sentence =
         "A barrier waits for all open requests, the worst of which use up their attempts."},
    {.name = "name_protection",
     .clause = "CT-06",
     .left = {FACT(PROTECTION)},
     .right = {FACT(REPEAT)},
     .sentence = "A replayed record must still find the name of the task that it made before."},
};

static const struct sink_timing staged_timings[] = {
    {.name = "recovery_window",
     .clause = "sinks 4.7",
     .left = {OPTION(NAME_RETENTION)},
     .right = {OPTION(CLOCK_SKEW_ALLOWANCE), OPTION(REQUEST_TIMEOUT)},
     .sentence = "The queue must remember a name for longer than clocks and requests may be late."},
    {.name = "queue_retention",
     .clause = "CT-06 T14",
     .left = {FACT(PROTECTION)},
     .right = {OPTION(NAME_RETENTION)},
     .or_equal = true,
     .sentence = "The queue must remember names for as long as the sink relies on it."},
    {.name = "replay_horizon",
     .clause = "sinks 4.4",
     .left = {OPTION(NAME_RETENTION)},
     .right = {FACT(REPLAY_HORIZON), OPTION(CLOCK_SKEW_ALLOWANCE), OPTION(REQUEST_TIMEOUT)},
     .sentence = "The last possible commit must still be allowed to send."},
    {.name = "late_send",
     .clause = "sinks 4.4",
     .left =
         {FACT(PROTECTION), FACT(EARLIEST), OPTION(CLOCK_SKEW_ALLOWANCE), OPTION(REQUEST_TIMEOUT)},
     .right = {OPTION(NAME_RETENTION), FACT(CLOCK_ERROR), FACT(LATE_EFFECT)},
     .or_equal = true,
     .sentence = "What is sent just in time by a slow clock must still find the name."},
    {.name = "retry_budget",
     .clause = "sinks 4.5",
     .left = {FACT(CHECKPOINT_TIMEOUT)},
     .right = {FACT(WAVE)},
     .or_equal = true,
     .sentence = "The next barrier waits while a commit runs on the task thread."},
};

#undef FACT
#undef OPTION

static enum err validate_eager(const struct sink_option_value *options,
                               const struct sink_job *job,
                               struct byte_writer *message)
{
    (void)job;
    return cloudtasks_options_check(options, CLOUDTASKS_EAGER_OPTION_COUNT, message);
}

/* The gates of section 4.7, in the order in which they are judged. */
static const char *refusal_of(const struct sink_job *job)
{
    if (!job->destination_fixed) {
        return "destination: resolved per record; it must be the fixed queue of option queue";
    }
    if (job->policy != SINK_POLICY_FAIL) {
        return "failure policy: records may be dropped or diverted; it must fail the job";
    }
    if (job->runtime_automatic) {
        return "runtime mode: automatic; it must be set to streaming";
    }
    if (job->batch) {
        return "runtime mode: batch; it must be streaming";
    }
    if (!job->checkpointing) {
        return "checkpointing: off; it must be on";
    }
    if (!job->barriers_exactly_once) {
        return "checkpointing mode: at least once; it must be exactly once";
    }
    if (!job->checkpoints_after_finish) {
        return "checkpoints after tasks finish: off; they must be on";
    }
    return NULL;
}

static enum err validate_exactly_once(const struct sink_option_value *options,
                                      const struct sink_job *job,
                                      struct byte_writer *message)
{
    const enum err err = cloudtasks_options_check(options, CLOUDTASKS_OPTION_COUNT, message);
    if (err != ERR_OK) {
        return err;
    }
    const char *refusal = refusal_of(job);
    if (refusal == NULL) {
        return ERR_OK;
    }
    byte_writer_text(message, refusal);
    return ERR_INVALID;
}

const struct sink_type cloudtasks_at_least_once_unnamed = {
    .abi_version = SINK_ABI_VERSION,
    .type_size = sizeof(struct sink_type),
    .event_size = sizeof(struct sink_event),
    .effect_size = sizeof(struct sink_effect),
    .name = "cloudtasks-at-least-once",
    .sentence = "Creates a task per record at once, named by the service.",
    .kind = SINK_KIND_SINK,
    .guarantee = SINK_AT_LEAST_ONCE,
    .committer_kind = SINK_COMMITTER_NONE,
    .service = &cloudtasks_service,
    .options = cloudtasks_options,
    .option_count = CLOUDTASKS_EAGER_OPTION_COUNT,
    .timings = unnamed_timings,
    .timing_count = ARRAY_COUNT(unnamed_timings),
    .phases = eager_phases,
    .phase_count = CLOUDTASKS_EAGER_PHASE_COUNT,
    .metrics = metrics,
    .metric_count = CLOUDTASKS_EAGER_METRIC_COUNT,
    .writer = &cloudtasks_eager_unnamed_half,
    .validate = validate_eager,
};

const struct sink_type cloudtasks_at_least_once_named = {
    .abi_version = SINK_ABI_VERSION,
    .type_size = sizeof(struct sink_type),
    .event_size = sizeof(struct sink_event),
    .effect_size = sizeof(struct sink_effect),
    .name = "cloudtasks-at-least-once-named",
    .sentence = "Creates a task per record at once, named by an id of the record.",
    .kind = SINK_KIND_SINK,
    .guarantee = SINK_EFFECTIVELY_ONCE,
    .committer_kind = SINK_COMMITTER_NONE,
    .service = &cloudtasks_service,
    .options = cloudtasks_options,
    .option_count = CLOUDTASKS_EAGER_OPTION_COUNT,
    .timings = named_timings,
    .timing_count = ARRAY_COUNT(named_timings),
    .phases = eager_phases,
    .phase_count = CLOUDTASKS_EAGER_PHASE_COUNT,
    .metrics = metrics,
    .metric_count = CLOUDTASKS_EAGER_METRIC_COUNT,
    .writer = &cloudtasks_eager_named_half,
    .validate = validate_eager,
};

const struct sink_type cloudtasks_exactly_once = {
    .abi_version = SINK_ABI_VERSION,
    .type_size = sizeof(struct sink_type),
    .event_size = sizeof(struct sink_event),
    .effect_size = sizeof(struct sink_effect),
    .name = "cloudtasks-exactly-once",
    .sentence = "Stages a named task per record and creates it after its checkpoint.",
    .kind = SINK_KIND_SINK,
    .guarantee = SINK_EXACTLY_ONCE,
    .committer_kind = SINK_COMMITTER_PER_SUBTASK,
    .service = &cloudtasks_service,
    .options = cloudtasks_options,
    .option_count = CLOUDTASKS_OPTION_COUNT,
    .timings = staged_timings,
    .timing_count = ARRAY_COUNT(staged_timings),
    .phases = staged_phases,
    .phase_count = CLOUDTASKS_STAGED_PHASE_COUNT,
    .metrics = metrics,
    .metric_count = CLOUDTASKS_METRIC_COUNT,
    .writer = &cloudtasks_staged_writer_half,
    .committer_or_null = &cloudtasks_committer_half,
    .validate = validate_exactly_once,
};
