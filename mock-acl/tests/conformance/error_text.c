/* Part of racl (mock-acl). Error texts, and the last error of a thread. */
#include "conform.h"

static void config(char *path, const char *text) {
    const int file = mkstemp(path);
    NEED(file >= 0);
    NEED(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
}

RULE(error, at_first_there_is_no_text, "observed: err_msg") {
    up();
    TRUE(aclGetRecentErrMsg() == NULL);
}

RULE(error, a_failure_has_a_text, "observed: err_msg") {
    up();
    EXPECT(aclrtCreateStream(NULL), 100000);
    EXPECT_TEXT("EH0008");
}

RULE(error, reading_clears_the_text, "observed: err_msg") {
    up();
    EXPECT(aclrtCreateStream(NULL), 100000);
    TRUE(aclGetRecentErrMsg() != NULL);
    TRUE(aclGetRecentErrMsg() == NULL);
}

RULE(error, a_success_leaves_the_text, "guide: aclGetRecentErrMsg") {
    up();
    EXPECT(aclrtCreateStream(NULL), 100000);
    finish(new_stream());
    EXPECT_TEXT("EH0008");
}

RULE(error, the_oldest_text_is_on_top, "observed: sequences") {
    up();
    EXPECT(aclrtCreateStream(NULL), 100000);
    EXPECT(aclmdlRICaptureBegin(new_stream(), (aclmdlRICaptureMode)3), 107000);
    const char *text = aclGetRecentErrMsg();
    NEED(text != NULL);
    const char *older = strstr(text, "EH0008"), *newer = strstr(text, "EE1003");
    TRUE(older != NULL && newer != NULL && older < newer);
}

static void has_no_text(void *unused) {
    (void)unused;
    OK(aclrtSetDevice(0));
    TRUE(aclGetRecentErrMsg() == NULL);
}

RULE(error, texts_are_of_a_thread, "guide: aclGetRecentErrMsg") {
    up();
    EXPECT(aclrtCreateStream(NULL), 100000);
    join_thread(start_thread(has_no_text, NULL));
    EXPECT_TEXT("EH0008");
}

RULE(error, a_thread_without_a_context_reads_that, "observed: err_msg") {
    OK(aclInit(NULL));
    EXPECT_TEXT("EE1018");
}

RULE(error, without_a_context_a_read_clears_too, "observed: before_set_device") {
    OK(aclInit(NULL));
    EXPECT(aclrtCreateStream(NULL), 100000);
    EXPECT_TEXT("EH0008");
    const char *text = aclGetRecentErrMsg();
    TRUE(text != NULL && strstr(text, "EH0008") == NULL);
}

RULE(error, without_a_context_a_read_is_the_last_error, "observed: text_without_context") {
    OK(aclInit(NULL));
    EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 0);
    TRUE(aclGetRecentErrMsg() != NULL);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 107002);
}

RULE_ENV(error, the_guide_clears_always, "guide: aclGetRecentErrMsg", "MOCK_ACL_STRICT=doc") {
    OK(aclInit(NULL));
    EXPECT(aclrtCreateStream(NULL), 100000);
    EXPECT_TEXT("EH0008");
    TRUE(aclGetRecentErrMsg() == NULL);
}

static void fail_here(void *unused) {
    (void)unused;
    OK(aclrtSetDevice(0));
    EXPECT(aclrtCreateStream(NULL), 100000);
}

RULE(error, texts_can_be_of_the_process, "guide: aclInit") {
    char path[] = "/tmp/conform-XXXXXX";
    config(path, "{\"err_msg_mode\":\"1\"}");
    EXPECT(aclInit(path), 0);
    unlink(path);
    OK(aclrtSetDevice(0));
    join_thread(start_thread(fail_here, NULL));
    EXPECT_TEXT("EH0008");
    TRUE(aclGetRecentErrMsg() == NULL);
}

RULE(error, null_is_eh0008_and_zero_eh0007, "observed: with_context") {
    void *memory = NULL;
    up();
    EXPECT(aclrtMalloc(NULL, 8, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
    EXPECT_TEXT("EH0008");
    EXPECT(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
    EXPECT_TEXT("EH0007");
    EXPECT(aclrtSetCurrentContext(NULL), 100000);
    EXPECT_TEXT("EH0008");
}

RULE_MOCK(error, texts_say_what_is_wrong, "implementation of the open runtime") {
    char path[] = "/tmp/conform-XXXXXX";
    int32_t status = 0;
    aclrtUtilizationInfo rate;
    memset(&rate, 0, sizeof rate);
    rate.utilizationExtend = (aclrtUtilizationExtendInfo *)&rate;
    OK(aclrtSetDevice(0));
    EXPECT(aclInit("/nonexistent/acl.json"), 100003);
    EXPECT_TEXT("EH0003");
    config(path, "[");
    EXPECT(aclInit(path), 100006);
    unlink(path);
    EXPECT_TEXT("EH0004");
    EXPECT(aclrtDeviceCanAccessPeer(&status, 0, 0), 100000);
    EXPECT_TEXT("EH0009");
    EXPECT(aclrtGetDeviceUtilizationRate(0, &rate), 100000);
    EXPECT_TEXT("EH0012");
    EXPECT(aclrtSetDevice(99), 107001);
    EXPECT_TEXT("EE1003");
}

RULE(error, a_second_init_has_no_text, "implementation of the open runtime") {
    up();
    EXPECT(aclInit(NULL), 100002);
    TRUE(aclGetRecentErrMsg() == NULL);
}

/* ---- the last error ---- */

RULE(error, at_first_there_is_no_last_error, "observed: last_error") {
    up();
    EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 0);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 0);
}

RULE(error, the_runtimes_errors_are_remembered, "observed: last_error") {
    up();
    EXPECT(aclmdlRICaptureBegin(new_stream(), (aclmdlRICaptureMode)3), 107000);
    EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 107000);
}

RULE(error, errors_of_the_upper_layer_are_not, "observed: last_error") {
    up();
    EXPECT(aclrtCreateStream(NULL), 100000);
    EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 0);
}

RULE(error, peeking_leaves_the_last_error, "observed: last_error") {
    up();
    EXPECT(aclrtSetDevice(99), 107001);
    EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 107001);
    EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 107001);
}

RULE(error, getting_clears_the_last_error, "observed: last_error") {
    up();
    EXPECT(aclrtSetDevice(99), 107001);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 107001);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 0);
}

RULE(error, a_success_leaves_the_last_error, "observed: last_error") {
    up();
    EXPECT(aclrtSetDevice(99), 107001);
    finish(new_stream());
    EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 107001);
}

RULE(error, the_last_error_is_the_newest, "implementation of the open runtime") {
    up();
    EXPECT(aclrtSetDevice(99), 107001);
    EXPECT(aclmdlRICaptureBegin(new_stream(), (aclmdlRICaptureMode)3), 107000);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 107000);
}

static void has_no_error(void *unused) {
    (void)unused;
    EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 0);
}

RULE(error, the_last_error_is_of_a_thread, "guide: aclrtGetLastError") {
    up();
    EXPECT(aclrtSetDevice(99), 107001);
    join_thread(start_thread(has_no_error, NULL));
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 107001);
}

RULE(error, there_is_one_level, "observed: last_error") {
    up();
    EXPECT(aclrtGetLastError((aclrtLastErrLevel)1), 100000);
    EXPECT(aclrtPeekAtLastError((aclrtLastErrLevel)1), 100000);
}

RULE(error, no_context_is_the_last_error_too, "observed: thread_no_ctx") {
    aclrtStream stream = NULL;
    OK(aclInit(NULL));
    EXPECT(aclrtCreateStream(&stream), 107002);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 107002);
}

RULE(error, what_is_not_ready_is_no_last_error, "implementation of the open runtime") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent latch = hold(stream), event = new_event(ACL_EVENT_SYNC), old = old_event(ACL_EVENT_SYNC);
    aclrtStreamStatus of_stream = ACL_STREAM_STATUS_COMPLETE;
    aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    aclrtEventStatus status = ACL_EVENT_STATUS_COMPLETE;
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtStreamQuery(stream, &of_stream));
    OK(aclrtQueryEventStatus(event, &recorded));
    OK(aclrtQueryEvent(old, &status));
    TRUE(of_stream == ACL_STREAM_STATUS_NOT_READY && recorded == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    TRUE(status == ACL_EVENT_STATUS_NOT_READY);
    EXPECT(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 0);
    TRUE(aclGetRecentErrMsg() == NULL);
    let_go(latch);
    finish(stream);
}

RULE(error, reading_the_text_leaves_the_last_error, "guide: aclrtGetLastError") {
    up();
    EXPECT(aclrtSetDevice(99), 107001);
    TRUE(aclGetRecentErrMsg() != NULL);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 107001);
}

RULE_ENV(error, programs_can_log, "own choice: to standard error", "MOCK_ACL_LOG=1") {
    char path[] = "/tmp/conform-XXXXXX", text[128];
    const int file = mkstemp(path), old = dup(2);
    NEED(file >= 0 && dup2(file, 2) >= 0);
    aclAppLog(ACL_WARNING, "work", "file.c", 7, "%d of %s", 3, "four");
    dup2(old, 2);
    memset(text, 0, sizeof text);
    NEED(pread(file, text, sizeof text - 1, 0) > 0);
    unlink(path);
    TRUE(strcmp(text, "[WARNING] work file.c:7: 3 of four\n") == 0);
}
