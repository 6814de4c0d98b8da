//! SparseToDense.

use kernlink::error::{Error, Result};
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::shape::Shape;
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
    let indices = i64s(indices)?;
    let mut output = ctx.allocate_output(Op::DENSE, shape.clone())?;
    if output.num_elements() > 0 {
        fill(ctx, &mut output, default)?;
    }
    let (strides, validate) = (shape.strides(), attrs.validate_indices);
    let (mut places, mut last) = ([0; BLOCK], None);
    for first in (0..elements).step_by(BLOCK) {
        let places = &mut places[..BLOCK.min(elements - first)];
        let indices_of_block = &indices[first * rank..][..places.len() * rank];
        let are_within = match rank {
            1 => locate::<1>(indices_of_block, &shape, &strides, places),
            2 => locate::<2>(indices_of_block, &shape, &strides, places),
            3 => locate::<3>(indices_of_block, &shape, &strides, places),
            _ => places.iter_mut().enumerate().all(|(n, place)| {
                let found = place_of(&indices_of_block[n * rank..][..rank], &shape, &strides);
                *place = found.unwrap_or(0);
                found.is_some()
            }),
        };
        if !are_within || (validate && !rises(last, places)) {
            return Err(fault(&indices, elements, &shape, validate)?);
        }
        last = places.last().copied();
        scatter(&mut output, values, first, places)?;
    }
    ctx.set_output(Op::DENSE, output)
}

/// Elements whose places are found before they are written.
const BLOCK: usize = 512;

/// Where elements with these indices, of `RANK` numbers each, stand in a tensor of this shape; whether all are within.
fn locate<const RANK: usize>(indices: &[i64], shape: &[usize], strides: &[usize], places: &mut [usize]) -> bool {
    let (Some(sizes), Some(strides)) = (shape.first_chunk::<RANK>(), strides.first_chunk::<RANK>()) else {
        return false;
    };
    let mut are_within = true;
    for (place, index) in places.iter_mut().zip(indices.as_chunks::<RANK>().0) {
        *place = 0;
        for axis in 0..RANK {
            are_within &= (index[axis] as u64) < sizes[axis] as u64;
            *place = place.wrapping_add((index[axis] as usize).wrapping_mul(strides[axis]));
        }
    }
    are_within
}

/// Where the element with this index stands.
fn place_of(index: &[i64], shape: &[usize], strides: &[usize]) -> Option<usize> {
    index.iter().zip(shape).zip(strides).try_fold(0, |place, ((&index, &size), &stride)| {
        let index = usize::try_from(index).ok().filter(|&index| index < size)?;
        Some(place + index * stride)
    })
}

/// Whether each place is above the one before it, the first above `last`.
fn rises(last: Option<usize>, places: &[usize]) -> bool {
    let mut rises = last.zip(places.first()).is_none_or(|(last, &first)| last < first);
    for pair in places.windows(2) {
        rises &= pair[0] < pair[1];
    }
    rises
}

/// What is wrong with indices: the first of them that is.
#[cold]
fn fault(indices: &[i64], elements: usize, shape: &Shape, validate: bool) -> Result<Error> {
    let (rank, strides) = (shape.rank(), shape.strides());
    let mut last = None;
    for n in 0..elements {
        let index = &indices[n * rank..][..rank];
        let error = |what: &str| Ok(Error::invalid_argument(format!("indices[{n}] = {} is {what}", index_text(index))));
        let Some(place) = place_of(index, shape, &strides) else {
            return error(&format!("out of bounds: need 0 <= index < {shape}"));
        };
        match last.filter(|_| validate) {
            Some(last) if place < last => {
                return error(
                    "out of order. Many sparse ops require sorted indices. Use SparseReorder to create a correctly \
                     ordered copy.",
                );
            }
            Some(last) if place == last => return error("repeated"),
            _ => last = Some(place),
        }
    }
    bail!(Internal, "indices without a fault")
}
