//! TensorFlow's ops, declared for Kernlink.
//!
//! Each op is one unit struct with `#[register_op]` on it: the attrs, inputs and outputs in TensorFlow's own spec
//! strings, the flags, and a shape function. The declarations equal TensorFlow's; the documentation is our own. No
//! kernel is here, and no device: kernels name these types.
//!
//! | module | feature | what it declares |
//! |---|---|---|
//! | [`flow`] | | constants, placeholders, identities, what the runtime creates |
//! | [`registry`] | | taking kernels out of use, Kernlink's own |
//! | [`control_flow`] | | switches and loops of TensorFlow 1 |
//! | [`function`] | | calls, conditionals and loops over functions |
//! | [`builders`] | | the same over closures: [`call`], [`cond`], [`switch_case`], [`while_loop`], [`v1`] |
//! | [`math`] | `math` | element-wise functions, comparisons, reductions, matrices, casts |
//! | [`mod@array`] | `array` | shapes, joining, slicing, moving, padding |
//! | [`nn`] | `nn` | activations, convolution, pooling, normalisation, losses, their gradients |
//! | [`mod@data`] | `data` | datasets and iterators, readers of files |
//! | [`mod@audio`] | `audio` | WAV files, spectrograms, cepstra |
//! | [`mod@data_flow`] | `data_flow` | what flows in and out of a run: queues, stacks, staging areas, tensor arrays, stitching, batching |
//! | [`mod@image`] | `image` | images: detection, crops, sizes, colours, boxes |
//! | [`mod@image_codecs`] | `image_codecs` | image files: JPEG, PNG, GIF, BMP, WebP |
//! | [`quantization`] | `quantization` | quantized numbers: simulated, converted, and computed with |
//! | [`mod@io`] | `io` | checkpoints and files |
//! | [`mod@learning`] | `learning` | classical learning: clusters, isotonic regression, linear models by dual coordinate ascent; Sobol sequences |
//! | [`mod@linear_algebra`] | `linear_algebra` | decompositions, inverses, determinants, equations |
//! | [`mod@list`] | `list` | lists, maps and optionals that are values |
//! | [`mod@logging`] | `logging` | assertions, printing, summaries |
//! | [`mod@lookup`] | `lookup` | lookup tables |
//! | [`mod@parsing`] | `parsing` | messages and text to tensors |
//! | [`mod@random`] | `random` | random numbers |
//! | [`mod@signal`] | `signal` | Fourier transforms |
//! | [`mod@sparse`] | `sparse` | sparse and ragged tensors, sums of picked rows, sets |
//! | [`mod@state`] | `state` | variables, as references and as resources |
//! | [`mod@string`] | `string` | strings |
//! | [`mod@training`] | `training` | steps of optimisers |
//! | `train` | `train` | variables, optimisers and checkpoints, which are made of the ops |
//! | [`shapes`] | | shape functions of families, windows |
//!
//! Everything is found at the root as well. For an op such as [`Identity`] there are
//!
//! - `Identity`, which names the op in kernels, and its arguments: `Identity::INPUT`, `Identity::OUTPUT`;
//! - `IdentityAttrs`, what a kernel reads as `ctx.attrs()`;
//! - `identity(&mut graph, input)`, which adds a node to a graph. Inputs and then the attrs without a default are its
//!   parameters, the other attrs methods of what it returns. Where two of these attrs have one type, they are given by name,
//!   in a struct: `max_pool(&mut graph, input, MaxPoolRequired { ksize: &[1, 2, 2, 1], strides: &[1, 2, 2, 1], padding:
//!   "SAME" })`.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

#[cfg(feature = "array")]
pub mod array;
#[cfg(feature = "audio")]
pub mod audio;
pub mod builders;
pub mod control_flow;
#[cfg(feature = "data")]
pub mod data;
#[cfg(feature = "data_flow")]
pub mod data_flow;
mod feature;
pub mod flow;
pub mod function;
#[cfg(feature = "gradients")]
mod gradients;
#[cfg(feature = "image")]
pub mod image;
#[cfg(feature = "image_codecs")]
pub mod image_codecs;
#[cfg(any(feature = "array", feature = "math", feature = "sparse"))]
mod infer;
#[cfg(feature = "io")]
pub mod io;
mod lacks;
#[cfg(feature = "learning")]
pub mod learning;
#[cfg(feature = "linear_algebra")]
pub mod linear_algebra;
#[cfg(feature = "list")]
pub mod list;
#[cfg(feature = "logging")]
pub mod logging;
#[cfg(feature = "lookup")]
pub mod lookup;
#[cfg(feature = "math")]
pub mod math;
#[cfg(feature = "nn")]
pub mod nn;
#[cfg(feature = "parsing")]
pub mod parsing;
#[cfg(feature = "quantization")]
pub mod quantization;
#[cfg(feature = "random")]
pub mod random;
pub mod registry;
mod rewrites;
pub mod shapes;
#[cfg(feature = "signal")]
pub mod signal;
#[cfg(feature = "sparse")]
pub mod sparse;
#[cfg(feature = "state")]
pub mod state;
#[cfg(feature = "string")]
pub mod string;
#[cfg(test)]
mod testing;
#[cfg(feature = "train")]
pub mod train;
#[cfg(feature = "training")]
pub mod training;

#[cfg(feature = "array")]
pub use array::*;
#[cfg(feature = "audio")]
pub use audio::*;
#[cfg(feature = "math")]
pub use builders::while_loop;
pub use builders::{call, cond, constant, switch_case, v1};
pub use control_flow::*;
#[cfg(feature = "data")]
pub use data::*;
#[cfg(feature = "data_flow")]
pub use data_flow::*;
pub use feature::feature_of;
pub use flow::*;
pub use function::*;
#[cfg(feature = "image")]
pub use image::*;
#[cfg(feature = "image_codecs")]
pub use image_codecs::*;
#[cfg(feature = "io")]
pub use io::*;
#[cfg(feature = "learning")]
pub use learning::*;
#[cfg(feature = "linear_algebra")]
pub use linear_algebra::*;
#[cfg(feature = "list")]
pub use list::*;
#[cfg(feature = "logging")]
pub use logging::*;
#[cfg(feature = "lookup")]
pub use lookup::*;
#[cfg(feature = "math")]
pub use math::*;
#[cfg(feature = "nn")]
pub use nn::*;
#[cfg(feature = "parsing")]
pub use parsing::*;
#[cfg(feature = "quantization")]
pub use quantization::*;
#[cfg(feature = "random")]
pub use random::*;
pub use registry::*;
#[cfg(feature = "signal")]
pub use signal::*;
#[cfg(feature = "sparse")]
pub use sparse::*;
#[cfg(feature = "state")]
pub use state::*;
#[cfg(feature = "string")]
pub use string::*;
#[cfg(feature = "training")]
pub use training::*;

/// The number of ops that this crate declares with its present features.
pub const OPS: usize = kernlink_macros::registered_ops!();

/// The number of gradients that this crate registers with its present features; ops through which nothing flows count, too.
pub const GRADIENTS: usize = kernlink_macros::registered_gradients!() + GRADIENTS_BY_MACROS;

#[cfg(feature = "gradients")]
const GRADIENTS_BY_MACROS: usize = gradients::BY_MACROS;
#[cfg(not(feature = "gradients"))]
const GRADIENTS_BY_MACROS: usize = 0;

kernlink::provider!(ops = OPS, gradients = GRADIENTS, feature_of = feature_of, lacks = lacks::lacks);

#[cfg(test)]
mod tests {
    use kernlink::collect::{linked_gradients, linked_ops};

    use super::*;

    #[test]
    fn the_promised_number_of_ops_is_registered_each_with_a_shape_function() {
        let ours = || linked_ops().filter(|op| std::ptr::eq(op.provider, &KERNLINK_PROVIDER));
        assert_eq!(ours().count(), OPS);
        assert_eq!(ours().find(|op| op.shape_fn.is_none()).map(|op| &op.def.name), None);
    }

    #[test]
    fn the_promised_number_of_gradients_is_registered() {
        let ours = linked_gradients().filter(|gradient| std::ptr::eq(gradient.provider, &KERNLINK_PROVIDER)).count();
        assert_eq!(ours, GRADIENTS);
        assert!(if cfg!(feature = "gradients") { ours > 200 } else { ours == 0 }, "{ours}");
    }

    #[test]
    fn every_op_is_documented() {
        for op in linked_ops() {
            let summary = &op.def.summary;
            assert!(summary.ends_with('.') && summary.len() < 200, "{}: {summary}", op.def.name);
        }
    }
}
