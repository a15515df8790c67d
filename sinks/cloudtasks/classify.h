/* What the answer to a CreateTask means (sections 2.2, 3.3, 4.5 and 9 of the protocol).
 *
 *   chain of causes                              verdict, in this order
 *   outcome OK                                   CREATED
 *   first is ALREADY_EXISTS, task is named       DUPLICATE: the task exists; neither compared nor updated
 *   a transient code anywhere                    TRANSIENT
 *   first is INVALID_ARGUMENT                    REJECTED: the data is wrong
 *   first is NOT_FOUND                           NOT_FOUND
 *   anything else, or no code at all             FATAL
 */
#ifndef SINKS_CLOUDTASKS_CLASSIFY_H
#define SINKS_CLOUDTASKS_CLASSIFY_H

#include "sinks/port/port.h"

#include <stdbool.h>

enum cloudtasks_verdict {
    CLOUDTASKS_VERDICT_NONE = 0,
    CLOUDTASKS_CREATED,
    CLOUDTASKS_DUPLICATE,
    CLOUDTASKS_TRANSIENT,
    CLOUDTASKS_REJECTED,
    CLOUDTASKS_NOT_FOUND,
    CLOUDTASKS_FATAL,
};

enum cloudtasks_verdict
cloudtasks_classify(enum port_outcome outcome, const struct port_status *status, bool named);

#endif
