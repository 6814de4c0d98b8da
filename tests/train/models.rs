//! Small models that are trained.

use std::sync::Arc;

use kernlink::gradient::TracedGradient;
use kernlink::prelude::*;
use kernlink::registry::Registry;
use kernlink::train::{Adam, Clip, Initializer, Optimizer, Saver, Schedule, Sgd, Variables};

fn registry() -> Arc<Registry> {
    kernlink::registry().unwrap()
}

/// A graph that learns `y = x * [[2], [-3]] + 1`, and what is in it.
struct Line {
    session: Session,
    loss: String,
    saver: Saver,
}

impl Line {
    fn new(optimizer: Optimizer<Adam>) -> Result<Line> {
        let mut graph = Graph::new(&registry());
        let mut variables = Variables::new();
        let x = ops::placeholder(&mut graph, DataType::Float).name("x").shape([16, 2]).build()?;
        let y = ops::placeholder(&mut graph, DataType::Float).name("y").shape([16, 1]).build()?;
        let weights = variables.add(&mut graph, "weights", [2, 1], Initializer::glorot_uniform()).build()?;
        let bias = variables.add(&mut graph, "bias", [1], Initializer::zeros()).build()?;
        let (weights, bias) = (weights.read(&mut graph)?, bias.read(&mut graph)?);
        let found = ops::mat_mul(&mut graph, x, weights).build()?;
        let found = ops::add_v2(&mut graph, found, bias).build()?;
        let squares = ops::squared_difference(&mut graph, found, y).build()?;
        let loss = ops::mean(&mut graph, squares, &[0i32, 1][..]).build()?;
        optimizer.minimize(&mut graph, &mut variables, loss)?;
        variables.initializer(&mut graph)?;
        let saver = variables.saver(&mut graph)?;
        let loss = graph.output_name(loss);
        Ok(Line { session: Session::new(graph)?, loss, saver })
    }

    fn train(&self, steps: usize) -> Result<f32> {
        let numbers: Vec<f32> = (0..32u8).map(|i| f32::from(i * 7 % 11) / 5.0 - 1.0).collect();
        let answers: Vec<f32> = numbers.chunks(2).map(|x| 2.0 * x[0] - 3.0 * x[1] + 1.0).collect();
        let (x, y) = (Tensor::from_elements([16, 2], &numbers)?, Tensor::from_elements([16, 1], &answers)?);
        let train = self.session.make_callable(&["x", "y"], &[&self.loss], &["train"])?;
        let mut loss = f32::NAN;
        for _ in 0..steps {
            loss = train.run(&[x.clone(), y.clone()])?[0].to_scalar()?;
        }
        Ok(loss)
    }
}

#[test]
fn a_graph_learns_and_goes_on_from_its_checkpoint() {
    let folder = std::env::temp_dir().join(format!("kernlink-train-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let prefix = folder.join("line");
    let prefix = prefix.to_str().unwrap();

    let adam = || Optimizer::new(Adam::default(), 0.1).clip(Clip::GlobalNorm(5.0));
    let line = Line::new(adam()).unwrap();
    // Without first values there is nothing to train.
    assert_eq!(line.train(1).unwrap_err().code(), Code::FailedPrecondition);
    line.session.run(&[], &[], &["init"]).unwrap();
    let first = line.train(1).unwrap();
    let later = line.train(99).unwrap();
    line.saver.save(&line.session, prefix).unwrap();
    let last = line.train(100).unwrap();
    assert!(first > 1.0 && later < 0.1 && last < later, "{first}, {later}, {last}");

    // What a step depends on is all in the checkpoint: it goes on as if it had never stopped.
    let resumed = Line::new(adam()).unwrap();
    resumed.saver.restore(&resumed.session, prefix).unwrap();
    assert_eq!(resumed.train(100).unwrap().to_bits(), last.to_bits());

    let missing = folder.join("missing");
    let error = resumed.saver.restore(&resumed.session, missing.to_str().unwrap()).unwrap_err();
    assert_eq!(error.code(), Code::NotFound, "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_loss_of_a_step_is_that_before_it() {
    let line = Line::new(Optimizer::new(Adam::default(), 0.5)).unwrap();
    line.session.run(&[], &[], &["init"]).unwrap();
    let losses: Vec<f32> = (0..4).map(|_| line.train(1).unwrap()).collect();
    for _ in 0..20 {
        line.session.run(&[], &[], &["init"]).unwrap();
        assert_eq!((0..4).map(|_| line.train(1).unwrap()).collect::<Vec<_>>(), losses);
    }
}

#[test]
fn a_tape_trains_what_runs_at_once() {
    let mut eager = EagerContext::new(&registry()).unwrap();
    let mut variables = Variables::new();
    let weight = variables.add(&mut eager, "weight", [2], Initializer::ones()).build().unwrap();
    let fixed = variables.add(&mut eager, "fixed", [2], Initializer::ones()).trainable(false).build().unwrap();
    let mut sgd = Optimizer::new(Sgd::default(), 0.25).build(&mut eager, &mut variables).unwrap();
    let mut step = |sgd: &kernlink::train::BuiltOptimizer<EagerContext, Sgd>| {
        let mut tape = GradientTape::new(&eager);
        let trained = variables.watch(&mut tape).unwrap();
        let value = weight.read(&mut tape).unwrap();
        let added = fixed.read(&mut tape).unwrap();
        let sum = ops::add_v2(&mut tape, value, added).build().unwrap();
        let square = ops::square(&mut tape, sum).build().unwrap();
        let loss = ops::sum(&mut tape, square, 0).build().unwrap();
        let gradients: Vec<Option<TracedGradient>> = tape.gradient(&loss, &trained).unwrap();
        sgd.apply_gradients(&mut eager, gradients).unwrap();
        weight.read(&mut eager).unwrap().as_slice::<f32>().unwrap().to_vec()
    };
    // w -= rate * 2 * (w + 1)
    assert_eq!(step(&sgd), [0.0, 0.0]);
    assert_eq!(step(&sgd), [-0.5, -0.5]);
    sgd.set_learning_rate(Schedule::Constant(0.5));
    assert_eq!(step(&sgd), [-1.0, -1.0]);
}

#[test]
fn rows_of_a_variable_are_trained_without_the_others() {
    let mut graph = Graph::new(&registry());
    let mut variables = Variables::new();
    let table = variables.add(&mut graph, "table", [4, 2], Initializer::ones()).build().unwrap();
    let picked = ops::resource_gather(&mut graph, table.handle(), &[1i32, 3, 1][..], DataType::Float).build().unwrap();
    let loss = ops::sum(&mut graph, picked, &[0i32, 1][..]).build().unwrap();
    let sgd = Optimizer::new(Sgd { momentum: 0.5, nesterov: false }, 0.25);
    sgd.minimize(&mut graph, &mut variables, loss).unwrap();
    let ops_of_graph: Vec<&str> = graph.nodes().iter().map(|node| &*node.op.def.name).collect();
    assert!(ops_of_graph.contains(&"ResourceSparseApplyKerasMomentum"), "{ops_of_graph:?}");
    variables.initializer(&mut graph).unwrap();
    let read = table.read(&mut graph).unwrap();
    let read = graph.output_name(read);
    let session = Session::new(graph).unwrap();
    session.run(&[], &[], &["init"]).unwrap();
    session.run(&[], &[], &["train"]).unwrap();
    let found = session.run(&[], &[&read], &[]).unwrap();
    assert_eq!(found[0].as_slice::<f32>().unwrap(), [1.0, 1.0, 0.5, 0.5, 1.0, 1.0, 0.75, 0.75]);
}

#[test]
fn what_depends_on_no_variable_cannot_be_minimized() {
    let mut graph = Graph::new(&registry());
    let mut variables = Variables::new();
    variables.add(&mut graph, "w", [2], Initializer::ones()).build().unwrap();
    let x = ops::placeholder(&mut graph, DataType::Float).build().unwrap();
    let nodes = graph.nodes().len();
    let error = Optimizer::new(Sgd::default(), 0.1).minimize(&mut graph, &mut variables, x).unwrap_err();
    assert!(error.code() == Code::InvalidArgument && error.message().contains("[\"w\"]"), "{error}");
    assert_eq!(graph.nodes().len(), nodes);
    assert_eq!(variables.iter().count(), 1);
}

#[test]
fn weights_decay_but_for_those_that_are_excluded() {
    let mut eager = EagerContext::new(&registry()).unwrap();
    let mut variables = Variables::new();
    variables.add(&mut eager, "dense/kernel", [1], Initializer::ones()).build().unwrap();
    variables.add(&mut eager, "dense/bias", [1], Initializer::ones()).build().unwrap();
    let sgd = Optimizer::new(Sgd::default(), 0.5).weight_decay(0.5).exclude_from_weight_decay(["bias"]);
    let sgd = sgd.build(&mut eager, &mut variables).unwrap();
    let zero = || Some(Tensor::vector(&[0.0f32]).unwrap());
    sgd.apply_gradients(&mut eager, [zero(), zero()]).unwrap();
    let mut value = |name: &str| variables.find(name).unwrap().read(&mut eager).unwrap().as_slice::<f32>().unwrap()[0];
    assert_eq!((value("dense/kernel"), value("dense/bias")), (0.75, 1.0));
}
