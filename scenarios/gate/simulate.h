/* One cell of the gate's, simulated and judged for a claim. */
#ifndef SCENARIOS_GATE_SIMULATE_H
#define SCENARIOS_GATE_SIMULATE_H

#include "reports/gate.h"
#include "scenarios/cli/status.h"
#include "scenarios/cli/text.h"

struct simulate_request {
    const char *candidate; /* of the plan */
    uint32_t payload_bytes;
    bool is_hot;
    uint32_t parallelism;
    uint32_t concurrency;
    uint64_t interval_s;
    uint32_t grid_cells; /* that the whole grid must have; 0: not asked */
    const char *verdict; /* that are wanted; "" any */
    const char *rule;
    const char *as_written;
    uint64_t ratio_least; /* of throughputs, thousandths */
    uint64_t ratio_most;
};

/* Run the cell with three seeds and the default costs; what came out goes into the record, and whether
 * it is what was wanted. STATUS_OK, or another with a line on standard error. */
MUST_USE enum status simulate_cell(struct text_pool *texts,
                                   const struct simulate_request *request,
                                   uint32_t jobs,
                                   struct report_gate_case *record);

#endif
