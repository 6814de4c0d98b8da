//! `TF_ShapeInferenceContext`: one call of a library's shape function.

use std::ffi::{c_char, c_int};
use std::ptr;

use kernlink_framework::dtype::DataType;
use kernlink_framework::shape_inference::{DimHandle, InferenceContext, ShapeHandle};
use kernlink_framework::{Error, Result};

use super::attr::found;
use super::{Status, guarded, report, text};
use crate::abi::{ShapeFunction, TF_DataType, TF_DimensionHandle, TF_ShapeHandle, TF_ShapeInferenceContext, TF_Status};

/// What is behind a `TF_ShapeHandle`; `None` until a call sets it.
type Shape = Option<ShapeHandle>;
/// What is behind a `TF_DimensionHandle`: the dimension's size, if it is known, stays known without its context.
type Dimension = Option<(DimHandle, Option<i64>)>;

/// Calls a shape function.
pub(super) fn infer(function: ShapeFunction, c: &mut InferenceContext<'_>) -> Result<()> {
    let mut status = Status::default();
    // SAFETY: the library gave the function, and keeps neither pointer: that is what shape functions promise.
    unsafe { function(ptr::from_mut(c).cast(), (&raw mut status).cast()) };
    status.outcome()
}

/// # Safety
/// The pointer is null or what [`infer`] handed to the function that calls.
#[track_caller]
unsafe fn inference<'a>(ctx: *mut TF_ShapeInferenceContext) -> Result<&'a mut InferenceContext<'a>> {
    // SAFETY: as the caller says. Lifetimes are those of the call.
    unsafe { ctx.cast::<InferenceContext<'a>>().as_mut() }
        .ok_or_else(|| Error::invalid_argument("the inference context is a null pointer"))
}

/// # Safety
/// The pointer is null or a shape's handle.
#[track_caller]
unsafe fn shape_of<'a>(shape: *mut TF_ShapeHandle) -> Result<&'a mut Shape> {
    // SAFETY: as the caller says.
    unsafe { shape.cast::<Shape>().as_mut() }
        .ok_or_else(|| Error::invalid_argument("the shape handle is a null pointer"))
}

/// # Safety
/// As [`shape_of`].
#[track_caller]
unsafe fn set_shape(c: &InferenceContext<'_>, shape: *mut TF_ShapeHandle) -> Result<ShapeHandle> {
    // SAFETY: as the caller says.
    Ok(unsafe { shape_of(shape) }?.unwrap_or_else(|| c.unknown_shape()))
}

#[track_caller]
fn position(index: c_int, count: usize, what: &str) -> Result<usize> {
    let found = usize::try_from(index).ok().filter(|index| *index < count);
    found.ok_or_else(|| Error::out_of_range(format!("{what} index out of range")))
}

fn new_shape(shape: Shape) -> *mut TF_ShapeHandle {
    Box::into_raw(Box::new(shape)).cast()
}

/// The number of inputs.
pub unsafe extern "C" fn TF_ShapeInferenceContextNumInputs(ctx: *mut TF_ShapeInferenceContext) -> i64 {
    // SAFETY: as said in `host`.
    guarded(0, || unsafe { inference(ctx) }.map_or(0, |c| c.num_inputs() as i64))
}

/// A handle for results, of an unknown shape so far.
pub unsafe extern "C" fn TF_NewShapeHandle() -> *mut TF_ShapeHandle {
    guarded(ptr::null_mut(), || new_shape(None))
}

/// Frees a handle.
pub unsafe extern "C" fn TF_DeleteShapeHandle(shape: *mut TF_ShapeHandle) {
    if !shape.is_null() {
        // SAFETY: it came from one of these functions, and is freed once.
        drop(unsafe { Box::from_raw(shape.cast::<Shape>()) });
    }
}

/// A handle for a dimension, unknown so far.
pub unsafe extern "C" fn TF_NewDimensionHandle() -> *mut TF_DimensionHandle {
    guarded(ptr::null_mut(), || Box::into_raw(Box::<Dimension>::default()).cast())
}

/// Frees a handle.
pub unsafe extern "C" fn TF_DeleteDimensionHandle(dimension: *mut TF_DimensionHandle) {
    if !dimension.is_null() {
        // SAFETY: it came from `TF_NewDimensionHandle`, and is freed once.
        drop(unsafe { Box::from_raw(dimension.cast::<Dimension>()) });
    }
}

fn size_of_dimension(dimension: *mut TF_DimensionHandle) -> Option<i64> {
    // SAFETY: the pointer is null or a dimension's handle.
    unsafe { dimension.cast::<Dimension>().as_ref() }.and_then(|dimension| (*dimension)?.1)
}

/// Whether the size is known.
pub unsafe extern "C" fn TF_DimensionHandleValueKnown(dimension: *mut TF_DimensionHandle) -> c_int {
    size_of_dimension(dimension).is_some().into()
}

/// The size; -1 if it is unknown.
pub unsafe extern "C" fn TF_DimensionHandleValue(dimension: *mut TF_DimensionHandle) -> i64 {
    size_of_dimension(dimension).unwrap_or(-1)
}

/// The shape of an input.
pub unsafe extern "C" fn TF_ShapeInferenceContextGetInput(
    ctx: *mut TF_ShapeInferenceContext,
    index: c_int,
    shape: *mut TF_ShapeHandle,
    status: *mut TF_Status,
) {
    let body = || {
        // SAFETY: as said in `host`.
        let (c, shape) = unsafe { (inference(ctx)?, shape_of(shape)?) };
        *shape = Some(c.input(position(index, c.num_inputs(), "input")?));
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), body) };
}

/// Sets the shape of an output.
pub unsafe extern "C" fn TF_ShapeInferenceContextSetOutput(
    ctx: *mut TF_ShapeInferenceContext,
    index: c_int,
    shape: *mut TF_ShapeHandle,
    status: *mut TF_Status,
) {
    let body = || {
        // SAFETY: as said in `host`.
        let c = unsafe { inference(ctx) }?;
        let index = position(index, c.num_outputs(), "output")?;
        // SAFETY: as said in `host`.
        c.set_output(index, unsafe { set_shape(c, shape) }?);
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), body) };
}

/// The shape of a scalar, in a handle that the caller deletes.
pub unsafe extern "C" fn TF_ShapeInferenceContextScalar(ctx: *mut TF_ShapeInferenceContext) -> *mut TF_ShapeHandle {
    // SAFETY: as said in `host`.
    guarded(ptr::null_mut(), || unsafe { inference(ctx) }.map_or(ptr::null_mut(), |c| new_shape(Some(c.scalar()))))
}

/// The shape of a vector of so many elements, in a handle that the caller deletes.
pub unsafe extern "C" fn TF_ShapeInferenceContextVectorFromSize(
    ctx: *mut TF_ShapeInferenceContext,
    size: usize,
) -> *mut TF_ShapeHandle {
    guarded(ptr::null_mut(), || {
        // SAFETY: as said in `host`.
        let c = unsafe { inference(ctx) };
        // As in TensorFlow, a size beyond all numbers of dimensions is an unknown one.
        c.map_or(ptr::null_mut(), |c| new_shape(Some(c.vector(i64::try_from(size).unwrap_or(-1)))))
    })
}

/// The dtype that an attr holds.
pub unsafe extern "C" fn TF_ShapeInferenceContext_GetAttrType(
    ctx: *mut TF_ShapeInferenceContext,
    attr: *const c_char,
    value: *mut TF_DataType,
    status: *mut TF_Status,
) {
    let body = || {
        // SAFETY: as said in `host`.
        let (c, name) = unsafe { (inference(ctx)?, text("the attr's name", attr)?) };
        let dtype: DataType = found(c.attrs(), &c.op().name, name, "type")?;
        // SAFETY: as said in `host`.
        *unsafe { value.as_mut() }
            .ok_or_else(|| Error::invalid_argument("the place of the dtype is a null pointer"))? = dtype.number();
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), body) };
}

/// The rank; -1 if it is unknown.
pub unsafe extern "C" fn TF_ShapeInferenceContextRank(
    ctx: *mut TF_ShapeInferenceContext,
    shape: *mut TF_ShapeHandle,
) -> i64 {
    guarded(-1, || {
        // SAFETY: as said in `host`.
        let rank = unsafe { inference(ctx).and_then(|c| Ok(c.rank(set_shape(c, shape)?))) };
        rank.ok().flatten().map_or(-1, |rank| rank as i64)
    })
}

/// Whether the rank is known.
pub unsafe extern "C" fn TF_ShapeInferenceContextRankKnown(
    ctx: *mut TF_ShapeInferenceContext,
    shape: *mut TF_ShapeHandle,
) -> c_int {
    // SAFETY: the same pointers.
    (unsafe { TF_ShapeInferenceContextRank(ctx, shape) } >= 0).into()
}

macro_rules! ranked {
    ($($(#[$doc:meta])* $name:ident => $method:ident;)*) => {
        $(
            $(#[$doc])*
            pub unsafe extern "C" fn $name(
                ctx: *mut TF_ShapeInferenceContext,
                shape: *mut TF_ShapeHandle,
                rank: i64,
                result: *mut TF_ShapeHandle,
                status: *mut TF_Status,
            ) {
                let body = || {
                    // SAFETY: as said in `host`.
                    let (c, result) = unsafe { (inference(ctx)?, shape_of(result)?) };
                    let rank = usize::try_from(rank).map_err(|_| Error::invalid_argument(format!("a rank cannot be {rank}")))?;
                    // SAFETY: as said in `host`.
                    *result = Some(c.$method(unsafe { set_shape(c, shape) }?, rank)?);
                    Ok(())
                };
                // SAFETY: as said in `host`.
                unsafe { report(status, (), body) };
            }
        )*
    };
}

ranked! {
    /// The same shape with what is known of it once it has this rank.
    TF_ShapeInferenceContextWithRank => with_rank;
    /// The same shape, which must have at least this rank.
    TF_ShapeInferenceContextWithRankAtLeast => with_rank_at_least;
    /// The same shape, which must have at most this rank.
    TF_ShapeInferenceContextWithRankAtMost => with_rank_at_most;
}

/// A dimension of a shape, counted from the end if the index is negative; unknown if there is none.
pub unsafe extern "C" fn TF_ShapeInferenceContextDim(
    ctx: *mut TF_ShapeInferenceContext,
    shape: *mut TF_ShapeHandle,
    index: i64,
    result: *mut TF_DimensionHandle,
) {
    guarded((), || {
        // SAFETY: as said in `host`.
        let (c, result) = unsafe { (inference(ctx), result.cast::<Dimension>().as_mut()) };
        let (Ok(c), Some(result)) = (c, result) else { return };
        // SAFETY: as said in `host`.
        let Ok(shape) = (unsafe { set_shape(c, shape) }) else { return };
        let dim = match c.rank(shape) {
            Some(rank) if index >= rank as i64 || index < -(rank as i64) => c.unknown_dim(),
            _ => c.dim(shape, index),
        };
        *result = Some((dim, c.value(dim)));
    });
}

/// The dimensions from `start` to before `end`, which count from the end if negative.
pub unsafe extern "C" fn TF_ShapeInferenceContextSubshape(
    ctx: *mut TF_ShapeInferenceContext,
    shape: *mut TF_ShapeHandle,
    start: i64,
    end: i64,
    result: *mut TF_ShapeHandle,
    status: *mut TF_Status,
) {
    let body = || {
        // SAFETY: as said in `host`.
        let (c, result) = unsafe { (inference(ctx)?, shape_of(result)?) };
        // SAFETY: as said in `host`.
        *result = Some(c.subshape_range(unsafe { set_shape(c, shape) }?, start, end)?);
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), body) };
}

/// Leaves the shapes of all outputs unknown.
pub unsafe extern "C" fn TF_ShapeInferenceContextSetUnknownShape(
    ctx: *mut TF_ShapeInferenceContext,
    status: *mut TF_Status,
) {
    let body = || {
        // SAFETY: as said in `host`.
        let c = unsafe { inference(ctx) }?;
        (0..c.num_outputs()).for_each(|index| c.set_output(index, c.unknown_shape()));
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), body) };
}

/// The dimensions of `first`, then those of `second`.
pub unsafe extern "C" fn TF_ShapeInferenceContextConcatenateShapes(
    ctx: *mut TF_ShapeInferenceContext,
    first: *mut TF_ShapeHandle,
    second: *mut TF_ShapeHandle,
    result: *mut TF_ShapeHandle,
    status: *mut TF_Status,
) {
    let body = || {
        // SAFETY: as said in `host`.
        let (c, result) = unsafe { (inference(ctx)?, shape_of(result)?) };
        // SAFETY: as said in `host`.
        *result = Some(unsafe { c.concatenate(set_shape(c, first)?, set_shape(c, second)?) }?);
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), body) };
}
