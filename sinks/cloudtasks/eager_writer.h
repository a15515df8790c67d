/* The at-least-once writer of Cloud Tasks: each record is created as a task at once, and a barrier
 * waits until nothing is open (sections 3 and 9 of the protocol). It keeps no state across lives.
 *
 * State \ event  OPEN  RECORD    ANSWER    TIMER, MORE  BARRIER,      POLICY_   POLICY_  POLICY_  CLOSE
 *                                                       END_OF_INPUT  DROPPED   FAILED   FLUSHED
 * NEW            OPEN  !         !         -            !             !         !        !        CLOSED
 * OPEN           !     OPEN or   settle    retry        DRAINING      forget    FAILED   !        CLOSED
 *                      HOLDING
 * HOLDING        !     !         settle    retry        !             forget    FAILED   !        CLOSED
 * DRAINING       !     !         settle    retry        !             forget    FAILED   !        CLOSED
 * FLUSHING       !     !         -         -            !             !         FAILED   OPEN     CLOSED
 * FAILED         -     -         -         -            -             -         -        -        CLOSED
 * CLOSING        -     -         -         cancel on    -             -         -        -        -
 * CLOSED         -     -         -         -            -             -         -        -        -
 *
 * "!" is a host's broken contract and a CHECK. Notices of checkpoints mean nothing to it. HOLDING
 * (a record waits for capacity or room, BUSY) ends in OPEN when the record has left; DRAINING ends in
 * FLUSHING when nothing is in flight, parked or with the policy; settling may end in FAILED. CLOSING
 * exists when the cancels do not fit one list.
 *
 * A retry re-sends the same bytes under a new request number. Records that went to the failure policy
 * keep their block until its verdict. */
#ifndef SINKS_CLOUDTASKS_EAGER_WRITER_H
#define SINKS_CLOUDTASKS_EAGER_WRITER_H

#include "sinks/sink.h"

/* The service names the tasks: a request that is sent twice may make two. */
extern const struct sink_half cloudtasks_eager_unnamed_half;

/* The id extractor names the tasks: needs user->extract_id. */
extern const struct sink_half cloudtasks_eager_named_half;

#endif
