#include "sinks/base/sha256.h"

#include <sodium/crypto_hash_sha256.h>

_Static_assert(SHA256_SIZE == crypto_hash_sha256_BYTES, "the digest is 32 bytes");

void sha256(struct bytes source, uint8_t digest[SHA256_SIZE])
{
    static const uint8_t nothing[1] = {0};
    const uint8_t *data = source.size == 0 ? nothing : source.data;
    const int status = crypto_hash_sha256(digest, data, source.size);
    CHECK(status == 0);
}
