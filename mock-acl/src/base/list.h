/* Circular lists whose links lie inside of what they connect. */
#ifndef MOCK_BASE_LIST_H_
#define MOCK_BASE_LIST_H_

#include <stdbool.h>
#include <stddef.h>

typedef struct mock_link {
    struct mock_link *prev, *next;
} mock_link;

static inline void mock_list_init(mock_link *l) { l->prev = l->next = l; }
static inline bool mock_list_empty(const mock_link *l) { return l->next == l; }
static inline void mock_list_remove(mock_link *l) {
    l->prev->next = l->next;
    l->next->prev = l->prev;
    mock_list_init(l);
}
static inline void mock_list_push(mock_link *head, mock_link *l) {
    l->prev = head->prev;
    l->next = head;
    head->prev->next = l;
    head->prev = l;
}
#define MOCK_OWNER(link, type, field) ((type *)(void *)((char *)(link) - offsetof(type, field)))

#endif
