#include "reports/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_MS  UINT64_C(1000000)
#define MS_PER_S   UINT64_C(1000)
#define S_PER_MIN  UINT64_C(60)
#define S_PER_HOUR UINT64_C(3600)

size_t report_timeline_parting(const struct report_timeline *a, const struct report_timeline *b)
{
    const size_t least = a->row_count < b->row_count ? a->row_count : b->row_count;
    size_t at = 0;
    while (at < least && a->rows[at].time_ns == b->rows[at].time_ns &&
           a->rows[at].lane == b->rows[at].lane &&
           strcmp(a->rows[at].words, b->rows[at].words) == 0) {
        at++;
    }
    return at;
}

void report_duration(uint64_t duration_ns, char text[REPORT_DURATION_SIZE])
{
    const uint64_t ms = duration_ns / NS_PER_MS;
    const uint64_t s = ms / MS_PER_S;
    if (s >= S_PER_HOUR) {
        (void)snprintf(text,
                       REPORT_DURATION_SIZE,
                       "%" PRIu64 " h %" PRIu64 " min",
                       s / S_PER_HOUR,
                       s % S_PER_HOUR / S_PER_MIN);
    } else if (s >= 10 * S_PER_MIN) {
        (void)snprintf(text, REPORT_DURATION_SIZE, "%" PRIu64 " min", s / S_PER_MIN);
    } else if (ms % MS_PER_S == 0) {
        (void)snprintf(text, REPORT_DURATION_SIZE, "%" PRIu64 " s", s);
    } else {
        (void)snprintf(text, REPORT_DURATION_SIZE, "%" PRIu64 ".%03" PRIu64 " s", s, ms % MS_PER_S);
    }
}
