/* Part of racl (mock-acl). Versions of the interface and of packages. */
#include <sys/stat.h>
#include "conform.h"

RULE(init, the_interface_has_a_version, "header: ACL_MAJOR_VERSION") {
    int32_t major = -1, minor = -1, patch = -1;
    EXPECT(aclrtGetVersion(&major, &minor, &patch), 0);
    TRUE(major == 1);
    TRUE(minor >= 0 && patch >= 0);
    EXPECT(aclrtGetVersion(NULL, &minor, &patch), 100000);
    EXPECT(aclrtGetVersion(&major, NULL, &patch), 100000);
    EXPECT(aclrtGetVersion(&major, &minor, NULL), 100000);
}

static char home[] = "/tmp/conform-XXXXXX";

static void write_version(const char *package, const char *line) {
    char path[128];
    snprintf(path, sizeof path, "%s/share", home);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/share/info", home);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/share/info/%s", home, package);
    mkdir(path, 0700);
    strcat(path, "/version.info");
    FILE *f = fopen(path, "w");
    NEED(f != NULL);
    fprintf(f, "# a comment\n%s\nlast=line\n", line);
    fclose(f);
}

/* A toolkit of its own. */
static void toolkit(const char *package, const char *line) {
    NEED(mkdtemp(home) != NULL);
    NEED(setenv("ASCEND_HOME_PATH", home, 1) == 0);
    write_version(package, line);
}

static void tidy(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", home);
    NEED(system(command) == 0);
}

RULE(init, a_package_has_the_version_of_its_file, "implementation of the open runtime") {
    aclCANNPackageVersion version;
    toolkit("runtime", "Version=8.3.12.7");
    EXPECT(aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &version), 0);
    TRUE(strcmp(version.version, "8.3.12.7") == 0);
    TRUE(strcmp(version.majorVersion, "8") == 0);
    TRUE(strcmp(version.minorVersion, "3") == 0);
    TRUE(strcmp(version.releaseVersion, "12") == 0);
    TRUE(strcmp(version.patchVersion, "7") == 0);
    EXPECT(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), 0);
    tidy();
}

RULE(init, missing_parts_of_a_version_are_0, "implementation of the open runtime") {
    aclCANNPackageVersion version;
    toolkit("hccl", "Version=9.1");
    EXPECT(aclsysGetCANNVersion(ACL_PKG_NAME_HCCL, &version), 0);
    TRUE(strcmp(version.releaseVersion, "0") == 0);
    TRUE(strcmp(version.patchVersion, "0") == 0);
    tidy();
}

RULE(init, a_pre_release_is_the_last_part, "implementation of the open runtime") {
    aclCANNPackageVersion version;
    toolkit("runtime", "Version=9.1.0-beta.2");
    EXPECT(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), 0);
    TRUE(strcmp(version.version, "9.1.0.beta2") == 0);
    TRUE(strcmp(version.patchVersion, "beta2") == 0);
    tidy();
}

RULE(init, one_part_is_no_version, "implementation of the open runtime") {
    aclCANNPackageVersion version;
    toolkit("runtime", "Version=9");
    EXPECT(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), 100003);
    tidy();
}

RULE(init, a_file_without_a_version_is_invalid, "implementation of the open runtime") {
    aclCANNPackageVersion version;
    toolkit("runtime", "version=9.1.0");
    EXPECT(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), 100003);
    tidy();
}

RULE(init, a_package_that_is_not_there_is_an_invalid_file, "implementation of the open runtime") {
    aclCANNPackageVersion version;
    char name[] = "of-nobody", text[128];
    int32_t number = 0;
    toolkit("runtime", "Version=9.1.0");
    EXPECT(aclsysGetCANNVersion(ACL_PKG_NAME_HCCL, &version), 100003);
    EXPECT(aclsysGetVersionStr(name, text), 100003);
    EXPECT(aclsysGetVersionNum(name, &number), 100003);
    tidy();
}

RULE(init, without_a_toolkit_there_is_no_version, "implementation of the open runtime") {
    aclCANNPackageVersion version;
    unsetenv("ASCEND_HOME_PATH");
    EXPECT(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), 100003);
}

RULE(init, the_driver_is_looked_for_where_it_was_installed, "implementation of the open runtime") {
    aclCANNPackageVersion version;
    if (access("/etc/ascend_install.info", F_OK) == 0) SKIP("a driver may be installed here");
    toolkit("driver", "Version=9.1.0");
    EXPECT(aclsysGetCANNVersion(ACL_PKG_NAME_DRIVER, &version), 100003);
    tidy();
}

RULE_MOCK(init, a_name_leads_nowhere_else, "own choice") {
    char up_name[] = "../info/runtime", dots[] = "..", none[] = "", text[128];
    toolkit("runtime", "Version=9.1.0");
    EXPECT(aclsysGetVersionStr(up_name, text), 100003);
    EXPECT(aclsysGetVersionStr(dots, text), 100003);
    EXPECT(aclsysGetVersionStr(none, text), 100003);
    tidy();
}

RULE_MOCK(init, a_version_that_is_too_long_is_none, "own choice") {
    char line[200], name[] = "runtime", text[128];
    memset(line, '1', sizeof line);
    memcpy(line, "Version=9.1.", 12);
    line[199] = 0;
    toolkit("runtime", line);
    EXPECT(aclsysGetVersionStr(name, text), 100003);
    tidy();
}

RULE(init, packages_have_eight_names, "header: aclCANNPackageName") {
    aclCANNPackageVersion version;
    EXPECT(aclsysGetCANNVersion((aclCANNPackageName)8, &version), 100000);
    EXPECT(aclsysGetCANNVersion((aclCANNPackageName)-1, &version), 100000);
    EXPECT(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, NULL), 100000);
}

RULE(init, the_name_of_a_package_may_have_either_dash, "implementation of the open runtime") {
    char under[] = "a_b", dash[] = "a-b", text[128];
    toolkit("a-b", "Version= 9.1.0-beta.2 ");
    EXPECT(aclsysGetVersionStr(under, text), 0);
    TRUE(strcmp(text, "9.1.0-beta.2") == 0);
    EXPECT(aclsysGetVersionStr(dash, text), 0);
    tidy();
}

RULE(init, a_version_is_asked_for_by_name, "implementation of the open runtime") {
    char name[] = "runtime", text[128];
    int32_t number = 0;
    EXPECT(aclsysGetVersionStr(NULL, text), 100000);
    EXPECT(aclsysGetVersionStr(name, NULL), 100000);
    EXPECT(aclsysGetVersionNum(NULL, &number), 100000);
    EXPECT(aclsysGetVersionNum(name, NULL), 100000);
}

static void number_is(const char *version, int code, int32_t expected) {
    char line[64], name[] = "runtime";
    int32_t number = -1;
    snprintf(line, sizeof line, "Version=%s", version);
    write_version(name, line);
    const int got = (int)aclsysGetVersionNum(name, &number);
    if (conform_code(__FILE__, __LINE__, version, got, code, code) && code == 0) TRUE(number == expected);
}

RULE(init, a_version_has_a_number, "implementation of the open runtime") {
    toolkit("runtime", "");
    number_is("9.1.0", 0, 90100000);
    number_is("8.3.12", 0, 80312000);
    tidy();
}

RULE(init, a_pre_release_is_below_its_release, "implementation of the open runtime") {
    toolkit("runtime", "");
    number_is("9.1.0-alpha003", 0, 90099703);
    number_is("9.1.0.beta.1", 0, 90099801);
    number_is("8.5.0.RC2", 0, 80499902);
    number_is("9.1.0-rc", 0, 90099900);
    tidy();
}

RULE(init, what_is_no_version_has_no_number, "implementation of the open runtime") {
    toolkit("runtime", "");
    number_is("9.1", 500000, 0);
    number_is("9.a.0", 500000, 0);
    number_is("9.1.0-of-nobody", 500000, 0);
    number_is("9.1.0--rc1", 500000, 0);
    number_is("9.1.0-rc1x", 500000, 0);
    tidy();
}

RULE(init, the_chip_has_attributes, "header: aclCannAttr") {
    const aclCannAttr *list = NULL;
    size_t count = 0;
    int32_t value = -1;
    OK(aclInit(NULL));
    OK(aclGetCannAttributeList(&list, &count));
    TRUE(count <= 3);
    for (size_t i = 0; i < count; i++) {
        EXPECT(aclGetCannAttribute(list[i], &value), 0);
        TRUE(value == 1);
    }
    EXPECT(aclGetCannAttribute((aclCannAttr)99, &value), 100000);
    EXPECT(aclGetCannAttribute(ACL_CANN_ATTR_BF16, NULL), 100000);
    EXPECT(aclGetCannAttributeList(NULL, &count), 100000);
    EXPECT(aclGetCannAttributeList(&list, NULL), 100000);
}
