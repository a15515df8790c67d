/* Calls about one table's metadata, one after another: number, deadline, repetition with pauses, and the
 * table as it was seen last. The machine above says which call comes next. */
#ifndef SINKS_BIGQUERY_TABLE_CALLER_H
#define SINKS_BIGQUERY_TABLE_CALLER_H

#include "sinks/bigquery/client/appender.h"
#include "sinks/parking.h"
#include "sinks/retry.h"
#include "sinks/sink.h"

/* Borrowed for the caller's life. */
struct table_caller_options {
    const struct retry_schedule *schedule; /* of what is repeated as it was */
    nanos request_timeout;
};

struct table_caller {
    const struct table_caller_options *options;
    const struct allocator *allocator;
    struct appender_numbers *numbers;
    struct parking *parking;
    uint32_t failures; /* of the same call in a row */
    uint32_t rounds;   /* that others have spoilt */
    bool waits;
    struct parking_slot pause;
    uint64_t call;                    /* number of the request that is open; 0 none */
    const struct port_method *method; /* of it */
    struct bigquery_table *seen;      /* read: NULL nothing; owned */
    size_t seen_size;
    enum sink_reason reason;   /* read: of a failure for good; SINK_REASON_NONE */
    struct port_status status; /* read; of what failed */
    bool has_status;
    const char *message; /* read */
};

void table_caller_init(struct table_caller *caller,
                       const struct table_caller_options *options,
                       const struct allocator *allocator,
                       struct appender_numbers *numbers,
                       struct parking *parking);
/* Nothing has been called, seen or spoilt. */
void table_caller_reset(struct table_caller *caller);
void table_caller_fini(struct table_caller *caller);

/* Whether a call may go now. */
bool table_caller_may_send(const struct table_caller *caller, struct sink_effects *effects);
/* The payload is borrowed until the answer. */
void table_caller_send(struct table_caller *caller,
                       const struct port_method *method,
                       const void *payload,
                       struct sink_effects *effects);

/* Whether an answer is that of the open call, which is none then; whether a slot is its pause. */
bool table_caller_answer(struct table_caller *caller, const struct port_answer *answer);
bool table_caller_due(struct table_caller *caller, const struct parking_slot *slot);

/* Nobody knows what became of the call, or it is to be repeated. */
bool table_caller_is_transient(const struct port_answer *answer);

void table_caller_fail(struct table_caller *caller,
                       enum sink_reason reason,
                       const struct port_status *status_or_null,
                       const char *message);
/* Pause before the same call is made again, as long as the schedule has an attempt left; else fail. */
void table_caller_try_again(struct table_caller *caller,
                            nanos now,
                            const struct port_status *status);
/* After a call that had no good answer: the same again where table_caller_is_transient, else fail for
 * SINK_REASON_SERVICE. */
void table_caller_again_or_fail(struct table_caller *caller,
                                nanos now,
                                const struct port_answer *answer,
                                const char *message);
/* Pause before the table is looked at again, five times at most; else fail. */
void table_caller_look_again(struct table_caller *caller,
                             nanos now,
                             const struct port_status *status);
/* Keep what was seen, in place of what was; without memory, fail. */
void table_caller_keep(struct table_caller *caller, const struct bigquery_table *table);
void table_caller_forget(struct table_caller *caller);

/* Cancel what is on its way, and forget the pause. */
void table_caller_close(struct table_caller *caller, struct sink_effects *effects);

uint64_t table_caller_digest(uint64_t digest, const struct table_caller *caller);

#endif
