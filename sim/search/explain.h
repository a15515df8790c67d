/* Why a tape fails (DESIGN section 6): which of its choices it needs, what would do as well in the
 * place of each, and the last draw at which another choice would still have saved the run.
 *
 * A choice is free when the tape fails without it. It is one of several when another value of its
 * draw, another draw of its site, or a choice of another site fails alike in its place. Else it is
 * required.
 *
 * Behind the decisive draw everything fails: the run that goes on calm, and every run that deviates
 * once more from it. They are tried from the last draw backwards until one passes: that is the last
 * chance. How many deviations a run would need to be saved later still is not tried.
 */
#ifndef SIM_SEARCH_EXPLAIN_H
#define SIM_SEARCH_EXPLAIN_H

#include "sim/choice.h"

#define EXPLAIN_CHOICES_MAX 32u /* of a tape with more, the first are looked into */
#define EXPLAIN_KEPT_MAX    4u
#define EXPLAIN_OFFERS_MAX  65536u
#define EXPLAIN_RUNS        20000u

enum explain_answer {
    EXPLAIN_UNCLEAR = 0, /* a limit ended the run */
    EXPLAIN_FAILS,       /* alike */
    EXPLAIN_PASSES,
};

enum explain_need {
    EXPLAIN_UNKNOWN = 0,
    EXPLAIN_REQUIRED,
    EXPLAIN_ONE_OF_SEVERAL,
    EXPLAIN_FREE,
};

/* Where something stands that does as well, seen from a choice. */
enum explain_where {
    EXPLAIN_SAME_DRAW = 0,
    EXPLAIN_SAME_SITE,
    EXPLAIN_OTHER_SITE,
    EXPLAIN_WHERE_COUNT,
};

struct explain_choice {
    uint8_t need;                          /* enum explain_need */
    bool all_tried;                        /* what may stand in its place */
    uint32_t tried;                        /* choices in its place */
    uint32_t as_well[EXPLAIN_WHERE_COUNT]; /* of these, how many fail alike */
    uint32_t kept_count;
    struct tape_entry kept[EXPLAIN_KEPT_MAX]; /* the first of them, nearest first */
};

struct explain_decision {
    bool is_found;
    uint32_t draw; /* number of the decisive draw; behind it all fails */
    /* What would have saved the run there; value 0: the tape's own choice, not made. */
    struct tape_entry last_chance;
    uint32_t tried;   /* single deviations behind it; all fail but those that are unclear */
    uint32_t unclear; /* of these */
    bool all_tried;
};

struct explain_result {
    struct explain_choice choices[EXPLAIN_CHOICES_MAX];
    uint32_t choice_count;
    struct explain_decision decision;
    uint32_t runs;
};

struct explain_options {
    enum explain_answer (*try_tape)(void *context, const struct tape *candidate);
    /* Run a tape and list its deviations from a draw on, as deviations_list does. */
    uint32_t (*offers)(void *context,
                       const struct tape *tape,
                       uint32_t from,
                       struct tape_entry *entries,
                       uint32_t capacity);
    bool (*keep_going)(void *context); /* before each run; false ends the search; or NULL */
    void *context;
    uint32_t runs_max;     /* 0: EXPLAIN_RUNS */
    uint32_t decided_draw; /* draws from here on come when the violation has been seen */
};

/* Bytes of memory, aligned to 16, for a tape of so many entries. */
size_t explain_memory_size(uint32_t entry_count);

/* Look into a tape that fails, with the positions that its own run recorded. The decision comes
 * first, then the choices in their order, until the runs are used up. */
void explain_run(const struct tape *tape,
                 const struct explain_options *options,
                 void *memory,
                 struct explain_result *result);

#endif
