//! The types that parameters of a gradient's function may have, and what they are given.

use super::place::{ParameterKind, Place, Side};
use super::scope::GradientScope;
use super::value::{Gradient, ShapeOf, Value};
use crate::attr::{FromAttrValue, FunctionRef};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::op::AttrBase;
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// A type that a parameter of a gradient's function may have.
#[diagnostic::on_unimplemented(
    message = "a gradient's function cannot take a `{Self}`",
    label = "no parameter of a gradient",
    note = "it takes `Value`, `ShapeOf` or vectors of them for inputs and outputs, `Value`, `Option<Value>`, vectors of \
            them or `Gradient` for what flows back to an output `y` as `d_y`, and attrs as `bool`, `i64`, `f32`, `String`, \
            `DataType`, `PartialShape`, `Tensor`, `FunctionRef` or vectors of them"
)]
pub trait Parameter: Sized {
    /// What it takes.
    const KIND: ParameterKind;

    /// Takes it.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the node does not have it; and what the ops meet that make a gradient dense, or zeros.
    fn take(scope: &mut GradientScope<'_>, place: Place) -> Result<Self>;
}

fn one<T>(values: Vec<T>) -> Result<T> {
    values.into_iter().next().ok_or_else(|| Error::invalid_argument("the node lacks an argument of the gradient"))
}

impl Parameter for Value {
    const KIND: ParameterKind = ParameterKind::Value;

    fn take(scope: &mut GradientScope<'_>, place: Place) -> Result<Value> {
        one(scope.values_at(place)?)
    }
}

impl Parameter for Vec<Value> {
    const KIND: ParameterKind = ParameterKind::Values;

    fn take(scope: &mut GradientScope<'_>, place: Place) -> Result<Vec<Value>> {
        scope.values_at(place)
    }
}

impl Parameter for ShapeOf {
    const KIND: ParameterKind = ParameterKind::Shape;

    fn take(scope: &mut GradientScope<'_>, place: Place) -> Result<ShapeOf> {
        one(scope.shapes_at(place)?)
    }
}

impl Parameter for Vec<ShapeOf> {
    const KIND: ParameterKind = ParameterKind::Shapes;

    fn take(scope: &mut GradientScope<'_>, place: Place) -> Result<Vec<ShapeOf>> {
        scope.shapes_at(place)
    }
}

impl Parameter for Option<Value> {
    const KIND: ParameterKind = ParameterKind::MaybeFlow;

    fn take(scope: &mut GradientScope<'_>, place: Place) -> Result<Option<Value>> {
        one(scope.flows_at(place)?)
    }
}

impl Parameter for Vec<Option<Value>> {
    const KIND: ParameterKind = ParameterKind::MaybeFlows;

    fn take(scope: &mut GradientScope<'_>, place: Place) -> Result<Vec<Option<Value>>> {
        scope.flows_at(place)
    }
}

impl Parameter for Gradient {
    const KIND: ParameterKind = ParameterKind::AnyFlow;

    fn take(scope: &mut GradientScope<'_>, place: Place) -> Result<Gradient> {
        scope.flow_at(place)
    }
}

macro_rules! attrs {
    ($($ty:ty: $base:ident,)*) => {$(
        impl Parameter for $ty {
            const KIND: ParameterKind = ParameterKind::Attr { base: AttrBase::$base, list: false };

            fn take(scope: &mut GradientScope<'_>, place: Place) -> Result<$ty> {
                attr(scope, place)
            }
        }

        impl Parameter for Vec<$ty> {
            const KIND: ParameterKind = ParameterKind::Attr { base: AttrBase::$base, list: true };

            fn take(scope: &mut GradientScope<'_>, place: Place) -> Result<Vec<$ty>> {
                attr(scope, place)
            }
        }
    )*};
}

attrs! {
    String: String,
    i64: Int,
    f32: Float,
    bool: Bool,
    DataType: Type,
    PartialShape: Shape,
    Tensor: Tensor,
    FunctionRef: Func,
}

fn attr<T: FromAttrValue>(scope: &GradientScope<'_>, place: Place) -> Result<T> {
    debug_assert_eq!(place.side, Side::Attr);
    scope.attrs().required(place.name)
}
