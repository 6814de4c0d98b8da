//! What tensors are made of: numbers, strings, arrays of them in any depth, slices, vectors, arrays of `ndarray`.

use std::borrow::Cow;

use ndarray::{ArrayBase, Data, Dimension};

use super::{Tensor, scratch};
use crate::dtype::{Element, TString};
use crate::error::{Error, Result};
use crate::shape::Shape;

/// What a tensor can be made of: an element or a string for a scalar; arrays, slices, vectors and `ndarray`'s arrays of them,
/// one in the other too. The dtype is that of the Rust type.
#[diagnostic::on_unimplemented(
    message = "no tensor can be made of `{Self}`",
    note = "tensors are made of elements such as f32, of strings, and of arrays, slices, vectors and `ndarray` arrays of them"
)]
pub trait IntoTensor {
    /// Whether the value may be a literal without a suffix, such as `2` or `[0.5, 1.0]`: an `i32` or `f64`, or an array of
    /// them by value, be it written in place or a variable. As an input of an op it takes the dtype that the op asks for,
    /// if that can be; see [`Operand::Literal`](crate::graph::Operand::Literal). References, slices and vectors are data,
    /// which keeps its dtype.
    const IS_LITERAL: bool = false;

    /// The tensor.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if vectors or slices side by side differ in length; RESOURCE_EXHAUSTED if there is not enough memory.
    fn into_tensor(self) -> Result<Tensor>;
}

impl Tensor {
    /// A tensor of a number, a string, or what holds them.
    ///
    /// ```
    /// use kernlink_framework::tensor::Tensor;
    ///
    /// let scalar = Tensor::new(0.5f32)?;
    /// let matrix = Tensor::new([[1.0f32, 2.0], [3.0, 4.0]])?;
    /// let words = Tensor::new(["one", "two"])?;
    /// let rows = Tensor::new(vec![vec![1u8, 2, 3], vec![4, 5, 6]])?;
    /// assert_eq!((scalar.rank(), matrix.shape().dims(), rows.shape().dims()), (0, &[2, 2][..], &[2, 3][..]));
    /// # let _ = words;
    /// # Ok::<(), kernlink_framework::Error>(())
    /// ```
    ///
    /// # Errors
    /// INVALID_ARGUMENT if vectors or slices side by side differ in length; RESOURCE_EXHAUSTED if there is not enough memory.
    #[track_caller]
    pub fn new(value: impl IntoTensor) -> Result<Tensor> {
        value.into_tensor()
    }
}

impl IntoTensor for Tensor {
    #[inline]
    fn into_tensor(self) -> Result<Tensor> {
        Ok(self)
    }
}

impl IntoTensor for &Tensor {
    #[inline]
    fn into_tensor(self) -> Result<Tensor> {
        Ok(self.clone())
    }
}

impl<T: Element> IntoTensor for T {
    const IS_LITERAL: bool = <T as Nested>::HOLDS_LITERALS;

    #[inline]
    fn into_tensor(self) -> Result<Tensor> {
        Ok(Tensor::scalar(self))
    }
}

impl<T: Nested> IntoTensor for &[T] {
    fn into_tensor(self) -> Result<Tensor> {
        let mut dims = vec![self.len()];
        T::dims(self, &mut dims)?;
        Tensor::from_elements(dims, &T::elements(self)?)
    }
}

/// Strings, arrays and vectors, by references to what they hold.
macro_rules! by_reference {
    ($([$($parameter:tt)*] $t:ty: $is_literal:expr, |$value:ident| $tensor:expr;)*) => {$(
        impl<$($parameter)*> IntoTensor for $t {
            const IS_LITERAL: bool = $is_literal;

            fn into_tensor(self) -> Result<Tensor> {
                let $value = self;
                $tensor
            }
        }
    )*};
}
by_reference! {
    [] &str: false, |text| Ok(Tensor::from(text));
    [] String: false, |text| Ok(Tensor::from(&*text));
    [] &String: false, |text| Ok(Tensor::from(&**text));
    [T: Nested, const N: usize] [T; N]: T::HOLDS_LITERALS, |array| array.as_slice().into_tensor();
    [T: Nested, const N: usize] &[T; N]: false, |array| array.as_slice().into_tensor();
    [T: Nested] Vec<T>: false, |vec| vec.as_slice().into_tensor();
    [T: Nested] &Vec<T>: false, |vec| vec.as_slice().into_tensor();
    [S: Data<Elem: Element>, D: Dimension] ArrayBase<S, D>: false, |array| (&array).into_tensor();
}

impl<S: Data<Elem: Element>, D: Dimension> IntoTensor for &ArrayBase<S, D> {
    fn into_tensor(self) -> Result<Tensor> {
        let shape = Shape::from(self.shape());
        match self.as_slice() {
            Some(elements) => Tensor::from_elements(shape, elements),
            None => Tensor::from_elements(shape, &scratch::collected(self.iter().cloned())?),
        }
    }
}

/// What arrays, slices and vectors hold of which tensors are made: elements and strings, and such in turn.
#[diagnostic::on_unimplemented(message = "no tensor can be made of an array of `{Self}`")]
pub trait Nested: Sized {
    /// The tensor's elements.
    #[doc(hidden)]
    type Element: Element;

    /// As [`IntoTensor::IS_LITERAL`].
    #[doc(hidden)]
    const HOLDS_LITERALS: bool = false;

    /// Adds the sizes of the dimensions within each of the items.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they differ.
    #[doc(hidden)]
    fn dims(items: &[Self], dims: &mut Vec<usize>) -> Result<()>;

    /// All that is in the items.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    #[doc(hidden)]
    fn elements(items: &[Self]) -> Result<Cow<'_, [Self::Element]>>;
}

impl<T: Element> Nested for T {
    type Element = T;
    const HOLDS_LITERALS: bool = T::IS_OF_LITERALS;

    fn dims(_: &[T], _: &mut Vec<usize>) -> Result<()> {
        Ok(())
    }

    fn elements(items: &[T]) -> Result<Cow<'_, [T]>> {
        Ok(Cow::Borrowed(items))
    }
}

macro_rules! texts {
    ($($t:ty),*) => {$(
        impl Nested for $t {
            type Element = TString;

            fn dims(_: &[$t], _: &mut Vec<usize>) -> Result<()> {
                Ok(())
            }

            fn elements<'a>(items: &'a [$t]) -> Result<Cow<'a, [TString]>> {
                Ok(Cow::Owned(scratch::collected(items.iter().map(|text| TString::from(text as &str)))?))
            }
        }
    )*};
}
texts!(&str, String, &String);

impl<T: Nested, const N: usize> Nested for [T; N] {
    type Element = T::Element;
    const HOLDS_LITERALS: bool = T::HOLDS_LITERALS;

    fn dims(items: &[[T; N]], dims: &mut Vec<usize>) -> Result<()> {
        dims.push(N);
        T::dims(items.as_flattened(), dims)
    }

    fn elements(items: &[[T; N]]) -> Result<Cow<'_, [T::Element]>> {
        T::elements(items.as_flattened())
    }
}

/// The dimensions within slices, which must be the same for all.
fn dims_of_slices<'a, T: Nested + 'a>(slices: impl Iterator<Item = &'a [T]>, dims: &mut Vec<usize>) -> Result<()> {
    let mut first: Option<Vec<usize>> = None;
    for slice in slices {
        let mut within = vec![slice.len()];
        T::dims(slice, &mut within)?;
        match &first {
            None => first = Some(within),
            Some(first) if *first == within => {}
            Some(first) => {
                let message = format!("a tensor cannot be made of rows of different shapes: {first:?} and {within:?}");
                return Err(Error::invalid_argument(message));
            }
        }
    }
    match first {
        Some(within) => dims.extend(within),
        None => {
            dims.push(0);
            T::dims(&[], dims)?;
        }
    }
    Ok(())
}

macro_rules! slices {
    ($($t:ty),*) => {$(
        impl<T: Nested> Nested for $t {
            type Element = T::Element;

            fn dims(items: &[$t], dims: &mut Vec<usize>) -> Result<()> {
                dims_of_slices(items.iter().map(|item| &item[..]), dims)
            }

            fn elements<'a>(items: &'a [$t]) -> Result<Cow<'a, [T::Element]>> {
                let mut elements = Vec::new();
                for item in items {
                    scratch::append(&mut elements, &T::elements(item)?)?;
                }
                Ok(Cow::Owned(elements))
            }
        }
    )*};
}
slices!(Vec<T>, &[T]);

#[cfg(test)]
#[allow(clippy::needless_borrows_for_generic_args, reason = "references are tested, too")]
mod tests {
    use ndarray::{Array1, array};

    use super::*;
    use crate::dtype::Wrapping;

    fn of<T: Element>(value: impl IntoTensor) -> (Vec<usize>, Vec<T>) {
        let tensor = Tensor::new(value).unwrap();
        (tensor.shape().dims().to_vec(), tensor.as_slice::<T>().unwrap().to_vec())
    }

    #[test]
    fn numbers_in_any_depth() {
        assert_eq!(of(2.5f32), (vec![], vec![2.5f32]));
        assert_eq!(of([1u8, 2]), (vec![2], vec![1u8, 2]));
        assert_eq!(of(&[true, false]), (vec![2], vec![true, false]));
        assert_eq!(of([[[1, 2, 3]], [[4, 5, 6]]]), (vec![2, 1, 3], vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(of(&[[1i64, 2], [3, 4]][..]), (vec![2, 2], vec![1i64, 2, 3, 4]));
        assert_eq!(of(vec![0.5, 1.5]), (vec![2], vec![0.5, 1.5]));
        assert_eq!(of(&vec![vec![[1, 2]], vec![[3, 4]]]), (vec![2, 1, 2], vec![1, 2, 3, 4]));
        assert_eq!(of([[0.0f32; 3]; 0]), (vec![0, 3], vec![0.0f32; 0]));
        assert_eq!(of(Vec::<Vec<[f32; 2]>>::new()), (vec![0, 0, 2], vec![0.0f32; 0]));
        assert_eq!(of(&Tensor::scalar(1i32)), (vec![], vec![1]));
    }

    #[test]
    fn arrays_by_value_are_literals_and_by_reference_data() {
        fn is_literal<T: IntoTensor>(_: T) -> bool {
            T::IS_LITERAL
        }
        let weights = [[0.5, 1.5]];
        assert!(is_literal(2) && is_literal(0.5) && is_literal(weights) && is_literal([1, 2]));
        assert!(!is_literal(&weights) && !is_literal(&[1, 2]));
        assert!(
            !is_literal(Wrapping(2i32)) && !is_literal(Wrapping(0.5f64)) && !is_literal([[Wrapping(2i32)]]),
            "whoever wraps a number says its dtype"
        );
        assert!(
            !is_literal(&weights[..]) && !is_literal(weights.to_vec()) && !is_literal(2i64) && !is_literal([0.5f32])
        );
    }

    #[test]
    fn texts_are_strings() {
        let words = || vec![TString::from("a"), TString::from("bc")];
        assert_eq!(of("a"), (vec![], vec![TString::from("a")]));
        assert_eq!(of(&"a".to_owned()), of::<TString>("a".to_owned()));
        assert_eq!(of(["a", "bc"]), (vec![2], words()));
        assert_eq!(of(&["a", "bc"][..]), (vec![2], words()));
        assert_eq!(of(vec!["a".to_owned(), "bc".to_owned()]), (vec![2], words()));
        assert_eq!(of([["a"], ["bc"]]), (vec![2, 1], words()));
        assert_eq!(of(words()), (vec![2], words()));
    }

    #[test]
    fn arrays_of_ndarray_keep_their_logical_order() {
        let matrix = array![[1, 2, 3], [4, 5, 6]];
        assert_eq!(of(&matrix), (vec![2, 3], vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(of(matrix.t()), (vec![3, 2], vec![1, 4, 2, 5, 3, 6]));
        assert_eq!(of(matrix.view()), of::<i32>(matrix.clone()));
        assert_eq!(of(Array1::<f32>::zeros(0)), (vec![0], vec![0.0f32; 0]));
    }

    #[test]
    fn rows_of_different_length_are_refused() {
        let error = Tensor::new(vec![vec![1, 2], vec![3]]).unwrap_err();
        assert!(error.message().contains("rows of different shapes: [2] and [1]"), "{error}");
        assert!(Tensor::new([&[[1], [2]][..], &[[3]][..]]).is_err());
    }
}
