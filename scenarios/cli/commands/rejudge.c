/* rejudge: every kept tape again, after a change of the oracles or of anything else. */
#include "reports/text.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/sweep/entry.h"

#include <string.h>

/* The files that are named, or all of scenarios/regress. */
static size_t choose_files(struct session *session, const char *const **files)
{
    const struct options *options = session->options;
    struct text_pool *texts = &session->texts;
    const char *scenarios = scenarios_folder(texts);
    const char *const *names = NULL;
    if (options->argument_count > 0 || scenarios == NULL) {
        *files = options->arguments;
        return options->argument_count;
    }
    const char *folder = text_format(texts, "%s/regress", scenarios);
    const size_t name_count = folder_names(texts, folder, &names);
    const char **chosen = text_memory(texts, name_count + 1, sizeof *chosen);
    size_t count = 0;
    for (size_t i = 0; i < name_count; i++) {
        const size_t size = strlen(names[i]);
        if (size > 5 && strcmp(names[i] + size - 5, ".tape") == 0) {
            chosen[count++] = text_format(texts, "%s/%s", folder, names[i]);
        }
    }
    *files = chosen;
    return count;
}

/* Judge one file; *done tells whether there is a record. */
static enum status
rejudge(struct session *session, const char *file, struct report_entry *record, bool *done)
{
    const struct options *options = session->options;
    struct entry *entry = text_memory(&session->texts, 1, sizeof *entry);
    struct scenario *scenario = NULL;
    enum status status = entry_read(session, file, entry);
    if (status == STATUS_OK) {
        status = entry_scenario(session, entry, &scenario);
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = entry_judge(session, entry, scenario, record);
    scenario_destroy(scenario);
    if (status != STATUS_OK) {
        return status;
    }
    *done = true;
    if (option_is_given(options, OPTION_BIT(UPDATE)) && record->tape[0] != '\0') {
        record->command = "";
        report_text_entry(stdout, record);
        (void)printf("  written over\n");
        return entry_update(session, entry, record);
    }
    if (record->state != REPORT_ENTRY_SAME) {
        report_text_entry(stdout, record);
    }
    return entry_status(options, record);
}

enum status command_rejudge(const struct options *options)
{
    struct session session;
    const char *const *files = NULL;
    enum status status = session_open(&session, options);
    if (status == STATUS_OK) {
        status = output_check(options->json);
    }
    if (status == STATUS_OK) {
        const size_t count = choose_files(&session, &files);
        struct report_entry *records = text_memory(&session.texts, count + 1, sizeof *records);
        size_t record_count = 0;
        for (size_t i = 0; i < count; i++) {
            bool done = false;
            const enum status one = rejudge(&session, files[i], &records[record_count], &done);
            status = status_worse(status, one);
            record_count += done ? 1 : 0;
        }
        report_text_entries(stdout, records, record_count);
        status = status_worse(status, output_entries(options->json, records, record_count));
    }
    session_close(&session);
    return status;
}
