/* The model of Cloud Tasks: queues, named and unnamed tasks, tombstones of names, a handler. */
#ifndef MODELS_CLOUDTASKS_CLOUDTASKS_H
#define MODELS_CLOUDTASKS_CLOUDTASKS_H

#include "sim/model.h"

/* Reader classes: whose eyes a WORLD_VISIBLE entry is about. What the first class sees is told by
 * WORLD_CREATED. */
enum cloudtasks_reader {
    CLOUDTASKS_READER_TASK = 0,       /* the task exists */
    CLOUDTASKS_READER_HANDLER,        /* the handler was run with it */
    CLOUDTASKS_READER_HANDLER_LEDGER, /* a handler that knows what it did had its effect */
    CLOUDTASKS_READER_QUEUE_TARGET,   /* not the task's handler but the queue's target was run */
};

extern const struct model_type cloudtasks_model;

#endif
