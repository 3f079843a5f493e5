/* A library that loads and then misbehaves: FAULT chooses how, and device numbers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *name) {
    const char *fault = getenv("FAULT");
    return fault != NULL && strcmp(fault, name) == 0;
}

static void hang(void) {
    for (;;) pause();
}

__attribute__((constructor)) static void load(void) {
    if (is("load-hangs")) hang();
    if (is("load-crashes")) abort();
    if (is("writes")) {
        /* Without an end of line, and as if it were a message. */
        fputs("\x1b[31mloud library\nracl-doctor-probe {\"Step\": 5}\nracl-doctor-probe \"End\" x", stdout);
        fflush(stdout);
        for (int i = 0; i < 20000; i++) fputs("a line on standard error\n", stderr);
    }
}

int aclInit(const char *path) {
    (void)path;
    if (is("init-hangs")) hang();
    if (is("init-exits")) exit(3);
    return is("init-fails") ? 500000 : 0;
}

int aclFinalize(void) {
    if (is("end-crashes")) *(volatile int *)8 = 1;
    return 0;
}

int aclrtGetDeviceCount(uint32_t *count) {
    *count = is("devices") ? 5 : is("crashing-devices") ? 9 : is("none") ? 0 : is("all-fail") ? 2 : 1;
    return 0;
}

/* Device 0 and 4 work. */
int aclrtSetDevice(int32_t device) {
    if (is("all-fail")) return 507033;
    if (is("crashing-devices") && device > 0) abort();
    if (!is("devices")) return 0;
    if (device == 1) return 507033;
    if (device == 2) hang();
    if (device == 3) abort();
    return 0;
}

int aclrtResetDevice(int32_t device) { return (void)device, 0; }

int aclrtGetCurrentContext(void **context) {
    static int one;
    *context = &one;
    return 0;
}

int aclrtSetCurrentContext(void *context) { return (void)context, 0; }

int aclrtGetMemInfo(int kind, size_t *free_bytes, size_t *total) {
    (void)kind;
    *free_bytes = 1 << 20;
    *total = 1 << 21;
    return 0;
}

int aclrtCreateStream(void **stream) { return (void)stream, 207000; }
int aclrtMalloc(void **address, size_t size, int policy) { return (void)address, (void)size, (void)policy, 207000; }
