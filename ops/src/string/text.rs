//! What a string is, and parts of it.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// The length of each string.
#[register_op(
    attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'", "What is counted: bytes, or characters of strings that are UTF-8."),
    input("input: string"),
    output("output: int32"),
    shape_fn = shapes::unchanged,
)]
pub struct StringLength;

#[register_op(
    attr("encoding: string = ''", "`utf-8`, or empty: then only the letters of ASCII change."),
    input("input: string"),
    output("output: string"),
    shape_fn = shapes::unchanged,
)]
pub enum Cases {
    /// Each string in lower case.
    StringLower,
    /// Each string in upper case.
    StringUpper,
}

/// Each string without the white space at its ends.
#[register_op(input("input: string"), output("output: string"), shape_fn = shapes::unchanged)]
pub struct StringStrip;

/// A part of each string.
#[register_op(
    attr("T: {int32, int64}"),
    attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'", "What `pos` and `len` count: bytes or characters of UTF-8."),
    input("input: string"),
    input("pos: T", "Where the part begins; from the end if negative. Broadcasts against `input`."),
    input("len: T", "How long it is, of the same shape as `pos`; a string that ends earlier gives less."),
    output("output: string"),
    shape_fn = substr_shape,
)]
pub struct Substr;

fn substr_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (pos, len) = (c.input(1), c.input(2));
    if let Some(rank) = c.rank(len) {
        c.with_rank(pos, rank)?;
    }
    for axis in 0..c.rank(pos).unwrap_or(0) as i64 {
        ensure!(
            c.value(c.dim(pos, axis)) == c.value(c.dim(len, axis)),
            InvalidArgument,
            "pos and len shapes must match: {} vs. {}",
            c.debug_string(pos),
            c.debug_string(len)
        );
    }
    shapes::broadcast_binary_op(c)
}
