#!/usr/bin/env python3
"""Nobody else's code runs under a lock of racl: no logger and no closure of the user.

src/lock.rs has the lock and the words for the log that wait until it is released; this sees that src uses no other
mutex, condition or way to the log. The exceptions stand below, with the reason. No lock is held over a call that may
block either: debug builds end there when RACL_CHECK_LOCKS is 1; here is who may.
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
}
OVER_CALLS = {
    "src/lock.rs": "what the others use",
    "src/op/cached.rs": "a thread's executors: the scratch memory of one; others only try that lock",
}


def code_of(line):
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', line).split("//")[0]


def main():
    found = []
    for path in sorted(glob.glob(os.path.join(ROOT, "src/**/*.rs"), recursive=True)):
        name = os.path.relpath(path, ROOT)
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            for pattern, text in WORDS.items():
                if re.search(pattern, code_of(line)) and name not in EXCEPTIONS:
                    found.append(f"{name}:{number}: {text}")
            if re.search(r"\bover_calls\b", code_of(line)) and name not in OVER_CALLS:
                found.append(f"{name}:{number}: a lock held over calls: release it before")
    print("\n".join(found) or "locks: only those of src/lock.rs")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
