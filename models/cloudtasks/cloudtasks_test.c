/* The Cloud Tasks model as a whole: what becomes of calls, the type object, and that no clause is
 * without a test.
 *
 * link: models/cloudtasks/cloudtasks models/cloudtasks/handler models/cloudtasks/limits
 * link: models/cloudtasks/names models/cloudtasks/queues models/cloudtasks/ledger
 * link: models/cloudtasks/rules models/cloudtasks/lists models/cloudtasks/batch
 * link: models/cloudtasks/admin models/cloudtasks/queue_calls models/model_testkit
 * link: sinks/port/cloudtasks sinks/port/port sinks/port/decode sinks/port/status
 * link: sinks/base/err sinks/base/bytes sinks/base/digest sinks/base/list
 * link: sinks/base/units sinks/base/allocator
 * link: sim/model sim/world sim/fault sim/choice sim/lane sim/sched sim/journal sim/trace sim/clock
 * link: sim/arena
 */
#include "models/cloudtasks/cloudtasks_testkit.h"

static const struct fate_menu *menu_of(const struct port_method *method)
{
    for (size_t i = 0; i < cloudtasks_model.fate_count; i++) {
        if (cloudtasks_model.fates[i].method == method) {
            return &cloudtasks_model.fates[i];
        }
    }
    fail_msg("no menu for %s", method->name);
    return NULL;
}

/* The first fate of CreateTask with an action and a code, or NULL. */
static const struct fate *create_fate(enum fate_action action, enum port_code code)
{
    const struct fate_menu *menu = menu_of(&cloudtasks_create_task_method);
    for (uint32_t i = 0; i < menu->site->outcome_count; i++) {
        const struct fate *fate = &menu->fates[i];
        if (fate->action == (uint8_t)action && fate->code == (uint8_t)code) {
            return fate;
        }
    }
    return NULL;
}

/* Goal: after an ambiguous answer a named task is found again, an unnamed one doubles. Method: the
 * menu has the ambiguous fates; the retry of an effect that landed. */
static void ct_23_an_ambiguous_create_may_have_happened(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_non_null(create_fate(FATE_AMBIGUOUS, PORT_UNAVAILABLE));
    assert_non_null(create_fate(FATE_AMBIGUOUS, PORT_DEADLINE_EXCEEDED));
    assert_non_null(create_fate(FATE_REQUEST_LOST, PORT_OK));
    assert_non_null(create_fate(FATE_ANSWER_LOST, PORT_OK));
    assert_non_null(create_fate(FATE_APPLIED_LATER, PORT_OK));
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
    assert_int_equal(created(kit), 1);
    assert_int_equal(create_body(kit, "", "unnamed"), PORT_OK);
    assert_int_equal(create_body(kit, "", "unnamed"), PORT_OK);
    assert_int_equal(created(kit), 3);
    testkit_close(kit);
}

/* Goal: quota and permission refusals have no effect. Method: they are in the menu as refusals
 * only. */
static void ct_26_t10_refusals_have_no_effect(void **state)
{
    (void)state;
    assert_non_null(create_fate(FATE_REFUSED, PORT_RESOURCE_EXHAUSTED));
    assert_non_null(create_fate(FATE_REFUSED, PORT_PERMISSION_DENIED));
    assert_non_null(create_fate(FATE_REFUSED, PORT_FAILED_PRECONDITION));
    assert_null(create_fate(FATE_AMBIGUOUS, PORT_FAILED_PRECONDITION));
    assert_null(create_fate(FATE_AMBIGUOUS, PORT_PERMISSION_DENIED));
}

/* Goal, an answer after an effect carries OK or one of the ambiguous codes, a
 * definite one for the adversary only, both of the usual ones occur with and without effect; X-16, a
 * cancelled call may complete. Method: walk all menus. */
static void x_05_only_ambiguous_codes_come_after_an_effect(void **state)
{
    const uint32_t ambiguous =
        PORT_CODE_BIT(PORT_UNAVAILABLE) | PORT_CODE_BIT(PORT_DEADLINE_EXCEEDED) |
        PORT_CODE_BIT(PORT_CANCELLED) | PORT_CODE_BIT(PORT_UNKNOWN) | PORT_CODE_BIT(PORT_INTERNAL);
    uint32_t seen = 0;
    (void)state;
    for (size_t i = 0; i < cloudtasks_model.fate_count; i++) {
        const struct fate_menu *menu = &cloudtasks_model.fates[i];
        for (uint32_t j = 0; j < menu->site->outcome_count; j++) {
            const bool open = testkit_profile_of(&menu->site->outcomes[j]) == PROFILE_ADVERSARY;
            if (menu->fates[j].action == FATE_AMBIGUOUS && !open) {
                assert_true((ambiguous >> menu->fates[j].code & 1) != 0);
                seen |= PORT_CODE_BIT(menu->fates[j].code);
            }
        }
    }
    assert_int_equal(seen, ambiguous);
    assert_non_null(create_fate(FATE_REFUSED, PORT_UNAVAILABLE));
    assert_non_null(create_fate(FATE_REFUSED, PORT_DEADLINE_EXCEEDED));
    assert_non_null(create_fate(FATE_AMBIGUOUS, PORT_CANCELLED));
    assert_non_null(create_fate(FATE_WRAPPED, PORT_UNAVAILABLE));
    assert_non_null(create_fate(FATE_WRAPPED, PORT_INVALID_ARGUMENT));
    assert_non_null(create_fate(FATE_DUPLICATED, PORT_OK));
}

/* Goal: an entry's record is recognised by content. Method: bodies, or URLs where there is no
 * body. */
static void content_is_the_body_or_the_url(void **state)
{
    struct testkit *kit = start();
    struct cloudtasks_http_request http = http_default;
    const struct cloudtasks_app_engine_http_request app = {.relative_uri = BYTES_LITERAL("/r")};
    const struct cloudtasks_task app_task = {.app_engine_http_request = &app};
    const struct cloudtasks_app_engine_http_request bare = {.http_method = CLOUDTASKS_GET};
    const struct cloudtasks_task bare_task = {.app_engine_http_request = &bare};
    (void)state;
    assert_int_equal(create_http(kit, &http), PORT_OK);
    assert_true(testkit_last(kit, WORLD_CREATED)->value == digest_bytes(http.body));
    http.body = (struct bytes){NULL, 0};
    assert_int_equal(create_http(kit, &http), PORT_OK);
    assert_true(testkit_last(kit, WORLD_CREATED)->value == digest_bytes(http.url));
    assert_int_equal(create_task(kit, &app_task), PORT_OK);
    assert_true(testkit_last(kit, WORLD_CREATED)->value == digest_bytes(app.relative_uri));
    assert_int_equal(create_task(kit, &bare_task), PORT_OK);
    assert_true(testkit_last(kit, WORLD_CREATED)->value == 0);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 4);
    testkit_close(kit);
}

/* Goal: the identity of a create is its name, of all else nothing. Method: ask. */
static void identity_is_the_task_name(void **state)
{
    const struct cloudtasks_task named = {.name = BYTES_LITERAL(TASK_A)};
    const struct cloudtasks_task unnamed = {.http_request = &http_default};
    struct cloudtasks_create_task_request request = {.task = &named};
    const struct cloudtasks_get_task_request other = {.name = BYTES_LITERAL(TASK_A)};
    (void)state;
    assert_true(cloudtasks_model.identity(&cloudtasks_create_task_method, &request) ==
                digest_bytes(BYTES_LITERAL(TASK_A)));
    request.task = &unnamed;
    assert_true(cloudtasks_model.identity(&cloudtasks_create_task_method, &request) == 0);
    request.task = NULL;
    assert_true(cloudtasks_model.identity(&cloudtasks_create_task_method, &request) == 0);
    assert_true(cloudtasks_model.identity(&cloudtasks_get_task_method, &other) == 0);
}

/* Goal: many names, many queues: tables grow and nothing gets lost. Method: a thousand tasks in
 * three queues, all named, all asked for again. */
static void tables_grow(void **state)
{
    static const char *const queues[] = {QUEUE, LOCATION "/queues/r", LOCATION "/queues/s"};
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    kit->options[OPTION_QUEUE].text =
        BYTES_LITERAL(" " QUEUE "  " LOCATION "/queues/r not_a_queue " LOCATION "/queues/s " QUEUE);
    testkit_option(kit, "dispatch", 0);
    testkit_init(kit);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 1000; i++) {
            uint8_t name[128];
            struct byte_writer writer;
            byte_writer_init(&writer, name, sizeof(name));
            byte_writer_text(&writer, queues[i % 3]);
            byte_writer_text(&writer, "/tasks/");
            byte_writer_decimal(&writer, i);
            const struct cloudtasks_task task = {
                .name = byte_writer_view(&writer),
                .http_request = &http_default,
            };
            const struct cloudtasks_create_task_request request = {
                .parent = bytes_of_text(queues[i % 3]),
                .task = &task,
            };
            assert_int_equal(testkit_call(kit, &cloudtasks_create_task_method, &request),
                             round == 0 ? PORT_OK : PORT_ALREADY_EXISTS);
        }
    }
    assert_int_equal(created(kit), 1000);
    testkit_run_until(kit, DAYS(31) + SECONDS(1));
    assert_int_equal(removed(kit, CAUSE_TTL), 1000);
    testkit_close(kit);
}

/* Goal: equal histories have equal digests, and each step changes it. Method: two models, one step
 * ahead of the other. */
static void digest_covers_each_step(void **state)
{
    struct testkit *a = start();
    struct testkit *b = start();
    (void)state;
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(cloudtasks_model.digest(a->state) == cloudtasks_model.digest(b->state));
        assert_int_equal(create(a, ""), PORT_OK);
        assert_true(cloudtasks_model.digest(a->state) != cloudtasks_model.digest(b->state));
        assert_int_equal(create(b, ""), PORT_OK);
        testkit_run_for(a, SECONDS(1));
        assert_true(cloudtasks_model.digest(a->state) != cloudtasks_model.digest(b->state));
        testkit_run_for(b, SECONDS(1));
    }
    testkit_close(a);
    testkit_close(b);
}

/* Goal: the tables agree, and every clause has its test or a reason. Method: walk them. */
static void every_clause_has_its_test(void **state)
{
    static const struct testkit_clause_test tests[] = {
#define X(ids, test) {ids, #test},
        LIMITS_TESTS(X) NAMES_TESTS(X) HANDLER_TESTS(X) QUEUES_TESTS(X) CALLS_TESTS(X)
            LISTS_TESTS(X) BATCH_TESTS(X) RULES_TESTS(X)
#undef X
    };
    (void)state;
    testkit_check_tables(&cloudtasks_model, 0x1000, 0x10ff);
    testkit_check_clause_tests(&cloudtasks_model, tests, ARRAY_COUNT(tests));
}

/* Goal: what was observed or is open is offered by its profile, and by no narrower one. Method: ask
 * for every outcome under every profile. */
static void outcomes_keep_to_their_profiles(void **state)
{
    (void)state;
    testkit_check_profiles(&cloudtasks_model);
}

#define X(ids, test) TEST(test),
TEST_MAIN(cloudtasks,
          CALLS_TESTS(X) TEST(every_clause_has_its_test),
          TEST(outcomes_keep_to_their_profiles),
          TEST(content_is_the_body_or_the_url),
          TEST(identity_is_the_task_name),
          TEST(tables_grow),
          TEST(digest_covers_each_step))
