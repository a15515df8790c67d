#include "scenarios/bench/x1.h"

#include "sinks/base/check.h"

#include <string.h>

#define APPLIED_MAX 3

enum client {
    CLIENT_IDLE = 0,
    CLIENT_IN_FLIGHT,
    CLIENT_DONE,
};

/* A state is bytes: four rows of a byte per record, then these. */
enum row {
    ROW_CLIENT = 0,
    ROW_REQUESTS,  /* messages in the network */
    ROW_RESPONSES, /* the same */
    ROW_APPLIED,   /* capped at APPLIED_MAX */
    ROW_COUNT,
};
enum cell {
    CELL_NEXT = ROW_COUNT * X1_RECORDS_MAX, /* record to be sent next */
    CELL_SAVED,                             /* records that the last checkpoint covers */
    CELL_LOSSES,                            /* budgets */
    CELL_RETRIES,
    CELL_CRASHES,
    STATE_SIZE,
};

static uint8_t *cell(uint8_t *state, enum row row, uint32_t record)
{
    return &state[(uint32_t)row * X1_RECORDS_MAX + record];
}

static uint8_t get(const uint8_t *state, enum row row, uint32_t record)
{
    return state[(uint32_t)row * X1_RECORDS_MAX + record];
}

/* --- actions ------------------------------------------------------------------------------------- */

enum action_kind {
    ACT_SEND = 0,
    ACT_CHECKPOINT,
    ACT_CRASH,
    ACT_REQUEST, /* from here on one action per record */
    ACT_LOSE_REQUEST,
    ACT_RESPONSE,
    ACT_LOSE_RESPONSE,
    ACT_RETRY,
    ACT_COUNT,
};

static uint32_t in_flight(const struct x1_options *options, const uint8_t *state)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < options->records; i++) {
        count += get(state, ROW_CLIENT, i) == CLIENT_IN_FLIGHT ? 1 : 0;
    }
    return count;
}

static bool is_enabled(const struct x1_options *options,
                       const uint8_t *state,
                       enum action_kind kind,
                       uint32_t record)
{
    switch (kind) {
    case ACT_SEND:
        return state[CELL_NEXT] < options->records && in_flight(options, state) < options->window;
    case ACT_CHECKPOINT:
        return state[CELL_SAVED] < state[CELL_NEXT] &&
               (options->checkpoints_early || in_flight(options, state) == 0);
    case ACT_CRASH:
        return state[CELL_CRASHES] > 0;
    case ACT_REQUEST:
        return get(state, ROW_REQUESTS, record) > 0;
    case ACT_LOSE_REQUEST:
        return get(state, ROW_REQUESTS, record) > 0 && state[CELL_LOSSES] > 0;
    case ACT_RESPONSE:
        return get(state, ROW_RESPONSES, record) > 0;
    case ACT_LOSE_RESPONSE:
        return get(state, ROW_RESPONSES, record) > 0 && state[CELL_LOSSES] > 0;
    case ACT_RETRY:
        return get(state, ROW_CLIENT, record) == CLIENT_IN_FLIGHT &&
               get(state, ROW_REQUESTS, record) + get(state, ROW_RESPONSES, record) < 2 &&
               state[CELL_RETRIES] > 0;
    case ACT_COUNT:
        break;
    }
    UNREACHABLE();
}

static void send(uint8_t *state)
{
    const uint8_t next = state[CELL_NEXT];
    *cell(state, ROW_CLIENT, next) = CLIENT_IN_FLIGHT;
    (*cell(state, ROW_REQUESTS, next))++;
    state[CELL_NEXT]++;
}

static void crash(const struct x1_options *options, uint8_t *state)
{
    state[CELL_CRASHES]--;
    for (uint32_t i = state[CELL_SAVED]; i < options->records; i++) {
        *cell(state, ROW_CLIENT, i) = CLIENT_IDLE;
    }
    state[CELL_NEXT] = state[CELL_SAVED];
}

static void apply(uint8_t *state, uint32_t record)
{
    uint8_t *applied = cell(state, ROW_APPLIED, record);
    (*cell(state, ROW_REQUESTS, record))--;
    (*cell(state, ROW_RESPONSES, record))++;
    if (*applied < APPLIED_MAX) {
        (*applied)++;
    }
}

static void respond(uint8_t *state, uint32_t record)
{
    uint8_t *client = cell(state, ROW_CLIENT, record);
    (*cell(state, ROW_RESPONSES, record))--;
    if (*client == CLIENT_IN_FLIGHT) {
        *client = CLIENT_DONE;
    }
}

static void
take(const struct x1_options *options, uint8_t *state, enum action_kind kind, uint32_t record)
{
    switch (kind) {
    case ACT_SEND:
        send(state);
        return;
    case ACT_CHECKPOINT:
        state[CELL_SAVED] = state[CELL_NEXT];
        return;
    case ACT_CRASH:
        crash(options, state);
        return;
    case ACT_REQUEST:
        apply(state, record);
        return;
    case ACT_LOSE_REQUEST:
        (*cell(state, ROW_REQUESTS, record))--;
        state[CELL_LOSSES]--;
        return;
    case ACT_RESPONSE:
        respond(state, record);
        return;
    case ACT_LOSE_RESPONSE:
        (*cell(state, ROW_RESPONSES, record))--;
        state[CELL_LOSSES]--;
        return;
    case ACT_RETRY:
        (*cell(state, ROW_REQUESTS, record))++;
        state[CELL_RETRIES]--;
        return;
    case ACT_COUNT:
        break;
    }
    UNREACHABLE();
}

/* --- the system ---------------------------------------------------------------------------------- */

static uint32_t records_of(const struct x1_options *options, uint32_t kind)
{
    return kind < ACT_REQUEST ? 1 : options->records;
}

static void start(const void *context, uint8_t *state)
{
    const struct x1_options *options = context;
    memset(state, 0, STATE_SIZE);
    state[CELL_LOSSES] = options->losses;
    state[CELL_RETRIES] = options->retries;
    state[CELL_CRASHES] = options->crashes;
}

static uint32_t enabled(const void *context, const uint8_t *state)
{
    const struct x1_options *options = context;
    uint32_t count = 0;
    for (uint32_t kind = 0; kind < ACT_COUNT; kind++) {
        for (uint32_t i = 0; i < records_of(options, kind); i++) {
            count += is_enabled(options, state, (enum action_kind)kind, i) ? 1 : 0;
        }
    }
    return count;
}

static void act(const void *context, uint8_t *state, uint32_t action)
{
    const struct x1_options *options = context;
    uint32_t left = action;
    for (uint32_t kind = 0; kind < ACT_COUNT; kind++) {
        for (uint32_t i = 0; i < records_of(options, kind); i++) {
            if (!is_enabled(options, state, (enum action_kind)kind, i)) {
                continue;
            }
            if (left == 0) {
                take(options, state, (enum action_kind)kind, i);
                return;
            }
            left--;
        }
    }
    UNREACHABLE();
}

/* What a checkpoint covers has taken effect. */
static bool holds(const void *context, const uint8_t *state)
{
    (void)context;
    for (uint32_t i = 0; i < state[CELL_SAVED]; i++) {
        if (get(state, ROW_APPLIED, i) == 0) {
            return false;
        }
    }
    return true;
}

struct state_system x1_system(const struct x1_options *options)
{
    CHECK(options->records <= X1_RECORDS_MAX);
    return (struct state_system){
        .name = "x1",
        .state_size = STATE_SIZE,
        .options = options,
        .start = start,
        .enabled = enabled,
        .act = act,
        .holds = holds,
    };
}

bool x1_by_name(const char *name, struct state_system *system)
{
    static const struct {
        const char *name;
        struct x1_options options;
        uint64_t states;
        uint64_t transitions;
    } sizes[] = {
        {"x1-s", {3, 2, 2, 2, 1, false}, 102717, 452759},
        {"x1-m", {4, 3, 2, 2, 1, false}, 2300501, 13228196},
        {"x1-l", {5, 3, 2, 2, 1, false}, 20389139, 129541590},
    };
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        if (strcmp(sizes[i].name, name) == 0) {
            *system = x1_system(&sizes[i].options);
            system->name = sizes[i].name;
            system->states = sizes[i].states;
            system->transitions = sizes[i].transitions;
            return true;
        }
    }
    return false;
}
