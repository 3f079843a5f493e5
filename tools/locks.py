#!/usr/bin/env python3
"""Nobody else's code runs under a lock of racl: no logger and no closure of the user.

src/lock.rs has the lock and the words for the log that wait until it is released; this sees that the crates use no
other mutex, condition or way to the log, and that closures which public functions are given are run by
`lock::theirs`, `caught` or `as_if_alone`. The exceptions stand below, with the reason. Debug builds end where such
code runs under a lock, and before a call that may block, when RACL_CHECK_LOCKS is 1; here is who may call.
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORDS = {
    r"\b(Mutex|RwLock|Condvar)\b": "a lock: use crate::lock::Lock or Signal",
    r"\blog::(error|warn|info|debug|trace|log)!": "a log macro: use crate::lock::say!",
}
EXCEPTIONS = {
    "src/lock.rs": "what the others use",
    "src/lock/quick.rs": "the lock of src/lock.rs",
    "src/closure.rs": "a closure of the user runs once at a time, under a lock that no call of this crate waits for",
    "src/mock.rs": "tests take it, to be alone",
    "sys/src/loader.rs": "a list that is locked for a look, and never while a library is opened",
    "capi/src/builder.rs": "makes a builder",
    "capi/src/cache/on.rs": "a counter; and a registry that is tried, so that others are told it is busy",
    "capi/src/executable.rs": "objects that are tried, so that others are told they are busy",
    "capi/src/graph.rs": "as above",
    "capi/src/handles.rs": "a list of numbers",
    "capi/src/host.rs": "objects that are tried; and how",
    "capi/src/log.rs": "the way of the log to C, which is called once the lock is free",
    "capi/src/objects.rs": "names of types",
    "capi/src/recording.rs": "a builder that is tried",
}
ROOTS = ["src", "sys/src", "capi/src"]
# A closure, in the parameters of a public function.
CLOSURE = re.compile(r"\b(\w+): impl Fn(?:Once|Mut)?\(")
GIVEN_ON = {
    "src/cache.rs": "to Plan::build_decomposed",
    "src/graph/bodies.rs": "to Choice::record",
}
OVER_CALLS = {
    "src/lock.rs": "what the others use",
    "src/op/cached.rs": "a thread's executors: the scratch memory of one; others only try that lock",
}


def code_of(line):
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', line).split("//")[0]


def run_by_hand(text):
    """Lines where a public function runs a closure that it was given without saying whose it is."""
    for public in re.finditer(r"^( *)pub (?:const |unsafe )*fn \w+.*?^\1}$", text, re.M | re.S):
        head, _, body = public.group().partition("{\n")
        for closure in CLOSURE.findall(head):
            for call in re.finditer(rf"(?<![\w.]){closure}\(", body):
                if not re.search(r"(theirs|caught|as_if_alone)\(\|\| $", body[: call.start()]):
                    yield text[: public.start() + len(head) + 2 + call.start()].count("\n") + 1, closure


def main():
    found = []
    paths = [path for root in ROOTS for path in glob.glob(os.path.join(ROOT, root, "**/*.rs"), recursive=True)]
    for path in sorted(paths):
        name = os.path.relpath(path, ROOT)
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            for pattern, text in WORDS.items():
                if re.search(pattern, code_of(line)) and name not in EXCEPTIONS:
                    found.append(f"{name}:{number}: {text}")
            if re.search(r"\bover_calls\b", code_of(line)) and name not in OVER_CALLS:
                found.append(f"{name}:{number}: a lock held over calls: release it before")
        if name.startswith("src/") and name not in GIVEN_ON:
            for number, closure in run_by_hand(open(path, encoding="utf-8").read()):
                found.append(f"{name}:{number}: {closure} is of the program: lock::theirs(|| {closure}(...))")
    print("\n".join(found) or "locks: only those of src/lock.rs")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
