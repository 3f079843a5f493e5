/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* A few classes and functions of Ascend C, for kernels of one source: the compiler of a card takes the toolkit's header of
 * this name, that of the host this one, and makes a shared object for the mock (mock_acl_kernel.h). C++17.
 *
 *     c++ -std=c++17 -shared -fPIC -O2 -Iinclude -Iinclude/ascendc axpy.cpp -o axpy.o
 *
 * The source says at its end which kernels the mock finds in it:
 *
 *     #ifdef MOCK_ACL_ASCENDC
 *     MOCK_ACL_ASCENDC_KERNELS(MOCK_ACL_ASCENDC_KERNEL(axpy));
 *     #endif
 *
 * Names, parameters and what is refused are as the public programming guide has them; docs/kernels.md, "Kernels of one
 * source", has what is here and what is not. Work is done at once and in order: what a card does side by side, and what a
 * missing EnQue and DeQue would break there, is not seen. What a card may not do (a buffer that is short, an address or a
 * length that is no multiple of 32 bytes, a queue that is empty or full) is said on standard error; the launch fails. */
#ifndef MOCK_ACL_ASCENDC_KERNEL_OPERATOR_H_
#define MOCK_ACL_ASCENDC_KERNEL_OPERATOR_H_

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../mock_acl_kernel.h"

/* This is the header for the mock. */
#define MOCK_ACL_ASCENDC 1

#define __global__
#define __aicore__
#define __gm__
#define GM_ADDR uint8_t *

/* What is here belongs to one file of kernels: another one in the process may come from another version. */
#pragma GCC visibility push(hidden)

namespace mock_acl_ascendc {

/* Bytes of the unified buffer of a core (A2 and A3), and of what its unit moves and computes at once. */
constexpr uint64_t ROOM = 192 * 1024, BLOCK = 32;

/* A core while it runs a block. */
struct Core {
    mock_acl_block *block;
    const char *kernel;
    unsigned char *buffer;
    uint64_t used;
    bool failed;
};

inline thread_local Core *core = nullptr;

/* Says why a block goes wrong, once; from then on its work does nothing. */
inline void refuse(const char *why)
{
    if (!core->failed)
        std::fprintf(stderr, "mock-acl: kernel %s, block %u: %s\n", core->kernel, core->block->block, why);
    core->failed = true;
}

inline bool good(bool holds, const char *why)
{
    if (!holds) refuse(why);
    return !core->failed;
}

constexpr uint64_t whole(uint64_t bytes) { return (bytes + BLOCK - 1) / BLOCK * BLOCK; }

/* Memory of the device, for the host; null where it is not there, which the launch tells. */
inline unsigned char *memory(uint64_t address, uint64_t bytes)
{
    if (core->failed) return nullptr;
    void *place = core->block->to_host(core->block, address, bytes);
    if (place == nullptr) refuse("global memory that is not there");
    return static_cast<unsigned char *>(place);
}

} // namespace mock_acl_ascendc

namespace AscendC {

#if defined(__FLT16_MANT_DIG__)
using half = _Float16;
#endif

enum class TPosition : uint8_t { GM, VECIN, VECOUT, VECCALC };
using QuePosition = TPosition;

inline int64_t GetBlockIdx() { return mock_acl_ascendc::core->block->block; }
inline int64_t GetBlockNum() { return mock_acl_ascendc::core->block->blocks; }

/* Memory of the device. */
template <typename T> class GlobalTensor {
public:
    void SetGlobalBuffer(T *buffer, uint64_t size)
    {
        address_ = reinterpret_cast<uintptr_t>(buffer);
        size_ = size;
    }
    void SetGlobalBuffer(T *buffer) { SetGlobalBuffer(buffer, UINT64_MAX / sizeof(T)); }

    GlobalTensor operator[](uint64_t offset) const
    {
        GlobalTensor rest;
        if (!mock_acl_ascendc::good(offset <= size_, "an offset behind a global tensor")) return rest;
        rest.address_ = address_ + offset * sizeof(T);
        rest.size_ = size_ - offset;
        return rest;
    }

    T GetValue(uint64_t offset) const
    {
        T value{};
        if (const unsigned char *place = Memory(offset * sizeof(T), sizeof(T))) std::memcpy(&value, place, sizeof(T));
        return value;
    }

    void SetValue(uint64_t offset, T value) const
    {
        if (unsigned char *place = Memory(offset * sizeof(T), sizeof(T))) std::memcpy(place, &value, sizeof(T));
    }

    uint64_t GetSize() const { return size_; }

    /* The mock's own: bytes of it for the host, or null. */
    unsigned char *Memory(uint64_t offset, uint64_t bytes) const
    {
        const bool inside = offset + bytes <= size_ * sizeof(T);
        if (!mock_acl_ascendc::good(inside, "more than a global tensor has")) return nullptr;
        return mock_acl_ascendc::memory(address_ + offset, bytes);
    }

private:
    uint64_t address_ = 0, size_ = 0;
};

/* Memory of the core. */
template <typename T> class LocalTensor {
public:
    LocalTensor() = default;
    /* The mock's own: queues and buffers make them. */
    LocalTensor(unsigned char *place, uint64_t bytes, int slot) : place_(place), bytes_(bytes), slot_(slot) {}

    LocalTensor operator[](uint32_t offset) const
    {
        const uint64_t bytes = offset * sizeof(T);
        if (!mock_acl_ascendc::good(bytes <= bytes_, "an offset behind a local tensor")) return LocalTensor();
        return LocalTensor(place_ + bytes, bytes_ - bytes, slot_);
    }

    T GetValue(uint32_t index) const
    {
        T value{};
        if (const unsigned char *place = Scalar(index)) std::memcpy(&value, place, sizeof(T));
        return value;
    }

    void SetValue(uint32_t index, T value) const
    {
        if (unsigned char *place = Scalar(index)) std::memcpy(place, &value, sizeof(T));
    }

    uint32_t GetSize() const { return static_cast<uint32_t>(bytes_ / sizeof(T)); }

    /* The mock's own: its elements where a unit may work on so many bytes from its start, or null. */
    T *Elements(uint64_t bytes) const
    {
        const bool even = reinterpret_cast<uintptr_t>(place_) % mock_acl_ascendc::BLOCK == 0;
        if (!mock_acl_ascendc::good(even, "a local tensor that starts at no multiple of 32 bytes")) return nullptr;
        if (!mock_acl_ascendc::good(bytes <= bytes_, "more than a local tensor has")) return nullptr;
        return reinterpret_cast<T *>(place_);
    }
    int Slot() const { return slot_; }

private:
    unsigned char *Scalar(uint32_t index) const
    {
        const bool inside = (index + uint64_t{1}) * sizeof(T) <= bytes_;
        return mock_acl_ascendc::good(inside, "more than a local tensor has") ? place_ + index * sizeof(T) : nullptr;
    }

    unsigned char *place_ = nullptr;
    uint64_t bytes_ = 0;
    int slot_ = -1;
};

/* Buffers of one size that go round: allocated, queued, taken out, freed. */
template <TPosition position, int32_t depth> class TQue {
    static_assert(depth >= 1 && depth <= 8, "the depth of a queue");

public:
    template <typename T> LocalTensor<T> AllocTensor()
    {
        int slot = 0;
        while (slot < count_ && state_[slot] != FREE) slot++;
        if (!mock_acl_ascendc::good(slot < count_, "no buffer of a queue is free")) return LocalTensor<T>();
        state_[slot] = HELD;
        return LocalTensor<T>(places_ + static_cast<uint64_t>(slot) * bytes_, bytes_, slot);
    }

    template <typename T> bool EnQue(const LocalTensor<T> &tensor)
    {
        if (!Held(tensor.Slot()) || !mock_acl_ascendc::good(queued_ < depth, "a queue is full")) return false;
        state_[tensor.Slot()] = QUEUED;
        order_[queued_++] = tensor.Slot();
        return true;
    }

    template <typename T> LocalTensor<T> DeQue()
    {
        if (!mock_acl_ascendc::good(queued_ > 0, "a queue is empty")) return LocalTensor<T>();
        const int slot = order_[0];
        for (int i = 1; i < queued_; i++) order_[i - 1] = order_[i];
        queued_--;
        state_[slot] = HELD;
        return LocalTensor<T>(places_ + static_cast<uint64_t>(slot) * bytes_, bytes_, slot);
    }

    template <typename T> void FreeTensor(const LocalTensor<T> &tensor)
    {
        if (Held(tensor.Slot())) state_[tensor.Slot()] = FREE;
    }

    /* The mock's own: TPipe gives the buffers. */
    void Take(unsigned char *places, int count, uint64_t bytes)
    {
        places_ = places;
        count_ = count;
        bytes_ = bytes;
    }

private:
    enum State { FREE, HELD, QUEUED };

    bool Held(int slot) const
    {
        const bool held = slot >= 0 && slot < count_ && state_[slot] == HELD;
        return mock_acl_ascendc::good(held, "a tensor that is not in hand");
    }

    unsigned char *places_ = nullptr;
    uint64_t bytes_ = 0;
    int count_ = 0, queued_ = 0, order_[8] = {};
    State state_[8] = {};
};

/* Memory of a kernel for what it computes in between. */
template <TPosition position> class TBuf {
public:
    template <typename T> LocalTensor<T> Get() const { return LocalTensor<T>(place_, bytes_, -1); }
    template <typename T> LocalTensor<T> Get(uint32_t size) const
    {
        const bool inside = size * sizeof(T) <= bytes_;
        if (!mock_acl_ascendc::good(inside, "more than a buffer has")) return LocalTensor<T>();
        return LocalTensor<T>(place_, size * sizeof(T), -1);
    }

    /* As above. */
    void Take(unsigned char *place, uint64_t bytes)
    {
        place_ = place;
        bytes_ = bytes;
    }

private:
    unsigned char *place_ = nullptr;
    uint64_t bytes_ = 0;
};

/* Divides the memory of the core. */
class TPipe {
public:
    template <TPosition position, int32_t depth>
    void InitBuffer(TQue<position, depth> &queue, uint8_t count, uint32_t bytes)
    {
        const uint64_t each = mock_acl_ascendc::whole(bytes);
        if (!mock_acl_ascendc::good(count >= 1 && count <= 8, "a queue has one to eight buffers")) return;
        if (unsigned char *places = Divide(each * count)) queue.Take(places, count, each);
    }

    template <TPosition position> void InitBuffer(TBuf<position> &buffer, uint32_t bytes)
    {
        const uint64_t room = mock_acl_ascendc::whole(bytes);
        if (unsigned char *place = Divide(room)) buffer.Take(place, room);
    }

private:
    static unsigned char *Divide(uint64_t bytes)
    {
        mock_acl_ascendc::Core *core = mock_acl_ascendc::core;
        const bool fits = core->used + bytes <= mock_acl_ascendc::ROOM;
        if (!mock_acl_ascendc::good(fits, "more than the unified buffer has")) return nullptr;
        unsigned char *place = core->buffer + core->used;
        core->used += bytes;
        return place;
    }
};

/* ---- copies ---- */

/* Elements of whole units of 32 bytes. */
template <typename T> void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, uint32_t count)
{
    const uint64_t bytes = count * sizeof(T);
    if (!mock_acl_ascendc::good(bytes % mock_acl_ascendc::BLOCK == 0, "a copy of no multiple of 32 bytes")) return;
    T *to = dst.Elements(bytes);
    const unsigned char *from = src.Memory(0, bytes);
    if (to != nullptr && from != nullptr) std::memcpy(to, from, bytes);
}

template <typename T> void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count)
{
    const uint64_t bytes = count * sizeof(T);
    if (!mock_acl_ascendc::good(bytes % mock_acl_ascendc::BLOCK == 0, "a copy of no multiple of 32 bytes")) return;
    const T *from = src.Elements(bytes);
    unsigned char *to = dst.Memory(0, bytes);
    if (to != nullptr && from != nullptr) std::memcpy(to, from, bytes);
}

/* Rows of any bytes: gaps of global memory in bytes, those of local memory in units of 32 bytes. */
struct DataCopyExtParams {
    uint16_t blockCount = 1;
    uint32_t blockLen = 0, srcStride = 0, dstStride = 0, rsv = 0;
    DataCopyExtParams() = default;
    DataCopyExtParams(uint16_t count, uint32_t length, uint32_t from, uint32_t to, uint32_t reserved)
        : blockCount(count), blockLen(length), srcStride(from), dstStride(to), rsv(reserved)
    {
    }
};

/* What fills a row up, in elements. */
template <typename T> struct DataCopyPadExtParams {
    bool isPad = false;
    uint8_t leftPadding = 0, rightPadding = 0;
    T paddingValue{};
    DataCopyPadExtParams() = default;
    DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, T value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value)
    {
    }
};

template <typename T>
void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyExtParams &copy,
    const DataCopyPadExtParams<T> &pad)
{
    const uint64_t left = pad.isPad ? pad.leftPadding * sizeof(T) : 0;
    const uint64_t right = pad.isPad ? pad.rightPadding * sizeof(T) : 0;
    const uint64_t row = mock_acl_ascendc::whole(left + copy.blockLen + right);
    const bool small = left <= mock_acl_ascendc::BLOCK && right <= mock_acl_ascendc::BLOCK;
    if (!mock_acl_ascendc::good(small, "more than 32 bytes that fill a row up")) return;
    for (uint64_t i = 0; i < copy.blockCount; i++) {
        const uint64_t at = i * (row + copy.dstStride * mock_acl_ascendc::BLOCK);
        unsigned char *to = reinterpret_cast<unsigned char *>(dst.Elements(at + row));
        const unsigned char *from = src.Memory(i * (uint64_t{copy.blockLen} + copy.srcStride), copy.blockLen);
        if (to == nullptr || from == nullptr) return;
        to += at;
        std::memcpy(to + left, from, copy.blockLen);
        /* Without a value nobody knows what the rest of a row has. */
        for (uint64_t byte = 0; byte < row; byte += sizeof(T)) {
            if (byte >= left && byte < left + copy.blockLen) continue;
            if (pad.isPad) std::memcpy(to + byte, &pad.paddingValue, sizeof(T));
            else std::memset(to + byte, 0xff, sizeof(T));
        }
    }
}

template <typename T>
void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyExtParams &copy)
{
    const uint64_t row = mock_acl_ascendc::whole(copy.blockLen);
    for (uint64_t i = 0; i < copy.blockCount; i++) {
        const uint64_t at = i * (row + copy.srcStride * mock_acl_ascendc::BLOCK);
        const unsigned char *from = reinterpret_cast<unsigned char *>(src.Elements(at + copy.blockLen));
        unsigned char *to = dst.Memory(i * (uint64_t{copy.blockLen} + copy.dstStride), copy.blockLen);
        if (to == nullptr || from == nullptr) return;
        std::memcpy(to, from + at, copy.blockLen);
    }
}

/* ---- the vector unit ---- */

/* The mock's own: each element is what `of` makes of the one at its place. */
template <typename T, typename F> void Each(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count, F of)
{
    const uint64_t bytes = static_cast<uint64_t>(count) * sizeof(T);
    T *to = dst.Elements(bytes);
    const T *as = src.Elements(bytes);
    for (int32_t i = 0; i < count && to != nullptr && as != nullptr; i++) to[i] = static_cast<T>(of(as[i]));
}

#define MOCK_ACL_TWO(name, result)                                                                                   \
    template <typename T>                                                                                            \
    void name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, int32_t count)      \
    {                                                                                                                \
        const uint64_t bytes = static_cast<uint64_t>(count) * sizeof(T);                                             \
        T *to = dst.Elements(bytes);                                                                                 \
        const T *as = src0.Elements(bytes), *bs = src1.Elements(bytes);                                              \
        for (int32_t i = 0; i < count && to != nullptr && as != nullptr && bs != nullptr; i++) {                     \
            const T a = as[i], b = bs[i];                                                                            \
            to[i] = static_cast<T>(result);                                                                          \
        }                                                                                                            \
    }

#define MOCK_ACL_SCALAR(name, result)                                                                                \
    template <typename T>                                                                                            \
    void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, T b, int32_t count)                              \
    {                                                                                                                \
        Each(dst, src, count, [b](T a) { return result; });                                                          \
    }

#define MOCK_ACL_ONE(name, result)                                                                                   \
    template <typename T> void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count)             \
    {                                                                                                                \
        Each(dst, src, count, [](T a) { return result; });                                                           \
    }

MOCK_ACL_TWO(Add, a + b)
MOCK_ACL_TWO(Sub, a - b)
MOCK_ACL_TWO(Mul, a * b)
MOCK_ACL_TWO(Div, a / b)
MOCK_ACL_TWO(Max, a < b ? b : a)
MOCK_ACL_TWO(Min, b < a ? b : a)
MOCK_ACL_SCALAR(Adds, a + b)
MOCK_ACL_SCALAR(Muls, a * b)
MOCK_ACL_SCALAR(Maxs, a < b ? b : a)
MOCK_ACL_SCALAR(Mins, b < a ? b : a)
MOCK_ACL_ONE(Abs, a < 0 ? -a : a)
MOCK_ACL_ONE(Relu, a < 0 ? T(0) : a)
MOCK_ACL_ONE(Exp, std::exp(static_cast<float>(a)))
MOCK_ACL_ONE(Sqrt, std::sqrt(static_cast<float>(a)))

#undef MOCK_ACL_TWO
#undef MOCK_ACL_SCALAR
#undef MOCK_ACL_ONE

template <typename T> void Duplicate(const LocalTensor<T> &dst, T value, int32_t count)
{
    T *to = dst.Elements(static_cast<uint64_t>(count) * sizeof(T));
    for (int32_t i = 0; i < count && to != nullptr; i++) to[i] = value;
}

} // namespace AscendC

namespace mock_acl_ascendc {

/* A kernel for the mock's table: its parameters one by one, each from a multiple of 8 bytes on. */
template <auto function> struct Entry;

template <typename... Parameters, void (*function)(Parameters...)> struct Entry<function> {
    static constexpr uint32_t sizes[sizeof...(Parameters) + 1] = {static_cast<uint32_t>(sizeof(Parameters))..., 0};

    template <typename T> static T next(uint64_t &at)
    {
        T value{};
        const uint64_t from = at;
        at += (sizeof(T) + 7) / 8 * 8;
        if (good(from + sizeof(T) <= core->block->args_size, "fewer arguments than it has parameters"))
            std::memcpy(&value, static_cast<const unsigned char *>(core->block->args) + from, sizeof(T));
        return value;
    }

    /* In braces, where parameters are evaluated in their order. */
    struct Call {
        explicit Call(Parameters... parameters)
        {
            if (!core->failed) function(parameters...);
        }
    };

    static int run(mock_acl_block *block, const char *name)
    {
        Core here{block, name, static_cast<unsigned char *>(std::aligned_alloc(BLOCK, ROOM)), 0, false};
        if (here.buffer == nullptr) return 507015;
        std::memset(here.buffer, 0xff, ROOM); /* no numbers: what is read before it is written shows */
        core = &here;
        uint64_t at = 0;
        (void)at;
        Call{next<Parameters>(at)...};
        core = nullptr;
        std::free(here.buffer);
        return here.failed ? 1 : 0;
    }
};

constexpr mock_acl_kernel vector_kernel(
    const char *name, mock_acl_kernel_function run, const uint32_t *sizes, uint32_t count)
{
    return mock_acl_kernel{name, run, 0, MOCK_ACL_KERNEL_VECTOR, 0, 0, 0, sizes, count};
}

template <typename... Parameters> constexpr uint32_t count_of(void (*)(Parameters...))
{
    return sizeof...(Parameters);
}

} // namespace mock_acl_ascendc

#pragma GCC visibility pop

/* A kernel of vector cores, by the name of its function. */
#define MOCK_ACL_ASCENDC_KERNEL(name_)                                                                               \
    mock_acl_ascendc::vector_kernel(                                                                                 \
        #name_, [](mock_acl_block *block) { return mock_acl_ascendc::Entry<&name_>::run(block, #name_); },           \
        mock_acl_ascendc::Entry<&name_>::sizes, mock_acl_ascendc::count_of(&name_))

/* All of them, once in a file. */
#define MOCK_ACL_ASCENDC_KERNELS(...)                                                                                \
    static const mock_acl_kernel mock_acl_ascendc_kernels[] = {__VA_ARGS__};                                         \
    MOCK_ACL_KERNELS(mock_acl_ascendc_kernels, sizeof mock_acl_ascendc_kernels / sizeof *mock_acl_ascendc_kernels,   \
        nullptr, 0)

#endif
