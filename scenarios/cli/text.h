/* Texts of a command: made while it works, given back together when it ends. */
#ifndef SCENARIOS_CLI_TEXT_H
#define SCENARIOS_CLI_TEXT_H

#include "sinks/base/bytes.h"

#include <stddef.h>

struct text_block;

/* Zeroed, a pool is empty and ready. */
struct text_pool {
    struct text_block *blocks; /* private */
};

/* A copy with a NUL behind it. */
char *text_copy(struct text_pool *pool, struct bytes source);
char *text_format(struct text_pool *pool, const char *format, ...) PRINTF_LIKE(2, 3);
/* Zeroed memory that lives as long as the texts. */
void *text_memory(struct text_pool *pool, size_t count, size_t size);
/* As one word of a shell: quoted where that is needed. */
char *text_shell_word(struct text_pool *pool, const char *word);

void text_pool_fini(struct text_pool *pool);

/* Memory of the command's own; there is none only on a machine that is out of it, and then the
 * process ends with STATUS_INTERNAL. */
void *memory_take(size_t size);
void *memory_resize(void *memory_or_null, size_t size);

#endif
