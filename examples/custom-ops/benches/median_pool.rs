//! MedianPool against the composition that TensorFlow needs for it, both run by Kernlink.
//!
//! `benches/compare/run.sh` of the workspace runs TensorFlow's own on the same work.

use custom_ops::median_pool;
use kernlink::prelude::*;

fn main() {
    divan::main();
}

fn photo() -> Tensor {
    let pixels: Vec<f32> = (0..256 * 256 * 16u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32).collect();
    Tensor::from_elements([1, 256, 256, 16], &pixels).unwrap()
}

#[divan::bench(args = [3, 5])]
fn fused(bencher: divan::Bencher, ksize: i64) {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    median_pool(&mut graph, x, "SAME").ksize(ksize).name("y").build().unwrap();
    run(bencher, graph);
}

#[divan::bench]
fn composed(bencher: divan::Bencher) {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let g = &mut graph;
    let x = ops::placeholder(g, DataType::Float).name("x").build().unwrap();
    let vector = |g: &mut Graph, values: &[i32]| {
        ops::const_(g, Tensor::vector(values).unwrap(), DataType::Int32).build().unwrap()
    };
    let windows = ops::ExtractImagePatchesRequired {
        ksizes: &[1, 3, 3, 1],
        strides: &[1, 1, 1, 1],
        rates: &[1, 1, 1, 1],
        padding: "SAME",
    };
    let patches = ops::extract_image_patches(g, x, windows).build().unwrap();
    let shape = vector(g, &[1, 256, 256, 9, 16]);
    let windows = ops::reshape(g, patches, shape).build().unwrap();
    let order = vector(g, &[0, 1, 2, 4, 3]);
    let windows = ops::transpose(g, windows, order).build().unwrap();
    let five = ops::const_(g, Tensor::scalar(5i32), DataType::Int32).build().unwrap();
    let top = ops::top_kv2(g, windows, five).build().unwrap();
    let begin = vector(g, &[0, 0, 0, 0, 4]);
    let size = vector(g, &[-1, -1, -1, -1, 1]);
    ops::slice(g, top.values, begin, size).name("y").build().unwrap();
    run(bencher, graph);
}

fn run(bencher: divan::Bencher, graph: Graph) {
    let session = Session::new(graph).unwrap();
    let callable = session.make_callable(&["x"], &["y"], &[]).unwrap();
    let photo = [photo()];
    bencher.bench_local(|| callable.run(&photo).unwrap());
}
