//! Checks of a pattern against the ops that it names, evaluated while the rewrite's crate is compiled.
//!
//! Each panics, at the token that is wrong, with what the op declares.

use crate::kernel::check::{self, Text, items, near_word, same, text};
use crate::op::{ArgDef, AttrBase, OpDef};

/// The position of an input argument. Of several ops it must be the same.
#[track_caller]
pub const fn input(ops: &[&OpDef], name: &str) -> usize {
    position(ops, name, true)
}

/// The position of an output argument. Of several ops it must be the same.
#[track_caller]
pub const fn output(ops: &[&OpDef], name: &str) -> usize {
    position(ops, name, false)
}

#[track_caller]
const fn position(ops: &[&OpDef], name: &str, is_input: bool) -> usize {
    let (mut first, mut i) = (None, 0);
    while i < ops.len() {
        let args = if is_input { items(&ops[i].inputs) } else { items(&ops[i].outputs) };
        let mut at = 0;
        while at < args.len() && !same(text(&args[at].name), name) {
            at += 1;
        }
        if at == args.len() {
            absent(ops[i], args, name, if is_input { "input" } else { "output" })
        }
        match first {
            Some(first) if first != at => {
                let message = Text::new().push("`").push(name).push("` has another place in op `");
                message.push(text(&ops[i].name)).push("` than in the ops before it: write a rewrite for each").refuse()
            }
            _ => first = Some(at),
        }
        i += 1;
    }
    match first {
        Some(position) => position,
        None => 0,
    }
}

#[track_caller]
const fn absent(op: &OpDef, args: &'static [ArgDef], name: &str, kind: &str) -> ! {
    let message = Text::new().push("op `").push(text(&op.name)).push("` has no ").push(kind).push(" `").push(name);
    let mut message = message.push("`: its ").push(kind).push("s are ");
    let (mut i, mut near) = (0, None);
    while i < args.len() {
        let candidate = text(&args[i].name);
        message = message.item(i, "`").push(candidate).push("`");
        if near.is_none() && near_word(name, candidate) {
            near = Some(candidate);
        }
        i += 1;
    }
    match near {
        Some(near) => message.push("; did you mean `").push(near).push("`?").refuse(),
        None => message.refuse(),
    }
}

const fn among(args: &[ArgDef], name: &str) -> bool {
    let mut at = 0;
    while at < args.len() {
        if same(text(&args[at].name), name) {
            return true;
        }
        at += 1;
    }
    false
}

/// Requires that a pattern names all inputs of its ops, or ends with `..`: `named` are those that it names.
#[track_caller]
pub const fn require_all_inputs(ops: &[&OpDef], named: &[&str]) {
    let mut i = 0;
    while i < ops.len() {
        let args = items(&ops[i].inputs);
        // What is no input is told where it stands, and may be this one misspelt.
        let mut known = 0;
        while known < named.len() && among(args, named[known]) {
            known += 1;
        }
        let mut at = if known < named.len() { args.len() } else { 0 };
        while at < args.len() {
            let (name, mut is_named, mut j) = (text(&args[at].name), false, 0);
            while j < named.len() {
                is_named = is_named || same(named[j], name);
                j += 1;
            }
            if !is_named {
                let message = Text::new().push("the pattern says nothing of input `").push(name).push("` of op `");
                message.push(text(&ops[i].name)).push("`: name it, or end with `..`").refuse()
            }
            at += 1;
        }
        i += 1;
    }
}

/// Requires that the ops allow an attr to be this string.
#[track_caller]
pub const fn require_string(ops: &[&OpDef], attr: &str, value: &str) {
    let mut i = 0;
    while i < ops.len() {
        check::require_string(ops[i], attr, value);
        i += 1;
    }
}

/// Requires that an input argument is one tensor, or a list of tensors.
#[track_caller]
pub const fn require_list(ops: &[&OpDef], argument: usize, is_list: bool) {
    let mut i = 0;
    while i < ops.len() {
        let arg = &items(&ops[i].inputs)[argument];
        if arg.is_list() != is_list {
            let message = Text::new().push("input `").push(text(&arg.name)).push("` of op `").push(text(&ops[i].name));
            let what = match is_list {
                true => "` is one tensor: it has no brackets",
                false => "` is a list of tensors: capture it as `name @ ..`, or name each in brackets",
            };
            message.push(what).refuse()
        }
        i += 1;
    }
}

/// Requires that an output argument, of which the pattern takes the tensor, is no list.
#[track_caller]
pub const fn require_single_output(ops: &[&OpDef], argument: usize) {
    let mut i = 0;
    while i < ops.len() {
        let args = items(&ops[i].outputs);
        let mut at = 0;
        while at <= argument {
            if at >= args.len() || args[at].is_list() {
                let message = Text::new().push("op `").push(text(&ops[i].name));
                message.push("` has no such output of one tensor, or a list of outputs before it").refuse()
            }
            at += 1;
        }
        i += 1;
    }
}

/// Requires that the ops have this attr, which must be of this type and no list.
#[track_caller]
pub const fn require_attr(ops: &[&OpDef], name: &str, base: AttrBase) {
    let mut i = 0;
    while i < ops.len() {
        let attrs = items(&ops[i].attrs);
        let (mut at, mut near) = (0, None);
        while at < attrs.len() && !same(text(&attrs[at].name), name) {
            if near.is_none() && near_word(name, text(&attrs[at].name)) {
                near = Some(text(&attrs[at].name));
            }
            at += 1;
        }
        if at == attrs.len() {
            let message =
                Text::new().push("op `").push(text(&ops[i].name)).push("` has no attr `").push(name).push("`");
            match near {
                Some(near) => message.push("; did you mean `").push(near).push("`?").refuse(),
                None => message.refuse(),
            }
        }
        let ty = &attrs[at].ty;
        if ty.list || ty.base as u8 != base as u8 {
            let message = Text::new().push("attr `").push(name).push("` of op `").push(text(&ops[i].name));
            let message = message.push("` has type ").push(if ty.list { "list(" } else { "" }).push(ty.base.name());
            let message = message.push(if ty.list { ")" } else { "" });
            message
                .push(": patterns ask for strings, integers, bools and dtypes; ask for others in the function")
                .refuse()
        }
        i += 1;
    }
}
