/* Part of racl (mock-acl). Profiling sessions, marks, dumps: states and codes. */
#include "acl/acl_prof.h"
#include "conform.h"
#if __has_include("acl/acl_dump.h")
#include "acl/acl_dump.h"
#endif

static char folder[64] = "/tmp/conform-profile-XXXXXX";

static void start_session(void) {
    up();
    NEED(mkdtemp(folder) != NULL);
    OK(aclprofInit(folder, strlen(folder)));
}

static aclprofConfig *config(uint64_t switches) {
    uint32_t device0 = 0;
    aclprofConfig *c = aclprofCreateConfig(&device0, 1, ACL_AICORE_NONE, NULL, switches);
    NEED(c != NULL);
    return c;
}

RULE(profile, nothing_runs_before_init, "guide: ACL_ERROR_PROF_NOT_RUN") {
    up();
    aclprofConfig *c = config(ACL_PROF_TASK_TIME);
    EXPECT(aclprofStart(c), 100043);
    EXPECT(aclprofStop(c), 100043);
    EXPECT(aclprofFinalize(), 100043);
    EXPECT(aclprofDestroyConfig(c), 0);
}

RULE(profile, a_second_init, "implementation: aclprofInit") {
    start_session();
    EXPECT(aclprofInit(folder, strlen(folder)), 100002);
    EXPECT(aclprofFinalize(), 0);
    EXPECT(aclprofInit(folder, strlen(folder)), 0);
    OK(aclprofFinalize());
}

RULE(profile, the_length_is_that_of_the_path, "implementation: aclprofInit") {
    up();
    EXPECT(aclprofInit(NULL, 0), 100000);
    EXPECT(aclprofInit("", 0), 100000);
    EXPECT(aclprofInit("/tmp", 3), 100000);
    EXPECT(aclprofInit("/tmp", 5), 100000);
}

RULE(profile, start_and_stop, "guide: aclprofStart, aclprofStop") {
    start_session();
    aclprofConfig *c = config(ACL_PROF_TASK_TIME);
    EXPECT(aclprofStop(c), 100043);
    EXPECT(aclprofStart(c), 0);
    EXPECT(aclprofStop(c), 0);
    EXPECT(aclprofStop(c), 100043);
    OK(aclprofDestroyConfig(c));
    OK(aclprofFinalize());
}

RULE(profile, a_device_starts_once, "guide: ACL_ERROR_PROF_ALREADY_RUN") {
    start_session();
    aclprofConfig *c = config(ACL_PROF_TASK_TIME);
    OK(aclprofStart(c));
    EXPECT(aclprofStart(c), 100042);
    OK(aclprofStop(c));
    OK(aclprofFinalize());
}

RULE(profile, stop_with_other_switches, "implementation: aclprofStop") {
    start_session();
    aclprofConfig *c = config(ACL_PROF_TASK_TIME), *other = config(ACL_PROF_TASK_TIME | ACL_PROF_ACL_API);
    OK(aclprofStart(c));
    EXPECT(aclprofStop(other), 100010);
    OK(aclprofStop(c));
    OK(aclprofFinalize());
}

RULE(profile, finalize_stops, "implementation: aclprofFinalize") {
    start_session();
    aclprofConfig *c = config(ACL_PROF_TASK_TIME);
    OK(aclprofStart(c));
    EXPECT(aclprofFinalize(), 0);
    EXPECT(aclprofStop(c), 100043);
}

RULE(profile, configurations_of_null, "implementation: aclprofStart, aclprofDestroyConfig") {
    start_session();
    EXPECT(aclprofStart(NULL), 100000);
    EXPECT(aclprofStop(NULL), 100000);
    EXPECT(aclprofDestroyConfig(NULL), 100000);
    OK(aclprofFinalize());
}

RULE(profile, a_configuration_of_nothing, "implementation: aclprofStart") {
    start_session();
    EXPECT(aclprofStart(config(0)), 100000);
    OK(aclprofFinalize());
}

RULE(profile, devices_are_checked, "implementation: aclprofCreateConfig") {
    up();
    uint32_t twice[2] = {0, 0}, beyond = 4000;
    TRUE(aclprofCreateConfig(NULL, 1, ACL_AICORE_NONE, NULL, ACL_PROF_ACL_API) == NULL);
    TRUE(aclprofCreateConfig(twice, 2, ACL_AICORE_NONE, NULL, ACL_PROF_ACL_API) == NULL);
    TRUE(aclprofCreateConfig(&beyond, 1, ACL_AICORE_NONE, NULL, ACL_PROF_ACL_API) == NULL);
    TRUE(aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_ACL_API) == NULL);
}

RULE(profile, options_need_a_session, "implementation: aclprofSetConfig") {
    up();
    EXPECT(aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, "200MB", 5), 100043);
    EXPECT(aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, NULL, 5), 100000);
}

RULE(profile, no_stamps_without_a_session, "guide: aclprofCreateStamp") {
    up();
    TRUE(aclprofCreateStamp() == NULL);
    TRUE(aclprofPop() != 0);
    TRUE(aclprofMark(NULL) != 0);
    TRUE(aclprofRangeStop(1) != 0);
    aclprofDestroyStamp(NULL);
}

RULE(profile, ranges_inside_each_other, "guide: aclprofPush, aclprofPop") {
    start_session();
    aclprofConfig *c = config(ACL_PROF_TASK_TIME | ACL_PROF_MSPROFTX);
    OK(aclprofStart(c));
    void *stamp = aclprofCreateStamp();
    NEED(stamp != NULL);
    EXPECT(aclprofSetStampTraceMessage(stamp, "outer", 5), 0);
    TRUE(aclprofSetStampTraceMessage(stamp, "too long", 128) != 0);
    EXPECT(aclprofPush(stamp), 0);
    EXPECT(aclprofPop(), 0);
    TRUE(aclprofPop() != 0);
    aclprofDestroyStamp(stamp);
    OK(aclprofStop(c));
    OK(aclprofFinalize());
}

static uint32_t range_id;

static void stop_range(void *code) { *(aclError *)code = aclprofRangeStop(range_id); }

RULE(profile, a_range_ends_on_another_thread, "guide: aclprofRangeStart, aclprofRangeStop") {
    start_session();
    aclprofConfig *c = config(ACL_PROF_TASK_TIME | ACL_PROF_MSPROFTX);
    aclError code = 7;
    OK(aclprofStart(c));
    void *stamp = aclprofCreateStamp();
    NEED(stamp != NULL);
    TRUE(aclprofRangeStart(stamp, NULL) != 0);
    EXPECT(aclprofRangeStart(stamp, &range_id), 0);
    join_thread(start_thread(stop_range, &code));
    TRUE(code == 0);
    OK(aclprofStop(c));
    OK(aclprofFinalize());
}

RULE(profile, marks_on_streams_have_texts, "guide: aclprofMarkEx") {
    start_session();
    aclprofConfig *c = config(ACL_PROF_TASK_TIME | ACL_PROF_MSPROFTX);
    aclrtStream stream = new_stream();
    OK(aclprofStart(c));
    EXPECT(aclprofMarkEx("mark", 4, stream), 0);
    TRUE(aclprofMarkEx("mark", 3, stream) != 0);
    TRUE(aclprofMarkEx("", 0, stream) != 0);
    TRUE(aclprofMarkEx(NULL, 4, stream) != 0);
    TRUE(aclprofMarkEx("mark", 4, NULL) != 0);
    finish(stream);
    OK(aclprofStop(c));
    OK(aclprofFinalize());
}

RULE(profile, each_end_of_a_step_once, "implementation: aclprofGetStepTimestamp") {
    start_session();
    aclrtStream stream = new_stream();
    aclprofStepInfo *step = aclprofCreateStepInfo();
    NEED(step != NULL);
    EXPECT(aclprofGetStepTimestamp(NULL, ACL_STEP_START, stream), 100000);
    EXPECT(aclprofGetStepTimestamp(step, ACL_STEP_START, stream), 0);
    EXPECT(aclprofGetStepTimestamp(step, ACL_STEP_START, stream), 100000);
    EXPECT(aclprofGetStepTimestamp(step, ACL_STEP_END, stream), 0);
    EXPECT(aclprofGetStepTimestamp(step, ACL_STEP_END, stream), 100000);
    finish(stream);
    aclprofDestroyStepInfo(step);
    OK(aclprofFinalize());
}

/* ---- dumps ---- */

RULE(profile, dumps_need_aclinit, "implementation: aclmdlInitDump") {
    EXPECT(aclmdlInitDump(), 100001);
    EXPECT(aclmdlSetDump("x"), 100001);
    EXPECT(aclmdlFinalizeDump(), 100001);
}

RULE(profile, dumps_start_once, "implementation: aclmdlInitDump") {
    up();
    EXPECT(aclmdlSetDump("x"), 100045);
    EXPECT(aclmdlFinalizeDump(), 100045);
    EXPECT(aclmdlInitDump(), 0);
    EXPECT(aclmdlInitDump(), 100002);
    EXPECT(aclmdlFinalizeDump(), 0);
    EXPECT(aclmdlFinalizeDump(), 100045);
}

RULE(profile, dumps_need_a_configuration, "implementation: aclmdlSetDump") {
    up();
    OK(aclmdlInitDump());
    EXPECT(aclmdlSetDump(NULL), 100000);
    EXPECT(aclmdlSetDump("/nowhere/dump.json"), 100003);
    OK(aclmdlFinalizeDump());
}

RULE(profile, kinds_of_argument_dumps, "implementation: aclopStartDumpArgs") {
    up();
    EXPECT(aclopStartDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS, NULL), 500001);
    EXPECT(aclopStartDumpArgs(2, "/tmp"), 500001);
    EXPECT(aclopStopDumpArgs(2), 0);
}
