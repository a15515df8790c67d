/* The space of all runs of a scenario with few deviations (DESIGN section 6): the root is the calm
 * run, and the children of a run are what it could have drawn past its last deviation: each draw with
 * each non-zero value that was offered there. So every set of non-zero choices is met exactly once,
 * and its level is their number. Whatever is drawn counts: faults, crashes, latency, order.
 *
 * A node is the list of its deviations as (number of the draw within the run, value), 8 bytes each;
 * up to the first one that differs, two runs draw alike.
 *
 * To visit the children of a node its run is made again event by event. Before each event there is a
 * snapshot, and the children that deviate within the event start from it, not from the beginning.
 *
 *   walk      before   event   after            child: before + deviation -> step ... finish
 *             (copy)           (copy)           walk on: after
 *
 * Without snapshots every child is made from its beginning; results are the same.
 */
#ifndef SIM_SEARCH_RUN_SPACE_H
#define SIM_SEARCH_RUN_SPACE_H

#include "sim/run.h"
#include "sim/search/snapshot.h"
#include "sim/search/space.h"

#define RUN_SPACE_LEVEL_MAX 8
#define RUN_SPACE_OFFER_MAX (UINT32_C(1) << 20)

struct run_space_step {
    uint32_t draw;
    uint32_t value;
};

/* A draw at which something could be chosen. */
struct run_space_offer {
    uint32_t draw;
    uint32_t mask; /* values, without 0 */
    bool is_crash_point;
};

/* A run that was made, while its world still stands. */
struct run_space_made {
    const struct result *result;
    const struct world *world_or_null; /* NULL: refused */
    const struct run_space_step *steps;
    uint32_t step_count;
    uint32_t
        crash_points_seen; /* past its last deviation, where the bound leaves room for a crash */
    bool hits_crash_point; /* the first visit of a crash point */
};

struct run_space_options {
    const struct run_config *config;
    struct runner *runner;
    struct result *result;          /* where runs leave their result */
    struct run_space_offer *offers; /* room for RUN_SPACE_OFFER_MAX */
    void *snapshots;                /* two times snapshot_size bytes, or NULL: no snapshots */
    size_t snapshot_size;
    uint64_t identity;    /* of the runs' nonces */
    uint32_t level_bound; /* runs of this level are not gone on from */
    bool crash_points;    /* only crashes, each later one in the recovery from the one before: until
                             a checkpoint completes */
    /* Before a run other than the root and after it; on_start may be NULL. */
    void (*on_start)(void *context, const struct run_space_step *steps, uint32_t step_count);
    void (*on_run)(void *context, const struct run_space_made *made);
    void *context;
};

struct run_space {
    /* read */
    bool
        is_strayed; /* a run, made again, did not draw again what it had drawn: the code that is run
                        depends on more than the tape, and nothing that was counted means anything */
    /* private */
    struct run_space_options options;
    struct run_request request;
    /* the run that is being made */
    struct run_space_step steps[RUN_SPACE_LEVEL_MAX];
    uint32_t completed[RUN_SPACE_LEVEL_MAX]; /* checkpoints, when a step was taken */
    uint32_t step_count;
    uint32_t next_step;
    uint32_t draw;     /* number of the next one */
    uint32_t children; /* offered past the last step */
    uint32_t crash_points;
    uint32_t offer_count; /* kept since the walk's event began */
    bool is_kept;         /* offers are kept, not only counted */
    /* the walk along a node's run */
    bool is_walking;
    bool is_moved; /* the world is not where the walk is: a child was made */
    uint8_t node[RUN_SPACE_LEVEL_MAX * 8];
    uint32_t level;          /* of its children */
    uint32_t event_first;    /* number of the first child that deviates in the event */
    uint32_t event_children; /* how many do */
    uint32_t event_offers;
    bool is_at_end;  /* the run is over, nothing comes after the event */
    bool has_before; /* there is a snapshot before the event */
    struct snapshot before;
    struct snapshot after;
};

/* Prepare the space; *space is the interface to it. */
void run_space_init(struct run_space *runs,
                    const struct run_space_options *options,
                    struct space *space);

/* What the explorer needs to know of the space without being able to make runs. */
struct space run_space_shape(void);

/* Make one run of the space again: a choice_policy over a struct run_space_replay. What is not
 * offered again is 0. */
struct run_space_replay {
    struct run_space_step steps[RUN_SPACE_LEVEL_MAX];
    uint32_t step_count;
    uint32_t next_step; /* 0 at first, as is draw */
    uint32_t draw;
};
choice_policy run_space_replay;

/* The steps in a node's bytes, and back. */
void run_space_steps(const uint8_t *node, uint32_t count, struct run_space_step *steps);
void run_space_node(const struct run_space_step *steps, uint32_t count, uint8_t *node);

#endif
