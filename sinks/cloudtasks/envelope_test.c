/* The envelope's bytes: exact form, and every cut and every flipped bit refused.
 * link: sinks/cloudtasks/envelope sinks/cloudtasks/identity sinks/port/port sinks/port/decode
 * link: sinks/port/cloudtasks sinks/base/bytes sinks/base/digest sinks/base/sha256
 * link: sinks/base/allocator
 */
#include "sinks/cloudtasks/envelope.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"
#include "sinks/port/cloudtasks.h"

#include <string.h>

#define QUEUE "projects/p/locations/l/queues/q"

static size_t make_payload(uint8_t *data, size_t capacity)
{
    const struct cloudtasks_http_request http = {.url = BYTES_LITERAL("https://x/"),
                                                 .http_method = CLOUDTASKS_PUT,
                                                 .body = BYTES_LITERAL("b")};
    const struct cloudtasks_task task = {.http_request = &http};
    struct byte_writer writer;
    byte_writer_init(&writer, data, capacity);
    port_encode(&cloudtasks_task_message, &task, &writer);
    assert_false(writer.overflowed);
    return writer.size;
}

static size_t make(uint8_t *data, size_t capacity)
{
    uint8_t payload[128];
    struct identity identity;
    identity_of_nonce(&identity, 5);
    const struct envelope_parts parts = {
        .queue = BYTES_LITERAL(QUEUE),
        .identity = &identity,
        .payload = {payload, make_payload(payload, sizeof(payload))},
        .origin_ms = 1700000000000,
        .deadline_ms = 1700003280000,
    };
    const size_t task_size =
        envelope_task_size(identity_name_size(parts.queue, &identity), parts.payload.size);
    const size_t size = envelope_size(parts.queue.size, task_size);
    assert_true(size <= capacity);
    const struct bytes name = envelope_encode(&parts, data);
    assert_true(identity_name_is_valid(parts.queue, name));
    return size;
}

/* Replace the checksum by the right one after an edit. */
static void reseal(uint8_t *data, size_t size)
{
    struct byte_writer writer;
    byte_writer_init(&writer, data + size - 4, 4);
    byte_writer_u32_be(&writer, digest_checksum((struct bytes){data + 4, size - 8}));
}

static void what_is_encoded_is_decoded(void **state)
{
    (void)state;
    uint8_t data[512];
    const size_t size = make(data, sizeof(data));
    struct envelope envelope;
    assert_int_equal(envelope_decode((struct bytes){data, size}, &envelope), ERR_OK);
    assert_bytes_equal(envelope.queue, BYTES_LITERAL(QUEUE));
    assert_int_equal(envelope.origin_ms, 1700000000000);
    assert_int_equal(envelope.deadline_ms, 1700003280000);
    size_t view_size = 0;
    uint64_t block[64];
    assert_int_equal(port_view_size(&cloudtasks_task_message, envelope.task, &view_size), ERR_OK);
    assert_true(view_size <= sizeof(block));
    const struct cloudtasks_task *task =
        port_view_into(&cloudtasks_task_message, envelope.task, block, view_size);
    assert_bytes_equal(task->name, envelope.name);
    assert_bytes_equal(task->http_request->body, BYTES_LITERAL("b"));
}

static void the_frame_has_a_fixed_part_of_32_bytes_and_the_magic_in_front(void **state)
{
    (void)state;
    uint8_t data[512];
    const size_t size = make(data, sizeof(data));
    struct envelope envelope;
    assert_int_equal(envelope_decode((struct bytes){data, size}, &envelope), ERR_OK);
    assert_int_equal(size - 4 - envelope.queue.size - envelope.task.size, 32);
    assert_bytes_equal(((struct bytes){data, 8}), BYTES_LITERAL("\0\0\0\1CTSE"));
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    uint8_t data[512];
    const size_t size = make(data, sizeof(data));
    for (size_t cut = 0; cut < size; cut++) {
        struct envelope envelope;
        assert_int_equal(envelope_decode((struct bytes){data, cut}, &envelope), ERR_TRUNCATED);
    }
}

static void bytes_behind_the_end_are_refused(void **state)
{
    (void)state;
    uint8_t data[512];
    const size_t size = make(data, sizeof(data));
    data[size] = 0;
    struct envelope envelope;
    assert_int_equal(envelope_decode((struct bytes){data, size + 1}, &envelope), ERR_CORRUPT);
}

static void every_flipped_bit_is_refused(void **state)
{
    (void)state;
    uint8_t data[512];
    const size_t size = make(data, sizeof(data));
    for (size_t i = 0; i < 8 * size; i++) {
        struct envelope envelope;
        data[i / 8] ^= (uint8_t)(1u << (i % 8));
        assert_int_not_equal(envelope_decode((struct bytes){data, size}, &envelope), ERR_OK);
        data[i / 8] ^= (uint8_t)(1u << (i % 8));
    }
}

static void another_version_is_named_as_such(void **state)
{
    (void)state;
    uint8_t data[512];
    const size_t size = make(data, sizeof(data));
    data[3] = 2;
    struct envelope envelope;
    assert_int_equal(envelope_decode((struct bytes){data, size}, &envelope), ERR_VERSION);
}

/* Also with a right checksum: whoever can write the bytes can seal them. */
static void sealed_nonsense_is_refused(void **state)
{
    (void)state;
    uint8_t data[512];
    const size_t size = make(data, sizeof(data));
    struct envelope envelope;
    const size_t queue = 12;
    const size_t origin = queue + strlen(QUEUE);
    const size_t task = origin + 20;
    static const struct {
        const char *what;
        size_t from_start; /* 0 queue, 1 origin, 2 deadline, 3 task */
        size_t offset;
        uint8_t value;
    } edits[] = {
        {"queue is not UTF-8", 0, 0, 0xff},
        {"deadline before origin", 2, 2, 0x00},
        {"deadline past what nanoseconds hold", 2, 0, 0x70},
        {"negative deadline", 2, 0, 0xff},
        {"origin past deadline", 1, 0, 0x7f},
        {"task does not begin with a name", 3, 0, 0x12},
        {"name of another queue", 3, 2, 'q'},
        {"name with an uppercase digit", 3, 2 + 38, 'A'},
        {"name longer than the task", 3, 1, 0x7f},
        {"unknown field behind the name", 3, 2 + 70, 0x7a},
    };
    for (size_t i = 0; i < ARRAY_COUNT(edits); i++) {
        const size_t starts[] = {queue, origin, origin + 8, task};
        const size_t place = starts[edits[i].from_start] + edits[i].offset;
        const uint8_t before = data[place];
        data[place] = edits[i].value;
        reseal(data, size);
        if (envelope_decode((struct bytes){data, size}, &envelope) == ERR_OK) {
            fail_msg("accepted: %s", edits[i].what);
        }
        data[place] = before;
    }
    reseal(data, size);
    assert_int_equal(envelope_decode((struct bytes){data, size}, &envelope), ERR_OK);
}

static void parts_of_a_wrong_size_are_refused(void **state)
{
    (void)state;
    uint8_t data[512];
    const size_t size = make(data, sizeof(data));
    struct envelope envelope;
    memset(data + 8, 0, 4); /* queue of no bytes */
    assert_int_equal(envelope_decode((struct bytes){data, size}, &envelope), ERR_INVALID);
    memset(data + 8, 0xff, 4);
    assert_int_equal(envelope_decode((struct bytes){data, size}, &envelope), ERR_INVALID);
    (void)make(data, sizeof(data));
    const size_t task_size = 12 + strlen(QUEUE) + 16;
    memset(data + task_size, 0, 4);
    assert_int_equal(envelope_decode((struct bytes){data, size}, &envelope), ERR_INVALID);
    data[task_size + 1] = 0x02; /* 131072 */
    assert_int_equal(envelope_decode((struct bytes){data, size}, &envelope), ERR_INVALID);
}

static void identities_have_their_form(void **state)
{
    (void)state;
    struct identity a;
    struct identity b;
    identity_of_key(&a, BYTES_LITERAL("abc"));
    assert_bytes_equal(
        ((struct bytes){(const uint8_t *)a.text, a.size}),
        BYTES_LITERAL("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    identity_of_nonce(&a, 1);
    identity_of_nonce(&b, 2);
    assert_int_equal(a.size, 32);
    assert_memory_not_equal(a.text, b.text, 32);
    assert_false(identity_name_is_valid(BYTES_LITERAL("q"), BYTES_LITERAL("q/tasks/abc")));
    expect_check_failure(identity_of_key(&a, (struct bytes){0}));
}

TEST_MAIN(envelope,
          TEST(what_is_encoded_is_decoded),
          TEST(the_frame_has_a_fixed_part_of_32_bytes_and_the_magic_in_front),
          TEST(every_cut_is_refused),
          TEST(bytes_behind_the_end_are_refused),
          TEST(every_flipped_bit_is_refused),
          TEST(another_version_is_named_as_such),
          TEST(sealed_nonsense_is_refused),
          TEST(parts_of_a_wrong_size_are_refused),
          TEST(identities_have_their_form))
