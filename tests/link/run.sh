#!/usr/bin/env bash
# The link matrix: whether every registration is found, in each profile and with each linker; and whether the registry
# explains itself where a linker loses some. Needs Rust, a C compiler, and from Debian: binutils, lld, mold.
#
#   bash tests/link/run.sh                       # everything; a linker that is absent makes it fail
#   PROFILES="dev fat" LINKERS="default lld" bash tests/link/run.sh
set -uo pipefail
cd "$(dirname "$0")"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
profiles=${PROFILES:-dev release thin fat}
linkers=${LINKERS:-default bfd gold lld mold}

declare -A package=([bfd]=binutils [gold]="binutils (binutils-gold from Debian 13 on)" [lld]=lld [mold]=mold)
expected="" failed=0 rows=()

folder() { [ "$1" = dev ] && echo "$CARGO_TARGET_DIR/debug" || echo "$CARGO_TARGET_DIR/$1"; }

row() { rows+=("$(printf '%-10s %-14s %s' "$1" "$2" "$3")"); printf '%s\n' "${rows[-1]}"; }

# Every complete program must find the same.
judge() { # profile linker exit-code text lossy
    if [ "$3" = 0 ]; then
        [ -n "$expected" ] || expected=$4
        if [ "$4" = "$expected" ]; then row "$1" "$2" "all found"; return; fi
    elif [ "$3" = 3 ] && [ "${5:-}" = lossy ]; then
        row "$1" "$2" "lost, and explained"; return
    fi
    row "$1" "$2" "FAILED: $4"; failed=1
}

for profile in $profiles; do
    if ! cargo build --locked --quiet --profile "$profile"; then row "$profile" "-" "FAILED to build"; failed=1; continue; fi
    for linker in $linkers; do
        args=()
        if [ "$linker" != default ]; then
            if ! command -v "ld.$linker" >/dev/null && ! { [ "$linker" = mold ] && command -v mold >/dev/null; }; then
                row "$profile" "$linker" "NOT TESTED: ld.$linker is missing; Debian: apt-get install ${package[$linker]}"
                failed=1
                continue
            fi
            # rustc's own choice of LLD would come before ours.
            rustc -vV | grep -q '^host: x86_64.*linux-gnu' && args+=(-C linker-features=-lld)
            args+=(-C "link-arg=-fuse-ld=$linker")
        fi
        if ! cargo rustc --locked --quiet --profile "$profile" --bin kernlink-link -- "${args[@]}" 2>"$CARGO_TARGET_DIR/link.log"; then
            row "$profile" "$linker" "FAILED to link: $(tail -n 1 "$CARGO_TARGET_DIR/link.log")"; failed=1; continue
        fi
        text=$("$(folder "$profile")/kernlink-link" 2>&1); judge "$profile" "$linker" $? "$text"
    done
done

# A static library, linked by a C compiler: whole, and so that the linker takes only what is referred to.
libraries=(-lpthread -ldl -lm -lutil -lrt)
case " $profiles " in *" dev "*)
    archive=$(folder dev)/libkernlink_link.a program=$CARGO_TARGET_DIR/link-from-c
    cc main.c -o "$program" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive "${libraries[@]}"
    text=$("$program" 2>&1); judge dev "C, whole" $? "$text"
    cc main.c -o "$program" -Wl,--gc-sections "$archive" "${libraries[@]}"
    text=$("$program" 2>&1); judge dev "C, lazy" $? "$text" lossy
    echo "  $text"
esac

printf '\n%s\n' "found (ops+kernels+gradients of each crate): $expected"
printf '%s\n' "${rows[@]}"
exit $failed
