//! Diagonals and bands of matrices: Diag, DiagPart, MatrixDiag, MatrixDiagPart, MatrixSetDiag and their versions 2 and
//! 3, MatrixBandPart.

use std::ops::RangeInclusive;

use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawConstruction, RawContext};
use kernlink::op::Op;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use kernlink_geometry::integers::{checked_shape, ensure_single, scalar, vector_or_scalar};
use kernlink_kernels_common::element::bytes_mut;
use kernlink_kernels_common::strided::{Run as _, StridedCopy};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::grad::own;

/// A stack of matrices.
#[derive(Clone, Copy)]
struct Matrices {
    count: usize,
    rows: usize,
    columns: usize,
}

impl Matrices {
    /// # Errors
    /// INVALID_ARGUMENT if there are no two dimensions.
    fn of(shape: &Shape) -> Result<Matrices> {
        let [.., rows, columns] = shape[..] else {
            bail!(InvalidArgument, "input must be at least 2-dim, received shape: {shape}");
        };
        Ok(Matrices { count: shape[..shape.rank() - 2].iter().product(), rows, columns })
    }

    /// The row and column in which a diagonal begins, and its length.
    fn diagonal(&self, index: i64) -> (usize, usize, usize) {
        let (row, column) = (index.min(0).unsigned_abs() as usize, index.max(0) as usize);
        (row, column, self.rows.saturating_sub(row).min(self.columns.saturating_sub(column)))
    }
}

/// Some diagonals of matrices, and how they are stored: each in a row as long as the longest of them, the highest first.
struct Band {
    diagonals: RangeInclusive<i64>,
    longest: usize,
    /// Whether diagonals above the main one stand at the end of their row, and whether those below do; the main one is
    /// as long as the rows or goes with both.
    right: [bool; 2],
}

impl Band {
    fn count(&self) -> usize {
        (self.diagonals.end() - self.diagonals.start() + 1) as usize
    }

    /// Copies all diagonals between `stored`, which has `count * longest` elements a matrix, and the matrices: `into`
    /// says which of the two is the target.
    fn copy(
        &self,
        ctx: &RawContext<'_>,
        matrices: Matrices,
        target: &mut Tensor,
        source: &Tensor,
        into: Into,
    ) -> Result<()> {
        if target.num_elements() == 0 || source.num_elements() == 0 {
            // Matrices of nothing may have more diagonals than there is time for.
            return Ok(());
        }
        let (whole, kept) = (matrices.rows * matrices.columns, self.count() * self.longest);
        for (place, index) in self.diagonals.clone().rev().enumerate() {
            let (row, column, length) = matrices.diagonal(index);
            let right = if index >= 0 { self.right[0] } else { self.right[1] };
            let gap = self.longest.saturating_sub(length);
            let stored = place * self.longest + if right { gap } else { 0 };
            let first = row * matrices.columns + column;
            let step = matrices.columns + 1;
            let copy = match into {
                Into::Matrices => {
                    StridedCopy::new(first, stored).step(matrices.count, whole, kept as isize).step(length, step, 1)
                }
                Into::Stored => StridedCopy::new(stored, first).step(matrices.count, kept, whole as isize).step(
                    length,
                    1,
                    step as isize,
                ),
            };
            copy.run(ctx, target, source)?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Into {
    Matrices,
    Stored,
}

/// The attr `align` of version 3; version 2 has the left on both sides.
fn alignment(ctx: &RawConstruction<'_>) -> Result<[bool; 2]> {
    if ctx.attrs.get("align").is_none() {
        return Ok([false, false]);
    }
    let align: String = ctx.attrs.required("align")?;
    Ok([align.starts_with("RIGHT"), align.ends_with("RIGHT")])
}

/// The diagonals that a scalar or a vector of one or two elements names.
fn diagonals(tensor: &Tensor) -> Result<RangeInclusive<i64>> {
    match vector_or_scalar(tensor, "diag_index")?[..] {
        [only] => Ok(only..=only),
        [lower, upper] => {
            ensure!(
                lower <= upper,
                InvalidArgument,
                "lower_diag_index must not be larger than upper_diag_index: {lower} > {upper}"
            );
            Ok(lower..=upper)
        }
        ref other => {
            bail!(InvalidArgument, "diag_index must have only one or two elements, received {} elements.", other.len())
        }
    }
}

/// The diagonals of matrices of this size that input `index` names.
fn band(ctx: &RawContext<'_>, index: Option<usize>, right: [bool; 2], matrices: Matrices) -> Result<Band> {
    let diagonals = index.map_or(Ok(0..=0), |index| diagonals(ctx.input_at(index)?))?;
    let (rows, columns) = (matrices.rows as i64, matrices.columns as i64);
    for (what, index) in [("lower", *diagonals.start()), ("upper", *diagonals.end())] {
        ensure!(
            index == 0 || (-rows < index && index < columns),
            InvalidArgument,
            "{what}_diag_index is out of bound: {index} for matrices of {rows} rows and {columns} columns"
        );
    }
    let longest = (rows + (*diagonals.end()).min(0)).min(columns - (*diagonals.start()).max(0)) as usize;
    Ok(Band { diagonals, longest, right })
}

/// MatrixDiagPart in its three versions.
#[register_kernel(
    device = Cpu,
    op = [ops::BatchMatrixDiagPart, ops::MatrixDiagPart, ops::MatrixDiagPartV2, ops::MatrixDiagPartV3],
    T = [realnumbertype, bool, complex128, complex64],
    state = |ctx| alignment(ctx),
)]
fn part<O: Op>(&right: &[bool; 2], ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let input = ctx.input_at(0)?;
    let matrices = Matrices::of(input.shape())?;
    let versioned = ctx.num_inputs() > 1;
    let band = band(ctx, versioned.then_some(1), right, matrices)?;
    if versioned {
        ensure_single(ctx.input_at(2)?, "padding_value")?;
    }
    let mut dims = input.shape()[..input.rank() - 2].to_vec();
    if band.count() > 1 {
        dims.push(band.count());
    }
    dims.push(band.longest);
    let mut output = ctx.allocate_output_at(0, checked_shape(dims.into_iter().map(Some))?)?;
    if band.count() > 1 {
        let padding = ctx.input_at(2)?;
        StridedCopy::new(0, 0).step(output.num_elements(), 1, 0).run(ctx, &mut output, padding)?;
    }
    band.copy(ctx, matrices, &mut output, input, Into::Stored)?;
    ctx.set_output_at(0, output)
}

/// MatrixSetDiag in its three versions.
#[register_kernel(
    device = Cpu,
    op = [ops::BatchMatrixSetDiag, ops::MatrixSetDiag, ops::MatrixSetDiagV2, ops::MatrixSetDiagV3],
    T = [realnumbertype, bool, complex128, complex64],
    state = |ctx| alignment(ctx),
)]
fn set<O: Op>(&right: &[bool; 2], ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (input, diagonal) = (ctx.input_at(0)?, ctx.input_at(1)?.clone());
    let matrices = Matrices::of(input.shape())?;
    let versioned = ctx.num_inputs() > 2;
    let band = band(ctx, versioned.then_some(2), right, matrices)?;
    let mut expected = Shape::from(&input.shape()[..input.rank() - 2]);
    if band.count() > 1 {
        expected.push(band.count());
    }
    expected.push(band.longest);
    ensure!(
        *diagonal.shape() == expected,
        InvalidArgument,
        "diagonal must have shape {expected} for an input of shape {}, not {}",
        input.shape(),
        diagonal.shape()
    );
    let mut output = own(ctx, 0)?;
    band.copy(ctx, matrices, &mut output, &diagonal, Into::Matrices)?;
    ctx.set_output_at(0, output)
}

/// MatrixDiag in its three versions.
#[register_kernel(
    device = Cpu,
    op = [ops::BatchMatrixDiag, ops::MatrixDiag, ops::MatrixDiagV2, ops::MatrixDiagV3],
    T = [realnumbertype, bool, complex128, complex64],
    state = |ctx| alignment(ctx),
)]
fn whole_kernel<O: Op>(&right: &[bool; 2], ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let diagonal = ctx.input_at(0)?;
    let Some((&longest, outer)) = diagonal.shape().split_last() else {
        bail!(InvalidArgument, "diagonal must be at least 1-dim, received shape: {}", diagonal.shape());
    };
    let versioned = ctx.num_inputs() > 1;
    let diagonals = if versioned { diagonals(ctx.input_at(1)?)? } else { 0..=0 };
    let band = Band { diagonals, longest, right };
    let (mut rows, mut columns) = (-1, -1);
    let mut outer = outer;
    if band.count() > 1 {
        let Some((&count, rest)) = outer.split_last().filter(|(count, _)| **count == band.count()) else {
            bail!(
                InvalidArgument,
                "The number of diagonals provided in the input does not match the lower_diag_index and \
                 upper_diag_index range [{}, {}]: the shape is {}",
                band.diagonals.start(),
                band.diagonals.end(),
                diagonal.shape()
            );
        };
        debug_assert_eq!(count, band.count());
        outer = rest;
    }
    if versioned {
        (rows, columns) = (scalar(ctx.input_at(2)?, "num_rows")?, scalar(ctx.input_at(3)?, "num_cols")?);
    }
    let (lower, upper) = (*band.diagonals.start(), *band.diagonals.end());
    let (least_rows, least_columns) = (longest as i64 - upper.min(0), longest as i64 + lower.max(0));
    ensure!(rows == -1 || rows >= least_rows, InvalidArgument, "The number of rows is too small.");
    ensure!(columns == -1 || columns >= least_columns, InvalidArgument, "The number of columns is too small.");
    match (rows, columns) {
        (-1, -1) => (rows, columns) = (least_rows.max(least_columns), least_rows.max(least_columns)),
        (-1, _) => rows = least_rows,
        (_, -1) => columns = least_columns,
        _ => {}
    }
    ensure!(
        rows == least_rows || columns == least_columns,
        InvalidArgument,
        "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal."
    );
    let matrices = Matrices { count: outer.iter().product(), rows: rows as usize, columns: columns as usize };
    ensure!(
        [lower, upper].iter().all(|&index| index == 0 || (-rows < index && index < columns)),
        InvalidArgument,
        "lower_diag_index or upper_diag_index is out of bound: {lower}, {upper} for {rows} rows, {columns} columns"
    );
    let sizes = [matrices.rows, matrices.columns];
    let shape = checked_shape(outer.iter().chain(&sizes).map(|&dim| Some(dim)))?;
    let mut output = if versioned {
        let padding = ctx.input_at(4)?;
        ensure_single(padding, "padding_value")?;
        let mut output = ctx.allocate_output_at(0, shape)?;
        StridedCopy::new(0, 0).step(output.num_elements(), 1, 0).run(ctx, &mut output, padding)?;
        output
    } else {
        Tensor::zeros(ctx.output_dtype_at(0)?, shape)?
    };
    band.copy(ctx, matrices, &mut output, diagonal, Into::Matrices)?;
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, T = [complex128, complex64, double, float, half, int32, int64])]
fn diag(ctx: &mut KernelContext<'_, ops::Diag>) -> Result<()> {
    let diagonal = ctx.input(ops::Diag::DIAGONAL)?;
    ensure!(diagonal.rank() > 0, InvalidArgument, "Input must be at least rank 1, got 0");
    let dims = diagonal.shape().iter().chain(diagonal.shape().iter());
    let mut output = Tensor::zeros(diagonal.dtype(), checked_shape(dims.map(|&dim| Some(dim)))?)?;
    let size = diagonal.num_elements();
    StridedCopy::new(0, 0).step(size, size + 1, 1).run(ctx, &mut output, diagonal)?;
    ctx.set_output(ops::Diag::OUTPUT, output)
}

#[register_kernel(device = Cpu, T = [complex128, complex64, double, float, half, int32, int64])]
fn diag_part(ctx: &mut KernelContext<'_, ops::DiagPart>) -> Result<()> {
    let input = ctx.input(ops::DiagPart::INPUT)?;
    let (first, second) = input.shape().split_at(input.rank() / 2);
    ensure!(
        first == second,
        InvalidArgument,
        "The rank of the tensor should be even, and the second half of its shape equal to the first, got shape {}",
        input.shape()
    );
    let mut output = ctx.allocate_output(ops::DiagPart::DIAGONAL, first)?;
    let size = output.num_elements();
    StridedCopy::new(0, 0).step(size, 1, size as isize + 1).run(ctx, &mut output, input)?;
    ctx.set_output(ops::DiagPart::DIAGONAL, output)
}

#[register_kernel(device = Cpu, op = [ops::BatchMatrixBandPart, ops::MatrixBandPart], T = [realnumbertype, bool, complex128, complex64])]
fn band_part(ctx: &mut RawContext<'_>) -> Result<()> {
    let Matrices { rows, columns, .. } = Matrices::of(ctx.input_at(0)?.shape())?;
    let mut kept = [0; 2];
    for (index, (what, limit)) in [("lower", rows), ("upper", columns)].into_iter().enumerate() {
        let count = scalar(ctx.input_at(index + 1)?, what)?;
        ensure!(
            count < 0 || count as u64 <= limit as u64,
            InvalidArgument,
            "num_{what} must be negative or not greater than the size of the matrices ({limit}), got: {count}"
        );
        kept[index] = if count < 0 { limit } else { count as usize };
    }
    let mut output = own(ctx, 0)?;
    if output.num_elements() > 0 {
        let size = output.dtype().size();
        let bytes = columns * size;
        // SAFETY: only zeros are written.
        let all = unsafe { bytes_mut(&mut output)? };
        ctx.parallel_chunks(all, bytes, 1, |first, piece| {
            for (row, elements) in (first / bytes..).zip(piece.chunks_exact_mut(bytes)) {
                let row = row % rows;
                let start = row.saturating_sub(kept[0]).min(columns);
                let end = (row + kept[1] + 1).clamp(start, columns);
                elements[..start * size].fill(0);
                elements[end * size..].fill(0);
            }
        });
    }
    ctx.set_output_at(0, output)
}
