/* Softmax, layer norm, reductions and embedding against plain loops in double precision. */
#include "aclnnop/aclnn_embedding.h"
#include "aclnnop/aclnn_layer_norm.h"
#include "aclnnop/aclnn_mean.h"
#include "aclnnop/aclnn_reduce_sum.h"
#include "aclnnop/aclnn_softmax.h"
#include "operators/support.h"

static const aclDataType floats[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

/* Logical distance of neighbours along a dimension. */
static int64_t pitch(const sample *s, int dim) {
    int64_t step = 1;
    for (int i = s->rank - 1; i > dim; i--) step *= s->dims[i];
    return step;
}

static void check_softmax(
    aclDataType dtype, const char *in, const char *out, int dim, double low, double high) {
    sample x = sample_new(dtype, in, DIMS(3, 67, 5));
    sample y = sample_new(dtype, out, DIMS(3, 67, 5));
    const int along = dim < 0 ? dim + 3 : dim;
    const int64_t step = pitch(&x, along), n = x.dims[along];
    sample_fill(&x, low, high);
    LAUNCH(aclnnSoftmax, x.handle, dim, y.handle);
    for (int64_t i = 0; i < x.count; i++) {
        const int64_t first = i - i / step % n * step;
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += exp(sample_get(&x, first + j * step) - sample_get(&x, i));
        const double want = 1 / sum;
        /* The difference to the largest value is itself rounded, which the exponential passes on. */
        CHECK(close_to(dtype, sample_get(&y, i), want, 6 + (high - low)) || want < 1e-36);
    }
    sample_free(&x);
    sample_free(&y);
}

static void softmax_of_every_dimension(void) {
    const char *layouts[] = {"", "210", "g", "g102"};
    for (int t = 0; t < 3; t++) {
        for (int l = 0; l < 4; l++) {
            for (int dim = -3; dim < 3; dim++) {
                check_softmax(floats[t], layouts[l], layouts[3 - l], dim, -4, 4);
            }
        }
    }
    /* Large values neither overflow nor lose the sum. */
    check_softmax(ACL_FLOAT, "", "", 1, 10000, 10060);
    check_softmax(ACL_FLOAT, "", "", -1, -300, 300);
}

static void softmax_of_infinities(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(3, 5));
    sample_fill(&x, -1, 1);
    for (int i = 0; i < 5; i++) sample_set(&x, i, -(double)INFINITY);
    for (int i = 6; i < 10; i++) sample_set(&x, i, -(double)INFINITY);
    LAUNCH(aclnnSoftmax, x.handle, -1, x.handle);
    for (int i = 0; i < 5; i++) CHECK(isnan(sample_get(&x, i)));
    for (int i = 5; i < 10; i++) CHECK(sample_get(&x, i) == (i == 5 ? 1 : 0));
    sample scalar = sample_new(ACL_FLOAT, "", 0, NULL);
    sample_set(&scalar, 0, 7);
    LAUNCH(aclnnSoftmax, scalar.handle, -1, scalar.handle);
    CHECK(sample_get(&scalar, 0) == 1);
    sample empty = sample_new(ACL_FLOAT, "", DIMS(3, 0));
    LAUNCH(aclnnSoftmax, empty.handle, 1, empty.handle);
    REFUSED(161002, "dim 2 is out of range", aclnnSoftmax, x.handle, 2, x.handle);
    REFUSED(161002, "[3, 0], expected [3, 5]", aclnnSoftmax, x.handle, 0, empty.handle);
    REFUSED(161001, "out", aclnnSoftmax, x.handle, 0, NULL);
    sample_free(&x);
    sample_free(&scalar);
    sample_free(&empty);
}

typedef struct norm_case {
    aclDataType dtype, parameters, statistics;
    const char *in, *out, *weights;
    int axis;
    bool weight, bias, mean, rstd;
} norm_case;

static void statistics_of(const sample *x, int64_t first, int64_t n, double eps, double *mean, double *rstd) {
    double sum = 0, square = 0;
    for (int64_t i = 0; i < n; i++) sum += sample_get(x, first + i);
    *mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) square += pow(sample_get(x, first + i) - *mean, 2);
    *rstd = 1 / sqrt(square / (double)n + eps);
}

static void check_norm(const norm_case *c) {
    const int64_t dims[] = {4, 3, 10, 7};
    const int64_t ones[] = {c->axis > 0 ? 4 : 1, c->axis > 1 ? 3 : 1, c->axis > 2 ? 10 : 1, 1};
    const double eps = 1e-5;
    sample x = sample_new(c->dtype, c->in, 4, dims);
    sample y = sample_new(c->dtype, c->out, 4, dims);
    sample w = sample_new(c->parameters, c->weights, 4 - c->axis, dims + c->axis);
    sample b = sample_new(c->parameters, c->weights, 4 - c->axis, dims + c->axis);
    sample mean = sample_new(c->statistics, "", 4, ones);
    sample rstd = sample_new(c->statistics, "", 4, ones);
    aclIntArray *shape = aclCreateIntArray(dims + c->axis, (uint64_t)(4 - c->axis));
    sample_fill(&x, -2, 3);
    sample_fill(&w, 0.5, 2);
    sample_fill(&b, -1, 1);
    LAUNCH(aclnnLayerNorm, x.handle, shape, c->weight ? w.handle : NULL, c->bias ? b.handle : NULL, eps,
        y.handle,
        c->mean ? mean.handle : NULL, c->rstd ? rstd.handle : NULL);
    for (int64_t line = 0; line < mean.count; line++) {
        const int64_t n = w.count;
        double average, inverse;
        statistics_of(&x, line * n, n, eps, &average, &inverse);
        CHECK(!c->mean || fabs(sample_get(&mean, line) - average) < 4e-3 * (fabs(average) + 1e-3));
        CHECK(!c->rstd || close_to(c->statistics, sample_get(&rstd, line), inverse, 1));
        for (int64_t i = 0; i < n; i++) {
            double want = (sample_get(&x, line * n + i) - average) * inverse;
            if (c->weight) want *= sample_get(&w, i);
            if (c->bias) want += sample_get(&b, i);
            const double slack = c->dtype == ACL_FLOAT ? 2e-6 : c->dtype == ACL_FLOAT16 ? 2e-3 : 2e-2;
            CHECK(fabs(sample_get(&y, line * n + i) - want) < slack);
        }
    }
    aclDestroyIntArray(shape);
    sample *all[] = {&x, &y, &w, &b, &mean, &rstd};
    for (int i = 0; i < 6; i++) sample_free(all[i]);
}

static void layer_norm_with_and_without_options(void) {
    const norm_case cases[] = {
        {ACL_FLOAT, ACL_FLOAT, ACL_FLOAT, "", "", "", 3, true, true, true, true},
        {ACL_FLOAT, ACL_FLOAT, ACL_FLOAT, "", "", "", 2, false, false, false, false},
        {ACL_FLOAT, ACL_FLOAT, ACL_FLOAT, "3210", "", "g", 2, true, false, false, true},
        {ACL_FLOAT, ACL_FLOAT16, ACL_FLOAT, "", "g0213", "", 1, false, true, true, false},
        {ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16, "", "", "", 3, true, true, true, true},
        {ACL_FLOAT16, ACL_FLOAT, ACL_FLOAT, "g3210", "0132", "", 2, true, true, true, true},
        {ACL_BF16, ACL_BF16, ACL_FLOAT, "", "", "g", 0, true, true, true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check_norm(&cases[i]);
}

static void bad_layer_norms_are_refused(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(4, 6));
    sample w = sample_new(ACL_FLOAT, "", DIMS(4));
    sample h = sample_new(ACL_FLOAT16, "", DIMS(4, 6));
    aclIntArray *six = aclCreateIntArray((int64_t[]){6}, 1);
    aclIntArray *four = aclCreateIntArray((int64_t[]){4}, 1);
    aclIntArray *none = aclCreateIntArray(NULL, 0);
    REFUSED(161002, "[4] is not the end", aclnnLayerNorm, x.handle, four, NULL, NULL, 0, x.handle, NULL,
        NULL);
    REFUSED(161002, "0 entries", aclnnLayerNorm, x.handle, none, NULL, NULL, 0, x.handle, NULL, NULL);
    REFUSED(161002, "weightOptional has shape [4]", aclnnLayerNorm, x.handle, six, w.handle, NULL, 0,
        x.handle, NULL,
        NULL);
    REFUSED(161002, "out has data type", aclnnLayerNorm, x.handle, six, NULL, NULL, 0, h.handle, NULL, NULL);
    REFUSED(161001, "normalizedShape", aclnnLayerNorm, x.handle, NULL, NULL, NULL, 0, x.handle, NULL, NULL);
    aclDestroyIntArray(six);
    aclDestroyIntArray(four);
    aclDestroyIntArray(none);
    sample_free(&x);
    sample_free(&w);
    sample_free(&h);
}

/* The reference: every input element goes to the result it belongs to. */
static void reduce_reference(const sample *x, unsigned set, double *sums) {
    for (int64_t i = 0; i < x->count; i++) {
        int64_t rest = i, at = 0, scale = 1;
        for (int d = x->rank; d-- > 0;) {
            const int64_t index = rest % x->dims[d];
            rest /= x->dims[d];
            if ((set >> d & 1) != 0) continue;
            at += index * scale;
            scale *= x->dims[d];
        }
        sums[at] += sample_get(x, i);
    }
}

static void check_reduce(
    aclDataType dtype, aclDataType to, const char *in, const char *out, unsigned set, bool keep) {
    const int64_t dims[] = {4, 5, 1, 9};
    int64_t listed[4], result[4], kept = 1, lists = 0, rank = 0;
    for (int d = 0; d < 4; d++) {
        const bool gone = (set >> d & 1) != 0;
        if (gone) listed[lists++] = d % 2 == 0 ? d : d - 4;
        if (!gone) kept *= dims[d];
        if (!gone || keep) result[rank++] = gone ? 1 : dims[d];
    }
    sample x = sample_new(dtype, in, 4, dims);
    sample y = sample_new(to, rank == 4 ? out : "", (int)rank, result);
    sample m = sample_new(ACL_FLOAT, "", (int)rank, result);
    aclIntArray *list = aclCreateIntArray(listed, (uint64_t)lists);
    double sums[4 * 5 * 9] = {0};
    sample_fill(&x, -9, 10);
    reduce_reference(&x, lists == 0 ? 15 : set, sums);
    LAUNCH(aclnnReduceSum, x.handle, list, keep, to, y.handle);
    CHECK_ALL(y, to == ACL_DOUBLE ? 1e6 : 0.51, sums[i])
    LAUNCH(aclnnMean, x.handle, list, keep, ACL_FLOAT, m.handle);
    CHECK_ALL(m, 0.51, sums[i] / (double)(x.count / kept))
    aclDestroyIntArray(list);
    sample_free(&x);
    sample_free(&y);
    sample_free(&m);
}

static void reductions_of_every_set_of_dimensions(void) {
    const aclDataType types[][2] = {{ACL_FLOAT, ACL_FLOAT}, {ACL_FLOAT16, ACL_FLOAT16}, {ACL_BF16, ACL_FLOAT},
        {ACL_INT32, ACL_INT64}, {ACL_INT64, ACL_INT32}, {ACL_INT8, ACL_FLOAT}, {ACL_DOUBLE, ACL_DOUBLE}};
    const char *layouts[] = {"", "3210", "g1302"};
    for (int t = 0; t < 7; t++) {
        for (unsigned set = 1; set < 16; set++) {
            for (int l = 0; l < 3; l++) {
                check_reduce(types[t][0], types[t][1], layouts[l], layouts[2 - l], set, true);
                check_reduce(types[t][0], types[t][1], layouts[l], layouts[2 - l], set, false);
            }
        }
    }
}

static void reductions_of_nothing_and_of_everything(void) {
    sample empty = sample_new(ACL_FLOAT, "", DIMS(3, 0));
    sample x = sample_new(ACL_FLOAT, "", DIMS(3, 4));
    sample three = sample_new(ACL_FLOAT, "", DIMS(3));
    sample one = sample_new(ACL_FLOAT, "", 0, NULL);
    aclIntArray *all = aclCreateIntArray(NULL, 0);
    aclIntArray *last = aclCreateIntArray((int64_t[]){-1}, 1);
    aclIntArray *twice = aclCreateIntArray((int64_t[]){1, -1}, 2);
    aclIntArray *far = aclCreateIntArray((int64_t[]){2}, 1);
    LAUNCH(aclnnReduceSum, empty.handle, last, false, ACL_FLOAT, three.handle);
    CHECK_ALL(three, 0, 0.0)
    LAUNCH(aclnnMean, empty.handle, last, false, ACL_FLOAT, three.handle);
    for (int i = 0; i < 3; i++) CHECK(isnan(sample_get(&three, i)));
    sample_fill(&x, 0, 1);
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += sample_get(&x, i);
    LAUNCH(aclnnReduceSum, x.handle, all, false, ACL_FLOAT, one.handle);
    CHECK_ALL(one, 0.51, sum)
    REFUSED(161002, "twice", aclnnReduceSum, x.handle, twice, false, ACL_FLOAT, three.handle);
    REFUSED(161002, "out of range", aclnnMean, x.handle, far, false, ACL_FLOAT, three.handle);
    REFUSED(161002, "dtype is FLOAT16", aclnnMean, x.handle, last, false, ACL_FLOAT16, three.handle);
    REFUSED(161002, "[3], expected [3, 1]", aclnnMean, x.handle, last, true, ACL_FLOAT, three.handle);
    REFUSED(161001, "dims", aclnnReduceSum, x.handle, NULL, false, ACL_FLOAT, three.handle);
    aclDestroyIntArray(all);
    aclDestroyIntArray(last);
    aclDestroyIntArray(twice);
    aclDestroyIntArray(far);
    sample_free(&empty);
    sample_free(&x);
    sample_free(&three);
    sample_free(&one);
}

static void embedding_copies_rows(void) {
    const aclDataType types[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT32, ACL_INT64};
    const char *tables[] = {"", "10", "g"}, *lists[] = {"", "g10"}, *outs[] = {"", "g210"};
    for (int c = 0; c < 72; c++) {
        sample table = sample_new(types[c % 6], tables[c / 6 % 3], DIMS(11, 6));
        sample list = sample_new(c % 2 == 0 ? ACL_INT32 : ACL_INT64, lists[c / 18 % 2], DIMS(3, 5));
        sample out = sample_new(types[c % 6], outs[c / 36], DIMS(3, 5, 6));
        sample_fill(&table, -99, 99);
        sample_fill(&list, 0, 11);
        LAUNCH(aclnnEmbedding, table.handle, list.handle, out.handle);
        CHECK_ALL(out, 0, sample_get(&table, (int64_t)sample_get(&list, i / 6) * 6 + i % 6))
        sample_set(&list, 7, c % 3 == 0 ? -1 : 11);
        LAUNCH_EXPECTING(507015, aclnnEmbedding, table.handle, list.handle, out.handle);
        sample_free(&table);
        sample_free(&list);
        sample_free(&out);
    }
}

static void bad_embeddings_are_refused(void) {
    sample table = sample_new(ACL_FLOAT, "", DIMS(11, 6));
    sample list = sample_new(ACL_INT64, "", DIMS(3));
    sample real = sample_new(ACL_FLOAT, "", DIMS(3));
    sample out = sample_new(ACL_FLOAT, "", DIMS(3, 6));
    REFUSED(161002, "INT32 or INT64", aclnnEmbedding, table.handle, real.handle, out.handle);
    REFUSED(161002, "expected 2 dimensions", aclnnEmbedding, real.handle, list.handle, out.handle);
    REFUSED(161002, "[11, 6], expected [3, 6]", aclnnEmbedding, table.handle, list.handle, table.handle);
    REFUSED(161001, "indices", aclnnEmbedding, table.handle, NULL, out.handle);
    sample_free(&table);
    sample_free(&list);
    sample_free(&real);
    sample_free(&out);
}

int main(void) {
    softmax_of_every_dimension();
    softmax_of_infinities();
    layer_norm_with_and_without_options();
    bad_layer_norms_are_refused();
    reductions_of_every_set_of_dimensions();
    reductions_of_nothing_and_of_everything();
    embedding_copies_rows();
    bad_embeddings_are_refused();
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_lines: ok");
    return 0;
}
