/* Inside of the link: its objects and how its files call each other. Not for outside use.
 *
 *   link.c         senders, the interface, heal
 *   link_call.c    a call from the envelope to its draws
 *   link_unary.c   unary calls: the way there and back
 *   link_stream.c  streams: connections with pipelined messages
 *   link_reply.c   copies of what models reply
 *
 * Events of the link, their node, and what a call may have pending at a time (at most one of each
 * column):
 *
 *   event          node     effect side           answer side
 *   LEAVE          sender   paused, not sent yet
 *   ARRIVE         model    waits for a server
 *   EFFECT         model    takes effect
 *   REPEAT         model    takes effect again
 *   ANSWER         sender                         answer arrives
 *   TIMEOUT        sender                         deadline passes
 *   STREAM_EFFECT  model    the stream's oldest message takes effect
 *   STREAM_ANSWER  sender   the stream's oldest answer arrives
 */
#ifndef SIM_LINK_INTERNAL_H
#define SIM_LINK_INTERNAL_H

#include "sim/link.h"
#include "sinks/base/list.h"
#include "sinks/base/pool.h"

enum link_what {
    LINK_NOTHING = 0,
    LINK_LEAVE,
    LINK_ARRIVE,
    LINK_EFFECT,
    LINK_REPEAT,
    LINK_ANSWER,
    LINK_TIMEOUT,
    LINK_STREAM_EFFECT,
    LINK_STREAM_ANSWER,
};

enum link_site {
    LINK_SITE_LATENCY = 0,
    LINK_SITE_PAUSE,
    LINK_SITE_LATE,
};

#define OUTCOME(constant, name, weight, kind, clause, words) constant
#define SITE(id, key, name, sentence, ...)                   enum link_##id{__VA_ARGS__};
#include "sim/link_sites.def"
#undef SITE
#undef OUTCOME

/* A reply on its way to the sender, with all that it points to in one recycled block. */
struct link_reply {
    uint8_t kind;    /* enum port_answer_kind */
    uint8_t outcome; /* enum port_outcome */
    struct port_status status;
    const void *payload;
    void *block; /* NULL: nothing to give back */
    size_t block_size;
};

struct link_sender {
    uint32_t handle;
    bool forgotten;
    struct list waiting; /* calls without an answer, in order of sending */
    struct list streams; /* in order of opening */
};

/* A method of a service in this run. */
struct link_method {
    const struct port_method *method; /* the model's own */
    const struct fate_menu *menu_or_null;
    uint16_t service;  /* of the world */
    struct fate burst; /* what burst_left further calls meet without a draw */
    uint32_t burst_left;
};

struct link_service {
    struct link_method *methods; /* by id; NULL: service not yet used */
    uint32_t method_id_max;
    nanos *servers; /* heap of instants at which a server is free; NULL: not yet used */
};

/* One envelope from its sending to its effect and answer. */
struct link_call {
    pool_handle self;
    uint32_t request; /* world-wide number */
    uint32_t node;
    struct link_sender *sender;
    uint64_t sender_request;
    uint64_t sender_stream;
    const struct port_method *method; /* the sender's own, for its answer */
    struct link_method *known;
    struct link_stream *stream_or_null;
    lane lane;
    uint16_t attempt;
    uint16_t service;
    uint8_t kind;    /* enum port_envelope_kind */
    uint8_t latency; /* enum link_latency */
    uint8_t late;    /* enum link_late */
    struct fate fate;
    bool deadline_is_absolute;
    bool waits;     /* on the sender's list */
    bool cancelled; /* does not wait any more; its answer is noted as dropped */
    bool is_paused; /* has not left its process */
    bool is_held;   /* its answer waits for the end of a pause */
    bool may_take_effect;
    bool is_delayed; /* on the link's list of drawn delays */
    nanos leaves;
    nanos deadline;
    nanos due; /* of a stream message: earliest effect */
    const void *payload;
    uint64_t payload_digest;
    uint64_t identity; /* that the model sees in it; 0 none */
    void *block;
    size_t block_size;
    sched_handle effect_event;
    sched_handle answer_event;
    struct link_reply reply;
    struct list_link of_sender;
    struct list_link of_delayed;
    struct list_link of_stream; /* in flight */
};

struct link_stream {
    pool_handle self;
    uint64_t number; /* world-wide, what the model sees */
    uint64_t sender_stream;
    uint64_t sender_open; /* request that opened it */
    struct link_sender *sender;
    const struct port_method *method;
    struct link_method *known;
    uint32_t channel;
    uint32_t node;
    lane lane;
    uint16_t attempt;
    uint16_t service;
    bool half_closed; /* by the sender */
    bool is_drained;  /* the service has seen all of it and the half-close */
    bool is_cut;      /* no message sent from now on takes effect; the end is on its way */
    bool is_held;     /* its oldest answer waits for the end of a pause */
    bool ended;       /* the sender has the end, or wants nothing any more */
    nanos deadline;
    nanos effect_due;               /* no later message takes effect before */
    nanos answer_due;               /* no later answer arrives before */
    struct link_call *late_or_null; /* the message whose effect outlives the connection */
    struct list in_flight;          /* calls, in order */
    struct list answers;            /* link_stream_answer, in order */
    sched_handle effect_event;
    sched_handle answer_event;
    struct list_link of_sender;
    struct list_link of_link;
};

struct link {
    struct world *world;
    struct link_options options;
    link_receiver *receiver;
    void *receiver_context;
    struct allocator allocator; /* over the arena, never NULL */
    struct pool calls;
    struct pool streams;
    uint32_t requests;        /* sent so far */
    uint64_t streams_opened;  /* so far */
    uint32_t effects_pending; /* calls that may still take effect */
    struct list delayed;      /* calls with a drawn delay, in order of sending */
    struct list open_streams; /* in order of opening */
    struct link_service *services;
    uint32_t service_count;
    const struct port_method *last_method; /* that was looked for; mostly it is the next one, too */
    struct link_method *last_known;        /* what was found */
    struct link_sender **senders;          /* open addressing, at most half full */
    uint32_t sender_count;
    uint32_t sender_capacity;
    nanos paused_until[WORLD_NODE_MAX];
};

/* Who sends. */
struct link_origin {
    uint32_t node;
    struct link_sender *sender;
    lane lane;
    uint16_t attempt;
};

/* link_call.c */
/* What the link knows of a sender's method, or NULL when no service of the world has it. */
struct link_method *link_method_known(struct link *link, const struct port_method *method);
struct link_call *link_call_new(struct link *link,
                                const struct link_origin *origin,
                                const struct port_envelope *envelope);
void link_call_draw(struct link *link, struct link_call *call);
void link_call_issue(struct link *link, struct link_call *call);
/* The sender stops waiting. */
void link_call_close(struct link *link, struct link_call *call);
/* It will not take effect (again). */
void link_call_settle(struct link *link, struct link_call *call);
/* Free it if nothing of it is pending any more. */
void link_call_release(struct link *link, struct link_call *call);
void link_call_handle(struct link *link,
                      const struct link_call *call,
                      struct model_replies *replies);
void link_call_refuse(struct link *link, const struct link_call *call);
void link_call_delay(struct link *link, struct link_call *call);
uint32_t link_model_node(const struct link *link, const struct link_call *call);
nanos link_leg(const struct link *link, const struct link_call *call);
/* How long the service works on it. */
nanos link_work(const struct link *link, const struct link_call *call);
nanos link_late_bound(const struct link *link, const struct link_call *call, nanos given_up);
nanos link_late_instant(const struct link *link, const struct link_call *call, nanos given_up);
void link_note_wire(struct link *link, const struct link_call *call, enum journal_kind kind);
void link_note_answered(struct link *link,
                        const struct link_call *call,
                        const struct link_reply *reply);
sched_handle
link_schedule(struct link *link, nanos due, uint32_t node, enum link_what what, uint64_t a);

/* link_unary.c */
uint32_t link_call_send(struct link *link,
                        const struct link_origin *origin,
                        const struct port_envelope *envelope);
void link_call_event(struct link *link, enum link_what what, struct link_call *call);
/* The sender is gone: it hears nothing, and what it has not sent yet never leaves. */
void link_call_drop(struct link *link, struct link_call *call);

/* link_stream.c */
uint32_t link_stream_send(struct link *link,
                          const struct link_origin *origin,
                          const struct port_envelope *envelope);
bool link_stream_cancel(struct link *link, struct link_sender *sender, uint64_t open_request);
void link_stream_forget(struct link *link, struct link_sender *sender);
void link_stream_event(struct link *link, enum link_what what, struct link_stream *stream);
void link_stream_late(struct link *link, struct link_call *call);
void link_stream_heal(struct link *link);

/* link_reply.c */
/* Fill a reply from the model's: its payload is cloned with the details of its status, or taken over
 * with its block. */
void link_reply_copy(struct link *link,
                     const struct port_message *message_or_null,
                     struct model_reply *source,
                     struct link_reply *reply);
/* Give back the blocks of those that were not copied. */
void link_replies_drop(struct link *link, struct model_replies *replies);
void link_reply_fate(const struct fate *fate, uint8_t kind, struct link_reply *reply);
void link_reply_status(enum port_domain domain,
                       enum port_code code,
                       enum port_outcome outcome,
                       struct link_reply *reply);
void link_reply_free(struct link *link, struct link_reply *reply);

#endif
