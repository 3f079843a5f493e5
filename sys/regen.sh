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
for file in "$out"/*.rs; do
    case "$file" in */calls.rs | */symbols.rs) ;; *) rustfmt --edition 2024 --config-path rustfmt.toml "$file" ;; esac
done
for file in $(cd "$out" && ls ./*.rs); do
    file=$(basename "$file" .rs)
    if [ "${1-}" = --check ]; then
        diff -u "sys/src/bindings/$file.rs" "$out/$file.rs"
    else
        cp "$out/$file.rs" sys/src/bindings/
    fi
done
echo "the bindings are current"
