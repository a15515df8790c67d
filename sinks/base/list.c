#include "sinks/base/list.h"

#include "sinks/base/check.h"

void list_init(struct list *list)
{
    list->head.next = &list->head;
    list->head.prev = &list->head;
    list->count = 0;
}

void list_insert_before(struct list *list, struct list_link *place, struct list_link *link)
{
    CHECK(place->prev->next == place);
    CHECK(place != link);
    link->next = place;
    link->prev = place->prev;
    place->prev->next = link;
    place->prev = link;
    list->count++;
}

void list_push_back(struct list *list, struct list_link *link)
{
    list_insert_before(list, &list->head, link);
}

void list_push_front(struct list *list, struct list_link *link)
{
    list_insert_before(list, list->head.next, link);
}

void list_remove(struct list *list, struct list_link *link)
{
    CHECK(list->count > 0);
    CHECK(link != &list->head);
    CHECK(link->next != NULL);
    CHECK(link->next->prev == link);
    CHECK(link->prev->next == link);
    link->next->prev = link->prev;
    link->prev->next = link->next;
    *link = (struct list_link){0};
    list->count--;
}

bool list_is_empty(const struct list *list)
{
    return list->count == 0;
}

struct list_link *list_first(const struct list *list)
{
    return list_next(list, &list->head);
}

struct list_link *list_last(const struct list *list)
{
    return list->head.prev == &list->head ? NULL : list->head.prev;
}

struct list_link *list_next(const struct list *list, const struct list_link *link)
{
    CHECK(link->next != NULL);
    return link->next == &list->head ? NULL : link->next;
}

struct list_link *list_pop_front(struct list *list)
{
    struct list_link *first = list_first(list);
    if (first != NULL) {
        list_remove(list, first);
    }
    return first;
}
