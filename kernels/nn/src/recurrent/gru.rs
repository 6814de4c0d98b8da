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

    /// `[x, seen]` times weights of so many columns.
    fn product(&self, ctx: &RawContext<'_>, seen: &[f32], weights: &[f32], columns: usize) -> Result<Tensor> {
        let Operands { batch, inputs, cell, .. } = *self;
        let mut sums = Tensor::alloc(kernlink::dtype::DataType::Float, [batch, columns])?;
        let (incoming, recurrent) = weights.split_at(inputs * columns);
        let data = sums.as_mut_slice::<f32>()?;
        for (left, k, right, accumulate) in [(self.x, inputs, incoming, false), (seen, cell, recurrent, true)] {
            let target = Target { data: &mut *data, row_stride: columns, accumulate };
            let product = Sizes { m: batch, k, n: columns };
            gemm(ctx, product, Matrix::rows(left, k), Matrix::rows(right, columns), target)?;
        }
        Ok(sums)
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
        let sums = operands.product(ctx, operands.output, operands.gate_weights, 2 * cell)?;
        let (r, u) = (reset.as_mut_slice::<f32>()?, update.as_mut_slice::<f32>()?);
        let rows = r.chunks_exact_mut(cell).zip(u.chunks_exact_mut(cell));
        for ((r, u), sums) in rows.zip(sums.as_slice::<f32>()?.chunks_exact(2 * cell)) {
            gate(&sums[..cell], operands.gate_biases, r);
            gate(&sums[cell..], &operands.gate_biases[cell..], u);
        }
        let seen: Vec<f32> = scratch::collected(operands.output.iter().zip(&*r).map(|(h, r)| h * r))?;
        let sums = operands.product(ctx, &seen, operands.offer_weights, cell)?;
        let c = offered.as_mut_slice::<f32>()?;
        c.copy_from_slice(sums.as_slice()?);
        c.chunks_exact_mut(cell).for_each(|row| offer(operands.offer_biases, row));
        let parts = operands.output.iter().zip(&*u).zip(&*c);
        for (h, ((before, u), c)) in output.as_mut_slice::<f32>()?.iter_mut().zip(parts) {
            *h = u * (before - c) + c;
        }
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
    for (target, ((u, c), flow)) in of_offer.iter_mut().zip(u.iter().zip(c).zip(flow)) {
        *target = flow * (1.0 - u) * (1.0 - c * c);
    }
    let by_offer = operands.back(ctx, of_offer, operands.offer_weights, cell)?;
    let by_offer = by_offer.as_slice::<f32>()?;
    let of_gates = to_gates.as_mut_slice::<f32>()?;
    for row in 0..batch {
        let (of_reset, of_update) = of_gates[row * 2 * cell..][..2 * cell].split_at_mut(cell);
        let seen = &by_offer[row * width + inputs..][..cell];
        let [r, u, c, flow, before] = [r, u, c, flow, operands.output].map(|part| &part[at(row)]);
        for k in 0..cell {
            of_reset[k] = seen[k] * before[k] * r[k] * (1.0 - r[k]);
            of_update[k] = flow[k] * (before[k] - c[k]) * u[k] * (1.0 - u[k]);
        }
    }
    let by_gates = operands.back(ctx, of_gates, operands.gate_weights, 2 * cell)?;
    let by_gates = by_gates.as_slice::<f32>()?;
    let (of_x, of_output) = (to_x.as_mut_slice::<f32>()?, to_output.as_mut_slice::<f32>()?);
    for row in 0..batch {
        let (by_offer, by_gates) = (&by_offer[row * width..][..width], &by_gates[row * width..][..width]);
        let of_x = &mut of_x[row * inputs..][..inputs];
        for (target, (first, second)) in of_x.iter_mut().zip(by_gates.iter().zip(by_offer)) {
            *target = first + second;
        }
        let [r, u, flow] = [r, u, flow].map(|part| &part[at(row)]);
        for (k, target) in of_output[at(row)].iter_mut().enumerate() {
            *target = by_gates[inputs + k] + by_offer[inputs + k] * r[k] + flow[k] * u[k];
        }
    }
    ctx.set_output(Op::D_X, to_x)?;
    ctx.set_output(Op::D_H_PREV, to_output)?;
    ctx.set_output(Op::D_C_BAR, to_offer)?;
    ctx.set_output(Op::D_R_BAR_U_BAR, to_gates)
}
