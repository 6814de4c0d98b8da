//! Models in files: a graph, a MetaGraph, or the folder of a SavedModel.

use std::path::Path;

use crate::error::{Error, Result};
use crate::formats;
use crate::proto::{self, GraphDef, MetaGraphDef};

/// The graphs of a model as they are written, nothing run: that of a MetaGraph (`.meta`) or a graph (`.pb`, `.pbtxt`), or those of the
/// folder of a SavedModel.
///
/// # Errors
/// NOT_FOUND if there is no such file or folder; INVALID_ARGUMENT if it is malformed; and those of the system.
pub fn read_model(path: &Path) -> Result<Vec<MetaGraphDef>> {
    check(path)?;
    if path.is_dir() {
        return Ok(formats::read_saved_model_folder(path)?.meta_graphs);
    }
    if is_meta_graph(path) {
        return Ok(vec![proto::read_meta_graph(path)?]);
    }
    Ok(vec![MetaGraphDef { graph_def: Some(read_graph(path)?), ..MetaGraphDef::default() }])
}

pub(crate) fn read_graph(path: &Path) -> Result<GraphDef> {
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
pub(crate) fn check(path: &Path) -> Result<()> {
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

pub(crate) fn is_meta_graph(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.ends_with(".meta") || name.ends_with(".meta.pbtxt")
}
