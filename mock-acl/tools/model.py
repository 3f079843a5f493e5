#!/usr/bin/env python3
"""Writes and shows offline models of mock-acl (docs/model-format.md).

model.py write IN.json OUT      a model from its description
model.py bundle OUT MODEL...    several models in one container; --variable-bytes N for the size of variable weights
model.py show FILE              what a container holds, as the description without the bytes of weights

The description:
{
  "tensors": [{"name": "x", "dtype": "float32", "shape": [-1, 4], "place": "input", "range": [[1, 8], [4, 4]]},
              {"name": "w", "dtype": "float32", "shape": [4, 2], "place": "weight", "values": [1, 2, ...]},
              {"name": "v", "dtype": "float32", "shape": [2], "place": "external", "file": "v.bin", "offset": 0},
              {"name": "y", "dtype": "float32", "shape": [-1, 2], "place": "output"}],
  "dynamic": "batch", "gears": [[1], [4]],
  "operators": [{"name": "product", "type": "MatMul", "inputs": ["x", "w"], "output": "y", "attributes": {}}]
}
`format` of a tensor is a number of aclFormat, 2 (ND) by default. Values of weights are a flat list.
"""
import json
import struct
import sys

MAGIC, VERSION, MODEL, BUNDLE = b"MOCKACLM", 1, 1, 2
HEADER = "<8sIIQQIIIIQ8x"
PLACES = ["input", "output", "inner", "weight", "external"]
DYNAMIC = ["none", "batch", "image", "dims"]
# Name: number of aclDataType, size, letter of struct.
DTYPES = {
    "float32": (0, 4, "f"), "float16": (1, 2, "e"), "int8": (2, 1, "b"), "int32": (3, 4, "i"),
    "uint8": (4, 1, "B"), "int16": (6, 2, "h"), "int64": (9, 8, "q"), "float64": (11, 8, "d"),
    "bool": (12, 1, "?"), "bfloat16": (27, 2, "H"),
}
ALIGN = 64


def checksum(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def text(value):
    data = value.encode()
    if len(data) > 65535 or b"\0" in data:
        sys.exit(f"no text for a container: {value[:40]!r}")
    return struct.pack("<H", len(data)) + data + b"\0"


def header(kind, body, tensors, operators=0, gears=0, dynamic=0, weights=0):
    return struct.pack(HEADER, MAGIC, VERSION, kind, len(body), checksum(body), tensors, operators, gears, dynamic,
                       weights)


def count(shape):
    total = 1
    for size in shape:
        total *= size
    return total


def values_of(tensor):
    letter = DTYPES[tensor["dtype"]][2]
    values = tensor["values"]
    if len(values) != count(tensor["shape"]):
        sys.exit(f"{tensor['name']}: {len(values)} values for the shape {tensor['shape']}")
    if tensor["dtype"] == "bfloat16":
        return b"".join(struct.pack("<f", v)[2:] for v in values)
    return struct.pack(f"<{len(values)}{letter}", *values)


def tensor_bytes(tensor, weights):
    number, size, _ = DTYPES[tensor["dtype"]]
    place, shape, ranges = tensor["place"], tensor["shape"], tensor.get("range")
    out = text(tensor["name"]) + struct.pack("<iiBBB", number, tensor.get("format", 2), PLACES.index(place),
                                             len(shape), ranges is not None)
    out += struct.pack(f"<{len(shape)}q", *shape)
    for low, high in ranges or []:
        out += struct.pack("<qq", low, high)
    if place == "weight":
        weights.extend(b"\0" * (-len(weights) % ALIGN))
        out += struct.pack("<QQ", len(weights), count(shape) * size)
        weights.extend(values_of(tensor))
    elif place == "external":
        out += struct.pack("<QQ", tensor.get("offset", 0), count(shape) * size) + text(tensor["file"])
    return out


def attribute_bytes(name, value):
    if isinstance(value, (bool, int)):
        return text(name) + struct.pack("<Bq", 1, int(value))
    if isinstance(value, float):
        return text(name) + struct.pack("<Bd", 2, value)
    if isinstance(value, list):
        return text(name) + struct.pack(f"<BI{len(value)}q", 3, len(value), *value)
    return text(name) + b"\4" + text(value)


def operator_bytes(operator, index):
    inputs, attributes = operator["inputs"], operator.get("attributes", {})
    out = text(operator["name"]) + text(operator["type"]) + struct.pack("<BB", len(inputs), len(attributes))
    out += struct.pack(f"<{len(inputs) + 1}I", *(index[n] for n in inputs + [operator["output"]]))
    return out + b"".join(attribute_bytes(*item) for item in attributes.items())


def model(description):
    tensors, operators = description["tensors"], description["operators"]
    index = {tensor["name"]: i for i, tensor in enumerate(tensors)}
    gears = description.get("gears", [])
    weights = bytearray()
    body = b"".join(tensor_bytes(tensor, weights) for tensor in tensors)
    body += b"".join(struct.pack(f"<{len(gear)}Q", *gear) for gear in gears)
    body += b"".join(operator_bytes(operator, index) for operator in operators)
    body += bytes(weights)
    dynamic = DYNAMIC.index(description.get("dynamic", "none"))
    return header(MODEL, body, len(tensors), len(operators), len(gears), dynamic, len(weights)) + body


def bundle(models, variable_bytes):
    body = struct.pack(f"<{len(models)}Q", *map(len, models)) + b"".join(models)
    return header(BUNDLE, body, len(models), weights=variable_bytes) + body


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def text(self):
        size = self.take("H")
        value = self.data[self.at:self.at + size].decode()
        self.at += size + 1
        return value


def show_tensor(reader):
    names = {number: name for name, (number, _, _) in DTYPES.items()}
    tensor = {"name": reader.text()}
    number, form, place, rank, ranged = reader.take("iiBBB")
    tensor.update(dtype=names.get(number, number), format=form, place=PLACES[place])
    tensor["shape"] = [reader.take("q") for _ in range(rank)]
    if ranged:
        tensor["range"] = [list(reader.take("qq")) for _ in range(rank)]
    if place >= 3:
        tensor["offset"], tensor["size"] = reader.take("QQ")
    if place == 4:
        tensor["file"] = reader.text()
    return tensor


def show_operator(reader, tensors):
    operator = {"name": reader.text(), "type": reader.text()}
    inputs, attributes = reader.take("BB")
    operator["inputs"] = [tensors[reader.take("I")]["name"] for _ in range(inputs)]
    operator["output"] = tensors[reader.take("I")]["name"]
    found = {}
    for _ in range(attributes):
        name, kind = reader.text(), reader.take("B")
        if kind == 3:
            found[name] = [reader.take("q") for _ in range(reader.take("I"))]
        else:
            found[name] = reader.text() if kind == 4 else reader.take("q" if kind == 1 else "d")
    operator["attributes"] = found
    return operator


def show(data):
    magic, version, kind, size, total, tensors, operators, gears, dynamic, weights = struct.unpack_from(HEADER, data)
    if magic != MAGIC or version != VERSION:
        sys.exit("no container of mock-acl")
    body = data[64:]
    if len(body) != size or checksum(body) != total:
        sys.exit("the container is damaged")
    reader = Reader(body)
    if kind == BUNDLE:
        sizes = [reader.take("Q") for _ in range(tensors)]
        parts = []
        for part in sizes:
            parts.append(show(body[reader.at:reader.at + part]))
            reader.at += part
        return {"variable_bytes": weights, "models": parts}
    found = [show_tensor(reader) for _ in range(tensors)]
    open_sizes = sum(size < 0 for t in found if t["place"] == "input" for size in t["shape"])
    width = open_sizes if dynamic == 3 else dynamic
    rows = [[reader.take("Q") for _ in range(width)] for _ in range(gears)]
    steps = [show_operator(reader, found) for _ in range(operators)]
    return {"tensors": found, "dynamic": DYNAMIC[dynamic], "gears": rows, "operators": steps, "weight_bytes": weights}


def main():
    arguments = sys.argv[1:]
    if len(arguments) == 3 and arguments[0] == "write":
        open(arguments[2], "wb").write(model(json.load(open(arguments[1]))))
    elif len(arguments) >= 3 and arguments[0] == "bundle":
        variable = 0
        if "--variable-bytes" in arguments:
            at = arguments.index("--variable-bytes")
            variable = int(arguments[at + 1])
            del arguments[at:at + 2]
        models = [open(path, "rb").read() for path in arguments[2:]]
        open(arguments[1], "wb").write(bundle(models, variable))
    elif len(arguments) == 2 and arguments[0] == "show":
        print(json.dumps(show(open(arguments[1], "rb").read()), indent=2))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
