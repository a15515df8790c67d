#include "scenarios/cli/plugin/plugin.h"

#include "scenarios/cli/plugin/plugin_tables.h"
#include "scenarios/timing/constraint.h"
#include "scenarios/wiring/catalogue.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_SIZE    4096
#define LOAD_SECONDS 10

/* One loading. */
struct loading {
    const char *path;
    char *message; /* of PLUGIN_MESSAGE_SIZE */
    struct plugin *plugin;
};

static enum err reject(const struct loading *loading, enum err err, const char *what)
{
    (void)snprintf(
        loading->message, PLUGIN_MESSAGE_SIZE, "--sink \"%.300s\": %s", loading->path, what);
    return err;
}

/* --- what it is -------------------------------------------------------------------------------- */

static enum err check_agreement(const struct loading *loading, const struct sink_type *type)
{
    /* A number that host and plugin must agree in. The first two stand first in every version. */
    const struct {
        const char *what;
        uint64_t plugin;
        uint64_t host;
    } agreements[] = {
        {"abi_version", type->abi_version, SINK_ABI_VERSION},
        {"type_size", type->type_size, sizeof(struct sink_type)},
        {"event_size", type->event_size, sizeof(struct sink_event)},
        {"effect_size", type->effect_size, sizeof(struct sink_effect)},
    };
    for (size_t i = 0; i < ARRAY_COUNT(agreements); i++) {
        if (agreements[i].plugin != agreements[i].host) {
            char what[160];
            (void)snprintf(what,
                           sizeof what,
                           "%s is %" PRIu64 "; allowed: %" PRIu64
                           " (build it against this version's sinks/sink.h)",
                           agreements[i].what,
                           agreements[i].plugin,
                           agreements[i].host);
            return reject(loading, ERR_VERSION, what);
        }
    }
    return ERR_OK;
}

static bool option_is_sound(const struct sink_option *option)
{
    return option->key != NULL && option->sentence != NULL && option->type > SINK_OPTION_NONE &&
           option->type <= SINK_OPTION_TEXT &&
           (option->type != SINK_OPTION_ENUM || option->names != NULL);
}

static bool half_is_sound(const struct sink_half *half)
{
    return half->state_size > 0 && half->init != NULL && half->step != NULL &&
           half->digest != NULL && half->fini != NULL;
}

/* What it lacks, or NULL. */
static const char *missing_part(const struct sink_type *type)
{
    if (type->name == NULL || type->name[0] == '\0') {
        return "name";
    }
    if (type->kind != SINK_KIND_SINK) {
        return "kind SINK_KIND_SINK";
    }
    if (type->service == NULL || type->service->name == NULL) {
        return "service";
    }
    for (uint32_t i = 0; i < type->further_service_count; i++) {
        if (i == SINK_FURTHER_SERVICES_MAX || type->further_services == NULL ||
            type->further_services[i] == NULL || type->further_services[i]->name == NULL) {
            return "further_services, or one of them: at most 2";
        }
    }
    if (type->writer == NULL || !half_is_sound(type->writer)) {
        return "writer, or a part of it";
    }
    if ((type->committer_kind != SINK_COMMITTER_NONE) != (type->committer_or_null != NULL)) {
        return "committer_or_null (or its committer_kind)";
    }
    if (type->committer_or_null != NULL && !half_is_sound(type->committer_or_null)) {
        return "committer_or_null in part";
    }
    if (type->option_count > 0 && type->options == NULL) {
        return "options";
    }
    for (uint32_t i = 0; i < type->option_count; i++) {
        if (!option_is_sound(&type->options[i])) {
            return "options in part: each has key, type, sentence, and an enum its names";
        }
    }
    if (type->timing_count > 0 && type->timings == NULL) {
        return "timings";
    }
    for (uint32_t i = 0; i < type->timing_count; i++) {
        if (timing_fault_of(&type->timings[i], type->option_count) != NULL) {
            return "timings in part: each has name, clause, sentence, and on both sides facts and "
                   "options that there are";
        }
    }
    return NULL;
}

static enum err check_parts(const struct loading *loading, const struct sink_type *type)
{
    const char *part = missing_part(type);
    char what[200];
    if (part == NULL) {
        return ERR_OK;
    }
    (void)snprintf(what, sizeof what, "the sink type %s lacks its %s", SINK_PLUGIN_SYMBOL, part);
    return reject(loading, ERR_INVALID, what);
}

static const struct port_service *service_by_name(const char *name)
{
    for (size_t i = 0; i < catalogue_model_count; i++) {
        if (strcmp(catalogue_models[i]->service->name, name) == 0) {
            return catalogue_models[i]->service;
        }
    }
    return NULL;
}

/* Find the host's tables of a service and see that the plugin's own mean the same. */
static enum err check_tables(const struct loading *loading,
                             const struct port_service *own,
                             const struct port_service **service)
{
    char what[200];
    struct byte_writer writer;
    *service = service_by_name(own->name);
    byte_writer_init(&writer, (uint8_t *)what, sizeof what - 1);
    if (*service == NULL) {
        byte_writer_text(&writer, "no model of its service ");
        byte_writer_text(&writer, own->name);
        byte_writer_text(&writer, "; allowed:");
        for (size_t i = 0; i < catalogue_model_count; i++) {
            byte_writer_text(&writer, " ");
            byte_writer_text(&writer, catalogue_models[i]->service->name);
        }
        what[byte_writer_view(&writer).size] = '\0';
        return reject(loading, ERR_INVALID, what);
    }
    const enum err err = plugin_tables_check(own, *service, &writer);
    what[byte_writer_view(&writer).size] = '\0';
    if (err != ERR_OK) {
        return reject(loading, err, what);
    }
    return ERR_OK;
}

/* --- loading ----------------------------------------------------------------------------------- */

static enum err load(const struct loading *loading)
{
    char place[PATH_SIZE];
    struct plugin *plugin = loading->plugin;
    /* A name without a slash would be looked up among the system's libraries. */
    (void)snprintf(
        place, sizeof place, "%s%s", strchr(loading->path, '/') == NULL ? "./" : "", loading->path);
    plugin->handle = dlopen(place, RTLD_NOW | RTLD_LOCAL);
    if (plugin->handle == NULL) {
        const char *why = dlerror(); /* NOLINT(concurrency-mt-unsafe): one thread */
        return reject(loading, ERR_NOT_FOUND, why != NULL ? why : "cannot be loaded");
    }
    const struct sink_type *type = dlsym(plugin->handle, SINK_PLUGIN_SYMBOL);
    if (type == NULL) {
        return reject(loading,
                      ERR_INVALID,
                      "has no symbol " SINK_PLUGIN_SYMBOL
                      "; a plugin exports its struct sink_type by it");
    }
    const struct port_service *service = NULL;
    enum err err = check_agreement(loading, type);
    err = err == ERR_OK ? check_parts(loading, type) : err;
    err = err == ERR_OK ? check_tables(loading, type->service, &service) : err;
    for (uint32_t i = 0; err == ERR_OK && i < type->further_service_count; i++) {
        err = check_tables(loading, type->further_services[i], &plugin->further_services[i]);
    }
    if (err == ERR_OK) {
        plugin->type = *type;
        plugin->type.service = service;
        plugin->type.further_services = plugin->further_services;
    }
    return err;
}

/* What the process that tries it out says. */
struct trial {
    uint8_t err; /* enum err */
    char message[PLUGIN_MESSAGE_SIZE];
};

NORETURN static void try_in_child(const struct loading *loading, int output)
{
    struct trial trial = {.err = ERR_OK};
    const struct loading own = {loading->path, trial.message, loading->plugin};
    (void)alarm(LOAD_SECONDS);
    trial.err = (uint8_t)load(&own);
    const bool told = write(output, &trial, sizeof trial) == (ssize_t)sizeof trial;
    _exit(told ? 0 : 1);
}

static enum err judge_trial(const struct loading *loading, const struct trial *trial, int status)
{
    char what[120];
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && trial != NULL) {
        (void)snprintf(loading->message, PLUGIN_MESSAGE_SIZE, "%s", trial->message);
        return (enum err)trial->err;
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        (void)snprintf(what, sizeof what, "loading it did not end within %d s", LOAD_SECONDS);
    } else if (WIFSIGNALED(status)) {
        (void)snprintf(what, sizeof what, "loading it died of signal %d", WTERMSIG(status));
    } else {
        (void)snprintf(what, sizeof what, "loading it ended the process");
    }
    return reject(loading, ERR_INVALID, what);
}

/* Load it in a process of its own first: constructors and wild pointers may crash or hang. */
static enum err try_loading(const struct loading *loading)
{
    int ends[2];
    int status = 0;
    struct trial trial;
    if (pipe(ends) != 0) {
        return reject(loading, ERR_SYSTEM, "no process to try it in");
    }
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)close(ends[0]);
        try_in_child(loading, ends[1]);
    }
    (void)close(ends[1]);
    const bool told = pid > 0 && read(ends[0], &trial, sizeof trial) == (ssize_t)sizeof trial;
    (void)close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (pid < 0) {
        return reject(loading, ERR_SYSTEM, "no process to try it in");
    }
    return judge_trial(loading, told ? &trial : NULL, status);
}

enum err plugin_load(struct plugin *plugin, const char *path, char message[PLUGIN_MESSAGE_SIZE])
{
    *plugin = (struct plugin){0};
    const struct loading loading = {path, message, plugin};
    enum err err = try_loading(&loading);
    if (err == ERR_OK) {
        err = load(&loading);
    }
    if (err != ERR_OK) {
        plugin_unload(plugin);
    }
    return err;
}

void plugin_unload(struct plugin *plugin)
{
    if (plugin->handle != NULL) {
        (void)dlclose(plugin->handle);
    }
    *plugin = (struct plugin){0};
}
