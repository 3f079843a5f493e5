// Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text.
// out = (a + b) * c, recorded once and replayed with new inputs.
//
// A capture takes the addresses of memory, not what lies there: the program writes new values to the same memory
// between two replays. Each replay is one call, however many operators the graph holds. Runs on a card as it is.
#include <algorithm>
#include <iostream>
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_mul.h"
#include "support.h"

namespace {

const size_t kLength = 1024;
const int kReplays = 5;

// An operator between its two phases: the first one says how much memory the second one needs.
struct Prepared {
    uint64_t bytes = 0;
    aclOpExecutor *executor = nullptr;
};

Prepared prepare_add(const Vector &a, const Vector &b, const aclScalar *one, const Vector &out) {
    Prepared p;
    CALL(aclnnAddGetWorkspaceSize(a.get(), b.get(), one, out.get(), &p.bytes, &p.executor));
    return p;
}

Prepared prepare_mul(const Vector &a, const Vector &b, const Vector &out) {
    Prepared p;
    CALL(aclnnMulGetWorkspaceSize(a.get(), b.get(), out.get(), &p.bytes, &p.executor));
    return p;
}

// One owner for the scalar that aclnnAdd multiplies its second operand with.
class One {
public:
    One() : scalar_(aclCreateScalar(&value_, ACL_FLOAT)) {
        if (scalar_ == nullptr) throw std::runtime_error("aclCreateScalar gave nothing");
    }
    ~One() { aclDestroyScalar(scalar_); }
    One(const One &) = delete;
    One &operator=(const One &) = delete;
    const aclScalar *get() const { return scalar_; }

private:
    float value_ = 1;
    aclScalar *scalar_;
};

// The inputs of one step; small integers, so that floats are exact whatever the device does.
std::vector<float> input(int step, int factor) {
    std::vector<float> values(kLength);
    for (size_t i = 0; i < kLength; i++)
        values[i] = static_cast<float>((static_cast<int>(i) * factor + step) % 31 - 15);
    return values;
}

std::vector<float> expected(int step) {
    const std::vector<float> a = input(step, 3), b = input(step, 5), c = input(step, 7);
    std::vector<float> out(kLength);
    for (size_t i = 0; i < kLength; i++) out[i] = (a[i] + b[i]) * c[i];
    return out;
}

void run() {
    const Device device;
    const Stream stream;
    const One one;
    Vector a(input(0, 3)), b(input(0, 5)), c(input(0, 7));
    Vector sum(std::vector<float>(kLength, 0)), out(std::vector<float>(kLength, 0));

    // The first phases and the workspaces come before the capture, which records the second phases. The two run one
    // after the other on one stream, so one workspace serves both; it has to live as long as the graph.
    const Prepared add = prepare_add(a, b, one.get(), sum);
    const Prepared mul = prepare_mul(sum, c, out);
    const Memory workspace(std::max(add.bytes, mul.bytes));

    aclmdlRI captured = nullptr;
    CALL(aclmdlRICaptureBegin(stream.get(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    CALL(aclnnAdd(workspace.get(), add.bytes, add.executor, stream.get()));
    CALL(aclnnMul(workspace.get(), mul.bytes, mul.executor, stream.get()));
    CALL(aclmdlRICaptureEnd(stream.get(), &captured));
    const Graph graph(captured);

    // Nothing ran so far.
    stream.wait();
    expect(out.values(), std::vector<float>(kLength, 0), "after the capture");

    for (int step = 0; step < kReplays; step++) {
        a.set(input(step, 3));
        b.set(input(step, 5));
        c.set(input(step, 7));
        graph.launch(stream);
        stream.wait();
        expect(out.values(), expected(step), "after a replay");
    }
    // The same inputs again: the graph keeps nothing from one replay to the next.
    graph.launch(stream);
    graph.launch(stream);
    stream.wait();
    expect(out.values(), expected(kReplays - 1), "after two replays in a row");
}

}  // namespace

int main() {
    try {
        run();
    } catch (const std::exception &e) {
        std::cerr << "captured: " << e.what() << "\n";
        return 1;
    }
    std::cout << "captured: " << kReplays << " replays with new inputs, all numbers right\n";
    return 0;
}
