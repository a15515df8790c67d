/* The exactly-once writer of Cloud Tasks: it turns each record into an envelope and hands the
 * envelopes over at the barrier. It sends nothing and keeps no state across lives (section 4.3).
 *
 * State \ event  OPEN           RECORD          BARRIER, END_OF_INPUT  CLOSE
 * NEW            OPEN, FAILED   !               !                      CLOSED
 * OPEN           !              OPEN, FAILED    OPEN                   CLOSED
 * FAILED         -              -               -                      CLOSED
 * CLOSED         -              -               -                      -
 *
 * "!" is a host's broken contract and a CHECK. Every failure of a record fails the job: a record that
 * was dropped here would be missing without a trace. It never waits for capacity, for the barrier
 * that would free it stands behind the record that waits. */
#ifndef SINKS_CLOUDTASKS_STAGED_WRITER_H
#define SINKS_CLOUDTASKS_STAGED_WRITER_H

#include "sinks/sink.h"

/* What each staged task is charged on top of its wire size. */
#define STAGED_TASK_OVERHEAD 256u

extern const struct sink_half cloudtasks_staged_writer_half;

#endif
