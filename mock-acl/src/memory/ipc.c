/* Blocks of device memory for other processes (guide: memory management, aclrtIpcMemGetExportKey).
 *
 * A key is text of 64 characters and a zero. Null arguments: 100000 where the outer layer looks, else 107000
 * (implementation of the open runtime); what cannot be opened 507899 (own choice: the driver answers there). */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/base.h"
#include "memory/arena.h"
#include "memory/memory.h"
#include "memory/share.h"
#include "memory/space.h"

#define KEY_BYTES 65u /* (guide: memory management, aclrtIpcMemGetExportKey) */
#define PAGE 4096u

/* What this process opened: one mapping a key, counted. */
typedef struct opened {
    struct opened *next;
    mock_key key;
    mock_card *card;
    mock_space *space;
    uint64_t count;
} opened;
static opened *imports;

static aclError wrong(const char *what) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s", what);
}

static void write_key(char *text, const mock_key *k) {
    snprintf(text, KEY_BYTES, "mock-acl-%08x-%04x-%016llx-%016llx-key", k->pid, k->slot,
        (unsigned long long)k->secret, (unsigned long long)k->more);
}

/* Only what write_key writes. The program promises a text; no more of it is read than a key has. */
static bool read_key(const char *text, mock_key *k) {
    char copy[KEY_BYTES], again[KEY_BYTES];
    const size_t n = strnlen(text, KEY_BYTES);
    if (n == KEY_BYTES) return false;
    memcpy(copy, text, n + 1);
    unsigned long long secret = 0, more = 0;
    if (sscanf(copy, "mock-acl-%8x-%4x-%16llx-%16llx-key", &k->pid, &k->slot, &secret, &more) != 4)
        return false;
    k->secret = secret;
    k->more = more;
    write_key(again, k);
    return more != 0 && strcmp(copy, again) == 0;
}

/* Memory of aclrtMalloc and its neighbours, within one block. Others, and a place for the key with less than
 * 65 bytes: 107000 (own choice). */
MOCK_EXPORT aclError aclrtIpcMemGetExportKey(
    void *devPtr, size_t size, char *key, size_t len, uint64_t flags) {
    MOCK_ENTER_OF(aclrtIpcMemGetExportKey, devPtr);
    if (devPtr == NULL || key == NULL) return mock_null("devPtr and key");
    if (size == 0 || len < KEY_BYTES) return wrong("the size is 0, or the key has less than 65 bytes");
    if ((flags & ~ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION) != 0)
        return wrong("unknown export flags");
    mock_offer offer = {.kind = MOCK_SHARE_BLOCK, .size = size, .everybody = flags != 0};
    mock_arena *a = mock_arena_around(devPtr, &offer.device);
    if (a == NULL || mock_arena_view(a, devPtr, size) == NULL)
        return wrong("not inside a block of device memory");
    offer.file = mock_arena_file(a, devPtr, &offer.offset);
    aclError code = 0;
    mock_space_lock();
    const uint32_t slot = mock_share_open(&offer, &code);
    if (slot != 0) {
        const mock_key k = mock_share_key(slot);
        memset(key, 0, len);
        write_key(key, &k);
    }
    mock_space_unlock();
    return code;
}

/* ---- settings of an own key ---- */

/* With the space lock. */
static mock_card *own_card(const char *key, aclError *code) {
    mock_key k;
    mock_card *c = read_key(key, &k) ? mock_share_own(&k, MOCK_SHARE_BLOCK) : NULL;
    *code = c == NULL ? wrong("not a key of this process") : 0;
    return c;
}

static aclError allow(const char *key, const int32_t *pids, size_t count) {
    aclError code = 0;
    mock_space_lock();
    mock_card *c = own_card(key, &code);
    if (code == 0) code = mock_share_allow(c, pids, count);
    mock_space_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtIpcMemSetImportPid(const char *key, int32_t *pid, size_t num) {
    MOCK_ENTER(aclrtIpcMemSetImportPid);
    if (key == NULL || pid == NULL) return mock_null("key and pid");
    return num == 0 ? wrong("no process") : allow(key, pid, num);
}

/* All servers are this one (own choice). */
MOCK_EXPORT aclError aclrtIpcMemImportPidInterServer(
    const char *key, aclrtServerPid *serverPids, size_t num) {
    MOCK_ENTER(aclrtIpcMemImportPidInterServer);
    if (key == NULL || serverPids == NULL || num == 0) return wrong("null or zero");
    for (size_t i = 0; i < num; i++)
        if (serverPids[i].pid == NULL || serverPids[i].num == 0) return wrong("a server without processes");
    aclError code = 0;
    for (size_t i = 0; i < num && code == 0; i++) code = allow(key, serverPids[i].pid, serverPids[i].num);
    return code;
}

/* Which link is used has no effect (own choice). */
MOCK_EXPORT aclError aclrtIpcMemSetAttr(const char *key, aclrtIpcMemAttrType type, uint64_t attr) {
    MOCK_ENTER(aclrtIpcMemSetAttr);
    if (key == NULL) return wrong("null");
    if (type != ACL_RT_IPC_MEM_ATTR_ACCESS_LINK || attr > ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH)
        return wrong("unknown attribute or link");
    aclError code = 0;
    mock_space_lock();
    own_card(key, &code);
    mock_space_unlock();
    return code;
}

/* ---- opening ---- */

static opened **find(const mock_key *k) {
    opened **at = &imports;
    while (*at != NULL && memcmp(&(*at)->key, k, sizeof *k) != 0) at = &(*at)->next;
    return at;
}

/* Whole pages; only the bytes that were exported are usable. */
static mock_space *map(const mock_card *c, int file, bool open) {
    const uint64_t first = c->offset % PAGE;
    const uint64_t bytes = (first + c->size + PAGE - 1) / PAGE * PAGE;
    mock_space *s = calloc(1, sizeof *s);
    if (s == NULL || !mock_space_reserve(s, NULL, bytes)) {
        free(s);
        return NULL;
    }
    const int both = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
    const bool good = mmap(s->view, bytes, both, flags, file, (off_t)(c->offset - first)) != MAP_FAILED;
    s->kind = MOCK_SPACE_IMPORT;
    s->first = first;
    s->size = c->size;
    s->device = c->device;
    s->open = open;
    if (good && mock_space_add(s)) return s;
    munmap(s->base, bytes);
    munmap(s->view, bytes);
    free(s);
    return NULL;
}

static aclError open_new(const mock_key *k, bool open, opened **out) {
    opened *o = calloc(1, sizeof *o);
    int file = -1;
    aclError code =
        o == NULL ? ACL_ERROR_RT_MEMORY_ALLOCATION : mock_share_attach(k, MOCK_SHARE_BLOCK, &o->card, &file);
    if (code == 0) {
        o->space = map(o->card, file, open);
        if (o->space == NULL) {
            mock_share_detach(o->card, -1);
            code = mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EL0004", "the memory cannot be mapped");
        }
        close(file);
    }
    if (code != 0) {
        free(o);
        return code;
    }
    o->key = *k;
    o->next = imports;
    imports = o;
    *out = o;
    return 0;
}

/* A key that is opened again gives the same address, and is closed as often (own choice). */
MOCK_EXPORT aclError aclrtIpcMemImportByKey(void **devPtr, const char *key, uint64_t flags) {
    MOCK_ENTER(aclrtIpcMemImportByKey);
    if (devPtr == NULL || key == NULL) return mock_null("devPtr and key");
    if ((flags & ~ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS) != 0) return wrong("unknown import flags");
    if (mock_current_device() < 0) return ACL_ERROR_RT_CONTEXT_NULL;
    mock_key k;
    memset(&k, 0, sizeof k);
    if (!read_key(key, &k)) return wrong("not a key");
    mock_space_bury();
    mock_space_lock();
    opened *o = *find(&k);
    aclError code = o != NULL ? 0 : open_new(&k, flags != 0, &o);
    if (code == 0) {
        o->count++;
        o->space->open = o->space->open || flags != 0;
        *devPtr = o->space->base + o->space->first;
        mock_gave(*devPtr);
    }
    mock_space_unlock();
    return code;
}

static void close_import(opened **at) {
    opened *o = *at;
    *at = o->next;
    mock_share_detach(o->card, -1);
    mock_space_drop(o->space);
    free(o);
}

/* On both sides; an importer before the exporter (guide: memory management, aclrtIpcMemClose). A process that
 * is both closes its import first (own choice). */
MOCK_EXPORT aclError aclrtIpcMemClose(const char *key) {
    MOCK_ENTER(aclrtIpcMemClose);
    if (key == NULL) return mock_null("key");
    mock_key k;
    memset(&k, 0, sizeof k);
    if (!read_key(key, &k)) return wrong("not a key");
    aclError code = 0;
    mock_space_lock();
    opened **at = find(&k);
    if (*at != NULL) {
        mock_given((*at)->space->base + (*at)->space->first);
        if (--(*at)->count == 0) close_import(at);
    } else if (mock_share_own(&k, MOCK_SHARE_BLOCK) != NULL) {
        mock_share_close(k.slot);
    } else {
        code = wrong("the key is not open");
    }
    mock_space_unlock();
    mock_space_bury();
    return code;
}

void mock_ipc_reset(void) {
    mock_space_lock();
    while (imports != NULL) close_import(&imports);
    mock_space_unlock();
    mock_space_bury();
}
