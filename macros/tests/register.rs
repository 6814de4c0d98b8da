//! What `#[register_op]` and `#[register_kernel]` produce.

extern crate kernlink_framework as kernlink;

#[path = "register/kernels.rs"]
mod kernels;
#[path = "register/ops.rs"]
mod ops;
#[path = "register/wrappers.rs"]
mod wrappers;

kernlink::provider!();
