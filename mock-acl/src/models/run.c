/* Executes offline models: each operator is a kernel on the stream, the last task lets go of what the
 * execution holds (guide: models, execution; codes: implementation of the open graph engine).
 *
 * One model must not run twice at the same time: its work memory is shared (guide: models, execution). A
 * stream that captures is refused with 207000 (own choice: the guide says nothing). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "memory/memory.h"
#include "models/config.h"
#include "models/data_buffer.h"
#include "models/dataset.h"
#include "models/file.h"
#include "models/model.h"
#include "models/models.h"
#include "models/tensor_desc.h"
#include "streams/streams.h"


/* What one execution holds until its last task is gone. */
typedef struct hold {
    mock_model *model;
    char *work; /* its own, or NULL */
} hold;

static aclError nothing_left(void *arg) {
    (void)arg;
    return 0;
}

static void let_go(void *arg) {
    hold *h = arg;
    if (h->work != NULL) mock_device_free(h->work);
    mock_model_unref(h->model);
    free(h);
}

static const mock_task_ops sync_ops = {"aclmdlExecute", nothing_left, let_go};
static const mock_task_ops async_ops = {"aclmdlExecuteAsync", nothing_left, let_go};

typedef struct run {
    mock_model *model;
    uint32_t id;
    mock_dataset *input, *output;
    mock_model_plan plan;
    void **addresses;
    hold *hold;
} run;

static aclError bad_param(const char *what, size_t have, size_t want) {
    return mock_fail((aclError)ACL_ERROR_GE_PARAM_INVALID, "EE4001", "%s: %zu, the model has %zu", what,
        have, want);
}

/* ---- sizes ---- */

/* From the dataset's descriptors where the model leaves the size open; 145021 without one. */
static aclError described(const mock_model_tensor *t, const mock_blob *blob, mock_model_shape *shape) {
    *shape = t->shape;
    bool open = false;
    for (unsigned k = 0; k < shape->rank; k++) open |= shape->dims[k] < 0;
    if (!open) return 0;
    const mock_tensor_desc *d = mock_tensor_desc_get(blob->desc);
    if (d == NULL || d->dims.count != shape->rank)
        return mock_fail((aclError)ACL_ERROR_GE_SHAPE_INVALID, "EE4001",
            "%s: its shape is open; aclmdlSetDatasetTensorDesc tells it", t->name);
    for (unsigned k = 0; k < shape->rank; k++) {
        const int64_t n = d->dims.values[k];
        const bool below = t->ranged && n < t->range[k][0];
        const bool above = t->ranged && t->range[k][1] >= 0 && n > t->range[k][1];
        if (n < 0 || below || above)
            return mock_fail((aclError)ACL_ERROR_GE_SHAPE_INVALID, "EE4001", "%s: dimension %u is %lld",
                t->name, k,
                (long long)n);
        shape->dims[k] = n;
    }
    return 0;
}

static aclError choose_shapes(run *r, mock_model_shape *inputs) {
    const mock_model_file *f = r->model->file;
    if (f->gear_count != 0) {
        if (r->input->gear == 0 || r->input->gear > f->gear_count)
            return mock_fail((aclError)ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID, "EE4001",
                "no size was chosen for this dataset");
        mock_model_gear_shapes(f, r->input->gear - 1, inputs);
        return 0;
    }
    for (uint32_t i = 0; i < f->input_count; i++) {
        const aclError code = described(&f->tensors[f->inputs[i]], &r->input->blobs[i], &inputs[i]);
        if (code != 0) return code;
    }
    return 0;
}

/* ---- addresses ---- */

static aclError bind(run *r, bool output) {
    const mock_model_file *f = r->model->file;
    const mock_dataset *set = output ? r->output : r->input;
    const uint32_t *list = output ? f->outputs : f->inputs;
    const uint32_t n = output ? f->output_count : f->input_count;
    if (set->count != n) return bad_param(output ? "outputs" : "inputs", set->count, n);
    for (uint32_t i = 0; i < n; i++) {
        const mock_model_tensor *t = &f->tensors[list[i]];
        const mock_data_buffer *b = mock_data_buffer_get(set->blobs[i].buffer);
        const size_t need = mock_model_shape_bytes(t, &r->plan.shapes[list[i]]);
        if (b == NULL) return mock_invalid("%s: its data buffer was destroyed", t->name);
        if (b->size < need) return bad_param(t->name, b->size, need);
        if (b->data == NULL && need != 0) return mock_null(t->name);
        r->addresses[list[i]] = b->data;
    }
    return 0;
}

static aclError place(run *r) {
    const mock_model_file *f = r->model->file;
    char *work = r->model->work;
    if (r->model->work_bytes == 0 && r->plan.work_bytes != 0) {
        work = r->hold->work = mock_device_alloc(r->model->device, r->plan.work_bytes);
        if (work == NULL)
            return mock_fail((aclError)ACL_ERROR_GE_DEVICE_MEMORY_ALLOCATION_FAILED, "EE4001",
                "no %llu bytes of work memory", (unsigned long long)r->plan.work_bytes);
    }
    for (uint32_t i = 0; i < f->tensor_count; i++) {
        if (f->tensors[i].place == MOCK_PLACE_INNER) r->addresses[i] = work + r->plan.offsets[i];
        else if (f->tensors[i].place >= MOCK_PLACE_WEIGHT) r->addresses[i] = r->model->addresses[i];
    }
    return 0;
}

/* ---- one execution ---- */

static aclError prepare(run *r) {
    const mock_model_file *f = r->model->file;
    if (r->input->count != f->input_count) return bad_param("inputs", r->input->count, f->input_count);
    mock_model_shape *inputs = calloc((size_t)f->input_count + 1, sizeof *inputs);
    r->addresses = calloc((size_t)f->tensor_count + 1, sizeof *r->addresses);
    r->hold = calloc(1, sizeof *r->hold);
    aclError code = 0;
    if (inputs == NULL || r->addresses == NULL || r->hold == NULL)
        code = mock_fail((aclError)ACL_ERROR_GE_MEMORY_ALLOCATION, "EE4001", "no host memory");
    if (code == 0) code = choose_shapes(r, inputs);
    if (code == 0) code = mock_model_plan_make(f, inputs, &r->plan);
    if (code == 0) code = bind(r, false);
    if (code == 0) code = bind(r, true);
    if (code == 0) code = place(r);
    free(inputs);
    return code;
}

/* Each output whose dataset has descriptors, or whose shape was open, tells the shape it gets. */
static void describe_outputs(run *r) {
    const mock_model_file *f = r->model->file;
    bool open = false;
    for (size_t i = 0; i < r->input->count; i++) open |= r->input->blobs[i].desc != NULL;
    for (uint32_t i = 0; open && i < f->output_count; i++) {
        const mock_model_tensor *t = &f->tensors[f->outputs[i]];
        const mock_model_shape *s = &r->plan.shapes[f->outputs[i]];
        const mock_tensor_desc *d = mock_tensor_desc_new(t->dtype, s->rank, s->dims, t->format);
        if (d == NULL) return;
        mock_tensor_desc_free(r->output->blobs[i].desc);
        r->output->blobs[i].desc = d->thing.handle;
    }
}

/* What holds the work is queued last, whatever became of the operators. */
static aclError queue(run *r, aclrtStream stream, const mock_task_ops *ops) {
    const mock_model_file *f = r->model->file;
    char *work = r->hold->work != NULL ? r->hold->work : r->model->work;
    void *workspace = work == NULL ? NULL : work + r->plan.workspace;
    aclError code = 0;
    for (uint32_t i = 0; i < f->op_count && code == 0; i++) {
        uint64_t need = 0;
        code = mock_model_call_op(f, &f->ops[i], &r->plan, r->addresses, workspace, &need, stream, false);
    }
    r->hold->model = r->model;
    atomic_fetch_add(&r->model->refs, 1);
    const aclError last = mock_submit_kernel(stream, ops, r->hold);
    r->hold = NULL;
    return code != 0 ? code : last;
}

static aclError not_capturing(aclrtStream stream) {
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0 && s->graph != NULL)
        code = mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017",
            "a model cannot run on a stream that records");
    mock_unlock();
    return code;
}

static void release(run *r) {
    mock_model_plan_free(&r->plan);
    free(r->addresses);
    if (r->hold != NULL && r->hold->work != NULL) mock_device_free(r->hold->work);
    free(r->hold);
    mock_model_unref(r->model);
}

/* For the log: the model, the buffers and the stream. */
static void note(const run *r, aclrtStream stream) {
    if (!mock_logs_calls()) return;
    mock_given((const void *)(uintptr_t)r->id);
    for (size_t side = 0; side < 2; side++) {
        const mock_dataset *d = side == 0 ? r->input : r->output;
        for (size_t i = 0; i < d->count; i++) {
            const mock_data_buffer *b = mock_data_buffer_get(d->blobs[i].buffer);
            if (b != NULL) mock_given(b->data);
        }
    }
    mock_given(stream);
}

static aclError execute(uint32_t id, const aclmdlDataset *input, aclmdlDataset *output, aclrtStream stream,
    const mock_task_ops *ops) {
    run r = {.id = id};
    aclError code = mock_dataset_find(input, "input", &r.input);
    if (code == 0) code = mock_dataset_find(output, "output", &r.output);
    if (code == 0) code = mock_model_find(id, &r.model);
    if (code != 0) return code;
    note(&r, stream);
    code = not_capturing(stream);
    if (code == 0) code = prepare(&r);
    if (code == 0) code = queue(&r, stream, ops);
    if (code == 0) describe_outputs(&r);
    release(&r);
    return code;
}

/* On a stream of its own (own choice: one that exists as long as the call). */
static aclError execute_and_wait(
    uint32_t id, const aclmdlDataset *input, aclmdlDataset *output, aclrtStream stream, int32_t timeout) {
    aclrtStream own = stream;
    aclError code = own == NULL ? aclrtCreateStream(&own) : 0;
    if (code != 0) return code;
    code = execute(id, input, output, own, &sync_ops);
    const aclError waited =
        timeout < 0 ? aclrtSynchronizeStream(own) : aclrtSynchronizeStreamWithTimeout(own, timeout);
    if (stream == NULL) aclrtDestroyStreamForce(own);
    return code != 0 ? code : waited;
}

MOCK_EXPORT aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output) {
    MOCK_ENTER(aclmdlExecute);
    if (input == NULL || output == NULL) return mock_null("input and output");
    return execute_and_wait(modelId, input, output, NULL, -1);
}

MOCK_EXPORT aclError aclmdlExecuteAsync(
    uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output, aclrtStream stream) {
    MOCK_ENTER(aclmdlExecuteAsync);
    return execute(modelId, input, output, stream, &async_ops);
}

/* Waits no longer than the configuration says. */
MOCK_EXPORT aclError aclmdlExecuteV2(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output,
    aclrtStream stream, const aclmdlExecConfigHandle *handle) {
    MOCK_ENTER(aclmdlExecuteV2);
    mock_run_config *c = NULL;
    if (input == NULL || output == NULL) return mock_null("input and output");
    const aclError code = mock_run_config_find(handle, &c);
    return code != 0 ? code : execute_and_wait(modelId, input, output, stream, c->stream_timeout);
}

MOCK_EXPORT aclError aclmdlExecuteAsyncV2(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output,
    aclrtStream stream, const aclmdlExecConfigHandle *handle) {
    MOCK_ENTER(aclmdlExecuteAsyncV2);
    mock_run_config *c = NULL;
    const aclError code = mock_run_config_find(handle, &c);
    return code != 0 ? code : execute(modelId, input, output, stream, &async_ops);
}
