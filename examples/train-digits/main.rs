//! Trains a network from nothing: a convolutional one that reads handwritten digits.
//!
//! Usage: train-digits [EPOCHS [CHECKPOINT]]
//!
//! Shows how the loss falls, and how many images are read right that the network has not seen. With a CHECKPOINT, the name of
//! files, it saves what it has learnt after each epoch, and goes on from there when it is started again, up to EPOCHS in all.

mod chart;

use std::path::Path;
use std::time::Instant;

use kernlink::prelude::*;
use kernlink::train::{Adam, Clip, ExponentialDecay, Initializer, Optimizer, Variables};

const BATCH: usize = 32;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let epochs = args.next().map_or(Ok(12), |epochs| epochs.parse());
    let epochs = epochs.map_err(|error| Error::invalid_argument(format!("EPOCHS: {error}")))?;
    train(epochs, args.next().as_deref()).map(drop)
}

/// Trains for so many epochs in all; the share of the test images that are read right then.
pub(crate) fn train(epochs: usize, checkpoint: Option<&str>) -> Result<f32> {
    let (images, labels) = read("train-digits")?;
    let (test_images, test_labels) = read("digits")?;
    let steps = images.shape()[0] / BATCH;

    // The graph: the network, its loss, and a step that lowers the loss.
    let mut graph = Graph::new(&kernlink::registry()?);
    let mut variables = Variables::new().seed(1);
    let some_images = PartialShape::from_known([None, Some(8), Some(8), Some(1)]);
    let x = ops::placeholder(&mut graph, DataType::Float).shape(some_images).name("images").build()?;
    let y =
        ops::placeholder(&mut graph, DataType::Uint8).shape(PartialShape::from_known([None])).name("labels").build()?;
    let y = ops::cast(&mut graph, y, DataType::Int64).build()?;
    let logits = network(&mut graph, &mut variables, x)?;
    let losses = ops::sparse_softmax_cross_entropy_with_logits(&mut graph, logits, y).build()?.loss;
    let loss = ops::mean(&mut graph, losses, 0).name("loss").build()?;
    let classes = ops::arg_max(&mut graph, logits, 1).build()?;
    let is_right = ops::equal(&mut graph, classes, y).build()?;
    let is_right = ops::cast(&mut graph, is_right, DataType::Float).build()?;
    ops::mean(&mut graph, is_right, 0).name("accuracy").build()?;

    let learning_rate = ExponentialDecay::new(4e-3, steps as u64, 0.8);
    let adam = Optimizer::new(Adam::default(), learning_rate).clip(Clip::GlobalNorm(1.0));
    let taken = adam.minimize(&mut graph, &mut variables, loss)?.iterations;
    let taken = graph.output_name(taken);
    variables.initializer(&mut graph)?;
    let saver = variables.saver(&mut graph)?;
    println!("{} numbers to learn from {} images", variables.count_params(), images.shape()[0]);

    // The session: begin, or go on.
    let session = Session::new(graph)?;
    match checkpoint.filter(|prefix| Path::new(&format!("{prefix}.index")).exists()) {
        Some(prefix) => saver.restore(&session, prefix)?,
        None => _ = session.run(&[], &[], &["init"])?,
    }
    let first = session.run(&[], &[&taken], &[])?[0].to_scalar::<i64>()? as usize / steps;

    let mut eager = EagerContext::new(&kernlink::registry()?)?;
    let step = session.make_callable(&["images", "labels"], &["loss"], &["train"])?;
    let measure = session.make_callable(&["images", "labels"], &["accuracy"], &[])?;
    let mut losses = Vec::new();
    for epoch in first..epochs {
        let start = Instant::now();
        for batch in shuffled(images.shape()[0], epoch).chunks_exact(BATCH) {
            let some_images = ops::gather_v2(&mut eager, &images, batch, 0).build()?;
            let some_labels = ops::gather_v2(&mut eager, &labels, batch, 0).build()?;
            losses.push(step.run(&[some_images, some_labels])?[0].to_scalar::<f32>()?);
        }
        let took = start.elapsed().as_secs_f64();
        if let Some(prefix) = checkpoint {
            saver.save(&session, prefix)?;
        }
        let mean = losses[losses.len() - steps..].iter().sum::<f32>() / steps as f32;
        let right = measure.run(&[test_images.clone(), test_labels.clone()])?[0].to_scalar::<f32>()?;
        println!("epoch {:>2}/{epochs}  loss {mean:.4}  test {:>5.1} %  {took:.1} s", epoch + 1, 100.0 * right);
    }
    chart::show("loss of each step", &losses);
    let right = measure.run(&[test_images.clone(), test_labels])?[0].to_scalar::<f32>()?;
    println!("{:.1} % of {} images that it has not seen are read right", 100.0 * right, test_images.shape()[0]);
    Ok(right)
}

/// Two convolutions, each with a maximum of 2 x 2, and two layers that are dense: a logit for each digit.
fn network(graph: &mut Graph, variables: &mut Variables<Graph>, images: Output) -> Result<Output> {
    let mut x = images;
    for (layer, shape) in [("conv1", [3, 3, 1, 16]), ("conv2", [3, 3, 16, 32])] {
        let kernel = variables.add(graph, &format!("{layer}/kernel"), shape, Initializer::he_normal()).build()?;
        let bias = variables.add(graph, &format!("{layer}/bias"), [shape[3]], Initializer::zeros()).build()?;
        let (kernel, bias) = (kernel.read(graph)?, bias.read(graph)?);
        x = ops::conv2d(graph, x, kernel, &[1i64, 1, 1, 1][..], "SAME").build()?;
        x = ops::bias_add(graph, x, bias).build()?;
        x = ops::relu(graph, x).build()?;
        let pool = ops::MaxPoolRequired { ksize: &[1, 2, 2, 1], strides: &[1, 2, 2, 1], padding: "SAME" };
        x = ops::max_pool(graph, x, pool).build()?;
    }
    x = ops::reshape(graph, x, [-1, 2 * 2 * 32]).build()?;
    for (layer, shape, is_last) in [("dense1", [128, 64], false), ("dense2", [64, 10], true)] {
        let kernel = variables.add(graph, &format!("{layer}/kernel"), shape, Initializer::glorot_uniform()).build()?;
        let bias = variables.add(graph, &format!("{layer}/bias"), [shape[1]], Initializer::zeros()).build()?;
        let (kernel, bias) = (kernel.read(graph)?, bias.read(graph)?);
        x = ops::mat_mul(graph, x, kernel).build()?;
        x = ops::bias_add(graph, x, bias).build()?;
        if !is_last {
            x = ops::relu(graph, x).build()?;
        }
    }
    Ok(x)
}

/// Images in 0 to 1, and what they show.
fn read(example: &str) -> Result<(Tensor, Tensor)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(example);
    let images = kernlink::npy::read(folder.join("images.npy"))?;
    let labels = kernlink::npy::read(folder.join("labels.npy"))?;
    let mut eager = EagerContext::new(&kernlink::registry()?)?;
    let labels = ops::cast(&mut eager, labels, DataType::Uint8).build()?;
    if images.dtype() == DataType::Float {
        return Ok((images, labels));
    }
    let images = ops::cast(&mut eager, images, DataType::Float).build()?;
    Ok((ops::mul(&mut eager, images, 1.0 / 16.0).build()?, labels))
}

/// The numbers below `count` in an order that follows from the epoch, so that one that goes on sees what it would have seen.
fn shuffled(count: usize, epoch: usize) -> Vec<i32> {
    let mut order: Vec<i32> = (0..count as i32).collect();
    let mut state = epoch as u64 + 1;
    for last in (1..count).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(last, (state >> 33) as usize % (last + 1));
    }
    order
}
