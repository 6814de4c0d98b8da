//! Steps of optimisers: what all rules have in common.

use std::fmt::Write as _;

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::error::{Error, Result};
use kernlink::kernel::place::{forward, update};
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::op::OpDef;
use kernlink::tensor::Tensor;
use kernlink_geometry::training as geometry;
use smallvec::SmallVec;

use super::place::writable;
use super::rules::{FUNCTIONS, Rule};
use crate::device::{GpuDevice, Groups};
use crate::indices::{Indices, out_of_range};
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program, Scalar, Shader, scalar_of};
use crate::sort::{self, Keys, Sorter};
use crate::windows::{Part, read, whole, written};

/// What every device binds at once.
const MOST_BUFFERS: usize = 8;

/// The attrs that say how a step is taken, as constants of a shader.
const FLAGS: [&str; 3] = ["use_nesterov", "update_slots", "multiply_linear_by_lr"];

/// Whether a rule's scalars are brought together in one buffer before the step: they are too many to bind. With indices
/// go the refusals.
fn is_packed(rule: &Rule, is_sparse: bool) -> bool {
    rule.variables.len() + 1 + 2 * usize::from(is_sparse) + rule.scalars.len() > MOST_BUFFERS
}

/// The program of a step: for whole variables, four elements a thread; or for rows, whose numbers are sorted with the
/// places where the gradient has them, as far as they are among those that are bound, `height` from row `top` on. A row
/// that is named several times is changed in their order, by the threads of the first.
fn program(rule: &Rule, scalar: Scalar, flags: [bool; 3], is_sparse: bool) -> Program {
    let width = if is_sparse { 1 } else { 4 };
    let kind = if is_sparse { "sparse " } else { "" };
    let mut program = Program::trusted(format!("{kind}step of {}", rule.name)).alias("T", scalar);
    program = program.declare(if width == 4 { "alias V = vec4<T>;" } else { "alias V = T;" });
    for (name, flag) in FLAGS.into_iter().zip(flags) {
        program = program.declare(&format!("const {}: bool = {flag};", name.to_uppercase()));
    }
    program = program.declare(FUNCTIONS);
    for variable in rule.variables {
        let name = format!("{variable}_of");
        program = if width == 4 { program.write_vectors(&name, scalar, 4) } else { program.write(&name, scalar) };
    }
    program = if width == 4 { program.read_vectors("gradient", scalar, 4) } else { program.read("gradient", scalar) };
    if is_sparse {
        program = Keys::Narrow.declare(program, "order", false);
        program = program.param("rows", "u32").param("size", "u32").param("steps", "u32");
        program = program.param("top", "u32").param("height", "u32");
    }
    let mut body = "fn element(i: u32) {\n".to_owned();
    if is_packed(rule, is_sparse) {
        program = program.read("scalars", scalar);
    }
    for (place, name) in rule.scalars.iter().enumerate() {
        let value = if is_packed(rule, is_sparse) { format!("scalars[{place}]") } else { format!("{name}_of[0]") };
        let _ = writeln!(body, "    let {name} = {value};");
        if !is_packed(rule, is_sparse) {
            program = program.read(&format!("{name}_of"), scalar);
        }
    }
    if is_sparse {
        program = refusal::declare(program).declare(refusal::FUNCTION);
    }
    let _ = writeln!(body, "    {}", rule.common);
    if is_sparse {
        body += "    let first = i / params.size;\n    let column = i - first * params.size;\n    \
                 let row = order[first].x;\n    if (row >= params.rows) {\n        refuse();\n        return;\n    }\n    \
                 if (row - params.top >= params.height) {\n        return;\n    }\n    \
                 if (first > 0u) {\n        if (order[first - 1u].x == row) {\n            return;\n        }\n    }\n    \
                 let at = (row - params.top) * params.size + column;\n";
    } else {
        body += "    let at = i;\n    let g = gradient[i];\n";
    }
    for variable in rule.variables {
        let _ = writeln!(body, "    var {variable}_ = {variable}_of[at];");
    }
    if is_sparse {
        let _ = writeln!(
            body,
            "    for (var k = first; k < params.steps; k++) {{\n    let next = order[k];\n    \
             if (next.x != row) {{\n        break;\n    }}\n    \
             let g = gradient[next.y * params.size + column];\n    {}\n    }}",
            rule.step
        );
    } else {
        let _ = writeln!(body, "    {}", rule.step);
    }
    for variable in rule.variables {
        let _ = writeln!(body, "    {variable}_of[at] = {variable}_;");
    }
    body += "}\n";
    program.build(Entry::Elements, &body)
}

/// The program that makes entries to be sorted of indices: those that are out of range go last.
fn order_program(index: Indices) -> Program {
    let program = index.read(Program::trusted("rows of a sparse step"), "indices").words("steps");
    let program = Keys::Narrow.declare(program, "order", true);
    program.compose(Entry::Elements, include_str!("order.wgsl"), index.names())
}

/// The program that brings scalars together.
fn pack_program(scalar: Scalar, count: usize) -> Program {
    let mut program = Program::trusted(format!("pack of {count} scalars"));
    let mut body = "fn element(i: u32) {\n".to_owned();
    for place in 0..count {
        program = program.read(&format!("x{place}"), scalar);
        let _ = writeln!(body, "    y[{place}] = x{place}[0];");
    }
    body += "}\n";
    program.write("y", scalar).build(Entry::Elements, &body)
}

/// The kernel of a rule.
pub(super) struct Apply {
    rule: &'static Rule,
    /// Where the scalars are among the inputs.
    scalars: SmallVec<[usize; 6]>,
    gradient: usize,
    indices: Option<usize>,
    refusal: Refusal,
    step: Shader,
    pack: Option<Shader>,
    order: Option<Order>,
}

/// How rows are brought in order.
struct Order {
    load: Shader,
    sorter: Sorter,
}

impl Order {
    /// The rows that indices name, each with the places of the indices that name it.
    fn of(&self, gpu: &GpuDevice, indices: &Tensor) -> Result<Tensor> {
        let steps = indices.num_elements();
        let padded = sort::padded(steps);
        let order = sort::allocate(gpu, Keys::Narrow, 1, padded)?;
        gpu.dispatch(&self.load, &[indices, &order], &[steps as u32], Groups::Elements(padded))?;
        self.sorter.sort(gpu, &order, 1, padded)?;
        Ok(order)
    }
}

impl Apply {
    pub(super) fn new(ctx: &RawConstruction<'_>) -> Result<Apply> {
        let rule = rule_of(ctx.op)?;
        let named = |name: &str| ctx.op.inputs.iter().position(|input| input.name == name);
        let place =
            |name: &str| named(name).ok_or_else(|| Error::internal(format!("{} has no input `{name}`", ctx.op.name)));
        let scalars = rule.scalars.iter().map(|name| place(name)).collect::<Result<_>>()?;
        let gradient = named("grad").map_or_else(|| place("delta"), Ok)?;
        let indices = named("indices");
        let index = indices.map(|indices| Indices::of(ctx.input_dtype_at(indices)?)).transpose()?;
        let flags = FLAGS.map(|flag| matches!(ctx.attrs.get(flag), Some(AttrValue::Bool(true))));
        let scalar = scalar_of(ctx.input_dtype_at(gradient)?)?;
        let pack = is_packed(rule, index.is_some()).then(|| Shader::new(pack_program(scalar, rule.scalars.len())));
        let refusal = if indices.is_some() { out_of_range(ctx) } else { Refusal::NONE };
        let step = Shader::new(program(rule, scalar, flags, index.is_some()));
        let order =
            index.map(|index| Order { load: Shader::new(order_program(index)), sorter: Sorter::new(Keys::Narrow) });
        Ok(Apply { rule, scalars, gradient, indices, refusal, step, pack, order })
    }

    pub(super) fn run(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let dtype = ctx.input_at(self.gradient)?.dtype();
        let taken = match self.rule.variables.len() {
            1 => update(ctx, dtype, |ctx, mut variables: [_; 1]| self.take_step(gpu, ctx, &mut variables)),
            2 => update(ctx, dtype, |ctx, mut variables: [_; 2]| self.take_step(gpu, ctx, &mut variables)),
            3 => update(ctx, dtype, |ctx, mut variables: [_; 3]| self.take_step(gpu, ctx, &mut variables)),
            _ => update(ctx, dtype, |ctx, mut variables: [_; 4]| self.take_step(gpu, ctx, &mut variables)),
        };
        taken.map_err(geometry::error_of_step)?;
        forward(ctx)
    }

    fn take_step(&self, gpu: &GpuDevice, ctx: &RawContext<'_>, variables: &mut [&mut Tensor]) -> Result<()> {
        let packed;
        let mut scalars: SmallVec<[&Tensor; 7]> = SmallVec::new();
        for (&input, name) in self.scalars.iter().zip(self.rule.scalars) {
            let scalar = ctx.input_at(input)?;
            geometry::ensure_scalar(name, scalar)?;
            scalars.push(scalar);
        }
        let gradient = ctx.input_at(self.gradient)?;
        let shape = variables[0].shape();
        for (index, variable) in variables.iter().enumerate() {
            geometry::ensure_shape(ctx, shape, index, variable.shape())?;
        }
        let mut size = 1;
        let indices = self.indices.map(|indices| ctx.input_at(indices)).transpose()?;
        let rows = match indices {
            None => {
                geometry::ensure_shape(ctx, shape, self.gradient, gradient.shape())?;
                shape.num_elements()
            }
            Some(indices) => {
                size = geometry::rows(shape, gradient.shape(), indices.shape(), needs_elements(self.rule))?;
                shape[0]
            }
        };
        if gradient.num_elements() == 0 {
            return Ok(());
        }
        for variable in &mut *variables {
            writable(gpu, variable)?;
        }
        let order = self.order.as_ref().zip(indices).map(|(order, indices)| order.of(gpu, indices)).transpose()?;
        let mut parts: SmallVec<[Part<'_>; MOST_BUFFERS]> =
            variables.iter().map(|variable| written(variable)).collect();
        parts.push(if indices.is_some() { whole(gradient) } else { read(gradient) });
        parts.extend(order.as_ref().map(whole));
        if let Some(pack) = &self.pack {
            packed = gpu.allocate(gradient.dtype(), [scalars.len()])?;
            scalars.push(&packed);
            gpu.dispatch(pack, &scalars, &[], Groups::Elements(1))?;
            parts.push(whole(&packed));
        } else {
            parts.extend(scalars.iter().map(|scalar| whole(scalar)));
        }
        let Some(indices) = indices else {
            return gpu.in_windows(rows, &parts, |range, tensors| {
                // Buffers hold whole vectors: what the last one has beyond the elements is nobody's.
                gpu.dispatch(&self.step, tensors, &[], Groups::Elements(range.len().div_ceil(4)))
            });
        };
        parts.push(whole(gpu.refusals()?));
        // One row may be named by all.
        gpu.ensure_rounds(indices.num_elements())?;
        gpu.in_windows(rows, &parts, |range, tensors| {
            let sizes = [rows, size, indices.num_elements(), range.start, range.len()];
            let mut params: SmallVec<[u32; 6]> = sizes.iter().map(|&size| size as u32).collect();
            params.push(self.refusal.number());
            gpu.dispatch(&self.step, tensors, &params, Groups::Elements(gradient.num_elements()))
        })
    }
}

/// The rule by which an op changes variables.
fn rule_of(op: &OpDef) -> Result<&'static Rule> {
    let name = op.name.trim_start_matches("Resource").trim_start_matches("Sparse").trim_start_matches("Apply");
    Rule::named(name).ok_or_else(|| Error::internal(format!("there is no rule of {}", op.name)))
}

/// All programs of an op for a dtype.
pub(super) fn programs(op: &OpDef, dtype: DataType) -> Result<Vec<Program>> {
    let (rule, scalar) = (rule_of(op)?, scalar_of(dtype)?);
    let is_sparse = op.input_index("indices").is_some();
    let mut programs = [false, true].map(|flag| program(rule, scalar, [flag; 3], is_sparse)).to_vec();
    programs.extend(is_packed(rule, is_sparse).then(|| pack_program(scalar, rule.scalars.len())));
    if is_sparse {
        programs.extend(Indices::ALL.map(order_program));
        programs.extend(sort::programs(Keys::Narrow));
    }
    Ok(programs)
}

/// Whether TensorFlow's sparse step of a rule refuses rows without elements.
fn needs_elements(rule: &Rule) -> bool {
    matches!(rule.name, "Adagrad" | "AdagradV2" | "ProximalGradientDescent" | "ProximalAdagrad")
        || rule.name.starts_with("Ftrl")
}

#[cfg(test)]
mod tests {
    use kernlink::device::Device as _;
    use kernlink::step::block_on;

    use super::*;
    use crate::testing::device;

    #[test]
    fn rows_that_are_named_often_are_changed_in_order() {
        const ROWS: usize = 40;
        const SIZE: usize = 3;
        let gpu = device();
        let there = |values: &[f32]| gpu.to_device(&Tensor::vector(values).unwrap()).unwrap();
        let rule = Rule::named("Momentum").unwrap();
        let step = Shader::new(program(rule, Scalar::F32, [false; 3], true));
        let order = Order { load: Shader::new(order_program(Indices::Wide)), sorter: Sorter::new(Keys::Narrow) };
        let (rate, momentum) = (0.125f32, 0.75f32);
        // In one workgroup's memory, and beyond it; some of the indices are out of range.
        for steps in [1usize, 7, 1000, 5000] {
            let indices: Vec<i64> = (0..steps).map(|i| (i * i * 31 + i * 7) as i64 % (ROWS as i64 + 1)).collect();
            let gradient: Vec<f32> = (0..steps * SIZE).map(|i| ((i * 37) % 23) as f32 - 11.0).collect();
            let (mut var, mut accum) = (vec![1f32; ROWS * SIZE], vec![2f32; ROWS * SIZE]);
            let given = [there(&var), there(&accum), there(&gradient)];
            let named = gpu.to_device(&Tensor::vector(&indices).unwrap()).unwrap();
            let order = order.of(&gpu, &named).unwrap();
            let scalars = [there(&[rate]), there(&[momentum])];
            let [a, b, c] = &given;
            let tensors = [a, b, c, &order, &scalars[0], &scalars[1], gpu.refusals().unwrap()];
            let params = [ROWS, SIZE, steps, 0, ROWS, 0].map(|size| size as u32);
            gpu.dispatch(&step, &tensors, &params, Groups::Elements(steps * SIZE)).unwrap();
            for (k, &row) in indices.iter().enumerate().filter(|&(_, &row)| (row as usize) < ROWS) {
                for column in 0..SIZE {
                    let at = row as usize * SIZE + column;
                    accum[at] = accum[at] * momentum + gradient[k * SIZE + column];
                    var[at] -= accum[at] * rate;
                }
            }
            for (found, expected) in given.iter().zip([&var, &accum]) {
                let found = block_on(gpu.to_host(found)).unwrap();
                for (i, (&found, &expected)) in found.as_slice::<f32>().unwrap().iter().zip(expected).enumerate() {
                    assert!(
                        (found - expected).abs() <= 1e-3 * expected.abs().max(1.0),
                        "{steps}: {i}: {found} {expected}"
                    );
                }
            }
        }
    }
}
