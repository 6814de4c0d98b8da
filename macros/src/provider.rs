//! The provider that the crate of a registration is.

use std::path::{Path, PathBuf};

use proc_macro2::{Span, TokenStream};
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

/// Whether the sources show that the crate has a `provider!`: it stands in the file of the registration, or in that of the
/// library which the file is a part of.
fn is_plain() -> bool {
    let Some(file) = Span::call_site().unwrap().local_file() else { return false };
    has_provider(&file) || library_of(&file).is_some_and(|library| has_provider(&library))
}

/// `src/lib.rs` of the package, if the file may be a module of it.
fn library_of(file: &Path) -> Option<PathBuf> {
    // Of binaries and examples.
    if std::env::var_os("CARGO_BIN_NAME").is_some() {
        return None;
    }
    let sources = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR")?).join("src");
    let is_module = file.canonicalize().ok()?.starts_with(sources.canonicalize().ok()?);
    is_module.then(|| sources.join("lib.rs"))
}

fn has_provider(file: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(file) else { return false };
    text.lines().map(str::trim_start).any(|line| !line.starts_with("//") && line.contains("provider!"))
}
