//! GRUBlockCell and its gradient.

use kernlink::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::{Tensor, scratch};
use kernlink_kernels_common::fast;
use kernlink_kernels_common::gemm::{Matrix, Sizes, Target, gemm};
use kernlink_macros::register_kernel;
use kernlink_ops::{GRUBlockCell, GRUBlockCellGrad};

use super::{input, sizes};
use crate::vector::widest;

/// Nanoseconds of an element's sigmoid or hyperbolic tangent, or so.
const COST: usize = 2;

/// The inputs of a cell.
struct Operands<'c> {
    batch: usize,
    inputs: usize,
    cell: usize,
    x: &'c [f32],
    output: &'c [f32],
    gate_weights: &'c [f32],
    offer_weights: &'c [f32],
    gate_biases: &'c [f32],
    offer_biases: &'c [f32],
}

impl<'c> Operands<'c> {
    /// The first six inputs, whose shapes are checked.
    fn new(ctx: &'c RawContext<'_>) -> Result<Self> {
        let ([batch, inputs], [_, cell]) = (sizes(ctx, 0)?, sizes::<2>(ctx, 1)?);
        Ok(Operands {
            batch,
            inputs,
            cell,
            x: input(ctx, 0, [batch, inputs])?,
            output: input(ctx, 1, [batch, cell])?,
            gate_weights: input(ctx, 2, [inputs + cell, 2 * cell])?,
            offer_weights: input(ctx, 3, [inputs + cell, cell])?,
            gate_biases: input(ctx, 4, [2 * cell])?,
            offer_biases: input(ctx, 5, [cell])?,
        })
    }

    /// `[x, seen]` times weights, whose columns are those of `data`.
    fn product(&self, ctx: &RawContext<'_>, seen: &[f32], weights: &[f32], data: &mut [f32]) -> Result<()> {
        let Operands { batch, inputs, cell, .. } = *self;
        let columns = data.len() / batch;
        let (incoming, recurrent) = weights.split_at(inputs * columns);
        for (left, k, right, accumulate) in [(self.x, inputs, incoming, false), (seen, cell, recurrent, true)] {
            let target = Target { data: &mut *data, row_stride: columns, accumulate };
            let product = Sizes { m: batch, k, n: columns };
            gemm(ctx, product, Matrix::rows(left, k), Matrix::rows(right, columns), target)?;
        }
        Ok(())
    }

    /// What flows back by sums of so many columns, to `[x, seen]`.
    fn back(&self, ctx: &RawContext<'_>, flow: &[f32], weights: &[f32], columns: usize) -> Result<Tensor> {
        let rows = self.inputs + self.cell;
        let mut back = Tensor::alloc(kernlink::dtype::DataType::Float, [self.batch, rows])?;
        let product = Sizes { m: self.batch, k: columns, n: rows };
        let target = Target { data: back.as_mut_slice::<f32>()?, row_stride: rows, accumulate: false };
        gemm(ctx, product, Matrix::rows(flow, columns), Matrix::transposed(weights, columns), target)?;
        Ok(back)
    }
}

widest! {
    /// The sigmoids of sums and biases.
    fn gate(sums: &[f32], biases: &[f32], target: &mut [f32]) {
        for ((target, sum), bias) in target.iter_mut().zip(sums).zip(biases) {
            *target = fast::sigmoid(sum + bias);
        }
    }
}

widest! {
    /// What is offered, in place of its sums.
    fn offer(biases: &[f32], target: &mut [f32]) {
        for (target, bias) in target.iter_mut().zip(biases) {
            *target = fast::tanh(*target + bias);
        }
    }
}

#[register_kernel(device = Cpu, T = [f32])]
fn gru_block_cell(ctx: &mut KernelContext<'_, GRUBlockCell>) -> Result<()> {
    type Op = GRUBlockCell;
    let operands = Operands::new(ctx)?;
    let (batch, cell) = (operands.batch, operands.cell);
    let shape = [batch, cell];
    let (mut reset, mut update) = (ctx.allocate_output(Op::R, shape)?, ctx.allocate_output(Op::U, shape)?);
    let (mut offered, mut output) = (ctx.allocate_output(Op::C, shape)?, ctx.allocate_output(Op::H, shape)?);
    if batch * cell > 0 {
        let mut sums: Vec<f32> = scratch::zeros(2 * batch * cell)?;
        operands.product(ctx, operands.output, operands.gate_weights, &mut sums)?;
        let (r, u) = (reset.as_mut_slice::<f32>()?, update.as_mut_slice::<f32>()?);
        // What the offer sees of the output before.
        let mut seen: Vec<f32> = scratch::zeros(batch * cell)?;
        let rows = r.chunks_exact_mut(cell).zip(u.chunks_exact_mut(cell)).zip(seen.chunks_exact_mut(cell));
        let mut rows: Vec<_> = scratch::collected(rows)?;
        ctx.parallel_chunks(&mut rows, 1, 2 * COST * cell, |first, rows| {
            for (row, ((r, u), seen)) in (first..).zip(rows) {
                let (of_reset, of_update) = sums[2 * row * cell..][..2 * cell].split_at(cell);
                gate(of_reset, operands.gate_biases, r);
                gate(of_update, &operands.gate_biases[cell..], u);
                let before = &operands.output[row * cell..];
                seen.iter_mut().zip(before.iter().zip(&**r)).for_each(|(seen, (before, r))| *seen = before * r);
            }
        });
        let c = offered.as_mut_slice::<f32>()?;
        operands.product(ctx, &seen, operands.offer_weights, c)?;
        let rows = c.chunks_exact_mut(cell).zip(output.as_mut_slice::<f32>()?.chunks_exact_mut(cell));
        let mut rows: Vec<_> = scratch::collected(rows)?;
        ctx.parallel_chunks(&mut rows, 1, 2 * COST * cell, |first, rows| {
            for (row, (c, h)) in (first..).zip(rows) {
                offer(operands.offer_biases, c);
                let parts = operands.output[row * cell..].iter().zip(&u[row * cell..]).zip(&**c);
                for (h, ((before, u), c)) in h.iter_mut().zip(parts) {
                    *h = u * (before - c) + c;
                }
            }
        });
    }
    ctx.set_output(Op::R, reset)?;
    ctx.set_output(Op::U, update)?;
    ctx.set_output(Op::C, offered)?;
    ctx.set_output(Op::H, output)
}

#[register_kernel(device = Cpu, T = [f32])]
fn gru_block_cell_grad(ctx: &mut KernelContext<'_, GRUBlockCellGrad>) -> Result<()> {
    type Op = GRUBlockCellGrad;
    let operands = Operands::new(ctx)?;
    let Operands { batch, inputs, cell, .. } = operands;
    let part = |index: usize| input::<f32, 2>(ctx, index, [batch, cell]);
    let (r, u, c, flow) = (part(6)?, part(7)?, part(8)?, part(9)?);
    let mut to_x = ctx.allocate_output(Op::D_X, [batch, inputs])?;
    let mut to_output = ctx.allocate_output(Op::D_H_PREV, [batch, cell])?;
    let mut to_offer = ctx.allocate_output(Op::D_C_BAR, [batch, cell])?;
    let mut to_gates = ctx.allocate_output(Op::D_R_BAR_U_BAR, [batch, 2 * cell])?;
    let (width, at) = (inputs + cell, |row: usize| row * cell..(row + 1) * cell);
    let of_offer = to_offer.as_mut_slice::<f32>()?;
    ctx.parallel_chunks(of_offer, 1, 1, |first, piece| {
        for (target, ((u, c), flow)) in piece.iter_mut().zip(u[first..].iter().zip(&c[first..]).zip(&flow[first..])) {
            *target = flow * (1.0 - u) * (1.0 - c * c);
        }
    });
    let by_offer = operands.back(ctx, of_offer, operands.offer_weights, cell)?;
    let by_offer = by_offer.as_slice::<f32>()?;
    let of_gates = to_gates.as_mut_slice::<f32>()?;
    let columns = (2 * cell).max(1);
    ctx.parallel_chunks(of_gates, columns, 1, |first, piece| {
        for (row, of_gates) in (first / columns..).zip(piece.chunks_exact_mut(columns)) {
            let (of_reset, of_update) = of_gates.split_at_mut(cell);
            let seen = &by_offer[row * width + inputs..][..cell];
            let [r, u, c, flow, before] = [r, u, c, flow, operands.output].map(|part| &part[at(row)]);
            for k in 0..cell {
                of_reset[k] = seen[k] * before[k] * r[k] * (1.0 - r[k]);
                of_update[k] = flow[k] * (before[k] - c[k]) * u[k] * (1.0 - u[k]);
            }
        }
    });
    let by_gates = operands.back(ctx, of_gates, operands.gate_weights, 2 * cell)?;
    let by_gates = by_gates.as_slice::<f32>()?;
    let (of_x, of_output) = (to_x.as_mut_slice::<f32>()?, to_output.as_mut_slice::<f32>()?);
    let back = |row: usize| (&by_offer[row * width..][..width], &by_gates[row * width..][..width]);
    ctx.parallel_chunks(of_x, inputs.max(1), 1, |first, piece| {
        for (row, of_x) in (first / inputs.max(1)..).zip(piece.chunks_exact_mut(inputs.max(1))) {
            let (by_offer, by_gates) = back(row);
            for (target, (first, second)) in of_x.iter_mut().zip(by_gates.iter().zip(by_offer)) {
                *target = first + second;
            }
        }
    });
    ctx.parallel_chunks(of_output, cell.max(1), 1, |first, piece| {
        for (row, of_output) in (first / cell.max(1)..).zip(piece.chunks_exact_mut(cell.max(1))) {
            let (by_offer, by_gates) = back(row);
            let [r, u, flow] = [r, u, flow].map(|part| &part[at(row)]);
            for (k, target) in of_output.iter_mut().enumerate() {
                *target = by_gates[inputs + k] + by_offer[inputs + k] * r[k] + flow[k] * u[k];
            }
        }
    });
    ctx.set_output(Op::D_X, to_x)?;
    ctx.set_output(Op::D_H_PREV, to_output)?;
    ctx.set_output(Op::D_C_BAR, to_offer)?;
    ctx.set_output(Op::D_R_BAR_U_BAR, to_gates)
}
