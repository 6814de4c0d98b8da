#!/usr/bin/env bash
# Runs every test of Kernlink. Needs Rust (the version in Cargo.toml or newer) with clippy, a C compiler as linker, and a
# Vulkan driver, which it installs on Debian if it may; everything else comes through cargo. It changes no file of the
# repository: what it builds goes to `target`.
#
#   bash tests/run.sh
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in cargo rustc cc; do
    command -v "$tool" >/dev/null || { echo "tests/run.sh: \`$tool\` is missing: install Rust and a C compiler" >&2; exit 1; }
done
cargo clippy --version >/dev/null 2>&1 || {
    echo "tests/run.sh: clippy is missing: \`rustup component add clippy\`, or the package of Rust's that has it" >&2
    exit 1
}
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

# Each step with the time that has passed.
step() { printf '\n== %s (after %d:%02d)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }
changes() { git status --porcelain 2>/dev/null || true; }
before=$(changes)

if cargo fmt --version >/dev/null 2>&1; then
    step "format"
    cargo fmt --all --check
fi
step "lints of everything"
cargo clippy --locked --workspace --all-targets --features cli,gpu,train -- -D warnings
step "lints of few features at a time, and of the default ones"
# Each set compiles the ops anew: families come four at a time. Which four, the commit says, so that what one is missing and another
# of its four brings is found at the next commit.
families=$(sed -n 's/^default = \[\(.*\)\]$/\1/p' Cargo.toml | tr -d '",')
commit=$(git rev-parse HEAD 2>/dev/null || true)
fours=$(for family in $families audio data image_codecs jxl learning linear_algebra parsing signal; do
    echo "$(cksum <<<"$commit $family" | cut -d' ' -f1) $family"
done | sort -n | cut -d' ' -f2 | xargs -n 4 | tr ' ' ',')
for features in "" $fours gradients command train rayon gpu gpu-shaders declarations; do
    echo "features: ${features:-none}"
    cargo clippy --locked --quiet --no-default-features --features "$features" -- -D warnings
done
cargo clippy --locked --quiet -p custom-ops --features gpu-shaders -- -D warnings
cargo clippy --locked --quiet --tests -- -D warnings
step "packages"
cargo package --quiet --locked --no-verify --allow-dirty --workspace --exclude custom-ops --exclude kernlink-python
step "the workspace's tests"
KERNLINK_STRESS_SECONDS=10 cargo test --locked --workspace --features cli,train
step "the Python package, beside what follows: its tests are one thread, as the GPU's are"
python_log="$CARGO_TARGET_DIR/python-tests.log"
set -m # A group of processes of its own, which ends with this script.
KERNLINK_FEATURES=cli,train bash python/test.sh >"$python_log" 2>&1 &
python=$!
set +m
trap 'kill -- -"$python" 2>/dev/null || true' EXIT
step "the C API as a libtensorflow, from C"
# Of all packages together, as the tests are: of this one alone, crates of others would have other features, and everything would
# be built a second time.
cargo build --locked --quiet --workspace --lib --test hook --features cli,train
KERNLINK_STATIC_LIBRARY="$CARGO_TARGET_DIR/debug/libkernlink_capi.a" bash capi/install.sh "$CARGO_TARGET_DIR/libtensorflow"
bash capi/tests/c/run.sh "$CARGO_TARGET_DIR/libtensorflow"
step "the digits example"
"$CARGO_TARGET_DIR/debug/examples/digits"
step "the GPU, on the software driver unless KERNLINK_GPU names another"
cargo test --locked --workspace --features cli,gpu,train --test gpu --test loaded_gpu
step "a build of one family"
cargo test --locked --quiet -p kernlink-ops -p kernlink-kernels -p kernlink-kernels-element-wise --lib --no-default-features --features nn
step "a program built by a selection"
bash tests/select/run.sh
step "every op of TensorFlow, declared"
RELEASE=0 bash tests/all-ops/run.sh
step "the Python package's tests"
wait "$python" || { cat "$python_log"; exit 1; }
tail -n 1 "$python_log"
if [ "$(changes)" != "$before" ]; then
    printf '\ntests/run.sh: the tests changed files:\n' >&2
    diff <(echo "$before") <(changes) >&2 || true
    exit 1
fi
echo
echo "all tests passed"
