/* Names of the libraries beside AscendCL: what works, and stubs that name themselves. */
#include <stdlib.h>
#include <string.h>
#include "acl/acl.h"
#include "check.h"
#include "toolkit/toolkit.h"

int HcclCommSuspend(void);
int rtKernelLaunch(void);
int halGetDeviceInfo(void);

static int32_t command(uint32_t type, void *data, uint32_t length) {
    (void)type, (void)data, (void)length;
    return 0;
}

static void stubs_name_themselves(void) {
    CHECK(HcclCommSuspend() == 5);
    CHECK(strstr(aclGetRecentErrMsg(), "HcclCommSuspend is not supported by mock-acl") != NULL);
    CHECK(rtKernelLaunch() == 207000);
    CHECK(strstr(aclGetRecentErrMsg(), "rtKernelLaunch is not supported by mock-acl") != NULL);
    CHECK(halGetDeviceInfo() == 0xfffe);
    CHECK(strstr(aclGetRecentErrMsg(), "halGetDeviceInfo is not supported by mock-acl") != NULL);
}

static void the_driver_counts_hidden_devices(void) {
    uint32_t devices = 0, seen = 0;
    CHECK(drvGetDevNum(NULL) == 3 && drvGetDevNum(&devices) == 0 && devices == 3);
    CHECK(aclrtGetDeviceCount(&seen) == 0 && seen == 1);
    int32_t version = 0;
    CHECK(halGetAPIVersion(NULL) == 3 && halGetAPIVersion(&version) == 0 && version > 0);
}

static void reports_are_taken(void) {
    const char data[8] = {0};
    const struct MsprofApi api = {MSPROF_REPORT_DATA_MAGIC_NUM, MSPROF_REPORT_NODE_LEVEL, 5, 1, 0, 1, 2, 3};
    CHECK(sizeof api == 40 && sizeof(struct MsprofCompactInfo) == 64 && sizeof(struct MsprofAdditionalInfo) == 256);
    CHECK(MsprofReportApi(0, &api) == 0 && MsprofReportApi(0, NULL) == -1);
    CHECK(MsprofRegTypeInfo(1, 2, "name") == 0 && MsprofRegTypeInfo(1, 2, NULL) == -1);
    CHECK(MsprofReportCompactInfo(0, data, 8) == 0 && MsprofReportCompactInfo(0, data, 0) == -1);
    CHECK(MsprofReportAdditionalInfo(1, data, 8) == 0 && MsprofReportAdditionalInfo(1, NULL, 8) == -1);
    CHECK(MsprofRegisterCallback(3, command) == 0 && MsprofRegisterCallback(3, NULL) == -1);
    CHECK(MsprofGetHashId("abc", 3) == MsprofGetHashId("abcd", 3) && MsprofGetHashId("abc", 3) != MsprofGetHashId("abd", 3));
    const uint64_t before = MsprofSysCycleTime();
    CHECK(before != 0 && MsprofSysCycleTime() >= before);
}

int main(void) {
    setenv("MOCK_ACL_DEVICES", "3", 1);
    setenv("ASCEND_RT_VISIBLE_DEVICES", "1", 1);
    CHECK(aclInit(NULL) == 0);
    stubs_name_themselves();
    the_driver_counts_hidden_devices();
    reports_are_taken();
    CHECK(aclFinalize() == 0);
    return 0;
}
