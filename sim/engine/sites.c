#include "sim/engine/engine.h"

#define OUT(text, odds, fault, clauses, words)                                                     \
    {.name = (text), .weight = (odds), .kind = (fault), .clause = (clauses)},
#define SITE(constant, number, text, sentence_text, outcomes_list)                                 \
    static const struct choice_outcome constant##_OUTCOMES[] = {outcomes_list};
#include "sim/engine/sites.def"
#undef SITE
#define SITE(constant, number, text, sentence_text, outcomes_list)                                 \
    [constant] = {.key = (number),                                                                 \
                  .outcome_count = (uint16_t)ARRAY_COUNT(constant##_OUTCOMES),                     \
                  .name = (text),                                                                  \
                  .outcomes = constant##_OUTCOMES,                                                 \
                  .sentence = (sentence_text)},
const struct choice_site engine_sites[] = {
#include "sim/engine/sites.def"
};
#undef SITE
#undef OUT

#define OUT(text, odds, fault, clauses, words) (words),
#define SITE(constant, number, text, sentence_text, outcomes_list)                                 \
    static const char *const constant##_WORDS[] = {outcomes_list};
#include "sim/engine/sites.def"
#undef SITE
#define SITE(constant, number, text, sentence_text, outcomes_list) [constant] = constant##_WORDS,
const char *const *const engine_site_words[] = {
#include "sim/engine/sites.def"
};
#undef SITE
#undef OUT

const size_t engine_site_count = ARRAY_COUNT(engine_sites);
