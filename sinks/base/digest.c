#include "sinks/base/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t digest_bytes(struct bytes source)
{
    return XXH3_64bits(source.data, source.size);
}

uint32_t digest_checksum(struct bytes source)
{
    return (uint32_t)digest_bytes(source);
}
