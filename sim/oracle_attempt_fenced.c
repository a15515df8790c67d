/* attempt-fenced: no half sends after its close or its end, and where the sink declares a fencing
 * token, no request of an older attempt takes effect after one of a newer attempt.
 *
 *   half     | sends       | CLOSE    | CLOSED | crashed
 *   ---------+-------------+----------+--------+--------
 *   running  | fine        | closing  | ended  | ended
 *   closing  | violation   | -        | ended  | ended
 *   ended    | violation   | -        | -      | -
 *
 * The engine drops what a closing half sends and says so; that counts as sent. Effects are judged at
 * the target service, by the attempt that sent their request.
 *
 * Claims: BQ-EO-10, TX-2PC-7, CT-EO-1 (O24). Mutants that must trip it: sends after close (m-cs-17).
 * Not to be flagged: a replaced attempt that still runs and was not told to close; what it sent before
 * its close and lands later, unless a token fences it; cancels. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

struct attempt_fenced {
    uint16_t newest[LEDGER_LANES]; /* attempt of an effect, per region */
    uint16_t newest_started;       /* attempt of the whole job that an effect is not older than */
};

static void judge_effect(struct attempt_fenced *fenced,
                         struct judge *judge,
                         const struct journal_entry *entry,
                         uint32_t position)
{
    const struct ledger_request *request = ledger_request(judge->ledger, entry->request);
    if (!judge->facts->fencing_token || request == NULL ||
        entry->service != judge->facts->target_service || !ledger_is_sink_lane(request->lane)) {
        return;
    }
    const uint32_t subtask = lane_index_of(request->lane);
    CHECK(subtask < LEDGER_LANES);
    const uint16_t newest = fenced->newest[subtask] > fenced->newest_started
                                ? fenced->newest[subtask]
                                : fenced->newest_started;
    if (request->attempt < newest) {
        judge_violation(judge,
                        position,
                        SUBJECT_LANE,
                        request->lane,
                        "request %" PRIu32 " of attempt %u has an effect after one of attempt %u",
                        entry->request,
                        (unsigned)request->attempt,
                        (unsigned)newest);
        return;
    }
    fenced->newest[subtask] = request->attempt;
    if (request->attempt >= judge->ledger->started) {
        fenced->newest_started = judge->ledger->started;
    }
}

static void report_send(struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    judge_violation(judge,
                    position,
                    SUBJECT_LANE,
                    entry->lane,
                    "attempt %u sends after its close",
                    (unsigned)entry->attempt);
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    struct attempt_fenced *fenced = state;
    if (entry->kind == WORLD_CREATED || entry->kind == WORLD_REPLACED) {
        judge_effect(fenced, judge, entry, position);
        return;
    }
    if (entry->kind == HOST_CONTRACT) {
        if (entry->code == CONTRACT_SEND_AFTER_CLOSE || entry->code == CONTRACT_SEND_AFTER_CLOSED) {
            report_send(judge, entry, position);
        }
        return;
    }
    if (ledger_has_ended(ledger_lane(judge->ledger, entry->lane), entry->attempt)) {
        report_send(judge, entry, position);
    }
}

static const char *const mutants[] = {"m-cs-17", NULL};
static const uint16_t marks[] = {MARK_NONE};

const struct oracle_type oracle_attempt_fenced = {
    .name = "attempt-fenced",
    .sentence = "no half sends after its close, and no older attempt passes a fencing token",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(HOST_CONTRACT) | KIND(WIRE_ISSUED) | KIND(WORLD_CREATED) | KIND(WORLD_REPLACED),
    .kinds_unusual = KIND(WIRE_ISSUED) | KIND(WORLD_CREATED) | KIND(WORLD_REPLACED),
    .state_size = sizeof(struct attempt_fenced),
    .on_entry = on_entry,
};
