/* Any bytes are a message or an error, for each message of each service: what was decoded is equal to
 * what its canonical bytes decode to, to its view and to its clone, and its canonical bytes stay the
 * same; its texts, and those of its view, are well-formed UTF-8, as the port promises. The first byte
 * picks the message. */
#include "scenarios/fuzz/target.h"
#include "scenarios/wiring/catalogue.h"

#include <stdlib.h>
#include <string.h>

/* The n-th message over all services and methods, requests and responses. */
static const struct port_message *message_at(uint32_t n)
{
    uint32_t count = 0;
    for (size_t i = 0; i < catalogue_model_count; i++) {
        count += 2u * catalogue_models[i]->service->method_count;
    }
    n %= count;
    for (size_t i = 0; i < catalogue_model_count; i++) {
        const struct port_service *service = catalogue_models[i]->service;
        if (n < 2u * service->method_count) {
            const struct port_method *method = service->methods[n / 2];
            return n % 2 == 0 ? method->request : method->response;
        }
        n -= 2u * service->method_count;
    }
    UNREACHABLE();
}

/* Memory of exactly this size, so that an access past its end shows. */
static void *take(size_t size)
{
    void *memory = malloc(size > 0 ? size : 1);
    CHECK(memory != NULL);
    return memory;
}

static void check_same(const struct port_message *message, const void *a, const void *b)
{
    CHECK(port_equal(message, a, b));
    CHECK(port_equal(message, b, a));
    CHECK(port_digest(message, a) == port_digest(message, b));
    CHECK(port_encoded_size(message, a) == port_encoded_size(message, b));
}

static uint8_t *encode(const struct port_message *message, const void *value, size_t *size)
{
    *size = port_encoded_size(message, value);
    uint8_t *data = take(*size);
    struct byte_writer writer;
    byte_writer_init(&writer, data, *size);
    port_encode(message, value, &writer);
    CHECK(!writer.overflowed);
    CHECK(writer.size == *size);
    return data;
}

static void check_again(const struct port_message *message, const void *value)
{
    const struct allocator allocator = allocator_of_malloc();
    size_t size = 0;
    size_t again_size = 0;
    uint8_t *canonical = encode(message, value, &size);
    void *again = NULL;
    size_t block_size = 0;
    CHECK(port_decode(message, (struct bytes){canonical, size}, &allocator, &again, &block_size) ==
          ERR_OK);
    check_same(message, value, again);
    uint8_t *canonical_again = encode(message, again, &again_size);
    CHECK(
        bytes_equal((struct bytes){canonical, size}, (struct bytes){canonical_again, again_size}));
    allocator_give(&allocator, again, block_size);
    free(canonical);
    free(canonical_again);
}

/* Messages whose texts are still to be looked at. */
struct visits {
    struct visit {
        const struct port_message *message;
        const uint8_t *value;
    } * items;
    size_t count;
    size_t capacity;
};

static void
visit_later(struct visits *visits, const struct port_message *message, const void *value)
{
    if (visits->count == visits->capacity) {
        visits->capacity = visits->capacity * 2 + 16;
        visits->items = realloc(visits->items, visits->capacity * sizeof *visits->items);
        CHECK(visits->items != NULL);
    }
    visits->items[visits->count++] = (struct visit){message, value};
}

static void
check_field_texts(struct visits *visits, const struct port_field *field, const uint8_t *value)
{
    struct bytes text = {0};
    struct port_texts texts = {0};
    struct port_list list = {0};
    const void *inner = NULL;
    if (field->type == PORT_TEXT) {
        memcpy(&text, value + field->offset, sizeof text);
        CHECK(bytes_is_utf8(text));
    } else if (field->type == PORT_TEXTS) {
        memcpy(&texts, value + field->offset, sizeof texts);
        for (uint32_t i = 0; i < texts.count; i++) {
            CHECK(bytes_is_utf8(texts.items[i]));
        }
    } else if (field->type == PORT_LIST) {
        memcpy(&list, value + field->offset, sizeof list);
        for (uint32_t i = 0; i < list.count; i++) {
            visit_later(visits, field->message, list.items[i]);
        }
    } else if (field->type == PORT_MESSAGE) {
        memcpy(&inner, value + field->offset, sizeof inner);
        if (inner != NULL) {
            visit_later(visits, field->message, inner);
        }
    }
}

static void check_texts(const struct port_message *message, const void *value)
{
    struct visits visits = {0};
    visit_later(&visits, message, value);
    while (visits.count > 0) {
        const struct visit visit = visits.items[--visits.count];
        for (uint16_t i = 0; i < visit.message->field_count; i++) {
            check_field_texts(&visits, &visit.message->fields[i], visit.value);
        }
    }
    free(visits.items);
}

static void check_view(const struct port_message *message,
                       struct bytes source,
                       size_t view_size,
                       const void *value)
{
    void *block = take(view_size);
    const void *view = port_view_into(message, source, block, view_size);
    check_same(message, value, view);
    check_texts(message, view);
    free(block);
}

static void check_clone(const struct port_message *message, const void *value)
{
    const size_t size = port_clone_size(message, value);
    void *block = take(size);
    check_same(message, value, port_clone_into(message, value, block, size, NULL));
    free(block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct port_message *message = size == 0 ? NULL : message_at(data[0]);
    if (message == NULL) {
        return 0;
    }
    uint8_t *copy = take(size - 1);
    memcpy(copy, data + 1, size - 1);
    const struct bytes source = {copy, size - 1};
    const struct allocator allocator = allocator_of_malloc();
    void *value = NULL;
    size_t block_size = 0;
    size_t view_size = 0;
    const enum err err = port_decode(message, source, &allocator, &value, &block_size);
    CHECK(port_view_size(message, source, &view_size) == err);
    if (err == ERR_OK) {
        check_texts(message, value);
        check_again(message, value);
        check_view(message, source, view_size, value);
        check_clone(message, value);
        allocator_give(&allocator, value, block_size);
    } else {
        CHECK(err == ERR_INVALID || err == ERR_TRUNCATED);
    }
    free(copy);
    return 0;
}
