/* Indices of the phases and metrics of the Cloud Tasks sinks. */
#ifndef SINKS_CLOUDTASKS_TAPS_H
#define SINKS_CLOUDTASKS_TAPS_H

#include "sinks/port/port.h"

#include <stdint.h>

enum cloudtasks_eager_phase {
#define CLOUDTASKS_EAGER_PHASE(name, text) CLOUDTASKS_EAGER_##name,
#include "sinks/cloudtasks/taps.def"
#undef CLOUDTASKS_EAGER_PHASE
    CLOUDTASKS_EAGER_PHASE_COUNT,
};

enum cloudtasks_staged_phase {
#define CLOUDTASKS_STAGED_PHASE(name, text) CLOUDTASKS_STAGED_##name,
#include "sinks/cloudtasks/taps.def"
#undef CLOUDTASKS_STAGED_PHASE
    CLOUDTASKS_STAGED_PHASE_COUNT,
};

enum cloudtasks_metric {
#define CLOUDTASKS_METRIC(name, text) CLOUDTASKS_METRIC_##name,
#include "sinks/cloudtasks/taps.def"
#undef CLOUDTASKS_METRIC
    CLOUDTASKS_METRIC_COUNT,
};

#define CLOUDTASKS_EAGER_METRIC_COUNT CLOUDTASKS_METRIC_EXPIRED_ASSUMED_COMMITTED

/* The metric that counts failed attempts with a code; PORT_CODE_NONE has one too. */
static inline uint16_t cloudtasks_error_metric(uint16_t code)
{
    return (uint16_t)(CLOUDTASKS_METRIC_ERRORS_NONE + (code < PORT_CODE_COUNT ? code : 0));
}

#endif
