/* From the runs of a book to verdicts: what a cell needs, the input of the decision rule that is made
 * of it, and the records of the report. */
#ifndef SCENARIOS_GATE_VERDICT_H
#define SCENARIOS_GATE_VERDICT_H

#include "reports/gate.h"
#include "scenarios/gate/book.h"

struct verdict_keys_count {
    uint64_t most; /* records in the fullest of the buckets, and in the emptiest */
    uint64_t least;
    uint64_t ordered_least; /* the same by the text of the keys, which increases: must be 0 */
    const char *words;
};

struct verdicts {
    struct book *book;
    uint32_t repetitions;
    uint32_t repetitions_varied;
    struct verdict_keys_count keys;
    bool miscalibrated[PLAN_ARM_MAX];
};

/* Count the keys that a generated workload has: 13.4's check of them. ERR_OK; ERR_INVALID when no
 * scenario can be made. */
MUST_USE enum err verdict_keys(struct verdicts *verdicts);

/* Ask the book for what calibration, stage 1 and a cell of stage 2 need. */
void verdict_want_calibration(struct verdicts *verdicts, uint32_t arm);
void verdict_want_stage_1(struct verdicts *verdicts, const struct plan_candidate *candidate);
void verdict_want_cell(struct verdicts *verdicts,
                       const struct plan_candidate *candidate,
                       const struct cell_shape *shape);

/* Judge what the book has run. */
struct report_gate_calibration verdict_calibration(struct verdicts *verdicts, uint32_t arm);
uint8_t verdict_stage_1(struct verdicts *verdicts,
                        const struct plan_candidate *candidate,
                        struct report_gate_cell *cell);
uint8_t verdict_cell(struct verdicts *verdicts,
                     const struct plan_candidate *candidate,
                     uint8_t stage_1,
                     const struct cell_shape *shape,
                     struct report_gate_cell *cell);

/* Why a candidate cannot be measured in a cell: "" it can. */
const char *verdict_unmeasured(const struct plan *plan,
                               const struct plan_candidate *candidate,
                               const struct cell_shape *shape);

/* A cell that was not run, with its reason. */
void verdict_leave_out(struct verdicts *verdicts,
                       const struct cell_shape *shape,
                       const char *why,
                       struct report_gate_cell *cell);

/* Digest of everything that was observed, in the book's order. */
uint64_t verdict_digest(const struct book *book);

#endif
