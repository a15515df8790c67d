/* The published data sets have the verdicts that they were given, and the boundaries theirs.
 *
 * link: product
 */
#include "scenarios/gate/cases.h"

#include "scenarios/cli/files.h"
#include "sinks/base/test.h"

#include <string.h>

#define PUBLISHED  "scenarios/gate/published.json"
#define BOUNDARIES "scenarios/gate/boundaries.json"

static size_t judge_file(struct text_pool *texts, const char *path, struct report_gate_case **cases)
{
    size_t count = 0;
    assert_int_equal(cases_judge_file(texts, path, 1, cases, &count), STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        if (!(*cases)[i].as_published) {
            fail_msg("%s: %s, %s", (*cases)[i].name, (*cases)[i].verdict, (*cases)[i].figures);
        }
    }
    return count;
}

/* PD-10: verdict, ratios and deciding rule, to the printed digit. */
static void every_published_data_set_has_its_verdict(void **state)
{
    (void)state;
    static const char *const names[] = {"F1",
                                        "F2",
                                        "F3",
                                        "F4",
                                        "F5",
                                        "F6",
                                        "F7",
                                        "F8",
                                        "F9",
                                        "F10-s1",
                                        "F10-s2",
                                        "F10-s3",
                                        "F11-a",
                                        "F11-b",
                                        "F11-c"};
    struct text_pool texts = {0};
    struct report_gate_case *cases = NULL;
    const size_t count = judge_file(&texts, PUBLISHED, &cases);
    assert_int_equal(count, ARRAY_COUNT(names));
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(cases[i].name, names[i]);
    }
    text_pool_fini(&texts);
}

/* PD-1 to PD-9 and PD-12. */
static void every_boundary_is_on_its_side(void **state)
{
    (void)state;
    struct text_pool texts = {0};
    struct report_gate_case *cases = NULL;
    assert_in_range(judge_file(&texts, BOUNDARIES, &cases), 30, 60);
    text_pool_fini(&texts);
}

/* Judge the published file with one place of its text changed; the case that does not come out. */
static const char *judge_changed(struct text_pool *texts, const char *old, const char *new)
{
    struct bytes content = {0};
    struct report_gate_case *cases = NULL;
    size_t count = 0;
    assert_int_equal(file_read(texts, PUBLISHED, &content), ERR_OK);
    const char *whole = text_copy(texts, content);
    const char *at = strstr(whole, old);
    assert_non_null(at);
    const char *text =
        text_format(texts, "%.*s%s%s", (int)(at - whole), whole, new, at + strlen(old));
    assert_int_equal(file_write("build/changed-cases.json", bytes_of_text(text)), ERR_OK);
    assert_int_equal(cases_judge_file(texts, "build/changed-cases.json", 1, &cases, &count),
                     STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        if (!cases[i].as_published) {
            return cases[i].name;
        }
    }
    return "none";
}

/* Goal: nothing of it is a check that cannot fail. Method: change one thing at a time. */
static void whatever_is_changed_shows(void **state)
{
    (void)state;
    static const struct {
        const char *old;
        const char *new;
        const char *name;
    } changes[] = {
        {"\"1.19\"", "\"1.18\"", "F1"},
        {"\"0.80\"", "\"0.81\"", "F1"},
        {"\"by_ratios\": \"GENERAL\"", "\"by_ratios\": \"CONSTRAINED\"", "F1"},
        {"\"29.8\"", "\"29.7\"", "F2"},
        {"\"side\": \"candidate\"", "\"side\": \"baseline\"", "F2"},
        {"\"1.467\"", "\"1.465\"", "F4"},
        {"\"rule\": \"general\"", "\"rule\": \"constrained\"", "F4"},
        {"\"1706\"", "\"1710\"", "F10-s3"},
        {"\"as_written\": \"DECLINE\"", "\"as_written\": \"GENERAL\"", "F10-s1"},
        {"[74, 4]", "[74, 5]", "F11-a"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
        struct text_pool texts = {0};
        assert_string_equal(judge_changed(&texts, changes[i].old, changes[i].new), changes[i].name);
        text_pool_fini(&texts);
    }
}

/* PD-14, of what is present: staged tasks keep up with unnamed ones. */
static void a_simulated_case_is_run_and_judged(void **state)
{
    (void)state;
    struct text_pool texts = {0};
    struct report_gate_case record;
    assert_int_equal(cases_judge(&texts, "pd-14-1s", 2, &record), STATUS_OK);
    assert_true(record.as_published);
    assert_string_equal(record.verdict, "GENERAL");
    assert_non_null(strstr(record.figures, "MODEL"));
    text_pool_fini(&texts);
}

static void a_case_is_found_by_its_name(void **state)
{
    (void)state;
    struct text_pool texts = {0};
    struct report_gate_case record;
    assert_int_equal(cases_judge(&texts, "pd-6-capacity", 1, &record), STATUS_OK);
    assert_string_equal(record.verdict, "REFUSED");
    assert_int_equal(cases_judge(&texts, "F4", 1, &record), STATUS_OK);
    assert_string_equal(record.verdict, "GENERAL");
    assert_int_equal(cases_judge(&texts, "F12", 1, &record), STATUS_USAGE);
    text_pool_fini(&texts);
}

TEST_MAIN(cases,
          TEST(every_published_data_set_has_its_verdict),
          TEST(every_boundary_is_on_its_side),
          TEST(whatever_is_changed_shows),
          TEST(a_simulated_case_is_run_and_judged),
          TEST(a_case_is_found_by_its_name))
