/* Device memory of one process for another. Each process keeps cards, one for everything it exports, in a
 * file in memory that other processes of the same user open through /proc. With the space lock. */
#ifndef MOCK_MEMORY_SHARE_H_
#define MOCK_MEMORY_SHARE_H_

#include "memory/memory.h"

typedef enum mock_share_kind { MOCK_SHARE_BLOCK = 1, MOCK_SHARE_PHYSICAL } mock_share_kind;

/* Who exported, which card, and a secret that a card made later does not have. */
typedef struct mock_key {
    uint32_t pid, slot;
    uint64_t secret, more;
} mock_key;

/* What fits into a handle of 64 bits. */
#define MOCK_SHORT_SECRET UINT64_C(0x3FFFFFFF)
#define MOCK_SHARE_PEERS 256

typedef struct mock_peer {
    _Atomic int32_t pid;      /* 0: unused */
    _Atomic uint32_t allowed; /* on the list of the exporter */
    _Atomic uint32_t opened;  /* how often it has the memory open */
} mock_peer;

typedef struct mock_card {
    _Atomic uint32_t live;
    uint32_t kind, everybody; /* everybody: no list */
    int32_t device, file;
    uint64_t secret, more, offset, size, inode;
    aclrtPhysicalMemProp prop;
    mock_peer peers[MOCK_SHARE_PEERS];
} mock_card;

/* What to export. */
typedef struct mock_offer {
    mock_share_kind kind;
    int32_t device, file;
    uint64_t offset, size;
    bool everybody;
    aclrtPhysicalMemProp prop;
} mock_offer;

/* Gives the slot, or 0 after an error. */
uint32_t mock_share_open(const mock_offer *offer, aclError *code);
void mock_share_close(uint32_t slot);
bool mock_share_busy(uint32_t slot);
/* The key of an own card; its card, or NULL when the key is not one of this process. */
mock_key mock_share_key(uint32_t slot);
mock_card *mock_share_own(const mock_key *key, mock_share_kind kind);
/* Puts processes on the list; 207005 when it is full. */
aclError mock_share_allow(mock_card *card, const int32_t *pids, size_t count);
/* Opens what another process exported, or this one: a file to map and the card to count on. 507899 for a key
 * that is no good: forged, closed, of a process that is gone, or not for this one. */
aclError mock_share_attach(const mock_key *key, mock_share_kind kind, mock_card **card, int *file);
void mock_share_detach(mock_card *card, int file);

#endif
