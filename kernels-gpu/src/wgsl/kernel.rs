//! The kernel that runs a [`Source`].

use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::dtype::DataType;
use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawConstruction, RawContext};
use kernlink::op::{Op, OpDef, Signature};
use kernlink::shape::{PartialShape, Shape};
use kernlink::shape_inference::{InferenceContext, ShapeFn};
use kernlink::tensor::Tensor;
use smallvec::SmallVec;

use super::source::{Dispatch, Param, ParamType, ParamValue, Source};
use super::{Launch, WgslKernel};
use crate::device::{GpuDevice, Groups};
use crate::shader::Shader;

/// A kernel of which only the shader is written, for one node.
pub struct Kernel<K, O: Op> {
    shader: Shader,
    attrs: O::Attrs,
    kernel: PhantomData<fn() -> K>,
    /// The values of the parameters that are attrs, in order.
    attr_words: Vec<u32>,
    /// The positions of the inputs and outputs to which the shader is bound.
    bound_inputs: Vec<usize>,
    /// Of the arguments that decide how many threads there are, and whose shapes are parameters.
    dispatched: Place,
    shapes: Vec<(Place, u32)>,
    inference: Inference,
}

/// Where an argument is.
#[derive(Clone, Copy)]
enum Place {
    Input(usize),
    Output(usize),
}

impl<K: WgslKernel<O>, O: Op> OpKernel<O> for Kernel<K, O> {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Kernel<K, O>> {
        let source = K::source();
        let raw: &RawConstruction<'_> = ctx;
        let program = source.program(&dtypes(source, raw.attrs)?)?;
        let attrs = O::read_attrs(raw.attrs)?;
        let attr_words = attr_words(source, raw.attrs)?;
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
        Ok(Kernel {
            shader: Shader::new(program),
            attrs,
            kernel: PhantomData,
            attr_words,
            bound_inputs: (0..raw.signature.inputs.len()).filter(is_bound).collect(),
            dispatched,
            shapes: shapes.collect::<Result<_>>()?,
            inference: Inference::new(source, raw)?,
        })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
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

impl<K: WgslKernel<O>, O: Op> Kernel<K, O> {
    /// Records the run; gives the outputs.
    fn launch(&self, ctx: &RawContext<'_>) -> Result<SmallVec<[Tensor; 2]>> {
        let source = K::source();
        let gpu = GpuDevice::of(ctx)?;
        let inputs = (0..ctx.num_inputs()).map(|index| ctx.input_at(index)).collect::<Result<Vec<_>>>()?;
        let launch = Launch { attrs: &self.attrs, gpu, inputs, outputs: &[] };
        let shapes = match K::outputs(&launch) {
            Some(shapes) => shapes?,
            None => self.inference.run(ctx, &launch.inputs, source)?,
        };
        if shapes.len() != ctx.num_outputs() {
            let message =
                format!("`{}` says the shapes of {} outputs of {}", source.name, shapes.len(), ctx.num_outputs());
            return Err(Error::internal(message));
        }
        let outputs = shapes.iter().enumerate();
        let outputs = outputs.map(|(index, shape)| gpu.allocate_output(ctx, index, shape.clone()));
        let outputs = outputs.collect::<Result<SmallVec<[Tensor; 2]>>>()?;
        let launch = Launch { outputs: &shapes, ..launch };

        let mut words: SmallVec<[u32; 32]> = SmallVec::new();
        let groups = self.groups(&launch, &mut words)?;
        let mut attrs = self.attr_words.iter().copied();
        let computed = K::computed(&launch)?;
        let mut computed = computed.iter().copied();
        let mut shape_params = self.shapes.iter();
        for param in source.params {
            match param.value {
                ParamValue::Attr(_) => words.extend(attrs.next()),
                ParamValue::Computed(_) => words.extend(computed.next()),
                ParamValue::Shape { .. } => {
                    let Some(&(place, rank)) = shape_params.next() else { continue };
                    let shape = shape_of(&launch, place);
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
        let bound = self.bound_inputs.iter().map(|&index| launch.inputs[index]).chain(&outputs);
        gpu.dispatch(&self.shader, &bound.collect::<SmallVec<[&Tensor; 8]>>(), &words, groups)?;
        Ok(outputs)
    }

    /// How many threads there are; the parameters of the dispatch rule go to `words`.
    fn groups(&self, launch: &Launch<'_, O>, words: &mut SmallVec<[u32; 32]>) -> Result<Groups> {
        let shape = shape_of(launch, self.dispatched);
        let elements = shape.num_elements();
        Ok(match K::source().dispatch {
            Dispatch::Function => Groups::Exactly(K::groups(launch)?),
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

fn shape_of<'a, O: Op>(launch: &Launch<'a, O>, place: Place) -> &'a Shape {
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

/// The op's shape function, as a way to know the shapes of a kernel's outputs.
struct Inference {
    shape_fn: Option<ShapeFn>,
    attrs: AttrMap,
    signature: Signature,
    graph_def_version: i32,
    /// The last answer: shapes of inputs and outputs. Values of inputs are not among the questions.
    last: Mutex<Option<(Vec<Shape>, Vec<Shape>)>>,
}

impl Inference {
    fn new(source: &Source, raw: &RawConstruction<'_>) -> Result<Inference> {
        Ok(Inference {
            shape_fn: raw.registry.op(&source.op.name)?.shape_fn,
            attrs: raw.attrs.clone(),
            signature: raw.signature.clone(),
            graph_def_version: raw.graph_def_version(),
            last: Mutex::default(),
        })
    }

    fn run(&self, ctx: &RawContext<'_>, inputs: &[&Tensor], source: &Source) -> Result<Vec<Shape>> {
        let depends_on_values = !source.host_memory.is_empty();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((asked, answer)) = &*last
            && !depends_on_values
            && asked.iter().eq(inputs.iter().map(|input| input.shape()))
        {
            return Ok(answer.clone());
        }
        let unknown = || {
            let (op, name) = (ctx.op(), source.name);
            let message = format!(
                "op {} does not say what its outputs' shapes are: let `{name}` say `outputs = function`",
                op.name
            );
            Error::internal(message)
        };
        let shape_fn = self.shape_fn.ok_or_else(unknown)?;
        let shapes = inputs.iter().map(|input| PartialShape::from(input.shape())).collect();
        let on_host = |input: &&Tensor| input.device_memory().is_none().then(|| (*input).clone());
        let values = inputs.iter().map(on_host).collect();
        let mut inference = InferenceContext::new(ctx.op(), &self.attrs, &self.signature, shapes, values);
        inference.set_graph_def_version(self.graph_def_version);
        inference.run(shape_fn)?;
        let answer = inference.into_outputs().iter().map(PartialShape::to_shape).collect::<Option<Vec<_>>>();
        let answer = answer.ok_or_else(unknown)?;
        *last = Some((inputs.iter().map(|input| input.shape().clone()).collect(), answer.clone()));
        Ok(answer)
    }
}
