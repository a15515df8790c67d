/* at-least-once: recovery loses no covered record; it may apply one again.
 *
 * Judged at the end, for every record that a completed checkpoint ever covered, or that the log
 * holds if all work is done: it has a judged effect, or was skipped or dropped at its last hand-over.
 * A finalised envelope whose record never had an effect is a loss, however the run ended. A run that
 * stands in a declared terminal error has not finished recovering: see EXCUSE_DECLARED_STOP.
 *
 * Claims: CT-AL-1, CT-EO-1, CT-EO-5a, CT-EO-5b, CT-EO-12, EA-1. Mutants that must trip it: m-ct-01
 * after a crash, silent drops at commit (m-cs-08, m-cs-10, m-cs-11, m-cs-14, m-cs-29), m-ct-17.
 * Not to be flagged: a record that no checkpoint covers; one that was applied twice; one that was
 * dropped in the surviving timeline; a task that was created and has gone. */
#include "sim/oracle_excuse.h"
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

/* Leaving the collection without ever having had an effect is a silent drop. Where each record has one,
 * the envelopes need no walk. */
static void judge_finalised(struct judge *judge)
{
    const struct ledger *ledger = judge->ledger;
    if (ledger->without_effect == 0) {
        return;
    }
    for (uint32_t index = 0; index < ledger->envelope_count; index++) {
        const struct ledger_envelope *envelope = &ledger->envelopes[index];
        if (envelope->finalised && envelope->record != 0 &&
            ledger_effects(ledger, envelope->record) == 0) {
            judge_violation(judge,
                            envelope->position,
                            SUBJECT_RECORD,
                            envelope->record,
                            "the envelope of record %" PRIu32
                            " counts as committed and never had an effect",
                            envelope->record);
            return;
        }
    }
}

/* Without a checkpoint that covers it, a record is owed because all work is done. */
static void report_missing(struct judge *judge, record_id record)
{
    const uint32_t covered_by = ledger_record(judge->ledger, record)->covered_by;
    if (covered_by == 0) {
        judge_violation(judge,
                        POSITION_END,
                        SUBJECT_RECORD,
                        record,
                        "record %" PRIu32 " has no effect at the end, and all work is done",
                        record);
        return;
    }
    judge_violation(judge,
                    POSITION_END,
                    SUBJECT_RECORD,
                    record,
                    "record %" PRIu32 " is covered by checkpoint %" PRIu32
                    " and has no effect at the end",
                    record,
                    covered_by);
}

static void at_end(void *state, struct judge *judge)
{
    (void)state;
    const struct ledger *ledger = judge->ledger;
    judge_finalised(judge);
    for (uint32_t index = 0; index < ledger->missing_count; index++) {
        const record_id record = ledger->missing[index];
        const char *excuse = excuse_of_missing(judge, record);
        if (excuse != NULL) {
            judge_inconclusive(
                judge, POSITION_END, "record %" PRIu32 " has no effect: %s", record, excuse);
            continue;
        }
        report_missing(judge, record);
    }
}

static const char *const mutants[] = {
    "m-cs-08", "m-cs-10", "m-cs-11", "m-cs-14", "m-cs-29", "m-ct-01", "m-ct-17", NULL};
static const uint16_t marks[] = {MARK_JUDGE_RECORD_COVERED, MARK_JUDGE_RESTORE, MARK_NONE};

const struct oracle_type oracle_at_least_once = {
    .name = "at-least-once",
    .sentence = "recovery loses no covered record",
    .mutants = mutants,
    .marks = marks,
    .at_end = at_end,
};
