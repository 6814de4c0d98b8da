//! `_FusedElementWise`: several functions of elements in one dispatch.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use kernlink::dtype::DataType;
use kernlink::ensure;
use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelConstruction, KernelContext, Meet, OpKernel, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::chain::{self, Step};
use kernlink_geometry::element_wise::condition;
use kernlink_macros::register_kernel;
use kernlink_ops::FusedElementWise;
use kernlink_ops::shapes::Operand;
use smallvec::SmallVec;

use super::chain::{Chain, Lie, Link, Pattern, Walk};
use super::driver::{BINARY_LIMIT, ElementWise, Function, LIMIT};
use crate::device::{GpuDevice, Groups, lock};
use crate::places::Places;
use crate::shader::{Program, Scalar, Shader, scalar_of};
use crate::wgsl::Memory;
use crate::windows::{Part, read_if, written};

/// The inputs that a shader takes: eight buffers, of which one is the output, are what every device binds.
const MOST: usize = 7;

/// The words of parameters that every device takes, without the number of elements.
const WORDS: usize = 31;

struct Fused {
    inputs: Vec<DataType>,
    steps: Vec<Step<Function>>,
    /// What one shader computes; `None` if there is more to bind than it takes.
    chain: Option<Chain>,
    /// The attrs that are arguments, for [`Chain::params`].
    params: Vec<u32>,
    shaders: Mutex<HashMap<Pattern, Arc<Shader>>>,
    /// The steps by themselves, made when they are first needed.
    alone: Vec<OnceLock<ElementWise>>,
}

#[register_kernel(
    device = Gpu, T = [f32, i32, u32, bool, f16 if "f16", i64 if "i64"], programs = |T| examples(T)
)]
impl OpKernel<FusedElementWise> for Fused {
    fn new(ctx: &KernelConstruction<'_, FusedElementWise>) -> Result<Self> {
        let attrs = ctx.attrs();
        let inputs = attrs.Tin.clone();
        let steps: Vec<Step<Function>> = chain::steps(ctx, &inputs, attrs.T, attrs.into(), &attrs.names)?;
        steps.iter().try_for_each(|step| step.ensure_arity(step.function.inputs().len()))?;
        for step in &steps {
            let (declared, given) = (step.function.parameters().len(), usize::from(step.parameter.is_some()));
            ensure!(declared == given, Internal, "a function with {declared} parameters is given {given}");
        }
        let params: Vec<u32> = steps.iter().filter_map(|step| step.parameter).map(f32::to_bits).collect();
        let links: Vec<Link<'_>> =
            steps.iter().map(|step| Link { function: &step.function, operands: &step.operands }).collect();
        let scalars = inputs.iter().map(|&dtype| scalar_of(dtype)).collect::<Result<Vec<_>>>()?;
        let memory = steps.iter().map(|step| step.function.memory());
        let fits = inputs.len() <= MOST && params.len() <= WORDS && Memory::join(memory);
        let chain = fits.then(|| Chain::new(scalars, &links));
        let alone = steps.iter().map(|_| OnceLock::new()).collect();
        Ok(Fused { inputs, steps, chain, params, shaders: Mutex::default(), alone })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, FusedElementWise>) -> Result<()> {
        let output = self.run(ctx)?;
        ctx.set_output(FusedElementWise::OUTPUT, output)
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

/// Along how many groups of dimensions the operands of a step may broadcast.
fn limit(step: &Step<Function>) -> usize {
    if step.operands.len() == 2 { BINARY_LIMIT } else { LIMIT }
}

impl Fused {
    fn run(&self, ctx: &RawContext<'_>) -> Result<Tensor> {
        let gpu = GpuDevice::of(ctx)?;
        let mut inputs: SmallVec<[&Tensor; 8]> = SmallVec::new();
        for (index, &expected) in self.inputs.iter().enumerate() {
            let input = ctx.input_at(index)?;
            let dtype = input.dtype();
            ensure!(dtype == expected, InvalidArgument, "input {index} must be {expected}, not {dtype}");
            inputs.push(input);
        }
        let Some(chain) = &self.chain else { return self.one_by_one(gpu, ctx, &inputs) };
        let (shape, regular) = match inputs.split_first() {
            Some((first, others)) if others.iter().all(|other| other.shape() == first.shape()) => {
                (first.shape().clone(), true)
            }
            _ => {
                let (mut shapes, regular) = chain::shapes(&self.steps, ctx, limit)?;
                (shapes.pop().ok_or_else(|| Error::internal("a program has steps"))?, regular)
            }
        };
        if !regular {
            return self.one_by_one(gpu, ctx, &inputs);
        }
        let dtype = ctx.output_dtype_at(0)?;
        let output = gpu.allocate(dtype, shape)?;
        if output.num_elements() == 0 || self.dispatch(gpu, chain, &inputs, &output)? {
            return Ok(output);
        }
        self.one_by_one(gpu, ctx, &inputs)
    }

    /// Records the one dispatch, if that is possible.
    fn dispatch(&self, gpu: &GpuDevice, chain: &Chain, inputs: &[&Tensor], output: &Tensor) -> Result<bool> {
        let total = output.num_elements();
        let mut spread: SmallVec<[&Shape; 8]> = SmallVec::new();
        let lies: SmallVec<[Lie; 8]> = inputs
            .iter()
            .map(|input| match input.num_elements() {
                count if count == total => Lie::Full,
                1 => Lie::One,
                _ => {
                    let known = spread.iter().position(|shape| *shape == input.shape());
                    let number = known.unwrap_or_else(|| {
                        spread.push(input.shape());
                        spread.len() - 1
                    });
                    Lie::Spread(number as u8)
                }
            })
            .collect();
        if spread.is_empty() {
            let parts = inputs.iter().zip(&lies).map(|(input, lie)| read_if(*lie == Lie::Full, input));
            let parts: SmallVec<[Part<'_>; 8]> = parts.chain([written(output)]).collect();
            let shader = self.shader(chain, (lies, Walk::Flat));
            gpu.in_windows(total, &parts, |range, tensors| {
                gpu.dispatch(&shader, tensors, &self.params, Groups::Elements(range.len().div_ceil(4)))
            })?;
            return Ok(true);
        }
        let tensors: SmallVec<[&Tensor; 8]> = inputs.iter().copied().chain([output]).collect();
        if !gpu.fit(&tensors) {
            return Ok(false);
        }
        // The last is the output, which walks all dimensions, and so do those that stand for nothing.
        let shapes: [&Shape; MOST + 1] = std::array::from_fn(|k| spread.get(k).copied().unwrap_or(output.shape()));
        let (_, index) = Places::broadcast(shapes, usize::MAX)?;
        let Ok(rank) = index.shader_rank() else { return Ok(false) };
        let taken = rank - 1 + rank * spread.len();
        if taken + self.params.len() > WORDS {
            return Ok(false);
        }
        let (walk, places, groups) = match index.in_vectors(4) {
            Some(vectors) => {
                let (_, steps) = index.inner();
                let moving = (0..spread.len()).fold(0, |mask, k| mask | u32::from(steps[k] != 0) << k);
                (Walk::Vectors { rank, moving }, vectors.params(rank), total / 4)
            }
            None => (Walk::Single { rank }, index.params(rank), total),
        };
        let mut words: SmallVec<[u32; 32]> = SmallVec::from_slice(&places[..taken]);
        words.extend_from_slice(&self.params);
        let shader = self.shader(chain, (lies, walk));
        gpu.dispatch(&shader, &tensors, &words, Groups::Elements(groups))?;
        Ok(true)
    }

    fn shader(&self, chain: &Chain, pattern: Pattern) -> Arc<Shader> {
        let mut shaders = lock(&self.shaders);
        shaders.entry(pattern).or_insert_with_key(|pattern| Arc::new(Shader::new(chain.program(pattern)))).clone()
    }

    /// Computes the output step by step.
    fn one_by_one(&self, gpu: &GpuDevice, ctx: &RawContext<'_>, inputs: &[&Tensor]) -> Result<Tensor> {
        let missing = || Error::internal("a step comes before what it takes");
        let mut results: Vec<Option<Tensor>> = vec![None; self.steps.len()];
        for (place, step) in self.steps.iter().enumerate() {
            let mut operands: SmallVec<[Tensor; 3]> = SmallVec::new();
            for operand in &step.operands {
                operands.push(match *operand {
                    Operand::Input(input) => inputs[input].clone(),
                    Operand::Step(before) => results[before].clone().ok_or_else(missing)?,
                });
            }
            results[place] = Some(self.alone(gpu, ctx, place, operands)?);
            for operand in &step.operands {
                if let Operand::Step(before) = *operand
                    && self.steps[before].last_use == place
                {
                    results[before] = None;
                }
            }
        }
        results.pop().flatten().ok_or_else(missing)
    }

    /// Computes a step as the node that it was did.
    fn alone(
        &self,
        gpu: &GpuDevice,
        ctx: &RawContext<'_>,
        place: usize,
        mut operands: SmallVec<[Tensor; 3]>,
    ) -> Result<Tensor> {
        let step = &self.steps[place];
        step.shape(&operands.iter().map(Tensor::shape).collect::<SmallVec<[&Shape; 3]>>(), limit(step), ctx)?;
        if let ([of, then, otherwise], Meet::Condition) = (&mut operands[..], step.meet) {
            let shape = condition(of.shape(), then.shape(), otherwise.shape())?;
            *of = of.clone().reshaped(shape)?;
        }
        let params = step.parameter.map(f32::to_bits);
        let alone = self.alone[place].get_or_init(|| ElementWise::new(step.function.clone(), None));
        let operands: SmallVec<[&Tensor; 3]> = operands.iter().collect();
        alone.run(gpu, step.output, &operands, params.as_slice())
    }
}

/// A chain with a choice in it, for all ways in which inputs lie; of floats one with a parameter, too.
fn examples(dtype: DataType) -> Result<Vec<Program>> {
    const BINARY: &str = include_str!("binary.wgsl");
    let scalar = scalar_of(dtype)?;
    let first = if scalar == Scalar::Bool { "LogicalAnd" } else { "Maximum" };
    let functions = [
        Function::new(BINARY, first, &[scalar; 2], scalar),
        Function::new(BINARY, "Equal", &[scalar; 2], Scalar::Bool),
        Function::new(include_str!("select.wgsl"), "SelectV2", &[Scalar::Bool, scalar, scalar], scalar),
    ];
    let (input, step) = (Operand::Input, Operand::Step);
    let operands = [vec![input(0), input(1)], vec![step(0), input(2)], vec![step(1), input(0), step(0)]];
    let mut links: Vec<Link<'_>> =
        functions.iter().zip(&operands).map(|(function, operands)| Link { function, operands }).collect();
    let leaky = Function::new(include_str!("unary.wgsl"), "LeakyRelu", &[scalar], scalar).params([("alpha", "f32")]);
    let after = [vec![step(2)], vec![step(3)]];
    if matches!(scalar, Scalar::F32 | Scalar::F16) {
        links.extend(after.iter().map(|operands| Link { function: &leaky, operands }));
    }
    let chain = Chain::new(vec![scalar; 3], &links);
    let (full, one, spread) = (Lie::Full, Lie::One, Lie::Spread);
    let patterns: [(&[Lie], Walk); 6] = [
        (&[full, full, one], Walk::Flat),
        (&[one, full, full], Walk::Flat),
        (&[full, spread(0), spread(1)], Walk::Vectors { rank: 2, moving: 1 }),
        (&[spread(0), spread(0), one], Walk::Vectors { rank: 3, moving: 0 }),
        (&[spread(0), spread(1), full], Walk::Single { rank: 2 }),
        (&[one, spread(0), full], Walk::Single { rank: 5 }),
    ];
    Ok(patterns.iter().map(|(lies, walk)| chain.program(&(SmallVec::from_slice(lies), *walk))).collect())
}

#[cfg(test)]
mod tests {
    use std::any::Any;

    use kernlink::kernel::{ConstraintValues, GPU};

    use super::*;

    /// A function of a kernel, of the first dtypes for which there is one of those that it is registered for.
    fn functions_of(kernel: &'static kernlink::kernel::KernelDef) -> Vec<Function> {
        let Some(own) = kernel.element_wise else { return Vec::new() };
        let dtypes =
            [DataType::Float, DataType::Int32, DataType::Uint32, DataType::Bool, DataType::Half, DataType::Int64];
        let listed = |dtype: &DataType| {
            kernel.constraints.iter().all(|constraint| match constraint.values {
                ConstraintValues::Types(types) => constraint.attr == "DstT" || types.contains(dtype),
                _ => true,
            })
        };
        let mut found = Vec::new();
        for input in dtypes.into_iter().filter(listed) {
            for output in [input, DataType::Bool, DataType::Int32] {
                let bool = DataType::Bool;
                for inputs in [&[input][..], &[input; 2], &[input; 3], &[bool, input, input], &[bool], &[bool; 2]] {
                    let function: Option<Box<dyn Any + Send + Sync>> = (own.function)(inputs, output);
                    found.extend(function.map(|function| *function.downcast::<Function>().unwrap()));
                }
            }
        }
        found
    }

    /// Every function that joins, twice in a chain with others of other types.
    #[test]
    fn the_functions_of_all_kernels_join() {
        let mut count = 0;
        let to_bool = |scalar| Function::new(include_str!("binary.wgsl"), "NotEqual", &[scalar; 2], Scalar::Bool);
        for kernel in kernlink::collect::linked_kernels().filter(|kernel| kernel.device == GPU) {
            for function in functions_of(kernel) {
                let inputs = function.inputs().to_vec();
                let operands: Vec<Operand> = (0..inputs.len()).map(Operand::Input).collect();
                let compared = to_bool(function.output());
                let both = [Operand::Step(0), Operand::Step(1)];
                let links = [
                    Link { function: &function, operands: &operands },
                    Link { function: &function, operands: &operands },
                    Link { function: &compared, operands: &both },
                ];
                let lies: SmallVec<[Lie; 8]> = inputs.iter().map(|_| Lie::Full).collect();
                let program = Chain::new(inputs, &links).program(&(lies, Walk::Flat));
                crate::wgsl::check_program(&program, &["f16", "i64"]).unwrap();
                count += 1;
            }
        }
        assert!(count > 150, "{count}");
    }

    #[test]
    fn functions_stand_once_for_each_type() {
        let add = |scalar: Scalar| Function::new(include_str!("binary.wgsl"), "AddV2", &[scalar; 2], scalar);
        let (floats, integers) = (add(Scalar::F32), add(Scalar::I32));
        let operands = [[0, 1], [0, 1], [2, 2]].map(|pair| pair.map(Operand::Input));
        let links = [(&floats, &operands[0]), (&floats, &operands[1]), (&integers, &operands[2])];
        let links: Vec<Link<'_>> =
            links.iter().map(|(function, operands)| Link { function, operands: &operands[..] }).collect();
        let chain = Chain::new(vec![Scalar::F32, Scalar::F32, Scalar::I32], &links);
        let program = chain.program(&(SmallVec::from_elem(Lie::Full, 3), Walk::Flat));
        assert_eq!(program.text().matches("fn AddV2").count(), 2, "{}", program.text());
    }
}
