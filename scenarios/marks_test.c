/* The catalogue of behaviour marks: what is in the code, and what can be reached at all.
 *
 * link: product
 *
 * The current directory is the tree.
 */
#include "scenarios/wiring/catalogue.h"
#include "sinks/base/test.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 256

/* Sim's own, then those of the models: false behind the last. */
static bool mark_at(uint32_t index, const struct mark **mark)
{
    if (index < sim_mark_count) {
        *mark = &sim_marks[index];
        return true;
    }
    uint32_t left = index - sim_mark_count;
    for (size_t i = 0; i < catalogue_model_count; i++) {
        const struct model_type *model = catalogue_models[i];
        if (left < model->mark_count) {
            *mark = &model->marks[left];
            return true;
        }
        left -= (uint32_t)model->mark_count;
    }
    return false;
}

/* "link.paused" is LINK_PAUSED in code. */
static void name_in_code(const struct mark *mark, char code[LINE_BYTES])
{
    size_t size = 0;
    for (; mark->name[size] != '\0'; size++) {
        assert_true(size + 1 < LINE_BYTES);
        const int c = (unsigned char)mark->name[size];
        assert_true(islower(c) || c == '.' || c == '_');
        code[size] = c == '.' ? '_' : (char)toupper(c);
    }
    code[size] = '\0';
}

/* Goal: a bit means one mark, and a mark's name tells whose it is. */
static void marks_are_told_apart(void **state)
{
    (void)state;
    const struct mark *mark = NULL;
    for (uint32_t i = 0; mark_at(i, &mark); i++) {
        const struct mark *other = NULL;
        assert_in_range(mark->id, 1, MARK_MAX - 1);
        assert_int_equal(mark->id < MARK_SIM_ROOM, i < sim_mark_count);
        assert_non_null(strchr(mark->name, '.'));
        assert_true(strlen(mark->sentence) > 0);
        for (uint32_t k = 0; k < i && mark_at(k, &other); k++) {
            assert_int_not_equal(other->id, mark->id);
            assert_string_not_equal(other->name, mark->name);
        }
    }
}

/* The lines that a command prints. */
static bool is_printed(const char *command, const char *wanted, uint32_t *lines)
{
    char line[LINE_BYTES];
    bool found = false;
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    *lines = 0;
    while (fgets(line, sizeof line, pipe) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        found = found || strcmp(line, wanted) == 0;
        (*lines)++;
    }
    assert_int_equal(pclose(pipe), 0);
    return found;
}

/* Goal: what a sink taps can be named in a scenario, beside other marks. */
static void phases_of_sinks_are_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < catalogue_sink_count; i++) {
        const struct sink_type *sink = catalogue_sinks[i];
        assert_in_range(sink->phase_count, 0, 64);
        for (uint32_t k = 0; k < sink->phase_count; k++) {
            for (const char *at = sink->phases[k]; *at != '\0'; at++) {
                assert_true(islower((unsigned char)*at) || *at == '_');
            }
            for (uint32_t other = 0; other < k; other++) {
                assert_string_not_equal(sink->phases[k], sink->phases[other]);
            }
        }
    }
}

/* A call may stand in several lines. */
#define MARKS_IN_CODE                                                                              \
    "find sim models -name '*.c' ! -name '*_test.c' -exec cat {} + | tr '\\n' ' ' | "              \
    "grep -oE '\\b(COVER|SOMETIMES)\\([^,;]+, *[A-Z_]+' | sed 's/.*, *//' | sort -u"

/* Goal: the catalogue holds the marks of the code, all of them and no other. */
static void the_catalogue_is_what_the_code_marks(void **state)
{
    (void)state;
    const struct mark *mark = NULL;
    uint32_t lines = 0;
    uint32_t count = 0;
    for (; mark_at(count, &mark); count++) {
        char code[LINE_BYTES];
        name_in_code(mark, code);
        if (!is_printed(MARKS_IN_CODE, code, &lines)) {
            fail_msg("%s: no COVER(..., %s) in the code", mark->name, code);
        }
    }
    assert_int_equal(lines, count);
}

/* Goal: what no scenario can reach is asked for by the unit test that the catalogue names. */
static void a_unit_test_asks_for_what_only_it_reaches(void **state)
{
    (void)state;
    const struct mark *mark = NULL;
    for (uint32_t i = 0; mark_at(i, &mark); i++) {
        char code[LINE_BYTES];
        char command[2 * LINE_BYTES];
        uint32_t lines = 0;
        if (mark->unit_test_or_null == NULL) {
            continue;
        }
        name_in_code(mark, code);
        (void)snprintf(command,
                       sizeof command,
                       "grep -o 'assert_true(marks_has(.*, MARK_[A-Z_]*));' %s | "
                       "sed 's/.*MARK_\\([A-Z_]*\\).*/\\1/'",
                       mark->unit_test_or_null);
        if (!is_printed(command, code, &lines)) {
            fail_msg("%s: %s does not ask for it", mark->name, mark->unit_test_or_null);
        }
    }
}

TEST_MAIN(marks,
          TEST(marks_are_told_apart),
          TEST(phases_of_sinks_are_words),
          TEST(the_catalogue_is_what_the_code_marks),
          TEST(a_unit_test_asks_for_what_only_it_reaches))
