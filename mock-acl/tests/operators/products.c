/* Bad arguments to every product: each operand in turn is null, stale, of another type, format, rank or size;
 * then bad second phases, and results that lie on an operand. */
#include "aclnnop/aclnn_addbmm.h"
#include "aclnnop/aclnn_addmm.h"
#include "aclnnop/aclnn_addmv.h"
#include "aclnnop/aclnn_addr.h"
#include "aclnnop/aclnn_baddbmm.h"
#include "aclnnop/aclnn_batch_matmul.h"
#include "aclnnop/aclnn_dot.h"
#include "aclnnop/aclnn_gemm.h"
#include "aclnnop/aclnn_ger.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_mm.h"
#include "aclnnop/aclnn_mv.h"
#include "aclnnop/aclnn_quant_matmul_v3.h"
#include "aclnnop/aclnn_quant_matmul_v4.h"
#include "aclnnop/aclnn_quant_matmul_v5.h"
#include "aclnnop/aclnn_triangular_solve.h"
#include "aclnnop/aclnn_weight_quant_batch_matmul_v2.h"
#include "aclnnop/aclnn_weight_quant_batch_matmul_v3.h"
#include "operators/support.h"

#define MOST 6

typedef struct operand {
    const char *name;
    aclDataType dtype;
    int rank;
    int64_t dims[3];
    bool optional;
} operand;

typedef aclnnStatus (*first_phase)(aclTensor **t, uint64_t *size, aclOpExecutor **executor);
typedef aclnnStatus (*second_phase)(void *workspace, uint64_t size, aclOpExecutor *executor, aclrtStream stream);

typedef struct op {
    const char *name;
    first_phase first;
    second_phase second;
    operand operands[MOST + 1];
    int out;        /* the operand that is written */
    int on;         /* an operand that it must not lie on, -1 for none */
} op;

static aclScalar *one;

#define FIRST(NAME, ...)                                                                              \
    static aclnnStatus first_##NAME(aclTensor **t, uint64_t *size, aclOpExecutor **executor) {        \
        return aclnn##NAME##GetWorkspaceSize(__VA_ARGS__, size, executor);                            \
    }
FIRST(Mm, t[0], t[1], t[2], 0)
FIRST(Matmul, t[0], t[1], t[2], 0)
FIRST(BatchMatMul, t[0], t[1], t[2], 0)
FIRST(Mv, t[0], t[1], t[2], 0)
FIRST(Dot, t[0], t[1], t[2])
FIRST(Ger, t[0], t[1], t[2])
FIRST(Addmm, t[0], t[1], t[2], one, one, t[3], 0)
FIRST(Baddbmm, t[0], t[1], t[2], one, one, t[3], 0)
FIRST(Addbmm, t[0], t[1], t[2], one, one, t[3], 0)
FIRST(Addmv, t[0], t[1], t[2], one, one, t[3], 0)
FIRST(Addr, t[0], t[1], t[2], NULL, NULL, t[3])
FIRST(InplaceAddmm, t[0], t[1], t[2], one, one, 0)
FIRST(InplaceBaddbmm, t[0], t[1], t[2], one, one, 0)
FIRST(InplaceAddbmm, t[0], t[1], t[2], one, one, 0)
FIRST(InplaceAddr, t[0], t[1], t[2], NULL, NULL)
FIRST(Gemm, t[0], t[1], t[2], 1, 1, 0, 0, t[3], 0)
FIRST(TriangularSolve, t[0], t[1], true, false, false, t[2], t[3])
FIRST(WeightQuantBatchMatmulV2, t[0], t[1], t[2], t[3], NULL, NULL, t[4], 0, t[5])
FIRST(WeightQuantBatchMatmulV3, t[0], t[1], t[2], t[3], NULL, NULL, t[4], 0, 1, t[5])
FIRST(QuantMatmulV3, t[0], t[1], t[2], NULL, t[3], false, false, t[4])
FIRST(QuantMatmulV4, t[0], t[1], t[2], NULL, t[3], t[4], false, false, t[5])
FIRST(QuantMatmulV5, t[0], t[1], t[3], t[2], NULL, NULL, NULL, NULL, t[4], false, false, 0, t[5])

#define F32 ACL_FLOAT
#define F16 ACL_FLOAT16
#define OP(NAME) "aclnn" #NAME, first_##NAME, aclnn##NAME
static const op ops[] = {
    {OP(Mm), {{"self", F32, 2, {4, 5}, 0}, {"mat2", F32, 2, {5, 5}, 0}, {"out", F32, 2, {4, 5}, 0}}, 2, 0},
    {OP(Matmul), {{"self", F16, 2, {4, 5}, 0}, {"mat2", F16, 2, {5, 5}, 0}, {"out", F16, 2, {4, 5}, 0}}, 2, 0},
    {OP(BatchMatMul),
        {{"self", F32, 3, {2, 4, 5}, 0}, {"mat2", F32, 3, {2, 5, 5}, 0}, {"out", F32, 3, {2, 4, 5}, 0}}, 2, 0},
    {OP(Mv), {{"self", F32, 2, {4, 4}, 0}, {"vec", F32, 1, {4}, 0}, {"out", F32, 1, {4}, 0}}, 2, 1},
    {OP(Dot), {{"self", F16, 1, {7}, 0}, {"tensor", F16, 1, {7}, 0}, {"out", F16, 0, {0}, 0}}, 2, 0},
    {OP(Ger), {{"self", F32, 1, {3}, 0}, {"vec2", F32, 1, {1}, 0}, {"out", F32, 2, {3, 1}, 0}}, 2, 0},
    {OP(Addmm),
        {{"self", F32, 2, {4, 5}, 0}, {"mat1", F32, 2, {4, 4}, 0}, {"mat2", F32, 2, {4, 5}, 0},
            {"out", F32, 2, {4, 5}, 0}}, 3, 2},
    {OP(Baddbmm),
        {{"self", F32, 3, {2, 4, 5}, 0}, {"batch1", F32, 3, {2, 4, 4}, 0}, {"batch2", F32, 3, {2, 4, 5}, 0},
            {"out", F32, 3, {2, 4, 5}, 0}}, 3, 2},
    {OP(Addbmm),
        {{"self", F32, 2, {4, 5}, 0}, {"batch1", F32, 3, {2, 4, 4}, 0}, {"batch2", F32, 3, {2, 4, 5}, 0},
            {"out", F32, 2, {4, 5}, 0}}, 3, 2},
    {OP(Addmv),
        {{"self", F32, 1, {4}, 0}, {"mat", F32, 2, {4, 4}, 0}, {"vec", F32, 1, {4}, 0}, {"out", F32, 1, {4}, 0}},
        3, 2},
    {OP(Addr),
        {{"self", F32, 2, {1, 4}, 0}, {"vec1", F32, 1, {1}, 0}, {"vec2", F32, 1, {4}, 0},
            {"out", F32, 2, {1, 4}, 0}}, 3, 2},
    {OP(InplaceAddmm),
        {{"selfRef", F32, 2, {4, 5}, 0}, {"mat1", F32, 2, {4, 4}, 0}, {"mat2", F32, 2, {4, 5}, 0}}, 0, 2},
    {OP(InplaceBaddbmm),
        {{"selfRef", F32, 3, {2, 4, 5}, 0}, {"batch1", F32, 3, {2, 4, 4}, 0}, {"batch2", F32, 3, {2, 4, 5}, 0}},
        0, 2},
    {OP(InplaceAddbmm),
        {{"selfRef", F32, 2, {4, 5}, 0}, {"batch1", F32, 3, {1, 4, 4}, 0}, {"batch2", F32, 3, {1, 4, 5}, 0}}, 0, 2},
    {OP(InplaceAddr),
        {{"selfRef", F32, 2, {3, 1}, 0}, {"vec1", F32, 1, {3}, 0}, {"vec2", F32, 1, {1}, 0}}, 0, 1},
    {OP(Gemm),
        {{"A", F32, 2, {4, 5}, 0}, {"B", F32, 2, {5, 5}, 0}, {"C", F32, 2, {4, 5}, 0}, {"out", F32, 2, {4, 5}, 0}},
        3, 0},
    {OP(TriangularSolve),
        {{"self", F32, 2, {4, 4}, 0}, {"A", F32, 2, {4, 4}, 0}, {"xOut", F32, 2, {4, 4}, 0},
            {"mOut", F32, 2, {4, 4}, 0}}, 2, 1},
    {OP(WeightQuantBatchMatmulV2),
        {{"x", F16, 2, {3, 6}, 0}, {"weight", ACL_INT8, 2, {6, 6}, 0}, {"antiquantScale", F16, 1, {6}, 0},
            {"antiquantOffsetOptional", F16, 1, {6}, 1}, {"biasOptional", F16, 1, {6}, 1},
            {"y", F16, 2, {3, 6}, 0}}, 5, 0},
    {OP(WeightQuantBatchMatmulV3),
        {{"x", ACL_BF16, 2, {3, 6}, 0}, {"weight", ACL_INT8, 2, {6, 6}, 0},
            {"antiquantScale", ACL_BF16, 2, {1, 6}, 0}, {"antiquantOffsetOptional", ACL_BF16, 1, {6}, 1},
            {"biasOptional", F32, 1, {6}, 1}, {"y", ACL_BF16, 2, {3, 6}, 0}}, 5, 0},
    {OP(QuantMatmulV3),
        {{"x1", ACL_INT8, 2, {3, 6}, 0}, {"x2", ACL_INT8, 2, {6, 7}, 0}, {"scale", F32, 1, {7}, 0},
            {"bias", ACL_INT32, 1, {7}, 1}, {"out", F16, 2, {3, 7}, 0}}, 4, -1},
    {OP(QuantMatmulV4),
        {{"x1", ACL_INT8, 2, {3, 6}, 0}, {"x2", ACL_INT8, 2, {6, 7}, 0}, {"scale", F32, 1, {7}, 0},
            {"pertokenScaleOptional", F32, 1, {3}, 1}, {"bias", F32, 1, {7}, 1}, {"out", F16, 2, {3, 7}, 0}}, 5, -1},
    {OP(QuantMatmulV5),
        {{"x1", ACL_INT8, 2, {3, 6}, 0}, {"x2", ACL_INT8, 2, {6, 7}, 0}, {"x2Scale", F32, 1, {7}, 0},
            {"x1Scale", F32, 1, {3}, 1}, {"bias", F32, 1, {7}, 1}, {"out", F16, 2, {3, 7}, 0}}, 5, -1},
};
#define OPS (int)(sizeof ops / sizeof ops[0])

static int count_of(const op *o) {
    int count = 0;
    while (count < MOST && o->operands[count].name != NULL) count++;
    return count;
}

static aclTensor *tensor(int rank, const int64_t *dims, aclDataType dtype, aclFormat format) {
    aclTensor *t = aclCreateTensor(dims, (uint64_t)rank, dtype, NULL, 0, format, dims, (uint64_t)rank, NULL);
    CHECK(t != NULL);
    return t;
}

/* The call is refused with the code and a text that names the operator and PART. */
static void refused(const op *o, aclTensor **t, aclnnStatus code, const char *part) {
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    const aclnnStatus got = o->first(t, &size, &executor);
    if (got != code || strstr(stub_text(), o->name) == NULL || strstr(stub_text(), part) == NULL) {
        fprintf(stderr, "%s, %s: %d, text: %s\n", o->name, part, got, stub_text());
        abort();
    }
    CHECK(executor == NULL);
}

/* Operand i in place of a good one. `t` keeps the good one. */
static void replaced(const op *o, aclTensor **t, int i, aclTensor *bad, aclnnStatus code, const char *part) {
    aclTensor *good = t[i];
    t[i] = bad;
    refused(o, t, code, part);
    t[i] = good;
}

static void each_operand_is_checked(const op *o, aclTensor **t) {
    aclTensor *stale = tensor(1, (int64_t[]){1}, ACL_FLOAT, ACL_FORMAT_ND);
    CHECK(aclDestroyTensor(stale) == 0);
    for (int i = 0; i < count_of(o); i++) {
        const operand *p = &o->operands[i];
        int64_t dims[4] = {2, p->dims[0], p->dims[1], p->dims[2]};
        const bool scale = strstr(p->name, "cale") != NULL;
        aclTensor *bad[] = {tensor(p->rank, p->dims, ACL_COMPLEX64, ACL_FORMAT_ND),
            tensor(p->rank, p->dims, p->dtype, ACL_FORMAT_FRACTAL_NZ),
            tensor(p->rank + 1, dims, p->dtype, ACL_FORMAT_ND)};
        if (!p->optional) replaced(o, t, i, NULL, 161001, p->name);
        replaced(o, t, i, stale, 161002, p->name);
        replaced(o, t, i, bad[0], 161002, scale ? "COMPLEX64" : p->name);
        replaced(o, t, i, bad[0], 161002, "COMPLEX64");
        replaced(o, t, i, bad[1], 161002, "format");
        replaced(o, t, i, bad[2], 161002, "shape");
        for (int k = 0; k < 3; k++) aclDestroyTensor(bad[k]);
        if (p->rank == 0) continue;
        dims[p->rank]++;
        aclTensor *longer = tensor(p->rank, dims + 1, p->dtype, ACL_FORMAT_ND);
        replaced(o, t, i, longer, 161002, "[");
        aclDestroyTensor(longer);
    }
    /* Where a result goes, null is a mistake too. */
    uint64_t size;
    aclOpExecutor *executor;
    CHECK(o->first(t, NULL, &executor) == 161001 && strstr(stub_text(), "workspaceSize") != NULL);
    CHECK(o->first(t, &size, NULL) == 161001 && strstr(stub_text(), "executor") != NULL);
}

static void second_phases_are_checked(const op *o, aclTensor **t) {
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    static char host[64];
    CHECK(o->first(t, &size, &executor) == 0);
    void *workspace = size == 0 ? NULL : device_alloc(size);
    if (size != 0) {
        CHECK(o->second(workspace, size - 1, executor, NULL) == 161002);
        CHECK(strstr(stub_text(), "workspace") != NULL);
        CHECK(o->second(NULL, size, executor, NULL) == 161001);
    }
    CHECK(o->second(workspace, size, NULL, NULL) == 161001);
    CHECK(o->second(workspace, size, executor, NULL) == 0);
    CHECK(stub_drain() == 0);
    CHECK(o->second(workspace, size, executor, NULL) == 561101);
    if (size == 0) return;
    /* Memory of the host where the workspace should be: the device faults. */
    CHECK(o->first(t, &size, &executor) == 0);
    CHECK(o->second(host, size, executor, NULL) == 0);
    CHECK(stub_drain() == 507015);
    device_free(workspace);
}

static void results_do_not_lie_on_factors(const op *o, aclTensor **t, char **memory) {
    const operand *p = &o->operands[o->out];
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    if (o->on < 0) return;
    aclTensor *good = t[o->out];
    t[o->out] = aclCreateTensor(p->dims, (uint64_t)p->rank, p->dtype, NULL, 0, ACL_FORMAT_ND, p->dims,
        (uint64_t)p->rank, memory[o->on]);
    CHECK(o->first(t, &size, &executor) == 0);
    void *workspace = size == 0 ? NULL : device_alloc(size);
    CHECK(o->second(workspace, size, executor, NULL) == 0);
    CHECK(stub_drain() == 507015);
    if (workspace != NULL) device_free(workspace);
    aclDestroyTensor(t[o->out]);
    t[o->out] = good;
}

static void check_op(const op *o) {
    sample samples[MOST];
    aclTensor *t[MOST] = {NULL};
    char *memory[MOST] = {NULL};
    const int count = count_of(o);
    for (int i = 0; i < count; i++) {
        const operand *p = &o->operands[i];
        samples[i] = sample_new(p->dtype, "", p->rank, p->dims);
        sample_fill(&samples[i], 1, 3);
        t[i] = samples[i].handle;
        memory[i] = samples[i].memory;
    }
    each_operand_is_checked(o, t);
    second_phases_are_checked(o, t);
    results_do_not_lie_on_factors(o, t, memory);
    for (int i = 0; i < count; i++) sample_free(&samples[i]);
}

static void numbers_are_checked(void) {
    sample x = sample_new(F32, "", DIMS(4, 4)), v = sample_new(F32, "", DIMS(4)), i = sample_new(ACL_INT32, "",
        DIMS(4)), m = sample_new(ACL_INT32, "", DIMS(4, 4));
    REFUSED(161001, "beta", aclnnAddmm, x.handle, x.handle, x.handle, NULL, one, x.handle, 0);
    REFUSED(161001, "alpha", aclnnBaddbmm, x.handle, x.handle, x.handle, one, NULL, x.handle, 0);
    REFUSED(161001, "alpha", aclnnAddmv, v.handle, x.handle, v.handle, NULL, one, v.handle, 0);
    REFUSED(161002, "cubeMathType is 4", aclnnAddmv, v.handle, x.handle, v.handle, one, one, v.handle, 4);
    REFUSED(161002, "cubeMathType is -1", aclnnMv, x.handle, v.handle, v.handle, -1);
    sample h = sample_new(F16, "", DIMS(4)), dot = sample_new(F32, "", 0, NULL);
    REFUSED(161002, "tensor has data type FLOAT16, self has FLOAT", aclnnDot, v.handle, h.handle, dot.handle);
    REFUSED(161002, "out has data type INT32, the operands give FLOAT", aclnnAddmv, i.handle, m.handle, i.handle, one,
        one, i.handle, 0);
    sample_free(&h);
    sample_free(&dot);
    REFUSED(161002, "alphaOptional has type FLOAT", aclnnAddr, m.handle, i.handle, i.handle, NULL, one, m.handle);
    sample *all[] = {&x, &v, &i, &m};
    for (int k = 0; k < 4; k++) sample_free(all[k]);
}

static void what_is_not_computed_is_named(void) {
    sample x = sample_new(F16, "", DIMS(3, 64)), w = sample_new(ACL_INT8, "", DIMS(64, 6));
    sample s = sample_new(F16, "", DIMS(6)), y = sample_new(F16, "", DIMS(3, 6)), f = sample_new(F32, "", DIMS(6));
    sample a = sample_new(ACL_INT8, "", DIMS(3, 64)), q = sample_new(ACL_INT8, "", DIMS(3, 6));
#define WEIGHT_REFUSED(PART, QUANT, OFFSET, GROUP, OUT)                                               \
    REFUSED(161002, PART, aclnnWeightQuantBatchMatmulV2, x.handle, w.handle, s.handle, NULL, QUANT,   \
        OFFSET, NULL, GROUP, OUT)
    WEIGHT_REFUSED("quantScaleOptional", s.handle, NULL, 0, y.handle);
    WEIGHT_REFUSED("quantOffsetOptional", NULL, s.handle, 0, y.handle);
    WEIGHT_REFUSED("antiquantGroupSize is 16", NULL, NULL, 16, y.handle);
    WEIGHT_REFUSED("antiquantGroupSize is 33", NULL, NULL, 33, y.handle);
    WEIGHT_REFUSED("antiquantGroupSize is 64", NULL, NULL, 64, y.handle);
    WEIGHT_REFUSED("antiquantGroupSize is -32", NULL, NULL, -32, y.handle);
    WEIGHT_REFUSED("antiquantScale has shape [6], expected [2, 6]", NULL, NULL, 32, y.handle);
    WEIGHT_REFUSED("y has data type INT8", NULL, NULL, 0, q.handle);
    REFUSED(161002, "innerPrecise is 2", aclnnWeightQuantBatchMatmulV3, x.handle, w.handle, s.handle, NULL, NULL,
        NULL, NULL, 0, 2, y.handle);
    REFUSED(161002, "offset", aclnnQuantMatmulV3, a.handle, w.handle, f.handle, f.handle, NULL, false, false,
        y.handle);
    REFUSED(161002, "out has data type INT8", aclnnQuantMatmulV3, a.handle, w.handle, f.handle, NULL, NULL, false,
        false, q.handle);
    REFUSED(161002, "yScale", aclnnQuantMatmulV5, a.handle, w.handle, NULL, f.handle, f.handle, NULL, NULL, NULL,
        NULL, false, false, 0, y.handle);
    REFUSED(161002, "groupSize is 32", aclnnQuantMatmulV5, a.handle, w.handle, NULL, f.handle, NULL, NULL, NULL,
        NULL, NULL, false, false, 32, y.handle);
    const int64_t many = (int64_t)1 << 56, none = 0;
    aclTensor *wide = aclCreateTensor((int64_t[]){3, many}, 2, F16, (int64_t[]){0, 0}, 0, ACL_FORMAT_ND, &none, 0,
        NULL);
    aclTensor *tall = aclCreateTensor((int64_t[]){many, 6}, 2, ACL_INT8, (int64_t[]){0, 1}, 0, ACL_FORMAT_ND, &none,
        0, NULL);
    REFUSED(161002, "at most 2147483647", aclnnWeightQuantBatchMatmulV2, wide, tall, s.handle, NULL, NULL, NULL, NULL,
        0, y.handle);
    aclDestroyTensor(wide);
    aclDestroyTensor(tall);
    sample *all[] = {&x, &w, &s, &y, &f, &a, &q};
    for (int k = 0; k < 7; k++) sample_free(all[k]);
}

int main(void) {
    one = scalar_float(1);
    for (int i = 0; i < OPS; i++) check_op(&ops[i]);
    numbers_are_checked();
    what_is_not_computed_is_named();
    aclDestroyScalar(one);
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_products: ok");
    return 0;
}
