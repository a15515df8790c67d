#include "sim/search/deviation.h"

#include "sinks/base/check.h"

uint32_t deviations_list(const struct choice *choice,
                         const struct choice_registry *registry,
                         uint32_t from,
                         struct tape_entry *entries,
                         uint32_t capacity)
{
    const struct choice_site *site = NULL;
    uint32_t count = 0;

    if (choice->offer_count > choice->options.offer_capacity) {
        return UINT32_MAX;
    }
    for (uint32_t draw = from; draw < choice->offer_count; draw++) {
        const struct choice_offer *offer = &choice->offers[draw];

        if (offer->value != 0 || offer->mask == 1) {
            continue;
        }
        if (site == NULL || site->key != offer->key) {
            site = choice_site_by_key(registry, offer->key);
            CHECK(site != NULL);
        }
        for (uint32_t value = 1; value < site->outcome_count; value++) {
            if ((offer->mask >> value & 1) == 0) {
                continue;
            }
            if (count < capacity) {
                entries[count] = (struct tape_entry){
                    .key = offer->key,
                    .lane = offer->lane,
                    .ordinal = offer->ordinal,
                    .bound = (uint8_t)site->outcome_count,
                    .value = (uint8_t)value,
                    .position = draw,
                };
            }
            count++;
        }
    }
    return count;
}
