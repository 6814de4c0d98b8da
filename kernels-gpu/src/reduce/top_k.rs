//! TopKV2: the greatest elements of each row in their order, the first of equals first, NaN last.

use std::sync::OnceLock;

use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::top_k_long::{self, Long};
use crate::device::{GpuDevice, Groups};
use crate::element_wise::{computed, for_text};
use crate::family::scalar_of;
use crate::shader::{Entry, Program, Scalar, Shader};

/// The elements that a workgroup sorts in its memory.
const SORTED: usize = 1024;
/// Up to this many of a long row are sought one after the other.
const FEW: usize = 8;

fn program(scalar: Scalar, places: Scalar, sorts: bool) -> Program {
    let part = computed(scalar);
    let is_nan = if part == Scalar::F32 { "return is_nan(a);" } else { "return false;" };
    let order = format!("fn is_last(a: A) -> bool {{\n    {is_nan}\n}}\n");
    let text = if sorts { include_str!("top_k_sort.wgsl") } else { include_str!("top_k_seek.wgsl") };
    Program::builder("TopKV2")
        .alias("A", part)
        .alias("T", scalar)
        .alias("I", places)
        .read("x", scalar)
        .write("values", scalar)
        .write("indices", places)
        .param("columns", "u32")
        .param("k", "u32")
        .constant("SORTED", SORTED as u32)
        .workgroup(256)
        .build(Entry::Rows, &(for_text(&order) + &order + include_str!("top_k_order.wgsl") + text))
}

#[derive(Default)]
struct TopK {
    sorts: OnceLock<Shader>,
    seeks: OnceLock<Shader>,
    long: Long,
}

impl TopK {
    fn compute(&self, ctx: &mut RawContext<'_>, k: i64) -> Result<()> {
        ensure!(k >= 0, InvalidArgument, "Need k >= 0, got {k}");
        let gpu = GpuDevice::of(ctx)?;
        let input = ctx.input_at(0)?;
        let Some(&columns) = input.shape().last() else {
            bail!(InvalidArgument, "input must be >= 1-D, got shape {}", input.shape());
        };
        ensure!(
            k as u64 <= columns as u64,
            InvalidArgument,
            "input must have at least k columns. Had {columns}, needed {k}"
        );
        ensure!(
            columns <= i32::MAX as usize,
            InvalidArgument,
            "Second dimension of flattened input must be <= {}, got {columns}",
            i32::MAX
        );
        let k = k as usize;
        let mut shape = input.shape().clone();
        shape.dims_mut()[input.rank() - 1] = k;
        let values = gpu.allocate_output(ctx, 0, shape.clone())?;
        let indices = gpu.allocate_output(ctx, 1, shape)?;
        if values.num_elements() > 0 {
            let (scalar, places) = (scalar_of(input.dtype())?, scalar_of(indices.dtype())?);
            if columns > SORTED && k > SORTED / 2 {
                self.long.run(gpu, [input, &values, &indices], [scalar, places], columns, k)?;
                ctx.set_output_at(0, values)?;
                return ctx.set_output_at(1, indices);
            }
            let sorts = columns <= SORTED || FEW < k;
            let slot = if sorts { &self.sorts } else { &self.seeks };
            let shader = slot.get_or_init(|| Shader::new(program(scalar, places, sorts)));
            let rows = Groups::Rows(values.num_elements() / k);
            gpu.dispatch(shader, &[input, &values, &indices], &[columns as u32, k as u32], rows)?;
        }
        ctx.set_output_at(0, values)?;
        ctx.set_output_at(1, indices)
    }
}

struct TopKV2Kernel(TopK);

impl OpKernel<ops::TopKV2> for TopKV2Kernel {
    fn new(_: &KernelConstruction<'_, ops::TopKV2>) -> Result<Self> {
        Ok(Self(TopK::default()))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::TopKV2>) -> Result<()> {
        let k = ctx.input_at(1)?;
        ensure!(k.rank() == 0, InvalidArgument, "k must be a scalar, not of shape {}", k.shape());
        let k = match k.dtype() {
            kernlink::dtype::DataType::Int16 => i64::from(k.to_scalar::<i16>()?),
            _ => k.to_i64_vec()?[0],
        };
        self.0.compute(ctx, k)
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

macro_rules! register {
    ($([$($t:ident),*] [$($index:ident),*] $(requires $requires:tt)?;)*) => {$(
        const _: () = {
            #[register_kernel(
                device = Gpu, op = ops::TopKV2, host_memory = ["k"], $(requires = $requires,)? T = [$($t),*],
                index_type = [$($index),*]
            )]
            type Registered = TopKV2Kernel;
        };
    )*};
}

register! {
    [f32, i32, u32] [int32];
    [f32, i32, u32] [int64] requires ["i64"];
    [f16] [int32] requires ["f16"];
    [f16] [int64] requires ["f16", "i64"];
    [i64] [int32, int64] requires ["i64"];
}

/// All programs of the family.
pub(super) fn programs() -> Vec<Program> {
    use Scalar::{F16, F32, I32, I64, U32};
    let all = [F32, I32, U32, F16, I64].into_iter().flat_map(|scalar| [I32, I64].map(|places| (scalar, places)));
    let all: Vec<_> = all.collect();
    let mut programs: Vec<Program> =
        all.iter().flat_map(|&(scalar, places)| [false, true].map(|sorts| program(scalar, places, sorts))).collect();
    programs.extend(all.iter().flat_map(|&(scalar, places)| top_k_long::programs(scalar, places)));
    programs
}
