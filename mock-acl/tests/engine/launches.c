/* Part of racl (mock-acl). The log of launches, with the core limits they had. */
#include <pthread.h>
#include "add.h"

#define CUBE ACL_RT_DEV_RES_CUBE_CORE
#define VECTOR ACL_RT_DEV_RES_VECTOR_CORE

static void check_launch(uint64_t i, uint32_t cube, uint32_t vectors, uint32_t graph, aclrtStream s) {
    mock_acl_launch l = {.struct_size = sizeof l};
    int32_t id = -1;
    OK(aclrtStreamGetId(s, &id));
    OK(mock_acl_launch_at(i, &l));
    CHECK(strcmp(l.function, "aclnnAdd") == 0);
    CHECK(l.cube_cores == cube && l.vector_cores == vectors && l.graph_id == graph && l.stream_id == id);
}

static void eager_limits(void) {
    up();
    aclrtStream s = new_stream(), other = new_stream();
    add o = new_add();
    once(&o, s);
    OK(aclrtSynchronizeStream(s));
    CHECK(mock_acl_launch_count() == 0); /* off */
    mock_acl_log_launches(1);
    OK(mock_acl_hold_stream(s));
    OK(mock_acl_hold_stream(other));
    OK(aclrtSetStreamResLimit(s, CUBE, 8));
    OK(aclrtSetStreamResLimit(s, VECTOR, 6));
    once(&o, s); /* nobody uses the limit yet */
    OK(aclrtUseStreamResInCurrentThread(s));
    once(&o, s);
    once(&o, other); /* the thread has it, not the stream */
    OK(aclrtUnuseStreamResInCurrentThread(s));
    OK(aclrtSetDeviceResLimit(0, CUBE, 20));
    once(&o, s);
    OK(aclrtResetDeviceResLimit(0)); /* what is queued keeps its limit */
    CHECK(mock_acl_launch_count() == 0);
    OK(mock_acl_release_stream(s));
    OK(aclrtSynchronizeStream(s));
    OK(mock_acl_release_stream(other));
    OK(aclrtSynchronizeStream(other));
    CHECK(mock_acl_launch_count() == 4);
    check_launch(0, 24, 48, 0, s);
    check_launch(1, 8, 6, 0, s);
    check_launch(2, 20, 48, 0, s);
    check_launch(3, 8, 6, 0, other);
    mock_acl_launch l = {.struct_size = sizeof l};
    CODE(mock_acl_launch_at(4, &l), MOCK_ACL_BAD_ARGUMENT);
    CODE(mock_acl_launch_at(0, NULL), MOCK_ACL_BAD_ARGUMENT);
    l.struct_size = 0;
    CODE(mock_acl_launch_at(0, &l), MOCK_ACL_BAD_ARGUMENT);
    mock_acl_log_launches(0);
    CHECK(mock_acl_launch_count() == 0);
    once(&o, s);
    OK(aclrtSynchronizeStream(s));
    CHECK(mock_acl_launch_count() == 0);
    end_add(&o);
}

/* The limit of the capture stays in the graph, until an update brings its own. */
static void captured_limits(void) {
    up();
    aclrtStream s = new_stream(), update = new_stream();
    add o = new_add();
    aclmdlRI graph = NULL;
    aclrtTaskGrp group = NULL;
    uint32_t id = 0;
    OK(aclrtSetStreamResLimit(s, CUBE, 5));
    OK(aclrtUseStreamResInCurrentThread(s));
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    once(&o, s);
    OK(aclmdlRICaptureTaskGrpBegin(s));
    once(&o, s);
    OK(aclmdlRICaptureTaskGrpEnd(s, &group));
    OK(aclmdlRICaptureEnd(s, &graph));
    OK(aclmdlRIGetId(graph, &id));
    OK(aclrtUnuseStreamResInCurrentThread(s));
    OK(aclrtResetStreamResLimit(s));
    mock_acl_log_launches(1);
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtSynchronizeStream(s));
    OK(aclmdlRIExecuteAsync(graph, update));
    OK(aclrtSynchronizeDevice());
    CHECK(mock_acl_launch_count() == 4);
    check_launch(0, 5, 48, id, s);
    check_launch(1, 5, 48, id, s);
    check_launch(2, 5, 48, id, update);
    check_launch(3, 5, 48, id, update);
    OK(aclmdlRICaptureTaskUpdateBegin(update, group));
    once(&o, update);
    OK(aclmdlRICaptureTaskUpdateEnd(update));
    OK(aclrtSynchronizeStream(update));
    CHECK(mock_acl_launch_count() == 4); /* an update runs nothing */
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(mock_acl_launch_count() == 6);
    check_launch(4, 5, 48, id, s);
    check_launch(5, 24, 48, id, s);
    OK(aclmdlRIDestroy(graph));
    end_add(&o);
    OK(mock_acl_reset());
    CHECK(mock_acl_launch_count() == 0);
}

static void *launches_without_limit(void *stream) {
    OK(aclrtSetDevice(0));
    add o = new_add();
    once(&o, stream);
    OK(aclrtSynchronizeStream(stream));
    end_add(&o);
    return NULL;
}

static void limits_are_of_the_thread(void) {
    up();
    aclrtStream s = new_stream();
    pthread_t thread;
    OK(aclrtSetStreamResLimit(s, VECTOR, 2));
    OK(aclrtUseStreamResInCurrentThread(s));
    mock_acl_log_launches(1);
    CHECK(pthread_create(&thread, NULL, launches_without_limit, s) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    add o = new_add();
    once(&o, s);
    OK(aclrtSynchronizeStream(s));
    check_launch(0, 24, 48, 0, s);
    check_launch(1, 24, 2, 0, s);
    end_add(&o);
}

int main(void) {
    eager_limits();
    captured_limits();
    limits_are_of_the_thread();
    CHECK(mock_acl_reset() == 0);
    return 0;
}
