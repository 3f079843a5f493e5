"""The environment with PyTorch, and the mock."""

import os
import subprocess
import sys
import venv

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOCK = os.path.join(HERE, "../../mock-acl")
# torch_npu by the version of torch that it goes with. Beside them what the two import; torch's own come by themselves.
VERSIONS = {"2.7.1": "2.7.1", "2.9.1": "2.9.1", "2.14.0": "2.14.0"}
USUAL = "2.9.1"
# From here on torch_npu ends the process at import beside a build of torch with CUDA: cuda_aside.cpp says why.
WITHOUT_CUDA = ("2.14.0",)
BESIDE = ["numpy", "pyyaml", "setuptools<81"]
DONE = "complete"


def cache():
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "racl")


def given(python):
    """From any folder; links stay, an environment is known by them."""
    return os.path.abspath(python) if python and os.sep in python else python


def put_cuda_aside(python, folder):
    """Where torch has CUDA: a library that every Python of the environment loads first."""
    where = "import importlib.util as u, sysconfig; print(u.find_spec('torch').submodule_search_locations[0])"
    where += "; print(sysconfig.get_path('purelib'))"
    torch, packages = subprocess.run([python, "-c", where], check=True, capture_output=True, text=True).stdout.split("\n")[:2]
    if not os.path.exists(os.path.join(torch, "lib/libc10_cuda.so")):
        return
    library = os.path.join(folder, "cuda_aside.so")
    source = os.path.join(HERE, "runner/cuda_aside.cpp")
    subprocess.run(["c++", "-std=c++17", "-O2", "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    with open(os.path.join(packages, "cuda_aside.pth"), "w") as file:
        file.write(f"import ctypes; ctypes.CDLL({library!r}, ctypes.RTLD_GLOBAL)\n")


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
    if version in WITHOUT_CUDA:
        put_cuda_aside(python, folder)
    open(os.path.join(folder, DONE), "w").close()
    return python


def mock():
    """The command that runs programs on the mock, built before."""
    built = subprocess.run(["make", "-s", "-C", MOCK, f"-j{os.cpu_count() or 1}"], capture_output=True, text=True)
    if built.returncode != 0:
        sys.exit(f"the mock does not build:\n{built.stdout}{built.stderr}")
    return [os.path.join(MOCK, "build/bin/mock-acl"), "run", "--"]
