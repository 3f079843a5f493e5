/* Part of racl (mock-acl). What the checks share: the first steps, memory, gates, other processes and threads. */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "conform.h"

void up(void) {
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
}

uint32_t devices(uint32_t least) {
    uint32_t count = 0;
    OK(aclrtGetDeviceCount(&count));
    if (count < least) SKIP("there are too few devices");
    return count;
}

aclrtStream new_stream(void) {
    aclrtStream stream = NULL;
    OK(aclrtCreateStream(&stream));
    return stream;
}

aclrtEvent new_event(uint32_t flags) {
    aclrtEvent event = NULL;
    OK(aclrtCreateEventExWithFlag(&event, flags));
    return event;
}

aclrtEvent old_event(uint32_t flags) {
    aclrtEvent event = NULL;
    OK(aclrtCreateEventWithFlag(&event, flags));
    return event;
}

void *device(size_t size) {
    void *address = NULL;
    OK(aclrtMalloc(&address, size, ACL_MEM_MALLOC_HUGE_FIRST));
    return address;
}

void *pinned(size_t size) {
    void *address = NULL;
    OK(aclrtMallocHost(&address, size));
    return address;
}

void fill(void *address, int byte, size_t size) { OK(aclrtMemset(address, size, byte, size)); }

static void read_back(void *host, const void *address, size_t size) {
    OK(aclrtMemcpy(host, size, address, size, ACL_MEMCPY_DEVICE_TO_HOST));
}

unsigned char byte_at(const void *address) {
    unsigned char byte = 0;
    read_back(&byte, address, 1);
    return byte;
}

uint64_t u64_at(const void *address) {
    uint64_t value = 0;
    read_back(&value, address, sizeof value);
    return value;
}

void put_u64(void *address, uint64_t value) {
    OK(aclrtMemcpy(address, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE));
}

void finish(aclrtStream stream) { OK(aclrtSynchronizeStream(stream)); }

aclrtEvent hold(aclrtStream stream) {
    aclrtEvent latch = old_event(ACL_EVENT_SYNC);
    OK(aclrtStreamWaitEvent(stream, latch));
    return latch;
}

void let_go(aclrtEvent latch) {
    aclrtStream stream = new_stream();
    OK(aclrtRecordEvent(latch, stream));
    finish(stream);
    OK(aclrtDestroyStream(stream));
}

aclrtStream begin(aclmdlRICaptureMode mode) {
    aclrtStream stream = new_stream();
    OK(aclmdlRICaptureBegin(stream, mode));
    return stream;
}

aclmdlRI end(aclrtStream stream) {
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureEnd(stream, &graph));
    NEED(graph != NULL);
    return graph;
}

void replay(aclmdlRI graph, aclrtStream stream) {
    OK(aclmdlRIExecuteAsync(graph, stream));
    finish(stream);
}

/* ---- processes ---- */

peer start_peer(void (*run)(int socket)) {
    int ends[2];
    NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    peer p;
    p.pid = (int)fork();
    NEED(p.pid >= 0);
    if (p.pid == 0) {
        close(ends[0]);
        run(ends[1]);
        exit(0); /* with the failures that were counted: see the handler in main.c */
    }
    close(ends[1]);
    p.socket = ends[0];
    return p;
}

void join_peer(peer p) {
    int status = 0;
    NEED(waitpid(p.pid, &status, 0) == p.pid);
    close(p.socket);
    TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void send_bytes(int socket, const void *bytes, size_t size) {
    const char *from = (const char *)bytes;
    while (size > 0) {
        const ssize_t sent = write(socket, from, size);
        NEED(sent > 0);
        from += sent;
        size -= (size_t)sent;
    }
}

void receive_bytes(int socket, void *bytes, size_t size) {
    char *to = (char *)bytes;
    while (size > 0) {
        const ssize_t got = read(socket, to, size);
        NEED(got > 0);
        to += got;
        size -= (size_t)got;
    }
}

/* ---- threads ---- */

typedef struct started {
    pthread_t thread;
    void (*run)(void *);
    void *argument;
} started;

static void *thread_main(void *argument) {
    started *thread = (started *)argument;
    thread->run(thread->argument);
    return NULL;
}

void *start_thread(void (*run)(void *argument), void *argument) {
    started *thread = (started *)calloc(1, sizeof *thread);
    NEED(thread != NULL);
    thread->run = run;
    thread->argument = argument;
    NEED(pthread_create(&thread->thread, NULL, thread_main, thread) == 0);
    return thread;
}

void join_thread(void *thread) {
    started *mine = (started *)thread;
    NEED(pthread_join(mine->thread, NULL) == 0);
    free(mine);
}
