#include "scenarios/cli/search/answers.h"

#include "scenarios/cli/text.h"
#include "sinks/base/check.h"
#include "sinks/base/digest.h"

#include <stdlib.h>

void answers_rewind(struct answers *answers)
{
    answers->asked = 0;
    answers->asked_digest = 0;
    answers->at = 0;
    answers->at_used = 0;
}

bool answers_ask(struct answers *answers, uint64_t question, bool *answer)
{
    answers->asked++;
    answers->asked_digest = digest_fold(answers->asked_digest, question);
    if (answers->asked > answers->count) {
        answers->digest = answers->asked_digest;
        return false;
    }
    while (answers->at_used == answers->lengths[answers->at]) {
        answers->at++;
        answers->at_used = 0;
    }
    answers->at_used++;
    *answer = answers->at % 2 == 1;
    return true;
}

void answers_append(struct answers *answers, bool answer, uint32_t length)
{
    while (answers->length_count == 0 || ((answers->length_count - 1) % 2 == 1) != answer ||
           answers->lengths[answers->length_count - 1] > UINT32_MAX - length) {
        if (answers->length_count == answers->capacity) {
            answers->capacity = answers->capacity * 2 + 64;
            answers->lengths =
                memory_resize(answers->lengths, answers->capacity * sizeof *answers->lengths);
        }
        answers->lengths[answers->length_count++] = 0;
    }
    answers->lengths[answers->length_count - 1] += length;
    answers->count += length;
}

void answers_note(struct answers *answers, bool answer)
{
    CHECK(answers->asked == answers->count + 1);
    answers_append(answers, answer, 1);
}

bool answers_are_foreign(const struct answers *answers)
{
    return answers->asked == answers->count && answers->asked_digest != answers->digest;
}

void answers_free(struct answers *answers)
{
    free(answers->lengths);
    *answers = (struct answers){0};
}
