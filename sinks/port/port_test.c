/* Messages by their field tables: bytes against the wire format, and everything that decoding refuses.
 * link: sinks/port/port sinks/port/decode sinks/port/status sinks/port/cloudtasks sinks/port/generic
 * link: sinks/port/table sinks/port/keyed sinks/base/bytes sinks/base/digest sinks/base/allocator
 */
#include "sinks/port/port.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"
#include "sinks/port/cloudtasks.h"
#include "sinks/port/generic.h"
#include "sinks/port/keyed.h"
#include "sinks/port/table.h"

#include <string.h>

/* The order matters. */
/* clang-format off */
#include "sinks/port/as_structs.def"
#include "sinks/port/port_test.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_flat.def"
#include "sinks/port/port_test.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_check.def"
#include "sinks/port/port_test.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_build.def"
#include "sinks/port/port_test.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_size.def"
#include "sinks/port/port_test.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_clone.def"
#include "sinks/port/port_test.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_tables.def"
#include "sinks/port/port_test.def"
#include "sinks/port/as_end.def"
/* clang-format on */

static const struct leaf last = {.number = -1};
static const struct leaf none = {.number = 0};
static const struct spot spot = {.word = 9, .truth = true};
static const struct every empty = {.word = 0};
static const void *const leaves[] = {&last, &none, &last};
static const struct bytes words[] = {
    {(const uint8_t *)"a", 1}, {NULL, 0}, {(const uint8_t *)"bc", 2}};
static const struct every full = {
    .truth = true,
    .word = 300,
    .wide = UINT64_MAX,
    .number = INT64_MIN,
    .choice = 7,
    .blob = {(const uint8_t *)"\xff\x00", 2},
    .text = {(const uint8_t *)"\xc3\xa9", 2},
    .inner = &last,
    .items = {leaves, 3},
    .spot = &spot,
    .texts = {words, 3},
};

static struct bytes encode(const struct every *value, uint8_t *data, size_t capacity)
{
    struct byte_writer writer;
    byte_writer_init(&writer, data, capacity);
    port_encode(&every_message, value, &writer);
    assert_false(writer.overflowed);
    assert_int_equal(writer.size, port_encoded_size(&every_message, value));
    return byte_writer_view(&writer);
}

static void the_canonical_form_is_protobufs(void **state)
{
    (void)state;
    uint8_t data[256];
    static const uint8_t expected[] = {
        0x08, 0x01,                                                                   /* 1: true */
        0x10, 0xac, 0x02,                                                             /* 2: 300 */
        0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,             /* 3 */
        0x20, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01,             /* 4 */
        0x28, 0x07,                                                                   /* 5 */
        0x32, 0x02, 0xff, 0x00,                                                       /* 6 */
        0x3a, 0x02, 0xc3, 0xa9,                                                       /* 7 */
        0x42, 0x0b, 0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* 8 */
        0x4a, 0x0b, 0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* 9 */
        0x4a, 0x00,                                                                   /* 9 */
        0x4a, 0x0b, 0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* 9 */
        0x5a, 0x04, 0x10, 0x09, 0x18, 0x01,                                           /* 11 */
        0xc2, 0x0c, 0x01, 'a',                                                        /* 200 */
        0xc2, 0x0c, 0x00, 0xc2, 0x0c, 0x02, 'b',  'c',
    };
    assert_bytes_equal(encode(&full, data, sizeof(data)),
                       ((struct bytes){expected, sizeof(expected)}));
    assert_int_equal(encode(&empty, data, sizeof(data)).size, 0);
}

static void what_is_encoded_is_decoded(void **state)
{
    (void)state;
    struct test_memory memory = {0};
    const struct allocator allocator = test_allocator(&memory);
    uint8_t data[256];
    const struct bytes bytes = encode(&full, data, sizeof(data));
    void *value = NULL;
    size_t size = 0;
    assert_int_equal(port_decode(&every_message, bytes, &allocator, &value, &size), ERR_OK);
    memset(data, 0, sizeof(data)); /* it owns its bytes */
    assert_true(port_equal(&every_message, value, &full));
    assert_true(port_digest(&every_message, value) == port_digest(&every_message, &full));
    const struct every *decoded = value;
    assert_int_equal(decoded->items.count, 3);
    assert_int_equal(((const struct leaf *)decoded->items.items[2])->number, -1);
    allocator_give(&allocator, value, size);
    assert_int_equal(port_decode(&every_message, (struct bytes){0}, &allocator, &value, &size),
                     ERR_OK);
    assert_true(port_equal(&every_message, value, &empty));
    allocator_give(&allocator, value, size);
    assert_int_equal(memory.live, 0);
}

static void a_view_points_into_its_source(void **state)
{
    (void)state;
    uint8_t data[256];
    uint64_t block[160];
    size_t size = 0;
    const struct bytes bytes = encode(&full, data, sizeof(data));
    assert_int_equal(port_view_size(&every_message, bytes, &size), ERR_OK);
    assert_true(size <= sizeof(block));
    const struct every *view = port_view_into(&every_message, bytes, block, size);
    assert_ptr_equal(view, block);
    assert_true(port_equal(&every_message, view, &full));
    assert_true(view->text.data >= data && view->text.data < data + sizeof(data));
    struct port_view found;
    assert_int_equal(port_check(&every_message, bytes, &found), ERR_OK);
    assert_int_equal(found.block_size, size);
    assert_true(port_view_has(&found, 7));
    assert_true(port_view_has(&found, 11));
    assert_false(port_view_has(&found, 12));
    expect_check_failure(port_view_has(&found, 64));
    assert_int_equal(port_check(&every_message, (struct bytes){0}, &found), ERR_OK);
    assert_false(port_view_has(&found, 7));
    assert_int_equal(port_view_size(&every_message, BYTES_LITERAL("\x07"), &size), ERR_INVALID);
}

static void a_clone_is_equal_and_independent_and_fits_exactly(void **state)
{
    (void)state;
    uint64_t block[200];
    const size_t size = port_clone_size(&every_message, &full);
    assert_true(size <= sizeof(block));
    const struct every *copy = port_clone_into(&every_message, &full, block, size, NULL);
    assert_true(port_equal(&every_message, copy, &full));
    assert_ptr_not_equal(copy->inner, full.inner);
    assert_ptr_not_equal(copy->spot, full.spot);
    assert_ptr_not_equal(copy->text.data, full.text.data);
    assert_ptr_not_equal(copy->items.items[0], full.items.items[0]);
    for (size_t less = 0; less < size; less++) {
        expect_check_failure(port_clone_into(&every_message, &full, block, less, NULL));
    }
}

/* Goal: what was digested once is recognised by every later build. Method: a number that was kept. */
static void the_digest_of_a_clone_is_that_of_its_clone_and_stays(void **state)
{
    (void)state;
    uint64_t block[200];
    uint64_t other[200];
    uint64_t digest = 0;
    uint64_t again = 0;
    const size_t size = port_clone_size(&every_message, &full);
    const struct every *copy = port_clone_into(&every_message, &full, block, size, &digest);
    (void)port_clone_into(&every_message, copy, other, sizeof(other), &again);
    assert_true(digest == again);
    assert_true(digest == UINT64_C(0x5bd7f8d6a2fd5fdb));
}

/* Each variant differs from full in one field. */
static uint32_t make_variants(struct every *variants, const struct bytes *other_words)
{
    static const void *const fewer[] = {&last, &none};
    static const void *const swapped[] = {&none, &last, &last};
    static const struct spot other = {.word = 9};
    for (uint32_t i = 0; i < 16; i++) {
        variants[i] = full;
    }
    variants[0].truth = false;
    variants[1].word++;
    variants[2].wide--;
    variants[3].number++;
    variants[4].choice++;
    variants[5].blob.size--;
    variants[6].text = BYTES_LITERAL("e");
    variants[7].inner = NULL;
    variants[8].inner = &none;
    variants[9].items = (struct port_list){fewer, 2};
    variants[10].items = (struct port_list){swapped, 3};
    variants[11].texts.count--;
    variants[12].texts.items = other_words;
    variants[13].items = (struct port_list){NULL, 0};
    variants[14].spot = NULL;
    variants[15].spot = &other;
    return 16;
}

static uint64_t digest_of_clone(const struct every *value)
{
    uint64_t block[200];
    uint64_t digest = 0;
    (void)port_clone_into(&every_message, value, block, sizeof(block), &digest);
    return digest;
}

static void every_difference_is_seen(void **state)
{
    (void)state;
    static const struct bytes other_words[] = {
        {NULL, 0}, {(const uint8_t *)"a", 1}, {(const uint8_t *)"bc", 2}};
    struct every variants[16];
    const uint32_t count = make_variants(variants, other_words);
    for (uint32_t i = 0; i < count; i++) {
        assert_false(port_equal(&every_message, &variants[i], &full));
        assert_false(port_equal(&every_message, &full, &variants[i]));
        assert_true(port_digest(&every_message, &variants[i]) !=
                    port_digest(&every_message, &full));
        assert_true(digest_of_clone(&variants[i]) != digest_of_clone(&full));
        for (uint32_t k = 0; k < i; k++) {
            assert_true(port_digest(&every_message, &variants[i]) !=
                        port_digest(&every_message, &variants[k]));
            assert_true(digest_of_clone(&variants[i]) != digest_of_clone(&variants[k]));
        }
    }
    const struct every absent = {.inner = NULL};
    const struct every present = {.inner = &none};
    assert_false(port_equal(&every_message, &absent, &present));
}

static enum err decode_only(struct bytes source)
{
    struct test_memory memory = {0};
    const struct allocator allocator = test_allocator(&memory);
    void *value = NULL;
    size_t size = 0;
    const enum err err = port_decode(&every_message, source, &allocator, &value, &size);
    if (err == ERR_OK) {
        allocator_give(&allocator, value, size);
    }
    assert_int_equal(memory.live, 0);
    return err;
}

static void malformed_bytes_are_refused(void **state)
{
    (void)state;
    const struct {
        struct bytes source;
        enum err err;
    } cases[] = {
        {BYTES_LITERAL("\x08"), ERR_TRUNCATED},                   /* no value */
        {BYTES_LITERAL("\x32\x03zz"), ERR_TRUNCATED},             /* blob of 3 with 2 */
        {BYTES_LITERAL("\xc2"), ERR_TRUNCATED},                   /* half a tag */
        {BYTES_LITERAL("\x42\x01\x20"), ERR_INVALID},             /* inner ends early */
        {BYTES_LITERAL("\x42\x03\x3a\x05zzzzz"), ERR_INVALID},    /* inner text leaves inner */
        {BYTES_LITERAL("\x50\x01"), ERR_INVALID},                 /* unknown field 10 */
        {BYTES_LITERAL("\x0a\x01z"), ERR_INVALID},                /* bool as bytes */
        {BYTES_LITERAL("\x30\x01"), ERR_INVALID},                 /* bytes as varint */
        {BYTES_LITERAL("\x09zzzzzzzz"), ERR_INVALID},             /* fixed64 */
        {BYTES_LITERAL("\x3a\x01\xff"), ERR_INVALID},             /* text not UTF-8 */
        {BYTES_LITERAL("\xc2\x0c\x01\xff"), ERR_INVALID},         /* one of texts not UTF-8 */
        {BYTES_LITERAL("\x08\x01\x08\x01"), ERR_INVALID},         /* twice */
        {BYTES_LITERAL("\x3a\x01z\x3a\x01z"), ERR_INVALID},       /* twice */
        {BYTES_LITERAL("\x42\x00\x42\x00"), ERR_INVALID},         /* twice */
        {BYTES_LITERAL("\x08\x02"), ERR_INVALID},                 /* bool 2 */
        {BYTES_LITERAL("\x10\x80\x80\x80\x80\x10"), ERR_INVALID}, /* past 32 bits */
        {BYTES_LITERAL("\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), ERR_INVALID},
        {BYTES_LITERAL("\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), ERR_INVALID},
        {BYTES_LITERAL("\x88\x80\x80\x80\x10\x01"), ERR_INVALID}, /* number past 29 bits */
        {BYTES_LITERAL("\x32\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), ERR_TRUNCATED},
        {BYTES_LITERAL("\x18\x81\x80\x00"), ERR_OK}, /* a long form of 1 */
        {BYTES_LITERAL("\x10\x01\x08\x01"), ERR_OK}, /* any order */
        {BYTES_LITERAL("\x10\x00"), ERR_OK},         /* a zero that is written */
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const enum err err = decode_only(cases[i].source);
        if (err != cases[i].err) {
            fail_msg("case %zu: %d instead of %d", i, (int)err, (int)cases[i].err);
        }
    }
}

static void every_cut_and_every_flip_is_decoded_or_refused(void **state)
{
    (void)state;
    uint8_t data[256];
    const struct bytes bytes = encode(&full, data, sizeof(data));
    for (size_t cut = 0; cut < bytes.size; cut++) {
        (void)decode_only((struct bytes){data, cut});
    }
    for (size_t i = 0; i < 8 * bytes.size; i++) {
        data[i / 8] ^= (uint8_t)(1u << (i % 8));
        (void)decode_only(bytes);
        data[i / 8] ^= (uint8_t)(1u << (i % 8));
    }
    for (uint64_t seed = 0; seed < 20000; seed++) {
        uint8_t noise[24];
        for (size_t i = 0; i < sizeof(noise); i++) {
            noise[i] = (uint8_t)digest_mix(seed * 31 + i);
        }
        (void)decode_only((struct bytes){noise, seed % sizeof(noise)});
    }
}

static void the_allocators_limit_is_an_error(void **state)
{
    (void)state;
    struct test_memory memory = {.fail_at = 1};
    const struct allocator allocator = test_allocator(&memory);
    void *value = NULL;
    size_t size = 0;
    assert_int_equal(
        port_decode(&every_message, BYTES_LITERAL("\x08\x01"), &allocator, &value, &size),
        ERR_LIMIT);
}

static void services_number_their_methods_in_order(void **state)
{
    (void)state;
    const struct port_service *const services[] = {
        &cloudtasks_service, &generic_service, &table_service, &keyed_service};
    for (size_t i = 0; i < ARRAY_COUNT(services); i++) {
        for (uint16_t k = 0; k < services[i]->method_count; k++) {
            const struct port_method *method = services[i]->methods[k];
            assert_int_equal(method->id, k + 1);
            assert_ptr_equal(method->service, services[i]);
            for (uint16_t f = 1; f < method->request->field_count; f++) {
                assert_true(method->request->fields[f - 1].number <
                            method->request->fields[f].number);
            }
        }
    }
    assert_int_equal(cloudtasks_service.method_count, 13);
    assert_null(cloudtasks_delete_task_method.response);
    assert_int_equal(table_service.method_count, 4);
    assert_int_equal(keyed_service.method_count, 1);
}

/* The messages that those of a level hold; how many there are. */
static uint32_t next_level(const struct port_message **level, uint32_t count)
{
    const struct port_message *held[64];
    uint32_t held_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint16_t f = 0; f < level[i]->field_count; f++) {
            if (level[i]->fields[f].message != NULL) {
                assert_true(held_count < ARRAY_COUNT(held));
                held[held_count++] = level[i]->fields[f].message;
            }
        }
    }
    memcpy(level, held, held_count * sizeof(*level));
    return held_count;
}

/* Goal: the frames of a walk suffice. Method: level by level, the messages of a request are used up. */
static void messages_nest_no_deeper_than_a_walk_goes(void **state)
{
    (void)state;
    const struct port_service *const services[] = {
        &cloudtasks_service, &generic_service, &table_service, &keyed_service};
    for (size_t i = 0; i < ARRAY_COUNT(services); i++) {
        for (uint16_t k = 0; k < services[i]->method_count; k++) {
            const struct port_message *level[64] = {services[i]->methods[k]->request,
                                                    services[i]->methods[k]->response};
            uint32_t count = level[1] == NULL ? 1 : 2;
            for (uint32_t depth = 0; depth < 8; depth++) {
                count = next_level(level, count);
            }
            assert_int_equal(count, 0);
        }
    }
}

static void codes_have_names_and_http_statuses_map(void **state)
{
    (void)state;
    assert_string_equal(port_code_name(PORT_UNAVAILABLE), "UNAVAILABLE");
    assert_string_equal(port_code_name(PORT_UNAUTHENTICATED), "UNAUTHENTICATED");
    assert_string_equal(port_code_name(PORT_CODE_COUNT), "?");
    static const uint16_t map[][2] = {
        {400, PORT_INVALID_ARGUMENT},
        {401, PORT_UNAUTHENTICATED},
        {403, PORT_PERMISSION_DENIED},
        {404, PORT_NOT_FOUND},
        {409, PORT_ALREADY_EXISTS},
        {429, PORT_RESOURCE_EXHAUSTED},
        {499, PORT_CANCELLED},
        {500, PORT_INTERNAL},
        {501, PORT_UNIMPLEMENTED},
        {503, PORT_UNAVAILABLE},
        {504, PORT_DEADLINE_EXCEEDED},
        {418, PORT_CODE_NONE},
        {200, PORT_CODE_NONE},
        {14, PORT_CODE_NONE},
    };
    for (size_t i = 0; i < ARRAY_COUNT(map); i++) {
        const struct port_status status =
            port_status_wrap((struct port_status){0}, PORT_DOMAIN_HTTP, map[i][0]);
        assert_int_equal(port_status_first(&status), map[i][1]);
        assert_int_equal(port_status_any(&status, PORT_CODE_BIT(map[i][1] & 31)),
                         map[i][1] != PORT_CODE_NONE);
    }
}

static void a_chain_is_read_from_the_outside_in(void **state)
{
    (void)state;
    struct port_status status = port_status_grpc(PORT_OK);
    assert_int_equal(status.count, 0);
    assert_int_equal(port_status_first(&status), PORT_CODE_NONE);
    assert_false(port_status_any(&status, UINT32_MAX));
    status = port_status_grpc(PORT_NOT_FOUND);
    status = port_status_wrap(status, PORT_DOMAIN_HTTP, 503);
    status = port_status_wrap(status, PORT_DOMAIN_CLIENT, PORT_CODE_NONE);
    assert_int_equal(status.count, 3);
    assert_int_equal(port_status_first(&status), PORT_UNAVAILABLE);
    assert_true(port_status_any(&status, PORT_CODE_BIT(PORT_NOT_FOUND)));
    assert_false(port_status_any(&status, PORT_CODE_BIT(PORT_ABORTED)));
    status = port_status_wrap(status, PORT_DOMAIN_GRPC, PORT_OK);
    assert_int_equal(port_status_first(&status), PORT_UNAVAILABLE);
    status = port_status_wrap(status, PORT_DOMAIN_GRPC, PORT_ABORTED);
    assert_int_equal(status.count, PORT_CHAIN_MAX);
    assert_false(port_status_any(&status, PORT_CODE_BIT(PORT_NOT_FOUND)));
}

TEST_MAIN(port,
          TEST(the_canonical_form_is_protobufs),
          TEST(what_is_encoded_is_decoded),
          TEST(a_view_points_into_its_source),
          TEST(a_clone_is_equal_and_independent_and_fits_exactly),
          TEST(the_digest_of_a_clone_is_that_of_its_clone_and_stays),
          TEST(every_difference_is_seen),
          TEST(malformed_bytes_are_refused),
          TEST(every_cut_and_every_flip_is_decoded_or_refused),
          TEST(the_allocators_limit_is_an_error),
          TEST(services_number_their_methods_in_order),
          TEST(messages_nest_no_deeper_than_a_walk_goes),
          TEST(codes_have_names_and_http_statuses_map),
          TEST(a_chain_is_read_from_the_outside_in))
