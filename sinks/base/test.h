/* The test wrapper: cmocka, and a check_failed that a test can expect.
 *
 * A test file lists what it links in comment lines "link: sinks/base/bytes" and ends with
 * TEST_MAIN(suite, TEST(name_of_the_claim), ...). Expect a failing CHECK with
 * expect_check_failure(expression). A test that fails leaves by longjmp: own memory by an arena.
 */
#ifndef SINKS_BASE_TEST_H
#define SINKS_BASE_TEST_H

/* cmocka needs these four first, in this order. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#include "sinks/base/bytes.h"
#include "sinks/base/check.h"

#define TEST(function) cmocka_unit_test(function)

#define TEST_MAIN(suite, ...)                                                                      \
    int main(void)                                                                                 \
    {                                                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        return cmocka_run_group_tests_name(#suite, tests, NULL, NULL);                             \
    }

/* Run an expression and require that it fails a CHECK. */
#define expect_check_failure(expression) expect_assert_failure(expression)

/* Require equal bytes, printing both as hex when they differ. */
void assert_bytes_equal(struct bytes actual, struct bytes expected);

#endif
