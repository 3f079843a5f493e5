#!/usr/bin/env python3
"""Products under each kind of instructions that the machine has.

isas.py LIBRARY [--cases N]

In a process for each: the cases of products.py; some products eagerly, twice, and from a graph that is replayed
twice, which have to have the same bits. Then the kinds are compared with each other, within what sums in f32 may be
off.
"""
import argparse
import ctypes
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ("baseline", "avx2", "avx512", "neon")
SHAPES = ((1, 300, 700), (3, 65, 257), (40, 97, 600), (130, 1, 400))
MODE_GLOBAL = 0


def one_product(device, dtype, shape, turned, file):
    from device import contiguous, encode, np
    m, n, k = shape
    random = np.random.default_rng([m, n, k, turned])
    x, y = encode(random.uniform(-1, 1, m * k), dtype), encode(random.uniform(-1, 1, k * n), dtype)
    view = ((k, n), (1, k), 0) if turned else contiguous((k, n))
    out = np.zeros(m * n, x.dtype)
    a, b = device.tensor(x, dtype, contiguous((m, k)))[0], device.tensor(y, dtype, view)[0]
    c, address = device.tensor(out, dtype, contiguous((m, n)))
    arguments = (a, b, c, ctypes.c_int8(0))
    results = []
    for _ in range(2):
        device.run("aclnnMm", *arguments)
        results.append(device.get(address, out))
        device.put(address, out)
    size, executor, graph = ctypes.c_uint64(), ctypes.c_void_p(), ctypes.c_void_p()
    device.check("aclnnMmGetWorkspaceSize", *arguments, ctypes.byref(size), ctypes.byref(executor))
    workspace = device.allocate(size.value) if size.value else None
    device.check("aclmdlRICaptureBegin", device.stream, MODE_GLOBAL)
    device.check("aclnnMm", workspace, size, executor, device.stream)
    device.check("aclmdlRICaptureEnd", device.stream, ctypes.byref(graph))
    for _ in range(2):
        device.check("aclmdlRIExecuteAsync", graph, device.stream)
        device.check("aclrtSynchronizeStream", device.stream)
        results.append(device.get(address, out))
        device.put(address, out)
    device.check("aclmdlRIDestroy", graph)
    device.free()
    if not results[0].any():
        raise SystemExit(f"{dtype} {shape}: nothing was computed")
    for again in results[1:]:
        if not np.array_equal(results[0].view(np.uint8), again.view(np.uint8)):
            raise SystemExit(f"{dtype} {shape}: runs and replays differ")
    np.save(file, results[0])


def cases():
    return [(dtype, shape, turned) for dtype in ("f32", "f16", "bf16") for shape in SHAPES for turned in (0, 1)]


def child(library, folder):
    from device import Device
    device = Device(library)
    for number, case in enumerate(cases()):
        one_product(device, *case, os.path.join(folder, f"{number}.npy"))


def compare(folders):
    from device import decode, np
    allowed = {"f32": 2e-4, "f16": 0.07, "bf16": 0.6}  # sums of 700 products below 1; one unit of a result below 64
    for number, (dtype, shape, _) in enumerate(cases()):
        found = [decode(np.load(os.path.join(f, f"{number}.npy")), dtype) for f in folders]
        for other in found[1:]:
            worst = np.abs(other - found[0]).max()
            if not worst <= allowed[dtype]:
                raise SystemExit(f"{dtype} {shape}: kinds of instructions differ by {worst}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--cases", type=int, default=30, help="for each operator")
    parser.add_argument("--into", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.into:
        child(options.library, options.into)
        return
    with tempfile.TemporaryDirectory() as folder:
        folders = []
        for name in NAMES:
            into = os.path.join(folder, name)
            os.mkdir(into)
            environment = dict(os.environ, MOCK_ACL_ISA=name)
            made = subprocess.run([sys.executable, __file__, options.library, "--into", into], env=environment,
                                  stderr=subprocess.PIPE, text=True)
            if "is not available here" in made.stderr:
                continue
            if made.returncode:
                raise SystemExit(f"{name}: {made.stderr}")
            print(f"{name}: ", end="", flush=True)
            subprocess.run([sys.executable, os.path.join(HERE, "run.py"), options.library, "--form", "product",
                            "--cases", str(options.cases)], env=environment, check=True)
            folders.append(into)
        compare(folders)
        print(f"{len(cases())} products, twice eagerly and twice replayed, agree under {len(folders)} kinds of "
              "instructions")


if __name__ == "__main__":
    main()
