extern crate kernlink_framework as kernlink;

use kernlink::Result;
use kernlink::graph::Output;
use kernlink::optimize::rewrite::{Matched, Rewrite};
use kernlink_macros::{register_op, register_rewrite};

kernlink::provider!();

#[register_op(attr("T: {float, double}"), input("x: T"), output("y: T"))]
pub struct Twice;

#[register_rewrite(name = "not-captured", pattern = Twice { x })]
fn not_captured(_: &mut Rewrite<'_, '_>, x: Output, z: Output) -> Result<Option<Output>> {
    Ok(Some(x).or(Some(z)))
}

#[register_rewrite(name = "not-taken", pattern = outer @ Twice { x: inner @ Twice { x } })]
fn not_taken(_: &mut Rewrite<'_, '_>, inner: &Matched<Twice>, x: Output) -> Result<Option<Output>> {
    Ok(Some(x).or(Some(inner.output(0))))
}

#[register_rewrite(name = "two-things", pattern = x @ Twice { x })]
fn two_things(_: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<Output>> {
    Ok(Some(x))
}

#[register_rewrite(name = "No Name", pattern = Twice { x }, benefits = 2)]
fn arguments(_: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<Output>> {
    Ok(Some(x))
}

#[register_rewrite(name = "no-pattern")]
fn no_pattern(_: &mut Rewrite<'_, '_>) -> Result<Option<Output>> {
    Ok(None)
}

#[register_rewrite(name = "no-braces", pattern = Twice)]
fn no_braces(_: &mut Rewrite<'_, '_>) -> Result<Option<Output>> {
    Ok(None)
}

#[register_rewrite(name = "no-function", pattern = Twice { .. })]
struct NoFunction;

#[register_rewrite(name = "twice", pattern = Twice { x, x: _ })]
fn named_twice(_: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<Output>> {
    Ok(Some(x))
}

#[register_rewrite(name = "returns", pattern = Twice { x })]
fn returns(_: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<(Output, Output)>> {
    Ok(Some((x, x)))
}

fn main() {}
