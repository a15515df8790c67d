/* Shrinking with real runs: limits of time, what else is met on the way, and answers that are kept
 * so that a search which was killed goes on where it was. */
#ifndef SCENARIOS_CLI_SEARCH_SHRINKING_H
#define SCENARIOS_CLI_SEARCH_SHRINKING_H

#include "scenarios/cli/options.h"
#include "scenarios/cli/progress.h"
#include "scenarios/cli/search/answers.h"
#include "scenarios/cli/sweep/reproducer.h"
#include "sim/search/shrink.h"

#define SHRINKING_OTHERS_MAX 64u
/* What a command that shrinks does by itself beyond the passes. */
#define SHRINKING_FRESH       200u
#define SHRINKING_FRESH_ABOVE 3u
#define SHRINKING_BELOW       2000u

/* Another violation that a run of the search showed, on its shortest tape. */
struct shrinking_other {
    struct culprit culprit;
    struct tape tape; /* its entries are the shrinking's */
};

struct shrinking_limits {
    uint32_t attempts;    /* 0: SHRINK_ATTEMPTS_DEFAULT */
    uint32_t fresh;       /* fresh runs; 0: none */
    uint32_t fresh_above; /* none for a result of so many entries or fewer */
    uint32_t below;       /* runs below the result; 0: none */
    uint64_t deadline_ms; /* on wall_milliseconds; 0: none */
    nanos hang_after;
    struct progress *progress_or_null;
};

/* What the options of a command ask for; --for counts from now. */
struct shrinking_limits shrinking_limits_of(const struct options *options);

struct shrinking {
    struct shrink_result result; /* its entries lie in memory */
    struct shrinking_other others[SHRINKING_OTHERS_MAX];
    uint32_t other_count;
    uint32_t others_dropped; /* there was no room for them */
    struct answers answers;  /* of all runs; those to begin with are not made again */
    bool is_foreign;         /* the answers to begin with belong to another search */
    /* Called now and then, and at the end: what is known may be kept; or NULL. */
    void (*save)(void *context, const struct shrinking *shrinking);
    void *save_context;
    void *memory; /* private */
};

/* Make the smallest tape that shows the culprit, from one that does. The shrinking is zeroed or has
 * answers, others, save. */
void shrinking_run(struct shrinking *shrinking,
                   struct reproducer *reproducer,
                   const struct tape *tape,
                   const struct culprit *culprit,
                   const struct shrinking_limits *limits);

/* Why it ended, in words: "proven minimal". */
const char *shrinking_stop_words(struct text_pool *texts, const struct shrink_result *result);

/* Add another violation, unless a shorter tape shows the same. */
void shrinking_add_other(struct shrinking *shrinking,
                         const struct culprit *culprit,
                         const struct tape *tape);

void shrinking_free(struct shrinking *shrinking);

#endif
