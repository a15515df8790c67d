#include "sinks/cloudtasks/envelope.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/port/cloudtasks.h"

#include <string.h>

#define NAME_TAG 0x0au /* field 1, length-delimited */

static size_t varint_size(size_t value)
{
    size_t size = 1;
    while (value >= 0x80) {
        value >>= 7;
        size++;
    }
    return size;
}

size_t envelope_task_size(size_t name_size, size_t payload_size)
{
    return 1 + varint_size(name_size) + name_size + payload_size;
}

size_t envelope_size(size_t queue_size, size_t task_size)
{
    return ENVELOPE_VERSION_SIZE + ENVELOPE_FIXED_SIZE + queue_size + task_size;
}

static uint8_t *put_u32(uint8_t *place, uint32_t value)
{
    place[0] = (uint8_t)(value >> 24);
    place[1] = (uint8_t)(value >> 16);
    place[2] = (uint8_t)(value >> 8);
    place[3] = (uint8_t)value;
    return place + 4;
}

static uint8_t *put_u64(uint8_t *place, uint64_t value)
{
    return put_u32(put_u32(place, (uint32_t)(value >> 32)), (uint32_t)value);
}

static uint8_t *put_bytes(uint8_t *place, struct bytes value)
{
    if (value.size > 0) {
        memcpy(place, value.data, value.size);
    }
    return place + value.size;
}

static uint8_t *put_varint(uint8_t *place, size_t value)
{
    for (; value >= 0x80; value >>= 7) {
        *place = (uint8_t)(value | 0x80);
        place++;
    }
    *place = (uint8_t)value;
    return place + 1;
}

/* The wire form of a task: its name, then the payload, which has none. */
static uint8_t *
put_task(uint8_t *place, const struct envelope_parts *parts, size_t name_size, struct bytes *name)
{
    struct byte_writer writer;
    *place = NAME_TAG;
    place = put_varint(place + 1, name_size);
    *name = (struct bytes){place, name_size};
    byte_writer_init(&writer, place, name_size);
    identity_write_name(&writer, parts->queue, parts->identity);
    return put_bytes(place + name_size, parts->payload);
}

struct bytes envelope_encode(const struct envelope_parts *parts, uint8_t *data)
{
    const size_t name_size = identity_name_size(parts->queue, parts->identity);
    const size_t task_size = envelope_task_size(name_size, parts->payload.size);
    struct bytes name = {0};
    CHECK(parts->queue.size <= ENVELOPE_PART_SIZE_MAX);
    CHECK(task_size <= ENVELOPE_PART_SIZE_MAX);
    CHECK(parts->deadline_ms > parts->origin_ms);
    CHECK(parts->deadline_ms <= ENVELOPE_MS_MAX);
    uint8_t *place = put_u32(data, ENVELOPE_VERSION);
    place = put_u32(place, ENVELOPE_MAGIC);
    place = put_u32(place, (uint32_t)parts->queue.size);
    place = put_bytes(place, parts->queue);
    place = put_u64(place, parts->origin_ms);
    place = put_u64(place, parts->deadline_ms);
    place = put_u32(place, (uint32_t)task_size);
    place = put_task(place, parts, name_size, &name);
    const uint8_t *frame = data + ENVELOPE_VERSION_SIZE;
    place = put_u32(place, digest_checksum((struct bytes){frame, (size_t)(place - frame)}));
    CHECK((size_t)(place - data) == envelope_size(parts->queue.size, task_size));
    return name;
}

/* The name of a task, which stands first in its wire form; empty if it does not. */
static struct bytes name_of(struct bytes task)
{
    struct byte_reader reader;
    byte_reader_init(&reader, task);
    if (byte_reader_u8(&reader) != NAME_TAG) {
        return (struct bytes){0};
    }
    const uint64_t size = byte_reader_varint(&reader);
    if (size > byte_reader_left(&reader)) {
        return (struct bytes){0};
    }
    return byte_reader_bytes(&reader, (size_t)size);
}

static enum err check_contents(struct envelope *envelope)
{
    if (!bytes_is_utf8(envelope->queue) || envelope->deadline_ms <= envelope->origin_ms ||
        envelope->deadline_ms > ENVELOPE_MS_MAX) {
        return ERR_INVALID;
    }
    if (!identity_name_is_valid(envelope->queue, envelope->name)) {
        return ERR_INVALID;
    }
    return port_view_size(&cloudtasks_task_message, envelope->task, &envelope->view_size) == ERR_OK
               ? ERR_OK
               : ERR_INVALID;
}

/* The next size bytes of a source that is read from its front; NULL when it ends before. */
static inline const uint8_t *take(struct bytes *rest, size_t size)
{
    const uint8_t *place = rest->data;
    if (size > rest->size) {
        return NULL;
    }
    *rest = (struct bytes){place + size, rest->size - size};
    return place;
}

static inline enum err take_part(struct bytes *rest, struct bytes *part)
{
    const uint8_t *place = take(rest, sizeof(uint32_t));
    if (place == NULL) {
        return ERR_TRUNCATED;
    }
    const uint32_t size = bytes_u32_be(place);
    if (size == 0 || size > ENVELOPE_PART_SIZE_MAX) {
        return ERR_INVALID;
    }
    *part = (struct bytes){take(rest, size), size};
    return part->data == NULL ? ERR_TRUNCATED : ERR_OK;
}

/* The parts of a frame of our version, up to the checksum. */
static inline enum err take_parts(struct bytes *rest, struct envelope *envelope)
{
    const uint8_t *magic = take(rest, sizeof(uint32_t));
    if (magic == NULL) {
        return ERR_TRUNCATED;
    }
    if (bytes_u32_be(magic) != ENVELOPE_MAGIC) {
        return ERR_CORRUPT;
    }
    const enum err err = take_part(rest, &envelope->queue);
    if (err != ERR_OK) {
        return err;
    }
    const uint8_t *instants = take(rest, 2 * sizeof(uint64_t));
    if (instants == NULL) {
        return ERR_TRUNCATED;
    }
    envelope->origin_ms = bytes_u64_be(instants);
    envelope->deadline_ms = bytes_u64_be(instants + sizeof(uint64_t));
    return take_part(rest, &envelope->task);
}

enum err envelope_decode(struct bytes source, struct envelope *envelope)
{
    struct envelope found = {0};
    struct bytes rest = source;
    const uint8_t *version = take(&rest, ENVELOPE_VERSION_SIZE);
    if (version == NULL) {
        return ERR_TRUNCATED;
    }
    if (bytes_u32_be(version) != ENVELOPE_VERSION) {
        return ERR_VERSION;
    }
    const uint8_t *frame = rest.data;
    enum err err = take_parts(&rest, &found);
    if (err != ERR_OK) {
        return err;
    }
    const size_t frame_size = (size_t)(rest.data - frame);
    const uint8_t *checksum = take(&rest, sizeof(uint32_t));
    if (checksum == NULL) {
        return ERR_TRUNCATED;
    }
    if (rest.size != 0 ||
        bytes_u32_be(checksum) != digest_checksum((struct bytes){frame, frame_size})) {
        return ERR_CORRUPT;
    }
    found.name = name_of(found.task);
    err = check_contents(&found);
    if (err == ERR_OK) {
        *envelope = found;
    }
    return err;
}

/* The part whose size stands at place; the size was judged before. */
static struct bytes part_at(const uint8_t *place)
{
    return (struct bytes){place + sizeof(uint32_t), bytes_u32_be(place)};
}

struct envelope envelope_read(struct bytes source)
{
    const uint8_t *place = source.data + ENVELOPE_VERSION_SIZE + sizeof(uint32_t);
    struct envelope found = {.queue = part_at(place)};
    place = found.queue.data + found.queue.size;
    found.origin_ms = bytes_u64_be(place);
    found.deadline_ms = bytes_u64_be(place + sizeof(uint64_t));
    found.task = part_at(place + 2 * sizeof(uint64_t));
    CHECK(source.size == envelope_size(found.queue.size, found.task.size));
    return found;
}
