/* liveness: once faults stop, all work finishes, or one terminal error names why, within bounded time.
 *
 * Judged at the end: all work is done, or the job stands in an error whose reason the scenario
 * declares. Anything else is a violation that names what is unfinished; the run loop ends a run as
 * stuck when its bound has passed or nothing is left to happen. Judged after the heal: restarts that
 * the sink causes are at most as many as allowed, and no checkpoint times out that was triggered
 * after it (one from before may still suffer from the faults; a sink that hangs will hang again).
 * Judged before it: no checkpoint times out that had a fault-free bound without any fault; the restart
 * that follows would hide the hang.
 *
 * Claims: CT-AL-1, CT-EO-1, CT-EO-19, BQ-EO-1. Mutants that must trip it: an answer that restarts the
 * job for ever (m-ct-03, m-cs-13), one budget for two kinds of failure (m-ct-14), a wait behind the
 * barrier (m-cs-18), a poisoned envelope (m-cs-24), a commit that cannot be cancelled (m-cs-27).
 * Not to be flagged: restarts before the heal, and timeouts that faults came between; a crash that is
 * noticed after it; a rescale; a declared reason, however it came about. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

#define TRIGGERS 8 /* more than checkpoints can be under way at once; a power of two */

struct liveness {
    nanos triggered_at[TRIGGERS]; /* by checkpoint, modulo TRIGGERS */
    uint32_t triggered;           /* highest checkpoint at the heal */
    uint32_t restarts;            /* since the heal, caused by the sink */
    bool healed;
    bool stopped; /* by the sink, since the heal */
};

/* A region that stops is as good as started again. */
static void
on_started(struct liveness *liveness, struct judge *judge, bool by_sink, uint32_t position)
{
    liveness->restarts += by_sink ? 1u : 0u;
    if (liveness->restarts > judge->facts->restarts_after_heal) {
        judge_violation(judge,
                        position,
                        SUBJECT_JOB,
                        0,
                        "restart %" PRIu32 " after the heal, allowed are %" PRIu32,
                        liveness->restarts,
                        judge->facts->restarts_after_heal);
    }
}

/* A checkpoint from before the heal must have suffered from faults. */
static void on_timeout(const struct liveness *liveness,
                       struct judge *judge,
                       const struct journal_entry *entry,
                       uint32_t position)
{
    const nanos from = liveness->triggered_at[entry->checkpoint % TRIGGERS];
    const nanos bound = judge->facts->fault_free_bound;
    const bool is_late = liveness->healed && entry->checkpoint > liveness->triggered;
    const bool had_time =
        !liveness->healed && bound > 0 && ledger_calm(judge->ledger, from, entry->time) >= bound;
    if (is_late || had_time) {
        judge_violation(judge,
                        position,
                        SUBJECT_CHECKPOINT,
                        entry->checkpoint,
                        "checkpoint %" PRIu32 " timed out %s",
                        entry->checkpoint,
                        is_late ? "after the heal" : "though no fault came between");
    }
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    struct liveness *liveness = state;
    if (entry->kind == HOST_HEAL) {
        liveness->healed = true;
        liveness->triggered = judge->ledger->triggered;
    } else if (entry->kind == HOST_CHECKPOINT_TRIGGERED) {
        liveness->triggered_at[entry->checkpoint % TRIGGERS] = entry->time;
    } else if (entry->kind == HOST_CHECKPOINT_ABORTED) {
        if (entry->code == ABORT_CAUSE_TIMEOUT) {
            on_timeout(liveness, judge, entry, position);
        }
    } else if (!liveness->healed) {
        return;
    } else if (entry->kind == HOST_JOB_STOPPED) {
        liveness->stopped = entry->code == STOP_CAUSE_SINK || entry->code == STOP_CAUSE_CHECKPOINT;
    } else if (entry->kind == HOST_JOB_STARTED) {
        on_started(liveness, judge, liveness->stopped, position);
        liveness->stopped = false;
    } else {
        on_started(liveness, judge, entry->code == STOP_CAUSE_SINK, position);
    }
}

static void at_end(void *state, struct judge *judge)
{
    (void)state;
    const struct ledger *ledger = judge->ledger;
    if (judge->end == RUN_END_COMPLETE) {
        return;
    }
    if (judge->end == RUN_END_FAILED) {
        if (!ledger->failed || (judge->facts->stop_reasons >> ledger->failed_reason & 1) == 0) {
            judge_violation(judge,
                            POSITION_END,
                            SUBJECT_JOB,
                            ledger->failed_reason,
                            "the job stands in an undeclared error: %s",
                            sink_reason_name(ledger->failed_reason));
        }
        return;
    }
    judge_violation(judge,
                    POSITION_END,
                    SUBJECT_JOB,
                    0,
                    "stuck: %" PRIu32 " of %" PRIu32 " records covered, %" PRIu32
                    " envelopes held, %" PRIu32 " requests open",
                    ledger->covered_count,
                    judge->log->record_count,
                    ledger->held,
                    ledger->open);
}

static const char *const mutants[] = {
    "m-cs-13", "m-cs-18", "m-cs-24", "m-cs-27", "m-ct-03", "m-ct-14", NULL};
static const uint16_t marks[] = {MARK_JUDGE_HEAL, MARK_NONE};

const struct oracle_type oracle_liveness = {
    .name = "liveness",
    .sentence =
        "once faults stop, all work finishes or one declared error names why, in bounded time",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(HOST_HEAL) | KIND(HOST_JOB_STARTED) | KIND(HOST_JOB_STOPPED) |
             KIND(HOST_REGION_STOPPED) | KIND(HOST_CHECKPOINT_TRIGGERED) |
             KIND(HOST_CHECKPOINT_ABORTED),
    .state_size = sizeof(struct liveness),
    .on_entry = on_entry,
    .at_end = at_end,
};
