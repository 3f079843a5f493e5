/* Part of racl (mock-acl). Memory of one process in another: keys of plain allocations, shareable handles of physical
 * memory (guide: memory management, aclrtIpcMemGetExportKey, aclrtMemExportToShareableHandle). */
#include "conform.h"

#define KEY 65

static const size_t grain = (size_t)2 << 20; /* a multiple of every granularity but that of 1 GiB pages */

/* The number that lists of processes want; getpid() where no virtual machine is in between. */
static int32_t own_pid(void) {
    int32_t pid = (int32_t)getpid();
    aclrtDeviceGetBareTgid(&pid);
    return pid;
}

/* ---- keys ---- */

/* The other process: tells its id, gets a key and flags, opens the memory, changes it, and closes it. */
typedef struct order {
    char key[KEY];
    uint64_t flags;
    int expected;
} order;

static void open_by_key(int socket) {
    up();
    const int32_t self = own_pid();
    send_bytes(socket, &self, sizeof self);
    order o;
    receive_bytes(socket, &o, sizeof o);
    void *p = NULL;
    EXPECT(aclrtIpcMemImportByKey(&p, o.key, o.flags), o.expected);
    if (o.expected == 0) {
        TRUE(byte_at(p) == 1 && byte_at((char *)p + 999) == 1);
        fill(p, 2, 1000);
        EXPECT(aclrtIpcMemClose(o.key), 0);
    }
    char done = 1;
    send_bytes(socket, &done, 1);
    receive_bytes(socket, &done, 1);
}

static void wait_and_end(peer p) {
    char done = 0;
    receive_bytes(p.socket, &done, 1);
    send_bytes(p.socket, &done, 1);
    join_peer(p);
}

RULE(share, a_key_for_everybody, "guide: aclrtIpcMemGetExportKey") {
    peer p = start_peer(open_by_key);
    up();
    int32_t other = 0;
    receive_bytes(p.socket, &other, sizeof other);
    void *memory = device(1000);
    fill(memory, 1, 1000);
    order o;
    memset(&o, 0, sizeof o);
    OK(aclrtIpcMemGetExportKey(memory, 1000, o.key, KEY, ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    send_bytes(p.socket, &o, sizeof o);
    wait_and_end(p);
    TRUE(byte_at(memory) == 2 && byte_at((char *)memory + 999) == 2);
    EXPECT(aclrtIpcMemClose(o.key), 0);
    EXPECT(aclrtFree(memory), 0);
}

RULE(share, a_key_for_a_list_of_processes, "guide: aclrtIpcMemSetImportPid") {
    peer p = start_peer(open_by_key);
    up();
    int32_t other = 0;
    receive_bytes(p.socket, &other, sizeof other);
    void *memory = device(1000);
    fill(memory, 1, 1000);
    order o;
    memset(&o, 0, sizeof o);
    o.flags = ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS;
    OK(aclrtIpcMemGetExportKey(memory, 1000, o.key, KEY, ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT));
    OK(aclrtIpcMemSetImportPid(o.key, &other, 1));
    send_bytes(p.socket, &o, sizeof o);
    wait_and_end(p);
    TRUE(byte_at(memory) == 2);
    EXPECT(aclrtIpcMemClose(o.key), 0);
}

RULE_MOCK(share, a_process_that_is_not_on_the_list, "guide: aclrtIpcMemSetImportPid; own choice of the code") {
    peer p = start_peer(open_by_key);
    up();
    int32_t other = 0;
    receive_bytes(p.socket, &other, sizeof other);
    order o;
    memset(&o, 0, sizeof o);
    o.expected = 507899;
    OK(aclrtIpcMemGetExportKey(device(1000), 1000, o.key, KEY, ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT));
    send_bytes(p.socket, &o, sizeof o);
    wait_and_end(p);
}

RULE_MOCK(share, a_key_that_was_closed, "own choice of the code") {
    peer p = start_peer(open_by_key);
    up();
    int32_t other = 0;
    receive_bytes(p.socket, &other, sizeof other);
    order o;
    memset(&o, 0, sizeof o);
    o.expected = 507899;
    OK(aclrtIpcMemGetExportKey(device(1000), 1000, o.key, KEY, ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    OK(aclrtIpcMemClose(o.key));
    send_bytes(p.socket, &o, sizeof o);
    wait_and_end(p);
}

static void export_and_die(int socket) {
    up();
    char key[KEY];
    OK(aclrtIpcMemGetExportKey(device(64), 64, key, KEY, ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    send_bytes(socket, key, KEY);
}

RULE_MOCK(share, a_key_of_a_process_that_is_gone, "own choice of the code") {
    peer p = start_peer(export_and_die);
    up();
    char key[KEY];
    receive_bytes(p.socket, key, KEY);
    join_peer(p);
    void *memory = NULL;
    EXPECT(aclrtIpcMemImportByKey(&memory, key, 0), 507899);
    EXPECT(aclrtIpcMemClose(key), 107000);
}

static void export_and_wait(int socket) {
    up();
    char key[KEY], go = 0;
    void *memory = device(1000);
    fill(memory, 1, 1000);
    OK(aclrtIpcMemGetExportKey(memory, 1000, key, KEY, ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    send_bytes(socket, key, KEY);
    receive_bytes(socket, &go, 1);
}

RULE(share, imported_memory_is_device_memory, "guide: aclrtIpcMemImportByKey") {
    peer p = start_peer(export_and_wait);
    up();
    char key[KEY], go = 1;
    receive_bytes(p.socket, key, KEY);
    void *memory = NULL;
    OK(aclrtIpcMemImportByKey(&memory, key, ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT));
    aclrtPtrAttributes attributes;
    OK(aclrtPointerGetAttributes(memory, &attributes));
    TRUE(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE);
    aclrtStream stream = new_stream();
    void *here = device(1000);
    OK(aclrtMemcpyAsync(here, 1000, memory, 1000, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    finish(stream);
    TRUE(byte_at((char *)here + 999) == 1);
    EXPECT(aclrtIpcMemClose(key), 0);
    send_bytes(p.socket, &go, 1);
    join_peer(p);
}

RULE_MOCK(share, imported_memory_ends_where_the_export_does, "own choice of the code") {
    peer p = start_peer(export_and_wait);
    up();
    char key[KEY], go = 1;
    receive_bytes(p.socket, key, KEY);
    void *memory = NULL;
    OK(aclrtIpcMemImportByKey(&memory, key, 0));
    EXPECT(aclrtMemset((char *)memory + 1, 1000, 0, 1000), 107000);
    EXPECT(aclrtFree(memory), 107000);
    OK(aclrtIpcMemClose(key));
    EXPECT(aclrtMemset(memory, 1, 0, 1), 107000);
    send_bytes(p.socket, &go, 1);
    join_peer(p);
}

RULE(share, keys_need_their_arguments, "implementation: aclrtIpcMemGetExportKey and its neighbours") {
    up();
    char key[KEY] = {0};
    void *p = device(64);
    int32_t pid = 1;
    EXPECT(aclrtIpcMemGetExportKey(NULL, 64, key, KEY, 0), 100000);
    EXPECT(aclrtIpcMemGetExportKey(p, 64, NULL, KEY, 0), 100000);
    EXPECT(aclrtIpcMemImportByKey(NULL, key, 0), 100000);
    EXPECT(aclrtIpcMemImportByKey(&p, NULL, 0), 100000);
    EXPECT(aclrtIpcMemClose(NULL), 100000);
    EXPECT(aclrtIpcMemSetImportPid(NULL, &pid, 1), 100000);
    EXPECT(aclrtIpcMemSetImportPid(key, NULL, 1), 100000);
}

RULE_MOCK(share, keys_that_are_none, "own choice of the code") {
    up();
    char key[KEY];
    void *p = NULL;
    int32_t pid = 1;
    OK(aclrtIpcMemGetExportKey(device(64), 64, key, KEY, 1));
    EXPECT(aclrtIpcMemImportByKey(&p, "", 0), 107000);
    EXPECT(aclrtIpcMemImportByKey(&p, "nonsense", 0), 107000);
    EXPECT(aclrtIpcMemImportByKey(&p, key, 2), 107000);
    EXPECT(aclrtIpcMemSetImportPid("nonsense", &pid, 1), 107000);
    EXPECT(aclrtIpcMemSetImportPid(key, &pid, 0), 107000);
    EXPECT(aclrtIpcMemSetAttr("nonsense", ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, 0), 107000);
    EXPECT(aclrtIpcMemClose("nonsense"), 107000);
    for (int i = 0; i < KEY - 1 && key[i] != 0; i++) {
        char forged[KEY];
        memcpy(forged, key, KEY);
        forged[i] = (char)(forged[i] == 'a' ? 'b' : 'a');
        TRUE(aclrtIpcMemImportByKey(&p, forged, 0) != 0);
    }
}

RULE_MOCK(share, what_cannot_be_exported, "guide: aclrtIpcMemGetExportKey; own choice of the code") {
    up();
    char key[KEY];
    void *p = device(64);
    EXPECT(aclrtIpcMemGetExportKey(p, 0, key, KEY, 0), 107000);
    EXPECT(aclrtIpcMemGetExportKey(p, 65, key, KEY, 0), 107000);
    EXPECT(aclrtIpcMemGetExportKey(p, 64, key, KEY - 1, 0), 107000);
    EXPECT(aclrtIpcMemGetExportKey(p, 64, key, KEY, 8), 107000);
    EXPECT(aclrtIpcMemGetExportKey(pinned(64), 64, key, KEY, 0), 107000);
}

RULE(share, links_of_a_key, "guide: aclrtIpcMemSetAttr") {
    up();
    char key[KEY];
    OK(aclrtIpcMemGetExportKey(device(64), 64, key, KEY, 1));
    EXPECT(aclrtIpcMemSetAttr(key, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO), 0);
    EXPECT(aclrtIpcMemSetAttr(NULL, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, 0), 107000);
}

RULE_MOCK(share, processes_of_other_servers, "guide: aclrtIpcMemImportPidInterServer; own choice: all are this one") {
    peer p = start_peer(open_by_key);
    up();
    int32_t other = 0;
    receive_bytes(p.socket, &other, sizeof other);
    void *memory = device(1000);
    fill(memory, 1, 1000);
    order o;
    memset(&o, 0, sizeof o);
    OK(aclrtIpcMemGetExportKey(memory, 1000, o.key, KEY, ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT));
    aclrtServerPid server;
    memset(&server, 0, sizeof server);
    server.pid = &other;
    EXPECT(aclrtIpcMemImportPidInterServer(NULL, &server, 1), 107000);
    EXPECT(aclrtIpcMemImportPidInterServer(o.key, NULL, 1), 107000);
    EXPECT(aclrtIpcMemImportPidInterServer(o.key, &server, 1), 107000); /* no process */
    server.num = 1;
    OK(aclrtIpcMemImportPidInterServer(o.key, &server, 1));
    send_bytes(p.socket, &o, sizeof o);
    wait_and_end(p);
    TRUE(byte_at(memory) == 2);
}

/* ---- shareable handles ---- */

static aclrtDrvMemHandle physical(void) {
    aclrtPhysicalMemProp p;
    memset(&p, 0, sizeof p);
    p.memAttr = ACL_HBM_MEM_HUGE;
    p.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    aclrtDrvMemHandle handle = NULL;
    OK(aclrtMallocPhysical(&handle, grain, &p, 0));
    return handle;
}

static char *map(aclrtDrvMemHandle handle) {
    void *address = NULL;
    OK(aclrtReserveMemAddress(&address, grain, 0, NULL, 0));
    OK(aclrtMapMem(address, grain, 0, handle, 0));
    return (char *)address;
}

typedef struct handles {
    uint64_t number;
    aclrtMemFabricHandle fabric;
    int kind, expected; /* 0: the first interface, else the type of the second */
} handles;

static void open_by_handle(int socket) {
    up();
    const int32_t self = own_pid();
    send_bytes(socket, &self, sizeof self);
    handles h;
    receive_bytes(socket, &h, sizeof h);
    aclrtDrvMemHandle memory = NULL;
    void *what = h.kind == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC ? (void *)&h.fabric : (void *)&h.number;
    if (h.kind == 0) EXPECT(aclrtMemImportFromShareableHandle(h.number, 0, &memory), h.expected);
    else EXPECT(aclrtMemImportFromShareableHandleV2(what, (aclrtMemSharedHandleType)h.kind, 0, &memory), h.expected);
    if (memory != NULL) {
        char *p = map(memory);
        TRUE(byte_at(p) == 1 && byte_at(p + grain - 1) == 1);
        fill(p, 2, grain);
        EXPECT(aclrtUnmapMem(p), 0);
        EXPECT(aclrtFreePhysical(memory), 0);
        EXPECT(aclrtReleaseMemAddress(p), 0);
    }
    char done = 1;
    send_bytes(socket, &done, 1);
    receive_bytes(socket, &done, 1);
}

static void share(int kind, int with_list, int expected) {
    peer p = start_peer(open_by_handle);
    up();
    int32_t other = 0;
    receive_bytes(p.socket, &other, sizeof other);
    aclrtDrvMemHandle memory = physical();
    char *address = map(memory);
    fill(address, 1, grain);
    handles h;
    memset(&h, 0, sizeof h);
    h.kind = kind;
    h.expected = expected;
    void *what = kind == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC ? (void *)&h.fabric : (void *)&h.number;
    const uint64_t flags = with_list ? ACL_RT_VMM_EXPORT_FLAG_DEFAULT : ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION;
    if (kind == 0) OK(aclrtMemExportToShareableHandle(memory, ACL_MEM_HANDLE_TYPE_NONE, flags, &h.number));
    else OK(aclrtMemExportToShareableHandleV2(memory, flags, (aclrtMemSharedHandleType)kind, what));
    if (with_list && expected == 0) {
        if (kind == 0) OK(aclrtMemSetPidToShareableHandle(h.number, &other, 1));
        else OK(aclrtMemSetPidToShareableHandleV2(what, (aclrtMemSharedHandleType)kind, &other, 1));
    }
    send_bytes(p.socket, &h, sizeof h);
    wait_and_end(p);
    TRUE(byte_at(address + grain - 1) == (expected == 0 ? 2 : 1));
}

RULE(share, a_handle_for_everybody, "guide: aclrtMemExportToShareableHandle") { share(0, 0, 0); }
RULE(share, a_handle_for_a_list, "guide: aclrtMemSetPidToShareableHandle") { share(0, 1, 0); }
RULE(share, a_handle_of_the_second_kind, "guide: aclrtMemExportToShareableHandleV2") {
    share(ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 1, 0);
}
RULE_MOCK(share, a_fabric_handle, "guide: aclrtMemExportToShareableHandleV2; own choice: on one host") {
    share(ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 1, 0);
}
RULE_MOCK(share, a_handle_for_others, "guide: aclrtMemSetPidToShareableHandle; own choice of the code") {
    share(0, 1, 507899);
}
RULE_MOCK(share, a_fabric_handle_for_others, "own choice of the code") {
    share(ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 1, 507899);
}

static void import_and_keep(int socket) {
    up();
    uint64_t number = 0;
    char go = 1;
    receive_bytes(socket, &number, sizeof number);
    aclrtDrvMemHandle memory = NULL;
    OK(aclrtMemImportFromShareableHandle(number, 0, &memory));
    char *p = map(memory);
    send_bytes(socket, &go, 1);
    receive_bytes(socket, &go, 1); /* the exporter freed the memory */
    TRUE(byte_at(p + 7) == 1);
}

RULE(share, imported_memory_outlives_the_exporters_handle, "guide: aclrtFreePhysical") {
    peer p = start_peer(import_and_keep);
    up();
    aclrtDrvMemHandle memory = physical();
    char *address = map(memory), go = 0;
    fill(address, 1, grain);
    uint64_t number = 0;
    OK(aclrtMemExportToShareableHandle(
        memory, ACL_MEM_HANDLE_TYPE_NONE, ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION, &number));
    send_bytes(p.socket, &number, sizeof number);
    receive_bytes(p.socket, &go, 1);
    OK(aclrtUnmapMem(address));
    OK(aclrtFreePhysical(memory));
    for (int i = 0; i < 4; i++) fill(map(physical()), 7, grain);
    send_bytes(p.socket, &go, 1);
    join_peer(p);
}

RULE(share, handles_need_their_arguments, "implementation: aclrtMemExportToShareableHandle and its neighbours") {
    up();
    aclrtDrvMemHandle memory = physical(), in = NULL;
    uint64_t number = 0;
    int32_t pid = 1;
    EXPECT(aclrtMemExportToShareableHandle(NULL, ACL_MEM_HANDLE_TYPE_NONE, 0, &number), 100000);
    EXPECT(aclrtMemExportToShareableHandle(memory, ACL_MEM_HANDLE_TYPE_NONE, 0, NULL), 100000);
    EXPECT(aclrtMemExportToShareableHandle(memory, ACL_MEM_HANDLE_TYPE_POSIX, 0, &number), 100000);
    EXPECT(aclrtMemExportToShareableHandleV2(memory, 0, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, NULL), 100000);
    EXPECT(aclrtMemImportFromShareableHandle(1, 0, NULL), 100000);
    EXPECT(aclrtMemImportFromShareableHandleV2(NULL, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0, &in), 100000);
    EXPECT(aclrtMemImportFromShareableHandleV2(&number, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 1, &in), 100000);
    EXPECT(aclrtMemSetPidToShareableHandle(1, NULL, 1), 100000);
    EXPECT(aclrtMemSetPidToShareableHandle(1, &pid, 0), 100000);
}

RULE_MOCK(share, forged_handles, "own choice of the code") {
    up();
    aclrtDrvMemHandle memory = physical(), in = NULL;
    uint64_t number = 0;
    int32_t pid = 1;
    OK(aclrtMemExportToShareableHandle(memory, ACL_MEM_HANDLE_TYPE_NONE, 1, &number));
    for (int bit = 0; bit < 64; bit++)
        EXPECT(aclrtMemImportFromShareableHandle(number ^ ((uint64_t)1 << bit), 0, &in), 507899);
    EXPECT(aclrtMemImportFromShareableHandle(0, 0, &in), 507899);
    EXPECT(aclrtMemSetPidToShareableHandle(number + 1, &pid, 1), 107000);
    EXPECT(aclrtMemImportFromShareableHandle(number, 99, &in), 107001);
    EXPECT(aclrtMemExportToShareableHandle(memory, ACL_MEM_HANDLE_TYPE_NONE, 2, &number), 107000);
    EXPECT(aclrtMemExportToShareableHandleV2(memory, 0, (aclrtMemSharedHandleType)7, &number), 107000);
}

RULE_MOCK(share, own_and_imported_memory_in_a_range, "guide: aclrtMapMem; own choice of the code") {
    up();
    aclrtDrvMemHandle memory = physical(), in = NULL;
    uint64_t number = 0;
    void *p = NULL;
    OK(aclrtMemExportToShareableHandle(memory, ACL_MEM_HANDLE_TYPE_NONE, 1, &number));
    OK(aclrtMemImportFromShareableHandle(number, 0, &in));
    OK(aclrtReserveMemAddress(&p, 2 * grain, 0, NULL, 0));
    OK(aclrtMapMem(p, grain, 0, memory, 0));
    EXPECT(aclrtMapMem((char *)p + grain, grain, 0, in, 0), 107000);
    EXPECT(aclrtMemExportToShareableHandle(in, ACL_MEM_HANDLE_TYPE_NONE, 1, &number), 107000);
}
