//! TensorFlow's op and kernel framework for Rust, linked statically.
//!
//! Declare an op with [`register_op`], register a kernel with [`register_kernel`], and the linker brings all of them
//! together: there is no list to keep and no code before `main`. What is linked runs real TensorFlow graphs.
//!
//! ```
//! use kernlink::prelude::*;
//!
//! # fn main() -> Result<()> {
//! let mut graph = Graph::new(&kernlink::registry()?);
//! let x = ops::placeholder(&mut graph, DataType::Float).name("x").build()?;
//! let y = ops::square(&mut graph, x).name("y").build()?;
//! # let _ = y;
//! let session = Session::new(graph)?;
//! let answers = session.run(&[("x", Tensor::vector(&[1.0f32, 2.0, 3.0])?)], &["y"], &[])?;
//! assert_eq!(answers[0].as_slice::<f32>()?, [1.0, 4.0, 9.0]);
//! # Ok(())
//! # }
//! ```
//!
//! A graph in a file, which TensorFlow or a program like the one above has written, runs in the same way:
//!
//! ```no_run
//! use kernlink::prelude::*;
//!
//! fn main() -> Result<()> {
//!     let def = kernlink::proto::read_graph("model.pb")?;
//!     let session = Session::new(Graph::import(&def, &kernlink::registry()?)?)?;
//!     let x = Tensor::vector(&[1.0f32, 2.0, 3.0])?;
//!     let answers = session.run(&[("x", x)], &["y"], &[])?;
//!     println!("{}", answers[0]); // float [3] [1.0 4.0 9.0]
//!     Ok(())
//! }
//! ```
//!
//! The guides are in the repository: [how an op is added](https://github.com/kernlink/kernlink/blob/main/docs/adding-an-op.md),
//! [the command](https://github.com/kernlink/kernlink/blob/main/docs/command.md) and
//! [all others](https://github.com/kernlink/kernlink/tree/main/docs).
//!
#![doc = include_str!("../docs/features.md")]

/// The examples of docs/constants.md.
#[cfg(doctest)]
#[doc = include_str!("../docs/constants.md")]
mod constants {}

/// The examples of the framework's documentation that need ops.
#[cfg(doctest)]
#[doc = include_str!("../framework/doc/op_kernel.md")]
#[doc = include_str!("../framework/doc/kernel_context.md")]
#[doc = include_str!("../framework/doc/session.md")]
mod framework_examples {}

/// The examples of docs/control-flow.md.
#[cfg(doctest)]
#[doc = include_str!("../docs/control-flow.md")]
mod control_flow {}

/// The examples of docs/adding-an-op.md.
#[cfg(doctest)]
#[doc = include_str!("../docs/adding-an-op.md")]
mod adding_an_op {}

/// The examples of docs/from-tensorflow.md.
#[cfg(doctest)]
#[doc = include_str!("../docs/from-tensorflow.md")]
mod from_tensorflow {}

/// The examples of docs/gradients.md.
#[cfg(all(doctest, feature = "gradients"))]
#[doc = include_str!("../docs/gradients.md")]
mod gradients {}

/// The examples of docs/training.md.
#[cfg(all(doctest, feature = "train"))]
#[doc = include_str!("../docs/training.md")]
mod training {}

/// The examples of docs/optimizing.md.
#[cfg(doctest)]
#[doc = include_str!("../docs/optimizing.md")]
mod optimizing {}

/// The examples of docs/resources.md.
#[cfg(doctest)]
#[doc = include_str!("../docs/resources.md")]
mod resources {}

#[cfg(feature = "command")]
pub mod cli;
pub mod golden;
#[cfg(feature = "load-library")]
mod load;
mod model;
#[cfg(feature = "npy")]
pub mod npy;
pub mod testing;
#[cfg(feature = "command")]
pub mod tools;

pub use kernlink_framework::*;
pub use kernlink_geometry as geometry;
#[cfg(all(feature = "gpu-shaders", not(feature = "gpu")))]
pub mod gpu {
    //! Kernels in WGSL, in a build without a device that runs them.

    pub use kernlink_framework::kernel::shader::WORKGROUP;

    pub mod wgsl {
        //! Kernels of which only the shader is written: `#[register_kernel(device = Gpu, wgsl = "file.wgsl", ...)]`. Built with
        //! the feature `gpu`, this page says what a shader sees.

        pub use kernlink_framework::kernel::shader::declared::{ElementWise, Kernel, check};
        pub use kernlink_framework::kernel::shader::{
            Dispatch, IntoShapes, Launch, Made, Operands, Param, ParamType, ParamValue, RawLaunch, Source, WgslKernel,
            Word, groups, shapes, word,
        };
    }
}
#[cfg(feature = "gpu")]
pub use kernlink_kernels_gpu as gpu;
#[cfg(feature = "library")]
pub use kernlink_library::library;
pub use kernlink_macros::{
    not_differentiable, register_gradient, register_kernel, register_op, register_rewrite, registered_gradients,
    registered_kernels, registered_ops,
};
pub use kernlink_ops as ops;
#[cfg(feature = "train")]
pub use kernlink_ops::train;
#[cfg(feature = "load-library")]
pub use load::{Libraries, OpLibrary, load_libraries_from_env, load_library_dir, load_op_library};
pub use model::{MetaGraph, SavedModel};

#[doc(hidden)]
pub use kernlink_framework::__private;

use std::sync::{Arc, OnceLock};

/// The registry of all ops and kernels that are linked into this program.
///
/// It is built at the first call, and checked: what Kernlink's own crates and every other linked one promise must be
/// there.
///
/// # Errors
/// ALREADY_EXISTS if something is registered twice, FAILED_PRECONDITION if the linker lost registrations.
pub fn registry() -> Result<Arc<Registry>> {
    static REGISTRY: OnceLock<Result<Arc<Registry>>> = OnceLock::new();
    REGISTRY.get_or_init(|| Registry::linked(&providers()).map(Arc::new)).clone()
}

/// Kernlink's own crates of ops and kernels.
fn providers() -> Vec<&'static Provider> {
    let own = [&kernlink_ops::KERNLINK_PROVIDER].into_iter().chain(kernlink_kernels::PROVIDERS.iter().copied());
    #[cfg(feature = "gpu")]
    let own = own.chain([&kernlink_kernels_gpu::KERNLINK_PROVIDER]);
    own.collect()
}

use kernlink_framework::kernel::Provider;
use kernlink_framework::registry::Registry;

pub mod prelude {
    //! What most programs and all op crates need.

    pub use std::marker::PhantomData;

    pub use crate::ops;
    pub use crate::{MetaGraph, SavedModel};
    pub use kernlink_framework::dtype::{
        Complex32, Complex64, DataType, Element, Number, Pod, RealNumber, TString, Wrapping, bf16, f16,
    };
    pub use kernlink_framework::gradient::{
        Gradient, GradientScope, GradientTape, Gradients, IndexedSlices, NoGradient, ShapeOf, Value,
    };
    pub use kernlink_framework::graph::{Graph, NodeId, OpScope, Output};
    pub use kernlink_framework::kernel::{AsyncOpKernel, KernelConstruction, KernelContext, OpKernel};
    pub use kernlink_framework::optimize::rewrite::{Matched, MatchedNode, Rewrite};
    pub use kernlink_framework::runtime::{Callable, EagerContext, Session, SessionOptions};
    pub use kernlink_framework::shape::{PartialShape, Shape};
    pub use kernlink_framework::shape_inference::InferenceContext;
    pub use kernlink_framework::tensor::Tensor;
    pub use kernlink_framework::{Code, Error, Result, bail, ensure};
    pub use kernlink_macros::{not_differentiable, register_gradient, register_kernel, register_op, register_rewrite};
    pub use kernlink_ops::shapes as shape;
}
