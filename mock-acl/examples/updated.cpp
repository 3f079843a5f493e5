// Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text.
// A graph in which one operator takes another operand in each replay, behind a gate.
//
// The graph computes sum = a + b, then out = sum * weights. The product stands in a task group, so that it can be
// replaced without a new capture. In front of it the graph waits for an external event, the gate. A step launches the
// graph first, whose front part then runs while the host prepares the update on a second stream, and opens the gate
// behind the update. The gate closes itself in the graph, so every replay needs exactly one record. Runs on a card as
// it is, where the runtime has updates of vector kernels.
#include <iostream>
#include <memory>
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_mul.h"
#include "support.h"

namespace {

const size_t kLength = 256;
const int kSteps = 6;
const int kWeights = 3;

class Gate {
public:
    Gate() { CALL(aclrtCreateEventWithFlag(&event_, ACL_EVENT_EXTERNAL)); }
    ~Gate() { aclrtDestroyEvent(event_); }
    Gate(const Gate &) = delete;
    Gate &operator=(const Gate &) = delete;
    // In the graph: waits until it is open, and closes it for the next replay.
    void pass(const Stream &stream) const {
        CALL(aclrtStreamWaitEvent(stream.get(), event_));
        CALL(aclrtResetEvent(event_, stream.get()));
    }
    // Once for each replay, behind everything that the replay must find done.
    void open(const Stream &stream) const { CALL(aclrtRecordEvent(event_, stream.get())); }

private:
    aclrtEvent event_ = nullptr;
};

std::vector<float> filled(float value) { return std::vector<float>(kLength, value); }

// The product with one of the weights. Its workspace has to live until no replay uses the launch any more, that is
// until the next update was applied; it is kept to the end here.
class Product {
public:
    Product(const Vector &a, const Vector &b, const Vector &out, const Stream &stream) {
        uint64_t bytes = 0;
        aclOpExecutor *executor = nullptr;
        CALL(aclnnMulGetWorkspaceSize(a.get(), b.get(), out.get(), &bytes, &executor));
        workspace_.reset(new Memory(bytes));
        CALL(aclnnMul(workspace_->get(), bytes, executor, stream.get()));
    }

private:
    std::unique_ptr<Memory> workspace_;
};

class Program {
public:
    Program() : a_(filled(1)), b_(filled(2)), sum_(filled(0)), out_(filled(0)) {
        for (int i = 0; i < kWeights; i++)
            weights_.emplace_back(new Vector(filled(static_cast<float>(10 * (i + 1)))));
        capture();
    }

    // Out of the weights by number.
    void step(int weight, bool update) {
        graph_->launch(main_);
        if (update) {
            CALL(aclmdlRICaptureTaskUpdateBegin(side_.get(), group_));
            products_.emplace_back(sum_, *weights_[static_cast<size_t>(weight)], out_, side_);
            CALL(aclmdlRICaptureTaskUpdateEnd(side_.get()));
        }
        gate_.open(side_);
        main_.wait();
        side_.wait();
        expect(sum_.values(), filled(3), "the sum");
        expect(out_.values(), filled(30 * static_cast<float>(weight + 1)), "the product");
    }

private:
    void capture() {
        float value = 1;
        aclScalar *one = aclCreateScalar(&value, ACL_FLOAT);
        uint64_t bytes = 0;
        aclOpExecutor *executor = nullptr;
        CALL(aclnnAddGetWorkspaceSize(a_.get(), b_.get(), one, sum_.get(), &bytes, &executor));
        workspace_.reset(new Memory(bytes));
        CALL(aclDestroyScalar(one));
        aclmdlRI captured = nullptr;
        CALL(aclmdlRICaptureBegin(main_.get(), ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
        CALL(aclnnAdd(workspace_->get(), bytes, executor, main_.get()));
        gate_.pass(main_);
        CALL(aclmdlRICaptureTaskGrpBegin(main_.get()));
        products_.emplace_back(sum_, *weights_[0], out_, main_);
        CALL(aclmdlRICaptureTaskGrpEnd(main_.get(), &group_));
        CALL(aclmdlRICaptureEnd(main_.get(), &captured));
        graph_.reset(new Graph(captured));
    }

    // The graph goes first: it uses everything above it.
    const Device device_;
    const Stream main_, side_;
    const Gate gate_;
    Vector a_, b_, sum_, out_;
    std::vector<std::unique_ptr<Vector>> weights_;
    std::unique_ptr<Memory> workspace_;
    std::vector<Product> products_;
    aclrtTaskGrp group_ = nullptr;
    std::unique_ptr<Graph> graph_;
};

}  // namespace

int main() {
    try {
        Program program;
        program.step(0, false);  // as captured
        for (int i = 1; i < kSteps; i++) program.step(i % kWeights, true);
        program.step((kSteps - 1) % kWeights, false);  // the last update stays
    } catch (const std::exception &e) {
        std::cerr << "updated: " << e.what() << "\n";
        return 1;
    }
    std::cout << "updated: " << kSteps - 1 << " updates behind a gate, all numbers right\n";
    return 0;
}
