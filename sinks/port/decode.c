/* Decoding goes over the source twice, to validate and measure and then to build, without recursion:
 * one frame per nesting level. The first pass trusts nothing, the second one what the first found. */
#include "sinks/base/check.h"
#include "sinks/port/block.h"
#include "sinks/port/fields.h"
#include "sinks/port/port.h"

#include <string.h>

#define NUMBER_MAX    UINT64_C(0x1fffffff)
#define VARINT_BITS   7u
#define SEEN_BITS_MAX 64u

/* One message being built. */
struct decode_frame {
    const struct port_field *fields;
    const struct port_field *fields_end;
    const struct port_field *next; /* behind the last one met: in canonical form they ascend */
    const uint8_t *position;
    const uint8_t *end;
    uint8_t *value;
};

/* --- reading ----------------------------------------------------------------------------------- */

static inline struct decode_frame frame_of(const struct port_message *message, struct bytes source)
{
    CHECK(message->field_count <= SEEN_BITS_MAX);
    return (struct decode_frame){.fields = message->fields,
                                 .fields_end = message->fields + message->field_count,
                                 .next = message->fields,
                                 .position = source.data,
                                 .end = source.data + source.size};
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

/* Most varints are one byte long. The others are read by way of copies, so that a frame may stay in
 * registers. */
static inline enum err read_varint(struct decode_frame *frame, uint64_t *value)
{
    if (LIKELY(frame->position != frame->end && *frame->position < 0x80)) {
        *value = *frame->position;
        frame->position++;
        return ERR_OK;
    }
    const uint8_t *position = frame->position;
    uint64_t number = 0;
    const enum err err = read_long_varint(&position, frame->end, &number);
    frame->position = position;
    *value = number;
    return err;
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

/* The field with a number, looked for from the expected one on; NULL if there is none. */
static inline const struct port_field *find_field(const struct decode_frame *frame, uint64_t number)
{
    for (const struct port_field *field = frame->next; field != frame->fields_end; field++) {
        if (field->number == number) {
            return field;
        }
    }
    for (const struct port_field *field = frame->fields; field != frame->next; field++) {
        if (field->number == number) {
            return field;
        }
    }
    return NULL;
}

/* Unknown fields are invalid, as are wrong wire types. */
static inline enum err read_tag(struct decode_frame *frame, const struct port_field **field)
{
    uint64_t tag = 0;
    const enum err err = read_varint(frame, &tag);
    if (err != ERR_OK) {
        return err;
    }
    if (tag >> 3 > NUMBER_MAX) {
        return ERR_INVALID;
    }
    *field = find_field(frame, tag >> 3);
    if (*field == NULL) {
        return ERR_INVALID;
    }
    frame->next = *field + 1;
    return (tag & 7) == field_wire(*field) ? ERR_OK : ERR_INVALID;
}

/* --- validating and measuring ------------------------------------------------------------------ */

/* One message being measured. Fields go by their index, which is also their bit. */
struct measure_frame {
    const struct port_message *message;
    const uint8_t *position;
    const uint8_t *end;
    uint32_t next; /* field behind the last one met: in canonical form they ascend */
    uint64_t seen; /* bit per field */
};

static inline struct measure_frame measure_frame_of(const struct port_message *message,
                                                    struct bytes source)
{
    CHECK(message->field_count <= SEEN_BITS_MAX);
    return (struct measure_frame){
        .message = message, .position = source.data, .end = source.data + source.size};
}

static inline enum err measure_varint(struct measure_frame *at, uint64_t *value)
{
    if (LIKELY(at->position != at->end && *at->position < 0x80)) {
        *value = *at->position;
        at->position++;
        return ERR_OK;
    }
    return read_long_varint(&at->position, at->end, value);
}

/* The content of a field that has one of a stated size. */
static inline enum err measure_delimited(struct measure_frame *at, struct bytes *content)
{
    uint64_t size = 0;
    const enum err err = measure_varint(at, &size);
    if (err != ERR_OK) {
        return err;
    }
    if (size > (uint64_t)(at->end - at->position)) {
        return ERR_TRUNCATED;
    }
    *content = (struct bytes){at->position, (size_t)size};
    at->position += size;
    return ERR_OK;
}

/* The index of the field with a number, looked for from the expected one on; the field count if there
 * is none. */
static inline uint32_t
find_index(const struct port_message *message, uint32_t next, uint64_t number)
{
    for (uint32_t i = next; i < message->field_count; i++) {
        if (message->fields[i].number == number) {
            return i;
        }
    }
    for (uint32_t i = 0; i < next; i++) {
        if (message->fields[i].number == number) {
            return i;
        }
    }
    return message->field_count;
}

static inline enum err measure_scalar(struct measure_frame *at, enum port_type type)
{
    uint64_t number = 0;
    const enum err err = measure_varint(at, &number);
    const bool is_word = type == PORT_U32 || type == PORT_ENUM;
    if (err != ERR_OK) {
        return err;
    }
    return (is_word && number > UINT32_MAX) || (type == PORT_BOOL && number > 1) ? ERR_INVALID
                                                                                 : ERR_OK;
}

/* Check one field. Unknown ones are invalid, as are wrong wire types, and what comes again and must
 * not. If it is a message, that is what comes next: *inner, and its content. */
static inline enum err measure_field(struct measure_frame *at,
                                     struct block_size *size,
                                     const struct port_message **inner,
                                     struct bytes *content)
{
    uint64_t tag = 0;
    enum err err = measure_varint(at, &tag);
    if (err != ERR_OK) {
        return err;
    }
    const uint32_t index = find_index(at->message, at->next, tag >> 3);
    if (index == at->message->field_count) {
        return ERR_INVALID;
    }
    const struct port_field *field = &at->message->fields[index];
    const enum port_type type = (enum port_type)field->type;
    const bool is_again = (at->seen >> index & 1) != 0;
    at->next = index + 1;
    at->seen |= UINT64_C(1) << index;
    if ((tag & 7) == PORT_WIRE_VARINT) {
        return is_again || !field_is_scalar(field) ? ERR_INVALID : measure_scalar(at, type);
    }
    if ((tag & 7) != PORT_WIRE_LENGTH || field_is_scalar(field)) {
        return ERR_INVALID;
    }
    if (UNLIKELY(type == PORT_LIST || type == PORT_TEXTS)) {
        size->structs += block_aligned(type == PORT_LIST ? sizeof(void *) : sizeof(struct bytes));
    } else if (is_again) {
        return ERR_INVALID;
    }
    if (field_is_nested(field)) {
        *inner = field->message;
        return measure_delimited(at, content);
    }
    err = measure_delimited(at, content);
    if (err != ERR_OK) {
        return err;
    }
    size->bytes += content->size;
    return type == PORT_BYTES || bytes_is_utf8(*content) ? ERR_OK : ERR_INVALID;
}

static enum err
measure(const struct port_message *message, struct bytes source, struct block_size *size)
{
    static const uint8_t nothing[1] = {0};
    struct measure_frame frames[PORT_FRAMES_MAX];
    struct measure_frame *at = frames; /* of the innermost message */
    struct block_size sum = {0};
    if (source.size > UINT32_MAX) {
        return ERR_INVALID;
    }
    source.data = source.size == 0 ? nothing : source.data;
    *at = measure_frame_of(message, source);
    block_size_add(&sum, message);
    for (;;) {
        const struct port_message *inner = NULL;
        struct bytes content = {0};
        if (at->position == at->end) {
            if (at == frames) {
                *size = sum;
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
            *at = measure_frame_of(inner, content);
            block_size_add(&sum, inner);
        }
    }
}

/* --- building ---------------------------------------------------------------------------------- */

/* The next tag of a message that has been validated. */
static inline const struct port_field *next_field(struct decode_frame *frame)
{
    const struct port_field *field = NULL;
    const enum err err = read_tag(frame, &field);
    CHECK(err == ERR_OK);
    return field;
}

static inline uint64_t next_scalar(struct decode_frame *frame)
{
    uint64_t number = 0;
    const enum err err = read_varint(frame, &number);
    CHECK(err == ERR_OK);
    return number;
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
            (void)next_scalar(&scan);
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

/* Build fields up to the next message, which is returned, or the end: NULL. */
static const struct port_field *build_fields(struct building *building, struct decode_frame *frame)
{
    while (frame->position != frame->end) {
        const struct port_field *field = next_field(frame);
        if (field_is_nested(field)) {
            return field;
        }
        if (field_is_scalar(field)) {
            field_set_scalar(field, frame->value, next_scalar(frame));
        } else {
            build_bytes(building, frame, field, next_delimited(frame));
        }
    }
    return NULL;
}

/* Build what has been validated and measured. */
static void
build(struct building *building, const struct port_message *message, struct bytes source)
{
    static const uint8_t nothing[1] = {0};
    struct decode_frame frames[PORT_FRAMES_MAX];
    uint32_t depth = 0;
    source.data = source.size == 0 ? nothing : source.data;
    frames[0] = frame_of(message, source);
    frames[0].value = begin_value(building, message);
    for (;;) {
        struct decode_frame *frame = &frames[depth];
        const struct port_field *field = build_fields(building, frame);
        if (field == NULL) {
            if (depth == 0) {
                return;
            }
            depth--;
            continue;
        }
        CHECK(depth < PORT_NESTING_MAX);
        frame[1] = frame_of(field->message, next_delimited(frame));
        frame[1].value = build_message(building, frame, field);
        depth++;
    }
}

/* --- the interface ----------------------------------------------------------------------------- */

bool port_has_field(const struct port_message *message, struct bytes source, uint32_t number)
{
    if (source.size == 0) {
        return false;
    }
    const struct decode_frame frame = frame_of(message, source);
    for (uint16_t i = 0; i < message->field_count; i++) {
        if (message->fields[i].number == number) {
            return count_occurrences(&frame, &message->fields[i]) > 0;
        }
    }
    return false;
}

enum err port_decode(const struct port_message *message,
                     struct bytes source,
                     const struct allocator *allocator,
                     void **value,
                     size_t *block_size)
{
    struct block_size measured;
    const enum err err = measure(message, source, &measured);
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

enum err port_view_size(const struct port_message *message, struct bytes source, size_t *block_size)
{
    struct block_size measured;
    const enum err err = measure(message, source, &measured);
    if (err == ERR_OK) {
        *block_size = measured.structs;
    }
    return err;
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
