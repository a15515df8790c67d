#include "sim/search/near.h"

#include "sim/search/tapes.h"
#include "sim/tape.h"
#include "sinks/base/check.h"
#include "sinks/base/digest.h"

#include <string.h>

#define BEAM_COUNT      8 /* tapes of a round that are moved on */
#define STEPS_MAX       3
#define SHIFT_MAX       8 /* ordinals that an entry moves in one step */
#define NEIGHBOUR_MAX   2 /* lanes and values likewise */
#define TRIED_COUNT_MIN 64

/* A tape that was run and did not show what is looked for. */
struct near_node {
    struct tape tape;
    bool *met; /* by entry */
    uint32_t met_count;
};

struct near_beam {
    struct near_node nodes[BEAM_COUNT];
    uint32_t count;
};

struct near_search {
    const struct near_options *options;
    struct near_result *result;
    struct near_node candidate;
    struct tape recorded;
    struct near_beam beams[2]; /* of the last round, and of this one */
    uint32_t round;
    uint64_t *tried; /* hash set of digests; 0 is an empty place */
    uint32_t tried_count;
    uint32_t runs_max;
};

static uint32_t runs_max(const struct near_options *options)
{
    return options->runs_max == 0 ? NEAR_RUNS_DEFAULT : options->runs_max;
}

/* Twice the runs, so that the set is at most half full. */
static uint32_t tried_count(const struct near_options *options)
{
    uint32_t count = TRIED_COUNT_MIN;
    CHECK(runs_max(options) <= UINT32_MAX / 4);
    while (count < runs_max(options) * 2) {
        count *= 2;
    }
    return count;
}

static size_t entries_size(uint32_t entry_count)
{
    return tapes_aligned(entry_count * sizeof(struct tape_entry));
}

size_t near_memory_size(uint32_t entry_count, const struct near_options *options)
{
    const size_t node_size = entries_size(entry_count) + tapes_aligned(entry_count);
    return (2 * BEAM_COUNT + 1) * node_size + 2 * entries_size(entry_count) +
           tapes_aligned(tried_count(options) * sizeof(uint64_t));
}

/* What a tape makes a run do, whatever the order of its entries; never 0. */
static uint64_t tape_digest(const struct tape *tape)
{
    uint64_t sum = 1;
    for (uint32_t i = 0; i < tape->count; i++) {
        const struct tape_entry *entry = &tape->entries[i];
        const uint64_t draw =
            (uint64_t)entry->key << 48 | (uint64_t)entry->lane << 32 | entry->ordinal;
        sum += digest_fold(digest_fold(0, draw), entry->value);
    }
    return sum == 0 ? 1 : sum;
}

/* Put the candidate into the set of tried ones; false if it is in it. */
static bool remember(struct near_search *search)
{
    const uint64_t digest = tape_digest(&search->candidate.tape);
    uint32_t place = (uint32_t)(digest_mix(digest) >> 32) & (search->tried_count - 1);
    while (search->tried[place] != 0) {
        if (search->tried[place] == digest) {
            return false;
        }
        place = (place + 1) & (search->tried_count - 1);
    }
    search->tried[place] = digest;
    return true;
}

static bool is_over(const struct near_search *search)
{
    return search->result->found || search->result->runs == search->runs_max;
}

static void note_met(struct near_search *search)
{
    struct near_node *node = &search->candidate;
    node->met_count = 0;
    for (uint32_t i = 0; i < node->tape.count; i++) {
        const struct tape_entry *recorded = tape_find(&search->recorded, &node->tape.entries[i]);
        node->met[i] = recorded != NULL && recorded->value == node->tape.entries[i].value;
        node->met_count += node->met[i] ? 1 : 0;
    }
    if (node->met_count > search->result->met_most) {
        search->result->met_most = node->met_count;
    }
}

/* Keep the candidate for the next round if it meets more entries than the worst that is kept; of
 * equal ones the earlier is the nearer. */
static void keep(struct near_search *search)
{
    struct near_beam *beam = &search->beams[search->round % 2];
    uint32_t place = beam->count;
    while (place > 0 && beam->nodes[place - 1].met_count < search->candidate.met_count) {
        place--;
    }
    if (place == BEAM_COUNT) {
        return;
    }
    const uint32_t last = beam->count < BEAM_COUNT ? beam->count : BEAM_COUNT - 1;
    const struct near_node spare = beam->nodes[last];
    memmove(&beam->nodes[place + 1], &beam->nodes[place], (last - place) * sizeof(spare));
    beam->nodes[place] = spare;
    tapes_copy(&search->candidate.tape, &beam->nodes[place].tape);
    memcpy(beam->nodes[place].met, search->candidate.met, search->candidate.tape.count);
    beam->nodes[place].met_count = search->candidate.met_count;
    beam->count = last + 1;
}

/* Run the candidate, unless the search is over or it was run before. */
static void try_candidate(struct near_search *search)
{
    const struct near_options *options = search->options;
    struct near_result *result = search->result;
    if (is_over(search) || !remember(search)) {
        return;
    }
    result->runs++;
    search->recorded.count = 0;
    const bool shows = options->shows(options->context, &search->candidate.tape, &search->recorded);
    CHECK(search->recorded.count <= search->recorded.capacity);
    note_met(search);
    if (shows &&
        (options->may_drop || search->candidate.met_count == search->candidate.tape.count)) {
        tapes_copy(&search->recorded, &result->tape);
        result->steps = search->round;
        result->found = true;
        return;
    }
    keep(search);
}

/* --- moves ------------------------------------------------------------------------------------- */

/* Start a candidate from a node; the node's tape is distinct from the candidate's. */
static struct tape_entry *start(struct near_search *search, const struct near_node *node)
{
    tapes_copy(&node->tape, &search->candidate.tape);
    return search->candidate.tape.entries;
}

static bool shift(struct tape_entry *entry, int64_t by)
{
    const int64_t ordinal = (int64_t)entry->ordinal + by;
    entry->ordinal = (uint32_t)(ordinal & UINT32_MAX);
    return ordinal >= 0 && ordinal <= UINT32_MAX;
}

static void
move_one(struct near_search *search, const struct near_node *node, uint32_t i, int64_t by)
{
    struct tape_entry *entries = start(search, node);
    if (shift(&entries[i], by)) {
        try_candidate(search);
    }
}

/* All entries of the same site and lane from this one on: a draw came in before them, or went. */
static void
move_rest(struct near_search *search, const struct near_node *node, uint32_t i, int64_t by)
{
    struct tape_entry *entries = start(search, node);
    const struct tape_entry first = entries[i];
    uint32_t moved = 0;
    bool fits = true;
    for (uint32_t k = 0; k < node->tape.count; k++) {
        if (entries[k].key == first.key && entries[k].lane == first.lane &&
            entries[k].ordinal >= first.ordinal) {
            fits = shift(&entries[k], by) && fits;
            moved++;
        }
    }
    if (fits && moved > 1) {
        try_candidate(search);
    }
}

static void
move_lane(struct near_search *search, const struct near_node *node, uint32_t i, int64_t by)
{
    struct tape_entry *entry = &start(search, node)[i];
    const int64_t index = (int64_t)lane_index_of(entry->lane) + by;
    if (index >= 0 && index <= LANE_INDEX_MAX) {
        entry->lane = lane_make(lane_kind_of(entry->lane), (uint32_t)index);
        try_candidate(search);
    }
}

static void
move_value(struct near_search *search, const struct near_node *node, uint32_t i, int64_t by)
{
    struct tape_entry *entry = &start(search, node)[i];
    const int64_t value = (int64_t)entry->value + by;
    if (value > 0 && value < entry->bound) {
        entry->value = (uint8_t)value;
        try_candidate(search);
    }
}

static void drop(struct near_search *search, const struct near_node *node, uint32_t i)
{
    struct tape_entry *entries = start(search, node);
    search->candidate.tape.count--;
    memmove(&entries[i], &entries[i + 1], (node->tape.count - 1 - i) * sizeof(*entries));
    try_candidate(search);
}

static void
move_by(struct near_search *search, const struct near_node *node, uint32_t i, int64_t by)
{
    const int64_t far = by < 0 ? -by : by;
    move_one(search, node, i, by);
    move_rest(search, node, i, by);
    if (far <= NEIGHBOUR_MAX) {
        move_lane(search, node, i, by);
        move_value(search, node, i, by);
    }
}

/* Whether an entry is one to move: one that was not met, or each where all were. */
static bool is_to_move(const struct near_node *node, uint32_t i)
{
    return !node->met[i] || node->met_count == node->tape.count;
}

static void move_all(struct near_search *search, const struct near_node *node)
{
    for (int64_t far = 1; far <= SHIFT_MAX; far++) {
        for (uint32_t i = 0; i < node->tape.count && !is_over(search); i++) {
            if (is_to_move(node, i)) {
                move_by(search, node, i, far);
                move_by(search, node, i, -far);
            }
        }
    }
    for (uint32_t i = 0; search->options->may_drop && i < node->tape.count; i++) {
        if (is_to_move(node, i)) {
            drop(search, node, i);
        }
    }
}

/* --- the search -------------------------------------------------------------------------------- */

static struct near_node carve_node(uint8_t **memory, const struct tape *like)
{
    struct near_node node = {.tape = tapes_carve_tape(memory, like)};
    node.met = tapes_carve(memory, like->count);
    return node;
}

/* The tape with the menus of today. */
static void start_first(struct near_search *search, const struct tape *tape)
{
    struct tape *candidate = &search->candidate.tape;
    tapes_copy(tape, candidate);
    for (uint32_t i = 0; i < candidate->count; i++) {
        const struct choice_site *site =
            choice_site_by_key(search->options->registry, candidate->entries[i].key);
        CHECK(site != NULL);
        CHECK(candidate->entries[i].value < site->outcome_count);
        candidate->entries[i].bound = (uint8_t)site->outcome_count;
    }
}

void near_run(const struct tape *tape,
              const struct near_options *options,
              void *memory,
              struct near_result *result)
{
    uint8_t *left = memory;
    struct near_search search = {
        .options = options,
        .result = result,
        .tried_count = tried_count(options),
        .runs_max = runs_max(options),
    };
    *result = (struct near_result){.tape = tapes_carve_tape(&left, tape)};
    search.candidate = carve_node(&left, tape);
    search.recorded = tapes_carve_tape(&left, tape);
    for (uint32_t i = 0; i < 2 * BEAM_COUNT; i++) {
        search.beams[i / BEAM_COUNT].nodes[i % BEAM_COUNT] = carve_node(&left, tape);
    }
    search.tried = tapes_carve(&left, search.tried_count * sizeof(*search.tried));
    memset(search.tried, 0, search.tried_count * sizeof(*search.tried));

    start_first(&search, tape);
    try_candidate(&search);
    for (search.round = 1; search.round <= STEPS_MAX && !is_over(&search); search.round++) {
        const struct near_beam *last = &search.beams[(search.round - 1) % 2];
        search.beams[search.round % 2].count = 0;
        for (uint32_t i = 0; i < last->count && !is_over(&search); i++) {
            move_all(&search, &last->nodes[i]);
        }
    }
    result->all_tried = !is_over(&search);
}
