/* Handles: an operator with its descriptors and attributes, run many times with other buffers. It has copies of
 * what it was made of (guide: operators by name; codes: header, those of counts that differ; own choice for
 * stale handles: 100000). */
#include <stdlib.h>
#include <string.h>

#include "acl/acl_op.h"
#include "models/models.h"
#include "named/run.h"

typedef struct handle {
    mock_thing thing;
    char *type;
    int inputs_count, outputs_count;
    aclTensorDesc **descs; /* of inputs, then of outputs */
    aclopAttr *attrs;
} handle;

static void drop(void *thing) {
    handle *h = thing;
    for (int i = 0; h->descs != NULL && i < h->inputs_count + h->outputs_count; i++)
        mock_tensor_desc_free(h->descs[i]);
    mock_op_attrs_free(h->attrs);
    free(h->descs);
    free(h->type);
}

static const mock_thing_type handle_type = {"aclopHandle", drop};

static bool fill(handle *h, const mock_named_args *a) {
    const int count = a->inputs_count + a->outputs_count;
    h->type = malloc(strlen(a->type) + 1);
    h->descs = calloc((size_t)count + 1, sizeof *h->descs);
    if (h->type == NULL || h->descs == NULL) return false;
    strcpy(h->type, a->type);
    h->inputs_count = a->inputs_count;
    h->outputs_count = a->outputs_count;
    for (int i = 0; i < count; i++) {
        const aclTensorDesc *from =
            i < a->inputs_count ? a->input_descs[i] : a->output_descs[i - a->inputs_count];
        const mock_tensor_desc *copy = mock_tensor_desc_copy(mock_tensor_desc_get(from));
        if (copy == NULL) return false;
        h->descs[i] = copy->thing.handle;
    }
    if (a->attrs != NULL) h->attrs = mock_op_attrs_copy(a->attrs);
    return a->attrs == NULL || h->attrs != NULL;
}

static aclError create(const mock_named_args *a, aclopHandle **out) {
    if (out == NULL) return mock_null("handle");
    aclError code = mock_named_call_of(a);
    if (code != 0) return code;
    handle *h = mock_thing_new(&handle_type, sizeof *h);
    if (h == NULL) return ACL_ERROR_BAD_ALLOC;
    if (!fill(h, a)) {
        mock_thing_destroy(&handle_type, h->thing.handle, "handle");
        return mock_fail_acl(ACL_ERROR_BAD_ALLOC, "EE1013", "%s: no host memory", a->api);
    }
    *out = h->thing.handle;
    return 0;
}

MOCK_EXPORT aclError aclopCreateHandle(const char *opType, int numInputs,
    const aclTensorDesc *const inputDesc[], int numOutputs, const aclTensorDesc *const outputDesc[],
    const aclopAttr *opAttr, aclopHandle **handle) {
    MOCK_ENTER(aclopCreateHandle);
    return create(&(mock_named_args){.api = "aclopCreateHandle",
                      .type = opType,
                      .inputs_count = numInputs,
                      .outputs_count = numOutputs,
                      .input_descs = inputDesc,
                      .output_descs = outputDesc,
                      .attrs = opAttr},
        handle);
}

MOCK_EXPORT aclError aclopCreateHandleForCast(
    aclTensorDesc *srcDesc, aclTensorDesc *dstDesc, uint8_t truncate, aclopHandle **handle) {
    MOCK_ENTER(aclopCreateHandleForCast);
    (void)truncate;
    const aclTensorDesc *from = srcDesc, *to = dstDesc;
    return create(&(mock_named_args){.api = "aclopCreateHandleForCast",
                      .type = "Cast",
                      .inputs_count = 1,
                      .outputs_count = 1,
                      .input_descs = &from,
                      .output_descs = &to},
        handle);
}

/* Null and what is no handle have no effect. */
MOCK_EXPORT void aclopDestroyHandle(aclopHandle *handle) {
    if (mock_enter(MOCK_API_aclopDestroyHandle) == 0 && handle != NULL)
        mock_thing_destroy(&handle_type, handle, "handle");
}

MOCK_EXPORT aclError aclopExecWithHandle(aclopHandle *handle, int numInputs,
    const aclDataBuffer *const inputs[], int numOutputs, aclDataBuffer *const outputs[], aclrtStream stream) {
    MOCK_ENTER(aclopExecWithHandle);
    void *found = NULL;
    const aclError code = mock_thing_find(&handle_type, handle, "handle", &found);
    if (code != 0) return code;
    const struct handle *h = found;
    if (numInputs != h->inputs_count)
        return mock_fail_acl(ACL_ERROR_OP_INPUT_NOT_MATCH, "EH0007",
            "aclopExecWithHandle: %d inputs, the handle has %d", numInputs, h->inputs_count);
    if (numOutputs != h->outputs_count)
        return mock_fail_acl(ACL_ERROR_OP_OUTPUT_NOT_MATCH, "EH0007",
            "aclopExecWithHandle: %d outputs, the handle has %d", numOutputs, h->outputs_count);
    const aclTensorDesc *const *descs = (const aclTensorDesc *const *)h->descs;
    return mock_named_call_of(&(mock_named_args){.api = "aclopExecWithHandle",
        .type = h->type,
        .inputs_count = numInputs,
        .outputs_count = numOutputs,
        .input_descs = descs,
        .output_descs = descs + h->inputs_count,
        .inputs = inputs,
        .outputs = (const aclDataBuffer *const *)outputs,
        .attrs = h->attrs,
        .stream = stream,
        .runs = true});
}
