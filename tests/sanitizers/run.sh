#!/usr/bin/env bash
# Runs the tests that touch unsafe code under AddressSanitizer, those of protocols between threads under ThreadSanitizer,
# the unsafe code of the framework under Miri, every op with memory refused, and each thing that is fuzzed for ten minutes: six to seven
# hours on four processors. A project's CI runs it weekly.
#
#   bash tests/sanitizers/run.sh                    # everything
#   bash tests/sanitizers/run.sh address thread     # or some of: address, thread, miri, memory, fuzz
#
# It says first what is missing and how to install it. KERNLINK_FUZZ_TIME says for how many seconds a fuzz target runs (600),
# KERNLINK_FUZZ_TARGETS which do (all). It takes some 12 GB in `target/sanitizers`, which may be deleted afterwards.
set -euo pipefail
cd "$(dirname "$0")/../.."

step() { printf '\n== %s\n' "$*"; }

# ---- what it needs ----

[ $# -gt 0 ] || set -- address thread miri memory fuzz
missing=0
need() { # what, how to install it, a command that succeeds if it is there
    local what=$1 install=$2
    shift 2
    "$@" >/dev/null 2>&1 || { echo "tests/sanitizers/run.sh: $what is missing: $install" >&2; missing=1; }
}
need "cc" "install a C compiler" cc --version
need "Rust" "install it by rustup, https://rustup.rs" cargo --version
component() { rustup +nightly component list 2>/dev/null | grep -E "^$1.*\(installed\)"; }
for part in "$@"; do
    case $part in
        memory) continue ;;
        address | thread | miri | fuzz) ;;
        *) echo "tests/sanitizers/run.sh: no part \`$part\`: address, thread, miri, memory, fuzz" >&2; exit 2 ;;
    esac
    need "the nightly toolchain" "\`rustup toolchain install nightly\`" rustc +nightly --version
    case $part in
        thread) need "the standard library's source" "\`rustup component add --toolchain nightly rust-src\`" component rust-src ;;
        miri)
            need "Miri" "\`rustup component add --toolchain nightly miri\`" component miri
            need "the standard library's source" "\`rustup component add --toolchain nightly rust-src\`" component rust-src
            ;;
        fuzz)
            need "cargo-fuzz" "\`cargo install --locked cargo-fuzz\`" cargo fuzz --version
            need "a C++ compiler, for libFuzzer" "install one, such as g++" c++ --version
            ;;
    esac
done
[ "$missing" = 0 ] || exit 1

host=$(rustc -vV | sed -n 's/^host: //p')
# What each sanitizer builds is of no use to the others, nor to a usual build.
target=${CARGO_TARGET_DIR:-$PWD/target}/sanitizers
export CARGO_INCREMENTAL=0

# ---- the parts, each in a shell of its own ----

address() {
    export RUSTFLAGS="-Zsanitizer=address" CARGO_TARGET_DIR=$target/address
    # Without optimisation the golden cases would take hours.
    export CARGO_PROFILE_DEV_OPT_LEVEL=1
    # What lives until the process ends (the registry, the pools of threads) is no leak.
    export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
    step "address: the libraries, golden cases, checkpoints, models, the runtime"
    # Of the rest, procedural macros run in the compiler, and the GPU's kernels in its driver.
    cargo +nightly test --locked --target "$host" --workspace --exclude kernlink-macros --exclude kernlink-kernels-gpu \
        --exclude custom-ops --features cli --lib --test oracle --test runtime
}

thread() {
    export RUSTFLAGS="-Zsanitizer=thread" CARGO_TARGET_DIR=$target/thread CARGO_PROFILE_DEV_OPT_LEVEL=1
    # The standard library must be instrumented, too, or its synchronisation would not be seen. One set of packages, so
    # that nothing is built twice.
    local packages=(-Zbuild-std --locked --target "$host" -p kernlink -p kernlink-framework --features kernlink/cli)
    step "thread: executor, registry, resources, kernels"
    cargo +nightly test "${packages[@]}" --lib -- runtime:: registry:: resource:: step:: kernel:: tensor::
    step "thread: sessions, queues and the registry under load"
    KERNLINK_LOAD_RUNS=500 KERNLINK_STRESS_SECONDS=10 cargo +nightly test "${packages[@]}" --test load
    step "thread: control flow, devices, queues, variables"
    cargo +nightly test "${packages[@]}" --test runtime
}

miri() {
    # Files say how much memory there is. A backtrace would take half a minute.
    local flags="-Zmiri-disable-isolation -Zmiri-tree-borrows"
    export CARGO_TARGET_DIR=$target/miri RUST_BACKTRACE=0
    step "miri: tensors, dtypes, shapes"
    MIRIFLAGS=$flags cargo +nightly miri test --locked -p kernlink-framework --lib -- tensor:: dtype:: shape::
    step "miri: what kernels are given"
    # Threads of a pool end with the process.
    MIRIFLAGS="$flags -Zmiri-ignore-leaks -Zmiri-permissive-provenance" \
        cargo +nightly miri test --locked -p kernlink-framework --lib -- kernel:: threads::
}

memory() {
    export CARGO_TARGET_DIR=$target/memory
    step "memory: every op's golden cases, made large, with requests refused"
    KERNLINK_SCRATCH_CASES=3 cargo test --locked --features cli --test scratch -- --include-ignored
}

fuzz() {
    export CARGO_TARGET_DIR=$target/fuzz
    local seconds=${KERNLINK_FUZZ_TIME:-600} name target
    # Where a target starts from, and what it needs besides. The corpus has a whole path: run_op changes its folder.
    local -A options=(
        [import_graph]="examples/digits -- -max_len=4096"
        [image]="fuzz/seeds/image -- -max_len=65536 -timeout=60"
        [parsing]="fuzz/seeds/parsing -- -max_len=4096 -timeout=60"
        [records]="fuzz/seeds/records -- -max_len=4096 -timeout=60"
        [wav]="-- -max_len=4096 -timeout=60"
        [pbtxt]="tests/saved_model/data/tf1 -- -max_len=4096"
        [checkpoint]="tests/checkpoint/data -- -max_len=4096"
        [saved_model]="tests/saved_model/data/tf2 -- -max_len=32768"
        # An output may be as large as the memory, and takes as long as it is large.
        [run_op]="-- -timeout=300"
    )
    # Behind a colon: which of a target's things it tries, each for its own ten minutes.
    local all="import_graph
        image:jpeg image:png image:gif image:bmp image:webp image:jxl
        parsing:examples parsing:sequences parsing:tensor parsing:compressed parsing:json parsing:csv
        parsing:known_message parsing:message parsing:variant
        records:tfrecord records:lines records:csv records:snapshot records:compressed
        wav pbtxt checkpoint saved_model run_op"
    for name in ${KERNLINK_FUZZ_TARGETS:-$all}; do
        step "fuzz: $name, for $seconds seconds"
        target=${name%%:*}
        unset KERNLINK_FUZZ_KIND
        [ "$target" = "$name" ] || export KERNLINK_FUZZ_KIND=${name#*:}
        mkdir -p "$PWD/fuzz/corpus/${name/:/-}"
        # Kernlink itself refuses what there is no memory for, so libFuzzer's limits (that of one request is the same) are off.
        # shellcheck disable=SC2086
        cargo +nightly fuzz run "$target" "$PWD/fuzz/corpus/${name/:/-}" ${options[$target]} \
            -rss_limit_mb=0 -max_total_time="$seconds" -print_final_stats=1
    done
}

# A part that finds something does not keep the others from running.
found=()
for part in "$@"; do
    began=$SECONDS
    set +e
    (set -e; "$part")
    status=$?
    set -e
    [ "$status" = 0 ] && result="no findings" || { result="FINDINGS, see above"; found+=("$part"); }
    step "$part: $result, $((SECONDS - began)) seconds"
done
if [ ${#found[@]} -gt 0 ]; then
    printf '\nfindings: %s\n' "${found[*]}" >&2
    exit 1
fi
printf '\nno findings\n'
