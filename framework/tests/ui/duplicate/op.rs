extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(input("x: float"))]
pub struct Blur;

pub mod other {
    use kernlink_macros::register_op;

    #[register_op(input("y: float"))]
    pub struct Blur;

    #[register_op(name = "Sharpen")]
    pub struct First;

    #[register_op()]
    pub enum Family {
        #[op(name = "Sharpen")]
        Second,
        Sharpened,
    }

    // A condition tells them apart.
    #[cfg(all())]
    #[register_op(name = "Dull")]
    pub struct Third;

    #[cfg(any())]
    #[register_op(name = "Dull")]
    pub struct Fourth;
}

fn main() {}
