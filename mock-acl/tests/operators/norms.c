/* What softmax, norms, gates and losses refuse, and bad addresses. Their values are compared with NumPy. */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/support.h"

static void bad_softmaxes(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(3, 4)), n = sample_new(ACL_INT32, "", DIMS(3, 4));
    sample y = sample_new(ACL_FLOAT, "", DIMS(4));
    REFUSED(161001, "aclnnLogSoftmax: self", aclnnLogSoftmax, NULL, 0, x.handle);
    REFUSED(161001, "out", aclnnLogSoftmax, x.handle, 0, NULL);
    REFUSED(161002, "dim 2", aclnnLogSoftmax, x.handle, 2, x.handle);
    REFUSED(161002, "INT32", aclnnLogSoftmax, n.handle, 0, x.handle);
    REFUSED(161002, "INT32", aclnnLogSoftmax, x.handle, 0, n.handle);
    REFUSED(161002, "[4], expected [3, 4]", aclnnLogSoftmax, x.handle, 0, y.handle);
    aclIntArray *four = aclCreateIntArray((int64_t[]){4}, 1);
    REFUSED(161002, "implMode is 3", aclnnLayerNormWithImplMode, x.handle, four, NULL, NULL, 0, x.handle,
        NULL,
        NULL, 3);
    REFUSED(161002, "implMode is -1", aclnnLayerNormWithImplMode, x.handle, four, NULL, NULL, 0, x.handle,
        NULL,
        NULL, -1);
    REFUSED(161001, "aclnnFastLayerNorm: input", aclnnFastLayerNorm, NULL, four, NULL, NULL, 0, x.handle,
        NULL,
        NULL);
    aclDestroyIntArray(four);
    sample_free(&x);
    sample_free(&n);
    sample_free(&y);
}

static void log_softmax_keeps_to_its_workspace(void) {
    sample x = sample_new(ACL_FLOAT16, "g10", DIMS(70, 3)), y = sample_new(ACL_FLOAT, "10", DIMS(70, 3));
    sample_fill(&x, -4, 4);
    LAUNCH(aclnnLogSoftmax, x.handle, 0, y.handle);
    for (int column = 0; column < 3; column++) {
        double sum = 0;
        for (int k = 0; k < 70; k++) sum += exp(sample_get(&x, 3 * k + column));
        for (int k = 0; k < 70; k++) {
            const double want = sample_get(&x, 3 * k + column) - log(sum);
            CHECK(fabs(sample_get(&y, 3 * k + column) - want) < 2e-6);
        }
    }
    sample_free(&x);
    sample_free(&y);
}

typedef struct norms {
    sample x, h, n, one, six, four, pairs, full, dims;
} norms;

static norms begin(void) {
    return (norms){
        sample_new(ACL_FLOAT, "", DIMS(2, 6, 3, 4)), sample_new(ACL_FLOAT16, "", DIMS(2, 6, 3, 4)),
        sample_new(ACL_INT32, "", DIMS(2, 6, 3, 4)), sample_new(ACL_FLOAT, "", DIMS(6)),
        sample_new(ACL_FLOAT, "", DIMS(2, 3)), sample_new(ACL_FLOAT, "", DIMS(4)),
        sample_new(ACL_FLOAT, "", DIMS(2, 2)), sample_new(ACL_FLOAT, "", DIMS(2, 6, 1, 1)),
        sample_new(ACL_FLOAT, "", DIMS(2, 6, 12)),
    };
}

static void end(norms *t) {
    sample *samples[] = {&t->x, &t->h, &t->n, &t->one, &t->six, &t->four, &t->pairs, &t->full, &t->dims};
    for (int i = 0; i < 9; i++) sample_free(samples[i]);
}

#define GROUPS(X, W, B, OUT, MEAN, RSTD) X, W, B, 2, 6, 12, 3, 1e-5, OUT, MEAN, RSTD

static void bad_group_norms(void) {
    norms t = begin();
    aclTensor *x = t.x.handle, *w = t.one.handle, *m = t.six.handle;
    REFUSED(161001, "aclnnGroupNorm: self", aclnnGroupNorm, GROUPS(NULL, w, w, x, m, m));
    REFUSED(161001, "out", aclnnGroupNorm, GROUPS(x, w, w, NULL, m, m));
    REFUSED(161001, "meanOut", aclnnGroupNorm, GROUPS(x, w, w, x, NULL, m));
    REFUSED(161001, "rstdOut", aclnnGroupNorm, GROUPS(x, w, w, x, m, NULL));
    REFUSED(161002, "operand 0 has data type INT32", aclnnGroupNorm, GROUPS(t.n.handle, w, w, x, m, m));
    REFUSED(161002, "FLOAT16, the input FLOAT", aclnnGroupNorm, GROUPS(x, w, w, t.h.handle, m, m));
    REFUSED(161002, "1 dimensions, expected 2", aclnnGroupNorm, GROUPS(w, NULL, NULL, w, m, m));
    REFUSED(161002, "the result has shape [6]", aclnnGroupNorm, GROUPS(x, w, w, w, m, m));
    REFUSED(161002, "gamma has shape [4]", aclnnGroupNorm, GROUPS(x, t.four.handle, w, x, m, m));
    REFUSED(161002, "beta has shape [4]", aclnnGroupNorm, GROUPS(x, w, t.four.handle, x, m, m));
    REFUSED(161002, "the mean has shape [2, 2], expected [2, 3]", aclnnGroupNorm,
        GROUPS(x, w, w, x, t.pairs.handle, m));
    REFUSED(161002, "the deviation has shape [2, 2]", aclnnGroupNorm, GROUPS(x, w, w, x, m, t.pairs.handle));
    REFUSED(161002, "N, C and HxW are 3, 6 and 12", aclnnGroupNorm, x, w, w, 3, 6, 12, 3, 0, x, m, m);
    REFUSED(161002, "N, C and HxW are 2, 5 and 12", aclnnGroupNorm, x, w, w, 2, 5, 12, 3, 0, x, m, m);
    REFUSED(161002, "N, C and HxW are 2, 6 and 13", aclnnGroupNorm, x, w, w, 2, 6, 13, 3, 0, x, m, m);
    REFUSED(161002, "group is 4 for 6 channels", aclnnGroupNormSilu, x, w, w, 4, 0, x, m, m);
    REFUSED(161002, "group is 0 for 6 channels", aclnnGroupNormSiluV2, x, w, w, 0, 0, true, x, m, m);
    REFUSED(161001, "self", aclnnGroupNormSilu, NULL, w, w, 3, 0, x, m, m);
    REFUSED(161001, "self", aclnnGroupNormSiluV2, NULL, w, w, 3, 0, true, x, m, m);
    aclTensor *nowhere = tensor_nowhere(ACL_FLOAT, DIMS(2, 6, 3, 4));
    LAUNCH_EXPECTING(507015, aclnnGroupNorm, GROUPS(nowhere, w, w, x, m, m));
    LAUNCH_EXPECTING(507015, aclnnGroupNorm, GROUPS(x, NULL, w, nowhere, m, m));
    aclDestroyTensor(nowhere);
    end(&t);
}

static void bad_instance_and_batch_norms(void) {
    norms t = begin();
    aclTensor *x = t.x.handle, *w = t.one.handle, *m = t.full.handle;
    REFUSED(161001, "gamma", aclnnInstanceNorm, x, NULL, w, "NCHW", 0, x, m, m);
    REFUSED(161001, "dataFormat", aclnnInstanceNorm, x, w, w, NULL, 0, x, m, m);
    REFUSED(161002, "dataFormat is NCWH", aclnnInstanceNorm, x, w, w, "NCWH", 0, x, m, m);
    REFUSED(161002, "operand 0 has 1 dimensions, expected 4", aclnnInstanceNorm, w, w, w, "NCHW", 0, x, m, m);
    REFUSED(161002, "operand 4 has 2 dimensions", aclnnInstanceNorm, x, w, w, "NHWC", 0, x, t.six.handle, m);
    REFUSED(161002, "gamma has shape [6], expected [4]", aclnnInstanceNorm, x, w, w, "NHWC", 0, x, m, m);
    REFUSED(161002, "beta has shape [4]", aclnnInstanceNorm, x, w, t.four.handle, "NCHW", 0, x, m, m);
    REFUSED(161002, "the mean has shape [2, 6, 3, 4]", aclnnInstanceNorm, x, w, w, "NCHW", 0, x, x, m);
    REFUSED(161001, "runningMean", aclnnBatchNorm, x, w, w, NULL, w, false, 0.1, 0, x, NULL, NULL);
    REFUSED(161001, "runningVar", aclnnBatchNorm, x, w, w, w, NULL, false, 0.1, 0, x, NULL, NULL);
    REFUSED(161002, "runningVar has shape [4]", aclnnBatchNorm, x, w, w, w, t.four.handle, false, 0.1, 0, x,
        NULL, NULL);
    REFUSED(161002, "weight has shape [4]", aclnnBatchNorm, x, t.four.handle, w, w, w, false, 0.1, 0, x,
        NULL, NULL);
    REFUSED(161001, "invstd", aclnnBatchNormElemt, x, w, w, w, NULL, 0, x);
    REFUSED(161002, "mean has shape [4]", aclnnBatchNormElemt, x, w, w, t.four.handle, w, 0, x);
    aclTensor *foreign = (aclTensor *)(void *)&t;
    REFUSED(161002, "saveMean is not", aclnnBatchNorm, x, w, w, w, w, false, 0.1, 0, x, foreign, NULL);
    REFUSED(161002, "saveInvstd is not", aclnnBatchNorm, x, w, w, w, w, false, 0.1, 0, x, w, foreign);
    aclTensor *nowhere = tensor_nowhere(ACL_FLOAT, DIMS(6));
    LAUNCH_EXPECTING(507015, aclnnBatchNorm, x, w, w, nowhere, w, false, 0.1, 0, x, NULL, NULL);
    aclDestroyTensor(nowhere);
    end(&t);
}

static void bad_gates(void) {
    norms t = begin();
    aclTensor *x = t.x.handle;
    REFUSED(161001, "self", aclnnGeGlu, NULL, 1, 0, x, x);
    REFUSED(161001, "outGelu", aclnnGeGlu, x, 1, 0, x, NULL);
    REFUSED(161001, "out", aclnnGlu, x, 1, NULL);
    REFUSED(161002, "approximate is 2", aclnnGeGlu, x, 1, 2, x, x);
    REFUSED(161002, "approximate is -1", aclnnGeGluV3, x, 1, -1, true, x, x);
    REFUSED(161002, "data type INT32 beside INT32", aclnnGlu, t.n.handle, 1, t.n.handle);
    REFUSED(161002, "operand 1 has data type FLOAT16 beside FLOAT", aclnnGlu, x, 1, t.h.handle);
    REFUSED(161002, "dimension 2 has 3 elements", aclnnGlu, x, 2, x);
    REFUSED(161002, "dim 4", aclnnGlu, x, 4, x);
    REFUSED(161002, "[2, 6, 3, 4], expected [2, 3, 3, 4]", aclnnGeGluV3, x, 1, 0, false, x, x);
    sample flat = sample_new(ACL_FLOAT, "", 0, NULL), half = sample_new(ACL_FLOAT, "", DIMS(3));
    REFUSED(161002, "no dimension to halve", aclnnGlu, flat.handle, 0, flat.handle);
    aclTensor *nowhere = tensor_nowhere(ACL_FLOAT, DIMS(6));
    LAUNCH_EXPECTING(507015, aclnnGlu, nowhere, 0, half.handle);
    aclDestroyTensor(nowhere);
    sample_free(&flat);
    sample_free(&half);
    end(&t);
}

typedef struct losses {
    sample x, target, weight, rows, one, two, line, cube;
} losses;

#define CROSS(X, TARGET, W, HOW, OUT, LOG) X, TARGET, W, HOW, -100, 0, 0, false, OUT, LOG, NULL, NULL

static void check_losses(const losses *t) {
    aclTensor *x = t->x.handle, *c = t->target.handle, *w = t->weight.handle, *one = t->one.handle;
    aclTensor *rows = t->rows.handle;
    REFUSED(161001, "input", aclnnCrossEntropyLoss, CROSS(NULL, c, w, "sum", one, x));
    REFUSED(161001, "target", aclnnCrossEntropyLoss, CROSS(x, NULL, w, "sum", one, x));
    REFUSED(161001, "lossOut", aclnnCrossEntropyLoss, CROSS(x, c, w, "sum", NULL, x));
    REFUSED(161001, "logProbOut", aclnnCrossEntropyLoss, CROSS(x, c, w, "sum", one, NULL));
    REFUSED(161002, "reductionOptional is max", aclnnCrossEntropyLoss, CROSS(x, c, w, "max", one, x));
    REFUSED(161002, "operand 1 has data type FLOAT, expected INT32 or INT64", aclnnCrossEntropyLoss,
        CROSS(x, rows, w, "sum", one, x));
    REFUSED(161002, "operand 2 has data type INT32, expected FLOAT", aclnnCrossEntropyLoss,
        CROSS(x, c, c, "sum", one, x));
    REFUSED(161002, "1 dimensions, expected 2", aclnnCrossEntropyLoss, CROSS(rows, c, w, "sum", one, x));
    REFUSED(161002, "3 dimensions, expected 2", aclnnNLLLoss, t->cube.handle, c, w, 0, -100, rows, one);
    REFUSED(161002, "target has shape [2]", aclnnCrossEntropyLoss, CROSS(x, t->two.handle, w, "sum", one, x));
    REFUSED(161002, "weight has shape [3], expected [4]", aclnnCrossEntropyLoss,
        CROSS(x, c, rows, "sum", one, x));
    REFUSED(161002, "the loss has shape [], expected [3]", aclnnCrossEntropyLoss,
        CROSS(x, c, NULL, "none", one, x));
    REFUSED(161002, "the loss has shape [3], expected one element", aclnnCrossEntropyLoss,
        CROSS(x, c, NULL, NULL, rows, x));
    REFUSED(161002, "logProbOut has shape [3]", aclnnCrossEntropyLoss, CROSS(x, c, w, "mean", one, rows));
    REFUSED(161002, "returnZloss is true", aclnnCrossEntropyLoss, x, c, w, "sum", -100, 0, 0, true, one, x,
        NULL,
        NULL);
    REFUSED(161002, "labelSmoothing is 1.5", aclnnCrossEntropyLoss, x, c, w, "sum", -100, 1.5, 0, false, one,
        x,
        NULL, NULL);
    REFUSED(161002, "labelSmoothing is -1", aclnnCrossEntropyLoss, x, c, w, "sum", -100, -1, 0, false, one, x,
        NULL, NULL);
    aclTensor *foreign = (aclTensor *)(void *)&foreign;
    REFUSED(161002, "zlossOut is not a live", aclnnCrossEntropyLoss, x, c, w, "sum", -100, 0, 0, false, one,
        x, foreign, NULL);
    REFUSED(161002, "lseForZlossOut is not a live", aclnnCrossEntropyLoss, x, c, w, "sum", -100, 0, 0, false,
        one, x, NULL, foreign);
    REFUSED(161001, "weight", aclnnNLLLoss, x, c, NULL, 0, -100, rows, one);
    REFUSED(161002, "reduction is 3", aclnnNLLLoss, x, c, w, 3, -100, rows, one);
    REFUSED(161002, "reduction is -1", aclnnNLLLoss, x, c, w, -1, -100, rows, one);
    REFUSED(161002, "totalWeightOut has shape [3]", aclnnNLLLoss, x, c, w, 0, -100, rows, rows);
    REFUSED(161002, "target has shape [3], expected one", aclnnNLLLoss, t->line.handle, c, w, 0, -100, one,
        one);
}

static void bad_losses(void) {
    losses t = {
        sample_new(ACL_FLOAT, "", DIMS(3, 4)), sample_new(ACL_INT32, "", DIMS(3)),
        sample_new(ACL_FLOAT, "", DIMS(4)), sample_new(ACL_FLOAT, "", DIMS(3)),
        sample_new(ACL_FLOAT, "", 0, NULL), sample_new(ACL_INT64, "", DIMS(2)),
        sample_new(ACL_FLOAT, "", DIMS(4)), sample_new(ACL_FLOAT, "", DIMS(3, 4, 1)),
    };
    aclTensor *x = t.x.handle, *c = t.target.handle;
    check_losses(&t);
    sample_fill(&t.x, -1, 1);
    sample_fill(&t.target, 0, 4);
    for (int bad = -1; bad < 5; bad += 5) {
        sample_set(&t.target, 1, bad);
        LAUNCH_EXPECTING(507015, aclnnCrossEntropyLoss, CROSS(x, c, NULL, "sum", t.one.handle, x));
    }
    aclTensor *nowhere = tensor_nowhere(ACL_INT32, DIMS(3));
    LAUNCH_EXPECTING(507015, aclnnCrossEntropyLoss, CROSS(x, nowhere, NULL, "sum", t.one.handle, x));
    aclDestroyTensor(nowhere);
    sample *samples[] = {&t.x, &t.target, &t.weight, &t.rows, &t.one, &t.two, &t.line, &t.cube};
    for (int i = 0; i < 8; i++) sample_free(samples[i]);
}

int main(void) {
    bad_softmaxes();
    log_softmax_keeps_to_its_workspace();
    bad_group_norms();
    bad_instance_and_batch_norms();
    bad_gates();
    bad_losses();
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_norms: ok");
    return 0;
}
