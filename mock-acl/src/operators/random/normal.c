/* Normal distributions (guide: aclnn, aclnnInplaceNormal, aclnnNormalFloatFloat and neighbours), by Box and Muller.
 *
 * Own choice: words 0 and 1 of a block give its first two elements, words 2 and 3 the other two. With u = (word + 1) /
 * 2^32 and v = next word / 2^32 these are sqrt(-2 log u) times the cosine and the sine of v turns. mean + std * that, in
 * f64, is rounded once to the type, towards zero for integers. A negative std is refused, in a tensor the task fails. */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/random/draw.h"

double mock_log(double x) {
    int exponent = 0;
    double m = frexp(x, &exponent);
    if (m < 0.70710678118654752) {
        m *= 2;
        exponent--;
    }
    const double s = (m - 1) / (m + 1), z = s * s;
    double sum = 0;
    for (int k = 12; k >= 0; k--) sum = sum * z + 1.0 / (2 * k + 1);
    return exponent * 0.69314718055994531 + 2 * s * sum;
}

/* Of an angle of an eighth of a turn at most. */
static void small_turn(double x, double *sine, double *cosine) {
    const double z = x * x;
    double s = 1, c = 1;
    for (int k = 9; k > 0; k--) {
        s = 1 - s * z / (2 * k * (2 * k + 1));
        c = 1 - c * z / (2 * k * (2 * k - 1));
    }
    *sine = s * x;
    *cosine = c;
}

/* The sine and cosine of word / 2^32 turns, by basic arithmetic too. */
static void turn(uint32_t word, double *sine, double *cosine) {
    const uint32_t quarter = (word + 0x20000000u) >> 30;
    const uint32_t rest = word - (quarter << 30) + 0x20000000u;
    double s = 0, c = 0;
    small_turn(((double)rest - 536870912.0) * 0x1p-31 * 3.14159265358979324, &s, &c);
    *sine = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
    *cosine = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
}

static void normal_block(const mock_source *s, uint64_t block, double values[4]) {
    uint32_t words[4];
    mock_draw_block(s, block, words);
    for (int k = 0; k < 4; k += 2) {
        const double radius = sqrt(-2 * mock_log(((double)words[k] + 1) * 0x1p-32));
        double sine = 0, cosine = 0;
        turn(words[k + 1], &sine, &cosine);
        values[k] = radius * cosine;
        values[k + 1] = radius * sine;
    }
}

static void draw_normal(const mock_source *s, uint64_t first, size_t n, double *values) {
    double block[4];
    for (size_t k = 0; k < n; k++) {
        const uint64_t i = first + k;
        if (k == 0 || i % 4 == 0) normal_block(s, i / 4, block);
        values[k] = block[i % 4];
    }
}

/* Operands of mean and std, -1 where the number counts; `out` is the result's. */
typedef struct normal {
    mock_source source;
    double mean, std;
    int32_t mean_at, std_at, out;
} normal;

static bool make_normal(const void *params, mock_chunk *c) {
    const normal *p = params;
    draw_normal(&p->source, c->first, c->n, c->real);
    for (size_t k = 0; k < c->n; k++) {
        const double mean = p->mean_at < 0 ? p->mean : c->in[0][k];
        const double std = p->std_at < 0 ? p->std : c->in[p->mean_at < 0 ? 0 : 1][k];
        if (std < 0) return false;
        const double scaled = std * c->real[k];
        c->real[k] = mean + scaled;
    }
    return true;
}

static aclError run_normal(void *arg) {
    const mock_plan *plan = arg;
    normal p = *MOCK_PARAMS((mock_plan *)arg, normal);
    int inputs[2], count = 0;
    if (p.mean_at >= 0) inputs[count++] = p.mean_at;
    if (p.std_at >= 0) inputs[count++] = p.std_at;
    if (!mock_source_read(plan, &p.source)) return MOCK_DEVICE_FAULT;
    return mock_fill_chunks(plan, p.out, MOCK_F64, inputs, count, make_normal, &p);
}

static void check_std(mock_build *b, double std) {
    if (!(std >= 0)) mock_build_fail(b, "std is %g, expected 0 or more", std);
}

static aclnnStatus finish_normal(mock_build *b, normal p) {
    if (b->status == 0) *MOCK_PARAMS(b->plan, normal) = p;
    return mock_build_finish(b);
}

MOCK_OPERATOR(aclnnInplaceNormal, run_normal)
aclnnStatus aclnnInplaceNormalGetWorkspaceSize(const aclTensor *selfRef, float mean, float std, int64_t seed,
    int64_t offset, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceNormalGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceNormal_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_OUT);
    check_std(&b, std);
    return finish_normal(&b, (normal){mock_source_numbers(seed, offset), mean, std, -1, -1, 0});
}

MOCK_OPERATOR(aclnnInplaceNormalTensor, run_normal)
aclnnStatus aclnnInplaceNormalTensorGetWorkspaceSize(const aclTensor *selfRef, float mean, float std,
    const aclTensor *seedTensor, const aclTensor *offsetTensor, int64_t offset, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceNormalTensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceNormalTensor_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_OUT);
    check_std(&b, std);
    const mock_source source = mock_source_tensors(&b, seedTensor, offsetTensor, (uint64_t)offset);
    return finish_normal(&b, (normal){source, mean, std, -1, -1, 0});
}

MOCK_OPERATOR(aclnnNormalFloatFloat, run_normal)
aclnnStatus aclnnNormalFloatFloatGetWorkspaceSize(float mean, float std, int64_t seed, int64_t offset,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnNormalFloatFloatGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnNormalFloatFloat_task, workspaceSize, executor);
    check_std(&b, std);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    return finish_normal(&b, (normal){mock_source_numbers(seed, offset), mean, std, -1, -1, 0});
}

static const mock_view *add_floats(mock_build *b, const aclTensor *tensor, const char *param) {
    const mock_view *v = mock_build_tensor(b, tensor, param, MOCK_IN);
    if (b->status == 0 && !mock_dtype_is_floating(v->dtype))
        mock_build_fail(b, "%s has data type %s, expected a floating one", param, mock_dtype_name(v->dtype));
    return v;
}

static void add_out(mock_build *b, const aclTensor *out, const mock_view *expected, const char *because) {
    const mock_view *v = mock_build_tensor(b, out, "out", MOCK_OUT);
    if (b->status == 0) mock_require_shape(b, v, "out", expected, because);
}

MOCK_OPERATOR(aclnnNormalFloatTensor, run_normal)
aclnnStatus aclnnNormalFloatTensorGetWorkspaceSize(float mean, const aclTensor *std, int64_t seed,
    int64_t offset, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnNormalFloatTensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnNormalFloatTensor_task, workspaceSize, executor);
    add_out(&b, out, add_floats(&b, std, "std"), "the shape of std");
    return finish_normal(&b, (normal){mock_source_numbers(seed, offset), mean, 0, -1, 0, 1});
}

MOCK_OPERATOR(aclnnNormalTensorFloat, run_normal)
aclnnStatus aclnnNormalTensorFloatGetWorkspaceSize(const aclTensor *mean, float std, int64_t seed,
    int64_t offset, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnNormalTensorFloatGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnNormalTensorFloat_task, workspaceSize, executor);
    check_std(&b, std);
    add_out(&b, out, add_floats(&b, mean, "mean"), "the shape of mean");
    return finish_normal(&b, (normal){mock_source_numbers(seed, offset), 0, std, 0, -1, 1});
}

MOCK_OPERATOR(aclnnNormalTensorTensor, run_normal)
aclnnStatus aclnnNormalTensorTensorGetWorkspaceSize(const aclTensor *mean, const aclTensor *std, int64_t seed,
    int64_t offset, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnNormalTensorTensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnNormalTensorTensor_task, workspaceSize, executor);
    const mock_view *m = add_floats(&b, mean, "mean"), *s = add_floats(&b, std, "std");
    mock_view common = {.rank = 0};
    mock_shape_text first, second;
    if (b.status == 0 && !mock_broadcast(m, s, &common))
        mock_build_fail(&b, "mean %s and std %s do not broadcast", mock_shape(m, &first), mock_shape(s, &second));
    add_out(&b, out, &common, "the common shape of mean and std");
    return finish_normal(&b, (normal){mock_source_numbers(seed, offset), 0, 0, 0, 1, 2});
}
