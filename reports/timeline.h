/* The swim lanes of a run: what a person has to see of it to follow one subject, row by row in the
 * order of the journal. All texts are borrowed. */
#ifndef REPORTS_TIMELINE_H
#define REPORTS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPORT_NO_ROW UINT32_MAX

enum report_row_kind {
    REPORT_ROW_EVENT = 0,  /* something happens in a lane */
    REPORT_ROW_READ,       /* a record comes from the source, which is lane 0 */
    REPORT_ROW_SENT,       /* a request leaves */
    REPORT_ROW_EFFECT,     /* the service has done something */
    REPORT_ROW_REFUSED,    /* the service has done nothing */
    REPORT_ROW_LEARNT,     /* the caller hears of its request */
    REPORT_ROW_CHECKPOINT, /* the coordinator speaks of a checkpoint */
    REPORT_ROW_FAULT,      /* something was injected */
    REPORT_ROW_DEATH,      /* a part of the job dies or stops */
    REPORT_ROW_START,      /* it starts, with or without state */
    REPORT_ROW_LEFT_OUT,   /* rows that are not shown */
    REPORT_ROW_END,        /* the run is judged */
};

struct report_row {
    uint64_t time_ns;
    enum report_row_kind kind;
    uint32_t lane;
    const char *words;
    uint32_t choice;  /* the first choice of the tape that is made here, from 1; 0: none */
    uint32_t choices; /* how many are */
    bool is_subject;  /* it is about what the claim is broken on */
    bool is_decisive;
};

/* What a caller knows of a request. */
enum report_learnt {
    REPORT_LEARNT_NOTHING = 0, /* nobody waited for the answer */
    REPORT_LEARNT_OK,
    REPORT_LEARNT_ERROR,
    REPORT_LEARNT_UNKNOWN,
};

struct report_request {
    uint32_t from; /* lanes */
    uint32_t to;
    uint32_t sent;   /* rows; REPORT_NO_ROW: not seen */
    uint32_t effect; /* where the service did it, or refused it */
    uint32_t heard;
    bool took_effect;
    bool is_lost; /* in the whole run it did nothing, and the caller does not know */
    enum report_learnt learnt;
};

/* How long a lane was alive. */
struct report_life {
    uint32_t lane;
    uint32_t from; /* rows */
    uint32_t to;
    bool is_zombie;
    bool is_killed; /* it ends by a crash */
};

struct report_timeline {
    const char *title;
    const char *const *lanes; /* their names; 0 is the source */
    size_t lane_count;
    const struct report_row *rows;
    size_t row_count;
    const struct report_request *requests;
    size_t request_count;
    size_t requests_left_out;
    const struct report_life *lives;
    size_t life_count;
    size_t parting; /* the row where it and the run beside it part; row_count: nowhere */
};

#define REPORT_DURATION_SIZE 40

/* "24 h 10 min", "3.001 s": to the minute above an hour, else to the millisecond. */
void report_duration(uint64_t duration_ns, char text[REPORT_DURATION_SIZE]);

/* The first row in which two runs differ. */
size_t report_timeline_parting(const struct report_timeline *a, const struct report_timeline *b);

#endif
