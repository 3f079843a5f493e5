/* Random operators against plain loops over Philox4x32-10 as its authors write it, the published vectors, and what
 * they refuse. All values are compared with NumPy too. */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/random/draw.h"
#include "operators/support.h"

static void vectors(void) {
    static const uint32_t known[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0x408f276d, 0x41c83b0e,
            0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb,
            0x5001e420, 0x24126ea1}};
    for (int v = 0; v < 3; v++) {
        uint32_t words[4];
        mock_philox(known[v], known[v] + 4, words);
        CHECK(memcmp(words, known[v] + 6, sizeof words) == 0);
    }
}

/* The word of element i, block by block: the number of the block and the offset are the counter. */
static uint32_t word_of(uint64_t seed, uint64_t offset, uint64_t i) {
    const uint32_t counter[4] = {
        (uint32_t)(i / 4), (uint32_t)(i / 4 >> 32), (uint32_t)offset, (uint32_t)(offset >> 32)};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t words[4];
    mock_philox(counter, key, words);
    return words[i % 4];
}

static void functions(void) {
    const mock_source far = {1, 2, -1, -1};
    uint32_t words[9];
    mock_draw_32(&far, (UINT64_C(1) << 35) - 3, 9, words);
    for (uint64_t k = 0; k < 9; k++) CHECK(words[k] == word_of(1, 2, (UINT64_C(1) << 35) - 3 + k));
    CHECK(mock_draw_below(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
    CHECK(mock_draw_below(UINT64_MAX, 7) == 6 && mock_draw_below(0, 7) == 0 && mock_draw_below(UINT64_MAX, 0) == 0);
    CHECK(mock_draw_below(UINT64_C(1) << 63, UINT64_C(0xFFFFFFFF12345678)) == UINT64_C(0x7FFFFFFF891A2B3C));
    CHECK(mock_log(1) == 0);
    for (double x = 0x1p-53; x < 1; x *= 1.37) CHECK(fabs(mock_log(x) / log(x) - 1) < 4e-16);
}

static void normals(void) {
    sample x = sample_new(ACL_DOUBLE, "", DIMS(50000));
    LAUNCH(aclnnNormalFloatFloat, 0, 1, 5, 6, x.handle);
    for (int64_t i = 0; i < x.count; i++) {
        const uint64_t pair = (uint64_t)i & ~UINT64_C(1);
        const double radius = sqrt(-2 * log(((double)word_of(5, 6, pair) + 1) * 0x1p-32));
        const double angle = (double)word_of(5, 6, pair + 1) * 0x1p-31 * 3.14159265358979324;
        CHECK(fabs(sample_get(&x, i) - radius * (i % 2 == 0 ? cos(angle) : sin(angle))) < 1e-14);
    }
    sample_free(&x);
}

static aclTensor *one_number(sample *s, int64_t value) {
    *s = sample_new(ACL_INT64, "", DIMS(1));
    memcpy(s->memory, &value, sizeof value);
    return s->handle;
}

/* The layout changes nothing, and the forms with tensors are those with numbers at the sum of the offsets. */
static void same_numbers(void) {
    sample flat = sample_new(ACL_FLOAT, "", DIMS(3, 300)), turned = sample_new(ACL_FLOAT, "g10", DIMS(3, 300));
    sample other = sample_new(ACL_FLOAT, "", DIMS(3, 300)), seed, offset;
    aclTensor *s = one_number(&seed, 7), *o = one_number(&offset, 5);
    LAUNCH(aclnnInplaceUniform, flat.handle, -1, 3, 7, 9);
    LAUNCH(aclnnInplaceUniformTensor, turned.handle, -1, 3, s, o, 4);
    CHECK_ALL(flat, 0, -1 + (double)(word_of(7, 9, (uint64_t)i) >> 8) * 0x1p-24 * 4);
    CHECK_ALL(turned, 0, sample_get(&flat, i));
    LAUNCH(aclnnInplaceNormal, flat.handle, 1, 2, 7, 9);
    LAUNCH(aclnnInplaceNormalTensor, turned.handle, 1, 2, s, o, 4);
    CHECK_ALL(turned, 0, sample_get(&flat, i));
    LAUNCH(aclnnNormalFloatFloat, 1, 2, 7, 9, other.handle);
    CHECK_ALL(other, 0, sample_get(&flat, i));
    LAUNCH(aclnnNormalFloatFloat, 1, 2, 7, 21, other.handle);
    int equal = 0;
    for (int64_t i = 0; i < other.count; i++) equal += sample_get(&other, i) == sample_get(&flat, i);
    CHECK(equal == 0);
    LAUNCH(aclnnNormalFloatFloat, 1, 2, 8, 9, other.handle);
    for (int64_t i = 0; i < other.count; i++) equal += sample_get(&other, i) == sample_get(&flat, i);
    CHECK(equal == 0);
    sample *all[] = {&flat, &turned, &other, &seed, &offset};
    for (int i = 0; i < 5; i++) sample_free(all[i]);
}

/* Two steps are one, and the gradient goes where the values went. */
static void dropped(void) {
    sample x = sample_new(ACL_FLOAT, "g10", DIMS(7, 41)), y = sample_new(ACL_FLOAT, "", DIMS(7, 41));
    sample z = sample_new(ACL_FLOAT, "", DIMS(7, 41)), mask = sample_new(ACL_UINT8, "", DIMS(48));
    sample whole = sample_new(ACL_UINT8, "g0", DIMS(48));
    aclIntArray *shape = aclCreateIntArray((int64_t[]){7, 41}, 2);
    sample_fill(&x, 1, 2);
    LAUNCH(aclnnDropoutGenMask, shape, 0.25, 3, 12, mask.handle);
    LAUNCH(aclnnDropoutDoMask, x.handle, mask.handle, 0.25, y.handle);
    CHECK_ALL(y, 1, (double)word_of(3, 12, (uint64_t)i) * 0x1p-32 < 0.25 ? 0 : sample_get(&x, i) / 0.75);
    LAUNCH(aclnnDropout, x.handle, 0.25, true, 3, 12, z.handle, whole.handle);
    CHECK_ALL(z, 0, sample_get(&y, i));
    CHECK_ALL(whole, 0, sample_get(&mask, i));
    LAUNCH(aclnnDropoutBackward, x.handle, whole.handle, 1 / 0.75, z.handle);
    CHECK_ALL(z, 0, sample_get(&y, i));
    for (int64_t i = 36; i < 48; i++) CHECK(sample_get(&mask, i) == 0);
    LAUNCH(aclnnDropout, x.handle, 0.25, false, 3, 12, z.handle, whole.handle);
    CHECK_ALL(z, 0, sample_get(&x, i));
    aclDestroyIntArray(shape);
    sample *all[] = {&x, &y, &z, &mask, &whole};
    for (int i = 0; i < 5; i++) sample_free(all[i]);
}

static void chosen(void) {
    sample order = sample_new(ACL_INT64, "g0", DIMS(1000)), weights = sample_new(ACL_FLOAT, "", DIMS(2, 4));
    sample drawn = sample_new(ACL_INT64, "", DIMS(2, 3)), many = sample_new(ACL_INT64, "", DIMS(2, 2000));
    bool seen[1000] = {false};
    LAUNCH(aclnnRandperm, 1000, 1, 2, order.handle);
    for (int64_t i = 0; i < 1000; i++) seen[sample_get_int(&order, i)] = true;
    for (int i = 0; i < 1000; i++) CHECK(seen[i]);
    static const double given[] = {1, 0, 2, 5, 0, 1, 1, 1};
    for (int64_t i = 0; i < 8; i++) sample_set(&weights, i, given[i]);
    LAUNCH(aclnnMultinomial, weights.handle, 3, false, 1, 2, drawn.handle);
    for (int64_t row = 0; row < 2; row++) {
        int64_t a = sample_get_int(&drawn, row * 3), b = sample_get_int(&drawn, row * 3 + 1);
        const int64_t c = sample_get_int(&drawn, row * 3 + 2);
        CHECK(a != b && b != c && a != c && a + b + c == (row == 0 ? 5 : 6));
    }
    LAUNCH(aclnnMultinomial, weights.handle, 2000, true, 1, 2, many.handle);
    int count[2][4] = {{0}};
    for (int64_t i = 0; i < 4000; i++) count[i / 2000][sample_get_int(&many, i)]++;
    CHECK(count[0][1] == 0 && count[1][0] == 0);
    CHECK(abs(count[0][3] - 1250) < 130 && abs(count[1][2] - 667) < 130);
    sample_set(&weights, 1, -1);
    LAUNCH_EXPECTING(507015, aclnnMultinomial, weights.handle, 3, false, 1, 2, drawn.handle);
    LAUNCH_EXPECTING(507015, aclnnMultinomial, weights.handle, 3, true, 1, 2, drawn.handle);
    for (int64_t i = 0; i < 4; i++) sample_set(&weights, i, 0);
    LAUNCH_EXPECTING(507015, aclnnMultinomial, weights.handle, 3, false, 1, 2, drawn.handle);
    LAUNCH_EXPECTING(507015, aclnnMultinomial, weights.handle, 3, true, 1, 2, drawn.handle);
    sample_set(&weights, 2, INFINITY);
    LAUNCH_EXPECTING(507015, aclnnMultinomial, weights.handle, 3, true, 1, 2, drawn.handle);
    sample *all[] = {&order, &weights, &drawn, &many};
    for (int i = 0; i < 4; i++) sample_free(all[i]);
}

static void bad_numbers(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(2, 3)), i = sample_new(ACL_INT64, "", DIMS(2));
    sample byte = sample_new(ACL_UINT8, "", DIMS(4)), seed, y = sample_new(ACL_FLOAT, "", DIMS(2));
    aclTensor *s = one_number(&seed, 1), *f = x.handle;
    aclScalar *two = scalar_float(2), *half = scalar_float(0.5f);
    REFUSED(161001, "aclnnInplaceNormal: selfRef", aclnnInplaceNormal, NULL, 0, 1, 0, 0);
    REFUSED(161002, "std is -1", aclnnInplaceNormal, f, 0, -1, 0, 0);
    REFUSED(161002, "std is nan", aclnnNormalFloatFloat, 0, NAN, 0, 0, f);
    REFUSED(161002, "seedTensor has data type FLOAT", aclnnInplaceNormalTensor, f, 0, 1, f, s, 0);
    REFUSED(161002, "offsetTensor has 2 elements", aclnnInplaceNormalTensor, f, 0, 1, s, i.handle, 0);
    REFUSED(161001, "offsetTensor", aclnnInplaceUniformTensor, f, 0, 1, s, NULL, 0);
    REFUSED(161002, "std has data type INT64", aclnnNormalFloatTensor, 0, i.handle, 0, 0, f);
    REFUSED(161002, "[2, 3], expected [2]", aclnnNormalTensorFloat, y.handle, 1, 0, 0, f);
    REFUSED(161002, "do not broadcast", aclnnNormalTensorTensor, y.handle, f, 0, 0, f);
    REFUSED(161002, "from is 2 and to is 1", aclnnInplaceUniform, f, 2, 1, 0, 0);
    REFUSED(161002, "expected finite", aclnnInplaceUniform, f, 0, INFINITY, 0, 0);
    REFUSED(161002, "expected finite", aclnnInplaceUniform, f, NAN, 1, 0, 0);
    REFUSED(161002, "from is 1 and to is 1", aclnnInplaceRandom, f, 1, 1, 0, 0);
    REFUSED(161002, "numbers that UINT8 does not have", aclnnInplaceRandom, byte.handle, 0, 257, 0, 0);
    REFUSED(161002, "numbers that UINT8 does not have", aclnnInplaceRandom, byte.handle, -1, 2, 0, 0);
    REFUSED(161002, "prob is 2", aclnnInplaceBernoulli, f, two, 0, 0);
    REFUSED(161001, "prob", aclnnBernoulli, f, NULL, 0, 0, f);
    REFUSED(161002, "[2], expected [2, 3]", aclnnBernoulli, f, half, 0, 0, y.handle);
    REFUSED(161002, "does not broadcast to [2, 3]", aclnnInplaceBernoulliTensor, f, y.handle, 0, 0);
    REFUSED(161002, "prob has data type INT64", aclnnBernoulliTensor, y.handle, i.handle, 0, 0, y.handle);
    sample_set(&y, 0, 2);
    LAUNCH_EXPECTING(507015, aclnnInplaceBernoulliTensor, i.handle, y.handle, 0, 0);
    sample_set(&y, 0, NAN);
    LAUNCH_EXPECTING(507015, aclnnBernoulliTensor, i.handle, y.handle, 0, 0, i.handle);
    sample_set(&y, 0, -1);
    LAUNCH_EXPECTING(507015, aclnnNormalFloatTensor, 0, y.handle, 0, 0, y.handle);
    aclTensor *nowhere = tensor_nowhere(ACL_FLOAT, DIMS(2)), *numberless = tensor_nowhere(ACL_INT64, DIMS(1));
    LAUNCH_EXPECTING(507015, aclnnInplaceNormal, nowhere, 0, 1, 0, 0);
    LAUNCH_EXPECTING(507015, aclnnInplaceUniform, nowhere, 0, 1, 0, 0);
    LAUNCH_EXPECTING(507015, aclnnInplaceRandom, nowhere, 0, 1, 0, 0);
    LAUNCH_EXPECTING(507015, aclnnInplaceBernoulliTensor, y.handle, nowhere, 0, 0);
    LAUNCH_EXPECTING(507015, aclnnInplaceRandomWithoutFromToTensor, y.handle, s, numberless, 0);
    LAUNCH_EXPECTING(507015, aclnnRandperm, 2, 0, 0, nowhere);
    aclDestroyTensor(nowhere);
    aclDestroyTensor(numberless);
    aclDestroyScalar(two);
    aclDestroyScalar(half);
    sample *all[] = {&x, &i, &byte, &seed, &y};
    for (int k = 0; k < 5; k++) sample_free(all[k]);
}

static void bad_choices(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(2, 3)), mask = sample_new(ACL_UINT8, "", DIMS(16));
    sample small = sample_new(ACL_UINT8, "", DIMS(15)), i = sample_new(ACL_INT64, "", DIMS(2, 4));
    sample cube = sample_new(ACL_FLOAT, "", DIMS(1, 1, 3)), s8 = sample_new(ACL_INT8, "", DIMS(129));
    aclTensor *f = x.handle, *m = mask.handle;
    aclIntArray *shape = aclCreateIntArray((int64_t[]){6}, 1), *bad = aclCreateIntArray((int64_t[]){-6}, 1);
    aclIntArray *huge = aclCreateIntArray((int64_t[]){INT64_MAX, 9}, 2);
    REFUSED(161001, "shape", aclnnDropoutGenMask, NULL, 0.5, 0, 0, m);
    REFUSED(161002, "shape has -6", aclnnDropoutGenMask, bad, 0.5, 0, 0, m);
    REFUSED(161002, "too many elements", aclnnDropoutGenMask, huge, 0.5, 0, 0, m);
    REFUSED(161002, "prob is 1.5", aclnnDropoutGenMask, shape, 1.5, 0, 0, m);
    REFUSED(161002, "out has data type FLOAT", aclnnDropoutGenMask, shape, 0.5, 0, 0, f);
    REFUSED(161002, "out has 15 elements, expected 16 for 6 bits", aclnnDropoutGenMask, shape, 0.5, 0, 0, small.handle);
    REFUSED(161002, "probDataType is 3", aclnnDropoutGenMaskV2, shape, 0.5, 0, 0, ACL_INT32, m);
    REFUSED(161002, "probDataType", aclnnDropoutGenMaskV2, shape, 0.5, 0, 0, ACL_DOUBLE, m);
    REFUSED(161002, "seedTensor has data type FLOAT", aclnnDropoutGenMaskV2Tensor, shape, 0.5, f, f, 0, ACL_FLOAT, m);
    REFUSED(161002, "prob is -1", aclnnDropoutDoMask, f, m, -1, f);
    REFUSED(161002, "mask has 15 elements", aclnnDropoutDoMask, f, small.handle, 0.5, f);
    REFUSED(161002, "self has data type INT64", aclnnDropoutDoMask, i.handle, m, 0.5, f);
    REFUSED(161002, "out has data type INT64", aclnnDropoutDoMask, f, m, 0.5, i.handle);
    REFUSED(161002, "[1, 1, 3], expected [2, 3]", aclnnDropoutBackward, f, m, 2, cube.handle);
    REFUSED(161001, "gradX", aclnnDropoutV3Grad, f, m, 2, NULL);
    REFUSED(161002, "p is nan", aclnnDropout, f, NAN, true, 0, 0, f, m);
    REFUSED(161002, "optionalNoiseShape", aclnnDropoutV3, f, f, 0.5, 0, 0, f, m);
    REFUSED(161002, "n is -1", aclnnRandperm, -1, 0, 0, s8.handle);
    REFUSED(161002, "n is 129, more than INT8", aclnnRandperm, 129, 0, 0, s8.handle);
    REFUSED(161002, "[129], expected [100]", aclnnRandperm, 100, 0, 0, s8.handle);
    REFUSED(161002, "self has 3 dimensions", aclnnMultinomial, cube.handle, 1, true, 0, 0, i.handle);
    REFUSED(161002, "self has data type INT64", aclnnMultinomial, i.handle, 4, true, 0, 0, i.handle);
    REFUSED(161002, "numsamples is 0", aclnnMultinomial, f, 0, true, 0, 0, i.handle);
    REFUSED(161002, "there are 3 classes", aclnnMultinomial, f, 4, false, 0, 0, i.handle);
    REFUSED(161002, "[2, 4], expected [2, 3]", aclnnMultinomial, f, 3, false, 0, 0, i.handle);
    REFUSED(161002, "out has data type FLOAT", aclnnMultinomial, f, 3, false, 0, 0, f);
    aclTensor *nowhere = tensor_nowhere(ACL_UINT8, DIMS(16));
    LAUNCH_EXPECTING(507015, aclnnDropoutGenMask, shape, 0.5, 0, 0, nowhere);
    LAUNCH_EXPECTING(507015, aclnnDropoutDoMask, f, nowhere, 0.5, f);
    aclDestroyTensor(nowhere);
    aclDestroyIntArray(shape);
    aclDestroyIntArray(bad);
    aclDestroyIntArray(huge);
    sample *all[] = {&x, &mask, &small, &i, &cube, &s8};
    for (int k = 0; k < 6; k++) sample_free(all[k]);
}

int main(void) {
    vectors();
    functions();
    normals();
    same_numbers();
    dropped();
    chosen();
    bad_numbers();
    bad_choices();
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_random: ok");
    return 0;
}
