/* A host for the tests of sinks: feeds one half with events, keeps what it does, and reads every byte
 * that an effect points to after the step, as a host may. It holds a half to the contract: no effect
 * after CLOSED, no send after FAIL but a cancel, no list that overflows. */
#ifndef SINKS_HOST_TESTKIT_H
#define SINKS_HOST_TESTKIT_H

#include "sinks/base/bytes.h"
#include "sinks/base/test.h"
#include "sinks/base/units.h"
#include "sinks/port/port.h"
#include "sinks/sink.h"

#include <stdbool.h>
#include <stdint.h>

#define HOST_SENDS_MAX   4096
#define HOST_EFFECTS_MAX 320

/* One envelope that left, with its request's canonical bytes. */
struct host_send {
    uint64_t number;
    uint64_t stream; /* 0: none */
    uint8_t kind;    /* enum port_envelope_kind */
    const struct port_method *method;
    nanos deadline;
    bool deadline_is_absolute;
    bool done; /* answered or cancelled */
    uint64_t digest;
    uint8_t *bytes; /* owned */
    size_t size;
};

struct host {
    struct test_memory memory;
    struct allocator allocator;
    const struct sink_half *half;
    void *state;                 /* owned */
    struct sink_now now;         /* set at any time */
    struct sink_effect *items;   /* owned */
    struct sink_effects effects; /* of the last step */
    uint32_t send_room;          /* for each step; set at any time */
    struct host_send *sends;     /* owned: all of this life */
    uint32_t send_count;
    uint32_t cancel_count;
    uint64_t counts[SINK_EFFECT_KIND_COUNT]; /* of effects in this life */
    uint64_t metrics[64];
    uint64_t phases[64];
    bool timer_set;
    nanos timer_min; /* absolute */
    nanos timer_max;
    bool busy;
    bool failed;
    uint32_t fail_reason;
    char fail_message[1024]; /* a text */
    bool closed;
    struct sink_committable *committables; /* owned: handed over last */
};

/* Prepare a half with room for 64 sends in a step, at time 1000 s, wall 1,700,000,000 s. The result of
 * the half's init. */
MUST_USE enum err
host_init(struct host *host, const struct sink_half *half, const struct sink_env *env);

/* Give all back and require that the half leaks nothing. */
void host_fini(struct host *host);

void host_step(struct host *host, const struct sink_event *event);
void host_simple(struct host *host, enum sink_event_kind kind);
void host_open(struct host *host);
void host_record(struct host *host, uint64_t token, const char *key, const char *value);
void host_barrier(struct host *host, uint64_t checkpoint);
void host_commit(struct host *host, const struct sink_commit_request *requests, uint32_t count);
void host_policy(struct host *host, enum sink_event_kind kind, uint64_t token);

/* Answer a send by its index: OK with a payload or NULL, a code, or a whole status. */
void host_answer_ok(struct host *host, uint32_t send, const void *payload_or_null);
void host_answer_code(struct host *host, uint32_t send, enum port_code code);
void host_answer_status(struct host *host, uint32_t send, struct port_status status);

/* Answer a message of a stream by its index; end the stream that a message was sent on. */
void host_answer_stream(struct host *host, uint32_t send, const struct port_answer *heard);
void host_end_stream(struct host *host, uint32_t send, enum port_code code);

/* Go on to the latest instant of the timer, or to the earliest, and let it fire. */
void host_fire(struct host *host);
void host_fire_early(struct host *host);

/* Step with MORE until the half asks for no more; requires that it ends. */
void host_more(struct host *host);

/* How many effects of a kind the last step had, and the n-th of them from 0. */
uint32_t host_count(const struct host *host, enum sink_effect_kind kind);
const struct sink_effect *
host_effect(const struct host *host, enum sink_effect_kind kind, uint32_t n);

/* The text of the failure contains a part. */
void host_assert_failed(const struct host *host, enum sink_reason reason, const char *part);

/* The clone of a committable list's member as a commit request that owns its bytes. */
struct sink_commit_request host_keep(const struct sink_committable *committable);
void host_forget(struct sink_commit_request *request);

#endif
