#include "scenarios/timing/constraint.h"

#include "scenarios/wiring/wiring.h"

#include <string.h>

#define FACT(name)                                                                                 \
    {                                                                                              \
        .fact = SINK_TIMING_##name                                                                 \
    }

/* What the engine asks of every job. */
static const struct sink_timing engine_timings[] = {
    {.name = "checkpoint_duration",
     .clause = "C3",
     .left = {FACT(CHECKPOINT_TIMEOUT)},
     .right = {FACT(CHECKPOINT_DURATION)},
     .sentence = "A checkpoint that takes longer is aborted."},
    {.name = "commit_drain",
     .clause = "C2 sinks 7.7",
     .left = {FACT(CHECKPOINT_TIMEOUT)},
     .right = {FACT(DRAIN)},
     .sentence = "A barrier waits for the requests before it, and its checkpoint with it."},
    {.name = "source_retention",
     .clause = "FW12",
     .left = {FACT(SOURCE_RETENTION)},
     .right = {FACT(REREAD)},
     .sentence =
         "What no checkpoint covers is read again after a failure, and must still be there."},
};

static const struct {
    const char *name;
    uint8_t shape;
} facts[SINK_TIMING_FACT_COUNT] = {
    [SINK_TIMING_OPTION] = {"", TIMING_SHAPE_REFUSED},
    [SINK_TIMING_CHECKPOINT_TIMEOUT] = {"engine.checkpoint.timeout", TIMING_SHAPE_CALM},
    [SINK_TIMING_CHECKPOINT_INTERVAL] = {"engine.checkpoint.interval", TIMING_SHAPE_CALM},
    [SINK_TIMING_REPLAY_HORIZON] = {"replay horizon", TIMING_SHAPE_CRASH},
    [SINK_TIMING_WAVE] = {"wait for retries", TIMING_SHAPE_RETRIES},
    [SINK_TIMING_CHECKPOINT_DURATION] = {"engine.checkpoint.duration", TIMING_SHAPE_CALM},
    [SINK_TIMING_FIRST_COMMIT] = {"time until the first commit", TIMING_SHAPE_CRASH},
    [SINK_TIMING_OPEN] = {"time in a transaction", TIMING_SHAPE_CALM},
    [SINK_TIMING_REPEAT] = {"time until a repetition", TIMING_SHAPE_CRASH},
    [SINK_TIMING_REREAD] = {"time until a record is read again", TIMING_SHAPE_CRASH},
    [SINK_TIMING_DRAIN] = {"wait for requests", TIMING_SHAPE_CALM},
    [SINK_TIMING_CLOCK_ERROR] = {"clock error", TIMING_SHAPE_CLOCK},
    [SINK_TIMING_LATE_EFFECT] = {"link.late_effect_max", TIMING_SHAPE_CALM},
    [SINK_TIMING_PROTECTION] = {"service's protection", TIMING_SHAPE_REFUSED},
    [SINK_TIMING_EARLIEST] = {"time until an effect", TIMING_SHAPE_CALM},
    [SINK_TIMING_REQUEST] = {"a request", TIMING_SHAPE_CALM},
    [SINK_TIMING_SOURCE_RETENTION] = {"engine.source.retention", TIMING_SHAPE_CALM},
};

const char *timing_shape_name(uint32_t shape)
{
    static const char *const names[] = {
        [TIMING_SHAPE_NONE] = "none",
        [TIMING_SHAPE_REFUSED] = "refused",
        [TIMING_SHAPE_CALM] = "calm",
        [TIMING_SHAPE_CRASH] = "crash",
        [TIMING_SHAPE_RETRIES] = "retries",
        [TIMING_SHAPE_CLOCK] = "clock",
    };
    CHECK(shape < ARRAY_COUNT(names));
    return names[shape];
}

const char *timing_fault_of(const struct sink_timing *timing, size_t option_count)
{
    if (timing->name == NULL || timing->clause == NULL || timing->sentence == NULL) {
        return "a name, clause or sentence is missing";
    }
    if (timing->left[0].fact == SINK_TIMING_NONE || timing->right[0].fact == SINK_TIMING_NONE) {
        return "a side is empty";
    }
    for (uint32_t i = 0; i < 2 * SINK_TIMING_SIDE_MAX; i++) {
        const struct sink_timing_term *term =
            i < SINK_TIMING_SIDE_MAX ? &timing->left[i] : &timing->right[i - SINK_TIMING_SIDE_MAX];
        if (term->fact >= SINK_TIMING_FACT_COUNT) {
            return "a fact that does not exist";
        }
        if (term->fact == SINK_TIMING_OPTION && term->key == NULL && term->option >= option_count) {
            return "an option that does not exist";
        }
    }
    return NULL;
}

/* --- terms --------------------------------------------------------------------------------------- */

/* A side that declares rules: whose options its terms mean, and whose an option by key is. */
struct party {
    const char *name;
    const struct sink_timing *timings;
    size_t timing_count;
    struct sink_option_table own;
    struct sink_option_table others[1 + SINK_FURTHER_SERVICES_MAX];
};

struct listing {
    const struct scenario *scenario;
    struct timing_constraints *constraints;
};

/* The option that a term means, or the table's count. */
static size_t option_of(const struct sink_option_table *table, const struct sink_timing_term *term)
{
    size_t index = term->key == NULL ? term->option : 0;
    while (term->key != NULL && index < table->count &&
           strcmp(table->options[index].key, term->key) != 0) {
        index++;
    }
    return index;
}

/* False where the other side has no such option: then the rule says nothing. */
static bool take_term(const struct listing *listing,
                      const struct party *party,
                      const struct sink_timing_term *term,
                      struct timing_term *taken)
{
    if (term->fact != SINK_TIMING_OPTION) {
        taken->name = facts[term->fact].name;
        taken->value = timing_fact(
            listing->scenario, &listing->constraints->facts, (enum sink_timing_fact)term->fact);
        return true;
    }
    const struct sink_option_table *table = term->key == NULL ? &party->own : party->others;
    size_t index = option_of(table, term);
    for (uint32_t i = 1;
         term->key != NULL && index >= table->count && i < ARRAY_COUNT(party->others);
         i++) {
        table = &party->others[i];
        index = option_of(table, term);
    }
    if (index >= table->count) {
        return false;
    }
    taken->name = table->options[index].key;
    taken->value = table->values[index].number;
    return true;
}

/* Fill a side; its sum, or false where a term is missing. */
static bool take_side(const struct listing *listing,
                      const struct party *party,
                      const struct sink_timing_term side[SINK_TIMING_SIDE_MAX],
                      struct timing_constraint *constraint,
                      bool is_left)
{
    struct timing_term *terms = is_left ? constraint->left : constraint->right;
    uint32_t count = 0;
    for (uint32_t i = 0; i < SINK_TIMING_SIDE_MAX && side[i].fact != SINK_TIMING_NONE; i++) {
        if (!take_term(listing, party, &side[i], &terms[count])) {
            return false;
        }
        const uint8_t shape = facts[side[i].fact].shape;
        constraint->shape = shape > constraint->shape ? shape : constraint->shape;
        count++;
    }
    *(is_left ? &constraint->left_count : &constraint->right_count) = count;
    return true;
}

/* --- margins ------------------------------------------------------------------------------------- */

static nanos sum_of(const struct timing_term *terms, uint32_t count)
{
    nanos sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum = nanos_add(sum, terms[i].value);
    }
    return sum;
}

/* The smallest difference that there is takes the place of "more than". */
static int64_t margin_of(nanos left, nanos right, bool or_equal)
{
    const nanos needed = or_equal ? right : nanos_add(right, 1);
    const bool is_held = left >= needed;
    const nanos distance = is_held ? left - needed : needed - left;
    if (distance >= (nanos)INT64_MAX) {
        return is_held ? INT64_MAX : INT64_MIN;
    }
    return is_held ? (int64_t)distance : -(int64_t)distance;
}

static void
add(struct listing *listing, const struct party *party, const struct sink_timing *timing)
{
    struct timing_constraints *all = listing->constraints;
    struct timing_constraint made = {.timing = timing, .owner = party->name};
    CHECK(timing_fault_of(timing, party->own.count) == NULL);
    CHECK(all->count < TIMING_CONSTRAINT_MAX);
    if (!take_side(listing, party, timing->left, &made, true) ||
        !take_side(listing, party, timing->right, &made, false) || made.left[0].value == 0) {
        return;
    }
    made.margin = margin_of(
        sum_of(made.left, made.left_count), sum_of(made.right, made.right_count), timing->or_equal);
    all->items[all->count] = made;
    all->count++;
}

/* --- all ----------------------------------------------------------------------------------------- */

/* The worst first; of equals the one that was listed first. */
static void sort_by_margin(struct timing_constraints *constraints)
{
    for (uint32_t i = 1; i < constraints->count; i++) {
        const struct timing_constraint moved = constraints->items[i];
        uint32_t at = i;
        while (at > 0 && constraints->items[at - 1].margin > moved.margin) {
            constraints->items[at] = constraints->items[at - 1];
            at--;
        }
        constraints->items[at] = moved;
    }
}

static struct sink_option_table table_of(const struct run_service *service)
{
    return (struct sink_option_table){
        service->type->options, service->type->option_count, service->options};
}

static void add_all(struct listing *listing, const struct party *party)
{
    for (size_t i = 0; i < party->timing_count; i++) {
        add(listing, party, &party->timings[i]);
    }
}

void timing_constraints_of(const struct scenario *scenario, struct timing_constraints *constraints)
{
    const struct run_config *config = &scenario->config;
    const struct sink_type *sink = config->job.sink;
    const struct party engine = {"engine", engine_timings, ARRAY_COUNT(engine_timings), {0}, {{0}}};
    struct party own = {sink->name,
                        sink->timings,
                        sink->timing_count,
                        {sink->options, sink->option_count, config->job.options},
                        {{0}}};
    struct listing listing = {scenario, constraints};
    uint32_t others = 0;
    constraints->count = 0;
    timing_facts_of(scenario, &constraints->facts);
    if (!config->job.checkpointing) {
        return;
    }
    for (uint32_t i = 0; i < config->service_count; i++) {
        if ((config->facts.sink_services >> i & 1) != 0) {
            CHECK(others < ARRAY_COUNT(own.others));
            own.others[others] = table_of(&config->services[i]);
            others++;
        }
    }
    add_all(&listing, &engine);
    add_all(&listing, &own);
    for (uint32_t i = 0; i < config->service_count; i++) {
        const struct model_type *type = config->services[i].type;
        if ((config->facts.sink_services >> i & 1) != 0) {
            add_all(&listing,
                    &(struct party){type->name,
                                    type->timings,
                                    type->timing_count,
                                    table_of(&config->services[i]),
                                    {own.own}});
        }
    }
    sort_by_margin(constraints);
}

const struct timing_constraint *timing_constraint_find(const struct timing_constraints *constraints,
                                                       const char *name)
{
    for (uint32_t i = 0; i < constraints->count; i++) {
        if (strcmp(constraints->items[i].timing->name, name) == 0) {
            return &constraints->items[i];
        }
    }
    return NULL;
}
