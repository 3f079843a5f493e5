/* InplaceUniform, InplaceRandom, InplaceRandomWithoutFromTo and Bernoulli (guide: aclnn, page of each).
 *
 * Own choice: uniform numbers are from + u * (to - from) in f64, with u the upper bits of a word over their power of
 * two: 24 for f32, 11 for f16, 8 for bf16, and for f64 and integers 53 of 64. Whole ones are from + the upper half of
 * the product of 64 bits and their count. What would be rounded to `to` or more becomes from. Without from and to
 * they go from 0 to the largest number of an integer type, or 2^24, 2^11, 2^8, 2^53 of a float, as in PyTorch, both
 * included. A trial is 1 where word / 2^32 < p; a p outside of 0 to 1, or NaN, is refused, in a tensor the task fails.
 */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/random/draw.h"

typedef struct uniform {
    mock_source source;
    double from, to;
    int32_t dtype;
} uniform;

/* Bits of a mantissa with the hidden one, 0 for integers. */
static int digits_of(int32_t dtype) {
    switch (dtype) {
    case ACL_FLOAT: return 24;
    case ACL_FLOAT16: return 11;
    case ACL_BF16: return 8;
    case ACL_DOUBLE: return 53;
    default: return 0;
    }
}

static bool make_uniform(const void *params, mock_chunk *c) {
    const uniform *p = params;
    const int digits = digits_of(p->dtype);
    if (digits == 0 || digits == 53) {
        uint64_t words[MOCK_CHUNK];
        mock_draw_64(&p->source, c->first, c->n, words);
        for (size_t k = 0; k < c->n; k++) c->real[k] = (double)(words[k] >> 11) * 0x1p-53;
    } else {
        uint32_t words[MOCK_CHUNK];
        mock_draw_32(&p->source, c->first, c->n, words);
        for (size_t k = 0; k < c->n; k++) c->real[k] = ldexp((double)(words[k] >> (32 - digits)), -digits);
    }
    for (size_t k = 0; k < c->n; k++) {
        const double part = c->real[k] * (p->to - p->from);
        c->real[k] = p->from + part;
    }
    if (digits != 0) mock_keep_below(p->dtype, c->real, c->n, p->from, p->to);
    return true;
}

static aclError run_uniform(void *arg) {
    const mock_plan *plan = arg;
    uniform p = *MOCK_PARAMS((mock_plan *)arg, uniform);
    if (!mock_source_read(plan, &p.source)) return MOCK_DEVICE_FAULT;
    return mock_fill_chunks(plan, 0, MOCK_F64, NULL, 0, make_uniform, &p);
}

static aclnnStatus finish_uniform(mock_build *b, mock_source source, double from, double to) {
    if (b->status == 0 && !(from <= to && isfinite(to - from)))
        mock_build_fail(b, "from is %g and to is %g, expected finite ones in this order", from, to);
    if (b->status == 0) *MOCK_PARAMS(b->plan, uniform) = (uniform){source, from, to, b->plan->views[0].dtype};
    return mock_build_finish(b);
}

MOCK_OPERATOR(aclnnInplaceUniform, run_uniform)
aclnnStatus aclnnInplaceUniformGetWorkspaceSize(const aclTensor *selfRef, double from, double to, uint64_t seed,
    uint64_t offset, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceUniformGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceUniform_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_OUT);
    return finish_uniform(&b, mock_source_numbers((int64_t)seed, (int64_t)offset), from, to);
}

MOCK_OPERATOR(aclnnInplaceUniformTensor, run_uniform)
aclnnStatus aclnnInplaceUniformTensorGetWorkspaceSize(const aclTensor *selfRef, double from, double to,
    const aclTensor *seedTensor, const aclTensor *offsetTensor, uint64_t offset, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceUniformTensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceUniformTensor_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_OUT);
    return finish_uniform(&b, mock_source_tensors(&b, seedTensor, offsetTensor, offset), from, to);
}

/* ---- whole numbers ---- */

typedef struct whole {
    mock_source source;
    int64_t from;
    uint64_t count;
    int32_t dtype;
} whole;

static bool make_whole(const void *params, mock_chunk *c) {
    const whole *p = params;
    uint64_t words[MOCK_CHUNK];
    mock_draw_64(&p->source, c->first, c->n, words);
    for (size_t k = 0; k < c->n; k++)
        c->whole[k] = (int64_t)((uint64_t)p->from + mock_draw_below(words[k], p->count));
    if (digits_of(p->dtype) == 0) return true;
    for (size_t k = 0; k < c->n; k++) c->real[k] = (double)c->whole[k];
    mock_keep_below(p->dtype, c->real, c->n, (double)p->from, (double)p->from + (double)p->count);
    return true;
}

static aclError run_whole(void *arg) {
    const mock_plan *plan = arg;
    whole p = *MOCK_PARAMS((mock_plan *)arg, whole);
    if (!mock_source_read(plan, &p.source)) return MOCK_DEVICE_FAULT;
    const mock_class class = digits_of(p.dtype) == 0 ? MOCK_I64 : MOCK_F64;
    return mock_fill_chunks(plan, 0, class, NULL, 0, make_whole, &p);
}

/* The ends of a type; of floats those between which all numbers are finite, as far as s64 goes. */
static void ends_of(int32_t dtype, int64_t *least, int64_t *most) {
    switch (dtype) {
    case ACL_BOOL: *least = 0, *most = 1; break;
    case ACL_UINT8: *least = 0, *most = UINT8_MAX; break;
    case ACL_INT8: *least = INT8_MIN, *most = INT8_MAX; break;
    case ACL_INT16: *least = INT16_MIN, *most = INT16_MAX; break;
    case ACL_INT32: *least = INT32_MIN, *most = INT32_MAX; break;
    case ACL_FLOAT16: *least = -65504, *most = 65504; break;
    default: *least = INT64_MIN, *most = INT64_MAX; break;
    }
}

static aclnnStatus finish_whole(mock_build *b, mock_source source, int64_t from, uint64_t count) {
    if (b->status == 0) *MOCK_PARAMS(b->plan, whole) = (whole){source, from, count, b->plan->views[0].dtype};
    return mock_build_finish(b);
}

static aclnnStatus finish_between(mock_build *b, mock_source source, int64_t from, int64_t to) {
    int64_t least = 0, most = 0;
    if (b->status != 0) return mock_build_finish(b);
    const int32_t dtype = b->plan->views[0].dtype;
    ends_of(dtype, &least, &most);
    if (from >= to)
        mock_build_fail(b, "from is %lld and to is %lld, expected less", (long long)from, (long long)to);
    else if (from < least || to - 1 > most)
        mock_build_fail(b, "from %lld to %lld has numbers that %s does not have", (long long)from, (long long)to,
            mock_dtype_name(dtype));
    return finish_whole(b, source, from, (uint64_t)to - (uint64_t)from);
}

static aclnnStatus finish_all(mock_build *b, mock_source source) {
    int64_t least = 0, most = 0;
    if (b->status != 0) return mock_build_finish(b);
    const int32_t dtype = b->plan->views[0].dtype;
    const int digits = digits_of(dtype);
    ends_of(dtype, &least, &most);
    return finish_whole(b, source, 0, (digits != 0 ? UINT64_C(1) << digits : (uint64_t)most) + 1);
}

MOCK_OPERATOR(aclnnInplaceRandom, run_whole)
aclnnStatus aclnnInplaceRandomGetWorkspaceSize(const aclTensor *selfRef, int64_t from, int64_t to, int64_t seed,
    int64_t offset, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceRandomGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceRandom_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_OUT);
    return finish_between(&b, mock_source_numbers(seed, offset), from, to);
}

MOCK_OPERATOR(aclnnInplaceRandomTensor, run_whole)
aclnnStatus aclnnInplaceRandomTensorGetWorkspaceSize(const aclTensor *selfRef, int64_t from, int64_t to,
    const aclTensor *seedTensor, const aclTensor *offsetTensor, int64_t offset, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceRandomTensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceRandomTensor_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_OUT);
    return finish_between(
        &b, mock_source_tensors(&b, seedTensor, offsetTensor, (uint64_t)offset), from, to);
}

MOCK_OPERATOR(aclnnInplaceRandomWithoutFromTo, run_whole)
aclnnStatus aclnnInplaceRandomWithoutFromToGetWorkspaceSize(const aclTensor *selfRef, int64_t seed,
    int64_t offset, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceRandomWithoutFromToGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceRandomWithoutFromTo_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_OUT);
    return finish_all(&b, mock_source_numbers(seed, offset));
}

MOCK_OPERATOR(aclnnInplaceRandomWithoutFromToTensor, run_whole)
aclnnStatus aclnnInplaceRandomWithoutFromToTensorGetWorkspaceSize(const aclTensor *selfRef,
    const aclTensor *seedTensor, const aclTensor *offsetTensor, int64_t offset, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceRandomWithoutFromToTensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceRandomWithoutFromToTensor_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_OUT);
    return finish_all(&b, mock_source_tensors(&b, seedTensor, offsetTensor, (uint64_t)offset));
}

/* ---- trials ---- */

/* `prob_at` is -1 where the number counts. */
typedef struct trial {
    mock_source source;
    double prob;
    int32_t prob_at, out;
} trial;

static bool make_trials(const void *params, mock_chunk *c) {
    const trial *p = params;
    uint32_t words[MOCK_CHUNK];
    mock_draw_32(&p->source, c->first, c->n, words);
    for (size_t k = 0; k < c->n; k++) {
        const double prob = p->prob_at < 0 ? p->prob : c->in[0][k];
        if (!(prob >= 0 && prob <= 1)) return false;
        c->whole[k] = (double)words[k] * 0x1p-32 < prob;
    }
    return true;
}

static aclError run_trials(void *arg) {
    const mock_plan *plan = arg;
    const trial *p = MOCK_PARAMS((mock_plan *)arg, trial);
    const int inputs[1] = {p->prob_at};
    return mock_fill_chunks(plan, p->out, MOCK_I64, inputs, p->prob_at >= 0, make_trials, p);
}

static aclnnStatus finish_trials(mock_build *b, trial p) {
    if (b->status == 0) *MOCK_PARAMS(b->plan, trial) = p;
    return mock_build_finish(b);
}

static double probability(mock_build *b, const aclScalar *prob) {
    const mock_scalar *number = mock_build_scalar(b, prob, "prob");
    const double p = b->status == 0 ? mock_scalar_double(number) : 0;
    if (!(p >= 0 && p <= 1)) mock_build_fail(b, "prob is %g, expected 0 to 1", p);
    return p;
}

static void check_probabilities(mock_build *b, const mock_view *prob, const mock_view *out) {
    mock_view common;
    mock_shape_text first, second;
    if (b->status != 0) return;
    if (!mock_dtype_is_floating(prob->dtype))
        mock_build_fail(b, "prob has data type %s, expected a floating one", mock_dtype_name(prob->dtype));
    else if (!mock_broadcast(prob, out, &common) || !mock_same_shape(&common, out))
        mock_build_fail(b, "prob %s does not broadcast to %s", mock_shape(prob, &first), mock_shape(out, &second));
}

MOCK_OPERATOR(aclnnInplaceBernoulli, run_trials)
aclnnStatus aclnnInplaceBernoulliGetWorkspaceSize(const aclTensor *selfRef, const aclScalar *prob, int64_t seed,
    int64_t offset, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceBernoulliGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceBernoulli_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_OUT);
    const double p = probability(&b, prob);
    return finish_trials(&b, (trial){mock_source_numbers(seed, offset), p, -1, 0});
}

MOCK_OPERATOR(aclnnInplaceBernoulliTensor, run_trials)
aclnnStatus aclnnInplaceBernoulliTensorGetWorkspaceSize(const aclTensor *selfRef, const aclTensor *prob,
    int64_t seed, int64_t offset, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceBernoulliTensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceBernoulliTensor_task, workspaceSize, executor);
    const mock_view *out = mock_build_tensor(&b, selfRef, "selfRef", MOCK_OUT);
    check_probabilities(&b, mock_build_tensor(&b, prob, "prob", MOCK_IN), out);
    return finish_trials(&b, (trial){mock_source_numbers(seed, offset), 0, 1, 0});
}

static void add_out(mock_build *b, const aclTensor *out, const mock_view *self) {
    const mock_view *v = mock_build_tensor(b, out, "out", MOCK_OUT);
    if (b->status == 0) mock_require_shape(b, v, "out", self, "the shape of self");
}

/* Of self only the shape counts. */
MOCK_OPERATOR(aclnnBernoulli, run_trials)
aclnnStatus aclnnBernoulliGetWorkspaceSize(const aclTensor *self, const aclScalar *prob, int64_t seed,
    int64_t offset, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnBernoulliGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnBernoulli_task, workspaceSize, executor);
    const mock_view *shape = mock_build_tensor(&b, self, "self", MOCK_IN);
    const double p = probability(&b, prob);
    add_out(&b, out, shape);
    return finish_trials(&b, (trial){mock_source_numbers(seed, offset), p, -1, 1});
}

MOCK_OPERATOR(aclnnBernoulliTensor, run_trials)
aclnnStatus aclnnBernoulliTensorGetWorkspaceSize(const aclTensor *self, const aclTensor *prob, int64_t seed,
    int64_t offset, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnBernoulliTensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnBernoulliTensor_task, workspaceSize, executor);
    const mock_view *shape = mock_build_tensor(&b, self, "self", MOCK_IN);
    check_probabilities(&b, mock_build_tensor(&b, prob, "prob", MOCK_IN), shape);
    add_out(&b, out, shape);
    return finish_trials(&b, (trial){mock_source_numbers(seed, offset), 0, 1, 2});
}
