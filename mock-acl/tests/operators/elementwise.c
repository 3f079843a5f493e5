/* Elementwise operators, copies and casts against double precision, over types, layouts and broadcasts. */
#include "aclnnop/aclnn_abs.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_clamp.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_div.h"
#include "aclnnop/aclnn_fill_scalar.h"
#include "aclnnop/aclnn_gelu.h"
#include "aclnnop/aclnn_gelu_v2.h"
#include "aclnnop/aclnn_maximum.h"
#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_ones.h"
#include "aclnnop/aclnn_permute.h"
#include "aclnnop/aclnn_rsqrt.h"
#include "aclnnop/aclnn_sqrt.h"
#include "aclnnop/aclnn_sub.h"
#include "aclnnop/aclnn_tanh.h"
#include "aclnnop/aclnn_zero.h"
#include "operators/support.h"

static const aclDataType every[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT32, ACL_INT64,
    ACL_INT16, ACL_INT8, ACL_UINT8};
static const char *layouts[] = {"", "210", "g", "g021"};

static bool is_float(aclDataType dtype) {
    return dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16 || dtype == ACL_DOUBLE;
}

/* f32 arithmetic before the final rounding costs at most one unit of f32. */
static double slack(aclDataType dtype) {
    return dtype == ACL_FLOAT || dtype == ACL_DOUBLE ? 2 : 0.51;
}

static void check_binary(
    aclDataType dtype, const char *lx, const char *ly, const int64_t *dx, const int64_t *dy) {
    const bool narrow = dtype == ACL_INT8 || dtype == ACL_UINT8;
    aclScalar *two = scalar_int(2);
    int64_t d[3];
    for (int i = 0; i < 3; i++) d[i] = dx[i] > dy[i] ? dx[i] : dy[i];
    sample x = sample_new(dtype, lx, 3, dx);
    sample y = sample_new(dtype, ly, 3, dy);
    sample out = sample_new(dtype, ly, 3, d);
    sample_fill(&x, narrow ? 0 : -9, 9);
    sample_fill(&y, narrow ? 1 : 2, 9);
    LAUNCH(aclnnAdd, x.handle, y.handle, two, out.handle);
    CHECK_ALL(out, slack(dtype), sample_seen(&x, &out, i) + 2 * sample_seen(&y, &out, i))
    if (dtype != ACL_UINT8) {
        LAUNCH(aclnnSub, x.handle, y.handle, two, out.handle);
        CHECK_ALL(out, slack(dtype) * 4, sample_seen(&x, &out, i) - 2 * sample_seen(&y, &out, i))
    }
    LAUNCH(aclnnMul, x.handle, y.handle, out.handle);
    CHECK_ALL(out, 0.51, sample_seen(&x, &out, i) * sample_seen(&y, &out, i))
    LAUNCH(aclnnMaximum, x.handle, y.handle, out.handle);
    CHECK_ALL(out, 0, fmax(sample_seen(&x, &out, i), sample_seen(&y, &out, i)))
    if (is_float(dtype)) {
        LAUNCH(aclnnDiv, x.handle, y.handle, out.handle);
        CHECK_ALL(out, 0.51, sample_seen(&x, &out, i) / sample_seen(&y, &out, i))
    }
    aclDestroyScalar(two);
    sample_free(&x);
    sample_free(&y);
    sample_free(&out);
}

static void binary_operators_of_all_types_and_layouts(void) {
    const int64_t shapes[][2][3] = {{{3, 4, 7}, {3, 4, 7}}, {{3, 1, 7}, {1, 4, 7}}, {{3, 4, 1}, {1, 1, 7}},
        {{1, 1, 1}, {2, 3, 1100}}, {{2, 3, 1100}, {1, 1, 1}}};
    for (int t = 0; t < 9; t++) {
        for (int s = 0; s < 5; s++) {
            for (int l = 0; l < 4; l++) {
                check_binary(every[t], layouts[l], layouts[3 - l], shapes[s][0], shapes[s][1]);
            }
        }
    }
}

static void lower_ranks_broadcast_and_types_promote(void) {
    aclScalar *one = scalar_float(1), *half = scalar_float(0.5f);
    sample row = sample_new(ACL_FLOAT16, "", DIMS(6));
    sample matrix = sample_new(ACL_INT32, "10", DIMS(4, 6));
    sample scalar = sample_new(ACL_FLOAT, "", 0, NULL);
    sample out = sample_new(ACL_FLOAT, "", DIMS(4, 6));
    sample half_out = sample_new(ACL_FLOAT16, "", DIMS(4, 6));
    sample_fill(&row, -2, 2);
    sample_fill(&matrix, -50, 50);
    sample_fill(&scalar, 1, 2);
    LAUNCH(aclnnAdd, row.handle, matrix.handle, half, half_out.handle);
    CHECK_ALL(half_out, 0.51, sample_seen(&row, &half_out, i) + 0.5 * sample_get(&matrix, i))
    LAUNCH(aclnnMul, matrix.handle, scalar.handle, out.handle);
    CHECK_ALL(out, 0.51, sample_get(&matrix, i) * sample_get(&scalar, 0))
    LAUNCH(aclnnDiv, matrix.handle, matrix.handle, out.handle);
    for (int64_t i = 0; i < out.count; i++) {
        const double x = sample_get(&matrix, i);
        CHECK(x == 0 ? isnan(sample_get(&out, i)) : sample_get(&out, i) == 1);
    }
    REFUSED(161002, "cannot be stored as INT32", aclnnMul, matrix.handle, scalar.handle, matrix.handle);
    REFUSED(161002, "alpha has type FLOAT", aclnnAdd, matrix.handle, matrix.handle, one, matrix.handle);
    REFUSED(161002, "[6], expected the common shape [4, 6]", aclnnMul, row.handle, out.handle, row.handle);
    sample *all[] = {&row, &matrix, &scalar, &out, &half_out};
    for (int i = 0; i < 5; i++) sample_free(all[i]);
    aclDestroyScalar(one);
    aclDestroyScalar(half);
}

static void scalar_forms(void) {
    aclScalar *three = scalar_int(3), *two = scalar_int(2), *half = scalar_double(0.5);
    for (int t = 0; t < 9; t++) {
        sample x = sample_new(every[t], layouts[t % 4], DIMS(3, 5, 9));
        sample y = sample_new(every[t], layouts[(t + 1) % 4], DIMS(3, 5, 9));
        sample_fill(&x, 0, 9);
        LAUNCH(aclnnAdds, x.handle, three, two, y.handle);
        CHECK_ALL(y, 0.51, sample_get(&x, i) + 6)
        LAUNCH(aclnnMuls, x.handle, three, y.handle);
        CHECK_ALL(y, 0.51, sample_get(&x, i) * 3)
        LAUNCH(aclnnClampMin, x.handle, three, y.handle);
        CHECK_ALL(y, 0, fmax(sample_get(&x, i), 3))
        if (is_float(every[t])) {
            LAUNCH(aclnnDivs, x.handle, three, y.handle);
            CHECK_ALL(y, 0.51, sample_get(&x, i) / 3)
            LAUNCH(aclnnMuls, x.handle, half, y.handle);
            CHECK_ALL(y, 0.51, sample_get(&x, i) * 0.5)
        } else {
            REFUSED(161002, "FLOAT", aclnnMuls, x.handle, half, y.handle);
        }
        sample_free(&x);
        sample_free(&y);
    }
    aclDestroyScalar(three);
    aclDestroyScalar(two);
    aclDestroyScalar(half);
}

static void in_place_forms_write_their_operand(void) {
    aclScalar *two = scalar_int(2), *nan = scalar_float(NAN);
    for (int t = 0; t < 9; t++) {
        sample x = sample_new(every[t], layouts[t % 4], DIMS(3, 5, 9));
        sample row = sample_new(every[t], "", DIMS(5, 1));
        sample old = sample_new(ACL_DOUBLE, "", DIMS(3, 5, 9));
        sample_fill(&x, 0, 5);
        sample_fill(&row, 0, 5);
        for (int64_t i = 0; i < x.count; i++) sample_set(&old, i, sample_get(&x, i));
        LAUNCH(aclnnInplaceAdd, x.handle, row.handle, two);
        CHECK_ALL(x, slack(every[t]), sample_get(&old, i) + 2 * sample_seen(&row, &x, i))
        LAUNCH(aclnnInplaceCopy, x.handle, old.handle);
        LAUNCH(aclnnInplaceMul, x.handle, row.handle);
        CHECK_ALL(x, 0.51, sample_get(&old, i) * sample_seen(&row, &x, i))
        LAUNCH(aclnnInplaceCopy, x.handle, row.handle);
        CHECK_ALL(x, 0, sample_seen(&row, &x, i))
        LAUNCH(aclnnInplaceMuls, x.handle, two);
        LAUNCH(aclnnInplaceAdds, x.handle, two, two);
        CHECK_ALL(x, 0.51, sample_seen(&row, &x, i) * 2 + 4)
        LAUNCH(aclnnInplaceOne, x.handle);
        CHECK_ALL(x, 0, 1.0)
        LAUNCH(aclnnInplaceFillScalar, x.handle, two);
        CHECK_ALL(x, 0, 2.0)
        LAUNCH(aclnnInplaceFillScalar, x.handle, nan);
        CHECK_ALL(x, 0, is_float(every[t]) ? (double)NAN : 0.0)
        LAUNCH(aclnnInplaceZero, x.handle);
        CHECK_ALL(x, 0, 0.0)
        REFUSED(161002, "[3, 5, 9] does not broadcast to selfRef with shape [5, 1]", aclnnInplaceCopy,
            row.handle,
            x.handle);
        sample_free(&x);
        sample_free(&row);
        sample_free(&old);
    }
    aclDestroyScalar(two);
    aclDestroyScalar(nan);
}

static void gaps_stay_untouched(void) {
    sample x = sample_new(ACL_FLOAT16, "g", DIMS(3, 5));
    LAUNCH(aclnnInplaceZero, x.handle);
    int zeros = 0;
    const int64_t storage = x.offset + 2 * x.strides[0] + 4 * x.strides[1] + 1;
    for (int64_t i = 0; i < storage; i++) {
        uint16_t bits;
        memcpy(&bits, x.memory + 2 * i, sizeof bits);
        CHECK(bits == 0 || bits == 0xa5a5);
        zeros += bits == 0;
    }
    CHECK(zeros == 15);
    sample_free(&x);
}

static double gelu_erf(double x) {
    return 0.5 * x * erfc(-x / sqrt(2));
}

static double gelu_tanh(double x) {
    const double u = sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x);
    return x / (1 + exp(-2 * u));
}

static double worst_error(const sample *y, const sample *x, double (*f)(double)) {
    double worst = 0;
    for (int64_t i = 0; i < y->count; i++) {
        const double want = f(sample_get(x, i));
        int exponent;
        frexp(want, &exponent);
        const double error = fabs(sample_get(y, i) - want) / ldexp(1, exponent - 24);
        if (fabs(want) > 1e-30 && error > worst) worst = error;
    }
    return worst;
}

static double reciprocal_root(double x) {
    return 1 / sqrt(x);
}

static void unary_functions_are_accurate(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(200003));
    sample y = sample_new(ACL_FLOAT, "", DIMS(200003));
    sample_fill(&x, -9, 9);
    LAUNCH(aclnnTanh, x.handle, y.handle);
    CHECK(worst_error(&y, &x, tanh) < 4);
    sample_fill(&x, -5, 9);
    LAUNCH(aclnnGelu, x.handle, y.handle);
    CHECK(worst_error(&y, &x, gelu_erf) < 24);
    LAUNCH(aclnnGeluV2, x.handle, 0, y.handle);
    CHECK(worst_error(&y, &x, gelu_erf) < 24);
    LAUNCH(aclnnGeluV2, x.handle, 1, y.handle);
    CHECK(worst_error(&y, &x, gelu_tanh) < 48);
    sample_fill(&x, -0.01, 0.01);
    LAUNCH(aclnnTanh, x.handle, y.handle);
    CHECK(worst_error(&y, &x, tanh) < 4);
    sample_fill(&x, 0, 1000);
    LAUNCH(aclnnRsqrt, x.handle, y.handle);
    CHECK(worst_error(&y, &x, reciprocal_root) < 2);
    LAUNCH(aclnnSqrt, x.handle, y.handle);
    CHECK_ALL(y, 0.51, sqrt(sample_get(&x, i)))
    sample_free(&x);
    sample_free(&y);
}

static void unary_functions_of_all_layouts(void) {
    for (int c = 0; c < 12; c++) {
        const aclDataType dtype = every[c % 3];
        sample x = sample_new(dtype, layouts[c / 3], DIMS(5, 3, 7));
        sample y = sample_new(dtype, layouts[3 - c / 3], DIMS(5, 3, 7));
        sample_fill(&x, 0.125, 3);
        LAUNCH(aclnnSqrt, x.handle, y.handle);
        CHECK_ALL(y, 0.51, sqrt(sample_get(&x, i)))
        LAUNCH(aclnnRsqrt, x.handle, y.handle);
        CHECK_ALL(y, slack(dtype), 1 / sqrt(sample_get(&x, i)))
        sample_fill(&x, -3, 3);
        LAUNCH(aclnnAbs, x.handle, y.handle);
        CHECK_ALL(y, 0, fabs(sample_get(&x, i)))
        LAUNCH(aclnnTanh, x.handle, y.handle);
        CHECK_ALL(y, slack(dtype) * 2, tanh(sample_get(&x, i)))
        LAUNCH(aclnnGelu, x.handle, y.handle);
        CHECK_ALL(y, dtype == ACL_FLOAT ? 16 : 0.51, gelu_erf(sample_get(&x, i)))
        /* In place through a view. */
        LAUNCH(aclnnAbs, x.handle, x.handle);
        CHECK_ALL(x, 0, fabs(sample_get(&x, i)))
        sample_free(&x);
        sample_free(&y);
    }
}

static void special_values(void) {
    const float in[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 3e38f, -3e38f};
    sample x = sample_new(ACL_FLOAT, "", DIMS(7));
    sample y = sample_new(ACL_FLOAT, "", DIMS(7));
    aclScalar *one = scalar_int(1);
    for (int i = 0; i < 7; i++) sample_set(&x, i, in[i]);
    LAUNCH(aclnnTanh, x.handle, y.handle);
    CHECK_ALL(y, 0, tanh(sample_get(&x, i)))
    CHECK(signbit(sample_get(&y, 4)));
    LAUNCH(aclnnClampMin, x.handle, one, y.handle);
    CHECK_ALL(y, 0, in[i] != in[i] ? (double)in[i] : fmax(in[i], 1))
    LAUNCH(aclnnMaximum, x.handle, y.handle, y.handle);
    CHECK(isnan(sample_get(&y, 0)));
    LAUNCH(aclnnGelu, x.handle, y.handle);
    CHECK(isnan(sample_get(&y, 0)) && sample_get(&y, 1) == (double)INFINITY && sample_get(&y, 3) == 0);
    LAUNCH(aclnnSqrt, x.handle, y.handle);
    CHECK(isnan(sample_get(&y, 2)) && sample_get(&y, 1) == (double)INFINITY);
    aclDestroyScalar(one);
    sample_free(&x);
    sample_free(&y);
}

/* All 65,536 halves there, and every rounding case between neighbours back. */
static void half_precision_is_exact(void) {
    sample h = sample_new(ACL_FLOAT16, "", DIMS(65536));
    sample f = sample_new(ACL_FLOAT, "", DIMS(65536));
    sample back = sample_new(ACL_FLOAT16, "", DIMS(65536));
    for (int i = 0; i < 65536; i++) memcpy(h.memory + 2 * i, &(uint16_t){(uint16_t)i}, 2);
    LAUNCH(aclnnCast, h.handle, ACL_FLOAT, f.handle);
    CHECK_ALL(f, 0, sample_get(&h, i))
    LAUNCH(aclnnCast, f.handle, ACL_FLOAT16, back.handle);
    CHECK_ALL(back, 0, sample_get(&h, i))
    for (int shift = -1; shift <= 1; shift++) {
        for (int64_t i = 0; i < 65536; i++) {
            const double low = sample_get(&h, i), high = sample_get(&h, i == 65535 ? i : i + 1);
            const float middle = (float)((low + high) / 2);
            const float value = shift == 0 ? middle : nextafterf(middle, shift < 0 ? -INFINITY : INFINITY);
            sample_set(&f, i, value);
        }
        LAUNCH(aclnnCast, f.handle, ACL_FLOAT16, back.handle);
        CHECK_ALL(back, 0, sample_get(&f, i))
    }
    sample_free(&h);
    sample_free(&f);
    sample_free(&back);
}

static double cast_reference(aclDataType to, double value) {
    if (to == ACL_BOOL) return value != 0;
    return is_float(to) ? value : trunc(value);
}

static void casts_between_all_types(void) {
    for (int from = 0; from < 9; from++) {
        for (int to = 0; to < 10; to++) {
            const aclDataType target = to == 9 ? ACL_BOOL : every[to];
            sample x = sample_new(every[from], layouts[from % 4], DIMS(3, 4, 50));
            sample y = sample_new(target, layouts[to % 4], DIMS(3, 4, 50));
            sample_fill(&x, every[from] == ACL_UINT8 || target == ACL_UINT8 ? 0 : -100, 100);
            LAUNCH(aclnnCast, x.handle, target, y.handle);
            CHECK_ALL(y, 0, cast_reference(target, sample_get(&x, i)))
            sample_free(&x);
            sample_free(&y);
        }
    }
    const double in[] = {3e9, -3e9, 1e30, -1e30, (double)NAN, 2.9, -2.9};
    const double want[] = {INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 0, 2, -2};
    sample d = sample_new(ACL_DOUBLE, "", DIMS(7));
    sample i32 = sample_new(ACL_INT32, "", DIMS(7));
    sample i64 = sample_new(ACL_INT64, "", DIMS(7));
    for (int i = 0; i < 7; i++) sample_set(&d, i, in[i]);
    LAUNCH(aclnnCast, d.handle, ACL_INT32, i32.handle);
    CHECK_ALL(i32, 0, want[i])
    LAUNCH(aclnnCast, d.handle, ACL_INT64, i64.handle);
    CHECK(sample_get_int(&i64, 2) == INT64_MAX && sample_get_int(&i64, 3) == INT64_MIN);
    REFUSED(161002, "dtype is INT8", aclnnCast, d.handle, ACL_INT8, i64.handle);
    sample_free(&d);
    sample_free(&i32);
    sample_free(&i64);
}

static void doubles_are_rounded_to_half_once(void) {
    /* A tie in f32 that is none in f64: a first rounding to f32 would make the second one go the wrong
     * way. */
    sample d = sample_new(ACL_DOUBLE, "", DIMS(2));
    sample h = sample_new(ACL_FLOAT16, "", DIMS(2));
    sample_set(&d, 0, 1 + 0x1p-11 + 0x1p-40);
    sample_set(&d, 1, -(1 + 0x3p-11 - 0x1p-40));
    LAUNCH(aclnnCast, d.handle, ACL_FLOAT16, h.handle);
    CHECK_ALL(h, 0, sample_get(&d, i))
    sample_free(&d);
    sample_free(&h);
}

static void integers_are_rounded_to_halves_once(void) {
    /* Beside the middle of two neighbours by less than f32 has room for, or f64. */
    const int64_t wide = INT64_C(1) << 62, step = INT64_C(1) << 55;
    const int64_t in[] = {(1 << 24) + (1 << 16), (1 << 24) + (1 << 16) + 1, (1 << 24) + (3 << 16) - 1,
        wide + step / 2 + 1, -wide - step * 3 / 2 + 1, INT64_MAX, INT64_MIN};
    const double want[] = {0x1p24, 0x1p24 + 0x1p17, 0x1p24 + 0x1p17, 0x1p62 + 0x1p55, -0x1p62 - 0x1p55,
        0x1p63, -0x1p63};
    sample x = sample_new(ACL_INT64, "", DIMS(7));
    sample b = sample_new(ACL_BF16, "", DIMS(7));
    sample h = sample_new(ACL_FLOAT16, "", DIMS(7));
    memcpy(x.memory, in, sizeof in);
    LAUNCH(aclnnCast, x.handle, ACL_BF16, b.handle);
    for (int i = 0; i < 7; i++) CHECK(sample_get(&b, i) == want[i]);
    LAUNCH(aclnnCast, x.handle, ACL_FLOAT16, h.handle);
    for (int i = 0; i < 7; i++) CHECK(sample_get(&h, i) == (in[i] < 0 ? -(double)INFINITY : (double)INFINITY));
    sample_free(&x);
    sample_free(&b);
    sample_free(&h);
}

static void permutations(void) {
    const int64_t orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, -1, 0}, {-3, 2, 1}};
    const aclDataType types[] = {ACL_FLOAT, ACL_FLOAT16, ACL_INT64, ACL_INT8};
    const int64_t dims[] = {3, 4, 5};
    for (int c = 0; c < 16; c++) {
        int64_t order[3], result[3];
        for (int i = 0; i < 3; i++) order[i] = (orders[c / 4][i] + 3) % 3;
        for (int i = 0; i < 3; i++) result[i] = dims[order[i]];
        sample x = sample_new(types[c % 4], layouts[c % 4], 3, dims);
        sample y = sample_new(types[c % 4], layouts[c / 4], 3, result);
        aclIntArray *list = aclCreateIntArray(orders[c / 4], 3);
        sample_fill(&x, -100, 100);
        LAUNCH(aclnnPermute, x.handle, list, y.handle);
        for (int64_t i = 0; i < 60; i++) {
            int64_t index[3];
            index[order[2]] = i % result[2];
            index[order[1]] = i / result[2] % result[1];
            index[order[0]] = i / result[2] / result[1];
            CHECK(sample_get(&y, i) == sample_get(&x, (index[0] * 4 + index[1]) * 5 + index[2]));
        }
        aclDestroyIntArray(list);
        sample_free(&x);
        sample_free(&y);
    }
    sample x = sample_new(ACL_FLOAT, "", DIMS(3, 4));
    aclIntArray *twice = aclCreateIntArray((int64_t[]){1, -1}, 2);
    aclIntArray *one = aclCreateIntArray((int64_t[]){1}, 1);
    REFUSED(161002, "names dimension 1 twice", aclnnPermute, x.handle, twice, x.handle);
    REFUSED(161002, "dims has 1 entries", aclnnPermute, x.handle, one, x.handle);
    REFUSED(161001, "dims", aclnnPermute, x.handle, NULL, x.handle);
    aclDestroyIntArray(twice);
    aclDestroyIntArray(one);
    sample_free(&x);
}

static void bad_gelus_are_refused(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(3));
    sample h = sample_new(ACL_FLOAT16, "", DIMS(3));
    sample i = sample_new(ACL_INT32, "", DIMS(3));
    REFUSED(161002, "FLOAT and FLOAT16", aclnnGelu, x.handle, h.handle);
    REFUSED(161002, "INT32", aclnnGelu, i.handle, i.handle);
    REFUSED(161002, "approximate is 2", aclnnGeluV2, x.handle, 2, x.handle);
    REFUSED(161002, "cannot be stored as INT32", aclnnTanh, i.handle, i.handle);
    sample_free(&x);
    sample_free(&h);
    sample_free(&i);
}

int main(void) {
    binary_operators_of_all_types_and_layouts();
    lower_ranks_broadcast_and_types_promote();
    scalar_forms();
    in_place_forms_write_their_operand();
    gaps_stay_untouched();
    unary_functions_are_accurate();
    unary_functions_of_all_layouts();
    special_values();
    half_precision_is_exact();
    casts_between_all_types();
    doubles_are_rounded_to_half_once();
    integers_are_rounded_to_halves_once();
    permutations();
    bad_gelus_are_refused();
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_elementwise: ok");
    return 0;
}
