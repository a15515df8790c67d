#include "scenarios/cli/files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE     4096
#define FOLDER_LEVELS 64

enum err file_read(struct text_pool *pool, const char *path, struct bytes *content)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return errno == ENOENT || errno == ENOTDIR ? ERR_NOT_FOUND : ERR_SYSTEM;
    }
    enum err result = ERR_OK;
    size_t capacity = (size_t)64 << 10;
    size_t size = 0;
    uint8_t *data = memory_take(capacity);
    for (;;) {
        size += fread(data + size, 1, capacity - size, file);
        if (size < capacity) {
            break;
        }
        if (capacity > FILE_SIZE_MAX) {
            result = ERR_LIMIT;
            break;
        }
        capacity *= 2;
        data = memory_resize(data, capacity);
    }
    if (ferror(file) != 0) {
        result = ERR_SYSTEM;
    }
    (void)fclose(file);
    if (result == ERR_OK) {
        const struct bytes read = {data, size};
        *content = (struct bytes){(const uint8_t *)text_copy(pool, read), size};
    }
    free(data);
    return result;
}

void file_writer_start(struct file_writer *writer, const char *path)
{
    *writer = (struct file_writer){.path = path};
    const int size = snprintf(writer->temporary, sizeof writer->temporary, "%s.new", path);
    if (size > 0 && (size_t)size < sizeof writer->temporary) {
        writer->stream = fopen(writer->temporary, "wb");
    }
}

enum err file_writer_finish(struct file_writer *writer, bool complete)
{
    if (writer->stream == NULL) {
        return ERR_SYSTEM;
    }
    const bool closed = fclose(writer->stream) == 0;
    writer->stream = NULL;
    if (complete && closed && rename(writer->temporary, writer->path) == 0) {
        return ERR_OK;
    }
    (void)remove(writer->temporary);
    return ERR_SYSTEM;
}

void file_writer_abandon(struct file_writer *writer)
{
    if (writer->stream != NULL) {
        (void)fclose(writer->stream);
        (void)remove(writer->temporary);
        writer->stream = NULL;
    }
}

enum err file_write(const char *path, struct bytes content)
{
    struct file_writer writer;
    file_writer_start(&writer, path);
    const bool complete = writer.stream != NULL &&
                          fwrite(content.data, 1, content.size, writer.stream) == content.size;
    return file_writer_finish(&writer, complete);
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool folder_is_readable(const char *path)
{
    DIR *folder = opendir(path);
    return folder != NULL && closedir(folder) == 0;
}

const char *program_path(struct text_pool *pool)
{
    char path[PATH_SIZE];
    const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
    return size <= 0 || size == (ssize_t)sizeof path
               ? NULL
               : text_copy(pool, (struct bytes){(const uint8_t *)path, (size_t)size});
}

const char *path_whole(struct text_pool *pool, const char *path)
{
    char current[PATH_SIZE];
    if (path[0] == '/' || getcwd(current, sizeof current) == NULL) {
        return path;
    }
    return text_format(pool, "%s/%s", current, path);
}

static bool make_one(const char *path)
{
    struct stat status;
    return mkdir(path, 0777) == 0 ||
           (errno == EEXIST && stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

enum err folder_make(const char *path)
{
    char partial[PATH_SIZE];
    const size_t size = strlen(path);
    if (size == 0 || size >= sizeof partial) {
        return ERR_SYSTEM;
    }
    memcpy(partial, path, size + 1);
    for (size_t i = 1; i < size; i++) {
        if (partial[i] == '/') {
            partial[i] = '\0';
            if (!make_one(partial)) {
                return ERR_SYSTEM;
            }
            partial[i] = '/';
        }
    }
    return make_one(partial) ? ERR_OK : ERR_SYSTEM;
}

static int compare_names(const void *a, const void *b)
{
    const char *const *left = a;
    const char *const *right = b;
    return strcmp(*left, *right);
}

size_t folder_names(struct text_pool *pool, const char *path, const char *const **names)
{
    DIR *folder = opendir(path);
    const char **list = NULL;
    size_t count = 0;
    size_t capacity = 0;
    if (folder == NULL) {
        return 0;
    }
    /* One thread reads one folder stream, which is what readdir asks for. */
    for (;;) {
        const struct dirent *entry =
            readdir(folder); /* NOLINT(concurrency-mt-unsafe): one thread */
        if (entry == NULL) {
            break;
        }
        if (entry->d_name[0] == '.') {
            continue;
        }
        if (count == capacity) {
            capacity = capacity * 2 + 16;
            list = memory_resize(list, capacity * sizeof *list);
        }
        list[count++] = text_copy(pool, bytes_of_text(entry->d_name));
    }
    (void)closedir(folder);
    const char **kept = text_memory(pool, count + 1, sizeof *kept);
    for (size_t i = 0; i < count; i++) {
        kept[i] = list[i];
    }
    free(list);
    qsort(kept, count, sizeof *kept, compare_names);
    *names = kept;
    return count;
}

static bool is_source_folder(const char *path)
{
    char probe[PATH_SIZE + 16];
    (void)snprintf(probe, sizeof probe, "%s/Makefile", path);
    if (!file_exists(probe)) {
        return false;
    }
    (void)snprintf(probe, sizeof probe, "%s/scenarios", path);
    return file_exists(probe);
}

/* Walk up from a path to the first source folder; path is cut to it. */
static bool find_above(char *path)
{
    for (int level = 0; level < FOLDER_LEVELS; level++) {
        if (is_source_folder(path)) {
            return true;
        }
        char *slash = strrchr(path, '/');
        if (slash == NULL || slash == path) {
            return false;
        }
        *slash = '\0';
    }
    return false;
}

const char *source_folder(struct text_pool *pool)
{
    char path[PATH_SIZE];
    const ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size > 0) {
        path[size] = '\0';
        if (find_above(path)) {
            return text_copy(pool, bytes_of_text(path));
        }
    }
    if (getcwd(path, sizeof path) != NULL && find_above(path)) {
        return text_copy(pool, bytes_of_text(path));
    }
    return NULL;
}

/* A path beside the folder that the binary lies in, or NULL when nothing is there. */
static const char *installed(struct text_pool *pool, const char *path)
{
    const char *program = program_path(pool);
    size_t size = program == NULL ? 0 : strlen(program);
    for (int parts = 0; parts < 2 && size > 0; parts++) {
        do {
            size--;
        } while (size > 0 && program[size] != '/');
    }
    const char *place =
        text_format(pool, "%.*s/%s", (int)size, program == NULL ? "" : program, path);
    return file_exists(place) ? place : NULL;
}

static const char *in_source(struct text_pool *pool, const char *path)
{
    const char *source = source_folder(pool);
    return source == NULL ? NULL : text_format(pool, "%s%s", source, path);
}

const char *include_folder(struct text_pool *pool)
{
    const char *place = installed(pool, "include/sinkproof");
    return place != NULL ? place : in_source(pool, "");
}

const char *template_folder(struct text_pool *pool)
{
    const char *place = installed(pool, "share/sinkproof/scenarios/new_sink");
    return place != NULL ? place : in_source(pool, "/scenarios/new_sink");
}

const char *scenarios_folder(struct text_pool *pool)
{
    const char *place = in_source(pool, "/scenarios");
    return place != NULL ? place : installed(pool, "share/sinkproof/scenarios");
}
