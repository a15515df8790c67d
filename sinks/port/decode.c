/* Decoding goes over the source twice: to check and measure, and then to build. The first pass trusts
 * nothing, the second one what the first found. Both are code that is generated for each message. */
#include "sinks/base/check.h"
#include "sinks/port/block.h"
#include "sinks/port/code.h"
#include "sinks/port/port.h"

#define VARINT_BITS 7u

struct long_varint port_long_varint(const uint8_t *position, const uint8_t *end)
{
    uint64_t result = 0;
    for (uint32_t shift = 0; shift < 70; shift += VARINT_BITS) {
        if (position == end) {
            return (struct long_varint){ERR_TRUNCATED, NULL};
        }
        const uint8_t byte = *position;
        position++;
        if (shift == 63 && byte > 1) {
            return (struct long_varint){ERR_INVALID, NULL};
        }
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return (struct long_varint){result, position};
        }
    }
    return (struct long_varint){ERR_INVALID, NULL};
}

/* How often a tag comes in the rest of a message that was checked, behind the content that comes next. */
static uint32_t count_again(struct reading at, uint64_t tag)
{
    uint32_t count = 0;
    (void)next_delimited(&at);
    while (at.position != at.end) {
        const uint64_t next = next_varint(&at);
        if ((next & 7) == PORT_WIRE_LENGTH) {
            (void)next_delimited(&at);
        } else {
            (void)next_varint(&at);
        }
        count += next == tag;
    }
    return count;
}

void *port_build_place(struct building *to,
                       struct reading at,
                       uint64_t tag,
                       const void **items,
                       uint32_t *count,
                       size_t size)
{
    if (*count == 0) {
        *items = block_struct(&to->block, (count_again(at, tag) + 1) * size);
    }
    uint8_t *place = block_writable(&to->block, *items) + *count * size;
    *count += 1;
    return place;
}

static enum err
check(const struct port_message *message, struct bytes *source, struct checked *found)
{
    static const uint8_t nothing[1] = {0};
    if (source->size > UINT32_MAX) {
        return ERR_INVALID;
    }
    source->data = source->size == 0 ? nothing : source->data;
    return message->code->check(*source, found);
}

enum err port_decode(const struct port_message *message,
                     struct bytes source,
                     const struct allocator *allocator,
                     void **value,
                     size_t *block_size)
{
    struct checked found;
    const enum err err = check(message, &source, &found);
    if (err != ERR_OK) {
        return err;
    }
    const size_t size = found.structs + found.bytes;
    void *memory = allocator_take(allocator, size);
    if (memory == NULL) {
        return ERR_LIMIT;
    }
    struct building to = {.block = block_of(memory, size)};
    message->code->build(&to, source, block_struct(&to.block, message->size));
    *value = memory;
    *block_size = size;
    return ERR_OK;
}

enum err port_check(const struct port_message *message, struct bytes source, struct port_view *view)
{
    struct checked found;
    const enum err err = check(message, &source, &found);
    if (err == ERR_OK) {
        *view = (struct port_view){.block_size = found.structs, .fields = found.fields};
    }
    return err;
}

enum err port_view_size(const struct port_message *message, struct bytes source, size_t *block_size)
{
    struct port_view view;
    const enum err err = port_check(message, source, &view);
    if (err == ERR_OK) {
        *block_size = view.block_size;
    }
    return err;
}

bool port_view_has(const struct port_view *view, uint32_t number)
{
    CHECK(number < CHECKED_NUMBER_END);
    return (view->fields >> number & 1) != 0;
}

void *port_view_into(const struct port_message *message,
                     struct bytes source,
                     void *block,
                     size_t block_size)
{
    struct building to = {.block = block_of(block, block_size), .views = true};
    message->code->build(&to, source, block_struct(&to.block, message->size));
    return block;
}
