"""The stubs of operators that the mock does not compute, with their parameters (src/operators/own/operators.def).

A program can register a function that computes such an operator (include/mock_acl_operator.h), which then needs to know
what the first phase was told. tools/exports.py writes the file with its tables and checks it with them. An operator
whose parameters cannot be carried is listed in the file with the first one that cannot, and stays a plain stub.
"""
import os
import re
import textwrap

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATH = os.path.join(HERE, "src/operators/own/operators.def")
PREFIX = re.compile(r"^(const )?(.*)$")
# Without const, which only matters for tensors; what is written has no const or a name that says so.
KINDS = {
    "aclTensor *": "TENSOR", "aclTensorList *": "TENSORS", "aclScalar *": "SCALAR", "aclScalarList *": "SCALARS",
    "aclIntArray *": "INTS", "aclFloatArray *": "FLOATS", "aclBoolArray *": "BOOLS", "char *": "TEXT",
    "int64_t": "INTEGER", "uint64_t": "INTEGER", "int32_t": "INTEGER", "int": "INTEGER", "int8_t": "INTEGER",
    "aclDataType": "INTEGER", "bool": "BOOLEAN", "double": "NUMBER", "float": "NUMBER",
}
RESULTS = ["uint64_t * workspaceSize", "aclOpExecutor ** executor"]
# Names of what is only written. Some interfaces have const before all of their tensors; there a name is believed when
# nothing follows that is read. What ends with Ref is changed in place.
WRITTEN = re.compile(r"^(out|output|y|dst|result)(Optional)?$|^out[A-Z0-9]|Out(Optional)?$|^grad[A-Z]")
CHANGED = re.compile(r"Ref(Optional)?$|OptionalRef$")
# Results that such interfaces have under names that others give to what is read.
RESULT = {
    ("aclnnGroupedDynamicMxQuant", "mxscale"), ("aclnnGroupedDynamicMxQuantV2", "mxscale"),
    ("aclnnGroupedQuantMax", "amax"), ("aclnnInnerFusedInferAttentionScore", "softmaxLse"),
    ("aclnnNsaCompressAttentionInfer", "topKOutput"), ("aclnnQuantMax", "amax"), ("aclnnXlog1py", "z"),
}
HEAD = """\
/* Written by tools/exports.py table. First phases of operators that the mock does not compute, with their parameters:
 * OWN(operator, (parameters), arguments). PLAIN are other functions, and these for the sake of a parameter:
"""


def signatures():
    found = {}
    for file in sorted(os.listdir(os.path.join(HERE, "include/aclnnop"))):
        text = open(os.path.join(HERE, "include/aclnnop", file)).read()
        text = re.sub(r"/\*.*?\*/|^#.*?$", "", text, flags=re.S | re.M)
        for name, inside in re.findall(r"\b(acl\w+)GetWorkspaceSize\(([^)]*)\)", text):
            found[name] = [spaced(part) for part in inside.split(",")]
    return found


def spaced(parameter):
    return re.sub(r" ?\* ?", " * ", " ".join(parameter.split())).replace("*  *", "**").strip()


def is_read(function, parameter):
    kind, _, name = parameter.rpartition(" ")
    word = KINDS.get(PREFIX.match(kind)[2])
    if function == "aclnnXlog1py" and name == "y":
        return True
    return word in ("TENSOR", "TENSORS") and not WRITTEN.search(name) and (function, name) not in RESULT


def argument(function, parameter, may_write):
    """The initializer of one argument, or None; `may_write` where const does not keep from being written."""
    kind, _, name = parameter.rpartition(" ")
    const, plain = PREFIX.match(kind).groups()
    word = KINDS.get(plain)
    if word not in ("TENSOR", "TENSORS"):
        return f"{word}({name})" if word else None
    written = WRITTEN.search(name)
    if CHANGED.search(name) and not written:
        role = "INOUT"
    elif const:
        role = "OUT" if may_write and not is_read(function, parameter) else "IN"
    else:
        role = "OUT" if written else "INOUT"
    return f"{word}({name}, MOCK_{role}, {int(name.endswith('Optional'))})"


def line(name, parameters):
    """The definition, or the parameter that keeps it from being one."""
    own = parameters[:-2]
    if [spaced(p) for p in parameters[-2:]] != RESULTS:
        return None, parameters[-1]
    arguments = []
    all_const = not any(p.startswith(("aclTensor *", "aclTensorList *")) or
                        CHANGED.search(p) and not WRITTEN.search(p.split()[-1]) for p in own)
    for at, parameter in enumerate(own):
        last = not any(is_read(name, p) for p in own[at + 1:])
        arguments.append(argument(name, parameter, all_const and last))
        if arguments[-1] is None:
            return None, parameter
    declared = ", ".join(p.replace("* ", "*") for p in parameters)
    whole = f"OWN({name}, ({declared}), {', '.join(arguments)})"
    return textwrap.fill(whole, 110, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False), None


def text(entries):
    missing = {name for kind, name, fidelity in entries if kind == "OP" and fidelity == "NOSUP"}
    plain, lines, rest = [], [], set(missing)
    for name, parameters in sorted(signatures().items()):
        if name not in missing or name + "GetWorkspaceSize" not in missing:
            continue
        definition, reason = line(name, parameters)
        if definition is None:
            plain.append(f" *   {name}: {reason}")
        else:
            lines.append(definition)
            rest -= {name, name + "GetWorkspaceSize"}
    lines += [f"PLAIN({name})" for name in sorted(rest)]
    return HEAD + "".join(f"{name}\n" for name in plain) + " */\n" + "\n".join(lines) + "\n"
