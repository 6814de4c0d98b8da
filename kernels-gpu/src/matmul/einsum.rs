//! Einsum: copies, sums of rows and products that other kernels have.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::einsum::{Device, Equation};
use kernlink_geometry::products::Side;
use kernlink_geometry::strided::StridedCopy;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::products::Products;
use crate::array::{self, zeros};
use crate::device::GpuDevice;
use crate::reduce::{self, Fold, Kind, Plan};
use crate::shader::{Program, scalar_of};

impl Device for GpuDevice {
    fn copied(&self, source: &Tensor, copy: &StridedCopy, shape: Shape, sparse: bool) -> Result<Tensor> {
        let copied = if sparse { zeros(self, source.dtype(), shape) } else { self.allocate(source.dtype(), shape) }?;
        array::copy(self, copy, &copied, source)?;
        Ok(copied)
    }

    fn row_sums(&self, rows: &Tensor, columns: usize, shape: Shape) -> Result<Tensor> {
        let fold = Fold::new(Kind::Sum.of(scalar_of(rows.dtype())?));
        let plan = Plan::new(&Shape::from([shape.num_elements(), columns]), &[1], false)?;
        fold.run(self, rows, &plan, rows.dtype())?.reshaped(shape)
    }

    fn products(&self, [a, b]: [&Tensor; 2], sides: [Side<'_>; 2]) -> Result<Tensor> {
        Products::new(a.dtype(), sides.map(|side| side.transposed))?.compute(self, a, b)
    }
}

fn programs(dtype: DataType) -> Result<Vec<Program>> {
    Ok([super::programs(dtype)?, array::with_copies(dtype)?, reduce::programs(Kind::Sum, dtype)?].concat())
}

#[register_kernel(
    device = Gpu, op = ops::Einsum, T = [f32, i32, f16 if "f16", i64 if "i64"], programs = |T| programs(T),
    state = |ctx| Equation::new(&ctx.attrs().equation)
)]
fn einsum(equation: &Equation, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let tensors = (0..ctx.num_inputs()).map(|index| ctx.input_at(index)).collect::<Result<Vec<_>>>()?;
    let output = equation.compute(GpuDevice::of(ctx)?, &tensors)?;
    ctx.set_output(O::OUTPUT, output)
}
