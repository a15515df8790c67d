/* Claims: the shipped ones are complete and name scenarios that fit, and a bad file is one line.
 *
 * link: product
 */
#include "scenarios/claims/claims.h"

#include "sinks/base/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLOUDTASKS "scenarios/claims/cloudtasks.json"
#define GATE       "scenarios/claims/gate.json"
#define GENERIC    "scenarios/claims/generic.json"
#define TIMING     "scenarios/claims/timing.json"

static struct claim_set *load(const char *path)
{
    struct claim_set *set = NULL;
    struct scenario_fault fault;
    if (claims_load(path, &set, &fault) != ERR_OK) {
        fail_msg("%s", fault.message);
    }
    return set;
}

static struct scenario *load_scenario(const char *name)
{
    struct scenario *scenario = NULL;
    struct scenario_fault fault;
    const struct scenario_options options = {0};
    if (scenario_load(name, &options, &scenario, &fault) != ERR_OK) {
        fail_msg("%s", fault.message);
    }
    return scenario;
}

/* A claim's scenario judges by the claim's oracles and carries its id. */
static void check_scenario(const struct claim *claim, const struct scenario *scenario, bool is_twin)
{
    assert_string_equal(scenario->claim, claim->id);
    for (uint32_t i = 0; i < claim->oracle_count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < scenario->config.oracle_count; k++) {
            found = found || scenario->config.oracles[k] == claim->oracles[i];
        }
        assert_true(found);
    }
    const bool fails = !claim->holds && !is_twin;
    assert_int_equal(scenario->expectation, fails ? EXPECT_FAILS : EXPECT_HOLDS);
    assert_string_equal(scenario->expected_oracle, fails ? claim->oracles[0]->name : "");
}

static void check_size(const struct scenario *scenario, uint32_t records, uint32_t subtasks)
{
    assert_int_equal(scenario->config.job.log->record_count, records);
    assert_int_equal(scenario->config.job.subtasks, subtasks);
}

/* Each configuration is judged as one that must be refused; those inside the rule are judged as any
 * other that holds. */
static void check_refusal(const struct claim *claim)
{
    assert_true(claim->holds);
    assert_string_equal(claim->oracles[0]->name, "refused");
    assert_string_equal(claim->scenario, claim->configurations[0]);
    assert_true(claim->inside_count >= 1);
    for (uint32_t i = 0; i < claim->configuration_count + claim->inside_count; i++) {
        const bool is_inside = i >= claim->configuration_count;
        struct scenario *scenario = load_scenario(
            is_inside ? claim->insides[i - claim->configuration_count] : claim->configurations[i]);
        assert_string_equal(scenario->config.job.sink->name, claim->sink);
        check_size(scenario, 16, 2);
        assert_true((scenario->config.oracles[0] == claim->oracles[0]) == !is_inside);
        assert_int_not_equal(scenario->expectation, EXPECT_FAILS);
        scenario_destroy(scenario);
    }
}

/* The run that tells two words apart is judged by both. */
static void check_words(const struct claim *claim)
{
    struct scenario *scenario = load_scenario(claim->scenario);
    assert_string_equal(scenario->claim, claim->id);
    assert_int_equal(scenario->config.oracle_count, claim->oracle_count + claim->lack_count);
    assert_int_equal(scenario->expectation, EXPECT_FAILS);
    assert_string_equal(scenario->expected_oracle, claim->lacks[0]->name);
    check_size(scenario, 16, 2);
    scenario_destroy(scenario);
}

/* Each configuration that is measured, and what stands beside it, is the claim's own, and offers no
 * faults of its own making. */
static void check_figure(const struct claim *claim)
{
    assert_true(claim->holds);
    assert_string_equal(claim->scenario, claim->configurations[0]);
    for (uint32_t i = 0; i < claim->configuration_count + claim->inside_count; i++) {
        const bool is_inside = i >= claim->configuration_count;
        struct scenario *scenario = load_scenario(
            is_inside ? claim->insides[i - claim->configuration_count] : claim->configurations[i]);
        assert_string_equal(scenario->claim, claim->id);
        assert_true(is_inside || strcmp(scenario->config.job.sink->name, claim->sink) == 0);
        /* A figure is one run, whoever sweeps it. */
        assert_true(scenario->has_tape || claim->figure == CLAIM_FIGURE_CONSTRAINTS);
        assert_int_equal(scenario->tape.count, 0);
        scenario_destroy(scenario);
    }
}

static void check_claim(const struct claim *claim)
{
    if (claim->figure != CLAIM_FIGURE_NONE) {
        check_figure(claim);
        return;
    }
    if (claim->configuration_count > 0) {
        check_refusal(claim);
        return;
    }
    if (claim->lack_count > 0) {
        check_words(claim);
        return;
    }
    struct scenario *scenario = load_scenario(claim->scenario);
    check_scenario(claim, scenario, false);
    check_size(scenario, 16, 2);
    assert_string_equal(scenario->config.job.sink->name, claim->sink);
    /* Three checkpoints while records come. */
    assert_true(scenario->config.job.record_interval * 8 >
                2 * scenario->config.job.checkpoint_interval);
    struct scenario *small = load_scenario(claim->small);
    check_scenario(claim, small, false);
    check_size(small, 3, 1);
    scenario_destroy(small);
    if (claim->small_2x[0] != '\0') {
        struct scenario *small_2x = load_scenario(claim->small_2x);
        check_scenario(claim, small_2x, false);
        check_size(small_2x, 3, 2);
        scenario_destroy(small_2x);
    }
    if (claim->twin[0] != '\0') {
        struct scenario *twin = load_scenario(claim->twin);
        check_scenario(claim, twin, true);
        check_size(twin, 16, 2);
        /* The same fault menu, or the comparison says nothing. */
        assert_int_equal(twin->config.faults.kinds, scenario->config.faults.kinds);
        assert_memory_equal(
            twin->config.faults.cap, scenario->config.faults.cap, sizeof(twin->config.faults.cap));
        assert_int_equal(twin->config.faults.cap_total, scenario->config.faults.cap_total);
        scenario_destroy(twin);
    }
    scenario_destroy(scenario);
}

/* Goal: what ships is complete. Method: load each claim's scenarios and compare. */
static void shipped_claims_have_their_scenarios(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        uint32_t least;
    } files[] = {{CLOUDTASKS, 50}, {GENERIC, 1}, {TIMING, 20}};
    for (size_t file = 0; file < ARRAY_COUNT(files); file++) {
        struct claim_set *set = load(files[file].path);
        assert_true(claims_count(set) >= files[file].least);
        for (uint32_t i = 0; i < claims_count(set); i++) {
            check_claim(claims_at(set, i));
        }
        claims_destroy(set);
    }
}

/* Goal: the rows about the decision rule are all there, and name cases in the place of scenarios. That
 * these come out is the matrix's to show, and scenarios/gate/cases_test.c's. */
static void claims_about_the_decision_rule_name_cases(void **state)
{
    (void)state;
    struct claim_set *set = load(GATE);
    assert_int_equal(claims_count(set), 14);
    for (uint32_t i = 0; i < claims_count(set); i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "PD-%u", i + 1);
        const struct claim *claim = claims_at(set, i);
        assert_string_equal(claim->id, id);
        assert_true(claim->holds);
        assert_true(claim->case_count > 0);
        assert_int_equal(claim->oracle_count, 0);
        assert_string_equal(claim->scenario, "");
    }
    assert_string_equal(claims_find(set, "PD-10")->cases[14], "F11-c");
    claims_destroy(set);
}

/* Goal: fields come through. */
static void claim_is_read(void **state)
{
    (void)state;
    struct claim_set *set = load(CLOUDTASKS);
    const struct claim *claim = claims_find(set, "CT-EO-1");
    assert_non_null(claim);
    assert_true(claim->holds);
    assert_int_equal(claim->profile, PROFILE_ADVERSARY);
    assert_string_equal(claim->sink, "cloudtasks-exactly-once");
    assert_int_equal(claim->property_count, 4);
    assert_string_equal(claim->properties[1], "no-early-visibility");
    assert_string_equal(claim->oracles[0]->name, "exactly-once-write");
    assert_string_equal(claim->twin, "");
    claim = claims_find(set, "CT-AL-5");
    assert_non_null(claim);
    assert_false(claim->holds);
    assert_int_equal(claim->calm, CLAIM_CALM_BREAKS);
    assert_non_null(strstr(claim->witness, "ALREADY_EXISTS"));
    claim = claims_find(set, "CT-EO-7");
    assert_non_null(claim);
    assert_int_equal(claim->configuration_count, 3);
    assert_int_equal(claim->inside_count, 3);
    assert_string_equal(claim->configurations[1], "cloudtasks/exactly-once-ct-eo-7-absent");
    claim = claims_find(set, "EA-9.CT-EO-16");
    assert_non_null(claim);
    assert_int_equal(claim->lack_count, 1);
    assert_string_equal(claim->lacks[0]->name, "atomic-visibility");
    assert_null(claims_find(set, "CT-EO-999"));
    claims_destroy(set);
}

#define CLAIM(more)                                                                                \
    "{\"id\":\"A\",\"sink\":\"cloudtasks-exactly-once\",\"condition\":\"c\",\"properties\":["      \
    "\"liveness\"],\"profile\":\"observed\",\"expected\":\"holds\",\"oracles\":[\"liveness\"],"    \
    "\"scenario\":\"s\",\"small\":\"t\"" more "}"

/* Goal: whatever is wrong has one line with its place. */
static void bad_claims_are_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *part;
        enum err err;
    } cases[] = {
        {"", "line 1", ERR_TRUNCATED},
        {"[]", "not a JSON object", ERR_INVALID},
        {"{\"claims\":[]}", "schema: missing", ERR_INVALID},
        {"{\"schema\":2,\"claims\":[]}", "schema: 2; allowed: 1", ERR_VERSION},
        {"{\"schema\":\"1\",\"claims\":[]}", "schema: \"1\"; allowed: 1", ERR_INVALID},
        {"{\"schema\":1}", "claims: missing", ERR_INVALID},
        {"{\"schema\":1,\"claims\":{}}", "claims: not a list", ERR_INVALID},
        {"{\"schema\":1,\"claims\":[],\"x\":1}", "x: unknown key; allowed: schema", ERR_INVALID},
        {"{\"schema\":1,\"claims\":[7]}", "claims[0]: 7; allowed: an object", ERR_INVALID},
        {"{\"schema\":1,\"claims\":[{}]}", "claims[0].id: missing", ERR_INVALID},
        {"{\"schema\":1,\"claims\":[{\"ids\":1}]}", "claims[0].ids: unknown key", ERR_INVALID},
        {"{\"schema\":1,\"claims\":[" CLAIM("") "," CLAIM("") "]}",
         "claims[1].id: A; allowed: each id once",
         ERR_INVALID},
        {"{\"schema\":1,\"claims\":[" CLAIM(",\"twin\":\"u\"") "]}",
         "claims[0].twin: u; allowed: of a claim that fails",
         ERR_INVALID},
        {"{\"schema\":1,\"claims\":[" CLAIM(",\"lacks\":[\"luck\"]") "]}",
         "claims[0].lacks[0]: \"luck\"",
         ERR_INVALID},
        {"{\"schema\":1,\"claims\":[" CLAIM(",\"relies\":[\"x\",\"\"]") "]}",
         "claims[0].relies: a list of 2; allowed: a list of 1 to 8 names, none empty",
         ERR_INVALID},
        {"{\"schema\":1,\"claims\":[" CLAIM(
             ",\"configurations\":[\"a\"],\"insides\":[\"b\",\"c\"]") "]}",
         "claims[0].insides: a list of another length",
         ERR_INVALID},
        {"{\"schema\":1,\"claims\":[{\"id\":\"A\",\"sink\":\"rule\",\"condition\":\"c\","
         "\"properties\":[\"p\"],\"profile\":\"documented\",\"expected\":\"fails\",\"twin\":\"t\","
         "\"cases\":[\"a\"]}]}",
         "claims[0].cases: A; allowed: of a claim that holds",
         ERR_INVALID},
        {"{\"schema\":1,\"claims\":[" CLAIM(",\"figure\":\"catch_up\"") "]}",
         "claims[0].configurations: missing; allowed: what the figure is taken of",
         ERR_INVALID},
        {"{\"schema\":1,\"claims\":[" CLAIM(
             ",\"figure\":\"catch_up\",\"configurations\":[\"a\"],\"wanted\":[\"1\",\"2\"]") "]}",
         "claims[0].wanted: a list of another length",
         ERR_INVALID},
        {"{\"schema\":1,\"claims\":[" CLAIM(
             ",\"figure\":\"catch_up\",\"configurations\":[\"a\"],\"wanted\":[\"1s\"]") "]}",
         "claims[0].wanted: 1s; allowed: a whole number",
         ERR_INVALID},
        {"{\"schema\":1,\"claims\":[" CLAIM(",\"calm\":\"dead\"") "]}",
         "claims[0].calm: \"dead\"; allowed: clean, breaks",
         ERR_INVALID},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct claim_set *set = NULL;
        struct scenario_fault fault;
        const enum err err = claims_create(bytes_of_text(cases[i].json), "c.json", &set, &fault);
        assert_int_equal(err, cases[i].err);
        if (strstr(fault.message, cases[i].part) == NULL) {
            fail_msg("\"%s\" does not contain \"%s\"", fault.message, cases[i].part);
        }
        assert_memory_equal(fault.message, "c.json: ", 8);
        assert_null(strchr(fault.message, '\n'));
    }
    struct claim_set *set = NULL;
    struct scenario_fault fault;
    assert_int_equal(claims_load("no/such.json", &set, &fault), ERR_NOT_FOUND);
}

#define EVERY_BYTE_UP_TO 4096u

/* Goal: no cut and no changed byte does harm. Method: those of a real file, of which all claims are
 * alike: every byte of the first ones, and every thirteenth of the others. */
static void damaged_file_is_refused_or_valid(void **state)
{
    (void)state;
    FILE *file = fopen(CLOUDTASKS, "rb");
    assert_non_null(file);
    static uint8_t data[65536];
    static uint8_t copy[65536];
    const size_t size = fread(data, 1, sizeof(data), file);
    assert_int_equal(fclose(file), 0);
    assert_true(size > 0 && size < sizeof(data));
    for (size_t i = 0; i < size; i += i < EVERY_BYTE_UP_TO ? 1 : 13) {
        struct claim_set *set = NULL;
        struct scenario_fault fault;
        if (i < size - 2) {
            assert_int_not_equal(claims_create((struct bytes){data, i}, "c.json", &set, &fault),
                                 ERR_OK);
        }
        memcpy(copy, data, size);
        copy[i] ^= 0x05;
        const enum err err = claims_create((struct bytes){copy, size}, "c.json", &set, &fault);
        if (err == ERR_OK) {
            claims_destroy(set);
        } else {
            assert_memory_equal(fault.message, "c.json: ", 8);
            assert_null(strchr(fault.message, '\n'));
        }
    }
}

TEST_MAIN(claims,
          TEST(shipped_claims_have_their_scenarios),
          TEST(claims_about_the_decision_rule_name_cases),
          TEST(claim_is_read),
          TEST(bad_claims_are_one_line),
          TEST(damaged_file_is_refused_or_valid))
