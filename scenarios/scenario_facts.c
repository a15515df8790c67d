/* Lengths that follow from the options of sink, model and engine: how long each class of downtime
 * is, how long a run may take, and what the judge may rely on. All is integer arithmetic on
 * durations, saturating.
 *
 *   emission  = records of the fullest source / burst, rounded up, times the interval
 *   waves     = records / concurrency, rounded up, plus 1
 *   work      = waves * residence of one request with all its retries
 *   pace      = checkpoint interval + minimum pause + duration
 *   restart   = detection + close bound + longest restart delay
 *
 *   safety bound     = (emission + restart + longest downtime) * (crashes + savepoint + 1)
 *                      + 4 * pace + residence
 *   liveness bound   = (emission + work + restart + 4 * pace) * (restarts after heal + 1)
 *                      + late effect + 1 min for the services' own pace
 *   fault-free bound = 2 * pace + waves * (4 legs + service time) + residence + restart delay + 1 s:
 *                      what an earlier fault left behind is over by then, too
 *
 *   clock  = 2 * largest clock error: of who staged and of who sends
 *   window = the sink's recovery window, or the protection of names if it declares none
 *   request        = request timeout (or the late effect, if longer) + 2 legs + 1 s
 *   before window  = window - clock - fault-free bound - most faults * pace - residence - restart,
 *                    so that other faults before and after the crash do not use the window up
 *   after window   = window + clock + request timeout + 1 min
 *   after release  = longest release + clock + request timeout + 10 min
 */
#include "scenarios/scenario_reader.h"
#include "scenarios/wiring/wiring.h"

struct lengths {
    nanos emission;
    nanos work;
    nanos pace;
    nanos restart;
    nanos late_effect;
    nanos fault_free;
    uint64_t waves;
};

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    CHECK(b > 0);
    return a / b + (a % b != 0);
}

static nanos longest_delay(const struct job_config *job)
{
    return job->restart == JOB_RESTART_EXPONENTIAL ? job->restart_delay_max : job->restart_delay;
}

/* Records of the source that has most; splits are dealt out modulo the sources. */
static uint32_t fullest_source(const struct job_config *job)
{
    uint32_t most = 0;
    for (uint32_t source = 0; source < job->sources; source++) {
        uint32_t count = 0;
        for (uint32_t split = source; split < job->log->split_count; split += job->sources) {
            count += job->log->split_starts[split + 1] - job->log->split_starts[split];
        }
        most = count > most ? count : most;
    }
    return most;
}

static struct lengths lengths_of(const struct run_config *config,
                                 const struct wiring_windows *windows)
{
    const struct job_config *job = &config->job;
    const uint64_t concurrency =
        windows->concurrency_max == 0 ? UINT32_MAX : windows->concurrency_max;
    struct lengths lengths = {
        .emission =
            nanos_mul(job->record_interval, divide_up(fullest_source(job), job->record_burst)),
        .waves = divide_up(job->log->record_count, concurrency) + 1,
        .pace = nanos_add(nanos_add(job->checkpoint_interval, job->checkpoint_min_pause),
                          job->checkpoint_duration),
        .restart = nanos_add(nanos_add(job->detection_delay, job->close_bound), longest_delay(job)),
        .late_effect = config->link.late_effect_max,
    };
    if (lengths.late_effect == 0) {
        lengths.late_effect = nanos_add(windows->request_timeout, config->link.latency_least);
    }
    lengths.work = nanos_mul(windows->residence, lengths.waves);
    const nanos trip =
        nanos_add(nanos_mul(config->link.latency_least, 4), config->link.service_time);
    lengths.fault_free = nanos_add(nanos_mul(lengths.pace, 2), nanos_mul(trip, lengths.waves));
    lengths.fault_free = nanos_add(lengths.fault_free, nanos_add(windows->residence, SECONDS(1)));
    lengths.fault_free = nanos_add(lengths.fault_free, longest_delay(job));
    return lengths;
}

/* --- downtimes ----------------------------------------------------------------------------------- */

/* Largest error of a task's wall clock: where it starts, and one jump. */
static nanos clock_error(const struct job_config *job)
{
    return nanos_add((nanos)job->clock_offset_max, (nanos)job->clock_jump);
}

static nanos before_window(const struct run_config *config,
                           const struct wiring_windows *windows,
                           const struct lengths *lengths,
                           nanos window)
{
    const struct job_config *job = &config->job;
    nanos taken = nanos_mul(clock_error(job), 2);
    taken = nanos_add(taken, lengths->fault_free);
    taken = nanos_add(taken, nanos_mul(lengths->pace, config->faults.cap_total));
    taken = nanos_add(taken, windows->residence);
    taken = nanos_add(taken, lengths->restart);
    const nanos left = nanos_sub(window, taken);
    return left > job->restart_delay ? left : 0;
}

static void set_downtimes(const struct fields *fields,
                          struct run_config *config,
                          const struct wiring_windows *windows,
                          const struct lengths *lengths)
{
    struct job_config *job = &config->job;
    const nanos clock = nanos_mul(clock_error(job), 2);
    const nanos timeout = windows->request_timeout;
    const nanos window =
        windows->recovery_window > 0 ? windows->recovery_window : windows->protection_window;
    const nanos abandoned = timeout > lengths->late_effect ? timeout : lengths->late_effect;
    const nanos computed[DOWNTIME_COUNT] = {
        [DOWNTIME_SHORT] = job->restart_delay,
        [DOWNTIME_REQUEST] =
            nanos_add(abandoned, nanos_add(nanos_mul(config->link.latency_least, 2), SECONDS(1))),
        [DOWNTIME_BEFORE_WINDOW] = before_window(config, windows, lengths, window),
        [DOWNTIME_AFTER_WINDOW] =
            window == 0 ? 0 : nanos_add(nanos_add(window, clock), nanos_add(timeout, MINUTES(1))),
        [DOWNTIME_AFTER_RELEASE] = windows->release_max == 0
                                       ? 0
                                       : nanos_add(nanos_add(windows->release_max, clock),
                                                   nanos_add(timeout, MINUTES(10))),
    };
    for (uint32_t i = 0; i < DOWNTIME_COUNT; i++) {
        /* What is not offered is 0 already. */
        job->downtime[i] = job->downtime[i] == 0 ? 0 : computed[i];
    }
    const nanos stopped = computed[field_number(fields, FIELD_SAVEPOINT_DOWNTIME)];
    if (job->savepoint.at != JOB_SAVEPOINT_NEVER) {
        job->savepoint.down = stopped == 0 ? job->restart_delay : stopped;
    }
}

static nanos longest_downtime(const struct job_config *job)
{
    nanos longest = 0;
    for (uint32_t i = 0; i < DOWNTIME_COUNT; i++) {
        longest = job->downtime[i] > longest ? job->downtime[i] : longest;
    }
    return job->savepoint.down > longest ? job->savepoint.down : longest;
}

/* --- bounds -------------------------------------------------------------------------------------- */

static nanos given_or(const struct fields *fields, enum field_id field, nanos computed)
{
    const nanos given = field_number(fields, field);
    return given == 0 ? computed : given;
}

/* Crashes and lost contacts that one run may see. */
static uint32_t crash_count(const struct fault_menu *menu)
{
    const enum fault_kind kinds[] = {FAULT_CRASH, FAULT_ZOMBIE};
    uint32_t count = 0;
    for (uint32_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        if ((menu->kinds >> kinds[i] & 1) == 0) {
            continue;
        }
        const uint32_t cap = menu->cap[kinds[i]];
        count += cap == 0 || cap > menu->cap_total ? menu->cap_total : cap;
    }
    return count > menu->cap_total ? menu->cap_total : count;
}

static void set_bounds(const struct fields *fields,
                       const struct wiring_windows *windows,
                       const struct lengths *lengths,
                       struct run_config *config)
{
    const nanos paces = nanos_mul(lengths->pace, 4);
    const nanos life = nanos_add(lengths->emission, lengths->restart);
    const bool is_stopped = config->job.savepoint.at != JOB_SAVEPOINT_NEVER;
    nanos safety = nanos_mul(nanos_add(life, longest_downtime(&config->job)),
                             (uint64_t)crash_count(&config->faults) + (is_stopped ? 2 : 1));
    safety = nanos_add(safety, nanos_add(paces, windows->residence));
    nanos liveness = nanos_mul(nanos_add(nanos_add(life, lengths->work), paces),
                               (uint64_t)config->facts.restarts_after_heal + 1);
    liveness = nanos_add(liveness, nanos_add(lengths->late_effect, MINUTES(1)));
    config->safety_bound = given_or(fields, FIELD_BUDGETS_SAFETY, safety);
    config->facts.liveness_bound = given_or(fields, FIELD_BUDGETS_LIVENESS, liveness);
    config->facts.fault_free_bound =
        given_or(fields, FIELD_BUDGETS_FAULT_FREE, lengths->fault_free);
}

/* --- facts --------------------------------------------------------------------------------------- */

static bool has_share(const struct fields *fields, enum field_id field)
{
    return fields->values[field].ratio.numerator > 0;
}

/* Reasons that poison brings with it under the failing policy, and expiry under its own. */
static uint64_t implied_stop_reasons(const struct fields *fields, const struct judge_facts *facts)
{
    uint64_t reasons = 0;
    if (facts->policy == SINK_POLICY_FAIL) {
        const bool serializer_fails =
            has_share(fields, FIELD_POISON_SERIALIZER) || has_share(fields, FIELD_POISON_AGAIN);
        reasons |= serializer_fails ? UINT64_C(1) << SINK_REASON_SERIALIZER : 0;
        reasons |=
            has_share(fields, FIELD_POISON_EXTRACTOR) ? UINT64_C(1) << SINK_REASON_EXTRACTOR : 0;
        reasons |=
            has_share(fields, FIELD_POISON_SERVICE) ? UINT64_C(1) << SINK_REASON_REJECTED : 0;
        reasons |= reasons != 0 ? UINT64_C(1) << SINK_REASON_POLICY : 0;
    }
    if (has_share(fields, FIELD_POISON_RESOLVER)) { /* no policy is asked where a record belongs */
        reasons |= UINT64_C(1) << SINK_REASON_RESOLVER;
    }
    reasons |= facts->expiry_fails ? UINT64_C(1) << SINK_REASON_EXPIRED : 0;
    return reasons;
}

void scenario_build_facts(const struct fields *fields,
                          const struct wiring_windows *windows,
                          struct run_config *config)
{
    const struct lengths lengths = lengths_of(config, windows);
    struct judge_facts *facts = &config->facts;
    facts->staged = config->job.sink->committer_or_null != NULL;
    facts->concurrency_max = windows->concurrency_max;
    facts->resources_made_max = windows->resources_made_max;
    facts->request_timeout = windows->request_timeout;
    facts->protection_window = windows->protection_window;
    facts->recovery_window = windows->recovery_window;
    facts->clock_allowance = windows->clock_allowance;
    facts->late_effect_max = lengths.late_effect;
    facts->expiry_fails = windows->expiry_fails;
    facts->own_identities = windows->own_identities;
    facts->retry[0] = windows->retry[0];
    facts->retry[1] = windows->retry[1];
    facts->control_methods = windows->control_methods;
    facts->forbidden = windows->forbidden;
    facts->declared = windows->declared;
    facts->shares_thread = config->job.cpu_per_event > 0;
    facts->equal_is_one = field_bool(fields, FIELD_WORKLOAD_EQUAL_IS_ONE);
    facts->at_destination = field_bool(fields, FIELD_AT_DESTINATION);
    facts->stop_reasons |= implied_stop_reasons(fields, facts);
    set_downtimes(fields, config, windows, &lengths);
    set_bounds(fields, windows, &lengths, config);
    CHECK(facts->fault_free_bound > 0);
}
