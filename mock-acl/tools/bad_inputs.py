#!/usr/bin/env python3
"""Bad input to every exported function.

bad_inputs.py generate FILE     writes the C table of calls, made from include/
bad_inputs.py check PROGRAM     runs the program of tests/bad and judges what it prints

A case gives one parameter of a function a bad value and the others good ones: null for pointers and handles; stale,
foreign and wrong handles; values beyond an enum's; zero, the largest and negative numbers; bad strings. Each function
is also called before initialisation, after it was undone, and from a thread without a context; that alone for stubs,
which take no parameters. No case may crash or hang. Its code has to be one that RULES allows for such a value, or one
that tests/bad/choices.tsv lists with a reason.
"""
import collections
import csv
import glob
import os
import re
import subprocess
import sys
import tempfile

import compare_headers as real

HERE = real.HERE
CHOICES = os.path.join(HERE, "tests/bad/choices.tsv")
LEAST = 5000  # cases of functions that are not mere stubs

# Where a function's good value is not what its type says. Function pattern, parameter pattern, kind.
GOOD = [
    (r"aclrtMemcpy|aclrtMemset|aclrtFree$|aclrtFreeWithDevSync|aclrtValue|aclrtCmo|aclrtReduce|aclrtMemFlush|"
     r"aclrtMemInvalidate|aclrtPointerGet|aclrtMemGetAddressRange|aclrtRandom",
     r"dst|src|devPtr|ptr|devAddr", "DEVICE"),
    (r"aclrtFreeHost|aclrtHostRegister|aclrtHostUnregister|aclrtHostGetDevice", r"ptr|hostPtr|pHost", "PINNED"),
    (r"aclnn", r"workspace", "DEVICE"),
    (r"aclrtLaunch|aclrtFunction", r"func", "KERNEL"),
    (r"aclrtDestroyStreamConfigHandle", r"handle", "STREAM_CONFIG"),
    (r"aclrtKernelArgsInitByUserMem", r"argsHandle", "POINTER"),  # memory of the program
    (r"acltdtDequeue", r"timeout", "FIXED"),  # others wait without end at the empty queue: tests/channels/queues.c
    (r"aclmdl", r"modelId", "MODEL"),
    (r"acltdt", r"qid|srcId|dstId", "QUEUE"),
]
# Values of an enum other than its lowest.
GOOD_VALUES = [(r"aclrtMemcpy", r"kind", 3)]  # device to device
# Never called with changed values here, and why.
LEFT_OUT = {
    "aclAppLog": "takes a format and values of any number: what does not fit it is undefined in C itself",
}
IDS = {"MODEL", "QUEUE", "FIXED"}  # numbers, not pointers
HANDLES = {
    "aclrtStream": "STREAM", "aclrtEvent": "EVENT", "aclrtNotify": "NOTIFY", "aclrtContext": "CONTEXT",
    "aclmdlRI": "GRAPH", "aclTensor": "TENSOR", "aclScalar": "SCALAR", "aclIntArray": "INTS",
    "aclFloatArray": "FLOATS", "aclBoolArray": "BOOLS", "aclTensorList": "LIST", "aclScalarList": "SCALARS",
    "aclOpExecutor": "EXECUTOR", "aclDataBuffer": "BUFFER", "aclrtCntNotify": "COUNT_NOTIFY",
    "aclrtLabel": "LABEL", "aclrtLabelList": "LABELS", "aclmdlRICondHandle": "CONDITION",
    "aclrtTaskGrp": "TASK_GROUP", "aclmdlRITask": "TASK", "aclrtBinary": "BINARY_TEXT", "aclrtBinHandle": "BINARY",
    "aclrtFuncHandle": "KERNEL", "aclrtArgsHandle": "KERNEL_ARGUMENTS", "aclrtParamHandle": "PLACEHOLDER",
    "aclrtDrvMemHandle": "PHYSICAL", "aclrtMemPool": "POOL", "aclrtAllocatorDesc": "ALLOCATOR",
    "aclrtMbuf": "MESSAGE", "acltdtBuf": "QUEUE_MESSAGE", "aclrtGroupInfo": "GROUP",
    "aclTensorDesc": "DESCRIPTION", "aclopAttr": "ATTRIBUTES", "aclmdlDesc": "MODEL_DESCRIPTION",
    "aclmdlDataset": "DATASET", "aclmdlAIPP": "AIPP", "aclmdlConfigHandle": "LOAD_CONFIG",
    "aclmdlExecConfigHandle": "RUN_CONFIG", "aclmdlBundleQueryInfo": "BUNDLE_QUERY",
    "acltdtQueueAttr": "QUEUE_ATTRIBUTES", "acltdtQueueRoute": "ROUTE", "acltdtQueueRouteList": "ROUTES",
    "acltdtQueueRouteQueryInfo": "ROUTE_QUERY", "acltdtChannelHandle": "CHANNEL", "acltdtDataItem": "ITEM",
    "acltdtDataset": "ITEMS", "aclprofConfig": "PROFILE", "aclprofStepInfo": "STEP",
}
INTEGERS = {"BOOL": 0, "CHAR_S": 1, "SCHAR": 1, "UCHAR": 0, "SHORT": 1, "USHORT": 0, "INT": 1, "UINT": 0, "LONG": 1,
            "ULONG": 0, "LONGLONG": 1, "ULONGLONG": 0}

# What a bad value may give: kind of value -> codes. "known" is every code that the headers name.
REFUSED = {100000, 107000, 161001, 161002}
RULES = {
    "null": REFUSED,
    "stale": {107017, 107000, 107002, 100000, 161002, 561101},
    "foreign": {107017, 107000, 107002, 100000, 161002, 561101},
    "wrong": {107017, 107000, 107002, 100000, 161002, 561101},
    "id": REFUSED | {145003, 148053},
    "enum": {100000, 107000, 161002, 207000, 145020},
    "number": "known",
    "text": "known",
    "phase": "known",
    "fault": {507899},  # what the driver told the function to give
}
STUB = 207000


def exports():
    text = open(os.path.join(HERE, "src/exports.def")).read()
    return dict(re.findall(r"^[A-Z]+\((\w+), ([A-Z]+)\)$", text, re.M))


class Table:
    def __init__(self):
        self.cindex = real.clang()
        self.headers = real.Headers(self.cindex, os.path.join(HERE, "include"))
        self.functions = {}
        self.opaque = set()
        self.includes = "".join(f'#include "{name}"\n' for name in ["acl/acl.h", *self.file_names()])
        self.walk(self.headers.parse(self.includes).cursor)

    def file_names(self):
        found = glob.glob(os.path.join(HERE, "include/*/**/*.h"), recursive=True)
        names = (os.path.relpath(path, os.path.join(HERE, "include")) for path in found)
        # Overloads for C++, and what kernels are written with.
        return sorted(name for name in names if name != "acl/acl_rt_api.h" and not name.startswith("ascendc/"))

    def walk(self, parent):
        kind = self.cindex.CursorKind
        for cursor in parent.get_children():
            if cursor.kind in (kind.LINKAGE_SPEC, kind.UNEXPOSED_DECL):
                self.walk(cursor)
            elif cursor.kind == kind.FUNCTION_DECL and self.headers.mine(cursor):
                self.functions[cursor.spelling] = cursor

    def handle(self, kind):
        name = kind.spelling.replace("const ", "").strip()
        if name in HANDLES:
            return HANDLES[name]
        canonical = kind.get_canonical()
        pointer = canonical.kind == self.cindex.TypeKind.POINTER
        void = pointer and canonical.get_pointee().kind == self.cindex.TypeKind.VOID
        if void and kind.kind != self.cindex.TypeKind.POINTER and name.startswith("acl"):
            return "HANDLE"
        if not pointer:
            return None
        pointee = canonical.get_pointee()
        record = pointee.get_declaration()
        if record.kind in (self.cindex.CursorKind.STRUCT_DECL, self.cindex.CursorKind.CLASS_DECL) and (
                record.get_definition() is None):
            return HANDLES.get(record.spelling, "OBJECT")
        return None

    def parameter(self, function, argument):
        """Kind, low and high of a parameter for the C table, and its good value where that is not the lowest."""
        kind, name = argument.type, argument.spelling
        for functions, parameters, good in GOOD:
            if re.match(functions, function) and re.fullmatch(parameters, name):
                if good not in IDS or kind.get_canonical().kind.name in INTEGERS:
                    return good, 0, 0
        handle = self.handle(kind)
        if handle:
            return handle, 0, 0
        canonical = kind.get_canonical()
        word = canonical.kind.name
        if word == "ENUM":
            values = [c.enum_value for c in canonical.get_declaration().get_children()
                      if c.kind == self.cindex.CursorKind.ENUM_CONSTANT_DECL]
            good = [v for functions, parameters, v in GOOD_VALUES
                    if re.match(functions, function) and re.fullmatch(parameters, name)]
            return "ENUM", min(values), max(values), *good
        if word in INTEGERS:
            return ("SIGNED" if INTEGERS[word] else "UNSIGNED"), 0, canonical.get_size()
        if word in ("FLOAT", "DOUBLE"):
            return word, 0, 0
        if word.endswith("ARRAY"):
            return "POINTER", 0, 0
        if word == "POINTER":
            pointee = canonical.get_pointee()
            if pointee.kind.name == "FUNCTIONPROTO":
                return "FUNCTION", 0, 0
            if pointee.kind.name == "CHAR_S" and pointee.is_const_qualified():
                return "TEXT", 0, 0
            return "POINTER", 0, 0
        if word == "RECORD":
            return "RECORD", 0, canonical.get_size()
        sys.exit(f"{function}: {name} has a type that is not known here: {kind.spelling}")

    def wrapper(self, index, name, cursor):
        arguments = []
        for i, argument in enumerate(cursor.get_arguments()):
            word = self.parameter(name, argument)[0]
            spelled = argument.type.spelling
            canonical = argument.type.get_canonical()
            if word in ("FLOAT", "DOUBLE"):
                arguments.append(f"({spelled})0.5")
            elif word == "RECORD":
                arguments.append(f"*(const {spelled} *)at(a[{i}])")
            elif word == "FUNCTION" or canonical.kind.name in ("POINTER", "INCOMPLETEARRAY", "CONSTANTARRAY"):
                arguments.append(f"(void *)at(a[{i}])" if word != "FUNCTION" else f"({spelled})(uintptr_t)a[{i}]")
            else:
                arguments.append(f"({spelled})a[{i}]")
        call = f"{name}({', '.join(arguments)})"
        result = cursor.result_type.get_canonical()
        if result.kind.name == "VOID":
            body = f"{call}; return 0;"
        elif result.kind.name == "POINTER":
            body = f"return (long long)(uintptr_t){call};"
        else:
            body = f"return (long long){call};"
        unused = "" if any("a[" in a for a in arguments) else "(void)a; "
        return f"static long long call_{index}(const uint64_t *a) {{ {unused}{body} }}"

    def generate(self, path):
        states, wrappers, rows = exports(), [], []
        names = [name for name in sorted(states) if name in self.functions and name not in LEFT_OUT]
        missing = sorted(set(states) - set(self.functions) - set(LEFT_OUT))
        if missing:
            sys.exit(f"{len(missing)} exported and not declared, {missing[0]} the first")
        for index, name in enumerate(names):
            cursor = self.functions[name]
            wrappers.append(self.wrapper(index, name, cursor))
            parameters = [self.parameter(name, argument) for argument in cursor.get_arguments()]
            text = ", ".join(f"{{{kind}, {low}, {high}, {good[0] if good else low}, \"{argument.spelling}\"}}"
                             for (kind, low, high, *good), argument in zip(parameters, cursor.get_arguments()))
            code = cursor.result_type.spelling in ("aclError", "aclnnStatus")
            text = text or "{NONE, 0, 0, 0, 0}"
            rows.append(f'    {{"{name}", call_{index}, {len(parameters)}, {int(code)}, '
                        f'{int(states[name].startswith("NO"))}, {{{text}}}}},')
        with open(path, "w") as f:
            f.write(f'/* Generated by tools/bad_inputs.py. */\n#include "bad.h"\n{self.includes}\n')
            f.write("\n".join(wrappers) + "\n\nconst function functions[] = {\n" + "\n".join(rows) + "\n};\n")
            f.write(f"const int function_count = {len(rows)};\n")


def known_codes():
    text = ""
    for folder, _, files in os.walk(os.path.join(HERE, "include")):
        text += "".join(open(os.path.join(folder, name)).read() for name in files if name.endswith(".h"))
    return {int(v) for v in re.findall(r"static const u?int(?:32_t)? ACL\w+ = (\d+)", text)} | {0}


def choices():
    """(function, parameter, value) patterns -> codes; each has a reason."""
    listed = []
    with open(CHOICES) as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if not (row["why"] or "").strip():
                sys.exit(f"{CHOICES}: no reason for {row['function']}")
            patterns = [re.compile(row[k] + r"\Z") for k in ("function", "parameter", "value")]
            listed.append([patterns, {int(c) for c in row["codes"].split()}, 0, row])
    return listed


def judge(name, parameter, kind, value, code, states, known, listed):
    """None, or what is wrong."""
    if code in ("crash", "hang"):
        return code
    if code == "-":  # no code: a pointer, a size, nothing
        return None
    code = int(code)
    if states[name].startswith("NO") and kind != "fault":
        return None if code == STUB else f"gave {code}"
    allowed = RULES[kind]
    if (known if allowed == "known" else allowed).__contains__(code):
        return None
    for entry in listed:
        patterns, codes = entry[0], entry[1]
        if code in codes and all(p.match(t) for p, t in zip(patterns, (name, parameter, value))):
            entry[2] += 1
            return None
    return f"gave {code}"


def check(program, verbose):
    states, known, listed = exports(), known_codes(), choices()
    program = os.path.abspath(program)
    with tempfile.TemporaryDirectory() as folder:  # some calls write files
        process = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
    counts, wrong, live = collections.Counter(), 0, 0
    for line in process.stdout.splitlines():
        name, parameter, kind, value, code = line.split("\t")
        counts[kind] += 1
        live += not states[name].startswith("NO")
        problem = judge(name, parameter, kind, value, code, states, known, listed)
        if problem:
            wrong += 1
            print(f"{name}\t{parameter}\t{value}\t{problem}")
    if process.returncode != 0:
        sys.exit(f"{program} ended with {process.returncode}: {process.stderr[-200:]}")
    for entry in listed:
        if entry[2] == 0:
            wrong += 1
            print(f"no case needs the choice {entry[3]['function']} {entry[3]['parameter']} {entry[3]['value']}")
    total = sum(counts.values())
    print(f"{total} cases, {live} of them of functions that are more than stubs; "
          + ", ".join(f"{kind} {n}" for kind, n in sorted(counts.items())) + f"; {wrong} wrong")
    sys.exit(1 if wrong or live < LEAST else 0)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "generate":
        Table().generate(sys.argv[2])
    elif len(sys.argv) == 3 and sys.argv[1] == "check":
        check(sys.argv[2], False)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
