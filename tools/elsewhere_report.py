"""The report of the tests that tools/elsewhere.py ran: JUnit's XML and a page, from one JSON file a program."""

import contextlib
import fcntl
import html
import json
import os
import pathlib
import platform
import xml.etree.ElementTree as xml
from collections import Counter

STATES = ("passed", "failed", "skipped")
# What is not XML: control characters that a test may print.
CONTROL = {code: None for code in range(32) if code not in (9, 10, 13)}
PAGE = """<!doctype html>
<meta charset="utf-8"><title>racl's tests on {title}</title>
<style>
body {{ font: 15px/1.4 sans-serif; margin: 2em auto; max-width: 70em }}
table {{ border-collapse: collapse }} td, th {{ border: 1px solid #bbb; padding: .2em .6em; text-align: left }}
pre {{ background: #f4f4f4; padding: .6em; overflow: auto }}
</style>
<h1>racl's tests on {title}</h1>
{body}
"""


def default_folder(program):
    """`elsewhere` in the build folder, which holds `debug/deps/<program>`."""
    return pathlib.Path(program).resolve().parents[2] / "elsewhere"


def started(process):
    """The parent and the time when it started, which no other process has."""
    try:
        return f"{process} {pathlib.Path(f'/proc/{process}/stat').read_text().rsplit(')', 1)[1].split()[19]}"
    except OSError:
        return str(process)


@contextlib.contextmanager
def alone(folder):
    """Nextest runs many of these at a time."""
    with open(folder / "run.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def begin(folder, parent):
    """Drops what another `cargo test` left."""
    with alone(folder):
        mark = folder / "run"
        if mark.exists() and mark.read_text() == started(parent):
            return
        for file in [*folder.glob("*.json"), folder / "library.txt", folder / "junit.xml", folder / "report.html"]:
            file.unlink(missing_ok=True)
        mark.write_text(started(parent))


def add(folder, program, results):
    with alone(folder):
        file = folder / f"{program}.json"
        known = json.loads(file.read_text()) if file.exists() else {}
        known.update({name: list(result) for name, result in results.items()})
        file.write_text(json.dumps(dict(sorted(known.items())), indent=1))
        programs = {file.stem: json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))}
        (folder / "junit.xml").write_bytes(junit(programs))
        (folder / "report.html").write_text(page(programs, facts(folder)))


def facts(folder):
    """What is to be known of the machine and the library, in pairs."""
    file = folder / "library.txt"
    told = [line.split("\t", 1) for line in file.read_text().splitlines()] if file.exists() else []
    return [("RACL_LIBRARY", os.environ.get("RACL_LIBRARY", "")), ("machine", platform.platform()), *told]


def counted(tests):
    counts = Counter(state for state, _ in tests.values())
    return [counts[state] for state in STATES]


def junit(programs):
    root = xml.Element("testsuites")
    for program, tests in programs.items():
        _, failed, skipped = counted(tests)
        numbers = {"tests": len(tests), "failures": failed, "skipped": skipped}
        suite = xml.SubElement(root, "testsuite", name=program, **{key: str(value) for key, value in numbers.items()})
        for name, (state, reason) in tests.items():
            case = xml.SubElement(suite, "testcase", classname=program, name=name)
            text = reason.translate(CONTROL)
            if state == "failed":
                xml.SubElement(case, "failure", message=text.split("\n", 1)[0]).text = text
            elif state == "skipped":
                xml.SubElement(case, "skipped", message=text)
    if hasattr(xml, "indent"):  # Of Python 3.9.
        xml.indent(root)
    return xml.tostring(root, encoding="utf-8", xml_declaration=True)


def table(head, rows):
    def row(cells, kind):
        return "<tr>" + "".join(f"<{kind}>{html.escape(str(cell))}</{kind}>" for cell in cells) + "</tr>"

    return "\n".join(["<table>", row(head, "th"), *(row(cells, "td") for cells in rows), "</table>"])


def page(programs, known):
    everything = {f"{program}: {name}": test for program, tests in programs.items() for name, test in tests.items()}
    reasons = Counter(reason for state, reason in everything.values() if state == "skipped").most_common()
    failed = [(name, reason) for name, (state, reason) in everything.items() if state == "failed"]
    rows = [(program, *counted(tests)) for program, tests in programs.items()]
    parts = [
        table(("what", "is"), known),
        "<h2>Programs</h2>",
        table(("program", *STATES), [*rows, ("all", *counted(everything))]),
        "<h2>Failed</h2>" if failed else "<p>No test failed.</p>",
        *(f"<h3>{html.escape(name)}</h3><pre>{html.escape(reason)}</pre>" for name, reason in failed),
        "<h2>Skipped</h2>",
        table(("tests", "reason"), [(count, reason) for reason, count in reasons]),
        "<p>The unit tests and the examples in the documentation take the mock, and are not counted here.</p>",
    ]
    return PAGE.format(title=html.escape(dict(known)["RACL_LIBRARY"]), body="\n".join(parts))
