#!/usr/bin/env python3
"""Bad arguments of the mock's operators.

refusals.py LIBRARY [--cases N] [--seed S] [--only NAME]

Takes the calls of the rules beside it, and before each makes the same call with one argument spoilt: every tensor,
list, scalar and array null and not alive, every tensor with a type that no operator takes, with a blocked format and
with one dimension more than it has. The code has to be the documented one (161001 for null, 161002 for the rest), and
the text has to name the operator and, but for shapes, the parameter. Then the second phase: without an executor, with
that of another operator, with a workspace that is null, too small or memory of the host, and a second time with the
same executor. The call itself still has to give what NumPy gives.
"""
import argparse
import collections
import ctypes
import glob
import os
import re
import sys

import run
from device import DTYPES, Device, Failure, np

NULL, BAD, USED, FAULT = 161001, 161002, 561101, 507015
COMPLEX64, FRACTAL_NZ, ND = 16, 29, 2
HEADERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../include/aclnnop/*.h")
ATTENTION = "aclnn(Prompt|Incre)FlashAttention.*|aclnnFusedInferAttentionScore.*|aclnnFlashAttentionScore.*"
# Operators and parameters: what may be null (guide: aclnn, page of each).
OPTIONAL = [
    (".*", ".*Optional"), ("aclnnClamp", "clipValue(Min|Max)"), ("aclnnConv.*", "bias|outputPadding"),
    (ATTENTION, "pseShift|attenMask|actualSeqLengths(Kv)?|(deq|dequant|quant)Scale[12]|quantOffset2"
                "|antiquant(Scale|Offset)|block[tT]able|(query|kv)PaddingSize|softmaxLse|softmaxOutOut"),
    ("aclnnQuantMatmul(V[345]|WeightNz)", "bias|offset|(x1|y)Scale|(x1|x2|y)Offset"), ("aclnnGroupNorm.*", "gamma|beta"),
    ("aclnnBatchNorm(Elemt)?", "weight|bias|saveMean|saveInvstd|running(Mean|Var)"),
    ("aclnnBatchNormBackward", "weight|(save|running)(Mean|Var|Invstd)|grad(Input|Weight|Bias)"), ("aclnnBincount", "weights"),
    ("aclnnCrossEntropyLoss", "(zloss|lseForZloss)Out"),
    ("aclnnDropoutV3", "optionalNoiseShape"), ("aclnnLayerNormBackward", "(weight|bias)Optional|grad(Input|Weight|Bias)Out"),
    ("aclnnBinaryCrossEntropy", "weight"), ("aclnnConvolutionBackward", "grad(Input|Weight|Bias)|biasSizes|outputPadding"),
    ("aclnnUnique.*", "(inverse|counts)Out"),
]
# Results that these do not look at, or not without a flag.
UNREAD = [(ATTENTION, "softmaxLse|softmaxOutOut"), ("aclnnBatchNormBackward", "grad(Input|Weight|Bias)"),
          ("aclnn(LayerNorm|Convolution)Backward", "grad(Input|Weight|Bias)(Out)?"),
          ("aclnnUnique.*", "(inverse|counts)Out")]
# Where a dimension more can make another good call: others broadcast to it, it is folded away, its shape is free.
ANY_RANK = [
    ("aclnnInplace.*|aclnnIndexPutImpl", "self|selfRef|source"), ("aclnn(Inplace)?IndexFill", "index"),
    ("aclnn(Amax|Amin|Max|Min|MaxV2|Aminmax.*|All|Any|Mean|MeanV2|LogSumExp|Prod|ProdDim|Norm)", "self"),
    ("aclnn(LinalgVectorNorm|ReduceLogSum|ReduceNansum|ReduceSum|Var|VarCorrection|Std|VarMean)", "self|data"),
    ("aclnn(StdMeanCorrection|Histc)", "self"),
    ("aclnn(Take|Repeat|RepeatInterleave|RepeatInterleaveInt)", "self"), ("aclnnMaskedSelect", "self|mask"),
    ("aclnnUnique(2|Consecutive)?", "self"), ("aclnnUnique.*", "(inverse|counts)Out"),
    ("aclnnIndex", "self|out"), ("aclnnIndexPutImpl", "values"),  # where the indices choose nothing
    ("aclnnLogSigmoid(Forward|Backward)", "buffer"), (ATTENTION, "attenMask.*"),
    ("aclnnDropout.*", "mask(Out)?"), ("aclnn(Mse|L1|SmoothL1)Loss|aclnnBinaryCrossEntropy.*", "self|target"),
]


def listed(table, name, parameter):
    return any(re.fullmatch(n, name) and re.fullmatch(p, parameter) for n, p in table)


def parameters():
    """Operator: names and types of the parameters of its first phase, without the two of every one."""
    found = {}
    for path in glob.glob(HEADERS):
        with open(path, encoding="utf-8") as file:
            for name, text in re.findall(r"aclnnStatus (aclnn\w+)GetWorkspaceSize\(([^)]*)\)", file.read()):
                whole = [" ".join(part.split()) for part in text.split(",")][:-2]
                found[name] = [(re.search(r"(\w+)$", p)[1], re.search(r"acl\w+|$", p)[0]) for p in whole]
    return found


class Spoiler(Device):
    """Spoils every call before it is made."""

    def __init__(self, path):
        super().__init__(path)
        self.parameters, self.views, self.problems = parameters(), {}, []
        self.tried, self.size = collections.Counter(), ctypes.c_uint64()

    def tensor(self, elements, dtype, view):
        handle, address = super().tensor(elements, dtype, view)
        self.views[handle.value] = dtype, view, address
        return handle, address

    def raw(self, shape, strides, offset, dtype, form, address, count):
        rank = max(len(shape), 1)
        handle = self.lib.aclCreateTensor(
            (ctypes.c_int64 * rank)(*shape), ctypes.c_uint64(len(shape)), dtype, (ctypes.c_int64 * rank)(*strides),
            ctypes.c_int64(offset), form, (ctypes.c_int64 * 1)(count), ctypes.c_uint64(1), address)
        self.made.append(("aclDestroyTensor", handle))
        return ctypes.c_void_p(handle)

    def text(self):
        found = self.lib.aclGetRecentErrMsg()
        return ctypes.string_at(found).decode() if found else ""

    def first(self, name, arguments):
        executor = ctypes.c_void_p()
        code = getattr(self.lib, name + "GetWorkspaceSize")(
            *arguments, ctypes.byref(self.size), ctypes.byref(executor))
        return code, executor

    def judge(self, name, what, code, want, *words):
        self.tried[name] += 1
        text = self.text() if code else ""
        missing = [w for w in words if not re.search(rf"\b{re.escape(w)}\b", text)]
        if code != want or missing:
            self.problems.append(f"{name}: {what} gives {code} '{text}', not {want} with {' '.join(words)}")

    def refused(self, name, what, arguments, want, *words):
        code, executor = self.first(name, arguments)
        if code == 0:
            self.lib.aclDestroyAclOpExecutor(executor)
        self.judge(name, what, code, want, name, *words)

    def spoil(self, name, arguments):
        for at, (parameter, kind) in enumerate(self.parameters[name]):
            if kind not in ("aclTensor", "aclTensorList", "aclScalar", "aclScalarList", "aclIntArray",
                            "aclFloatArray", "aclBoolArray"):
                continue
            def other(value, at=at):
                return [*arguments[:at], value, *arguments[at + 1:]]
            if not listed(OPTIONAL, name, parameter):
                self.refused(name, f"{parameter} of null", other(None), NULL, parameter)
            if not listed(UNREAD, name, parameter):
                self.refused(name, f"{parameter} of nothing", other(ctypes.c_void_p(0x10)), BAD, parameter)
            given = self.views.get(getattr(arguments[at], "value", None))
            if kind == "aclTensor" and given:
                self.spoil_tensor(name, parameter, given, other)

    def spoil_tensor(self, name, parameter, given, other):
        dtype, (shape, strides, offset), address = given
        number, count = DTYPES[dtype][0], 1 << 20
        complex_one = self.raw(shape, strides, offset, COMPLEX64, ND, address, count)
        self.refused(name, f"{parameter} of complex numbers", other(complex_one), BAD, parameter)
        blocked = self.raw(shape, strides, offset, number, FRACTAL_NZ, address, count)
        self.refused(name, f"{parameter} in blocks", other(blocked), BAD, parameter)
        alone = [kind for _, kind in self.parameters[name]].count("aclTensor") == 1
        if not alone and not listed(ANY_RANK, name, parameter):
            more = self.raw((*shape, 1009), (*(s * 1009 for s in strides), 1), offset, number, ND, address, 1 << 40)
            self.refused(name, f"{parameter} with a dimension more", other(more), BAD)

    def second(self, name, workspace, size, executor, stream=None):
        return getattr(self.lib, name)(workspace, ctypes.c_uint64(size), executor, stream or self.stream)

    def from_host(self, name, arguments):
        """Memory of the host as workspace: found on the device."""
        stream, memory = ctypes.c_void_p(), ctypes.create_string_buffer(self.size.value + 64)
        self.check("aclrtCreateStream", ctypes.byref(stream))
        executor, aligned = self.first(name, arguments)[1], (ctypes.addressof(memory) + 63) & ~63
        code = self.second(name, ctypes.c_void_p(aligned), self.size.value, executor, stream)
        self.judge(name, "a launch with memory of the host", code, 0)
        self.judge(name, "memory of the host as workspace", self.lib.aclrtSynchronizeStream(stream), FAULT)
        self.lib.aclrtDestroyStreamForce(stream)

    def run(self, name, *arguments):
        self.spoil(name, arguments)
        code, executor = self.first(name, arguments)
        if code:
            raise Failure(f"{name}: {code} {self.text()}")
        need = self.size.value
        workspace = self.allocate(need) if need else None
        other = "aclnnAbs" if name != "aclnnAbs" else "aclnnNeg"
        self.judge(name, "no executor", self.second(name, workspace, need, None), NULL, name, "executor")
        self.judge(other, "another's executor", self.second(other, workspace, need, executor), BAD,
                   name + "GetWorkspaceSize")
        if need:
            self.judge(name, "no workspace", self.second(name, None, need, executor), NULL, name, "workspace")
            self.judge(name, "a short one", self.second(name, workspace, need - 1, executor), BAD, name, "workspace")
            self.from_host(name, arguments)
        if (code := self.second(name, workspace, need, executor)) != 0:
            raise Failure(f"{name}: {code} {self.text()}")
        self.judge(name, "a second use", self.second(name, workspace, need, executor), USED, name, "consumed")
        self.check("aclrtSynchronizeStream", self.stream)
        self.called.add(name)

    def free(self):
        super().free()
        self.views = {}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--cases", type=int, default=20, help="for each operator")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    device = Spoiler(options.library)
    for rule in run.ALL:
        for number in range(options.cases if options.only in rule.name else 0):
            try:
                problem = run.Case(rule, [options.seed, number, sum(rule.name.encode())], device).run()
            except Failure as failure:
                problem = str(failure)
            finally:
                device.free()
            if problem:
                device.problems.append(f"{rule.name} case {number}: {problem}")
    if not options.only and options.cases >= 20:
        device.problems += [f"{name} was not called" for name in run.covered.without_rule(device.called)]
    for problem in list(dict.fromkeys(device.problems)):
        print(problem)
    print(f"{sum(device.tried.values())} bad calls of {len(device.called)} operators; "
          f"{len(device.problems)} not refused as documented")
    sys.exit(1 if device.problems or not device.tried else 0)


if __name__ == "__main__":
    main()
