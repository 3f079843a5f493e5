/* Part of racl (mock-acl). How often aclInit and aclFinalize count, and the callbacks around both. */
#include "conform.h"

RULE(init, a_second_init_is_counted_and_said, "observed: init_twice_finalize") {
    EXPECT(aclInit(NULL), 0);
    EXPECT(aclInit(NULL), 100002);
    EXPECT(aclInit(NULL), 100002);
}

RULE(init, finalize_ends_all_of_them, "observed: init_twice_finalize") {
    OK(aclInit(NULL));
    EXPECT(aclInit(NULL), 100002);
    EXPECT(aclFinalize(), 0);
    EXPECT(aclFinalize(), 100037);
}

RULE_ENV(init, by_the_documents_each_init_needs_its_finalize, "guide: aclFinalize", "MOCK_ACL_STRICT=doc") {
    OK(aclInit(NULL));
    EXPECT(aclInit(NULL), 100002);
    EXPECT(aclFinalize(), 0);
    EXPECT(aclInit(NULL), 100002); /* still initialised */
    EXPECT(aclFinalize(), 0);
    EXPECT(aclFinalize(), 0);
    EXPECT(aclFinalize(), 100037);
    EXPECT(aclInit(NULL), 0);
}

RULE(init, after_finalize_it_starts_again, "observed: init_twice_finalize") {
    OK(aclInit(NULL));
    OK(aclFinalize());
    EXPECT(aclInit(NULL), 0);
    EXPECT(aclInit(NULL), 100002);
    EXPECT(aclFinalize(), 0);
}

RULE(init, finalize_before_init_works_once, "observed: finalize_before_init") {
    EXPECT(aclFinalize(), 0);
    EXPECT(aclFinalize(), 100037);
    EXPECT(aclInit(NULL), 0);
    EXPECT(aclFinalize(), 0);
}

RULE(init, the_count_goes_down_one_by_one, "observed: init_twice_finalize") {
    uint64_t left = 99;
    OK(aclInit(NULL));
    aclInit(NULL);
    aclInit(NULL);
    EXPECT(aclFinalizeReference(&left), 0);
    TRUE(left == 2);
    EXPECT(aclFinalizeReference(NULL), 0);
    EXPECT(aclFinalizeReference(&left), 0);
    TRUE(left == 0);
    EXPECT(aclFinalizeReference(&left), 100037);
    TRUE(left == 0);
}

RULE(init, without_init_there_is_nothing_to_count_down, "observed: finalizeref_before_init") {
    uint64_t left = 7;
    EXPECT(aclFinalizeReference(&left), 100037);
    TRUE(left == 0);
}

RULE(init, the_last_reference_finalizes, "implementation of the open runtime") {
    OK(aclInit(NULL));
    OK(aclFinalizeReference(NULL));
    EXPECT(aclFinalize(), 100037);
}

RULE(init, devices_work_without_init, "observed: no_init") {
    aclrtStream stream = NULL;
    EXPECT(aclrtSetDevice(0), 0);
    EXPECT(aclrtCreateStream(&stream), 0);
}

RULE(init, finalize_does_not_reset_devices, "guide: aclFinalize; implementation of the open runtime") {
    up();
    aclrtStream stream = new_stream();
    OK(aclFinalize());
    EXPECT(aclrtSynchronizeStream(stream), 0);
    EXPECT(aclrtResetDevice(0), 0);
}

RULE(init, a_capture_does_not_stop_finalize, "observed: finalize_in_capture") {
    up();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    EXPECT(aclFinalize(), 0);
    aclmdlRI graph = NULL;
    EXPECT(aclmdlRICaptureEnd(stream, &graph), 0);
}

static aclrtStream last_stream;

static void at_the_end(void) { aclrtDestroyStream(last_stream); }

static void ends_as_it_is(int socket) {
    (void)socket;
    NEED(atexit(at_the_end) == 0);
    up();
    last_stream = new_stream();
    hold(last_stream);
    OK(aclrtMemsetAsync(device(64), 64, 1, 64, last_stream));
    OK(aclrtStreamAbort(last_stream));
    aclrtContext context = NULL;
    OK(aclrtCreateContext(&context, 0));
}

RULE(init, a_process_may_end_without_finalize, "guide: aclFinalize; implementation of the open runtime") {
    join_peer(start_peer(ends_as_it_is));
}

static void init_once(void *codes) {
    const int code = (int)aclInit(NULL);
    __atomic_fetch_add((int *)codes + (code != 0), 1, __ATOMIC_SEQ_CST);
    if (code != 0) EXPECT(code, 100002);
}

RULE(init, of_threads_at_once_one_is_the_first, "implementation of the open runtime") {
    static int codes[2];
    void *threads[4];
    for (int i = 0; i < 4; i++) threads[i] = start_thread(init_once, codes);
    for (int i = 0; i < 4; i++) join_thread(threads[i]);
    TRUE(codes[0] == 1);
    TRUE(codes[1] == 3);
    uint64_t left = 0;
    EXPECT(aclFinalizeReference(&left), 0);
    TRUE(left == 3);
}

/* ---- callbacks ---- */

static aclError init_again(const char *text, size_t length, void *user) {
    (void)text;
    (void)length;
    EXPECT(aclInit(NULL), 100002);
    EXPECT(aclFinalize(), 100037);
    EXPECT(aclFinalizeReference(NULL), 100037);
    *(int *)user += 1;
    return 0;
}

RULE_MOCK(init, a_callback_cannot_start_another_one, "own choice: the real one calls itself without end") {
    int calls = 0;
    uint64_t left = 9;
    OK(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, init_again, &calls));
    EXPECT(aclInit(NULL), 0);
    TRUE(calls == 1);
    EXPECT(aclFinalizeReference(&left), 0);
    TRUE(left == 0);
}

static aclError take_away(void *user) {
    *(int *)user += 1;
    EXPECT(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, take_away), 0);
    return 0;
}

RULE_MOCK(init, a_callback_can_take_itself_away, "own choice") {
    int calls = 0;
    OK(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, take_away, &calls));
    for (int i = 0; i < 2; i++) {
        OK(aclInit(NULL));
        EXPECT(aclFinalize(), 0);
    }
    TRUE(calls == 1);
}

RULE_MOCK(init, callbacks_are_not_without_number, "own choice: 64") {
    int calls = 0;
    for (int i = 0; i < 64; i++) OK(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, take_away, &calls));
    EXPECT(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, take_away, &calls), 300000);
}

static char order[64];
static char seen[64];
static int answer;

static aclError note(const char *text, size_t length, void *user) {
    strncat(order, (const char *)user, sizeof order - strlen(order) - 1);
    snprintf(seen, sizeof seen, "%.*s|%u", (int)length, text, (unsigned)length);
    return answer;
}

static aclError note_too(const char *text, size_t length, void *user) { return note(text, length, user); }

static aclError note_end(void *user) {
    strncat(order, (const char *)user, sizeof order - strlen(order) - 1);
    return answer;
}

static void reg(int type, const char *mark) {
    EXPECT(aclInitCallbackRegister((aclRegisterCallbackType)type, note, (void *)mark), 0);
}

static void reg_end(int type, const char *mark) {
    EXPECT(aclFinalizeCallbackRegister((aclRegisterCallbackType)type, note_end, (void *)mark), 0);
}

RULE(init, callbacks_run_in_the_order_of_their_types, "implementation of the open runtime") {
    reg(ACL_REG_TYPE_OTHER, "o");
    reg(ACL_REG_TYPE_ACL_DVPP, "d");
    reg(ACL_REG_TYPE_ACL_MODEL, "m");
    OK(aclInit(NULL));
    TRUE(strcmp(order, "mdo") == 0);
}

/* With a configuration of this text. */
static void init_with(const char *text) {
    char path[] = "/tmp/conform-XXXXXX";
    const int file = mkstemp(path);
    NEED(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    EXPECT(aclInit(path), 0);
    unlink(path);
}

RULE(init, operators_are_told_only_with_a_configuration, "implementation of the open runtime") {
    reg(ACL_REG_TYPE_ACL_OP_EXECUTOR, "e");
    init_with("{}");
    TRUE(strcmp(order, "e") == 0);
}

RULE(init, operators_are_not_told_without_one, "implementation of the open runtime") {
    reg(ACL_REG_TYPE_ACL_OP_EXECUTOR, "e");
    OK(aclInit(NULL));
    TRUE(order[0] == 0);
}

RULE(init, a_callback_gets_the_text_of_the_file, "guide: aclInitCallbackRegister") {
    reg(ACL_REG_TYPE_OTHER, "o");
    init_with("{\"a\":1}");
    TRUE(strcmp(seen, "{\"a\":1}|7") == 0);
}

RULE(init, without_a_file_the_text_is_empty, "implementation of the open runtime") {
    reg(ACL_REG_TYPE_OTHER, "o");
    OK(aclInit(NULL));
    TRUE(strcmp(seen, "|0") == 0);
}

RULE(init, a_callback_after_init_is_called_at_once, "guide: aclInitCallbackRegister") {
    OK(aclInit(NULL));
    reg(ACL_REG_TYPE_OTHER, "o");
    TRUE(strcmp(order, "o") == 0);
}

RULE(init, what_it_returns_then_is_lost, "implementation of the open runtime") {
    OK(aclInit(NULL));
    answer = 7;
    EXPECT(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, note, (void *)"o"), 0);
}

RULE(init, a_callback_that_fails_fails_init, "implementation of the open runtime") {
    reg(ACL_REG_TYPE_ACL_MODEL, "m");
    reg(ACL_REG_TYPE_OTHER, "o");
    answer = 7;
    EXPECT(aclInit(NULL), 7);
    TRUE(strcmp(order, "m") == 0);
    answer = 0;
    EXPECT(aclInit(NULL), 0);
}

RULE(init, a_type_has_one_callback, "implementation of the open runtime") {
    reg(ACL_REG_TYPE_ACL_MODEL, "m");
    EXPECT(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, note_too, NULL), 500000);
}

RULE(init, other_callbacks_may_be_many, "implementation of the open runtime") {
    reg(ACL_REG_TYPE_OTHER, "1");
    EXPECT(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, note_too, (void *)"2"), 0);
    reg(ACL_REG_TYPE_OTHER, "3");
    OK(aclInit(NULL));
    TRUE(strcmp(order, "123") == 0);
}

RULE(init, a_callback_taken_away_is_not_called, "guide: aclInitCallbackUnRegister") {
    reg(ACL_REG_TYPE_OTHER, "o");
    EXPECT(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, note), 0);
    EXPECT(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, note), 500000);
    OK(aclInit(NULL));
    TRUE(order[0] == 0);
}

RULE(init, a_callback_is_not_null, "implementation of the open runtime") {
    EXPECT(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, NULL, NULL), 100000);
    EXPECT(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, NULL), 100000);
    EXPECT(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, NULL, NULL), 100000);
    EXPECT(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, NULL), 100000);
}

RULE(init, each_init_after_finalize_calls_again, "implementation of the open runtime") {
    reg(ACL_REG_TYPE_OTHER, "o");
    OK(aclInit(NULL));
    OK(aclFinalize());
    OK(aclInit(NULL));
    TRUE(strcmp(order, "oo") == 0);
}

RULE(init, callbacks_of_the_end_run_in_the_order_of_their_types, "implementation of the open runtime") {
    reg_end(ACL_REG_TYPE_OTHER, "o");
    reg_end(ACL_REG_TYPE_ACL_DVPP, "d");
    reg_end(ACL_REG_TYPE_ACL_MODEL, "m");
    reg_end(ACL_REG_TYPE_ACL_OP_COMPILER, "c");
    OK(aclInit(NULL));
    TRUE(order[0] == 0);
    OK(aclFinalize());
    TRUE(strcmp(order, "cmdo") == 0);
}

RULE(init, a_callback_that_fails_fails_finalize, "implementation of the open runtime") {
    reg_end(ACL_REG_TYPE_OTHER, "o");
    OK(aclInit(NULL));
    answer = 9;
    EXPECT(aclFinalize(), 9);
    EXPECT(aclInit(NULL), 100002);
    answer = 0;
    EXPECT(aclFinalize(), 0);
}

RULE(init, only_the_last_reference_calls, "implementation of the open runtime") {
    reg_end(ACL_REG_TYPE_OTHER, "o");
    OK(aclInit(NULL));
    aclInit(NULL);
    OK(aclFinalizeReference(NULL));
    TRUE(order[0] == 0);
    OK(aclFinalizeReference(NULL));
    TRUE(strcmp(order, "o") == 0);
}

RULE(init, an_end_taken_away_is_not_called, "guide: aclFinalizeCallbackUnRegister") {
    reg_end(ACL_REG_TYPE_OTHER, "o");
    EXPECT(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, note_end), 0);
    EXPECT(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, note_end), 500000);
    OK(aclInit(NULL));
    OK(aclFinalize());
    TRUE(order[0] == 0);
}
