/* new-sink: a small, complete sink to start from, built outside the tree. Its files are those of the
 * folder new_sink with their placeholders filled in. */
#include "scenarios/cli/command.h"
#include "scenarios/cli/files.h"
#include "scenarios/cli/session.h"

#include <stdio.h>
#include <string.h>

#define NAME_SIZE_MAX 40
#define ENDING        ".in"

/* What stands in a template for the words of one new sink. */
struct placeholder {
    const char *mark;
    const char *word;
};

struct new_sink {
    struct text_pool *texts;
    const char *folder;
    const char *templates; /* the folder that they lie in */
    const char *name;
    const char *library;
};

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool name_is_valid(const char *name)
{
    const size_t size = strlen(name);
    for (size_t i = 0; i < size; i++) {
        if (!is_letter(name[i]) &&
            (i == 0 || ((name[i] < '0' || name[i] > '9') && name[i] != '-'))) {
            return false;
        }
    }
    return size > 0 && size <= NAME_SIZE_MAX;
}

/* The last part of a path. */
static const char *last_part(struct text_pool *texts, const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') {
        end--;
    }
    size_t start = end;
    while (start > 0 && path[start - 1] != '/') {
        start--;
    }
    return text_copy(texts, (struct bytes){(const uint8_t *)path + start, end - start});
}

static const char *library_of(struct text_pool *texts, const char *name)
{
    char *library = text_format(texts, "lib%s.so", name);
    for (char *at = library; *at != '\0'; at++) {
        if (*at == '-') {
            *at = '_';
        }
    }
    return library;
}

static enum status choose(struct new_sink *made, const struct options *options)
{
    const char *const *names = NULL;
    made->folder = options->arguments[0];
    made->name = options->name != NULL ? options->name : last_part(made->texts, made->folder);
    if (!name_is_valid(made->name)) {
        complain("new-sink: name \"%s\": allowed: a-z first, then a-z, 0-9 and -, at most %d; give "
                 "one with --name",
                 made->name,
                 NAME_SIZE_MAX);
        return STATUS_USAGE;
    }
    made->library = library_of(made->texts, made->name);
    made->templates = template_folder(made->texts);
    if (made->templates == NULL) {
        complain("new-sink: no templates beside the binary: neither "
                 "../share/sinkproof/scenarios/new_sink nor a "
                 "source tree");
        return STATUS_USAGE;
    }
    if (file_exists(made->folder) && (!folder_is_readable(made->folder) ||
                                      folder_names(made->texts, made->folder, &names) > 0)) {
        complain("new-sink \"%s\": there is something already; allowed: a new or an empty folder",
                 made->folder);
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

/* Where the next placeholder stands in a text, and which; the end and NULL when there is none. */
static size_t find_mark(struct bytes text,
                        const struct placeholder *placeholders,
                        size_t count,
                        const struct placeholder **found)
{
    *found = NULL;
    for (size_t at = 0; at < text.size; at++) {
        for (size_t i = 0; i < count; i++) {
            const size_t size = strlen(placeholders[i].mark);
            if (text.size - at >= size && memcmp(text.data + at, placeholders[i].mark, size) == 0) {
                *found = &placeholders[i];
                return at;
            }
        }
    }
    return text.size;
}

static bool write_filled(FILE *stream, const struct new_sink *made, struct bytes text)
{
    const struct placeholder placeholders[] = {
        {"@NAME@", made->name},
        {"@LIBRARY@", made->library},
    };
    bool complete = true;
    while (text.size > 0 && complete) {
        const struct placeholder *found = NULL;
        const size_t size = find_mark(text, placeholders, ARRAY_COUNT(placeholders), &found);
        complete = fwrite(text.data, 1, size, stream) == size;
        text.data += size;
        text.size -= size;
        if (found != NULL) {
            complete = complete && fputs(found->word, stream) >= 0;
            text.data += strlen(found->mark);
            text.size -= strlen(found->mark);
        }
    }
    return complete;
}

/* Make one file from its template. */
static enum status make_file(const struct new_sink *made, const char *template)
{
    struct bytes text = {0};
    struct file_writer writer;
    const char *source = text_format(made->texts, "%s/%s", made->templates, template);
    const char *target = text_format(
        made->texts, "%s/%.*s", made->folder, (int)(strlen(template) - strlen(ENDING)), template);
    const enum err error = file_read(made->texts, source, &text);
    if (error != ERR_OK) {
        complain("%s: %s", source, err_name(error));
        return STATUS_INTERNAL;
    }
    file_writer_start(&writer, target);
    const bool complete = writer.stream != NULL && write_filled(writer.stream, made, text);
    if (file_writer_finish(&writer, complete) != ERR_OK) {
        complain("new-sink \"%s\": cannot be written; allowed: a folder that can", made->folder);
        return STATUS_USAGE;
    }
    (void)printf("%s\n", target);
    return STATUS_OK;
}

static bool is_template(const char *name)
{
    const size_t size = strlen(name);
    const size_t ending = strlen(ENDING);
    return size > ending && strcmp(name + size - ending, ENDING) == 0;
}

static enum status make_files(const struct new_sink *made)
{
    const char *const *templates = NULL;
    const size_t count = folder_names(made->texts, made->templates, &templates);
    if (folder_make(made->folder) != ERR_OK) {
        complain("new-sink \"%s\": cannot be made; allowed: a folder that can", made->folder);
        return STATUS_USAGE;
    }
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (is_template(templates[i])) {
            status = make_file(made, templates[i]);
        }
    }
    return status;
}

static void say_what_is_next(const struct new_sink *made, const char *program)
{
    const char *sinkproof = text_shell_word(made->texts, program);
    const char *folder = text_shell_word(made->texts, made->folder);
    const bool is_in_path = strchr(program, '/') == NULL;
    (void)printf("next:\n  make -C %s%s%s\n",
                 folder,
                 is_in_path ? "" : " SINKPROOF=",
                 is_in_path ? "" : text_shell_word(made->texts, path_whole(made->texts, program)));
    (void)printf("  %s run %s/scenario.json --sink %s/%s\n"
                 "  %s matrix %s/claims.json --sink %s/%s --quick\n",
                 sinkproof,
                 folder,
                 folder,
                 made->library,
                 sinkproof,
                 folder,
                 folder,
                 made->library);
}

enum status command_new_sink(const struct options *options)
{
    struct text_pool texts = {0};
    struct new_sink made = {.texts = &texts};
    enum status status = choose(&made, options);
    if (status == STATUS_OK) {
        status = make_files(&made);
    }
    if (status == STATUS_OK) {
        say_what_is_next(&made, options->program);
    }
    text_pool_fini(&texts);
    return status;
}
