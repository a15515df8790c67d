/* Names of tasks: QUEUE/tasks/ and 64 hex digits of the SHA-256 of a key, or 32 random ones. Minted
 * once, when a record is written; never again on restore, retry or rescale. */
#ifndef SINKS_CLOUDTASKS_IDENTITY_H
#define SINKS_CLOUDTASKS_IDENTITY_H

#include "sinks/base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

#define IDENTITY_KEYED_SIZE  64u
#define IDENTITY_RANDOM_SIZE 32u

/* The part of a name behind QUEUE/tasks/. */
struct identity {
    char text[IDENTITY_KEYED_SIZE];
    uint32_t size;
};

/* Lowercase hex of the SHA-256 of a key, which is not empty. */
void identity_of_key(struct identity *identity, struct bytes key);

/* 16 bytes from the nonce of an event, which never comes again. */
void identity_of_nonce(struct identity *identity, uint64_t nonce);

/* Size of a full name. */
size_t identity_name_size(struct bytes queue, const struct identity *identity);

/* Write the full name. */
void identity_write_name(struct byte_writer *writer,
                         struct bytes queue,
                         const struct identity *identity);

/* True when name is QUEUE/tasks/ and 32 or 64 lowercase hex digits. */
bool identity_name_is_valid(struct bytes queue, struct bytes name);

#endif
