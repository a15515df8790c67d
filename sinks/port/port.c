/* What is read from a message's table goes over it without recursion: a walk keeps one frame per nesting
 * level and yields fields in order, so that size, encoding, equality and digest each see the same
 * sequence. Decoding and cloning have code of their own (sinks/port/code.h). */
#include "sinks/port/port.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/port/block.h"
#include "sinks/port/code.h"
#include "sinks/port/fields.h"

#include <string.h>

/* --- walking ----------------------------------------------------------------------------------- */

enum walk_kind {
    WALK_END = 0,
    WALK_FIELD, /* any field but a message or a list of messages; also one that is absent */
    WALK_ENTER, /* a message, or one of a list */
    WALK_LEAVE,
    WALK_ABSENT, /* passed a message that is not there, or an empty list */
};

struct walk_frame {
    const struct port_field *next;
    const struct port_field *end;
    const uint8_t *value;
    uint32_t item; /* of the list at next */
};

struct walk {
    const struct port_field *field; /* what FIELD and ENTER are about */
    uint32_t item;                  /* ENTER: the how manieth of a list, from 1 */
    uint32_t depth;
    struct walk_frame at; /* the innermost message */
    struct walk_frame parents[PORT_NESTING_MAX];
};

static inline struct walk_frame frame_of(const struct port_message *message, const void *value)
{
    return (struct walk_frame){message->fields, message->fields + message->field_count, value, 0};
}

static inline void
walk_init(struct walk *walk, const struct port_message *message, const void *value)
{
    walk->field = NULL;
    walk->item = 0;
    walk->depth = 0;
    walk->at = frame_of(message, value);
}

/* Pass the next field and return it; NULL when a message, a list of them or the end comes next. */
static inline const struct port_field *walk_field(struct walk *walk)
{
    const struct port_field *field = walk->at.next;
    if (field == walk->at.end || field_is_nested(field)) {
        return NULL;
    }
    walk->at.next++;
    return field;
}

/* The next message of the list that the walk is at, and past the list with its last one. */
static inline const void *take_item(struct walk *walk)
{
    struct walk_frame *at = &walk->at;
    const struct port_list list = field_list(at->next, at->value);
    const void *message = at->item < list.count ? list.items[at->item] : NULL;
    at->item++;
    walk->item = at->item;
    if (at->item >= list.count) {
        at->item = 0;
        at->next++;
    }
    return message;
}

static inline const void *take_message(struct walk *walk)
{
    if (walk->at.next->type == PORT_LIST) {
        return take_item(walk);
    }
    walk->at.next++;
    return field_message(walk->field, walk->at.value);
}

/* After walk_field gave NULL: enter the next message, leave this one, or pass what is absent. */
static inline enum walk_kind walk_turn(struct walk *walk)
{
    if (walk->at.next == walk->at.end) {
        if (walk->depth == 0) {
            return WALK_END;
        }
        walk->depth--;
        walk->at = walk->parents[walk->depth];
        return WALK_LEAVE;
    }
    walk->field = walk->at.next;
    const void *message = take_message(walk);
    if (message == NULL) {
        return WALK_ABSENT;
    }
    CHECK(walk->depth < PORT_NESTING_MAX);
    walk->parents[walk->depth] = walk->at;
    walk->depth++;
    walk->at = frame_of(walk->field->message, message);
    return WALK_ENTER;
}

/* One step of any kind but WALK_ABSENT. */
static enum walk_kind walk_next(struct walk *walk)
{
    enum walk_kind kind = WALK_ABSENT;
    while (kind == WALK_ABSENT) {
        const struct port_field *field = walk_field(walk);
        if (field != NULL) {
            walk->field = field;
            return WALK_FIELD;
        }
        kind = walk_turn(walk);
    }
    return kind;
}

/* --- encoding ---------------------------------------------------------------------------------- */

static size_t varint_size(uint64_t value)
{
    size_t size = 1;
    while (value >= 0x80) {
        value >>= 7;
        size++;
    }
    return size;
}

static size_t delimited_size(const struct port_field *field, size_t size)
{
    return varint_size(field_tag(field)) + varint_size(size) + size;
}

static size_t field_size(const struct port_field *field, const uint8_t *value)
{
    if (field_is_scalar(field)) {
        const uint64_t number = field_scalar(field, value);
        return number == 0 ? 0 : varint_size(field_tag(field)) + varint_size(number);
    }
    if (field->type == PORT_TEXTS) {
        const struct port_texts texts = field_texts(field, value);
        size_t size = 0;
        for (uint32_t i = 0; i < texts.count; i++) {
            size += delimited_size(field, texts.items[i].size);
        }
        return size;
    }
    const size_t size = field_bytes(field, value).size;
    return size == 0 ? 0 : delimited_size(field, size);
}

size_t port_encoded_size(const struct port_message *message, const void *value)
{
    struct walk walk;
    size_t sizes[PORT_FRAMES_MAX];
    const struct port_field *entered[PORT_FRAMES_MAX];
    walk_init(&walk, message, value);
    sizes[0] = 0;
    for (;;) {
        switch (walk_next(&walk)) {
        case WALK_END:
            return sizes[0];
        case WALK_FIELD:
            sizes[walk.depth] += field_size(walk.field, walk.at.value);
            break;
        case WALK_ENTER:
            sizes[walk.depth] = 0;
            entered[walk.depth] = walk.field;
            break;
        case WALK_LEAVE:
            sizes[walk.depth] += delimited_size(entered[walk.depth + 1], sizes[walk.depth + 1]);
            break;
        case WALK_ABSENT:
            UNREACHABLE();
        }
    }
}

static void
write_delimited(const struct port_field *field, struct bytes value, struct byte_writer *writer)
{
    byte_writer_varint(writer, field_tag(field));
    byte_writer_varint(writer, value.size);
    byte_writer_bytes(writer, value);
}

static void
write_field(const struct port_field *field, const uint8_t *value, struct byte_writer *writer)
{
    if (field_is_scalar(field)) {
        const uint64_t number = field_scalar(field, value);
        if (number != 0) {
            byte_writer_varint(writer, field_tag(field));
            byte_writer_varint(writer, number);
        }
        return;
    }
    if (field->type == PORT_TEXTS) {
        const struct port_texts texts = field_texts(field, value);
        for (uint32_t i = 0; i < texts.count; i++) {
            write_delimited(field, texts.items[i], writer);
        }
        return;
    }
    const struct bytes bytes = field_bytes(field, value);
    if (bytes.size > 0) {
        write_delimited(field, bytes, writer);
    }
}

void port_encode(const struct port_message *message, const void *value, struct byte_writer *writer)
{
    struct walk walk;
    walk_init(&walk, message, value);
    for (;;) {
        switch (walk_next(&walk)) {
        case WALK_END:
            return;
        case WALK_FIELD:
            write_field(walk.field, walk.at.value, writer);
            break;
        case WALK_ENTER:
            byte_writer_varint(writer, field_tag(walk.field));
            byte_writer_varint(writer, port_encoded_size(walk.field->message, walk.at.value));
            break;
        case WALK_LEAVE:
            break;
        case WALK_ABSENT:
            UNREACHABLE();
        }
    }
}

/* --- clone ------------------------------------------------------------------------------------- */

size_t port_clone_size(const struct port_message *message, const void *value)
{
    return message->code->size(value);
}

void *port_clone_into(const struct port_message *message,
                      const void *value,
                      void *memory,
                      size_t memory_size,
                      uint64_t *digest_or_null)
{
    struct cloning to = {.block = block_of(memory, memory_size)};
    message->code->clone(&to, value, block_struct(&to.block, message->size));
    if (digest_or_null != NULL) {
        const struct bytes bytes = {to.block.memory + to.block.bytes_start,
                                    memory_size - to.block.bytes_start};
        *digest_or_null = digest_fold(to.digest, bytes.size == 0 ? 0 : digest_bytes(bytes));
    }
    return memory;
}

/* --- equality and digest ----------------------------------------------------------------------- */

static bool texts_equal(struct port_texts a, struct port_texts b)
{
    if (a.count != b.count) {
        return false;
    }
    for (uint32_t i = 0; i < a.count; i++) {
        if (!bytes_equal(a.items[i], b.items[i])) {
            return false;
        }
    }
    return true;
}

static bool field_equal(const struct port_field *field, const uint8_t *a, const uint8_t *b)
{
    if (field_is_scalar(field)) {
        return field_scalar(field, a) == field_scalar(field, b);
    }
    if (field->type == PORT_TEXTS) {
        return texts_equal(field_texts(field, a), field_texts(field, b));
    }
    return bytes_equal(field_bytes(field, a), field_bytes(field, b));
}

bool port_equal(const struct port_message *message, const void *a, const void *b)
{
    struct walk walk_a;
    struct walk walk_b;
    walk_init(&walk_a, message, a);
    walk_init(&walk_b, message, b);
    for (;;) {
        const enum walk_kind kind = walk_next(&walk_a);
        if (kind != walk_next(&walk_b)) {
            return false;
        }
        if (kind == WALK_END) {
            return true;
        }
        if (kind == WALK_LEAVE) {
            continue;
        }
        if (walk_a.field != walk_b.field) {
            return false;
        }
        if (kind == WALK_FIELD && !field_equal(walk_a.field, walk_a.at.value, walk_b.at.value)) {
            return false;
        }
    }
}

static uint64_t fold_texts(uint64_t digest, uint32_t number, struct port_texts texts)
{
    for (uint32_t i = 0; i < texts.count; i++) {
        digest = digest_fold(digest_fold(digest, number), digest_bytes(texts.items[i]));
    }
    return digest;
}

static inline uint64_t
fold_field(uint64_t digest, const struct port_field *field, const uint8_t *value)
{
    if (field->type == PORT_TEXTS) {
        return fold_texts(digest, field->number, field_texts(field, value));
    }
    uint64_t content = 0;
    if (field_is_scalar(field)) {
        content = field_scalar(field, value);
        if (content == 0) {
            return digest;
        }
    } else {
        const struct bytes bytes = field_bytes(field, value);
        if (bytes.size == 0) {
            return digest;
        }
        content = digest_bytes(bytes);
    }
    return digest_fold(digest_fold(digest, field->number), content);
}

uint64_t port_digest(const struct port_message *message, const void *value)
{
    uint64_t digest = 0;
    struct walk walk;
    enum walk_kind kind = WALK_ENTER;
    walk_init(&walk, message, value);
    while (kind != WALK_END) {
        const struct port_field *field = walk_field(&walk);
        if (field != NULL) {
            digest = fold_field(digest, field, walk.at.value);
            continue;
        }
        kind = walk_turn(&walk);
        if (kind == WALK_ENTER) {
            digest = digest_fold(digest, (uint64_t)walk.field->number << 32 | WALK_ENTER);
        } else if (kind == WALK_LEAVE) {
            digest = digest_fold(digest, UINT64_C(1) << 63 | WALK_LEAVE);
        }
    }
    return digest;
}
