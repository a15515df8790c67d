/* "generic-transactional": rows are staged in units of a table, and become visible by the commit of
 * their checkpoint, those of all subtasks at once. */
#ifndef SINKS_GENERIC_TRANSACTIONAL_H
#define SINKS_GENERIC_TRANSACTIONAL_H

#include "sinks/retry.h"
#include "sinks/sink.h"

#include <stdint.h>

enum transactional_option {
#define TRANSACTIONAL_OPTION(name, key, type, fallback, text, min, max, sentence)                  \
    TRANSACTIONAL_OPTION_##name,
#include "sinks/generic/transactional_options.def"
#undef TRANSACTIONAL_OPTION
    TRANSACTIONAL_OPTION_COUNT,
};

enum transactional_phase {
#define TRANSACTIONAL_PHASE(name, text) TRANSACTIONAL_PHASE_##name,
#include "sinks/generic/transactional_taps.def"
#undef TRANSACTIONAL_PHASE
    TRANSACTIONAL_PHASE_COUNT,
};

enum transactional_metric {
#define TRANSACTIONAL_METRIC(name, text) TRANSACTIONAL_METRIC_##name,
#include "sinks/generic/transactional_taps.def"
#undef TRANSACTIONAL_METRIC
    TRANSACTIONAL_METRIC_COUNT,
};

/* Option values by their meaning; the text is borrowed. */
struct transactional_config {
    struct bytes application;
    uint32_t batch_rows_max;
    uint32_t buffered_rows_max;
    struct retry_schedule retry;
    nanos request_timeout;
};

/* Check the options and read them. ERR_OK, or ERR_INVALID and one line in message. */
MUST_USE enum err transactional_configure(const struct sink_option_value *options,
                                          struct transactional_config *config,
                                          struct byte_writer *message);

extern const struct sink_half transactional_writer_half;
extern const struct sink_half transactional_committer_half;
extern const struct sink_type generic_transactional;

#endif
