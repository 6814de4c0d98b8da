//! Calls, conditionals and loops over functions. What a function takes and gives is on the host, wherever it is called:
//! a call can be where the resources are that it hands on.

use std::sync::Arc;

use kernlink::attr::{AttrValue, FunctionRef};
use kernlink::device::DeviceName;
use kernlink::dtype::{DataType, TString};
use kernlink::error::{Error, Result};
use kernlink::gradient::gradient_function;
use kernlink::kernel::{AsyncOpKernel, KernelConstruction, KernelContext, OpKernel, RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::step::Function;
use kernlink::tensor::Tensor;
use kernlink::{bail, dispatch_pod, ensure};
use kernlink_kernels_common::tensors::listed;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// The inputs from `first` on, as arguments.
fn arguments(ctx: &mut RawContext<'_>, first: usize) -> Result<Vec<Tensor>> {
    (first..ctx.num_inputs()).map(|index| ctx.take_input_at(index)).collect()
}

/// Sets all outputs.
fn set_outputs(ctx: &mut RawContext<'_>, results: Vec<Tensor>) -> Result<()> {
    for (index, tensor) in results.into_iter().enumerate() {
        ctx.set_output_at(index, tensor)?;
    }
    Ok(())
}

/// Whether a tensor counts as true: a scalar that is not zero or empty, or anything else that has elements.
fn to_bool(tensor: &Tensor) -> Result<bool> {
    if tensor.rank() > 0 {
        return Ok(tensor.num_elements() > 0);
    }
    match tensor.dtype() {
        DataType::Bool => tensor.to_scalar(),
        DataType::String => Ok(!tensor.to_scalar::<TString>()?.is_empty()),
        dtype @ (DataType::Float
        | DataType::Double
        | DataType::Int32
        | DataType::Uint8
        | DataType::Int16
        | DataType::Int8
        | DataType::Int64) => {
            let is_true = dispatch_pod!(dtype, T => tensor.to_scalar::<T>().map(|value| value != T::default()));
            is_true.ok_or_else(|| Error::internal("a number is plain bytes"))?
        }
        dtype => bail!(InvalidArgument, "{dtype} cannot be converted to a boolean"),
    }
}

/// What decides where a node goes, or whether it goes on.
struct Predicate {
    /// Whether TensorFlow runs the node as Switch and Merge, which take scalars alone.
    is_lowered: bool,
}

impl Predicate {
    fn new(ctx: &RawConstruction<'_>) -> Predicate {
        Predicate { is_lowered: matches!(ctx.attrs.get(LOWER), Some(AttrValue::Bool(true))) }
    }

    /// Whether a tensor counts as true.
    fn is_true(&self, tensor: &Tensor) -> Result<bool> {
        ensure!(
            !self.is_lowered || tensor.rank() == 0,
            InvalidArgument,
            "the predicate must be a scalar, but it has shape {}: TensorFlow takes others only where attr `{LOWER}` is false",
            tensor.shape()
        );
        to_bool(tensor)
    }
}

/// The attr by which TensorFlow runs a conditional or a loop as Switch and Merge.
const LOWER: &str = "_lower_using_switch_merge";

/// Refuses a function whose results are not what a node gives.
fn check_results(function: &Arc<dyn Function>, call: &FunctionRef, expected: &[DataType]) -> Result<()> {
    let results = function.result_dtypes();
    ensure!(
        results == expected,
        InvalidArgument,
        "function `{}` gives {} and not {}",
        call.name,
        listed(results),
        listed(expected)
    );
    Ok(())
}

/// Calls a function.
struct Call {
    function: Arc<dyn Function>,
}

#[register_kernel(device = Cpu, op = [ops::PartitionedCall, ops::StatefulPartitionedCall])]
#[register_kernel(device = Default, host_memory = ["args", "output"])]
impl AsyncOpKernel<O> for Call {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let function = ctx.function(&ctx.attrs().f)?;
        check_results(&function, &ctx.attrs().f, &ctx.attrs().Tout)?;
        Ok(Self { function })
    }

    async fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let arguments = arguments(ctx, 0)?;
        let results = ctx.call(&self.function, arguments).await?;
        set_outputs(ctx, results)
    }
}

/// Calls a function on the device that input 0 names, which must be the host's.
struct RemoteCalls {
    function: Arc<dyn Function>,
}

#[register_kernel(device = Cpu)]
#[register_kernel(device = Default, host_memory = ["target", "args", "output"])]
impl AsyncOpKernel<ops::RemoteCall> for RemoteCalls {
    fn new(ctx: &KernelConstruction<'_, ops::RemoteCall>) -> Result<Self> {
        let function = ctx.function(&ctx.attrs().f)?;
        check_results(&function, &ctx.attrs().f, &ctx.attrs().Tout)?;
        Ok(Self { function })
    }

    async fn compute(&self, ctx: &mut KernelContext<'_, ops::RemoteCall>) -> Result<()> {
        let target = ctx.input_at(0)?;
        let [name] = target.as_slice::<TString>()? else {
            bail!(InvalidArgument, "target must be one string, not of shape {}", target.shape());
        };
        let name = String::from_utf8_lossy(name.as_bytes()).into_owned();
        let device = DeviceName::parse(&name)?;
        let host = DeviceName::parse("/job:localhost/replica:0/task:0/device:CPU:0")?;
        ensure!(
            device.merged(&host).is_some(),
            Internal,
            "a function cannot be called on {name}: only on the host, which is {host}"
        );
        let arguments = arguments(ctx, 1)?;
        let results = ctx.call(&self.function, arguments).await?;
        set_outputs(ctx, results)
    }
}

/// Calls one of two functions.
struct Branches {
    predicate: Predicate,
    /// The one for false, then the one for true.
    functions: [Arc<dyn Function>; 2],
}

#[register_kernel(device = Cpu, op = [ops::If, ops::StatelessIf])]
#[register_kernel(device = Default, host_memory = ["cond", "input", "output"])]
impl AsyncOpKernel<O> for Branches {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let attrs = ctx.attrs();
        let function = |call: &FunctionRef| {
            let function = ctx.function(call)?;
            check_results(&function, call, &attrs.Tout)?;
            Ok(function)
        };
        let functions = [function(&attrs.else_branch)?, function(&attrs.then_branch)?];
        Ok(Self { predicate: Predicate::new(ctx), functions })
    }

    async fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let taken = self.predicate.is_true(ctx.input(O::COND)?)?;
        let arguments = arguments(ctx, 1)?;
        let results = ctx.call(&self.functions[usize::from(taken)], arguments).await?;
        set_outputs(ctx, results)
    }
}

/// Calls one of several functions.
struct Cases {
    functions: Vec<Arc<dyn Function>>,
}

#[register_kernel(device = Cpu, op = [ops::Case, ops::StatelessCase])]
#[register_kernel(device = Default, host_memory = ["branch_index", "input", "output"])]
impl AsyncOpKernel<O> for Cases {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let attrs = ctx.attrs();
        let functions = attrs.branches.iter().map(|call| {
            let function = ctx.function(call)?;
            check_results(&function, call, &attrs.Tout)?;
            Ok(function)
        });
        Ok(Self { functions: functions.collect::<Result<_>>()? })
    }

    async fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let index = ctx.input(O::BRANCH_INDEX)?;
        ensure!(index.rank() == 0, InvalidArgument, "branch_index must be a scalar, not {}", index.shape());
        let index: i32 = index.to_scalar()?;
        let last = self.functions.len() - 1;
        // What names no branch means the last one.
        let taken = usize::try_from(index).ok().filter(|&index| index < last).unwrap_or(last);
        let arguments = arguments(ctx, 1)?;
        let results = ctx.call(&self.functions[taken], arguments).await?;
        set_outputs(ctx, results)
    }
}

/// Calls a body as long as a condition holds.
struct Loop {
    predicate: Predicate,
    cond: Arc<dyn Function>,
    body: Arc<dyn Function>,
}

#[register_kernel(device = Cpu, op = [ops::While, ops::StatelessWhile])]
#[register_kernel(device = Default, host_memory = ["input", "output"])]
impl AsyncOpKernel<O> for Loop {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let attrs = ctx.attrs();
        let function = |call| ctx.function_of_loop(call, &attrs.body);
        let (cond, body) = (function(&attrs.cond)?, function(&attrs.body)?);
        ensure!(
            cond.result_dtypes().len() == 1,
            InvalidArgument,
            "the condition `{}` must have one result, not {}",
            attrs.cond.name,
            cond.result_dtypes().len()
        );
        check_results(&body, &attrs.body, &attrs.T)?;
        Ok(Self { predicate: Predicate::new(ctx), cond, body })
    }

    async fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let mut values = arguments(ctx, 0)?;
        loop {
            let answer = ctx.call(&self.cond, values.clone()).await?;
            let goes_on = answer.first().map_or(Ok(false), |answer| self.predicate.is_true(answer))?;
            if !goes_on {
                return set_outputs(ctx, values);
            }
            values = ctx.call(&self.body, values).await?;
        }
    }
}

/// Calls a body for each number of a range.
struct ForKernel {
    body: Arc<dyn Function>,
}

#[register_kernel(device = Cpu)]
#[register_kernel(device = Default, host_memory = ["start", "limit", "delta", "input", "output"])]
impl AsyncOpKernel<ops::For> for ForKernel {
    fn new(ctx: &KernelConstruction<'_, ops::For>) -> Result<Self> {
        let body = ctx.function(&ctx.attrs().body)?;
        check_results(&body, &ctx.attrs().body, &ctx.attrs().T)?;
        Ok(Self { body })
    }

    async fn compute(&self, ctx: &mut KernelContext<'_, ops::For>) -> Result<()> {
        let scalar = |tensor: &Tensor, name: &str| {
            ensure!(tensor.rank() == 0, InvalidArgument, "{name} must be a scalar, not {}", tensor.shape());
            tensor.to_scalar::<i32>()
        };
        let start = scalar(ctx.input(ops::For::START)?, "start")?;
        let limit = scalar(ctx.input(ops::For::LIMIT)?, "limit")?;
        let delta = scalar(ctx.input(ops::For::DELTA)?, "delta")?;
        ensure!(
            (delta > 0 && start <= limit) || (delta < 0 && start >= limit) || start == limit,
            InvalidArgument,
            "delta {delta} does not lead from start {start} to limit {limit}"
        );
        let mut values = arguments(ctx, 3)?;
        let mut counter = i64::from(start);
        while (delta > 0 && counter < i64::from(limit)) || (delta < 0 && counter > i64::from(limit)) {
            values.insert(0, Tensor::scalar(counter as i32));
            values = ctx.call(&self.body, values).await?;
            counter += i64::from(delta);
        }
        set_outputs(ctx, values)
    }
}

/// Calls the gradient of a function.
struct Gradient {
    function: Arc<dyn Function>,
}

#[register_kernel(device = Cpu)]
#[register_kernel(device = Default, host_memory = ["input", "output"])]
impl AsyncOpKernel<ops::SymbolicGradient> for Gradient {
    fn new(ctx: &KernelConstruction<'_, ops::SymbolicGradient>) -> Result<Self> {
        Ok(Self { function: gradient_function(ctx, &ctx.attrs().f)? })
    }

    async fn compute(&self, ctx: &mut KernelContext<'_, ops::SymbolicGradient>) -> Result<()> {
        let arguments = arguments(ctx, 0)?;
        let results = ctx.call(&self.function, arguments).await?;
        set_outputs(ctx, results)
    }
}

/// Stands for a result that the other branch has. Of a shape that is not all known, the unknown dimensions are empty.
struct FakeParamKernel {
    value: Tensor,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ops::FakeParam> for FakeParamKernel {
    fn new(ctx: &KernelConstruction<'_, ops::FakeParam>) -> Result<Self> {
        let attrs = ctx.attrs();
        let dims = attrs.shape.dims().unwrap_or_default().iter();
        let shape: Shape = dims.map(|dim| dim.unwrap_or(0)).collect();
        shape.check()?;
        Ok(Self { value: Tensor::zeros(attrs.dtype, shape)? })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::FakeParam>) -> Result<()> {
        ctx.set_output(ops::FakeParam::OUTPUT, self.value.clone())
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

/// Says whether a tensor counts as true.
#[register_kernel(device = Cpu, cheap)]
fn to_bool_kernel(ctx: &mut KernelContext<'_, ops::ToBool>) -> Result<()> {
    let answer = to_bool(ctx.input(ops::ToBool::INPUT)?)?;
    ctx.set_output(ops::ToBool::OUTPUT, Tensor::scalar(answer))
}
