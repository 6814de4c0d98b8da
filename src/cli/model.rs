//! Models that the command runs: a graph, a MetaGraph, or the folder of a SavedModel.

use std::path::Path;
use std::sync::Arc;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::formats::{self, LoadOptions};
use crate::graph::Graph;
use crate::runtime::{Session, SessionOptions};
use crate::tools::model::{check, is_meta_graph, read_graph};
use crate::tools::words::Called;

/// What is wrong with a --tag for another model than a SavedModel.
pub(crate) fn tags_of_no_saved_model(path: &Path, called: Called) -> Error {
    Error::invalid_argument(format!("{} is for SavedModels, which {} is not", called.named("tag"), path.display()))
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
        called: Called,
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
            let (option, path) = (called.named("checkpoint"), path.display());
            let message = format!("{option} is for SavedModels and MetaGraphs (.meta), which {path} is not");
            return Err(Error::invalid_argument(message));
        }
        if !tags.is_empty() {
            return Err(tags_of_no_saved_model(path, called));
        }
        if meta {
            let model = crate::MetaGraph::read_with(path, &options)?;
            if let Some(prefix) = checkpoint {
                model.restore(crate::cli::checkpoint::prefix(prefix)?)?;
            }
            let initialised = model.run_collection("table_initializer");
            initialised.map_err(|error| match checkpoint {
                None => crate::cli::job::without_checkpoint(error, called),
                Some(_) => error,
            })?;
            return Ok(Model::Meta(model));
        }
        let (def, registry) = (read_graph(path)?, crate::registry()?);
        let graph = Graph::import(&def, &registry)?;
        crate::cli::warn_of_attrs(&def, &registry);
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
