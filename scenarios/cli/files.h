/* Whole files in and out, folders, and where the sources and scenarios of this binary lie. */
#ifndef SCENARIOS_CLI_FILES_H
#define SCENARIOS_CLI_FILES_H

#include "scenarios/cli/text.h"
#include "sinks/base/err.h"

#include <stdbool.h>
#include <stdio.h>

#define FILE_SIZE_MAX ((size_t)64 << 20)

/* Read a file; its bytes live in the pool. ERR_OK, ERR_NOT_FOUND, ERR_SYSTEM (it cannot be read),
 * ERR_LIMIT (above FILE_SIZE_MAX). */
MUST_USE enum err file_read(struct text_pool *pool, const char *path, struct bytes *content);

/* Write a file whole or not at all: ERR_OK or ERR_SYSTEM. */
MUST_USE enum err file_write(const char *path, struct bytes content);

/* The same for what writes to a stream. finish: ERR_OK or ERR_SYSTEM, and then the target is
 * unchanged. */
struct file_writer {
    FILE *stream;         /* read: NULL when the file could not be opened */
    const char *path;     /* private */
    char temporary[4096]; /* private */
};
void file_writer_start(struct file_writer *writer, const char *path);
MUST_USE enum err file_writer_finish(struct file_writer *writer, bool complete);
/* Leave the target as it was. */
void file_writer_abandon(struct file_writer *writer);

/* Make a folder and those above it: ERR_OK or ERR_SYSTEM. */
MUST_USE enum err folder_make(const char *path);

bool file_exists(const char *path);
bool folder_is_readable(const char *path);

/* The file of the running binary, or NULL. */
const char *program_path(struct text_pool *pool);

/* A path from the root, if the current directory is known; else as it was. */
const char *path_whole(struct text_pool *pool, const char *path);

/* Names in a folder, sorted bytewise, without those that start with a dot; 0 when it cannot be
 * read. They live in the pool. */
size_t folder_names(struct text_pool *pool, const char *path, const char *const **names);

/* The source tree this binary was built in, or the one that holds the current directory, or NULL:
 * the nearest folder above with a Makefile and scenarios/. */
const char *source_folder(struct text_pool *pool);

/* The folder that a sink of the user's is compiled with (-I), which holds sinks/: the installed one
 * beside the binary's folder, or the source tree; or NULL. */
const char *include_folder(struct text_pool *pool);

/* The folder of what new-sink starts from: the installed one, or that of the source tree; or NULL. */
const char *template_folder(struct text_pool *pool);

/* The folder of the scenarios that come with the product: that of the source tree, or the installed
 * one beside the binary's folder; or NULL. */
const char *scenarios_folder(struct text_pool *pool);

#endif
