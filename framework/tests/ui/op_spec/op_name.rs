extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

#[register_op(name = "matMul")]
pub struct LowerCase;

#[register_op(name = "Mat-Mul")]
pub struct Dash;

#[register_op(name = "Ns>")]
pub struct NoName;

#[register_op(name = ">Op")]
pub struct NoNamespace;

#[register_op(name = "2D")]
pub struct Digit;

#[register_op(name = "_a-b")]
pub struct Internal;

#[register_op(name = "")]
pub struct Empty;

fn main() {}
