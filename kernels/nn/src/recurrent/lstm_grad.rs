//! LSTMBlockCellGrad, BlockLSTMGrad and BlockLSTMGradV2.

use kernlink::kernel::RawContext;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, ensure};
use kernlink_kernels_common::gemm::{Matrix, Sizes, Target, gemm};
use kernlink_macros::register_kernel;
use kernlink_ops::{BlockLSTMGrad, BlockLSTMGradV2, LSTMBlockCellGrad};

use super::cell::{After, Lstm, backward};
use super::lstm::{Extent, Operands, step_count};
use super::{Cell, Repeated, input, sizes};

/// One step, of all entries of a batch.
struct Step<'c, T> {
    /// The state before it.
    state: &'c [T],
    /// `i`, `cs`, `f`, `o`, `ci`, `co`.
    left: [&'c [T]; 6],
    state_grad: &'c [T],
    output_grads: [&'c [T]; 2],
    peepholes: [&'c [T]; 3],
}

impl<T: Cell> Step<'_, T> {
    /// The way back: writes what flows back into the gates, and into the state before the step where `state_flow` has what
    /// flows into the one after it.
    fn back(
        &self,
        ctx: &RawContext<'_>,
        lstm: &Lstm,
        cell: usize,
        gates: &mut [T],
        state_flow: &mut [T],
    ) -> Result<()> {
        /// Nanoseconds of an element, or so.
        const COST: usize = 4;
        let mut entries = scratch::collected(gates.chunks_exact_mut(4 * cell).zip(state_flow.chunks_exact_mut(cell)))?;
        ctx.parallel_chunks(&mut entries, 1, COST * cell, |first, entries| {
            for (index, (gates, state_flow)) in (first..).zip(entries) {
                let at = index * cell;
                let after = After {
                    state: &self.state[at..],
                    step: self.left.map(|part| &part[at..]),
                    state_grad: &self.state_grad[at..],
                    output_grads: self.output_grads.map(|grad| &grad[at..]),
                    peepholes: self.peepholes,
                };
                backward(lstm, &after, gates, state_flow);
            }
        });
        Ok(())
    }
}

/// Adds up, over entries, what flows back into the peephole weights of the gates of input, forgetting and output. There are
/// states before and after the step.
fn add_peepholes<T: Cell>(
    lstm: &Lstm,
    cell: usize,
    gates: &[T],
    (before, after): (&[T], &[T]),
    sums: &mut [Vec<f32>; 3],
) {
    let states = before.chunks_exact(cell).zip(after.chunks_exact(cell));
    for (gates, (before, after)) in gates.chunks_exact(4 * cell).zip(states) {
        let flow = lstm.parts(gates, cell);
        let factors = [(flow.input, before), (flow.forget, before), (flow.output, after)];
        for (sums, (flow, state)) in sums.iter_mut().zip(factors) {
            for ((sum, flow), state) in sums.iter_mut().zip(flow).zip(state) {
                *sum += flow.widen() * state.widen();
            }
        }
    }
}

/// Sets the outputs from `first` on that flow back into peephole weights, which are inputs `weights` and the next two.
fn set_peepholes<T: Cell>(ctx: &mut RawContext<'_>, first: usize, weights: usize, sums: &[Vec<f32>; 3]) -> Result<()> {
    for (index, sums) in sums.iter().enumerate() {
        let mut output = ctx.allocate_output_at(first + index, ctx.input_at(weights + index)?.shape().clone())?;
        let elements = output.as_mut_slice::<T>()?;
        elements.fill(T::ZERO);
        T::narrow_all(sums, elements);
        ctx.set_output_at(first + index, output)?;
    }
    Ok(())
}

/// Zeros for what flows back into peephole weights; none if there are no peepholes.
fn peephole_zeros(lstm: &Lstm, cell: usize) -> Result<[Vec<f32>; 3]> {
    let count = if lstm.has_peepholes { cell } else { 0 };
    Ok([scratch::zeros(count)?, scratch::zeros(count)?, scratch::zeros(count)?])
}

#[register_kernel(device = Cpu, op = LSTMBlockCellGrad, T = [f16, f32])]
fn lstm_block_cell_grad<T: Cell>(lstm: &Lstm, ctx: &mut RawContext<'_>) -> Result<()> {
    let ([batch, inputs], [_, cell]) = (sizes(ctx, 0)?, sizes::<2>(ctx, 1)?);
    let extent = Extent { batch, inputs, cell };
    let operands = Operands::<T>::new(ctx, 0, [batch, inputs], extent)?;
    let mut left = [&[][..]; 6];
    for (index, left) in left.iter_mut().enumerate() {
        *left = input(ctx, 8 + index, [batch, cell])?;
    }
    let (state_grad, output_grad) = (input(ctx, 14, [batch, cell])?, input(ctx, 15, [batch, cell])?);
    let mut state_flow = ctx.allocate_output_at(0, [batch, cell])?;
    let mut gates = ctx.allocate_output_at(1, [batch, 4 * cell])?;
    let mut sums = peephole_zeros(lstm, cell)?;
    if extent.step() > 0 {
        let zeros = Tensor::zeros(T::DTYPE, [batch, cell])?;
        let step = Step {
            state: operands.state,
            left,
            state_grad,
            output_grads: [output_grad, zeros.as_slice()?],
            peepholes: operands.peepholes,
        };
        let (gates, state_flow) = (gates.as_mut_slice::<T>()?, state_flow.as_mut_slice::<T>()?);
        state_flow.fill(T::ZERO);
        step.back(ctx, lstm, cell, gates, state_flow)?;
        if lstm.has_peepholes {
            add_peepholes(lstm, cell, gates, (operands.state, left[1]), &mut sums);
        }
    }
    ctx.set_output_at(0, state_flow)?;
    ctx.set_output_at(1, gates)?;
    set_peepholes::<T>(ctx, 2, 4, &sums)
}

#[register_kernel(device = Cpu, op = BlockLSTMGrad, T = [f16, f32])]
#[register_kernel(device = Cpu, op = BlockLSTMGradV2, T = [f16, f32])]
fn block_lstm_grad<T: Cell>(lstm: &Lstm, ctx: &mut RawContext<'_>) -> Result<()> {
    let ([time, batch, inputs], [_, cell]) = (sizes(ctx, 1)?, sizes::<2>(ctx, 2)?);
    let extent = Extent { batch, inputs, cell };
    let operands = Operands::<T>::new(ctx, 1, [time, batch, inputs], extent)?;
    ensure!(cell > 0, InvalidArgument, "w must have columns: four for each element of the cell");
    // `i`, `cs`, `f`, `o`, `ci`, `co`, `h`, and what flows back into `cs` and `h`.
    let mut left = [&[][..]; 9];
    for (index, left) in left.iter_mut().enumerate() {
        *left = input(ctx, 9 + index, [time, batch, cell])?;
    }
    let count = step_count(ctx, time)?;
    let (step, columns) = (extent.step(), 4 * cell);
    let [states, outputs] = [left[1], left[6]];
    // What flows back into the gates of all steps.
    let mut gates = Tensor::alloc(T::DTYPE, [count * batch, columns])?;
    let gates = gates.as_mut_slice::<T>()?;
    let mut state_flow = ctx.allocate_output_at(1, [batch, cell])?;
    let mut output_flow = ctx.allocate_output_at(2, [batch, cell])?;
    let (to_state, to_output) = (state_flow.as_mut_slice::<T>()?, output_flow.as_mut_slice::<T>()?);
    to_state.fill(T::ZERO);
    to_output.fill(T::ZERO);
    let (incoming, recurrent) = operands.split_weights(extent);
    let mut sums = peephole_zeros(lstm, cell)?;
    if step > 0 {
        let product = Sizes { m: batch, k: columns, n: cell };
        let recurrent = Repeated::new(ctx, Matrix::transposed(recurrent, columns), product)?;
        for time in (0..count).rev() {
            let at = time * step;
            let gates = &mut gates[4 * at..][..4 * step];
            let state = if time == 0 { operands.state } else { &states[at - step..at] };
            let [i, cs, f, o, ci, co, _, state_grad, output_grad] = left.map(|part| &part[at..][..step]);
            let whole = Step {
                state,
                left: [i, cs, f, o, ci, co],
                state_grad,
                output_grads: [output_grad, to_output],
                peepholes: operands.peepholes,
            };
            whole.back(ctx, lstm, cell, gates, to_state)?;
            if lstm.has_peepholes {
                add_peepholes(lstm, cell, gates, (state, cs), &mut sums);
            }
            recurrent.multiply(ctx, gates, to_output, false)?;
        }
    }
    let rows = count * batch;
    let mut x_grad = ctx.allocate_output_at(0, [time, batch, inputs])?;
    let (written, rest) = x_grad.as_mut_slice::<T>()?.split_at_mut(rows * inputs);
    rest.fill(T::ZERO);
    let product = Sizes { m: rows, k: columns, n: inputs };
    let target = Target { data: written, row_stride: inputs, accumulate: false };
    gemm(ctx, product, Matrix::rows(gates, columns), Matrix::transposed(incoming, columns), target)?;

    let mut w_grad = ctx.allocate_output_at(3, [inputs + cell, columns])?;
    let (of_inputs, of_outputs) = w_grad.as_mut_slice::<T>()?.split_at_mut(inputs * columns);
    let sum = |rows: &[T], width: usize, gates: &[T], target: &mut [T], accumulate: bool| {
        let product = Sizes { m: width, k: gates.len() / columns, n: columns };
        let target = Target { data: target, row_stride: columns, accumulate };
        gemm(ctx, product, Matrix::transposed(rows, width), Matrix::rows(gates, columns), target)
    };
    sum(operands.x, inputs, gates, of_inputs, false)?;
    // The first step saw the output from before, the others those of their predecessors.
    let (first, others) = gates.split_at((4 * step).min(gates.len()));
    sum(operands.output, cell, first, of_outputs, false)?;
    sum(outputs, cell, others, of_outputs, true)?;

    let mut bias_sums: Vec<f32> = scratch::zeros(columns)?;
    for row in gates.chunks_exact(columns) {
        bias_sums.iter_mut().zip(row).for_each(|(sum, flow)| *sum += flow.widen());
    }
    let mut b_grad = ctx.allocate_output_at(7, [columns])?;
    T::narrow_all(&bias_sums, b_grad.as_mut_slice()?);
    for (index, output) in [(0, x_grad), (1, state_flow), (2, output_flow), (3, w_grad), (7, b_grad)] {
        ctx.set_output_at(index, output)?;
    }
    set_peepholes::<T>(ctx, 4, 5, &sums)
}
