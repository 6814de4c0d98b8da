//! Gradients of what was run: a tape keeps what the gradients of ops need, as the ops run, and goes back over it.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use super::def::{GradientDef, Side, find_gradient};
use super::differentiable::{GRADIENT_OP_TYPE, is_trainable, no_gradient, per_input};
use super::scope::{Differentiated, GradientScope};
use super::value::{Gradient, IndexedSlices, ShapeOf, Value};
use crate::attr::AttrMap;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::graph::{Applied, IntoOperand, NodeInput, NodeRequest, OpScope, Operand, Outputs};
use crate::op::{OpDef, Signature};
use crate::registry::Registry;
use crate::runtime::{Computed, EagerContext, Prepared};
use crate::shape::{PartialShape, Shape};
use crate::tensor::{IntoTensor, ResourceHandle, Tensor};

/// A tensor that a [`GradientTape`] knows: what its ops take and give.
#[derive(Clone)]
pub struct Traced {
    tensor: Tensor,
    id: u64,
}

impl Traced {
    /// The tensor.
    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// The tensor.
    pub fn into_tensor(self) -> Tensor {
        self.tensor
    }
}

impl std::ops::Deref for Traced {
    type Target = Tensor;

    fn deref(&self) -> &Tensor {
        &self.tensor
    }
}

impl fmt::Debug for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tensor.fmt(f)
    }
}

impl IntoOperand<Traced> for Traced {
    fn into_operand(self) -> Result<Operand<Traced>> {
        Ok(Operand::Value(self))
    }
}

impl IntoOperand<Traced> for &Traced {
    fn into_operand(self) -> Result<Operand<Traced>> {
        Ok(Operand::Value(self.clone()))
    }
}

/// The gradient with respect to a tensor that a tape watched.
#[derive(Clone, Debug)]
pub enum TracedGradient {
    /// A tensor of its shape.
    Dense(Traced),
    /// Some of its rows, those that are there several times counting as often.
    Slices {
        /// The rows.
        values: Traced,
        /// Which rows they are.
        indices: Traced,
        /// The shape of the whole, a vector.
        dense_shape: Traced,
    },
}

impl TracedGradient {
    /// The tensor, if the gradient is one.
    pub fn dense(self) -> Option<Traced> {
        match self {
            TracedGradient::Dense(value) => Some(value),
            TracedGradient::Slices { .. } => None,
        }
    }
}

/// Ids are numbers in turn already.
#[derive(Default)]
struct OfId(u64);

impl Hasher for OfId {
    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = id;
    }

    fn write_usize(&mut self, id: usize) {
        self.0 = id as u64;
    }
}

type ById<T> = HashMap<u64, T, BuildHasherDefault<OfId>>;

/// A tensor that no tape can know.
const UNTRACED: u64 = 0;
/// Set in the ids of variables, which are those of their names.
const VARIABLE: u64 = 1 << 63;
/// Stands for the record of what is watched itself.
const WATCHED: u32 = u32::MAX;

/// Records ops as they run, and computes gradients of what they gave.
///
/// It is a scope, as an [`EagerContext`] is: the functions that `#[register_op]` writes take it, and run their op at once.
/// What is computed from a tensor that is [watched](GradientTape::watch), or from a variable, is recorded.
///
/// ```ignore
/// let mut tape = GradientTape::new(&eager);
/// let x = tape.watch(3.0f32)?;
/// let y = ops::mul(&mut tape, &x, &x).build()?;
/// let [dx] = &tape.gradient(&y, [&x])?[..] else { panic!("one") };
/// ```
///
/// A tape keeps the tensors that the recorded gradients use, and nothing else. It is done with after one gradient, unless it
/// is [persistent](GradientTape::persistent). For gradients of gradients, one tape is [nested](GradientTape::nested) in
/// another, which records what the inner one computes.
pub struct GradientTape<'p> {
    runs: Runs<'p>,
    records: Vec<Record>,
    /// By which record each tensor came.
    known: ById<u32>,
    /// The gradients of the ops that were met.
    gradients: ById<&'static GradientDef>,
    is_persistent: bool,
    is_used: bool,
    is_stopped: bool,
}

/// What runs the ops of a tape.
enum Runs<'p> {
    Context(EagerContext),
    Tape(&'p mut dyn Execute),
}

/// What runs ops on tensors that have ids.
trait Execute {
    fn execute(&mut self, request: NodeRequest<'_, Traced>) -> Result<Executed>;

    fn registry(&self) -> Arc<Registry>;
}

/// An op that was run.
struct Executed {
    prepared: Arc<Prepared>,
    outputs: SmallVec<[Traced; 2]>,
}

/// An op that was run and may be differentiated.
struct Record {
    prepared: Arc<Prepared>,
    gradient: Option<&'static GradientDef>,
    inputs: SmallVec<[u64; 3]>,
    outputs: SmallVec<[u64; 2]>,
    /// What is kept of inputs and outputs, in this order.
    kept: Box<[Kept]>,
}

/// What is kept of a tensor.
#[derive(Clone)]
enum Kept {
    Nothing,
    Shape(Shape),
    Tensor(Tensor),
}

impl Execute for EagerContext {
    #[track_caller]
    fn execute(&mut self, request: NodeRequest<'_, Traced>) -> Result<Executed> {
        let request = request.with_operands(|traced: Traced| Ok(Operand::Constant(traced.tensor)))?;
        let (prepared, outputs) = self.run(request)?;
        Ok(Executed { outputs: traced(outputs), prepared })
    }

    fn registry(&self) -> Arc<Registry> {
        EagerContext::registry(self).clone()
    }
}

/// Outputs with ids of their own.
fn traced(outputs: Computed) -> SmallVec<[Traced; 2]> {
    static LAST: AtomicU64 = AtomicU64::new(UNTRACED);
    let id_of = |tensor: &Tensor| match tensor.dtype() {
        DataType::Resource => variable_id(tensor),
        dtype if is_trainable(dtype) => LAST.fetch_add(1, Ordering::Relaxed) + 1,
        _ => UNTRACED,
    };
    outputs.into_iter().flatten().map(|tensor| Traced { id: id_of(&tensor), tensor }).collect()
}

/// The id of the variable that a handle names.
fn variable_id(handle: &Tensor) -> u64 {
    let Ok([handle]) = handle.as_slice::<ResourceHandle>() else { return UNTRACED };
    let mut hasher = std::hash::DefaultHasher::new();
    (&handle.container, &handle.name).hash(&mut hasher);
    handle.owned.as_ref().map(|owned| Arc::as_ptr(owned).cast::<()>() as usize).hash(&mut hasher);
    hasher.finish() | VARIABLE
}

impl GradientTape<'static> {
    /// A tape whose ops run in a context.
    pub fn new(context: &EagerContext) -> GradientTape<'static> {
        GradientTape::on(Runs::Context(context.clone()))
    }
}

impl<'p> GradientTape<'p> {
    fn on(runs: Runs<'p>) -> GradientTape<'p> {
        GradientTape {
            runs,
            records: Vec::new(),
            known: ById::default(),
            gradients: ById::default(),
            is_persistent: false,
            is_used: false,
            is_stopped: false,
        }
    }

    /// A tape within this one, which records what that runs and computes: for gradients of gradients.
    pub fn nested(&mut self) -> GradientTape<'_> {
        GradientTape::on(Runs::Tape(self))
    }

    /// Keeps what is recorded after a gradient was computed, for others.
    #[must_use]
    pub fn persistent(mut self) -> Self {
        self.is_persistent = true;
        self
    }

    /// Records what is computed from this tensor from now on.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory; INVALID_ARGUMENT for a dtype that cannot be differentiated.
    pub fn watch(&mut self, tensor: impl IntoTraced) -> Result<Traced> {
        let mut traced = tensor.into_traced()?;
        let dtype = traced.tensor.dtype();
        if !is_trainable(dtype) {
            let message = format!("a tensor of {dtype} cannot be watched: gradients are of floats and complex numbers");
            return Err(Error::invalid_argument(message));
        }
        if traced.id == UNTRACED {
            let computed: Computed = [Some(traced.tensor)].into_iter().collect();
            traced = self::traced(computed).pop().ok_or_else(|| Error::internal("a tensor that is none"))?;
        }
        self.known.entry(traced.id).or_insert(WATCHED);
        Ok(traced)
    }

    /// Runs `work` without recording it.
    ///
    /// # Errors
    /// Those of `work`.
    pub fn stop_recording<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = std::mem::replace(&mut self.is_stopped, true);
        let done = work(self);
        self.is_stopped = before;
        done
    }

    /// Forgets what was recorded and watched.
    pub fn reset(&mut self) {
        self.records.clear();
        self.known.clear();
        self.is_used = false;
    }

    /// How many ops are recorded.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The gradient of `y` with respect to each of `xs`, `None` where `y` does not depend on it.
    ///
    /// # Errors
    /// As [`GradientTape::gradients`].
    pub fn gradient<'x>(
        &mut self,
        y: &Traced,
        xs: impl IntoIterator<Item = &'x Traced>,
    ) -> Result<Vec<Option<TracedGradient>>> {
        self.gradients(std::slice::from_ref(y), xs, &[])
    }

    /// The gradients of the sum of `ys` with respect to each of `xs`, `None` where they do not depend on it. `flows` is what
    /// flows back to each of the `ys`; ones if it is empty.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if the tape has computed a gradient already and is not persistent; NOT_FOUND if an op on the way
    /// has no registered gradient; INVALID_ARGUMENT if `flows` do not suit the `ys`; and what the gradients' ops meet.
    pub fn gradients<'x>(
        &mut self,
        ys: &[Traced],
        xs: impl IntoIterator<Item = &'x Traced>,
        flows: &[Traced],
    ) -> Result<Vec<Option<TracedGradient>>> {
        if self.is_used {
            let message = "this tape has computed a gradient, and what it had recorded is dropped: a tape that is to compute \
                           several is made `persistent()`";
            return Err(Error::failed_precondition(message));
        }
        if !flows.is_empty() && flows.len() != ys.len() {
            let message = format!("{} tensors flow back to {} ys: give one for each, or none", flows.len(), ys.len());
            return Err(Error::invalid_argument(message));
        }
        let records = std::mem::take(&mut self.records);
        let xs: Vec<u64> = xs.into_iter().map(|x| x.id).collect();
        let registry = self.runs.registry();
        let mut pass = Pass { runs: &mut self.runs, registry, values: Vec::new(), flows: ById::default() };
        let found = pass.run(&records, &self.known, (ys, flows), &xs);
        if self.is_persistent {
            self.records = records;
        } else {
            self.known.clear();
            self.is_used = true;
        }
        found
    }

    /// The gradient of an op, by what its node asks for.
    fn gradient_of(&mut self, op: &OpDef, attrs: &AttrMap) -> Option<&'static GradientDef> {
        if attrs.get(GRADIENT_OP_TYPE).is_some() {
            return find_gradient(&attrs.required::<String>(GRADIENT_OP_TYPE).ok()?);
        }
        let key = std::ptr::from_ref(op).addr() as u64;
        // An op that is no constant may be where another one was.
        let found = self.gradients.get(&key).filter(|gradient| gradient.name == op.name);
        found.copied().or_else(|| {
            let found = find_gradient(&op.name)?;
            self.gradients.insert(key, found);
            Some(found)
        })
    }
}

/// What can be [watched](GradientTape::watch).
pub trait IntoTraced {
    /// As a traced tensor.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    fn into_traced(self) -> Result<Traced>;
}

impl<T: IntoTensor> IntoTraced for T {
    fn into_traced(self) -> Result<Traced> {
        let tensor = self.into_tensor()?;
        let id = if tensor.dtype() == DataType::Resource { variable_id(&tensor) } else { UNTRACED };
        Ok(Traced { tensor, id })
    }
}

impl IntoTraced for &Traced {
    fn into_traced(self) -> Result<Traced> {
        Ok(self.clone())
    }
}

impl Runs<'_> {
    fn execute(&mut self, request: NodeRequest<'_, Traced>) -> Result<Executed> {
        match self {
            Runs::Context(context) => context.execute(request),
            Runs::Tape(tape) => tape.execute(request),
        }
    }

    fn registry(&self) -> Arc<Registry> {
        match self {
            Runs::Context(context) => context.registry().clone(),
            Runs::Tape(tape) => tape.registry(),
        }
    }
}

impl Execute for GradientTape<'_> {
    #[track_caller]
    fn execute(&mut self, request: NodeRequest<'_, Traced>) -> Result<Executed> {
        let mut inputs: SmallVec<[u64; 3]> = SmallVec::new();
        let mut is_known = false;
        for operand in request.inputs.iter().flat_map(NodeInput::operands) {
            let id = match operand {
                Operand::Value(traced) => traced.id,
                Operand::Constant(tensor) | Operand::Literal(tensor) if tensor.dtype() == DataType::Resource => {
                    variable_id(tensor)
                }
                _ => UNTRACED,
            };
            // Variables are watched as soon as something reads them.
            if id & VARIABLE != 0 && !self.is_stopped {
                self.known.entry(id).or_insert(WATCHED);
            }
            is_known |= id != UNTRACED && self.known.contains_key(&id);
            inputs.push(id);
        }
        if !is_known || self.is_stopped || self.is_used {
            return self.runs.execute(request);
        }
        let gradient = self.gradient_of(request.op, &request.attrs);
        let mut kept: SmallVec<[Kept; 4]> = SmallVec::new();
        for (argument, input) in request.inputs.iter().enumerate() {
            let (value, shape) = keeps(gradient, Side::Input, argument);
            for operand in input.operands() {
                let tensor = match operand {
                    Operand::Value(traced) => Some(&traced.tensor),
                    Operand::Constant(tensor) => Some(tensor),
                    // Which dtype it gets is found as the op runs.
                    Operand::Literal(tensor) => Some(tensor),
                };
                kept.push(Kept::of(tensor, value, shape));
            }
        }
        let executed = self.runs.execute(request)?;
        let signature = &executed.prepared.signature;
        let several = executed.outputs.len() > 1;
        for (argument, range) in signature.output_ranges.iter().enumerate() {
            let (value, shape) = keeps(gradient, Side::Output, argument);
            for index in range.clone() {
                kept.push(Kept::of(executed.outputs.get(index).map(|output| &output.tensor), value, shape || several));
            }
        }
        let outputs: SmallVec<[u64; 2]> = executed.outputs.iter().map(|output| output.id).collect();
        let record = self.records.len() as u32;
        outputs.iter().filter(|id| **id != UNTRACED).for_each(|&id| _ = self.known.insert(id, record));
        let (prepared, kept) = (executed.prepared.clone(), kept.into_vec().into_boxed_slice());
        self.records.push(Record { prepared, gradient, inputs, outputs, kept });
        Ok(executed)
    }

    fn registry(&self) -> Arc<Registry> {
        self.runs.registry()
    }
}

/// Whether a gradient needs the values of an argument, and its shapes.
fn keeps(gradient: Option<&GradientDef>, side: Side, argument: usize) -> (bool, bool) {
    gradient
        .map_or((false, false), |gradient| (gradient.uses_value(side, argument), gradient.uses_shape(side, argument)))
}

impl Kept {
    fn of(tensor: Option<&Tensor>, value: bool, shape: bool) -> Kept {
        match tensor {
            Some(tensor) if value => Kept::Tensor(tensor.clone()),
            Some(tensor) if shape => Kept::Shape(tensor.shape().clone()),
            _ => Kept::Nothing,
        }
    }

    fn shape(&self) -> Option<&Shape> {
        match self {
            Kept::Nothing => None,
            Kept::Shape(shape) => Some(shape),
            Kept::Tensor(tensor) => Some(tensor.shape()),
        }
    }
}

impl OpScope for GradientTape<'_> {
    type Output = Traced;
    type Node = ();

    /// Runs the op, and records it.
    #[track_caller]
    fn apply(&mut self, request: NodeRequest<'_, Traced>) -> Result<Applied<Self>> {
        let Executed { prepared, outputs } = self.execute(request)?;
        let outputs = outputs.into_iter().map(Some).collect();
        Ok(Applied { node: (), outputs: Outputs::new(outputs, prepared.signature.clone()) })
    }
}

impl fmt::Debug for GradientTape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GradientTape").field("records", &self.records.len()).finish()
    }
}

/// One way back over a tape.
struct Pass<'a, 'p> {
    runs: &'a mut Runs<'p>,
    registry: Arc<Registry>,
    /// What the values of the gradients' functions are.
    values: Vec<Traced>,
    flows: ById<Vec<Gradient>>,
}

impl Pass<'_, '_> {
    fn run(
        &mut self,
        records: &[Record],
        known: &ById<u32>,
        (ys, flows): (&[Traced], &[Traced]),
        xs: &[u64],
    ) -> Result<Vec<Option<TracedGradient>>> {
        for (index, y) in ys.iter().enumerate() {
            if known.contains_key(&y.id) {
                self.seed(y, flows.get(index))?;
            }
        }
        // What depends on one of `xs`: a tensor is given by a record that comes after those of what it was computed from.
        let mut depends: ById<()> = xs.iter().map(|&x| (x, ())).collect();
        let mut between = vec![false; records.len()];
        for (record, between) in records.iter().zip(&mut between) {
            *between = record.inputs.iter().any(|id| *id != UNTRACED && depends.contains_key(id));
            if *between {
                depends.extend(record.outputs.iter().filter(|id| **id != UNTRACED).map(|&id| (id, ())));
            }
        }
        for (record, _) in records.iter().zip(&between).rev().filter(|(_, between)| **between) {
            self.differentiate(record, &depends)?;
        }
        let mut found = Vec::with_capacity(xs.len());
        for x in xs {
            let sum = match self.flows.get(x).cloned() {
                Some(flows) if known.contains_key(x) => Some(self.with_nothing(|scope| scope.sum(&flows))?),
                _ => None,
            };
            found.push(sum.map(|gradient| self.traced_gradient(gradient)));
        }
        Ok(found)
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
            Some(given) => self.value_of(given.clone()),
            None => {
                let known = ShapeOf { known: PartialShape::from(shape), of: None };
                self.with_nothing(|scope| scope.ones(dtype, &known))?
            }
        };
        self.flows.entry(y.id).or_default().push(Gradient::Dense(flow));
        Ok(())
    }

    fn value_of(&mut self, traced: Traced) -> Value {
        self.values.push(traced);
        Value(self.values.len() as u32 - 1)
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

    fn differentiate(&mut self, record: &Record, depends: &ById<()>) -> Result<()> {
        let arrived: Vec<Option<Vec<Gradient>>> = record.outputs.iter().map(|id| self.flows.remove(id)).collect();
        if arrived.iter().all(Option::is_none) {
            return Ok(());
        }
        let Prepared { op, attrs, signature, .. } = &*record.prepared;
        let Some(gradient) = record.gradient else {
            let asked = attrs.required::<String>(GRADIENT_OP_TYPE).ok();
            return Err(no_gradient(op, "an op on the tape", asked.as_deref()));
        };
        let Some(differentiation) = &gradient.differentiation else { return Ok(()) };
        let mut flows = Vec::with_capacity(arrived.len());
        for arrived in &arrived {
            flows.push(match arrived {
                Some(flows) => Some(self.with_nothing(|scope| scope.sum(flows))?),
                None => None,
            });
        }
        // What was asked for stays, and is looked up at the end.
        for (id, flow) in record.outputs.iter().zip(&flows) {
            if let Some(flow) = flow.filter(|_| depends.contains_key(id)) {
                self.flows.insert(*id, vec![flow]);
            }
        }
        let mut node = TapeNode { pass: self, record: Some((record, depends)), flows };
        let found = (differentiation.call)(&mut GradientScope::new(&mut node));
        let found = found.and_then(|found| per_input(op, signature, found));
        let found = found.map_err(|error| error.at_node(&format!("gradient of {}", op.name), &op.name, ""))?;
        for (&id, flow) in record.inputs.iter().zip(found) {
            if let Some(flow) = flow.filter(|_| depends.contains_key(&id)) {
                self.flows.entry(id).or_default().push(flow);
            }
        }
        Ok(())
    }

    /// A scope for ops that belong to no op that was run.
    fn with_nothing<T>(&mut self, call: impl FnOnce(&mut GradientScope<'_>) -> Result<T>) -> Result<T> {
        let mut node = TapeNode { pass: self, record: None, flows: Vec::new() };
        call(&mut GradientScope::new(&mut node))
    }
}

/// An op that was run and is differentiated.
struct TapeNode<'a, 'b, 'p> {
    pass: &'a mut Pass<'b, 'p>,
    record: Option<(&'a Record, &'a ById<()>)>,
    flows: Vec<Option<Gradient>>,
}

impl TapeNode<'_, '_, '_> {
    /// What is kept of an input or output.
    fn kept(&self, side: Side, index: usize) -> Option<(&Kept, u64)> {
        let (record, _) = self.record?;
        Some(match side {
            Side::Input => (record.kept.get(index)?, *record.inputs.get(index)?),
            _ => (record.kept.get(record.inputs.len() + index)?, *record.outputs.get(index)?),
        })
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
        self.record.map_or(&OpDef::EMPTY, |(record, _)| record.prepared.op)
    }

    fn attrs(&self) -> &AttrMap {
        static NONE: AttrMap = AttrMap::new();
        self.record.map_or(&NONE, |(record, _)| &record.prepared.attrs)
    }

    fn signature(&self) -> &Signature {
        static NONE: Signature = Signature::EMPTY;
        self.record.map_or(&NONE, |(record, _)| &record.prepared.signature)
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
        let shape = self.kept(side, index).and_then(|(kept, _)| kept.shape()).ok_or_else(not_kept)?;
        Ok(ShapeOf { known: PartialShape::from(shape), of: None })
    }

    fn flow(&self, index: usize) -> Option<Gradient> {
        self.flows.get(index).copied().flatten()
    }

    fn is_wanted(&self, index: usize) -> bool {
        self.record.is_some_and(|(record, depends)| record.inputs.get(index).is_some_and(|id| depends.contains_key(id)))
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

    fn apply(&mut self, request: NodeRequest<'_, Value>) -> Result<Applied<GradientScope<'static>>> {
        let values = &self.pass.values;
        let request = request.with_operands(|value: Value| {
            let traced = values.get(value.0 as usize).cloned().map(Operand::Value);
            traced.ok_or_else(|| Error::internal("a value of another gradient"))
        })?;
        let Executed { prepared, outputs } = self.pass.runs.execute(request)?;
        let outputs = outputs.into_iter().map(|output| Some(self.pass.value_of(output))).collect();
        Ok(Applied { node: (), outputs: Outputs::new(outputs, prepared.signature.clone()) })
    }
}
