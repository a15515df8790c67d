/* Timing constraints and figures of a scenario, as text for a terminal and as JSON. All times are
 * nanoseconds. */
#ifndef REPORTS_TIMING_H
#define REPORTS_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define REPORT_TIMING_TERM_MAX 5

struct report_timing_term {
    const char *name;
    uint64_t ns;
};

struct report_timing_constraint {
    const char *name;
    const char *owner;
    const char *clause;
    const char *sentence;
    struct report_timing_term left[REPORT_TIMING_TERM_MAX];
    size_t left_count;
    struct report_timing_term right[REPORT_TIMING_TERM_MAX];
    size_t right_count;
    bool or_equal;
    int64_t margin_ns; /* negative: not held; the largest and smallest say so much or more */
    /* the run that shows it, of a constraint that is not held */
    const char *shape; /* what failure it takes: "crash" */
    bool is_shown;
    const char *oracle;  /* that it breaks; empty when the job is refused */
    const char *message; /* of that */
    const char *tape;    /* text */
    const char *command; /* replays it; may be empty */
    uint32_t entries;    /* on the tape */
    uint32_t runs;       /* made to find it */
    bool all_tried;      /* there is no other to be made */
    const char *anyway;  /* oracle that is broken without any failure; empty: none */
};

struct report_timing_figure {
    const char *name;
    const char *unit; /* "ns", "records", "bytes", "permille" */
    bool has_formula;
    bool has_simulated;
    uint64_t formula; /* UINT64_MAX: without end */
    uint64_t simulated;
    uint64_t limit; /* 0: none */
};

struct report_timing {
    const char *scenario;
    const char *profile;
    const struct report_timing_constraint *constraints; /* the worst margin first */
    size_t constraint_count;
    const struct report_timing_figure *figures;
    size_t figure_count;
};

void report_timing_text(FILE *file, const struct report_timing *timing);

/* Write a whole file. False when memory or the stream gave out. */
bool report_timing_json(FILE *file, const struct report_timing *timing);

#endif
