/* The files behind a communicator. */
#define _GNU_SOURCE
#include "collectives/board.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/engine.h"
#include "hccl/hccl_types.h"

#define MAGIC UINT64_C(0x64726f6263636c6d)
#define BOARD_FILE "mock-acl-board"
#define STAGE_FILE "mock-acl-stage"

static mock_board *map(int fd) {
    void *p = mmap(NULL, sizeof(mock_board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

mock_board *mock_board_new(int *fd, mock_board_key *key) {
    const int32_t pid = (int32_t)getpid();
    const uint64_t started = mock_process_start(pid);
    if (started == 0) return NULL;
    const int file = memfd_create(BOARD_FILE, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return NULL;
    mock_board *b = NULL;
    if (ftruncate(file, sizeof(mock_board)) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
        b = map(file);
    if (b != NULL && getrandom(b->token, sizeof b->token, 0) == (ssize_t)sizeof b->token) {
        b->magic = MAGIC;
        *key = (mock_board_key){MAGIC, {b->token[0], b->token[1]}, started, pid, file};
        *fd = file;
        return b;
    }
    mock_board_close(b);
    close(file);
    return NULL;
}

mock_board *mock_board_open(const mock_board_key *key) {
    errno = 0;
    if (key->magic != MAGIC) return NULL;
    const int fd = mock_process_file(key->pid, key->started, key->fd, BOARD_FILE, (int64_t)sizeof(mock_board));
    if (fd < 0) return NULL;
    mock_board *b = map(fd);
    close(fd);
    if (b == NULL) return NULL;
    errno = 0;
    if (b->magic == MAGIC && b->token[0] == key->token[0] && b->token[1] == key->token[1]) return b;
    mock_board_close(b);
    return NULL;
}

void mock_board_close(mock_board *b) {
    if (b != NULL) munmap(b, sizeof *b);
}

/* The first one says how many they are. */
static bool agree(mock_board *b, uint32_t ranks) {
    uint32_t there = 0;
    return atomic_compare_exchange_strong(&b->ranks, &there, ranks) || there == ranks;
}

int mock_board_sit(mock_board *b, uint32_t ranks, uint32_t rank, int *stage) {
    mock_seat *s = &b->seats[rank];
    uint32_t there = MOCK_SEAT_FREE;
    const uint64_t started = mock_process_start((int32_t)getpid());
    if (started == 0) return HCCL_E_MEMORY;
    if (!agree(b, ranks)) return HCCL_E_PARA;
    const int fd = memfd_create(STAGE_FILE, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return HCCL_E_MEMORY;
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0 ||
        !atomic_compare_exchange_strong(&s->state, &there, MOCK_SEAT_CLAIMED)) {
        close(fd);
        return HCCL_E_PARA;
    }
    s->pid = (int32_t)getpid();
    s->started = started;
    s->stage = *stage = fd;
    atomic_store(&s->state, MOCK_SEAT_TAKEN);
    return 0;
}

bool mock_board_all(const mock_board *b, uint32_t ranks, mock_seat_state least) {
    for (uint32_t r = 0; r < ranks; r++)
        if (atomic_load(&b->seats[r].state) < (uint32_t)least) return false;
    return true;
}

bool mock_seat_lost(const mock_seat *s) {
    const uint32_t state = atomic_load(&s->state);
    if (state == MOCK_SEAT_LEFT) return true;
    if (state < MOCK_SEAT_TAKEN || s->pid == (int32_t)getpid()) return false;
    return mock_process_gone(s->pid, s->started);
}

int mock_seat_open(const mock_seat *s) {
    return mock_process_file(s->pid, s->started, s->stage, STAGE_FILE, -1);
}

/* ---- stages ---- */

bool mock_stage_write(int fd, const void *from, uint64_t bytes, uint64_t at) {
    const char *p = from;
    while (bytes != 0) {
        const ssize_t n = pwrite(fd, p, bytes, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        at += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return true;
}

bool mock_stage_read(int fd, void *to, uint64_t bytes, uint64_t at) {
    char *p = to;
    while (bytes != 0) {
        const ssize_t n = pread(fd, p, bytes, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        at += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return true;
}

void mock_stage_forget(int fd, uint64_t at, uint64_t bytes) {
    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes);
}
