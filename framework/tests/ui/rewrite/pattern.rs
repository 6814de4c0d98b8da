extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::graph::Output;
use kernlink::optimize::rewrite::{Matched, Rewrite};
use kernlink_macros::{register_op, register_rewrite};

kernlink::provider!();

#[register_op(
    attr("T: {float, double}"),
    attr("padding: {'SAME', 'VALID'} = 'SAME'"),
    attr("size: int = 1"),
    input("image: T"),
    input("filter: T"),
    output("result: T")
)]
pub struct Convolve;

#[register_op(attr("N: int >= 1"), input("all: N * float"), output("first: float"), output("rest: N * float"))]
pub struct Gathered;

#[register_rewrite(name = "unknown-op", pattern = Convole { image, filter })]
fn unknown_op(_: &mut Rewrite<'_, '_>, image: Output, filter: Output) -> Result<Option<Output>> {
    Ok(Some(image).or(Some(filter)))
}

#[register_rewrite(name = "unknown-input", pattern = Convolve { image, fliter: x })]
fn unknown_input(_: &mut Rewrite<'_, '_>, image: Output, x: Output) -> Result<Option<Output>> {
    Ok(Some(image).or(Some(x)))
}

#[register_rewrite(name = "missing-input", pattern = Convolve { image })]
fn missing_input(_: &mut Rewrite<'_, '_>, image: Output) -> Result<Option<Output>> {
    Ok(Some(image))
}

#[register_rewrite(name = "unknown-attr", pattern = Convolve { image, paddign = "SAME", .. })]
fn unknown_attr(_: &mut Rewrite<'_, '_>, image: Output) -> Result<Option<Output>> {
    Ok(Some(image))
}

#[register_rewrite(name = "wrong-value", pattern = Convolve { image, padding = "SMAE", .. })]
fn wrong_value(_: &mut Rewrite<'_, '_>, image: Output) -> Result<Option<Output>> {
    Ok(Some(image))
}

#[register_rewrite(name = "wrong-type", pattern = Convolve { image, size = "1", .. })]
fn wrong_type(_: &mut Rewrite<'_, '_>, image: Output) -> Result<Option<Output>> {
    Ok(Some(image))
}

#[register_rewrite(name = "list", pattern = Gathered { all: x })]
fn list(_: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<Output>> {
    Ok(Some(x))
}

#[register_rewrite(name = "output", pattern = Convolve { image: Gathered { all: [x] }.rest, .. })]
fn output(_: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<Output>> {
    Ok(Some(x))
}

#[register_rewrite(name = "other-op", pattern = conv @ Convolve { .. })]
fn other_op(_: &mut Rewrite<'_, '_>, conv: &Matched<Gathered>) -> Result<Option<Output>> {
    Ok(Some(conv.output(0)))
}

fn main() {}
