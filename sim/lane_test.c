/* Lanes: packing, and one spelling for each.
 * link: sim/lane sinks/base/bytes
 */
#include "sim/lane.h"

#include "sinks/base/bytes.h"
#include "sinks/base/test.h"

#include <string.h>

/* Every lane there is: its parts come back, and its name reads as the same lane. */
static void every_lane_survives_its_name(void **state)
{
    (void)state;
    for (uint32_t kind = LANE_NONE + 1; kind < LANE_KIND_COUNT; kind++) {
        for (uint32_t index = 0; index <= LANE_INDEX_MAX; index++) {
            const lane who = lane_make((enum lane_kind)kind, index);
            char name[LANE_NAME_SIZE];
            lane read = 0;

            assert_int_equal(lane_kind_of(who), kind);
            assert_int_equal(lane_index_of(who), index);
            lane_name(who, name);
            assert_int_equal(lane_parse(bytes_of_text(name), &read), ERR_OK);
            assert_int_equal(read, who);
        }
    }
}

static void names_read_as_documented(void **state)
{
    (void)state;
    char name[LANE_NAME_SIZE];

    lane_name(lane_make(LANE_WRITER, 0), name);
    assert_string_equal(name, "writer0");
    lane_name(lane_make(LANE_COORDINATOR, 2047), name);
    assert_string_equal(name, "coordinator2047");
    lane_name(0, name);
    assert_string_equal(name, "none0");
}

/* Every other spelling is refused, and the output stays as it was. */
static void other_spellings_are_invalid(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "writer",
        "writer-1",
        "writer00",
        "writer01",
        "writer2048",
        "writer 1",
        " writer1",
        "writer1 ",
        "Writer1",
        "none0",
        "writerx",
        "1",
        "write1",
        "writer12345",
        "writers1",
        "writer99999999999",
        "writer0x1",
        "task",
        "actor+1",
        "writer1.0",
        "writer1\n2",
    };

    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        lane who = 77;

        assert_int_equal(lane_parse(bytes_of_text(bad[i]), &who), ERR_INVALID);
        assert_int_equal(who, 77);
    }
}

static void a_lane_out_of_range_is_a_broken_invariant(void **state)
{
    (void)state;
    expect_check_failure((void)lane_make(LANE_NONE, 0));
    expect_check_failure((void)lane_make(LANE_KIND_COUNT, 0));
    expect_check_failure((void)lane_make(LANE_WRITER, LANE_INDEX_MAX + 1));
    expect_check_failure((void)lane_kind_of(UINT16_MAX));
}

TEST_MAIN(lane,
          TEST(every_lane_survives_its_name),
          TEST(names_read_as_documented),
          TEST(other_spellings_are_invalid),
          TEST(a_lane_out_of_range_is_a_broken_invariant))
