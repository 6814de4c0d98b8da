//! LSTMBlockCell, BlockLSTM and BlockLSTMV2.

use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, ensure};
use kernlink_kernels_common::gemm::{Matrix, Sizes, Target, gemm};
use kernlink_macros::register_kernel;
use kernlink_ops::{BlockLSTM, BlockLSTMV2, LSTMBlockCell};

use super::cell::{Before, Lstm, Written, forward};
use super::{Cell, Repeated, input, sizes};

/// The sizes of a layer.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) batch: usize,
    pub(super) inputs: usize,
    pub(super) cell: usize,
}

impl Extent {
    /// Elements of a step.
    pub(super) fn step(self) -> usize {
        self.batch * self.cell
    }
}

/// The inputs of a layer, those of a cell without time.
pub(super) struct Operands<'c, T> {
    pub(super) x: &'c [T],
    pub(super) state: &'c [T],
    pub(super) output: &'c [T],
    pub(super) weights: &'c [T],
    /// Of the gates of input, forgetting and output.
    pub(super) peepholes: [&'c [T]; 3],
    pub(super) biases: &'c [T],
}

impl<'c, T: Cell> Operands<'c, T> {
    /// Inputs `first` and the seven that follow, whose shapes are checked.
    pub(super) fn new<const RANK: usize>(
        ctx: &'c RawContext<'_>,
        first: usize,
        x: [usize; RANK],
        Extent { batch, inputs, cell }: Extent,
    ) -> Result<Self> {
        let gates = cell.saturating_mul(4);
        // Whether they are used or not, as the gradients have their shapes.
        let peephole = |index: usize| input(ctx, index, [cell]);
        Ok(Operands {
            x: input(ctx, first, x)?,
            state: input(ctx, first + 1, [batch, cell])?,
            output: input(ctx, first + 2, [batch, cell])?,
            weights: input(ctx, first + 3, [inputs + cell, gates])?,
            peepholes: [peephole(first + 4)?, peephole(first + 5)?, peephole(first + 6)?],
            biases: input(ctx, first + 7, [gates])?,
        })
    }

    /// The weights of what comes in, and those of what the cell gave before.
    pub(super) fn split_weights(&self, extent: Extent) -> (&'c [T], &'c [T]) {
        self.weights.split_at(extent.inputs * 4 * extent.cell)
    }
}

/// Computes as many steps as `x` has, and writes them to the beginning of the outputs.
fn steps<T: Cell>(
    ctx: &RawContext<'_>,
    lstm: &Lstm,
    extent: Extent,
    operands: &Operands<'_, T>,
    mut outputs: [&mut [T]; 7],
) -> Result<()> {
    /// Nanoseconds of an element, or so.
    const COST: usize = 6;
    let (Extent { batch, inputs, cell }, step) = (extent, extent.step());
    if step == 0 {
        return Ok(());
    }
    let (incoming, recurrent) = operands.split_weights(extent);
    let rows = outputs[0].len() / cell;
    let mut sums = Tensor::alloc(T::DTYPE, [rows, 4 * cell])?;
    let sums = sums.as_mut_slice::<T>()?;
    let product = Sizes { m: rows, k: inputs, n: 4 * cell };
    let target = Target { data: &mut *sums, row_stride: 4 * cell, accumulate: false };
    gemm(ctx, product, Matrix::rows(operands.x, inputs), Matrix::rows(incoming, 4 * cell), target)?;
    let product = Sizes { m: batch, k: cell, n: 4 * cell };
    let recurrent = Repeated::new(ctx, Matrix::rows(recurrent, 4 * cell), product)?;
    for (time, sums) in sums.chunks_exact_mut(4 * step).enumerate() {
        let at = time * step;
        let [i, cs, f, o, ci, co, h] = &mut outputs;
        let (earlier_states, cs) = cs.split_at_mut(at);
        let (earlier_outputs, h) = h.split_at_mut(at);
        let (state, output) = match time {
            0 => (operands.state, operands.output),
            _ => (&earlier_states[at - step..], &earlier_outputs[at - step..]),
        };
        recurrent.multiply(ctx, output, sums, true)?;
        let [i, f, o, ci, co] = [i, f, o, ci, co].map(|part| &mut part[at..]);
        let mut parts = [i, cs, f, o, ci, co, h].map(|part| part.chunks_exact_mut(cell));
        let entry = |_| -> Written<'_, T> { parts.each_mut().map(|part| part.next().unwrap_or_default()) };
        let mut entries = scratch::collected((0..batch).map(entry))?;
        ctx.parallel_chunks(&mut entries, 1, COST * cell, |first, entries| {
            for (index, written) in (first..).zip(entries) {
                let before = Before {
                    sums: &sums[index * 4 * cell..],
                    biases: operands.biases,
                    state: &state[index * cell..],
                    peepholes: operands.peepholes,
                };
                forward(lstm, &before, written);
            }
        });
    }
    Ok(())
}

/// The outputs, all of a shape, whose first `count` elements `write` writes; the others are zero.
fn outputs<T: Cell>(
    ctx: &mut RawContext<'_>,
    shape: Shape,
    count: usize,
    write: impl FnOnce(&RawContext<'_>, [&mut [T]; 7]) -> Result<()>,
) -> Result<()> {
    let mut outputs = Vec::with_capacity(7);
    for index in 0..7 {
        outputs.push(ctx.allocate_output_at(index, shape.clone())?);
    }
    let mut parts: [&mut [T]; 7] = [(); 7].map(|()| <&mut [T]>::default());
    for (part, output) in parts.iter_mut().zip(&mut outputs) {
        let (written, rest) = output.as_mut_slice::<T>()?.split_at_mut(count);
        rest.fill(T::ZERO);
        *part = written;
    }
    write(ctx, parts)?;
    outputs.into_iter().enumerate().try_for_each(|(index, output)| ctx.set_output_at(index, output))
}

#[register_kernel(device = Cpu, op = LSTMBlockCell, T = [f16, f32])]
fn lstm_block_cell<T: Cell>(lstm: &Lstm, ctx: &mut RawContext<'_>) -> Result<()> {
    let ([batch, inputs], [_, cell]) = (sizes(ctx, 0)?, sizes::<2>(ctx, 1)?);
    let extent = Extent { batch, inputs, cell };
    Operands::<T>::new(ctx, 0, [batch, inputs], extent)?;
    ensure!(extent.step() > 0, InvalidArgument, "cs_prev must not be empty, but its shape is [{batch}, {cell}]");
    outputs::<T>(ctx, Shape::from([batch, cell]), extent.step(), |ctx, outputs| {
        steps(ctx, lstm, extent, &Operands::new(ctx, 0, [batch, inputs], extent)?, outputs)
    })
}

/// Input 0: how many of `time` steps there are.
pub(super) fn step_count(ctx: &RawContext<'_>, time: usize) -> Result<usize> {
    let count = ctx.input_at(0)?;
    ensure!(count.rank() == 0, InvalidArgument, "seq_len_max must be a scalar, not of shape {}", count.shape());
    let count = count.to_scalar::<i64>()?;
    let within = usize::try_from(count).ok().filter(|&count| count <= time);
    within.ok_or_else(|| {
        kernlink::Error::invalid_argument(format!("seq_len_max must be between 0 and {time} but is {count}"))
    })
}

#[register_kernel(device = Cpu, op = BlockLSTM, T = [f16, f32])]
#[register_kernel(device = Cpu, op = BlockLSTMV2, T = [f16, f32])]
fn block_lstm<T: Cell>(lstm: &Lstm, ctx: &mut RawContext<'_>) -> Result<()> {
    let ([time, batch, inputs], [_, cell]) = (sizes(ctx, 1)?, sizes::<2>(ctx, 2)?);
    let extent = Extent { batch, inputs, cell };
    let x = [time, batch, inputs];
    Operands::<T>::new(ctx, 1, x, extent)?;
    let count = step_count(ctx, time)?;
    outputs::<T>(ctx, Shape::from([time, batch, cell]), count * extent.step(), |ctx, outputs| {
        let mut operands = Operands::new(ctx, 1, x, extent)?;
        operands.x = &operands.x[..count * batch * inputs];
        steps(ctx, lstm, extent, &operands, outputs)
    })
}
