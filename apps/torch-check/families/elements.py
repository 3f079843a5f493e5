"""Operators of elements."""

import torch

from torchcheck import add, floats, ints, same

UNARY = (
    """abs neg exp exp2 expm1 sin cos tan sinh cosh tanh atan asinh sigmoid floor ceil round trunc frac sign erf erfc
square relu isnan isinf isfinite signbit sgn deg2rad rad2deg sinc positive logical_not""".split()
)
POSITIVE = "log log2 log10 log1p sqrt rsqrt reciprocal lgamma digamma".split()
NARROW = "asin acos atanh erfinv".split()
BINARY = (
    """add sub mul div maximum minimum fmax fmin atan2 eq ne lt le gt ge fmod remainder floor_divide hypot logaddexp
logaddexp2 copysign heaviside logical_and logical_or logical_xor true_divide nextafter""".split()
)
OF_INTS = "bitwise_and bitwise_or bitwise_xor gcd lcm".split()
SCALAR = "add sub mul div eq ne lt le gt ge fmod remainder pow".split()
IN_PLACE = "add_ sub_ mul_ div_ abs_ neg_ exp_ sqrt_ relu_ sigmoid_ tanh_ zero_ floor_ clamp_min_".split()
GRAD = "exp log sqrt sin cos tanh sigmoid abs relu square erf reciprocal rsqrt expm1 log1p atan".split()

for name in UNARY:
    add(f"elements/{name}", lambda f=getattr(torch, name): same(f, floats(4, 33)))
for name in POSITIVE:
    add(f"elements/{name}", lambda f=getattr(torch, name): same(f, floats(4, 33, low=0.1, high=5)))
for name in NARROW:
    add(f"elements/{name}", lambda f=getattr(torch, name): same(f, floats(4, 33, low=-0.9, high=0.9)))
for name in BINARY:
    add(f"elements/{name}-two", lambda f=getattr(torch, name): same(f, floats(3, 5), floats(3, 5, seed=1)))
for name in OF_INTS:
    add(f"elements/{name}-ints", lambda f=getattr(torch, name): same(f, ints(3, 5), ints(3, 5, seed=1)))
for name in SCALAR:
    add(f"elements/{name}-scalar", lambda f=getattr(torch, name): same(lambda x: f(x, 2), floats(3, 5, low=0.5)))
for name in GRAD:
    add(f"elements/{name}-grad", lambda f=getattr(torch, name): same(f, floats(3, 5, low=0.2, high=2), grad=True))


def in_place(name, *arguments):
    def run(x):
        getattr(x, name)(*arguments)

    return lambda: same(run, floats(3, 5, low=0.2, high=3))


for name in IN_PLACE:
    more = (2.0,) if name in ("add_", "sub_", "mul_", "div_", "clamp_min_") else ()
    add(f"elements/{name}", in_place(name, *more))

ROW, COLUMN = floats(1, 5), floats(3, 1, seed=1)
OTHERS = {
    "add-alpha": lambda: same(lambda x, y: torch.add(x, y, alpha=3), floats(3, 5), floats(3, 5, seed=1)),
    "add-broadcast": lambda: same(torch.add, ROW, COLUMN),
    "mul-broadcast": lambda: same(torch.mul, ROW, COLUMN),
    "add-broadcast-grad": lambda: same(torch.add, ROW, COLUMN, grad=True),
    "mul-broadcast-grad": lambda: same(torch.mul, ROW, COLUMN, grad=True),
    "add-mixed-types": lambda: same(torch.add, floats(3, 5), ints(3, 5)),
    "add-half": lambda: same(torch.add, floats(3, 5, dtype=torch.float16), floats(3, 5, dtype=torch.float16)),
    "mul-bfloat16": lambda: same(torch.mul, floats(3, 5, dtype=torch.bfloat16), floats(3, 5, dtype=torch.bfloat16)),
    "add-int32": lambda: same(torch.add, ints(3, 5, dtype=torch.int32), ints(3, 5, dtype=torch.int32)),
    "add-empty": lambda: same(torch.add, floats(0, 5), floats(0, 5)),
    "add-scalar-tensor": lambda: same(torch.add, floats(3, 5), torch.tensor(2.0)),
    "rsub": lambda: same(lambda x: 2 - x, floats(3, 5)),
    "div-floor": lambda: same(lambda x, y: torch.div(x, y, rounding_mode="floor"), floats(3, 5), floats(3, 5, seed=1)),
    "div-trunc": lambda: same(lambda x, y: torch.div(x, y, rounding_mode="trunc"), floats(3, 5), floats(3, 5, seed=1)),
    "pow-two": lambda: same(torch.pow, floats(3, 5, low=0.2), floats(3, 5, seed=1)),
    "pow-grad": lambda: same(lambda x: x**3, floats(3, 5), grad=True),
    "pow-of-scalar": lambda: same(lambda x: 2.0**x, floats(3, 5)),
    "clamp": lambda: same(lambda x: x.clamp(-1, 1), floats(3, 5)),
    "clamp-min": lambda: same(lambda x: x.clamp(min=0), floats(3, 5)),
    "clamp-tensors": lambda: same(torch.clamp, floats(3, 5), -torch.ones(5), torch.ones(5)),
    "clamp-grad": lambda: same(lambda x: x.clamp(-1, 1), floats(3, 5), grad=True),
    "where": lambda: same(lambda x, y: torch.where(x > 0, x, y), floats(3, 5), floats(3, 5, seed=1)),
    "where-scalar": lambda: same(lambda x: torch.where(x > 0, x, 0.0), floats(3, 5)),
    "where-grad": lambda: same(lambda x, y: torch.where(x > 0, x, y), floats(3, 5), floats(3, 5, seed=1), grad=True),
    "lerp": lambda: same(lambda x, y: torch.lerp(x, y, 0.3), floats(3, 5), floats(3, 5, seed=1)),
    "lerp-tensor": lambda: same(torch.lerp, floats(3, 5), floats(3, 5, seed=1), floats(3, 5, seed=2)),
    "addcmul": lambda: same(torch.addcmul, floats(3, 5), floats(3, 5, seed=1), floats(3, 5, seed=2)),
    "addcdiv": lambda: same(torch.addcdiv, floats(3, 5), floats(3, 5, seed=1), floats(3, 5, low=1, seed=2)),
    "nan-to-num": lambda: same(torch.nan_to_num, torch.tensor([1.0, float("nan"), float("inf"), -float("inf")])),
    "isclose": lambda: same(torch.isclose, floats(3, 5), floats(3, 5)),
    "bitwise-not": lambda: same(torch.bitwise_not, ints(3, 5)),
    "shift-left": lambda: same(lambda x: x << 2, ints(3, 5, low=0)),
    "shift-right": lambda: same(lambda x: x >> 1, ints(3, 5, low=0)),
    "strided": lambda: same(lambda x: x.t()[::2] * 2, floats(6, 8)),
    "out": lambda: same(lambda x, y: torch.add(x, x, out=y), floats(3, 5), floats(3, 5)),
    "masked-fill": lambda: same(lambda x: x.masked_fill(x > 0, 9.0), floats(3, 5)),
    "chain": lambda: same(lambda x: ((x + 1) * 2 - x.sin()).tanh(), floats(64, 65)),
    "large": lambda: same(lambda x: x * 2 + 1, floats(1000, 1000)),
    "xlogy": lambda: same(torch.xlogy, floats(3, 5, low=0.2), floats(3, 5, low=0.2)),
    "logit": lambda: same(torch.logit, floats(3, 5, low=0.1, high=0.9)),
    "complex": lambda: same(torch.complex, floats(3), floats(3, seed=1)),
    "real": lambda: same(lambda x, y: torch.complex(x, y).real, floats(3), floats(3, seed=1)),
    "complex-mul": lambda: same(lambda x, y: torch.complex(x, y) * torch.complex(y, x), floats(3), floats(3, seed=1)),
    "equal": lambda: same(torch.equal, floats(3, 5), floats(3, 5)),
    "allclose": lambda: same(torch.allclose, floats(3, 5), floats(3, 5)),
}
for name, function in OTHERS.items():
    add(f"elements/{name}", function)
