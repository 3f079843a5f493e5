/* Part of racl (mock-acl). Captures: their end, and models destroyed, named and printed. */
#include <pthread.h>
#include "conform.h"

#define GLOBAL ACL_MODEL_RI_CAPTURE_MODE_GLOBAL
#define LOCAL ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED

static int active(aclrtStream stream) {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    OK(aclmdlRICaptureGetInfo(stream, &status, NULL));
    return status != ACL_MODEL_RI_CAPTURE_STATUS_NONE;
}

RULE(graph, end_without_a_stream, "observed: capture_end") {
    up();
    aclmdlRI graph = NULL;
    EXPECT(aclmdlRICaptureEnd(NULL, &graph), 100000);
}

RULE(graph, end_without_a_model, "observed: capture_end") {
    up();
    aclrtStream stream = begin(RELAXED);
    EXPECT(aclmdlRICaptureEnd(stream, NULL), 107000);
    TRUE(active(stream));
    end(stream);
}

RULE(graph, end_under_another_context, "guide: aclmdlRICaptureEnd") {
    up();
    aclrtStream stream = begin(RELAXED);
    aclrtContext mine = NULL, other = NULL;
    aclmdlRI graph = NULL;
    OK(aclrtGetCurrentContext(&mine));
    OK(aclrtCreateContext(&other, 0));
    EXPECT(aclmdlRICaptureEnd(stream, &graph), 107003);
    OK(aclrtSetCurrentContext(mine));
    TRUE(active(stream));
    end(stream);
}

RULE(graph, end_of_a_bound_stream, "implementation: aclmdlRICaptureEnd") {
    up();
    aclrtStream stream = NULL;
    aclmdlRI model = NULL, graph = NULL;
    OK(aclmdlRIBuildBegin(&model, 0));
    OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
    OK(aclmdlRIBindStream(model, stream, 0));
    EXPECT(aclmdlRICaptureEnd(stream, &graph), 107005);
}

RULE(graph, end_of_the_default_stream, "implementation: aclmdlRICaptureEnd") {
    up();
    aclrtStream stream = NULL;
    aclmdlRI graph = NULL;
    OK(aclrtCtxGetCurrentDefaultStream(&stream));
    EXPECT(aclmdlRICaptureEnd(stream, &graph), 207000);
}

RULE(graph, end_without_a_begin, "observed: capture_end") {
    up();
    aclmdlRI graph = NULL;
    EXPECT(aclmdlRICaptureEnd(new_stream(), &graph), 107029);
}

RULE(graph, end_on_a_side_stream, "observed: capture_end") {
    up();
    aclrtStream origin = begin(RELAXED), side = new_stream();
    aclrtEvent fork_event = new_event(ACL_EVENT_SYNC), join_event = new_event(ACL_EVENT_SYNC);
    aclmdlRI graph = NULL;
    OK(aclrtRecordEvent(fork_event, origin));
    OK(aclrtStreamWaitEvent(side, fork_event));
    OK(aclrtRecordEvent(join_event, side));
    EXPECT(aclmdlRICaptureEnd(side, &graph), 107036);
    OK(aclrtStreamWaitEvent(origin, join_event));
    end(origin);
}

typedef struct ending {
    aclrtStream stream;
    aclError code;
    aclmdlRI graph;
} ending;

static void ends(void *argument) {
    ending *e = (ending *)argument;
    OK(aclrtSetDevice(0));
    e->code = aclmdlRICaptureEnd(e->stream, &e->graph);
}

static void end_elsewhere(aclmdlRICaptureMode mode, int code) {
    up();
    ending e = {begin(mode), 0, NULL};
    join_thread(start_thread(ends, &e));
    TRUE(e.code == code);
    TRUE((e.graph != NULL) == (code == 0));
    aclmdlRI graph = NULL;
    EXPECT(aclmdlRICaptureEnd(e.stream, &graph), 107029); /* it is over either way */
    EXPECT(aclrtSynchronizeStream(e.stream), 0);
}

RULE(graph, end_by_another_thread_global, "observed: capture_end_thread") { end_elsewhere(GLOBAL, 107038); }
RULE(graph, end_by_another_thread_local, "observed: capture_end_thread") { end_elsewhere(LOCAL, 107038); }
RULE(graph, end_by_another_thread_relaxed, "observed: capture_end_thread") { end_elsewhere(RELAXED, 0); }

RULE(graph, none_of_the_work_of_a_failed_capture_runs, "guide: aclmdlRICaptureEnd") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 0, 64);
    aclrtStream origin = begin(RELAXED), side = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    aclmdlRI graph = NULL;
    OK(aclrtMemsetAsync(memory, 64, 1, 64, origin));
    OK(aclrtRecordEvent(event, origin));
    OK(aclrtStreamWaitEvent(side, event));
    EXPECT(aclmdlRICaptureEnd(origin, &graph), 107025);
    finish(origin);
    finish(side);
    TRUE(byte_at(memory) == 0);
    TRUE(active(origin) == 0 && active(side) == 0);
}

RULE(graph, an_empty_capture_is_a_model, "guide: aclmdlRICaptureEnd") {
    up();
    aclrtStream stream = begin(RELAXED);
    aclmdlRI graph = end(stream);
    replay(graph, stream);
    EXPECT(aclmdlRIDestroy(graph), 0);
}

/* ---- destroying ---- */

RULE(graph, destroy_without_a_model, "observed: execute") {
    up();
    EXPECT(aclmdlRIDestroy(NULL), 100000);
}

RULE_MOCK(graph, destroy_twice, "observed: execute") {
    up();
    aclmdlRI graph = end(begin(RELAXED));
    OK(aclmdlRIDestroy(graph));
    EXPECT(aclmdlRIDestroy(graph), 107017);
}

RULE(graph, destroy_under_another_context, "implementation: aclmdlRIDestroy") {
    up();
    aclmdlRI graph = end(begin(RELAXED));
    aclrtContext mine = NULL, other = NULL;
    OK(aclrtGetCurrentContext(&mine));
    OK(aclrtCreateContext(&other, 0));
    EXPECT(aclmdlRIDestroy(graph), 107004);
    OK(aclrtSetCurrentContext(mine));
    EXPECT(aclmdlRIDestroy(graph), 0);
}

RULE_MOCK(graph, destroy_of_a_model_that_waits, "observed: destroy_running") {
    up();
    aclrtEvent gate = old_event(ACL_EVENT_EXTERNAL);
    aclrtStream stream = begin(RELAXED), other = new_stream();
    OK(aclrtStreamWaitEvent(stream, gate));
    OK(aclrtResetEvent(gate, stream));
    aclmdlRI graph = end(stream);
    OK(aclmdlRIExecuteAsync(graph, stream));
    EXPECT(aclmdlRIDestroy(graph), 107037);
    OK(aclrtRecordEvent(gate, other));
    finish(stream);
    EXPECT(aclmdlRIDestroy(graph), 0);
}

RULE_MOCK(graph, models_go_with_their_device, "guide: aclrtResetDevice") {
    up();
    aclmdlRI graph = end(begin(RELAXED));
    OK(aclrtResetDevice(0));
    OK(aclrtSetDevice(0));
    EXPECT(aclmdlRIDestroy(graph), 107017);
}

static int first_called, second_called;
static void first(void *user) { first_called += *(int *)user; }
static void second(void *user) { second_called += *(int *)user; }
static int amount = 1;

RULE(graph, destroy_calls_back, "observed: destroy_cb") {
    up();
    aclmdlRI graph = end(begin(RELAXED));
    EXPECT(aclmdlRIDestroyRegisterCallback(graph, first, &amount), 0);
    EXPECT(aclmdlRIDestroyRegisterCallback(graph, second, &amount), 0);
    TRUE(first_called == 0 && second_called == 0);
    OK(aclmdlRIDestroy(graph));
    TRUE(first_called == 1 && second_called == 1);
}

RULE(graph, a_callback_is_registered_once, "observed: destroy_cb") {
    up();
    aclmdlRI graph = end(begin(RELAXED));
    OK(aclmdlRIDestroyRegisterCallback(graph, first, &amount));
    EXPECT(aclmdlRIDestroyRegisterCallback(graph, first, &amount), 107000);
    OK(aclmdlRIDestroy(graph));
    TRUE(first_called == 1);
}

RULE(graph, a_callback_that_was_taken_back, "observed: destroy_cb") {
    up();
    aclmdlRI graph = end(begin(RELAXED));
    OK(aclmdlRIDestroyRegisterCallback(graph, first, &amount));
    EXPECT(aclmdlRIDestroyUnregisterCallback(graph, first), 0);
    EXPECT(aclmdlRIDestroyUnregisterCallback(graph, first), 107000);
    OK(aclmdlRIDestroy(graph));
    TRUE(first_called == 0);
}

static uint64_t called_on;
static void on_thread(void *user) { called_on = *(uint64_t *)user + (uint64_t)pthread_self(); }

RULE(graph, destroy_calls_back_on_its_thread, "guide: aclmdlRIDestroyRegisterCallback") {
    up();
    uint64_t offset = 0;
    aclmdlRI graph = end(begin(RELAXED));
    OK(aclmdlRIDestroyRegisterCallback(graph, on_thread, &offset));
    OK(aclmdlRIDestroy(graph));
    TRUE(called_on == (uint64_t)pthread_self());
}

RULE(graph, destroy_after_the_replay, "observed: execute") {
    up();
    aclrtStream stream = begin(RELAXED);
    aclmdlRI graph = end(stream);
    replay(graph, stream);
    EXPECT(aclmdlRIDestroy(graph), 0);
}

RULE_MOCK(graph, models_go_with_their_context, "guide: aclrtDestroyContext; implementation: handle guard") {
    up();
    aclrtContext mine = NULL, other = NULL;
    OK(aclrtGetCurrentContext(&mine));
    OK(aclrtCreateContext(&other, 0));
    aclmdlRI graph = end(begin(RELAXED));
    OK(aclrtSetCurrentContext(mine));
    OK(aclrtDestroyContext(other));
    EXPECT(aclmdlRIDestroy(graph), 107017);
}

/* This process ends by exit(), the others of the suite do not. */
static int peer_socket;
static void tell(void *byte) { send_bytes(peer_socket, byte, 1); }

static void exiting_peer(int socket) {
    static char ready = 1, called = 2;
    peer_socket = socket;
    up();
    OK(aclmdlRIDestroyRegisterCallback(end(begin(RELAXED)), tell, &called));
    tell(&ready);
}

RULE(graph, no_callback_at_the_end_of_a_process, "guide: aclmdlRIDestroyRegisterCallback") {
    peer p = start_peer(exiting_peer);
    char byte = 0;
    receive_bytes(p.socket, &byte, 1);
    TRUE(byte == 1);
    TRUE(read(p.socket, &byte, 1) == 0);
    join_peer(p);
}

RULE_MOCK(graph, a_callback_needs_a_function, "own choice: null is refused by the ACL layer") {
    up();
    aclmdlRI graph = end(begin(RELAXED));
    EXPECT(aclmdlRIDestroyRegisterCallback(graph, NULL, NULL), 100000);
    EXPECT(aclmdlRIDestroyUnregisterCallback(graph, NULL), 100000);
    EXPECT(aclmdlRIDestroyRegisterCallback(NULL, first, NULL), 100000);
    EXPECT(aclmdlRIDestroy(graph), 0);
}

/* ---- names and dumps ---- */

RULE(graph, a_model_without_a_name, "guide: aclmdlRIGetName") {
    up();
    aclmdlRI graph = end(begin(RELAXED));
    char name[8] = "before";
    EXPECT(aclmdlRIGetName(graph, sizeof name, name), 0);
    TRUE(name[0] == '\0');
}

RULE(graph, a_name_needs_room_for_all_of_it, "observed: graph_name") {
    up();
    aclmdlRI graph = end(begin(RELAXED));
    char name[8] = "?";
    OK(aclmdlRISetName(graph, "prefill"));
    EXPECT(aclmdlRIGetName(graph, 7, name), 507000);
    TRUE(name[0] == '\0');
    EXPECT(aclmdlRIGetName(graph, 8, name), 0);
    TRUE(strcmp(name, "prefill") == 0);
    EXPECT(aclmdlRIGetName(graph, 0, name), 107000);
}

RULE(graph, names_need_a_place, "guide: aclmdlRISetName") {
    up();
    aclmdlRI graph = end(begin(RELAXED));
    uint32_t id = 0;
    EXPECT(aclmdlRISetName(graph, NULL), 100000);
    EXPECT(aclmdlRIGetName(graph, 8, NULL), 100000);
    EXPECT(aclmdlRIGetId(graph, NULL), 100000);
    EXPECT(aclmdlRIGetId(graph, &id), 0);
}

RULE(graph, models_have_different_ids, "guide: aclmdlRIGetId") {
    up();
    aclmdlRI one = end(begin(RELAXED)), two = end(begin(RELAXED));
    uint32_t first_id = 0, second_id = 0;
    OK(aclmdlRIGetId(one, &first_id));
    OK(aclmdlRIGetId(two, &second_id));
    TRUE(first_id != second_id);
}

RULE(graph, a_model_is_printed, "guide: aclmdlRIDebugPrint") {
    up();
    EXPECT(aclmdlRIDebugPrint(end(begin(RELAXED))), 0);
    EXPECT(aclmdlRIDebugPrint(NULL), 100000);
}

RULE(graph, a_print_is_not_for_standard_output, "guide: aclmdlRIDebugPrint") {
    up();
    FILE *file = tmpfile();
    NEED(file != NULL);
    const int before = dup(STDOUT_FILENO);
    aclmdlRI graph = end(begin(RELAXED));
    fflush(stdout);
    NEED(before >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
    const int code = (int)aclmdlRIDebugPrint(graph);
    fflush(stdout);
    const off_t size = lseek(STDOUT_FILENO, 0, SEEK_END);
    dup2(before, STDOUT_FILENO);
    EXPECT(code, 0);
    TRUE(size == 0);
    fclose(file);
}

RULE(graph, a_model_is_written_as_json, "guide: aclmdlRIDebugJsonPrint") {
    up();
    void *memory = device(64);
    aclrtStream stream = begin(RELAXED);
    OK(aclrtMemsetAsync(memory, 64, 0, 64, stream));
    aclmdlRI graph = end(stream);
    char path[64], start = 0;
    snprintf(path, sizeof path, "/tmp/conform-graph-%d.json", (int)getpid());
    for (uint32_t flags = 0; flags < 2; flags++) {
        EXPECT(aclmdlRIDebugJsonPrint(graph, path, flags), 0);
        FILE *file = fopen(path, "r");
        NEED(file != NULL);
        TRUE(fread(&start, 1, 1, file) == 1 && start == '[');
        fclose(file);
    }
    remove(path);
    EXPECT(aclmdlRIDebugJsonPrint(graph, "/nowhere/at/all.json", 0), 107000);
    EXPECT(aclmdlRIDebugJsonPrint(graph, NULL, 0), 100000);
}

RULE(graph, a_long_name_is_cut, "implementation: aclmdlRISetName (512 bytes)") {
    up();
    aclmdlRI graph = end(begin(RELAXED));
    static char longer[600], name[1024];
    memset(longer, 'n', sizeof longer - 1);
    EXPECT(aclmdlRISetName(graph, longer), 0);
    OK(aclmdlRIGetName(graph, sizeof name, name));
    TRUE(strlen(name) >= 511 && strlen(name) <= 512);
    EXPECT(aclmdlRISetName(graph, "short"), 0);
    OK(aclmdlRIGetName(graph, sizeof name, name));
    TRUE(strcmp(name, "short") == 0);
}

RULE(graph, the_json_is_a_trace, "implementation: aclmdlRIDebugJsonPrint") {
    up();
    uint64_t *memory = (uint64_t *)device(64);
    aclrtStream stream = begin(RELAXED);
    OK(aclrtValueWrite(memory, 1, 0, stream));
    aclmdlRI graph = end(stream);
    static char text[65536];
    char path[64], pid[32];
    snprintf(path, sizeof path, "/tmp/conform-trace-%d.json", (int)getpid());
    snprintf(pid, sizeof pid, "%d aclGraph", (int)getpid());
    FILE *file = fopen(path, "w");
    NEED(file != NULL);
    for (int i = 0; i < 60000; i++) fputc('x', file); /* what was there goes */
    fclose(file);
    EXPECT(aclmdlRIDebugJsonPrint(graph, path, ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY), 0);
    file = fopen(path, "r");
    NEED(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    remove(path);
    TRUE(strlen(text) > 0 && strlen(text) < 50000);
    const char *const parts[] = {pid, "\"name\"", "\"pid\"", "\"tid\"", "\"ts\"", "\"dur\"", "\"ph\"",
        "\"args\"", "\"modelId\"", "\"streamId\"", "\"taskId\"", "\"taskType\""};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) TRUE(strstr(text, parts[i]) != NULL);
    TRUE(ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY == 0 && ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE == 1);
}
