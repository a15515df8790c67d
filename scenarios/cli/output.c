#include "scenarios/cli/output.h"

#include "reports/json.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/session.h"

#include <stdio.h>

static enum status finish(struct file_writer *writer, bool complete)
{
    if (file_writer_finish(writer, complete) == ERR_OK) {
        return STATUS_OK;
    }
    complain("--json \"%s\": cannot be written; allowed: a file in a folder that exists",
             writer->path);
    return STATUS_USAGE;
}

enum status output_check(const char *path_or_null)
{
    struct file_writer writer;
    if (path_or_null == NULL) {
        return STATUS_OK;
    }
    file_writer_start(&writer, path_or_null);
    if (writer.stream == NULL) {
        return finish(&writer, false);
    }
    file_writer_abandon(&writer);
    return STATUS_OK;
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

enum status output_claims(const char *path_or_null, const struct report_claim *claims, size_t count)
{
    struct file_writer writer;
    if (path_or_null == NULL) {
        return STATUS_OK;
    }
    file_writer_start(&writer, path_or_null);
    return finish(&writer,
                  writer.stream != NULL && report_json_claims(writer.stream, claims, count));
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
