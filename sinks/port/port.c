/* Everything here goes over a message without recursion: a walk keeps one frame per nesting level and
 * yields fields in order, so that size, encoding, clone, equality and digest each see the same
 * sequence. */
#include "sinks/port/port.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/port/block.h"
#include "sinks/port/fields.h"

#include <string.h>

/* --- walking ----------------------------------------------------------------------------------- */

enum walk_kind {
    WALK_END = 0,
    WALK_FIELD, /* any field but a message or a list of messages; also one that is absent */
    WALK_ENTER, /* a message, or one of a list */
    WALK_LEAVE,
};

struct walk_frame {
    const struct port_message *message;
    const uint8_t *value;
    uint32_t item; /* within a list, or 1 after a message */
    uint16_t field;
};

struct walk {
    const struct port_field *field; /* what FIELD and ENTER are about */
    uint32_t depth;                 /* index of the innermost frame */
    struct walk_frame frames[PORT_FRAMES_MAX];
};

static void walk_init(struct walk *walk, const struct port_message *message, const void *value)
{
    walk->field = NULL;
    walk->depth = 0;
    walk->frames[0] = (struct walk_frame){.message = message, .value = value};
}

static void walk_enter(struct walk *walk, const struct port_field *field, const void *value)
{
    CHECK(walk->depth < PORT_NESTING_MAX);
    CHECK(value != NULL);
    walk->field = field;
    walk->frames[walk->depth].item++;
    walk->depth++;
    walk->frames[walk->depth] = (struct walk_frame){.message = field->message, .value = value};
}

/* The message that a message or list field comes to next, or NULL when it has no more. */
static const void *next_message(const struct port_field *field, const struct walk_frame *frame)
{
    if (field->type == PORT_MESSAGE) {
        return frame->item == 0 ? field_message(field, frame->value) : NULL;
    }
    const struct port_list list = field_list(field, frame->value);
    return frame->item < list.count ? list.items[frame->item] : NULL;
}

static enum walk_kind walk_next(struct walk *walk)
{
    for (;;) {
        struct walk_frame *frame = &walk->frames[walk->depth];
        if (frame->field == frame->message->field_count) {
            if (walk->depth == 0) {
                return WALK_END;
            }
            walk->depth--;
            return WALK_LEAVE;
        }
        const struct port_field *field = &frame->message->fields[frame->field];
        if (field->type == PORT_MESSAGE || field->type == PORT_LIST) {
            const void *message = next_message(field, frame);
            if (message != NULL) {
                walk_enter(walk, field, message);
                return WALK_ENTER;
            }
            frame->item = 0;
            frame->field++;
            continue;
        }
        frame->field++;
        walk->field = field;
        return WALK_FIELD;
    }
}

static const uint8_t *walk_value(const struct walk *walk)
{
    return walk->frames[walk->depth].value;
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
            sizes[walk.depth] += field_size(walk.field, walk_value(&walk));
            break;
        case WALK_ENTER:
            sizes[walk.depth] = 0;
            entered[walk.depth] = walk.field;
            break;
        case WALK_LEAVE:
            sizes[walk.depth] += delimited_size(entered[walk.depth + 1], sizes[walk.depth + 1]);
            break;
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
            write_field(walk.field, walk_value(&walk), writer);
            break;
        case WALK_ENTER:
            byte_writer_varint(writer, field_tag(walk.field));
            byte_writer_varint(writer, port_encoded_size(walk.field->message, walk_value(&walk)));
            break;
        case WALK_LEAVE:
            break;
        }
    }
}

/* --- clone ------------------------------------------------------------------------------------- */

/* What a message holds itself: bytes, and arrays of texts and lists. */
static void
add_contents(struct block_size *size, const struct port_message *message, const uint8_t *value)
{
    for (uint16_t i = 0; i < message->field_count; i++) {
        const struct port_field *field = &message->fields[i];
        if (field->type == PORT_BYTES || field->type == PORT_TEXT) {
            size->bytes += field_bytes(field, value).size;
        } else if (field->type == PORT_LIST) {
            size->structs += block_aligned(field_list(field, value).count * sizeof(void *));
        } else if (field->type == PORT_TEXTS) {
            const struct port_texts texts = field_texts(field, value);
            size->structs += block_aligned(texts.count * sizeof(struct bytes));
            for (uint32_t k = 0; k < texts.count; k++) {
                size->bytes += texts.items[k].size;
            }
        }
    }
}

static enum walk_kind walk_next_message(struct walk *walk)
{
    enum walk_kind kind = WALK_END;
    do {
        kind = walk_next(walk);
    } while (kind == WALK_FIELD);
    return kind;
}

static struct block_size measure(const struct port_message *message, const void *value)
{
    struct block_size size = {0};
    struct walk walk;
    walk_init(&walk, message, value);
    block_size_add(&size, message);
    add_contents(&size, message, value);
    for (enum walk_kind kind = walk_next_message(&walk); kind != WALK_END;
         kind = walk_next_message(&walk)) {
        if (kind == WALK_ENTER) {
            block_size_add(&size, walk.field->message);
            add_contents(&size, walk.field->message, walk_value(&walk));
        }
    }
    return size;
}

size_t port_clone_size(const struct port_message *message, const void *value)
{
    const struct block_size size = measure(message, value);
    return size.structs + size.bytes;
}

static void clone_texts(struct block *block, const struct port_field *field, uint8_t *copy)
{
    struct port_texts texts = field_texts(field, copy);
    uint8_t *items = block_struct(block, texts.count * sizeof(struct bytes));
    for (uint32_t i = 0; i < texts.count; i++) {
        const struct bytes text = block_copy(block, texts.items[i]);
        memcpy(items + i * sizeof(text), &text, sizeof(text));
    }
    texts.items = texts.count == 0 ? NULL : (const struct bytes *)(void *)items;
    memcpy(copy + field->offset, &texts, sizeof(texts));
}

/* Copy a struct with its bytes; lists get arrays whose slots are filled as their items come. */
static uint8_t *
clone_struct(struct block *block, const struct port_message *message, const uint8_t *value)
{
    uint8_t *copy = block_struct(block, message->size);
    memcpy(copy, value, message->size);
    for (uint16_t i = 0; i < message->field_count; i++) {
        const struct port_field *field = &message->fields[i];
        if (field->type == PORT_BYTES || field->type == PORT_TEXT) {
            const struct bytes bytes = block_copy(block, field_bytes(field, value));
            memcpy(copy + field->offset, &bytes, sizeof(bytes));
        } else if (field->type == PORT_LIST) {
            struct port_list list = field_list(field, value);
            uint8_t *items = block_struct(block, list.count * sizeof(void *));
            list.items = list.count == 0 ? NULL : (const void *const *)(void *)items;
            memcpy(copy + field->offset, &list, sizeof(list));
        } else if (field->type == PORT_TEXTS) {
            clone_texts(block, field, copy);
        }
    }
    return copy;
}

void *port_clone_into(const struct port_message *message,
                      const void *value,
                      void *memory,
                      size_t memory_size)
{
    const struct block_size size = measure(message, value);
    CHECK(size.structs + size.bytes <= memory_size);
    struct block block = {.memory = memory, .bytes_used = size.structs};
    uint8_t *copies[PORT_FRAMES_MAX];
    struct walk walk;
    walk_init(&walk, message, value);
    copies[0] = clone_struct(&block, message, value);
    for (enum walk_kind kind = walk_next_message(&walk); kind != WALK_END;
         kind = walk_next_message(&walk)) {
        if (kind == WALK_ENTER) {
            const uint32_t depth = walk.depth;
            copies[depth] = clone_struct(&block, walk.field->message, walk_value(&walk));
            block_attach(
                &block, walk.field, copies[depth - 1], walk.frames[depth - 1].item, copies[depth]);
        }
    }
    CHECK(block.structs_used == size.structs);
    CHECK(block.bytes_used == size.structs + size.bytes);
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
        if (kind == WALK_FIELD &&
            !field_equal(walk_a.field, walk_value(&walk_a), walk_value(&walk_b))) {
            return false;
        }
    }
}

static uint64_t fold_field(uint64_t digest, const struct port_field *field, const uint8_t *value)
{
    if (field_is_scalar(field)) {
        const uint64_t number = field_scalar(field, value);
        return number == 0 ? digest : digest_fold(digest_fold(digest, field->number), number);
    }
    if (field->type == PORT_TEXTS) {
        const struct port_texts texts = field_texts(field, value);
        for (uint32_t i = 0; i < texts.count; i++) {
            digest = digest_fold(digest_fold(digest, field->number), digest_bytes(texts.items[i]));
        }
        return digest;
    }
    const struct bytes bytes = field_bytes(field, value);
    return bytes.size == 0 ? digest
                           : digest_fold(digest_fold(digest, field->number), digest_bytes(bytes));
}

uint64_t port_digest(const struct port_message *message, const void *value)
{
    uint64_t digest = 0;
    struct walk walk;
    walk_init(&walk, message, value);
    for (;;) {
        switch (walk_next(&walk)) {
        case WALK_END:
            return digest;
        case WALK_FIELD:
            digest = fold_field(digest, walk.field, walk_value(&walk));
            break;
        case WALK_ENTER:
            digest = digest_fold(digest, (uint64_t)walk.field->number << 32 | WALK_ENTER);
            break;
        case WALK_LEAVE:
            digest = digest_fold(digest, UINT64_C(1) << 63 | WALK_LEAVE);
            break;
        }
    }
}
