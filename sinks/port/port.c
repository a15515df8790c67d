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

static void add_texts(struct block_size *size, struct port_texts texts)
{
    size->structs += block_aligned(texts.count * sizeof(struct bytes));
    for (uint32_t i = 0; i < texts.count; i++) {
        size->bytes += texts.items[i].size;
    }
}

static inline size_t places_size(uint32_t count)
{
    return block_aligned(count * sizeof(void *));
}

/* A message that was entered: its struct, and as one of a list what its place adds to the array. */
static inline void add_message(struct block_size *size, const struct walk *walk)
{
    block_size_add(size, walk->field->message);
    if (walk->field->type == PORT_LIST) {
        size->structs += places_size(walk->item) - places_size(walk->item - 1);
    }
}

size_t port_clone_size(const struct port_message *message, const void *value)
{
    struct block_size size = {0};
    struct walk walk;
    enum walk_kind kind = WALK_ENTER;
    walk_init(&walk, message, value);
    block_size_add(&size, message);
    while (kind != WALK_END) {
        kind = walk_next(&walk);
        if (kind == WALK_ENTER) {
            add_message(&size, &walk);
        } else if (kind == WALK_FIELD && walk.field->type == PORT_TEXTS) {
            add_texts(&size, field_texts(walk.field, walk.at.value));
        } else if (kind == WALK_FIELD && !field_is_scalar(walk.field)) {
            size.bytes += field_bytes(walk.field, walk.at.value).size;
        }
    }
    return size.structs + size.bytes;
}

/* Bytes are digested in one go, where the block holds them side by side. What is left, sizes, numbers
 * and the structure, are the coefficients of a polynomial. */
struct cloning {
    struct block block;
    bool is_digested;
    uint64_t digest;
};

/* A message whose copy is being made. A copy begins as the struct itself, so that what is still to be
 * copied is found in it. */
struct clone_frame {
    const struct port_field *next;
    const struct port_field *end;
    uint8_t *copy;
    const void *const *items; /* of the list at next, once its copy is begun */
    uint32_t item;            /* of that list: those that are copied */
};

#define DIGEST_FACTOR UINT64_C(0x9e3779b97f4a7c15)
#define DIGEST_ENTER  UINT64_C(0xa0761d6478bd642f)
#define DIGEST_LEAVE  UINT64_C(0xe7037ed1a0b428db)

static inline void digest_number(struct cloning *to, const struct port_field *field, uint64_t value)
{
    if (to->is_digested) {
        to->digest =
            (to->digest + value + field->number * UINT64_C(0x1d8e4e27c47d124f)) * DIGEST_FACTOR;
    }
}

static inline void digest_scalar(struct cloning *to, const struct port_field *field, uint64_t value)
{
    if (value != 0) {
        digest_number(to, field, value);
    }
}

/* Copy a struct into the block, which has room. */
static inline uint8_t *
clone_struct(struct cloning *to, const struct port_message *message, const uint8_t *value)
{
    uint8_t *copy = block_struct(&to->block, message->size);
    memcpy(copy, value, message->size);
    return copy;
}

static SPECIALISED bool
clone_bytes(struct cloning *to, const struct port_field *field, uint8_t *copy)
{
    struct bytes bytes = field_bytes(field, copy);
    if (bytes.size > block_left(&to->block)) {
        return false;
    }
    if (bytes.size > 0) {
        digest_number(to, field, bytes.size);
    }
    bytes = block_copy(&to->block, bytes);
    memcpy(copy + field->offset, &bytes, sizeof(bytes));
    return true;
}

static SPECIALISED bool
clone_texts(struct cloning *to, const struct port_field *field, uint8_t *copy)
{
    struct port_texts texts = field_texts(field, copy);
    struct block_size size = {0};
    add_texts(&size, texts);
    if (size.structs + size.bytes > block_left(&to->block)) {
        return false;
    }
    uint8_t *items = block_struct(&to->block, texts.count * sizeof(struct bytes));
    for (uint32_t i = 0; i < texts.count; i++) {
        digest_number(to, field, texts.items[i].size + 1);
        const struct bytes text = block_copy(&to->block, texts.items[i]);
        memcpy(items + i * sizeof(text), &text, sizeof(text));
    }
    texts.items = texts.count == 0 ? NULL : (const struct bytes *)(void *)items;
    memcpy(copy + field->offset, &texts, sizeof(texts));
    return true;
}

/* A message without anything outside of its struct needs no frame. */
static SPECIALISED bool
clone_flat(struct cloning *to, const struct port_field *field, uint8_t *copy)
{
    const struct port_message *message = field->message;
    const uint8_t *value = field_message(field, copy);
    if (block_aligned(message->size) > block_left(&to->block)) {
        return false;
    }
    const void *pointer = clone_struct(to, message, value);
    memcpy(copy + field->offset, &pointer, sizeof(pointer));
    digest_number(to, field, DIGEST_ENTER);
    for (uint16_t i = 0; to->is_digested && i < message->field_count; i++) {
        digest_scalar(to, &message->fields[i], field_scalar(&message->fields[i], value));
    }
    digest_number(to, field, DIGEST_LEAVE);
    return true;
}

/* Give the copy its own content up to the next message that needs a frame, or up to its end. False
 * when there is no room. */
static SPECIALISED bool clone_fields(struct cloning *to, struct clone_frame *at)
{
    const struct port_field *field = at->next;
    for (; field != at->end; field++) {
        switch ((enum port_type)field->type) {
        case PORT_BOOL:
        case PORT_U32:
        case PORT_ENUM:
        case PORT_U64:
        case PORT_I64:
            if (to->is_digested) {
                digest_scalar(to, field, field_scalar(field, at->copy));
            }
            break;
        case PORT_BYTES:
        case PORT_TEXT:
            if (!clone_bytes(to, field, at->copy)) {
                return false;
            }
            break;
        case PORT_TEXTS:
            if (!clone_texts(to, field, at->copy)) {
                return false;
            }
            break;
        case PORT_MESSAGE:
            if (field_message(field, at->copy) == NULL) {
                break;
            }
            if (!field->message->is_flat) {
                at->next = field;
                return true;
            }
            if (!clone_flat(to, field, at->copy)) {
                return false;
            }
            break;
        case PORT_LIST:
            if (field_list(field, at->copy).count > 0) {
                at->next = field;
                return true;
            }
            break;
        case PORT_TYPE_NONE:
            UNREACHABLE();
        }
    }
    at->next = field;
    return true;
}

/* Take the next message of the list at hand, past the list with its last one; *place is where its copy
 * is to hang. The first one takes the list's array. NULL when there is no room. */
static const void *next_item(struct cloning *to, struct clone_frame *at, uint8_t **place)
{
    const struct port_field *field = at->next;
    struct port_list list = field_list(field, at->copy);
    if (at->item == 0) {
        if (places_size(list.count) > block_left(&to->block)) {
            return NULL;
        }
        at->items = list.items;
        list.items =
            (const void *const *)(void *)block_struct(&to->block, list.count * sizeof(void *));
        memcpy(at->copy + field->offset, &list, sizeof(list));
    }
    const void *message = at->items[at->item];
    CHECK(message != NULL);
    *place = block_writable(&to->block, list.items) + at->item * sizeof(void *);
    at->item++;
    if (at->item == list.count) {
        at->item = 0;
        at->next++;
    }
    return message;
}

/* The copy of the message that comes next, hung into that of its parent; NULL when there is no room. */
static SPECIALISED uint8_t *clone_next(struct cloning *to, struct clone_frame *at)
{
    const struct port_field *field = at->next;
    uint8_t *place = at->copy + field->offset;
    const void *value = NULL;
    if (field->type == PORT_MESSAGE) {
        value = field_message(field, at->copy);
        at->next++;
    } else {
        value = next_item(to, at, &place);
    }
    if (value == NULL || block_aligned(field->message->size) > block_left(&to->block)) {
        return NULL;
    }
    uint8_t *copy = clone_struct(to, field->message, value);
    const void *pointer = copy;
    memcpy(place, &pointer, sizeof(pointer));
    digest_number(to, field, DIGEST_ENTER);
    return copy;
}

static inline struct clone_frame clone_frame_of(const struct port_message *message, uint8_t *copy)
{
    return (struct clone_frame){
        .next = message->fields, .end = message->fields + message->field_count, .copy = copy};
}

/* Make the copy; returns how much of the block it took, 0 when there was no room. */
static SPECIALISED size_t clone_all(struct cloning *to,
                                    const struct port_message *message,
                                    const void *value,
                                    size_t size)
{
    struct clone_frame frames[PORT_FRAMES_MAX];
    struct clone_frame *at = frames; /* of the innermost message */
    if (block_aligned(message->size) > size) {
        return 0;
    }
    *at = clone_frame_of(message, clone_struct(to, message, value));
    for (;;) {
        if (!clone_fields(to, at)) {
            return 0;
        }
        if (at->next != at->end) {
            const struct port_message *inner = at->next->message;
            uint8_t *copy = clone_next(to, at);
            if (copy == NULL) {
                return 0;
            }
            CHECK(at < &frames[PORT_NESTING_MAX]);
            at++;
            *at = clone_frame_of(inner, copy);
        } else if (at != frames) {
            to->digest = (to->digest + DIGEST_LEAVE) * DIGEST_FACTOR;
            at--;
        } else {
            return to->block.structs_end + size - to->block.bytes_start;
        }
    }
}

static size_t
clone_only(const struct port_message *message, const void *value, void *memory, size_t memory_size)
{
    struct cloning to = {.block = block_of(memory, memory_size), .is_digested = false};
    return clone_all(&to, message, value, memory_size);
}

size_t port_clone_try(const struct port_message *message,
                      const void *value,
                      void *memory,
                      size_t memory_size,
                      uint64_t *digest_or_null)
{
    if (digest_or_null == NULL) {
        return clone_only(message, value, memory, memory_size);
    }
    struct cloning to = {.block = block_of(memory, memory_size), .is_digested = true};
    const size_t used = clone_all(&to, message, value, memory_size);
    if (used > 0) {
        const struct bytes bytes = {to.block.memory + to.block.bytes_start,
                                    memory_size - to.block.bytes_start};
        *digest_or_null = digest_fold(to.digest, bytes.size == 0 ? 0 : digest_bytes(bytes));
    }
    return used;
}

void *port_clone_into(const struct port_message *message,
                      const void *value,
                      void *memory,
                      size_t memory_size)
{
    const size_t used = clone_only(message, value, memory, memory_size);
    CHECK(used > 0);
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
