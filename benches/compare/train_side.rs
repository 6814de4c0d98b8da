//! Kernlink's side of the comparison of training steps with TensorFlow: see `train.py`, which starts it.
//!
//! Usage: `train_side [--threads N] GRAPH.pb adam|momentum RATE`. For each line of the standard input, a number of steps, it prints
//! how many seconds they took, and the loss of the last.

use std::io::{BufRead as _, Write as _};
use std::time::Instant;

use kernlink::prelude::*;
use kernlink::train::{Adam, Optimizer, Sgd, Variables};

fn main() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut options = SessionOptions::new();
    if arguments.first().is_some_and(|argument| argument == "--threads") && arguments.len() > 1 {
        options = options.threads(number(&arguments[1])?);
        arguments.drain(..2);
    }
    let [graph, rule, rate] = &arguments[..] else {
        bail!(InvalidArgument, "train_side [--threads N] GRAPH.pb adam|momentum RATE")
    };
    let step = step(graph, rule, number(rate)?, &options)?;
    for line in std::io::stdin().lock().lines().map_while(|line| line.ok()) {
        let (start, mut loss) = (Instant::now(), f32::NAN);
        for _ in 0..number(line.trim())? {
            loss = step()?;
        }
        // A driver that has gone needs no answer.
        let _ = writeln!(std::io::stdout(), "[{}, {loss}]", start.elapsed().as_secs_f64());
    }
    Ok(())
}

fn number<N: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<N> {
    text.parse().map_err(|error| Error::invalid_argument(format!("`{text}`: {error}")))
}

/// A step of training the graph of a loss that `train.py` has written.
fn step(path: &str, rule: &str, rate: f64, options: &SessionOptions) -> Result<impl Fn() -> Result<f32> + use<>> {
    let mut graph = Graph::import(&kernlink::proto::read_graph(path)?, &kernlink::registry()?)?;
    let mut variables = Variables::new();
    variables.adopt(&graph, |name| name.starts_with("trainable/"))?;
    let (loss, x, y) = (graph.output("loss")?, feed(&graph, "x")?, feed(&graph, "y")?);
    match rule {
        "adam" => Optimizer::new(Adam::default(), rate).minimize(&mut graph, &mut variables, loss)?,
        "momentum" => {
            let momentum = Sgd { momentum: 0.9, ..Sgd::default() };
            Optimizer::new(momentum, rate).minimize(&mut graph, &mut variables, loss)?
        }
        _ => bail!(InvalidArgument, "the rule is adam or momentum, not `{rule}`"),
    };
    variables.initializer(&mut graph)?;
    let session = Session::with_options(graph, options)?;
    session.run(&[], &[], &["model", "init"])?;
    let step = session.make_callable(&["x", "y"], &["loss"], &["train", "updates"])?;
    Ok(move || step.run(&[x.clone(), y.clone()])?[0].to_scalar())
}

/// What is fed to a placeholder: the numbers that `train.py` has, too.
fn feed(graph: &Graph, name: &str) -> Result<Tensor> {
    let output = graph.output(name)?;
    let Some(shape) = graph.shape(output).to_shape() else {
        bail!(InvalidArgument, "the shape of `{name}` is not known")
    };
    let numbers = 0..shape.num_elements();
    Ok(match graph.node(output.node).signature.outputs[0].dtype {
        DataType::Float => {
            let numbers: Vec<f32> = numbers.map(|k| ((k * 37 % 101) as f64 / 100.0) as f32).collect();
            Tensor::from_elements(shape, &numbers)?
        }
        _ => Tensor::from_elements(shape, &numbers.map(|k| (k % 10) as i64).collect::<Vec<_>>())?,
    })
}
