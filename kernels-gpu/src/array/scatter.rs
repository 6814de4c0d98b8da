//! Updates at vectors of indices: ScatterNd, ScatterNdNonAliasingAdd, TensorScatterUpdate, -Add, -Sub, -Max, -Min. And
//! of rows of variables: ResourceScatterUpdate, ScatterUpdate and their kin.
//!
//! Where several updates meet in one element they come in any order: sums of floats may differ in their last digits
//! from run to run, and of several values to set one stays.

use kernlink::error::{Code, Result};
use kernlink::kernel::place::{forward, update as update_variables};
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::indices::{scattered_nd, scattered_rows};

use super::fill::{fill, fill_with};
use super::integers::vector;
use super::mover::Mover;
use super::slice::own;
use super::unit::{Unit, word};
use super::variant::Variant;
use crate::composition::for_text;
use crate::device::Groups;
use crate::indices::{Indices, nd_params, out_of_range, read_nd};
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program, ProgramBuilder, Scalar};
use crate::training::place::writable;
use crate::windows::{read, whole, written};

/// What becomes of an element that is updated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Merge {
    Add,
    Sub,
    Mul,
    Div,
    /// Division that refuses zeros.
    DivByNonzero,
    Max,
    Min,
}

impl Merge {
    pub(super) const ALL: [Merge; 7] =
        [Merge::Add, Merge::Sub, Merge::Mul, Merge::Div, Merge::DivByNonzero, Merge::Max, Merge::Min];

    /// Whether shaders have it for a type.
    pub(super) fn is_of(self, scalar: Scalar) -> bool {
        match scalar {
            Scalar::F32 | Scalar::F16 => true,
            Scalar::I32 | Scalar::U32 => self != Merge::Div,
            Scalar::Bool => self == Merge::Add,
            Scalar::I64 => matches!(self, Merge::Add | Merge::Sub),
        }
    }

    /// The built-in function for atomic integers, if there is one.
    fn atomic(self) -> Option<&'static str> {
        match self {
            Merge::Add => Some("atomicAdd"),
            Merge::Sub => Some("atomicSub"),
            Merge::Max => Some("atomicMax"),
            Merge::Min => Some("atomicMin"),
            Merge::Mul | Merge::Div | Merge::DivByNonzero => None,
        }
    }

    /// What `merged(old, new_)` returns.
    fn merged(self, spreads_nan: bool) -> &'static str {
        match self {
            Merge::Add => "old + new_",
            Merge::Sub => "old - new_",
            Merge::Mul => "old * new_",
            Merge::Div | Merge::DivByNonzero => "old / new_",
            Merge::Max if spreads_nan => "select(old, new_, new_ > old || is_nan(f32(new_)))",
            Merge::Min if spreads_nan => "select(old, new_, new_ < old || is_nan(f32(new_)))",
            Merge::Max => "select(old, new_, new_ > old)",
            Merge::Min => "select(old, new_, new_ < old)",
        }
    }
}

/// How a shader merges elements into atomic words. A sum of 64 bits is made of two of 32, where what is carried over is
/// added when it arises; what no built-in function does is exchanged until nobody came in between.
pub(crate) struct Merging {
    scalar: Scalar,
    /// Functions that `update` calls.
    pub(crate) helpers: String,
    /// The statements that merge `updates[i]` into element `at` of `y`.
    pub(crate) update: String,
}

impl Merging {
    /// The greater and the lesser of a number and NaN are the number, if that comes first.
    pub(crate) fn new(merge: Merge, scalar: Scalar) -> Merging {
        Merging::with(merge, scalar, false)
    }

    /// NaN stays.
    pub(super) fn spreading_nan(merge: Merge, scalar: Scalar) -> Merging {
        Merging::with(merge, scalar, matches!(scalar, Scalar::F32 | Scalar::F16))
    }

    fn with(merge: Merge, scalar: Scalar, spreads_nan: bool) -> Merging {
        let exchange = |place: &str, value: &str| {
            format!(
                "var current = atomicLoad(&y[{place}]);\n    loop {{\n        let exchanged = \
                 atomicCompareExchangeWeak(&y[{place}], current, {value});\n        if (exchanged.exchanged) {{\n            \
                 break;\n        }}\n        current = exchanged.old_value;\n    }}"
            )
        };
        let mut update = match (scalar, merge.atomic()) {
            (Scalar::Bool, _) => "atomicOr(&y[at], updates[i]);".to_owned(),
            (Scalar::I32 | Scalar::U32, Some(function)) => format!("{function}(&y[at], updates[i]);"),
            (Scalar::I32 | Scalar::U32, None) => exchange("at", "merged(current, updates[i])"),
            (Scalar::I64, _) => {
                let update = if merge == Merge::Sub { "negative(updates[i])" } else { "updates[i]" };
                format!(
                    "let update = {update};\n    let low = atomicAdd(&y[2u * at], update.x);\n    \
                     atomicAdd(&y[2u * at + 1u], update.y + select(0u, 1u, low + update.x < low));"
                )
            }
            (Scalar::F32, _) => exchange("at", "bitcast<u32>(merged(bitcast<f32>(current), updates[i]))"),
            (Scalar::F16, _) => exchange("at / 2u", "half(current, at % 2u == 1u, updates[i])"),
        };
        if merge == Merge::DivByNonzero {
            let zero = format!("updates[i] == {}(0)", scalar.wgsl());
            update = format!("if ({zero}) {{\n        refuse();\n        return;\n    }}\n    {update}");
        }
        let (ty, merged) = (scalar.wgsl(), merge.merged(spreads_nan));
        let mut helpers = for_text(merged);
        if scalar == Scalar::I64 {
            helpers += "fn negative(x: vec2<u32>) -> vec2<u32> {\n    \
                        return vec2<u32>(0u - x.x, ~x.y + select(0u, 1u, x.x == 0u));\n}\n";
        } else if update.contains("merged(") || scalar == Scalar::F16 {
            helpers += &format!("fn merged(old: {ty}, new_: {ty}) -> {ty} {{\n    return {merged};\n}}\n");
        }
        if scalar == Scalar::F16 {
            helpers += "fn half(both: u32, is_high: bool, new_: f16) -> u32 {\n    \
                        let halves = vec2<f16>(unpack2x16float(both));\n    \
                        let value = merged(select(halves.x, halves.y, is_high), new_);\n    \
                        let bits = pack2x16float(vec2<f32>(f32(value), 0.0));\n    \
                        return select((both & 0xffff0000u) | bits, (both & 0xffffu) | (bits << 16u), is_high);\n}\n";
        }
        Merging { scalar, helpers, update }
    }

    /// Declares the elements that are merged.
    pub(crate) fn read(&self, program: ProgramBuilder, name: &str) -> ProgramBuilder {
        match self.scalar {
            Scalar::I64 => program.read_vectors(name, Scalar::U32, 2),
            scalar => program.read(name, scalar),
        }
    }

    /// Declares what they are merged into.
    pub(crate) fn write(&self, program: ProgramBuilder, name: &str) -> ProgramBuilder {
        program.write_atomics(name, if self.scalar == Scalar::I32 { Scalar::I32 } else { Scalar::U32 })
    }
}

/// The program that sets what vectors of indices name.
pub(super) fn set_program(unit: Unit, index: Indices) -> Program {
    let mut program = unit.declare(Program::trusted(format!("scatter of {unit:?} to vectors of {index:?} indices")));
    program = unit.write(read_nd(index, unit.read(program, "updates").param("inner", "u32")), "y");
    refusal::declare(program).build(Entry::Elements, include_str!("scatter_set.wgsl"))
}

/// The program that merges into what vectors of indices name.
pub(super) fn merge_program(merge: Merge, scalar: Scalar, index: Indices) -> Program {
    let merging = Merging::new(merge, scalar);
    let program = Program::trusted(format!("scatter {merge:?} of {scalar:?} to vectors of {index:?} indices"));
    let program = merging.read(program.param("inner", "u32"), "updates");
    let program = merging.write(read_nd(index, program), "y");
    let body = format!(
        "{}fn element(i: u32) {{\n    let r = i / params.inner;\n    let row = row_at(r);\n    \
         if (row >= ELSEWHERE) {{\n        return;\n    }}\n    \
         let at = row * params.inner + i - r * params.inner;\n    {}\n}}\n",
        merging.helpers, merging.update
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
pub(super) fn scatter_to(
    on: &Mover<'_>,
    (merge, refusal): How,
    [indices, updates, output]: [&Tensor; 3],
    indexed: &[usize],
    row: usize,
) -> Result<()> {
    let index = Indices::of(indices.dtype())?;
    let (variant, times) = match merge {
        Some(merge) => (Variant::ScatterMerge(merge, crate::shader::scalar_of(output.dtype())?, index), 1),
        None => {
            let (unit, times) = Unit::of(output.dtype())?.widest(|times| row.is_multiple_of(times));
            (Variant::ScatterSet(unit, index), times)
        }
    };
    if updates.num_elements() == 0 {
        return Ok(());
    }
    on.gpu.in_windows(updates.num_elements() / row, &[read(updates), read(indices)], |_, some| {
        let parts = [whole(some[0]), whole(some[1]), written(output)];
        on.gpu.in_windows(output.num_elements() / row, &parts, |rows, tensors| {
            let mut params = vec![word(row / times)];
            params.extend(nd_params(indexed, rows)?);
            let groups = Groups::Elements(tensors[0].num_elements() / times);
            on.run_refusing(refusal, variant, tensors, &params, groups)
        })
    })
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
    let refusal = match merge {
        Some(Merge::DivByNonzero) => {
            let message = "an index is out of range, or updates contain 0";
            Refusal::new(ctx, Code::InvalidArgument, message)
        }
        _ => out_of_range(ctx),
    };
    Ok((merge, refusal))
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
