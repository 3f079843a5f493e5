"""Operators that do the same to every tensor of a list: the references of elementwise.py for each tensor."""
import ctypes

from device import FLOATS, INTEGERS, np

from calls import output, rule
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


ALL = FLOATS + INTEGERS
power = REFERENCES["PowTensorTensor"].reference
PAIRS = {"Add": (lambda x, y: x + y, ALL), "Sub": (lambda x, y: x - y, ALL), "Mul": (lambda x, y: x * y, ALL),
         "Div": (lambda x, y: x / y, FLOATS), "Maximum": (np.maximum, ALL), "Minimum": (np.minimum, ALL),
         "Pow": (power, ALL)}
UNARY = ("Abs", "Acos", "Asin", "Atan", "Cos", "Cosh", "Erf", "Erfc", "Exp", "Expm1", "Log", "Log10", "Log1p", "Log2",
         "Neg", "Reciprocal", "Sigmoid", "Sign", "Sin", "Sinh", "Sqrt", "Tan", "Tanh")

RULES = [
    *(unary(name) for name in UNARY),
    *(with_number(name, form, *pair) for name, pair in PAIRS.items() for form in ("Scalar", "ScalarV2", "ScalarList")),
    *(lists(name + "List", *PAIRS[name]) for name in ("Mul", "Div", "Maximum", "Minimum", "Pow")),
    *(lists(name + "List" + version, reference, ALL, bool(version)) for version in ("", "V2")
      for name, reference in (("Add", lambda x, y, s: x + s * y), ("Sub", lambda x, y, s: x - s * y))),
]
