/* scope: nothing is created, changed or removed that the configuration forbids.
 *
 * Judged at every entry that tells that a request made or changed what holds data as a whole (a table, a
 * queue, a topic), at the target service: the sink's options must allow that. Rows, tasks and messages are
 * not what this is about.
 *
 * Claims: BQ-AL-1 beside it. Mutants that must trip it: a table that is created under "create never"
 * (m-al-09, m-fl-41), columns that are added without leave (m-fl-42).
 * Not to be flagged: what others than the sink's halves do; requests that were refused; a table that is
 * there already and stays as it is. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    const struct ledger_request *request = ledger_request(judge->ledger, entry->request);
    if (entry->service != judge->facts->target_service || request == NULL ||
        !ledger_is_sink_lane(request->lane) || (judge->facts->forbidden >> entry->code & 1) == 0) {
        return;
    }
    judge_violation(judge,
                    position,
                    SUBJECT_LANE,
                    request->lane,
                    "request %" PRIu32 " has resource %" PRIu32
                    " %s, which the configuration forbids",
                    entry->request,
                    entry->resource,
                    configured_name(entry->code));
}

static const char *const mutants[] = {"m-al-09", "m-fl-41", "m-fl-42", NULL};
static const uint16_t marks[] = {MARK_NONE};

const struct oracle_type oracle_scope = {
    .name = "scope",
    .sentence = "the sink creates, changes and removes nothing that its configuration forbids",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(WORLD_CONFIGURED),
    .on_entry = on_entry,
};
