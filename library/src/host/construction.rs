//! `TF_OpKernelConstruction`: the node for which a library makes a kernel.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use kernlink_framework::attr::{AttrValue, FromAttrValue, FunctionRef};
use kernlink_framework::dtype::{DataType, TString};
use kernlink_framework::kernel::RawConstruction;
use kernlink_framework::proto::{Message as _, NodeDef, attr_to_proto, attr_value};
use kernlink_framework::tensor::Tensor;
use kernlink_framework::{Error, Result};

use super::attr::{found, value};
use super::{CTensor, Status, buffer_of, guarded, report, text};
use crate::abi::{TF_Bool, TF_Buffer, TF_DataType, TF_OpKernelConstruction, TF_Status, TF_StringView, TF_Tensor};

/// What is behind a `TF_OpKernelConstruction`.
pub(super) struct Construction<'c> {
    node: &'c RawConstruction<'c>,
    failure: RefCell<Option<Error>>,
}

impl<'c> Construction<'c> {
    pub(super) fn new(node: &'c RawConstruction<'c>) -> Construction<'c> {
        Construction { node, failure: RefCell::default() }
    }

    /// The pointer for C, which lives as long as this value.
    pub(super) fn to_c(&self) -> *mut TF_OpKernelConstruction {
        ptr::from_ref(self).cast_mut().cast()
    }

    /// What the library said.
    pub(super) fn outcome(&self) -> Result<()> {
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// # Safety
    /// The pointer is null or one of [`Construction::to_c`] whose value is still there.
    #[track_caller]
    unsafe fn from_c(ctx: *mut TF_OpKernelConstruction) -> Result<&'c Construction<'c>> {
        // SAFETY: as the caller says.
        unsafe { ctx.cast::<Construction<'c>>().as_ref() }
            .ok_or_else(|| Error::invalid_argument("the construction context is a null pointer"))
    }

    #[track_caller]
    fn attr<T: FromAttrValue>(&self, name: &str, expected: &str) -> Result<T> {
        found(self.node.attrs, self.node.node, name, expected)
    }
}

/// Bytes as a view, which is good as long as they are.
pub(super) fn view(text: &str) -> TF_StringView {
    TF_StringView { data: text.as_ptr().cast(), len: text.len() }
}

/// # Safety
/// The pointers are null or what the C API asks for.
#[track_caller]
unsafe fn read<T: FromAttrValue>(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, expected: &str) -> Result<T> {
    // SAFETY: as the caller says.
    unsafe { Construction::from_c(ctx)?.attr(text("the attr's name", attr)?, expected) }
}

/// Writes a result, which is made only if there is a place for it: C deletes what is written, and nobody what is not.
///
/// # Safety
/// The pointer is null or has room for a `T`.
#[track_caller]
unsafe fn put_made<T>(place: *mut T, make: impl FnOnce() -> Result<T>) -> Result<()> {
    if place.is_null() {
        return Err(Error::invalid_argument("the place of the attr's value is a null pointer"));
    }
    let value = make()?;
    // SAFETY: as the caller says.
    unsafe { place.write(value) };
    Ok(())
}

/// Writes a result.
///
/// # Safety
/// As [`put_made`].
#[track_caller]
unsafe fn put<T>(place: *mut T, value: T) -> Result<()> {
    // SAFETY: as the caller says.
    unsafe { put_made(place, || Ok(value)) }
}

/// The number of values for which C has room.
///
/// # Errors
/// INVALID_ARGUMENT for a number that is negative, and for null with room.
#[track_caller]
fn room<T>(places: *mut T, most: c_int) -> Result<usize> {
    let most = usize::try_from(most).map_err(|_| Error::invalid_argument(format!("there cannot be {most} values")))?;
    if places.is_null() && most > 0 {
        return Err(Error::invalid_argument("the place of the attr's values is a null pointer"));
    }
    Ok(most)
}

/// Writes as many of the values as there is room for.
///
/// # Safety
/// From `places` on is room for `most` elements.
#[track_caller]
unsafe fn put_all<T>(places: *mut T, most: c_int, values: impl IntoIterator<Item = T>) -> Result<()> {
    let most = room(places, most)?;
    for (index, value) in values.into_iter().take(most).enumerate() {
        // SAFETY: as the caller says.
        unsafe { places.add(index).write(value) };
    }
    Ok(())
}

/// The library cannot make the kernel.
pub unsafe extern "C" fn TF_OpKernelConstruction_Failure(ctx: *mut TF_OpKernelConstruction, status: *mut TF_Status) {
    guarded((), || {
        // SAFETY: as said in `host`.
        let (ctx, outcome) = unsafe { (Construction::from_c(ctx), Status::outcome_of(status)) };
        if let (Ok(ctx), Err(error)) = (ctx, outcome) {
            ctx.failure.borrow_mut().get_or_insert(error);
        }
    });
}

/// The node as a serialized `NodeDef`, in a buffer that the caller deletes.
pub unsafe extern "C" fn TF_OpKernelConstruction_GetNodeDef(
    ctx: *mut TF_OpKernelConstruction,
    status: *mut TF_Status,
) -> *mut TF_Buffer {
    let make = || {
        // SAFETY: as said in `host`.
        let node = unsafe { Construction::from_c(ctx) }?.node;
        let attrs = node.attrs.iter().map(|(name, value)| Ok((name.to_owned(), attr_to_proto(value)?)));
        let placed = node.surroundings.and_then(|surroundings| surroundings.node);
        let def = NodeDef {
            name: node.node.to_owned(),
            op: node.op.name.to_string(),
            attr: attrs.collect::<Result<_>>()?,
            input: placed.map(|node| node.inputs()).unwrap_or_default(),
            device: node.device_name().to_owned(),
            ..NodeDef::default()
        };
        Ok(buffer_of(def.encode_to_vec()))
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, ptr::null_mut(), make) }
}

/// The node's name, which stays as long as the kernel is made.
pub unsafe extern "C" fn TF_OpKernelConstruction_GetName(ctx: *mut TF_OpKernelConstruction) -> TF_StringView {
    // SAFETY: as said in `host`.
    unsafe { Construction::from_c(ctx) }.map_or(view(""), |ctx| view(ctx.node.node))
}

/// Whether the node has an attr.
pub unsafe extern "C" fn TF_OpKernelConstruction_HasAttr(
    ctx: *mut TF_OpKernelConstruction,
    attr: *const c_char,
    status: *mut TF_Status,
) -> bool {
    // SAFETY: as said in `host`.
    let ask = || unsafe { Ok(Construction::from_c(ctx)?.node.attrs.get(text("the attr's name", attr)?).is_some()) };
    // SAFETY: as said in `host`.
    unsafe { report(status, false, ask) }
}

/// How many elements a list has, and bytes a string, or the strings of a list together; -1 for what does not apply.
pub unsafe extern "C" fn TF_OpKernelConstruction_GetAttrSize(
    ctx: *mut TF_OpKernelConstruction,
    attr: *const c_char,
    list_size: *mut i32,
    total_size: *mut i32,
    status: *mut TF_Status,
) {
    let ask = || {
        // SAFETY: as said in `host`.
        let (ctx, name) = unsafe { (Construction::from_c(ctx)?, text("the attr's name", attr)?) };
        let value = value(ctx.node.attrs, ctx.node.node, name)?;
        let total = match value {
            AttrValue::String(text) => Some(text.len()),
            AttrValue::ListString(texts) => Some(texts.iter().map(|text| text.len()).sum()),
            _ => None,
        };
        let size = |size: Option<usize>| size.map_or(-1, |size| i32::try_from(size).unwrap_or(i32::MAX));
        // SAFETY: as said in `host`.
        unsafe {
            put(list_size, size(value.list_len()))?;
            put(total_size, size(total))
        }
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), ask) };
}

/// An attr that is an int, if 32 bits hold it.
fn narrow(value: i64) -> Result<i32> {
    i32::try_from(value).map_err(|_| Error::invalid_argument(format!("Attr value {value} out of range for an int32")))
}

macro_rules! scalars {
    ($($(#[$doc:meta])* $name:ident: $stored:ty, $expected:literal => $given:ty, $convert:expr;)*) => {
        $(
            $(#[$doc])*
            pub unsafe extern "C" fn $name(
                ctx: *mut TF_OpKernelConstruction,
                attr: *const c_char,
                place: *mut $given,
                status: *mut TF_Status,
            ) {
                let convert: fn($stored) -> Result<$given> = $convert;
                // SAFETY: as said in `host`.
                let copy = || unsafe { put_made(place, || convert(read(ctx, attr, $expected)?)) };
                // SAFETY: as said in `host`.
                unsafe { report(status, (), copy) };
            }
        )*
    };
}

scalars! {
    /// The number of a dtype.
    TF_OpKernelConstruction_GetAttrType: DataType, "type" => TF_DataType, |dtype| Ok(dtype.number());
    /// An int of 32 bits.
    TF_OpKernelConstruction_GetAttrInt32: i64, "int" => i32, narrow;
    /// An int.
    TF_OpKernelConstruction_GetAttrInt64: i64, "int" => i64, Ok;
    /// A float.
    TF_OpKernelConstruction_GetAttrFloat: f32, "float" => f32, Ok;
    /// A bool.
    TF_OpKernelConstruction_GetAttrBool: bool, "bool" => TF_Bool, |value| Ok(value.into());
    /// A tensor, for the caller to delete.
    TF_OpKernelConstruction_GetAttrTensor: Tensor, "tensor" => *mut TF_Tensor, |tensor| Ok(CTensor::read_only(tensor)?.into_c());
}

macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident: $stored:ty, $expected:literal => $given:ty, $convert:expr;)*) => {
        $(
            $(#[$doc])*
            pub unsafe extern "C" fn $name(
                ctx: *mut TF_OpKernelConstruction,
                attr: *const c_char,
                places: *mut $given,
                most: c_int,
                status: *mut TF_Status,
            ) {
                let convert: fn($stored) -> Result<$given> = $convert;
                let copy = || {
                    // SAFETY: as said in `host`.
                    let values: Vec<$stored> = unsafe { read(ctx, attr, $expected) }?;
                    // No more are made than are handed over.
                    let wanted = values.into_iter().take(room(places, most)?);
                    let converted = wanted.map(convert).collect::<Result<Vec<_>>>()?;
                    // SAFETY: as said in `host`.
                    unsafe { put_all(places, most, converted) }
                };
                // SAFETY: as said in `host`.
                unsafe { report(status, (), copy) };
            }
        )*
    };
}

lists! {
    /// The numbers of dtypes, as many as there is room for.
    TF_OpKernelConstruction_GetAttrTypeList: DataType, "list(type)" => TF_DataType, |dtype| Ok(dtype.number());
    /// Ints of 32 bits, as many as there is room for.
    TF_OpKernelConstruction_GetAttrInt32List: i64, "list(int)" => i32, narrow;
    /// Ints, as many as there is room for.
    TF_OpKernelConstruction_GetAttrInt64List: i64, "list(int)" => i64, Ok;
    /// Floats, as many as there is room for.
    TF_OpKernelConstruction_GetAttrFloatList: f32, "list(float)" => f32, Ok;
    /// Bools, as many as there is room for.
    TF_OpKernelConstruction_GetAttrBoolList: bool, "list(bool)" => TF_Bool, |value| Ok(value.into());
    /// Tensors, as many as there is room for, for the caller to delete.
    TF_OpKernelConstruction_GetAttrTensorList: Tensor, "list(tensor)" => *mut TF_Tensor, |tensor| Ok(CTensor::read_only(tensor)?.into_c());
}

/// The first bytes of a string, as many as there is room for, without a zero at the end.
pub unsafe extern "C" fn TF_OpKernelConstruction_GetAttrString(
    ctx: *mut TF_OpKernelConstruction,
    attr: *const c_char,
    place: *mut c_char,
    most: usize,
    status: *mut TF_Status,
) {
    let copy = || {
        // SAFETY: as said in `host`.
        let string: TString = unsafe { read(ctx, attr, "string") }?;
        let count = string.len().min(most);
        if count > 0 && place.is_null() {
            return Err(Error::invalid_argument("the place of the attr's value is a null pointer"));
        }
        // SAFETY: the caller has room for `most` bytes.
        unsafe { ptr::copy_nonoverlapping(string.as_ptr(), place.cast(), count) };
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), copy) };
}

/// Strings, as many as there is room for: they are copied to `storage`, and `values` and `lengths` say where each is.
pub unsafe extern "C" fn TF_OpKernelConstruction_GetAttrStringList(
    ctx: *mut TF_OpKernelConstruction,
    attr: *const c_char,
    values: *mut *mut c_char,
    lengths: *mut usize,
    most: c_int,
    storage: *mut c_void,
    storage_size: usize,
    status: *mut TF_Status,
) {
    let copy = || {
        // SAFETY: as said in `host`.
        let strings: Vec<TString> = unsafe { read(ctx, attr, "list(string)") }?;
        let count = strings.len().min(usize::try_from(most).unwrap_or(0));
        let needed: usize = strings[..count].iter().map(|string| string.len()).sum();
        if needed > storage_size {
            return Err(Error::invalid_argument("Not enough storage to hold the requested list of strings"));
        }
        if count > 0 && (values.is_null() || lengths.is_null() || (needed > 0 && storage.is_null())) {
            return Err(Error::invalid_argument("the place of the attr's values is a null pointer"));
        }
        let mut place = storage.cast::<u8>();
        for (index, string) in strings[..count].iter().enumerate() {
            // SAFETY: the caller has room for `most` pointers and lengths, and storage for the bytes, as checked.
            unsafe {
                ptr::copy_nonoverlapping(string.as_ptr(), place, string.len());
                values.add(index).write(place.cast());
                lengths.add(index).write(string.len());
            }
            place = place.wrapping_add(string.len());
        }
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), copy) };
}

/// A function, as a serialized `NameAttrList` in a buffer that the caller deletes.
pub unsafe extern "C" fn TF_OpKernelConstruction_GetAttrFunction(
    ctx: *mut TF_OpKernelConstruction,
    attr: *const c_char,
    status: *mut TF_Status,
) -> *mut TF_Buffer {
    let make = || {
        // SAFETY: as said in `host`.
        let function: FunctionRef = unsafe { read(ctx, attr, "func") }?;
        match attr_to_proto(&AttrValue::Func(function))?.value {
            Some(attr_value::Value::Func(list)) => Ok(buffer_of(list.encode_to_vec())),
            _ => Err(Error::internal("a function is written as one")),
        }
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, ptr::null_mut(), make) }
}
