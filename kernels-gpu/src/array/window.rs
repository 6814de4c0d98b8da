//! Outputs that see their input through a window: beyond its edges there is a constant, its mirror image, or its other
//! end. Pad, PadV2, MirrorPad, Roll.

use std::fmt::Write as _;

use kernlink::bail;
use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::pad::{self as geometry, Fold, Padding};
use smallvec::SmallVec;

use super::fill::fill;
use super::integers::ensure_scalar;
use super::mover::Mover;
use super::strided::{Run as _, StridedCopy};
use super::unit::{Unit, pattern, word};
use super::variant::Variant;
use crate::device::Groups;
use crate::shader::{Entry, Program};
use crate::windows::{read, written};

/// What is beyond the edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Beyond {
    Constant,
    Mirror,
    OtherEnd,
}

impl Beyond {
    pub(super) const ALL: [Beyond; 3] = [Beyond::Constant, Beyond::Mirror, Beyond::OtherEnd];

    /// The statements that make of `p`, a place in a dimension less the first one in the window, a place in the input.
    fn wgsl(self) -> &'static str {
        match self {
            Beyond::Constant => "is_inside = is_inside && p < n;",
            // Without the edge itself if `first` is 0, else with it.
            Beyond::Mirror => {
                "p = select(p, 0u - p - params.first, bitcast<i32>(p) < 0);\n    \
                 p = select(p, 2u * n + params.first - 2u - p, p >= n);"
            }
            Beyond::OtherEnd => "p = select(p, p + n, bitcast<i32>(p) < 0);",
        }
    }
}

/// The numbers of dimensions for which there is a shader each.
pub(super) const RANKS: [usize; 6] = [1, 2, 3, 4, 6, 8];

/// One dimension of a window: its size, where the input begins in it, and the input's size.
#[derive(Clone, Copy)]
struct Dim {
    size: usize,
    before: usize,
    input: usize,
}

/// Makes output 0 with the window's dimensions. `extra` are the parameters of what is beyond.
fn look(on: &Mover<'_>, beyond: Beyond, output: &Tensor, input: &Tensor, dims: &[Dim], extra: &[u32]) -> Result<()> {
    if output.num_elements() == 0 {
        return Ok(());
    }
    if !on.gpu.fit(&[output, input]) {
        return look_by_copies(on, beyond, output, input, dims, extra);
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
    on.run(Variant::Window(beyond, unit, rank), &[input, output], &params, Groups::Elements(count))
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
    on: &Mover<'_>,
    beyond: Beyond,
    output: &Tensor,
    input: &Tensor,
    dims: &[Dim],
    extra: &[u32],
) -> Result<()> {
    if beyond == Beyond::Constant {
        fill(on, output, [extra[0], extra[1]])?;
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
    copies.into_iter().try_for_each(|(copy, target, source)| copy.beginning_at(target, source).run(on, output, input))
}

pub(super) fn program(beyond: Beyond, unit: Unit, rank: usize) -> Program {
    let mut program = unit.declare(Program::trusted(format!("window of {rank} dimensions of {unit:?} in {beyond:?}")));
    program = unit.write(unit.read(program, "x"), "y");
    program = match beyond {
        Beyond::Constant => program.param("low", "u32").param("high", "u32"),
        Beyond::Mirror => program.param("first", "u32"),
        Beyond::OtherEnd => program,
    };
    let mut body = "fn element(i: u32) {\n    var rest = i;\n    var at = 0u;\n    var scale = 1u;\n    \
                    var is_inside = true;\n    var next = 0u;\n    var p = 0u;\n    var n = 0u;\n"
        .to_owned();
    for dim in 0..rank {
        program = program.param(&format!("o{dim}"), "u32").param(&format!("b{dim}"), "u32");
        program = program.param(&format!("n{dim}"), "u32");
    }
    for dim in (0..rank).rev() {
        let _ = write!(
            body,
            "    next = rest / params.o{dim};\n    n = params.n{dim};\n    p = rest - next * params.o{dim} - \
             params.b{dim};\n    rest = next;\n    {}\n    at += p * scale;\n    scale *= n;\n",
            beyond.wgsl()
        );
    }
    body += match (beyond, unit) {
        (Beyond::Constant, Unit::Half) => "    y[i] = f16(unpack2x16float(params.low).x);\n",
        (Beyond::Constant, Unit::Word) => "    y[i] = params.low;\n",
        (Beyond::Constant, Unit::Pair) => "    y[i] = U(params.low, params.high);\n",
        (Beyond::Constant, Unit::Quad) => "    y[i] = U(params.low, params.high, params.low, params.high);\n",
        _ => "",
    };
    body += "    if (is_inside) {\n        y[i] = x[at];\n    }\n}\n";
    program.build(Entry::Elements, &body)
}

/// The window of an output of this shape, with paddings around the input.
fn padded(shape: &Shape, paddings: &[Padding], input: &Shape) -> Vec<Dim> {
    let dims = shape.iter().zip(paddings).zip(input.iter());
    dims.map(|((&size, padding), &input)| Dim { size, before: padding.before, input }).collect()
}

/// Pads with zeros or with input 2, a scalar in host memory.
pub(super) fn pad(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let value = if ctx.num_inputs() > 2 {
        let value = ctx.input_at(2)?;
        ensure_scalar(value, "constant_values")?;
        pattern(value)?
    } else {
        [0; 2]
    };
    let input = ctx.input_at(0)?;
    let (paddings, shape) = geometry::padded(input.shape(), ctx.input_at(1)?, 8)?;
    if shape.num_elements() == input.num_elements() {
        let output = ctx.take_input_at(0)?.reshaped(shape)?;
        return ctx.set_output_at(0, output);
    }
    let output = on.output(ctx, 0, shape)?;
    let dims = padded(output.shape(), &paddings, input.shape());
    look(on, Beyond::Constant, &output, input, &dims, &value)?;
    ctx.set_output_at(0, output)
}

/// The attr `mode` of mirror images: whether the edge itself is not repeated.
pub(super) fn is_reflection(ctx: &RawConstruction<'_>) -> Result<bool> {
    geometry::is_reflection(&ctx.attrs.required::<String>("mode")?)
}

pub(super) fn mirror_pad(&reflect: &bool, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let input = ctx.input_at(0)?;
    let (paddings, shape) = geometry::mirrored(input.shape(), ctx.input_at(1)?, reflect)?;
    if shape.num_elements() == input.num_elements() {
        let output = ctx.take_input_at(0)?.reshaped(shape)?;
        return ctx.set_output_at(0, output);
    }
    let output = on.output(ctx, 0, shape)?;
    let dims = padded(output.shape(), &paddings, input.shape());
    look(on, Beyond::Mirror, &output, input, &dims, &[u32::from(!reflect)])?;
    ctx.set_output_at(0, output)
}

pub(super) fn roll(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let input = ctx.input_at(0)?;
    let turns = geometry::rolled(input.shape(), ctx.input_at(1)?, ctx.input_at(2)?)?;
    let dim = |(&size, before)| Dim { size, before, input: size };
    let dims: Vec<Dim> = input.shape().iter().zip(turns).map(dim).collect();
    if dims.iter().all(|dim| dim.before == 0) || input.num_elements() == 0 {
        let output = ctx.take_input_at(0)?;
        return ctx.set_output_at(0, output);
    }
    let output = on.output(ctx, 0, input.shape())?;
    look(on, Beyond::OtherEnd, &output, input, &dims, &[])?;
    ctx.set_output_at(0, output)
}

/// The program that adds to what is kept of one dimension what mirrors it, of elements of type `T`.
pub(super) fn fold_program(scalar: crate::shader::Scalar) -> Program {
    let mut program = Program::trusted(format!("fold of {scalar:?}")).read("x", scalar).write("y", scalar);
    for name in ["before", "after", "size", "inner", "offset"] {
        program = program.param(name, "u32");
    }
    program.build(Entry::Elements, include_str!("fold.wgsl"))
}

pub(super) fn mirror_pad_grad(&reflect: &bool, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let input = ctx.input_at(0)?;
    let (folds, _) = geometry::folded(input.shape(), ctx.input_at(1)?, reflect)?;
    let mut folded = input.clone();
    for Fold { axis, before, after, size, offset } in folds {
        let mut smaller = folded.shape().clone();
        smaller.dims_mut()[axis] = size;
        let inner: usize = smaller[axis + 1..].iter().product();
        let output = on.gpu.allocate(folded.dtype(), smaller)?;
        let params = [before, after, size, inner, offset].map(word);
        let variant = Variant::Fold(crate::shader::scalar_of(folded.dtype())?);
        if output.num_elements() > 0 {
            let outer = output.num_elements() / (size * inner);
            on.gpu.in_windows(outer, &[read(&folded), written(&output)], |outer, tensors| {
                on.run(variant, tensors, &params, Groups::Elements(outer.len() * size * inner))
            })?;
        }
        folded = output;
    }
    ctx.set_output_at(0, folded)
}
