#include "sinks/cloudtasks/entry.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"

#include <string.h>

static struct bytes copy_into(uint8_t **place, struct bytes source)
{
    const struct bytes copy = {*place, source.size};
    if (source.size > 0) {
        memcpy(*place, source.data, source.size);
    }
    *place += source.size;
    return copy;
}

static size_t name_size_of(const struct draft *draft)
{
    return draft->identity.size == 0 ? 0 : identity_name_size(draft->destination, &draft->identity);
}

/* Write the full name, or nothing for an unnamed task. */
static struct bytes name_into(uint8_t **place, const struct draft *draft)
{
    struct byte_writer writer;
    const size_t size = name_size_of(draft);
    byte_writer_init(&writer, *place, size);
    if (size > 0) {
        identity_write_name(&writer, draft->destination, &draft->identity);
    }
    *place += size;
    return byte_writer_view(&writer);
}

enum err
entry_make(const struct allocator *allocator, const struct draft *draft, struct entry **made)
{
    const size_t size = sizeof(struct entry) + draft->view_size + draft->destination.size +
                        name_size_of(draft) + draft->payload.size;
    uint8_t *block = allocator_take(allocator, size);
    if (block == NULL) {
        return ERR_LIMIT;
    }
    struct entry *entry = (struct entry *)(void *)block;
    *entry = (struct entry){.token = draft->token, .block_size = size};
    uint8_t *view = block + sizeof(struct entry);
    uint8_t *place = view + draft->view_size;
    entry->destination = copy_into(&place, draft->destination);
    const struct bytes name = name_into(&place, draft);
    entry->payload = copy_into(&place, draft->payload);
    CHECK(place == block + size);
    struct cloudtasks_task *task =
        port_view_into(&cloudtasks_task_message, entry->payload, view, draft->view_size);
    if (task->name.size > 0) {
        entry_release(allocator, entry);
        return ERR_INVALID;
    }
    task->name = name;
    entry->create =
        (struct cloudtasks_create_task_request){.parent = entry->destination, .task = task};
    *made = entry;
    return ERR_OK;
}

void entry_release(const struct allocator *allocator, struct entry *entry)
{
    allocator_give(allocator, entry, entry->block_size);
}

uint64_t entry_digest(const struct entry *entry)
{
    uint64_t digest = digest_fold(entry->token, entry->request.number);
    digest = digest_fold(digest, (uint64_t)entry->failures << 32 | entry->not_found_failures);
    digest = digest_fold(digest, digest_bytes(entry->payload));
    digest = digest_fold(digest, digest_bytes(entry->destination));
    return digest_fold(digest, digest_bytes(entry->create.task->name));
}
