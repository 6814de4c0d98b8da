//! SparseAdd, SparseTensorDenseAdd, SparseSparseMaximum and SparseSparseMinimum; the gradients of sums and slices.

use kernlink::dtype::{Complex32, Complex64, Element, Number, RealNumber};
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink_geometry::integers::{ensure_scalar, index_text};
use kernlink_kernels_common::rows::take_rows;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::coo::{Coo, Pair, ensure_same_shape};
use super::elements::{ensure_matrix, ensure_vector, i64s};

/// A number that has a magnitude.
trait Magnitude: Number {
    /// A magnitude.
    type Real: Element + Copy;
    /// Whether the magnitude is at least `threshold`.
    fn reaches(self, threshold: Self::Real) -> bool;
}

macro_rules! magnitudes {
    ($($t:ty, $real:ty, |$x:ident| $magnitude:expr, |$threshold:ident| $wide:expr;)*) => {$(
        impl Magnitude for $t {
            type Real = $real;
            #[inline]
            fn reaches(self, threshold: $real) -> bool {
                let ($x, $threshold) = (self, threshold);
                $wide <= $magnitude
            }
        }
    )*};
}
magnitudes! {
    f32, f32, |x| x.abs(), |t| t;
    f64, f64, |x| x.abs(), |t| t;
    i8, i8, |x| i16::from(x).abs(), |t| i16::from(t);
    i16, i16, |x| i32::from(x).abs(), |t| i32::from(t);
    i32, i32, |x| i64::from(x).abs(), |t| i64::from(t);
    i64, i64, |x| i128::from(x).abs(), |t| i128::from(t);
    Complex32, f32, |x| x.re.hypot(x.im), |t| t;
    Complex64, f64, |x| x.re.hypot(x.im), |t| t;
}

/// The index of a place of a union.
#[inline]
fn index_of<'a>(a: &Coo<'a>, b: &Coo<'a>, pair: Pair) -> &'a [i64] {
    match pair {
        (Some(n), _) => a.index(n),
        (None, Some(n)) => b.index(n),
        (None, None) => &[],
    }
}

/// A matrix of indices of so many numbers each, as output 0.
fn matrix_of(ctx: &RawContext<'_>, indices: &[&[i64]], rank: usize) -> Result<Tensor> {
    let mut matrix = ctx.allocate_output_at(0, [indices.len(), rank])?;
    for (row, index) in matrix.as_mut_slice::<i64>()?.chunks_exact_mut(rank).zip(indices) {
        // Of so few numbers the call of a copy would take the longest.
        row.iter_mut().zip(*index).for_each(|(target, &index)| *target = index);
    }
    Ok(matrix)
}

/// Checks that the threshold has the dtype of magnitudes.
fn threshold<T: Magnitude>(ctx: &KernelConstruction<'_, ops::SparseAdd>) -> Result<()> {
    let threshold = ctx.attrs().Treal;
    ensure!(
        threshold == T::Real::DTYPE,
        InvalidArgument,
        "the threshold for values of {} must be {}, not {threshold}",
        T::DTYPE,
        T::Real::DTYPE
    );
    Ok(())
}

#[register_kernel(
    device = Cpu,
    op = ops::SparseAdd,
    T = [f32, f64, i8, i16, i32, i64, Complex32, Complex64],
    state = threshold::<T>,
)]
fn sparse_add<T: Magnitude>(_: &(), ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (a_values, b_values) = (ctx.input(O::A_VALUES)?, ctx.input(O::B_VALUES)?);
    let a = Coo::new(ctx.input(O::A_INDICES)?, a_values, ctx.input(O::A_SHAPE)?)?;
    let b = Coo::new(ctx.input(O::B_INDICES)?, b_values, ctx.input(O::B_SHAPE)?)?;
    ensure_same_shape(&a, &b)?;
    let threshold = ctx.input(O::THRESH)?;
    ensure_scalar(threshold, "The magnitude threshold")?;
    let threshold = threshold.to_scalar::<T::Real>()?;
    let (a_values, b_values) = (a_values.as_slice::<T>()?, b_values.as_slice::<T>()?);
    let most = a.len().max(b.len());
    let (mut kept, mut sums) = (scratch::room(most)?, scratch::room(most)?);
    for places in a.union(&b) {
        let sum = match places {
            (Some(m), Some(n)) => {
                let sum = a_values[m].wrapping_add(b_values[n]);
                if !sum.reaches(threshold) {
                    continue;
                }
                sum
            }
            (m, n) => m.map(|m| a_values[m]).or(n.map(|n| b_values[n])).unwrap_or(T::ZERO),
        };
        scratch::push(&mut kept, index_of(&a, &b, places))?;
        scratch::push(&mut sums, sum)?;
    }
    let indices = matrix_of(ctx, &kept, a.rank())?;
    let shape = ctx.input(O::A_SHAPE)?.clone();
    ctx.set_output(O::SUM_INDICES, indices)?;
    ctx.set_output(O::SUM_VALUES, Tensor::vector(&sums)?)?;
    ctx.set_output(O::SUM_SHAPE, shape)
}

/// The greater ones of two tensors' elements, or the lesser ones.
#[register_kernel(device = Cpu, op = ops::SparseSparseMaximum, T = [realnumbertype], state = |_| Ok(true))]
#[register_kernel(device = Cpu, op = ops::SparseSparseMinimum, T = [realnumbertype], state = |_| Ok(false))]
fn extreme<T: RealNumber>(&greater: &bool, ctx: &mut RawContext<'_>) -> Result<()> {
    let (a_values, b_values) = (ctx.input_at(1)?, ctx.input_at(4)?);
    let a = Coo::new(ctx.input_at(0)?, a_values, ctx.input_at(2)?)?;
    let b = Coo::new(ctx.input_at(3)?, b_values, ctx.input_at(5)?)?;
    a.ensure_within()?;
    b.ensure_within()?;
    ensure_same_shape(&a, &b)?;
    let union: Vec<Pair> = scratch::collected(a.union(&b))?;
    let indices: Vec<&[i64]> = scratch::collected(union.iter().map(|&pair| index_of(&a, &b, pair)))?;
    let indices = matrix_of(ctx, &indices, a.rank())?;
    let (a_values, b_values) = (a_values.as_slice::<T>()?, b_values.as_slice::<T>()?);
    let mut output = ctx.allocate_output_at(1, [union.len()])?;
    for (slot, (m, n)) in output.as_mut_slice::<T>()?.iter_mut().zip(union) {
        let (x, y) = (m.map_or(T::ZERO, |m| a_values[m]), n.map_or(T::ZERO, |n| b_values[n]));
        let second = if greater { x < y } else { y < x };
        *slot = if second { y } else { x };
    }
    ctx.set_output_at(0, indices)?;
    ctx.set_output_at(1, output)
}

#[register_kernel(device = Cpu, Tindices = [int32, int64], T = [realnumbertype, Complex64, Complex32])]
fn sparse_tensor_dense_add<T: Number>(ctx: &mut KernelContext<'_, ops::SparseTensorDenseAdd>) -> Result<()> {
    type Op = ops::SparseTensorDenseAdd;
    let (indices, values) = (ctx.input(Op::A_INDICES)?.clone(), ctx.input(Op::A_VALUES)?.clone());
    let (shape, dense) = (ctx.input(Op::A_SHAPE)?, ctx.input(Op::B)?);
    ensure_matrix(&indices, "Input a_indices")?;
    ensure_vector(&values, "Input a_values")?;
    ensure_vector(shape, "Input a_shape")?;
    let sizes = i64s(shape)?;
    ensure!(
        indices.shape()[0] == values.num_elements() && indices.shape()[1] == sizes.len(),
        InvalidArgument,
        "Dimensions {} and [{},{}] are not compatible",
        indices.shape(),
        values.num_elements(),
        sizes.len()
    );
    ensure!(
        *sizes == *dense.shape().to_i64(),
        InvalidArgument,
        "No broadcasting is supported: sparse side {} vs dense side {}",
        index_text(&sizes),
        dense.shape()
    );
    let rank = sizes.len();
    ensure!(
        (1..=5).contains(&rank),
        InvalidArgument,
        "Only tensors with ranks between 1 and 5 are currently supported.  Tensor rank: {rank}"
    );
    let strides = dense.shape().strides();
    let mut places = scratch::room(values.num_elements())?;
    for (n, index) in i64s(&indices)?.chunks_exact(rank).enumerate() {
        let within = index.iter().zip(&*sizes).all(|(index, &size)| (0..size).contains(index));
        ensure!(
            within,
            InvalidArgument,
            "Sparse tensor has an invalid index: a_indices({n}) = {}, dense tensor shape: {}",
            index_text(index),
            dense.shape()
        );
        places.push(index.iter().zip(&strides).map(|(&index, &stride)| index as usize * stride).sum::<usize>());
    }
    let mut output = ctx.take_input(Op::B)?;
    if !output.is_unique() {
        let mut copy = ctx.allocate_output(Op::OUTPUT, output.shape())?;
        copy.as_mut_slice::<T>()?.copy_from_slice(output.as_slice::<T>()?);
        output = copy;
    }
    let elements = output.as_mut_slice::<T>()?;
    for (place, &value) in places.into_iter().zip(values.as_slice::<T>()?) {
        elements[place] = elements[place].wrapping_add(value);
    }
    ctx.set_output(Op::OUTPUT, output)
}

/// A vector whose element `n` is element `picks[n]` of `grad`, or zero.
fn picked(ctx: &RawContext<'_>, output: usize, grad: &Tensor, picks: &[Option<usize>]) -> Result<Tensor> {
    let mut target = ctx.allocate_output_at(output, [picks.len()])?;
    take_rows(ctx, &mut target, grad, 1, &|n| picks[n])?;
    Ok(target)
}

/// What `find` says of each of `count` elements. Indices without columns take no memory, so there may be any number.
fn picks(count: usize, find: impl FnMut(usize) -> Option<usize>) -> Result<Vec<Option<usize>>> {
    scratch::collected((0..count).map(find))
}

/// Matrices of indices with the same number of columns, of which the last has a row for each element of `grad`.
fn ensure_gradient_fits(grad: &Tensor, indices: &[&Tensor]) -> Result<usize> {
    for matrix in indices {
        ensure_matrix(matrix, "Input indices")?;
    }
    ensure_vector(grad, "Input backprop_val_grad")?;
    let [rows, rank] = indices.last().map_or([0, 0], |last| [last.shape()[0], last.shape()[1]]);
    ensure!(
        indices.iter().all(|matrix| matrix.shape()[1] == rank),
        InvalidArgument,
        "The densified operands should have the same ndims"
    );
    ensure!(
        grad.num_elements() == rows,
        InvalidArgument,
        "# elements of backprop_val_grad and # rows of the result's indices should match: got {} and {rows}",
        grad.num_elements()
    );
    Ok(rank)
}

#[register_kernel(device = Cpu, T = [complex128, complex64, double, float, int16, int32, int64, int8])]
fn sparse_add_grad(ctx: &mut KernelContext<'_, ops::SparseAddGrad>) -> Result<()> {
    type Op = ops::SparseAddGrad;
    let grad = ctx.input(Op::BACKPROP_VAL_GRAD)?;
    let (a, b) = (ctx.input(Op::A_INDICES)?, ctx.input(Op::B_INDICES)?);
    let sum = ctx.input(Op::SUM_INDICES)?;
    let rank = ensure_gradient_fits(grad, &[a, b, sum])?;
    let found = |indices: &Tensor| -> Result<Vec<Option<usize>>> {
        let (indices, sums) = (Rows::new(indices, rank)?, Rows::new(sum, rank)?);
        let mut k = 0;
        // Both are sorted: what of the sum comes before an index is not wanted later either.
        let find = |n: usize| {
            while k < sums.count && sums.row(k) < indices.row(n) {
                k += 1;
            }
            let equal = k < sums.count && sums.row(k) == indices.row(n);
            k += usize::from(equal);
            equal.then(|| k - 1)
        };
        picks(indices.count, find)
    };
    let a = picked(ctx, 0, grad, &found(a)?)?;
    let b = picked(ctx, 1, grad, &found(b)?)?;
    ctx.set_output(Op::A_VAL_GRAD, a)?;
    ctx.set_output(Op::B_VAL_GRAD, b)
}

/// The rows of a matrix of indices, which may have no columns.
struct Rows<'a> {
    indices: &'a [i64],
    rank: usize,
    count: usize,
}

impl<'a> Rows<'a> {
    fn new(matrix: &'a Tensor, rank: usize) -> Result<Rows<'a>> {
        Ok(Rows { indices: matrix.as_slice()?, rank, count: matrix.shape()[0] })
    }

    fn row(&self, n: usize) -> &'a [i64] {
        &self.indices[n * self.rank..][..self.rank]
    }
}

#[register_kernel(device = Cpu, op = ops::SparseSliceGrad, T = [realnumbertype, complex128, complex64])]
fn sparse_slice_grad(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let grad = ctx.input(O::BACKPROP_VAL_GRAD)?;
    let (input, output) = (ctx.input(O::INPUT_INDICES)?, ctx.input(O::OUTPUT_INDICES)?);
    let rank = ensure_gradient_fits(grad, &[input, output])?;
    let (rows, wanted) = (Rows::new(input, rank)?, Rows::new(output, rank)?);
    ensure!(
        wanted.count <= rows.count,
        InvalidArgument,
        "# rows of output_indices should be not greater than of input_indices, got {} and {}",
        wanted.count,
        rows.count
    );
    let start = ctx.input(O::INPUT_START)?;
    ensure_vector(start, "The input_start")?;
    let start = start.as_slice::<i64>()?;
    ensure!(
        start.len() == rank,
        InvalidArgument,
        "Expected input_start to be a vector of length {rank} but got length {}",
        start.len()
    );
    let mut next = 0;
    let find = |n: usize| {
        let same = |((&a, &b), &start): ((&i64, &i64), &i64)| a == b.wrapping_add(start);
        let equal = next < wanted.count && rows.row(n).iter().zip(wanted.row(next)).zip(start).all(same);
        next += usize::from(equal);
        equal.then(|| next - 1)
    };
    let picks = picks(rows.count, find)?;
    // TensorFlow does not look if there are no elements at all.
    ensure!(
        next == wanted.count || rows.count == 0,
        Internal,
        "Elements of backprop_val_grad aren't all propagated. Num elements: {}, used: {next}",
        wanted.count
    );
    let output = picked(ctx, 0, grad, &picks)?;
    ctx.set_output(O::VAL_GRAD, output)
}
