/* The part of a scenario that says what may go wrong and who judges it: fault menu, downtimes,
 * excuses, stop reasons, reader, oracles, expectation and tape. */
#include "scenarios/marks.h"
#include "scenarios/scenario_build.h"
#include "scenarios/wiring/catalogue.h"
#include "sim/tape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- faults -------------------------------------------------------------------------------------- */

#define ALL_KINDS ((UINT32_C(1) << FAULT_KIND_COUNT) - 2)

static enum err
find_kind(struct build *build, const char *path, const char *name, enum fault_kind *kind)
{
    if (fault_kind_parse(bytes_of_text(name), kind) == ERR_OK && *kind != FAULT_NONE) {
        return ERR_OK;
    }
    char allowed[320] = "";
    for (uint32_t i = 1; i < FAULT_KIND_COUNT; i++) {
        reader_add_name(allowed, sizeof(allowed), fault_kind_name((enum fault_kind)i));
    }
    return build_reject(build, path, name, allowed);
}

static enum err build_kinds(struct build *build)
{
    json_t *list = build_value_of(build, FIELD_FAULTS_KINDS)->json;
    uint32_t kinds = list == NULL ? ALL_KINDS : 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        const bool is_taken_away = name[0] == '-';
        uint32_t bits = ALL_KINDS;
        if (strcmp(name, "all") != 0) {
            char path[READER_PATH_SIZE];
            (void)snprintf(path, sizeof(path), "faults.kinds[%zu]", i);
            enum fault_kind kind = FAULT_NONE;
            const enum err err = find_kind(build, path, name + (is_taken_away ? 1 : 0), &kind);
            if (err != ERR_OK) {
                return err;
            }
            bits = UINT32_C(1) << kind;
        }
        kinds = is_taken_away ? kinds & ~bits : kinds | bits;
    }
    build->config->faults.kinds = kinds;
    return ERR_OK;
}

enum err build_faults(struct build *build)
{
    struct fault_menu *menu = &build->config->faults;
    menu->cap_total = (uint8_t)build_number(build, FIELD_FAULTS_CAP_TOTAL);
    menu->cap[FAULT_CRASH] = 2;
    menu->cap[FAULT_RESTORE] = 1;
    const char *name = NULL;
    json_t *item = NULL;
    json_object_foreach(build_value_of(build, FIELD_FAULTS_CAPS)->json, name, item)
    {
        char path[READER_PATH_SIZE];
        (void)snprintf(path, sizeof(path), "faults.caps.%.60s", name);
        enum fault_kind kind = FAULT_NONE;
        enum err err = find_kind(build, path, name, &kind);
        struct field field = scenario_fields[FIELD_FAULTS_CAPS];
        field.type = FIELD_TYPE_COUNT;
        struct field_value cap = {0};
        if (err == ERR_OK) {
            err = reader_value(build->reader, &field, path, item, &cap);
        }
        if (err != ERR_OK) {
            return err;
        }
        menu->cap[kind] = (uint8_t)cap.number;
    }
    return build_kinds(build);
}

/* --- downtimes, judges --------------------------------------------------------------------------- */

/* Turn a list of names into bits by their index in the field's names. */
static enum err name_bits(struct build *build, enum field_id id, uint64_t *bits)
{
    const struct field *field = &scenario_fields[id];
    json_t *list = build_value_of(build, id)->json;
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct field one = *field;
        one.type = FIELD_TYPE_ENUM;
        char path[READER_PATH_SIZE];
        (void)snprintf(path, sizeof(path), "%s[%zu]", field->key, i);
        struct field_value value = {0};
        const enum err err =
            reader_value(build->reader, &one, path, json_array_get(list, i), &value);
        if (err != ERR_OK) {
            return err;
        }
        *bits |= UINT64_C(1) << value.number;
    }
    return ERR_OK;
}

enum err build_names(struct build *build)
{
    uint64_t downtimes = 0;
    uint64_t excuses = 0;
    enum err err = name_bits(build, FIELD_ENGINE_DOWNTIMES, &downtimes);
    if (err == ERR_OK) {
        err = name_bits(build, FIELD_EXCUSES, &excuses);
    }
    if (!build_value_of(build, FIELD_ENGINE_DOWNTIMES)->given) {
        downtimes = 1u << DOWNTIME_SHORT | 1u << DOWNTIME_REQUEST;
    }
    /* A placeholder that says "offered"; its length is computed with the facts. */
    for (uint32_t i = 0; i < DOWNTIME_COUNT; i++) {
        build->config->job.downtime[i] = downtimes >> i & 1;
    }
    build->config->facts.excuses = (uint32_t)excuses;
    return err;
}

/* The reader class that a field names; nothing changes where the file has none. */
static enum err find_reader(struct build *build, enum field_id field, uint8_t *reader_class)
{
    const struct bytes name = build_value_of(build, field)->text;
    const struct model_type *model = build->config->services[build->target].type;
    if (name.size == 0) {
        return ERR_OK;
    }
    char allowed[128] = "";
    for (uint8_t i = 0; model->readers != NULL && model->readers[i] != NULL; i++) {
        if (bytes_equal(name, bytes_of_text(model->readers[i]))) {
            *reader_class = i;
            return ERR_OK;
        }
        reader_add_name(allowed, sizeof(allowed), model->readers[i]);
    }
    return build_reject(build, scenario_fields[field].key, (const char *)name.data, allowed);
}

enum err build_reader(struct build *build)
{
    struct judge_facts *facts = &build->config->facts;
    const enum err err = find_reader(build, FIELD_READER, &facts->reader_class);
    facts->consumer_class = facts->reader_class;
    return err == ERR_OK ? find_reader(build, FIELD_CONSUMER, &facts->consumer_class) : err;
}

enum err build_stop_reasons(struct build *build)
{
    json_t *list = build_value_of(build, FIELD_STOP_REASONS)->json;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        uint32_t reason = 1;
        while (reason < SINK_REASON_COUNT && strcmp(name, sink_reason_name(reason)) != 0) {
            reason++;
        }
        if (reason == SINK_REASON_COUNT) {
            char allowed[256] = "";
            for (uint32_t k = 1; k < SINK_REASON_COUNT; k++) {
                reader_add_name(allowed, sizeof(allowed), sink_reason_name(k));
            }
            char path[READER_PATH_SIZE];
            (void)snprintf(path, sizeof(path), "stop_reasons[%zu]", i);
            return build_reject(build, path, name, allowed);
        }
        build->config->facts.stop_reasons |= UINT64_C(1) << reason;
    }
    return ERR_OK;
}

static enum err find_oracle(struct build *build,
                            const char *path,
                            const char *name,
                            const struct oracle_type **oracle)
{
    *oracle = oracle_by_name(bytes_of_text(name));
    if (*oracle != NULL) {
        return ERR_OK;
    }
    char allowed[640] = "";
    for (size_t i = 0; i < oracle_type_count; i++) {
        reader_add_name(allowed, sizeof(allowed), oracle_types[i]->name);
    }
    return build_reject(build, path, name, allowed);
}

/* Whether a sink that declares a guarantee is judged by an oracle unless the file says otherwise. */
static bool is_judged_by(const struct sink_type *sink, const char *oracle)
{
    static const struct {
        const char *oracle;
        uint8_t guarantee; /* from this one on; NONE: only when named */
    } rules[] = {
        {"effectively-once", SINK_EFFECTIVELY_ONCE},
        {"exactly-once-write", SINK_EXACTLY_ONCE},
        {"no-early-visibility", SINK_EXACTLY_ONCE},
        {"staged-silence", SINK_EXACTLY_ONCE},
        {"ownership", SINK_EXACTLY_ONCE},
        {"identity-stable", SINK_EXACTLY_ONCE},
        {"deadline-respected", SINK_EXACTLY_ONCE},
        {"progress", SINK_GUARANTEE_NONE},
        {"atomic-visibility", SINK_GUARANTEE_NONE},
        {"idempotent-commit", SINK_EXACTLY_ONCE},
        {"refused", SINK_GUARANTEE_NONE},
        {"order-per-key", SINK_GUARANTEE_NONE},
        {"end-to-end", SINK_GUARANTEE_NONE},
        {"one-cut", SINK_EXACTLY_ONCE},
        {"channel-state", SINK_GUARANTEE_NONE},
        {"handle-safe", SINK_GUARANTEE_NONE},
        {"scope", SINK_GUARANTEE_NONE},
        {"latest-per-key", SINK_GUARANTEE_NONE},
        {"no-silent-loss", SINK_AT_LEAST_ONCE},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rules); i++) {
        if (strcmp(rules[i].oracle, oracle) == 0) {
            return rules[i].guarantee != SINK_GUARANTEE_NONE &&
                   sink->guarantee >= rules[i].guarantee;
        }
    }
    return true;
}

enum err build_oracles(struct build *build)
{
    struct run_config *config = build->config;
    json_t *list = build_value_of(build, FIELD_ORACLES)->json;
    for (size_t i = 0; list == NULL && i < oracle_type_count; i++) {
        if (is_judged_by(config->job.sink, oracle_types[i]->name)) {
            config->oracles[config->oracle_count] = oracle_types[i];
            config->oracle_count++;
        }
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        char path[READER_PATH_SIZE];
        (void)snprintf(path, sizeof(path), "oracles[%zu]", i);
        const struct oracle_type *oracle = NULL;
        const char *name = json_string_value(json_array_get(list, i));
        const enum err err = find_oracle(build, path, name, &oracle);
        if (err != ERR_OK) {
            return err;
        }
        for (uint32_t k = 0; k < config->oracle_count; k++) {
            if (config->oracles[k] == oracle) {
                return build_reject(build, path, name, "each oracle once");
            }
        }
        config->oracles[config->oracle_count] = oracle;
        config->oracle_count++;
    }
    return ERR_OK;
}

/* --- expectation, tape --------------------------------------------------------------------------- */

enum err build_expectation(struct build *build)
{
    struct scenario *scenario = build->scenario;
    scenario->expectation = (uint8_t)build_number(build, FIELD_EXPECT);
    scenario->default_seeds = build_number(build, FIELD_SEEDS);
    const char *claim = (const char *)build_value_of(build, FIELD_CLAIM)->text.data;
    const char *title = (const char *)build_value_of(build, FIELD_TITLE)->text.data;
    const char *oracle = (const char *)build_value_of(build, FIELD_ORACLE)->text.data;
    (void)snprintf(scenario->claim, sizeof(scenario->claim), "%s", claim);
    (void)snprintf(scenario->title, sizeof(scenario->title), "%s", title);
    (void)snprintf(scenario->expected_oracle, sizeof(scenario->expected_oracle), "%s", oracle);
    const struct oracle_type *found = NULL;
    return oracle[0] == '\0' ? ERR_OK : find_oracle(build, "oracle", oracle, &found);
}

/* A sink that stands in for the file's taps other phases: what it cannot reach is not asked of it. */
enum err build_must_reach(struct build *build)
{
    struct scenario *scenario = build->scenario;
    struct marks_set catalogue;
    json_t *list = build_value_of(build, FIELD_MUST_REACH)->json;
    marks_of_scenario(build->config, ALL_KINDS, &catalogue);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        uint32_t place = 0;
        if (marks_find(build->config, &catalogue, name, &place) == ERR_OK) {
            scenario->must_reach[scenario->must_count] = narrow_u16(place);
            scenario->must_count++;
        } else if (build->options->sink_or_null == NULL) {
            char path[READER_PATH_SIZE];
            (void)snprintf(path, sizeof(path), "must_reach[%zu]", i);
            return build_reject(
                build, path, name, "marks as in list marks, of this scenario's sink and models");
        }
    }
    return ERR_OK;
}

enum err build_tape(struct build *build)
{
    struct scenario *scenario = build->scenario;
    const struct bytes text = build_value_of(build, FIELD_TAPE)->text;
    scenario->strict_tape = build_flag(build, FIELD_STRICT_TAPE);
    scenario->digest = build_number(build, FIELD_DIGEST);
    scenario->has_tape = build_value_of(build, FIELD_TAPE)->given;
    if (!scenario->has_tape) {
        return ERR_OK;
    }
    uint32_t capacity = 1;
    for (size_t i = 0; i < text.size; i++) {
        capacity += text.data[i] == '\n' ? 1 : 0;
    }
    scenario->tape.capacity = capacity;
    scenario->tape.entries =
        scenario_take(build->reader->memory, capacity * sizeof(struct tape_entry));
    if (scenario->tape.entries == NULL) {
        return reader_out_of_memory(build->reader);
    }
    struct tape_header header = {0};
    struct tape_fault fault = {0};
    const enum err err =
        tape_read_text(text, catalogue_registry(), &scenario->tape, &header, &fault);
    if (err != ERR_OK) {
        return reader_say(
            build->reader, err, "tape", "line %" PRIu32 ": %s", fault.line, fault.message);
    }
    return ERR_OK;
}
