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

/* One message being read. */
struct decode_frame {
    const struct port_field *fields;
    const struct port_field *fields_end;
    const struct port_field *next; /* behind the last one met: in canonical form they ascend */
    const uint8_t *position;
    const uint8_t *end;
    uint8_t *value; /* while building */
    uint64_t seen;  /* while measuring: bit per field */
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

/* Note that the field of a tag was met: only lists and texts may come again. */
static inline enum err
note_seen(struct decode_frame *frame, const struct port_field *field, struct block_size *size)
{
    const uint64_t bit = UINT64_C(1) << (field - frame->fields);
    if (UNLIKELY(field->type == PORT_LIST || field->type == PORT_TEXTS)) {
        size->structs +=
            block_aligned(field->type == PORT_LIST ? sizeof(void *) : sizeof(struct bytes));
    } else if ((frame->seen & bit) != 0) {
        return ERR_INVALID;
    }
    frame->seen |= bit;
    return ERR_OK;
}

static inline enum err check_scalar(struct decode_frame *frame, const struct port_field *field)
{
    uint64_t number = 0;
    const enum err err = read_varint(frame, &number);
    if (err != ERR_OK) {
        return err;
    }
    const bool is_word = field->type == PORT_U32 || field->type == PORT_ENUM;
    return (is_word && number > UINT32_MAX) || (field->type == PORT_BOOL && number > 1)
               ? ERR_INVALID
               : ERR_OK;
}

/* Check the content of a field that is no message, and add its size. */
static inline enum err
check_content(struct decode_frame *frame, const struct port_field *field, struct block_size *size)
{
    struct bytes content = {0};
    if (field_is_scalar(field)) {
        return check_scalar(frame, field);
    }
    const enum err err = read_delimited(frame, &content);
    if (err != ERR_OK) {
        return err;
    }
    size->bytes += content.size;
    return field->type == PORT_BYTES || bytes_is_utf8(content) ? ERR_OK : ERR_INVALID;
}

/* Check fields up to the next message, which is given, or the end, where *field is NULL. */
static inline enum err
measure_fields(struct decode_frame *frame, const struct port_field **field, struct block_size *size)
{
    while (frame->position != frame->end) {
        const struct port_field *found = NULL;
        enum err err = read_tag(frame, &found);
        if (err == ERR_OK) {
            err = note_seen(frame, found, size);
        }
        if (err == ERR_OK && field_is_nested(found)) {
            *field = found;
            return ERR_OK;
        }
        if (err == ERR_OK) {
            err = check_content(frame, found, size);
        }
        if (err != ERR_OK) {
            return err;
        }
    }
    *field = NULL;
    return ERR_OK;
}

/* Within a message whose size is stated, an early end is a contradiction. */
static enum err err_at(uint32_t depth, enum err err)
{
    return depth > 0 && err == ERR_TRUNCATED ? ERR_INVALID : err;
}

/* The innermost frame and the sums are variables, so that they may stay in registers. */
static enum err
measure(const struct port_message *message, struct bytes source, struct block_size *size)
{
    static const uint8_t nothing[1] = {0};
    struct decode_frame parents[PORT_NESTING_MAX];
    uint32_t depth = 0;
    struct block_size sum = {0};
    if (source.size > UINT32_MAX) {
        return ERR_INVALID;
    }
    source.data = source.size == 0 ? nothing : source.data;
    struct decode_frame at = frame_of(message, source);
    block_size_add(&sum, message);
    for (;;) {
        const struct port_field *field = NULL;
        struct bytes inner = {0};
        enum err err = measure_fields(&at, &field, &sum);
        if (err != ERR_OK) {
            return err_at(depth, err);
        }
        if (field == NULL) {
            if (depth == 0) {
                *size = sum;
                return ERR_OK;
            }
            depth--;
            at = parents[depth];
            continue;
        }
        if (depth == PORT_NESTING_MAX) {
            return ERR_INVALID;
        }
        err = read_delimited(&at, &inner);
        if (err != ERR_OK) {
            return err_at(depth, err);
        }
        parents[depth] = at;
        depth++;
        at = frame_of(field->message, inner);
        block_size_add(&sum, field->message);
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
