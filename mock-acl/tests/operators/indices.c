/* Operators with index tensors: what is refused, what fails on the device, and shapes that come out. */
#include "aclnnop/aclnn_gather_nd.h"
#include "aclnnop/aclnn_gather_v2.h"
#include "aclnnop/aclnn_index.h"
#include "aclnnop/aclnn_index_add.h"
#include "aclnnop/aclnn_index_copy.h"
#include "aclnnop/aclnn_index_fill_tensor.h"
#include "aclnnop/aclnn_index_put_impl.h"
#include "aclnnop/aclnn_masked_scatter.h"
#include "aclnnop/aclnn_masked_select.h"
#include "aclnnop/aclnn_nonzero.h"
#include "aclnnop/aclnn_nonzero_v2.h"
#include "aclnnop/aclnn_put.h"
#include "aclnnop/aclnn_repeat_interleave.h"
#include "aclnnop/aclnn_scatter.h"
#include "aclnnop/aclnn_scatter_add.h"
#include "aclnnop/aclnn_scatter_nd.h"
#include "aclnnop/aclnn_scatter_nd_update.h"
#include "aclnnop/aclnn_scatter_update.h"
#include "aclnnop/aclnn_take.h"
#include "operators/support.h"

/* Tensors that the tests below share: self of 3 x 4 and what goes with it, or does not. */
static sample self, out, half, point, one, wide, flat, mask, row, slice, few, index1, index2, real, narrow,
    eight, pairs,
    triples, long_index, rows;
static aclScalar *number;

static sample filled(aclDataType type, int rank, const int64_t *dims, double value) {
    sample s = sample_new(type, "", rank, dims);
    for (int64_t i = 0; i < s.count; i++) sample_set(&s, i, value);
    return s;
}

static sample *const all[] = {&self, &out, &half, &point, &one, &wide, &flat, &mask, &row, &slice, &few,
    &index1, &index2,
    &real, &narrow, &eight, &pairs, &triples, &long_index, &rows};

static void begin(void) {
    self = filled(ACL_FLOAT, DIMS(3, 4), 1);
    out = filled(ACL_FLOAT, DIMS(3, 4), 0);
    half = filled(ACL_FLOAT16, DIMS(3, 4), 0);
    point = filled(ACL_FLOAT, 0, (int64_t[]){0}, 0);
    one = filled(ACL_INT64, DIMS(1), 0);
    wide = filled(ACL_FLOAT, DIMS(3, 5), 0);
    flat = filled(ACL_FLOAT, DIMS(12), 0);
    mask = filled(ACL_BOOL, DIMS(3, 4), 1);
    row = filled(ACL_FLOAT, DIMS(4), 0);
    slice = filled(ACL_FLOAT, DIMS(2, 4), 2);
    few = filled(ACL_FLOAT, DIMS(3), 0);
    index1 = filled(ACL_INT64, DIMS(2), 1);
    index2 = filled(ACL_INT32, DIMS(3, 4), 0);
    real = filled(ACL_FLOAT, DIMS(2), 0);
    narrow = filled(ACL_INT64, DIMS(3, 2), 0);
    eight = filled(ACL_FLOAT, DIMS(1, 1, 1, 1, 1, 1, 1, 1), 0);
    pairs = filled(ACL_INT64, DIMS(2, 2), 1);
    triples = filled(ACL_INT64, DIMS(2, 3), 1);
    long_index = filled(ACL_INT64, DIMS(4, 4), 0);
    rows = filled(ACL_FLOAT, DIMS(2), 3);
    number = scalar_float(1);
}

static void end(void) {
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) sample_free(all[i]);
    CHECK(aclDestroyScalar(number) == 0);
}

#define H(S) (S).handle

static void bad_readers_are_refused(void) {
    REFUSED(161001, "self is a null", aclnnGatherV2, NULL, 0, H(index1), H(out));
    REFUSED(161001, "index is a null", aclnnGatherV2, H(self), 0, NULL, H(out));
    REFUSED(161001, "out is a null", aclnnGatherV2, H(self), 0, H(index1), NULL);
    REFUSED(161002, "index has data type FLOAT", aclnnGatherV2, H(self), 0, H(real), H(out));
    REFUSED(161002, "self has no dimension", aclnnGatherV2, H(point), 0, H(index1), H(out));
    REFUSED(161002, "dim 2 is out", aclnnGatherV2, H(self), 2, H(index1), H(out));
    REFUSED(161002, "out has shape [3, 4], expected [2, 4]", aclnnGatherV2, H(self), 0, H(index1), H(out));
    REFUSED(161002, "out has data type FLOAT16, expected FLOAT", aclnnGatherV2, H(self), 0, H(index1),
        H(half));
    REFUSED(161002, "9 dimensions, at most 8", aclnnGatherV2, H(eight), 0, H(index2), H(eight));
    REFUSED(161002, "indices has 3 indices each", aclnnGatherNd, H(self), H(triples), true, H(rows));
    REFUSED(161002, "indices has data type FLOAT", aclnnGatherNd, H(self), H(real), true, H(rows));
}

static void bad_readers_of_points(void) {
    sample spot = filled(ACL_INT64, 0, (int64_t[]){0}, 0);
    REFUSED(161002, "indices has no dimension", aclnnGatherNd, H(self), H(spot), true, H(rows));
    REFUSED(161002, "out has shape [2]", aclnnTake, H(self), H(narrow), H(rows));
    REFUSED(161002, "index has data type FLOAT", aclnnTake, H(self), H(real), H(rows));
    sample_free(&spot);
}

static aclTensorList *list_of(sample a, sample b, sample c, uint64_t count) {
    return aclCreateTensorList((const aclTensor *[]){H(a), H(b), H(c)}, count);
}

static void bad_lists_are_refused(void) {
    sample a = filled(ACL_INT64, DIMS(2), 1), b = filled(ACL_INT64, DIMS(3), 1), m = filled(ACL_BOOL, DIMS(3,
        4), 1);
    aclTensorList *uneven = list_of(a, b, a, 2), *three = list_of(a, a, a, 3), *masks = list_of(m, m, m, 1);
    aclTensorList *none = aclCreateTensorList(NULL, 0), *good = list_of(a, a, a, 2);
    REFUSED(161001, "indices is a null", aclnnIndex, H(self), NULL, H(rows));
    REFUSED(161002, "indices is an empty list", aclnnIndex, H(self), none, H(rows));
    REFUSED(161002, "indices has 3 tensors", aclnnIndex, H(self), three, H(rows));
    REFUSED(161002, "indices[1] has shape [3]", aclnnIndex, H(self), uneven, H(rows));
    REFUSED(161002, "indices has data type BOOL", aclnnIndex, H(self), masks, H(rows));
    REFUSED(161002, "out has shape [3]", aclnnIndex, H(self), good, H(few));
    REFUSED(161002, "values has shape [3], which does not broadcast", aclnnIndexPutImpl, H(self), good,
        H(few),
        false, false);
    REFUSED(161002, "values has data type FLOAT16", aclnnIndexPutImpl, H(self), good, H(half), true, false);
    REFUSED(161001, "selfRef is a null", aclnnIndexPutImpl, NULL, good, H(rows), true, false);
    REFUSED(161001, "values is a null", aclnnIndexPutImpl, H(self), good, NULL, true, false);
    LAUNCH(aclnnIndexPutImpl, H(self), good, H(rows), true, false);
    CHECK(sample_get(&self, 5) == 7);
    sample_set(&a, 1, -4);
    LAUNCH_EXPECTING(507015, aclnnIndexPutImpl, H(self), good, H(rows), true, false);
    /* The turn before had its effect. */
    CHECK(sample_get(&self, 5) == 10);
    LAUNCH_EXPECTING(507015, aclnnIndex, H(self), good, H(rows));
    /* A member that stands in a list twice is gone at the second time. */
    CHECK(aclDestroyTensorList(none) == 0 && aclDestroyTensorList(good) == 161002);
    CHECK(aclDestroyTensorList(uneven) == 161002 && aclDestroyTensorList(three) == 161002);
    CHECK(aclDestroyTensorList(masks) == 0);
    device_free(a.memory);
    device_free(b.memory);
    device_free(m.memory);
}

/* An index of PyTorch that chose nothing looks like a dimension that has none. */
static void empty_lists_choose_nothing(void) {
    sample none = filled(ACL_INT64, DIMS(0), 0), flat = filled(ACL_FLOAT, DIMS(2, 0), 0);
    sample into = filled(ACL_FLOAT, DIMS(0, 4), 0), half_into = filled(ACL_FLOAT16, DIMS(0, 4), 0);
    aclTensorList *one = list_of(none, none, none, 1), *two = list_of(flat, flat, flat, 2);
    const double before = sample_get(&self, 5);
    LAUNCH(aclnnIndexPutImpl, H(self), one, H(rows), false, false);
    LAUNCH(aclnnIndexPutImpl, H(self), two, H(rows), true, false);
    CHECK(sample_get(&self, 5) == before);
    REFUSED(161002, "values has data type FLOAT16", aclnnIndexPutImpl, H(self), one, H(half), true, false);
    LAUNCH(aclnnIndex, H(self), one, H(into));
    REFUSED(161002, "out has data type FLOAT16", aclnnIndex, H(self), one, H(half_into));
    CHECK(aclDestroyTensorList(one) == 0 && aclDestroyTensorList(two) == 161002);
    sample_free(&into);
    sample_free(&half_into);
    device_free(none.memory);
    device_free(flat.memory);
}

static void bad_writers_are_refused(void) {
    REFUSED(161002, "self has no dimension", aclnnScatter, H(point), 0, H(index1), H(self), 0, H(out));
    REFUSED(161002, "dim -3 is out", aclnnScatter, H(self), -3, H(index2), H(self), 0, H(out));
    REFUSED(161002, "reduce is 3", aclnnScatter, H(self), 0, H(index2), H(self), 3, H(out));
    REFUSED(161002, "reduce is -1", aclnnInplaceScatterValue, H(self), 0, H(index2), number, -1);
    REFUSED(161002, "index has data type FLOAT", aclnnScatter, H(self), 0, H(wide), H(self), 0, H(out));
    REFUSED(161002, "self has 2 dimensions, index 1", aclnnScatter, H(self), 0, H(index1), H(self), 0,
        H(out));
    REFUSED(161002, "src another number", aclnnScatterAdd, H(self), 0, H(index2), H(flat), H(out));
    REFUSED(161002, "index is larger than self in dimension 0", aclnnScatter, H(self), 1, H(long_index),
        H(self), 0,
        H(out));
    REFUSED(161002, "index is larger than src in dimension 0", aclnnScatter, H(self), 0, H(long_index),
        H(self), 0,
        H(out));
    REFUSED(161002, "src has data type FLOAT16", aclnnInplaceScatter, H(self), 0, H(index2), H(half), 0);
    REFUSED(161002, "out has shape [3, 5]", aclnnScatter, H(self), 0, H(index2), H(self), 0, H(wide));
    REFUSED(161002, "out has data type FLOAT16", aclnnScatterValue, H(self), 0, H(index2), number, 0,
        H(half));
    REFUSED(161001, "value is a null", aclnnScatterValue, H(self), 0, H(index2), NULL, 0, H(out));
    REFUSED(161001, "src is a null", aclnnScatter, H(self), 0, H(index2), NULL, 0, H(out));
    REFUSED(161002, "index has 2 dimensions, expected 1", aclnnIndexAdd, H(self), 0, H(index2), H(slice),
        number, H(out));
    REFUSED(161002, "source has shape [3, 4], expected [2, 4]", aclnnIndexAdd, H(self), 0, H(index1), H(out),
        number,
        H(out));
    REFUSED(161002, "source has data type FLOAT16", aclnnIndexCopy, H(self), 0, H(index1), H(half), H(out));
    REFUSED(161002, "out has shape [3, 5]", aclnnIndexCopy, H(self), 0, H(index1), H(slice), H(wide));
    REFUSED(161001, "alpha is a null", aclnnIndexAdd, H(self), 0, H(index1), H(slice), NULL, H(out));
    aclIntArray *beyond = aclCreateIntArray((int64_t[]){0, 3}, 2),
        *before = aclCreateIntArray((int64_t[]){-4}, 1);
    REFUSED(161002, "index[1] is 3", aclnnIndexFillTensor, H(self), 0, beyond, number, H(out));
    REFUSED(161002, "index[0] is -4", aclnnInplaceIndexFillTensor, H(self), 0, before, number);
    REFUSED(161001, "index is a null", aclnnInplaceIndexFillTensor, H(self), 0, NULL, number);
    REFUSED(161002, "self has no dimension", aclnnInplaceIndexFillTensor, H(point), 0, beyond, number);
    CHECK(aclDestroyIntArray(beyond) == 0 && aclDestroyIntArray(before) == 0);
    REFUSED(161002, "source has 12 elements, index 2", aclnnInplacePut, H(self), H(index1), H(out), false);
    REFUSED(161002, "source has data type FLOAT16", aclnnInplacePut, H(self), H(index2), H(half), false);
    sample gaps = sample_new(ACL_FLOAT, "g", DIMS(12));
    REFUSED(161002, "neither the shape of index nor", aclnnInplacePut, H(self), H(index2), H(gaps), false);
    sample_free(&gaps);
    REFUSED(161002, "updates has shape [3], expected [2]", aclnnScatterNdUpdate, H(self), H(pairs), H(few));
    REFUSED(161002, "updates has data type INT64", aclnnScatterNdUpdate, H(self), H(pairs), H(index1));
    REFUSED(161002, "out has data type FLOAT16", aclnnScatterNd, H(self), H(pairs), H(rows), H(half));
    REFUSED(161002, "out has shape [3, 5]", aclnnScatterNd, H(self), H(pairs), H(rows), H(wide));
}

static void bad_updates_are_refused(void) {
    sample data = filled(ACL_FLOAT, DIMS(2, 3, 4), 0), updates = filled(ACL_FLOAT, DIMS(2, 2, 4), 5);
    sample longer = filled(ACL_FLOAT, DIMS(2, 4, 4), 0), offsets = filled(ACL_INT64, DIMS(2), 1);
    LAUNCH(aclnnInplaceScatterUpdate, H(data), H(offsets), H(updates), -2);
    CHECK_ALL(data, 0, i % 12 < 4 ? 0 : 5);
    REFUSED(161002, "data has 1 dimensions", aclnnInplaceScatterUpdate, H(flat), H(offsets), H(flat), 0);
    REFUSED(161002, "axis 3 is out", aclnnInplaceScatterUpdate, H(data), H(offsets), H(updates), 3);
    REFUSED(161002, "axis is the first", aclnnInplaceScatterUpdate, H(data), H(offsets), H(updates), -3);
    REFUSED(161002, "indices has 2 dimensions", aclnnInplaceScatterUpdate, H(data), H(pairs), H(updates), 1);
    REFUSED(161002, "indices has 1 offsets", aclnnInplaceScatterUpdate, H(data), H(one), H(updates), 1);
    REFUSED(161002, "updates has shape [3, 4]", aclnnInplaceScatterUpdate, H(data), H(offsets), H(self), 1);
    REFUSED(161002, "updates has shape [2, 2, 4]", aclnnInplaceScatterUpdate, H(data), H(offsets),
        H(updates), 2);
    REFUSED(161002, "updates is longer", aclnnInplaceScatterUpdate, H(data), H(offsets), H(longer), 1);
    REFUSED(161002, "updates has data type INT64", aclnnInplaceScatterUpdate, H(data), H(offsets), H(pairs),
        1);
    REFUSED(161002, "indices has data type FLOAT", aclnnInplaceScatterUpdate, H(data), H(real), H(updates),
        1);
    /* The last row of the update would be beyond the data. */
    sample_set(&offsets, 1, 2);
    LAUNCH_EXPECTING(507015, aclnnInplaceScatterUpdate, H(data), H(offsets), H(updates), 1);
    sample_set(&offsets, 1, -1);
    LAUNCH_EXPECTING(507015, aclnnInplaceScatterUpdate, H(data), H(offsets), H(updates), 1);
    sample_free(&data);
    sample_free(&updates);
    sample_free(&longer);
    sample_free(&offsets);
}

static void indices_out_of_range_fail(void) {
    sample_set(&index1, 1, 3);
    LAUNCH_EXPECTING(507015, aclnnGatherV2, H(self), 0, H(index1), H(slice));
    LAUNCH_EXPECTING(507015, aclnnIndexAdd, H(self), 0, H(index1), H(slice), number, H(out));
    LAUNCH_EXPECTING(507015, aclnnInplaceIndexCopy, H(self), 0, H(index1), H(slice));
    sample_set(&index1, 1, -1);
    LAUNCH(aclnnGatherV2, H(self), 0, H(index1), H(slice));
    LAUNCH_EXPECTING(507015, aclnnInplaceIndexCopy, H(self), 0, H(index1), H(slice));
    LAUNCH(aclnnTake, H(self), H(index1), H(rows));
    sample_set(&index1, 1, -4);
    LAUNCH_EXPECTING(507015, aclnnGatherV2, H(self), 0, H(index1), H(slice));
    sample_set(&index1, 1, -1);
    sample_set(&pairs, 3, -1);
    LAUNCH_EXPECTING(507015, aclnnGatherNd, H(self), H(pairs), false, H(rows));
    LAUNCH(aclnnGatherNd, H(self), H(pairs), true, H(rows));
    LAUNCH_EXPECTING(507015, aclnnScatterNd, H(self), H(pairs), H(rows), H(out));
    sample_set(&index2, 0, 3);
    LAUNCH_EXPECTING(507015, aclnnInplaceScatter, H(self), 0, H(index2), H(out), 1);
    sample_set(&index2, 0, 12);
    LAUNCH_EXPECTING(507015, aclnnInplacePut, H(self), H(index2), H(out), true);
    const int64_t two = 2;
    aclTensor *lost = aclCreateTensor(&two, 1, ACL_INT64, NULL, 0, ACL_FORMAT_ND, &two, 1, NULL);
    LAUNCH_EXPECTING(507015, aclnnGatherV2, H(self), 0, lost, H(slice));
    LAUNCH_EXPECTING(507015, aclnnIndexAdd, H(self), 0, lost, H(slice), number, H(out));
    CHECK(aclDestroyTensor(lost) == 0);
}

static void check_shape(const sample *s, uint64_t rank, int64_t first, int64_t second) {
    int64_t *dims;
    uint64_t count;
    CHECK(aclGetViewShape(H(*s), &dims, &count) == 0);
    CHECK(count == rank && dims[0] == first && (rank == 1 || dims[1] == second));
    free(dims);
}

static void shapes_come_out(void) {
    sample x = filled(ACL_INT32, DIMS(2, 3), 0), found = filled(ACL_INT64, DIMS(6, 2), 0);
    sample turned = filled(ACL_INT64, DIMS(2, 6), 0), values = filled(ACL_INT32, DIMS(6), 0);
    sample small = filled(ACL_INT64, DIMS(1, 2), 0), gaps = sample_new(ACL_INT64, "g", DIMS(6, 2));
    sample chosen = filled(ACL_BOOL, DIMS(2, 3), 1), tight = filled(ACL_INT32, DIMS(5), 0);
    sample_set(&x, 2, 5);
    sample_set(&x, 3, -1);
    LAUNCH(aclnnNonzero, H(x), H(found));
    check_shape(&found, 2, 2, 2);
    CHECK(sample_get(&found, 0) == 0 && sample_get(&found, 1) == 2 && sample_get(&found, 2) == 1);
    LAUNCH(aclnnNonzeroV2, H(x), H(turned));
    check_shape(&turned, 2, 2, 2);
    CHECK(((int64_t *)(void *)turned.memory)[1] == 1 && ((int64_t *)(void *)turned.memory)[2] == 2);
    LAUNCH_EXPECTING(507015, aclnnNonzero, H(x), H(small));
    sample_set(&chosen, 4, 0);
    LAUNCH(aclnnMaskedSelect, H(x), H(chosen), H(values));
    check_shape(&values, 1, 5, 0);
    sample_set(&chosen, 4, 1);
    LAUNCH_EXPECTING(507015, aclnnMaskedSelect, H(x), H(chosen), H(tight));
    REFUSED(161002, "out has data type FLOAT", aclnnNonzero, H(x), H(self));
    REFUSED(161002, "expected 2 in dimension 1", aclnnNonzero, H(x), H(triples));
    REFUSED(161002, "expected 2 in dimension 0", aclnnNonzeroV2, H(x), H(narrow));
    REFUSED(161002, "out is not contiguous", aclnnNonzero, H(x), H(gaps));
    REFUSED(161002, "mask has data type INT32", aclnnMaskedSelect, H(x), H(x), H(values));
    REFUSED(161002, "do not broadcast", aclnnMaskedSelect, H(x), H(mask), H(values));
    REFUSED(161002, "out has data type INT64", aclnnMaskedSelect, H(x), H(chosen), H(index1));
    REFUSED(161002, "expected one contiguous", aclnnMaskedSelect, H(self), H(mask), H(self));
    REFUSED(161002, "mask has shape [2, 3]", aclnnInplaceMaskedScatter, H(self), H(chosen), H(flat));
    REFUSED(161002, "source has data type FLOAT16", aclnnInplaceMaskedScatter, H(self), H(mask), H(half));
    LAUNCH_EXPECTING(507015, aclnnInplaceMaskedScatter, H(self), H(mask), H(few));
    sample *made[] = {&x, &found, &turned, &values, &small, &gaps, &chosen, &tight};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) sample_free(made[i]);
}

static void repeats_have_a_sum(void) {
    sample counts = filled(ACL_INT64, DIMS(3), 2), six = filled(ACL_FLOAT, DIMS(6, 4), 0),
        both = filled(ACL_INT32, DIMS(6), 0);
    LAUNCH(aclnnRepeatInterleaveWithDim, H(self), H(counts), 0, 6, H(six));
    LAUNCH(aclnnRepeatInterleaveTensor, H(counts), 6, H(both));
    CHECK_ALL(both, 0, (double)(i / 2));
    sample_set(&counts, 0, 1);
    LAUNCH_EXPECTING(507015, aclnnRepeatInterleaveWithDim, H(self), H(counts), 0, 6, H(six));
    sample_set(&counts, 0, 3);
    LAUNCH_EXPECTING(507015, aclnnRepeatInterleaveWithDim, H(self), H(counts), 0, 6, H(six));
    sample_set(&counts, 0, -1);
    LAUNCH_EXPECTING(507015, aclnnRepeatInterleaveTensor, H(counts), 6, H(both));
    REFUSED(161001, "repeats is a null", aclnnRepeatInterleave, H(self), NULL, 12, H(flat));
    REFUSED(161001, "self is a null", aclnnRepeatInterleaveInt, NULL, 1, 12, H(flat));
    REFUSED(161001, "out is a null", aclnnRepeatInterleaveInt, H(self), 1, 12, NULL);
    REFUSED(161002, "repeats has data type FLOAT", aclnnRepeatInterleave, H(self), H(flat), 12, H(flat));
    REFUSED(161002, "repeats has 3 numbers", aclnnRepeatInterleave, H(self), H(counts), 12, H(flat));
    REFUSED(161002, "repeats has 6 numbers in 2", aclnnRepeatInterleaveWithDim, H(self), H(narrow), 0, 6,
        H(six));
    REFUSED(161002, "repeats is -1", aclnnRepeatInterleaveInt, H(self), INT64_MIN, 12, H(flat));
    REFUSED(161002, "outputSize is 13", aclnnRepeatInterleaveInt, H(self), 1, 13, H(flat));
    REFUSED(161002, "outputSize is 6", aclnnRepeatInterleaveIntWithDim, H(self), INT64_MAX, 0, 6, H(six));
    REFUSED(161002, "outputSize is -1", aclnnRepeatInterleave, H(self), H(one), -1, H(flat));
    REFUSED(161002, "outputSize is -1", aclnnRepeatInterleaveTensor, H(counts), -1, H(both));
    REFUSED(161002, "self has no dimension", aclnnRepeatInterleaveIntWithDim, H(point), 1, 0, 1, H(flat));
    REFUSED(161002, "dim 2 is out", aclnnRepeatInterleaveIntWithDim, H(self), 1, 2, 1, H(flat));
    REFUSED(161002, "out has data type FLOAT16", aclnnRepeatInterleaveInt, H(self), 1, 12, H(half));
    REFUSED(161002, "out has shape [3, 4]", aclnnRepeatInterleaveInt, H(self), 1, 12, H(out));
    REFUSED(161002, "out has data type FLOAT", aclnnRepeatInterleaveTensor, H(counts), 12, H(flat));
    REFUSED(161002, "out has shape [6]", aclnnRepeatInterleaveTensor, H(counts), 7, H(both));
    sample_free(&counts);
    sample_free(&six);
    sample_free(&both);
}

int main(void) {
    begin();
    bad_readers_of_points();
    bad_lists_are_refused();
    empty_lists_choose_nothing();
    bad_writers_are_refused();
    bad_updates_are_refused();
    shapes_come_out();
    repeats_have_a_sum();
    bad_readers_are_refused();
    indices_out_of_range_fail();
    end();
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_indices: ok");
    return 0;
}
