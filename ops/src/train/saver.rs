//! Checkpoints: TensorFlow's format V2, which `tf.train.load_checkpoint` reads.

use kernlink::Result;
use kernlink::dtype::{DataType, TString};
use kernlink::graph::{Graph, IntoOperand, NodeId, Output};
use kernlink::runtime::Session;
use kernlink::tensor::Tensor;

use super::scope::TrainingScope;
use super::variable::Variables;
use crate::{placeholder, restore_v2, save_v2};

impl<S: TrainingScope> Variables<S>
where
    S::Output: IntoOperand<S::Output>,
{
    /// Saves all variables, or adds what does, under their names in the checkpoint `prefix`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there are no variables; where ops run at once, what goes wrong with the files.
    pub fn save(&self, scope: &mut S, prefix: impl IntoOperand<S::Output>) -> Result<S::Node> {
        let values = self.iter().map(|variable| variable.read(scope)).collect::<Result<Vec<_>>>()?;
        let (names, slices) = (self.names(), self.slices());
        let name = scope.free_name("save/control_dependency");
        save_v2(scope, prefix, names, slices, values).name(&name).build()
    }

    /// Gives all variables the values that they have in the checkpoint `prefix`, or adds what does.
    ///
    /// # Errors
    /// NOT_FOUND, where ops run at once, if the checkpoint lacks a variable.
    pub fn restore(&self, scope: &mut S, prefix: impl IntoOperand<S::Output>) -> Result<S::Node> {
        let dtypes: Vec<DataType> = self.iter().map(|variable| variable.dtype()).collect();
        let (names, slices) = (self.names(), self.slices());
        let name = scope.free_name("save/RestoreV2");
        let values = restore_v2(scope, prefix, names, slices, dtypes).name(&name).build()?;
        let pairs = self.iter().zip(values);
        let assigned = pairs.map(|(variable, value)| variable.assign(scope, value)).collect::<Result<Vec<_>>>()?;
        scope.group(assigned, "save/restore_all")
    }

    fn names(&self) -> Vec<TString> {
        self.iter().map(|variable| TString::from(variable.name())).collect()
    }

    /// Whole tensors.
    fn slices(&self) -> Vec<TString> {
        self.iter().map(|_| TString::from("")).collect()
    }
}

/// The nodes of a graph that save its variables and restore them.
#[derive(Clone, Copy, Debug)]
pub struct Saver {
    /// To which the name of a checkpoint is fed.
    pub filename: Output,
    /// What saves.
    pub save: NodeId,
    /// What restores.
    pub restore: NodeId,
}

impl Saver {
    /// Saves the variables of a session as the checkpoint `prefix`: the files `prefix.index` and `prefix.data-00000-of-00001`.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if a variable has no value; what goes wrong with the files.
    pub fn save(&self, session: &Session, prefix: &str) -> Result<()> {
        self.run(session, prefix, self.save)
    }

    /// Gives the variables of a session their values in the checkpoint `prefix`.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such checkpoint, or it lacks a variable; INVALID_ARGUMENT if one has another shape there.
    pub fn restore(&self, session: &Session, prefix: &str) -> Result<()> {
        self.run(session, prefix, self.restore)
    }

    fn run(&self, session: &Session, prefix: &str, node: NodeId) -> Result<()> {
        let graph = session.graph();
        let (filename, node) = (graph.output_name(self.filename), graph.node(node).name.clone());
        session.run(&[(&filename, Tensor::scalar(TString::from(prefix)))], &[], &[&node]).map(drop)
    }
}

impl Variables<Graph> {
    /// Adds what saves and restores all variables that were added so far.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there are none.
    pub fn saver(&self, graph: &mut Graph) -> Result<Saver> {
        let name = graph.free_name("save/Const");
        let filename = placeholder(graph, DataType::String).shape([0usize; 0]).name(&name).build()?;
        Ok(Saver { filename, save: self.save(graph, filename)?, restore: self.restore(graph, filename)? })
    }
}
