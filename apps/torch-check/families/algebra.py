"""Products of matrices, attention, and what is built on them."""

import torch
import torch_npu
from torch.nn import functional as nn

from torchcheck import add, check, close, floats, on_both, same

A, B, C = floats(4, 6), floats(6, 5, seed=1), floats(4, 5, seed=2)
BATCH = floats(3, 4, 6), floats(3, 6, 5, seed=1)
HEADS = [floats(2, 2, 8, 4, seed=s) for s in range(3)]
PRODUCTS = {
    "mm": (torch.mm, A, B),
    "matmul": (torch.matmul, A, B),
    "bmm": (torch.bmm, *BATCH),
    "mv": (torch.mv, A, floats(6)),
    "dot": (torch.dot, floats(6), floats(6, seed=1)),
    "addmm": (torch.addmm, C, A, B),
    "addmm-scaled": (lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), C, A, B),
    "addmv": (torch.addmv, floats(4), A, floats(6)),
    "baddbmm": (torch.baddbmm, floats(3, 4, 5), *BATCH),
    "addbmm": (torch.addbmm, C, *BATCH),
    "addr": (torch.addr, floats(4, 3), floats(4), floats(3)),
    "outer": (torch.outer, floats(4), floats(3)),
    "inner": (torch.inner, A, floats(6)),
    "matmul-broadcast": (torch.matmul, floats(2, 1, 4, 6), floats(3, 6, 5)),
    "matmul-vector": (torch.matmul, floats(3, 4, 6), floats(6)),
    "matmul-transposed": (lambda a, b: a @ b.t(), A, floats(5, 6)),
    "einsum": (lambda a, b: torch.einsum("bij,bjk->bik", a, b), *BATCH),
    "einsum-trace": (lambda a: torch.einsum("ij->j", a), A),
    "tensordot": (lambda a, b: torch.tensordot(a, b, dims=1), A, B),
    "chain-matmul": (torch.linalg.multi_dot, [A, B, floats(5, 2)]),
    "kron": (torch.kron, floats(2, 2), floats(2, 3)),
    "linear": (nn.linear, A, floats(5, 6), floats(5)),
    "matrix-power": (lambda a: torch.linalg.matrix_power(a, 3), floats(4, 4)),
    "attention": (nn.scaled_dot_product_attention, *HEADS),
    "softmax-of-product": (lambda q, k: torch.softmax(q @ k.transpose(-1, -2), -1), *HEADS[:2]),
}
for name, (function, *inputs) in PRODUCTS.items():
    add(f"algebra/{name}", lambda f=function, i=inputs: same(f, *i))
    add(f"algebra/{name}-grad", lambda f=function, i=inputs: same(f, *i, grad=True, rtol=1e-3, atol=1e-4))

HALF = {
    "matmul-half": (torch.matmul, A.half(), B.half()),
    "matmul-bfloat16": (torch.matmul, A.bfloat16(), B.bfloat16()),
    "bmm-half": (torch.bmm, BATCH[0].half(), BATCH[1].half()),
    "attention-half": (nn.scaled_dot_product_attention, *[x.half() for x in HEADS]),
    "attention-causal": (lambda q, k, v: nn.scaled_dot_product_attention(q, k, v, is_causal=True), *HEADS),
    "inverse": (torch.linalg.inv, floats(4, 4) + 4 * torch.eye(4)),
    "cholesky": (lambda a: torch.linalg.cholesky(a @ a.t() + 4 * torch.eye(4, device=a.device)), floats(4, 4)),
    "det": (torch.linalg.det, floats(4, 4)),
    "solve": (torch.linalg.solve, floats(4, 4) + 4 * torch.eye(4), floats(4, 2)),
    "qr": (lambda a: tuple(torch.linalg.qr(a)), floats(4, 4)),
    "svdvals": (torch.linalg.svdvals, floats(4, 4)),
    "eigvalsh": (lambda a: torch.linalg.eigvalsh(a + a.t()), floats(4, 4)),
    "triangular-solve": (
        lambda a, b: torch.linalg.solve_triangular(a.triu() + 4 * torch.eye(4, device=a.device), b, upper=True),
        floats(4, 4),
        floats(4, 2),
    ),
    "fft": (lambda x: torch.view_as_real(torch.fft.rfft(x)), floats(8)),
}
for name, (function, *inputs) in HALF.items():
    add(f"algebra/{name}", lambda f=function, i=inputs: same(f, *i))


def causal(size):
    return torch.ones(size, size, dtype=torch.bool).triu(1)


@check
def fusion_attention():
    """The fused operator against plain attention."""
    query, key, value = [x.half() for x in HEADS]
    want = nn.scaled_dot_product_attention(query.float(), key.float(), value.float()).half()
    got = torch_npu.npu_fusion_attention(
        query.npu(), key.npu(), value.npu(), head_num=2, input_layout="BNSD", scale=0.5
    )[0]
    close(got, want)


@check
def fusion_attention_masked():
    query, key, value = [x.half() for x in HEADS]
    mask = causal(8)
    want = nn.scaled_dot_product_attention(query.float(), key.float(), value.float(), ~mask).half()
    got = torch_npu.npu_fusion_attention(
        query.npu(), key.npu(), value.npu(), 2, "BNSD", atten_mask=mask.npu(), scale=0.5
    )[0]
    close(got, want)


@check
def npu_rms_norm():
    x, weight = floats(4, 8), floats(8, low=0.5)
    want = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight
    close(torch_npu.npu_rms_norm(x.npu(), weight.npu(), epsilon=1e-6)[0], want)


@check
def npu_swiglu():
    x = floats(4, 8)
    left, right = x.chunk(2, -1)
    close(torch_npu.npu_swiglu(x.npu()), nn.silu(left) * right)


@check
def npu_rotary_mul():
    x, cos, sin = floats(2, 8, 2, 16), floats(1, 8, 1, 16, seed=1), floats(1, 8, 1, 16, seed=2)
    left, right = x.chunk(2, -1)
    want = x * cos + torch.cat([-right, left], -1) * sin
    close(torch_npu.npu_rotary_mul(x.npu(), cos.npu(), sin.npu()), want)


@check
def npu_dtype_cast():
    close(torch_npu.npu_dtype_cast(A.npu(), torch.float16), A.half())


@check
def npu_format():
    assert torch_npu.get_npu_format(A.npu()) == 2


@check
def fast_gelu():
    x = floats(4, 8)
    close(torch_npu.npu_fast_gelu(x.npu()), x / (1 + torch.exp(-1.702 * x.abs())) * torch.exp(0.851 * (x - x.abs())))


@check
def hf32_can_be_chosen():
    before = torch.npu.matmul.allow_hf32
    torch.npu.matmul.allow_hf32 = True
    on_both(lambda device: A.to(device) @ B.to(device))
    torch.npu.matmul.allow_hf32 = before
