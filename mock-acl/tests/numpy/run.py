#!/usr/bin/env python3
"""The mock's operators against NumPy.

run.py LIBRARY [--cases N] [--seed S] [--only NAME] [--form FORM]

Makes random cases for every rule of the modules beside it: each data type, shapes with 0 and 1, broadcast operands,
views with strides and offsets, NaN, infinities, zeros and the ends of each type. NumPy
computes in float64 or int64; the result is rounded to the type of the output. Allowed is, relative to the result (or
to `scale` of the rule): f32 2e-6, f64 1e-13, f16 and bf16 one unit of the last place more than rounding, and some of
the smallest numbers; for f32 also a mean square error over the mean square of at most 1e-7. Integers and truth values
are equal; so are floats that are only moved or rounded. A failing case is printed with its seed, which repeats it. A
simulated operator that no case called, itself or in place, and a name of an operator fail as well where all rules had 20 cases or more.
"""
import argparse
import collections
import sys

from device import DTYPES, FLOATS, Device, Failure, contiguous, decode, encode, extent, np, read
from elementwise import RULES as ELEMENTWISE, promote, promote_scalar
from moves import OUT, RULES as MOVES
from orders import Output, RULES as ORDERS
from blocks import RULES as BLOCKS
import attention, calls, copies, counts, covered, foreach, indices, lists, makers, norms, products, reductions, scans
import gradients, named, named_elements, named_lines, named_moves, named_products, randoms, slopes, uniques, variants
import weights, windows

ALL = ELEMENTWISE + MOVES + ORDERS + BLOCKS + lists.RULES + attention.RULES + products.RULES + reductions.RULES
ALL += scans.RULES + norms.RULES + makers.RULES + variants.RULES + windows.RULES
ALL += copies.RULES + counts.RULES + foreach.RULES + indices.RULES
ALL += uniques.RULES + randoms.RULES + slopes.RULES + gradients.RULES + weights.RULES
ALL += named_elements.RULES + named_moves.RULES + named_lines.RULES + named_products.RULES

RELATIVE = {"f32": 2e-6, "f64": 1e-13, "f16": 1.1e-3, "bf16": 8.5e-3}
TINY = {"f32": 4e-44, "f64": 5e-324, "f16": 6e-8, "bf16": 9.2e-41}
NMSE = 1e-7


class Case:
    def __init__(self, rule, seed, device):
        self.rule, self.random, self.device = rule, np.random.default_rng(seed), device

    promote = staticmethod(promote)

    def pick(self, choices):
        return choices[self.random.integers(len(choices))]

    def shape(self):
        rank = self.random.integers(0, 5)
        return tuple(int(n) for n in self.random.choice([0, 1, 2, 3, 5, 8, 17, 64], rank,
                                                        p=[.03, .15, .17, .2, .2, .15, .07, .03]))

    def broadcast(self, shape):
        """A shape that broadcasts to `shape`."""
        parts = [1 if self.random.random() < 0.25 else n for n in shape]
        return tuple(parts[self.random.integers(0, len(parts) + 1):]) if self.random.random() < 0.3 else tuple(parts)

    def view(self, shape):
        """Contiguous, or with the dimensions in another order in memory, gaps between them and an offset."""
        if self.random.random() < 0.4:
            return contiguous(shape)
        order, strides, step = self.random.permutation(len(shape)), [0] * len(shape), int(self.random.integers(1, 3))
        for d in reversed(order):
            strides[d] = step
            step *= max(shape[d], 1) + int(self.random.random() < 0.3)
        return tuple(shape), tuple(strides), int(self.random.integers(0, 4))

    def values(self, count, dtype):
        if dtype == "bool":
            return self.random.integers(0, 2, count)
        if dtype in FLOATS:
            scale = self.pick([1.0, 1.0, 8.0, 0.01, 200.0])
            values = self.random.standard_normal(count) * scale
            edge = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, np.inf, -np.inf, np.nan, 65504.0, 1e-7, 3.0, -3.0]
            chosen = self.random.random(count) < 0.05
            return np.where(chosen, self.random.choice(edge, count), values)
        info = np.iinfo(DTYPES[dtype][1])
        values = self.random.integers(-9, 10, count) if info.min < 0 else self.random.integers(0, 20, count)
        edge = [0, 1, info.min, info.max, info.min + 1, info.max - 1]
        return np.where(self.random.random(count) < 0.03, self.random.choice(edge, count), values)

    def operand(self, shape, dtype):
        """(handle, address, storage, view, numbers of the view)"""
        view = self.view(shape)
        storage = encode(self.values(extent(view), dtype), dtype)
        handle, address = self.device.tensor(storage, dtype, view)
        return handle, address, storage, view, decode(read(storage, view), dtype)

    def run(self):
        form = getattr(self, "run_" + self.rule.form)
        compared = form()
        return self.compare(*compared) if compared else ""

    # ---- the forms: each calls the operator and gives what came, the reference, the type and the scale ----

    def computed(self, dtype):
        return "f32" if self.rule.floats and dtype not in FLOATS else dtype

    def reference(self, inputs, compute, rule=None):
        rule = rule or self.rule
        kind = np.float64 if compute in FLOATS else np.int64
        if rule.exact and compute in ("f32", "f16", "bf16"):
            kind = np.float32
        narrow = np.float32 if compute in ("f32", "f16", "bf16") else kind  # what integers and numbers become first
        inputs = [np.asarray(x).astype(narrow).astype(kind) for x in inputs]
        with np.errstate(all="ignore"):
            scale = rule.scale(*inputs) if rule.scale else None
            return rule.reference(*inputs), scale

    def output(self, compute):
        if self.rule.truth:
            return self.pick(["bool", "bool", "f32", "s32", "u8"])
        return compute

    def finish(self, name, arguments, out, dtype):
        self.device.run(name, *arguments)
        return self.written(out, dtype)

    def written(self, out, dtype):
        """What an operand holds now, its memory between the elements as before."""
        before, view = out[2], out[3]
        after = self.device.get(out[1], before)
        inside = np.zeros(before.size, bool)
        if 0 not in view[0]:
            np.lib.stride_tricks.as_strided(inside[view[2]:], view[0], view[1])[...] = True
        if not np.array_equal(after[~inside].view(np.uint8), before[~inside].view(np.uint8)):
            raise Failure("wrote outside of the output's view")
        return decode(read(after, view), dtype)

    def with_output(self, inputs, shape, arguments, compute, reference_inputs, may_be_inplace=True):
        want, scale = self.reference(reference_inputs, compute)
        first = inputs[0]
        possible = may_be_inplace and first[3][0] == tuple(shape) and (
            self.first_type == compute or self.rule.truth)
        wanted = self.random.random() < 0.35 or self.rule.inplace not in self.device.called
        if self.rule.inplace and possible and wanted:
            got = self.finish(self.rule.inplace, arguments, first, self.first_type)
            return got, want, self.first_type, scale
        dtype = self.output(compute)
        out = self.operand(shape, dtype)
        return self.finish(self.rule.name, [*arguments, out[0]], out, dtype), want, dtype, scale

    def run_unary(self):
        self.first_type = self.pick(self.rule.types)
        x = self.operand(self.shape(), self.first_type)
        return self.with_output([x], x[3][0], [x[0]], self.computed(self.first_type), [x[4]])

    def run_numbers(self):
        self.first_type = self.pick(self.rule.types)
        numbers = self.pick(self.rule.numbers)
        kind = "f32" if self.first_type in FLOATS else "s32"
        x = self.operand(self.shape(), self.first_type)
        scalars = [self.device.scalar(n, kind) for n in numbers]
        exact = [float(np.float32(n)) for n in numbers]
        return self.with_output([x], x[3][0], [x[0], *scalars], self.first_type, [x[4], *exact])

    def run_binary(self):
        shape = self.shape()
        self.first_type, second = self.pick(self.rule.types), self.pick(self.rule.types)
        if self.random.random() < 0.5:
            second = self.first_type
        x, y = self.operand(self.broadcast(shape), self.first_type), self.operand(self.broadcast(shape), second)
        common = np.broadcast_shapes(x[3][0], y[3][0])
        compute = self.computed(promote(self.first_type, second))
        return self.with_output([x, y], common, [x[0], y[0]], compute, [x[4], y[4]])

    def a_scalar(self):
        kind = self.pick(["f32", "s32", "s64"] if any(t in FLOATS for t in self.rule.types) else ["s32", "s64"])
        value = float(np.float32(self.random.standard_normal() * 3)) if kind == "f32" else int(
            self.random.integers(-4, 9))
        return kind, value, self.device.scalar(value, kind)

    def run_scalar(self):
        self.first_type = self.pick(self.rule.types)
        kind, value, handle = self.a_scalar()
        x = self.operand(self.shape(), self.first_type)
        compute = self.computed(promote_scalar(self.first_type, kind))
        return self.with_output([x], x[3][0], [x[0], handle], compute, [x[4], value])

    def run_scalar_first(self):
        self.first_type = self.pick(self.rule.types)
        kind, value, handle = self.a_scalar()
        x = self.operand(self.shape(), self.first_type)
        compute = self.computed(promote_scalar(self.first_type, kind))
        return self.with_output([x], x[3][0], [handle, x[0]], compute, [value, x[4]])

    def three(self, types):
        shape = self.shape()
        operands = [self.operand(self.broadcast(shape), t) for t in types]
        return operands, np.broadcast_shapes(*(o[3][0] for o in operands))

    def run_where(self):
        a, b = self.pick(self.rule.types), self.pick(self.rule.types)
        operands, common = self.three([self.pick(["bool", "u8"]), a, b])
        compute, self.first_type = promote(a, b), None
        return self.with_output(operands, common, [o[0] for o in operands], compute, [o[4] for o in operands], False)

    def run_ternary(self):
        types = [self.pick(self.rule.types)] * 3 if self.random.random() < 0.5 else [
            self.pick(self.rule.types) for _ in range(3)]
        operands, common = self.three(types)
        self.first_type, compute = types[0], promote(types[0], promote(types[1], types[2]))
        return self.with_output(operands, common, [o[0] for o in operands], compute, [o[4] for o in operands], False)

    def run_ternary_value(self):
        dtype = self.pick(self.rule.types)
        operands, common = self.three([dtype] * 3)
        kind, value = ("f32", 0.5) if dtype in FLOATS else ("s32", 3)
        self.first_type = dtype
        return self.with_output(operands, common, [*(o[0] for o in operands), self.device.scalar(value, kind)], dtype,
                                [*(o[4] for o in operands), value], False)

    def run_mask(self):
        dtype, shape = self.pick(self.rule.types), self.shape()
        x, mask = self.operand(shape, dtype), self.operand(self.broadcast(shape), "bool")
        value = int(self.random.integers(0, 2))
        kind = "f32" if dtype in FLOATS else "s32"
        want, scale = self.reference([x[4], mask[4], value], dtype)
        want = np.broadcast_to(want, shape)
        got = self.finish(self.rule.name, [x[0], mask[0], self.device.scalar(value, kind)], x, dtype)
        return got, want, dtype, scale

    def given(self, numbers, dtype):
        """An operand with these numbers."""
        numbers = np.asarray(numbers)
        view = self.view(numbers.shape)
        storage = np.zeros(extent(view), DTYPES[dtype][1])
        if numbers.size:
            np.lib.stride_tricks.as_strided(
                storage[view[2]:], numbers.shape, [s * storage.itemsize for s in view[1]])[...] = numbers
        handle, address = self.device.tensor(storage, dtype, view)
        return handle, address, storage, view, numbers

    def run_move(self):
        shape = self.shape()
        while len(shape) < self.rule.least:
            shape = self.shape()
        dtype = self.pick(self.rule.types)
        x = self.operand(shape, dtype)
        arguments, want = self.rule.reference(self, x[0], x[4])
        out = self.operand(want.shape, dtype)
        got = self.finish(self.rule.name, [out[0] if a is OUT else a for a in arguments], out, dtype)
        return got, want, dtype, None

    def run_order(self):
        shape = self.shape()
        while not shape:
            shape = self.shape()
        dtype = self.pick(self.rule.types)
        x = self.operand(shape, dtype)
        arguments = self.rule.reference(self, x[0], x[4], dtype)
        with np.errstate(all="ignore"):
            self.size = self.rule.scale(x[4]) if self.rule.scale else None
        return self.several(arguments)

    def run_block(self):
        self.size = None
        with np.errstate(all="ignore"):
            arguments = self.rule.reference(self, self.pick(self.rule.types))
        return self.several(arguments)

    def run_call(self):
        return calls.run(self)

    def run_product(self):
        products.run(self)

    def run_named(self):
        named.run(self)

    def several(self, arguments):
        """Calls with an operand for each Output; all are compared, the first by who called."""
        outputs = [(a, a.operand or self.operand(a.want.shape, a.dtype)) for a in arguments if isinstance(a, Output)]
        handles = iter(o[0] for _, o in outputs)
        self.device.run(self.rule.name, *(next(handles) if isinstance(a, Output) else a for a in arguments))
        for output, operand in outputs[1:]:
            problem = self.compare(self.written(operand, output.dtype), output.want, output.dtype, output.scale)
            if problem:
                raise Failure(problem)
        output, operand = outputs[0]
        return self.written(operand, output.dtype), output.want, output.dtype, self.size

    # ---- judging ----

    def compare(self, got, want, dtype, scale):
        want = np.broadcast_to(np.asarray(want), got.shape)
        if dtype not in FLOATS:
            expected = decode(encode(want, dtype), dtype)
            return "" if np.array_equal(got, expected) else self.first(got != expected, got, expected)
        with np.errstate(all="ignore"):
            rounded = decode(encode(want.astype(np.float64), dtype), dtype)
            size = np.abs(rounded) if scale is None else np.maximum(np.abs(rounded), scale)
            allowed = 0 if self.rule.exact else RELATIVE[dtype] * size + 4 * TINY[dtype]
            close = np.abs(got - rounded) <= allowed
        good = close | (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        # An overflow may be on either side of the largest number.
        largest = {"f16": 65504.0, "bf16": 3.38e38, "f32": 3.4028e38}.get(dtype, 1.79e308)
        good |= (np.abs(got) >= largest) & (np.abs(want) >= largest * (1 - 2 * RELATIVE[dtype]))
        if not good.all():
            return self.first(~good, got, rounded)
        finite = np.isfinite(got) & np.isfinite(rounded)
        if dtype == "f32" and finite.any() and scale is None:
            largest = np.abs(rounded[finite]).max() or 1.0
            with np.errstate(all="ignore"):
                distance = (got[finite] - rounded[finite]) / largest
            error = np.square(distance).mean()
            power = np.square(rounded[finite] / largest).mean()
            if largest > 1e-30 and error > NMSE * power:
                return f"mean square error {error / power:.2e}"
        return ""

    def first(self, wrong, got, want):
        at = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
        return f"at {list(at)} of {list(got.shape)}: {got[at]!r}, not {want[at]!r}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--cases", type=int, default=40, help="for each operator")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--form", default="", help="only operators of one form")
    options = parser.parse_args()
    device, counts, failed = Device(options.library), collections.Counter(), 0
    for rule in ALL:
        if options.only not in rule.name or options.form not in ("", rule.form):
            continue
        for number in range(options.cases):
            seed = [options.seed, number, sum(rule.name.encode())]
            try:
                problem = Case(rule, seed, device).run()
            except Failure as failure:
                problem = str(failure)
            finally:
                device.free()
            counts[rule.name] += 1
            if problem:
                failed += 1
                if failed <= 40:
                    print(f"{rule.name} case {number} of seed {options.seed}: {problem}")
    if not options.only and not options.form and options.cases >= 20:
        for name in [*covered.without_rule(device.called), *sorted(named.names() - device.names)]:
            failed += 1
            print(f"{name} is simulated, but no case called it")
    cases, operators = sum(counts.values()), f"{len(device.called)} operators and {len(device.names)} names"
    print(f"{cases} cases of {operators} against NumPy {np.__version__}; {failed} failed")
    sys.exit(1 if failed or not counts else 0)


if __name__ == "__main__":
    main()
