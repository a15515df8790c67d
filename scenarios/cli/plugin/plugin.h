/* A sink brought by a user, as a shared object.
 *
 * It shares no symbol with the host: it is built from the installed folder sinks/ with its symbols
 * hidden but for one, and brings its own copy of what it uses of that folder, the tables of its
 * service among it. So these tables are compared with the host's as it is loaded; from then on
 * services and methods are known by their names. */
#ifndef SCENARIOS_CLI_PLUGIN_PLUGIN_H
#define SCENARIOS_CLI_PLUGIN_PLUGIN_H

#include "sinks/base/err.h"
#include "sinks/sink.h"

#define PLUGIN_MESSAGE_SIZE 800

struct plugin {
    void *handle;
    struct sink_type type; /* read: the plugin's, but with the host's tables of its services */
    const struct port_service *further_services[SINK_FURTHER_SERVICES_MAX]; /* the type's */
};

/* Load it and check that it was built against this sink.h. ERR_OK; ERR_NOT_FOUND (no such file, or
 * not a shared object that can be loaded), ERR_INVALID (no symbol SINK_PLUGIN_SYMBOL, parts missing
 * or wrong, or it crashes or hangs when it is loaded), ERR_VERSION (another ABI version, other
 * sizes, other tables): message is one line that says so. ERR_SYSTEM: no process to try it in. */
MUST_USE enum err
plugin_load(struct plugin *plugin, const char *path, char message[PLUGIN_MESSAGE_SIZE]);

/* Unload; a plugin that is all zero has nothing to unload. */
void plugin_unload(struct plugin *plugin);

#endif
