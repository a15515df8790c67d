/* A sink brought by a user, as a shared object. */
#ifndef SCENARIOS_CLI_PLUGIN_H
#define SCENARIOS_CLI_PLUGIN_H

#include "sinks/base/err.h"
#include "sinks/sink.h"

#define PLUGIN_MESSAGE_SIZE 400

struct plugin {
    void *handle;
    const struct sink_type *type; /* read */
};

/* Load it and check that it was built against this sink.h. ERR_OK; ERR_NOT_FOUND (no such file, or
 * not a shared object that can be loaded), ERR_INVALID (no symbol SINK_PLUGIN_SYMBOL, or parts
 * missing), ERR_VERSION (another ABI version or other sizes): message is one line that says so. */
MUST_USE enum err
plugin_load(struct plugin *plugin, const char *path, char message[PLUGIN_MESSAGE_SIZE]);

/* Unload; a plugin that is all zero has nothing to unload. */
void plugin_unload(struct plugin *plugin);

#endif
