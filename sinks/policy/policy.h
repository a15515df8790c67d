/* The failure policies: what becomes of a record that the writer could not write (section 2.3). Each
 * is a half of the sink contract that takes HANDLE and FLUSH beside OPEN and CLOSE. They need no
 * options and no user code. */
#ifndef SINKS_POLICY_POLICY_H
#define SINKS_POLICY_POLICY_H

#include "sinks/sink.h"

/* Fails the job with the record's own reason.
 *
 * State \ event  OPEN  HANDLE              FLUSH           CLOSE
 * NEW            OPEN  !                   !               CLOSED
 * OPEN           !     POLICY_FAILED       POLICY_FLUSHED  CLOSED
 * CLOSED         -     -                   -               -        */
extern const struct sink_half policy_fail_half;

/* Drops the record; there is nothing to make durable.
 *
 * State \ event  OPEN  HANDLE              FLUSH           CLOSE
 * NEW            OPEN  !                   !               CLOSED
 * OPEN           !     POLICY_DROPPED      POLICY_FLUSHED  CLOSED
 * CLOSED         -     -                   -               -        */
extern const struct sink_half policy_drop_half;

/* Puts the record into a generic durable target; sinks/policy/dead_letter.c has its table. */
extern const struct sink_half policy_dead_letter_half;

#endif
