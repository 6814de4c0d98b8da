//! The attrs of a `TFE_Op`. Most setters have no status: what is wrong with a value is told when the op is to run. An attr that the
//! op does not have is left out, and of one that is set twice the first value counts.

use std::ffi::{c_char, c_int, c_void};

use kernlink::attr::{AttrType, AttrValue, FunctionRef};
use kernlink::{Error, Result};
use kernlink_library::host::{dtype_of, guarded, report, text};

use super::op::{COp, unknown};
use crate::abi::{TF_DataType, TF_Status, TF_Tensor, TFE_Context, TFE_Op};
use crate::pointer::{borrow, borrow_mut, put};
use crate::values::{
    attr_type, constant, function_named, list, partial_shape, partial_shapes, setters, string, strings,
};

impl COp {
    /// Sets an attr.
    ///
    /// # Safety
    /// As said in `pointer`.
    unsafe fn set<V: Into<AttrValue>>(&mut self, name: *const c_char, value: Result<V>) -> Result<()> {
        // SAFETY: as the caller says.
        let name = unsafe { text("an attr's name", name) }?;
        // Those of the runtime's own are not declared.
        let is_known = |name: &str| name.starts_with('_') || self.op.is_none_or(|op| declares(&op.attrs, name));
        if is_known(name) {
            let value = value.map_err(|error| error.context(format!("attr '{name}'")))?;
            if self.request.attrs.get(name).is_none() {
                self.request.attrs.insert(name, value);
            }
        }
        Ok(())
    }

    /// Sets an attr by a call without a status.
    ///
    /// # Safety
    /// As said in `pointer`.
    unsafe fn attr<V: Into<AttrValue>>(op: *mut TFE_Op, name: *const c_char, value: impl FnOnce() -> Result<V>) {
        guarded((), || {
            // Before the op is borrowed: the value may come from the op itself.
            let value = value();
            // SAFETY: as the caller says.
            if let Ok(op) = unsafe { borrow_mut(op) }
                // SAFETY: as the caller says.
                && let Err(error) = unsafe { op.set(name, value) }
            {
                op.fault.get_or_insert(error);
            }
        });
    }

    /// Sets an attr by a call with a status.
    ///
    /// # Safety
    /// As said in `pointer`.
    unsafe fn checked_attr<V: Into<AttrValue>>(
        op: *mut TFE_Op,
        name: *const c_char,
        status: *mut TF_Status,
        value: impl FnOnce() -> Result<V>,
    ) {
        // SAFETY: as the caller says.
        unsafe {
            report(status, (), || {
                let value = value();
                borrow_mut(op)?.set(name, value)
            });
        }
    }

    /// The function that another op's description names, with its attrs.
    ///
    /// # Safety
    /// As said in `pointer`.
    unsafe fn function(op: *const TFE_Op) -> Result<FunctionRef> {
        // SAFETY: as the caller says.
        let op = unsafe { borrow(op) }?;
        let attrs = op.request.attrs.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
        Ok(FunctionRef { name: op.name().to_owned(), attrs })
    }
}

fn declares(attrs: &[kernlink::op::AttrDef], name: &str) -> bool {
    attrs.iter().any(|attr| attr.name == *name)
}

setters! {
    TFE_Op => COp;
    attr {
        /// Sets an attr to a string of `length` bytes.
        TFE_OpSetAttrString(value: *const c_void, length: usize) = string(value, length);
        /// Sets an attr to an integer.
        TFE_OpSetAttrInt(value: i64) = Ok(value);
        /// Sets an attr to a float.
        TFE_OpSetAttrFloat(value: f32) = Ok(value);
        /// Sets an attr to a bool, which is false for 0.
        TFE_OpSetAttrBool(value: u8) = Ok(value != 0);
        /// Sets an attr to a dtype.
        TFE_OpSetAttrType(value: TF_DataType) = dtype_of(value);
        /// Sets an attr to the function that another op's description names, with that op's attrs.
        TFE_OpSetAttrFunction(value: *const TFE_Op) = COp::function(value);
        /// Sets an attr to the function of this name, without attrs.
        TFE_OpSetAttrFunctionName(data: *const c_char, length: usize) = function_named(data, length);
        /// Sets an attr to a list of strings.
        TFE_OpSetAttrStringList(values: *const *const c_void, lengths: *const usize, num_values: c_int) =
            strings(values, lengths, num_values);
        /// Sets an attr to a list of integers.
        TFE_OpSetAttrIntList(values: *const i64, num_values: c_int) = list(values, num_values, |&value| Ok(value));
        /// Sets an attr to a list of floats.
        TFE_OpSetAttrFloatList(values: *const f32, num_values: c_int) = list(values, num_values, |&value| Ok(value));
        /// Sets an attr to a list of bools.
        TFE_OpSetAttrBoolList(values: *const u8, num_values: c_int) = list(values, num_values, |&value| Ok(value != 0));
        /// Sets an attr to a list of dtypes.
        TFE_OpSetAttrTypeList(values: *const TF_DataType, num_values: c_int) =
            list(values, num_values, |&value| dtype_of(value));
        /// Sets an attr to a list of functions that other ops' descriptions name.
        TFE_OpSetAttrFunctionList(values: *const *const TFE_Op, num_values: c_int) =
            list(values, num_values, |&value| COp::function(value));
    }
    checked_attr {
        /// Sets an attr to a shape, of which -1 is not known.
        TFE_OpSetAttrShape(dims: *const i64, num_dims: c_int) = partial_shape(dims, num_dims);
        /// Sets an attr to a list of shapes.
        TFE_OpSetAttrShapeList(dims: *mut *const i64, num_dims: *const c_int, num_values: c_int) =
            partial_shapes(dims.cast_const(), num_dims, num_values);
        /// Sets an attr to a copy of a tensor.
        TFE_OpSetAttrTensor(tensor: *mut TF_Tensor) = constant(tensor);
    }
}

/// What kind of value an op's attr has.
fn declared(op: Option<&kernlink::op::OpDef>, name: &str) -> Result<AttrType> {
    let attr = op.and_then(|op| op.attrs.iter().find(|attr| attr.name == *name));
    let none = || Error::invalid_argument(format!("Attribute '{name}' does not exist for this operation"));
    attr.map(|attr| attr.ty).ok_or_else(none)
}

/// What kind of value an attr of an op has, as `TF_AttrMetadata` says it, and whether it is a list of such; 0 on failure. Of the
/// attrs of functions this is not known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_OpGetAttrType(
    op: *mut TFE_Op,
    attr_name: *const c_char,
    is_list: *mut u8,
    status: *mut TF_Status,
) -> c_int {
    let kind = || {
        // SAFETY: as said in `pointer`.
        let (op, name) = unsafe { (borrow(op)?, text("the attr's name", attr_name)?) };
        let ty = declared(op.op, name)?;
        // SAFETY: as said in `pointer`.
        unsafe { put(is_list, ty.list.into()) };
        Ok(attr_type(ty.base))
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, 0, kind) }
}

/// [`TFE_OpGetAttrType`] of the op of this name, which need not be described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_OpNameGetAttrType(
    ctx: *mut TFE_Context,
    op_or_function_name: *const c_char,
    attr_name: *const c_char,
    is_list: *mut u8,
    status: *mut TF_Status,
) -> c_int {
    let kind = || {
        // SAFETY: as said in `pointer`.
        let (context, op, name) =
            unsafe { (borrow(ctx)?, text("the op's name", op_or_function_name)?, text("the attr's name", attr_name)?) };
        let found = context.eager.registry().find_op(op).map(|entry| entry.def);
        if found.is_none() && !context.eager.function_library().has_function(op) {
            return Err(unknown(op));
        }
        let ty = declared(found, name)?;
        // SAFETY: as said in `pointer`.
        unsafe { put(is_list, ty.list.into()) };
        Ok(attr_type(ty.base))
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, 0, kind) }
}
