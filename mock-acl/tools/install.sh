#!/bin/sh
# install.sh install BUILD: puts the toolkit look-alike of BUILD into $DESTDIR$PREFIX, in place of an earlier one.
# install.sh uninstall: removes what the file below lists, as long as it is what was installed.
set -eu
umask 022

: "${PREFIX:?give a folder, as in: make install PREFIX=/opt/mock-acl}"
case $PREFIX in
    /*) ;;
    *) echo "PREFIX=$PREFIX is no absolute path" >&2; exit 1 ;;
esac
root=${DESTDIR:-}$PREFIX
# A line each: a kind, a checksum or the target of a link, and a name. Folders are those that an install made.
list=mock-acl.files
# Files come to their places from here when they are whole: one that is cut off would be taken for somebody else's.
part=mock-acl.part
marker='# mock-acl files 2'
trees='bin compiler include opp python runtime share tools'
tab=$(printf '\t')
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

refuse() {
    echo "$root$1; nothing was changed" >&2
    exit 1
}

# Of the names that are read, the lines of those that are in the folder $1. One process for all checksums.
lines() {
    : > "$scratch/files"
    while IFS= read -r name; do
        if [ -L "$1/$name" ]; then
            printf 'link\t%s\t%s\n' "$(readlink "$1/$name")" "$name"
        elif [ -f "$1/$name" ]; then
            echo "$name" >> "$scratch/files"
        elif [ -e "$1/$name" ]; then
            printf 'other\t-\t%s\n' "$name"
        fi
    done
    [ ! -s "$scratch/files" ] ||
        (cd "$1" && xargs cksum) < "$scratch/files" | sed "s/^\([0-9]* [0-9]*\) /file$tab\1$tab/"
}

names() { grep -v '^folder' "$1" | cut -f 3; }

# The lines of an earlier install, without names that none gives.
earlier() {
    [ -f "$root/$list" ] || return 0
    [ "$(head -n 1 "$root/$list")" = "$marker" ] || refuse "/$list is not a list of this program"
    while IFS=$tab read -r kind value name; do
        case $name in
            *..*) ;;
            .|lib64|lib64/*|version.cfg|set_env.sh) printf '%s\t%s\t%s\n' "$kind" "$value" "$name" ;;
            bin|bin/*|compiler|compiler/*|include|include/*|opp|opp/*|python|python/*|runtime|runtime/*|share|share/*|tools|tools/*)
                printf '%s\t%s\t%s\n' "$kind" "$value" "$name"
                ;;
        esac
    done < "$root/$list"
}

# The names of an earlier install that are no longer what it made.
changed() { names "$scratch/earlier" | lines "$root" | grep -vxF -f "$scratch/earlier" | cut -f 3; }

# The folder as it stands between single quotes.
quoted() { printf '%s\n' "$PREFIX" | sed "s/'/'\\\\''/g"; }

environment() { "$(dirname "$0")/look_alike.sh" set_env "$PREFIX"; }

# The lines of what is to be installed, folders left out.
wanted() {
    # shellcheck disable=SC2086
    (cd "$1" && find $trees -type f && echo lib64/libascendcl.so && echo version.cfg) |
        LC_ALL=C sort | lines "$1"
    printf 'file\t%s\tset_env.sh\n' "$(environment | cksum)"
    (cd "$1" && find lib64 -name 'lib*.so' ! -name libascendcl.so) | LC_ALL=C sort |
        sed "s/^/link${tab}libascendcl.so$tab/"
}

# shellcheck disable=SC2086
folders() { (cd "$1" && echo . && echo lib64 && find $trees -type d) | LC_ALL=C sort; }

# Never over a real toolkit, nor over files of anybody else.
check_own() {
    changed > "$scratch/changed"
    [ ! -s "$scratch/changed" ] || refuse " has a $(head -n 1 "$scratch/changed") that is not as it was installed"
    names "$scratch/earlier" > "$scratch/own"
    names "$scratch/wanted" | lines "$root" | cut -f 3 | grep -vxF -f "$scratch/own" > "$scratch/foreign" || true
    [ ! -s "$scratch/foreign" ] || refuse " has a $(head -n 1 "$scratch/foreign") that this did not install"
    [ -s "$scratch/earlier" ] || [ ! -e "$root/$part" ] || refuse " has a $part that this did not install"
    while IFS= read -r name; do
        [ -d "$root/$name" ] || { [ ! -e "$root/$name" ] && [ ! -L "$root/$name" ]; } ||
            refuse "/$name is no folder"
    done < "$scratch/folders"
}

remove() {
    [ -s "$scratch/earlier" ] || return 0
    changed > "$scratch/changed"
    while IFS= read -r name; do
        echo "$root/$name is not as it was installed; it is left there" >&2
    done < "$scratch/changed"
    names "$scratch/earlier" | grep -vxF -f "$scratch/changed" | (cd "$root" && xargs rm -f)
    rm -rf "${root:?}/$part"
    # The inner ones first; those with files of others stay. The list goes last, for who has to begin again.
    grep '^folder' "$scratch/earlier" | cut -f 3 | LC_ALL=C sort -r | while IFS= read -r name; do
        [ "$name" != . ] || { rm -f "$root/$list" && name=; }
        rmdir "$root/$name" 2>/dev/null || true
    done
    rm -f "$root/$list"
}

# The files $3 of the folder $1, a pattern, with the mode $2.
put() {
    find "$build/$1" -maxdepth 1 -type f -name "$3" -exec install -m "$2" -t "$root/$part" {} +
    find "$root/$part" -type f -exec mv -f -t "$root/$1" {} +
}

copy() {
    build=$1
    mkdir -p "$(dirname "$root")"
    # Folders of an earlier install that had to stay are still those of this program.
    while IFS= read -r name; do
        if [ ! -d "$root/$name" ] || grep -qxF -e "folder$tab-$tab$name" "$scratch/earlier"; then
            printf 'folder\t-\t%s\n' "$name"
        fi
    done < "$scratch/folders" > "$scratch/made"
    (echo "$marker" && cat "$scratch/made" "$scratch/wanted") > "$scratch/list"
    mkdir -p "$root"
    install -m 644 "$scratch/list" "$root/$list" || { rm -f "$root/$list"; exit 1; }
    mkdir "$root/$part"
    environment > "$scratch/set_env.sh"
    install -m 644 "$scratch/set_env.sh" "$root/$part"
    while IFS= read -r name; do
        mkdir -p "$root/$name"
        case $name in
            .) put . 644 version.cfg ;;
            lib64) put lib64 755 libascendcl.so ;;
            bin|tools/profiler/bin) put "$name" 755 '*' ;;
            *) put "$name" 644 '*' ;;
        esac
    done < "$scratch/folders"
    while IFS=$tab read -r kind value name; do
        [ "$kind" != link ] || ln -sfn "$value" "$root/$name"
    done < "$scratch/wanted"
    rmdir "$root/$part"
}

earlier > "$scratch/earlier"
case $1 in
    install)
        wanted "$2" > "$scratch/wanted"
        folders "$2" > "$scratch/folders"
        check_own
        remove
        copy "$2"
        echo "installed in $root; use it with: . '$(quoted)/set_env.sh'"
        ;;
    uninstall)
        [ -f "$root/$list" ] || refuse " has no $list, so this did not install it"
        remove
        echo "removed from $root"
        ;;
    *) echo "install or uninstall?" >&2; exit 2 ;;
esac
