#include "scenarios/cli/sweep/summary.h"

#include "sim/mark.h"
#include "sinks/base/digest.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Keys of draw sites from here on belong to models (sim/choice.h). */
#define FIRST_MODEL_KEY 0x1000

static_assert(ORACLE_MAX <= SUMMARY_ORACLE_CRASH, "an oracle has a bit of its own");

void summary_marks_of(const struct run_config *config, struct summary_marks *marks)
{
    marks->count = 0;
    for (uint32_t i = 0; i < config->oracle_count; i++) {
        const struct oracle_type *oracle = config->oracles[i];
        for (const uint16_t *mark = oracle->marks; *mark != MARK_NONE; mark++) {
            CHECK(marks->count < SUMMARY_MARK_MAX);
            marks->items[marks->count++] = (struct summary_mark){
                .oracle = oracle->name,
                .mark = sim_mark(*mark),
            };
        }
    }
}

static bool is_same_place(const struct summary_finding *a, const struct summary_finding *b)
{
    return a->oracle == b->oracle && a->subject_kind == b->subject_kind;
}

/* Keep a finding if it is the first of its kind or its seed is lower than what is kept. */
static void keep(struct summary *summary, const struct summary_finding *finding)
{
    for (uint32_t i = 0; i < summary->finding_count; i++) {
        struct summary_finding *kept = &summary->findings[i];
        if (is_same_place(kept, finding)) {
            if (finding->seed < kept->seed) {
                *kept = *finding;
            }
            return;
        }
    }
    if (summary->finding_count < SUMMARY_FINDING_MAX) {
        summary->findings[summary->finding_count++] = *finding;
    }
}

static void
add_findings(struct summary *summary, uint64_t seed, uint64_t oracles, const struct result *result)
{
    for (uint32_t i = 0; i < result->finding_count; i++) {
        const struct result_finding *found = &result->findings[i];
        struct summary_finding finding = {
            .seed = seed,
            .oracles = oracles,
            .subject = found->finding.subject,
            .oracle = found->oracle,
            .subject_kind = found->finding.subject_kind,
        };
        memcpy(finding.message, found->finding.message, sizeof finding.message);
        finding.message[sizeof finding.message - 1] = '\0';
        keep(summary, &finding);
    }
}

static void add_counted(struct summary *summary, uint64_t seed, const struct result *result)
{
    summary->counted++;
    summary->excused += result->inconclusive > 0 ? 1 : 0;
    summary->completing += result->checkpoints_completed > 0 ? 1 : 0;
    summary->crash_runs += result->crashes > 0 ? 1 : 0;
    summary->crash_points_hit += result->crashes;
    summary->crash_points_seen += result->crash_points_seen;
    for (uint32_t kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        summary->kind_runs[kind] += result->kinds_fired >> kind & 1;
    }
    behaviour_add(&summary->behaviour, seed, &result->marks);
}

static uint64_t broken_oracles(const struct result *result)
{
    uint64_t oracles = 0;
    for (uint32_t i = 0; i < result->finding_count; i++) {
        oracles |= UINT64_C(1) << result->findings[i].oracle;
    }
    return oracles;
}

static void copy_message(char target[ORACLE_MESSAGE_SIZE], const char *message)
{
    if (target[0] == '\0') {
        (void)snprintf(target, ORACLE_MESSAGE_SIZE, "%s", message);
    }
}

static void count_limit(struct summary *summary, uint64_t seed, const char *message)
{
    if (summary->limited == 0) {
        summary->limit_seed = seed;
        copy_message(summary->limit, message);
    }
    summary->limited++;
}

uint64_t summary_add(struct summary *summary, uint64_t seed, const struct result *result)
{
    const uint64_t oracles = broken_oracles(result);
    summary->runs++;
    summary->events += result->events;
    summary->digest += digest_fold(digest_fold(0, seed), result->digest);
    switch ((enum run_verdict)result->verdict) {
    case RUN_VIOLATION:
        summary->violating++;
        add_findings(summary, seed, oracles, result);
        add_counted(summary, seed, result);
        break;
    case RUN_OK:
        add_counted(summary, seed, result);
        break;
    case RUN_VACUOUS:
        summary->vacuous++;
        break;
    case RUN_LIMIT:
        count_limit(summary, seed, result->message);
        break;
    case RUN_REFUSED:
        summary->refused++;
        copy_message(summary->refusal, result->message);
        break;
    }
    return oracles;
}

void summary_add_lost(struct summary *summary, uint64_t seed, uint8_t oracle, const char *message)
{
    struct summary_finding finding = {
        .seed = seed,
        .oracles = UINT64_C(1) << oracle,
        .oracle = oracle,
        .subject_kind = SUBJECT_JOB,
    };
    (void)snprintf(finding.message, sizeof finding.message, "%s", message);
    summary->runs++;
    summary->counted++;
    summary->violating++;
    summary->digest += digest_fold(digest_fold(0, seed), oracle);
    keep(summary, &finding);
}

void summary_loss_message(char message[ORACLE_MESSAGE_SIZE],
                          bool is_hang,
                          int signal,
                          nanos hang_after)
{
    if (is_hang) {
        (void)snprintf(message,
                       ORACLE_MESSAGE_SIZE,
                       "the run did not end within %" PRIu64 " s of wall time",
                       hang_after / NANOS_PER_S);
    } else if (signal == 0) {
        (void)snprintf(message, ORACLE_MESSAGE_SIZE, "the process of the run ended by itself");
    } else {
        (void)snprintf(
            message, ORACLE_MESSAGE_SIZE, "the process of the run died of signal %d", signal);
    }
}

void summary_add_limit(struct summary *summary, uint64_t seed, const char *message)
{
    summary->runs++;
    summary->digest += digest_fold(digest_fold(0, seed), UINT64_MAX);
    count_limit(summary, seed, message);
}

void summary_join(struct summary *summary, const struct summary *later)
{
    summary->runs += later->runs;
    summary->counted += later->counted;
    summary->vacuous += later->vacuous;
    summary->refused += later->refused;
    if (summary->limited == 0) {
        summary->limit_seed = later->limit_seed;
    }
    summary->limited += later->limited;
    summary->excused += later->excused;
    summary->violating += later->violating;
    summary->events += later->events;
    summary->digest += later->digest;
    summary->completing += later->completing;
    summary->crash_runs += later->crash_runs;
    summary->pct_runs += later->pct_runs;
    summary->pct_chains =
        later->pct_chains > summary->pct_chains ? later->pct_chains : summary->pct_chains;
    summary->crash_points_hit += later->crash_points_hit;
    summary->crash_points_seen += later->crash_points_seen;
    for (uint32_t kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        summary->kind_runs[kind] += later->kind_runs[kind];
    }
    behaviour_join(&summary->behaviour, &later->behaviour);
    copy_message(summary->limit, later->limit);
    copy_message(summary->refusal, later->refusal);
    for (uint32_t i = 0; i < later->finding_count; i++) {
        keep(summary, &later->findings[i]);
    }
}

bool summary_breaks(const struct summary *summary, uint64_t oracles)
{
    for (uint32_t i = 0; i < summary->finding_count; i++) {
        if ((oracles >> summary->findings[i].oracle & 1) != 0) {
            return true;
        }
    }
    return false;
}

const char *summary_oracle_name(uint8_t oracle)
{
    if (oracle == SUMMARY_ORACLE_CRASH) {
        return "crash";
    }
    if (oracle == SUMMARY_ORACLE_HANG) {
        return "hang";
    }
    CHECK(oracle < oracle_type_count);
    return oracle_types[oracle]->name;
}

enum err summary_oracle_parse(const char *name, uint8_t *oracle)
{
    for (uint8_t i = 0; i < oracle_type_count; i++) {
        if (strcmp(name, oracle_types[i]->name) == 0) {
            *oracle = i;
            return ERR_OK;
        }
    }
    for (uint8_t i = SUMMARY_ORACLE_CRASH; i <= SUMMARY_ORACLE_HANG; i++) {
        if (strcmp(name, summary_oracle_name(i)) == 0) {
            *oracle = i;
            return ERR_OK;
        }
    }
    return ERR_NOT_FOUND;
}

uint64_t summary_stop_oracles(const char *name_or_null)
{
    uint8_t oracle = 0;
    if (name_or_null == NULL) {
        return 0;
    }
    if (strcmp(name_or_null, "any") == 0 || summary_oracle_parse(name_or_null, &oracle) != ERR_OK) {
        return SUMMARY_ORACLES_ALL;
    }
    return UINT64_C(1) << oracle;
}

char *summary_subject(struct text_pool *texts, uint8_t subject_kind, uint64_t subject)
{
    char name[LANE_NAME_SIZE];
    switch ((enum subject_kind)subject_kind) {
    case SUBJECT_RECORD:
        return text_format(texts, "record %" PRIu64, subject);
    case SUBJECT_IDENTITY:
        return text_format(texts, "identity 0x%016" PRIx64, subject);
    case SUBJECT_CHECKPOINT:
        return text_format(texts, "checkpoint %" PRIu64, subject);
    case SUBJECT_EFFECT:
        return text_format(texts, "effect 0x%016" PRIx64, subject);
    case SUBJECT_LANE:
        lane_name((lane)subject, name);
        return text_format(texts, "lane %s", name);
    case SUBJECT_JOB:
        return text_format(texts, "the job");
    case SUBJECT_NONE:
        return text_format(texts, "the run");
    }
    UNREACHABLE();
}

/* --- what may fire ----------------------------------------------------------------------------- */

static bool is_licensed(const char *clause_or_null, enum profile profile)
{
    static const struct {
        const char *prefix;
        enum profile least;
    } tags[] = {{"adversary", PROFILE_ADVERSARY}, {"observed", PROFILE_OBSERVED}};
    for (size_t i = 0; clause_or_null != NULL && i < ARRAY_COUNT(tags); i++) {
        if (strncmp(clause_or_null, tags[i].prefix, strlen(tags[i].prefix)) == 0) {
            return profile >= tags[i].least;
        }
    }
    return true;
}

static uint32_t site_kinds(const struct choice_site *site, enum profile profile)
{
    uint32_t kinds = 0;
    for (uint16_t i = 1; i < site->outcome_count; i++) {
        if (is_licensed(site->outcomes[i].clause, profile)) {
            kinds |= UINT32_C(1) << site->outcomes[i].kind;
        }
    }
    return kinds;
}

/* Sites of the simulator are always there; those of a model only with their service. */
static uint32_t all_site_kinds(const struct run_config *config)
{
    uint32_t kinds = 0;
    for (size_t i = 0; i < config->registry->site_count; i++) {
        if (config->registry->sites[i]->key < FIRST_MODEL_KEY) {
            kinds |= site_kinds(config->registry->sites[i], config->profile);
        }
    }
    for (uint32_t i = 0; i < config->service_count; i++) {
        const struct model_type *type = config->services[i].type;
        for (size_t k = 0; k < type->site_count; k++) {
            kinds |= site_kinds(&type->sites[k], config->profile);
        }
    }
    return kinds;
}

uint32_t summary_kinds_offered(const struct run_config *config)
{
    const struct job_config *job = &config->job;
    uint32_t kinds = config->faults.kinds & all_site_kinds(config);
    if (!job->zombies) {
        kinds &= ~(UINT32_C(1) << FAULT_ZOMBIE);
    }
    if (job->clock_offset_max == 0 && job->clock_jump == 0) {
        kinds &= ~(UINT32_C(1) << FAULT_CLOCK);
    }
    if (job->rescale_to[0] == 0 && job->checkpoint_retained <= 1 &&
        job->savepoint.at != JOB_SAVEPOINT_DRAWN &&
        job->savepoint.failure != JOB_SAVEPOINT_FAILURE_DRAWN &&
        job->stateless_restores == JOB_STATELESS_NEVER && job->next_sink_or_null == NULL) {
        kinds &= ~(UINT32_C(1) << FAULT_RESTORE);
    }
    if (!job->checkpointing) {
        kinds &= ~(UINT32_C(1) << FAULT_CHECKPOINT_ABORTED | UINT32_C(1) << FAULT_NOTICE_LOST |
                   UINT32_C(1) << FAULT_NOTICE_LATE);
    }
    return kinds;
}

/* --- judging ----------------------------------------------------------------------------------- */

/* The record being filled, with the list of what is missing. */
struct judgement {
    const struct summary *summary;
    const struct summary_demand *demand;
    struct text_pool *texts;
    const char **shortfalls;
    size_t shortfall_count;
    size_t shortfall_capacity;
};

static void fall_short(struct judgement *judgement, const char *text)
{
    if (judgement->shortfall_count < judgement->shortfall_capacity) {
        judgement->shortfalls[judgement->shortfall_count++] = text;
    }
}

/* Coverage is asked for of sweeps over enough runs that have a verdict. */
static bool asks_for_coverage(const struct judgement *judgement)
{
    return !judgement->demand->one_run && judgement->summary->counted >= SPOT_CHECK_BELOW;
}

static uint64_t kind_runs_wanted(const struct judgement *judgement)
{
    const uint64_t asked = judgement->demand->budget;
    const uint64_t budget = asked > 0 ? asked : judgement->summary->counted;
    if (!asks_for_coverage(judgement)) {
        return 0;
    }
    const uint64_t share = budget / KIND_RUNS_SHARE;
    return share < 1 ? 1 : share > KIND_RUNS ? KIND_RUNS : share;
}

static void judge_kinds(struct judgement *judgement, struct report_run *run)
{
    const uint64_t wanted = kind_runs_wanted(judgement);
    const uint32_t menu = judgement->demand->kinds;
    struct report_count *kinds = text_memory(judgement->texts, FAULT_KIND_COUNT, sizeof *kinds);
    size_t count = 0;
    for (uint32_t kind = 1; kind < FAULT_KIND_COUNT; kind++) {
        if ((menu >> kind & 1) == 0) {
            continue;
        }
        const bool is_fault = fault_kind_is_fault((enum fault_kind)kind);
        kinds[count] = (struct report_count){
            .name = fault_kind_name((enum fault_kind)kind),
            .count = judgement->summary->kind_runs[kind],
            .wanted = is_fault ? wanted : 0,
        };
        if (kinds[count].count < kinds[count].wanted) {
            fall_short(judgement,
                       text_format(judgement->texts,
                                   "fault %s fired in %" PRIu64 " counted runs, wanted: %" PRIu64,
                                   kinds[count].name,
                                   kinds[count].count,
                                   kinds[count].wanted));
        }
        count++;
    }
    run->kinds = kinds;
    run->kind_count = count;
}

static void judge_crashes(struct judgement *judgement, struct report_run *run)
{
    const uint32_t menu = judgement->demand->kinds;
    const bool wanted = judgement->demand->is_claim && (menu >> FAULT_CRASH & 1) != 0 &&
                        asks_for_coverage(judgement);
    run->crashes = (struct report_count){
        .name = "crash with restore",
        .count = judgement->summary->crash_runs,
        .wanted = wanted ? (judgement->summary->counted + 3) / 4 : 0,
    };
    if (run->crashes.count < run->crashes.wanted) {
        fall_short(judgement,
                   text_format(judgement->texts,
                               "a crash with a restore in %" PRIu64 " of %" PRIu64
                               " counted runs, wanted: a quarter",
                               run->crashes.count,
                               judgement->summary->counted));
    }
}

static bool is_demanded(const struct summary_demand *demand, const char *oracle_name)
{
    uint8_t oracle = 0;
    return summary_oracle_parse(oracle_name, &oracle) == ERR_OK &&
           (demand->oracles >> oracle & 1) != 0;
}

/* What the scenario itself must reach is asked for when all of its seeds were run. */
static void judge_must(struct judgement *judgement, struct report_count *marks)
{
    const struct summary_demand *demand = judgement->demand;
    const bool is_due = !demand->one_run && judgement->summary->runs >= demand->must_after;
    for (size_t i = 0; i < demand->must_count; i++) {
        marks[i] = demand->must[i];
        if (is_due && marks[i].count < marks[i].wanted) {
            fall_short(judgement,
                       text_format(judgement->texts,
                                   "mark %s never reached in %" PRIu64 " runs",
                                   marks[i].name,
                                   judgement->summary->runs));
        }
    }
}

static void judge_marks(struct judgement *judgement, struct report_run *run)
{
    const struct summary_marks *names = judgement->demand->marks;
    const size_t capacity = names->count + judgement->demand->must_count;
    struct report_count *marks = text_memory(judgement->texts, capacity + 1, sizeof *marks);
    for (uint32_t i = 0; i < names->count; i++) {
        marks[i] = (struct report_count){
            .name = text_format(
                judgement->texts, "%s: %s", names->items[i].oracle, names->items[i].mark->name),
            .count = judgement->summary->behaviour.runs[names->items[i].mark->id],
            .wanted = judgement->demand->is_claim && asks_for_coverage(judgement) &&
                              is_demanded(judgement->demand, names->items[i].oracle)
                          ? 1
                          : 0,
        };
        if (marks[i].count < marks[i].wanted) {
            fall_short(judgement,
                       text_format(judgement->texts, "mark %s never seen", marks[i].name));
        }
    }
    run->marks = marks;
    run->mark_count = names->count;
    judge_must(judgement, &marks[names->count]);
    run->mark_count += judgement->demand->must_count;
    run->must_after = judgement->demand->must_after;
}

static void judge_budget(struct judgement *judgement)
{
    const struct summary *summary = judgement->summary;
    const uint64_t asked = judgement->demand->budget;
    const uint64_t wanted = asked > 0 ? asked : (summary->runs + 1) / 2;
    if (!judgement->demand->one_run && summary->counted < wanted) {
        fall_short(judgement,
                   text_format(judgement->texts,
                               "%" PRIu64 " counted runs of %" PRIu64 ", wanted: %" PRIu64,
                               summary->counted,
                               summary->runs,
                               wanted));
    }
}

static enum report_verdict expected_of(const struct scenario *scenario)
{
    switch ((enum scenario_expectation)scenario->expectation) {
    case EXPECT_HOLDS:
        return REPORT_HOLDS;
    case EXPECT_FAILS:
        return REPORT_FAILS;
    case EXPECT_REFUSED:
        return REPORT_REFUSED;
    }
    UNREACHABLE();
}

struct summary_demand summary_demand_of(const struct scenario *scenario,
                                        const struct summary_marks *marks)
{
    return (struct summary_demand){
        .expected = expected_of(scenario),
        .expected_oracle = scenario->expected_oracle,
        .kinds = summary_kinds_offered(&scenario->config),
        .marks = marks,
        .scenario_or_null = scenario,
        .must_after = scenario->default_seeds,
        .oracles = SUMMARY_ORACLES_ALL,
    };
}

/* The bits of the oracles by which an expected failure must be seen. */
static uint64_t expected_oracles(const struct summary_demand *demand)
{
    uint8_t oracle = 0;
    if (demand->expected_oracle[0] == '\0' ||
        summary_oracle_parse(demand->expected_oracle, &oracle) != ERR_OK) {
        return SUMMARY_ORACLES_ALL;
    }
    return UINT64_C(1) << oracle;
}

/* Broken by another oracle than the expected one is not the expected failure. */
static bool is_other_failure(const struct judgement *judgement)
{
    const struct summary_demand *demand = judgement->demand;
    return demand->expected == REPORT_FAILS &&
           summary_breaks(judgement->summary, demand->oracles) &&
           !summary_breaks(judgement->summary, expected_oracles(demand));
}

static enum report_verdict verdict_of(const struct judgement *judgement)
{
    const struct summary *summary = judgement->summary;
    if (summary->refused > 0) {
        return REPORT_REFUSED;
    }
    if (is_other_failure(judgement)) {
        return REPORT_INCONCLUSIVE;
    }
    if (summary_breaks(summary, judgement->demand->oracles)) {
        return REPORT_FAILS;
    }
    return judgement->shortfall_count > 0 || summary->limited > 0 ? REPORT_INCONCLUSIVE
                                                                  : REPORT_HOLDS;
}

void summary_judge(const struct summary *summary,
                   const struct summary_demand *demand,
                   struct text_pool *texts,
                   struct report_run *run)
{
    const size_t capacity = FAULT_KIND_COUNT + SUMMARY_MARK_MAX + SCENARIO_MUST_MAX + 4;
    struct summary_demand whole = *demand;
    if (demand->scenario_or_null != NULL) {
        whole.must =
            behaviour_must(&summary->behaviour, demand->scenario_or_null, texts, &whole.must_count);
        behaviour_report(&summary->behaviour, demand->scenario_or_null, demand->kinds, texts, run);
    }
    struct judgement judgement = {
        .summary = summary,
        .demand = &whole,
        .texts = texts,
        .shortfalls = text_memory(texts, capacity, sizeof(const char *)),
        .shortfall_capacity = capacity,
    };
    run->runs = summary->runs;
    run->counted = summary->counted;
    run->events = summary->events;
    run->digest = summary->digest;
    run->budget = demand->budget;
    run->violating = summary->violating;
    run->vacuous = summary->vacuous;
    run->refused = summary->refused;
    run->limited = summary->limited;
    run->excused = summary->excused;
    run->refusal = text_copy(texts, bytes_of_text(summary->refusal));
    run->limit =
        summary->limited == 0
            ? ""
            : text_format(texts, "seed %" PRIu64 ": %s", summary->limit_seed, summary->limit);
    run->expected = demand->expected;
    run->expected_oracle = demand->expected_oracle;
    judge_budget(&judgement);
    judge_kinds(&judgement, run);
    judge_crashes(&judgement, run);
    judge_marks(&judgement, run);
    if (is_other_failure(&judgement)) {
        fall_short(&judgement,
                   text_format(texts,
                               "a violation by %s, the oracle that is expected to find it",
                               demand->expected_oracle));
    }
    run->verdict = verdict_of(&judgement);
    run->as_expected = run->verdict == run->expected;
    /* What is missing matters only where nothing else decided. */
    run->shortfalls = judgement.shortfalls;
    run->shortfall_count = run->verdict == REPORT_INCONCLUSIVE ? judgement.shortfall_count : 0;
}

enum status summary_status(const struct report_run *run)
{
    if (run->as_expected) {
        return STATUS_OK;
    }
    return run->verdict == REPORT_INCONCLUSIVE && run->limited > 0 ? STATUS_INTERNAL
                                                                   : STATUS_BROKEN;
}
