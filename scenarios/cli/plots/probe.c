#include "scenarios/cli/plots/probe.h"

#define HANG_AFTER SECONDS(60)

bool probe_open(struct probe *probe, const struct scenario *scenario)
{
    *probe = (struct probe){.reproducer = reproducer_create(scenario)};
    if (probe->reproducer == NULL) {
        return false;
    }
    probe->measure = measure_create(&scenario->config);
    return true;
}

void probe_close(struct probe *probe)
{
    if (probe->reproducer != NULL) {
        measure_destroy(probe->measure);
        reproducer_destroy(probe->reproducer);
    }
}

struct run_request probe_calm_request(void)
{
    static const struct tape empty = {0};
    return reproducer_tape_request(&empty);
}

bool probe_run(struct probe *probe, const struct run_request *request, const char **why)
{
    int detail = 0;
    struct run_request kept = *request;
    kept.keep_trace = true;
    measure_reset(probe->measure);
    if (reproducer_run_guarded(probe->reproducer, &kept, HANG_AFTER, &detail) != REPRODUCER_DONE) {
        *why = "it crashed or hung";
        return false;
    }
    const struct result *result = reproducer_result(probe->reproducer);
    if (result->verdict == RUN_LIMIT || result->verdict == RUN_REFUSED) {
        *why = result->message;
        return false;
    }
    probe->digest = result->digest;
    measure_journal(probe->measure, reproducer_world(probe->reproducer)->journal);
    return true;
}
