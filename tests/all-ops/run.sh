#!/usr/bin/env bash
# Declares every op of an OpList through #[register_op] in a scratch crate, checks that each declaration equals the
# OpList's, and says what that costs: the time to build the crate and what it adds to a program.
#
#   bash tests/all-ops/run.sh                # every op of TensorFlow 2.21, without documentation
#   bash tests/all-ops/run.sh OPS.pb         # another serialized OpList (see README.md)
#   RELEASE=0 bash tests/all-ops/run.sh ...  # without the release builds
set -euo pipefail
ops=$(realpath "${1:-"$(dirname "$0")/../tensorflow/ops.pb"}")
cd "$(dirname "$0")"
root=$(realpath ../..)
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
mkdir -p "$CARGO_TARGET_DIR"
crate=$(realpath "$CARGO_TARGET_DIR")/all-ops-declared

seconds() { # command...: runs it and prints how long it took
    local start=$EPOCHREALTIME
    "$@" >&2
    awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", b - a }'
}

rm -rf "$crate"
mkdir -p "$crate/src"
cp "$ops" "$crate/ops.pb"
cp -r template/tests "$crate/tests"
cp -r template/bin "$crate/src/bin"
sed "s|@ROOT@|$root|" template/Cargo.toml >"$crate/Cargo.toml"
cargo run --locked --quiet -- "$ops" "$crate"
manifest=(--manifest-path "$crate/Cargo.toml")
# The same versions of the dependencies as the project's.
cp ../../Cargo.lock "$crate/Cargo.lock"

measure() { # profile folder flags...
    local profile=$1 folder=$CARGO_TARGET_DIR/$2
    shift 2
    cargo build --quiet "${manifest[@]}" "$@" -p kernlink-framework -p kernlink-macros
    cargo clean --quiet "${manifest[@]}" "$@" -p declared
    echo "$profile: the crate without its dependencies builds in $(seconds cargo build --quiet "${manifest[@]}" "$@" --lib)"
    cargo build --quiet "${manifest[@]}" "$@" --bins
    echo "$profile: a program without the ops $(stat -c %s "$folder/without") bytes, with them $(stat -c %s "$folder/with") bytes"
    "$folder/with"
}

measure dev debug
[ "${RELEASE:-1}" = 0 ] || measure release release --release
cargo test --quiet "${manifest[@]}" --test equal
