/* Part of racl (mock-acl). Cache maintenance (guide: cache memory operations; observed: cmo). */
#include "conform.h"

RULE(cmo, arguments, "observed: cmo") {
    up();
    aclrtStream stream = new_stream();
    EXPECT(aclrtCmoAsync(NULL, 64, ACL_RT_CMO_TYPE_PREFETCH, stream), 100000);
    EXPECT_TEXT("EH0008");
    EXPECT(aclrtCmoAsync(device(64), 0, ACL_RT_CMO_TYPE_PREFETCH, stream), 100000);
}

RULE(cmo, all_four_types, "observed: cmo (the guide names the prefetch only)") {
    up();
    aclrtStream stream = new_stream();
    void *p = device(64);
    for (int type = 0; type < 4; type++) EXPECT(aclrtCmoAsync(p, 64, (aclrtCmoType)type, stream), 0);
    EXPECT(aclrtCmoAsync(p, 64, (aclrtCmoType)4, stream), 207000);
    EXPECT(aclrtCmoAsync(p, 64, (aclrtCmoType)-1, stream), 207000);
    finish(stream);
}

RULE_ENV(cmo, the_documented_type_only, "guide: aclrtCmoAsync", "MOCK_ACL_STRICT=doc") {
    up();
    aclrtStream stream = new_stream();
    void *p = device(64);
    EXPECT(aclrtCmoAsync(p, 64, ACL_RT_CMO_TYPE_PREFETCH, stream), 0);
    EXPECT(aclrtCmoAsync(p, 64, ACL_RT_CMO_TYPE_FLUSH, stream), 207000);
}

RULE(cmo, on_the_default_stream, "observed: cmo") {
    up();
    EXPECT(aclrtCmoAsync(device(64), 64, ACL_RT_CMO_TYPE_PREFETCH, NULL), 0);
    OK(aclrtSynchronizeDevice());
}

RULE(cmo, sizes_above_4_gib, "observed: cmo (5 GiB size)") {
    up();
    EXPECT(aclrtCmoAsync(device(64), (size_t)5 << 30, ACL_RT_CMO_TYPE_PREFETCH, new_stream()), 0);
}

RULE(cmo, data_stays, "guide: aclrtCmoAsync") {
    up();
    aclrtStream stream = new_stream();
    void *p = device(64);
    fill(p, 5, 64);
    OK(aclrtCmoAsync(p, 64, ACL_RT_CMO_TYPE_PREFETCH, stream));
    OK(aclrtCmoAsync(p, 64, ACL_RT_CMO_TYPE_WRITEBACK, stream));
    finish(stream);
    TRUE(byte_at(p) == 5);
}

RULE(cmo, in_a_graph, "observed: cmo") {
    up();
    void *p = device(64);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    EXPECT(aclrtCmoAsync(p, 64, ACL_RT_CMO_TYPE_PREFETCH, stream), 0);
    replay(end(stream), new_stream());
}

RULE(cmo, not_in_a_task_group, "implementation: task groups hold kernels") {
    up();
    void *p = device(64);
    aclrtTaskGrp group = NULL;
    aclmdlRI graph = NULL;
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    OK(aclmdlRICaptureTaskGrpBegin(stream));
    EXPECT(aclrtCmoAsync(p, 64, ACL_RT_CMO_TYPE_PREFETCH, stream), 507009);
    aclmdlRICaptureTaskGrpEnd(stream, &group);
    EXPECT(aclmdlRICaptureEnd(stream, &graph), 507903);
}

RULE(cmo, descriptors_are_not_for_captures, "observed: cmo") {
    up();
    size_t size = 0;
    OK(aclrtCmoGetDescSize(&size));
    TRUE(size > 0);
    void *desc = device(size), *p = device(64);
    aclrtStream eager = new_stream();
    OK(aclrtCmoSetDesc(desc, p, 64));
    EXPECT(aclrtCmoAsyncWithDesc(desc, ACL_RT_CMO_TYPE_PREFETCH, eager, NULL), 507000);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    EXPECT(aclrtCmoSetDesc(desc, p, 64), 0);
    EXPECT(aclrtCmoAsyncWithDesc(desc, ACL_RT_CMO_TYPE_PREFETCH, stream, NULL), 507000);
    end(stream);
}

RULE(cmo, writing_a_descriptor_in_a_capture, "observed: cmo") {
    up();
    size_t size = 0;
    OK(aclrtCmoGetDescSize(&size));
    void *desc = device(size), *p = device(64);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    EXPECT(aclrtCmoSetDesc(desc, p, 64), 107030);
    end(stream);
}

RULE(cmo, a_bound_stream_takes_descriptors_only, "observed: build_ri; guide: aclrtCmoAsyncWithDesc") {
    up();
    size_t size = 0;
    OK(aclrtCmoGetDescSize(&size));
    void *desc = device(size), *p = device(64);
    aclrtStream bound = NULL;
    aclmdlRI graph = NULL;
    OK(aclrtCreateStreamWithConfig(&bound, 0, ACL_STREAM_PERSISTENT));
    OK(aclmdlRIBuildBegin(&graph, 0));
    OK(aclmdlRIBindStream(graph, bound, 0));
    OK(aclrtCmoSetDesc(desc, p, 64));
    EXPECT(aclrtCmoAsync(p, 64, ACL_RT_CMO_TYPE_PREFETCH, bound), 207000);
    EXPECT(aclrtCmoAsyncWithDesc(desc, ACL_RT_CMO_TYPE_PREFETCH, bound, NULL), 0);
}

RULE(cmo, the_whole_cache, "implementation: aclrtDeviceL2CacheFlush") {
    up();
    EITHER(aclrtDeviceL2CacheFlush(NULL), 0, 207000);
    int reserved = 0;
    EXPECT(aclrtDeviceL2CacheFlush(&reserved), 100000);
}
