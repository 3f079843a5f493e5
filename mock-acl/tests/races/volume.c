/* Many streams, many tasks, many threads, and a fork: what is remembered stays small, and nothing is invented. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "races/racy.h"
#include "races/ranges.h"

/* A chain of streams, each of which writes what the ones before it wrote, and more; they come and go. */
#define STREAMS 1000
static void many_streams(void) {
    start();
    char *p = device(STREAMS * 64);
    aclrtStream s[STREAMS];
    aclrtEvent e[2] = {new_event(ACL_EVENT_SYNC), new_event(ACL_EVENT_SYNC)};
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < STREAMS; i++) {
            s[i] = new_stream();
            if (i > 0) OK(aclrtStreamWaitEvent(s[i], e[(i + 1) % 2]));
            fill(p, (size_t)(i + 1) * 64, s[i]);
            OK(aclrtRecordEvent(e[i % 2], s[i]));
        }
        for (int i = 0; i < STREAMS; i += 2) OK(aclrtDestroyStream(s[i]));
        for (int i = 1; i < STREAMS; i += 2) OK(aclrtDestroyStream(s[i]));
        races(0);
    }
}

/* Ranges of every size, on streams that events keep in order; the host waits for one of them now and then. */
static void many_tasks(void) {
    start();
    enum { SPACE = 1 << 20, TASKS = 60000 };
    char *p = device(SPACE);
    aclrtStream s[4];
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    for (int i = 0; i < 4; i++) s[i] = new_stream();
    uint64_t random = 88172645463325252, most = 0;
    for (int i = 0; i < TASKS; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        const size_t from = random % SPACE, size = (random >> 40) % 64 + 1;
        if (from + size > SPACE) continue;
        aclrtStream now = s[i % 4];
        fill(p + from, size, now);
        OK(aclrtRecordEvent(e, now));
        OK(aclrtStreamWaitEvent(s[(i + 1) % 4], e));
        if (i % 1000 == 0) wait_for(s[(i + 1) % 4]);
        if (mock_range_count > most) most = mock_range_count;
    }
    races(0);
    CHECK(most < 20000); /* what everybody knows is forgotten */
}

/* What is read around what was written: each byte is known once, and none of its neighbours is taken for it. */
static void reads_around_writes(void) {
    start();
    enum { ROWS = 500, ROW = 512, PART = 64 };
    char *p = device(ROWS * ROW), *to = device(ROW), *other = device(ROW);
    aclrtStream a = new_stream(), b = new_stream();
    for (int i = 0; i < ROWS; i++) {
        char *row = p + i * ROW;
        fill(row + 2 * PART, PART, a);
        copy(to, row, 4 * PART, a);
        copy(other, row, PART, b);
        copy(other, row + 3 * PART, PART, b);
    }
    CHECK(mock_range_count < 4096); /* nothing is forgotten yet */
    races(0);
    for (int i = 0; i < ROWS; i++) copy(to, p + i * ROW, 4 * PART, a);
    mock_acl_run_until_idle(); /* orders nothing, but workers take no write before its read */
    for (int i = 0; i < ROWS; i++) fill(p + i * ROW + PART / 2, PART / 2, b);
    races(1);
    const mock_acl_race r = race_at(0);
    CHECK(r.times == ROWS && r.bytes == PART / 2);
    CHECK(!r.first_writes && r.second_writes);
}

/* Blocks that come and go are not kept. */
static void many_blocks(void) {
    start();
    aclrtStream s = new_stream();
    for (int i = 0; i < 20000; i++) {
        void *p = device(64 + (size_t)(i % 50) * 512);
        fill(p, 64, s);
        if (i % 10 == 0) wait_for(s);
        else OK(aclrtSynchronizeDevice());
        OK(aclrtFree(p));
    }
    races(0);
    CHECK(mock_range_count < 10000);
}

static void *works(void *context) {
    OK(aclrtSetCurrentContext(context));
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    char *p = device(BYTES), *q = device(BYTES);
    for (int i = 0; i < 300; i++) {
        fill(p, BYTES, a);
        OK(aclrtRecordEvent(e, a));
        OK(aclrtStreamWaitEvent(b, e));
        copy(q, p, BYTES, b);
        if (i % 7 == 0) wait_for(b);
        OK(aclrtRecordEvent(e, b));
        OK(aclrtStreamWaitEvent(a, e));
    }
    wait_for(a);
    wait_for(b);
    OK(aclrtFree(p));
    OK(aclrtFree(q));
    OK(aclrtDestroyStream(a));
    OK(aclrtDestroyStream(b));
    return NULL;
}

static void many_threads(void) {
    start();
    pthread_t thread[4];
    aclrtContext context = NULL;
    OK(aclrtGetCurrentContext(&context));
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&thread[i], NULL, works, context) == 0);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    races(0);
}

/* More pairs than are kept. */
static void many_races(void) {
    start();
    enum { PAIRS = 4200 };
    char *p = device(BYTES);
    aclrtStream a = new_stream();
    for (int i = 0; i < PAIRS; i++) {
        void *q = device(64);
        fill(q, 64, a);
        mock_acl_hold_stream(a);
        OK(aclrtMemset(q, 64, 0, 64));
        mock_acl_release_stream(a);
        if (i % 100 == 99) wait_for(a);
    }
    fill(p, BYTES, a);
    wait_for(a);
    CHECK(mock_acl_race_count() == 4096);
    OK(mock_acl_reset());
    CHECK(mock_acl_race_count() == 0);
}

static void a_fork(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    void *p = device(BYTES);
    fill(p, BYTES, a);
    fill(p, BYTES, b);
    races(1);
    const pid_t child = fork();
    if (child == 0) {
        mock_acl_race r = {.struct_size = sizeof r};
        const bool refused = mock_acl_check_races(MOCK_ACL_RACES_OFF) == MOCK_ACL_BUSY &&
                             mock_acl_race_count() == 0 && mock_acl_race_at(0, &r) == MOCK_ACL_BUSY &&
                             mock_acl_race_text(0, NULL, 0) == 0;
        _exit(refused ? 0 : 1);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(mock_acl_race_count() == 1);
}

int main(void) {
    many_streams();
    many_tasks();
    reads_around_writes();
    many_blocks();
    many_threads();
    many_races();
    a_fork();
    return 0;
}
