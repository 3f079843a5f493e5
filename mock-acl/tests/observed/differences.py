"""The calls that may differ from the recordings: a table with the reason for each, compared exactly.

differences.tsv has one row a call: set (sequences), name (the seed), place (number of the call), kind (code: what the call gives;
text: only the code in the error text or the last error), recorded, here, and a reason, whose words stand in the rows of the set
'reason'.
"""
import csv
import os

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "differences.tsv")
COLUMNS = ["set", "name", "place", "kind", "recorded", "here", "reason"]


def rows():
    with open(TABLE) as f:
        return list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))


def check(of, found):
    """found: {(name, place): (kind, recorded, here)}. Prints what the table and the run do not share; true when nothing."""
    reasons = {r["name"] for r in rows() if r["set"] == "reason"}
    listed = {(r["name"], r["place"]): r for r in rows() if r["set"] == of}
    bad = 0
    for key, (kind, recorded, here) in found.items():
        r = listed.get(key)
        if r is not None and (r["kind"], r["recorded"], r["here"]) == (kind, recorded, here) and r["reason"] in reasons:
            continue
        bad += 1
        known = "" if r is None else f" (listed as {r['kind']} {r['recorded']} / {r['here']}, reason {r['reason']})"
        print(f"not listed: {of} {key[0]} {key[1]}: {kind}: recorded {recorded}, here {here}{known}")
    for key in listed.keys() - found.keys():
        bad += 1
        print(f"listed, but equal: {of} {key[0]} {key[1]}")
    return bad == 0
