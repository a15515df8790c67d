/* One record of the eager writer on its way, in one block: the struct, the task's view, destination,
 * name and payload. Private to the eager writer. */
#ifndef SINKS_CLOUDTASKS_ENTRY_H
#define SINKS_CLOUDTASKS_ENTRY_H

#include "sinks/base/allocator.h"
#include "sinks/base/bytes.h"
#include "sinks/base/err.h"
#include "sinks/base/list.h"
#include "sinks/cloudtasks/identity.h"
#include "sinks/parking.h"
#include "sinks/port/cloudtasks.h"
#include "sinks/requests.h"

#include <stdbool.h>
#include <stdint.h>

struct entry {
    struct request request;
    struct parking_slot parking;
    struct list_link link; /* in the writer's list of ready or of handed over entries */
    uint64_t token;
    uint32_t failures;
    uint32_t not_found_failures;
    bool accepted;                                /* the first attempt has left */
    size_t block_size;                            /* read */
    struct bytes destination;                     /* read */
    struct bytes payload;                         /* read: as the serializer gave it */
    struct cloudtasks_create_task_request create; /* read: what every attempt sends */
};

/* What a record was turned into. Borrowed. */
struct draft {
    uint64_t token;
    struct bytes destination;
    struct bytes payload;     /* validated wire form of a task */
    struct identity identity; /* size 0: unnamed */
    size_t view_size;         /* of the payload, by port_view_size */
};

/* Make an entry that owns copies of all. ERR_OK, ERR_LIMIT, ERR_INVALID when the payload carries a
 * name already. */
MUST_USE enum err
entry_make(const struct allocator *allocator, const struct draft *draft, struct entry **entry);

void entry_release(const struct allocator *allocator, struct entry *entry);

uint64_t entry_digest(const struct entry *entry);

#endif
