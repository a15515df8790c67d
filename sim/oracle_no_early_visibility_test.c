/* no-early-visibility: at once for staged sinks, by lost checkpoints for eager ones.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_no_early_visibility
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

static void prepare(struct kit *kit, bool staged)
{
    kit_init(kit, &oracle_no_early_visibility);
    kit->facts.staged = staged;
    kit_start(kit);
    kit_accept(kit, 1, 1);
}

static void an_effect_after_the_completion_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit_stage(&kit, 1, 21);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    kit_deliver(&kit, 1, 21, 11);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

/* Goal: mutant m-cs-01. */
static void a_staged_effect_before_the_completion_is_early(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit_stage(&kit, 1, 21);
    kit_deliver(&kit, 1, 21, 11);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
}

/* Goal: negative control: an older checkpoint is restored, what newer ones owned stays lawful. */
static void an_effect_that_a_newer_checkpoint_owned_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit_checkpoint(&kit, 0, NULL);
    kit_stage(&kit, 1, 21);
    kit_checkpoint(&kit, 1, (uint32_t[]){21, 0});
    kit_restart(&kit, 1);
    kit_deliver(&kit, 1, 22, 12);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
}

static void an_eager_effect_before_its_checkpoint_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_deliver(&kit, 1, 0, 11);
    kit_checkpoint(&kit, 1, NULL);
    kit_restart(&kit, 1);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

/* Goal: CT-AL-7, the position is that of the effect. */
static void an_eager_effect_whose_checkpoint_never_completes_is_early(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_checkpoint(&kit, 0, NULL);
    kit_deliver(&kit, 1, 0, 11);
    const uint32_t effect = kit.journal.count - 2;
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    kit_restart(&kit, 1);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->position, effect);
}

static void a_late_effect_of_a_lost_attempt_is_early(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    const uint32_t request = kit_send(&kit, kit_writer, 0);
    kit_restart(&kit, 0);
    (void)kit_note(&kit,
                   (struct journal_entry){.kind = WORLD_CREATED,
                                          .attempt = 1,
                                          .record = 1,
                                          .request = request,
                                          .resource = 11,
                                          .value = 101});
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void a_rolled_back_record_without_an_effect_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, false);
    kit_restart(&kit, 0);
    kit_accept(&kit, 1, 1);
    kit_deliver(&kit, 1, 0, 11);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

/* Goal: another class than the judged one may see it at any time. */
static void only_the_judged_class_counts(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &oracle_no_early_visibility);
    kit.facts.staged = true;
    kit.facts.reader_class = 1;
    kit_start(&kit);
    kit_accept(&kit, 1, 1);
    kit_deliver(&kit, 1, 0, 11);
    kit.facts.reader_class = 2;
    kit_effect(&kit, WORLD_VISIBLE, 1, 11, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

static void a_staged_replacement_before_the_completion_is_early(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, true);
    kit_stage(&kit, 1, 21);
    kit_effect(&kit, WORLD_REPLACED, 1, 11, 0);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: where a reader class is judged, what lies at the service unseen is not early. */
static void an_unseen_replacement_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &oracle_no_early_visibility);
    kit.facts.staged = true;
    kit.facts.reader_class = 2;
    kit_start(&kit);
    kit_accept(&kit, 1, 1);
    kit_effect(&kit, WORLD_REPLACED, 1, 11, 0);
    kit_deliver(&kit, 1, 0, 11);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    assert_false(kit.judge->ledger->effect);
}

TEST_MAIN(oracle_no_early_visibility,
          TEST(an_effect_after_the_completion_is_fine),
          TEST(a_staged_effect_before_the_completion_is_early),
          TEST(an_effect_that_a_newer_checkpoint_owned_is_fine),
          TEST(an_eager_effect_before_its_checkpoint_is_fine),
          TEST(an_eager_effect_whose_checkpoint_never_completes_is_early),
          TEST(a_late_effect_of_a_lost_attempt_is_early),
          TEST(a_rolled_back_record_without_an_effect_is_fine),
          TEST(only_the_judged_class_counts),
          TEST(a_staged_replacement_before_the_completion_is_early),
          TEST(an_unseen_replacement_is_fine))
