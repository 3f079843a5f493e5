#!/usr/bin/env python3
"""report.py FILE: that a report of the suite is well-formed XML and names each check once."""
import collections
import sys
import xml.etree.ElementTree as ET

try:
    cases = [(case.get("classname"), case.get("name")) for case in ET.parse(sys.argv[1]).iter("testcase")]
except ET.ParseError as error:
    sys.exit(f"{sys.argv[1]}: {error}")
twice = [".".join(case) for case, times in collections.Counter(cases).items() if times > 1]
if twice or not cases:
    sys.exit(f"{sys.argv[1]}: {len(cases)} checks; named more than once: {twice}")
