#!/usr/bin/env python3
"""Compares the committed bindings with those that bindgen makes from the real headers.

compare_bindings.py [SET...]

Takes the header sets from the cache of mock-acl/tools/compare_headers.py, which downloads those that are not there.
Calls, constants, and sizes, alignments and offsets of structs that both have must be equal, but for what
mock-acl/abi/changes.tsv lists, and the real ones must have nothing more. Needs what the feature `bindgen` needs.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(os.path.join(ROOT, "mock-acl/tools"))
from compare_headers import SETS, fetch, functions_of_sets, known_changes  # noqa: E402
from exports import headers  # noqa: E402

KINDS = ["call", "constant", "layout"]
CALL = re.compile(r"^    (\w+)(\(.*\) -> .*);$", re.M)
CONSTANT = re.compile(r"^ *pub const (\w+): [^=;]*=\s*([^;]*);$", re.M)
LAYOUT = re.compile(r'\["(Size of|Alignment of|Offset of field:) ([\w:]+)"\]\s*\[([^;]*)\];', re.S)
ALIAS = re.compile(r"^pub use self::(\w+) as (\w+);$|^pub type (\w+) = (\w+);$", re.M)
# Constants of C++ enum classes, plain constants with a prefix in our headers.
SCOPED = re.compile(r"(ACLSK_OPTION_)(?=[A-Z])")


class Bindings:
    def __init__(self, folder):
        self.items = {kind: {} for kind in KINDS}
        self.aliases = {}
        for file in sorted(os.listdir(folder)):
            if file in ("mod.rs", "symbols.rs"):
                continue
            text = open(os.path.join(folder, file)).read()
            if file == "calls.rs":
                self.items["call"].update(CALL.findall(text))
                continue
            for target, name, alias, of in ALIAS.findall(text):
                self.aliases[name or alias] = target or of
            for name, value in CONSTANT.findall(text):
                self.items["constant"][SCOPED.sub("", name)] = re.sub(r"\w+\((.*)\)", r"\1", value)
            for what, name, value in LAYOUT.findall(text):
                if "__bindgen" not in name:
                    self.items["layout"][f"{what} {name}"] = value.split(" - ")[-1].strip()

    def layouts_as_in(self, other):
        """Layouts by the names of `other`, which may give a struct the name that is an alias here."""
        alias = {tag: name for name, tag in self.aliases.items() if f"Size of {name}" in other.items["layout"]}
        layouts = self.items["layout"].items()
        return {re.sub(r"\w+(?=::|$)", lambda m: alias.get(m.group(0), m.group(0)), key, count=1): value
                for key, value in layouts}

    def resolve(self, text, through):
        """Type names of `text` by the names that `through` gives them."""
        def name(match):
            word = match.group(0)
            seen = set()
            while word in through and word not in seen:
                seen.add(word)
                word = through[word]
            return word

        return re.sub(r"\b[A-Za-z_]\w*\b", name, text)


def generate(version, out):
    keys = {
        "ACL_SYS_INCLUDE_DIR": fetch(version, offline=False),
        "ACL_SYS_LIB_DIR": os.path.join(ROOT, "mock-acl/build/lib64"),
        "ACL_SYS_GENERATE_INTO": out,
    }
    command = ["cargo", "build", "--quiet", "-p", "acl-sys", "--no-default-features", "--features", "bindgen"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **keys}, check=True)
    for file in os.listdir(out):
        if file not in ("calls.rs", "symbols.rs"):
            subprocess.run(["rustfmt", "--edition", "2024", "--config-path", "rustfmt.toml", os.path.join(out, file)],
                           cwd=ROOT, check=True)


def runtime_calls(version, ours):
    """The calls that the bindings of a set must have: its functions without `...`; it has no operators."""
    bit, declared = 1 << SETS.index(version), headers()
    sets = functions_of_sets().items()
    return {name for name, mask in sets if mask & bit and name in ours and declared[name].startswith("acl/")}


def changed(version):
    return {SCOPED.sub("", name) for of, _, name in known_changes() if of == version}


def main():
    subprocess.run(["make", "-s", "-C", os.path.join(ROOT, "mock-acl")], check=True, stdout=subprocess.DEVNULL)
    ours, good = Bindings(os.path.join(ROOT, "sys/src/bindings")), True
    print(f"{'torch-npu':12} {'what':10} {'equal':>6} {'changed since':>14} {'only ours':>10} "
          f"{'only theirs':>12} {'different':>10}")
    for version in sys.argv[1:] or SETS:
        with tempfile.TemporaryDirectory() as out:
            generate(version, out)
            real = Bindings(out)
            real.items["layout"] = real.layouts_as_in(ours)
        known = changed(version)
        for name in sorted(runtime_calls(version, ours.items["call"]) - real.items["call"].keys()):
            print(f"not generated: {version} call {name}")
            good = False
        for kind in KINDS:
            here, there = ours.items[kind], real.items[kind]
            shared, listed, different = here.keys() & there.keys(), 0, []
            for name in sorted(shared):
                left, right = here[name], there[name]
                if kind == "call":
                    both = {**real.aliases, **ours.aliases}
                    left, right = ours.resolve(left, both), ours.resolve(right, both)
                if left != right and name in known:
                    listed += 1
                elif left != right:
                    different.append(f"different: {version} {kind} {name}: {left} here, {right} there")
            more = sorted(there.keys() - here.keys())
            more = [f"only theirs: {version} {kind} {name} = {there[name]}" for name in more]
            for line in different + more:
                print(line)
            good = good and not different and not more
            equal = len(shared) - listed - len(different)
            print(f"{version:12} {kind:10} {equal:6} {listed:14} {len(here) - len(shared):10} {len(more):12} "
                  f"{len(different):10}")
    sys.exit(0 if good else 1)


main()
