/* The plan of a commit: what is loaded into what, under which names, and that nothing else decides it.
 * link: sinks/bigquery/file_loads/plan sinks/bigquery/file_loads/plan_jobs sinks/bigquery/file_loads/plan_names
 * link: sinks/base/sha256 sinks/base/bytes sinks/base/allocator sinks/base/err
 */
#include "sinks/bigquery/file_loads/plan.h"

#include "sinks/base/test.h"

#define FILES_MAX 64u
#define JOB       "0123456789abcdef0123456789abcdef"
#define T1        "projects/p/datasets/d/tables/t1"
#define T2        "projects/p/datasets/d/tables/t2"

static struct staged_file files[FILES_MAX];
static uint32_t file_count;
static uint8_t names[FILES_MAX][32];
static uint8_t message_memory[256];
static struct byte_writer message;
static struct allocator allocator;
static struct test_memory memory;

static const struct plan_config defaults = {.write = BIGQUERY_WRITE_APPEND,
                                            .load_files_max = 10000,
                                            .load_bytes_max = UINT64_C(11) << 40,
                                            .copy_sources_max = 1200,
                                            .loads_max = 100000,
                                            .copies_max = 100000};

static void reset(void)
{
    file_count = 0;
    memory = (struct test_memory){0};
    allocator = test_allocator(&memory);
    byte_writer_init(&message, message_memory, sizeof(message_memory));
}

/* A file of checkpoint 7, 100 bytes long, whose name is its number. */
static struct staged_file *add_file(const char *table, enum bigquery_source_format format)
{
    struct byte_writer name;
    struct staged_file *file = &files[file_count];
    assert_true(file_count < FILES_MAX);
    byte_writer_init(&name, names[file_count], sizeof(names[0]));
    byte_writer_text(&name, "gs://b/f");
    byte_writer_decimal(&name, 100 + file_count);
    *file = (struct staged_file){.job = BYTES_LITERAL(JOB),
                                 .table = bytes_of_text(table),
                                 .uri = byte_writer_view(&name),
                                 .bytes = 100,
                                 .rows = 1,
                                 .checkpoint = 7,
                                 .format = (uint8_t)format};
    file_count++;
    return file;
}

static void add_files(const char *table, enum bigquery_source_format format, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        (void)add_file(table, format);
    }
}

static struct plan make(const struct plan_config *config)
{
    struct plan plan;
    assert_int_equal(plan_make(&plan, &allocator, config, files, file_count, &message), ERR_OK);
    return plan;
}

static void end(struct plan *plan)
{
    plan_release(plan);
    assert_int_equal(memory.live, 0);
}

/* All that a plan says, as bytes. */
static void write_plan(const struct plan *plan, struct byte_writer *writer)
{
    for (uint32_t i = 0; i < plan->file_count; i++) {
        byte_writer_bytes(writer, plan->files[i]->uri);
        byte_writer_u8(writer, 0);
    }
    for (uint32_t i = 0; i < plan->job_count; i++) {
        const struct plan_job *job = plan->jobs[i];
        byte_writer_u8(writer, job->kind);
        byte_writer_u8(writer, job->write);
        byte_writer_u8(writer, job->format);
        byte_writer_u8(writer, (uint8_t)(job->into_table ? 1 : 0));
        byte_writer_u8(writer, (uint8_t)(job->creates ? 1 : 0));
        byte_writer_u32_be(writer, job->stage);
        byte_writer_bytes(writer, job->id);
        byte_writer_u8(writer, 0);
        byte_writer_bytes(writer, job->table);
        byte_writer_u8(writer, 0);
        byte_writer_bytes(writer, job->target);
        byte_writer_u32_be(writer, job->source_count);
        for (uint32_t k = 0; k < job->source_count; k++) {
            byte_writer_bytes(writer, job->sources[k]);
            byte_writer_u8(writer, 0);
        }
    }
    for (uint32_t i = 0; i < plan->temporary_table_count; i++) {
        byte_writer_bytes(writer, plan->temporary_tables[i]);
        byte_writer_u8(writer, 0);
    }
    assert_false(writer->overflowed);
}

/* A generator of the test's own: Knuth's multiplicative congruence. */
static uint32_t next_number(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

static void shuffle(uint64_t *state)
{
    for (uint32_t i = file_count - 1; i > 0; i--) {
        const uint32_t other = next_number(state, i + 1);
        const struct staged_file file = files[i];
        files[i] = files[other];
        files[other] = file;
    }
}

static struct plan_config drawn_config(uint64_t *state)
{
    struct plan_config config = defaults;
    static const uint8_t writes[] = {
        BIGQUERY_WRITE_APPEND, BIGQUERY_WRITE_TRUNCATE, BIGQUERY_WRITE_TRUNCATE_DATA};
    config.write = writes[next_number(state, ARRAY_COUNT(writes))];
    config.load_files_max = 1 + next_number(state, 8);
    config.load_bytes_max = 100 + next_number(state, 500);
    config.copy_sources_max = 2 + next_number(state, 4);
    return config;
}

static void draw_files(uint64_t *state)
{
    static const char *const tables[] = {T1, T2, "projects/q/datasets/e/tables/t"};
    reset();
    const uint32_t count = 1 + next_number(state, FILES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        const char *table = tables[next_number(state, ARRAY_COUNT(tables))];
        struct staged_file *file =
            add_file(table, next_number(state, 2) == 0 ? BIGQUERY_AVRO : BIGQUERY_PARQUET);
        file->bytes = next_number(state, 200);
    }
}

/* Goal: the jobs of a commit are found again by whoever plans it anew (ADR-0018). Method: plans of the
 * same files in 20 orders, 300 times. */
static void a_plan_is_the_same_bytes_whatever_the_order(void **state)
{
    (void)state;
    static uint8_t first[1 << 16];
    static uint8_t other[1 << 16];
    uint64_t numbers = 1;
    for (uint32_t round = 0; round < 300; round++) {
        draw_files(&numbers);
        const struct plan_config config = drawn_config(&numbers);
        struct byte_writer expected;
        byte_writer_init(&expected, first, sizeof(first));
        struct plan plan = make(&config);
        write_plan(&plan, &expected);
        end(&plan);
        for (uint32_t order = 0; order < 20; order++) {
            struct byte_writer writer;
            byte_writer_init(&writer, other, sizeof(other));
            shuffle(&numbers);
            plan = make(&config);
            write_plan(&plan, &writer);
            end(&plan);
            assert_bytes_equal(byte_writer_view(&writer), byte_writer_view(&expected));
        }
    }
}

static uint32_t count_readers(const struct plan *plan, struct bytes source, uint32_t before)
{
    uint32_t readers = 0;
    for (uint32_t i = 0; i < before; i++) {
        for (uint32_t k = 0; k < plan->jobs[i]->source_count; k++) {
            readers += bytes_equal(plan->jobs[i]->sources[k], source) ? 1 : 0;
        }
    }
    return readers;
}

static void
assert_job_is_sound(const struct plan *plan, uint32_t index, const struct plan_config *config)
{
    const struct plan_job *job = plan->jobs[index];
    assert_true(index == 0 || plan->jobs[index - 1]->stage <= job->stage);
    assert_true(job->source_count > 0);
    assert_true(job->source_count <=
                (job->kind == PLAN_LOAD ? config->load_files_max : config->copy_sources_max));
    assert_true(job->into_table == bytes_equal(job->target, job->table));
    assert_true(job->creates == !job->into_table);
    assert_true(job->into_table || job->write == BIGQUERY_WRITE_TRUNCATE);
    assert_true(!job->into_table || job->write == config->write);
    assert_int_equal(count_readers(plan, job->target, plan->job_count), job->into_table ? 0 : 1);
    assert_int_equal(count_readers(plan, job->target, index), 0);
    for (uint32_t i = 0; i < index; i++) {
        assert_false(bytes_equal(plan->jobs[i]->id, job->id));
        assert_true(job->into_table || !bytes_equal(plan->jobs[i]->target, job->target));
    }
}

/* Goal: every file and every temporary table is read by one job and no more, behind the job that fills it;
 * ids and targets are told apart. Method: 500 plans. */
static void each_file_reaches_its_table_by_one_way(void **state)
{
    (void)state;
    uint64_t numbers = 2;
    for (uint32_t round = 0; round < 500; round++) {
        draw_files(&numbers);
        const struct plan_config config = drawn_config(&numbers);
        struct plan plan = make(&config);
        for (uint32_t i = 0; i < file_count; i++) {
            assert_int_equal(count_readers(&plan, files[i].uri, plan.job_count), 1);
        }
        uint32_t temporary = 0;
        for (uint32_t i = 0; i < plan.job_count; i++) {
            assert_job_is_sound(&plan, i, &config);
            temporary += plan.jobs[i]->into_table ? 0 : 1;
        }
        assert_int_equal(temporary, plan.temporary_table_count);
        end(&plan);
    }
}

/* Goal: rows of a table become readable by one job, but for an append of two formats that needs no
 * temporary table (section 6.2). Method: count the jobs into each table over 500 plans. */
static void one_job_makes_a_table_s_rows_readable(void **state)
{
    (void)state;
    uint64_t numbers = 3;
    for (uint32_t round = 0; round < 500; round++) {
        draw_files(&numbers);
        const struct plan_config config = drawn_config(&numbers);
        struct plan plan = make(&config);
        for (uint32_t i = 0; i < plan.job_count; i++) {
            uint32_t same = 0;
            bool direct = true;
            for (uint32_t k = 0; k < plan.job_count; k++) {
                if (plan.jobs[k]->into_table &&
                    bytes_equal(plan.jobs[k]->table, plan.jobs[i]->table)) {
                    same++;
                    direct = direct && plan.jobs[k]->kind == PLAN_LOAD;
                }
            }
            assert_true(same == 1 ||
                        (same == 2 && direct && config.write == BIGQUERY_WRITE_APPEND));
        }
        end(&plan);
    }
}

static void files_that_fit_go_straight_into_their_table(void **state)
{
    (void)state;
    reset();
    add_files(T1, BIGQUERY_AVRO, 3);
    struct plan plan = make(&defaults);
    assert_int_equal(plan.job_count, 1);
    const struct plan_job *job = plan.jobs[0];
    assert_int_equal(job->kind, PLAN_LOAD);
    assert_int_equal(job->source_count, 3);
    assert_bytes_equal(job->target, BYTES_LITERAL(T1));
    /* printf 'T1\ngs://b/f100\ngs://b/f101\ngs://b/f102' | sha256sum */
    assert_bytes_equal(job->id, BYTES_LITERAL("flink-bq-load-" JOB "-c7-e2229f2372ff55f5"));
    end(&plan);
}

static void a_batch_job_s_names_hold_no_checkpoint(void **state)
{
    (void)state;
    reset();
    add_file(T1, BIGQUERY_AVRO)->checkpoint = 0;
    add_file(T1, BIGQUERY_AVRO)->checkpoint = 0;
    struct plan_config config = defaults;
    config.load_files_max = 1;
    struct plan plan = make(&config);
    assert_int_equal(plan.job_count, 3);
    assert_bytes_equal(plan.jobs[0]->id,
                       BYTES_LITERAL("flink-bq-load-" JOB "-b513d79f4c42ad1e-p0"));
    /* Without a format, for there is one: printf T1 | sha256sum */
    assert_bytes_equal(plan.jobs[1]->target,
                       BYTES_LITERAL("projects/p/datasets/d/tables/tmp_" JOB "_57b4d06d46c9_p1"));
    assert_int_equal(plan.jobs[2]->kind, PLAN_COPY);
    assert_bytes_equal(plan.jobs[2]->target, BYTES_LITERAL(T1));
    end(&plan);
}

static void overflow_of_two_formats_fills_tables_of_different_names(void **state)
{
    (void)state;
    reset();
    add_files(T1, BIGQUERY_AVRO, 2);
    add_files(T1, BIGQUERY_PARQUET, 1);
    struct plan_config config = defaults;
    config.load_files_max = 1;
    config.temp_dataset = BYTES_LITERAL("projects/p/datasets/scratch");
    struct plan plan = make(&config);
    assert_int_equal(plan.job_count, 4);
    assert_bytes_equal(
        plan.jobs[0]->target,
        BYTES_LITERAL("projects/p/datasets/scratch/tables/tmp_" JOB "_e6a230c00308_c7_p0"));
    assert_bytes_equal(
        plan.jobs[2]->target,
        BYTES_LITERAL("projects/p/datasets/scratch/tables/tmp_" JOB "_7d645737c22a_c7_p0"));
    assert_int_equal(plan.jobs[3]->source_count, 3);
    end(&plan);
}

/* Goal: what two formats would erase of each other goes through temporary tables (#72, 02321f0d). */
static void replaced_rows_of_two_formats_go_through_temporary_tables(void **state)
{
    (void)state;
    for (uint8_t i = 0; i < 3; i++) {
        static const uint8_t writes[] = {
            BIGQUERY_WRITE_APPEND, BIGQUERY_WRITE_TRUNCATE, BIGQUERY_WRITE_TRUNCATE_DATA};
        const uint8_t write = writes[i];
        reset();
        add_files(T1, BIGQUERY_AVRO, 1);
        add_files(T1, BIGQUERY_PARQUET, 1);
        struct plan_config config = defaults;
        config.write = write;
        struct plan plan = make(&config);
        assert_int_equal(plan.temporary_table_count, i == 0 ? 0 : i + 1);
        assert_int_equal(plan.job_count, i + 2);
        end(&plan);
    }
}

static void kept_schemas_need_a_query_behind_the_copy(void **state)
{
    (void)state;
    reset();
    add_files(T1, BIGQUERY_AVRO, 2);
    struct plan_config config = defaults;
    config.write = BIGQUERY_WRITE_TRUNCATE_DATA;
    config.load_files_max = 1;
    struct plan plan = make(&config);
    assert_int_equal(plan.job_count, 4);
    const struct plan_job *copy = plan.jobs[2];
    const struct plan_job *query = plan.jobs[3];
    assert_int_equal(copy->kind, PLAN_COPY);
    assert_true(copy->creates);
    assert_bytes_equal(
        copy->target,
        BYTES_LITERAL("projects/p/datasets/d/tables/tmp_" JOB "_bb816446c7c5_c7_aggregate"));
    assert_int_equal(query->kind, PLAN_QUERY);
    assert_int_equal(query->write, BIGQUERY_WRITE_TRUNCATE_DATA);
    assert_bytes_equal(query->sources[0], copy->target);
    assert_bytes_equal(query->target, BYTES_LITERAL(T1));
    end(&plan);
}

/* Goal: more tables than a copy takes are gathered level by level, and one that is left alone is carried
 * up. Method: seven leaves, three to a copy: 3 + 3 + 1 at the first level. */
static void copies_are_gathered_in_levels(void **state)
{
    (void)state;
    reset();
    add_files(T1, BIGQUERY_AVRO, 7);
    struct plan_config config = defaults;
    config.load_files_max = 1;
    config.copy_sources_max = 3;
    struct plan plan = make(&config);
    assert_int_equal(plan.job_count, 10);
    assert_int_equal(plan.jobs[7]->stage, 1);
    assert_int_equal(plan.jobs[8]->stage, 1);
    const struct plan_job *last = plan.jobs[9];
    assert_int_equal(last->stage, 2);
    assert_int_equal(last->source_count, 3);
    assert_bytes_equal(last->sources[2], plan.jobs[6]->target);
    assert_bytes_equal(plan.jobs[8]->id,
                       BYTES_LITERAL("flink-bq-copy-" JOB "-c7-c721846366a810c9-l1g1"));
    assert_bytes_equal(
        plan.jobs[8]->target,
        BYTES_LITERAL("projects/p/datasets/d/tables/tmp_" JOB "_c721846366a8_c7_l1_g1"));
    end(&plan);
}

static void a_load_holds_no_more_bytes_than_it_may(void **state)
{
    (void)state;
    reset();
    add_files(T1, BIGQUERY_AVRO, 4);
    files[0].bytes = 300;
    struct plan_config config = defaults;
    config.load_bytes_max = 250;
    struct plan plan = make(&config);
    assert_int_equal(plan.jobs[0]->source_count, 1);
    assert_int_equal(plan.jobs[1]->source_count, 2);
    assert_int_equal(plan.jobs[2]->source_count, 1);
    end(&plan);
}

static void assert_refused(const struct plan_config *config, const char *text)
{
    struct plan plan;
    assert_int_equal(plan_make(&plan, &allocator, config, files, file_count, &message),
                     ERR_INVALID);
    assert_bytes_equal(byte_writer_view(&message), bytes_of_text(text));
    assert_int_equal(memory.live, 0);
    assert_null(plan.jobs);
    byte_writer_init(&message, message_memory, sizeof(message_memory));
}

static void what_a_commit_may_not_mix_is_refused(void **state)
{
    (void)state;
    reset();
    add_files(T1, BIGQUERY_AVRO, 3);
    files[2].checkpoint = 8;
    assert_refused(&defaults, "a commit has files of more than one checkpoint: gs://b/f102");
    files[2].checkpoint = 7;
    files[1].job = BYTES_LITERAL("another");
    assert_refused(&defaults, "a commit has files of more than one job: gs://b/f101");
    files[1].job = files[0].job;
    files[2].uri = files[0].uri;
    assert_refused(&defaults, "a commit has one file twice: gs://b/f100");
}

static void more_jobs_than_a_commit_may_have_are_refused(void **state)
{
    (void)state;
    reset();
    add_files(T1, BIGQUERY_AVRO, 5);
    struct plan_config config = defaults;
    config.load_files_max = 1;
    config.loads_max = 4;
    assert_refused(&config, "a commit needs more than 4 loads");
    config.loads_max = 5;
    config.copy_sources_max = 2;
    config.copies_max = 3;
    assert_refused(&config, "a commit needs more than 3 copies");
    config.copies_max = 4;
    struct plan plan = make(&config);
    end(&plan);
}

/* Goal: without memory a plan fails and keeps nothing. Method: each allocation fails in turn. */
static void a_plan_without_memory_keeps_none(void **state)
{
    (void)state;
    reset();
    add_files(T1, BIGQUERY_AVRO, 12);
    struct plan_config config = defaults;
    config.write = BIGQUERY_WRITE_TRUNCATE_DATA;
    config.load_files_max = 1;
    config.copy_sources_max = 3;
    struct plan plan = make(&config);
    const uint64_t calls = memory.calls;
    end(&plan);
    for (uint64_t nth = 1; nth <= calls; nth++) {
        memory = (struct test_memory){.fail_at = nth};
        assert_int_equal(plan_make(&plan, &allocator, &config, files, file_count, &message),
                         ERR_LIMIT);
        assert_int_equal(memory.live, 0);
    }
}

TEST_MAIN(plan,
          TEST(a_plan_is_the_same_bytes_whatever_the_order),
          TEST(each_file_reaches_its_table_by_one_way),
          TEST(one_job_makes_a_table_s_rows_readable),
          TEST(files_that_fit_go_straight_into_their_table),
          TEST(a_batch_job_s_names_hold_no_checkpoint),
          TEST(overflow_of_two_formats_fills_tables_of_different_names),
          TEST(replaced_rows_of_two_formats_go_through_temporary_tables),
          TEST(kept_schemas_need_a_query_behind_the_copy),
          TEST(copies_are_gathered_in_levels),
          TEST(a_load_holds_no_more_bytes_than_it_may),
          TEST(what_a_commit_may_not_mix_is_refused),
          TEST(more_jobs_than_a_commit_may_have_are_refused),
          TEST(a_plan_without_memory_keeps_none))
