//! The values that outputs have in every run: constants, sizes that shapes tell, and what standard ops make of them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use smallvec::SmallVec;

use super::budget::Budget;
use super::infer::Scope;
use super::{Graph, Node, NodeClass, NodeId, Output, created};
use crate::attr::AttrValue;
use crate::dtype::DataType;
use crate::error::{Error, Result, catch_panic};
use crate::kernel::{DeviceType, KernelDef, Provider, RawConstruction, RawContext};
use crate::registry::NodeQuery;
use crate::tensor::Tensor;

/// The most elements that a computed value, or what it is computed from, may have: shapes and axes are small.
const MAX_ELEMENTS: usize = 1 << 12;

/// The most elements that all values computed for one graph may have together.
const MAX_TOTAL: usize = 1 << 22;

/// The values that were computed for a graph; `None` for outputs that have no constant one.
#[derive(Default)]
pub(super) struct Constants(Mutex<Known>);

#[derive(Default)]
struct Known {
    values: HashMap<Output, Option<Tensor>>,
    elements: usize,
}

impl Clone for Constants {
    fn clone(&self) -> Constants {
        Constants::default()
    }
}

impl Graph {
    /// The value of an output, if it is that of a Const node.
    pub fn constant(&self, output: Output) -> Option<&Tensor> {
        let node = self.node(output.node);
        match node.attrs.get("value") {
            Some(AttrValue::Tensor(tensor))
                if node.class == NodeClass::Constant
                    && tensor.dtype() == node.signature.outputs[output.index].dtype =>
            {
                Some(tensor)
            }
            _ => None,
        }
    }

    /// The value that an output has in every run, if there is one and it is found with little work: that of a constant, a size
    /// that shapes tell, or what standard ops make of a few such elements.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such output, or a size that its shape tells does not fit its dtype.
    pub fn constant_value(&self, output: Output) -> Result<Option<Tensor>> {
        self.check_output(output)?;
        self.evaluate(output, &Scope::root(&Budget::new()))
    }

    /// The value that an output has in every run, if there is one and it is found with little work.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if a size that its shape tells does not fit the output's dtype.
    pub(super) fn evaluate(&self, output: Output, scope: &Scope<'_>) -> Result<Option<Tensor>> {
        if output.node.index() >= self.nodes.len() {
            return Ok(None);
        }
        if let Some(value) = self.constant(output) {
            return Ok(Some(value.clone()));
        }
        let mut stack = vec![output];
        while let Some(&top) = stack.last() {
            if self.computed(top).is_some() {
                stack.pop();
                continue;
            }
            let node = self.node(top.node);
            let value = self.told_by_shapes(top, node)?;
            if value.is_some() || !self.is_supported(top.node, node) {
                let value = match value {
                    Some(value) => Some(value),
                    None => self.argument(node, scope)?,
                };
                self.keep(top, value);
                continue;
            }
            let mut inputs = Vec::with_capacity(node.inputs.len());
            let mut missing = None;
            for &input in &node.inputs {
                match self.constant(input).cloned().map(Some).or_else(|| self.computed(input)) {
                    Some(Some(value)) if value.num_elements() <= MAX_ELEMENTS => inputs.push(Some(value)),
                    Some(_) => break,
                    None => {
                        missing = Some(input);
                        break;
                    }
                }
            }
            if let Some(missing) = missing {
                stack.push(missing);
                continue;
            }
            let outputs = if inputs.len() == node.inputs.len() { self.compute_if_standard(node, inputs) } else { None };
            let outputs = outputs.unwrap_or_else(|| vec![None; node.signature.outputs.len()]);
            for (index, value) in outputs.into_iter().enumerate() {
                self.keep(Output { node: top.node, index }, value);
            }
        }
        Ok(self.computed(output).flatten())
    }

    /// The argument of the call that an `_Arg` stands for.
    fn argument(&self, node: &Node, scope: &Scope<'_>) -> Result<Option<Tensor>> {
        let (Some(call), NodeClass::Arg, Some(AttrValue::Int(index))) =
            (&scope.call, node.class, node.attrs.get("index"))
        else {
            return Ok(None);
        };
        let Ok(index) = usize::try_from(*index) else { return Ok(None) };
        let argument = call.arguments.get(index).copied().flatten();
        let value = argument.map_or(Ok(None), |argument| call.graph.evaluate(argument, call.scope));
        call.asked.note(index, !matches!(value, Ok(None)));
        value
    }

    fn computed(&self, output: Output) -> Option<Option<Tensor>> {
        self.constants.0.lock().unwrap_or_else(PoisonError::into_inner).values.get(&output).cloned()
    }

    fn keep(&self, output: Output, value: Option<Tensor>) {
        let mut known = self.constants.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.elements += value.as_ref().map_or(0, Tensor::num_elements);
        known.values.insert(output, value);
    }

    /// `Shape`, `Rank`, `Size`, and an element of a `Shape`, where the shape is known.
    fn told_by_shapes(&self, output: Output, node: &Node) -> Result<Option<Tensor>> {
        let Some(&input) = node.inputs.first().filter(|input| input.node.index() < self.nodes.len()) else {
            return Ok(None);
        };
        let dtype = node.signature.outputs[output.index].dtype;
        if !matches!(dtype, DataType::Int32 | DataType::Int64) {
            return Ok(None);
        }
        let shape = self.shape(input).to_shape();
        let (values, is_scalar) = match node.class {
            NodeClass::Shape => (shape.map(|shape| shape.dims().iter().map(|&dim| dim as i64).collect()), false),
            NodeClass::Rank => (self.shape(input).rank().map(|rank| vec![rank as i64]), true),
            NodeClass::Size => (
                shape.and_then(|shape| {
                    let count = shape.dims().iter().try_fold(1i64, |n, &dim| n.checked_mul(i64::try_from(dim).ok()?));
                    Some(vec![count?])
                }),
                true,
            ),
            _ => (self.element_of_shape(output, node, input).map(|dim| vec![dim]), true),
        };
        let Some(values) = values else { return Ok(None) };
        let tensor = match dtype {
            DataType::Int32 => {
                let too_big = |value: &i64| Error::invalid_argument(format!("Value is out of int32 range: {value}"));
                let narrow = values.iter().map(|value| match i32::try_from(*value) {
                    Ok(narrow) if narrow < i32::MAX => Ok(narrow),
                    _ => Err(too_big(value)),
                });
                let narrow = narrow.collect::<Result<Vec<_>>>()?;
                if is_scalar { Ok(Tensor::scalar(narrow[0])) } else { Tensor::vector(&narrow) }
            }
            _ if is_scalar => Ok(Tensor::scalar(values[0])),
            _ => Tensor::vector(&values),
        };
        tensor.map(Some)
    }

    /// `shape(x)[i]`, written as a StridedSlice or an Unpack of a Shape.
    fn element_of_shape(&self, output: Output, node: &Node, input: Output) -> Option<i64> {
        let source = self.node(input.node);
        let of = *source.inputs.first().filter(|_| source.class == NodeClass::Shape)?;
        let attr = |name: &str| match node.attrs.get(name) {
            Some(AttrValue::Int(value)) => Some(*value),
            _ => None,
        };
        let index = match node.class {
            NodeClass::Unpack if attr("axis") == Some(0) => output.index as i64,
            NodeClass::StridedSlice
                if ["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask"]
                    .iter()
                    .all(|mask| attr(mask) == Some(0))
                    && attr("shrink_axis_mask") == Some(1) =>
            {
                let begin = self.constant(*node.inputs.get(1)?).filter(|begin| begin.num_elements() == 1)?;
                *begin.to_i64_vec().ok()?.first()?
            }
            _ => return None,
        };
        let shape = self.shape(of);
        let dims = shape.dims()?;
        let index = if index < 0 { index + dims.len() as i64 } else { index };
        let dim = *dims.get(usize::try_from(index).ok()?)?;
        i64::try_from(dim?).ok()
    }

    /// Whether a node computes the same in every run and may run before one: ops of the crate that declares `Const`
    /// only, so that no op of a user's own runs by surprise.
    fn is_supported(&self, id: NodeId, node: &Node) -> bool {
        let op = node.op.def;
        let is_standard =
            self.registry.op(created::CONSTANT).is_ok_and(|standard| std::ptr::eq(standard.provider, node.op.provider));
        let calls = |value: &AttrValue| matches!(value, AttrValue::Func(_) | AttrValue::ListFunc(_));
        let is_small = |shape: &crate::shape::PartialShape| {
            let sizes = shape.dims().unwrap_or_default().iter().map(|dim| dim.unwrap_or(1));
            sizes.into_iter().try_fold(1usize, |count, dim| count.checked_mul(dim)).is_some_and(|n| n <= MAX_ELEMENTS)
        };
        is_standard
            && !node.inputs.is_empty()
            && node.inputs.iter().all(|input| input.node < id)
            && !op.is_stateful
            // What is in a file may change, and importing reads none.
            && !matches!(node.class, NodeClass::PlaceholderWithDefault | NodeClass::ReadsFiles)
            && !node.class.is_control_flow()
            && !node.attrs.iter().any(|(_, value)| calls(value))
            && node.signature.inputs.iter().chain(&node.signature.outputs).all(|slot| !slot.is_ref)
            && node.output_shapes.iter().all(is_small)
            && self.constants.0.lock().unwrap_or_else(PoisonError::into_inner).elements <= MAX_TOTAL
    }

    /// Whether a kernel comes from the provider of `Const`'s kernel: that an op is a standard one does not say that its
    /// kernel is.
    pub(crate) fn is_standard_kernel(&self, def: &KernelDef) -> bool {
        self.standard_providers().iter().any(|provider| provider.is_with(def.provider))
    }

    /// The providers of `Const`'s kernels. Asking for them takes longer than most else that is asked of a node.
    fn standard_providers(&self) -> SmallVec<[&'static Provider; 1]> {
        let constant = self.registry.kernels_of(created::CONSTANT);
        let constant = constant
            .iter()
            .filter(|kernel| kernel.device == DeviceType("CPU") && kernel.label.is_empty() && kernel.priority == 0);
        let mut providers: SmallVec<[&'static Provider; 1]> = SmallVec::new();
        for kernel in constant {
            if !providers.iter().any(|provider| std::ptr::eq(*provider, kernel.provider)) {
                providers.push(kernel.provider);
            }
        }
        providers
    }

    /// Whether every kernel that may run a node, on whatever device, is a standard one. A user's own kernel may do more
    /// than its op says.
    pub(crate) fn has_standard_kernels(&self, node: &Node) -> bool {
        let label = match node.attrs.get("_kernel") {
            Some(AttrValue::String(label)) => label.as_bytes(),
            _ => &[],
        };
        let kernels = self.registry.kernels_of(&node.op.def.name);
        let standard = self.standard_providers();
        let is_standard = |kernel: &&KernelDef| standard.iter().any(|provider| provider.is_with(kernel.provider));
        kernels.iter().filter(|kernel| kernel.label.as_bytes() == label).all(is_standard)
    }

    /// As [`Graph::compute`], if the kernel is a standard one.
    fn compute_if_standard(&self, node: &Node, inputs: Vec<Option<Tensor>>) -> Option<Vec<Option<Tensor>>> {
        self.is_standard_kernel(self.cpu_kernel(node)?).then(|| self.compute(node, inputs)).flatten()
    }

    fn cpu_kernel(&self, node: &Node) -> Option<&'static KernelDef> {
        let (name, op, attrs) = (node.name.as_str(), &node.op.def.name, &node.attrs);
        let query = NodeQuery { node: name, op, attrs, device: DeviceType("CPU"), capabilities: &[] };
        self.registry.find_kernel(query).ok()
    }

    /// Runs a node's kernel on the CPU, which must be [standard](Graph::has_standard_kernels). `None` if there is none that
    /// may run before a graph does, or it fails: a run will say why.
    pub(crate) fn compute(&self, node: &Node, mut inputs: Vec<Option<Tensor>>) -> Option<Vec<Option<Tensor>>> {
        let (name, op, signature) = (node.name.as_str(), node.op.def, &*node.signature);
        let def = self.cpu_kernel(node)?;
        let attrs = &node.attrs;
        let device = DeviceType("CPU");
        let registry = &self.registry;
        let construction =
            RawConstruction { node: name, op, attrs, signature, registry, device, constants: &[], surroundings: None };
        let kernel = def.make(&construction).ok()?;
        let mut outputs: Vec<Option<Tensor>> = vec![None; signature.outputs.len()];
        let mut context = RawContext::new(name, op, signature, &mut inputs, &mut outputs, None);
        catch_panic("the kernel", || kernel.compute(&mut context)).ok()?;
        Some(outputs)
    }

    /// The scalar integer that an output is in every run.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it is constant but no single `int32` or `int64`.
    pub(super) fn evaluate_int(&self, output: Output, scope: &Scope<'_>) -> Result<Option<i64>> {
        let Some(value) = self.evaluate(output, scope)? else { return Ok(None) };
        if value.num_elements() != 1 {
            let message = format!("a scalar is expected, but `{}` is {value}", self.output_name(output));
            return Err(Error::invalid_argument(message));
        }
        match value.dtype() {
            DataType::Int32 | DataType::Int64 => Ok(value.to_i64_vec()?.first().copied()),
            other => Err(Error::invalid_argument(format!(
                "an int32 or int64 is expected, but `{}` is {other}",
                self.output_name(output)
            ))),
        }
    }
}
