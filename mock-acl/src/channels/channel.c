/* Channels of tensors (guide: tensor transfer; codes: implementation of the open runtime).
 *
 * A channel with a capacity is a queue of its own: what is sent into it can be received from it. A
 * channel without one belongs to its name: what is sent under NAME is received by the channel
 * TF_RECEIVE_NAME (own choice: on a card a program of the device stands between the two). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "channels/channels.h"
#include "channels/fifo.h"
#include "channels/item.h"
#include "devices/devices.h"

#define RECEIVE "TF_RECEIVE_" /* implementation of the open runtime */
#define NAME_BYTES 128        /* implementation of the open runtime: the longest name and its zero */

typedef struct channel {
    mock_thing thing;
    mock_fifo *fifo;
    bool named, receives;
} channel;

/* The queues of names. */
typedef struct line {
    struct line *next;
    char *name;
    mock_fifo *fifo;
} line;

static pthread_mutex_t lines_lock = PTHREAD_MUTEX_INITIALIZER;
static line *lines;

static void drop(void *thing) {
    channel *c = thing;
    if (!c->named) mock_fifo_close(c->fifo);
    mock_fifo_unref(c->fifo);
}

static const mock_thing_type channel_type = {"acltdtChannelHandle", drop};

static aclError find(const acltdtChannelHandle *handle, channel **out) {
    void *found = NULL;
    const aclError code = mock_thing_find(&channel_type, handle, "handle", &found);
    if (code == 0) *out = found;
    return code;
}

static mock_fifo *line_of(const char *name) {
    pthread_mutex_lock(&lines_lock);
    line *l = lines;
    while (l != NULL && strcmp(l->name, name) != 0) l = l->next;
    if (l == NULL && (l = calloc(1, sizeof *l)) != NULL) {
        l->name = strdup(name);
        l->fifo = mock_fifo_new(0);
        l->next = lines;
        if (l->name != NULL && l->fifo != NULL) {
            lines = l;
        } else {
            mock_fifo_unref(l->fifo);
            free(l->name);
            free(l);
            l = NULL;
        }
    }
    if (l != NULL) mock_fifo_ref(l->fifo);
    pthread_mutex_unlock(&lines_lock);
    return l == NULL ? NULL : l->fifo;
}

void mock_channels_reset(void) {
    pthread_mutex_lock(&lines_lock);
    while (lines != NULL) {
        line *l = lines;
        lines = l->next;
        mock_fifo_unref(l->fifo);
        free(l->name);
        free(l);
    }
    pthread_mutex_unlock(&lines_lock);
}

/* Takes the queue over. */
static acltdtChannelHandle *open_channel(mock_fifo *fifo, bool named, bool receives) {
    channel *c = fifo == NULL ? NULL : mock_thing_new(&channel_type, sizeof *c);
    if (c == NULL) {
        mock_fifo_unref(fifo);
        return NULL;
    }
    c->fifo = fifo;
    c->named = named;
    c->receives = receives;
    return c->thing.handle;
}

static bool device_there(uint32_t deviceId) {
    if (deviceId < mock_device_count()) return true;
    mock_fail(ACL_ERROR_RT_INVALID_DEVICEID, "EE1003", "device %u does not exist", deviceId);
    return false;
}

MOCK_EXPORT acltdtChannelHandle *acltdtCreateChannel(uint32_t deviceId, const char *name) {
    MOCK_ENTER_PTR(acltdtCreateChannel);
    if (name == NULL) {
        mock_null("name");
        return NULL;
    }
    if (!device_there(deviceId)) return NULL;
    const size_t prefix = strlen(RECEIVE);
    const bool receives = strncmp(name, RECEIVE, prefix) == 0 && name[prefix] != '\0';
    return open_channel(line_of(receives ? name + prefix : name), true, receives);
}

/* A name of more than 127 bytes: NULL. A queue holds 2 to 8,192 messages (implementation of the open
 * runtime). */
MOCK_EXPORT acltdtChannelHandle *acltdtCreateChannelWithCapacity(
    uint32_t deviceId, const char *name, size_t capacity) {
    MOCK_ENTER_PTR(acltdtCreateChannelWithCapacity);
    if (name == NULL || strlen(name) >= NAME_BYTES || capacity < 2 || capacity > 8192) {
        mock_invalid("a channel of %zu messages with this name", capacity);
        return NULL;
    }
    return device_there(deviceId) ? open_channel(mock_fifo_new(capacity), false, true) : NULL;
}

MOCK_EXPORT aclError acltdtDestroyChannel(acltdtChannelHandle *handle) {
    MOCK_ENTER(acltdtDestroyChannel);
    return mock_thing_destroy(&channel_type, handle, "handle");
}

/* Ends what waits at a channel without capacity; the others do not know it. */
MOCK_EXPORT aclError acltdtStopChannel(acltdtChannelHandle *handle) {
    MOCK_ENTER(acltdtStopChannel);
    channel *c = NULL;
    const aclError code = find(handle, &c);
    if (code == 0 && c->named && c->receives) mock_fifo_close(c->fifo);
    return code;
}

MOCK_EXPORT aclError acltdtCleanChannel(acltdtChannelHandle *handle) {
    MOCK_ENTER(acltdtCleanChannel);
    channel *c = NULL;
    const aclError code = find(handle, &c);
    if (code != 0) return code;
    if (c->named) return mock_fail(ACL_ERROR_FEATURE_UNSUPPORTED, "EH0008", "a channel without capacity");
    mock_fifo_clear(c->fifo);
    return 0;
}

MOCK_EXPORT aclError acltdtQueryChannelSize(const acltdtChannelHandle *handle, size_t *size) {
    MOCK_ENTER(acltdtQueryChannelSize);
    channel *c = NULL;
    const aclError code = find(handle, &c);
    if (code != 0) return code;
    if (size == NULL) return mock_null("size");
    if (c->named) return mock_fail(ACL_ERROR_FEATURE_UNSUPPORTED, "EH0008", "a channel without capacity");
    *size = mock_fifo_count(c->fifo);
    return 0;
}

/* Full or empty until the time-out: 207014, 207013. Stopped: 500001. */
static aclError outcome(mock_fifo_result result, bool sending) {
    if (result == MOCK_FIFO_OK) return 0;
    if (result == MOCK_FIFO_CLOSED) return mock_fail(ACL_ERROR_FAILURE, "EE4001", "the channel was stopped");
    return mock_fail(sending ? ACL_ERROR_RT_QUEUE_FULL : ACL_ERROR_RT_QUEUE_EMPTY, "EE1023",
        "the channel is %s",
        sending ? "full" : "empty");
}

/* A channel without capacity waits without limit: another time-out than -1 gives 100000. */
static aclError limit(const channel *c, int32_t timeout) {
    return c->named && timeout != -1 ? mock_invalid("time-out %d, only -1 is known", timeout) : 0;
}

MOCK_EXPORT aclError acltdtSendTensor(
    const acltdtChannelHandle *handle, const acltdtDataset *dataset, int32_t timeout) {
    MOCK_ENTER(acltdtSendTensor);
    channel *c = NULL;
    mock_tensors *t = NULL;
    mock_tensor_message *m = NULL;
    aclError code = find(handle, &c);
    if (code == 0) code = mock_tensors_find(dataset, &t);
    if (code == 0) code = limit(c, timeout);
    if (code == 0) code = mock_tensors_pack(t, &m);
    if (code != 0) return code;
    code = outcome(mock_fifo_put(c->fifo, &m->message, timeout), true);
    if (code != 0) m->message.drop(&m->message);
    return code;
}

/* Into an empty dataset or one that was received before; else 100000 (own choice: before anything is
 * taken). */
MOCK_EXPORT aclError acltdtReceiveTensor(
    const acltdtChannelHandle *handle, acltdtDataset *dataset, int32_t timeout) {
    MOCK_ENTER(acltdtReceiveTensor);
    channel *c = NULL;
    mock_tensors *t = NULL;
    mock_message *m = NULL;
    aclError code = find(handle, &c);
    if (code == 0) code = mock_tensors_find(dataset, &t);
    if (code == 0) code = limit(c, timeout);
    if (code != 0) return code;
    if (!c->receives) return mock_invalid("the channel only sends");
    if (t->count != 0 && !t->received) return mock_invalid("the dataset has items of its own");
    code = outcome(mock_fifo_get(c->fifo, &m, timeout), false);
    return code != 0 ? code : mock_tensors_unpack(t, (mock_tensor_message *)(void *)m);
}
