/* Operators by name are run: what the table knows counts as compiled (own choice). aclopExecute and its
 * neighbours give 100024 for another name, as without a model for it; compiling one gives 207000 and names it,
 * since the mock has no compiler (guide: operators by name; codes of counts and null: implementation of the
 * open graph engine; 100021 to 100023 for inputs, outputs and attributes that do not fit: header). What an
 * operator of aclnn refuses is 500002, with its text (own choice). A stream that captures is refused with
 * 207000 (own choice: the guide says nothing). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_op_compiler.h"
#include "engine/engine.h"
#include "memory/memory.h"
#include "named/call.h"
#include "named/run.h"
#include "streams/streams.h"

/* ---- one call ---- */

aclnnStatus mock_named_fail(mock_named_call *c, aclError code, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    c->code = mock_fail_acl(code, "EH0007", "%s of %s: %s", c->api, c->row->type, text);
    return ACLNN_ERR_PARAM_INVALID;
}

aclnnStatus mock_named_step(mock_named_call *c, aclnnStatus first,
    aclnnStatus (*second)(void *workspace, uint64_t size, aclOpExecutor *executor, aclrtStream stream)) {
    void *workspace = NULL;
    if (first != 0) return first;
    if (c->code != 0) { /* an argument found something wrong */
        aclDestroyAclOpExecutor(c->executor);
        return ACLNN_ERR_PARAM_INVALID;
    }
    if (c->size != 0) {
        if (c->memory_count < MOCK_NAMED_HELD) workspace = mock_device_alloc(c->device, c->size);
        if (workspace == NULL) {
            aclDestroyAclOpExecutor(c->executor);
            return mock_named_fail(
                c, ACL_ERROR_BAD_ALLOC, "no %llu bytes of device memory", (unsigned long long)c->size);
        }
        c->memory[c->memory_count++] = workspace;
    }
    return second(workspace, c->size, c->executor, c->stream);
}

/* Memory that a call needs until it has run. */
typedef struct hold {
    int count;
    void *memory[];
} hold;

static void let_go(void *arg) {
    hold *h = arg;
    for (int i = 0; i < h->count; i++) mock_device_free(h->memory[i]);
    free(h);
}

static aclError nothing_left(void *arg) {
    (void)arg;
    return 0;
}

static const mock_task_ops last_ops = {"aclopExecute", nothing_left, let_go};

static aclError queue_release(mock_named_call *c) {
    if (c->memory_count == 0) return 0;
    hold *h = malloc(sizeof *h + (size_t)c->memory_count * sizeof *h->memory);
    if (h == NULL) return mock_fail_acl(ACL_ERROR_BAD_ALLOC, "EE1013", "%s: no host memory", c->api);
    h->count = c->memory_count;
    memcpy(h->memory, c->memory, (size_t)c->memory_count * sizeof *h->memory);
    return mock_submit_kernel(c->stream, &last_ops, h);
}

static aclError find_device(mock_named_call *c) {
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(c->stream, &s);
    if (code == 0 && s->graph != NULL)
        code = mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017",
            "%s: %s cannot run on a stream that records", c->api, c->row->type);
    if (code == 0) c->device = s->ctx->device;
    mock_unlock();
    return code;
}

/* Every output whose shape is open gets the one that the inputs give. */
static bool complete(mock_named_call *c) {
    bool open = false;
    for (int i = 0; i < c->output_count; i++) open |= !c->outputs[i].absent && !c->outputs[i].known;
    if (!open) return true;
    if (c->row->shape == NULL || c->output_count != 1 || !c->row->shape(c) || c->code != 0) return false;
    c->outputs[0].known = true;
    return true;
}

static aclError judge(mock_named_call *c, aclnnStatus status) {
    char text[300];
    if (c->code != 0 || status == 0) return c->code;
    const char *told = mock_error_show();
    snprintf(text, sizeof text, "%s", told == NULL ? "" : told);
    mock_named_fail(c, ACL_ERROR_GE_FAILURE, "%s", text);
    return c->code;
}

static aclError run(mock_named_call *c, bool tell) {
    aclError code = find_device(c);
    if (code != 0) return code;
    if (!complete(c)) {
        if (c->code == 0)
            mock_named_fail(c, ACL_ERROR_OP_UNSUPPORTED_DYNAMIC, "the shape of the output cannot be told");
        return c->code;
    }
    aclnnStatus status = mock_named_inputs(c);
    if (status == 0) status = mock_named_outputs(c);
    if (status == 0) status = c->row->plan(c);
    if (status == 0 && c->code == 0) status = mock_named_store(c);
    code = judge(c, status);
    mock_named_release(c);
    const aclError last = queue_release(c);
    for (int i = 0; code == 0 && last == 0 && tell && i < c->output_count; i++)
        if (!c->outputs[i].absent)
            code = mock_tensor_desc_reshape(c->outputs[i].desc, (size_t)c->outputs[i].rank, c->outputs[i].dims);
    return code != 0 ? code : last;
}

/* ---- its arguments ---- */

static aclError count_of(
    const mock_named_args *a, int count, const void *descs, const void *buffers, const char *what) {
    if (count < 0 || count > MOCK_NAMED_OPERANDS)
        return mock_invalid("%s: %d %ss, 0 to %d", a->api, count, what, MOCK_NAMED_OPERANDS);
    if (count == 0) return 0;
    if (descs == NULL) return mock_invalid("%s: %sDesc is null", a->api, what);
    return a->runs && buffers == NULL ? mock_invalid("%s: %ss is null", a->api, what) : 0;
}

static aclError find_row(mock_named_call *c, const mock_named_args *a) {
    if (a->type == NULL) return mock_invalid("%s: opType is null", a->api);
    c->row = mock_named_find(a->type);
    if (c->row != NULL) return 0;
    if (a->compiles)
        return mock_fail_acl(
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "%s: %s is not supported by mock-acl", a->api, a->type);
    return mock_fail_acl(ACL_ERROR_OP_NOT_FOUND, "EH0007", "%s: there is no operator %s", a->api, a->type);
}

static aclError check_counts(mock_named_call *c, const mock_named_args *a) {
    if (a->inputs_count < c->row->least || a->inputs_count > c->row->most) {
        mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH, "%d inputs, it has %d to %d", a->inputs_count,
            c->row->least, c->row->most);
    } else if (a->outputs_count < 1 || a->outputs_count > c->row->outputs) {
        mock_named_fail(
            c, ACL_ERROR_OP_OUTPUT_NOT_MATCH, "%d outputs, it has 1 to %d", a->outputs_count, c->row->outputs);
    }
    for (int i = 0; c->code == 0 && i < c->row->least; i++)
        if (c->inputs[i].absent) mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH, "input %d was left out", i);
    if (c->code == 0 && c->outputs[0].absent)
        mock_named_fail(c, ACL_ERROR_OP_OUTPUT_NOT_MATCH, "output 0 was left out");
    return c->code;
}

static aclError take_all(mock_named_call *c, const mock_named_args *a) {
    aclError code = 0;
    c->input_count = a->inputs_count;
    c->output_count = a->outputs_count;
    for (int i = 0; code == 0 && i < a->inputs_count; i++) {
        const aclDataBuffer *buffer = a->inputs == NULL ? NULL : a->inputs[i];
        if (a->runs && buffer == NULL) return mock_invalid("%s: inputs[%d] is null", a->api, i);
        code = mock_named_take(c, &c->inputs[i], a->input_descs[i], buffer, "input", i);
    }
    for (int i = 0; code == 0 && i < a->outputs_count; i++) {
        const aclDataBuffer *buffer = a->outputs == NULL ? NULL : a->outputs[i];
        if (a->runs && buffer == NULL) return mock_invalid("%s: outputs[%d] is null", a->api, i);
        code = mock_named_take(c, &c->outputs[i], a->output_descs[i], buffer, "output", i);
    }
    return code;
}

aclError mock_named_call_of(const mock_named_args *a) {
    const mock_op_attr *none;
    mock_named_call *c = calloc(1, sizeof *c);
    if (c == NULL) return mock_fail_acl(ACL_ERROR_BAD_ALLOC, "EE1013", "%s: no host memory", a->api);
    c->api = a->api;
    c->attrs = a->attrs;
    c->stream = a->stream;
    aclError code = count_of(a, a->inputs_count, a->input_descs, a->inputs, "input");
    if (code == 0) code = count_of(a, a->outputs_count, a->output_descs, a->outputs, "output");
    if (code == 0) code = mock_op_attr_find(a->attrs, "", &none);
    if (code == 0) code = find_row(c, a);
    if (code == 0) code = take_all(c, a);
    if (code == 0) code = check_counts(c, a);
    if (code == 0 && a->infers) {
        for (int i = 0; i < c->output_count; i++) c->outputs[i].known = false;
        if (complete(c))
            code = mock_tensor_desc_reshape(c->outputs[0].desc, (size_t)c->outputs[0].rank, c->outputs[0].dims);
        else if (c->code == 0)
            mock_named_fail(c, ACL_ERROR_OP_UNSUPPORTED_DYNAMIC, "the shape of the output cannot be told");
        if (code == 0) code = c->code;
    } else if (code == 0 && a->runs) {
        code = run(c, a->tells);
    }
    free(c);
    return code;
}
