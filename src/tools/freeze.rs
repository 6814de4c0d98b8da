//! A signature of a model as a graph by itself, in which variables are constants.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::attr::AttrValue;
use crate::dtype::DataType;
use crate::error::{Error, Result, shortened};
use crate::formats::MetaGraph;
use crate::graph::{Graph, Output};
use crate::optimize::{Ends, Optimizer};
use crate::proto::{GraphDef, MetaGraphDef, NodeDef, attr_from_proto, attr_to_proto};
use crate::resource::Variable;
use crate::tensor::Tensor;
use crate::tools::{Optimize, optimize};

/// A graph without variables.
#[non_exhaustive]
pub struct Frozen {
    /// The graph.
    pub def: GraphDef,
    /// How many nodes it has.
    pub nodes: usize,
    /// For each of the signature's inputs that it takes the output that is fed: `node:0`.
    pub inputs: BTreeMap<String, String>,
    /// For each output that is computed the node that gives it.
    pub outputs: BTreeMap<String, String>,
    /// How many variables became constants.
    pub variables: usize,
}

/// Makes a graph of a signature of a loaded model: functions are put where they are called, variables become constants of the values
/// that they have, and what that leaves is optimised. Of several outputs only some may be asked for, by the signature's names for them.
///
/// # Errors
/// NOT_FOUND if there is no such signature or output; FAILED_PRECONDITION if something changes a variable, or takes one in another way
/// than to read it, or a variable has no value; and as [`optimize`].
pub fn freeze(model: &MetaGraph, signature: &str, outputs: &[String]) -> Result<Frozen> {
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let runner = match outputs.is_empty() {
        true => model.signature(signature)?,
        false => model.signature_outputs(signature, &outputs)?,
    };
    let described = runner.signature();
    let mut graph = model.session().graph().clone();
    let inputs: Vec<(&str, Output)> =
        runner.inputs().map(|name| Ok((name, graph.output(&described.inputs[name].tensor)?))).collect::<Result<_>>()?;
    let wanted = described.outputs.iter().filter(|(name, _)| outputs.is_empty() || outputs.contains(&name.as_str()));
    let wanted: Vec<(&str, Output)> =
        wanted.map(|(name, output)| Ok((name.as_str(), graph.output(&output.tensor)?))).collect::<Result<_>>()?;
    let of = |named: &[(&str, Output)]| named.iter().map(|(_, output)| *output).collect::<Vec<_>>();
    let mut ends = Ends::new(of(&inputs), of(&wanted), Vec::new());
    Optimizer::only(["inline-functions"])?.in_session(&mut graph, &mut ends)?;

    let named = |ends: &[Output], names: &[(&str, Output)]| -> BTreeMap<String, String> {
        names.iter().zip(ends).map(|((name, _), output)| ((*name).to_owned(), graph.output_name(*output))).collect()
    };
    let (inputs, computed) = (named(ends.feeds(), &inputs), named(ends.fetches(), &wanted));
    let mut def = graph.to_def()?;
    let variables = Variables::of(model, &def).become_constants(&mut def)?;
    let outputs = name_outputs(&mut def, &graph, &computed)?;
    let options = Optimize {
        inputs: inputs.values().cloned().collect(),
        outputs: outputs.values().cloned().collect(),
        ..Optimize::default()
    };
    let optimized = optimize(vec![MetaGraphDef { graph_def: Some(def), ..MetaGraphDef::default() }], &options)?;
    Ok(Frozen { nodes: optimized.graph.nodes().len(), def: optimized.def, inputs, outputs, variables })
}

/// Gives each output a node of its own, under the signature's name for it if that is free.
fn name_outputs(
    def: &mut GraphDef,
    graph: &Graph,
    computed: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>> {
    let mut taken: BTreeSet<String> = def.node.iter().map(|node| node.name.clone()).collect();
    let mut outputs = BTreeMap::new();
    for (name, tensor) in computed {
        let output = graph.output(tensor)?;
        let dtype = graph.node(output.node).signature.outputs[output.index].dtype;
        let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let plain = if plain.starts_with('_') || plain.is_empty() { format!("output{plain}") } else { plain };
        let node = std::iter::once(plain.clone()).chain((1..).map(|number| format!("{plain}_{number}")));
        let node = node.into_iter().find(|node| !taken.contains(node)).unwrap_or(plain);
        taken.insert(node.clone());
        let attr = [("T".to_owned(), attr_to_proto(&AttrValue::Type(dtype))?)].into();
        let input = vec![tensor.clone()];
        def.node.push(NodeDef { name: node.clone(), op: "Identity".to_owned(), input, attr, ..NodeDef::default() });
        outputs.insert(name.clone(), node);
    }
    Ok(outputs)
}

/// The nodes of a graph that are variables, or handles of them.
struct Variables<'m> {
    model: &'m MetaGraph,
    /// For each handle the container and name of its variable.
    handles: HashMap<String, (String, String)>,
}

impl Variables<'_> {
    fn of<'m>(model: &'m MetaGraph, def: &GraphDef) -> Variables<'m> {
        let handles = def.node.iter().filter(|node| node.op == "VarHandleOp");
        let handle = |node: &NodeDef| {
            let name = Some(text(node, "shared_name")).filter(|name| !name.is_empty());
            (node.name.clone(), (text(node, "container"), name.unwrap_or_else(|| node.name.clone())))
        };
        Variables { model, handles: handles.map(handle).collect() }
    }

    /// Makes constants of what reads variables; returns how many variables there are.
    fn become_constants(&self, def: &mut GraphDef) -> Result<usize> {
        let mut found = BTreeSet::new();
        for node in &mut def.node {
            // A variable need not be there that tells nodes where to run.
            node.attr.remove("_class");
            let handle = node.input.first().and_then(|input| Some((input, self.handles.get(plain(input))?)));
            let value = match (node.op.as_str(), handle) {
                ("ReadVariableOp", Some((_, (container, name)))) => {
                    found.insert((container.clone(), name.clone()));
                    let variable = self.model.session().resources().lookup::<Variable>(container, name);
                    variable.and_then(|variable| variable.read()).map_err(|error| of_variable(error, name))?
                }
                ("VariableV2" | "Variable", _) => {
                    found.insert((String::new(), node.name.clone()));
                    let name = node.name.as_str();
                    let read = self.model.session().run(&[], &[name], &[]);
                    let value = read.map_err(|error| of_variable(error, name))?.pop();
                    value.ok_or_else(|| Error::internal("a run gives what is fetched"))?
                }
                _ => {
                    self.refuse(node)?;
                    continue;
                }
            };
            become_constant(node, &value)?;
        }
        Ok(found.len())
    }

    /// Refuses what changes a variable, or takes it otherwise.
    fn refuse(&self, node: &NodeDef) -> Result<()> {
        match node.input.iter().find_map(|input| self.handles.get(plain(input))) {
            None => Ok(()),
            Some((_, name)) => Err(Error::failed_precondition(format!(
                "variable `{}` cannot become a constant: node `{}` ({}) does more than to read it; outputs that do without can be \
                 frozen by themselves",
                shortened(name),
                shortened(&node.name),
                shortened(&node.op)
            ))),
        }
    }
}

fn of_variable(error: Error, name: &str) -> Error {
    error.context(format!("variable `{}`", shortened(name)))
}

/// The node of an input.
fn plain(input: &str) -> &str {
    input.strip_suffix(":0").unwrap_or(input)
}

fn text(node: &NodeDef, attr: &str) -> String {
    match node.attr.get(attr).and_then(|value| attr_from_proto(value).ok()) {
        Some(AttrValue::String(text)) => text.to_string_lossy().into_owned(),
        _ => String::new(),
    }
}

/// Makes a constant of a node, which waits for what it waited for.
fn become_constant(node: &mut NodeDef, value: &Tensor) -> Result<()> {
    let dtype: DataType = value.dtype();
    node.op = "Const".to_owned();
    node.input.retain(|input| input.starts_with('^'));
    node.attr = [
        ("dtype".to_owned(), attr_to_proto(&AttrValue::Type(dtype))?),
        ("value".to_owned(), attr_to_proto(&AttrValue::Tensor(value.clone()))?),
    ]
    .into();
    Ok(())
}
