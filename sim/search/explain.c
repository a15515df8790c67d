#include "sim/search/explain.h"

#include "sinks/base/check.h"

#include <string.h>

struct search {
    const struct explain_options *options;
    struct explain_result *result;
    const struct tape *tape;
    struct tape candidate;
    struct tape_entry *offered;
    uint32_t offered_count;
    bool is_partial; /* there are more than are kept */
    bool is_over;
};

size_t explain_memory_size(uint32_t entry_count)
{
    return (EXPLAIN_OFFERS_MAX + (size_t)entry_count + 1) * sizeof(struct tape_entry) + 16;
}

/* Count a run and say whether it may be made. */
static bool may_run(struct search *search)
{
    const struct explain_options *options = search->options;
    const uint32_t runs_max = options->runs_max == 0 ? EXPLAIN_RUNS : options->runs_max;

    search->is_over = search->is_over || search->result->runs == runs_max ||
                      (options->keep_going != NULL && !options->keep_going(options->context));
    if (!search->is_over) {
        search->result->runs++;
    }
    return !search->is_over;
}

/* Set the candidate to the tape, without the entry at a place if there is one. */
static void set_without(struct search *search, uint32_t without)
{
    search->candidate.count = 0;
    for (uint32_t i = 0; i < search->tape->count; i++) {
        if (i != without) {
            search->candidate.entries[search->candidate.count++] = search->tape->entries[i];
        }
    }
}

/* List what the candidate's run offers from a draw on; false when no run may be made. */
static bool list_offers(struct search *search, uint32_t from)
{
    if (!may_run(search)) {
        return false;
    }
    const uint32_t count = search->options->offers(
        search->options->context, &search->candidate, from, search->offered, EXPLAIN_OFFERS_MAX);
    search->is_partial = count > EXPLAIN_OFFERS_MAX;
    search->offered_count = search->is_partial ? EXPLAIN_OFFERS_MAX : count;
    return true;
}

/* The candidate with one entry more. */
static enum explain_answer try_with(struct search *search, const struct tape_entry *entry)
{
    struct tape *candidate = &search->candidate;

    CHECK(candidate->count < candidate->capacity);
    candidate->entries[candidate->count++] = *entry;
    const enum explain_answer answer =
        search->options->try_tape(search->options->context, candidate);
    candidate->count--;
    return answer;
}

/* --- the decisive draw ------------------------------------------------------------------------- */

static uint32_t last_draw(const struct tape *tape)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < tape->count; i++) {
        last = tape->entries[i].position > last ? tape->entries[i].position : last;
    }
    return last;
}

/* Without a choice behind it that saves the run, the tape's last one is the last chance. */
static void decide_by_last_choice(const struct search *search, struct explain_decision *decision)
{
    const struct tape *tape = search->tape;

    for (uint32_t i = 0; i < tape->count; i++) {
        if (tape->entries[i].position == last_draw(tape)) {
            decision->is_found = true;
            decision->draw = tape->entries[i].position;
            decision->last_chance = tape->entries[i];
            decision->last_chance.value = 0;
        }
    }
}

static void find_decision(struct search *search)
{
    struct explain_decision *decision = &search->result->decision;

    set_without(search, UINT32_MAX);
    if (!list_offers(search, search->tape->count == 0 ? 0 : last_draw(search->tape) + 1)) {
        return;
    }
    decision->all_tried = !search->is_partial;
    for (uint32_t i = search->offered_count; i > 0; i--) {
        const struct tape_entry *entry = &search->offered[i - 1];

        if (entry->position >= search->options->decided_draw) {
            continue;
        }
        if (!may_run(search)) {
            decision->all_tried = false;
            return;
        }
        const enum explain_answer answer = try_with(search, entry);
        if (answer == EXPLAIN_PASSES) {
            decision->is_found = true;
            decision->draw = entry->position;
            decision->last_chance = *entry;
            return;
        }
        decision->tried++;
        decision->unclear += answer == EXPLAIN_UNCLEAR ? 1 : 0;
    }
    decide_by_last_choice(search, decision);
}

/* --- what each choice is for ------------------------------------------------------------------- */

static enum explain_where where_of(const struct tape_entry *choice, const struct tape_entry *other)
{
    if (choice->key != other->key) {
        return EXPLAIN_OTHER_SITE;
    }
    return choice->lane == other->lane && choice->ordinal == other->ordinal ? EXPLAIN_SAME_DRAW
                                                                            : EXPLAIN_SAME_SITE;
}

/* Try what stands at one distance from the choice in its place; false when the runs are used up. */
static bool try_in_place(struct search *search,
                         const struct tape_entry *choice,
                         enum explain_where where,
                         struct explain_choice *found)
{
    for (uint32_t i = 0; i < search->offered_count; i++) {
        const struct tape_entry *other = &search->offered[i];
        const bool is_itself = where == EXPLAIN_SAME_DRAW && other->value == choice->value;

        if (where_of(choice, other) != where || is_itself) {
            continue;
        }
        if (!may_run(search)) {
            return false;
        }
        found->tried++;
        if (try_with(search, other) != EXPLAIN_FAILS) {
            continue;
        }
        found->as_well[where]++;
        if (found->kept_count < EXPLAIN_KEPT_MAX) {
            found->kept[found->kept_count++] = *other;
        }
    }
    return true;
}

static void look_into(struct search *search, uint32_t at)
{
    const struct tape_entry *choice = &search->tape->entries[at];
    struct explain_choice *found = &search->result->choices[at];

    set_without(search, at);
    if (!may_run(search)) {
        return;
    }
    if (search->options->try_tape(search->options->context, &search->candidate) == EXPLAIN_FAILS) {
        found->need = EXPLAIN_FREE;
        found->all_tried = true;
        return;
    }
    if (!list_offers(search, 0)) {
        return;
    }
    found->all_tried = !search->is_partial;
    for (uint32_t where = EXPLAIN_SAME_DRAW; where < EXPLAIN_WHERE_COUNT; where++) {
        found->all_tried =
            try_in_place(search, choice, (enum explain_where)where, found) && found->all_tried;
    }
    found->need = found->kept_count > 0 ? EXPLAIN_ONE_OF_SEVERAL : EXPLAIN_REQUIRED;
}

void explain_run(const struct tape *tape,
                 const struct explain_options *options,
                 void *memory,
                 struct explain_result *result)
{
    struct search search = {
        .options = options,
        .result = result,
        .tape = tape,
        .offered = memory,
    };

    memset(result, 0, sizeof(*result));
    search.candidate = (struct tape){
        .entries = search.offered + EXPLAIN_OFFERS_MAX,
        .capacity = tape->count + 1,
        .identity = tape->identity,
    };
    result->choice_count = tape->count < EXPLAIN_CHOICES_MAX ? tape->count : EXPLAIN_CHOICES_MAX;
    find_decision(&search);
    for (uint32_t i = 0; i < result->choice_count; i++) {
        look_into(&search, i);
    }
}
