#include "scenarios/cli/story/story.h"

#define ALIASES_MAX 16u

/* A few numbers; what there is no room for is not told. */
struct number_set {
    uint32_t count;
    uint64_t items[ALIASES_MAX];
};

/* What a subject is known by in the entries that do not name it: a record's envelope, the requests that
 * carried it, the resource that came of it. */
struct aliases {
    struct number_set identities;
    struct number_set requests;
    struct number_set resources;
};

static bool holds(const struct number_set *set, uint64_t number)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->items[i] == number) {
            return number != 0;
        }
    }
    return false;
}

static void take(struct number_set *set, uint64_t number)
{
    if (number != 0 && !holds(set, number) && set->count < ALIASES_MAX) {
        set->items[set->count] = number;
        set->count++;
    }
}

static bool names_subject(const struct finding *finding, const struct journal_entry *entry)
{
    switch ((enum subject_kind)finding->subject_kind) {
    case SUBJECT_RECORD:
        return entry->record != 0 && entry->record == finding->subject;
    case SUBJECT_IDENTITY:
        return entry->identity != 0 && entry->identity == finding->subject;
    case SUBJECT_CHECKPOINT:
        return entry->checkpoint != 0 && entry->checkpoint == finding->subject;
    case SUBJECT_LANE:
        return entry->lane == finding->subject;
    case SUBJECT_NONE:
    case SUBJECT_JOB:
    case SUBJECT_EFFECT:
        return false;
    }
    UNREACHABLE();
}

/* Of a record and an envelope only: what else there is has no aliases. */
static void
gather(const struct journal *journal, const struct finding *finding, struct aliases *known)
{
    const bool has_aliases =
        finding->subject_kind == SUBJECT_RECORD || finding->subject_kind == SUBJECT_IDENTITY;
    for (uint32_t i = 0; i < journal->count && has_aliases; i++) {
        const struct journal_entry *entry = journal_at(journal, i);
        if (names_subject(finding, entry)) {
            take(&known->identities, entry->identity);
            take(&known->requests, entry->request);
            take(&known->resources, entry->resource);
        }
        if (entry->kind == WIRE_ISSUED && holds(&known->identities, entry->identity)) {
            take(&known->requests, entry->request);
        }
    }
}

static bool befalls_job(uint8_t kind)
{
    const uint64_t kinds =
        UINT64_C(1) << HOST_JOB_STARTED | UINT64_C(1) << HOST_JOB_STOPPED |
        UINT64_C(1) << HOST_JOB_FAILED | UINT64_C(1) << HOST_JOB_FINISHED |
        UINT64_C(1) << HOST_INJECTED | UINT64_C(1) << HOST_HEAL |
        UINT64_C(1) << HOST_CHECKPOINT_COMPLETED | UINT64_C(1) << HOST_CHECKPOINT_ABORTED |
        UINT64_C(1) << HOST_NOTICE_LOST | UINT64_C(1) << HOST_CRASHED | UINT64_C(1) << HOST_ZOMBIE |
        UINT64_C(1) << HOST_ZOMBIE_ENDED | UINT64_C(1) << HOST_REGION_STARTED |
        UINT64_C(1) << HOST_REGION_STOPPED | UINT64_C(1) << WORLD_CHANGED;
    return kind < 64 && (kinds >> kind & 1) != 0;
}

static bool is_told(const struct finding *finding,
                    const struct aliases *known,
                    const struct journal_entry *entry,
                    uint32_t position)
{
    return position == finding->position || befalls_job(entry->kind) ||
           names_subject(finding, entry) || holds(&known->identities, entry->identity) ||
           holds(&known->requests, entry->request) || holds(&known->resources, entry->resource);
}

void story_write(const struct reproducer *reproducer,
                 const struct finding *finding,
                 struct byte_writer *writer,
                 uint32_t *decisive)
{
    const struct journal *journal = reproducer_world(reproducer)->journal;
    struct aliases known = {0};
    uint32_t left = 0;
    uint32_t lines = 0;
    *decisive = 0;
    CHECK(journal_first(journal) == 0);
    gather(journal, finding, &known);
    for (uint32_t i = 0; i < journal->count; i++) {
        left += is_told(finding, &known, journal_at(journal, i), i) ? 1 : 0;
    }
    for (uint32_t i = 0; i < journal->count; i++) {
        if (!is_told(finding, &known, journal_at(journal, i), i)) {
            continue;
        }
        if (left <= STORY_LINES || i == finding->position) {
            lines++;
            *decisive = i == finding->position ? lines : *decisive;
            reproducer_describe(reproducer, i, writer);
            byte_writer_text(writer, "\n");
        }
        left--;
    }
}
