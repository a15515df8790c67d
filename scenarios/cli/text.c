#include "scenarios/cli/text.h"

#include "scenarios/cli/status.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text_block {
    struct text_block *next;
    max_align_t memory[];
};

void *memory_resize(void *memory_or_null, size_t size)
{
    void *memory = realloc(memory_or_null, size > 0 ? size : 1);
    if (memory == NULL) {
        (void)fprintf(stderr, "sinkproof: out of memory (%zu bytes)\n", size);
        exit(STATUS_INTERNAL);
    }
    return memory;
}

void *memory_take(size_t size)
{
    void *memory = memory_resize(NULL, size);
    memset(memory, 0, size);
    return memory;
}

void *text_memory(struct text_pool *pool, size_t count, size_t size)
{
    CHECK(size > 0);
    CHECK(count <= (SIZE_MAX - sizeof(struct text_block)) / size);
    struct text_block *block = memory_take(sizeof *block + count * size);
    block->next = pool->blocks;
    pool->blocks = block;
    return block->memory;
}

char *text_copy(struct text_pool *pool, struct bytes source)
{
    char *text = text_memory(pool, source.size + 1, 1);
    if (source.size > 0) {
        memcpy(text, source.data, source.size);
    }
    return text;
}

char *text_format(struct text_pool *pool, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    CHECK(size >= 0);
    char *text = text_memory(pool, (size_t)size + 1, 1);
    va_start(arguments, format);
    (void)vsnprintf(text, (size_t)size + 1, format, arguments);
    va_end(arguments);
    return text;
}

char *text_shell_word(struct text_pool *pool, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:,+=@%";
    const size_t size = strlen(word);
    if (size > 0 && strspn(word, plain) == size) {
        return text_format(pool, "%s", word);
    }
    char *quoted = text_memory(pool, size * 4 + 3, 1);
    size_t at = 0;
    quoted[at++] = '\'';
    for (size_t i = 0; i < size; i++) {
        if (word[i] == '\'') {
            memcpy(quoted + at, "'\\''", 4);
            at += 4;
        } else {
            quoted[at++] = word[i];
        }
    }
    quoted[at++] = '\'';
    quoted[at] = '\0';
    return quoted;
}

void text_pool_fini(struct text_pool *pool)
{
    while (pool->blocks != NULL) {
        struct text_block *next = pool->blocks->next;
        free(pool->blocks);
        pool->blocks = next;
    }
}
