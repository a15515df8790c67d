#include "sim/journal.h"

#include <string.h>

#define CHUNK_COUNT_MIN 16u

static const char *const kind_names[] = {
#define X(constant, name, sentence) [constant] = (name),
#include "sim/journal_kinds.def"
#undef X
};

static const char *const configured_names[] = {
    "nothing", "created", "changed", "removed", "claimed", "declared"};
_Static_assert(ARRAY_COUNT(configured_names) == CONFIGURED_COUNT, "each has a name");

static const char *const stop_cause_names[] = {
    [STOP_CAUSE_NONE] = "none",
    [STOP_CAUSE_CRASH] = "crash",
    [STOP_CAUSE_SINK] = "sink failure",
    [STOP_CAUSE_CHECKPOINT] = "checkpoint failure",
    [STOP_CAUSE_RESCALE] = "rescale",
    [STOP_CAUSE_FINISHED] = "stopped with a savepoint",
    [STOP_CAUSE_SAVEPOINT] = "a stop with a savepoint has failed",
};

static const char *const abort_cause_names[] = {
    [ABORT_CAUSE_NONE] = "none",
    [ABORT_CAUSE_INJECTED] = "injected",
    [ABORT_CAUSE_TIMEOUT] = "timeout",
    [ABORT_CAUSE_JOB_STOPPED] = "job stopped",
    [ABORT_CAUSE_SUBSUMED] = "a later one completed first",
    [ABORT_CAUSE_REGION] = "a part of the job stopped",
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
_Static_assert(ARRAY_COUNT(stop_cause_names) == STOP_CAUSE_SAVEPOINT + 1, "every cause has a name");
_Static_assert(ARRAY_COUNT(abort_cause_names) == ABORT_CAUSE_REGION + 1, "every cause has a name");
_Static_assert(ARRAY_COUNT(rule_names) == CONTRACT_RULE_COUNT, "every rule has a name");
_Static_assert((JOURNAL_CHUNK & (JOURNAL_CHUNK - 1)) == 0, "a position splits by shift and mask");

const char *journal_kind_name(uint32_t kind)
{
    CHECK(kind < ARRAY_COUNT(kind_names));
    return kind_names[kind];
}

const char *configured_name(uint32_t configured)
{
    CHECK(configured < CONFIGURED_COUNT);
    return configured_names[configured];
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

/* Who listens when nobody does. */
static void ignore(void *context, const struct journal_entry *entry, uint32_t position)
{
    (void)context;
    (void)entry;
    (void)position;
}

void journal_listen(struct journal *journal,
                    void *context,
                    void (*listener)(void *, const struct journal_entry *, uint32_t))
{
    CHECK(journal->listener == ignore);
    journal->listener = listener;
    journal->listener_context = context;
}

/* Take memory; or only count it, as a journal that keeps the last entries does after its first chunk,
 * so that both journals come to the arena's cap at the same entry. */
static void *take_or_count(struct journal *journal, size_t size)
{
    if (journal->keeps_last && journal->count > 0) {
        arena_reserve(journal->arena, size);
        return NULL;
    }
    return arena_take(journal->arena, size);
}

static void grow_chunk_list(struct journal *journal)
{
    const uint32_t old = journal->chunk_capacity;
    const uint32_t new = old == 0 ? CHUNK_COUNT_MIN : old * 2;
    struct journal_entry **chunks = take_or_count(journal, new * sizeof(struct journal_entry *));
    if (chunks != NULL) {
        if (old != 0) {
            memcpy(chunks, journal->chunks, old * sizeof(struct journal_entry *));
        }
        journal->chunks = chunks;
    }
    journal->chunk_capacity = new;
}

static void add_chunk(struct journal *journal)
{
    CHECK(journal->count <= UINT32_MAX - JOURNAL_CHUNK);
    if (journal->chunk_count == journal->chunk_capacity) {
        grow_chunk_list(journal);
    }
    struct journal_entry *chunk =
        take_or_count(journal, JOURNAL_CHUNK * sizeof(struct journal_entry));
    if (chunk != NULL) {
        journal->chunks[journal->chunk_count] = chunk;
    } else {
        chunk = journal->chunks[0];
    }
    journal->place = chunk;
    journal->places_end = chunk + JOURNAL_CHUNK;
    journal->chunk_count++;
    CHECK(journal_is_valid(journal));
}

void journal_init(struct journal *journal, struct arena *arena)
{
    *journal = (struct journal){.arena = arena, .listener = ignore};
    add_chunk(journal);
}

void journal_turn(struct journal *journal, const struct journal_entry *entry, uint32_t position)
{
    add_chunk(journal);
    journal_tell(journal, entry, position);
}

uint32_t journal_append(struct journal *journal, const struct journal_entry *entry)
{
    CHECK(entry->kind != JOURNAL_NONE);
    CHECK(entry->kind < JOURNAL_KIND_COUNT);
    const uint32_t position = journal->count;
    journal_copy(journal_place(journal), entry);
    journal_publish(journal);
    return position;
}

uint32_t journal_first(const struct journal *journal)
{
    return journal->keeps_last && journal->count > JOURNAL_CHUNK ? journal->count - JOURNAL_CHUNK
                                                                 : 0;
}

const struct journal_entry *journal_at(const struct journal *journal, uint32_t position)
{
    CHECK(position < journal->count);
    CHECK(position >= journal_first(journal));
    const uint32_t chunk = journal->keeps_last ? 0 : position / JOURNAL_CHUNK;
    return &journal->chunks[chunk][position % JOURNAL_CHUNK];
}
