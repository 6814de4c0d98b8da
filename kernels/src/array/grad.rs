//! MirrorPadGrad, StridedSliceGrad, TensorStridedSliceUpdate.

use std::marker::PhantomData;

use kernlink::dtype::Number;
use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::shape::{MAX_RANK, Shape};
use kernlink::shape_inference::strided_slice::{DenseSlice, Masks, OutputDim, resolve};
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::integers::{pairs, vector};
use super::strided::StridedCopy;

struct MirrorPadGradKernel<T> {
    /// The edge itself was not repeated.
    reflect: bool,
    element: PhantomData<fn(T)>,
}

#[register_kernel(device = Cpu, host_memory = ["paddings"], Tpaddings = [int32, int64], T = [
    f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, Complex32, Complex64,
])]
impl<T: Number> OpKernel<ops::MirrorPadGrad> for MirrorPadGradKernel<T> {
    fn new(ctx: &KernelConstruction<'_, ops::MirrorPadGrad>) -> Result<Self> {
        let reflect = match ctx.attrs().mode.as_str() {
            "REFLECT" => true,
            "SYMMETRIC" => false,
            other => bail!(InvalidArgument, "mode must be either REFLECT or SYMMETRIC, not {other}"),
        };
        Ok(Self { reflect, element: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::MirrorPadGrad>) -> Result<()> {
        let input = ctx.input(ops::MirrorPadGrad::INPUT)?;
        ensure!(input.rank() <= 5, Unimplemented, "inputs rank not in [0,5]: {}", input.rank());
        let mut shape = input.shape().clone();
        let mut folds = Vec::new();
        let offset = usize::from(self.reflect);
        for (axis, pair) in
            pairs(ctx.input(ops::MirrorPadGrad::PADDINGS)?, input.rank(), "paddings")?.into_iter().enumerate()
        {
            let (Ok(before), Ok(after)) = (usize::try_from(pair[0]), usize::try_from(pair[1])) else {
                bail!(InvalidArgument, "Paddings must be non-negative: {}, {}", pair[0], pair[1]);
            };
            let size = before.checked_add(after).and_then(|padding| shape[axis].checked_sub(padding));
            let Some(size) = size.filter(|&size| size > 0) else {
                bail!(
                    InvalidArgument,
                    "Total paddings must be less than the input dimension size: {before} and {after} were not less \
                     than {}",
                    shape[axis]
                );
            };
            ensure!(
                before + offset <= size && after + offset <= size,
                InvalidArgument,
                "paddings must be {} the output dimension size: {before}, {after} for {size}",
                if self.reflect { "less than" } else { "no greater than" }
            );
            shape.dims_mut()[axis] = size;
            if before + after > 0 {
                folds.push(Fold { axis, before, after, size, offset });
            }
        }
        let Some((last, others)) = folds.split_last() else {
            let output = input.clone();
            return ctx.set_output(ops::MirrorPadGrad::OUTPUT, output);
        };
        let mut folded = input.clone();
        for fold in others {
            folded = fold.run::<T>(ctx, &folded)?;
        }
        let output = last.run::<T>(ctx, &folded)?.reshaped(shape)?;
        ctx.set_output(ops::MirrorPadGrad::OUTPUT, output)
    }
}

/// One dimension that is cut to the `size` elements after the first `before`; what is cut off is added to what it
/// mirrors.
struct Fold {
    axis: usize,
    before: usize,
    after: usize,
    size: usize,
    offset: usize,
}

impl Fold {
    fn run<T: Number>(&self, ctx: &RawContext<'_>, input: &Tensor) -> Result<Tensor> {
        let Fold { axis, before, after, size, offset } = *self;
        let mut shape = input.shape().clone();
        shape.dims_mut()[axis] = size;
        let mut output = Tensor::alloc(T::DTYPE, shape)?;
        let inner: usize = input.shape()[axis + 1..].iter().product();
        let (from, to) = ((before + size + after) * inner, size * inner);
        if output.num_elements() == 0 {
            return Ok(output);
        }
        let source = input.as_slice::<T>()?;
        ctx.parallel_chunks(output.as_mut_slice::<T>()?, to, 1, |first, piece| {
            for (output, input) in piece.chunks_exact_mut(to).zip(source[first / to * from..].chunks_exact(from)) {
                output.copy_from_slice(&input[before * inner..][..to]);
                let mut add = |place: usize, from: usize| {
                    let rows = output[place * inner..][..inner].iter_mut().zip(&input[from * inner..][..inner]);
                    rows.for_each(|(sum, &x)| *sum = sum.add(x));
                };
                (0..before).for_each(|k| add(offset + k, before - 1 - k));
                (0..after).for_each(|k| add(size - 1 - offset - k, before + size + k));
            }
        });
        Ok(output)
    }
}

/// The attrs, all named alike, of the ops on slices.
macro_rules! masks {
    ($attrs:expr) => {{
        let attrs = $attrs;
        Masks::new(attrs.begin_mask, attrs.end_mask, attrs.ellipsis_mask, attrs.new_axis_mask, attrs.shrink_axis_mask)
    }};
}

/// The slice of a tensor of shape `shape` that inputs 1 to 3 name, and its own shape.
fn slice_of(ctx: &RawContext<'_>, masks: Masks, shape: &Shape) -> Result<(DenseSlice, Shape)> {
    let begin = vector(ctx.input_at(1)?, "begin")?;
    let end = vector(ctx.input_at(2)?, "end")?;
    let strides = vector(ctx.input_at(3)?, "strides")?;
    let slice = resolve(&begin, &end, &strides, masks, shape)?;
    let whole = slice.final_shape().to_shape().ok_or_else(unknown)?;
    ensure!(whole.rank() <= MAX_RANK, InvalidArgument, "the slice has rank {}", whole.rank());
    Ok((slice, whole))
}

#[cold]
fn unknown() -> Error {
    Error::internal("a slice of a known shape has no size")
}

/// Writes `value` to a slice of `target`. Its shape must broadcast to that of the slice.
fn write_slice(ctx: &RawContext<'_>, slice: &DenseSlice, target: &mut Tensor, value: &Tensor) -> Result<()> {
    // The distance in `value` between neighbours in each dimension of the target.
    let mut from = vec![0isize; slice.dims.len()];
    let strides = value.shape().strides();
    for (axis, dim) in slice.output.iter().rev().enumerate().take(value.rank()) {
        let axis = value.rank() - 1 - axis;
        if let OutputDim::Input(dim) = *dim
            && value.shape()[axis] != 1
        {
            from[dim] = strides[axis] as isize;
        }
    }
    let mut copy = StridedCopy::new(0, 0);
    let (mut to_first, mut from_first) = (0, 0isize);
    for ((dim, &stride), &from) in slice.dims.iter().zip(&target.shape().strides()).zip(&from) {
        let size = dim.size.ok_or_else(unknown)?;
        if size == 0 {
            return Ok(());
        }
        let last = size as i64 - 1;
        // The copy goes forward in the target: a slice that goes backward is read from its end.
        let backward = dim.stride < 0;
        to_first += (if backward { dim.begin + last * dim.stride } else { dim.begin }) as usize * stride;
        from_first += if backward { last as isize * from } else { 0 };
        let step = if last == 0 { stride } else { dim.stride.unsigned_abs() as usize * stride };
        copy = copy.step(size, step, if backward { -from } else { from });
    }
    copy.beginning_at(to_first, from_first as usize).run(ctx, target, value)
}

struct StridedSliceGradKernel {
    masks: Masks,
}

#[register_kernel(device = Cpu, host_memory = ["shape", "begin", "end", "strides"], T = [
    bfloat16, bool, complex128, complex64, double, float, float8_e4m3fn, float8_e5m2, half, int16, int32, int64, int8,
    qint32, qint8, quint8, resource, string, uint16, uint32, uint64, uint8, variant,
])]
#[register_kernel(device = Default, T = [int32], host_memory = ["shape", "begin", "end", "strides", "dy", "output"])]
impl OpKernel<ops::StridedSliceGrad> for StridedSliceGradKernel {
    fn new(ctx: &KernelConstruction<'_, ops::StridedSliceGrad>) -> Result<Self> {
        Ok(Self { masks: masks!(ctx.attrs())? })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::StridedSliceGrad>) -> Result<()> {
        let shape = Shape::from_dims(&vector(ctx.input(ops::StridedSliceGrad::SHAPE)?, "shape")?)?;
        let (slice, whole) = slice_of(ctx, self.masks, &shape)?;
        let dy = ctx.input(ops::StridedSliceGrad::DY)?;
        ensure!(*dy.shape() == whole, InvalidArgument, "shape of dy was {} instead of {whole}", dy.shape());
        if slice.is_identity {
            let output = ctx.take_input(ops::StridedSliceGrad::DY)?.reshaped(shape)?;
            return ctx.set_output(ops::StridedSliceGrad::OUTPUT, output);
        }
        let mut output = Tensor::zeros(dy.dtype(), shape)?;
        write_slice(ctx, &slice, &mut output, dy)?;
        ctx.set_output(ops::StridedSliceGrad::OUTPUT, output)
    }
}

struct TensorStridedSliceUpdateKernel {
    masks: Masks,
}

#[register_kernel(device = Cpu, host_memory = ["begin", "end", "strides"], T = [
    bfloat16, bool, complex128, complex64, double, float, float8_e4m3fn, float8_e5m2, half, int16, int32, int64, int8,
    qint32, qint8, quint8, resource, string, uint16, uint32, uint64, uint8, variant,
])]
#[register_kernel(device = Default, T = [int32], host_memory = ["input", "begin", "end", "strides", "value", "output"])]
impl OpKernel<ops::TensorStridedSliceUpdate> for TensorStridedSliceUpdateKernel {
    fn new(ctx: &KernelConstruction<'_, ops::TensorStridedSliceUpdate>) -> Result<Self> {
        Ok(Self { masks: masks!(ctx.attrs())? })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::TensorStridedSliceUpdate>) -> Result<()> {
        let shape = ctx.input(ops::TensorStridedSliceUpdate::INPUT)?.shape().clone();
        let (slice, whole) = slice_of(ctx, self.masks, &shape)?;
        let value = ctx.input(ops::TensorStridedSliceUpdate::VALUE)?.clone();
        if whole.num_elements() > 0 {
            ensure!(
                value.shape().broadcast(&whole).is_ok_and(|both| both == whole),
                InvalidArgument,
                "Cannot broadcast input shape {} into final shape {whole}",
                value.shape()
            );
        }
        let mut output = own(ctx, 0)?;
        if whole.num_elements() > 0 {
            write_slice(ctx, &slice, &mut output, &value)?;
        }
        ctx.set_output(ops::TensorStridedSliceUpdate::OUTPUT, output)
    }
}

/// Input `index` to be changed: itself if nothing else uses it, or else a copy.
pub(super) fn own(ctx: &mut RawContext<'_>, index: usize) -> Result<Tensor> {
    let mut input = ctx.take_input_at(index)?;
    if input.is_unique() {
        return Ok(input);
    }
    let mut copy = Tensor::alloc(input.dtype(), input.shape())?;
    StridedCopy::new(0, 0).step(input.num_elements(), 1, 1).run(ctx, &mut copy, &input)?;
    Ok(copy)
}
