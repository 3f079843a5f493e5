/* Notifies between processes (guide: notify, aclrtNotifyGetExportKey and its neighbours). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "streams/notify.h"

/* The shortest room for a key (guide: aclrtNotifyGetExportKey). */
#define KEY_BYTES 65u
#define FORM "mock"

static aclError bad(const char *what) { return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s", what); }

/* As text: the form and 60 digits of base 64, from the 45 bytes that matter. */
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
typedef struct packed {
    uint64_t token[2], started;
    int32_t pid, fd;
    uint32_t kind;
    uint8_t check;
} packed;
#define PACKED_BYTES 45u

static uint8_t sum(const uint8_t *bytes) {
    uint8_t s = 0x5A;
    for (size_t i = 0; i + 1 < PACKED_BYTES; i++) s = (uint8_t)(s * 31u + bytes[i]);
    return s;
}

static void write_key(const mock_shared_key *key, char *out) {
    uint8_t b[PACKED_BYTES];
    memcpy(b, key->token, 16);
    memcpy(b + 16, &key->started, 8);
    memcpy(b + 24, &key->pid, 4);
    memcpy(b + 28, &key->fd, 4);
    memcpy(b + 32, &key->kind, 4);
    memset(b + 36, 0, 8);
    b[44] = sum(b);
    memcpy(out, FORM, 4);
    for (size_t i = 0; i < PACKED_BYTES; i += 3) {
        const uint32_t v = (uint32_t)b[i] << 16 | (uint32_t)b[i + 1] << 8 | b[i + 2];
        for (int d = 0; d < 4; d++) out[4 + i / 3 * 4 + (size_t)d] = digits[(v >> (18 - 6 * d)) & 63];
    }
    out[KEY_BYTES - 1] = '\0';
}

static bool read_key(const char *text, mock_shared_key *key) {
    uint8_t b[PACKED_BYTES];
    if (strnlen(text, KEY_BYTES) != KEY_BYTES - 1 || memcmp(text, FORM, 4) != 0) return false;
    for (size_t i = 0; i < PACKED_BYTES; i += 3) {
        uint32_t v = 0;
        for (size_t d = 0; d < 4; d++) {
            const char *at = strchr(digits, text[4 + i / 3 * 4 + d]);
            if (at == NULL) return false;
            v = v << 6 | (uint32_t)(at - digits);
        }
        b[i] = (uint8_t)(v >> 16);
        b[i + 1] = (uint8_t)(v >> 8);
        b[i + 2] = (uint8_t)v;
    }
    if (b[44] != sum(b)) return false;
    mock_shared_key own;
    memset(&own, 0, sizeof own);
    memcpy(own.token, b, 16);
    memcpy(&own.started, b + 16, 8);
    memcpy(&own.pid, b + 24, 4);
    memcpy(&own.fd, b + 28, 4);
    memcpy(&own.kind, b + 32, 4);
    *key = own;
    key->magic = mock_shared_magic();
    return true;
}

/* From now on the notify's state stands in the shared page. */
static aclError share(mock_notify *n) {
    if (n->shared != NULL) return 0;
    n->shared = mock_shared_new(MOCK_SHARED_NOTIFY);
    if (n->shared == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no memory to share");
    atomic_store(&n->shared->page->set, n->set);
    mock_wake_all(&n->waiters); /* they wait there as well */
    return 0;
}

/* Flags 0 and 2; the notify null, or its key: 100000, less room than 65 bytes: 107000 (guide:
 * aclrtNotifyGetExportKey; implementation of the open runtime). An imported one: 107000, one for the
 * device only: 207000 (own choice). */
MOCK_EXPORT aclError aclrtNotifyGetExportKey(aclrtNotify notify, char *key, size_t len, uint64_t flags) {
    MOCK_ENTER_OF(aclrtNotifyGetExportKey, notify);
    if (notify == NULL || key == NULL) return mock_null("notify and key");
    if (len < KEY_BYTES) return bad("a key needs 65 bytes");
    if ((flags & ~ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION) != 0) return bad("the flags are unknown");
    mock_lock();
    mock_notify *n = mock_handle_get(MOCK_NOTIFY, notify);
    aclError code = n == NULL ? mock_notify_stale(notify) : 0;
    if (code == 0 && n->device_only)
        code = mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "the notify is for the device only");
    if (code == 0) code = share(n);
    if (code == 0 && n->shared->fd < 0) code = bad("an imported notify has no key");
    if (code == 0) {
        mock_shared_key own;
        if (flags != 0) atomic_store(&n->shared->page->any_process, 1);
        mock_shared_export(n->shared, &own);
        write_key(&own, key);
    }
    mock_unlock();
    return code;
}

/* Adds to the list (own choice); not exported: 107000, more than 64: 207012 (own choice). */
static aclError allow(mock_notify *n, const int32_t *pids, size_t count) {
    if (n->shared == NULL || n->shared->fd < 0) return bad("the notify is not exported");
    mock_page *page = n->shared->page;
    for (size_t i = 0; i < count; i++)
        if (pids[i] <= 0) return bad("a process id is not above 0");
    for (size_t i = 0; i < count; i++) {
        bool placed = false;
        for (size_t k = 0; k < 64 && !placed; k++) {
            int32_t old = 0;
            placed = atomic_compare_exchange_strong(&page->allowed[k], &old, pids[i]) || old == pids[i];
        }
        if (!placed) return mock_fail(ACL_ERROR_RT_OVER_LIMIT, "EE1023", "more than 64 processes");
    }
    return 0;
}

/* No process at all: 107000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t *pid, size_t num) {
    MOCK_ENTER_OF(aclrtNotifySetImportPid, notify);
    if (notify == NULL || pid == NULL) return mock_null("notify and pid");
    if (num == 0 || num > INT32_MAX) return bad("the number of processes is 0 or too large");
    mock_lock();
    mock_notify *n = mock_handle_get(MOCK_NOTIFY, notify);
    const aclError code = n == NULL ? mock_notify_stale(notify) : allow(n, pid, num);
    mock_unlock();
    return code;
}

/* Processes by server: there is one server here, whatever its number (own choice). Null: 107000
 * (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtNotifySetImportPidInterServer(
    aclrtNotify notify, aclrtServerPid *serverPids, size_t num) {
    MOCK_ENTER_OF(aclrtNotifySetImportPidInterServer, notify);
    if (notify == NULL || serverPids == NULL || num == 0) return bad("a null argument");
    for (size_t i = 0; i < num; i++)
        if (serverPids[i].pid == NULL || serverPids[i].num == 0) return bad("a server has no processes");
    mock_lock();
    mock_notify *n = mock_handle_get(MOCK_NOTIFY, notify);
    aclError code = n == NULL ? mock_notify_stale(notify) : 0;
    for (size_t i = 0; i < num && code == 0; i++) code = allow(n, serverPids[i].pid, serverPids[i].num);
    mock_unlock();
    return code;
}

/* Flags 0 and 2 (guide: aclrtNotifyImportByKey); others 107000. */
MOCK_EXPORT aclError aclrtNotifyImportByKey(aclrtNotify *notify, const char *key, uint64_t flags) {
    MOCK_ENTER(aclrtNotifyImportByKey);
    if (notify == NULL || key == NULL) return mock_null("notify and key");
    if ((flags & ~ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS) != 0) return bad("the flags are unknown");
    mock_shared_key own;
    if (!read_key(key, &own)) return bad("the key is not one that was exported");
    mock_lock();
    mock_shared *shared = NULL;
    mock_notify *n = NULL;
    aclError code = mock_current() == NULL ? ACL_ERROR_RT_CONTEXT_NULL : 0;
    if (code == 0) code = mock_shared_import(&own, MOCK_SHARED_NOTIFY, &shared);
    if (code == 0) code = mock_notify_new(&n);
    if (code == 0) {
        n->shared = shared;
        *notify = n->handle;
        mock_gave(*notify);
    } else {
        mock_shared_unref(shared);
    }
    mock_unlock();
    return code;
}
