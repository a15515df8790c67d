/* Answers that are known are given again, in their order, and to no other questions.
 * link: scenarios/cli/search/answers scenarios/cli/text sinks/base/bytes
 */
#include "scenarios/cli/search/answers.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#define COUNT 2000u

static bool answer_of(uint64_t i)
{
    return digest_mix(i / 3) % 5 == 0;
}

/* Ask questions from first on; those from known on are not known, and are noted. */
static void ask(struct answers *answers, uint64_t first, uint64_t known, uint64_t count)
{
    for (uint64_t i = first; i < count; i++) {
        bool answer = !answer_of(i);
        const bool is_known = answers_ask(answers, digest_mix(i), &answer);
        assert_int_equal(is_known, i < known);
        if (is_known) {
            assert_int_equal(answer, answer_of(i));
        } else {
            answers_note(answers, answer_of(i));
        }
        assert_false(answers_are_foreign(answers));
    }
}

/* Goal: a search goes on where it was, however often it is started. Method: answers that come in
 * rows of different lengths, asked for from the beginning after each few. */
static void known_answers_come_again_in_order(void **state)
{
    struct answers answers = {0};
    (void)state;
    for (uint64_t known = 0; known < COUNT; known += 37) {
        answers_rewind(&answers);
        ask(&answers, 0, known, known + 37);
        assert_int_equal(answers.count, known + 37);
    }
    answers_free(&answers);
}

/* Goal: what is read from a file is what was written. Method: the lengths of one, appended to another
 * one by one. */
static void lengths_say_all(void **state)
{
    struct answers answers = {0};
    struct answers copy = {0};
    (void)state;
    ask(&answers, 0, 0, COUNT);
    for (size_t i = 0; i < answers.length_count; i++) {
        answers_append(&copy, i % 2 == 1, answers.lengths[i]);
    }
    copy.digest = answers.digest;
    answers_rewind(&copy);
    ask(&copy, 0, COUNT, COUNT + 10);
    answers_free(&answers);
    answers_free(&copy);
}

/* Goal: answers to other questions are not taken for good. Method: one question of many is another. */
static void another_question_shows_at_the_last_answer(void **state)
{
    struct answers answers = {0};
    bool answer = false;
    (void)state;
    ask(&answers, 0, 0, 100);
    answers_rewind(&answers);
    for (uint64_t i = 0; i < 100; i++) {
        assert_false(answers_are_foreign(&answers));
        assert_true(answers_ask(&answers, digest_mix(i == 50 ? 1000 : i), &answer));
    }
    assert_true(answers_are_foreign(&answers));
    answers_free(&answers);
}

TEST_MAIN(answers,
          TEST(known_answers_come_again_in_order),
          TEST(lengths_say_all),
          TEST(another_question_shows_at_the_last_answer))
