#include "sim/fault.h"

#include <string.h>

#define CAP_DEFAULT    UINT8_MAX
#define KIND_BIT(kind) (UINT32_C(1) << (kind))

static const char *const profile_names[] = {
    [PROFILE_DOCUMENTED] = "documented",
    [PROFILE_OBSERVED] = "observed",
    [PROFILE_ADVERSARY] = "adversary",
};

_Static_assert(ARRAY_COUNT(profile_names) == PROFILE_COUNT, "every profile has a name");
_Static_assert(FAULT_KIND_COUNT <= 32, "kinds fit a bit set");
_Static_assert((FAULT_MASK_COUNT & (FAULT_MASK_COUNT - 1)) == 0, "masks are mapped by low bits");

const char *profile_name(uint32_t profile)
{
    CHECK(profile < PROFILE_COUNT);
    return profile_names[profile];
}

enum err profile_parse(struct bytes name, enum profile *profile)
{
    for (uint32_t i = 0; i < PROFILE_COUNT; i++) {
        if (bytes_equal(name, bytes_of_text(profile_names[i]))) {
            *profile = (enum profile)i;
            return ERR_OK;
        }
    }
    return ERR_NOT_FOUND;
}

static bool is_below(uint8_t fired, uint8_t cap)
{
    return fired < (cap == 0 ? CAP_DEFAULT : cap);
}

static bool kind_is_open(const struct fault *fault, enum fault_kind kind)
{
    const struct fault_menu *menu = fault->menu;
    if (kind == FAULT_NONE) {
        return true;
    }
    if ((menu->kinds & KIND_BIT(kind)) == 0) {
        return false;
    }
    if (!fault_kind_is_fault(kind)) {
        const bool calmed = kind == FAULT_ORDER || kind == FAULT_LATENCY;
        const bool below = menu->cap[kind] == 0 || fault->fired[kind] < menu->cap[kind];
        return below && !(fault->healed && calmed);
    }
    return !fault->healed && is_below(fault->fired[kind], menu->cap[kind]) &&
           is_below(fault->fired_total, menu->cap_total);
}

/* Remembered masks are valid for the kinds that were open when they were made. */
static void refresh_open(struct fault *fault)
{
    uint32_t open = 0;
    for (uint32_t kind = FAULT_NONE; kind < FAULT_KIND_COUNT; kind++) {
        if (kind_is_open(fault, (enum fault_kind)kind)) {
            open |= KIND_BIT(kind);
        }
    }
    if (open != fault->kinds_open) {
        fault->kinds_open = open;
        fault->epoch++;
    }
    CHECK(fault->kinds_open != 0);
}

void fault_init(struct fault *fault,
                const struct fault_menu *menu,
                struct choice *choice,
                enum profile profile)
{
    CHECK(profile < PROFILE_COUNT);
    *fault = (struct fault){.menu = menu, .choice = choice, .profile = profile};
    refresh_open(fault);
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The narrowest profile that licenses an outcome. */
static enum profile outcome_profile(const struct choice_outcome *outcome)
{
    if (outcome->clause == NULL) {
        return PROFILE_DOCUMENTED;
    }
    if (starts_with(outcome->clause, profile_names[PROFILE_ADVERSARY])) {
        return PROFILE_ADVERSARY;
    }
    if (starts_with(outcome->clause, profile_names[PROFILE_OBSERVED])) {
        return PROFILE_OBSERVED;
    }
    return PROFILE_DOCUMENTED;
}

NOINLINE static void
make_mask(const struct fault *fault, const struct choice_site *site, struct fault_mask *remembered)
{
    uint32_t mask = 1;
    for (uint32_t i = 1; i < site->outcome_count; i++) {
        const struct choice_outcome *outcome = &site->outcomes[i];
        const bool open = (fault->kinds_open & KIND_BIT(outcome->kind)) != 0;
        if (open && outcome_profile(outcome) <= fault->profile) {
            mask |= UINT32_C(1) << i;
        }
    }
    *remembered = (struct fault_mask){.site = site, .mask = mask, .epoch = fault->epoch};
}

void fault_meets(struct fault *fault, enum fault_kind kind, lane who)
{
    if (fault->moment_or_null != NULL) {
        fault->moments[kind] |= UINT64_C(1) << fault->moment_or_null(fault->moment_context, who);
    }
}

NOINLINE static void count_fired(struct fault *fault, enum fault_kind kind, lane who)
{
    fault_meets(fault, kind, who);
    if (fault->fired[kind] < UINT8_MAX) {
        fault->fired[kind]++;
    }
    if (fault_kind_is_fault(kind) && fault->fired_total < UINT8_MAX) {
        fault->fired_total++;
    }
    if (!kind_is_open(fault, kind)) {
        refresh_open(fault);
    }
}

/* A few low bits of the key and of its range spread the sites of one product well; two sites that
 * meet only remember less. */
static struct fault_mask *mask_of(struct fault *fault, const struct choice_site *site)
{
    const uint32_t place = (site->key ^ (uint32_t)site->key >> 5) & (FAULT_MASK_COUNT - 1);
    struct fault_mask *remembered = &fault->masks[place];
    if (UNLIKELY(remembered->site != site || remembered->epoch != fault->epoch)) {
        make_mask(fault, site, remembered);
    }
    return remembered;
}

NOINLINE static uint32_t
pick_open(struct fault *fault, const struct choice_site *site, lane who, uint32_t wanted)
{
    const uint32_t mask = mask_of(fault, site)->mask & wanted;
    const uint32_t value = choice_pick(fault->choice, site, who, mask);
    if (UNLIKELY(value != 0) && site->outcomes[value].kind != FAULT_NONE) {
        count_fired(fault, (enum fault_kind)site->outcomes[value].kind, who);
    }
    return value;
}

uint32_t fault_pick(struct fault *fault, const struct choice_site *site, lane who, uint32_t wanted)
{
    /* A calm draw is 0 whatever is open. */
    return fault->choice->calm ? choice_pick(fault->choice, site, who, wanted)
                               : pick_open(fault, site, who, wanted);
}

void fault_lasts_until(struct fault *fault, nanos until)
{
    if (until > fault->last_at) {
        fault->last_at = until;
    }
}

bool fault_is_open(const struct fault *fault, enum fault_kind kind)
{
    CHECK(kind < FAULT_KIND_COUNT);
    return (fault->kinds_open & KIND_BIT(kind)) != 0;
}

void fault_heal(struct fault *fault)
{
    fault->healed = true;
    refresh_open(fault);
}
