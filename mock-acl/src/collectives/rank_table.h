/* Rank tables: which device is which rank, in a file that every rank reads. */
#ifndef MOCK_COLLECTIVES_RANK_TABLE_H_
#define MOCK_COLLECTIVES_RANK_TABLE_H_

#include "collectives/board.h"
#include "hccl/hccl_types.h"

typedef struct mock_rank_table {
    uint32_t ranks;
    uint32_t devices[MOCK_RANKS]; /* by rank */
    uint64_t digest;              /* of its text */
} mock_rank_table;

/* After an error text: 10 for no file, 1 for no table, 5 for one of several servers. */
HcclResult mock_rank_table_read(const char *path, mock_rank_table *out);

/* Where rank 0 gives the others the key to their board; the name goes with the socket. */
typedef struct mock_host {
    int socket;
    mock_board_key key;
} mock_host;
/* Whether nobody else is at it for the same table; errno says what else. */
bool mock_host_open(mock_host *h, const mock_rank_table *table, const mock_board_key *key);
/* Answers whoever asks at the moment. */
void mock_host_answer(const mock_host *h);
void mock_host_close(mock_host *h);
/* Whether rank 0 was there and gave its key; errno says what else. */
bool mock_host_ask(const mock_rank_table *table, mock_board_key *key);

#endif
