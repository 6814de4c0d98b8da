#!/usr/bin/env bash
# Selective registration: builds a small program by a selection file, runs it, and tries files that are wrong.
#
#   bash tests/select/run.sh
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
scratch=$CARGO_TARGET_DIR/select-test
mkdir -p "$scratch"

KERNLINK_SELECT=test.select cargo run --locked --quiet

# A selection that is wrong stops the build and says where and why.
refused() { # file words...
    local file=$1 text
    shift
    if text=$(KERNLINK_SELECT=$file cargo build --locked --quiet 2>&1); then
        echo "KERNLINK_SELECT=$file was not refused" >&2
        exit 1
    fi
    for words in "$@"; do
        [[ $text == *"$words"* ]] || { printf '`%s` is not in:\n%s\n' "$words" "$text" >&2; exit 1; }
    done
}
printf 'AddV2 CPU T=float\nMul CPU T=flaot\n' >"$scratch/misspelt.select"
printf '# nothing\n' >"$scratch/empty.select"
printf '\200\201' >"$scratch/binary.select"
refused "$scratch/misspelt.select" "misspelt.select:2:" "unknown dtype \`flaot\`: did you mean \`float\`?"
refused "$scratch/empty.select" "empty.select selects nothing"
refused "$scratch/binary.select" "it is not text" "kernlink select MODEL... > FILE"
refused absent.select "KERNLINK_SELECT=absent.select: there is no such file: looked for $PWD/absent.select"
echo "wrong selections are refused"
