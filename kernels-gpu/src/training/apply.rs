//! Steps of optimisers: what all rules have in common.

use std::fmt::Write as _;

use kernlink::attr::AttrValue;
use kernlink::error::{Code, Error, Result};
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use smallvec::SmallVec;

use super::place::{forward, update, writable};
use super::rules::{FUNCTIONS, Rule};
use crate::device::{GpuDevice, Groups};
use crate::family::scalar_of;
use crate::shader::{Entry, Program, Scalar, Shader};

/// What every device binds at once.
const MOST_BUFFERS: usize = 8;

/// The attrs that say how a step is taken, as constants of a shader.
const FLAGS: [&str; 3] = ["use_nesterov", "update_slots", "multiply_linear_by_lr"];

/// Whether a rule's scalars are brought together in one buffer before the step: they are too many to bind.
fn is_packed(rule: &Rule) -> bool {
    rule.variables.len() + 1 + rule.scalars.len() > MOST_BUFFERS
}

/// The program of a step.
pub(super) fn program(rule: &Rule, scalar: Scalar, flags: [bool; 3]) -> Program {
    let mut program =
        Program::builder(format!("step of {}", rule.name)).alias("T", scalar).declare("alias V = vec4<T>;");
    for (name, flag) in FLAGS.into_iter().zip(flags) {
        program = program.declare(&format!("const {}: bool = {flag};", name.to_uppercase()));
    }
    program = program.declare(FUNCTIONS);
    for variable in rule.variables {
        program = program.write_vectors(&format!("{variable}_of"), scalar, 4);
    }
    program = program.read_vectors("gradient", scalar, 4);
    let mut body = "fn element(i: u32) {\n".to_owned();
    if is_packed(rule) {
        program = program.read("scalars", scalar);
    }
    for (place, name) in rule.scalars.iter().enumerate() {
        let value = if is_packed(rule) { format!("scalars[{place}]") } else { format!("{name}_of[0]") };
        let _ = writeln!(body, "    let {name} = {value};");
        if !is_packed(rule) {
            program = program.read(&format!("{name}_of"), scalar);
        }
    }
    if !rule.common.is_empty() {
        let _ = writeln!(body, "    {}", rule.common);
    }
    body += "    let g = gradient[i];\n";
    for variable in rule.variables {
        let _ = writeln!(body, "    var {variable}_ = {variable}_of[i];");
    }
    let _ = writeln!(body, "    {}", rule.step);
    for variable in rule.variables {
        let _ = writeln!(body, "    {variable}_of[i] = {variable}_;");
    }
    body += "}\n";
    program.build(Entry::Elements, &body)
}

/// The program that brings scalars together.
pub(super) fn pack_program(scalar: Scalar, count: usize) -> Program {
    let mut program = Program::builder(format!("pack of {count} scalars"));
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
    step: Shader,
    pack: Option<Shader>,
}

impl Apply {
    pub(super) fn new(ctx: &RawConstruction<'_>, rule: &str) -> Result<Apply> {
        let Some(rule) = Rule::named(rule) else {
            bail!(Internal, "there is no rule {rule}");
        };
        let named = |name: &str| ctx.op.inputs.iter().position(|input| input.name == name);
        let place =
            |name: &str| named(name).ok_or_else(|| Error::internal(format!("{} has no input `{name}`", ctx.op.name)));
        let scalars = rule.scalars.iter().map(|name| place(name)).collect::<Result<_>>()?;
        let gradient = named("grad").map_or_else(|| place("delta"), Ok)?;
        let flags = FLAGS.map(|flag| matches!(ctx.attrs.get(flag), Some(AttrValue::Bool(true))));
        let scalar = scalar_of(ctx.input_dtype_at(gradient)?)?;
        let pack = is_packed(rule).then(|| Shader::new(pack_program(scalar, rule.scalars.len())));
        Ok(Apply { rule, scalars, gradient, step: Shader::new(program(rule, scalar, flags)), pack })
    }

    pub(super) fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let dtype = ctx.input_at(self.gradient)?.dtype();
        let change = |ctx: &RawContext<'_>, variables: &mut [&mut Tensor]| self.take_step(gpu, ctx, variables);
        update(ctx, self.rule.variables.len(), dtype, change).map_err(|error| match error.code() {
            // What TensorFlow says of a variable that was never assigned.
            Code::NotFound => Error::internal(format!("Invalid variable reference. {}", error.message())),
            _ => error,
        })?;
        forward(ctx)
    }

    fn take_step(&self, gpu: &GpuDevice, ctx: &RawContext<'_>, variables: &mut [&mut Tensor]) -> Result<()> {
        let packed;
        let mut scalars: SmallVec<[&Tensor; 7]> = SmallVec::new();
        for (&input, name) in self.scalars.iter().zip(self.rule.scalars) {
            let scalar = ctx.input_at(input)?;
            ensure!(scalar.rank() == 0, InvalidArgument, "{name} is not a scalar: {}", scalar.shape());
            scalars.push(scalar);
        }
        let gradient = ctx.input_at(self.gradient)?;
        let shape = variables[0].shape();
        for (index, variable) in variables.iter().enumerate() {
            let name = &ctx.op().inputs[index].name;
            ensure!(variable.shape() == shape, InvalidArgument, "{}", differ(name, shape, variable.shape()));
        }
        let name = &ctx.op().inputs[self.gradient].name;
        ensure!(gradient.shape() == shape, InvalidArgument, "{}", differ(name, shape, gradient.shape()));
        for variable in &mut *variables {
            writable(gpu, variable)?;
        }
        let mut tensors: SmallVec<[&Tensor; MOST_BUFFERS]> = variables.iter().map(|variable| &**variable).collect();
        tensors.push(gradient);
        if let Some(pack) = &self.pack {
            packed = gpu.allocate(gradient.dtype(), [scalars.len()])?;
            scalars.push(&packed);
            gpu.dispatch(pack, &scalars, &[], Groups::Elements(1))?;
            tensors.push(&packed);
        } else {
            tensors.append(&mut scalars);
        }
        // Buffers hold whole vectors: what the last one has beyond the elements is nobody's.
        gpu.dispatch(&self.step, &tensors, &[], Groups::Elements(gradient.num_elements().div_ceil(4)))
    }
}

fn differ(name: &str, variable: &Shape, other: &Shape) -> String {
    format!("var and {name} do not have the same shape: {variable} {other}")
}
