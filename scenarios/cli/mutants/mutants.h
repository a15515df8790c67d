/* Planted bugs: patches under scenarios/mutants/<folder>/<name>.patch, whose first lines
 * "# key: value" say what they are:
 *
 *   mechanism  what the bug does
 *   scenario   where it shows, as a word of `run`;  oracle: who must see it;  seeds: its budget
 *   also       another scenario and its oracle, "SCENARIO ORACLE", in which it must be seen as well;
 *              as often as wanted
 *   test       or, in the place of these three, the unit test that must fail: sim/oracle_excuse
 *   target     the part it is planted in; default: the folder
 *   museum     ids of public bugs that it retells, as in AMB-01 (docs/bug-museum.md)
 *   source     and the public addresses where these are told
 */
#ifndef SCENARIOS_CLI_MUTANTS_MUTANTS_H
#define SCENARIOS_CLI_MUTANTS_MUTANTS_H

#include "scenarios/cli/options.h"
#include "scenarios/cli/status.h"
#include "scenarios/cli/text.h"
#include "sinks/base/err.h"

#include <stdbool.h>

#define MUTANT_BUDGET_DEFAULT 2000u
#define MUTANT_MESSAGE_SIZE   400
#define MUTANT_KILLER_TEST    "test" /* in killed_by of a mutant that its unit test killed */

#define MUTANT_ALSO_MAX 16u

/* One patch in one scenario: a patch that is to be seen in several is as many mutants. */
struct mutant {
    const char *name;  /* of the file, without .patch */
    const char *label; /* the name, for the second scenario name-2: what its results are called */
    const char *path;
    const char *target; /* default: the folder */
    const char *mechanism;
    const char *scenario; /* empty if there is a test */
    const char *oracle;   /* "test:<path>" if there is a test */
    const char *test_or_null;
    const char *museum_or_null; /* ids, separated by spaces */
    const char *source_or_null; /* addresses, separated by spaces */
    uint64_t seeds;             /* budget */
    bool is_canary;
};

/* Another scenario and oracle of a patch. */
struct mutant_also {
    const char *scenario;
    const char *oracle;
};

struct mutant_alsos {
    struct mutant_also items[MUTANT_ALSO_MAX];
    uint32_t count;
};

/* Read the header of a patch. ERR_OK, or ERR_INVALID with a line that says what is missing or
 * wrong. Texts go to the pool. */
MUST_USE enum err mutant_parse(struct text_pool *texts,
                               struct bytes patch,
                               struct mutant *mutant,
                               struct mutant_alsos *alsos,
                               char message[MUTANT_MESSAGE_SIZE]);

/* Read all patches under a source tree, sorted by folder and name. STATUS_OK, or STATUS_USAGE with
 * a line on standard error. */
MUST_USE enum status
mutants_read(struct text_pool *texts, const char *source, struct mutant **mutants, size_t *count);

enum status mutants_list(const struct options *options);

#endif
