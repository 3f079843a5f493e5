/* Randperm and Multinomial (guide: aclnn, page of each).
 *
 * Own choice: Randperm goes from the last place of 0, 1, 2 ... down to the second and changes place i with the one
 * that 64 bits of index i choose among the first i + 1. Multinomial with replacement takes the first class whose
 * running sum of weights, in f64, is above the whole sum times 53 bits / 2^53, those of the result's index. Without, a
 * class has the time -log((53 bits + 1) / 2^53) / weight, bits of the weight's index, and the earliest come first. A
 * weight that is negative or not finite, a row without weight, and too few classes with one fail the task. Workspace:
 * a row of sums or times. */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/random/draw.h"

typedef struct permutation {
    mock_source source;
} permutation;

static aclError run_permutation(void *arg) {
    const mock_plan *plan = arg;
    const permutation *p = MOCK_PARAMS((mock_plan *)arg, permutation);
    const mock_view *out = &plan->views[0];
    char *first = mock_plan_pointer(plan, 0);
    if (out->dims[0] == 0) return 0;
    if (first == NULL) return MOCK_DEVICE_FAULT;
    const size_t size = mock_dtype_size(out->dtype);
    for (int64_t i = 0; i < out->dims[0]; i++) mock_write_whole(out->dtype, mock_element_at(out, first, &i), i);
    for (int64_t i = out->dims[0] - 1; i > 0; i--) {
        const int64_t j = (int64_t)mock_draw_below(mock_draw_one(&p->source, (uint64_t)i), (uint64_t)i + 1);
        char *a = mock_element_at(out, first, &i), *b = mock_element_at(out, first, &j), held[8];
        memcpy(held, a, size);
        memmove(a, b, size);
        memcpy(b, held, size);
    }
    return 0;
}

/* How many numbers from 0 on a type has. */
static int64_t room_of(int32_t dtype) {
    switch (dtype) {
    case ACL_BOOL: return 2;
    case ACL_INT8: return 128;
    case ACL_UINT8: return 256;
    case ACL_INT16: return 32768;
    case ACL_INT32: return INT64_C(1) << 31;
    case ACL_BF16: return 257;
    case ACL_FLOAT16: return 2049;
    case ACL_FLOAT: return (INT64_C(1) << 24) + 1;
    case ACL_DOUBLE: return (INT64_C(1) << 53) + 1;
    default: return INT64_MAX;
    }
}

MOCK_OPERATOR(aclnnRandperm, run_permutation)
aclnnStatus aclnnRandpermGetWorkspaceSize(int64_t n, int64_t seed, int64_t offset, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnRandpermGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnRandperm_task, workspaceSize, executor);
    const mock_view *v = mock_build_tensor(&b, out, "out", MOCK_OUT);
    const mock_view expected = {.rank = 1, .dims = {n}};
    if (b.status != 0) return mock_build_finish(&b);
    if (n < 0) mock_build_fail(&b, "n is %lld, expected 0 or more", (long long)n);
    else if (n > room_of(v->dtype))
        mock_build_fail(&b, "n is %lld, more than %s has numbers for", (long long)n, mock_dtype_name(v->dtype));
    else mock_require_shape(&b, v, "out", &expected, "n elements");
    if (b.status == 0) *MOCK_PARAMS(b.plan, permutation) = (permutation){mock_source_numbers(seed, offset)};
    return mock_build_finish(&b);
}

/* ---- samples ---- */

enum { SELF };

typedef struct samples {
    mock_source source;
    int64_t rows, classes, count;
    bool replacement;
    int32_t out; /* its index among the operands */
} samples;

typedef struct arrival {
    double time;
    int64_t class;
} arrival;

static char *element_of(const mock_view *v, char *first, int64_t row, int64_t column) {
    const int64_t i[2] = {v->rank == 2 ? row : column, column};
    return mock_element_at(v, first, i);
}

static double unit_of(uint64_t word) {
    return (double)(word >> 11) * 0x1p-53;
}

static int64_t find_sum(const double *sums, int64_t n, double wanted) {
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (sums[middle] > wanted) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* False for weights of which none can be drawn. */
static bool draw_again(const samples *s, const mock_view *views, char **first, int64_t row, double *sums) {
    double sum = 0;
    int64_t last = -1;
    for (int64_t c = 0; c < s->classes; c++) {
        const double weight = mock_read_real(views[SELF].dtype, element_of(&views[SELF], first[SELF], row, c));
        if (!(weight >= 0)) return false;
        if (sum + weight > sum) last = c;
        sums[c] = sum += weight;
    }
    if (last < 0 || !isfinite(sum)) return false;
    for (int64_t k = 0; k < s->count; k++) {
        const double part = unit_of(mock_draw_one(&s->source, (uint64_t)(row * s->count + k)));
        const int64_t class = find_sum(sums, last + 1, part * sum);
        mock_write_whole(views[s->out].dtype, element_of(&views[s->out], first[s->out], row, k), class);
    }
    return true;
}

static int earlier(const void *a, const void *b) {
    const arrival *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return x->class < y->class ? -1 : x->class > y->class;
}

static bool draw_once(const samples *s, const mock_view *views, char **first, int64_t row, arrival *arrivals) {
    int64_t present = 0;
    for (int64_t c = 0; c < s->classes; c++) {
        const double weight = mock_read_real(views[SELF].dtype, element_of(&views[SELF], first[SELF], row, c));
        const uint64_t word = mock_draw_one(&s->source, (uint64_t)(row * s->classes + c));
        if (!(weight >= 0) || !isfinite(weight)) return false;
        if (weight > 0) arrivals[present++] = (arrival){-mock_log(unit_of(word) + 0x1p-53) / weight, c};
    }
    if (present < s->count) return false;
    qsort(arrivals, (size_t)present, sizeof *arrivals, earlier);
    for (int64_t k = 0; k < s->count; k++)
        mock_write_whole(views[s->out].dtype, element_of(&views[s->out], first[s->out], row, k), arrivals[k].class);
    return true;
}

static aclError run_samples(void *arg) {
    const mock_plan *plan = arg;
    samples s = *MOCK_PARAMS((mock_plan *)arg, samples);
    char *first[MOCK_MAX_OPERANDS];
    if (!mock_source_read(plan, &s.source)) return MOCK_DEVICE_FAULT;
    if (s.rows == 0) return 0;
    void *scratch = mock_plan_workspace(plan);
    if (!mock_plan_pointers(plan, first) || scratch == NULL) return MOCK_DEVICE_FAULT;
    for (int64_t row = 0; row < s.rows; row++) {
        const bool good = s.replacement ? draw_again(&s, plan->views, first, row, scratch)
                                        : draw_once(&s, plan->views, first, row, scratch);
        if (!good) return MOCK_DEVICE_FAULT;
    }
    return 0;
}

static void check_samples(mock_build *b, const mock_view *self, const mock_view *out, const samples *s) {
    if (!mock_dtype_is_floating(self->dtype))
        mock_build_fail(b, "self has data type %s, expected a floating one", mock_dtype_name(self->dtype));
    if (out->dtype != ACL_INT64)
        mock_build_fail(b, "out has data type %s, expected INT64", mock_dtype_name(out->dtype));
    if (s->count <= 0) mock_build_fail(b, "numsamples is %lld, expected 1 or more", (long long)s->count);
    if (s->classes <= 0) mock_build_fail(b, "self has no classes");
    if (!s->replacement && s->count > s->classes)
        mock_build_fail(b, "numsamples is %lld, but without replacement there are %lld classes",
            (long long)s->count, (long long)s->classes);
    mock_view expected = *self;
    expected.dims[self->rank - 1] = s->count;
    if (b->status == 0) mock_require_shape(b, out, "out", &expected, "self with numsamples at the end");
}

static samples samples_of(mock_build *b, const aclTensor *self, int64_t count, bool replacement) {
    const mock_view *v = mock_build_tensor(b, self, "self", MOCK_IN);
    if (b->status == 0 && v->rank != 1 && v->rank != 2)
        mock_build_fail(b, "self has %d dimensions, expected 1 or 2", v->rank);
    if (b->status != 0) return (samples){.rows = 0};
    return (samples){.rows = v->rank == 2 ? v->dims[0] : 1, .classes = v->dims[v->rank - 1], .count = count,
        .replacement = replacement};
}

static aclnnStatus finish_samples(mock_build *b, samples s) {
    if (b->status == 0) check_samples(b, &b->plan->views[SELF], &b->plan->views[s.out], &s);
    if (b->status != 0) return mock_build_finish(b);
    *MOCK_PARAMS(b->plan, samples) = s;
    b->plan->need = mock_workspace_bytes((uint64_t)s.classes, s.replacement ? sizeof(double) : sizeof(arrival));
    return mock_build_finish(b);
}

MOCK_OPERATOR(aclnnMultinomial, run_samples)
aclnnStatus aclnnMultinomialGetWorkspaceSize(const aclTensor *self, int64_t numsamples, bool replacement,
    int64_t seed, int64_t offset, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnMultinomialGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnMultinomial_task, workspaceSize, executor);
    samples s = samples_of(&b, self, numsamples, replacement);
    s.out = 1;
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    s.source = mock_source_numbers(seed, offset);
    return finish_samples(&b, s);
}

MOCK_OPERATOR(aclnnMultinomialTensor, run_samples)
aclnnStatus aclnnMultinomialTensorGetWorkspaceSize(const aclTensor *self, int64_t numsamples, bool replacement,
    const aclTensor *seedTensor, const aclTensor *offsetTensor, int64_t offset, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnMultinomialTensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnMultinomialTensor_task, workspaceSize, executor);
    samples s = samples_of(&b, self, numsamples, replacement);
    s.source = mock_source_tensors(&b, seedTensor, offsetTensor, (uint64_t)offset);
    s.out = 3;
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    return finish_samples(&b, s);
}
