/* Part of racl (mock-acl). Ids of devices, which of them a process sees, and access between them. */
#include "conform.h"

RULE(device, without_a_list_ids_agree, "guide: aclrtGetLogicDevIdByUserDevId") {
    unsetenv("ASCEND_RT_VISIBLE_DEVICES");
    const int32_t count = (int32_t)devices(1);
    for (int32_t i = 0; i < count; i++) {
        int32_t id = -1;
        EXPECT(aclrtGetLogicDevIdByUserDevId(i, &id), 0);
        TRUE(id == i);
        EXPECT(aclrtGetUserDevIdByLogicDevId(i, &id), 0);
        TRUE(id == i);
    }
}

RULE(device, ids_need_a_place, "implementation of the open runtime") {
    EXPECT(aclrtGetLogicDevIdByUserDevId(0, NULL), 100000);
    EXPECT(aclrtGetUserDevIdByLogicDevId(0, NULL), 100000);
    EXPECT(aclrtGetPhyDevIdByUserDevId(0, NULL), 100000);
    EXPECT(aclrtGetUserDevIdByPhyDevId(0, NULL), 100000);
    EXPECT(aclrtGetLogicDevIdByPhyDevId(0, NULL), 100000);
    EXPECT(aclrtGetPhyDevIdByLogicDevId(0, NULL), 100000);
}

RULE(device, negative_ids_are_refused, "implementation of the open runtime") {
    int32_t id = -1;
    EXPECT(aclrtGetLogicDevIdByUserDevId(-1, &id), 107000);
    EXPECT(aclrtGetUserDevIdByLogicDevId(-1, &id), 107000);
}

RULE_ENV(device, a_list_hides_and_orders_devices, "guide: aclrtGetLogicDevIdByUserDevId",
    "ASCEND_RT_VISIBLE_DEVICES=1,0") {
    int32_t id = -1;
    uint32_t count = 0;
    OK(aclrtGetDeviceCount(&count));
    if (count < 2) SKIP("there are too few devices");
    TRUE(count == 2);
    EXPECT(aclrtGetLogicDevIdByUserDevId(0, &id), 0);
    TRUE(id == 1);
    EXPECT(aclrtGetLogicDevIdByUserDevId(1, &id), 0);
    TRUE(id == 0);
    EXPECT(aclrtGetUserDevIdByLogicDevId(1, &id), 0);
    TRUE(id == 0);
}

RULE_ENV(device, one_visible_device_is_device_0, "guide: aclrtGetLogicDevIdByUserDevId",
    "ASCEND_RT_VISIBLE_DEVICES=1") {
    int32_t id = -1;
    uint32_t count = 0;
    OK(aclrtGetDeviceCount(&count));
    if (count == 0) SKIP("there are too few devices");
    TRUE(count == 1);
    EXPECT(aclrtSetDevice(0), 0);
    EXPECT(aclrtGetDevice(&id), 0);
    TRUE(id == 0);
    EXPECT(aclrtSetDevice(1), 107001);
}

/* The two that are named after logic ids take user ids. */
RULE_ENV(device, logic_ids_of_physical_ones_are_user_ids, "guide: aclrtGetLogicDevIdByPhyDevId",
    "ASCEND_RT_VISIBLE_DEVICES=1") {
    int32_t physical = -1, id = -1;
    uint32_t count = 0;
    OK(aclrtGetDeviceCount(&count));
    if (count == 0) SKIP("there are too few devices");
    EXPECT(aclrtGetPhyDevIdByLogicDevId(0, &physical), 0);
    EXPECT(aclrtGetPhyDevIdByUserDevId(0, &id), 0);
    TRUE(id == physical);
    EXPECT(aclrtGetLogicDevIdByPhyDevId(physical, &id), 0);
    TRUE(id == 0);
    EXPECT(aclrtGetUserDevIdByPhyDevId(physical, &id), 0);
    TRUE(id == 0);
}

RULE_MOCK(device, what_follows_a_bad_id_is_hidden, "own choice") {
    NEED(setenv("ASCEND_RT_VISIBLE_DEVICES", "1,x,0", 1) == 0);
    uint32_t count = 0;
    int32_t id = -1;
    OK(aclrtGetDeviceCount(&count));
    TRUE(count == 1);
    EXPECT(aclrtGetUserDevIdByLogicDevId(0, &id), 107001);
    EXPECT(aclrtGetUserDevIdByLogicDevId(1, &id), 0);
}

RULE_MOCK(device, an_empty_list_hides_all, "own choice") {
    NEED(setenv("ASCEND_RT_VISIBLE_DEVICES", "", 1) == 0);
    uint32_t count = 9;
    OK(aclrtGetDeviceCount(&count));
    TRUE(count == 0);
    EXPECT(aclrtSetDevice(0), 107001);
}

RULE_MOCK(device, a_repeated_id_ends_the_list, "own choice") {
    NEED(setenv("ASCEND_RT_VISIBLE_DEVICES", " 1 , 1, 0", 1) == 0);
    uint32_t count = 9;
    OK(aclrtGetDeviceCount(&count));
    TRUE(count == 1);
}

/* ---- access between devices ---- */

RULE(device, access_is_from_one_device_to_another, "implementation of the open runtime") {
    int32_t can = -1;
    up();
    EXPECT(aclrtDeviceCanAccessPeer(&can, 0, 0), 100000);
    EXPECT(aclrtDeviceEnablePeerAccess(0, 0), 100000);
    EXPECT(aclrtDeviceDisablePeerAccess(0), 100000);
    EXPECT(aclrtDeviceCanAccessPeer(NULL, 0, 1), 100000);
}

RULE(device, flags_of_access_are_reserved, "implementation of the open runtime") {
    up();
    EXPECT(aclrtDeviceEnablePeerAccess(1, 1), 200006);
}

RULE(device, access_needs_a_current_device, "implementation of the open runtime") {
    EXPECT(aclrtDeviceEnablePeerAccess(1, 0), 107002);
    EXPECT(aclrtDeviceDisablePeerAccess(1), 107002);
}

RULE(device, access_is_enabled_in_one_direction, "guide: aclrtDeviceEnablePeerAccess") {
    int32_t status = -1;
    devices(2);
    up();
    EXPECT(aclrtDevicePeerAccessStatus(0, 1, &status), 0);
    TRUE(status == 0);
    OK(aclrtDeviceEnablePeerAccess(1, 0));
    EXPECT(aclrtDevicePeerAccessStatus(0, 1, &status), 0);
    TRUE(status == 1);
    OK(aclrtSetDevice(1));
    OK(aclrtDeviceEnablePeerAccess(0, 0));
    EXPECT(aclrtDevicePeerAccessStatus(1, 0, &status), 0);
    TRUE(status == 1);
}

RULE(device, access_is_one_way, "guide: aclrtDeviceEnablePeerAccess") {
    int32_t status = -1;
    devices(2);
    up();
    OK(aclrtDeviceEnablePeerAccess(1, 0));
    EXPECT(aclrtDevicePeerAccessStatus(1, 0, &status), 0);
    TRUE(status == 0);
}

RULE(device, access_can_be_disabled, "guide: aclrtDeviceDisablePeerAccess") {
    int32_t status = -1;
    devices(2);
    up();
    OK(aclrtDeviceEnablePeerAccess(1, 0));
    EXPECT(aclrtDeviceDisablePeerAccess(1), 0);
    EXPECT(aclrtDevicePeerAccessStatus(0, 1, &status), 0);
    TRUE(status == 0);
    EXPECT(aclrtDevicePeerAccessStatus(0, 1, NULL), 100000);
}

RULE(device, two_devices_can_be_asked_about_access, "guide: aclrtDeviceCanAccessPeer") {
    int32_t can = -1;
    devices(2);
    up();
    EXPECT(aclrtDeviceCanAccessPeer(&can, 0, 1), 0);
    TRUE(can == 0 || can == 1);
}

RULE_MOCK(device, access_to_no_device_is_refused, "own choice of the codes") {
    int32_t status = 0;
    up();
    EXPECT(aclrtDeviceEnablePeerAccess(99, 0), 107001);
    EXPECT(aclrtDeviceDisablePeerAccess(99), 107001);
    EITHER(aclrtDevicePeerAccessStatus(0, 99, &status), 107000, 107001);
}
