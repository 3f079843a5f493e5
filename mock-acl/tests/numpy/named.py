"""Operators by name (aclop...): a maker takes the case and a type and gives a Call, which is made through one of the
functions that run names, with descriptors, buffers and attributes as PyTorch's adapter makes them: sizes, axes and
numbers as constants, shapes beside the storage's, results whose shapes are open."""
import ctypes
import os
import re
from dataclasses import dataclass, field

from device import DTYPES, Failure, decode, encode, np

from elementwise import Rule
from weights import FORMS, FRACTAL_NZ, FRACTAL_Z, NC1HWC0

ROWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/named")
NCHW, NHWC, ND, NDHWC, NCDHW, NCL, UNDEFINED, HOST = 0, 1, 2, 27, 30, 47, -1, 1
BY_RANK = {3: (NCL,), 4: (NCHW, NHWC), 5: (NDHWC, NCDHW)}
GUARD = 24  # bytes behind each output, which stay as they are


@dataclass
class Given:
    elements: np.ndarray
    dtype: str
    place: str = "device"  # constant: in the descriptor; host: a buffer of the host
    blocks: int = None  # the format that it is stored in

    @property
    def numbers(self):
        return decode(self.elements, self.dtype)


@dataclass
class Wanted:
    want: np.ndarray
    dtype: str
    scale: object = None
    blocks: int = None


@dataclass
class Call:
    inputs: list  # of Given; None stands for one that is left out
    outputs: list  # of Wanted
    attributes: dict = field(default_factory=dict)
    opens: bool = False  # the inputs tell the shape of the output
    formats: tuple = None  # of the operands, any without


class Type(int):
    """An attribute that is a data type."""


def rule(name, maker, types, **more):
    return Rule(name, "named", maker, types=types, **more)


def names():
    """All that src/named has a row for."""
    found = set()
    for file in ("elements", "moves", "products", "lines", "picks"):
        with open(os.path.join(ROWS, file + ".c"), encoding="utf-8") as rows:
            text = rows.read().split("const mock_named_row mock_named_")[1]
        for macro, name in re.findall(r'(\w+\(|\{)"(\w+)"', text):
            found.update((name, name + "D") if macro == "REDUCE(" else (name,))
    return found


def given(case, numbers, dtype, blocks=None):
    return Given(encode(np.asarray(numbers), dtype), dtype, blocks=blocks)


def some(case, shape, dtype):
    """Numbers of any kind."""
    return given(case, np.asarray(case.values(int(np.prod(shape)), dtype)).reshape(shape), dtype)


def tame(case, shape, dtype, least=-50, most=50):
    """Without NaN, infinities and numbers that overflow."""
    values = np.asarray(case.values(int(np.prod(shape)), dtype)).reshape(shape)
    return given(case, np.clip(np.nan_to_num(values), max(least, 0) if dtype in ("u8", "bool") else least, most), dtype)


def ints(case, values):
    """Whole numbers that the host has; no bytes are no constant."""
    dtype, values = case.pick(["s32", "s64"]), np.asarray(values, np.int64)
    return Given(encode(values, dtype), dtype, case.pick(["constant", "constant", "host"]) if values.size else "host")


def number(case, value, dtype):
    return Given(encode(np.asarray(value).reshape(case.pick([(), (1,)])), dtype), dtype, case.pick(["constant", "host"]))


def stored(operand, elements):
    """As the storage has them."""
    size = np.dtype(DTYPES[operand.dtype][1]).itemsize
    if operand.blocks is None:
        return elements
    width = 32 // size if operand.blocks == FRACTAL_NZ else 32 if size == 1 else 16
    return FORMS[operand.blocks](elements, width)


def blocks_for(case, shape):
    """A blocked format that elements of the shape can be in, or none."""
    if case.random.random() < 0.6 or 0 in shape or len(shape) < 2:
        return None
    return case.pick([FRACTAL_NZ] if len(shape) != 4 else [FRACTAL_NZ, NC1HWC0, FRACTAL_Z])


# ---- the call ----

class Maker:
    """Descriptors, buffers and attributes of one call."""

    def __init__(self, case, made):
        self.case, self.device, self.lib, self.made, self.kept = case, case.device, case.device.lib, made, []

    def own(self, maker, drop, *arguments):
        handle = getattr(self.lib, maker)(*arguments)
        if not handle:
            raise Failure(f"{maker} gives null")
        self.device.made.append((drop, handle))
        return ctypes.c_void_p(handle)

    def descriptor(self, dtype, shape, form):
        dims = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        return self.own("aclCreateTensorDesc", "aclDestroyTensorDesc", dtype, len(shape), dims, form)

    def buffer(self, address, size):
        return self.own("aclCreateDataBuffer", "aclDestroyDataBuffer", address, ctypes.c_size_t(size))

    def form(self, rank):
        if self.made.formats:
            return self.case.pick(self.made.formats)
        return self.case.pick([ND, ND, UNDEFINED, *BY_RANK.get(rank, ())])

    def storage(self, desc, form, shape):
        self.device.check("aclSetTensorFormat", desc, form)
        dims = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self.device.check("aclSetTensorShape", desc, len(shape), dims)

    def described(self, operand, elements):
        shape, dtype = elements.shape, DTYPES[operand.dtype][0]
        bits = np.ascontiguousarray(stored(operand, elements))
        form = self.form(len(shape))
        desc = self.descriptor(dtype, shape, form)
        if operand.blocks is not None:
            self.storage(desc, operand.blocks, bits.shape)
        elif form != UNDEFINED and self.case.random.random() < 0.3:
            self.storage(desc, form, shape)
        return desc, bits.reshape(shape if operand.blocks is None else bits.shape)

    def input(self, operand):
        if operand is None:
            return self.descriptor(-1, (), UNDEFINED), self.buffer(None, 0)
        desc, bits = self.described(operand, operand.elements)
        host = np.ascontiguousarray(bits).reshape(-1)
        self.kept.append(host)
        if operand.place == "constant":
            self.device.check("aclSetTensorConst", desc, host.ctypes.data_as(ctypes.c_void_p),
                              ctypes.c_size_t(host.nbytes))
            return desc, self.buffer(None, 0)
        if operand.place == "host":
            self.device.check("aclSetTensorPlaceMent", desc, HOST)
            return desc, self.buffer(host.ctypes.data_as(ctypes.c_void_p), host.nbytes)
        address = self.device.allocate(host.nbytes)
        self.device.put(address, host)
        return desc, self.buffer(address, host.nbytes)

    def output(self, operand):
        """(descriptor, buffer, address, what stands there before)"""
        want = np.asarray(operand.want)
        desc, bits = self.described(operand, encode(np.zeros(want.shape), operand.dtype))
        before = self.case.random.integers(0, 256, bits.nbytes + GUARD, dtype=np.uint8)
        address = self.device.allocate(before.nbytes)
        self.device.put(address, before)
        return desc, self.buffer(address, bits.nbytes), address, before

    def attributes(self):
        if not self.made.attributes and self.case.random.random() < 0.5:
            return None
        attr = self.own("aclopCreateAttr", "aclopDestroyAttr")
        for name, value in self.made.attributes.items():
            set_attribute(self.device, attr, name, value)
        return attr


def set_attribute(device, attr, name, value):
    key = name.encode()
    if isinstance(value, (bool, np.bool_)):
        device.check("aclopSetAttrBool", attr, key, ctypes.c_uint8(value))
    elif isinstance(value, Type):
        device.check("aclopSetAttrDataType", attr, key, int(value))
    elif isinstance(value, str):
        device.check("aclopSetAttrString", attr, key, value.encode())
    elif isinstance(value, float):
        device.check("aclopSetAttrFloat", attr, key, ctypes.c_float(value))
    elif isinstance(value, (list, tuple)):
        device.check("aclopSetAttrListInt", attr, key, len(value), (ctypes.c_int64 * max(len(value), 1))(*value))
    else:
        device.check("aclopSetAttrInt", attr, key, ctypes.c_int64(int(value)))


def array(handles):
    return (ctypes.c_void_p * max(len(handles), 1))(*(h.value if h is not None else None for h in handles))


ENGINE = (0, 0, None)  # engineType, compileFlag, opPath: ACL_ENGINE_SYS, ACL_COMPILE_SYS


def run_name(case, kind, name, ins, outs, attr):
    """One of the functions that run a name; `ins` and `outs` are (descriptors, buffers)."""
    device, lists = case.device, [len(ins[0]), array(ins[0]), array(ins[1]), len(outs[0]), array(outs[0]), array(outs[1])]
    if kind == "cast":
        device.check("aclopCast", ins[0][0], ins[1][0], outs[0][0], outs[1][0], 0, device.stream)
    elif kind.startswith("handle"):
        handle = ctypes.c_void_p()
        if kind == "handle":
            device.check("aclopCreateHandle", name.encode(), lists[0], lists[1], lists[3], lists[4], attr,
                         ctypes.byref(handle))
        else:
            device.check("aclopCreateHandleForCast", ins[0][0], outs[0][0], 0, ctypes.byref(handle))
        device.check("aclopExecWithHandle", handle, lists[0], lists[2], lists[3], lists[5], device.stream)
        device.lib.aclopDestroyHandle(handle)
    elif kind.startswith("aclopCompile"):
        device.check(kind, name.encode(), *lists, attr, *ENGINE, device.stream)
    else:
        device.check(kind, name.encode(), *lists, attr, device.stream)


def shape_of(device, desc):
    size, dims = ctypes.c_int64(), []
    for at in range(device.lib.aclGetTensorDescNumDims(desc)):
        device.check("aclGetTensorDescDimV2", desc, ctypes.c_size_t(at), ctypes.byref(size))
        dims.append(size.value)
    return tuple(dims)


def run_open(case, maker, name, ins, attr, output):
    """The call finds the shape of its one output, or aclopInferShape does."""
    want, device = np.asarray(output[4].want), case.device
    rank = want.ndim
    unknown = case.pick([(-2,), tuple(-1 if case.random.random() < 0.7 else n for n in want.shape)])
    desc = maker.descriptor(DTYPES[output[4].dtype][0], unknown, ND)
    if case.random.random() < 0.4:
        device.check("aclopInferShape", name.encode(), len(ins[0]), array(ins[0]), array(ins[1]), 1, array([desc]), attr)
        if shape_of(device, desc) != want.shape:
            raise Failure(f"aclopInferShape tells {shape_of(device, desc)}, not {want.shape}, of {rank} dimensions")
        if case.random.random() < 0.5:
            desc = maker.descriptor(DTYPES[output[4].dtype][0], unknown, ND)
    run_name(case, case.pick(["aclopExecuteV2", "aclopCompileAndExecuteV2"]), name, ins, ([desc], [output[1]]), attr)
    if shape_of(device, desc) != want.shape:
        raise Failure(f"the output has the shape {shape_of(device, desc)}, not {want.shape}")


def written(case, output):
    """The numbers of an output; nothing behind it may have changed, and the rest of its blocks is zero."""
    _, _, address, before, wanted = output
    want = np.asarray(wanted.want)
    after = case.device.get(address, before)
    if not np.array_equal(after[-GUARD:], before[-GUARD:]):
        raise Failure("wrote behind the output")
    bits = after[:-GUARD].view(DTYPES[wanted.dtype][1])
    if wanted.blocks is None:
        return decode(bits.reshape(want.shape), wanted.dtype), want
    like = stored(wanted, encode(np.asarray(want), wanted.dtype))
    return decode(bits.reshape(like.shape), wanted.dtype), decode(like, wanted.dtype)


def run(case):
    name, device = case.rule.name, case.device
    with np.errstate(all="ignore"):
        made = case.rule.reference(case, case.pick(case.rule.types))
    maker = Maker(case, made)
    ins = list(zip(*(maker.input(i) for i in made.inputs)))
    outputs = [(*maker.output(o), o) for o in made.outputs]
    outs, attr = ([o[0] for o in outputs], [o[1] for o in outputs]), maker.attributes()
    if made.opens and made.outputs[0].blocks is None and case.random.random() < 0.4:
        run_open(case, maker, name, ins, attr, outputs[0])
    else:
        kinds = ["aclopCompileAndExecute"] * 3 + ["aclopCompileAndExecuteV2", "aclopExecute", "aclopExecuteV2", "handle"]
        kinds += ["cast", "handle of a cast"] if name == "Cast" else []
        run_name(case, case.pick(kinds), name, ins, outs, attr)
    device.check("aclrtSynchronizeStream", device.stream)
    device.names.add(name)
    for output in outputs:
        got, want = written(case, output)
        scale = output[4].scale
        if scale is not None and output[4].blocks is not None:
            scale = stored(output[4], np.asarray(scale, np.float64))
        problem = case.compare(got, want, output[4].dtype, scale)
        if problem:
            raise Failure(problem)
