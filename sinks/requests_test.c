/* Request numbers against a plain array.
 * link: sinks/requests sinks/base/list sinks/base/allocator sinks/base/units
 */
#include "sinks/requests.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <string.h>

#define COUNT 300

static void numbers_start_at_one_and_never_come_again(void **state)
{
    (void)state;
    struct test_memory memory = {0};
    const struct allocator allocator = test_allocator(&memory);
    struct requests requests;
    struct request request = {0};
    requests_init(&requests, &allocator);
    assert_null(requests_first(&requests));
    assert_null(requests_take(&requests, 1));
    for (uint64_t i = 1; i < 100; i++) {
        assert_int_equal(requests_add(&requests, &request), ERR_OK);
        assert_int_equal(request.number, i);
        assert_ptr_equal(requests_first(&requests), &request);
        assert_null(requests_take(&requests, i + 1));
        assert_ptr_equal(requests_take(&requests, i), &request);
        assert_null(requests_take(&requests, i));
        assert_null(requests_take(&requests, 0));
    }
    requests_fini(&requests);
    assert_int_equal(memory.live, 0);
}

static void random_operations_agree_with_an_array(void **state)
{
    (void)state;
    struct test_memory memory = {0};
    const struct allocator allocator = test_allocator(&memory);
    static struct request items[COUNT];
    memset(items, 0, sizeof(items));
    struct requests requests;
    requests_init(&requests, &allocator);
    uint32_t live = 0;
    for (uint64_t i = 0; i < 50000; i++) {
        const uint64_t random = digest_mix(i);
        struct request *item = &items[random % COUNT];
        if (item->number == 0 && (random >> 32) % 3 != 0) {
            assert_int_equal(requests_add(&requests, item), ERR_OK);
            live++;
        } else if (item->number != 0) {
            const uint64_t number = item->number;
            assert_ptr_equal(requests_take(&requests, number), item);
            assert_int_equal(item->number, 0);
            live--;
        }
        assert_int_equal(requests_count(&requests), live);
    }
    for (uint64_t last = 0; live > 0; live--) {
        struct request *first = requests_first(&requests);
        assert_true(first->number > last);
        last = first->number;
        requests_remove(&requests, first);
    }
    requests_fini(&requests);
    assert_int_equal(memory.live, 0);
}

static void the_allocators_limit_leaves_the_rest_usable(void **state)
{
    (void)state;
    struct test_memory memory = {.fail_at = 2};
    const struct allocator allocator = test_allocator(&memory);
    struct request items[9] = {0};
    struct requests requests;
    requests_init(&requests, &allocator);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(requests_add(&requests, &items[i]), ERR_OK);
    }
    assert_int_equal(requests_add(&requests, &items[8]), ERR_LIMIT);
    assert_int_equal(items[8].number, 0);
    for (uint64_t i = 0; i < 8; i++) {
        assert_ptr_equal(requests_take(&requests, i + 1), &items[i]);
    }
    requests_fini(&requests);
}

TEST_MAIN(requests,
          TEST(numbers_start_at_one_and_never_come_again),
          TEST(random_operations_agree_with_an_array),
          TEST(the_allocators_limit_leaves_the_rest_usable))
