/* Rank tables, and how the ranks of one meet (own choice): rank 0 listens at a name without a file, made of the user and
 * the text of the table, until all have come. */
#define _GNU_SOURCE
#include "collectives/rank_table.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/base.h"
#include "collectives/comm.h"

#define LARGEST (1u << 20) /* own choice */

/* ---- the file ---- */

static HcclResult bad(const char *path, const char *why) {
    return mock_hccl(HCCL_E_PARA, "rank table %s: %s", path, why);
}

/* "12" in quotes or without. */
static bool number(mock_json value, uint32_t *out) {
    const mock_json text = mock_json_characters(value);
    uint64_t n = 0;
    if (text.at == NULL || text.length == 0 || text.length > 9) return false;
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] < '0' || text.at[i] > '9') return false;
        n = 10 * n + (uint64_t)(text.at[i] - '0');
    }
    *out = (uint32_t)n;
    return true;
}

static HcclResult read_devices(const char *path, mock_json list, mock_rank_table *out) {
    bool named[MOCK_RANKS] = {false};
    for (mock_json d = mock_json_first(list); d.at != NULL; d = mock_json_after(list, d)) {
        uint32_t device = 0, rank = 0;
        if (!number(mock_json_member(d, "device_id"), &device) || !number(mock_json_member(d, "rank_id"), &rank))
            return bad(path, "a device has no device_id or no rank_id that is a number");
        if (rank >= MOCK_RANKS)
            return mock_hccl(
                HCCL_E_NOT_SUPPORT, "rank table %s: rank %u: mock-acl has up to %u", path, rank, MOCK_RANKS);
        if (named[rank]) return bad(path, "a rank_id stands there twice");
        named[rank] = true;
        out->devices[rank] = device;
        out->ranks++;
    }
    if (out->ranks == 0) return bad(path, "its server has no device");
    for (uint32_t i = 0; i < out->ranks; i++) {
        if (!named[i]) return bad(path, "the rank_ids do not count up from 0");
        for (uint32_t j = 0; j < i; j++)
            if (out->devices[i] == out->devices[j]) return bad(path, "a device_id stands there twice");
    }
    return 0;
}

static HcclResult read_table(const char *path, mock_json root, mock_rank_table *out) {
    if (mock_json_kind(root) != '{') return bad(path, "no JSON object");
    if (!mock_json_is(mock_json_member(root, "status"), "completed"))
        return bad(path, "its status is not \"completed\"");
    const mock_json version = mock_json_member(root, "version"), servers = mock_json_member(root, "server_list");
    if (!mock_json_is(version, "1.0") && !mock_json_is(version, "1.2"))
        return mock_hccl(HCCL_E_NOT_SUPPORT, "rank table %s: only version \"1.0\" and \"1.2\" are supported", path);
    const mock_json server = mock_json_first(servers);
    if (server.at == NULL) return bad(path, "no server_list");
    uint32_t count = 1;
    const mock_json counted = mock_json_member(root, "server_count");
    if (counted.at != NULL && !number(counted, &count)) return bad(path, "its server_count is no number");
    if (mock_json_after(servers, server).at != NULL || count != 1)
        return mock_hccl(HCCL_E_NOT_SUPPORT, "rank table %s: mock-acl has ranks on one server only", path);
    return read_devices(path, mock_json_member(server, "device"), out);
}

static uint64_t digest_of(const char *text, size_t length) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return hash;
}

HcclResult mock_rank_table_read(const char *path, mock_rank_table *out) {
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return mock_hccl(HCCL_E_OPEN_FILE_FAILURE, "rank table %s is no file", path);
    FILE *f = fopen(path, "rb");
    if (f == NULL) return mock_hccl(HCCL_E_OPEN_FILE_FAILURE, "rank table %s: %s", path, strerror(errno));
    char *text = malloc(LARGEST + 1);
    const size_t length = text == NULL ? 0 : fread(text, 1, LARGEST + 1, f);
    const bool failed = ferror(f) != 0;
    fclose(f);
    memset(out, 0, sizeof *out);
    HcclResult code;
    if (text == NULL) code = mock_hccl(HCCL_E_MEMORY, "no memory for a rank table");
    else if (failed) code = mock_hccl(HCCL_E_OPEN_FILE_FAILURE, "rank table %s cannot be read", path);
    else if (length > LARGEST) code = bad(path, "larger than 1 MiB");
    else code = read_table(path, mock_json_parse(text, length), out);
    if (code == 0) out->digest = digest_of(text, length);
    free(text);
    return code;
}

/* ---- meeting ---- */

/* A name of the abstract kind: no file, and gone with the process. */
static socklen_t name_of(const mock_rank_table *table, struct sockaddr_un *name) {
    memset(name, 0, sizeof *name);
    name->sun_family = AF_UNIX;
    const int n = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "mock-acl-rank-table-%u-%016llx",
        (unsigned)getuid(), (unsigned long long)table->digest);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static bool of_this_user(int fd) {
    struct ucred who;
    socklen_t size = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == getuid();
}

bool mock_host_open(mock_host *h, const mock_rank_table *table, const mock_board_key *key) {
    struct sockaddr_un name;
    const socklen_t size = name_of(table, &name);
    h->key = *key;
    h->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (h->socket < 0) return false;
    const struct sockaddr *there = (const struct sockaddr *)&name;
    if (bind(h->socket, there, size) == 0 && listen(h->socket, MOCK_RANKS) == 0) return true;
    mock_host_close(h);
    return false;
}

void mock_host_answer(const mock_host *h) {
    for (;;) {
        const int fd = accept4(h->socket, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) return;
        if (of_this_user(fd)) (void)!send(fd, &h->key, sizeof h->key, MSG_NOSIGNAL | MSG_DONTWAIT);
        close(fd);
    }
}

void mock_host_close(mock_host *h) {
    if (h->socket >= 0) close(h->socket);
    h->socket = -1;
}

/* Rank 0 answers before long once it is there: it looks five times in a millisecond, or its process ends. */
bool mock_host_ask(const mock_rank_table *table, mock_board_key *key) {
    struct sockaddr_un name;
    const socklen_t size = name_of(table, &name);
    errno = 0;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    const struct timeval limit = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    const bool there = connect(fd, (const struct sockaddr *)&name, size) == 0 && of_this_user(fd) &&
                       recv(fd, key, sizeof *key, MSG_WAITALL) == (ssize_t)sizeof *key;
    close(fd);
    return there;
}
