/* Exit statuses of every command (DESIGN section 7). */
#ifndef SCENARIOS_CLI_STATUS_H
#define SCENARIOS_CLI_STATUS_H

enum status {
    STATUS_OK = 0,         /* as expected */
    STATUS_BROKEN,         /* a claim or expectation is broken, or inconclusive */
    STATUS_USAGE,          /* usage or bad input */
    STATUS_NONDETERMINISM, /* the same run came out in two ways */
    STATUS_INTERNAL,       /* a limit, or an internal error */
};

/* Of two statuses of parts, the one for the whole: what puts the results in doubt outranks what
 * they say. */
enum status status_worse(enum status a, enum status b);

#endif
