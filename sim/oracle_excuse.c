#include "sim/oracle_excuse.h"

#include "sim/oracle_ledger.h"

static bool is_granted(const struct judge *judge, enum excuse excuse)
{
    return (judge->facts->excuses & (uint32_t)excuse) != 0 && judge->facts->fault_free_bound > 0;
}

/* The sink had its chance: a stretch without faults that was long enough. */
static bool had_chance(const struct judge *judge, nanos from, nanos until)
{
    return ledger_calm(judge->ledger, from, until) >= judge->facts->fault_free_bound;
}

static bool window_lapsed(const struct judge *judge, const struct journal_entry *entry)
{
    const struct ledger *ledger = judge->ledger;
    const nanos window = judge->facts->protection_window;
    if (!is_granted(judge, EXCUSE_WINDOW_LAPSED) || window == 0 || !ledger->absent) {
        return false;
    }
    if (judge->facts->staged && judge->facts->expiry_fails) {
        return false;
    }
    const nanos since = ledger->absent_since;
    return nanos_sub(entry->time, since) >= window &&
           ledger_down(ledger, since, entry->time) >= window &&
           !had_chance(
               judge, ledger_record(ledger, entry->record)->handed_at, nanos_add(since, window));
}

static bool is_late(const struct judge *judge, const struct journal_entry *entry)
{
    const struct ledger *ledger = judge->ledger;
    const struct ledger_request *request = ledger_request(ledger, entry->request);
    if (!is_granted(judge, EXCUSE_LATE_EFFECT) || judge->facts->late_effect_max == 0 ||
        request == NULL) {
        return false;
    }
    return nanos_sub(entry->time, request->leaves_at) > judge->facts->late_effect_max &&
           ledger_is_delayed(ledger, entry->request) &&
           !had_chance(judge, ledger_record(ledger, entry->record)->handed_at, request->leaves_at);
}

const char *excuse_of_duplicate(const struct judge *judge, const struct journal_entry *entry)
{
    if (window_lapsed(judge, entry)) {
        return "its name was released during injected downtime of at least the window";
    }
    if (is_late(judge, entry)) {
        return "it was made by a request that took effect later than the bound";
    }
    return NULL;
}

/* An injected fault reaches into [from, until). */
static bool was_disturbed(const struct ledger *ledger, nanos from, nanos until)
{
    for (uint32_t index = 0; index < ledger->fault_count; index++) {
        const struct ledger_fault *fault = &ledger->faults[index];
        if (fault->from < until && (fault->from >= from || fault->until > from)) {
            return true;
        }
    }
    return false;
}

const char *excuse_of_missing(const struct judge *judge, record_id record)
{
    const struct ledger *ledger = judge->ledger;
    const struct judge_facts *facts = judge->facts;
    if (!is_granted(judge, EXCUSE_DECLARED_STOP) || judge->end != RUN_END_FAILED ||
        !ledger->failed || (facts->stop_reasons >> ledger->failed_reason & 1) == 0) {
        return NULL;
    }
    const struct ledger_envelope *envelope = ledger_envelope(ledger, record);
    if (envelope == NULL || envelope->finalised || envelope->collected == 0) {
        return NULL;
    }
    const nanos from = envelope->staged_at;
    if (ledger->failed_reason != SINK_REASON_EXPIRED) {
        const bool excused = was_disturbed(ledger, from, ledger->failed_at) &&
                             !had_chance(judge, from, ledger->failed_at);
        return excused ? "the job stands in a declared error after an injected fault" : NULL;
    }
    const nanos window = facts->recovery_window;
    const bool excused = window > 0 && ledger_down(ledger, from, ledger->failed_at) >= window &&
                         !had_chance(judge, from, nanos_add(from, window));
    return excused ? "it expired during injected downtime of at least the window" : NULL;
}
