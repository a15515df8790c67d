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

/* To a clone, a flat message is a field like others. */
static inline bool is_leaf(const struct port_field *field)
{
    return !field_is_nested(field) || (field->type == PORT_MESSAGE && field->message->is_flat);
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

/* The same for leaves. */
static inline const struct port_field *walk_leaf(struct walk *walk)
{
    const struct port_field *field = walk->at.next;
    if (field == walk->at.end || !is_leaf(field)) {
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

/* What a leaf holds outside of its message's struct. */
static inline void
add_contents(struct block_size *size, const struct port_field *field, const uint8_t *value)
{
    if (field->type == PORT_TEXT || field->type == PORT_BYTES) {
        size->bytes += field_bytes(field, value).size;
    } else if (field->type == PORT_MESSAGE) {
        size->structs +=
            field_message(field, value) == NULL ? 0 : block_aligned(field->message->size);
    } else if (field->type == PORT_TEXTS) {
        add_texts(size, field_texts(field, value));
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
        const struct port_field *field = walk_leaf(&walk);
        if (field != NULL) {
            add_contents(&size, field, walk.at.value);
            continue;
        }
        kind = walk_turn(&walk);
        if (kind == WALK_ENTER) {
            add_message(&size, &walk);
        }
    }
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

static inline uint8_t *
clone_struct(struct block *block, const struct port_message *message, const uint8_t *value)
{
    uint8_t *copy = block_struct(block, message->size);
    memcpy(copy, value, message->size);
    return copy;
}

static inline void clone_flat(struct block *block, const struct port_field *field, uint8_t *copy)
{
    const uint8_t *message = field_message(field, copy);
    if (message != NULL) {
        const void *pointer = clone_struct(block, field->message, message);
        memcpy(copy + field->offset, &pointer, sizeof(pointer));
    }
}

/* Give the copy of a struct its own content of a leaf. */
static inline void clone_field(struct block *block, const struct port_field *field, uint8_t *copy)
{
    if (field->type == PORT_TEXT || field->type == PORT_BYTES) {
        const struct bytes bytes = block_copy(block, field_bytes(field, copy));
        memcpy(copy + field->offset, &bytes, sizeof(bytes));
    } else if (field->type == PORT_MESSAGE) {
        clone_flat(block, field, copy);
    } else if (field->type == PORT_TEXTS) {
        clone_texts(block, field, copy);
    }
}

/* Where the copy of a list points to the copy of its item, counted from 1; the first one takes the
 * list's array. */
static uint8_t *
list_place(struct block *block, const struct port_field *field, uint8_t *copy, uint32_t item)
{
    struct port_list list = field_list(field, copy);
    if (item == 1) {
        uint8_t *items = block_struct(block, list.count * sizeof(void *));
        list.items = (const void *const *)(void *)items;
        memcpy(copy + field->offset, &list, sizeof(list));
    }
    return block_writable(block, list.items) + (item - 1) * sizeof(void *);
}

/* Copy the message that was entered and hang it into the copy of its parent. */
static inline uint8_t *clone_message(struct block *block, const struct walk *walk, uint8_t *parent)
{
    const struct port_field *field = walk->field;
    uint8_t *place = field->type == PORT_MESSAGE ? parent + field->offset
                                                 : list_place(block, field, parent, walk->item);
    uint8_t *copy = clone_struct(block, field->message, walk->at.value);
    const void *pointer = copy;
    memcpy(place, &pointer, sizeof(pointer));
    return copy;
}

void *port_clone_into(const struct port_message *message,
                      const void *value,
                      void *memory,
                      size_t memory_size)
{
    struct block block = block_of(memory, memory_size);
    uint8_t *copies[PORT_FRAMES_MAX];
    struct walk walk;
    enum walk_kind kind = WALK_ENTER;
    walk_init(&walk, message, value);
    uint8_t *copy = clone_struct(&block, message, value); /* of the innermost message */
    copies[0] = copy;
    while (kind != WALK_END) {
        const struct port_field *field = walk_leaf(&walk);
        if (field != NULL) {
            clone_field(&block, field, copy);
            continue;
        }
        kind = walk_turn(&walk);
        if (kind == WALK_ENTER) {
            copy = clone_message(&block, &walk, copy);
            copies[walk.depth] = copy;
        } else if (kind == WALK_LEAVE) {
            copy = copies[walk.depth];
        }
    }
    return memory;
}

/* --- clone and digest at once ------------------------------------------------------------------ */

/* Bytes are digested in one go, where the block holds them side by side. What is left, sizes, numbers
 * and the structure, are the coefficients of a polynomial. */
struct cloning {
    struct block block;
    uint64_t digest;
};

#define DIGEST_ENTER UINT64_C(0xa0761d6478bd642f)
#define DIGEST_LEAVE UINT64_C(0xe7037ed1a0b428db)

static inline void digest_number(struct cloning *to, const struct port_field *field, uint64_t value)
{
    to->digest = (to->digest + value + field->number * UINT64_C(0x1d8e4e27c47d124f)) *
                 UINT64_C(0x9e3779b97f4a7c15);
}

static bool try_texts(struct cloning *to, const struct port_field *field, uint8_t *copy)
{
    const struct port_texts texts = field_texts(field, copy);
    struct block_size size = {0};
    add_texts(&size, texts);
    if (size.structs + size.bytes > block_left(&to->block)) {
        return false;
    }
    for (uint32_t i = 0; i < texts.count; i++) {
        digest_number(to, field, texts.items[i].size + 1);
    }
    clone_texts(&to->block, field, copy);
    return true;
}

static bool try_flat(struct cloning *to, const struct port_field *field, uint8_t *copy)
{
    const uint8_t *message = field_message(field, copy);
    if (message == NULL) {
        return true;
    }
    if (block_aligned(field->message->size) > block_left(&to->block)) {
        return false;
    }
    clone_flat(&to->block, field, copy);
    digest_number(to, field, DIGEST_ENTER);
    for (uint16_t i = 0; i < field->message->field_count; i++) {
        const uint64_t number = field_scalar(&field->message->fields[i], message);
        if (number != 0) {
            digest_number(to, &field->message->fields[i], number);
        }
    }
    digest_number(to, field, DIGEST_LEAVE);
    return true;
}

/* Give the copy of a struct its own content of a leaf, and digest that. */
static inline bool try_leaf(struct cloning *to, const struct port_field *field, uint8_t *copy)
{
    if (field->type == PORT_TEXT || field->type == PORT_BYTES) {
        const struct bytes bytes = field_bytes(field, copy);
        if (bytes.size > block_left(&to->block)) {
            return false;
        }
        const struct bytes own = block_copy(&to->block, bytes);
        memcpy(copy + field->offset, &own, sizeof(own));
        if (bytes.size > 0) {
            digest_number(to, field, bytes.size);
        }
        return true;
    }
    if (field->type == PORT_MESSAGE) {
        return try_flat(to, field, copy);
    }
    if (field->type == PORT_TEXTS) {
        return try_texts(to, field, copy);
    }
    const uint64_t number = field_scalar(field, copy);
    if (number != 0) {
        digest_number(to, field, number);
    }
    return true;
}

/* Whether there is room for the message that was entered, and for the list whose first it is. */
static inline bool
has_room(const struct cloning *to, const struct walk *walk, const uint8_t *parent)
{
    const struct port_field *field = walk->field;
    size_t size = block_aligned(field->message->size);
    if (field->type == PORT_LIST && walk->item == 1) {
        size += block_aligned(field_list(field, parent).count * sizeof(void *));
    }
    return size <= block_left(&to->block);
}

size_t port_clone_try(const struct port_message *message,
                      const void *value,
                      void *memory,
                      size_t memory_size,
                      uint64_t *digest_or_null)
{
    struct cloning to = {.block = block_of(memory, memory_size)};
    uint8_t *copies[PORT_FRAMES_MAX];
    struct walk walk;
    enum walk_kind kind = WALK_ENTER;
    if (block_aligned(message->size) > memory_size) {
        return 0;
    }
    walk_init(&walk, message, value);
    uint8_t *copy = clone_struct(&to.block, message, value); /* of the innermost message */
    copies[0] = copy;
    while (kind != WALK_END) {
        const struct port_field *field = walk_leaf(&walk);
        if (field != NULL) {
            if (!try_leaf(&to, field, copy)) {
                return 0;
            }
            continue;
        }
        kind = walk_turn(&walk);
        if (kind == WALK_ENTER) {
            if (!has_room(&to, &walk, copy)) {
                return 0;
            }
            digest_number(&to, walk.field, DIGEST_ENTER);
            copy = clone_message(&to.block, &walk, copy);
            copies[walk.depth] = copy;
        } else if (kind == WALK_LEAVE) {
            to.digest = (to.digest + DIGEST_LEAVE) * UINT64_C(0x9e3779b97f4a7c15);
            copy = copies[walk.depth];
        }
    }
    const size_t bytes_size = memory_size - to.block.bytes_start;
    const struct bytes bytes = {to.block.memory + to.block.bytes_start, bytes_size};
    if (digest_or_null != NULL) {
        *digest_or_null = digest_fold(to.digest, bytes_size == 0 ? 0 : digest_bytes(bytes));
    }
    return to.block.structs_end + bytes_size;
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
