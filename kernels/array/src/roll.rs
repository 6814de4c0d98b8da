//! Roll.

use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink_geometry::pad::rolled;
use kernlink_kernels_common::strided::{Run as _, StridedCopy};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

#[register_kernel(
    device = Cpu,
    host_memory = ["shift", "axis"],
    Tshift = [int32, int64],
    Taxis = [int32, int64],
    T = [realnumbertype, bool, complex128, complex64, resource, string, variant],
)]
fn roll(ctx: &mut KernelContext<'_, ops::Roll>) -> Result<()> {
    let input = ctx.input(ops::Roll::INPUT)?;
    let turns = rolled(input.shape(), ctx.input(ops::Roll::SHIFT)?, ctx.input(ops::Roll::AXIS)?)?;
    let output = if turns.iter().all(|&turns| turns == 0) || input.num_elements() == 0 {
        ctx.take_input(ops::Roll::INPUT)?
    } else {
        let mut output = ctx.allocate_output(ops::Roll::OUTPUT, input.shape())?;
        let roll = Turn { ctx, input, turns: &turns, strides: &input.shape().strides() };
        roll.copy(&mut output, StridedCopy::new(0, 0), [0, 0], 0)?;
        output
    };
    ctx.set_output(ops::Roll::OUTPUT, output)
}

/// Copies box by box: one for each choice of what stays inside and what comes in at the other end, in each dimension.
struct Turn<'a> {
    ctx: &'a RawContext<'a>,
    input: &'a Tensor,
    turns: &'a [usize],
    strides: &'a [usize],
}

impl Turn<'_> {
    fn copy(&self, output: &mut Tensor, copy: StridedCopy, first: [usize; 2], axis: usize) -> Result<()> {
        let Some(&turns) = self.turns.get(axis) else {
            return copy.beginning_at(first[0], first[1]).run(self.ctx, output, self.input);
        };
        let (dim, stride) = (self.input.shape()[axis], self.strides[axis]);
        for (count, to, from) in [(dim - turns, turns, 0), (turns, 0, dim - turns)] {
            if count > 0 {
                let first = [first[0] + to * stride, first[1] + from * stride];
                self.copy(output, copy.clone().step(count, stride, stride as isize), first, axis + 1)?;
            }
        }
        Ok(())
    }
}
