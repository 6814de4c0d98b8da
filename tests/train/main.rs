//! Training, held against tf.keras; see generate.py, which writes what is in `data`.

mod adopt;
mod cases;
#[cfg(feature = "npy")]
#[path = "../../examples/train-digits/main.rs"]
#[expect(dead_code, reason = "its `main` is another program's")]
mod digits;
mod models;
#[cfg(feature = "data")]
#[path = "../../examples/train-records/main.rs"]
#[expect(dead_code, reason = "its `main` is another program's")]
mod spirals;
mod values;

use kernlink::prelude::*;
use kernlink::train::{Clip, Initializer, Optimizer, Schedule, Sgd, Variables};

use self::values::Values;

/// Every schedule at its first steps, in a graph and at once.
#[test]
fn learning_rates_are_those_of_keras() {
    let values = Values::read();
    for (name, schedule) in cases::schedules() {
        let steps = values.get(&format!("{name}/steps"));
        let rates = values.get(&format!("{name}/rates"));
        let registry = kernlink::registry().unwrap();
        let mut graph = Graph::new(&registry);
        let step = ops::placeholder(&mut graph, DataType::Int64).name("step").shape([0usize; 0]).build().unwrap();
        let rate = schedule.at(&mut graph, &step).unwrap();
        let rate = graph.output_name(rate);
        let session = Session::new(graph).unwrap();
        let mut eager = EagerContext::new(&registry).unwrap();
        for (&step, &expected) in steps.as_slice::<i64>().unwrap().iter().zip(rates.as_slice::<f32>().unwrap()) {
            let step = Tensor::scalar(step);
            let found = [
                session.run(&[("step", step.clone())], &[&rate], &[]).unwrap().remove(0),
                schedule.at(&mut eager, &step).unwrap(),
            ];
            for found in found {
                let found = found.to_scalar::<f32>().unwrap();
                assert!((found - expected).abs() <= 4e-7 * expected.abs() + 1e-9, "{name}: {found}, not {expected}");
            }
        }
    }
}

#[test]
fn schedules_that_say_nothing_are_refused() {
    use kernlink::train::{CosineDecay, ExponentialDecay, PiecewiseConstantDecay, PolynomialDecay};
    let mut eager = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let wrong: [Schedule; 6] = [
        PiecewiseConstantDecay::new([1], [0.1]).into(),
        PiecewiseConstantDecay::new([2, 1], [0.1, 0.2, 0.3]).into(),
        PiecewiseConstantDecay::new([], []).into(),
        ExponentialDecay::new(0.1, 0, 0.5).into(),
        PolynomialDecay::new(0.1, 0, 0.0).into(),
        CosineDecay::new(0.1, 4).warmup(0.2, 0).into(),
    ];
    for schedule in wrong {
        let error = schedule.at(&mut eager, &Tensor::scalar(1i64)).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{schedule:?}: {error}");
        let mut variables = Variables::new();
        variables.add(&mut eager, "v", [1], Initializer::zeros()).build().unwrap();
        let error = Optimizer::new(Sgd::default(), schedule).build(&mut eager, &mut variables).map(drop).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    }
}

/// Random first values are Keras's, bit for bit but for what the last sum rounds.
#[test]
fn initial_values_are_those_of_keras() {
    let values = Values::read();
    let mut eager = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    for (name, initializer) in cases::initializers() {
        let expected = values.get(&format!("{name}/values"));
        let found = initializer.values(&mut eager, DataType::Float, expected.shape(), [0, 0]).unwrap();
        kernlink::golden::compare(&found, &expected, Some((3e-7, 1e-8)))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn variables_have_first_values_of_their_own() {
    let mut eager = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let mut first = |seed: i32, name: &str| {
        let mut variables = Variables::new().seed(seed);
        variables.add(&mut eager, "other", [2, 2], Initializer::zeros()).build().unwrap();
        variables.add(&mut eager, "first", [2, 2], Initializer::glorot_uniform()).build().unwrap();
        variables.add(&mut eager, "second", [2, 2], Initializer::glorot_uniform()).build().unwrap();
        variables.find(name).unwrap().read(&mut eager).unwrap().as_slice::<f32>().unwrap().to_vec()
    };
    assert_eq!(first(1, "first"), first(1, "first"));
    assert_ne!(first(1, "first"), first(2, "first"));
    assert_ne!(first(1, "first"), first(1, "second"));
    assert_eq!(first(1, "other"), [0.0; 4]);
}

/// The example: a network that has stopped and gone on is the same as one that has not.
#[cfg(feature = "npy")]
#[test]
fn the_example_reads_digits() {
    let folder = std::env::temp_dir().join(format!("kernlink-train-digits-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let prefix = folder.join("digits");
    let prefix = prefix.to_str().unwrap();
    let at_once = digits::train(2, None).unwrap();
    digits::train(1, Some(prefix)).unwrap();
    let resumed = digits::train(2, Some(prefix)).unwrap();
    assert_eq!(resumed.to_bits(), at_once.to_bits(), "{resumed}, {at_once}");
    let right = digits::train(8, Some(prefix)).unwrap();
    assert!(right >= 0.97, "{right}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// The example with an input pipeline: points come in the same order each time, and are learnt.
#[cfg(feature = "data")]
#[test]
fn the_example_reads_records() {
    let right = spirals::train(20).unwrap();
    assert!(right >= 0.95, "{right}");
    assert_eq!(spirals::train(2).unwrap(), spirals::train(2).unwrap());
}

/// What is wrong with variables and steps is said.
#[test]
fn mistakes_are_named() {
    let mut eager = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let mut variables = Variables::new();
    variables.add(&mut eager, "w", [2], Initializer::ones()).build().unwrap();
    let error = variables.add(&mut eager, "w", [2], Initializer::ones()).build().unwrap_err();
    assert_eq!(error.code(), Code::AlreadyExists, "{error}");
    let three = Initializer::value(Tensor::vector(&[1.0f32; 3]).unwrap());
    let error = variables.add(&mut eager, "v", [2], three.clone()).build().unwrap_err();
    assert!(error.message().contains("shape [2]") && error.message().contains("shape [3]"), "{error}");
    let error = variables.add(&mut eager, "v", [3], three).dtype(DataType::Double).build().unwrap_err();
    assert!(error.message().contains("double") && error.message().contains("float"), "{error}");
    let integer = variables.add(&mut eager, "i", [2], Initializer::ones()).dtype(DataType::Int32);
    assert_eq!(integer.trainable(true).build().unwrap_err().code(), Code::InvalidArgument);
    let integer = variables.add(&mut eager, "i", [2], Initializer::ones()).dtype(DataType::Int32).build().unwrap();
    assert!(!integer.is_trainable());

    let sgd = |clip| Optimizer::new(Sgd::default(), 0.1).clip(Clip::Norm(clip));
    for clip in [0.0, -1.0, f64::NAN] {
        let error = sgd(clip).build(&mut eager, &mut variables).map(drop).unwrap_err();
        assert!(error.message().contains("greater than 0"), "{error}");
    }
    let built = sgd(1.0).build(&mut eager, &mut variables).unwrap();
    let none: [Option<Tensor>; 1] = [None];
    let error = built.apply_gradients(&mut eager, none).map(drop).unwrap_err();
    assert!(error.message().contains("no trainable variable has a gradient"), "{error}");
    let two = [Some(Tensor::vector(&[1.0f32; 2]).unwrap()), None];
    let error = built.apply_gradients(&mut eager, two).map(drop).unwrap_err();
    assert!(error.message().contains("2 gradients are given for 1 trainable"), "{error}");
}
