//! Whether graphs that were written for an older version of an op mean the same under a newer one.

use super::{AllowedValues, ArgDef, ArgType, AttrDef, AttrDefault, OpDef};
use crate::error::{Error, Result};

/// Whether every node that was valid for `old` is valid for `new`, with the same inputs and outputs.
///
/// A change may add attrs with defaults, allow more values, lower or remove minimums, reorder attrs, rename inputs,
/// take inputs without and give outputs with a reference, put a new `type` attr in the place of a fixed dtype that is
/// its default, and a list in the place of as many arguments as its default says. Flags and documentation are free.
///
/// # Errors
/// INVALID_ARGUMENT with every reason why not.
#[track_caller]
pub fn op_def_compatible(old: &OpDef, new: &OpDef) -> Result<()> {
    if old.name != new.name {
        return Err(refused(vec![format!("the name changed from `{}`", old.name)], old, new));
    }
    let mut faults = Vec::new();
    for attr in old.attrs.iter() {
        match new.attr(&attr.name) {
            None => faults.push(format!("attr `{}` removed", attr.name)),
            Some(now) => compare_attrs(attr, now, &mut faults),
        }
    }
    for attr in new.attrs.iter() {
        if old.attr(&attr.name).is_none() && attr.default.is_none() {
            faults.push(format!("attr `{}` added without default", attr.name));
        }
    }
    let (before, now) = (signature(&old.inputs, old, new, false), signature(&new.inputs, old, new, false));
    if texts(&before) != texts(&now) {
        faults.push(format!("input signature mismatch: `{}` became `{}`", texts(&before), texts(&now)));
    } else {
        for (i, (before, now)) in before.iter().zip(&now).enumerate() {
            if now.is_ref && !before.is_ref {
                faults.push(format!("input {i} changed from non-ref to ref"));
            }
        }
    }
    let (before, now) = (signature(&old.outputs, old, new, true), signature(&new.outputs, old, new, true));
    if texts(&before) != texts(&now) {
        faults.push(format!("output signature mismatch: `{}` became `{}`", texts(&before), texts(&now)));
    } else {
        for (i, (before, now)) in before.iter().zip(&now).enumerate() {
            if before.is_ref && !now.is_ref {
                faults.push(format!("output {i} changed from ref to non-ref"));
            }
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(refused(faults, old, new)) }
}

#[track_caller]
fn refused(faults: Vec<String>, old: &OpDef, new: &OpDef) -> Error {
    let faults = faults.join("; ");
    Error::invalid_argument(format!("incompatible change of op {}: {faults}\n  old: {old}\n  new: {new}", new.name))
}

fn compare_attrs(old: &AttrDef, new: &AttrDef, faults: &mut Vec<String>) {
    let name = &old.name;
    if old.ty != new.ty {
        faults.push(format!("attr `{name}` changed type from {} to {}", old.ty, new.ty));
        return;
    }
    let stricter = match (&old.allowed, &new.allowed) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(AllowedValues::Types(old)), Some(AllowedValues::Types(new))) => old.iter().any(|one| !new.contains(one)),
        (Some(AllowedValues::Strings(old)), Some(AllowedValues::Strings(new))) => {
            old.iter().any(|one| !new.contains(one))
        }
        (Some(_), Some(_)) => true,
    };
    if stricter {
        let text = |allowed: &Option<AllowedValues>| match allowed {
            Some(allowed) => allowed.to_string(),
            None => "no restriction".to_owned(),
        };
        let (old, new) = (text(&old.allowed), text(&new.allowed));
        faults.push(format!("attr `{name}` has a stricter set of allowed values: from {old} to {new}"));
    }
    if new.minimum.is_some_and(|new| old.minimum.is_none_or(|old| new > old)) {
        let text = |minimum: Option<i64>| minimum.map_or_else(|| "no minimum".to_owned(), |least| least.to_string());
        let (old, new) = (text(old.minimum), text(new.minimum));
        faults.push(format!("attr `{name}` has a higher minimum: from {old} to {new}"));
    }
}

/// One tensor, or one list of them, of a signature that holds for both versions of an op.
struct Slot {
    text: String,
    is_ref: bool,
}

fn texts(slots: &[Slot]) -> String {
    slots.iter().map(|slot| slot.text.as_str()).collect::<Vec<_>>().join(", ")
}

/// The most tensors that a default is written out for.
const MAX_SLOTS: i64 = 1 << 16;

/// The arguments as they look to a node that was made for `old`: an attr that both versions have stands for itself, a
/// new one for its default.
fn signature(args: &[ArgDef], old: &OpDef, new: &OpDef, names: bool) -> Vec<Slot> {
    let mut slots = Vec::new();
    let default = |attr: &str| new.attr(attr).and_then(|attr| attr.default.as_ref());
    for arg in args {
        let name = if names { format!("{}: ", arg.name) } else { String::new() };
        let mut times = String::new();
        let mut count = 1;
        if let Some(number) = arg.number_attr.as_deref() {
            match default(number) {
                Some(AttrDefault::Int(value)) if old.attr(number).is_none() => count = (*value).clamp(0, MAX_SLOTS),
                _ => times = format!("{number} * "),
            }
        }
        let types = match &arg.ty {
            ArgType::Fixed(dtype) => vec![dtype.to_string()],
            ArgType::Attr(attr) | ArgType::ListAttr(attr) if old.attr(attr).is_some() => vec![attr.to_string()],
            ArgType::Attr(attr) | ArgType::ListAttr(attr) => match default(attr) {
                Some(AttrDefault::Type(dtype)) => vec![dtype.to_string()],
                Some(AttrDefault::ListType(list)) => list.iter().map(|dtype| dtype.to_string()).collect(),
                // Reported as an attr without default.
                _ => vec![attr.to_string()],
            },
        };
        for _ in 0..count {
            let slot = |ty: &String| Slot { text: format!("{name}{times}{ty}"), is_ref: arg.is_ref };
            slots.extend(types.iter().map(slot));
        }
    }
    slots
}

/// Whether the defaults that were added since `oldest` are still what they were in `penultimate`.
///
/// Nodes made for `oldest` were completed with them; what they mean must not depend on when they are read.
///
/// # Errors
/// INVALID_ARGUMENT with every such attr that is missing, lost its default, or changed it.
#[track_caller]
pub fn added_defaults_unchanged(oldest: &OpDef, penultimate: &OpDef, new: &OpDef) -> Result<()> {
    let mut faults = Vec::new();
    for attr in penultimate.attrs.iter().filter(|attr| oldest.attr(&attr.name).is_none()) {
        let name = &attr.name;
        let Some(now) = new.attr(name) else {
            faults.push(format!("missing attr `{name}`"));
            continue;
        };
        match (&attr.default, &now.default) {
            (Some(before), Some(now)) if before == now => {}
            (Some(before), Some(now)) => {
                faults.push(format!("can't change the default value of attr `{name}` from {before} to {now}"));
            }
            _ => faults.push(format!("missing default for attr `{name}`")),
        }
    }
    unchanged(faults, new)
}

/// Whether no attr of `old` has lost or changed its default. Adding one is safe.
///
/// # Errors
/// INVALID_ARGUMENT with every default that was removed or changed.
#[track_caller]
pub fn attr_defaults_unchanged(old: &OpDef, new: &OpDef) -> Result<()> {
    let mut faults = Vec::new();
    for attr in old.attrs.iter() {
        let (Some(before), Some(now)) = (&attr.default, new.attr(&attr.name)) else { continue };
        match &now.default {
            None => faults.push(format!("attr `{}` has removed its default: from {before} to no default", attr.name)),
            Some(now) if now == before => {}
            Some(now) => {
                faults.push(format!("attr `{}` has changed its default value: from {before} to {now}", attr.name));
            }
        }
    }
    unchanged(faults, new)
}

#[track_caller]
fn unchanged(faults: Vec<String>, new: &OpDef) -> Result<()> {
    if faults.is_empty() {
        return Ok(());
    }
    Err(Error::invalid_argument(format!("changed defaults of op {}: {}", new.name, faults.join("; "))))
}

/// The promises of `old` that `new` breaks, with reasons: an op was removed, changed incompatibly, or has another default.
/// Empty if graphs written for `old` can be read with `new`.
pub fn broken_promises<'a>(
    old: impl IntoIterator<Item = &'a OpDef>,
    new: impl Fn(&str) -> Option<&'a OpDef>,
) -> Vec<String> {
    let mut broken = Vec::new();
    for old in old {
        let Some(new) = new(&old.name) else {
            broken.push(format!("op {} removed", old.name));
            continue;
        };
        for result in [op_def_compatible(old, new), attr_defaults_unchanged(old, new)] {
            broken.extend(result.err().map(|error| error.message().to_owned()));
        }
    }
    broken
}
