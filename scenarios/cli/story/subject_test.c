/* What replay --only picks out of a journal.
 * link: scenarios/cli/story/subject scenarios/cli/seeds sim/lane sinks/base/bytes sinks/base/digest
 * link: sinks/base/units
 */
#include "scenarios/cli/story/subject.h"

#include "sinks/base/test.h"

static void each_form_names_its_kind(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum subject_filter_kind kind;
        uint64_t value;
    } forms[] = {
        {"17", SUBJECT_FILTER_RECORD, 17},
        {"record 17", SUBJECT_FILTER_RECORD, 17},
        {"record=17", SUBJECT_FILTER_RECORD, 17},
        {"record17", SUBJECT_FILTER_RECORD, 17},
        {"0xA0", SUBJECT_FILTER_IDENTITY, 0xa0},
        {"identity 0x1f", SUBJECT_FILTER_IDENTITY, 0x1f},
        {"request 3", SUBJECT_FILTER_REQUEST, 3},
        {"resource:2", SUBJECT_FILTER_RESOURCE, 2},
        {"checkpoint 4", SUBJECT_FILTER_CHECKPOINT, 4},
    };
    for (size_t i = 0; i < ARRAY_COUNT(forms); i++) {
        struct subject_filter filter = {0};
        assert_int_equal(subject_filter_parse(forms[i].text, &filter), ERR_OK);
        assert_int_equal(filter.kind, forms[i].kind);
        assert_true(filter.value == forms[i].value);
    }
    struct subject_filter filter = {0};
    assert_int_equal(subject_filter_parse("writer1", &filter), ERR_OK);
    assert_int_equal(filter.kind, SUBJECT_FILTER_LANE);
    assert_int_equal(filter.value, lane_make(LANE_WRITER, 1));
    assert_int_equal(subject_filter_parse("lane writer1", &filter), ERR_OK);
    assert_int_equal(filter.value, lane_make(LANE_WRITER, 1));
}

static void what_names_nothing_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "record", "record x", "identity ", "0x", "0x12345678901234567", "writer", "record  1"};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct subject_filter filter = {0};
        assert_int_equal(subject_filter_parse(bad[i], &filter), ERR_INVALID);
    }
}

static void a_filter_takes_its_own_entries(void **state)
{
    (void)state;
    const struct journal_entry entry = {
        .kind = HOST_RECORD,
        .lane = lane_make(LANE_WRITER, 1),
        .record = 17,
        .identity = 5,
        .request = 6,
        .resource = 7,
        .checkpoint = 8,
    };
    static const uint64_t values[] = {
        [SUBJECT_FILTER_RECORD] = 17,
        [SUBJECT_FILTER_IDENTITY] = 5,
        [SUBJECT_FILTER_REQUEST] = 6,
        [SUBJECT_FILTER_RESOURCE] = 7,
        [SUBJECT_FILTER_CHECKPOINT] = 8,
    };
    for (uint32_t kind = SUBJECT_FILTER_RECORD; kind <= SUBJECT_FILTER_CHECKPOINT; kind++) {
        struct subject_filter filter = {(enum subject_filter_kind)kind, values[kind]};
        assert_true(subject_filter_takes(&filter, &entry));
        filter.value++;
        assert_false(subject_filter_takes(&filter, &entry));
    }
    const struct subject_filter all = {0};
    assert_true(subject_filter_takes(&all, &entry));
    const struct subject_filter who = {SUBJECT_FILTER_LANE, lane_make(LANE_WRITER, 0)};
    assert_false(subject_filter_takes(&who, &entry));
}

TEST_MAIN(subject,
          TEST(each_form_names_its_kind),
          TEST(what_names_nothing_is_refused),
          TEST(a_filter_takes_its_own_entries))
