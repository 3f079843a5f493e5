#!/usr/bin/env python3
"""Prints a program in C that defines every function that a header declares, for abidw to read."""
import re
import sys

text = open(sys.argv[1]).read()
declared = re.compile(r"^((?:const )?\w+ \*?\w+\([^;]*\));", re.M)
stub, count = declared.subn(r"\1 { __builtin_trap(); }", text)
assert count == len(re.findall(r"^[^ /*#\n][^;{}]*\bracl_\w+\(", text, re.M)), "a declaration that is not known"
print(stub)
