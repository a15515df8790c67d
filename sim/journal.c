#include "sim/journal.h"

#include <string.h>

#define CHUNK_COUNT_MIN 16u

static const char *const kind_names[] = {
#define X(constant, name, sentence) [constant] = (name),
#include "sim/journal_kinds.def"
#undef X
};

static const char *const stop_cause_names[] = {
    [STOP_CAUSE_NONE] = "none",
    [STOP_CAUSE_CRASH] = "crash",
    [STOP_CAUSE_SINK] = "sink failure",
    [STOP_CAUSE_CHECKPOINT] = "checkpoint failure",
    [STOP_CAUSE_RESCALE] = "rescale",
    [STOP_CAUSE_FINISHED] = "end of input",
};

static const char *const abort_cause_names[] = {
    [ABORT_CAUSE_NONE] = "none",
    [ABORT_CAUSE_INJECTED] = "injected",
    [ABORT_CAUSE_TIMEOUT] = "timeout",
    [ABORT_CAUSE_JOB_STOPPED] = "job stopped",
    [ABORT_CAUSE_SUBSUMED] = "a later one completed first",
};

static const char *const rule_names[] = {
    [CONTRACT_NONE] = "none",
    [CONTRACT_SEND_AFTER_CLOSED] = "send after closed",
    [CONTRACT_SEND_AFTER_CLOSE] = "send after close",
    [CONTRACT_TWO_BARRIER_ANSWERS] = "two answers to one barrier",
    [CONTRACT_UNKNOWN_TOKEN] = "unknown record token",
    [CONTRACT_UNKNOWN_REQUEST] = "unknown request",
    [CONTRACT_RETURN_WITHOUT_COMMIT] = "return without commit",
    [CONTRACT_BARRIER_DONE_WITHOUT_BARRIER] = "barrier answer without barrier",
    [CONTRACT_DUPLICATE_REQUEST_ID] = "duplicate request id",
    [CONTRACT_EFFECTS_OVERFLOW] = "too many effects in one step",
    [CONTRACT_NOT_OPENED] = "effect before opened",
    [CONTRACT_STATE_OUTSIDE_BARRIER] = "state outside a barrier",
    [CONTRACT_CLOSE_UNANSWERED] = "close not answered in time",
    [CONTRACT_LEAK] = "memory not given back",
    [CONTRACT_MALFORMED_SEND] = "malformed send",
    [CONTRACT_UNKNOWN_EFFECT] = "effect of no known kind",
};

_Static_assert(ARRAY_COUNT(kind_names) == JOURNAL_KIND_COUNT, "every kind has a name");
_Static_assert(ARRAY_COUNT(stop_cause_names) == STOP_CAUSE_FINISHED + 1, "every cause has a name");
_Static_assert(ARRAY_COUNT(abort_cause_names) == ABORT_CAUSE_SUBSUMED + 1,
               "every cause has a name");
_Static_assert(ARRAY_COUNT(rule_names) == CONTRACT_RULE_COUNT, "every rule has a name");
_Static_assert((JOURNAL_CHUNK & (JOURNAL_CHUNK - 1)) == 0, "a position splits by shift and mask");

const char *journal_kind_name(uint32_t kind)
{
    CHECK(kind < ARRAY_COUNT(kind_names));
    return kind_names[kind];
}

const char *stop_cause_name(uint32_t cause)
{
    CHECK(cause < ARRAY_COUNT(stop_cause_names));
    return stop_cause_names[cause];
}

const char *abort_cause_name(uint32_t cause)
{
    CHECK(cause < ARRAY_COUNT(abort_cause_names));
    return abort_cause_names[cause];
}

const char *contract_rule_name(uint32_t rule)
{
    CHECK(rule < ARRAY_COUNT(rule_names));
    return rule_names[rule];
}

static bool journal_is_valid(const struct journal *journal)
{
    return journal->chunk_count <= journal->chunk_capacity &&
           journal->count <= journal->chunk_count * JOURNAL_CHUNK;
}

void journal_init(struct journal *journal, struct arena *arena)
{
    *journal = (struct journal){.arena = arena};
}

void journal_listen(struct journal *journal,
                    void *context,
                    void (*listener)(void *, const struct journal_entry *, uint32_t))
{
    CHECK(journal->listener == NULL);
    journal->listener = listener;
    journal->listener_context = context;
}

static void grow_chunk_list(struct journal *journal)
{
    const uint32_t old = journal->chunk_capacity;
    const uint32_t new = old == 0 ? CHUNK_COUNT_MIN : old * 2;
    struct journal_entry **chunks =
        arena_take_recycled(journal->arena, new * sizeof(struct journal_entry *));
    if (old != 0) {
        const size_t size = old * sizeof(struct journal_entry *);
        memcpy(chunks, journal->chunks, size);
        arena_give_recycled(journal->arena, journal->chunks, size);
    }
    journal->chunks = chunks;
    journal->chunk_capacity = new;
}

void journal_add_chunk(struct journal *journal)
{
    CHECK(journal->count <= UINT32_MAX - JOURNAL_CHUNK);
    if (journal->chunk_count == journal->chunk_capacity) {
        grow_chunk_list(journal);
    }
    journal->place = arena_take(journal->arena, JOURNAL_CHUNK * sizeof(struct journal_entry));
    journal->places_end = journal->place + JOURNAL_CHUNK;
    journal->chunks[journal->chunk_count] = journal->place;
    journal->chunk_count++;
    CHECK(journal_is_valid(journal));
}

uint32_t journal_append(struct journal *journal, const struct journal_entry *entry)
{
    CHECK(entry->kind != JOURNAL_NONE);
    CHECK(entry->kind < JOURNAL_KIND_COUNT);
    journal_copy(journal_place(journal), entry);
    return journal_publish(journal);
}

const struct journal_entry *journal_at(const struct journal *journal, uint32_t position)
{
    CHECK(position < journal->count);
    return &journal->chunks[position / JOURNAL_CHUNK][position % JOURNAL_CHUNK];
}
