/* deadline-respected: an envelope is not sent at or after its deadline, by any clock.
 *
 * Judged at every request of an envelope, for sinks that must stop at an expired one:
 *   - at the check: the sender's wall clock is below the deadline that was persisted at staging;
 *   - by the true clock: below staging + recovery window + declared clock allowance, which is origin +
 *     retention - request timeout. It holds for the check; an injected pause between check and wire
 *     may add at most the request timeout, and so may the request's own deadline: beyond that an
 *     effect could land after the name's retention.
 * Staging and sending are read off the journal's clock, so a refreshed origin does not help.
 *
 * Claims: CT-EO-3 (O13). Mutants that must trip it: a deadline from the restore's time or looser
 * options (m-cs-04), checked once per commit (m-cs-06), a request deadline that starts at dispatch
 * (m-cs-07).
 * Not to be flagged: a request that its client drops before it leaves, since its absolute deadline
 * passed during a pause; clock errors within the allowance; sinks whose policy says to send anyway. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static void report(struct judge *judge,
                   uint32_t position,
                   const struct ledger_envelope *envelope,
                   const char *what,
                   nanos seen,
                   nanos allowed)
{
    judge_violation(judge,
                    position,
                    SUBJECT_IDENTITY,
                    envelope->identity,
                    "record %" PRIu32 ": %s %" PRIu64 " ns, allowed below %" PRIu64 " ns",
                    envelope->record,
                    what,
                    seen,
                    allowed);
}

/* By the true clock, from the staging on. */
static void judge_true_time(struct judge *judge,
                            const struct journal_entry *entry,
                            uint32_t position,
                            const struct ledger_envelope *envelope)
{
    const struct judge_facts *facts = judge->facts;
    const nanos checked = nanos_sub(entry->time, envelope->staged_at);
    const nanos checked_max = nanos_add(facts->recovery_window, facts->clock_allowance);
    const nanos landed_max = nanos_add(checked_max, facts->request_timeout);
    const struct ledger_request *request = ledger_request(judge->ledger, entry->request);
    CHECK(request != NULL);
    const nanos leaves_at = request->leaves_at;
    const bool leaves = entry->a == 0 || leaves_at < entry->a;
    if (checked >= checked_max) {
        report(judge, position, envelope, "sent at a true age of", checked, checked_max);
    } else if (leaves && nanos_sub(leaves_at, envelope->staged_at) >= landed_max) {
        report(judge,
               position,
               envelope,
               "leaves at a true age of",
               nanos_sub(leaves_at, envelope->staged_at),
               landed_max);
    } else if (leaves && facts->request_timeout > 0 && entry->a != 0 && entry->a != TIME_NEVER &&
               nanos_sub(entry->a, envelope->staged_at) >= landed_max) {
        report(judge,
               position,
               envelope,
               "its request may land at a true age of",
               nanos_sub(entry->a, envelope->staged_at),
               landed_max);
    }
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    const struct ledger_envelope *envelope = judge->ledger->envelope_or_null;
    if (!judge->facts->expiry_fails || envelope == NULL ||
        judge->ledger->identity_or_null->shared) {
        return;
    }
    if (entry->b >= envelope->deadline) {
        report(judge,
               position,
               envelope,
               "sent at the sender's wall clock",
               entry->b,
               envelope->deadline);
    } else if (judge->facts->recovery_window > 0) {
        judge_true_time(judge, entry, position, envelope);
    }
}

static const char *const mutants[] = {"m-cs-04", "m-cs-06", "m-cs-07", NULL};
static const uint16_t marks[] = {MARK_JUDGE_ENVELOPE_SENT, MARK_NONE};

const struct oracle_type oracle_deadline_respected = {
    .name = "deadline-respected",
    .sentence =
        "an envelope is not sent at or after its deadline, by the sender's clock or the true one",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(WIRE_ISSUED),
    .on_entry = on_entry,
};
