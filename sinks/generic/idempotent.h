/* "generic-idempotent": records are appended to a keyed store in batches, each under an id that a
 * replay gives it again. */
#ifndef SINKS_GENERIC_IDEMPOTENT_H
#define SINKS_GENERIC_IDEMPOTENT_H

#include "sinks/retry.h"
#include "sinks/sink.h"

#include <stdbool.h>
#include <stdint.h>

enum idempotent_option {
#define IDEMPOTENT_OPTION(name, key, type, fallback, min, max, sentence) IDEMPOTENT_OPTION_##name,
#include "sinks/generic/idempotent_options.def"
#undef IDEMPOTENT_OPTION
    IDEMPOTENT_OPTION_COUNT,
};

enum idempotent_phase {
#define IDEMPOTENT_PHASE(name, text) IDEMPOTENT_PHASE_##name,
#include "sinks/generic/idempotent_taps.def"
#undef IDEMPOTENT_PHASE
    IDEMPOTENT_PHASE_COUNT,
};

enum idempotent_metric {
#define IDEMPOTENT_METRIC(name, text) IDEMPOTENT_METRIC_##name,
#include "sinks/generic/idempotent_taps.def"
#undef IDEMPOTENT_METRIC
    IDEMPOTENT_METRIC_COUNT,
};

/* Option values by their meaning. */
struct idempotent_config {
    uint32_t batch_max;
    uint32_t buffered_max;
    nanos linger;
    struct retry_schedule retry;
    nanos request_timeout;
    bool distinct_keys;
    bool buffer_in_state;
};

/* Check the options and read them. ERR_OK, or ERR_INVALID and one line in message. */
MUST_USE enum err idempotent_configure(const struct sink_option_value *options,
                                       struct idempotent_config *config,
                                       struct byte_writer *message);

extern const struct sink_half idempotent_writer_half;
extern const struct sink_type generic_idempotent;

#endif
