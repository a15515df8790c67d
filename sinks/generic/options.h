/* What the generic sinks check of their options, by the table that describes them. */
#ifndef SINKS_GENERIC_OPTIONS_H
#define SINKS_GENERIC_OPTIONS_H

#include "sinks/base/bytes.h"
#include "sinks/base/err.h"
#include "sinks/retry.h"
#include "sinks/sink.h"

#include <stdint.h>

/* Options and their values, side by side. */
struct generic_options {
    const struct sink_option *table;
    const struct sink_option_value *values;
    uint32_t count;
};

/* Each option within its bounds; a text neither empty nor longer than its maximum. ERR_OK, or
 * ERR_INVALID and one line in message. */
MUST_USE enum err generic_options_check(const struct generic_options *options,
                                        struct byte_writer *message);

/* The schedule whose first of three options, initial, maximum and attempts, stands at this index: the
 * maximum is at least the initial pause. ERR_OK, or ERR_INVALID and one line in message. */
MUST_USE enum err generic_schedule_check(const struct generic_options *options,
                                         uint32_t first,
                                         struct byte_writer *message);
struct retry_schedule generic_schedule_at(const struct generic_options *options, uint32_t first);

#endif
