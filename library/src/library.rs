//! `library!`.

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
                    <KernlinkProvider as $crate::guest::CrateProvider>::PROVIDER,
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
