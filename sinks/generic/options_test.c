/* What the generic sinks refuse before the first request, and what they read.
 * link: sinks/generic/transactional sinks/generic/transactional_writer
 * link: sinks/generic/transactional_committer sinks/generic/idempotent sinks/generic/idempotent_writer
 * link: sinks/generic/options sinks/generic/unit_frame sinks/generic/buffered sinks/parking sinks/retry
 * link: sinks/port/table sinks/port/keyed sinks/port/port sinks/port/decode sinks/port/status
 * link: sinks/base/bytes sinks/base/digest sinks/base/list sinks/base/allocator sinks/base/units sinks/base/err
 */
#include "sinks/base/test.h"
#include "sinks/generic/idempotent.h"
#include "sinks/generic/transactional.h"

#include <string.h>

#define OPTION_MAX 16u

struct setting {
    const struct sink_type *type;
    struct sink_option_value options[OPTION_MAX];
    struct sink_job job;
    uint8_t message[256];
};

static void begin(struct setting *setting, const struct sink_type *type)
{
    memset(setting, 0, sizeof(*setting));
    setting->type = type;
    assert_true(type->option_count <= OPTION_MAX);
    for (uint32_t i = 0; i < type->option_count; i++) {
        const struct sink_option *option = &type->options[i];
        setting->options[i].number = option->fallback;
        if (option->type == SINK_OPTION_TEXT) {
            setting->options[i].text = bytes_of_text(option->fallback_text);
        }
    }
    setting->job = (struct sink_job){.checkpointing = true,
                                     .barriers_exactly_once = true,
                                     .bounded = true,
                                     .checkpoints_after_finish = true,
                                     .destination_fixed = true};
}

static void assert_fine(struct setting *setting)
{
    struct byte_writer message;
    byte_writer_init(&message, setting->message, sizeof(setting->message));
    assert_int_equal(setting->type->validate(setting->options, &setting->job, &message), ERR_OK);
    assert_int_equal(message.size, 0);
}

static void assert_refused(struct setting *setting, const char *expected)
{
    struct byte_writer message;
    byte_writer_init(&message, setting->message, sizeof(setting->message));
    assert_int_equal(setting->type->validate(setting->options, &setting->job, &message),
                     ERR_INVALID);
    assert_bytes_equal(byte_writer_view(&message), bytes_of_text(expected));
}

static void defaults_are_fine(void **state)
{
    (void)state;
    struct setting setting;
    begin(&setting, &generic_transactional);
    assert_fine(&setting);
    begin(&setting, &generic_idempotent);
    assert_fine(&setting);
    setting.job = (struct sink_job){.policy = SINK_POLICY_DROP};
    assert_fine(&setting);
}

static void a_number_out_of_its_bounds_is_named(void **state)
{
    (void)state;
    struct setting setting;
    begin(&setting, &generic_transactional);
    setting.options[TRANSACTIONAL_OPTION_MAX_BATCH_ROWS].number = 0;
    assert_refused(&setting, "max_batch_rows: 0 is not within 1 to 10000");
    begin(&setting, &generic_transactional);
    setting.options[TRANSACTIONAL_OPTION_REQUEST_TIMEOUT].number = 5;
    assert_refused(&setting,
                   "request_timeout: 5 ns is not within 1000000 ns to 9223372036854775807 ns");
    begin(&setting, &generic_idempotent);
    setting.options[IDEMPOTENT_OPTION_DISTINCT_KEYS].number = 2;
    assert_refused(&setting, "distinct_keys: 2 is not within 0 to 1");
}

static void a_text_of_a_wrong_size_or_form_is_named(void **state)
{
    (void)state;
    struct setting setting;
    begin(&setting, &generic_transactional);
    setting.options[TRANSACTIONAL_OPTION_APPLICATION].text = BYTES_LITERAL("");
    assert_refused(&setting, "application: a text of 0 bytes is not of 1 to 1024 bytes of UTF-8");
    setting.options[TRANSACTIONAL_OPTION_APPLICATION].text = BYTES_LITERAL("\xff");
    assert_refused(&setting, "application: a text of 1 bytes is not of 1 to 1024 bytes of UTF-8");
}

static void a_longest_pause_below_the_first_is_refused(void **state)
{
    (void)state;
    struct setting setting;
    begin(&setting, &generic_transactional);
    setting.options[TRANSACTIONAL_OPTION_RETRY_MAX_BACKOFF].number = MS(1);
    assert_refused(
        &setting,
        "retry_max_backoff: 1000000 ns is less than retry_initial_backoff (100000000 ns);"
        " it must be at least that");
    begin(&setting, &generic_idempotent);
    setting.options[IDEMPOTENT_OPTION_RETRY_MAX_BACKOFF].number = MS(1);
    assert_refused(
        &setting,
        "retry_max_backoff: 1000000 ns is less than retry_initial_backoff (100000000 ns);"
        " it must be at least that");
}

/* Goal: the transactional sink takes part only where its guarantee can hold. */
static void a_job_that_breaks_the_guarantee_is_refused(void **state)
{
    (void)state;
    struct setting setting;
    begin(&setting, &generic_transactional);
    setting.job.policy = SINK_POLICY_DROP;
    assert_refused(&setting,
                   "failure policy: records may be dropped or diverted; it must fail the job");
    begin(&setting, &generic_transactional);
    setting.job.checkpointing = false;
    assert_refused(&setting, "checkpointing: off; it must be on");
    begin(&setting, &generic_transactional);
    setting.job.barriers_exactly_once = false;
    assert_refused(&setting, "checkpointing mode: at least once; it must be exactly once");
    begin(&setting, &generic_transactional);
    setting.job.checkpoints_after_finish = false;
    assert_refused(&setting,
                   "checkpoints after tasks finish: off; they must be on for bounded input");
    setting.job.bounded = false;
    assert_fine(&setting);
}

static void options_are_read_by_their_meaning(void **state)
{
    (void)state;
    struct setting setting;
    struct byte_writer message;
    byte_writer_init(&message, setting.message, sizeof(setting.message));
    begin(&setting, &generic_transactional);
    setting.options[TRANSACTIONAL_OPTION_MAX_BUFFERED_ROWS].number = 7;
    struct transactional_config transactional;
    assert_int_equal(transactional_configure(setting.options, &transactional, &message), ERR_OK);
    assert_bytes_equal(transactional.application, BYTES_LITERAL("job"));
    assert_int_equal(transactional.batch_rows_max, 100);
    assert_int_equal(transactional.buffered_rows_max, 7);
    assert_int_equal(transactional.retry.initial, MS(100));
    assert_int_equal(transactional.retry.max, SECONDS(10));
    assert_int_equal(transactional.retry.attempts_max, 8);
    assert_int_equal(transactional.request_timeout, SECONDS(20));
    begin(&setting, &generic_idempotent);
    setting.options[IDEMPOTENT_OPTION_BUFFER_IN_STATE].number = 1;
    struct idempotent_config idempotent;
    assert_int_equal(idempotent_configure(setting.options, &idempotent, &message), ERR_OK);
    assert_int_equal(idempotent.batch_max, 4);
    assert_int_equal(idempotent.buffered_max, 1000);
    assert_int_equal(idempotent.linger, SECONDS(1));
    assert_int_equal(idempotent.retry.attempts_max, 8);
    assert_true(idempotent.buffer_in_state);
    assert_false(idempotent.distinct_keys);
}

TEST_MAIN(generic_options,
          TEST(defaults_are_fine),
          TEST(a_number_out_of_its_bounds_is_named),
          TEST(a_text_of_a_wrong_size_or_form_is_named),
          TEST(a_longest_pause_below_the_first_is_refused),
          TEST(a_job_that_breaks_the_guarantee_is_refused),
          TEST(options_are_read_by_their_meaning))
