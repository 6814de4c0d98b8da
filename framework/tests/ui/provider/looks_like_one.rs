extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

macro_rules! service_provider {
    () => {};
}

service_provider!();

const TEXT: &str = "
provider!();
";

#[register_op(input("x: float"))]
pub struct Op;

fn main() {
    println!("{TEXT}");
}
