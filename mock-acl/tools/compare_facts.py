"""Compares include/ with what the headers declare that no wheel carries: abi/runtime.tsv, those of the development
head, and abi/operators.tsv, those of the operators in CANN 8.1 and in the open repositories, functions only.

A line of these tables is a kind, a name and a value: the type of a function or a typedef, the value of an enum
constant with its enum and size, the size and alignment of a struct with the places of its fields where they were
read, the value of a constant. Types are spelled with the typedefs of the interface and compared in their canonical
form.
"""
import os
import re

FACTS = ["runtime", "operators"]
KINDS = ["function", "enum constant", "struct", "typedef", "constant"]


class Facts:
    """A table in the form of compare_headers.Headers."""

    def __init__(self, name, ours):
        self.items, self.names = {kind: {} for kind in KINDS}, {}
        lines = open(os.path.join(os.path.dirname(__file__), "..", "abi", f"{name}.tsv")).read().splitlines()[1:]
        for kind, name, value in (line.split("\t") for line in lines):
            self.items[kind][name] = value
        for kind in ("function", "typedef"):
            self.items[kind].update(canonical(self.items[kind], ours))


def canonical(types, ours):
    """The canonical forms of types, by name, after our headers."""
    text = "".join(f'#include "{name}"\n' for name in ["acl/acl.h", *ours.file_names()])
    text += "namespace facts {\n" + "".join(f"using {name} = {value};\n" for name, value in types.items()) + "}\n"
    found, kind = {}, ours.cindex.CursorKind
    for cursor in ours.parse(text).cursor.get_children():
        if cursor.kind == kind.NAMESPACE and cursor.spelling == "facts":
            aliases = [alias for alias in cursor.get_children() if alias.kind == kind.TYPE_ALIAS_DECL]
            found = {alias.spelling: alias.type.get_canonical().spelling.replace("facts::", "") for alias in aliases}
    return found


def places(shape):
    """A struct as compare_headers.py writes it, without the types of its fields."""
    size, fields = shape.split(": ", 1)
    return f"{size}: " + "; ".join(re.sub(r"^.* ([\w.]+ @\d+)$", r"\1", field) for field in fields.split("; "))


def known_part(ours, facts):
    """Our declarations as far as the facts go: their structs without types, or without fields."""
    class Part:
        items, types = dict(ours.items), ours.types
    structs = {name: places(shape) for name, shape in ours.items["struct"].items()}
    for name, shape in facts.items["struct"].items():
        name = ours.types.get(name, name)
        if ":" not in shape and name in structs:
            structs[name] = structs[name].split(":")[0]
    Part.items["struct"] = structs
    return Part


def operators(ours):
    """Our declarations in the headers of the operators."""
    class Part:
        items, types = {kind: {} for kind in KINDS}, ours.types
    for name, kind in ours.items["function"].items():
        if ours.places[name].startswith("aclnn"):
            Part.items["function"][name] = kind
    return Part
