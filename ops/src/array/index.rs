//! Where values belong in sorted rows, where elements stand in an array, and dimensions in other data formats.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: type"),
    attr("out_type: {int32, int64} = DT_INT32"),
    input("sorted_inputs: T", "A matrix whose rows ascend."),
    input("values: T", "A matrix with as many rows, of values that are sought in them."),
    output("output: out_type", "A place for each of `values`, from 0 to the length of a row of `sorted_inputs`."),
    shape_fn = bound_shape,
)]
pub enum Bounds {
    /// The first place in a sorted row at which a value can be inserted so that the row stays sorted.
    LowerBound,
    /// The last place in a sorted row at which a value can be inserted so that the row stays sorted.
    UpperBound,
}

fn bound_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 2)?;
    c.with_rank(c.input(1), 2)?;
    shapes::output_shape(c, c.input(1))
}

/// The coordinates of elements that are given by their places in row-major order: a column for each of `indices`, or a vector
/// if that is a scalar.
#[register_op(
    attr("Tidx: {int32, int64} = DT_INT32"),
    input("indices: Tidx", "A scalar or a vector; negative ones are not counted from the end."),
    input("dims: Tidx", "The shape of the array."),
    output("output: Tidx"),
    shape_fn = unravel_index_shape,
)]
pub struct UnravelIndex;

fn unravel_index_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let dims = c.with_rank(c.input(1), 1)?;
    let rows = c.dim(dims, 0);
    let output = match c.rank(c.input(0)) {
        None => c.unknown_shape(),
        Some(0) => c.vector(rows),
        Some(_) => c.matrix(rows, c.num_elements(c.input(0))),
    };
    shapes::output_shape(c, output)
}

#[register_op(
    attr("T: {int32, int64} = DT_INT32"),
    attr("src_format: string = 'NHWC'", "A letter for each dimension, such as `NHWC`; four or five."),
    attr("dst_format: string = 'NCHW'", "The same letters, in another order."),
    input("x: T"),
    output("y: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub enum DataFormats {
    /// Dimensions of `src_format` as dimensions of `dst_format`. Negative ones are counted from the end.
    DataFormatDimMap,
    /// A vector with an element for each dimension of `src_format`, or a matrix with a pair, in the order of `dst_format`; or
    /// those of the spatial dimensions alone.
    DataFormatVecPermute,
}

#[cfg(test)]
mod tests {
    use crate::testing::infer;

    use super::*;

    #[test]
    fn bounds_are_for_values() {
        let op = || infer::<LowerBound>().attr("T", kernlink::dtype::DataType::Float);
        op().ok("[1,5];[1,?]", "in1");
        op().ok("?;?", "in1");
        op().error("must be rank 2", "[5];[1,2]");
        op().error("must be rank 2", "[1,5];[2]");
    }

    #[test]
    fn coordinates_stand_in_columns() {
        let op = infer::<UnravelIndex>;
        op().ok("[];[3]", "[d1_0]");
        op().ok("[5];[?]", "[d1_0,5]");
        op().ok("?;[3]", "?");
        op().error("must be rank 1", "[5];[]");
    }
}
