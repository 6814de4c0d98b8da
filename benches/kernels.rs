//! Single kernels, on two threads. `benches/compare` runs TensorFlow on the same shapes.

mod workload;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};

const THREADS: usize = 2;

fn main() {
    divan::main();
}

fn bench(bencher: Bencher, work: kernlink::Result<workload::Work>) {
    let run = work.and_then(|work| work.prepare(THREADS)).unwrap();
    bencher.bench_local(|| run.run().unwrap());
}

/// Items are floating-point operations: 1 Gitem/s is 1 GFLOP/s.
fn flops(bencher: Bencher, operations: usize, work: kernlink::Result<workload::Work>) {
    let run = work.and_then(|work| work.prepare(THREADS)).unwrap();
    bencher.counter(ItemsCount::new(operations)).bench_local(|| run.run().unwrap());
}

#[divan::bench(args = [64, 128, 256, 512, 1024], max_time = 2)]
fn mat_mul(bencher: Bencher, n: usize) {
    flops(bencher, 2 * n * n * n, workload::mat_mul(n, n, n, false));
}

/// A row times a constant matrix, as at the end of a model.
#[divan::bench(args = [1, 8])]
fn dense(bencher: Bencher, rows: usize) {
    flops(bencher, 2 * rows * 1024 * 1000, workload::mat_mul(rows, 1024, 1000, true));
}

/// Input, filter, stride.
const CONVOLUTIONS: [([usize; 4], [usize; 4], i64); 5] = [
    ([1, 224, 224, 3], [7, 7, 3, 64], 2),
    ([1, 56, 56, 64], [3, 3, 64, 64], 1),
    ([1, 56, 56, 64], [1, 1, 64, 256], 1),
    ([1, 14, 14, 256], [3, 3, 256, 256], 1),
    ([32, 8, 8, 1], [3, 3, 1, 16], 1),
];

#[divan::bench(args = 0..CONVOLUTIONS.len(), max_time = 2)]
fn conv2d(bencher: Bencher, index: usize) {
    let (input, filter, stride) = CONVOLUTIONS[index];
    let [batch, height, width, _] = input;
    let windows = batch * height.div_ceil(stride as usize) * width.div_ceil(stride as usize);
    let operations = 2 * windows * filter.iter().product::<usize>();
    flops(bencher, operations, workload::conv2d(&input, &filter, stride, "SAME", true));
}

#[divan::bench(args = ["AddV2", "Mul", "Relu", "Tanh", "Exp", "Sigmoid", "Erf"])]
fn element_wise(bencher: Bencher, op: &str) {
    let run = workload::element_wise(op, 1_000_000).and_then(|work| work.prepare(THREADS)).unwrap();
    bencher.counter(BytesCount::of_many::<f32>(1_000_000)).bench_local(|| run.run().unwrap());
}

#[divan::bench(args = ["Sum", "Mean", "Max"])]
fn reduce_rows(bencher: Bencher, op: &str) {
    bench(bencher, workload::reduction(op, &[1000, 1000], false));
}

#[divan::bench(args = ["Sum", "Max"])]
fn reduce_all(bencher: Bencher, op: &str) {
    bench(bencher, workload::reduction(op, &[1000, 1000], true));
}

#[divan::bench]
fn softmax(bencher: Bencher) {
    bench(bencher, workload::softmax(1000, 1000));
}
