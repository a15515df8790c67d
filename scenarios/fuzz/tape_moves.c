#include "scenarios/fuzz/tape_moves.h"

#include "sim/tape.h"
#include "sinks/base/digest.h"

#include <string.h>

#define TRIES          16 /* places that a move looks at before it gives up */
#define SITE_TIE       0x0100
#define NUDGE_ORDINAL  3
#define EXTEND_LOG_MAX 4 /* by 2 to 16 draws */

uint32_t tape_moves_pick(struct tape_moves *moves, uint32_t bound)
{
    moves->random = digest_mix(moves->random + 1);
    return bound == 0 ? 0 : (uint32_t)(moves->random >> 32) % bound;
}

/* --- offers ------------------------------------------------------------------------------------ */

/* A random outcome of an offer but the calm one and this one; 0 when there is none. */
static uint8_t outcome_of(struct tape_moves *moves, const struct choice_offer *offer, uint8_t but)
{
    const uint32_t first = tape_moves_pick(moves, CHOICE_MENU_MAX);
    for (uint32_t i = 0; i < CHOICE_MENU_MAX; i++) {
        const uint32_t value = (first + i) % CHOICE_MENU_MAX;
        if (value > 0 && value != but && (offer->mask >> value & 1) != 0) {
            return (uint8_t)value;
        }
    }
    return 0;
}

static bool is_free(const struct tape_moves *moves, const struct choice_offer *offer)
{
    const struct tape_entry draw = {
        .key = offer->key, .lane = offer->lane, .ordinal = offer->ordinal};
    return (offer->mask & ~UINT32_C(1)) != 0 && tape_find(moves->tape, &draw) == NULL;
}

/* A random offer of a site (0: any) at which the tape has no entry and which has more than the calm
 * outcome; value: that it must have, 0 any. NULL where the search does not meet one. */
static const struct choice_offer *offer_of(struct tape_moves *moves, uint16_t key, uint8_t value)
{
    const uint32_t first = tape_moves_pick(moves, moves->offer_count);
    for (uint32_t i = 0; i < moves->offer_count; i++) {
        const struct choice_offer *offer = &moves->offers[(first + i) % moves->offer_count];
        if ((key == 0 || offer->key == key) && (offer->mask >> value & 1) != 0 &&
            is_free(moves, offer)) {
            return offer;
        }
    }
    return NULL;
}

static const struct choice_offer *offer_at(const struct tape_moves *moves,
                                           const struct tape_entry *entry)
{
    for (uint32_t i = 0; i < moves->offer_count; i++) {
        const struct choice_offer *offer = &moves->offers[i];
        if (offer->key == entry->key && offer->lane == entry->lane &&
            offer->ordinal == entry->ordinal) {
            return offer;
        }
    }
    return NULL;
}

/* --- entries ----------------------------------------------------------------------------------- */

static bool append(struct tape_moves *moves, const struct choice_offer *offer, uint8_t value)
{
    const struct choice_site *site = choice_site_by_key(moves->registry, offer->key);
    struct tape *tape = moves->tape;
    if (site == NULL || value == 0 || tape->count == tape->capacity) {
        return false;
    }
    tape->entries[tape->count] = (struct tape_entry){.key = offer->key,
                                                     .lane = offer->lane,
                                                     .ordinal = offer->ordinal,
                                                     .bound = (uint8_t)site->outcome_count,
                                                     .value = value};
    tape->count++;
    return true;
}

static void take_out(struct tape *tape, uint32_t place)
{
    tape->count--;
    memmove(&tape->entries[place],
            &tape->entries[place + 1],
            (tape->count - place) * sizeof *tape->entries);
}

static bool is_crash(const struct tape_moves *moves, const struct tape_entry *entry)
{
    const struct choice_site *site = choice_site_by_key(moves->registry, entry->key);
    return site != NULL && entry->value < site->outcome_count &&
           site->outcomes[entry->value].kind == FAULT_CRASH;
}

/* --- moves ------------------------------------------------------------------------------------- */

/* The key of a site that was offered, each site as likely as the other, but for the length of the way
 * to it. */
static uint16_t some_site(struct tape_moves *moves)
{
    const struct choice_registry *registry = moves->registry;
    const uint32_t first = tape_moves_pick(moves, (uint32_t)registry->site_count);
    for (uint32_t i = 0; i < registry->site_count; i++) {
        const uint16_t key = registry->sites[(first + i) % registry->site_count]->key;
        for (uint32_t k = 0; k < moves->offer_count; k++) {
            if (moves->offers[k].key == key && is_free(moves, &moves->offers[k])) {
                return key;
            }
        }
    }
    return 0;
}

bool tape_moves_insert(struct tape_moves *moves)
{
    const uint16_t key = tape_moves_pick(moves, 2) == 0 ? 0 : some_site(moves);
    const struct choice_offer *offer = offer_of(moves, key, 0);
    if (offer == NULL) {
        return false;
    }
    const uint8_t value = outcome_of(moves, offer, 0);
    return append(moves, offer, value);
}

/* Take out what the run drew within one span; false when none of it is on the tape. */
static bool delete_span(struct tape_moves *moves, uint8_t kind, uint32_t span)
{
    bool changed = false;
    for (uint32_t i = 0; i < moves->recorded->count; i++) {
        const struct tape_entry *drawn = &moves->recorded->entries[i];
        const struct tape_entry *entry = tape_find(moves->tape, drawn);
        if (drawn->span_kind == kind && drawn->span == span && entry != NULL) {
            take_out(moves->tape, (uint32_t)(entry - moves->tape->entries));
            changed = true;
        }
    }
    return changed;
}

bool tape_moves_delete(struct tape_moves *moves)
{
    const struct tape *recorded = moves->recorded;
    if (moves->tape->count == 0) {
        return false;
    }
    if (recorded->count > 0 && tape_moves_pick(moves, 3) == 0) {
        const uint32_t place = tape_moves_pick(moves, recorded->count);
        const struct tape_entry *drawn = &recorded->entries[place];
        if (drawn->span_kind != SPAN_NONE && delete_span(moves, drawn->span_kind, drawn->span)) {
            return true;
        }
    }
    take_out(moves->tape, tape_moves_pick(moves, moves->tape->count));
    return true;
}

bool tape_moves_duplicate(struct tape_moves *moves)
{
    if (moves->tape->count == 0) {
        return false;
    }
    const uint32_t place = tape_moves_pick(moves, moves->tape->count);
    const struct tape_entry *entry = &moves->tape->entries[place];
    const struct choice_offer *offer = offer_of(moves, entry->key, entry->value);
    return offer != NULL && append(moves, offer, entry->value);
}

bool tape_moves_extend(struct tape_moves *moves)
{
    struct tape *tape = moves->tape;
    if (tape->count == 0) {
        return false;
    }
    struct tape_entry entry = tape->entries[tape_moves_pick(moves, tape->count)];
    const uint32_t before = tape->count;
    uint32_t left = UINT32_C(2) << tape_moves_pick(moves, EXTEND_LOG_MAX);
    for (; left > 0 && tape->count < tape->capacity; left--) {
        entry.ordinal++;
        if (tape_find(tape, &entry) == NULL) {
            tape->entries[tape->count] = entry;
            tape->count++;
        }
    }
    return tape->count > before;
}

bool tape_moves_move_crash(struct tape_moves *moves)
{
    struct tape *tape = moves->tape;
    const uint32_t first = tape_moves_pick(moves, tape->count);
    struct tape_entry *entry = NULL;
    for (uint32_t i = 0; i < tape->count; i++) {
        struct tape_entry *candidate = &tape->entries[(first + i) % tape->count];
        if (entry == NULL || (is_crash(moves, candidate) && !is_crash(moves, entry))) {
            entry = candidate;
        }
    }
    const struct choice_offer *offer =
        entry == NULL ? NULL : offer_of(moves, entry->key, entry->value);
    if (offer == NULL) {
        return false;
    }
    entry->lane = offer->lane;
    entry->ordinal = offer->ordinal;
    return true;
}

bool tape_moves_swap(struct tape_moves *moves)
{
    const struct choice_offer *offer = offer_of(moves, SITE_TIE, 0);
    if (offer == NULL) {
        return false;
    }
    const uint8_t value = outcome_of(moves, offer, 0);
    return append(moves, offer, value);
}

bool tape_moves_change(struct tape_moves *moves)
{
    struct tape *tape = moves->tape;
    for (uint32_t i = 0; i < TRIES && tape->count > 0; i++) {
        struct tape_entry *entry = &tape->entries[tape_moves_pick(moves, tape->count)];
        const struct choice_offer *offer = offer_at(moves, entry);
        const uint8_t value = offer == NULL ? 0 : outcome_of(moves, offer, entry->value);
        if (value > 0) {
            entry->value = value;
            return true;
        }
    }
    return false;
}

bool tape_moves_nudge(struct tape_moves *moves)
{
    struct tape *tape = moves->tape;
    if (tape->count == 0) {
        return false;
    }
    const uint32_t place = tape_moves_pick(moves, tape->count);
    const uint32_t by = 1 + tape_moves_pick(moves, NUDGE_ORDINAL);
    const uint32_t how = tape_moves_pick(moves, 4);
    struct tape_entry entry = tape->entries[place];
    const uint32_t index = lane_index_of(entry.lane);
    switch (how) {
    case 0:
        entry.ordinal += by;
        break;
    case 1:
        entry.ordinal -= entry.ordinal < by ? entry.ordinal : by;
        break;
    default:
        entry.lane =
            lane_make(lane_kind_of(entry.lane), how == 2 || index == 0 ? index + 1 : index - 1);
        break;
    }
    if (tape_find(tape, &entry) != NULL) {
        return false;
    }
    tape->entries[place] = entry;
    return true;
}

bool tape_moves_prune(struct tape_moves *moves)
{
    struct tape *tape = moves->tape;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < tape->count; i++) {
        if (tape_find(moves->recorded, &tape->entries[i]) != NULL) {
            tape->entries[kept++] = tape->entries[i];
        }
    }
    const bool changed = kept < tape->count;
    tape->count = kept;
    return changed;
}

static bool any_one(struct tape_moves *moves)
{
    typedef bool move_function(struct tape_moves * moves);
    /* As often as it stands there: what was not yet seen is found by adding. */
    static move_function *const weighted[] = {
        tape_moves_insert,
        tape_moves_insert,
        tape_moves_insert,
        tape_moves_insert,
        tape_moves_insert,
        tape_moves_delete,
        tape_moves_delete,
        tape_moves_duplicate,
        tape_moves_extend,
        tape_moves_move_crash,
        tape_moves_move_crash,
        tape_moves_swap,
        tape_moves_change,
        tape_moves_change,
        tape_moves_nudge,
        tape_moves_prune,
    };
    const uint32_t which = tape_moves_pick(moves, ARRAY_COUNT(weighted));
    return weighted[which](moves);
}

void tape_moves_any(struct tape_moves *moves)
{
    uint32_t left = 1 + tape_moves_pick(moves, 2) * tape_moves_pick(moves, 3);
    for (uint32_t i = 0; i < TRIES && left > 0; i++) {
        left -= any_one(moves) ? 1 : 0;
    }
}

/* Append entries of another tape for draws that this one does not name. */
static void take_over(struct tape *tape, const struct tape *other, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end && tape->count < tape->capacity; i++) {
        if (tape_find(tape, &other->entries[i]) == NULL) {
            tape->entries[tape->count] = other->entries[i];
            tape->count++;
        }
    }
}

void tape_moves_splice(struct tape_moves *moves, const struct tape *other)
{
    const bool cut = tape_moves_pick(moves, 2) == 0;
    const uint32_t first = tape_moves_pick(moves, other->count + 1);
    const uint32_t size = tape_moves_pick(moves, other->count - first + 1);
    if (cut) {
        moves->tape->count = tape_moves_pick(moves, moves->tape->count + 1);
    }
    take_over(moves->tape, other, first, cut ? other->count : first + size);
}
