//! What a kernel says of itself if it computes each element by itself.

use std::any::Any;
use std::sync::Arc;

use super::RawConstruction;
use crate::attr::{AttrMap, AttrValue};
use crate::dtype::{DataType, Element as _, Pod};
use crate::error::{Error, Result};
use crate::op::{ArgType, AttrDefault, OpDef};
use crate::registry::NodeQuery;

/// What a kernel computes of elements that are in the same place.
///
/// A kernel has one if it has one to three inputs and one output, each element of the output is a function of those of the
/// inputs in the same place, and it fails for nothing but shapes. The pass `fuse-element-wise` then makes one node of several
/// such nodes, if all attrs but dtypes, numbers of inputs and the parameter have the values that the op declares for them.
#[derive(Clone, Copy)]
pub struct ElementWise {
    /// The attr, a float, that is one more argument of the function, the last.
    pub parameter: Option<&'static str>,
    /// How the inputs' shapes meet.
    pub meet: Meet,
    /// The function.
    pub function: FunctionOf,
}

/// The function of elements of these dtypes, of the type that the device's kernel of `_FusedElementWise` takes: on the
/// host an [`ElementFunction`]. `None` if nodes with these dtypes do not compute each element by itself, or may fail.
pub type FunctionOf = fn(inputs: &[DataType], output: DataType) -> Option<Box<dyn Any + Send + Sync>>;

/// Which shapes the inputs of a function of elements may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meet {
    /// Shapes that broadcast.
    Broadcast,
    /// One shape.
    Equal,
    /// As many elements; the result has the first one's shape.
    Alike,
    /// All but the first have its shape or are scalars.
    Bounds,
    /// The first, a condition, has the shape of the others, or is a scalar, or a vector with an element for each of their
    /// rows.
    Condition,
}

impl Meet {
    /// The input whose shape the result has, unless the inputs broadcast.
    pub fn shape_of(self) -> Option<usize> {
        match self {
            Meet::Broadcast => None,
            Meet::Equal | Meet::Alike | Meet::Bounds => Some(0),
            Meet::Condition => Some(1),
        }
    }
}

/// Computes `length` elements from as many elements of every input. Returns false if the function does not allow some of them;
/// the output then has arbitrary values.
///
/// # Safety
/// Every input points to `length` elements of the loop's input types, the output to room for `length` elements of its output
/// type, all aligned, and the output overlaps no input.
pub type ElementLoop<const N: usize> = unsafe fn(inputs: [*const u8; N], output: *mut u8, length: usize) -> bool;

/// A loop over slices, of which [`ElementFunction`] makes the function of a kernel on the host.
pub trait SliceLoop<const N: usize> {
    /// The elements of the inputs.
    type In: Pod;
    /// The elements of the output.
    type Out: Pod;

    /// Computes all of `out` from the inputs; all slices have one length. It allows all elements, as every kernel with an
    /// [`ElementWise`] does.
    fn run(inputs: [&[Self::In]; N], out: &mut [Self::Out]);
}

/// The function of a kernel on the host.
#[derive(Clone)]
pub struct ElementFunction {
    run: AnyLoop,
    inputs: [DataType; 3],
    output: DataType,
    cost: usize,
    limit: usize,
    sees_neighbours: bool,
}

/// A loop of some number of arguments.
#[derive(Clone)]
#[non_exhaustive]
pub enum AnyLoop {
    /// Of one.
    One(ElementLoop<1>),
    /// Of two.
    Two(ElementLoop<2>),
    /// Of three.
    Three(ElementLoop<3>),
    /// Of one, with what it knows besides.
    Closure(UnaryClosure),
}

/// A loop of one argument with state of its own.
#[derive(Clone)]
pub struct UnaryClosure(Arc<dyn Fn(*const u8, *mut u8, usize) + Send + Sync>);

impl UnaryClosure {
    /// A loop from elements to as many others; it may rely on what the caller of an [`ElementLoop`] promises.
    pub fn new(run: impl Fn(*const u8, *mut u8, usize) + Send + Sync + 'static) -> UnaryClosure {
        UnaryClosure(Arc::new(run))
    }
}

impl AnyLoop {
    /// How many arguments there are.
    pub fn arity(&self) -> usize {
        match self {
            AnyLoop::One(_) | AnyLoop::Closure(_) => 1,
            AnyLoop::Two(_) => 2,
            AnyLoop::Three(_) => 3,
        }
    }

    /// Runs the loop on as many of the operands as it has arguments.
    ///
    /// # Safety
    /// As [`ElementLoop`].
    #[inline]
    pub unsafe fn run(&self, operands: [*const u8; 3], output: *mut u8, length: usize) {
        let [x, y, z] = operands;
        // SAFETY: by the caller's promise.
        unsafe {
            match self {
                AnyLoop::One(run) => _ = run([x], output, length),
                AnyLoop::Two(run) => _ = run([x, y], output, length),
                AnyLoop::Three(run) => _ = run([x, y, z], output, length),
                AnyLoop::Closure(UnaryClosure(run)) => run(x, output, length),
            }
        }
    }
}

impl ElementFunction {
    /// The function of a loop over slices of one argument.
    pub fn unary<L: SliceLoop<1>>() -> ElementFunction {
        ElementFunction::of::<L, 1>(AnyLoop::One(run::<L, 1>))
    }

    /// The function of a loop over slices of two arguments.
    pub fn binary<L: SliceLoop<2>>() -> ElementFunction {
        ElementFunction::of::<L, 2>(AnyLoop::Two(run::<L, 2>))
    }

    /// The function of a loop over slices of three arguments.
    pub fn ternary<L: SliceLoop<3>>() -> ElementFunction {
        ElementFunction::of::<L, 3>(AnyLoop::Three(run::<L, 3>))
    }

    fn of<L: SliceLoop<N>, const N: usize>(run: AnyLoop) -> ElementFunction {
        // SAFETY: the loop makes slices of these types of what it is called with.
        unsafe { ElementFunction::new(run, [L::In::DTYPE; 3], L::Out::DTYPE) }
    }

    /// The function of a loop, of which the first dtypes are those of its arguments. It allows shapes that broadcast in any
    /// way, and takes a nanosecond for an element, or so.
    ///
    /// # Safety
    /// The loop may be called with elements of these dtypes.
    pub const unsafe fn new(run: AnyLoop, inputs: [DataType; 3], output: DataType) -> ElementFunction {
        ElementFunction { run, inputs, output, cost: 1000, limit: usize::MAX, sees_neighbours: false }
    }

    /// The same with another cost: picoseconds for one element, or so.
    pub fn with_cost(self, cost: usize) -> ElementFunction {
        ElementFunction { cost, ..self }
    }

    /// The same for shapes that broadcast along so many groups of dimensions at most.
    pub fn with_limit(self, limit: usize) -> ElementFunction {
        ElementFunction { limit, ..self }
    }

    /// The same if it depends on the neighbours of an element how it is computed, so that last bits may depend on how a
    /// tensor is cut into rows.
    pub fn with_neighbours(self, sees_neighbours: bool) -> ElementFunction {
        ElementFunction { sees_neighbours, ..self }
    }

    /// Its loop.
    pub fn run(&self) -> &AnyLoop {
        &self.run
    }

    /// The dtypes of its arguments.
    pub fn inputs(&self) -> &[DataType] {
        &self.inputs[..self.run.arity()]
    }

    /// The dtype of its result.
    pub fn output(&self) -> DataType {
        self.output
    }

    /// Picoseconds for one element, or so.
    pub fn cost(&self) -> usize {
        self.cost
    }

    /// Along how many groups of dimensions shapes may broadcast.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Whether it depends on the neighbours of an element how it is computed.
    pub fn sees_neighbours(&self) -> bool {
        self.sees_neighbours
    }

    /// Whether the arguments, but for a parameter, and the result have these dtypes.
    pub fn has_dtypes(&self, inputs: &[DataType], output: DataType) -> bool {
        self.inputs().starts_with(inputs) && output == self.output
    }

    /// As a [`FunctionOf`] returns it: `None` if the arguments, but for a parameter, or the result have other dtypes.
    pub fn for_dtypes(self, inputs: &[DataType], output: DataType) -> Option<Box<dyn Any + Send + Sync>> {
        let suits = self.has_dtypes(inputs, output);
        suits.then(|| Box::new(self) as Box<dyn Any + Send + Sync>)
    }
}

/// The [`ElementLoop`] of a [`SliceLoop`].
///
/// # Safety
/// As [`ElementLoop`].
unsafe fn run<L: SliceLoop<N>, const N: usize>(inputs: [*const u8; N], out: *mut u8, length: usize) -> bool {
    // SAFETY: by the caller's promise.
    let (inputs, out) = unsafe {
        (
            inputs.map(|input| std::slice::from_raw_parts(input.cast(), length)),
            std::slice::from_raw_parts_mut(out.cast(), length),
        )
    };
    L::run(inputs, out);
    true
}

impl RawConstruction<'_> {
    /// What the kernel of another op computes of elements of these dtypes, on the device for which this one is constructed.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such kernel; INVALID_ARGUMENT if it does not compute each element by itself.
    pub fn element_wise(
        &self,
        op: &str,
        inputs: &[DataType],
        output: DataType,
    ) -> Result<(ElementWise, Box<dyn Any + Send + Sync>)> {
        let attrs = attrs_of(self.registry.op(op)?.def, inputs, output);
        let capabilities = self.surroundings.map_or(&[][..], |surroundings| surroundings.device.capabilities());
        let query = NodeQuery { node: self.node, op, attrs: &attrs, device: self.device, capabilities };
        let element_wise = self.registry.find_kernel(query)?.element_wise;
        element_wise.and_then(|own| Some((own, (own.function)(inputs, output)?))).ok_or_else(|| {
            let dtypes: Vec<_> = inputs.iter().map(DataType::to_string).collect();
            let of = dtypes.join(" and ");
            Error::invalid_argument(format!(
                "op {op} of {of} with a result of {output} does not compute each element by itself"
            ))
        })
    }
}

/// The attrs by which the kernel is found of a node of an op with inputs and an output of these dtypes that says nothing else.
fn attrs_of(op: &OpDef, inputs: &[DataType], output: DataType) -> AttrMap {
    let mut attrs = AttrMap::new();
    for attr in op.attrs.iter() {
        let default = match &attr.default {
            Some(AttrDefault::Bool(default)) => AttrValue::Bool(*default),
            Some(AttrDefault::Int(default)) => AttrValue::Int(*default),
            Some(AttrDefault::String(default)) => AttrValue::String((&**default).into()),
            Some(AttrDefault::Type(default)) => AttrValue::Type(*default),
            _ => continue,
        };
        attrs.insert(&*attr.name, default);
    }
    let mut rest = inputs;
    for arg in op.inputs.iter() {
        let count = if arg.number_attr.is_some() { rest.len() } else { 1 };
        if let (ArgType::Attr(name), Some(&dtype)) = (&arg.ty, rest.first()) {
            attrs.insert(&**name, dtype);
        }
        if let Some(number) = &arg.number_attr {
            attrs.insert(&**number, count as i64);
        }
        rest = rest.get(count..).unwrap_or_default();
    }
    if let Some(ArgType::Attr(name)) = op.outputs.first().map(|arg| &arg.ty) {
        attrs.insert(&**name, output);
    }
    attrs
}
