/* accounting: written = stored + dead-lettered + skipped, record by record.
 *
 * Judged at every report of a writer: a record that was handed over has one outcome per attempt:
 * accepted, skipped, or failed and then dropped; an eager sink may fail what it accepted. What the
 * workload says of a record (its traits) decides whether skipping and failing is right: only those
 * that the serializer gives nothing for are skipped, and only failures of content reach the policy,
 * never an outage, a permission or an ambiguous error. Judged at every completed checkpoint: no
 * covered record is without an outcome. Judged at the end of finished work: nothing is both skipped
 * and stored.
 *
 * Claims: EA-3, EA-4, EA-5. Mutants that must trip it: a transient error that is taken for one of
 * content (m-ct-06, m-ct-08), a skipped record that is counted (m-ct-18).
 * Not to be flagged: a record that is handed over again by a later attempt, with another outcome; what
 * a replaced attempt still reports; a dropped record that had been stored by an ambiguous request. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static const char *sentence_of(enum ledger_misreport misreport)
{
    switch (misreport) {
    case MISREPORT_HANDED_TWICE:
        return "is handed over twice in one attempt";
    case MISREPORT_NOT_HANDED:
        return "gets an outcome and was not handed over in this attempt";
    case MISREPORT_SECOND_OUTCOME:
        return "gets a second outcome";
    case MISREPORT_DROPPED_UNFAILED:
        return "is dropped and did not fail";
    case MISREPORT_NONE:
        break;
    }
    UNREACHABLE();
}

/* The traits of which a failure for this reason needs one; 0: never one of content. */
static uint8_t traits_for(uint8_t reason, uint16_t attempt)
{
    if (reason == SINK_REASON_SERIALIZER) {
        return attempt > 1 ? RECORD_POISON_SERIALIZER | RECORD_POISON_AGAIN
                           : RECORD_POISON_SERIALIZER;
    }
    if (reason == SINK_REASON_EXTRACTOR) {
        return RECORD_POISON_EXTRACTOR;
    }
    return reason == SINK_REASON_REJECTED ? RECORD_POISON_SERVICE : 0;
}

/* What is wrong with the report, by the record's traits; NULL nothing. */
static const char *fault_of(const struct journal_entry *entry, uint8_t traits)
{
    if (entry->kind == HOST_RECORD_FAILED &&
        (traits & traits_for(entry->code, entry->attempt)) == 0) {
        return "reaches the failure policy and its content is sound";
    }
    if (entry->kind == HOST_SKIPPED && (traits & RECORD_SKIPPED) == 0) {
        return "is skipped and the serializer gives a value for it";
    }
    if (entry->kind == HOST_ACCEPTED && (traits & RECORD_SKIPPED) != 0) {
        return "is accepted and the serializer gives nothing for it";
    }
    return NULL;
}

static void report(struct judge *judge, uint32_t position, record_id record, const char *what)
{
    judge_violation(judge, position, SUBJECT_RECORD, record, "record %" PRIu32 " %s", record, what);
}

static void on_completed(struct judge *judge, uint32_t position)
{
    const struct ledger *ledger = judge->ledger;
    for (uint32_t index = 0; index < ledger->batch_count; index++) {
        const record_id record = ledger->batch[index];
        const uint8_t outcome = ledger_record(ledger, record)->outcome;
        if (outcome == OUTCOME_NONE) {
            report(judge, position, record, "is covered and no writer ever had it");
        } else if (outcome == OUTCOME_HANDED || outcome == OUTCOME_FAILED) {
            report(judge, position, record, "is covered and has no outcome yet");
        }
    }
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    const struct ledger *ledger = judge->ledger;
    if (entry->kind == HOST_CHECKPOINT_COMPLETED) {
        on_completed(judge, position);
        return;
    }
    if (!ledger_is_current(ledger, entry)) {
        return;
    }
    const char *fault = fault_of(entry, judge->log->records[entry->record - 1].traits);
    if (ledger->misreport != MISREPORT_NONE) {
        fault = sentence_of((enum ledger_misreport)ledger->misreport);
    }
    if (fault != NULL) {
        report(judge, position, entry->record, fault);
    }
}

static void at_end(void *state, struct judge *judge)
{
    (void)state;
    const struct ledger *ledger = judge->ledger;
    if (judge->end != RUN_END_COMPLETE || judge->log->equal_payloads || ledger->skipped == 0) {
        return;
    }
    for (record_id record = 1; record <= judge->log->record_count; record++) {
        const struct ledger_record *item = ledger_record(ledger, record);
        if (item->outcome == OUTCOME_SKIPPED && item->stored > 0) {
            report(judge, item->effect_position, record, "is both skipped and stored");
            return;
        }
    }
}

static const char *const mutants[] = {"m-ct-06", "m-ct-08", "m-ct-18", NULL};
static const uint16_t marks[] = {MARK_JUDGE_RECORD_COVERED, MARK_NONE};

const struct oracle_type oracle_accounting = {
    .name = "accounting",
    .sentence = "written = stored + dead-lettered + skipped, record by record",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(HOST_RECORD) | KIND(HOST_ACCEPTED) | KIND(HOST_SKIPPED) |
             KIND(HOST_RECORD_FAILED) | KIND(HOST_DROPPED) | KIND(HOST_CHECKPOINT_COMPLETED),
    .kinds_unusual = KIND(HOST_RECORD) | KIND(HOST_ACCEPTED),
    .on_entry = on_entry,
    .at_end = at_end,
};
