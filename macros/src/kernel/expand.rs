//! From a registration to constant data, one `KernelDef` for each choice of the generic parameters.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned as _;

use super::check;
use super::dtype::Element;
use super::function;
use super::parse::{AttrList, KernelArgs, Values};
use super::target::{OP, Target};
use super::text::{compact, substituted};
use super::wgsl::{self, Written};
use crate::hash::fnv;
use crate::provider::Provider;
use crate::seen;

/// Above so many choices of its dtypes, a constraint counts for the hash of the registration instead: each choice
/// costs an impl.
const MAX_CHOICES: usize = 64;

/// A value that a generic parameter takes.
#[derive(Clone, Copy)]
enum Choice {
    Type(Element, Span),
    Int(i64, Span),
    Bool(bool, Span),
}

impl Choice {
    fn span(self) -> Span {
        match self {
            Choice::Type(_, span) | Choice::Int(_, span) | Choice::Bool(_, span) => span,
        }
    }

    fn element(self) -> Option<Element> {
        match self {
            Choice::Type(element, _) => Some(element),
            Choice::Int(..) | Choice::Bool(..) => None,
        }
    }

    /// As it stands in the kernel's name.
    fn text(self) -> String {
        match self {
            Choice::Type(element, _) => element.rust.to_owned(),
            Choice::Int(value, _) => value.to_string(),
            Choice::Bool(value, _) => value.to_string(),
        }
    }
}

pub(super) fn expand(args: &KernelArgs, target: &Target) -> TokenStream {
    // Parameters are called as the attrs, whatever the style of those.
    let is_lowercase = |ident: &proc_macro2::Ident| ident.to_string().starts_with(char::is_lowercase);
    let has_type_params = target.shader.is_none() && !target.params.is_empty();
    let allow = (has_type_params && target.params.iter().any(|(ident, _)| is_lowercase(ident)))
        .then(|| quote!(#[allow(non_camel_case_types, non_upper_case_globals, reason = "named as the op's attrs")]));
    let lists = target.lists(args);
    let combinations = combinations_of(&lists);
    let provider = Provider::of(&args.krate);
    let of_ops = target.ops.iter().map(|op| of_op(args, target, op, &provider, &allow, &lists, &combinations));
    let item = (!target.is_template).then_some(&target.item).map(|item| quote!(#allow #item));
    quote! {
        #item

        #(#of_ops)*
    }
}

/// How many registrations [`expand`] makes.
pub(super) fn count(args: &KernelArgs, target: &Target) -> usize {
    let of = |args: &KernelArgs| target.lists(args).into_iter().map(|list| choices(list).len()).product::<usize>();
    target.ops.len() * args.narrowed().iter().map(of).sum::<usize>()
}

/// The registrations for one op.
fn of_op(
    args: &KernelArgs,
    target: &Target,
    op: &Type,
    provider: &Provider,
    allow: &Option<TokenStream>,
    lists: &[&AttrList],
    combinations: &[Vec<Choice>],
) -> TokenStream {
    let krate = &args.krate;
    let Target { kernel, params, .. } = target;
    let checks = check::expand(args);
    let provide = &provider.items;
    let declarations = params.iter().map(|(_, declaration)| declaration);
    let has_type_params = target.shader.is_none() && !params.is_empty();
    let alias = has_type_params.then(|| quote!(type __Kernel<#(#declarations),*> = #kernel;));
    let name = format_ident!("{OP}");
    let of_op = target.names_op.then(|| quote!(type #name = #op;));
    let template = target.is_template.then_some(&target.item);
    let function = target.function.as_ref().map(|item| function::kernel(item, args, op));
    let device = &args.device;
    let host_memory = &args.host_memory;
    let label = args.label.as_ref().map_or_else(String::new, syn::LitStr::value);
    let (priority, system) = (args.priority, args.system);
    let (shader, test) = match written(args, target, op, lists, combinations) {
        Some(Written { inner, test }) => (Some(inner), Some(test)),
        None => (None, None),
    };
    let shader_def = match (&target.shader, &args.shader) {
        (Some(ident), Some(shader)) if shader.file.is_some() => quote!(::core::option::Option::Some(
            #krate::kernel::shader::ShaderDef::of::<#ident, #op>(&__SOURCE)
        )),
        _ => quote!(::core::option::Option::None),
    };
    let registrations = args.narrowed().into_iter().flat_map(|narrowed| {
        let lists = target.lists(&narrowed);
        let combinations = combinations_of(&lists).into_iter();
        combinations
            .map(|chosen| registration(args, &narrowed, target, op, provider, &lists, &chosen))
            .collect::<Vec<_>>()
    });
    let used = args.programs.as_ref().map(|programs| programs.use_outside_of_tests(krate));
    let programs = args.programs.as_ref().map(|programs| programs.test(args, target, op));
    let waits = target.is_async;
    let all_constraints = args.lists.iter().map(|list| {
        let (name, values) = (&list.name, all_values(&list.values, krate));
        quote!(#krate::kernel::AttrConstraint { attr: #name, values: #krate::kernel::ConstraintValues::#values })
    });
    quote! {
        #allow
        const _: () = {
            #of_op
            #template
            #function

            #provide
            const __OP: &#krate::op::OpDef = <#op as #krate::op::Op>::DEF;
            const __NAME: &::core::primitive::str = match &__OP.name {
                ::std::borrow::Cow::Borrowed(name) => name,
                ::std::borrow::Cow::Owned(_) => "",
            };
            const __LOCATION: #krate::kernel::Location =
                #krate::kernel::Location { file: ::std::file!(), line: ::std::line!() };
            #checks
            #alias
            #shader
            #used

            const fn __kernel(
                constraints: &'static [#krate::kernel::AttrConstraint],
                requires: &'static [&'static str],
                type_name: &'static str,
                element_wise: ::core::option::Option<#krate::kernel::ElementWise>,
                create: fn(
                    &#krate::kernel::RawConstruction<'_>,
                ) -> #krate::Result<::std::boxed::Box<dyn #krate::kernel::DynKernel>>,
            ) -> #krate::kernel::KernelDef {
                #krate::kernel::KernelDef {
                    op: __NAME,
                    device: #krate::kernel::DeviceType(#device),
                    constraints,
                    host_memory: &[#(#host_memory),*],
                    requires,
                    label: #label,
                    priority: #priority,
                    system: #system,
                    selected: true,
                    type_name,
                    provider: __PROVIDER,
                    location: __LOCATION,
                    element_wise,
                    shader: #shader_def,
                    waits: #waits,
                    create: #krate::kernel::CreateKernel::Function(create),
                    created: ::std::sync::atomic::AtomicU64::new(0),
                }
            }

            // What no entry refers to in the end is not linked, and a factory among it not even compiled.
            static __LEFT_OUT: #krate::select::LeftOut = #krate::select::LeftOut {
                op: __NAME,
                device: #device,
                constraints: &[#(#all_constraints),*],
                label: #label,
                priority: #priority,
                provider: __PROVIDER,
                location: __LOCATION,
            };

            const fn __entry(kernel: &'static #krate::kernel::KernelDef, choice: u64) -> #krate::__private::KernelEntry {
                if #system || #krate::select::keeps_kernel(__NAME, #device, #label, kernel.constraints) {
                    #krate::__private::KernelEntry::kept(kernel)
                } else {
                    #krate::__private::KernelEntry::left_out(&__LEFT_OUT, choice)
                }
            }

            #(#registrations)*
        };

        #test
        #programs
    }
}

/// What a kernel adds of which only the shader is written.
fn written(
    args: &KernelArgs,
    target: &Target,
    op: &Type,
    lists: &[&AttrList],
    combinations: &[Vec<Choice>],
) -> Option<Written> {
    let (shader, ident) = (args.shader.as_ref()?, target.shader.as_ref()?);
    let krate = &args.krate;
    let variants = combinations.iter().map(|chosen| {
        let dtypes = lists.iter().zip(chosen).map(|(list, choice)| {
            let name = &list.name;
            let variant = choice.element().map(Element::variant);
            quote!((#name, #krate::dtype::DataType::#variant))
        });
        quote!(&[#(#dtypes),*])
    });
    Some(wgsl::written(args, shader, ident, op, &variants.collect::<Vec<_>>()))
}

/// One registration; `all` are the arguments of which `args` are a part.
fn registration(
    all: &KernelArgs,
    args: &KernelArgs,
    target: &Target,
    op: &Type,
    provider: &Provider,
    lists: &[&AttrList],
    chosen: &[Choice],
) -> TokenStream {
    let krate = &args.krate;
    let bare = krate.bare();
    let Target { is_async, kernel, params, .. } = target;
    let create = if *is_async { quote!(create_async_kernel) } else { quote!(create_kernel) };
    let constraints = args.lists.iter().map(|list| {
        let name = &list.name;
        let values = match lists.iter().position(|generic| generic.name == *name) {
            Some(i) => chosen_value(chosen[i], krate),
            None => all_values(&list.values, krate),
        };
        quote!(#krate::kernel::AttrConstraint { attr: #name, values: #krate::kernel::ConstraintValues::#values })
    });
    let constraints = constraints.collect::<Vec<_>>();
    let arguments = chosen.iter().map(|choice| match *choice {
        Choice::Type(element, _) => element.path(krate),
        Choice::Int(value, _) => {
            let value = Literal::i64_unsuffixed(value);
            quote!({ #value })
        }
        Choice::Bool(value, _) => quote!(#value),
    });
    // The first token by which it differs from other registrations.
    let of_op = || if target.ops.len() > 1 { op.span() } else { Span::call_site() };
    let span = chosen.first().map_or_else(of_op, |choice| choice.span());
    let instance = match target.shader.is_some() || params.is_empty() {
        true => match (&target.shader, &args.shader) {
            (Some(ident), Some(shader)) => wgsl::kernel(krate, shader, ident, op),
            _ => quote!(#kernel),
        },
        false => quote_spanned!(span=> __Kernel<#(#arguments),*>),
    };
    let values = params.iter().zip(chosen).map(|((ident, _), choice)| (ident.to_string(), choice.text()));
    let of_op = (OP.to_owned(), last_word(op));
    let type_name = substituted(target.called.clone(), &values.chain([of_op]).collect::<Vec<_>>());
    let requires = match target.shader {
        Some(_) => {
            let dtypes = lists.iter().zip(chosen).filter_map(|(list, choice)| Some((&*list.name, choice.element()?)));
            wgsl::requires(args, dtypes)
        }
        None => {
            let requires = &args.requires;
            quote!(&[#(#requires),*])
        }
    };
    let element_wise = match is_async {
        true => quote!(::core::option::Option::None),
        false => quote!(<#instance as #krate::kernel::OpKernel<#op>>::ELEMENT_WISE),
    };
    let coherence = coherence(args, op, provider, lists, chosen, span);
    let choice = choice_bytes(all, lists, chosen);
    quote! {
        const _: () = {
            static __KERNEL: #krate::kernel::KernelDef = __kernel(
                &[#(#constraints),*],
                #requires,
                #type_name,
                #element_wise,
                #krate::kernel::#create::<#op, #instance>,
            );
            #krate::__collect_kernel!(#bare, __entry(&__KERNEL, #choice));
            #coherence
        };
    }
}

/// For the stub of the kernel, if it is left out: byte `i` is the position of the value that was chosen for list `i`, or
/// 255 for all values (and for positions that do not fit: the stub then says less).
fn choice_bytes(args: &KernelArgs, lists: &[&AttrList], chosen: &[Choice]) -> u64 {
    let mut bytes = [u8::MAX; 8];
    for (byte, list) in bytes.iter_mut().zip(&args.lists) {
        let Some(i) = lists.iter().position(|generic| generic.name == list.name) else { continue };
        let position = choices(list).iter().position(|choice| choice.text() == chosen[i].text());
        *byte = position.and_then(|position| u8::try_from(position).ok()).unwrap_or(u8::MAX);
    }
    u64::from_le_bytes(bytes)
}

/// Impls that a second registration of the same kernel in this crate would repeat, which does not compile.
fn coherence(
    args: &KernelArgs,
    op: &Type,
    provider: &Provider,
    lists: &[&AttrList],
    chosen: &[Choice],
    span: Span,
) -> TokenStream {
    let krate = &args.krate;
    let provider = &provider.ty;
    let mut sorted = args.lists.iter().collect::<Vec<_>>();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let mut variant = format!("label {:?}", args.label.as_ref().map(syn::LitStr::value).unwrap_or_default());
    let is_pure = |list: &AttrList| !lists.iter().any(|generic| generic.name == list.name);
    let pure = sorted.iter().filter(|list| is_pure(list)).filter_map(|list| match &list.values {
        Values::Types(entries) => Some(entries.iter().map(|entry| entry.elements.len()).sum::<usize>()),
        _ => None,
    });
    let few = pure.fold(1usize, usize::saturating_mul) <= MAX_CHOICES;
    let mut dtypes = Vec::new();
    for list in sorted {
        variant.push_str(&format!(" {}", list.name));
        let generic = lists.iter().position(|generic| generic.name == list.name);
        match (generic.map(|i| chosen[i]), &list.values) {
            (Some(choice @ Choice::Type(..)), _) => dtypes.push(vec![choice]),
            (Some(choice), _) => variant.push_str(&format!("={}", choice.text())),
            (None, Values::Types(_)) if few => dtypes.push(choices(list)),
            (None, values) => variant.push_str(&format!("={}", sorted_text(values))),
        }
    }
    let device_name = args.device.as_deref().unwrap_or_default();
    let of_priority = args.priority;
    // In a copy for one of several ops it says nothing.
    let op_text = Some(compact(op.to_token_stream())).filter(|text| text != OP);
    let key =
        |dtypes: &str| op_text.as_ref().map(|op| format!("kernel {op} {device_name} {of_priority} {variant} {dtypes}"));
    let (device, variant_hash) = (fnv(device_name), fnv(&variant));
    let priority = Literal::i32_unsuffixed(args.priority);
    let impls = combinations(&dtypes).into_iter().map(|dtypes| {
        let texts = dtypes.iter().map(|choice| choice.text()).collect::<Vec<_>>().join(", ");
        let dtypes = dtypes.iter().map(|choice| match choice {
            Choice::Type(element, _) => element.path(krate),
            Choice::Int(..) | Choice::Bool(..) => TokenStream::new(),
        });
        let dtypes = quote!((#(#dtypes,)*));
        let earlier = key(&texts).map_or_else(Vec::new, |key| seen::earlier(key, span));
        let implementation = |number: u64| {
            quote! {
                #krate::kernel::check::RegistersKernel<
                    #provider,
                    #krate::kernel::check::DeviceMarker<#device>,
                    #dtypes,
                    #variant_hash,
                    { #priority },
                    #number,
                >
            }
        };
        // Those before may be for another op of the same text: the compiler knows.
        let checks = earlier.iter().zip(0..).map(|(place, number)| {
            let message = duplicate(args, op, &texts, place);
            let implementation = implementation(number);
            quote_spanned! {span=>
                const _: () = {
                    struct __Of<Op>(::core::marker::PhantomData<Op>);
                    #[allow(dead_code, reason = "hidden by the other, if there is one")]
                    trait __Unregistered {
                        const IS_REGISTERED: bool = false;
                    }
                    impl<Op> __Unregistered for __Of<Op> {}
                    #[allow(dead_code, reason = "where it is not for this op")]
                    impl<Op: #implementation> __Of<Op> {
                        const IS_REGISTERED: bool = true;
                    }
                    ::core::assert!(!<__Of<#op>>::IS_REGISTERED, #message);
                };
            }
        });
        let implementation = implementation(earlier.len() as u64);
        quote_spanned! {span=>
            #(#checks)*
            impl #implementation for #op {}
        }
    });
    quote!(#(#impls)*)
}

/// What is wrong with a kernel that is registered at `place`, too.
fn duplicate(args: &KernelArgs, op: &Type, dtypes: &str, place: &str) -> String {
    let device = match args.device.as_deref() {
        Some("CPU") => "the CPU",
        Some("GPU") => "the GPU",
        Some("DEFAULT") | None => "any device",
        Some(device) => device,
    };
    let dtypes = if dtypes.is_empty() { String::new() } else { format!(" with {dtypes}") };
    format!(
        "this crate registers two kernels for `{}`{dtypes} on {device}, here and at {place}: nothing says which of them runs; \
         remove one, or give one a `priority` or a `label`",
        last_word(op)
    )
}

/// The values of a list, one by one.
fn choices(list: &AttrList) -> Vec<Choice> {
    match &list.values {
        Values::Types(entries) => {
            let each = entries.iter().flat_map(|entry| entry.elements.iter().map(|&e| Choice::Type(e, entry.span)));
            each.collect()
        }
        Values::Ints(ints) => ints.iter().map(|&(value, span)| Choice::Int(value, span)).collect(),
        Values::Bools(bools) => bools.iter().map(|literal| Choice::Bool(literal.value, literal.span)).collect(),
        Values::Strings(_) => Vec::new(),
    }
}

/// Every way to take a value of each list.
fn combinations_of(lists: &[&AttrList]) -> Vec<Vec<Choice>> {
    combinations(&lists.iter().map(|list| choices(list)).collect::<Vec<_>>())
}

/// Every way to take one of each.
fn combinations(lists: &[Vec<Choice>]) -> Vec<Vec<Choice>> {
    lists.iter().fold(vec![Vec::new()], |chosen, list| {
        let longer = chosen.iter().flat_map(|chosen| {
            list.iter().map(move |&choice| chosen.iter().copied().chain([choice]).collect::<Vec<_>>())
        });
        longer.collect()
    })
}

fn chosen_value(choice: Choice, krate: &crate::path::Crate) -> TokenStream {
    match choice {
        Choice::Type(element, _) => {
            let variant = element.variant();
            quote!(Types(&[#krate::dtype::DataType::#variant]))
        }
        Choice::Int(value, _) => quote!(Ints(&[#value])),
        Choice::Bool(value, _) => quote!(Bools(&[#value])),
    }
}

fn all_values(values: &Values, krate: &crate::path::Crate) -> TokenStream {
    match values {
        Values::Types(entries) => {
            let variants = entries.iter().flat_map(|entry| &entry.elements).map(|element| element.variant());
            quote!(Types(&[#(#krate::dtype::DataType::#variants),*]))
        }
        Values::Strings(literals) => quote!(Strings(&[#(#literals),*])),
        Values::Ints(ints) => {
            let ints = ints.iter().map(|(value, _)| value);
            quote!(Ints(&[#(#ints),*]))
        }
        Values::Bools(bools) => quote!(Bools(&[#(#bools),*])),
    }
}

/// The values as text that does not depend on their order.
fn sorted_text(values: &Values) -> String {
    let mut texts = match values {
        Values::Types(entries) => {
            entries.iter().flat_map(|entry| &entry.elements).map(|element| element.rust.to_owned()).collect::<Vec<_>>()
        }
        Values::Strings(literals) => literals.iter().map(|literal| format!("{:?}", literal.value())).collect(),
        Values::Ints(ints) => ints.iter().map(|(value, _)| value.to_string()).collect(),
        Values::Bools(bools) => bools.iter().map(|literal| literal.value.to_string()).collect(),
    };
    texts.sort();
    texts.join(",")
}

/// The last word of the op's path.
fn last_word(op: &Type) -> String {
    match op {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default(),
        other => compact(other.to_token_stream()),
    }
}
