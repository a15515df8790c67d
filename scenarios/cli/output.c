#include "scenarios/cli/output.h"

#include "reports/json.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum status cannot_write(const char *option, const char *path)
{
    complain("%s \"%s\": cannot be written; allowed: a file in a folder that exists", option, path);
    return STATUS_USAGE;
}

static enum status finish(struct file_writer *writer, bool complete)
{
    return file_writer_finish(writer, complete) == ERR_OK ? STATUS_OK
                                                          : cannot_write("--json", writer->path);
}

enum status output_check_of(const char *option, const char *path_or_null)
{
    struct file_writer writer;
    if (path_or_null == NULL) {
        return STATUS_OK;
    }
    file_writer_start(&writer, path_or_null);
    if (writer.stream == NULL) {
        return cannot_write(option, path_or_null);
    }
    file_writer_abandon(&writer);
    return STATUS_OK;
}

enum status output_check(const char *path_or_null)
{
    return output_check_of("--json", path_or_null);
}

enum status output_whole(const char *option,
                         const char *path_or_null,
                         const void *context,
                         bool write(const void *context, FILE *file))
{
    struct file_writer writer;
    if (path_or_null == NULL) {
        return STATUS_OK;
    }
    file_writer_start(&writer, path_or_null);
    const bool complete = writer.stream != NULL && write(context, writer.stream);
    return file_writer_finish(&writer, complete) == ERR_OK ? STATUS_OK
                                                           : cannot_write(option, path_or_null);
}

enum status output_added(const char *option,
                         const char *path_or_null,
                         const void *context,
                         bool write(const void *context, FILE *file))
{
    if (path_or_null == NULL) {
        return STATUS_OK;
    }
    FILE *file = fopen(path_or_null, "a");
    bool complete = file != NULL && write(context, file);
    complete = file != NULL && fclose(file) == 0 && complete;
    return complete ? STATUS_OK : cannot_write(option, path_or_null);
}

/* NO_COLOR: any value but the empty one (no-color.org). */
enum report_style output_style(void)
{
    const char *refused = getenv("NO_COLOR"); /* NOLINT(concurrency-mt-unsafe): one thread */
    const char *terminal = getenv("TERM");    /* NOLINT(concurrency-mt-unsafe): one thread */
    const bool can = terminal != NULL && terminal[0] != '\0' && strcmp(terminal, "dumb") != 0;
    const bool may = refused == NULL || refused[0] == '\0';
    return can && may && isatty(STDOUT_FILENO) == 1 ? REPORT_COLOUR : REPORT_PLAIN;
}

enum status output_runs(const char *path_or_null, const struct report_run *runs, size_t count)
{
    struct file_writer writer;
    if (path_or_null == NULL) {
        return STATUS_OK;
    }
    file_writer_start(&writer, path_or_null);
    return finish(&writer, writer.stream != NULL && report_json_runs(writer.stream, runs, count));
}

enum status
output_explored(const char *path_or_null, const struct report_explored *explored, size_t count)
{
    struct file_writer writer;
    if (path_or_null == NULL) {
        return STATUS_OK;
    }
    file_writer_start(&writer, path_or_null);
    return finish(&writer,
                  writer.stream != NULL && report_json_explored(writer.stream, explored, count));
}

enum status
output_mutants(const char *path_or_null, const struct report_mutant *mutants, size_t count)
{
    struct file_writer writer;
    if (path_or_null == NULL) {
        return STATUS_OK;
    }
    file_writer_start(&writer, path_or_null);
    return finish(&writer,
                  writer.stream != NULL && report_json_mutants(writer.stream, mutants, count));
}

enum status
output_entries(const char *path_or_null, const struct report_entry *entries, size_t count)
{
    struct file_writer writer;
    if (path_or_null == NULL) {
        return STATUS_OK;
    }
    file_writer_start(&writer, path_or_null);
    return finish(&writer,
                  writer.stream != NULL && report_json_entries(writer.stream, entries, count));
}

enum status output_explanation(const char *path_or_null,
                               const struct report_explanation *explanation)
{
    struct file_writer writer;
    if (path_or_null == NULL) {
        return STATUS_OK;
    }
    file_writer_start(&writer, path_or_null);
    return finish(&writer,
                  writer.stream != NULL && report_json_explanations(writer.stream, explanation, 1));
}

enum status
output_metrics(const char *path_or_null, const struct report_metric *metrics, size_t count)
{
    struct file_writer writer;
    if (path_or_null == NULL) {
        return STATUS_OK;
    }
    file_writer_start(&writer, path_or_null);
    return finish(&writer,
                  writer.stream != NULL && report_json_metrics(writer.stream, metrics, count));
}

enum status output_survey(const char *path_or_null, const struct report_survey *survey)
{
    struct file_writer writer;
    if (path_or_null == NULL) {
        return STATUS_OK;
    }
    file_writer_start(&writer, path_or_null);
    return finish(&writer, writer.stream != NULL && report_json_survey(writer.stream, survey));
}

enum status output_gate(const char *path_or_null, const struct report_gate *gate)
{
    struct file_writer writer;
    if (path_or_null == NULL) {
        return STATUS_OK;
    }
    file_writer_start(&writer, path_or_null);
    return finish(&writer, writer.stream != NULL && report_gate_json(writer.stream, gate));
}
