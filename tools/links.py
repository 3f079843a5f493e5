#!/usr/bin/env python3
"""Relative links of all Markdown files lead to files and headings that are there."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
LINK = re.compile(r"\]\(\s*<?([^()\s>]+)>?[^()]*\)")


def read(path):
    try:
        return open(path, encoding="utf-8").read()
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{os.path.relpath(path, ROOT)}: cannot be read: {error}")


def documents():
    """Those that git knows or could, else all below the folder."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        return [name for name in listed.stdout.split("\0") if os.path.exists(os.path.join(ROOT, name)) and name]
    found = [os.path.join(at, name) for at, _, names in os.walk(ROOT) for name in names if name.endswith(".md")]
    return [os.path.relpath(path, ROOT) for path in found if "target" not in path.split(os.sep)]


def anchors(path):
    """The anchors that the headings of a file get."""
    found, count = set(), {}
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", FENCE.sub("", read(path)), re.M):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        seen = count.get(anchor, 0)
        count[anchor] = seen + 1
        found.add(f"{anchor}-{seen}" if seen else anchor)
    return found


def wrong(file, link):
    """What is wrong with a link of a file, or nothing."""
    if re.match(r"[a-z][a-z+.-]*:", link):
        return None
    path, _, anchor = link.partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(file), path)) if path else file
    if not os.path.exists(target):
        return "no such file"
    if anchor and target.endswith(".md") and anchor not in anchors(target):
        return "no such heading"
    return None


def main():
    count, bad = 0, []
    for name in documents():
        file = os.path.join(ROOT, name)
        text = re.sub(r"`[^`\n]*`", "`", FENCE.sub("", read(file)))
        for link in LINK.findall(text):
            count += 1
            why = wrong(file, link)
            if why:
                bad.append(f"{name}: {link}: {why}")
    print("\n".join(bad) if bad else f"{count} links lead somewhere")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
