/* At most one judged effect per record, shared by effectively-once and exactly-once-write. */
#ifndef SIM_ORACLE_ONCE_H
#define SIM_ORACLE_ONCE_H

#include "sim/oracle.h"

/* Judge the effect that is the current entry: violation or, if it is excused, inconclusive. */
void once_judge_effect(struct judge *judge, const struct journal_entry *entry, uint32_t position);

#endif
