//! Where the framework is.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::ParseStream;
use syn::{Path, Token};

/// The path of the framework: `::kernlink`, or what `crate = path` says.
#[derive(Clone)]
pub(crate) struct Crate(Option<Path>);

impl Crate {
    /// `::kernlink`.
    pub(crate) const KERNLINK: Crate = Crate(None);

    /// The rest of `crate = path`, `crate` being behind us.
    pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Crate> {
        input.parse::<Token![=]>()?;
        Ok(Crate(Some(input.call(Path::parse_mod_style)?)))
    }

    /// The path as the collecting macros take it: without leading colons.
    pub(crate) fn bare(&self) -> TokenStream {
        match &self.0 {
            Some(path) => path.segments.to_token_stream(),
            None => quote!(kernlink),
        }
    }
}

impl ToTokens for Crate {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match &self.0 {
            Some(path) => path.to_tokens(tokens),
            None => tokens.extend(quote!(::kernlink)),
        }
    }
}
