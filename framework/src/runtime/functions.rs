//! The functions of a graph, as kernels call them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use prost::Message;

use super::executor::{Executor, Nesting, PlanRun, RunFuture};
use super::place::Placer;
use super::plan::{Plan, PlanOptions};
use crate::attr::{AttrValue, FunctionRef};
use crate::device::Device;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::optimize::{Ends, Optimizer};
use crate::proto;
use crate::step::{BoxFuture, Function, FunctionLibrary, SessionContext, Step, lock};
use crate::tensor::{ResourceHandle, Tensor};

/// How deeply calls may be nested.
const MAX_DEPTH: u32 = 1_000;

/// What all functions of a session share, and the functions as its graph sees them. It owns the bodies without state:
/// functions that call each other hold each other weakly, so that all of them go with the plans of the session.
pub(super) struct Functions {
    /// Without nodes: the functions, and the registry.
    graph: Graph,
    devices: Arc<[Arc<dyn Device>]>,
    session: Arc<SessionContext>,
    is_soft: bool,
    optimizer: Result<Optimizer>,
    own: Weak<Functions>,
    /// The bodies without state, by name, attrs and device.
    stateless: Mutex<HashMap<Key, Arc<Body>>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    /// The name and the attrs, as bytes: as text, long tensors are shortened.
    function: Vec<u8>,
    device: String,
}

/// The functions as one body sees them: what has a state is made anew for each place that calls it, but for a body that
/// calls itself.
struct Scope {
    shared: Weak<Functions>,
    /// The bodies in which this one is nested, the innermost first.
    within: Option<Arc<Within>>,
}

struct Within {
    key: Key,
    body: Weak<Body>,
    outer: Option<Arc<Within>>,
}

impl Functions {
    /// The functions of a graph.
    pub(super) fn library(
        graph: &Graph,
        devices: &Arc<[Arc<dyn Device>]>,
        session: &Arc<SessionContext>,
        is_soft: bool,
        optimizer: &Result<Optimizer>,
    ) -> Arc<dyn FunctionLibrary> {
        Arc::new_cyclic(|own| Functions {
            graph: graph.without_nodes(),
            devices: devices.clone(),
            session: session.clone(),
            is_soft,
            optimizer: optimizer.clone(),
            own: own.clone(),
            stateless: Mutex::default(),
        })
    }

    /// A function as it is called within other bodies.
    fn within(&self, outer: Option<&Arc<Within>>, call: &FunctionRef, device: &str) -> Result<Arc<dyn Function>> {
        let (arguments, results) = self.graph.function_dtypes(call)?;
        let function = proto::attr_to_proto(&AttrValue::Func(call.clone()))?.encode_to_vec();
        let key = Key { function, device: device.to_owned() };
        let body = if self.graph.is_stateful_function(&call.name) {
            let around = std::iter::successors(outer, |within| within.outer.as_ref()).find(|within| within.key == key);
            match around.map(|within| within.body.clone()).filter(|body| body.strong_count() > 0) {
                Some(body) => Held::Borrowed(body),
                None => Held::Owned(Arc::new_cyclic(|body| {
                    let within = Within { key, body: body.clone(), outer: outer.cloned() };
                    self.body(call, device, Some(Arc::new(within)), arguments.clone())
                })),
            }
        } else {
            let mut stateless = lock(&self.stateless);
            let make = || Arc::new(self.body(call, device, None, arguments.clone()));
            Held::Borrowed(Arc::downgrade(stateless.entry(key).or_insert_with(make)))
        };
        Ok(Arc::new(Instance { body, arguments, results }))
    }

    fn body(&self, call: &FunctionRef, device: &str, within: Option<Arc<Within>>, arguments: Vec<DataType>) -> Body {
        Body {
            functions: Arc::new(Scope { shared: self.own.clone(), within }),
            shared: self.own.clone(),
            call: call.clone(),
            device: device.to_owned(),
            executor: OnceLock::new(),
            planning: Mutex::default(),
            arguments,
        }
    }
}

impl FunctionLibrary for Functions {
    fn instantiate(&self, call: &FunctionRef, device: &str) -> Result<Arc<dyn Function>> {
        self.within(None, call, device)
    }
}

impl FunctionLibrary for Scope {
    fn instantiate(&self, call: &FunctionRef, device: &str) -> Result<Arc<dyn Function>> {
        let shared = self.shared.upgrade().ok_or_else(outlived)?;
        shared.within(self.within.as_ref(), call, device)
    }
}

#[cold]
fn outlived() -> Error {
    Error::internal("a function outlived what called it")
}

/// A function's body, planned when it is first called.
struct Body {
    shared: Weak<Functions>,
    functions: Arc<dyn FunctionLibrary>,
    call: FunctionRef,
    /// The device of the call.
    device: String,
    executor: OnceLock<Arc<Executor>>,
    /// Held by whoever makes the plan.
    planning: Mutex<()>,
    arguments: Vec<DataType>,
}

impl Body {
    fn executor(&self, arguments: &[Tensor]) -> Result<Arc<Executor>> {
        match self.executor.get() {
            Some(executor) => Ok(executor.clone()),
            None => self.first_executor(arguments),
        }
    }

    /// The plan, once for all who ask at the same time. One that cannot be made is tried again by the next call: memory may
    /// be free then.
    #[cold]
    fn first_executor(&self, arguments: &[Tensor]) -> Result<Arc<Executor>> {
        let _turn = lock(&self.planning);
        if let Some(executor) = self.executor.get() {
            return Ok(executor.clone());
        }
        let executor = Arc::new(Executor::new(self.make_plan(arguments)?));
        Ok(self.executor.get_or_init(|| executor).clone())
    }

    fn make_plan(&self, arguments: &[Tensor]) -> Result<Plan> {
        let shared = self.shared.upgrade().ok_or_else(outlived)?;
        let body = shared.graph.function_body(&self.call)?;
        let devices = &shared.devices;
        let held = body.arguments.iter().zip(arguments).filter_map(|(argument, tensor)| {
            let device = &tensor.as_slice::<ResourceHandle>().ok()?.first()?.device;
            Some((argument.node, device_named(devices, device)?))
        });
        let placer = Placer {
            default: device_named(devices, &self.device),
            held: held.collect(),
            ..Placer::new(devices, shared.is_soft)
        };
        let ends = Ends::new(body.arguments, body.results, body.targets);
        let options = PlanOptions {
            devices,
            placement: &placer.place(&body.graph)?,
            kernels: &Mutex::default(),
            uploads: &Mutex::default(),
            session: &shared.session,
            functions: &self.functions,
            optimizer: shared.optimizer.as_ref().map_err(Clone::clone)?,
        };
        Plan::new(&body.graph, &ends, &options)
            .map_err(|error| error.append(format!("\n  in function `{}`", self.call.name)))
    }

    fn run(&self, step: &Arc<Step>, depth: u32, arguments: Vec<Tensor>) -> Result<Arc<PlanRun>> {
        // A body may be too short for its run to ask, and be called without end by a loop that never waits.
        step.check()?;
        if depth > MAX_DEPTH {
            return Err(Error::resource_exhausted(format!(
                "function `{}` is called within {MAX_DEPTH} other calls: the recursion has no end",
                self.call.name
            )));
        }
        if arguments.len() != self.arguments.len() {
            let (given, expected) = (arguments.len(), self.arguments.len());
            let message = format!("function `{}` takes {expected} arguments, not {given}", self.call.name);
            return Err(Error::invalid_argument(message));
        }
        for (index, (argument, expected)) in arguments.iter().zip(&self.arguments).enumerate() {
            if argument.dtype() != *expected {
                return Err(Error::invalid_argument(format!(
                    "argument {index} of function `{}` must be {expected}, not {}",
                    self.call.name,
                    argument.dtype()
                )));
            }
        }
        Ok(PlanRun::new(&self.executor(&arguments)?, step, Nesting { depth, stays: false }, arguments.into()))
    }
}

fn device_named(devices: &[Arc<dyn Device>], name: &str) -> Option<u32> {
    devices.iter().position(|device| device.name() == name).map(|index| index as u32)
}

/// A function as kernels call it.
struct Instance {
    body: Held,
    arguments: Vec<DataType>,
    results: Vec<DataType>,
}

/// The body of a function.
enum Held {
    Owned(Arc<Body>),
    /// Somebody else owns it: the library, or the call around this one.
    Borrowed(Weak<Body>),
}

impl Function for Instance {
    fn argument_dtypes(&self) -> &[DataType] {
        &self.arguments
    }

    fn result_dtypes(&self) -> &[DataType] {
        &self.results
    }

    fn call(
        self: Arc<Self>,
        step: &Arc<Step>,
        depth: u32,
        arguments: Vec<Tensor>,
    ) -> BoxFuture<'static, Result<Vec<Tensor>>> {
        let run = match &self.body {
            Held::Owned(body) => body.run(step, depth, arguments),
            Held::Borrowed(body) => {
                body.upgrade().ok_or_else(outlived).and_then(|body| body.run(step, depth, arguments))
            }
        };
        match run {
            Ok(run) => Box::pin(RunFuture::new(run)),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }
}

/// The library of ops that run without a graph.
pub(super) struct NoFunctions;

impl FunctionLibrary for NoFunctions {
    fn instantiate(&self, call: &FunctionRef, _device: &str) -> Result<Arc<dyn Function>> {
        Err(Error::not_found(format!("there is no function `{}`", call.name)))
    }
}
