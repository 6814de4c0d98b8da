extern crate kernlink_framework as kernlink;

use kernlink_macros::not_differentiable;

kernlink::provider!();

not_differentiable!(Thrice);

fn main() {}
