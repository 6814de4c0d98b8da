//! Updates at vectors of indices: ScatterNd, ScatterNdNonAliasingAdd, TensorScatterUpdate, -Add, -Sub, -Max, -Min. And
//! of rows of variables: ResourceScatterUpdate, ScatterUpdate and their kin.
//!
//! Where several updates meet in one element they come in any order: sums of floats may differ in their last digits
//! from run to run, and of several values to set one stays.

use kernlink::error::Result;
use kernlink::kernel::geometry::indices::{scattered_nd, scattered_rows};
use kernlink::kernel::place::{forward, update as update_variables};
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;

use super::fill::{fill, fill_with};
use super::integers::vector;
use super::mover::Mover;
use super::slice::own;
use super::unit::{Unit, word};
use super::variant::Variant;
use crate::device::Groups;
use crate::indices::{Indices, nd_params, out_of_range, read_nd};
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program, Scalar};
use crate::training::place::writable;

/// What becomes of an element that is updated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Merge {
    Add,
    Sub,
    Max,
    Min,
}

impl Merge {
    pub(super) const ALL: [Merge; 4] = [Merge::Add, Merge::Sub, Merge::Max, Merge::Min];

    fn name(self) -> &'static str {
        match self {
            Merge::Add => "Add",
            Merge::Sub => "Sub",
            Merge::Max => "Max",
            Merge::Min => "Min",
        }
    }

    /// Whether shaders have it for a type.
    pub(super) fn is_of(self, scalar: Scalar) -> bool {
        match scalar {
            Scalar::F32 | Scalar::I32 | Scalar::U32 | Scalar::F16 => true,
            Scalar::Bool => self == Merge::Add,
            Scalar::I64 => matches!(self, Merge::Add | Merge::Sub),
        }
    }

    /// The function `merged(old, new)` of floats.
    fn of_floats(self) -> &'static str {
        match self {
            Merge::Add => "old + new_",
            Merge::Sub => "old - new_",
            Merge::Max => "select(old, new_, new_ > old)",
            Merge::Min => "select(old, new_, new_ < old)",
        }
    }
}

/// The program that sets what vectors of indices name.
pub(super) fn set_program(unit: Unit, index: Indices) -> Program {
    let mut program = unit.declare(Program::builder(format!("scatter of {unit:?} to vectors of {index:?} indices")));
    program = unit.write(read_nd(index, unit.read(program, "updates").param("inner", "u32")), "y");
    refusal::declare(program).build(Entry::Elements, include_str!("scatter_set.wgsl"))
}

/// The program that merges into what vectors of indices name. A sum of 64 bits is made of two of 32, where what is
/// carried over is added when it arises; a float is exchanged until nobody came in between.
pub(super) fn merge_program(merge: Merge, scalar: Scalar, index: Indices) -> Program {
    let label = format!("scatter {} of {scalar:?} to vectors of {index:?} indices", merge.name());
    let mut program = Program::builder(label).param("inner", "u32");
    let (words, atomic) = match scalar {
        Scalar::I32 => (1, Scalar::I32),
        Scalar::I64 => (2, Scalar::U32),
        _ => (1, Scalar::U32),
    };
    program = match scalar {
        Scalar::I64 => program.read_vectors("updates", Scalar::U32, words),
        scalar => program.read("updates", scalar),
    };
    program = read_nd(index, program).write_atomics("y", atomic);
    let exchange = |place: &str, value: &str| {
        format!(
            "var seen = atomicLoad(&y[{place}]);\n    loop {{\n        let exchanged = \
             atomicCompareExchangeWeak(&y[{place}], seen, {value});\n        if (exchanged.exchanged) {{\n            \
             break;\n        }}\n        seen = exchanged.old_value;\n    }}"
        )
    };
    let update = match scalar {
        Scalar::Bool => "atomicOr(&y[at], updates[i]);".to_owned(),
        Scalar::I32 | Scalar::U32 => format!("atomic{}(&y[at], updates[i]);", merge.name()),
        Scalar::I64 => {
            let update = if merge == Merge::Sub { "negative(updates[i])" } else { "updates[i]" };
            format!(
                "let update = {update};\n    let low = atomicAdd(&y[2u * at], update.x);\n    \
                 atomicAdd(&y[2u * at + 1u], update.y + select(0u, 1u, low + update.x < low));"
            )
        }
        Scalar::F32 => exchange("at", "bitcast<u32>(merged(bitcast<f32>(seen), updates[i]))"),
        Scalar::F16 => exchange("at / 2u", "half(seen, at % 2u == 1u, updates[i])"),
    };
    let helpers = match scalar {
        Scalar::F32 => {
            format!("fn merged(old: f32, new_: f32) -> f32 {{\n    return {};\n}}\n", merge.of_floats())
        }
        Scalar::F16 => format!(
            "fn merged(old: f16, new_: f16) -> f16 {{\n    return {};\n}}\n\
             fn half(both: u32, is_high: bool, new_: f16) -> u32 {{\n    \
             let halves = vec2<f16>(unpack2x16float(both));\n    \
             let value = merged(select(halves.x, halves.y, is_high), new_);\n    \
             let bits = pack2x16float(vec2<f32>(f32(value), 0.0));\n    \
             return select((both & 0xffff0000u) | bits, (both & 0xffffu) | (bits << 16u), is_high);\n}}\n",
            merge.of_floats()
        ),
        Scalar::I64 => "fn negative(x: vec2<u32>) -> vec2<u32> {\n    \
                        return vec2<u32>(0u - x.x, ~x.y + select(0u, 1u, x.x == 0u));\n}\n"
            .to_owned(),
        _ => String::new(),
    };
    let body = format!(
        "{helpers}fn element(i: u32) {{\n    let r = i / params.inner;\n    let row = row_at(r);\n    \
         if (row == 0xffffffffu) {{\n        return;\n    }}\n    \
         let at = row * params.inner + i - r * params.inner;\n    {update}\n}}\n"
    );
    refusal::declare(program).build(Entry::Elements, &body)
}

/// How updates are merged, if they are not set, and the error for indices that are out of range.
pub(super) type How = (Option<Merge>, Refusal);

/// Merges updates into `output`, or sets them, at vectors of indices.
fn scatter(on: &Mover<'_>, how: How, indices: &Tensor, updates: &Tensor, output: &Tensor) -> Result<()> {
    let (indexed, row) = scattered_nd(indices.shape(), updates.shape(), output.shape())?;
    scatter_to(on, how, [indices, updates, output], indexed, row)
}

/// Merges updates into a tensor, or sets them. `indexed` are the dimensions that the indices name, `row` the elements
/// at one index.
fn scatter_to(
    on: &Mover<'_>,
    (merge, refusal): How,
    [indices, updates, output]: [&Tensor; 3],
    indexed: &[usize],
    row: usize,
) -> Result<()> {
    let index = Indices::of(indices.dtype())?;
    let (variant, times) = match merge {
        Some(merge) => (Variant::ScatterMerge(merge, crate::family::scalar_of(output.dtype())?, index), 1),
        None => {
            let (unit, times) = Unit::of(output.dtype())?.widest(|times| row.is_multiple_of(times));
            (Variant::ScatterSet(unit, index), times)
        }
    };
    let mut params = vec![word(row / times)];
    params.extend(nd_params(indexed)?);
    let groups = Groups::Elements(updates.num_elements() / times);
    on.run_refusing(refusal, variant, &[updates, indices, output], &params, groups)
}

pub(super) fn scatter_nd(&refusal: &Refusal, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let shape = Shape::from_dims(&vector(ctx.input_at(2)?, "shape")?)?;
    let (indices, updates) = (ctx.input_at(0)?, ctx.input_at(1)?);
    scattered_nd(indices.shape(), updates.shape(), &shape)?;
    let output = on.output(ctx, 0, shape)?;
    fill(on, &output, [0; 2])?;
    scatter(on, (Some(Merge::Add), refusal), indices, updates, &output)?;
    ctx.set_output_at(0, output)
}

/// Updates input 0 at indices 1 with input 2.
fn update(on: &Mover<'_>, ctx: &mut RawContext<'_>, how: How) -> Result<()> {
    scattered_nd(ctx.input_at(1)?.shape(), ctx.input_at(2)?.shape(), ctx.input_at(0)?.shape())?;
    let output = own(on, ctx, 0)?;
    scatter(on, how, ctx.input_at(1)?, ctx.input_at(2)?, &output)?;
    ctx.set_output_at(0, output)
}

pub(super) fn tensor_update(&refusal: &Refusal, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    update(on, ctx, (None, refusal))
}

pub(super) fn tensor_add(&refusal: &Refusal, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    update(on, ctx, (Some(Merge::Add), refusal))
}

pub(super) fn tensor_sub(&refusal: &Refusal, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    update(on, ctx, (Some(Merge::Sub), refusal))
}

pub(super) fn tensor_max(&refusal: &Refusal, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    update(on, ctx, (Some(Merge::Max), refusal))
}

pub(super) fn tensor_min(&refusal: &Refusal, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    update(on, ctx, (Some(Merge::Min), refusal))
}

/// What kernels that update rows of variables keep of their nodes.
pub(super) fn rows(ctx: &RawConstruction<'_>, merge: Option<Merge>) -> Result<How> {
    Ok((merge, out_of_range(ctx)))
}

/// Updates rows of the variable at input 0, which indices 1 name, with input 2.
pub(super) fn scatter_rows(&how: &How, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let dtype = ctx.input_at(2)?.dtype();
    let is_resource = !ctx.signature().inputs[0].is_ref;
    update_variables(ctx, dtype, |ctx, [variable]| {
        let (indices, updates) = (ctx.input_at(1)?, ctx.input_at(2)?);
        let (count, size) = scattered_rows(variable.shape(), indices.shape(), updates.shape(), is_resource)?;
        if indices.num_elements() * size == 0 {
            return Ok(());
        }
        let spread;
        let updates = if updates.rank() == 0 {
            spread = on.gpu.allocate(dtype, [indices.num_elements(), size])?;
            fill_with(on, &spread, updates)?;
            &spread
        } else {
            updates
        };
        writable(on.gpu, variable)?;
        scatter_to(on, how, [indices, updates, variable], &[count], size)
    })?;
    forward(ctx)
}
