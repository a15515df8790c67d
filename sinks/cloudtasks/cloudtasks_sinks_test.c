/* The sink types: option bounds, gates, exact messages.
 * link: sinks/cloudtasks/cloudtasks_sinks sinks/cloudtasks/committer sinks/cloudtasks/eager_writer
 * link: sinks/cloudtasks/entry sinks/cloudtasks/staged_writer sinks/cloudtasks/envelope
 * link: sinks/cloudtasks/options sinks/cloudtasks/identity sinks/cloudtasks/classify
 * link: sinks/cloudtasks/user_testkit sinks/parking sinks/requests sinks/retry
 * link: sinks/port/port sinks/port/decode sinks/port/status sinks/port/cloudtasks
 * link: sinks/base/bytes sinks/base/digest sinks/base/list sinks/base/allocator sinks/base/units
 * link: sinks/base/sha256 sinks/base/err
 */
#include "sinks/cloudtasks/cloudtasks_sinks.h"

#include "sinks/base/test.h"
#include "sinks/cloudtasks/options.h"
#include "sinks/cloudtasks/user_testkit.h"

#include <string.h>

static const struct sink_job good_job = {
    .checkpointing = true,
    .barriers_exactly_once = true,
    .checkpoints_after_finish = true,
    .destination_fixed = true,
    .policy = SINK_POLICY_FAIL,
    .parallelism = 1,
};

static void assert_refused(const struct sink_type *type,
                           const struct sink_option_value *options,
                           const struct sink_job *job,
                           const char *expected)
{
    uint8_t data[512];
    struct byte_writer message;
    byte_writer_init(&message, data, sizeof(data));
    assert_int_equal(type->validate(options, job, &message), ERR_INVALID);
    assert_bytes_equal(byte_writer_view(&message), bytes_of_text(expected));
}

static void assert_accepted(const struct sink_type *type,
                            const struct sink_option_value *options,
                            const struct sink_job *job)
{
    uint8_t data[512];
    struct byte_writer message;
    byte_writer_init(&message, data, sizeof(data));
    assert_int_equal(type->validate(options, job, &message), ERR_OK);
    assert_int_equal(message.size, 0);
}

static void the_defaults_are_accepted(void **state)
{
    (void)state;
    struct sink_option_value options[CLOUDTASKS_OPTION_COUNT];
    test_options(options);
    assert_accepted(&cloudtasks_at_least_once_unnamed, options, &good_job);
    assert_accepted(&cloudtasks_at_least_once_named, options, &good_job);
    assert_accepted(&cloudtasks_exactly_once, options, &good_job);
    const struct sink_job bare = {.parallelism = 1};
    assert_accepted(&cloudtasks_at_least_once_unnamed, options, &bare);
}

static void every_gate_of_the_job_is_named(void **state)
{
    (void)state;
    static const struct {
        struct sink_job job;
        const char *expected;
    } cases[] = {
        {{.checkpointing = true, .barriers_exactly_once = true, .checkpoints_after_finish = true},
         "destination: resolved per record; it must be the fixed queue of option queue"},
        {{.checkpointing = true,
          .barriers_exactly_once = true,
          .checkpoints_after_finish = true,
          .destination_fixed = true,
          .policy = SINK_POLICY_DEAD_LETTER},
         "failure policy: records may be dropped or diverted; it must fail the job"},
        {{.checkpointing = true,
          .barriers_exactly_once = true,
          .checkpoints_after_finish = true,
          .destination_fixed = true,
          .runtime_automatic = true},
         "runtime mode: automatic; it must be set to streaming"},
        {{.checkpointing = true,
          .barriers_exactly_once = true,
          .checkpoints_after_finish = true,
          .destination_fixed = true,
          .batch = true},
         "runtime mode: batch; it must be streaming"},
        {{.barriers_exactly_once = true,
          .checkpoints_after_finish = true,
          .destination_fixed = true},
         "checkpointing: off; it must be on"},
        {{.checkpointing = true, .checkpoints_after_finish = true, .destination_fixed = true},
         "checkpointing mode: at least once; it must be exactly once"},
        {{.checkpointing = true, .barriers_exactly_once = true, .destination_fixed = true},
         "checkpoints after tasks finish: off; they must be on"},
    };
    struct sink_option_value options[CLOUDTASKS_OPTION_COUNT];
    test_options(options);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        assert_refused(&cloudtasks_exactly_once, options, &cases[i].job, cases[i].expected);
    }
}

static void every_number_is_held_to_its_bounds(void **state)
{
    (void)state;
    struct sink_option_value options[CLOUDTASKS_OPTION_COUNT];
    for (uint32_t i = 1; i < CLOUDTASKS_OPTION_COUNT; i++) {
        uint8_t data[512];
        struct byte_writer message;
        test_options(options);
        options[i].number = cloudtasks_options[i].max + 1;
        byte_writer_init(&message, data, sizeof(data));
        assert_int_equal(cloudtasks_options_check(options, CLOUDTASKS_OPTION_COUNT, &message),
                         ERR_INVALID);
        assert_memory_equal(data, cloudtasks_options[i].key, strlen(cloudtasks_options[i].key));
        if (cloudtasks_options[i].min > 0) {
            options[i].number = cloudtasks_options[i].min - 1;
            assert_int_equal(cloudtasks_options_check(options, CLOUDTASKS_OPTION_COUNT, &message),
                             ERR_INVALID);
        }
        assert_true(cloudtasks_options[i].fallback >= cloudtasks_options[i].min);
        assert_true(cloudtasks_options[i].fallback <= cloudtasks_options[i].max);
    }
    test_options(options);
    options[CLOUDTASKS_OPTION_MAX_IN_FLIGHT_TASKS].number = 0;
    assert_refused(&cloudtasks_at_least_once_unnamed,
                   options,
                   &good_job,
                   "max_in_flight_tasks: 0 is not within 1 to 1000000");
    test_options(options);
    options[CLOUDTASKS_OPTION_NAME_RETENTION].number = 0; /* means nothing to the eager sinks */
    assert_accepted(&cloudtasks_at_least_once_named, options, &good_job);
    assert_refused(&cloudtasks_exactly_once,
                   options,
                   &good_job,
                   "name_retention: 0 ns is not within 1000000 ns to 777600000000000 ns");
}

static void options_must_agree(void **state)
{
    (void)state;
    struct sink_option_value options[CLOUDTASKS_OPTION_COUNT];
    test_options(options);
    options[CLOUDTASKS_OPTION_RETRY_MAX_BACKOFF].number = MS(99);
    assert_refused(&cloudtasks_at_least_once_unnamed,
                   options,
                   &good_job,
                   "retry_max_backoff: 99000000 ns is less than retry_initial_backoff "
                   "(100000000 ns); it must be at least that");
    test_options(options);
    options[CLOUDTASKS_OPTION_NOT_FOUND_MAX_BACKOFF].number = MS(499);
    assert_refused(&cloudtasks_at_least_once_unnamed,
                   options,
                   &good_job,
                   "not_found_max_backoff: 499000000 ns is less than not_found_initial_backoff "
                   "(500000000 ns); it must be at least that");
    test_options(options);
    options[CLOUDTASKS_OPTION_NAME_RETENTION].number = SECONDS(320) + MS(1) - 1;
    assert_refused(&cloudtasks_exactly_once,
                   options,
                   &good_job,
                   "name_retention: 320000999999 ns must exceed clock_skew_allowance + "
                   "request_timeout (320000000000 ns) by at least 1000000 ns");
    options[CLOUDTASKS_OPTION_NAME_RETENTION].number = SECONDS(320) + MS(1);
    assert_accepted(&cloudtasks_exactly_once, options, &good_job);
}

static void a_queue_must_be_a_queue(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "q",
                                      "projects/p/locations/l/queues/",
                                      "projects//locations/l/queues/q",
                                      "projects/p/locations/l/queues/q/tasks/t",
                                      "projects/p/locations/l/queue/q",
                                      "Projects/p/locations/l/queues/q",
                                      "projects/p/locations/l/queues/q "};
    struct sink_option_value options[CLOUDTASKS_OPTION_COUNT];
    test_options(options);
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        char expected[256] = "queue: \"";
        strcat(expected, bad[i]);
        strcat(expected, "\" is not of the form projects/P/locations/L/queues/Q");
        options[CLOUDTASKS_OPTION_QUEUE].text = bytes_of_text(bad[i]);
        assert_refused(&cloudtasks_at_least_once_unnamed, options, &good_job, expected);
    }
    options[CLOUDTASKS_OPTION_QUEUE].text =
        BYTES_LITERAL("projects/a.b:c-1/locations/l/queues/Q_2");
    assert_accepted(&cloudtasks_at_least_once_unnamed, options, &good_job);
}

static void tables_are_complete(void **state)
{
    (void)state;
    static const struct sink_type *const types[] = {&cloudtasks_at_least_once_unnamed,
                                                    &cloudtasks_at_least_once_named,
                                                    &cloudtasks_exactly_once};
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        const struct sink_type *type = types[i];
        assert_int_equal(type->abi_version, SINK_ABI_VERSION);
        assert_int_equal(type->type_size, sizeof(struct sink_type));
        for (uint32_t k = 0; k < type->option_count; k++) {
            assert_non_null(type->options[k].key);
            assert_non_null(type->options[k].sentence);
        }
        for (uint32_t k = 0; k < type->phase_count; k++) {
            assert_non_null(type->phases[k]);
        }
        for (uint32_t k = 0; k < type->metric_count; k++) {
            assert_non_null(type->metrics[k]);
        }
        for (uint32_t k = 0; k < type->timing_count; k++) {
            assert_true(type->timings[k].left[0].fact != SINK_TIMING_NONE);
            assert_true(type->timings[k].right[0].fact != SINK_TIMING_NONE);
            assert_non_null(type->timings[k].clause);
        }
        assert_int_equal(type->committer_or_null != NULL,
                         type->committer_kind != SINK_COMMITTER_NONE);
    }
    assert_true(cloudtasks_options[CLOUDTASKS_OPTION_QUEUE].required);
}

TEST_MAIN(cloudtasks_sinks,
          TEST(the_defaults_are_accepted),
          TEST(every_gate_of_the_job_is_named),
          TEST(every_number_is_held_to_its_bounds),
          TEST(options_must_agree),
          TEST(a_queue_must_be_a_queue),
          TEST(tables_are_complete))
