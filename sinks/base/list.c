#include "sinks/base/list.h"

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

void list_push_front(struct list *list, struct list_link *link)
{
    list_insert_before(list, list->head.next, link);
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
