#include "scenarios/cli/session.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/summary.h"
#include "scenarios/wiring/catalogue.h"
#include "sim/tape.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAPE_ENTRIES_MAX 65536u

void complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fputs("sinkproof: ", stderr);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
}

static enum status check_oracle(const char *option, const char *name_or_null, const char *beside)
{
    uint8_t oracle = 0;
    if (name_or_null == NULL || strcmp(name_or_null, beside) == 0 ||
        summary_oracle_parse(name_or_null, &oracle) == ERR_OK) {
        return STATUS_OK;
    }
    complain("%s \"%s\": no such oracle; allowed: those of sinkproof list oracles",
             option,
             name_or_null);
    return STATUS_USAGE;
}

enum status session_open(struct session *session, const struct options *options)
{
    char message[PLUGIN_MESSAGE_SIZE];
    *session = (struct session){.options = options};
    enum status status = check_oracle("--without-oracle", options->without_oracle, "");
    if (status == STATUS_OK) {
        status = check_oracle("--stop-at", options->stop_at, "any");
    }
    if (status == STATUS_OK) {
        status = check_oracle("--oracle", options->oracle, "");
    }
    if (status == STATUS_OK && options->sink != NULL &&
        plugin_load(&session->plugin, options->sink, message) != ERR_OK) {
        complain("%s", message);
        status = STATUS_USAGE;
    }
    return status;
}

void session_close(struct session *session)
{
    plugin_unload(&session->plugin);
    text_pool_fini(&session->texts);
}

const struct sink_type *session_sink(const struct session *session)
{
    return session->plugin.handle != NULL ? &session->plugin.type : NULL;
}

static void switch_off(struct run_config *config, const char *oracle)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < config->oracle_count; i++) {
        if (strcmp(config->oracles[i]->name, oracle) != 0) {
            config->oracles[kept++] = config->oracles[i];
        }
    }
    config->oracle_count = kept;
}

static enum status
load(struct session *session, const struct scenario_options *wanted, struct scenario **scenario)
{
    const struct options *options = session->options;
    struct scenario_fault fault = {{0}};
    const enum err error = scenario_load(wanted->name, wanted, scenario, &fault);
    if (error != ERR_OK) {
        complain("%s", fault.message[0] != '\0' ? fault.message : err_name(error));
        return STATUS_USAGE;
    }
    if (options->without_oracle != NULL) {
        switch_off(&(*scenario)->config, options->without_oracle);
    }
    return STATUS_OK;
}

enum status session_scenario(struct session *session, const char *name, struct scenario **scenario)
{
    const struct scenario_options wanted = {
        .name = name,
        .sink_or_null = session_sink(session),
        .profile = session->options->profile,
        .profile_given = option_is_given(session->options, OPTION_BIT(PROFILE)),
    };
    return load(session, &wanted, scenario);
}

enum status session_scenario_under(struct session *session,
                                   const char *name,
                                   enum profile profile,
                                   struct scenario **scenario)
{
    const struct scenario_options wanted = {
        .name = name,
        .sink_or_null = session_sink(session),
        .profile = profile,
        .profile_given = true,
    };
    return load(session, &wanted, scenario);
}

enum status session_tape(struct session *session, const char *path, struct tape *tape)
{
    struct bytes text = {0};
    struct tape_header header;
    struct tape_fault fault;
    const enum err error = file_read(&session->texts, path, &text);
    if (error != ERR_OK) {
        complain("--tape \"%s\": %s; allowed: a tape file below 64 MiB", path, err_name(error));
        return STATUS_USAGE;
    }
    struct tape_entry *entries = memory_take(TAPE_ENTRIES_MAX * sizeof *entries);
    struct tape read = {.entries = entries, .capacity = TAPE_ENTRIES_MAX};
    const enum err bad = tape_read_text(text, catalogue_registry(), &read, &header, &fault);
    if (bad != ERR_OK) {
        complain("%s:%u: %s", path, (unsigned)fault.line, fault.message);
        free(entries);
        return STATUS_USAGE;
    }
    *tape = read;
    tape->capacity = read.count;
    tape->entries = text_memory(&session->texts, (size_t)read.count + 1, sizeof *entries);
    memcpy(tape->entries, entries, read.count * sizeof *entries);
    free(entries);
    return STATUS_OK;
}

const char *session_selection(struct session *session)
{
    const struct options *options = session->options;
    const bool profile = option_is_given(options, OPTION_BIT(PROFILE));
    return text_format(&session->texts,
                       "%s%s%s%s",
                       profile ? " --profile " : "",
                       profile ? profile_name(options->profile) : "",
                       options->sink != NULL ? " --sink " : "",
                       options->sink != NULL ? text_shell_word(&session->texts, options->sink)
                                             : "");
}
