#!/usr/bin/env bash
# Makes the same calls of the C API on Kernlink's library and on TensorFlow's, and shows where the answers differ:
#
#   bash capi/tests/compare/compare.sh PREFIX/lib/libtensorflow.so PYTHON [SCENARIO...]
#
# PYTHON has tensorflow-cpu 2.21.0. The texts of errors differ in many places; codes and values must not.
set -euo pipefail
library=$1 python=$2
shift 2
here=$(dirname "$0")
theirs=$("$python" -c 'import importlib.util as u; print(u.find_spec("tensorflow").submodule_search_locations[0])')
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
scenarios=("$@")
if [ $# = 0 ]; then
    mapfile -t scenarios < <(sed -n '/^@scenario/{n;s/^def \([a-z_]*\).*/\1/p}' "$here/calls.py")
fi
for scenario in "${scenarios[@]}"; do
    # One process for each, so that one that ends early takes no other with it.
    TF_CPP_MIN_LOG_LEVEL=3 "$python" "$here/calls.py" "$theirs/libtensorflow_cc.so.2" "$scenario" >>"$scratch/tensorflow" 2>"$scratch/log" ||
        echo "    ended early" >>"$scratch/tensorflow"
    "$python" "$here/calls.py" "$library" "$scenario" >>"$scratch/kernlink" 2>>"$scratch/errors" || echo "    ended early" >>"$scratch/kernlink"
done
cat "$scratch/errors" >&2
diff --unchanged-line-format= --old-line-format='T %L' --new-line-format='K %L' "$scratch/tensorflow" "$scratch/kernlink" || true
echo "$(wc -l <"$scratch/tensorflow") lines, of which $(diff --unchanged-line-format= --new-line-format= --old-line-format='%L' "$scratch/tensorflow" "$scratch/kernlink" | wc -l) differ"
