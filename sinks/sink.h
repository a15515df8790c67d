/* The sink contract: what a host asks of a sink and what a sink may do (DESIGN section 4).
 *
 * A sink mode is a const type object with one or two halves, a writer and, if staged, a committer.
 * A half is a state machine: step(state, now, event, effects). The same state, time and event give
 * the same effects; a half has no other input, no globals, no clock and no I/O of its own. It
 * allocates through env->allocator only and gives back what it no longer needs.
 *
 * Ordering rule: the answer to barrier n (BARRIER_DONE n) leaves only after every request that n
 * depends on is settled, or recorded in the state pieces or committables of n, which come before it
 * in the list of effects.
 *
 * Events and who gets them (W writer, C committer, P policy, O async operator):
 *   OPEN W C P O      first event of a life. W: state pieces of the restored checkpoint, or none.
 *                     The half answers with OPENED (at once or after requests), or FAIL.
 *   RECORD W O        only while opened, ready and no barrier is open. W answers in the same step
 *                     or later with ACCEPTED, SKIPPED or RECORD_FAILED for its token; until then
 *                     it gets no other record.
 *   ANSWER, STREAM_MESSAGE, STREAM_END   all. Each belongs to a request or stream of this life.
 *   TIMER all         the half's one timer fired.
 *   MORE all          the sends that found no room may go on now.
 *   BARRIER W O       flush, prepare commit, snapshot; answered by BARRIER_DONE once.
 *   COMMIT C          requests to commit; answered by COMMIT_RETURNED once. Only one at a time.
 *   CHECKPOINT_COMPLETE, CHECKPOINT_ABORTED W C O   notices, merged to the highest, may be lost.
 *   POLICY_DROPPED, POLICY_FAILED, POLICY_FLUSHED W  verdicts of the failure policy.
 *   HANDLE, FLUSH P   a failed record to judge; make all handled ones durable.
 *   INPUT_TIMEOUT O   the engine gave up waiting for an input's result.
 *   END_OF_INPUT W O  flush all; answered by BARRIER_DONE SINK_END_OF_INPUT, committables before.
 *   CLOSE all         at any time, even while busy; answered by CLOSED in bounded time; no send
 *                     afterwards.
 */
#ifndef SINKS_SINK_H
#define SINKS_SINK_H

#include "sinks/base/allocator.h"
#include "sinks/base/bytes.h"
#include "sinks/base/err.h"
#include "sinks/base/units.h"
#include "sinks/port/port.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SINK_ABI_VERSION  3u
#define SINK_END_OF_INPUT UINT64_MAX /* barrier number of end of input */

/* --- what flows in ----------------------------------------------------------------------------- */

enum sink_change {
    SINK_INSERT = 0,    /* +I */
    SINK_UPDATE_BEFORE, /* -U */
    SINK_UPDATE_AFTER,  /* +U */
    SINK_DELETE,        /* -D */
};

struct sink_record {
    uint64_t token; /* the host's name for it in answers; says nothing about content */
    struct bytes key;
    struct bytes value;
    uint8_t change; /* enum sink_change */
    nanos event_time;
    uint32_t split;    /* source split */
    uint64_t position; /* within the split */
};

/* Time at the node that runs the half. Wall and monotonic clocks are not comparable. */
struct sink_now {
    nanos monotonic; /* since some start; for backoff and request deadlines; never persisted */
    nanos wall;      /* since 1970; may be wrong, drift and jump */
    uint64_t nonce;  /* fresh random bits with every event, never equal again */
};

/* A piece of writer state, or nothing. */
struct sink_piece {
    struct bytes data;
};

/* What a committable says of itself, readable by the host. */
struct sink_committable_header {
    struct bytes identity; /* what makes it this one */
    nanos origin;          /* wall time of its staging, ns; 0 unknown */
    nanos deadline;        /* wall time after which it must not be sent; TIME_NEVER none */
};

/* A request list of a COMMIT: owned by the host, alive until COMMIT_RETURNED or CLOSED. */
struct sink_commit_request {
    struct sink_committable_header header;
    struct bytes data;
};

enum sink_reason {
    SINK_REASON_NONE = 0,
    SINK_REASON_SERIALIZER, /* the user's serializer failed */
    SINK_REASON_EXTRACTOR,  /* the user's id extractor failed */
    SINK_REASON_RESOLVER,   /* no destination, or the resolver failed */
    SINK_REASON_REJECTED,   /* the service says that the data is wrong */
    SINK_REASON_CONFIG,     /* configuration or restored state is unusable */
    SINK_REASON_CAPACITY,   /* a declared cap is full and waiting would block */
    SINK_REASON_EXHAUSTED,  /* a retry budget is used up */
    SINK_REASON_SERVICE,    /* a definite error of the service that no retry mends */
    SINK_REASON_EXPIRED,    /* the recovery window is over */
    SINK_REASON_STATE,      /* restored bytes are corrupt, foreign or of an unknown version */
    SINK_REASON_POLICY,     /* the failure policy fails the job */
    SINK_REASON_MEMORY,     /* the allocator is at its limit */
    SINK_REASON_COUNT,
};

const char *sink_reason_name(uint32_t reason);

enum sink_event_kind {
    SINK_EVENT_NONE = 0,
    SINK_EVENT_OPEN,
    SINK_EVENT_RECORD,
    SINK_EVENT_ANSWER,
    SINK_EVENT_STREAM_MESSAGE,
    SINK_EVENT_STREAM_END,
    SINK_EVENT_TIMER,
    SINK_EVENT_MORE,
    SINK_EVENT_BARRIER,
    SINK_EVENT_COMMIT,
    SINK_EVENT_CHECKPOINT_COMPLETE,
    SINK_EVENT_CHECKPOINT_ABORTED,
    SINK_EVENT_POLICY_DROPPED,
    SINK_EVENT_POLICY_FLUSHED,
    SINK_EVENT_POLICY_FAILED,
    SINK_EVENT_HANDLE,
    SINK_EVENT_FLUSH,
    SINK_EVENT_INPUT_TIMEOUT,
    SINK_EVENT_END_OF_INPUT,
    SINK_EVENT_CLOSE,
    SINK_EVENT_KIND_COUNT,
};

/* All that an event points to is borrowed until the step returns, except commit requests. */
struct sink_event {
    uint8_t kind; /* enum sink_event_kind */
    union {
        struct {
            const struct sink_piece *pieces; /* NULL when none */
            uint32_t piece_count;
            bool restored; /* a checkpoint was restored, even if it held no piece */
        } open;
        struct sink_record record;
        struct port_answer answer; /* ANSWER, STREAM_MESSAGE, STREAM_END */
        uint64_t checkpoint;       /* BARRIER, CHECKPOINT_COMPLETE, CHECKPOINT_ABORTED */
        struct {
            uint64_t barrier;    /* SINK_END_OF_INPUT */
            uint64_t checkpoint; /* that its committables go with; 0 in batch mode */
        } end;                   /* END_OF_INPUT */
        struct {
            const struct sink_commit_request *requests;
            uint32_t count;
        } commit;
        struct {
            uint64_t token;
            uint32_t reason; /* POLICY_FAILED: enum sink_reason */
        } policy;
        struct {
            struct sink_record record; /* HANDLE; record.token names it */
            struct bytes payload;      /* serialised form; empty if serialising failed */
            uint32_t reason;           /* enum sink_reason */
            struct bytes destination;
        } handle;
        uint64_t input; /* INPUT_TIMEOUT: token */
    } u;
};

/* --- what flows out ---------------------------------------------------------------------------- */

enum sink_effect_kind {
    SINK_EFFECT_NONE = 0,
    SINK_EFFECT_OPENED, /* ready for what comes after OPEN */
    SINK_EFFECT_SEND,   /* an envelope: call, open, message, half-close, cancel */
    SINK_EFFECT_TIMER,  /* replace the half's timer; host draws in [min, max]; delays */
    SINK_EFFECT_TIMER_CLEAR,
    SINK_EFFECT_BUSY, /* no record, barrier or commit until READY */
    SINK_EFFECT_READY,
    SINK_EFFECT_ACCEPTED,       /* token */
    SINK_EFFECT_SKIPPED,        /* token: the serializer gave nothing */
    SINK_EFFECT_RECORD_FAILED,  /* token, reason, payload, destination: for the failure policy */
    SINK_EFFECT_POLICY_FLUSH,   /* ask the policy to make everything handled durable */
    SINK_EFFECT_POLICY_DROPPED, /* P: token: the record is taken care of */
    SINK_EFFECT_POLICY_FAILED,  /* P: token or 0, reason */
    SINK_EFFECT_POLICY_FLUSHED, /* P */
    SINK_EFFECT_STATE_PIECE,    /* data: snapshot of the barrier that is being answered */
    SINK_EFFECT_COMMITTABLES,   /* an owned list */
    SINK_EFFECT_BARRIER_DONE,   /* checkpoint */
    SINK_EFFECT_SIGNAL,         /* C: request index, how */
    SINK_EFFECT_COMMIT_RETURNED,
    SINK_EFFECT_SETTLE, /* O: token, result */
    SINK_EFFECT_CLOSED,
    SINK_EFFECT_FAIL, /* terminal for this life: reason, status, message */
    SINK_EFFECT_TAP,  /* phase, metric or note; fit for production */
    SINK_EFFECT_KIND_COUNT,
};

enum sink_signal {
    SINK_SIGNAL_NONE = 0,
    SINK_SIGNAL_ALREADY_COMMITTED, /* finalised: its effect exists */
    SINK_SIGNAL_RETRY_LATER,       /* commit again, up to the engine's retries, then fail */
    SINK_SIGNAL_FAILED_KNOWN,      /* finalised: a silent drop */
};

enum sink_tap {
    SINK_TAP_NONE = 0,
    SINK_TAP_PHASE,  /* index into the type's phases */
    SINK_TAP_METRIC, /* index into the type's metrics, value added */
    SINK_TAP_NOTE,   /* text */
};

/* One committable on the owned list. The node and data come from env->allocator as one block of
 * block_size bytes; with the effect, ownership moves to the host. */
struct sink_committable {
    struct sink_committable *next;
    struct sink_committable_header header; /* identity points into the block */
    struct bytes data;                     /* points into the block */
    uint64_t token;                        /* record it stages; 0 when it stages several */
    size_t block_size;
};

struct sink_effect {
    uint8_t kind; /* enum sink_effect_kind */
    union {
        struct port_envelope send;
        struct {
            nanos min;
            nanos max;
        } timer;
        uint64_t token; /* ACCEPTED, SKIPPED, POLICY_DROPPED */
        struct {
            uint64_t token;
            uint32_t reason; /* enum sink_reason */
            struct bytes payload;
            struct bytes destination;
        } failed; /* RECORD_FAILED, POLICY_FAILED */
        struct bytes piece;
        struct sink_committable *committables;
        uint64_t checkpoint;
        struct {
            uint32_t request;
            uint8_t how; /* enum sink_signal */
        } signal;
        struct {
            uint64_t token;
            struct bytes result;
            bool failed;
        } settle;
        struct {
            uint32_t reason; /* enum sink_reason */
            struct port_status status;
            struct bytes message; /* for people; no secrets */
        } fail;
        struct {
            uint8_t what; /* enum sink_tap */
            uint16_t index;
            uint64_t value;
            struct bytes note;
        } tap;
    } u;
};

#define SINK_EFFECTS_MAX 128

/* The host's list; a step appends, with the functions of sinks/effects.h. Borrowed memory must live
 * until the next step of the half. */
struct sink_effects {
    struct sink_effect *items; /* host */
    uint32_t count;
    uint32_t capacity;  /* at least SINK_EFFECTS_MAX */
    uint32_t send_room; /* sends still allowed in this step */
    bool more;          /* set by the half: it has more to send; host answers with MORE */
    bool overflowed;    /* more than capacity: a broken contract */
};

/* --- configuration ----------------------------------------------------------------------------- */

enum sink_option_type {
    SINK_OPTION_NONE = 0,
    SINK_OPTION_BOOL,
    SINK_OPTION_COUNT,
    SINK_OPTION_BYTES,    /* a size */
    SINK_OPTION_DURATION, /* ns; in scenario files with _ms or _ns */
    SINK_OPTION_ENUM,     /* value is the index into names */
    SINK_OPTION_TEXT,
};

struct sink_option {
    const char *key;   /* "max_in_flight_tasks"; durations without unit */
    uint8_t type;      /* enum sink_option_type */
    bool required;     /* texts only: must be given */
    uint64_t fallback; /* default */
    const char *fallback_text;
    uint64_t min;
    uint64_t max;
    const char *const *names; /* of an enum, NULL-terminated */
    const char *sentence;
};

struct sink_option_value {
    uint64_t number;
    struct bytes text;
    bool given; /* set by the user, not the default */
};

enum sink_guarantee {
    SINK_GUARANTEE_NONE = 0,
    SINK_AT_LEAST_ONCE,
    SINK_EFFECTIVELY_ONCE,
    SINK_EXACTLY_ONCE,
};

enum sink_kind {
    SINK_KIND_NONE = 0,
    SINK_KIND_SINK,
    SINK_KIND_ASYNC_OPERATOR,
};

enum sink_policy_kind {
    SINK_POLICY_FAIL = 0,
    SINK_POLICY_DROP,
    SINK_POLICY_DEAD_LETTER,
};

/* What the job graph is like: a sink may refuse to be part of it. */
struct sink_job {
    bool checkpointing;
    bool barriers_exactly_once; /* false: at-least-once barriers */
    bool bounded;
    bool checkpoints_after_finish;
    bool runtime_automatic; /* runtime mode is neither set to streaming nor to batch */
    bool batch;
    bool destination_fixed; /* no per-record destinations */
    uint8_t policy;         /* enum sink_policy_kind */
    uint32_t parallelism;
    nanos checkpoint_interval;
    nanos checkpoint_timeout;
};

/* One side of a timing rule is a sum of terms: options, and what the host knows of the job and the
 * service. Horizons are those of one failure and the recovery from it. */
enum sink_timing_fact {
    SINK_TIMING_NONE = 0,
    SINK_TIMING_OPTION, /* index into the options of who declares the rule; or, with a key, the option
                           of the other side (of a sink its service, of a service its sink) */
    SINK_TIMING_CHECKPOINT_TIMEOUT,
    SINK_TIMING_CHECKPOINT_INTERVAL,
    SINK_TIMING_REPLAY_HORIZON, /* from staging to the last possible commit, repeated ones included */
    SINK_TIMING_WAVE, /* a barrier's longest wait for requests that use up their attempts */
    SINK_TIMING_CHECKPOINT_DURATION, /* from a trigger to the completion */
    SINK_TIMING_FIRST_COMMIT, /* from staging to the last possible commit that takes effect */
    SINK_TIMING_OPEN,         /* from staging to the completion of its checkpoint */
    SINK_TIMING_REPEAT,       /* from an effect to its last possible repetition */
    SINK_TIMING_REREAD,       /* from reading a record to the last time it is read again */
    SINK_TIMING_DRAIN,        /* a barrier's longest wait for requests when nothing fails */
    SINK_TIMING_CLOCK_ERROR,  /* how far the clocks of two attempts may lie apart */
    SINK_TIMING_LATE_EFFECT, /* from sending a request to the last moment at which it may take effect */
    SINK_TIMING_PROTECTION, /* for how long the service's documents make a repetition harmless */
    SINK_TIMING_EARLIEST,   /* from staging to the first possible effect */
    SINK_TIMING_REQUEST,    /* from sending a request to its answer when nothing fails */
    SINK_TIMING_SOURCE_RETENTION, /* for how long the source can read a record again */
    SINK_TIMING_FACT_COUNT,
};

struct sink_timing_term {
    uint8_t fact; /* enum sink_timing_fact; NONE ends a side */
    uint16_t option;
    const char *key; /* of the other side's option, or NULL */
};

#define SINK_TIMING_SIDE_MAX 5

/* The sum of left must exceed the sum of right, or reach it. It does not apply where the first term of
 * left is 0, or where there is no such option. */
struct sink_timing {
    const char *name;
    const char *clause; /* where it comes from */
    struct sink_timing_term left[SINK_TIMING_SIDE_MAX];
    struct sink_timing_term right[SINK_TIMING_SIDE_MAX];
    bool or_equal; /* reaching it is enough */
    const char *sentence;
};

/* --- the user's code --------------------------------------------------------------------------- */

enum sink_user_result {
    SINK_USER_OK = 0,
    SINK_USER_NONE,   /* serializer: skip; resolver, extractor: nothing there */
    SINK_USER_FAILED, /* threw */
};

/* Callbacks of the user's; results are borrowed until the next call of the same callback. */
struct sink_user {
    void *context;
    enum sink_user_result (*resolve)(void *context,
                                     const struct sink_record *record,
                                     struct bytes *destination);
    /* The serialised form is the service's request payload in its canonical bytes. */
    enum sink_user_result (*serialize)(void *context,
                                       const struct sink_record *record,
                                       struct bytes destination,
                                       struct bytes *payload);
    /* NULL when no id extractor is configured. */
    enum sink_user_result (*extract_id)(void *context,
                                        const struct sink_record *record,
                                        struct bytes *id);
    /* What payloads for a destination are written as, for a service that must be told (a table's columns),
     * in its own message's canonical bytes. version is what the sink knows of the destination, 0 nothing
     * yet, and becomes what holds from this record on: no description has 0, each has its own, and payloads
     * of older ones are read the same by newer ones. Without a record: what the newest will need. NULL where
     * the service needs none. */
    enum sink_user_result (*describe)(void *context,
                                      const struct sink_record *record_or_null,
                                      struct bytes destination,
                                      uint64_t *version,
                                      struct bytes *description);
};

/* What a half is made with. Borrowed for its life. */
struct sink_env {
    const struct allocator *allocator;
    const struct sink_option_value *options; /* parallel to the type's option table */
    const struct sink_user *user;
    const struct sink_job *job;
    uint32_t subtask;
    uint32_t parallelism;
    /* Of this submission: the same over restarts, another when an operator resumes the job from what it kept. */
    struct bytes job_id;
    uint32_t attempt; /* tells the lives of a subtask within a submission apart */
};

/* --- the type object --------------------------------------------------------------------------- */

struct sink_half {
    size_t state_size; /* of the struct that holds the state, aligned for any type */
    /* Prepare zeroed state memory; no effect leaves. After an error the half keeps no memory, and no
     * other call follows, not even fini. ERR_OK, ERR_LIMIT, ERR_INVALID. */
    enum err (*init)(void *state, const struct sink_env *env);
    void (*step)(void *state,
                 const struct sink_now *now,
                 const struct sink_event *event,
                 struct sink_effects *effects);
    /* Digest of all that can influence later effects; no addresses. */
    uint64_t (*digest)(const void *state);
    /* Give back all memory; after CLOSED, FAIL or a crash-free end. */
    void (*fini)(void *state);
};

enum sink_committer_kind {
    SINK_COMMITTER_NONE = 0,
    SINK_COMMITTER_PER_SUBTASK,
    SINK_COMMITTER_GLOBAL,
};

#define SINK_FURTHER_SERVICES_MAX 2u

struct sink_type {
    uint32_t abi_version; /* SINK_ABI_VERSION */
    uint32_t type_size;   /* sizeof(struct sink_type): checked when a plugin is loaded */
    uint32_t event_size;  /* sizeof(struct sink_event) */
    uint32_t effect_size; /* sizeof(struct sink_effect) */
    const char *name;     /* "cloudtasks-exactly-once" */
    const char *sentence;
    uint8_t kind;                       /* enum sink_kind */
    uint8_t guarantee;                  /* enum sink_guarantee */
    uint8_t committer_kind;             /* enum sink_committer_kind */
    const struct port_service *service; /* holds the data: only what happens there is an effect */
    /* That it calls on the way there, as where it stages. */
    const struct port_service *const *further_services;
    uint32_t further_service_count; /* at most SINK_FURTHER_SERVICES_MAX */
    const struct sink_option *options;
    uint32_t option_count;
    const struct sink_timing *timings;
    uint32_t timing_count;
    const char *const *phases;
    uint32_t phase_count;
    const char *const *metrics;
    uint32_t metric_count;
    const struct sink_half *writer;
    const struct sink_half *committer_or_null;
    /* Refuse a configuration or job before the first request: ERR_INVALID with a message that names
     * option, value and what is allowed; else ERR_OK. */
    enum err (*validate)(const struct sink_option_value *options,
                         const struct sink_job *job,
                         struct byte_writer *message);
};

/* The symbol that a plugin exports. */
#define SINK_PLUGIN_SYMBOL "sinkproof_sink"

#endif
