/* The keyed store, clause by clause.
 *
 * link: models/generic/keyed models/model_testkit sinks/port/keyed sinks/port/port
 * link: sinks/port/decode
 * link: sinks/port/status sinks/base/err sinks/base/bytes sinks/base/digest sinks/base/list
 * link: sinks/base/units sinks/base/allocator
 * link: sim/model sim/world sim/fault sim/choice sim/lane sim/sched sim/journal sim/trace sim/clock
 * link: sim/arena
 */
#include "models/generic/keyed.h"

#include "models/model_testkit.h"
#include "sinks/base/digest.h"
#include "sinks/base/test.h"
#include "sinks/port/keyed.h"

#include <string.h>

#define ID_WINDOW  MINUTES(1)
#define BATCH_MAX  4u
#define ANY_ORDER  1u
#define WHOLE      1u
#define NO_VERDICT UINT32_MAX

static struct testkit *start_with(uint64_t order, uint64_t validation, nanos window)
{
    struct testkit *kit = testkit_open(&keyed_model, PROFILE_DOCUMENTED);
    testkit_option(kit, "batch_order", order);
    testkit_option(kit, "validation", validation);
    testkit_option(kit, "id_window", window);
    return kit;
}

static struct testkit *start(void)
{
    struct testkit *kit = start_with(0, 0, 0);
    testkit_init(kit);
    return kit;
}

/* Append entries "key id value" each; an empty value is "-". */
static enum port_code append(struct testkit *kit, const char *const *texts, uint32_t count)
{
    struct keyed_entry entries[BATCH_MAX];
    const void *items[BATCH_MAX];
    assert_true(count <= BATCH_MAX);
    for (uint32_t i = 0; i < count; i++) {
        const char *id = strchr(texts[i], ' ') + 1;
        const char *value = strchr(id, ' ') + 1;
        entries[i] = (struct keyed_entry){
            .key = {(const uint8_t *)texts[i], (size_t)(id - texts[i]) - 1},
            .id = {(const uint8_t *)id, (size_t)(value - id) - 1},
            .value = bytes_of_text(strcmp(value, "-") == 0 ? "" : value),
        };
        items[i] = &entries[i];
    }
    const struct keyed_append_request request = {.entries = {items, count}};
    return testkit_call(kit, &keyed_append_method, &request);
}

/* The verdict on an entry in the latest answer. */
static uint32_t verdict(const struct testkit *kit, uint32_t index)
{
    const struct keyed_append_result *result = kit->payload;
    uint32_t found = NO_VERDICT;
    for (uint32_t i = 0; i < result->verdicts.count; i++) {
        const struct keyed_verdict *item = result->verdicts.items[i];
        if (item->index == index) {
            assert_int_equal(found, NO_VERDICT);
            found = item->code;
        }
    }
    return found;
}

static uint32_t stored(const struct testkit *kit)
{
    return testkit_count(kit, WORLD_CREATED, TESTKIT_ANY_CODE);
}

static const char *const three[] = {"k 1 one", "k 2 two", "l 1 three"};

/* Goal: OK means stored, in order. Method: a batch, and its last entry. */
static void gk_01_an_entry_that_is_ok_is_stored(void **state)
{
    (void)state;
    struct testkit *kit = start();
    assert_int_equal(append(kit, three, 3), PORT_OK);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(verdict(kit, i), PORT_OK);
    }
    const struct journal_entry *entry = testkit_last(kit, WORLD_CREATED);
    assert_int_equal(stored(kit), 3);
    assert_int_equal(entry->generation, 3);
    assert_int_equal(entry->value, digest_bytes(BYTES_LITERAL("three")));
    assert_bytes_equal(world_resource_name(kit->world, entry->resource), BYTES_LITERAL("l"));
    testkit_heal(kit);
    assert_int_equal(stored(kit), 3);
    testkit_close(kit);
}

/* Goal: an id counts once, under its key. Method: the same id again, with another value, under another
 * key. */
static void gk_02_a_known_id_has_no_effect(void **state)
{
    (void)state;
    static const char *const again[] = {"k 1 other", "m 1 one"};
    struct testkit *kit = start();
    assert_int_equal(append(kit, three, 1), PORT_OK);
    assert_int_equal(append(kit, again, 2), PORT_OK);
    assert_int_equal(verdict(kit, 0), PORT_OK);
    assert_int_equal(verdict(kit, 1), PORT_OK);
    assert_int_equal(stored(kit), 2);
    testkit_close(kit);
}

/* Goal: a batch stops at what fails. Method: refuse the first, the middle one, none. */
static void gk_03_a_batch_stops_at_the_first_failure(void **state)
{
    (void)state;
    struct testkit *kit = start();
    struct testkit_pin *pin = testkit_pin(kit, "keyed.batch", "middle_refused");
    assert_int_equal(append(kit, three, 3), PORT_OK);
    assert_int_equal(verdict(kit, 0), PORT_OK);
    assert_int_equal(verdict(kit, 1), PORT_UNAVAILABLE);
    assert_int_equal(verdict(kit, 2), NO_VERDICT);
    assert_int_equal(stored(kit), 1);
    assert_int_equal(append(kit, three, 1), PORT_OK);
    assert_int_equal(verdict(kit, 0), PORT_OK); /* a batch of one has no middle */
    pin->value = 1;
    assert_int_equal(append(kit, &three[1], 2), PORT_OK);
    assert_int_equal(verdict(kit, 0), PORT_UNAVAILABLE);
    assert_int_equal(verdict(kit, 1), NO_VERDICT);
    assert_int_equal(stored(kit), 1);
    testkit_close(kit);
}

/* Goal: no verdict says nothing. Method: an answer that is cut with all applied, and with half. */
static void gk_04_an_entry_without_a_verdict_may_be_stored(void **state)
{
    (void)state;
    struct testkit *kit = start();
    struct testkit_pin *pin = testkit_pin(kit, "keyed.batch", "cut");
    assert_int_equal(append(kit, three, 2), PORT_OK);
    assert_int_equal(verdict(kit, 0), PORT_OK);
    assert_int_equal(verdict(kit, 1), NO_VERDICT);
    assert_int_equal(stored(kit), 1);
    pin->value++;
    assert_int_equal(append(kit, &three[1], 2), PORT_OK);
    assert_int_equal(verdict(kit, 0), PORT_OK);
    assert_int_equal(verdict(kit, 1), NO_VERDICT);
    assert_int_equal(stored(kit), 3);
    testkit_close(kit);
}

/* Goal: order within a batch is a freedom only where the option says so. Method: both settings. */
static void gk_05_any_order_is_by_option(void **state)
{
    (void)state;
    struct testkit *kit = start();
    struct testkit_pin *pin = testkit_pin(kit, "keyed.batch", "reversed");
    assert_int_equal(append(kit, three, 3), PORT_OK);
    assert_int_equal(pin->offered, 0);
    assert_int_equal(testkit_last(kit, WORLD_CREATED)->value, digest_bytes(BYTES_LITERAL("three")));
    testkit_close(kit);
    kit = start_with(ANY_ORDER, 0, 0);
    testkit_init(kit);
    pin = testkit_pin(kit, "keyed.batch", "reversed");
    assert_int_equal(append(kit, three, 3), PORT_OK);
    assert_int_equal(pin->offered, 1);
    assert_int_equal(testkit_last(kit, WORLD_CREATED)->value, digest_bytes(BYTES_LITERAL("one")));
    pin->value = 1; /* the first is refused, the others go on */
    static const char *const more[] = {"k 3 four", "k 4 five"};
    assert_int_equal(append(kit, more, 2), PORT_OK);
    assert_int_equal(verdict(kit, 0), PORT_UNAVAILABLE);
    assert_int_equal(verdict(kit, 1), PORT_OK);
    assert_int_equal(stored(kit), 4);
    testkit_close(kit);
}

/* Goal: a bad entry is named or hidden, by option. Method: the same batch with both settings. */
static void gk_06_a_bad_entry_is_refused_alone_or_with_its_batch(void **state)
{
    (void)state;
    static const char *const bad[] = {"k 1 one", "k 2 -", "k 3 three"};
    struct testkit *kit = start();
    assert_int_equal(append(kit, bad, 3), PORT_OK);
    assert_int_equal(verdict(kit, 0), PORT_OK);
    assert_int_equal(verdict(kit, 1), PORT_INVALID_ARGUMENT);
    assert_int_equal(verdict(kit, 2), NO_VERDICT);
    assert_int_equal(append(kit, NULL, 0), PORT_INVALID_ARGUMENT);
    testkit_close(kit);
    kit = start_with(0, WHOLE, 0);
    testkit_init(kit);
    assert_int_equal(append(kit, bad, 3), PORT_INVALID_ARGUMENT);
    assert_int_equal(stored(kit), 0);
    assert_int_equal(append(kit, bad, 1), PORT_OK);
    assert_int_equal(stored(kit), 1);
    testkit_close(kit);
}

/* Goal: a caller that times out knows nothing. Method: the menu has all three kinds of a timeout. */
static void gk_07_a_timeout_says_nothing(void **state)
{
    (void)state;
    const struct fate_menu *menu = &keyed_model.fates[0];
    uint32_t actions = 0;
    assert_int_equal(keyed_model.fate_count, 1);
    for (uint32_t i = 0; i < menu->site->outcome_count; i++) {
        actions |= UINT32_C(1) << menu->fates[i].action;
    }
    assert_true((actions >> FATE_REQUEST_LOST & 1) != 0);
    assert_true((actions >> FATE_ANSWER_LOST & 1) != 0);
    assert_true((actions >> FATE_APPLIED_LATER & 1) != 0);
    assert_true((actions >> FATE_REFUSED & 1) != 0);
}

/* Goal: ids are forgotten at their time only. Method: look on either side of the instant. */
static void gk_08_an_id_is_forgotten_after_its_window(void **state)
{
    (void)state;
    struct testkit *kit = start_with(0, 0, ID_WINDOW);
    testkit_init(kit);
    assert_int_equal(append(kit, three, 1), PORT_OK);
    testkit_run_for(kit, ID_WINDOW - 1);
    assert_int_equal(append(kit, three, 1), PORT_OK);
    assert_int_equal(stored(kit), 1);
    testkit_run_for(kit, 1);
    assert_int_equal(append(kit, three, 1), PORT_OK);
    assert_int_equal(stored(kit), 2);
    testkit_close(kit);
    kit = start();
    assert_int_equal(append(kit, three, 1), PORT_OK);
    testkit_run_for(kit, DAYS(40));
    assert_int_equal(append(kit, three, 1), PORT_OK);
    assert_int_equal(stored(kit), 1);
    testkit_close(kit);
}

#define CLAUSE_TESTS(X)                                                                            \
    X("GK-01", gk_01_an_entry_that_is_ok_is_stored)                                                \
    X("GK-02", gk_02_a_known_id_has_no_effect)                                                     \
    X("GK-03", gk_03_a_batch_stops_at_the_first_failure)                                           \
    X("GK-04", gk_04_an_entry_without_a_verdict_may_be_stored)                                     \
    X("GK-05", gk_05_any_order_is_by_option)                                                       \
    X("GK-06", gk_06_a_bad_entry_is_refused_alone_or_with_its_batch)                               \
    X("GK-07 X-01 X-03 X-04 X-05 X-16", gk_07_a_timeout_says_nothing)                              \
    X("GK-08", gk_08_an_id_is_forgotten_after_its_window)

/* Goal: the tables agree, and every clause has its test. Method: walk them. */
static void tables_agree(void **state)
{
    static const struct testkit_clause_test tests[] = {
#define X(ids, test) {ids, #test},
        CLAUSE_TESTS(X)
#undef X
    };
    (void)state;
    testkit_check_tables(&keyed_model, 0x1700, 0x17ff);
    testkit_check_profiles(&keyed_model);
    testkit_check_clause_tests(&keyed_model, tests, ARRAY_COUNT(tests));
}

/* Goal: equal histories have equal digests, others do not. Method: two runs that differ by a value. */
static void digest_covers_what_was_stored(void **state)
{
    (void)state;
    static const char *const other[] = {"k 2 else"};
    struct testkit *a = start();
    struct testkit *b = start();
    (void)append(a, three, 1);
    (void)append(b, three, 1);
    assert_true(keyed_model.digest(a->state) == keyed_model.digest(b->state));
    (void)append(a, &three[1], 1);
    (void)append(b, other, 1);
    assert_true(keyed_model.digest(a->state) != keyed_model.digest(b->state));
    assert_int_equal(keyed_model.identity(&keyed_append_method, NULL), 0);
    expect_check_failure(keyed_model.event(a->state, 1, 0, 0));
    testkit_close(a);
    testkit_close(b);
}

#define X(ids, test) TEST(test),
TEST_MAIN(keyed, CLAUSE_TESTS(X) TEST(tables_agree), TEST(digest_covers_what_was_stored))
