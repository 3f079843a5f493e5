#!/usr/bin/env python3
"""Compares the committed bindings with those that bindgen makes from the real headers.

compare_bindings.py [SET...]

Takes the header sets that `make -C mock-acl headers` has put into its cache, and skips, loudly, one that is not there.
Calls, constants, and sizes, alignments and offsets of structs that both have must be equal, but for what
mock-acl/abi/changes.tsv lists. Needs what the feature `bindgen` needs.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "racl/headers")
SETS = ["2.4.0.post4", "2.6.0", "2.7.1", "2.9.1", "2.14.0"]
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
        "ACL_SYS_INCLUDE_DIR": os.path.join(CACHE, version),
        "ACL_SYS_LIB_DIR": os.path.join(ROOT, "mock-acl/build/lib64"),
        "ACL_SYS_GENERATE_INTO": out,
    }
    command = ["cargo", "build", "--quiet", "-p", "acl-sys", "--no-default-features", "--features", "bindgen"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **keys}, check=True)
    for file in os.listdir(out):
        if file not in ("calls.rs", "symbols.rs"):
            subprocess.run(["rustfmt", "--edition", "2024", "--config-path", "rustfmt.toml", os.path.join(out, file)],
                           cwd=ROOT, check=True)


def changed(version):
    lines = open(os.path.join(ROOT, "mock-acl/abi/changes.tsv")).read().splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return {SCOPED.sub("", name) for sets, _, name, _ in rows if version in sets.split(",")}


def main():
    subprocess.run(["make", "-s", "-C", os.path.join(ROOT, "mock-acl")], check=True, stdout=subprocess.DEVNULL)
    ours, good = Bindings(os.path.join(ROOT, "sys/src/bindings")), True
    print(f"{'torch-npu':12} {'what':10} {'equal':>6} {'changed since':>14} {'only ours':>10} {'different':>10}")
    for version in sys.argv[1:] or SETS:
        if not os.path.exists(os.path.join(CACHE, version, ".complete")):
            print(f"SKIPPED: {CACHE}/{version} is not there; run make -C mock-acl headers")
            continue
        with tempfile.TemporaryDirectory() as out:
            generate(version, out)
            real = Bindings(out)
        known = changed(version)
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
            print("\n".join(different), end="\n" if different else "")
            good = good and not different
            equal = len(shared) - listed - len(different)
            print(f"{version:12} {kind:10} {equal:6} {listed:14} {len(here) - len(shared):10} {len(different):10}")
    sys.exit(0 if good else 1)


main()
