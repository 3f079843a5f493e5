/* Options of loading and running a model (header: aclmdlConfigAttr, aclmdlExecConfigAttr; sizes, ranges
 * and codes: implementation of the open graph engine). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "models/config.h"
#include "models/model.h"

static void drop_config(void *thing) {
    mock_model_config *c = thing;
    for (size_t i = 0; i < c->external_count; i++) free(c->externals[i].file);
    free(c->externals);
    free(c->path);
    free(c->weight_path);
}

static const mock_thing_type config_type = {"aclmdlConfigHandle", drop_config};
static const mock_thing_type run_type = {"aclmdlExecConfigHandle", NULL};

MOCK_THING_FINDER(mock_model_config_find, aclmdlConfigHandle, mock_model_config, config_type, "handle")

MOCK_THING_FINDER(mock_run_config_find, aclmdlExecConfigHandle, mock_run_config, run_type, "handle")

MOCK_EXPORT aclmdlConfigHandle *aclmdlCreateConfigHandle(void) {
    MOCK_ENTER_PTR(aclmdlCreateConfigHandle);
    const mock_model_config *c = mock_thing_new(&config_type, sizeof *c);
    return c == NULL ? NULL : c->thing.handle;
}

MOCK_EXPORT aclError aclmdlDestroyConfigHandle(aclmdlConfigHandle *handle) {
    MOCK_ENTER(aclmdlDestroyConfigHandle);
    return mock_thing_destroy(&config_type, handle, "handle");
}

static aclError set_text(char **text, const char *value) {
    char *fresh = strdup(value);
    if (fresh == NULL) return mock_fail(ACL_ERROR_BAD_ALLOC, "EE1013", "no host memory for a path");
    free(*text);
    *text = fresh;
    return 0;
}

static aclError set_size(mock_model_config *c, aclmdlConfigAttr attr, size_t value) {
    switch (attr) {
    case ACL_MDL_LOAD_TYPE_SIZET:
        if (value < ACL_MDL_LOAD_FROM_FILE || value > ACL_MDL_LOAD_FROM_MEM_WITH_Q)
            return mock_invalid("load type %zu", value);
        c->load_type = value;
        return 0;
    case ACL_MDL_WORKSPACE_MEM_OPTIMIZE:
        return value > ACL_WORKSPACE_MEM_OPTIMIZE_INPUTOUTPUT ? mock_invalid("optimisation %zu", value) : 0;
    case ACL_MDL_MEM_SIZET:
        c->model_size = value;
        return 0;
    case ACL_MDL_WEIGHT_SIZET:
        c->weight_size = value;
        return 0;
    case ACL_MDL_WORKSPACE_SIZET:
        c->work_size = value;
        return 0;
    default: /* the numbers of queues */
        c->queue_numbers[attr == ACL_MDL_OUTPUTQ_NUM_SIZET] = value;
        return 0;
    }
}

/* Only weights and work memory may be null. */
static aclError set_pointer(mock_model_config *c, aclmdlConfigAttr attr, void *value) {
    if (attr == ACL_MDL_WEIGHT_ADDR_PTR) c->weights = value;
    else if (attr == ACL_MDL_WORKSPACE_ADDR_PTR) c->work = value;
    else if (value == NULL) return mock_null("*attrValue");
    else if (attr == ACL_MDL_PATH_PTR) return set_text(&c->path, value);
    else if (attr == ACL_MDL_WEIGHT_PATH_PTR) return set_text(&c->weight_path, value);
    else if (attr == ACL_MDL_MEM_ADDR_PTR) c->model = value;
    return 0;
}

static aclError set_number(mock_model_config *c, aclmdlConfigAttr attr, int32_t value) {
    if (attr == ACL_MDL_WITHOUT_GRAPH_INT32) return value == 0 || value == 1 ? 0 : mock_invalid("value %d",
        value);
    if (value < 0 || value > 7) return mock_invalid("priority %d", value);
    c->priority = value;
    return 0;
}

static aclError set_option(mock_model_config *c, aclmdlConfigAttr attr, const void *value, size_t size) {
    /* The letters: i a 32-bit number, s a size, p a pointer. */
    static const char letters[] = {
        [ACL_MDL_PRIORITY_INT32] = 'i', [ACL_MDL_LOAD_TYPE_SIZET] = 's', [ACL_MDL_PATH_PTR] = 'p',
        [ACL_MDL_MEM_ADDR_PTR] = 'p', [ACL_MDL_MEM_SIZET] = 's', [ACL_MDL_WEIGHT_ADDR_PTR] = 'p',
        [ACL_MDL_WEIGHT_SIZET] = 's', [ACL_MDL_WORKSPACE_ADDR_PTR] = 'p', [ACL_MDL_WORKSPACE_SIZET] = 's',
        [ACL_MDL_INPUTQ_NUM_SIZET] = 's', [ACL_MDL_INPUTQ_ADDR_PTR] = 'p', [ACL_MDL_OUTPUTQ_NUM_SIZET] = 's',
        [ACL_MDL_OUTPUTQ_ADDR_PTR] = 'p', [ACL_MDL_WORKSPACE_MEM_OPTIMIZE] = 's',
        [ACL_MDL_WEIGHT_PATH_PTR] = 'p', [ACL_MDL_WITHOUT_GRAPH_INT32] = 'i'};
    const char kind = (unsigned)attr < sizeof letters ? letters[attr] : 0;
    if (kind == 0) return mock_invalid("option %d is not supported", (int)attr);
    const size_t want = kind == 'i' ? sizeof(int32_t) : kind == 's' ? sizeof(size_t) : sizeof(void *);
    if (size != want) return mock_invalid("option %d takes %zu bytes, not %zu", (int)attr, want, size);
    int32_t number = 0;
    size_t length = 0;
    void *pointer = NULL;
    memcpy(kind == 'i' ? (void *)&number : kind == 's' ? (void *)&length : (void *)&pointer, value, size);
    return kind == 'i' ? set_number(c, attr, number)
           : kind == 's' ? set_size(c, attr, length)
                         : set_pointer(c, attr, pointer);
}

/* Options of other devices and memory policies: 100000. The priority is kept and has no effect. */
MOCK_EXPORT aclError aclmdlSetConfigOpt(
    aclmdlConfigHandle *handle, aclmdlConfigAttr attr, const void *attrValue, size_t valueSize) {
    MOCK_ENTER(aclmdlSetConfigOpt);
    mock_model_config *c = NULL;
    aclError code = mock_model_config_find(handle, &c);
    if (code != 0) return code;
    if (attrValue == NULL) return mock_null("attrValue");
    code = set_option(c, attr, attrValue, valueSize);
    if (code == 0) c->set |= 1u << attr;
    return code;
}

/* A size that is no multiple of 32: 100000. */
MOCK_EXPORT aclError aclmdlSetExternalWeightAddress(
    aclmdlConfigHandle *handle, const char *weightFileName, void *devPtr, size_t size) {
    MOCK_ENTER(aclmdlSetExternalWeightAddress);
    mock_model_config *c = NULL;
    const aclError code = mock_model_config_find(handle, &c);
    if (code != 0) return code;
    if (weightFileName == NULL || devPtr == NULL) return mock_null("weightFileName and devPtr");
    if (size == 0 || size % 32 != 0) return mock_invalid("size %zu is no multiple of 32", size);
    mock_model_external *more = realloc(c->externals, (c->external_count + 1) * sizeof *more);
    if (more != NULL) c->externals = more;
    char *file = strdup(weightFileName);
    if (more == NULL || file == NULL) {
        free(file);
        return mock_fail(ACL_ERROR_BAD_ALLOC, "EE1013", "no host memory for a weight");
    }
    c->externals[c->external_count++] = (mock_model_external){file, devPtr, size};
    return 0;
}

static bool has(const mock_model_config *c, aclmdlConfigAttr attr) { return (c->set >> attr & 1) != 0; }

aclError mock_model_config_check(const mock_model_config *c) {
    if (!has(c, ACL_MDL_LOAD_TYPE_SIZET)) return mock_invalid("no load type is set");
    const size_t type = c->load_type;
    const bool file = type == ACL_MDL_LOAD_FROM_FILE || type == ACL_MDL_LOAD_FROM_FILE_WITH_MEM ||
                      type == ACL_MDL_LOAD_FROM_FILE_WITH_Q;
    const bool queues = type >= ACL_MDL_LOAD_FROM_FILE_WITH_Q;
    if (file && !has(c, ACL_MDL_PATH_PTR)) return mock_invalid("no path is set");
    if (!file && (!has(c, ACL_MDL_MEM_ADDR_PTR) || !has(c, ACL_MDL_MEM_SIZET)))
        return mock_invalid("no memory is set");
    if ((file || type == ACL_MDL_LOAD_FROM_MEM_WITH_MEM) && has(c, ACL_MDL_WEIGHT_PATH_PTR))
        return mock_invalid("a path of weights does not go with load type %zu", type);
    for (int a = ACL_MDL_INPUTQ_NUM_SIZET; queues && a <= ACL_MDL_OUTPUTQ_ADDR_PTR; a++)
        if (!has(c, (aclmdlConfigAttr)a)) return mock_invalid("queues are not set");
    return 0;
}

/* ---- running ---- */

MOCK_EXPORT aclmdlExecConfigHandle *aclmdlCreateExecConfigHandle(void) {
    MOCK_ENTER_PTR(aclmdlCreateExecConfigHandle);
    mock_run_config *c = mock_thing_new(&run_type, sizeof *c);
    if (c == NULL) return NULL;
    c->stream_timeout = c->event_timeout = -1;
    return c->thing.handle;
}

MOCK_EXPORT aclError aclmdlDestroyExecConfigHandle(const aclmdlExecConfigHandle *handle) {
    MOCK_ENTER(aclmdlDestroyExecConfigHandle);
    return mock_thing_destroy(&run_type, handle, "handle");
}

/* The two time-outs, in milliseconds, -1 for none; other options: 100000. */
MOCK_EXPORT aclError aclmdlSetExecConfigOpt(
    aclmdlExecConfigHandle *handle, aclmdlExecConfigAttr attr, const void *attrValue, size_t valueSize) {
    MOCK_ENTER(aclmdlSetExecConfigOpt);
    mock_run_config *c = NULL;
    const aclError code = mock_run_config_find(handle, &c);
    if (code != 0) return code;
    if (attrValue == NULL) return mock_null("attrValue");
    if (attr != ACL_MDL_STREAM_SYNC_TIMEOUT && attr != ACL_MDL_EVENT_SYNC_TIMEOUT)
        return mock_invalid("option %d is not supported", (int)attr);
    int32_t value = 0;
    if (valueSize != sizeof value) return mock_invalid("a time-out takes 4 bytes, not %zu", valueSize);
    memcpy(&value, attrValue, sizeof value);
    if (value < -1) return mock_invalid("time-out %d", value);
    *(attr == ACL_MDL_STREAM_SYNC_TIMEOUT ? &c->stream_timeout : &c->event_timeout) = value;
    return 0;
}
