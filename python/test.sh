#!/usr/bin/env bash
# Tests the Python package as cargo builds it for tests, without installing it. Needs Python 3.10 or newer, with the module `venv`
# and PyPI, or with pytest and NumPy installed. It fails where they are missing; KERNLINK_PYTHON_TESTS=skip
# leaves the tests out.
#
#   bash python/test.sh
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-$PWD/target}"
python="${PYTHON:-python3}"

if [[ ${KERNLINK_PYTHON_TESTS:-run} == skip ]]; then
    echo "python/test.sh: KERNLINK_PYTHON_TESTS=skip: the Python package is not tested" >&2
    exit 0
fi

# Says what is missing, and what to do.
fail() {
    echo "python/test.sh: $1, so that the Python package cannot be tested: $2, or set KERNLINK_PYTHON_TESTS=skip" >&2
    exit 1
}

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    fail "$python is no Python 3.10 or newer" "install one, or name it by PYTHON"
fi
folder="$target/python-package"
rm -rf "$folder"
mkdir -p "$folder"
if ! "$python" -c 'import numpy, pytest' 2>/dev/null; then
    if ! { "$python" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet pytest numpy ml_dtypes; }; then
        fail "pytest and NumPy are missing, and cannot be installed" "install them for $python"
    fi
    python="$folder/venv/bin/python"
fi
# The features that the workspace's tests were built with, so that nothing is built twice. A test among what is built (any) brings
# those of the crates that tests use.
cargo build --locked --quiet --workspace --lib --test hook --features "${KERNLINK_FEATURES:-cli}"
cp -r python/kernlink "$folder/"
rm -f "$folder"/kernlink/_kernlink.*so
cp "$target/debug/lib_kernlink.so" "$folder/kernlink/_kernlink.abi3.so"
# A build with other features may replace the library meanwhile.
cp "$target/debug/libcustom_ops.so" "$folder/"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$folder" KERNLINK_CUSTOM_OPS="$folder/libcustom_ops.so"
tests="$PWD/python/tests"
# From elsewhere: the sources have no extension.
cd "$folder"
"$python" -m pytest -q -p no:cacheprovider "$tests"
