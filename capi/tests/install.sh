#!/usr/bin/env bash
# Installs libracl into a folder and builds programs outside the repository against it: with pkg-config and with CMake,
# shared and static, on the built-in mock and on a library from outside.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
library=${1:?the path of an AscendCL library}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

make -s -C "$here" install PREFIX="$prefix" FEATURES="mock dlpack"
cp "$here"/examples/graph.c "$here"/examples/graph.cpp "$here"/tests/outside/CMakeLists.txt "$work"
cd "$work"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib

c=(cc -std=c11 -Wall -Wextra -Wpedantic -Werror graph.c) cpp=(c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror graph.cpp)
read -ra flags <<<"$(pkg-config --cflags --libs racl)"
"${c[@]}" "${flags[@]}" -o pc-c-shared
"${cpp[@]}" "${flags[@]}" -o pc-cpp-shared
# The linker takes the static library where it is told to.
read -ra flags <<<"$(pkg-config --static --cflags --libs racl | sed 's/-lracl/-l:libracl.a/')"
"${c[@]}" "${flags[@]}" -o pc-c-static
"${cpp[@]}" "${flags[@]}" -o pc-cpp-static
cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >cmake.log || { cat cmake.log; exit 1; }
cmake --build build >>cmake.log || { cat cmake.log; exit 1; }

version=$(pkg-config --modversion racl)
soname=$(readelf -d "$prefix/lib/libracl.so.$version" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ "$(readlink "$prefix/lib/$soname")" = "libracl.so.$version" ] || { echo "no link for the soname $soname"; exit 1; }
readelf -dW "$prefix/lib/libracl.so.$version" | grep -q 'FLAGS_1.*NODELETE' || { echo "dlclose takes it away"; exit 1; }
for program in pc-c-shared pc-cpp-shared build/c-racl build/cpp-racl; do
    readelf -d "$program" | grep -q "NEEDED.*\[$soname\]" || { echo "$program is not bound to $soname"; exit 1; }
done
for program in pc-c-static pc-cpp-static build/c-static build/cpp-static; do
    if readelf -d "$program" | grep -q 'NEEDED.*racl'; then echo "$program is bound to a shared library"; exit 1; fi
done
for chosen in mock "$library"; do
    for program in pc-{c,cpp}-{shared,static} build/{c,cpp}-{racl,static}; do
        printed=$(RACL_LIBRARY=$chosen "./$program" | tr '\n' ' ')
        [ "$printed" = "1 2 3 4 " ] || { echo "$program on $chosen: $printed"; exit 1; }
    done
done

# A program written against AscendCL alone, the three steps that move it, and one that keeps its own captures.
headers=$(cd "$(dirname "$library")/../include" && pwd)
steps=("$here"/examples/{adopt/{0_raw.c,1_operators.c,2_graph.c,3_all.cpp},own_graph.c})
for step in "${steps[@]}"; do
    compile=(cc -std=c11)
    [[ $step == *.c ]] || compile=(c++ -std=c++17)
    bound=()
    grep -q '"acl/acl.h"' "$step" && bound=("$library" "-Wl,-rpath,$(dirname "$library")")
    "${compile[@]}" -Wall -Wextra -Wpedantic -Werror -isystem "$headers" "$step" \
        $(pkg-config --cflags --libs racl) "${bound[@]}" -o step
    printed=$(RACL_LIBRARY=$library ./step)
    [ "$printed" = "$(printf '4 6 8 10 12 14 16 18\n6 8 10 12 14 16 18 20\n8 10 12 14 16 18 20 22')" ] ||
        { echo "$step: $printed"; exit 1; }
done

# A plan with calls of AscendCL inside a foreign operator.
for source in foreign.c foreign.cpp; do
    compile=(cc -std=c11)
    [[ $source == *.c ]] || compile=(c++ -std=c++17)
    "${compile[@]}" -Wall -Wextra -Wpedantic -Werror -isystem "$headers" "$here/examples/$source" \
        $(pkg-config --cflags --libs racl) "$library" "-Wl,-rpath,$(dirname "$library")" -lm -o foreign
    printed=$(RACL_LIBRARY=$library ./foreign)
    [ "$printed" = "$(printf '3 operators on 2 streams with 3 events, 0 lints\neager : %s\nreplay: %s' \
        'all as expected' 'all as expected')" ] || { echo "$source: $printed"; exit 1; }
done
bytes=$(stat -c %s "$prefix/lib/libracl.so.$version")
printf 'installed: %d programs on 2 libraries, %d steps; %s has %d bytes, with the mock\n' 8 ${#steps[@]} "$soname" \
    "$bytes"

# From Python, by the header alone.
python=${XDG_CACHE_HOME:-$HOME/.cache}/racl/python
PYTHONPATH=$python python3 -c 'import cffi, numpy' 2>/dev/null ||
    python3 -m pip install --quiet --root-user-action=ignore --target "$python" cffi numpy
RACL_LIBRARY=mock PYTHONPATH=$python python3 "$here/examples/network.py" "$prefix/include/racl.h" "$prefix/lib/libracl.so"

make -s -C "$here" uninstall PREFIX="$prefix"
left=$(find "$prefix" -type f -o -type l)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
