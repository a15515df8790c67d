/* Options of the Cloud Tasks sinks and what they must satisfy together. */
#ifndef SINKS_CLOUDTASKS_OPTIONS_H
#define SINKS_CLOUDTASKS_OPTIONS_H

#include "sinks/base/bytes.h"
#include "sinks/base/err.h"
#include "sinks/base/units.h"
#include "sinks/retry.h"
#include "sinks/sink.h"

#include <stdbool.h>
#include <stdint.h>

/* Index into the option table. */
enum cloudtasks_option {
#define CLOUDTASKS_OPTION(name, key, type, required, fallback, min, max, names, sentence)          \
    CLOUDTASKS_OPTION_##name,
#include "sinks/cloudtasks/options.def"
#undef CLOUDTASKS_OPTION
    CLOUDTASKS_OPTION_COUNT,
};

#define CLOUDTASKS_EAGER_OPTION_COUNT CLOUDTASKS_OPTION_NAME_RETENTION

/* Values of expired_envelope_policy. */
enum cloudtasks_expiry {
    CLOUDTASKS_EXPIRY_FAIL = 0,
    CLOUDTASKS_EXPIRY_ASSUME_COMMITTED,
    CLOUDTASKS_EXPIRY_DROP,
    CLOUDTASKS_EXPIRY_CREATE_ANYWAY,
    CLOUDTASKS_EXPIRY_COUNT,
};

extern const struct sink_option cloudtasks_options[CLOUDTASKS_OPTION_COUNT];

/* Option values by their meaning. */
struct cloudtasks_config {
    struct bytes queue;
    uint32_t in_flight_max;
    struct retry_schedule retry;
    struct retry_schedule not_found;
    nanos request_timeout;
    /* Of the exactly-once sink. */
    uint64_t name_retention_ms; /* rounded down */
    uint64_t window_ms;         /* name retention - skew - request timeout, rounded down */
    uint32_t staged_count_max;
    uint64_t staged_bytes_max;
    bool verify_queue_retention;
    uint8_t expiry; /* enum cloudtasks_expiry */
};

/* True for projects/P/locations/L/queues/Q with letters, digits, '-', '_', '.' and ':' between. */
bool cloudtasks_queue_is_valid(struct bytes queue);

/* Check the first count options: each within its bounds, and together. ERR_OK, or ERR_INVALID and one
 * line in message. */
MUST_USE enum err cloudtasks_options_check(const struct sink_option_value *options,
                                           uint32_t count,
                                           struct byte_writer *message);

/* Read the first count options, which passed the check; the queue is borrowed. */
struct cloudtasks_config cloudtasks_config_of(const struct sink_option_value *options,
                                              uint32_t count);

#endif
