//! Kernlink's CPU kernels, generic over dtypes: the crates of the families that the features choose.
//!
//! | crate | features | kernels |
//! |---|---|---|
//! | `kernlink-kernels-flow` | `io`, `logging` | constants, control flow, functions, transfers; files and logging |
//! | `kernlink-kernels-array` | `array` | values, shapes, slicing, joining and moving of data |
//! | `kernlink-kernels-element-wise` | `math`, `nn` | functions of each element, activations |
//! | `kernlink-kernels-math` | `math` | casts, reductions, products of matrices |
//! | `kernlink-kernels-nn` | `nn` | convolution, pooling, normalisation, losses |
//! | `kernlink-kernels-image` | `image` | images: detection, crops, sizes, colours, boxes |
//! | `kernlink-kernels-image-codecs` | `image_codecs` | image files: JPEG, PNG, GIF, BMP, WebP |
//! | `kernlink-kernels-parsing` | `parsing` | messages and text to tensors |
//! | `kernlink-kernels-audio` | `audio` | WAV files, spectrograms, cepstra |
//! | `kernlink-kernels-quantization` | `quantization` | quantized numbers: simulated, converted, and computed with |
//! | `kernlink-kernels-data` | `data` | datasets and iterators, `RecordInput` |
//! | `kernlink-kernels-data-flow` | `data_flow`, `data`, `list`, `lookup` | queues, stacks, accumulators, tensor arrays, batching, readers of files, lists, lookup tables |
//! | `kernlink-kernels-learning` | `learning` | classical learning: clusters, isotonic regression, linear models by dual coordinate ascent; Sobol sequences |
//! | `kernlink-kernels-linear-algebra` | `linear_algebra` | decompositions, inverses, determinants, equations |
//! | `kernlink-kernels-signal` | `signal` | Fourier transforms |
//! | `kernlink-kernels-sparse` | `sparse` | sparse and ragged tensors, sums of picked rows, sets |
//! | `kernlink-kernels-string` | `string` | strings |
//! | `kernlink-kernels-random` | `random` | random numbers, bit for bit those of TensorFlow |
//! | `kernlink-kernels-state` | `state`, `training` | variables, steps of optimisers |
//!
//! Each is checked and compiled by itself: an edit of a kernel rebuilds its family and what links it. What several
//! families share is `kernlink-kernels-common`.

use kernlink_framework::kernel::Provider;

/// The crates with kernels that are linked. To name them is what links them: see `docs/linking.md`.
pub static PROVIDERS: &[&Provider] = &[
    &kernlink_kernels_flow::KERNLINK_PROVIDER,
    #[cfg(feature = "array")]
    &kernlink_kernels_array::KERNLINK_PROVIDER,
    #[cfg(any(feature = "math", feature = "nn"))]
    &kernlink_kernels_element_wise::KERNLINK_PROVIDER,
    #[cfg(feature = "math")]
    &kernlink_kernels_math::KERNLINK_PROVIDER,
    #[cfg(feature = "nn")]
    &kernlink_kernels_nn::KERNLINK_PROVIDER,
    #[cfg(feature = "image")]
    &kernlink_kernels_image::KERNLINK_PROVIDER,
    #[cfg(feature = "image_codecs")]
    &kernlink_kernels_image_codecs::KERNLINK_PROVIDER,
    #[cfg(feature = "parsing")]
    &kernlink_kernels_parsing::KERNLINK_PROVIDER,
    #[cfg(feature = "audio")]
    &kernlink_kernels_audio::KERNLINK_PROVIDER,
    #[cfg(feature = "quantization")]
    &kernlink_kernels_quantization::KERNLINK_PROVIDER,
    #[cfg(feature = "data")]
    &kernlink_kernels_data::KERNLINK_PROVIDER,
    #[cfg(any(feature = "data_flow", feature = "list", feature = "lookup"))]
    &kernlink_kernels_data_flow::KERNLINK_PROVIDER,
    #[cfg(feature = "learning")]
    &kernlink_kernels_learning::KERNLINK_PROVIDER,
    #[cfg(feature = "linear_algebra")]
    &kernlink_kernels_linear_algebra::KERNLINK_PROVIDER,
    #[cfg(feature = "signal")]
    &kernlink_kernels_signal::KERNLINK_PROVIDER,
    #[cfg(feature = "sparse")]
    &kernlink_kernels_sparse::KERNLINK_PROVIDER,
    #[cfg(feature = "string")]
    &kernlink_kernels_string::KERNLINK_PROVIDER,
    #[cfg(feature = "random")]
    &kernlink_kernels_random::KERNLINK_PROVIDER,
    #[cfg(any(feature = "state", feature = "training"))]
    &kernlink_kernels_state::KERNLINK_PROVIDER,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kernlink_framework::collect::linked_kernels;

    use super::*;

    #[test]
    fn the_promised_numbers_of_kernels_are_registered() {
        let mut wrong = Vec::new();
        for provider in PROVIDERS {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for kernel in linked_kernels().filter(|kernel| std::ptr::eq(kernel.provider, *provider)) {
                *counts.entry(kernlink_ops::feature_of(kernel.op).unwrap_or("always")).or_default() += 1;
            }
            if provider.kernels != Some(counts.values().sum()) {
                wrong.push(format!(
                    "{} promises {:?}, by features there are {counts:?}",
                    provider.name, provider.kernels
                ));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
