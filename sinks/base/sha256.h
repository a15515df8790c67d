/* SHA-256 (FIPS 180-4) by libsodium; the only place that includes it. */
#ifndef SINKS_BASE_SHA256_H
#define SINKS_BASE_SHA256_H

#include "sinks/base/bytes.h"

#include <stdint.h>

#define SHA256_SIZE 32

void sha256(struct bytes source, uint8_t digest[SHA256_SIZE]);

#endif
