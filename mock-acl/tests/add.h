/* One operator for the tests: out = a + b, vectors of four. */
#ifndef MOCK_TESTS_ADD_H_
#define MOCK_TESTS_ADD_H_

#include "aclnnop/aclnn_add.h"
#include "check.h"

static inline aclTensor *tensor(void *memory) {
    const int64_t dims[] = {4};
    aclTensor *t = aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, memory);
    CHECK(t != NULL);
    return t;
}

static inline float *vector(float value) {
    const float host[] = {value, value, value, value};
    float *p = device(sizeof host);
    OK(aclrtMemcpy(p, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE));
    return p;
}

static inline float first_of(const float *p) {
    float v[4];
    read_back(v, p, sizeof v);
    CHECK(v[1] == v[0] && v[2] == v[0] && v[3] == v[0]);
    return v[0];
}

typedef struct add {
    float *a, *b, *out;
    aclTensor *ta, *tb, *tout;
    aclOpExecutor *executor;
} add;

static inline add new_add(void) {
    add o = {vector(1), vector(2), vector(0), NULL, NULL, NULL, NULL};
    o.ta = tensor(o.a);
    o.tb = tensor(o.b);
    o.tout = tensor(o.out);
    return o;
}

static inline void first_phase(add *o) {
    float one = 1;
    uint64_t size = 1;
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    OK(aclnnAddGetWorkspaceSize(o->ta, o->tb, alpha, o->tout, &size, &o->executor));
    CHECK(size == 0);
    OK(aclDestroyScalar(alpha));
}

static inline void once(add *o, aclrtStream s) {
    first_phase(o);
    OK(aclnnAdd(NULL, 0, o->executor, s));
}

static inline void end_add(add *o) {
    OK(aclDestroyTensor(o->ta));
    OK(aclDestroyTensor(o->tb));
    OK(aclDestroyTensor(o->tout));
}

#endif
