//! SparseToDense.

use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::shape::Shape;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_geometry::integers::{index_text, vector};
use kernlink_kernels_common::strided::fill;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::elements::{i64s, scatter};

#[register_kernel(
    device = Cpu,
    Tindices = [int32, int64],
    T = [realnumbertype, bool, complex128, complex64, qint16, qint8, quint16, quint8, string],
)]
fn sparse_to_dense(attrs: &Attrs<ops::SparseToDense>, ctx: &mut KernelContext<'_, ops::SparseToDense>) -> Result<()> {
    type Op = ops::SparseToDense;
    let (indices, values) = (ctx.input(Op::SPARSE_INDICES)?, ctx.input(Op::SPARSE_VALUES)?);
    ensure!(
        indices.rank() <= 2,
        InvalidArgument,
        "sparse_indices should be a scalar, vector, or matrix, got shape {}",
        indices.shape()
    );
    let mut elements = indices.shape().first().copied().unwrap_or(1);
    let rank = indices.shape().get(1).copied().unwrap_or(1);
    let sizes = vector(ctx.input(Op::OUTPUT_SHAPE)?, "output_shape")?;
    ensure!(
        sizes.len() == rank,
        InvalidArgument,
        "output_shape has incorrect number of elements: {} should be: {rank}",
        sizes.len()
    );
    ensure!(
        values.rank() == 0 || (values.rank() == 1 && values.num_elements() == elements),
        InvalidArgument,
        "sparse_values has incorrect shape {}, should be [] or [{elements}]",
        values.shape()
    );
    let default = ctx.input(Op::DEFAULT_VALUE)?;
    ensure!(default.rank() == 0, InvalidArgument, "default_value should be a scalar.");
    if rank == 0 && values.rank() == 0 {
        // The one index of a scalar, however often: no memory says so.
        elements = elements.min(2);
    }
    let shape = Shape::from_dims(&sizes)?;
    let places = places(&i64s(indices)?, elements, &shape, attrs.validate_indices)?;
    let mut output = ctx.allocate_output(Op::DENSE, shape)?;
    if output.num_elements() > 0 {
        fill(ctx, &mut output, default)?;
        scatter(&mut output, values, &places)?;
    }
    ctx.set_output(Op::DENSE, output)
}

/// Where the elements with these indices stand in a tensor of this shape.
fn places(indices: &[i64], elements: usize, shape: &Shape, validate: bool) -> Result<Vec<usize>> {
    let (rank, strides) = (shape.rank(), shape.strides());
    let mut places = scratch::room(elements)?;
    for n in 0..elements {
        let index = &indices[n * rank..][..rank];
        let place = index.iter().zip(shape.iter()).zip(&strides).try_fold(0, |place, ((&index, &size), &stride)| {
            let index = usize::try_from(index).ok().filter(|&index| index < size)?;
            Some(place + index * stride)
        });
        let Some(place) = place else {
            bail!(InvalidArgument, "indices[{n}] = {} is out of bounds: need 0 <= index < {shape}", index_text(index));
        };
        if validate && let Some(&last) = places.last() {
            let wrong = |what: &str| format!("indices[{n}] = {} is {what}", index_text(index));
            ensure!(
                place >= last,
                InvalidArgument,
                "{}. Many sparse ops require sorted indices. Use SparseReorder to create a correctly ordered copy.",
                wrong("out of order")
            );
            ensure!(place > last, InvalidArgument, "{}", wrong("repeated"));
        }
        places.push(place);
    }
    Ok(places)
}
