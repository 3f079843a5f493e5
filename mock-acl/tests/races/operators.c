/* Accesses of operators: which operands they read and write, views of one matrix, workspace. */
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_reduce_sum.h"
#include "races/racy.h"

#define ROWS 32
#define COLUMNS 64

static aclTensor *view(void *memory, int64_t offset, int64_t rows, int64_t columns, int64_t down, int64_t right) {
    const int64_t dims[] = {rows, columns}, strides[] = {down, right}, storage[] = {ROWS * COLUMNS};
    aclTensor *t = aclCreateTensor(dims, 2, ACL_FLOAT, strides, offset, ACL_FORMAT_ND, storage, 1, memory);
    CHECK(t != NULL);
    return t;
}

static aclTensor *whole(void *memory) { return view(memory, 0, ROWS, COLUMNS, COLUMNS, 1); }

/* out = a + b; the tensors are gone afterwards. */
static void add(aclTensor *a, aclTensor *b, aclTensor *out, aclrtStream s) {
    float one = 1;
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    OK(aclnnAddGetWorkspaceSize(a, b, alpha, out, &size, &executor));
    OK(aclnnAdd(NULL, 0, executor, s));
    OK(aclDestroyScalar(alpha));
    OK(aclDestroyTensor(a));
    if (b != a) OK(aclDestroyTensor(b));
    if (out != a) OK(aclDestroyTensor(out));
}

static float *matrix(void) {
    float *p = device(ROWS * COLUMNS * sizeof(float));
    OK(aclrtMemset(p, ROWS * COLUMNS * sizeof(float), 0, ROWS * COLUMNS * sizeof(float)));
    return p;
}

static void operands(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    float *x = matrix(), *y = matrix(), *z = matrix();
    add(whole(x), whole(x), whole(y), a);
    add(whole(x), whole(x), whole(z), b); /* both read x */
    races(0);
    aclTensor *t = whole(x);
    add(t, whole(z), t, a); /* in place */
    races(0);
    add(whole(x), whole(x), whole(y), a);
    add(whole(y), whole(y), whole(z), b);
    races(1);
    const mock_acl_race r = race_at(0);
    CHECK(strcmp(r.first, "aclnnAdd") == 0 && strcmp(r.second, "aclnnAdd") == 0);
    CHECK(r.first_writes + r.second_writes == 1 && r.block == y && r.bytes == ROWS * COLUMNS * sizeof(float));
}

/* Even columns here, odd ones there; both halves; a matrix and the same one turned. */
static void views(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    float *x = matrix(), *y = matrix();
    for (int i = 0; i < 2; i++)
        add(whole(x), whole(x), whole(y), a); /* the bytes between the columns are then a's, and known */
    wait_for(a);
    for (int i = 0; i < 2; i++) {
        aclTensor *even = view(y, 0, ROWS, COLUMNS / 2, COLUMNS, 2), *odd = view(y, 1, ROWS, COLUMNS / 2, COLUMNS, 2);
        add(even, view(x, 0, ROWS, COLUMNS / 2, COLUMNS, 2), even, a);
        add(odd, view(x, 1, ROWS, COLUMNS / 2, COLUMNS, 2), odd, b);
    }
    races(0);
    aclTensor *left = view(y, 0, ROWS, COLUMNS / 2, COLUMNS, 1), *right = view(y, COLUMNS / 2, ROWS, COLUMNS / 2, COLUMNS, 1);
    add(left, left, left, a);
    add(right, right, right, b);
    races(0);
    aclTensor *up = view(y, 0, COLUMNS, ROWS / 2, 1, COLUMNS), *down = view(y, COLUMNS * ROWS / 2, ROWS / 2, COLUMNS, COLUMNS, 1);
    add(up, up, up, a);
    add(down, down, down, b);
    races(0);
    aclTensor *column = view(y, 5, ROWS, 1, COLUMNS, 1), *row = view(y, 3 * COLUMNS, 1, COLUMNS, COLUMNS, 1);
    add(column, column, column, a);
    add(row, row, row, b);
    races(1);
    const mock_acl_race r = race_at(0);
    CHECK(r.address == y + 3 * COLUMNS + 5 && r.bytes == sizeof(float)); /* where they cross */
    CHECK(r.times == 2); /* the second one reads and writes it */
}

static void workspace(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    float *x = matrix(), *out = device(COLUMNS * 2 * sizeof(float));
    const int64_t dims[] = {COLUMNS}, rows[] = {0};
    aclOpExecutor *executor[2];
    uint64_t size = 0;
    aclIntArray *over = aclCreateIntArray(rows, 1);
    for (int i = 0; i < 2; i++) {
        aclTensor *in = whole(x);
        aclTensor *sum = aclCreateTensor(dims, 1, ACL_FLOAT, NULL, i * COLUMNS, ACL_FORMAT_ND, dims, 1, out);
        OK(aclnnReduceSumGetWorkspaceSize(in, over, false, ACL_FLOAT, sum, &size, &executor[i]));
        CHECK(size != 0);
        OK(aclDestroyTensor(in));
        OK(aclDestroyTensor(sum));
    }
    void *shared = device(size);
    OK(aclnnReduceSum(shared, size, executor[0], a));
    OK(aclnnReduceSum(shared, size, executor[1], b));
    races(1);
    CHECK(race_at(0).block == shared);
    OK(aclDestroyIntArray(over));
}

int main(void) {
    operands();
    views();
    workspace();
    return 0;
}
