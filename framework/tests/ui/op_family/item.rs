extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(attr("T: type"))]
pub enum Empty {}

#[register_op(attr("T: type"))]
pub enum Generic<T> {
    GenericOp,
}

#[register_op(attr("T: type"))]
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Data {
    Named { x: f32 },
    Unnamed(f32),
    Value = 3,
}

fn main() {}
