"""The checks by name, "family/name"; a family is a module of families/."""

import importlib
import os

CHECKS = {}
FAMILIES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "families")


def add(name, function):
    if name in CHECKS:
        raise ValueError(f"two checks are named {name}")
    CHECKS[name] = function


def check(function):
    """A decorator: the check has the name of the function."""
    family = function.__module__.rpartition(".")[2]
    add(f"{family}/{function.__name__.replace('_', '-')}", function)
    return function


def load():
    for file in sorted(os.listdir(FAMILIES)):
        if file.endswith(".py") and file != "__init__.py":
            importlib.import_module(f"families.{file[:-3]}")
    return CHECKS
