/* A run in words: what its choices did to whom and when, and what became of a subject. All of it is
 * read from the journal of the run that the reproducer holds, which must have kept its trace. */
#ifndef SCENARIOS_CLI_STORY_WORDS_H
#define SCENARIOS_CLI_STORY_WORDS_H

#include "scenarios/cli/sweep/reproducer.h"

/* A line of the journal as "#12 3.000000000 s  writer0: ..."; empty when there is none. */
const char *
words_of_entry(struct text_pool *texts, struct reproducer *reproducer, uint32_t position);

/* A choice as a line of a tape. */
const char *words_of_line(struct text_pool *texts, const struct tape_entry *choice);

/* What a choice did, and to whom: to the request that it was made for, if it was for one; and when:
 * the time, and how far the checkpoints were. line: of the journal, that comes next when it is
 * made. */
struct choice_words {
    const char *when;
    const char *what;
};
struct choice_words words_of_choice(struct text_pool *texts,
                                    const struct reproducer *reproducer,
                                    const struct tape_entry *choice,
                                    uint32_t line);

/* The lines about a subject up to a position: what the service did with its record, and what the sink
 * knew of it; each with the time since the one before. */
size_t words_of_subject(struct text_pool *texts,
                        struct reproducer *reproducer,
                        const struct culprit *culprit,
                        uint32_t last,
                        const char *const **lines);

#endif
