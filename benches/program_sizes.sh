#!/usr/bin/env bash
# How large programs are and how long it takes to link one again: writes the tables between the marks `program sizes` in
# docs/performance.md. It builds everything several times over, which takes an hour on four quiet cores and 20 GB of disk.
#
#   bash benches/program_sizes.sh
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/program-sizes"
unset KERNLINK_SELECT CARGO_INCREMENTAL
crate=$CARGO_TARGET_DIR/my-ops
mkdir -p "$CARGO_TARGET_DIR"
rm -rf "$crate"

rows() { # the table that is open
    table=$CARGO_TARGET_DIR/$1.md
    printf '%s\n' "$2" "$3" > "$table"
}
megabytes() { awk -v bytes="$(stat -c %s "$1")" 'BEGIN { printf "%.1f", bytes / 1e6 }'; }
row() { # label, file
    echo "| $1 | $(megabytes "$2") |" | tee -a "$table"
}

rows release '| release build, stripped | MB |' '|---|---:|'
cargo build --locked --release --features cli --bin kernlink
command=$CARGO_TARGET_DIR/release/kernlink
row 'the command, with all kernels of the CPU' "$command"
selection=$CARGO_TARGET_DIR/digits.select
"$command" select examples/digits/digits.pb > "$selection"
"$command" new "$crate" --kernlink .
manifest=$crate/Cargo.toml
cp "$manifest" "$CARGO_TARGET_DIR/new.toml"
in_crate() { cargo "$1" --manifest-path "$manifest" "${@:2}"; }

in_crate build --release --bin my-ops
row 'the command of a crate that `kernlink new` writes' "$CARGO_TARGET_DIR/release/my-ops"
in_crate build --release --example own --no-default-features
row 'its example, without the command (`default-features = false`)' "$CARGO_TARGET_DIR/release/examples/own"
sed -i 's/^kernlink = { \(.*\) }$/kernlink = { \1, default-features = false, features = ["array"] }/' "$manifest"
in_crate build --release --example own --no-default-features
row 'the same with one family of ops (Kernlink with `default-features = false, features = ["array"]`)' \
    "$CARGO_TARGET_DIR/release/examples/own"
KERNLINK_SELECT=$selection cargo build --locked --release --example run-model
row '`examples/run-model` with the selection of `examples/digits/digits.pb`' "$CARGO_TARGET_DIR/release/examples/run-model"

# What it takes to build the command again when only its `main.rs` has changed: the fastest of three.
again() {
    for _ in 1 2 3; do
        touch "$crate/src/main.rs"
        local begun; begun=$(date +%s.%N)
        in_crate build --quiet --bin my-ops
        awk -v begun="$begun" -v ended="$(date +%s.%N)" 'BEGIN { printf "%.1f\n", ended - begun }'
    done | sort -n | head -1
}
rows debug '| debug build of the crate that `kernlink new` writes | command, MB | `examples/own.rs`, MB | built again after a change of `main.rs`, s |' '|---|---:|---:|---:|'
debug() { # label
    in_crate build --bin my-ops --example own
    echo "| $1 | $(megabytes "$CARGO_TARGET_DIR/debug/my-ops") | $(megabytes "$CARGO_TARGET_DIR/debug/examples/own") | $(again) |" |
        tee -a "$table"
}
cp "$CARGO_TARGET_DIR/new.toml" "$manifest"
debug 'with its profile'
sed -i '/^\[profile\.dev/,/^$/d' "$manifest"
debug "with Cargo's defaults"

{
    sed '/^<!-- program sizes -->$/q' docs/performance.md
    cat "$CARGO_TARGET_DIR/release.md"
    echo
    cat "$CARGO_TARGET_DIR/debug.md"
    sed -n '/^<!-- \/program sizes -->$/,$p' docs/performance.md
} > "$CARGO_TARGET_DIR/performance.md"
cp "$CARGO_TARGET_DIR/performance.md" docs/performance.md
