//! Kernlink's CPU kernels: one module a family, each generic over its dtypes.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

#[cfg(feature = "array")]
mod array;
#[cfg(feature = "math")]
mod cast;
mod control_flow;
#[cfg(feature = "data_flow")]
mod data_flow;
#[cfg(any(feature = "math", feature = "nn"))]
mod element_wise;
mod flow;
mod function;
#[cfg(any(feature = "math", feature = "nn", feature = "sparse"))]
mod gemm;
#[cfg(any(feature = "math", feature = "nn", feature = "sparse"))]
mod gemv;
#[cfg(feature = "io")]
mod io;
#[cfg(feature = "list")]
mod list;
#[cfg(feature = "logging")]
mod logging;
#[cfg(feature = "lookup")]
mod lookup;
#[cfg(feature = "math")]
mod matmul;
#[cfg(any(feature = "data_flow", feature = "list", feature = "lookup"))]
#[cfg_attr(not(feature = "data_flow"), allow(dead_code, reason = "tables and lists need a part"))]
mod named;
#[cfg(feature = "nn")]
mod nn;
#[cfg(feature = "random")]
mod random;
#[cfg(feature = "math")]
mod reduce;
mod registry;
#[cfg(feature = "sparse")]
mod sparse;
#[cfg(feature = "state")]
mod state;
#[cfg(feature = "string")]
mod string;
#[cfg(any(feature = "logging", feature = "string"))]
mod summarize;
#[cfg(any(feature = "array", feature = "data_flow", feature = "list", feature = "math"))]
#[cfg_attr(
    not(all(feature = "array", feature = "list", feature = "math")),
    allow(dead_code, reason = "each family needs a part")
)]
mod tensors;
#[cfg(feature = "nn")]
mod tile;
#[cfg(feature = "training")]
mod training;
mod transfer;

/// The number of kernels that this crate registers with its present features.
pub const KERNELS: usize = 90
    + if cfg!(feature = "array") { 282 } else { 0 }
    + if cfg!(feature = "math") { 947 } else { 0 }
    + if cfg!(feature = "nn") { 343 } else { 0 }
    + if cfg!(feature = "data_flow") { 114 } else { 0 }
    + if cfg!(feature = "io") { 12 } else { 0 }
    + if cfg!(feature = "list") { 31 } else { 0 }
    + if cfg!(feature = "logging") { 12 } else { 0 }
    + if cfg!(feature = "lookup") { 51 } else { 0 }
    + if cfg!(feature = "random") { 144 } else { 0 }
    + if cfg!(feature = "sparse") { 294 } else { 0 }
    + if cfg!(feature = "state") { 61 } else { 0 }
    + if cfg!(feature = "string") { 31 } else { 0 }
    + if cfg!(feature = "training") { 57 } else { 0 };

kernlink::provider!(kernels = KERNELS);

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kernlink::collect::linked_kernels;

    use super::*;

    #[test]
    fn the_promised_number_of_kernels_is_registered() {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for kernel in linked_kernels().filter(|kernel| std::ptr::eq(kernel.provider, &KERNLINK_PROVIDER)) {
            *counts.entry(kernlink_ops::feature_of(kernel.op).unwrap_or("always")).or_default() += 1;
        }
        assert_eq!(counts.values().sum::<usize>(), KERNELS, "by the feature of their ops: {counts:?}");
    }
}
