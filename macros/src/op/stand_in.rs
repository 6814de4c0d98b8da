//! What stands for an op whose declaration is wrong: all that kernels and callers name, so that they are not wrong in turn.
//!
//! The errors are the value of the op's `DEF`. The compiler knows then that what depends on it cannot be evaluated, and is
//! silent about it. Specs that are wrong are replaced by the nearest that are not; those that stay wrong are left out.

use std::collections::BTreeSet;

use kernlink_spec::{CheckedOp, Place, function_name, is_op_name, nearest, parse_attr, parse_op};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Fields, Generics, ItemStruct, LitStr};

use super::doc::Doc;
use super::parse::{OpArgs, Spec};
use super::{Op, typed, under_conditions, wrapper};

/// The item, and all that belongs to the op. `def` is what its `DEF` is.
pub(super) fn expand(args: &OpArgs, item: &ItemStruct, def: &TokenStream) -> TokenStream {
    let item = ItemStruct {
        generics: Generics::default(),
        fields: Fields::Unit,
        semi_token: Some(Default::default()),
        ..item.clone()
    };
    let (args, checked) = repaired(args);
    let name = match args.name(&item) {
        name if is_op_name(&name) => name,
        _ => item.ident.to_string(),
    };
    let krate = &args.krate;
    let ident = &item.ident;
    let attrs = format_ident!("{ident}Attrs");
    let op = Op { args: &args, item: &item, name, doc: Doc::of(&item.attrs), checked };
    let typed = typed::expand(&op);
    // Of a name that is wrong it may be the struct's own.
    let has_wrapper = *ident != function_name(&op.name);
    let wrapper = has_wrapper.then(|| wrapper::expand(&op));
    let items = quote! {
        #item
        #typed

        impl #krate::op::Op for #ident {
            const DEF: &'static #krate::op::OpDef = #def;
            type Attrs = #attrs;
            fn read_attrs(_: &#krate::attr::AttrMap) -> #krate::Result<#attrs> {
                ::core::unreachable!()
            }
        }

        #wrapper
    };
    under_conditions(&item, items)
}

/// The arguments with specs that suit each other.
fn repaired(args: &OpArgs) -> (OpArgs, CheckedOp) {
    let mut args = args.clone();
    let mut replaced = BTreeSet::new();
    loop {
        let texts = |specs: &[Spec]| specs.iter().map(Spec::text).collect::<Vec<_>>();
        let (attrs, inputs, outputs) = (texts(&args.attrs), texts(&args.inputs), texts(&args.outputs));
        let Err(errors) = parse_op("Op", &attrs, &inputs, &outputs) else { break };
        // What is left out moves those behind it: one error a round. Each round replaces a spec or has one less.
        let Some(error) = errors.first() else { break };
        let (specs, index, likely): (_, _, fn(&str, &[String]) -> String) = match error.place {
            Place::Name => break,
            Place::Attr(index) => (&mut args.attrs, index, |spec, _| likely_attr(spec)),
            Place::Input(index) => (&mut args.inputs, index, likely_arg),
            Place::Output(index) => (&mut args.outputs, index, likely_arg),
        };
        let spec = &mut specs[index];
        if replaced.insert(spec.text()) {
            let text = likely(&spec.text(), &attrs);
            replaced.insert(text.clone());
            spec.literal = LitStr::new(&text, spec.literal.span());
        } else {
            specs.remove(index);
        }
    }
    let texts = |specs: &[Spec]| specs.iter().map(Spec::text).collect::<Vec<_>>();
    let checked = parse_op("Op", &texts(&args.attrs), &texts(&args.inputs), &texts(&args.outputs));
    (
        args,
        checked.unwrap_or(CheckedOp {
            attrs: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            uses_resource: false,
        }),
    )
}

/// A spec of an attr of the type that this one most likely means.
fn likely_attr(spec: &str) -> String {
    let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
    let (name, rest) = (name.trim(), rest.trim());
    let list = rest.starts_with("list");
    let rest = rest.trim_start_matches("list").trim_start_matches('(').trim_start();
    let has_default = rest.replace(">=", "").contains('=');
    let word = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    let (base, default) = match nearest(word, ["string", "int", "float", "bool", "type", "shape", "tensor", "func"]) {
        // What is allowed: strings, or else dtypes.
        _ if rest.starts_with('{') => match rest.contains(['\'', '"']) {
            true => ("string", "''"),
            false => ("type", "DT_FLOAT"),
        },
        Some("string") => ("string", "''"),
        Some("float") => ("float", "0.0"),
        Some("bool") => ("bool", "false"),
        Some("shape") => ("shape", "{}"),
        Some("int") => ("int", "0"),
        Some(base @ ("tensor" | "func")) => (base, "{}"),
        // Names of sets of dtypes, and what is no word at all.
        _ => ("type", "DT_FLOAT"),
    };
    let ty = if list { format!("list({base})") } else { base.to_owned() };
    let default = match (has_default, list) {
        (false, _) => String::new(),
        (true, true) => " = []".to_owned(),
        (true, false) => format!(" = {default}"),
    };
    let whole = format!("{name}: {ty}{default}");
    if parse_attr(&whole).is_ok() { whole } else { format!("{name}: {ty}") }
}

/// A spec of an argument that is a list if this one most likely means one.
fn likely_arg(spec: &str, attrs: &[String]) -> String {
    let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
    let name = name.trim();
    let attrs = || attrs.iter().filter_map(|spec| parse_attr(spec).ok());
    let is_int = |name: &str| attrs().any(|attr| attr.name == name && attr.ty.to_string() == "int");
    match rest.split_once('*').map(|(number, _)| number.trim()) {
        Some(number) if is_int(number) => format!("{name}: {number} * float"),
        _ => format!("{name}: float"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likely_type_is_that_of_the_nearest_spec() {
        for (spec, likely) in [
            ("T: {flaot, int32}", "T: type"),
            ("T: numbrtype = DT_FLOT", "T: type = DT_FLOAT"),
            ("padding: {'SAME' 'VALID'}", "padding: string"),
            ("padding: {'SAME', 'VALID'} = 'same'", "padding: string = ''"),
            ("size: itn >= 0 = 1", "size: int = 0"),
            ("size: int >= x", "size: int"),
            ("sizes: list(integer)", "sizes: list(type)"),
            ("sizes: list(int) = [1", "sizes: list(int) = []"),
            ("size", "size: type"),
            ("f: fnuc = {}", "f: func"),
        ] {
            assert_eq!(likely_attr(spec), likely, "{spec}");
            assert!(parse_attr(likely).is_ok(), "{likely}");
        }
        let attrs = ["N: int".to_owned(), "T: type".to_owned()];
        for (spec, likely) in [("x: N * Q", "x: N * float"), ("x: T * N", "x: float"), ("x", "x: float")] {
            assert_eq!(likely_arg(spec, &attrs), likely, "{spec}");
        }
    }
}
