/* Buffers for queues (mbuf): memory of the host with a length, 96 bytes of data of the program's own, a count
 * of references to the memory, and chains.
 *
 * (guide: memory management, aclrtAllocBuf and its neighbours) The 96 bytes and what is checked in front of
 * the driver: (implementation of the open runtime). The driver's answers are not known: what it must refuse
 * gives 107000 here, a stale handle 107017 (own choice). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "channels/channels.h"

#define USER_BYTES 96u

typedef struct storage {
    uint32_t refs;
    size_t size;
    void *data;
} storage;

typedef struct mock_buffer {
    void *handle;
    storage *storage;
    size_t length;
    unsigned char user[USER_BYTES];
    struct mock_buffer *head, *next; /* the chain it belongs to; the head has itself */
} mock_buffer;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static aclError bad(const char *text) { return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s", text); }

static aclError find(const void *handle, mock_buffer **out) {
    *out = mock_handle_get(MOCK_BUFFER, handle);
    if (*out != NULL) return 0;
    return mock_stale(handle, "buffer");
}

static mock_buffer *new_buffer(storage *s, size_t length) {
    mock_buffer *b = calloc(1, sizeof *b);
    if (b == NULL) return NULL;
    b->storage = s;
    b->length = length;
    b->head = b;
    b->handle = mock_handle_new(MOCK_BUFFER, b);
    return b;
}

static aclError no_memory(void) {
    return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no memory for the buffer");
}

/* The length of the data is the size at first (own choice). */
MOCK_EXPORT aclError aclrtAllocBuf(aclrtMbuf *buf, size_t size) {
    MOCK_ENTER(aclrtAllocBuf);
    if (buf == NULL || size == 0) return mock_null("buf and size");
    storage *s = malloc(sizeof *s);
    void *data = s == NULL ? NULL : calloc(1, size);
    mock_buffer *b = NULL;
    if (data != NULL) {
        *s = (storage){1, size, data};
        b = new_buffer(s, size);
    }
    if (b == NULL) {
        free(data);
        free(s);
        return no_memory();
    }
    *buf = b->handle;
    return 0;
}

static void free_one(mock_buffer *b) {
    mock_handle_take(MOCK_BUFFER, b->handle);
    if (--b->storage->refs == 0) {
        free(b->storage->data);
        free(b->storage);
    }
    free(b);
}

/* The head frees its whole chain; one inside a chain cannot go alone (own choice). */
MOCK_EXPORT aclError aclrtFreeBuf(aclrtMbuf buf) {
    MOCK_ENTER(aclrtFreeBuf);
    if (buf == NULL) return mock_null("buf");
    mock_buffer *b = NULL;
    pthread_mutex_lock(&lock);
    aclError code = find(buf, &b);
    if (code == 0 && b->head != b) code = bad("the buffer belongs to a chain: free the head");
    while (code == 0 && b != NULL) {
        mock_buffer *next = b->next;
        free_one(b);
        b = next;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

MOCK_EXPORT aclError aclrtGetBufData(const aclrtMbuf buf, void **dataPtr, size_t *size) {
    MOCK_ENTER(aclrtGetBufData);
    if (buf == NULL || dataPtr == NULL || size == NULL) return mock_null("buf, dataPtr and size");
    mock_buffer *b = NULL;
    pthread_mutex_lock(&lock);
    const aclError code = find(buf, &b);
    if (code == 0) {
        *dataPtr = b->storage->data;
        *size = b->storage->size;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

MOCK_EXPORT aclError aclrtGetBufDataLen(aclrtMbuf buf, size_t *len) {
    MOCK_ENTER(aclrtGetBufDataLen);
    if (buf == NULL || len == NULL) return mock_null("buf and len");
    mock_buffer *b = NULL;
    pthread_mutex_lock(&lock);
    const aclError code = find(buf, &b);
    if (code == 0) *len = b->length;
    pthread_mutex_unlock(&lock);
    return code;
}

MOCK_EXPORT aclError aclrtSetBufDataLen(aclrtMbuf buf, size_t len) {
    MOCK_ENTER(aclrtSetBufDataLen);
    if (buf == NULL) return mock_null("buf");
    mock_buffer *b = NULL;
    pthread_mutex_lock(&lock);
    aclError code = find(buf, &b);
    if (code == 0 && len > b->storage->size) code = bad("the length is above the size of the buffer");
    if (code == 0) b->length = len;
    pthread_mutex_unlock(&lock);
    return code;
}

/* Null, and beyond 96 bytes: 100000, the latter first. */
static aclError user_data(const void *buf, const void *data, size_t size, size_t offset, mock_buffer **b) {
    if (offset > USER_BYTES || size > USER_BYTES - offset)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "%zu bytes from %zu on, there are %u", size,
            offset, USER_BYTES);
    if (buf == NULL || data == NULL) return mock_null("buf and dataPtr");
    return find(buf, b);
}

MOCK_EXPORT aclError aclrtGetBufUserData(const aclrtMbuf buf, void *dataPtr, size_t size, size_t offset) {
    MOCK_ENTER(aclrtGetBufUserData);
    mock_buffer *b = NULL;
    pthread_mutex_lock(&lock);
    const aclError code = user_data(buf, dataPtr, size, offset, &b);
    if (code == 0) memcpy(dataPtr, b->user + offset, size);
    pthread_mutex_unlock(&lock);
    return code;
}

MOCK_EXPORT aclError aclrtSetBufUserData(aclrtMbuf buf, const void *dataPtr, size_t size, size_t offset) {
    MOCK_ENTER(aclrtSetBufUserData);
    mock_buffer *b = NULL;
    pthread_mutex_lock(&lock);
    const aclError code = user_data(buf, dataPtr, size, offset, &b);
    if (code == 0) memcpy(b->user + offset, dataPtr, size);
    pthread_mutex_unlock(&lock);
    return code;
}

/* Another buffer on the same memory; length and user data are copied, the chain is not (guide: memory
 * management, aclrtCopyBufRef; own choice: what is copied). */
MOCK_EXPORT aclError aclrtCopyBufRef(const aclrtMbuf buf, aclrtMbuf *newBuf) {
    MOCK_ENTER(aclrtCopyBufRef);
    if (buf == NULL || newBuf == NULL) return mock_null("buf and newBuf");
    mock_buffer *b = NULL;
    pthread_mutex_lock(&lock);
    aclError code = find(buf, &b);
    mock_buffer *copy = code == 0 ? new_buffer(b->storage, b->length) : NULL;
    if (copy == NULL) {
        if (code == 0) code = no_memory();
    } else {
        b->storage->refs++;
        memcpy(copy->user, b->user, USER_BYTES);
        *newBuf = copy->handle;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

/* ---- chains ---- */

static aclError find_head(const void *handle, mock_buffer **out) {
    const aclError code = find(handle, out);
    if (code != 0 || (*out)->head == *out) return code;
    return bad("the buffer is not the head of its chain");
}

/* Only a buffer that has no chain of its own (guide: memory management, aclrtAppendBufChain: at most 128 in a
 * chain). */
#define MOST_IN_CHAIN 128u

static uint32_t chain_length(const mock_buffer *b) {
    uint32_t n = 0;
    for (; b != NULL; b = b->next) n++;
    return n;
}

static aclError append(mock_buffer *head, mock_buffer *b) {
    if (b->head != b || b->next != NULL || b == head) return bad("the buffer belongs to a chain already");
    if (chain_length(head) >= MOST_IN_CHAIN) return bad("the chain is full");
    mock_buffer *last = head;
    while (last->next != NULL) last = last->next;
    last->next = b;
    b->head = head;
    return 0;
}

MOCK_EXPORT aclError aclrtAppendBufChain(aclrtMbuf headBuf, aclrtMbuf buf) {
    MOCK_ENTER(aclrtAppendBufChain);
    if (headBuf == NULL || buf == NULL) return mock_null("headBuf and buf");
    mock_buffer *head = NULL, *b = NULL;
    pthread_mutex_lock(&lock);
    aclError code = find_head(headBuf, &head);
    if (code == 0) code = find(buf, &b);
    if (code == 0) code = append(head, b);
    pthread_mutex_unlock(&lock);
    return code;
}

/* The head counts. */
MOCK_EXPORT aclError aclrtGetBufChainNum(aclrtMbuf headBuf, uint32_t *num) {
    MOCK_ENTER(aclrtGetBufChainNum);
    if (headBuf == NULL || num == NULL) return mock_null("headBuf and num");
    mock_buffer *head = NULL;
    pthread_mutex_lock(&lock);
    const aclError code = find_head(headBuf, &head);
    if (code == 0) *num = chain_length(head);
    pthread_mutex_unlock(&lock);
    return code;
}

/* 0 is the head. */
MOCK_EXPORT aclError aclrtGetBufFromChain(aclrtMbuf headBuf, uint32_t index, aclrtMbuf *buf) {
    MOCK_ENTER(aclrtGetBufFromChain);
    if (headBuf == NULL || buf == NULL) return mock_null("headBuf and buf");
    mock_buffer *b = NULL;
    pthread_mutex_lock(&lock);
    aclError code = find_head(headBuf, &b);
    for (uint32_t i = 0; code == 0 && i < index && b != NULL; i++) b = b->next;
    if (code == 0 && b == NULL) code = bad("the chain has no such buffer");
    if (code == 0) *buf = b->handle;
    pthread_mutex_unlock(&lock);
    return code;
}

static void drop(void *b) { free_one(b); }
void mock_buffers_reset(void) { mock_handle_each(MOCK_BUFFER, drop); }
