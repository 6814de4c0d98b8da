//! SavedModels: folders with graphs, variables and assets.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use prost::Message;

use super::checkpoint::CheckpointReader;
use super::meta_graph::{INIT_SIGNATURE, LoadOptions, MetaGraph, node_of, path_tensor};
use crate::error::{Error, Result};
use crate::graph::NodeClass;
use crate::proto::{self, AssetFileDef, MetaGraphDef, collection_def, read_saved_model, tensor_info};
use crate::registry::Registry;
use crate::runtime::Session;
use crate::tensor::Tensor;

/// The tag of graphs that answer requests.
const SERVE: &str = "serve";

/// A SavedModel that is ready to run: a [`MetaGraph`] whose variables are restored and whose initialiser has run.
pub struct SavedModel {
    meta: MetaGraph,
    tags: Vec<String>,
}

/// The message in a SavedModel's folder: `saved_model.pb`, or else `saved_model.pbtxt`.
///
/// # Errors
/// NOT_FOUND if there is neither; otherwise as [`read_saved_model`].
pub fn read_saved_model_folder(folder: impl AsRef<Path>) -> Result<proto::SavedModel> {
    let folder = folder.as_ref();
    let files = ["saved_model.pb", "saved_model.pbtxt"].map(|name| folder.join(name));
    match files.iter().find(|file| file.exists() && !file.is_dir()) {
        Some(file) => read_saved_model(file),
        None => Err(Error::not_found(format!(
            "Could not find SavedModel .pb or .pbtxt at supplied export directory path: {}",
            folder.display()
        ))),
    }
}

/// The tags of a graph.
fn tags(def: &MetaGraphDef) -> Vec<String> {
    def.meta_info_def.as_ref().map(|info| info.tags.clone()).unwrap_or_default()
}

/// The graph with these tags, all of them; by default that with the tag `serve`, or the only one.
///
/// # Errors
/// NOT_FOUND if there is none.
pub fn choose_meta_graph(def: proto::SavedModel, wanted: Option<&[String]>) -> Result<MetaGraphDef> {
    let set = |tags: &[String]| tags.iter().cloned().collect::<BTreeSet<_>>();
    let found: Vec<BTreeSet<String>> = def.meta_graphs.iter().map(|graph| set(&tags(graph))).collect();
    let serve = [SERVE.to_owned()];
    let exact = set(wanted.unwrap_or(&serve));
    let position = match found.iter().position(|tags| *tags == exact) {
        None if wanted.is_none() && found.len() == 1 => Some(0),
        position => position,
    };
    let chosen = position.and_then(|position| def.meta_graphs.into_iter().nth(position));
    chosen.ok_or_else(|| {
        let words = |tags: &BTreeSet<String>| format!("{{ {} }}", tags.iter().cloned().collect::<Vec<_>>().join(", "));
        let available = match found.as_slice() {
            [] => "it has no graphs".to_owned(),
            found => format!("its graphs have the tags {}", found.iter().map(words).collect::<Vec<_>>().join(" and ")),
        };
        let exact = words(&exact);
        Error::not_found(format!("Could not find meta graph def matching supplied tags: {exact}; {available}"))
    })
}

/// The assets of a graph: the tensor to feed, and the file's name.
fn assets(def: &MetaGraphDef) -> Result<Vec<AssetFileDef>> {
    if !def.asset_file_def.is_empty() {
        return Ok(def.asset_file_def.clone());
    }
    let collection = def.collection_def.get("saved_model_assets").and_then(|collection| collection.kind.as_ref());
    let Some(collection_def::Kind::AnyList(list)) = collection else { return Ok(Vec::new()) };
    let asset = |any: &proto::Any| {
        if any.type_url.rsplit('/').next() != Some("tensorflow.AssetFileDef") {
            let message = format!("an asset is a {}", any.type_url.escape_debug());
            return Err(Error::invalid_argument(message));
        }
        AssetFileDef::decode(any.value.clone())
            .map_err(|error| Error::invalid_argument(format!("an asset is malformed: {error}")))
    };
    list.value.iter().map(asset).collect()
}

/// The path of an asset's file. Names that lead out of the folder are refused.
fn asset_path(folder: &Path, name: &str) -> Result<PathBuf> {
    let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if name.is_empty() || name.contains(['\0', '\\']) || !Path::new(name).components().all(inside) {
        return Err(Error::invalid_argument(format!(
            "the model names the asset `{}`, which is not in its folder of assets",
            name.escape_debug()
        )));
    }
    Ok(folder.join("assets").join(name))
}

/// The feeds of the tensors that hold the assets' file names.
fn asset_feeds(folder: &Path, def: &MetaGraphDef) -> Result<Vec<(String, Tensor)>> {
    let feed = |asset: AssetFileDef| {
        let path = asset_path(folder, &asset.filename)?;
        // The op that reads the asset reports a missing file; a pipe would make it wait forever.
        if path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir()) {
            let message = format!("asset {} is no regular file", path.display());
            return Err(Error::invalid_argument(message));
        }
        match asset.tensor_info.and_then(|info| info.encoding) {
            Some(tensor_info::Encoding::Name(name)) => Ok((name, path_tensor(&path)?)),
            _ => Err(Error::invalid_argument(format!("asset `{}` belongs to no tensor", asset.filename))),
        }
    };
    assets(def)?.into_iter().map(feed).collect()
}

/// The op that initialises the model once its variables are restored, if there is one.
fn init_op(def: &MetaGraphDef) -> Result<Option<String>> {
    if let Some(signature) = def.signature_def.get(INIT_SIGNATURE) {
        let encoding = signature.outputs.get(INIT_SIGNATURE).and_then(|info| info.encoding.as_ref());
        return match encoding {
            Some(tensor_info::Encoding::Name(name)) => Ok(Some(node_of(name)?.to_owned())),
            _ => Err(Error::failed_precondition(format!("signature `{INIT_SIGNATURE}` names no op"))),
        };
    }
    let collection = ["saved_model_main_op", "legacy_init_op"].iter().find_map(|name| def.collection_def.get(*name));
    match collection.map(|collection| collection.kind.as_ref()) {
        None => Ok(None),
        Some(Some(collection_def::Kind::NodeList(nodes))) if nodes.value.len() == 1 => {
            Ok(Some(node_of(&nodes.value[0])?.to_owned()))
        }
        Some(_) => Err(Error::failed_precondition("Expected exactly one main op in the model")),
    }
}

/// The nodes of a graph that run when its model is loaded: what restores its variables, and its initialiser, or the
/// initialisers of its tables if it has none.
///
/// # Errors
/// FAILED_PRECONDITION if it names several initialisers; INVALID_ARGUMENT if a name is malformed.
pub fn load_targets(def: &MetaGraphDef) -> Result<Vec<String>> {
    let mut targets = Vec::new();
    if let Some(saver) = def.saver_def.as_ref().filter(|saver| !saver.restore_op_name.is_empty()) {
        targets.push(node_of(&saver.restore_op_name)?.to_owned());
    }
    match init_op(def)? {
        Some(init) => targets.push(init),
        None => {
            let tables = def.collection_def.get("table_initializer").and_then(|collection| collection.kind.as_ref());
            if let Some(collection_def::Kind::NodeList(nodes)) = tables {
                targets.extend(nodes.value.iter().cloned());
            }
        }
    }
    Ok(targets)
}

/// Whether a graph has variables.
fn has_variables(meta: &MetaGraph) -> bool {
    let is_variable = |class| matches!(class, NodeClass::VarHandle | NodeClass::Variable);
    meta.session().graph().nodes().iter().any(|node| is_variable(node.class))
}

impl SavedModel {
    /// Loads a model from its folder: imports its graph, restores its variables and runs its initialiser, as TensorFlow's
    /// own loader does.
    ///
    /// # Errors
    /// NOT_FOUND if there is no model, no graph with the tags, or no checkpoint of its variables; INVALID_ARGUMENT if it is malformed or an asset's name
    /// leads out of its folder; FAILED_PRECONDITION if it names several initialisers; and as [`MetaGraph::import`],
    /// [`MetaGraph::prepare`], [`MetaGraph::restore`] and [`Session::run`](crate::runtime::Session::run).
    pub fn load(folder: impl AsRef<Path>, registry: &Arc<Registry>, options: &LoadOptions) -> Result<SavedModel> {
        let folder = folder.as_ref();
        let def = choose_meta_graph(read_saved_model_folder(folder)?, options.tags.as_deref());
        def.and_then(|def| SavedModel::start(folder, def, registry, options))
            .map_err(|error| error.context(folder.display()))
    }

    /// [`SavedModel::load`] of a graph that was [read](read_saved_model_folder) and [chosen](choose_meta_graph) already. The tags
    /// in the options do not count.
    ///
    /// # Errors
    /// As [`SavedModel::load`].
    pub fn start(
        folder: &Path,
        def: MetaGraphDef,
        registry: &Arc<Registry>,
        options: &LoadOptions,
    ) -> Result<SavedModel> {
        let (feeds, init, tags) = (asset_feeds(folder, &def)?, init_op(&def)?, tags(&def));
        let feeds: Vec<(&str, Tensor)> = feeds.iter().map(|(name, tensor)| (name.as_str(), tensor.clone())).collect();
        let meta = MetaGraph::import(def, registry, options)?;
        let variables = folder.join("variables").join("variables");
        if CheckpointReader::exists(&variables) {
            meta.restore_with(&variables, &feeds)?;
        } else if !options.variables_may_be_missing && (meta.has_restore() || (init.is_none() && has_variables(&meta)))
        {
            return Err(Error::not_found(format!(
                "Failed to find any matching files for {}: the model's variables have no values without them",
                variables.display()
            )));
        }
        if let Some(init) = init {
            let result = meta.session().run(&feeds, &[], &[&init]);
            result.map_err(|error| error.context("initialising the model"))?;
        }
        for signature in &options.prepare {
            meta.prepare(signature)?;
        }
        Ok(SavedModel { meta, tags })
    }

    /// The tags of the graph that was loaded.
    pub fn tags(&self) -> &[String] {
        &self.tags
    }

    /// The session alone, in which the model stays as it was loaded.
    pub fn into_session(self) -> Session {
        self.meta.into_session()
    }
}

impl Deref for SavedModel {
    type Target = MetaGraph;
    fn deref(&self) -> &MetaGraph {
        &self.meta
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use crate::proto::{TensorInfo, meta_graph_def::MetaInfoDef};

    fn graph(tags: &[&str]) -> MetaGraphDef {
        let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
        MetaGraphDef { meta_info_def: Some(MetaInfoDef { tags, ..Default::default() }), ..Default::default() }
    }

    #[test]
    fn graphs_are_chosen_by_all_their_tags() {
        let chosen = |graphs: &[&[&str]], wanted: Option<&[&str]>| {
            let def = proto::SavedModel {
                meta_graphs: graphs.iter().map(|tags| graph(tags)).collect(),
                ..Default::default()
            };
            let wanted: Option<Vec<String>> = wanted.map(|tags| tags.iter().map(|&tag| tag.to_owned()).collect());
            choose_meta_graph(def, wanted.as_deref()).map(|graph| tags(&graph).join(" "))
        };
        let two: &[&[&str]] = &[&["train"], &["serve"], &["serve", "gpu"]];
        assert_eq!(chosen(two, None).unwrap(), "serve");
        assert_eq!(chosen(two, Some(&["gpu", "serve"])).unwrap(), "serve gpu");
        assert_eq!(chosen(&[&["odd"]], None).unwrap(), "odd");
        for (graphs, wanted) in
            [(two, Some(&["gpu"][..])), (&[&["a"], &["b"]], None), (&[], None), (&[&["a"]], Some(&[]))]
        {
            let error = chosen(graphs, wanted).unwrap_err();
            assert_eq!(error.code(), Code::NotFound, "{error}");
            assert!(error.message().contains("tags"), "{error}");
        }
    }

    #[test]
    fn assets_stay_in_their_folder() {
        let folder = Path::new("/models/x");
        assert_eq!(asset_path(folder, "a/vocab.txt").unwrap(), Path::new("/models/x/assets/a/vocab.txt"));
        for name in ["", "..", "../x", "a/../../x", "/etc/passwd", "a\0b", "..\\x", "C:\\x"] {
            assert_eq!(asset_path(folder, name).unwrap_err().code(), Code::InvalidArgument, "{name}");
        }
    }

    #[test]
    fn initialisers() {
        let named = |name: &str| TensorInfo {
            encoding: Some(tensor_info::Encoding::Name(name.to_owned())),
            ..TensorInfo::default()
        };
        let mut def = graph(&[]);
        assert_eq!(init_op(&def).unwrap(), None);
        let nodes = |names: &[&str]| proto::CollectionDef {
            kind: Some(collection_def::Kind::NodeList(collection_def::NodeList {
                value: names.iter().map(|&name| name.to_owned()).collect(),
            })),
        };
        def.collection_def.insert("legacy_init_op".to_owned(), nodes(&["old"]));
        assert_eq!(init_op(&def).unwrap().unwrap(), "old");
        def.saver_def = Some(proto::SaverDef { restore_op_name: "restore:0".to_owned(), ..Default::default() });
        def.collection_def.insert("table_initializer".to_owned(), nodes(&["table"]));
        assert_eq!(load_targets(&def).unwrap(), ["restore", "old"]);
        def.collection_def.remove("legacy_init_op");
        assert_eq!(load_targets(&def).unwrap(), ["restore", "table"]);
        def.collection_def.insert("saved_model_main_op".to_owned(), nodes(&["main:0"]));
        assert_eq!(init_op(&def).unwrap().unwrap(), "main");
        def.collection_def.insert("saved_model_main_op".to_owned(), nodes(&["a", "b"]));
        assert_eq!(init_op(&def).unwrap_err().code(), Code::FailedPrecondition);
        let mut signature = proto::SignatureDef::default();
        def.signature_def.insert(INIT_SIGNATURE.to_owned(), signature.clone());
        assert_eq!(init_op(&def).unwrap_err().code(), Code::FailedPrecondition);
        signature.outputs.insert(INIT_SIGNATURE.to_owned(), named("NoOp"));
        def.signature_def.insert(INIT_SIGNATURE.to_owned(), signature);
        assert_eq!(init_op(&def).unwrap().unwrap(), "NoOp");
    }
}
