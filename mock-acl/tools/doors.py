#!/usr/bin/env python3
"""doors.py: what a room of src/ offers another one is declared in its door (room/room.h) and nowhere else, what its files
share in its other headers, and what one file uses is static; sources declare nothing of others. Tests count as the same
room. Inline functions, macros and what these call stand where their header is, which the door includes.

Reads declarations of functions and variables named mock_* outside of comments. tools/rooms.py of the repository says which
room may use which.
"""
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Of entry.h, which stubs include without the public headers; and the table that rooms above fill.
ELSEWHERE = {"mock_enter", "mock_unsupported", "mock_parts"}
IGNORED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
IN_SOURCE = re.compile(r"^(?!static\b|return\b|else\b)[A-Za-z_][\w *]*?\b(mock_\w+)\([^;{}]*\);", re.M)
BLOCK = re.compile(r"\{[^{}]*\}")


def code(path):
    try:
        with open(path, encoding="utf-8") as file:
            return IGNORED.sub(" ", file.read())
    except UnicodeDecodeError as error:
        sys.exit(f"{path}: cannot be read: {error}")


def room(path):
    return os.path.dirname(path)


def is_door(path):
    return os.path.basename(path) == os.path.basename(room(path)) + ".h"


def declarations(text):
    """Names that a header declares: statements on the level of the file, without types and inline functions."""
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    while BLOCK.search(text):
        text = BLOCK.sub(" @ ", text)
    text = re.sub(r"static inline[^@;]*@", ";", text)
    names = set()
    for statement in text.split(";"):
        statement = statement.strip()
        if re.match(r"(typedef|struct|enum|union|_Static_assert)\b", statement) and "(" not in statement.split("@")[0]:
            continue
        if statement.startswith("typedef"):
            continue
        first = re.search(r"\b(mock_\w+)\s*\(", statement)
        pointer = re.search(r"\(\*(mock_\w+)\)", statement)
        last = re.search(r"\b(mock_\w+)\s*(?:\[[^]]*\])?$", statement)
        found = pointer or (last if statement.startswith("extern") else first)
        if found:
            names.add(found[1])
    return names


def main():
    os.chdir(os.path.join(HERE, "src"))
    text = {path: code(path) for path in glob.glob("**/*.[ch]", recursive=True)}
    words = {path: set(re.findall(r"\bmock_\w+", said)) for path, said in text.items()}
    tests = set()
    for path in glob.glob("../tests/**/*.[ch]", recursive=True):
        tests |= set(re.findall(r"\bmock_\w+", code(path)))
    declared, wrong = {}, []
    for path in sorted(text):
        if path.endswith(".h"):
            for name in declarations(text[path]):
                if name in declared:
                    wrong.append(f"{name}: declared in {declared[name]} and in {path}")
                declared[name] = path
        else:
            wrong += [f"{path}: {name} is declared in a source" for name in IN_SOURCE.findall(text[path])]
    for name, path in sorted(declared.items()):
        # Beside the macros and inline functions that use it.
        in_macros = len(re.findall(rf"\b{name}\b", text[path])) > 1
        if name in ELSEWHERE or in_macros:
            continue
        users = {user for user in text if user != path and name in words[user] and name not in declarations_of(text, user)}
        outside = {room(user) for user in users} - {room(path)}
        if outside and not is_door(path):
            wrong.append(f"{path}: {name} is used in {', '.join(sorted(outside))}; its place is the door")
        if is_door(path) and not outside:
            wrong.append(f"{path}: no other room uses {name}; its place is a header inside")
        if not outside and len(users) < 2 and name not in tests:
            wrong.append(f"{path}: {name} is used in one file; it can be static")
    print("\n".join(wrong) or f"doors: {len(declared)} names, each declared where it belongs")
    return 1 if wrong else 0


def declarations_of(text, path, known={}):
    if path.endswith(".c"):
        return ()
    if path not in known:
        known[path] = declarations(text[path])
    return known[path]


if __name__ == "__main__":
    sys.exit(main())
