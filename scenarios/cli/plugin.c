#include "scenarios/cli/plugin.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PATH_SIZE 4096

/* A number that host and plugin must agree in. */
struct agreement {
    const char *what;
    uint64_t plugin;
    uint64_t host;
};

static enum err
check_agreement(const char *path, const struct sink_type *type, char message[PLUGIN_MESSAGE_SIZE])
{
    const struct agreement agreements[] = {
        {"abi_version", type->abi_version, SINK_ABI_VERSION},
        {"type_size", type->type_size, sizeof(struct sink_type)},
        {"event_size", type->event_size, sizeof(struct sink_event)},
        {"effect_size", type->effect_size, sizeof(struct sink_effect)},
    };
    for (size_t i = 0; i < ARRAY_COUNT(agreements); i++) {
        if (agreements[i].plugin != agreements[i].host) {
            (void)snprintf(message,
                           PLUGIN_MESSAGE_SIZE,
                           "--sink \"%s\": %s is %" PRIu64 "; allowed: %" PRIu64
                           " (build it against this version's sinks/sink.h)",
                           path,
                           agreements[i].what,
                           agreements[i].plugin,
                           agreements[i].host);
            return ERR_VERSION;
        }
    }
    return ERR_OK;
}

static enum err
check_parts(const char *path, const struct sink_type *type, char message[PLUGIN_MESSAGE_SIZE])
{
    const char *missing = NULL;
    if (type->name == NULL || type->name[0] == '\0') {
        missing = "name";
    } else if (type->service == NULL) {
        missing = "service";
    } else if (type->writer == NULL) {
        missing = "writer";
    } else if ((type->committer_kind != SINK_COMMITTER_NONE) != (type->committer_or_null != NULL)) {
        missing = "committer_or_null (or its committer_kind)";
    } else if (type->option_count > 0 && type->options == NULL) {
        missing = "options";
    }
    if (missing == NULL) {
        return ERR_OK;
    }
    (void)snprintf(message,
                   PLUGIN_MESSAGE_SIZE,
                   "--sink \"%s\": the sink type %s lacks its %s",
                   path,
                   SINK_PLUGIN_SYMBOL,
                   missing);
    return ERR_INVALID;
}

enum err plugin_load(struct plugin *plugin, const char *path, char message[PLUGIN_MESSAGE_SIZE])
{
    char place[PATH_SIZE];
    *plugin = (struct plugin){0};
    /* A name without a slash would be looked up among the system's libraries. */
    (void)snprintf(place, sizeof place, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
    void *handle = dlopen(place, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *why = dlerror(); /* NOLINT(concurrency-mt-unsafe): one thread */
        (void)snprintf(
            message, PLUGIN_MESSAGE_SIZE, "--sink \"%s\": %s", path, why ? why : "cannot load");
        return ERR_NOT_FOUND;
    }
    const struct sink_type *type = dlsym(handle, SINK_PLUGIN_SYMBOL);
    enum err error = ERR_OK;
    if (type == NULL) {
        (void)snprintf(
            message,
            PLUGIN_MESSAGE_SIZE,
            "--sink \"%s\": has no symbol %s; a plugin exports its struct sink_type by it",
            path,
            SINK_PLUGIN_SYMBOL);
        error = ERR_INVALID;
    }
    error = error == ERR_OK ? check_agreement(path, type, message) : error;
    error = error == ERR_OK ? check_parts(path, type, message) : error;
    if (error != ERR_OK) {
        (void)dlclose(handle);
        return error;
    }
    *plugin = (struct plugin){.handle = handle, .type = type};
    return ERR_OK;
}

void plugin_unload(struct plugin *plugin)
{
    if (plugin->handle != NULL) {
        (void)dlclose(plugin->handle);
    }
    *plugin = (struct plugin){0};
}
