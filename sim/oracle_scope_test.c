/* scope: what the configuration forbids is not done.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_scope
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

#define FORBIDS(what) (UINT32_C(1) << CONFIGURED_##what)

static void prepare(struct kit *kit, uint32_t forbidden)
{
    kit_init(kit, &oracle_scope);
    kit->facts.forbidden = forbidden;
    kit_start(kit);
}

static void configure(struct kit *kit, enum configured what, lane by, uint16_t service)
{
    const uint32_t request = kit_send(kit, by, 0);
    (void)kit_note(kit,
                   (struct journal_entry){.kind = WORLD_CONFIGURED,
                                          .code = (uint8_t)what,
                                          .service = service,
                                          .resource = 7,
                                          .generation = 1,
                                          .request = request});
}

static void what_is_allowed_is_fine(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, FORBIDS(CHANGED) | FORBIDS(REMOVED));
    configure(&kit, CONFIGURED_CREATED, kit_writer, KIT_TARGET);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

/* Goal: each kind is forbidden by itself. Method: forbid one and do it. */
static void what_is_forbidden_is_a_violation(void **state)
{
    (void)state;
    for (uint32_t what = CONFIGURED_CREATED; what < CONFIGURED_COUNT; what++) {
        struct kit kit;
        prepare(&kit, UINT32_C(1) << what);
        configure(&kit, (enum configured)what, kit_committer, KIT_TARGET);
        assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
        assert_int_equal(kit_finding(&kit)->subject, kit_committer);
    }
}

/* Goal: only the sink is held to it, and only at its own service. */
static void what_others_do_is_theirs(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit, FORBIDS(CREATED));
    configure(&kit, CONFIGURED_CREATED, kit_policy, KIT_TARGET);
    configure(&kit, CONFIGURED_CREATED, kit_writer, KIT_LETTERS);
    (void)kit_note(&kit,
                   (struct journal_entry){
                       .kind = WORLD_CONFIGURED, .code = CONFIGURED_CREATED, .resource = 7});
    kit_accept(&kit, 1, 1);
    kit_deliver(&kit, 1, 0, 1);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

static void declare(struct kit *kit, uint64_t value, lane by)
{
    const uint32_t request = kit_send(kit, by, 0);
    (void)kit_note(kit,
                   (struct journal_entry){.kind = WORLD_CONFIGURED,
                                          .code = CONFIGURED_DECLARED,
                                          .service = KIT_TARGET,
                                          .resource = 7,
                                          .generation = 1,
                                          .value = value,
                                          .request = request});
}

/* Goal: what is declared is so. Method: what it is set to is what is asked for, is another, is nobody's
 * concern, is declared by somebody else. */
static void what_is_declared_must_be_so(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &oracle_scope);
    kit.facts.declared = 5;
    kit_start(&kit);
    declare(&kit, 5, kit_writer);
    declare(&kit, 6, kit_policy);
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    declare(&kit, 6, kit_writer);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->subject, kit_writer);
    prepare(&kit, 0);
    declare(&kit, 6, kit_writer);
    kit_accept(&kit, 1, 1);
    kit_deliver(&kit, 1, 0, 1);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

TEST_MAIN(oracle_scope,
          TEST(what_is_allowed_is_fine),
          TEST(what_is_forbidden_is_a_violation),
          TEST(what_others_do_is_theirs),
          TEST(what_is_declared_must_be_so))
