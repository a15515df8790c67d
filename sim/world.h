/* The world of one run: arena, tape, scheduler, journal, trace, nodes with their clocks, services.
 * Everything that happens passes through here; run.c owns it. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "sim/arena.h"
#include "sim/choice.h"
#include "sim/clock.h"
#include "sim/fault.h"
#include "sim/journal.h"
#include "sim/mark.h"
#include "sim/sched.h"
#include "sim/trace.h"
#include "sinks/port/port.h"

/* Who handles an event: the low byte of an event's kind is what, the next byte the dispatcher. */
enum world_dispatcher {
    DISPATCH_NONE = 0,
    DISPATCH_RUN,    /* sim/run.c */
    DISPATCH_LINK,   /* sim/link.c */
    DISPATCH_ENGINE, /* sim/engine */
    DISPATCH_MODEL,  /* the model on the event's node */
};
#define WORLD_EVENT(dispatcher, what) (((uint32_t)(dispatcher) << 8) | (uint32_t)(what))

#define WORLD_NODE_MAX 64

/* A place with a clock: the coordinator, a task slot, a service. Index 0 is the run itself. */
struct world_node {
    lane lane;
    struct clock clock;
    nanos cpu_free_at;   /* when the node's processor is free again */
    nanos cpu_per_event; /* virtual CPU time per event; 0 by default */
};

struct world;

/* Where the next effect may be recognised without a search: records come in their order from each
 * sender, and a few senders take turns. Guesses only: whatever stands here, the answer is the same. */
#define WORLD_GUESS_COUNT 4u
struct world_guesses {
    uint32_t at[WORLD_GUESS_COUNT];
    uint32_t oldest; /* the next one to be replaced */
};

/* Find the source record whose content an effect's value carries: index + 1 or 0. Supplied by
 * wiring; the value is the payload as the service stored it, and digest its digest_bytes. */
typedef record_id
world_identify(void *context, struct bytes value, uint64_t digest, struct world_guesses *guesses);

struct world {
    struct arena *arena;
    struct choice *choice;
    struct sched *sched;
    struct journal *journal;
    struct trace *trace;
    struct fault *fault;
    uint64_t kinds_noted; /* bit per journal kind noted since the run loop last looked */
    uint32_t kind_counts[JOURNAL_KIND_COUNT]; /* read: entries of each kind so far */
    struct link *link;
    struct world_node nodes[WORLD_NODE_MAX];
    uint32_t node_count;
    struct service *services; /* sim/model.h */
    uint32_t service_count;
    world_identify *identify;
    void *identify_context;
    struct world_guesses guesses;      /* private: of identify */
    struct world_resources *resources; /* private: interned names */
    struct marks marks;                /* read: what the run reached */
};

/* Prepare a world over parts that the run has initialised. */
void world_init(struct world *world,
                struct arena *arena,
                struct choice *choice,
                struct sched *sched,
                struct journal *journal,
                struct trace *trace,
                struct fault *fault);

/* Add a node with a true clock; returns its index. */
uint32_t world_add_node(struct world *world, lane who);

/* Virtual time. */
static inline nanos world_now(const struct world *world)
{
    return world->sched->now;
}

/* Fold the entry at the journal's place into the trace and publish it; not for callers. */
void world_publish(struct world *world, nanos now, uint32_t kind, uint64_t digest);

/* Append to the journal with time filled in, and fold all of it into the trace's digest. The
 * journal's listener is called before it returns. Inline, so that an entry is made in its place and
 * fields that are not set cost nothing. */
static inline void world_note(struct world *world, struct journal_entry entry)
{
    CHECK(entry.kind != JOURNAL_NONE);
    CHECK(entry.kind < JOURNAL_KIND_COUNT);
    entry.time = world->sched->now;
    journal_copy(journal_place(world->journal), &entry);
    world_publish(world, entry.time, entry.kind, journal_digest(&entry));
}

/* Intern a resource name for the run: the same bytes give the same number, from 1. */
uint32_t world_resource(struct world *world, struct bytes name);
/* The same for a name whose digest_bytes is known. */
uint32_t world_resource_hashed(struct world *world, struct bytes name, uint64_t hash);
uint32_t world_resource_count(const struct world *world);
struct bytes world_resource_name(const struct world *world, uint32_t resource);

/* Marks that some scenario, or the unit test that the catalogue names, must reach (STYLE 34): the
 * branch was taken; something was the case. id is that of a marks.def, without MARK_. */
#define COVER(world, id)                marks_set_if(&(world)->marks, MARK_##id, true)
#define SOMETIMES(world, id, condition) marks_set_if(&(world)->marks, MARK_##id, (condition))

#endif
