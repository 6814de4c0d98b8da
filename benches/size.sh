#!/usr/bin/env bash
# What makes the release build of the command as large as it is: its sections, and its code by the crate that defines it
# (a generic function counts for the crate in which it is written, whatever it is made for). Needs `nm` and `size`.
#
#   bash benches/size.sh                                  # with all kernels
#   KERNLINK_SELECT=$PWD/app.select bash benches/size.sh  # with those of a selection
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
# The profile's own flag comes first: of two, the last counts.
cargo rustc --locked --release --quiet --features "${FEATURES:-cli}" --bin kernlink -- -C strip=none
program=$CARGO_TARGET_DIR/release/kernlink
strip -o "$program.stripped" "$program"
echo "$(stat -c %s "$program.stripped") bytes, stripped"
rm "$program.stripped"

echo; echo "bytes by section:"
size -A "$program" | awk '
    /^\.text/ { code += $2 } /^\.(eh_frame|eh_frame_hdr|gcc_except_table)/ { unwind += $2 } /^\.rel(a|r\.)/ { relocations += $2 }
    /^\.(rodata|data\.rel\.ro|data|got)/ { data += $2 } /^linkme/ { lists += $2 }
    END {
        printf "%10d  code\n%10d  tables for unwinding\n", code, unwind
        printf "%10d  constants\n%10d  relocations of constants\n%10d  lists of registrations\n", data, relocations, lists
    }'

echo; echo "bytes of code by crate:"
nm --print-size --size-sort --radix=d --demangle "$program" | awk '
    $3 ~ /^[tTwW]$/ {
        name = $4; for (i = 5; i <= NF; i++) name = name " " $i
        sub(/^[<&*(]+(dyn |mut )?/, "", name)
        crate = match(name, /^[A-Za-z_][A-Za-z0-9_]*::/) ? substr(name, 1, RLENGTH - 2) : "(others)"
        bytes[crate] += $2
    }
    END { for (crate in bytes) printf "%10d  %s\n", bytes[crate], crate }' | sort -rn | head -30
