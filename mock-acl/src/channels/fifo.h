/* Bounded queues of messages between threads, for channels and queues. Waiting takes real time: whether
 * another thread will come is not known to the virtual clock (own choice). */
#ifndef MOCK_CHANNELS_FIFO_H_
#define MOCK_CHANNELS_FIFO_H_

#include "base/base.h"

typedef struct mock_message {
    struct mock_message *next;
    void (*drop)(struct mock_message *message);
} mock_message;

typedef struct mock_fifo {
    uint32_t refs;
    bool closed;
    size_t depth, count; /* depth 0: no limit */
    mock_message *first, **last;
} mock_fifo;

typedef enum mock_fifo_result { MOCK_FIFO_OK, MOCK_FIFO_LATE, MOCK_FIFO_CLOSED } mock_fifo_result;

mock_fifo *mock_fifo_new(size_t depth);
void mock_fifo_ref(mock_fifo *f);
/* Drops what is in it with the last reference. */
void mock_fifo_unref(mock_fifo *f);
/* Wakes who waits; nothing goes in or out any more. */
void mock_fifo_close(mock_fifo *f);
/* Milliseconds, negative for no limit. `put` takes the message over when it is OK. */
mock_fifo_result mock_fifo_put(mock_fifo *f, mock_message *m, int32_t timeout);
mock_fifo_result mock_fifo_get(mock_fifo *f, mock_message **m, int32_t timeout);
/* Takes the first message if `look` says so, which runs with the lock. */
mock_fifo_result mock_fifo_look(mock_fifo *f, bool (*look)(const mock_message *m, void *user), void *user,
    int32_t timeout, mock_message **taken);
void mock_fifo_clear(mock_fifo *f);
size_t mock_fifo_count(mock_fifo *f);
size_t mock_fifo_room(mock_fifo *f);

#endif
