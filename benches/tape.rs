//! What a tape costs: ops that are run with and without one, and the way back.

use divan::Bencher;
use divan::counter::ItemsCount;
use kernlink::gradient::Traced;
use kernlink::prelude::*;

/// How many ops each sample runs.
const OPS: usize = 1000;

fn main() {
    divan::main();
}

fn context() -> EagerContext {
    EagerContext::new(&kernlink::registry().unwrap()).unwrap()
}

/// The ops alone.
#[divan::bench]
fn without(bencher: Bencher) {
    let mut context = context();
    let one = Tensor::scalar(1.0f32);
    bencher.counter(ItemsCount::new(OPS)).bench_local(|| {
        let mut x = one.clone();
        for _ in 0..OPS {
            x = ops::mul(&mut context, &x, &one).build().unwrap();
        }
        x
    });
}

/// The ops on a tape.
#[divan::bench]
fn recorded(bencher: Bencher) {
    let context = context();
    bencher.counter(ItemsCount::new(OPS)).bench_local(|| chain(&context));
}

/// The ops on a tape, and the way back.
#[divan::bench]
fn and_back(bencher: Bencher) {
    let context = context();
    bencher.counter(ItemsCount::new(OPS)).bench_local(|| {
        let (mut tape, x, y) = chain(&context);
        tape.gradient(&y, [&x]).unwrap()
    });
}

fn chain(context: &EagerContext) -> (GradientTape<'static>, Traced, Traced) {
    let mut tape = GradientTape::new(context);
    let one = Tensor::scalar(1.0f32);
    let x = tape.watch(one.clone()).unwrap();
    let mut y = x.clone();
    for _ in 0..OPS {
        y = ops::mul(&mut tape, &y, &one).build().unwrap();
    }
    (tape, x, y)
}
