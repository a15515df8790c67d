#include "sinks/cloudtasks/identity.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/base/sha256.h"

#include <string.h>

static const char tasks_segment[] = "/tasks/";
#define TASKS_SEGMENT_SIZE (sizeof(tasks_segment) - 1)
#define TASKS_SEGMENT      BYTES_LITERAL(tasks_segment)

void identity_of_key(struct identity *identity, struct bytes key)
{
    uint8_t digest[SHA256_SIZE];
    CHECK(key.size > 0);
    sha256(key, digest);
    bytes_to_hex((struct bytes){digest, sizeof(digest)}, identity->text);
    identity->size = IDENTITY_KEYED_SIZE;
}

void identity_of_nonce(struct identity *identity, uint64_t nonce)
{
    bytes_u64_to_hex(digest_mix(nonce + 1), identity->text);
    bytes_u64_to_hex(digest_mix(nonce + 2), identity->text + IDENTITY_RANDOM_SIZE / 2);
    identity->size = IDENTITY_RANDOM_SIZE;
}

size_t identity_name_size(struct bytes queue, const struct identity *identity)
{
    return queue.size + TASKS_SEGMENT_SIZE + identity->size;
}

void identity_write_name(struct byte_writer *writer,
                         struct bytes queue,
                         const struct identity *identity)
{
    byte_writer_bytes(writer, queue);
    byte_writer_bytes(writer, TASKS_SEGMENT);
    byte_writer_bytes(writer, (struct bytes){(const uint8_t *)identity->text, identity->size});
}

/* Lowercase hex, of a size that is a multiple of the word's. */
static bool is_hex(struct bytes text)
{
    uint64_t good = BYTES_WORD_HIGH;
    for (size_t i = 0; i < text.size; i += BYTES_WORD_SIZE) {
        const uint64_t word = bytes_word(text.data + i);
        good &= ~word & (bytes_word_between(word, '0', '9') | bytes_word_between(word, 'a', 'f'));
    }
    return good == BYTES_WORD_HIGH;
}

_Static_assert(IDENTITY_RANDOM_SIZE % BYTES_WORD_SIZE == 0, "hex digits are looked at in words");
_Static_assert(IDENTITY_KEYED_SIZE % BYTES_WORD_SIZE == 0, "hex digits are looked at in words");

bool identity_name_is_valid(struct bytes queue, struct bytes name)
{
    const size_t prefix = queue.size + TASKS_SEGMENT_SIZE;
    if (name.size != prefix + IDENTITY_RANDOM_SIZE && name.size != prefix + IDENTITY_KEYED_SIZE) {
        return false;
    }
    return bytes_equal((struct bytes){name.data, queue.size}, queue) &&
           memcmp(name.data + queue.size, tasks_segment, TASKS_SEGMENT_SIZE) == 0 &&
           is_hex((struct bytes){name.data + prefix, name.size - prefix});
}
