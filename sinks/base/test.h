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

#include "sinks/base/allocator.h"
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
#define expect_check_failure(expression)                                                           \
    do {                                                                                           \
        expect_assert_failure(expression)                                                          \
    } while (0)

/* assert_bytes_equal(struct bytes actual, struct bytes expected): require equal bytes, printing
 * both as hex when they differ. Variadic because an argument may be a compound literal. */
#define assert_bytes_equal(...) assert_bytes_equal_at(__FILE__, __LINE__, __VA_ARGS__)
void assert_bytes_equal_at(const char *file, int line, struct bytes actual, struct bytes expected);

/* The account of a test allocator. Start zeroed. */
struct test_memory {
    size_t live;      /* read: bytes outstanding */
    uint64_t calls;   /* read: allocations asked for, the failed one included */
    uint64_t fail_at; /* set at any time: the n-th allocation fails, from 1; 0 none */
};

/* An allocator over malloc that counts, fails on demand, and CHECKs that each block is given back
 * with the size it was taken with. Borrows the account. */
struct allocator test_allocator(struct test_memory *memory);

#endif
