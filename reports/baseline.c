/* What of an earlier run's failures is still there. */
#include "reports/text.h"

#include <inttypes.h>

void report_baseline_counts(const struct report_baseline *baseline,
                            uint64_t *there,
                            uint64_t *fixed)
{
    *there = 0;
    for (size_t i = 0; i < baseline->old_count; i++) {
        *there += baseline->old[i].is_there ? 1 : 0;
    }
    *fixed = baseline->old_count - *there;
}

void report_text_baseline(FILE *file, const struct report_baseline *baseline)
{
    uint64_t there = 0;
    uint64_t fixed = 0;
    report_baseline_counts(baseline, &there, &fixed);
    (void)fprintf(file,
                  "baseline %s: %" PRIu64 " new, %" PRIu64 " still there, %" PRIu64 " fixed\n",
                  baseline->file,
                  baseline->new_count,
                  there,
                  fixed);
    for (size_t i = 0; i < baseline->old_count; i++) {
        const struct report_old_failure *old = &baseline->old[i];
        (void)fprintf(file,
                      "  %s: %s, profile %s, %s%s%s: %s\n",
                      old->is_there ? "still there" : "fixed",
                      old->scenario,
                      old->profile,
                      old->oracle[0] == '\0' ? "verdict" : old->oracle,
                      old->subject[0] == '\0' ? "" : ", ",
                      old->subject,
                      old->why);
    }
    if (baseline->not_run > 0) {
        (void)fprintf(
            file, "  not run now: %" PRIu64 " of its scenarios and profiles\n", baseline->not_run);
    }
}
