//! Gradients of what was run: a tape keeps what the gradients of ops need, as the ops run, and goes back over it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::backward::Pass;
use super::control;
use super::def::{GradientDef, find_gradient};
use super::differentiable::{GRADIENT_OP_TYPE, is_trainable};
use super::place::Side;
use super::record::{Execute, Executed, Kept, Records, Runs, keeps};
use super::taped_call::{self, TapedCall};
use super::traced::{ById, IdSet, IntoTraced, Traced, TracedGradient, UNTRACED, VARIABLE, traced, variable_id};
use crate::attr::AttrMap;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::graph::{
    Applied, Function, IntoOperand, NodeBuilder, NodeClass, NodeInput, NodeRequest, OpScope, Operand, Outputs,
};
use crate::op::OpDef;
use crate::registry::Registry;
use crate::runtime::{Computed, EagerContext};
use crate::step::FunctionLibrary;

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
    records: Records,
    /// The tensors that are watched, and those that were computed from them.
    known: IdSet,
    /// The gradients of the ops that were met.
    gradients: ById<&'static GradientDef>,
    is_persistent: bool,
    is_used: bool,
    is_stopped: bool,
    /// Whether variables are watched as soon as something reads them.
    watches_variables: bool,
}

impl GradientTape<'static> {
    /// A tape whose ops run in a context.
    pub fn new(context: &EagerContext) -> GradientTape<'static> {
        GradientTape::on(Runs::Context(context.clone()))
    }

    /// Does `work` with this tape [nested](GradientTape::nested) in another: for programs that hold tapes side by side, as bindings of
    /// other languages do. The tape keeps what it records.
    pub fn within<R>(&mut self, outer: &mut GradientTape<'_>, work: impl FnOnce(&mut GradientTape<'_>) -> R) -> R {
        let mut nested = outer.nested();
        nested.swap(self);
        let done = work(&mut nested);
        nested.swap(self);
        done
    }
}

impl<'p> GradientTape<'p> {
    fn on(runs: Runs<'p>) -> GradientTape<'p> {
        GradientTape {
            runs,
            records: Records::new(),
            known: IdSet::default(),
            gradients: ById::default(),
            is_persistent: false,
            is_used: false,
            is_stopped: false,
            watches_variables: true,
        }
    }

    /// Has ops run in another context from now on, also those of the tapes that this one is nested in: in one that can be
    /// [cancelled](EagerContext::cancelled_by), say.
    pub fn run_in(&mut self, context: &EagerContext) {
        self.runs.run_in(context);
    }

    /// A tape within this one, which records what that runs and computes: for gradients of gradients.
    pub fn nested(&mut self) -> GradientTape<'_> {
        GradientTape::on(Runs::Tape(self))
    }

    /// Swaps what was recorded, and how, with another tape, which goes on to run where it does.
    fn swap(&mut self, other: &mut GradientTape<'_>) {
        std::mem::swap(&mut self.records, &mut other.records);
        std::mem::swap(&mut self.known, &mut other.known);
        std::mem::swap(&mut self.gradients, &mut other.gradients);
        std::mem::swap(&mut self.is_persistent, &mut other.is_persistent);
        std::mem::swap(&mut self.is_used, &mut other.is_used);
        std::mem::swap(&mut self.is_stopped, &mut other.is_stopped);
        std::mem::swap(&mut self.watches_variables, &mut other.watches_variables);
    }

    /// Keeps what is recorded after a gradient was computed, for others.
    #[must_use]
    pub fn persistent(mut self) -> Self {
        self.is_persistent = true;
        self
    }

    /// Records what is computed from a variable only if the variable is [watched](GradientTape::watch), as tensors are.
    #[must_use]
    pub fn without_variables(mut self) -> Self {
        self.watches_variables = false;
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
        if traced.id == UNTRACED && dtype != DataType::Resource {
            let computed: Computed = [Some(traced.tensor)].into_iter().collect();
            traced = self::traced(computed).pop().flatten().ok_or_else(|| Error::internal("a tensor that is none"))?;
        }
        if traced.id == UNTRACED {
            let count = traced.tensor.shape().num_elements();
            let message = format!("a tensor of {count} handles cannot be watched: watch one variable at a time");
            return Err(Error::invalid_argument(message));
        }
        self.known.insert(traced.id);
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
        self.records = Records::new();
        self.known = IdSet::default();
        self.is_used = false;
    }

    /// How many ops are recorded.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.records.len() == 0
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
        self.check_gradients(ys, flows)?;
        let records = std::mem::take(&mut self.records);
        let xs: Vec<u64> = xs.into_iter().map(|x| x.id).collect();
        let found = Pass::new(&mut self.runs, source()).run(&records, &self.known, (ys, flows), &xs);
        if self.is_persistent {
            self.records = records;
        } else {
            self.known = IdSet::default();
            self.is_used = true;
        }
        found
    }

    /// As [`GradientTape::gradients`], but what computes them is recorded, too: for gradients of these by the same tape, which goes
    /// on whether or not it is persistent.
    ///
    /// # Errors
    /// As [`GradientTape::gradients`].
    pub fn recorded_gradients<'x>(
        &mut self,
        ys: &[Traced],
        xs: impl IntoIterator<Item = &'x Traced>,
        flows: &[Traced],
    ) -> Result<Vec<Option<TracedGradient>>> {
        self.check_gradients(ys, flows)?;
        let mut records = std::mem::take(&mut self.records);
        let known = self.known.clone();
        let xs: Vec<u64> = xs.into_iter().map(|x| x.id).collect();
        let found = Pass::new(&mut Runs::Tape(self), source()).run(&records, &known, (ys, flows), &xs);
        records.append(std::mem::take(&mut self.records));
        self.records = records;
        found
    }

    fn check_gradients(&self, ys: &[Traced], flows: &[Traced]) -> Result<()> {
        if self.is_used {
            let message = "this tape has computed a gradient, and what it had recorded is dropped: a tape that is to compute \
                           several is made `persistent()`";
            return Err(Error::failed_precondition(message));
        }
        if !flows.is_empty() && flows.len() != ys.len() {
            let message = format!("{} tensors flow back to {} ys: give one for each, or none", flows.len(), ys.len());
            return Err(Error::invalid_argument(message));
        }
        Ok(())
    }

    /// Calls a function of the library that the tape's context [was given](EagerContext::with_functions), as
    /// [`EagerContext::call`] does, and records that. Gradients flow on to the arguments, and to the variables whose handles are
    /// among them.
    ///
    /// # Errors
    /// As [`EagerContext::call`].
    #[track_caller]
    pub fn call(
        &mut self,
        function: &Function,
        arguments: impl IntoIterator<Item = impl IntoOperand<Traced>>,
    ) -> Result<Vec<Traced>> {
        let op = self.runs.registry().op(control::emit::call_of(function))?.def;
        let mut call = NodeBuilder::new(self, op);
        call.input_list(arguments).attr("f", function.reference()).attr("Tout", function.result_dtypes().to_vec());
        Ok(call.build_outputs()?.into_vec())
    }

    /// Runs an op that calls functions and takes what is known, and records it.
    #[track_caller]
    fn execute_call(&mut self, request: &mut NodeRequest<'_, Traced>) -> Result<Executed> {
        let Some(completed) = taped_call::completed(request) else { return self.runs.execute(request) };
        let known = |operand: &Operand<Traced>| self.known.contains(id_of(operand));
        let operands: Vec<&Operand<Traced>> = request.inputs.iter().flat_map(NodeInput::operands).collect();
        let wanted = operands.iter().map(|operand| known(operand)).collect();
        let library = self.runs.functions();
        let call = taped_call::find(&*library, request.op, &completed, wanted);
        let call = call.unwrap_or_else(|error| Arc::new(TapedCall::Failed(error)));
        let parts = match &*call {
            TapedCall::Nothing => return self.runs.execute(request),
            TapedCall::Failed(_) => None,
            TapedCall::Pair(parts) => Some(parts),
        };
        let kept = |index: usize, operand: &Operand<Traced>| {
            Kept::of(operand.as_tensor(), parts.is_some_and(|parts| parts.takes_input(index)), false)
        };
        self.records.drop_inputs();
        for (index, operand) in operands.iter().enumerate() {
            self.records.add_input(id_of(operand), kept(index, operand));
        }
        let registry = self.runs.registry();
        let instead = parts.map_or(Ok(None), |parts| parts.instead(request, &registry));
        let executed = instead.and_then(|instead| match instead {
            Some(mut other) => self.runs.execute(&mut other),
            None => self.runs.execute(request),
        });
        let executed = executed.inspect_err(|_| self.records.drop_inputs())?;
        let outputs = executed.outputs.iter().flatten().enumerate().map(|(index, output)| {
            let value = parts.is_some_and(|parts| parts.takes_output(index));
            let shape = parts.is_some_and(|parts| parts.takes_flow(index));
            (output.id, Kept::of(&output.tensor, value, shape))
        });
        self.records.push(executed.prepared.clone(), None, outputs);
        self.records.called(call.clone());
        let Executed { prepared, mut outputs, .. } = executed;
        outputs.truncate(completed.0.outputs.len());
        self.know(&outputs);
        Ok(Executed { prepared, signature: Arc::new(completed.0), outputs })
    }

    /// What was computed from what is known is known.
    fn know(&mut self, outputs: &[Option<Traced>]) {
        outputs.iter().flatten().for_each(|output| self.known.insert(output.id));
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

/// What tells a way back from others.
fn source() -> String {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    format!("gradients_{}", CALLS.fetch_add(1, Ordering::Relaxed))
}

/// By which id a tape knows what an op is given.
fn id_of(operand: &Operand<Traced>) -> u64 {
    match operand {
        Operand::Value(traced) => traced.id,
        Operand::Constant(tensor) | Operand::Literal(tensor) if tensor.dtype() == DataType::Resource => {
            variable_id(tensor)
        }
        _ => UNTRACED,
    }
}

impl Execute for GradientTape<'_> {
    #[track_caller]
    fn execute(&mut self, request: &mut NodeRequest<'_, Traced>) -> Result<Executed> {
        let mut is_known = false;
        for operand in request.inputs.iter().flat_map(NodeInput::operands) {
            let id = id_of(operand);
            if id & VARIABLE != 0 && self.watches_variables && !self.is_stopped {
                self.known.insert(id);
            }
            is_known |= self.known.contains(id);
        }
        if !is_known || self.is_stopped || self.is_used {
            return self.runs.execute(request);
        }
        let gradient = self.gradient_of(request.op, &request.attrs);
        if gradient.is_none() && control::is_for(NodeClass::of(&request.op.name)) {
            return self.execute_call(request);
        }
        // A kernel that panicked has left its own.
        self.records.drop_inputs();
        for (argument, input) in request.inputs.iter().enumerate() {
            let (value, shape) = keeps(gradient, Side::Input, argument);
            for operand in input.operands() {
                self.records.add_input(id_of(operand), Kept::of(operand.as_tensor(), value, shape));
            }
        }
        let executed = self.runs.execute(request).and_then(|executed| {
            self.records.settle_inputs(&executed.prepared.signature)?;
            Ok(executed)
        });
        let executed = executed.inspect_err(|_| self.records.drop_inputs())?;
        let signature = &*executed.prepared.signature;
        let several = executed.outputs.len() > 1;
        let mut argument = 0;
        let outputs = executed.outputs.iter().flatten().enumerate().map(|(index, output)| {
            argument += signature.output_ranges[argument..].iter().take_while(|range| range.end <= index).count();
            let (value, shape) = keeps(gradient, Side::Output, argument);
            (output.id, Kept::of(&output.tensor, value, shape || several))
        });
        self.records.push(executed.prepared.clone(), gradient, outputs);
        self.know(&executed.outputs);
        Ok(executed)
    }

    fn registry(&self) -> Arc<Registry> {
        self.runs.registry()
    }

    fn functions(&self) -> Arc<dyn FunctionLibrary> {
        self.runs.functions()
    }

    fn run_in(&mut self, context: &EagerContext) {
        self.runs.run_in(context);
    }
}

impl OpScope for GradientTape<'_> {
    type Output = Traced;
    type Node = ();

    /// Runs the op, and records it.
    #[track_caller]
    fn apply(&mut self, mut request: NodeRequest<'_, Traced>) -> Result<Applied<Self>> {
        let Executed { signature, outputs, .. } = self.execute(&mut request)?;
        Ok(Applied { node: (), outputs: Outputs::new(outputs, signature) })
    }
}

impl fmt::Debug for GradientTape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GradientTape").field("records", &self.records.len()).finish()
    }
}
