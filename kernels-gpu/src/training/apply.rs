//! Steps of optimisers: what all rules have in common.

use std::fmt::Write as _;

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::error::{Error, Result};
use kernlink::kernel::place::{forward, update};
use kernlink::kernel::{KernelContext, RawConstruction, RawContext};
use kernlink::op::{ArgDef, ArgType, Op as _, OpDef};
use kernlink::tensor::Tensor;
use kernlink_geometry::training as geometry;
use kernlink_macros::register_kernel;
use kernlink_ops::*;
use smallvec::SmallVec;

use super::place::writable;
use crate::device::{GpuDevice, Groups};
use crate::indices::{Indices, out_of_range};
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program, Scalar, Shader, scalar_of};
use crate::sort::{self, Keys};
use crate::windows::{Part, read, whole, written};

/// What every device binds at once.
const MOST_BUFFERS: usize = 8;

/// The attrs that say how a step is taken, as constants of a shader.
const FLAGS: [&str; 3] = ["use_nesterov", "update_slots", "multiply_linear_by_lr"];

/// The rule by which an op changes variables: its section of the module `rules`, and the inputs by name.
struct Rule {
    name: String,
    variables: Vec<String>,
    scalars: Vec<String>,
    is_sparse: bool,
}

impl Rule {
    fn of(op: &OpDef) -> Rule {
        let name = op.name.trim_start_matches("Resource").trim_start_matches("Sparse").trim_start_matches("Apply");
        let is_variable = |arg: &ArgDef| arg.is_ref || arg.ty == ArgType::Fixed(DataType::Resource);
        let (variables, others): (Vec<&ArgDef>, Vec<&ArgDef>) = op.inputs.iter().partition(|arg| is_variable(arg));
        let names = |args: Vec<&ArgDef>| args.into_iter().map(|arg| arg.name.to_string()).collect::<Vec<_>>();
        let mut scalars = names(others);
        scalars.retain(|name| !matches!(&**name, "grad" | "delta" | "indices"));
        let is_sparse = op.input_index("indices").is_some();
        Rule { name: name.to_owned(), variables: names(variables), scalars, is_sparse }
    }

    /// Whether the scalars are brought together in one buffer before the step: they are too many to bind. With indices
    /// go the refusals.
    fn is_packed(&self) -> bool {
        self.variables.len() + 1 + 2 * usize::from(self.is_sparse) + self.scalars.len() > MOST_BUFFERS
    }

    /// Whether TensorFlow's sparse step refuses rows without elements.
    fn needs_elements(&self) -> bool {
        matches!(&*self.name, "Adagrad" | "AdagradV2" | "ProximalGradientDescent" | "ProximalAdagrad")
            || self.name.starts_with("Ftrl")
    }
}

/// The program of a step: variables and scalars are brought into variables of the thread, and the former back.
fn program(rule: &Rule, scalar: Scalar, flags: [bool; 3]) -> Program {
    let Rule { name, variables, scalars, is_sparse } = rule;
    let (kind, width) = if *is_sparse { ("sparse ", 1) } else { ("", 4) };
    let mut program = Program::trusted(format!("{kind}step of {name}")).alias("T", scalar);
    program = program.declare(if *is_sparse { "alias V = T;" } else { "alias V = vec4<T>;" });
    for (name, flag) in FLAGS.into_iter().zip(flags) {
        program = program.declare(&format!("const {}: bool = {flag};", name.to_uppercase()));
    }
    let [mut load, mut store, mut load_scalars] = [(); 3].map(|()| String::new());
    for name in variables {
        program = program.write_vectors(&format!("{name}_of"), scalar, width);
        program = program.declare(&format!("var<private> {name}_: V;"));
        let _ = writeln!(load, "    {name}_ = {name}_of[at];");
        let _ = writeln!(store, "    {name}_of[at] = {name}_;");
    }
    program = program.read_vectors("gradient", scalar, width);
    if *is_sparse {
        program = Keys::Narrow.declare(program, "order", false).words("rows size steps top height");
    }
    if rule.is_packed() {
        program = program.read("scalars", scalar);
    }
    for (place, name) in scalars.iter().enumerate() {
        program = program.declare(&format!("var<private> {name}: T;"));
        let value = if rule.is_packed() { format!("scalars[{place}]") } else { format!("{name}_of[0]") };
        let _ = writeln!(load_scalars, "    {name} = {value};");
        if !rule.is_packed() {
            program = program.read(&format!("{name}_of"), scalar);
        }
    }
    program = program.declare(&format!(
        "fn load(at: u32) {{\n{load}}}\nfn store(at: u32) {{\n{store}}}\nfn load_scalars() {{\n{load_scalars}}}"
    ));
    if *is_sparse {
        program = refusal::declare(program);
    }
    let names: &[&str] = if *is_sparse { &[name, "sparse"] } else { &[name] };
    program.compose(Entry::Elements, include_str!("step.wgsl"), names)
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

/// The rows that indices name, each with the places of the indices that name it.
fn ordered(gpu: &GpuDevice, indices: &Tensor) -> Result<Tensor> {
    let steps = indices.num_elements();
    let padded = sort::padded(steps);
    let order = sort::allocate(gpu, Keys::Narrow, 1, padded)?;
    let index = Indices::of(indices.dtype())?;
    gpu.run(order_program, index, &[indices, &order], &[steps as u32], Groups::Elements(padded))?;
    sort::sort(gpu, Keys::Narrow, &order, 1, padded)?;
    Ok(order)
}

/// The kernel of a rule.
struct Apply {
    rule: Rule,
    /// Where the scalars are among the inputs.
    scalars: SmallVec<[usize; 6]>,
    gradient: usize,
    indices: Option<usize>,
    refusal: Refusal,
    step: Shader,
    pack: Option<Shader>,
}

impl Apply {
    fn new(ctx: &RawConstruction<'_>) -> Result<Apply> {
        let rule = Rule::of(ctx.op);
        let place = |name: &str| {
            let missing = || Error::internal(format!("{} has no input `{name}`", ctx.op.name));
            ctx.op.input_index(name).ok_or_else(missing)
        };
        let scalars = rule.scalars.iter().map(|name| place(name)).collect::<Result<_>>()?;
        let gradient = place("grad").or_else(|_| place("delta"))?;
        let flags = FLAGS.map(|flag| matches!(ctx.attrs.get(flag), Some(AttrValue::Bool(true))));
        let scalar = scalar_of(ctx.input_dtype_at(gradient)?)?;
        let pack = rule.is_packed().then(|| Shader::new(pack_program(scalar, rule.scalars.len())));
        let refusal = if rule.is_sparse { out_of_range(ctx) } else { Refusal::NONE };
        let step = Shader::new(program(&rule, scalar, flags));
        Ok(Apply { indices: ctx.op.input_index("indices"), rule, scalars, gradient, refusal, step, pack })
    }

    fn run(&self, ctx: &mut RawContext<'_>) -> Result<()> {
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
        for (&input, name) in self.scalars.iter().zip(&self.rule.scalars) {
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
                size = geometry::rows(shape, gradient.shape(), indices.shape(), self.rule.needs_elements())?;
                shape[0]
            }
        };
        if gradient.num_elements() == 0 {
            return Ok(());
        }
        for variable in &mut *variables {
            writable(gpu, variable)?;
        }
        let order = indices.map(|indices| ordered(gpu, indices)).transpose()?;
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

/// All programs of an op for a dtype.
fn programs(op: &OpDef, dtype: DataType) -> Result<Vec<Program>> {
    let (rule, scalar) = (Rule::of(op), scalar_of(dtype)?);
    let mut programs = [false, true].map(|flag| program(&rule, scalar, [flag; 3])).to_vec();
    programs.extend(rule.is_packed().then(|| pack_program(scalar, rule.scalars.len())));
    if rule.is_sparse {
        programs.extend([Indices::Narrow, Indices::Wide].map(order_program));
        programs.extend(sort::programs(Keys::Narrow));
    }
    Ok(programs)
}

#[register_kernel(
    device = Gpu,
    op = [
        ApplyAdaMax, ApplyAdadelta, ApplyAdagrad, ApplyAdagradV2, ApplyAdam, ApplyAddSign, ApplyCenteredRMSProp,
        ApplyFtrl, ApplyFtrlV2, ApplyGradientDescent, ApplyMomentum, ApplyPowerSign, ApplyRMSProp,
        ResourceApplyAdaMax, ResourceApplyAdadelta, ResourceApplyAdagrad, ResourceApplyAdagradV2, ResourceApplyAdam,
        ResourceApplyAdamWithAmsgrad, ResourceApplyAddSign, ResourceApplyCenteredRMSProp, ResourceApplyFtrl,
        ResourceApplyFtrlV2, ResourceApplyGradientDescent, ResourceApplyKerasMomentum, ResourceApplyMomentum,
        ResourceApplyPowerSign, ResourceApplyRMSProp, ResourceSparseApplyAdadelta, ResourceSparseApplyAdagrad,
        ResourceSparseApplyAdagradV2, ResourceSparseApplyCenteredRMSProp, ResourceSparseApplyFtrl,
        ResourceSparseApplyFtrlV2, ResourceSparseApplyKerasMomentum, ResourceSparseApplyMomentum,
        ResourceSparseApplyRMSProp, SparseApplyAdadelta, SparseApplyAdagrad, SparseApplyAdagradV2,
        SparseApplyCenteredRMSProp, SparseApplyFtrl, SparseApplyFtrlV2, SparseApplyMomentum, SparseApplyRMSProp
    ],
    T = [f32, f16 if "f16"], programs = |T| programs(O::DEF, T), state = |ctx| Apply::new(ctx)
)]
#[register_kernel(
    device = Gpu,
    op = [
        ApplyProximalAdagrad, ApplyProximalGradientDescent, ResourceApplyProximalAdagrad,
        ResourceApplyProximalGradientDescent, ResourceSparseApplyProximalAdagrad,
        ResourceSparseApplyProximalGradientDescent, SparseApplyProximalAdagrad, SparseApplyProximalGradientDescent
    ],
    T = [f32], programs = |T| programs(O::DEF, T)
)]
fn apply(apply: &Apply, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    apply.run(ctx)
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
        let rule = Rule::of(ResourceSparseApplyMomentum::DEF);
        let step = Shader::new(program(&rule, Scalar::F32, [false; 3]));
        let (rate, momentum) = (0.125f32, 0.75f32);
        // In one workgroup's memory, and beyond it; some of the indices are out of range.
        for steps in [1usize, 7, 1000, 5000] {
            let indices: Vec<i64> = (0..steps).map(|i| (i * i * 31 + i * 7) as i64 % (ROWS as i64 + 1)).collect();
            let gradient: Vec<f32> = (0..steps * SIZE).map(|i| ((i * 37) % 23) as f32 - 11.0).collect();
            let (mut var, mut accum) = (vec![1f32; ROWS * SIZE], vec![2f32; ROWS * SIZE]);
            let given = [there(&var), there(&accum), there(&gradient)];
            let named = gpu.to_device(&Tensor::vector(&indices).unwrap()).unwrap();
            let order = ordered(&gpu, &named).unwrap();
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
