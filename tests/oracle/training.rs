//! Training graphs of TensorFlow 1 and 2 train here as they do there, and what they learnt is saved.
//!
//! `tests/training/generate.py` wrote the graphs, the batches and TensorFlow's losses.

use std::path::{Path, PathBuf};

use crate::support::path;
use kernlink::formats::{CheckpointReader, LoadOptions};
use kernlink::prelude::*;

const STEPS: usize = 100;

fn file(name: &str) -> PathBuf {
    path("tests/training/data").join(name)
}

fn numbers(name: &str) -> Vec<f32> {
    kernlink::npy::read(file(name)).unwrap().as_slice::<f32>().unwrap().to_vec()
}

/// The batches in a file: its parts along the first dimension.
fn batches(name: &str) -> Vec<Tensor> {
    let all = kernlink::npy::read(file(name)).unwrap();
    let (shape, bytes) = (all.shape().dims()[1..].to_vec(), all.bytes().unwrap());
    let part = bytes.len() / STEPS;
    bytes.chunks_exact(part).map(|bytes| Tensor::from_bytes(all.dtype(), shape.clone(), bytes).unwrap()).collect()
}

/// Trains on the batches of `folder` and compares the loss of each step with TensorFlow's.
fn train(folder: &str, step: impl Fn(&Tensor, &Tensor) -> Result<Tensor>) {
    let part = |name: &str| format!("{folder}/{name}.npy");
    let (x, y, losses) = (batches(&part("x")), batches(&part("y")), numbers(&part("losses")));
    assert_eq!((x.len(), y.len(), losses.len()), (STEPS, STEPS, STEPS));
    let mut worst = 0.0f32;
    for (number, ((x, y), expected)) in x.iter().zip(&y).zip(losses).enumerate() {
        let found = step(x, y).unwrap().to_scalar::<f32>().unwrap();
        let difference = ((found - expected) / expected).abs();
        assert!(difference <= 1e-4, "step {number}: the loss is {found}, not {expected}");
        worst = worst.max(difference);
    }
    println!("{folder}: the largest relative difference of a loss is {worst:.1e}");
}

/// The largest difference of variables in two checkpoints, in parts of their largest magnitude; infinite if whole numbers
/// differ.
fn difference(found: &Path, expected: &Path) -> f32 {
    let (found, expected) = (CheckpointReader::open(found).unwrap(), CheckpointReader::open(expected).unwrap());
    let names = |reader: &CheckpointReader| reader.tensors().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(&found), names(&expected));
    let mut worst = 0.0f32;
    for name in names(&expected) {
        let (a, b) = (found.read(&name).unwrap(), expected.read(&name).unwrap());
        assert_eq!((a.dtype(), a.shape()), (b.dtype(), b.shape()), "{name}");
        if a.dtype() != DataType::Float {
            if a.bytes().unwrap() != b.bytes().unwrap() {
                return f32::INFINITY;
            }
            continue;
        }
        let (a, b) = (a.as_slice::<f32>().unwrap(), b.as_slice::<f32>().unwrap());
        let magnitude = b.iter().fold(f32::MIN_POSITIVE, |most, b| most.max(b.abs()));
        worst = a.iter().zip(b).fold(worst, |worst, (a, b)| worst.max((a - b).abs() / magnitude));
    }
    worst
}

#[test]
fn a_graph_of_tensorflow_1_trains_and_saves_what_it_learnt() {
    for threads in [1, 3] {
        let options = LoadOptions::new().session(SessionOptions::new().threads(threads));
        let model = MetaGraph::read_with(file("tf1/graph.meta"), &options).unwrap();
        model.restore(file("tf1/start")).unwrap();
        train("tf1", |x, y| {
            let feeds = [("x", x.clone()), ("y", y.clone())];
            Ok(model.session().run(&feeds, &["loss"], &["train"])?.remove(0))
        });
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("training");
        std::fs::create_dir_all(&folder).unwrap();
        let saved = folder.join(format!("end-{threads}"));
        model.save(&saved).unwrap();
        let worst = difference(&saved, &file("tf1/end"));
        println!("tf1: variables differ by at most {worst:.1e} of their largest magnitude");
        assert!(worst <= 1e-3, "{worst}");
        // The steps did change them.
        assert!(difference(&saved, &file("tf1/start")) > 0.5);
    }
}

#[test]
fn a_function_of_tensorflow_2_trains() {
    let model = SavedModel::load(file("tf2/model")).unwrap();
    let runner = model.signature("train").unwrap();
    train("tf2", |x, y| {
        let mut outputs = runner.run(&[("x", x.clone()), ("y", y.clone())])?;
        outputs.remove("loss").ok_or_else(|| Error::not_found("loss"))
    });
}
