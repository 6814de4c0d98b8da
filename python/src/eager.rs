//! Ops that run at once.

use kernlink::Code;
use kernlink::attr::{AttrBase, AttrMap, AttrValue};
use kernlink::dtype::DataType;
use kernlink::gradient::{IntoTraced, Traced};
use kernlink::graph::{NodeInput, NodeRequest, Operand};
use kernlink::op::OpDef;
use kernlink::runtime::EagerContext;
use kernlink::tensor::Tensor as CoreTensor;
use pyo3::PyClass;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pyclass_init::PyClassInitializer;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyString, PyTuple};
use smallvec::SmallVec;

use crate::convert::{Converted, Given, operand};
use crate::error::Raise;
use crate::foreign::is_shared;
use crate::graph;
use crate::keep::{can_keep, holds};
use crate::matching::{self, Places};
use crate::tensor::Tensor;
use crate::values::attr_value;

/// The context in which all ops of the process run, on as many threads as the machine has.
///
/// # Errors
/// RuntimeError in a child of the process in which it was made.
pub(crate) fn context(py: Python<'_>) -> PyResult<&'static EagerContext> {
    own_context(py)?.ok_or_else(forked)
}

/// [`context`]; `None` in a child of the process in which it was made.
fn own_context(py: Python<'_>) -> PyResult<Option<&'static EagerContext>> {
    static CONTEXT: PyOnceLock<(EagerContext, u32)> = PyOnceLock::new();
    let (context, process) = CONTEXT.get_or_try_init(py, || -> PyResult<_> {
        let registry = kernlink::registry().or_raise()?;
        Ok((EagerContext::on(&registry, crate::device::all()?).or_raise()?, std::process::id()))
    })?;
    Ok((*process == std::process::id()).then_some(context))
}

fn forked() -> PyErr {
    PyRuntimeError::new_err(
        "this process was forked after Kernlink had run in its parent, whose threads it does not have: start processes by \
         `multiprocessing.get_context(\"spawn\")`, or fork before the first op",
    )
}

/// Refuses what runs in a child of the process in which it was made.
pub(crate) fn not_forked(process: u32) -> PyResult<()> {
    if process == std::process::id() { Ok(()) } else { Err(forked()) }
}

/// The device that ops of this thread ask for, as graphs write it; empty for any.
#[pyfunction]
pub(crate) fn requested_device() -> String {
    crate::device::requested()
}

/// Casts a tensor, as the op `Cast` does.
pub(crate) fn cast(tensor: CoreTensor, dtype: DataType) -> PyResult<CoreTensor> {
    Python::attach(|py| {
        let context = context(py)?;
        let mut request = NodeRequest::new(context.registry().op("Cast").or_raise()?.def);
        request.inputs.push(NodeInput::Single(Operand::Value(tensor)));
        request.attrs.insert("DstT", dtype);
        let mut results = py.detach(|| context.execute(&mut request, |_| Ok(()))).or_raise()?;
        results.pop().ok_or_else(|| PyRuntimeError::new_err("Cast gives one tensor"))
    })
}

/// The declaration of an op.
fn declaration(context: &EagerContext, op: &Bound<'_, PyString>) -> PyResult<&'static OpDef> {
    Ok(context.registry().op(op.extract::<&str>()?).or_raise()?.def)
}

/// Runs an op on the inputs, in the order of its declaration, and the attrs that do not follow from them, in order too; `None` for
/// those that keep their defaults. `lent` tells which of the first tensors have the memory of arrays that a caller gave. Returns a
/// tensor, a list of tensors, a tuple of these if there are several outputs, or `None`.
#[pyfunction]
#[pyo3(signature = (op, inputs, attrs, name=None, lent=None))]
pub(crate) fn execute<'py>(
    py: Python<'py>,
    op: &Bound<'py, PyString>,
    inputs: &Bound<'py, PyTuple>,
    attrs: &Bound<'py, PyTuple>,
    name: Option<&Bound<'py, PyAny>>,
    lent: Option<Vec<bool>>,
) -> PyResult<Bound<'py, PyAny>> {
    let given = lent.unwrap_or_default();
    let context = context(py)?;
    let def = declaration(context, op)?;
    let name = name.map(|name| crate::values::name(name, &def.name)).transpose()?;
    let mut lengths: SmallVec<[Option<usize>; 4]> = SmallVec::new();
    if let Some(target) = graph::target(inputs) {
        let request = || {
            let mut request = NodeRequest::new(def);
            request.name = name;
            request.device = crate::device::requested();
            take_inputs(def, inputs, &mut request)?;
            request.attrs = take_attrs(def, inputs, attrs)?;
            // What Python may change is no constant.
            for operand in operands(&mut request) {
                if let Operand::Constant(tensor) = operand {
                    tensor.make_unique().or_raise()?;
                }
            }
            Ok(request)
        };
        let (outputs, operation) = graph::execute(py, &target, def, request, &mut lengths)?;
        return match lengths.is_empty() {
            true => Ok(operation.into_any()),
            false => give(py, outputs.into_iter(), &lengths),
        };
    }
    if crate::tape::is_recording() {
        let (mut request, lent) = request(def, inputs, attrs, name, (&given, Traced::tensor))?;
        let keeps = keeps(&mut request);
        for operand in operands(&mut request) {
            // A copy is the same to the tapes.
            if let Operand::Value(traced) = operand
                && keeps
                && is_shared(traced.tensor())
            {
                traced.make_unique().or_raise()?;
            }
        }
        let mut results = crate::tape::execute(py, def, request, &mut lengths)?;
        if !lent.is_none() {
            // A copy is another tensor to the tapes: what lent memory came to be as it was is a constant to them.
            for result in &mut results {
                let mut copy = [result.tensor().clone()];
                if lent.keep_out_of(&mut copy)? {
                    let [copy] = copy;
                    *result = copy.into_traced().or_raise()?;
                }
            }
        }
        return give(py, results.into_iter().map(Tensor::of_traced), &lengths);
    }
    let (mut request, lent) = request::<CoreTensor>(def, inputs, attrs, name, (&given, |tensor| tensor))?;
    let mut results = {
        let (request, lengths) = (&mut request, &mut lengths);
        let compute = move |context: &EagerContext| {
            context.execute(request, |signature| {
                let ranges = signature.output_ranges.iter().zip(&*def.outputs);
                lengths.extend(ranges.map(|(range, arg)| arg.is_list().then_some(range.len())));
                Ok(())
            })
        };
        run_in_context(py, context, def, compute)?
    };
    lent.keep_out_of(&mut results)?;
    give(py, results.into_iter().map(Tensor::new), &lengths)
}

/// What is asked of an op, and the memory that it is lent.
fn request<V: Given>(
    def: &'static OpDef,
    inputs: &Bound<'_, PyTuple>,
    attrs: &Bound<'_, PyTuple>,
    name: Option<String>,
    (lent, tensor): (&[bool], fn(&V) -> &CoreTensor),
) -> PyResult<(NodeRequest<'static, V>, Lent)> {
    let mut request: NodeRequest<'_, V> = NodeRequest::new(def);
    request.name = name;
    request.device = crate::device::requested();
    take_inputs(def, inputs, &mut request)?;
    for (operand, _) in operands(&mut request).zip(lent).filter(|(_, lent)| **lent) {
        if let Operand::Value(value) = operand {
            *operand = Operand::Constant(tensor(value).clone());
        }
    }
    request.attrs = take_attrs(def, inputs, attrs)?;
    let lent = Lent::of(&mut request)?;
    Ok((request, lent))
}

fn take_inputs<V: Given>(def: &OpDef, inputs: &Bound<'_, PyTuple>, request: &mut NodeRequest<'_, V>) -> PyResult<()> {
    if inputs.len() != def.inputs.len() {
        let (given, expected) = (inputs.len(), def.inputs.len());
        return Err(PyTypeError::new_err(format!("{} takes {expected} inputs, not {given}", def.name)));
    }
    let mut flexible = Places::new();
    for (index, (arg, value)) in def.inputs.iter().zip(inputs.iter_borrowed()).enumerate() {
        let named = |error: PyErr| {
            Python::attach(|py| crate::values::about(py, &format!("{} of {}", arg.name, def.name), error))
        };
        request.inputs.push(match arg.is_list() {
            false => NodeInput::Single(taken(operand(&value).map_err(named)?, (index, 0), &mut flexible)),
            true => {
                let values = value.try_iter().map_err(|_| named(crate::values::wrong(&value, "a list of tensors")))?;
                let operands = values.enumerate().map(|(place, value)| {
                    operand(&value?).map(|converted| taken(converted, (index, place), &mut flexible))
                });
                NodeInput::List(operands.collect::<PyResult<_>>().map_err(named)?)
            }
        });
    }
    if !flexible.is_empty() {
        matching::settle(def, &mut request.inputs, &flexible)?;
    }
    matching::check(def, &request.inputs, &flexible)
}

/// The operand, whose place is noted if its dtype follows from others.
fn taken<V>(converted: Converted<V>, (input, place): (usize, usize), flexible: &mut Places) -> Operand<V> {
    match converted {
        Converted::Operand(operand) => operand,
        Converted::Flexible(constant) => {
            flexible.push((input, place, constant.is_array));
            Operand::Constant(constant.tensor)
        }
    }
}

fn take_attrs(def: &OpDef, inputs: &Bound<'_, PyTuple>, values: &Bound<'_, PyTuple>) -> PyResult<AttrMap> {
    let mut attrs = AttrMap::new();
    let asked = def.attrs.iter().filter(|attr| !def.is_inferred(&attr.name));
    let mut count = 0;
    for (attr, value) in asked.zip(values.iter_borrowed()) {
        count += 1;
        if value.is_none() && (attr.default.is_some() || attr.ty.base != AttrBase::Shape) {
            continue;
        }
        if attr.ty.base == AttrBase::Func {
            check_captures(def, &attr.name, inputs, &value)?;
        }
        let value = attr_value(&value, attr.ty).map_err(|error| {
            Python::attach(|py| PyTypeError::new_err(format!("{} of {}: {}", attr.name, def.name, error.value(py))))
        })?;
        attrs.insert(&*attr.name, value);
    }
    match count == values.len() {
        true => Ok(attrs),
        false => Err(PyTypeError::new_err(format!("{} takes {count} attrs, not {}", def.name, values.len()))),
    }
}

/// The ops that hand their lists of inputs to functions as they are.
pub(crate) const CALLS: [&str; 8] = [
    "Case",
    "If",
    "PartitionedCall",
    "StatefulPartitionedCall",
    "StatelessCase",
    "StatelessIf",
    "StatelessWhile",
    "While",
];

/// Refuses a function that takes more than it is given, as it captured tensors.
///
/// # Errors
/// TypeError, which says what must be passed.
fn check_captures(def: &OpDef, attr: &str, inputs: &Bound<'_, PyTuple>, function: &Bound<'_, PyAny>) -> PyResult<()> {
    if !CALLS.contains(&&*def.name) {
        return Ok(());
    }
    if let Ok(functions) = function.cast::<PyList>() {
        return functions.iter().try_for_each(|function| check_captures(def, attr, inputs, &function));
    }
    let Ok(captured) = function.getattr("captured_inputs") else { return Ok(()) };
    let (captured, own) = (captured.len()?, function.getattr("inputs")?.len()?);
    let lists = def.inputs.iter().zip(inputs.iter_borrowed()).filter(|(arg, _)| arg.is_list());
    for (arg, list) in lists {
        let given = list.len()?;
        if captured > 0 && given != captured + own {
            return Err(PyTypeError::new_err(format!(
                "{attr} of {}: the function takes {own} of its own arguments and {captured} that it captured, and is given \
                 {given}: pass the function's `captured_inputs`, in order, at the end of `{}`; all functions of the op take \
                 the same",
                def.name, arg.name
            )));
        }
    }
    Ok(())
}

/// All that an op is given.
fn operands<'r, V>(request: &'r mut NodeRequest<'_, V>) -> impl Iterator<Item = &'r mut Operand<V>> {
    request.inputs.iter_mut().flat_map(|input| match input {
        NodeInput::Single(operand) => std::slice::from_mut(operand),
        NodeInput::List(operands) => &mut operands[..],
    })
}

/// Whether an op could keep what it is given beyond the call: one that has state, or reaches it by a resource, or that takes or gives a
/// variant, in which there may be tensors.
fn keeps<V: Given>(request: &mut NodeRequest<'_, V>) -> bool {
    can_keep(request.op)
        || request.attrs.iter().any(|(_, value)| match value {
            AttrValue::Type(dtype) => holds(*dtype),
            AttrValue::ListType(dtypes) => dtypes.iter().any(|dtype| holds(*dtype)),
            _ => false,
        })
        || operands(request).any(|operand| match operand {
            Operand::Value(value) => value.dtype().is_some_and(holds),
            Operand::Constant(tensor) | Operand::Literal(tensor) => holds(tensor.dtype()),
        })
}

/// The inputs whose memory is not Kernlink's: Python may change it after the call, so that no result may have it.
pub(crate) struct Lent(SmallVec<[(usize, usize); 2]>);

impl Lent {
    /// Those of a call. An op that could keep them beyond it gets copies.
    fn of<V: Given>(request: &mut NodeRequest<'_, V>) -> PyResult<Lent> {
        let mut lent = Lent(SmallVec::new());
        let keeps = keeps(request);
        for operand in operands(request) {
            match operand {
                Operand::Constant(tensor) if keeps => tensor.make_unique().or_raise()?,
                Operand::Constant(tensor) => lent.add(tensor)?,
                Operand::Value(value) if keeps => {
                    if let Some(mut copy) = value.as_tensor().filter(|tensor| is_shared(tensor)).cloned() {
                        copy.make_unique().or_raise()?;
                        *operand = Operand::Constant(copy);
                    }
                }
                Operand::Value(_) | Operand::Literal(_) => {}
            }
        }
        Ok(lent)
    }

    /// Those among the tensors that Python gave.
    pub(crate) fn add(&mut self, tensor: &CoreTensor) -> PyResult<()> {
        if tensor.dtype().is_pod() {
            let start = tensor.bytes().or_raise()?.as_ptr().addr();
            self.0.push((start, start + tensor.num_bytes()));
        }
        Ok(())
    }

    pub(crate) fn none() -> Lent {
        Lent(SmallVec::new())
    }

    fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Copies the results that are in what was lent; returns whether there were any.
    pub(crate) fn keep_out_of(&self, results: &mut [CoreTensor]) -> PyResult<bool> {
        let mut copied = false;
        if self.0.is_empty() {
            return Ok(copied);
        }
        for result in results {
            if result.dtype().is_pod() && result.device_memory().is_none() {
                let at = result.bytes().or_raise()?.as_ptr().addr();
                if self.0.iter().any(|&(start, end)| (start..end).contains(&at)) {
                    result.make_unique().or_raise()?;
                    copied = true;
                }
            }
        }
        Ok(copied)
    }
}

/// The results as Python has them.
fn give<'py, T: PyClass + Into<PyClassInitializer<T>>>(
    py: Python<'py>,
    mut results: impl Iterator<Item = T>,
    lengths: &[Option<usize>],
) -> PyResult<Bound<'py, PyAny>> {
    let mut output = |length: &Option<usize>| -> PyResult<Bound<'py, PyAny>> {
        match length {
            None => {
                let tensor = results.next().ok_or_else(|| PyRuntimeError::new_err("an output is missing"))?;
                Ok(Bound::new(py, tensor)?.into_any())
            }
            Some(length) => {
                let tensors = results.by_ref().take(*length).map(|tensor| Bound::new(py, tensor));
                Ok(PyList::new(py, tensors.collect::<PyResult<Vec<_>>>()?)?.into_any())
            }
        }
    };
    match lengths {
        [] => Ok(py.None().into_bound(py)),
        [one] => output(one),
        several => {
            let outputs = several.iter().map(output).collect::<PyResult<Vec<_>>>()?;
            Ok(PyTuple::new(py, outputs)?.into_any())
        }
    }
}

/// Does what runs an op in a context, which Ctrl-C cancels if the op may wait: what ends by itself before long is not worth the
/// watching.
///
/// # Errors
/// Those of `work`, and what handlers of signals raise.
pub(crate) fn run_in_context<T: Send>(
    py: Python<'_>,
    context: &EagerContext,
    def: &OpDef,
    work: impl FnOnce(&EagerContext) -> kernlink::Result<T> + Send,
) -> PyResult<T> {
    match context.registry().may_wait(&def.name) {
        true => crate::interrupt::run(py, |cancellation| match cancellation {
            Some(cancellation) => work(&context.cancelled_by(&cancellation)),
            None => work(context),
        }),
        false => py.detach(|| work(context)).or_raise(),
    }
}

/// Runs an op; attrs that are not named keep their defaults.
pub(crate) fn run<'py>(
    py: Python<'py>,
    op: &'static str,
    inputs: &[&Bound<'py, PyAny>],
    named: Option<(&str, Bound<'py, PyAny>)>,
) -> PyResult<Bound<'py, PyAny>> {
    let def = context(py)?.registry().op(op).or_raise()?.def;
    let asked = def.attrs.iter().filter(|attr| !def.is_inferred(&attr.name));
    let values = asked.map(|attr| match &named {
        Some((name, value)) if *attr.name == **name => value.clone(),
        _ => py.None().into_bound(py),
    });
    let attrs = PyTuple::new(py, values.collect::<SmallVec<[_; 4]>>())?;
    execute(py, &PyString::intern(py, op), &PyTuple::new(py, inputs)?, &attrs, None, None)
}

/// Ends a resource, whatever records or is built on this thread.
#[pyfunction]
pub(crate) fn destroy_resource(py: Python<'_>, handle: &Bound<'_, Tensor>) -> PyResult<()> {
    let context = context(py)?;
    let mut request = NodeRequest::new(context.registry().op("DestroyResourceOp").or_raise()?.def);
    request.inputs.push(NodeInput::Single(Operand::Value(handle.get().core().clone())));
    request.attrs.insert("ignore_lookup_error", true);
    py.detach(|| context.execute(&mut request, |_| Ok(()))).or_raise().map(drop)
}

/// The value of a variable in words, if it has one: read aside, whatever records or is built on this thread. In a child of the process
/// in which it was made it has none.
///
/// # Errors
/// Those of the read.
#[pyfunction]
pub(crate) fn value_text(
    py: Python<'_>,
    handle: &Bound<'_, Tensor>,
    dtype: &Bound<'_, PyAny>,
) -> PyResult<Option<String>> {
    let Some(context) = own_context(py)? else { return Ok(None) };
    let mut request = NodeRequest::new(context.registry().op("ReadVariableOp").or_raise()?.def);
    request.inputs.push(NodeInput::Single(Operand::Value(handle.get().core().clone())));
    request.attrs.insert("dtype", crate::dtypes::dtype_of(dtype)?);
    match py.detach(|| context.execute(&mut request, |_| Ok(()))) {
        Ok(values) => Ok(values.first().map(crate::tensor::text_of)),
        // It has no value yet, or none any more.
        Err(error) if matches!(error.code(), Code::FailedPrecondition | Code::NotFound) => Ok(None),
        Err(error) => Err(error).or_raise(),
    }
}
