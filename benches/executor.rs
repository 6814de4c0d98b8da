//! The executor's own cost: time per node, and per run.

mod workload;

use divan::Bencher;
use divan::counter::ItemsCount;
use kernlink::ops;
use kernlink::runtime::EagerContext;
use kernlink::tensor::Tensor;

const NODES: usize = 10_000;

fn main() {
    divan::main();
}

/// One addition after another. Goal: 100 ns per node.
#[divan::bench(args = [1, 2])]
fn chain(bencher: Bencher, threads: usize) {
    let run = workload::chain(NODES).unwrap().prepare(threads).unwrap();
    bencher.counter(ItemsCount::new(NODES)).bench_local(|| run.run().unwrap());
}

/// Additions that do not depend on each other. Goal: 200 ns per node.
#[divan::bench(args = [1, 2])]
fn wide(bencher: Bencher, threads: usize) {
    let run = workload::wide(NODES).unwrap().prepare(threads).unwrap();
    bencher.counter(ItemsCount::new(NODES)).bench_local(|| run.run().unwrap());
}

/// A run of one addition. Goal: 2 µs.
#[divan::bench]
fn trivial(bencher: Bencher) {
    let run = workload::chain(1).unwrap().prepare(2).unwrap();
    bencher.bench_local(|| run.run().unwrap());
}

/// An addition of scalars in an eager context that has its kernel. Goal: 500 ns.
#[divan::bench]
fn eager_add(bencher: Bencher) {
    let mut eager = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let (x, y) = (Tensor::scalar(1.0f32), Tensor::scalar(2.0f32));
    bencher.bench_local(|| ops::add_v2(&mut eager, &x, &y).build().unwrap());
}

/// Checks, shape inference and plan for each node of a chain.
#[divan::bench]
fn build_and_plan(bencher: Bencher) {
    let build = || workload::chain(NODES).unwrap().prepare(1).unwrap();
    bencher.counter(ItemsCount::new(NODES)).bench_local(build);
}
