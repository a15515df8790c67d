/* atomic-visibility: the parts of one commit become visible together.
 *
 * The parts are the records that one completed checkpoint covers newly, as far as they are owed: a
 * checkpoint that completes after a failed one commits the failed one's parts as its own. Together
 * means in one event of the world: between two events a reader may look, however close they are in
 * time. Judged at the first effect of each record for the judged reader class: if another part of the
 * same commit has been visible since an earlier event, a reader between the two saw half.
 *
 * Claims: CT-EO-16, BQ-EO-17, BQ-EO-18, TX-FS-2, TX-DB-4, EA-9. Mutants that must trip it: tasks that
 * are created at write, whatever commits them later (m-cs-01), which shows half of a commit early.
 * Not to be flagged: a commit of one record; a part that is seen again; parts of two commits.
 * Not judged: records that no checkpoint covers yet, which no-early-visibility judges. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"
#include "sim/oracle_table.h"

#include <inttypes.h>

/* Of one commit. */
struct commit {
    uint64_t first_event; /* in which its first part became visible, + 1; 0 none yet */
    record_id first;
};

struct atomic_visibility {
    struct oracle_table commits; /* by checkpoint */
};

/* Note that a part of a commit is visible since an event. */
static void note_part(struct atomic_visibility *atomic,
                      struct judge *judge,
                      uint32_t position,
                      record_id record,
                      uint64_t event)
{
    const uint32_t checkpoint = ledger_record(judge->ledger, record)->covered_by;
    struct commit *commit =
        oracle_table_at(&atomic->commits, judge->arena, checkpoint, sizeof(*commit));
    if (commit->first_event == 0) {
        *commit = (struct commit){.first_event = event, .first = record};
    } else if (commit->first_event != event) {
        judge_violation(judge,
                        position,
                        SUBJECT_CHECKPOINT,
                        checkpoint,
                        "of checkpoint %" PRIu32 ", record %" PRIu32
                        " was visible when record %" PRIu32 " was not yet",
                        checkpoint,
                        commit->first,
                        record);
    }
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    struct ledger *ledger = judge->ledger;
    if (!ledger->effect || ledger_record(ledger, entry->record)->covered_by == 0) {
        return;
    }
    const bool is_first = ledger_effects(ledger, entry->record) == 1;
    if (is_first) {
        note_part(state, judge, position, entry->record, judge->world->sched->stepped + 1);
    }
}

static const char *const mutants[] = {"m-cs-01", NULL};
static const uint16_t marks[] = {MARK_JUDGE_EFFECT, MARK_JUDGE_RECORD_COVERED, MARK_NONE};

const struct oracle_type oracle_atomic_visibility = {
    .name = "atomic-visibility",
    .sentence = "the parts of one commit become visible together",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(WORLD_CREATED) | KIND(WORLD_REPLACED) | KIND(WORLD_VISIBLE),
    .state_size = sizeof(struct atomic_visibility),
    .on_entry = on_entry,
};
