//! [`OpTest`], in which ops run, and [`Ran`], which says what came of it.

use std::sync::Arc;

use smallvec::SmallVec;

use super::compare::{Tolerance, compare, compare_bits};
use crate::collect::OpEntry;
use crate::device::Device;
use crate::dtype::DataType;
use crate::error::{Code, Error, Result, watch_panics};
use crate::graph::{
    Applied, Given, NodeInput, NodeRequest, OpScope, Operand, Outputs, complete_attrs, infer_attrs, settle,
};
use crate::op::{Op, OpDef, OutputArg, OutputListArg, Signature};
use crate::registry::Registry;
use crate::runtime::EagerContext;
use crate::shape::Shape;
use crate::shape_inference::{Said, check_outputs, infer_call};
use crate::tensor::{IntoTensor, Tensor};

/// Where ops are tested: a registry and a device. Kernels with state and resources keep it from run to run.
pub struct OpTest {
    eager: EagerContext,
    /// What ran in the current call of [`OpTest::run`].
    ran: Vec<OpRun>,
}

/// One op that ran, with its outputs.
struct OpRun {
    op: &'static OpDef,
    signature: Arc<Signature>,
    outputs: Vec<Tensor>,
}

impl OpTest {
    /// Tests on a CPU, with one thread per processor.
    ///
    /// # Panics
    /// If the threads cannot be started.
    pub fn new(registry: &Arc<Registry>) -> OpTest {
        OpTest::of(EagerContext::new(registry))
    }

    /// Tests on a device: an op without a kernel for it fails.
    ///
    /// # Panics
    /// If the threads of the device cannot be started.
    pub fn on(registry: &Arc<Registry>, device: Arc<dyn Device>) -> OpTest {
        OpTest::of(EagerContext::on(registry, [device]))
    }

    fn of(eager: Result<EagerContext>) -> OpTest {
        watch_panics();
        let eager = eager.unwrap_or_else(|error| panic!("no ops can be tested: {error}"));
        OpTest { eager, ran: Vec::new() }
    }

    /// Runs one op, or several one after the other: `call` gets what wrappers take in place of a graph.
    #[must_use = "say what is expected"]
    pub fn run<R>(&mut self, call: impl FnOnce(&mut OpTest) -> Result<R>) -> Ran<R> {
        self.ran.clear();
        let result = call(self);
        Ran { result, ops: std::mem::take(&mut self.ran) }
    }

    /// The context in which the ops run: its resources, its kernels.
    pub fn context(&self) -> &EagerContext {
        &self.eager
    }

    /// What the op's shape function says of the outputs: nothing if the node is at fault before.
    ///
    /// # Errors
    /// INTERNAL if it panics.
    fn inferred(&self, op: &OpEntry, request: &NodeRequest<'_, Tensor>) -> Result<Said> {
        let Some(shape_fn) = op.shape_fn else { return Ok(Ok(None)) };
        let (mut attrs, mut faults) = (request.attrs.clone(), request.faults.clone());
        let given: SmallVec<[Given; 2]> = request.inputs.iter().map(|input| Given::new(input, |_| None)).collect();
        let _ = infer_attrs(op.def, &given, &mut attrs, &mut faults);
        if !faults.is_empty() || complete_attrs(op.def, &mut attrs).is_err() {
            return Ok(Ok(None));
        }
        let Ok(signature) = Signature::new(op.def, &attrs) else { return Ok(Ok(None)) };
        let inputs = request.inputs.iter().flat_map(NodeInput::operands);
        let inputs: Vec<_> = inputs.map(|operand| Some(operand.as_tensor().clone())).collect();
        infer_call(shape_fn, (op.def, &signature, &attrs), &inputs, |tensor| Some(tensor.clone()))
    }

    /// Runs the op with inputs that others share. Afterwards nothing shares those of the request, as far as that is up to
    /// this.
    ///
    /// # Errors
    /// INTERNAL if the op changes them. The inner result is the op's own.
    fn apply_shared(&mut self, request: &NodeRequest<'_, Tensor>) -> Result<Result<Outputs<Tensor>>> {
        let (shared, inputs) = SharedInputs::of(request)?;
        let applied = self.eager.apply(shared);
        inputs.check(request.op)?;
        Ok(applied.map(|applied| applied.outputs))
    }

    /// Runs the op with inputs of its own.
    fn apply_own(&mut self, mut request: NodeRequest<'_, Tensor>) -> Result<Outputs<Tensor>> {
        for operand in request.inputs.iter_mut().flat_map(NodeInput::operands_mut) {
            let tensor = operand.as_tensor_mut();
            if is_on_host(tensor) {
                tensor.make_unique()?;
            }
        }
        self.eager.apply(request).map(|applied| applied.outputs)
    }

    /// Runs an op without a state both ways, which must come to the same.
    fn apply_both(&mut self, op: &OpDef, request: NodeRequest<'_, Tensor>) -> Result<Outputs<Tensor>> {
        let shared = match self.apply_shared(&request)? {
            Ok(outputs) => comparable(outputs.into_vec())?,
            // A second panic would print its message again.
            Err(error) if error.is_panic() => return Err(error),
            // What fails in both runs is told without words on inputs.
            Err(error) => {
                self.apply_own(request)?;
                return Err(error.context("with inputs that others share, as nodes of a graph do"));
            }
        };
        let own = self.apply_own(request)?;
        let (signature, own) = (own.signature().clone(), own.into_vec());
        for (index, (shared, own)) in shared.iter().zip(&own).enumerate() {
            if let Some(shared) = shared
                && let Err(difference) = compare_bits(shared, own)
            {
                return Err(Error::internal(format!(
                    "with inputs that others share, as nodes of a graph do, the kernel of {} gives something else for output \
                     {index} than with its own: {difference}",
                    op.name
                )));
            }
        }
        Ok(Outputs::new(own.into_iter().map(Some).collect(), signature))
    }
}

/// Whether it has elements of its own on the host, rather than in a device or a variable.
fn is_on_host(tensor: &Tensor) -> bool {
    tensor.reference().is_none() && tensor.device_memory().is_none()
}

/// What can be compared with what another run gives. They are copies: an output may be an input that was passed on, which
/// would remain shared.
fn comparable(outputs: Vec<Tensor>) -> Result<Vec<Option<Tensor>>> {
    let copy = |mut tensor: Tensor| {
        if !is_on_host(&tensor) || matches!(tensor.dtype(), DataType::Resource | DataType::Variant) {
            return Ok(None);
        }
        tensor.make_unique()?;
        Ok(Some(tensor))
    };
    outputs.into_iter().map(copy).collect()
}

impl OpScope for OpTest {
    type Output = Tensor;
    type Node = ();

    /// Runs the op, and holds its shape function against what it gives. Its inputs are shared with others in the first
    /// run, which an op without a state follows with one that owns them and must give the same.
    #[track_caller]
    fn apply(&mut self, mut request: NodeRequest<'_, Tensor>) -> Result<Applied<OpTest>> {
        let entry = self.eager.registry().op(&request.op.name)?;
        let op = entry.def;
        settle(op, &mut request.inputs, &request.attrs, |tensor| Some(tensor.dtype()), &mut request.faults);
        let said = self.inferred(entry, &request)?;
        let outputs = match op.is_stateful {
            true => self.apply_shared(&request)??,
            false => self.apply_both(op, request)?,
        };
        let signature = outputs.signature().clone();
        let outputs: SmallVec<[Option<Tensor>; 2]> = outputs.into_vec().into_iter().map(Some).collect();
        match said {
            Ok(shapes) => check_outputs(op, &shapes.unwrap_or_default(), &outputs, 0)?,
            Err(error) => {
                let message = format!("the shape function of {} refuses what the kernel computes: {error}", op.name);
                return Err(Error::internal(message));
            }
        }
        let tensors = outputs.iter().flatten().cloned().collect();
        self.ran.push(OpRun { op, signature: signature.clone(), outputs: tensors });
        Ok(Applied { node: (), outputs: Outputs::new(outputs, signature) })
    }
}

/// Inputs that the test shares with the kernel, and copies of what they were.
struct SharedInputs(Vec<(Tensor, Tensor)>);

impl SharedInputs {
    /// A request for the same with inputs that are shared, however small they are, but for those that only a device or a
    /// variable holds.
    fn of<'o>(request: &NodeRequest<'o, Tensor>) -> Result<(NodeRequest<'o, Tensor>, SharedInputs)> {
        let mut kept = Vec::new();
        let mut share = |operand: &Operand<Tensor>| -> Result<Operand<Tensor>> {
            let tensor = operand.as_tensor();
            if !is_on_host(tensor) {
                return Ok(operand.clone());
            }
            let shared = tensor.to_shareable()?;
            let mut copy = shared.clone();
            copy.make_unique()?;
            kept.push((shared.clone(), copy));
            Ok(Operand::Constant(shared))
        };
        let mut inputs = SmallVec::new();
        for input in &request.inputs {
            inputs.push(match input {
                NodeInput::Single(operand) => NodeInput::Single(share(operand)?),
                NodeInput::List(operands) => NodeInput::List(operands.iter().map(&mut share).collect::<Result<_>>()?),
            });
        }
        let (op, attrs, name) = (request.op, request.attrs.clone(), request.name.clone());
        let (device, control_inputs, faults) =
            (request.device.clone(), request.control_inputs.clone(), request.faults.clone());
        let shared = NodeRequest { op, inputs, attrs, name, device, control_inputs, faults };
        Ok((shared, SharedInputs(kept)))
    }

    /// Refuses inputs that are not what they were.
    fn check(&self, op: &OpDef) -> Result<()> {
        for (index, (shared, copy)) in self.0.iter().enumerate() {
            let is_same = match (shared.bytes(), copy.bytes()) {
                (Ok(shared), Ok(copy)) => shared == copy,
                _ => shared.dtype() != DataType::String || compare(shared, copy, Tolerance::EXACT).is_ok(),
            };
            if !is_same {
                return Err(Error::internal(format!(
                    "the kernel of {} changes its input {index}, which is not its own: others read it, too. It takes the \
                     input's place by `forward_input_or_allocate_output`, or takes the input and calls `make_unique`",
                    op.name
                )));
            }
        }
        Ok(())
    }
}

/// What came of a run. Its methods panic if it is not what they expect.
pub struct Ran<R> {
    result: Result<R>,
    ops: Vec<OpRun>,
}

impl<R> Ran<R> {
    /// What the run returned.
    ///
    /// # Panics
    /// If it failed.
    #[track_caller]
    pub fn unwrap(self) -> R {
        match self.result {
            Ok(value) => value,
            Err(error) => panic!("the op should run, but it failed: {error:?}"),
        }
    }

    /// An output of the last run of op `O`.
    ///
    /// # Panics
    /// If the run failed, or had no such op.
    #[track_caller]
    pub fn output<O: Op>(&self, output: OutputArg<O>) -> &Tensor {
        &self.of_argument::<O>(output.index())[0]
    }

    /// An output of the last run of op `O` that is a list.
    ///
    /// # Panics
    /// If the run failed, or had no such op.
    #[track_caller]
    pub fn outputs<O: Op>(&self, output: OutputListArg<O>) -> &[Tensor] {
        self.of_argument::<O>(output.index())
    }

    #[track_caller]
    fn of_argument<O: Op>(&self, argument: usize) -> &[Tensor] {
        let name = &O::DEF.outputs[argument].name;
        if let Err(error) = &self.result {
            panic!("{} should give `{name}`, but the run failed: {error:?}", O::DEF.name);
        }
        match self.ops.iter().rfind(|ran| ran.op.name == O::DEF.name) {
            Some(ran) => &ran.outputs[ran.signature.output_ranges[argument].clone()],
            None => panic!("no {} ran, but {}", O::DEF.name, self.names()),
        }
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.ops.iter().map(|ran| &*ran.op.name).collect();
        if names.is_empty() { "no op at all".to_owned() } else { names.join(", ") }
    }

    /// Expects these elements, exactly; NaN equals NaN.
    ///
    /// Numbers that may stand there without a suffix, which are `i32` and `f64` and arrays of them by value, take the dtype of
    /// the output: a value does not tell how it was written. All else must have the output's dtype: `[0.5f32]`, a slice or
    /// reference such as `&[0.5]`, a `Vec`, a [`Tensor`]. [`Ran::expect_dtype`] says which dtype it is.
    ///
    /// # Panics
    /// If the run failed, or the output has another dtype or shape, or other elements.
    #[track_caller]
    pub fn expect<O: Op>(self, output: OutputArg<O>, expected: impl IntoTensor) -> Self {
        self.expect_close(output, expected, Tolerance::EXACT)
    }

    /// Expects these elements, floats and complex numbers within a tolerance: a number that is both the relative and the
    /// absolute one, or a [`Tolerance`].
    ///
    /// # Panics
    /// As [`Ran::expect`].
    #[track_caller]
    pub fn expect_close<O: Op>(
        self,
        output: OutputArg<O>,
        expected: impl IntoTensor,
        tolerance: impl Into<Tolerance>,
    ) -> Self {
        let name = &O::DEF.outputs[output.index()].name;
        check::<O, _>(name, self.output(output), expected, tolerance.into());
        self
    }

    /// As [`Ran::expect`], for an output that is a list.
    ///
    /// # Panics
    /// As [`Ran::expect`], and if the list is shorter or longer.
    #[track_caller]
    pub fn expect_list<O: Op>(
        self,
        output: OutputListArg<O>,
        expected: impl IntoIterator<Item = impl IntoTensor>,
    ) -> Self {
        let name = &O::DEF.outputs[output.index()].name;
        let actual = self.outputs(output);
        let expected: Vec<_> = expected.into_iter().collect();
        if actual.len() != expected.len() {
            panic!("{}: `{name}` has {} tensors and not {}", O::DEF.name, actual.len(), expected.len());
        }
        for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
            check::<O, _>(&format!("{name}:{index}"), actual, expected, Tolerance::EXACT);
        }
        self
    }

    /// Expects a dtype, whatever the elements.
    ///
    /// # Panics
    /// If the run failed, or the output has another dtype.
    #[track_caller]
    pub fn expect_dtype<O: Op>(self, output: OutputArg<O>, expected: DataType) -> Self {
        let (name, actual) = (&O::DEF.outputs[output.index()].name, self.output(output));
        if actual.dtype() != expected {
            panic!("{}: `{name}` is {} instead of {expected}: {actual}", O::DEF.name, actual.dtype());
        }
        self
    }

    /// Expects a shape, whatever the elements.
    ///
    /// # Panics
    /// If the run failed, or the output has another shape.
    #[track_caller]
    pub fn expect_shape<O: Op>(self, output: OutputArg<O>, expected: impl Into<Shape>) -> Self {
        let (name, actual, expected) = (&O::DEF.outputs[output.index()].name, self.output(output), expected.into());
        if *actual.shape() != expected {
            panic!("{}: `{name}` has shape {} instead of {expected}: {actual}", O::DEF.name, actual.shape());
        }
        self
    }

    /// Expects that the run fails, with a code and words of the message.
    ///
    /// # Panics
    /// If it does not.
    #[track_caller]
    pub fn expect_error(self, code: Code, words: &str) {
        match self.result {
            Err(error) if error.code() == code && error.message().contains(words) => {}
            Err(error) => panic!("the run should fail with {code} and `{words}`, not with {error:?}"),
            Ok(_) => {
                let outputs = self.ops.iter().flat_map(|ran| ran.outputs.iter().map(move |output| (ran.op, output)));
                let given: Vec<String> = outputs.map(|(op, output)| format!("\n  {}: {output}", op.name)).collect();
                panic!("the run should fail with {code} and `{words}`, but it gave{}", given.concat());
            }
        }
    }
}

/// Compares an output with what is expected.
#[track_caller]
fn check<O: Op, T: IntoTensor>(name: &str, actual: &Tensor, expected: T, tolerance: Tolerance) {
    let expected = expected.into_tensor().unwrap_or_else(|error| panic!("what is expected is no tensor: {error}"));
    let expected = match T::IS_LITERAL {
        true => Operand::<Tensor>::Literal(expected).with_dtype(actual.dtype()).into_tensor(),
        false => expected,
    };
    if let Err(difference) = compare(actual, &expected, tolerance) {
        panic!("{}: `{name}`: {difference}\n  expected: {expected}\n  computed: {actual}", O::DEF.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_are_changed_are_told() {
        let [ones, other] = [[1.0f32, 1.0], [1.0, 2.0]].map(|values| Tensor::new(values).unwrap());
        let [a, b] = ["a", "b"].map(|text| Tensor::new(text).unwrap());
        let check = |pairs: &[(&Tensor, &Tensor)]| {
            let pairs = pairs.iter().map(|&(shared, copy)| (shared.clone(), copy.clone())).collect();
            SharedInputs(pairs).check(&OpDef::EMPTY)
        };
        check(&[(&ones, &ones), (&a, &a)]).unwrap();
        for pairs in [[(&a, &a), (&ones, &other)], [(&ones, &ones), (&a, &b)]] {
            let error = check(&pairs).unwrap_err();
            assert!(error.message().contains("changes its input 1, which is not its own"), "{error}");
        }
    }

    #[test]
    fn few_elements_can_be_shared_too() {
        let tensor = Tensor::new([1u8, 2, 3]).unwrap();
        let mut own = tensor.clone();
        own.as_mut_slice::<u8>().unwrap()[0] = 9;
        let shared = tensor.to_shareable().unwrap();
        let mut other = shared.clone();
        assert!(other.as_mut_slice::<u8>().is_err());
        other.make_unique().unwrap();
        other.as_mut_slice::<u8>().unwrap()[0] = 9;
        assert_eq!(
            (shared.as_slice::<u8>().unwrap(), tensor.as_slice::<u8>().unwrap()),
            (&[1, 2, 3][..], &[1, 2, 3][..])
        );
    }
}
