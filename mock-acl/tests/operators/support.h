/* A stand-in for the runtime part, and helpers for the operator tests. */
#ifndef MOCK_TESTS_OP_SUPPORT_H_
#define MOCK_TESTS_OP_SUPPORT_H_

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aclnn/aclnn_base.h"
#include "base/base.h"

#define CHECK(condition)                                                                      \
    do {                                                                                      \
        if (!(condition)) {                                                                   \
            fprintf(stderr, "%s:%d: %s\n  last text: %s\n", __FILE__, __LINE__, #condition, stub_text()); \
            abort();                                                                          \
        }                                                                                     \
    } while (0)

/* Runs both phases. The workspace has exactly the size asked for, so a sanitizer sees any write beyond it. */
#define LAUNCH(NAME, ...) LAUNCH_EXPECTING(0, NAME, __VA_ARGS__)
#define LAUNCH_EXPECTING(FAULT, NAME, ...)                                                    \
    do {                                                                                      \
        uint64_t launch_size = UINT64_MAX;                                                    \
        aclOpExecutor *launch_executor = NULL;                                                \
        CHECK(NAME##GetWorkspaceSize(__VA_ARGS__, &launch_size, &launch_executor) == 0);      \
        void *launch_workspace = launch_size == 0 ? NULL : device_alloc(launch_size);         \
        CHECK(NAME(launch_workspace, launch_size, launch_executor, NULL) == 0);               \
        CHECK(stub_drain() == (FAULT));                                                       \
        if (launch_workspace != NULL) device_free(launch_workspace);                          \
    } while (0)
/* The first phase fails with CODE and a text that has PART in it. */
#define REFUSED(CODE, PART, NAME, ...)                                                        \
    do {                                                                                      \
        uint64_t refused_size = 0;                                                            \
        aclOpExecutor *refused_executor = NULL;                                               \
        CHECK(NAME##GetWorkspaceSize(__VA_ARGS__, &refused_size, &refused_executor) == (CODE)); \
        CHECK(strstr(stub_text(), PART) != NULL);                                             \
        CHECK(refused_executor == NULL);                                                      \
    } while (0)

/* Tasks are kept until stub_drain, which runs them and gives the first failure. */
int stub_drain(void);
/* Runs every queued task `rounds` times on a thread of its own, all at once; then drops them. */
int stub_drain_threads(int rounds);
/* What mock_submit_kernel returns from now on. */
void stub_refuse(aclError code);
const char *stub_text(void);
/* The next call of any exported function gives this code. */
void stub_inject(int code);
size_t stub_live(mock_object_kind kind);
size_t stub_queued(void);

/* Exact allocations, which mock_device_view accepts. */
void *device_alloc(size_t size);
void device_free(void *memory);

/* A tensor in memory of its own. Element access is by logical index, in row-major order of the view. */
typedef struct sample {
    aclTensor *handle;
    char *memory;
    aclDataType dtype;
    int rank;
    int64_t offset, count;
    int64_t dims[8], strides[8];
} sample;

/* `layout` is a permutation such as "10" (memory order of the dimensions, outermost first) with an
 * optional prefix: 'g' leaves gaps between all elements and an offset of 3; "" is contiguous. */
sample sample_new(aclDataType dtype, const char *layout, int rank, const int64_t *dims);
void sample_free(sample *s);
/* A contiguous tensor over memory that is no device memory: tasks that need it fail with 507015. */
aclTensor *tensor_nowhere(aclDataType dtype, int rank, const int64_t *dims);
#define DIMS(...) (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__}

double sample_get(const sample *s, int64_t index);
void sample_set(sample *s, int64_t index, double value);
int64_t sample_get_int(const sample *s, int64_t index);
/* Reproducible values in [low, high); integers for integer types. */
void sample_fill(sample *s, double low, double high);
/* The element that logical `index` of `out` sees in `s`, by the broadcast rules. */
double sample_seen(const sample *s, const sample *out, int64_t index);

/* Reference conversions, written on doubles only. */
double reference_decode(aclDataType dtype, const void *element);
double reference_round(aclDataType dtype, double value);
/* Equal up to `ulps` units in the last place of the type. */
bool close_to(aclDataType dtype, double got, double want, double ulps);
/* Every element of `s` against want(index, context). */
#define CHECK_ALL(S, ULPS, WANT)                                                              \
    for (int64_t i = 0; i < (S).count; i++) {                                                 \
        const double check_want = (WANT);                                                     \
        if (close_to((S).dtype, sample_get(&(S), i), check_want, ULPS)) continue;             \
        fprintf(stderr, "%s:%d: element %lld is %.9g, expected %.9g\n", __FILE__, __LINE__, (long long)i, \
            sample_get(&(S), i), check_want);                                                 \
        abort();                                                                              \
    }

aclScalar *scalar_float(float value);
aclScalar *scalar_double(double value);
aclScalar *scalar_int(int64_t value);

#endif
