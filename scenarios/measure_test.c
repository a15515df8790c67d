/* What is read from a journal: instants per record, exact percentiles, throughput over whole
 * checkpoint intervals, and the lag curve. The journals are written by hand.
 *
 * link: scenarios/measure scenarios/cli/text sim/journal sim/arena
 * link: sinks/base/bytes sinks/base/units
 */
#include "scenarios/measure.h"

#include "sinks/base/test.h"

#define RECORDS 6u

/* Two splits: records 1 to 4, and 5 and 6. */
struct fixture {
    struct source_record records[RECORDS];
    uint32_t starts[3];
    struct source_log log;
    struct run_config config;
    struct measure *measure;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){.starts = {0, 4, 6}};
    fixture.log = (struct source_log){
        .records = fixture.records,
        .record_count = RECORDS,
        .split_starts = fixture.starts,
        .split_count = 2,
    };
    fixture.config.job.log = &fixture.log;
    fixture.config.job.sources = 1;
    fixture.config.job.record_interval = MS(100);
    fixture.config.job.record_burst = 1;
    fixture.measure = measure_create(&fixture.config);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    measure_destroy(fixture->measure);
    return 0;
}

static void remake(struct fixture *fixture)
{
    measure_destroy(fixture->measure);
    fixture->measure = measure_create(&fixture->config);
}

static void note(struct fixture *fixture, nanos time, struct journal_entry entry)
{
    entry.time = time;
    measure_entry(fixture->measure, &entry);
}

static void host(struct fixture *fixture, nanos time, enum journal_kind kind)
{
    note(fixture, time, (struct journal_entry){.kind = (uint8_t)kind});
}

static void of_record(struct fixture *fixture, nanos time, enum journal_kind kind, record_id record)
{
    note(fixture, time, (struct journal_entry){.kind = (uint8_t)kind, .record = record});
}

static void of_checkpoint(struct fixture *fixture, nanos time, enum journal_kind kind, uint32_t n)
{
    note(fixture, time, (struct journal_entry){.kind = (uint8_t)kind, .checkpoint = n});
}

/* A checkpoint that is triggered and completed at once. */
static void checkpoint(struct fixture *fixture, nanos time, uint32_t number)
{
    of_checkpoint(fixture, time, HOST_CHECKPOINT_TRIGGERED, number);
    of_checkpoint(fixture, time, HOST_CHECKPOINT_COMPLETED, number);
}

static nanos at(const struct fixture *fixture, record_id record, uint32_t point)
{
    return fixture->measure->records[record - 1].at[point];
}

/* Goal: intended arrival is what the source would do undisturbed. Method: one source alternates
 * between its splits until the short one is used up; the start of the job is not 0. */
static void a_source_alone_takes_its_splits_in_rotation(void **state)
{
    struct fixture *fixture = *state;
    static const nanos wanted[RECORDS] = {0, MS(200), MS(400), MS(500), MS(100), MS(300)};
    host(fixture, MS(7), HOST_JOB_STARTED);
    host(fixture, MS(900), HOST_JOB_STARTED);
    for (uint32_t i = 0; i < RECORDS; i++) {
        assert_int_equal(at(fixture, i + 1, MEASURE_INTENDED), MS(7) + wanted[i]);
    }
    assert_int_equal(fixture->measure->restarts, 1);
}

static void two_sources_take_a_split_each_in_bursts(void **state)
{
    struct fixture *fixture = *state;
    static const nanos wanted[RECORDS] = {0, 0, MS(100), MS(100), 0, 0};
    fixture->config.job.sources = 2;
    fixture->config.job.record_burst = 2;
    remake(fixture);
    host(fixture, 0, HOST_JOB_STARTED);
    for (uint32_t i = 0; i < RECORDS; i++) {
        assert_int_equal(at(fixture, i + 1, MEASURE_INTENDED), wanted[i]);
    }
}

/* Goal: each instant is that of the first time, whatever a restart repeats. */
static void the_first_time_counts(void **state)
{
    struct fixture *fixture = *state;
    host(fixture, 0, HOST_JOB_STARTED);
    of_record(fixture, MS(1), HOST_RECORD, 1);
    of_record(fixture, MS(2), HOST_ACCEPTED, 1);
    of_record(fixture, MS(3), WORLD_CREATED, 1);
    of_record(fixture, MS(11), HOST_RECORD, 1);
    of_record(fixture, MS(12), HOST_ACCEPTED, 1);
    of_record(fixture, MS(13), WORLD_REPLACED, 1);
    assert_int_equal(at(fixture, 1, MEASURE_HANDED), MS(1));
    assert_int_equal(at(fixture, 1, MEASURE_ACCEPTED), MS(2));
    assert_int_equal(at(fixture, 1, MEASURE_VISIBLE), MS(3));
    assert_int_equal(at(fixture, 1, MEASURE_COMMITTED), TIME_NEVER);
    assert_int_equal(at(fixture, 2, MEASURE_VISIBLE), TIME_NEVER);
}

/* Goal: visibility is told per reader class, of the target service and no other. */
static void each_reader_class_sees_for_itself(void **state)
{
    struct fixture *fixture = *state;
    host(fixture, 0, HOST_JOB_STARTED);
    note(fixture, MS(1), (struct journal_entry){.kind = WORLD_CREATED, .record = 1, .service = 1});
    note(fixture, MS(2), (struct journal_entry){.kind = WORLD_VISIBLE, .record = 1, .code = 2});
    note(fixture, MS(3), (struct journal_entry){.kind = WORLD_CREATED, .record = 1});
    note(fixture, MS(4), (struct journal_entry){.kind = WORLD_VISIBLE, .record = 1, .code = 1});
    note(fixture, MS(5), (struct journal_entry){.kind = WORLD_VISIBLE, .record = 1, .code = 200});
    assert_int_equal(at(fixture, 1, MEASURE_VISIBLE), MS(3));
    assert_int_equal(at(fixture, 1, MEASURE_VISIBLE + 1), MS(4));
    assert_int_equal(at(fixture, 1, MEASURE_VISIBLE + 2), MS(2));
}

/* Goal: the wait for the checkpoint and the drain behind it can be told apart, and a failed commit is
 * none. */
static void a_commit_is_split_at_its_checkpoint(void **state)
{
    struct fixture *fixture = *state;
    host(fixture, 0, HOST_JOB_STARTED);
    of_record(fixture, MS(2), HOST_ACCEPTED, 1);
    of_checkpoint(fixture, MS(10), HOST_CHECKPOINT_TRIGGERED, 3);
    of_checkpoint(fixture, MS(20), HOST_CHECKPOINT_COMPLETED, 3);
    note(fixture,
         MS(25),
         (struct journal_entry){.kind = HOST_FINALISED, .record = 1, .checkpoint = 3});
    note(fixture,
         MS(26),
         (struct journal_entry){.kind = HOST_FINALISED,
                                .record = 2,
                                .checkpoint = 3,
                                .code = SINK_SIGNAL_FAILED_KNOWN});
    of_checkpoint(fixture, MS(27), HOST_COMMIT_RETURNED, 3);
    assert_int_equal(at(fixture, 1, MEASURE_RELEASED), MS(20));
    assert_int_equal(at(fixture, 1, MEASURE_COMMITTED), MS(25));
    assert_int_equal(at(fixture, 2, MEASURE_COMMITTED), TIME_NEVER);
    assert_int_equal(fixture->measure->checkpoint_count, 1);
    assert_int_equal(fixture->measure->checkpoints[0].triggered, MS(10));
    assert_int_equal(fixture->measure->checkpoints[0].completed, MS(20));
    assert_int_equal(fixture->measure->checkpoints[0].commit_returned, MS(27));
}

static void an_outage_lasts_from_the_first_death_to_the_next_start(void **state)
{
    struct fixture *fixture = *state;
    host(fixture, 0, HOST_JOB_STARTED);
    host(fixture, MS(10), HOST_CRASHED);
    host(fixture, MS(12), HOST_CRASHED);
    host(fixture, MS(15), HOST_JOB_STOPPED);
    host(fixture, MS(40), HOST_JOB_STARTED);
    host(fixture, MS(50), HOST_JOB_STOPPED);
    assert_int_equal(fixture->measure->outage_count, 2);
    assert_int_equal(fixture->measure->outages[0].from, MS(10));
    assert_int_equal(fixture->measure->outages[0].to, MS(40));
    assert_int_equal(fixture->measure->outages[1].from, MS(50));
    assert_int_equal(fixture->measure->outages[1].to, TIME_NEVER);
}

/* Goal: durations are sorted, those without an end are counted, and a window chooses by the first
 * instant. Arrivals are 0, 200, 400, 500, 100, 300 ms. */
static void durations_are_of_the_records_of_a_window(void **state)
{
    struct fixture *fixture = *state;
    nanos durations[RECORDS];
    uint32_t missing = 0;
    host(fixture, 0, HOST_JOB_STARTED);
    of_record(fixture, MS(50), WORLD_CREATED, 1);
    of_record(fixture, MS(107), WORLD_CREATED, 5);
    of_record(fixture, MS(209), WORLD_CREATED, 2);
    of_record(fixture, MS(402), WORLD_CREATED, 3);
    const struct measure_span span = {
        .first = MEASURE_INTENDED,
        .second = MEASURE_VISIBLE,
        .from = MS(100),
        .to = MS(500),
    };
    assert_int_equal(measure_durations(fixture->measure, span, durations, &missing), 3);
    assert_int_equal(durations[0], MS(2));
    assert_int_equal(durations[1], MS(7));
    assert_int_equal(durations[2], MS(9));
    assert_int_equal(missing, 1);
}

static void a_percentile_is_the_nearest_rank(void **state)
{
    (void)state;
    static const uint64_t values[20] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                        11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    assert_int_equal(measure_percentile(values, 20, 950), 19);
    assert_int_equal(measure_percentile(values, 20, 951), 20);
    assert_int_equal(measure_percentile(values, 20, 500), 10);
    assert_int_equal(measure_percentile(values, 19, 500), 10);
    assert_int_equal(measure_percentile(values, 20, 1000), 20);
    assert_int_equal(measure_percentile(values, 20, 1), 1);
    assert_int_equal(measure_percentile(values, 1, 500), 1);
    expect_check_failure(measure_percentile(values, 0, 500));
    expect_check_failure(measure_percentile(values, 20, 0));
}

/* Goal: whole intervals only. Method: what is visible before the first completion, or behind the last
 * one inside the window, does not count; a checkpoint that was not completed ends no interval. */
static void throughput_is_over_whole_checkpoint_intervals(void **state)
{
    struct fixture *fixture = *state;
    host(fixture, 0, HOST_JOB_STARTED);
    checkpoint(fixture, SECONDS(1), 1);
    of_record(fixture, SECONDS(1), WORLD_CREATED, 1);
    of_record(fixture, SECONDS(1) + 1, WORLD_CREATED, 2);
    checkpoint(fixture, SECONDS(2), 2);
    of_record(fixture, SECONDS(3), WORLD_CREATED, 3);
    checkpoint(fixture, SECONDS(4), 3);
    of_record(fixture, SECONDS(4), WORLD_CREATED, 4);
    of_record(fixture, SECONDS(5), WORLD_CREATED, 5);
    of_checkpoint(fixture, SECONDS(6), HOST_CHECKPOINT_TRIGGERED, 4);
    checkpoint(fixture, SECONDS(8), 5);
    const struct measure_throughput found =
        measure_throughput(fixture->measure, 0, MS(500), SECONDS(7));
    assert_int_equal(found.from, SECONDS(1));
    assert_int_equal(found.to, SECONDS(4));
    assert_int_equal(found.intervals, 2);
    assert_int_equal(found.records, 3);
    assert_int_equal(found.milli_per_s, 1000);
    const struct measure_throughput all = measure_throughput(fixture->measure, 0, 0, TIME_NEVER);
    assert_int_equal(all.to, SECONDS(8));
    assert_int_equal(all.intervals, 3);
    const struct measure_throughput none =
        measure_throughput(fixture->measure, 0, MS(500), SECONDS(1));
    assert_int_equal(none.intervals, 0);
    assert_int_equal(none.milli_per_s, 0);
}

/* Goal: the curve tells what arrived, what is visible and the age of the oldest between the two. */
static void the_lag_is_the_age_of_the_oldest_that_is_not_visible(void **state)
{
    struct fixture *fixture = *state;
    struct measure_moment moments[4];
    host(fixture, 0, HOST_JOB_STARTED);
    of_record(fixture, MS(150), WORLD_CREATED, 5);
    of_record(fixture, MS(250), WORLD_CREATED, 1);
    of_record(fixture, MS(260), WORLD_CREATED, 2);
    measure_curve(fixture->measure, 0, MS(100), MS(100), moments, 4);
    assert_int_equal(moments[0].arrived, 2);
    assert_int_equal(moments[0].visible, 0);
    assert_int_equal(moments[0].lag, MS(100));
    assert_int_equal(moments[1].arrived, 3);
    assert_int_equal(moments[1].visible, 1);
    assert_int_equal(moments[1].lag, MS(200));
    assert_int_equal(moments[2].time, MS(300));
    assert_int_equal(moments[2].visible, 3);
    assert_int_equal(moments[2].lag, 0); /* record 6 has just arrived */
    assert_int_equal(moments[3].arrived, 5);
    assert_int_equal(moments[3].lag, MS(100));
    measure_reset(fixture->measure);
    host(fixture, 0, HOST_JOB_STARTED);
    of_record(fixture, MS(10), WORLD_CREATED, 1);
    measure_curve(fixture->measure, 0, MS(50), MS(10), moments, 1);
    assert_int_equal(moments[0].lag, 0); /* the next one comes at 100 ms */
}

/* Goal: caught up is the first instant, not a sampled one. Method: records 1, 5, 2 are late, 6, 3, 4
 * are in time. */
static void caught_up_is_when_the_lag_falls_to_the_bound(void **state)
{
    struct fixture *fixture = *state;
    const struct measure *measure = fixture->measure;
    host(fixture, 0, HOST_JOB_STARTED);
    of_record(fixture, MS(310), WORLD_CREATED, 6);
    of_record(fixture, MS(350), WORLD_CREATED, 1);
    of_record(fixture, MS(360), WORLD_CREATED, 5);
    of_record(fixture, MS(420), WORLD_CREATED, 2);
    of_record(fixture, MS(430), WORLD_CREATED, 3);
    assert_int_equal(measure_caught_up(measure, 0, MS(320), MS(30)), MS(420));
    assert_int_equal(measure_caught_up(measure, 0, MS(320), MS(160)), MS(360));
    assert_int_equal(measure_caught_up(measure, 0, MS(20), MS(30)), MS(20));
    assert_int_equal(measure_caught_up(measure, 0, MS(600), MS(99)), TIME_NEVER);
}

static void a_reset_forgets_the_run(void **state)
{
    struct fixture *fixture = *state;
    host(fixture, 0, HOST_JOB_STARTED);
    checkpoint(fixture, MS(1), 1);
    host(fixture, MS(2), HOST_CRASHED);
    of_record(fixture, MS(3), WORLD_CREATED, 1);
    measure_reset(fixture->measure);
    assert_int_equal(at(fixture, 1, MEASURE_VISIBLE), TIME_NEVER);
    assert_int_equal(at(fixture, 1, MEASURE_INTENDED), TIME_NEVER);
    assert_int_equal(fixture->measure->checkpoint_count, 0);
    assert_int_equal(fixture->measure->outage_count, 0);
    assert_int_equal(fixture->measure->started, TIME_NEVER);
}

#define MEASURE_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

TEST_MAIN(measure,
          MEASURE_TEST(a_source_alone_takes_its_splits_in_rotation),
          MEASURE_TEST(two_sources_take_a_split_each_in_bursts),
          MEASURE_TEST(the_first_time_counts),
          MEASURE_TEST(each_reader_class_sees_for_itself),
          MEASURE_TEST(a_commit_is_split_at_its_checkpoint),
          MEASURE_TEST(an_outage_lasts_from_the_first_death_to_the_next_start),
          MEASURE_TEST(durations_are_of_the_records_of_a_window),
          MEASURE_TEST(a_percentile_is_the_nearest_rank),
          MEASURE_TEST(throughput_is_over_whole_checkpoint_intervals),
          MEASURE_TEST(the_lag_is_the_age_of_the_oldest_that_is_not_visible),
          MEASURE_TEST(caught_up_is_when_the_lag_falls_to_the_bound),
          MEASURE_TEST(a_reset_forgets_the_run))
