/* Part of racl (mock-acl). Events of the Ex family: queries, waits that insert nothing. */
#include "conform.h"

RULE(event, ex_unrecorded_is_complete, "guide: aclrtQueryEventStatus") {
    up();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    OK(aclrtQueryEventStatus(event, &status));
    TRUE(status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
}

RULE(event, old_unrecorded_is_not_ready, "guide: aclrtQueryEventStatus") {
    up();
    aclrtEvent event = old_event(ACL_EVENT_SYNC);
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    OK(aclrtQueryEventStatus(event, &status));
    TRUE(status == ACL_EVENT_RECORDED_STATUS_NOT_READY);
}

RULE(event, wait_for_an_unrecorded_ex_event_inserts_nothing, "guide: aclrtStreamWaitEvent") {
    up();
    aclrtStream stream = new_stream();
    OK(aclrtStreamWaitEvent(stream, new_event(ACL_EVENT_SYNC)));
    finish(stream);
}

RULE(event, a_latch_holds_a_stream_until_it_is_recorded, "guide: aclrtCreateEventWithFlag, aclrtStreamWaitEvent") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 1, 64);
    aclrtEvent latch = hold(stream);
    OK(aclrtMemsetAsync(memory, 64, 2, 64, stream));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), 507046);
    TRUE(byte_at(memory) == 1);
    let_go(latch);
    finish(stream);
    TRUE(byte_at(memory) == 2);
}

RULE_MOCK(event, a_destroyed_event_is_an_invalid_handle, "implementation: handle guard") {
    up();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtDestroyEvent(event));
    EXPECT(aclrtRecordEvent(event, NULL), 107017);
}
