/* Jobs of BigQuery, clause by clause: their names, their course, and how many there may be.
 *
 * link: models/bigquery/jobs_testkit models/bigquery/bigquery models/bigquery/appends models/bigquery/rows
 * link: models/bigquery/streams models/bigquery/tables models/bigquery/metadata models/bigquery/columns
 * link: models/bigquery/statements
 * link: models/bigquery/changes models/bigquery/jobs models/bigquery/load models/bigquery/copy models/bigquery/writes
 * link: models/bigquery/others models/bigquery/contents models/bigquery/avro models/storage/storage
 * link: models/model_testkit sinks/port/bigquery sinks/port/storage sinks/port/port sinks/port/decode
 * link: sinks/port/status sinks/base/err sinks/base/bytes sinks/base/digest sinks/base/list sinks/base/units
 * link: sinks/base/allocator sim/model sim/world sim/fault sim/choice sim/lane sim/sched sim/journal
 * link: sim/trace sim/clock sim/arena
 */
#include "models/bigquery/jobs_testkit.h"
#include "sinks/base/digest.h"
#include "sinks/base/test.h"

static void start_as(struct jobs_kit *jobs, enum profile profile)
{
    jobs_open(jobs, profile);
    jobs_init(jobs);
    jobs_put(jobs, "a", JOBS_COLUMN_ID, "ab");
}

static void start(struct jobs_kit *jobs)
{
    start_as(jobs, PROFILE_DOCUMENTED);
}

static void start_with(struct jobs_kit *jobs, const char *key, uint64_t number)
{
    jobs_open(jobs, PROFILE_DOCUMENTED);
    testkit_option(jobs->kit, key, number);
    jobs_init(jobs);
    jobs_put(jobs, "a", JOBS_COLUMN_ID, "ab");
}

/* A load of the object that is there. */
static struct jobs_load *some_load(struct jobs_load *load)
{
    jobs_load_of(load, "gs://staging/a");
    return load;
}

static uint32_t state_of(struct jobs_kit *jobs, const char *id)
{
    assert_int_equal(jobs_get(jobs, id, "US"), PORT_OK);
    return jobs_job(jobs)->status->state;
}

/* --- names --------------------------------------------------------------------------------------- */

/* Goal: a job is told by the three parts of its name, runs behind the answer, and what is no id is none.
 * Method: one of the caller's, one without; characters and a length that an id does not have. */
static void bqj_01_a_job_runs_behind_its_answer(void **state)
{
    (void)state;
    static const char *const wrong[] = {"a b", "a/b", "a.b", "\xc3\xa9"};
    static char long_id[1026];
    struct jobs_kit jobs;
    struct jobs_load load;
    start(&jobs);
    assert_int_equal(jobs_insert_load(&jobs, "Ab_9-z", some_load(&load)), PORT_OK);
    const struct bigquery_job *job = jobs_job(&jobs);
    assert_bytes_equal(job->job_reference->job_id, BYTES_LITERAL("Ab_9-z"));
    assert_bytes_equal(job->job_reference->project_id, BYTES_LITERAL("p"));
    assert_bytes_equal(job->job_reference->location, BYTES_LITERAL("US"));
    assert_int_equal(job->status->state, BIGQUERY_JOB_PENDING);
    assert_int_equal(jobs_count(&jobs, "t"), 0);
    assert_int_equal(testkit_pending(jobs.kit), 1);
    jobs_pass(&jobs, SECONDS(4));
    assert_int_equal(jobs_count(&jobs, "t"), 2);
    assert_int_equal(testkit_pending(jobs.kit), 0);
    assert_int_equal(testkit_last(jobs.kit, WORLD_CREATED)->request, 1);
    assert_int_equal(jobs_insert_load(&jobs, "", &load), PORT_OK);
    assert_bytes_equal(jobs_job(&jobs)->job_reference->job_id, BYTES_LITERAL("bqjob_1"));
    assert_int_equal(jobs_insert_load(&jobs, "", &load), PORT_OK);
    assert_bytes_equal(jobs_job(&jobs)->job_reference->job_id, BYTES_LITERAL("bqjob_2"));
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        assert_int_equal(jobs_insert_load(&jobs, wrong[i], &load), PORT_INVALID_ARGUMENT);
    }
    memset(long_id, 'a', sizeof(long_id) - 2);
    assert_int_equal(jobs_insert_load(&jobs, long_id, &load), PORT_OK);
    long_id[sizeof(long_id) - 2] = 'a';
    assert_int_equal(jobs_insert_load(&jobs, long_id, &load), PORT_INVALID_ARGUMENT);
    jobs_close(&jobs);
}

/* Goal: what is no job is refused. Method: nothing at all, two kinds at once, no table, dispositions that
 * there are not. */
static void bqj_01_a_job_is_of_one_kind(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    start(&jobs);
    some_load(&load);
    const void *sources[] = {&load.table};
    const struct bigquery_job_configuration_copy copy = {.source_tables = {sources, 1},
                                                         .destination_table = &load.table};
    const struct bigquery_job_configuration both = {.load = &load.load, .copy = &copy};
    const struct bigquery_job_configuration none = {.load = NULL};
    assert_int_equal(jobs_insert(&jobs, "j", "", NULL), PORT_INVALID_ARGUMENT);
    assert_int_equal(jobs_insert(&jobs, "j", "", &none), PORT_INVALID_ARGUMENT);
    assert_int_equal(jobs_insert(&jobs, "j", "", &both), PORT_INVALID_ARGUMENT);
    load.load.destination_table = NULL;
    assert_int_equal(jobs_insert_load(&jobs, "j", &load), PORT_INVALID_ARGUMENT);
    some_load(&load)->load.create_disposition = BIGQUERY_CREATE_DISPOSITION_END;
    assert_int_equal(jobs_insert_load(&jobs, "j", &load), PORT_INVALID_ARGUMENT);
    some_load(&load)->load.write_disposition = BIGQUERY_WRITE_DISPOSITION_END;
    assert_int_equal(jobs_insert_load(&jobs, "j", &load), PORT_INVALID_ARGUMENT);
    some_load(&load)->load.source_format = BIGQUERY_FORMAT_NONE;
    assert_int_equal(jobs_insert_load(&jobs, "j", &load), PORT_INVALID_ARGUMENT);
    some_load(&load)->load.source_uris.count = 0;
    assert_int_equal(jobs_insert_load(&jobs, "j", &load), PORT_INVALID_ARGUMENT);
    assert_int_equal(jobs_insert_load(&jobs, "j", some_load(&load)), PORT_OK);
    jobs_close(&jobs);
}

/* Goal: an id is used once, whatever its job is doing or has come to. Method: again at each state, behind a
 * failure, and by another project. */
static void bqj_02_an_id_is_used_once(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    start(&jobs);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(jobs_insert_load(&jobs, "j", some_load(&load)),
                         i == 0 ? PORT_OK : PORT_ALREADY_EXISTS);
        assert_int_equal(state_of(&jobs, "j"), BIGQUERY_JOB_PENDING + i);
        jobs_pass(&jobs, SECONDS(2));
    }
    assert_int_equal(jobs_insert_load(&jobs, "j", &load), PORT_ALREADY_EXISTS);
    assert_int_equal(jobs_reason(&jobs), BIGQUERY_REASON_DUPLICATE);
    assert_true(marks_has(&jobs.kit->world->marks, MARK_BIGQUERY_JOB_EXISTS));
    assert_int_equal(jobs_count(&jobs, "t"), 2);
    load.uri = BYTES_LITERAL("gs://staging/none");
    assert_int_equal(jobs_do_load(&jobs, "k", &load), BIGQUERY_REASON_NOT_FOUND);
    assert_int_equal(jobs_insert_load(&jobs, "k", some_load(&load)), PORT_ALREADY_EXISTS);
    jobs_pass(&jobs, SECONDS(10));
    assert_int_equal(jobs_count(&jobs, "t"), 2);
    jobs_close(&jobs);
}

/* Goal: a job is forgotten after half a year, and its id is taken all the same, unless it may be used
 * again. */
static void bqj_03_a_job_is_forgotten(void **state)
{
    (void)state;
    for (uint64_t reuse = 0; reuse < 2; reuse++) {
        struct jobs_kit jobs;
        struct jobs_load load;
        start_with(&jobs, "job_id_reuse", reuse);
        assert_int_equal(jobs_do_load(&jobs, "j", some_load(&load)), BIGQUERY_REASON_NONE);
        jobs_pass(&jobs, DAYS(180) - SECONDS(4) - 1);
        assert_int_equal(jobs_get(&jobs, "j", "US"), PORT_OK);
        assert_int_equal(jobs_insert_load(&jobs, "j", &load), PORT_ALREADY_EXISTS);
        jobs_pass(&jobs, 1);
        assert_int_equal(jobs_get(&jobs, "j", "US"), PORT_NOT_FOUND);
        assert_int_equal(jobs_insert_load(&jobs, "j", &load),
                         reuse == 0 ? PORT_ALREADY_EXISTS : PORT_OK);
        jobs_pass(&jobs, SECONDS(4));
        assert_int_equal(jobs_count(&jobs, "t"), reuse == 0 ? 2 : 4);
        jobs_close(&jobs);
    }
}

/* Goal: an insert may be answered with a 5xx and have begun a job. Method: its fates. */
static void bqj_04_a_5xx_says_nothing(void **state)
{
    (void)state;
    uint32_t ambiguous = 0;
    for (size_t i = 0; i < bigquery_model.fate_count; i++) {
        const struct fate_menu *menu = &bigquery_model.fates[i];
        for (uint32_t k = 0; k < menu->site->outcome_count; k++) {
            const bool is_5xx =
                menu->fates[k].code == PORT_UNAVAILABLE || menu->fates[k].code == PORT_INTERNAL;
            ambiguous += menu->method == &bigquery_insert_job_method && is_5xx &&
                                 menu->fates[k].action == FATE_AMBIGUOUS
                             ? 1u
                             : 0u;
        }
    }
    assert_int_equal(ambiguous, 2);
}

/* --- course -------------------------------------------------------------------------------------- */

/* Goal: states follow each other; an error before the end is no failure. Method: a job that reports one and
 * succeeds. */
static void bqj_05_an_early_error_is_no_failure(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    start(&jobs);
    (void)testkit_pin(jobs.kit, "bigquery.job_errors", "early");
    assert_int_equal(jobs_insert_load(&jobs, "j", some_load(&load)), PORT_OK);
    assert_int_equal(state_of(&jobs, "j"), BIGQUERY_JOB_PENDING);
    assert_int_equal(jobs_job(&jobs)->status->errors.count, 0);
    jobs_pass(&jobs, SECONDS(2));
    assert_int_equal(state_of(&jobs, "j"), BIGQUERY_JOB_RUNNING);
    assert_int_equal(jobs_job(&jobs)->status->errors.count, 1);
    assert_null(jobs_job(&jobs)->status->error_result);
    jobs_pass(&jobs, SECONDS(2));
    assert_int_equal(state_of(&jobs, "j"), BIGQUERY_JOB_DONE);
    assert_null(jobs_job(&jobs)->status->error_result);
    assert_int_equal(jobs_count(&jobs, "t"), 2);
    jobs_close(&jobs);
}

/* Goal: a job that failed stays so and did nothing; the same under another id does. Method: each failure that
 * is not its own. */
static void bqj_06_a_failed_job_had_no_effect(void **state)
{
    (void)state;
    static const struct {
        const char *outcome;
        enum bigquery_reason reason;
    } cases[] = {
        {"backend_error", BIGQUERY_REASON_BACKEND_ERROR},
        {"internal_error", BIGQUERY_REASON_INTERNAL_ERROR},
        {"rate_limit_exceeded", BIGQUERY_REASON_RATE_LIMIT_EXCEEDED},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct jobs_kit jobs;
        struct jobs_load load;
        start(&jobs);
        struct testkit_pin *pin = testkit_pin(jobs.kit, "bigquery.job_end", cases[i].outcome);
        assert_int_equal(jobs_do_load(&jobs, "j", some_load(&load)), cases[i].reason);
        assert_int_equal(jobs_job(&jobs)->status->errors.count, 1);
        assert_true(marks_has(&jobs.kit->world->marks, MARK_BIGQUERY_JOB_FAILED));
        assert_int_equal(jobs_count(&jobs, "t"), 0);
        pin->value = 0;
        assert_int_equal(jobs_insert_load(&jobs, "j", &load), PORT_ALREADY_EXISTS);
        jobs_pass(&jobs, HOURS(1));
        assert_int_equal(jobs_count(&jobs, "t"), 0);
        assert_int_equal(jobs_do_load(&jobs, "j-r1", &load), BIGQUERY_REASON_NONE);
        assert_int_equal(jobs_count(&jobs, "t"), 2);
        jobs_close(&jobs);
    }
}

/* Goal: a look finds a job where it is, and without a location where the reading says. Method: jobs in three
 * places, with each reading; an insert that names another place. */
static void bqj_08_a_look_needs_the_location(void **state)
{
    (void)state;
    static const struct {
        const char *location;
        bool found[2]; /* by reading */
    } cases[] = {{"US", {true, true}}, {"EU", {true, false}}, {"europe-west1", {false, false}}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        for (uint64_t reading = 0; reading < 2; reading++) {
            struct jobs_kit jobs;
            struct jobs_load load;
            jobs_open(&jobs, PROFILE_OBSERVED);
            testkit_option(jobs.kit, "job_without_location", 1 + reading);
            jobs_text(&jobs, "location", cases[i].location);
            jobs_init(&jobs);
            const struct bigquery_job_configuration configuration = {.load =
                                                                         &some_load(&load)->load};
            assert_int_equal(jobs_insert(&jobs, "j", "asia", &configuration), PORT_NOT_FOUND);
            assert_int_equal(jobs_insert(&jobs, "j", "", &configuration), PORT_OK);
            assert_int_equal(jobs_insert(&jobs, "j", cases[i].location, &configuration),
                             PORT_ALREADY_EXISTS);
            assert_int_equal(jobs_get(&jobs, "j", cases[i].location), PORT_OK);
            assert_int_equal(jobs_get(&jobs, "j", "asia"), PORT_NOT_FOUND);
            assert_int_equal(jobs_reason(&jobs), BIGQUERY_REASON_NOT_FOUND);
            assert_true(marks_has(&jobs.kit->world->marks, MARK_BIGQUERY_JOB_UNSEEN));
            assert_int_equal(jobs_get(&jobs, "j", ""),
                             cases[i].found[reading] ? PORT_OK : PORT_NOT_FOUND);
            assert_int_equal(jobs_get(&jobs, "k", cases[i].location), PORT_NOT_FOUND);
            jobs_close(&jobs);
        }
    }
}

/* Goal: a second job of an id may be answered by the first one, for a day, and begins nothing. */
static void bqj_30_a_second_job_may_be_absorbed(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    start_as(&jobs, PROFILE_OBSERVED);
    (void)testkit_pin(jobs.kit, "bigquery.duplicate_job", "without_status");
    assert_int_equal(jobs_do_load(&jobs, "j", some_load(&load)), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_insert_load(&jobs, "j", &load), PORT_OK);
    assert_null(jobs_job(&jobs)->status);
    assert_bytes_equal(jobs_job(&jobs)->job_reference->job_id, BYTES_LITERAL("j"));
    assert_true(marks_has(&jobs.kit->world->marks, MARK_BIGQUERY_JOB_ABSORBED));
    jobs_pass(&jobs, DAYS(1) - SECONDS(4));
    assert_int_equal(jobs_insert_load(&jobs, "j", &load), PORT_ALREADY_EXISTS);
    assert_int_equal(jobs_count(&jobs, "t"), 2);
    jobs_close(&jobs);
}

/* Goal: a job that takes long is cut short when faults end, and one that would fail does not. Method: each
 * length, before and while it runs; a job that is healed. */
static void bqj_16_a_job_may_take_hours(void **state)
{
    (void)state;
    static const struct {
        const char *outcome;
        nanos length;
    } cases[] = {{"as_usual", SECONDS(4)}, {"minutes", MINUTES(10)}, {"six_hours", HOURS(6)}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct jobs_kit jobs;
        struct jobs_load load;
        start(&jobs);
        (void)testkit_pin(jobs.kit, "bigquery.job_length", cases[i].outcome);
        assert_int_equal(jobs_insert_load(&jobs, "j", some_load(&load)), PORT_OK);
        jobs_pass(&jobs, cases[i].length / 2 - 1);
        assert_int_equal(state_of(&jobs, "j"), BIGQUERY_JOB_PENDING);
        jobs_pass(&jobs, 1);
        assert_int_equal(state_of(&jobs, "j"), BIGQUERY_JOB_RUNNING);
        jobs_pass(&jobs, cases[i].length / 2 - 1);
        assert_int_equal(state_of(&jobs, "j"), BIGQUERY_JOB_RUNNING);
        jobs_pass(&jobs, 1);
        assert_int_equal(state_of(&jobs, "j"), BIGQUERY_JOB_DONE);
        assert_int_equal(jobs_insert_load(&jobs, "pending", &load), PORT_OK);
        assert_int_equal(jobs_insert_load(&jobs, "running", &load), PORT_OK);
        testkit_heal(jobs.kit);
        jobs_pass(&jobs, SECONDS(4));
        assert_int_equal(state_of(&jobs, "pending"), BIGQUERY_JOB_DONE);
        assert_int_equal(state_of(&jobs, "running"), BIGQUERY_JOB_DONE);
        assert_int_equal(testkit_pending(jobs.kit), 0);
        assert_int_equal(jobs_insert_load(&jobs, "later", &load), PORT_OK);
        jobs_pass(&jobs, SECONDS(4));
        assert_int_equal(state_of(&jobs, "later"), BIGQUERY_JOB_DONE);
        jobs_close(&jobs);
    }
}

/* Goal: the heal finds jobs at any point of their course. Method: one that runs since hours, one that just
 * began, one that would fail. */
static void bqj_16_the_heal_cuts_short(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    start(&jobs);
    struct testkit_pin *length = testkit_pin(jobs.kit, "bigquery.job_length", "six_hours");
    assert_int_equal(jobs_insert_load(&jobs, "old", some_load(&load)), PORT_OK);
    jobs_pass(&jobs, HOURS(3));
    assert_int_equal(jobs_insert_load(&jobs, "new", &load), PORT_OK);
    length->value = 0;
    (void)testkit_pin(jobs.kit, "bigquery.job_end", "backend_error");
    assert_int_equal(jobs_insert_load(&jobs, "failing", &load), PORT_OK);
    testkit_heal(jobs.kit);
    jobs_pass(&jobs, 1);
    assert_int_equal(state_of(&jobs, "old"), BIGQUERY_JOB_DONE);
    assert_int_equal(state_of(&jobs, "new"), BIGQUERY_JOB_PENDING);
    jobs_pass(&jobs, SECONDS(4) - 1);
    assert_int_equal(state_of(&jobs, "new"), BIGQUERY_JOB_DONE);
    assert_int_equal(state_of(&jobs, "failing"), BIGQUERY_JOB_DONE);
    assert_int_equal(jobs_count(&jobs, "t"), 6);
    jobs_close(&jobs);
}

/* --- limits -------------------------------------------------------------------------------------- */

/* Goal: a project has so many loads and copies a day, those that fail included, and a new day has new ones.
 * Method: two of each, then one too many. */
static void bqj_16_a_day_has_so_many_jobs(void **state)
{
    (void)state;
    for (uint32_t is_copy = 0; is_copy < 2; is_copy++) {
        struct jobs_kit jobs;
        struct jobs_load load;
        start_with(&jobs, is_copy ? "copies_per_day" : "loads_per_day", 2);
        some_load(&load)->uri = BYTES_LITERAL("gs://staging/none");
        const void *sources[] = {&load.table};
        const struct bigquery_table_reference other = {
            BYTES_LITERAL("p"), BYTES_LITERAL("d"), BYTES_LITERAL("other")};
        const struct bigquery_job_configuration_copy copy = {.source_tables = {sources, 1},
                                                             .destination_table = &other};
        const struct bigquery_job_configuration job = {.load = is_copy ? NULL : &load.load,
                                                       .copy = is_copy ? &copy : NULL};
        assert_int_equal(jobs_insert(&jobs, "1", "", &job), PORT_OK);
        assert_int_equal(jobs_insert(&jobs, "1", "", &job), PORT_ALREADY_EXISTS);
        assert_int_equal(jobs_insert(&jobs, "2", "", &job), PORT_OK);
        assert_int_equal(jobs_insert(&jobs, "3", "", &job), PORT_PERMISSION_DENIED);
        assert_int_equal(jobs_reason(&jobs), BIGQUERY_REASON_QUOTA_EXCEEDED);
        assert_true(marks_has(&jobs.kit->world->marks, MARK_BIGQUERY_JOB_LIMIT));
        assert_int_equal(jobs_get(&jobs, "3", "US"), PORT_NOT_FOUND);
        jobs_pass(&jobs, DAYS(1));
        assert_int_equal(jobs_insert(&jobs, "3", "", &job), PORT_OK);
        jobs_close(&jobs);
    }
}

/* Goal: so many jobs may be under way. */
static void bqj_16_so_many_jobs_are_under_way(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    start_with(&jobs, "pending_jobs_max", 2);
    assert_int_equal(jobs_insert_load(&jobs, "1", some_load(&load)), PORT_OK);
    assert_int_equal(jobs_insert_load(&jobs, "2", &load), PORT_OK);
    assert_int_equal(jobs_insert_load(&jobs, "3", &load), PORT_PERMISSION_DENIED);
    jobs_pass(&jobs, SECONDS(4));
    assert_int_equal(jobs_insert_load(&jobs, "3", &load), PORT_OK);
    jobs_close(&jobs);
}

/* Goal: a table is written to so often a day; a job that fails counts. */
static void bqj_16_a_table_is_written_so_often_a_day(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    start_with(&jobs, "table_writes_per_day", 2);
    some_load(&load)->uri = BYTES_LITERAL("gs://staging/none");
    assert_int_equal(jobs_do_load(&jobs, "1", &load), BIGQUERY_REASON_NOT_FOUND);
    assert_int_equal(jobs_do_load(&jobs, "2", some_load(&load)), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_do_load(&jobs, "3", &load), BIGQUERY_REASON_QUOTA_EXCEEDED);
    assert_int_equal(jobs_count(&jobs, "t"), 2);
    jobs_pass(&jobs, DAYS(1));
    assert_int_equal(jobs_do_load(&jobs, "4", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "t"), 4);
    jobs_close(&jobs);
}

/* Goal: a job has so many sources at most. Method: the number, and one more, of each kind. */
static void bqj_14_a_job_has_so_many_sources(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    jobs_open(&jobs, PROFILE_DOCUMENTED);
    testkit_option(jobs.kit, "copy_sources_max", 2);
    testkit_option(jobs.kit, "load_uris_max", 2);
    jobs_init(&jobs);
    jobs_put(&jobs, "a", JOBS_COLUMN_ID, "ab");
    const struct bytes uri = BYTES_LITERAL("gs://staging/a");
    const struct bytes uris[] = {uri, uri, uri};
    some_load(&load)->load.source_uris = (struct port_texts){uris, 3};
    assert_int_equal(jobs_insert_load(&jobs, "1", &load), PORT_INVALID_ARGUMENT);
    load.load.source_uris.count = 2;
    assert_int_equal(jobs_do_load(&jobs, "1", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "t"), 4);
    const void *sources[] = {&load.table, &load.table, &load.table};
    const struct bigquery_table_reference other = {
        BYTES_LITERAL("p"), BYTES_LITERAL("d"), BYTES_LITERAL("other")};
    struct bigquery_job_configuration_copy copy = {.source_tables = {sources, 3},
                                                   .destination_table = &other};
    const struct bigquery_job_configuration job = {.copy = &copy};
    assert_int_equal(jobs_insert(&jobs, "2", "", &job), PORT_INVALID_ARGUMENT);
    copy.source_tables.count = 0;
    assert_int_equal(jobs_insert(&jobs, "2", "", &job), PORT_INVALID_ARGUMENT);
    copy.source_tables.count = 2;
    assert_int_equal(jobs_do(&jobs, "2", &job), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_count(&jobs, "other"), 8);
    jobs_close(&jobs);
}

/* --- datasets and tables ------------------------------------------------------------------------- */

static enum port_code get_dataset(struct jobs_kit *jobs, const char *dataset)
{
    const struct bigquery_get_dataset_request request = {BYTES_LITERAL("p"),
                                                         bytes_of_text(dataset)};
    return testkit_call(jobs->kit, &bigquery_get_dataset_method, &request);
}

static enum port_code delete_table(struct jobs_kit *jobs, const char *dataset, const char *table)
{
    const struct bigquery_delete_table_request request = {
        BYTES_LITERAL("p"), bytes_of_text(dataset), bytes_of_text(table)};
    return testkit_call(jobs->kit, &bigquery_delete_table_method, &request);
}

/* Goal: the datasets of the tables and the further ones are there, at their location; nothing is written
 * to another one. */
static void bqt_06_a_dataset_has_a_location(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    jobs_open(&jobs, PROFILE_DOCUMENTED);
    jobs_text(&jobs, "location", "EU");
    testkit_option(jobs.kit, "dataset_table_lifetime", HOURS(2));
    jobs_init(&jobs);
    assert_int_equal(get_dataset(&jobs, "d"), PORT_OK);
    const struct bigquery_dataset *dataset = jobs.kit->payload;
    assert_bytes_equal(dataset->location, BYTES_LITERAL("EU"));
    assert_bytes_equal(dataset->dataset_reference->dataset_id, BYTES_LITERAL("d"));
    assert_int_equal(dataset->default_table_expiration_ms, 0);
    assert_int_equal(get_dataset(&jobs, "tmp"), PORT_OK);
    dataset = jobs.kit->payload;
    assert_int_equal(dataset->default_table_expiration_ms, 2 * 3600 * 1000);
    assert_int_equal(get_dataset(&jobs, "datasets"), PORT_NOT_FOUND);
    assert_int_equal(get_dataset(&jobs, ""), PORT_NOT_FOUND);
    some_load(&load)->table.dataset_id = BYTES_LITERAL("elsewhere");
    assert_int_equal(jobs_insert_load(&jobs, "j", &load), PORT_NOT_FOUND);
    jobs_close(&jobs);
}

/* Goal: a table of a dataset with a lifetime goes at its end, and is missed once; one of another dataset
 * stays. */
static void bqt_04_a_table_has_a_lifetime(void **state)
{
    (void)state;
    struct jobs_kit jobs;
    struct jobs_load load;
    start_with(&jobs, "dataset_table_lifetime", HOURS(2));
    some_load(&load)->table.table_id = BYTES_LITERAL("other");
    assert_int_equal(jobs_do_load(&jobs, "1", &load), BIGQUERY_REASON_NONE);
    load.table.dataset_id = BYTES_LITERAL("tmp");
    assert_int_equal(jobs_do_load(&jobs, "2", &load), BIGQUERY_REASON_NONE);
    jobs_pass(&jobs, HOURS(2) - 1);
    assert_int_equal(jobs_rows(&jobs, "tmp", "other")->count, 2);
    jobs_pass(&jobs, 1);
    assert_null(jobs_rows(&jobs, "tmp", "other"));
    assert_null(jobs_rows(&jobs, "tmp", "other"));
    assert_int_equal(testkit_count(jobs.kit, WORLD_EXPIRED, BIGQUERY_CAUSE_LIFETIME), 1);
    assert_true(marks_has(&jobs.kit->world->marks, MARK_BIGQUERY_TABLE_EXPIRED));
    assert_int_equal(jobs_count(&jobs, "other"), 2);
    assert_int_equal(jobs_do_load(&jobs, "3", &load), BIGQUERY_REASON_NONE);
    assert_int_equal(jobs_rows(&jobs, "tmp", "other")->count, 2);
    jobs_close(&jobs);
}

/* Goal: a table is deleted once, with its rows, and may be made again. Method: one of a job's own, one of the
 * scenario's. */
static void bqt_05_a_table_is_deleted_once(void **state)
{
    (void)state;
    static const char *const tables[] = {"other", "t"};
    for (size_t i = 0; i < ARRAY_COUNT(tables); i++) {
        struct jobs_kit jobs;
        struct jobs_load load;
        start(&jobs);
        some_load(&load)->table.table_id = bytes_of_text(tables[i]);
        assert_int_equal(jobs_do_load(&jobs, "1", &load), BIGQUERY_REASON_NONE);
        assert_int_equal(delete_table(&jobs, "d", tables[i]), PORT_OK);
        assert_int_equal(testkit_count(jobs.kit, WORLD_REMOVED, BIGQUERY_CAUSE_DELETED), 1);
        assert_int_equal(testkit_count(jobs.kit, WORLD_HIDDEN, TESTKIT_ANY_CODE), i == 0 ? 0 : 2);
        assert_null(jobs_rows(&jobs, "d", tables[i]));
        assert_int_equal(delete_table(&jobs, "d", tables[i]), PORT_NOT_FOUND);
        assert_int_equal(delete_table(&jobs, "d", "none"), PORT_NOT_FOUND);
        assert_int_equal(jobs_do_load(&jobs, "2", &load), BIGQUERY_REASON_NONE);
        assert_int_equal(jobs_count(&jobs, tables[i]), 2);
        jobs_close(&jobs);
    }
}

static uint64_t identity_of(const char *id, const char *location, const char *uri)
{
    struct jobs_load load;
    jobs_load_of(&load, uri);
    const struct bigquery_job_configuration configuration = {.load = &load.load};
    const struct bigquery_job_reference reference = {
        BYTES_LITERAL("p"), bytes_of_text(id), bytes_of_text(location)};
    const struct bigquery_job job = {.configuration = &configuration, .job_reference = &reference};
    const struct bigquery_insert_job_request request = {BYTES_LITERAL("p"), &job};
    return bigquery_model.identity(&bigquery_insert_job_method, &request);
}

/* Goal: a job is recognised by its name, whatever it is to do; one that the service names has none. */
static void a_job_is_known_by_its_name(void **state)
{
    (void)state;
    const uint64_t identity = identity_of("j", "US", "gs://staging/a");
    assert_true(identity != 0);
    assert_true(identity == identity_of("j", "US", "gs://staging/b"));
    assert_true(identity != identity_of("k", "US", "gs://staging/a"));
    assert_true(identity != identity_of("j", "EU", "gs://staging/a"));
    assert_true(identity_of("", "US", "gs://staging/a") == 0);
    const struct bigquery_insert_job_request none = {BYTES_LITERAL("p"), NULL};
    assert_true(bigquery_model.identity(&bigquery_insert_job_method, &none) == 0);
}

/* Goal: what a job does is in the digest. Method: two runs, one of which is ahead. */
static void jobs_are_in_the_digest(void **state)
{
    (void)state;
    struct jobs_kit a;
    struct jobs_kit b;
    struct jobs_load load;
    start(&a);
    start(&b);
    assert_true(bigquery_model.digest(a.kit->state) == bigquery_model.digest(b.kit->state));
    assert_int_equal(jobs_insert_load(&a, "j", some_load(&load)), PORT_OK);
    assert_true(bigquery_model.digest(a.kit->state) != bigquery_model.digest(b.kit->state));
    assert_int_equal(jobs_insert_load(&b, "j", &load), PORT_OK);
    assert_true(bigquery_model.digest(a.kit->state) == bigquery_model.digest(b.kit->state));
    jobs_pass(&a, SECONDS(2));
    assert_true(bigquery_model.digest(a.kit->state) != bigquery_model.digest(b.kit->state));
    jobs_pass(&b, SECONDS(4));
    jobs_pass(&a, SECONDS(2));
    assert_true(bigquery_model.digest(a.kit->state) == bigquery_model.digest(b.kit->state));
    jobs_close(&a);
    jobs_close(&b);
}

TEST_MAIN(bigquery_jobs,
          TEST(bqj_01_a_job_runs_behind_its_answer),
          TEST(bqj_01_a_job_is_of_one_kind),
          TEST(bqj_02_an_id_is_used_once),
          TEST(bqj_03_a_job_is_forgotten),
          TEST(bqj_04_a_5xx_says_nothing),
          TEST(bqj_05_an_early_error_is_no_failure),
          TEST(bqj_06_a_failed_job_had_no_effect),
          TEST(bqj_08_a_look_needs_the_location),
          TEST(bqj_30_a_second_job_may_be_absorbed),
          TEST(bqj_16_a_job_may_take_hours),
          TEST(bqj_16_the_heal_cuts_short),
          TEST(bqj_16_a_day_has_so_many_jobs),
          TEST(bqj_16_so_many_jobs_are_under_way),
          TEST(bqj_16_a_table_is_written_so_often_a_day),
          TEST(bqj_14_a_job_has_so_many_sources),
          TEST(bqt_06_a_dataset_has_a_location),
          TEST(bqt_04_a_table_has_a_lifetime),
          TEST(bqt_05_a_table_is_deleted_once),
          TEST(a_job_is_known_by_its_name),
          TEST(jobs_are_in_the_digest))
