/* Profiling sessions (guide: profiling; codes: implementation of the open runtime's collector): what was
 * recorded is written as a Chrome trace, FOLDER/PROF_00000N/trace.json, when the last device stops.
 *
 * In the trace: kernels and marks of streams (process 1 + device, a thread for each stream), ranges and
 * marks of the host (process 0, a thread for each thread). Times are virtual, in microseconds (own
 * choice, as is the format). */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "acl/acl_prof.h"
#include "base/base.h"
#include "devices/devices.h"
#include "profiling/profiling.h"
#include "profiling/trace.h"
#include "profiling/watch.h"

#define PATH_LIMIT 4096 /* guide: aclprofInit */
#define SWITCHES UINT64_C(0xC0100FFFF)
#define DEVICE_LIMIT 64

typedef struct config {
    mock_thing thing;
    uint32_t devices[DEVICE_LIMIT], count;
    uint64_t switches;
} config;

static const mock_thing_type config_type = {"aclprofConfig", NULL};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool inited;
static char folder[PATH_LIMIT + 1];
static unsigned session;
static uint64_t started[MOCK_MAX_DEVICES + 1]; /* the switches; the last one is the host */
#define HOST MOCK_MAX_DEVICES

static aclError not_run(const char *what) {
    return mock_fail(ACL_ERROR_PROF_NOT_RUN, "EK0002", "%s was not called", what);
}

bool mock_trace_marks(void) {
    pthread_mutex_lock(&lock);
    const bool on = (started[HOST] & ACL_PROF_MSPROFTX) != 0;
    pthread_mutex_unlock(&lock);
    return on;
}

/* Initialised before: 100002. The folder is made at the start. */
MOCK_EXPORT aclError aclprofInit(const char *profilerResultPath, size_t length) {
    MOCK_ENTER(aclprofInit);
    if (profilerResultPath == NULL || strnlen(profilerResultPath, PATH_LIMIT + 1) != length)
        return mock_invalid("the path has not the length that is given");
    if (length == 0 || length > PATH_LIMIT) return mock_invalid("a path of %zu bytes", length);
    aclError code = 0;
    pthread_mutex_lock(&lock);
    if (inited) code = ACL_ERROR_REPEAT_INITIALIZE;
    else memcpy(folder, profilerResultPath, length + 1);
    inited = true;
    pthread_mutex_unlock(&lock);
    return code == 0 ? 0 : mock_fail(code, "EK0002", "aclprofInit was called before");
}

/* No devices without marks, more than there are, unknown or repeated ones, events: NULL. */
MOCK_EXPORT aclprofConfig *aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums,
    aclprofAicoreMetrics aicoreMetrics, const aclprofAicoreEvents *aicoreEvents, uint64_t dataTypeConfig) {
    MOCK_ENTER_PTR(aclprofCreateConfig);
    (void)aicoreMetrics;
    bool good = (deviceNums == 0 || deviceIdList != NULL) && aicoreEvents == NULL;
    good = good && deviceNums <= mock_device_count();
    good = good && (deviceNums != 0 || (dataTypeConfig & ACL_PROF_MSPROFTX) != 0);
    for (uint32_t i = 0; good && i < deviceNums; i++) {
        good = deviceIdList[i] < mock_device_count();
        for (uint32_t k = 0; k < i; k++) good = good && deviceIdList[k] != deviceIdList[i];
    }
    if (!good) {
        mock_invalid("these %u devices cannot be profiled", deviceNums);
        return NULL;
    }
    config *c = mock_thing_new(&config_type, sizeof *c);
    if (c == NULL) return NULL;
    c->switches = dataTypeConfig;
    for (uint32_t i = 0; i < deviceNums; i++) c->devices[c->count++] = deviceIdList[i];
    if ((dataTypeConfig & ACL_PROF_MSPROFTX) != 0) c->devices[c->count++] = HOST;
    return c->thing.handle;
}

MOCK_EXPORT aclError aclprofDestroyConfig(const aclprofConfig *profilerConfig) {
    MOCK_ENTER(aclprofDestroyConfig);
    return mock_thing_destroy(&config_type, profilerConfig, "profilerConfig");
}

/* Nothing switched on: 100000; what this chip does not have: 200007. */
static aclError usable(const aclprofConfig *handle, config **out) {
    void *found = NULL;
    const aclError code = mock_thing_find(&config_type, handle, "profilerConfig", &found);
    if (code != 0) return code;
    *out = found;
    if ((*out)->switches == 0) return mock_invalid("nothing is switched on");
    if (((*out)->switches & ~SWITCHES) == 0) return 0;
    return mock_fail(ACL_ERROR_PROF_MODULES_UNSUPPORTED, "EK0001", "unknown switches in %llx",
        (unsigned long long)(*out)->switches);
}

/* With the lock. */
static bool any_started(void) {
    for (unsigned i = 0; i <= HOST; i++)
        if (started[i] != 0) return true;
    return false;
}

static bool task_times(void) {
    for (unsigned i = 0; i < HOST; i++)
        if ((started[i] & (ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0)) != 0) return true;
    return false;
}

static aclError make_folder(void) {
    if (mkdir(folder, 0777) == 0 || errno == EEXIST) return 0;
    return mock_fail(ACL_ERROR_INVALID_FILE, "EK0001", "%s: %s", folder, strerror(errno));
}

static aclError start(const config *c) {
    if (!inited) return not_run("aclprofInit");
    for (uint32_t i = 0; i < c->count; i++)
        if (started[c->devices[i]] != 0)
            return mock_fail(ACL_ERROR_PROF_ALREADY_RUN, "EK0002", "device %u is profiled", c->devices[i]);
    if (!any_started()) {
        const aclError code = make_folder();
        if (code != 0) return code;
        mock_trace_clear();
        session++;
    }
    for (uint32_t i = 0; i < c->count; i++) started[c->devices[i]] = c->switches;
    mock_watch_set(MOCK_WATCH_TRACE, task_times());
    return 0;
}

/* A device that is profiled already: 100042. */
MOCK_EXPORT aclError aclprofStart(const aclprofConfig *profilerConfig) {
    MOCK_ENTER(aclprofStart);
    config *c = NULL;
    aclError code = usable(profilerConfig, &c);
    if (code != 0) return code;
    pthread_mutex_lock(&lock);
    code = start(c);
    pthread_mutex_unlock(&lock);
    return code;
}

static aclError write_out(void) {
    char path[PATH_LIMIT + 64];
    snprintf(path, sizeof path, "%s/PROF_%06u", folder, session);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return mock_fail(ACL_ERROR_INVALID_FILE, "EK0001", "%s: %s", path, strerror(errno));
    strcat(path, "/trace.json");
    return mock_trace_write(path);
}

static aclError stop(const config *c) {
    if (!inited) return not_run("aclprofInit");
    for (uint32_t i = 0; i < c->count; i++) {
        if (started[c->devices[i]] == 0) return not_run("aclprofStart");
        if (started[c->devices[i]] != c->switches)
            return mock_fail(ACL_ERROR_INVALID_PROFILING_CONFIG, "EK0001",
                "device %u was started with other switches",
                c->devices[i]);
    }
    for (uint32_t i = 0; i < c->count; i++) started[c->devices[i]] = 0;
    mock_watch_set(MOCK_WATCH_TRACE, task_times());
    return any_started() ? 0 : write_out();
}

/* Work that is still queued is not in the trace (guide: synchronise first). Another configuration than at
 * the start: 100010; a device that was not started: 100043. */
MOCK_EXPORT aclError aclprofStop(const aclprofConfig *profilerConfig) {
    MOCK_ENTER(aclprofStop);
    config *c = NULL;
    aclError code = usable(profilerConfig, &c);
    if (code != 0) return code;
    pthread_mutex_lock(&lock);
    code = stop(c);
    pthread_mutex_unlock(&lock);
    return code;
}

/* Stops what is still on. */
MOCK_EXPORT aclError aclprofFinalize(void) {
    MOCK_ENTER(aclprofFinalize);
    pthread_mutex_lock(&lock);
    aclError code = inited ? 0 : not_run("aclprofInit");
    const bool on = any_started();
    memset(started, 0, sizeof started);
    mock_watch_set(MOCK_WATCH_TRACE, false);
    if (code == 0 && on) code = write_out();
    inited = false;
    pthread_mutex_unlock(&lock);
    return code;
}

/* Options are kept nowhere: none of them changes what the mock can record (own choice). */
MOCK_EXPORT aclError aclprofSetConfig(aclprofConfigType configType, const char *config, size_t configLength) {
    MOCK_ENTER(aclprofSetConfig);
    if (config == NULL || configLength == 0 || strnlen(config, PATH_LIMIT + 1) != configLength)
        return mock_invalid("the option has not the length that is given");
    if (configType <= ACL_PROF_ARGS_MIN || configType >= ACL_PROF_ARGS_MAX)
        return mock_invalid("option %d", (int)configType);
    pthread_mutex_lock(&lock);
    const bool on = inited;
    pthread_mutex_unlock(&lock);
    return on ? 0 : not_run("aclprofInit");
}

void mock_profiling_reset(void) {
    pthread_mutex_lock(&lock);
    memset(started, 0, sizeof started);
    inited = false;
    session = 0;
    mock_watch_set(MOCK_WATCH_TRACE, false);
    pthread_mutex_unlock(&lock);
    mock_trace_clear();
    mock_stamps_reset();
}
