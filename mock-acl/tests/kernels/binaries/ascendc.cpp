/* Part of racl (mock-acl). Kernels of Ascend C for tests: each operation, rows with gaps, and what a card may not do. */
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t MOST = 64;

/* Row i of `out` is what operation i makes of x, y and 3. One block. */
extern "C" __global__ __aicore__ void operations(GM_ADDR x, GM_ADDR y, GM_ADDR out, uint32_t count)
{
    GlobalTensor<float> from, other, to;
    from.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(x), count);
    other.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(y), count);
    to.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(out));
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> xs, ys;
    TQue<QuePosition::VECOUT, 1> outs;
    TBuf<TPosition::VECCALC> between;
    pipe.InitBuffer(xs, 1, MOST * sizeof(float));
    pipe.InitBuffer(ys, 1, MOST * sizeof(float));
    pipe.InitBuffer(outs, 2, MOST * sizeof(float));
    pipe.InitBuffer(between, MOST * sizeof(float));
    LocalTensor<float> a = xs.AllocTensor<float>(), b = ys.AllocTensor<float>();
    DataCopy(a, from, count);
    DataCopy(b, other, count);
    xs.EnQue(a);
    ys.EnQue(b);
    a = xs.DeQue<float>();
    b = ys.DeQue<float>();
    LocalTensor<float> part = between.Get<float>(), half_of_it = between.Get<float>(MOST / 2);
    for (uint32_t row = 0; row < 17; row++) {
        LocalTensor<float> result = outs.AllocTensor<float>();
        if (row == 0) Add(result, a, b, count);
        if (row == 1) Sub(result, a, b, count);
        if (row == 2) Mul(result, a, b, count);
        if (row == 3) Div(result, a, b, count);
        if (row == 4) Max(result, a, b, count);
        if (row == 5) Min(result, a, b, count);
        if (row == 6) Adds(result, a, 3.0f, count);
        if (row == 7) Muls(result, a, 3.0f, count);
        if (row == 8) Maxs(result, a, 3.0f, count);
        if (row == 9) Mins(result, a, 3.0f, count);
        if (row == 10) Abs(result, a, count);
        if (row == 11) Relu(result, a, count);
        if (row == 12) Exp(result, a, count);
        if (row == 13) Sqrt(result, b, count);
        if (row == 14) Duplicate(result, 3.0f, count);
        if (row == 15) {
            Muls(part, a, 2.0f, count);
            Add(result, part, b, count);
        }
        if (row == 16) {
            Duplicate(result, static_cast<float>(half_of_it.GetSize()), count);
            result.SetValue(1, a.GetValue(1));
            to.SetValue(16 * count + count, from.GetValue(2));
        }
        outs.EnQue(result);
        result = outs.DeQue<float>();
        DataCopy(to[row * count], result, count);
        outs.FreeTensor(result);
    }
    xs.FreeTensor(a);
    ys.FreeTensor(b);
}

/* Rows of `width` numbers, `gap` numbers apart, one behind the other; filled up with -1 on both sides where `pad` is 1. */
extern "C" __global__ __aicore__ void rows(
    GM_ADDR x, GM_ADDR out, uint32_t width, uint32_t height, uint32_t gap, uint32_t pad)
{
    GlobalTensor<int32_t> from, to;
    from.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t *>(x));
    to.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t *>(out));
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    LocalTensor<int32_t> all = buffer.Get<int32_t>();
    const uint32_t bytes = width * sizeof(int32_t), between = gap * sizeof(int32_t);
    const DataCopyExtParams in{static_cast<uint16_t>(height), bytes, between, 1, 0};
    const DataCopyPadExtParams<int32_t> fill{pad != 0, 1, 2, -1};
    DataCopyPad(all, from, in, fill);
    if (pad == 0) {
        DataCopyPad(to, all, DataCopyExtParams{static_cast<uint16_t>(height), bytes, 1, 0, 0});
        return;
    }
    /* With what fills each up, as it lies there. */
    const uint32_t row = ((width + 3) * sizeof(int32_t) + 31) / 32 * 32;
    DataCopyPad(to, all, DataCopyExtParams{static_cast<uint16_t>(height), row, 1, 0, 0});
}

/* What is wrong by number; 0 is right. */
extern "C" __global__ __aicore__ void wrong(GM_ADDR x, uint32_t how)
{
    GlobalTensor<float> from, nowhere;
    from.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(x), MOST);
    nowhere.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(8));
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> queue;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(queue, 2, MOST * sizeof(float));
    pipe.InitBuffer(buffer, how == 1 ? 192 * 1024 : 1024);
    LocalTensor<float> t = queue.AllocTensor<float>();
    if (how == 2) DataCopy(t, from, 3);
    if (how == 3) t = queue.DeQue<float>();
    if (how == 4) {
        queue.AllocTensor<float>();
        queue.AllocTensor<float>();
    }
    if (how == 5) {
        queue.FreeTensor(t);
        queue.FreeTensor(t);
    }
    if (how == 6) DataCopy(t, from[MOST - 8], 16);
    if (how == 7) DataCopy(t[MOST - 8], from, 16);
    if (how == 8) Adds(t[1], t, 1.0f, 8);
    if (how == 9) DataCopy(t, nowhere, 8);
    if (how == 10) {
        LocalTensor<float> other = queue.AllocTensor<float>();
        queue.EnQue(t);
        queue.EnQue(other);
    }
    if (how == 11) from.SetValue(MOST, 1.0f);
    if (how == 12) t.SetValue(MOST, 1.0f);
    if (how == 13) (void)buffer.Get<float>(MOST * 100);
    if (how == 14) pipe.InitBuffer(queue, 9, 32);
    if (how == 15) (void)from[MOST + 1];
    if (how == 16) (void)t[MOST + 1];
    if (how == 17) {
        const DataCopyPadExtParams<float> fill{true, 9, 0, 0.0f};
        DataCopyPad(t, from, DataCopyExtParams{1, 4, 0, 0, 0}, fill);
    }
    from.SetValue(0, 7.0f);
}

extern "C" __global__ __aicore__ void nothing() {}

#ifdef MOCK_ACL_ASCENDC
MOCK_ACL_ASCENDC_KERNELS(MOCK_ACL_ASCENDC_KERNEL(operations), MOCK_ACL_ASCENDC_KERNEL(rows),
    MOCK_ACL_ASCENDC_KERNEL(wrong), MOCK_ACL_ASCENDC_KERNEL(nothing));
#endif
