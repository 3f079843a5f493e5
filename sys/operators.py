#!/usr/bin/env python3
"""Writes src/op/aclnn: a typed function for each operator of the bindings that has the two phases.

operators.py [--check]    with --check nothing is written, and the files must be current

Signatures come from sys/src/bindings/operators.rs, releases from symbols.rs beside it, what the mock computes from
mock-acl/src/exports.def. Whether a tensor is read or written is not always to be seen there:

- a name that ends with Ref is changed in place;
- else a tensor that is not const is written;
- else a const one is written if its name says so and no tensor follows that is read, in functions where no other
  tensor is written;
- what else there is stands in ROLES, with the reason.

A parameter can be left out when its name ends with Optional, or when it stands in OPTIONAL.
"""
import collections
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(os.path.join(ROOT, "mock-acl/tools"))
import exports  # noqa: E402

FOLDER = os.path.join(ROOT, "src/op/aclnn")
PHASE = "GetWorkspaceSize"
REF = re.compile(r"Ref(Optional)?$|OptionalRef$")
NAMED_OUT = re.compile(r"^out$|Out(Optional)?$|^output$|^y$")

# Function without aclnn, parameters, role; the reason stands above.
ROLES = {}


def role(names, parameters, what):
    for name in names.split():
        for parameter in parameters.split():
            ROLES["aclnn" + name, parameter] = what


# Results that are declared const and are not named out.
FIA = "FusedInferAttentionScore InnerFusedInferAttentionScore " + " ".join(
    f"FusedInferAttentionScoreV{n}" for n in (2, 3, 4, 5))
role(FIA, "attentionOut softmaxLse", "out")
role("GeluBackward", "gradInput", "out")
role("GeluQuant", "y outScaleOptional", "out")
role("GroupedDynamicMxQuant GroupedDynamicMxQuantV2", "y mxscale", "out")
role("GroupedQuantMax QuantMax", "y amax", "out")
role("LogSpace", "result", "out")
role("ModulateBackward", "grad_input grad_scale grad_shift", "out")
role("NsaCompressAttentionInfer", "output topKOutput", "out")
role("UnfoldGrad", "gradIn", "out")
role("Xlog1py", "z", "out")
# Computed in place, though the name does not say so.
role("InplaceAddV3", "other", "inout")
role("InplaceBitwiseAndTensorOut InplaceHardsigmoid InplaceHardswish InplacePowTensorScalar InplacePowTensorTensor",
     "self_", "inout")
role("InplaceSqrt", "self_", "inout")
role("InplaceCumprod", "input", "inout")
role("InplaceScatterUpdate", "data", "inout")
role("ForeachZeroInplace", "x", "inout")
# Named as changed in place, and all of it is written whatever it held.
role("InplaceCopy InplaceFillScalar", "selfRef", "out")
# The noise is drawn in training, else read.
role("InplaceRReluWithNoise", "self_ noise", "inout")
role("RReluWithNoise", "noise", "inout")
role("ForeachNonFiniteCheckAndUnscale", "scaledGrads foundInf", "inout")
# The slots that slotMapping has are written, the others stay.
role("NsaCompressWithCache", "outputCache", "inout")
# One step of decoding: it moves these on.
role("AdvanceStep", "inputTokens inputPositions seqLens slotMapping", "inout")
# Running statistics: read, and written anew.
role("BatchNorm BatchNormGatherStatsWithCounts", "runningMean runningVar", "inout")
role("SyncBatchNormGatherStats", "mean variance", "inout")
# Declared without const and only read.
role("InplaceAtan2", "other", "in")
role("BatchNormElemt", "mean invstd", "in")
role("BatchNormElemtBackward", "counter", "in")
role("ElasticReceivableTest", "dstRank", "in")
role("GroupedMatmulFinalizeRouting", "w", "in")
role("GroupedMatmulFinalizeRoutingV2 GroupedMatmulFinalizeRoutingV3 GroupedMatmulFinalizeRoutingWeightNzV2", "x2",
     "in")
role("NLLLoss2dBackward", "totalWeight", "in")
role("QuantizedBatchNorm", "weight bias", "in")
role("SoftmaxCrossEntropyWithLogits", "labels", "in")

# They tell other devices something.
WRITE_NOTHING = {"aclnnElasticReceivableTest", "aclnnMoeDistributeBufferReset"}

# What an operator does without, though the name does not say so.
OPTIONAL = set()


def optional(names, parameters):
    for name in names.split():
        OPTIONAL.update(("aclnn" + name, parameter) for parameter in parameters.split())


# One of the two bounds.
optional("Clamp", "clipValueMin clipValueMax")
optional("ClampTensor", "clipValueMin clipValueMax")
# Factor, summand and statistics of normalisations.
optional("BatchNorm", "weight bias runningMean runningVar")
optional("BatchNormBackward", "weight runningMean runningVar saveMean saveInvstd")
optional("BatchNormElemt", "weight bias")
optional("GroupNorm", "gamma beta")
optional("GroupNormBackward", "gamma")
# Results of a loss that is not asked for.
optional("CrossEntropyLoss", "zlossOut lseForZlossOut")
# Results that a mask leaves out.
optional("BatchNormBackward ConvolutionBackward FastBatchNormBackward", "gradInput gradWeight gradBias")
optional("GroupNormBackward", "gradInput gradGammaOut gradBetaOut")
optional("LayerNormBackward", "gradInputOut gradWeightOut gradBiasOut")
# A product without a summand.
optional("Convolution ConvDepthwise2d QuantConvolution", "bias")
optional("MatmulAllReduce MatmulAllReduceV2 MatmulReduceScatter AllGatherMatmul QuantMatmulAllReduce "
         "QuantMatmulAllReduceV2 QuantMatmulAllReduceV3 QuantMatmulAllReduceV4 WeightQuantMatmulAllReduce", "bias x3")
optional("WeightQuantMatmulAllReduce", "antiquantOffset")
optional("AllGatherMatmul", "gatherOut")
optional("QuantMatmulV3 QuantMatmulV4", "offset bias")
optional("QuantMatmulV5 QuantMatmulWeightNz", "x1Scale yScale x1Offset x2Offset yOffset bias")
# Quantisation that is symmetric.
optional("AscendQuant AscendQuantV3 AscendAntiQuant", "offset")
# Attention without masks, quantisation or pages.
optional("FusedInferAttentionScore InnerFusedInferAttentionScore",
         "pseShift attenMask actualSeqLengths actualSeqLengthsKv deqScale1 quantScale1 deqScale2 quantScale2 "
         "quantOffset2 antiquantScale antiquantOffset blockTable queryPaddingSize kvPaddingSize keyAntiquantScale "
         "keyAntiquantOffset valueAntiquantScale valueAntiquantOffset keySharedPrefix valueSharedPrefix "
         "actualSharedPrefixLen query_rope key_rope keyRopeAntiquantScale dequantScaleQuery learnableSink")
optional(FIA, "softmaxLse")
optional("IncreFlashAttention IncreFlashAttentionV2 IncreFlashAttentionV3 IncreFlashAttentionV4 PromptFlashAttention "
         "PromptFlashAttentionV2 PromptFlashAttentionV3",
         "pseShift attenMask paddingMask actualSeqLengths actualSeqLengthsKv dequantScale1 quantScale1 dequantScale2 "
         "quantScale2 quantOffset2 antiquantScale antiquantOffset blocktable kvPaddingSize deqScale1 deqScale2")
# Every element counts once.
optional("BinaryCrossEntropy BinaryCrossEntropyBackward", "weight")
optional("EmbeddingBag", "perSampleWeights")
optional("SearchSorted SearchSorteds", "sorter")
# Reserved: it has to be left out.
optional("DropoutV3", "optionalNoiseShape")
# All dimensions.
optional("Var VarCorrection Std", "dim")

RUST = {"i64": "i64", "u64": "u64", "i32": "i32", "i8": "i8", "bool": "bool", "f64": "f64", "f32": "f32",
        "::core::ffi::c_int": "i32", "aclDataType": "dtype"}
HOST = {"Scalar": "scalar", "ScalarList": "scalars", "IntArray": "ints", "FloatArray": "floats",
        "BoolArray": "bools"}
KEYWORDS = {"as", "box", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern", "false", "fn", "for",
            "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "static",
            "struct", "super", "trait", "true", "type", "unsafe", "use", "where", "while", "yield"}
# Those that the macro has names for.
TAKEN = {"on"}


def snake(name):
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    name = re.sub(r"__+", "_", name).lower()
    return name + "_" if name in KEYWORDS | TAKEN else name


def functions():
    text = open(os.path.join(ROOT, "sys/src/bindings/operators.rs")).read()
    found = dict(re.findall(r"pub fn (\w+)\(\s*([^)]*?),?\s*\) -> aclnnStatus;", text))
    for name in found:
        if name + PHASE in found:
            parameters = [tuple(p.strip().split(": ")) for p in found[name + PHASE].split(",")]
            if [kind for _, kind in parameters[-2:]] != ["*mut u64", "*mut *mut aclOpExecutor"]:
                sys.exit(f"{name}{PHASE} does not end with its two results")
            yield name, parameters[:-2]


def is_tensor(kind):
    return kind.endswith(("aclTensor", "aclTensorList"))


def roles(name, parameters):
    """The tensors of a function, each read (in), written (out) or both (inout)."""
    tensors = [(p, kind.startswith("*mut")) for p, kind in parameters if is_tensor(kind)]
    writes = any(mutable and not REF.search(p) for p, mutable in tensors)
    found = {}
    for i, (p, mutable) in enumerate(tensors):
        reads = [q for q, _ in tensors[i + 1:] if not REF.search(q) and not NAMED_OUT.search(q)]
        if (name, p) in ROLES:
            found[p] = ROLES[name, p]
        elif REF.search(p):
            found[p] = "inout"
        elif mutable or not writes and NAMED_OUT.search(p) and not reads:
            found[p] = "out"
        else:
            found[p] = "in"
    return found


def kind_of(name, parameter, kind, role):
    """The word that the macro knows."""
    if kind in RUST:
        return RUST[kind]
    maybe = "maybe_" if "Optional" in parameter or (name, parameter) in OPTIONAL else ""
    if is_tensor(kind):
        return maybe + role + ("s" if kind.endswith("List") else "")
    if kind.endswith("c_char"):
        return maybe + "text"
    return maybe + HOST[kind.removeprefix("*const acl").removeprefix("*mut acl")]


RELEASES = ["CANN 8.1", "CANN 8.2", "CANN 8.3", "CANN 9.0", "the release after CANN 9.1", "the development head"]


def releases(sets):
    """As acl_sys::SymbolInfo has them; operators were read in CANN 8.1 and at the development head only."""
    there = [release for bit, release in enumerate(RELEASES) if sets >> bit & 1]
    if not there:
        return "In headers that were not read."
    return f"Since {there[0]}." if sets >> 4 else f"Since {there[0]}, last in {there[-1]}."


def doc(found, parameters, sets, computed):
    groups = collections.defaultdict(list)
    for p, _ in parameters:
        if p in found:
            groups[found[p]].append(snake(p))
    words = {"in": "Reads", "out": "writes", "inout": "changes"}
    parts = [f"{words[role]} {', '.join(f'`{p}`' for p in groups[role])}" for role in words if groups[role]]
    text = "; ".join(parts)
    mock = "On the mock." if computed else "Not on the mock."
    return f"{text[0].upper()}{text[1:]}. {releases(sets)} {mock}"


def wrapped(words, start, rest):
    """Words in lines of at most 118 columns, the first after `start`, the others after `rest`."""
    lines, line = [], start
    for word in words:
        if len(line) + len(word) + 1 > 118:
            lines.append(line.rstrip())
            line = rest
        line += word + " "
    return lines + [line.rstrip()]


def entry(name, parameters, sets, computed):
    found = roles(name, parameters)
    if not any(r != "in" for r in found.values()) and name not in WRITE_NOTHING:
        sys.exit(f"{name} writes nothing: which of its tensors are results?")
    rust = snake(name.removeprefix("aclnn").removeprefix("acl"))
    arguments = [f"{snake(p)}: {kind_of(name, p, kind, found.get(p))}" for p, kind in parameters]
    lines = wrapped(doc(found, parameters, sets, computed).split(), "    /// ", "    /// ")
    lines.append(f'    #[doc(alias = "{name}")]')
    call = f"{name}{PHASE}({', '.join(arguments)});".replace(", ", ",|").split("|")
    lines += wrapped(["fn", rust, "=", f"{name},", *call], "    ", "        ")
    return rust, lines


def files():
    text = open(os.path.join(ROOT, "sys/src/bindings/symbols.rs")).read()
    sets = {name: int(bits) for _, name, bits in re.findall(r"^ +(\w+) (\w+) (\d+);$", text, re.M)}
    computed = {name for _, name, word in exports.entries() if word == "SIM"}
    letters, names = collections.defaultdict(dict), set()
    for name, parameters in functions():
        rust, lines = entry(name, parameters, sets[name], name in computed)
        if rust in names:
            sys.exit(f"two functions would be called {rust}")
        names.add(rust)
        letters[rust[0]][rust] = lines
    there = {name for name, _ in functions()}
    unknown = sorted({name for name, _ in OPTIONAL} - there)
    if unknown:
        sys.exit(f"OPTIONAL names what is not there: {unknown}")
    known = {(name, p) for name, parameters in functions() for p, _ in parameters}
    unknown = sorted(set(ROLES) - known)
    if unknown:
        sys.exit(f"ROLES names what is not there: {unknown}")
    for letter, entries in sorted(letters.items()):
        head = ["//! Generated by `sys/operators.py`; not edited by hand.", "", "aclnn! {"]
        body = [line for rust in sorted(entries) for line in entries[rust]]
        yield f"{letter}.rs", "\n".join(head + body + ["}"]) + "\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    wanted = dict(files())
    there = {file: open(os.path.join(FOLDER, file)).read() for file in os.listdir(FOLDER)} \
        if os.path.isdir(FOLDER) else {}
    if sys.argv[1:]:
        if wanted != there:
            sys.exit("src/op/aclnn is not current: run sys/operators.py")
        return
    os.makedirs(FOLDER, exist_ok=True)
    for file in set(there) - set(wanted):
        os.remove(os.path.join(FOLDER, file))
    for file, text in wanted.items():
        open(os.path.join(FOLDER, file), "w").write(text)


main()
