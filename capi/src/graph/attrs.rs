//! The attrs of operations, read.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use kernlink::attr::{AttrType, AttrValue, FromAttrValue};
use kernlink::dtype::{DataType, TString};
use kernlink::proto::{Message as _, attr_to_proto, shape_to_proto};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use kernlink::{Error, Result};
use kernlink_library::host::{CTensor, buffer_of, fill, report, text};

use super::shapes::write_dims;
use crate::abi::{TF_AttrMetadata, TF_Buffer, TF_DataType, TF_Operation, TF_Status, TF_Tensor};
use crate::pointer::{borrow, put, slice_mut};
use crate::values::{attr_type, missing};

/// An attr of an operation.
///
/// # Safety
/// As said in `pointer`.
unsafe fn attr(
    oper: *mut TF_Operation,
    name: *const c_char,
    absent: fn(operation: &str, attr: &str) -> Error,
) -> Result<(String, AttrValue)> {
    // SAFETY: as the caller says.
    let (operation, name) = unsafe { (borrow(oper.cast_const())?, text("the attr's name", name)?) };
    let state = operation.graph().read();
    match state.graph.node(operation.id).attrs.get(name) {
        Some(value) => Ok((name.to_owned(), value.clone())),
        None => Err(absent(operation.name_text(), name)),
    }
}

/// As some of TensorFlow's getters say it, with another code than [`missing`], which the others say.
fn no_attr(operation: &str, attr: &str) -> Error {
    Error::invalid_argument(format!("Operation '{operation}' has no attr named '{attr}'."))
}

/// What TensorFlow calls a kind of value.
fn kind_of(value: &AttrValue) -> String {
    value.ty().map_or_else(|| "list(any)".to_owned(), |ty| ty.to_string())
}

/// The value of an attr that is no list.
///
/// # Safety
/// As said in `pointer`.
unsafe fn scalar<T: FromAttrValue>(oper: *mut TF_Operation, name: *const c_char, kind: &str) -> Result<T> {
    // SAFETY: as the caller says.
    unsafe { scalar_or(oper, name, kind, missing) }
}

/// The value of an attr that is no list, or what `absent` says.
///
/// # Safety
/// As said in `pointer`.
unsafe fn scalar_or<T: FromAttrValue>(
    oper: *mut TF_Operation,
    name: *const c_char,
    kind: &str,
    absent: fn(operation: &str, attr: &str) -> Error,
) -> Result<T> {
    // SAFETY: as the caller says.
    let (_, value) = unsafe { attr(oper, name, absent) }?;
    let wrong = || {
        let found = kind_of(&value);
        Error::invalid_argument(format!("AttrValue had value with type '{found}' when '{kind}' expected"))
    };
    T::from_attr_value(&value).ok_or_else(wrong)
}

/// The values of an attr that is a list.
///
/// # Safety
/// As said in `pointer`.
unsafe fn list<T>(oper: *mut TF_Operation, name: *const c_char, kind: &str) -> Result<Vec<T>>
where
    Vec<T>: FromAttrValue,
{
    // SAFETY: as the caller says.
    unsafe { list_or(oper, name, kind, no_attr) }
}

/// The values of an attr that is a list, or what `absent` says.
///
/// # Safety
/// As said in `pointer`.
unsafe fn list_or<T>(
    oper: *mut TF_Operation,
    name: *const c_char,
    kind: &str,
    absent: fn(operation: &str, attr: &str) -> Error,
) -> Result<Vec<T>>
where
    Vec<T>: FromAttrValue,
{
    // SAFETY: as the caller says.
    let (name, value) = unsafe { attr(oper, name, absent) }?;
    // Without elements it is a list of any kind.
    if value.list_len() == Some(0) {
        return Ok(Vec::new());
    }
    let wrong = || {
        Error::invalid_argument(match value.list_len() {
            Some(_) => format!("Value for '{name}' is a {}, not a list({kind}).", kind_of(&value)),
            None => format!("Value for '{name}' is not a list."),
        })
    };
    Vec::from_attr_value(&value).ok_or_else(wrong)
}

/// Getters of attrs of one value, and of lists of it, which C gets as it is.
macro_rules! getters {
    ($(
        $(#[$doc:meta])* $name:ident,
        $(#[$list_doc:meta])* $list:ident: $kind:literal, $type:ty => $c:ty = $convert:expr;
    )*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                oper: *mut TF_Operation,
                attr_name: *const c_char,
                value: *mut $c,
                status: *mut TF_Status,
            ) {
                let convert: fn($type) -> $c = $convert;
                // SAFETY: as said in `pointer`.
                unsafe {
                    report(status, (), || {
                        put(value, convert(scalar::<$type>(oper, attr_name, $kind)?));
                        Ok(())
                    });
                }
            }

            $(#[$list_doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $list(
                oper: *mut TF_Operation,
                attr_name: *const c_char,
                values: *mut $c,
                max_values: c_int,
                status: *mut TF_Status,
            ) {
                let convert: fn($type) -> $c = $convert;
                // SAFETY: as said in `pointer`.
                unsafe {
                    report(status, (), || {
                        let found = list::<$type>(oper, attr_name, $kind)?;
                        for (place, value) in slice_mut("values", values, max_values)?.iter_mut().zip(found) {
                            *place = convert(value);
                        }
                        Ok(())
                    });
                }
            }
        )*
    };
}

getters! {
    /// An attr that is an integer.
    TF_OperationGetAttrInt,
    /// An attr that is a list of integers, of which as many are written as there is room for.
    TF_OperationGetAttrIntList: "int", i64 => i64 = |value| value;
    /// An attr that is a float.
    TF_OperationGetAttrFloat,
    /// An attr that is a list of floats, of which as many are written as there is room for.
    TF_OperationGetAttrFloatList: "float", f32 => f32 = |value| value;
    /// An attr that is a bool.
    TF_OperationGetAttrBool,
    /// An attr that is a list of bools, of which as many are written as there is room for.
    TF_OperationGetAttrBoolList: "bool", bool => u8 = |value| value.into();
    /// An attr that is a dtype.
    TF_OperationGetAttrType,
    /// An attr that is a list of dtypes, of which as many are written as there is room for.
    TF_OperationGetAttrTypeList: "type", DataType => TF_DataType = |dtype| dtype.number();
}

/// What `TF_AttrMetadata` calls a placeholder, beside what [`attr_type`] says.
const PLACEHOLDER: c_int = 7;

/// What kind of value an attr has, and how much room its parts need.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationGetAttrMetadata(
    oper: *mut TF_Operation,
    attr_name: *const c_char,
    status: *mut TF_Status,
) -> TF_AttrMetadata {
    let nothing = TF_AttrMetadata { is_list: 0, list_size: 0, r#type: 0, total_size: 0 };
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, nothing, || {
            let (name, value) = attr(oper, attr_name, no_attr)?;
            let list_size = value.list_len().map_or(-1, |length| length as i64);
            let rank = |shape: &PartialShape| shape.rank().map_or(-1, |rank| rank as i64);
            let total_size = match &value {
                AttrValue::String(text) => text.as_bytes().len() as i64,
                AttrValue::ListString(texts) => texts.iter().map(|text| text.as_bytes().len() as i64).sum(),
                AttrValue::Shape(shape) => rank(shape),
                AttrValue::ListShape(shapes) => shapes.iter().map(|shape| rank(shape).max(0)).sum(),
                AttrValue::Placeholder(name) => name.len() as i64,
                _ => -1,
            };
            // A list without elements does not say what it is a list of; its op may.
            let declared = || -> Option<AttrType> {
                let operation = borrow(oper.cast_const()).ok()?;
                let state = operation.graph().read();
                Some(state.graph.node(operation.id).op.def.attr(&name)?.ty)
            };
            let r#type = match &value {
                AttrValue::Placeholder(_) => PLACEHOLDER,
                value => value.ty().or_else(declared).map_or(0, |ty| attr_type(ty.base)),
            };
            Ok(TF_AttrMetadata { is_list: (list_size >= 0).into(), list_size, r#type, total_size })
        })
    }
}

/// Copies the bytes of an attr that is a string, as many as there is room for. No zero follows them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationGetAttrString(
    oper: *mut TF_Operation,
    attr_name: *const c_char,
    value: *mut c_void,
    max_length: usize,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let text: TString = scalar_or(oper, attr_name, "string", no_attr)?;
            let bytes = text.as_bytes();
            let bytes = &bytes[..bytes.len().min(max_length)];
            slice_mut("the value", value.cast::<u8>(), bytes.len())?.copy_from_slice(bytes);
            Ok(())
        });
    }
}

/// Copies the strings of an attr that is a list into `storage`, one after the other, and tells where each begins.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationGetAttrStringList(
    oper: *mut TF_Operation,
    attr_name: *const c_char,
    values: *mut *mut c_void,
    lengths: *mut usize,
    max_values: c_int,
    storage: *mut c_void,
    storage_size: usize,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let texts: Vec<TString> = list(oper, attr_name, "string")?;
            let mut room = slice_mut("the storage", storage.cast::<u8>(), storage_size)?;
            let (values, lengths) =
                (slice_mut("values", values, max_values)?, slice_mut("lengths", lengths, max_values)?);
            for ((value, length), text) in values.iter_mut().zip(lengths).zip(&texts) {
                let bytes = text.as_bytes();
                let (place, rest) = room.split_at_mut_checked(bytes.len()).ok_or_else(|| {
                    Error::invalid_argument("Not enough storage to hold the requested list of strings")
                })?;
                place.copy_from_slice(bytes);
                *value = place.as_mut_ptr().cast();
                *length = bytes.len();
                room = rest;
            }
            Ok(())
        });
    }
}

/// The sizes of an attr that is a shape, as many as there is room for: -1 for those that are not known. Of a rank that is not
/// known nothing is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationGetAttrShape(
    oper: *mut TF_Operation,
    attr_name: *const c_char,
    value: *mut i64,
    num_dims: c_int,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let shape: PartialShape = scalar(oper, attr_name, "shape")?;
            if let Some(sizes) = shape.dims() {
                let room = usize::try_from(num_dims).unwrap_or_default();
                write_dims(slice_mut("the value", value, room.min(sizes.len()))?, sizes);
            }
            Ok(())
        });
    }
}

/// Copies the sizes of an attr that is a list of shapes into `storage`, one shape after the other, and tells where each begins
/// and its rank, which is -1 if it is not known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationGetAttrShapeList(
    oper: *mut TF_Operation,
    attr_name: *const c_char,
    dims: *mut *mut i64,
    num_dims: *mut c_int,
    num_shapes: c_int,
    storage: *mut i64,
    storage_size: c_int,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let shapes: Vec<PartialShape> = list_or(oper, attr_name, "shape", missing)?;
            let mut room = slice_mut("the storage", storage, storage_size)?;
            let (dims, ranks) = (slice_mut("dims", dims, num_shapes)?, slice_mut("ranks", num_dims, num_shapes)?);
            for ((place, rank), shape) in dims.iter_mut().zip(ranks).zip(&shapes) {
                let Some(sizes) = shape.dims() else {
                    (*place, *rank) = (ptr::null_mut(), -1);
                    continue;
                };
                let (own, rest) = room.split_at_mut_checked(sizes.len()).ok_or_else(|| {
                    Error::invalid_argument("Not enough storage to hold the requested list of shapes")
                })?;
                write_dims(own, sizes);
                (*place, *rank) = (own.as_mut_ptr(), sizes.len() as c_int);
                room = rest;
            }
            Ok(())
        });
    }
}

/// An attr that is a shape as a serialized TensorShapeProto.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationGetAttrTensorShapeProto(
    oper: *mut TF_Operation,
    attr_name: *const c_char,
    value: *mut TF_Buffer,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let shape: PartialShape = scalar_or(oper, attr_name, "shape", no_attr)?;
            fill(value, shape_to_proto(&shape).encode_to_vec())
        });
    }
}

/// Writes pointers to what the caller deletes, as many as there is room for.
///
/// # Safety
/// As said in `pointer`.
unsafe fn write_pointers<T, P>(
    places: *mut *mut P,
    room: c_int,
    values: Vec<T>,
    into_c: fn(T) -> *mut P,
) -> Result<()> {
    // SAFETY: as the caller says.
    for (place, value) in unsafe { slice_mut("values", places, room) }?.iter_mut().zip(values) {
        *place = into_c(value);
    }
    Ok(())
}

/// An attr that is a list of shapes as serialized TensorShapeProtos, for the caller to delete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationGetAttrTensorShapeProtoList(
    oper: *mut TF_Operation,
    attr_name: *const c_char,
    values: *mut *mut TF_Buffer,
    max_values: c_int,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let shapes: Vec<PartialShape> = list(oper, attr_name, "shape")?;
            write_pointers(values, max_values, shapes, |shape| buffer_of(shape_to_proto(&shape).encode_to_vec()))
        });
    }
}

/// An attr that is a tensor, for the caller to delete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationGetAttrTensor(
    oper: *mut TF_Operation,
    attr_name: *const c_char,
    value: *mut *mut TF_Tensor,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let tensor: Tensor = scalar(oper, attr_name, "tensor")?;
            if !value.is_null() {
                value.write(CTensor::new(own(tensor)?)?.into_c());
            }
            Ok(())
        });
    }
}

/// The tensor with elements of its own, which C may write to.
fn own(mut tensor: Tensor) -> Result<Tensor> {
    tensor.make_unique()?;
    Ok(tensor)
}

/// An attr that is a list of tensors, for the caller to delete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationGetAttrTensorList(
    oper: *mut TF_Operation,
    attr_name: *const c_char,
    values: *mut *mut TF_Tensor,
    max_values: c_int,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let tensors: Vec<Tensor> = list_or(oper, attr_name, "tensor", missing)?;
            // All of them before the first is handed over, so that none is lost.
            let tensors: Vec<CTensor> =
                tensors.into_iter().map(|tensor| CTensor::new(own(tensor)?)).collect::<Result<_>>()?;
            write_pointers(values, max_values, tensors, CTensor::into_c)
        });
    }
}

/// An attr as a serialized AttrValue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationGetAttrValueProto(
    oper: *mut TF_Operation,
    attr_name: *const c_char,
    output_attr_value: *mut TF_Buffer,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let (_, value) = attr(oper, attr_name, no_attr)?;
            fill(output_attr_value, attr_to_proto(&value)?.encode_to_vec())
        });
    }
}
