"""Operators that do the same to every tensor of a list: the references of elementwise.py for each tensor."""
import ctypes

from device import FLOATS, INTEGERS, decode, encode, np, read

from calls import Expect, output, rule
from elementwise import RULES as ELEMENTWISE

REFERENCES = {r.name.removeprefix("aclnn"): r for r in ELEMENTWISE}
NARROW = ("f32", "f16", "bf16")


def tensors(case, dtype, shapes):
    return [case.operand(shape, dtype) for shape in shapes]


def some_shapes(case):
    return [case.shape() for _ in range(int(case.random.integers(1, 6)))]


def computed(numbers, dtype):
    """What the operator sees: floats through the type it computes in."""
    narrow = np.float32 if dtype in NARROW else np.float64 if dtype == "f64" else np.int64
    return np.asarray(numbers).astype(narrow).astype(np.float64 if dtype in FLOATS else np.int64)


def results(case, dtype, reference, scale, columns):
    """An output for each turn, whose operands are columns of numbers."""
    made = []
    for inputs in zip(*columns):
        inputs = [computed(x, dtype) for x in inputs]
        made.append(output(case, reference(*inputs), dtype, scale(*inputs) if scale else None))
    return made


def unary(name):
    reference = REFERENCES[name]

    def make(case, dtype):
        x = tensors(case, dtype, some_shapes(case))
        return [x, results(case, dtype, reference.reference, reference.scale, [[a[4] for a in x]])]
    types = FLOATS if reference.floats else reference.types
    return rule("Foreach" + name, make, types=types)


def numbers_of(case, dtype, count):
    kinds = ["f32", "s32"] if dtype in FLOATS else ["s32", "s64"]
    kind = case.pick(kinds)
    values = [float(np.float32(v)) if kind == "f32" else int(v)
              for v in case.random.standard_normal(count) * 3]
    return kind, values


def scalar_list(case, kind, values):
    handles = [case.device.scalar(v, kind) for v in values]
    members = (ctypes.c_void_p * len(handles))(*(h.value for h in handles))
    case.device.lib.aclCreateScalarList.restype = ctypes.c_void_p
    made = case.device.lib.aclCreateScalarList(members, ctypes.c_uint64(len(handles)))
    held = {h.value for h in handles}
    case.device.made = [m for m in case.device.made if m[1] not in held]
    case.device.made.append(("aclDestroyScalarList", made))
    return ctypes.c_void_p(made)


def with_number(name, form, reference, types):
    def make(case, dtype):
        x = tensors(case, dtype, some_shapes(case))
        kind, values = numbers_of(case, dtype, len(x) if form == "ScalarList" else 1)
        if form == "ScalarList":
            number = scalar_list(case, kind, values)
        else:
            number = case.device.scalar(values[0], kind) if form == "ScalarV2" else case.given(
                np.array(values), kind)
            values = values * len(x)
        return [x, number, results(case, dtype, reference, None, [[a[4] for a in x], values])]
    return rule(f"Foreach{name}{form}", make, types=types)


def lists(name, reference, types, alpha=None):
    def make(case, dtype):
        shapes = some_shapes(case)
        x, y = tensors(case, dtype, shapes), tensors(case, dtype, shapes)
        columns, number, scale = [[a[4] for a in x], [a[4] for a in y]], [], None
        if alpha is not None:
            kind, values = numbers_of(case, dtype, 1)
            number = [case.device.scalar(values[0], kind) if alpha else case.given(np.array(values), kind)]
            columns.append(values * len(x))

            def scale(a, b, s):
                return np.abs(a) + np.abs(s * b)
        return [x, y, *number, results(case, dtype, reference, scale, columns)]
    return rule(f"Foreach{name}", make, types=types)


def unscale(case, dtype):
    """Half of the lists have numbers only that are finite."""
    x = tensors(case, dtype, some_shapes(case))
    if case.random.random() < 0.5:
        x = [case.given(encode(np.nan_to_num(a[4], posinf=1, neginf=1), dtype), dtype) for a in x]
        x = [(*a[:4], decode(read(a[2], a[3]), dtype)) for a in x]
    before, factor = float(case.random.integers(0, 2)), np.float32(case.random.random() * 2)
    found = case.given(np.full((1,), before), "f32")
    finite = all(np.isfinite(a[4]).all() for a in x)
    grads = [Expect(a, (a[4].astype(np.float32) * factor).astype(np.float64), dtype) for a in x]
    return [grads, Expect(found, np.full((1,), before if finite else 1.0), "f32"), case.given(np.full((1,), factor), "f32")]


def triples(formula, numbers):
    """x1, x2 and x3 with a number; of `each`, in a tensor with one for each."""
    def make(case, dtype):
        shapes = some_shapes(case)
        x, y, z = ([_small(case, dtype, shape) for shape in shapes] for _ in range(3))
        values = np.float32(case.random.uniform(-2, 2, len(shapes)))
        values = values if numbers == "each" else np.repeat(values[:1], len(shapes))
        outs = [output(case, formula(a[4], b[4], c[4], k), dtype, np.abs(a[4]) + np.abs(formula(0, b[4], c[4], k)))
                for a, b, c, k in zip(x, y, z, values.astype(np.float64))]
        if numbers == "scalar":
            number = case.device.scalar(float(values[0]), "f32")
        else:
            number = case.given(values if numbers == "each" else values[:1], "f32")
        return [x, y, z, number, outs]
    return make


def _small(case, dtype, shape):
    elements = encode(case.random.uniform(0.5, 2, shape), dtype)
    return (*case.given(elements, dtype)[:4], decode(elements, dtype))


def lerp(listed):
    def make(case, dtype):
        shapes = some_shapes(case)
        x, y, z = ([_small(case, dtype, shape) for shape in shapes] for _ in range(3))
        k = float(np.float32(case.random.random()))
        outs = [output(case, a[4] + (c[4] if listed else k) * (b[4] - a[4]), dtype, 8) for a, b, c in zip(x, y, z)]
        return [x, y, z if listed else case.device.scalar(k, "f32"), outs]
    return make


ALL = FLOATS + INTEGERS
power = REFERENCES["PowTensorTensor"].reference
PAIRS = {"Add": (lambda x, y: x + y, ALL), "Sub": (lambda x, y: x - y, ALL), "Mul": (lambda x, y: x * y, ALL),
         "Div": (lambda x, y: x / y, FLOATS), "Maximum": (np.maximum, ALL), "Minimum": (np.minimum, ALL),
         "Pow": (power, ALL)}
UNARY = ("Abs", "Acos", "Asin", "Atan", "Cos", "Cosh", "Erf", "Erfc", "Exp", "Expm1", "Log", "Log10", "Log1p", "Log2",
         "Neg", "Reciprocal", "Sigmoid", "Sign", "Sin", "Sinh", "Sqrt", "Tan", "Tanh")

TRIPLES = {"Addcmul": lambda x, y, z, k: x + k * y * z, "Addcdiv": lambda x, y, z, k: x + k * y / z}

RULES = [
    *(rule(f"Foreach{name}{form}", triples(formula, numbers), types=NARROW) for name, formula in TRIPLES.items()
      for form, numbers in (("Scalar", "one"), ("ScalarV2", "scalar"), ("ScalarList", "each"))),
    rule("ForeachLerpScalar", lerp(False), types=NARROW), rule("ForeachLerpList", lerp(True), types=NARROW),
    *(unary(name) for name in UNARY), rule("ForeachNonFiniteCheckAndUnscale", unscale, types=NARROW),
    *(with_number(name, form, *pair) for name, pair in PAIRS.items() for form in ("Scalar", "ScalarV2", "ScalarList")),
    *(lists(name + "List", *PAIRS[name]) for name in ("Mul", "Div", "Maximum", "Minimum", "Pow")),
    *(lists(name + "List" + version, reference, ALL, bool(version)) for version in ("", "V2")
      for name, reference in (("Add", lambda x, y, s: x + s * y), ("Sub", lambda x, y, s: x - s * y))),
]
