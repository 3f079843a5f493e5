// y = a * x + y in Ascend C: one source, for the mock and for a card.
//
// For the mock the host's compiler makes a shared object, with the few classes of Ascend C that the mock brings:
//
//     c++ -std=c++17 -shared -fPIC -O2 -Imock-acl/include/ascendc examples/kernels/axpy.cpp -o axpy.o
//
// For a card the toolkit's compiler makes an object file, for the chip at hand. NO COMPILER OF A CARD HAS SEEN THIS: the
// project has no toolkit and no card. It is written after the public programming guide; options, names and alignments are
// to be checked against the toolkit in use.
//
//     bisheng -x asc -c --cce-aicore-arch=<chip> examples/kernels/axpy.cpp -o axpy.o
//
// The program loads either as the same kernel.
#include "kernel_operator.h"

constexpr uint32_t EVEN = 8;    // elements of 32 bytes, which cores move at once
constexpr uint32_t TILE = 4096; // elements of one step

extern "C" __global__ __aicore__ void axpy(GM_ADDR x, GM_ADDR y, float a, uint32_t count)
{
    using namespace AscendC;
    const uint32_t blocks = GetBlockNum();
    const uint32_t part = ((count + blocks - 1) / blocks + EVEN - 1) / EVEN * EVEN;
    const uint32_t begin = part * GetBlockIdx();
    if (begin >= count) return;
    const uint32_t left = count - begin, mine = left < part ? left : part;

    GlobalTensor<float> from, to;
    from.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x) + begin, mine);
    to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y) + begin, mine);
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> xs, ys;
    TQue<QuePosition::VECOUT, 2> outs;
    pipe.InitBuffer(xs, 2, TILE * sizeof(float));
    pipe.InitBuffer(ys, 2, TILE * sizeof(float));
    pipe.InitBuffer(outs, 2, TILE * sizeof(float));

    for (uint32_t at = 0; at < mine; at += TILE) {
        const uint32_t n = mine - at < TILE ? mine - at : TILE;
        // The last elements of a part may be no multiple of 32 bytes: copies that fill up.
        const DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(float)), 0, 0, 0};
        const DataCopyPadExtParams<float> fill{false, 0, 0, 0.0f};
        LocalTensor<float> xt = xs.AllocTensor<float>();
        LocalTensor<float> yt = ys.AllocTensor<float>();
        DataCopyPad(xt, from[at], copy, fill);
        DataCopyPad(yt, to[at], copy, fill);
        xs.EnQue(xt);
        ys.EnQue(yt);
        xt = xs.DeQue<float>();
        yt = ys.DeQue<float>();
        LocalTensor<float> out = outs.AllocTensor<float>();
        Muls(out, xt, a, n);
        Add(out, out, yt, n);
        outs.EnQue(out);
        xs.FreeTensor(xt);
        ys.FreeTensor(yt);
        out = outs.DeQue<float>();
        DataCopyPad(to[at], out, copy);
        outs.FreeTensor(out);
    }
}

#ifdef MOCK_ACL_ASCENDC // what the mock finds in the file
MOCK_ACL_ASCENDC_KERNELS(MOCK_ACL_ASCENDC_KERNEL(axpy));
#endif
