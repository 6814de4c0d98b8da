//! Dtypes as kernels list them: Rust's types, TensorFlow's words, and sets.

use kernlink_spec::{DTYPES, Dtype, SETS, dtype_from_word, dtype_set, nearest};
use proc_macro2::TokenStream;
use quote::{ToTokens as _, format_ident, quote};
use syn::spanned::Spanned as _;
use syn::{GenericArgument, PathArguments, Type};

use crate::path::Crate;

/// A dtype, with the Rust type of its elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) dtype: Dtype,
    pub(super) rust: &'static str,
}

impl From<Dtype> for Element {
    fn from(dtype: Dtype) -> Element {
        Element { dtype, rust: dtype.element }
    }
}

impl Element {
    /// The Rust type, by its full path.
    pub(super) fn path(self, krate: &Crate) -> TokenStream {
        let ident = format_ident!("{}", self.rust);
        match self.rust {
            "ResourceHandle" | "Variant" => quote!(#krate::tensor::#ident),
            rust if rust.starts_with(|c: char| c.is_ascii_uppercase()) || matches!(rust, "f16" | "bf16") => {
                quote!(#krate::dtype::#ident)
            }
            _ => quote!(::core::primitive::#ident),
        }
    }

    /// The variant of `DataType`.
    pub(super) fn variant(self) -> TokenStream {
        let variant = format_ident!("{}", self.dtype.variant);
        variant.into_token_stream()
    }
}

/// The dtypes that one entry of a list names.
pub(super) fn parse(ty: &Type) -> syn::Result<Vec<Element>> {
    let word = word(ty).ok_or_else(|| {
        let message = "expected a dtype such as `f32`, `float` or `numbertype`";
        syn::Error::new(ty.span(), message)
    })?;
    if let Some(dtype) = DTYPES.iter().copied().find(|dtype| dtype.element == word).or_else(|| dtype_from_word(&word)) {
        return Ok(vec![dtype.into()]);
    }
    if let Some(set) = dtype_set(&word) {
        return Ok(set.into_iter().map(Element::from).collect());
    }
    let help = match word.as_str() {
        "usize" => "did you mean `u64`?".to_owned(),
        "isize" => "did you mean `i64`?".to_owned(),
        "str" | "String" => "strings are `TString`, or `string`".to_owned(),
        "DataType" => "list element types such as `f32`".to_owned(),
        _ => {
            let words =
                DTYPES.iter().flat_map(|dtype| [dtype.element, dtype.name]).chain(SETS.iter().map(|(set, _)| *set));
            match nearest(&word, words) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "expected one of Rust's element types such as `f32`, `bf16` or `TString`, one of TensorFlow's \
                         words such as `float`, `bfloat16` or `string`, or a set: `numbertype`, `realnumbertype`, \
                         `quantizedtype`; strings stand in quotes"
                    .to_owned(),
            }
        }
    };
    Err(syn::Error::new(ty.span(), format!("unknown dtype `{word}`: {help}")))
}

/// The last word of a path; `Complex<f32>` counts as `Complex32`.
fn word(ty: &Type) -> Option<String> {
    let path = match ty {
        Type::Path(path) if path.qself.is_none() => path,
        Type::Group(group) => return word(&group.elem),
        _ => return None,
    };
    let last = path.path.segments.last()?;
    match &last.arguments {
        PathArguments::None => Some(last.ident.to_string()),
        PathArguments::AngleBracketed(arguments) if last.ident == "Complex" && arguments.args.len() == 1 => {
            match arguments.args.first()? {
                GenericArgument::Type(ty) => match word(ty)?.as_str() {
                    "f32" => Some("Complex32".to_owned()),
                    "f64" => Some("Complex64".to_owned()),
                    _ => None,
                },
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dtype_has_a_name_in_both_languages() {
        for &dtype in DTYPES {
            for name in [dtype.element, dtype.name] {
                let parsed = parse(&syn::parse_str(name).unwrap()).unwrap();
                assert!(parsed == [Element::from(dtype)], "{name}");
            }
        }
    }
}
