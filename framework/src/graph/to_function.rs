//! Nodes of a [`Graph`] become the body of a function.
//!
//! The names of arguments and results are those that TensorFlow's `GraphToFunctionDef` makes of the nodes' names.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::trace::argument_name;
use super::{Graph, NodeId, Output};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::proto::{FunctionDef, OpDef, op_def};

/// Which nodes become a function's body, what they are given, and what they come to.
#[derive(Clone, Debug, Default)]
pub struct FunctionParts {
    /// The nodes of the body; `None` for all but those that the inputs come from.
    pub nodes: Option<Vec<NodeId>>,
    /// The outputs in whose place the arguments stand.
    pub inputs: Vec<Output>,
    /// The outputs that are the results. They may repeat, and may be among the inputs.
    pub outputs: Vec<Output>,
    /// The names of the results; `None` for names that are made of the nodes'.
    pub output_names: Option<Vec<String>>,
    /// The nodes that run in every call, whatever its caller takes.
    pub control_outputs: Vec<NodeId>,
    /// What these are called; `None` for the nodes' names.
    pub control_output_names: Option<Vec<String>>,
    /// What the function does, for readers.
    pub description: String,
}

/// Names that are given once.
#[derive(Default)]
struct Names {
    given: HashSet<String>,
    /// For each name, the next number.
    numbers: HashMap<String, usize>,
}

impl Names {
    /// The name, or with the first number behind it that makes it one of its own.
    fn take(&mut self, name: &str) -> String {
        let mut free = name.to_owned();
        while !self.given.insert(free.clone()) {
            let number = self.numbers.entry(name.to_owned()).or_default();
            free = format!("{name}_{number}");
            *number += 1;
        }
        free
    }
}

impl Graph {
    /// A function whose body is made of nodes of the graph. The graph stays as it is, and has no such function.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for what is not in the graph, an input that is given twice, a node that is given twice, a name of a result that
    /// is given twice or numbers of names that do not fit, and for a node that takes or waits for what is neither in the body nor
    /// among the inputs; UNIMPLEMENTED if an attr holds a variant that no message can hold.
    pub fn to_function(&self, function: &str, parts: &FunctionParts) -> Result<FunctionDef> {
        let FunctionParts { inputs, outputs, description, .. } = parts;
        for &output in inputs.iter().chain(outputs) {
            self.check_output(output)?;
        }
        let body = self.body_nodes(parts)?;
        let mut names = Names::default();
        let mut signature = OpDef { name: function.to_owned(), description: description.clone(), ..OpDef::default() };
        let mut arguments: HashMap<Output, String> = HashMap::new();
        for &input in inputs {
            let argument = names.take(&argument_name(&self.node(input.node).name));
            signature.input_arg.push(arg(&argument, self.dtype_of(input)));
            if arguments.insert(input, argument).is_some() {
                let text = format!("TF_Output {} appears more than once in the input list", self.full_name(input));
                return Err(Error::invalid_argument(text));
            }
        }
        let result_names = self.result_names(parts)?;
        let node_names: HashMap<NodeId, String> =
            body.iter().map(|&id| (id, names.take(&self.node(id).name))).collect();
        let value = |output: Output| -> Option<String> {
            arguments.get(&output).cloned().or_else(|| {
                let node = self.node(output.node);
                let ranges = node.op.def.outputs.iter().zip(&node.signature.output_ranges);
                let (argument, range) = ranges.into_iter().find(|(_, range)| range.contains(&output.index))?;
                let place = output.index - range.start;
                Some(format!("{}:{}:{place}", node_names.get(&output.node)?, argument.name))
            })
        };
        let mut def = FunctionDef::default();
        for &id in &body {
            let node = self.node(id);
            signature.is_stateful |= node.op.def.is_stateful;
            let sources = node.inputs.iter().enumerate().map(|(position, &input)| {
                value(input).ok_or_else(|| {
                    Error::invalid_argument(format!(
                        "Input {position}, '{}', of node '{}' in function '{function}' is not available. You might need to \
                         include it in inputs or include its source node in the body",
                        self.full_name(input),
                        node.name
                    ))
                })
            });
            let mut input = sources.collect::<Result<Vec<_>>>()?;
            for control in &node.control_inputs {
                let source = node_names.get(control).ok_or_else(|| {
                    Error::invalid_argument(format!(
                        "The control input '^{}' of node '{}' in function '{function}' is not available: include the node in \
                         the body",
                        self.node(*control).name,
                        node.name
                    ))
                })?;
                input.push(format!("^{source}"));
            }
            let mut message = node.to_def(input)?;
            message.name.clone_from(&node_names[&id]);
            def.node_def.push(message);
        }
        for (&output, name) in outputs.iter().zip(result_names) {
            let source = value(output).ok_or_else(|| {
                Error::invalid_argument(format!(
                    "TF_Output {} is neither in the function body nor among function inputs. Encountered while creating \
                     function '{function}'",
                    self.full_name(output)
                ))
            })?;
            signature.output_arg.push(arg(&name, self.dtype_of(output)));
            def.ret.insert(name, source);
        }
        let controls = self.control_results(parts, &node_names)?;
        signature.control_output = controls.keys().cloned().collect();
        def.control_ret = controls;
        def.signature = Some(signature);
        Ok(def)
    }

    /// The nodes of the body, in the graph's order.
    fn body_nodes(&self, parts: &FunctionParts) -> Result<Vec<NodeId>> {
        let Some(given) = &parts.nodes else {
            let given: HashSet<NodeId> = parts.inputs.iter().map(|input| input.node).collect();
            return Ok(self.ids().filter(|id| !given.contains(id)).collect());
        };
        let mut nodes = given.clone();
        for &node in &nodes {
            self.check_node(node)?;
        }
        nodes.sort_unstable();
        if let Some(twice) = nodes.windows(2).find(|pair| pair[0] == pair[1]) {
            let name = &self.node(twice[0]).name;
            return Err(Error::invalid_argument(format!("Operation '{name}' appears more than once in the body")));
        }
        Ok(nodes)
    }

    fn result_names(&self, parts: &FunctionParts) -> Result<Vec<String>> {
        let Some(given) = &parts.output_names else {
            let mut names = Names::default();
            return Ok(parts
                .outputs
                .iter()
                .map(|output| names.take(&argument_name(&self.node(output.node).name)))
                .collect());
        };
        check_number("output names", given.len(), parts.outputs.len())?;
        let mut seen = HashSet::new();
        match given.iter().find(|name| !seen.insert(name.as_str())) {
            Some(twice) => Err(Error::invalid_argument(format!(
                "Cannot have duplicate output names. Name '{twice}' appears more than once in 'output_names' array."
            ))),
            None => Ok(given.clone()),
        }
    }

    fn control_results(
        &self,
        parts: &FunctionParts,
        node_names: &HashMap<NodeId, String>,
    ) -> Result<BTreeMap<String, String>> {
        if let Some(names) = &parts.control_output_names {
            check_number("control output names", names.len(), parts.control_outputs.len())?;
        }
        let mut results = BTreeMap::new();
        for (position, id) in parts.control_outputs.iter().enumerate() {
            self.check_node(*id)?;
            let own = &self.node(*id).name;
            let Some(node) = node_names.get(id) else {
                return Err(Error::invalid_argument(format!("control output '{own}' is not in the function's body")));
            };
            let name = parts.control_output_names.as_ref().map_or(own, |names| &names[position]);
            if results.insert(name.clone(), node.clone()).is_some() {
                return Err(Error::invalid_argument(format!("Repeated control output name: {name}")));
            }
        }
        Ok(results)
    }

    /// `node:0`, whatever the index.
    fn full_name(&self, output: Output) -> String {
        format!("{}:{}", self.node(output.node).name, output.index)
    }

    fn dtype_of(&self, output: Output) -> DataType {
        self.node(output.node).signature.outputs[output.index].dtype
    }

    /// Says in the library that a function is the gradient of another one.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the function has another gradient.
    pub fn set_function_gradient(&mut self, function: &str, gradient: &str) -> Result<()> {
        match self.named_gradient(function) {
            Some(known) if known == gradient => Ok(()),
            Some(known) => Err(Error::invalid_argument(format!(
                "Cannot assign gradient function '{gradient}' to '{function}' because it already has gradient function '{known}'"
            ))),
            None => {
                self.name_gradient(function, gradient);
                Ok(())
            }
        }
    }
}

fn arg(name: &str, dtype: DataType) -> op_def::ArgDef {
    op_def::ArgDef { name: name.to_owned(), r#type: dtype.number(), ..op_def::ArgDef::default() }
}

fn check_number(what: &str, given: usize, expected: usize) -> Result<()> {
    match given == expected {
        true => Ok(()),
        false => Err(Error::invalid_argument(format!("there are {given} {what} for {expected} outputs"))),
    }
}
