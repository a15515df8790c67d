#include "sim/fault.h"
#include "sim/oracle_ledger_internal.h"

/* --- faults ------------------------------------------------------------------------------------ */

void ledger_note_fault(struct ledger *ledger, const struct journal_entry *entry)
{
    if (ledger->fault_count == ledger->fault_capacity) {
        ledger->faults = ledger_grown(ledger,
                                      ledger->faults,
                                      ledger->fault_count,
                                      &ledger->fault_capacity,
                                      sizeof(ledger->faults[0]));
    }
    ledger->faults[ledger->fault_count] = (struct ledger_fault){
        .from = entry->time,
        .until = nanos_add(entry->time, entry->a),
        .request = entry->request,
        .kind = entry->code,
        .lane = entry->lane,
        .attempt = entry->attempt,
    };
    ledger->fault_count++;
    if (entry->code == FAULT_PAUSE) {
        struct ledger_lane *sender = ledger_lane(ledger, entry->lane);
        const nanos until = nanos_add(entry->time, entry->a);
        sender->paused_until = until > sender->paused_until ? until : sender->paused_until;
    }
}

/* A pause ends with its process: behind it nothing is held back, and nothing is excused. That of a process
 * which lives on beside its replacement outlasts the replacement's death. */
void ledger_note_crashed(struct ledger *ledger, const struct journal_entry *entry)
{
    struct ledger_lane *sender = ledger_lane(ledger, entry->lane);
    for (uint32_t index = 0; index < ledger->fault_count; index++) {
        struct ledger_fault *fault = &ledger->faults[index];
        const bool is_its = fault->kind == FAULT_PAUSE && fault->lane == entry->lane &&
                            fault->attempt == entry->attempt;
        if (is_its && fault->until > entry->time) {
            sender->paused_until = sender->paused_until == fault->until ? 0 : sender->paused_until;
            fault->until = entry->time;
        }
    }
}

/* A heal ends what was injected. */
void ledger_note_heal(struct ledger *ledger, nanos now)
{
    ledger->saw |= SAW_HEAL;
    if (ledger->fault_count == 0) {
        return;
    }
    for (uint32_t index = 0; index < ledger->fault_count; index++) {
        struct ledger_fault *fault = &ledger->faults[index];
        fault->until = fault->until > now ? now : fault->until;
    }
    for (uint32_t kind = 0; kind < LANE_KIND_COUNT; kind++) {
        for (uint32_t index = 0; index < LEDGER_LANES; index++) {
            ledger->lanes[kind][index].paused_until = 0;
        }
    }
}

static bool keeps_down(const struct ledger_fault *fault)
{
    return fault->kind == FAULT_CRASH || fault->kind == FAULT_ZOMBIE ||
           fault->kind == FAULT_PAUSE || fault->kind == FAULT_OUTAGE ||
           fault->kind == FAULT_RESTORE; /* stopped by an operator until it is resumed */
}

nanos ledger_down(const struct ledger *ledger, nanos from, nanos until)
{
    nanos sum = 0;
    nanos cursor = from;
    for (uint32_t index = 0; index < ledger->fault_count; index++) {
        const struct ledger_fault *fault = &ledger->faults[index];
        if (!keeps_down(fault)) {
            continue;
        }
        const nanos start = fault->from > cursor ? fault->from : cursor;
        const nanos end = fault->until < until ? fault->until : until;
        sum = nanos_add(sum, end > start ? end - start : 0);
        cursor = end > cursor ? end : cursor;
    }
    return sum;
}

nanos ledger_calm(const struct ledger *ledger, nanos from, nanos until)
{
    nanos longest = 0;
    nanos cursor = from;
    for (uint32_t index = 0; index < ledger->fault_count; index++) {
        const struct ledger_fault *fault = &ledger->faults[index];
        const nanos start = fault->from < until ? fault->from : until;
        const nanos stretch = nanos_sub(start, cursor);
        longest = stretch > longest ? stretch : longest;
        cursor = fault->until > cursor ? fault->until : cursor;
    }
    const nanos last = nanos_sub(until, cursor);
    return last > longest ? last : longest;
}

bool ledger_is_delayed(const struct ledger *ledger, uint32_t request)
{
    for (uint32_t index = 0; index < ledger->fault_count; index++) {
        const struct ledger_fault *fault = &ledger->faults[index];
        if (fault->request == request && request != 0 &&
            (fault->kind == FAULT_APPLIED_LATER || fault->kind == FAULT_DUPLICATED ||
             fault->kind == FAULT_STREAM_CUT)) {
            return true;
        }
    }
    return false;
}
