//! The side of libraries: what a crate of ops becomes by [`library!`](crate::library).
//!
//! When the library is loaded, a constructor looks for a host and offers it the crate's ops and kernels by TensorFlow's C API.
//! What crosses are names, texts and bytes: an op is described by specs, a kernel reads its node from a `NodeDef`, tensors share
//! their elements, and resources stay in the library, where handles name them.

mod functions;
mod kernel;
mod load;
mod node;
mod offer;
mod refusals;
mod shape;
mod status;
mod tensor;

pub use functions::{Functions, HostKind};
pub use load::{library_loaded, offer_by};

/// Makes the crate a library of ops: built as a `cdylib`, it loads into Kernlink and into TensorFlow, by
/// `tf.load_op_library`. Stands once, in `lib.rs`, beside `provider!`.
///
/// Linked into a program, it has no effect: the program has the crate's ops and kernels anyway. Nor has it where there is no
/// host, or on systems whose programs are not in ELF.
///
/// ```ignore
/// kernlink::provider!();
/// kernlink::library!();
/// ```
#[macro_export]
macro_rules! library {
    () => {
        #[cfg(target_os = "linux")]
        const _: () = {
            /// Runs when the library is loaded.
            extern "C" fn load() {
                $crate::guest::library_loaded(
                    <crate::KernlinkProvider as $crate::guest::CrateProvider>::PROVIDER,
                    load as *const (),
                );
            }

            #[used]
            #[unsafe(link_section = ".init_array")]
            static CONSTRUCTOR: extern "C" fn() = load;

            /// Which interface the library speaks; see [`INTERFACE`]($crate::abi::INTERFACE).
            #[used]
            #[unsafe(export_name = concat!("kernlink_library_interface_", env!("CARGO_CRATE_NAME")))]
            pub static INTERFACE: u32 = $crate::abi::INTERFACE;
        };
    };
}

#[doc(hidden)]
pub use kernlink_framework::kernel::CrateProvider;
