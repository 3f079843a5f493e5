#include "memory/memory.h"
#include "objects/objects.h"
#include "operators/products/quant.h"


/* From here on it is an input like others. */
static const mock_view *as_input(mock_build *b, const mock_view *v) {
    if (v != NULL) b->plan->views[b->plan->count - 1].role = MOCK_IN;
    return v;
}

const mock_view *mock_build_quantised(mock_build *b, const aclTensor *tensor, const char *param) {
    return as_input(b, mock_build_tensor(b, tensor, param, (mock_role)(MOCK_IN | MOCK_QUANTISED)));
}

const mock_view *mock_build_weight(mock_build *b, const aclTensor *tensor, const char *param) {
    return as_input(b, mock_build_tensor(b, tensor, param, (mock_role)(MOCK_IN_NZ | MOCK_QUANTISED)));
}

void mock_refuse_tensor(mock_build *b, const aclTensor *tensor, const char *param) {
    if (tensor != NULL) mock_build_fail(b, "%s is not supported; it must be null", param);
}

const uint8_t *mock_plan_nibbles(const mock_plan *plan, unsigned index) {
    const mock_view *v = &plan->views[index];
    const size_t bytes = v->span == 0 ? 0 : (size_t)(v->offset + v->span + 1) / 2;
    return mock_touch_task(v->address, bytes, MOCK_READS) ? mock_device_view(v->address, bytes) : NULL;
}
