//! Ops as text, for a terminal.

use std::fmt::Write;

use crate::collect::OpEntry;
use crate::kernel::KernelDef;
use crate::op::{ArgDef, AttrDef, OpDef};

use super::rows::{self, Row};
use super::words;
use super::wrapper::Wrapper;

/// Ops, one a line.
pub(super) fn list(text: &mut String, entries: &[&OpEntry]) {
    let width = entries.iter().map(|entry| entry.def.name.len()).max().unwrap_or_default();
    for entry in entries {
        let _ = writeln!(text, "{}", format!("{:<width$} {}", entry.def.name, entry.def.summary).trim_end());
    }
}

/// All that is known of one op.
pub(super) fn describe(text: &mut String, entry: &OpEntry, kernels: &[&'static KernelDef]) {
    let op = entry.def;
    let _ = writeln!(text, "{}", words::signature(op));
    for part in [&op.summary, &op.description] {
        if !part.is_empty() {
            let _ = writeln!(text, "\n{part}");
        }
    }
    if let Some(deprecation) = &op.deprecation {
        let _ = writeln!(text, "\ndeprecated since version {}: {}", deprecation.version, deprecation.explanation);
    }
    arguments(text, "inputs", &op.inputs, |index| words::input(op, index));
    arguments(text, "outputs", &op.outputs, |index| words::output(op, index));
    if !op.attrs.is_empty() {
        let _ = writeln!(text, "\nattrs:");
        for attr in op.attrs.iter() {
            let _ = writeln!(text, "  {}", attr_text(op, attr));
            note(text, &attr.description);
        }
    }
    let flags = words::flags(entry);
    if !flags.is_empty() {
        let _ = writeln!(text, "\n{}", flags.join(", "));
    }
    if let Some(wrapper) = Wrapper::of(entry) {
        let _ = writeln!(text, "\nin Rust:\n  {}", wrapper.text().replace('\n', "\n  "));
    }
    let _ = match words::feature(entry) {
        Some(feature) => {
            writeln!(text, "\ndeclared at {} (crate {}, feature {feature})", entry.location, entry.provider.name)
        }
        None => writeln!(text, "\ndeclared {}", entry.origin()),
    };
    let _ = match kernels.len() {
        0 => writeln!(text, "\nkernels: none is linked"),
        number => writeln!(text, "\nkernels: {number}"),
    };
    rows::of(kernels).iter().for_each(|row| kernel_row(text, row));
    for (attr, dtypes) in rows::without_kernel(op, kernels) {
        let dtypes: Vec<String> = dtypes.iter().map(|dtype| dtype.to_string()).collect();
        let _ = writeln!(text, "  none for {attr} in {{{}}}", dtypes.join(", "));
    }
}

/// The rewrites that take nodes of an op, and those that make some.
pub(super) fn rewrites(text: &mut String, op: &OpDef) {
    let (mut taken, mut made) = (Vec::new(), Vec::new());
    for rewrite in super::rewrites::sorted(|_| true) {
        taken.extend(super::rewrites::taken(rewrite).contains(&*op.name).then_some(rewrite.name));
        made.extend(super::rewrites::made(rewrite).contains(&*op.name).then_some(rewrite.name));
    }
    for (title, names) in [("rewrites that take it", taken), ("rewrites that make it", made)] {
        if !names.is_empty() {
            let _ = writeln!(text, "\n{title}:\n  {}", names.join(", "));
        }
    }
}

fn arguments(text: &mut String, title: &str, args: &[ArgDef], words: impl Fn(usize) -> String) {
    if !args.is_empty() {
        let _ = writeln!(text, "\n{title}:");
    }
    for (index, arg) in args.iter().enumerate() {
        let _ = writeln!(text, "  {}: {}", arg.name, words(index).replace('`', ""));
        note(text, &arg.description);
    }
}

/// A description under what it describes.
fn note(text: &mut String, description: &str) {
    for line in description.lines() {
        let _ = writeln!(text, "{}", format!("      {line}").trim_end());
    }
}

fn attr_text(op: &OpDef, attr: &AttrDef) -> String {
    let mut text = format!("{}: {}", attr.name, attr.ty);
    let allowed = words::allowed(attr);
    if !allowed.is_empty() {
        let _ = write!(text, " in {{{}}}", allowed.join(", "));
    }
    if let Some(minimum) = attr.minimum {
        let _ = write!(text, " >= {minimum}");
    }
    if let Some(default) = words::default(attr) {
        let _ = write!(text, " = {default}");
    }
    if op.is_inferred(&attr.name) {
        text += " (follows from the inputs)";
    }
    text
}

fn kernel_row(text: &mut String, row: &Row) {
    let kernel = row.kernel;
    let _ = write!(text, "  {}", kernel.device);
    for (attr, values) in &row.constraints {
        let _ = write!(text, ", {attr} in {{{}}}", values.shown().join(", "));
    }
    if !kernel.label.is_empty() {
        let _ = write!(text, ", label \"{}\"", kernel.label);
    }
    if kernel.priority != 0 {
        let _ = write!(text, ", priority {}", kernel.priority);
    }
    if !kernel.host_memory.is_empty() {
        let _ = write!(text, ", in host memory: {}", kernel.host_memory.join(", "));
    }
    if !kernel.requires.is_empty() {
        let _ = write!(text, ", requires {}", kernel.requires.join(", "));
    }
    if kernel.system {
        let _ = write!(text, ", system");
    }
    let origin = kernel.location.origin(kernel.provider);
    let _ = match kernel.location.line {
        // Nobody knows the types of a library.
        0 => writeln!(text, "\n      {origin}"),
        _ => writeln!(text, "\n      {} {origin}", row.type_name()),
    };
}
