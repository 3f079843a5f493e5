#!/bin/sh
# install.sh install BUILD: puts the toolkit look-alike of BUILD into $DESTDIR$PREFIX, in place of an earlier one.
# install.sh uninstall: removes what the file below lists, and folders that are empty then.
set -eu
umask 022

: "${PREFIX:?give a folder, as in: make install PREFIX=/opt/mock-acl}"
case $PREFIX in
    /*) ;;
    *) echo "PREFIX=$PREFIX is no absolute path" >&2; exit 1 ;;
esac
root=${DESTDIR:-}$PREFIX
list=mock-acl.files

# Never over a real toolkit, nor over files of anybody else.
check_own() {
    [ ! -e "$root/$list" ] || return 0
    for name in lib64/libascendcl.so include/acl/acl.h version.cfg set_env.sh; do
        if [ -e "$root/$name" ] || [ -L "$root/$name" ]; then
            echo "$root has a $name that this did not install; nothing was changed" >&2
            exit 1
        fi
    done
}

remove() {
    [ -f "$root/$list" ] || return 0
    while IFS= read -r name; do
        case $name in
            *..*) ;;
            include/*|lib64/*|version.cfg|set_env.sh) rm -f "$root/$name" ;;
        esac
    done < "$root/$list"
    rm -f "$root/$list"
    for folder in include lib64; do
        [ ! -d "$root/$folder" ] || find "$root/$folder" -depth -type d -exec rmdir {} + 2>/dev/null || true
    done
    rmdir "$root" 2>/dev/null || true
}

# Absolute, as the real one: a shell other than bash does not tell a sourced file its place.
environment() {
    quoted=$(printf '%s\n' "$PREFIX" | sed "s/'/'\\\\''/g")
    printf "export ASCEND_TOOLKIT_HOME='%s'\n" "$quoted"
    printf "export ASCEND_HOME_PATH='%s'\n" "$quoted"
    printf "export LD_LIBRARY_PATH='%s'/lib64\"\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}\"\n" "$quoted"
}

copy() {
    build=$1
    mkdir -p "$root/lib64"
    (cd "$build" && find include -type f && find lib64 -name 'lib*.so' && echo version.cfg && echo set_env.sh) |
        LC_ALL=C sort > "$root/$list"
    (cd "$build" && find include -type d) | while IFS= read -r folder; do
        mkdir -p "$root/$folder"
    done
    while IFS= read -r name; do
        case $name in
            set_env.sh) environment > "$root/$name" ;;
            lib64/libascendcl.so) install -m 755 "$build/$name" "$root/$name" ;;
            lib64/*) ln -sfn libascendcl.so "$root/$name" ;;
            *) install -m 644 "$build/$name" "$root/$name" ;;
        esac
    done < "$root/$list"
    chmod 644 "$root/set_env.sh" "$root/$list"
}

check_own
remove
case $1 in
    install) copy "$2" && echo "installed in $root; use it with: . '$PREFIX/set_env.sh'" ;;
    uninstall) echo "removed from $root" ;;
    *) echo "install or uninstall?" >&2; exit 2 ;;
esac
