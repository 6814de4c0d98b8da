//! Outputs that see their input through a window: beyond its edges there is a constant, its mirror image, or its other
//! end. Pad, PadV2, MirrorPad, Roll.

use kernlink::bail;
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::pad::{self as geometry, Fold, Padding};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;
use smallvec::SmallVec;

use super::fill::{self, fill};
use super::integers::ensure_scalar;
use super::strided::{Run as _, StridedCopy};
use super::unit::{Unit, pattern, word};
use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program, Scalar, scalar_of};
use crate::windows::{read, written};

/// What is beyond the edges.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Beyond {
    Constant,
    Mirror,
    OtherEnd,
}

impl Beyond {
    /// The name that holds in the file's conditions.
    fn name(self) -> &'static str {
        match self {
            Beyond::Constant => "constant",
            Beyond::Mirror => "mirror",
            Beyond::OtherEnd => "other_end",
        }
    }
}

/// The numbers of dimensions for which there is a shader each.
const RANKS: [usize; 6] = [1, 2, 3, 4, 6, 8];

/// One dimension of a window: its size, where the input begins in it, and the input's size.
#[derive(Clone, Copy)]
struct Dim {
    size: usize,
    before: usize,
    input: usize,
}

/// Makes output 0 with the window's dimensions. `extra` are the parameters of what is beyond.
fn look(gpu: &GpuDevice, beyond: Beyond, output: &Tensor, input: &Tensor, dims: &[Dim], extra: &[u32]) -> Result<()> {
    if output.num_elements() == 0 {
        return Ok(());
    }
    if !gpu.fit(&[output, input]) {
        return look_by_copies(gpu, beyond, output, input, dims, extra);
    }
    let mut joined: SmallVec<[Dim; 8]> = SmallVec::new();
    for &dim in dims {
        let is_whole = dim.size == dim.input && dim.before == 0;
        match joined.last_mut() {
            // A dimension that is seen whole makes the one around it longer, but mirror images keep its order.
            Some(last) if is_whole && (beyond != Beyond::Mirror || (last.size == last.input && last.before == 0)) => {
                *last =
                    Dim { size: last.size * dim.size, before: last.before * dim.size, input: last.input * dim.size };
            }
            _ => joined.push(dim),
        }
    }
    if joined.is_empty() {
        joined.push(Dim { size: 1, before: 0, input: 1 });
    }
    let last = joined.len() - 1;
    let inner = joined[last];
    let turns_inside = beyond == Beyond::Mirror && (inner.size != inner.input || inner.before != 0);
    let (unit, times) = Unit::of(output.dtype())?.widest(|times| {
        let all = [inner.size, inner.before, inner.input];
        !turns_inside && all.iter().all(|number| number.is_multiple_of(times))
    });
    joined[last] = Dim { size: inner.size / times, before: inner.before / times, input: inner.input / times };
    let Some(rank) = RANKS.into_iter().find(|&rank| rank >= joined.len()) else {
        bail!(Unimplemented, "a window of {} dimensions", joined.len());
    };
    let count = joined.iter().map(|dim| dim.size).product();
    let padding = std::iter::repeat_n(Dim { size: 1, before: 0, input: 1 }, rank - joined.len());
    let mut params: SmallVec<[u32; 32]> = extra.into();
    for dim in padding.chain(joined) {
        params.extend([word(dim.size), word(dim.before), word(dim.input)]);
    }
    gpu.run(program, (beyond, unit, rank), &[input, output], &params, Groups::Elements(count))
}

/// Some places of a dimension of the window, in which the input runs forwards or backwards.
#[derive(Clone, Copy)]
struct Run {
    first: usize,
    count: usize,
    input: usize,
    step: isize,
}

impl Dim {
    /// All runs, for mirror images with the parameter `first`.
    fn runs(self, beyond: Beyond, first: usize) -> Vec<Run> {
        let Dim { size, before, input } = self;
        let run = |first, count, input, step| Run { first, count, input, step };
        let after = size.saturating_sub(before + input);
        let runs = match beyond {
            Beyond::Constant => vec![run(before, input, 0, 1)],
            Beyond::Mirror => vec![
                run(0, before, before.wrapping_sub(first), -1),
                run(before, input, 0, 1),
                run(before + input, after, (input + first).wrapping_sub(2), -1),
            ],
            Beyond::OtherEnd => vec![run(0, before, size - before, 1), run(before, size - before, 0, 1)],
        };
        runs.into_iter().filter(|run| run.count > 0).collect()
    }
}

/// [`look`] with a strided copy for each run of the input, which goes by windows.
#[cold]
fn look_by_copies(
    gpu: &GpuDevice,
    beyond: Beyond,
    output: &Tensor,
    input: &Tensor,
    dims: &[Dim],
    extra: &[u32],
) -> Result<()> {
    if beyond == Beyond::Constant {
        fill(gpu, output, [extra[0], extra[1]])?;
    }
    let sizes = |size: fn(&Dim) -> usize| dims.iter().map(size).collect::<Shape>().strides();
    let (to, from) = (sizes(|dim| dim.size), sizes(|dim| dim.input));
    let mut copies = vec![(StridedCopy::new(0, 0), 0, 0)];
    for (axis, dim) in dims.iter().enumerate() {
        let runs = dim.runs(beyond, extra.first().map_or(0, |&first| first as usize));
        let extended = |(copy, target, source): &(StridedCopy, usize, usize)| {
            let along = |run: &Run| {
                let copy = copy.clone().step(run.count, to[axis], run.step * from[axis] as isize);
                (copy, target + run.first * to[axis], source + run.input * from[axis])
            };
            runs.iter().map(along).collect::<Vec<_>>()
        };
        copies = copies.iter().flat_map(extended).collect();
    }
    copies.into_iter().try_for_each(|(copy, target, source)| copy.beginning_at(target, source).run(gpu, output, input))
}

fn program((beyond, unit, rank): (Beyond, Unit, usize)) -> Program {
    let program = unit.program(format!("window of {rank} dimensions of {unit:?} in {beyond:?}"));
    let program = unit.write(unit.read(program, "x"), "y").words(match beyond {
        Beyond::Constant => "low high",
        Beyond::Mirror => "first",
        Beyond::OtherEnd => "",
    });
    let program = (0..rank).fold(program, |program, dim| program.words(&format!("o{dim} b{dim} n{dim}")));
    let dims =
        (0..rank).rev().map(|dim| format!("    view = along(view, params.o{dim}, params.b{dim}, params.n{dim});\n"));
    let dims: String = dims.collect();
    let inwards = format!("fn inwards(first: View) -> View {{\n    var view = first;\n{dims}    return view;\n}}\n");
    program.declare(&inwards).compose(Entry::Elements, include_str!("window.wgsl"), &[beyond.name(), unit.name()])
}

fn programs(beyond: Beyond, dtype: DataType) -> Result<Vec<Program>> {
    let windows = Unit::all_of(dtype)?.flat_map(|unit| RANKS.map(|rank| program((beyond, unit, rank))));
    Ok(windows.chain(fill::with_copies(dtype)?).collect())
}

/// A tensor with paddings of eight bytes around it.
fn padded(gpu: &GpuDevice, input: Tensor, paddings: &Tensor, value: [u32; 2]) -> Result<Tensor> {
    let (paddings, shape) = geometry::padded(input.shape(), paddings, 8)?;
    seen(gpu, Beyond::Constant, input, shape, &paddings, &value)
}

/// A tensor of another shape, which sees `input` between paddings.
fn seen(
    gpu: &GpuDevice,
    beyond: Beyond,
    input: Tensor,
    shape: Shape,
    paddings: &[Padding],
    extra: &[u32],
) -> Result<Tensor> {
    if shape.num_elements() == input.num_elements() {
        return input.reshaped(shape);
    }
    let output = gpu.allocate(input.dtype(), shape)?;
    let dims = output.shape().iter().zip(paddings).zip(input.shape().iter());
    let dims = dims.map(|((&size, padding), &input)| Dim { size, before: padding.before, input });
    look(gpu, beyond, &output, &input, &dims.collect::<Vec<_>>(), extra)?;
    Ok(output)
}

#[register_kernel(
    device = Gpu, op = ops::Pad, T = [f32, u32, bool, i64, f16 if "f16"], Tpaddings = [i32, i64],
    host_memory = ["paddings"], programs = |T| programs(Beyond::Constant, T)
)]
fn pad(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let input = ctx.take_input(O::INPUT)?;
    let output = padded(GpuDevice::of(ctx)?, input, ctx.input(O::PADDINGS)?, [0; 2])?;
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(
    device = Gpu, op = ops::PadV2, T = [f32, u32, bool, i64, f16 if "f16"], Tpaddings = [i32, i64],
    host_memory = ["paddings", "constant_values"], programs = |T| programs(Beyond::Constant, T)
)]
fn pad_with(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let value = ctx.input(O::CONSTANT_VALUES)?;
    ensure_scalar(value, "constant_values")?;
    let value = pattern(value)?;
    let input = ctx.take_input(O::INPUT)?;
    let output = padded(GpuDevice::of(ctx)?, input, ctx.input(O::PADDINGS)?, value)?;
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(
    device = Gpu, op = ops::MirrorPad, T = [f32, i32, u32, bool, i64, f16 if "f16"], Tpaddings = [i32, i64],
    host_memory = ["paddings"], programs = |T| programs(Beyond::Mirror, T),
    state = |ctx| geometry::is_reflection(&ctx.attrs().mode)
)]
fn mirror_pad(&reflect: &bool, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let input = ctx.take_input(O::INPUT)?;
    let (paddings, shape) = geometry::mirrored(input.shape(), ctx.input(O::PADDINGS)?, reflect)?;
    let first = u32::from(!reflect);
    let output = seen(GpuDevice::of(ctx)?, Beyond::Mirror, input, shape, &paddings, &[first])?;
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(
    device = Gpu, op = ops::Roll, T = [f32, i32, u32, bool, i64, f16 if "f16"], Tshift = [i32, i64], Taxis = [i32, i64],
    host_memory = ["shift", "axis"], programs = |T| programs(Beyond::OtherEnd, T)
)]
fn roll(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let input = ctx.input(O::INPUT)?;
    let turns = geometry::rolled(input.shape(), ctx.input(O::SHIFT)?, ctx.input(O::AXIS)?)?;
    let dim = |(&size, before)| Dim { size, before, input: size };
    let dims: Vec<Dim> = input.shape().iter().zip(turns).map(dim).collect();
    if dims.iter().all(|dim| dim.before == 0) || input.num_elements() == 0 {
        let output = ctx.take_input(O::INPUT)?;
        return ctx.set_output(O::OUTPUT, output);
    }
    let output = gpu.output(ctx, O::OUTPUT, input.shape())?;
    look(gpu, Beyond::OtherEnd, &output, input, &dims, &[])?;
    ctx.set_output(O::OUTPUT, output)
}

/// The program that adds to what is kept of one dimension what mirrors it, of elements of type `T`.
fn fold_program(scalar: Scalar) -> Program {
    let program = Program::trusted(format!("fold of {scalar:?}")).read("x", scalar).write("y", scalar);
    program.words("before after size inner offset").compose(Entry::Elements, include_str!("fold.wgsl"), &[])
}

#[register_kernel(
    device = Gpu, op = ops::MirrorPadGrad, T = [f32, i32, u32, f16 if "f16", i64 if "i64"], Tpaddings = [i32, i64],
    host_memory = ["paddings"], programs = |T| Ok(vec![fold_program(scalar_of(T)?)]),
    state = |ctx| geometry::is_reflection(&ctx.attrs().mode)
)]
fn mirror_pad_grad(&reflect: &bool, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let input = ctx.input(O::INPUT)?;
    let (folds, _) = geometry::folded(input.shape(), ctx.input(O::PADDINGS)?, reflect)?;
    let mut folded = input.clone();
    for Fold { axis, before, after, size, offset } in folds {
        let mut smaller = folded.shape().clone();
        smaller.dims_mut()[axis] = size;
        let inner: usize = smaller[axis + 1..].iter().product();
        let output = gpu.allocate(folded.dtype(), smaller)?;
        let params = [before, after, size, inner, offset].map(word);
        if output.num_elements() > 0 {
            let shader = gpu.shader(fold_program, scalar_of(folded.dtype())?);
            let outer = output.num_elements() / (size * inner);
            gpu.in_windows(outer, &[read(&folded), written(&output)], |outer, tensors| {
                gpu.dispatch(&shader, tensors, &params, Groups::Elements(outer.len() * size * inner))
            })?;
        }
        folded = output;
    }
    ctx.set_output(O::OUTPUT, folded)
}
