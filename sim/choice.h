/* The tape: the only source of variation in a run (DESIGN section 2).
 *
 * Code that may vary calls choice_pick with a site (a named draw place with its menu), a lane (who
 * draws) and the mask of outcomes that matter here. The answer is an index into the menu. Index 0
 * is calm, always offered, and what every draw past the end of a tape gives.
 *
 * One call, many sources: a seed (a pure function of seed, site, lane and ordinal), a tape, a
 * policy callback. Whatever the source, the non-zero values are recorded in one sparse form.
 */
#ifndef SIM_CHOICE_H
#define SIM_CHOICE_H

#include "sim/arena.h"
#include "sim/lane.h"
#include "sinks/base/digest.h"
#include "sinks/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define CHOICE_MENU_MAX 32
#define CHOICE_ALL      UINT32_MAX

/* 0 is no fault: calm or neutral outcomes. */
enum fault_kind {
    FAULT_NONE = 0,
#define X(constant, name, is_fault, sentence) constant,
#include "sim/fault_kinds.def"
#undef X
    FAULT_KIND_COUNT,
};

struct choice_outcome {
    const char *name;   /* unique within the menu; [a-z0-9_]+ */
    uint16_t weight;    /* of the seeded generator; never on the tape */
    uint8_t kind;       /* enum fault_kind */
    const char *clause; /* clause ids that license it, or NULL for outcome 0 and for order */
};

/* What a site's draws are about; spans group entries for the shrinker. */
enum span_kind {
    SPAN_NONE = 0,
    SPAN_REQUEST,
    SPAN_FAULT,
    SPAN_CRASH,
    SPAN_CHECKPOINT,
    SPAN_KIND_COUNT,
};

/* A draw place. Sites are const; keys are unique over the product (a test checks it). A module
 * declares its sites in a .def beside it and owns a range of keys:
 * 0x0100 sched, 0x0200 link and world, 0x0300 engine, 0x0400 clock, 0x1000 cloudtasks,
 * 0x1100 bigquery, 0x1200 bigtable, 0x1300 spanner, 0x1400 pubsub, 0x1500 generic. */
struct choice_site {
    uint16_t key;
    uint16_t outcome_count; /* 2..CHOICE_MENU_MAX */
    const char *name;       /* "link.fate", "cloudtasks.create.fate" */
    const struct choice_outcome *outcomes;
    const char *sentence; /* what the draw decides, for list sites */
};

/* All sites of the product, put together by the composition root. */
struct choice_registry {
    const struct choice_site *const *sites;
    size_t site_count;
};

const struct choice_site *choice_site_by_key(const struct choice_registry *registry, uint16_t key);
const struct choice_site *choice_site_by_name(const struct choice_registry *registry,
                                              struct bytes name);

/* One non-zero choice. */
struct tape_entry {
    uint16_t key;
    lane lane;
    uint32_t ordinal;  /* counted per (site, lane) from 0 */
    uint8_t bound;     /* menu size when recorded */
    uint8_t value;     /* 1..bound-1 */
    uint8_t span_kind; /* not on disk: made anew by each run */
    uint32_t span;     /* not on disk: id within its kind */
    uint32_t position; /* not on disk: number of the draw within the run */
};

struct tape {
    struct tape_entry *entries; /* owned by whoever made the tape */
    uint32_t count;
    uint32_t capacity;
    uint64_t identity; /* key of the run's nonces; kept by shrinking */
};

/* Every draw of a run in order, with what was offered: the explorer's and shrinker's view. */
struct choice_offer {
    uint16_t key;
    lane lane;
    uint32_t ordinal;
    uint32_t mask;
    uint32_t value;
};

typedef uint32_t choice_policy(
    void *context, const struct choice_site *site, lane who, uint32_t ordinal, uint32_t mask);

/* Who decides order in the place of the seed (sim/search/pct.h): every draw of a site whose outcomes
 * are of kind order. Where an outcome alone does not tell who comes, the place that draws tells it
 * before. */
struct choice_order {
    choice_policy *pick; /* answers what is offered */
    void *context;
    uint64_t chains[CHOICE_MENU_MAX]; /* per outcome of the next draw: who would come */
    bool is_told;                     /* chains are of the next draw; the policy resets it */
};

enum choice_mode {
    CHOICE_CALM = 0, /* all zero */
    CHOICE_SEEDED,
    CHOICE_REPLAY,
    CHOICE_POLICY,
};

struct choice_options {
    enum choice_mode mode;
    uint64_t seed;           /* seeded: the run seed; its identity, too */
    uint64_t identity;       /* other modes: key of nonces; a replay takes the tape's */
    const struct tape *tape; /* replay; borrowed for the run */
    choice_policy *policy;   /* policy */
    void *policy_context;
    uint32_t tape_cap;          /* entries recorded before the run stops with limit; 0: 4096 */
    uint32_t offer_capacity;    /* 0: offers are not kept */
    bool swarm;                 /* seeded: derive on/off and strength of kinds from the seed */
    uint32_t kinds_allowed;     /* swarm: bit per fault kind that may be on; 0: all */
    struct choice_order *order; /* seeded: or NULL; the caller's, for the run */
};

/* How a replay matched its tape. */
struct choice_alignment {
    uint32_t entries; /* on the tape */
    uint32_t aligned; /* met by a draw and offered there */
    uint32_t drifted; /* met, but the bound differed (the value was clamped) or the value was not
                         offered (0 was used) */
};

#define CHOICE_OVERRIDE_MAX 8

struct choice {
    /* read */
    struct tape recorded; /* non-zero choices of this run, in draw order */
    struct choice_offer *offers;
    uint32_t offer_count;                   /* may exceed the capacity: then only counted */
    uint32_t draws;                         /* draws so far */
    uint64_t kinds_fired;                   /* bit per fault kind that a non-zero value had */
    uint32_t kind_counts[FAULT_KIND_COUNT]; /* non-zero values by kind */
    uint64_t digest;                        /* over all non-zero choices */
    uint64_t identity;
    bool over_cap; /* a value met a full tape, became 0: the run must stop */
    bool calm;     /* every draw gives 0 and no one looks at offers: masks do not matter */
    /* private */
    bool is_seeded; /* the seed alone decides, and no one looks at offers */
    struct choice_options options;
    struct arena *arena;
    uint64_t seed_key;         /* mixed seed */
    uint64_t nonce_key;        /* mixed identity */
    uint32_t offer_room;       /* offers there is memory for; grows to the capacity */
    struct choice_slot *slots; /* ordinals per (site, lane), open addressing */
    uint32_t slot_shift;       /* there are 1 << (32 - slot_shift) of them */
    uint32_t slots_used;
    uint32_t replay_aligned;
    uint32_t replay_drifted;
    uint32_t *replay_index; /* hash index over the tape */
    uint32_t replay_index_size;
    uint16_t swarm_scale[FAULT_KIND_COUNT]; /* per kind: 0 off, 256 = weight as listed */
    uint8_t span_kind;
    uint32_t span;
    struct {
        uint16_t key;
        uint32_t nth; /* n-th draw of the site over all lanes, from 0 */
        uint32_t value;
        uint32_t seen;
    } overrides[CHOICE_OVERRIDE_MAX];
    uint32_t override_count;
};

/* Prepare a run's choices in the arena. Everything it needs later comes from the arena. Of entries
 * of a replayed tape for one draw, the first counts. */
void choice_init(struct choice *choice, struct arena *arena, const struct choice_options *options);

/* Draw: an index into the site's menu, one of the bits of mask (bit 0 is always taken as set, bits
 * past the menu are ignored). A draw whose mask leaves only 0 counts as a draw, too. A policy or an
 * override that answers what is not offered is a CHECK. O(1). One call per full expression, never
 * as an argument (STYLE 39). */
uint32_t
choice_pick(struct choice *choice, const struct choice_site *site, lane who, uint32_t mask);

/* Set the span that following draws belong to (a request id, a crash number); SPAN_NONE ends it. */
void choice_span(struct choice *choice, enum span_kind kind, uint32_t id);

/* Pin the n-th draw of a site, which must not be past, to a value, for tests. It wins over every
 * mode and is recorded like any value. At most CHOICE_OVERRIDE_MAX. */
void choice_override(struct choice *choice,
                     const struct choice_site *site,
                     uint32_t nth,
                     uint32_t value);

/* How the replay matched so far; call after the run. */
struct choice_alignment choice_alignment(const struct choice *choice);

/* The nonce stream for identities: the n-th from (identity, attempt, subtask); never equal again
 * after a restore because attempts differ. At most 2^32 of one stream. */
struct choice_nonces {
    uint64_t next; /* private */
};
struct choice_nonces choice_nonces(const struct choice *choice, uint32_t attempt, uint32_t subtask);

#define CHOICE_NONCE_STEP UINT64_C(0x9e3779b97f4a7c15) /* odd */

static inline uint64_t choice_nonce(struct choice_nonces *nonces)
{
    const uint64_t nonce = digest_mix(nonces->next);
    nonces->next += CHOICE_NONCE_STEP;
    return nonce;
}

/* One final value over the whole run for the determinism gate: two runs with equal unseed drew
 * equally often and equally. */
uint64_t choice_unseed(const struct choice *choice);

/* Name of a fault kind, "answer_lost"; and back: ERR_OK or ERR_NOT_FOUND. */
const char *fault_kind_name(enum fault_kind kind);
MUST_USE enum err fault_kind_parse(struct bytes name, enum fault_kind *kind);
bool fault_kind_is_fault(enum fault_kind kind);

#endif
