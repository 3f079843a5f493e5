#!/usr/bin/env python3
"""Plays the recorded sequences on a library and compares every call with the real runtime's answer.

usage: compare.py PLAY [SEQUENCES.txt.gz] [--text] [--listed] [--show N] [--only SEED] [--write]
PLAY is play.cpp, built against the library. Prints how many sequences and calls agree, by function, the N most frequent differences
with the seed and place of the first, and a last line 'N passed, M failed' (sequences). A sequence is compared until the recording
ends in '!' (the real runtime crashed or hung there) or a call succeeds on one side and fails on the other: what follows has another
state. A recorded ? is not compared (the driver decided it, or two runs differed), '0 ~' is success with any output. --text also
compares the codes in error texts and the last error. Fails when a sequence differs; with --listed when what differs is not exactly
what ../differences.tsv lists. --write prints the rows for that file.
"""
import argparse
import collections
import gzip
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import differences  # noqa: E402

NOTE = re.compile(r" ?msg (\S+) last (\d+)$")
# Calls whose answer is about earlier calls; and those whose answer decides what all later calls mean.
TELLING = ("peek", "last", "errmsg")
DECIDING = ("ctxget", "cend", "getdev")


def read(path):
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as f:
        return f.read()


def recorded(text):
    seqs, cur = {}, None
    for line in text.split("\n"):
        if line.startswith("= "):
            cur = seqs.setdefault(line.split()[1], [])
        elif line.startswith("!"):
            cur.append((None, line))
        elif line:
            call, _, result = line.partition("|")
            cur.append((call.strip(), result.strip()))
    return seqs


def played(path):
    seqs, cur = {}, None
    with open(path, errors="replace") as f:
        for line in f:
            line = line.rstrip("\n")
            if line.startswith("== "):
                cur = seqs.setdefault(line[3:], [])
            elif cur is not None:
                cur.append(line)
    return seqs


def play(program, text):
    """As on the recordings' driver: two devices, work done at once, streams of graphs kept."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in"), os.path.join(folder, "out")
        with open(source, "w") as f:
            f.write(text)
        env = dict(os.environ, PLAY_IDLE="1")
        for name, value in (("DEVICES", "2"), ("SOC", "Ascend910B1"), ("GRAPH_STREAMS", "0")):
            env.setdefault("MOCK_ACL_" + name, value)
        subprocess.run(
            [os.path.abspath(program), source, out, "5000"], env=env, check=False, stdout=subprocess.DEVNULL)
        return played(out)


def split(result):
    note = NOTE.search(result)
    plain = result[: note.start()] if note else result
    return plain.strip(), note.groups() if note else None


def answer(lines, i):
    parts = lines[i].split(" ", 2) if i < len(lines) else []
    if len(parts) == 3 and parts[0].isdigit():
        return parts[2]
    return "dead: " + (lines[i] if i < len(lines) else "nothing")


class Count:
    def __init__(self):
        self.calls = self.same = self.texts = self.same_texts = 0
        self.by, self.bad = collections.Counter(), collections.Counter()


def compare(steps, lines, texts, count):
    """Yields (place, call, kind, recorded, here) for each call that differs."""
    told = False  # an earlier difference speaks through what only tells
    for i, (call, result) in enumerate(steps):
        if call is None:
            return
        name = call.split()[1]
        (want, want_note), (got, got_note) = split(result), split(answer(lines, i))
        if want.startswith("?") or (name in TELLING and told):
            continue
        count.calls += 1
        count.by[name] += 1
        if want == got or (want == "0 ~" and got.split()[:1] == ["0"]):
            count.same += 1
            if texts and want_note and got_note:
                count.texts += 1
                count.same_texts += want_note == got_note
                if want_note != got_note:
                    told = True
                    yield i, call, "text", " ".join((want, *want_note)), " ".join((got, *got_note))
            continue
        told = True
        count.bad[name] += 1
        yield i, call, "text" if name == "errmsg" else "code", want, got
        if (want.split()[0] == "0") != (got.split()[0] == "0") or name in DECIDING:
            return


def report(found, count, show):
    frequent, first = collections.Counter(), {}
    for (seed, place), (call, _, want, got) in found.items():
        key = call.split()[1], want, got
        frequent[key] += 1
        first.setdefault(key, (seed, place))
    for (name, want, got), n in frequent.most_common(show):
        seed, place = first[name, want, got]
        print(f"{n:6} {name:12} real {want:30} here {got:30} sequence {seed} call {place}")
    share = {k: 100 * (1 - count.bad[k] / count.by[k]) for k in count.by}
    lowest = sorted(share, key=share.get)[:15]
    print("agree by function, lowest first: " + ", ".join(f"{k} {share[k]:.1f}%" for k in lowest))
    print(f"calls {count.same} of {count.calls} ({100 * count.same / max(1, count.calls):.3f} %), "
          f"texts {count.same_texts} of {count.texts}")
    print(f"{len({s for s, _ in found})} sequences differ, "
          f"{len({s for (s, _), d in found.items() if d[1] == 'code'})} of them by codes or outputs")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("play")
    p.add_argument("table", nargs="?", default=os.path.join(HERE, "sequences.txt.gz"))
    for flag in ("--text", "--listed", "--write"):
        p.add_argument(flag, action="store_true")
    p.add_argument("--show", type=int, default=40)
    p.add_argument("--only")
    args = p.parse_args()
    text = read(args.table)
    if args.only:
        one = next(t for t in ("\n" + text).split("\n= ") if t.split("\n")[0].split()[:1] == [args.only])
        text = "= " + one + "\n"
    want = recorded(text)
    got = play(args.play, text)
    if args.only:
        for i, (call, result) in enumerate(want[args.only]):
            here = answer(got.get(args.only, []), i)
            print(f"{i:3} {call or '':40} real {result:40} here {here}{'' if here == result else '   <--'}")
    count, found = Count(), {}
    for seed, steps in want.items():
        for place, call, kind, w, g in compare(steps, got.get(seed, []), args.text, count):
            found[seed, str(place)] = (call, kind, w, g)
    if args.write:
        for (seed, place), (_, *rest) in found.items():
            print("sequences", seed, place, *rest, "?", sep="\t")
        return
    report(found, count, args.show)
    differing = len({seed for seed, _ in found})
    print(f"{len(want) - differing} passed, {differing} failed")
    if args.listed:
        sys.exit(not differences.check("sequences", {k: tuple(d[1:]) for k, d in found.items()}))
    sys.exit(differing != 0)


main()
