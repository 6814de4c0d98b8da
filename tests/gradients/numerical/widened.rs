//! Cases in wider dtypes.

use std::collections::HashMap;
use std::sync::Arc;

use kernlink::attr::AttrValue;
use kernlink::dtype::Complex64;
use kernlink::graph::NodeBuilder;
use kernlink::prelude::*;
use kernlink::proto::{GraphDef, VersionDef};
use kernlink::registry::Registry;

use super::differences::{Function, numbers, tensor_of, weight};

/// To which dtype a case is widened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    /// Floats to `double`, complex numbers to `complex128`.
    Double,
    /// All to `complex128`.
    Complex,
}

impl Width {
    fn dtype(self, dtype: DataType) -> DataType {
        match (self, dtype) {
            (Width::Double, DataType::Float) => DataType::Double,
            (Width::Double, DataType::Complex64) => DataType::Complex128,
            (Width::Complex, DataType::Float | DataType::Double | DataType::Complex64) => DataType::Complex128,
            (_, other) => other,
        }
    }

    fn tensor(self, tensor: &Tensor) -> Result<Tensor> {
        let (own, wide) = (tensor.dtype(), self.dtype(tensor.dtype()));
        if own == wide {
            return Ok(tensor.clone());
        }
        let own_numbers = numbers(tensor)?;
        match wide.is_complex() && !own.is_complex() {
            true => {
                let elements: Vec<Complex64> = own_numbers.into_iter().map(|re| Complex64::new(re, 0.0)).collect();
                Tensor::from_elements(tensor.shape(), &elements)
            }
            false => tensor_of(wide, tensor.shape(), &own_numbers),
        }
    }
}

/// A graph without nodes, of this version.
pub(super) fn empty(versions: &VersionDef, registry: &Arc<Registry>) -> Result<Graph> {
    Graph::import(&GraphDef { versions: Some(versions.clone()), ..GraphDef::default() }, registry)
}

/// The function in the wider dtypes; an error if one of its ops does not take them.
pub(super) fn widened(function: &Function, width: Width) -> Result<Function> {
    let source = &function.graph;
    let mut graph = empty(source.versions(), source.registry())?;
    let mut known: HashMap<NodeId, NodeId> = HashMap::new();
    let place = |known: &HashMap<NodeId, NodeId>, output: Output| Output { node: known[&output.node], ..output };
    for id in source.ids() {
        let node = source.node(id);
        let mut builder = NodeBuilder::new(&mut graph, node.op.def);
        builder.name(&node.name);
        for (argument, range) in node.op.def.inputs.iter().zip(&node.signature.input_ranges) {
            let inputs = range.clone().map(|index| place(&known, node.inputs[index]));
            match argument.is_list() {
                true => builder.input_list(inputs.collect::<Vec<_>>()),
                false => inputs.fold(&mut builder, |builder, input| builder.input(input)),
            };
        }
        node.control_inputs.iter().for_each(|input| _ = builder.control_input(known[input]));
        for (name, value) in node.attrs.iter() {
            let value = match value {
                AttrValue::Type(dtype) => AttrValue::Type(width.dtype(*dtype)),
                AttrValue::ListType(dtypes) => {
                    AttrValue::ListType(dtypes.iter().map(|dtype| width.dtype(*dtype)).collect())
                }
                AttrValue::Tensor(tensor) => AttrValue::Tensor(width.tensor(tensor)?),
                AttrValue::Func(_) => bail!(Unimplemented, "functions stay as they are"),
                other => other.clone(),
            };
            builder.attr(name, value);
        }
        known.insert(id, builder.build()?);
    }
    let mut fed = Vec::with_capacity(function.fed.len());
    for (x, (output, value)) in function.fed.iter().enumerate() {
        let mut wide = width.tensor(value)?;
        if wide.dtype().is_complex() && !value.dtype().is_complex() {
            let mut parts = numbers(&wide)?;
            parts.chunks_exact_mut(2).enumerate().for_each(|(k, pair)| pair[1] = weight(k, x) / 2.0);
            wide = tensor_of(wide.dtype(), wide.shape(), &parts)?;
        }
        fed.push((place(&known, *output), wide));
    }
    let outputs = |outputs: &[Output]| outputs.iter().map(|output| place(&known, *output)).collect();
    Ok(Function {
        name: format!("{} in {width:?}", function.name),
        fed,
        xs: outputs(&function.xs),
        ys: outputs(&function.ys),
        graph,
    })
}
