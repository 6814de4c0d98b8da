//! MapDefun: what a function makes of the rows of tensors.

use std::collections::VecDeque;
use std::sync::Arc;

use kernlink::kernel::{KernelContext, KernelState, RawConstruction};
use kernlink::shape::PartialShape;
use kernlink::step::Function;
use kernlink::tensor::Tensor;
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::tensors::{copy_elements, slice};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::dataset::tensors;
use crate::function::Captured;

struct MapDefunKernel {
    function: Arc<dyn Function>,
    shapes: Vec<PartialShape>,
}

impl KernelState for MapDefunKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let shapes: Vec<PartialShape> = ctx.attrs.required("output_shapes")?;
        let dtypes: Vec<kernlink::dtype::DataType> = ctx.attrs.required("output_types")?;
        ensure!(shapes.len() == dtypes.len(), InvalidArgument, "Length of output_shapes and output_types must match.");
        Ok(Self { function: Captured::new(ctx, "f")?.instantiate()?, shapes })
    }
}

/// The outputs, as rows are put in.
struct Stacks<'k> {
    rows: usize,
    shapes: &'k [PartialShape],
    dtypes: Vec<kernlink::dtype::DataType>,
    /// Made with the first row, unless their shapes are known before.
    stacks: Vec<Option<Tensor>>,
}

impl Stacks<'_> {
    fn put(&mut self, row: usize, results: &[Tensor]) -> Result<()> {
        ensure!(
            results.len() == self.dtypes.len(),
            InvalidArgument,
            "The function gives {} tensors, but {} are expected.",
            results.len(),
            self.dtypes.len()
        );
        for (index, result) in results.iter().enumerate() {
            ensure!(
                result.dtype() == self.dtypes[index],
                InvalidArgument,
                "Mismatch in function return type and expected output type for output: {index}"
            );
            let of_others = self.stacks[index].as_ref().map(|stack| PartialShape::from(slice_shape(stack)));
            let expected = of_others.as_ref().unwrap_or(&self.shapes[index]);
            ensure!(
                expected.accepts(result.shape()) && self.shapes[index].accepts(result.shape()),
                InvalidArgument,
                "Mismatch in function retval shape, {}, and expected output shape, {expected}.",
                result.shape()
            );
            if self.stacks[index].is_none() {
                let mut shape = result.shape().clone();
                shape.insert(0, self.rows);
                shape.check()?;
                self.stacks[index] = Some(Tensor::zeros(result.dtype(), shape)?);
            }
            if let Some(stack) = &mut self.stacks[index] {
                copy_elements(stack, row * result.num_elements(), result)?;
            }
        }
        Ok(())
    }
}

/// The shape of a row.
fn slice_shape(stack: &Tensor) -> kernlink::shape::Shape {
    let mut shape = stack.shape().clone();
    shape.remove(0);
    shape
}

#[register_kernel(device = Cpu)]
async fn map_defun(state: &MapDefunKernel, ctx: &mut KernelContext<'_, ops::MapDefun>) -> Result<()> {
    let (arguments, captured) = (tensors(ctx, "arguments")?, tensors(ctx, "captured_inputs")?);
    let rows = arguments.first().and_then(|argument| argument.shape().dims().first().copied()).unwrap_or(0);
    for (index, argument) in arguments.iter().enumerate() {
        match argument.shape().dims().first() {
            None => {
                bail!(InvalidArgument, "All inputs must have rank at least 1. Input {index} has a rank of 0.")
            }
            Some(&own) => ensure!(
                own == rows,
                InvalidArgument,
                "All inputs must have the same dimension 0. Input {index} has leading dimension {own}, while all previous \
                 inputs have leading dimension {rows}"
            ),
        }
    }
    let dtypes = (0..ctx.num_outputs()).map(|index| ctx.output_dtype_at(index)).collect::<Result<Vec<_>>>()?;
    let mut stacks = Stacks { rows, shapes: &state.shapes, stacks: vec![None; dtypes.len()], dtypes };
    for (index, shape) in state.shapes.iter().enumerate() {
        if let Some(mut shape) = shape.to_shape() {
            shape.insert(0, rows);
            shape.check()?;
            stacks.stacks[index] = Some(Tensor::zeros(stacks.dtypes[index], shape)?);
        }
    }
    let (background, depth) = (ctx.background()?, ctx.run().depth + 1);
    let step = ctx.step()?.clone();
    let mut under_way = VecDeque::new();
    let (mut next, mut done) = (0, 0);
    while done < rows {
        while next < rows && under_way.len() < background.threads() {
            let row = arguments.iter().map(|argument| slice(argument, next));
            let row = row.chain(captured.iter().cloned().map(Ok)).collect::<Result<Vec<_>>>()?;
            let (function, background, step) = (state.function.clone(), background.clone(), step.clone());
            let call = async move {
                let until = [step.cancellation()];
                background.call(&function, depth, row, &until, step.deadline()).await
            };
            under_way.push_back(ctx.background()?.spawn(call));
            next += 1;
        }
        let Some(call) = under_way.front_mut() else { break };
        let results = call.result().await?;
        under_way.pop_front();
        stacks.put(done, &results)?;
        done += 1;
    }
    for (index, stack) in stacks.stacks.into_iter().enumerate() {
        let Some(stack) = stack else {
            bail!(
                InvalidArgument,
                "There are no rows, and so the shape of output {index} is not known: let output_shapes[{index}] say it"
            );
        };
        ctx.set_output_at(index, stack)?;
    }
    Ok(())
}
