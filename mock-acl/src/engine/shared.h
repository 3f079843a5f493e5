/* State that processes share: one page of memory behind every event and notify that crosses processes.
 * With the engine lock, except for what is atomic. */
#ifndef MOCK_ENGINE_SHARED_H_
#define MOCK_ENGINE_SHARED_H_

#include "base/base.h"

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

/* What another process needs to open it; 64 bytes. */
typedef struct mock_shared_key {
    uint64_t magic, token[2];
    int32_t pid, fd;
    uint64_t started;
    uint32_t kind;
    uint32_t rest[5];
} mock_shared_key;
_Static_assert(sizeof(mock_shared_key) == 64, "the size of aclrtIpcEventHandle");

/* Whether somebody here waits for what another process may do. */
bool mock_shared_waiting(void);

#endif
