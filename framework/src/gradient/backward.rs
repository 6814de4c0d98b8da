//! The way back over what a tape has recorded.

use std::sync::Arc;

use smallvec::SmallVec;

use super::control::call::{Given, Pair};
use super::control::emit;
use super::def::Differentiation;
use super::differentiable::{GRADIENT_OP_TYPE, no_gradient, per_input, within};
use super::place::Side;
use super::record::{Executed, Kept, Recorded, Records, Runs};
use super::scope::{Differentiated, GradientScope};
use super::taped_call::TapedCall;
use super::traced::{ById, IdSet, Traced, TracedGradient, UNTRACED};
use super::value::{Gradient, IndexedSlices, ShapeOf, Value};
use crate::attr::AttrMap;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::graph::{Applied, NodeBuilder, NodeRequest, Operand, Outputs};
use crate::op::{OpDef, Signature};
use crate::registry::Registry;
use crate::runtime::Prepared;
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// One way back over a tape.
pub(super) struct Pass<'a, 'p> {
    pub(super) runs: &'a mut Runs<'p>,
    pub(super) registry: Arc<Registry>,
    /// What tells this way back from others.
    pub(super) source: String,
    /// What the values of the gradient's function are that is running.
    values: Vec<Traced>,
    /// What flows back to each tensor, from each op that took it.
    flows: ById<SmallVec<[TracedGradient; 1]>>,
}

impl<'a, 'p> Pass<'a, 'p> {
    pub(super) fn new(runs: &'a mut Runs<'p>, source: String) -> Pass<'a, 'p> {
        let registry = runs.registry();
        Pass { runs, registry, source, values: Vec::new(), flows: ById::default() }
    }

    pub(super) fn run(
        &mut self,
        records: &Records,
        known: &IdSet,
        (ys, flows): (&[Traced], &[Traced]),
        xs: &[u64],
    ) -> Result<Vec<Option<TracedGradient>>> {
        for (index, y) in ys.iter().enumerate() {
            if known.contains(y.id) {
                self.seed(y, flows.get(index))?;
            }
        }
        let asked: IdSet = xs.iter().copied().collect();
        // What depends on one of `xs`: a tensor is given by a record that comes after those of what it was computed from.
        let mut depends = asked.clone();
        let mut between = vec![false; records.len()];
        for (index, between) in between.iter_mut().enumerate() {
            let Recorded { inputs, outputs, .. } = records.get(index);
            *between = inputs.iter().any(|id| depends.contains(id));
            if *between {
                outputs.iter().for_each(|id| depends.insert(id));
            }
        }
        for index in (0..records.len()).rev().filter(|index| between[*index]) {
            self.differentiate(records.get(index), &asked, &depends)?;
        }
        xs.iter().map(|x| if known.contains(*x) { self.found_at(*x) } else { Ok(None) }).collect()
    }

    fn found_at(&mut self, x: u64) -> Result<Option<TracedGradient>> {
        let Some(flows) = self.flows.get(&x).cloned() else { return Ok(None) };
        let sum = self.sum(flows)?;
        Ok(Some(self.traced_gradient(sum)))
    }

    fn seed(&mut self, y: &Traced, given: Option<&Traced>) -> Result<()> {
        let (dtype, shape) = (y.tensor.dtype(), y.tensor.shape());
        let flow = match given {
            Some(given) if given.tensor.dtype() != dtype || given.tensor.shape() != shape => {
                return Err(Error::invalid_argument(format!(
                    "what flows back must have the dtype and the shape of its y, {dtype} {shape}, not {} {}",
                    given.tensor.dtype(),
                    given.tensor.shape()
                )));
            }
            Some(given) => given.clone(),
            None => {
                let known = ShapeOf { known: PartialShape::from(shape), of: None };
                let ones = self.with_nothing(|scope| scope.ones(dtype, &known))?;
                self.values[ones.0 as usize].clone()
            }
        };
        self.flows.entry(y.id).or_default().push(TracedGradient::Dense(flow));
        self.values.clear();
        Ok(())
    }

    fn value_of(&mut self, traced: Traced) -> Value {
        self.values.push(traced);
        Value(self.values.len() as u32 - 1)
    }

    fn gradient_of(&mut self, traced: TracedGradient) -> Gradient {
        match traced {
            TracedGradient::Dense(value) => Gradient::Dense(self.value_of(value)),
            TracedGradient::Slices { values, indices, dense_shape } => Gradient::Slices(IndexedSlices {
                values: self.value_of(values),
                indices: self.value_of(indices),
                dense_shape: self.value_of(dense_shape),
            }),
        }
    }

    fn traced_gradient(&self, gradient: Gradient) -> TracedGradient {
        let traced = |value: Value| self.values[value.0 as usize].clone();
        match gradient {
            Gradient::Dense(value) => TracedGradient::Dense(traced(value)),
            Gradient::Slices(IndexedSlices { values, indices, dense_shape }) => TracedGradient::Slices {
                values: traced(values),
                indices: traced(indices),
                dense_shape: traced(dense_shape),
            },
        }
    }

    /// All that flows back to a tensor.
    fn sum(&mut self, flows: SmallVec<[TracedGradient; 1]>) -> Result<Gradient> {
        let flows: SmallVec<[Gradient; 1]> = flows.into_iter().map(|flow| self.gradient_of(flow)).collect();
        match flows[..] {
            [flow] => Ok(flow),
            _ => self.with_nothing(|scope| scope.sum(&flows)),
        }
    }

    fn differentiate(&mut self, recorded: Recorded<'_>, asked: &IdSet, depends: &IdSet) -> Result<()> {
        let Recorded { record, call, inputs, outputs, .. } = recorded;
        let arrived: SmallVec<[_; 2]> = outputs.iter().map(|id| self.flows.remove(&id)).collect();
        if arrived.iter().all(Option::is_none) {
            return Ok(());
        }
        let Prepared { op, attrs, signature, .. } = &*record.prepared;
        let by = match (call, record.gradient) {
            (Some(TapedCall::Nothing), _) => return Ok(()),
            (Some(TapedCall::Failed(error)), _) => {
                return Err(error.clone().at_node("an op on the tape", &op.name, ""));
            }
            (Some(TapedCall::Pair(parts)), _) => By::Call(&parts.pair),
            (None, None) => {
                let asked = attrs.required::<String>(GRADIENT_OP_TYPE).ok();
                return Err(no_gradient(op, "an op on the tape", asked.as_deref(), None));
            }
            (None, Some(gradient)) => match &gradient.differentiation {
                Some(differentiation) => By::Op(differentiation),
                None => return Ok(()),
            },
        };
        let mut flows = Vec::with_capacity(arrived.len());
        for (id, arrived) in outputs.iter().zip(arrived) {
            let flow = arrived.map(|arrived| self.sum(arrived)).transpose()?;
            // What was asked for is looked up at the end.
            if let Some(flow) = flow.filter(|_| asked.contains(id)) {
                let kept = self.traced_gradient(flow);
                self.flows.insert(id, SmallVec::from_elem(kept, 1));
            }
            flows.push(flow);
        }
        let kept = recorded.kept();
        let mut node = TapeNode { pass: self, recorded: Some((recorded, depends)), kept: &kept, flows };
        let mut scope = GradientScope::new(&mut node);
        let found = match by {
            By::Op(differentiation) => {
                (differentiation.call)(&mut scope).and_then(|found| per_input(op, signature, found))
            }
            By::Call(pair) => call_backward(&mut scope, pair),
        };
        let found = found.map_err(|error| within(record.gradient, op, None, error))?;
        for (id, flow) in inputs.iter().zip(found) {
            if let Some(flow) = flow.filter(|_| depends.contains(id)) {
                let flow = self.traced_gradient(flow);
                self.flows.entry(id).or_default().push(flow);
            }
        }
        // Nothing of what this gradient was made of stays.
        self.values.clear();
        Ok(())
    }

    /// A scope for ops that belong to no op that was run.
    fn with_nothing<T>(&mut self, call: impl FnOnce(&mut GradientScope<'_>) -> Result<T>) -> Result<T> {
        let mut node = TapeNode { pass: self, recorded: None, kept: &[], flows: Vec::new() };
        call(&mut GradientScope::new(&mut node))
    }
}

/// How an op that was run is differentiated.
#[derive(Clone, Copy)]
enum By<'r> {
    Op(&'r Differentiation),
    Call(&'r Pair),
}

/// Calls the backward part of a function; returns what flows on to each argument.
fn call_backward(scope: &mut GradientScope<'_>, pair: &Pair) -> Result<Vec<Option<Gradient>>> {
    let given = pair.given.iter().map(|given| match *given {
        Given::Flow(index) => scope.flow_or_zeros(index),
        Given::Argument(place) => scope.node.value(Side::Input, place),
        Given::Result(index) => scope.node.value(Side::Output, index),
    });
    let given = given.collect::<Result<Vec<Value>>>()?;
    let backward = &pair.backward;
    let op = scope.node.registry().op(emit::call_of(backward))?.def;
    let mut call = NodeBuilder::new(scope, op);
    call.input_list(given).attr("f", backward.reference()).attr("Tout", backward.result_dtypes().to_vec());
    let mut results = call.build_outputs()?.into_vec().into_iter().map(Gradient::Dense);
    Ok(pair.found.iter().map(|found| if *found { results.next() } else { None }).collect())
}

/// An op that was run and is differentiated.
struct TapeNode<'a, 'b, 'p> {
    pass: &'a mut Pass<'b, 'p>,
    recorded: Option<(Recorded<'a>, &'a IdSet)>,
    /// What is kept of its inputs, then of its outputs.
    kept: &'a [Option<&'a Kept>],
    flows: Vec<Option<Gradient>>,
}

impl TapeNode<'_, '_, '_> {
    /// What is kept of an input or output.
    fn kept(&self, side: Side, index: usize) -> Option<(&Kept, u64)> {
        let (Recorded { inputs, outputs, .. }, _) = self.recorded?;
        let (ids, place) = if side == Side::Input { (inputs, index) } else { (outputs, inputs.len() + index) };
        Some(((*self.kept.get(place)?)?, ids.get(index)?))
    }

    fn traced(&self, value: Value) -> Option<&Traced> {
        self.pass.values.get(value.0 as usize)
    }
}

#[cold]
fn not_kept() -> Error {
    Error::internal("a gradient uses what its tape has not kept")
}

impl Differentiated for TapeNode<'_, '_, '_> {
    fn op(&self) -> &'static OpDef {
        self.recorded.map_or(&OpDef::EMPTY, |(recorded, _)| recorded.record.prepared.op)
    }

    fn attrs(&self) -> &AttrMap {
        static NONE: AttrMap = AttrMap::new();
        self.recorded.map_or(&NONE, |(recorded, _)| &recorded.record.prepared.attrs)
    }

    fn signature(&self) -> &Signature {
        static NONE: Signature = Signature::EMPTY;
        self.recorded.map_or(&NONE, |(recorded, _)| &recorded.record.prepared.signature)
    }

    fn registry(&self) -> &Registry {
        &self.pass.registry
    }

    fn value(&mut self, side: Side, index: usize) -> Result<Value> {
        let Some((Kept::Tensor(tensor), id)) = self.kept(side, index) else { return Err(not_kept()) };
        let traced = Traced { tensor: tensor.clone(), id };
        Ok(self.pass.value_of(traced))
    }

    fn shape_of(&mut self, side: Side, index: usize) -> Result<ShapeOf> {
        let (kept, id) = self.kept(side, index).ok_or_else(not_kept)?;
        let known = PartialShape::from(kept.shape());
        // What no shape says is known by the tensor.
        let of = match kept {
            Kept::Tensor(tensor) if !tensor.dtype().is_pod() => Some(Traced { tensor: tensor.clone(), id }),
            _ => None,
        };
        Ok(ShapeOf { known, of: of.map(|traced| self.pass.value_of(traced)) })
    }

    fn flow(&self, index: usize) -> Option<Gradient> {
        self.flows.get(index).copied().flatten()
    }

    fn is_wanted(&self, index: usize) -> bool {
        self.recorded
            .is_some_and(|(recorded, depends)| recorded.inputs.get(index).is_some_and(|id| depends.contains(id)))
    }

    fn known_shape(&self, value: Value) -> PartialShape {
        self.traced(value).map_or_else(PartialShape::unknown, |traced| PartialShape::from(traced.tensor.shape()))
    }

    fn dtype(&self, value: Value) -> Option<DataType> {
        Some(self.traced(value)?.tensor.dtype())
    }

    fn known_value(&self, value: Value) -> Option<&Tensor> {
        Some(&self.traced(value)?.tensor)
    }

    fn add_constant(&mut self, tensor: Tensor) -> Result<Value> {
        Ok(self.pass.value_of(Traced { tensor, id: UNTRACED }))
    }

    fn source(&self) -> &str {
        &self.pass.source
    }

    fn apply(&mut self, request: NodeRequest<'_, Value>) -> Result<Applied<GradientScope<'static>>> {
        let values = &self.pass.values;
        let mut request = request.with_operands(|value: Value| {
            let traced = values.get(value.0 as usize).cloned().map(Operand::Value);
            traced.ok_or_else(|| Error::internal("a value of another gradient"))
        })?;
        let Executed { signature, outputs, .. } = self.pass.runs.execute(&mut request)?;
        let outputs = outputs.into_iter().map(|output| output.map(|output| self.pass.value_of(output))).collect();
        Ok(Applied { node: (), outputs: Outputs::new(outputs, signature) })
    }
}
