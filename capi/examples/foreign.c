/* A foreign operator with calls of AscendCL inside, on a stream beside the main one, in a plan that runs eagerly and as
 * a graph. What has no function in libracl goes into plans so.
 *
 * The operator computes (a + b) * b with two operators of aclnn. Their workspace is a value of the plan as well, so that
 * racl plans its memory and keeps it as long as a graph has it. The program is bound to the library of AscendCL that
 * RACL_LIBRARY names. */
#include <acl/acl.h>
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_mul.h>

#include "plans.h"

enum { N = 32, BYTE = 4 /* ACL_UINT8 */, WORKSPACE = 1 << 20 };

/* What it is launched with, in the order in which the plan names it. */
enum { A, B, RESULT, SCRATCH, VALUES };

/* One of them. Values of a later libracl may be larger than those of the header here. */
static const racl_launch_value *value_of(const racl_launch *launch, size_t number) {
    return (const void *)((const char *)launch->values + number * launch->value_size);
}

static aclTensor *tensor(const racl_launch_value *value) {
    int64_t shape[8], strides[8];
    for (uint32_t at = 0; at < value->rank; ++at) {
        shape[at] = (int64_t)value->shape[at];
        strides[at] = (int64_t)value->strides[at];
    }
    return aclCreateTensor(shape, value->rank, (aclDataType)value->dtype, strides, 0, ACL_FORMAT_ND, shape, value->rank,
                           value->address);
}

/* The second phase of an operator whose first one gave this. */
static int32_t give(int32_t status, uint64_t bytes, aclOpExecutor *executor,
                    aclnnStatus (*second)(void *, uint64_t, aclOpExecutor *, aclrtStream), const racl_launch *launch) {
    const racl_launch_value *scratch = value_of(launch, SCRATCH);
    if (status != 0) return status; /* with the text that the library has of it */
    if (bytes > scratch->bytes) return racl_last_error_set(RACL_OUT_OF_MEMORY, "an operator wants more workspace");
    return second(bytes > 0 ? scratch->address : NULL, bytes, executor, launch->stream);
}

/* Called when a graph is captured, and at each eager run. Nothing is waited for: all goes to the stream. */
static int32_t add_and_multiply(void *user, const racl_launch *launch) {
    (void)user;
    if (launch->count != VALUES) return racl_last_error_set(RACL_INVALID_ARGUMENT, "another plan than this one");
    float one = 1;
    uint64_t bytes = 0;
    aclOpExecutor *executor = NULL;
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    aclTensor *a = tensor(value_of(launch, A)), *b = tensor(value_of(launch, B)), *y = tensor(value_of(launch, RESULT));
    int32_t status = aclnnAddGetWorkspaceSize(a, b, alpha, y, &bytes, &executor);
    status = give(status, bytes, executor, aclnnAdd, launch);
    if (status == 0) {
        status = aclnnInplaceMulGetWorkspaceSize(y, b, &bytes, &executor);
        status = give(status, bytes, executor, aclnnInplaceMul, launch);
    }
    aclDestroyTensor(a);
    aclDestroyTensor(b);
    aclDestroyTensor(y);
    aclDestroyScalar(alpha);
    return status;
}

static racl_plan *record(const racl_foreign *foreign) {
    racl_builder *g;
    racl_plan *plan;
    racl_dim shape[2] = {N, N}, bytes[1] = {WORKSPACE};
    racl_value y, scratch, product, sum;
    CHECK(racl_builder_new(NULL, &g));
    racl_value a = input(g, "a", N, N, RACL_INPUT_COPIED), b = input(g, "b", N, N, RACL_INPUT_COPIED);
    CHECK(racl_builder_event(g, "given"));
    CHECK(racl_builder_record(g, "given"));
    CHECK(racl_builder_scope_begin(g, "side", NULL));
    CHECK(racl_builder_wait(g, "given"));
    CHECK(racl_builder_empty(g, RACL_TYPE_FLOAT, shape, 2, &y));
    CHECK(racl_builder_empty(g, BYTE, bytes, 1, &scratch));
    const racl_value reads[2] = {a, b}, writes[2] = {y, scratch};
    CHECK(racl_builder_foreign(g, foreign, reads, 2, writes, 2));
    CHECK(racl_builder_scope_end(g));
    OP(g, "aclnnMm", in(a), in(b), out(&product), integer(0)); /* meanwhile */
    CHECK(racl_builder_join(g, "side"));
    OP(g, "aclnnAdd", in(y), in(product), number(1), out(&sum));
    CHECK(racl_builder_output(g, "(a + b) * b + ab", sum));
    CHECK(racl_builder_build(g, &plan));
    return plan;
}

int main(void) {
    racl_library *library;
    racl_context *context;
    racl_stream *stream;
    racl_foreign *foreign;
    CHECK(racl_library_open(NULL, &library));
    CHECK(racl_context_primary(library, 0, &context));
    CHECK(racl_stream_new(context, NULL, &stream));
    racl_foreign_info info = {.size = sizeof info, .name = "add_and_multiply", .version = 1, .launch = add_and_multiply};
    CHECK(racl_foreign_new(&info, &foreign));

    static float a[N * N], b[N * N], result[N * N];
    fill(a, N * N, 1);
    fill(b, N * N, 2);
    times(a, b, result, N, N, N);
    for (size_t at = 0; at < N * N; ++at) result[at] += (a[at] + b[at]) * b[at];
    const char *names[2] = {"a", "b"};
    racl_tensor *given[2] = {upload(context, a, N, N), upload(context, b, N, N)};
    Expected expected[1] = {{"(a + b) * b + ab", result, N * N}};
    racl_plan *plan = record(foreign);
    describe(plan);
    run_both_ways(plan, context, stream, names, given, 2, expected, 1);

    for (size_t at = 0; at < 2; ++at) CHECK(racl_tensor_free(given[at]));
    CHECK(racl_plan_free(plan));
    CHECK(racl_foreign_free(foreign));
    CHECK(racl_stream_close(stream));
    CHECK(racl_context_close(context));
    CHECK(racl_library_close(library));
    return 0;
}
