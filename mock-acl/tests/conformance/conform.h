/* Part of racl (mock-acl). The conformance suite: what any AscendCL has to show, in the common part of C11 and C++14.
 *
 * A file holds checks of one part of the interface:
 *
 *     RULE(event, unrecorded_is_complete, "guide: aclrtQueryEventStatus") {
 *         up();
 *         aclrtEvent event = new_event(ACL_EVENT_SYNC);
 *         aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
 *         OK(aclrtQueryEventStatus(event, &status));
 *         TRUE(status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
 *     }
 *
 * Each check runs in a process of its own, with a time limit; nothing before up() has touched the library. A check
 * that fails names every expectation that did not hold. Only public functions of AscendCL are called, so that the suite
 * runs on any library; what needs more is a RULE_MOCK. A stream is held by a latch (see hold()), never by time. */
#ifndef MOCK_CONFORM_H_
#define MOCK_CONFORM_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "acl/acl.h"

/* A check that holds for every library. `source`: the document or observation behind it. */
#define RULE(group, name, source) RULE_WITH(group, name, source, 0, NULL)
/* A check that only the mock can pass: undefined use, handles that were destroyed, what the mock chooses to do. */
#define RULE_MOCK(group, name, source) RULE_WITH(group, name, source, CONFORM_MOCK, NULL)
/* The same with a variable in the environment, "NAME=value"; variables of the mock make it a check of the mock. */
#define RULE_ENV(group, name, source, variable) RULE_WITH(group, name, source, 0, variable)

/* Goes on after a failure. */
#define EXPECT(call, code) conform_code(__FILE__, __LINE__, #call, (int)(call), (code), (code))
/* Either of two codes: where releases differ, or two documents. */
#define EITHER(call, one, other) conform_code(__FILE__, __LINE__, #call, (int)(call), (one), (other))
#define TRUE(condition) conform_true(__FILE__, __LINE__, #condition, (condition) ? 1 : 0)
/* What the rest of a check stands on: ends it. */
#define OK(call) conform_need(__FILE__, __LINE__, #call, (int)(call))
#define NEED(condition) ((condition) ? (void)0 : conform_need(__FILE__, __LINE__, #condition, -1))
/* Ends the check without a result: no second device, not on this chip. */
#define SKIP(reason) conform_skip(reason)
/* That the text of this thread's last error has a code such as "EE1001" or any other part. */
#define EXPECT_TEXT(part) conform_text(__FILE__, __LINE__, (part))

#define CONFORM_MOCK 1

typedef struct conform_rule {
    const char *group, *name, *source, *variable, *file;
    int line, flags;
    void (*run)(void);
    struct conform_rule *next;
} conform_rule;

#ifdef __cplusplus
extern "C" {
#endif
void conform_add(conform_rule *rule);
int conform_code(const char *file, int line, const char *call, int got, int one, int other); /* 1: as expected */
int conform_true(const char *file, int line, const char *condition, int holds);
void conform_need(const char *file, int line, const char *call, int code);
void conform_skip(const char *reason);
void conform_text(const char *file, int line, const char *part);

/* aclInit and aclrtSetDevice(0). */
void up(void);
/* How many devices there are; ends the check as skipped when these are fewer than `least`. */
uint32_t devices(uint32_t least);
aclrtStream new_stream(void);
aclrtEvent new_event(uint32_t flags);       /* of the Ex family */
aclrtEvent old_event(uint32_t flags);       /* of aclrtCreateEventWithFlag */
void *device(size_t size);                  /* device memory */
void *pinned(size_t size);                  /* host memory of aclrtMallocHost */
void fill(void *device, int byte, size_t size);
unsigned char byte_at(const void *device);
uint64_t u64_at(const void *device);
void put_u64(void *device, uint64_t value);
void finish(aclrtStream stream);
/* Work on the stream waits until let_go(); the latch is an event of the old family. */
aclrtEvent hold(aclrtStream stream);
void let_go(aclrtEvent latch);              /* records it on a stream of its own */
/* Captures nothing yet: begin on a new stream. */
aclrtStream begin(aclmdlRICaptureMode mode);
aclmdlRI end(aclrtStream stream);           /* of a capture that has to succeed */
void replay(aclmdlRI graph, aclrtStream stream); /* and waits */

/* Another process, which has not touched the library either. To be called before up(). `run` gets its end of a socket;
 * what it expects counts for the check. */
typedef struct peer {
    int pid, socket;
} peer;
peer start_peer(void (*run)(int socket));
void join_peer(peer p);
void send_bytes(int socket, const void *bytes, size_t size);
void receive_bytes(int socket, void *bytes, size_t size);

/* A thread: `run` with `argument`; what it expects counts. Returned by pointer for join_thread(). */
void *start_thread(void (*run)(void *argument), void *argument);
void join_thread(void *thread);
#ifdef __cplusplus
}
#endif

#define RULE_WITH(group, name, source, flags, variable)                                                      \
    static void rule_##name(void);                                                                           \
    static conform_rule entry_##name = {#group, #name, source, variable, __FILE__, __LINE__, flags, rule_##name, 0}; \
    __attribute__((constructor)) static void add_##name(void) { conform_add(&entry_##name); }                \
    static void rule_##name(void)

#endif
