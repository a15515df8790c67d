/* Whether the tables of a service that a plugin brings mean the same as the host's: then a request
 * made by one can be read by the other. */
#ifndef SCENARIOS_CLI_PLUGIN_PLUGIN_TABLES_H
#define SCENARIOS_CLI_PLUGIN_PLUGIN_TABLES_H

#include "sinks/base/bytes.h"
#include "sinks/base/err.h"
#include "sinks/port/port.h"

/* Compare by names. The plugin may lack methods. ERR_OK, or ERR_VERSION with a note of what was seen
 * and what is allowed; or ERR_INVALID when a part is missing. */
MUST_USE enum err plugin_tables_check(const struct port_service *plugin,
                                      const struct port_service *host,
                                      struct byte_writer *message);

#endif
