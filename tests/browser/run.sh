#!/usr/bin/env bash
# The pages of `kernlink ops --format html` in a real browser: search, links, keyboard, light and dark, narrow and wide.
# Needs Python 3 and Chromium, which it installs on Debian if it may; tests/run.sh does without.
#
#   bash tests/browser/run.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
target="${CARGO_TARGET_DIR:-$PWD/target}"

browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }
browser >/dev/null || {
    { command -v apt-get >/dev/null && apt-get update -qq &&
        apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || {
        echo "tests/browser/run.sh: no Chromium: install it (on Debian the package chromium)" >&2
        exit 1
    }
}
cargo build --locked --quiet --features cli
mkdir -p "$target/browser"
"$target/debug/kernlink" ops --format html --output "$target/browser/pages"
python3 tests/browser/check.py "$(browser)" "$target/browser"
