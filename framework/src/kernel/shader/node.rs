//! The functions of a registration, for a node.

use std::sync::{Mutex, PoisonError};

use super::{Launch, RawLaunch, Source, WgslKernel};
use crate::attr::AttrMap;
use crate::error::{Error, Result};
use crate::kernel::RawConstruction;
use crate::op::{Op, Signature};
use crate::shape::{PartialShape, Shape};
use crate::shape_inference::{InferenceContext, ShapeFn};
use crate::tensor::Tensor;

/// What a shader asks before each of its runs, of one node.
pub trait LaunchFunctions: Send + Sync {
    /// The outputs' shapes.
    ///
    /// # Errors
    /// Those of the function that says it; INTERNAL if the op's shape function does not know them.
    fn outputs(&self, launch: RawLaunch<'_>) -> Result<Vec<Shape>>;

    /// The values of those parameters that functions say, in order.
    ///
    /// # Errors
    /// Those of the functions.
    fn computed(&self, launch: RawLaunch<'_>) -> Result<Vec<u32>>;

    /// The number of workgroups, if a function says it.
    ///
    /// # Errors
    /// Those of the function.
    fn groups(&self, launch: RawLaunch<'_>) -> Result<[u32; 3]>;
}

/// The node for which the functions are made.
#[derive(Clone, Copy)]
pub struct ShaderNode<'a> {
    /// The node's attrs, defaults included.
    pub attrs: &'a AttrMap,
    /// Its inputs and outputs.
    pub signature: &'a Signature,
    /// The op's shape function.
    pub shape_fn: Option<ShapeFn>,
    /// The GraphDef version of the graph's producer.
    pub graph_def_version: i32,
}

impl<'a> ShaderNode<'a> {
    /// The node for which a kernel is made.
    ///
    /// # Errors
    /// NOT_FOUND if the registry has no such op.
    pub fn of(raw: &RawConstruction<'a>) -> Result<ShaderNode<'a>> {
        Ok(ShaderNode {
            attrs: raw.attrs,
            signature: raw.signature,
            shape_fn: raw.registry.op(&raw.op.name)?.shape_fn,
            graph_def_version: raw.graph_def_version(),
        })
    }
}

/// A kernel of which only the shader is written, as a registration has it.
#[derive(Clone, Copy)]
pub struct ShaderDef {
    /// The shader.
    pub source: &'static Source,
    /// Makes the functions for a node.
    pub functions: fn(&ShaderNode<'_>) -> Result<Box<dyn LaunchFunctions>>,
}

impl ShaderDef {
    /// That of a kernel of op `O`.
    pub const fn of<K: WgslKernel<O>, O: Op>(source: &'static Source) -> ShaderDef {
        ShaderDef { source, functions: functions::<K, O> }
    }
}

/// The functions of kernel `K` for a node.
///
/// # Errors
/// INVALID_ARGUMENT for attrs that the op does not have.
pub fn functions<K: WgslKernel<O>, O: Op>(node: &ShaderNode<'_>) -> Result<Box<dyn LaunchFunctions>> {
    let source = K::source();
    Ok(Box::new(Functions::<K, O> {
        attrs: O::read_attrs(node.attrs)?,
        inference: Inference::new(source, node),
        kernel: std::marker::PhantomData,
    }))
}

struct Functions<K, O: Op> {
    attrs: O::Attrs,
    inference: Inference,
    kernel: std::marker::PhantomData<fn() -> K>,
}

impl<K: WgslKernel<O>, O: Op> LaunchFunctions for Functions<K, O> {
    fn outputs(&self, launch: RawLaunch<'_>) -> Result<Vec<Shape>> {
        K::outputs(&Launch::new(&self.attrs, launch)).unwrap_or_else(|| self.inference.run(launch.inputs))
    }

    fn computed(&self, launch: RawLaunch<'_>) -> Result<Vec<u32>> {
        K::computed(&Launch::new(&self.attrs, launch))
    }

    fn groups(&self, launch: RawLaunch<'_>) -> Result<[u32; 3]> {
        K::groups(&Launch::new(&self.attrs, launch))
    }
}

/// The op's shape function, as a way to know the shapes of a kernel's outputs.
struct Inference {
    source: &'static Source,
    shape_fn: Option<ShapeFn>,
    attrs: AttrMap,
    signature: Signature,
    graph_def_version: i32,
    /// The last answer: shapes of inputs and outputs. Values of inputs are not among the questions.
    last: Mutex<Option<(Vec<Shape>, Vec<Shape>)>>,
}

impl Inference {
    fn new(source: &'static Source, node: &ShaderNode<'_>) -> Inference {
        Inference {
            source,
            shape_fn: node.shape_fn,
            attrs: node.attrs.clone(),
            signature: node.signature.clone(),
            graph_def_version: node.graph_def_version,
            last: Mutex::default(),
        }
    }

    fn run(&self, inputs: &[&Tensor]) -> Result<Vec<Shape>> {
        let Source { op, name, host_memory, .. } = self.source;
        let depends_on_values = !host_memory.is_empty();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((asked, answer)) = &*last
            && !depends_on_values
            && asked.iter().eq(inputs.iter().map(|input| input.shape()))
        {
            return Ok(answer.clone());
        }
        let unknown = || {
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
        let mut inference = InferenceContext::new(op, &self.attrs, &self.signature, shapes, values);
        inference.set_graph_def_version(self.graph_def_version);
        inference.run(shape_fn)?;
        let answer = inference.into_outputs().iter().map(PartialShape::to_shape).collect::<Option<Vec<_>>>();
        let answer = answer.ok_or_else(unknown)?;
        *last = Some((inputs.iter().map(|input| input.shape().clone()).collect(), answer.clone()));
        Ok(answer)
    }
}
