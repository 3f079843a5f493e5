/* The devices of the process and their numbers. */
#define _GNU_SOURCE
#include "base/base.h"
#include "devices/devices.h"
#include "devices/inner.h"
#include "devices/profile.h"
#include <ctype.h>
#include <stdlib.h>

static struct {
    uint32_t machine, visible;
    int32_t logic[MOCK_MAX_DEVICES];
    int32_t user[MOCK_MAX_DEVICES];
} map;
static pthread_once_t map_once = PTHREAD_ONCE_INIT;

/* The next id of a list, -1 when it is none of the machine or there already; `at` moves behind it. */
static int32_t next_id(const char **at) {
    char *end = NULL;
    const char *p = *at;
    while (*p == ' ') p++;
    if (!isdigit((unsigned char)*p)) return -1;
    const unsigned long n = strtoul(p, &end, 10);
    while (*end == ' ') end++;
    *at = end;
    if ((*end != ',' && *end != '\0') || n >= map.machine || map.user[n] >= 0) return -1;
    return (int32_t)n;
}

/* ASCEND_RT_VISIBLE_DEVICES: ids and commas. What follows the first bad or repeated id is hidden, and an
 * empty list hides all (own choice: as other vendors' variables of the kind). */
static void show_listed(const char *list) {
    for (const char *p = list;; p++) {
        const int32_t id = next_id(&p);
        if (id < 0) return;
        map.user[id] = (int32_t)map.visible;
        map.logic[map.visible++] = id;
        if (*p == '\0') return;
    }
}

static void read_map(void) {
    map.machine = mock_config_number("MOCK_ACL_DEVICES", 1, 1, MOCK_MAX_DEVICES);
    for (int i = 0; i < MOCK_MAX_DEVICES; i++) map.user[i] = map.logic[i] = -1;
    const char *list = getenv("ASCEND_RT_VISIBLE_DEVICES");
    if (list != NULL) {
        show_listed(list);
        return;
    }
    map.visible = map.machine;
    for (uint32_t i = 0; i < map.machine; i++) map.user[i] = map.logic[i] = (int32_t)i;
}

uint32_t mock_device_count(void) {
    pthread_once(&map_once, read_map);
    return map.visible;
}

uint32_t mock_device_machine_count(void) {
    pthread_once(&map_once, read_map);
    return map.machine;
}

/* (observed: ctx, "createContext bad dev") */
aclError mock_device_check(int32_t user_id) {
    if (user_id >= 0 && (uint32_t)user_id < mock_device_count()) return 0;
    return mock_fail(ACL_ERROR_RT_INVALID_DEVICEID, "EE1003", "device %d does not exist", user_id);
}

int32_t mock_device_logic(int32_t user_id) { return map.logic[user_id]; }

int32_t mock_device_user(int32_t logic_id) {
    pthread_once(&map_once, read_map);
    return logic_id < 0 || logic_id >= MOCK_MAX_DEVICES ? -1 : map.user[logic_id];
}

MOCK_EXPORT aclError aclrtGetDeviceCount(uint32_t *count) {
    MOCK_ENTER(aclrtGetDeviceCount);
    if (count == NULL) return mock_null("count");
    *count = mock_device_count();
    return 0;
}

/* ---- conversions ---- */

/* A negative id is 107000 (implementation of the open runtime), one that is not visible 107001 (own
 * choice). */
static aclError negative(int32_t id) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "device %d", id);
}

static aclError from_user(int32_t user, int32_t *to) {
    if (to == NULL) return mock_null("device id");
    if (user < 0) return negative(user);
    const aclError code = mock_device_check(user);
    if (code == 0) *to = mock_device_logic(user);
    return code;
}

static aclError to_user(int32_t logic, int32_t *to) {
    if (to == NULL) return mock_null("device id");
    if (logic < 0) return negative(logic);
    const int32_t user = mock_device_user(logic);
    if (user < 0)
        return mock_fail(ACL_ERROR_RT_INVALID_DEVICEID, "EE1003", "device %d is not visible", logic);
    *to = user;
    return 0;
}

MOCK_EXPORT aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t *const logicDevId) {
    MOCK_ENTER(aclrtGetLogicDevIdByUserDevId);
    return from_user(userDevid, logicDevId);
}

MOCK_EXPORT aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t *const userDevid) {
    MOCK_ENTER(aclrtGetUserDevIdByLogicDevId);
    return to_user(logicDevId, userDevid);
}

MOCK_EXPORT aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t *const phyDevId) {
    MOCK_ENTER(aclrtGetPhyDevIdByUserDevId);
    return from_user(userDevId, phyDevId);
}

MOCK_EXPORT aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t *const userDevId) {
    MOCK_ENTER(aclrtGetUserDevIdByPhyDevId);
    return to_user(phyDevId, userDevId);
}

/* The logic id of these two is a user id (guide: device management, aclrtGetLogicDevIdByPhyDevId). */
MOCK_EXPORT aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t *const logicDevId) {
    MOCK_ENTER(aclrtGetLogicDevIdByPhyDevId);
    return to_user(phyDevId, logicDevId);
}

MOCK_EXPORT aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t *const phyDevId) {
    MOCK_ENTER(aclrtGetPhyDevIdByLogicDevId);
    return from_user(logicDevId, phyDevId);
}
