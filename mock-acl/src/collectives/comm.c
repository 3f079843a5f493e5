/* Communicators: how ranks find each other, names, and what broke one. */
#define _GNU_SOURCE
#include "collectives/comm.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "collectives/collectives.h"
#include "collectives/rank_table.h"

#define SECOND UINT64_C(1000000000)
#define NAP_NS 200000L
#define NOT_A_MEMBER 0xFFFFFFFFu /* the id of a sub communicator for ranks that are not in it (guide: HCCL) */

typedef struct handle {
    mock_thing thing;
    mock_comm *comm;
} handle;

static void drop(void *thing) { mock_comm_unref(((handle *)thing)->comm); }
static const mock_thing_type type = {"communicator", drop};

HcclResult mock_hccl(HcclResult code, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mock_error_text(code == HCCL_E_NOT_SUPPORT ? "EI0001" : "EI0003", "%s", text);
    return code;
}

HcclResult mock_hccl_enter(mock_api api) { return mock_forked() ? HCCL_SUCCESS : (HcclResult)mock_enter(api); }

static HcclResult in_child(void) {
    if (!mock_forked()) return 0;
    return mock_hccl(HCCL_E_RUNTIME, "the parent of this process used the device before the fork");
}

/* The communicators of a parent are not the child's: it would leave in the parent's place. */
mock_comm *mock_comm_get(HcclComm handle_of, HcclResult *code) {
    *code = in_child();
    if (*code != 0) return NULL;
    if (handle_of == NULL) {
        *code = mock_hccl(HCCL_E_PTR, "comm must not be null");
        return NULL;
    }
    const handle *h = mock_thing_get(&type, handle_of);
    if (h == NULL) *code = mock_hccl(HCCL_E_PARA, "%p is not a live communicator", handle_of);
    return h == NULL ? NULL : h->comm;
}

/* ---- boards of root informations ---- */

typedef struct rooted {
    mock_board *board;
    int fd;
    struct rooted *next;
} rooted;
static pthread_mutex_t rooted_lock = PTHREAD_MUTEX_INITIALIZER;
static rooted *all_rooted;

static bool remember(mock_board *b, int fd) {
    rooted *r = malloc(sizeof *r);
    if (r == NULL) return false;
    pthread_mutex_lock(&rooted_lock);
    *r = (rooted){b, fd, all_rooted};
    all_rooted = r;
    pthread_mutex_unlock(&rooted_lock);
    return true;
}

/* Every rank has mapped it: nobody looks for its file any more. NULL: all of them. */
static void forget(const uint64_t *token) {
    pthread_mutex_lock(&rooted_lock);
    for (rooted **at = &all_rooted, *r = *at; r != NULL; r = *at) {
        if (token != NULL && memcmp(r->board->token, token, sizeof r->board->token) != 0) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        mock_board_close(r->board);
        close(r->fd);
        free(r);
    }
    pthread_mutex_unlock(&rooted_lock);
}

static HcclResult exhausted(void) {
    return mock_hccl(HCCL_E_MEMORY, "no memory or descriptors for a communicator");
}

/* After a call that tells it in errno. */
static bool is_exhausted(void) { return errno == EMFILE || errno == ENFILE || errno == ENOMEM; }

static HcclResult new_board(mock_board_key *key) {
    int fd = -1;
    mock_board *b = mock_board_new(&fd, key);
    if (b != NULL && remember(b, fd)) return 0;
    mock_board_close(b);
    if (fd >= 0) close(fd);
    return exhausted();
}

/* ---- sitting down ---- */

static HcclResult needs_device(void) {
    const HcclResult code = in_child();
    if (code != 0) return code;
    mock_lock();
    const bool there = mock_current_quiet() != NULL;
    mock_unlock();
    return there ? 0 : mock_hccl(HCCL_E_RUNTIME, "the thread has no device: aclrtSetDevice comes first");
}

/* What the reserved bytes begin with. */
typedef struct config_head {
    size_t size;
    uint32_t magic, version;
} config_head;

static config_head head_of(const HcclCommConfig *config) {
    config_head head = {0};
    if (config != NULL) memcpy(&head, config->reserved, sizeof head);
    return head;
}

/* Where the members of each version end; a version has those of the ones before. */
static size_t end_of(uint32_t version) {
    if (version <= 5) return offsetof(HcclCommConfig, hcclWorldRankID);
    if (version == 6) return offsetof(HcclCommConfig, aclGraphZeroCopyEnable);
    if (version == 7) return offsetof(HcclCommConfig, hcclExecTimeOut);
    if (version == 8) return offsetof(HcclCommConfig, hcclBufferName);
    return version == 9 ? offsetof(HcclCommConfig, hcclQos) : sizeof(HcclCommConfig);
}

/* The library copies as many bytes as the structure says, into one with nothing in it, and reads by the version. */
static HcclResult check_config(const HcclCommConfig *config) {
    const config_head head = head_of(config);
    if (config == NULL) return 0;
    if (head.magic != HCCL_COMM_CONFIG_MAGIC_WORD)
        return mock_hccl(HCCL_E_PARA, "config has no magic word: HcclCommConfigInit comes first");
    if (head.version == 0 || head.version > HCCL_COMM_CONFIG_VERSION)
        return mock_hccl(HCCL_E_NOT_SUPPORT, "config has version %u", head.version);
    if (head.size >= end_of(head.version) && head.size <= sizeof *config) return 0;
    return mock_hccl(HCCL_E_PARA, "config of version %u has %zu bytes, which goes up to %zu", head.version,
        head.size, end_of(head.version));
}

static void settings(mock_comm *c, const HcclCommConfig *config) {
    unsigned seconds = mock_config_number("HCCL_EXEC_TIMEOUT", 1836, 0, 17340);
    if (head_of(config).version >= 8 && config->hcclExecTimeOut >= 0)
        seconds = (unsigned)config->hcclExecTimeOut;
    c->limit_ns = seconds * SECOND;
    const bool named = config != NULL && config->hcclCommName[0] != '\0';
    if (named) snprintf(c->name, sizeof c->name, "%.*s", (int)sizeof c->name - 1, config->hcclCommName);
    else snprintf(c->name, sizeof c->name, "mock-acl-%016llx", (unsigned long long)c->board->token[0]);
}

/* Takes the board over, also on failure. */
static HcclResult sit(
    mock_board *b, uint32_t ranks, uint32_t rank, const HcclCommConfig *config, mock_comm **out) {
    mock_comm *c = calloc(1, sizeof *c);
    int stage = -1;
    const int code = c == NULL ? HCCL_E_MEMORY : mock_board_sit(b, ranks, rank, &stage);
    if (code != 0) {
        free(c);
        mock_board_close(b);
        if (code == HCCL_E_MEMORY) return exhausted();
        return mock_hccl((HcclResult)code,
            "rank %u of %u: taken already, or others say another number of ranks", rank, ranks);
    }
    atomic_store(&c->refs, 1);
    c->board = b;
    c->ranks = ranks;
    c->me = rank;
    for (uint32_t r = 0; r < MOCK_RANKS; r++) c->peers[r] = -1;
    c->peers[rank] = stage;
    settings(c, config);
    *out = c;
    return 0;
}

/* `host` is that of a rank table's rank 0, else NULL. */
static HcclResult meet(const mock_comm *c, mock_seat_state least, uint64_t until, const mock_host *host) {
    const struct timespec nap = {0, NAP_NS};
    while (!mock_board_all(c->board, c->ranks, least)) {
        if (host != NULL) mock_host_answer(host);
        for (uint32_t r = 0; r < c->ranks; r++)
            if (mock_seat_lost(&c->board->seats[r])) return mock_hccl(HCCL_E_REMOTE, "rank %u went away", r);
        if (mock_real_ns() > until)
            return mock_hccl(HCCL_E_TIMEOUT, "not all of %u ranks came within HCCL_CONNECT_TIMEOUT", c->ranks);
        nanosleep(&nap, NULL);
    }
    return 0;
}

static HcclResult open_peers(mock_comm *c) {
    for (uint32_t r = 0; r < c->ranks; r++) {
        if (r == c->me) continue;
        c->peers[r] = mock_seat_open(&c->board->seats[r]);
        if (c->peers[r] < 0) return mock_hccl(HCCL_E_REMOTE, "rank %u went away, or descriptors ran out", r);
    }
    return 0;
}

static uint64_t connect_end(void) {
    return mock_real_ns() + mock_config_number("HCCL_CONNECT_TIMEOUT", 120, 1, 7200) * SECOND;
}

static void ready(mock_comm *c) { atomic_store(&c->board->seats[c->me].state, MOCK_SEAT_READY); }

static HcclResult hand_out(mock_comm *c, HcclComm *out) {
    handle *h = mock_thing_new(&type, sizeof *h);
    if (h == NULL) return HCCL_E_MEMORY;
    h->comm = c;
    *out = h->thing.handle;
    mock_gave(*out);
    return 0;
}

/* The rest of what a rank does, while others do the same. */
static HcclResult join(mock_comm *c, mock_sub *own, const mock_host *host, HcclComm *out) {
    const uint64_t until = connect_end();
    HcclResult code = meet(c, MOCK_SEAT_TAKEN, until, host);
    if (own != NULL) atomic_store(&own->state, 0);
    if (code == 0) code = open_peers(c);
    if (code == 0) ready(c);
    if (code == 0) code = meet(c, MOCK_SEAT_READY, until, NULL);
    forget(c->board->token);
    if (code == 0) code = hand_out(c, out);
    if (code != 0) mock_comm_unref(c);
    return code;
}

void mock_comm_break(mock_comm *c, HcclResult error, const char *format, ...) {
    if (c->error != 0) return;
    c->error = error;
    va_list args;
    va_start(args, format);
    vsnprintf(c->why, sizeof c->why, format, args);
    va_end(args);
}

/* Queued operations hold on to it when the handle is gone. */
void mock_comm_unref(mock_comm *c) {
    if (atomic_fetch_sub(&c->refs, 1) != 1) return;
    atomic_store(&c->board->seats[c->me].state, MOCK_SEAT_LEFT);
    for (uint32_t r = 0; r < c->ranks; r++)
        if (c->peers[r] >= 0) close(c->peers[r]);
    mock_board_close(c->board);
    free(c);
}

/* ---- exported ---- */

MOCK_EXPORT HcclResult HcclGetRootInfo(HcclRootInfo *rootInfo) {
    HCCL_ENTER(HcclGetRootInfo);
    if (rootInfo == NULL) return mock_hccl(HCCL_E_PTR, "rootInfo must not be null");
    mock_board_key key;
    HcclResult code = needs_device();
    if (code == 0) code = new_board(&key);
    if (code != 0) return code;
    memset(rootInfo, 0, sizeof *rootInfo);
    memcpy(rootInfo->internal, &key, sizeof key);
    return 0;
}

static HcclResult check_rank(uint32_t ranks, uint32_t rank) {
    if (ranks == 0 || rank >= ranks) return mock_hccl(HCCL_E_PARA, "rank %u of %u", rank, ranks);
    if (ranks <= MOCK_RANKS) return 0;
    return mock_hccl(HCCL_E_NOT_SUPPORT, "%u ranks: mock-acl has up to %u", ranks, MOCK_RANKS);
}

static HcclResult init_root(
    uint32_t ranks, const HcclRootInfo *info, uint32_t rank, const HcclCommConfig *config, HcclComm *comm) {
    if (info == NULL || comm == NULL) return mock_hccl(HCCL_E_PTR, "rootInfo and comm must not be null");
    HcclResult code = check_rank(ranks, rank);
    if (code == 0) code = check_config(config);
    if (code == 0) code = needs_device();
    if (code != 0) return code;
    mock_board_key key;
    memcpy(&key, info->internal, sizeof key);
    mock_board *b = mock_board_open(&key);
    if (b == NULL && is_exhausted()) return exhausted();
    if (b == NULL) return mock_hccl(HCCL_E_PARA, "the root information is none, or its process is gone");
    mock_comm *c = NULL;
    code = sit(b, ranks, rank, config, &c);
    return code == 0 ? join(c, NULL, NULL, comm) : code;
}

/* Waits for all ranks (guide: HCCL, HcclCommInitRootInfo), as long as HCCL_CONNECT_TIMEOUT says. */
MOCK_EXPORT HcclResult HcclCommInitRootInfo(
    uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank, HcclComm *comm) {
    HCCL_ENTER(HcclCommInitRootInfo);
    return init_root(nRanks, rootInfo, rank, NULL, comm);
}

/* Of the configuration the name and the time-out have an effect (own choice). */
MOCK_EXPORT HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank,
    const HcclCommConfig *config, HcclComm *comm) {
    HCCL_ENTER(HcclCommInitRootInfoConfig);
    if (config == NULL) return mock_hccl(HCCL_E_PTR, "config must not be null");
    return init_root(nRanks, rootInfo, rank, config, comm);
}

/* The device of a rank table is the one of the machine, whatever is visible. */
static HcclResult check_table(const mock_rank_table *table, uint32_t rank) {
    int32_t user = -1, here = -1;
    if (rank >= table->ranks) return mock_hccl(HCCL_E_PARA, "rank %u: the rank table has %u", rank, table->ranks);
    if (aclrtGetDevice(&user) != 0 || aclrtGetPhyDevIdByUserDevId(user, &here) != 0) return HCCL_E_RUNTIME;
    if (here >= 0 && (uint32_t)here == table->devices[rank]) return 0;
    return mock_hccl(HCCL_E_PARA, "rank %u is device %u in the rank table, and the thread has device %d", rank,
        table->devices[rank], (int)here);
}

static HcclResult find_host(const mock_rank_table *table, uint64_t until, mock_board_key *key) {
    const struct timespec nap = {0, NAP_NS};
    while (!mock_host_ask(table, key)) {
        if (is_exhausted()) return exhausted();
        if (mock_real_ns() > until)
            return mock_hccl(HCCL_E_TIMEOUT, "rank 0 of the rank table did not come within HCCL_CONNECT_TIMEOUT");
        nanosleep(&nap, NULL);
    }
    return 0;
}

static HcclResult be_host(const mock_rank_table *table, mock_host *host, mock_board_key *key) {
    const HcclResult code = new_board(key);
    if (code != 0 || mock_host_open(host, table, key)) return code;
    const bool few = is_exhausted();
    forget(key->token);
    if (few) return exhausted();
    return mock_hccl(HCCL_E_PARA, "another rank 0 waits with the same rank table");
}

static HcclResult init_table(const char *path, uint32_t rank, const HcclCommConfig *config, HcclComm *comm) {
    if (path == NULL || comm == NULL) return mock_hccl(HCCL_E_PTR, "clusterInfo and comm must not be null");
    mock_rank_table table;
    mock_host host = {.socket = -1};
    mock_board_key key;
    HcclResult code = check_config(config);
    if (code == 0) code = needs_device();
    if (code == 0) code = mock_rank_table_read(path, &table);
    if (code == 0) code = check_table(&table, rank);
    if (code == 0) code = rank == 0 ? be_host(&table, &host, &key) : find_host(&table, connect_end(), &key);
    if (code != 0) return code;
    mock_board *b = mock_board_open(&key);
    mock_comm *c = NULL;
    if (b == NULL) code = is_exhausted() ? exhausted() : mock_hccl(HCCL_E_REMOTE, "rank 0 went away");
    else code = sit(b, table.ranks, rank, config, &c);
    if (code == 0) code = join(c, NULL, rank == 0 ? &host : NULL, comm);
    if (code != 0 && rank == 0) forget(key.token);
    mock_host_close(&host);
    return code;
}

/* `clusterInfo` is the path of a rank table (guide: HCCL). Waits for all ranks. */
MOCK_EXPORT HcclResult HcclCommInitClusterInfo(const char *clusterInfo, uint32_t rank, HcclComm *comm) {
    HCCL_ENTER(HcclCommInitClusterInfo);
    return init_table(clusterInfo, rank, NULL, comm);
}

MOCK_EXPORT HcclResult HcclCommInitClusterInfoConfig(
    const char *clusterInfo, uint32_t rank, HcclCommConfig *config, HcclComm *comm) {
    HCCL_ENTER(HcclCommInitClusterInfoConfig);
    if (config == NULL) return mock_hccl(HCCL_E_PTR, "config must not be null");
    return init_table(clusterInfo, rank, config, comm);
}

static HcclResult check_devices(uint32_t count, const int32_t *devices) {
    uint32_t there = 0;
    if (aclrtGetDeviceCount(&there) != 0) return HCCL_E_RUNTIME;
    for (uint32_t i = 0; i < count; i++) {
        if (devices[i] < 0 || (uint32_t)devices[i] >= there)
            return mock_hccl(HCCL_E_PARA, "there is no device %d", devices[i]);
        for (uint32_t j = 0; j < i; j++)
            if (devices[j] == devices[i]) return mock_hccl(HCCL_E_PARA, "device %d is named twice", devices[i]);
    }
    return 0;
}

/* One thread makes all ranks: none waits for another. */
static HcclResult sit_all(mock_comm **all, uint32_t count, const mock_board_key *key) {
    HcclResult code = 0;
    for (uint32_t r = 0; r < count && code == 0; r++) {
        mock_board *b = mock_board_open(key);
        code = b == NULL ? exhausted()
                         : sit(b, count, r, NULL, &all[r]);
    }
    for (uint32_t r = 0; r < count && code == 0; r++) {
        code = open_peers(all[r]);
        ready(all[r]);
    }
    return code;
}

MOCK_EXPORT HcclResult HcclCommInitAll(uint32_t ndev, int32_t *devices, HcclComm *comms) {
    HCCL_ENTER(HcclCommInitAll);
    if (devices == NULL || comms == NULL) return mock_hccl(HCCL_E_PTR, "devices and comms must not be null");
    HcclResult code = check_rank(ndev, 0);
    if (code == 0) code = check_devices(ndev, devices);
    mock_board_key key;
    if (code == 0) code = new_board(&key);
    if (code != 0) return code;
    mock_comm *all[MOCK_RANKS] = {NULL};
    HcclComm made[MOCK_RANKS] = {NULL};
    code = sit_all(all, ndev, &key);
    forget(key.token);
    for (uint32_t r = 0; r < ndev && code == 0; r++) {
        code = hand_out(all[r], &made[r]);
        if (code == 0) all[r] = NULL;
    }
    for (uint32_t r = 0; r < ndev && code != 0; r++) {
        if (all[r] != NULL) mock_comm_unref(all[r]);
        if (made[r] != NULL) HcclCommDestroy(made[r]);
    }
    if (code == 0) memcpy(comms, made, ndev * sizeof *comms);
    return code;
}

MOCK_EXPORT HcclResult HcclCommDestroy(HcclComm comm) {
    HCCL_ENTER(HcclCommDestroy);
    mock_given(comm);
    HcclResult code = 0;
    if (mock_comm_get(comm, &code) == NULL) return code;
    return mock_thing_destroy(&type, comm, "comm") == 0 ? 0 : HCCL_E_PARA;
}

/* ---- communicators of some ranks ---- */

/* Groups without a rank in common may use one id at the same time. */
static uint64_t name_of(uint64_t id, const uint32_t *ranks, uint32_t count) {
    uint64_t hash = id ^ UINT64_C(14695981039346656037);
    for (uint32_t i = 0; i < count; i++) hash = (hash ^ ranks[i]) * UINT64_C(1099511628211);
    return hash;
}

static mock_sub *post(mock_board *b, uint64_t name, const mock_board_key *key) {
    for (uint32_t i = 0; i < MOCK_SUBS; i++) {
        uint32_t there = 0;
        mock_sub *s = &b->subs[i];
        if (!atomic_compare_exchange_strong(&s->state, &there, 1)) continue;
        s->id = name;
        s->key = *key;
        atomic_store(&s->state, 2);
        return s;
    }
    return NULL;
}

/* The first rank of them posts the key to their board; NULL when it does not. */
static mock_board *find_posted(mock_board *b, uint64_t name, uint64_t until) {
    const struct timespec nap = {0, NAP_NS};
    for (;;) {
        for (uint32_t i = 0; i < MOCK_SUBS; i++) {
            mock_sub *s = &b->subs[i];
            if (atomic_load(&s->state) != 2 || s->id != name) continue;
            const mock_board_key key = s->key;
            mock_board *found = mock_board_open(&key);
            if (found != NULL) return found;
        }
        if (mock_real_ns() > until) return NULL;
        nanosleep(&nap, NULL);
    }
}

static HcclResult check_sub(const mock_comm *c, uint32_t count, const uint32_t *ranks, uint32_t rank) {
    if (count == 0 || count > c->ranks || rank >= count || ranks[rank] != c->me)
        return mock_hccl(HCCL_E_PARA, "rank %u is not rank %u of these %u", c->me, rank, count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j <= i; j++)
            if (ranks[i] >= c->ranks || (j != i && ranks[j] == ranks[i]))
                return mock_hccl(HCCL_E_PARA, "rank %u is not there, or named twice", ranks[i]);
    return 0;
}

static HcclResult create_sub(mock_comm *c, uint32_t count, const uint32_t *ranks, uint64_t id, uint32_t rank,
    const HcclCommConfig *config, HcclComm *out) {
    const uint64_t name = name_of(id, ranks, count);
    mock_board_key key;
    mock_sub *posted = NULL;
    mock_board *b = NULL;
    if (rank == 0) {
        const HcclResult code = new_board(&key);
        if (code != 0) return code;
        posted = post(c->board, name, &key);
        b = posted == NULL ? NULL : mock_board_open(&key);
    } else {
        b = find_posted(c->board, name, connect_end());
    }
    if (b == NULL) return mock_hccl(HCCL_E_TIMEOUT, "the first rank of the sub communicator did not come");
    mock_comm *sub = NULL;
    const HcclResult code = sit(b, count, rank, config, &sub);
    if (code == 0) return join(sub, posted, NULL, out);
    if (posted != NULL) atomic_store(&posted->state, 0);
    return code;
}

/* A rank that is not among them gives no ranks and the id 0xFFFFFFFF, and gets null (guide: HCCL,
 * HcclCreateSubCommConfig). */
MOCK_EXPORT HcclResult HcclCreateSubCommConfig(HcclComm *comm, uint32_t rankNum, uint32_t *rankIds,
    uint64_t subCommId, uint32_t subCommRankId, HcclCommConfig *config, HcclComm *subComm) {
    HCCL_ENTER(HcclCreateSubCommConfig);
    if (comm == NULL || subComm == NULL || config == NULL)
        return mock_hccl(HCCL_E_PTR, "comm, config and subComm must not be null");
    HcclResult code = 0;
    mock_comm *c = mock_comm_get(*comm, &code);
    if (c == NULL) return code;
    code = check_config(config);
    if (code != 0) return code;
    if (rankIds == NULL) {
        if (subCommId != NOT_A_MEMBER) return mock_hccl(HCCL_E_PTR, "rankIds must not be null");
        *subComm = NULL;
        return 0;
    }
    code = check_sub(c, rankNum, rankIds, subCommRankId);
    if (code != 0) return code;
    return create_sub(c, rankNum, rankIds, subCommId, subCommRankId, config, subComm);
}

/* ---- asking ---- */

MOCK_EXPORT HcclResult HcclGetCommName(HcclComm comm, char *commName) {
    HCCL_ENTER(HcclGetCommName);
    HcclResult code = 0;
    if (commName == NULL) return mock_hccl(HCCL_E_PTR, "commName must not be null");
    const mock_comm *c = mock_comm_get(comm, &code);
    if (c != NULL) memcpy(commName, c->name, sizeof c->name);
    return code;
}

MOCK_EXPORT HcclResult HcclGetRankSize(HcclComm comm, uint32_t *rankSize) {
    HCCL_ENTER(HcclGetRankSize);
    HcclResult code = 0;
    if (rankSize == NULL) return mock_hccl(HCCL_E_PTR, "rankSize must not be null");
    const mock_comm *c = mock_comm_get(comm, &code);
    if (c != NULL) *rankSize = c->ranks;
    return code;
}

MOCK_EXPORT HcclResult HcclGetRankId(HcclComm comm, uint32_t *rank) {
    HCCL_ENTER(HcclGetRankId);
    HcclResult code = 0;
    if (rank == NULL) return mock_hccl(HCCL_E_PTR, "rank must not be null");
    const mock_comm *c = mock_comm_get(comm, &code);
    if (c != NULL) *rank = c->me;
    return code;
}

/* What broke an operation on a stream; the error text has the words. */
MOCK_EXPORT HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult *asyncError) {
    HCCL_ENTER(HcclGetCommAsyncError);
    HcclResult code = 0;
    if (asyncError == NULL) return mock_hccl(HCCL_E_PTR, "asyncError must not be null");
    const mock_comm *c = mock_comm_get(comm, &code);
    if (c == NULL) return code;
    mock_lock();
    *asyncError = c->error;
    if (c->error != 0) mock_hccl(c->error, "%s", c->why);
    mock_unlock();
    return 0;
}

void mock_collectives_reset(void) {
    forget(NULL);
    mock_hccl_settings_reset();
}
