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
    OK(configure_mode(", \"dump_scene\": \"lite_exception\""));
    CHECK(strcmp(acldumpGetPath(AIC_ERR_BRIEF_DUMP), folder) == 0);
    OK(configure_mode(", \"dump_kernel_data\": \"printf\"")); /* not of operands */
    CHECK(acldumpGetPath(DATA_DUMP) == NULL && acldumpGetPath(AIC_ERR_BRIEF_DUMP) == NULL);
    OK(configure_mode(", \"dump_kernel_data\": \"all\", \"dump_op_switch\": \"on\""));
    CHECK(strcmp(acldumpGetPath(DATA_DUMP), folder) == 0);
}

/* Paths in JSON have escapes. */
static void escapes(void) {
    char odd[512], json[1024];
    snprintf(odd, sizeof odd, "%s/a \"b\"\\\t/", folder);
    CHECK(mkdir(odd, 0700) == 0);
    snprintf(json, sizeof json, "{\"dump\": {\"dump_path\": \"%s\\/a \\\"b\\\"\\\\\\u0009\\/\"}}", folder);
    OK(configure(json));
    CHECK(strcmp(acldumpGetPath(DATA_DUMP), odd) == 0);
    snprintf(json, sizeof json, "{\"dump\": {\"dump_path\": \"%s/a \\\"b\\\"\\\\\\t/\"}}", folder);
    OK(configure(json));
    CHECK(strcmp(acldumpGetPath(DATA_DUMP), odd) == 0);
    snprintf(json, sizeof json, "{\"dump\": {\"dump_path\": \"%s\\u0100\"}}", folder);
    OK(configure(json)); /* ends there: a character that is not ASCII stands for none */
    CODE(configure("{\"dump\": {\"dump_path\": \"\\"), 100006);
    CHECK(rmdir(odd) == 0);
    OK(configure_mode(", \"dump_scene\": \"watcher\", \"dump_mode\": \"input\""));
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
    int said[2];
    const int before = dup(STDERR_FILENO);
    CHECK(before >= 0 && pipe(said) == 0 && dup2(said[1], STDERR_FILENO) >= 0);
    OK(cast(ACL_INT8, 1, s));
    CHECK(dup2(before, STDERR_FILENO) >= 0 && close(said[1]) == 0);
    char words[2048] = "";
    CHECK(read(said[0], words, sizeof words - 1) > 0 && close(said[0]) == 0 && close(before) == 0);
    CHECK(strstr(words, "cannot be written") != NULL && strstr(words, gone) != NULL);
    CHECK(strchr(words, '\n')[1] == '\0'); /* once */
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

/* ---- elsewhere than in files ---- */

static struct {
    int files, chunks, code;
    char name[4096];
    unsigned char data[(3 << 20) + 4096];
    size_t size;
} got;

static int32_t take(const acldumpChunk *c, int32_t length_of_all) {
    CHECK(length_of_all == (int32_t)(sizeof *c + c->bufLen));
    if (c->offset == 0) {
        got.files++;
        got.size = 0;
        strcpy(got.name, c->fileName);
    }
    CHECK((size_t)c->offset == got.size && strcmp(got.name, c->fileName) == 0);
    memcpy(got.data + got.size, c->dataBuf, c->bufLen);
    got.size += c->bufLen;
    got.chunks++;
    return got.code;
}

static void remove_dumps(void) {
    char command[600];
    snprintf(command, sizeof command, "rm -f '%s'/*.npy", folder);
    CHECK(system(command) == 0);
}

/* What a file would hold comes to the program, with nothing configured too. */
static void to_the_program(void) {
    up();
    remove_dumps();
    CODE(acldumpRegCallback(NULL, 0), 500001);
    CODE(acldumpRegCallback(take, 1), 500001);
    OK(acldumpRegCallback(take, 0));
    aclrtStream s = new_stream();
    OK(cast(ACL_INT32, 1, s));
    CHECK(got.files == 0); /* aclmdlInitDump comes first */
    OK(aclmdlInitDump());
    OK(cast(ACL_INT32, 1, s));
    CHECK(got.files == 1 && got.chunks == 1 && strcmp(got.name, "./000000.aclnnCast.output.0.npy") == 0);
    const int32_t wanted[] = {0, 1, 2};
    CHECK(got.size == 128 + sizeof wanted && memcmp(got.data + 128, wanted, sizeof wanted) == 0);
    OK(configure_mode(", \"dump_mode\": \"all\""));
    OK(cast(ACL_INT32, 1, s));
    CHECK(got.files == 3 && strstr(got.name, "000001.aclnnCast.output.0.npy") != NULL);
    CHECK(strncmp(got.name, folder, strlen(folder)) == 0 && access(got.name, F_OK) != 0);
    got.code = 1; /* refused: the operator runs on */
    OK(cast(ACL_INT32, 1, s));
    CHECK(got.files == 5);
    acldumpUnregCallback();
    OK(cast(ACL_INT32, 1, s));
    CHECK(got.files == 5 && dumped(3, "output"));
    OK(aclmdlFinalizeDump());
}

/* More than 1 MiB comes in parts. */
static void in_parts(void) {
    up();
    memset(&got, 0, sizeof got);
    const int64_t dims[] = {600000}, stride[] = {1};
    void *in = device(2400000), *out = device(2400000);
    OK(aclrtMemset(in, 2400000, 0, 2400000));
    aclTensor *a = aclCreateTensor(dims, 1, ACL_FLOAT, stride, 0, ACL_FORMAT_ND, dims, 1, in);
    aclTensor *b = aclCreateTensor(dims, 1, ACL_INT32, stride, 0, ACL_FORMAT_ND, dims, 1, out);
    uint64_t size = 0;
    aclOpExecutor *e = NULL;
    OK(acldumpRegCallback(take, 0));
    OK(aclmdlInitDump());
    OK(aclnnCastGetWorkspaceSize(a, ACL_INT32, b, &size, &e));
    aclrtStream s = new_stream();
    OK(aclnnCast(NULL, 0, e, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(got.files == 1 && got.chunks == 3 && got.size == 2400000 + 128);
    memset(&got, 0, sizeof got);
    got.code = 1; /* the rest of the file does not come */
    OK(aclnnCastGetWorkspaceSize(a, ACL_INT32, b, &size, &e));
    OK(aclnnCast(NULL, 0, e, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(got.files == 1 && got.chunks == 1);
    OK(aclDestroyTensor(a));
    OK(aclDestroyTensor(b));
    acldumpUnregCallback();
    OK(aclmdlFinalizeDump());
}

static aclError init_with(const char *json) {
    char path[512];
    snprintf(path, sizeof path, "%s/init.json", folder);
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL && fputs(json, f) >= 0 && fclose(f) == 0);
    OK(mock_acl_reset());
    return aclInit(path);
}

/* A dump in the configuration of aclInit lasts until aclFinalize, and aclmdlInitDump is not needed. */
static void from_init(void) {
    char json[1024];
    snprintf(json, sizeof json, "{\"dump\": {\"dump_path\": \"%s\", \"dump_mode\": \"all\"}}", folder);
    remove_dumps();
    OK(init_with(json));
    OK(aclrtSetDevice(0));
    CHECK(strcmp(acldumpGetPath(DATA_DUMP), folder) == 0);
    aclrtStream s = new_stream();
    OK(cast(ACL_INT8, 1, s));
    CHECK(dumped(0, "input") && dumped(0, "output"));
    OK(aclFinalize());
    CHECK(acldumpGetPath(DATA_DUMP) == NULL);
    OK(cast(ACL_INT8, 1, s));
    CHECK(!dumped(1, "input") && !dumped(1, "output"));
    snprintf(json, sizeof json, "{\"dump\": {\"dump_path\": \"%s\", \"dump_debug\": \"on\"}}", folder);
    remove_dumps();
    OK(init_with(json)); /* overflows, not operands */
    OK(aclrtSetDevice(0));
    s = new_stream();
    OK(cast(ACL_INT8, 1, s));
    CHECK(acldumpGetPath(DATA_DUMP) == NULL && !dumped(0, "output"));
    CODE(init_with("{\"dump\": {\"dump_path\": \"/nowhere/at/all\"}}"), 100009);
    char far[9000] = "{\"dump\": {\"dump_path\": \"/";
    memset(far + strlen(far), 'x', 8000);
    strcat(far, "\"}}");
    CODE(init_with(far), 100009);
    OK(init_with("{\"dump\": {\"dump_debug\": \"off\"}}"));
    CHECK(acldumpGetPath(DATA_DUMP) == NULL);
}

/* The only file that the folder of exceptions has. */
static int saved(const char *root, const char *start) {
    char command[1200];
    snprintf(command, sizeof command,
        "cd '%s' && test $(ls | wc -l) = 1 && cat '%s'.custom.?????????????????", root, start);
    FILE *p = popen(command, "r");
    CHECK(p != NULL);
    length = fread(content, 1, sizeof content - 1, p);
    content[length] = 0;
    return pclose(p) == 0;
}

static void exceptions_of_the_program(void) {
    char json[1024], root[4096], nested[4200];
    float *x = NULL;
    const float values[] = {1, 2, 3, 4};
    acldumpTensorInfo t[2];
    up();
    x = device(16);
    t[0] = (acldumpTensorInfo){.type = ACL_DUMP_TENSOR_OUTPUT,
        .tensorSize = 8,
        .format = 2,
        .tensorAddr = (int64_t *)x,
        .addrType = ACL_DUMP_ADDR_RAW,
        .shapeNum = 2,
        .shape = {2, 1}};
    t[1] = t[0];
    CODE(acldumpSaveExceptionInfo("x", "tag", t, 1), 500001); /* not switched on */
    snprintf(json, sizeof json,
        "{\"dump\": {\"dump_scene\": \"aic_err_brief_dump\", \"dump_path\": \"%s\"}}", folder);
    OK(init_with(json));
    OK(aclrtSetDevice(0));
    x = device(16);
    OK(aclrtMemcpy(x, 16, values, 16, ACL_MEMCPY_HOST_TO_DEVICE));
    t[0].tensorAddr = (int64_t *)x;
    t[1].tensorAddr = (int64_t *)(x + 2);
    OK(acldumpGetExceptionInfoPath(root, sizeof root));
    OK(acldumpSaveExceptionInfo("kernel", "a \"b\"", t, 2));
    CHECK(saved(root, "kernel"));
    const char *line = "{\"tag\": \"a \\\"b\\\"\", \"tensors\": [{\"type\": 1, \"dtype\": 0, \"format\": 2, "
                       "\"bytes\": 8, \"shape\": [2, 1]}, {\"type\": 1, \"dtype\": 0, \"format\": 2, \"bytes\": 8, "
                       "\"shape\": [2, 1]}]}\n";
    CHECK(length == strlen(line) + 16 && memcmp(content, line, strlen(line)) == 0);
    CHECK(memcmp(content + strlen(line), values, 16) == 0);
    OK(acldumpSaveExceptionInfo("a/b/kernel", NULL, t, 1));
    snprintf(nested, sizeof nested, "%sa/b", root);
    CHECK(saved(nested, "kernel"));
    CODE(acldumpSaveExceptionInfo(NULL, "", t, 1), 100000);
    CODE(acldumpSaveExceptionInfo("", "", t, 1), 100000);
    CODE(acldumpSaveExceptionInfo("a/../b", "", t, 1), 100000);
    CODE(acldumpSaveExceptionInfo("..", "", t, 1), 100000);
    CODE(acldumpSaveExceptionInfo("x", "", NULL, 1), 100000);
    CODE(acldumpSaveExceptionInfo("x", "", t, 0), 100000);
    t[0].shapeNum = 26;
    CODE(acldumpSaveExceptionInfo("x", "", t, 1), 100000);
    t[0].shapeNum = 25;
    t[0].tensorSize = 0;
    CODE(acldumpSaveExceptionInfo("x", "", t, 1), 100000);
    t[0].tensorSize = 17; /* behind the block */
    CODE(acldumpSaveExceptionInfo("x", "", t, 1), 500001);
    t[0].tensorAddr = NULL;
    CODE(acldumpSaveExceptionInfo("x", "", t, 1), 100000);
}

int main(void) {
    CHECK(mkdtemp(folder) != NULL);
    up();
    OK(aclmdlInitDump());
    each_type();
    modes();
    escapes();
    replays();
    nowhere_to_write();
    to_the_program();
    in_parts();
    from_init();
    exceptions_of_the_program();
    CHECK(mock_acl_reset() == 0);
    char remove[600];
    snprintf(remove, sizeof remove, "rm -r '%s'", folder);
    return system(remove);
}
