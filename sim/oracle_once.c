#include "sim/oracle_once.h"

#include "sim/oracle_excuse.h"
#include "sim/oracle_ledger.h"

#include <inttypes.h>

void once_judge_effect(struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    const struct ledger *ledger = judge->ledger;
    if (!ledger->effect) {
        return;
    }
    const uint32_t writes = ledger_writes(ledger, entry->record);
    const uint32_t members = ledger_kin(ledger, entry->record)->members;
    if (writes <= members) {
        return;
    }
    const char *excuse = excuse_of_duplicate(judge, entry);
    if (excuse != NULL) {
        judge_inconclusive(
            judge, position, "record %" PRIu32 " has a second effect: %s", entry->record, excuse);
        return;
    }
    judge_violation(judge,
                    position,
                    SUBJECT_RECORD,
                    entry->record,
                    "record %" PRIu32 " has %" PRIu32 " effects where %" PRIu32
                    " may be: the last one by attempt %u",
                    entry->record,
                    writes,
                    members,
                    (unsigned)entry->attempt);
}
