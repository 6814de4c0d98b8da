#!/usr/bin/env bash
# How large programs are, what each family of ops adds, and how long it takes to link a program again: writes the tables between
# the marks `program sizes` and `family sizes` in docs/performance.md. It builds everything several times over, which takes an
# hour on four quiet cores and 20 GB of disk.
#
#   bash benches/program_sizes.sh
#   bash benches/program_sizes.sh families   # only what each family adds; KERNLINK_COMMAND is a built command, if there is one
set -euo pipefail
[ -z "${KERNLINK_COMMAND:-}" ] || KERNLINK_COMMAND=$(realpath "$KERNLINK_COMMAND")
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/program-sizes"
unset KERNLINK_SELECT CARGO_INCREMENTAL
case "${1:-all}" in all | families) part=${1:-all} ;; *) echo "usage: $0 [families]" >&2; exit 2 ;; esac
for name in 'program sizes' 'family sizes'; do
    for mark in "<!-- $name -->" "<!-- /$name -->"; do
        grep -qxF "$mark" docs/performance.md || { echo "$0: docs/performance.md has no line \`$mark\`" >&2; exit 1; }
    done
done
crate=$CARGO_TARGET_DIR/my-ops
mkdir -p "$CARGO_TARGET_DIR"
rm -rf "$crate"

rows() { # the table that is open
    table=$CARGO_TARGET_DIR/$1.md
    printf '%s\n' "$2" "$3" > "$table"
}
write_tables() { # name of the marks, names of the tables
    {
        sed "/^<!-- $1 -->\$/q" docs/performance.md
        for name in "${@:2}"; do
            echo
            cat "$CARGO_TARGET_DIR/$name.md"
        done
        echo
        sed -n "/^<!-- \/$1 -->\$/,\$p" docs/performance.md
    } > "$CARGO_TARGET_DIR/performance.md"
    cp "$CARGO_TARGET_DIR/performance.md" docs/performance.md
}
megabytes() { awk -v bytes="$(stat -c %s "$1")" 'BEGIN { printf "%.1f", bytes / 1e6 }'; }
row() { # label, file
    echo "| $1 | $(megabytes "$2") |" | tee -a "$table"
}

command=
[ "$part" = all ] || command=${KERNLINK_COMMAND:-}
if [ -z "$command" ]; then
    cargo build --locked --release --features cli --bin kernlink
    command=$CARGO_TARGET_DIR/release/kernlink
fi
"$command" new "$crate" --kernlink .
manifest=$crate/Cargo.toml
cp "$manifest" "$CARGO_TARGET_DIR/new.toml"
in_crate() { cargo "$1" --manifest-path "$manifest" "${@:2}"; }
edit() { # sed's script, for the manifest
    sed "$1" "$manifest" > "$manifest.new"
    ! cmp -s "$manifest" "$manifest.new" || { echo "$0: the manifest has nothing for \`$1\`" >&2; exit 1; }
    mv "$manifest.new" "$manifest"
}

with_features() { # features of Kernlink that the crate has, each in quotes
    cp "$CARGO_TARGET_DIR/new.toml" "$manifest"
    edit "s/^kernlink = { \(.*\) }\$/kernlink = { \1, default-features = false, features = [$1] }/"
}

# What each family adds to the example of that crate, and all of them together: several share code, and some bring others.
families() {
    local all family base bytes label
    all=$(sed -n 's/^default = \[\(.*\)\]$/\1/p' Cargo.toml)
    local more='"audio" "data" "image_codecs" "jxl" "learning" "linear_algebra" "parsing" "signal"'
    rows families '| the example with | MB | more than with none, MB |' '|---|---:|---:|'
    own=$CARGO_TARGET_DIR/release/examples/own
    for family in '' ${all//,/} $more "$all" "$all, ${more// /, }"; do
        with_features "$family"
        in_crate build --release --example own --no-default-features
        bytes=$(stat -c %s "$own")
        case $family in
            '') base=$bytes label='no family: what is always there' ;;
            "$all") label='all families of `default`' ;;
            "$all,"*) label='all families' ;;
            *) label="\`${family//\"/}\`" ;;
        esac
        awk -v label="$label" -v bytes="$bytes" -v base="$base" \
            'BEGIN { printf "| %s | %.1f | %.1f |\n", label, bytes / 1e6, (bytes - base) / 1e6 }' | tee -a "$table"
    done
    write_tables 'family sizes' families
}
if [ "$part" = families ]; then
    families
    exit
fi

rows release '| release build, stripped | MB |' '|---|---:|'
row 'the command, with all kernels of the CPU' "$command"
rows parts '| part of the command | MB |' '|---|---:|'
size -A "$command" | awk '
    /^\.text/ { code += $2 } /^\.(eh_frame|eh_frame_hdr|gcc_except_table)/ { unwind += $2 } /^\.rel(a|r\.)/ { relocations += $2 }
    /^\.(rodata|data\.rel\.ro|data|got)/ { constants += $2 } /^linkme/ { lists += $2 }
    function row(label, bytes) { printf "| %s | %.1f |\n", label, bytes / 1e6 }
    END {
        row("code", code)
        row("tables for unwinding: a kernel that panics is an error of its run", unwind)
        row("constants: declarations of ops and kernels, documentation, tables", constants)
        row("relocations of those constants, for a program that may be loaded anywhere, packed", relocations)
        row("lists of registrations", lists)
    }' | tee -a "$table"
table=$CARGO_TARGET_DIR/release.md
selection=$CARGO_TARGET_DIR/digits.select
"$command" select examples/digits/digits.pb > "$selection"
in_crate build --release --bin my-ops
row 'the command of a crate that `kernlink new` writes' "$CARGO_TARGET_DIR/release/my-ops"
in_crate build --release --example own --no-default-features
row 'its example, without the command (`default-features = false`)' "$CARGO_TARGET_DIR/release/examples/own"
with_features '"array"'
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
edit '/^\[profile\.dev/,/^$/d'
debug "with Cargo's defaults"

write_tables 'program sizes' release parts debug
families
