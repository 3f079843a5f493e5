/* What reductions and running results refuse, and bad addresses. Their values are compared with NumPy. */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/support.h"


#define ALL_DIMS aclCreateIntArray(NULL, 0)

typedef struct tensors {
    sample x, h, n, t, three, two, one, keep, index, empty, none;
    aclIntArray *all, *last, *twice, *far;
    aclScalar *p, *least;
} tensors;

static tensors begin(void) {
    tensors t = {
        .x = sample_new(ACL_FLOAT, "", DIMS(3, 4)), .h = sample_new(ACL_FLOAT16, "", DIMS(3)),
        .n = sample_new(ACL_INT32, "", DIMS(3, 4)), .t = sample_new(ACL_BOOL, "", DIMS(3)),
        .three = sample_new(ACL_FLOAT, "", DIMS(3)), .two = sample_new(ACL_INT32, "", DIMS(3)),
        .one = sample_new(ACL_FLOAT, "", 0, NULL), .keep = sample_new(ACL_FLOAT, "", DIMS(3, 1)),
        .index = sample_new(ACL_INT64, "", DIMS(3, 4)), .empty = sample_new(ACL_FLOAT, "", DIMS(3, 0)),
        .none = sample_new(ACL_INT64, "", 0, NULL),
        .all = ALL_DIMS, .last = aclCreateIntArray((int64_t[]){-1}, 1),
        .twice = aclCreateIntArray((int64_t[]){1, -1}, 2), .far = aclCreateIntArray((int64_t[]){2}, 1),
        .p = scalar_float(2), .least = scalar_float(-INFINITY),
    };
    sample_fill(&t.x, 0, 1);
    return t;
}

static void end(tensors *t) {
    sample *samples[] = {&t->x, &t->h, &t->n, &t->t, &t->three, &t->two, &t->one, &t->keep, &t->index,
        &t->empty,
        &t->none};
    for (int i = 0; i < 11; i++) sample_free(samples[i]);
    aclDestroyIntArray(t->all);
    aclDestroyIntArray(t->last);
    aclDestroyIntArray(t->twice);
    aclDestroyIntArray(t->far);
    aclDestroyScalar(t->p);
    aclDestroyScalar(t->least);
}

static void bad_extremes(void) {
    tensors t = begin();
    REFUSED(161001, "aclnnAmax: self is a null", aclnnAmax, NULL, t.last, false, t.three.handle);
    REFUSED(161001, "aclnnAmin: out is a null", aclnnAmin, t.x.handle, t.last, false, NULL);
    REFUSED(161001, "dim is a null", aclnnAmax, t.x.handle, NULL, false, t.three.handle);
    REFUSED(161001, "dims is a null", aclnnMaxV2, t.x.handle, NULL, false, false, t.three.handle);
    REFUSED(161001, "aclnnMax: self", aclnnMax, NULL, t.one.handle);
    REFUSED(161001, "aclnnMin: out", aclnnMin, t.x.handle, NULL);
    REFUSED(161001, "maxOut", aclnnAminmax, t.x.handle, t.last, false, t.three.handle, NULL);
    REFUSED(161001, "maxOut", aclnnAminmaxDim, t.x.handle, 1, false, t.three.handle, NULL);
    REFUSED(161001, "minOut", aclnnAminmaxAll, t.x.handle, NULL, t.one.handle);
    REFUSED(161002, "dim names dimension 1 twice", aclnnAmax, t.x.handle, t.twice, false, t.three.handle);
    REFUSED(161002, "dim 2 is out of range", aclnnAmin, t.x.handle, t.far, false, t.three.handle);
    REFUSED(161002, "dim -3 is out of range", aclnnAminmaxDim, t.x.handle, -3, false, t.three.handle,
        t.three.handle);
    REFUSED(161002, "[3], expected [3, 1]", aclnnAmax, t.x.handle, t.last, true, t.three.handle);
    REFUSED(161002, "[3, 1], expected [3]", aclnnAmax, t.x.handle, t.last, false, t.keep.handle);
    REFUSED(161002, "the second result has shape [3, 1]", aclnnAminmax, t.x.handle, t.last, false,
        t.three.handle, t.keep.handle);
    REFUSED(161002, "[3], expected [3, 4]", aclnnMaxV2, t.x.handle, t.all, true, true, t.three.handle);
    REFUSED(161002, "data type FLOAT16, self has FLOAT", aclnnAmax, t.x.handle, t.last, false, t.h.handle);
    REFUSED(161002, "no extreme of no elements", aclnnAmax, t.empty.handle, t.last, false, t.three.handle);
    REFUSED(161002, "no extreme of no elements", aclnnMax, t.empty.handle, t.one.handle);
    end(&t);
}

static void bad_truths_and_products(void) {
    tensors t = begin();
    REFUSED(161001, "aclnnAll: self", aclnnAll, NULL, t.last, false, t.t.handle);
    REFUSED(161001, "dim", aclnnAny, t.x.handle, NULL, false, t.t.handle);
    REFUSED(161002, "expected BOOL or UINT8", aclnnAll, t.x.handle, t.last, false, t.three.handle);
    REFUSED(161002, "expected BOOL or UINT8", aclnnAny, t.x.handle, t.last, false, t.two.handle);
    REFUSED(161001, "aclnnProd: out", aclnnProd, t.x.handle, ACL_FLOAT, NULL);
    REFUSED(161001, "aclnnProdDim: self", aclnnProdDim, NULL, 0, false, ACL_FLOAT, t.three.handle);
    REFUSED(161002, "dtype is FLOAT16", aclnnProd, t.x.handle, ACL_FLOAT16, t.one.handle);
    REFUSED(161002, "dim 5", aclnnProdDim, t.x.handle, 5, false, ACL_FLOAT, t.three.handle);
    REFUSED(161002, "type FLOAT cannot be reduced to INT32", aclnnProdDim, t.x.handle, 1, false, ACL_INT32,
        t.two.handle);
    sample truth = sample_new(ACL_BOOL, "", 0, NULL);
    REFUSED(161002, "cannot be reduced to BOOL", aclnnProd, t.t.handle, ACL_BOOL, truth.handle);
    sample_free(&truth);
    REFUSED(161002, "cannot be reduced to INT32", aclnnReduceNansum, t.x.handle, t.last, false, ACL_INT32,
        t.two.handle);
    REFUSED(161001, "dim", aclnnReduceNansum, t.x.handle, NULL, false, ACL_FLOAT, t.three.handle);
    end(&t);
}

static void bad_floats(void) {
    tensors t = begin();
    REFUSED(161002, "FLOAT cannot be reduced to INT32", aclnnMeanV2, t.x.handle, t.last, false, false,
        t.two.handle);
    REFUSED(161001, "axes", aclnnReduceLogSum, t.x.handle, NULL, false, false, t.three.handle);
    REFUSED(161001, "reduce", aclnnReduceLogSum, t.x.handle, t.last, false, false, NULL);
    REFUSED(161002, "cannot be reduced", aclnnLogSumExp, t.x.handle, t.last, false, t.two.handle);
    REFUSED(161002, "INT32 cannot be reduced to FLOAT", aclnnVar, t.n.handle, t.last, true, false,
        t.three.handle);
    REFUSED(161002, "INT32 cannot be reduced to FLOAT", aclnnStd, t.n.handle, t.last, 1, false,
        t.three.handle);
    REFUSED(161001, "dim", aclnnVarCorrection, t.x.handle, NULL, 1, false, t.three.handle);
    REFUSED(161001, "meanOut", aclnnVarMean, t.x.handle, t.last, 1, false, t.three.handle, NULL);
    REFUSED(161001, "stdOut", aclnnStdMeanCorrection, t.x.handle, t.last, 1, false, NULL, t.three.handle);
    REFUSED(161001, "pScalar", aclnnNorm, t.x.handle, NULL, t.last, false, t.three.handle);
    REFUSED(161001, "ord", aclnnLinalgVectorNorm, t.x.handle, NULL, t.last, false, ACL_FLOAT, t.three.handle);
    REFUSED(161002, "INT32 cannot be reduced", aclnnNorm, t.n.handle, t.p, t.last, false, t.three.handle);
    REFUSED(161002, "dtype is FLOAT16", aclnnLinalgVectorNorm, t.x.handle, t.p, t.last, false, ACL_FLOAT16,
        t.three.handle);
    REFUSED(161002, "no norm of order -inf", aclnnNorm, t.empty.handle, t.least, t.last, false,
        t.three.handle);
    aclScalar *minus = scalar_float(-2), *greatest = scalar_float(INFINITY);
    REFUSED(161002, "no norm of order -2", aclnnNorm, t.empty.handle, minus, t.last, false, t.three.handle);
    REFUSED(161002, "no norm of order inf", aclnnNorm, t.empty.handle, greatest, t.last, false,
        t.three.handle);
    LAUNCH(aclnnNorm, t.empty.handle, t.p, t.last, false, t.three.handle);
    CHECK_ALL(t.three, 0, 0.0)
    aclDestroyScalar(minus);
    aclDestroyScalar(greatest);
    end(&t);
}

static void bad_scans(void) {
    tensors t = begin();
    aclScalar *zero = scalar_int(0), *two = scalar_int(2);
    REFUSED(161001, "self", aclnnCummax, NULL, 0, t.x.handle, t.index.handle);
    REFUSED(161001, "indicesOut", aclnnCummin, t.x.handle, 0, t.x.handle, NULL);
    REFUSED(161002, "dim 2", aclnnCummax, t.x.handle, 2, t.x.handle, t.index.handle);
    REFUSED(161002, "expected INT64 or INT32", aclnnCummax, t.x.handle, 0, t.x.handle, t.x.handle);
    REFUSED(161002, "indicesOut has shape [3]", aclnnCummax, t.x.handle, 0, t.x.handle, t.two.handle);
    REFUSED(161002, "the result has shape [3]", aclnnCummax, t.x.handle, 0, t.three.handle, t.index.handle);
    REFUSED(161002, "data type INT32, self has FLOAT", aclnnCummin, t.x.handle, 0, t.n.handle,
        t.index.handle);
    REFUSED(161001, "dim", aclnnCumprod, t.x.handle, NULL, ACL_FLOAT, t.x.handle);
    REFUSED(161001, "dim", aclnnInplaceCumprod, t.x.handle, NULL);
    REFUSED(161002, "dim 2", aclnnInplaceCumprod, t.x.handle, two);
    REFUSED(161002, "dtype is FLOAT16", aclnnCumprod, t.x.handle, zero, ACL_FLOAT16, t.x.handle);
    REFUSED(161002, "data type INT32, self has FLOAT", aclnnCumprod, t.x.handle, zero, ACL_INT32, t.n.handle);
    REFUSED(161002, "data type FLOAT, self has INT32", aclnnCumsumV2, t.n.handle, 0, false, false,
        t.x.handle);
    REFUSED(161001, "out", aclnnCumsumV2, t.n.handle, 0, false, false, NULL);
    REFUSED(161002, "k is 0", aclnnTopk, t.one.handle, 0, 0, true, true, t.one.handle, t.none.handle);
    aclDestroyScalar(zero);
    aclDestroyScalar(two);
    end(&t);
}

static void bad_addresses_fail_the_task(void) {
    tensors t = begin();
    aclTensor *nowhere = tensor_nowhere(ACL_FLOAT, DIMS(3, 4)), *result = tensor_nowhere(ACL_FLOAT, DIMS(3));
    LAUNCH_EXPECTING(507015, aclnnAmax, nowhere, t.last, false, t.three.handle);
    LAUNCH_EXPECTING(507015, aclnnAmax, t.x.handle, t.last, false, result);
    LAUNCH_EXPECTING(507015, aclnnAminmax, t.x.handle, t.last, false, t.three.handle, result);
    LAUNCH_EXPECTING(507015, aclnnCummax, nowhere, 0, t.x.handle, t.index.handle);
    LAUNCH_EXPECTING(507015, aclnnReduceSum, nowhere, t.last, false, ACL_FLOAT, t.three.handle);
    aclDestroyTensor(nowhere);
    aclDestroyTensor(result);
    end(&t);
}

int main(void) {
    bad_extremes();
    bad_truths_and_products();
    bad_floats();
    bad_scans();
    bad_addresses_fail_the_task();
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_reductions: ok");
    return 0;
}
