/* What the commands that make runs share: options, texts, plugin, scenarios. */
#ifndef SCENARIOS_CLI_SESSION_H
#define SCENARIOS_CLI_SESSION_H

#include "scenarios/cli/options.h"
#include "scenarios/cli/plugin/plugin.h"
#include "scenarios/cli/status.h"
#include "scenarios/cli/text.h"
#include "scenarios/scenario.h"
#include "sim/tape.h"

struct session {
    const struct options *options; /* read */
    struct text_pool texts;
    struct plugin plugin;
};

/* Load the plugin if one is asked for. A status other than STATUS_OK has been explained in one line
 * on standard error, here and below. Call session_close in any case. */
MUST_USE enum status session_open(struct session *session, const struct options *options);
void session_close(struct session *session);

/* The sink that the options bring, or NULL. */
const struct sink_type *session_sink(const struct session *session);

/* Read a scenario by name or path, with the profile and sink that the options ask for, without the
 * oracle that they switch off. */
MUST_USE enum status
session_scenario(struct session *session, const char *name, struct scenario **scenario);

/* The same under a profile that is not the options'. */
MUST_USE enum status session_scenario_under(struct session *session,
                                            const char *name,
                                            enum profile profile,
                                            struct scenario **scenario);

/* Read a tape file; entries live in the texts. STATUS_OK or STATUS_USAGE. */
MUST_USE enum status session_tape(struct session *session, const char *path, struct tape *tape);

/* The same, with what its header says. */
MUST_USE enum status session_tape_headed(struct session *session,
                                         const char *path,
                                         struct tape *tape,
                                         struct tape_header *header);

/* Read an input of the fuzzer, which is a tape whatever its bytes are. The same. */
MUST_USE enum status
session_fuzz_input(struct session *session, const char *path, struct tape *tape);

/* The words that choose sink and profile, for a command that replays: "" or " --profile observed". */
const char *session_selection(struct session *session);

/* The words that choose the policy, for a command that replays a seed: "" or " --policy pct". */
const char *session_policy(struct session *session);

/* Say one line on standard error: "sinkproof: ...". */
void complain(const char *format, ...) PRINTF_LIKE(1, 2);

#endif
