/* The three sink modes of Cloud Tasks. */
#ifndef SINKS_CLOUDTASKS_CLOUDTASKS_SINKS_H
#define SINKS_CLOUDTASKS_CLOUDTASKS_SINKS_H

#include "sinks/sink.h"

/* "cloudtasks-at-least-once": the service names the tasks. */
extern const struct sink_type cloudtasks_at_least_once_unnamed;

/* "cloudtasks-at-least-once-named": the id extractor names the tasks. */
extern const struct sink_type cloudtasks_at_least_once_named;

/* "cloudtasks-exactly-once": tasks are staged, and created after their checkpoint. */
extern const struct sink_type cloudtasks_exactly_once;

#endif
