/* Operations of all ranks. */
#ifndef MOCK_COLLECTIVES_EXCHANGE_H_
#define MOCK_COLLECTIVES_EXCHANGE_H_

#include "collectives/comm.h"

typedef enum mock_hccl_call {
    MOCK_ALL_REDUCE,
    MOCK_REDUCE,
    MOCK_REDUCE_SCATTER,
    MOCK_REDUCE_SCATTER_V,
    MOCK_BROADCAST,
    MOCK_SCATTER,
    MOCK_ALL_GATHER,
    MOCK_ALL_GATHER_V,
    MOCK_ALL_TO_ALL,
    MOCK_ALL_TO_ALL_V,
    MOCK_ALL_TO_ALL_VC,
    MOCK_BARRIER,
    MOCK_SEND,
    MOCK_RECV,
    MOCK_BATCH,
    MOCK_GROUP,
    MOCK_HCCL_CALLS
} mock_hccl_call;

typedef struct mock_piece {
    uint64_t offset, bytes;
} mock_piece;

/* Each rank puts a piece for each rank on its stage, and takes its own from each stage: `out` and `in` have one piece
 * a rank. */
typedef struct mock_exchange {
    mock_comm *comm;
    mock_turn turn;
    const char *send;
    char *recv;
    bool same;    /* one piece goes to every rank */
    bool reduces; /* the pieces are added up at the start of `recv` */
    bool all;     /* waits for every rank, also for those that send nothing */
    /* while it goes on */
    uint32_t state, looks;
    uint64_t seq, began_ns;
    mock_piece *out, *in;
} mock_exchange;

/* NULL and a text without memory; holds the communicator. */
mock_exchange *mock_exchange_new(mock_comm *c, mock_hccl_call call, HcclDataType type, uint64_t count);
/* Queues it, and takes it over. */
HcclResult mock_exchange_submit(mock_exchange *x, aclrtStream stream);

/* One that was not queued. */
void mock_exchange_drop(mock_exchange *x);

/* Queues a task of this communicator; `what` is taken over. */
HcclResult mock_outside_submit(const mock_outside *how, void *what, mock_hccl_call call, aclrtStream stream);
/* Whether a task that waits must go on because its time is over; looked at with the lock. */
bool mock_comm_late(const mock_comm *c, uint64_t began_ns);
/* Ends a task with a device error, the same for each behind the first. */
void mock_outside_fails(mock_comm *c, mock_stream *s, mock_task *t, aclError code);

#endif
