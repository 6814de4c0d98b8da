//! Ops run at once, without a graph.

mod cache;
mod functions;
mod node;
mod prepared;
mod steps;
mod trace;

use std::fmt;
use std::sync::{Arc, Mutex};

use smallvec::SmallVec;

use self::cache::{KernelCache, Key};
pub use self::node::NodeKernel;
pub use self::prepared::Computed;
pub(crate) use self::prepared::Prepared;
use self::prepared::RunIn;
use self::steps::EagerSteps;
use self::trace::EagerTrace;
use super::functions::{CALL_DEPTH, Functions, NoFunctions};
use super::options::RunMetadata;
use super::place::add_host;
use crate::attr::AttrMap;
use crate::device::{CpuDevice, Device};
use crate::error::{Error, Result};
use crate::graph::{
    Applied, ComputedOutput, Function, Given, Graph, IntoOperand, NodeBuilder, NodeInput, NodeRequest, OpScope,
    Operand, Outputs, created, faults_error, infer_attrs, settle,
};
use crate::op::{InOutType, Signature};
use crate::optimize::Optimizer;
use crate::registry::Registry;
use crate::step::{Cancellation, EndsSession, FunctionLibrary, SessionContext};
use crate::tensor::Tensor;

/// Runs ops at once: what wrappers take instead of a graph to compute on tensors.
///
/// ```ignore
/// let mut eager = EagerContext::new(&kernlink::registry()?)?;
/// let y = ops::mat_mul(&mut eager, a, b).transpose_b(true).build()?;
/// let z = ops::add_v2(&mut eager, y, 1.0f32).build()?;
/// ```
///
/// Kernels are kept by op, device, dtypes and attrs, so that a second call finds its kernel at once. An op with state
/// keeps it in its kernel: calls with equal dtypes and attrs share it. A change of the registry drops all kernels; those
/// without state go earlier when there are thousands of them, and are made anew in every call if their attrs are large
/// or they have no inputs, as constants do.
///
/// A clone shares registry, devices and kernels, and works on any thread.
#[derive(Clone)]
pub struct EagerContext {
    shared: Arc<Shared>,
    /// What ends ops early.
    cancellation: Option<Cancellation>,
}

struct Shared {
    registry: Arc<Registry>,
    devices: Arc<[Arc<dyn Device>]>,
    kernels: KernelCache,
    session: Arc<SessionContext>,
    ends: Arc<EndsSession>,
    trace: EagerTrace,
    steps: EagerSteps,
    /// Held by whoever adds or removes functions.
    changing: Mutex<()>,
}

impl EagerContext {
    /// A context on the CPU, with one thread per processor.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if the threads cannot be started.
    pub fn new(registry: &Arc<Registry>) -> Result<EagerContext> {
        EagerContext::on(registry, [Arc::new(CpuDevice::new(0)?) as Arc<dyn Device>])
    }

    /// A context on these devices. Ops run on the first of them unless they ask for another. What they give is on the
    /// host, also of a device with memory of its own.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there are none, or more than 255.
    pub fn on(registry: &Arc<Registry>, devices: impl IntoIterator<Item = Arc<dyn Device>>) -> Result<EagerContext> {
        let devices: Arc<[_]> = devices.into_iter().collect();
        if devices.is_empty() || devices.len() > 255 {
            let message = format!("an eager context has 1 to 255 devices, not {}", devices.len());
            return Err(Error::invalid_argument(message));
        }
        let session = Arc::new(SessionContext::new(Arc::default()));
        let ends = Arc::new(EndsSession(session));
        Ok(EagerContext::of(&Graph::new(registry), devices, ends))
    }

    /// A context in which the functions of a graph's library can be called: by [`EagerContext::call`], and by ops that call
    /// functions, such as `If` and `While`. It has the devices of this one, and one of the host's if it has none, and its
    /// resources, but kernels of its own. The functions are those that the graph has now.
    pub fn with_functions(&self, graph: &Graph) -> EagerContext {
        let Shared { devices, ends, .. } = &*self.shared;
        let mut devices = devices.to_vec();
        add_host(&mut devices);
        let context = EagerContext::of(graph, devices.into(), ends.clone());
        EagerContext { cancellation: self.cancellation.clone(), ..context }
    }

    /// The same context, whose ops fail once `cancellation` is cancelled: those that begin later, and those at work that wait,
    /// or call functions. The context that this is called on is as it was.
    #[must_use]
    pub fn cancelled_by(&self, cancellation: &Cancellation) -> EagerContext {
        EagerContext { shared: self.shared.clone(), cancellation: Some(cancellation.clone()) }
    }

    /// A context with the registry of a graph, and its functions.
    fn of(graph: &Graph, devices: Arc<[Arc<dyn Device>]>, ends: Arc<EndsSession>) -> EagerContext {
        let (registry, session) = (graph.registry().clone(), ends.0.clone());
        let kernels = KernelCache::new(library(graph, &devices, &session));
        let (trace, steps, changing) = (EagerTrace::default(), EagerSteps::default(), Mutex::default());
        let shared = Arc::new(Shared { registry, devices, kernels, session, ends, trace, steps, changing });
        EagerContext { shared, cancellation: None }
    }

    /// Calls a function of the library that the context [was given](EagerContext::with_functions); returns its results.
    /// Values for what the function [captures](Function::captures) come after the arguments. What keeps a state in the
    /// function keeps it from call to call.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such function, or `PartitionedCall`, which calls it, has no kernel; INVALID_ARGUMENT if the
    /// arguments are not what it takes; and whatever its body meets.
    #[track_caller]
    pub fn call(
        &self,
        function: &Function,
        arguments: impl IntoIterator<Item = impl IntoOperand<Tensor>>,
    ) -> Result<Vec<Tensor>> {
        let name = if function.is_stateful() { created::STATEFUL_CALL } else { created::CALL };
        let mut scope = self.clone();
        let mut call = NodeBuilder::new(&mut scope, self.registry().op(name)?.def);
        call.input_list(arguments).attr("f", function.reference()).attr("Tout", function.result_dtypes().to_vec());
        Ok(call.build_outputs()?.into_vec())
    }

    /// The registry.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.shared.registry
    }

    /// The devices, the default first.
    pub fn devices(&self) -> &[Arc<dyn Device>] {
        &self.shared.devices
    }

    /// What the ops share: resources such as variables and tables.
    pub fn session(&self) -> &Arc<SessionContext> {
        &self.shared.session
    }

    /// The functions that can be called.
    pub(crate) fn functions(&self) -> Arc<dyn FunctionLibrary> {
        self.shared.kernels.functions()
    }

    /// How many kernels are kept.
    pub fn kernel_count(&self) -> usize {
        self.shared.kernels.len()
    }

    /// Drops the kernels that are kept, and with them the state of ops that have one.
    pub fn clear_kernels(&self) {
        self.shared.kernels.clear();
    }

    /// Has statistics of every op collected from now on, of all clones of this context; see
    /// [`EagerContext::export_run_metadata`].
    pub fn enable_run_metadata(&self) {
        self.shared.trace.turn_on();
    }

    /// Collects no more statistics, and drops those that were not exported.
    pub fn disable_run_metadata(&self) {
        self.shared.trace.turn_off();
    }

    /// What the ops took that ran since statistics were [enabled](EagerContext::enable_run_metadata), or exported last. An
    /// op is known by the name that it was given, or else by the op's.
    pub fn export_run_metadata(&self) -> RunMetadata {
        self.shared.trace.export()
    }

    /// The position of the device that `name` asks for.
    fn device(&self, name: &str) -> Result<usize> {
        if name.is_empty() || name == self.shared.devices[0].name() {
            return Ok(0);
        }
        let wanted = name.to_ascii_lowercase();
        let plain = |name: &str| name.rsplit('/').next().unwrap_or(name).trim_start_matches("device:").to_owned();
        let wanted = plain(&wanted);
        let found = self.shared.devices.iter().position(|device| {
            let name = plain(&device.name().to_ascii_lowercase());
            name == wanted || name.rsplit_once(':').is_some_and(|(kind, _)| kind == wanted)
        });
        found.ok_or_else(|| {
            let known = self.shared.devices.iter().map(|device| format!("`{}`", device.name())).collect::<Vec<_>>();
            Error::invalid_argument(format!("there is no device `{name}`: this context has {}", known.join(", ")))
        })
    }
}

impl fmt::Debug for EagerContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let devices: Vec<_> = self.devices().iter().map(|device| device.name()).collect();
        f.debug_struct("EagerContext").field("devices", &devices).field("kernels", &self.kernel_count()).finish()
    }
}

impl OpScope for EagerContext {
    type Output = Tensor;
    type Node = ();

    /// Runs the op.
    #[track_caller]
    fn apply(&mut self, mut request: NodeRequest<'_, Tensor>) -> Result<Applied<EagerContext>> {
        let (prepared, outputs) = self.run(&mut request, |_| Ok(()))?;
        Ok(Applied { node: (), outputs: Outputs::new(outputs, prepared.signature.clone()) })
    }
}

impl EagerContext {
    /// Runs an op whose request may serve again: it keeps all but the inputs, which the kernel takes. `admit` is told what the op
    /// takes and gives before it runs, and may refuse it; the request keeps its inputs then, as after any failure before the
    /// kernel runs.
    ///
    /// # Errors
    /// Those of [`OpScope::apply`], and of `admit`.
    #[track_caller]
    pub fn execute(
        &self,
        request: &mut NodeRequest<'_, Tensor>,
        admit: impl FnOnce(&Signature) -> Result<()>,
    ) -> Result<SmallVec<[Tensor; 2]>> {
        let (_, outputs) = self.run(request, admit)?;
        Ok(outputs.into_iter().flatten().collect())
    }

    /// Runs an op, and empties the inputs of the request; returns what it was run by, too. `admit` is as for
    /// [`EagerContext::execute`].
    #[track_caller]
    pub(crate) fn run<V: ComputedOutput>(
        &self,
        request: &mut NodeRequest<'_, V>,
        admit: impl FnOnce(&Signature) -> Result<()>,
    ) -> Result<(Arc<Prepared>, Computed)> {
        let op = request.op;
        let device = match self.device(&request.device) {
            Ok(device) => device,
            Err(error) => return Err(error.at_node(request.name.as_deref().unwrap_or(&op.name), &op.name, "")),
        };
        settle(op, &mut request.inputs, &request.attrs, |output| Some(output.as_tensor().dtype()), &mut request.faults);
        let key = Key::new(request, device as u8);
        let shared = &*self.shared;
        let generation = shared.registry.generation();
        let device = &*shared.devices[device];
        let prepared = match key.as_ref().and_then(|key| shared.kernels.get(key, generation)) {
            Some(prepared) => prepared,
            None => self.prepared(request, key, device, generation)?,
        };
        admit(&prepared.signature)?;
        let mut inputs: SmallVec<[Option<Tensor>; 3]> = SmallVec::with_capacity(request.inputs.len());
        for input in request.inputs.drain(..) {
            match input {
                NodeInput::Single(operand) => inputs.push(Some(operand.into_tensor())),
                NodeInput::List(operands) => inputs.extend(operands.into_iter().map(Operand::into_tensor).map(Some)),
            }
        }
        let outputs = prepared.run(request.name.as_deref(), device, &mut inputs, self.surroundings())?;
        Ok((prepared, outputs))
    }

    /// What a kernel runs in.
    fn surroundings(&self) -> RunIn<'_> {
        let Shared { session, trace, steps, .. } = &*self.shared;
        RunIn { session, trace, steps, cancellation: self.cancellation.as_ref() }
    }

    /// Makes the kernel for an op, and keeps it if it has a key.
    #[cold]
    #[track_caller]
    fn prepared<V: ComputedOutput>(
        &self,
        request: &mut NodeRequest<'_, V>,
        key: Option<Key>,
        device: &dyn Device,
        generation: u64,
    ) -> Result<Arc<Prepared>> {
        let (op, shared) = (request.op, &*self.shared);
        let type_of = |output: &V| Some(InOutType { dtype: output.as_tensor().dtype(), is_ref: false });
        let given = request.inputs.iter().map(|input| Given::new(input, type_of)).collect();
        let name = request.name.as_deref().unwrap_or(&op.name);
        let faults = std::mem::take(&mut request.faults);
        let functions = shared.kernels.functions();
        let prepared = match prepare(
            shared,
            device,
            (&op.name, name),
            given,
            request.attrs.clone(),
            faults,
            &(functions.clone() as Arc<dyn FunctionLibrary>),
        ) {
            Ok(prepared) => Arc::new(prepared),
            Err(error) => return Err(error.at_node(name, &op.name, device.name())),
        };
        Ok(match key {
            Some(key) => shared.kernels.insert(key, prepared, generation, &functions),
            None => prepared,
        })
    }
}

/// The functions of a graph, which run on these devices, and on the host.
fn library(graph: &Graph, devices: &[Arc<dyn Device>], session: &Arc<SessionContext>) -> Arc<Functions> {
    let mut devices = devices.to_vec();
    add_host(&mut devices);
    Functions::library(graph, &devices.into(), session, true, &Optimizer::from_env(), CALL_DEPTH)
}

/// Checks the node and makes its kernel.
#[cold]
#[track_caller]
fn prepare(
    shared: &Shared,
    device: &dyn Device,
    (op, name): (&str, &str),
    given: SmallVec<[Given; 2]>,
    mut attrs: AttrMap,
    mut faults: Vec<String>,
    functions: &Arc<dyn FunctionLibrary>,
) -> Result<Prepared> {
    let entry = shared.registry.op(op)?;
    if let Some(arg) = entry.def.inputs.iter().chain(entry.def.outputs.iter()).find(|arg| arg.is_ref) {
        return Err(Error::unimplemented(format!(
            "op {} does not support eager execution: `{}` is a reference, which exists in graphs only",
            entry.def.name, arg.name
        )));
    }
    let advice = infer_attrs(entry.def, &given, &mut attrs, &mut faults);
    if !faults.is_empty() {
        return Err(faults_error(&faults, advice, name, entry.def));
    }
    Prepared::new(&shared.registry, device, entry, attrs, &shared.session, functions)
}

/// Runs one op on a device. `attrs` must hold what has no default, dtypes and list lengths included; `inputs` are flat,
/// lists in line.
///
/// # Errors
/// NOT_FOUND if the op or its kernel is missing; INVALID_ARGUMENT if attrs or inputs do not suit the op; and whatever
/// the kernel meets.
pub fn run_op(
    registry: &Arc<Registry>,
    device: &dyn Device,
    op: &str,
    attrs: AttrMap,
    inputs: Vec<Tensor>,
) -> Result<Vec<Tensor>> {
    let entry = registry.op(op)?;
    let session = Arc::new(SessionContext::new(Arc::default()));
    let functions: Arc<dyn FunctionLibrary> = Arc::new(NoFunctions);
    let prepared = match Prepared::new(registry, device, entry, attrs, &session, &functions) {
        Ok(prepared) => prepared,
        Err(error) => return Err(error.at_node(op, op, device.name())),
    };
    prepared.check_inputs(&inputs).map_err(|error| error.at_node(op, op, device.name()))?;
    let mut inputs: Vec<Option<Tensor>> = inputs.into_iter().map(Some).collect();
    let (trace, steps) = (EagerTrace::default(), EagerSteps::default());
    let run_in = RunIn { session: &session, trace: &trace, steps: &steps, cancellation: None };
    Ok(prepared.run(None, device, &mut inputs, run_in)?.into_iter().flatten().collect())
}
