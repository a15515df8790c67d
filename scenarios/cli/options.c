#include "scenarios/cli/options.h"

#include "scenarios/scenario.h"
#include "sim/search/pct.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#define HANG_AFTER_DEFAULT SECONDS(20)
#define COUNT_MAX          (UINT64_C(1) << 40)
#define SEARCH_RUNS_MAX    (UINT64_C(1) << 24)
#define DEVIATIONS_DEFAULT 2

struct option_text {
    const char *name;
    const char *placeholder_or_null;
    const char *sentence;
};

static const struct option_text texts[OPTION_COUNT] = {
#define X(id, name, placeholder, sentence) [OPTION_##id] = {name, placeholder, sentence},
#include "scenarios/cli/options.def"
#undef X
};

static const char *const policy_names[] = {
    [POLICY_SEEDS] = "seeds",
    [POLICY_PCT] = "pct",
    [POLICY_MIXED] = "mixed",
};

const char *policy_name(uint8_t kind)
{
    CHECK(kind < ARRAY_COUNT(policy_names));
    return policy_names[kind];
}

enum err policy_parse(const char *name, uint8_t *kind)
{
    for (uint32_t i = 0; i < ARRAY_COUNT(policy_names); i++) {
        if (strcmp(policy_names[i], name) == 0) {
            *kind = (uint8_t)i;
            return ERR_OK;
        }
    }
    return ERR_NOT_FOUND;
}

/* What a value must be, where not any text will do; for messages. */
static const char *allowed_values(enum option_id id)
{
    switch (id) {
    case OPTION_SEEDS:
        return "A-B or A, decimal, A <= B, at most 2^40 seeds";
    case OPTION_FOR:
    case OPTION_HANG_AFTER:
        return "a number with ms, s, m or h, as in 90s";
    case OPTION_JOBS:
        return "a number from 1 to 256";
    case OPTION_SHARD:
        return "I/N with 1 <= I <= N <= 65536";
    case OPTION_PROFILE:
        return "documented, observed or adversary";
    case OPTION_SEED:
    case OPTION_UNTIL:
        return "a decimal number below 2^64";
    case OPTION_ATTEMPTS:
        return "a number from 1 to 2^24";
    case OPTION_BELOW:
        return "a number from 0 to 2^24";
    case OPTION_POLICY:
        return "seeds, pct or mixed";
    case OPTION_DEPTH:
        return "a number from 1 to 8";
    case OPTION_SMALL:
    case OPTION_MAX_RUNS:
        return "a number from 1 to 2^40";
    case OPTION_DEVIATIONS:
        return "a number from 0 to 8";
    case OPTION_FAIL_UNDER:
        return "0s, or a number with ms, s, m or h, as in 90s";
    case OPTION_NONE:
    case OPTION_SEED_FROM:
    case OPTION_SINK:
    case OPTION_OUT:
    case OPTION_JSON:
    case OPTION_JUNIT:
    case OPTION_SARIF:
    case OPTION_SUMMARY:
    case OPTION_BASELINE:
    case OPTION_PLOTS:
    case OPTION_SEARCHES:
    case OPTION_MARKDOWN:
    case OPTION_HTML:
    case OPTION_WITHOUT_ORACLE:
    case OPTION_STOP_AT:
    case OPTION_TAPE:
    case OPTION_FUZZ:
    case OPTION_STRICT:
    case OPTION_TRACE:
    case OPTION_ONLY:
    case OPTION_BREAK:
    case OPTION_ORACLE:
    case OPTION_RESUME:
    case OPTION_OUTPUT:
    case OPTION_QUICK:
    case OPTION_MUTANTS:
    case OPTION_UPDATE:
    case OPTION_SAMPLE:
    case OPTION_SOURCE:
    case OPTION_NAME:
    case OPTION_WITH:
    case OPTION_WITH_SINK:
    case OPTION_CRASH_POINTS:
    case OPTION_RE_EXECUTE:
    case OPTION_COSTS:
    case OPTION_CELL:
    case OPTION_COUNT:
        return "a value that is not empty";
    }
    UNREACHABLE();
}

static bool number_within(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
    uint64_t number = 0;
    if (number_parse(text, &number) != ERR_OK || number < min || number > max) {
        return false;
    }
    *value = number;
    return true;
}

/* A margin may be 0, too. */
static bool take_margin(const char *value, int64_t *margin)
{
    nanos duration = 0;
    const bool is_good = strcmp(value, "0s") == 0 || duration_parse(value, &duration) == ERR_OK;
    *margin = duration > INT64_MAX ? INT64_MAX : (int64_t)duration;
    return is_good;
}

static bool take_text(const char *value, const char **text)
{
    *text = value;
    return value[0] != '\0';
}

/* Read the value of an option that has one. */
static bool take(struct options *options, enum option_id id, const char *value)
{
    uint64_t number = 0;
    bool is_good = false;
    switch (id) {
    case OPTION_SEEDS:
        return seed_range_parse(value, &options->seeds) == ERR_OK;
    case OPTION_FOR:
        return duration_parse(value, &options->duration) == ERR_OK;
    case OPTION_SEED_FROM:
        return take_text(value, &options->seed_from);
    case OPTION_JOBS:
        is_good = number_within(value, 1, JOBS_MAX, &number);
        options->jobs = (uint32_t)number;
        return is_good;
    case OPTION_SHARD:
        return shard_parse(value, &options->shard) == ERR_OK;
    case OPTION_PROFILE:
        return profile_parse(bytes_of_text(value), &options->profile) == ERR_OK;
    case OPTION_SINK:
        return take_text(value, &options->sink);
    case OPTION_OUT:
        return take_text(value, &options->out);
    case OPTION_JSON:
        return take_text(value, &options->json);
    case OPTION_JUNIT:
        return take_text(value, &options->junit);
    case OPTION_SARIF:
        return take_text(value, &options->sarif);
    case OPTION_SUMMARY:
        return take_text(value, &options->summary);
    case OPTION_BASELINE:
        return take_text(value, &options->baseline);
    case OPTION_PLOTS:
        return take_text(value, &options->plots);
    case OPTION_SEARCHES:
        return take_text(value, &options->searches);
    case OPTION_MARKDOWN:
        return take_text(value, &options->markdown);
    case OPTION_HTML:
        return take_text(value, &options->html);
    case OPTION_HANG_AFTER:
        return duration_parse(value, &options->hang_after) == ERR_OK;
    case OPTION_WITHOUT_ORACLE:
        return take_text(value, &options->without_oracle);
    case OPTION_STOP_AT:
        return take_text(value, &options->stop_at);
    case OPTION_SEED:
        return number_within(value, 0, UINT64_MAX, &options->seed);
    case OPTION_TAPE:
        return take_text(value, &options->tape);
    case OPTION_FUZZ:
        return take_text(value, &options->fuzz);
    case OPTION_ONLY:
        return take_text(value, &options->only);
    case OPTION_UNTIL:
        return number_within(value, 1, UINT64_MAX, &options->until_event);
    case OPTION_ORACLE:
        return take_text(value, &options->oracle);
    case OPTION_ATTEMPTS:
        return number_within(value, 1, SEARCH_RUNS_MAX, &options->attempts);
    case OPTION_POLICY:
        return policy_parse(value, &options->policy) == ERR_OK;
    case OPTION_DEPTH:
        return number_within(value, 1, PCT_DEPTH_MAX, &options->depth);
    case OPTION_BELOW:
        return number_within(value, 0, SEARCH_RUNS_MAX, &options->below);
    case OPTION_RESUME:
        return take_text(value, &options->resume);
    case OPTION_OUTPUT:
        return take_text(value, &options->output);
    case OPTION_SMALL:
        return number_within(value, 1, COUNT_MAX, &options->small);
    case OPTION_MUTANTS:
        return take_text(value, &options->mutants);
    case OPTION_SOURCE:
        return take_text(value, &options->source);
    case OPTION_NAME:
        return take_text(value, &options->name);
    case OPTION_WITH:
        return take_text(value, &options->with);
    case OPTION_WITH_SINK:
        return take_text(value, &options->with_sink);
    case OPTION_DEVIATIONS:
        is_good = number_within(value, 0, DEVIATIONS_MAX, &number);
        options->deviations = (uint32_t)number;
        return is_good;
    case OPTION_MAX_RUNS:
        return number_within(value, 1, COUNT_MAX, &options->max_runs);
    case OPTION_FAIL_UNDER:
        return take_margin(value, &options->fail_under);
    case OPTION_COSTS:
        return take_text(value, &options->costs);
    case OPTION_CELL:
        return take_text(value, &options->cell);
    case OPTION_NONE:
    case OPTION_STRICT:
    case OPTION_TRACE:
    case OPTION_BREAK:
    case OPTION_QUICK:
    case OPTION_UPDATE:
    case OPTION_SAMPLE:
    case OPTION_CRASH_POINTS:
    case OPTION_RE_EXECUTE:
    case OPTION_COUNT:
        break;
    }
    UNREACHABLE();
}

/* The option that a word names, with what stands behind its '=' if it has one. */
static enum option_id find(const char *word, const char **value_or_null)
{
    const size_t size = strcspn(word, "=");
    *value_or_null = word[size] == '=' ? word + size + 1 : NULL;
    for (uint32_t i = 1; i < OPTION_COUNT; i++) {
        if (strlen(texts[i].name) == size && memcmp(texts[i].name, word, size) == 0) {
            return (enum option_id)i;
        }
    }
    return OPTION_NONE;
}

/* State of one reading, so that complaints need not pass everything along. */
struct parse {
    const struct options_rule *rule;
    char *message;
};

static enum err complain(const struct parse *parse, const char *format, ...) PRINTF_LIKE(2, 3);
static enum err complain(const struct parse *parse, const char *format, ...)
{
    char what[OPTION_MESSAGE_SIZE - 40];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    (void)snprintf(parse->message, OPTION_MESSAGE_SIZE, "%.24s: %s", parse->rule->command, what);
    return ERR_INVALID;
}

/* Read the option at words[at] and its value; *at then stands on the last word taken. */
static enum err take_option(const struct parse *parse,
                            const char **words,
                            size_t word_count,
                            size_t *at,
                            struct options *options)
{
    const char *value = NULL;
    const char *word = words[*at];
    const enum option_id id = find(word, &value);
    if (id == OPTION_NONE) {
        return complain(
            parse, "%s: no such option; see sinkproof help %.24s", word, parse->rule->command);
    }
    const char *name = texts[id].name;
    const uint64_t bit = UINT64_C(1) << id;
    if ((parse->rule->allowed & bit) == 0) {
        return complain(parse,
                        "%s: not an option of this command; see sinkproof help %.24s",
                        name,
                        parse->rule->command);
    }
    if ((options->given & bit) != 0) {
        return complain(parse, "%s: given twice; once is allowed", name);
    }
    options->given |= bit;
    if (texts[id].placeholder_or_null == NULL) {
        return value == NULL ? ERR_OK : complain(parse, "%s \"%s\": takes no value", name, value);
    }
    if (value == NULL) {
        if (*at + 1 >= word_count) {
            return complain(
                parse, "%s: its value is missing; allowed: %s", name, allowed_values(id));
        }
        (*at)++;
        value = words[*at];
    }
    return take(options, id, value)
               ? ERR_OK
               : complain(parse, "%s \"%s\": allowed: %s", name, value, allowed_values(id));
}

static enum err check_arguments(const struct parse *parse, const struct options *options)
{
    const struct options_rule *rule = parse->rule;
    if (options->argument_count < rule->argument_min) {
        return complain(
            parse, "%zu arguments given; wanted: %s", options->argument_count, rule->arguments);
    }
    if (options->argument_count > rule->argument_max) {
        return complain(parse,
                        "\"%s\": one argument too many; wanted: %s",
                        options->arguments[rule->argument_max],
                        rule->arguments[0] != '\0' ? rule->arguments : "none");
    }
    return ERR_OK;
}

enum err options_parse(const struct options_rule *rule,
                       const char **words,
                       size_t word_count,
                       struct options *options,
                       char message[OPTION_MESSAGE_SIZE])
{
    const struct parse parse = {.rule = rule, .message = message};
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t argument_count = 0;
    bool only_arguments = false;
    *options = (struct options){
        .program = "sinkproof",
        .arguments = words,
        .jobs = processors < 1                ? 1
                : processors > (long)JOBS_MAX ? JOBS_MAX
                                              : (uint32_t)processors,
        .shard = {.index = 1, .count = 1},
        .hang_after = HANG_AFTER_DEFAULT,
        .deviations = DEVIATIONS_DEFAULT,
    };
    for (size_t i = 0; i < word_count; i++) {
        const char *word = words[i];
        if (!only_arguments && strcmp(word, "--") == 0) {
            only_arguments = true;
        } else if (only_arguments || word[0] != '-' || word[1] == '\0') {
            words[argument_count++] = word;
        } else {
            const enum err error = take_option(&parse, words, word_count, &i, options);
            if (error != ERR_OK) {
                return error;
            }
        }
    }
    options->argument_count = argument_count;
    return check_arguments(&parse, options);
}

void options_describe(FILE *file, uint64_t allowed)
{
    for (uint32_t i = 1; i < OPTION_COUNT; i++) {
        if ((allowed & UINT64_C(1) << i) != 0) {
            const char *placeholder = texts[i].placeholder_or_null;
            const int used = fprintf(file,
                                     "  %s%s%s",
                                     texts[i].name,
                                     placeholder ? " " : "",
                                     placeholder ? placeholder : "");
            (void)fprintf(file, "%*s%s\n", used < 26 ? 26 - used : 1, "", texts[i].sentence);
        }
    }
}

void options_synopsis(FILE *file, uint64_t allowed)
{
    for (uint32_t i = 1; i < OPTION_COUNT; i++) {
        if ((allowed & UINT64_C(1) << i) != 0) {
            const char *placeholder = texts[i].placeholder_or_null;
            (void)fprintf(file,
                          " [%s%s%s]",
                          texts[i].name,
                          placeholder ? " " : "",
                          placeholder ? placeholder : "");
        }
    }
}
