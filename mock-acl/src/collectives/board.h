/* What the ranks of a communicator share: a board, one anonymous file that every rank maps, with a seat for each rank
 * and a channel from each rank to each other; and for each rank a stage, a file that it writes and the others read.
 *
 * Own choice, for a card has links: a rank puts what it sends on its stage, and the others take what is theirs from
 * there. Files are opened through /proc/PID/fd, and nothing is left when the last process ends. */
#ifndef MOCK_COLLECTIVES_BOARD_H_
#define MOCK_COLLECTIVES_BOARD_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MOCK_RANKS 128u
#define MOCK_SUBS 64u

typedef struct mock_board_key {
    uint64_t magic, token[2], started;
    int32_t pid, fd;
} mock_board_key;

/* The operation that a rank has on its stage. */
typedef struct mock_turn {
    uint32_t kind, type, op, root;
    uint64_t count;
    uint32_t failed;
} mock_turn;

typedef enum mock_seat_state {
    MOCK_SEAT_FREE,
    MOCK_SEAT_CLAIMED,
    MOCK_SEAT_TAKEN,
    MOCK_SEAT_READY,
    MOCK_SEAT_LEFT
} mock_seat_state;

typedef struct mock_seat {
    _Atomic uint32_t state;
    int32_t pid, stage;
    uint64_t started;
    /* Operations that it put on its stage, and that it needs no more from the stages of others. */
    _Atomic uint64_t published, finished;
    mock_turn turns[2];
} mock_seat;

/* Messages from one rank to another. */
typedef struct mock_channel {
    _Atomic uint64_t sent, taken;
    uint64_t bytes;
    uint64_t spare[5];
} mock_channel;

/* A communicator of some of the ranks, while they gather. */
typedef struct mock_sub {
    _Atomic uint32_t state; /* 0 free, 1 being written, 2 to be read */
    _Atomic uint32_t readers;
    uint64_t id;
    mock_board_key key;
} mock_sub;

typedef struct mock_board {
    uint64_t magic, token[2];
    _Atomic uint32_t ranks; /* 0 until the first one sits */
    mock_sub subs[MOCK_SUBS];
    mock_seat seats[MOCK_RANKS];
    mock_channel channels[MOCK_RANKS][MOCK_RANKS];
} mock_board;

static inline mock_channel *mock_channel_of(mock_board *b, uint32_t from, uint32_t to) {
    return &b->channels[from % MOCK_RANKS][to % MOCK_RANKS];
}

/* A new board, its file and the key to it; NULL without memory or descriptors. */
mock_board *mock_board_new(int *fd, mock_board_key *key);
/* NULL when the key is none, or the process is gone that made it; or with errno. */
mock_board *mock_board_open(const mock_board_key *key);
void mock_board_close(mock_board *b);
/* Why a rank cannot sit there, or 0 with its stage. */
int mock_board_sit(mock_board *b, uint32_t ranks, uint32_t rank, int *stage);
/* Whether every rank has come as far as this. */
bool mock_board_all(const mock_board *b, uint32_t ranks, mock_seat_state least);
/* Whether the rank left or its process died. */
bool mock_seat_lost(const mock_seat *s);
/* A rank's stage, for reading; -1 when its process is gone. */
int mock_seat_open(const mock_seat *s);

/* Both give false when the file cannot be written or read so far. */
bool mock_stage_write(int fd, const void *from, uint64_t bytes, uint64_t at);
bool mock_stage_read(int fd, void *to, uint64_t bytes, uint64_t at);
/* Gives memory behind the file back. */
void mock_stage_forget(int fd, uint64_t at, uint64_t bytes);

#endif
