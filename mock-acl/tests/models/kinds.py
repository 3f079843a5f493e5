#!/usr/bin/env python3
"""Each operator that a model can have: models of one operator, written by tools/model.py, give what arithmetic gives;
models whose shapes do not fit are refused.

kinds.py LIBRARY
"""
import ctypes
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

from tool import TOOL

X = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]  # 2 x 3


def norm(row):
    mean = sum(row) / len(row)
    variance = sum((v - mean) ** 2 for v in row) / len(row)
    return [(v - mean) / math.sqrt(variance + 1e-5) for v in row]


def softmax(row):
    total = sum(math.exp(v) for v in row)
    return [math.exp(v) / total for v in row]


def rows(function):
    return function(X[:3]) + function(X[3:])


def pairs(function, other):
    return [function(X[i], other[i % 3]) for i in range(6)]


W = [10.0, 20.0, 30.0]
# Type, weights beside x, attributes, shape of the output, what it holds.
GOOD = [
    ("Abs", [], {}, [2, 3], X),
    ("Add", [W], {"alpha": 2.0}, [2, 3], pairs(lambda x, w: x + 2 * w, W)),
    ("Sub", [W], {"alpha": 2}, [2, 3], pairs(lambda x, w: x - 2 * w, W)),
    ("Mul", [W], {}, [2, 3], pairs(lambda x, w: x * w, W)),
    ("Div", [W], {}, [2, 3], pairs(lambda x, w: x / w, W)),
    ("Maximum", [[0.0, 5.0, 4.0]], {}, [2, 3], pairs(max, [0.0, 5.0, 4.0])),
    ("Adds", [], {"value": 1.5}, [2, 3], [x + 1.5 for x in X]),
    ("Muls", [], {"value": 3}, [2, 3], [x * 3 for x in X]),
    ("ClampMin", [], {"min": 3.5}, [2, 3], [max(x, 3.5) for x in X]),
    ("Cast", [], {}, [2, 3], X),
    ("Copy", [], {}, [2, 3], X),
    ("Gelu", [], {}, [2, 3], [x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in X]),
    ("Rsqrt", [], {}, [2, 3], [1 / math.sqrt(x) for x in X]),
    ("Sqrt", [], {}, [2, 3], [math.sqrt(x) for x in X]),
    ("Tanh", [], {}, [2, 3], [math.tanh(x) for x in X]),
    ("Softmax", [], {}, [2, 3], rows(softmax)),
    ("LayerNorm", [W], {}, [2, 3], [v * W[i % 3] for i, v in enumerate(rows(norm))]),
    ("LayerNorm", [W, W], {"epsilon": 1e-5}, [2, 3], [v * W[i % 3] + W[i % 3] for i, v in enumerate(rows(norm))]),
    ("Mean", [], {"dims": [1]}, [2], [2.0, 5.0]),
    ("Mean", [], {"dims": [-2], "keep_dims": 1}, [1, 3], [2.5, 3.5, 4.5]),
    ("ReduceSum", [], {"dims": [0]}, [3], [5.0, 7.0, 9.0]),
    ("ReduceSum", [], {"dims": []}, [], [21.0]),
    ("ReduceSum", [], {}, [], [21.0]),
    ("ReduceSum", [], {"dims": [], "keep_dims": 1}, [1, 1], [21.0]),
    ("Permute", [], {"dims": [1, 0]}, [3, 2], [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
]
TWO = [1.0, 2.0]
BAD = [
    ("Add", [TWO], {}, [2, 3]), ("Mul", [TWO], {}, [2, 3]), ("MatMul", [W], {}, [2, 3]),
    ("LayerNorm", [TWO], {}, [2, 3]), ("LayerNorm", [W, TWO], {}, [2, 3]),
    ("Mean", [], {"dims": [2]}, [2]), ("Mean", [], {"dims": [-3]}, [2]), ("Mean", [], {"dims": [0, 0]}, [3]),
    ("ReduceSum", [], {"dims": [1]}, [3]),
    ("Permute", [], {"dims": [0]}, [2, 3]), ("Permute", [], {"dims": [0, 0]}, [2, 3]),
    ("Permute", [], {"dims": [0, 2]}, [2, 3]), ("Permute", [], {"dims": [-1, 0]}, [3, 2]),
    ("Permute", [], {}, [2, 3]), ("Abs", [W], {}, [2, 3]), ("Add", [], {}, [2, 3]), ("None", [], {}, [2, 3]),
]


def write(folder, kind, weights, attributes, shape):
    names = [f"w{i}" for i in range(len(weights))]
    tensors = [{"name": "x", "dtype": "float32", "shape": [2, 3], "place": "input"}]
    tensors += [{"name": n, "dtype": "float32", "shape": [len(w)], "place": "weight", "values": w}
                for n, w in zip(names, weights)]
    tensors.append({"name": "y", "dtype": "float32", "shape": shape, "place": "output"})
    operator = {"name": "op", "type": kind, "inputs": ["x", *names], "output": "y", "attributes": attributes}
    description, path = os.path.join(folder, "in.json"), os.path.join(folder, "model")
    with open(description, "w") as file:
        json.dump({"tensors": tensors, "operators": [operator]}, file)
    subprocess.run([*TOOL, "write", description, path], check=True)
    return path


def one_buffer(acl, data):
    device, size = ctypes.c_void_p(), ctypes.c_size_t(len(data))
    assert acl.aclrtMalloc(ctypes.byref(device), size, 0) == 0
    assert acl.aclrtMemcpy(device, size, data, size, 1) == 0
    dataset = ctypes.c_void_p(acl.aclmdlCreateDataset())
    assert acl.aclmdlAddDatasetBuffer(dataset, ctypes.c_void_p(acl.aclCreateDataBuffer(device, size))) == 0
    return dataset, device, size


def run(acl, path, count):
    model = ctypes.c_uint32()
    code = acl.aclmdlLoadFromFile(path.encode(), ctypes.byref(model))
    if code != 0:
        return code
    inputs, _, _ = one_buffer(acl, struct.pack("<6f", *X))
    outputs, device, size = one_buffer(acl, bytes(4 * count))
    code = acl.aclmdlExecute(model, inputs, outputs)
    result = ctypes.create_string_buffer(4 * count)
    assert acl.aclrtMemcpy(result, size, device, size, 2) == 0
    assert acl.aclmdlUnload(model) == 0
    return code or struct.unpack(f"<{count}f", result.raw)


def main():
    acl = ctypes.CDLL(os.path.abspath(sys.argv[1]))
    for name in ("aclmdlCreateDataset", "aclCreateDataBuffer"):
        getattr(acl, name).restype = ctypes.c_void_p
    assert acl.aclInit(None) == 0 and acl.aclrtSetDevice(0) == 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind, weights, attributes, shape, wanted in GOOD:
            got = run(acl, write(folder, kind, weights, attributes, shape), len(wanted))
            if isinstance(got, int) or any(abs(a - b) > 1e-5 * max(1, abs(b)) for a, b in zip(got, wanted)):
                failed += 1
                print(f"{kind} {attributes}: {got}, not {wanted}")
        for kind, weights, attributes, shape in BAD:
            got = run(acl, write(folder, kind, weights, attributes, shape), 6)
            if not isinstance(got, int):
                failed += 1
                print(f"{kind} {attributes} was not refused: {got}")
    print(f"operators of models: {len(GOOD)} computed, {len(BAD)} refused; {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
