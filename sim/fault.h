/* The fault menu of a scenario: which kinds may fire, how often in one run, and how strong.
 * Every injected fault goes through here, so that caps hold and a run can be healed. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "sim/choice.h"
#include "sinks/base/units.h"

enum profile {
    PROFILE_DOCUMENTED = 0,
    PROFILE_OBSERVED,
    PROFILE_ADVERSARY,
    PROFILE_COUNT,
};

const char *profile_name(uint32_t profile);
MUST_USE enum err profile_parse(struct bytes name, enum profile *profile);

struct fault_menu {
    uint32_t kinds;                /* bit per fault_kind that may fire */
    uint8_t cap[FAULT_KIND_COUNT]; /* most firings per run; 0: 255, unbounded if no fault */
    uint8_t cap_total;             /* over all kinds with is_fault; 0: 255 */
};

#define FAULT_MASK_COUNT 64

/* What the lane that draws, and the engine, are doing: a bit number below 64. */
typedef uint32_t fault_moment(void *context, lane who);

/* What a site may offer in this run, remembered from its last draw. */
struct fault_mask {
    const struct choice_site *site;
    uint32_t mask;
    uint32_t epoch; /* of the kinds that were open */
};

struct fault {
    const struct fault_menu *menu; /* of the scenario */
    struct choice *choice;
    enum profile profile;
    bool healed;                               /* after heal no kind with is_fault fires */
    uint8_t fired[FAULT_KIND_COUNT];           /* stays at 255 */
    uint8_t fired_total;                       /* over kinds with is_fault; stays at 255 */
    nanos last_at;                             /* virtual time of the last fault's end, as known */
    uint32_t kinds_open;                       /* private: bit per kind that may fire now */
    uint32_t epoch;                            /* private: grows when kinds_open changes */
    struct fault_mask masks[FAULT_MASK_COUNT]; /* private: direct-mapped by site key */
    fault_moment *moment_or_null;              /* set by the engine */
    void *moment_context;
    uint64_t moments[FAULT_KIND_COUNT]; /* read: per kind, the moments in which it fired */
};

void fault_init(struct fault *fault,
                const struct fault_menu *menu,
                struct choice *choice,
                enum profile profile);

/* Draw from a site, offering only outcomes whose kind the menu allows, whose cap is not reached,
 * that are in wanted, and that the profile allows: an outcome whose clause text starts with
 * "adversary" or "observed" needs that profile or a wider one. Outcomes of FAULT_NONE are always
 * offered. Kinds without is_fault count to no total, and a cap of 0 leaves them unbounded. Counts
 * what fired. It is a draw even when only 0 can come, so that caps move no other draw. O(1). */
uint32_t fault_pick(struct fault *fault, const struct choice_site *site, lane who, uint32_t wanted);

/* Note the moment in which a fault shows that was drawn before: fault_pick notes that of the draw. */
void fault_meets(struct fault *fault, enum fault_kind kind, lane who);

/* Note that a fault's effects last until this instant (for the liveness bound). */
void fault_lasts_until(struct fault *fault, nanos until);

/* Whether a kind may fire now: in the menu, below its cap, and not ended by heal. */
bool fault_is_open(const struct fault *fault, enum fault_kind kind);

/* End of the safety phase: faults stop, as do order and latency; the rules of the services
 * (service, reading) go on. */
void fault_heal(struct fault *fault);

#endif
