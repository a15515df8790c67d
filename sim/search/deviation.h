/* Deviations: what a run could have drawn and did not. A run that was asked to keep its offers
 * (choice_options.offer_capacity) says of every draw what it had to choose from. */
#ifndef SIM_SEARCH_DEVIATION_H
#define SIM_SEARCH_DEVIATION_H

#include "sim/choice.h"

/* List, in draw order, each value that is not calm of each draw from number `from` on that came out
 * calm, as entries for a tape. Their position is the number of the draw. Returns how many there are,
 * of which the first capacity stand in entries; UINT32_MAX when the run kept fewer offers than it
 * made draws. */
uint32_t deviations_list(const struct choice *choice,
                         const struct choice_registry *registry,
                         uint32_t from,
                         struct tape_entry *entries,
                         uint32_t capacity);

#endif
