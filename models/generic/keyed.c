/* The model of a generic keyed store (keyed_clauses.def).
 *
 * Guarantees modelled. Entries are appended to the sequence of their key, each once by its id (GK-01,
 * GK-02); a batch takes effect in order up to its first failure (GK-03). Freedoms taken. A batch that
 * stops in the middle, an answer that ends early (GK-04), any order within a batch (GK-05, by option).
 * Faults offered. Per call: lost, answer lost, applied later, refused, applied and answered UNAVAILABLE,
 * an outage (GK-07, X-03 to X-05). Not modelled. Reads, updates, deletes, versions, limits of size.
 *
 * Entries. WORLD_CREATED: resource the key, generation the number of the entry in the whole store.
 */
#include "models/generic/keyed.h"

#include "sinks/base/digest.h"
#include "sinks/port/keyed.h"

enum keyed_mark {
    MARK_KEYED_FIRST = MARK_SIM_ROOM + 2 * MARK_MODEL_ROOM,
    MARK_KEYED_BEFORE = MARK_KEYED_FIRST - 1,
#define MARK(id, name, sentence, unit_test) MARK_##id,
#include "models/generic/keyed_marks.def"
#undef MARK
    MARK_KEYED_END,
};

enum keyed_site {
    SITE_APPEND,
    SITE_BATCH,
};

/* clang-format off */
#define OUTCOME(constant, name, weight, kind, clause) constant
#define FATE_SITE(constant, id, key, name, sentence, ...)
#define SITE(constant, id, key, name, sentence, ...) enum keyed_##id { __VA_ARGS__ };
#include "models/generic/keyed_sites.def"
#include "models/as_end.def"
/* clang-format on */

enum keyed_option {
    OPTION_BATCH_ORDER,
    OPTION_VALIDATION,
    OPTION_ID_WINDOW,
};

enum batch_order {
    BATCH_IN_ORDER,
    BATCH_ANY_ORDER,
};

enum validation {
    VALIDATION_PER_ENTRY,
    VALIDATION_WHOLE,
};

extern const struct choice_site keyed_model_sites[];

/* The order matters. */
/* clang-format off */
#include "models/as_outcomes.def"
#include "models/generic/keyed_sites.def"
#include "models/as_fates.def"
#include "models/generic/keyed_sites.def"
const struct choice_site keyed_model_sites[] = {
#include "models/as_sites.def"
#include "models/generic/keyed_sites.def"
#include "models/as_end.def"
};
/* clang-format on */

/* An id that is known under a key. */
struct known {
    struct known *next;
    uint64_t key; /* digests */
    uint64_t id;
    nanos at;
};

struct keyed {
    struct model_env env;
    enum batch_order order;
    enum validation validation;
    nanos id_window; /* 0: for ever */
    struct known *known;
    uint32_t stored;
    uint64_t digest;
    struct keyed_append_result answer; /* borrowed until the link has cloned it */
};

/* One batch under way. */
struct batch {
    const struct model_request *request;
    const struct keyed_append_request *append;
    struct keyed_verdict *verdicts; /* by entry */
    bool *has_verdict;
};

static void model_init(void *memory, const struct model_env *env)
{
    struct keyed *state = memory;
    state->env = *env;
    state->order = (enum batch_order)env->options[OPTION_BATCH_ORDER].number;
    state->validation = (enum validation)env->options[OPTION_VALIDATION].number;
    state->id_window = env->options[OPTION_ID_WINDOW].number;
}

/* --- one entry --------------------------------------------------------------------------------- */

/* GK-02, GK-08. */
static bool is_known(const struct keyed *state, uint64_t key, uint64_t id)
{
    const nanos now = world_now(state->env.world);
    for (const struct known *item = state->known; item != NULL; item = item->next) {
        if (item->key == key && item->id == id &&
            (state->id_window == 0 || nanos_sub(now, item->at) < state->id_window)) {
            return true;
        }
    }
    return false;
}

static void
store(struct keyed *state, const struct keyed_entry *entry, const struct model_request *request)
{
    const uint64_t key = digest_bytes(entry->key);
    const uint64_t id = digest_bytes(entry->id);
    if (is_known(state, key, id)) {
        COVER(state->env.world, KEYED_ID_KNOWN);
        return;
    }
    struct known *item = arena_take_zeroed(state->env.world->arena, sizeof(*item));
    *item = (struct known){state->known, key, id, world_now(state->env.world)};
    state->known = item;
    state->stored++;
    const struct model_effect effect = {
        .kind = WORLD_CREATED,
        .resource = world_resource(state->env.world, entry->key),
        .generation = state->stored,
        .value = entry->value,
        .request_or_null = request,
    };
    model_note(&state->env, &effect);
    state->digest = digest_fold(digest_fold(state->digest, key), digest_bytes(entry->value));
}

/* --- a batch ----------------------------------------------------------------------------------- */

static bool is_valid(const struct keyed_entry *entry)
{
    return entry->value.size > 0;
}

static enum keyed_batch draw(struct keyed *state, uint32_t count)
{
    uint32_t wanted = 1;
    if (count > 1) {
        wanted |= 1u << BATCH_FIRST_REFUSED | 1u << BATCH_MIDDLE_REFUSED | 1u << BATCH_CUT |
                  1u << BATCH_ANSWER_CUT;
        wanted |= state->order == BATCH_ANY_ORDER ? 1u << BATCH_REVERSED : 0;
    }
    return (enum keyed_batch)fault_pick(state->env.world->fault,
                                        &keyed_model_sites[SITE_BATCH],
                                        state->env.world->nodes[state->env.node].lane,
                                        wanted);
}

/* The entry that is refused for no fault of its own; none is count. */
static uint32_t refused_by(enum keyed_batch outcome, uint32_t count)
{
    if (outcome == BATCH_FIRST_REFUSED) {
        return 0;
    }
    return outcome == BATCH_MIDDLE_REFUSED ? count / 2 : count;
}

static void decide(struct batch *batch, uint32_t index, enum port_code code)
{
    batch->verdicts[index] = (struct keyed_verdict){.index = index, .code = (uint32_t)code};
    batch->has_verdict[index] = true;
}

/* Let the entries take effect that come to their turn. */
static void apply(struct keyed *state, struct batch *batch, enum keyed_batch outcome)
{
    const uint32_t count = batch->append->entries.count;
    const uint32_t refused = refused_by(outcome, count);
    const uint32_t end = outcome == BATCH_CUT ? count / 2 : count;
    for (uint32_t turn = 0; turn < end; turn++) {
        const uint32_t index = outcome == BATCH_REVERSED ? count - 1 - turn : turn;
        const struct keyed_entry *entry = batch->append->entries.items[index];
        const bool is_good = index != refused && is_valid(entry);
        if (is_good) {
            store(state, entry, batch->request);
            decide(batch, index, PORT_OK);
            continue;
        }
        decide(batch, index, index == refused ? PORT_UNAVAILABLE : PORT_INVALID_ARGUMENT);
        if (state->order == BATCH_IN_ORDER) {
            COVER(state->env.world, KEYED_BATCH_STOPPED);
            return;
        }
    }
}

/* GK-04: of an answer that ends early the verdicts of the first half are left. */
static void
answer(struct keyed *state, const struct batch *batch, uint32_t end, struct model_replies *replies)
{
    const void **items =
        arena_take_zeroed(state->env.world->arena, end * sizeof(*items) + sizeof(*items));
    uint32_t count = 0;
    for (uint32_t i = 0; i < end; i++) {
        if (batch->has_verdict[i]) {
            items[count] = &batch->verdicts[i];
            count++;
        }
    }
    state->answer = (struct keyed_append_result){.verdicts = {items, count}};
    model_reply(replies, PORT_OK, &state->answer);
}

static bool all_are_valid(const struct keyed_append_request *append)
{
    for (uint32_t i = 0; i < append->entries.count; i++) {
        if (!is_valid(append->entries.items[i])) {
            return false;
        }
    }
    return append->entries.count > 0;
}

static void
model_handle(void *memory, const struct model_request *request, struct model_replies *replies)
{
    struct keyed *state = memory;
    CHECK(request->method == &keyed_append_method);
    struct batch batch = {.request = request, .append = request->payload};
    const uint32_t count = batch.append->entries.count;
    const bool is_whole = state->validation == VALIDATION_WHOLE;
    if (count == 0 || (is_whole && !all_are_valid(batch.append))) {
        model_reply(replies, PORT_INVALID_ARGUMENT, NULL);
        return;
    }
    struct arena *arena = state->env.world->arena;
    batch.verdicts = arena_take_zeroed(arena, count * sizeof(batch.verdicts[0]));
    batch.has_verdict = arena_take_zeroed(arena, count);
    const enum keyed_batch outcome = draw(state, count);
    apply(state, &batch, outcome);
    answer(state, &batch, outcome == BATCH_ANSWER_CUT ? count / 2 : count, replies);
}

/* --- the model --------------------------------------------------------------------------------- */

static void model_event(void *memory, uint8_t what, uint64_t a, uint64_t b)
{
    (void)memory;
    (void)what;
    (void)a;
    (void)b;
    UNREACHABLE(); /* it schedules none */
}

static void model_heal(void *memory)
{
    (void)memory; /* nothing is injected beyond single calls */
}

/* A batch is of many entries: none of its requests names one identity. */
static uint64_t model_identity(const struct port_method *method, const void *payload)
{
    (void)method;
    (void)payload;
    return 0;
}

static uint64_t model_digest(const void *memory)
{
    const struct keyed *state = memory;
    return digest_fold(state->digest, state->stored);
}

static const struct fate_menu fates[] = {
    {&keyed_append_method, &keyed_model_sites[SITE_APPEND], append_fates},
};

static const char *const order_names[] = {"in_order", "any", NULL};
static const char *const validation_names[] = {"per_entry", "whole", NULL};

static const struct sink_option options[] = {
    [OPTION_BATCH_ORDER] = {.key = "batch_order",
                            .type = SINK_OPTION_ENUM,
                            .max = 1,
                            .names = order_names,
                            .sentence = "In which order the entries of a batch take effect."},
    [OPTION_VALIDATION] = {.key = "validation",
                           .type = SINK_OPTION_ENUM,
                           .max = 1,
                           .names = validation_names,
                           .sentence = "Whether a bad entry is refused alone or with its batch."},
    [OPTION_ID_WINDOW] = {.key = "id_window",
                          .type = SINK_OPTION_DURATION,
                          .max = DAYS(365),
                          .sentence = "How long an id is remembered; 0 is for ever."},
};

static const struct clause clauses[] = {
#define CLAUSE(id, class, sentence, source, not_modelled)                                          \
    {id, class, sentence, source, not_modelled},
#include "models/generic/keyed_clauses.def"
#include "models/rpc_clauses.def"
#undef CLAUSE
};

static const struct mark marks[] = {
#define MARK(id, name, sentence, unit_test) {MARK_##id, name, sentence, unit_test},
#include "models/generic/keyed_marks.def"
#undef MARK
};

_Static_assert(MARK_KEYED_END <= MARK_KEYED_FIRST + MARK_MODEL_ROOM, "marks have room");

static const char *const reader_names[] = {"reader", NULL};
static const char *const cause_names[] = {"none", NULL};

const struct model_type keyed_model = {
    .name = "keyed",
    .sentence = "a store of entries by key, each appended once by its id, in batches",
    .service = &keyed_service,
    .sites = keyed_model_sites,
    .site_count = ARRAY_COUNT(keyed_model_sites),
    .fates = fates,
    .fate_count = ARRAY_COUNT(fates),
    .clauses = clauses,
    .clause_count = ARRAY_COUNT(clauses),
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .marks = marks,
    .mark_count = ARRAY_COUNT(marks),
    .readers = reader_names,
    .causes = cause_names,
    .state_size = sizeof(struct keyed),
    .init = model_init,
    .handle = model_handle,
    .event = model_event,
    .heal = model_heal,
    .identity = model_identity,
    .digest = model_digest,
};
