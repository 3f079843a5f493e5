#!/usr/bin/env python3
"""Runs one test program of racl against the library that RACL_LIBRARY names, and writes a report.

Called by `tools/run-test` for each program of `cargo test`. A test that needs the mock ends with the words `skipped
here`, and is counted as skipped with its reason. A test that ends the process, or tells nothing for RACL_TEST_LIMIT
seconds (300), is counted as failed, and those behind it run in a new process. The report of all programs of one
`cargo test` is in RACL_TEST_REPORT (target/elsewhere): junit.xml, report.html, and one JSON file a program.
"""

import os
import pathlib
import re
import selectors
import signal
import subprocess
import sys
import time
from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import elsewhere_report as report  # noqa: E402

SKIPPED = "skipped here: "
LIMIT = float(os.environ.get("RACL_TEST_LIMIT", "300"))
# Longer lists of names are given to several processes.
NAMES = 400
RESULT = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored.*)$")
STARTED = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. ")
LATE = re.compile(r"(ok|FAILED)$")
SECTION = re.compile(r"^---- (\S+) stdout ----$")
# Of an error that a test did not await, on an older library.
LACKS = re.compile(r"(?:MissingSymbol|function not in the library).*?\b([aA]cl\w+)")
PANIC = re.compile(r"panicked at [^\n]*:\n([^\n]*)")
# What tests panic with that look at panics.
MEANT = "on purpose"


# Settings of the test harness that take the next argument, and those that say which tests run.
WITH_VALUE = ("--test-threads", "--format", "--color", "--logfile", "-Z", "--shuffle-seed")
CHOOSING = ("--exact", "--ignored", "--include-ignored")


def chosen(arguments):
    """The arguments that say which tests run; how they run and what is printed is decided here."""
    kept, skip = [], None
    for argument in arguments:
        if skip:
            kept += [argument] if skip == "--skip" else []
            skip = None
        elif argument in WITH_VALUE or argument == "--skip":
            skip = argument
            kept += [argument] if argument == "--skip" else []
        elif not argument.startswith("-") or argument in CHOOSING or argument.startswith("--skip="):
            kept.append(argument)
    return kept


def names_of(program, arguments):
    listed = subprocess.run([program, *arguments, "--list", "--format", "terse"], capture_output=True, text=True, check=True)
    return [line[: -len(": test")] for line in listed.stdout.splitlines() if line.endswith(": test")]


def run(program, arguments, environment):
    """The lines of standard output, and how the process ended: its code, or None when it was ended here."""
    process = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, env=environment, start_new_session=True)
    try:
        text, hung = listen(process)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)  # Nothing goes on alone on the card.
        raise
    if hung:
        os.killpg(process.pid, signal.SIGKILL)
    code = process.wait()
    return text.decode(errors="replace").splitlines(), None if hung else code


def listen(process):
    """What it prints until its end, or until it has printed nothing for too long."""
    text, told = b"", time.monotonic()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if selector.select(timeout=1):
                some = os.read(process.stdout.fileno(), 1 << 16)
                if not some:
                    return text, False
                text, told = text + some, time.monotonic()
            elif process.poll() is not None:
                return text, False  # A child of a test may hold the other end.
            elif time.monotonic() - told > LIMIT:
                return text, True


def sections_of(lines):
    """What each failed test printed."""
    sections, name = {}, None
    for line in lines:
        if match := SECTION.match(line):
            name = match[1]
            sections[name] = []
        elif line == "failures:":
            name = None
        elif name:
            sections[name].append(line)
    return {name: "\n".join(some).strip() for name, some in sections.items()}


def judge(name, word, sections):
    """What became of a test: its state and the reason."""
    if word == "ok":
        return "passed", ""
    if word.startswith("ignored"):
        return "skipped", word[len("ignored") :].lstrip(", ") or "ignored"
    text = sections.get(name, "")
    # Those of host functions may be told before the test's own.
    first = next((panic for panic in PANIC.finditer(text) if panic[1] != MEANT), None)
    if first and first[1].startswith(SKIPPED):
        return "skipped", first[1][len(SKIPPED) :]
    if first and (lacks := LACKS.search(first[1])):
        return "skipped", f"the library has no {lacks[1]}"
    return "failed", text or "it failed and printed nothing"


def ended(code):
    if code is None:
        return f"it told nothing for {LIMIT:.0f} s and was ended"
    if code < 0:
        return f"it ended the process: {signal.Signals(-code).name}"
    return f"it ended the process with code {code}"


def some_tests(program, names, rest, environment):
    """What became of the tests of one process, in a dict; those it did not reach are not there."""
    lines, code = run(program, ["--exact", "--test-threads=1", *rest, *names], environment)
    sections, found, last = sections_of(lines), {}, None
    # Behind that word stands what tests printed, among it what their own children said.
    told = lines[: lines.index("failures:")] if "failures:" in lines else lines
    for line in told:
        if match := RESULT.match(line):
            found[match[1]] = judge(match[1], match[2], sections)
            last = None
        elif match := STARTED.match(line):
            last = match[1]
        elif last and (match := LATE.search(line)):
            # The library printed something between the name and the word.
            found[last] = judge(last, match[1], sections)
            last = None
    if code not in (0, 101) or last:
        # What went wrong before it printed its failures is not known.
        lost = [name for name, (state, reason) in found.items() if state == "failed" and name not in sections]
        for name in lost:
            del found[name]
        name = last or next((name for name in names if name not in found), None)
        if name:
            found[name] = ("failed", ended(code))
    return found


def all_tests(program, names, rest, environment):
    results, left, tries = {}, list(names), 0
    while left and tries <= len(names):
        found = some_tests(program, left[:NAMES], rest, environment)
        if not found:
            results[left[0]] = ("failed", "nothing was told of it")
        results.update(found)
        left = [name for name in left if name not in results]
        tries += 1
    return results


def main():
    program, arguments = sys.argv[1], sys.argv[2:]
    filters = chosen(arguments)
    rest = [argument for argument in filters if argument in CHOOSING[1:]]
    folder = pathlib.Path(os.environ.get("RACL_TEST_REPORT") or report.default_folder(program))
    folder.mkdir(parents=True, exist_ok=True)
    report.begin(folder, os.getppid())
    environment = {**os.environ, "RACL_TEST_ELSEWHERE": "1", "RACL_TEST_FACTS": str(folder / "library.txt"),
                   "ASCEND_SLOG_PRINT_TO_STDOUT": "0"}
    names = names_of(program, filters)
    print(f"\nrunning {len(names)} tests against {os.environ['RACL_LIBRARY']}", flush=True)
    results = all_tests(program, names, rest, environment)
    counts = Counter(state for state, _ in results.values())
    for name, (state, reason) in results.items():
        print(f"test {name} ... " + {"passed": "ok", "skipped": f"skipped, {reason}"}.get(state, "FAILED"))
    for name, (state, reason) in results.items():
        if state == "failed":
            print(f"\n---- {name} ----\n{reason}")
    word = "FAILED" if counts["failed"] else "ok"
    print(f"\ntest result: {word}. {counts['passed']} passed; {counts['failed']} failed; {counts['skipped']} skipped")
    for reason, count in Counter(reason for state, reason in results.values() if state == "skipped").most_common():
        print(f"  skipped {count}: {reason}")
    report.add(folder, re.sub(r"-[0-9a-f]{16}$", "", pathlib.Path(program).name), results)
    print(f"report of this run: {folder / 'report.html'}")
    return 101 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
