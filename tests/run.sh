#!/usr/bin/env bash
# Runs every test of Kernlink. Needs Rust (the version in Cargo.toml or newer), a C compiler as linker, and a Vulkan
# driver, which it installs on Debian if it may; everything else comes through cargo.
#
#   bash tests/run.sh
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in cargo rustc cc; do
    command -v "$tool" >/dev/null || { echo "tests/run.sh: \`$tool\` is missing: install Rust and a C compiler" >&2; exit 1; }
done
# The GPU's tests run on a software driver, so that they need no GPU.
if ! compgen -G "/usr/share/vulkan/icd.d/lvp_icd*.json" >/dev/null; then
    { command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq mesa-vulkan-drivers >/dev/null; } || {
        echo "tests/run.sh: no software Vulkan driver: install Mesa's (on Debian the package mesa-vulkan-drivers)" >&2
        exit 1
    }
fi
# One target folder for the workspace and the crates outside it, so that nothing is built twice.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
# Nothing is built a second time after an edit here: what a second build would need only fills the disk.
export CARGO_INCREMENTAL=0

step() { printf '\n== %s\n' "$*"; }

if cargo fmt --version >/dev/null 2>&1; then
    step "format"
    cargo fmt --all --check
fi
step "the workspace's tests"
KERNLINK_STRESS_SECONDS=10 cargo test --workspace --features cli
step "the GPU, on the software driver unless KERNLINK_GPU names another"
cargo test --features cli,gpu --test gpu
step "every feature by itself"
cargo check --quiet --no-default-features
for feature in array math nn data_flow io list logging lookup random sparse state string training gpu; do
    cargo check --quiet --no-default-features --features "$feature"
done
cargo test --quiet -p kernlink-ops -p kernlink-kernels --lib --no-default-features --features nn
step "a program built by a selection"
bash tests/select/run.sh
step "every op of TensorFlow, declared"
RELEASE=0 bash tests/all-ops/run.sh
step "the custom-ops example, a crate of its own"
cargo test --manifest-path examples/custom-ops/Cargo.toml
cargo run --quiet --manifest-path examples/custom-ops/Cargo.toml
cargo test --manifest-path examples/custom-ops/Cargo.toml --features gpu
step "the digits example"
cargo run --quiet --features npy --example digits
echo
echo "all tests passed"
