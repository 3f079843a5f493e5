/* Part of racl (mock-acl). Handles: null, stale, foreign and wrong-kind ones. */
#include "check.h"

static void stale(void) {
    up();
    aclrtStream s = new_stream(), other = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    OK(aclrtDestroyStream(s));
    OK(aclrtDestroyEvent(e));
    CODE(aclrtSynchronizeStream(s), 107017);
    CODE(aclrtRecordEvent(e, other), 107017);
    CODE(aclrtDestroyEvent(e), 107017);
    /* The slot is used again, the value is not. */
    aclrtStream t = new_stream();
    CHECK(t != s);
    CODE(aclrtSynchronizeStream(s), 107017);
    OK(aclrtSynchronizeStream(t));
}

static void wrong_kind(void) {
    up();
    aclrtStream s = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    static char zeroes[4096];
    CODE(aclrtSynchronizeStream(e), 107017);
    CODE(aclrtRecordEvent(s, s), 107017);
    CODE(aclmdlRIExecuteAsync(s, s), 107017);
    CODE(aclrtSynchronizeStream(zeroes), 107017);
    CODE(aclrtSynchronizeStream((aclrtStream)(uintptr_t)0x1000), 107017);
    CODE(aclrtDestroyNotify(zeroes), 107017);
    CODE(aclrtSetCurrentContext(s), 107000);
    CODE(aclrtDestroyContext(zeroes), 107002);
}

static void faulting_values(void) {
    up();
    /* Not canonical on x86-64, and not valid where the top byte is ignored. */
    const uint64_t value = (uint64_t)(uintptr_t)new_stream();
    CHECK((value >> 47) != 0 && (value >> 47) != 0x1FFFF);
    CHECK(((value >> 48) & 0xFF) != 0);
}

static void foreign_context(void) {
    up();
    aclrtContext first = NULL, second = NULL;
    OK(aclrtGetCurrentContext(&first));
    aclrtStream s = new_stream();
    OK(aclrtCreateContext(&second, 0));
    CODE(aclrtMemsetAsync(device(8), 8, 0, 8, s), 107003);
    CODE(aclrtDestroyStream(s), 107003);
    OK(aclrtSynchronizeStream(s));
    OK(aclrtSetCurrentContext(first));
    OK(aclrtDestroyStream(s));
    OK(aclrtDestroyContext(second));
    CODE(aclrtSetCurrentContext(second), 107000);
}

static void counts(void) {
    up();
    CHECK(live().streams == 0 && live().events == 0 && live().contexts == 0);
    aclrtStream s = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    CHECK(live().streams == 1 && live().events == 1);
    OK(aclrtDestroyStream(s));
    OK(aclrtDestroyEvent(e));
    CHECK(live().streams == 0 && live().events == 0);
    for (int i = 0; i < 5000; i++) OK(aclrtDestroyStream(new_stream()));
    aclrtStream all[3000];
    int made = 0;
    while (made < 3000 && aclrtCreateStream(&all[made]) == 0) made++;
    CHECK(made == 2046); /* the default stream took one */
    while (made > 0) OK(aclrtDestroyStream(all[--made]));
}

int main(void) {
    stale();
    wrong_kind();
    faulting_values();
    foreign_context();
    counts();
    return 0;
}
