//! Null pointers, and counts that cannot be.

use std::ffi::c_int;
use std::ptr::{null, null_mut};

use kernlink_capi::eager::*;

use crate::client::*;

/// Calls of functions with a status, which say that something is null.
macro_rules! refuse {
    ($($function:ident($($argument:expr),*);)*) => {
        // SAFETY: null pointers are refused.
        unsafe { $(fails(checked(|status| $function($($argument,)* status)), INVALID_ARGUMENT, "null");)* }
    };
}

#[test]
fn null_pointers_are_errors() {
    let context = Context::new();
    let (c, op) = (context.0, context.op("Neg").unwrap());
    let name = c"T".as_ptr();
    let mut room: c_int = 1;
    refuse! {
        TFE_ContextOptionsSetConfig(null_mut(), null(), 0);
        TFE_NewContext(null());
        TFE_ContextListDevices(null_mut());
        TFE_ContextAddFunctionDef(null_mut(), null(), 0);
        TFE_ContextAddFunctionDef(c, null(), 3);
        TFE_ContextAddFunction(null_mut(), null_mut());
        TFE_ContextAddFunction(c, null_mut());
        TFE_ContextRemoveFunction(null_mut(), name);
        TFE_ContextRemoveFunction(c, null());
        TFE_ContextExportRunMetadata(null_mut(), null_mut());
        TFE_TensorHandleNumDims(null_mut());
        TFE_TensorHandleNumElements(null_mut());
        TFE_TensorHandleDim(null_mut(), 0);
        TFE_TensorHandleDeviceName(null_mut());
        TFE_TensorHandleBackingDeviceName(null_mut());
        TFE_TensorHandleCopySharingTensor(null_mut());
        TFE_TensorHandleResolve(null_mut());
        TFE_TensorHandleTensorDebugInfo(null_mut());
        TFE_TensorHandleCopyToDevice(null_mut(), c, name);
        TFE_NewOp(null_mut(), name);
        TFE_NewOp(c, null());
        TFE_OpGetName(null());
        TFE_OpGetContext(null());
        TFE_OpGetDevice(null());
        TFE_OpSetDevice(null_mut(), name);
        TFE_OpSetDevice(op.0, null());
        TFE_OpAddInput(null_mut(), null_mut());
        TFE_OpAddInput(op.0, null_mut());
        TFE_OpAddInputList(op.0, null_mut(), 1);
        TFE_OpGetFlatInputCount(null());
        TFE_OpGetFlatInput(null(), 0);
        TFE_OpGetAttrType(null_mut(), name, null_mut());
        TFE_OpGetAttrType(op.0, null(), null_mut());
        TFE_OpNameGetAttrType(null_mut(), name, name, null_mut());
        TFE_OpSetAttrShape(null_mut(), name, null(), 0);
        TFE_OpSetAttrTensor(op.0, name, null_mut());
        TFE_OpSetAttrShapeList(op.0, name, null_mut(), null(), 1);
        TFE_OpGetInputLength(null_mut(), name);
        TFE_OpGetOutputLength(op.0, null());
        TFE_Execute(null_mut(), null_mut(), &raw mut room);
        TFE_Execute(op.0, null_mut(), null_mut());
        TFE_Execute(op.0, null_mut(), &raw mut room);
    }
    room = -1;
    // SAFETY: a negative count is refused, and so is a null status in silence.
    unsafe {
        let mut none = null_mut();
        fails(checked(|status| TFE_Execute(op.0, &raw mut none, &raw mut room, status)), INVALID_ARGUMENT, "negative");
        fails(checked(|status| TFE_OpAddInputList(op.0, &raw mut none, -1, status)), INVALID_ARGUMENT, "negative");
        TFE_Execute(op.0, null_mut(), &raw mut room, null_mut());
    }
}

#[test]
fn null_pointers_without_a_status_are_nothing() {
    let context = Context::new();
    // SAFETY: null pointers have no effect.
    unsafe {
        TFE_DeleteContextOptions(null_mut());
        TFE_ContextOptionsSetAsync(null_mut(), 1);
        TFE_ContextOptionsSetDevicePlacementPolicy(null_mut(), 1);
        TFE_DeleteContext(null_mut());
        TFE_ContextClearCaches(null_mut());
        TFE_ContextSetThreadLocalDevicePlacementPolicy(null_mut(), 1);
        assert_eq!(TFE_ContextGetDevicePlacementPolicy(null_mut()), 2);
        assert_eq!(TFE_ContextHasFunction(null_mut(), null()), 0);
        assert_eq!(TFE_ContextHasFunction(context.0, null()), 0);
        TFE_ContextEnableRunMetadata(null_mut());
        TFE_ContextDisableRunMetadata(null_mut());
        TFE_ContextStartStep(null_mut());
        TFE_ContextEndStep(null_mut());
        TFE_DeleteTensorHandle(null_mut());
        assert_eq!(TFE_TensorHandleDataType(null_mut()), 0);
        TFE_DeleteTensorDebugInfo(null_mut());
        assert_eq!(TFE_TensorDebugInfoOnDeviceNumDims(null_mut()), -1);
        assert_eq!(TFE_TensorDebugInfoOnDeviceDim(null_mut(), 0), -1);
        TFE_DeleteOp(null_mut());
        TFE_OpSetAttrInt(null_mut(), null(), 1);
        TFE_OpSetAttrFunction(null_mut(), null(), null());
    }
}

#[test]
fn a_value_that_is_null_is_told_when_the_op_runs() {
    let context = Context::new();
    let a = Handle::floats(&[1.0]);
    let squeeze = || context.op("Squeeze").unwrap().of(&[&a]);
    let broken = [squeeze(), squeeze(), squeeze()];
    // SAFETY: null pointers and negative counts are noted.
    unsafe {
        TFE_OpSetAttrIntList(broken[0].0, c"squeeze_dims".as_ptr(), null(), 2);
        TFE_OpSetAttrIntList(broken[1].0, c"squeeze_dims".as_ptr(), null(), -1);
        TFE_OpSetAttrInt(broken[2].0, null(), 1);
    }
    fails(broken[0].run_one(), INVALID_ARGUMENT, "attr 'squeeze_dims'");
    fails(broken[1].run_one(), INVALID_ARGUMENT, "negative");
    fails(broken[2].run_one(), INVALID_ARGUMENT, "null");
}
