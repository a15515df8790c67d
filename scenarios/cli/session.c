#include "scenarios/cli/session.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/policy.h"
#include "scenarios/cli/sweep/summary.h"
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
    return policy_prepare(options, *scenario);
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

/* Bytes of a file that an option names. */
static enum status
read_named(struct session *session, const char *option, const char *path, struct bytes *content)
{
    const enum err error = file_read(&session->texts, path, content);
    if (error != ERR_OK) {
        complain("%s\"%s\": %s; allowed: a file below 64 MiB", option, path, err_name(error));
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

/* Keep what was read into entries that are the caller's. */
static void keep(struct session *session, const struct tape *read, struct tape *tape)
{
    *tape = *read;
    tape->capacity = read->count;
    tape->entries = text_memory(&session->texts, (size_t)read->count + 1, sizeof *tape->entries);
    memcpy(tape->entries, read->entries, read->count * sizeof *tape->entries);
}

/* option: as the user wrote it before the path, for messages. */
static enum status read_tape(struct session *session,
                             const char *option,
                             const char *path,
                             struct tape *tape,
                             struct tape_header *header)
{
    struct bytes text = {0};
    struct tape_fault fault;
    enum status status = read_named(session, option, path, &text);
    if (status != STATUS_OK) {
        return status;
    }
    struct tape_entry *entries = memory_take(TAPE_ENTRIES_MAX * sizeof *entries);
    struct tape read = {.entries = entries, .capacity = TAPE_ENTRIES_MAX};
    if (tape_read_text(text, catalogue_registry(), &read, header, &fault) == ERR_OK) {
        keep(session, &read, tape);
    } else {
        complain("%s:%u: %s", path, (unsigned)fault.line, fault.message);
        status = STATUS_USAGE;
    }
    free(entries);
    return status;
}

enum status session_tape_headed(struct session *session,
                                const char *path,
                                struct tape *tape,
                                struct tape_header *header)
{
    return read_tape(session, "", path, tape, header);
}

enum status session_tape(struct session *session, const char *path, struct tape *tape)
{
    struct tape_header header;
    return read_tape(session, "--tape ", path, tape, &header);
}

enum status session_fuzz_input(struct session *session, const char *path, struct tape *tape)
{
    struct bytes content = {0};
    const enum status status = read_named(session, "--fuzz ", path, &content);
    if (status != STATUS_OK) {
        return status;
    }
    struct tape_entry *entries = memory_take(TAPE_ENTRIES_MAX * sizeof *entries);
    struct tape read = {.entries = entries, .capacity = TAPE_ENTRIES_MAX};
    tape_read_fuzz(content, catalogue_registry(), &read);
    keep(session, &read, tape);
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

const char *session_policy(struct session *session)
{
    const struct options *options = session->options;
    if (options->policy == POLICY_SEEDS) {
        return "";
    }
    return text_format(&session->texts,
                       option_is_given(options, OPTION_BIT(DEPTH)) ? " --policy %s --depth %u"
                                                                   : " --policy %s",
                       policy_name(options->policy),
                       (unsigned)options->depth);
}
