#include "sinks/generic/generic_sinks.h"

#include "sinks/generic/staged.h"

static const struct sink_option options[GENERIC_OPTION_COUNT] = {
    [GENERIC_OPTION_REQUEST_TIMEOUT] = {.key = "request_timeout",
                                        .type = SINK_OPTION_DURATION,
                                        .fallback = SECONDS(10),
                                        .min = MS(1),
                                        .max = HOURS(1),
                                        .sentence = "deadline of one Put"},
    [GENERIC_OPTION_RETRY_MAX_ATTEMPTS] = {.key = "retry_max_attempts",
                                           .type = SINK_OPTION_COUNT,
                                           .fallback = 8,
                                           .min = 1,
                                           .max = 1000,
                                           .sentence =
                                               "times that a Put is sent before the job fails"},
    [GENERIC_OPTION_RETRY_MAX_BACKOFF] = {.key = "retry_max_backoff",
                                          .type = SINK_OPTION_DURATION,
                                          .fallback = MS(400),
                                          .min = MS(2),
                                          .max = HOURS(1),
                                          .sentence = "longest pause before a Put is sent again"},
    [GENERIC_OPTION_MAX_IN_FLIGHT] = {.key = "max_in_flight",
                                      .type = SINK_OPTION_COUNT,
                                      .fallback = 16,
                                      .min = 1,
                                      .max = 1000,
                                      .sentence = "Puts on their way at once"},
};

static enum err validate(const struct sink_option_value *values,
                         const struct sink_job *job,
                         struct byte_writer *message)
{
    (void)values; /* each lies in its range, and they do not depend on each other */
    if (job->checkpointing) {
        return ERR_OK;
    }
    byte_writer_text(message, "checkpointing: off; it must be on, or nothing is ever put");
    return ERR_INVALID;
}

const struct sink_type generic_staged = {
    .abi_version = SINK_ABI_VERSION,
    .type_size = sizeof(struct sink_type),
    .event_size = sizeof(struct sink_event),
    .effect_size = sizeof(struct sink_effect),
    .name = "generic-staged",
    .sentence = "Stages a Put per record and sends it after its checkpoint, at least once.",
    .kind = SINK_KIND_SINK,
    .guarantee = SINK_AT_LEAST_ONCE,
    .committer_kind = SINK_COMMITTER_PER_SUBTASK,
    .service = &generic_service,
    .options = options,
    .option_count = GENERIC_OPTION_COUNT,
    .writer = &generic_staged_writer_half,
    .committer_or_null = &generic_staged_committer_half,
    .validate = validate,
};
