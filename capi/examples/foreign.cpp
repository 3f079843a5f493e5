// A foreign operator with calls of AscendCL inside, on a stream beside the main one; foreign.c tells more. What it throws
// fails the capture or run, with its text.
#include <acl/acl.h>
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_mul.h>

#include "plans.hpp"

constexpr size_t N = 32, WORKSPACE = 1 << 20;

// What it is launched with, in the order in which the plan names it.
enum { A, B, RESULT, SCRATCH, VALUES };

namespace {

struct operand {
    explicit operand(const racl_launch_value &of) {
        const std::vector<int64_t> shape(of.shape, of.shape + of.rank), strides(of.strides, of.strides + of.rank);
        made = aclCreateTensor(shape.data(), of.rank, aclDataType(of.dtype), strides.data(), 0, ACL_FORMAT_ND,
                               shape.data(), of.rank, of.address);
    }
    operand(const operand &) = delete;
    operand &operator=(const operand &) = delete;
    ~operand() { aclDestroyTensor(made); }
    aclTensor *made;
};

struct scalar {
    explicit scalar(float of) : value(of), made(aclCreateScalar(&value, ACL_FLOAT)) {}
    scalar(const scalar &) = delete;
    scalar &operator=(const scalar &) = delete;
    ~scalar() { aclDestroyScalar(made); }
    float value;
    aclScalar *made;
};

using second_phase = aclnnStatus (*)(void *, uint64_t, aclOpExecutor *, aclrtStream);

// The second phase of an operator whose first one gave this.
int32_t give(int32_t status, uint64_t bytes, aclOpExecutor *executor, second_phase second, const racl_launch &launch) {
    const racl_launch_value &scratch = racl::value_of(launch, SCRATCH);
    if (status != 0) return status; // with the text that the library has of it
    if (bytes > scratch.bytes) throw std::runtime_error("an operator wants more workspace");
    return second(bytes > 0 ? scratch.address : nullptr, bytes, executor, launch.stream);
}

// Called when a graph is captured, and at each eager run. Nothing is waited for: all goes to the stream.
int32_t add_and_multiply(const racl_launch &launch) {
    if (launch.count != VALUES) throw std::invalid_argument("another plan than this one");
    const operand a(racl::value_of(launch, A)), b(racl::value_of(launch, B)), y(racl::value_of(launch, RESULT));
    const scalar alpha(1);
    uint64_t bytes = 0;
    aclOpExecutor *executor = nullptr;
    int32_t status = aclnnAddGetWorkspaceSize(a.made, b.made, alpha.made, y.made, &bytes, &executor);
    status = give(status, bytes, executor, aclnnAdd, launch);
    if (status != 0) return status;
    status = aclnnInplaceMulGetWorkspaceSize(y.made, b.made, &bytes, &executor);
    return give(status, bytes, executor, aclnnInplaceMul, launch);
}

racl::plan record(const racl::foreign &foreign) {
    auto g = racl::builder::make();
    auto a = g.input<float>("a", {N, N}, RACL_INPUT_COPIED), b = g.input<float>("b", {N, N}, RACL_INPUT_COPIED);
    g.event("given");
    g.record("given");
    g.begin_scope("side");
    g.wait("given");
    auto y = g.empty<float>({N, N}), scratch = g.empty<uint8_t>({WORKSPACE});
    g.run(foreign, {a, b}, {y, scratch});
    g.end_scope();
    auto product = g.op("aclnnMm", {a, b, racl::new_value, 0}); // meanwhile
    g.join("side");
    g.output("(a + b) * b + ab", g.op("aclnnAdd", {y, product, one, racl::new_value}));
    return g.build();
}

} // namespace

int main() {
    return on_a_device([](const racl::context &context, const racl::stream &stream) {
        const auto foreign = racl::foreign::make("add_and_multiply", 1, add_and_multiply);
        const floats a = numbers(N * N, 1), b = numbers(N * N, 2);
        floats expected = times(a, b, N, N, N);
        for (size_t at = 0; at < N * N; ++at) expected[at] += (a[at] + b[at]) * b[at];
        const auto plan = record(foreign);
        describe(plan);
        const auto of_a = upload(context, a, N, N), of_b = upload(context, b, N, N);
        run_both_ways(plan, context, stream, {{"a", &of_a}, {"b", &of_b}}, {{"(a + b) * b + ab", expected}});
    });
}
