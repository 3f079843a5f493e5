/* Device addresses outside of the ranges of the allocator: reserved ranges with physical memory mapped into
 * them, memory of other processes, managed memory. The lock is a leaf. */
#ifndef MOCK_MEMORY_SPACE_H_
#define MOCK_MEMORY_SPACE_H_

#include "devices/devices.h"
#include "memory/memory.h"

typedef enum mock_space_kind { MOCK_SPACE_VIRTUAL, MOCK_SPACE_IMPORT, MOCK_SPACE_MANAGED } mock_space_kind;

struct mock_physical;

/* Physical memory in a reserved range. */
typedef struct mock_piece {
    uint64_t at, size; /* in the range */
    struct mock_physical *physical;
    uint8_t access[MOCK_MAX_DEVICES + 1]; /* aclrtMemAccessFlags of each device and, last, of the host */
} mock_piece;

typedef struct mock_space {
    char *base, *view; /* the program's addresses, and where the mock works */
    uint64_t bytes;
    uint64_t first, size; /* the usable part; not of a virtual range */
    mock_space_kind kind;
    int32_t device;
    bool open; /* to every device */
    mock_piece *pieces;
    size_t count, room;
    void *data; /* of the part that made it */
} mock_space;

/* What is known of an address inside a space. */
typedef struct mock_found {
    void *view; /* NULL when not all of the bytes are usable */
    void *base; /* of the usable part around the address; size 0 outside of any */
    uint64_t size;
    mock_space_kind kind;
    int32_t device;  /* MOCK_HOST_SIDE for memory of the host */
    uint32_t reach; /* a bit for each device with access */
    uint32_t throughout; /* with access to all of the bytes */
} mock_found;

/* memory/physical.c */
typedef struct mock_physical {
    void *handle;          /* NULL when nobody holds one */
    uint64_t refs, mapped; /* handles given out, places where it is mapped */
    uint64_t size, offset; /* in the file */
    int file;
    int32_t device; /* MOCK_HOST_SIDE for memory of the host */
    aclrtPhysicalMemProp prop;
    void *block;    /* NULL when it belongs to another process */
    uint32_t slot;  /* of the export, 0 for none */
    void *card;     /* the export it was imported from */
    bool imported;
} mock_physical;
#define MOCK_GRANULARITY (UINT64_C(2) << 20)

/* ---- memory/ipc.c ---- */
void mock_ipc_reset(void);

/* ---- memory/managed.c ---- */
void mock_managed_reset(void);
bool mock_managed_free(void *p);

/* ---- memory/physical.c ---- */
/* With the space lock. */
void mock_physical_settle(mock_physical *m);
mock_physical *mock_physical_find(aclrtDrvMemHandle handle, aclError *code);
aclError mock_physical_hold(mock_physical *m, aclrtDrvMemHandle *handle);
void mock_physical_reset(void);

/* ---- memory/share.c ---- */
void mock_share_reset(void);

/* ---- memory/space.c ---- */
/* False outside of every space, those included that are gone. */
bool mock_space_find(const void *p, uint64_t size, mock_found *f);
/* With the lock: the space around an address; the number of spaces, and the one at an index. */
mock_space *mock_space_at(const void *p);
mock_space *mock_space_index(size_t i);
/* Takes over the space and its mappings; false without memory. */
bool mock_space_add(mock_space *s);
/* Forgets the space. mock_space_bury, called without the lock, gives the addresses of such spaces back once
 * nothing executes. */
void mock_space_drop(mock_space *s);
/* With the lock: forgets the space, whose mappings stay: they are the caller's. */
void mock_space_forget(mock_space *s);
void mock_space_bury(void);
/* Forgets spaces that are gone from a range of addresses, which is then free. Without the lock. */
void mock_space_clear(const void *base, uint64_t bytes);
/* With the lock: two equal ranges without access; at `wanted` if that is not NULL. False without address
 * space. */
bool mock_space_reserve(mock_space *s, void *wanted, uint64_t bytes);

/* ---- memory/virtual.c ---- */
void mock_virtual_reset(void);

#endif
