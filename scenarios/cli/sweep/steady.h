/* Whether a sink that a user brought does the same again when a run is the same again (DESIGN
 * section 2): three times, with the digests compared.
 *
 *   first    a new process, memory filled with one byte
 *   second   the same process, memory filled with another byte, other addresses from malloc:
 *            shows globals, what nobody wrote, and addresses
 *   third    the program started anew, a few times: shows the clock and where things are loaded, too */
#ifndef SCENARIOS_CLI_SWEEP_STEADY_H
#define SCENARIOS_CLI_SWEEP_STEADY_H

#include "scenarios/cli/session.h"

/* The runs to compare: seeds, or else a tape. */
struct steady_subject {
    const struct scenario *scenario;
    const char *word; /* how the user named it */
    struct seed_range seeds;
    const struct tape *tape_or_null;
    const char *tape_path_or_null; /* of the tape; NULL: the scenario's own */
};

/* Compare the first runs of the subject, as many as a second or two allow. True when all came out
 * the same, as far as they came to an end: a run that crashes or hangs is told by the sweep. Else
 * *why is one line that names the seed, and *seed that seed. */
bool steady_check(struct session *session,
                  const struct steady_subject *subject,
                  const char **why,
                  uint64_t *seed);

#endif
