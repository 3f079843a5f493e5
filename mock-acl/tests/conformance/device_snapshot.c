/* Part of racl (mock-acl). Saving a process: states, callbacks and codes. */
#include "conform.h"

static int self(void) { return (int)getpid(); }

RULE(snapshot, a_process_is_locked_and_unlocked, "guide: aclrtSnapShotProcessLock") {
    up();
    EXPECT(aclrtSnapShotProcessLock(self(), NULL), 0);
    EXPECT(aclrtSnapShotProcessUnlock(self(), NULL), 0);
    EXPECT(aclrtSnapShotProcessLock(self(), NULL), 0);
    EXPECT(aclrtSnapShotProcessUnlock(self(), NULL), 0);
}

RULE(snapshot, it_is_locked_once, "implementation of the open runtime") {
    up();
    OK(aclrtSnapShotProcessLock(self(), NULL));
    EXPECT(aclrtSnapShotProcessLock(self(), NULL), 507906);
    OK(aclrtSnapShotProcessUnlock(self(), NULL));
    EXPECT(aclrtSnapShotProcessUnlock(self(), NULL), 507907);
}

RULE(snapshot, only_a_locked_process_is_backed_up, "implementation of the open runtime") {
    up();
    EXPECT(aclrtSnapShotProcessBackup(self(), NULL), 507908);
    OK(aclrtSnapShotProcessLock(self(), NULL));
    EXPECT(aclrtSnapShotProcessBackup(self(), NULL), 0);
    EXPECT(aclrtSnapShotProcessBackup(self(), NULL), 507908);
    EXPECT(aclrtSnapShotProcessUnlock(self(), NULL), 0);
}

RULE(snapshot, only_a_backed_up_process_is_restored, "implementation of the open runtime") {
    up();
    EXPECT(aclrtSnapShotProcessRestore(self(), NULL), 507909);
    OK(aclrtSnapShotProcessLock(self(), NULL));
    EXPECT(aclrtSnapShotProcessRestore(self(), NULL), 507909);
    OK(aclrtSnapShotProcessBackup(self(), NULL));
    EXPECT(aclrtSnapShotProcessRestore(self(), NULL), 0);
    EXPECT(aclrtSnapShotProcessRestore(self(), NULL), 507909);
    EXPECT(aclrtSnapShotProcessUnlock(self(), NULL), 0);
}

RULE(snapshot, memory_is_as_before, "guide: aclrtSnapShotProcessRestore") {
    up();
    void *memory = device(64);
    fill(memory, 9, 64);
    OK(aclrtSnapShotProcessLock(self(), NULL));
    OK(aclrtSnapShotProcessBackup(self(), NULL));
    OK(aclrtSnapShotProcessRestore(self(), NULL));
    OK(aclrtSnapShotProcessUnlock(self(), NULL));
    TRUE(byte_at(memory) == 9);
}

RULE(snapshot, it_is_of_this_process, "guide: aclrtSnapShotProcessLock; implementation of the open runtime") {
    up();
    EXPECT(aclrtSnapShotProcessLock(self() + 1, NULL), 100000);
    EXPECT(aclrtSnapShotProcessBackup(0, NULL), 100000);
    EXPECT(aclrtSnapShotProcessRestore(-1, NULL), 100000);
    EXPECT(aclrtSnapShotProcessUnlock(1, NULL), 100000);
}

RULE(snapshot, arguments_are_reserved,
    "guide: aclrtSnapShotProcessBackup; implementation of the open runtime") {
    aclrtSnapShotBackupArgs backup;
    aclrtSnapShotRestoreArgs restore;
    memset(&backup, 0, sizeof backup);
    memset(&restore, 0, sizeof restore);
    up();
    EXPECT(aclrtSnapShotProcessLock(self(), &backup), 100000);
    EXPECT(aclrtSnapShotProcessBackup(self(), &backup), 100000);
    EXPECT(aclrtSnapShotProcessRestore(self(), &restore), 100000);
    EXPECT(aclrtSnapShotProcessUnlock(self(), &restore), 100000);
}

static char stages[32];
static uint32_t answer;

static uint32_t note(int32_t id, void *args) {
    TRUE(id == 0);
    strncat(stages, (const char *)args, sizeof stages - strlen(stages) - 1);
    return answer;
}

static void reg_all(void) {
    static const char *const marks[] = {"l", "b", "B", "r", "R", "u"};
    for (int i = 0; i < 6; i++)
        EXPECT(aclrtSnapShotCallbackRegister((aclrtSnapShotStage)i, note, (void *)marks[i]), 0);
}

RULE(snapshot, each_stage_calls_back, "guide: aclrtSnapShotCallbackRegister") {
    up();
    reg_all();
    OK(aclrtSnapShotProcessLock(self(), NULL));
    OK(aclrtSnapShotProcessBackup(self(), NULL));
    OK(aclrtSnapShotProcessRestore(self(), NULL));
    OK(aclrtSnapShotProcessUnlock(self(), NULL));
    TRUE(strcmp(stages, "lbBrRu") == 0);
}

RULE(snapshot, without_a_device_nothing_calls_back, "implementation of the open runtime") {
    OK(aclInit(NULL));
    reg_all();
    OK(aclrtSnapShotProcessLock(self(), NULL));
    OK(aclrtSnapShotProcessUnlock(self(), NULL));
    TRUE(stages[0] == 0);
}

RULE(snapshot, a_callback_that_fails_stops_the_lock, "implementation of the open runtime") {
    up();
    reg_all();
    answer = 1;
    EXPECT(aclrtSnapShotProcessLock(self(), NULL), 507912);
    answer = 0;
    EXPECT(aclrtSnapShotProcessLock(self(), NULL), 0);
    answer = 1;
    EXPECT(aclrtSnapShotProcessBackup(self(), NULL), 507912);
    answer = 0;
    EXPECT(aclrtSnapShotProcessBackup(self(), NULL), 0);
}

RULE(snapshot, a_callback_does_not_stop_the_unlock, "implementation of the open runtime") {
    up();
    reg_all();
    OK(aclrtSnapShotProcessLock(self(), NULL));
    answer = 1;
    EXPECT(aclrtSnapShotProcessUnlock(self(), NULL), 507912);
    answer = 0;
    EXPECT(aclrtSnapShotProcessUnlock(self(), NULL), 507907);
}

RULE(snapshot, a_callback_is_there_once_a_stage, "implementation of the open runtime") {
    up();
    reg_all();
    EXPECT(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, note, NULL), 507913);
}

RULE(snapshot, a_callback_can_be_taken_away, "guide: aclrtSnapShotCallbackUnregister") {
    up();
    reg_all();
    EXPECT(aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_LOCK_PRE, note), 0);
    EXPECT(aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_LOCK_PRE, note), 107000);
    OK(aclrtSnapShotProcessLock(self(), NULL));
    TRUE(stages[0] == 0);
}

RULE(snapshot, stages_and_callbacks_are_checked, "implementation of the open runtime") {
    EXPECT(aclrtSnapShotCallbackRegister((aclrtSnapShotStage)6, note, NULL), 107000);
    EXPECT(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, NULL, NULL), 107000);
    EXPECT(aclrtSnapShotCallbackUnregister((aclrtSnapShotStage)-1, note), 107000);
    EXPECT(aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_LOCK_PRE, NULL), 107000);
}
