//! What a gradient's function returns: what flows on to each input argument of the op.

use super::value::{Gradient, IndexedSlices, NoGradient, Value};
use crate::error::Result;

/// What flows on to the inputs of an input argument.
#[derive(Clone, Debug)]
pub enum InputGradient {
    /// To the one input.
    One(Option<Gradient>),
    /// To each of a list; nothing to any of them if it is empty.
    List(Vec<Option<Gradient>>),
}

/// What flows on to each input argument, in order.
pub type InputGradients = Vec<InputGradient>;

/// What a gradient's function may return.
#[diagnostic::on_unimplemented(
    message = "a gradient's function cannot return `{Self}`",
    label = "no result of a gradient",
    note = "it returns a `Result` with a gradient for each input, in order: a tuple or an array of `Value`, `Option<Value>`, \
            `Gradient`, `NoGradient` and, for lists, `Vec<Value>` or `Vec<Option<Value>>`; or one of these"
)]
pub trait GradientResult {
    /// For how many input arguments it has a gradient, and which of these are lists.
    const INPUTS: &'static [bool];

    /// The gradients.
    ///
    /// # Errors
    /// Those of the function.
    fn into_gradients(self) -> Result<InputGradients>;
}

/// One gradient of those that a function returns.
trait Part {
    const IS_LIST: bool;

    fn into_part(self) -> InputGradient;
}

macro_rules! parts {
    ($($ty:ty, $is_list:literal, $value:ident => $part:expr;)*) => {$(
        impl Part for $ty {
            const IS_LIST: bool = $is_list;

            fn into_part(self) -> InputGradient {
                let $value = self;
                $part
            }
        }

        impl GradientResult for Result<$ty> {
            const INPUTS: &'static [bool] = &[$is_list];

            fn into_gradients(self) -> Result<InputGradients> {
                Ok(vec![self?.into_part()])
            }
        }

        impl<const N: usize> GradientResult for Result<[$ty; N]> {
            const INPUTS: &'static [bool] = &[$is_list; N];

            fn into_gradients(self) -> Result<InputGradients> {
                Ok(self?.into_iter().map(Part::into_part).collect())
            }
        }
    )*};
}

parts! {
    Value, false, value => InputGradient::One(Some(value.into()));
    Option<Value>, false, value => InputGradient::One(value.map(Gradient::from));
    Gradient, false, value => InputGradient::One(Some(value));
    Option<Gradient>, false, value => InputGradient::One(value);
    IndexedSlices, false, value => InputGradient::One(Some(value.into()));
    NoGradient, false, _value => InputGradient::One(None);
    Vec<Value>, true, values => InputGradient::List(values.into_iter().map(|value| Some(value.into())).collect());
    Vec<Option<Value>>, true, values => InputGradient::List(values.into_iter().map(|value| value.map(Gradient::from)).collect());
    Vec<NoGradient>, true, _values => InputGradient::List(Vec::new());
}

macro_rules! tuples {
    ($($($part:ident)*;)*) => {$(
        impl<$($part: Part),*> GradientResult for Result<($($part,)*)> {
            const INPUTS: &'static [bool] = &[$($part::IS_LIST),*];

            #[allow(non_snake_case, reason = "a parameter is called as its type")]
            fn into_gradients(self) -> Result<InputGradients> {
                let ($($part,)*) = self?;
                Ok(vec![$($part.into_part()),*])
            }
        }
    )*};
}

tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
    A B C D E F G H I J K L;
}
