// Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text.
// What both examples need: errors as exceptions, and owners of device memory, tensors, streams and graphs.
#ifndef MOCK_EXAMPLES_SUPPORT_H_
#define MOCK_EXAMPLES_SUPPORT_H_

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>
#include "acl/acl.h"
#include "aclnn/acl_meta.h"

inline void check(int code, const char *what) {
    if (code == 0) return;
    const char *text = aclGetRecentErrMsg();
    throw std::runtime_error(
        std::string(what) + " gave " + std::to_string(code) + ": " + (text == nullptr ? "no text" : text));
}
#define CALL(call) check((call), #call)

// The library and device 0, for as long as the object lives.
class Device {
public:
    Device() {
        CALL(aclInit(nullptr));
        CALL(aclrtSetDevice(0));
    }
    ~Device() {
        aclrtResetDevice(0);
        aclFinalize();
    }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;
};

class Stream {
public:
    Stream() { CALL(aclrtCreateStream(&stream_)); }
    ~Stream() { aclrtDestroyStream(stream_); }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    aclrtStream get() const { return stream_; }
    void wait() const { CALL(aclrtSynchronizeStream(stream_)); }

private:
    aclrtStream stream_ = nullptr;
};

// Device memory; none for a size of 0.
class Memory {
public:
    explicit Memory(size_t bytes) : bytes_(bytes) {
        if (bytes != 0) CALL(aclrtMalloc(&data_, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    ~Memory() {
        if (data_ != nullptr) aclrtFree(data_);
    }
    Memory(Memory &&other) noexcept : data_(other.data_), bytes_(other.bytes_) { other.data_ = nullptr; }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    void *get() const { return data_; }
    size_t bytes() const { return bytes_; }

private:
    void *data_ = nullptr;
    size_t bytes_ = 0;
};

// A vector of floats on the device.
class Vector {
public:
    explicit Vector(const std::vector<float> &values) : memory_(values.size() * sizeof(float)) {
        const int64_t size = static_cast<int64_t>(values.size());
        set(values);
        tensor_ = aclCreateTensor(
            &size, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &size, 1, memory_.get());
        if (tensor_ == nullptr) throw std::runtime_error("aclCreateTensor gave nothing");
    }
    ~Vector() { aclDestroyTensor(tensor_); }
    Vector(const Vector &) = delete;
    Vector &operator=(const Vector &) = delete;
    aclTensor *get() const { return tensor_; }

    // Both wait for the copy, not for work on streams.
    void set(const std::vector<float> &values) {
        CALL(aclrtMemcpy(
            memory_.get(), memory_.bytes(), values.data(), memory_.bytes(), ACL_MEMCPY_HOST_TO_DEVICE));
    }
    std::vector<float> values() const {
        std::vector<float> host(memory_.bytes() / sizeof(float));
        CALL(aclrtMemcpy(
            host.data(), memory_.bytes(), memory_.get(), memory_.bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
        return host;
    }

private:
    Memory memory_;
    aclTensor *tensor_ = nullptr;
};

// A captured graph.
class Graph {
public:
    explicit Graph(aclmdlRI graph) : graph_(graph) {}
    ~Graph() { aclmdlRIDestroy(graph_); }
    Graph(const Graph &) = delete;
    Graph &operator=(const Graph &) = delete;
    void launch(const Stream &stream) const { CALL(aclmdlRIExecuteAsync(graph_, stream.get())); }

private:
    aclmdlRI graph_;
};

inline void expect(const std::vector<float> &got, const std::vector<float> &wanted, const char *what) {
    for (size_t i = 0; i < wanted.size(); i++) {
        if (i < got.size() && got[i] == wanted[i]) continue;
        throw std::runtime_error(std::string(what) + ": element " + std::to_string(i) + " is wrong");
    }
}

#endif
