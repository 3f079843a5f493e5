/* Communicators. */
#ifndef MOCK_COLLECTIVES_COMM_H_
#define MOCK_COLLECTIVES_COMM_H_

#include "base/base.h"
#include "collectives/board.h"
#include "engine/engine.h"
#include "hccl/hccl.h"

/* Queued operations hold it; with the engine lock but for what never changes. */
typedef struct mock_comm {
    _Atomic uint32_t refs;
    mock_board *board;
    uint32_t ranks, me;
    int peers[MOCK_RANKS]; /* the stages; one's own among them */
    uint64_t limit_ns;     /* of an operation that waits, in real time; 0 for none */
    uint64_t turn;         /* collective operations that began */
    uint64_t sends[MOCK_RANKS], takes[MOCK_RANKS];
    uint64_t area_bytes[2];
    HcclResult error; /* what broke it, and the words for it */
    aclError told;    /* what the stream said then, and says again */
    char why[256];
    char name[COMM_NAME_MAX_LENGTH];
} mock_comm;

/* The first line of the functions: counts the call and applies an injected failure. The child of a fork is refused
 * where its parent's communicators are looked for. */
HcclResult mock_hccl_enter(mock_api api);
#define HCCL_ENTER(name)                                                  \
    do {                                                                  \
        const HcclResult injected = mock_hccl_enter(MOCK_API_##name);     \
        if (injected != HCCL_SUCCESS) return injected;                    \
    } while (0)
/* Sets the error text and gives `code`. */
HcclResult mock_hccl(HcclResult code, const char *format, ...) MOCK_PRINTF(2, 3);
/* NULL after an error text: null (HCCL_E_PTR) or not live (HCCL_E_PARA). */
mock_comm *mock_comm_get(HcclComm handle, HcclResult *code);
void mock_comm_unref(mock_comm *c);
/* With the lock: the first reason stays. */
void mock_comm_break(mock_comm *c, HcclResult error, const char *format, ...) MOCK_PRINTF(3, 4);
/* The settings of the process as at its start. */
void mock_hccl_settings_reset(void);
/* Bytes of an element, 0 for no type. */
uint32_t mock_hccl_size(HcclDataType type);
const char *mock_hccl_type(uint32_t type);

#endif
