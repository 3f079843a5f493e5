/* Part of racl (mock-acl). Own kernels from several threads: lists of arguments, launches, loading and unloading. */
#include <pthread.h>
#include "kernels/binaries/kernels.h"
#include "check.h"

#define THREADS 4
#define ROUNDS 60

static aclrtBinHandle shared;

typedef struct add_args {
    float *a, *b, *out;
    uint64_t count;
} add_args;

static void *launches(void *unused) {
    (void)unused;
    OK(aclrtSetDevice(0));
    aclrtStream s = new_stream();
    aclrtFuncHandle add = NULL;
    aclrtArgsHandle list = NULL;
    aclrtParamHandle p[4];
    const float two[] = {2, 2, 2, 2};
    add_args a = {device(16), device(16), device(16), 4};
    OK(aclrtBinaryGetFunction(shared, "add", &add));
    OK(aclrtMemcpy(a.a, 16, two, 16, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(a.b, 16, two, 16, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtKernelArgsInit(add, &list));
    OK(aclrtKernelArgsAppend(list, &a.a, 8, &p[0]));
    OK(aclrtKernelArgsAppend(list, &a.b, 8, &p[1]));
    OK(aclrtKernelArgsAppend(list, &a.out, 8, &p[2]));
    OK(aclrtKernelArgsAppend(list, &a.count, 8, &p[3]));
    OK(aclrtKernelArgsFinalize(list));
    for (int i = 0; i < ROUNDS; i++) {
        float got[4];
        OK(aclrtLaunchKernelWithConfig(add, 2, s, NULL, list, NULL));
        OK(aclrtLaunchKernelWithHostArgs(add, 3, s, NULL, &a, sizeof a, NULL, 0));
        OK(aclrtSynchronizeStream(s));
        read_back(got, a.out, sizeof got);
        CHECK(got[0] == 4 && got[3] == 4);
    }
    OK(aclrtDestroyStream(s));
    return NULL; /* the thread's list goes with it */
}

static void *loads(void *unused) {
    (void)unused;
    OK(aclrtSetDevice(0));
    aclrtStream s = new_stream();
    for (int i = 0; i < ROUNDS; i++) {
        aclrtBinHandle b = NULL;
        aclrtFuncHandle f = NULL;
        OK(aclrtBinaryLoadFromFile(beside(KERNELS), NULL, &b));
        OK(aclrtBinaryGetFunction(b, "count", &f));
        OK(aclrtLaunchKernelWithArgsArray(f, 1, s, NULL, NULL));
        OK(aclrtBinaryUnLoad(b)); /* before its kernel ran */
    }
    OK(aclrtSynchronizeStream(s));
    OK(aclrtDestroyStream(s));
    return NULL;
}

int main(void) {
    up();
    pthread_t threads[THREADS + 1];
    OK(aclrtBinaryLoadFromFile(beside(KERNELS), NULL, &shared));
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, launches, NULL) == 0);
    CHECK(pthread_create(&threads[THREADS], NULL, loads, NULL) == 0);
    for (int i = 0; i <= THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(live().binaries == 1);
    CHECK(mock_acl_reset() == 0);
    return 0;
}
