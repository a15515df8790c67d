/* Checks: broken invariants stop the run at once (STYLE 27, 30).
 *
 * CHECK is always compiled in. CHECK_SLOW walks structures and is on in tests and fuzzing. Neither
 * may have side effects. A failing check calls check_failed, which prints one line and aborts; the
 * test wrapper links its own check_failed so that a test can expect the failure.
 */
#ifndef SINKS_BASE_CHECK_H
#define SINKS_BASE_CHECK_H

#if defined(__GNUC__)
#    define MUST_USE __attribute__((warn_unused_result))
#    define NORETURN __attribute__((noreturn))
/* Keep a function out of its callers, so that their common path does without its registers. */
#    define NOINLINE __attribute__((noinline))
/* Make a copy of a function in each caller, for a parameter that is a constant there. */
#    define SPECIALISED inline __attribute__((always_inline))
/* Seen from outside a shared object that is built with its symbols hidden. */
#    define EXPORTED __attribute__((visibility("default")))
/* Into a section of its own, which a tool finds by its name. */
#    define IN_SECTION(name) __attribute__((section(name)))
#    define PRINTF_LIKE(format_index, first_index)                                                 \
        __attribute__((format(printf, format_index, first_index)))
#    define LIKELY(condition)   __builtin_expect(!!(condition), 1)
#    define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
/* Zero bits above the highest set bit of a non-zero uint64_t; absent elsewhere (see units.h). */
#    define LEADING_ZEROS(value) ((uint32_t)__builtin_clzll(value))
#else
#    define MUST_USE
#    define NORETURN
#    define NOINLINE
#    define SPECIALISED inline
#    define EXPORTED
#    define IN_SECTION(name)
#    define PRINTF_LIKE(format_index, first_index)
#    define LIKELY(condition)   (condition)
#    define UNLIKELY(condition) (condition)
#endif

#ifndef CHECK_SLOW_ON
#    define CHECK_SLOW_ON 0
#endif

/* Report a broken invariant and stop the process. Never returns. */
NORETURN void check_failed(const char *file, int line, const char *what);

#define CHECK(condition)                                                                           \
    (LIKELY(condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

#if CHECK_SLOW_ON
#    define CHECK_SLOW(condition) CHECK(condition)
#else
#    define CHECK_SLOW(condition) ((void)0)
#endif

#define UNREACHABLE() check_failed(__FILE__, __LINE__, "unreachable")

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
