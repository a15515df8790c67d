#include "sim/oracle.h"

#include "sim/oracle_ledger.h"
#include "sinks/base/digest.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Static_assert(JOURNAL_KIND_COUNT <= 64, "a kind must have a bit in oracle_type.kinds");

/* An oracle that wants a kind. */
struct judge_hearer {
    void (*on_entry)(void *state, struct judge *, const struct journal_entry *, uint32_t position);
    void *state;
    uint8_t oracle;
};

/* Tell the hearers up to an end. */
NOINLINE static void tell(struct judge *judge,
                          const struct judge_hearer *hearer,
                          const struct judge_hearer *end,
                          const struct journal_entry *entry)
{
    const uint32_t position = judge->world->journal->count - 1;
    for (; hearer < end; hearer++) {
        judge->current = hearer->oracle;
        hearer->on_entry(hearer->state, judge, entry, position);
    }
}

#if CHECK_SLOW_ON
/* Oracles that want only unusual entries find nothing in one that is plain. */
static void check_plain(struct judge *judge, const struct journal_entry *entry)
{
    const struct judge_hearers *hearers = &judge->hearers[entry->kind];
    for (const struct judge_hearer *hearer = hearers->unusual; hearer < hearers->end; hearer++) {
        const uint8_t verdict = judge->findings[hearer->oracle].verdict;
        tell(judge, hearer, hearer + 1, entry);
        CHECK(judge->findings[hearer->oracle].verdict == verdict);
    }
}
#endif

/* Most entries are plain: what makes an entry unusual is looked at once, by the ledger, and not by
 * every oracle. Checked builds ask them all the same. */
static void judge_entry(void *context, const struct journal_entry *entry, uint32_t position)
{
    struct judge *judge = context;
    ledger_note(judge->ledger, entry, position);
    const struct judge_hearers *hearers = &judge->hearers[entry->kind];
    const struct judge_hearer *end = judge->ledger->plain ? hearers->unusual : hearers->end;
#if CHECK_SLOW_ON
    if (judge->ledger->plain) {
        check_plain(judge, entry);
    }
#endif
    if (hearers->all != end) {
        tell(judge, hearers->all, end, entry);
    }
}

static uint32_t lowest_kind(uint64_t kinds)
{
    return highest_bit(kinds & (~kinds + 1));
}

/* Hearers of a kind, of all its entries or of the unusual ones. */
struct hearer_counts {
    uint16_t of[JOURNAL_KIND_COUNT][2];
};

static bool wants_unusual(const struct oracle_type *type, uint32_t kind)
{
    return (type->kinds_unusual >> kind & 1) != 0;
}

static uint32_t count_hearers(const struct judge *judge, struct hearer_counts *counts)
{
    uint32_t count = 0;
    for (uint32_t oracle = 0; oracle < judge->oracle_count; oracle++) {
        const struct oracle_type *type = judge->types[oracle];
        CHECK(type->kinds == 0 || type->on_entry != NULL);
        CHECK((type->kinds_unusual & ~type->kinds) == 0);
        for (uint64_t left = type->kinds; left != 0; left &= left - 1) {
            const uint32_t kind = lowest_kind(left);
            counts->of[kind][wants_unusual(type, kind)]++;
            count++;
        }
    }
    return count;
}

/* List the oracles under each kind that they want: count them, then put each in its place. */
static void list_hearers(struct judge *judge)
{
    struct hearer_counts counts = {0};
    struct judge_hearer *next[JOURNAL_KIND_COUNT][2];
    const uint32_t count = count_hearers(judge, &counts);
    struct judge_hearer *place = arena_take(judge->arena, count * sizeof(*place));
    for (uint32_t kind = 0; kind < JOURNAL_KIND_COUNT; kind++) {
        next[kind][false] = place;
        next[kind][true] = place + counts.of[kind][false];
        place = next[kind][true] + counts.of[kind][true];
        judge->hearers[kind] = (struct judge_hearers){next[kind][false], next[kind][true], place};
    }
    for (uint32_t oracle = 0; oracle < judge->oracle_count; oracle++) {
        const struct oracle_type *type = judge->types[oracle];
        for (uint64_t left = type->kinds; left != 0; left &= left - 1) {
            const uint32_t kind = lowest_kind(left);
            *next[kind][wants_unusual(type, kind)]++ =
                (struct judge_hearer){type->on_entry, judge->states[oracle], narrow_u8(oracle)};
        }
    }
}

void judge_init(struct judge *judge,
                struct world *world,
                const struct source_log *log,
                const struct store *store,
                const struct judge_facts *facts,
                const struct oracle_type *const *types,
                uint32_t type_count)
{
    CHECK(type_count <= ORACLE_MAX);
    memset(judge, 0, offsetof(struct judge, findings));
    judge->world = world;
    judge->arena = world->arena;
    judge->log = log;
    judge->store = store;
    judge->facts = facts;
    judge->oracle_count = type_count;
    judge->ledger = arena_take(world->arena, sizeof(*judge->ledger));
    ledger_init(judge->ledger, world->arena, log, store, facts);
    for (uint32_t oracle = 0; oracle < type_count; oracle++) {
        const struct oracle_type *type = types[oracle];
        judge->types[oracle] = type;
        judge->findings[oracle] = (struct finding){0};
        judge->current = narrow_u8(oracle);
        if (type->state_size > 0) {
            judge->states[oracle] = arena_take_zeroed(world->arena, type->state_size);
        }
        if (type->init != NULL) {
            type->init(judge->states[oracle], judge);
        }
    }
    list_hearers(judge);
    journal_listen(world->journal, judge, judge_entry);
}

void judge_heal(struct judge *judge)
{
    judge->healed = true;
    judge->healed_at = world_now(judge->world);
    for (uint32_t oracle = 0; oracle < judge->oracle_count; oracle++) {
        judge->current = narrow_u8(oracle);
        if (judge->types[oracle]->at_heal != NULL) {
            judge->types[oracle]->at_heal(judge->states[oracle], judge);
        }
    }
}

/* What the marks of oracles stand for. */
static void mark(struct judge *judge)
{
    struct world *world = judge->world;
    const uint32_t saw = judge->ledger->saw;
    SOMETIMES(world, JUDGE_RECORD_COVERED, (saw & SAW_COVERED) != 0);
    SOMETIMES(world, JUDGE_RESTORE, (saw & SAW_RESTORE) != 0);
    SOMETIMES(world, JUDGE_ROLLED_BACK, (saw & SAW_ROLLED_BACK) != 0);
    SOMETIMES(world, JUDGE_ENVELOPE_RESTORED, (saw & SAW_ENVELOPE_RESTORED) != 0);
    SOMETIMES(world, JUDGE_RECORD_FAILED, (saw & SAW_FAILED_RECORD) != 0);
    SOMETIMES(world, JUDGE_DEAD_LETTER, (saw & SAW_DEAD_LETTER) != 0);
    SOMETIMES(world, JUDGE_EFFECT, (saw & SAW_EFFECT) != 0);
    SOMETIMES(world, JUDGE_ENVELOPE_SENT, (saw & SAW_SENT_ENVELOPE) != 0);
    SOMETIMES(world, JUDGE_BARRIER, (saw & SAW_BARRIER) != 0);
    SOMETIMES(world, JUDGE_HEAL, (saw & SAW_HEAL) != 0);
    SOMETIMES(world, JUDGE_IN_FLIGHT, (saw & SAW_IN_FLIGHT) != 0);
    SOMETIMES(world, JUDGE_IN_FLIGHT_RESTORED, (saw & SAW_IN_FLIGHT_RESTORED) != 0);
}

void judge_end(struct judge *judge, enum run_end end)
{
    CHECK(end != RUN_END_NONE);
    CHECK(judge->end == RUN_END_NONE);
    judge->end = (uint8_t)end;
    judge->ended_at = world_now(judge->world);
    mark(judge);
    if (end != RUN_END_LIMIT) {
        ledger_settle(judge->ledger, end == RUN_END_COMPLETE);
    }
    for (uint32_t oracle = 0; oracle < judge->oracle_count; oracle++) {
        judge->current = narrow_u8(oracle);
        if (end == RUN_END_LIMIT) {
            judge_inconclusive(judge, POSITION_END, "the run hit a limit before its end");
        } else if (judge->types[oracle]->at_end != NULL) {
            judge->types[oracle]->at_end(judge->states[oracle], judge);
        }
    }
}

static uint32_t place_of(const struct judge *judge, uint32_t position)
{
    const uint32_t count = judge->world->journal->count;
    return position != POSITION_END ? position : count == 0 ? 0 : count - 1;
}

/* Write the text, cut to the finding's space. */
PRINTF_LIKE(2, 0)
static void write_message(struct finding *finding, const char *format, va_list arguments)
{
    const int size = vsnprintf(finding->message, sizeof(finding->message), format, arguments);
    CHECK(size >= 0);
}

void judge_violation(struct judge *judge,
                     uint32_t position,
                     enum subject_kind subject_kind,
                     uint64_t subject,
                     const char *format,
                     ...)
{
    struct finding *finding = &judge->findings[judge->current];
    if (finding->verdict == VERDICT_VIOLATION) {
        return;
    }
    *finding = (struct finding){
        .verdict = VERDICT_VIOLATION,
        .position = place_of(judge, position),
        .subject = subject,
        .subject_kind = (uint8_t)subject_kind,
    };
    va_list arguments;
    va_start(arguments, format);
    write_message(finding, format, arguments);
    va_end(arguments);
}

void judge_inconclusive(struct judge *judge, uint32_t position, const char *format, ...)
{
    struct finding *finding = &judge->findings[judge->current];
    if (finding->verdict != VERDICT_OK) {
        return;
    }
    *finding =
        (struct finding){.verdict = VERDICT_INCONCLUSIVE, .position = place_of(judge, position)};
    va_list arguments;
    va_start(arguments, format);
    write_message(finding, format, arguments);
    va_end(arguments);
}

uint64_t judge_digest(const struct judge *judge)
{
    uint64_t digest = digest_fold(0, judge->end);
    for (uint32_t oracle = 0; oracle < judge->oracle_count; oracle++) {
        const struct finding *finding = &judge->findings[oracle];
        digest = digest_fold(digest, finding->verdict);
        digest = digest_fold(digest, finding->position);
        digest = digest_fold(digest, finding->subject);
        if (judge->types[oracle]->digest != NULL) {
            digest = digest_fold(digest, judge->types[oracle]->digest(judge->states[oracle]));
        }
    }
    return digest;
}
