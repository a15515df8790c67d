/* Inside of building: what is being built, and the steps that stand in files of their own. */
#ifndef SCENARIOS_SCENARIO_BUILD_H
#define SCENARIOS_SCENARIO_BUILD_H

#include "scenarios/scenario_reader.h"

struct build {
    struct reader *reader;
    const struct fields *fields;
    const struct scenario_options *options;
    struct scenario *scenario;
    struct run_config *config; /* the scenario's */
    struct source_log *log;
    uint32_t target;                             /* index of the sink's service */
    uint32_t further[SINK_FURTHER_SERVICES_MAX]; /* of those that it calls as well */
    uint32_t dead_letter;                        /* UINT32_MAX none */
};

static inline uint64_t build_number(const struct build *build, enum field_id field)
{
    return field_number(build->fields, field);
}

static inline bool build_flag(const struct build *build, enum field_id field)
{
    return field_bool(build->fields, field);
}

static inline const struct field_value *build_value_of(const struct build *build,
                                                       enum field_id field)
{
    return &build->fields->values[field];
}

/* Say that a text is not what it may be. Returns ERR_INVALID. */
MUST_USE enum err
build_reject(const struct build *build, const char *path, const char *seen, const char *allowed);

/* Steps of scenario_judge.c; find_sink and read_models come first. */
MUST_USE enum err build_faults(struct build *build);
MUST_USE enum err build_names(struct build *build);
MUST_USE enum err build_reader(struct build *build);
MUST_USE enum err build_stop_reasons(struct build *build);
MUST_USE enum err build_oracles(struct build *build);
MUST_USE enum err build_expectation(struct build *build);
MUST_USE enum err build_must_reach(struct build *build);
MUST_USE enum err build_tape(struct build *build);

#endif
