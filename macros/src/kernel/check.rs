//! Checks of a registration against its op, evaluated by the compiler: the macro itself cannot see the op.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::parse::{AttrList, KernelArgs, Values};

/// Constants whose evaluation fails, on the user's token, if the registration does not suit the op.
pub(super) fn expand(args: &KernelArgs, op: &str) -> Vec<TokenStream> {
    let krate = &args.krate;
    let mut checks = Vec::new();
    for list in &args.lists {
        attr(list, args, op, &mut checks);
    }
    for literal in &args.host_memory {
        let message = format!(
            "op `{op}` has no input or output `{}`: `host_memory` takes the names of its arguments",
            literal.value()
        );
        let condition = quote!(#krate::kernel::check::has_argument(__OP, #literal));
        checks.push(assertion(literal.span(), &condition, &message));
    }
    checks
}

fn attr(list: &AttrList, args: &KernelArgs, op: &str, checks: &mut Vec<TokenStream>) {
    let krate = &args.krate;
    let (name, span) = (&list.name, list.ident.span());
    let check = quote!(#krate::kernel::check);
    let message = format!(
        "op `{op}` has no attr `{name}`: name an attr that its #[register_op] declares (other arguments of \
         #[register_kernel] are device, op, host_memory, label, priority and crate)"
    );
    checks.push(assertion(span, &quote!(#check::has_attr(__OP, #name)), &message));
    let (base, kind) = match &list.values {
        Values::Types(_) => ("Type", "dtypes"),
        Values::Strings(_) => ("String", "strings"),
        Values::Ints(_) => ("Int", "integers"),
        Values::Bools(_) => ("Bool", "bools"),
    };
    let base = format_ident!("{base}");
    let missing = quote!(!#check::has_attr(__OP, #name));
    let based = quote!(#check::attr_has_base(__OP, #name, #krate::op::AttrBase::#base));
    let message =
        format!("attr `{name}` of op `{op}` does not hold {kind}: list values of the type that the op declares");
    checks.push(assertion(span, &quote!(#missing || #based), &message));
    // What is wrong with the attr itself is said once, not again for each value.
    let mut value = |span: Span, allowed: TokenStream, value: &str| {
        let message = format!(
            "op `{op}` does not allow attr `{name}` to be {value}: list only what its #[register_op] allows for \
             `{name}`"
        );
        checks.push(assertion(span, &quote!(!#based || #allowed), &message));
    };
    match &list.values {
        Values::Types(entries) => {
            for entry in entries {
                for element in &entry.elements {
                    let variant = element.variant();
                    let allowed = quote!(#check::allows_type(__OP, #name, #krate::dtype::DataType::#variant));
                    value(entry.span, allowed, element.dtype.name);
                }
            }
        }
        Values::Strings(literals) => {
            for literal in literals {
                let allowed = quote!(#check::allows_string(__OP, #name, #literal));
                value(literal.span(), allowed, &format!("{:?}", literal.value()));
            }
        }
        Values::Ints(_) | Values::Bools(_) => {}
    }
}

fn assertion(span: Span, condition: &TokenStream, message: &str) -> TokenStream {
    quote_spanned!(span=> const _: () = ::std::assert!(#condition, #message);)
}
