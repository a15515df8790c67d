/* no-leak: what the sink makes beside its data is bounded: created = live + removed.
 *
 * What carries no record's content is a resource: a stream, a transaction, a table, a staged object.
 * Judged at the target service: a resource of the sink's requests that is created is not alive already,
 * one that is removed is alive, and at the end of finished work no more are alive than the mode states
 * (the live attempt's). Where a service offers no call that removes one, an attempt of a half makes no
 * more than the mode states: one where it has none, or instead of one that it abandons. Judged of memory: what a half took is given back when it has ended, which the
 * host says as it disposes of it.
 *
 * Claims: BQ-EO-12, TX-2PC-9, TX-2PC-9b. Mutants that must trip it: a record that is held and not given
 * back (m-ct-15); a stream for each checkpoint (m-eo-45).
 * Not to be flagged: resources that something outside the job makes; data that stays; what is alive in
 * a job that stands in a terminal error; the resource of a call whose answer never came, where another
 * one takes its place. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"
#include "sim/oracle_table.h"

#include <inttypes.h>

struct no_leak {
    struct oracle_table alive;   /* by resource: bool */
    struct oracle_table pending; /* by request that made one and has no answer: its resource */
    struct oracle_table made;    /* by half and attempt: resources it made and knows of */
    uint32_t live;
    uint32_t created;
};

/* Whether the entry is about a resource that the sink made. */
static bool is_own_resource(const struct judge *judge, const struct journal_entry *entry)
{
    const struct ledger_request *request = ledger_request(judge->ledger, entry->request);
    return entry->service == judge->facts->target_service && entry->record == 0 &&
           entry->value == 0 && request != NULL && ledger_is_sink_lane(request->lane);
}

static void report(struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    judge_violation(judge,
                    position,
                    SUBJECT_EFFECT,
                    entry->resource,
                    "resource %" PRIu32 " is created, and alive already",
                    entry->resource);
}

static bool is_judged_by_attempt(const struct judge *judge)
{
    return judge->facts->resources_made_max > 0;
}

static void
note_pending(struct no_leak *leak, const struct judge *judge, const struct journal_entry *entry)
{
    if (is_judged_by_attempt(judge)) {
        uint32_t *resource =
            oracle_table_at(&leak->pending, judge->arena, entry->request, sizeof(void *));
        *resource = entry->resource;
    }
}

/* A half hears that what it asked for is made. */
static void on_answer(struct no_leak *leak,
                      struct judge *judge,
                      const struct journal_entry *entry,
                      uint32_t position)
{
    const uint32_t *pending = oracle_table_find(&leak->pending, entry->request);
    if (pending == NULL || !ledger_is_success(entry)) {
        return;
    }
    const uint32_t resource = *pending;
    const struct ledger_request *request = ledger_request(judge->ledger, entry->request);
    CHECK(request != NULL);
    const uint64_t half = (uint64_t)request->attempt << 16 | request->lane;
    uint32_t *made = oracle_table_at(&leak->made, judge->arena, half, sizeof(*made));
    oracle_table_drop(&leak->pending, entry->request);
    (*made)++;
    if (*made > judge->facts->resources_made_max) {
        judge_violation(judge,
                        position,
                        SUBJECT_LANE,
                        request->lane,
                        "makes resource %" PRIu32 ", its %" PRIu32
                        ". in attempt %u, allowed are %" PRIu32,
                        resource,
                        *made,
                        (unsigned)request->attempt,
                        judge->facts->resources_made_max);
    }
}

static void on_world(struct no_leak *leak,
                     struct judge *judge,
                     const struct journal_entry *entry,
                     uint32_t position)
{
    if (entry->kind == WORLD_CREATED && is_own_resource(judge, entry)) {
        bool *alive = oracle_table_at(&leak->alive, judge->arena, entry->resource, sizeof(*alive));
        if (*alive) {
            report(judge, entry, position);
            return;
        }
        *alive = true;
        leak->live++;
        leak->created++;
        note_pending(leak, judge, entry);
    } else if (entry->kind != WORLD_CREATED) {
        bool *alive = oracle_table_find(&leak->alive, entry->resource);
        if (alive != NULL && *alive) {
            *alive = false;
            leak->live--;
        }
    }
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    if (entry->kind == WIRE_ANSWERED) {
        on_answer(state, judge, entry, position);
    } else if (entry->kind != HOST_CONTRACT) {
        on_world(state, judge, entry, position);
    } else if (entry->code == CONTRACT_LEAK) {
        judge_violation(judge,
                        position,
                        SUBJECT_LANE,
                        entry->lane,
                        "%" PRIu64 " bytes are not given back at the end of a half",
                        entry->a);
    }
}

static void at_end(void *state, struct judge *judge)
{
    const struct no_leak *leak = state;
    const uint32_t allowed = judge->facts->resources_live_max;
    if (judge->end == RUN_END_COMPLETE && leak->live > allowed && !is_judged_by_attempt(judge)) {
        judge_violation(judge,
                        POSITION_END,
                        SUBJECT_JOB,
                        0,
                        "%" PRIu32 " of %" PRIu32
                        " created resources are alive, allowed are %" PRIu32,
                        leak->live,
                        leak->created,
                        allowed);
    }
}

static const char *const mutants[] = {"m-ct-15", "m-eo-45", NULL};
static const uint16_t marks[] = {MARK_NONE};

const struct oracle_type oracle_no_leak = {
    .name = "no-leak",
    .sentence = "what is created beside the data is removed again, and memory is given back",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(HOST_CONTRACT) | KIND(WORLD_CREATED) | KIND(WORLD_REMOVED) | KIND(WORLD_EXPIRED) |
             KIND(WIRE_ANSWERED),
    .kinds_unusual = KIND(WORLD_CREATED),
    .state_size = sizeof(struct no_leak),
    .on_entry = on_entry,
    .at_end = at_end,
};
