/* The intrusive list against a plain array.
 * link: sinks/base/list
 */
#include "sinks/base/list.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <string.h>

#define ITEM_COUNT 32

struct item {
    uint64_t payload;
    struct list_link link;
};

/* The model: item numbers in order. */
struct model {
    size_t order[ITEM_COUNT];
    size_t count;
};

static void model_insert(struct model *model, size_t place, size_t item)
{
    memmove(
        model->order + place + 1, model->order + place, (model->count - place) * sizeof(size_t));
    model->order[place] = item;
    model->count++;
}

static void model_remove(struct model *model, size_t place)
{
    model->count--;
    memmove(
        model->order + place, model->order + place + 1, (model->count - place) * sizeof(size_t));
}

static void assert_same(const struct list *list, struct item *items, const struct model *model)
{
    assert_int_equal(list->count, model->count);
    assert_int_equal(list_is_empty(list), model->count == 0);
    const struct list_link *link = list_first(list);
    for (size_t i = 0; i < model->count; i++) {
        assert_ptr_equal(link, &items[model->order[i]].link);
        assert_ptr_equal(link->prev->next, link);
        link = list_next(list, link);
    }
    assert_null(link);
    const struct list_link *last = list_last(list);
    assert_ptr_equal(last, model->count == 0 ? NULL : &items[model->order[model->count - 1]].link);
}

static void an_empty_list_has_no_first_last_or_front(void **state)
{
    (void)state;
    struct list list;
    list_init(&list);
    assert_true(list_is_empty(&list));
    assert_null(list_first(&list));
    assert_null(list_last(&list));
    assert_null(list_pop_front(&list));
}

static void the_item_is_found_from_its_link(void **state)
{
    (void)state;
    struct item item = {.payload = 7};
    struct list list;
    list_init(&list);
    list_push_back(&list, &item.link);
    assert_ptr_equal(LIST_ITEM(list_first(&list), struct item, link), &item);
}

static void pop_takes_from_the_front_in_push_order(void **state)
{
    (void)state;
    struct item items[3] = {0};
    struct list list;
    list_init(&list);
    list_push_back(&list, &items[1].link);
    list_push_back(&list, &items[2].link);
    list_push_front(&list, &items[0].link);
    for (size_t i = 0; i < 3; i++) {
        assert_ptr_equal(list_pop_front(&list), &items[i].link);
    }
    assert_true(list_is_empty(&list));
}

static void step(struct list *list, struct item *items, struct model *model, uint64_t random)
{
    const size_t item = random % ITEM_COUNT;
    const size_t place = model->count == 0 ? 0 : (random >> 8) % model->count;
    size_t found = 0;
    while (found < model->count && model->order[found] != item) {
        found++;
    }
    if (found < model->count) {
        const bool pops = (random >> 32) % 3 == 0;
        if (pops) {
            assert_ptr_equal(list_pop_front(list), &items[model->order[0]].link);
        } else {
            list_remove(list, &items[item].link);
        }
        model_remove(model, pops ? 0 : found);
    } else if ((random >> 32) % 3 == 0) {
        list_push_back(list, &items[item].link);
        model_insert(model, model->count, item);
    } else if ((random >> 32) % 3 == 1 || model->count == 0) {
        list_push_front(list, &items[item].link);
        model_insert(model, 0, item);
    } else {
        list_insert_before(list, &items[model->order[place]].link, &items[item].link);
        model_insert(model, place, item);
    }
}

static void random_operations_agree_with_an_array(void **state)
{
    (void)state;
    struct item items[ITEM_COUNT] = {0};
    struct model model = {0};
    struct list list;
    list_init(&list);
    for (uint64_t i = 0; i < 20000; i++) {
        step(&list, items, &model, digest_mix(i));
        assert_same(&list, items, &model);
    }
}

static void removing_twice_is_a_check(void **state)
{
    (void)state;
    struct item items[2] = {0};
    struct list list;
    list_init(&list);
    list_push_back(&list, &items[0].link);
    list_push_back(&list, &items[1].link);
    list_remove(&list, &items[0].link);
    expect_check_failure(list_remove(&list, &items[0].link));
    assert_int_equal(list.count, 1);
}

static void removing_the_sentinel_is_a_check(void **state)
{
    (void)state;
    struct item item = {0};
    struct list list;
    list_init(&list);
    list_push_back(&list, &item.link);
    expect_check_failure(list_remove(&list, &list.head));
}

static void stepping_from_a_removed_link_is_a_check(void **state)
{
    (void)state;
    struct item item = {0};
    struct list list;
    list_init(&list);
    list_push_back(&list, &item.link);
    list_remove(&list, &item.link);
    expect_check_failure((void)list_next(&list, &item.link));
}

TEST_MAIN(list,
          TEST(an_empty_list_has_no_first_last_or_front),
          TEST(the_item_is_found_from_its_link),
          TEST(pop_takes_from_the_front_in_push_order),
          TEST(random_operations_agree_with_an_array),
          TEST(removing_twice_is_a_check),
          TEST(removing_the_sentinel_is_a_check),
          TEST(stepping_from_a_removed_link_is_a_check))
