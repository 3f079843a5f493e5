/* Dumps that go elsewhere: to a function of the program instead of files, and tensors of the program beside the dumps
 * of exceptions (guide: dump; codes: implementation of the open runtime). */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "acl/acl.h"
#include "acl/acl_dump.h"
#include "profiling/dump.h"

/* Of one call of the function (own choice). */
#define CHUNK_LIMIT ((size_t)1 << 20)

typedef int32_t (*receiver)(const acldumpChunk *, int32_t);
static _Atomic(receiver) receives;

/* ---- the function of the program ---- */

bool mock_dump_received(void) { return atomic_load(&receives) != NULL; }

void mock_dump_out_reset(void) { atomic_store(&receives, NULL); }

/* A null function and a flag but 0: 500001. A second one takes the place of the first (own choice). */
MOCK_EXPORT aclError acldumpRegCallback(
    int32_t (*const messageCallback)(const acldumpChunk *, int32_t), int32_t flag) {
    MOCK_ENTER(acldumpRegCallback);
    if (flag != 0) return mock_fail(ACL_ERROR_FAILURE, "EP0006", "flag %d is not 0", flag);
    if (messageCallback == NULL)
        return mock_fail(ACL_ERROR_FAILURE, "EP0007", "messageCallback must not be null");
    atomic_store(&receives, messageCallback);
    mock_dump_changed();
    return 0;
}

MOCK_EXPORT void acldumpUnregCallback(void) {
    if (mock_enter(MOCK_API_acldumpUnregCallback) != 0) return;
    mock_dump_out_reset();
    mock_dump_changed();
}

/* In order; a function that fails gets no more of this file (own choice). */
bool mock_dump_send(const char *name, const char *data, size_t size) {
    const receiver to = atomic_load(&receives);
    if (to == NULL) return false;
    acldumpChunk *c = malloc(sizeof *c + (size < CHUNK_LIMIT ? size : CHUNK_LIMIT));
    size_t offset = 0;
    bool more = c != NULL;
    while (more) {
        const size_t n = size - offset < CHUNK_LIMIT ? size - offset : CHUNK_LIMIT;
        memset(c, 0, sizeof *c);
        snprintf(c->fileName, sizeof c->fileName, "%s", name);
        c->bufLen = (uint32_t)n;
        c->offset = (int64_t)offset;
        c->isLastChunk = offset + n == size;
        memcpy(c->dataBuf, data + offset, n);
        more = to(c, (int32_t)(sizeof *c + n)) == 0 && c->isLastChunk == 0;
        offset += n;
    }
    free(c);
    return true;
}

/* ---- tensors of the program ---- */

static aclError bad_save(const char *id, const char *text) {
    return mock_fail(ACL_ERROR_INVALID_PARAM, id, "%s", text);
}

static bool climbs(const char *name) {
    for (const char *p = name; *p != '\0'; p += *p == '/') {
        const size_t n = strcspn(p, "/");
        if (n == 2 && p[0] == '.' && p[1] == '.') return true;
        p += n;
    }
    return false;
}

static aclError check_save(const char *name, const acldumpTensorInfo *tensors, size_t count) {
    if (name == NULL) return bad_save("EP0007", "fileName must not be null");
    if (*name == '\0' || climbs(name)) return bad_save("EP0006", "fileName is empty or leads upwards");
    if (strlen(name) > 255) return bad_save("EP0006", "fileName is longer than 255");
    if (tensors == NULL) return bad_save("EP0007", "tensors must not be null");
    if (count == 0) return bad_save("EP0006", "tensorCount must not be 0");
    for (size_t i = 0; i < count; i++) {
        const acldumpTensorInfo *t = &tensors[i];
        if (t->tensorAddr == NULL) return bad_save("EP0007", "tensorAddr must not be null");
        if (t->tensorSize == 0) return bad_save("EP0006", "tensorSize must not be 0");
        if (t->shapeNum > ACL_DUMP_MAX_SHAPE_NUM || t->originShapeNum > ACL_DUMP_MAX_SHAPE_NUM)
            return bad_save("EP0006", "a shape has more than 25 dimensions");
        if (t->addrType != ACL_DUMP_ADDR_RAW || t->placement != ACL_DUMP_PLACEMENT_DEVICE)
            return bad_save("EP0006", "only plain addresses of the device");
    }
    return 0;
}

static bool make_folders(char *path) {
    for (char *p = strchr(path + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
        *p = '\0';
        const bool good = mkdir(path, 0777) == 0 || errno == EEXIST;
        *p = '/';
        if (!good) return false;
    }
    return true;
}

/* NAME.custom.YYYYmmddHHMMSSmmm, where nothing is yet. */
static FILE *open_new(const char *path) {
    char file[MOCK_DUMP_PATH_LIMIT + 512], day[32];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    for (int i = 0; i < 1000; i++) {
        const long ms = now.tv_nsec / 1000000 + i;
        const time_t seconds = now.tv_sec + ms / 1000;
        struct tm t;
        strftime(day, sizeof day, "%Y%m%d%H%M%S", localtime_r(&seconds, &t));
        snprintf(file, sizeof file, "%s.custom.%s%03ld", path, day, ms % 1000);
        FILE *f = fopen(file, "wbx");
        if (f != NULL || errno != EEXIST) return f;
    }
    return NULL;
}

static void write_tag(FILE *f, const char *tag) {
    for (const char *p = tag == NULL ? "" : tag; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\') fprintf(f, "\\%c", *p);
        else if ((unsigned char)*p < 0x20) fprintf(f, "\\u%04x", (unsigned)*p);
        else fputc(*p, f);
    }
}

/* A line of JSON, then the bytes of each tensor (own choice: the real one writes a format of its own). */
static void write_head(FILE *f, const char *tag, const acldumpTensorInfo *tensors, size_t count) {
    fputs("{\"tag\": \"", f);
    write_tag(f, tag);
    fputs("\", \"tensors\": [", f);
    for (size_t i = 0; i < count; i++) {
        const acldumpTensorInfo *t = &tensors[i];
        fprintf(f, "%s{\"type\": %d, \"dtype\": %d, \"format\": %d, \"bytes\": %zu, \"shape\": [",
            i == 0 ? "" : ", ", (int)t->type, t->dataType, t->format, t->tensorSize);
        for (uint32_t k = 0; k < t->shapeNum; k++)
            fprintf(f, "%s%llu", k == 0 ? "" : ", ", (unsigned long long)t->shape[k]);
        fputs("]}", f);
    }
    fputs("]}\n", f);
}

/* The bytes of all tensors one behind the other; null when one of them is not there. */
static char *read_tensors(const acldumpTensorInfo *tensors, size_t count, size_t *size) {
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(total, tensors[i].tensorSize, &total)) return NULL;
    char *data = malloc(total), *to = data;
    for (size_t i = 0; data != NULL && i < count; to += tensors[i++].tensorSize) {
        const size_t n = tensors[i].tensorSize;
        if (aclrtMemcpy(to, n, tensors[i].tensorAddr, n, ACL_MEMCPY_DEVICE_TO_HOST) == 0) continue;
        free(data);
        return NULL;
    }
    *size = total;
    return data;
}

/* Exceptions are not dumped (dump_scene), or the file or the memory cannot be had: 500001. */
MOCK_EXPORT aclError acldumpSaveExceptionInfo(
    const char *fileName, const char *userTag, const acldumpTensorInfo *tensors, size_t tensorCount) {
    MOCK_ENTER(acldumpSaveExceptionInfo);
    const aclError code = check_save(fileName, tensors, tensorCount);
    if (code != 0) return code;
    char path[MOCK_DUMP_PATH_LIMIT + 400];
    if (!mock_dump_exceptions(path, MOCK_DUMP_PATH_LIMIT + 100))
        return mock_fail(ACL_ERROR_FAILURE, "EP0008", "exceptions are not dumped");
    size_t size = 0;
    char *data = read_tensors(tensors, tensorCount, &size);
    if (data == NULL) return mock_fail(ACL_ERROR_FAILURE, "EP9999", "a tensor cannot be read");
    strcat(path, fileName);
    FILE *f = make_folders(path) ? open_new(path) : NULL;
    bool good = f != NULL;
    if (good) {
        write_head(f, userTag, tensors, tensorCount);
        good = fwrite(data, 1, size, f) == size;
        good = fclose(f) == 0 && good;
    }
    free(data);
    return good ? 0 : mock_fail(ACL_ERROR_FAILURE, "EP9999", "%s cannot be written: %s", path, strerror(errno));
}
