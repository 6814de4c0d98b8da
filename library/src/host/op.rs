//! `TF_OpDefinitionBuilder`: declarations of ops.

use std::ffi::{c_char, c_int};
use std::ptr;

use kernlink_framework::op::OpDefBuilder;
use kernlink_framework::{Error, Result};

use super::registration::{PendingOp, failed, take_op};
use super::{guarded, report, text};
use crate::abi::{ShapeFunction, TF_OpDefinitionBuilder, TF_Status};

/// What is behind a `TF_OpDefinitionBuilder`.
struct Builder {
    /// `None` only while a call changes it.
    op: Option<OpDefBuilder>,
    shape_function: Option<ShapeFunction>,
    /// The first call that failed, which had no status to say so.
    failure: Option<Error>,
}

/// Changes the declaration; what fails is kept for the registration.
///
/// # Safety
/// The pointer is null or a builder that nothing else uses.
unsafe fn change(builder: *mut TF_OpDefinitionBuilder, change: impl FnOnce(OpDefBuilder) -> Result<OpDefBuilder>) {
    // SAFETY: as the caller says.
    let Some(builder) = (unsafe { builder.cast::<Builder>().as_mut() }) else { return };
    guarded((), || {
        let Some(op) = builder.op.take() else { return };
        let before = op.clone();
        match change(op) {
            Ok(changed) => builder.op = Some(changed),
            Err(error) => {
                builder.failure.get_or_insert(error);
                builder.op = Some(before);
            }
        }
    });
}

/// What is wrong with a declaration, by the names of the functions that it was made with.
fn in_c(error: &Error) -> Error {
    let mut message = error.message().to_owned();
    for (own, function) in [("attr", "AddAttr"), ("input", "AddInput"), ("output", "AddOutput")] {
        for before in [" ", "`"] {
            message = message
                .replace(&format!("{before}{own}(\""), &format!("{before}TF_OpDefinitionBuilder{function}(op, \""));
        }
    }
    Error::new(error.code(), message)
}

/// Begins the declaration of an op.
pub unsafe extern "C" fn TF_NewOpDefinitionBuilder(name: *const c_char) -> *mut TF_OpDefinitionBuilder {
    guarded(ptr::null_mut(), || {
        // SAFETY: as said in `host`.
        let (op, failure) = match unsafe { text("the op's name", name) } {
            Ok(name) => (OpDefBuilder::new(name), None),
            Err(error) => (OpDefBuilder::new(""), Some(error)),
        };
        Box::into_raw(Box::new(Builder { op: Some(op), shape_function: None, failure })).cast()
    })
}

/// Registers the op, and frees the builder. An op that contradicts itself is INVALID_ARGUMENT, with all that is wrong with it.
pub unsafe extern "C" fn TF_RegisterOpDefinition(builder: *mut TF_OpDefinitionBuilder, status: *mut TF_Status) {
    let body = || {
        if builder.is_null() {
            return Err(Error::invalid_argument("the op's builder is a null pointer"));
        }
        // SAFETY: it came from `TF_NewOpDefinitionBuilder`, and is freed once.
        let builder = *unsafe { Box::from_raw(builder.cast::<Builder>()) };
        let registered = match (builder.failure, builder.op) {
            (Some(failure), _) => Err(failure),
            (None, Some(op)) => {
                let def = op.build().map_err(|error| in_c(&error));
                def.and_then(|def| take_op(PendingOp { def, shape_function: builder.shape_function }))
            }
            (None, None) => Err(Error::internal("a declaration is put back after each change")),
        };
        registered.inspect_err(failed)
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), body) };
}

/// Frees a builder that is not registered.
pub unsafe extern "C" fn TF_DeleteOpDefinitionBuilder(builder: *mut TF_OpDefinitionBuilder) {
    if !builder.is_null() {
        // SAFETY: it came from `TF_NewOpDefinitionBuilder`, and is freed once.
        drop(unsafe { Box::from_raw(builder.cast::<Builder>()) });
    }
}

macro_rules! specs {
    ($($(#[$doc:meta])* $name:ident => $method:ident, $what:literal;)*) => {
        $(
            $(#[$doc])*
            pub unsafe extern "C" fn $name(builder: *mut TF_OpDefinitionBuilder, spec: *const c_char) {
                // SAFETY: as said in `host`.
                unsafe { change(builder, |op| Ok(op.$method(text($what, spec)?))) };
            }
        )*
    };
}

specs! {
    /// Adds an attr, such as `T: {float, int32} = DT_FLOAT`.
    TF_OpDefinitionBuilderAddAttr => attr, "the attr's spec";
    /// Adds an input, such as `x: N * T`.
    TF_OpDefinitionBuilderAddInput => input, "the input's spec";
    /// Adds an output.
    TF_OpDefinitionBuilderAddOutput => output, "the output's spec";
}

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident => $method:ident;)*) => {
        $(
            $(#[$doc])*
            pub unsafe extern "C" fn $name(builder: *mut TF_OpDefinitionBuilder, value: bool) {
                // SAFETY: as said in `host`.
                unsafe { change(builder, |op| Ok(if value { op.$method() } else { op })) };
            }
        )*
    };
}

flags! {
    /// Says that `op(a, b)` is `op(b, a)`.
    TF_OpDefinitionBuilderSetIsCommutative => commutative;
    /// Says that inputs can be taken in any order and grouping.
    TF_OpDefinitionBuilderSetIsAggregate => aggregate;
    /// Says that the op has state or effects.
    TF_OpDefinitionBuilderSetIsStateful => stateful;
    /// Says that an input may be a reference to a variable without a value.
    TF_OpDefinitionBuilderSetAllowsUninitializedInput => allows_uninitialized_input;
}

/// Says from which version of GraphDef on the op is refused, and what to use instead.
pub unsafe extern "C" fn TF_OpDefinitionBuilderDeprecated(
    builder: *mut TF_OpDefinitionBuilder,
    version: c_int,
    explanation: *const c_char,
) {
    // SAFETY: as said in `host`.
    unsafe { change(builder, |op| Ok(op.deprecated(version, text("the explanation", explanation)?))) };
}

/// Sets the shape function.
pub unsafe extern "C" fn TF_OpDefinitionBuilderSetShapeInferenceFunction(
    builder: *mut TF_OpDefinitionBuilder,
    function: Option<ShapeFunction>,
) {
    // SAFETY: as said in `host`.
    if let Some(builder) = unsafe { builder.cast::<Builder>().as_mut() } {
        builder.shape_function = function;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_in_terms_of_c() {
        let said = |op: OpDefBuilder| in_c(&op.build().unwrap_err()).message().to_owned();
        let op = || OpDefBuilder::new("Own");
        let advice = said(op().input("x: S"));
        assert!(advice.contains("declare it with `TF_OpDefinitionBuilderAddAttr(op, \"S: type\")`"), "{advice}");
        assert!(advice.contains(": TF_OpDefinitionBuilderAddInput(op, \"x: S\")"), "{advice}");
        for text in [said(op().attr("T: nonsense")), said(op().output("y: N * float")), said(op().output("y")), advice]
        {
            assert!(!text.contains("attr(\"") && !text.contains(" output(\"") && !text.contains(" input(\""), "{text}");
        }
    }
}
