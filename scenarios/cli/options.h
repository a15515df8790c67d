/* The command line of one command, read and checked. */
#ifndef SCENARIOS_CLI_OPTIONS_H
#define SCENARIOS_CLI_OPTIONS_H

#include "scenarios/cli/seeds.h"
#include "sim/fault.h"

#include <stddef.h>
#include <stdio.h>

enum option_id {
    OPTION_NONE = 0,
#define X(id, name, placeholder, sentence) OPTION_##id,
#include "scenarios/cli/options.def"
#undef X
    OPTION_COUNT,
};

#define OPTION_BIT(id)      (UINT64_C(1) << OPTION_##id)
#define OPTION_MESSAGE_SIZE 320
#define JOBS_MAX            256u
#define DEVIATIONS_MAX      8u

struct options {
    const char *program; /* argv[0], for commands that replay */
    const char *const *arguments;
    size_t argument_count;
    uint64_t given; /* OPTION_BIT of those on the command line */
    struct seed_range seeds;
    nanos duration;
    const char *seed_from;
    uint32_t jobs;      /* default: the number of processors */
    struct shard shard; /* default 1/1 */
    enum profile profile;
    const char *sink;
    const char *out;
    const char *json;
    const char *junit;
    const char *sarif;
    const char *summary;
    const char *baseline;
    const char *plots;
    const char *searches;
    const char *markdown;
    const char *html;
    nanos hang_after; /* default 20 s */
    const char *without_oracle;
    const char *stop_at;
    uint64_t seed;
    const char *tape;
    const char *fuzz;
    const char *only;
    uint64_t until_event;
    const char *oracle;
    uint64_t attempts;
    uint64_t below;
    uint8_t policy; /* enum policy_kind */
    uint64_t depth;
    const char *resume;
    const char *output;
    uint64_t small;
    const char *mutants;
    const char *source;
    const char *name;
    const char *with;
    const char *with_sink;
    uint32_t deviations; /* default 2 */
    uint64_t max_runs;   /* 0: no limit */
    int64_t fail_under;  /* ns */
    const char *costs;
    const char *cell;
};

static inline bool option_is_given(const struct options *options, uint64_t bits)
{
    return (options->given & bits) != 0;
}

/* Read the arguments behind the command's name. allowed: OPTION_BITs. argument_min, argument_max:
 * how many words beside options. The words of argv are borrowed and reordered: arguments come
 * first. ERR_OK, or ERR_INVALID with a line in message that names argument, value and what is
 * allowed. */
struct options_rule {
    const char *command;
    uint64_t allowed;
    size_t argument_min;
    size_t argument_max;
    const char *arguments; /* "SCENARIO...", for messages */
};
MUST_USE enum err options_parse(const struct options_rule *rule,
                                const char **words,
                                size_t word_count,
                                struct options *options,
                                char message[OPTION_MESSAGE_SIZE]);

/* "seeds", "pct", "mixed", of enum policy_kind; and back: ERR_OK or ERR_NOT_FOUND. */
const char *policy_name(uint8_t kind);
MUST_USE enum err policy_parse(const char *name, uint8_t *kind);

/* Print the help lines of the options in a set. */
void options_describe(FILE *file, uint64_t allowed);

/* Print the options of a set as in "[--seeds A-B] [--jobs J]". */
void options_synopsis(FILE *file, uint64_t allowed);

#endif
