#!/bin/sh
# look_alike.sh BUILD: set_env.sh in every shell that is there, mock-acl run, and what programs look for in a toolkit.
set -eu
build=$(cd "$1" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset ASCEND_TOOLKIT_HOME ASCEND_HOME_PATH ASCEND_OPP_PATH LD_LIBRARY_PATH PYTHONPATH
fail() { echo "look-alike: $*"; exit 1; }
equal() { [ "$2" = "$3" ] || fail "$1: '$2', not '$3'"; }

moved="$folder/it's moved"
mkdir "$moved"
(cd "$build" && cp -R bin compiler lib64 opp python runtime share tools set_env.sh "$moved")
cat > "$folder/show.sh" <<'S'
set -eu
. "$1/set_env.sh"
. "$1/set_env.sh"
for name in "$ASCEND_HOME_PATH/runtime" "$ASCEND_HOME_PATH/compiler" "$ASCEND_OPP_PATH" "$ASCEND_AICPU_PATH" \
    "$PYTHONPATH" "$LD_LIBRARY_PATH/libhccl.so" "$LD_LIBRARY_PATH/libge_runner.so" "$LD_LIBRARY_PATH/libgraph.so" \
    "$LD_LIBRARY_PATH/libms_tools_ext.so" "$LD_LIBRARY_PATH/libc_sec.so" "$LD_LIBRARY_PATH/libprofapi.so"; do
    [ -e "$name" ] || { echo "no $name"; exit 1; }
done
[ "$(mock-acl home)" = "$ASCEND_TOOLKIT_HOME" ] && [ -n "$TOOLCHAIN_HOME" ]
echo "$ASCEND_TOOLKIT_HOME"
S
for shell in sh dash bash zsh; do
    command -v "$shell" >/dev/null || continue
    equal "$shell" "$("$shell" "$folder/show.sh" "$build")" "$build"
    case $shell in
        bash|zsh) equal "moved, $shell" "$("$shell" "$folder/show.sh" "$moved")" "$moved" ;;
    esac
done

# By a link, from a folder with a space, with arguments as they are and the program's own code.
ln -s "$moved/bin/mock-acl" "$folder/mock"
run() { "$folder/mock" run "$@"; }
equal home "$("$folder/mock" home)" "$moved"
equal arguments "$(run -- printf '%s|' 'a b' '' -c)" 'a b||-c|'
# shellcheck disable=SC2016
equal environment "$(run sh -c 'echo $ASCEND_OPP_PATH')" "$moved/opp"
code=0; run sh -c 'exit 41' || code=$?; equal "the program's code" $code 41
code=0; run no-such-program 2> "$folder/log" || code=$?; equal 'no program' $code 127
grep -q no-such-program "$folder/log" || fail 'the program that is missing has no name'
code=0; run 2> "$folder/log" || code=$?; equal 'no command' $code 125
code=0; run --nothing true 2> "$folder/log" || code=$?; equal 'an option' $code 125
run --help | grep -q MOCK_ACL_DEVICES || fail 'no help'
# What a toolkit has beside AscendCL, by its own header and library, in C and C++.
cat > "$folder/beside.c" <<'S'
#include "mstx/ms_tools_ext.h"
#include "profiling/aprof_pub.h"
#include "securec.h"
int main(void) {
    char text[4];
    mstxMarkA("mark", NULL);
    return strcpy_s(text, sizeof text, "abc") != EOK || MsprofSysCycleTime() == 0;
}
S
for compiler in "${CC:-cc} -std=c11 -x c" "${CXX:-c++} -std=c++14 -x c++"; do
    $compiler -Wall -Wextra -Wpedantic -Werror "$folder/beside.c" -I"$build/include" -L"$build/lib64" -lc_sec -lms_tools_ext \
        -lprofapi -Wl,-rpath-link,"$build/lib64" -o "$folder/beside"
    "$folder/mock" run "$folder/beside" || fail "a program beside AscendCL, $compiler"
done
rm "$moved/lib64/libascendcl.so"
code=0; run true 2> "$folder/log" || code=$?; equal 'no library' $code 125
grep -q 'libascendcl.so is missing' "$folder/log" || fail 'the library that is missing has no name'
echo "look-alike ok"
