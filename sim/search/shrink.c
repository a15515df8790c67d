#include "sim/search/shrink.h"

#include "sim/search/tapes.h"
#include "sinks/base/check.h"
#include "sinks/base/digest.h"

#include <string.h>

#define RUN_SIZE_EACH   8 /* runs of up to this size are deleted at each place */
#define TRIED_COUNT_MIN 64

struct shrink_span {
    uint32_t span;
    uint32_t entry_count;
    uint8_t kind;
};

struct shrink_search {
    const struct shrink_options *options;
    struct shrink_result *result; /* result->tape is the smallest so far */
    struct tape *best;            /* what is being made smaller: that one, or other */
    struct tape other;            /* a fresh run's */
    struct tape candidate;
    struct tape recorded;
    struct shrink_span *spans;
    uint64_t *tried; /* hash set of digests; 0 is an empty place */
    uint32_t tried_count;
    uint32_t attempts_left; /* but for those below */
    bool is_below;
    void *below_memory;
};

static uint32_t attempts_max(const struct shrink_options *options)
{
    return options->attempts_max == 0 ? SHRINK_ATTEMPTS_DEFAULT : options->attempts_max;
}

/* Twice the attempts, so that the set is at most half full. */
static uint32_t tried_count(const struct shrink_options *options)
{
    uint32_t count = TRIED_COUNT_MIN;

    CHECK(attempts_max(options) <= SHRINK_ATTEMPTS_MAX);
    CHECK(options->below_max <= SHRINK_ATTEMPTS_MAX);
    while (count < (attempts_max(options) + options->below_max) * 2) {
        count *= 2;
    }
    return count;
}

static bool goes_below(const struct shrink_options *options)
{
    return options->offers != NULL && options->below_max > 0;
}

size_t shrink_memory_size(uint32_t entry_count, const struct shrink_options *options)
{
    return 4 * tapes_aligned(entry_count * sizeof(struct tape_entry)) +
           tapes_aligned(entry_count * sizeof(struct shrink_span)) +
           tapes_aligned(tried_count(options) * sizeof(uint64_t)) +
           (goes_below(options) ? tapes_aligned(below_memory_size(entry_count)) : 0);
}

static uint64_t tape_sum(const struct tape *tape)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < tape->count; i++) {
        sum += tape->entries[i].value;
    }
    return sum;
}

static bool is_smaller(const struct tape *a, const struct tape *b)
{
    return a->count != b->count ? a->count < b->count : tape_sum(a) < tape_sum(b);
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
static bool remember(struct shrink_search *search)
{
    const uint64_t digest = tape_digest(&search->candidate);
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

static bool is_over(const struct shrink_search *search)
{
    return search->result->stop != SHRINK_STOP_NONE;
}

/* Whether another run is allowed; if not, the reason is set. */
static bool may_attempt(struct shrink_search *search)
{
    const struct shrink_options *options = search->options;

    if (is_over(search)) {
        return false;
    }
    if (search->attempts_left == 0 && !search->is_below) {
        search->result->stop = SHRINK_STOP_ATTEMPTS;
        return false;
    }
    if (options->keep_going != NULL && !options->keep_going(options->context)) {
        search->result->stop = SHRINK_STOP_INTERRUPTED;
        return false;
    }
    return true;
}

static void count_attempt(struct shrink_search *search)
{
    search->result->attempts++;
    if (search->is_below) {
        search->result->below_runs++;
    } else {
        search->attempts_left--;
    }
}

/* Run the candidate: does it fail alike? */
static bool candidate_fails(struct shrink_search *search)
{
    count_attempt(search);
    search->recorded.count = 0;
    if (!search->options->still_fails(
            search->options->context, &search->candidate, &search->recorded)) {
        return false;
    }
    CHECK(search->recorded.count <= search->recorded.capacity);
    CHECK(!is_smaller(&search->candidate, &search->recorded));
    return true;
}

/* Try the candidate. True when it was taken: then the best tape is another, and smaller. */
static bool try_candidate(struct shrink_search *search)
{
    struct shrink_result *result = search->result;

    CHECK(is_smaller(&search->candidate, search->best));
    if (is_over(search)) {
        return false;
    }
    if (!remember(search)) {
        result->remembered++;
        return false;
    }
    if (!may_attempt(search) || !candidate_fails(search)) {
        return false;
    }
    if (!is_smaller(&search->recorded, search->best)) {
        return false;
    }
    tapes_copy(&search->recorded, search->best);
    result->accepted++;
    if (search->options->progress != NULL && search->best == &result->tape) {
        search->options->progress(search->options->context, result);
    }
    return true;
}

/* Set the candidate to the best tape without the entries from first to first + size. */
static bool try_without_run(struct shrink_search *search, uint32_t first, uint32_t size)
{
    const struct tape *best = search->best;

    search->candidate.count = 0;
    for (uint32_t i = 0; i < best->count; i++) {
        if (i < first || i - first >= size) {
            search->candidate.entries[search->candidate.count] = best->entries[i];
            search->candidate.count++;
        }
    }
    return try_candidate(search);
}

static bool try_without_span(struct shrink_search *search, struct shrink_span span)
{
    const struct tape *best = search->best;

    search->candidate.count = 0;
    for (uint32_t i = 0; i < best->count; i++) {
        const struct tape_entry *entry = &best->entries[i];

        if (entry->span_kind != span.kind || entry->span != span.span) {
            search->candidate.entries[search->candidate.count] = *entry;
            search->candidate.count++;
        }
    }
    return try_candidate(search);
}

static bool try_value(struct shrink_search *search, uint32_t index, uint32_t value)
{
    tapes_copy(search->best, &search->candidate);
    search->candidate.entries[index].value = (uint8_t)value;
    return try_candidate(search);
}

/* Find the shortest failing prefix by halving. A prefix may pass between two that fail: then this
 * finds one of them. */
static bool cut_tail(struct shrink_search *search)
{
    struct tape *best = search->best;
    uint32_t passing = 0; /* prefixes shorter than this are taken to pass */
    bool changed = false;

    while (passing < best->count && !is_over(search)) {
        const uint32_t middle = passing + (best->count - passing) / 2;

        if (try_without_run(search, middle, best->count - middle)) {
            changed = true;
        } else {
            passing = middle + 1;
        }
    }
    return changed;
}

/* List the spans of the best tape, largest first, of equal ones the first met first. */
static uint32_t list_spans(struct shrink_search *search)
{
    const struct tape *best = search->best;
    struct shrink_span *spans = search->spans;
    uint32_t span_count = 0;

    for (uint32_t i = 0; i < best->count; i++) {
        const struct tape_entry *entry = &best->entries[i];
        uint32_t at = 0;

        if (entry->span_kind == SPAN_NONE) {
            continue;
        }
        while (at < span_count &&
               (spans[at].kind != entry->span_kind || spans[at].span != entry->span)) {
            at++;
        }
        if (at == span_count) {
            spans[at] = (struct shrink_span){.span = entry->span, .kind = entry->span_kind};
            span_count++;
        }
        spans[at].entry_count++;
    }
    for (uint32_t i = 1; i < span_count; i++) {
        const struct shrink_span moved = spans[i];
        uint32_t at = i;

        for (; at > 0 && spans[at - 1].entry_count < moved.entry_count; at--) {
            spans[at] = spans[at - 1];
        }
        spans[at] = moved;
    }
    return span_count;
}

/* Ids of spans belong to a run, so after each success the list is made anew; it goes on at the same
 * rank, and what was skipped comes again in the next round. */
static bool delete_spans(struct shrink_search *search)
{
    uint32_t span_count = list_spans(search);
    uint32_t rank = 0;
    bool changed = false;

    while (rank < span_count && !is_over(search)) {
        if (try_without_span(search, search->spans[rank])) {
            changed = true;
            span_count = list_spans(search);
        } else {
            rank++;
        }
    }
    return changed;
}

/* Delete runs of one size, from the end: what comes late is least often a cause. */
static bool delete_runs(struct shrink_search *search, uint32_t size, uint32_t stride)
{
    const struct tape *best = search->best;
    uint32_t end = best->count;
    bool changed = false;

    while (end >= size && !is_over(search)) {
        if (try_without_run(search, end - size, size)) {
            changed = true;
            end = end - size < best->count ? end - size : best->count;
        } else if (end < stride) {
            break;
        } else {
            end -= stride;
        }
    }
    return changed;
}

static bool delete_all_runs(struct shrink_search *search)
{
    bool changed = false;

    for (uint32_t size = search->best->count / 2; size > RUN_SIZE_EACH; size /= 2) {
        changed = delete_runs(search, size, size) || changed;
    }
    for (uint32_t size = RUN_SIZE_EACH; size > 0; size--) {
        changed = delete_runs(search, size, 1) || changed;
    }
    return changed;
}

/* Lower each value: to 1, else by halving the way from a value that passes to one that fails. */
static bool lower_values(struct shrink_search *search)
{
    const struct tape *best = search->best;
    bool changed = false;

    for (uint32_t i = 0; i < best->count && !is_over(search); i++) {
        uint32_t passing = 1;

        if (best->entries[i].value == 1) {
            continue;
        }
        if (try_value(search, i, 1)) {
            changed = true;
            continue;
        }
        while (i < best->count && best->entries[i].value > passing + 1 && !is_over(search)) {
            const uint32_t middle = passing + (best->entries[i].value - passing) / 2;

            if (try_value(search, i, middle)) {
                changed = true;
            } else {
                passing = middle;
            }
        }
    }
    return changed;
}

/* Try every proper subset of a short tape, the empty one first. True when one was taken. */
static bool try_subsets(struct shrink_search *search)
{
    const struct tape *best = search->best;
    const uint32_t count = best->count;

    CHECK(count <= SHRINK_SUBSETS_MAX);
    for (uint32_t size = 0; size < count; size++) {
        for (uint32_t subset = 0; subset < UINT32_C(1) << count; subset++) {
            search->candidate.count = 0;
            for (uint32_t i = 0; i < count; i++) {
                if ((subset >> i & 1) != 0) {
                    search->candidate.entries[search->candidate.count] = best->entries[i];
                    search->candidate.count++;
                }
            }
            if (search->candidate.count == size && try_candidate(search)) {
                return true;
            }
        }
    }
    return false;
}

/* Make the best tape smaller until no pass helps. */
static void run_passes(struct shrink_search *search)
{
    bool changed = true;

    /* Each round but the last makes the tape smaller, which bounds the loop. */
    while (changed && !is_over(search)) {
        changed = cut_tail(search);
        changed = delete_spans(search) || changed;
        changed = delete_all_runs(search) || changed;
        changed = lower_values(search) || changed;
        if (!changed && search->best->count <= SHRINK_SUBSETS_MAX) {
            changed = try_subsets(search);
        }
    }
}

/* Take over what was made of a fresh run where it is smaller. */
static void take_other(struct shrink_search *search)
{
    struct shrink_result *result = search->result;

    search->best = &result->tape;
    if (is_smaller(&search->other, &result->tape)) {
        tapes_copy(&search->other, &result->tape);
        if (search->options->progress != NULL) {
            search->options->progress(search->options->context, result);
        }
    }
}

/* Make fresh runs; each that fails alike, on a tape shorter than the first one was, is shrunk. It
 * is run as a candidate first, because its own run had another identity. */
static void try_fresh(struct shrink_search *search, uint32_t first_count)
{
    const struct shrink_options *options = search->options;

    for (uint32_t n = 0; n < options->fresh_max; n++) {
        if (search->result->tape.count <= options->fresh_above || !may_attempt(search)) {
            return;
        }
        count_attempt(search);
        search->candidate.count = 0;
        if (!options->fresh(options->context, n, &search->candidate) ||
            search->candidate.count >= first_count) {
            continue;
        }
        if (!remember(search) || !may_attempt(search) || !candidate_fails(search)) {
            continue;
        }
        tapes_copy(&search->recorded, &search->other);
        search->best = &search->other;
        run_passes(search);
        take_other(search);
    }
}

static uint32_t below_offers(void *context,
                             const struct tape *tape,
                             uint32_t from,
                             struct tape_entry *entries,
                             uint32_t capacity)
{
    struct shrink_search *search = context;

    search->result->below_runs++;
    return search->options->offers(search->options->context, tape, from, entries, capacity);
}

static bool below_try(void *context, const struct tape *candidate)
{
    struct shrink_search *search = context;

    tapes_copy(candidate, &search->candidate);
    return try_candidate(search);
}

static bool below_may_go_on(void *context)
{
    struct shrink_search *search = context;

    return search->result->below_runs < search->options->below_max && may_attempt(search);
}

/* Look for a tape with fewer entries; true when one was taken. */
static bool try_below(struct shrink_search *search)
{
    const struct below_options options = {
        .offers = below_offers,
        .try_tape = below_try,
        .may_go_on = below_may_go_on,
        .context = search,
    };

    search->is_below = true;
    /* The tape is read while a smaller one takes its place: the search is over then. */
    const enum below_end end = below_search(&search->result->tape, &options, search->below_memory);
    search->is_below = false;
    search->result->proven_minimal = end == BELOW_END_EXHAUSTED;
    return end == BELOW_END_TAKEN;
}

static void run_searches(struct shrink_search *search, uint32_t first_count)
{
    bool changed = true;

    run_passes(search);
    if (search->options->fresh != NULL) {
        try_fresh(search, first_count);
    }
    /* Each round but the last makes the tape smaller, which bounds the loop. */
    while (changed && !is_over(search) && goes_below(search->options)) {
        changed = try_below(search);
        if (changed) {
            run_passes(search);
        }
    }
    if (!is_over(search)) {
        search->result->stop = SHRINK_STOP_LOCAL_MINIMUM;
        /* Of one entry the only smaller tape is the empty one, which the subsets hold. */
        search->result->proven_minimal =
            search->result->proven_minimal || search->result->tape.count <= 1;
    }
}

void shrink_run(const struct tape *tape,
                const struct shrink_options *options,
                void *memory,
                struct shrink_result *result)
{
    uint8_t *left = memory;
    struct shrink_search search = {
        .options = options,
        .result = result,
        .best = &result->tape,
        .tried_count = tried_count(options),
        .attempts_left = attempts_max(options),
    };

    *result = (struct shrink_result){.tape = tapes_carve_tape(&left, tape)};
    search.other = tapes_carve_tape(&left, tape);
    search.candidate = tapes_carve_tape(&left, tape);
    search.recorded = tapes_carve_tape(&left, tape);
    search.spans = tapes_carve(&left, tape->count * sizeof(*search.spans));
    search.tried = tapes_carve(&left, search.tried_count * sizeof(*search.tried));
    search.below_memory = left;
    memset(search.tried, 0, search.tried_count * sizeof(*search.tried));

    tapes_copy(tape, &result->tape);
    tapes_copy(tape, &search.candidate);
    if (!may_attempt(&search)) {
        return;
    }
    (void)remember(&search);
    if (!candidate_fails(&search)) {
        result->stop = SHRINK_STOP_PASSES;
        return;
    }
    tapes_copy(&search.recorded, &result->tape);
    run_searches(&search, tape->count);
    CHECK(result->stop != SHRINK_STOP_NONE);
}
