/* Part of racl (mock-acl). Keys of memory and notifies: lists that are full, processes that died
 * with something open, keys that were forged. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
#include "engine/engine.h"
#include "memory/memory.h"
#include "memory/share.h"

enum { KEY = 65 };

/* The number of a process that is dead. */
static int32_t dead_process(void) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    CHECK(child > 0 && waitpid(child, NULL, 0) == child);
    return (int32_t)child;
}

/* ---- lists ---- */

static void a_list_of_a_notify(void) {
    up();
    aclrtNotify n = NULL;
    char key[KEY], again[KEY];
    int32_t pids[65];
    OK(aclrtCreateNotify(&n, 0));
    for (int32_t i = 0; i < 65; i++) pids[i] = 1000 + i;
    CODE(aclrtNotifySetImportPid(n, pids, 1), 107000); /* not exported yet */
    OK(aclrtNotifyGetExportKey(n, key, KEY, 0));
    OK(aclrtNotifyGetExportKey(n, again, KEY, 0));
    CHECK(strcmp(key, again) == 0); /* the same object */
    OK(aclrtNotifySetImportPid(n, pids, 64));
    OK(aclrtNotifySetImportPid(n, pids, 64)); /* known already */
    CODE(aclrtNotifySetImportPid(n, &pids[64], 1), 207012);
    pids[3] = 0;
    CODE(aclrtNotifySetImportPid(n, pids, 64), 107000);
    CODE(aclrtNotifySetImportPid(n, pids, 0), 107000);
    CODE(aclrtNotifySetImportPid(n, pids, SIZE_MAX), 107000);
    aclrtServerPid server = {.pid = &pids[4], .num = 2};
    OK(aclrtNotifySetImportPidInterServer(n, &server, 1));
    server.num = 0;
    CODE(aclrtNotifySetImportPidInterServer(n, &server, 1), 107000);
    server = (aclrtServerPid){.pid = NULL, .num = 1};
    CODE(aclrtNotifySetImportPidInterServer(n, &server, 1), 107000);
    OK(aclrtDestroyNotify(n));
    CODE(aclrtNotifySetImportPid(n, &pids[4], 1), 107017);
    server = (aclrtServerPid){.pid = &pids[4], .num = 1};
    CODE(aclrtNotifySetImportPidInterServer(n, &server, 1), 107017);
    CODE(aclrtNotifyGetExportKey(n, key, KEY, 0), 107017);
    OK(aclrtCreateNotify(&n, ACL_NOTIFY_DEVICE_USE_ONLY));
    CHECK(aclrtNotifyGetExportKey(n, key, KEY, 0) != 0);
    OK(aclrtDestroyNotify(n));
}

/* A card has 256 places, and gives those of the dead away which had the memory open. */
static void a_list_of_memory(void) {
    up();
    char key[KEY];
    int32_t pids[MOCK_SHARE_PEERS + 1];
    OK(aclrtIpcMemGetExportKey(device(4096), 4096, key, KEY, 0));
    for (int32_t i = 0; i <= MOCK_SHARE_PEERS; i++) pids[i] = 100000000 + i; /* nobody has such numbers */
    OK(aclrtIpcMemSetImportPid(key, pids, MOCK_SHARE_PEERS));
    OK(aclrtIpcMemSetImportPid(key, pids, MOCK_SHARE_PEERS));
    CODE(aclrtIpcMemSetImportPid(key, &pids[MOCK_SHARE_PEERS], 1), 207005);
    uint32_t secret[2], slot = 0, pid = 0;
    CHECK(sscanf(key, "mock-acl-%8x-%4x-%8x%8x", &pid, &slot, &secret[0], &secret[1]) == 4);
    mock_space_lock();
    mock_key k = mock_share_key(slot);
    mock_card *card = mock_share_own(&k, MOCK_SHARE_BLOCK);
    CHECK(card != NULL && !mock_share_busy(slot)); /* nobody opened it */
    card->peers[200].opened = 1;
    CHECK(!mock_share_busy(slot)); /* its process is not there */
    mock_space_unlock();
    OK(aclrtIpcMemSetImportPid(key, &pids[MOCK_SHARE_PEERS], 1));
    mock_space_lock();
    CHECK(card->peers[200].pid == pids[MOCK_SHARE_PEERS] && card->peers[200].opened == 0);
    card->peers[7].pid = (int32_t)getppid();
    card->peers[7].opened = 1;
    CHECK(mock_share_busy(slot));
    mock_space_unlock();
    pids[0] = -1;
    CODE(aclrtIpcMemSetImportPid(key, pids, 1), 107000);
    OK(aclrtIpcMemClose(key));
    CODE(aclrtIpcMemSetImportPid(key, &pids[1], 1), 107000);
}

/* ---- keys that nobody made ---- */

static void forged(void) {
    up();
    char key[KEY], bad[KEY];
    void *memory = device(4096), *there = NULL;
    aclrtNotify n = NULL, other = NULL;
    OK(aclrtIpcMemGetExportKey(memory, 4096, key, KEY, ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    /* Every place of the key with another digit: none opens it. */
    for (size_t i = 0; i < strlen(key); i++) {
        memcpy(bad, key, KEY);
        bad[i] = bad[i] == '1' ? '2' : '1';
        const int code = (int)aclrtIpcMemImportByKey(&there, bad, 0);
        CHECK(code == 107000 || code == 507899);
        if (code == 507899) CODE(aclrtIpcMemClose(bad), 107000);
    }
    OK(aclrtIpcMemImportByKey(&there, key, 0));
    CODE(aclrtIpcMemImportByKey(&there, key, 2), 107000);
    OK(aclrtIpcMemClose(key));
    OK(aclrtIpcMemClose(key));
    CODE(aclrtIpcMemClose(key), 107000);
    OK(aclrtCreateNotify(&n, 0));
    OK(aclrtNotifyGetExportKey(n, key, KEY, ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    for (size_t i = 0; i < strlen(key); i++) {
        memcpy(bad, key, KEY);
        bad[i] = bad[i] == '1' ? '2' : '1';
        const int code = (int)aclrtNotifyImportByKey(&other, bad, 0);
        CHECK(code == 107000 || code == 507899 || code == 0); /* of this process the number alone may do */
        if (code == 0) OK(aclrtDestroyNotify(other));
    }
    OK(aclrtNotifyImportByKey(&other, key, 0));
    CHECK(aclrtNotifyGetExportKey(other, bad, KEY, 0) != 0); /* an imported one has no key */
    int32_t pid = 5;
    CODE(aclrtNotifySetImportPid(other, &pid, 1), 107000);
    OK(aclrtDestroyNotify(other));
    OK(aclrtDestroyNotify(n));
    OK(aclrtFree(memory));
}

/* What another process may have written into the page. */
static void pages_of_others(void) {
    up();
    mock_shared_key key, changed;
    mock_shared *own = mock_shared_new(MOCK_SHARED_EVENT), *opened = NULL;
    mock_shared_export(own, &key);
    changed = key;
    changed.token[1] ^= 1;
    CODE(mock_shared_import(&changed, MOCK_SHARED_EVENT, &opened), 507899);
    CHECK(mock_shared_import(&key, MOCK_SHARED_NOTIFY, &opened) != 0);
    changed = key;
    changed.started ^= 1; /* a former process with this number */
    CODE(mock_shared_import(&changed, MOCK_SHARED_EVENT, &opened), 507899);
    changed = key;
    changed.pid = dead_process();
    CODE(mock_shared_import(&changed, MOCK_SHARED_EVENT, &opened), 507899);
    changed = key;
    changed.fd = 1; /* no page */
    CODE(mock_shared_import(&changed, MOCK_SHARED_EVENT, &opened), 507899);
    own->page->magic ^= 1;
    CODE(mock_shared_import(&key, MOCK_SHARED_EVENT, &opened), 507899);
    own->page->magic ^= 1;
    own->page->pid ^= 1;
    CODE(mock_shared_import(&key, MOCK_SHARED_EVENT, &opened), 507899);
    own->page->pid ^= 1;
    /* all places are taken by processes that live: it works, and is not counted */
    for (uint32_t i = 1; i < MOCK_MEMBERS; i++) {
        own->page->members[i].pid = (int32_t)getppid();
        own->page->members[i].started = 0;
    }
    OK(mock_shared_import(&key, MOCK_SHARED_EVENT, &opened));
    CHECK(opened->member == -1);
    CHECK(!mock_shared_lost(opened));
    mock_shared_unref(opened);
    /* a dead one ends a wait, unless another one lives */
    for (uint32_t i = 1; i < MOCK_MEMBERS; i++) own->page->members[i].pid = 0;
    own->page->members[5].pid = dead_process();
    own->page->members[5].started = 1;
    CHECK(mock_shared_lost(own) && mock_shared_lost(own));
    mock_shared_unref(own);
}

int main(void) {
    a_list_of_a_notify();
    a_list_of_memory();
    forged();
    pages_of_others();
    CHECK(mock_acl_reset() == 0);
    return 0;
}
