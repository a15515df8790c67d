#include "scenarios/cli/scenario_names.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/session.h"

#include <string.h>

#define ENDING ".json"

/* Folders below scenarios/ that hold no scenarios. */
static bool is_other_folder(const char *name)
{
    static const char *const others[] = {
        "bench", "claims", "cli", "corpus", "fuzz", "gate", "mutants", "new_sink", "wiring"};
    for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
        if (strcmp(name, others[i]) == 0) {
            return true;
        }
    }
    return strchr(name, '.') != NULL;
}

/* The scenarios of a folder behind those that are there; the whole list. */
static const char **add_folder(
    struct text_pool *texts, const char *root, const char *folder, const char **list, size_t *count)
{
    const char *const *files = NULL;
    const size_t file_count =
        folder_names(texts, text_format(texts, "%s/%s", root, folder), &files);
    const char **all = text_memory(texts, *count + file_count + 1, sizeof *all);
    if (*count > 0) {
        memcpy(all, list, *count * sizeof *all);
    }
    for (size_t i = 0; i < file_count; i++) {
        const size_t size = strlen(files[i]);
        if (size > strlen(ENDING) && strcmp(files[i] + size - strlen(ENDING), ENDING) == 0) {
            all[(*count)++] =
                text_format(texts, "%s/%.*s", folder, (int)(size - strlen(ENDING)), files[i]);
        }
    }
    return all;
}

enum status scenario_names(struct text_pool *texts, const char *const **names, size_t *count)
{
    const char *const *folders = NULL;
    const char **list = NULL;
    const char *root = scenarios_folder(texts);
    *count = 0;
    if (root == NULL) {
        complain("no folder scenarios beside the binary or above the current directory");
        return STATUS_USAGE;
    }
    const size_t folder_count = folder_names(texts, root, &folders);
    for (size_t i = 0; i < folder_count; i++) {
        if (!is_other_folder(folders[i])) {
            list = add_folder(texts, root, folders[i], list, count);
        }
    }
    *names = list;
    return STATUS_OK;
}
