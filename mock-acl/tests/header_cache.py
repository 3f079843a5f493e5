#!/usr/bin/env python3
"""The cache of real headers that the comparisons use: a wheel made here, in a cache of its own."""
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import zipfile

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools")
HEADERS = {"acl/acl.h": "int aclInit(const char *path);\n", "acl/acl_base.h": "#define ACL_X 1\n"}


def main(folder):
    os.environ["XDG_CACHE_HOME"] = folder
    sys.path.append(TOOLS)
    import compare_headers as real

    downloads = []

    def download(version, scratch):
        downloads.append(version)
        wheel = os.path.join(scratch, "a.whl")
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, text in HEADERS.items():
                archive.writestr(real.PREFIX + name, text)
        return wheel

    real.download = download
    assert real.fetch("1.0", offline=True) is None and downloads == []
    place = real.fetch("1.0", offline=False)
    text = lambda name: open(os.path.join(place, name)).read()
    for _ in range(2):
        assert real.fetch("1.0", offline=True) == place and downloads == ["1.0"]
    assert all(text(name) == want for name, want in HEADERS.items())

    # What is damaged in any way is not compared with, and is downloaded again.
    def empty():
        open(os.path.join(place, "acl/acl_base.h"), "w").close()

    def lose():
        os.remove(os.path.join(place, "acl/acl_base.h"))

    def add():
        open(os.path.join(place, "acl/more.h"), "w").close()

    def unmark():
        os.remove(os.path.join(place, ".complete"))

    for number, damage in enumerate([empty, lose, add, unmark]):
        damage()
        with contextlib.redirect_stdout(io.StringIO()):
            assert real.fetch("1.0", offline=True) is None, damage
            assert real.fetch("1.0", offline=False) == place and len(downloads) == number + 2, damage
        assert all(text(name) == want for name, want in HEADERS.items()), damage
        assert os.listdir(os.path.dirname(place)) == ["1.0"], damage
    # A mark of before it said anything.
    open(os.path.join(place, ".complete"), "w").close()
    assert real.fetch("1.0", offline=True) == place

    # Without libclang for Python, which -S hides, and without a network: skipped, not an error.
    for program in ("compare_headers.py", "compile_headers.py"):
        command = [sys.executable, "-S", os.path.join(TOOLS, program), "--offline"]
        away = {**os.environ, "PIP_NO_INDEX": "1", "PYTHONPATH": ""}
        done = subprocess.run(command, env=away, capture_output=True, text=True)
        assert done.returncode == 0 and "SKIPPED: libclang" in done.stdout, (program, done.stdout, done.stderr)
    print("header cache ok")


with tempfile.TemporaryDirectory() as scratch:
    main(scratch)
