#!/usr/bin/env bash
# What a run of a plan costs through the C ABI: compiled as a program in Rust is, and as libracl is installed.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
# The features of install.sh, for which it is built once.
make -s -C "$here" install PREFIX="$prefix" FEATURES="mock dlpack"
cd "$here"
cargo bench --quiet --bench run -- "$prefix/lib/libracl.so"
