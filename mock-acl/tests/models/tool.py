#!/usr/bin/env python3
"""tools/model.py: what it writes runs on the library, and what it shows is what was written.

tool.py LIBRARY
"""
import ctypes
import json
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = [sys.executable, os.path.join(HERE, "tools/model.py")]
DESCRIPTION = {
    "tensors": [
        {"name": "x", "dtype": "float32", "shape": [-1, 3], "place": "input"},
        {"name": "w", "dtype": "float32", "shape": [3, 2], "place": "weight", "values": [1, 0, 0, 1, 1, 1]},
        {"name": "b", "dtype": "float32", "shape": [2], "place": "weight", "values": [10, -10]},
        {"name": "p", "dtype": "float32", "shape": [-1, 2], "place": "inner"},
        {"name": "y", "dtype": "float32", "shape": [-1, 2], "place": "output"},
    ],
    "dynamic": "batch",
    "gears": [[1], [2]],
    "operators": [
        {"name": "product", "type": "MatMul", "inputs": ["x", "w"], "output": "p", "attributes": {}},
        {"name": "sum", "type": "Add", "inputs": ["p", "b"], "output": "y", "attributes": {"alpha": 2.0}},
    ],
}


def run(library, path):
    acl = ctypes.CDLL(library)
    for name in ("aclmdlCreateDataset", "aclCreateDataBuffer", "aclmdlGetDatasetBuffer"):
        getattr(acl, name).restype = ctypes.c_void_p
    model = ctypes.c_uint32()
    assert acl.aclInit(None) == 0 and acl.aclrtSetDevice(0) == 0
    assert acl.aclmdlLoadFromFile(path.encode(), ctypes.byref(model)) == 0

    def dataset(*parts):
        handle, memory = ctypes.c_void_p(acl.aclmdlCreateDataset()), []
        for data in parts:
            device = ctypes.c_void_p()
            size = ctypes.c_size_t(len(data))
            assert acl.aclrtMalloc(ctypes.byref(device), size, 0) == 0
            assert acl.aclrtMemcpy(device, size, data, size, 1) == 0
            buffer = ctypes.c_void_p(acl.aclCreateDataBuffer(device, size))
            assert acl.aclmdlAddDatasetBuffer(handle, buffer) == 0
            memory.append(device)
        return handle, memory

    inputs, _ = dataset(struct.pack("<6f", 1, 2, 3, 4, 5, 6), bytes(8))
    outputs, memory = dataset(bytes(16))
    assert acl.aclmdlSetDynamicBatchSize(model, inputs, ctypes.c_size_t(1), ctypes.c_uint64(2)) == 0
    assert acl.aclmdlExecute(model, inputs, outputs) == 0
    result = ctypes.create_string_buffer(16)
    size = ctypes.c_size_t(16)
    assert acl.aclrtMemcpy(result, size, memory[0], size, 2) == 0
    assert struct.unpack("<4f", result.raw) == (24, -15, 30, -9), struct.unpack("<4f", result.raw)


def main():
    with tempfile.TemporaryDirectory() as folder:
        description, path, both = (os.path.join(folder, n) for n in ("in.json", "model", "both"))
        json.dump(DESCRIPTION, open(description, "w"))
        subprocess.run(TOOL + ["write", description, path], check=True)
        subprocess.run(TOOL + ["bundle", both, path, path, "--variable-bytes", "32"], check=True)
        shown = json.loads(subprocess.run(TOOL + ["show", path], check=True, capture_output=True).stdout)
        assert shown["operators"] == DESCRIPTION["operators"] and shown["gears"] == DESCRIPTION["gears"]
        bundle = json.loads(subprocess.run(TOOL + ["show", both], check=True, capture_output=True).stdout)
        assert bundle == {"variable_bytes": 32, "models": [shown, shown]}
        run(sys.argv[1], path)
    print("model tool ok")


if __name__ == "__main__":
    main()
