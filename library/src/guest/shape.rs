//! Shape functions: those of the library's ops, on what a host tells of a node.
//!
//! A shape function in C is a bare function: nothing that it is called with says of which op it is. So there is a function for each
//! op, made ahead for as many as a library may have.

use std::sync::{PoisonError, RwLock};

use kernlink_framework::Result;
use kernlink_framework::attr::{AttrBase, AttrMap, AttrType};
use kernlink_framework::collect::OpEntry;
use kernlink_framework::dtype::DataType;
use kernlink_framework::error::catch_panic;
use kernlink_framework::op::{ArgDef, ArgType, OpDef, Signature};
use kernlink_framework::shape_inference::{DimHandle, InferenceContext, ShapeFn};

use super::functions::host;
use super::node::{Node, Shape};
use super::status::{Status, set};
use crate::abi::{ShapeFunction, TF_ShapeInferenceContext, TF_Status};

/// The ops that have a function, in the order of the functions.
static OPS: RwLock<Vec<&'static OpEntry>> = RwLock::new(Vec::new());

const ROW: usize = 16;
const ROWS: usize = 32;

/// A row of functions.
const fn row<const FIRST: usize>() -> [ShapeFunction; ROW] {
    macro_rules! functions {
        ($($offset:literal)*) => { [$(Of::<FIRST, $offset>::infer),*] };
    }
    functions!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
}

macro_rules! rows {
    ($($number:literal)*) => { [$(row::<{ $number * ROW }>()),*] };
}

static FUNCTIONS: [[ShapeFunction; ROW]; ROWS] =
    rows!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);

/// The shape function for the op; one that leaves shapes unknown if the library has more ops than there are functions.
pub(super) fn function_of(entry: &'static OpEntry) -> ShapeFunction {
    let mut ops = OPS.write().unwrap_or_else(PoisonError::into_inner);
    let number = ops.len();
    match FUNCTIONS.get(number / ROW).and_then(|row| row.get(number % ROW)) {
        Some(function) => {
            ops.push(entry);
            *function
        }
        None => infer_nothing,
    }
}

struct Of<const FIRST: usize, const OFFSET: usize>;

impl<const FIRST: usize, const OFFSET: usize> Of<FIRST, OFFSET> {
    unsafe extern "C" fn infer(ctx: *mut TF_ShapeInferenceContext, status: *mut TF_Status) {
        let entry = OPS.read().unwrap_or_else(PoisonError::into_inner).get(FIRST + OFFSET).copied();
        // SAFETY: the host's own.
        unsafe { infer(entry, ctx, status) };
    }
}

unsafe extern "C" fn infer_nothing(ctx: *mut TF_ShapeInferenceContext, status: *mut TF_Status) {
    // SAFETY: the host's own.
    unsafe { infer(None, ctx, status) };
}

/// Infers the shapes of a node of the op.
///
/// # Safety
/// The pointers are the host's.
unsafe fn infer(entry: Option<&'static OpEntry>, ctx: *mut TF_ShapeInferenceContext, status: *mut TF_Status) {
    let Some(host) = host() else { return };
    let inferred = catch_panic("the shape function", || {
        let own = Status::new(host);
        let node = Node::new(host, ctx, &own);
        node.leave_unknown()?;
        match entry {
            Some(OpEntry { def, shape_fn: Some(shape_fn), .. }) => infer_outputs(&node, def, *shape_fn),
            _ => Ok(()),
        }
    });
    if let Err(error) = inferred {
        // SAFETY: as the caller says.
        unsafe { set(host, status, &error) };
    }
}

/// Runs the op's shape function on what is known of the node, and sets what is known then of the outputs. A function that asks
/// for attrs that are not known leaves its outputs unknown.
fn infer_outputs(node: &Node<'_>, op: &OpDef, shape_fn: ShapeFn) -> Result<()> {
    let count = node.num_inputs();
    let mut attrs = AttrMap::new();
    for attr in op.attrs.iter().filter(|attr| attr.ty == AttrType { base: AttrBase::Type, list: false }) {
        if let Some(dtype) = node.attr_type(&attr.name) {
            attrs.insert(&*attr.name, dtype);
        }
    }
    let mut lists = attrs.clone();
    match list_length(op, count) {
        Some((name, Length::Numbers(length))) => {
            attrs.insert(name, length as i64);
            lists.insert(name, length as i64);
        }
        // How many there are is known, but not of which dtypes.
        Some((name, Length::Types(length))) => drop(lists.insert(name, vec![DataType::Float; length])),
        None => {}
    }
    // Outputs whose number is not known cannot be set.
    let Ok(signature) = Signature::new(op, &lists) else { return Ok(()) };
    if signature.inputs.len() != count {
        return Ok(());
    }
    let inputs = (0..count).map(|index| node.input(index)).collect::<Result<Vec<_>>>()?;
    let shapes = inputs.iter().map(|input| node.known_of(input)).collect::<Result<_>>()?;
    let mut context = InferenceContext::new(op, &attrs, &signature, shapes, Vec::new());
    if op.attrs.iter().any(|attr| attrs.get(&attr.name).is_none()) {
        context.set_attrs_are_partial();
    }
    let inferred = context.run(shape_fn);
    if context.asked_for_unknown_attrs() {
        return Ok(());
    }
    inferred?;
    for index in 0..signature.outputs.len() {
        set_output(node, &context, &inputs, index)?;
    }
    Ok(())
}

/// The length of a list of inputs.
#[derive(Debug, PartialEq)]
enum Length {
    /// Of `N * T`, which the attr `N` holds.
    Numbers(usize),
    /// Of an attr that is a list of dtypes.
    Types(usize),
}

/// The attr that says how many inputs the node has, and the length that it must state if there are so many; `None` if there is no
/// such attr, or there are several.
fn list_length(op: &OpDef, count: usize) -> Option<(&str, Length)> {
    let list_of = |arg: &ArgDef| match (&arg.number_attr, &arg.ty) {
        (Some(attr), ArgType::Fixed(_) | ArgType::Attr(_)) => Some((attr.to_string(), false)),
        (None, ArgType::ListAttr(attr)) => Some((attr.to_string(), true)),
        (None, _) => None,
        // Lists of lists.
        (Some(_), ArgType::ListAttr(_)) => Some((String::new(), false)),
    };
    let lists: Vec<_> = op.inputs.iter().filter_map(list_of).collect();
    let (name, is_types) = lists.first()?;
    let single = op.inputs.len() - lists.len();
    let of_lists = count.checked_sub(single)?;
    if lists.iter().any(|(other, _)| other != name) || !of_lists.is_multiple_of(lists.len()) {
        return None;
    }
    let length = of_lists / lists.len();
    let length = if *is_types { Length::Types(length) } else { Length::Numbers(length) };
    Some((&op.attr(name)?.name, length))
}

/// Sets the shape of an output, as far as it is known. What is a shape or a dimension of an input stays that.
fn set_output(node: &Node<'_>, context: &InferenceContext<'_>, inputs: &[Shape], index: usize) -> Result<()> {
    let shape = context.output(index);
    if let Some(same) = (0..inputs.len()).find(|&input| context.input(input) == shape) {
        return node.set_output(index, &inputs[same]);
    }
    let Some(dims) = context.dims(shape) else { return Ok(()) };
    let mut whole = node.scalar();
    for dim in dims {
        let part = match context.value(dim) {
            Some(size) => node.vector(usize::try_from(size).ok()),
            None => match axis_of_input(context, inputs.len(), dim) {
                Some((input, axis)) => node.axis(&inputs[input], axis)?,
                None => node.vector(None),
            },
        };
        whole = node.concatenate(&whole, &part)?;
    }
    node.set_output(index, &whole)
}

/// Which dimension of which input this is.
fn axis_of_input(context: &InferenceContext<'_>, inputs: usize, dim: DimHandle) -> Option<(usize, usize)> {
    (0..inputs).find_map(|input| {
        let axis = context.dims(context.input(input))?.into_iter().position(|other| other == dim)?;
        Some((input, axis))
    })
}

#[cfg(test)]
mod tests {
    use kernlink_framework::op::OpDefBuilder;

    use super::*;

    #[test]
    fn lengths_of_lists_follow_from_the_number_of_inputs() {
        let op = |inputs: &[&str]| {
            let op = OpDefBuilder::new("Op").attr("T: type").attr("N: int").attr("M: int").attr("Ts: list(type)");
            inputs.iter().fold(op, |op, input| op.input(*input)).build().unwrap()
        };
        let length =
            |inputs: &[&str], count| list_length(&op(inputs), count).map(|(name, length)| (name.to_owned(), length));
        assert_eq!(length(&["a: T", "b: N * T"], 4), Some(("N".to_owned(), Length::Numbers(3))));
        assert_eq!(length(&["a: N * T", "b: N * float"], 4), Some(("N".to_owned(), Length::Numbers(2))));
        assert_eq!(length(&["a: Ts", "b: int32"], 1), Some(("Ts".to_owned(), Length::Types(0))));
        assert_eq!(length(&["a: N * T", "b: N * T"], 3), None);
        assert_eq!(length(&["a: N * T", "b: M * T"], 4), None);
        assert_eq!(length(&["a: N * T", "b: T"], 0), None);
        assert_eq!(length(&["a: T"], 1), None);
    }

    #[test]
    fn each_op_has_a_function_of_its_own() {
        let mut functions: Vec<_> =
            FUNCTIONS.iter().flatten().map(|function| (*function as *const ()).addr()).collect();
        functions.sort_unstable();
        functions.dedup();
        assert_eq!(functions.len(), ROW * ROWS);
    }
}
