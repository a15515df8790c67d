#include "sinks/bigquery/client/append.h"

#include "sinks/base/digest.h"

#include <string.h>

struct append *append_make(const struct allocator *allocator)
{
    struct append *append = allocator_take(allocator, sizeof(*append));
    if (append != NULL) {
        *append = (struct append){0};
        list_init(&append->rows);
    }
    return append;
}

struct append_row *
append_row_make(const struct allocator *allocator, struct bytes serialized, uint64_t token)
{
    return append_row_make_with_tail(allocator, serialized, (struct bytes){0}, token);
}

struct append_row *append_row_make_with_tail(const struct allocator *allocator,
                                             struct bytes serialized,
                                             struct bytes tail,
                                             uint64_t token)
{
    const size_t row_size = serialized.size + tail.size;
    const size_t size = sizeof(struct append_row) + row_size;
    struct append_row *row = allocator_take(allocator, size);
    if (row == NULL) {
        return NULL;
    }
    uint8_t *copy = (uint8_t *)(row + 1);
    if (serialized.size > 0) {
        memcpy(copy, serialized.data, serialized.size);
    }
    if (tail.size > 0) {
        memcpy(copy + serialized.size, tail.data, tail.size);
    }
    *row = (struct append_row){
        .token = token, .row = {{copy, row_size}}, .tail_size = tail.size, .block_size = size};
    return row;
}

struct bytes append_row_serialized(const struct append_row *row)
{
    const struct bytes all = row->row.serialized;
    return (struct bytes){all.data, all.size - row->tail_size};
}

void append_row_release(const struct allocator *allocator, struct append_row *row)
{
    allocator_give(allocator, row, row->block_size);
}

void append_release(const struct allocator *allocator, struct append *append)
{
    while (!list_is_empty(&append->rows)) {
        struct list_link *link = list_pop_front(&append->rows);
        append_row_release(allocator, LIST_ITEM(link, struct append_row, link));
    }
    if (append->items != NULL) {
        allocator_give(
            allocator, (void *)append->items, append->item_capacity * sizeof(append->items[0]));
    }
    allocator_give(allocator, append, sizeof(*append));
}

void append_add(struct append *append, struct append_row *row)
{
    list_push_back(&append->rows, &row->link);
    append->bytes += row->row.serialized.size;
}

void append_remove(struct append *append, struct append_row *row)
{
    list_remove(&append->rows, &row->link);
    append->bytes -= row->row.serialized.size;
}

void append_renew(struct append *append)
{
    append->submitted = false;
    append->settled = false;
    append->ok = false;
    append->has_row_errors = false;
    append->status = (struct port_status){0};
    append->number = 0;
    append->attempts = 0;
}

enum err append_fill(const struct allocator *allocator,
                     struct append *append,
                     struct bytes stream,
                     const struct bigquery_proto_schema *schema_or_null)
{
    if (append->items == NULL) {
        append->item_capacity = (uint32_t)append->rows.count;
        append->items = allocator_take(allocator, append->item_capacity * sizeof(append->items[0]));
        if (append->items == NULL) {
            return ERR_LIMIT;
        }
    }
    uint32_t count = 0;
    for (struct list_link *link = list_first(&append->rows); link != NULL;
         link = list_next(&append->rows, link)) {
        CHECK(count < append->item_capacity);
        append->items[count] = &LIST_ITEM(link, struct append_row, link)->row;
        count++;
    }
    append->list = (struct bigquery_proto_rows){.serialized_rows = {append->items, count}};
    append->data =
        (struct bigquery_proto_data){.writer_schema = schema_or_null, .rows = &append->list};
    append->offset_value = (struct bigquery_int64){.value = (int64_t)append->offset};
    append->request = (struct bigquery_append_rows_request){
        .write_stream = stream,
        .offset = append->has_offset ? &append->offset_value : NULL,
        .proto_rows = &append->data,
    };
    return ERR_OK;
}

uint32_t append_mark_bad(struct append *append, const struct bigquery_append_rows_response *answer)
{
    uint32_t marked = 0;
    for (uint32_t i = 0; answer != NULL && i < answer->row_errors.count; i++) {
        const struct bigquery_row_error *error = answer->row_errors.items[i];
        int64_t index = 0;
        for (struct list_link *link = list_first(&append->rows); link != NULL;
             link = list_next(&append->rows, link)) {
            struct append_row *row = LIST_ITEM(link, struct append_row, link);
            if (index == error->index && !row->is_bad) {
                row->is_bad = true;
                marked++;
            }
            index++;
        }
    }
    return marked;
}

bool append_has_bad_rows(const struct append *append)
{
    for (struct list_link *link = list_first(&append->rows); link != NULL;
         link = list_next(&append->rows, link)) {
        if (LIST_ITEM(link, struct append_row, link)->is_bad) {
            return true;
        }
    }
    return false;
}

uint32_t append_mark_sent(struct append *append)
{
    uint32_t count = 0;
    for (struct list_link *link = list_first(&append->rows); link != NULL;
         link = list_next(&append->rows, link)) {
        struct append_row *row = LIST_ITEM(link, struct append_row, link);
        count += row->was_sent ? 0 : 1;
        row->was_sent = true;
    }
    return count;
}

uint64_t append_digest(uint64_t digest, const struct append *append)
{
    digest = digest_fold(digest, append->has_offset ? append->offset + 1 : 0);
    digest = digest_fold(digest, append->number);
    digest = digest_fold(digest, append->attempts);
    digest = digest_fold(digest, append->number == 0 ? 0 : append->sent_at);
    digest = digest_fold(digest, append->submitted);
    digest = digest_fold(digest, append->settled);
    digest = digest_fold(digest, append->ok);
    digest = digest_fold(digest, append->has_row_errors);
    digest = digest_fold(digest, port_status_first(&append->status));
    for (struct list_link *link = list_first(&append->rows); link != NULL;
         link = list_next(&append->rows, link)) {
        const struct append_row *row = LIST_ITEM(link, struct append_row, link);
        digest = digest_fold(digest, row->token);
        digest = digest_fold(digest, row->is_bad);
        digest = digest_fold(digest, digest_bytes(row->row.serialized));
    }
    return digest;
}
