//! `#[register_op]`.

mod def;
mod doc;
mod family;
mod parse;
mod required;
mod stand_in;
mod typed;
mod words;
mod wrapper;

use kernlink_spec::{CheckedOp, OpError, Place, parse_arg, parse_attr, parse_op};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote};
use syn::{Fields, File, Item, ItemStruct};

use self::doc::Doc;
use self::parse::{Form, OpArgs, Spec};
pub(crate) use self::parse::{each_argument, key, once};
use crate::errors::Errors;
use crate::seen;

/// An op, parsed and checked.
struct Op<'a> {
    args: &'a OpArgs,
    item: &'a ItemStruct,
    name: String,
    doc: Doc,
    checked: CheckedOp,
}

pub(crate) fn register(args: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse2(item.clone()) {
        Ok(Item::Struct(item)) => register_one(args, &item),
        Ok(Item::Enum(item)) => family::register(args, &item),
        other => {
            let first = || item.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
            let span = other.map_or_else(|error| error.span(), |_| first());
            let mut errors = Errors::default();
            let message =
                "#[register_op] stands on a unit struct, `pub struct ZeroOut;`, or for several ops on an enum";
            errors.at(span, message);
            errors.with(item)
        }
    }
}

fn register_one(args: TokenStream, item: &ItemStruct) -> TokenStream {
    let mut errors = Errors::default();
    if !matches!(item.fields, Fields::Unit) || !item.generics.params.is_empty() {
        let message = "an op is a unit struct without generics: `pub struct ZeroOut;` (attrs go into `attr(\"...\")`)";
        errors.on(&item.ident, message);
    }
    let args = OpArgs::parse(args, Form::Op, &mut errors);
    match check(&args, item) {
        Ok(checked) if errors.is_empty() => return declare(&args, item, checked),
        Ok(_) => {}
        Err(mistakes) => {
            // With an argument that could not be read, others may seem to refer to nothing.
            let all_read = errors.is_empty();
            let told = mistakes.into_iter().filter(|mistake| all_read || mistake.is_alone);
            told.for_each(|mistake| errors.on(mistake.at, mistake.message));
        }
    }
    stand_in::expand(&args, item, &errors.value())
}

/// The op, or what is left of it if the crate declares one of this name already.
fn declare(args: &OpArgs, item: &ItemStruct, checked: CheckedOp) -> TokenStream {
    let name = args.name(item);
    let Some(first) = declared_before(&name, item) else { return expand(args, item, checked) };
    let message = format!(
        "this crate declares op `{name}` twice, here and at {first}: an op has one declaration; remove one of them, or give \
         one another name, by `name = \"...\"`"
    );
    let mut errors = Errors::default();
    errors.at(item.ident.span(), message);
    stand_in::expand(args, item, &errors.value())
}

/// Where the crate declares an op of this name already.
fn declared_before(name: &str, item: &ItemStruct) -> Option<String> {
    // Of declarations under conditions the compiler may keep one.
    let is_conditional = item.attrs.iter().any(|attr| attr.path().is_ident("cfg"));
    if is_conditional {
        return None;
    }
    seen::earlier(format!("op {name}"), item.ident.span()).into_iter().next()
}

/// What is wrong with a declaration, and where.
struct Mistake {
    at: TokenStream,
    message: String,
    /// Whether it is in what the ops of a family share.
    is_shared: bool,
    /// Whether it is wrong whatever else the declaration says.
    is_alone: bool,
}

/// Parses the specs and checks them together.
fn check(args: &OpArgs, item: &ItemStruct) -> Result<CheckedOp, Vec<Mistake>> {
    let texts = |specs: &[Spec]| specs.iter().map(Spec::text).collect::<Vec<_>>();
    let found = parse_op(&args.name(item), &texts(&args.attrs), &texts(&args.inputs), &texts(&args.outputs));
    let mistake = |OpError { place, error }| {
        let (spec, is_alone) = match place {
            Place::Attr(i) => (&args.attrs[i], parse_attr(&args.attrs[i].text()).is_err()),
            Place::Input(i) => (&args.inputs[i], parse_arg(&args.inputs[i].text()).is_err()),
            Place::Output(i) => (&args.outputs[i], parse_arg(&args.outputs[i].text()).is_err()),
            Place::Name => {
                let (at, message) = match &args.name {
                    Some(literal) => (literal.to_token_stream(), error.render(&literal.value())),
                    None => (item.ident.to_token_stream(), error.to_string()),
                };
                return Mistake { at, message, is_shared: false, is_alone: true };
            }
        };
        // Parts of a literal have no spans, so the message shows the piece that is meant.
        let message = error.render(&spec.text());
        Mistake { at: spec.literal.to_token_stream(), message, is_shared: spec.is_shared, is_alone }
    };
    found.map_err(|found| found.into_iter().map(mistake).collect())
}

fn expand(args: &OpArgs, item: &ItemStruct, checked: CheckedOp) -> TokenStream {
    let op = Op { args, item, name: args.name(item), doc: Doc::of(&item.attrs), checked };
    let typed = typed::expand(&op);
    let def = def::expand(&op);
    let wrapper = wrapper::expand(&op);
    let items = quote! {
        #item
        #typed
        #def
        #wrapper
    };
    under_conditions(item, items)
}

/// The items of an op with the conditions that the compiler has not looked at: those of variants, and those below the
/// attribute.
fn under_conditions(item: &ItemStruct, items: TokenStream) -> TokenStream {
    let conditions = item.attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect::<Vec<_>>();
    if conditions.is_empty() {
        return items;
    }
    let items = syn::parse2::<File>(items).expect("what stands above are items").items;
    items.iter().map(|item| quote!(#(#conditions)* #item)).collect()
}
