/* Marks and ranges for tools: in the trace while a session records them, dropped otherwise. */
#include "acl/acl_prof.h"
#include "mstx/ms_tools_ext.h"
#include "check.h"
#include "profiling/session.h"

static char folder[] = "/tmp/mock-acl-marks-XXXXXX";

static const char *trace(void) {
    static char text[65536];
    char path[512];
    session_path(folder, 1, "trace.json", path, sizeof path);
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

static int times(const char *text, const char *word) {
    int n = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) n++;
    return n;
}

static void dropped_without_a_session(void) {
    uint64_t id = 7;
    up();
    mstxGetToolId(&id);
    CHECK(id == MSTX_TOOL_INVALID_ID);
    mstxMarkA("nobody", NULL);
    CHECK(mstxRangeStartA("nobody", NULL) == MSTX_INVALID_ID);
    mstxRangeEnd(3);
    mstxGetToolId(NULL);
}

/* What a graph captures comes with each launch. */
static void in_a_graph(aclrtStream s) {
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    const mstxRangeId range = mstxRangeStartA("in a graph", s);
    mstxMarkA("marked", s);
    mstxRangeEnd(range);
    OK(aclmdlRICaptureEnd(s, &graph));
    for (int i = 0; i < 2; i++) OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtSynchronizeStream(s));
    OK(aclmdlRIDestroy(graph));
    /* Streams that take nothing: the host's alone. */
    const aclrtStream none = (aclrtStream)(uintptr_t)5;
    mstxRangeEnd(mstxRangeStartA("no stream", none));
    const mstxRangeId left = mstxRangeStartA("left open", s);
    CHECK(left != MSTX_INVALID_ID);
}

/* They have no codes: a failed one makes nothing, and is counted. */
static void failures(void) {
    up();
    const char *const names[] = {"mstxMarkA", "mstxRangeStartA", "mstxRangeEnd", "mstxDomainCreateA",
        "mstxDomainDestroy", "mstxDomainMarkA", "mstxDomainRangeStartA", "mstxDomainRangeEnd", "mstxGetToolId"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) OK(mock_acl_fail(names[i], 1, 507000));
    uint64_t id = 7;
    mstxMarkA("x", NULL);
    CHECK(mstxRangeStartA("x", NULL) == MSTX_INVALID_ID && mstxDomainRangeStartA(NULL, "x", NULL) == MSTX_INVALID_ID);
    mstxRangeEnd(1);
    CHECK(mstxDomainCreateA("x") == NULL);
    mstxDomainDestroy(NULL);
    mstxDomainMarkA(NULL, "x", NULL);
    mstxDomainRangeEnd(NULL, 1);
    mstxGetToolId(&id);
    CHECK(id == 7);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) CHECK(mock_acl_calls(names[i]) == 1);
    CHECK(mstxDomainCreateA("x") != NULL);
}

static void recorded_in_one(void) {
    uint32_t device = 0;
    up();
    aclrtStream s = new_stream();
    aclprofConfig *c =
        aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, NULL, ACL_PROF_TASK_TIME | ACL_PROF_MSPROFTX);
    OK(aclprofInit(folder, strlen(folder)));
    OK(aclprofStart(c));
    uint64_t id = 0;
    mstxGetToolId(&id);
    CHECK(id == MSTX_TOOL_MSPROF_ID);
    mstxMarkA("host \"mark\"", NULL);
    mstxMarkA("stream mark", s);
    mstxMarkA(NULL, s);
    char longest[257];
    memset(longest, 'q', 256);
    longest[256] = 0;
    mstxMarkA(longest, NULL); /* dropped */
    CHECK(mstxRangeStartA(longest, s) == MSTX_INVALID_ID && mstxRangeStartA(NULL, s) == MSTX_INVALID_ID);
    const mstxRangeId outer = mstxRangeStartA("outer", NULL), inner = mstxRangeStartA("inner", s);
    CHECK(outer != MSTX_INVALID_ID && inner != MSTX_INVALID_ID && outer != inner);
    mstxRangeEnd(outer); /* in any order */
    mstxRangeEnd(inner);
    mstxRangeEnd(inner); /* over */
    const mstxRangeId open = mstxRangeStartA("open", NULL);
    mstxDomainHandle_t d = mstxDomainCreateA("parts"), e = mstxDomainCreateA("others");
    CHECK(d != NULL && e != NULL && d != e && mstxDomainCreateA("parts") == d && mstxDomainCreateA(NULL) == NULL);
    mstxDomainMarkA(d, "in a domain", NULL);
    const mstxRangeId range = mstxDomainRangeStartA(d, "part", NULL);
    mstxDomainRangeEnd(e, range); /* another one's */
    mstxRangeEnd(range);
    CHECK(range != MSTX_INVALID_ID && open != range);
    mstxDomainRangeEnd(d, range);
    mstxDomainDestroy(e);
    mstxDomainMarkA(e, "gone", NULL);
    CHECK(mstxDomainRangeStartA(e, "gone", NULL) == MSTX_INVALID_ID);
    CHECK(mstxDomainRangeStartA(NULL, "gone", NULL) == MSTX_INVALID_ID);
    mstxDomainDestroy(e);
    in_a_graph(s);
    OK(aclrtSynchronizeStream(s));
    OK(aclprofStop(c));
    OK(aclprofFinalize());
    OK(aclprofDestroyConfig(c));
    const char *text = trace();
    CHECK(times(text, "\"host \\\"mark\\\"\"") == 1 && times(text, "\"stream mark\"") == 2);
    /* That of a stream is there on the host and on the device. */
    CHECK(times(text, "\"outer\"") == 1 && times(text, "\"inner\"") == 2 && times(text, "\"open\"") == 0);
    CHECK(times(text, "\"parts: in a domain\"") == 1 && times(text, "\"parts: part\"") == 1);
    CHECK(times(text, "\"in a graph\"") == 3 && times(text, "\"marked\"") == 3); /* once on the host */
    CHECK(times(text, "gone") == 0 && times(text, "qqq") == 0 && times(text, "nobody") == 0);
}

int main(void) {
    CHECK(mkdtemp(folder) != NULL);
    dropped_without_a_session();
    recorded_in_one();
    failures();
    CHECK(mock_acl_reset() == 0);
    char remove[600];
    snprintf(remove, sizeof remove, "rm -r '%s'", folder);
    return system(remove);
}
