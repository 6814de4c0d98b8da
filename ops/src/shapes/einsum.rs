//! Sums of products, as an equation says them.

use std::collections::HashMap;

use super::broadcast_binary_op_output_shape;
use kernlink::shape::MAX_RANK;
use kernlink::shape_inference::common::output_shape;
use kernlink::shape_inference::{DimHandle, InferenceContext, ShapeHandle};
use kernlink::{Error, Result, bail, ensure};

const ELLIPSIS: &str = "...";

/// The labels of the inputs and of the output in `ab,bc->ac`.
///
/// # Errors
/// INVALID_ARGUMENT if the equation is malformed.
#[track_caller]
fn parse(equation: &str) -> Result<(Vec<&str>, &str)> {
    let sides: Vec<&str> = equation.split("->").collect();
    let [inputs, output] = sides[..] else {
        bail!(InvalidArgument, "Expecting exactly one '->' in einsum equation: {equation}");
    };
    let inputs: Vec<&str> = inputs.split(',').collect();
    ensure!(
        (1..=2).contains(&inputs.len()),
        InvalidArgument,
        "Expecting 1 or 2 input subscripts in equation '{equation}' but got: {}",
        inputs.len()
    );
    Ok((inputs, output))
}

/// The labels before the ellipsis and those after it, if there is one.
#[track_caller]
fn split(labels: &str) -> Result<(&str, Option<&str>)> {
    let periods = labels.matches('.').count();
    ensure!(
        periods == 0 || periods == 3,
        InvalidArgument,
        "Expected at most one ellipsis (...), but found {periods} periods (.) in the input subscript: {labels}"
    );
    match labels.split_once(ELLIPSIS) {
        None if periods > 0 => {
            bail!(InvalidArgument, "Periods found outside of ellipsis in subscript: {labels}")
        }
        None => Ok((labels, None)),
        Some((before, after)) => Ok((before, Some(after))),
    }
}

/// Output 0 of `Einsum`: attr `equation` labels the dimensions of one or two inputs and of the output, and an ellipsis
/// stands for dimensions that broadcast.
///
/// # Errors
/// INVALID_ARGUMENT if the equation is malformed, the inputs have other ranks than it says, or dimensions of one label
/// differ.
pub fn einsum_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let equation: String = c.attr("equation")?;
    let (inputs, output) = parse(&equation)?;
    ensure!(
        (1..=2).contains(&c.num_inputs()),
        InvalidArgument,
        "Expected either 1 or 2 inputs but got: {}",
        c.num_inputs()
    );
    ensure!(
        inputs.len() == c.num_inputs(),
        InvalidArgument,
        "Expected {} inputs for equation {equation} but got: {}",
        inputs.len(),
        c.num_inputs()
    );
    let mut dims: HashMap<char, DimHandle> = HashMap::new();
    let mut broadcast: Option<ShapeHandle> = None;
    for (index, labels) in inputs.iter().enumerate() {
        let between = label_input(c, index, labels, &equation, &mut dims)?;
        broadcast = Some(match broadcast {
            None => between,
            Some(other) => broadcast_binary_op_output_shape(c, other, between, true)?,
        });
    }
    let broadcast = broadcast.unwrap_or_else(|| c.scalar());

    let (before, after) = split(output)?;
    let middle = match after {
        Some(_) => match c.dims(broadcast) {
            Some(dims) => dims,
            None => {
                return output_shape(c, c.unknown_shape());
            }
        },
        None => {
            c.with_rank_at_most(broadcast, 0).map_err(|error| {
                error.context(format!(
                    "einsum equation '{equation}' has no ellipsis (...) in the output but its inputs have dimensions \
                     to broadcast"
                ))
            })?;
            Vec::new()
        }
    };
    let find = |label: char| {
        dims.get(&label).copied().ok_or_else(|| {
            Error::invalid_argument(format!(
                "Einsum output subscripts for equation '{equation}' has label '{label}' which is not present in the \
                 input subscripts"
            ))
        })
    };
    let mut all = before.chars().map(find).collect::<Result<Vec<_>>>()?;
    all.extend(middle);
    for label in after.unwrap_or_default().chars() {
        all.push(find(label)?);
    }
    ensure!(all.len() <= MAX_RANK, InvalidArgument, "Rank cannot exceed {MAX_RANK}");
    output_shape(c, c.make_shape(all))
}

/// Notes the dimension of each label; returns the dimensions that the ellipsis stands for.
fn label_input(
    c: &InferenceContext<'_>,
    index: usize,
    labels: &str,
    equation: &str,
    dims: &mut HashMap<char, DimHandle>,
) -> Result<ShapeHandle> {
    let (before, after) = split(labels)?;
    let input = c.input(index);
    let trailing = after.map_or(0, |after| after.chars().count());
    let named = before.chars().count() + trailing;
    let context = |error: Error| error.append(format!(" for {index}th input and equation: {equation}"));
    if c.rank_known(input) {
        match after {
            Some(_) => c.with_rank_at_least(input, named).map_err(context)?,
            None => c.with_rank(input, named).map_err(context)?,
        };
    }
    let mut note = |label: char, dim: DimHandle| -> Result<()> {
        let merged = dims.get(&label).map_or(Ok(dim), |&known| c.merge_dim(known, dim))?;
        dims.insert(label, merged);
        Ok(())
    };
    for (axis, label) in before.chars().enumerate() {
        note(label, c.dim(input, axis as i64))?;
    }
    for (axis, label) in after.unwrap_or_default().chars().enumerate() {
        note(label, c.dim(input, axis as i64 - trailing as i64))?;
    }
    match (after, c.rank(input)) {
        (None, _) => Ok(c.scalar()),
        (Some(_), None) => Ok(c.unknown_shape()),
        (Some(_), Some(rank)) => c.subshape_range(input, before.chars().count() as i64, rank as i64 - trailing as i64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::op::{AttrBase, AttrType};
    use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};

    fn einsum(inputs: usize, equation: &str) -> ShapeTest {
        ShapeTest::anonymous(inputs, 1, einsum_shape)
            .declare_attr("equation", AttrType { base: AttrBase::String, list: false })
            .attr("equation", equation)
    }

    #[test]
    fn one_input() {
        infer_ok(&einsum(1, "abc->b"), "[?,?,?]", "[d0_1]");
        infer_ok(&einsum(1, "abc->ca"), "[3,?,5]", "[d0_2,d0_0]");
        infer_ok(&einsum(1, "abc->c"), "?", "[?]");
        infer_ok(&einsum(1, "a...a->a..."), "[?,?,3]", "[d0_2,d0_1]");
        infer_ok(&einsum(1, "ab...->b..."), "[2,3,?,5]", "[d0_1,d0_2,d0_3]");
        infer_ok(&einsum(1, "a...->a..."), "?", "?");
        infer_ok(&einsum(1, "->"), "[]", "[]");
        infer_error("must be equal, but are 3 and 2", &einsum(1, "aa->a"), "[3,2]");
        infer_error("Shape must be rank 2 but is rank 3", &einsum(1, "ab->a"), "[1,2,3]");
        infer_error("for 0th input and equation: ab...->a", &einsum(1, "ab...->a"), "[1]");
    }

    #[test]
    fn two_inputs() {
        infer_ok(&einsum(2, "ab,bc->ac"), "[2,?];[3,4]", "[d0_0,d1_1]");
        infer_ok(&einsum(2, "...ab,...bc->...ac"), "[5,1,2,3];[7,3,4]", "[d0_0,d1_0,d0_2,d1_2]");
        infer_ok(&einsum(2, "ab...,b...->ab..."), "[2,3,1,4];[?,5,4]", "[d0_0,d0_1,d1_1,d0_3|d1_2]");
        infer_ok(&einsum(2, "...a,...b->...ab"), "?;[1]", "?");
        infer_error("must be equal, but are 3 and 4", &einsum(2, "ab,bc->ac"), "[2,3];[4,5]");
        infer_error("has no ellipsis", &einsum(2, "...a,...a->a"), "[2,3];[3]");
    }

    #[test]
    fn equations_are_checked() {
        infer_error("exactly one '->'", &einsum(1, "ab"), "[1,2]");
        infer_error("1 or 2 input subscripts", &einsum(1, "a,b,c->"), "[1]");
        infer_error("Expected 2 inputs for equation", &einsum(1, "a,b->ab"), "[1]");
        infer_error("found 2 periods", &einsum(1, "a..->a"), "[1]");
        infer_error("outside of ellipsis", &einsum(1, "a.b..->a"), "[1,2]");
        infer_error("has label 'z' which is not present", &einsum(1, "ab->az"), "[1,2]");
    }
}
