/* RReluWithNoise and its in-place form (guide: aclnn, aclnnRReluWithNoise): in training elements of at most 0,
 * and NaN, are multiplied by a number drawn evenly from lower to upper, which noise gets; noise is 1 for the
 * others. Else those of at most 0 are multiplied by the mean of both, and noise stays as it is.
 *
 * Own choice: element i draws as InplaceUniform of f32 does, and is multiplied by the noise as it was stored,
 * in f64, rounded once. noise has the shape of self. f32, f16, bf16 and f64. */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/random/draw.h"

enum { SELF, NOISE, OUT };

typedef struct rrelu {
    mock_source source;
    double lower, upper;
    bool training;
    int8_t out;
} rrelu;

static bool draw_noise(const void *params, mock_chunk *c) {
    const rrelu *p = params;
    uint32_t words[MOCK_CHUNK];
    mock_draw_32(&p->source, c->first, c->n, words);
    for (size_t k = 0; k < c->n; k++) {
        const double u = (double)(words[k] >> 8) * 0x1p-24, part = u * (p->upper - p->lower);
        c->real[k] = c->in[0][k] > 0 ? 1 : p->lower + part;
    }
    return true;
}

static bool multiply(const void *params, mock_chunk *c) {
    const rrelu *p = params;
    const double slope = (p->lower + p->upper) / 2;
    for (size_t k = 0; k < c->n; k++) {
        const double factor = c->in[0][k] > 0 ? 1 : p->training ? c->in[1][k] : slope;
        c->real[k] = c->in[0][k] * factor;
    }
    return true;
}

static aclError run_rrelu(void *arg) {
    const mock_plan *plan = arg;
    const rrelu *p = MOCK_PARAMS((mock_plan *)arg, rrelu);
    const int inputs[] = {SELF, NOISE};
    if (p->training) {
        const aclError error = mock_fill_chunks(plan, NOISE, MOCK_F64, inputs, 1, draw_noise, p);
        if (error != 0) return error;
    }
    return mock_fill_chunks(plan, p->out, MOCK_F64, inputs, 2, multiply, p);
}

static void check(mock_build *b, int operands) {
    static const char *const names[] = {"self", "noise", "out"};
    for (int i = 0; b->status == 0 && i < operands; i++) {
        const mock_view *v = &b->plan->views[i];
        if (!mock_dtype_is_floating(v->dtype))
            mock_build_fail(
                b, "%s has data type %s; floating ones are supported", names[i], mock_dtype_name(v->dtype));
        mock_require_shape(b, v, names[i], &b->plan->views[SELF], "the shape of self");
    }
}

static aclnnStatus finish(mock_build *b, const aclScalar *lower, const aclScalar *upper, rrelu p) {
    const mock_scalar *low = mock_build_scalar(b, lower, "lower"), *high = mock_build_scalar(b, upper, "upper");
    check(b, p.out + 1 > NOISE ? p.out + 1 : NOISE + 1);
    if (b->status == 0) {
        p.lower = mock_scalar_double(low);
        p.upper = mock_scalar_double(high);
        if (!(p.lower <= p.upper && isfinite(p.upper - p.lower)))
            mock_build_fail(
                b, "lower is %g and upper is %g, expected finite ones in this order", p.lower, p.upper);
        *MOCK_PARAMS(b->plan, rrelu) = p;
    }
    return mock_build_finish(b);
}

MOCK_OPERATOR(aclnnRReluWithNoise, run_rrelu)
aclnnStatus aclnnRReluWithNoiseGetWorkspaceSize(const aclTensor *self, const aclTensor *noise,
    const aclScalar *lower, const aclScalar *upper, bool training, int64_t seed, int64_t offset, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnRReluWithNoiseGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnRReluWithNoise_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, noise, "noise", MOCK_INOUT);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    return finish(&b, lower, upper,
        (rrelu){.source = mock_source_numbers(seed, offset), .training = training, .out = OUT});
}

MOCK_OPERATOR(aclnnInplaceRReluWithNoise, run_rrelu)
aclnnStatus aclnnInplaceRReluWithNoiseGetWorkspaceSize(const aclTensor *self, const aclTensor *noise,
    const aclScalar *lower, const aclScalar *upper, bool training, int64_t seed, int64_t offset,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceRReluWithNoiseGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceRReluWithNoise_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_INOUT);
    mock_build_tensor(&b, noise, "noise", MOCK_INOUT);
    return finish(&b, lower, upper,
        (rrelu){.source = mock_source_numbers(seed, offset), .training = training, .out = SELF});
}
