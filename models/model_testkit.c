#include "models/model_testkit.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_SIZE ((size_t)4 << 20)
#define STOP       WORLD_EVENT(DISPATCH_RUN, 0)

/* --- the world -------------------------------------------------------------------------------- */

/* Any outcome on offer; half of the time the calm one. */
static uint32_t by_chance(struct testkit *kit, const struct choice_site *site, uint32_t mask)
{
    const uint64_t random = digest_mix(kit->seed * UINT64_C(0x9e3779b97f4a7c15) + ++kit->draws);
    const uint32_t value = (uint32_t)(random >> 8) % site->outcome_count;
    return (random & 1) != 0 && (mask >> value & 1) != 0 ? value : 0;
}

static uint32_t choose(struct testkit *kit, const struct choice_site *site, uint32_t mask)
{
    for (uint32_t i = 0; i < kit->pin_count; i++) {
        struct testkit_pin *pin = &kit->pins[i];
        if (pin->site == site) {
            const bool offered = (mask >> pin->value & 1) != 0;
            pin->draws++;
            pin->mask = mask;
            pin->offered += offered;
            return offered ? pin->value : 0;
        }
    }
    return kit->seed == 0 ? 0 : by_chance(kit, site, mask);
}

static uint32_t
pinned(void *context, const struct choice_site *site, lane who, uint32_t ordinal, uint32_t mask)
{
    struct testkit *kit = context;
    (void)who;
    (void)ordinal;
    const uint32_t value = choose(kit, site, mask);
    for (size_t i = 0; i < kit->type->site_count; i++) {
        if (&kit->type->sites[i] == site) {
            kit->fired[i] |= UINT32_C(1) << value;
        }
    }
    return value;
}

static void set_defaults(struct testkit *kit, const struct model_type *type)
{
    assert_true(type->option_count <= TESTKIT_OPTION_MAX);
    assert_true(type->site_count <= TESTKIT_SITE_MAX);
    for (size_t i = 0; i < type->option_count; i++) {
        kit->options[i].number = type->options[i].fallback;
        if (type->options[i].fallback_text != NULL) {
            kit->options[i].text = bytes_of_text(type->options[i].fallback_text);
        }
    }
}

struct testkit *testkit_open(const struct model_type *type, enum profile profile)
{
    struct testkit *kit = calloc(1, sizeof(*kit));
    assert_non_null(kit);
    kit->memory = malloc(ARENA_SIZE);
    assert_non_null(kit->memory);
    kit->type = type;
    kit->menu.kinds = UINT32_MAX;
    arena_init(&kit->arena, kit->memory, ARENA_SIZE, ARENA_SIZE / 2);
    choice_init(
        &kit->choice,
        &kit->arena,
        &(struct choice_options){.mode = CHOICE_POLICY, .policy = pinned, .policy_context = kit});
    sched_init(&kit->sched, &kit->arena, &kit->choice, &(struct sched_options){0});
    journal_init(&kit->journal, &kit->arena);
    trace_init(&kit->trace, &kit->arena, 256);
    fault_init(&kit->fault, &kit->menu, &kit->choice, profile);
    kit->world = arena_take_zeroed(&kit->arena, sizeof(*kit->world));
    world_init(kit->world,
               &kit->arena,
               &kit->choice,
               &kit->sched,
               &kit->journal,
               &kit->trace,
               &kit->fault);
    const uint32_t node = world_add_node(kit->world, lane_make(LANE_SERVICE, 0));
    kit->state = arena_take_zeroed(&kit->arena, type->state_size);
    kit->service = (struct service){.type = type, .state = kit->state, .node = node};
    kit->world->services = &kit->service;
    kit->world->service_count = 1;
    kit->env = (struct model_env){.world = kit->world, .node = node, .options = kit->options};
    set_defaults(kit, type);
    return kit;
}

void testkit_close(struct testkit *kit)
{
    free(kit->memory);
    free(kit);
}

static const struct choice_site *site_named(const struct model_type *type, const char *name)
{
    for (size_t i = 0; i < type->site_count; i++) {
        if (strcmp(type->sites[i].name, name) == 0) {
            return &type->sites[i];
        }
    }
    fail_msg("no site %s", name);
    return NULL;
}

struct testkit_pin *testkit_pin(struct testkit *kit, const char *site, const char *outcome)
{
    const struct choice_site *found = site_named(kit->type, site);
    assert_true(kit->pin_count < TESTKIT_PIN_MAX);
    for (uint32_t i = 0; i < found->outcome_count; i++) {
        if (strcmp(found->outcomes[i].name, outcome) == 0) {
            kit->pins[kit->pin_count] = (struct testkit_pin){.site = found, .value = i};
            return &kit->pins[kit->pin_count++];
        }
    }
    fail_msg("no outcome %s of %s", outcome, site);
    return NULL;
}

void testkit_option(struct testkit *kit, const char *key, uint64_t number)
{
    for (size_t i = 0; i < kit->type->option_count; i++) {
        if (strcmp(kit->type->options[i].key, key) == 0) {
            kit->options[i].number = number;
            kit->options[i].given = true;
            return;
        }
    }
    fail_msg("no option %s", key);
}

void testkit_init(struct testkit *kit)
{
    kit->type->init(kit->state, &kit->env);
}

static enum port_code take_answer(struct testkit *kit, const struct model_replies *replies)
{
    kit->status = replies->items[0].status;
    kit->payload = replies->items[0].payload;
    return kit->status.count == 0 ? PORT_OK : (enum port_code)port_status_first(&kit->status);
}

enum port_code testkit_call_issued(struct testkit *kit,
                                   const struct port_method *method,
                                   const void *payload,
                                   nanos issued)
{
    struct model_replies replies = {.count = 0};
    const struct model_request request = {
        .request = ++kit->requests,
        .attempt = 1,
        .sender = lane_make(LANE_WRITER, 0),
        .method = method,
        .payload = payload,
        .issued = issued,
        .kind = PORT_CALL,
    };
    kit->type->handle(kit->state, &request, &replies);
    assert_int_equal(replies.count, 1);
    assert_int_equal(replies.items[0].kind, PORT_ANSWER);
    return take_answer(kit, &replies);
}

enum port_code testkit_stream(struct testkit *kit,
                              uint64_t stream,
                              enum port_envelope_kind kind,
                              const struct port_method *method,
                              const void *payload)
{
    struct model_replies replies = {.count = 0};
    const struct model_request request = {
        .request = ++kit->requests,
        .attempt = 1,
        .sender = lane_make(LANE_WRITER, 0),
        .method = method,
        .payload = payload,
        .issued = world_now(kit->world),
        .stream = stream,
        .kind = (uint8_t)kind,
    };
    kit->type->handle(kit->state, &request, &replies);
    kit->ended = replies.count > 0 && replies.items[replies.count - 1].kind == PORT_STREAM_END;
    return replies.count == 0 ? PORT_OK : take_answer(kit, &replies);
}

enum port_code
testkit_call(struct testkit *kit, const struct port_method *method, const void *payload)
{
    return testkit_call_issued(kit, method, payload, world_now(kit->world));
}

void testkit_stop_at(struct testkit *kit, nanos instant)
{
    (void)sched_at(&kit->sched, instant, 0, STOP, 0, 0);
}

void testkit_run_until(struct testkit *kit, nanos until)
{
    struct sched_event event;
    testkit_stop_at(kit, until);
    while (sched_step(&kit->sched, &event)) {
        if (event.kind == STOP) {
            return;
        }
        assert_int_equal(event.kind >> 8, DISPATCH_MODEL);
        kit->type->event(kit->state, (uint8_t)event.kind, event.a, event.b);
    }
    fail_msg("virtual time never came to an instant that was asked for");
}

void testkit_run_for(struct testkit *kit, nanos length)
{
    testkit_run_until(kit, nanos_add(world_now(kit->world), length));
}

void testkit_heal(struct testkit *kit)
{
    fault_heal(&kit->fault);
    kit->type->heal(kit->state);
}

uint32_t testkit_pending(const struct testkit *kit)
{
    return kit->type->pending == NULL ? 0 : kit->type->pending(kit->state);
}

uint32_t testkit_count(const struct testkit *kit, enum journal_kind kind, uint32_t code)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < kit->journal.count; i++) {
        const struct journal_entry *entry = journal_at(&kit->journal, i);
        count += entry->kind == kind && (code == TESTKIT_ANY_CODE || entry->code == code);
    }
    return count;
}

const struct journal_entry *testkit_last(const struct testkit *kit, enum journal_kind kind)
{
    for (uint32_t i = kit->journal.count; i > 0; i--) {
        const struct journal_entry *entry = journal_at(&kit->journal, i - 1);
        if (entry->kind == kind) {
            return entry;
        }
    }
    fail_msg("no entry %s", journal_kind_name(kind));
    return NULL;
}

/* --- tables ----------------------------------------------------------------------------------- */

static const struct clause *clause_named(const struct model_type *type, struct bytes id)
{
    for (size_t i = 0; i < type->clause_count; i++) {
        if (bytes_equal(bytes_of_text(type->clauses[i].id), id)) {
            return &type->clauses[i];
        }
    }
    return NULL;
}

/* Take the next word of a text of words separated by single spaces; empty at the end. */
static struct bytes take_word(const char **text)
{
    const size_t size = strcspn(*text, " ");
    const struct bytes word = {(const uint8_t *)*text, size};
    *text += size;
    *text += strspn(*text, " ");
    return word;
}

static void check_clause_text(const struct model_type *type, const char *text)
{
    uint32_t ids = 0;
    for (struct bytes word = take_word(&text); word.size > 0; word = take_word(&text)) {
        if (bytes_equal(word, BYTES_LITERAL("adversary")) ||
            bytes_equal(word, BYTES_LITERAL("observed"))) {
            continue;
        }
        if (clause_named(type, word) == NULL) {
            fail_msg("clause %.*s does not exist", (int)word.size, (const char *)word.data);
        }
        ids++;
    }
    assert_true(ids > 0);
}

static void check_site(const struct model_type *type, const struct choice_site *site)
{
    uint32_t total = 0;
    assert_true(site->outcome_count >= 2);
    assert_true(site->outcome_count <= CHOICE_MENU_MAX);
    assert_true(site->sentence[0] != 0);
    assert_int_equal(site->outcomes[0].kind, FAULT_NONE);
    assert_null(site->outcomes[0].clause);
    for (uint32_t i = 0; i < site->outcome_count; i++) {
        const struct choice_outcome *outcome = &site->outcomes[i];
        assert_true(outcome->weight > 0);
        total += outcome->weight;
        if (i > 0) {
            assert_int_not_equal(outcome->kind, FAULT_NONE);
            check_clause_text(type, outcome->clause);
        }
        for (uint32_t j = 0; j < i; j++) {
            assert_string_not_equal(outcome->name, site->outcomes[j].name);
        }
    }
    if (strstr(site->name, ".fate") != NULL) {
        assert_true(site->outcomes[0].weight * 100u >= total * 85u);
        assert_true(site->outcomes[0].weight * 100u <= total * 92u);
    }
}

static const uint8_t kind_of_action[] = {
    [FATE_DELIVERED] = FAULT_NONE,
    [FATE_REQUEST_LOST] = FAULT_REQUEST_LOST,
    [FATE_ANSWER_LOST] = FAULT_ANSWER_LOST,
    [FATE_APPLIED_LATER] = FAULT_APPLIED_LATER,
    [FATE_REFUSED] = FAULT_REFUSED,
    [FATE_AMBIGUOUS] = FAULT_AMBIGUOUS,
    [FATE_DUPLICATED] = FAULT_DUPLICATED,
    [FATE_WRAPPED] = FAULT_REFUSED,
    [FATE_CUT_APPLIED] = FAULT_STREAM_CUT,
    [FATE_CUT_NOT_APPLIED] = FAULT_STREAM_CUT,
};

/* An outcome's kind is what its fate does; a fate that lasts is an outage. */
static void check_fates(const struct model_type *type, const struct fate_menu *menu)
{
    assert_ptr_equal(menu->method->service, type->service);
    assert_ptr_equal(menu->site, &type->sites[menu->site - type->sites]);
    for (uint32_t i = 0; i < menu->site->outcome_count; i++) {
        const struct fate *fate = &menu->fates[i];
        const struct choice_outcome *outcome = &menu->site->outcomes[i];
        assert_true(fate->action < ARRAY_COUNT(kind_of_action));
        const uint8_t kind = fate->burst > 0 ? FAULT_OUTAGE : kind_of_action[fate->action];
        assert_int_equal(outcome->kind, kind);
        const bool is_cut =
            fate->action == FATE_CUT_APPLIED || fate->action == FATE_CUT_NOT_APPLIED;
        const bool answers = is_cut || fate->action == FATE_REFUSED ||
                             fate->action == FATE_AMBIGUOUS || fate->action == FATE_WRAPPED;
        assert_int_equal(fate->code != PORT_OK, answers);
        assert_int_equal(fate->outer != PORT_OK, fate->action == FATE_WRAPPED);
        if (fate->action == FATE_DUPLICATED) {
            assert_memory_equal(outcome->clause, "adversary", 9);
        }
    }
}

static void check_clauses(const struct model_type *type)
{
    for (size_t i = 0; i < type->clause_count; i++) {
        const struct clause *clause = &type->clauses[i];
        assert_true(clause->class >= CLAUSE_MUST);
        assert_true(clause->class <= CLAUSE_CONFLICT);
        assert_true(strlen(clause->sentence) > 20);
        assert_true(strlen(clause->source) > 20);
        assert_ptr_equal(clause_named(type, bytes_of_text(clause->id)), clause);
    }
}

static void check_option(const struct sink_option *option)
{
    assert_true(strlen(option->sentence) > 10);
    if (option->type == SINK_OPTION_TEXT) {
        assert_non_null(option->fallback_text);
        return;
    }
    /* 0 may mean "not given" below the least value. */
    assert_true(option->fallback == 0 || option->fallback >= option->min);
    assert_true(option->fallback <= option->max);
    if (option->type == SINK_OPTION_ENUM) {
        assert_null(option->names[option->max + 1]);
        assert_non_null(option->names[option->max]);
    }
}

void testkit_check_tables(const struct model_type *type, uint16_t key_first, uint16_t key_last)
{
    for (size_t i = 0; i < type->site_count; i++) {
        const struct choice_site *site = &type->sites[i];
        assert_true(site->key >= key_first);
        assert_true(site->key <= key_last);
        assert_true(i == 0 || site->key > type->sites[i - 1].key);
        check_site(type, site);
    }
    for (size_t i = 0; i < type->fate_count; i++) {
        check_fates(type, &type->fates[i]);
    }
    for (size_t i = 0; i < type->option_count; i++) {
        check_option(&type->options[i]);
    }
    check_clauses(type);
}

static bool starts_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

enum profile testkit_profile_of(const struct choice_outcome *outcome)
{
    if (outcome->clause == NULL) {
        return PROFILE_DOCUMENTED;
    }
    if (starts_with(outcome->clause, "observed ")) {
        return PROFILE_OBSERVED;
    }
    return starts_with(outcome->clause, "adversary ") ? PROFILE_ADVERSARY : PROFILE_DOCUMENTED;
}

static void check_offer(const struct model_type *type,
                        enum profile profile,
                        const struct choice_site *site,
                        uint32_t value)
{
    const enum profile least = testkit_profile_of(&site->outcomes[value]);
    struct testkit *kit = testkit_open(type, profile);
    kit->pins[0] = (struct testkit_pin){.site = site, .value = value};
    kit->pin_count = 1;
    const uint32_t drawn = fault_pick(&kit->fault, site, lane_make(LANE_SERVICE, 0), CHOICE_ALL);
    assert_int_equal(drawn, profile >= least ? value : 0);
    testkit_close(kit);
}

void testkit_check_profiles(const struct model_type *type)
{
    for (size_t i = 0; i < type->site_count; i++) {
        for (uint32_t value = 0; value < type->sites[i].outcome_count; value++) {
            for (uint32_t profile = 0; profile < PROFILE_COUNT; profile++) {
                check_offer(type, (enum profile)profile, &type->sites[i], value);
            }
        }
    }
}

static bool is_tested(const struct testkit_clause_test *tests, size_t count, struct bytes id)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = tests[i].ids;
        for (struct bytes word = take_word(&text); word.size > 0; word = take_word(&text)) {
            if (bytes_equal(word, id)) {
                return true;
            }
        }
    }
    return false;
}

void testkit_check_clause_tests(const struct model_type *type,
                                const struct testkit_clause_test *tests,
                                size_t count)
{
    for (size_t i = 0; i < type->clause_count; i++) {
        const struct clause *clause = &type->clauses[i];
        const bool tested = is_tested(tests, count, bytes_of_text(clause->id));
        if (!tested && clause->not_modelled_or_null == NULL) {
            fail_msg("%s has no test and no reason not to be modelled", clause->id);
        }
    }
    for (size_t i = 0; i < count; i++) {
        assert_true(strlen(tests[i].test) > 5);
        check_clause_text(type, tests[i].ids);
    }
}
