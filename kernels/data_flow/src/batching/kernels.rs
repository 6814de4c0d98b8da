//! The kernels of `Batch` and `BatchFunction`.

use std::sync::Arc;

use kernlink::attr::FunctionRef;
use kernlink::dtype::DataType;
use kernlink::kernel::{KernelState, NamedResource, RawConstruction, RawContext};
use kernlink::step::Function;
use kernlink::tensor::Tensor;
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::tensors::listed;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::batcher::{Batcher, Means};
use super::options::Options;

/// A node that puts inputs of several runs together.
struct BatchKernel {
    batcher: NamedResource<Batcher>,
    options: Options,
    kind: String,
    num_inputs: usize,
    function: Option<Arc<dyn Function>>,
}

impl KernelState for BatchKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let calls = ctx.op.name == "BatchFunction";
        let inputs: Vec<DataType> = ctx.attrs.required(if calls { "Tin" } else { "T" })?;
        let mut function = None;
        if calls {
            if let Some(index) = inputs.iter().position(|dtype| *dtype == DataType::Resource) {
                bail!(InvalidArgument, "BatchFunction cannot take resource inputs but input {index} is a resource.");
            }
            let call: FunctionRef = ctx.attrs.required("f")?;
            let found = ctx.function(&call)?;
            let (given, expected) = (found.result_dtypes(), ctx.attrs.required::<Vec<DataType>>("Tout")?);
            ensure!(
                given == expected,
                InvalidArgument,
                "function `{}` gives {} and not {}",
                call.name,
                listed(given),
                listed(&expected)
            );
            let arguments = inputs.len() + ctx.attrs.required::<Vec<DataType>>("Tcaptured")?.len();
            ensure!(
                found.argument_dtypes().len() == arguments,
                InvalidArgument,
                "Function takes {} argument(s) but {arguments} argument(s) were passed",
                found.argument_dtypes().len()
            );
            function = Some(found);
        }
        Ok(Self {
            batcher: NamedResource::with_node_name(ctx)?,
            options: Options::new(ctx, calls)?,
            kind: ctx.attrs.required("batching_queue")?,
            num_inputs: inputs.len(),
            function,
        })
    }
}

impl BatchKernel {
    fn batcher(&self, ctx: &RawContext<'_>) -> Result<Arc<Batcher>> {
        // The options are those of the first of the nodes that share it.
        let batcher = self.batcher.get(|| Ok(Batcher::new(self.options.clone())))?;
        ensure!(
            batcher.options.calls == self.options.calls,
            InvalidArgument,
            "node `{}` shares the name {} with a node that makes batches of another kind: give it a `shared_name` of its own",
            ctx.node(),
            self.batcher.name()
        );
        Ok(batcher)
    }
}

#[register_kernel(device = Cpu, op = [ops::Batch, ops::BatchFunction])]
async fn batch(kernel: &BatchKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let inputs = (0..kernel.num_inputs).map(|index| ctx.input_at(index).cloned()).collect::<Result<Vec<Tensor>>>()?;
    let shapes = || inputs.iter().map(|input| input.shape().to_string()).collect::<Vec<_>>().join(", ");
    ensure!(
        inputs.iter().all(|input| input.rank() > 0),
        InvalidArgument,
        "Batching input tensors must have at least one dimension, and those of node `{}` have shapes {}",
        ctx.node(),
        shapes()
    );
    let rows = inputs.first().map_or(0, |input| input.shape()[0]);
    ensure!(
        inputs.iter().all(|input| input.shape()[0] == rows),
        InvalidArgument,
        "Batching input tensors supplied in a given op invocation must have equal 0th-dimension size, and those of node `{}` \
         have shapes {}",
        ctx.node(),
        shapes()
    );
    let batcher = kernel.batcher(ctx)?;
    if rows == 0 {
        if !kernel.options.calls {
            let index = inputs.len();
            for (output, input) in inputs.into_iter().enumerate() {
                ctx.set_output_at(output, input)?;
            }
            ctx.set_output_at(index, Tensor::zeros(DataType::Int64, [0, 3])?)?;
            return ctx.set_output_at(index + 1, Tensor::scalar(batcher.id()));
        }
        // As in TensorFlow, also of the other dimensions nothing is left.
        for index in 0..ctx.num_outputs() {
            ctx.set_output_at(index, Tensor::zeros(ctx.output_dtype_at(index)?, [0])?)?;
        }
        return Ok(());
    }
    let captured = (kernel.num_inputs..ctx.num_inputs()).map(|index| ctx.input_at(index).cloned());
    let captured = captured.collect::<Result<Vec<Tensor>>>()?;
    let function = kernel.function.clone().map(|function| (function, captured));
    let means = Means { background: ctx.background()?, function, depth: ctx.run().depth + 1 };
    let outputs = batcher.add(&kernel.kind, inputs, rows, means).await?;
    outputs.into_iter().enumerate().try_for_each(|(index, output)| ctx.set_output_at(index, output))
}
