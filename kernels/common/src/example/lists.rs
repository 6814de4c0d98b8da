//! Lists of values, of a dtype that is known when the op runs.

use kernlink::dtype::{DataType, TString};
use kernlink::error::Result;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

use super::wire::{Reader, Value, list_span};

/// Runs code for the Rust type of a dtype that features have; another dtype is INVALID_ARGUMENT.
#[macro_export]
#[doc(hidden)]
macro_rules! with_feature_type {
    ($dtype:expr, $T:ident => $code:expr) => {
        match $dtype {
            kernlink::dtype::DataType::Int64 => {
                type $T = i64;
                $code
            }
            kernlink::dtype::DataType::Float => {
                type $T = f32;
                $code
            }
            kernlink::dtype::DataType::String => {
                type $T = kernlink::dtype::TString;
                $code
            }
            dtype => kernlink::bail!(InvalidArgument, "features have no lists of {dtype}"),
        }
    };
}
pub use crate::with_feature_type as with_type;

/// Values that are appended to.
pub enum List {
    /// Integers.
    Int64(Vec<i64>),
    /// Floats.
    Float(Vec<f32>),
    /// Strings.
    Bytes(Vec<TString>),
}

impl List {
    pub(super) fn new(dtype: DataType) -> Result<List> {
        Ok(match dtype {
            DataType::Int64 => List::Int64(Vec::new()),
            DataType::Float => List::Float(Vec::new()),
            DataType::String => List::Bytes(Vec::new()),
            dtype => bail!(InvalidArgument, "features have no lists of {dtype}"),
        })
    }

    pub(super) fn len(&self) -> usize {
        match self {
            List::Int64(list) => list.len(),
            List::Float(list) => list.len(),
            List::Bytes(list) => list.len(),
        }
    }

    /// Appends the values of a feature, behind whose list's key the reader stands; `None` if they are malformed.
    pub(super) fn append(&mut self, feature: &mut Reader<'_>, source: &TString) -> Result<Option<()>> {
        fn append<T: Value>(list: &mut Vec<T>, feature: &mut Reader<'_>, source: &TString) -> Result<Option<()>> {
            match list_span::<T>(feature) {
                Some(span) => T::append(span, source, list),
                None => Ok(None),
            }
        }
        match self {
            List::Int64(list) => append(list, feature, source),
            List::Float(list) => append(list, feature, source),
            List::Bytes(list) => append(list, feature, source),
        }
    }

    /// Copies values to a tensor, at the place `at`; strings are moved.
    pub(super) fn put(&mut self, from: std::ops::Range<usize>, to: &mut Tensor, at: usize) -> Result<()> {
        let end = at + from.len();
        ensure!(end <= to.num_elements(), Internal, "{} values at {at} are too many for {}", from.len(), to.shape());
        match self {
            List::Int64(list) => to.as_mut_slice::<i64>()?[at..end].copy_from_slice(&list[from]),
            List::Float(list) => to.as_mut_slice::<f32>()?[at..end].copy_from_slice(&list[from]),
            List::Bytes(list) => {
                let places = &mut to.as_mut_slice::<TString>()?[at..end];
                places.iter_mut().zip(&mut list[from]).for_each(|(place, string)| *place = std::mem::take(string));
            }
        }
        Ok(())
    }
}
