/* What the code is made of that as_check.def, as_build.def, as_size.def and as_clone.def generate from
 * a message's fields: one function per message and purpose, straight through its fields, without a look
 * at its table. Private to sinks/port.
 *
 * A message may hold only those that stand before it in its .def, for it calls their functions. So
 * nesting is bounded by the tables, and hostile bytes cannot add to it. */
#ifndef SINKS_PORT_CODE_H
#define SINKS_PORT_CODE_H

#include "sinks/port/block.h"
#include "sinks/port/fields.h"
#include "sinks/port/port.h"

struct building;
struct cloning;

/* Sums of block_aligned structs and arrays, and of bytes; and the fields that were met. */
struct checked {
    size_t structs;
    size_t bytes;
    uint64_t fields; /* bit per number of those that must not come again */
};

#define CHECKED_NUMBER_END 64

struct port_message_code {
    enum err (*check)(struct bytes source, struct checked *found);
    void (*build)(struct building *to, struct bytes source, void *value);
    size_t (*size)(const void *value);
    void (*clone)(struct cloning *to, const void *value, void *copy);
};

#define PORT_TAG(number, wire) ((uint64_t)(number) << 3 | (wire))

/* --- reading ----------------------------------------------------------------------------------- */

/* What is left of a message. */
struct reading {
    const uint8_t *position;
    const uint8_t *end;
};

static inline struct reading reading_of(struct bytes source)
{
    return (struct reading){source.data, source.data + source.size};
}

/* A varint of several bytes, or of none. By value, so that a reading stays in registers. */
struct long_varint {
    uint64_t value;              /* of enum err when next_or_null is NULL */
    const uint8_t *next_or_null; /* what comes behind it */
};

struct long_varint port_long_varint(const uint8_t *position, const uint8_t *end);

/* Most varints are one byte long. */
static SPECIALISED enum err read_varint(struct reading *at, uint64_t *value)
{
    if (LIKELY(at->position != at->end && *at->position < 0x80)) {
        *value = *at->position;
        at->position++;
        return ERR_OK;
    }
    const struct long_varint found = port_long_varint(at->position, at->end);
    if (found.next_or_null == NULL) {
        return (enum err)found.value;
    }
    *value = found.value;
    at->position = found.next_or_null;
    return ERR_OK;
}

static SPECIALISED enum err read_delimited(struct reading *at, struct bytes *value)
{
    uint64_t size = 0;
    const enum err err = read_varint(at, &size);
    if (err != ERR_OK) {
        return err;
    }
    if (size > (uint64_t)(at->end - at->position)) {
        return ERR_TRUNCATED;
    }
    *value = (struct bytes){at->position, (size_t)size};
    at->position += size;
    return ERR_OK;
}

/* --- checking ---------------------------------------------------------------------------------- */

/* Note a field that must not come again. */
static SPECIALISED enum err check_once(struct checked *found, uint32_t number)
{
    const uint64_t bit = UINT64_C(1) << number;
    if ((found->fields & bit) != 0) {
        return ERR_INVALID;
    }
    found->fields |= bit;
    return ERR_OK;
}

static SPECIALISED enum err
check_scalar(struct reading *at, struct checked *found, uint32_t number, uint64_t max)
{
    uint64_t value = 0;
    enum err err = check_once(found, number);
    if (err == ERR_OK) {
        err = read_varint(at, &value);
    }
    return err == ERR_OK && value > max ? ERR_INVALID : err;
}

static SPECIALISED enum err check_content(struct reading *at, struct checked *found, bool is_text)
{
    struct bytes content = {0};
    const enum err err = read_delimited(at, &content);
    if (err != ERR_OK) {
        return err;
    }
    found->bytes += content.size;
    return !is_text || bytes_is_utf8(content) ? ERR_OK : ERR_INVALID;
}

static SPECIALISED enum err
check_bytes(struct reading *at, struct checked *found, uint32_t number, bool is_text)
{
    const enum err err = check_once(found, number);
    return err == ERR_OK ? check_content(at, found, is_text) : err;
}

/* One of several texts. */
static SPECIALISED enum err check_text(struct reading *at, struct checked *found)
{
    found->structs += block_aligned(sizeof(struct bytes));
    return check_content(at, found, true);
}

/* A message within this one. Its size is stated, so that an early end is a contradiction. */
static SPECIALISED enum err check_inner(struct reading *at,
                                        struct checked *found,
                                        enum err (*check)(struct bytes, struct checked *))
{
    struct bytes content = {0};
    struct checked inner;
    enum err err = read_delimited(at, &content);
    if (err != ERR_OK) {
        return err;
    }
    err = check(content, &inner);
    if (err != ERR_OK) {
        return ERR_INVALID;
    }
    found->structs += inner.structs;
    found->bytes += inner.bytes;
    return ERR_OK;
}

static SPECIALISED enum err check_message(struct reading *at,
                                          struct checked *found,
                                          uint32_t number,
                                          enum err (*check)(struct bytes, struct checked *))
{
    const enum err err = check_once(found, number);
    return err == ERR_OK ? check_inner(at, found, check) : err;
}

/* One message of a list. */
static SPECIALISED enum err check_item(struct reading *at,
                                       struct checked *found,
                                       enum err (*check)(struct bytes, struct checked *))
{
    found->structs += block_aligned(sizeof(void *));
    return check_inner(at, found, check);
}

/* --- building ---------------------------------------------------------------------------------- */

/* What a message is built into from bytes that were checked, and whether its bytes stay where they
 * are. */
struct building {
    struct block block;
    bool views;
};

static SPECIALISED uint64_t next_varint(struct reading *at)
{
    uint64_t value = 0;
    const enum err err = read_varint(at, &value);
    CHECK(err == ERR_OK);
    return value;
}

static SPECIALISED struct bytes next_delimited(struct reading *at)
{
    struct bytes value = {0};
    const enum err err = read_delimited(at, &value);
    CHECK(err == ERR_OK);
    return value;
}

static SPECIALISED struct bytes build_bytes(struct building *to, struct reading *at)
{
    const struct bytes source = next_delimited(at);
    return to->views ? source : block_copy(&to->block, source);
}

static SPECIALISED const void *build_message(struct building *to,
                                             struct reading *at,
                                             size_t size,
                                             void (*build)(struct building *, struct bytes, void *))
{
    void *value = block_struct(&to->block, size);
    build(to, next_delimited(at), value);
    return value;
}

/* The place of the next of several items of size bytes each, whose tag has just been read. The first
 * of them takes an array for all that come. */
void *port_build_place(struct building *to,
                       struct reading at,
                       uint64_t tag,
                       const void **items,
                       uint32_t *count,
                       size_t size);

static SPECIALISED void build_item(struct building *to,
                                   struct reading *at,
                                   uint64_t tag,
                                   struct port_list *list,
                                   size_t size,
                                   void (*build)(struct building *, struct bytes, void *))
{
    const void *items = (const void *)list->items;
    const void **place = port_build_place(to, *at, tag, &items, &list->count, sizeof(const void *));
    list->items = items;
    *place = build_message(to, at, size, build);
}

static SPECIALISED void
build_text(struct building *to, struct reading *at, uint64_t tag, struct port_texts *texts)
{
    const void *items = texts->items;
    struct bytes *place = port_build_place(to, *at, tag, &items, &texts->count, sizeof(*place));
    texts->items = items;
    *place = build_bytes(to, at);
}

/* --- cloning ----------------------------------------------------------------------------------- */

static inline size_t texts_size(struct port_texts texts)
{
    size_t size = block_aligned(texts.count * sizeof(struct bytes));
    for (uint32_t i = 0; i < texts.count; i++) {
        size += texts.items[i].size;
    }
    return size;
}

static SPECIALISED size_t list_size(struct port_list list, size_t (*size_of)(const void *))
{
    size_t size = block_aligned(list.count * sizeof(void *));
    for (uint32_t i = 0; i < list.count; i++) {
        size += size_of(list.items[i]);
    }
    return size;
}

/* Bytes are digested in one go, where the block holds them side by side. What is left, sizes, numbers
 * and the structure, are the coefficients of a polynomial. */
struct cloning {
    struct block block;
    uint64_t digest;
};

#define DIGEST_FACTOR UINT64_C(0x9e3779b97f4a7c15)
#define DIGEST_NUMBER UINT64_C(0x1d8e4e27c47d124f) /* of a field */
#define DIGEST_ENTER  UINT64_C(0xa0761d6478bd642f)
#define DIGEST_LEAVE  UINT64_C(0xe7037ed1a0b428db)

static SPECIALISED void digest_add(struct cloning *to, uint32_t number, uint64_t value)
{
    to->digest = (to->digest + value + number * DIGEST_NUMBER) * DIGEST_FACTOR;
}

/* A value of zero is absent. */
static SPECIALISED void clone_scalar(struct cloning *to, uint32_t number, uint64_t value)
{
    if (value != 0) {
        digest_add(to, number, value);
    }
}

static SPECIALISED struct bytes clone_bytes(struct cloning *to, uint32_t number, struct bytes value)
{
    if (value.size == 0) {
        return (struct bytes){0};
    }
    digest_add(to, number, value.size);
    return block_copy(&to->block, value);
}

static inline struct port_texts
clone_texts(struct cloning *to, uint32_t number, struct port_texts texts)
{
    if (texts.count == 0) {
        return (struct port_texts){0};
    }
    struct bytes *items =
        (struct bytes *)(void *)block_struct(&to->block, texts.count * sizeof(*items));
    for (uint32_t i = 0; i < texts.count; i++) {
        digest_add(to, number, texts.items[i].size + 1);
        items[i] = block_copy(&to->block, texts.items[i]);
    }
    return (struct port_texts){items, texts.count};
}

/* A message of scalars only has its number in its end as well. */
static SPECIALISED const void *clone_message(struct cloning *to,
                                             uint32_t number,
                                             const void *value,
                                             size_t size,
                                             bool is_flat,
                                             void (*clone)(struct cloning *, const void *, void *))
{
    if (value == NULL) {
        return NULL;
    }
    void *copy = block_struct(&to->block, size);
    digest_add(to, number, DIGEST_ENTER);
    clone(to, value, copy);
    digest_add(to, is_flat ? number : 0, DIGEST_LEAVE);
    return copy;
}

static SPECIALISED struct port_list
clone_list(struct cloning *to,
           uint32_t number,
           struct port_list list,
           size_t size,
           void (*clone)(struct cloning *, const void *, void *))
{
    if (list.count == 0) {
        return (struct port_list){0};
    }
    const void **items =
        (const void **)(void *)block_struct(&to->block, list.count * sizeof(*items));
    for (uint32_t i = 0; i < list.count; i++) {
        CHECK(list.items[i] != NULL);
        items[i] = clone_message(to, number, list.items[i], size, false, clone);
    }
    return (struct port_list){items, list.count};
}

#endif
