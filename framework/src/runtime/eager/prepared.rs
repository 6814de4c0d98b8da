//! An op with certain dtypes and attrs, ready to run.

use std::cell::Cell;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::steps::EagerSteps;
use super::trace::EagerTrace;
use crate::attr::{AttrMap, AttrValue, FunctionRef};
use crate::collect::OpEntry;
use crate::device::Device;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::graph::{GRAPH_DEF_VERSION, complete_attrs};
use crate::kernel::{DynKernel, HostSlots, RawConstruction, RunInfo, Surroundings};
use crate::op::{OpDef, Signature};
use crate::registry::{NodeQuery, Registry};
use crate::runtime::call::KernelCall;
use crate::step::{Cancellation, FunctionLibrary, SessionContext, Step, block_on};
use crate::tensor::Tensor;

/// What an op gave.
pub type Computed = SmallVec<[Option<Tensor>; 2]>;

/// A kernel, and what it is told of its node.
pub(crate) struct Prepared {
    pub(crate) op: &'static OpDef,
    pub(crate) attrs: AttrMap,
    pub(crate) signature: Arc<Signature>,
    kernel: Arc<dyn DynKernel>,
    /// What is in host memory, if the device has its own.
    slots: Option<HostSlots>,
    /// The functions that the kernel calls or looks up, if it does: a call outlives their removal.
    functions: Option<Arc<dyn FunctionLibrary>>,
    #[cfg(debug_assertions)]
    inferred: Option<Box<crate::shape_inference::Inferred>>,
}

/// What kernels of an eager context run in.
#[derive(Clone, Copy)]
pub(super) struct RunIn<'c> {
    pub(super) session: &'c Arc<SessionContext>,
    pub(super) trace: &'c EagerTrace,
    pub(super) steps: &'c EagerSteps,
    /// What ends them early.
    pub(super) cancellation: Option<&'c Cancellation>,
}

impl Prepared {
    /// [`Prepared::for_node`] for calls that have no node.
    #[track_caller]
    pub(super) fn new(
        registry: &Arc<Registry>,
        device: &dyn Device,
        entry: &'static OpEntry,
        attrs: AttrMap,
        session: &Arc<SessionContext>,
        functions: &Arc<dyn FunctionLibrary>,
    ) -> Result<Prepared> {
        Prepared::for_node(&entry.def.name, registry, device, entry, attrs, session, functions)
    }

    /// Adds the attrs' defaults, checks them, finds the kernel and makes it.
    #[track_caller]
    pub(super) fn for_node(
        node: &str,
        registry: &Arc<Registry>,
        device: &dyn Device,
        entry: &'static OpEntry,
        mut attrs: AttrMap,
        session: &Arc<SessionContext>,
        functions: &Arc<dyn FunctionLibrary>,
    ) -> Result<Prepared> {
        let op = entry.def;
        complete_attrs(op, &mut attrs)?;
        let signature = Signature::new(op, &attrs)?;
        let query = NodeQuery {
            node,
            op: &op.name,
            attrs: &attrs,
            device: device.device_type(),
            capabilities: device.capabilities(),
        };
        let def = registry.find_kernel(query)?;
        let surroundings = Surroundings {
            session,
            functions,
            device,
            kernel: def,
            graph_def_version: GRAPH_DEF_VERSION,
            node: None,
            memory: &std::cell::OnceCell::new(),
            keeps_library: &Cell::default(),
        };
        let kernel = def.make(&RawConstruction {
            node,
            op,
            attrs: &attrs,
            signature: &signature,
            registry,
            device: device.device_type(),
            constants: &[],
            surroundings: Some(&surroundings),
        })?;
        let needs_them = surroundings.keeps_library.get() || attrs.iter().any(|(_, value)| calls(value));
        let functions = needs_them.then(|| functions.clone());
        let slots = device.has_own_memory().then(|| def.host_slots(op, &signature));
        Ok(Prepared {
            op,
            signature: Arc::new(signature),
            kernel: kernel.into(),
            slots,
            functions,
            #[cfg(debug_assertions)]
            inferred: crate::shape_inference::Inferred::new(entry.shape_fn, &attrs),
            attrs,
        })
    }

    /// Whether a second kernel of the same node would be another one. One that names a resource for all to share keeps nothing
    /// itself: the resource is kept by its name.
    pub(super) fn is_stateful(&self) -> bool {
        let has_name = matches!(self.attrs.get("shared_name"), Some(AttrValue::String(name)) if !name.is_empty());
        let outputs = &self.signature.outputs;
        let gives_handles = !outputs.is_empty() && outputs.iter().all(|output| output.dtype == DataType::Resource);
        let names_resource = has_name && gives_handles && self.signature.inputs.is_empty();
        self.op.is_stateful && !names_resource
    }

    /// Whether the kernel calls functions, or looks some up.
    pub(super) fn calls_functions(&self) -> bool {
        self.functions.is_some()
    }

    /// The functions that the kernel calls.
    pub(super) fn called(&self) -> impl Iterator<Item = &FunctionRef> {
        self.attrs.functions()
    }

    /// Refuses inputs of the wrong number or dtype.
    pub(super) fn check_inputs(&self, inputs: &[Tensor]) -> Result<()> {
        self.signature.check_input_count(self.op, inputs.len())?;
        for (i, (input, expected)) in inputs.iter().zip(&self.signature.inputs).enumerate() {
            if input.dtype() != expected.dtype {
                let name = self.signature.input_called(self.op, i);
                let message = format!("{name} must be {}, not {}", expected.dtype, input.dtype());
                return Err(Error::invalid_argument(message));
            }
        }
        Ok(())
    }

    /// Whether the kernel may wait.
    pub(super) fn is_async(&self) -> bool {
        self.kernel.is_async()
    }

    /// Runs the kernel on inputs that suit the signature.
    pub(super) fn run(
        &self,
        name: Option<&str>,
        device: &dyn Device,
        inputs: &mut [Option<Tensor>],
        RunIn { session, trace, steps, cancellation: outer }: RunIn<'_>,
    ) -> Result<Computed> {
        let name = name.unwrap_or(&self.op.name);
        let mut outputs = self.no_outputs();
        let failed = |error: Error| error.at_node(name, &self.op.name, device.name());
        let cancellation = Cancellation::new();
        // A step that fails cancels its own.
        let _on_cancel = outer.map(|outer| outer.forward_to(&cancellation));
        cancellation.check().map_err(failed)?;
        if let Some(slots) = &self.slots {
            bring(device, inputs, &slots.inputs).map_err(failed)?;
        }
        let step = steps.join(Step::new(session, cancellation, None));
        let is_traced = trace.is_on();
        let step = Arc::new(if is_traced { step.with_stats() } else { step });
        let call = self.call(name, device, &step);
        let computed = step.end(call.run(inputs, &mut outputs), [device]);
        if is_traced {
            device.end_trace(&step);
            trace.add(&step);
        }
        computed.and_then(|()| self.checked(outputs, device)).map_err(failed)
    }

    /// [`Prepared::run`] on a device whose memory is the host's, without holding the thread while the kernel waits.
    pub(super) async fn run_async(
        &self,
        name: &str,
        device: &dyn Device,
        mut inputs: Computed,
        session: &Arc<SessionContext>,
    ) -> Result<Computed> {
        let mut outputs = self.no_outputs();
        let step = Arc::new(Step::new(session, Cancellation::new(), None));
        let computed = self.call(name, device, &step).run_async(&mut inputs, &mut outputs).await;
        let computed = step.end(computed, [device]).and_then(|()| self.checked(outputs, device));
        computed.map_err(|error| error.at_node(name, &self.op.name, device.name()))
    }

    fn no_outputs(&self) -> Computed {
        smallvec![None; self.signature.outputs.len()]
    }

    fn call<'c>(&'c self, node: &'c str, device: &'c dyn Device, step: &'c Arc<Step>) -> KernelCall<'c> {
        KernelCall {
            node,
            op: self.op,
            signature: &self.signature,
            kernel: &self.kernel,
            device,
            pool: device.pool().map(|pool| &**pool),
            step,
            run: RunInfo::default(),
            #[cfg(debug_assertions)]
            inferred: self.inferred.as_deref(),
        }
    }

    /// The outputs, on the host; INTERNAL if one is missing.
    fn checked(&self, mut outputs: Computed, device: &dyn Device) -> Result<Computed> {
        if let Some(index) = outputs.iter().position(Option::is_none) {
            let output = self.signature.output_called(self.op, index);
            return Err(Error::internal(format!("the kernel did not set {output}")));
        }
        if let Some(slots) = &self.slots {
            bring(device, &mut outputs, &vec![true; slots.outputs.len()])?;
        }
        Ok(outputs)
    }
}

/// Whether an attr names functions.
fn calls(value: &AttrValue) -> bool {
    matches!(value, AttrValue::Func(_) | AttrValue::ListFunc(_))
}

/// Brings tensors to the host, or to the device.
fn bring(device: &dyn Device, tensors: &mut [Option<Tensor>], to_host: &[bool]) -> Result<()> {
    for (tensor, to_host) in tensors.iter_mut().zip(to_host) {
        match tensor {
            Some(tensor) if *to_host && tensor.device_memory().is_some() => *tensor = block_on(device.to_host(tensor))?,
            Some(tensor) if !to_host && tensor.device_memory().is_none() => *tensor = device.to_device(tensor)?,
            _ => {}
        }
    }
    Ok(())
}
