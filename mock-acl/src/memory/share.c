/* (own choice throughout: there is no driver in between) A key is checked against the card it names; nothing
 * in it is trusted. Files are opened only if their name says that a mock made them. The cards of a process
 * vanish with it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"
#include "memory/arena.h"
#include "memory/memory.h"
#include "memory/share.h"
#include "memory/space.h"

#define NAME "mock-acl-cards"
#define CARD_BYTES 4096u
#define SLOTS 4096u
#define MAGIC UINT64_C(0x6d6f636b63617264)
_Static_assert(sizeof(mock_card) <= CARD_BYTES, "a card has its own page");

/* Slot 0. */
typedef struct head {
    uint64_t magic;
    int64_t pid;
} head;

static char *cards;
static bool taken[SLOTS];

static mock_card *card_at(uint32_t slot) { return (mock_card *)(void *)(cards + (size_t)slot * CARD_BYTES); }

static bool make_cards(void) {
    if (cards != NULL) return true;
    const int file = memfd_create(NAME, MFD_CLOEXEC);
    if (file < 0) return false;
    void *p = MAP_FAILED;
    if (ftruncate(file, (off_t)SLOTS * CARD_BYTES) == 0)
        p =
            mmap(NULL, (size_t)SLOTS * CARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (p == MAP_FAILED) {
        close(file);
        return false;
    }
    cards = p;
    const head h = {MAGIC, getpid()};
    memcpy(cards, &h, sizeof h);
    return true; /* the file stays open: others find it */
}

static uint64_t random_number(void) {
    uint64_t n = 0;
    if (getrandom(&n, sizeof n, 0) != (ssize_t)sizeof n) n = (uint64_t)(uintptr_t)&n ^ MAGIC;
    return n;
}

static bool inode_of(int file, uint64_t *inode) {
    struct stat st;
    if (fstat(file, &st) != 0) return false;
    *inode = st.st_ino;
    return true;
}

uint32_t mock_share_open(const mock_offer *offer, aclError *code) {
    uint32_t slot = 0;
    uint64_t inode = 0;
    const bool good = make_cards() && inode_of(offer->file, &inode);
    for (uint32_t i = 1; i < SLOTS && slot == 0 && good; i++)
        if (!taken[i]) slot = i;
    *code = 0;
    if (slot == 0) {
        *code = mock_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "EE1013", "nothing more can be exported");
        return 0;
    }
    mock_card *c = card_at(slot);
    memset(c, 0, sizeof *c);
    c->kind = offer->kind;
    c->everybody = offer->everybody;
    c->device = offer->device;
    c->file = offer->file;
    c->offset = offer->offset;
    c->size = offer->size;
    c->inode = inode;
    c->prop = offer->prop;
    c->secret = random_number();
    c->more = random_number();
    taken[slot] = true;
    atomic_store(&c->live, 1);
    return slot;
}

void mock_share_close(uint32_t slot) {
    if (slot == 0 || !taken[slot]) return;
    taken[slot] = false;
    atomic_store(&card_at(slot)->live, 0);
}

static bool running(int32_t pid) { return pid == getpid() || kill(pid, 0) == 0 || errno == EPERM; }

bool mock_share_busy(uint32_t slot) {
    mock_card *c = card_at(slot);
    for (int i = 0; i < MOCK_SHARE_PEERS; i++) {
        const int32_t pid = atomic_load(&c->peers[i].pid);
        if (pid == 0) return false;
        if (atomic_load(&c->peers[i].opened) != 0 && running(pid)) return true;
    }
    return false;
}

mock_key mock_share_key(uint32_t slot) {
    const mock_card *c = card_at(slot);
    return (mock_key){(uint32_t)getpid(), slot, c->secret, c->more};
}

/* A key may carry a part of the secret only; `more` is then 0. */
static bool opens(const mock_card *c, const mock_key *key, mock_share_kind kind) {
    if (atomic_load(&c->live) == 0 || c->kind != (uint32_t)kind) return false;
    if (key->more == 0) return (c->secret & MOCK_SHORT_SECRET) == key->secret;
    return c->secret == key->secret && c->more == key->more;
}

mock_card *mock_share_own(const mock_key *key, mock_share_kind kind) {
    if (cards == NULL || key->pid != (uint32_t)getpid() || key->slot == 0 || key->slot >= SLOTS) return NULL;
    mock_card *c = card_at(key->slot);
    return opens(c, key, kind) ? c : NULL;
}

/* The place of a process that had the memory open and is gone. */
static bool left(const mock_card *c, const mock_peer *p, int32_t pid) {
    return (c->everybody != 0 || atomic_load(&p->opened) != 0) && !running(pid);
}

static mock_peer *take_over(mock_card *c, int32_t pid) {
    for (int i = 0; i < MOCK_SHARE_PEERS; i++) {
        mock_peer *p = &c->peers[i];
        int32_t there = atomic_load(&p->pid);
        if (!left(c, p, there) || !atomic_compare_exchange_strong(&p->pid, &there, pid)) continue;
        atomic_store(&p->allowed, 0);
        atomic_store(&p->opened, 0);
        return p;
    }
    return NULL;
}

/* The place of a process on a card: its own or, if it may be added, a new one, in the last resort that of a process
 * that is gone. Both sides add. */
static mock_peer *peer_of(mock_card *c, int32_t pid, bool add) {
    for (int i = 0; i < MOCK_SHARE_PEERS; i++) {
        int32_t there = atomic_load(&c->peers[i].pid);
        if (there == 0 && !add) return NULL;
        if (there == 0 && atomic_compare_exchange_strong(&c->peers[i].pid, &there, pid)) there = pid;
        if (there == pid) return &c->peers[i];
    }
    return add ? take_over(c, pid) : NULL;
}

aclError mock_share_allow(mock_card *card, const int32_t *pids, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (pids[i] <= 0) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "process %d", pids[i]);
        mock_peer *p = peer_of(card, pids[i], true);
        if (p == NULL) return mock_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "EE1013", "too many processes");
        atomic_store(&p->allowed, 1);
    }
    return 0;
}

/* ---- the other side ---- */

/* A file of another process, when its name is this one; -1 else. Nothing else is opened: that could block. */
static int open_of(uint32_t pid, const char *fd, const char *name) {
    char path[64], link[64];
    if (snprintf(path, sizeof path, "/proc/%u/fd/%s", pid, fd) >= (int)sizeof path) return -1;
    const ssize_t n = readlink(path, link, sizeof link - 1);
    if (n < 0) return -1;
    link[n] = '\0';
    if (strncmp(link, "/memfd:", 7) != 0 || strncmp(link + 7, name, strlen(name)) != 0) return -1;
    return open(path, O_RDWR | O_CLOEXEC);
}

static int find_cards(uint32_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/fd", pid);
    DIR *folder = opendir(path);
    int file = -1;
    for (const struct dirent *e; folder != NULL && file < 0 && (e = readdir(folder)) != NULL;)
        file = open_of(pid, e->d_name, NAME);
    if (folder != NULL) closedir(folder);
    return file;
}

static bool read_head(int file, head *h) {
    struct stat st;
    return fstat(file, &st) == 0 && st.st_size == (off_t)SLOTS * CARD_BYTES &&
           pread(file, h, sizeof *h, 0) == (ssize_t)sizeof *h && h->magic == MAGIC;
}

/* The card's page, mapped. */
static mock_card *map_card(const mock_key *key) {
    head h = {0, 0};
    if (key->pid == 0 || key->slot == 0 || key->slot >= SLOTS) return NULL;
    const int file = find_cards(key->pid);
    if (file < 0) return NULL;
    void *p = MAP_FAILED;
    if (read_head(file, &h) && h.pid == (int64_t)key->pid)
        p = mmap(NULL, CARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)key->slot * CARD_BYTES);
    close(file);
    return p == MAP_FAILED ? NULL : p;
}

static int open_data(const mock_key *key, const mock_card *c) {
    char fd[16];
    uint64_t inode = 0;
    struct stat st;
    snprintf(fd, sizeof fd, "%d", c->file);
    const int file = open_of(key->pid, fd, "mock-acl-device");
    if (file < 0) return -1;
    const bool same = inode_of(file, &inode) && inode == c->inode && fstat(file, &st) == 0;
    if (same && c->offset <= (uint64_t)st.st_size && c->size <= (uint64_t)st.st_size - c->offset) return file;
    close(file);
    return -1;
}

static aclError closed(mock_card *c, const char *why) {
    if (c != NULL) munmap(c, CARD_BYTES);
    return mock_fail(ACL_ERROR_RT_DRV_INTERNAL_ERROR, "EL9999", "the memory cannot be opened: %s", why);
}

aclError mock_share_attach(const mock_key *key, mock_share_kind kind, mock_card **card, int *file) {
    mock_card *c = map_card(key);
    if (c == NULL) return closed(c, "its process is gone, or never exported memory");
    if (!opens(c, key, kind)) return closed(c, "it is not exported under this key");
    mock_peer *p = peer_of(c, (int32_t)getpid(), c->everybody != 0);
    if (p == NULL && c->everybody != 0) return closed(c, "too many processes have it");
    if (p == NULL || (c->everybody == 0 && atomic_load(&p->allowed) == 0))
        return closed(c, "this process is not on its list");
    if (c->device < 0 || c->device > MOCK_HOST_SIDE) return closed(c, "it is on no device");
    *file = open_data(key, c);
    if (*file < 0) return closed(c, "its file is gone");
    atomic_fetch_add(&p->opened, 1);
    *card = c;
    return 0;
}

void mock_share_detach(mock_card *card, int file) {
    mock_peer *p = peer_of(card, (int32_t)getpid(), false);
    if (p != NULL && atomic_load(&p->opened) != 0) atomic_fetch_sub(&p->opened, 1);
    munmap(card, CARD_BYTES);
    if (file >= 0) close(file);
}

void mock_share_reset(void) {
    mock_space_lock();
    for (uint32_t i = 1; i < SLOTS; i++) mock_share_close(i);
    mock_space_unlock();
}
