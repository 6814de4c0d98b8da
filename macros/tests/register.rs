//! What `#[register_op]` and `#[register_kernel]` produce.

extern crate kernlink_framework as kernlink;

#[path = "register/families.rs"]
mod families;
#[path = "register/kernels.rs"]
mod kernels;
#[path = "register/ops.rs"]
mod ops;
#[path = "register/wrappers.rs"]
mod wrappers;

kernlink::provider!(ops = kernlink_macros::registered_ops!(), kernels = kernlink_macros::registered_kernels!());

/// What counts under conditions alone.
#[cfg(not(test))]
mod elsewhere {
    #[kernlink_macros::register_op(input("x: float"))]
    pub struct NotInTests;
}

#[allow(dead_code, unreachable_pub, unused, reason = "only counted")]
const _: () = {
    #[cfg_attr(test, kernlink_macros::register_op(input("x: float")))]
    pub struct WithinAConstant;
};

#[test]
fn the_sources_tell_how_much_is_registered() {
    let own = |provider| std::ptr::eq(provider, &KERNLINK_PROVIDER);
    let ops = kernlink::collect::linked_ops().filter(|op| own(op.provider)).count();
    let kernels = kernlink::collect::linked_kernels().filter(|kernel| own(kernel.provider)).count();
    assert_eq!((KERNLINK_PROVIDER.ops, KERNLINK_PROVIDER.kernels), (Some(ops), Some(kernels)));
    assert!(ops > 10 && kernels > 100, "{ops} and {kernels}");
}
