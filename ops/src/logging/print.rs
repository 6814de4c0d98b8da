//! What a run says while it runs.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// Fails with INVALID_ARGUMENT and the values of `data` unless the condition holds.
#[register_op(
    attr("T: list(type) >= 1"),
    attr("summarize: int = 3", "How many elements of each tensor the error shows; all if negative."),
    input("condition: bool", "A scalar."),
    input("data: T", "What the error shows."),
    stateful,
    shape_fn = shapes::no_outputs,
)]
pub struct Assert;

/// `input` itself; the values of `data` go to the standard error.
#[register_op(
    attr("T: type"),
    attr("U: list(type) >= 0"),
    attr("message: string = ''", "Stands before the values."),
    attr("first_n: int = -1", "How many times it prints; always if negative."),
    attr("summarize: int = 3", "How many elements of each tensor are shown; all if negative."),
    input("input: T"),
    input("data: U", "What is printed."),
    output("output: T"),
    stateful,
    shape_fn = shapes::unchanged,
)]
pub struct Print;

/// Prints a string.
#[register_op(
    attr(
        "output_stream: string = 'stderr'",
        "`stdout`, `stderr`, `log(info)`, `log(warning)`, `log(error)`, or `file://` and the path of a file to append \
         to.",
    ),
    attr("end: string = '\\n'", "Printed after the string, but not to a log."),
    input("input: string", "A scalar."),
    stateful,
    shape_fn = print_v2_shape,
)]
pub struct PrintV2;

fn print_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 0)?;
    Ok(())
}

/// Seconds since 1970 began in Greenwich, at the moment at which it runs.
#[register_op(output("ts: double", "A scalar."), stateful, shape_fn = shapes::scalar)]
pub struct Timestamp;
