/* The journal: an append-only record of host, wire and world; the truth that oracles judge by
 * (DESIGN section 5).
 *
 * An entry is small and fixed. Who appends: the engine (host entries), the link (wire entries), a
 * model at the instant of effect (world entries). An answer is evidence of what the caller knew,
 * never of what happened.
 */
#ifndef SIM_JOURNAL_H
#define SIM_JOURNAL_H

#include "sim/arena.h"
#include "sim/lane.h"
#include "sinks/base/units.h"

#include <stdbool.h>
#include <stdint.h>

/* Record of the source log, as index + 1; 0 is none. */
typedef uint32_t record_id;

/* kind: family prefix host_, wire_, world_; the fields that matter beside time, lane, attempt. */
enum journal_kind {
    JOURNAL_NONE = 0,
    /* host: the job */
    HOST_JOB_STARTED,  /* attempt; checkpoint = restored one or 0; a = parallelism; b = enum
                           start_from, with START_NEXT_SINK from the second sink's first start on */
    HOST_JOB_STOPPED,  /* attempt; a life is over: code = enum stop_cause; a = sink_reason */
    HOST_JOB_FAILED,   /* terminal: no restart any more; a = sink_reason */
    HOST_JOB_FINISHED, /* bounded input is through and committed */
    HOST_INJECTED,     /* a fault was injected: code = fault kind; a = downtime ns; b = detail */
    HOST_HEAL,         /* end of the safety phase */
    HOST_CONTRACT,     /* a contract rule was broken: code = enum contract_rule; a = detail */
    /* host: checkpoints */
    HOST_CHECKPOINT_TRIGGERED, /* checkpoint */
    HOST_CHECKPOINT_COMPLETED, /* checkpoint; a = bytes of its channel state */
    HOST_CHECKPOINT_ABORTED,   /* checkpoint; code = enum abort_cause */
    HOST_NOTICE,               /* checkpoint; a completion notice reaches lane */
    HOST_NOTICE_LOST,          /* checkpoint; it does not */
    /* host: the writer half; lane = writer */
    HOST_OPENED,        /* a half is open */
    HOST_RECORD,        /* record is handed to the writer */
    HOST_ACCEPTED,      /* record */
    HOST_SKIPPED,       /* record */
    HOST_RECORD_FAILED, /* record goes to the failure policy; code = sink_reason */
    HOST_DROPPED,       /* record is taken care of by the policy */
    HOST_POLICY_FLUSHED,
    HOST_BARRIER,      /* checkpoint reaches the writer */
    HOST_STAGED,       /* an envelope: identity, value = digest of its bytes, record, a = origin
                           wall ns, b = deadline wall ns */
    HOST_STATE_PIECE,  /* value = digest; checkpoint */
    HOST_BARRIER_DONE, /* checkpoint; the writer's answer */
    HOST_INPUT_ENDED,
    /* host: the committer half; lane = committer */
    HOST_RECEIVED, /* identity reaches the committer's collection; checkpoint */
    HOST_RESTORED, /* identity is restored into the committer's collection; checkpoint, value =
                           digest of its bytes */
    HOST_COMMIT,   /* a commit call begins; checkpoint; a = requests */
    HOST_COMMIT_REQUEST,  /* identity is in the request list; value; checkpoint */
    HOST_SIGNAL,          /* identity; code = sink_signal */
    HOST_FINALISED,       /* identity leaves the collection as committed or dropped */
    HOST_COMMIT_RETURNED, /* checkpoint */
    /* host: life and death of halves */
    HOST_CRASHED,     /* lane dies without close */
    HOST_CLOSE,       /* close is sent to lane */
    HOST_CLOSED,      /* lane answers closed */
    HOST_HALF_FAILED, /* lane reports a terminal failure; code = sink_reason */
    HOST_ZOMBIE,      /* the replaced attempt of lane keeps running; a = until ns */
    HOST_ZOMBIE_ENDED,
    HOST_RECORD_GONE, /* a start: record was to be read again, and the source, which is lane, no
                           longer has it */
    /* wire; lane = sender */
    WIRE_ISSUED,    /* request, service, method in code, value = digest of the payload's bytes,
                           identity = digest of what the model calls its identity or 0, a = absolute
                           deadline on the true clock, b = sender's wall clock ns */
    WIRE_CANCELLED, /* request */
    WIRE_ANSWERED,  /* request; code = port code of the first cause; a = outcome */
    WIRE_DROPPED,   /* request: answer not delivered, its attempt is gone or it was cancelled */
    WIRE_EXPIRED,   /* request dropped by the client before leaving: absolute deadline passed */
    /* world; lane = service; request and sender attempt when caused by a request, else 0 */
    WORLD_CREATED,  /* resource, generation, value, record; visible to reader class 0 */
    WORLD_REPLACED, /* resource, generation, value, record */
    WORLD_REMOVED,  /* resource, generation; code = model's cause */
    WORLD_EXPIRED,  /* resource, generation; code = model's cause (protection lapsed) */
    WORLD_VISIBLE,  /* resource, generation, value, record to reader class code, from 1 */
    WORLD_HIDDEN,   /* no longer visible to reader class code; 0: what was created */
    WORLD_CHANGED,  /* something outside the job changed a resource: code = model's cause */
    WORLD_REFUSED,  /* request had no effect: code = port code */
    /* host: what a start leaves behind; lane = committer */
    HOST_NOT_RESTORED, /* identity of the latest checkpoint, value, record: nobody takes it */
    /* host: a region of the job, of which lane is the task, restarts while the others go on */
    HOST_REGION_STARTED, /* attempt; checkpoint = restored one or 0; a = regions */
    HOST_REGION_STOPPED, /* attempt; code = enum stop_cause; a = sink_reason */
    /* world: what holds the data is itself made or changed by a request; lane = service */
    WORLD_CONFIGURED, /* resource; code = enum configured */
    JOURNAL_KIND_COUNT,
};

struct journal_entry {
    nanos time;
    uint8_t kind; /* enum journal_kind */
    uint8_t code; /* meaning by kind */
    lane lane;
    uint16_t attempt; /* of the job, from 1; 0 outside it */
    uint16_t service; /* wire, world: index of the service */
    record_id record;
    uint32_t request;    /* world-wide request number from 1; 0 none */
    uint32_t resource;   /* interned name, from 1; 0 none */
    uint32_t generation; /* of the resource, from 1 */
    uint32_t checkpoint; /* checkpoint number from 1; 0 none; UINT32_MAX end of input */
    uint64_t identity;   /* digest of an envelope's identity; 0 none */
    uint64_t value;      /* digest of bytes */
    uint64_t a;
    uint64_t b;
};

/* What a request did to a resource that holds data. */
enum configured {
    CONFIGURED_NONE = 0,
    CONFIGURED_CREATED,
    CONFIGURED_CHANGED,
    CONFIGURED_REMOVED,
    CONFIGURED_CLAIMED,  /* a request says that its sender is at work on it */
    CONFIGURED_DECLARED, /* or that it is as it is to be; value = digest of what it is set to */
    CONFIGURED_COUNT,
};

const char *configured_name(uint32_t configured);

enum stop_cause {
    STOP_CAUSE_NONE = 0,
    STOP_CAUSE_CRASH,      /* injected */
    STOP_CAUSE_SINK,       /* a half failed */
    STOP_CAUSE_CHECKPOINT, /* checkpoint failure not tolerated */
    STOP_CAUSE_RESCALE,    /* stopped for another parallelism or restore point */
    STOP_CAUSE_FINISHED,   /* a stop-with-savepoint reached its end */
    STOP_CAUSE_SAVEPOINT,  /* a stop-with-savepoint did not reach its end */
};

/* What a start goes on from. */
enum start_from {
    START_LATEST = 0,
    START_OLDER,           /* an older retained checkpoint */
    START_SAVEPOINT,       /* a stop-with-savepoint */
    START_BEGINNING,       /* no state, the source from its beginning */
    START_OWN_POSITION,    /* no state, the source from the position that it committed itself */
    START_NEXT_SINK = 256, /* flag: the job runs its second sink */
};

enum abort_cause {
    ABORT_CAUSE_NONE = 0,
    ABORT_CAUSE_INJECTED,
    ABORT_CAUSE_TIMEOUT,
    ABORT_CAUSE_JOB_STOPPED,
    ABORT_CAUSE_SUBSUMED, /* a later one completed first */
    ABORT_CAUSE_REGION,   /* a part of the job stopped */
};

/* Rules of the sink contract that a host can see broken (oracle contract). */
enum contract_rule {
    CONTRACT_NONE = 0,
    CONTRACT_SEND_AFTER_CLOSED,
    CONTRACT_SEND_AFTER_CLOSE, /* counted from CLOSE: only cancels are allowed */
    CONTRACT_TWO_BARRIER_ANSWERS,
    CONTRACT_UNKNOWN_TOKEN,
    CONTRACT_UNKNOWN_REQUEST, /* cancel of, or signal for, what does not exist */
    CONTRACT_RETURN_WITHOUT_COMMIT,
    CONTRACT_BARRIER_DONE_WITHOUT_BARRIER,
    CONTRACT_DUPLICATE_REQUEST_ID,
    CONTRACT_EFFECTS_OVERFLOW,
    CONTRACT_NOT_OPENED, /* an answer or send before what OPEN allows */
    CONTRACT_STATE_OUTSIDE_BARRIER,
    CONTRACT_CLOSE_UNANSWERED, /* no CLOSED within the bound */
    CONTRACT_LEAK,             /* memory outstanding after fini */
    CONTRACT_MALFORMED_SEND,   /* an envelope that no service could take */
    CONTRACT_UNKNOWN_EFFECT,   /* of no kind that sinks/sink.h has */
    CONTRACT_RULE_COUNT,
};

const char *contract_rule_name(uint32_t rule);

/* Listeners get each entry as it is appended, by kind. */
struct journal {
    uint32_t count;                   /* read */
    bool keeps_last;                  /* set before the first entry: only the last JOURNAL_CHUNK
                                         entries are kept; it counts towards the arena's cap all
                                         the same */
    struct journal_entry *place;      /* private: where the next entry goes */
    struct journal_entry *places_end; /* private: where that chunk ends */
    struct arena *arena;
    struct journal_entry **chunks; /* private: chunks of JOURNAL_CHUNK entries */
    uint32_t chunk_count;
    uint32_t chunk_capacity;
    void (*listener)(void *context, const struct journal_entry *entry, uint32_t position);
    void *listener_context;
};

#define JOURNAL_CHUNK 64u

void journal_init(struct journal *journal, struct arena *arena);

/* The one listener (the judge), called after the entry is in place. */
void journal_listen(struct journal *journal,
                    void *context,
                    void (*listener)(void *, const struct journal_entry *, uint32_t));

/* Append a copy; returns its position from 0. O(1). */
uint32_t journal_append(struct journal *journal, const struct journal_entry *entry);

/* What journal_append is made of, for world_note: the place of the next entry, to be written in
 * full, and then its publication. There always is a place, and the listener is called last, so that
 * nothing of the caller has to be kept meanwhile. */
static inline struct journal_entry *journal_place(struct journal *journal)
{
    return journal->place;
}

static inline void
journal_tell(const struct journal *journal, const struct journal_entry *entry, uint32_t position)
{
    journal->listener(journal->listener_context, entry, position);
}

/* The rest of a publication that has filled a chunk; not for callers. */
void journal_turn(struct journal *journal, const struct journal_entry *entry, uint32_t position);

static inline void journal_publish(struct journal *journal)
{
    const struct journal_entry *entry = journal->place;
    const uint32_t position = journal->count;
    journal->place++;
    journal->count++;
    if (UNLIKELY(journal->place == journal->places_end)) {
        journal_turn(journal, entry, position);
    } else {
        journal_tell(journal, entry, position);
    }
}

/* Field by field: where the entry is made in the same function, no copy of it is ever made. */
static inline void journal_copy(struct journal_entry *to, const struct journal_entry *from)
{
    to->time = from->time;
    to->kind = from->kind;
    to->code = from->code;
    to->lane = from->lane;
    to->attempt = from->attempt;
    to->service = from->service;
    to->record = from->record;
    to->request = from->request;
    to->resource = from->resource;
    to->generation = from->generation;
    to->checkpoint = from->checkpoint;
    to->identity = from->identity;
    to->value = from->value;
    to->a = from->a;
    to->b = from->b;
}

/* All of an entry but its time, which the trace takes by itself. Narrow fields share words; each word
 * has an odd factor of its own, so that the products run side by side and those of fields that are
 * not set cost nothing; the trace does the mixing. */
static inline uint64_t journal_digest(const struct journal_entry *entry)
{
    const uint64_t who = entry->kind | (uint64_t)entry->code << 8 | (uint64_t)entry->lane << 16 |
                         (uint64_t)entry->attempt << 32 | (uint64_t)entry->service << 48;
    const uint64_t whose = (uint64_t)entry->record << 32 | entry->checkpoint;
    const uint64_t what = (uint64_t)entry->resource << 32 | entry->generation;
    return who * UINT64_C(0x9e3779b97f4a7c15) + whose * UINT64_C(0x1d8e4e27c47d124f) +
           what * UINT64_C(0x94d049bb133111eb) + entry->request * UINT64_C(0xbf58476d1ce4e5b9) +
           entry->identity * UINT64_C(0xff51afd7ed558ccd) +
           entry->value * UINT64_C(0xc4ceb9fe1a85ec53) + entry->a * UINT64_C(0x87c37b91114253d5) +
           entry->b * UINT64_C(0x4cf5ad432745937f);
}

/* Position of the oldest entry that is kept; count if there is none. */
uint32_t journal_first(const struct journal *journal);

/* An entry that is kept. */
const struct journal_entry *journal_at(const struct journal *journal, uint32_t position);

/* "host_accepted". */
const char *journal_kind_name(uint32_t kind);

/* Names that an entry alone cannot tell; either may be NULL, and an empty answer means unknown. */
struct journal_names {
    void *context;
    struct bytes (*resource)(void *context, uint32_t resource);
    struct bytes (*method)(void *context, uint16_t service, uint8_t method);
};

/* One line of text for people, without a newline: time, lane, what, in words. */
void journal_describe(const struct journal_entry *entry, struct byte_writer *writer);

/* The same with names in the place of numbers. */
void journal_describe_named(const struct journal_entry *entry,
                            const struct journal_names *names,
                            struct byte_writer *writer);

const char *stop_cause_name(uint32_t cause);
const char *abort_cause_name(uint32_t cause);

#endif
