//! MetaGraphs: a graph with its saver, signatures and collections.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::object_graph::UnsavedVariables;
use super::signature::{MakeCallable, Signature, SignatureRunner};
use crate::device::Device;
use crate::dtype::TString;
use crate::error::{Error, Result, shortened};
use crate::graph::{Graph, TensorName};
use crate::proto::{CollectionDef, MetaGraphDef, SaverDef, collection_def, read_meta_graph};
use crate::registry::{Registry, did_you_mean, listed};
use crate::runtime::{Session, SessionOptions};
use crate::tensor::Tensor;

/// How a model is loaded.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct LoadOptions {
    /// The tags of the graph to load, all of them; by default `serve`, or whatever the only graph has.
    pub tags: Option<Vec<String>>,
    /// How its session runs.
    pub session: SessionOptions,
    /// The devices on which its session runs, if it shares them with others.
    pub devices: Vec<Arc<dyn Device>>,
    /// The signatures that are [prepared](MetaGraph::prepare) when a SavedModel is loaded.
    pub prepare: Vec<String>,
    /// Whether a SavedModel loads without the checkpoint of its variables, which then have no values.
    pub variables_may_be_missing: bool,
}

impl LoadOptions {
    /// The defaults.
    pub fn new() -> LoadOptions {
        LoadOptions::default()
    }

    /// Sets the tags of the graph to load.
    pub fn tags(mut self, tags: &[&str]) -> LoadOptions {
        self.tags = Some(tags.iter().map(|&tag| tag.to_owned()).collect());
        self
    }

    /// Sets how the session runs.
    pub fn session(mut self, options: SessionOptions) -> LoadOptions {
        self.session = options;
        self
    }

    /// Adds a device on which the session runs.
    pub fn device(mut self, device: Arc<dyn Device>) -> LoadOptions {
        self.devices.push(device);
        self
    }

    /// Has a signature [prepared](MetaGraph::prepare) when a SavedModel is loaded, so that its first run takes no longer
    /// than others.
    pub fn prepare(mut self, signature: impl Into<String>) -> LoadOptions {
        self.prepare.push(signature.into());
        self
    }

    /// Has a SavedModel load though the checkpoint of its variables is missing, as TensorFlow's loader does: what reads them
    /// fails when it runs.
    pub fn variables_may_be_missing(mut self) -> LoadOptions {
        self.variables_may_be_missing = true;
        self
    }
}

/// A MetaGraph in a session, whose variables are restored from checkpoints and saved to them through the graph's own
/// saver.
pub struct MetaGraph {
    session: Session,
    saver: Option<SaverDef>,
    unsaved: Option<UnsavedVariables>,
    collections: BTreeMap<String, CollectionDef>,
    signatures: BTreeMap<String, Signature>,
    /// Why there are no others.
    malformed: BTreeMap<String, Error>,
}

/// The signature that says which op initialises a model.
pub(super) const INIT_SIGNATURE: &str = "__saved_model_init_op";

impl MetaGraph {
    /// Reads a `.meta` file and makes a session for its graph. Its variables have no values until they are restored.
    ///
    /// # Errors
    /// As [`read_meta_graph`] and [`MetaGraph::import`].
    pub fn read(path: impl AsRef<Path>, registry: &Arc<Registry>, options: &LoadOptions) -> Result<MetaGraph> {
        MetaGraph::import(read_meta_graph(path)?, registry, options)
    }

    /// Makes a session for the graph of a MetaGraph.
    ///
    /// # Errors
    /// As [`Graph::import`]; INVALID_ARGUMENT if there is no graph, or the object graph is malformed. A malformed signature
    /// refuses only [`MetaGraph::signature`] of its name.
    pub fn import(def: MetaGraphDef, registry: &Arc<Registry>, options: &LoadOptions) -> Result<MetaGraph> {
        let signatures = signatures_each(&def);
        let graph = def.graph_def.ok_or_else(|| Error::invalid_argument("the MetaGraph has no graph"))?;
        let graph = Graph::import(&graph, registry)?;
        let restore_op = def.saver_def.as_ref().and_then(|saver| graph.find(node_of(&saver.restore_op_name).ok()?));
        let unsaved = match def.object_graph_def {
            Some(objects) => UnsavedVariables::find(objects, &graph, restore_op)?,
            None => None,
        };
        let session = match &options.devices[..] {
            [] => Session::with_options(graph, &options.session)?,
            devices => Session::on_devices(graph, devices.iter().cloned(), &options.session),
        };
        let (mut found, mut malformed) = (BTreeMap::new(), BTreeMap::new());
        for (name, signature) in signatures {
            match signature {
                Ok(signature) => _ = found.insert(name, signature),
                Err(error) => _ = malformed.insert(name, error),
            }
        }
        let (saver, collections) = (def.saver_def, def.collection_def);
        Ok(MetaGraph { session, saver, unsaved, collections, signatures: found, malformed })
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The session alone.
    pub(super) fn into_session(self) -> Session {
        self.session
    }

    /// The signatures by name, but for malformed ones and the one that names the initialiser.
    pub fn signatures(&self) -> &BTreeMap<String, Signature> {
        &self.signatures
    }

    /// Prepares a signature for runs.
    ///
    /// # Errors
    /// NOT_FOUND if there is none of this name, with those that there are; INVALID_ARGUMENT if it is malformed; and as
    /// [`Session::make_callable`].
    pub fn signature(&self, name: &str) -> Result<SignatureRunner<'_>> {
        self.runner(name, None, Session::make_callable)
    }

    /// Prepares a part of a signature: its runs compute only these outputs, and take only the inputs that lead to them. The
    /// rest of the signature need not be able to run.
    ///
    /// An output is one of the signature by its name for it, or else a tensor of the graph: `node` or `node:1`.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such signature or output, with those that there are; INVALID_ARGUMENT if the signature is
    /// malformed, or an output needs a placeholder that is no input of the signature; and as [`Session::make_callable`].
    pub fn signature_outputs(&self, name: &str, outputs: &[&str]) -> Result<SignatureRunner<'_>> {
        self.runner(name, Some(outputs), Session::make_callable)
    }

    fn runner(&self, name: &str, outputs: Option<&[&str]>, make: MakeCallable) -> Result<SignatureRunner<'_>> {
        if let Some(error) = self.malformed.get(name) {
            return Err(error.clone());
        }
        let signature = self.signatures.get(name).ok_or_else(|| {
            let names: BTreeSet<&str> =
                self.signatures.keys().chain(self.malformed.keys()).map(String::as_str).collect();
            let names = || names.iter().copied();
            let (hint, name) = (did_you_mean(name, names()), shortened(name));
            Error::not_found(match names().len() {
                0 => format!("the model has no signature `{name}`: it has none at all"),
                _ => format!("the model has no signature `{name}`; it has: {}{hint}", listed(names())),
            })
        })?;
        let runner = match outputs {
            None => SignatureRunner::new(signature, &self.session, make),
            Some(outputs) => SignatureRunner::of_outputs(signature, &self.session, outputs, make),
        };
        runner.map_err(|error| error.context(format!("signature `{}`", shortened(name))))
    }

    /// Prepares a signature for runs, with the functions that it can come to call, as [`Session::prepare`] does.
    /// [`LoadOptions::prepare`] has it done when the model is loaded.
    ///
    /// # Errors
    /// As [`MetaGraph::signature`] and [`Session::prepare`].
    pub fn prepare(&self, name: &str) -> Result<SignatureRunner<'_>> {
        self.runner(name, None, Session::prepare)
    }

    /// As [`MetaGraph::signature_outputs`], with the functions that the run can come to call, as [`MetaGraph::prepare`] does.
    ///
    /// # Errors
    /// As [`MetaGraph::signature_outputs`] and [`Session::prepare`].
    pub fn prepare_outputs(&self, name: &str, outputs: &[&str]) -> Result<SignatureRunner<'_>> {
        self.runner(name, Some(outputs), Session::prepare)
    }

    /// The names of the nodes in a collection; none if there is no such collection.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the collection holds something else.
    pub fn nodes_in(&self, collection: &str) -> Result<&[String]> {
        match self.collections.get(collection).and_then(|collection| collection.kind.as_ref()) {
            None => Ok(&[]),
            Some(collection_def::Kind::NodeList(nodes)) => Ok(&nodes.value),
            Some(_) => {
                Err(Error::invalid_argument(format!("collection `{}` is no list of nodes", shortened(collection))))
            }
        }
    }

    /// Runs the nodes of a collection, such as `table_initializer`; nothing if there is no such collection.
    ///
    /// # Errors
    /// As [`MetaGraph::nodes_in`] and [`Session::run`].
    pub fn run_collection(&self, collection: &str) -> Result<()> {
        let nodes = self.nodes_in(collection)?;
        if nodes.is_empty() {
            return Ok(());
        }
        let targets = nodes.iter().map(|node| node_of(node)).collect::<Result<Vec<&str>>>()?;
        self.session.run(&[], &[], &targets).map_err(|error| error.context(format!("collection `{collection}`")))?;
        Ok(())
    }

    /// Whether the graph says how its variables are restored.
    pub(super) fn has_restore(&self) -> bool {
        self.saver.as_ref().is_some_and(|saver| !saver.restore_op_name.is_empty())
    }

    /// Whether the graph says how its variables are saved.
    pub fn can_save(&self) -> bool {
        self.saver().is_ok_and(|saver| !saver.save_tensor_name.is_empty())
    }

    fn saver(&self) -> Result<&SaverDef> {
        self.saver.as_ref().filter(|saver| !saver.filename_tensor_name.is_empty()).ok_or_else(|| {
            Error::failed_precondition("the graph has no saver: it says nothing of how its variables are restored")
        })
    }

    /// Gives the variables the values that they have in a checkpoint: those that the saver restores, and, as TensorFlow 2
    /// does, those that the objects of the model and of the checkpoint have in common.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if the graph has no saver; NOT_FOUND if there is no such checkpoint or it lacks a variable;
    /// DATA_LOSS and OUT_OF_RANGE if it is altered or truncated; INVALID_ARGUMENT if a variable has another dtype or
    /// shape; and whatever else a kernel meets.
    pub fn restore(&self, prefix: impl AsRef<Path>) -> Result<()> {
        self.restore_with(prefix.as_ref(), &[])
    }

    /// [`MetaGraph::restore`], with more to feed.
    pub(super) fn restore_with(&self, prefix: &Path, more: &[(&str, Tensor)]) -> Result<()> {
        let saver = self.saver()?;
        let mut feeds = vec![(saver.filename_tensor_name.as_str(), path_tensor(prefix)?)];
        feeds.extend(more.iter().cloned());
        let restore = node_of(&saver.restore_op_name)?;
        let mut result = self.session.run(&feeds, &[], &[restore]).map(drop);
        if let (Ok(()), Some(unsaved)) = (&result, &self.unsaved) {
            result = unsaved.restore(prefix, self.session.resources());
        }
        result.map_err(|error| error.context(format!("restoring {}", prefix.display())))
    }

    /// Saves the variables as a checkpoint.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if the graph has no saver, or a variable has no value; and whatever else a kernel meets.
    pub fn save(&self, prefix: impl AsRef<Path>) -> Result<()> {
        let (prefix, saver) = (prefix.as_ref(), self.saver()?);
        let feeds = [(saver.filename_tensor_name.as_str(), path_tensor(prefix)?)];
        let save = || {
            self.copy_unsaved(&saver.save_tensor_name)?;
            self.session.run(&feeds, &[&saver.save_tensor_name], &[]).map(drop)
        };
        save().map_err(|error| error.context(format!("saving {}", prefix.display())))
    }

    /// Assigns the variables that the saver saves in the place of others (see `object_graph`).
    fn copy_unsaved(&self, save_tensor: &str) -> Result<()> {
        let Some(unsaved) = &self.unsaved else { return Ok(()) };
        let graph = self.session.graph();
        let copies = unsaved.copies(graph, graph.output(save_tensor)?.node, self.session.resources())?;
        if copies.is_empty() {
            return Ok(());
        }
        self.session.run(&[], &[], &copies).map(drop)
    }
}

/// The signatures of a MetaGraph, but for the one that names the initialiser.
///
/// # Errors
/// INVALID_ARGUMENT if one is malformed.
pub fn signatures(def: &MetaGraphDef) -> Result<BTreeMap<String, Signature>> {
    signatures_each(def).into_iter().map(|(name, signature)| Ok((name, signature?))).collect()
}

/// The names of a MetaGraph's signatures, malformed ones too, but for the one that names the initialiser.
pub fn signature_names(def: &MetaGraphDef) -> impl Iterator<Item = &str> {
    def.signature_def.keys().map(String::as_str).filter(|name| *name != INIT_SIGNATURE)
}

/// The signatures, or what is wrong with them.
fn signatures_each(def: &MetaGraphDef) -> Vec<(String, Result<Signature>)> {
    let wanted = def.signature_def.iter().filter(|(name, _)| *name != INIT_SIGNATURE);
    let signature = |(name, proto): (&String, _)| {
        let signature = Signature::from_proto(proto);
        (name.clone(), signature.map_err(|error| error.context(format!("signature `{}`", shortened(name)))))
    };
    wanted.map(signature).collect()
}

/// The node that `node` or `node:0` names.
pub(super) fn node_of(name: &str) -> Result<&str> {
    Ok(TensorName::parse(name)?.node)
}

/// A file's name as graphs hold it.
pub(super) fn path_tensor(path: &Path) -> Result<Tensor> {
    #[cfg(unix)]
    let bytes = Some(std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()));
    #[cfg(not(unix))]
    let bytes = path.to_str().map(str::as_bytes);
    let bytes = bytes.ok_or_else(|| Error::invalid_argument(format!("{} is not UTF-8", path.display())))?;
    Ok(Tensor::scalar(TString::from(bytes)))
}
