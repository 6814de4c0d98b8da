//! Models on the command line: a graph, a MetaGraph, or the folder of a SavedModel.

use std::path::Path;
use std::sync::Arc;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::formats::{self, LoadOptions};
use crate::graph::Graph;
use crate::proto::{self, GraphDef, MetaGraphDef};
use crate::runtime::{Session, SessionOptions};

/// The graphs of a model as they are written, nothing run: one, or those of a SavedModel.
pub(crate) fn read(path: &Path) -> Result<Vec<MetaGraphDef>> {
    check(path)?;
    if path.is_dir() {
        return Ok(formats::read_saved_model_folder(path)?.meta_graphs);
    }
    if is_meta_graph(path) {
        return Ok(vec![proto::read_meta_graph(path)?]);
    }
    Ok(vec![MetaGraphDef { graph_def: Some(read_graph(path)?), ..MetaGraphDef::default() }])
}

fn read_graph(path: &Path) -> Result<GraphDef> {
    proto::read_graph(path).map_err(|error| {
        let is_saved_model = path.file_stem().is_some_and(|name| name == "saved_model");
        match path.parent().filter(|_| is_saved_model && path.is_file()) {
            Some(folder) => {
                let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
                error.append(format!("; it may be part of a SavedModel: give its folder, {}", folder.display()))
            }
            None => error,
        }
    })
}

/// Refuses what is no file and no folder.
fn check(path: &Path) -> Result<()> {
    if path.as_os_str() == "-" && !path.exists() {
        let message =
            "no model is read from standard input by `-`: give a file, which /dev/stdin may be if it is no pipe";
        return Err(Error::invalid_argument(message));
    }
    match path.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Error::not_found(format!(
            "cannot read {}: there is no such file or folder; a model is the folder of a SavedModel, a MetaGraph (.meta), or \
             a graph (.pb or .pbtxt)",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// What is wrong with a --tag for another model than a SavedModel.
pub(crate) fn tags_of_no_saved_model(path: &Path) -> Error {
    Error::invalid_argument(format!("--tag is for SavedModels, which {} is not", path.display()))
}

fn is_meta_graph(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.ends_with(".meta") || name.ends_with(".meta.pbtxt")
}

/// A model that is ready to run.
pub(crate) enum Model {
    Graph(Session),
    Meta(crate::MetaGraph),
    Saved(crate::SavedModel),
}

impl Model {
    /// Loads a model; `checkpoint` gives the variables of a MetaGraph their values, and those of a SavedModel others than it
    /// was saved with.
    pub(crate) fn load(
        path: &Path,
        checkpoint: Option<&Path>,
        tags: &[String],
        devices: Vec<Arc<dyn Device>>,
        session: SessionOptions,
    ) -> Result<Model> {
        check(path)?;
        let mut options = LoadOptions::new().session(session);
        options.devices = devices;
        if !tags.is_empty() {
            options.tags = Some(tags.to_vec());
        }
        let meta = is_meta_graph(path);
        if path.is_dir() {
            let model = crate::SavedModel::load_with(path, &options)?;
            if let Some(prefix) = checkpoint {
                model.restore(crate::cli::checkpoint::prefix(prefix)?)?;
            }
            return Ok(Model::Saved(model));
        }
        if checkpoint.is_some() && !meta {
            let message =
                format!("--checkpoint is for SavedModels and MetaGraphs (.meta), which {} is not", path.display());
            return Err(Error::invalid_argument(message));
        }
        if !tags.is_empty() {
            return Err(tags_of_no_saved_model(path));
        }
        if meta {
            let model = crate::MetaGraph::read_with(path, &options)?;
            if let Some(prefix) = checkpoint {
                model.restore(crate::cli::checkpoint::prefix(prefix)?)?;
            }
            let initialised = model.run_collection("table_initializer");
            initialised.map_err(|error| match checkpoint {
                None => crate::cli::job::without_checkpoint(error),
                Some(_) => error,
            })?;
            return Ok(Model::Meta(model));
        }
        let (def, registry) = (read_graph(path)?, crate::registry()?);
        let graph = Graph::import(&def, &registry)?;
        crate::cli::unknown::warn_of_attrs(&def, &registry);
        Ok(Model::Graph(Session::on_devices(graph, options.devices, &options.session)))
    }

    pub(crate) fn session(&self) -> &Session {
        match self {
            Model::Graph(session) => session,
            Model::Meta(model) => model.session(),
            Model::Saved(model) => model.session(),
        }
    }

    /// What has signatures.
    pub(crate) fn meta(&self) -> Option<&formats::MetaGraph> {
        match self {
            Model::Graph(_) => None,
            Model::Meta(model) => Some(model),
            Model::Saved(model) => Some(model),
        }
    }
}
