/* Shapes, sizes and places of the tensors of an offline model. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "models/aipp.h"
#include "models/file.h"
#include "models/kinds.h"
#include "models/model.h"
#include "models/models.h"
#include "models/tensor_desc.h"
#include "objects/objects.h"

static uint64_t aligned(uint64_t n) {
    return (n + MOCK_MODEL_ALIGN - 1) / MOCK_MODEL_ALIGN * MOCK_MODEL_ALIGN;
}

size_t mock_model_shape_bytes(const mock_model_tensor *t, const mock_model_shape *shape) {
    size_t n = 0, bytes = 0;
    if (!mock_elements(shape->rank, shape->dims, &n)) return SIZE_MAX;
    return __builtin_mul_overflow(n, mock_dtype_bytes(t->dtype), &bytes) ? SIZE_MAX : bytes;
}

/* ---- shapes of the inputs ---- */

/* Batch: every open size; image: the two open sizes of each input, in turn; dims: all open sizes in order
 * (guide: models, dynamic batch, dynamic image size, dynamic dims). */
void mock_model_gear_shapes(const mock_model_file *f, uint32_t gear, mock_model_shape *inputs) {
    const uint64_t *values = &f->gears[(size_t)gear * f->gear_size];
    uint32_t used = 0;
    for (uint32_t i = 0; i < f->input_count; i++) {
        inputs[i] = f->tensors[f->inputs[i]].shape;
        if (f->dynamic != MOCK_MODEL_DIMS) used = 0;
        for (unsigned k = 0; k < inputs[i].rank; k++)
            if (inputs[i].dims[k] < 0) inputs[i].dims[k] = (int64_t)values[used++ % f->gear_size];
    }
}

static bool mock_model_greatest_shapes(const mock_model_file *f, mock_model_shape *inputs) {
    for (uint32_t i = 0; i < f->input_count; i++) {
        const mock_model_tensor *t = &f->tensors[f->inputs[i]];
        inputs[i] = t->shape;
        for (unsigned k = 0; k < inputs[i].rank; k++) {
            if (inputs[i].dims[k] >= 0) continue;
            if (!t->ranged || t->range[k][1] <= 0) return false;
            inputs[i].dims[k] = t->range[k][1];
        }
    }
    return true;
}

/* ---- all shapes ---- */

static bool fits(const mock_model_shape *declared, const mock_model_shape *shape) {
    if (declared->rank != shape->rank) return false;
    for (unsigned i = 0; i < shape->rank; i++)
        if (declared->dims[i] >= 0 && declared->dims[i] != shape->dims[i]) return false;
    return true;
}

static aclError bad_shape(const char *name) {
    return mock_fail((aclError)ACL_ERROR_GE_SHAPE_INVALID, "EE4001", "%s: the shape does not fit the model",
        name);
}

static aclError infer(const mock_model_file *f, mock_model_plan *plan) {
    for (uint32_t i = 0; i < f->op_count; i++) {
        const mock_model_op *op = &f->ops[i];
        const mock_model_shape *in[MOCK_MODEL_INPUTS] = {NULL};
        for (unsigned k = 0; k < op->input_count; k++) in[k] = &plan->shapes[op->inputs[k]];
        mock_model_shape *out = &plan->shapes[op->output];
        if (!op->kind->shape(op, in, out) || !fits(&f->tensors[op->output].shape,
            out)) return bad_shape(op->name);
        if (mock_model_shape_bytes(&f->tensors[op->output], out) == SIZE_MAX) return bad_shape(op->name);
    }
    return 0;
}

static aclError place(const mock_model_file *f, mock_model_plan *plan) {
    uint64_t at = 0, largest = 0;
    for (uint32_t i = 0; i < f->tensor_count; i++) {
        if (f->tensors[i].place != MOCK_PLACE_INNER) continue;
        const size_t bytes = mock_model_shape_bytes(&f->tensors[i], &plan->shapes[i]);
        plan->offsets[i] = at;
        if (bytes > UINT64_C(1) << 48 || at > UINT64_C(1) << 48) return bad_shape(f->tensors[i].name);
        at += aligned(bytes);
    }
    for (uint32_t i = 0; i < f->op_count; i++) {
        uint64_t need = 0;
        const aclError code = mock_model_call_op(f, &f->ops[i], plan, NULL, NULL, &need, NULL, true);
        if (code != 0) return code;
        if (need > largest) largest = need;
    }
    plan->workspace = at;
    plan->work_bytes = at + aligned(largest);
    return 0;
}

aclError mock_model_plan_make(const mock_model_file *f, const mock_model_shape *inputs,
    mock_model_plan *plan) {
    *plan = (mock_model_plan){0};
    plan->shapes = calloc((size_t)f->tensor_count + 1, sizeof *plan->shapes);
    plan->offsets = calloc((size_t)f->tensor_count + 1, sizeof *plan->offsets);
    aclError code = 0;
    if (plan->shapes == NULL || plan->offsets == NULL)
        code = mock_fail((aclError)ACL_ERROR_GE_MEMORY_ALLOCATION, "EE4001", "no host memory");
    for (uint32_t i = 0; i < f->tensor_count && code == 0; i++) {
        const mock_model_tensor *t = &f->tensors[i];
        plan->shapes[i] = t->place == MOCK_PLACE_INPUT ? inputs[t->position] : t->shape;
        if (t->place == MOCK_PLACE_INPUT && !fits(&t->shape, &plan->shapes[i])) code = bad_shape(t->name);
    }
    if (code == 0) code = infer(f, plan);
    if (code == 0) code = place(f, plan);
    if (code != 0) mock_model_plan_free(plan);
    return code;
}

void mock_model_plan_free(mock_model_plan *plan) {
    free(plan->shapes);
    free(plan->offsets);
    *plan = (mock_model_plan){0};
}

size_t mock_model_tensor_bytes(const mock_model_file *f, uint32_t tensor) {
    const mock_model_tensor *t = &f->tensors[tensor];
    mock_model_shape *inputs = calloc((size_t)f->input_count + 1, sizeof *inputs);
    size_t most = 0;
    if (inputs == NULL) return 0;
    for (uint32_t gear = 0; gear < (f->gear_count == 0 ? 1 : f->gear_count); gear++) {
        mock_model_plan plan;
        if (f->gear_count != 0) mock_model_gear_shapes(f, gear, inputs);
        else if (!mock_model_greatest_shapes(f, inputs)) break;
        if (mock_model_plan_make(f, inputs, &plan) != 0) break;
        const size_t bytes = mock_model_shape_bytes(t, &plan.shapes[tensor]);
        if (bytes > most) most = bytes;
        mock_model_plan_free(&plan);
    }
    free(inputs);
    return most;
}

aclError mock_model_work_size(const mock_model_file *f, uint64_t *bytes, bool *bounded) {
    mock_model_shape *inputs = calloc((size_t)f->input_count + 1, sizeof *inputs);
    if (inputs == NULL) return mock_fail((aclError)ACL_ERROR_GE_MEMORY_ALLOCATION, "EE4001",
        "no host memory");
    aclError code = 0;
    *bytes = 0;
    *bounded = true;
    for (uint32_t gear = 0; gear < (f->gear_count == 0 ? 1 : f->gear_count) && code == 0; gear++) {
        mock_model_plan plan;
        if (f->gear_count != 0) mock_model_gear_shapes(f, gear, inputs);
        else *bounded = mock_model_greatest_shapes(f, inputs);
        if (!*bounded) break;
        code = mock_model_plan_make(f, inputs, &plan);
        if (code != 0) break;
        if (plan.work_bytes > *bytes) *bytes = plan.work_bytes;
        mock_model_plan_free(&plan);
    }
    free(inputs);
    return code;
}

/* ---- one operator ---- */

static aclTensor *operand(const mock_model_file *f, uint32_t index, const mock_model_plan *plan,
    void *address) {
    const mock_model_shape *s = &plan->shapes[index];
    return aclCreateTensor(s->dims, s->rank, f->tensors[index].dtype, NULL, 0, f->tensors[index].format,
        s->dims,
        s->rank, address);
}

static aclError run_call(const mock_model_op *op, mock_model_call *c, void *workspace, aclrtStream stream,
    bool measure) {
    aclOpExecutor *executor = NULL;
    c->executor = &executor;
    aclnnStatus status = op->kind->plan(c);
    if (status == 0 && measure) aclDestroyAclOpExecutor(executor);
    else if (status == 0) status = op->kind->run(workspace, *c->size, executor, stream);
    if (status == 0) return 0;
    const aclError runtime = mock_self()->last_error;
    if (status == ACLNN_ERR_RUNTIME_ERROR && runtime != 0) return runtime;
    return mock_fail((aclError)ACL_ERROR_GE_INTERNAL_ERROR, "EE4001", "%s: operator %s gave %d", op->name,
        op->type,
        (int)status);
}

aclError mock_model_call_op(const mock_model_file *f, const mock_model_op *op, const mock_model_plan *plan,
    void *const *addresses, void *workspace, uint64_t *need, aclrtStream stream, bool measure) {
    if (op->kind->plan == NULL) return mock_aipp_submit(f, op, plan->shapes, addresses, measure ? NULL : stream, measure);
    mock_model_call c = {.op = op, .size = need, .output_dtype = f->tensors[op->output].dtype};
    c.dtype = f->tensors[op->inputs[0]].dtype;
    for (unsigned i = 0; i < op->input_count; i++) {
        const uint32_t t = op->inputs[i];
        c.shapes[i] = &plan->shapes[t];
        c.inputs[i] = operand(f, t, plan, addresses == NULL ? NULL : addresses[t]);
    }
    c.output = operand(f, op->output, plan, addresses == NULL ? NULL : addresses[op->output]);
    const aclError code = run_call(op, &c, workspace, stream, measure);
    for (unsigned i = 0; i < op->input_count; i++)
        if (c.inputs[i] != NULL) aclDestroyTensor(c.inputs[i]);
    if (c.output != NULL) aclDestroyTensor(c.output);
    return code;
}
