/* Weights in blocks: where elements lie, by hand; what is told and refused; repeated launches. */
#include "aclnnop/aclnn_mm.h"
#include "aclnnop/aclnn_npu_format_cast.h"
#include "aclnnop/aclnn_trans_matmul_weight.h"
#include "operators/support.h"

static aclTensor *stored(aclDataType dtype, int rank, const int64_t *dims, aclFormat format, int storage_rank,
    const int64_t *storage, void *memory) {
    aclTensor *t = aclCreateTensor(dims, (uint64_t)rank, dtype, NULL, 0, format, storage, (uint64_t)storage_rank, memory);
    CHECK(t != NULL);
    return t;
}

/* Element (17, 9) of a 20 x 10 matrix of f32: n1 = 1, m1 = 1, m0 = 1, n0 = 1 of (2, 2, 16, 8). */
static void elements_lie_in_blocks(void) {
    sample dense = sample_new(ACL_FLOAT, "", DIMS(20, 10)), blocks = sample_new(ACL_FLOAT, "", DIMS(2, 2, 16, 8));
    sample_fill(&dense, 1, 2);
    sample_fill(&blocks, 5, 6);
    aclTensor *nz = stored(ACL_FLOAT, DIMS(20, 10), ACL_FORMAT_FRACTAL_NZ, DIMS(2, 2, 16, 8), blocks.memory);
    LAUNCH(aclnnNpuFormatCast, dense.handle, nz);
    CHECK(sample_get(&blocks, ((1 * 2 + 1) * 16 + 1) * 8 + 1) == sample_get(&dense, 17 * 10 + 9));
    CHECK(sample_get(&blocks, ((0 * 2 + 1) * 16 + 3) * 8 + 7) == sample_get(&dense, 19 * 10 + 7));
    CHECK(sample_get(&blocks, ((1 * 2 + 1) * 16 + 1) * 8 + 2) == 0);
    CHECK(sample_get(&blocks, ((0 * 2 + 1) * 16 + 4) * 8) == 0);
    aclDestroyTensor(nz);
    sample_free(&dense);
    sample_free(&blocks);
}

static void shapes_are_told(void) {
    sample x = sample_new(ACL_FLOAT16, "", DIMS(3, 20, 40)), image = sample_new(ACL_FLOAT16, "", DIMS(2, 20, 3, 5));
    const int64_t nz[] = {3, 3, 2, 16, 16}, wide[] = {3, 2, 2, 16, 32}, five[] = {2, 2, 3, 5, 16};
    int64_t *shape = NULL;
    uint64_t count = 0;
    int format = -1;
    CHECK(aclnnNpuFormatCastCalculateSizeAndFormat(x.handle, 29, -1, &shape, &count, &format) == 0);
    CHECK(count == 5 && format == 29 && memcmp(shape, nz, sizeof nz) == 0);
    free(shape);
    CHECK(aclnnNpuFormatCastCalculateSizeAndFormat(x.handle, 29, ACL_INT8, &shape, &count, &format) == 0);
    CHECK(count == 5 && memcmp(shape, wide, sizeof wide) == 0);
    free(shape);
    CHECK(aclnnNpuFormatCastCalculateSizeAndFormat(image.handle, 3, -1, &shape, &count, &format) == 0);
    CHECK(count == 5 && format == 3 && memcmp(shape, five, sizeof five) == 0);
    free(shape);
    CHECK(aclnnNpuFormatCastCalculateSizeAndFormat(x.handle, 2, -1, &shape, &count, &format) == 0);
    CHECK(count == 3 && format == 2 && shape[2] == 40);
    free(shape);
    CHECK(aclnnNpuFormatCastCalculateSizeAndFormat(x.handle, 33, -1, &shape, &count, &format) == 161002);
    CHECK(strstr(stub_text(), "FRACTAL_Z_3D") != NULL);
    CHECK(aclnnNpuFormatCastCalculateSizeAndFormat(x.handle, 4, -1, &shape, &count, &format) == 161002);
    CHECK(aclnnNpuFormatCastCalculateSizeAndFormat(x.handle, 999, -1, &shape, &count, &format) == 161002);
    CHECK(aclnnNpuFormatCastCalculateSizeAndFormat(x.handle, 29, 999, &shape, &count, &format) == 161002);
    CHECK(aclnnNpuFormatCastCalculateSizeAndFormat(NULL, 29, -1, &shape, &count, &format) == 161001);
    CHECK(aclnnNpuFormatCastCalculateSizeAndFormat(x.handle, 29, -1, NULL, &count, &format) == 161001);
    CHECK(aclnnNpuFormatCastCalculateSizeAndFormat(x.handle, 29, -1, &shape, NULL, &format) == 161001);
    CHECK(aclnnNpuFormatCastCalculateSizeAndFormat(x.handle, 29, -1, &shape, &count, NULL) == 161001);
    sample_free(&x);
    sample_free(&image);
}

static void sizes_are_told(void) {
    uint64_t size = 0;
    aclIntArray *shape = aclCreateIntArray((int64_t[]){20, 40}, 2), *line = aclCreateIntArray((int64_t[]){20}, 1);
    aclIntArray *huge = aclCreateIntArray((int64_t[]){INT64_MAX, INT64_MAX}, 2);
    aclIntArray *hidden = aclCreateIntArray((int64_t[]){0, INT64_MAX, INT64_MAX}, 3);
    CHECK(aclnnCalculateMatmulWeightSize(shape, &size) == 0 && size == 32 * 48);
    CHECK(aclnnCalculateMatmulWeightSizeV2(shape, ACL_INT8, &size) == 0 && size == 32 * 64);
    CHECK(aclnnCalculateMatmulWeightSizeV2(shape, ACL_DOUBLE, &size) == 161002);
    CHECK(aclnnCalculateMatmulWeightSize(line, &size) == 161002);
    CHECK(aclnnCalculateMatmulWeightSize(huge, &size) == 161002);
    CHECK(aclnnCalculateMatmulWeightSize(hidden, &size) == 161002);
    CHECK(aclnnCalculateMatmulWeightSize(NULL, &size) == 161001);
    CHECK(aclnnCalculateMatmulWeightSize(shape, NULL) == 161001);
    aclDestroyIntArray(shape);
    aclDestroyIntArray(line);
    aclDestroyIntArray(huge);
    aclDestroyIntArray(hidden);
}

static void bad_storage_is_refused(void) {
    sample x = sample_new(ACL_FLOAT16, "", DIMS(4, 20)), out = sample_new(ACL_FLOAT16, "", DIMS(4, 40));
    sample memory = sample_new(ACL_FLOAT16, "", DIMS(3, 2, 16, 16));
    const int64_t right[] = {3, 2, 16, 16}, wrong[][4] = {{3, 3, 16, 16}, {3, 2, 16, 15}, {3, 2, 16, 0}, {2, 3, 16, 16}};
    aclTensor *nz = stored(ACL_FLOAT16, DIMS(20, 40), ACL_FORMAT_FRACTAL_NZ, 4, right, memory.memory);
    uint64_t size;
    aclOpExecutor *executor;
    CHECK(aclnnMmGetWorkspaceSize(x.handle, nz, out.handle, 0, &size, &executor) == 0);
    CHECK(aclDestroyAclOpExecutor(executor) == 0);
    REFUSED(161002, "self has format 29", aclnnMm, nz, x.handle, out.handle, 0);
    REFUSED(161002, "out has format 29", aclnnMm, x.handle, x.handle, nz, 0);
    for (int i = 0; i < 4; i++) {
        aclTensor *bad = stored(ACL_FLOAT16, DIMS(20, 40), ACL_FORMAT_FRACTAL_NZ, 4, wrong[i], memory.memory);
        REFUSED(161002, "mat2 has format 29", aclnnMm, x.handle, bad, out.handle, 0);
        REFUSED(161002, "srcTensor has format FRACTAL_NZ", aclnnNpuFormatCast, bad, out.handle);
        aclDestroyTensor(bad);
    }
    aclTensor *other = stored(ACL_FLOAT16, DIMS(20, 40), ACL_FRACTAL_Z_3D, 4, right, memory.memory);
    REFUSED(161002, "FRACTAL_Z_3D", aclnnNpuFormatCast, other, out.handle);
    REFUSED(161002, "format", aclnnTransMatmulWeight, other);
    aclDestroyTensor(other);
    aclDestroyTensor(nz);
    sample_free(&x);
    sample_free(&out);
    sample_free(&memory);
}

/* Each launch reads the weight anew; memory that is too short for the blocks is met on the device. */
static void launches_read_the_weight_anew(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(1, 2)), out = sample_new(ACL_FLOAT, "", DIMS(1, 2));
    sample memory = sample_new(ACL_FLOAT, "", DIMS(1, 1, 16, 8)), half = sample_new(ACL_FLOAT, "", DIMS(1, 1, 8, 8));
    const int64_t storage[] = {1, 1, 16, 8};
    aclTensor *nz = stored(ACL_FLOAT, DIMS(2, 2), ACL_FORMAT_FRACTAL_NZ, 4, storage, memory.memory);
    aclTensor *plain = stored(ACL_FLOAT, DIMS(2, 2), ACL_FORMAT_ND, 4, storage, memory.memory);
    uint64_t size;
    aclOpExecutor *executor;
    for (int64_t i = 0; i < memory.count; i++) sample_set(&memory, i, 0);
    for (int i = 0; i < 4; i++) sample_set(&memory, i / 2 * 8 + i % 2, i + 1);
    sample_set(&x, 0, 1);
    sample_set(&x, 1, 10);
    CHECK(aclnnMmGetWorkspaceSize(x.handle, nz, out.handle, 0, &size, &executor) == 0 && size == 0);
    CHECK(aclSetAclOpExecutorRepeatable(executor) == 0);
    CHECK(aclnnMm(NULL, 0, executor, NULL) == 0 && stub_drain() == 0);
    CHECK(sample_get(&out, 0) == 31 && sample_get(&out, 1) == 42);
    sample_set(&memory, 0, 100);
    CHECK(aclnnMm(NULL, 0, executor, NULL) == 0 && stub_drain() == 0);
    CHECK(sample_get(&out, 0) == 130 && sample_get(&out, 1) == 42);
    CHECK(aclSetInputTensorAddr(executor, 1, plain, memory.memory) == 161002);
    CHECK(aclSetInputTensorAddr(executor, 1, nz, half.memory) == 0);
    CHECK(aclnnMm(NULL, 0, executor, NULL) == 0 && stub_drain() == 507015);
    CHECK(aclDestroyAclOpExecutor(executor) == 0);
    aclDestroyTensor(nz);
    aclDestroyTensor(plain);
    sample_free(&x);
    sample_free(&out);
    sample_free(&memory);
    sample_free(&half);
}

/* The tensor is one in blocks from the first phase on, so a second turn is refused. */
static void a_turned_weight_says_so(void) {
    sample memory = sample_new(ACL_FLOAT16, "", DIMS(16, 16));
    aclTensor *w = stored(ACL_FLOAT16, DIMS(2, 3), ACL_FORMAT_ND, DIMS(2, 3), memory.memory);
    int64_t *dims = NULL;
    uint64_t count = 0;
    aclFormat format = ACL_FORMAT_ND;
    for (int i = 0; i < 6; i++) sample_set(&memory, i, i + 1);
    LAUNCH(aclnnTransMatmulWeight, w);
    CHECK(sample_get(&memory, 2) == 3 && sample_get(&memory, 3) == 0 && sample_get(&memory, 16) == 4);
    CHECK(aclGetFormat(w, &format) == 0 && format == ACL_FORMAT_FRACTAL_NZ);
    CHECK(aclGetStorageShape(w, &dims, &count) == 0 && count == 4 && dims[2] == 16);
    free(dims);
    REFUSED(161002, "format 29", aclnnTransMatmulWeight, w);
    aclDestroyTensor(w);
    sample_free(&memory);
}

int main(void) {
    elements_lie_in_blocks();
    shapes_are_told();
    sizes_are_told();
    bad_storage_is_refused();
    launches_read_the_weight_anew();
    a_turned_weight_says_so();
    CHECK(stub_live(MOCK_OBJECT_TENSOR) == 0 && stub_live(MOCK_OBJECT_EXECUTOR) == 0);
    puts("weights: ok");
    return 0;
}
