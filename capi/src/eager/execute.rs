//! `TFE_Execute`: the op runs.

use std::ffi::c_int;
use std::sync::Arc;

use kernlink::op::{ArgType, OpDef, Signature};
use kernlink::tensor::Tensor;
use kernlink::{Error, Result};
use kernlink_library::host::report;
use smallvec::SmallVec;

use super::handle::CHandle;
use super::op::COp;
use crate::abi::{TF_Status, TFE_Op, TFE_TensorHandle};
use crate::call::Call;
use crate::pointer::{borrow_mut, share_with_c, slice_mut};
use crate::values::missing;

impl COp {
    /// Runs the op, which gives its inputs away. `room` is how many results there is room for.
    fn run(&mut self, room: usize) -> Result<SmallVec<[Tensor; 2]>> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        self.device.clone()?;
        let Some(op) = self.op else { return self.call(room) };
        self.arrange(op)?;
        let COp { context, request, inputs, given, is_by_argument, .. } = self;
        let admit = |signature: &Signature| {
            has_room(signature, room)?;
            // Whoever holds an input alone may compute in its place.
            inputs.clear();
            given.clear();
            *is_by_argument = true;
            Ok(())
        };
        context.eager.execute(request, admit).map_err(|error| self.explained(op, error))
    }

    /// Calls the function.
    fn call(&mut self, room: usize) -> Result<SmallVec<[Tensor; 2]>> {
        let (library, name) = (self.context.eager.function_library(), self.name());
        if !library.has_function(name) {
            return Err(Error::not_found(format!("Failed to find function '{name}'")));
        }
        let call = Call::new(&library, name, &self.request.attrs)?;
        if call.arguments.len() != self.inputs.len() {
            let (expected, given) = (call.arguments.len(), self.inputs.len());
            return Err(Error::invalid_argument(format!("expected {expected} inputs, got {given}")));
        }
        for (index, (input, expected)) in self.inputs.iter().zip(&call.arguments).enumerate() {
            let actual = input.tensor.dtype();
            if actual != *expected {
                return Err(Error::invalid_argument(format!(
                    "cannot compute {name} as input #{index}(zero-based) was expected to be a {expected} tensor but is a \
                     {actual} tensor"
                )));
            }
        }
        let mut request = call.of(self.inputs.iter().map(|input| input.tensor.clone()));
        request.device.clone_from(&self.request.device);
        let COp { context, inputs, given, .. } = self;
        context.eager.execute(&mut request, |signature| {
            has_room(signature, room)?;
            inputs.clear();
            given.clear();
            Ok(())
        })
    }

    /// The error, or that an attr is missing, which TensorFlow says first.
    #[cold]
    fn explained(&self, op: &OpDef, error: Error) -> Error {
        let is_implied = |attr: &str| {
            op.inputs.iter().any(|argument| {
                argument.number_attr.as_deref() == Some(attr)
                    || matches!(&argument.ty, ArgType::Attr(other) | ArgType::ListAttr(other) if **other == *attr)
            })
        };
        let is_missing = |attr: &str| self.request.attrs.get(attr).is_none() && !is_implied(attr);
        let attr = op.attrs.iter().find(|attr| attr.default.is_none() && is_missing(&attr.name));
        attr.map_or(error, |attr| missing(&op.name, &attr.name))
    }
}

fn has_room(signature: &Signature, room: usize) -> Result<()> {
    let count = signature.outputs.len();
    match count <= room {
        true => Ok(()),
        false => Err(Error::invalid_argument(format!("Expecting {count} outputs, but *num_retvals is {room}"))),
    }
}

/// Runs an op. `*num_retvals` is how many results there is room for, and becomes how many there are; they are the caller's to
/// delete. On failure neither is changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_Execute(
    op: *mut TFE_Op,
    retvals: *mut *mut TFE_TensorHandle,
    num_retvals: *mut c_int,
    status: *mut TF_Status,
) {
    let run = || {
        // SAFETY: as said in `pointer`.
        let (op, count) = unsafe { (borrow_mut(op)?, num_retvals.as_mut()) };
        let count = count.ok_or_else(|| Error::invalid_argument("num_retvals is a null pointer"))?;
        // SAFETY: as said in `pointer`.
        let places = unsafe { slice_mut("retvals", retvals, *count) }?;
        let results = op.run(places.len())?;
        let position = op.device.clone().unwrap_or_default();
        let device = op.context.device_name(position);
        *count = results.len() as c_int;
        for (place, result) in places.iter_mut().zip(results) {
            *place = share_with_c(Arc::new(CHandle::new(result, Some(device.clone()))));
        }
        Ok(())
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), run) };
}
