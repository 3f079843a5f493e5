#!/usr/bin/env python3
"""Compares include/ with the real headers of AscendCL, which the torch-npu wheels carry.

compare_headers.py [--offline] [--verbose] [SET...]

A wheel is downloaded once; only its header folder is kept, in ${XDG_CACHE_HOME:-~/.cache}/racl/headers, and
downloaded anew when a file in it was changed. Functions,
enum constants, structs (size, alignment, fields, offsets), typedefs and constants that both have must be equal, types
compared in their canonical form; what differs is listed in abi/changes.tsv, with the reason. Nothing of the
real headers may be missing here but the media interface (acl/ops/acl_dvpp.h, acl/dvpp). The functions of each set
must be those of abi/symbols.tsv. The development head and the operators are in no wheel: what was read of them is in
abi/runtime.tsv and abi/operators.tsv and compared as further sets. With --offline a set that is not in the cache is
skipped, loudly.
"""
import argparse
import glob
import hashlib
import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

from compare_facts import FACTS, Facts, known_part, operators

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "racl")
SETS = ["2.4.0.post4", "2.6.0", "2.7.1", "2.9.1", "2.14.0"]
PREFIX = "torch_npu/include/third_party/acl/inc/"
PATTERNS = ("acl/**/*.h", "ge/ge_error_codes.h")
OPERATORS = ("aclnn/**/*.h", "aclnnop/**/*.h")
LEFT_OUT = ("acl/ops/acl_dvpp.h", "acl/dvpp/")
PLATFORMS = ["manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_aarch64"]
# All that pip says when the index has no such wheel; whatever else it says may be another at the next attempt.
NO_WHEEL = re.compile(r"(ERROR: (Could not find a version|No matching distribution).*\n?)+")
PAUSES = [10, 30, 60]
KINDS = ["function", "enum constant", "struct", "typedef", "constant"]

# Constants of C++ enum classes, plain constants with a prefix here.
SCOPED = {"aclskOptionType": "ACLSK_OPTION_"}
# No part of the interface: attributes of declarations.
IGNORED = re.compile(r"(ACL_FUNC_VISIBILITY|ACL_DEPRECATED\w*|ACL_DUMP_WEAK|ACL_DUMP_API|MSVP_PROF_API)$")


def clang(offline=False):
    folder = os.path.join(CACHE, "python")
    sys.path.append(folder)
    try:
        import clang.cindex as cindex
    except ImportError:
        if offline:
            print("SKIPPED: libclang for Python is not there; run without --offline")
            sys.exit(0)
        try:
            pip("install", "--target", folder, "libclang")
        except subprocess.CalledProcessError as error:
            sys.exit(f"libclang for Python cannot be installed:\n{error.stderr}")
        # The folder was looked at before it was there.
        importlib.invalidate_caches()
        import clang.cindex as cindex
    return cindex


def pip(*arguments):
    """Runs pip, again after a while when it fails for anything else than a wheel that does not exist."""
    # Its own attempts follow each other closely; without any it would not tell that there is no network.
    options = ["--quiet", "--disable-pip-version-check", "--retries", "3"]
    command = [sys.executable, "-m", "pip", *options, *arguments]
    for pause in [*PAUSES, None]:
        try:
            return subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True)
        except subprocess.CalledProcessError as error:
            if NO_WHEEL.fullmatch(error.stderr):
                raise
            what = f"{error.stderr}pip {' '.join(arguments)} failed"
        if pause is None:
            sys.exit(f"{what} {len(PAUSES) + 1} times; is there a network?")
        print(f"{what}; again in {pause} s", file=sys.stderr, flush=True)
        time.sleep(pause)


def digest(folder):
    """What the files below a folder are, in a word."""
    found = hashlib.sha256()
    paths = glob.glob(os.path.join(folder, "**/*"), recursive=True)
    for path in sorted(path for path in paths if os.path.isfile(path)):
        with open(path, "rb") as file:
            found.update(f"{os.path.relpath(path, folder)} {hashlib.sha256(file.read()).hexdigest()}\n".encode())
    return found.hexdigest()


def cached(folder):
    """Whether the folder has the headers as they were downloaded. Its mark was empty once."""
    mark = os.path.join(folder, ".complete")
    if not os.path.isfile(mark):
        return False
    if open(mark).read().strip() in ("", digest(folder)):
        return True
    print(f"{folder} is not as it was downloaded")
    return False


def fetch(version, offline):
    """The header folder of a wheel; None when it is not cached and must not be downloaded."""
    folder = os.path.join(CACHE, "headers", version)
    if cached(folder):
        return folder
    if offline:
        return None
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory(dir=os.path.dirname(folder)) as near:
        fresh = os.path.join(near, version)
        with zipfile.ZipFile(download(version, scratch)) as archive:
            for name in archive.namelist():
                if name.startswith(PREFIX) and not name.endswith("/"):
                    path = os.path.join(fresh, name[len(PREFIX):])
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with archive.open(name) as source, open(path, "wb") as target:
                        shutil.copyfileobj(source, target)
        if not os.path.isdir(fresh):
            sys.exit(f"the wheel of torch-npu {version} has no {PREFIX}")
        with open(os.path.join(fresh, ".complete"), "w") as mark:
            mark.write(digest(fresh) + "\n")
        # Whole or not at all, also when another process does the same.
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(fresh, folder)
    return folder


def download(version, folder):
    failure = "no wheel"
    for python in ("3.10", "3.11", "3.9"):
        for platform in PLATFORMS:
            choice = ["--python-version", python, "--platform", platform, "--only-binary=:all:"]
            try:
                pip("download", "--no-deps", *choice, "--dest", folder, f"torch-npu=={version}")
                return glob.glob(os.path.join(folder, "*.whl"))[0]
            except subprocess.CalledProcessError as error:
                failure = error.stderr
    sys.exit(f"torch-npu {version} cannot be downloaded:\n{failure}")


class Headers:
    """What the headers of one folder declare, by kind and name."""

    def __init__(self, cindex, folder, patterns=PATTERNS):
        self.cindex, self.folder, self.patterns = cindex, folder, patterns
        self.items = {kind: {} for kind in KINDS}
        self.types = {}  # typedef or tag -> canonical spelling
        self.names = {}  # canonical spelling of a struct or an enum -> its typedefs
        self.places = {}  # function -> its header
        self.scoped = {}  # constant of an enum class -> its name in C++
        unit = self.parse()
        self.walk(unit.cursor)
        self.macros(unit.cursor)

    def file_names(self):
        found = [glob.glob(os.path.join(self.folder, pattern), recursive=True) for pattern in self.patterns]
        names = sorted(os.path.relpath(path, self.folder) for path in sum(found, []))
        return [name for name in names if not name.startswith(LEFT_OUT)]

    def parse(self, text=None):
        # Some real headers do not stand alone.
        text = text or "".join(f'#include "{name}"\n' for name in ["acl/acl.h", *self.file_names()])
        compiler = os.environ.get("CC", "cc")
        builtin = subprocess.run([compiler, "-print-file-name=include"], capture_output=True, text=True, check=True)
        arguments = ["-x", "c++", "-std=c++17", f"-I{self.folder}", f"-I{self.folder}/acl"]
        arguments.append(f"-isystem{builtin.stdout.strip()}")
        option = self.cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
        unit = self.cindex.Index.create().parse("all.cc", arguments, [("all.cc", text)], option)
        errors = [str(d) for d in unit.diagnostics if d.severity >= self.cindex.Diagnostic.Error]
        if errors:
            sys.exit(f"{self.folder} does not parse:\n" + "\n".join(errors[:10]))
        return unit

    def mine(self, cursor):
        file = cursor.location.file
        if file is None:
            return False
        name = os.path.relpath(os.path.realpath(file.name), os.path.realpath(self.folder))
        return not name.startswith("..") and not name.startswith(LEFT_OUT)

    def walk(self, parent):
        kind = self.cindex.CursorKind
        for cursor in parent.get_children():
            if cursor.kind in (kind.LINKAGE_SPEC, kind.UNEXPOSED_DECL):
                self.walk(cursor)
            elif not self.mine(cursor):
                continue
            elif cursor.kind == kind.FUNCTION_DECL and cursor.mangled_name == cursor.spelling:
                self.items["function"][cursor.spelling] = cursor.type.get_canonical().spelling
                self.places[cursor.spelling] = os.path.relpath(cursor.location.file.name, self.folder)
            elif cursor.kind == kind.ENUM_DECL and cursor.is_definition():
                self.enum(cursor)
            elif cursor.kind in (kind.STRUCT_DECL, kind.UNION_DECL):
                self.types[cursor.spelling] = cursor.type.get_canonical().spelling
                if cursor.is_definition():
                    self.struct(cursor)
            elif cursor.kind in (kind.TYPEDEF_DECL, kind.TYPE_ALIAS_DECL):
                canonical = cursor.type.get_canonical().spelling
                self.types[cursor.spelling] = canonical
                self.names.setdefault(canonical, []).append(cursor.spelling)
                self.items["typedef"][cursor.spelling] = canonical
            elif cursor.kind == kind.VAR_DECL:
                tokens = [token.spelling for token in cursor.get_tokens()]
                if "=" in tokens:
                    self.items["constant"][cursor.spelling] = number(tokens[tokens.index("=") + 1:])

    def enum(self, cursor):
        name = cursor.type.get_canonical().spelling
        self.types[cursor.spelling] = name
        size = cursor.enum_type.get_size()
        for constant in cursor.get_children():
            if constant.kind == self.cindex.CursorKind.ENUM_CONSTANT_DECL:
                full = SCOPED.get(name, "") if cursor.is_scoped_enum() else ""
                value = constant.enum_value & 0xFFFFFFFF
                value -= (value >> 31) << 32
                if cursor.is_scoped_enum():
                    self.scoped[full + constant.spelling] = f"{name}::{constant.spelling}"
                self.items["enum constant"][full + constant.spelling] = f"{value} in {name}, {size} bytes"

    def struct(self, cursor):
        fields, whole = [], cursor.type

        def add(record, base, prefix):
            for field in record.get_fields():
                offset, kind = base + field.get_field_offsetof() // 8, field.type.get_canonical()
                if kind.get_declaration().is_anonymous():
                    # Members of an unnamed struct or union belong to the outer one, unless the field has a name.
                    named = f"{prefix}{field.spelling}." if re.fullmatch(r"\w+", field.spelling) else prefix
                    add(kind, offset, named)
                else:
                    fields.append(f"{kind.spelling} {prefix}{field.spelling} @{offset}")

        add(whole.get_canonical(), 0, "")
        shape = f"{whole.get_size()}/{whole.get_align()}: " + "; ".join(fields)
        self.items["struct"][cursor.type.get_canonical().spelling] = shape

    def macros(self, root):
        for cursor in root.get_children():
            if cursor.kind != self.cindex.CursorKind.MACRO_DEFINITION or not self.mine(cursor):
                continue
            tokens = list(cursor.get_tokens())
            called = len(tokens) > 1 and tokens[1].spelling == "(" and (
                tokens[1].extent.start.offset == tokens[0].extent.end.offset)
            if len(tokens) > 1 and not called and not IGNORED.match(cursor.spelling):
                self.items["constant"][cursor.spelling] = number([token.spelling for token in tokens[1:]])


def number(tokens):
    text = "".join(token for token in tokens if token not in "();").strip()
    found = re.fullmatch(r"(-?)(0[xX][0-9a-fA-F]+|\d+)[uUlL]*", text)
    if not found:
        return text
    value = int(found.group(2), 0) * (-1 if found.group(1) else 1)
    # The two spellings of an unknown rank: a negative number, or all bits but the lowest.
    return str(value - (1 << 64) if value >> 63 == 1 else value)


def renamed(theirs, ours):
    """A function that gives a type of theirs with the names that ours has for the same structs and enums."""
    def name(match):
        word = match.group(0)
        for known in [word, *theirs.names.get(word, [])]:
            if known in ours.types:
                return ours.types[known]
        return word

    return lambda text: re.sub(r"(?<![@\w.])[A-Za-z_]\w*(?![\w.]| @)", name, text)


def compare(theirs, ours, changes, version, verbose):
    good, rows, rename = True, [], renamed(theirs, ours)
    for kind in KINDS:
        real = {}
        for key, value in theirs.items[kind].items():
            key = rename(key) if kind == "struct" else key
            real[key] = value if kind == "constant" else rename(value)
        here = ours.items[kind]
        shared = real.keys() & here.keys()
        only_theirs = sorted(real.keys() - here.keys())
        different, listed = [], 0
        for key in sorted(shared):
            if real[key] == here[key]:
                continue
            if changes.pop((version, kind, key), None) == real[key]:
                listed += 1
            else:
                different.append(f"{version}\t{kind}\t{key}\t{real[key]}")
                if verbose:
                    print(f"  real: {real[key]}\n  ours: {here[key]}")
        for line in different:
            print("different:", line)
        for key in only_theirs:
            print(f"only theirs: {kind} {key} = {real[key]} ({version})")
        good &= not different and not only_theirs
        if not real and not here:
            continue
        equal = len(shared) - listed - len(different)
        rows.append((version, kind, equal, listed, len(here) - len(shared), len(only_theirs), len(different)))
    return good, rows


def functions_of_sets():
    lines = open(os.path.join(HERE, "abi/symbols.tsv")).read().splitlines()
    return {name: int(mask) for name, mask in (line.split("\t") for line in lines)}


def sides(cindex, version, folder, ours):
    """Our declarations, those of a set, and the names of its functions as the lists have them."""
    if version == "operators":
        all_of_ours = Headers(cindex, ours.folder, OPERATORS)
        here = operators(all_of_ours)
        theirs, masks = Facts(version, all_of_ours), functions_of_sets()
        # One that no set and no header has, only the library, says so in symbols.tsv.
        known = theirs.items["function"]
        return here, theirs, {name for name in here.items["function"] if masks.get(name) != 0 or name in known}
    bit = 1 << [*SETS, *FACTS].index(version)
    want = {name for name, mask in functions_of_sets().items() if mask & bit and name in ours.items["function"]}
    if version in FACTS:
        theirs = Facts(version, ours)
        return known_part(ours, theirs), theirs, want
    return ours, Headers(cindex, folder), want


def known_changes():
    lines = open(os.path.join(HERE, "abi/changes.tsv")).read().splitlines()[1:]
    changes = {}
    for versions, kind, name, real, why in (line.split("\t") for line in lines):
        if not why.strip():
            sys.exit(f"abi/changes.tsv does not say why {kind} {name} differs")
        for version in versions.split(","):
            changes[(version, kind, name)] = real
    return changes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--offline", action="store_true", help="skip what is not cached")
    parser.add_argument("--verbose", action="store_true", help="print both sides of a difference")
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {' '.join([*SETS, *FACTS])}; all without")
    options = parser.parse_args()
    sets = options.sets or [*SETS, *FACTS]
    folders = {version: "" if version in FACTS else fetch(version, options.offline) for version in sets}
    for version in [v for v in sets if folders[v] is None]:
        print(f"SKIPPED: the headers of torch-npu {version} are not in {CACHE}/headers; run without --offline")
        sets = [v for v in sets if v != version]
    if not sets:
        sys.exit(0)
    cindex = clang(options.offline)
    ours, changes = Headers(cindex, os.path.join(HERE, "include")), known_changes()
    good, rows = True, []
    for version in sets:
        here, theirs, want = sides(cindex, version, folders[version], ours)
        fine, more = compare(theirs, here, changes, version, options.verbose)
        good, rows = good and fine, rows + more
        for name in sorted(want ^ theirs.items["function"].keys()):
            list = "operators" if version == "operators" else "symbols"
            print(f"abi/{list}.tsv is wrong about {name} in {version}")
            good = False
    for version, kind, name in [key for key in changes if key[0] in sets]:
        print(f"abi/changes.tsv: {kind} {name} does not differ from {version} in that way")
        good = False
    print(f"{'torch-npu':12} {'what':14} {'equal':>6} {'changed since':>14} {'only ours':>10} {'only theirs':>12} "
          f"{'different':>10}")
    for row in rows:
        print(f"{row[0]:12} {row[1]:14} {row[2]:6} {row[3]:14} {row[4]:10} {row[5]:12} {row[6]:10}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
