/* The table with staged units, clause by clause.
 *
 * link: models/generic/table models/model_testkit sinks/port/table sinks/port/port
 * link: sinks/port/decode
 * link: sinks/port/status sinks/base/err sinks/base/bytes sinks/base/digest sinks/base/list
 * link: sinks/base/units sinks/base/allocator
 * link: sim/model sim/world sim/fault sim/choice sim/lane sim/sched sim/journal sim/trace sim/clock
 * link: sim/arena
 */
#include "models/generic/table.h"

#include "models/model_testkit.h"
#include "sinks/base/digest.h"
#include "sinks/base/test.h"
#include "sinks/port/table.h"

#include <string.h>

#define UNIT_TTL          MINUTES(10)
#define HISTORY_RETENTION HOURS(2)
#define UNITS_MAX         4u

static struct testkit *start(void)
{
    struct testkit *kit = testkit_open(&table_model, PROFILE_DOCUMENTED);
    testkit_option(kit, "unit_ttl", UNIT_TTL);
    testkit_option(kit, "history_retention", HISTORY_RETENTION);
    testkit_init(kit);
    return kit;
}

/* Stage one row, or two with the same value. */
static enum port_code
stage(struct testkit *kit, const char *unit, uint64_t offset, const char *value, uint32_t count)
{
    const struct table_row row = {.value = bytes_of_text(value)};
    const void *rows[2] = {&row, &row};
    const struct table_stage_request request = {
        .unit = bytes_of_text(unit), .offset = offset, .rows = {rows, count}};
    return testkit_call(kit, &table_stage_method, &request);
}

/* Units by name, separated by spaces. */
struct names {
    struct bytes items[UNITS_MAX];
    uint32_t count;
};

static struct names names_of(const char *text)
{
    struct names names = {.count = 0};
    for (size_t size = strcspn(text, " "); size > 0; size = strcspn(text, " ")) {
        assert_true(names.count < UNITS_MAX);
        names.items[names.count] = (struct bytes){(const uint8_t *)text, size};
        names.count++;
        text += size + strspn(text + size, " ");
    }
    return names;
}

static enum port_code
commit(struct testkit *kit, const char *units, uint64_t sequence, bool if_fresh, bool if_newer)
{
    const struct names names = names_of(units);
    const struct table_commit_request request = {
        .units = {names.items, names.count},
        .application = BYTES_LITERAL("job"),
        .sequence = sequence,
        .if_fresh = if_fresh,
        .if_newer = if_newer,
    };
    return testkit_call(kit, &table_commit_method, &request);
}

static enum port_code discard(struct testkit *kit, const char *units)
{
    const struct names names = names_of(units);
    const struct table_discard_request request = {.units = {names.items, names.count}};
    return testkit_call(kit, &table_discard_method, &request);
}

static const struct table_read_result *read(struct testkit *kit, const char *units)
{
    const struct names names = names_of(units);
    const struct table_read_request request = {.units = {names.items, names.count},
                                               .application = BYTES_LITERAL("job")};
    assert_int_equal(testkit_call(kit, &table_read_method, &request), PORT_OK);
    return kit->payload;
}

static uint32_t visible(const struct testkit *kit)
{
    return testkit_count(kit, WORLD_CREATED, TESTKIT_ANY_CODE);
}

/* Goal: what is staged is held and not seen. Method: stage, look, commit, look. */
static void gt_01_staged_rows_are_not_visible(void **state)
{
    (void)state;
    struct testkit *kit = start();
    assert_int_equal(stage(kit, "a", 0, "one", 1), PORT_OK);
    const struct table_stage_result *staged = kit->payload;
    assert_int_equal(staged->count, 1);
    assert_int_equal(stage(kit, "a", 1, "two", 2), PORT_OK);
    assert_int_equal(visible(kit), 0);
    assert_int_equal(commit(kit, "a", 1, false, false), PORT_OK);
    assert_int_equal(visible(kit), 3);
    const struct journal_entry *entry = testkit_last(kit, WORLD_CREATED);
    assert_int_equal(entry->value, digest_bytes(BYTES_LITERAL("two")));
    assert_int_equal(entry->generation, 3);
    assert_bytes_equal(world_resource_name(kit->world, entry->resource), BYTES_LITERAL("table"));
    testkit_close(kit);
}

/* Goal: an offset tells a repeated call from a gap. Method: offsets below, at and above the end. */
static void gt_02_offsets_are_compared_with_the_count(void **state)
{
    (void)state;
    struct testkit *kit = start();
    assert_int_equal(stage(kit, "a", 1, "one", 1), PORT_NOT_FOUND);
    assert_int_equal(stage(kit, "a", 0, "one", 2), PORT_OK);
    assert_int_equal(stage(kit, "a", 0, "one", 2), PORT_ALREADY_EXISTS);
    assert_int_equal(stage(kit, "a", 1, "one", 1), PORT_ALREADY_EXISTS);
    assert_int_equal(stage(kit, "a", 3, "one", 1), PORT_OUT_OF_RANGE);
    assert_int_equal(stage(kit, "a", 2, "two", 1), PORT_OK);
    assert_int_equal(stage(kit, "", 0, "one", 1), PORT_INVALID_ARGUMENT);
    assert_int_equal(stage(kit, "b", 0, "one", 0), PORT_INVALID_ARGUMENT);
    assert_int_equal(commit(kit, "a", 1, false, false), PORT_OK);
    assert_int_equal(visible(kit), 3);
    testkit_close(kit);
}

/* Goal: a commit is whole. Method: two units at one instant; one of two that is not there. */
static void gt_03_a_commit_is_whole(void **state)
{
    (void)state;
    struct testkit *kit = start();
    assert_int_equal(stage(kit, "a", 0, "one", 1), PORT_OK);
    assert_int_equal(stage(kit, "b", 0, "two", 2), PORT_OK);
    assert_int_equal(commit(kit, "a c", 1, false, false), PORT_NOT_FOUND);
    assert_int_equal(visible(kit), 0);
    assert_int_equal(read(kit, "a c")->sequence, 0);
    assert_int_equal(commit(kit, "a b", 1, false, false), PORT_OK);
    const struct table_commit_result *done = kit->payload;
    assert_int_equal(done->version, 1);
    assert_int_equal(visible(kit), 3);
    testkit_close(kit);
}

/* Goal: without a condition nothing protects from a second commit. Method: the same twice, with a row
 * that came between. */
static void gt_04_a_plain_commit_compares_nothing(void **state)
{
    (void)state;
    struct testkit *kit = start();
    assert_int_equal(stage(kit, "a", 0, "one", 1), PORT_OK);
    assert_int_equal(commit(kit, "a", 2, false, false), PORT_OK);
    assert_int_equal(stage(kit, "a", 1, "two", 1), PORT_OK);
    assert_int_equal(commit(kit, "a", 1, false, false), PORT_OK);
    assert_int_equal(visible(kit), 3);
    testkit_close(kit);
}

/* Goal: a commit on condition of freshness has one effect. Method: the same twice, and in company of a
 * fresh unit. */
static void gt_05_a_known_unit_is_refused(void **state)
{
    (void)state;
    struct testkit *kit = start();
    assert_int_equal(stage(kit, "a", 0, "one", 1), PORT_OK);
    assert_int_equal(stage(kit, "b", 0, "two", 1), PORT_OK);
    assert_int_equal(commit(kit, "a", 1, true, false), PORT_OK);
    assert_int_equal(commit(kit, "a", 1, true, false), PORT_ALREADY_EXISTS);
    assert_int_equal(commit(kit, "b a", 1, true, false), PORT_ALREADY_EXISTS);
    assert_int_equal(visible(kit), 1);
    assert_int_equal(commit(kit, "b", 1, true, false), PORT_OK);
    assert_int_equal(visible(kit), 2);
    testkit_close(kit);
}

/* Goal: the marker orders the commits of an application that ask for it. Method: above, at and below. */
static void gt_06_the_marker_is_compared_when_asked(void **state)
{
    (void)state;
    struct testkit *kit = start();
    assert_int_equal(stage(kit, "a", 0, "one", 1), PORT_OK);
    assert_int_equal(stage(kit, "b", 0, "two", 1), PORT_OK);
    assert_int_equal(commit(kit, "a", 5, false, true), PORT_OK);
    assert_int_equal(read(kit, "a")->sequence, 5);
    assert_int_equal(commit(kit, "b", 5, false, true), PORT_ALREADY_EXISTS);
    assert_int_equal(commit(kit, "b", 4, false, true), PORT_ALREADY_EXISTS);
    assert_int_equal(visible(kit), 1);
    assert_int_equal(commit(kit, "b", 6, false, true), PORT_OK);
    assert_int_equal(read(kit, "b")->sequence, 6);
    assert_int_equal(visible(kit), 2);
    testkit_close(kit);
}

/* Goal: a unit that is not there is told from one that was committed. Method: commit what never was,
 * and what was committed and has gone. */
static void gt_07_a_unit_that_is_not_there_is_not_found(void **state)
{
    (void)state;
    struct testkit *kit = start();
    assert_int_equal(commit(kit, "a", 1, true, false), PORT_NOT_FOUND);
    assert_int_equal(commit(kit, "", 1, true, false), PORT_INVALID_ARGUMENT);
    assert_int_equal(stage(kit, "a", 0, "one", 1), PORT_OK);
    assert_int_equal(commit(kit, "a", 1, true, false), PORT_OK);
    assert_int_equal(discard(kit, "a"), PORT_OK);
    assert_int_equal(commit(kit, "a", 1, true, false), PORT_ALREADY_EXISTS);
    assert_int_equal(commit(kit, "a", 1, false, false), PORT_NOT_FOUND);
    assert_int_equal(visible(kit), 1);
    testkit_close(kit);
}

/* Goal: a discard is of what it names. Method: one of two units, and one that is not there; then use
 * its id again. */
static void gt_08_a_discarded_unit_is_gone_and_its_id_free(void **state)
{
    (void)state;
    struct testkit *kit = start();
    assert_int_equal(stage(kit, "a", 0, "one", 2), PORT_OK);
    assert_int_equal(stage(kit, "b", 0, "two", 1), PORT_OK);
    assert_int_equal(stage(kit, "c", 0, "three", 1), PORT_OK);
    assert_int_equal(discard(kit, "b never"), PORT_OK);
    assert_int_equal(commit(kit, "b", 1, false, false), PORT_NOT_FOUND);
    assert_int_equal(discard(kit, "a"), PORT_OK);
    assert_int_equal(stage(kit, "a", 0, "four", 1), PORT_OK);
    assert_int_equal(commit(kit, "a c", 1, true, false), PORT_OK);
    assert_int_equal(visible(kit), 2);
    testkit_close(kit);
}

/* Goal: a unit lives for its time, one that took its id for its own. Method: look on either side of
 * both instants. */
static void gt_09_a_unit_expires(void **state)
{
    (void)state;
    struct testkit *kit = start();
    assert_int_equal(stage(kit, "a", 0, "one", 1), PORT_OK);
    testkit_run_for(kit, UNIT_TTL / 2);
    assert_int_equal(stage(kit, "a", 1, "two", 1), PORT_OK);
    assert_int_equal(discard(kit, "a"), PORT_OK);
    assert_int_equal(stage(kit, "a", 0, "three", 1), PORT_OK);
    testkit_run_for(kit, UNIT_TTL / 2 + 1);
    assert_int_equal(testkit_count(kit, WORLD_EXPIRED, TESTKIT_ANY_CODE), 0);
    assert_int_equal(stage(kit, "a", 1, "four", 1), PORT_OK);
    testkit_run_for(kit, UNIT_TTL / 2);
    assert_int_equal(testkit_count(kit, WORLD_EXPIRED, TESTKIT_ANY_CODE), 1);
    assert_int_equal(stage(kit, "a", 2, "five", 1), PORT_NOT_FOUND);
    assert_int_equal(commit(kit, "a", 1, true, false), PORT_NOT_FOUND);
    testkit_close(kit);
}

/* Goal: the history forgets, the marker does not. Method: look on either side of the instant. */
static void gt_10_the_history_forgets(void **state)
{
    (void)state;
    struct testkit *kit = start();
    assert_int_equal(stage(kit, "a", 0, "one", 1), PORT_OK);
    assert_int_equal(commit(kit, "a", 7, true, false), PORT_OK);
    testkit_run_for(kit, HISTORY_RETENTION - 1);
    assert_int_equal(read(kit, "a")->committed.count, 1);
    testkit_run_for(kit, 1);
    assert_int_equal(read(kit, "a")->committed.count, 0);
    assert_int_equal(read(kit, "a")->sequence, 7);
    assert_int_equal(stage(kit, "a", 0, "one", 1), PORT_OK);
    assert_int_equal(commit(kit, "a", 7, true, false), PORT_OK);
    assert_int_equal(visible(kit), 2);
    testkit_close(kit);
}

/* Goal: a read names what was committed. Method: two of three. */
static void gt_11_a_read_says_what_is_committed(void **state)
{
    (void)state;
    struct testkit *kit = start();
    assert_int_equal(stage(kit, "a", 0, "one", 1), PORT_OK);
    assert_int_equal(stage(kit, "b", 0, "two", 1), PORT_OK);
    assert_int_equal(stage(kit, "c", 0, "three", 1), PORT_OK);
    assert_int_equal(commit(kit, "a c", 3, true, false), PORT_OK);
    const struct table_read_result *result = read(kit, "a b c d");
    assert_int_equal(result->sequence, 3);
    assert_int_equal(result->committed.count, 2);
    assert_bytes_equal(result->committed.items[0], BYTES_LITERAL("a"));
    assert_bytes_equal(result->committed.items[1], BYTES_LITERAL("c"));
    testkit_close(kit);
}

/* Goal: a caller that times out knows nothing. Method: the menus of what changes something have all
 * three kinds of a timeout, and a refusal. */
static void gt_12_a_timeout_says_nothing(void **state)
{
    (void)state;
    assert_int_equal(table_model.fate_count, 4);
    for (size_t m = 0; m < table_model.fate_count; m++) {
        const struct fate_menu *menu = &table_model.fates[m];
        uint32_t actions = 0;
        for (uint32_t i = 0; i < menu->site->outcome_count; i++) {
            actions |= UINT32_C(1) << menu->fates[i].action;
        }
        assert_true((actions >> FATE_REQUEST_LOST & 1) != 0);
        assert_true((actions >> FATE_REFUSED & 1) != 0);
        const bool changes = menu->method != &table_read_method;
        assert_int_equal(actions >> FATE_ANSWER_LOST & 1, changes);
        assert_int_equal(actions >> FATE_APPLIED_LATER & 1, changes);
    }
}

#define CLAUSE_TESTS(X)                                                                            \
    X("GT-01", gt_01_staged_rows_are_not_visible)                                                  \
    X("GT-02", gt_02_offsets_are_compared_with_the_count)                                          \
    X("GT-03", gt_03_a_commit_is_whole)                                                            \
    X("GT-04", gt_04_a_plain_commit_compares_nothing)                                              \
    X("GT-05", gt_05_a_known_unit_is_refused)                                                      \
    X("GT-06", gt_06_the_marker_is_compared_when_asked)                                            \
    X("GT-07", gt_07_a_unit_that_is_not_there_is_not_found)                                        \
    X("GT-08", gt_08_a_discarded_unit_is_gone_and_its_id_free)                                     \
    X("GT-09", gt_09_a_unit_expires)                                                               \
    X("GT-10", gt_10_the_history_forgets)                                                          \
    X("GT-11", gt_11_a_read_says_what_is_committed)                                                \
    X("GT-12 X-01 X-03 X-04 X-05 X-16", gt_12_a_timeout_says_nothing)

/* Goal: the tables agree, and every clause has its test. Method: walk them. */
static void tables_agree(void **state)
{
    static const struct testkit_clause_test tests[] = {
#define X(ids, test) {ids, #test},
        CLAUSE_TESTS(X)
#undef X
    };
    (void)state;
    testkit_check_tables(&table_model, 0x1600, 0x16ff);
    testkit_check_profiles(&table_model);
    testkit_check_clause_tests(&table_model, tests, ARRAY_COUNT(tests));
}

/* Goal: equal histories have equal digests, others do not. Method: two runs that differ by a staged
 * value, a unit, a sequence. */
static void digest_covers_what_was_done(void **state)
{
    (void)state;
    struct testkit *a = start();
    struct testkit *b = start();
    (void)stage(a, "a", 0, "one", 1);
    (void)stage(b, "a", 0, "one", 1);
    assert_true(table_model.digest(a->state) == table_model.digest(b->state));
    (void)commit(a, "a", 1, true, false);
    assert_true(table_model.digest(a->state) != table_model.digest(b->state));
    (void)commit(b, "a", 2, true, false);
    assert_true(table_model.digest(a->state) != table_model.digest(b->state));
    assert_int_equal(table_model.identity(&table_commit_method, NULL), 0);
    expect_check_failure(table_model.event(a->state, 9, 0, 0));
    testkit_close(a);
    testkit_close(b);
}

#define X(ids, test) TEST(test),
TEST_MAIN(table, CLAUSE_TESTS(X) TEST(tables_agree), TEST(digest_covers_what_was_done))
