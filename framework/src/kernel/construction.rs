//! The context in which a kernel is constructed for a node.

use std::cell::{Cell, OnceCell};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::{Arc, Weak};

use super::memory::{MemoryType, NodeMemory, memory_without_plan};
use super::{DeviceType, KernelDef};
use crate::attr::{AttrMap, FunctionRef};
use crate::device::Device;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::op::{InputArg, InputListArg, Op, OpDef, OutputArg, OutputListArg, Signature};
use crate::registry::Registry;
use crate::resource::{ContainerInfo, ResourceManager};
use crate::shape::Shape;
use crate::shape_inference::GRAPH_DEF_VERSION;
use crate::step::{Function, FunctionLibrary, SessionContext};
use crate::tensor::Tensor;

/// The node for which a kernel is made.
#[derive(Clone, Copy)]
pub struct RawConstruction<'a> {
    /// The node's name.
    pub node: &'a str,
    /// The op's declaration.
    pub op: &'a OpDef,
    /// The node's attrs, defaults included.
    pub attrs: &'a AttrMap,
    /// The node's inputs and outputs.
    pub signature: &'a Signature,
    /// The registry by which the kernel was found.
    pub registry: &'a Arc<Registry>,
    /// The device on which the kernel will run.
    pub device: DeviceType,
    /// For each input, its value if it is constant in the graph and the op is not stateful. May be shorter than the inputs.
    pub constants: &'a [Option<Tensor>],
    /// The session, if the kernel is constructed for one.
    pub surroundings: Option<&'a Surroundings<'a>>,
}

/// The session of a kernel that is constructed.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Surroundings<'a> {
    /// The session's state, shared among its runs.
    pub session: &'a Arc<SessionContext>,
    /// The functions of the graph.
    pub functions: &'a Arc<dyn FunctionLibrary>,
    /// The device.
    pub device: &'a dyn Device,
    /// The registration of the kernel.
    pub kernel: &'static KernelDef,
    /// The GraphDef version of the graph's producer.
    pub graph_def_version: i32,
    /// The node as its graph has it; `None` in eager execution, and for what the plan adds.
    pub node: Option<&'a dyn GraphNode>,
    /// The node's memory, made when it is first asked for.
    pub(crate) memory: &'a OnceCell<Option<NodeMemory>>,
    /// Whether the kernel keeps the library.
    pub(crate) keeps_library: &'a Cell<bool>,
}

/// What a graph says of a node besides what every kernel needs; looked up when it is asked for.
pub trait GraphNode {
    /// The device that the node asks for; empty for any.
    fn requested_device(&self) -> &str;

    /// Where its inputs come from, as a NodeDef has them: `x`, `split:1`, and `^init` for what only runs before.
    fn inputs(&self) -> Vec<String>;
}

impl RawConstruction<'_> {
    /// The dtype of input `index`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such input.
    #[track_caller]
    pub fn input_dtype_at(&self, index: usize) -> Result<DataType> {
        let slot = self.signature.inputs.get(index);
        slot.map(|slot| slot.dtype).ok_or_else(|| self.signature.no_input(self.op, index))
    }

    /// The dtype of output `index`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such output.
    #[track_caller]
    pub fn output_dtype_at(&self, index: usize) -> Result<DataType> {
        let slot = self.signature.outputs.get(index);
        slot.map(|slot| slot.dtype).ok_or_else(|| self.signature.no_output(self.op, index))
    }

    /// The session.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if the kernel is constructed outside of a session.
    #[track_caller]
    pub fn surroundings(&self) -> Result<&Surroundings<'_>> {
        self.surroundings
            .ok_or_else(|| Error::failed_precondition("the kernel needs a session and is made without one"))
    }

    /// The functions of the session, for a kernel that looks them up when it runs, or whose outputs do. The session owns them: to own
    /// them would be to own the session, whose resources may have what is made here.
    ///
    /// # Errors
    /// As [`RawConstruction::surroundings`].
    #[track_caller]
    pub fn library(&self) -> Result<Weak<dyn FunctionLibrary>> {
        let Surroundings { functions, keeps_library, .. } = self.surroundings()?;
        keeps_library.set(true);
        Ok(functions.whole().unwrap_or_else(|| Arc::downgrade(functions)))
    }

    /// The session's resources.
    ///
    /// # Errors
    /// As [`RawConstruction::surroundings`].
    #[track_caller]
    pub fn resources(&self) -> Result<&Arc<ResourceManager>> {
        Ok(self.surroundings()?.session.resources())
    }

    /// The full name of the device; empty outside of a session.
    pub fn device_name(&self) -> &str {
        self.surroundings.map_or("", |surroundings| surroundings.device.name())
    }

    fn graph_node(&self) -> Option<&dyn GraphNode> {
        self.surroundings?.node
    }

    /// The device that the node asks for; empty for any, and for a kernel that is not made for a graph.
    pub fn requested_device(&self) -> &str {
        self.graph_node().map_or("", GraphNode::requested_device)
    }

    /// Where the node's inputs come from: `x`, `split:1`, and `^init` for what only runs before. The names are those of the
    /// graph that runs, which passes may have changed. Empty for a kernel that is not made for a graph.
    pub fn requested_inputs(&self) -> Vec<String> {
        self.graph_node().map_or_else(Vec::new, GraphNode::inputs)
    }

    fn memory(&self) -> Option<&NodeMemory> {
        let Surroundings { memory, kernel, .. } = self.surroundings?;
        memory.get_or_init(|| NodeMemory::of(kernel, self.op, self.attrs, self.signature)).as_ref()
    }

    /// Where input `index` will live.
    pub fn input_memory_type(&self, index: usize) -> MemoryType {
        let dtype = self.signature.inputs.get(index).map_or(DataType::Float, |slot| slot.dtype);
        self.memory().map_or_else(|| memory_without_plan(dtype), |memory| memory.input(index, dtype))
    }

    /// Where output `index` will live.
    pub fn output_memory_type(&self, index: usize) -> MemoryType {
        let dtype = self.signature.outputs.get(index).map_or(DataType::Float, |slot| slot.dtype);
        self.memory().map_or_else(|| memory_without_plan(dtype), |memory| memory.output(index, dtype))
    }

    /// The GraphDef version of the graph's producer.
    pub fn graph_def_version(&self) -> i32 {
        self.surroundings.map_or(GRAPH_DEF_VERSION, |surroundings| surroundings.graph_def_version)
    }

    /// Where the node's resource is kept; see [`ContainerInfo::new`].
    ///
    /// # Errors
    /// As [`RawConstruction::surroundings`] and [`ContainerInfo::new`].
    #[track_caller]
    pub fn container_info(&self, use_node_name: bool) -> Result<ContainerInfo> {
        ContainerInfo::new(self.resources()?, self.node, self.attrs, use_node_name)
    }

    /// A function of the graph.
    ///
    /// # Errors
    /// As [`RawConstruction::surroundings`] and [`FunctionLibrary::instantiate`].
    #[track_caller]
    pub fn function(&self, call: &FunctionRef) -> Result<Arc<dyn Function>> {
        let surroundings = self.surroundings()?;
        surroundings.functions.instantiate(call, surroundings.device.name())
    }

    /// The function of a loop, whose arguments are the inputs. Of those that are constant in the graph the ones that `body`
    /// hands from iteration to iteration are constant in the function, too, whose kernels can prepare themselves from them.
    ///
    /// # Errors
    /// As [`RawConstruction::function`].
    #[track_caller]
    pub fn function_of_loop(&self, call: &FunctionRef, body: &FunctionRef) -> Result<Arc<dyn Function>> {
        let Surroundings { functions, device, .. } = self.surroundings()?;
        let constants = self.constants.iter().enumerate();
        let constants = constants.filter_map(|(index, value)| Some((index, value.clone()?)));
        let stay: Vec<(usize, Tensor)> = constants.filter(|(index, _)| functions.passes_on(body, *index)).collect();
        match stay.is_empty() {
            true => functions.instantiate(call, device.name()),
            false => functions.instantiate_with(call, device.name(), stay),
        }
    }

    /// A tensor for the kernel's own use.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    #[track_caller]
    pub fn allocate_temp(&self, dtype: DataType, shape: impl Into<Shape>) -> Result<Tensor> {
        let shape = shape.into();
        shape.check()?;
        Tensor::alloc(dtype, shape)
    }

    /// The value of input `index`, if it is constant in the graph. None is known of a stateful op: its kernel serves all runs of
    /// the session, and another run may feed what is constant in this one.
    pub fn constant_at(&self, index: usize) -> Option<&Tensor> {
        self.constants.get(index)?.as_ref()
    }
}

/// [`RawConstruction`] for a node of op `O`, with its attrs as typed fields.
pub struct KernelConstruction<'a, O: Op> {
    raw: &'a RawConstruction<'a>,
    attrs: O::Attrs,
    op: PhantomData<fn() -> O>,
}

impl<'a, O: Op> KernelConstruction<'a, O> {
    /// Reads the attrs.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if an attr is missing or of the wrong type.
    pub fn new(raw: &'a RawConstruction<'a>) -> Result<Self> {
        Ok(Self { raw, attrs: O::read_attrs(raw.attrs)?, op: PhantomData })
    }

    /// The node's attrs.
    pub fn attrs(&self) -> &O::Attrs {
        &self.attrs
    }

    /// The value of an input, if it is constant in the graph; see [`RawConstruction::constant_at`].
    pub fn constant(&self, input: InputArg<O>) -> Option<&Tensor> {
        self.raw.constant_at(self.raw.signature.input_ranges[input.index()].start)
    }

    /// The number of tensors in a list input.
    pub fn input_len(&self, input: InputListArg<O>) -> usize {
        self.raw.signature.input_ranges[input.index()].len()
    }

    /// The number of tensors in a list output.
    pub fn output_len(&self, output: OutputListArg<O>) -> usize {
        self.raw.signature.output_ranges[output.index()].len()
    }

    /// The dtype of an input.
    pub fn input_dtype(&self, input: InputArg<O>) -> DataType {
        self.raw.signature.inputs[self.raw.signature.input_ranges[input.index()].start].dtype
    }

    /// The dtype of an output.
    pub fn output_dtype(&self, output: OutputArg<O>) -> DataType {
        self.raw.signature.outputs[self.raw.signature.output_ranges[output.index()].start].dtype
    }
}

impl<'a, O: Op> Deref for KernelConstruction<'a, O> {
    type Target = RawConstruction<'a>;
    fn deref(&self) -> &RawConstruction<'a> {
        self.raw
    }
}
