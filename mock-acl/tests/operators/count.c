/* Operators that count or collect, and copies of lists: what is refused and what fails on the device. */
#include "aclnnop/aclnn_bincount.h"
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "aclnnop/aclnn_foreach_copy.h"
#include "aclnnop/aclnn_foreach_zero_inplace.h"
#include "aclnnop/aclnn_histc.h"
#include "operators/support.h"

#define H(S) (S).handle

static sample filled(aclDataType type, int rank, const int64_t *dims, double value) {
    sample s = sample_new(type, "", rank, dims);
    for (int64_t i = 0; i < s.count; i++) sample_set(&s, i, value);
    return s;
}

static void gradients(void) {
    sample grad = filled(ACL_FLOAT, DIMS(3, 2), 1), index = filled(ACL_INT64, DIMS(3), 1);
    sample out = filled(ACL_FLOAT, DIMS(4, 2), 9), flat = filled(ACL_FLOAT, DIMS(6), 0);
    sample half = filled(ACL_FLOAT16, DIMS(4, 2), 0), point = filled(ACL_FLOAT, 0, (int64_t[]){0}, 0);
    sample eight = filled(ACL_INT64, DIMS(1, 1, 1, 1, 1, 1, 1, 1), 0);
    LAUNCH(aclnnEmbeddingDenseBackward, H(grad), H(index), 4, UINT64_MAX, false, H(out));
    CHECK_ALL(out, 0, i / 2 == 1 ? 3 : 0);
    REFUSED(161001, "grad is a null", aclnnEmbeddingDenseBackward, NULL, H(index), 4, 0, false, H(out));
    REFUSED(161001, "indices is a null", aclnnEmbeddingDenseBackward, H(grad), NULL, 4, 0, false, H(out));
    REFUSED(161001, "out is a null", aclnnEmbeddingDenseBackward, H(grad), H(index), 4, 0, false, NULL);
    REFUSED(161002, "scaleGradByFreq", aclnnEmbeddingDenseBackward, H(grad), H(index), 4, 0, true, H(out));
    REFUSED(161002, "indices has data type FLOAT", aclnnEmbeddingDenseBackward, H(grad), H(flat), 4, 0,
        false, H(out));
    REFUSED(161002, "grad has shape [6]", aclnnEmbeddingDenseBackward, H(flat), H(index), 4, 0, false,
        H(out));
    REFUSED(161002, "grad has no dimension", aclnnEmbeddingDenseBackward, H(point), H(index), 4, 0, false,
        H(out));
    REFUSED(161002, "indices has 8", aclnnEmbeddingDenseBackward, H(grad), H(eight), 4, 0, false, H(out));
    REFUSED(161002, "out has shape [4, 2], expected [5, 2]", aclnnEmbeddingDenseBackward, H(grad), H(index),
        5, 0, false,
        H(out));
    REFUSED(161002, "out has data type FLOAT16", aclnnEmbeddingDenseBackward, H(grad), H(index), 4, 0, false,
        H(half));
    sample_set(&index, 2, 4);
    LAUNCH_EXPECTING(507015, aclnnEmbeddingDenseBackward, H(grad), H(index), 4, 0, false, H(out));
    sample *all[] = {&grad, &index, &out, &flat, &half, &point, &eight};
    for (int i = 0; i < 7; i++) sample_free(all[i]);
}

static void counts(void) {
    sample x = filled(ACL_INT32, DIMS(3), 1), out = filled(ACL_INT64, DIMS(4), 0);
    sample real = filled(ACL_FLOAT, DIMS(4), 0), square = filled(ACL_INT64, DIMS(2, 2), 0);
    sample truth = filled(ACL_BOOL, DIMS(4), 0), weights = filled(ACL_FLOAT, DIMS(3), 0.5);
    LAUNCH(aclnnBincount, H(x), NULL, 4, H(out));
    CHECK_ALL(out, 0, i == 1 ? 3 : 0);
    LAUNCH(aclnnBincount, H(x), H(weights), 0, H(real));
    CHECK_ALL(real, 0, i == 1 ? 1.5 : 0);
    REFUSED(161001, "self is a null", aclnnBincount, NULL, NULL, 0, H(out));
    REFUSED(161001, "out is a null", aclnnBincount, H(x), NULL, 0, NULL);
    REFUSED(161002, "self has data type FLOAT", aclnnBincount, H(real), NULL, 0, H(out));
    REFUSED(161002, "self has 2 dimensions", aclnnBincount, H(square), NULL, 0, H(out));
    REFUSED(161002, "minlength is 5", aclnnBincount, H(x), NULL, 5, H(out));
    REFUSED(161002, "minlength is -1", aclnnBincount, H(x), NULL, -1, H(out));
    REFUSED(161002, "weights has shape [4]", aclnnBincount, H(x), H(real), 0, H(real));
    REFUSED(161002, "out has data type INT64", aclnnBincount, H(x), H(weights), 0, H(out));
    REFUSED(161002, "out has data type BOOL", aclnnBincount, H(x), NULL, 0, H(truth));
    sample_set(&x, 0, 4);
    LAUNCH_EXPECTING(507015, aclnnBincount, H(x), NULL, 0, H(out));
    sample_set(&x, 0, -1);
    LAUNCH_EXPECTING(507015, aclnnBincount, H(x), NULL, 0, H(out));
    aclScalar *zero = scalar_float(0), *one = scalar_float(1), *nan = scalar_float(NAN);
    LAUNCH(aclnnHistc, H(weights), 4, zero, one, H(real));
    CHECK_ALL(real, 0, i == 2 ? 3 : 0);
    sample_set(&weights, 1, (double)NAN);
    LAUNCH(aclnnHistc, H(weights), 4, zero, one, H(real));
    CHECK_ALL(real, 0, i == 2 ? 2 : 0);
    /* The range of the elements has to be one. */
    LAUNCH_EXPECTING(507015, aclnnHistc, H(weights), 4, zero, zero, H(real));
    REFUSED(161001, "self is a null", aclnnHistc, NULL, 4, zero, one, H(real));
    REFUSED(161001, "max is a null", aclnnHistc, H(weights), 4, zero, NULL, H(real));
    REFUSED(161002, "bins is 0", aclnnHistc, H(weights), 0, zero, one, H(real));
    REFUSED(161002, "min 1 is not at most max 0", aclnnHistc, H(weights), 4, one, zero, H(real));
    REFUSED(161002, "is not at most", aclnnHistc, H(weights), 4, nan, one, H(real));
    REFUSED(161002, "out has shape [4], expected [5]", aclnnHistc, H(weights), 5, zero, one, H(real));
    REFUSED(161002, "BOOL is not supported", aclnnHistc, H(truth), 4, zero, one, H(real));
    REFUSED(161002, "BOOL is not supported", aclnnHistc, H(weights), 4, zero, one, H(truth));
    CHECK(aclDestroyScalar(zero) == 0 && aclDestroyScalar(one) == 0 && aclDestroyScalar(nan) == 0);
    sample *all[] = {&x, &out, &real, &square, &truth, &weights};
    for (int i = 0; i < 6; i++) sample_free(all[i]);
}

static void copies(void) {
    sample a = filled(ACL_FLOAT, DIMS(2), 1.5), b = filled(ACL_INT32, DIMS(2), 0), c = filled(ACL_INT32,
        DIMS(3), 7);
    aclTensorList *from = aclCreateTensorList((const aclTensor *[]){H(a)}, 1);
    aclTensorList *to = aclCreateTensorList((const aclTensor *[]){H(b)}, 1);
    aclTensorList *two = aclCreateTensorList((const aclTensor *[]){H(b), H(c)}, 2);
    aclTensorList *wide = aclCreateTensorList((const aclTensor *[]){H(c)}, 1);
    LAUNCH(aclnnForeachCopy, from, to);
    CHECK_ALL(b, 0, 1);
    LAUNCH(aclnnForeachZeroInplace, wide);
    CHECK_ALL(c, 0, 0);
    REFUSED(161001, "x is a null", aclnnForeachCopy, NULL, to);
    REFUSED(161001, "x is a null", aclnnForeachZeroInplace, NULL);
    REFUSED(161002, "out has 2 tensors, x has 1", aclnnForeachCopy, from, two);
    REFUSED(161002, "out[0] has shape [3]", aclnnForeachCopy, from, wide);
    CHECK(aclSetRawTensorAddr(H(b), NULL) == 0);
    LAUNCH_EXPECTING(507015, aclnnForeachCopy, from, to);
    LAUNCH_EXPECTING(507015, aclnnForeachZeroInplace, to);
    CHECK(aclDestroyTensorList(from) == 0 && aclDestroyTensorList(two) == 0);
    CHECK(aclDestroyTensorList(to) == 161002 && aclDestroyTensorList(wide) == 161002);
    device_free(a.memory);
    device_free(b.memory);
    device_free(c.memory);
}

int main(void) {
    gradients();
    counts();
    copies();
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_count: ok");
    return 0;
}
