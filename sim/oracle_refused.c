/* refused: the configuration or the restored state is rejected before the first data-plane request.
 *
 * For scenarios that must be refused. Judged at every request of the sink's halves to the services
 * that it calls: it only reads what the configuration is about (the methods of the target service that
 * the wiring names), and at every effect there: none is the sink's. Judged at the end: the job stands in a terminal error whose
 * reason the scenario declares. A sink that says no before the job starts has no run to judge; the
 * commands report that by themselves.
 *
 * Claims: CT-EO-7, ST-3, E2E-6, BQ-EO-19, TX-BR-12. Mutants that must trip it: an absent
 * retention that is taken for any (m-cs-25), a check that comes after the restored requests (m-cs-26),
 * a creation at write, before anything was checked (m-cs-01).
 * Not to be flagged: readings of the configuration, however often they are retried; restarts before
 * the job is given up; requests to other services. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static bool is_control(const struct judge *judge, const struct journal_entry *issued)
{
    return issued->service == judge->facts->target_service && issued->code < 64 &&
           (judge->facts->control_methods >> issued->code & 1) != 0;
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    if ((judge->facts->sink_services >> entry->service & 1) == 0) {
        return;
    }
    if (entry->kind == WIRE_ISSUED && ledger_is_sink_lane(entry->lane) &&
        !is_control(judge, entry)) {
        judge_violation(judge,
                        position,
                        SUBJECT_LANE,
                        entry->lane,
                        "request %" PRIu32 " leaves and the configuration is to be refused",
                        entry->request);
    }
    if (entry->kind != WIRE_ISSUED && entry->record != 0) {
        judge_violation(judge,
                        position,
                        SUBJECT_RECORD,
                        entry->record,
                        "record %" PRIu32 " has an effect and the configuration is to be refused",
                        entry->record);
    }
}

static void at_end(void *state, struct judge *judge)
{
    (void)state;
    const struct ledger *ledger = judge->ledger;
    const uint64_t reasons = judge->facts->stop_reasons;
    if (!ledger->failed || (reasons >> ledger->failed_reason & 1) == 0) {
        judge_violation(judge,
                        POSITION_END,
                        SUBJECT_JOB,
                        ledger->failed_reason,
                        "the job is %s, and was to be refused",
                        ledger->failed ? sink_reason_name(ledger->failed_reason) : "not failed");
    }
}

static const char *const mutants[] = {"m-cs-25", "m-cs-26", "m-cs-01", NULL};
static const uint16_t marks[] = {MARK_NONE};

const struct oracle_type oracle_refused = {
    .name = "refused",
    .sentence = "a configuration that must not run is rejected before the first data request",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(WIRE_ISSUED) | KIND(WORLD_CREATED) | KIND(WORLD_REPLACED),
    .wants_nothing = true,
    .on_entry = on_entry,
    .at_end = at_end,
};
