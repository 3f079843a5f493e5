/* Profiling sessions and their trace, dumps of operators, facts about the chip. */
#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "acl/acl_dump.h"
#include "acl/acl_platform.h"
#include "acl/acl_prof.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_cat.h"
#include "check.h"
#include "profiling/session.h"

static char folder[] = "/tmp/mock-profile-XXXXXX";

static char *text_at(const char *path) {
    static char text[65536];
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

static char *text_of(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return text_at(path);
}

static char *of_session(unsigned number, const char *file) {
    char path[1024];
    session_path(folder, number, file, path, sizeof path);
    return text_at(path);
}

static void remove_all(const char *path) {
    DIR *d = opendir(path);
    char inner[512];
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.') continue;
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        if (unlink(inner) != 0) remove_all(inner);
    }
    if (d != NULL) closedir(d);
    rmdir(path);
}

static aclprofConfig *config(uint64_t switches) {
    uint32_t device = 0;
    aclprofConfig *c = aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, NULL, switches);
    CHECK(c != NULL);
    return c;
}

static void add(aclrtStream s, float *in, float *out) {
    float one = 1;
    uint64_t size = 0;
    aclOpExecutor *e = NULL;
    const int64_t dims[] = {2, 2}, turned[] = {1, 2};
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    aclTensor *a = aclCreateTensor(dims, 2, ACL_FLOAT, turned, 0, ACL_FORMAT_ND, dims, 2, in);
    aclTensor *b = aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, out);
    OK(aclnnAddGetWorkspaceSize(a, a, alpha, b, &size, &e));
    OK(aclnnAdd(NULL, size, e, s));
    OK(aclDestroyTensor(a));
    OK(aclDestroyTensor(b));
    OK(aclDestroyScalar(alpha));
}

static void states_have_codes(void) {
    aclprofConfig *c = config(ACL_PROF_TASK_TIME), *other = config(ACL_PROF_TASK_TIME | ACL_PROF_ACL_API);
    aclprofConfig *none = config(0), *strange = config(UINT64_C(1) << 40);
    uint32_t devices[] = {0, 0}, beyond = 9;
    CODE(aclprofStart(c), 100043);
    CODE(aclprofStop(c), 100043);
    CODE(aclprofFinalize(), 100043);
    CODE(aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, "200MB", 5), 100043);
    CODE(aclprofInit(NULL, 4), 100000);
    CODE(aclprofInit(folder, 3), 100000);
    CODE(aclprofInit("", 0), 100000);
    OK(aclprofInit(folder, strlen(folder)));
    CODE(aclprofInit(folder, strlen(folder)), 100002);
    OK(aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, "200MB", 5));
    CODE(aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, "200MB", 4), 100000);
    CODE(aclprofSetConfig(ACL_PROF_ARGS_MAX, "200MB", 5), 100000);
    CODE(aclprofStart(NULL), 100000);
    CODE(aclprofStart(none), 100000);
    CODE(aclprofStart(strange), 200007);
    CODE(aclprofStop(c), 100043);
    OK(aclprofStart(c));
    CODE(aclprofStart(c), 100042);
    CODE(aclprofStop(other), 100010);
    OK(aclprofStop(c));
    OK(aclprofFinalize());
    CODE(aclprofFinalize(), 100043);
    OK(aclprofDestroyConfig(c));
    CODE(aclprofDestroyConfig(c), 100000);
    CODE(aclprofDestroyConfig(NULL), 100000);
    CHECK(aclprofCreateConfig(NULL, 1, ACL_AICORE_NONE, NULL, ACL_PROF_ACL_API) == NULL);
    CHECK(aclprofCreateConfig(devices, 2, ACL_AICORE_NONE, NULL, ACL_PROF_ACL_API) == NULL);
    CHECK(aclprofCreateConfig(&beyond, 1, ACL_AICORE_NONE, NULL, ACL_PROF_ACL_API) == NULL);
    CHECK(aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_ACL_API) == NULL);
    aclprofConfig *host = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX);
    CHECK(host != NULL);
    up();
}

static void a_trace_has_kernels_marks_and_ranges(void) {
    uint32_t range = 0;
    aclrtStream s = new_stream();
    float *in = device(16), *out = device(16);
    CHECK(aclprofCreateStamp() == NULL);
    CODE(aclprofMark(s), -1);
    CODE(aclprofPop(), -1);
    CODE(aclprofMarkEx("m", 1, s), -1);
    aclprofConfig *c = config(ACL_PROF_TASK_TIME | ACL_PROF_MSPROFTX);
    const time_t before = time(NULL);
    OK(aclprofInit(folder, strlen(folder)));
    OK(aclprofStart(c));
    void *stamp = aclprofCreateStamp(), *inner = aclprofCreateStamp();
    OK(aclprofSetStampTraceMessage(stamp, "outer \"one\"", 11));
    OK(aclprofSetStampTraceMessage(inner, "inner", 5));
    CODE(aclprofSetStampTraceMessage(stamp, "x", 128), -1);
    CODE(aclprofSetStampTraceMessage(NULL, "x", 1), -1);
    OK(aclprofPush(stamp));
    OK(aclprofPush(inner));
    add(s, in, out);
    OK(aclprofMarkEx("on stream", 9, s));
    CODE(aclprofMarkEx("on stream", 8, s), -1);
    CODE(aclprofMarkEx("on stream", 9, NULL), -1);
    OK(aclrtSynchronizeStream(s));
    OK(aclprofPop());
    OK(aclprofPop());
    CODE(aclprofPop(), -1);
    OK(aclprofRangeStart(inner, &range));
    CODE(aclprofRangeStart(inner, NULL), -1);
    OK(aclprofRangeStop(range));
    CODE(aclprofRangeStop(range), -1);
    OK(aclprofMark(stamp));
    aclprofStepInfo *step = aclprofCreateStepInfo();
    OK(aclprofGetStepTimestamp(step, ACL_STEP_START, s));
    CODE(aclprofGetStepTimestamp(step, ACL_STEP_START, s), 100000);
    OK(aclprofGetStepTimestamp(step, ACL_STEP_END, s));
    CODE(aclprofGetStepTimestamp(NULL, ACL_STEP_END, s), 100000);
    aclprofDestroyStepInfo(step);
    aclprofDestroyStepInfo(NULL);
    step = aclprofCreateStepInfo();
    CODE(aclprofGetStepTimestamp(step, ACL_STEP_START, (aclrtStream)folder), 500002);
    CHECK(aclprofStr2Id("a") == aclprofStr2Id("a") && aclprofStr2Id("a") != aclprofStr2Id("b"));
    aclprofTensorInfo info = {.opNameId = aclprofStr2Id("a")};
    aclprofEventAttributes attr = {.version = 1, .message.tensorInfo = &info};
    OK(aclprofRangePushEx(&attr));
    OK(aclprofRangePop());
    CODE(aclprofRangePop(), -1);
    CODE(aclprofRangePushEx(NULL), 100000);
    OK(aclrtSynchronizeStream(s));
    OK(aclprofStop(c));
    const char *text = of_session(1, "trace.json");
    CHECK(strstr(text, "\"name\": \"aclnnAdd\"") != NULL && strstr(text, "outer \\\"one\\\"") != NULL);
    CHECK(strstr(text, "\"name\": \"on stream\", \"cat\": \"mark\", \"pid\": 1") != NULL);
    CHECK(strstr(text, "\"name\": \"on stream\", \"cat\": \"mark\", \"pid\": 0") != NULL);
    CHECK(strstr(text, "\"step 1 start\"") != NULL && strstr(text, "\"step 1 end\"") != NULL);
    CHECK(strstr(text, "\"name\": \"aclprofMarkEx\"") == NULL);
    const char *told = strstr(text, "\"args\": {\"device\": 0, \"told_ns\": ");
    unsigned long long queued = 0, began = 0, start = 0, raw = 0;
    CHECK(told != NULL && sscanf(strstr(told, "told_ns"), "told_ns\": %llu, \"began_ns\": %llu", &queued, &began) == 2);
    text = of_session(1, "host/start_info");
    CHECK(sscanf(text,
        "{\"collectionTimeBegin\": \"%llu\", \"clockMonotonicRaw\": \"%llu\"}", &start, &raw) == 2);
    CHECK(raw < queued && queued < began && start / 1000000 >= (unsigned long long)before);
    aclprofDestroyStamp(stamp);
    aclprofDestroyStamp(stamp);
    OK(aclprofStart(c));
    add(s, in, out);
    OK(aclrtSynchronizeStream(s));
    OK(aclprofFinalize()); /* stops and writes */
    CHECK(strstr(of_session(2, "trace.json"), "aclnnAdd") != NULL);
    CHECK(strstr(of_session(2, "trace.json"), "on stream") == NULL);
    OK(aclprofInit("/nowhere/at/all", 15));
    CODE(aclprofStart(c), 100003);
    up();
}

static void write_file(const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void dumps_write_operands(void) {
    char json[512], path[256], bad[256];
    aclrtStream s = new_stream();
    float *in = device(16), *out = device(16);
    const float values[] = {1, 2, 3, 4};
    OK(aclrtMemcpy(in, 16, values, 16, ACL_MEMCPY_HOST_TO_DEVICE));
    snprintf(path, sizeof path, "%s/dump.json", folder);
    snprintf(bad, sizeof bad, "%s/bad.json", folder);
    snprintf(json, sizeof json, "{\"dump\": {\"dump_path\": \"%s\", \"dump_mode\": \"all\"}}", folder);
    write_file("dump.json", json);
    CODE(aclmdlSetDump(path), 100045);
    CODE(aclmdlFinalizeDump(), 100045);
    OK(aclmdlInitDump());
    CODE(aclmdlInitDump(), 100002);
    CODE(aclmdlSetDump(NULL), 100000);
    CODE(aclmdlSetDump("/nowhere"), 100003);
    write_file("bad.json", "not json");
    CODE(aclmdlSetDump(bad), 100006);
    write_file("bad.json", "{\"dump\": {\"dump_path\": \"/nowhere/at/all\"}}");
    CODE(aclmdlSetDump(bad), 100009);
    write_file("bad.json", "{\"dump\": {\"dump_mode\": \"all\"}}");
    CODE(aclmdlSetDump(bad), 100009);
    CHECK(acldumpGetPath(DATA_DUMP) == NULL);
    OK(aclmdlSetDump(path));
    CHECK(strcmp(acldumpGetPath(DATA_DUMP), folder) == 0 && acldumpGetPath(AIC_ERR_BRIEF_DUMP) == NULL);
    CHECK(acldumpGetPath((acldumpType)9) == NULL);
    snprintf(path, sizeof path, "%s/shapes", folder);
    CODE(aclopStartDumpArgs(1, NULL), 500001);
    CODE(aclopStartDumpArgs(2, path), 500001);
    OK(aclopStartDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS, path));
    add(s, in, out);
    add(s, in, out);
    OK(aclrtSynchronizeStream(s));
    OK(aclopStopDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS));
    OK(aclmdlFinalizeDump());
    add(s, in, out);
    OK(aclrtSynchronizeStream(s));
    const char *file = text_of("000000.aclnnAdd.input.0.npy");
    const float turned[] = {1, 3, 2, 4}, doubled[] = {2, 6, 4, 8};
    CHECK(memcmp(file, "\x93NUMPY", 6) == 0 && strstr(file + 10, "'<f4'") != NULL && strstr(file + 10,
        "(2, 2, )") != NULL);
    CHECK(memcmp(file + 128, turned, 16) == 0);
    CHECK(memcmp(text_of("000001.aclnnAdd.output.0.npy") + 128, doubled, 16) == 0);
    snprintf(path, sizeof path, "%s/000002.aclnnAdd.output.0.npy", folder);
    CHECK(access(path, F_OK) != 0);
    const char *shapes = text_of("shapes/aclnnAdd.json");
    CHECK(strstr(shapes, "\"shape\": [2, 2]") != NULL && strchr(shapes, '\n')[1] == 0);
    char got[512];
    CODE(acldumpGetExceptionInfoPath(got, sizeof got), 500001);
    CODE(acldumpGetExceptionInfoPath(NULL, 9), 100000);
    snprintf(json, sizeof json,
        "{\"dump\": {\"dump_scene\": \"aic_err_brief_dump\", \"dump_path\": \"%s\"}}", folder);
    write_file("bad.json", json);
    OK(aclmdlInitDump());
    OK(aclmdlSetDump(bad));
    OK(acldumpGetExceptionInfoPath(got, sizeof got));
    CHECK(strstr(got, "/extra-info/data-dump/0/") != NULL);
    CODE(acldumpGetExceptionInfoPath(got, 5), 100000);
    OK(aclFinalize());
    CODE(aclmdlInitDump(), 100001);
    CODE(aclmdlSetDump(path), 100001);
    CODE(aclmdlFinalizeDump(), 100001);
    up();
}

/* Each member of a list is an operand of its own there. */
static void dumps_write_lists(void) {
    char json[512], path[256];
    const int64_t two = 2, four = 4;
    const float values[] = {1, 2, 3, 4};
    aclrtStream s = new_stream();
    float *in = device(16), *out = device(16);
    OK(aclrtMemcpy(in, 16, values, 16, ACL_MEMCPY_HOST_TO_DEVICE));
    snprintf(path, sizeof path, "%s/dump.json", folder);
    snprintf(json, sizeof json, "{\"dump\": {\"dump_path\": \"%s\", \"dump_mode\": \"all\"}}", folder);
    write_file("dump.json", json);
    OK(aclmdlInitDump());
    OK(aclmdlSetDump(path));
    snprintf(path, sizeof path, "%s/shapes", folder);
    OK(aclopStartDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS, path));
    const aclTensor *members[] = {
        aclCreateTensor(&two, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &two, 1, in + 2),
        aclCreateTensor(&two, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &two, 1, in),
    };
    aclTensorList *list = aclCreateTensorList(members, 2);
    aclTensor *whole = aclCreateTensor(&four, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &four, 1, out);
    uint64_t size;
    aclOpExecutor *executor;
    OK(aclnnCatGetWorkspaceSize(list, 0, whole, &size, &executor));
    OK(aclnnCat(NULL, size, executor, s));
    OK(aclrtSynchronizeStream(s));
    OK(aclopStopDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS));
    OK(aclmdlFinalizeDump());
    const float turned[] = {3, 4, 1, 2};
    CHECK(memcmp(text_of("000000.aclnnCat.input.0.npy") + 128, turned, 8) == 0);
    CHECK(memcmp(text_of("000000.aclnnCat.input.1.npy") + 128, values, 8) == 0);
    CHECK(memcmp(text_of("000000.aclnnCat.output.0.npy") + 128, turned, 16) == 0);
    const char *shapes = text_of("shapes/aclnnCat.json");
    const char *second = strstr(shapes, "\"shape\": [2]");
    CHECK(second != NULL && strstr(second + 1, "\"shape\": [2]") != NULL && strstr(shapes, "[4]") != NULL);
    OK(aclDestroyTensorList(list));
    OK(aclDestroyTensor(whole));
}

static void facts_about_the_chip(void) {
    char text[32];
    OK(aclplatformGetDeviceInfo(ACL_PLATFORM_CUBE_CORE_CNT, text, sizeof text));
    CHECK(strcmp(text, "24") == 0);
    OK(aclplatformGetDeviceInfo(ACL_PLATFORM_SOC_VERSION, text, sizeof text));
    CHECK(strcmp(text, aclrtGetSocName()) == 0);
    CODE(aclplatformGetDeviceInfo(ACL_PLATFORM_SOC_VERSION, text, 11), 100000);
    CODE(aclplatformGetDeviceInfo(ACL_PLATFORM_SOC_VERSION, NULL, 11), 100000);
    CODE(aclplatformGetDeviceInfo((aclplatformDevInfo)99, text, 11), 100000);
    CODE(aclplatformGetDeviceInfo(ACL_PLATFORM_CUBE_FREQ, text, 11), 100024);
    CODE(aclplatformGetInstructionInfo(ACL_PLATFORM_CORE_TYPE_AI_CORE, "vadd", text, 9), 100024);
    CODE(aclplatformGetInstructionInfo((aclplatformCoreType)7, "vadd", text, 9), 100000);
    CODE(aclplatformGetInstructionInfo(ACL_PLATFORM_CORE_TYPE_AI_CORE, NULL, text, 9), 100000);
}

int main(void) {
    CHECK(mkdtemp(folder) != NULL);
    up();
    states_have_codes();
    remove_all(folder); /* its sessions have the same numbers */
    CHECK(mkdir(folder, 0700) == 0);
    a_trace_has_kernels_marks_and_ranges();
    dumps_write_operands();
    dumps_write_lists();
    facts_about_the_chip();
    remove_all(folder);
    CHECK(live().library_objects == 0);
    return 0;
}
