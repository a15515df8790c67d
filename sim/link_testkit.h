/* A toy service behind a link, for the unit tests of the link: a counter with a unary method Add and
 * a stream Feed, and a sender that keeps what it hears. */
#ifndef SIM_LINK_TESTKIT_H
#define SIM_LINK_TESTKIT_H

#include "sim/link.h"

#define TOY_LOG_MAX     64
#define TOY_ANSWER_MAX  64
#define TOY_NODE        1 /* of the service */
#define TOY_SENDER_NODE 2
#define TOY_OTHER_NODE  3

/* Outcomes of toy.add.fate and toy.feed.fate, in this order. */
enum toy_fate {
    TOY_DELIVERED = 0,
    TOY_REQUEST_LOST,
    TOY_ANSWER_LOST,
    TOY_APPLIED_LATER,
    TOY_REFUSED_UNAVAILABLE,
    TOY_REFUSED_PERMISSION,
    TOY_AMBIGUOUS,
    TOY_DUPLICATED,
    TOY_WRAPPED,
    TOY_OUTAGE,          /* this call and two more */
    TOY_CUT_APPLIED,     /* feed only */
    TOY_CUT_NOT_APPLIED, /* feed only */
};

/* Amounts that the model treats in a way of their own. */
enum toy_amount {
    TOY_AMOUNT_INVALID = 1000, /* INVALID_ARGUMENT with a detail, no effect */
    TOY_AMOUNT_INTERNAL,       /* INTERNAL, no effect */
    TOY_AMOUNT_SLOW,           /* the answer leaves a second later */
    TOY_AMOUNT_SILENT,         /* no reply */
    TOY_AMOUNT_TWO,            /* stream: two replies */
    TOY_AMOUNT_END,            /* stream: the service ends it with OK */
    TOY_AMOUNT_BLOCK,          /* the answer comes in a block of its own */
};

/* The order matters. */
/* clang-format off */
#include "sinks/port/as_structs.def"
#include "sim/link_testkit.def"
#include "sinks/port/as_end.def"
/* clang-format on */

/* What the model saw. */
struct toy_seen {
    nanos time;
    uint64_t amount;
    uint64_t stream;
    uint32_t request;
    uint8_t kind; /* enum port_envelope_kind */
};

struct toy_state {
    uint64_t total;
    uint32_t count;
    struct toy_seen log[TOY_LOG_MAX];
};

/* What the sender heard. */
struct toy_heard {
    nanos time;
    uint32_t sender;
    uint64_t request;
    uint64_t stream;
    uint8_t kind;
    uint8_t outcome;
    uint8_t cause_count;
    uint8_t domain;
    uint16_t code;      /* outermost cause; PORT_OK for none */
    uint16_t inner;     /* innermost cause */
    uint64_t total;     /* of the payload; 0 if none */
    uint64_t detail;    /* amount in the detail of the outermost cause */
    bool note_is_right; /* the payload's text came through */
};

struct toy {
    struct world *world;
    struct link *link;
    struct toy_state *state;
    struct choice choice;
    struct fault fault;
    struct toy_heard heard[TOY_ANSWER_MAX];
    uint32_t heard_count;
    /* called from the receiver, may send on; may be NULL */
    void (*on_answer)(struct toy *toy, const struct link_answer *answer);
    /* private */
    void *memory;
    struct arena arena;
    struct sched sched;
    struct journal journal;
    struct trace trace;
    struct fault_menu menu;
    struct world world_memory;
    struct service service;
    struct choice_options choice_options;
};

extern const struct model_type toy_type;
extern const struct port_method toy_add_method;
extern const struct port_method toy_feed_method;
extern const struct choice_site toy_add_site;
extern const struct choice_site toy_feed_site;

/* All fault kinds are open unless menu says otherwise. choice and menu may be NULL. */
void toy_open(struct toy *toy,
              const struct link_options *options,
              const struct choice_options *choice_or_null,
              const struct fault_menu *menu_or_null,
              uint8_t fill);
void toy_close(struct toy *toy);

/* Pin the n-th fate of Add or Feed, or of one of the link's sites by name. */
void toy_pin(struct toy *toy, const struct choice_site *site, uint32_t nth, uint32_t value);
const struct choice_site *toy_link_site(const char *name);

/* Send Add(amount) as request of a sender (on TOY_SENDER_NODE, writer<sender>); deadline is
 * relative, TIME_NEVER for none. Returns the world-wide number. */
uint32_t
toy_add(struct toy *toy, uint32_t sender, uint64_t request, uint64_t amount, nanos deadline);
uint32_t
toy_add_by(struct toy *toy, uint32_t sender, uint64_t request, uint64_t amount, nanos instant);

/* Streams, without a deadline or with a relative one. */
void toy_open_stream(struct toy *toy, uint32_t sender, uint64_t request, uint64_t stream);
void toy_open_stream_for(
    struct toy *toy, uint32_t sender, uint64_t request, uint64_t stream, nanos deadline);
uint32_t
toy_feed(struct toy *toy, uint32_t sender, uint64_t request, uint64_t stream, uint64_t amount);
void toy_half_close(struct toy *toy, uint32_t sender, uint64_t request, uint64_t stream);

/* Handle events until none is left, or until an instant is reached. */
void toy_run(struct toy *toy);
void toy_run_until(struct toy *toy, nanos until);

/* Entries of a kind, and the n-th of it. */
uint32_t toy_notes(const struct toy *toy, enum journal_kind kind);
const struct journal_entry *toy_note(const struct toy *toy, enum journal_kind kind, uint32_t nth);

#endif
