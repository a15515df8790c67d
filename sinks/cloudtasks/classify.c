#include "sinks/cloudtasks/classify.h"

#include "sinks/retry.h"

enum cloudtasks_verdict
cloudtasks_classify(enum port_outcome outcome, const struct port_status *status, bool named)
{
    if (outcome == PORT_OUTCOME_OK) {
        return CLOUDTASKS_CREATED;
    }
    const uint16_t first = port_status_first(status);
    if (first == PORT_ALREADY_EXISTS && named) {
        return CLOUDTASKS_DUPLICATE;
    }
    if (port_status_any(status, RETRY_TRANSIENT_CODES)) {
        return CLOUDTASKS_TRANSIENT;
    }
    if (first == PORT_INVALID_ARGUMENT) {
        return CLOUDTASKS_REJECTED;
    }
    return first == PORT_NOT_FOUND ? CLOUDTASKS_NOT_FOUND : CLOUDTASKS_FATAL;
}
