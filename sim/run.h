/* One run: safety phase with faults, heal, liveness phase, end checks (DESIGN section 5). */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "sim/engine/job.h"
#include "sim/fault.h"
#include "sim/model.h"
#include "sim/oracle.h"
#include "sim/result.h"

#define RUN_SERVICE_MAX 4

struct run_service {
    const struct model_type *type;
    const struct sink_option_value *options;
};

/* All that a run needs; read-only and shared by all runs of a scenario. Made by scenarios/. */
struct run_config {
    struct job_config job;
    struct run_service services[RUN_SERVICE_MAX];
    uint32_t service_count;
    struct link_options link;
    struct fault_menu faults;
    enum profile profile;
    nanos race_window;
    const struct oracle_type *oracles[ORACLE_MAX];
    uint32_t oracle_count;
    struct judge_facts facts;
    nanos safety_bound;    /* heal at the latest then */
    uint64_t events_max;   /* event budget; 0: 1 << 20 */
    size_t arena_soft_cap; /* bytes; 0: 8 MiB */
    world_identify *identify;
    void *identify_context;
    const struct choice_registry *registry;
    bool oracles_off; /* for benches */
};

/* What to vary and what to keep from a run. */
struct run_request {
    struct choice_options choice;
    bool keep_trace;          /* keep every journal entry readable after the run (replay), not only
                                 the last JOURNAL_CHUNK of them; changes nothing else */
    uint64_t until_event;     /* stop before this event; 0 never */
    void (*at_event)(void *); /* instead of stopping there: call it and go on; or NULL */
    void *at_event_context;
    uint64_t allocation_fails_at; /* n-th allocation of sinks fails; 0 none */
    uint8_t fill; /* byte that fills the arena first, when fill_on: shows uninitialised
                                reads */
    bool fill_on;
};

struct run;

/* A runner owns the memory that runs are made in, and is reused for run after run. What changes while
 * a run is stepped lies in the arena's block and in the struct arena itself, nowhere else. */
struct runner {
    struct arena arena;
    void *memory;
    size_t memory_size;
    struct run *run; /* private */
    /* valid after a run until the next one */
    struct world *world;
    struct judge *judge;
    struct store *store;
};

/* memory: at least the config's soft cap + RUN_HEADROOM bytes, aligned to 16, owned by the caller. */
#define RUN_HEADROOM ((size_t)4 << 20)
void runner_init(struct runner *runner, void *memory, size_t memory_size);

/* A run in parts, so that it can be stopped between two events, copied and gone on with. begin makes
 * the world; false when the sink refuses its configuration, and then *result is filled and the run is
 * over. step handles one event; false when none was, because the run is at its end. finish makes the
 * end checks and fills *result; then nothing more can be stepped. The request is borrowed till then. */
MUST_USE bool runner_begin(struct runner *runner,
                           const struct run_config *config,
                           const struct run_request *request,
                           struct result *result);
MUST_USE bool runner_step(struct runner *runner);
void runner_finish(struct runner *runner, struct result *result);

/* Make one run, all parts of it. Fills *result. Never fails: limits are verdicts. */
void runner_run(struct runner *runner,
                const struct run_config *config,
                const struct run_request *request,
                struct result *result);

#endif
