//! Checks of a kernel registration against its op, evaluated while the kernel's crate is compiled.

use std::borrow::Cow;

use crate::dtype::DataType;
use crate::op::{AllowedValues, ArgDef, AttrBase, AttrDef, OpDef, Str};

const fn text(s: &Str) -> &str {
    match s {
        Cow::Borrowed(text) => text,
        Cow::Owned(_) => panic!("a declared op is constant"),
    }
}

#[allow(clippy::ptr_arg, reason = "constant evaluation cannot dereference a Cow, and must see which it is")]
const fn items<T: Clone>(list: &Cow<'static, [T]>) -> &'static [T] {
    match list {
        Cow::Borrowed(items) => items,
        Cow::Owned(_) => panic!("a declared op is constant"),
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

const fn find(op: &OpDef, attr: &str) -> Option<&'static AttrDef> {
    let attrs = items(&op.attrs);
    let mut i = 0;
    while i < attrs.len() {
        if same(text(&attrs[i].name), attr) {
            return Some(&attrs[i]);
        }
        i += 1;
    }
    None
}

/// Whether the op has an attr of this name.
pub const fn has_attr(op: &OpDef, attr: &str) -> bool {
    find(op, attr).is_some()
}

/// Whether the attr, or an element of it if it is a list, has this base type.
pub const fn attr_has_base(op: &OpDef, attr: &str, base: AttrBase) -> bool {
    match find(op, attr) {
        Some(def) => def.ty.base as u8 == base as u8,
        None => false,
    }
}

/// Whether the op allows the attr to be, or to contain, this dtype.
pub const fn allows_type(op: &OpDef, attr: &str, dtype: DataType) -> bool {
    let Some(def) = find(op, attr) else { return false };
    let Some(AllowedValues::Types(types)) = &def.allowed else { return true };
    let types = items(types);
    let mut i = 0;
    while i < types.len() {
        if types[i].equals(dtype) {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether the op allows the attr to be this string.
pub const fn allows_string(op: &OpDef, attr: &str, value: &str) -> bool {
    let Some(def) = find(op, attr) else { return false };
    let Some(AllowedValues::Strings(strings)) = &def.allowed else { return true };
    let strings = items(strings);
    let mut i = 0;
    while i < strings.len() {
        if same(text(&strings[i]), value) {
            return true;
        }
        i += 1;
    }
    false
}

const fn among(args: &'static [ArgDef], name: &str) -> bool {
    let mut i = 0;
    while i < args.len() {
        if same(text(&args[i].name), name) {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether the op has an input or output of this name.
pub const fn has_argument(op: &OpDef, name: &str) -> bool {
    among(items(&op.inputs), name) || among(items(&op.outputs), name)
}

/// Says, for the type checker alone, that a crate (`Self`) registers one kernel for this op, device, dtypes, variant
/// (a hash of the attrs' names, the other constraints and the label) and priority. Two registrations of the same
/// kernel are two implementations, which do not compile.
pub trait RegistersKernel<Op, Device, Dtypes, const VARIANT: u64, const PRIORITY: i32> {}

/// Stands for a device type in [`RegistersKernel`]; the parameter is a hash of its name.
pub struct DeviceMarker<const NAME: u64>;
