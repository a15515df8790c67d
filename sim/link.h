/* The link: takes envelopes from a sender to a model and answers back, with the fate that the tape
 * chose when the request was sent (DESIGN section 3). */
#ifndef SIM_LINK_H
#define SIM_LINK_H

#include "sim/model.h"
#include "sim/world.h"

/* Who gets answers: the host. Called from an event of the link's, on the receiver's node. */
struct link_answer {
    uint32_t sender;         /* handle given at link_send */
    uint64_t sender_request; /* the sender's own number */
    struct port_answer answer;
};
typedef void link_receiver(void *context, const struct link_answer *answer);

#define LINK_SERVICE_TIMES_MAX 16u

struct link_options {
    nanos latency_least;    /* of one leg; default 1 ms */
    nanos late_effect_max;  /* bound of late application after sending; 0: the request's deadline
                                plus one leg */
    nanos deadline_default; /* when an envelope has none; default 60 s */
    uint32_t service_parallelism; /* 0: unlimited */
    nanos service_time;           /* per request; the longest, where they differ; 0 */
    /* Where they differ: these, equally often. They belong to the scenario, as its records do, and are
     * no choice: the seed deals them out to requests by their number. */
    nanos service_times[LINK_SERVICE_TIMES_MAX];
    uint32_t service_time_count; /* 0: all take service_time */
    uint64_t service_seed;
};

struct link;

/* Everything lives in the world's arena. The receiver gets each answer that is delivered. */
struct link *link_create(struct world *world,
                         const struct link_options *options,
                         link_receiver *receiver,
                         void *receiver_context);

/* Send an envelope from a node. Clones what it needs before it returns, draws the fate, notes
 * WIRE_ISSUED (of calls and messages of a stream). sender is an opaque handle given back with
 * answers; it must be unique per half and life. Returns the world-wide request number, 0 when
 * nothing was sent (a cancel, or a half-close of a stream that is over).
 *
 * What becomes of it (X-05 fixes which codes leave the caller in doubt):
 *   - its answer is one event, or its timeout is: UNKNOWN, DEADLINE_EXCEEDED;
 *   - an absolute deadline that passes before it leaves: WIRE_EXPIRED, and an ERROR of the client;
 *   - a drawn pause stops the whole node: nothing leaves it or reaches it until its end, and its
 *     processor is taken (cpu_free_at). Whoever dies in a pause never sends what waited.
 * Every request that was noted as issued ends in one of WIRE_ANSWERED, WIRE_DROPPED, or, for a
 * message of a stream, WIRE_CANCELLED.
 *
 * On a stream, messages take effect and are answered in order. One that is lost, cut or applied
 * later kills the connection: messages behind it have no effect, and PORT_STREAM_END (request 0)
 * answers all that are open. An effect that outlives its connection lands at the latest when the
 * same lane opens the next connection on the same channel. */
uint32_t link_send(struct link *link,
                   uint32_t node,
                   uint32_t sender,
                   lane who,
                   uint16_t attempt,
                   const struct port_envelope *envelope);

/* Whether an envelope is one that link_send can take: of a known kind, of a method of a service of
 * this world, with the payload or stream that its kind asks for. */
bool link_takes(struct link *link, const struct port_envelope *envelope);

/* Forget a sender: its answers are dropped from now on (WIRE_DROPPED); effects still land. */
void link_forget(struct link *link, uint32_t sender);

/* Cancel one request, best effort: the effect may still happen, no answer is delivered. The request
 * that opened a stream stands for the whole of it. False when the sender has no such request
 * pending. */
bool link_cancel(struct link *link, uint32_t sender, uint64_t sender_request);

/* Whether a call or message of a sender by this number has no answer yet. O(those that have none). */
bool link_is_open(const struct link *link, uint32_t sender, uint64_t sender_request);

/* Calls and messages of a sender that have no answer yet. */
uint32_t link_pending(const struct link *link, uint32_t sender);

/* Effects that may still happen: drained before the end checks. */
uint32_t link_effects_pending(const struct link *link);

/* Handle an event of the link's. */
void link_event(struct link *link, const struct sched_event *event);

/* Faults are over: outages and pauses end, drawn delays are cancelled, late effects land now, in
 * order of sending. Call fault_heal first. What a host scheduled for the end of a pause is its own
 * to move. */
void link_heal(struct link *link);

/* Push a message, or the end, to the sender of an open stream that the model was told of, by the
 * number in model_request.stream. False when the connection is gone. For models, in an event of
 * theirs. */
bool link_push(struct link *link, uint64_t stream, const struct model_reply *reply);

/* When a node's process runs again after a drawn pause; now when it is not paused. */
nanos link_node_free_at(const struct link *link, uint32_t node);

/* The process that was paused there is dead, and nothing of it is under way any more: what runs there
 * next runs at once. */
void link_end_pause(struct link *link, uint32_t node);

extern const struct choice_site link_sites[];
/* What each of their outcomes means, for people. */
extern const char *const *const link_site_words[];
extern const size_t link_site_count;

#endif
