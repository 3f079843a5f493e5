/* Part of racl (mock-acl). Dumps of operators: every type, every mode, and files that cannot be written. */
#include <sys/stat.h>
#include <unistd.h>
#include "acl/acl_dump.h"
#include "acl/acl_op.h"
#include "acl/acl_mdl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_cast.h"
#include "check.h"

static char folder[] = "/tmp/mock-acl-dumps-XXXXXX";
static unsigned char content[4096];
static size_t length;

/* Reads folder/name; false when there is none. */
static int read_file(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL) return 0;
    length = fread(content, 1, sizeof content - 1, f);
    content[length] = 0;
    fclose(f);
    return 1;
}

static int dumped(int number, const char *what) {
    char name[128];
    snprintf(name, sizeof name, "%06d.aclnnCast.%s.0.npy", number, what);
    return read_file(name);
}

static aclError configure(const char *json) {
    char path[512];
    snprintf(path, sizeof path, "%s/dump.json", folder);
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL && fputs(json, f) >= 0 && fclose(f) == 0);
    return aclmdlSetDump(path);
}

static aclError configure_mode(const char *more) {
    char json[1024];
    snprintf(json, sizeof json, "{\"dump\": {\"dump_path\": \"%s\"%s}}", folder, more);
    return configure(json);
}

/* 0, 1 and 2 of f32 as another type, in a shape of `rank` dimensions. */
static aclError cast(aclDataType type, uint64_t rank, aclrtStream s) {
    const float values[3] = {0, 1, 2};
    const int64_t dims[8] = {3, 1, 1, 1, 1, 1, 1, 1}, strides[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    void *in = device(64), *out = device(64);
    uint64_t size = 0;
    aclOpExecutor *e = NULL;
    OK(aclrtMemcpy(in, 64, values, 12, ACL_MEMCPY_HOST_TO_DEVICE));
    aclTensor *a = aclCreateTensor(dims, rank, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, rank, in);
    aclTensor *b = aclCreateTensor(dims, rank, type, strides, 0, ACL_FORMAT_ND, dims, rank, out);
    CHECK(a != NULL && b != NULL);
    OK(aclnnCastGetWorkspaceSize(a, type, b, &size, &e));
    OK(aclnnCast(NULL, size, e, s));
    const aclError code = aclrtSynchronizeStream(s);
    OK(aclDestroyTensor(a));
    OK(aclDestroyTensor(b));
    OK(aclrtFree(in));
    OK(aclrtFree(out));
    return code;
}

/* The header is a dictionary of NumPy; the values follow it at a multiple of 64 bytes. */
static void each_type(void) {
    static const struct {
        aclDataType type;
        const char *descr;
        size_t bytes;
        unsigned char two[8]; /* the last value */
    } types[] = {
        {ACL_FLOAT, "'<f4'", 4, {0, 0, 0, 0x40}}, {ACL_FLOAT16, "'<f2'", 2, {0, 0x40}},
        {ACL_BF16, "'<u2'", 2, {0, 0x40}}, {ACL_DOUBLE, "'<f8'", 8, {0, 0, 0, 0, 0, 0, 0, 0x40}},
        {ACL_INT8, "'|i1'", 1, {2}}, {ACL_UINT8, "'|u1'", 1, {2}}, {ACL_INT16, "'<i2'", 2, {2}},
        {ACL_INT32, "'<i4'", 4, {2}}, {ACL_INT64, "'<i8'", 8, {2}}, {ACL_BOOL, "'|b1'", 1, {1}}};
    aclrtStream s = new_stream();
    OK(configure_mode(", \"dump_mode\": \"all\""));
    for (int i = 0; i < 10; i++) {
        OK(cast(types[i].type, (uint64_t)(i % 8) + 1, s));
        CHECK(dumped(i, "input") && strstr((char *)content + 10, "'<f4'") != NULL);
        CHECK(dumped(i, "output") && memcmp(content, "\x93NUMPY\1", 7) == 0);
        CHECK(strstr((char *)content + 10, types[i].descr) != NULL);
        const size_t header = 10 + content[8] + ((size_t)content[9] << 8);
        CHECK(header % 64 == 0 && content[header - 1] == '\n' && length == header + 3 * types[i].bytes);
        CHECK(memcmp(content + header + 2 * types[i].bytes, types[i].two, types[i].bytes) == 0);
    }
}

static void modes(void) {
    aclrtStream s = new_stream();
    OK(configure_mode(", \"dump_mode\": \"input\""));
    OK(cast(ACL_INT8, 1, s));
    CHECK(dumped(10, "input") && !dumped(10, "output"));
    OK(configure_mode(""));
    OK(cast(ACL_INT8, 1, s));
    CHECK(!dumped(11, "input") && dumped(11, "output"));
    OK(configure_mode(", \"dump_mode\" : \"output\""));
    OK(cast(ACL_INT8, 1, s));
    CHECK(!dumped(12, "input") && dumped(12, "output"));
    CODE(configure_mode(", \"dump_mode\": \"some\""), 100009);
    OK(configure_mode(", \"dump_mode\": 5")); /* no text: as if it were not there */
    OK(configure("{\"other\": {}}")); /* nothing about dumps, and nothing changes */
    OK(cast(ACL_INT8, 1, s));
    CHECK(dumped(13, "output"));
    CODE(configure("{\"dump\": {\"dump_path\": \"/etc/passwd\"}}"), 100009); /* a file */
    char json[9000] = "{\"dump\": {\"dump_path\": \"/";
    memset(json + strlen(json), 'x', 8000);
    strcat(json, "\"}}");
    CODE(configure(json), 100009);
    OK(configure("{\"dump\": {\"dump_scene\": \"aic_err_brief_dump\"}}"));
    CHECK(strcmp(acldumpGetPath(AIC_ERR_BRIEF_DUMP), ".") == 0 && acldumpGetPath(OVERFLOW_DUMP) == NULL);
    OK(cast(ACL_INT8, 1, s));
    CHECK(!dumped(14, "output"));
}

/* A graph dumps in each replay; one that is aborted on the way writes what ran. */
static void replays(void) {
    OK(aclmdlFinalizeDump());
    OK(aclmdlInitDump());
    OK(configure_mode(""));
    aclrtStream s = new_stream();
    OK(cast(ACL_INT32, 1, s));
    const int64_t three = 3, one = 1;
    void *in = device(64), *out = device(64);
    uint64_t size = 0;
    aclOpExecutor *e = NULL;
    aclmdlRI graph = NULL;
    aclTensor *a = aclCreateTensor(&three, 1, ACL_FLOAT, &one, 0, ACL_FORMAT_ND, &three, 1, in);
    aclTensor *b = aclCreateTensor(&three, 1, ACL_INT8, &one, 0, ACL_FORMAT_ND, &three, 1, out);
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclnnCastGetWorkspaceSize(a, ACL_INT8, b, &size, &e));
    OK(aclnnCast(NULL, size, e, s));
    OK(aclmdlRICaptureEnd(s, &graph));
    int first = 0;
    while (dumped(first, "output") || first < 15) first++;
    for (int i = 0; i < 3; i++) OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtSynchronizeStream(s));
    for (int i = 0; i < 3; i++) CHECK(dumped(first + i, "output"));
    OK(mock_acl_hold_stream(s));
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtStreamAbort(s));
    OK(mock_acl_release_stream(s));
    CHECK(!dumped(first + 3, "output"));
    OK(aclDestroyTensor(a));
    OK(aclDestroyTensor(b));
    OK(aclmdlRIDestroy(graph));
}

/* The operator runs on. */
static void nowhere_to_write(void) {
    char gone[512];
    snprintf(gone, sizeof gone, "%s/gone", folder);
    CHECK(mkdir(gone, 0700) == 0);
    char json[1024];
    snprintf(json, sizeof json, "{\"dump\": {\"dump_path\": \"%s\", \"dump_mode\": \"all\"}}", gone);
    OK(configure(json));
    CHECK(rmdir(gone) == 0);
    aclrtStream s = new_stream();
    OK(cast(ACL_INT8, 1, s));
    CHECK(access(gone, F_OK) != 0);
    OK(aclmdlFinalizeDump());
    char file[512];
    snprintf(file, sizeof file, "%s/dump.json", folder);
    OK(aclopStartDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS, file)); /* a file where a folder is meant */
    OK(cast(ACL_INT8, 1, s));
    CODE(aclopStartDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS, "/nowhere/at/all"), 500001);
    OK(aclopStopDumpArgs(2));
    OK(aclopStartDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS, folder));
    OK(cast(ACL_INT8, 8, s));
    OK(cast(ACL_INT8, 1, s));
    OK(cast(ACL_INT8, 8, s)); /* known already */
    OK(aclopStopDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS));
    CHECK(read_file("aclnnCast.json"));
    int lines = 0;
    for (size_t i = 0; i < length; i++) lines += content[i] == '\n';
    CHECK(lines == 2 && strstr((char *)content, "\"shape\": [3, 1, 1, 1, 1, 1, 1, 1]") != NULL);
}

int main(void) {
    CHECK(mkdtemp(folder) != NULL);
    up();
    OK(aclmdlInitDump());
    each_type();
    modes();
    replays();
    nowhere_to_write();
    CHECK(mock_acl_reset() == 0);
    char remove[600];
    snprintf(remove, sizeof remove, "rm -r '%s'", folder);
    return system(remove);
}
