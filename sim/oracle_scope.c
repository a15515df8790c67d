/* scope: nothing is created, changed or removed that the configuration forbids.
 *
 * Judged at every entry that tells that a request made or changed what holds data as a whole (a table, a
 * queue, a topic), at the target service: the sink's options must allow that. Rows, tasks and messages are
 * not what this is about. Where such a thing is declared to be set to something, it must be set to that at
 * the time, and that must be what the options ask for: whatever it was set to when the sink looked.
 *
 * Claims: BQ-AL-1 beside it. Mutants that must trip it: a table that is created under "create never"
 * (m-al-09, m-fl-41), columns that are added without leave (m-fl-42); a table that others change between the
 * look at it and its label (m-cd-04); a staleness that the service did not keep (m-cd-05); a table of another's,
 * or one that is only to be looked at (m-cd-06).
 * Not to be flagged: what others than the sink's halves do; requests that were refused; a table that is
 * there already and stays as it is. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

/* Others rely on a declaration. */
static bool is_false(const struct judge_facts *facts, const struct journal_entry *entry)
{
    return entry->code == CONFIGURED_DECLARED && facts->declared != 0 &&
           entry->value != facts->declared;
}

static bool is_forbidden(const struct judge_facts *facts, const struct journal_entry *entry)
{
    return (facts->forbidden >> entry->code & 1) != 0;
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    const struct ledger_request *request = ledger_request(judge->ledger, entry->request);
    if (entry->service != judge->facts->target_service || request == NULL ||
        !ledger_is_sink_lane(request->lane)) {
        return;
    }
    if (is_forbidden(judge->facts, entry)) {
        judge_violation(judge,
                        position,
                        SUBJECT_LANE,
                        request->lane,
                        "request %" PRIu32 " has resource %" PRIu32
                        " %s, which the configuration forbids",
                        entry->request,
                        entry->resource,
                        configured_name(entry->code));
    } else if (is_false(judge->facts, entry)) {
        judge_violation(judge,
                        position,
                        SUBJECT_LANE,
                        request->lane,
                        "request %" PRIu32 " declares of resource %" PRIu32
                        " what it is not set to",
                        entry->request,
                        entry->resource);
    }
}

static const char *const mutants[] = {
    "m-al-09", "m-fl-41", "m-fl-42", "m-cd-04", "m-cd-05", "m-cd-06", NULL};
static const uint16_t marks[] = {MARK_NONE};

const struct oracle_type oracle_scope = {
    .name = "scope",
    .sentence = "the sink creates, changes and removes nothing that its configuration forbids, and "
                "declares nothing of it that is not so",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(WORLD_CONFIGURED),
    .on_entry = on_entry,
};
