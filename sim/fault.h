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
    uint32_t kinds;                         /* bit per fault_kind that may fire */
    uint8_t cap[FAULT_KIND_COUNT];          /* most firings per run; 0: 255 */
    uint8_t cap_total;                      /* over all kinds with is_fault; 0: 255 */
};

struct fault {
    const struct fault_menu *menu; /* of the scenario */
    struct choice *choice;
    enum profile profile;
    bool healed;                   /* after heal no kind with is_fault fires */
    uint8_t fired[FAULT_KIND_COUNT];
    uint8_t fired_total;
    nanos last_at;                 /* virtual time of the last fault's end, as known */
};

void fault_init(struct fault *fault, const struct fault_menu *menu, struct choice *choice,
                enum profile profile);

/* Draw from a site, offering only outcomes whose kind the menu allows, whose cap is not reached,
 * that are in wanted, and that the profile allows: an outcome whose clause text starts with
 * "adversary" or "observed" needs that profile or a wider one. Counts what fired. */
uint32_t fault_pick(struct fault *fault, const struct choice_site *site, lane lane,
                    uint32_t wanted);

/* Note that a fault's effects last until this instant (for the liveness bound). */
void fault_lasts_until(struct fault *fault, nanos until);

/* End of the safety phase. */
void fault_heal(struct fault *fault);

#endif
