#!/usr/bin/env bash
# Gives the crates outside the workspace the versions of its Cargo.lock. To be run when that changes: the tests build with
# `--locked`, and say so.
#
#   bash tests/lock.sh
set -euo pipefail
cd "$(dirname "$0")/.."
for crate in fuzz tests/all-ops tests/link tests/select; do
    cp Cargo.lock "$crate/Cargo.lock"
    cargo metadata --format-version 1 --manifest-path "$crate/Cargo.toml" >/dev/null
done
