/* The contract of an in-process model of a service (DESIGN sections 3, 10).
 *
 * The link calls handle at the instant of effect; the model notes world entries through
 * model_effect, and appends replies. Background actions are events that the model schedules for its
 * node. A model draws its freedoms through fault_pick with sites of its own; outcome 0 is the calm
 * one. Profiles are enforced by fault_pick through the clause text of an outcome.
 */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include "sim/world.h"
#include "sinks/port/port.h"
#include "sinks/sink.h"

/* What a fate does to a call (DESIGN section 3). On a stream, REQUEST_LOST and ANSWER_LOST kill the
 * connection silently (its end is heard after link_options.deadline_default), APPLIED_LATER kills it
 * and lets the message land later; REFUSED, AMBIGUOUS and WRAPPED answer inside the stream. */
enum fate_action {
    FATE_DELIVERED = 0,
    FATE_REQUEST_LOST,    /* no effect; the caller times out */
    FATE_ANSWER_LOST,     /* effect; the caller times out */
    FATE_APPLIED_LATER,   /* the caller times out; effect after that, within late_effect_max */
    FATE_REFUSED,         /* no effect; answered with code (definite or ambiguous by the code) */
    FATE_AMBIGUOUS,       /* effect; answered with code */
    FATE_DUPLICATED,      /* effect twice; the first answer is delivered (adversary) */
    FATE_WRAPPED,         /* no effect; answered with code wrapped in an outer cause */
    FATE_CUT_APPLIED,     /* stream: the connection dies after this message took effect */
    FATE_CUT_NOT_APPLIED, /* stream: the connection dies before this message takes effect */
    FATE_ACTION_COUNT,
};

/* One outcome of a method's fate site; parallel to the site's outcomes. */
struct fate {
    uint8_t action; /* enum fate_action */
    uint8_t code;   /* enum port_code */
    uint8_t outer;  /* FATE_WRAPPED: code of the cause around it */
    uint8_t burst;  /* how many further calls of this method the same cause hits (outage) */
};

struct fate_menu {
    const struct port_method *method;
    const struct choice_site *site;
    const struct fate *fates;
};

enum clause_class {
    CLAUSE_NONE = 0,
    CLAUSE_MUST,
    CLAUSE_MAY,
    CLAUSE_OPEN,
    CLAUSE_OBSERVED,
    CLAUSE_CONFLICT,
};

struct clause {
    const char *id;
    uint8_t class;
    const char *sentence;
    const char *source;
    const char *not_modelled_or_null; /* why, if it is not */
};

/* A request that takes effect now. */
struct model_request {
    uint32_t request; /* world-wide number, for the journal */
    uint16_t attempt; /* of the sender's job */
    lane sender;
    const struct port_method *method;
    const void *payload; /* of method->request; borrowed */
    uint64_t identity;   /* what the type's identity() says of it; 0 none, or not asked */
    nanos issued;        /* virtual time of leaving the sender */
    uint64_t stream;     /* 0: unary */
    uint8_t kind;        /* enum port_envelope_kind */
};

/* A reply: status and payload. The payload is cloned by the link as the function returns, unless it
 * comes in a block of its own. */
struct model_reply {
    uint8_t kind;    /* enum port_answer_kind; PORT_ANSWER on a stream is a PORT_STREAM_MESSAGE */
    uint8_t outcome; /* enum port_outcome; 0: by kind and status, see model_replies */
    struct port_status status;
    const void *payload; /* of method->response or NULL */
    nanos after;         /* service time before the answer leaves; 0: at once */
    void *block_or_null; /* a recycled block that begins with the payload: the link gives it back */
    size_t block_size;
};

#define MODEL_REPLY_MAX 4

/* What the caller may conclude from a reply that does not say: an ambiguous code answering a
 * unary call or ending a stream is UNKNOWN, any other error is ERROR. An error in a message of a
 * stream is ERROR whatever its code: that message was not accepted.
 *
 * A unary call gets the first reply; without one its deadline passes. On a stream each reply is a
 * message, the first of them closing the request; PORT_STREAM_END ends the stream, and what is in
 * flight behind it has no effect. PORT_OPEN and PORT_HALF_CLOSE reach the model, too, and PORT_CANCEL
 * (without payload) tells it that a connection is gone; its replies are dropped. A half-closed
 * stream that the model does not end ends with OK. */
struct model_replies {
    struct model_reply items[MODEL_REPLY_MAX];
    uint32_t count;
};

struct model_env {
    struct world *world;
    uint32_t service;                        /* index in the world */
    uint32_t node;                           /* the model's node */
    const struct sink_option_value *options; /* parallel to the type's option table */
};

struct model_type {
    const char *name;
    const char *sentence;
    const struct port_service *service;
    const struct choice_site *sites;
    size_t site_count;
    const struct fate_menu *fates; /* per method; methods without one are always delivered */
    size_t fate_count;
    const struct clause *clauses;
    size_t clause_count;
    const struct mark *marks;
    size_t mark_count;
    const struct sink_option *options;
    size_t option_count;
    const struct sink_timing *timings; /* what its times ask of a job; options are the model's */
    size_t timing_count;
    const char *const *readers; /* reader class names, NULL-terminated; index is the class */
    const char *const *causes;  /* names of codes in removed, expired, changed; NULL-terminated */
    size_t state_size;
    /* Prepare zeroed state; may schedule events. */
    void (*init)(void *state, const struct model_env *env);
    void (*handle)(void *state, const struct model_request *request, struct model_replies *replies);
    /* A background event of the model's own: what is the low byte it was scheduled with. */
    void (*event)(void *state, uint8_t what, uint64_t a, uint64_t b);
    /* Faults are over: end what was injected (pauses, outages); rules of the service go on. */
    void (*heal)(void *state);
    /* Background effects still to come that the end checks wait for (dispatches, late replication);
     * releases and expiries of the service's own clock do not count. NULL: none ever. */
    uint32_t (*pending)(const void *state);
    /* Digest of an identity that the request carries (task name), 0 if none. Pure. */
    uint64_t (*identity)(const struct port_method *method, const void *payload);
    uint64_t (*digest)(const void *state);
};

struct service {
    const struct model_type *type;
    void *state;
    uint32_t node;
};

/* What effects say of a value as it is stored: kept by a model that has no other use for the value. All
 * zero: an empty one. */
struct model_content {
    record_id record; /* whose content it is, 0 if nobody's */
    uint64_t digest;
};
struct model_content model_content_of(const struct model_env *env, struct bytes value);

/* The model of a service in the same world, for a model of another one that reads what it holds, or NULL.
 * What may be asked of it is in the header of its type, which the caller must check. */
const struct service *model_of(const struct world *world, const struct port_service *service);

/* Note an effect at the instant it happens. kind is one of the WORLD_ kinds; request may be NULL for
 * background effects. value is the content as stored (identifies the record), may be empty; then
 * content is what is known of it. resource is from world_resource. */
struct model_effect {
    uint8_t kind;
    uint8_t code;
    uint32_t resource;
    uint32_t generation;
    struct bytes value;
    struct model_content content;
    const struct model_request *request_or_null;
};
void model_note(const struct model_env *env, const struct model_effect *effect);

/* Schedule a background event of the model. */
sched_handle model_at(const struct model_env *env, nanos due, uint8_t what, uint64_t a, uint64_t b);

/* Add a reply with a gRPC status (PORT_OK: payload may be set). */
void model_reply(struct model_replies *replies, enum port_code code, const void *payload_or_null);
/* Answer a unary call with PORT_OK and a payload that begins a block, to be filled by the caller: what
 * it points to lies in the block as well, or lives as long as the run. */
void *model_reply_in_block(struct model_replies *replies, const struct model_env *env, size_t size);

#endif
