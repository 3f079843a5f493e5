/* Calls that the open operators take, though their page does not show them: other shapes and storages, results in
 * place of an operand. Most values are compared with NumPy. */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/support.h"

#define H(SAMPLE) (SAMPLE).handle

/* The library compares the dimensions that rstd has. */
static void short_rstd(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(2, 3, 4)), gamma = sample_new(ACL_FLOAT, "", DIMS(4));
    sample y = sample_new(ACL_FLOAT, "", DIMS(2, 3, 4)), rstd = sample_new(ACL_FLOAT, "g", DIMS(2, 3));
    sample six = sample_new(ACL_FLOAT, "", DIMS(6)), bad = sample_new(ACL_FLOAT, "", DIMS(2, 4));
    sample_fill(&x, -2, 2);
    sample_fill(&gamma, 1, 2);
    LAUNCH(aclnnRmsNorm, H(x), H(gamma), 0, H(y), H(rstd));
    double want[6];
    for (int row = 0; row < 6; row++) {
        double sum = 0;
        for (int k = 0; k < 4; k++) sum += sample_get(&x, 4 * row + k) * sample_get(&x, 4 * row + k);
        want[row] = sqrt(4 / sum);
    }
    CHECK_ALL(rstd, 2, want[i]);
    CHECK_ALL(y, 4, sample_get(&x, i) * want[i / 4] * sample_get(&gamma, i % 4));
    /* With fewer still it is the dense list of all results, whose bytes have to be there. */
    const int64_t two = 2;
    aclTensor *list = aclCreateTensor(&two, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &two, 1, six.memory);
    aclTensor *tight = aclCreateTensor(&two, 1, ACL_FLOAT, NULL, 1, ACL_FORMAT_ND, &two, 1, six.memory);
    LAUNCH(aclnnRmsNorm, H(x), H(gamma), 0, H(y), list);
    CHECK_ALL(six, 2, want[i]);
    LAUNCH_EXPECTING(507015, aclnnRmsNorm, H(x), H(gamma), 0, H(y), tight);
    REFUSED(161002, "rstdOut has shape [2, 4], expected [2, 3]", aclnnRmsNorm, H(x), H(gamma), 0, H(y), H(bad));
    CHECK(aclDestroyTensor(list) == 0 && aclDestroyTensor(tight) == 0);
    sample *all[] = {&x, &gamma, &y, &rstd, &six, &bad};
    for (int i = 0; i < 6; i++) sample_free(all[i]);
}

static void products_in_other_floats(void) {
    sample x = sample_new(ACL_FLOAT16, "", DIMS(2, 3)), y = sample_new(ACL_FLOAT16, "", DIMS(3, 2));
    sample f = sample_new(ACL_FLOAT, "g", DIMS(2, 2)), h = sample_new(ACL_FLOAT16, "", DIMS(2, 2));
    sample wide = sample_new(ACL_FLOAT, "", DIMS(2, 3));
    aclScalar *one = scalar_float(1), *zero = scalar_float(0);
    sample_fill(&x, 100, 120);
    sample_fill(&y, 1, 2);
    sample_fill(&wide, -2, 2);
    sample_fill(&h, 0, 1);
#define TERM(A, I, K) sample_get(&(A), (I) / 2 * 3 + (K)) * sample_get(&y, (K) * 2 + (I) % 2)
#define SUM(A, I) (TERM(A, I, 0) + TERM(A, I, 1) + TERM(A, I, 2))
    LAUNCH(aclnnMm, H(x), H(y), H(f), 0);
    CHECK_ALL(f, 2, SUM(x, i));
    LAUNCH(aclnnMatmul, H(x), H(y), H(f), 1);
    CHECK_ALL(f, 2, SUM(x, i));
    LAUNCH(aclnnGemm, H(x), H(y), H(h), 1, 0, 0, 0, H(f), 0);
    CHECK_ALL(f, 2, SUM(x, i));
    LAUNCH(aclnnAddmm, H(h), H(x), H(y), zero, one, H(f), 0);
    CHECK_ALL(f, 2, SUM(x, i));
    LAUNCH(aclnnMm, H(wide), H(y), H(h), 0);
    CHECK_ALL(h, 1, SUM(wide, i));
    CHECK(aclDestroyScalar(one) == 0 && aclDestroyScalar(zero) == 0);
    sample *all[] = {&x, &y, &f, &h, &wide};
    for (int i = 0; i < 5; i++) sample_free(all[i]);
}

/* The sizes of the storage are not compared with what a view reaches; the bytes behind them are looked for on the
 * device. */
static void storages_named_otherwise(void) {
    sample memory = sample_new(ACL_FLOAT, "", DIMS(16)), x = sample_new(ACL_FLOAT, "", DIMS(8));
    const int64_t eight = 8, four = 4, two = 2, rows[] = {4, 2}, steps[] = {4, 2};
    sample_fill(&x, -2, 2);
    sample_fill(&memory, 5, 6);
    /* Every other element, with the view's own sizes as storage; then as after a storage grew. */
    aclTensor *apart = aclCreateTensor(&eight, 1, ACL_FLOAT, &two, 0, ACL_FORMAT_ND, &eight, 1, memory.memory);
    aclTensor *grown = aclCreateTensor(rows, 2, ACL_FLOAT, steps, 1, ACL_FORMAT_ND, &four, 1, memory.memory);
    aclTensor *pairs = aclCreateTensor(rows, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &two, 1, x.memory);
    aclTensor *tall = aclCreateTensor(&eight, 1, ACL_FLOAT, &two, 2, ACL_FORMAT_ND, &eight, 1, memory.memory);
    LAUNCH(aclnnInplaceCopy, apart, H(x));
    for (int i = 0; i < 8; i++) CHECK(sample_get(&memory, 2 * i) == sample_get(&x, i));
    for (int i = 0; i < 8; i++) CHECK(sample_get(&memory, 2 * i + 1) >= 5);
    LAUNCH(aclnnInplaceCopy, grown, pairs);
    for (int i = 0; i < 16; i++) CHECK(sample_get(&memory, i) == sample_get(&x, i / 2));
    LAUNCH_EXPECTING(507015, aclnnInplaceCopy, tall, H(x));
    LAUNCH_EXPECTING(507015, aclnnInplaceCopy, H(x), tall);
    aclTensor *all[] = {apart, grown, pairs, tall};
    for (int i = 0; i < 4; i++) CHECK(aclDestroyTensor(all[i]) == 0);
    sample_free(&memory);
    sample_free(&x);
}

static void cast_into_one_element(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(3, 2)), to = sample_new(ACL_FLOAT16, "", DIMS(3));
    const int64_t dims[] = {3, 2}, steps[] = {1, 0}, three = 3;
    aclTensor *spread = aclCreateTensor(dims, 2, ACL_FLOAT16, steps, 0, ACL_FORMAT_ND, &three, 1, to.memory);
    for (int i = 0; i < 6; i++) sample_set(&x, i, i);
    LAUNCH(aclnnCast, H(x), ACL_FLOAT16, spread);
    for (int i = 0; i < 3; i++) CHECK(sample_get(&to, i) == 2 * i || sample_get(&to, i) == 2 * i + 1);
    CHECK(aclDestroyTensor(spread) == 0);
    sample_free(&x);
    sample_free(&to);
}

#define IN_PLACE(DTYPE, NAME, BEFORE, ...)                                                  \
    for (int layout = 0; layout < 2; layout++) {                                            \
        sample x = sample_new(DTYPE, layout == 0 ? "" : "g10", DIMS(6, 8));                 \
        sample out = sample_new(DTYPE, "", DIMS(6, 8));                                     \
        sample_fill(&x, -2, 2);                                                             \
        LAUNCH(NAME, BEFORE H(x), __VA_ARGS__ H(out));                                      \
        LAUNCH(NAME, BEFORE H(x), __VA_ARGS__ H(x));                                        \
        CHECK_ALL(x, 0, sample_get(&out, i));                                               \
        sample_free(&x);                                                                    \
        sample_free(&out);                                                                  \
    }
#define NONE

/* A result that takes the place of an operand of its shape. */
static void results_in_place(void) {
    const aclDataType types[] = {ACL_FLOAT, ACL_FLOAT16};
    for (int t = 0; t < 2; t++) {
        sample sin = sample_new(types[t], "", DIMS(1, 8));
        sample line = sample_new(types[t], "", DIMS(8)), rstd = sample_new(ACL_FLOAT, "", DIMS(6, 1));
        sample cosine = sample_new(types[t], "", DIMS(1, 8));
        aclIntArray *eight = aclCreateIntArray((int64_t[]){8}, 1);
        sample_fill(&cosine, -1, 1);
        sample_fill(&sin, -1, 1);
        sample_fill(&line, -1, 1);
        IN_PLACE(types[t], aclnnRotaryPositionEmbedding, NONE, H(cosine), H(sin), 0,)
        IN_PLACE(types[t], aclnnRotaryPositionEmbedding, NONE, H(cosine), H(sin), 1,)
        IN_PLACE(types[t], aclnnSoftmax, NONE, 0,)
        IN_PLACE(types[t], aclnnSoftmax, NONE, 1,)
        IN_PLACE(types[t], aclnnLogSoftmax, NONE, 0,)
        IN_PLACE(types[t], aclnnLogSoftmax, NONE, 1,)
        IN_PLACE(types[t], aclnnCumsum, NONE, 0, types[t],)
        IN_PLACE(types[t], aclnnCumsum, NONE, 1, types[t],)
        for (int layout = 0; layout < 2; layout++) {
            sample x = sample_new(types[t], layout == 0 ? "" : "g10", DIMS(6, 8));
            sample out = sample_new(types[t], "", DIMS(6, 8));
            sample_fill(&x, -2, 2);
            LAUNCH(aclnnRmsNorm, H(x), H(line), 0.1, H(out), H(rstd));
            LAUNCH(aclnnRmsNorm, H(x), H(line), 0.1, H(x), H(rstd));
            CHECK_ALL(x, 0, sample_get(&out, i));
            LAUNCH(aclnnLayerNorm, H(x), eight, H(line), H(line), 0.1, H(out), NULL, NULL);
            LAUNCH(aclnnLayerNorm, H(x), eight, H(line), H(line), 0.1, H(x), NULL, NULL);
            CHECK_ALL(x, 0, sample_get(&out, i));
            sample_free(&x);
            sample_free(&out);
        }
        aclDestroyIntArray(eight);
        sample *all[] = {&sin, &line, &rstd, &cosine};
        for (int i = 0; i < 4; i++) sample_free(all[i]);
    }
}

static void sequences_of_any_shape(void) {
    sample out = sample_new(ACL_INT32, "g10", DIMS(2, 3)), point = sample_new(ACL_FLOAT, "", 0, NULL);
    aclScalar *zero = scalar_int(4), *end = scalar_int(10), *one = scalar_int(1), *five = scalar_int(5);
    LAUNCH(aclnnArange, zero, end, one, H(out));
    CHECK_ALL(out, 0, (double)(4 + i));
    LAUNCH(aclnnArange, zero, five, one, H(point));
    CHECK(sample_get(&point, 0) == 4);
    REFUSED(161002, "out has 6 elements, expected 1", aclnnArange, zero, five, one, H(out));
    aclScalar *numbers[] = {zero, end, one, five};
    for (int i = 0; i < 4; i++) CHECK(aclDestroyScalar(numbers[i]) == 0);
    sample_free(&out);
    sample_free(&point);
}

static void sums_of_one_element(void) {
    sample x = sample_new(ACL_FLOAT, "g10", DIMS(3, 4)), one = sample_new(ACL_FLOAT, "", DIMS(1));
    sample two = sample_new(ACL_FLOAT, "", DIMS(2)), rows = sample_new(ACL_FLOAT, "", DIMS(1, 1));
    aclIntArray *all = aclCreateIntArray((int64_t[]){0, 1}, 2), *first = aclCreateIntArray((int64_t[]){0}, 1);
    double sum = 0;
    sample_fill(&x, -4, 4);
    for (int i = 0; i < 12; i++) sum += sample_get(&x, i);
    LAUNCH(aclnnReduceSum, H(x), all, false, ACL_FLOAT, H(one));
    CHECK_ALL(one, 1, sum);
    REFUSED(161002, "out has shape [2]", aclnnReduceSum, H(x), all, false, ACL_FLOAT, H(two));
    REFUSED(161002, "out has shape [1, 1]", aclnnReduceSum, H(x), all, false, ACL_FLOAT, H(rows));
    REFUSED(161002, "out has shape [1]", aclnnReduceSum, H(x), first, false, ACL_FLOAT, H(one));
    REFUSED(161002, "out has shape [1]", aclnnReduceSum, H(x), all, true, ACL_FLOAT, H(one));
    CHECK(aclDestroyIntArray(all) == 0 && aclDestroyIntArray(first) == 0);
    sample *samples[] = {&x, &one, &two, &rows};
    for (int i = 0; i < 4; i++) sample_free(samples[i]);
}

static void indices_from_the_end(void) {
    sample x = sample_new(ACL_FLOAT, "g", DIMS(4)), index = sample_new(ACL_INT64, "", DIMS(3));
    sample out = sample_new(ACL_FLOAT, "", DIMS(3));
    sample_fill(&x, -2, 2);
    sample_set(&index, 0, -4);
    sample_set(&index, 1, -1);
    sample_set(&index, 2, 2);
#define SEEN sample_get(&x, i == 0 ? 0 : i == 1 ? 3 : 2)
    LAUNCH(aclnnIndexSelect, H(x), 0, H(index), H(out));
    CHECK_ALL(out, 0, SEEN);
    sample_fill(&out, 5, 6);
    LAUNCH(aclnnGather, H(x), 0, H(index), H(out));
    CHECK_ALL(out, 0, SEEN);
    sample_fill(&out, 5, 6);
    LAUNCH(aclnnGatherV2, H(x), 0, H(index), H(out));
    CHECK_ALL(out, 0, SEEN);
    sample_set(&index, 1, -5);
    LAUNCH_EXPECTING(507015, aclnnIndexSelect, H(x), 0, H(index), H(out));
    LAUNCH_EXPECTING(507015, aclnnGather, H(x), 0, H(index), H(out));
    LAUNCH_EXPECTING(507015, aclnnGatherV2, H(x), 0, H(index), H(out));
    sample_free(&x);
    sample_free(&index);
    sample_free(&out);
}

static void softmax_losses(void) {
    sample x = sample_new(ACL_FLOAT, "10", DIMS(3, 4)), labels = sample_new(ACL_FLOAT, "", DIMS(3, 4));
    sample loss = sample_new(ACL_FLOAT, "g", DIMS(3)), back = sample_new(ACL_FLOAT, "g10", DIMS(3, 4));
    sample whole = sample_new(ACL_INT32, "", DIMS(3, 4));
    double sums[3] = {0, 0, 0}, want[3] = {0, 0, 0};
    sample_fill(&x, -3, 3);
    sample_fill(&labels, 0, 1);
    for (int i = 0; i < 12; i++) sums[i / 4] += exp(sample_get(&x, i));
    for (int i = 0; i < 12; i++) want[i / 4] += sample_get(&labels, i) * (log(sums[i / 4]) - sample_get(&x, i));
    aclTensor *X = H(x), *L = H(labels), *R = H(loss), *B = H(back);
    LAUNCH(aclnnSoftmaxCrossEntropyWithLogits, X, L, R, B);
    CHECK_ALL(loss, 2, want[i]);
    for (int i = 0; i < 12; i++)
        CHECK(fabs(sample_get(&back, i) - (exp(sample_get(&x, i)) / sums[i / 4] - sample_get(&labels, i))) < 1e-6);
    LAUNCH(aclnnSoftmaxCrossEntropyWithLogits, X, L, R, X);
    for (int i = 0; i < 12; i++) CHECK(sample_get(&x, i) == sample_get(&back, i));
    REFUSED(161001, "features", aclnnSoftmaxCrossEntropyWithLogits, NULL, L, R, B);
    REFUSED(161001, "labels", aclnnSoftmaxCrossEntropyWithLogits, X, NULL, R, B);
    REFUSED(161001, "loss", aclnnSoftmaxCrossEntropyWithLogits, X, L, NULL, B);
    REFUSED(161001, "backprop", aclnnSoftmaxCrossEntropyWithLogits, X, L, R, NULL);
    REFUSED(161002, "labels has data type INT32", aclnnSoftmaxCrossEntropyWithLogits, X, H(whole), R, B);
    REFUSED(161002, "expected 2 dimensions", aclnnSoftmaxCrossEntropyWithLogits, R, R, R, R);
    REFUSED(161002, "loss has shape [3, 4], expected [3]", aclnnSoftmaxCrossEntropyWithLogits, X, L, X, B);
    REFUSED(161002, "backprop has shape [3]", aclnnSoftmaxCrossEntropyWithLogits, X, L, R, R);
    aclTensor *nowhere = tensor_nowhere(ACL_FLOAT, DIMS(3));
    LAUNCH_EXPECTING(507015, aclnnSoftmaxCrossEntropyWithLogits, X, L, nowhere, B);
    CHECK(aclDestroyTensor(nowhere) == 0);
    sample *all[] = {&x, &labels, &loss, &back, &whole};
    for (int i = 0; i < 5; i++) sample_free(all[i]);
}

/* Training and its gradient, which has to be that of the sum of products with `g`, by differences. */
static double batch_loss(sample *x, sample *y, sample *g, sample *weight, sample *saved) {
    double sum = 0;
    LAUNCH(aclnnBatchNorm, H(*x), H(*weight), NULL, NULL, NULL, true, 0.1, 0.01, H(*y), H(saved[0]), H(saved[1]));
    for (int i = 0; i < 24; i++) sum += sample_get(y, i) * sample_get(g, i);
    return sum;
}

static void batch_norm_learns(void) {
    sample x = sample_new(ACL_FLOAT, "g210", DIMS(4, 2, 3)), y = sample_new(ACL_FLOAT, "", DIMS(4, 2, 3));
    sample g = sample_new(ACL_FLOAT, "", DIMS(4, 2, 3)), dx = sample_new(ACL_FLOAT, "", DIMS(4, 2, 3));
    sample weight = sample_new(ACL_FLOAT, "", DIMS(2)), dw = sample_new(ACL_FLOAT, "", DIMS(2));
    sample running[] = {sample_new(ACL_FLOAT, "", DIMS(2)), sample_new(ACL_FLOAT, "", DIMS(2))};
    sample saved[] = {sample_new(ACL_FLOAT, "", DIMS(2)), sample_new(ACL_FLOAT, "", DIMS(2))};
    bool which[] = {true, true, false};
    aclBoolArray *mask = aclCreateBoolArray(which, 3), *short_mask = aclCreateBoolArray(which, 2);
    double sum = 0, squares = 0;
    sample_fill(&x, -2, 2);
    sample_fill(&g, -1, 1);
    sample_fill(&weight, 1, 2);
    for (int k = 0; k < 2; k++) sample_fill(&running[k], 3, 4);
    const double before[] = {sample_get(&running[0], 1), sample_get(&running[1], 1)};
    for (int i = 0; i < 24; i++) sum += i / 3 % 2 == 1 ? sample_get(&x, i) : 0;
    for (int i = 0; i < 24; i++)
        squares += i / 3 % 2 == 1 ? (sample_get(&x, i) - sum / 12) * (sample_get(&x, i) - sum / 12) : 0;
    LAUNCH(aclnnBatchNorm, H(x), H(weight), NULL, H(running[0]), H(running[1]), true, 0.25, 0.01, H(y), H(saved[0]),
        H(saved[1]));
    CHECK(close_to(ACL_FLOAT, sample_get(&saved[0], 1), sum / 12, 8));
    CHECK(close_to(ACL_FLOAT, sample_get(&saved[1], 1), 1 / sqrt(squares / 12 + 0.01), 2));
    CHECK(close_to(ACL_FLOAT, sample_get(&running[0], 1), 0.75 * before[0] + 0.25 * sum / 12, 2));
    CHECK(close_to(ACL_FLOAT, sample_get(&running[1], 1), 0.75 * before[1] + 0.25 * squares / 11, 2));
    LAUNCH(aclnnBatchNormBackward, H(g), H(x), H(weight), NULL, NULL, H(saved[0]), H(saved[1]), true, 0.01, mask,
        H(dx), H(dw), NULL);
    for (int i = 0; i < 24; i++) {
        const double at = sample_get(&x, i), step = 1.0 / 64;
        sample_set(&x, i, at + step);
        const double more = batch_loss(&x, &y, &g, &weight, saved);
        sample_set(&x, i, at - step);
        const double less = batch_loss(&x, &y, &g, &weight, saved);
        sample_set(&x, i, at);
        CHECK(fabs((more - less) / (2 * step) - sample_get(&dx, i)) < 2e-3);
    }
    aclTensor *X = H(x), *W = H(weight);
    REFUSED(161001, "saveMean", aclnnBatchNorm, X, W, NULL, NULL, NULL, true, 0.1, 0, H(y), NULL, W);
    REFUSED(161001, "saveInvstd", aclnnBatchNorm, X, W, NULL, NULL, NULL, true, 0.1, 0, H(y), W, NULL);
    REFUSED(161002, "saveMean has shape", aclnnBatchNorm, X, W, NULL, NULL, NULL, true, 0.1, 0, H(y), X, W);
#define BACKWARD(G, MEAN, RUNNING, TRAINING, MASK, DX, DW, DB) \
    G, X, W, RUNNING, RUNNING, MEAN, MEAN, TRAINING, 0, MASK, DX, DW, DB
    REFUSED(161001, "gradOut", aclnnBatchNormBackward, BACKWARD(NULL, W, W, true, mask, X, W, NULL));
    REFUSED(161001, "saveMean", aclnnBatchNormBackward, BACKWARD(X, NULL, W, true, mask, X, W, NULL));
    REFUSED(161001, "runningMean", aclnnBatchNormBackward, BACKWARD(X, W, NULL, false, mask, X, W, NULL));
    REFUSED(161001, "outputMask", aclnnBatchNormBackward, BACKWARD(X, W, W, true, NULL, X, W, NULL));
    REFUSED(161002, "outputMask is not", aclnnBatchNormBackward,
        BACKWARD(X, W, W, true, (aclBoolArray *)(void *)X, X, W, NULL));
    REFUSED(161002, "outputMask has 2", aclnnBatchNormBackward, BACKWARD(X, W, W, true, short_mask, X, W, NULL));
    REFUSED(161001, "gradWeight", aclnnBatchNormBackward, BACKWARD(X, W, W, true, mask, X, NULL, NULL));
    REFUSED(161002, "gradWeight has shape", aclnnBatchNormBackward, BACKWARD(X, W, W, true, mask, X, X, NULL));
    REFUSED(161002, "gradOut has shape", aclnnBatchNormBackward, BACKWARD(W, W, W, true, mask, X, W, NULL));
    aclTensor *nowhere = tensor_nowhere(ACL_FLOAT, DIMS(2));
    LAUNCH_EXPECTING(507015, aclnnBatchNormBackward, BACKWARD(X, nowhere, W, true, mask, X, W, NULL));
    CHECK(aclDestroyTensor(nowhere) == 0);
    CHECK(aclDestroyBoolArray(mask) == 0 && aclDestroyBoolArray(short_mask) == 0);
    sample *all[] = {&x, &y, &g, &dx, &weight, &dw, &running[0], &running[1], &saved[0], &saved[1]};
    for (int i = 0; i < 10; i++) sample_free(all[i]);
}

/* What a graph is captured with: the lengths are left out of it. */
static void most_workspace_of_attention(void) {
    sample x = sample_new(ACL_FLOAT16, "", DIMS(1, 6, 16)), out = sample_new(ACL_FLOAT16, "", DIMS(1, 6, 16));
    const int64_t shape[] = {1, 6, 16}, dense[] = {96, 16, 1}, count = 96;
    aclTensor *parts[2];
    for (int k = 0; k < 2; k++)
        parts[k] = aclCreateTensor(shape, 3, ACL_FLOAT16, dense, 0, ACL_FORMAT_ND, &count, 1, x.memory);
    aclTensorList *keys = aclCreateTensorList((const aclTensor *const *)parts, 1), *values = aclCreateTensorList((const aclTensor *const *)parts + 1, 1);
    aclIntArray *lengths = aclCreateIntArray((int64_t[]){2}, 1), *many = aclCreateIntArray((int64_t[]){900}, 1);
    char layout[] = "BSH";
#define NULLS8 NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
#define FUSED(LENGTHS, MORE) H(x), keys, values, NULL, NULL, LENGTHS, LENGTHS, NULLS8, NULLS8, NULL, NULL, NULL, NULL, \
    MORE 2, 0.5, 900, 900, layout, 2, 0, 0, 0, 0, false, 0, 0
    uint64_t most = 1, each = 2;
    aclOpExecutor *executor = NULL;
#define ASK(VERSION, SUFFIX, SIZE, ...)                                                              \
    CHECK(aclnnFusedInferAttentionScore##VERSION##SUFFIX(__VA_ARGS__, H(out), NULL, &SIZE, &executor) == 0); \
    CHECK(aclDestroyAclOpExecutor(executor) == 0)
    ASK(V3, GetWorkspaceSize, each, FUSED(NULL,));
    ASK(V3, GetMaxWorkspaceSize, most, FUSED(many,));
    CHECK(most == each);
    ASK(V3, GetWorkspaceSize, each, FUSED(lengths,));
    CHECK(most >= each);
#define V4_MORE NULL, NULL,
    ASK(V4, GetMaxWorkspaceSize, each, FUSED(many, V4_MORE), 0);
    CHECK(most == each);
    CHECK(aclDestroyTensorList(keys) == 0 && aclDestroyTensorList(values) == 0);
    CHECK(aclDestroyIntArray(lengths) == 0 && aclDestroyIntArray(many) == 0);
    sample_free(&x);
    sample_free(&out);
}

int main(void) {
    short_rstd();
    products_in_other_floats();
    storages_named_otherwise();
    cast_into_one_element();
    results_in_place();
    sequences_of_any_shape();
    sums_of_one_element();
    indices_from_the_end();
    softmax_losses();
    batch_norm_learns();
    most_workspace_of_attention();
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_strangers: ok");
    return 0;
}
