/* Part of racl (mock-acl). Limits of cores: of a device, of a stream, in use by a thread. */
#include "conform.h"

#define CUBE ACL_RT_DEV_RES_CUBE_CORE
#define VECTOR ACL_RT_DEV_RES_VECTOR_CORE

static uint32_t of_device(aclrtDevResLimitType type) {
    uint32_t value = 0;
    OK(aclrtGetDeviceResLimit(0, type, &value));
    return value;
}

static uint32_t of_stream(aclrtStream stream, aclrtDevResLimitType type) {
    uint32_t value = 0;
    OK(aclrtGetStreamResLimit(stream, type, &value));
    return value;
}

static uint32_t in_use(aclrtDevResLimitType type) {
    uint32_t value = 0;
    OK(aclrtGetResInCurrentThread(type, &value));
    return value;
}

RULE(cores, at_first_a_device_has_all, "guide: aclrtGetDeviceResLimit") {
    up();
    int64_t cubes = 0, vectors = 0;
    OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_CUBE_CORE_NUM, &cubes));
    OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &vectors));
    TRUE(of_device(CUBE) == (uint32_t)cubes);
    TRUE(of_device(VECTOR) == (uint32_t)vectors);
}

RULE(cores, a_limit_of_a_device_is_kept_until_its_reset, "guide: aclrtSetDeviceResLimit, aclrtResetDeviceResLimit") {
    up();
    const uint32_t cubes = of_device(CUBE), vectors = of_device(VECTOR);
    NEED(cubes > 1);
    EXPECT(aclrtSetDeviceResLimit(0, CUBE, 1), 0);
    TRUE(of_device(CUBE) == 1);
    TRUE(of_device(VECTOR) == vectors);
    EXPECT(aclrtResetDeviceResLimit(0), 0);
    TRUE(of_device(CUBE) == cubes);
}

RULE(cores, a_limit_is_not_above_what_there_is, "implementation: resource limits") {
    up();
    const uint32_t cubes = of_device(CUBE), vectors = of_device(VECTOR);
    aclrtStream stream = new_stream();
    EXPECT(aclrtSetDeviceResLimit(0, CUBE, cubes + 1), 107000);
    EXPECT(aclrtSetDeviceResLimit(0, VECTOR, vectors + 1), 107000);
    EXPECT(aclrtSetStreamResLimit(stream, CUBE, cubes + 1), 107000);
    EXPECT(aclrtSetStreamResLimit(stream, VECTOR, vectors + 1), 107000);
    TRUE(of_device(CUBE) == cubes && of_stream(stream, VECTOR) == vectors);
}

RULE(cores, a_stream_has_a_limit_of_its_own, "guide: aclrtSetStreamResLimit, aclrtResetStreamResLimit") {
    up();
    const uint32_t vectors = of_device(VECTOR);
    NEED(vectors > 2);
    aclrtStream one = new_stream(), other = new_stream();
    EXPECT(aclrtSetStreamResLimit(one, VECTOR, 2), 0);
    TRUE(of_stream(one, VECTOR) == 2);
    TRUE(of_stream(other, VECTOR) == vectors);
    EXPECT(aclrtResetStreamResLimit(one), 0);
    TRUE(of_stream(one, VECTOR) == vectors);
}

RULE(cores, a_stream_without_a_limit_has_the_devices, "guide: aclrtGetStreamResLimit") {
    up();
    NEED(of_device(CUBE) > 3);
    aclrtStream stream = new_stream();
    OK(aclrtSetDeviceResLimit(0, CUBE, 3));
    TRUE(of_stream(stream, CUBE) == 3);
    OK(aclrtSetStreamResLimit(stream, CUBE, 2));
    TRUE(of_stream(stream, CUBE) == 2);
    TRUE(of_device(CUBE) == 3);
}

RULE(cores, a_thread_uses_the_limits_of_a_stream, "guide: aclrtUseStreamResInCurrentThread") {
    up();
    const uint32_t cubes = of_device(CUBE);
    NEED(cubes > 2);
    aclrtStream stream = new_stream();
    OK(aclrtSetStreamResLimit(stream, CUBE, 2));
    TRUE(in_use(CUBE) == cubes);
    EXPECT(aclrtUseStreamResInCurrentThread(stream), 0);
    TRUE(in_use(CUBE) == 2);
    EXPECT(aclrtUnuseStreamResInCurrentThread(stream), 0);
    TRUE(in_use(CUBE) == cubes);
}

static void another_thread(void *cubes) {
    OK(aclrtSetDevice(0));
    TRUE(in_use(CUBE) == *(uint32_t *)cubes);
}

RULE(cores, limits_in_use_are_of_one_thread, "guide: aclrtUseStreamResInCurrentThread") {
    up();
    uint32_t cubes = of_device(CUBE);
    NEED(cubes > 2);
    aclrtStream stream = new_stream();
    OK(aclrtSetStreamResLimit(stream, CUBE, 2));
    OK(aclrtUseStreamResInCurrentThread(stream));
    join_thread(start_thread(another_thread, &cubes));
    TRUE(in_use(CUBE) == 2);
}

RULE(cores, without_a_device_nothing_is_in_use, "guide: aclrtGetResInCurrentThread") {
    OK(aclInit(NULL));
    uint32_t value = 0;
    EXPECT(aclrtGetResInCurrentThread(CUBE, &value), 107002);
}

RULE_MOCK(cores, arguments_of_limits, "own choice of the codes") {
    up();
    aclrtStream stream = new_stream();
    uint32_t value = 0;
    EXPECT(aclrtGetDeviceResLimit(0, CUBE, NULL), 100000);
    EXPECT(aclrtGetStreamResLimit(stream, CUBE, NULL), 100000);
    EXPECT(aclrtGetResInCurrentThread(CUBE, NULL), 100000);
    EXPECT(aclrtGetDeviceResLimit(0, (aclrtDevResLimitType)2, &value), 107000);
    EXPECT(aclrtSetStreamResLimit(stream, (aclrtDevResLimitType)2, 1), 107000);
    EXPECT(aclrtSetDeviceResLimit(0, CUBE, 0), 107000);
    EXPECT(aclrtSetDeviceResLimit(64, CUBE, 1), 107001);
    EXPECT(aclrtResetDeviceResLimit(64), 107001);
}
