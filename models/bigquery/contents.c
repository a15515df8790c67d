/* The rows that stand in a table. Of one that readers read, each that comes or goes is noted. */
#include "models/bigquery/state.h"
#include "sinks/base/digest.h"

#include <string.h>

#define CONTENTS_MIN 16u

void bigquery_contents_add(struct bigquery *state,
                           struct contents *contents,
                           struct model_content content)
{
    struct arena *arena = state->env.world->arena;
    if (contents->count == contents->capacity) {
        struct contents grown = {.count = contents->count,
                                 .capacity = contents->capacity == 0 ? CONTENTS_MIN
                                                                     : 2 * contents->capacity};
        grown.items = arena_take_recycled(arena, grown.capacity * sizeof(content));
        if (contents->count > 0) {
            memcpy(grown.items, contents->items, contents->count * sizeof(content));
        }
        bigquery_contents_release(state, contents);
        *contents = grown;
    }
    contents->items[contents->count] = content;
    contents->count++;
}

void bigquery_contents_release(struct bigquery *state, struct contents *contents)
{
    if (contents->capacity > 0) {
        arena_give_recycled(state->env.world->arena,
                            contents->items,
                            contents->capacity * sizeof(contents->items[0]));
    }
    *contents = (struct contents){0};
}

void bigquery_add_row(struct bigquery *state,
                      struct table *table,
                      struct model_content content,
                      const struct model_request *request)
{
    table->visible++;
    bigquery_contents_add(state, &table->rows, content);
    if (!table->is_read) {
        state->digest = digest_fold(state->digest, content.digest);
        return;
    }
    const struct model_effect effect = {
        .kind = WORLD_CREATED,
        .resource = table->resource,
        .generation = table->visible,
        .content = content,
        .request_or_null = request,
    };
    model_note(&state->env, &effect);
}

/* Generations go on: a row that comes later is another one. */
void bigquery_remove_rows(struct bigquery *state,
                          struct table *table,
                          const struct model_request *request)
{
    const uint32_t first = table->visible - table->rows.count;
    for (uint32_t i = 0; table->is_read && i < table->rows.count; i++) {
        const struct model_effect effect = {
            .kind = WORLD_HIDDEN,
            .code = BIGQUERY_READER_QUERY,
            .resource = table->resource,
            .generation = first + i + 1,
            .content = table->rows.items[i],
            .request_or_null = request,
        };
        model_note(&state->env, &effect);
    }
    state->digest = digest_fold(state->digest, (uint64_t)table->resource << 32 | table->rows.count);
    bigquery_contents_release(state, &table->rows);
}
