/* The exactly-once committer of Cloud Tasks: it creates the tasks of envelopes whose checkpoint has
 * completed, under the names they were staged with (sections 4.4 to 4.6 and 9). It serves restored
 * and ordinary commits alike.
 *
 * State \ event  OPEN        COMMIT         ANSWER     TIMER           MORE    CLOSE
 * NEW            READING or  !              !          -               -       CLOSED
 *                IDLE
 * READING        !           !              IDLE or    retry, expire   pump    CLOSED
 *                                           FAILED
 * IDLE           !           COMMITTING,    -          -               -       CLOSED
 *                            IDLE, FAILED
 * COMMITTING     !           !              settle     retry, expire   pump    CLOSED
 * FAILED         -           -              -          -               -       CLOSED
 * CLOSING        -           -              -          -               cancel  -
 * CLOSED         -           -              -          -               -       -
 *
 * "!" is a host's broken contract and a CHECK. READING asks GetQueue for the tombstone time when
 * verify_queue_retention is on. A commit validates all envelopes before anything is sent; then up to
 * max_in_flight_tasks of them are open at once, one that waits out its backoff included. COMMITTING
 * ends in IDLE when each has been created or is known to exist: the former are left without a signal,
 * which the engine reads as committed. A failure keeps ownership: no signal says that an envelope is
 * done when its task may be missing. CLOSING exists when the cancels do not fit one list.
 *
 * Each attempt states its absolute deadline first and reads the clock second, so that a pause between
 * the check and the wire cannot carry it past the window. The half's timer serves pauses and the
 * deadlines of attempts: an attempt whose deadline passes is cancelled and counts as
 * DEADLINE_EXCEEDED; its late answer finds nothing. */
#ifndef SINKS_CLOUDTASKS_COMMITTER_H
#define SINKS_CLOUDTASKS_COMMITTER_H

#include "sinks/sink.h"

extern const struct sink_half cloudtasks_committer_half;

#endif
