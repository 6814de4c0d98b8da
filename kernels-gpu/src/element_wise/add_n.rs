//! AddN: sums of many tensors of one shape, a few in one go.

use std::sync::OnceLock;

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::tensor::Tensor;
use kernlink_ops as ops;
use smallvec::SmallVec;

use crate::device::{GpuDevice, Groups};
use crate::family::{gpu_kernels, scalar, scalar_of};
use crate::shader::{Entry, Program, Scalar, Shader};

/// The most tensors that one shader adds: eight buffers, of which one is the sum's, are what every device binds.
const MOST: usize = 7;

fn program(scalar: Scalar, count: usize) -> Program {
    let computed = super::driver::computed(scalar).wgsl();
    let mut builder = Program::builder(format!("AddN{count}"));
    for k in 0..count {
        builder = builder.read_vectors(&format!("x_{k}"), scalar, 4);
    }
    let terms: Vec<_> = (0..count).map(|k| format!("vec4<{computed}>(x_{k}[i])")).collect();
    let body = format!("fn element(i: u32) {{\n    sum[i] = vec4<{}>({});\n}}\n", scalar.wgsl(), terms.join(" + "));
    builder.write_vectors("sum", scalar, 4).build(Entry::Elements, &body)
}

struct AddN {
    scalar: Scalar,
    /// For sums of 2, 3, ... tensors.
    shaders: [OnceLock<Shader>; MOST - 1],
}

impl AddN {
    fn new(ctx: &RawConstruction<'_>) -> Result<AddN> {
        Ok(AddN { scalar: scalar_of(ctx.output_dtype_at(0)?)?, shaders: Default::default() })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let first = ctx.input_at(0)?;
        for i in 1..ctx.num_inputs() {
            let other = ctx.input_at(i)?.shape();
            ensure!(
                other == first.shape(),
                InvalidArgument,
                "all inputs must have the shape {} of the first, but input {i} has shape {other}",
                first.shape()
            );
        }
        let (mut sum, mut added) = (first.clone(), 1);
        while added < ctx.num_inputs() {
            let some = (ctx.num_inputs() - added).min(MOST - 1);
            let target = gpu.allocate(first.dtype(), first.shape().clone())?;
            {
                let mut tensors: SmallVec<[&Tensor; 8]> = SmallVec::new();
                tensors.push(&sum);
                for i in added..added + some {
                    tensors.push(ctx.input_at(i)?);
                }
                tensors.push(&target);
                let shader = self.shaders[some - 1].get_or_init(|| Shader::new(program(self.scalar, some + 1)));
                gpu.dispatch(shader, &tensors, &[], Groups::Elements(target.num_elements().div_ceil(4)))?;
            }
            sum = target;
            added += some;
        }
        ctx.set_output_at(0, sum)
    }
}

gpu_kernels! { AddN { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } as AddN: |ctx| AddN::new(ctx) }
gpu_kernels! { AccumulateNV2 { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } as AddN: |ctx| AddN::new(ctx) }

/// All programs of the family.
pub(super) fn programs() -> Vec<Program> {
    let scalars = [scalar!(f32), scalar!(i32), scalar!(u32), scalar!(f16), scalar!(i64)];
    scalars.iter().flat_map(|&scalar| (2..=MOST).map(move |count| program(scalar, count))).collect()
}
