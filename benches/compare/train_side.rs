//! Kernlink's side of the comparison of training steps with TensorFlow: see `train.py`, which starts it.
//!
//! Usage: `train_side [--profile] [--threads N] GRAPH.pb adam|momentum RATE`. For each line of the standard input, a number of
//! steps, it prints how many seconds they took, and the loss of the last. With `--profile` it prints what a step's ops took, and the
//! slowest nodes.

use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};
use std::time::{Duration, Instant};

use kernlink::prelude::*;
use kernlink::runtime::{RunMetadata, RunOptions};
use kernlink::train::{Adam, Optimizer, Sgd, Variables};

fn main() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_profile = arguments.first().is_some_and(|argument| argument == "--profile");
    arguments.drain(..usize::from(is_profile));
    let mut options = SessionOptions::new();
    if arguments.first().is_some_and(|argument| argument == "--threads") && arguments.len() > 1 {
        options = options.threads(number(&arguments[1])?);
        arguments.drain(..2);
    }
    let [graph, rule, rate] = &arguments[..] else {
        bail!(InvalidArgument, "train_side [--profile] [--threads N] GRAPH.pb adam|momentum RATE")
    };
    let training = Training::new(graph, rule, number(rate)?, &options)?;
    if is_profile {
        return training.profile();
    }
    let step = training.session.make_callable(&["x", "y"], &["loss"], &TARGETS)?;
    for line in std::io::stdin().lock().lines().map_while(|line| line.ok()) {
        let (start, mut loss) = (Instant::now(), f32::NAN);
        for _ in 0..number(line.trim())? {
            loss = step.run(&training.feeds)?[0].to_scalar()?;
        }
        // A driver that has gone needs no answer.
        let _ = writeln!(std::io::stdout(), "[{}, {loss}]", start.elapsed().as_secs_f64());
    }
    Ok(())
}

fn number<N: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<N> {
    text.parse().map_err(|error| Error::invalid_argument(format!("`{text}`: {error}")))
}

/// The nodes of a step: that of the optimiser, and averages.
const TARGETS: [&str; 2] = ["train", "updates"];

/// The training of the graph of a loss that `train.py` has written.
struct Training {
    session: Session,
    feeds: [Tensor; 2],
}

impl Training {
    fn new(path: &str, rule: &str, rate: f64, options: &SessionOptions) -> Result<Training> {
        let mut graph = Graph::import(&kernlink::proto::read_graph(path)?, &kernlink::registry()?)?;
        let mut variables = Variables::new();
        variables.adopt(&graph, |name| name.starts_with("trainable/"))?;
        let (loss, feeds) = (graph.output("loss")?, [feed(&graph, "x")?, feed(&graph, "y")?]);
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
        Ok(Training { session, feeds })
    }

    /// Prints what the ops of the third step took.
    fn profile(&self) -> Result<()> {
        let mut metadata = RunMetadata::default();
        let [x, y] = &self.feeds;
        for step in 0..3 {
            metadata = RunMetadata::default();
            let (feeds, options) = ([("x", x.clone()), ("y", y.clone())], RunOptions::default().trace(step == 2));
            self.session.run_with_metadata(&feeds, &["loss"], &TARGETS, &options, &mut metadata)?;
        }
        let mut by_op: BTreeMap<&str, (Duration, usize)> = BTreeMap::new();
        for node in &metadata.step_stats {
            let (time, count) = by_op.entry(&node.op).or_default();
            (*time, *count) = (*time + node.time, *count + 1);
        }
        let mut ops: Vec<_> = by_op.into_iter().collect();
        ops.sort_by_key(|(_, (time, _))| std::cmp::Reverse(*time));
        for (op, (time, count)) in ops.into_iter().take(30) {
            println!("{:9.2} ms {count:5}  {op}", time.as_secs_f64() * 1e3);
        }
        metadata.step_stats.sort_by_key(|node| std::cmp::Reverse(node.time));
        for node in metadata.step_stats.iter().take(40) {
            println!(
                "{:9.2} ms  {} {}: {} -> {}",
                node.time.as_secs_f64() * 1e3,
                node.op,
                node.node,
                node.inputs,
                node.outputs
            );
        }
        Ok(())
    }
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
