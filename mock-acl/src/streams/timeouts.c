/* Time-outs of operators and of waits for events (guide: error handling, aclrtSetOpWaitTimeout and its
 * neighbours). Those of waits work (engine/deadline.c); those of operators are kept and given back, because an
 * operator of the mock takes 1,000 ns. */
#define _GNU_SOURCE
#include "base/base.h"
#include "engine/engine.h"
#include "streams/streams.h"
#include "streams/timeouts.h"

/* The device counts operators in steps of 2^32 ns, up to 254 of them (guide: aclrtGetOpTimeoutInterval,
 * for the 254 and for rounding up; own choice of the step: 254 of them are the 1,091 s that the guide
 * gives elsewhere). */
#define STEP_US UINT64_C(4294967)
#define STEPS 254u

static uint32_t wait_seconds;
static uint64_t steps = STEPS;

void mock_timeouts_reset(void) {
    wait_seconds = 0;
    steps = STEPS;
}

uint32_t mock_op_wait_seconds(void) { return wait_seconds; }

static aclError no_context(void) {
    mock_lock();
    const bool bound = mock_current() != NULL;
    mock_unlock();
    return bound ? 0 : ACL_ERROR_RT_CONTEXT_NULL;
}

/* 0: never. For waits that are queued later, the last call counts (guide: aclrtSetOpWaitTimeout). Needs no context
 * (observed: before_set_device). */
MOCK_EXPORT aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
    MOCK_ENTER(aclrtSetOpWaitTimeout);
    mock_lock();
    wait_seconds = timeout;
    mock_unlock();
    return 0;
}

/* 0: the longest (guide: aclrtSetOpExecuteTimeOutV2). */
static void set_steps(uint64_t us, uint64_t *actual) {
    mock_lock();
    const uint64_t wanted = us / STEP_US + (us % STEP_US != 0);
    steps = us == 0 || wanted > STEPS ? STEPS : wanted;
    if (actual != NULL) *actual = steps * STEP_US;
    mock_unlock();
}

static aclError set_execution(uint64_t us, uint64_t *actual) {
    const aclError code = no_context();
    if (code == 0) set_steps(us, actual);
    return code;
}

/* Needs no context (observed: before_set_device). */

MOCK_EXPORT aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
    MOCK_ENTER(aclrtSetOpExecuteTimeOut);
    set_steps((uint64_t)timeout * 1000000, NULL);
    return 0;
}

MOCK_EXPORT aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout) {
    MOCK_ENTER(aclrtSetOpExecuteTimeOutWithMs);
    return set_execution((uint64_t)timeout * 1000, NULL);
}

MOCK_EXPORT aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actualTimeout) {
    MOCK_ENTER(aclrtSetOpExecuteTimeOutV2);
    if (actualTimeout == NULL) return mock_null("actualTimeout");
    return set_execution(timeout, actualTimeout);
}

MOCK_EXPORT aclError aclrtGetOpExecuteTimeout(uint32_t *const timeoutMs) {
    MOCK_ENTER(aclrtGetOpExecuteTimeout);
    if (timeoutMs == NULL) return mock_null("timeoutMs");
    const aclError code = no_context();
    if (code != 0) return code;
    mock_lock();
    *timeoutMs = (uint32_t)(steps * STEP_US / 1000);
    mock_unlock();
    return 0;
}

MOCK_EXPORT aclError aclrtGetOpTimeOutInterval(uint64_t *interval) {
    MOCK_ENTER(aclrtGetOpTimeOutInterval);
    if (interval == NULL) return mock_null("interval");
    const aclError code = no_context();
    if (code == 0) *interval = STEP_US;
    return code;
}
