/* bounded-concurrency: at no time has a half more unanswered requests than its configured cap.
 *
 * Judged at every request of the sink's halves, per half and attempt. What is parked without a request
 * in flight does not show here until it is sent again, at once with others.
 *
 * Claims: O8. Mutants that must trip it: parked retries that do not count (m-ct-09).
 * Not to be flagged: exactly the cap; requests of a lost attempt beside those of its successor;
 * requests of the failure policy, which has a cap of its own; a cancelled or expired request. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    const uint32_t cap = judge->facts->concurrency_max;
    if (cap == 0 || !ledger_is_sink_lane(entry->lane)) {
        return;
    }
    const struct ledger_lane *sender = ledger_lane(judge->ledger, entry->lane);
    if (sender->attempt == entry->attempt && sender->open > cap) {
        judge_violation(judge,
                        position,
                        SUBJECT_LANE,
                        entry->lane,
                        "request %" PRIu32 " makes %" PRIu32
                        " unanswered ones, allowed are %" PRIu32,
                        entry->request,
                        sender->open,
                        cap);
    }
}

static const char *const mutants[] = {"m-ct-09", NULL};
static const uint16_t marks[] = {MARK_NONE};

const struct oracle_type oracle_bounded_concurrency = {
    .name = "bounded-concurrency",
    .sentence = "no half has more unanswered requests than its cap",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(WIRE_ISSUED),
    .kinds_unusual = KIND(WIRE_ISSUED),
    .on_entry = on_entry,
};
