/* State that processes share: one page of memory behind every event and notify that crosses processes.
 * With the engine lock, except for what is atomic. */
#ifndef MOCK_SHARED_H_
#define MOCK_SHARED_H_

#include "engine/core.h"

typedef enum mock_shared_kind { MOCK_SHARED_EVENT = 1, MOCK_SHARED_NOTIFY } mock_shared_kind;

#define MOCK_TICKETS 128u
#define MOCK_MEMBERS 64u

typedef struct mock_member {
    _Atomic int32_t pid;        /* 0 for a free place */
    _Atomic uint64_t started;   /* tells a process from a later one with its id */
} mock_member;

/* The page. Whoever maps it may write anything into it, so nothing in it is used as a pointer or an index. */
typedef struct mock_page {
    uint64_t magic, token[2];
    uint32_t kind;
    int32_t pid; /* of the exporter: threads of its have its files as well */
    _Atomic uint32_t any_process; /* exported without a list of processes */
    _Atomic int32_t allowed[64];
    mock_member members[MOCK_MEMBERS];
    /* a notify */
    _Atomic uint32_t set;
    /* an event: the latest record that was queued, and which of the last ones were executed */
    _Atomic uint64_t latest;
    _Atomic uint64_t executed[MOCK_TICKETS];
} mock_page;

typedef struct mock_shared {
    uint32_t refs;
    mock_page *page;
    int fd; /* -1 where it was imported */
    int32_t member;
    bool lost; /* another process died without giving its part back */
} mock_shared;

/* NULL without memory or descriptors. */
mock_shared *mock_shared_new(mock_shared_kind kind);
mock_shared *mock_shared_ref(mock_shared *p);
void mock_shared_unref(mock_shared *p);
/* What another process needs to open it; 64 bytes. */
typedef struct mock_shared_key {
    uint64_t magic, token[2];
    int32_t pid, fd;
    uint64_t started;
    uint32_t kind;
    uint32_t rest[5];
} mock_shared_key;
_Static_assert(sizeof(mock_shared_key) == 64, "the size of aclrtIpcEventHandle");
uint64_t mock_shared_magic(void);
void mock_shared_export(const mock_shared *p, mock_shared_key *key);
/* 107000 for a key that no mock wrote, 507899 when its process or object is gone, 207006 when the process
 * is not on the list. */
aclError mock_shared_import(const mock_shared_key *key, mock_shared_kind kind, mock_shared **out);

/* Whether somebody here waits for what another process may do. */
bool mock_shared_waiting(void);
/* Looks whether a stream that waits can go on; true when one can. */
bool mock_shared_poll(void);
/* Whether every other process of the object that was there is dead now: then nobody ends a wait. */
bool mock_shared_lost(mock_shared *p);

/* graphs/replay.c: whether a replay waits for a shared notify, and whether for one that is set. */
bool mock_graph_shared(const mock_task *launch);
bool mock_graph_shared_ready(const mock_task *launch);

/* An event's records: tickets from 1 on. */
uint64_t mock_ticket_take(mock_shared *p);
void mock_ticket_done(mock_shared *p, uint64_t ticket);
bool mock_ticket_reached(const mock_shared *p, uint64_t ticket);

/* streams/shared_event.c */
aclError mock_shared_record(mock_stream *s, mock_event *e);
aclError mock_shared_wait(mock_stream *s, mock_event *e, uint32_t seconds);
aclError mock_shared_synchronize(mock_event *e, int64_t timeout_ns);
bool mock_shared_complete(const mock_event *e);
mock_outcome mock_shared_record_step(mock_stream *s, mock_task *t);
mock_outcome mock_shared_wait_step(mock_stream *s, mock_task *t);
void mock_shared_record_release(mock_task *t);
/* False when the driver of the device has none: MOCK_ACL_IPC_EVENTS=0. */
bool mock_ipc_events(void);

#endif
