/* What the runs of a search came to, in their order. A search that is started again asks the same
 * questions, because it depends on the answers alone: those that are known need no run. */
#ifndef SCENARIOS_CLI_SEARCH_ANSWERS_H
#define SCENARIOS_CLI_SEARCH_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answers {
    uint64_t count;      /* read: answers noted */
    uint64_t digest;     /* read: over the questions that they answer, in order */
    uint32_t *lengths;   /* read: how many in a row were no, yes, no, ... */
    size_t length_count; /* read */
    size_t capacity;
    uint64_t asked; /* questions asked since the start or answers_rewind */
    uint64_t asked_digest;
    size_t at; /* where in lengths the next known answer stands, and how far in it */
    uint32_t at_used;
};

/* Ask from the beginning again. */
void answers_rewind(struct answers *answers);

/* Ask the next question: true, and *answer is set, when it is known. */
bool answers_ask(struct answers *answers, uint64_t question, bool *answer);

/* Note the answer to a question that was asked and not known. */
void answers_note(struct answers *answers, bool answer);

/* Whether the last known answer has just been given, and the questions were others than it and those
 * before it were given to. */
bool answers_are_foreign(const struct answers *answers);

/* Append so many in a row, when they are read from a file. */
void answers_append(struct answers *answers, bool answer, uint32_t length);

void answers_free(struct answers *answers);

#endif
