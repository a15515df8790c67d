/* handle-safe: no call of the sink's ends or deletes what a restart may still ask for.
 *
 * What a model says is removed is a handle where an envelope or a piece of writer state has its name in it,
 * as a word of its own. It must not be removed by a request of the sink's while one of these names it:
 *
 *   held by                                                   until
 *   a checkpoint or savepoint that a restart may bring back   it is no longer retained
 *   an envelope of any other checkpoint                       it is finalised
 *
 * A committer may dispose of what an envelope names that it was itself asked to commit: that is part of
 * the commit. Whether the same commit may then be asked for once more is for liveness to say.
 *
 * Claims: BQ-EO-4, BQ-EO-12 (TX-2PC-1). Mutants that must trip it: m-eo-01 to m-eo-04.
 * Not to be flagged: what the service or time removes; names that nobody holds any more; names of which
 * the held one is only a part.
 *
 * Cost: a removal walks the checkpoint store; no other entry costs anything. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

/* A removal that is being judged. */
struct removal {
    const struct judge *judge;
    const struct ledger_request *request;
    struct bytes name;
};

static bool is_of_a_name(uint8_t byte)
{
    const uint8_t lower = byte | 0x20;
    return (byte >= '0' && byte <= '9') || (lower >= 'a' && lower <= 'z') || byte == '-' ||
           byte == '_';
}

/* Whether the name is a word of the bytes: a longer name is another one. */
static bool has_name(struct bytes bytes, struct bytes name)
{
    for (size_t at = 0; at + name.size <= bytes.size; at++) {
        const size_t end = at + name.size;
        if (bytes_equal((struct bytes){bytes.data + at, name.size}, name) &&
            (at == 0 || !is_of_a_name(bytes.data[at - 1])) &&
            (end == bytes.size || !is_of_a_name(bytes.data[end]))) {
            return true;
        }
    }
    return false;
}

static bool may_come_back(const struct stored_checkpoint *stored)
{
    return stored->state == STORE_COMPLETED &&
           (stored->retained || stored->kind != STORE_CHECKPOINT);
}

static bool is_held(const struct removal *removal,
                    const struct stored_checkpoint *stored,
                    const struct stored_request *request)
{
    const struct ledger *ledger = removal->judge->ledger;
    const struct ledger_identity *identity = ledger_identity(ledger, request->identity);
    const struct ledger_envelope *envelope =
        identity == NULL || identity->latest == 0 ? NULL : &ledger->envelopes[identity->latest - 1];
    if (envelope != NULL && lane_kind_of(removal->request->lane) == LANE_COMMITTER &&
        ledger_is_granted(envelope, removal->request->attempt)) {
        return false;
    }
    return may_come_back(stored) || (envelope != NULL && envelope->place != PLACE_FINALISED &&
                                     ledger_is_live(ledger, envelope));
}

static bool is_named_by(const struct removal *removal, const struct stored_checkpoint *stored)
{
    for (uint32_t i = 0; i < stored->collection_count; i++) {
        const struct stored_collection *collection = &stored->collections[i];
        for (uint32_t k = 0; k < collection->request_count; k++) {
            const struct stored_request *request = collection->requests[k];
            if (is_held(removal, stored, request) &&
                has_name(request->request.data, removal->name)) {
                return true;
            }
        }
    }
    for (uint32_t i = 0; i < stored->piece_count && may_come_back(stored); i++) {
        if (has_name(stored->pieces[i].data, removal->name)) {
            return true;
        }
    }
    return false;
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    const struct ledger_request *request = ledger_request(judge->ledger, entry->request);
    if (request == NULL || !ledger_is_sink_lane(request->lane)) {
        return;
    }
    const struct removal removal = {
        judge, request, world_resource_name(judge->world, entry->resource)};
    const struct store *store = judge->store;
    for (uint32_t number = store->checkpoint_count; number > 0; number--) {
        const struct stored_checkpoint *stored = store_get(store, number);
        if (is_named_by(&removal, stored)) {
            judge_violation(judge,
                            position,
                            SUBJECT_EFFECT,
                            entry->resource,
                            "request %" PRIu32 " ends resource %" PRIu32
                            ", which checkpoint %" PRIu32 " names",
                            entry->request,
                            entry->resource,
                            number);
            return;
        }
    }
}

static const char *const mutants[] = {"m-eo-01", "m-eo-02", "m-eo-03", "m-eo-04", NULL};
static const uint16_t marks[] = {MARK_NONE};

const struct oracle_type oracle_handle_safe = {
    .name = "handle-safe",
    .sentence = "no call ends or deletes what a retained checkpoint or a pending envelope names",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(WORLD_REMOVED),
    .on_entry = on_entry,
};
