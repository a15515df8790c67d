/* What the command mutants makes of what it builds and runs. Method: a source tree that is a mere
 * stand-in, whose make and tools/build-mutant write shell scripts for unit tests and binaries.
 * link: binary scenarios/cli/workshop_testkit scenarios/cli/process scenarios/cli/text
 * link: sinks/base/bytes
 */
#include "scenarios/cli/workshop_testkit.h"
#include "sinks/base/test.h"

#include <string.h>

#define JSON_WITH(violations)                                                                      \
    "{\"schema\": 1, \"runs\": [{\"runs\": 7, \"violations\": [" violations "]}]}"
#define VIOLATION(oracle) "{\"oracles\": [\"" oracle "\"], \"deviations\": 3}"

/* A unit test passes without a patch, but for part/spoilt. What a patch does stands in its last
 * line. A binary finds what is in the file found, unless an oracle is switched off. */
static void write_tree(struct workshop *workshop)
{
    workshop_write(workshop,
                   "Makefile",
                   "build/debug/part/spoilt_test: exit := 1\n"
                   "build/debug/%_test:\n"
                   "\tmkdir -p $(@D)\n"
                   "\tprintf '#!/bin/sh\\nexit $(or $(exit),0)\\n' >$@; chmod +x $@\n");
    workshop_must(workshop, "mkdir -p tools scenarios/mutants/part", 0);
    workshop_write(
        workshop,
        "tools/build-mutant",
        "#!/bin/sh\n"
        "does=$(tail -n 1 \"$2\") test=$3/build/debug/$4_test\n"
        "case $does in\n"
        "'exit '*) mkdir -p \"${test%/*}\"; echo \"$does\" >\"$test\";"
        " chmod +x \"$test\" ;;\n"
        "finds) mkdir -p \"$3/build/release\"; cp binary \"$3/build/release/sinkproof\" ;;\n"
        "*) echo \"error: $does\" >&2; exit 2 ;;\n"
        "esac\n");
    workshop_write(workshop,
                   "binary",
                   "#!/bin/sh\n"
                   "found=found\n"
                   "for word in \"$@\"; do\n"
                   "    [ \"$word\" = --without-oracle ] && found=without\n"
                   "    [ \"$last\" = --json ] && json=$word\n"
                   "    last=$word\n"
                   "done\n"
                   "cp \"$found\" \"$json\"\n");
    workshop_write(workshop, "found", JSON_WITH(VIOLATION("contract") ", " VIOLATION("progress")));
    workshop_write(workshop, "without", JSON_WITH(VIOLATION("contract")));
    workshop_must(workshop, "chmod +x tools/build-mutant binary", 0);
}

static void write_mutant(struct workshop *workshop, const char *name, const char *patch)
{
    write_tree(workshop);
    workshop_write(workshop,
                   text_format(&workshop->texts, "scenarios/mutants/part/%s.patch", name),
                   text_format(&workshop->texts, "# mechanism: m\n%s\n", patch));
}

#define HUNT "\"$SINKPROOF\" mutants --source . --json kept.json"

/* A key and its value in the file of results. */
static void assert_kept(struct workshop *workshop, const char *text)
{
    const char *kept = workshop_read(workshop, "kept.json");
    if (strstr(kept, text) == NULL) {
        fail_msg("\"%s\" is not in: %s", text, kept);
    }
}

static void a_mutant_that_fails_its_unit_test_is_killed(void **state)
{
    struct workshop *workshop = *state;
    write_mutant(workshop, "m-1", "# test: part/sound\nexit 1");
    workshop_must(workshop, HUNT, 0);
    workshop_says(workshop, "killed by test:part/sound\n");
    workshop_says(workshop, "1 of 1 mutants killed");
    assert_kept(workshop, "\"scenario\": \"\"");
    assert_kept(workshop, "\"oracle\": \"test:part/sound\"");
    assert_kept(workshop, "\"killed\": true");
    assert_kept(workshop, "\"killed_by\": [\n        \"test\"\n      ]");
    assert_kept(workshop, "\"runs_to_kill\": 1");
}

static void a_mutant_that_passes_its_unit_test_is_alive(void **state)
{
    struct workshop *workshop = *state;
    write_mutant(workshop, "m-1", "# test: part/sound\nexit 0");
    workshop_must(workshop, HUNT, 1);
    workshop_says(workshop, "NOT KILLED: test:part/sound passes");
    assert_kept(workshop, "\"runs_to_kill\": 0");
}

static void a_mutant_that_does_not_build_is_not_killed(void **state)
{
    struct workshop *workshop = *state;
    write_mutant(workshop, "m-1", "# test: part/sound\nno semicolon");
    workshop_must(workshop, HUNT, 1);
    workshop_says(workshop, "NOT KILLED: it does not build: error: no semicolon");
}

static void a_test_that_fails_by_itself_kills_nobody(void **state)
{
    struct workshop *workshop = *state;
    write_mutant(workshop, "m-1", "# test: part/spoilt\nexit 1");
    workshop_must(workshop, HUNT, 1);
    workshop_says(workshop, "part/spoilt ends with status 1 without a patch, too");
    workshop_says(workshop, "0 of 1 mutants killed");
}

static void a_test_that_does_not_exist_ends_the_hunt(void **state)
{
    struct workshop *workshop = *state;
    write_mutant(workshop, "m-1", "# test: part/sound\nexit 1");
    workshop_write(workshop, "Makefile", "");
    workshop_must(workshop, HUNT, 1);
    workshop_says(workshop, "unit tests do not build");
    workshop_says(workshop, "build/debug/part/sound_test");
}

static void only_the_named_oracle_kills(void **state)
{
    struct workshop *workshop = *state;
    write_mutant(workshop, "m-1", "# scenario: s\n# oracle: progress\nfinds");
    workshop_must(workshop, HUNT, 0);
    workshop_says(workshop, "AB  killed by progress in 7 runs, 3 choices");
    workshop_must(workshop, HUNT " --without-oracle progress", 1);
    workshop_says(workshop, "A  NOT KILLED: progress saw nothing in 7 runs of s");
}

/* Goal: whoever changes the lines of a planted bug hears of it before the hunt does. */
static void every_patch_applies(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(workshop,
                  "cd \"$ROOT\" && for patch in scenarios/mutants/*/*.patch; do\n"
                  "    patch -p1 -s -f --dry-run <\"$patch\" >/dev/null || {\n"
                  "        echo \"$patch: does not apply any more\"; bad=1; }\n"
                  "done; exit ${bad:-0}",
                  0);
}

/* Goal: the planted bugs of Cloud Tasks and the engine are not caught by scenarios made to catch them:
 * three quarters die where a claim is put to the test. */
static void three_quarters_die_on_scenarios_of_claims(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(
        workshop,
        "cd \"$ROOT/scenarios\" && all=0 on=0\n"
        "for patch in mutants/cloudtasks/*.patch mutants/base/*.patch mutants/engine/*.patch\n"
        "do\n"
        "    names=$(sed -n 's/^# \\(scenario\\|also\\): *\\([^ ]*\\).*/\\2.json/p' \"$patch\")\n"
        "    [ -n \"$names\" ] || continue\n"
        "    all=$((all + 1))\n"
        "    ! grep -q '\"claim\":' $names || on=$((on + 1))\n"
        "done\n"
        "echo \"$on of $all\"; [ $all -ge 45 ] && [ $((on * 4)) -ge $((all * 3)) ]",
        0);
}

/* Goal: the page of planted bugs says of every bug of a sink that no scenario shows what that would take, and
 * of no other. */
static void the_page_lists_what_only_unit_tests_show(void **state)
{
    struct workshop *workshop = *state;
    workshop_must(
        workshop,
        "cd \"$ROOT\" && name='m-[a-z]*-[0-9]*' && list=$(mktemp)\n"
        "sed -n '/^## Bugs that only/,$p' docs/planted-bugs.md | grep -o \"\\`$name\\`\" |\n"
        "    tr -d '`' | sort -u >\"$list\"\n"
        "grep -l '^# test: sinks/' scenarios/mutants/*/m-*.patch |\n"
        "    sed \"s,.*/\\($name\\)-.*,\\1,\" | sort -u | diff \"$list\" - || bad=1\n"
        "rm \"$list\"; exit ${bad:-0}",
        0);
}

/* Goal: a sample holds the canary, three mutants that are swept, and one that is tested. */
static void a_sample_has_mutants_of_both_kinds(void **state)
{
    struct workshop *workshop = *state;
    write_mutant(workshop, "the-canary", "# scenario: s\n# oracle: contract\nfinds");
    for (int i = 0; i < 7; i++) {
        write_mutant(workshop,
                     text_format(&workshop->texts, "m-swept-%d", i),
                     "# scenario: s\n# oracle: contract\nfinds");
        write_mutant(workshop,
                     text_format(&workshop->texts, "m-tested-%d", i),
                     "# test: part/sound\nexit 1");
    }
    workshop_must(workshop, HUNT " --sample", 0);
    workshop_says(workshop, "5 of 5 mutants killed");
    workshop_says(workshop, "the-canary");
    workshop_must(workshop, "test $(grep -c '\"name\": \"m-swept' kept.json) = 3", 0);
    workshop_must(workshop, "test $(grep -c '\"name\": \"m-tested' kept.json) = 1", 0);
}

#define HUNT_TEST(function) cmocka_unit_test_setup_teardown(function, workshop_open, workshop_close)

TEST_MAIN(hunt,
          HUNT_TEST(a_mutant_that_fails_its_unit_test_is_killed),
          HUNT_TEST(a_mutant_that_passes_its_unit_test_is_alive),
          HUNT_TEST(a_mutant_that_does_not_build_is_not_killed),
          HUNT_TEST(a_test_that_fails_by_itself_kills_nobody),
          HUNT_TEST(a_test_that_does_not_exist_ends_the_hunt),
          HUNT_TEST(only_the_named_oracle_kills),
          HUNT_TEST(every_patch_applies),
          HUNT_TEST(three_quarters_die_on_scenarios_of_claims),
          HUNT_TEST(the_page_lists_what_only_unit_tests_show),
          HUNT_TEST(a_sample_has_mutants_of_both_kinds))
