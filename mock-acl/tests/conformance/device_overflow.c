/* Part of racl (mock-acl). The older calls for overflow, and time-outs of operators in other units. */
#include "conform.h"

RULE(overflow, the_older_calls_read_and_clear_64_bytes, "guide: aclrtGetFloatOverflowStatus") {
    up();
    aclrtStream stream = new_stream();
    void *status = device(64);
    fill(status, 0xFF, 64);
    EXPECT(aclrtGetFloatOverflowStatus(status, 64, stream), 0);
    EXPECT(aclrtResetFloatOverflowStatus(stream), 0);
    finish(stream);
    TRUE(u64_at(status) == 0);
    EXPECT(aclrtNpuClearFloatOverFlowStatus(0, stream), 0);
    finish(stream);
}

RULE(overflow, the_older_calls_are_not_captured, "implementation: checks of a capturing stream") {
    up();
    void *status = device(64);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    EXPECT(aclrtNpuGetFloatOverFlowStatus(status, 64, 0, stream), 107027);
    EXPECT(aclrtNpuClearFloatOverFlowStatus(0, stream), 107027);
    EXPECT(aclrtGetFloatOverflowStatus(status, 64, stream), 107027);
    EXPECT(aclrtResetFloatOverflowStatus(stream), 107027);
    end(stream);
}

RULE(overflow, time_outs_have_three_units, "guide: aclrtSetOpExecuteTimeOut, aclrtSetOpExecuteTimeOutWithMs") {
    up();
    EXPECT(aclrtSetOpExecuteTimeOut(1), 0);
    EXPECT(aclrtSetOpExecuteTimeOutWithMs(1000), 0);
    uint64_t interval = 0, actual = 0;
    OK(aclrtGetOpTimeOutInterval(&interval));
    NEED(interval > 0);
    EXPECT(aclrtSetOpExecuteTimeOutV2(UINT64_MAX, &actual), 0);
    TRUE(actual % interval == 0 && actual / interval <= 254);
}

RULE(overflow, half_precision_is_exact_where_it_can_be, "header: aclFloat16; the format of IEEE 754") {
    TRUE(aclFloatToFloat16(1.0f) == 0x3C00);
    TRUE(aclFloatToFloat16(-2.0f) == 0xC000);
    TRUE(aclFloatToFloat16(65504.0f) == 0x7BFF);
    TRUE(aclFloat16ToFloat(0x3800) == 0.5f);
    TRUE(aclFloat16ToFloat(0x0001) == 1.0f / 16777216.0f);
}
