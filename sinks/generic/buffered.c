#include "sinks/generic/buffered.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"

#include <string.h>

static struct bytes copied(uint8_t **place, struct bytes source)
{
    uint8_t *copy = *place;
    if (source.size > 0) {
        memcpy(copy, source.data, source.size);
    }
    *place = copy + source.size;
    return (struct bytes){copy, source.size};
}

struct buffered *buffered_make(const struct allocator *allocator, const struct keyed_entry *entry)
{
    const size_t size =
        sizeof(struct buffered) + entry->key.size + entry->id.size + entry->value.size;
    struct buffered *made = allocator_take(allocator, size);
    if (made == NULL) {
        return NULL;
    }
    uint8_t *place = (uint8_t *)(made + 1);
    *made = (struct buffered){.block_size = size};
    made->entry.key = copied(&place, entry->key);
    made->entry.id = copied(&place, entry->id);
    made->entry.value = copied(&place, entry->value);
    return made;
}

void buffered_release(const struct allocator *allocator, struct buffered *buffered)
{
    allocator_give(allocator, buffered, buffered->block_size);
}

struct bytes buffered_id(uint32_t split, uint64_t position, uint8_t id[BUFFERED_ID_SIZE])
{
    struct byte_writer writer;
    byte_writer_init(&writer, id, BUFFERED_ID_SIZE);
    byte_writer_u32_be(&writer, split);
    byte_writer_u64_be(&writer, position);
    return byte_writer_view(&writer);
}

static void put_part(struct byte_writer *writer, struct bytes part)
{
    byte_writer_u32_be(writer, narrow_u32(part.size));
    byte_writer_bytes(writer, part);
}

static void put_entries(struct byte_writer *writer, const struct list *entries)
{
    byte_writer_u32_be(writer, BUFFERED_VERSION);
    byte_writer_u32_be(writer, narrow_u32(entries->count));
    for (struct list_link *link = list_first(entries); link != NULL;
         link = list_next(entries, link)) {
        const struct keyed_entry *entry = &LIST_ITEM(link, struct buffered, link)->entry;
        put_part(writer, entry->key);
        put_part(writer, entry->id);
        put_part(writer, entry->value);
    }
}

size_t buffered_frame_size(const struct list *entries)
{
    struct byte_writer measure;
    byte_writer_init(&measure, NULL, 0);
    put_entries(&measure, entries);
    return measure.size + sizeof(uint32_t);
}

void buffered_encode(const struct list *entries, uint8_t *data)
{
    struct byte_writer writer;
    byte_writer_init(&writer, data, buffered_frame_size(entries));
    put_entries(&writer, entries);
    byte_writer_u32_be(&writer, digest_checksum(byte_writer_view(&writer)));
    CHECK(!writer.overflowed);
}

static struct bytes take_part(struct byte_reader *reader)
{
    return byte_reader_bytes(reader, byte_reader_u32_be(reader));
}

static enum err
take_entry(const struct allocator *allocator, struct byte_reader *reader, struct list *entries)
{
    struct keyed_entry entry = {.key = take_part(reader)};
    entry.id = take_part(reader);
    entry.value = take_part(reader);
    if (reader->failed) {
        return ERR_TRUNCATED;
    }
    struct buffered *made = buffered_make(allocator, &entry);
    if (made == NULL) {
        return ERR_LIMIT;
    }
    made->restored = true;
    list_push_back(entries, &made->link);
    return ERR_OK;
}

enum err
buffered_decode(const struct allocator *allocator, struct bytes source, struct list *entries)
{
    struct byte_reader reader;
    if (source.size < 3 * sizeof(uint32_t)) {
        return ERR_TRUNCATED;
    }
    const struct bytes framed = {source.data, source.size - sizeof(uint32_t)};
    byte_reader_init(&reader, framed);
    if (byte_reader_u32_be(&reader) != BUFFERED_VERSION) {
        return ERR_VERSION;
    }
    if (bytes_u32_be(source.data + framed.size) != digest_checksum(framed)) {
        return ERR_CORRUPT;
    }
    const uint32_t count = byte_reader_u32_be(&reader);
    enum err err = ERR_OK;
    for (uint32_t i = 0; err == ERR_OK && i < count; i++) {
        err = take_entry(allocator, &reader, entries);
    }
    return err == ERR_OK && byte_reader_left(&reader) > 0 ? ERR_CORRUPT : err;
}

uint64_t buffered_digest(const struct list *entries)
{
    uint64_t digest = entries->count;
    for (struct list_link *link = list_first(entries); link != NULL;
         link = list_next(entries, link)) {
        const struct buffered *buffered = LIST_ITEM(link, struct buffered, link);
        digest = digest_fold(digest, buffered->token);
        digest = digest_fold(digest, (uint64_t)buffered->restored << 1 | buffered->solo);
        digest = digest_fold(digest, digest_bytes(buffered->entry.key));
        digest = digest_fold(digest, digest_bytes(buffered->entry.id));
        digest = digest_fold(digest, digest_bytes(buffered->entry.value));
    }
    return digest;
}
