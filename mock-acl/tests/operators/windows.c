/* What paddings, upsampling, pooling and convolution refuse, and bad addresses. Their values are compared
 * with NumPy. */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/support.h"

#define INTS(...) \
    aclCreateIntArray((int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static aclIntArray *made[32];
static int made_count;
/* Lives to the end of the test. */
static aclIntArray *kept(aclIntArray *array) {
    CHECK(made_count < 32);
    made[made_count++] = array;
    return array;
}
static void drop_lists(void) {
    while (made_count > 0) aclDestroyIntArray(made[--made_count]);
}

/* What the padding cuts off and puts back is the value, also at the ends of the numbers. */
static void padding_cuts_off_everything(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(3)), y = sample_new(ACL_FLOAT, "", DIMS(2));
    aclScalar *nine = scalar_float(9);
    sample_fill(&x, 0, 1);
    LAUNCH(aclnnConstantPadNd, x.handle, kept(INTS(INT64_MIN, INT64_MAX)), nine, y.handle);
    CHECK_ALL(y, 0, 9);
    sample_fill(&y, 0, 1);
    LAUNCH(aclnnConstantPadNd, x.handle, kept(INTS(-INT64_MAX, INT64_MAX - 1)), nine, y.handle);
    CHECK_ALL(y, 0, 9);
    sample_fill(&y, 0, 1);
    LAUNCH(aclnnConstantPadNd, x.handle, kept(INTS(-4, 3)), nine, y.handle);
    CHECK_ALL(y, 0, 9);
    aclDestroyScalar(nine);
    sample_free(&x), sample_free(&y);
    drop_lists();
}

static void bad_paddings(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(2, 3, 4)), y = sample_new(ACL_FLOAT, "", DIMS(2, 3, 6));
    sample h = sample_new(ACL_FLOAT16, "", DIMS(2, 3, 6)), flat = sample_new(ACL_FLOAT, "", DIMS(4));
    sample none = sample_new(ACL_FLOAT, "", DIMS(2, 3, 0));
    aclIntArray *one = kept(INTS(1, 1)), *four = kept(INTS(1, 4)), *minus = kept(INTS(-1, 1));
    aclIntArray *three = kept(INTS(1, 1, 0)), *zero = kept(INTS(0, 0)), *five = kept(INTS(5, 0, 0, 0));
    REFUSED(161001, "aclnnReflectionPad1d: self", aclnnReflectionPad1d, NULL, one, y.handle);
    REFUSED(161001, "padding", aclnnReflectionPad2d, x.handle, NULL, y.handle);
    REFUSED(161001, "out", aclnnReplicationPad3d, x.handle, one, NULL);
    REFUSED(161002, "1 dimensions, expected 2 or 3", aclnnReflectionPad1d, flat.handle, one, y.handle);
    REFUSED(161002, "3 dimensions, expected 4 or 5", aclnnReplicationPad3d, x.handle, one, y.handle);
    REFUSED(161002, "padding has 3 numbers, expected 2", aclnnReflectionPad1d, x.handle, three, y.handle);
    REFUSED(161002, "padding[1] is 4 for a dimension of 4", aclnnReflectionPad1d, x.handle, four, y.handle);
    REFUSED(161002, "padding[0] is -1", aclnnReplicationPad1d, x.handle, minus, y.handle);
    REFUSED(161002, "padding[0] is 5", aclnnCircularPad2d, x.handle, five, y.handle);
    REFUSED(161002, "padding[0] is 1 for a dimension of 0", aclnnReplicationPad1d, none.handle, one,
        y.handle);
    REFUSED(161002, "out has data type FLOAT16", aclnnReplicationPad1d, x.handle, one, h.handle);
    REFUSED(161002, "[2, 3, 6], expected [2, 3, 4]", aclnnReplicationPad1d, x.handle, zero, y.handle);
    aclTensor *nowhere = tensor_nowhere(ACL_FLOAT, DIMS(2, 3, 6));
    LAUNCH_EXPECTING(507015, aclnnReplicationPad1d, x.handle, one, nowhere);
    aclDestroyTensor(nowhere);
    sample *samples[] = {&x, &y, &h, &flat, &none};
    for (int i = 0; i < 5; i++) sample_free(samples[i]);
    drop_lists();
}

static void bad_upsampling(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(1, 1, 3, 4)), y = sample_new(ACL_FLOAT, "", DIMS(1, 1, 6, 8));
    sample h = sample_new(ACL_FLOAT16, "", DIMS(1, 1, 6, 8)), none = sample_new(ACL_FLOAT, "", DIMS(1, 1, 0,
        4));
    aclIntArray *twice = kept(INTS(6, 8)), *one = kept(INTS(6)), *zero = kept(INTS(0, 8)),
        *far = kept(INTS(6, 9));
    REFUSED(161001, "aclnnUpsampleNearest2d: self", aclnnUpsampleNearest2d, NULL, twice, y.handle);
    REFUSED(161001, "outputSize", aclnnUpsampleNearest2dV2, x.handle, NULL, 0, 0, y.handle);
    REFUSED(161001, "out", aclnnUpsampleNearestExact2d, x.handle, twice, 0, 0, NULL);
    REFUSED(161002, "4 dimensions, expected 3", aclnnUpsampleNearest1d, x.handle, one, y.handle);
    REFUSED(161002, "4 dimensions, expected 5", aclnnUpsampleNearest3d, x.handle, one, 0, 0, 0, y.handle);
    REFUSED(161002, "outputSize has 1 numbers, expected 2", aclnnUpsampleNearest2d, x.handle, one, y.handle);
    REFUSED(161002, "out has data type FLOAT16", aclnnUpsampleNearest2d, x.handle, twice, h.handle);
    REFUSED(161002, "outputSize[0] is 0", aclnnUpsampleNearest2d, x.handle, zero, y.handle);
    REFUSED(161002, "for 0 elements", aclnnUpsampleNearest2d, none.handle, twice, y.handle);
    REFUSED(161002, "[1, 1, 6, 8], expected [1, 1, 6, 9]", aclnnUpsampleNearest2d, x.handle, far, y.handle);
    aclTensor *nowhere = tensor_nowhere(ACL_FLOAT, DIMS(1, 1, 3, 4));
    LAUNCH_EXPECTING(507015, aclnnUpsampleNearest2d, nowhere, twice, y.handle);
    aclDestroyTensor(nowhere);
    sample *samples[] = {&x, &y, &h, &none};
    for (int i = 0; i < 4; i++) sample_free(samples[i]);
    drop_lists();
}

/* A step of many elements of self for one of out ends at the last one. */
static void upsampling_stays_inside(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(1, 1, 3)), y = sample_new(ACL_FLOAT, "", DIMS(1, 1, 4));
    aclIntArray *four = kept(INTS(4));
    sample_fill(&x, -1, 1);
    LAUNCH(aclnnUpsampleNearestExact1d, x.handle, four, 1e-30, y.handle);
    CHECK_ALL(y, 0, sample_get(&x, 2))
    sample_free(&x);
    sample_free(&y);
    drop_lists();
}

#define POOL(X, K, S, P, OUT) X, K, S, P, false, false, 0, 0, OUT

static void bad_means(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(1, 4, 4)), y = sample_new(ACL_FLOAT, "", DIMS(1, 2, 2));
    sample n = sample_new(ACL_INT32, "", DIMS(1, 4, 4)), flat = sample_new(ACL_FLOAT, "", DIMS(4, 4));
    aclIntArray *two = kept(INTS(2)), *none = kept(aclCreateIntArray(NULL, 0)), *three = kept(INTS(2, 2, 2));
    aclIntArray *zero = kept(INTS(0)), *big = kept(INTS(INT64_MAX, 1)), *five = kept(INTS(5)),
        *one = kept(INTS(1));
    aclTensor *v = x.handle, *out = y.handle;
    REFUSED(161001, "aclnnAvgPool2d: self", aclnnAvgPool2d, POOL(NULL, two, two, zero, out));
    REFUSED(161001, "kernelSize", aclnnAvgPool2d, POOL(v, NULL, two, zero, out));
    REFUSED(161001, "strides", aclnnAvgPool2d, POOL(v, two, NULL, zero, out));
    REFUSED(161001, "paddings", aclnnAvgPool2d, POOL(v, two, two, NULL, out));
    REFUSED(161001, "out", aclnnAvgPool2d, POOL(v, two, two, zero, NULL));
    REFUSED(161002, "kernelSize has 0 numbers, expected 2", aclnnAvgPool2d, POOL(v, none, two, zero, out));
    REFUSED(161002, "kernelSize has 3 numbers", aclnnAvgPool2d, POOL(v, three, two, zero, out));
    REFUSED(161002, "kernelSize has 0, expected 1", aclnnAvgPool2d, POOL(v, zero, two, zero, out));
    REFUSED(161002, "strides has 9223372036854775807", aclnnAvgPool2d, POOL(v, two, big, zero, out));
    REFUSED(161002, "padding is 2 for a window of 2", aclnnAvgPool2d, POOL(v, two, two, two, out));
    REFUSED(161002, "a window of 5 does not fit into 4", aclnnAvgPool2d, POOL(v, five, two, zero, out));
    REFUSED(161002, "2 dimensions, expected 3 or 4", aclnnAvgPool2d, POOL(flat.handle, two, two, zero, out));
    sample tall = sample_new(ACL_FLOAT, "", DIMS(1, 0, 4)), thin = sample_new(ACL_FLOAT, "", DIMS(1, 4, 0));
    REFUSED(161002, "planes of no elements", aclnnAvgPool2d, POOL(tall.handle, two, two, one, out));
    REFUSED(161002, "planes of no elements", aclnnAdaptiveAvgPool2d, thin.handle, two, out);
    sample_free(&tall);
    sample_free(&thin);
    REFUSED(161002, "self has data type INT32", aclnnAvgPool2d, POOL(n.handle, two, two, zero, out));
    REFUSED(161002, "self has data type FLOAT and out INT32", aclnnAvgPool2d, POOL(v, two, two, zero,
        n.handle));
    REFUSED(161002, "out has shape [1, 2, 2], expected [1, 4, 4]", aclnnAvgPool2d, POOL(v, one, one, zero,
        out));
    REFUSED(161001, "outputSize", aclnnAdaptiveAvgPool2d, v, NULL, out);
    REFUSED(161002, "out has shape [1, 2, 2], expected [1, 1, 1]", aclnnAdaptiveAvgPool2d, v, one, out);
    REFUSED(161002, "2 dimensions", aclnnAdaptiveAvgPool2d, flat.handle, two, out);
    const int64_t dims[] = {1, 1, (int64_t)1 << 32}, steps[] = {0, 0, 0}, storage = 1;
    aclTensor *wide = aclCreateTensor(dims, 3, ACL_FLOAT, steps, 0, ACL_FORMAT_ND, &storage, 1, x.memory);
    REFUSED(161002, "4294967296 elements", aclnnAdaptiveAvgPool2d, wide, two, out);
    REFUSED(161002, "does not fit into 4294967296", aclnnAvgPool2d, POOL(wide, one, two, zero, out));
    aclDestroyTensor(wide);
    aclTensor *nowhere = tensor_nowhere(ACL_FLOAT, DIMS(1, 4, 4));
    LAUNCH_EXPECTING(507015, aclnnAvgPool2d, POOL(nowhere, two, none, zero, out));
    aclDestroyTensor(nowhere);
    sample *samples[] = {&x, &y, &n, &flat};
    for (int i = 0; i < 4; i++) sample_free(samples[i]);
    drop_lists();
}

static void bad_maxima(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(1, 4, 4)), y = sample_new(ACL_FLOAT, "", DIMS(1, 2, 2));
    sample i = sample_new(ACL_INT32, "", DIMS(1, 2, 2)), far = sample_new(ACL_INT32, "", DIMS(1, 2));
    aclIntArray *two = kept(INTS(2)), *zero = kept(INTS(0)), *one = kept(INTS(1)),
        *none = kept(aclCreateIntArray(NULL, 0));
    aclIntArray *minus = kept(INTS(0, 0, 0, -1)), *three = kept(INTS(0, 0, 0)), *front = kept(INTS(-1, 0, 0,
        0));
    aclIntArray *ends = kept(INTS(0, 0, 2, 0));
    aclTensor *v = x.handle, *out = y.handle;
    REFUSED(161001, "indices", aclnnMaxPool2dWithIndices, v, two, two, zero, one, false, out, NULL);
    REFUSED(161001, "dilation", aclnnMaxPool2dWithIndices, v, two, two, zero, NULL, false, out, i.handle);
    REFUSED(161002, "indices has data type FLOAT", aclnnMaxPool2dWithIndices, v, two, two, zero, one, false,
        out, out);
    REFUSED(161002, "indices has shape [1, 2]", aclnnMaxPool2dWithIndices, v, two, two, zero, one, false, out,
        far.handle);
    REFUSED(161002, "dilation has 0, expected 1", aclnnMaxPool2dWithIndices, v, two, two, zero, zero, false,
        out,
        i.handle);
    REFUSED(161001, "kernelShape", aclnnMaxPool, v, NULL, two, 0, zero, one, 0, out);
    REFUSED(161001, "strides", aclnnMaxPool, v, two, NULL, 0, zero, one, 0, out);
    REFUSED(161001, "pads", aclnnMaxPool, v, two, two, 0, NULL, one, 0, out);
    REFUSED(161001, "dilations", aclnnMaxPool, v, two, two, 0, zero, NULL, 0, out);
    REFUSED(161002, "autoPad is 1", aclnnMaxPool, v, two, two, 1, zero, one, 0, out);
    REFUSED(161002, "ceilMode is 2", aclnnMaxPool, v, two, two, 0, zero, one, 2, out);
    REFUSED(161002, "pads has a negative number", aclnnMaxPool, v, two, two, 0, minus, one, 0, out);
    REFUSED(161002, "pads has a negative number", aclnnMaxPool, v, two, two, 0, front, one, 0, out);
    REFUSED(161002, "pads has 3 numbers", aclnnMaxPool, v, two, two, 0, three, one, 0, out);
    REFUSED(161002, "padding is 2 for a window of 2", aclnnMaxPool, v, two, two, 0, ends, one, 0, out);
    LAUNCH(aclnnMaxPool, v, two, two, 0, none, none, 0, out);
    sample *samples[] = {&x, &y, &i, &far};
    for (int k = 0; k < 4; k++) sample_free(samples[k]);
    drop_lists();
}

typedef struct conv {
    sample x, w, bias, out, n, h, flat, wide, odd, line, none, empty, turned;
    aclIntArray *one, *zero, *three, *two, *far;
} conv;

#define CONV(X, W, B, OUT) X, W, B, t->one, t->zero, t->one, false, NULL, 1, OUT, 0

static void check_transposed(const conv *t) {
    aclTensor *x = t->x.handle, *w = t->w.handle, *b = t->bias.handle, *out = t->out.handle;
#define TURNED(X, W, B, STRIDE, PAD, EXTRA, GROUPS, OUT) \
    X, W, B, STRIDE, PAD, t->one, true, EXTRA, GROUPS, OUT, 0
    REFUSED(161001, "outputPadding", aclnnConvolution, TURNED(x, w, b, t->one, t->zero, NULL, 1, out));
    REFUSED(161001, "stride", aclnnConvolution, TURNED(x, w, b, NULL, t->zero, t->zero, 1, out));
    REFUSED(161002, "outputPadding has 1", aclnnConvolution, TURNED(x, t->turned.handle, NULL, t->one, t->zero,
        t->one, 1, out));
    REFUSED(161002, "groups is 3", aclnnConvolution, TURNED(x, w, NULL, t->one, t->zero, t->zero, 3, out));
    REFUSED(161002, "the weight has 4 channels of the input", aclnnConvolution, TURNED(x, w, NULL, t->one, t->zero,
        t->zero, 1, out));
    REFUSED(161002, "bias has shape", aclnnConvolution, TURNED(x, t->turned.handle, t->line.handle, t->one, t->zero,
        t->zero, 1, out));
    REFUSED(161002, "the result has shape", aclnnConvolution, TURNED(x, t->turned.handle, NULL, t->one, t->zero,
        t->zero, 1, out));
    REFUSED(161002, "the result has no size", aclnnConvolution, TURNED(x, t->turned.handle, NULL, t->one, t->far,
        t->zero, 1, out));
}

static void check_convolutions(const conv *t) {
    aclTensor *x = t->x.handle, *w = t->w.handle, *b = t->bias.handle, *out = t->out.handle;
    REFUSED(161001, "aclnnConvolution: input", aclnnConvolution, CONV(NULL, w, b, out));
    REFUSED(161001, "weight", aclnnConvolution, CONV(x, NULL, b, out));
    REFUSED(161001, "output", aclnnConvolution, CONV(x, w, b, NULL));
    REFUSED(161001, "stride", aclnnConvolution, x, w, b, NULL, t->zero, t->one, false, NULL, 1, out, 0);
    REFUSED(161001, "padding", aclnnConvolution, x, w, b, t->one, NULL, t->one, false, NULL, 1, out, 0);
    REFUSED(161001, "dilation", aclnnConvolution, x, w, b, t->one, t->zero, NULL, false, NULL, 1, out, 0);
    check_transposed(t);
    REFUSED(161002, "outputPadding is not a live", aclnnConvolution, x, w, b, t->one, t->zero, t->one, false,
        (aclIntArray *)(void *)x, 1, out, 0);
    REFUSED(161002, "operand 0 has data type INT32", aclnnConvolution, CONV(t->n.handle, w, b, out));
    REFUSED(161002, "operand 3 has data type FLOAT16, the input has FLOAT", aclnnConvolution,
        CONV(x, w, b, t->h.handle));
    REFUSED(161002, "2 dimensions, expected 3 or 4", aclnnConvolution, CONV(t->flat.handle, w, b, out));
    REFUSED(161002, "operand 1 has 1 dimensions, the input 4", aclnnConvolution, CONV(x, b, b, out));
    REFUSED(161002, "stride has 3 numbers, expected 2", aclnnConvolution, x, w, b, t->three, t->zero, t->one,
        false,
        NULL, 1, out, 0);
    REFUSED(161002, "stride has 0, expected 1", aclnnConvolution, x, w, b, t->zero, t->zero, t->one, false,
        NULL, 1,
        out, 0);
    REFUSED(161002, "groups is 0", aclnnConvolution, x, w, b, t->one, t->zero, t->one, false, NULL, 0, out,
        0);
    REFUSED(161002, "groups is 3", aclnnConvolution, x, w, b, t->one, t->zero, t->one, false, NULL, 3, out,
        0);
    REFUSED(161002, "groups is 2 for 2 channels and 3", aclnnConvolution, x, t->odd.handle, NULL, t->one,
        t->zero,
        t->one, false, NULL, 2, out, 0);
    REFUSED(161002, "the weight has 2 channels, the input 2 in 2 groups", aclnnConvolution, x, w, b, t->one,
        t->zero,
        t->one, false, NULL, 2, out, 0);
    REFUSED(161002, "the weight has 0 channels", aclnnConvolution, CONV(t->empty.handle, t->none.handle,
        NULL, out));
    REFUSED(161002, "bias has shape [5], expected [4]", aclnnConvolution, CONV(x, w, t->line.handle, out));
    REFUSED(161002, "a window of 3 does not fit into 2", aclnnConvolution, CONV(t->wide.handle, w, b, out));
    REFUSED(161002, "the result has shape [1, 2, 4, 4], expected [1, 4, 2, 2]", aclnnConvolution, CONV(x, w,
        b, x));
}

static void check_more_windows(const conv *t) {
    aclTensor *x = t->x.handle, *w = t->w.handle, *out = t->out.handle;
    aclIntArray *one = t->one, *zero = t->zero;
    REFUSED(161001, "kernelSize", aclnnConvDepthwise2d, x, w, NULL, NULL, one, zero, one, out, 0);
    REFUSED(161002, "kernelSize is not that of the weight", aclnnConvDepthwise2d, x, w, t->two, NULL, one,
        zero,
        one, out, 0);
    REFUSED(161002, "2 and 4 dimensions, expected 4", aclnnConvDepthwise2d, t->flat.handle, w, t->two, NULL,
        one,
        zero, one, out, 0);
    REFUSED(161002, "4 and 2 dimensions, expected 4", aclnnConvDepthwise2d, x, t->flat.handle, t->two, NULL,
        one,
        zero, one, out, 0);
    REFUSED(161001, "aclnnIm2col: self", aclnnIm2col, NULL, t->two, one, zero, one, out);
    REFUSED(161001, "stride", aclnnIm2col, x, t->two, one, zero, NULL, out);
    REFUSED(161002, "2 dimensions, expected 3 or 4", aclnnIm2col, t->flat.handle, t->two, one, zero, one,
        out);
    REFUSED(161002, "out has data type FLOAT16", aclnnIm2col, x, t->two, one, zero, one, t->h.handle);
    REFUSED(161002, "out has shape [1, 4, 2, 2], expected [1, 8, 9]", aclnnIm2col, x, t->two, one, zero, one,
        out);
    aclIntArray *huge = aclCreateIntArray((int64_t[]){INT32_MAX}, 1);
    sample deep = sample_new(ACL_FLOAT, "", DIMS(4, 4, 4));
    REFUSED(161002, "too large", aclnnIm2col, deep.handle, huge, one, huge, one, out);
    sample_free(&deep);
    aclDestroyIntArray(huge);
}

/* Views of one element that claim to be large. */
static void huge_weights_are_refused(const conv *t) {
    const int64_t dims[] = {(int64_t)1 << 48, 2, 3, 3}, steps[] = {0, 0, 0, 0}, storage = 1;
    const int64_t windows[] = {4, 2, (int64_t)1 << 32, 3}, nothing[] = {4, 2, 0, 3};
    aclTensor *large = aclCreateTensor(dims, 4, ACL_FLOAT, steps, 0, ACL_FORMAT_ND, &storage, 1, t->w.memory);
    aclTensor *tall = aclCreateTensor(windows, 4, ACL_FLOAT, steps, 0, ACL_FORMAT_ND, &storage, 1,
        t->w.memory);
    aclTensor *empty = aclCreateTensor(nothing, 4, ACL_FLOAT, steps, 0, ACL_FORMAT_ND, &storage, 1,
        t->w.memory);
    REFUSED(161002, "the weight is too large", aclnnConvolution, CONV(t->x.handle, large, NULL,
        t->out.handle));
    REFUSED(161002, "windows of 4294967296", aclnnConvolution, CONV(t->x.handle, tall, NULL, t->out.handle));
    REFUSED(161002, "windows of 0", aclnnConvolution, CONV(t->x.handle, empty, NULL, t->out.handle));
    aclDestroyTensor(large);
    aclDestroyTensor(tall);
    aclDestroyTensor(empty);
}

static void bad_convolutions(void) {
    conv c = {
        sample_new(ACL_FLOAT, "", DIMS(1, 2, 4, 4)), sample_new(ACL_FLOAT, "", DIMS(4, 2, 3, 3)),
        sample_new(ACL_FLOAT, "", DIMS(4)), sample_new(ACL_FLOAT, "", DIMS(1, 4, 2, 2)),
        sample_new(ACL_INT32, "", DIMS(1, 2, 4, 4)), sample_new(ACL_FLOAT16, "", DIMS(1, 4, 2, 2)),
        sample_new(ACL_FLOAT, "", DIMS(4, 4)), sample_new(ACL_FLOAT, "", DIMS(1, 2, 2, 4)),
        sample_new(ACL_FLOAT, "", DIMS(3, 1, 3, 3)), sample_new(ACL_FLOAT, "", DIMS(5)),
        sample_new(ACL_FLOAT, "", DIMS(4, 0, 3, 3)), sample_new(ACL_FLOAT, "", DIMS(1, 0, 4, 4)),
        sample_new(ACL_FLOAT, "", DIMS(2, 4, 3, 3)),
        kept(INTS(1)), kept(INTS(0)), kept(INTS(1, 1, 1)), kept(INTS(2)),
        kept(INTS(4)),
    };
    const conv *t = &c;
    check_convolutions(t);
    check_more_windows(t);
    huge_weights_are_refused(t);
    aclTensor *x = c.x.handle, *w = c.w.handle, *out = c.out.handle;
    aclTensor *nowhere = tensor_nowhere(ACL_FLOAT, DIMS(1, 2, 4, 4));
    sample columns = sample_new(ACL_FLOAT, "", DIMS(1, 8, 9));
    LAUNCH_EXPECTING(507015, aclnnConvolution, CONV(nowhere, w, NULL, out));
    LAUNCH_EXPECTING(507015, aclnnIm2col, nowhere, c.two, c.one, c.zero, c.one, columns.handle);
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    CHECK(aclnnConvolutionGetWorkspaceSize(CONV(x, w, NULL, out), &size, &executor) == 0);
    CHECK(aclnnConvolution((void *)(uintptr_t)4096, size, executor, NULL) == 0);
    CHECK(stub_drain() == 507015);
    aclDestroyTensor(nowhere);
    sample *samples[] = {&c.x, &c.w, &c.bias, &c.out, &c.n, &c.h, &c.flat, &c.wide, &c.odd, &c.line, &c.none,
        &c.empty, &c.turned, &columns};
    for (int i = 0; i < 14; i++) sample_free(samples[i]);
    drop_lists();
}

/* How many of three elements around `at` lie inside. */
static double met(int64_t at, int64_t size) {
    return 3 - (at == 0) - (at == size - 1);
}

/* With exactly the workspace asked for: windows of ones over ones count the elements that they meet. */
static void convolutions_keep_to_their_workspace(void) {
    for (int groups = 1; groups <= 2; groups++) {
        sample x = sample_new(ACL_FLOAT16, "g3210", DIMS(2, 4, 30, 25)), bias = sample_new(ACL_FLOAT, "",
            DIMS(6));
        sample w = sample_new(ACL_FLOAT16, "g0123", DIMS(6, 4 / groups, 3, 3));
        sample out = sample_new(ACL_FLOAT16, "g1302", DIMS(2, 6, 30, 25));
        aclIntArray *one = INTS(1);
        sample_fill(&x, 1, 1);
        sample_fill(&w, 1, 1);
        sample_fill(&bias, 0.5, 0.5);
        LAUNCH(aclnnConvolution, x.handle, w.handle, bias.handle, one, one, one, false, NULL, groups,
            out.handle, 0);
        CHECK_ALL(out, 0, 0.5 + 4.0 / groups * met(i / 25 % 30, 30) * met(i % 25, 25))
        aclDestroyIntArray(one);
        sample *samples[] = {&x, &bias, &w, &out};
        for (int k = 0; k < 4; k++) sample_free(samples[k]);
    }
}

/* With exactly the workspace asked for: ones in windows of ones, two apart. */
static void transposed_convolutions(void) {
    for (int groups = 1; groups <= 2; groups++) {
        sample x = sample_new(ACL_FLOAT16, "g3210", DIMS(2, 4, 30, 25)), bias = sample_new(ACL_FLOAT, "",
            DIMS(3 * groups));
        sample w = sample_new(ACL_FLOAT16, "g0123", DIMS(4, 3, 3, 3));
        sample out = sample_new(ACL_FLOAT16, "g1302", DIMS(2, 3 * groups, 60, 50));
        aclIntArray *one = INTS(1), *two = INTS(2);
        sample_fill(&x, 1, 1);
        sample_fill(&w, 1, 1);
        sample_fill(&bias, 0.5, 0.5);
        LAUNCH(aclnnConvolution, x.handle, w.handle, bias.handle, two, one, one, true, one, groups, out.handle, 0);
        /* Odd places are met from both sides, but the last one. */
#define MET(AT, SIZE) ((AT) % 2 == 0 || (AT) == (SIZE) - 1 ? 1.0 : 2.0)
        CHECK_ALL(out, 0, 0.5 + 4.0 / groups * MET(i / 50 % 60, 60) * MET(i % 50, 50))
        aclDestroyIntArray(one);
        aclDestroyIntArray(two);
        sample *samples[] = {&x, &bias, &w, &out};
        for (int k = 0; k < 4; k++) sample_free(samples[k]);
    }
}

int main(void) {
    padding_cuts_off_everything();
    bad_paddings();
    bad_upsampling();
    upsampling_stays_inside();
    bad_means();
    bad_maxima();
    bad_convolutions();
    convolutions_keep_to_their_workspace();
    transposed_convolutions();
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_windows: ok");
    return 0;
}
