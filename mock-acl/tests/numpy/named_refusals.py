#!/usr/bin/env python3
"""Bad calls of operators by name.

named_refusals.py LIBRARY [--seed S] [--only NAME]

Two parts. Every name is called as its rule calls it, with one thing spoilt: counts, descriptors and buffers that are
null or not alive, types, formats, ranks, sizes and places that do not fit, constants that are none, attributes of
another kind or missing. Then each call of CALLS. The code has to be the one that docs/operators.md gives, the text has
to name the operator and what is wrong, and no output may have changed.
"""
import argparse
import ctypes
import sys

import named
import run
from device import Device, Failure, np
from named import ENGINE, Call, Given, Maker, Wanted, array
from named_calls import CALLS

BAD, INPUT, OUTPUT, ATTRIBUTE, TYPE, NOT_SUPPORTED = 100000, 100021, 100022, 100023, 100026, 207000
NO_TYPE, FRACTAL_Z_3D, ND = 99, 33, 2
REQUIRED = {"Adds": ["value"], "Muls": ["value"], "ConcatD": ["concat_dim"], "SplitD": ["split_dim", "num_split"],
            "SplitVD": ["size_splits", "split_dim", "num_split"], "ArgMaxWithValue": ["dimension"],
            "ArgMinWithValue": ["dimension"], "TransposeD": ["perm"], "Conv2D": ["strides", "pads"],
            **{f"Reduce{kind}D": ["axes"] for kind in ("Sum", "Mean", "Max", "Min", "Prod", "Any", "All")}}
# Constants that may be on the device, or that nothing reads.
FREE = {("Fill", 1), ("PadV3", 2), ("Reshape", 1)}
SINGLE = {("Addcmul", 3), ("Addcdiv", 3), ("GatherV2", 2), ("Cumsum", 1), ("ArgMaxV2", 1), ("ArgMin", 1), ("TopKV2", 1)}


class Made:
    """A call whose descriptors and buffers can be changed before it is made."""

    def __init__(self, case, name, made):
        self.case, self.device, self.name, self.made = case, case.device, name, made
        self.maker = Maker(case, made)
        ins = [self.maker.input(i) for i in made.inputs]
        self.outputs = [self.maker.output(o) for o in made.outputs]
        self.descs, self.buffers = [i[0] for i in ins], [i[1] for i in ins]
        self.to, self.into = [o[0] for o in self.outputs], [o[1] for o in self.outputs]
        self.attr = self.maker.own("aclopCreateAttr", "aclopDestroyAttr")
        for key, value in made.attributes.items():
            named.set_attribute(self.device, self.attr, key, value)

    def call(self, function="aclopCompileAndExecute"):
        lists = [len(self.descs), array(self.descs), array(self.buffers)]
        results = [len(self.to), array(self.to), array(self.into)]
        if function == "aclopInferShape":
            results.pop()
        last = ENGINE if "Compile" in function else ()
        stream = () if function == "aclopInferShape" else (self.device.stream,)
        return getattr(self.device.lib, function)(self.name.encode(), *lists, *results, self.attr, *last, *stream)

    def unchanged(self):
        self.device.check("aclrtSynchronizeStream", self.device.stream)
        return all(np.array_equal(self.device.get(o[2], o[3]), o[3]) for o in self.outputs)


class Judge:
    def __init__(self, device):
        self.device, self.tried, self.problems = device, 0, []

    def text(self):
        found = self.device.lib.aclGetRecentErrMsg()
        return ctypes.string_at(found).decode() if found else ""

    def refused(self, made, what, want, *words, function="aclopCompileAndExecute"):
        code = made.call(function)
        text = self.text() if code else ""
        missing = [w for w in words if w not in text]
        self.tried += 1
        if code != want or missing:
            self.problems.append(f"{made.name}: {what} gives {code} '{text}', not {want} with {' '.join(words)}")
        elif not made.unchanged():
            self.problems.append(f"{made.name}: {what} is refused, and an output has changed")


# ---- every name, with one thing spoilt ----

class Spoiler:
    def __init__(self, judge, rule, seed):
        self.judge, self.rule, self.seed = judge, rule, seed

    def fresh(self):
        """The same call again: the seed is the same."""
        case = run.Case(self.rule, self.seed, self.judge.device)
        with np.errstate(all="ignore"):
            return Made(case, self.rule.name, self.rule.reference(case, case.pick(self.rule.types)))

    def spoil(self, what, change, code, *words, unless=None):
        made = self.fresh()
        try:
            if not (unless and unless(made)):
                change(made)
                self.judge.refused(made, what, code, *words)
        finally:
            self.judge.device.free()

    def counts(self):
        name = self.rule.name
        self.spoil("no input", lambda m: (m.descs.clear(), m.buffers.clear()), INPUT, name, "0 inputs")
        self.spoil("no output", lambda m: (m.to.clear(), m.into.clear()), OUTPUT, name, "0 outputs")

        def more(m):
            m.to += m.to * (65 // len(m.to))
            m.into += m.into * (65 // len(m.into))
        self.spoil("65 outputs", more, BAD, "outputs")

    def handles(self, count, outputs):
        # It has to live, and be the size of what it is taken for.
        foreign = ctypes.create_string_buffer(256)
        for at in range(count):
            for what, handle in (("null", None), ("foreign", ctypes.cast(foreign, ctypes.c_void_p))):
                for kind, sides in (("descriptor", ("to", "descs")), ("buffer", ("into", "buffers"))):
                    def change(m, side=sides[0] if outputs else sides[1]):
                        getattr(m, side)[at] = handle
                    self.spoil(f"{kind} {at} {what}", change, BAD, "put")

    def descriptors(self, count, outputs):
        side, code, word = ("to", OUTPUT, "output") if outputs else ("descs", INPUT, "input")
        # A constant has no buffer, what is left out has nothing.
        operand = lambda m, at: (m.made.outputs if outputs else m.made.inputs)[at]
        out = lambda at: lambda m: operand(m, at) is None
        empty = lambda at: lambda m: out(at)(m) or getattr(operand(m, at), "place", "device") != "device" or np.size(
            operand(m, at).want if outputs else operand(m, at).elements) == 0

        for at in range(count):
            def replace(m, dtype, dims, form):
                getattr(m, side)[at] = m.maker.descriptor(dtype, dims, form)

            def unknown(m):
                shape = (-1,) * np.ndim(operand(m, at).want if outputs else operand(m, at).elements)
                dims = (ctypes.c_int64 * max(len(shape), 1))(*shape)
                m.device.check("aclSetTensorOriginShape", getattr(m, side)[at], len(shape), dims)

            def short(m):
                buffer = (m.into if outputs else m.buffers)[at]
                lib = m.device.lib
                address, size = lib.aclGetDataBufferAddr(buffer), lib.aclGetDataBufferSizeV2(buffer)
                m.device.check("aclUpdateDataBuffer", buffer, ctypes.c_void_p(address), ctypes.c_size_t(size - 1))

            def null(m):
                buffer = (m.into if outputs else m.buffers)[at]
                size = m.device.lib.aclGetDataBufferSizeV2(buffer)
                m.device.check("aclUpdateDataBuffer", buffer, None, ctypes.c_size_t(size))

            name = self.rule.name
            self.spoil(f"{word} {at} of 9 dimensions", lambda m: replace(m, 0, (1,) * 9, ND), BAD, word, unless=out(at))
            self.spoil(f"{word} {at} of no type", lambda m: replace(m, NO_TYPE, (1,), ND), TYPE, name,
                       f"{word} {at} has data type {NO_TYPE}", unless=empty(at))
            self.spoil(f"{word} {at} in a format", lambda m: replace(m, 0, (1,), FRACTAL_Z_3D), NOT_SUPPORTED, name,
                       f"format {FRACTAL_Z_3D}", unless=empty(at))
            scalar = lambda m: empty(at)(m) or np.ndim(operand(m, at).want if outputs else operand(m, at).elements) == 0
            if not outputs:
                self.spoil(f"{word} {at} of unknown shape", unknown, code, name, "not known", unless=scalar)
            self.spoil(f"{word} {at} with a byte less", short, code, name, f"{word} {at}", unless=empty(at))
            self.spoil(f"{word} {at} null", null, code, name, f"{word} {at} is null", unless=empty(at))

    def constants(self, count):
        name = self.rule.name
        for at in range(count):
            fixed = lambda m: m.made.inputs[at] is None or m.made.inputs[at].place == "device" or (name, at) in FREE
            empty = lambda m: fixed(m) or m.made.inputs[at].elements.size == 0

            def again(m, operand):
                m.descs[at], m.buffers[at] = m.maker.input(operand)

            def on_device(m):
                again(m, Given(m.made.inputs[at].elements, m.made.inputs[at].dtype))

            def too_many(m):
                again(m, Given(np.zeros(17, np.int64), "s64", "constant"))

            self.spoil(f"constant {at} on the device", on_device, INPUT, name, f"input {at} has to be a constant",
                       unless=empty)
            self.spoil(f"constant {at} of 17 numbers", too_many, INPUT, name, unless=fixed)
            whole = lambda m: fixed(m) or name in ("Addcmul", "Addcdiv")
            self.spoil(f"constant {at} of f32", lambda m: again(m, Given(np.zeros(1, np.float32), "f32", "host")),
                       INPUT, name, f"input {at}", unless=whole)
            single = lambda m: (name, at) not in SINGLE
            none = lambda m: again(m, Given(np.zeros(0, np.int64), "s64", "host"))
            self.spoil(f"constant {at} of no number", none, INPUT, name, "not one number", unless=single)

    def attributes(self, told):
        for key in told:
            def other_kind(m):
                m.device.check("aclopSetAttrListFloat", m.attr, key.encode(), 1, (ctypes.c_float * 1)(1))
            # The output has a shape; nothing that is left to tell may hide the attribute.
            self.spoil(f"{key} of another kind", other_kind, ATTRIBUTE, self.rule.name, key)
        for key in REQUIRED.get(self.rule.name, ()):
            def without(m):
                m.attr = m.maker.own("aclopCreateAttr", "aclopDestroyAttr")
                for other, value in m.made.attributes.items():
                    if other != key:
                        named.set_attribute(m.device, m.attr, other, value)
            self.spoil(f"no {key}", without, ATTRIBUTE, self.rule.name, key)

    def all(self):
        made = self.fresh()
        inputs, outputs, told = len(made.descs), len(made.to), list(made.made.attributes)
        self.judge.device.free()
        self.counts()
        self.handles(inputs, False)
        self.handles(outputs, True)
        self.descriptors(inputs, False)
        self.descriptors(outputs, True)
        self.constants(inputs)
        self.attributes(told)


# ---- single calls ----

def single(judge, entry, seed):
    name, inputs, outputs, attributes, code, words, function = entry
    rule = named.rule(name, None, ())
    case = run.Case(rule, seed, judge.device)
    made = Made(case, name, Call([*inputs], [Wanted(np.zeros([max(n, 1) for n in shape]), dtype)
                                             for shape, dtype in outputs], dict(attributes), formats=(ND,)))
    for at, (shape, dtype) in enumerate(outputs):
        if any(n < 0 for n in shape):
            made.to[at] = made.maker.descriptor(named.DTYPES[dtype][0], shape, ND)
    judge.refused(made, f"{attributes}", code, name, *words, function=function)
    judge.device.free()


def prepare(lib):
    lib.aclGetDataBufferAddr.restype = ctypes.c_void_p
    lib.aclGetDataBufferSizeV2.restype = ctypes.c_size_t


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    device = Device(options.library)
    prepare(device.lib)
    judge = Judge(device)
    rules = [r for r in run.ALL if r.form == "named" and options.only in r.name]
    for rule in rules:
        for number in range(3):
            seed = [options.seed, number, sum(rule.name.encode())]
            try:
                Spoiler(judge, rule, seed).all()
            except Failure as failure:
                judge.problems.append(f"{rule.name} of seed {seed}: {failure}")
                device.free()
    for entry in CALLS:
        if options.only in entry[0]:
            single(judge, entry, [options.seed])
    for problem in judge.problems[:60]:
        print(problem)
    print(f"{judge.tried} bad calls of {len(rules)} names; {len(judge.problems)} gave another answer")
    sys.exit(1 if judge.problems or not judge.tried else 0)


if __name__ == "__main__":
    main()
