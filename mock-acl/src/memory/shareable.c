/* Physical memory for other processes (guide: memory management, aclrtMemExportToShareableHandle and its V2).
 *
 * A handle of 64 bits holds process, card and a part of the secret; a fabric handle has 128 bytes for them.
 * Both kinds reach processes of the same host and user only (own choice). Null, zero and reserved arguments:
 * 100000 (implementation of the open runtime); other bad ones 107000, what cannot be opened 507899 (own
 * choice: the driver answers there). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "devices/devices.h"
#include "memory/arena.h"
#include "memory/memory.h"
#include "memory/share.h"
#include "memory/space.h"

#define FABRIC UINT64_C(0x636972626166636d)
#define PID_BITS 22
#define SLOT_BITS 12
#define SECRET_BITS 30

static aclError wrong(const char *what, int value) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s %d", what, value);
}

static uint64_t pack(const mock_key *k) {
    return ((uint64_t)k->pid << (SLOT_BITS + SECRET_BITS)) | ((uint64_t)k->slot << SECRET_BITS) |
           (k->secret & MOCK_SHORT_SECRET);
}

static mock_key unpack(uint64_t n) {
    const uint32_t slot = (uint32_t)(n >> SECRET_BITS) & ((1u << SLOT_BITS) - 1);
    return (mock_key){(uint32_t)(n >> (SLOT_BITS + SECRET_BITS)), slot, n & MOCK_SHORT_SECRET, 0};
}

typedef struct fabric {
    uint64_t magic;
    mock_key key;
    uint8_t rest[128 - sizeof(uint64_t) - sizeof(mock_key)];
} fabric;
_Static_assert(sizeof(fabric) == sizeof(aclrtMemFabricHandle), "a fabric handle");

/* The key in a handle of either kind. */
static aclError read_handle(const void *handle, aclrtMemSharedHandleType type, mock_key *key) {
    if (type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT) {
        uint64_t n = 0;
        memcpy(&n, handle, sizeof n);
        *key = unpack(n);
        return 0;
    }
    if (type != ACL_MEM_SHARE_HANDLE_TYPE_FABRIC) return wrong("type of a shareable handle", (int)type);
    fabric f;
    memcpy(&f, handle, sizeof f);
    *key = f.magic == FABRIC && f.key.more != 0 ? f.key : (mock_key){0, 0, 0, 0};
    return 0;
}

/* Once for all: a second export gives the same handle (own choice). */
static aclError export(mock_physical *m, uint64_t flags, mock_key *key) {
    aclError code = 0;
    if (m->imported) return wrong("imported memory cannot be exported, device", m->device);
    if (m->slot == 0) {
        const mock_offer offer = {
            MOCK_SHARE_PHYSICAL, m->device, m->file, m->offset, m->size, flags != 0, m->prop};
        m->slot = mock_share_open(&offer, &code);
    }
    if (code != 0) return code;
    *key = mock_share_key(m->slot);
    if (flags != 0) mock_share_own(key, MOCK_SHARE_PHYSICAL)->everybody = 1;
    return 0;
}

static aclError export_handle(aclrtDrvMemHandle handle, uint64_t flags, mock_key *key) {
    if ((flags & ~ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION) != 0)
        return wrong("export flags", (int)flags);
    aclError code = 0;
    mock_space_lock();
    mock_physical *m = mock_physical_find(handle, &code);
    if (code == 0) code = export(m, flags, key);
    mock_space_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtMemExportToShareableHandle(
    aclrtDrvMemHandle handle, aclrtMemHandleType handleType, uint64_t flags, uint64_t *shareableHandle) {
    MOCK_ENTER_OF(aclrtMemExportToShareableHandle, handle);
    if (handle == NULL || shareableHandle == NULL) return mock_null("handle and shareableHandle");
    if (handleType != ACL_MEM_HANDLE_TYPE_NONE)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "handle type %d", (int)handleType);
    mock_key key;
    const aclError code = export_handle(handle, flags, &key);
    if (code == 0) *shareableHandle = pack(&key);
    return code;
}

MOCK_EXPORT aclError aclrtMemExportToShareableHandleV2(
    aclrtDrvMemHandle handle, uint64_t flags, aclrtMemSharedHandleType shareType, void *shareableHandle) {
    MOCK_ENTER_OF(aclrtMemExportToShareableHandleV2, handle);
    if (handle == NULL || shareableHandle == NULL) return mock_null("handle and shareableHandle");
    if (shareType != ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT && shareType != ACL_MEM_SHARE_HANDLE_TYPE_FABRIC)
        return wrong("type of a shareable handle", (int)shareType);
    mock_key key;
    const aclError code = export_handle(handle, flags, &key);
    if (code != 0) return code;
    const uint64_t n = pack(&key);
    const fabric f = {.magic = FABRIC, .key = key};
    if (shareType == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT) memcpy(shareableHandle, &n, sizeof n);
    else memcpy(shareableHandle, &f, sizeof f);
    return 0;
}

/* ---- the list ---- */

static aclError allow(const mock_key *key, const int32_t *pids, size_t count) {
    mock_space_lock();
    mock_card *c = mock_share_own(key, MOCK_SHARE_PHYSICAL);
    aclError code = 0;
    if (c == NULL) code = wrong("not a handle that this process exported, card", (int)key->slot);
    else code = mock_share_allow(c, pids, count);
    mock_space_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t *pid, size_t pidNum) {
    MOCK_ENTER(aclrtMemSetPidToShareableHandle);
    if (pid == NULL || pidNum == 0) return mock_null("pid and pidNum");
    const mock_key key = unpack(shareableHandle);
    return allow(&key, pid, pidNum);
}

MOCK_EXPORT aclError aclrtMemSetPidToShareableHandleV2(
    void *shareableHandle, aclrtMemSharedHandleType shareType, int32_t *pid, size_t pidNum) {
    MOCK_ENTER(aclrtMemSetPidToShareableHandleV2);
    if (shareableHandle == NULL || pid == NULL || pidNum == 0)
        return mock_null("shareableHandle, pid and pidNum");
    mock_key key;
    const aclError code = read_handle(shareableHandle, shareType, &key);
    return code != 0 ? code : allow(&key, pid, pidNum);
}

/* ---- import ---- */

static aclError import(const mock_key *key, aclrtDrvMemHandle *handle) {
    mock_physical *m = calloc(1, sizeof *m);
    if (m == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    mock_card *card = NULL;
    mock_space_lock();
    aclError code = mock_share_attach(key, MOCK_SHARE_PHYSICAL, &card, &m->file);
    if (code == 0) {
        m->imported = true;
        m->card = card;
        m->size = card->size;
        m->offset = card->offset;
        m->device = card->device;
        m->prop = card->prop;
        code = mock_physical_hold(m, handle);
        if (code != 0) mock_share_detach(card, m->file);
    }
    mock_space_unlock();
    if (code != 0) free(m);
    return code;
}

/* The device that will use it only has to exist (own choice). */
MOCK_EXPORT aclError aclrtMemImportFromShareableHandle(
    uint64_t shareableHandle, int32_t deviceId, aclrtDrvMemHandle *handle) {
    MOCK_ENTER(aclrtMemImportFromShareableHandle);
    if (handle == NULL) return mock_null("handle");
    const aclError code = mock_device_check(deviceId);
    const mock_key key = unpack(shareableHandle);
    return code != 0 ? code : import(&key, handle);
}

MOCK_EXPORT aclError aclrtMemImportFromShareableHandleV2(
    void *shareableHandle, aclrtMemSharedHandleType shareType, uint64_t flags, aclrtDrvMemHandle *handle) {
    MOCK_ENTER(aclrtMemImportFromShareableHandleV2);
    if (shareableHandle == NULL || handle == NULL) return mock_null("shareableHandle and handle");
    if (flags != 0) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "flags %zu", (size_t)flags);
    if (mock_current_device() < 0) return ACL_ERROR_RT_CONTEXT_NULL;
    mock_key key;
    const aclError code = read_handle(shareableHandle, shareType, &key);
    return code != 0 ? code : import(&key, handle);
}
