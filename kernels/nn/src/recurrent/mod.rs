//! Cells of recurrent networks: what they share.
//!
//! A gate is a sum of two products, of what comes in and of what the cell gave before. The first is computed of all steps at
//! once, as is what the products of gradients sum over steps: only the second is left to each step, with the weights packed
//! once.

mod cell;
mod gru;
mod lstm;
mod lstm_grad;

use kernlink::Result;
use kernlink::dtype::f16;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink_geometry::volume::ensure_shape;
use kernlink_kernels_common::gemm::{Gemm, Matrix, Sizes, Target, gemm};
use kernlink_kernels_common::number::Computed;
use kernlink_kernels_common::panels::Panels;

/// A dtype of cells: its matrices can be multiplied, and its functions are computed as `f32`.
pub(super) trait Cell: Gemm + Computed<Wide = f32> {}
impl Cell for f32 {}
impl Cell for f16 {}

/// A right operand that many left ones are multiplied by, one after the other.
pub(super) struct Repeated<'a, T> {
    matrix: Matrix<'a, T>,
    sizes: Sizes,
    panels: Option<Panels>,
}

impl<'a, T: Cell> Repeated<'a, T> {
    /// `matrix`, as it is best for left operands of `sizes.m` rows.
    pub(super) fn new(ctx: &RawContext<'_>, matrix: Matrix<'a, T>, sizes: Sizes) -> Result<Self> {
        let Sizes { m, k, n } = sizes;
        let panels = match m * k * n > 0 && T::is_packed(sizes, &matrix) {
            true => T::packed(ctx, matrix, k, n)?,
            false => None,
        };
        Ok(Self { matrix, sizes, panels })
    }

    /// Adds the product of `left`, row by row without gaps, to `target`, or writes it there.
    pub(super) fn multiply(&self, ctx: &RawContext<'_>, left: &[T], target: &mut [T], accumulate: bool) -> Result<()> {
        let Sizes { m, k, n } = self.sizes;
        let (left, target) = (Matrix::rows(left, k), Target { data: target, row_stride: n, accumulate });
        match &self.panels {
            Some(panels) => T::by_packed(ctx, m, left, panels, target),
            None => gemm(ctx, self.sizes, left, self.matrix, target),
        }
    }
}

/// Input `index` if it has the shape.
///
/// # Errors
/// INVALID_ARGUMENT if it has another.
#[track_caller]
pub(super) fn input<'c, T: Cell, const RANK: usize>(
    ctx: &'c RawContext<'_>,
    index: usize,
    shape: [usize; RANK],
) -> Result<&'c [T]> {
    let tensor = ctx.input_at(index)?;
    let name = ctx.op().inputs.get(index).map_or("an input", |input| &input.name);
    ensure_shape(name, tensor.shape(), &Shape::from(shape))?;
    tensor.as_slice()
}

/// The sizes of input `index`.
///
/// # Errors
/// INVALID_ARGUMENT if it has another rank.
#[track_caller]
pub(super) fn sizes<const RANK: usize>(ctx: &RawContext<'_>, index: usize) -> Result<[usize; RANK]> {
    let shape = ctx.input_at(index)?.shape();
    let name = ctx.op().inputs.get(index).map_or("an input", |input| &input.name);
    <[usize; RANK]>::try_from(shape.dims()).map_err(|_| {
        kernlink::Error::invalid_argument(format!("{name} must be {RANK}-dimensional, not of shape {shape}"))
    })
}
