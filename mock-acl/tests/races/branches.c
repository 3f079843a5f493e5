/* Graphs that choose: conditions with sub graphs, streams that start others, labels. */
#include "races/racy.h"

/* ---- conditions ---- */

static aclrtStream origin, inner, side;
static aclrtEvent out, back;
static char *p;
static aclmdlRI root, subs[2];
static uint64_t *value;

static void capture(void) {
    start();
    origin = new_stream(), inner = new_stream(), side = new_stream();
    out = new_event(ACL_EVENT_SYNC), back = new_event(ACL_EVENT_SYNC);
    p = device(BYTES);
    aclmdlRICaptureStatus status;
    OK(aclmdlRICaptureBegin(origin, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclmdlRICaptureGetInfo(origin, &status, &root));
}

/* Both branches fill the memory. */
static void branches(void) {
    aclmdlRICondHandle h = NULL;
    OK(aclmdlRICondHandleCreate(root, 0, 0, &h)); /* the cell stays as it was written */
    OK(aclmdlRICondHandleGetCondPtr(h, &value));
    const aclmdlRICondTaskParams params = {h, ACL_MODEL_RI_COND_TYPE_IF, 2, subs};
    OK(aclmdlRIAddCondTask(params, origin, 0));
    for (int i = 0; i < 2; i++) {
        OK(aclmdlRICaptureToModelRIBegin(inner, subs[i], ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
        fill(p, i == 0 ? BYTES : 64, inner);
        OK(aclmdlRICaptureEnd(inner, NULL));
    }
}

static void replay(void) {
    OK(aclmdlRICaptureEnd(origin, &root));
    for (uint64_t v = 0; v < 2; v++) {
        OK(aclrtMemcpy(value, 8, &v, 8, ACL_MEMCPY_HOST_TO_DEVICE));
        OK(aclmdlRIExecuteAsync(root, origin));
        mock_acl_run_until_idle();
        OK(aclrtSynchronizeStream(origin));
    }
}

static void a_branch_is_between_its_neighbours(void) {
    capture();
    fill(p, BYTES, origin);
    branches();
    fill(p, BYTES, origin);
    replay();
    races(0);
}

static void a_branch_waits_for_no_other_stream(void) {
    capture();
    OK(aclrtRecordEvent(out, origin));
    OK(aclrtStreamWaitEvent(side, out));
    fill(p, 16, side);
    branches();
    OK(aclrtRecordEvent(back, side));
    OK(aclrtStreamWaitEvent(origin, back));
    replay();
    races(2); /* with a node of each branch, which is a graph of its own */
    for (uint64_t i = 0; i < 2; i++) CHECK(race_at(i).address == p && race_at(i).bytes == 16);
    CHECK(race_at(0).first_graph != race_at(0).second_graph && has(0, "let the stream that captured"));
}

/* ---- streams of a model that start others ---- */

static aclrtStream launch;
static aclmdlRI model;
static uint32_t *cell;

static aclrtStream bound(uint32_t flag) {
    aclrtStream s = NULL;
    OK(aclrtCreateStreamWithConfig(&s, 0, ACL_STREAM_PERSISTENT));
    OK(aclmdlRIBindStream(model, s, flag));
    return s;
}

static void build(void) {
    start();
    launch = new_stream();
    p = device(BYTES);
    cell = device(64);
    OK(aclrtMemset(cell, 64, 0, 64));
    OK(aclmdlRIBuildBegin(&model, 0));
}

static void run(aclrtStream last) {
    OK(aclmdlRIEndTask(model, last));
    OK(aclmdlRIBuildEnd(model, NULL));
    OK(aclmdlRIExecuteAsync(model, launch));
    fill(p, BYTES, launch); /* behind the whole model */
    mock_acl_run_until_idle();
    OK(aclrtSynchronizeStream(launch));
}

static void a_started_stream(int racy) {
    build();
    aclrtStream head = bound(ACL_MODEL_STREAM_FLAG_HEAD), later = bound(ACL_MODEL_STREAM_FLAG_DEFAULT);
    fill(p, BYTES, head);
    OK(aclrtActiveStream(later, head));
    fill(p, BYTES, later);
    if (racy) fill(p + 8, 8, head); /* beside the stream that it started */
    run(head);
    races(racy ? 1 : 0);
    if (racy) CHECK(race_at(0).address == p + 8 && race_at(0).bytes == 8);
}

/* A jump to a label of another stream, and one back to the stream itself. */
static void a_label(uint32_t index) {
    build();
    aclrtStream head = bound(ACL_MODEL_STREAM_FLAG_HEAD), other = bound(ACL_MODEL_STREAM_FLAG_DEFAULT);
    aclrtLabel label[2];
    aclrtLabelList list = NULL;
    for (int i = 0; i < 2; i++) OK(aclrtCreateLabel(&label[i]));
    OK(aclrtCreateLabelList(label, 2, &list));
    fill(p, BYTES, head);
    OK(aclrtSwitchLabelByIndex(cell, 2, list, head));
    OK(aclrtSetLabel(label[0], head));
    fill(p, BYTES, head);
    OK(aclrtSetLabel(label[1], other));
    fill(p, BYTES, other);
    OK(aclrtMemcpy(cell, 4, &index, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    run(head);
    races(0);
    /* The index is read when the jump is made. */
    OK(aclrtMemsetAsync(cell, 4, (int)index, 4, new_stream()));
    OK(aclmdlRIExecuteAsync(model, launch));
    races(1);
    CHECK(race_at(0).address == cell && race_at(0).bytes == 4);
}

/* The jump itself is the only order between the two streams. */
static void a_label_beside_another_head(void) {
    build();
    aclrtStream head = bound(ACL_MODEL_STREAM_FLAG_HEAD), second = bound(ACL_MODEL_STREAM_FLAG_HEAD);
    aclrtStream other = bound(ACL_MODEL_STREAM_FLAG_DEFAULT);
    aclrtLabel label = NULL;
    aclrtLabelList list = NULL;
    OK(aclrtCreateLabel(&label));
    OK(aclrtCreateLabelList(&label, 1, &list));
    OK(aclrtSwitchLabelByIndex(cell, 1, list, head));
    OK(aclrtSetLabel(label, other));
    fill(p, 32, other);
    fill(p, 64, second);
    run(head);
    races(1);
    CHECK(race_at(0).bytes == 32);
}

int main(void) {
    a_branch_is_between_its_neighbours();
    a_branch_waits_for_no_other_stream();
    a_started_stream(0);
    a_started_stream(1);
    a_label(0);
    a_label(1);
    a_label_beside_another_head();
    return 0;
}
