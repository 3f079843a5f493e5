#!/usr/bin/env bash
# Makes the Debian packages, looks into them, installs them into a folder with dpkg, and builds and runs programs
# against what is there.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$here/../target}
tools=${XDG_CACHE_HOME:-$HOME/.cache}/racl/tools
export PATH=$PATH:$tools/bin
cargo deb --version >/dev/null 2>&1 || cargo install --quiet --locked --root "$tools" cargo-deb@3.8.0

rm -rf "$CARGO_TARGET_DIR/debian"
# The features of install.sh, for which it is built once.
make -s -C "$here" deb FEATURES="mock dlpack" DEBFLAGS=--fast >/dev/null
runtime=$(echo "$CARGO_TARGET_DIR"/debian/libracl0.1_*.deb) dev=$(echo "$CARGO_TARGET_DIR"/debian/libracl-dev_*.deb)
has() { dpkg-deb -c "$1" | awk '{$1=$2=$3=$4=$5=""; print}' | grep -qxE " *\./$2" || { echo "$1 has no $2"; exit 1; }; }
version=$(dpkg-deb -f "$runtime" Version)
upstream=${version%-*}
has "$runtime" "usr/lib/libracl\.so\.$upstream"
has "$runtime" "usr/lib/libracl\.so\.0\.1 -> libracl\.so\.$upstream"
has "$dev" "usr/lib/libracl\.so -> libracl\.so\.0\.1"
for file in lib/libracl\\.a lib/pkgconfig/racl\\.pc lib/cmake/racl/raclConfig\\.cmake \
    lib/cmake/racl/raclConfigVersion\\.cmake include/racl\\.h include/racl\\.hpp include/racl_plan\\.hpp; do
    has "$dev" "usr/$file"
done
[[ "$(dpkg-deb -f "$runtime" Depends)" == *"libc6 (>= "*libgcc-s1* ]] || { echo "it depends on too little"; exit 1; }
[[ "$(dpkg-deb -f "$dev" Depends)" == *"libracl0.1 (= $version)"* ]] || { echo "dev is of another version"; exit 1; }

# As dpkg installs them, into a folder with nothing else.
root=$work/root
mkdir -p "$root"/var/lib/dpkg/{info,updates} "$root/var/log"
touch "$root"/var/lib/dpkg/{status,available}
dpkg --root="$root" --log="$work/log" --force-not-root --force-depends --force-script-chrootless \
    -i "$runtime" "$dev" >"$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; exit 1; }
dpkg --root="$root" -s libracl-dev | grep -q 'Status: install ok installed'

cp "$here"/examples/graph.c "$here"/examples/graph.cpp "$here"/tests/outside/CMakeLists.txt "$work"
cd "$work"
export PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root LD_LIBRARY_PATH=$root/usr/lib
read -ra flags <<<"$(pkg-config --cflags --libs racl)"
cc -std=c11 -Wall -Wextra -Wpedantic -Werror graph.c -I"$root/usr/include" -L"$root/usr/lib" "${flags[@]}" -o pc-c
cmake -S . -B build -DCMAKE_PREFIX_PATH="$root/usr" -DCMAKE_BUILD_TYPE=Release >cmake.log || { cat cmake.log; exit 1; }
cmake --build build >>cmake.log || { cat cmake.log; exit 1; }
programs=(pc-c build/c-racl build/cpp-racl build/c-static build/cpp-static)
for program in "${programs[@]}"; do
    printed=$(RACL_LIBRARY=mock "./$program" | tr '\n' ' ')
    [ "$printed" = "1 2 3 4 " ] || { echo "$program: $printed"; exit 1; }
done
printf 'Debian packages: programs that run on what they install\t%d\tprograms\t5\tmet\n' "${#programs[@]}"
