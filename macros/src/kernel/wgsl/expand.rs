//! What a kernel of which only the shader is written adds to its registrations.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned;

use super::{Dispatch, Param, ParamType, Shader};
use crate::kernel::dtype::Element;
use crate::kernel::parse::{AttrList, KernelArgs, Values};
use crate::kernel::text::snake;
use crate::path::Crate;
use crate::span::respan;

impl ParamType {
    fn variant(self) -> Ident {
        format_ident!("{}", ["I32", "U32", "F32"][self as usize])
    }

    fn rust(self) -> TokenStream {
        let name = format_ident!("{}", ["i32", "u32", "f32"][self as usize]);
        quote!(::core::primitive::#name)
    }
}

/// The type that is registered: the framework's, around the user's struct.
pub(in crate::kernel) fn kernel(krate: &Crate, shader: &Shader, ident: &Ident, op: &syn::Type) -> TokenStream {
    let kernel = match shader.dispatch {
        Some(Dispatch::ElementWise(_)) => quote!(ElementWise),
        _ => quote!(Kernel),
    };
    quote!(#krate::gpu::wgsl::#kernel<#ident, #op>)
}

/// Constants whose evaluation fails, on the user's token, if the shader cannot suit the op.
pub(in crate::kernel) fn checks(args: &KernelArgs, shader: &Shader) -> TokenStream {
    let krate = &args.krate;
    let check = quote!(#krate::kernel::check);
    let host = &args.host_memory;
    let host = quote!(&[#(#host),*]);
    let mut checks = TokenStream::new();
    let mut add = |span: Span, call: TokenStream| checks.extend(respan(quote!(const _: () = { #call };), span));
    for list in type_lists(args) {
        let (Values::Types(entries), name) = (&list.values, &list.name) else { continue };
        for entry in entries {
            let variants = entry.elements.iter().map(|element| element.variant());
            let calls = variants.map(
                |dtype| quote!(#check::shader::require_type(__OP, #host, #name, #krate::dtype::DataType::#dtype);),
            );
            add(entry.span, calls.collect());
        }
    }
    for param in &shader.params {
        match param {
            Param::Attr(name, _) => {
                let word = name.unraw().to_string();
                add(name.span(), quote!(#check::shader::require_param(__OP, #word)));
            }
            Param::Shape(argument, ..) => add(argument.span(), quote!(#check::require_argument(__OP, #argument))),
            Param::Computed(..) => {}
        }
    }
    if let Some(Dispatch::Elements(argument, _) | Dispatch::Rows(argument) | Dispatch::Tiles(argument, ..)) =
        &shader.dispatch
    {
        add(argument.span(), quote!(#check::require_argument(__OP, #argument)));
    }
    for argument in &shader.vectors {
        add(argument.span(), quote!(#check::shader::require_bound(__OP, #host, #argument)));
    }
    let listed = type_lists(args).map(|list| &list.name);
    let span = args.ops.first().map_or_else(Span::call_site, Spanned::span);
    add(span, quote!(#check::shader::require_arguments(__OP, #host, &[#(#listed),*])));
    checks
}

/// The capabilities that a registration for these dtypes needs: those listed, and those that its dtypes bring.
pub(in crate::kernel) fn requires<'a>(
    args: &KernelArgs,
    dtypes: impl Iterator<Item = (&'a str, Element)>,
) -> TokenStream {
    let (krate, host, own) = (&args.krate, &args.host_memory, &args.requires);
    let dtypes = dtypes.collect::<Vec<_>>();
    let needs = |capability: &str| {
        let is_listed = own.iter().any(|own| own.value() == capability);
        let attrs = dtypes.iter().filter(|(_, element)| element.rust == capability && !is_listed);
        let attrs =
            attrs.map(|(attr, _)| quote!(#krate::kernel::check::shader::is_on_device(__OP, &[#(#host),*], #attr)));
        attrs.collect::<Vec<_>>()
    };
    match (&needs("f16")[..], &needs("i64")[..]) {
        ([], []) => quote!(&[#(#own),*]),
        (half, []) => quote!(if false #(|| #half)* { &[#(#own,)* "f16"] } else { &[#(#own),*] }),
        ([], long) => quote!(if false #(|| #long)* { &[#(#own,)* "i64"] } else { &[#(#own),*] }),
        (half, long) => quote! {
            match (false #(|| #half)*, false #(|| #long)*) {
                (true, true) => &[#(#own,)* "f16", "i64"],
                (true, false) => &[#(#own,)* "f16"],
                (false, true) => &[#(#own,)* "i64"],
                (false, false) => &[#(#own),*],
            }
        },
    }
}

/// What the shader is called, made from and bound to, beside the registrations, and the test that checks it.
pub(in crate::kernel) struct Written {
    /// Stands with the registrations.
    pub(in crate::kernel) inner: TokenStream,
    /// Stands beside the struct.
    pub(in crate::kernel) test: TokenStream,
}

pub(in crate::kernel) fn written(
    args: &KernelArgs,
    shader: &Shader,
    ident: &Ident,
    op: &syn::Type,
    variants: &[TokenStream],
) -> Written {
    let krate = &args.krate;
    let wgsl = quote!(#krate::kernel::shader);
    let name = ident.unraw().to_string();
    let (host, requires, vectors, is_raw) = (&args.host_memory, &args.requires, &shader.vectors, shader.is_raw);
    let Some(file) = &shader.file else { return Written { inner: TokenStream::new(), test: TokenStream::new() } };
    let text = quote_spanned!(file.span()=> ::std::include_str!(#file));
    let workgroup = match &shader.workgroup {
        Some(threads) => quote!(#threads),
        None => quote!(#wgsl::WORKGROUP),
    };
    let dispatch = match &shader.dispatch {
        None => quote!(Elements { of: "", each: 1 }),
        Some(Dispatch::Elements(of, each)) => quote!(Elements { of: #of, each: #each }),
        Some(Dispatch::Rows(of)) => quote!(Rows { of: #of }),
        Some(Dispatch::Tiles(of, rows, columns)) => quote!(Tiles { of: #of, rows: #rows, columns: #columns }),
        Some(Dispatch::ElementWise(operands)) => quote!(ElementWise(#wgsl::Operands::#operands)),
        Some(Dispatch::Function(_)) => quote!(Function),
    };
    let params = shader.params.iter().map(|param| match param {
        Param::Attr(name, ty) => {
            let name = name.unraw().to_string();
            let ty = match ty.map(ParamType::variant) {
                Some(ty) => quote!(Some(#wgsl::ParamType::#ty)),
                None => quote!(None),
            };
            quote!(#wgsl::Param { name: #name, value: #wgsl::ParamValue::Attr(#ty) })
        }
        Param::Computed(name, ty, _) => {
            let (name, ty) = (name.unraw().to_string(), ty.variant());
            quote!(#wgsl::Param { name: #name, value: #wgsl::ParamValue::Computed(#wgsl::ParamType::#ty) })
        }
        Param::Shape(argument, rank, _) => {
            quote!(#wgsl::Param { name: #argument, value: #wgsl::ParamValue::Shape { rank: #rank } })
        }
    });
    let computed = shader.params.iter().filter_map(|param| match param {
        Param::Computed(_, ty, value) => {
            let ty = ty.rust();
            Some(quote!(words.push(#wgsl::word::<#op, #ty, _>(launch, #value)?);))
        }
        _ => None,
    });
    let outputs = shader.outputs.as_ref().map(|function| {
        quote! {
            fn outputs(
                launch: &#wgsl::Launch<'_, #op>,
            ) -> ::core::option::Option<#krate::Result<::std::vec::Vec<#krate::shape::Shape>>> {
                ::core::option::Option::Some(#wgsl::shapes::<#op, _, _>(launch, #function))
            }
        }
    });
    let groups = match &shader.dispatch {
        Some(Dispatch::Function(function)) => Some(quote! {
            fn groups(launch: &#wgsl::Launch<'_, #op>) -> #krate::Result<[::core::primitive::u32; 3]> {
                #wgsl::groups::<#op, _>(launch, #function)
            }
        }),
        _ => None,
    };
    let attrs = shader.params.iter().map(|param| match param {
        Param::Attr(name, _) => Some(name.unraw().to_string()),
        Param::Computed(..) | Param::Shape(..) => None,
    });
    let element_wise = match (&shader.dispatch, &attrs.collect::<Vec<_>>()[..]) {
        (Some(Dispatch::ElementWise(operands)), []) => Some((operands, quote!(None))),
        (Some(Dispatch::ElementWise(operands)), [Some(attr)]) => Some((operands, quote!(Some(#attr)))),
        _ => None,
    };
    let element_wise = element_wise.map(|(operands, parameter)| {
        quote! {
            const ELEMENT_WISE: ::core::option::Option<(
                #krate::kernel::Meet,
                ::core::option::Option<&'static ::core::primitive::str>,
            )> = ::core::option::Option::Some((
                #wgsl::Operands::#operands.meet(),
                ::core::option::Option::#parameter,
            ));
        }
    });
    let capabilities = args.requires.iter().map(|name| {
        let check = respan(quote!(#wgsl::assert_capability(#name)), name.span());
        quote!(const _: () = #check;)
    });
    let refusal = match &shader.refusal {
        Some((code, message)) => quote!(::core::option::Option::Some((#krate::Code::#code, #message))),
        None => quote!(::core::option::Option::None),
    };
    let test = format_ident!("the_shader_of_{}_suits_{}", snake(&quote!(#ident)), snake(op));
    Written {
        inner: quote! {
            #(#capabilities)*

            static __SOURCE: #wgsl::Source = #wgsl::Source {
                name: #name,
                location: __LOCATION,
                file: #file,
                text: #text,
                op: __OP,
                host_memory: &[#(#host),*],
                requires: &[#(#requires),*],
                variants: &[#(#variants),*],
                is_raw: #is_raw,
                dispatch: #wgsl::Dispatch::#dispatch,
                params: &[#(#params),*],
                vectors: &[#(#vectors),*],
                workgroup: #workgroup,
                refusal: #refusal,
                provider: __PROVIDER,
                made: #wgsl::Made::new(),
            };

            impl #wgsl::WgslKernel<#op> for #ident {
                #element_wise

                fn source() -> &'static #wgsl::Source {
                    &__SOURCE
                }

                fn computed(
                    launch: &#wgsl::Launch<'_, #op>,
                ) -> #krate::Result<::std::vec::Vec<::core::primitive::u32>> {
                    let _ = launch;
                    #[allow(unused_mut, reason = "there may be no such parameter")]
                    let mut words = ::std::vec::Vec::new();
                    #(#computed)*
                    ::core::result::Result::Ok(words)
                }

                #outputs
                #groups
            }
        },
        test: quote! {
            #[cfg(test)]
            #[test]
            fn #test() {
                if let ::core::result::Result::Err(error) = #krate::gpu::wgsl::check::<#ident, #op>() {
                    ::std::panic!("{}", error.message());
                }
            }
        },
    }
}

/// The lists of dtypes: the shader differs for each of their values.
pub(in crate::kernel) fn type_lists(args: &KernelArgs) -> impl Iterator<Item = &AttrList> {
    args.lists.iter().filter(|list| matches!(list.values, Values::Types(_)))
}
