//! Models and checkpoints whose files have been corrupted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernlink::device::Device;
use kernlink::formats::{CheckpointReader, LoadOptions, MetaGraph, SliceFilesReader};
use kernlink::tensor::Tensor;
use kernlink::{Result, SavedModel};

use crate::run_graph;
use crate::support::random_op::{self, Choices, Outcome};
use crate::support::{golden_files, path};

/// What is loaded from a folder or a file.
#[derive(Clone, Copy)]
enum Kind {
    Graph,
    SavedModel,
    MetaGraph,
    Checkpoint,
    SliceFiles,
}

/// A model or checkpoint of the tests.
pub(crate) struct Model {
    kind: Kind,
    /// Its folder; a graph is a file.
    from: PathBuf,
    /// The file or prefix in the folder that it is loaded by.
    name: &'static str,
    /// Its files, relative to the folder.
    files: Vec<PathBuf>,
}

/// Models and checkpoints of every format, of TensorFlow and of Keras.
pub(crate) fn models() -> Vec<Model> {
    let mut models = vec![
        model(Kind::SavedModel, "tests/saved_model/data/tf2", ""),
        model(Kind::SavedModel, "tests/saved_model/data/keras", ""),
        model(Kind::MetaGraph, "tests/saved_model/data/meta", "model.meta"),
        model(Kind::Checkpoint, "tests/checkpoint/data", "one"),
        model(Kind::Checkpoint, "tests/checkpoint/data", "two"),
        model(Kind::SliceFiles, "tests/checkpoint/data", "first"),
    ];
    if cfg!(feature = "text-format") {
        models.push(model(Kind::SavedModel, "tests/saved_model/data/tf1", ""));
    }
    let small = |file: &PathBuf| std::fs::metadata(file).is_ok_and(|data| data.len() < 1 << 20);
    let graphs = golden_files().into_iter().filter(small).chain([path("examples/digits/digits.pb")]);
    models.extend(graphs.map(|from| Model { kind: Kind::Graph, from, name: "", files: Vec::new() }));
    models
}

fn model(kind: Kind, folder: &str, name: &'static str) -> Model {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        let entries = std::fs::read_dir(folder).expect("the data of the tests");
        for entry in entries.map(|entry| entry.expect("readable").path()) {
            if entry.is_dir() { walk(&entry, files) } else { files.push(entry) }
        }
    }
    let (from, mut files) = (path(folder), Vec::new());
    walk(&from, &mut files);
    let belongs = |file: &Path| file.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name));
    files.retain(|file| matches!(kind, Kind::SavedModel | Kind::MetaGraph) || belongs(file));
    files.sort();
    let files = files.iter().map(|file| file.strip_prefix(&from).expect("it is in there").to_owned()).collect();
    Model { kind, from, name, files }
}

impl Model {
    pub(crate) fn name(&self) -> String {
        self.from.join(self.name).display().to_string()
    }

    /// Corrupts one of its files, loads it and runs what it offers.
    pub(crate) fn corrupt_and_load(&self, choices: &mut Choices, device: &Arc<dyn Device>) -> Result<Outcome, String> {
        if let Kind::Graph = self.kind {
            let mut bytes = std::fs::read(&self.from).expect("the data of the tests");
            corrupt(choices, &mut bytes);
            let Ok(def) = kernlink::proto::graph_from_bytes(bytes) else { return Ok(Outcome::Refused) };
            return run_graph(&def, device);
        }
        let folder = PathBuf::from("model");
        let _ = std::fs::remove_dir_all(&folder);
        let chosen = choices.below(self.files.len());
        for (index, file) in self.files.iter().enumerate() {
            let mut bytes = std::fs::read(self.from.join(file)).expect("the data of the tests");
            if index == chosen {
                corrupt(choices, &mut bytes);
            }
            let to = folder.join(file);
            let parent = to.parent().expect("it is in the folder");
            std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&to, bytes)).expect("a file can be written");
        }
        match self.load(&folder, device) {
            Ok(()) => Ok(Outcome::Ran),
            Err(error) => random_op::is_fault(&error).map(|()| Outcome::Refused),
        }
    }

    fn load(&self, folder: &Path, device: &Arc<dyn Device>) -> Result<()> {
        let options = LoadOptions::new().device(device.clone());
        let file = folder.join(self.name);
        match self.kind {
            Kind::Graph => Ok(()),
            Kind::SavedModel => {
                let model = SavedModel::load_with(folder, &options.tags(&["serve"]))?;
                run_signatures(&model)
            }
            Kind::MetaGraph => {
                let model = MetaGraph::read(&file, &kernlink::registry()?, &options)?;
                model.restore(folder.join("model"))?;
                run_signatures(&model)
            }
            Kind::Checkpoint => {
                let reader = CheckpointReader::open(&file)?;
                reader.tensors().try_for_each(|(name, _)| reader.read(name).map(drop))
            }
            Kind::SliceFiles => {
                let reader = SliceFilesReader::open(&folder.join("first-?????-of-00002").to_string_lossy())?;
                reader.tensors().try_for_each(|(name, ..)| reader.read(name).map(drop))
            }
        }
    }
}

/// Runs every signature with zeros.
fn run_signatures(model: &MetaGraph) -> Result<()> {
    for (name, signature) in model.signatures() {
        let mut inputs = Vec::new();
        for (input, tensor) in &signature.inputs {
            let dims = tensor.shape.dims().unwrap_or_default();
            let dims: Vec<usize> = dims.iter().map(|dim| dim.unwrap_or(2)).collect();
            inputs.push((input.as_str(), Tensor::zeros(tensor.dtype, dims)?));
        }
        model.signature(name)?.run_with(&inputs, &crate::options())?;
    }
    Ok(())
}

/// Changes, inserts, removes or cuts off some bytes; mostly changes, which leave most of a file readable.
pub(crate) fn corrupt(choices: &mut Choices, bytes: &mut Vec<u8>) {
    for _ in 0..1 + choices.below(4) {
        if bytes.is_empty() {
            return;
        }
        let position = (choices.below(1 << 15) << 15 | choices.below(1 << 15)) % bytes.len();
        match choices.below(10) {
            0 => bytes.truncate(position),
            1 => drop(bytes.remove(position)),
            2 => bytes.insert(position, choices.below(256) as u8),
            3..=5 => bytes[position] = choices.below(256) as u8,
            _ => bytes[position] ^= 1 << choices.below(8),
        }
    }
}
