"""The environment with PyTorch, and the mock."""

import os
import subprocess
import sys
import venv

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOCK = os.path.join(HERE, "../../mock-acl")
# torch_npu by the version of torch that it goes with. Beside them what the two import; torch's own come by themselves.
VERSIONS = {"2.9.1": "2.9.1"}
BESIDE = ["numpy", "pyyaml", "setuptools<81"]
DONE = "complete"


def cache():
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "racl")


def python_of(version):
    """The interpreter of an environment with torch and torch_npu, made when it is not there."""
    folder = os.path.join(cache(), f"torch-{version}")
    python = os.path.join(folder, "bin/python")
    if os.path.exists(os.path.join(folder, DONE)):
        return python
    print(f"# {folder}: torch {version}, torch_npu {VERSIONS[version]}", flush=True)
    os.makedirs(folder, exist_ok=True)
    venv.create(folder, with_pip=True, clear=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, f"torch=={version}", *BESIDE], check=True)
    subprocess.run([*install, "--no-deps", f"torch_npu=={VERSIONS[version]}"], check=True)
    open(os.path.join(folder, DONE), "w").close()
    return python


def mock():
    """The command that runs programs on the mock, built before."""
    built = subprocess.run(["make", "-s", "-C", MOCK, f"-j{os.cpu_count() or 1}"], capture_output=True, text=True)
    if built.returncode != 0:
        sys.exit(f"the mock does not build:\n{built.stdout}{built.stderr}")
    return [os.path.join(MOCK, "build/bin/mock-acl"), "run", "--"]
