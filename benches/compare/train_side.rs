//! Kernlink's side of the comparison of training steps with TensorFlow: see `train.py`, which starts it.
//!
//! Usage: `train_side [--threads N] digits | train_side [--threads N] GRAPH.pb BATCH`. For each line of the standard input, a
//! number of steps, it prints how many seconds they took, and the loss or `null`.

#[path = "../../examples/train-digits/main.rs"]
#[expect(dead_code, reason = "of the example only the network is trained here")]
mod digits;

use std::io::{BufRead as _, Write as _};
use std::time::Instant;

use kernlink::prelude::*;
use kernlink::train::{Adam, Optimizer, Variables};

fn main() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut options = SessionOptions::new();
    if arguments.first().is_some_and(|argument| argument == "--threads") && arguments.len() > 1 {
        options = options.threads(number(&arguments[1])?);
        arguments.drain(..2);
    }
    let mut step: Box<dyn FnMut() -> Result<Option<f32>>> = match &arguments[..] {
        [work] if work == "digits" => Box::new(digits_step(&options)?),
        [graph, batch] => Box::new(gradients(graph, number(batch)?, &options)?),
        _ => bail!(InvalidArgument, "train_side [--threads N] digits | GRAPH.pb BATCH"),
    };
    for line in std::io::stdin().lock().lines().map_while(|line| line.ok()) {
        let (start, mut loss) = (Instant::now(), None);
        for _ in 0..number(line.trim())? {
            loss = step()?;
        }
        let loss = loss.map_or_else(|| "null".to_owned(), |loss| loss.to_string());
        // A driver that has gone needs no answer.
        let _ = writeln!(std::io::stdout(), "[{}, {loss}]", start.elapsed().as_secs_f64());
    }
    Ok(())
}

fn number(text: &str) -> Result<usize> {
    text.parse().map_err(|error| Error::invalid_argument(format!("`{text}`: {error}")))
}

/// A step of Adam for the network of `examples/train-digits`, on 32 images that stay the same.
fn digits_step(options: &SessionOptions) -> Result<impl FnMut() -> Result<Option<f32>> + use<>> {
    let mut graph = Graph::new(&kernlink::registry()?);
    let mut variables = Variables::new();
    let x = ops::placeholder(&mut graph, DataType::Float).shape([32, 8, 8, 1]).name("x").build()?;
    let y = ops::placeholder(&mut graph, DataType::Int64).shape([32]).name("y").build()?;
    let logits = digits::network(&mut graph, &mut variables, x)?;
    let losses = ops::sparse_softmax_cross_entropy_with_logits(&mut graph, logits, y).build()?.loss;
    let loss = ops::mean(&mut graph, losses, 0).name("loss").build()?;
    Optimizer::new(Adam::default(), 1e-3).minimize(&mut graph, &mut variables, loss)?;
    variables.initializer(&mut graph)?;
    let session = Session::with_options(graph, options)?;
    session.run(&[], &[], &["init"])?;
    let images: Vec<f32> = (0..32 * 64).map(|k| (k * 37 % 101) as f32 / 100.0).collect();
    let classes: Vec<i64> = (0..32).map(|k| k % 10).collect();
    let feeds = [Tensor::from_elements([32, 8, 8, 1], &images)?, Tensor::vector(&classes)?];
    let step = session.make_callable(&["x", "y"], &["loss"], &["train"])?;
    Ok(move || step.run(&feeds)?[0].to_scalar().map(Some))
}

/// The gradients of what a frozen graph computes with respect to its weights of two dimensions and more.
fn gradients(
    path: &str,
    batch: usize,
    options: &SessionOptions,
) -> Result<impl FnMut() -> Result<Option<f32>> + use<>> {
    let mut graph = Graph::import(&kernlink::proto::read_graph(path)?, &kernlink::registry()?)?;
    let is_weight = |id: &NodeId| {
        let node = graph.node(*id);
        let is_matrix = || graph.shape(Output { node: *id, index: 0 }).rank().is_some_and(|rank| rank >= 2);
        &*node.op.def.name == "Const" && node.signature.outputs[0].dtype == DataType::Float && is_matrix()
    };
    let outputs = |ids: Vec<NodeId>| ids.into_iter().map(|node| Output { node, index: 0 });
    let weights: Vec<NodeId> = graph.ids().filter(is_weight).collect();
    let Some(x) = graph.ids().find(|&id| graph.is_placeholder(id)) else {
        bail!(NotFound, "{path} has no placeholder")
    };
    let is_result = |id: &NodeId| !graph.is_placeholder(*id) && !graph.node(*id).signature.outputs.is_empty();
    let sinks: Vec<NodeId> = graph.sinks().into_iter().filter(is_result).collect();
    let found =
        kernlink::gradient::Gradients::of(outputs(sinks)).with_respect_to(outputs(weights)).add_to(&mut graph)?;
    let mut targets = Vec::new();
    for gradient in found.into_iter().flatten() {
        let dense = gradient.dense(&mut graph)?;
        targets.push(graph.node(dense.node).name.clone());
    }
    let input = Output { node: x, index: 0 };
    let shape: Vec<usize> =
        graph.shape(input).dims().unwrap_or_default().iter().map(|dim| dim.unwrap_or(batch)).collect();
    let count = shape.iter().product::<usize>();
    let elements: Vec<f32> = (0..count).map(|k| (k * 37 % 101) as f32 / 100.0).collect();
    let (feed, name) = (Tensor::from_elements(&shape[..], &elements)?, graph.node(x).name.clone());
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    let step = Session::with_options(graph, options)?.make_callable(&[&name], &[], &targets)?;
    Ok(move || step.run(std::slice::from_ref(&feed)).map(|_| None))
}
