//! Checks of a kernel registration against its op, evaluated while the kernel's crate is compiled.
//!
//! Each panics, at the token that is wrong, with what the op declares.

/// Whether a condition holds for one of the items of a slice: constant evaluation has no closures.
macro_rules! any {
    ($item:ident in $items:expr => $holds:expr) => {{
        let (items, mut i, mut found) = ($items, 0, false);
        while i < items.len() && !found {
            let $item = &items[i];
            found = $holds;
            i += 1;
        }
        found
    }};
}
pub(crate) use any;

pub mod shader;

use std::borrow::Cow;

use crate::dtype::DataType;
use crate::op::{AllowedValues, ArgDef, AttrBase, AttrDef, OpDef, Str};

/// Requires that the op has this attr and that its values, or the elements of its lists, have this base type.
#[track_caller]
pub const fn require_attr(op: &OpDef, attr: &str, base: AttrBase) {
    let Some(def) = find(op, attr) else { no_attr(op, attr) };
    if def.ty.base as u8 != base as u8 {
        let message = Text::new().push("attr `").push(attr).push("` of op `").push(text(&op.name)).push("` has type ");
        let message = message.push(if def.ty.list { "list(" } else { "" }).push(def.ty.base.name());
        message.push(if def.ty.list { "): " } else { ": " }).push(advice(def.ty.base)).refuse()
    }
    if def.ty.list && !matches!(base, AttrBase::Type) {
        let message = Text::new().push("attr `").push(attr).push("` of op `").push(text(&op.name));
        message.push("` is a list: of lists, kernels are chosen by those of dtypes only").refuse()
    }
}

/// Requires that the op allows the attr to be this integer.
#[track_caller]
pub const fn require_int(op: &OpDef, attr: &str, value: i64) {
    if let Some(def) = find(op, attr)
        && let Some(minimum) = def.minimum
        && value < minimum
    {
        let message = Text::new().push("attr `").push(attr).push("` of op `").push(text(&op.name));
        message.push("` is never less than its minimum: the kernel would never be chosen").refuse()
    }
}

#[track_caller]
const fn no_attr(op: &OpDef, attr: &str) -> ! {
    let message = Text::new().push("op `").push(text(&op.name)).push("` has no attr `").push(attr);
    let mut message = message.push("`: its attrs are ");
    let attrs = items(&op.attrs);
    let mut i = 0;
    while i < attrs.len() {
        message = message.item(i, "`").push(text(&attrs[i].name)).push("`");
        i += 1;
    }
    match nearest(attr, attrs) {
        Some(Near::Attr(near)) => message.push("; did you mean `").push(near).push("`?").refuse(),
        Some(Near::Argument(near)) => {
            message.push("; did you mean the argument `").push(near).push("` of #[register_kernel]?").refuse()
        }
        None => {
            let message =
                message.push("; other arguments of #[register_kernel] are device, op, host_memory, requires, ");
            message.push("label, priority, wgsl and crate").refuse()
        }
    }
}

/// Whether a word may be another one, misspelt.
pub(crate) const fn near_word(word: &str, candidate: &str) -> bool {
    distance(word.as_bytes(), candidate.as_bytes()) <= allowed_distance(word)
}

/// How far a word may be from what it means.
const fn allowed_distance(word: &str) -> usize {
    match word.len() {
        0 | 1 => 0,
        2..6 => 1,
        6..9 => 2,
        _ => 3,
    }
}

/// What a misspelt word may have meant.
enum Near {
    Attr(&'static str),
    Argument(&'static str),
}

/// Arguments of `#[register_kernel]` whose values stand in brackets, as those of attrs do.
const ARGUMENTS: &[&str] = &["op", "host_memory", "requires", "label", "priority", "params", "vectors"];

/// The nearest attr, or failing that argument: see [`kernlink_spec::near`], which constant evaluation cannot call.
const fn nearest(word: &str, attrs: &'static [AttrDef]) -> Option<Near> {
    let allowed = allowed_distance(word);
    let (mut near, mut best, mut i) = (None, allowed + 1, 0);
    while i < attrs.len() + ARGUMENTS.len() {
        let is_attr = i < attrs.len();
        let candidate = if is_attr { text(&attrs[i].name) } else { ARGUMENTS[i - attrs.len()] };
        let distance = distance(word.as_bytes(), candidate.as_bytes());
        if distance < best {
            best = distance;
            near = Some(if is_attr { Near::Attr(candidate) } else { Near::Argument(candidate) });
        }
        i += 1;
    }
    near
}

/// The number of insertions, deletions, replacements and swaps of neighbours that lead from one word to the other,
/// whatever their case; of long words a large number.
const fn distance(a: &[u8], b: &[u8]) -> usize {
    const MAX: usize = 64;
    if a.len() > MAX || b.len() > MAX {
        return MAX;
    }
    let (mut before, mut last, mut row) = ([0; MAX + 1], [0; MAX + 1], [0; MAX + 1]);
    let mut j = 0;
    while j <= b.len() {
        last[j] = j;
        j += 1;
    }
    let mut i = 1;
    while i <= a.len() {
        row[0] = i;
        j = 1;
        while j <= b.len() {
            let (from, to) = (a[i - 1].to_ascii_lowercase(), b[j - 1].to_ascii_lowercase());
            row[j] = smaller(last[j - 1] + (from != to) as usize, smaller(last[j], row[j - 1]) + 1);
            let is_swap =
                i > 1 && j > 1 && from == b[j - 2].to_ascii_lowercase() && to == a[i - 2].to_ascii_lowercase();
            if is_swap {
                row[j] = smaller(row[j], before[j - 2] + 1);
            }
            j += 1;
        }
        (before, last) = (last, row);
        i += 1;
    }
    last[b.len()]
}

const fn smaller(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

/// What to list for an attr of this type.
const fn advice(base: AttrBase) -> &'static str {
    match base {
        AttrBase::Type => "list dtypes such as `f32`",
        AttrBase::String => "list strings such as `\"SAME\"`",
        AttrBase::Int => "list integers such as `1`",
        AttrBase::Bool => "list `true` or `false`",
        _ => "kernels are chosen by attrs of type type, string, int and bool only",
    }
}

/// Requires that the op allows the attr to be, or to contain, this dtype.
#[track_caller]
pub const fn require_type(op: &OpDef, attr: &str, dtype: DataType) {
    let Some(AllowedValues::Types(types)) = allowed(op, attr) else { return };
    let types = items(types);
    if any!(allowed in types => allowed.equals(dtype)) {
        return;
    }
    let mut message = not_allowed(op, attr).push(dtype.name()).push(": it allows ");
    let mut i = 0;
    while i < types.len() {
        message = message.item(i, "").push(types[i].name());
        i += 1;
    }
    message.refuse()
}

/// Requires that the op allows the attr to be, or to contain, this string.
#[track_caller]
pub const fn require_string(op: &OpDef, attr: &str, value: &str) {
    let Some(AllowedValues::Strings(strings)) = allowed(op, attr) else { return };
    let strings = items(strings);
    if any!(allowed in strings => same(text(allowed), value)) {
        return;
    }
    let mut message = not_allowed(op, attr).push("\"").push(value).push("\": it allows ");
    let mut i = 0;
    while i < strings.len() {
        message = message.item(i, "\"").push(text(&strings[i])).push("\"");
        i += 1;
    }
    message.refuse()
}

/// Requires that the op has an input or output of this name.
#[track_caller]
pub const fn require_argument(op: &OpDef, name: &str) {
    let (inputs, outputs) = (items(&op.inputs), items(&op.outputs));
    if among(inputs, name) || among(outputs, name) {
        return;
    }
    let message = Text::new().push("op `").push(text(&op.name)).push("` has no input or output `").push(name);
    let mut message = message.push("`: its arguments are ");
    let mut i = 0;
    while i < inputs.len() + outputs.len() {
        let arg = if i < inputs.len() { &inputs[i] } else { &outputs[i - inputs.len()] };
        message = message.item(i, "`").push(text(&arg.name)).push("`");
        i += 1;
    }
    message.refuse()
}

const fn among(args: &'static [ArgDef], name: &str) -> bool {
    any!(arg in args => same(text(&arg.name), name))
}

/// Says, for the type checker alone, that a crate registers one kernel for this op (`Self`), device, dtypes, variant (a
/// hash of the attrs' names, the other constraints and the label) and priority. Two registrations of the same kernel
/// are two implementations, which do not compile. Where the macro sees that two look the same, the second is number 1, and
/// asks whether there is a number 0, for an error in words.
///
/// That `Self` is the op keeps the compiler from comparing each kernel with those of all other ops.
pub trait RegistersKernel<Provider, Device, Dtypes, const VARIANT: u64, const PRIORITY: i32, const NUMBER: u64> {}

/// Stands for a device type in [`RegistersKernel`]; the parameter is a hash of its name.
pub struct DeviceMarker<const NAME: u64>;

const fn not_allowed(op: &OpDef, attr: &str) -> Text {
    let message = Text::new().push("op `").push(text(&op.name)).push("` does not allow attr `").push(attr);
    message.push("` to be ")
}

const fn allowed(op: &OpDef, attr: &str) -> Option<&'static AllowedValues> {
    match find(op, attr) {
        Some(def) => def.allowed.as_ref(),
        None => None,
    }
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

pub(crate) const fn text(s: &Str) -> &str {
    match s {
        Cow::Borrowed(text) => text,
        Cow::Owned(_) => panic!("a declared op is constant"),
    }
}

#[allow(clippy::ptr_arg, reason = "constant evaluation cannot dereference a Cow, and must see which it is")]
pub(crate) const fn items<T: Clone>(list: &Cow<'static, [T]>) -> &'static [T] {
    match list {
        Cow::Borrowed(items) => items,
        Cow::Owned(_) => panic!("a declared op is constant"),
    }
}

pub(crate) const fn same(a: &str, b: &str) -> bool {
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

/// A message that constant evaluation puts together.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    bytes: [u8; Text::MAX],
    len: usize,
}

impl Text {
    const MAX: usize = 1024;

    pub(crate) const fn new() -> Text {
        Text { bytes: [0; Text::MAX], len: 0 }
    }

    /// Appends a piece, or nothing if it does not fit.
    pub(crate) const fn push(mut self, piece: &str) -> Text {
        let piece = piece.as_bytes();
        if piece.len() <= Text::MAX - self.len {
            let mut i = 0;
            while i < piece.len() {
                self.bytes[self.len + i] = piece[i];
                i += 1;
            }
            self.len += piece.len();
        }
        self
    }

    /// Appends a number.
    pub(crate) const fn number(self, number: usize) -> Text {
        const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        let before = if number < 10 { self } else { self.number(number / 10) };
        before.push(DIGITS[number % 10])
    }

    /// Begins item `i` of a list.
    pub(crate) const fn item(self, i: usize, quote: &str) -> Text {
        self.push(if i > 0 { ", " } else { "" }).push(quote)
    }

    #[track_caller]
    pub(crate) const fn refuse(&self) -> ! {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(message) => panic!("{}", message),
            Err(_) => panic!("the registration does not suit the op"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ARGUMENTS;

    #[test]
    fn arguments_are_those_that_the_macro_knows() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../macros/src/kernel/parse.rs");
        let source = std::fs::read_to_string(path).unwrap();
        let list = source.split_once("const ARGUMENTS: &[&str] = &[").unwrap().1.split_once("];").unwrap().0;
        for argument in ARGUMENTS {
            assert!(list.contains(&format!("\"{argument}\"")), "`{argument}` is no argument of `#[register_kernel]`");
        }
    }
}
