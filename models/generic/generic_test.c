/* The generic durable target, clause by clause.
 *
 * link: models/generic/generic models/model_testkit sinks/port/generic sinks/port/port
 * link: sinks/port/decode
 * link: sinks/port/status sinks/base/err sinks/base/bytes sinks/base/digest sinks/base/list
 * link: sinks/base/units sinks/base/allocator
 * link: sim/model sim/world sim/fault sim/choice sim/lane sim/sched sim/journal sim/trace sim/clock
 * link: sim/arena
 */
#include "models/generic/generic.h"

#include "models/model_testkit.h"
#include "sinks/base/digest.h"
#include "sinks/base/test.h"
#include "sinks/port/generic.h"

static struct testkit *start(void)
{
    struct testkit *kit = testkit_open(&generic_model, PROFILE_DOCUMENTED);
    testkit_init(kit);
    return kit;
}

static enum port_code put(struct testkit *kit, const char *value, const char *destination)
{
    const struct generic_put_request request = {
        .key = BYTES_LITERAL("key"),
        .value = bytes_of_text(value),
        .destination = bytes_of_text(destination),
    };
    return testkit_call(kit, &generic_put_method, &request);
}

/* Goal: OK means stored, with the value as it was put. Method: compare the entry's digest. */
static void gd_01_a_put_that_is_ok_is_stored(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_int_equal(put(kit, "letter", "letters"), PORT_OK);
    const struct journal_entry *entry = testkit_last(kit, WORLD_CREATED);
    assert_int_equal(entry->value, digest_bytes(BYTES_LITERAL("letter")));
    assert_int_equal(entry->generation, 1);
    assert_bytes_equal(world_resource_name(kit->world, entry->resource), BYTES_LITERAL("letters"));
    const struct generic_put_result *result = kit->payload;
    assert_int_equal(result->sequence, 1);
    testkit_close(kit);
}

/* Goal: nothing is compared. Method: the same Put twice makes two entries. */
static void gd_02_a_repeated_put_makes_a_second_entry(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_int_equal(put(kit, "letter", ""), PORT_OK);
    assert_int_equal(put(kit, "letter", ""), PORT_OK);
    assert_int_equal(testkit_count(kit, WORLD_CREATED, TESTKIT_ANY_CODE), 2);
    assert_int_equal(testkit_last(kit, WORLD_CREATED)->generation, 2);
    testkit_close(kit);
}

/* Goal: readers see an entry at once and for good. Method: look at the entries, also after the
 * heal. */
static void gd_03_entries_are_visible_at_once_and_stay(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_int_equal(put(kit, "letter", "letters"), PORT_OK);
    testkit_run_for(kit, DAYS(40));
    testkit_heal(kit);
    assert_int_equal(testkit_last(kit, WORLD_CREATED)->time, 0);
    assert_int_equal(testkit_count(kit, WORLD_REMOVED, TESTKIT_ANY_CODE), 0);
    assert_int_equal(testkit_count(kit, WORLD_HIDDEN, TESTKIT_ANY_CODE), 0);
    testkit_close(kit);
}

/* Goal: a caller that times out knows nothing. Method: the menu has a timeout with and one without
 * effect. */
static void gd_04_a_timeout_says_nothing(void **state)
{
    const struct fate_menu *menu = &generic_model.fates[0];
    uint32_t actions = 0;
    (void)state;
    assert_int_equal(generic_model.fate_count, 1);
    for (uint32_t i = 0; i < menu->site->outcome_count; i++) {
        actions |= UINT32_C(1) << menu->fates[i].action;
    }
    assert_true((actions >> FATE_REQUEST_LOST & 1) != 0);
    assert_true((actions >> FATE_ANSWER_LOST & 1) != 0);
    assert_true((actions >> FATE_REFUSED & 1) != 0);
}

#define CLAUSE_TESTS(X)                                                                            \
    X("GD-01", gd_01_a_put_that_is_ok_is_stored)                                                   \
    X("GD-02", gd_02_a_repeated_put_makes_a_second_entry)                                          \
    X("GD-03", gd_03_entries_are_visible_at_once_and_stay)                                         \
    X("GD-04 X-01 X-03 X-04 X-05 X-16", gd_04_a_timeout_says_nothing)

/* Goal: the tables agree, and every clause has its test. Method: walk them. */
static void tables_agree(void **state)
{
    static const struct testkit_clause_test tests[] = {
#define X(ids, test) {ids, #test},
        CLAUSE_TESTS(X)
#undef X
    };
    (void)state;
    testkit_check_tables(&generic_model, 0x1500, 0x15ff);
    testkit_check_clause_tests(&generic_model, tests, ARRAY_COUNT(tests));
}

/* Goal: equal histories have equal digests, others do not. Method: two runs that differ by a
 * value. */
static void digest_covers_what_was_stored(void **state)
{
    struct testkit *a = start();
    struct testkit *b = start();
    (void)state;
    (void)put(a, "one", "");
    (void)put(b, "one", "");
    assert_true(generic_model.digest(a->state) == generic_model.digest(b->state));
    (void)put(a, "two", "");
    (void)put(b, "three", "");
    assert_true(generic_model.digest(a->state) != generic_model.digest(b->state));
    assert_int_equal(generic_model.identity(&generic_put_method, NULL), 0);
    expect_check_failure(generic_model.event(a->state, 1, 0, 0));
    testkit_close(a);
    testkit_close(b);
}

#define X(ids, test) TEST(test),
TEST_MAIN(generic, CLAUSE_TESTS(X) TEST(tables_agree), TEST(digest_covers_what_was_stored))
