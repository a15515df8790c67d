#include "scenarios/timing/worst.h"

#include <string.h>

#define WAY_COUNT 5u

/* How wrong clocks are in a first life and in a later one. The first of them says what crashes do alone. */
static const struct {
    const char *first;
    const char *later;
} ways[WAY_COUNT] = {
    {"true", "true"},
    {"ahead_full", "behind_full"},
    {"true", "behind_full"},
    {"ahead_full", "true"},
    {"behind_full", "ahead_full"},
};

static bool is_named(const struct choice_site *site, const char *name)
{
    return strcmp(site->name, name) == 0;
}

/* The offered outcome of a name, or 0. */
static uint32_t outcome_named(const struct choice_site *site, uint32_t mask, const char *name)
{
    for (uint32_t i = 1; i < site->outcome_count; i++) {
        if ((mask >> i & 1) != 0 && strcmp(site->outcomes[i].name, name) == 0) {
            return i;
        }
    }
    return 0;
}

static uint32_t outcome_of_kind(const struct choice_site *site, uint32_t mask, uint8_t kind)
{
    for (uint32_t i = 1; i < site->outcome_count; i++) {
        if ((mask >> i & 1) != 0 && site->outcomes[i].kind == kind) {
            return i;
        }
    }
    return 0;
}

/* One process death, of the wanted outcome, at the nth place that offers it. */
static uint32_t pick_crash(struct worst *worst, const struct choice_site *site, uint32_t mask)
{
    const bool is_offered = worst->value < site->outcome_count && (mask >> worst->value & 1) != 0 &&
                            site->outcomes[worst->value].kind == FAULT_CRASH;
    if (!is_offered || worst->has_happened) {
        return 0;
    }
    const bool is_here = worst->seen == worst->nth;
    worst->seen++;
    worst->has_happened = is_here;
    return is_here ? worst->value : 0;
}

/* From the nth request on that can be lost, nothing of its lane arrives for as long as its last attempt
 * outlasts, and each pause between attempts is as long as it may be. */
static uint32_t
pick_retries(struct worst *worst, const struct choice_site *site, lane who, uint32_t mask)
{
    if (worst->has_happened && who == worst->lost_on && is_named(site, "engine.timer")) {
        return outcome_named(site, mask, "latest");
    }
    const uint32_t lost = outcome_of_kind(site, mask, FAULT_REQUEST_LOST);
    const nanos now = worst->now(worst->now_context);
    if (lost == 0) {
        return 0;
    }
    if (!worst->has_happened && worst->seen == worst->nth) {
        worst->has_happened = true;
        worst->happened_at = now;
        worst->lost_at = site;
        worst->lost_on = who;
    }
    worst->seen++;
    const bool goes_on =
        worst->has_happened && site == worst->lost_at && who == worst->lost_on &&
        now - worst->happened_at < (worst->way == 0 ? worst->outage : worst->call_outage);
    return goes_on ? lost : 0;
}

/* A clock is drawn when a life of its slot begins. */
static uint32_t
pick_clock(struct worst *worst, const struct choice_site *site, lane who, uint32_t mask)
{
    const uint32_t bit = UINT32_C(1) << lane_index_of(who) % 32;
    const bool is_first = (worst->clocks & bit) == 0;
    worst->clocks |= bit;
    return outcome_named(site, mask, is_first ? ways[worst->way].first : ways[worst->way].later);
}

uint32_t
worst_pick(void *context, const struct choice_site *site, lane who, uint32_t ordinal, uint32_t mask)
{
    struct worst *worst = context;
    (void)ordinal;
    switch ((enum timing_shape)worst->shape) {
    case TIMING_SHAPE_NONE:
    case TIMING_SHAPE_REFUSED:
    case TIMING_SHAPE_CALM:
        return 0;
    case TIMING_SHAPE_CRASH:
        return is_named(site, "engine.crash") ? pick_crash(worst, site, mask) : 0;
    case TIMING_SHAPE_RETRIES:
        return pick_retries(worst, site, who, mask);
    case TIMING_SHAPE_CLOCK:
        return is_named(site, "engine.clock")   ? pick_clock(worst, site, who, mask)
               : is_named(site, "engine.crash") ? pick_crash(worst, site, mask)
                                                : 0;
    }
    UNREACHABLE();
}

static void begin_run(struct worst *worst)
{
    worst->seen = 0;
    worst->has_happened = false;
    worst->lost_at = NULL;
    worst->lost_on = 0;
    worst->clocks = 0;
}

void worst_init(struct worst *worst)
{
    worst->value = 1;
    worst->nth = 0;
    worst->way = 0;
    begin_run(worst);
}

/* Past the last place: another crash, another clock or another outage, from the first place on. */
static bool next_kind(struct worst *worst)
{
    worst->nth = 0;
    if (worst->shape == TIMING_SHAPE_RETRIES) {
        worst->way++;
        return worst->way == 1 && worst->call_outage > 0;
    }
    worst->value++;
    if (worst->value < CHOICE_MENU_MAX) {
        return true;
    }
    worst->value = 1;
    worst->way++;
    return worst->shape == TIMING_SHAPE_CLOCK && worst->way < WAY_COUNT;
}

bool worst_next(struct worst *worst)
{
    const bool was_last = !worst->has_happened;
    bool is_left = worst->shape > TIMING_SHAPE_CALM;
    worst->nth++;
    if (was_last && is_left) {
        is_left = next_kind(worst);
    }
    begin_run(worst);
    return is_left;
}
