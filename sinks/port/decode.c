/* Decoding goes over the source twice, to validate and measure and then to build, without recursion:
 * one frame per nesting level. The first pass trusts nothing, the second one what the first found. */
#include "sinks/base/check.h"
#include "sinks/port/block.h"
#include "sinks/port/fields.h"
#include "sinks/port/port.h"

#include <string.h>

#define VARINT_BITS   7u
#define SEEN_BITS_MAX 64u

/* One message being read. Fields go by their index, which is also their bit. */
struct decode_frame {
    const struct port_message *message;
    const uint8_t *position;
    const uint8_t *end;
    uint32_t next;  /* field behind the last one met: in canonical form they ascend */
    uint64_t seen;  /* while measuring: bit per field */
    uint8_t *value; /* while building */
};

/* --- reading ----------------------------------------------------------------------------------- */

static inline struct decode_frame frame_of(const struct port_message *message, struct bytes source)
{
    CHECK(message->field_count <= SEEN_BITS_MAX);
    return (struct decode_frame){
        .message = message, .position = source.data, .end = source.data + source.size};
}

static enum err read_long_varint(const uint8_t **position, const uint8_t *end, uint64_t *value)
{
    uint64_t result = 0;
    for (uint32_t shift = 0; shift < 70; shift += VARINT_BITS) {
        if (*position == end) {
            return ERR_TRUNCATED;
        }
        const uint8_t byte = **position;
        *position += 1;
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

/* Most varints are one byte long. */
static inline enum err read_varint(struct decode_frame *frame, uint64_t *value)
{
    if (LIKELY(frame->position != frame->end && *frame->position < 0x80)) {
        *value = *frame->position;
        frame->position++;
        return ERR_OK;
    }
    return read_long_varint(&frame->position, frame->end, value);
}

static inline enum err read_delimited(struct decode_frame *frame, struct bytes *value)
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

/* The index of the field with a number, looked for from the expected one on; the field count if there
 * is none. */
static inline uint32_t find_field(const struct decode_frame *frame, uint64_t number)
{
    const struct port_message *message = frame->message;
    for (uint32_t i = frame->next; i < message->field_count; i++) {
        if (message->fields[i].number == number) {
            return i;
        }
    }
    for (uint32_t i = 0; i < frame->next; i++) {
        if (message->fields[i].number == number) {
            return i;
        }
    }
    return message->field_count;
}

/* --- validating and measuring ------------------------------------------------------------------ */

static inline enum err measure_scalar(struct decode_frame *frame, enum port_type type)
{
    uint64_t number = 0;
    const enum err err = read_varint(frame, &number);
    const bool is_word = type == PORT_U32 || type == PORT_ENUM;
    if (err != ERR_OK) {
        return err;
    }
    return (is_word && number > UINT32_MAX) || (type == PORT_BOOL && number > 1) ? ERR_INVALID
                                                                                 : ERR_OK;
}

/* The content of a field that is no scalar. Only lists and texts may come again. */
static inline enum err measure_content(struct decode_frame *frame,
                                       const struct port_field *field,
                                       bool is_again,
                                       struct block_size *size,
                                       struct bytes *content)
{
    const enum port_type type = (enum port_type)field->type;
    if (UNLIKELY(type == PORT_LIST || type == PORT_TEXTS)) {
        size->structs += block_aligned(type == PORT_LIST ? sizeof(void *) : sizeof(struct bytes));
    } else if (is_again) {
        return ERR_INVALID;
    }
    const enum err err = read_delimited(frame, content);
    if (err != ERR_OK || field_is_nested(field)) {
        return err;
    }
    size->bytes += content->size;
    return type == PORT_BYTES || bytes_is_utf8(*content) ? ERR_OK : ERR_INVALID;
}

/* Check one field. Unknown ones are invalid, as are wrong wire types, and what comes again and must
 * not. A message is what comes next: *inner and its content. */
static inline enum err measure_field(struct decode_frame *frame,
                                     struct block_size *size,
                                     const struct port_message **inner,
                                     struct bytes *content)
{
    uint64_t tag = 0;
    const enum err err = read_varint(frame, &tag);
    if (err != ERR_OK) {
        return err;
    }
    const uint32_t index = find_field(frame, tag >> 3);
    if (index == frame->message->field_count) {
        return ERR_INVALID;
    }
    const struct port_field *field = &frame->message->fields[index];
    const bool is_again = (frame->seen >> index & 1) != 0;
    frame->next = index + 1;
    frame->seen |= UINT64_C(1) << index;
    if ((tag & 7) != field_wire(field)) {
        return ERR_INVALID;
    }
    if (field_is_scalar(field)) {
        return is_again ? ERR_INVALID : measure_scalar(frame, (enum port_type)field->type);
    }
    *inner = field_is_nested(field) ? field->message : NULL;
    return measure_content(frame, field, is_again, size, content);
}

/* What was met at the top level goes to *seen. */
static enum err measure(const struct port_message *message,
                        struct bytes source,
                        struct block_size *size,
                        uint64_t *seen)
{
    static const uint8_t nothing[1] = {0};
    struct decode_frame frames[PORT_FRAMES_MAX];
    struct decode_frame *at = frames; /* of the innermost message */
    struct block_size sum = {0};
    if (source.size > UINT32_MAX) {
        return ERR_INVALID;
    }
    source.data = source.size == 0 ? nothing : source.data;
    *at = frame_of(message, source);
    block_size_add(&sum, message);
    for (;;) {
        const struct port_message *inner = NULL;
        struct bytes content = {0};
        if (at->position == at->end) {
            if (at == frames) {
                *size = sum;
                *seen = at->seen;
                return ERR_OK;
            }
            at--;
            continue;
        }
        const enum err err = measure_field(at, &sum, &inner, &content);
        if (err != ERR_OK) {
            /* Within a message whose size is stated, an early end is a contradiction. */
            return at != frames && err == ERR_TRUNCATED ? ERR_INVALID : err;
        }
        if (inner != NULL) {
            if (at == &frames[PORT_NESTING_MAX]) {
                return ERR_INVALID;
            }
            at++;
            *at = frame_of(inner, content);
            block_size_add(&sum, inner);
        }
    }
}

/* --- building ---------------------------------------------------------------------------------- */

static inline uint64_t next_varint(struct decode_frame *frame)
{
    uint64_t number = 0;
    const enum err err = read_varint(frame, &number);
    CHECK(err == ERR_OK);
    return number;
}

/* The next field of a message that has been validated. */
static inline const struct port_field *next_field(struct decode_frame *frame)
{
    const uint32_t index = find_field(frame, next_varint(frame) >> 3);
    CHECK(index < frame->message->field_count);
    frame->next = index + 1;
    return &frame->message->fields[index];
}

static inline struct bytes next_delimited(struct decode_frame *frame)
{
    struct bytes value = {0};
    const enum err err = read_delimited(frame, &value);
    CHECK(err == ERR_OK);
    return value;
}

/* How often a field occurs in the rest of a message that has been validated. */
static uint32_t count_occurrences(const struct decode_frame *frame, const struct port_field *wanted)
{
    struct decode_frame scan = *frame;
    uint32_t count = 0;
    while (scan.position < scan.end) {
        const struct port_field *field = next_field(&scan);
        if (field_is_scalar(field)) {
            (void)next_varint(&scan);
        } else {
            (void)next_delimited(&scan);
        }
        count += field == wanted;
    }
    return count;
}

/* What a build is made of: where it goes, and whether bytes stay in the source. */
struct building {
    struct block block;
    bool views;
};

/* The place of the next of several items of size bytes each. The first of them takes an array for
 * all that come, itself included: its content has just been read. */
static uint8_t *place_item(struct building *building,
                           const struct decode_frame *frame,
                           const struct port_field *field,
                           const void **items,
                           uint32_t *count,
                           size_t size)
{
    if (*count == 0) {
        const uint32_t all = count_occurrences(frame, field) + 1;
        *items = block_struct(&building->block, all * size);
    }
    uint8_t *place = block_writable(&building->block, *items) + *count * size;
    *count += 1;
    return place;
}

static void build_text(struct building *building,
                       struct decode_frame *frame,
                       const struct port_field *field,
                       struct bytes value)
{
    struct port_texts texts = field_texts(field, frame->value);
    const void *items = texts.items;
    uint8_t *place = place_item(building, frame, field, &items, &texts.count, sizeof(value));
    memcpy(place, &value, sizeof(value));
    texts.items = items;
    memcpy(frame->value + field->offset, &texts, sizeof(texts));
}

static uint8_t *begin_value(struct building *building, const struct port_message *message)
{
    uint8_t *value = block_struct(&building->block, message->size);
    memset(value, 0, message->size);
    return value;
}

/* Begin a message within another one and hang it there. */
static uint8_t *
build_message(struct building *building, struct decode_frame *frame, const struct port_field *field)
{
    uint8_t *place = frame->value + field->offset;
    if (field->type == PORT_LIST) {
        struct port_list list = field_list(field, frame->value);
        const void *items = (const void *)list.items;
        place = place_item(building, frame, field, &items, &list.count, sizeof(void *));
        list.items = items;
        memcpy(frame->value + field->offset, &list, sizeof(list));
    }
    uint8_t *value = begin_value(building, field->message);
    const void *pointer = value;
    memcpy(place, &pointer, sizeof(pointer));
    return value;
}

static inline void build_bytes(struct building *building,
                               struct decode_frame *frame,
                               const struct port_field *field,
                               struct bytes source)
{
    const struct bytes value = building->views ? source : block_copy(&building->block, source);
    if (field->type == PORT_TEXTS) {
        build_text(building, frame, field, value);
    } else {
        memcpy(frame->value + field->offset, &value, sizeof(value));
    }
}

/* Build what has been validated and measured. */
static void
build(struct building *building, const struct port_message *message, struct bytes source)
{
    static const uint8_t nothing[1] = {0};
    struct decode_frame frames[PORT_FRAMES_MAX];
    struct decode_frame *at = frames; /* of the innermost message */
    source.data = source.size == 0 ? nothing : source.data;
    *at = frame_of(message, source);
    at->value = begin_value(building, message);
    for (;;) {
        if (at->position == at->end) {
            if (at == frames) {
                return;
            }
            at--;
            continue;
        }
        const struct port_field *field = next_field(at);
        if (field_is_scalar(field)) {
            field_set_scalar(field, at->value, next_varint(at));
        } else if (!field_is_nested(field)) {
            build_bytes(building, at, field, next_delimited(at));
        } else {
            CHECK(at < &frames[PORT_NESTING_MAX]);
            at[1] = frame_of(field->message, next_delimited(at));
            at[1].value = build_message(building, at, field);
            at++;
        }
    }
}

/* --- the interface ----------------------------------------------------------------------------- */

enum err port_decode(const struct port_message *message,
                     struct bytes source,
                     const struct allocator *allocator,
                     void **value,
                     size_t *block_size)
{
    struct block_size measured;
    uint64_t seen = 0;
    const enum err err = measure(message, source, &measured, &seen);
    if (err != ERR_OK) {
        return err;
    }
    const size_t size = measured.structs + measured.bytes;
    uint8_t *memory = allocator_take(allocator, size);
    if (memory == NULL) {
        return ERR_LIMIT;
    }
    struct building building = {.block = block_of(memory, size)};
    build(&building, message, source);
    *value = memory;
    *block_size = size;
    return ERR_OK;
}

enum err port_check(const struct port_message *message, struct bytes source, struct port_view *view)
{
    struct block_size measured;
    uint64_t seen = 0;
    const enum err err = measure(message, source, &measured, &seen);
    if (err == ERR_OK) {
        *view = (struct port_view){.block_size = measured.structs, .fields = seen};
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

bool port_view_has(const struct port_message *message,
                   const struct port_view *view,
                   uint32_t number)
{
    for (uint32_t i = 0; i < message->field_count; i++) {
        if (message->fields[i].number == number) {
            return (view->fields >> i & 1) != 0;
        }
    }
    return false;
}

void *port_view_into(const struct port_message *message,
                     struct bytes source,
                     void *block,
                     size_t block_size)
{
    struct building building = {.block = block_of(block, block_size), .views = true};
    build(&building, message, source);
    return block;
}
