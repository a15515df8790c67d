#include "sim/search/below.h"

#include "sinks/base/check.h"

#include <string.h>

/* The deviations that the run of a prefix offers, and which of them is next. */
struct level {
    struct tape_entry *entries;
    uint32_t count;
    uint32_t next;
};

struct search {
    const struct below_options *options;
    const struct tape *tape;
    struct tape candidate;
    struct level levels[BELOW_LEVELS_MAX];
    enum below_end end;
    bool is_partial; /* a run offered more than is kept */
};

size_t below_memory_size(uint32_t entry_count)
{
    const size_t size = sizeof(struct tape_entry);

    return ((size_t)BELOW_LEVELS_MAX * BELOW_OFFERS_MAX + entry_count + 1) * size + 16;
}

static bool may_go_on(struct search *search)
{
    if (search->end == BELOW_END_NONE && !search->options->may_go_on(search->options->context)) {
        search->end = BELOW_END_STOPPED;
    }
    return search->end == BELOW_END_NONE;
}

static void try_candidate(struct search *search)
{
    if (may_go_on(search) &&
        search->options->try_tape(search->options->context, &search->candidate)) {
        search->end = BELOW_END_TAKEN;
    }
}

/* Fill a level with what the run of the candidate offers from a draw on. */
static void load(struct search *search, struct level *level, uint32_t from)
{
    level->next = 0;
    level->count = 0;
    if (!may_go_on(search)) {
        return;
    }
    const uint32_t count = search->options->offers(
        search->options->context, &search->candidate, from, level->entries, BELOW_OFFERS_MAX);
    search->is_partial = search->is_partial || count > BELOW_OFFERS_MAX;
    level->count = count > BELOW_OFFERS_MAX ? BELOW_OFFERS_MAX : count;
}

static void push(struct search *search, const struct tape_entry *entry)
{
    CHECK(search->candidate.count < search->candidate.capacity);
    search->candidate.entries[search->candidate.count] = *entry;
    search->candidate.count++;
}

/* The tape without the entries at two places, and with each one other. */
static void try_near(struct search *search, uint32_t without, uint32_t without_too)
{
    struct level *level = &search->levels[0];

    search->candidate.count = 0;
    for (uint32_t i = 0; i < search->tape->count; i++) {
        if (i != without && i != without_too) {
            push(search, &search->tape->entries[i]);
        }
    }
    load(search, level, 0);
    while (level->next < level->count && search->end == BELOW_END_NONE) {
        push(search, &level->entries[level->next]);
        try_candidate(search);
        search->candidate.count--;
        level->next++;
    }
}

/* All tapes of exactly so many entries: an odometer whose wheels are the levels. */
static void try_depth(struct search *search, uint32_t depth)
{
    uint32_t used = 0; /* levels loaded */

    CHECK(depth <= BELOW_LEVELS_MAX);
    search->candidate.count = 0;
    if (depth == 0) {
        try_candidate(search);
        return;
    }
    load(search, &search->levels[used++], 0);
    while (used > 0 && search->end == BELOW_END_NONE) {
        struct level *level = &search->levels[used - 1];

        search->candidate.count = used - 1;
        if (level->next == level->count) {
            used--;
            continue;
        }
        const struct tape_entry *entry = &level->entries[level->next++];
        push(search, entry);
        if (used == depth) {
            try_candidate(search);
        } else {
            load(search, &search->levels[used++], entry->position + 1);
        }
    }
}

/* All tapes of so many entries, from least to one below end, that are fewer than the tape has. */
static void try_depths(struct search *search, uint32_t least, uint32_t end)
{
    for (uint32_t depth = least;
         depth < end && depth < search->tape->count && search->end == BELOW_END_NONE;
         depth++) {
        if (depth > BELOW_LEVELS_MAX) {
            search->is_partial = true;
            return;
        }
        try_depth(search, depth);
    }
}

enum below_end
below_search(const struct tape *tape, const struct below_options *options, void *memory)
{
    struct tape_entry *entries = memory;
    struct search search = {.options = options, .tape = tape};

    for (uint32_t i = 0; i < BELOW_LEVELS_MAX; i++) {
        search.levels[i].entries = entries + (size_t)i * BELOW_OFFERS_MAX;
    }
    search.candidate = (struct tape){
        .entries = entries + (size_t)BELOW_LEVELS_MAX * BELOW_OFFERS_MAX,
        .capacity = tape->count + 1,
        .identity = tape->identity,
    };
    try_depths(&search, 0, 2);
    /* Of two entries, what is near has one entry: that has been tried. */
    for (uint32_t i = 0; i < tape->count && tape->count > 2; i++) {
        for (uint32_t k = i + 1; k < tape->count && search.end == BELOW_END_NONE; k++) {
            try_near(&search, i, k);
        }
    }
    try_depths(&search, 2, tape->count);
    if (search.end != BELOW_END_NONE) {
        return search.end;
    }
    return search.is_partial ? BELOW_END_TOO_MANY : BELOW_END_EXHAUSTED;
}
