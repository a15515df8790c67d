/* Names of errors.
 * link: sinks/base/err
 */
#include "sinks/base/err.h"

#include "sinks/base/test.h"

#include <string.h>

/* Every code from ERR_OK to the last one, over the enum's range. */
static void every_code_has_its_own_name(void **state)
{
    (void)state;
    for (int a = ERR_OK; a <= ERR_SYSTEM; a++) {
        assert_true(strlen(err_name((enum err)a)) > 0);
        for (int b = ERR_OK; b < a; b++) {
            assert_string_not_equal(err_name((enum err)a), err_name((enum err)b));
        }
    }
}

static void names_are_those_of_the_constants(void **state)
{
    (void)state;
    assert_string_equal(err_name(ERR_OK), "ok");
    assert_string_equal(err_name(ERR_TRUNCATED), "truncated");
    assert_string_equal(err_name(ERR_NOT_FOUND), "not_found");
    assert_string_equal(err_name(ERR_SYSTEM), "system");
}

static void a_code_outside_the_enum_is_a_check(void **state)
{
    (void)state;
    const unsigned outside = (unsigned)ERR_SYSTEM + 1;
    expect_check_failure((void)err_name((enum err)outside));
}

TEST_MAIN(err,
          TEST(every_code_has_its_own_name),
          TEST(names_are_those_of_the_constants),
          TEST(a_code_outside_the_enum_is_a_check))
