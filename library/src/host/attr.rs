//! Attrs as C asks for them, with TensorFlow's errors.

use kernlink_framework::attr::{AttrMap, AttrType, AttrValue, FromAttrValue};
use kernlink_framework::{Code, Error, Result};

/// The attr of this name, whose type is called `expected`.
///
/// # Errors
/// NOT_FOUND if there is none; INVALID_ARGUMENT if it has another type.
#[track_caller]
pub(super) fn found<T: FromAttrValue>(attrs: &AttrMap, node: &str, name: &str, expected: &str) -> Result<T> {
    let value = value(attrs, node, name)?;
    T::from_attr_value(value).ok_or_else(|| {
        let actual = value.ty().map_or_else(|| "list".to_owned(), |ty: AttrType| ty.to_string());
        Error::invalid_argument(format!(
            "AttrValue had value with type '{actual}' when '{expected}' expected for attr '{name}'"
        ))
    })
}

/// The attr of this name.
///
/// # Errors
/// NOT_FOUND if there is none.
#[track_caller]
pub(super) fn value<'a>(attrs: &'a AttrMap, node: &str, name: &str) -> Result<&'a AttrValue> {
    let missing =
        || Error::new(Code::NotFound, format!("No attr named '{name}' in NodeDef:\n\t [[{{{{node {node}}}}}]]"));
    attrs.get(name).ok_or_else(missing)
}
