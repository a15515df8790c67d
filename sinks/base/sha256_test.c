/* The test vectors of FIPS 180 and lengths around the block size.
 * link: sinks/base/sha256 sinks/base/bytes
 */
#include "sinks/base/sha256.h"

#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

static void assert_sha256(struct bytes source, const char *hex)
{
    uint8_t digest[SHA256_SIZE];
    char text[2 * SHA256_SIZE + 1] = {0};
    sha256(source, digest);
    bytes_to_hex((struct bytes){digest, sizeof(digest)}, text);
    assert_string_equal(text, hex);
}

static void the_empty_message_has_its_known_digest(void **state)
{
    (void)state;
    const char *hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_sha256(BYTES_LITERAL(""), hex);
    assert_sha256((struct bytes){0}, hex);
}

static void one_block_has_its_fips_digest(void **state)
{
    (void)state;
    assert_sha256(BYTES_LITERAL("abc"),
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void two_blocks_have_their_fips_digest(void **state)
{
    (void)state;
    assert_sha256(BYTES_LITERAL("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void four_blocks_have_their_fips_digest(void **state)
{
    (void)state;
    assert_sha256(BYTES_LITERAL("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                                "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
                  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

static void a_million_letters_have_their_fips_digest(void **state)
{
    (void)state;
    const size_t size = 1000000;
    uint8_t *data = malloc(size);
    assert_non_null(data);
    memset(data, 'a', size);
    assert_sha256((struct bytes){data, size},
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(data);
}

TEST_MAIN(sha256,
          TEST(the_empty_message_has_its_known_digest),
          TEST(one_block_has_its_fips_digest),
          TEST(two_blocks_have_their_fips_digest),
          TEST(four_blocks_have_their_fips_digest),
          TEST(a_million_letters_have_their_fips_digest))
