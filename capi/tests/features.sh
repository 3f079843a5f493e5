#!/usr/bin/env bash
# libracl without some of its features, and without any: what a program sees of it, bound to the shared and to the static
# library. With all of them it is built in tests/c.rs and install.sh. Arguments are other sets of features to build with.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
# A folder of its own: each set has the same name for the library.
export CARGO_TARGET_DIR
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-$here/../target}")/features
trap 'rm -rf "$work" "$CARGO_TARGET_DIR"' EXIT
[ $# -gt 0 ] || set -- "" "dlopen dlpack mock" "cache dlopen mock" "cache dlopen dlpack"
cd "$here"
for features; do
    cargo rustc --quiet --lib --crate-type cdylib,staticlib --no-default-features --features "$features"
    symbols=$(nm -D --defined-only "$CARGO_TARGET_DIR/debug/libracl_capi.so" | awk '{ print $3 }' | sort)
    declared=$(python3 tools/stub.py include/racl.h | sed -n 's/^[^ *].*[ *]\(racl_[a-z0-9_]*\)(.*/\1/p' | sort)
    [ "$symbols" = "$declared" ] || { echo "with \"$features\" there are other functions than in racl.h"; exit 1; }
    for library in libracl_capi.so libracl_capi.a; do
        cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -Iinclude -Itests/c tests/c/features.c \
            "$CARGO_TARGET_DIR/debug/$library" "-Wl,-rpath,$CARGO_TARGET_DIR/debug" -lpthread -ldl -lm -o "$work/features"
        # shellcheck disable=SC2086
        (cd "$work" && RACL_LIBRARY=/no/such/libascendcl.so ./features $features) >"$work/printed" 2>&1 ||
            { echo "$library with \"$features\":"; cat "$work/printed"; exit 1; }
    done
done
printf 'libracl without some of its features, or any\t%d\tlibraries\t4\tmet\n' $#
