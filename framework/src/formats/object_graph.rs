//! Variables that the saver does not restore, found through the object graph.
//!
//! A saver restores and saves the variables that its functions take. Keras 3 makes a second variable of each for the
//! saver, so that those that the model's functions take stay without a value. TensorFlow 2 never runs the saver: it
//! goes through the objects of the model and of the checkpoint side by side, and so are these variables found here.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::path::Path;

use prost::Message;

use super::checkpoint::CheckpointReader;
use crate::attr::AttrValue;
use crate::dtype::{DataType, TString};
use crate::error::{Error, Result};
use crate::graph::{Graph, Node, NodeClass, NodeId};
use crate::proto::trackable_object_graph::trackable_object::ObjectReference;
use crate::proto::{SavedObjectGraph, TrackableObjectGraph};
use crate::resource::{ResourceManager, Variable};
use crate::shape::PartialShape;

/// The tensor in a checkpoint that describes its objects.
const OBJECTS: &str = "_CHECKPOINTABLE_OBJECT_GRAPH";

/// The attribute of a variable's object that is its value.
const VALUE: &str = "VARIABLE_VALUE";

/// The container and name of a variable.
type Name = (String, String);

/// A variable that the saver does not restore.
struct Unsaved {
    /// Which object of the model it is.
    object: usize,
    name: Name,
    dtype: DataType,
    shape: PartialShape,
}

/// The variables that the saver does not restore, with the model's objects through which they are found.
pub(super) struct UnsavedVariables {
    objects: SavedObjectGraph,
    variables: Vec<Unsaved>,
}

/// The object that a number in an object graph names.
fn object(number: i32, count: usize) -> Result<usize> {
    usize::try_from(number).ok().filter(|&index| index < count).ok_or_else(|| {
        Error::invalid_argument(format!("the object graph names object {number}, but it has {count} objects"))
    })
}

/// The container and name of the variable that a node is the handle of.
fn variable_of(node: &Node) -> Option<Name> {
    if node.class != NodeClass::VarHandle {
        return None;
    }
    let text = |name: &str| match node.attrs.get(name) {
        Some(AttrValue::String(text)) => text.to_string_lossy().into_owned(),
        _ => String::new(),
    };
    Some((text("container"), text("shared_name")))
}

/// The variables that a run of these nodes can take.
fn variables_of(graph: &Graph, targets: &[NodeId]) -> BTreeSet<Name> {
    graph.needed(&[], &[], targets).into_iter().filter_map(|id| variable_of(graph.node(id))).collect()
}

impl UnsavedVariables {
    /// The variables of a model that its saver's restore op does not take; `None` if there are none.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if a function captures an object that does not exist.
    pub(super) fn find(
        objects: SavedObjectGraph,
        graph: &Graph,
        restore_op: Option<NodeId>,
    ) -> Result<Option<UnsavedVariables>> {
        let Some(restore_op) = restore_op else { return Ok(None) };
        let saved = variables_of(graph, &[restore_op]);
        let handles = graph.ids().filter_map(|id| Some((id, variable_of(graph.node(id))?)));
        let handles: Vec<(NodeId, Name)> = handles.filter(|(_, name)| !saved.contains(name)).collect();
        if handles.is_empty() {
            return Ok(None);
        }

        // Captures of functions tell variables of the same name apart.
        let mut object_of: HashMap<NodeId, usize> = HashMap::new();
        for node in graph.nodes() {
            let Some(AttrValue::Func(called)) = node.attrs.get("f") else { continue };
            let Some(function) = objects.concrete_functions.get(&called.name) else { continue };
            // They come after the function's own arguments.
            for (input, &number) in node.inputs.iter().rev().zip(function.bound_inputs.iter().rev()) {
                let object = object(number, objects.nodes.len())
                    .map_err(|error| error.context(format!("function `{}`", called.name.escape_debug())))?;
                object_of.insert(input.node, object);
            }
        }
        // A variable that no function captures is found by its name, if that is unique.
        let taken: HashSet<usize> = object_of.values().copied().collect();
        let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, object) in objects.nodes.iter().enumerate().filter(|(index, _)| !taken.contains(index)) {
            if let Some(variable) = &object.variable {
                named.entry(&variable.name).or_default().push(index);
            }
        }
        let variables = handles.into_iter().filter_map(|(id, name)| {
            let object =
                object_of.get(&id).copied().or_else(|| match named.get(name.1.as_str()).map(Vec::as_slice) {
                    Some(&[object]) => Some(object),
                    _ => None,
                })?;
            let attrs = &graph.node(id).attrs;
            let (Some(&AttrValue::Type(dtype)), Some(AttrValue::Shape(shape))) =
                (attrs.get("dtype"), attrs.get("shape"))
            else {
                return None;
            };
            Some(Unsaved { object, name, dtype, shape: shape.clone() })
        });
        let variables: Vec<Unsaved> = variables.collect();
        Ok((!variables.is_empty()).then_some(UnsavedVariables { objects, variables }))
    }

    /// Gives the variables the values that they have in a checkpoint. One without a value stays so if the checkpoint
    /// has none: whether anything wants it is seen when it runs.
    ///
    /// # Errors
    /// NOT_FOUND if a variable that has a value has none in the checkpoint; INVALID_ARGUMENT if an object graph is
    /// malformed, or a variable has another dtype or shape; and as [`CheckpointReader::open`] and
    /// [`CheckpointReader::read`].
    pub(super) fn restore(&self, prefix: &Path, resources: &ResourceManager) -> Result<()> {
        let reader = CheckpointReader::open(prefix)?;
        let stored = checkpoint_objects(&reader)?;
        let keys = keys(&self.objects, &stored)?;
        for unsaved in &self.variables {
            let (container, name) = &unsaved.name;
            let restored = match &keys[unsaved.object] {
                Some(key) => unsaved.restore(&reader, key, resources),
                None if has_value(resources, &unsaved.name) => Err(Error::not_found(format!(
                    "the objects of checkpoint {} have no value for it",
                    prefix.display()
                ))),
                None => Ok(()),
            };
            let place = || match container.as_str() {
                "" => format!("variable `{}`", name.escape_debug()),
                container => format!("variable `{}` in container `{container}`", name.escape_debug()),
            };
            restored.map_err(|error| error.context(place()))?;
        }
        Ok(())
    }

    /// The nodes to run before the saver saves: they assign the variables' values to the copies that it saves.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if a variable has a value that the saver would not save.
    pub(super) fn copies<'g>(
        &self,
        graph: &'g Graph,
        save_op: NodeId,
        resources: &ResourceManager,
    ) -> Result<Vec<&'g str>> {
        let saved = variables_of(graph, &[save_op]);
        let unsaved: HashSet<&Name> =
            self.variables.iter().map(|unsaved| &unsaved.name).filter(|name| !saved.contains(*name)).collect();
        let variable = |id: NodeId| variable_of(graph.node(id));
        let mut copied = HashSet::new();
        let mut copies = Vec::new();
        for node in graph.nodes().iter().filter(|node| node.class == NodeClass::AssignVariable) {
            let [target, value] = node.inputs[..] else { continue };
            let value = graph.node(value.node);
            let source = match (value.class, &value.inputs[..]) {
                (NodeClass::ReadVariable, [source]) => variable(source.node),
                _ => None,
            };
            let source = source.as_ref().and_then(|name| unsaved.get(name));
            if let (Some(source), Some(true)) = (source, variable(target.node).map(|name| saved.contains(&name))) {
                copied.insert(*source);
                copies.push(node.name.as_str());
            }
        }
        let lost = unsaved.iter().find(|name| !copied.contains(*name) && has_value(resources, name));
        match lost {
            Some((_, name)) => Err(Error::failed_precondition(format!(
                "the graph's saver does not save variable `{}`, which was restored by the model's objects",
                name.escape_debug()
            ))),
            None => Ok(copies),
        }
    }
}

impl Unsaved {
    fn restore(&self, reader: &CheckpointReader, key: &str, resources: &ResourceManager) -> Result<()> {
        let entry = reader.entry(key)?;
        if entry.dtype != self.dtype || !self.shape.is_compatible(&PartialShape::from(&entry.shape)) {
            return Err(Error::invalid_argument(format!(
                "it is {} {}, but the checkpoint's `{}` is {} {}",
                self.dtype,
                self.shape,
                key.escape_debug(),
                entry.dtype,
                entry.shape
            )));
        }
        let value = reader.read(key)?;
        let (container, name) = &self.name;
        resources.lookup_or_create(container, name, || Ok(Variable::new(self.dtype)))?.assign(value)
    }
}

fn has_value(resources: &ResourceManager, (container, name): &Name) -> bool {
    resources.lookup::<Variable>(container, name).is_ok_and(|variable| variable.lock().is_some())
}

/// The objects of a checkpoint; none if it does not describe them.
fn checkpoint_objects(reader: &CheckpointReader) -> Result<TrackableObjectGraph> {
    if reader.entry(OBJECTS).is_err() {
        return Ok(TrackableObjectGraph::default());
    }
    let bytes = reader.read(OBJECTS)?.to_scalar::<TString>()?;
    TrackableObjectGraph::decode(bytes.as_bytes())
        .map_err(|error| Error::invalid_argument(format!("the checkpoint's object graph is malformed: {error}")))
}

/// For each object of a model, the key of its value in a checkpoint. Both graphs of objects are walked from their roots,
/// children matched by name; an object that is reached twice keeps its first match, as in TensorFlow.
fn keys<'c>(model: &SavedObjectGraph, checkpoint: &'c TrackableObjectGraph) -> Result<Vec<Option<&'c str>>> {
    // Children are indexed by name once: many objects may match the same one.
    let mut children: HashMap<(usize, &str), i32> = HashMap::new();
    for (index, stored) in checkpoint.nodes.iter().enumerate() {
        for ObjectReference { node_id, local_name } in &stored.children {
            children.entry((index, local_name)).or_insert(*node_id);
        }
    }
    let mut met: Vec<Option<usize>> = vec![None; model.nodes.len()];
    let mut queue = VecDeque::new();
    if let (Some(first), false) = (met.first_mut(), checkpoint.nodes.is_empty()) {
        *first = Some(0);
        queue.push_back((0, 0));
    }
    while let Some((index, stored)) = queue.pop_front() {
        for ObjectReference { node_id, local_name } in &model.nodes[index].children {
            let child = object(*node_id, model.nodes.len())?;
            if let (None, Some(&number)) = (met[child], children.get(&(stored, local_name.as_str()))) {
                let counterpart =
                    object(number, checkpoint.nodes.len()).map_err(|error| error.context("checkpoint"))?;
                met[child] = Some(counterpart);
                queue.push_back((child, counterpart));
            }
        }
    }
    let value = |stored: usize| {
        let attributes = &checkpoint.nodes[stored].attributes;
        attributes.iter().find(|attribute| attribute.name == VALUE).map(|attribute| attribute.checkpoint_key.as_str())
    };
    // Many objects can match one that has many attributes.
    let mut values = HashMap::new();
    Ok(met
        .into_iter()
        .map(|stored| stored.and_then(|stored| *values.entry(stored).or_insert_with(|| value(stored))))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use crate::proto::SavedObject;
    use crate::proto::trackable_object_graph::{TrackableObject, trackable_object::SerializedTensor};

    fn references(children: &[(&str, i32)]) -> Vec<ObjectReference> {
        let reference = |&(name, node_id): &(&str, i32)| ObjectReference { node_id, local_name: name.to_owned() };
        children.iter().map(reference).collect()
    }

    fn model(nodes: &[&[(&str, i32)]]) -> SavedObjectGraph {
        let node = |children: &&[(&str, i32)]| SavedObject { children: references(children), variable: None };
        SavedObjectGraph { nodes: nodes.iter().map(node).collect(), ..SavedObjectGraph::default() }
    }

    fn checkpoint(nodes: &[(&[(&str, i32)], &str)]) -> TrackableObjectGraph {
        let node = |(children, key): &(&[(&str, i32)], &str)| {
            let value = |name: &str| SerializedTensor {
                name: name.to_owned(),
                checkpoint_key: (*key).to_owned(),
                ..SerializedTensor::default()
            };
            let attributes = if key.is_empty() { vec![] } else { vec![value(VALUE)] };
            TrackableObject { children: references(children), attributes }
        };
        TrackableObjectGraph { nodes: nodes.iter().map(node).collect() }
    }

    #[test]
    fn objects_are_met_by_the_names_of_children() {
        let model = model(&[
            &[("a", 1), ("b", 2), ("mine", 3)],
            &[("up", 0), ("w", 4)],
            &[("w", 5), ("again", 4)],
            &[],
            &[],
            &[],
        ]);
        // Other numbers, and names that the model lacks.
        let stored = checkpoint(&[
            (&[("theirs", 5), ("b", 3), ("a", 2)], ""),
            (&[], "w of a"),
            (&[("w", 1), ("up", 0)], ""),
            (&[("w", 4), ("again", 4)], ""),
            (&[], "w of b"),
            (&[], "theirs"),
        ]);
        let found = keys(&model, &stored).unwrap();
        assert_eq!(found, [None, None, None, None, Some("w of a"), Some("w of b")]);
        assert_eq!(keys(&model, &checkpoint(&[])).unwrap(), [None; 6]);
        assert!(keys(&SavedObjectGraph::default(), &stored).unwrap().is_empty());
    }

    #[test]
    fn objects_that_are_not_there_are_refused() {
        let good = checkpoint(&[(&[("a", 0)], "")]);
        for number in [-1, 1, i32::MIN, i32::MAX] {
            let error = keys(&model(&[&[("a", number)]]), &good).unwrap_err();
            assert_eq!(error.code(), Code::InvalidArgument);
            assert!(error.message().contains(&number.to_string()), "{error}");
            let error = keys(&model(&[&[("a", 1)], &[]]), &checkpoint(&[(&[("a", number.max(-1))], "")])).unwrap_err();
            assert!(error.message().contains("checkpoint"), "{error}");
        }
    }

    #[test]
    fn many_objects_that_are_met_as_one_take_no_long_time() {
        let names: Vec<String> = (0..50_000).map(|number| number.to_string()).collect();
        let all: Vec<(&str, i32)> = names.iter().zip(0..).map(|(name, number)| (name.as_str(), number)).collect();
        let one: Vec<(&str, i32)> = names.iter().map(|name| (name.as_str(), 0)).collect();
        let mut nodes: Vec<&[(&str, i32)]> = vec![&all[..1]; all.len()];
        nodes[0] = &all;
        let checkpoint = checkpoint(&[(&one, "key")]);
        let found = keys(&model(&nodes), &checkpoint).unwrap();
        assert!(found.iter().all(|key| *key == Some("key")));
    }
}
