#include "sim/choice.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"

#include <string.h>

#define SLOT_COUNT_FIRST   64
#define SLOT_SHIFT_FIRST   26 /* of 32 bits, 6 tell where a slot's home is */
#define SLOT_SHIFT_MIN     8
#define RECORDED_COUNT_MIN 16
#define OFFER_COUNT_MIN    256
#define INDEX_COUNT_MIN    16
#define TAPE_CAP_DEFAULT   4096
#define SCALE_AS_LISTED    256
#define SCALE_LEAST        16
#define SCALE_DOUBLINGS    6
#define SWARM_CALM_ONE_IN  16
#define GOLDEN             UINT64_C(0x9e3779b97f4a7c15)
#define GOLDEN_32          UINT32_C(0x9e3779b1)
#define SWARM_STREAM       UINT64_C(0x737761726d2d3031)
#define NONCE_STREAM       UINT64_C(0x6e6f6e63652d3031)
#define NONCE_SUBTASK_BITS 12
#define NONCE_ATTEMPT_BITS 20

/* The draws of one (site, lane). The last mask and its sums are remembered, because a site is
 * nearly always asked with the same mask, and then most seeded draws end at 0 without a loop. */
struct choice_slot {
    uint32_t site_lane; /* 0: the slot is empty */
    uint32_t draws;
    uint32_t mask; /* 0: nothing remembered */
    uint32_t total;
    uint32_t zero;
};

static const char *const kind_names[] = {
    [FAULT_NONE] = "none",
#define X(constant, name, is_fault, sentence) [constant] = (name),
#include "sim/fault_kinds.def"
#undef X
};

static const bool kind_is_fault[] = {
    [FAULT_NONE] = false,
#define X(constant, name, is_fault, sentence) [constant] = (is_fault) != 0,
#include "sim/fault_kinds.def"
#undef X
};

_Static_assert(SLOT_COUNT_FIRST == 1 << (32 - SLOT_SHIFT_FIRST), "a shift for the first slots");
_Static_assert(FAULT_KIND_COUNT <= 32, "kinds_allowed holds a bit per kind");
_Static_assert(LANE_INDEX_MAX < 1 << NONCE_SUBTASK_BITS, "nonces of all subtasks differ");
/* 31 outcomes of the greatest weight at the greatest scale still sum below 2^32. */
_Static_assert((uint64_t)CHOICE_MENU_MAX *UINT16_MAX *(SCALE_LEAST << SCALE_DOUBLINGS) <=
                   UINT32_MAX,
               "sums of weights fit 32 bits");

const struct choice_site *choice_site_by_key(const struct choice_registry *registry, uint16_t key)
{
    for (size_t i = 0; i < registry->site_count; i++) {
        if (registry->sites[i]->key == key) {
            return registry->sites[i];
        }
    }
    return NULL;
}

const struct choice_site *choice_site_by_name(const struct choice_registry *registry,
                                              struct bytes name)
{
    for (size_t i = 0; i < registry->site_count; i++) {
        if (bytes_equal(bytes_of_text(registry->sites[i]->name), name)) {
            return registry->sites[i];
        }
    }
    return NULL;
}

/* Move an array to a larger place; the old one is recycled. */
static void *grow(struct arena *arena, void *old, size_t size, size_t new_size)
{
    void *grown = arena_take_recycled(arena, new_size);

    CHECK(new_size > size);
    memcpy(grown, old, size);
    arena_give_recycled(arena, old, size);
    return grown;
}

/* Swarm: kinds are on or off and strong or weak for a whole run, so that runs differ in what they
 * concentrate on. Each kind's fate depends on seed and kind alone: allowing one more kind in a
 * scenario does not move the others. */
static void swarm_derive(struct choice *choice)
{
    const uint64_t key = digest_mix(choice->options.seed ^ SWARM_STREAM);
    const bool calm = digest_mix(key) % SWARM_CALM_ONE_IN == 0;
    const uint32_t allowed =
        choice->options.kinds_allowed == 0 ? UINT32_MAX : choice->options.kinds_allowed;

    for (uint32_t kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        const uint64_t random = digest_mix(key + kind * GOLDEN);
        const bool on = (random & 1) != 0 && (allowed >> kind & 1) != 0 && !calm;
        const uint32_t doublings = (uint32_t)(random >> 8 & 0xff) * SCALE_DOUBLINGS >> 8;
        const uint32_t least = (uint32_t)SCALE_LEAST << doublings;
        const uint32_t scale = least + ((uint32_t)(random >> 32) & (least - 1));

        if (kind_is_fault[kind]) {
            choice->swarm_scale[kind] = (uint16_t)(on ? scale : 0);
        }
    }
}

static uint32_t index_home(const struct choice *choice, uint32_t site_lane, uint32_t ordinal)
{
    const uint64_t mixed = ((uint64_t)site_lane << 32 | ordinal) * GOLDEN;

    return (uint32_t)(mixed >> 32) & (choice->replay_index_size - 1);
}

static uint32_t site_lane_of(uint16_t key, lane who)
{
    return (uint32_t)key << 16 | who;
}

static bool entry_matches(const struct tape_entry *entry, uint32_t site_lane, uint32_t ordinal)
{
    return site_lane_of(entry->key, entry->lane) == site_lane && entry->ordinal == ordinal;
}

/* The tape's entry for a draw, or NULL. The table is at most half full, so the loop ends. */
static const struct tape_entry *
index_find(const struct choice *choice, uint32_t site_lane, uint32_t ordinal)
{
    const struct tape *tape = choice->options.tape;
    uint32_t place = index_home(choice, site_lane, ordinal);

    while (choice->replay_index[place] != 0) {
        const struct tape_entry *entry = &tape->entries[choice->replay_index[place] - 1];

        if (entry_matches(entry, site_lane, ordinal)) {
            return entry;
        }
        place = (place + 1) & (choice->replay_index_size - 1);
    }
    return NULL;
}

/* Index the tape by draw. Of entries for one draw the first counts. */
static void index_build(struct choice *choice)
{
    const struct tape *tape = choice->options.tape;
    uint32_t size = INDEX_COUNT_MIN;

    CHECK(tape->count <= UINT32_MAX / 8);
    while (size < tape->count * 2) {
        size *= 2;
    }
    choice->replay_index_size = size;
    choice->replay_index = arena_take_zeroed(choice->arena, size * sizeof(*choice->replay_index));
    for (uint32_t i = 0; i < tape->count; i++) {
        const struct tape_entry *entry = &tape->entries[i];
        const uint32_t site_lane = site_lane_of(entry->key, entry->lane);
        uint32_t place = index_home(choice, site_lane, entry->ordinal);

        if (index_find(choice, site_lane, entry->ordinal) != NULL) {
            continue;
        }
        while (choice->replay_index[place] != 0) {
            place = (place + 1) & (size - 1);
        }
        choice->replay_index[place] = i + 1;
    }
}

static uint64_t identity_of(const struct choice_options *options)
{
    switch (options->mode) {
    case CHOICE_CALM:
    case CHOICE_POLICY:
        return options->identity;
    case CHOICE_SEEDED:
        return options->seed;
    case CHOICE_REPLAY:
        return options->tape->identity;
    }
    UNREACHABLE();
}

void choice_init(struct choice *choice, struct arena *arena, const struct choice_options *options)
{
    CHECK(options->mode != CHOICE_REPLAY || options->tape != NULL);
    CHECK(options->mode != CHOICE_POLICY || options->policy != NULL);

    *choice = (struct choice){.options = *options, .arena = arena};
    if (choice->options.tape_cap == 0) {
        choice->options.tape_cap = TAPE_CAP_DEFAULT;
    }
    choice->identity = identity_of(options);
    choice->seed_key = digest_mix(options->seed + GOLDEN);
    choice->nonce_key = digest_mix(choice->identity ^ NONCE_STREAM);
    choice->calm = options->mode == CHOICE_CALM && options->offer_capacity == 0;
    choice->is_seeded = options->mode == CHOICE_SEEDED && options->offer_capacity == 0;

    choice->slot_shift = SLOT_SHIFT_FIRST;
    choice->slots = arena_take_recycled(arena, SLOT_COUNT_FIRST * sizeof(*choice->slots));
    memset(choice->slots, 0, SLOT_COUNT_FIRST * sizeof(*choice->slots));

    choice->recorded.capacity = RECORDED_COUNT_MIN;
    choice->recorded.identity = choice->identity;
    choice->recorded.entries =
        arena_take_recycled(arena, RECORDED_COUNT_MIN * sizeof(*choice->recorded.entries));

    for (uint32_t kind = FAULT_NONE; kind < FAULT_KIND_COUNT; kind++) {
        choice->swarm_scale[kind] = SCALE_AS_LISTED;
    }
    if (options->mode == CHOICE_SEEDED && options->swarm) {
        swarm_derive(choice);
    }
    if (options->mode == CHOICE_REPLAY) {
        index_build(choice);
    }
}

/* The high bits of a product are its most mixed ones. */
static inline uint32_t slot_home(uint32_t site_lane, uint32_t slot_shift)
{
    return site_lane * GOLDEN_32 >> slot_shift;
}

/* Where a (site, lane) has its slot or would get it. At most half the slots are used. */
static struct choice_slot *
slot_probe(struct choice_slot *slots, uint32_t slot_shift, uint32_t site_lane)
{
    uint32_t place = slot_home(site_lane, slot_shift);

    while (slots[place].site_lane != 0 && slots[place].site_lane != site_lane) {
        place = (place + 1) & UINT32_MAX >> slot_shift;
    }
    return &slots[place];
}

static uint32_t slot_count(const struct choice *choice)
{
    return UINT32_C(1) << (32 - choice->slot_shift);
}

static void slots_grow(struct choice *choice)
{
    const uint32_t old_count = slot_count(choice);
    const uint32_t slot_shift = choice->slot_shift - 1;
    const size_t size = (size_t)2 * old_count * sizeof(struct choice_slot);
    struct choice_slot *slots = arena_take_recycled(choice->arena, size);

    CHECK(slot_shift >= SLOT_SHIFT_MIN);
    memset(slots, 0, size);
    for (uint32_t i = 0; i < old_count; i++) {
        if (choice->slots[i].site_lane != 0) {
            *slot_probe(slots, slot_shift, choice->slots[i].site_lane) = choice->slots[i];
        }
    }
    arena_give_recycled(choice->arena, choice->slots, old_count * sizeof(struct choice_slot));
    choice->slots = slots;
    choice->slot_shift = slot_shift;
}

/* First draw of a (site, lane): the checks that every draw would otherwise pay for. */
static struct choice_slot *
slot_add(struct choice *choice, const struct choice_site *site, uint32_t site_lane)
{
    struct choice_slot *slot = NULL;

    CHECK(site->outcome_count >= 2);
    CHECK(site->outcome_count <= CHOICE_MENU_MAX);
    CHECK(lane_kind_of((lane)(site_lane & UINT16_MAX)) != LANE_NONE);
    for (uint32_t i = 0; i < site->outcome_count; i++) {
        CHECK(site->outcomes[i].kind < FAULT_KIND_COUNT);
    }
    choice->slots_used++;
    if (choice->slots_used * 2 > slot_count(choice)) {
        slots_grow(choice);
    }
    slot = slot_probe(choice->slots, choice->slot_shift, site_lane);
    slot->site_lane = site_lane;
    return slot;
}

/* The high 64 bits of random * total, in parts that 32-bit machines compute alike. */
static uint32_t scale_random(uint64_t random, uint32_t total)
{
    const uint64_t low = (random & UINT32_MAX) * total;
    const uint64_t high = (random >> 32) * total;

    return (uint32_t)((high + (low >> 32)) >> 32);
}

/* Sum the weights under a mask. What a kind loses by swarm goes to outcome 0, so that switching a
 * kind off makes no other kind likelier. */
static void slot_weigh(const struct choice *choice,
                       const struct choice_site *site,
                       uint32_t mask,
                       struct choice_slot *slot)
{
    uint32_t zero = (uint32_t)site->outcomes[0].weight * SCALE_AS_LISTED;
    uint32_t rest = 0;

    for (uint32_t i = 1; i < site->outcome_count; i++) {
        const struct choice_outcome *outcome = &site->outcomes[i];
        const uint32_t scale = choice->swarm_scale[outcome->kind];

        if ((mask >> i & 1) == 0) {
            continue;
        }
        rest += outcome->weight * scale;
        if (scale < SCALE_AS_LISTED) {
            zero += outcome->weight * (SCALE_AS_LISTED - scale);
        }
    }
    slot->mask = mask;
    slot->zero = zero;
    slot->total = zero + rest;
}

/* A pure function of (seed, site, lane, ordinal): the counter times an odd constant, keyed and
 * mixed. A draw added elsewhere moves nothing here. Below the slot's total. */
static inline uint32_t
seeded_random(const struct choice *choice, const struct choice_slot *slot, uint32_t ordinal)
{
    const uint64_t counter = (uint64_t)slot->site_lane << 32 | ordinal;
    const uint64_t random = digest_mix(choice->seed_key + counter * GOLDEN);

    return scale_random(random, slot->total);
}

static uint32_t draw_seeded(const struct choice *choice,
                            const struct choice_site *site,
                            uint32_t mask,
                            uint32_t ordinal,
                            struct choice_slot *slot)
{
    uint32_t left = 0;

    if (mask != slot->mask) {
        slot_weigh(choice, site, mask, slot);
    }
    if (slot->zero == slot->total) {
        return 0;
    }
    left = seeded_random(choice, slot, ordinal);
    if (LIKELY(left < slot->zero)) {
        return 0;
    }
    left -= slot->zero;
    for (uint32_t i = 1; i < site->outcome_count; i++) {
        const struct choice_outcome *outcome = &site->outcomes[i];
        const uint32_t weight = outcome->weight * (uint32_t)choice->swarm_scale[outcome->kind];

        if ((mask >> i & 1) == 0) {
            continue;
        }
        if (left < weight) {
            return i;
        }
        left -= weight;
    }
    UNREACHABLE();
}

static uint32_t draw_replayed(struct choice *choice,
                              const struct choice_site *site,
                              uint32_t mask,
                              uint32_t site_lane,
                              uint32_t ordinal)
{
    const struct tape_entry *entry = index_find(choice, site_lane, ordinal);
    uint32_t value = 0;

    if (LIKELY(entry == NULL)) {
        return 0;
    }
    value = entry->value;
    if (value >= site->outcome_count) {
        value = (uint32_t)site->outcome_count - 1;
    }
    if ((mask >> value & 1) == 0) {
        value = 0;
    }
    if (value == entry->value && entry->bound == site->outcome_count) {
        choice->replay_aligned++;
    } else {
        choice->replay_drifted++;
    }
    return value;
}

/* Order is one thing of a site or none: its outcomes are all of that kind. */
static bool is_order(const struct choice_site *site)
{
    return site->outcomes[1].kind == FAULT_ORDER;
}

static uint32_t draw_ordered(const struct choice *choice,
                             const struct choice_site *site,
                             uint32_t mask,
                             uint32_t site_lane,
                             uint32_t ordinal)
{
    const struct choice_order *order = choice->options.order;
    const uint32_t value =
        order->pick(order->context, site, (lane)(site_lane & UINT16_MAX), ordinal, mask);

    CHECK(value < site->outcome_count);
    CHECK((mask >> value & 1) != 0);
    return value;
}

static uint32_t draw_policy(const struct choice *choice,
                            const struct choice_site *site,
                            uint32_t mask,
                            uint32_t site_lane,
                            uint32_t ordinal)
{
    const uint32_t value = choice->options.policy(
        choice->options.policy_context, site, (lane)(site_lane & UINT16_MAX), ordinal, mask);

    CHECK(value < site->outcome_count);
    CHECK((mask >> value & 1) != 0);
    return value;
}

static uint32_t
override_apply(struct choice *choice, const struct choice_site *site, uint32_t mask, uint32_t value)
{
    uint32_t pinned = value;

    for (uint32_t i = 0; i < choice->override_count; i++) {
        if (choice->overrides[i].key != site->key) {
            continue;
        }
        if (choice->overrides[i].seen == choice->overrides[i].nth) {
            pinned = choice->overrides[i].value;
            CHECK(pinned < site->outcome_count);
            CHECK((mask >> pinned & 1) != 0);
        }
        choice->overrides[i].seen++;
    }
    return pinned;
}

/* Note a non-zero value; 0 when the tape is full. */
static uint32_t record(struct choice *choice,
                       const struct choice_site *site,
                       uint32_t site_lane,
                       uint32_t ordinal,
                       uint32_t value)
{
    struct tape *recorded = &choice->recorded;
    const uint8_t kind = site->outcomes[value].kind;

    if (recorded->count == choice->options.tape_cap) {
        choice->over_cap = true;
        return 0;
    }
    if (recorded->count == recorded->capacity) {
        const size_t size = recorded->capacity * sizeof(*recorded->entries);

        recorded->entries = grow(choice->arena, recorded->entries, size, size * 2);
        recorded->capacity *= 2;
    }
    recorded->entries[recorded->count] = (struct tape_entry){
        .key = site->key,
        .lane = (lane)(site_lane & UINT16_MAX),
        .ordinal = ordinal,
        .bound = (uint8_t)site->outcome_count,
        .value = (uint8_t)value,
        .span_kind = choice->span_kind,
        .span = choice->span,
        .position = choice->draws - 1,
    };
    recorded->count++;
    choice->kinds_fired |= UINT64_C(1) << kind;
    choice->kind_counts[kind]++;
    choice->digest = digest_fold(choice->digest, (uint64_t)site_lane << 32 | ordinal);
    choice->digest = digest_fold(choice->digest, (uint64_t)site->outcome_count << 8 | value);
    return value;
}

static void note_offer(struct choice *choice, const struct choice_offer *offer)
{
    const uint32_t cap = choice->options.offer_capacity;

    if (choice->offer_count < cap) {
        if (choice->offer_count == choice->offer_room) {
            const size_t size = choice->offer_room * sizeof(*offer);

            choice->offers =
                choice->offer_room == 0
                    ? arena_take_recycled(choice->arena, OFFER_COUNT_MIN * sizeof(*offer))
                    : grow(choice->arena, choice->offers, size, size * 2);
            choice->offer_room = choice->offer_room == 0 ? OFFER_COUNT_MIN : choice->offer_room * 2;
        }
        choice->offers[choice->offer_count] = *offer;
    }
    choice->offer_count++;
}

/* The value of a draw that was counted, recorded if it is not 0. */
NOINLINE static uint32_t pick_value(struct choice *choice,
                                    const struct choice_site *site,
                                    uint32_t offered,
                                    struct choice_slot *slot)
{
    const uint32_t site_lane = slot->site_lane;
    const uint32_t ordinal = slot->draws - 1;
    uint32_t value = 0;

    switch (choice->options.mode) {
    case CHOICE_CALM:
        break;
    case CHOICE_SEEDED:
        value = UNLIKELY(choice->options.order != NULL) && is_order(site)
                    ? draw_ordered(choice, site, offered, site_lane, ordinal)
                    : draw_seeded(choice, site, offered, ordinal, slot);
        break;
    case CHOICE_REPLAY:
        value = draw_replayed(choice, site, offered, site_lane, ordinal);
        break;
    case CHOICE_POLICY:
        value = draw_policy(choice, site, offered, site_lane, ordinal);
        break;
    }
    if (UNLIKELY(choice->override_count != 0)) {
        value = override_apply(choice, site, offered, value);
    }
    if (value != 0) {
        value = record(choice, site, site_lane, ordinal, value);
    }
    if (UNLIKELY(choice->options.offer_capacity != 0)) {
        note_offer(choice,
                   &(struct choice_offer){
                       .key = site->key,
                       .lane = (lane)(site_lane & UINT16_MAX),
                       .ordinal = ordinal,
                       .mask = offered,
                       .value = value,
                   });
    }
    CHECK((offered >> value & 1) != 0);
    return value;
}

/* Most draws of a seeded run are 0, under a mask that was weighed before: those need no more. */
static inline bool
is_seeded_zero(const struct choice *choice, uint32_t offered, const struct choice_slot *slot)
{
    if (!choice->is_seeded || offered != slot->mask) {
        return false;
    }
    return slot->zero == slot->total || seeded_random(choice, slot, slot->draws - 1) < slot->zero;
}

/* Count a draw and make it, unless it is known to be 0. */
static inline uint32_t
draw(struct choice *choice, const struct choice_site *site, uint32_t mask, struct choice_slot *slot)
{
    uint32_t offered = 1;

    choice->draws++;
    CHECK(choice->draws != 0);
    slot->draws++;
    if (choice->calm) {
        return 0;
    }
    offered |= mask & UINT32_MAX >> (32 - site->outcome_count);
    return is_seeded_zero(choice, offered, slot) ? 0 : pick_value(choice, site, offered, slot);
}

/* A draw whose slot does not lie at its home: it may have to be added. */
NOINLINE static uint32_t
draw_elsewhere(struct choice *choice, const struct choice_site *site, uint32_t mask, lane who)
{
    const uint32_t site_lane = site_lane_of(site->key, who);
    struct choice_slot *slot = slot_probe(choice->slots, choice->slot_shift, site_lane);

    return draw(
        choice, site, mask, slot->site_lane != 0 ? slot : slot_add(choice, site, site_lane));
}

uint32_t choice_pick(struct choice *choice, const struct choice_site *site, lane who, uint32_t mask)
{
    const uint32_t site_lane = site_lane_of(site->key, who);
    struct choice_slot *slot = &choice->slots[slot_home(site_lane, choice->slot_shift)];

    if (UNLIKELY(slot->site_lane != site_lane)) {
        return draw_elsewhere(choice, site, mask, who);
    }
    return draw(choice, site, mask, slot);
}

void choice_span(struct choice *choice, enum span_kind kind, uint32_t id)
{
    CHECK(kind < SPAN_KIND_COUNT);
    choice->span_kind = (uint8_t)kind;
    choice->span = kind == SPAN_NONE ? 0 : id;
}

void choice_override(struct choice *choice,
                     const struct choice_site *site,
                     uint32_t nth,
                     uint32_t value)
{
    uint32_t seen = 0;

    CHECK(choice->override_count < CHOICE_OVERRIDE_MAX);
    CHECK(value < site->outcome_count);
    for (uint32_t i = 0; i < slot_count(choice); i++) {
        if (choice->slots[i].site_lane >> 16 == site->key) {
            seen += choice->slots[i].draws;
        }
    }
    CHECK(nth >= seen);
    for (uint32_t i = 0; i < choice->override_count; i++) {
        CHECK(choice->overrides[i].key != site->key || choice->overrides[i].nth != nth);
    }
    choice->overrides[choice->override_count].key = site->key;
    choice->overrides[choice->override_count].nth = nth;
    choice->overrides[choice->override_count].value = value;
    choice->overrides[choice->override_count].seen = seen;
    choice->override_count++;
    choice->calm = false;
    choice->is_seeded = false;
}

struct choice_alignment choice_alignment(const struct choice *choice)
{
    const bool replay = choice->options.mode == CHOICE_REPLAY;

    return (struct choice_alignment){
        .entries = replay ? choice->options.tape->count : 0,
        .aligned = choice->replay_aligned,
        .drifted = choice->replay_drifted,
    };
}

/* Below 2^20 attempts and 2^12 subtasks the counter holds both beside the nonce's number, and mixing is
 * a bijection: then two nonces of a run are equal only if all three are. */
struct choice_nonces choice_nonces(const struct choice *choice, uint32_t attempt, uint32_t subtask)
{
    const uint64_t subtask_low = subtask & ((UINT32_C(1) << NONCE_SUBTASK_BITS) - 1);
    const uint64_t attempt_low = attempt & ((UINT32_C(1) << NONCE_ATTEMPT_BITS) - 1);
    const uint64_t above =
        (uint64_t)(subtask >> NONCE_SUBTASK_BITS) << 32 | attempt >> NONCE_ATTEMPT_BITS;
    const uint64_t counter = subtask_low << 32 | attempt_low << (32 + NONCE_SUBTASK_BITS);
    const uint64_t key = choice->nonce_key + above * CHOICE_NONCE_STEP;

    return (struct choice_nonces){key + counter * CHOICE_NONCE_STEP};
}

uint64_t choice_unseed(const struct choice *choice)
{
    uint64_t draws_by_slot = 0;

    /* A sum, because the order of slots is the order of hashes. */
    for (uint32_t i = 0; i < slot_count(choice); i++) {
        const struct choice_slot *slot = &choice->slots[i];

        if (slot->draws != 0) {
            draws_by_slot += digest_mix((uint64_t)slot->site_lane << 32 | slot->draws);
        }
    }
    return digest_fold(digest_fold(choice->digest, choice->draws), draws_by_slot);
}

const char *fault_kind_name(enum fault_kind kind)
{
    CHECK(kind < FAULT_KIND_COUNT);
    return kind_names[kind];
}

enum err fault_kind_parse(struct bytes name, enum fault_kind *kind)
{
    for (uint32_t i = FAULT_NONE + 1; i < FAULT_KIND_COUNT; i++) {
        if (bytes_equal(bytes_of_text(kind_names[i]), name)) {
            *kind = (enum fault_kind)i;
            return ERR_OK;
        }
    }
    return ERR_NOT_FOUND;
}

bool fault_kind_is_fault(enum fault_kind kind)
{
    CHECK(kind < FAULT_KIND_COUNT);
    return kind_is_fault[kind];
}
