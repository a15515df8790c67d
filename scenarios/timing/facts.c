#include "scenarios/timing/facts.h"

#include "scenarios/wiring/wiring.h"
#include "sinks/retry.h"

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    CHECK(b > 0);
    return a / b + (a % b != 0);
}

static nanos longer(nanos a, nanos b)
{
    return a > b ? a : b;
}

/* --- requests ------------------------------------------------------------------------------------ */

static nanos round_trip(const struct run_config *config)
{
    return nanos_add(nanos_mul(config->link.latency_least, 2), config->link.service_time);
}

static nanos pauses_of(const struct judge_retry *retry)
{
    const struct retry_schedule schedule = {retry->initial, retry->max, retry->attempts_max};
    nanos total = 0;
    for (uint32_t failures = 1; retry->attempts_max > 0 && failures < retry->attempts_max;
         failures++) {
        total = nanos_add(total, retry_backoff(&schedule, failures).max);
    }
    return total;
}

/* Transient failures and NOT_FOUND have budgets of their own, of which the last attempt is one (4.5 of
 * the sink protocols). */
static nanos budget_of(const struct scenario *scenario)
{
    const struct judge_retry *retry = scenario->windows->retry;
    if (retry[0].attempts_max == 0) {
        const nanos exact = scenario->windows->data_budget;
        return exact > 0 ? exact : scenario->windows->residence;
    }
    const uint64_t attempts =
        retry[0].attempts_max + retry[1].attempts_max - (retry[1].attempts_max > 0);
    const nanos pauses = nanos_add(pauses_of(&retry[0]), pauses_of(&retry[1]));
    return nanos_add(nanos_mul(scenario->windows->request_timeout, attempts), pauses);
}

/* From sending a request to its last attempt, if each before it is lost. */
static nanos outage_of(const struct scenario *scenario)
{
    const struct judge_retry *retry = &scenario->windows->retry[0];
    if (scenario->windows->data_budget > 0) {
        return scenario->windows->data_outage;
    }
    if (retry->attempts_max == 0) {
        return nanos_sub(scenario->windows->residence, scenario->windows->last_attempt);
    }
    const uint64_t lost = retry->attempts_max - 1;
    return nanos_add(nanos_mul(scenario->windows->request_timeout, lost), pauses_of(retry));
}

static uint64_t concurrency_of(const struct scenario *scenario)
{
    const uint32_t most = scenario->windows->concurrency_max;
    return most == 0 ? UINT32_MAX : most;
}

static uint64_t requests_of(const struct scenario *scenario, uint64_t records)
{
    const uint32_t fixed = scenario->windows->commit_requests;
    return fixed == 0 || records == 0 ? records : fixed;
}

/* Waves of requests that one subtask sends for so many records. */
static uint64_t waves_of(const struct scenario *scenario, uint64_t records)
{
    return divide_up(requests_of(scenario, records), concurrency_of(scenario));
}

/* Until all of a commit is answered, where each request takes so long. */
static nanos commit_of(const struct scenario *scenario, nanos request, uint64_t of_all)
{
    const struct run_config *config = &scenario->config;
    const uint32_t parallelism = config->link.service_parallelism;
    const uint64_t records = divide_up(of_all, config->job.subtasks);
    const nanos own = nanos_mul(request, waves_of(scenario, records));
    if (parallelism == 0) {
        return own;
    }
    const uint64_t turns = divide_up(requests_of(scenario, of_all), parallelism);
    const nanos legs = nanos_mul(config->link.latency_least, 2);
    return longer(own, nanos_add(nanos_mul(config->link.service_time, turns), legs));
}

/* How long a burst's requests take of a sink that sends as it writes. */
static nanos burst_of(const struct scenario *scenario, nanos request)
{
    const struct job_config *job = &scenario->config.job;
    const uint64_t burst = divide_up((uint64_t)job->record_burst * job->sources, job->subtasks);
    return nanos_mul(request, divide_up(burst, concurrency_of(scenario)));
}

/* --- checkpoints --------------------------------------------------------------------------------- */

#define WALK_STEPS_MAX 1000000u
#define WALK_AT_ONCE   4u /* checkpoints under way at most */

/* Where a walk is, and the longest that it has met. */
struct walk {
    const struct scenario *scenario;
    const struct timing_facts *facts;
    nanos trigger;
    nanos committed; /* end of all commits so far */
    uint64_t emitted;
    nanos done[WALK_AT_ONCE]; /* completions, by step modulo those at once */
    nanos spacing;
    nanos duration;
    nanos wait;
    nanos wave;
    nanos drain;
    uint64_t records;
};

/* Records that the source has emitted by an instant, itself included. */
static uint64_t emitted_by(const struct job_config *job, nanos time)
{
    const uint64_t records =
        nanos_mul(time / job->record_interval + 1, (uint64_t)job->record_burst * job->sources);
    return records < job->log->record_count ? records : job->log->record_count;
}

/* The next trigger, a step having been done: the coordinator's clock, room among those under way, and
 * the pause. */
static nanos next_trigger(const struct walk *walk, uint32_t step, uint32_t at_once)
{
    const struct job_config *job = &walk->scenario->config.job;
    const nanos next = longer(nanos_add(walk->trigger, job->checkpoint_interval),
                              walk->done[(step + 1) % at_once]);
    return job->checkpoint_min_pause == 0
               ? next
               : longer(next, nanos_add(walk->done[step % at_once], job->checkpoint_min_pause));
}

/* A writer's flush of which one request uses up its budget: one of the data, whose last attempt is on a new
 * connection as well, or one of the calls before. */
static nanos flush_at_worst(const struct walk *walk, nanos burst)
{
    const struct timing_facts *facts = walk->facts;
    const nanos data = nanos_add(facts->calling, facts->budget - facts->request);
    const nanos call = facts->call_budget == 0
                           ? 0
                           : nanos_add(facts->connecting, facts->call_budget - facts->call);
    return nanos_add(burst, longer(data, call));
}

/* One checkpoint: its barrier waits for the commit that runs, or for what its writer has sent, and its
 * own commit begins behind all others. One of its requests may use up its budget: then the next barrier
 * waits for that. */
static void walk_checkpoint(struct walk *walk, uint32_t step, uint32_t at_once)
{
    const struct scenario *scenario = walk->scenario;
    const struct job_config *job = &scenario->config.job;
    const bool staged = walk->facts->staged;
    const bool sends = !staged || scenario->windows->writer_waits;
    const uint64_t by_now = emitted_by(job, walk->trigger);
    const uint64_t records = by_now - walk->emitted;
    const nanos burst = sends ? burst_of(scenario, walk->facts->request) : 0;
    const nanos flush = sends ? nanos_add(walk->facts->connecting, burst) : 0;
    const nanos wait = longer(flush, nanos_sub(walk->committed, walk->trigger));
    const nanos duration = longer(job->checkpoint_duration, wait);
    const nanos done = nanos_add(walk->trigger, duration);
    const nanos drain = staged ? commit_of(scenario, walk->facts->request, records) : 0;
    walk->done[step % at_once] = done;
    walk->committed = nanos_add(done, drain);
    walk->emitted = by_now;
    walk->wait = longer(walk->wait, wait);
    walk->duration = longer(walk->duration, duration);
    walk->drain = longer(walk->drain, drain);
    walk->records = records > walk->records ? records : walk->records;
    const nanos next = next_trigger(walk, step, at_once);
    const nanos more = walk->facts->commit_budget - walk->facts->request;
    const nanos late = drain == 0 ? 0 : nanos_sub(nanos_add(walk->committed, more), next);
    walk->wave = longer(walk->wave, sends ? flush_at_worst(walk, burst) : 0);
    walk->wave = longer(walk->wave, longer(wait, late));
    walk->spacing = longer(walk->spacing, next - walk->trigger);
    walk->trigger = next;
}

/* Until all is emitted and no barrier waits any more. */
static void walk_through(const struct scenario *scenario, struct timing_facts *facts)
{
    const struct job_config *job = &scenario->config.job;
    const uint32_t at_once = job->checkpoint_concurrent == 0 ? 1 : job->checkpoint_concurrent;
    struct walk walk = {.scenario = scenario, .facts = facts, .trigger = job->checkpoint_interval};
    CHECK(at_once <= WALK_AT_ONCE);
    for (uint32_t step = 0; step < WALK_STEPS_MAX; step++) {
        if (walk.emitted == job->log->record_count && walk.committed <= walk.trigger) {
            break;
        }
        walk_checkpoint(&walk, step, at_once);
    }
    facts->spacing = longer(walk.spacing, job->checkpoint_interval);
    facts->duration = longer(walk.duration, job->checkpoint_duration);
    facts->wait = walk.wait;
    facts->wave = walk.wave;
    facts->drain = walk.drain;
    facts->records_of_all = walk.records;
    facts->records = divide_up(walk.records, job->subtasks);
}

/* --- recovery ------------------------------------------------------------------------------------ */

static nanos recovery_of(const struct job_config *job)
{
    nanos longest = nanos_add(job->detection_delay, job->restart_delay);
    for (uint32_t i = 0; i < DOWNTIME_COUNT; i++) {
        longest = i == DOWNTIME_BEFORE_WINDOW ? longest : longer(longest, job->downtime[i]);
    }
    return longest;
}

/* From a request's departure to its effect. */
static nanos until_effect(const struct run_config *config)
{
    return nanos_add(config->link.latency_least, config->link.service_time);
}

/* A commit that asks before it does anything may be cut short behind its last question, whose answer it does not
 * live to see, and then asks all again. */
static nanos lookups_of(const struct scenario *scenario)
{
    const uint32_t lookups = scenario->windows->commit_lookups;
    return lookups == 0 ? 0 : nanos_mul(round_trip(&scenario->config), 2 * (uint64_t)lookups - 1);
}

static void add_horizons(const struct scenario *scenario, struct timing_facts *facts)
{
    const uint64_t waves = waves_of(scenario, facts->records);
    facts->opening = nanos_mul(round_trip(&scenario->config), scenario->windows->opening_calls);
    facts->recovery = nanos_add(recovery_of(&scenario->config.job), facts->opening);
    facts->tail = facts->staged && waves > 1 ? nanos_mul(facts->request, waves - 1) : 0;
    facts->tail = nanos_add(facts->tail, lookups_of(scenario));
    facts->earliest =
        nanos_add(facts->staged ? facts->configured : 0, until_effect(&scenario->config));
    facts->open = nanos_add(facts->spacing, facts->duration);
    facts->reread = nanos_add(facts->open, nanos_sub(facts->recovery, facts->opening));
    facts->first_commit = nanos_add(nanos_add(facts->open, facts->recovery), facts->tail);
    facts->replay = nanos_add(facts->first_commit, facts->spacing);
    /* A commit begins a duration behind its trigger, and so does what repeats it. */
    facts->repeat = nanos_add(facts->spacing, facts->recovery);
    facts->repeat = nanos_add(
        facts->repeat, facts->staged ? facts->duration - facts->configured : facts->duration);
}

/* What a writer does before its first request, and how long one request may take that is tried again. */
static void add_budgets(const struct scenario *scenario, struct timing_facts *facts)
{
    const struct wiring_windows *windows = scenario->windows;
    facts->call = round_trip(&scenario->config);
    facts->calling = nanos_mul(facts->call, windows->writer_calls);
    facts->connecting = nanos_add(
        facts->calling, windows->writer_connects ? scenario->config.link.service_time : 0);
    facts->budget = longer(budget_of(scenario), facts->request);
    facts->call_budget = windows->writer_calls == 0 ? 0 : longer(windows->call_budget, facts->call);
    facts->commit_budget =
        windows->call_budget == 0 ? facts->budget : longer(windows->call_budget, facts->request);
}

void timing_facts_of(const struct scenario *scenario, struct timing_facts *facts)
{
    const struct job_config *job = &scenario->config.job;
    *facts = (struct timing_facts){
        .request = nanos_add(round_trip(&scenario->config), scenario->windows->answer_delay),
        .configured = job->checkpoint_duration,
        .clock_error =
            nanos_mul(nanos_add((nanos)job->clock_offset_max, (nanos)job->clock_jump), 2),
        .staged = job->sink->committer_or_null != NULL,
    };
    add_budgets(scenario, facts);
    facts->outage = outage_of(scenario);
    facts->call_outage = scenario->windows->call_outage;
    walk_through(scenario, facts);
    add_horizons(scenario, facts);
}

nanos timing_fact(const struct scenario *scenario,
                  const struct timing_facts *facts,
                  enum sink_timing_fact fact)
{
    const struct job_config *job = &scenario->config.job;
    switch (fact) {
    case SINK_TIMING_CHECKPOINT_TIMEOUT:
        return job->checkpoint_timeout;
    case SINK_TIMING_CHECKPOINT_INTERVAL:
        return job->checkpoint_interval;
    case SINK_TIMING_REPLAY_HORIZON:
        return facts->replay;
    case SINK_TIMING_WAVE:
        return facts->wave;
    case SINK_TIMING_CHECKPOINT_DURATION:
        return facts->configured;
    case SINK_TIMING_FIRST_COMMIT:
        return facts->first_commit;
    case SINK_TIMING_OPEN:
        return facts->open;
    case SINK_TIMING_REPEAT:
        return facts->repeat;
    case SINK_TIMING_REREAD:
        return facts->reread;
    case SINK_TIMING_DRAIN:
        return facts->wait;
    case SINK_TIMING_CLOCK_ERROR:
        return facts->clock_error;
    case SINK_TIMING_LATE_EFFECT:
        return scenario->config.facts.late_effect_max;
    case SINK_TIMING_PROTECTION:
        return scenario->windows->protection_window;
    case SINK_TIMING_EARLIEST:
        return facts->earliest;
    case SINK_TIMING_REQUEST:
        return facts->request;
    case SINK_TIMING_SOURCE_RETENTION:
        return job->source_retention;
    case SINK_TIMING_NONE:
    case SINK_TIMING_OPTION:
    case SINK_TIMING_FACT_COUNT:
        break;
    }
    UNREACHABLE();
}
