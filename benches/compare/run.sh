#!/bin/sh
# Builds Kernlink's side in release and compares it with TensorFlow and ONNX Runtime; arguments go to compare.py.
# KERNLINK_TF_PYTHON or --python names a Python that has TensorFlow 2.21.
set -eu
cd "$(dirname "$0")/../.."
cargo build --release --features cli --bin kernlink --example kernlink_side
release="${CARGO_TARGET_DIR:-target}/release"
exec python3 benches/compare/compare.py \
    --kernlink "$release/kernlink" --kernlink-side "$release/examples/kernlink_side" "$@"
