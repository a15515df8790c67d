/* Decoding goes over the source twice, to validate and measure and then to build, without recursion:
 * one frame per nesting level. */
#include "sinks/base/check.h"
#include "sinks/port/block.h"
#include "sinks/port/fields.h"
#include "sinks/port/port.h"

#include <string.h>

#define NUMBER_MAX    UINT64_C(0x1fffffff)
#define VARINT_BITS   7u
#define SEEN_BITS_MAX 64u

/* One message being read. */
struct decode_frame {
    const struct port_message *message;
    const uint8_t *position;
    const uint8_t *end;
    uint8_t *value; /* NULL while measuring */
    uint64_t seen;  /* bit per field */
};

struct decoder {
    struct block_size size;
    struct block block;
    bool build;
    bool views; /* bytes point into the source */
    uint32_t depth;
    struct decode_frame frames[PORT_FRAMES_MAX];
};

static enum err read_varint(struct decode_frame *frame, uint64_t *value)
{
    uint64_t result = 0;
    for (uint32_t shift = 0; shift < 70; shift += VARINT_BITS) {
        if (frame->position == frame->end) {
            return ERR_TRUNCATED;
        }
        const uint8_t byte = *frame->position;
        frame->position++;
        if (shift == 63 && byte > 1) {
            return ERR_INVALID;
        }
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = result;
            return ERR_OK;
        }
    }
    return ERR_INVALID;
}

static enum err read_delimited(struct decode_frame *frame, struct bytes *value)
{
    uint64_t size = 0;
    const enum err err = read_varint(frame, &size);
    if (err != ERR_OK) {
        return err;
    }
    if (size > (uint64_t)(frame->end - frame->position)) {
        return ERR_TRUNCATED;
    }
    *value = (struct bytes){frame->position, (size_t)size};
    frame->position += size;
    return ERR_OK;
}

/* Read a tag and find its field; ERR_INVALID when the message has no such field or wire type. */
static enum err read_tag(struct decode_frame *frame, uint16_t *index)
{
    uint64_t tag = 0;
    const enum err err = read_varint(frame, &tag);
    if (err != ERR_OK) {
        return err;
    }
    const struct port_message *message = frame->message;
    if (tag >> 3 > NUMBER_MAX) {
        return ERR_INVALID;
    }
    for (uint16_t i = 0; i < message->field_count; i++) {
        if (message->fields[i].number == tag >> 3) {
            *index = i;
            return field_tag(&message->fields[i]) == tag ? ERR_OK : ERR_INVALID;
        }
    }
    return ERR_INVALID;
}

static enum err decode_scalar(struct decode_frame *frame, const struct port_field *field)
{
    uint64_t number = 0;
    const enum err err = read_varint(frame, &number);
    if (err != ERR_OK) {
        return err;
    }
    const bool is_word = field->type == PORT_U32 || field->type == PORT_ENUM;
    if ((is_word && number > UINT32_MAX) || (field->type == PORT_BOOL && number > 1)) {
        return ERR_INVALID;
    }
    if (frame->value != NULL) {
        field_set_scalar(field, frame->value, number);
    }
    return ERR_OK;
}

static enum err decode_bytes(struct decoder *decoder,
                             struct decode_frame *frame,
                             const struct port_field *field,
                             struct bytes source)
{
    if (!decoder->build) {
        decoder->size.bytes += source.size;
        return field->type == PORT_BYTES || bytes_is_utf8(source) ? ERR_OK : ERR_INVALID;
    }
    const struct bytes copy = decoder->views ? source : block_copy(&decoder->block, source);
    if (field->type != PORT_TEXTS) {
        memcpy(frame->value + field->offset, &copy, sizeof(copy));
        return ERR_OK;
    }
    struct port_texts texts = field_texts(field, frame->value);
    uint8_t *items = block_writable(&decoder->block, texts.items);
    memcpy(items + texts.count * sizeof(copy), &copy, sizeof(copy));
    texts.count++;
    memcpy(frame->value + field->offset, &texts, sizeof(texts));
    return ERR_OK;
}

/* How often a field occurs among the tags of a message that has been validated. */
static uint32_t count_occurrences(const struct decode_frame *frame, const struct port_field *field)
{
    struct decode_frame scan = *frame;
    uint32_t count = 0;
    while (scan.position < scan.end) {
        uint64_t number = 0;
        struct bytes skipped = {0};
        uint16_t index = 0;
        enum err err = read_tag(&scan, &index);
        CHECK(err == ERR_OK);
        err = field_is_scalar(&scan.message->fields[index]) ? read_varint(&scan, &number)
                                                            : read_delimited(&scan, &skipped);
        CHECK(err == ERR_OK);
        count += &scan.message->fields[index] == field;
    }
    return count;
}

/* Give each list and each texts of a message that is being built an array of the right size. */
static void reserve_arrays(struct decoder *decoder, struct decode_frame *frame)
{
    for (uint16_t i = 0; i < frame->message->field_count; i++) {
        const struct port_field *field = &frame->message->fields[i];
        if (field->type == PORT_LIST) {
            const uint32_t count = count_occurrences(frame, field);
            uint8_t *items = block_struct(&decoder->block, count * sizeof(void *));
            const struct port_list list = {count == 0 ? NULL : (const void *const *)(void *)items,
                                           0};
            memcpy(frame->value + field->offset, &list, sizeof(list));
        } else if (field->type == PORT_TEXTS) {
            const uint32_t count = count_occurrences(frame, field);
            uint8_t *items = block_struct(&decoder->block, count * sizeof(struct bytes));
            const struct port_texts texts = {
                count == 0 ? NULL : (const struct bytes *)(void *)items, 0};
            memcpy(frame->value + field->offset, &texts, sizeof(texts));
        }
    }
}

static void begin_message(struct decoder *decoder,
                          uint32_t depth,
                          const struct port_message *message,
                          struct bytes source)
{
    CHECK(message->field_count <= SEEN_BITS_MAX);
    struct decode_frame *frame = &decoder->frames[depth];
    *frame = (struct decode_frame){
        .message = message, .position = source.data, .end = source.data + source.size};
    decoder->depth = depth;
    if (!decoder->build) {
        block_size_add(&decoder->size, message);
        return;
    }
    frame->value = block_struct(&decoder->block, message->size);
    memset(frame->value, 0, message->size);
    reserve_arrays(decoder, frame);
}

static enum err
decode_message(struct decoder *decoder, const struct port_field *field, struct bytes source)
{
    const uint32_t depth = decoder->depth;
    if (depth == PORT_NESTING_MAX) {
        return ERR_INVALID;
    }
    begin_message(decoder, depth + 1, field->message, source);
    if (!decoder->build) {
        return ERR_OK;
    }
    uint8_t *parent = decoder->frames[depth].value;
    uint32_t item = 0;
    if (field->type == PORT_LIST) {
        struct port_list list = field_list(field, parent);
        list.count++;
        item = list.count;
        memcpy(parent + field->offset, &list, sizeof(list));
    }
    block_attach(&decoder->block, field, parent, item, decoder->frames[depth + 1].value);
    return ERR_OK;
}

/* Note that a field was met: only lists and texts may come again. */
static enum err note_seen(struct decoder *decoder, struct decode_frame *frame, uint16_t index)
{
    const struct port_field *field = &frame->message->fields[index];
    const uint64_t bit = UINT64_C(1) << index;
    const bool repeats = field->type == PORT_LIST || field->type == PORT_TEXTS;
    if (repeats && !decoder->build) {
        decoder->size.structs +=
            block_aligned(field->type == PORT_LIST ? sizeof(void *) : sizeof(struct bytes));
    } else if (!repeats && (frame->seen & bit) != 0) {
        return ERR_INVALID;
    }
    frame->seen |= bit;
    return ERR_OK;
}

static enum err decode_field(struct decoder *decoder, struct decode_frame *frame)
{
    uint16_t index = 0;
    enum err err = read_tag(frame, &index);
    if (err == ERR_OK) {
        err = note_seen(decoder, frame, index);
    }
    if (err != ERR_OK) {
        return err;
    }
    const struct port_field *field = &frame->message->fields[index];
    if (field_is_scalar(field)) {
        return decode_scalar(frame, field);
    }
    struct bytes source = {0};
    err = read_delimited(frame, &source);
    if (err != ERR_OK) {
        return err;
    }
    return field->type == PORT_MESSAGE || field->type == PORT_LIST
               ? decode_message(decoder, field, source)
               : decode_bytes(decoder, frame, field, source);
}

static enum err
decode_pass(struct decoder *decoder, const struct port_message *message, struct bytes source)
{
    static const uint8_t nothing[1] = {0};
    if (source.size == 0) {
        source.data = nothing;
    }
    begin_message(decoder, 0, message, source);
    for (;;) {
        struct decode_frame *frame = &decoder->frames[decoder->depth];
        if (frame->position == frame->end) {
            if (decoder->depth == 0) {
                return ERR_OK;
            }
            decoder->depth--;
            continue;
        }
        const uint32_t depth = decoder->depth;
        const enum err err = decode_field(decoder, frame);
        if (err != ERR_OK) {
            /* Within a message whose size is stated, an early end is a contradiction. */
            return depth > 0 && err == ERR_TRUNCATED ? ERR_INVALID : err;
        }
    }
}

bool port_has_field(const struct port_message *message, struct bytes source, uint32_t number)
{
    if (source.size == 0) {
        return false;
    }
    const struct decode_frame frame = {
        .message = message, .position = source.data, .end = source.data + source.size};
    for (uint16_t i = 0; i < message->field_count; i++) {
        if (message->fields[i].number == number) {
            return count_occurrences(&frame, &message->fields[i]) > 0;
        }
    }
    return false;
}

/* Validate and measure. */
static enum err
measure(struct decoder *decoder, const struct port_message *message, struct bytes source)
{
    if (source.size > UINT32_MAX) {
        return ERR_INVALID;
    }
    decoder->build = false;
    decoder->size = (struct block_size){0};
    return decode_pass(decoder, message, source);
}

/* Build what has been validated and measured. */
static void build(struct decoder *decoder,
                  const struct port_message *message,
                  struct bytes source,
                  uint8_t *memory)
{
    decoder->build = true;
    decoder->block = (struct block){.memory = memory, .bytes_used = decoder->size.structs};
    const enum err err = decode_pass(decoder, message, source);
    CHECK(err == ERR_OK);
    CHECK(decoder->block.structs_used <= decoder->size.structs);
}

enum err port_decode(const struct port_message *message,
                     struct bytes source,
                     const struct allocator *allocator,
                     void **value,
                     size_t *block_size)
{
    struct decoder decoder;
    decoder.views = false;
    const enum err err = measure(&decoder, message, source);
    if (err != ERR_OK) {
        return err;
    }
    const size_t size = decoder.size.structs + decoder.size.bytes;
    uint8_t *memory = allocator_take(allocator, size);
    if (memory == NULL) {
        return ERR_LIMIT;
    }
    build(&decoder, message, source, memory);
    CHECK(decoder.block.bytes_used == size);
    *value = memory;
    *block_size = size;
    return ERR_OK;
}

enum err port_view_size(const struct port_message *message, struct bytes source, size_t *block_size)
{
    struct decoder decoder;
    decoder.views = true;
    const enum err err = measure(&decoder, message, source);
    if (err == ERR_OK) {
        *block_size = decoder.size.structs;
    }
    return err;
}

void *port_view_into(const struct port_message *message,
                     struct bytes source,
                     void *block,
                     size_t block_size)
{
    struct decoder decoder;
    decoder.views = true;
    decoder.size = (struct block_size){.structs = block_size};
    build(&decoder, message, source, block);
    return block;
}
