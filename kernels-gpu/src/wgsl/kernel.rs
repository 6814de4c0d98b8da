//! The kernel that runs a [`Source`].

use std::marker::PhantomData;

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::dtype::DataType;
use kernlink::error::{Error, Result};
use kernlink::kernel::shader::{
    Dispatch, LaunchFunctions, Param, ParamType, ParamValue, RawLaunch, ShaderNode, ShaderRunner, Source, WgslKernel,
    functions,
};
use kernlink::kernel::{DynKernel, KernelConstruction, KernelContext, OpKernel, RawConstruction, RawContext};
use kernlink::op::{Op, OpDef};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use smallvec::SmallVec;

use super::element_wise;
use super::source::Assembly;
use crate::device::{GpuDevice, Groups};
use crate::shader::Shader;

/// How the device makes kernels of shaders whose ops it does not know by their types.
pub(crate) static RUNNER: ShaderRunner = ShaderRunner(|source, functions, raw| {
    Ok(match source.dispatch {
        Dispatch::ElementWise(_) => Box::new(element_wise::Runner::new(source, raw)?),
        _ => Box::new(Runner::new(source, functions, raw)?),
    })
});

/// A kernel of which only the shader is written, for one node.
pub struct Kernel<K, O> {
    runner: Runner,
    kernel: PhantomData<fn() -> (K, O)>,
}

impl<K: WgslKernel<O>, O: Op> OpKernel<O> for Kernel<K, O> {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Kernel<K, O>> {
        let functions = functions::<K, O>(&ShaderNode::of(ctx)?)?;
        Ok(Kernel { runner: Runner::new(K::source(), functions, ctx)?, kernel: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        self.runner.compute(ctx)
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

/// The same of any op.
struct Runner {
    source: &'static Source,
    functions: Box<dyn LaunchFunctions>,
    shader: Shader,
    /// The values of the parameters that are attrs, in order.
    attr_words: Vec<u32>,
    /// Whether functions say the values of some parameters.
    is_computed: bool,
    /// The positions of the inputs to which the shader is bound.
    bound_inputs: Vec<usize>,
    /// Of the arguments that decide how many threads there are, and whose shapes are parameters.
    dispatched: Place,
    shapes: Vec<(Place, u32)>,
}

/// Where an argument is.
#[derive(Clone, Copy)]
enum Place {
    Input(usize),
    Output(usize),
}

impl DynKernel for Runner {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let outputs = self.launch(ctx)?;
        for (index, tensor) in outputs.into_iter().enumerate() {
            ctx.set_output_at(index, tensor)?;
        }
        Ok(())
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

impl Runner {
    fn new(source: &'static Source, functions: Box<dyn LaunchFunctions>, raw: &RawConstruction<'_>) -> Result<Runner> {
        let program = Assembly(source).program(&dtypes(source, raw.attrs)?)?;
        let is_bound = |position: &usize| {
            let arg = source.op.inputs.get(*position);
            arg.is_some_and(|arg| !source.host_memory.contains(&&*arg.name))
        };
        let dispatched = match source.dispatch {
            Dispatch::Function | Dispatch::ElementWise(_) | Dispatch::Elements { of: "", .. } => Place::Output(0),
            Dispatch::Elements { of, .. } | Dispatch::Rows { of } | Dispatch::Tiles { of, .. } => place(source.op, of)?,
        };
        let shapes = source.params.iter().filter_map(|param| match param.value {
            ParamValue::Shape { rank } => Some(place(source.op, param.name).map(|place| (place, rank))),
            _ => None,
        });
        Ok(Runner {
            source,
            functions,
            shader: Shader::new(program),
            attr_words: attr_words(source, raw.attrs)?,
            is_computed: source.params.iter().any(|param| matches!(param.value, ParamValue::Computed(_))),
            bound_inputs: (0..raw.signature.inputs.len()).filter(is_bound).collect(),
            dispatched,
            shapes: shapes.collect::<Result<_>>()?,
        })
    }

    /// Records the run; gives the outputs.
    fn launch(&self, ctx: &RawContext<'_>) -> Result<SmallVec<[Tensor; 2]>> {
        let source = self.source;
        let gpu = GpuDevice::of(ctx)?;
        let inputs =
            (0..ctx.num_inputs()).map(|index| ctx.input_at(index)).collect::<Result<SmallVec<[&Tensor; 8]>>>()?;
        let launch = RawLaunch { inputs: &inputs, outputs: &[] };
        let shapes = self.functions.outputs(launch)?;
        if shapes.len() != ctx.num_outputs() {
            let message =
                format!("`{}` says the shapes of {} outputs of {}", source.name, shapes.len(), ctx.num_outputs());
            return Err(Error::internal(message));
        }
        let outputs = shapes.iter().enumerate();
        let outputs = outputs.map(|(index, shape)| gpu.allocate_output(ctx, index, shape.clone()));
        let outputs = outputs.collect::<Result<SmallVec<[Tensor; 2]>>>()?;
        let launch = RawLaunch { outputs: &shapes, ..launch };

        let mut words: SmallVec<[u32; 32]> = SmallVec::new();
        let groups = self.groups(launch, &mut words)?;
        // Memory holds anything at first.
        if groups.are_none()
            && let Some(index) = outputs.iter().position(|output| output.num_elements() > 0)
        {
            let (shape, name) = (outputs[index].shape(), &source.op.outputs[index].name);
            let message = format!(
                "`{}` ({}) runs no threads, and its output `{name}` has shape {shape}",
                source.name, source.location
            );
            return Err(Error::invalid_argument(message));
        }
        let mut attrs = self.attr_words.iter().copied();
        let computed = if self.is_computed { self.functions.computed(launch)? } else { Vec::new() };
        let mut computed = computed.iter().copied();
        let mut shape_params = self.shapes.iter();
        for param in source.params {
            match param.value {
                ParamValue::Attr(_) => words.extend(attrs.next()),
                ParamValue::Computed(_) => words.extend(computed.next()),
                ParamValue::Shape { .. } => {
                    let Some(&(place, rank)) = shape_params.next() else { continue };
                    let shape = shape_of(launch, place);
                    if shape.rank() != rank as usize {
                        let message = format!("`{}` must have rank {rank}, not shape {shape}", param.name);
                        return Err(Error::invalid_argument(message));
                    }
                    for &dim in shape.dims() {
                        words.push(count(dim)?);
                    }
                }
            }
        }
        let bound = self.bound_inputs.iter().map(|&index| inputs[index]).chain(&outputs);
        gpu.dispatch(&self.shader, &bound.collect::<SmallVec<[&Tensor; 8]>>(), &words, groups)?;
        Ok(outputs)
    }

    /// How many threads there are; the parameters of the dispatch rule go to `words`.
    fn groups(&self, launch: RawLaunch<'_>, words: &mut SmallVec<[u32; 32]>) -> Result<Groups> {
        let shape = shape_of(launch, self.dispatched);
        let elements = shape.num_elements();
        Ok(match self.source.dispatch {
            Dispatch::Function => Groups::Exactly(self.functions.groups(launch)?),
            Dispatch::ElementWise(_) => Groups::Elements(elements),
            Dispatch::Elements { each, .. } => Groups::Elements(elements.div_ceil(each as usize)),
            Dispatch::Rows { .. } => {
                let length = shape.dims().last().copied().unwrap_or(1);
                words.push(count(length)?);
                // Rows without elements are rows: a sum of none is zero.
                let leading = &shape.dims()[..shape.rank().saturating_sub(1)];
                Groups::Rows(leading.iter().product())
            }
            Dispatch::Tiles { rows, columns, .. } => {
                let (batch, height, width) = match shape.dims() {
                    [] => (1, 1, 1),
                    &[width] => (1, 1, width),
                    [batch @ .., height, width] => (batch.iter().product::<usize>(), *height, *width),
                };
                words.extend([count(height)?, count(width)?]);
                Groups::Rows(batch * height.div_ceil(rows as usize) * width.div_ceil(columns as usize))
            }
        })
    }
}

fn shape_of(launch: RawLaunch<'_>, place: Place) -> &Shape {
    match place {
        Place::Input(index) => launch.inputs[index].shape(),
        Place::Output(index) => &launch.outputs[index],
    }
}

/// A size, as shaders count.
fn count(size: usize) -> Result<u32> {
    u32::try_from(size).map_err(|_| Error::resource_exhausted(format!("{size} is more than a shader counts")))
}

fn place(op: &OpDef, name: &str) -> Result<Place> {
    let input = op.input_index(name).map(Place::Input);
    let place = input.or_else(|| op.output_index(name).map(Place::Output));
    place.ok_or_else(|| Error::internal(format!("op {} has no input or output `{name}`", op.name)))
}

/// The dtypes of a node, for the attrs that the registration lists.
pub(super) fn dtypes(source: &Source, attrs: &AttrMap) -> Result<Vec<(&'static str, DataType)>> {
    let listed = source.variants.first().copied().unwrap_or_default();
    let dtypes = listed.iter().map(|&(name, _)| match attrs.get(name) {
        Some(AttrValue::Type(dtype)) => Ok((name, *dtype)),
        _ => Err(Error::invalid_argument(format!("the node has no attr `{name}` of type type"))),
    });
    dtypes.collect()
}

/// The values of the parameters that are attrs, in order.
pub(super) fn attr_words(source: &Source, attrs: &AttrMap) -> Result<Vec<u32>> {
    let params = source.params.iter().filter(|param| matches!(param.value, ParamValue::Attr(_)));
    params.map(|param| attr_word(source, param, attrs)).collect()
}

/// The bits of a parameter that is an attr.
fn attr_word(source: &Source, param: &Param, attrs: &AttrMap) -> Result<u32> {
    let ty = source.attr_type(param).map_err(Error::internal)?;
    let misfit = |value: &dyn std::fmt::Display| {
        let message = format!("attr `{}` is {value}, which is no {} of the shader", param.name, ty.wgsl());
        Error::invalid_argument(message)
    };
    match (attrs.get(param.name), ty) {
        (Some(&AttrValue::Int(value)), ParamType::I32) => {
            i32::try_from(value).map(|value| value as u32).map_err(|_| misfit(&value))
        }
        (Some(&AttrValue::Int(value)), ParamType::U32) => u32::try_from(value).map_err(|_| misfit(&value)),
        (Some(&AttrValue::Int(value)), ParamType::F32) => Ok((value as f32).to_bits()),
        (Some(AttrValue::Float(value)), ParamType::F32) => Ok(value.to_bits()),
        (Some(&AttrValue::Bool(value)), ParamType::F32) => Ok(f32::from(u8::from(value)).to_bits()),
        (Some(&AttrValue::Bool(value)), ParamType::I32 | ParamType::U32) => Ok(u32::from(value)),
        _ => Err(Error::invalid_argument(format!("the node has no attr `{}` for the shader", param.name))),
    }
}
