/* Any bytes are a scenario or one line that says why not. */
#include "scenarios/fuzz/target.h"
#include "scenarios/scenario.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Records cost memory in proportion to their count, which is not what is looked for here. */
    const struct scenario_options options = {.name = "fuzz"};
    struct scenario *scenario = NULL;
    struct scenario_fault fault;
    const enum err err = scenario_create((struct bytes){data, size}, &options, &scenario, &fault);
    if (err == ERR_OK) {
        CHECK(scenario->config.job.log->record_count > 0);
        CHECK(scenario->config.facts.fault_free_bound > 0);
        scenario_destroy(scenario);
        return 0;
    }
    CHECK(strncmp(fault.message, "fuzz: ", 6) == 0);
    CHECK(bytes_is_utf8(bytes_of_text(fault.message)));
    CHECK(strchr(fault.message, '\n') == NULL);
    return 0;
}
