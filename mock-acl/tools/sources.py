"""Where the rules of a function come from, for the table in docs/functions.md.

Read from the recorded steps, from the checks of the conformance suite that call it, and from the comments at its
definition.
"""
import glob
import os
import re

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# In the order of the table. The pattern is what a source in brackets, or that of a check, begins with or names later.
KINDS = [(kind, re.compile(r"\b" + kind)) for kind in ("observed", "guide", "header", "implementation", "own choice")]
CALL = re.compile(r"\b(acl\w+)\(")


def read(pattern):
    return [open(path).read() for path in sorted(glob.glob(os.path.join(HERE, pattern), recursive=True))]


def kinds_in(text):
    return {kind for kind, pattern in KINDS if pattern.search(text)}


def add(found, names, kinds):
    for name in names:
        found.setdefault(name, set()).update(kinds)


def from_checks(found):
    """A check's source counts for the functions that it expects codes of, for all that it calls if there are none."""
    for text in read("tests/conformance/*.c"):
        for rule in re.split(r"^(?=RULE)", text, flags=re.M)[1:]:
            head, _, body = rule.partition("{\n")
            body = re.split(r"^}", body, flags=re.M)[0]
            judged = re.findall(r"\b(?:EXPECT|EITHER)\((acl\w+)\(", body)
            source = head.split('"')[1] if '"' in head else ""
            add(found, judged or CALL.findall(body), kinds_in(source))


def in_brackets(text):
    text = re.sub(r"\n \*", "", text)
    return kinds_in(" ".join(re.findall(r"\(((?:observed|guide|header|implementation|own choice)[^)]*)\)", text)))


def from_comments(found):
    """A comment at a function counts for it, the first one of a file for the functions that nothing else tells of."""
    for text in read("src/**/*.c"):
        first = in_brackets(text[: text.find("*/") + 2])
        for part in re.split(r"^}", text, flags=re.M):
            name = re.search(r"^MOCK_EXPORT [^(]*?\b(\w+)\(", part, re.M)
            if name:
                add(found, [name[1]], in_brackets(part))
                if not found[name[1]]:
                    add(found, [name[1]], first)


def sources():
    """The kinds by function, as text."""
    found = {}
    for text in read("tests/observed/probes.cpp"):
        add(found, CALL.findall(text), {"observed"})
    from_checks(found)
    from_comments(found)
    return {name: ", ".join(kind for kind, _ in KINDS if kind in kinds) for name, kinds in found.items()}
