/* latest-per-key: each key ends as the last of its records left it.
 *
 * For services that keep one value for a key, which records replace and remove: "effectively-once (final)".
 * Judged at the end of a run whose work is all done. The last record of a key is the last by position in
 * its split that was neither skipped nor handed to the failure policy; what a row was before an update is
 * no change of its own. Where that record is a deletion, nothing may be there under the key, and else
 * nothing but its value. A key in several splits has no last record, and is not judged.
 *
 * Claims: BQ-CDC-1, BQ-CDC-2, BQ-CDC-3. Mutants that must trip it: changes without their order (m-cd-02),
 * numbers that are compared as texts (m-cd-22).
 * Not to be flagged: older values on the way; a value that is written again; records without a key. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"
#include "sim/oracle_table.h"
#include "sinks/base/digest.h"

#include <inttypes.h>

struct key_state {
    record_id shown; /* whose value is there; 0: nothing is */
    record_id last;
    bool is_split; /* its records are in several splits */
};

struct latest_per_key {
    struct oracle_table keys;      /* struct key_state by digest of the key */
    struct oracle_table resources; /* uint64_t, that digest by resource */
};

static struct key_state *
state_of(struct latest_per_key *latest, struct judge *judge, struct bytes key)
{
    return oracle_table_at(
        &latest->keys, judge->arena, digest_bytes(key), sizeof(struct key_state));
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)position;
    struct latest_per_key *latest = state;
    if (entry->service != judge->facts->target_service) {
        return;
    }
    if (entry->kind == WORLD_REMOVED || entry->kind == WORLD_EXPIRED) {
        const uint64_t *key = oracle_table_find(&latest->resources, entry->resource);
        struct key_state *held = key == NULL ? NULL : oracle_table_find(&latest->keys, *key);
        if (held != NULL) {
            held->shown = 0;
        }
        return;
    }
    if (entry->record == 0) {
        return;
    }
    const struct bytes key = judge->log->records[entry->record - 1].record.key;
    if (key.size > 0) {
        uint64_t *of_resource = oracle_table_at(
            &latest->resources, judge->arena, entry->resource, sizeof(*of_resource));
        *of_resource = digest_bytes(key);
        state_of(latest, judge, key)->shown = entry->record;
    }
}

/* Whether a record says what its key is to be. */
static bool counts(const struct judge *judge, uint32_t index)
{
    const struct sink_record *record = &judge->log->records[index].record;
    const uint8_t outcome = judge->ledger->records[index].outcome;
    return record->key.size > 0 && record->change != SINK_UPDATE_BEFORE &&
           outcome != OUTCOME_SKIPPED && outcome != OUTCOME_FAILED && outcome != OUTCOME_DROPPED;
}

static void find_last(struct latest_per_key *latest, struct judge *judge)
{
    for (uint32_t i = 0; i < judge->log->record_count; i++) {
        if (!counts(judge, i)) {
            continue;
        }
        const struct sink_record *record = &judge->log->records[i].record;
        struct key_state *key = state_of(latest, judge, record->key);
        key->is_split =
            key->is_split ||
            (key->last != 0 && judge->log->records[key->last - 1].record.split != record->split);
        key->last = i + 1;
    }
}

static bool is_as_left(const struct judge *judge, const struct key_state *key)
{
    const struct ledger *ledger = judge->ledger;
    if (judge->log->records[key->last - 1].record.change == SINK_DELETE) {
        return key->shown == 0;
    }
    return key->shown != 0 &&
           ledger_record(ledger, key->shown)->kin == ledger_record(ledger, key->last)->kin;
}

static void at_end(void *state, struct judge *judge)
{
    struct latest_per_key *latest = state;
    if (judge->end != RUN_END_COMPLETE) {
        return;
    }
    find_last(latest, judge);
    for (uint32_t i = 0; i < judge->log->record_count; i++) {
        if (!counts(judge, i)) {
            continue;
        }
        const struct key_state *key = state_of(latest, judge, judge->log->records[i].record.key);
        if (key->last == i + 1 && !key->is_split && !is_as_left(judge, key)) {
            judge_violation(judge,
                            POSITION_END,
                            SUBJECT_RECORD,
                            key->last,
                            "record %" PRIu32 " is the last of its key, and record %" PRIu32
                            " is there (0: none)",
                            key->last,
                            key->shown);
            return;
        }
    }
}

static const char *const mutants[] = {"m-cd-02", "m-cd-22", NULL};
static const uint16_t marks[] = {MARK_JUDGE_EFFECT, MARK_NONE};

const struct oracle_type oracle_latest_per_key = {
    .name = "latest-per-key",
    .sentence = "each key ends as the last of its records left it",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(WORLD_CREATED) | KIND(WORLD_REPLACED) | KIND(WORLD_REMOVED) | KIND(WORLD_EXPIRED),
    .state_size = sizeof(struct latest_per_key),
    .on_entry = on_entry,
    .at_end = at_end,
};
