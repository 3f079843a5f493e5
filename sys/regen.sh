#!/usr/bin/env bash
# Regenerates sys/src/bindings from the headers of mock-acl. With --check it changes nothing and fails on a difference.
# Needs libclang (Debian: libclang-dev).
set -euo pipefail
cd "$(dirname "$0")/.."
make -s -C mock-acl
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
ASCEND_TOOLKIT_HOME="$PWD/mock-acl/build" ACL_SYS_GENERATE_INTO="$out" \
    cargo build --quiet -p acl-sys --no-default-features --features bindgen
rustfmt --edition 2024 --config-path rustfmt.toml "$out"/runtime.rs "$out"/operator_base.rs "$out"/operators.rs
if [ "${1-}" = --check ]; then
    diff -r "$out" sys/src/bindings && echo "the committed bindings are current"
else
    cp "$out"/*.rs sys/src/bindings/
fi
