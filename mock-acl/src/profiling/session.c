/* Profiling sessions (guide: profiling; codes: implementation of the open runtime's collector): what was
 * recorded is written as a Chrome trace, FOLDER/PROF_00000N_TIME_LETTERS/trace.json, when the last device stops.
 * Beside it stand the folders and the start of clocks that torch_npu's profiler looks for; tools/msprof.py makes its
 * tables of the trace.
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
#include <time.h>
#include <unistd.h>
#include "acl/acl_prof.h"
#include "base/base.h"
#include "devices/devices.h"
#include "engine/engine.h"
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
static bool profiled[MOCK_MAX_DEVICES]; /* by this session */
static uint64_t began_us, began_raw_ns; /* since 1970; of the clock of profiles */
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
        memset(profiled, 0, sizeof profiled);
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        began_raw_ns = mock_raw_ns();
        began_us = (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        started[c->devices[i]] = c->switches;
        if (c->devices[i] < HOST) profiled[c->devices[i]] = true;
    }
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

/* Not for others to write in: torch_npu refuses such folders. */
static aclError make_part(const char *path) {
    if (mkdir(path, 0750) == 0 || errno == EEXIST) return 0;
    return mock_fail(ACL_ERROR_INVALID_FILE, "EK0001", "%s: %s", path, strerror(errno));
}

/* PROF_, the number, the time and letters that no other process has at that time, as the real one names it. */
static void name_session(char *path, size_t room) {
    char when[32] = "", letters[17] = "";
    const time_t seconds = (time_t)(began_us / 1000000u);
    struct tm parts;
    if (localtime_r(&seconds, &parts) != NULL) strftime(when, sizeof when, "%Y%m%d%H%M%S", &parts);
    uint64_t bits = began_raw_ns * UINT64_C(11400714819323198485) ^ (uint64_t)getpid() << 40;
    for (unsigned i = 0; i < 16; i++, bits >>= 4) letters[i] = (char)('A' + (bits & 15));
    const unsigned ms = (unsigned)(began_us / 1000u % 1000u);
    snprintf(path, room, "%s/PROF_%06u_%s%03u_%s", folder, session, when, ms, letters);
}

static aclError write_start(const char *path) {
    FILE *f = fopen(path, "w");
    if (f == NULL) return mock_fail(ACL_ERROR_WRITE_FILE, "EK0001", "%s: %s", path, strerror(errno));
    fprintf(f, "{\"collectionTimeBegin\": \"%llu\", \"clockMonotonicRaw\": \"%llu\"}\n",
        (unsigned long long)began_us, (unsigned long long)began_raw_ns);
    return fclose(f) == 0 ? 0 : mock_fail(ACL_ERROR_WRITE_FILE, "EK0001", "%s: not all was written", path);
}

static aclError write_out(void) {
    char path[PATH_LIMIT + 96];
    name_session(path, sizeof path);
    char *end = path + strlen(path);
    aclError code = make_part(path);
    strcpy(end, "/host");
    if (code == 0) code = make_part(path);
    strcpy(end, "/host/start_info");
    if (code == 0) code = write_start(path);
    for (unsigned i = 0; i < HOST && code == 0; i++) {
        sprintf(end, "/device_%u", i);
        if (profiled[i]) code = make_part(path);
    }
    strcpy(end, "/trace.json");
    return code == 0 ? mock_trace_write(path) : code;
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
