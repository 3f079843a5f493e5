#!/bin/sh
# look_alike.sh files BUILD VERSION: the files that programs look for in a toolkit, the library and its headers apart.
# look_alike.sh set_env FOLDER: prints set_env.sh for a look-alike that stays in the absolute FOLDER.
set -eu
tools=$(dirname "$0")
quoted() { printf '%s\n' "$1" | sed "s/'/'\\\\''/g"; }

info() {
    mkdir -p "$(dirname "$1")"
    printf 'Version=%s\nversion_dir=mock-acl\n' "$version" > "$1"
}

files() {
    cd "$1"
    rm -rf bin compiler opp python runtime share tools
    # What aclsysGetCANNVersion and its neighbours read.
    for package in runtime bisheng-compiler hccl oam-tools ops-legacy; do
        info "share/info/$package/version.info"
    done
    # Folders that programs want to be there.
    for folder in compiler opp runtime; do
        info "$folder/version.info"
    done
    mkdir -p bin python/site-packages share/mock-acl
    echo 'Python modules of a toolkit would be here; mock-acl has none.' > python/site-packages/README
    printf 'package_name=mock-acl\nversion=%s\narch=%s\nos=linux\n' "$version" "$(uname -m)" \
        > share/mock-acl/ascend_toolkit_install.info
    cp "$tools/environment.sh" share/mock-acl/environment.sh
    cp "$tools/mock-acl" bin/mock-acl
    chmod 755 bin/mock-acl
    profiler
    printf 'runtime_running_version=[%s:mock-acl]\nVersion=%s\n' "$version" "$version" > version.cfg
    set_env_of_build > set_env.sh
}

# Where torch_npu looks for them; it refuses them when others may write there.
profiler() {
    mkdir -p tools/profiler/bin tools/profiler/profiler_tool/analysis/msprof
    cp "$tools/msprof" tools/profiler/bin/msprof
    cp "$tools/msprof.py" tools/profiler/profiler_tool/analysis/msprof/msprof.py
    chmod 755 tools/profiler/bin/msprof
    chmod 644 tools/profiler/profiler_tool/analysis/msprof/msprof.py
}

# A shell other than bash and zsh does not tell a sourced file its place: then it is where it was built.
set_env_of_build() {
    cat <<'S'
# Source it: bash, zsh and, where this folder was not moved, any POSIX shell.
if [ -n "${BASH_VERSION:-}" ]; then
    ASCEND_TOOLKIT_HOME=$(cd "$(dirname "${BASH_SOURCE:-.}")" && pwd)
elif [ -n "${ZSH_VERSION:-}" ]; then
    eval 'ASCEND_TOOLKIT_HOME=${${(%):-%x}:A:h}'
else
    ASCEND_TOOLKIT_HOME=
fi
S
    printf "[ -r \"\$ASCEND_TOOLKIT_HOME/lib64/libascendcl.so\" ] || ASCEND_TOOLKIT_HOME='%s'\n" "$(quoted "$(pwd)")"
    cat <<'S'
if [ -r "$ASCEND_TOOLKIT_HOME/lib64/libascendcl.so" ]; then
    . "$ASCEND_TOOLKIT_HOME/share/mock-acl/environment.sh"
else
    echo "set_env.sh: no lib64/libascendcl.so in $ASCEND_TOOLKIT_HOME; was this folder moved? Run make there" >&2
    unset ASCEND_TOOLKIT_HOME
    false
fi
S
}

# Absolute, as the real one.
set_env() {
    printf "export ASCEND_TOOLKIT_HOME='%s'\n" "$(quoted "$1")"
    echo '. "$ASCEND_TOOLKIT_HOME/share/mock-acl/environment.sh"'
}

tools=$(cd "$tools" && pwd)
case $1 in
    files) version=$3; files "$2" ;;
    set_env) set_env "$2" ;;
    *) echo "files or set_env?" >&2; exit 2 ;;
esac
