/* diff: where two builds, or two sinks, first do something else.
 *
 * Each side is asked for the digests of the same seeds, by the command digests. For the first seed
 * that differs the event is found by halving: what a run has come to before event U is one digest,
 * too, and once two runs differ they go on to differ. */
#include "scenarios/cli/command.h"
#include "scenarios/cli/process.h"
#include "scenarios/cli/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define EVENT_MAX     (UINT64_C(1) << 40)
#define SEEDS_DEFAULT 100

struct side {
    const char *program;
    const char *sink_or_null;
};

struct comparison {
    const struct options *options;
    struct text_pool texts;
    const char *scenario;
    struct side sides[2];
    struct seed_range seeds;
    uint64_t seed;      /* the first that differs */
    uint64_t differing; /* seeds */
    uint64_t until;     /* least --until at which it differs */
};

/* --- asking ------------------------------------------------------------------------------------ */

/* Ask one side for digests of seeds; text is what it prints. */
static enum status ask(struct comparison *comparison,
                       const struct side *side,
                       struct seed_range seeds,
                       uint64_t until,
                       bool trace,
                       const char **text)
{
    const struct options *options = comparison->options;
    struct text_pool *texts = &comparison->texts;
    struct bytes output = {0};
    const char *words[24] = {
        side->program,
        "digests",
        comparison->scenario,
        "--seeds",
        text_format(texts, "%" PRIu64 "-%" PRIu64, seeds.first, seeds.last),
        "--hang-after",
        text_format(texts, "%" PRIu64 "ms", options->hang_after / NANOS_PER_MS),
    };
    size_t count = 7;
    if (until > 0) {
        words[count++] = "--until";
        words[count++] = text_format(texts, "%" PRIu64, until);
    }
    if (trace) {
        words[count++] = "--trace";
    }
    if (option_is_given(options, OPTION_BIT(PROFILE))) {
        words[count++] = "--profile";
        words[count++] = profile_name(options->profile);
    }
    if (side->sink_or_null != NULL) {
        words[count++] = "--sink";
        words[count++] = side->sink_or_null;
    }
    const int status = process_read(words, texts, &output);
    if (status != 0) {
        complain("diff: %s: %s; wanted: a sinkproof with this scenario and the command digests",
                 side->program,
                 status < 0 ? "cannot be run" : text_format(texts, "ended with status %d", status));
        return STATUS_USAGE;
    }
    *text = (const char *)output.data;
    return STATUS_OK;
}

static enum status ask_both(struct comparison *comparison,
                            struct seed_range seeds,
                            uint64_t until,
                            bool trace,
                            const char *texts[2])
{
    enum status status = ask(comparison, &comparison->sides[0], seeds, until, trace, &texts[0]);
    if (status == STATUS_OK) {
        status = ask(comparison, &comparison->sides[1], seeds, until, trace, &texts[1]);
    }
    return status;
}

/* --- lines ------------------------------------------------------------------------------------- */

static struct bytes line_at(const char *text)
{
    return (struct bytes){(const uint8_t *)text, strcspn(text, "\n")};
}

static const char *next_line(const char *text)
{
    const size_t size = strcspn(text, "\n");
    return text[size] == '\n' ? text + size + 1 : text + size;
}

/* The next line that starts with a word, without it; empty at the end. *text goes behind it. */
static struct bytes next_of(const char **text, const char *word)
{
    while (**text != '\0') {
        const struct bytes line = line_at(*text);
        const size_t size = strlen(word);
        const bool is_it = line.size >= size && memcmp(line.data, word, size) == 0;
        *text = next_line(*text);
        if (is_it) {
            return (struct bytes){line.data + size, line.size - size};
        }
    }
    return (struct bytes){0};
}

/* --- searching --------------------------------------------------------------------------------- */

/* Find the first seed that differs; differing is 0 when none does. */
static enum status find_seed(struct comparison *comparison)
{
    const struct seed_range seeds = comparison->seeds;
    const char *texts[2] = {"", ""};
    const enum status status = ask_both(comparison, seeds, 0, false, texts);
    for (uint64_t seed = seeds.first; status == STATUS_OK && *texts[0] != '\0'; seed++) {
        if (!bytes_equal(line_at(texts[0]), line_at(texts[1]))) {
            comparison->seed = comparison->differing == 0 ? seed : comparison->seed;
            comparison->differing++;
        }
        texts[0] = next_line(texts[0]);
        texts[1] = next_line(texts[1]);
    }
    return status;
}

static enum status differs_before(struct comparison *comparison, uint64_t until, bool *differs)
{
    const char *texts[2] = {"", ""};
    const struct seed_range one = {comparison->seed, comparison->seed};
    const enum status status = ask_both(comparison, one, until, false, texts);
    *differs = !bytes_equal(line_at(texts[0]), line_at(texts[1]));
    return status;
}

/* Find the least --until at which the runs of the seed differ. */
static enum status find_event(struct comparison *comparison)
{
    uint64_t same = 0;
    uint64_t other = 1;
    bool differs = false;
    enum status status = differs_before(comparison, other, &differs);
    while (status == STATUS_OK && !differs && other < EVENT_MAX) {
        same = other;
        other *= 2;
        status = differs_before(comparison, other, &differs);
    }
    while (status == STATUS_OK && other - same > 1) {
        const uint64_t middle = same + (other - same) / 2;
        status = differs_before(comparison, middle, &differs);
        if (differs) {
            other = middle;
        } else {
            same = middle;
        }
    }
    comparison->until = other;
    return status;
}

/* --- telling ----------------------------------------------------------------------------------- */

/* The first line in which the event differs, of both; a side that left no more of them says so, or how
 * it ended. When all are the same, the last ones. */
static void choose_lines(const char *const texts[2], struct bytes lines[2])
{
    const char *at[2] = {texts[0], texts[1]};
    struct bytes read[2] = {{0}, {0}};
    do {
        lines[0] = read[0];
        lines[1] = read[1];
        read[0] = next_of(&at[0], "line ");
        read[1] = next_of(&at[1], "line ");
    } while (read[0].size > 0 && bytes_equal(read[0], read[1]));
    for (size_t i = 0; i < 2 && !bytes_equal(read[0], read[1]); i++) {
        lines[i] = read[i].size > 0                       ? read[i]
                   : strstr(texts[i], " digest ") != NULL ? BYTES_LITERAL("nothing more")
                                                          : line_at(texts[i]);
    }
}

static void print_side(size_t index, struct bytes line)
{
    (void)printf("  %c %.*s\n", index == 0 ? '-' : '+', (int)line.size, (const char *)line.data);
}

static void print_command(struct comparison *comparison, size_t index)
{
    struct text_pool *texts = &comparison->texts;
    const struct side *side = &comparison->sides[index];
    const struct options *options = comparison->options;
    const bool profile = option_is_given(options, OPTION_BIT(PROFILE));
    (void)printf("  %c %s replay %s --seed %" PRIu64 " --until %" PRIu64 " --trace%s%s%s%s\n",
                 index == 0 ? '-' : '+',
                 text_shell_word(texts, side->program),
                 text_shell_word(texts, comparison->scenario),
                 comparison->seed,
                 comparison->until,
                 profile ? " --profile " : "",
                 profile ? profile_name(options->profile) : "",
                 side->sink_or_null != NULL ? " --sink " : "",
                 side->sink_or_null != NULL ? text_shell_word(texts, side->sink_or_null) : "");
}

static enum status tell(struct comparison *comparison)
{
    const char *texts[2] = {"", ""};
    struct bytes lines[2];
    const struct seed_range one = {comparison->seed, comparison->seed};
    const enum status status = ask_both(comparison, one, comparison->until, true, texts);
    if (status != STATUS_OK) {
        return status;
    }
    const char *at = texts[0];
    const struct bytes choice = next_of(&at, "choice ");
    (void)printf("%s: seed %" PRIu64 " differs at event %" PRIu64 "; %" PRIu64 " of %" PRIu64
                 " seeds differ\n",
                 comparison->scenario,
                 comparison->seed,
                 comparison->until - 1,
                 comparison->differing,
                 seed_range_count(comparison->seeds));
    if (choice.size > 0) {
        (void)printf("  choice before it: %.*s\n", (int)choice.size, (const char *)choice.data);
    } else {
        (void)printf("  choice before it: none, the run is calm so far\n");
    }
    choose_lines(texts, lines);
    print_side(0, lines[0]);
    print_side(1, lines[1]);
    if (bytes_equal(lines[0], lines[1])) {
        (void)printf("  no entry differs yet: it is a draw, or within a service or a judge\n");
    }
    print_command(comparison, 0);
    print_command(comparison, 1);
    return STATUS_BROKEN;
}

enum status command_diff(const struct options *options)
{
    struct comparison comparison = {
        .options = options,
        .scenario = options->arguments[0],
        .seeds = {1, SEEDS_DEFAULT},
        .sides =
            {
                {options->program, options->sink},
                {options->with != NULL ? options->with : options->program,
                 options->with_sink != NULL ? options->with_sink : options->sink},
            },
    };
    if (option_is_given(options, OPTION_BIT(SEEDS))) {
        comparison.seeds = options->seeds;
    }
    if (options->with == NULL && options->with_sink == NULL) {
        complain("diff: neither --with nor --with-sink given; wanted: one of them, or both");
        return STATUS_USAGE;
    }
    enum status status = find_seed(&comparison);
    if (status == STATUS_OK && comparison.differing == 0) {
        (void)printf("%s: seeds %" PRIu64 "-%" PRIu64 " come out the same on both\n",
                     comparison.scenario,
                     comparison.seeds.first,
                     comparison.seeds.last);
    } else if (status == STATUS_OK) {
        status = find_event(&comparison);
        status = status == STATUS_OK ? tell(&comparison) : status;
    }
    text_pool_fini(&comparison.texts);
    return status;
}
