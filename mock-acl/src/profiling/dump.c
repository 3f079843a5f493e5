/* Dumps of operators (guide: dump; codes: implementation of the open runtime).
 *
 * After aclmdlInitDump and aclmdlSetDump, or with a dump in the configuration of aclInit, every operator writes its
 * operands as NumPy files,
 * DUMP_PATH/NNNNNN.FUNCTION.input.I.npy before it runs and ...output.I.npy after it (own choice; bfloat16
 * as 16-bit numbers). aclopStartDumpArgs writes PATH/FUNCTION.json, a line for each set of shapes. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "acl/acl_dump.h"
#include "base/base.h"
#include "contexts/contexts.h"
#include "models/models.h"
#include "objects/objects.h"
#include "profiling/dump.h"
#include "profiling/profiling.h"
#include "profiling/watch.h"

#define PATH_LIMIT MOCK_DUMP_PATH_LIMIT

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool inited, inputs, outputs, exceptions;
static bool by_init; /* the configuration came with aclInit and goes with aclFinalize */
static char path[PATH_LIMIT + 1], shapes_path[PATH_LIMIT + 1];
static uint64_t next_number;

/* A function of the program gets outputs without any configuration (guide: dump, acldumpRegCallback; own choice that
 * these are the outputs). With the lock. */
static bool unconfigured(void) { return inited && path[0] == '\0' && mock_dump_received(); }

static void watch(void) { mock_watch_set(MOCK_WATCH_DUMP, inputs || outputs || unconfigured()); }

static void forget(void) {
    inputs = outputs = exceptions = by_init = false;
    path[0] = '\0';
    watch();
}

void mock_dump_changed(void) {
    pthread_mutex_lock(&lock);
    watch();
    pthread_mutex_unlock(&lock);
}

void mock_dump_reset(void) {
    mock_dump_out_reset();
    pthread_mutex_lock(&lock);
    inited = false;
    forget();
    shapes_path[0] = '\0';
    next_number = 0;
    mock_watch_set(MOCK_WATCH_SHAPES, false);
    pthread_mutex_unlock(&lock);
}

/* ---- the configuration ---- */

/* The character of an escape, at whose letter `*at` stands; then at its last one. Those above 127 stand for none (own
 * choice). */
static char escaped(const char **at) {
    static const char letters[] = "nrtbf", characters[] = "\n\r\t\b\f";
    const char *letter = **at == '\0' ? NULL : strchr(letters, **at);
    if (letter != NULL) return characters[letter - letters];
    if (**at != 'u') return **at;
    unsigned code = 0;
    for (int i = 0; i < 4 && isxdigit((unsigned char)(*at)[1]); i++) {
        const char digit[] = {*++*at, '\0'};
        code = code * 16 + (unsigned)strtoul(digit, NULL, 16);
    }
    return code < 128 ? (char)code : '\0';
}

/* The text behind a key, wherever it stands; false without one. */
static bool text_of(const char *json, const char *key, char *out, size_t size) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    const char *at = strstr(json, quoted);
    if (at == NULL) return false;
    at += strlen(quoted);
    at += strspn(at, " \t\r\n:");
    if (*at != '"') return false;
    size_t n = 0;
    for (at++; *at != '\0' && *at != '"' && n < size; at++) {
        if (*at == '\\' && at[1] != '\0') {
            at++;
            out[n++] = escaped(&at);
        } else {
            out[n++] = *at;
        }
    }
    if (n >= size) { /* a path that is too long is told, and is that of nothing */
        *out = '\0';
        return size > PATH_LIMIT;
    }
    out[n] = '\0';
    return true;
}

/* What kernels say is dumped by itself where nothing asks for operands (guide: initialisation, aclInit; own choice that
 * the mock, whose kernels say it to the program's output, writes no file of it). */
static bool kernels_alone(const char *json) {
    char output[64], on[8] = "";
    text_of(json, "dump_op_switch", on, sizeof on);
    return text_of(json, "dump_kernel_data", output, sizeof output) && strcmp(on, "on") != 0 &&
           strstr(json, "\"dump_list\"") == NULL;
}

/* A path, and a mode of input, output or all; or a scene of exceptions. Else 100009. */
static aclError configure(const char *json) {
    char folder[PATH_LIMIT + 1] = "", mode[32] = "output", scene[64] = "", debug[8] = "";
    const bool scened = text_of(json, "dump_scene", scene, sizeof scene);
    const bool placed = text_of(json, "dump_path", folder, sizeof folder);
    text_of(json, "dump_mode", mode, sizeof mode);
    const bool all = strcmp(mode, "all") == 0;
    const bool known = all || strcmp(mode, "input") == 0 || strcmp(mode, "output") == 0;
    struct stat info;
    if (strstr(json, "\"dump\"") == NULL) return 0; /* nothing about dumps */
    if (!known || (!placed && !scened) || (placed && (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))))
        return mock_fail(ACL_ERROR_INVALID_DUMP_CONFIG, "EP0006",
            "no dump_path that is a folder, or mode %s", mode);
    strcpy(path, placed ? folder : ".");
    exceptions = scened && strcmp(scene, "watcher") != 0;
    /* Other scenes than that of watched operators, and overflows, are not about operands. */
    text_of(json, "dump_debug", debug, sizeof debug);
    const bool data = placed && strcmp(debug, "on") != 0 && (!scened || strcmp(scene, "watcher") == 0) &&
                      !kernels_alone(json);
    inputs = data && (all || mode[0] == 'i');
    outputs = data && (all || mode[0] == 'o');
    watch();
    return 0;
}

/* What aclInit was given, as aclmdlSetDump takes it; null for aclFinalize. Without a path and a scene nothing is dumped
 * (guide: initialisation, aclInit). */
static aclError init_told(const char *json) {
    char scratch[PATH_LIMIT + 1];
    aclError code = 0;
    pthread_mutex_lock(&lock);
    if (json == NULL && by_init) {
        forget();
    } else if (json != NULL && (text_of(json, "dump_path", scratch, sizeof scratch) ||
                                   text_of(json, "dump_scene", scratch, sizeof scratch))) {
        code = configure(json);
        by_init = code == 0;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

__attribute__((constructor)) static void listen(void) { atomic_store(&mock_dump_told, init_told); }

static aclError no_init(void) {
    return mock_fail(ACL_ERROR_UNINITIALIZE, "EP0008", "aclInit was not called before");
}

/* A second time: 100002. */
MOCK_EXPORT aclError aclmdlInitDump(void) {
    MOCK_ENTER(aclmdlInitDump);
    if (!mock_initialized()) return no_init();
    pthread_mutex_lock(&lock);
    const bool again = inited;
    inited = true;
    watch();
    pthread_mutex_unlock(&lock);
    return again ? mock_fail(ACL_ERROR_REPEAT_INITIALIZE, "EP0008", "aclmdlInitDump was called before") : 0;
}

static aclError not_run(void) {
    return mock_fail(ACL_ERROR_DUMP_NOT_RUN, "EP0008", "aclmdlInitDump was not called before");
}

MOCK_EXPORT aclError aclmdlSetDump(const char *dumpCfgPath) {
    MOCK_ENTER(aclmdlSetDump);
    if (!mock_initialized()) return no_init();
    pthread_mutex_lock(&lock);
    char *json = NULL;
    aclError code = inited ? 0 : not_run();
    if (code == 0 && dumpCfgPath == NULL) code = mock_null("dumpCfgPath");
    if (code == 0) code = mock_read_config(dumpCfgPath, &json);
    if (code == 0) {
        code = configure(json);
        free(json);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

MOCK_EXPORT aclError aclmdlFinalizeDump(void) {
    MOCK_ENTER(aclmdlFinalizeDump);
    if (!mock_initialized()) return no_init();
    pthread_mutex_lock(&lock);
    const aclError code = inited ? 0 : not_run();
    inited = false;
    if (code == 0) forget();
    pthread_mutex_unlock(&lock);
    return code;
}

/* ---- operands ---- */

uint64_t mock_dump_number(void) {
    pthread_mutex_lock(&lock);
    const uint64_t n = next_number++;
    pthread_mutex_unlock(&lock);
    return n;
}

static const char *numpy_type(int32_t dtype) {
    switch (dtype) {
    case ACL_FLOAT:
        return "<f4";
    case ACL_FLOAT16:
        return "<f2";
    case ACL_DOUBLE:
        return "<f8";
    case ACL_INT8:
        return "|i1";
    case ACL_UINT8:
        return "|u1";
    case ACL_INT16:
        return "<i2";
    case ACL_INT32:
        return "<i4";
    case ACL_INT64:
        return "<i8";
    case ACL_BOOL:
        return "|b1";
    default:
        return "<u2"; /* bfloat16 */
    }
}

/* Version 1.0: the header is padded to a multiple of 64 bytes and ends with a newline. */
static void write_header(FILE *f, const mock_view *v) {
    char text[512];
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
        numpy_type(v->dtype));
    for (unsigned i = 0; i < v->rank; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%lld, ", (long long)v->dims[i]);
    n += snprintf(text + n, sizeof text - (size_t)n, "), }");
    while ((10 + n + 1) % 64 != 0) text[n++] = ' ';
    text[n++] = '\n';
    const unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)n,
        (unsigned char)(n >> 8)};
    fwrite(start, 1, sizeof start, f);
    fwrite(text, 1, (size_t)n, f);
}

static void write_view(FILE *f, const mock_view *v, const char *first) {
    const size_t size = mock_dtype_bytes((aclDataType)v->dtype);
    int64_t at[MOCK_MAX_RANK] = {0};
    for (;;) {
        int64_t offset = 0;
        for (unsigned i = 0; i < v->rank; i++) offset += at[i] * v->strides[i];
        fwrite(first + offset * (int64_t)size, size, 1, f);
        int k = (int)v->rank - 1;
        while (k >= 0 && ++at[k] == v->dims[k]) at[k--] = 0;
        if (k < 0) return;
    }
}

/* How many tensors operand i has, and one of them. */
static int64_t view_count(const mock_plan *p, unsigned i) {
    return p->views[i].list ? p->views[i].span : 1;
}

static const mock_view *view_at(const mock_plan *p, unsigned i, int64_t k) {
    return p->views[i].list ? mock_members(p, &p->views[i]) + k : &p->views[i];
}

/* The operator runs on: one line says it of the first file. */
static void not_written(const char *file) {
    static atomic_bool told;
    const int why = errno;
    if (!atomic_exchange(&told, true))
        fprintf(stderr, "mock-acl: a dump cannot be written: %s: %s\n", file, strerror(why));
}

/* Into memory when a function of the program takes it. */
static void dump_view(const char *file, const mock_view *v) {
    const char *first = mock_view_pointer(v);
    const bool sent = mock_dump_received();
    char *data = NULL;
    size_t size = 0;
    FILE *f = sent ? open_memstream(&data, &size) : fopen(file, "wb");
    if (f == NULL) {
        not_written(file);
        return;
    }
    write_header(f, v);
    if (v->span != 0 && first != NULL) write_view(f, v, first);
    const bool failed = ferror(f) != 0;
    if (fclose(f) != 0 || failed) not_written(file);
    if (sent && data != NULL) mock_dump_send(file, data, size);
    free(data);
}

void mock_dump_operands(const char *function, const void *plan, uint64_t number, bool after) {
    const mock_plan *p = plan;
    char folder[PATH_LIMIT + 1], file[PATH_LIMIT + 128];
    pthread_mutex_lock(&lock);
    const bool wanted = after ? outputs || unconfigured() : inputs;
    strcpy(folder, path[0] == '\0' ? "." : path);
    pthread_mutex_unlock(&lock);
    unsigned index = 0;
    for (unsigned i = 0; wanted && i < p->count; i++) {
        if (p->views[i].absent || (p->views[i].role & (after ? MOCK_OUT : MOCK_IN)) == 0) continue;
        for (int64_t k = 0; k < view_count(p, i); k++) {
            snprintf(file, sizeof file, "%s/%06llu.%s.%s.%u.npy", folder, (unsigned long long)number,
                function, after ? "output" : "input", index++);
            dump_view(file, view_at(p, i, k));
        }
    }
}

/* Gives the new length of the line, which stays as it is once it is full. */
static int describe_view(const mock_view *v, char *line, size_t size, int n) {
    if ((size_t)n < size)
        n += snprintf(line + n, size - (size_t)n, "%s{\"role\": \"%s\", \"dtype\": %d, \"shape\": [",
            n > 1 ? ", " : "", v->role == MOCK_IN ? "input" : "output", (int)v->dtype);
    for (unsigned k = 0; k < v->rank && (size_t)n < size; k++)
        n += snprintf(line + n, size - (size_t)n, "%s%lld", k == 0 ? "" : ", ", (long long)v->dims[k]);
    if ((size_t)n < size) n += snprintf(line + n, size - (size_t)n, "]}");
    return n;
}

static void describe(const mock_plan *p, char *line, size_t size) {
    int n = snprintf(line, size, "[");
    for (unsigned i = 0; i < p->count; i++) {
        if (p->views[i].absent) continue;
        for (int64_t k = 0; k < view_count(p, i); k++) n = describe_view(view_at(p, i, k), line, size, n);
    }
    if ((size_t)n < size) snprintf(line + n, size - (size_t)n, "]\n");
}

/* A line of JSON for each new set of shapes. */
void mock_dump_shapes(const char *function, const void *plan) {
    char file[PATH_LIMIT + 128], line[2048], have[2048];
    describe(plan, line, sizeof line);
    pthread_mutex_lock(&lock);
    snprintf(file, sizeof file, "%s/%s.json", shapes_path, function);
    FILE *f = shapes_path[0] == '\0' ? NULL : fopen(file, "a+");
    bool known = false;
    while (f != NULL && !known && fgets(have, sizeof have, f) != NULL) known = strcmp(have, line) == 0;
    if (f != NULL && !known) fputs(line, f);
    if (f != NULL) fclose(f);
    pthread_mutex_unlock(&lock);
}

/* ---- shapes of operators ---- */

/* A null path, another kind than the one there is: 500001. */
MOCK_EXPORT aclError aclopStartDumpArgs(uint32_t dumpType, const char *folder) {
    MOCK_ENTER(aclopStartDumpArgs);
    if (folder == NULL || (dumpType & ACL_OP_DUMP_OP_AICORE_ARGS) == 0 || strlen(folder) > PATH_LIMIT)
        return mock_fail(ACL_ERROR_FAILURE, "EP0006", "no path, or kind %u", dumpType);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return mock_fail(ACL_ERROR_FAILURE, "EP0006", "%s: %s", folder, strerror(errno));
    pthread_mutex_lock(&lock);
    strcpy(shapes_path, folder);
    mock_watch_set(MOCK_WATCH_SHAPES, true);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* Other kinds have no effect; without a start too. */
MOCK_EXPORT aclError aclopStopDumpArgs(uint32_t dumpType) {
    MOCK_ENTER(aclopStopDumpArgs);
    if ((dumpType & ACL_OP_DUMP_OP_AICORE_ARGS) == 0) return 0;
    pthread_mutex_lock(&lock);
    shapes_path[0] = '\0';
    mock_watch_set(MOCK_WATCH_SHAPES, false);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- exceptions ---- */

/* Null while nothing of that kind is dumped, and for an unknown kind. */
MOCK_EXPORT const char *acldumpGetPath(acldumpType dumpType) {
    MOCK_ENTER_PTR(acldumpGetPath);
    if (dumpType < AIC_ERR_BRIEF_DUMP || dumpType > OVERFLOW_DUMP) return NULL;
    pthread_mutex_lock(&lock);
    const bool on = dumpType <= AIC_ERR_DETAIL_DUMP ? exceptions : inputs || outputs;
    pthread_mutex_unlock(&lock);
    return on ? path : NULL;
}

bool mock_dump_exceptions(char *out, size_t size) {
    pthread_mutex_lock(&lock);
    const bool on = exceptions;
    snprintf(out, size, "%s/extra-info/data-dump/0/", path);
    pthread_mutex_unlock(&lock);
    return on;
}

/* Not switched on (dump_scene): 500001. Too little room: 100000. */
MOCK_EXPORT aclError acldumpGetExceptionInfoPath(char *out, size_t maxLen) {
    MOCK_ENTER(acldumpGetExceptionInfoPath);
    if (out == NULL || maxLen <= 1) return mock_null("path and maxLen");
    char text[PATH_LIMIT + 64];
    if (!mock_dump_exceptions(text, sizeof text))
        return mock_fail(ACL_ERROR_FAILURE, "EP0008", "exceptions are not dumped");
    const size_t n = strlen(text);
    if (n >= maxLen) return mock_fail(ACL_ERROR_INVALID_PARAM, "EP0006", "%zu bytes are needed", n + 1);
    memcpy(out, text, n + 1);
    return 0;
}
