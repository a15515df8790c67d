/* The model of a generic durable target (clauses.def).
 *
 * Guarantees modelled. A Put appends one entry, which stays and is visible at once (GD-01,
 * GD-03). Freedoms taken. None: it is the yardstick of the dead-letter queue, not what is
 * judged. Faults offered. Per call: lost, answer lost, refused (GD-04, X-03 to X-05). Not
 * modelled. Limits, order between callers, expiry, deduplication: a repeated Put appends again
 * (GD-02).
 *
 * Entries. Resource: the destination, or "generic" without one; generation: number of the entry
 * in the whole store; value: the value that was put. WORLD_CREATED, which says that class reader
 * sees it.
 */
#include "models/generic/generic.h"

#include "sinks/base/digest.h"
#include "sinks/port/generic.h"

enum generic_site {
    SITE_PUT,
};

extern const struct choice_site generic_model_sites[];

/* The order matters. */
/* clang-format off */
#include "models/as_outcomes.def"
#include "models/generic/sites.def"
#include "models/as_fates.def"
#include "models/generic/sites.def"
const struct choice_site generic_model_sites[] = {
#include "models/as_sites.def"
#include "models/generic/sites.def"
#include "models/as_end.def"
};
/* clang-format on */

struct generic {
    struct model_env env;
    uint32_t entries; /* stored so far */
    uint64_t digest;
    struct generic_put_result answer; /* borrowed until the link has cloned it */
};

static void model_init(void *memory, const struct model_env *env)
{
    struct generic *state = memory;
    state->env = *env;
}

static void
model_handle(void *memory, const struct model_request *request, struct model_replies *replies)
{
    struct generic *state = memory;
    const struct generic_put_request *put = request->payload;
    CHECK(request->method == &generic_put_method);
    const struct bytes name =
        put->destination.size > 0 ? put->destination : BYTES_LITERAL("generic");
    CHECK(state->entries < UINT32_MAX);
    state->entries++;
    const struct model_effect effect = {
        .kind = WORLD_CREATED,
        .resource = world_resource(state->env.world, name),
        .generation = state->entries,
        .value = put->value,
        .request_or_null = request,
    };
    model_note(&state->env, &effect);
    state->digest = digest_fold(state->digest, digest_bytes(put->value));
    state->answer = (struct generic_put_result){.sequence = state->entries};
    model_reply(replies, PORT_OK, &state->answer);
}

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

static uint64_t model_identity(const struct port_method *method, const void *payload)
{
    (void)method;
    (void)payload;
    return 0;
}

static uint64_t model_digest(const void *memory)
{
    const struct generic *state = memory;
    return digest_fold(state->digest, state->entries);
}

static const struct fate_menu fates[] = {
    {&generic_put_method, &generic_model_sites[SITE_PUT], put_fates},
};

static const struct clause clauses[] = {
#define CLAUSE(id, class, sentence, source, not_modelled)                                          \
    {id, class, sentence, source, not_modelled},
#include "models/generic/clauses.def"
#include "models/rpc_clauses.def"
#undef CLAUSE
};

static const char *const reader_names[] = {"reader", NULL};
static const char *const cause_names[] = {"none", NULL};

const struct model_type generic_model = {
    .name = "generic",
    .sentence = "a durable, append-only store, such as the topic behind a dead-letter queue",
    .service = &generic_service,
    .sites = generic_model_sites,
    .site_count = ARRAY_COUNT(generic_model_sites),
    .fates = fates,
    .fate_count = ARRAY_COUNT(fates),
    .clauses = clauses,
    .clause_count = ARRAY_COUNT(clauses),
    .readers = reader_names,
    .causes = cause_names,
    .state_size = sizeof(struct generic),
    .init = model_init,
    .handle = model_handle,
    .event = model_event,
    .heal = model_heal,
    .identity = model_identity,
    .digest = model_digest,
};
