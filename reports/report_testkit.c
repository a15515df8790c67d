#include "reports/report_testkit.h"

#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

static const char *const first_oracles[] = {"no-silent-loss", "ownership"};
static const char *const second_oracles[] = {"crash"};
static const char *const judging[] = {"at-least-once", "no-silent-loss"};
static const char *const choices[] = {"link.latency/writer0#3 = twice: it takes longer"};
static const char *const story[] = {"1.000 s  record 5 is accepted", "2.000 s  " KIT_HOSTILE};
static const char *const shortfalls[] = {"12 counted runs of 40, wanted: 20"};

const struct report_violation kit_violations[2] = {
    {
        .oracles = first_oracles,
        .oracle_count = 2,
        .subject = "record 5",
        .seed = 13,
        .tape = "sinkproof-tape 1\nscenario x\nprofile documented\nidentity 0x000000000000000d\n"
                "link.latency/writer0#3 = twice (1/3)\nend 1\n",
        .deviations = 1,
        .message = KIT_HOSTILE,
        .decisive = "2.000 s  " KIT_HOSTILE,
        .command = "sinkproof replay 'a b' --seed 13",
        .choices = choices,
        .choice_count = 1,
        .deviations_found = 9,
        .story = story,
        .story_count = 2,
        .story_decisive = 2,
    },
    {
        .oracles = second_oracles,
        .oracle_count = 1,
        .subject = "the job",
        .seed = 14,
        .tape = "",
        .message = "signal 11",
        .decisive = "",
        .command = "",
        .novelty = REPORT_NOVELTY_KNOWN,
    },
};

static struct report_run run_of(enum report_verdict expected, enum report_verdict verdict)
{
    return (struct report_run){
        .scenario = "cloudtasks/<x>",
        .profile = "documented",
        .seeds = "1-40",
        .runs = 40,
        .counted = 12,
        .expected = expected,
        .verdict = verdict,
        .as_expected = expected == verdict,
        .digest = 0xabc,
        .elapsed_ms = 17,
        .expected_oracle = "",
        .shard_index = 1,
        .shard_count = 1,
        .refusal = "",
        .limit = "",
        .file = "scenarios/cloudtasks/<x>.json",
        .oracles = judging,
        .oracle_count = 2,
    };
}

struct report_run kit_failing(void)
{
    struct report_run run = run_of(REPORT_HOLDS, REPORT_FAILS);
    run.violations = kit_violations;
    run.violation_count = 2;
    run.violating = 3;
    return run;
}

struct report_run kit_holding(void)
{
    return run_of(REPORT_HOLDS, REPORT_HOLDS);
}

struct report_run kit_inconclusive(void)
{
    struct report_run run = run_of(REPORT_HOLDS, REPORT_INCONCLUSIVE);
    run.shortfalls = shortfalls;
    run.shortfall_count = 1;
    return run;
}

struct report_run kit_limited(void)
{
    struct report_run run = run_of(REPORT_HOLDS, REPORT_INCONCLUSIVE);
    run.limited = 2;
    run.limit = "seed 3: events used up";
    return run;
}

char *kit_read(FILE *file)
{
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    assert_true(size >= 0);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    rewind(file);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    text[size] = '\0';
    (void)fclose(file);
    return text;
}

void kit_assert_golden(FILE *file, const char *name)
{
    char path[256];
    char *actual = kit_read(file);
    (void)snprintf(path, sizeof path, "reports/golden/%s", name);
    FILE *golden = fopen(path, "r");
    char *expected = golden == NULL ? NULL : kit_read(golden);
    if (expected == NULL || strcmp(actual, expected) != 0) {
        (void)snprintf(path, sizeof path, "build/golden-%s", name);
        FILE *left = fopen(path, "w");
        assert_non_null(left);
        (void)fputs(actual, left);
        (void)fclose(left);
        fail_msg("reports/golden/%s has other bytes than %s", name, path);
    }
    free(expected);
    free(actual);
}
