//! Trains from files of records: an input pipeline in front of the steps.
//!
//! Usage: train-records [EPOCHS]
//!
//! The files are TFRecords of Examples, which this program writes first, as other programs would: points of a plane, and on which
//! of three spirals each lies. A pipeline reads them, shuffles them, makes batches, parses those, and has the next ones ready
//! while a network learns from one to tell the spirals apart. It is part of the graph: a step is one run without any feeds.

mod records;

use std::path::PathBuf;

use kernlink::prelude::*;
use kernlink::train::{Adam, Initializer, Optimizer, Variables};

/// How many spirals there are, and how many points of each are learnt from, and tested with.
const SPIRALS: usize = 3;
const POINTS: usize = 400;
const TEST_POINTS: usize = 100;
const BATCH: usize = 32;

fn main() -> Result<()> {
    let epochs = std::env::args().nth(1).map_or(Ok(20), |epochs| epochs.parse());
    train(epochs.map_err(|error| Error::invalid_argument(format!("EPOCHS: {error}")))?).map(drop)
}

/// Trains for so many epochs; the share of the test points whose spiral is found then.
pub(crate) fn train(epochs: usize) -> Result<f32> {
    // The files. What trains does not know how they came to be there.
    let folder = Folder::new()?;
    let mut graph = Graph::new(&kernlink::registry()?);
    let files = records::write(&folder.0, "train", 4, POINTS)?;
    let test_files = records::write(&folder.0, "test", 1, TEST_POINTS)?;

    // The graph: pipelines, and the network with its loss and a step that lowers the loss. The node of an iterator gives the
    // next batch in each run that needs it, and fails with OUT_OF_RANGE behind the last.
    let batches = pipeline(&mut graph, &files, BATCH, Some(1))?;
    let (points, labels) = iterate(&mut graph, batches, "epoch")?;
    let test_batches = pipeline(&mut graph, &test_files, SPIRALS * TEST_POINTS, None)?;
    let (test_points, test_labels) = iterate(&mut graph, test_batches, "test")?;

    let mut variables = Variables::new().seed(1);
    let network = Network::new(&mut graph, &mut variables)?;
    let logits = network.logits(&mut graph, points)?;
    let losses = ops::sparse_softmax_cross_entropy_with_logits(&mut graph, logits, labels).build()?.loss;
    let loss = ops::mean(&mut graph, losses, 0).name("loss").build()?;
    Optimizer::new(Adam::default(), 1e-2).minimize(&mut graph, &mut variables, loss)?;
    variables.initializer(&mut graph)?;

    let logits = network.logits(&mut graph, test_points)?;
    let found = ops::arg_max(&mut graph, logits, 1).build()?;
    let is_right = ops::equal(&mut graph, found, test_labels).build()?;
    let is_right = ops::cast(&mut graph, is_right, DataType::Float).build()?;
    ops::mean(&mut graph, is_right, 0).name("accuracy").build()?;

    // The session. "epoch" and "test" set the iterators to the beginning of their datasets.
    let session = Session::new(graph)?;
    session.run(&[], &[], &["init"])?;
    let step = session.make_callable(&[], &["loss"], &["train"])?;
    let mut right = 0.0;
    for epoch in 1..=epochs {
        session.run(&[], &[], &["epoch"])?;
        let (mut sum, mut steps) = (0.0, 0);
        loop {
            match step.run(&[]) {
                Ok(loss) => sum += loss[0].to_scalar::<f32>()?,
                Err(end) if end.code() == Code::OutOfRange => break,
                Err(error) => return Err(error),
            }
            steps += 1;
        }
        session.run(&[], &[], &["test"])?;
        right = session.run(&[], &["accuracy"], &[])?[0].to_scalar()?;
        println!(
            "epoch {epoch:>2}/{epochs}  {steps} steps  loss {:.4}  test {:>5.1} %",
            sum / steps as f32,
            100.0 * right
        );
    }
    Ok(right)
}

/// A dataset of batches: the points and the labels of so many Examples each, in random order if there is a seed.
fn pipeline(graph: &mut Graph, files: &[PathBuf], batch: usize, seed: Option<i64>) -> Result<Output> {
    // What an element of each dataset is: one string, a vector of them, a batch of each feature.
    let (string, strings) = (PartialShape::of_rank(0), PartialShape::from_known([None]));
    let (labels, points) = (PartialShape::from_known([None]), PartialShape::from_known([None, Some(2)]));

    let names =
        Tensor::vector(&files.iter().map(|file| file.to_string_lossy().as_ref().into()).collect::<Vec<TString>>())?;
    let mut dataset = ops::tf_record_dataset(graph, names, "", 0i64).build()?;
    if let Some(seed) = seed {
        // So many records are held, of which one is taken at random; another order in each epoch.
        let held = (SPIRALS * POINTS) as i64;
        let (dtypes, shapes) = (&[DataType::String][..], &[string][..]);
        dataset = ops::shuffle_dataset(graph, dataset, held, seed, 0i64, dtypes, shapes).build()?;
    }
    // Batches of strings first: they are parsed all at once.
    let (dtypes, shapes) = (&[DataType::String][..], &[strings][..]);
    dataset = ops::batch_dataset_v2(graph, dataset, batch as i64, false, dtypes, shapes).build()?;

    // Of the features of an Example those that are wanted, each with its dtype and shape, in the order of their names. There is
    // no default for one that an Example lacks: an error says so.
    let (dtypes, shapes) = (&[DataType::Int64, DataType::Float][..], &[labels, points][..]);
    let parsed = ops::ParseExampleDatasetV2Required {
        sparse_keys: &[],
        dense_keys: &["label", "point"],
        sparse_types: &[],
        dense_shapes: &[PartialShape::of_rank(0), PartialShape::from_known([Some(2)])],
        output_types: dtypes,
        output_shapes: shapes,
    };
    let none = [Tensor::zeros(DataType::Int64, [0])?, Tensor::zeros(DataType::Float, [0])?];
    dataset = ops::parse_example_dataset_v2(graph, dataset, -1i64, none, parsed).build()?;

    // Threads make two batches ahead while a step computes.
    ops::prefetch_dataset(graph, dataset, 2i64, dtypes, shapes).build()
}

/// An iterator over batches, which the node `begin` sets to the beginning: the points and labels of the next batch.
fn iterate(graph: &mut Graph, batches: Output, begin: &str) -> Result<(Output, Output)> {
    let (dtypes, shapes) = (
        &[DataType::Int64, DataType::Float][..],
        &[PartialShape::from_known([None]), PartialShape::from_known([None, Some(2)])][..],
    );
    let iterator =
        ops::IteratorV2Required { shared_name: begin, container: "", output_types: dtypes, output_shapes: shapes };
    let iterator = ops::iterator_v2(graph, iterator).build()?;
    ops::make_iterator(graph, batches, iterator).name(begin).build()?;
    let next = ops::iterator_get_next(graph, iterator, dtypes, shapes).build()?;
    Ok((next[1], next[0]))
}

/// Dense layers with ReLU between them: a logit for each spiral.
struct Network(Vec<(Output, Output)>);

impl Network {
    fn new(graph: &mut Graph, variables: &mut Variables<Graph>) -> Result<Network> {
        let mut layers = Vec::new();
        for (layer, shape) in [("hidden1", [2, 32]), ("hidden2", [32, 32]), ("logits", [32, SPIRALS])] {
            let weights = variables.add(graph, &format!("{layer}/weights"), shape, Initializer::he_normal()).build()?;
            let bias = variables.add(graph, &format!("{layer}/bias"), [shape[1]], Initializer::zeros()).build()?;
            layers.push((weights.read(graph)?, bias.read(graph)?));
        }
        Ok(Network(layers))
    }

    fn logits(&self, graph: &mut Graph, points: Output) -> Result<Output> {
        let mut x = points;
        for (layer, &(weights, bias)) in self.0.iter().enumerate() {
            if layer > 0 {
                x = ops::relu(graph, x).build()?;
            }
            x = ops::mat_mul(graph, x, weights).build()?;
            x = ops::bias_add(graph, x, bias).build()?;
        }
        Ok(x)
    }
}

/// A folder for the files, which goes when this is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder> {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let own = format!("kernlink-train-records-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(own);
        std::fs::create_dir_all(&folder)
            .map_err(|error| Error::unavailable(format!("{}: {error}", folder.display())))?;
        Ok(Folder(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}
