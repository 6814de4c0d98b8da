extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

fn shapes(_: &mut kernlink::shape_inference::InferenceContext<'_>) -> kernlink::Result<()> {
    Ok(())
}

#[register_op(
    stateful,
    stateful,
    name = "A",
    name = "B",
    shape_fn = shapes,
    shape_fn = shapes,
    deprecated(1, "Use C."),
    deprecated(2, "Use D.")
)]
pub struct Twice;

fn main() {}
