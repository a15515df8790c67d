/* Intrusive doubly linked list with a sentinel. Links live inside the elements, which must not move
 * while linked. */
#ifndef SINKS_BASE_LIST_H
#define SINKS_BASE_LIST_H

#include "sinks/base/check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct list_link {
    struct list_link *next; /* private */
    struct list_link *prev; /* private */
};

struct list {
    struct list_link head; /* private */
    size_t count;          /* read */
};

#define LIST_ITEM(link, type, member) ((type *)(void *)((uint8_t *)(link)-offsetof(type, member)))

void list_init(struct list *list);
void list_push_front(struct list *list, struct list_link *link);
void list_insert_before(struct list *list, struct list_link *place, struct list_link *link);
/* First, last or next link, or NULL at the end. */
struct list_link *list_first(const struct list *list);
struct list_link *list_last(const struct list *list);
struct list_link *list_next(const struct list *list, const struct list_link *link);
struct list_link *list_pop_front(struct list *list);

static inline void list_push_back(struct list *list, struct list_link *link)
{
    struct list_link *last = list->head.prev;
    CHECK(last->next == &list->head);
    CHECK(link != &list->head);
    link->next = &list->head;
    link->prev = last;
    last->next = link;
    list->head.prev = link;
    list->count++;
}

static inline void list_remove(struct list *list, struct list_link *link)
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

static inline bool list_is_empty(const struct list *list)
{
    return list->count == 0;
}

#endif
