//! Kernlink's CPU kernels: one module a family, each generic over its dtypes.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

#[cfg(feature = "array")]
mod array;
#[cfg(feature = "math")]
mod cast;
#[cfg(any(feature = "math", feature = "nn"))]
mod element_wise;
mod flow;
#[cfg(any(feature = "math", feature = "nn"))]
mod gemm;
#[cfg(any(feature = "math", feature = "nn"))]
mod gemv;
#[cfg(feature = "math")]
mod matmul;
#[cfg(feature = "nn")]
mod nn;
#[cfg(feature = "math")]
mod reduce;
#[cfg(feature = "nn")]
mod tile;

kernlink::provider!();
