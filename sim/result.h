/* What one run found: plain values that outlive the run's arena. */
#ifndef SIM_RESULT_H
#define SIM_RESULT_H

#include "sim/choice.h"
#include "sim/mark.h"
#include "sim/oracle.h"

#define RESULT_TAPE_MAX 256

enum run_verdict {
    RUN_OK = 0,
    RUN_VIOLATION,
    RUN_VACUOUS, /* no fault fired, no checkpoint completed, no effect */
    RUN_LIMIT,   /* memory, event or tape cap: no verdict */
    RUN_REFUSED, /* the sink refused configuration or job before the first request */
};

struct result_finding {
    uint8_t oracle; /* index into oracle_types */
    struct finding finding;
};

struct result {
    uint8_t verdict; /* enum run_verdict */
    uint8_t end;     /* enum run_end */
    uint64_t digest; /* trace, choices and unseed */
    uint64_t events;
    nanos ended_at;
    uint32_t draws;
    uint64_t kinds_fired;
    uint32_t crashes; /* with a restore behind them */
    uint32_t checkpoints_completed;
    uint32_t effects;
    uint32_t crash_points_seen;
    uint32_t arena_bytes;  /* high-water mark of the run */
    uint32_t inconclusive; /* oracles that could not judge */
    uint32_t finding_count;
    struct result_finding findings[ORACLE_MAX];
    struct tape_entry tape_entries[RESULT_TAPE_MAX];
    struct tape tape; /* entries points into tape_entries; count may be cut */
    bool tape_cut;
    struct choice_alignment alignment;
    struct marks marks;                /* what it reached */
    char message[ORACLE_MESSAGE_SIZE]; /* refusal or limit */
};

#endif
