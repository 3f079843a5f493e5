#!/usr/bin/env python3
"""Plays the recorded sequences on a library and compares every call with the real runtime's answer.

usage: compare.py PLAY [SEQUENCES.txt.gz] [--text] [--show N] [--only SEED] [--at-least N]
PLAY is play.cpp, built against the library. Prints how many sequences and calls agree, by function, the N most frequent differences
with the seed and place of the first, and a last line 'N passed, M failed' (sequences). A sequence is compared until the recording
ends in '!' (the real runtime crashed or hung there) or a call succeeds on one side and fails on the other: what follows has another
state. A recorded ? is not compared (the driver decided it, or two runs differed), '0 ~' is success with any output. --text also compares the codes in error texts and the last error.
"""
import collections, gzip, os, re, subprocess, sys, tempfile

NOTE = re.compile(r" ?msg (\S+) last (\d+)$")

def recorded(path):
    seqs, cur = {}, None
    for line in (gzip.open(path, "rt") if path.endswith(".gz") else open(path)):
        line = line.rstrip("\n")
        if line.startswith("= "): cur = seqs.setdefault(line.split()[1], []); head = line
        elif line.startswith("!"): cur.append((None, line, None))
        elif line: call, _, result = line.partition("|"); cur.append((call.strip(), result.strip(), None))
    return seqs

def played(path):
    seqs, cur = {}, None
    for line in open(path, errors="replace"):
        line = line.rstrip("\n")
        if line.startswith("== "): cur = seqs.setdefault(line[3:], [])
        elif cur is not None: cur.append(line)
    return seqs

def split(result):
    note = NOTE.search(result); plain = result[:note.start()] if note else result
    return plain.strip(), note.groups() if note else None

def main():
    flags = [a for a in sys.argv[1:] if a.startswith("--")]; args = [a for a in sys.argv[1:] if not a.startswith("--")]
    value = lambda name, default: int(args.pop(args.index(str(sys.argv[sys.argv.index(name) + 1])))) if name in flags else default
    show, only, least = value("--show", 40), value("--only", 0), value("--at-least", 0)
    table = args[1] if len(args) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "sequences.txt.gz")
    want = recorded(table)
    if only: want = {k: v for k, v in want.items() if k == str(only)}
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in"), os.path.join(folder, "out")
        text = gzip.open(table, "rt").read() if table.endswith(".gz") else open(table).read()
        if only: text = "= " + next(t for t in text.split("\n= ") if t.lstrip("= ").startswith(f"{only} ") or t.lstrip("= ").startswith(f"{only}\n")).lstrip("= ") + "\n"
        open(source, "w").write(text)
        env = dict(os.environ, PLAY_IDLE="1"); env.setdefault("MOCK_ACL_DEVICES", "2"); env.setdefault("MOCK_ACL_SOC", "Ascend910B1")
        subprocess.run([os.path.abspath(args[0]), source, out, "5000"], env=env, check=False, stdout=subprocess.DEVNULL)
        got = played(out)
    good = calls = same_calls = notes = same_notes = 0; differ = collections.Counter(); first = {}; by = collections.Counter(); bad_by = collections.Counter()
    for seed, steps in want.items():
        clean, here, text_off = True, got.get(seed, []), False
        for i, (call, result, _) in enumerate(steps):
            if call is None: break
            name = call.split()[1]; line = here[i].split(" ", 2)[2] if i < len(here) and len(here[i].split(" ", 2)) == 3 and here[i][0].isdigit() else "dead: " + (here[i] if i < len(here) else "nothing")
            (w, wn), (g, gn) = split(result), split(line)
            if only: print(f"{i:3} {call:40} real {result:40} here {line}" + ("" if w == g or w.startswith("?") else "   <--"))
            if w.startswith("?") or name in ("peek", "last", "errmsg") and text_off: continue
            calls += 1; by[name] += 1
            if w == g or w == "0 ~" and g.split()[:1] == ["0"]:
                same_calls += 1
                if "--text" in flags and wn and gn:
                    notes += 1; same_notes += wn == gn
                    if wn != gn: clean = False; text_off = True; differ[(name, f"{w} {wn}", f"{g} {gn}")] += 1; first.setdefault((name, f"{w} {wn}", f"{g} {gn}"), (seed, i))
                continue
            clean = False; text_off = True; bad_by[name] += 1; differ[(name, w, g)] += 1; first.setdefault((name, w, g), (seed, i))
            if (w.split()[0] == "0") != (g.split()[0] == "0") or name in ("ctxget", "cend", "getdev"): break
        good += clean
    for (name, w, g), n in differ.most_common(show): print(f"{n:6} {name:12} real {w:30} here {g:30} sequence {first[(name, w, g)][0]} call {first[(name, w, g)][1]}")
    print("agree by function, lowest first: " + ", ".join(f"{k} {100 * (1 - bad_by[k] / by[k]):.1f}%" for k in sorted(by, key=lambda k: 1 - bad_by[k] / by[k])[:25]))
    print(f"calls {same_calls} of {calls} ({100 * same_calls / max(1, calls):.3f} %)" + (f", texts {same_notes} of {notes}" if notes else ""))
    print(f"{good} passed, {len(want) - good} failed"); sys.exit(good < (least or len(want)))
main()
