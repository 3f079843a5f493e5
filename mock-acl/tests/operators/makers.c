/* What operators that make elements, and forms of sums and quotients, refuse; bad addresses. Their values
 * are compared with NumPy. */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/support.h"

typedef struct numbers {
    aclScalar *zero, *one, *five, *minus, *half, *infinite;
} numbers;

static numbers begin(void) {
    return (numbers){scalar_int(0), scalar_int(1), scalar_int(5), scalar_int(-1), scalar_float(0.5f),
        scalar_float(INFINITY)};
}

static void end(numbers *n) {
    aclScalar *all[] = {n->zero, n->one, n->five, n->minus, n->half, n->infinite};
    for (int i = 0; i < 6; i++) aclDestroyScalar(all[i]);
}

static void bad_sequences(void) {
    numbers n = begin();
    sample five = sample_new(ACL_FLOAT, "", DIMS(5)), flat = sample_new(ACL_FLOAT, "", DIMS(5, 1));
    aclTensor *out = five.handle;
    REFUSED(161001, "aclnnArange: start", aclnnArange, NULL, n.five, n.one, out);
    REFUSED(161001, "end", aclnnArange, n.zero, NULL, n.one, out);
    REFUSED(161001, "step", aclnnRange, n.zero, n.five, NULL, out);
    REFUSED(161001, "out", aclnnRange, n.zero, n.five, n.one, NULL);
    REFUSED(161002, "the step is 0", aclnnArange, n.zero, n.five, n.zero, out);
    REFUSED(161002, "not finite", aclnnArange, n.zero, n.infinite, n.one, out);
    REFUSED(161002, "the step -1 leads away", aclnnArange, n.zero, n.five, n.minus, out);
    REFUSED(161002, "2 dimensions, expected 1", aclnnRange, n.zero, n.five, n.one, flat.handle);
    REFUSED(161002, "out has 5 elements, expected 6", aclnnRange, n.zero, n.five, n.one, out);
    REFUSED(161002, "out has 5 elements, expected 10", aclnnArange, n.zero, n.five, n.half, out);
    REFUSED(161001, "start", aclnnLinspace, NULL, n.five, 5, out);
    REFUSED(161001, "end", aclnnLinspace, n.zero, NULL, 5, out);
    REFUSED(161002, "steps is -1", aclnnLinspace, n.zero, n.five, -1, out);
    REFUSED(161002, "out has 5 elements, expected 4", aclnnLinspace, n.zero, n.five, 4, out);
    aclTensor *nowhere = tensor_nowhere(ACL_FLOAT, DIMS(5));
    LAUNCH_EXPECTING(507015, aclnnArange, n.zero, n.five, n.one, nowhere);
    aclDestroyTensor(nowhere);
    sample_free(&five);
    sample_free(&flat);
    end(&n);
}

static void bad_patterns(void) {
    numbers n = begin();
    sample x = sample_new(ACL_FLOAT, "", DIMS(2, 3)), classes = sample_new(ACL_INT32, "", DIMS(2));
    sample one = sample_new(ACL_FLOAT, "", DIMS(1)), two = sample_new(ACL_FLOAT, "", DIMS(2));
    sample line = sample_new(ACL_FLOAT, "", DIMS(1, 1)), cube = sample_new(ACL_FLOAT, "", DIMS(2, 2, 3));
    sample deep = sample_new(ACL_INT32, "", DIMS(1, 1, 1, 1, 1, 1, 1, 1));
    aclTensor *v = one.handle, *c = classes.handle, *out = x.handle;
    REFUSED(161001, "out", aclnnEye, 2, 3, NULL);
    REFUSED(161002, "n and m are -1 and 3", aclnnEye, -1, 3, out);
    REFUSED(161002, "n and m are 2 and -3", aclnnEye, 2, -3, out);
    REFUSED(161002, "[2, 3], expected [3, 2]", aclnnEye, 3, 2, out);
    REFUSED(161001, "self", aclnnOneHot, NULL, 3, v, v, -1, out);
    REFUSED(161001, "offValue", aclnnOneHot, c, 3, v, NULL, -1, out);
    REFUSED(161002, "self has data type FLOAT", aclnnOneHot, two.handle, 3, v, v, -1, out);
    REFUSED(161002, "numClasses is -1", aclnnOneHot, c, -1, v, v, -1, out);
    REFUSED(161002, "onValue has 2 elements", aclnnOneHot, c, 3, two.handle, v, -1, out);
    REFUSED(161002, "offValue has data type INT32, out has FLOAT", aclnnOneHot, c, 3, v, deep.handle, -1,
        out);
    REFUSED(161002, "no room", aclnnOneHot, deep.handle, 3, v, v, -1, out);
    REFUSED(161002, "axis 2", aclnnOneHot, c, 3, v, v, 2, out);
    REFUSED(161002, "[2, 3], expected [4, 2]", aclnnOneHot, c, 4, v, v, 0, out);
    REFUSED(161001, "fillValue", aclnnInplaceFillDiagonal, out, NULL, false);
    REFUSED(161002, "1 dimensions, expected 2", aclnnInplaceFillDiagonal, two.handle, n.one, false);
    REFUSED(161002, "not all of one size", aclnnInplaceFillDiagonal, cube.handle, n.one, false);
    REFUSED(161001, "value", aclnnInplaceFillTensor, out, NULL);
    REFUSED(161002, "2 elements", aclnnInplaceFillTensor, out, two.handle);
    REFUSED(161002, "1 elements in 2 dimensions", aclnnInplaceFillTensor, out, line.handle);
    aclTensor *nowhere = tensor_nowhere(ACL_FLOAT, DIMS(2, 3));
    LAUNCH_EXPECTING(507015, aclnnEye, 2, 3, nowhere);
    LAUNCH_EXPECTING(507015, aclnnOneHot, c, 3, v, v, -1, nowhere);
    LAUNCH_EXPECTING(507015, aclnnInplaceFillDiagonal, nowhere, n.one, false);
    LAUNCH_EXPECTING(507015, aclnnInplaceFillTensor, nowhere, v);
    aclDestroyTensor(nowhere);
    sample *samples[] = {&x, &classes, &one, &two, &line, &cube, &deep};
    for (int i = 0; i < 7; i++) sample_free(samples[i]);
    end(&n);
}

static void bad_differences(void) {
    numbers n = begin();
    sample x = sample_new(ACL_FLOAT, "", DIMS(2, 3)), i = sample_new(ACL_INT32, "", DIMS(2, 3));
    sample t = sample_new(ACL_BOOL, "", DIMS(2, 3)), y = sample_new(ACL_FLOAT, "", DIMS(2));
    aclTensor *f = x.handle, *truth = t.handle;
    aclScalar *yes = aclCreateScalar(&(bool){true}, ACL_BOOL);
    REFUSED(161001, "aclnnRsub: self", aclnnRsub, NULL, f, n.one, f);
    REFUSED(161001, "alpha", aclnnRsub, f, f, NULL, f);
    REFUSED(161001, "other", aclnnInplaceSub, f, NULL, n.one);
    REFUSED(161001, "other", aclnnSubs, f, NULL, n.one, f);
    REFUSED(161001, "alpha", aclnnRsubs, f, n.one, NULL, f);
    REFUSED(161001, "alpha", aclnnInplaceSubs, f, n.one, NULL);
    REFUSED(161001, "self", aclnnAddV3, NULL, f, n.one, f);
    REFUSED(161001, "alpha", aclnnAddRelu, f, f, NULL, f);
    REFUSED(161001, "selfRef", aclnnInplaceAddRelu, NULL, f, n.one);
    REFUSED(161002, "alpha has type FLOAT", aclnnRsub, i.handle, i.handle, n.half, i.handle);
    REFUSED(161002, "alpha has type FLOAT", aclnnSubs, i.handle, n.one, n.half, i.handle);
    REFUSED(161002, "alpha has type FLOAT", aclnnRsubs, i.handle, n.one, n.half, i.handle);
    REFUSED(161002, "BOOL is not supported", aclnnRsub, truth, truth, n.one, truth);
    REFUSED(161002, "BOOL is not supported", aclnnInplaceSub, truth, truth, n.one);
    REFUSED(161002, "BOOL is not supported", aclnnSubs, truth, yes, n.one, truth);
    REFUSED(161002, "BOOL is not supported", aclnnRsubs, truth, yes, n.one, truth);
    REFUSED(161002, "do not broadcast", aclnnRsub, f, y.handle, n.one, f);
    REFUSED(161002, "cannot be stored as INT32", aclnnSubs, f, n.one, n.one, i.handle);
    aclDestroyScalar(yes);
    sample_free(&x);
    sample_free(&i);
    sample_free(&t);
    sample_free(&y);
    end(&n);
}

static void bad_forms(void) {
    numbers n = begin();
    sample x = sample_new(ACL_FLOAT, "", DIMS(2, 3)), i = sample_new(ACL_INT32, "", DIMS(2, 3));
    sample y = sample_new(ACL_FLOAT, "", DIMS(2));
    aclTensor *f = x.handle;
    REFUSED(161002, "mode is 3", aclnnDivMod, f, f, 3, f);
    REFUSED(161002, "mode is -1", aclnnDivMods, f, n.one, -1, f);
    REFUSED(161001, "other", aclnnInplaceDivMod, f, NULL, 0);
    REFUSED(161001, "selfRef", aclnnInplaceDivMods, NULL, n.one, 0);
    REFUSED(161002, "cannot be stored as INT32", aclnnInplaceDivMod, i.handle, i.handle, 0);
    REFUSED(161002, "cannot be stored as INT32", aclnnInplaceDiv, i.handle, i.handle);
    REFUSED(161001, "other", aclnnInplaceDivs, f, NULL);
    REFUSED(161002, "decimals is 301", aclnnRoundDecimals, f, 301, f);
    REFUSED(161002, "decimals is -301", aclnnInplaceRoundDecimals, f, -301);
    REFUSED(161002, "cannot be stored as INT32", aclnnRoundDecimals, i.handle, 1, i.handle);
    REFUSED(161001, "self", aclnnRoundDecimals, NULL, 1, f);
    REFUSED(161001, "out", aclnnNanToNum, f, 0, 0, 0, NULL);
    REFUSED(161001, "selfRef", aclnnInplaceNanToNum, NULL, 0, 0, 0);
    REFUSED(161001, "self", aclnnInplaceSqrt, NULL);
    REFUSED(161002, "cannot be stored as INT32", aclnnInplaceRsqrt, i.handle);
    REFUSED(161001, "weight", aclnnInplaceLerp, f, f, NULL);
    REFUSED(161001, "weight", aclnnInplaceLerps, f, f, NULL);
    REFUSED(161002, "does not broadcast", aclnnInplaceLerp, f, y.handle, f);
    REFUSED(161001, "selfRef", aclnnInplaceTril, NULL, 0);
    REFUSED(161002, "1 dimensions, expected 2", aclnnInplaceTriu, y.handle, 0);
    REFUSED(161001, "out", aclnnLogSigmoidForward, f, NULL, f);
    REFUSED(161001, "buffer", aclnnLogSigmoidForward, f, f, NULL);
    sample_free(&x);
    sample_free(&i);
    sample_free(&y);
    end(&n);
}

int main(void) {
    bad_sequences();
    bad_patterns();
    bad_differences();
    bad_forms();
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_makers: ok");
    return 0;
}
