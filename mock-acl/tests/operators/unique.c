/* What there is of elements and slices: shapes that come out, what is refused, and too little room. Numbers are
 * compared in tests/numpy/uniques.py. */
#include "aclnnop/aclnn_unique.h"
#include "aclnnop/aclnn_unique2.h"
#include "aclnnop/aclnn_unique_consecutive.h"
#include "aclnnop/aclnn_unique_dim.h"
#include "operators/support.h"

#define H(S) (S).handle

static sample self, values, inverse, counts, rows, tight, few, gaps, real, square, line;
static sample *const all[] = {
    &self, &values, &inverse, &counts, &rows, &tight, &few, &gaps, &real, &square, &line};

static void begin(void) {
    self = sample_new(ACL_INT32, "", DIMS(3, 2));
    values = sample_new(ACL_INT32, "", DIMS(6));
    inverse = sample_new(ACL_INT64, "", DIMS(3, 2));
    counts = sample_new(ACL_INT64, "", DIMS(6));
    rows = sample_new(ACL_INT32, "", DIMS(3, 2));
    tight = sample_new(ACL_INT32, "", DIMS(2));
    few = sample_new(ACL_INT64, "", DIMS(2));
    gaps = sample_new(ACL_INT64, "g", DIMS(6));
    real = sample_new(ACL_FLOAT, "", DIMS(6));
    square = sample_new(ACL_INT32, "", DIMS(3, 3));
    line = sample_new(ACL_INT64, "", DIMS(3));
    const double numbers[] = {7, -1, 5, 7, 7, -1};
    for (int i = 0; i < 6; i++) sample_set(&self, i, numbers[i]);
}

static void check_shape(const sample *s, uint64_t rank, int64_t first) {
    int64_t *dims;
    uint64_t count;
    CHECK(aclGetViewShape(H(*s), &dims, &count) == 0);
    CHECK(count == rank && dims[0] == first);
    free(dims);
}

static void elements(void) {
    const double kinds[] = {-1, 5, 7}, places[] = {2, 0, 1, 2, 2, 0}, number[] = {2, 1, 3};
    LAUNCH(aclnnUnique2, H(self), false, true, true, H(values), H(inverse), H(counts));
    check_shape(&values, 1, 3);
    check_shape(&counts, 1, 3);
    check_shape(&inverse, 2, 3);
    for (int i = 0; i < 3; i++) CHECK(sample_get(&values, i) == kinds[i] && sample_get(&counts, i) == number[i]);
    CHECK_ALL(inverse, 0, places[i]);
    /* What is not asked for may be missing, and is not touched. */
    sample_set(&inverse, 0, 99);
    LAUNCH(aclnnUnique2, H(self), true, false, false, H(values), H(inverse), NULL);
    CHECK(sample_get(&inverse, 0) == 99);
    LAUNCH(aclnnUnique, H(self), true, false, H(values), NULL);
    CHECK(sample_get(&values, 2) == 7);
}

/* Shapes that came out are those of the tensors from there on. */
static void renew(void) {
    sample_free(&values);
    sample_free(&counts);
    values = sample_new(ACL_INT32, "", DIMS(6));
    counts = sample_new(ACL_INT64, "", DIMS(6));
}

static void neighbours(void) {
    renew();
    LAUNCH(aclnnUniqueConsecutive, H(self), false, true, 1000, H(values), NULL, H(counts));
    check_shape(&values, 1, 5); /* 7 -1 5 7 7 -1 */
    CHECK(sample_get(&counts, 3) == 2 && sample_get(&values, 4) == -1);
    renew();
    LAUNCH(aclnnUniqueConsecutive, H(self), true, true, 0, H(rows), H(line), H(counts));
    check_shape(&rows, 2, 3);
}

static void slices(void) {
    const double want[] = {5, 7, 7, -1}, places[] = {1, 0, 1};
    LAUNCH(aclnnUniqueDim, H(self), true, true, -2, H(rows), H(line), H(counts));
    check_shape(&rows, 2, 2);
    check_shape(&counts, 1, 2);
    for (int i = 0; i < 4; i++) CHECK(sample_get(&rows, i) == want[i]);
    CHECK_ALL(line, 0, places[i]);
    CHECK(sample_get(&counts, 0) == 1 && sample_get(&counts, 1) == 2);
}

static void too_little_room(void) {
    renew();
    LAUNCH_EXPECTING(507015, aclnnUnique2, H(self), true, false, false, H(tight), NULL, NULL);
    LAUNCH_EXPECTING(507015, aclnnUnique2, H(self), true, false, true, H(values), NULL, H(few));
    aclTensor *lost = tensor_nowhere(ACL_INT32, DIMS(6));
    LAUNCH_EXPECTING(507015, aclnnUnique, lost, true, false, H(values), NULL);
    CHECK(aclDestroyTensor(lost) == 0);
}

static void refused(void) {
    REFUSED(161001, "self is a null", aclnnUnique, NULL, true, false, H(values), NULL);
    REFUSED(161001, "self is a null", aclnnUniqueDim, NULL, true, false, 5, H(rows), NULL, H(counts));
    REFUSED(161001, "valueOut is a null", aclnnUnique2, H(self), true, false, false, NULL, NULL, NULL);
    REFUSED(161001, "inverseOut is a null", aclnnUnique2, H(self), true, true, false, H(values), NULL, NULL);
    REFUSED(161001, "countsOut is a null", aclnnUniqueDim, H(self), true, false, 0, H(rows), NULL, NULL);
    REFUSED(161002, "valueOut has data type FLOAT", aclnnUnique, H(self), true, false, H(real), NULL);
    REFUSED(161002, "valueOut has shape [3, 2]", aclnnUnique, H(self), true, false, H(rows), NULL);
    REFUSED(161002, "valueOut has shape [6]", aclnnUniqueDim, H(self), true, false, 0, H(values), NULL, H(counts));
    REFUSED(161002, "expected 2 in dimension 1", aclnnUniqueDim, H(self), true, false, 0, H(square), NULL, H(counts));
    REFUSED(161002, "inverseOut has data type INT32", aclnnUnique, H(self), true, true, H(values), H(values));
    REFUSED(161002, "inverseOut has shape [2]", aclnnUnique, H(self), true, true, H(values), H(few));
    REFUSED(161002, "inverseOut is not contiguous", aclnnUnique, H(self), true, true, H(values), H(gaps));
    REFUSED(161002, "countsOut has shape [3, 2]", aclnnUnique2, H(self), true, false, true, H(values), NULL, H(inverse));
    REFUSED(161002, "countsOut is not contiguous", aclnnUnique2, H(self), true, false, true, H(values), NULL, H(gaps));
    REFUSED(161002, "dim 2 is out", aclnnUniqueDim, H(self), true, false, 2, H(rows), NULL, H(counts));
    REFUSED(161002, "dim -3 is out", aclnnUniqueConsecutive, H(self), false, false, -3, H(rows), NULL, NULL);
}

int main(void) {
    begin();
    refused();
    elements();
    neighbours();
    slices();
    too_little_room();
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) sample_free(all[i]);
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_unique: ok");
    return 0;
}
