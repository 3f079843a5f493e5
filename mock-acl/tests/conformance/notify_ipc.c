/* Part of racl (mock-acl). Notifies between processes. */
#include <signal.h>
#include "conform.h"

#define KEY 65

static aclrtNotify new_notify(void) {
    aclrtNotify notify = NULL;
    OK(aclrtCreateNotify(&notify, 0));
    return notify;
}

static void export_open(aclrtNotify notify, char *key) {
    OK(aclrtNotifyGetExportKey(notify, key, KEY, ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
}

static void recording_peer(int socket) {
    char key[KEY], step = 0;
    aclrtNotify notify = NULL;
    up();
    receive_bytes(socket, key, KEY);
    OK(aclrtNotifyImportByKey(&notify, key, 0));
    send_bytes(socket, &step, 1);
    receive_bytes(socket, &step, 1);
    aclrtStream stream = new_stream();
    OK(aclrtRecordNotify(notify, stream));
    finish(stream);
    send_bytes(socket, &step, 1);
    receive_bytes(socket, &step, 1);
    OK(aclrtDestroyNotify(notify));
}

RULE(notify, another_process_records, "guide: aclrtNotifyGetExportKey") {
    peer p = start_peer(recording_peer);
    char key[KEY], step = 0;
    up();
    aclrtNotify notify = new_notify();
    aclrtStream stream = new_stream();
    export_open(notify, key);
    OK(aclrtWaitAndResetNotify(notify, stream, 0));
    send_bytes(p.socket, key, KEY);
    receive_bytes(p.socket, &step, 1);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), 507046);
    send_bytes(p.socket, &step, 1);
    finish(stream);
    receive_bytes(p.socket, &step, 1);
    /* The wait took the record away. */
    OK(aclrtWaitAndResetNotify(notify, stream, 0));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), 507046);
    OK(aclrtRecordNotify(notify, new_stream()));
    OK(aclrtSynchronizeDevice());
    send_bytes(p.socket, &step, 1);
    join_peer(p);
}

/* Waits in a replay. */
static void replaying_peer(int socket) {
    char key[KEY], step = 0;
    aclrtNotify notify = NULL;
    up();
    receive_bytes(socket, key, KEY);
    OK(aclrtNotifyImportByKey(&notify, key, ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS));
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 0, 64);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    OK(aclrtWaitAndResetNotify(notify, stream, 0));
    OK(aclrtMemsetAsync(memory, 64, 6, 64, stream));
    aclmdlRI graph = end(stream);
    for (int i = 0; i < 3; i++) {
        OK(aclmdlRIExecuteAsync(graph, stream));
        send_bytes(socket, &step, 1);
        finish(stream);
        TRUE(byte_at(memory) == 6);
        fill(memory, 0, 64);
    }
    OK(aclmdlRIDestroy(graph));
    OK(aclrtDestroyNotify(notify));
}

RULE(notify, a_replay_waits_for_another_process, "guide: aclrtNotifyGetExportKey") {
    peer p = start_peer(replaying_peer);
    char key[KEY], step = 0;
    up();
    aclrtNotify notify = new_notify();
    aclrtStream stream = new_stream();
    export_open(notify, key);
    send_bytes(p.socket, key, KEY);
    for (int i = 0; i < 3; i++) {
        receive_bytes(p.socket, &step, 1);
        OK(aclrtRecordNotify(notify, stream));
        finish(stream);
    }
    join_peer(p);
}

static void listed_peer(int socket) {
    char key[KEY];
    aclrtNotify notify = NULL;
    const int32_t pid = (int32_t)getpid();
    up();
    receive_bytes(socket, key, KEY);
    TRUE(aclrtNotifyImportByKey(&notify, key, 0) != 0);
    send_bytes(socket, &pid, sizeof pid);
    receive_bytes(socket, key, 1);
    receive_bytes(socket, key, KEY);
    EXPECT(aclrtNotifyImportByKey(&notify, key, 0), 0);
    OK(aclrtDestroyNotify(notify));
}

RULE(notify, only_listed_processes_import, "guide: aclrtNotifySetImportPid") {
    peer p = start_peer(listed_peer);
    char key[KEY];
    int32_t pid = 0;
    up();
    aclrtNotify notify = new_notify();
    OK(aclrtNotifyGetExportKey(notify, key, KEY, ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT));
    send_bytes(p.socket, key, KEY);
    receive_bytes(p.socket, &pid, sizeof pid);
    OK(aclrtNotifySetImportPid(notify, &pid, 1));
    send_bytes(p.socket, key, 1);
    send_bytes(p.socket, key, KEY);
    join_peer(p);
}

static void unlisted_peer(int socket) {
    char key[KEY];
    aclrtNotify notify = NULL;
    up();
    receive_bytes(socket, key, KEY);
    EXPECT(aclrtNotifyImportByKey(&notify, key, 0), 207006);
}

RULE_MOCK(notify, a_process_that_is_not_listed_has_no_permission, "own choice") {
    peer p = start_peer(unlisted_peer);
    char key[KEY];
    up();
    OK(aclrtNotifyGetExportKey(new_notify(), key, KEY, 0));
    send_bytes(p.socket, key, KEY);
    join_peer(p);
}

RULE(notify, a_process_imports_its_own, "implementation: tests of the open runtime") {
    up();
    char key[KEY];
    aclrtNotify notify = new_notify(), imported = NULL;
    aclrtStream a = new_stream(), b = new_stream();
    export_open(notify, key);
    OK(aclrtNotifyImportByKey(&imported, key, 0));
    OK(aclrtWaitAndResetNotify(notify, b, 0));
    OK(aclrtRecordNotify(imported, a));
    finish(a);
    finish(b);
    OK(aclrtDestroyNotify(imported));
    OK(aclrtDestroyNotify(notify));
}

RULE(notify, a_record_before_the_export_counts, "guide: aclrtNotifyGetExportKey") {
    up();
    char key[KEY];
    aclrtNotify notify = new_notify(), imported = NULL;
    aclrtStream a = new_stream();
    OK(aclrtRecordNotify(notify, a));
    finish(a);
    export_open(notify, key);
    OK(aclrtNotifyImportByKey(&imported, key, 0));
    OK(aclrtWaitAndResetNotify(imported, a, 0));
    finish(a);
}

RULE(notify, an_export_checks_its_arguments, "guide: aclrtNotifyGetExportKey") {
    up();
    char key[KEY];
    aclrtNotify notify = new_notify();
    EXPECT(aclrtNotifyGetExportKey(NULL, key, KEY, 0), 100000);
    EXPECT(aclrtNotifyGetExportKey(notify, NULL, KEY, 0), 100000);
    EXPECT(aclrtNotifyGetExportKey(notify, key, 64, 0), 107000);
    EXPECT(aclrtNotifyGetExportKey(notify, key, KEY, 1), 107000);
}

RULE(notify, an_import_checks_its_arguments, "guide: aclrtNotifyImportByKey") {
    up();
    char key[KEY];
    aclrtNotify imported = NULL;
    export_open(new_notify(), key);
    EXPECT(aclrtNotifyImportByKey(NULL, key, 0), 100000);
    EXPECT(aclrtNotifyImportByKey(&imported, NULL, 0), 100000);
    TRUE(aclrtNotifyImportByKey(&imported, key, 4) != 0);
}

RULE(notify, a_list_of_processes_is_checked, "guide: aclrtNotifySetImportPid") {
    up();
    char key[KEY];
    aclrtNotify notify = new_notify();
    int32_t pid = (int32_t)getpid();
    OK(aclrtNotifyGetExportKey(notify, key, KEY, 0));
    EXPECT(aclrtNotifySetImportPid(NULL, &pid, 1), 100000);
    EXPECT(aclrtNotifySetImportPid(notify, NULL, 1), 100000);
    EXPECT(aclrtNotifySetImportPid(notify, &pid, 0), 107000);
    EXPECT(aclrtNotifySetImportPid(notify, &pid, 1), 0);
}

RULE_MOCK(notify, a_list_is_for_exported_notifies, "own choice") {
    up();
    aclrtServerPid server;
    int32_t pid = (int32_t)getpid(), none = 0;
    char key[KEY];
    aclrtNotify notify = new_notify();
    EXPECT(aclrtNotifySetImportPid(notify, &pid, 1), 107000);
    OK(aclrtNotifyGetExportKey(notify, key, KEY, 0));
    EXPECT(aclrtNotifySetImportPid(notify, &none, 1), 107000);
    memset(&server, 0, sizeof server);
    EXPECT(aclrtNotifySetImportPidInterServer(notify, &server, 1), 107000);
    server.pid = &pid;
    server.num = 1;
    EXPECT(aclrtNotifySetImportPidInterServer(notify, &server, 1), 0);
    EXPECT(aclrtNotifySetImportPidInterServer(notify, NULL, 1), 107000);
}

RULE_MOCK(notify, a_forged_key_is_refused, "own choice") {
    up();
    char key[KEY], forged[KEY];
    aclrtNotify imported = NULL;
    export_open(new_notify(), key);
    EXPECT(aclrtNotifyImportByKey(&imported, "", 0), 107000);
    EXPECT(aclrtNotifyImportByKey(&imported, "mock", 0), 107000);
    for (int i = 0; i < KEY - 1; i++) {
        memcpy(forged, key, KEY);
        forged[i] = forged[i] == 'A' ? 'B' : 'A';
        if (!EITHER(aclrtNotifyImportByKey(&imported, forged, 0), 107000, 507899)) break;
    }
    EXPECT(aclrtNotifyImportByKey(&imported, key, 0), 0);
}

RULE_MOCK(notify, a_key_of_a_destroyed_notify_is_refused, "own choice") {
    up();
    char key[KEY];
    aclrtNotify notify = new_notify(), imported = NULL;
    export_open(notify, key);
    OK(aclrtDestroyNotify(notify));
    EXPECT(aclrtNotifyImportByKey(&imported, key, 0), 507899);
}

static void dying_peer(int socket) {
    char key[KEY], step = 0;
    up();
    export_open(new_notify(), key);
    send_bytes(socket, key, KEY);
    receive_bytes(socket, &step, 1);
    raise(SIGKILL);
}

RULE_MOCK(notify, a_wait_for_a_dead_process_ends, "own choice") {
    peer p = start_peer(dying_peer);
    char key[KEY], step = 0;
    aclrtNotify notify = NULL;
    up();
    aclrtStream stream = new_stream();
    receive_bytes(p.socket, key, KEY);
    OK(aclrtNotifyImportByKey(&notify, key, 0));
    OK(aclrtWaitAndResetNotify(notify, stream, 0));
    send_bytes(p.socket, &step, 1);
    EXPECT(aclrtSynchronizeStream(stream), 507022);
    EXPECT(aclrtNotifyImportByKey(&notify, key, 0), 507899);
}

RULE_MOCK(notify, a_time_out_beside_other_processes_is_real, "own choice") {
    up();
    char key[KEY];
    aclrtNotify notify = new_notify();
    aclrtStream stream = new_stream();
    export_open(notify, key);
    OK(aclrtWaitAndResetNotify(notify, stream, 1));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 200), 507046);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 5000), 107020);
}
