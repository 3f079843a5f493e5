/* Part of racl (mock-acl). Random numbers, buffers for queues, groups of cores. */
#include "conform.h"

static aclrtRandomParaInfo number(const void *value, uint8_t size) {
    aclrtRandomParaInfo info;
    memset(&info, 0, sizeof info);
    memcpy(info.valueOrAddr, value, size);
    info.size = size;
    return info;
}

static aclrtRandomNumTaskInfo uniform(float least, float most, uint64_t count) {
    const uint64_t seed = 42;
    aclrtRandomNumTaskInfo task;
    memset(&task, 0, sizeof task);
    task.dataType = ACL_FLOAT;
    task.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS;
    task.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min = number(&least, 4);
    task.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max = number(&most, 4);
    task.randomSeed = number(&seed, 8);
    task.randomNum = number(&count, 8);
    task.randomCounterAddr = device(64);
    task.randomResultAddr = device(count * sizeof(float));
    fill(task.randomCounterAddr, 0, 64);
    return task;
}

RULE(random, no_task, "implementation: aclrtRandomNumAsync") {
    up();
    EXPECT(aclrtRandomNumAsync(NULL, NULL, NULL), 100000);
}

RULE(random, data_types, "guide: aclrtRandomNumTaskInfo") {
    up();
    aclrtRandomNumTaskInfo task = uniform(0, 1, 8);
    task.dataType = ACL_INT8;
    EXPECT(aclrtRandomNumAsync(&task, NULL, NULL), 100000);
}

RULE(random, integers_are_uniform_only, "implementation: CheckDataTypeByFuncType") {
    up();
    aclrtRandomNumTaskInfo task = uniform(0, 1, 8);
    task.dataType = ACL_INT32;
    task.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS;
    EXPECT(aclrtRandomNumAsync(&task, NULL, NULL), 107000);
}

RULE(random, the_memory_must_be_named, "implementation: CheckRandomNumTaskInfo") {
    up();
    aclrtRandomNumTaskInfo task = uniform(0, 1, 8);
    task.randomCounterAddr = NULL;
    EXPECT(aclrtRandomNumAsync(&task, NULL, NULL), 107000);
    task = uniform(0, 1, 8);
    task.randomResultAddr = NULL;
    EXPECT(aclrtRandomNumAsync(&task, NULL, NULL), 107000);
}

RULE(random, numbers_stay_in_their_range, "guide: aclrtRandomNumAsync") {
    up();
    float values[64];
    aclrtRandomNumTaskInfo task = uniform(2, 5, 64);
    aclrtStream stream = new_stream();
    OK(aclrtRandomNumAsync(&task, stream, NULL));
    finish(stream);
    OK(aclrtMemcpy(values, sizeof values, task.randomResultAddr, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST));
    int inside = 0;
    for (int i = 0; i < 64; i++) inside += values[i] >= 2 && values[i] <= 5;
    TRUE(inside == 64 && memcmp(values, values + 32, 32 * sizeof(float)) != 0);
}

RULE(random, the_same_seed_and_counter_give_the_same, "guide: aclrtRandomNumAsync") {
    up();
    float one[16], two[16];
    aclrtRandomNumTaskInfo task = uniform(0, 1, 16), again = uniform(0, 1, 16);
    aclrtStream stream = new_stream();
    OK(aclrtRandomNumAsync(&task, stream, NULL));
    OK(aclrtRandomNumAsync(&again, stream, NULL));
    finish(stream);
    OK(aclrtMemcpy(one, sizeof one, task.randomResultAddr, sizeof one, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtMemcpy(two, sizeof two, again.randomResultAddr, sizeof two, ACL_MEMCPY_DEVICE_TO_HOST));
    TRUE(memcmp(one, two, sizeof one) == 0);
}

RULE(buffer, nothing_to_allocate, "implementation: aclrtAllocBuf") {
    up();
    aclrtMbuf buffer = NULL;
    EXPECT(aclrtAllocBuf(NULL, 8), 100000);
    EXPECT(aclrtAllocBuf(&buffer, 0), 100000);
    EXPECT(aclrtFreeBuf(NULL), 100000);
}

RULE(buffer, ninety_six_bytes_of_user_data, "implementation: aclrtGetBufUserData") {
    up();
    char text[97];
    memset(text, 1, sizeof text);
    EXPECT(aclrtGetBufUserData(NULL, text, 96, 1), 100000);
    EXPECT(aclrtSetBufUserData(NULL, text, 97, 0), 100000);
}

RULE_MOCK(buffer, a_buffer_has_memory_and_a_length, "guide: aclrtGetBufData, aclrtSetBufDataLen") {
    up();
    aclrtMbuf buffer = NULL;
    void *data = NULL;
    size_t size = 0;
    OK(aclrtAllocBuf(&buffer, 100));
    EXPECT(aclrtGetBufData(buffer, &data, &size), 0);
    TRUE(data != NULL && size >= 100);
    EXPECT(aclrtSetBufDataLen(buffer, 10), 0);
    EXPECT(aclrtGetBufDataLen(buffer, &size), 0);
    TRUE(size == 10);
    EXPECT(aclrtFreeBuf(buffer), 0);
    EXPECT(aclrtFreeBuf(buffer), 107017);
}

RULE_MOCK(buffer, a_copy_of_the_reference_shares_the_memory, "guide: aclrtCopyBufRef") {
    up();
    aclrtMbuf buffer = NULL, copy = NULL;
    void *one = NULL, *two = NULL;
    size_t size = 0;
    OK(aclrtAllocBuf(&buffer, 100));
    OK(aclrtCopyBufRef(buffer, &copy));
    OK(aclrtGetBufData(buffer, &one, &size));
    OK(aclrtFreeBuf(buffer));
    EXPECT(aclrtGetBufData(copy, &two, &size), 0);
    TRUE(one == two);
    memset(two, 1, 100);
    EXPECT(aclrtFreeBuf(copy), 0);
}

RULE_MOCK(buffer, chains, "guide: aclrtAppendBufChain, aclrtGetBufFromChain") {
    up();
    aclrtMbuf head = NULL, tail = NULL, found = NULL;
    uint32_t count = 0;
    OK(aclrtAllocBuf(&head, 8));
    OK(aclrtAllocBuf(&tail, 8));
    EXPECT(aclrtAppendBufChain(head, tail), 0);
    EXPECT(aclrtGetBufChainNum(head, &count), 0);
    TRUE(count == 2);
    EXPECT(aclrtGetBufFromChain(head, 1, &found), 0);
    TRUE(found == tail);
    EXPECT(aclrtGetBufFromChain(head, 2, &found), 107000);
    EXPECT(aclrtFreeBuf(head), 0);
}

RULE(cores, asking_nothing_for_groups, "implementation: aclrtGetGroupCount and its neighbours") {
    up();
    uint32_t value = 0;
    size_t size = 0;
    EXPECT(aclrtGetGroupCount(NULL), 100000);
    EXPECT(aclrtGetAllGroupInfo(NULL), 100000);
    EXPECT(aclrtDestroyGroupInfo(NULL), 100000);
    EXPECT(aclrtGetGroupInfoDetail(NULL, 0, ACL_GROUP_AICORE_INT, &value, 4, &size), 100000);
}

RULE_MOCK(cores, a_group_has_attributes, "guide: aclrtGetGroupInfoDetail") {
    up();
    uint32_t value = 0;
    size_t size = 0;
    aclrtGroupInfo *info = aclrtCreateGroupInfo();
    NEED(info != NULL);
    OK(aclrtGetAllGroupInfo(info));
    EXPECT(aclrtGetGroupInfoDetail(info, 0, ACL_GROUP_AICORE_INT, &value, 4, &size), 0);
    TRUE(value > 0 && size == 4);
    EXPECT(aclrtGetGroupInfoDetail(info, 0, ACL_GROUP_AICORE_INT, &value, 2, &size), 100000);
    EXPECT(aclrtGetGroupInfoDetail(info, 99, ACL_GROUP_AICORE_INT, &value, 4, &size), 100000);
    EXPECT(aclrtDestroyGroupInfo(info), 0);
}

RULE(cores, the_address_for_synchronisation, "guide: aclrtGetHardwareSyncAddr") {
    up();
    void *one = NULL, *two = NULL;
    OK(aclrtGetHardwareSyncAddr(&one));
    OK(aclrtGetHardwareSyncAddr(&two));
    TRUE(one != NULL && one == two);
    EXPECT(aclrtGetHardwareSyncAddr(NULL), 107000);
}
