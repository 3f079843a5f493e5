/* Products of every layout and type against a plain triple loop in double precision. */
#include "aclnnop/aclnn_addmm.h"
#include "aclnnop/aclnn_batch_matmul.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_mm.h"
#include "operators/support.h"

static sample filled(aclDataType dtype, const char *layout, int rank, const int64_t *dims) {
    sample s = sample_new(dtype, layout, rank, dims);
    sample_fill(&s, -1, 1);
    return s;
}

/* Row i of matrix `at` of x times column j of matrix `at` of y. */
static double dot(const sample *x, const sample *y, int64_t x0, int64_t y0, int64_t k, int64_t step) {
    double sum = 0;
    for (int64_t p = 0; p < k; p++) sum += sample_get(x, x0 + p) * sample_get(y, y0 + p * step);
    return sum;
}

/* The bound on f32 summation of k products of numbers below one, for results stored in `dtype`. */
static bool near(aclDataType dtype, double got, double want, int64_t k) {
    const double sum = 1.2e-7 * (double)k;
    const double store = dtype == ACL_FLOAT16 ? 0x1p-11 : dtype == ACL_BF16 ? 0x1p-8 : 0x1p-24;
    return fabs(got - want) <= sum + store * fabs(want) * 1.01;
}

static void check_mm(
    aclDataType dtype, const char *lx, const char *ly, const char *lo, int64_t m, int64_t n, int64_t k) {
    sample x = filled(dtype, lx, DIMS(m, k));
    sample y = filled(dtype, ly, DIMS(k, n));
    sample out = sample_new(dtype, lo, DIMS(m, n));
    LAUNCH(aclnnMm, x.handle, y.handle, out.handle, 1);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            CHECK(near(dtype, sample_get(&out, i * n + j), dot(&x, &y, i * k, j, k, n), k));
        }
    }
    sample_free(&x);
    sample_free(&y);
    sample_free(&out);
}

static void mm_of_all_layouts(void) {
    const aclDataType types[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
    const char *layouts[] = {"", "10", "g", "g10"};
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < 64; i++) {
            check_mm(types[t], layouts[i & 3], layouts[i >> 2 & 3], layouts[i >> 4], 7, 19, 23);
        }
    }
    check_mm(ACL_FLOAT, "", "", "", 1, 1, 1);
    check_mm(ACL_FLOAT, "", "10", "", 101, 530, 300);
    check_mm(ACL_FLOAT16, "10", "", "g", 97, 33, 513);
    check_mm(ACL_FLOAT, "", "", "", 6, 16, 256);
}

static void an_empty_inner_dimension_gives_zeros(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(3, 0));
    sample y = sample_new(ACL_FLOAT, "", DIMS(0, 4));
    sample out = sample_new(ACL_FLOAT, "", DIMS(3, 4));
    LAUNCH(aclnnMm, x.handle, y.handle, out.handle, 0);
    CHECK_ALL(out, 0, 0.0)
    sample_free(&x);
    sample_free(&y);
    sample_free(&out);
}

static void batches_broadcast(void) {
    const int64_t batches[][2] = {{3, 3}, {1, 3}, {3, 1}};
    const char *layouts[] = {"", "021", "102", "g210"};
    for (int c = 0; c < 12; c++) {
        const int64_t bx = batches[c / 4][0], by = batches[c / 4][1];
        sample x = filled(ACL_FLOAT, layouts[c % 4], DIMS(bx, 5, 9));
        sample y = filled(ACL_FLOAT, layouts[3 - c % 4], DIMS(by, 9, 17));
        sample out = sample_new(ACL_FLOAT, layouts[c % 4], DIMS(3, 5, 17));
        LAUNCH(aclnnBatchMatMul, x.handle, y.handle, out.handle, 0);
        for (int64_t i = 0; i < out.count; i++) {
            const int64_t b = i / 85, row = i / 17 % 5, column = i % 17;
            const double want =
                dot(&x, &y, (bx == 1 ? 0 : b) * 45 + row * 9, (by == 1 ? 0 : b) * 153 + column, 9, 17);
            CHECK(near(ACL_FLOAT, sample_get(&out, i), want, 9));
        }
        sample_free(&x);
        sample_free(&y);
        sample_free(&out);
    }
}

static void matmul_takes_vectors_and_stacks(void) {
    sample v = filled(ACL_FLOAT, "g", DIMS(8));
    sample a = filled(ACL_FLOAT, "", DIMS(5, 8));
    sample b = filled(ACL_FLOAT, "10", DIMS(8, 5));
    sample s = filled(ACL_FLOAT, "", DIMS(2, 1, 8, 3));
    sample t = filled(ACL_FLOAT, "", DIMS(4, 6, 8));
    sample dot_out = sample_new(ACL_FLOAT, "", 0, NULL);
    sample av = sample_new(ACL_FLOAT, "g", DIMS(5));
    sample vb = sample_new(ACL_FLOAT, "g", DIMS(5));
    sample ts = sample_new(ACL_FLOAT, "3210", DIMS(2, 4, 6, 3));
    sample tv = sample_new(ACL_FLOAT, "10", DIMS(4, 6));
    LAUNCH(aclnnMatmul, v.handle, v.handle, dot_out.handle, 0);
    LAUNCH(aclnnMatmul, a.handle, v.handle, av.handle, 0);
    LAUNCH(aclnnMatmul, v.handle, b.handle, vb.handle, 0);
    LAUNCH(aclnnMatmul, t.handle, s.handle, ts.handle, 0);
    LAUNCH(aclnnMatmul, t.handle, v.handle, tv.handle, 0);
    CHECK(near(ACL_FLOAT, sample_get(&dot_out, 0), dot(&v, &v, 0, 0, 8, 1), 8));
    for (int64_t i = 0; i < 5; i++) {
        CHECK(near(ACL_FLOAT, sample_get(&av, i), dot(&a, &v, i * 8, 0, 8, 1), 8));
        CHECK(near(ACL_FLOAT, sample_get(&vb, i), dot(&v, &b, 0, i, 8, 5), 8));
    }
    for (int64_t i = 0; i < ts.count; i++) {
        const int64_t high = i / 72, low = i / 18 % 4, row = i / 3 % 6, column = i % 3;
        CHECK(near(ACL_FLOAT, sample_get(&ts, i), dot(&t, &s, (low * 6 + row) * 8, high * 24 + column, 8, 3),
            8));
    }
    for (int64_t i = 0; i < tv.count; i++) {
        CHECK(near(ACL_FLOAT, sample_get(&tv, i), dot(&t, &v, i * 8, 0, 8, 1), 8));
    }
    sample *all[] = {&v, &a, &b, &s, &t, &dot_out, &av, &vb, &ts, &tv};
    for (int i = 0; i < 10; i++) sample_free(all[i]);
}

static void addmm_blends_a_broadcast_addend(void) {
    const int64_t shapes[][2] = {{4, 600}, {1, 600}, {4, 1}, {1, 1}};
    aclScalar *alpha = scalar_float(0.5f), *beta = scalar_float(-2), *none[] = {scalar_float(0), scalar_float(-1e-7f)};
    sample x = filled(ACL_FLOAT, "", DIMS(4, 3));
    sample y = filled(ACL_FLOAT, "10", DIMS(3, 600));
    for (int c = 0; c < 4; c++) {
        sample self = filled(ACL_FLOAT, c == 0 ? "g10" : "", 2, shapes[c]);
        sample out = sample_new(ACL_FLOAT, "", DIMS(4, 600));
        LAUNCH(aclnnAddmm, self.handle, x.handle, y.handle, beta, alpha, out.handle, 1);
        for (int64_t i = 0; i < out.count; i++) {
            const double want = -2 * sample_seen(&self, &out, i) + 0.5 * dot(&x, &y, i / 600 * 3, i % 600, 3,
                600);
            CHECK(near(ACL_FLOAT, sample_get(&out, i), want, 8));
        }
        /* beta 0, and what is taken for it, does not even look at self. */
        for (int64_t i = 0; i < self.count; i++) sample_set(&self, i, (double)NAN);
        for (int n = 0; n < 2; n++) {
            LAUNCH(aclnnAddmm, self.handle, x.handle, y.handle, none[n], alpha, out.handle, 1);
            for (int64_t i = 0; i < out.count; i++) CHECK(!isnan(sample_get(&out, i)));
        }
        sample_free(&self);
        sample_free(&out);
    }
    /* In place: out is self. */
    sample out = filled(ACL_FLOAT, "", DIMS(4, 600));
    double before[2400];
    for (int64_t i = 0; i < 2400; i++) before[i] = sample_get(&out, i);
    LAUNCH(aclnnAddmm, out.handle, x.handle, y.handle, beta, alpha, out.handle, 1);
    for (int64_t i = 0; i < 2400; i++) {
        const double want = -2 * before[i] + 0.5 * dot(&x, &y, i / 600 * 3, i % 600, 3, 600);
        CHECK(near(ACL_FLOAT, sample_get(&out, i), want, 8));
    }
    sample_free(&out);
    sample_free(&x);
    sample_free(&y);
    aclDestroyScalar(alpha);
    aclDestroyScalar(beta);
    for (int n = 0; n < 2; n++) aclDestroyScalar(none[n]);
}

static void bad_products_are_refused(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(4, 3));
    sample y = sample_new(ACL_FLOAT, "", DIMS(3, 5));
    sample i = sample_new(ACL_INT32, "", DIMS(3, 5));
    sample out = sample_new(ACL_FLOAT, "", DIMS(4, 5));
    sample d3 = sample_new(ACL_FLOAT, "", DIMS(2, 4, 3));
    sample e3 = sample_new(ACL_FLOAT, "", DIMS(3, 3, 5));
    sample o3 = sample_new(ACL_FLOAT, "", DIMS(3, 4, 5));
    REFUSED(161002, "self [4, 3] and mat2 [4, 3]", aclnnMm, x.handle, x.handle, out.handle, 0);
    REFUSED(161002, "[4, 3], expected [4, 5]", aclnnMm, x.handle, y.handle, x.handle, 0);
    REFUSED(161002, "cubeMathType is 4", aclnnMm, x.handle, y.handle, out.handle, 4);
    REFUSED(161002, "INT32", aclnnMm, x.handle, i.handle, out.handle, 0);
    REFUSED(161002, "must have 2 dimensions", aclnnMm, d3.handle, y.handle, out.handle, 0);
    REFUSED(161002, "must have 3 dimensions", aclnnBatchMatMul, x.handle, y.handle, out.handle, 0);
    REFUSED(161002, "do not broadcast", aclnnBatchMatMul, d3.handle, e3.handle, o3.handle, 0);
    REFUSED(161001, "mat2", aclnnMatmul, x.handle, NULL, out.handle, 0);
    sample *all[] = {&x, &y, &i, &out, &d3, &e3, &o3};
    for (int s = 0; s < 7; s++) sample_free(all[s]);
}

static void the_workspace_is_needed_and_checked(void) {
    sample x = filled(ACL_FLOAT16, "10", DIMS(4, 3));
    sample y = filled(ACL_FLOAT16, "", DIMS(3, 5));
    sample out = sample_new(ACL_FLOAT16, "", DIMS(4, 5));
    uint64_t size;
    aclOpExecutor *executor;
    CHECK(aclnnMmGetWorkspaceSize(x.handle, y.handle, out.handle, 0, &size, &executor) == 0 && size == 512);
    char *workspace = device_alloc(size);
    CHECK(aclnnMm(workspace, size - 1, executor, NULL) == 161002);
    CHECK(aclnnMm(NULL, size, executor, NULL) == 161001);
    /* Refused launches leave the executor usable; memory that is not there fails on the device. */
    CHECK(aclnnMm(workspace + 64, size, executor, NULL) == 0);
    CHECK(stub_drain() == 507015);
    device_free(workspace);
    sample_free(&x);
    sample_free(&y);
    sample_free(&out);
}

int main(void) {
    mm_of_all_layouts();
    an_empty_inner_dimension_gives_zeros();
    batches_broadcast();
    matmul_takes_vectors_and_stacks();
    addmm_blends_a_broadcast_addend();
    bad_products_are_refused();
    the_workspace_is_needed_and_checked();
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_matmul: ok");
    return 0;
}
