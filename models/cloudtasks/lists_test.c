/* ListTasks and what readers see of tasks: CT-17, CT-18.
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

static enum port_code list_tasks(struct testkit *kit, uint32_t page_size, struct bytes token)
{
    const struct cloudtasks_list_tasks_request request = {
        .parent = BYTES_LITERAL(QUEUE),
        .page_size = page_size,
        .page_token = token,
    };
    return testkit_call(kit, &cloudtasks_list_tasks_method, &request);
}

static const struct cloudtasks_list_tasks_response *page(const struct testkit *kit)
{
    assert_non_null(kit->payload);
    return kit->payload;
}

static struct bytes name_at(const struct testkit *kit, uint32_t index)
{
    assert_true(index < page(kit)->tasks.count);
    const struct cloudtasks_task *task = page(kit)->tasks.items[index];
    return task->name;
}

#define NO_TOKEN ((struct bytes){NULL, 0})

/* A token that outlives the answer. */
struct token {
    uint8_t data[TOKEN_SIZE_MAX];
    struct bytes text;
};

static void keep_token(const struct testkit *kit, struct token *token)
{
    const struct bytes text = page(kit)->next_page_token;
    assert_true(text.size > 0);
    assert_true(text.size <= sizeof(token->data));
    for (size_t i = 0; i < text.size; i++) {
        token->data[i] = text.data[i];
    }
    token->text = (struct bytes){token->data, text.size};
}

static struct testkit *start_held(enum profile profile, const char *outcome, uint32_t tasks)
{
    struct testkit *kit = open_kit(profile);
    testkit_option(kit, "dispatch", 0);
    (void)testkit_pin(kit, "cloudtasks.list", outcome);
    testkit_init(kit);
    for (uint32_t i = 0; i < tasks; i++) {
        assert_int_equal(create(kit, ""), PORT_OK);
    }
    return kit;
}

/* Goal: no page is larger than 1000, whatever is asked for; a missing queue has none. Method: more
 * tasks than that. */
static void ct_18_a_page_has_at_most_1000_tasks(void **state)
{
    static const uint32_t sizes[] = {0, 1000, 1001, UINT32_MAX};
    struct testkit *kit = start_held(PROFILE_DOCUMENTED, "as_made", 1001);
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        assert_int_equal(list_tasks(kit, sizes[i], NO_TOKEN), PORT_OK);
        assert_int_equal(page(kit)->tasks.count, 1000);
        assert_true(page(kit)->next_page_token.size > 0);
    }
    struct token token;
    keep_token(kit, &token);
    assert_int_equal(list_tasks(kit, 0, token.text), PORT_OK);
    assert_int_equal(page(kit)->tasks.count, 1);
    assert_int_equal(page(kit)->next_page_token.size, 0);
    assert_int_equal(delete_queue(kit), PORT_OK);
    assert_int_equal(list_tasks(kit, 0, NO_TOKEN), PORT_NOT_FOUND);
    testkit_close(kit);
}

/* Tasks that all pages of a list give, first to last. */
static uint32_t list_all(struct testkit *kit, uint32_t page_size)
{
    struct token token = {.text = NO_TOKEN};
    uint32_t count = 0;
    for (uint32_t pages = 0; pages < 100; pages++) {
        assert_int_equal(list_tasks(kit, page_size, token.text), PORT_OK);
        assert_true(page(kit)->tasks.count <= page_size);
        count += page(kit)->tasks.count;
        if (page(kit)->next_page_token.size == 0) {
            return count;
        }
        keep_token(kit, &token);
    }
    fail_msg("a list without end");
    return 0;
}

/* Goal: the pages of a queue that nobody touches give each task once, in either order. Method: all
 * sizes of pages. */
static void ct_18_pages_give_every_task_once(void **state)
{
    static const char *const outcomes[] = {"as_made", "newest_first", "short"};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(outcomes); i++) {
        struct testkit *kit = start_held(PROFILE_DOCUMENTED, outcomes[i], 10);
        for (uint32_t size = 1; size < 12; size++) {
            assert_int_equal(list_all(kit, size), 10);
        }
        testkit_close(kit);
    }
}

/* Goal: order and length of a page are the service's. Method: each outcome. */
static void ct_18_the_order_and_length_of_pages_is_free(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.list", "newest_first");
    struct token token;
    (void)state;
    testkit_option(kit, "dispatch", 0);
    testkit_init(kit);
    assert_int_equal(list_tasks(kit, 2, NO_TOKEN), PORT_OK);
    assert_int_equal(page(kit)->tasks.count, 0);
    assert_int_equal(pin->draws, 0);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(create(kit, TASK_B), PORT_OK);
    assert_int_equal(create(kit, QUEUE "/tasks/c"), PORT_OK);
    assert_int_equal(list_tasks(kit, 2, NO_TOKEN), PORT_OK);
    assert_int_equal(page(kit)->tasks.count, 2);
    assert_bytes_equal(name_at(kit, 0), BYTES_LITERAL(QUEUE "/tasks/c"));
    assert_bytes_equal(name_at(kit, 1), BYTES_LITERAL(TASK_B));
    keep_token(kit, &token);
    assert_int_equal(list_tasks(kit, 2, token.text), PORT_OK);
    assert_bytes_equal(name_at(kit, 0), BYTES_LITERAL(TASK_A));
    pin->value = LIST_ORDER_CHANGES;
    assert_int_equal(list_tasks(kit, 2, token.text), PORT_OK);
    assert_bytes_equal(name_at(kit, 0), BYTES_LITERAL(QUEUE "/tasks/c"));
    pin->value = LIST_SHORT;
    assert_int_equal(list_tasks(kit, 2, NO_TOKEN), PORT_OK);
    assert_int_equal(page(kit)->tasks.count, 1);
    assert_true(page(kit)->next_page_token.size > 0);
    pin->value = LIST_EMPTY;
    assert_int_equal(list_tasks(kit, 2, NO_TOKEN), PORT_OK);
    assert_int_equal(page(kit)->tasks.count, 0);
    assert_true(page(kit)->next_page_token.size > 0);
    testkit_close(kit);
}

/* Goal: a token lives for two hours, in its queue, and any other text is none. Method: ask around
 * its end; texts. */
static void ct_18_a_token_is_valid_for_two_hours(void **state)
{
    static const char *const others[] = {"x",
                                         "1.2.3",
                                         "1.2.3.",
                                         "1..2.3",
                                         "1.2.3.4.5",
                                         ".1.2.3",
                                         "0.1.1.99999999999999999999",
                                         "0.1.7.0"};
    struct testkit *kit = start_held(PROFILE_DOCUMENTED, "as_made", 3);
    struct token token;
    (void)state;
    assert_int_equal(list_tasks(kit, 2, NO_TOKEN), PORT_OK);
    keep_token(kit, &token);
    testkit_run_until(kit, HOURS(2) - 1);
    assert_int_equal(list_tasks(kit, 2, token.text), PORT_OK);
    testkit_run_until(kit, HOURS(2));
    assert_int_equal(list_tasks(kit, 2, token.text), PORT_INVALID_ARGUMENT);
    for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
        assert_int_equal(list_tasks(kit, 2, bytes_of_text(others[i])), PORT_INVALID_ARGUMENT);
    }
    testkit_close(kit);
}

/* Goal: lists and GetTask may lag behind creates, for the adversary only, and not for long. Method:
 * look at once and later. */
static void ct_18_what_is_new_may_not_be_seen_yet(void **state)
{
    (void)state;
    for (uint32_t profile = 0; profile < PROFILE_COUNT; profile++) {
        struct testkit *kit = start_held((enum profile)profile, "lags", 1);
        struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.seen", "not_yet");
        const bool lags = profile == PROFILE_ADVERSARY;
        testkit_run_for(kit, SECONDS(20));
        assert_int_equal(create(kit, TASK_A), PORT_OK);
        assert_int_equal(list_tasks(kit, 0, NO_TOKEN), PORT_OK);
        assert_int_equal(page(kit)->tasks.count, lags ? 1 : 2);
        assert_int_equal(get(kit, TASK_A), lags ? PORT_NOT_FOUND : PORT_OK);
        assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
        testkit_run_for(kit, SECONDS(10));
        assert_int_equal(list_tasks(kit, 0, NO_TOKEN), PORT_OK);
        assert_int_equal(page(kit)->tasks.count, 2);
        assert_int_equal(get(kit, TASK_A), PORT_OK);
        assert_int_equal(pin->draws, 1);
        testkit_close(kit);
    }
}

/* Goal: a list shows bodies only in the FULL view, to those who may see them. Method: both. */
static void ct_17_a_list_shows_bodies_by_the_same_rule(void **state)
{
    (void)state;
    for (uint64_t readable = 0; readable < 2; readable++) {
        struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
        struct cloudtasks_list_tasks_request request = {.parent = BYTES_LITERAL(QUEUE)};
        testkit_option(kit, "tasks_readable", readable);
        testkit_init(kit);
        assert_int_equal(create(kit, TASK_A), PORT_OK);
        assert_int_equal(testkit_call(kit, &cloudtasks_list_tasks_method, &request), PORT_OK);
        const struct cloudtasks_task *task = page(kit)->tasks.items[0];
        assert_null(task->http_request);
        request.response_view = CLOUDTASKS_VIEW_FULL;
        assert_int_equal(testkit_call(kit, &cloudtasks_list_tasks_method, &request),
                         readable ? PORT_OK : PORT_PERMISSION_DENIED);
        if (readable) {
            task = page(kit)->tasks.items[0];
            assert_bytes_equal(task->http_request->body, http_default.body);
        }
        testkit_close(kit);
    }
}

#define X(ids, test) TEST(test),
TEST_MAIN(cloudtasks_lists, LISTS_TESTS(X))
