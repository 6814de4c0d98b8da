//! Collection: how the registrations of all linked crates come together.
//!
//! `linkme` lets the linker lay constant entries side by side; `inventory` stands in on WebAssembly, which linkme
//! lacks. Nothing outside this file knows which of them is at work.

use std::any::Any;
use std::sync::OnceLock;

use crate::kernel::{KernelDef, Location, Provider};
use crate::op::OpDef;
use crate::select::LeftOut;
use crate::shape_inference::ShapeFn;

/// One declared op with its shape function.
pub struct OpEntry {
    /// The declaration.
    pub def: &'static OpDef,
    /// Its shape function.
    pub shape_fn: Option<ShapeFn>,
    /// Whether the op ignores selective registration.
    pub system: bool,
    /// Whether selective registration kept the op. One that it left out cannot be used: it stands for itself in the
    /// error that says so.
    pub selected: bool,
    /// The crate that declared it.
    pub provider: &'static Provider,
    /// Where.
    pub location: Location,
    /// Keeps all entries in one writable section, whatever the relocation model.
    #[doc(hidden)]
    pub writable: std::sync::atomic::AtomicBool,
}

impl OpEntry {
    /// Where it is from, for people: `at src/lib.rs:12 (crate my-ops)`, or `in the library /tmp/libmy_ops.so`.
    pub fn origin(&self) -> String {
        self.location.origin(self.provider)
    }
}

/// One registration of a kernel. Written by `#[register_kernel]`; see [`linked_kernels`].
#[doc(hidden)]
pub struct KernelEntry {
    registered: Registered,
    /// Stands for a kernel that was left out, once somebody asks. Being mutable, it also keeps all entries in one
    /// writable section, whatever the relocation model.
    stub: OnceLock<&'static KernelDef>,
}

enum Registered {
    Kept(&'static KernelDef),
    LeftOut(&'static LeftOut, u64),
}

impl KernelEntry {
    /// A kernel that selective registration keeps.
    pub const fn kept(kernel: &'static KernelDef) -> KernelEntry {
        KernelEntry { registered: Registered::Kept(kernel), stub: OnceLock::new() }
    }

    /// One that it left out, and which of the values of each constraint it was for; see [`LeftOut::stub`].
    pub const fn left_out(kernels: &'static LeftOut, choice: u64) -> KernelEntry {
        KernelEntry { registered: Registered::LeftOut(kernels, choice), stub: OnceLock::new() }
    }

    fn kernel(&'static self) -> &'static KernelDef {
        match &self.registered {
            Registered::Kept(kernel) => kernel,
            Registered::LeftOut(kernels, choice) => {
                self.stub.get_or_init(|| Box::leak(Box::new(kernels.stub(*choice))))
            }
        }
    }
}

/// One registration of a rewrite. Written by `#[register_rewrite]`.
pub struct RewriteEntry {
    /// Its name.
    pub name: &'static str,
    /// The rewrite, a [`RewriteDef`](crate::optimize::rewrite::RewriteDef); `None` if selective registration left out an op
    /// that it is about.
    pub rewrite: Option<&'static (dyn Any + Send + Sync)>,
    /// The crate that registered it.
    pub provider: &'static Provider,
    /// Where.
    pub location: Location,
    /// Keeps all entries in one writable section, whatever the relocation model.
    #[doc(hidden)]
    pub writable: std::sync::atomic::AtomicBool,
}

/// One registration of a gradient. Written by `#[register_gradient]` and `not_differentiable!`.
pub struct GradientEntry {
    /// By which nodes ask for it.
    pub name: &'static str,
    /// The name of the op that it is about; its declaration would keep an op in the program that was left out.
    pub op: &'static str,
    /// The gradient, a [`GradientDef`](crate::gradient::GradientDef); `None` if selective registration left its op out, of
    /// which no node can ask for it then.
    pub gradient: Option<&'static (dyn Any + Send + Sync)>,
    /// The crate that registered it.
    pub provider: &'static Provider,
    /// Where.
    pub location: Location,
    /// Keeps all entries in one writable section, whatever the relocation model.
    #[doc(hidden)]
    pub writable: std::sync::atomic::AtomicBool,
}

#[cfg(not(target_family = "wasm"))]
mod backend {
    use super::{GradientEntry, KernelEntry, OpEntry, RewriteEntry};

    #[doc(hidden)]
    #[linkme::distributed_slice]
    pub static KERNLINK_OPS_0_1: [OpEntry];

    #[doc(hidden)]
    #[linkme::distributed_slice]
    pub static KERNLINK_KERNELS_0_1: [KernelEntry];

    #[doc(hidden)]
    #[linkme::distributed_slice]
    pub static KERNLINK_REWRITES_0_1: [RewriteEntry];

    #[doc(hidden)]
    #[linkme::distributed_slice]
    pub static KERNLINK_GRADIENTS_0_1: [GradientEntry];

    pub(super) fn ops() -> impl Iterator<Item = &'static OpEntry> {
        KERNLINK_OPS_0_1.iter()
    }

    pub(super) fn kernels() -> impl Iterator<Item = &'static KernelEntry> {
        KERNLINK_KERNELS_0_1.iter()
    }

    pub(super) fn rewrites() -> impl Iterator<Item = &'static RewriteEntry> {
        KERNLINK_REWRITES_0_1.iter()
    }

    pub(super) fn gradients() -> impl Iterator<Item = &'static GradientEntry> {
        KERNLINK_GRADIENTS_0_1.iter()
    }
}

#[cfg(target_family = "wasm")]
mod backend {
    use super::{GradientEntry, KernelEntry, OpEntry, RewriteEntry};

    #[doc(hidden)]
    pub struct CollectedOp(pub &'static OpEntry);
    #[doc(hidden)]
    pub struct CollectedKernel(pub &'static KernelEntry);
    inventory::collect!(CollectedOp);
    #[doc(hidden)]
    pub struct CollectedRewrite(pub &'static RewriteEntry);
    inventory::collect!(CollectedKernel);
    inventory::collect!(CollectedRewrite);
    #[doc(hidden)]
    pub struct CollectedGradient(pub &'static GradientEntry);
    inventory::collect!(CollectedGradient);

    pub(super) fn ops() -> impl Iterator<Item = &'static OpEntry> {
        inventory::iter::<CollectedOp>.into_iter().map(|op| op.0)
    }

    pub(super) fn kernels() -> impl Iterator<Item = &'static KernelEntry> {
        inventory::iter::<CollectedKernel>.into_iter().map(|kernel| kernel.0)
    }

    pub(super) fn rewrites() -> impl Iterator<Item = &'static RewriteEntry> {
        inventory::iter::<CollectedRewrite>.into_iter().map(|rewrite| rewrite.0)
    }

    pub(super) fn gradients() -> impl Iterator<Item = &'static GradientEntry> {
        inventory::iter::<CollectedGradient>.into_iter().map(|gradient| gradient.0)
    }
}

#[doc(hidden)]
pub use backend::*;

/// What `provider!` imports.
#[doc(hidden)]
pub mod first_provider {
    pub use crate::__first_provider as __kernlink_provider;
}

/// The ops of all linked crates, in link order.
pub fn linked_ops() -> impl Iterator<Item = &'static OpEntry> {
    backend::ops()
}

/// The kernels of all linked crates, in link order. Those that selective registration left out are among them, as
/// stubs.
pub fn linked_kernels() -> impl Iterator<Item = &'static KernelDef> {
    backend::kernels().map(KernelEntry::kernel)
}

/// The rewrites of all linked crates, in link order.
pub fn linked_rewrites() -> impl Iterator<Item = &'static RewriteEntry> {
    backend::rewrites()
}

/// The gradients of all linked crates, in link order.
pub fn linked_gradients() -> impl Iterator<Item = &'static GradientEntry> {
    backend::gradients()
}

/// Adds an [`OpEntry`] to the collection. Written by `#[register_op]`.
#[doc(hidden)]
#[cfg(not(target_family = "wasm"))]
#[macro_export]
macro_rules! __collect_op {
    ($($path:ident)::+, $entry:expr) => {
        #[$($path)::+::__private::linkme::distributed_slice($($path)::+::__private::KERNLINK_OPS_0_1)]
        #[linkme(crate = $($path)::+::__private::linkme)]
        static __ENTRY: $($path)::+::__private::OpEntry = $entry;
    };
}

/// Adds an [`OpEntry`] to the collection. Written by `#[register_op]`.
#[doc(hidden)]
#[cfg(target_family = "wasm")]
#[macro_export]
macro_rules! __collect_op {
    ($($path:ident)::+, $entry:expr) => {
        static __ENTRY: $($path)::+::__private::OpEntry = $entry;
        $($path)::+::__private::inventory::submit! { $($path)::+::__private::CollectedOp(&__ENTRY) }
    };
}

/// Adds a [`KernelEntry`] to the collection. Written by `#[register_kernel]`.
#[doc(hidden)]
#[cfg(not(target_family = "wasm"))]
#[macro_export]
macro_rules! __collect_kernel {
    ($($path:ident)::+, $entry:expr) => {
        #[$($path)::+::__private::linkme::distributed_slice($($path)::+::__private::KERNLINK_KERNELS_0_1)]
        #[linkme(crate = $($path)::+::__private::linkme)]
        static __ENTRY: $($path)::+::__private::KernelEntry = $entry;
    };
}

/// Adds a [`KernelEntry`] to the collection. Written by `#[register_kernel]`.
#[doc(hidden)]
#[cfg(target_family = "wasm")]
#[macro_export]
macro_rules! __collect_kernel {
    ($($path:ident)::+, $entry:expr) => {
        static __ENTRY: $($path)::+::__private::KernelEntry = $entry;
        $($path)::+::__private::inventory::submit! { $($path)::+::__private::CollectedKernel(&__ENTRY) }
    };
}

/// Adds a [`RewriteEntry`] to the collection. Written by `#[register_rewrite]`.
#[doc(hidden)]
#[cfg(not(target_family = "wasm"))]
#[macro_export]
macro_rules! __collect_rewrite {
    ($($path:ident)::+, $entry:expr) => {
        #[$($path)::+::__private::linkme::distributed_slice($($path)::+::__private::KERNLINK_REWRITES_0_1)]
        #[linkme(crate = $($path)::+::__private::linkme)]
        static __ENTRY: $($path)::+::__private::RewriteEntry = $entry;
    };
}

/// Adds a [`RewriteEntry`] to the collection. Written by `#[register_rewrite]`.
#[doc(hidden)]
#[cfg(target_family = "wasm")]
#[macro_export]
macro_rules! __collect_rewrite {
    ($($path:ident)::+, $entry:expr) => {
        static __ENTRY: $($path)::+::__private::RewriteEntry = $entry;
        $($path)::+::__private::inventory::submit! { $($path)::+::__private::CollectedRewrite(&__ENTRY) }
    };
}

/// Adds a [`GradientEntry`] to the collection. Written by `#[register_gradient]`.
#[doc(hidden)]
#[cfg(not(target_family = "wasm"))]
#[macro_export]
macro_rules! __collect_gradient {
    ($($path:ident)::+, $entry:expr) => {
        #[$($path)::+::__private::linkme::distributed_slice($($path)::+::__private::KERNLINK_GRADIENTS_0_1)]
        #[linkme(crate = $($path)::+::__private::linkme)]
        static __ENTRY: $($path)::+::__private::GradientEntry = $entry;
    };
}

/// Adds a [`GradientEntry`] to the collection. Written by `#[register_gradient]`.
#[doc(hidden)]
#[cfg(target_family = "wasm")]
#[macro_export]
macro_rules! __collect_gradient {
    ($($path:ident)::+, $entry:expr) => {
        static __ENTRY: $($path)::+::__private::GradientEntry = $entry;
        $($path)::+::__private::inventory::submit! { $($path)::+::__private::CollectedGradient(&__ENTRY) }
    };
}

/// Names the crate as a provider of ops, kernels or gradients. Stands once in each such crate, at its root; every
/// registration points to it.
///
/// ```ignore
/// kernlink::provider!();                            // promises nothing
/// kernlink::provider!(ops = 2, kernels = 6);        // the registry checks that the linker kept them all
/// kernlink::provider!(ops = 2, kernels = 6, gradients = 2); // and these
/// kernlink::provider!(kernels = 6, part_of = "my-kernels"); // crates that say the same are one provider to users
/// kernlink::provider!(ops = 2, feature_of = hint);  // errors ask `hint(op)` which Cargo feature brings what is missing
/// kernlink::provider!(ops = 2, lacks = reason);     // errors ask `reason(op)` why the crate has it with no feature
/// ```
#[macro_export]
macro_rules! provider {
    () => { $crate::provider!(@ [None, None, None], None, None); };
    (
        ops = $ops:expr
        $(, gradients = $gradients:expr)?
        $(, feature_of = $feature_of:expr)?
        $(, lacks = $lacks:expr)?
        $(,)?
    ) => {
        $crate::provider!(
            @ [Some($ops), None, $crate::provider!(? $($gradients)?)],
            $crate::provider!(? $($feature_of)?), $crate::provider!(? $($lacks)?)
        );
    };
    (
        kernels = $kernels:expr
        $(, gradients = $gradients:expr)?
        $(, part_of = $whole:expr)?
        $(, feature_of = $feature_of:expr)?
        $(,)?
    ) => {
        $crate::provider!(
            @ [None, Some($kernels), $crate::provider!(? $($gradients)?)],
            $crate::provider!(? $($feature_of)?), None, $crate::provider!(? $($whole)?)
        );
    };
    (
        ops = $ops:expr,
        kernels = $kernels:expr
        $(, gradients = $gradients:expr)?
        $(, feature_of = $feature_of:expr)?
        $(, lacks = $lacks:expr)?
        $(,)?
    ) => {
        $crate::provider!(
            @ [Some($ops), Some($kernels), $crate::provider!(? $($gradients)?)],
            $crate::provider!(? $($feature_of)?), $crate::provider!(? $($lacks)?)
        );
    };
    (gradients = $gradients:expr $(,)?) => {
        $crate::provider!(@ [None, None, Some($gradients)], None, None);
    };
    (|) => { None };
    (| $whole:expr) => { $whole };
    (?) => { None };
    (? $value:expr) => { Some($value) };
    // The `$` is for the macro that is made.
    (@ [$($promised:expr),*], $feature_of:expr, $lacks:expr $(, $whole:expr)?) => {
        $crate::provider!(@ [$($promised),*], $feature_of, $lacks $(, $whole)?; $);
    };
    (@ [$($promised:expr),*], $feature_of:expr, $lacks:expr $(, $whole:expr)?; $dollar:tt) => {
        #[allow(unused_imports, reason = "of a second `provider!` it is hidden")]
        use $crate::__private::first_provider::*;
        __kernlink_provider! {
            /// This crate as a provider of ops, kernels and gradients.
            pub static KERNLINK_PROVIDER: $crate::kernel::Provider = $crate::kernel::Provider::new(
                env!("CARGO_PKG_NAME"),
                $crate::kernel::Location { file: file!(), line: line!() },
            )
            .with_whole($crate::provider!(| $($whole)?))
            .with_promises($($promised),*)
            .with_reasons($feature_of, $lacks);

            // A glob import of another crate's root must not bring that crate's.
            #[doc(hidden)]
            pub(crate) enum KernlinkProvider {}

            impl $crate::kernel::CrateProvider for KernlinkProvider {
                const PROVIDER: &'static $crate::kernel::Provider = &KERNLINK_PROVIDER;
            }
        }

        /// What is made of a second `provider!`.
        #[allow(unused_macros, reason = "there should be none")]
        macro_rules! __kernlink_provider {
            ($dollar($dollar items:tt)*) => {
                ::core::compile_error!(
                    "this crate has a second `kernlink::provider!`: a crate is one provider; keep one, with the numbers of \
                     all its ops, kernels and gradients"
                );
            };
        }
    };
}

/// Makes the items of a crate's first `provider!`, which hides it from a second.
#[doc(hidden)]
#[macro_export]
macro_rules! __first_provider {
    ($($items:tt)*) => { $($items)* };
}
