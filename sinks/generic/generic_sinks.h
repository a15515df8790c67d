/* The sink modes of the generic durable target. */
#ifndef SINKS_GENERIC_GENERIC_SINKS_H
#define SINKS_GENERIC_GENERIC_SINKS_H

#include "sinks/sink.h"

enum generic_option {
    GENERIC_OPTION_REQUEST_TIMEOUT,
    GENERIC_OPTION_RETRY_MAX_ATTEMPTS,
    GENERIC_OPTION_RETRY_MAX_BACKOFF,
    GENERIC_OPTION_MAX_IN_FLIGHT,
    GENERIC_OPTION_COUNT,
};

/* Stages a Put per record and sends it after its checkpoint. The store compares nothing, so a Put
 * that is sent again stands there twice: at least once, and nothing before its checkpoint. */
extern const struct sink_type generic_staged;

#endif
