/* Part of racl (mock-acl). The log of calls. */
#include <pthread.h>
#include "add.h"

static mock_acl_call call_at(uint64_t i) {
    mock_acl_call c = {.struct_size = sizeof c};
    OK(mock_acl_call_at(i, &c));
    return c;
}

/* The call at this place, with what it was given. */
static mock_acl_call is(uint64_t i, const char *function, uint32_t count, const void *first, const void *second) {
    const mock_acl_call c = call_at(i);
    CHECK(strcmp(c.function, function) == 0);
    CHECK(c.given_count == count && c.given[0] == first && c.given[1] == second);
    return c;
}

static void in_order(void) {
    up();
    CHECK(mock_acl_call_count() == 0); /* off */
    mock_acl_log_calls(1);
    CHECK(mock_acl_call_count() == 0); /* of control functions it has none */
    aclrtStream s = new_stream();
    void *d = device(64), *p = pinned(64);
    OK(aclrtMemcpyAsync(d, 64, p, 64, ACL_MEMCPY_HOST_TO_DEVICE, s));
    OK(aclrtMemsetAsync(d, 64, 0, 64, NULL));
    OK(aclrtSynchronizeStream(s));
    OK(aclrtFree(d));
    OK(aclrtDestroyStream(s));
    CHECK(mock_acl_call_count() == 8);
    CHECK(is(0, "aclrtCreateStream", 0, NULL, NULL).gave == s);
    CHECK(is(1, "aclrtMalloc", 0, NULL, NULL).gave == d);
    CHECK(is(2, "aclrtMallocHost", 0, NULL, NULL).gave == p);
    const mock_acl_call copy = is(3, "aclrtMemcpyAsync", 3, d, p);
    CHECK(copy.given[2] == s && copy.given[3] == NULL && copy.gave == NULL && copy.injected == 0);
    is(4, "aclrtMemsetAsync", 2, d, NULL);
    is(5, "aclrtSynchronizeStream", 1, s, NULL);
    is(6, "aclrtFree", 1, d, NULL);
    is(7, "aclrtDestroyStream", 1, s, NULL);
}

static void reading(void) {
    up();
    mock_acl_log_calls(1);
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    mock_acl_call c = {.struct_size = sizeof c};
    CODE(mock_acl_call_at(1, &c), MOCK_ACL_BAD_ARGUMENT);
    CODE(mock_acl_call_at(0, NULL), MOCK_ACL_BAD_ARGUMENT);
    c.struct_size = 0;
    CODE(mock_acl_call_at(0, &c), MOCK_ACL_BAD_ARGUMENT);
    c = (mock_acl_call){.struct_size = offsetof(mock_acl_call, thread), .thread = 7};
    OK(mock_acl_call_at(0, &c));
    CHECK(strcmp(c.function, "aclrtCreateEventExWithFlag") == 0 && c.thread == 7);
    mock_acl_log_calls(1); /* from the start */
    CHECK(mock_acl_call_count() == 0);
    OK(aclrtDestroyEvent(e));
    mock_acl_log_calls(0);
    CHECK(mock_acl_call_count() == 0);
    new_stream();
    CHECK(mock_acl_call_count() == 0);
    mock_acl_log_calls(1);
    new_stream();
    OK(mock_acl_reset());
    CHECK(mock_acl_call_count() == 0);
    OK(aclInit(NULL));
    CHECK(mock_acl_call_count() == 0); /* a reset turns it off */
}

/* Failures and the log need the slow entry; neither ends it for the other. */
static void beside_failures(void) {
    up();
    aclrtStream s = NULL;
    mock_acl_log_calls(1);
    OK(mock_acl_fail("aclrtCreateStream", 1, 207008));
    CODE(aclrtCreateStream(&s), 207008);
    const mock_acl_call c = is(0, "aclrtCreateStream", 0, NULL, NULL);
    CHECK(c.injected == 207008 && c.gave == NULL);
    mock_acl_clear_failures();
    OK(aclrtCreateStream(&s));
    CHECK(call_at(1).gave == s && call_at(1).injected == 0);
    OK(mock_acl_fail("aclrtDestroyStream", 1, 507000));
    mock_acl_log_calls(0);
    CODE(aclrtDestroyStream(s), 507000);
    mock_acl_log_calls(1);
    CODE(aclrtDestroyStream(NULL), 100000); /* refused: it has begun */
    is(0, "aclrtDestroyStream", 1, NULL, NULL);
    CODE(aclrtProfTrace(NULL, 0, NULL), 207000); /* not simulated */
    is(1, "aclrtProfTrace", 0, NULL, NULL);
}

static void operators(void) {
    up();
    aclrtStream s = new_stream();
    mock_acl_log_calls(1);
    add o = new_add();
    once(&o, s);
    uint64_t n = mock_acl_call_count(), from = 0;
    while (strcmp(call_at(n - 1).function, "aclnnAdd") != 0) n--;
    const mock_acl_call run = call_at(n - 1);
    CHECK(run.given_count == 3 && run.given[1] != NULL && run.given[2] == s);
    while (call_at(from).gave != run.given[1]) from++;
    const mock_acl_call plan = call_at(from);
    CHECK(strcmp(plan.function, "aclnnAddGetWorkspaceSize") == 0 && plan.given_count == 3);
    /* Where its operands are, each of which was allocated before. */
    for (uint32_t i = 0; i < plan.given_count; i++) {
        uint64_t made = 0;
        while (made < from && call_at(made).gave != plan.given[i]) made++;
        CHECK(made < from && strcmp(call_at(made).function, "aclrtMalloc") == 0);
    }
    OK(aclrtSynchronizeStream(s));
    end_add(&o);
}

static void *one_call(void *unused) {
    (void)unused;
    int32_t device = 0;
    aclrtGetDevice(&device); /* whatever it gives */
    return NULL;
}

static void threads(void) {
    up();
    mock_acl_log_calls(1);
    pthread_t thread;
    one_call(NULL);
    CHECK(pthread_create(&thread, NULL, one_call, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    one_call(NULL);
    CHECK(mock_acl_call_count() == 3);
    CHECK(call_at(0).thread == call_at(2).thread && call_at(0).thread != call_at(1).thread);
}

static void *many_calls(void *unused) {
    for (int i = 0; i < 1000; i++) one_call(unused);
    return NULL;
}

/* Turned off and on while others call. */
static void meanwhile(void) {
    up();
    pthread_t thread[3];
    mock_acl_log_calls(1);
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&thread[i], NULL, many_calls, NULL) == 0);
    for (int i = 0; i < 100; i++) {
        mock_acl_log_calls(i % 2);
        OK(aclrtFree(device(8)));
    }
    for (int i = 0; i < 3; i++) CHECK(pthread_join(thread[i], NULL) == 0);
    mock_acl_log_calls(1);
    many_calls(NULL);
    CHECK(mock_acl_call_count() == 1000);
}

/* More than it holds are not in it, but are made. */
static void full(void) {
    up();
    const uint64_t most = UINT64_C(1) << 20;
    void *d = device(8);
    mock_acl_log_calls(1);
    for (uint64_t i = 0; i < most + 10; i++) one_call(NULL);
    aclrtStream s = new_stream();
    CHECK(mock_acl_call_count() == most);
    CHECK(is(most - 1, "aclrtGetDevice", 0, NULL, NULL).gave == NULL);
    OK(aclrtMemsetAsync(d, 8, 0, 8, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(mock_acl_calls("aclrtGetDevice") >= most + 10);
}

int main(void) {
    in_order();
    reading();
    beside_failures();
    operators();
    threads();
    meanwhile();
    full();
    CHECK(mock_acl_reset() == 0);
    return 0;
}
