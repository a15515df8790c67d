/* A host of one half that keeps the contract and holds the half to it: all that an effect points to is
 * read, and each must be allowed in the state that the half is in. A broken rule is a failed check. It
 * differs from sinks/host_testkit.h in that it needs no test framework and expects nothing of a half but
 * the contract. */
#ifndef SCENARIOS_FUZZ_HALF_HOST_H
#define SCENARIOS_FUZZ_HALF_HOST_H

#include "sinks/sink.h"

#include <stdbool.h>
#include <stdint.h>

#define HALF_CALLS_MAX  64u
#define HALF_ROUTED_MAX 64u
#define HALF_COMMIT_MAX 32u

struct call {
    uint64_t request;
    const struct port_method *method;
    uint64_t stream; /* 0: unary */
    bool opens;      /* the stream; its answer is the stream's end */
};

/* All fields are read by whoever drives the half; private ones are marked. */
struct half_host {
    const struct sink_half *half; /* set before init */
    bool is_policy;               /* set before init: it judges records, and may flush */
    bool leaves_calls;            /* set before init: CLOSE cancels nothing that is under way */
    uint64_t allocation_fails_at; /* set before init: the n-th; 0 none */
    /* Set before init: whether a committable reads, and its identity; NULL where the half makes none. */
    bool (*read_committable)(struct bytes committable, struct bytes *identity);
    /* Set before init: whether that is its identity; NULL: it is the one that was read. */
    bool (*fits_identity)(struct bytes committable, struct bytes identity);
    /* Set before init: whether a piece of the half's state reads; NULL where it has none. */
    bool (*read_piece)(struct bytes piece);
    struct allocator allocator;
    struct sink_env env; /* of the half */
    void *state;
    struct sink_now now;
    struct sink_effects effects; /* of the last step */
    bool opened;
    bool failed;
    bool closed;
    bool busy;
    bool timer_set;
    bool flushing; /* the policy is to flush; where the half is one, it was asked to */
    bool committing;
    uint32_t reason; /* of the failure: enum sink_reason */
    nanos timer_at;
    struct call calls[HALF_CALLS_MAX]; /* not answered */
    uint32_t call_count;
    uint64_t last_request;
    uint64_t token; /* of the record that is not answered; 0 none */
    uint64_t last_token;
    uint64_t barrier; /* the open one; 0 none */
    uint64_t last_barrier;
    uint64_t routed[HALF_ROUTED_MAX]; /* records with the failure policy, not judged yet */
    uint32_t routed_count;
    uint32_t commit_count;                      /* requests of the running commit */
    uint32_t signalled;                         /* private: bit per request of the running commit */
    size_t live;                                /* private: bytes that the half holds */
    uint64_t allocations;                       /* private */
    struct sink_effect items[SINK_EFFECTS_MAX]; /* private */
};

/* Prepare the host, zeroed but for what is set before, and its half, with the host's allocator in its
 * env. False when the allocation that was to fail failed it: then nothing is to be ended. */
bool half_host_init(struct half_host *host, const struct sink_env *env);

/* End the half and require that it holds no memory. */
void half_host_fini(struct half_host *host);

void half_host_step(struct half_host *host, const struct sink_event *event);
void half_host_simple(struct half_host *host, enum sink_event_kind kind);

/* Whether a record, a barrier, a commit or a notice may come now. */
bool half_host_is_idle(const struct half_host *host);

/* Take a call from those that are not answered, with all of its stream if it opened one; false when it is
 * not among them. */
bool half_host_forget(struct half_host *host, uint64_t request);

/* Let both clocks go on. */
void half_host_pass(struct half_host *host, nanos time);

/* Go on to the latest instant of the timer and let it fire; nothing when it is not set. */
void half_host_fire(struct half_host *host);

/* CLOSE, and require that CLOSED comes. */
void half_host_close(struct half_host *host);

#endif
