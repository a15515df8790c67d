/* The ledger: what the journal says so far, kept once per run and read by all oracles.
 *
 * The judge feeds every entry to the ledger before any oracle sees it. Per record: hand-overs,
 * outcomes, coverage, effects. Per envelope (one staging): where it is, and whether it may be sent.
 * Per identity: the envelope that carries it now, and what was sent under it. Per request, resource
 * and lane: what the end of a chain of entries needs. Some fields speak of the current entry only:
 * they are set by each entry and read by the oracles that it is handed to.
 *
 * The ledger trusts the host's and the world's entries, the source's log and the checkpoint store.
 * It takes no number that a sink or a model reports about itself, but for the header of an envelope
 * (identity, deadline), which is what the sink is held to.
 *
 * An entry is plain when it is of a kind listed here and nothing of what stands beside it holds; then
 * oracles that ask for unusual entries only (kinds_unusual) are not called.
 *
 *   record, accepted     it breaks the account of its record, or the workload gave that a trait
 *   staged               it breaks the way of its envelope, or its record was staged before
 *   received, finalised  it breaks the way of its envelope
 *   commit request       the same; its bytes are not those that were staged
 *   wire issued          the half has ended, or has more open requests than its cap; of the sink's own:
 *                        it has no identity or is not the first of it, a staged sink may not send it,
 *                        or the identity is shared
 *   wire answered        it is not the only one of its identity so far, or did not succeed
 *   created, replaced,   not of the target service, or not of a record; more writes than records; too
 *   visible              early; not the first effect of its identity or resource; fencing is on
 *
 * Cost: O(1) per entry but for two. A completed checkpoint walks the records that it covers newly
 * and the collections that it holds; a start walks the records that are rolled back and the
 * collections that are restored. Both are paid for by hand-overs and stagings before. */
#ifndef SIM_ORACLE_LEDGER_H
#define SIM_ORACLE_LEDGER_H

#include "sim/arena.h"
#include "sim/engine/store.h"
#include "sim/journal.h"
#include "sinks/port/port.h"

#define LEDGER_LANES 16 /* subtasks of one kind of lane: JOB_SUBTASK_MAX */

/* What became of a record since it was last handed to a writer. */
enum ledger_outcome {
    OUTCOME_NONE = 0, /* never handed over */
    OUTCOME_HANDED,
    OUTCOME_ACCEPTED,
    OUTCOME_SKIPPED,
    OUTCOME_FAILED, /* with the failure policy */
    OUTCOME_DROPPED,
};

/* Counters stand in the first record of equal payload ("kin"): itself, unless the scenario asked for
 * equal payloads, which are judged as multisets. */
struct ledger_record {
    nanos handed_at;       /* first hand-over */
    record_id kin;         /* whose counters count for this one */
    uint32_t covered_by;   /* first completed checkpoint that covers it; 0 none */
    uint32_t envelope;     /* latest staging, index + 1; 0 none */
    uint16_t attempt;      /* that it was last handed to */
    bool deferred;         /* covered as channel state: whether it is owed shows later */
    uint8_t outcome;       /* enum ledger_outcome, of that hand-over */
    uint32_t dead_letters; /* of this record, at the dead letter service */
    /* of the kin */
    uint32_t members;         /* records of this payload */
    uint32_t covered;         /* of them, by any completed checkpoint */
    uint32_t owed;            /* of these, neither skipped nor dropped when they were covered */
    uint32_t created;         /* creations at the target service, all generations and resources,
                                     but for those that reader class 0 sees no longer */
    uint32_t stored;          /* creations and replacements */
    uint32_t visible;         /* to the judged reader class, now */
    uint32_t seen;            /* became visible to it, ever */
    uint32_t resource;        /* of the first creation */
    uint32_t effect_position; /* journal position of the first judged effect */
};

enum ledger_place {
    PLACE_NONE = 0,
    PLACE_WRITER, /* staged: with the writer or on the edge */
    PLACE_COMMITTER,
    PLACE_FINALISED,
};

/* One staging. The array is the append-only log of everything ever staged. */
struct ledger_envelope {
    uint64_t identity;
    uint64_t value;
    nanos staged_at;  /* true: virtual time */
    nanos deadline;   /* sender's wall clock, as persisted */
    uint64_t granted; /* bit per attempt modulo 64 that may send it: it was in a commit request list
                         after a checkpoint with it completed */
    uint32_t position;      /* journal position of the staging */
    record_id record;       /* 0: several */
    uint32_t checkpoint;    /* the lowest number whose completion frees it */
    uint32_t previous;      /* earlier staging of the same identity, index + 1; 0 none */
    uint32_t collected;     /* latest completed checkpoint that holds it; 0 none */
    uint16_t attempt;       /* that staged it */
    uint16_t expected;      /* attempt that must restore it; 0 none */
    uint16_t place_attempt; /* the place counts in this attempt only */
    uint8_t place;          /* enum ledger_place */
    uint8_t subtask;        /* whose region the place is in */
    bool finalised;         /* in any attempt */
};

struct ledger_identity {
    uint64_t identity;
    uint64_t sent_value; /* of the first request */
    uint32_t envelope;   /* current one, index + 1; 0 none: an eager sink's */
    uint32_t latest;     /* latest staging in any attempt, index + 1; 0 none */
    uint32_t request;    /* latest data request; 0 never sent */
    uint8_t effects;     /* of these that had one: creations and replacements; 255 is 255 or more */
    bool shared;         /* two records derive it: not judged */
    /* A commit may be of many records: another one, by the same request, is no further effect. */
    uint32_t effect_request;
    record_id effect_record;
};

struct ledger_request {
    nanos leaves_at;   /* issued, or the end of the pause that holds it back */
    uint32_t identity; /* index + 1; 0 none */
    uint16_t attempt;
    lane lane;
    bool open;  /* neither answered, dropped, cancelled nor expired */
    bool alone; /* the only data request of its identity so far */
};

struct ledger_resource {
    nanos removed_at;
    record_id record; /* of the latest creation */
    bool absent;      /* removed since */
};

struct ledger_lane {
    nanos paused_until; /* injected: what it sends before leaves then */
    uint64_t ended;     /* private: bit per attempt modulo 64 whose half is dead or told to close */
    uint32_t open;      /* requests without an end, of attempt */
    uint32_t barrier;   /* latest that reached it */
    uint16_t attempt;
};

/* An injected fault and its length. */
struct ledger_fault {
    nanos from;
    nanos until;      /* cut by the heal; of a pause, by the death of the process */
    uint64_t request; /* that it befell, 0 none */
    uint8_t kind;     /* enum fault_kind */
    lane lane;        /* that it befell, */
    uint16_t attempt; /* and in which life */
};

/* How the current entry breaks the way of an envelope. */
enum ledger_misplaced {
    MISPLACED_NONE = 0,
    MISPLACED_STAGED_TWICE,
    MISPLACED_STAGED_AFTER_FINALISED,
    MISPLACED_RECEIVED_UNSTAGED,
    MISPLACED_RECEIVED_TWICE,
    MISPLACED_RESTORED_UNKNOWN,
    MISPLACED_RESTORED_FOREIGN, /* not in the restored checkpoint */
    MISPLACED_RESTORED_TWICE,
    MISPLACED_REQUEST_NOT_HELD,
    MISPLACED_FINALISED_NOT_HELD,
};

/* How the current entry breaks the account of a record. */
enum ledger_misreport {
    MISREPORT_NONE = 0,
    MISREPORT_HANDED_TWICE,
    MISREPORT_NOT_HANDED,
    MISREPORT_SECOND_OUTCOME,
    MISREPORT_DROPPED_UNFAILED,
};

/* What happened at least once: the marks that oracles ask for. */
enum ledger_saw {
    SAW_COVERED = 1,
    SAW_RESTORE = 2,
    SAW_ROLLED_BACK = 4,
    SAW_ENVELOPE_RESTORED = 8,
    SAW_FAILED_RECORD = 16,
    SAW_DEAD_LETTER = 32,
    SAW_EFFECT = 64,
    SAW_SENT_ENVELOPE = 128,
    SAW_BARRIER = 256,
    SAW_HEAL = 512,
    SAW_IN_FLIGHT = 1024,
    SAW_IN_FLIGHT_RESTORED = 2048,
};

struct judge_facts;

struct ledger {
    struct arena *arena;
    const struct source_log *log;
    const struct store *store;
    const struct judge_facts *facts;
    struct ledger_record *records; /* by id - 1 */
    /* growing arrays: capacity is private */
    struct ledger_envelope *envelopes;
    uint32_t envelope_count;
    uint32_t envelope_capacity;
    struct ledger_identity *identities;
    uint32_t identity_count;
    uint32_t identity_capacity;
    uint32_t *slots; /* private: index + 1 into identities, open addressing */
    uint32_t slot_count;
    struct arena_array requests;  /* private: struct ledger_request by number */
    struct arena_array resources; /* private: struct ledger_resource by number */
    struct ledger_fault *faults;  /* in order of time */
    uint32_t fault_count;
    uint32_t fault_capacity;
    struct ledger_lane lanes[LANE_KIND_COUNT][LEDGER_LANES];
    uint64_t *covered_to; /* private, per split: covered in the running timeline */
    uint64_t *handed_to;  /* private, per split: handed to a writer in any attempt */
    /* running totals */
    nanos now;                       /* time of the latest entry */
    uint16_t attempt;                /* running or latest: the highest of all regions */
    uint16_t started;                /* attempt of the job as a whole */
    uint16_t attempts[LEDGER_LANES]; /* running or latest, of the region of each subtask */
    uint32_t held_of[LEDGER_LANES];  /* private: of held, where the place is */
    uint32_t completed;              /* highest completed checkpoint */
    uint32_t cut;           /* latest completed or restored one of the running timeline; 0 none */
    uint32_t triggered;     /* highest triggered one */
    uint32_t held;          /* envelopes with writer, edge or committer in this attempt */
    uint32_t open;          /* requests without an end, all attempts */
    uint32_t covered_count; /* records covered by any completed checkpoint */
    uint32_t expected;      /* envelopes that this attempt must restore and has not yet */
    uint32_t saw;           /* bits of enum ledger_saw */
    bool batches;           /* an envelope stages several records */
    /* Such envelopes in the latest completed checkpoint that were staged behind the cut before it. */
    uint32_t batches_held;
    uint16_t next_sink;    /* attempt from which on the second sink runs; 0 none */
    bool failed;           /* the job stands in a terminal error */
    uint8_t failed_reason; /* enum sink_reason */
    nanos failed_at;
    /* of the current entry; in this order, so that they are cleared at once */
    struct ledger_identity *identity_or_null; /* that it names */
    struct ledger_envelope *envelope_or_null; /* that it names, or that its identity carries */
    uint32_t batch_count;
    uint32_t envelope_before; /* a staging: the one that its record had, index + 1; 0 none */
    uint32_t request_before;  /* a data request: the one that its identity had; 0 none */
    uint8_t misplaced;        /* enum ledger_misplaced */
    uint8_t misreport;        /* enum ledger_misreport */
    bool plain;               /* nothing about it is unusual: see above */
    bool effect;              /* it is a judged effect of a record */
    bool absent;              /* a creation: its resource had been removed before */
    bool was_live;      /* a staging: its record had an envelope that is alive in this attempt */
    nanos absent_since; /* if absent: when it was removed */
    record_id *batch;   /* records newly covered (completed) or rolled back (started) */
    /* of the end */
    record_id *missing; /* owed, without effect */
    uint32_t missing_count;
    uint32_t without_effect; /* records, owed or not */
    uint32_t skipped;        /* records that no writer wanted in the end */
};

/* Prepare an empty ledger in the arena. Reads facts whenever an entry comes. O(records). */
void ledger_init(struct ledger *ledger,
                 struct arena *arena,
                 const struct source_log *log,
                 const struct store *store,
                 const struct judge_facts *facts);

/* Take in one entry. */
void ledger_note(struct ledger *ledger, const struct journal_entry *entry, uint32_t position);

/* Find the missing records, and count those that other end checks are about. complete: all work is done, so that every record counts as covered.
 * O(records). */
void ledger_settle(struct ledger *ledger, bool complete);

/* Looked up more often than anything else here, and so inline. */
static inline struct ledger_record *ledger_record(const struct ledger *ledger, record_id record)
{
    CHECK(record >= 1);
    CHECK(record <= ledger->log->record_count);
    return &ledger->records[record - 1];
}

/* The record whose counters count for this one. */
static inline struct ledger_record *ledger_kin(const struct ledger *ledger, record_id record)
{
    return &ledger->records[ledger_record(ledger, record)->kin - 1];
}

/* Judged effects that this record's payload had: to the reader class if one is judged. */
uint32_t ledger_effects(const struct ledger *ledger, record_id record);

/* Judged effects that must not be more than members: creations, or rows visible now. */
uint32_t ledger_writes(const struct ledger *ledger, record_id record);

/* True when an effect of this payload stands that no completed checkpoint can own. */
bool ledger_is_early(const struct ledger *ledger, record_id record);

/* The latest staging of a record, brought back to what a restore brought back, or NULL. */
static inline const struct ledger_envelope *ledger_envelope(const struct ledger *ledger,
                                                            record_id record)
{
    const uint32_t index = ledger_record(ledger, record)->envelope;
    return index == 0 ? NULL : &ledger->envelopes[index - 1];
}

/* The attempt that a lane of the job's runs in: that of its subtask's region. */
static inline uint16_t ledger_attempt_of(const struct ledger *ledger, lane who)
{
    const uint32_t subtask = lane_index_of(who);
    CHECK(subtask < LEDGER_LANES);
    return ledger->attempts[subtask];
}

/* Whether an entry of a lane of the job's belongs to the running timeline: no zombie's does. */
static inline bool ledger_is_current(const struct ledger *ledger, const struct journal_entry *entry)
{
    return entry->attempt == ledger_attempt_of(ledger, entry->lane);
}

/* Whether an effect is caused by a request of an attempt that has been replaced since. */
bool ledger_is_replaced(const struct ledger *ledger, const struct journal_entry *effect);

/* Whether an envelope has a place in the running attempt. */
bool ledger_is_live(const struct ledger *ledger, const struct ledger_envelope *envelope);

/* Whether the sink that runs in an attempt is a staged one; 0 is the running attempt. */
bool ledger_is_staged(const struct ledger *ledger, uint16_t attempt);

/* A new attempt takes over the bit of the one before it by 64. */
static inline uint64_t ledger_attempt_bit(uint16_t attempt)
{
    return UINT64_C(1) << attempt % 64;
}

/* Whether this attempt may send the envelope. */
static inline bool ledger_is_granted(const struct ledger_envelope *envelope, uint16_t attempt)
{
    return (envelope->granted & ledger_attempt_bit(attempt)) != 0;
}

/* Whether the half of this lane and attempt is dead or has been told to close. */
static inline bool ledger_has_ended(const struct ledger_lane *sender, uint16_t attempt)
{
    return (sender->ended & ledger_attempt_bit(attempt)) != 0;
}

/* Whether an answer says that what the request asks for is done. */
static inline bool ledger_is_success(const struct journal_entry *answer)
{
    return answer->code == PORT_OK || answer->code == PORT_ALREADY_EXISTS;
}

/* Identity by digest, or NULL. */
struct ledger_identity *ledger_identity(const struct ledger *ledger, uint64_t identity);

/* Request by number, or NULL when it was never issued. */
static inline const struct ledger_request *ledger_request(const struct ledger *ledger,
                                                          uint32_t request)
{
    const struct ledger_request *found =
        arena_array_find(&ledger->requests, request, sizeof(*found));
    return found != NULL && found->attempt != 0 ? found : NULL;
}

struct ledger_lane *ledger_lane(struct ledger *ledger, lane who);

/* True when this lane's requests are data requests: the sink's own, not the failure policy's. */
static inline bool ledger_is_sink_lane(lane who)
{
    const enum lane_kind kind = lane_kind_of(who);
    return kind == LANE_WRITER || kind == LANE_COMMITTER || kind == LANE_OPERATOR;
}

/* Time within [from, until) in which an injected fault kept a half or a service down: crashes and
 * lost contacts with what follows until the restart, pauses, outages. Overlaps count once. */
nanos ledger_down(const struct ledger *ledger, nanos from, nanos until);

/* The longest stretch within [from, until) that no injected fault touches. */
nanos ledger_calm(const struct ledger *ledger, nanos from, nanos until);

/* Whether a fault that holds back effects was injected into this very request. */
bool ledger_is_delayed(const struct ledger *ledger, uint32_t request);

#endif
