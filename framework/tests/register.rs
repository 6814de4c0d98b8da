//! What `#[register_op]`, `#[register_kernel]` and `#[register_gradient]` produce. Here, not beside the macros: what the tests of a crate
//! of macros need is built for the compiler's machine, and the framework would be compiled once more.

extern crate kernlink_framework as kernlink;

#[path = "register/families.rs"]
mod families;
#[path = "register/gradients.rs"]
mod gradients;
#[path = "register/kernels.rs"]
mod kernels;
#[path = "register/ops.rs"]
mod ops;
#[path = "register/wrappers.rs"]
mod wrappers;

kernlink::provider!(
    ops = kernlink_macros::registered_ops!(),
    kernels = kernlink_macros::registered_kernels!(),
    gradients = kernlink_macros::registered_gradients!(),
);

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
    let gradients = kernlink::collect::linked_gradients().filter(|gradient| own(gradient.provider)).count();
    let promised = (KERNLINK_PROVIDER.ops, KERNLINK_PROVIDER.kernels, KERNLINK_PROVIDER.gradients);
    assert_eq!(promised, (Some(ops), Some(kernels), Some(gradients)));
    assert!(ops > 10 && kernels > 100 && gradients == 11, "{ops}, {kernels} and {gradients}");
}
