#include "scenarios/marks.h"

#include "scenarios/wiring/catalogue.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define PAIRS_PER_KIND (2u * MOMENT_PHASES)

static_assert(MARKS_PAIRS_AT + PAIRS_PER_KIND * FAULT_KIND_COUNT <= MARKS_COUNT,
              "all pairs have a place");
static_assert(MARKS_PAIRS_AT % 64 == 0, "pairs begin with a word of their own");
static_assert(MOMENT_PHASES == 8, "the moments of a sink phase are a byte");

/* --- of a run ------------------------------------------------------------------------------------ */

/* The sink phases of some moments in the low byte, the engine phases above it. */
static uint64_t pairs_of(uint64_t moments)
{
    uint64_t sinks = 0;
    uint64_t engines = 0;
    for (uint32_t phase = 0; phase < MOMENT_PHASES; phase++) {
        const uint64_t byte = moments >> phase * MOMENT_PHASES & 0xff;
        sinks |= (uint64_t)(byte != 0) << phase;
        engines |= byte;
    }
    return sinks | engines << MOMENT_PHASES;
}

void marks_of_run(const struct marks *marks, struct marks_set *reached)
{
    memset(reached, 0, sizeof(*reached));
    memcpy(reached->words, marks->bits, sizeof(marks->bits));
    memcpy(&reached->words[MARKS_PHASES_AT / 64], marks->phases, sizeof(marks->phases));
    for (uint32_t kind = 1; kind < FAULT_KIND_COUNT; kind++) {
        if (marks->moments[kind] != 0) {
            const uint32_t place = MARKS_PAIRS_AT + kind * PAIRS_PER_KIND;
            reached->words[place / 64] |= pairs_of(marks->moments[kind]) << place % 64;
        }
    }
}

/* --- of a scenario ------------------------------------------------------------------------------- */

static void set_place(struct marks_set *set, uint32_t place)
{
    CHECK(place < MARKS_COUNT);
    set->words[place / 64] |= UINT64_C(1) << place % 64;
}

static void add_marks(const struct mark *marks, size_t count, struct marks_set *catalogue)
{
    for (size_t i = 0; i < count; i++) {
        if (marks[i].unit_test_or_null == NULL) {
            set_place(catalogue, marks[i].id);
        }
    }
}

static const struct sink_type *sink_at(const struct run_config *config, uint32_t index)
{
    return index == 0 ? config->job.sink : config->job.next_sink_or_null;
}

static void add_phases(const struct run_config *config, struct marks_set *catalogue)
{
    for (uint32_t sink = 0; sink < MARK_SINKS; sink++) {
        const struct sink_type *type = sink_at(config, sink);
        for (uint32_t phase = 0; type != NULL && phase < type->phase_count && phase < 64; phase++) {
            set_place(catalogue, MARKS_PHASES_AT + sink * 64 + phase);
        }
    }
}

#define ENGINE(phase) (1u << ENGINE_PHASE_##phase)
#define LIVE                                                                                       \
    (ENGINE(RESTORING) | ENGINE(RUNNING) | ENGINE(CHECKPOINT) | ENGINE(COMPLETED) |                \
     ENGINE(SAVEPOINT))
#define UNHEALED (LIVE | ENGINE(DOWN) | ENGINE(STOPPING))

/* In which phases of the engine a kind can fire; whatever the phase of a half then, for attempts and
 * parts of a job overlap. Processes die while an attempt runs; a checkpoint is judged, and told, while
 * it is under way, in a part that restarts as well, or until a stop is noticed. No site offers a failing
 * allocation. */
static const uint8_t engine_phases[FAULT_KIND_COUNT] = {
    [FAULT_ORDER] = UNHEALED,
    [FAULT_LATENCY] = UNHEALED,
    [FAULT_SERVICE] = UNHEALED | ENGINE(HEALED),
    [FAULT_READING] = UNHEALED | ENGINE(HEALED),
    [FAULT_REQUEST_LOST] = UNHEALED,
    [FAULT_ANSWER_LOST] = UNHEALED,
    [FAULT_APPLIED_LATER] = UNHEALED,
    [FAULT_REFUSED] = UNHEALED,
    [FAULT_AMBIGUOUS] = UNHEALED,
    [FAULT_DUPLICATED] = UNHEALED,
    [FAULT_STREAM_CUT] = UNHEALED,
    [FAULT_OUTAGE] = UNHEALED,
    [FAULT_RESOURCE] = UNHEALED,
    [FAULT_CRASH] = LIVE,
    [FAULT_RESTORE] = LIVE,
    [FAULT_CHECKPOINT_ABORTED] =
        ENGINE(RESTORING) | ENGINE(CHECKPOINT) | ENGINE(SAVEPOINT) | ENGINE(STOPPING),
    [FAULT_NOTICE_LOST] =
        ENGINE(RESTORING) | ENGINE(CHECKPOINT) | ENGINE(COMPLETED) | ENGINE(STOPPING),
    [FAULT_NOTICE_LATE] =
        ENGINE(RESTORING) | ENGINE(CHECKPOINT) | ENGINE(COMPLETED) | ENGINE(STOPPING),
    [FAULT_ZOMBIE] = LIVE,
    [FAULT_PAUSE] = UNHEALED,
    [FAULT_CLOCK] = LIVE | ENGINE(STOPPING),
};

bool marks_pair_is_possible(uint32_t place)
{
    CHECK(marks_is_pair(place));
    const uint32_t kind = (place - MARKS_PAIRS_AT) / PAIRS_PER_KIND;
    const uint32_t phase = (place - MARKS_PAIRS_AT) % MOMENT_PHASES;
    const bool of_engine = (place - MARKS_PAIRS_AT) % PAIRS_PER_KIND >= MOMENT_PHASES;
    if (kind >= FAULT_KIND_COUNT || engine_phases[kind] == 0) {
        return false;
    }
    return !of_engine || (engine_phases[kind] >> phase & 1) != 0;
}

void marks_of_scenario(const struct run_config *config, uint32_t kinds, struct marks_set *catalogue)
{
    memset(catalogue, 0, sizeof(*catalogue));
    add_marks(sim_marks, sim_mark_count, catalogue);
    for (uint32_t i = 0; i < config->service_count; i++) {
        add_marks(config->services[i].type->marks, config->services[i].type->mark_count, catalogue);
    }
    add_phases(config, catalogue);
    for (uint32_t kind = 1; kind < FAULT_KIND_COUNT; kind++) {
        for (uint32_t pair = 0; pair < PAIRS_PER_KIND && (kinds >> kind & 1) != 0; pair++) {
            const uint32_t place = MARKS_PAIRS_AT + kind * PAIRS_PER_KIND + pair;
            if (marks_pair_is_possible(place)) {
                set_place(catalogue, place);
            }
        }
    }
}

/* --- names --------------------------------------------------------------------------------------- */

static const struct mark *mark_of(const struct run_config *config, uint32_t id)
{
    if (id < MARK_SIM_ROOM) {
        return sim_mark(id);
    }
    for (uint32_t i = 0; i < config->service_count; i++) {
        const struct model_type *model = config->services[i].type;
        for (size_t k = 0; k < model->mark_count; k++) {
            if (model->marks[k].id == id) {
                return &model->marks[k];
            }
        }
    }
    UNREACHABLE();
}

static void name_pair(uint32_t pair, char name[MARKS_NAME_SIZE])
{
    const uint32_t phase = pair % MOMENT_PHASES;
    const bool of_engine = pair % PAIRS_PER_KIND >= MOMENT_PHASES;
    (void)snprintf(name,
                   MARKS_NAME_SIZE,
                   "%s@%s.%s",
                   fault_kind_name((enum fault_kind)(pair / PAIRS_PER_KIND)),
                   of_engine ? "engine" : "sink",
                   of_engine ? engine_phase_name(phase) : sink_phase_name(phase));
}

void marks_name(const struct run_config *config_or_null, uint32_t place, char name[MARKS_NAME_SIZE])
{
    if (place < MARKS_PHASES_AT) {
        (void)snprintf(name, MARKS_NAME_SIZE, "%s", mark_of(config_or_null, place)->name);
    } else if (place < MARKS_PAIRS_AT) {
        const uint32_t phase = place - MARKS_PHASES_AT;
        const struct sink_type *type = sink_at(config_or_null, phase / 64);
        CHECK(type != NULL);
        (void)snprintf(name,
                       MARKS_NAME_SIZE,
                       "%s%.40s.%.40s",
                       phase < 64 ? "" : "next.",
                       type->name,
                       type->phases[phase % 64]);
    } else {
        name_pair(place - MARKS_PAIRS_AT, name);
    }
}

enum err marks_find(const struct run_config *config,
                    const struct marks_set *catalogue,
                    const char *name,
                    uint32_t *place)
{
    for (uint32_t i = 0; i < MARKS_COUNT; i++) {
        char known[MARKS_NAME_SIZE];
        if (!marks_set_has(catalogue, i)) {
            continue;
        }
        marks_name(config, i, known);
        if (strcmp(known, name) == 0) {
            *place = i;
            return ERR_OK;
        }
    }
    return ERR_NOT_FOUND;
}
