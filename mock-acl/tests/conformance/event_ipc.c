/* Part of racl (mock-acl). Events between processes. */
#include <signal.h>
#include "conform.h"

static aclrtEvent shared_event(void) {
    aclrtEvent event = NULL;
    const int code = aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC);
    if (code == 207000) SKIP("the driver has no events between processes");
    OK(code);
    return event;
}

static aclrtIpcEventHandle handle_of(aclrtEvent event) {
    aclrtIpcEventHandle handle;
    memset(&handle, 0, sizeof handle);
    OK(aclrtIpcGetEventHandle(event, &handle));
    return handle;
}

/* Opens what it is sent, waits for it on a stream and says when that is over; then records it once itself. */
static void waiting_peer(int socket) {
    aclrtIpcEventHandle handle;
    aclrtEvent event = NULL;
    char step = 1;
    up();
    receive_bytes(socket, &handle, sizeof handle);
    OK(aclrtIpcOpenEventHandle(handle, &event));
    aclrtStream stream = new_stream();
    OK(aclrtStreamWaitEvent(stream, event));
    send_bytes(socket, &step, 1);
    finish(stream);
    send_bytes(socket, &step, 1);
    OK(aclrtRecordEvent(event, stream));
    finish(stream);
    send_bytes(socket, &step, 1);
    receive_bytes(socket, &step, 1);
    OK(aclrtDestroyEvent(event));
}

RULE(event, a_record_is_waited_for_in_another_process, "guide: aclrtIpcGetEventHandle") {
    peer p = start_peer(waiting_peer);
    char step = 0;
    up();
    aclrtEvent event = shared_event();
    aclrtIpcEventHandle handle = handle_of(event);
    aclrtStream stream = new_stream();
    aclrtEvent latch = hold(stream);
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtQueryEventStatus(event, &status));
    TRUE(status == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    send_bytes(p.socket, &handle, sizeof handle);
    receive_bytes(p.socket, &step, 1); /* it waits */
    let_go(latch);
    finish(stream);
    receive_bytes(p.socket, &step, 1); /* its wait is over */
    receive_bytes(p.socket, &step, 1); /* and it recorded */
    EXPECT(aclrtSynchronizeEvent(event), 0);
    OK(aclrtQueryEventStatus(event, &status));
    TRUE(status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    send_bytes(p.socket, &step, 1);
    join_peer(p);
    OK(aclrtDestroyEvent(event));
}

RULE(event, an_unrecorded_shared_event_is_complete, "guide: aclrtQueryEventStatus") {
    up();
    aclrtEvent event = shared_event();
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    OK(aclrtQueryEventStatus(event, &status));
    TRUE(status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT(aclrtSynchronizeEvent(event), 0);
    OK(aclrtStreamWaitEvent(NULL, event));
    finish(NULL);
}

RULE(event, a_shared_event_orders_streams_of_one_process, "guide: aclrtIpcGetEventHandle") {
    up();
    aclrtEvent event = shared_event();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent latch = hold(a);
    OK(aclrtRecordEvent(event, a));
    OK(aclrtStreamWaitEvent(b, event));
    EXPECT(aclrtSynchronizeStreamWithTimeout(b, 20), 507046);
    EXPECT(aclrtSynchronizeEventWithTimeout(event, 20), 507047);
    let_go(latch);
    finish(b);
}

RULE(event, what_a_shared_event_cannot_do, "guide: aclrtIpcGetEventHandle") {
    up();
    aclrtEvent event = shared_event();
    aclrtEventStatus status;
    aclrtEventWaitStatus waits;
    float ms = 0;
    uint64_t us = 0;
    uint32_t id = 0;
    EXPECT(aclrtResetEvent(event, NULL), 207000);
    EXPECT(aclrtQueryEvent(event, &status), 207000);
    EXPECT(aclrtQueryEventWaitStatus(event, &waits), 207000);
    EXPECT(aclrtEventElapsedTime(&ms, event, event), 207000);
    EXPECT(aclrtEventGetTimestamp(event, &us), 207000);
    EXPECT(aclrtGetEventId(event, &id), 207000);
}

RULE(event, a_shared_event_is_not_captured, "guide: aclrtIpcGetEventHandle") {
    up();
    aclrtEvent event = shared_event();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    EXPECT(aclrtRecordEvent(event, stream), 207000);
    EXPECT(aclrtStreamWaitEvent(stream, event), 207000);
    OK(aclmdlRIDestroy(end(stream)));
}

RULE(event, only_a_shared_event_has_a_handle, "implementation: aclrtIpcGetEventHandle") {
    up();
    aclrtIpcEventHandle handle;
    EXPECT(aclrtIpcGetEventHandle(new_event(ACL_EVENT_SYNC), &handle), 107000);
    EXPECT(aclrtIpcGetEventHandle(old_event(ACL_EVENT_SYNC), &handle), 107000);
    TRUE(aclrtIpcGetEventHandle(NULL, &handle) != 0);
    TRUE(aclrtIpcGetEventHandle(shared_event(), NULL) != 0);
}

RULE(event, opening_needs_a_place, "implementation: aclrtIpcOpenEventHandle") {
    up();
    TRUE(aclrtIpcOpenEventHandle(handle_of(shared_event()), NULL) != 0);
}

RULE_MOCK(event, a_forged_handle_is_refused, "own choice") {
    up();
    aclrtEvent opened = NULL, event = shared_event();
    aclrtIpcEventHandle handle = handle_of(event), forged;
    memset(&forged, 0, sizeof forged);
    EXPECT(aclrtIpcOpenEventHandle(forged, &opened), 107000);
    memset(&forged, 0x5A, sizeof forged);
    EXPECT(aclrtIpcOpenEventHandle(forged, &opened), 107000);
    /* Every bit of a real one. */
    for (int i = 0; i < 44 * 8; i++) {
        forged = handle;
        forged.reserved[i / 8] = (char)(forged.reserved[i / 8] ^ (1 << i % 8));
        if (!EITHER(aclrtIpcOpenEventHandle(forged, &opened), 107000, 507899)) {
            printf("bit %d\n", i);
            break;
        }
    }
    EXPECT(aclrtIpcOpenEventHandle(handle, &opened), 0);
    OK(aclrtDestroyEvent(opened));
}

RULE_MOCK(event, a_handle_of_a_destroyed_event_is_refused, "own choice") {
    up();
    aclrtEvent opened = NULL, event = shared_event();
    aclrtIpcEventHandle handle = handle_of(event);
    OK(aclrtDestroyEvent(event));
    EXPECT(aclrtIpcOpenEventHandle(handle, &opened), 507899);
}

/* Sends a handle, leaves a record that never comes, and dies of a signal. */
static void dying_peer(int socket) {
    up();
    aclrtEvent event = shared_event();
    aclrtIpcEventHandle handle = handle_of(event);
    aclrtStream stream = new_stream();
    char step = 0;
    hold(stream);
    OK(aclrtRecordEvent(event, stream));
    send_bytes(socket, &handle, sizeof handle);
    receive_bytes(socket, &step, 1);
    raise(SIGKILL);
}

RULE_MOCK(event, a_wait_for_a_dead_process_ends, "own choice") {
    peer p = start_peer(dying_peer);
    aclrtIpcEventHandle handle;
    aclrtEvent event = NULL;
    char step = 0;
    up();
    aclrtStream stream = new_stream();
    receive_bytes(p.socket, &handle, sizeof handle);
    OK(aclrtIpcOpenEventHandle(handle, &event));
    OK(aclrtStreamWaitEvent(stream, event));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), 507046);
    send_bytes(p.socket, &step, 1);
    EXPECT(aclrtSynchronizeStream(stream), 507022);
    EXPECT(aclrtSynchronizeEvent(event), 507022);
    EXPECT(aclrtIpcOpenEventHandle(handle, &event), 507899);
}

RULE_ENV(event, a_driver_may_have_no_shared_events, "observed: event_create_flags", "MOCK_ACL_IPC_EVENTS=0") {
    up();
    aclrtEvent event = NULL;
    EXPECT(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC), 207000);
}
