/* Versions of the interface, and of the packages of a toolkit: share/info/PACKAGE/version.info below
 * ASCEND_HOME_PATH.
 *
 * (implementation of the open runtime) */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

#define VERSION_SIZE 128 /* of a caller's buffer (header: aclCANNPackageVersion) */
#define PART_SIZE 64
#define INSTALL_INFO "/etc/ascend_install.info"

/* (header: ACL_MAJOR_VERSION, ACL_MINOR_VERSION, ACL_PATCH_VERSION) */
MOCK_EXPORT aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion) {
    MOCK_ENTER(aclrtGetVersion);
    if (majorVersion == NULL || minorVersion == NULL || patchVersion == NULL) return mock_null("version");
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return 0;
}

/* ---- files ---- */

/* What follows `key` in the first line that has it and anything behind it, without spaces around; false
 * when there is none or it does not fit. */
static bool read_key(const char *path, const char *key, char *value, size_t size) {
    FILE *f = fopen(path, "r");
    if (f == NULL) return false;
    char line[PATH_MAX + 64];
    bool found = false;
    while (!found && fgets(line, sizeof line, f) != NULL) {
        char *at = strstr(line, key);
        if (at == NULL) continue;
        at += strlen(key);
        while (isspace((unsigned char)*at)) at++;
        size_t n = strlen(at);
        while (n > 0 && isspace((unsigned char)at[n - 1])) n--;
        found = n > 0 && n < size;
        if (found) memcpy(value, at, n);
        if (found) value[n] = '\0';
    }
    fclose(f);
    return found;
}

/* The folder of a package: below the toolkit, or where the driver and the firmware were installed. */
static bool info_path(const char *package, char *path) {
    const bool driver = strcmp(package, "driver") == 0, firmware = strcmp(package, "firmware") == 0;
    char folder[PATH_MAX];
    if (driver || firmware) {
        const char *key = driver ? "Driver_Install_Path_Param=" : "Firmware_Install_Path_Param=";
        if (!read_key(INSTALL_INFO, key, folder, sizeof folder)) return false;
        return snprintf(path, PATH_MAX, "%s/%s/version.info", folder, package) < PATH_MAX;
    }
    const char *home = getenv("ASCEND_HOME_PATH");
    if (home == NULL) return false;
    return snprintf(path, PATH_MAX, "%s/share/info/%s/version.info", home, package) < PATH_MAX;
}

static bool read_one(const char *package, char *version, size_t size) {
    char path[PATH_MAX];
    return info_path(package, path) && read_key(path, "Version=", version, size);
}

/* The name as it is, then with the other of '-' and '_'. */
static bool read_version(const char *package, char *version, size_t size) {
    char other[PATH_MAX];
    if (read_one(package, version, size)) return true;
    const char from = strchr(package, '-') != NULL ? '-' : '_';
    if (strchr(package, from) == NULL || strlen(package) >= sizeof other) return false;
    strcpy(other, package);
    for (char *p = other; *p != '\0'; p++)
        if (*p == from) *p = from == '-' ? '_' : '-';
    return read_one(other, version, size);
}

/* A name with a way out of the folder is refused (own choice); anything not found is 100003, without a text: programs ask
 * for packages that need not be there, and later reads would show it (own choice). */
static aclError find_version(const char *package, char *version, size_t size) {
    const bool plain = *package != '\0' && strchr(package, '/') == NULL && strcmp(package, "..") != 0;
    if (plain && read_version(package, version, size)) return 0;
    return ACL_ERROR_INVALID_FILE;
}

/* ---- aclsys ---- */

static const char *const packages[] = {
    [ACL_PKG_NAME_CANN] = "runtime",
    [ACL_PKG_NAME_RUNTIME] = "runtime",
    [ACL_PKG_NAME_COMPILER] = "bisheng-compiler",
    [ACL_PKG_NAME_HCCL] = "hccl",
    [ACL_PKG_NAME_TOOLKIT] = "oam-tools",
    [ACL_PKG_NAME_OPP] = "ops-legacy",
    [ACL_PKG_NAME_OPP_KERNEL] = "ops-legacy",
    [ACL_PKG_NAME_DRIVER] = "driver",
};

/* 9.1.0-beta.1 becomes 9.1.0.beta1. */
static void dots_only(char *version) {
    char *dash = strchr(version, '-');
    if (dash == NULL) return;
    *dash = '.';
    char *to = dash + 1;
    for (const char *from = to; *from != '\0'; from++)
        if (*from != '.') *to++ = *from;
    *to = '\0';
}

/* Two to four parts, "0" for those that are missing; what comes behind the fourth is in the whole only. */
static bool split(const char *version, aclCANNPackageVersion *v) {
    char *parts[] = {v->majorVersion, v->minorVersion, v->releaseVersion, v->patchVersion};
    size_t n = 0;
    for (const char *p = version; n < 4; n++) {
        const size_t length = strcspn(p, ".");
        if (length == 0) return false;
        memcpy(parts[n], p, length < PART_SIZE ? length : PART_SIZE - 1);
        if (p[length] == '\0') {
            n++;
            break;
        }
        p += length + 1;
    }
    for (size_t i = n; i < 4; i++) parts[i][0] = '0';
    return n >= 2;
}

/* Other names: 100000, without a text. */
MOCK_EXPORT aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version) {
    MOCK_ENTER(aclsysGetCANNVersion);
    if (version == NULL) return mock_null("version");
    if ((int)name < 0 || name > ACL_PKG_NAME_DRIVER) return ACL_ERROR_INVALID_PARAM;
    char text[VERSION_SIZE];
    const aclError code = find_version(packages[name], text, sizeof text);
    if (code != 0) return code;
    aclCANNPackageVersion v = {0};
    dots_only(text);
    memcpy(v.version, text, strlen(text));
    if (!split(text, &v)) return mock_fail(ACL_ERROR_INVALID_FILE, "EH0004", "the version \"%s\"", text);
    *version = v;
    return 0;
}

/* A version that does not fit into 128 bytes counts as none (own choice: the real code is 500000). */
MOCK_EXPORT aclError aclsysGetVersionStr(char *pkgName, char *versionStr) {
    MOCK_ENTER(aclsysGetVersionStr);
    if (pkgName == NULL || versionStr == NULL) return mock_null("pkgName and versionStr");
    char text[VERSION_SIZE];
    const aclError code = find_version(pkgName, text, sizeof text);
    if (code == 0) memcpy(versionStr, text, strlen(text) + 1);
    return code;
}

/* ---- numbers ---- */

/* Digits up to `stop` (any end when 0), at most 9 of them; moves behind them. */
static bool number(const char **at, long *value) {
    char *end = NULL;
    if (!isdigit((unsigned char)**at)) return false;
    errno = 0;
    *value = strtol(*at, &end, 10);
    if (errno != 0 || end - *at > 9) return false;
    *at = end;
    return true;
}

/* -alpha003, .beta.1, rc-2: at most one separator before the word, and one before its number. */
static bool pre_release(const char *p, long *change) {
    static const struct {
        const char *word;
        long weight;
    } words[] = {{"alpha", 300}, {"beta", 200}, {"rc", 100}};
    long n = 0;
    for (size_t i = 0; i < 3; i++) {
        const char *at = strcasestr(p, words[i].word);
        if (at == NULL) continue;
        if (at - p > 1) return false;
        at += strlen(words[i].word);
        if (*at != '\0') {
            if (*at == '.' || *at == '-') at++;
            if (!number(&at, &n) || *at != '\0') return false;
        }
        *change = n - words[i].weight;
        return true;
    }
    return false;
}

static bool version_number(const char *p, long *value) {
    long major = 0, minor = 0, patch = 0, change = 0;
    if (!number(&p, &major) || *p++ != '.' || !number(&p, &minor) || *p++ != '.' || !number(&p, &patch))
        return false;
    if (*p != '\0' && !pre_release(p, &change)) return false;
    *value = major * 10000000 + minor * 100000 + patch * 1000 + change;
    return *value >= INT32_MIN && *value <= INT32_MAX;
}

/* A version that is none: 500000. */
MOCK_EXPORT aclError aclsysGetVersionNum(char *pkgName, int32_t *versionNum) {
    MOCK_ENTER(aclsysGetVersionNum);
    if (pkgName == NULL || versionNum == NULL) return mock_null("pkgName and versionNum");
    char text[VERSION_SIZE];
    const aclError code = find_version(pkgName, text, sizeof text);
    if (code != 0) return code;
    long value = 0;
    if (!version_number(text, &value))
        return mock_fail(ACL_ERROR_INTERNAL_ERROR, "EH9999", "\"%s\" is not a version", text);
    *versionNum = (int32_t)value;
    return 0;
}
