//! Memory that cannot be refused although a tensor decides how much it is.

/// A function among those that ask for it, and why it may. A place is excepted, never an op: what else the op asks for
/// is refused.
pub(crate) const EXCEPTIONS: &[(&str, &str)] = &[
    ("kernels_math::reduce::drive::fold", "sums of a tile, of 16 KiB at most"),
    ("fold_rows<kernlink_kernels_math::reduce::", "the same, as a build with debug information calls it"),
    ("common::gemm::Gemm>::product", "blocks of operands that matrixmultiply packs, whose size is that of the caches"),
    ("kernels_common::files::path_of", "the name of a file, of 4,096 bytes at most"),
    ("kernlink_framework::tensor::file::open", "the same, for the system"),
    ("tensor::buffer::Pool::give", "a list of free buffers, which takes a pointer for each"),
    ("InferenceContext::run", "a message of debug builds alone, which quotes at most 1,000 elements of an input"),
    ("encoding::pairs::Pairs::table", "the table of an encoding, which is a constant"),
    (
        "kernlink_kernels_signal::plans::Plans<T>::find",
        "a plan of rustfft's, a few times as long as a row that it transforms",
    ),
    ("kernels_common::snappy::encode", "the table of Snappy's encoder, of 32 KiB"),
    ("kernels_string::re2::", "a parsed pattern, which is refused before it takes more than 128 MiB"),
    ("kernels_string::pattern::Latest::get", "a compiled pattern, whose program is 8 MiB at most"),
];

/// Ops that are left out unless `KERNLINK_SCRATCH_OP` names them, and why they would take minutes.
pub(crate) const SLOW: &[(&str, &str)] =
    &[("RandomIndexShuffle", "each element walks a cycle of up to 65,536 numbers, in as many rounds as an attr says")];
