#include "scenarios/cli/search/shrinking.h"

#include "scenarios/cli/sweep/summary.h"
#include "sinks/base/digest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SAVE_EVERY_MS 100u
#define FRESH_STREAM  UINT64_C(0x66726573682d3031)

/* Everything of one search. */
struct search {
    struct shrinking *shrinking;
    struct reproducer *reproducer;
    const struct culprit *culprit;
    const struct shrinking_limits *limits;
    uint64_t identity; /* of the tape */
    uint64_t saved_ms;
    char label[64];
};

struct shrinking_limits shrinking_limits_of(const struct options *options)
{
    const bool is_below_given = option_is_given(options, OPTION_BIT(BELOW));
    return (struct shrinking_limits){
        .attempts = (uint32_t)options->attempts,
        .fresh = SHRINKING_FRESH,
        .fresh_above = SHRINKING_FRESH_ABOVE,
        .below = is_below_given ? (uint32_t)options->below : SHRINKING_BELOW,
        .deadline_ms =
            options->duration > 0 ? wall_milliseconds() + options->duration / NANOS_PER_MS : 0,
        .hang_after = options->hang_after,
    };
}

/* --- what else is met -------------------------------------------------------------------------- */

static bool is_same(const struct culprit *a, const struct culprit *b)
{
    return a->oracle == b->oracle && a->subject_kind == b->subject_kind &&
           (a->subject_kind != SUBJECT_RECORD || a->subject == b->subject);
}

void shrinking_add_other(struct shrinking *shrinking,
                         const struct culprit *culprit,
                         const struct tape *tape)
{
    uint32_t at = 0;
    while (at < shrinking->other_count && !is_same(&shrinking->others[at].culprit, culprit)) {
        at++;
    }
    struct shrinking_other *other = &shrinking->others[at < SHRINKING_OTHERS_MAX ? at : 0];
    if (at == SHRINKING_OTHERS_MAX) {
        shrinking->others_dropped++;
        return;
    }
    if (at < shrinking->other_count && other->tape.count <= tape->count) {
        return;
    }
    if (at == shrinking->other_count) {
        *other = (struct shrinking_other){.culprit = *culprit};
        shrinking->other_count++;
    }
    const size_t size = (size_t)tape->count * sizeof *tape->entries;
    struct tape_entry *entries = memory_resize(other->tape.entries, size + 1);
    if (size > 0) {
        memcpy(entries, tape->entries, size);
    }
    other->tape = *tape;
    other->tape.entries = entries;
    other->tape.capacity = tape->count;
}

static void note_others(const struct search *search)
{
    const struct result *result = reproducer_result(search->reproducer);
    const struct tape recorded = reproducer_recorded(search->reproducer);
    for (uint32_t i = 0; i < result->finding_count; i++) {
        if (!culprit_is(search->culprit, &result->findings[i])) {
            const struct culprit other = culprit_of_finding(&result->findings[i]);
            shrinking_add_other(search->shrinking, &other, &recorded);
        }
    }
}

/* --- runs -------------------------------------------------------------------------------------- */

static void save(struct search *search, bool now)
{
    struct shrinking *shrinking = search->shrinking;
    if (shrinking->save == NULL || shrinking->is_foreign ||
        shrinking->answers.asked < shrinking->answers.count) {
        return;
    }
    const uint64_t ms = wall_milliseconds();
    if (now || ms - search->saved_ms >= SAVE_EVERY_MS) {
        shrinking->save(shrinking->save_context, shrinking);
        search->saved_ms = ms;
    }
}

static uint64_t question_of(const struct tape *tape)
{
    uint64_t digest = tape->count;
    for (uint32_t i = 0; i < tape->count; i++) {
        const struct tape_entry *entry = &tape->entries[i];
        digest = digest_fold(
            digest, (uint64_t)entry->key << 48 | (uint64_t)entry->lane << 32 | entry->ordinal);
        digest = digest_fold(digest, entry->value);
    }
    return digest;
}

/* Make a run, unless it is known that it does not show the culprit; if it does, it is made again for
 * what it records. */
static bool shows(struct search *search, const struct run_request *request, uint64_t question)
{
    struct shrinking *shrinking = search->shrinking;
    bool answer = false;
    const bool is_known = answers_ask(&shrinking->answers, question, &answer);
    shrinking->is_foreign = shrinking->is_foreign || answers_are_foreign(&shrinking->answers);
    if (is_known && (!answer || shrinking->is_foreign)) {
        return false;
    }
    const bool fails =
        reproducer_shows(search->reproducer, request, search->culprit, search->limits->hang_after);
    if (is_known) {
        shrinking->is_foreign = shrinking->is_foreign || !fails;
        return fails;
    }
    answers_note(&shrinking->answers, fails);
    if (search->culprit->oracle != SUMMARY_ORACLE_CRASH) {
        note_others(search);
    }
    save(search, fails);
    return fails;
}

/* A recorded tape may be longer than the candidate where the reading of a tape made the run draw on
 * in another way; it is no smaller failure then. */
static bool is_no_greater(const struct tape *recorded, const struct tape *candidate)
{
    uint64_t sums[2] = {0, 0};
    for (uint32_t i = 0; i < recorded->count; i++) {
        sums[0] += recorded->entries[i].value;
    }
    for (uint32_t i = 0; i < candidate->count; i++) {
        sums[1] += candidate->entries[i].value;
    }
    return recorded->count < candidate->count ||
           (recorded->count == candidate->count && sums[0] <= sums[1]);
}

static void copy_entries(const struct tape *source, struct tape *target)
{
    if (source->count > 0) {
        memcpy(target->entries, source->entries, source->count * sizeof *source->entries);
    }
    target->count = source->count;
}

static bool still_fails(void *context, const struct tape *candidate, struct tape *recorded)
{
    struct search *search = context;
    const struct run_request request = reproducer_tape_request(candidate);
    if (!shows(search, &request, question_of(candidate))) {
        return false;
    }
    const struct tape made = reproducer_recorded(search->reproducer);
    if (made.count > recorded->capacity || !is_no_greater(&made, candidate)) {
        return false;
    }
    copy_entries(&made, recorded);
    return true;
}

static bool fresh(void *context, uint32_t n, struct tape *recorded)
{
    struct search *search = context;
    const uint64_t seed = digest_fold(digest_fold(FRESH_STREAM, search->identity), n);
    const struct run_request request =
        reproducer_seed_request(reproducer_scenario(search->reproducer), seed);
    if (!shows(search, &request, seed)) {
        return false;
    }
    const struct tape made = reproducer_recorded(search->reproducer);
    if (made.count > recorded->capacity) {
        return false;
    }
    copy_entries(&made, recorded);
    return true;
}

static uint32_t offers(void *context,
                       const struct tape *tape,
                       uint32_t from,
                       struct tape_entry *entries,
                       uint32_t capacity)
{
    const struct search *search = context;
    return reproducer_deviations(search->reproducer, tape, from, entries, capacity);
}

static bool keep_going(void *context)
{
    struct search *search = context;
    const struct shrinking *shrinking = search->shrinking;
    const uint64_t deadline = search->limits->deadline_ms;
    if (search->limits->progress_or_null != NULL) {
        progress_show(search->limits->progress_or_null, shrinking->answers.asked);
    }
    return !shrinking->is_foreign && (deadline == 0 || wall_milliseconds() < deadline);
}

static void show_entries(void *context, const struct shrink_result *so_far)
{
    struct search *search = context;
    (void)snprintf(search->label,
                   sizeof search->label,
                   "shrink, %u entries left",
                   (unsigned)so_far->tape.count);
    if (search->limits->progress_or_null != NULL) {
        search->limits->progress_or_null->label = search->label;
    }
}

void shrinking_run(struct shrinking *shrinking,
                   struct reproducer *reproducer,
                   const struct tape *tape,
                   const struct culprit *culprit,
                   const struct shrinking_limits *limits)
{
    struct search search = {
        .shrinking = shrinking,
        .reproducer = reproducer,
        .culprit = culprit,
        .limits = limits,
        .identity = tape->identity,
        .saved_ms = wall_milliseconds(),
    };
    /* A run that takes its process leaves no offers. */
    const bool is_guarded = culprit->oracle == SUMMARY_ORACLE_CRASH;
    const struct shrink_options options = {
        .still_fails = still_fails,
        .keep_going = keep_going,
        .progress = show_entries,
        .fresh = fresh,
        .offers = offers,
        .context = &search,
        .attempts_max = limits->attempts,
        .fresh_max = limits->fresh,
        .fresh_above = limits->fresh_above,
        .below_max = is_guarded ? 0 : limits->below,
    };
    answers_rewind(&shrinking->answers);
    /* Aligned to 16 like all that malloc gives. */
    shrinking->memory = memory_take(shrink_memory_size(tape->count, &options));
    shrink_run(tape, &options, shrinking->memory, &shrinking->result);
    save(&search, true);
}

const char *shrinking_stop_words(struct text_pool *texts, const struct shrink_result *result)
{
    switch (result->stop) {
    case SHRINK_STOP_LOCAL_MINIMUM:
        return result->proven_minimal ? "proven minimal"
               : result->below_runs == 0
                   ? "nothing smaller found"
                   : text_format(texts,
                                 "minimal up to %" PRIu32 " runs of smaller tapes",
                                 result->below_runs);
    case SHRINK_STOP_ATTEMPTS:
        return "attempts used up";
    case SHRINK_STOP_INTERRUPTED:
        return "time used up";
    case SHRINK_STOP_PASSES:
        return "the tape did not fail when it was run again";
    case SHRINK_STOP_NONE:
        break;
    }
    UNREACHABLE();
}

void shrinking_free(struct shrinking *shrinking)
{
    for (uint32_t i = 0; i < shrinking->other_count; i++) {
        free(shrinking->others[i].tape.entries);
    }
    answers_free(&shrinking->answers);
    free(shrinking->memory);
    *shrinking = (struct shrinking){0};
}
