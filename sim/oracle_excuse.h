/* Excuses: when what an oracle saw lies outside the scope that a scenario grants.
 *
 * Excuses are where judges go blind, so all of them live here and follow the same law (DESIGN
 * section 5):
 *
 *   - off unless the scenario's facts switch it on (judge_facts.excuses);
 *   - it names its cause in the journal: injected faults, with their lengths, never a number that
 *     sink or model report about themselves: no request's own deadline, no release or expiry that a
 *     model announces, no reason that a sink gives for standing still;
 *   - it is void if the run had a fault-free bound (judge_facts.fault_free_bound; 0 grants nothing)
 *     between the hand-over or staging and the cause: the sink had its chance.
 *
 *   excuse         cause                                            hides
 *   WINDOW_LAPSED  the name was free for at least protection_window, a second creation of the same
 *                  by the true clock, and for at least that long    resource
 *                  injected faults kept halves or services down
 *   LATE_EFFECT    the request took effect later than               a second creation
 *                  late_effect_max after it left, and a delaying
 *                  fault was injected into this very request
 *   DECLARED_STOP  the job failed with a declared reason; EXPIRED:  an envelope that a completed
 *                  down for at least recovery_window since staging; checkpoint still holds
 *                  other reasons: a fault since staging
 *
 * A sink that must stop at an expired envelope (expiry_fails) gets no WINDOW_LAPSED: its own deadline
 * should have kept it from sending. */
#ifndef SIM_ORACLE_EXCUSE_H
#define SIM_ORACLE_EXCUSE_H

#include "sim/oracle.h"

/* For the creation that is the current entry: why a second one is out of scope, or NULL. */
const char *excuse_of_duplicate(const struct judge *judge, const struct journal_entry *entry);

/* At the end: why this record may be missing, or NULL. */
const char *excuse_of_missing(const struct judge *judge, record_id record);

#endif
