extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

// Wrong for all: told once, where it stands.
#[register_op(attr("T: {float, flot}"), input("x: T"), output("y: U"))]
pub enum Shared {
    SharedA,
    SharedB,
    #[op(name = "Shared C")]
    SharedC,
}

// Wrong for some: told on these.
#[register_op(input("x: T"))]
pub enum Some {
    #[op(attr("T: type"))]
    Right,
    WrongOnce,
    #[op(attr("U: type"))]
    WrongTwice,
}

// Wrong in what one says.
#[register_op(attr("T: type"), input("x: T"))]
pub enum Own {
    #[op(attr("T: {flot}"))]
    Misspelt,
    #[op(input("y: T"), input("y: T"))]
    Twice,
    #[op(input("x: Ref(T)"), input("x: T"))]
    ReplacedTwice,
    #[op(output("z: V"))]
    WrongAndCopied,
    #[op(like = WrongAndCopied, input("more: T"))]
    Copy,
}

fn main() {}
