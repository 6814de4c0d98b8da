//! The kernels of the test device, and ops of these tests.

use kernlink::kernel::RawContext;
use kernlink::prelude::*;

use super::device::TestDevice;

fn on_device<'a>(ctx: &RawContext<'a>) -> &'a TestDevice {
    ctx.run().device.and_then(|device| device.downcast_ref()).expect("the kernels are for this device")
}

/// The elements of an input in the device's memory.
fn elements(ctx: &RawContext<'_>, index: usize) -> Result<Vec<f32>> {
    let bytes = on_device(ctx).bytes(ctx.input_at(index)?)?;
    Ok(bytes.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect())
}

/// Computes element by element, of which either side may have but one.
fn binary<T, const N: usize>(ctx: &mut RawContext<'_>, of: fn(f32, f32) -> T, bytes: fn(T) -> [u8; N]) -> Result<()> {
    let (a, b) = (elements(ctx, 0)?, elements(ctx, 1)?);
    let longer = usize::from(b.len() > a.len());
    let shape = ctx.input_at(longer)?.shape().clone();
    let result: Vec<u8> = (0..a.len().max(b.len())).flat_map(|i| bytes(of(a[i % a.len()], b[i % b.len()]))).collect();
    let tensor = on_device(ctx).tensor(ctx.output_dtype_at(0)?, &shape, &result);
    ctx.set_output_at(0, tensor)
}

macro_rules! binaries {
    ($($kernel:ident($op:ident, $of:expr, $bytes:expr);)*) => {$(
        struct $kernel;

        #[register_kernel(device = Gpu, T = [f32])]
        impl OpKernel<ops::$op> for $kernel {
            fn new(_: &KernelConstruction<ops::$op>) -> Result<Self> {
                Ok($kernel)
            }
            fn compute(&self, ctx: &mut KernelContext<ops::$op>) -> Result<()> {
                binary(ctx, $of, $bytes)
            }
        }
    )*};
}

binaries! {
    AddKernel(AddV2, |a, b| a + b, f32::to_le_bytes);
    MulKernel(Mul, |a, b| a * b, f32::to_le_bytes);
    LessKernel(Less, |a, b| a < b, |less| [u8::from(less)]);
}

/// Adds `int32` on the host, where TensorFlow has it too.
struct AddOnHost;

#[register_kernel(device = Gpu, T = [i32], host_memory = ["x", "y", "z"])]
impl OpKernel<ops::AddV2> for AddOnHost {
    fn new(_: &KernelConstruction<ops::AddV2>) -> Result<Self> {
        Ok(AddOnHost)
    }
    fn compute(&self, ctx: &mut KernelContext<ops::AddV2>) -> Result<()> {
        let sum = ctx.input(ops::AddV2::X)?.to_scalar::<i32>()? + ctx.input(ops::AddV2::Y)?.to_scalar::<i32>()?;
        ctx.set_output(ops::AddV2::Z, Tensor::scalar(sum))
    }
}

struct ReshapeKernel;

#[register_kernel(device = Gpu, T = [f32], host_memory = ["shape"])]
impl OpKernel<ops::Reshape> for ReshapeKernel {
    fn new(_: &KernelConstruction<ops::Reshape>) -> Result<Self> {
        Ok(ReshapeKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<ops::Reshape>) -> Result<()> {
        let shape: Vec<usize> =
            ctx.input(ops::Reshape::SHAPE)?.to_i64_vec()?.iter().map(|&size| size as usize).collect();
        let tensor = ctx.take_input(ops::Reshape::TENSOR)?;
        on_device(ctx).bytes(&tensor)?;
        ctx.set_output(ops::Reshape::OUTPUT, tensor.reshaped(shape)?)
    }
}

struct NegKernel;

#[register_kernel(device = Gpu, T = [f32], requires = ["neg"])]
impl OpKernel<ops::Neg> for NegKernel {
    fn new(_: &KernelConstruction<ops::Neg>) -> Result<Self> {
        Ok(NegKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<ops::Neg>) -> Result<()> {
        let bytes: Vec<u8> = elements(ctx, 0)?.iter().flat_map(|value| (-value).to_le_bytes()).collect();
        let tensor = on_device(ctx).tensor(DataType::Float, ctx.input(ops::Neg::X)?.shape(), &bytes);
        ctx.set_output(ops::Neg::Y, tensor)
    }
}

/// Sums pairs of an input on the device (`even`) and one on the host (`odd`).
#[register_op(
    attr("N: int >= 1"),
    input("even: N * float"),
    input("odd: N * float"),
    input("name: string"),
    output("sums: N * float"),
    output("total: float")
)]
pub(crate) struct SumPairs;

struct SumPairsKernel;

#[register_kernel(device = Gpu, host_memory = ["odd", "total"])]
impl OpKernel<SumPairs> for SumPairsKernel {
    fn new(ctx: &KernelConstruction<SumPairs>) -> Result<Self> {
        // Constants are given to constructors as they are on the host.
        let mut known = ctx.constants.iter().flatten();
        ensure!(known.all(|tensor| tensor.device_memory().is_none()), Internal, "a constant is not on the host");
        Ok(SumPairsKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<SumPairs>) -> Result<()> {
        let count = ctx.output_range(SumPairs::SUMS).len();
        let mut total = 0.0;
        for index in 0..count {
            let sum = elements(ctx, index)?[0] + ctx.input_at(count + index)?.to_scalar::<f32>()?;
            total += sum;
            let tensor = on_device(ctx).tensor(DataType::Float, &[].into(), &sum.to_le_bytes());
            ctx.set_output_at(index, tensor)?;
        }
        ctx.input(SumPairs::NAME)?.as_slice::<kernlink::dtype::TString>()?;
        ctx.set_output(SumPairs::TOTAL, Tensor::scalar(total))
    }
}

/// Has a kernel on the host only.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged)]
pub(crate) struct OnHost;

struct OnHostKernel;

#[register_kernel(device = Cpu)]
impl OpKernel<OnHost> for OnHostKernel {
    fn new(_: &KernelConstruction<OnHost>) -> Result<Self> {
        Ok(OnHostKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<OnHost>) -> Result<()> {
        let x = ctx.take_input(OnHost::X)?;
        x.as_slice::<f32>()?;
        ctx.set_output(OnHost::Y, x)
    }
}
