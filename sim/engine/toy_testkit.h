/* A toy service, toy sinks and a whole run around them, for tests of the engine and of run.c.
 *
 * The service "toy" has one method, Put{key, value}: each call creates one more generation of the
 * resource named by the key. The sinks share one writer and one committer; what they do is in a
 * struct toy_behaviour, which the test sets before a run and reads after it.
 *
 * A pin says which choice to take at a site, and when; everything else stays calm.
 */
#ifndef SIM_ENGINE_TOY_TESTKIT_H
#define SIM_ENGINE_TOY_TESTKIT_H

#include "sim/engine/engine.h"
#include "sim/run.h"

#define TOY_RECORD_MAX 512
#define TOY_SPLIT_MAX  16
#define TOY_PIN_MAX    16
#define TOY_PIECE_MAX  256
#define TOY_ORACLE_MAX 8

enum toy_sink {
    TOY_EAGER = 0,     /* sends as records come, waits at the barrier */
    TOY_STATEFUL,      /* eager, with pieces of writer state */
    TOY_STAGED,        /* stages a committable per record; a committer per subtask sends them */
    TOY_STAGED_GLOBAL, /* the same with one committer for all */
};

/* What a sink does wrong, once, as the step meets what it names. */
enum toy_misdeed {
    TOY_NO_MISDEED = 0,
    TOY_TWO_BARRIER_ANSWERS,
    TOY_BARRIER_ANSWER_WITHOUT_BARRIER, /* on a record */
    TOY_WRONG_BARRIER_ANSWER,
    TOY_UNKNOWN_TOKEN,
    TOY_CANCEL_UNKNOWN,
    TOY_RETURN_WITHOUT_COMMIT,
    TOY_RETURN_TWICE,
    TOY_SIGNAL_UNKNOWN,
    TOY_SEND_AFTER_CLOSE,  /* between CLOSE and CLOSED */
    TOY_SEND_AFTER_CLOSED, /* behind CLOSED in the same step */
    TOY_OVERFLOW,
    TOY_LEAK,
    TOY_SEND_BEYOND_ROOM,
    TOY_REQUEST_ID_TWICE,
    TOY_FLUSHES_BEFORE_OPENED,
    TOY_STATE_OUTSIDE_BARRIER,
    TOY_COMMITTABLES_OUTSIDE_BARRIER,
    TOY_COMMITTER_FAILS_RECORD, /* a committer speaks as a writer */
    TOY_COMMITTER_FLUSHES_POLICY,
    TOY_WRITER_SPEAKS_AS_POLICY,
    TOY_FAILS_DROPPED_RECORD_AGAIN, /* forever */
    TOY_SEND_WITHOUT_METHOD,
    TOY_SEND_OF_FOREIGN_METHOD,
    TOY_SEND_WITHOUT_PAYLOAD,
    TOY_SEND_OF_NO_KIND,
    TOY_EFFECT_OF_NO_KIND,
};

enum toy_policy {
    TOY_POLICY_DROP = 0,
    TOY_POLICY_FAIL,
    TOY_POLICY_BREAKS, /* the half itself fails when asked to handle */
    TOY_POLICY_SLOW,   /* verdicts and flushes come from a timer */
};

struct toy_behaviour {
    /* set before the run */
    uint8_t misdeed;       /* enum toy_misdeed */
    uint8_t policy;        /* enum toy_policy */
    record_id poison;      /* this record fails; 0 none */
    uint32_t pieces;       /* state pieces that each fresh writer starts with */
    uint32_t burst;        /* puts per record, 0: 1 */
    nanos busy_for;        /* after each record; 0 never */
    nanos barrier_for;     /* writers answer barriers after that long */
    uint64_t barrier_slow; /* only this one, and only by the last subtask; 0: all by all */
    nanos commit_for;      /* committers send after that long */
    nanos open_for;        /* OPENED comes after that long */
    bool close_unanswered;
    bool never_answers_barrier;
    uint8_t signal;        /* enum sink_signal for the first signal_times requests */
    uint32_t signal_times; /* counts down */
    uint32_t commits_fail; /* so many commits fail once all is sent; counts down */
    uint32_t opens_fail;   /* so many writers fail to open; counts down */
    /* read after the run */
    uint32_t pieces_given[JOB_SUBTASK_MAX]; /* to each subtask at the last opening */
    uint32_t aborts_heard;
    uint32_t completes_heard;
    uint32_t more_heard;
    uint64_t end_goes_with; /* the checkpoint that the last end of input named */
    uint64_t job_ids[4];    /* digests, by attempt; those of later ones are not kept */
    uint32_t job_id_sizes[4];
    uint32_t sends_in_step_max;
    uint32_t dropped;
    uint32_t flushed;
};

/* Take value at a draw of site, and only at it. */
struct toy_pin {
    const struct choice_site *site;
    uint32_t value;
    uint32_t nth;              /* of the draws that match otherwise, from 0 */
    uint8_t after;             /* enum journal_kind: only once this was noted; 0: any time */
    uint32_t after_count;      /* so many times, 0: 1 */
    uint32_t after_checkpoint; /* with this checkpoint; 0 any */
    lane who;                  /* 0 any */
    /* private */
    uint32_t seen;
    /* read */
    bool taken;
};

struct toy {
    struct run_config config;
    struct run_request request;
    struct toy_behaviour behaviour;
    struct toy_pin pins[TOY_PIN_MAX];
    uint32_t pin_count;
    struct result result;
    struct runner runner;
    /* private */
    struct source_record records[TOY_RECORD_MAX];
    uint8_t keys[TOY_RECORD_MAX][8];
    uint8_t values[TOY_RECORD_MAX][16];
    uint32_t split_starts[TOY_SPLIT_MAX + 1];
    struct source_log log;
    struct sink_user user;
    struct choice_registry registry;
    const struct choice_site *sites[64];
};

extern const struct choice_site toy_fate_site;
extern const struct port_service toy_service;

/* Prepare a run of count records in splits, and one source and one subtask; the test may change the
 * config before toy_run. */
void toy_init(struct toy *toy, enum toy_sink sink, uint32_t record_count, uint32_t split_count);

/* The type of a toy sink, for a restart that brings another one. */
const struct sink_type *toy_sink_type(enum toy_sink sink);

/* Let the second sink of a restart be this one. */
void toy_next_sink(struct toy *toy, enum toy_sink sink);

/* Pin a choice; the request's mode becomes policy. */
struct toy_pin *toy_pin(struct toy *toy, struct toy_pin pin);

/* An engine site by its number, for pins. */
const struct choice_site *toy_site(enum engine_site site);

/* Allow every kind of fault and give windows to all classes of downtime. */
void toy_allow_all(struct toy *toy);

/* Make the run. The world, store and journal stay readable until the next one of any toy. */
void toy_run(struct toy *toy);

/* Run with a seed, or along a tape. */
void toy_run_seed(struct toy *toy, uint64_t seed);
void toy_run_tape(struct toy *toy, const struct tape *tape);

const struct journal *toy_journal(const struct toy *toy);

/* Position of the first entry from a position on that agrees in all fields that are not 0; the
 * journal's count if there is none. */
uint32_t toy_find(const struct toy *toy, uint32_t from, struct journal_entry wanted);
uint32_t toy_count(const struct toy *toy, struct journal_entry wanted);
bool toy_is_found(uint32_t position, const struct toy *toy);

/* Effects of a record over all resources and generations. */
uint32_t toy_effects_of(const struct toy *toy, record_id record);
/* Fewest and most effects of any record. */
uint32_t toy_effects_least(const struct toy *toy);
uint32_t toy_effects_most(const struct toy *toy);

/* Print the journal, for whoever mends a test. */
void toy_print(const struct toy *toy);

#endif
