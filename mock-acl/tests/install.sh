#!/bin/sh
# install.sh BUILD: `make install` into a folder with a space, programs built with what set_env.sh exports alone.
set -eu
build=$1
make=${MAKE:-make}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix="$folder/a toolkit/it's \"here\""
# What the outer make passes on is not for the inner ones, and no toolkit of this machine may help.
unset MAKEFLAGS MFLAGS MAKELEVEL PREFIX DESTDIR ASCEND_TOOLKIT_HOME ASCEND_HOME_PATH LD_LIBRARY_PATH
into() { "$make" -s BUILD="$build" "$@" > "$folder/log" 2>&1; }
fail() { echo "install: $*"; cat "$folder/log"; exit 1; }
# Every name with its mode, target and content.
tree() { (cd "$1" && find . ! -type f -printf '%p %M %l\n' -o -printf '%p %M ' -exec cksum {} \; | LC_ALL=C sort); }

(umask 077 && into install PREFIX="$prefix") || fail "it failed"
tree "$prefix" > "$folder/first"
into install PREFIX="$prefix" || fail "a second time failed"
tree "$prefix" > "$folder/second"
cmp -s "$folder/first" "$folder/second" || fail "a second time gives something else"
for name in $(cd "$build/lib64" && ls); do
    [ -r "$prefix/lib64/$name" ] || fail "no lib64/$name"
done
diff -r "$build/include" "$prefix/include" > "$folder/log" || fail "include/ differs"
[ -z "$(find "$prefix" -type f ! -perm -444 -o -type d ! -perm -555)" ] || fail "not everybody can read all of it"

cat > "$folder/program.c" <<'C'
#include <acl/acl.h>
#include <aclnn/acl_meta.h>
#include <aclnnop/aclnn_add.h>
#include <stdint.h>
#include <stdio.h>

int main(void) {
    uint32_t count = 0;
    uint64_t bytes = 0;
    aclOpExecutor *executor = NULL;
    aclCANNPackageVersion version;
    int32_t number = 0;
    char package[] = "ops_legacy";
    /* From the files that set_env.sh points to. */
    if (aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version) != 0 || version.majorVersion[0] != '9') return 4;
    if (aclsysGetVersionNum(package, &number) != 0 || number != 90100000) return 5;
    if (aclInit(NULL) != 0 || aclrtGetDeviceCount(&count) != 0) return 1;
    /* Null tensors: 161001, from the operators' library. */
    if (aclnnAddGetWorkspaceSize(NULL, NULL, NULL, NULL, &bytes, &executor) != 161001) return 2;
    printf("%u\n", (unsigned)count);
    return aclFinalize() == 0 ? 0 : 3;
}
C
cp "$folder/program.c" "$folder/program.cpp"
cat > "$folder/use.sh" <<'S'
set -eu
. "$1/set_env.sh"
cd "$2"
for compiler in "${CC:-gcc} -std=c11 program.c" "${CXX:-g++} -std=c++14 program.cpp"; do
    $compiler -Wall -Wextra -Werror -I"$ASCEND_TOOLKIT_HOME/include" -L"$ASCEND_TOOLKIT_HOME/lib64" \
        -lascendcl -lnnopbase -lopapi -o program
    [ "$(MOCK_ACL_DEVICES=3 ./program)" = 3 ]
done
S
for shell in sh bash; do
    "$shell" "$folder/use.sh" "$prefix" "$folder" > "$folder/log" 2>&1 || fail "a program with $shell"
done

into install PREFIX=/opt/mock DESTDIR="$folder/staged" || fail "with DESTDIR"
grep -qx "export ASCEND_TOOLKIT_HOME='/opt/mock'" "$folder/staged/opt/mock/set_env.sh" ||
    fail "DESTDIR is in set_env.sh"

# Files of others stay, and a toolkit that this did not install is refused.
echo theirs > "$prefix/include/acl/theirs.h"
into uninstall PREFIX="$prefix" || fail "uninstall"
[ "$(cd "$prefix" && find . -type f)" = ./include/acl/theirs.h ] || fail "uninstall left or took something else"
into uninstall PREFIX=/opt/mock DESTDIR="$folder/staged" || fail "uninstall with DESTDIR"
[ ! -e "$folder/staged/opt/mock" ] || fail "uninstall left the folder"
mkdir -p "$folder/real/lib64" && echo real > "$folder/real/lib64/libascendcl.so"
for what in install uninstall; do
    into "$what" PREFIX="$folder/real" && fail "$what in a toolkit of somebody else"
    [ "$(cat "$folder/real/lib64/libascendcl.so")" = real ] || fail "$what changed a toolkit of somebody else"
done
# One library of a real toolkit, such as that of a package with operators only, or one header.
for name in lib64/libnnopbase.so include/aclnn/acl_meta.h; do
    rm -rf "$folder/part" && mkdir -p "$folder/part/${name%/*}" && echo real > "$folder/part/$name"
    tree "$folder/part" > "$folder/before"
    for what in install uninstall; do
        into "$what" PREFIX="$folder/part" && fail "$what beside a $name of somebody else"
        tree "$folder/part" > "$folder/after"
        cmp -s "$folder/before" "$folder/after" || fail "$what changed a folder with a $name of somebody else"
    done
    grep -q "nothing was changed" "$folder/log" || fail "no word about what is there"
done

# What came after the install: another library under our name, files and folders, one of them empty.
late="$folder/late"
mkdir -p "$late/share" "$late/include/theirs/empty"
into install PREFIX="$late" || fail "beside a folder of somebody else"
mkdir -p "$late/lib64/plugins"
rm "$late/lib64/libascendcl.so" "$late/lib64/libnnopbase.so"
echo real > "$late/lib64/libascendcl.so"
ln -s libreal.so "$late/lib64/libnnopbase.so"
tree "$late" > "$folder/before"
into install PREFIX="$late" && fail "over a library that came later"
tree "$late" > "$folder/after"
cmp -s "$folder/before" "$folder/after" || fail "a refused install changed something"
into uninstall PREFIX="$late" || fail "uninstall beside a library that came later"
grep -q "libascendcl.so is not as it was installed" "$folder/log" || fail "no word about what was left"
(cd "$late" && find . | LC_ALL=C sort) > "$folder/after"
printf '%s\n' . ./include ./include/theirs ./include/theirs/empty ./lib64 ./lib64/libascendcl.so \
    ./lib64/libnnopbase.so ./lib64/plugins ./share > "$folder/before"
cmp -s "$folder/before" "$folder/after" || { cp "$folder/after" "$folder/log"; fail "uninstall left or took more"; }
[ "$(cat "$late/lib64/libascendcl.so")" = real ] || fail "uninstall changed a library that came later"

# An install that ends in the middle of a file, as on a full disk, leaves no file of somebody else.
mkdir "$folder/bin"
cat > "$folder/bin/install" <<S
#!/bin/sh
# install -m MODE FILE TARGET, or install -m MODE -t FOLDER FILE...; ends within the header acl_rt.h.
for file; do
    case \$file in
        "\$4") ;;
        */acl/acl_rt.h) head -c 100 "\$file" > "\$([ -d "\$4" ] && echo "\$4/acl_rt.h" || echo "\$4")"; exit 1 ;;
    esac
done
exec $(command -v install) "\$@"
S
chmod +x "$folder/bin/install"
for what in install uninstall; do
    (PATH="$folder/bin:$PATH" && into install PREFIX="$folder/cut") && fail "an install that is cut off went well"
    [ -e "$folder/cut/mock-acl.files" ] || fail "an install that is cut off has no list"
    into "$what" PREFIX="$folder/cut" || fail "$what after an install that was cut off"
done
[ ! -e "$folder/cut" ] || fail "uninstall left something of an install that was cut off"
into install && fail "without PREFIX"
into install PREFIX=relative && fail "with a relative PREFIX"
echo "install ok"
