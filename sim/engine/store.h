/* The checkpoint store: every version ever written is kept, whatever becomes of it, so that oracles
 * can look back. Lives in the run's arena. */
#ifndef SIM_ENGINE_STORE_H
#define SIM_ENGINE_STORE_H

#include "sim/arena.h"
#include "sim/engine/source_log.h"
#include "sinks/sink.h"

/* One request in a committer's collection; immutable once made. */
struct stored_request {
    struct sink_commit_request request; /* bytes in the arena */
    uint64_t identity;                  /* digest_bytes of header.identity */
    uint64_t value;                     /* digest_bytes of data */
    record_id record;
    nanos staged_at;     /* virtual time at which the writer handed it over */
    uint32_t checkpoint; /* whose barrier it came with */
};

/* A committer's collection as one subtask snapshotted it. */
struct stored_collection {
    uint32_t subtask;
    const struct stored_request *const *requests;
    uint32_t request_count;
};

struct stored_piece {
    uint32_t subtask;
    struct bytes data;
};

/* A record on its way to a subtask when an unaligned barrier overtook it: channel state. The cut
 * covers it, and whoever restores the checkpoint delivers it before any other input. */
struct stored_in_flight {
    uint32_t subtask;
    uint32_t source;
    record_id record;
};

enum store_state {
    STORE_NONE = 0,
    STORE_PENDING,
    STORE_COMPLETED,
    STORE_ABORTED,
};

/* What it was triggered as (C8). */
enum store_kind {
    STORE_CHECKPOINT = 0,
    STORE_SAVEPOINT, /* completed and not notified; not among what a restart restores */
    STORE_STOP,      /* stop-with-savepoint: notified; not among what a restart restores */
};

struct stored_checkpoint {
    uint32_t number;
    uint8_t state; /* enum store_state */
    uint8_t kind;  /* enum store_kind */
    bool retained; /* still offered for a restore */
    uint16_t attempt;
    uint32_t subtasks;              /* parallelism that it was taken at */
    const struct sink_half *writer; /* whose pieces it holds */
    nanos completed_at;
    const uint64_t *positions; /* per split: so many of its first records are covered; set by the
                                  time of completion, NULL before */
    struct stored_piece *pieces;
    uint32_t piece_count;
    struct stored_collection *collections;
    uint32_t collection_count;
    struct stored_in_flight *in_flight; /* channel by channel, in order */
    uint32_t in_flight_count;
    uint64_t in_flight_bytes; /* keys and values of these records */
    uint64_t *in_flight_bits; /* private: by record - 1; NULL when there is none */
};

struct store {
    struct arena *arena;
    const struct source_log *log;
    struct stored_checkpoint **checkpoints; /* by number - 1 */
    uint32_t checkpoint_count;
    uint32_t checkpoint_capacity;
    uint32_t latest_completed; /* number, 0 none */
    uint32_t retained_max;
    uint32_t retained_count;  /* private */
    uint32_t retained_oldest; /* private: no retained one below this index */
};

/* Prepare an empty store. retained_max 0 means 1. */
void store_init(struct store *store,
                struct arena *arena,
                const struct source_log *log,
                uint32_t retained_max);

/* Begin a checkpoint: numbers are given 1, 2, 3, ... Its contents are the caller's to set. */
struct stored_checkpoint *store_begin(struct store *store, uint16_t attempt);

/* The checkpoint of a number that was begun, whatever became of it. */
struct stored_checkpoint *store_get(const struct store *store, uint32_t number);

/* Complete a pending checkpoint: it becomes the latest, and older ones beyond retained_max are no
 * longer retained. Numbers complete in order: a completion subsumes older pending ones, which the
 * caller aborts before or after; completing one of them later is a CHECK. */
void store_complete(struct store *store, struct stored_checkpoint *checkpoint, nanos now);

/* Complete a pending savepoint: it is no restart's to restore, and the latest completed checkpoint
 * stays what it is. */
void store_complete_savepoint(struct store *store, struct stored_checkpoint *checkpoint, nanos now);

/* Give up a pending checkpoint. What was written stays readable. */
void store_abort(struct store *store, struct stored_checkpoint *checkpoint);

/* Whether a checkpoint covers a record (its source position is past it). False while it has no
 * positions. */
bool store_covers(const struct store *store, uint32_t number, record_id record);

/* Whether a checkpoint holds a record as channel state: covered, and in no sink's state. */
bool store_in_flight(const struct store *store, uint32_t number, record_id record);

#endif
