/* The vocabulary of Cloud Tasks. sinks/port/cloudtasks.def says which fields each struct has and
 * which methods there are: struct cloudtasks_task with cloudtasks_task_message, method
 * cloudtasks_create_task_method, and so on. */
#ifndef SINKS_PORT_CLOUDTASKS_H
#define SINKS_PORT_CLOUDTASKS_H

#include "sinks/port/port.h"

#include <stdbool.h>
#include <stdint.h>

enum cloudtasks_http_method {
    CLOUDTASKS_HTTP_METHOD_NONE = 0,
    CLOUDTASKS_POST = 1,
    CLOUDTASKS_GET = 2,
    CLOUDTASKS_HEAD = 3,
    CLOUDTASKS_PUT = 4,
    CLOUDTASKS_DELETE = 5,
    CLOUDTASKS_PATCH = 6,
    CLOUDTASKS_OPTIONS = 7,
};

enum cloudtasks_queue_state {
    CLOUDTASKS_QUEUE_STATE_NONE = 0,
    CLOUDTASKS_QUEUE_RUNNING = 1,
    CLOUDTASKS_QUEUE_PAUSED = 2,
    CLOUDTASKS_QUEUE_DISABLED = 3,
};

/* How much of a task an answer carries. */
enum cloudtasks_view {
    CLOUDTASKS_VIEW_NONE = 0, /* as BASIC */
    CLOUDTASKS_VIEW_BASIC = 1,
    CLOUDTASKS_VIEW_FULL = 2,
};

/* The order matters. */
/* clang-format off */
#include "sinks/port/as_structs.def"
#include "sinks/port/cloudtasks.def"
#include "sinks/port/as_end.def"
/* clang-format on */

extern const struct port_service cloudtasks_service;

#endif
