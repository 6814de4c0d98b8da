#!/usr/bin/env bash
# Runs the tests that touch unsafe code under AddressSanitizer, those of protocols between threads under ThreadSanitizer,
# the tensors under Miri, every op with memory refused, and each fuzz target for ten minutes: about two hours. A project's CI runs it weekly.
#
#   bash tests/sanitizers/run.sh                    # everything
#   bash tests/sanitizers/run.sh address thread     # or some of: address, thread, miri, memory, fuzz
#
# Needs the nightly toolchain with `rust-src` and `miri`, and `cargo install cargo-fuzz`. KERNLINK_FUZZ_TIME says for how many
# seconds a fuzz target runs (600), KERNLINK_FUZZ_TARGETS which do (all).
set -euo pipefail
cd "$(dirname "$0")/../.."

host=$(rustc +nightly -vV | sed -n 's/^host: //p')
# What each sanitizer builds is of no use to the others, nor to a usual build.
target=${CARGO_TARGET_DIR:-$PWD/target}/sanitizers
step() { printf '\n== %s\n' "$*"; }

# A suppression needs a reason, which stands beside it in the file.
suppressions=$PWD/tests/sanitizers/thread.txt

address() {
    export RUSTFLAGS="-Zsanitizer=address" CARGO_TARGET_DIR=$target/address
    # What lives until the process ends (the registry, the pools of threads) is no leak.
    export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
    step "address: framework and kernels"
    cargo +nightly test --target "$host" --lib -p kernlink-framework -p kernlink-geometry -p kernlink-kernels-common \
        -p kernlink-kernels-array -p kernlink-kernels-element-wise -p kernlink-kernels-math -p kernlink-kernels-nn \
        -p kernlink-kernels-random -p kernlink-kernels-sparse -p kernlink-kernels-state -p kernlink-kernels-string
    step "address: golden cases, checkpoints, models"
    cargo +nightly test --target "$host" --features cli --test oracle
}

thread() {
    export RUSTFLAGS="-Zsanitizer=thread" CARGO_TARGET_DIR=$target/thread TSAN_OPTIONS="suppressions=$suppressions"
    # The standard library must be instrumented, too, or its synchronisation would not be seen.
    step "thread: executor, registry, resources"
    cargo +nightly test -Zbuild-std --target "$host" --lib -p kernlink-framework -- runtime:: registry:: resource:: step:: kernel::
    step "thread: sessions, queues and the registry under load"
    KERNLINK_LOAD_RUNS=500 KERNLINK_STRESS_SECONDS=10 \
        cargo +nightly test -Zbuild-std --target "$host" --features cli --test load
}

miri() {
    export CARGO_TARGET_DIR=$target/miri MIRIFLAGS=-Zmiri-disable-isolation
    step "miri: tensors, dtypes, shapes"
    cargo +nightly miri test -p kernlink-framework --lib -- tensor:: dtype:: shape:: kernel::place runtime::index
}

memory() {
    export CARGO_TARGET_DIR=$target/memory
    step "memory: every op's golden cases, made large, with requests refused"
    cargo test --features cli --test scratch -- --include-ignored
}

fuzz() {
    export CARGO_TARGET_DIR=$target/fuzz
    local seconds=${KERNLINK_FUZZ_TIME:-600} name
    # Where a target starts from, and what it needs besides. Their paths are whole: run_op has a working directory of its own.
    local -A options=(
        [import_graph]="examples/digits -- -max_len=4096"
        [pbtxt]="tests/saved_model/data/tf1 -- -max_len=4096"
        [checkpoint]="tests/checkpoint/data -- -max_len=4096"
        [saved_model]="tests/saved_model/data/tf2 -- -max_len=32768"
        [run_op]="-- -timeout=60"
    )
    for name in ${KERNLINK_FUZZ_TARGETS:-import_graph pbtxt checkpoint saved_model run_op}; do
        step "fuzz: $name, for $seconds seconds"
        mkdir -p "$PWD/fuzz/corpus/$name"
        # Kernlink itself refuses what there is no memory for, so libFuzzer's limits are off.
        # shellcheck disable=SC2086
        cargo +nightly fuzz run "$name" "$PWD/fuzz/corpus/$name" ${options[$name]} \
            -rss_limit_mb=0 -max_total_time="$seconds" -print_final_stats=1
    done
}

for part in "${@:-address thread miri memory fuzz}"; do
    for one in $part; do "$one"; done
done
printf '\nno findings\n'
