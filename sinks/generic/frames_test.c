/* The frames that the generic sinks leave in a checkpoint: what is written is read, and nothing else.
 * link: sinks/generic/unit_frame sinks/generic/buffered sinks/base/bytes sinks/base/digest
 * link: sinks/base/list sinks/base/allocator sinks/base/units sinks/base/err
 */
#include "sinks/base/digest.h"
#include "sinks/base/test.h"
#include "sinks/generic/buffered.h"
#include "sinks/generic/unit_frame.h"

#include <string.h>

#define FRAME_MAX 4096u

static const struct unit_frame example = {
    .application = {(const uint8_t *)"orders", 6},
    .unit = {(const uint8_t *)"0123", 4},
    .sequence = 77,
    .rows = 3,
};

/* Put the checksum right after a change. */
static void seal(uint8_t *frame, size_t size)
{
    struct byte_writer writer;
    byte_writer_init(&writer, frame + size - 4, 4);
    byte_writer_u32_be(&writer, digest_checksum((struct bytes){frame, size - 4}));
}

static void a_committable_is_read_as_it_was_written(void **state)
{
    (void)state;
    uint8_t frame[FRAME_MAX];
    struct unit_frame read = {0};
    const size_t size = unit_frame_size(&example);
    const struct bytes unit = unit_frame_encode(&example, frame);
    assert_ptr_equal(unit.data, frame + 4 + 4 + 6 + 4);
    assert_int_equal(unit_frame_decode((struct bytes){frame, size}, &read), ERR_OK);
    assert_bytes_equal(read.application, example.application);
    assert_bytes_equal(read.unit, example.unit);
    assert_ptr_equal(read.unit.data, unit.data);
    assert_int_equal(read.sequence, 77);
    assert_int_equal(read.rows, 3);
}

/* Goal: no other bytes pass for a committable. Method: cut it everywhere, flip every bit. */
static void a_spoilt_committable_is_refused(void **state)
{
    (void)state;
    uint8_t frame[FRAME_MAX];
    struct unit_frame read = {0};
    const size_t size = unit_frame_size(&example);
    (void)unit_frame_encode(&example, frame);
    for (size_t cut = 0; cut < size; cut++) {
        assert_int_not_equal(unit_frame_decode((struct bytes){frame, cut}, &read), ERR_OK);
    }
    for (size_t bit = 0; bit < 8 * size; bit++) {
        frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(unit_frame_decode((struct bytes){frame, size}, &read), ERR_OK);
        frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    frame[size] = 0;
    assert_int_equal(unit_frame_decode((struct bytes){frame, size + 1}, &read), ERR_CORRUPT);
    frame[3]++;
    assert_int_equal(unit_frame_decode((struct bytes){frame, size}, &read), ERR_VERSION);
    frame[3]--;
    memset(frame + size - 12, 0, 8); /* no rows */
    seal(frame, size);
    assert_int_equal(unit_frame_decode((struct bytes){frame, size}, &read), ERR_INVALID);
    (void)unit_frame_encode(&example, frame);
    frame[8] = 0xff; /* no text */
    seal(frame, size);
    assert_int_equal(unit_frame_decode((struct bytes){frame, size}, &read), ERR_INVALID);
    assert_int_equal(read.rows, 0);
}

static void units_differ_by_their_nonce(void **state)
{
    (void)state;
    char one[UNIT_NAME_SIZE];
    char other[UNIT_NAME_SIZE];
    unit_frame_name(5, one);
    unit_frame_name(6, other);
    assert_memory_not_equal(one, other, sizeof(one));
    unit_frame_name(5, other);
    assert_memory_equal(one, other, sizeof(one));
    for (size_t i = 0; i < sizeof(one); i++) {
        assert_non_null(memchr("0123456789abcdef", one[i], 16));
    }
}

/* A list of two entries, the second without a key. */
static void fill(const struct allocator *allocator, struct list *entries)
{
    static const struct keyed_entry contents[] = {
        {{(const uint8_t *)"k", 1}, {(const uint8_t *)"id1", 3}, {(const uint8_t *)"one", 3}},
        {{NULL, 0}, {(const uint8_t *)"id2", 3}, {(const uint8_t *)"two", 3}},
    };
    list_init(entries);
    for (size_t i = 0; i < ARRAY_COUNT(contents); i++) {
        struct buffered *made = buffered_make(allocator, &contents[i]);
        assert_non_null(made);
        list_push_back(entries, &made->link);
    }
}

static void release(const struct allocator *allocator, struct list *entries)
{
    for (struct list_link *link = list_pop_front(entries); link != NULL;
         link = list_pop_front(entries)) {
        buffered_release(allocator, LIST_ITEM(link, struct buffered, link));
    }
}

static void a_buffer_is_read_as_it_was_written(void **state)
{
    (void)state;
    const struct allocator allocator = allocator_of_malloc();
    uint8_t frame[FRAME_MAX];
    struct list written;
    struct list read;
    fill(&allocator, &written);
    list_init(&read);
    const size_t size = buffered_frame_size(&written);
    buffered_encode(&written, frame);
    assert_int_equal(buffered_decode(&allocator, (struct bytes){frame, size}, &read), ERR_OK);
    assert_int_equal(read.count, 2);
    const struct buffered *first = LIST_ITEM(list_first(&read), struct buffered, link);
    const struct buffered *last = LIST_ITEM(list_last(&read), struct buffered, link);
    assert_bytes_equal(first->entry.key, BYTES_LITERAL("k"));
    assert_bytes_equal(first->entry.value, BYTES_LITERAL("one"));
    assert_bytes_equal(last->entry.id, BYTES_LITERAL("id2"));
    assert_true(first->restored);
    assert_int_equal(first->token, 0);
    release(&allocator, &written);
    release(&allocator, &read);
}

/* Goal: no other bytes pass for a buffer, and nothing leaks. Method: cut it everywhere, flip every
 * bit, count one entry too many. */
static void a_spoilt_buffer_is_refused(void **state)
{
    (void)state;
    const struct allocator allocator = allocator_of_malloc();
    uint8_t frame[FRAME_MAX];
    struct list entries;
    fill(&allocator, &entries);
    const size_t size = buffered_frame_size(&entries);
    buffered_encode(&entries, frame);
    release(&allocator, &entries);
    for (size_t cut = 0; cut < size; cut++) {
        assert_int_not_equal(buffered_decode(&allocator, (struct bytes){frame, cut}, &entries),
                             ERR_OK);
    }
    for (size_t bit = 0; bit < 8 * size; bit++) {
        frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(buffered_decode(&allocator, (struct bytes){frame, size}, &entries),
                             ERR_OK);
        frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(entries.count, 0);
    frame[7]++;
    seal(frame, size);
    assert_int_equal(buffered_decode(&allocator, (struct bytes){frame, size}, &entries),
                     ERR_TRUNCATED);
    assert_int_equal(entries.count, 2);
    release(&allocator, &entries);
    frame[7] -= 2;
    seal(frame, size);
    assert_int_equal(buffered_decode(&allocator, (struct bytes){frame, size}, &entries),
                     ERR_CORRUPT);
    release(&allocator, &entries);
    frame[3]++;
    assert_int_equal(buffered_decode(&allocator, (struct bytes){frame, size}, &entries),
                     ERR_VERSION);
}

static void an_id_is_where_the_record_stands(void **state)
{
    (void)state;
    uint8_t id[BUFFERED_ID_SIZE];
    const uint8_t expected[] = {0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1, 3};
    assert_bytes_equal(buffered_id(2, 259, id), ((struct bytes){expected, sizeof(expected)}));
}

TEST_MAIN(frames,
          TEST(a_committable_is_read_as_it_was_written),
          TEST(a_spoilt_committable_is_refused),
          TEST(units_differ_by_their_nonce),
          TEST(a_buffer_is_read_as_it_was_written),
          TEST(a_spoilt_buffer_is_refused),
          TEST(an_id_is_where_the_record_stands))
