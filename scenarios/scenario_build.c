/* From the values of a file to a run_config: the parts are looked up in the catalogue, the options
 * are read by their own tables, the records are made, and all of it is put together. */
#include "scenarios/scenario_build.h"

#include "scenarios/wiring/catalogue.h"
#include "scenarios/wiring/wiring.h"
#include "scenarios/workload.h"
#include "sinks/policy/policy.h"
#include "sinks/port/generic.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum err
build_reject(const struct build *build, const char *path, const char *seen, const char *allowed)
{
    char quoted[READER_SEEN_SIZE];
    (void)snprintf(quoted, sizeof(quoted), "\"%.60s\"", seen);
    return reader_reject(build->reader, ERR_INVALID, path, quoted, "%s", allowed);
}

/* --- sink and models ----------------------------------------------------------------------------- */

/* A sink of the catalogue by name. ERR_OK, ERR_INVALID. */
static enum err look_up_sink(struct build *build,
                             const char *path,
                             struct bytes name,
                             const struct sink_type **sink)
{
    *sink = catalogue_sink(name);
    if (*sink != NULL) {
        return ERR_OK;
    }
    char allowed[384] = "";
    for (size_t i = 0; i < catalogue_sink_count; i++) {
        reader_add_name(allowed, sizeof(allowed), catalogue_sinks[i]->name);
    }
    if (strcmp(path, "sink.type") == 0) {
        reader_add_name(allowed, sizeof(allowed), "or any other with --sink X.so");
    }
    return build_reject(build, path, (const char *)name.data, allowed);
}

/* The sink that a restore may bring, if there is one. */
static enum err find_next_sink(struct build *build)
{
    struct job_config *job = &build->config->job;
    const struct bytes name = build_value_of(build, FIELD_NEXT_SINK_TYPE)->text;
    if (name.size == 0) {
        return ERR_OK;
    }
    const struct sink_type *sink = NULL;
    const enum err err = look_up_sink(build, "engine.next_sink.type", name, &sink);
    if (err != ERR_OK) {
        return err;
    }
    if (sink->service != job->sink->service) {
        return build_reject(build,
                            "engine.next_sink.type",
                            (const char *)name.data,
                            "a sink of the service that the first one writes to");
    }
    job->next_sink_or_null = sink;
    build->config->facts.next_staged = sink->committer_or_null != NULL;
    const struct option_table table = {sink->name, sink->options, sink->option_count};
    return options_read(build->reader,
                        "engine.next_sink.options",
                        &table,
                        build_value_of(build, FIELD_NEXT_SINK_OPTIONS)->json,
                        &job->next_options);
}

static enum err find_sink(struct build *build)
{
    const struct bytes name = build_value_of(build, FIELD_SINK_TYPE)->text;
    const struct sink_type *sink = build->options->sink_or_null;
    if (sink == NULL) {
        const enum err err = look_up_sink(build, "sink.type", name, &sink);
        if (err != ERR_OK) {
            return err;
        }
    }
    build->config->job.sink = sink;
    const struct option_table table = {sink->name, sink->options, sink->option_count};
    return options_read(build->reader,
                        "sink.options",
                        &table,
                        build_value_of(build, FIELD_SINK_OPTIONS)->json,
                        &build->config->job.options);
}

static enum err add_model(struct build *build,
                          const struct model_type *type,
                          const char *path,
                          json_t *options_or_null)
{
    struct run_config *config = build->config;
    CHECK(config->service_count < RUN_SERVICE_MAX);
    struct run_service *service = &config->services[config->service_count];
    config->service_count++;
    service->type = type;
    const struct option_table table = {type->name, type->options, type->option_count};
    return options_read(build->reader, path, &table, options_or_null, &service->options);
}

static enum err read_model(struct build *build, uint32_t index, json_t *item)
{
    struct fields fields = {0};
    enum err err = fields_read_item(build->reader, FIELD_MODELS, index, item, &fields);
    if (err != ERR_OK) {
        return err;
    }
    const struct bytes name = fields.values[FIELD_MODELS_TYPE].text;
    const struct model_type *type = catalogue_model(name);
    char path[READER_PATH_SIZE];
    if (type == NULL) {
        char allowed[256] = "";
        for (size_t i = 0; i < catalogue_model_count; i++) {
            reader_add_name(allowed, sizeof(allowed), catalogue_models[i]->name);
        }
        (void)snprintf(path, sizeof(path), "models[%" PRIu32 "].type", index);
        return build_reject(build, path, (const char *)name.data, allowed);
    }
    (void)snprintf(path, sizeof(path), "models[%" PRIu32 "].options", index);
    return add_model(build, type, path, fields.values[FIELD_MODELS_OPTIONS].json);
}

static const struct model_type *model_of_service(const struct port_service *service)
{
    for (size_t i = 0; i < catalogue_model_count; i++) {
        if (catalogue_models[i]->service == service) {
            return catalogue_models[i];
        }
    }
    return NULL;
}

/* Without a list: the sink's own services, and where dead letters go. */
static enum err default_models(struct build *build)
{
    const struct sink_type *sink = build->config->job.sink;
    const struct model_type *target = model_of_service(sink->service);
    enum err err = target == NULL ? ERR_OK : add_model(build, target, "models", NULL);
    for (uint32_t i = 0; err == ERR_OK && i < sink->further_service_count; i++) {
        const struct model_type *further = model_of_service(sink->further_services[i]);
        err = further == NULL ? ERR_OK : add_model(build, further, "models", NULL);
    }
    if (err == ERR_OK && build_number(build, FIELD_POLICY) == SINK_POLICY_DEAD_LETTER) {
        err = add_model(build, model_of_service(&generic_service), "models", NULL);
    }
    return err;
}

/* The index of the first model of a service from index on, or UINT32_MAX. */
static uint32_t
service_index(const struct run_config *config, const struct port_service *service, uint32_t from)
{
    for (uint32_t i = from; i < config->service_count; i++) {
        if (config->services[i].type->service == service) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* The index of the model of a service. ERR_OK, ERR_INVALID. */
static enum err
find_service(struct build *build, const struct port_service *service, uint32_t *index)
{
    *index = service_index(build->config, service, 0);
    if (*index != UINT32_MAX) {
        return ERR_OK;
    }
    return reader_reject(build->reader,
                         ERR_INVALID,
                         "models",
                         "none of the service that the sink writes to",
                         "one of type %s",
                         service->name);
}

/* What the sink calls, and what the one after it does. */
static enum err find_services(struct build *build)
{
    const struct sink_type *sink = build->config->job.sink;
    const struct sink_type *next = build->config->job.next_sink_or_null;
    uint32_t ignored = 0;
    enum err err = find_service(build, sink->service, &build->target);
    for (uint32_t i = 0; err == ERR_OK && i < sink->further_service_count; i++) {
        err = find_service(build, sink->further_services[i], &build->further[i]);
    }
    for (uint32_t i = 0; err == ERR_OK && next != NULL && i < next->further_service_count; i++) {
        err = find_service(build, next->further_services[i], &ignored);
    }
    return err;
}

static enum err read_models(struct build *build)
{
    const struct field_value *list = build_value_of(build, FIELD_MODELS);
    const size_t count = json_array_size(list->json);
    if (count > RUN_SERVICE_MAX) {
        return reader_say(build->reader,
                          ERR_INVALID,
                          "models",
                          "%zu models; allowed: up to %d",
                          count,
                          RUN_SERVICE_MAX);
    }
    enum err err = list->given ? ERR_OK : default_models(build);
    for (uint32_t i = 0; err == ERR_OK && i < count; i++) {
        err = read_model(build, i, json_array_get(list->json, i));
    }
    if (err != ERR_OK) {
        return err;
    }
    const struct run_config *config = build->config;
    build->dead_letter = UINT32_MAX;
    err = find_services(build);
    if (err != ERR_OK) {
        return err;
    }
    if (build_number(build, FIELD_POLICY) == SINK_POLICY_DEAD_LETTER) {
        if (config->job.sink->service == &generic_service) {
            /* One link, one store: its letters would lie among its records. */
            return build_reject(build, "policy", "dead_letter", "drop, fail for a sink of generic");
        }
        build->dead_letter = service_index(config, &generic_service, 0);
        if (build->dead_letter == UINT32_MAX) {
            return reader_reject(build->reader,
                                 ERR_INVALID,
                                 "policy",
                                 "dead_letter without a model to write to",
                                 "with one more model of type generic");
        }
    }
    return ERR_OK;
}

/* --- records ------------------------------------------------------------------------------------- */

static struct ratio ratio_of(const struct build *build, enum field_id field)
{
    return build_value_of(build, field)->ratio;
}

static struct workload_options workload_of(const struct build *build)
{
    const uint64_t splits = build_number(build, FIELD_WORKLOAD_SPLITS);
    return (struct workload_options){
        .record_count = (uint32_t)build_number(build, FIELD_WORKLOAD_RECORDS),
        .split_count = (uint32_t)(splits == 0 ? build_number(build, FIELD_ENGINE_SOURCES) : splits),
        .keys = (uint8_t)build_number(build, FIELD_WORKLOAD_KEYS),
        .key_count = (uint32_t)build_number(build, FIELD_WORKLOAD_KEY_COUNT),
        .key_skew = ratio_of(build, FIELD_WORKLOAD_KEY_SKEW),
        .changes = (uint8_t)build_number(build, FIELD_WORKLOAD_CHANGES),
        .payload_size = (uint32_t)build_number(build, FIELD_WORKLOAD_PAYLOAD_BYTES),
        .equal_payloads = build_flag(build, FIELD_WORKLOAD_EQUAL_PAYLOADS),
        .poison_serializer = ratio_of(build, FIELD_POISON_SERIALIZER),
        .poison_service = ratio_of(build, FIELD_POISON_SERVICE),
        .poison_extractor = ratio_of(build, FIELD_POISON_EXTRACTOR),
        .poison_again = ratio_of(build, FIELD_POISON_AGAIN),
        .poison_resolver = ratio_of(build, FIELD_POISON_RESOLVER),
        .skipped = ratio_of(build, FIELD_WORKLOAD_SKIPPED),
        .repeats = ratio_of(build, FIELD_WORKLOAD_REPEATS),
        .seed = build_number(build, FIELD_WORKLOAD_SEED),
        .interval = build_number(build, FIELD_ENGINE_RECORD_INTERVAL),
    };
}

static enum err read_records_file(struct build *build, const struct workload_options *workload)
{
    const struct bytes name = build_value_of(build, FIELD_WORKLOAD_FILE)->text;
    const char *folder = build->options->folder_or_null;
    if (folder == NULL) {
        return build_reject(build,
                            "workload.file",
                            (const char *)name.data,
                            "only in a scenario that is read from a file");
    }
    char path[1400];
    const int size = snprintf(path, sizeof(path), "%.300s/%s", folder, (const char *)name.data);
    struct bytes lines = {0};
    enum err err = ERR_OK;
    if (memchr(name.data, '\0', name.size) != NULL || size < 0 || (size_t)size >= sizeof(path)) {
        err = ERR_NOT_FOUND;
    } else {
        err = reader_file(build->reader->memory, path, WORKLOAD_BYTES_MAX, &lines);
    }
    if (err == ERR_LIMIT) {
        return reader_out_of_memory(build->reader);
    }
    if (err != ERR_OK) {
        return build_reject(build, "workload.file", path, "a file that can be read");
    }
    return workload_read(build->reader, (const char *)name.data, lines, workload, build->log);
}

static enum err make_records(struct build *build)
{
    const struct workload_options workload = workload_of(build);
    build->log = scenario_take(build->reader->memory, sizeof(*build->log));
    if (build->log == NULL) {
        return reader_out_of_memory(build->reader);
    }
    build->config->job.log = build->log;
    if (build_value_of(build, FIELD_WORKLOAD_FILE)->text.size > 0) {
        return read_records_file(build, &workload);
    }
    return workload_generate(build->reader, &workload, build->log);
}

/* --- the user's code ----------------------------------------------------------------------------- */

static enum err wire(struct build *build, struct wiring_windows *windows)
{
    struct run_config *config = build->config;
    const struct wiring *wiring = wiring_of(config->job.sink->service);
    if (wiring == NULL) {
        return reader_reject(build->reader,
                             ERR_INVALID,
                             "sink.type",
                             config->job.sink->service->name,
                             "a sink of a service that scenarios/wiring knows");
    }
    if (build_number(build, FIELD_WORKLOAD_GROWS_AT) > 0 && wiring->describe == NULL) {
        return reader_reject(build->reader,
                             ERR_INVALID,
                             "workload.grows_at",
                             "does not go with sink.type",
                             "a sink of a service that is told what records are written as");
    }
    struct wiring_input input = {
        .sink = config->job.sink,
        .sink_options = config->job.options,
        .model = config->services[build->target].type,
        .model_options = config->services[build->target].options,
        .profile = config->profile,
        .log = build->log,
        .extractor = build_flag(build, FIELD_SINK_EXTRACTOR),
        .by_split = build_flag(build, FIELD_SINK_DESTINATION),
        .grows_at = build_number(build, FIELD_WORKLOAD_GROWS_AT),
        .grows_by = (uint8_t)build_number(build, FIELD_WORKLOAD_GROWS_BY),
        .target_service = build->target,
        .dead_letter_service = build->dead_letter,
    };
    for (uint32_t i = 0; i < config->job.sink->further_service_count; i++) {
        const struct run_service *service = &config->services[build->further[i]];
        input.further[i] = (struct wiring_model){service->type, service->options};
    }
    struct wiring_context *context = NULL;
    const enum err err = wiring_create(build->reader, wiring, &input, &context);
    if (err == ERR_OK) {
        config->job.user = &context->user;
        config->job.user_again_or_null = &context->user_again;
        config->identify = wiring_identify;
        config->identify_context = context;
        wiring->windows(&input, windows);
    }
    return err;
}

/* --- engine, link -------------------------------------------------------------------------------- */

static const struct sink_half *policy_half(uint64_t policy)
{
    switch ((enum sink_policy_kind)policy) {
    case SINK_POLICY_FAIL:
        return &policy_fail_half;
    case SINK_POLICY_DROP:
        return &policy_drop_half;
    case SINK_POLICY_DEAD_LETTER:
        return &policy_dead_letter_half;
    }
    UNREACHABLE();
}

static void build_job_facts(struct build *build)
{
    const uint64_t runtime = build_number(build, FIELD_ENGINE_RUNTIME);
    build->config->job.facts = (struct sink_job){
        .checkpointing = build_flag(build, FIELD_CHECKPOINT_ENABLED),
        .barriers_exactly_once =
            build_number(build, FIELD_ENGINE_BARRIERS) != JOB_BARRIERS_AT_LEAST_ONCE,
        .bounded = build_flag(build, FIELD_ENGINE_BOUNDED),
        .checkpoints_after_finish = build_flag(build, FIELD_CHECKPOINT_AFTER_FINISH),
        .runtime_automatic = runtime == RUNTIME_AUTOMATIC,
        .batch = runtime == RUNTIME_BATCH,
        .destination_fixed = !build_flag(build, FIELD_SINK_DESTINATION),
        .policy = (uint8_t)build_number(build, FIELD_POLICY),
        .parallelism = (uint32_t)build_number(build, FIELD_ENGINE_SUBTASKS),
        .checkpoint_interval = build_number(build, FIELD_CHECKPOINT_INTERVAL),
        .checkpoint_timeout = build_number(build, FIELD_CHECKPOINT_TIMEOUT),
    };
}

static void build_checkpoints(struct build *build)
{
    struct job_config *job = &build->config->job;
    job->barriers = (uint8_t)build_number(build, FIELD_ENGINE_BARRIERS);
    job->checkpointing = build_flag(build, FIELD_CHECKPOINT_ENABLED);
    job->checkpoint_interval = build_number(build, FIELD_CHECKPOINT_INTERVAL);
    job->checkpoint_timeout = build_number(build, FIELD_CHECKPOINT_TIMEOUT);
    job->checkpoint_duration = build_number(build, FIELD_CHECKPOINT_DURATION);
    job->checkpoint_min_pause = build_number(build, FIELD_CHECKPOINT_MIN_PAUSE);
    job->checkpoint_concurrent = (uint32_t)build_number(build, FIELD_CHECKPOINT_CONCURRENT);
    job->checkpoint_retained = (uint32_t)build_number(build, FIELD_CHECKPOINT_RETAINED);
    job->checkpoint_failures_tolerated = (uint32_t)build_number(build, FIELD_CHECKPOINT_TOLERATED);
    job->commit_retries = (uint32_t)build_number(build, FIELD_ENGINE_COMMIT_RETRIES);
}

static enum err build_rescale(struct build *build)
{
    struct job_config *job = &build->config->job;
    json_t *list = build_value_of(build, FIELD_ENGINE_RESCALE_TO)->json;
    const size_t count = json_array_size(list);
    if (count > ARRAY_COUNT(job->rescale_to)) {
        return reader_say(build->reader,
                          ERR_INVALID,
                          "engine.rescale_to",
                          "%zu numbers; allowed: up to %zu",
                          count,
                          ARRAY_COUNT(job->rescale_to));
    }
    for (size_t i = 0; i < count; i++) {
        job->rescale_to[i] = (uint32_t)json_integer_value(json_array_get(list, i));
    }
    return ERR_OK;
}

static void build_savepoint(struct build *build)
{
    build->config->job.savepoint = (struct job_savepoint){
        .at = (uint8_t)build_number(build, FIELD_SAVEPOINT_AT),
        .kind = (uint8_t)build_number(build, FIELD_SAVEPOINT_KIND),
        .failure = (uint8_t)build_number(build, FIELD_SAVEPOINT_FAILURE),
    };
}

/* A subtask restarts alone only where nothing that it needs is another's. */
static enum err check_region(struct build *build)
{
    const struct job_config *job = &build->config->job;
    const struct {
        const char *path;
        bool is_wrong;
        const char *allowed;
    } rules[] = {
        {"engine.runtime", job->facts.batch, "streaming, automatic"},
        {"engine.sources", job->sources != job->subtasks, "as many as engine.subtasks"},
        {"engine.routing", job->routing != JOB_ROUTE_FORWARD, "forward"},
        {"engine.rescale_to", job->rescale_to[0] != 0, "none"},
        {"engine.savepoint.at", job->savepoint.at != JOB_SAVEPOINT_NEVER, "never"},
        {"engine.stateless_restores", job->stateless_restores != JOB_STATELESS_NEVER, "never"},
        {"engine.older_restores", job->older_restores, "false"},
        {"engine.pieces_to_all", job->pieces_to_all, "false"},
        {"engine.next_sink", job->next_sink_or_null != NULL, "none"},
        {"sink.type",
         job->sink->committer_kind == SINK_COMMITTER_GLOBAL,
         "a sink without a committer for all subtasks"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rules) && job->restart_region == JOB_REGION_SUBTASK; i++) {
        if (rules[i].is_wrong) {
            return reader_say(build->reader,
                              ERR_INVALID,
                              rules[i].path,
                              "does not go with engine.restart.region subtask; allowed: %s",
                              rules[i].allowed);
        }
    }
    return ERR_OK;
}

static enum err build_engine(struct build *build)
{
    struct job_config *job = &build->config->job;
    job->policy = policy_half(build_number(build, FIELD_POLICY));
    job->sources = (uint32_t)build_number(build, FIELD_ENGINE_SOURCES);
    job->subtasks = (uint32_t)build_number(build, FIELD_ENGINE_SUBTASKS);
    job->chained = build_flag(build, FIELD_ENGINE_CHAINED);
    job->routing = (uint8_t)build_number(build, FIELD_ENGINE_ROUTING);
    job->record_interval = build_number(build, FIELD_ENGINE_RECORD_INTERVAL);
    job->record_burst = (uint32_t)build_number(build, FIELD_ENGINE_BURST);
    job->channel_capacity = (uint32_t)build_number(build, FIELD_ENGINE_CHANNEL_CAPACITY);
    job->bounded = build_flag(build, FIELD_ENGINE_BOUNDED);
    job->restart = (uint8_t)build_number(build, FIELD_RESTART_STRATEGY);
    job->restart_region = (uint8_t)build_number(build, FIELD_RESTART_REGION);
    job->restart_attempts = (uint32_t)build_number(build, FIELD_RESTART_ATTEMPTS);
    job->restart_delay = build_number(build, FIELD_RESTART_DELAY);
    job->restart_delay_max = build_number(build, FIELD_RESTART_DELAY_MAX);
    job->detection_delay = build_number(build, FIELD_ENGINE_DETECTION);
    job->close_bound = build_number(build, FIELD_ENGINE_CLOSE_BOUND);
    job->zombies = build_flag(build, FIELD_ENGINE_ZOMBIES);
    job->older_restores = build_flag(build, FIELD_ENGINE_OLDER_RESTORES);
    job->cpu_per_event = build_number(build, FIELD_ENGINE_CPU_PER_EVENT);
    job->checkpoint_aborts_count = build_flag(build, FIELD_CHECKPOINT_ABORTS_COUNT);
    job->clock_jump = (int64_t)build_number(build, FIELD_ENGINE_CLOCK_JUMP);
    job->clock_offset_max = (int64_t)build_number(build, FIELD_ENGINE_CLOCK_OFFSET);
    build_job_facts(build);
    build_checkpoints(build);
    build_savepoint(build);
    job->stateless_restores = (uint8_t)build_number(build, FIELD_ENGINE_STATELESS);
    job->allow_non_restored = build_flag(build, FIELD_ENGINE_ALLOW_NON_RESTORED);
    job->pieces_to_all = build_flag(build, FIELD_ENGINE_PIECES_TO_ALL);
    job->source_keeps = (uint8_t)build_number(build, FIELD_SOURCE_KEEPS);
    job->source_commits = (uint8_t)build_number(build, FIELD_SOURCE_COMMITS);
    job->source_pace = (uint8_t)build_number(build, FIELD_SOURCE_PACE);
    job->source_renumbers = build_flag(build, FIELD_SOURCE_RENUMBERS);
    job->source_retention = build_number(build, FIELD_SOURCE_RETENTION);
    const enum err err = build_rescale(build);
    return err == ERR_OK ? check_region(build) : err;
}

/* The longest of them bounds what a request may take. */
static enum err build_service_times(struct build *build)
{
    struct link_options *link = &build->config->link;
    json_t *list = build_value_of(build, FIELD_LINK_SERVICE_TIMES)->json;
    const size_t count = json_array_size(list);
    if (count > LINK_SERVICE_TIMES_MAX) {
        return reader_say(build->reader,
                          ERR_INVALID,
                          "link.service_times_ns",
                          "%zu numbers; allowed: up to %u",
                          count,
                          LINK_SERVICE_TIMES_MAX);
    }
    if (count > 0 && build_value_of(build, FIELD_LINK_SERVICE_TIME)->given) {
        return reader_say(build->reader,
                          ERR_INVALID,
                          "link.service_times_ns",
                          "does not go with link.service_time; allowed: one of them");
    }
    link->service_time_count = (uint32_t)count;
    link->service_seed = build_number(build, FIELD_WORKLOAD_SEED);
    for (uint32_t i = 0; i < link->service_time_count; i++) {
        link->service_times[i] = (nanos)json_integer_value(json_array_get(list, i));
        if (link->service_times[i] > link->service_time) {
            link->service_time = link->service_times[i];
        }
    }
    return ERR_OK;
}

static enum err build_link(struct build *build)
{
    build->config->link = (struct link_options){
        .latency_least = build_number(build, FIELD_LINK_LATENCY),
        .late_effect_max = build_number(build, FIELD_LINK_LATE_EFFECT_MAX),
        .deadline_default = build_number(build, FIELD_LINK_DEADLINE_DEFAULT),
        .service_parallelism = (uint32_t)build_number(build, FIELD_LINK_SERVICE_PARALLELISM),
        .service_time = build_number(build, FIELD_LINK_SERVICE_TIME),
    };
    return build_service_times(build);
}

/* --- all ----------------------------------------------------------------------------------------- */

static void build_facts(struct build *build, const struct wiring_windows *windows)
{
    struct run_config *config = build->config;
    config->facts.target_service = build->target;
    config->facts.sink_services = UINT32_C(1) << build->target;
    for (uint32_t i = 0; i < config->job.sink->further_service_count; i++) {
        config->facts.sink_services |= UINT32_C(1) << build->further[i];
    }
    config->facts.dead_letter_service = build->dead_letter;
    config->facts.keyed = build_flag(build, FIELD_SINK_EXTRACTOR);
    config->facts.policy = (uint8_t)build_number(build, FIELD_POLICY);
    config->facts.identity_changes_allowed = build_flag(build, FIELD_IDENTITY_CHANGES);
    config->facts.restarts_after_heal = (uint32_t)build_number(build, FIELD_BUDGETS_RESTARTS);
    config->race_window = build_number(build, FIELD_RACE_WINDOW);
    config->events_max = build_number(build, FIELD_BUDGETS_EVENTS);
    config->arena_soft_cap = (size_t)build_number(build, FIELD_BUDGETS_ARENA_BYTES);
    config->registry = catalogue_registry();
    scenario_build_facts(build->fields, windows, config);
}

/* First: what the services may do decides how long names are held. */
static enum err find_profile(struct build *build)
{
    build->config->profile = build->options->profile_given
                                 ? build->options->profile
                                 : (enum profile)build_number(build, FIELD_PROFILE);
    return ERR_OK;
}

enum err scenario_build(struct reader *reader,
                        const struct fields *fields,
                        const struct scenario_options *options,
                        struct scenario *scenario)
{
    static enum err (*const steps[])(struct build *) = {
        find_profile,
        find_sink,
        find_next_sink,
        read_models,
        make_records,
        build_engine,
        build_link,
        build_faults,
        build_names,
        build_reader,
        build_stop_reasons,
        build_oracles,
        build_expectation,
        build_must_reach,
        build_tape,
    };
    struct build build = {.reader = reader,
                          .fields = fields,
                          .options = options,
                          .scenario = scenario,
                          .config = &scenario->config};
    for (size_t i = 0; i < ARRAY_COUNT(steps); i++) {
        const enum err err = steps[i](&build);
        if (err != ERR_OK) {
            return err;
        }
    }
    struct wiring_windows *windows = scenario_take(reader->memory, sizeof(*windows));
    if (windows == NULL) {
        return reader_out_of_memory(reader);
    }
    const enum err err = wire(&build, windows);
    if (err == ERR_OK) {
        scenario->windows = windows;
        build_facts(&build, windows);
    }
    return err;
}
