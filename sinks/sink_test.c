/* Names of reasons.
 * link: sinks/sink
 */
#include "sinks/sink.h"

#include "sinks/base/test.h"

static void every_reason_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SINK_REASON_COUNT; i++) {
        assert_non_null(sink_reason_name(i));
        for (uint32_t k = 0; k < i; k++) {
            assert_string_not_equal(sink_reason_name(i), sink_reason_name(k));
        }
    }
    assert_string_equal(sink_reason_name(SINK_REASON_MEMORY), "memory");
    assert_string_equal(sink_reason_name(SINK_REASON_COUNT), "?");
}

TEST_MAIN(sink, TEST(every_reason_has_a_name_of_its_own))
