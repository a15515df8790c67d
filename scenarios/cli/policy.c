#include "scenarios/cli/policy.h"

#include "scenarios/cli/session.h"
#include "scenarios/cli/sweep/reproducer.h"

#define TRIALS        16u
#define DEPTH_DEFAULT 2u

bool policy_is_pct(const struct scenario *scenario, uint64_t seed)
{
    switch ((enum policy_kind)scenario->policy.kind) {
    case POLICY_SEEDS:
        return false;
    case POLICY_PCT:
        return true;
    case POLICY_MIXED:
        return seed % 2 == 0;
    }
    UNREACHABLE();
}

enum status policy_prepare(const struct options *options, struct scenario *scenario)
{
    struct scenario_policy *policy = &scenario->policy;
    const bool is_depth_given = option_is_given(options, OPTION_BIT(DEPTH));
    *policy = (struct scenario_policy){.kind = options->policy, .depth = 1, .steps = 1};
    if (options->policy == POLICY_SEEDS) {
        return STATUS_OK;
    }
    struct reproducer *reproducer = reproducer_create(scenario);
    if (reproducer == NULL) {
        complain("no memory for a run");
        return STATUS_INTERNAL;
    }
    /* Depth 1 has no change points: its runs do not depend on steps. */
    policy->kind = POLICY_PCT;
    uint32_t steps = 1;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        const struct run_request request = reproducer_seed_request(scenario, seed);
        int detail = 0;
        (void)reproducer_run_guarded(reproducer, &request, options->hang_after, &detail);
        const struct pct *pct = reproducer_pct(reproducer);
        steps = pct != NULL && pct->steps > steps ? pct->steps : steps;
    }
    reproducer_destroy(reproducer);
    *policy = (struct scenario_policy){
        .kind = options->policy,
        .depth = is_depth_given ? (uint32_t)options->depth : DEPTH_DEFAULT,
        .steps = steps,
    };
    return STATUS_OK;
}

void policy_report(const struct scenario_policy *policy,
                   const struct summary *summary,
                   struct report_run *run)
{
    const uint64_t bound = pct_bound(policy->depth, summary->pct_chains, policy->steps);
    run->policy = (struct report_policy){
        .name = policy_name(policy->kind),
        .by_seeds = summary->runs - summary->pct_runs,
        .by_pct = summary->pct_runs,
        .depth = policy->depth,
        .steps = policy->steps,
        .chains = summary->pct_chains,
        .bound = bound,
        .permille = pct_hits_permille(bound, summary->pct_runs),
    };
}
