/* Saving a process: its states, their callbacks and codes. Nothing has to be copied, because a process
 * can only be restored before it runs on (own choice); calls of other threads are not blocked while it is
 * locked (own choice: a program of one thread would never get on).
 *
 * (guide: snapshots; implementation of the open runtime) */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "contexts/context.h"
#include "contexts/contexts.h"
#include "devices/devices.h"

#define STAGES (ACL_RT_SNAPSHOT_UNLOCK_POST + 1)
#define CALLBACKS 64 /* of a stage; own choice, more give 507913 */

typedef struct callback {
    aclrtSnapShotCallBack function;
    void *args;
} callback;

typedef struct stage_list {
    callback at[CALLBACKS];
    size_t count;
} stage_list;

typedef enum state { RUNNING, LOCKED, BACKED_UP } state;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static stage_list stages[STAGES];
static state now;

void mock_snapshot_reset(void) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < STAGES; i++) stages[i].count = 0;
    now = RUNNING;
    pthread_mutex_unlock(&lock);
}

/* ---- callbacks ---- */

static aclError check(aclrtSnapShotStage stage, aclrtSnapShotCallBack function) {
    if ((int)stage >= 0 && (int)stage < STAGES && function != NULL) return 0;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "stage %d, or no callback", (int)stage);
}

static size_t find(const stage_list *l, aclrtSnapShotCallBack function) {
    size_t i = 0;
    while (i < l->count && l->at[i].function != function) i++;
    return i;
}

/* The same one again: 507913. */
MOCK_EXPORT aclError aclrtSnapShotCallbackRegister(
    aclrtSnapShotStage stage, aclrtSnapShotCallBack function, void *args) {
    MOCK_ENTER(aclrtSnapShotCallbackRegister);
    const aclError code = check(stage, function);
    if (code != 0) return code;
    pthread_mutex_lock(&lock);
    stage_list *l = &stages[stage];
    const bool room = l->count < CALLBACKS && find(l, function) == l->count;
    if (room) l->at[l->count++] = (callback){function, args};
    pthread_mutex_unlock(&lock);
    if (room) return 0;
    return mock_fail(ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED, "EE9999", "registered before, or too many");
}

/* Not registered: 107000. */
MOCK_EXPORT aclError aclrtSnapShotCallbackUnregister(
    aclrtSnapShotStage stage, aclrtSnapShotCallBack function) {
    MOCK_ENTER(aclrtSnapShotCallbackUnregister);
    const aclError code = check(stage, function);
    if (code != 0) return code;
    pthread_mutex_lock(&lock);
    stage_list *l = &stages[stage];
    const size_t i = find(l, function);
    const bool found = i < l->count;
    if (found) memmove(&l->at[i], &l->at[i + 1], (--l->count - i) * sizeof l->at[0]);
    pthread_mutex_unlock(&lock);
    return found ? 0 : mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the callback is not registered");
}

/* Each callback once for each device that is set; the first that fails ends it with 507912. */
static aclError call_stage(aclrtSnapShotStage stage) {
    pthread_mutex_lock(&lock);
    const stage_list l = stages[stage];
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < l.count; i++)
        for (int32_t d = 0; d < (int32_t)mock_device_count(); d++) {
            if (!mock_device_open(d)) continue;
            const uint32_t got = l.at[i].function(d, l.at[i].args);
            if (got != 0)
                return mock_fail(
                    ACL_ERROR_SNAPSHOT_CALLBACK_FAILED, "EE9999", "a callback of device %d gave %u", d, got);
        }
    return 0;
}

/* ---- states ---- */

/* Another process, and arguments that are reserved: 100000. */
static aclError check_call(int pid, const void *reserved) {
    if (pid != (int)getpid()) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0009", "process %d", pid);
    return reserved == NULL ? 0 : mock_fail(ACL_ERROR_INVALID_PARAM, "EH0012", "arguments are reserved");
}

static aclError wrong_state(aclError code) {
    return mock_fail(code, "EE9999", "the process is %s",
        now == RUNNING ? "running"
        : now == LOCKED ? "locked"
                        : "backed up");
}

/* To `to` from `from`, or from `other`. */
static aclError move(state from, state other, state to, aclError failure) {
    pthread_mutex_lock(&lock);
    const bool right = now == from || now == other;
    const aclError code = right ? 0 : wrong_state(failure);
    if (right) now = to;
    pthread_mutex_unlock(&lock);
    return code;
}

/* The callbacks come first, and are called whatever the state is. */
MOCK_EXPORT aclError aclrtSnapShotProcessLock(int pid, void *reserve) {
    MOCK_ENTER(aclrtSnapShotProcessLock);
    aclError code = check_call(pid, reserve);
    if (code == 0) code = call_stage(ACL_RT_SNAPSHOT_LOCK_PRE);
    return code != 0 ? code : move(RUNNING, RUNNING, LOCKED, ACL_ERROR_SNAPSHOT_LOCK_FAILED);
}

/* It runs on before the callbacks, and also when one fails. */
MOCK_EXPORT aclError aclrtSnapShotProcessUnlock(int pid, void *reserve) {
    MOCK_ENTER(aclrtSnapShotProcessUnlock);
    aclError code = check_call(pid, reserve);
    if (code == 0) code = move(LOCKED, BACKED_UP, RUNNING, ACL_ERROR_SNAPSHOT_UNLOCK_FAILED);
    return code != 0 ? code : call_stage(ACL_RT_SNAPSHOT_UNLOCK_POST);
}

/* A callback that fails leaves the state as it is. */
static aclError save(
    state from, state to, aclrtSnapShotStage before, aclrtSnapShotStage after, aclError failure) {
    aclError code = move(from, from, from, failure);
    if (code == 0) code = call_stage(before);
    if (code == 0) code = call_stage(after);
    return code != 0 ? code : move(from, from, to, failure);
}

MOCK_EXPORT aclError aclrtSnapShotProcessBackup(int pid, aclrtSnapShotBackupArgs *args) {
    MOCK_ENTER(aclrtSnapShotProcessBackup);
    const aclError code = check_call(pid, args);
    if (code != 0) return code;
    return save(LOCKED, BACKED_UP, ACL_RT_SNAPSHOT_BACKUP_PRE, ACL_RT_SNAPSHOT_BACKUP_POST,
        ACL_ERROR_SNAPSHOT_BACKUP_FAILED);
}

MOCK_EXPORT aclError aclrtSnapShotProcessRestore(int pid, aclrtSnapShotRestoreArgs *args) {
    MOCK_ENTER(aclrtSnapShotProcessRestore);
    const aclError code = check_call(pid, args);
    if (code != 0) return code;
    return save(BACKED_UP, LOCKED, ACL_RT_SNAPSHOT_RESTORE_PRE, ACL_RT_SNAPSHOT_RESTORE_POST,
        ACL_ERROR_SNAPSHOT_RESTORE_FAILED);
}
