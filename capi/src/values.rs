//! Values of attrs as C passes them, to graphs and to ops that run at once alike, and what is said of them.

use std::ffi::{c_char, c_int, c_void};

use kernlink::attr::{AttrBase, AttrValue, FunctionRef};
use kernlink::dtype::TString;
use kernlink::proto::{self, Message as _};
use kernlink::shape::{MAX_RANK, PartialShape};
use kernlink::tensor::Tensor;
use kernlink::{Error, Result};
use kernlink_library::host::CTensor;

use crate::abi::TF_Tensor;
use crate::pointer::{bytes, slice};

/// Setters of attrs by values that C passes. `attr` of what is described sets an attr, and keeps what is wrong with the value until
/// later; `checked_attr` has a status that tells it.
macro_rules! setters {
    (
        $described:ty => $behind:ident;
        attr { $($(#[$doc:meta])* $name:ident($($value:ident: $type:ty),*) = $make:expr;)* }
        checked_attr {
            $($(#[$checked_doc:meta])* $checked:ident($($checked_value:ident: $checked_type:ty),*) = $checked_make:expr;)*
        }
    ) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                described: *mut $described,
                attr_name: *const std::ffi::c_char,
                $($value: $type),*
            ) {
                // SAFETY: as said in `pointer`.
                unsafe { $behind::attr(described, attr_name, || $make) };
            }
        )*
        $(
            $(#[$checked_doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $checked(
                described: *mut $described,
                attr_name: *const std::ffi::c_char,
                $($checked_value: $checked_type,)*
                status: *mut $crate::abi::TF_Status,
            ) {
                // SAFETY: as said in `pointer`.
                unsafe { $behind::checked_attr(described, attr_name, status, || $checked_make) };
            }
        )*
    };
}
pub(crate) use setters;

/// What is made of each element of an array.
///
/// # Safety
/// As said in `pointer`.
pub(crate) unsafe fn list<T, V>(values: *const T, count: c_int, make: impl Fn(&T) -> Result<V>) -> Result<Vec<V>> {
    // SAFETY: as the caller says.
    unsafe { slice("values", values, count) }?.iter().map(make).collect()
}

/// What is made of each of several byte strings.
///
/// # Safety
/// As said in `pointer`.
pub(crate) unsafe fn byte_strings<T>(
    values: *const *const c_void,
    lengths: *const usize,
    count: c_int,
    make: impl Fn(&[u8]) -> Result<T>,
) -> Result<Vec<T>> {
    // SAFETY: as the caller says.
    unsafe {
        let (values, lengths) = (slice("values", values, count)?, slice("lengths", lengths, count)?);
        values.iter().zip(lengths).map(|(value, &length)| make(bytes("a value", value.cast(), length)?)).collect()
    }
}

/// A string of so many bytes.
///
/// # Safety
/// As said in `pointer`.
pub(crate) unsafe fn string(value: *const c_void, length: usize) -> Result<TString> {
    // SAFETY: as the caller says.
    unsafe { bytes("the value", value.cast(), length) }.map(TString::from)
}

/// Several strings.
///
/// # Safety
/// As said in `pointer`.
pub(crate) unsafe fn strings(
    values: *const *const c_void,
    lengths: *const usize,
    count: c_int,
) -> Result<Vec<TString>> {
    // SAFETY: as the caller says.
    unsafe { byte_strings(values, lengths, count, |bytes| Ok(TString::from(bytes))) }
}

/// The function whose name has so many bytes, without attrs.
///
/// # Safety
/// As said in `pointer`.
pub(crate) unsafe fn function_named(name: *const c_char, length: usize) -> Result<FunctionRef> {
    // SAFETY: as the caller says.
    let name = std::str::from_utf8(unsafe { bytes("the function's name", name, length) }?);
    let name = name.map_err(|_| Error::invalid_argument("a function's name is no UTF-8"))?;
    Ok(FunctionRef { name: name.to_owned(), ..FunctionRef::default() })
}

/// A shape: -1 for a size or a rank that is not known.
///
/// # Safety
/// As said in `pointer`.
///
/// # Errors
/// INVALID_ARGUMENT for null, and for a rank above [`MAX_RANK`], of which no size is read.
pub(crate) unsafe fn partial_shape(dims: *const i64, rank: c_int) -> Result<PartialShape> {
    if rank < 0 {
        return Ok(PartialShape::unknown());
    }
    if rank as usize > MAX_RANK {
        return Err(Error::invalid_argument(format!(
            "the value has {rank} dimensions which is over the limit of {MAX_RANK}"
        )));
    }
    // SAFETY: as the caller says.
    let dims: Vec<i64> = unsafe { slice("dims", dims, rank) }?.iter().map(|&dim| dim.max(-1)).collect();
    PartialShape::from_dims(&dims)
}

/// Several shapes.
///
/// # Safety
/// As said in `pointer`.
pub(crate) unsafe fn partial_shapes(
    dims: *const *const i64,
    ranks: *const c_int,
    count: c_int,
) -> Result<Vec<PartialShape>> {
    // SAFETY: as the caller says.
    unsafe {
        let (dims, ranks) = (slice("dims", dims, count)?, slice("ranks", ranks, count)?);
        dims.iter().zip(ranks).map(|(&dims, &rank)| partial_shape(dims, rank)).collect()
    }
}

/// The shape of a serialized TensorShapeProto.
pub(crate) fn shape_message(bytes: &[u8]) -> Result<PartialShape> {
    let message = proto::TensorShapeProto::decode(bytes);
    let message = message.map_err(|_| Error::invalid_argument("Unparseable TensorShapeProto"))?;
    proto::shape_from_proto(&message)
}

/// The tensor as an attr keeps it: with elements of its own, as C may write to the caller's afterwards.
///
/// # Safety
/// As said in `pointer`.
pub(crate) unsafe fn constant(tensor: *const TF_Tensor) -> Result<Tensor> {
    // SAFETY: as the caller says.
    let mut tensor = unsafe { CTensor::from_c(tensor) }?.to_tensor()?;
    tensor.make_unique()?;
    Ok(tensor)
}

/// The value of a serialized AttrValue.
pub(crate) fn attr_message(bytes: &[u8]) -> Result<AttrValue> {
    let message = proto::AttrValue::decode(bytes);
    let message = message.map_err(|_| Error::invalid_argument("Unparseable AttrValue proto"))?;
    proto::attr_from_proto(&message)
}

/// What `TF_AttrMetadata` calls a kind of value.
pub(crate) fn attr_type(base: AttrBase) -> c_int {
    match base {
        AttrBase::String => 0,
        AttrBase::Int => 1,
        AttrBase::Float => 2,
        AttrBase::Bool => 3,
        AttrBase::Type => 4,
        AttrBase::Shape => 5,
        AttrBase::Tensor => 6,
        AttrBase::Func => 8,
    }
}

/// What TensorFlow says, and only that, of an attr that a node has not.
pub(crate) fn missing(node: &str, attr: &str) -> Error {
    Error::not_found(format!("No attr named '{attr}' in NodeDef:\n\t [[{{{{node {node}}}}}]]"))
}
