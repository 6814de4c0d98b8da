extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(name = "Family", input("x: float", "documentation", after = "y"), statefull)]
pub enum Family {
    #[op(crate = kernlink, atr("T: type"))]
    Arguments,
    #[op]
    NoArguments,
    #[op = "x: float"]
    Value,
    #[op(stateful)]
    #[op(stateful)]
    Twice,
}

#[register_op(input("x: float"))]
pub enum Places {
    #[op(input("y: float", behind = "x"))]
    Behind,
    #[op(input("y: float", after = x))]
    NoString,
    #[op(input("y: float", after = "x", "documentation"))]
    Order,
    #[op(input("y: float", after = "xx"))]
    Unknown,
    #[op(output("y: float", after = "x"))]
    OtherKind,
}

#[register_op(input("x: float"))]
pub enum Like {
    #[op(like = LikeBelow)]
    LikeFirst,
    #[op(like = LikeFist)]
    LikeBelow,
    #[op(like = "LikeBelow")]
    LikeString,
}

#[register_op(input("y: float", after = "x"), like = Like)]
pub struct NoFamily;

fn main() {}
