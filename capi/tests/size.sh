#!/usr/bin/env bash
# How large libracl is as it is installed: stripped, without the mock.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
most=3000000
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
make -s -C "$here" install PREFIX="$prefix"
bytes=$(stat -L -c %s "$prefix/lib/libracl.so")
printf 'libracl.so, stripped, without the mock\t%s\tbytes\tat most %s\t%s\n' "$bytes" "$most" \
    "$([ "$bytes" -le "$most" ] && echo met || echo missed)"
[ "$bytes" -le "$most" ]
