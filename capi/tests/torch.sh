#!/usr/bin/env bash
# examples/network.py with torch_npu on the mock: tensors of PyTorch by DLPack, in memory of the host and of the device.
# One line for a figure: name, value, unit, target, met or missed. Makes torch-check's environment where it is not there.
set -euo pipefail
cd "$(dirname "$0")/.."
make -s build FEATURES="mock dlpack" >&2
target=$(realpath -m "${CARGO_TARGET_DIR:-../target}")
mapfile -t run < <(cd ../apps/torch-check && python3 -c '
from runner import place
print(place.python_of(place.USUAL), *place.mock(), sep="\n")' | grep -v "^#")
packages=${XDG_CACHE_HOME:-$HOME/.cache}/racl/cffi
PYTHONPATH=$packages "${run[0]}" -c 'import cffi' 2>/dev/null ||
    "${run[0]}" -m pip install --quiet --disable-pip-version-check --target "$packages" cffi >&2
printed=$(RACL_LIBRARY=$(realpath ../mock-acl/build/lib64/libascendcl.so) PYTHONPATH=$packages \
    "${run[@]:1}" "${run[0]}" examples/network.py include/racl.h "$target/installed/libracl_capi.so")
echo "$printed" >&2
printf 'tensors of torch_npu by DLPack, from C\t%s\tplaces\tof 2\t%s\n' "$(grep -c '^the same ' <<<"$printed")" \
    "$([ "$(grep -c '^the same ' <<<"$printed")" = 2 ] && echo met || echo missed)"
