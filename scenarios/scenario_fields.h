/* The documentation of scenario files, made from fields.def. */
#ifndef SCENARIOS_SCENARIO_FIELDS_H
#define SCENARIOS_SCENARIO_FIELDS_H

#include "sinks/base/bytes.h"

/* Write a Markdown table of all fields: path, what is allowed, default, sentence. Durations are
 * shown with _ms; _ns is allowed as well. */
void scenario_fields_document(struct byte_writer *writer);

#endif
