//! The provider that the crate of a registration is.

use std::path::PathBuf;
use std::sync::OnceLock;

use proc_macro2::TokenStream;
use quote::quote;

use crate::path::Crate;

/// How registrations name the crate as a provider.
pub(crate) struct Provider {
    /// What stands before them, in their block: `__PROVIDER`, the provider's value, and what `ty` needs.
    pub(crate) items: TokenStream,
    /// The type that stands for the crate.
    pub(crate) ty: TokenStream,
}

impl Provider {
    /// `crate::KernlinkProvider`, which `provider!` declares at the root of the crate.
    ///
    /// If the line is missing, that name would be all that the compiler tells. So where it is not plain from the sources
    /// that it is there, a type of the same name stands in, which a glob import of the crate's root overrides: the
    /// compiler then tells of the stand-in what is said of types that are no `CrateProvider`. The import takes time for
    /// each name at the root, which is why not every registration has one.
    pub(crate) fn of(krate: &Crate) -> Provider {
        let (ty, items) = match is_plain() {
            true => (quote!(crate::KernlinkProvider), TokenStream::new()),
            false => (
                quote!(<__KernlinkRoot as #krate::kernel::ProviderAtRoot>::Provider),
                quote! {
                    #[allow(dead_code, reason = "stands in for what may be there")]
                    enum KernlinkProvider {}
                    struct __KernlinkRoot;
                    const _: () = {
                        #[allow(unused_imports, reason = "may bring nothing")]
                        use crate::*;
                        impl #krate::kernel::ProviderAtRoot for __KernlinkRoot {
                            type Provider = KernlinkProvider;
                        }
                    };
                },
            ),
        };
        let items = quote! {
            #items
            const __PROVIDER: &#krate::kernel::Provider = <#ty as #krate::kernel::CrateProvider>::PROVIDER;
        };
        Provider { items, ty }
    }
}

/// Whether the source of the crate's root shows that the crate has a `provider!`.
fn is_plain() -> bool {
    /// One process expands the macros of one crate.
    static IS_PLAIN: OnceLock<bool> = OnceLock::new();
    *IS_PLAIN.get_or_init(|| {
        let text = root().and_then(|file| std::fs::read_to_string(file).ok());
        text.is_some_and(|text| has_provider(&text))
    })
}

/// The file with the crate's root, which the compiler that expands the macro is told to compile. Editors expand macros in
/// processes of their own, for many crates: those have no such argument.
pub(crate) fn root() -> Option<PathBuf> {
    let mut files = std::env::args_os().map(PathBuf::from).filter(|path| path.extension().is_some_and(|it| it == "rs"));
    files.find(|path| path.is_file())
}

/// Whether an item of a file is `provider!` of Kernlink, in every configuration. What cannot be told from the file alone,
/// such as the macro under another name, is not taken for one.
fn has_provider(text: &str) -> bool {
    let Ok(file) = syn::parse_file(text) else { return false };
    file.items.iter().any(|item| {
        let syn::Item::Macro(item) = item else { return false };
        let path: Vec<_> = item.mac.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let is_kernlinks = match &path[..] {
            [name] => name == "provider",
            [krate, name] => krate.starts_with("kernlink") && name == "provider",
            _ => false,
        };
        is_kernlinks && item.ident.is_none() && item.attrs.is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::has_provider;

    #[test]
    fn only_items_are_providers() {
        for text in
            ["provider!();", "#![allow(unused)]\nmod a;\n\nkernlink::provider!(ops = OPS);", "::kernlink::provider! {}"]
        {
            assert!(has_provider(text), "{text}");
        }
        for text in [
            "",
            "mod a;",
            "// provider!();",
            "service_provider!();",
            "service::provider!();",
            "mod a { kernlink::provider!(); }",
            "/* provider!(); */",
            "const TEXT: &str = \"\nprovider!();\n\";",
            "#[cfg(any())]\nkernlink::provider!();",
            "fn f() { kernlink::provider!(); }",
            "no Rust",
        ] {
            assert!(!has_provider(text), "{text}");
        }
    }
}
