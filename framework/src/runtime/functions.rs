//! The functions of a graph, as kernels call them.

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use prost::Message;

use super::drop_in_turn::drop_in_turn;
use super::executor::{Executor, Nesting, PlanRun, RunFuture};
use super::place::Placer;
use super::plan::{Plan, PlanOptions};
use super::turns::Turns;
use crate::attr::{AttrValue, FunctionRef};
use crate::device::Device;
use crate::dtype::DataType;
use crate::error::{Advice, Error, Result, shortened};
use crate::graph::{FunctionBody, Graph, Output, functions_in, name_of};
use crate::optimize::{Ends, Optimizer};
use crate::proto::{self, FunctionDef};
use crate::step::{BoxFuture, Function, FunctionLibrary, HeldFunction, Holds, SessionContext, Step, lock};
use crate::tensor::{ResourceHandle, Tensor};

/// How deeply calls may be nested, unless the session says otherwise.
pub(super) const CALL_DEPTH: u32 = 1_000;

/// How many bodies are planned before they are called: functions can be written that call each other with ever new attrs.
const MOST_PREPARED: usize = 10_000;

/// How many bodies are planned for values that their callers give in every call, and how deeply such bodies may be nested:
/// other callers share a body.
const MOST_SPECIALIZED: usize = 1_000;
const MOST_NESTED: u32 = 3;

/// What was made of functions: see [`derive`](super::derive).
pub(crate) type Made = Arc<dyn Any + Send + Sync>;

/// The same, with what it goes with.
pub(super) struct Derived {
    pub(super) made: Made,
    /// The functions that it was made of.
    pub(super) calls: Vec<String>,
    /// Those that were added for it.
    pub(super) added: Vec<String>,
}

/// What all functions of a session share, and the functions as its graph sees them. It owns the bodies without state:
/// functions that call each other hold each other weakly, so that all of them go with the plans of the session.
pub(super) struct Functions {
    /// Without nodes: the functions, and the registry. Others take its place as functions are added.
    pub(super) graph: RwLock<Arc<Graph>>,
    /// What was made of the functions.
    pub(super) derived: Mutex<HashMap<Vec<u8>, Derived>>,
    /// How many hold each function that came with a graph.
    pub(super) brought: Mutex<HashMap<String, usize>>,
    /// How many hold each function that they instantiate later.
    pub(super) holds: Holds,
    devices: Arc<[Arc<dyn Device>]>,
    session: Arc<SessionContext>,
    is_soft: bool,
    optimizer: Result<Optimizer>,
    /// How deeply calls may be nested.
    call_depth: u32,
    pub(super) own: Weak<Functions>,
    /// The bodies without state, by name, attrs and device.
    stateless: Mutex<HashMap<Key, Arc<Body>>>,
    unplanned: Mutex<Unplanned>,
    preparing: Turns,
    /// How many bodies were made for values that are the same in every call.
    specialized: Arc<AtomicUsize>,
}

/// The bodies that were made, with the names of their functions, until they are looked at to plan them.
#[derive(Default)]
struct Unplanned {
    bodies: Vec<(String, Weak<Body>)>,
    /// How many there may be before those that are gone are removed.
    enough: usize,
}

impl Unplanned {
    fn push(&mut self, body: &Arc<Body>) {
        if self.bodies.len() >= self.enough {
            self.bodies.retain(|(_, body)| body.strong_count() > 0);
            self.enough = 2 * self.bodies.len() + 16;
        }
        self.bodies.push((body.call.name.clone(), Arc::downgrade(body)));
    }

    /// Takes those of these functions out. Others are not looked at: this might become the last owner of one, whose kernels
    /// would go with the list locked, and may ask for it.
    fn take(&mut self, names: &HashSet<String>) -> Vec<Arc<Body>> {
        let mut taken = Vec::new();
        self.bodies.retain(|(name, body)| {
            if names.contains(name) {
                taken.extend(body.upgrade());
                return false;
            }
            body.strong_count() > 0
        });
        taken
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    /// The name and the attrs, as bytes: as text, long tensors are shortened.
    function: Vec<u8>,
    device: String,
}

/// The functions as one body sees them: what has a state is made anew for each place that calls it, but for a body that
/// calls itself.
pub(super) struct Scope {
    pub(super) shared: Weak<Functions>,
    /// The bodies in which this one is nested, the innermost first.
    within: Option<Arc<Within>>,
    /// How many bodies around, with this one, were made for values that are the same in every call.
    specialized: u32,
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
        call_depth: u32,
    ) -> Arc<Functions> {
        Arc::new_cyclic(|own| Functions {
            graph: RwLock::new(Arc::new(graph.without_nodes())),
            derived: Mutex::default(),
            brought: Mutex::default(),
            holds: Holds::default(),
            devices: devices.clone(),
            session: session.clone(),
            is_soft,
            optimizer: optimizer.clone(),
            call_depth,
            own: own.clone(),
            stateless: Mutex::default(),
            unplanned: Mutex::default(),
            preparing: Turns::default(),
            specialized: Arc::default(),
        })
    }

    /// Whether something holds a function.
    pub(super) fn are_held(&self) -> bool {
        !lock(&self.holds).is_empty()
    }

    /// The functions that there are now.
    pub(super) fn graph(&self) -> Arc<Graph> {
        self.graph.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds those of a graph that are not there yet.
    ///
    /// # Errors
    /// ALREADY_EXISTS if there is another one of the same name.
    pub(super) fn add_functions_of(&self, graph: &Graph) -> Result<()> {
        // Nothing else adds functions meanwhile.
        let _derived = lock(&self.derived);
        let known = self.graph();
        let more = known.with_functions_of(graph)?;
        let mut brought = lock(&self.brought);
        // What somebody adds stays when what had brought it goes.
        graph.function_names().into_iter().for_each(|name| _ = brought.remove(name));
        if let Some(more) = more {
            *self.graph.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(more);
        }
        Ok(())
    }

    /// Adds functions, all or none; the time does not depend on how many there are.
    ///
    /// # Errors
    /// As [`Graph::add_functions`].
    pub(super) fn add(&self, functions: &[FunctionDef]) -> Result<()> {
        // Nothing else adds functions meanwhile.
        let _derived = lock(&self.derived);
        let mut more = Graph::clone(&self.graph());
        more.add_functions(functions)?;
        let mut brought = lock(&self.brought);
        // What somebody adds stays when what had brought it goes.
        functions.iter().for_each(|function| _ = brought.remove(name_of(function)));
        *self.graph.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(more);
        Ok(())
    }

    /// Drops the bodies of functions that went.
    pub(super) fn drop_bodies(&self, gone: &HashSet<String>) {
        let bodies: Vec<Arc<Body>> = {
            let mut stateless = lock(&self.stateless);
            stateless.extract_if(|_, body| gone.contains(&body.call.name)).map(|(_, body)| body).collect()
        };
        // The kernels of a body that goes may ask for the functions.
        drop(bodies);
    }

    /// A function as it is called within other bodies.
    fn within(&self, outer: Option<&Arc<Within>>, call: &FunctionRef, device: &str) -> Result<Arc<dyn Function>> {
        let graph = self.graph();
        let (arguments, results) = graph.function_dtypes(call)?;
        let function = proto::attr_to_proto(&AttrValue::Func(call.clone()))?.encode_to_vec();
        let key = Key { function, device: device.to_owned() };
        let reach = graph.function_reach(&call.name).unwrap_or_default();
        let body = if reach.is_stateful {
            let outer = outer.filter(|_| reach.is_recursive);
            let around = std::iter::successors(outer, |within| within.outer.as_ref()).find(|within| within.key == key);
            match around.map(|within| within.body.clone()).filter(|body| body.strong_count() > 0) {
                Some(body) => Held::Borrowed(body),
                None => {
                    let body = Arc::new_cyclic(|body| {
                        let within = Within { key, body: body.clone(), outer: outer.cloned() };
                        self.body(call, device, self.scope(Some(Arc::new(within))), arguments.clone())
                    });
                    lock(&self.unplanned).push(&body);
                    Held::Owned(body)
                }
            }
        } else {
            let mut stateless = lock(&self.stateless);
            let make = || {
                let body = Arc::new(self.body(call, device, self.scope(None), arguments.clone()));
                lock(&self.unplanned).push(&body);
                body
            };
            Held::Borrowed(Arc::downgrade(stateless.entry(key).or_insert_with(make)))
        };
        Ok(Arc::new(Instance { body, arguments, results }))
    }

    /// A function as one caller has it that always gives these values, in a body that is the `depth`-th of such; `None` if it is
    /// to be the one that others call, too: its body keeps a state or may call itself, or there are too many.
    fn specialized(
        &self,
        call: &FunctionRef,
        device: &str,
        values: Vec<(usize, Tensor)>,
        depth: u32,
    ) -> Option<Result<Arc<dyn Function>>> {
        let graph = self.graph();
        let reach = graph.function_reach(&call.name).unwrap_or_default();
        if depth > MOST_NESTED || reach.is_stateful || reach.is_recursive {
            return None;
        }
        let assumed = Assumed::new(values, &self.specialized)?;
        let instance = || -> Result<Arc<dyn Function>> {
            let (arguments, results) = graph.function_dtypes(call)?;
            let scope = Scope { shared: self.own.clone(), within: None, specialized: depth };
            let mut body = self.body(call, device, scope, arguments.clone());
            body.assumed = Some(assumed);
            let body = Arc::new(body);
            lock(&self.unplanned).push(&body);
            Ok(Arc::new(Instance { body: Held::Owned(body), arguments, results }))
        };
        Some(instance())
    }

    /// A function with this body, which no library has.
    pub(super) fn of_body(&self, body: FunctionBody, device: &str) -> Arc<dyn Function> {
        let dtype = |output: &Output| body.graph.node(output.node).signature.outputs[output.index].dtype;
        let dtypes = |outputs: &[Output]| outputs.iter().map(dtype).collect::<Vec<_>>();
        let (arguments, results) = (dtypes(&body.arguments), dtypes(&body.results));
        let mut made = self.body(&FunctionRef::default(), device, self.scope(None), arguments.clone());
        made.given = Some(body);
        Arc::new(Instance { body: Held::Owned(Arc::new(made)), arguments, results })
    }

    /// What a body sees that is nested in these, or in none.
    fn scope(&self, within: Option<Arc<Within>>) -> Scope {
        Scope { shared: self.own.clone(), within, specialized: 0 }
    }

    fn body(&self, call: &FunctionRef, device: &str, scope: Scope, arguments: Vec<DataType>) -> Body {
        Body {
            functions: Arc::new(scope),
            given: None,
            assumed: None,
            shared: self.own.clone(),
            call: call.clone(),
            device: device.to_owned(),
            call_depth: self.call_depth,
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

    fn instantiate_with(
        &self,
        call: &FunctionRef,
        device: &str,
        values: Vec<(usize, Tensor)>,
    ) -> Result<Arc<dyn Function>> {
        self.specialized(call, device, values, 1).unwrap_or_else(|| self.within(None, call, device))
    }

    fn whole(&self) -> Option<Weak<dyn FunctionLibrary>> {
        Some(self.own.clone())
    }

    fn hold(&self, call: &FunctionRef) -> Result<Option<HeldFunction>> {
        let held = HeldFunction::new(functions_in(call), &self.holds);
        // Who removes functions looks at the holds, and has them locked until the others are gone.
        let graph = self.graph();
        match held.names().iter().find(|name| !graph.has_function(name)) {
            None => Ok(Some(held)),
            Some(name) => Err(Error::not_found(format!("function `{name}` was removed"))),
        }
    }

    fn passes_on(&self, call: &FunctionRef, index: usize) -> bool {
        self.graph().passed_on(call)(index)
    }

    fn prepare(&self, names: &HashSet<String>) -> Result<()> {
        let mut left = MOST_PREPARED;
        // What goes with the last owner of a body may want its turn.
        let mut looked_at = Vec::new();
        // Whoever asks for the same functions finds them planned in the end, too.
        let _turn = self.preparing.wait();
        loop {
            looked_at.push(lock(&self.unplanned).take(names));
            let Some(bodies) = looked_at.last().filter(|bodies| !bodies.is_empty()) else { return Ok(()) };
            for (index, body) in bodies.iter().enumerate() {
                if left == 0 {
                    let mut unplanned = lock(&self.unplanned);
                    bodies[index..].iter().for_each(|body| unplanned.push(body));
                    return Err(Error::resource_exhausted(format!(
                        "more than {MOST_PREPARED} functions are to be prepared: prepare the run alone \
                         (Session::make_callable, MetaGraph::signature), which plans each when it is first called"
                    )));
                }
                left -= 1;
                body.prepare();
            }
        }
    }
}

impl FunctionLibrary for Scope {
    fn instantiate(&self, call: &FunctionRef, device: &str) -> Result<Arc<dyn Function>> {
        let shared = self.shared.upgrade().ok_or_else(outlived)?;
        shared.within(self.within.as_ref(), call, device)
    }

    fn instantiate_with(
        &self,
        call: &FunctionRef,
        device: &str,
        values: Vec<(usize, Tensor)>,
    ) -> Result<Arc<dyn Function>> {
        let shared = self.shared.upgrade().ok_or_else(outlived)?;
        let specialized = shared.specialized(call, device, values, self.specialized + 1);
        specialized.unwrap_or_else(|| shared.within(self.within.as_ref(), call, device))
    }

    fn whole(&self) -> Option<Weak<dyn FunctionLibrary>> {
        Some(self.shared.clone())
    }

    fn hold(&self, call: &FunctionRef) -> Result<Option<HeldFunction>> {
        self.shared.upgrade().ok_or_else(outlived)?.hold(call)
    }

    fn passes_on(&self, call: &FunctionRef, index: usize) -> bool {
        self.shared.upgrade().is_some_and(|shared| shared.passes_on(call, index))
    }
}

#[cold]
pub(super) fn outlived() -> Error {
    Error::internal("a function outlived what called it")
}

/// A function's body, planned when it is first called.
struct Body {
    shared: Weak<Functions>,
    functions: Arc<dyn FunctionLibrary>,
    call: FunctionRef,
    /// The device of the call.
    device: String,
    call_depth: u32,
    executor: OnceLock<Arc<Executor>>,
    /// Held by whoever makes the plan.
    planning: Mutex<()>,
    arguments: Vec<DataType>,
    /// The body itself, if it is none of the library's.
    given: Option<FunctionBody>,
    assumed: Option<Assumed>,
}

/// What the one caller of a body gives in every call, with the numbers of the arguments.
struct Assumed {
    values: Vec<(usize, Tensor)>,
    /// How many there are.
    count: Arc<AtomicUsize>,
}

impl Assumed {
    /// `None` if there are [`MOST_SPECIALIZED`] already.
    fn new(values: Vec<(usize, Tensor)>, count: &Arc<AtomicUsize>) -> Option<Assumed> {
        let assumed = Assumed { values, count: count.clone() };
        (count.fetch_add(1, Ordering::Relaxed) < MOST_SPECIALIZED).then_some(assumed)
    }
}

impl Drop for Assumed {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
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
        let plan = self.make_plan(arguments).map_err(|error| match error.node() {
            // A graph that came as a value has no name.
            _ if self.given.is_some() => error,
            Some(_) => error.in_function(&self.call.name),
            None => error.append(format_args!("\n  in function `{}`", shortened(&self.call.name))),
        });
        let executor = Arc::new(Executor::new(plan?));
        Ok(self.executor.get_or_init(|| executor).clone())
    }

    /// Makes the plan before the first call, unless it depends on where the arguments are. Whoever calls the function will
    /// meet the errors; nobody may.
    fn prepare(&self) {
        let Some(shared) = self.shared.upgrade() else { return };
        let has_own_memory = shared.devices.iter().any(|device| device.has_own_memory());
        if !has_own_memory || !self.arguments.contains(&DataType::Resource) {
            let _ = self.executor(&[]);
        }
    }

    fn make_plan(&self, arguments: &[Tensor]) -> Result<Plan> {
        let shared = self.shared.upgrade().ok_or_else(outlived)?;
        let mut body = match &self.given {
            Some(body) => body.clone(),
            None => shared.graph().function_body(&self.call)?,
        };
        if let Some(Assumed { values, .. }) = &self.assumed {
            // If they do not fit, a call says so, or the node that takes them.
            _ = body.assume(values);
        }
        let devices = &shared.devices;
        let held = body.arguments.iter().zip(arguments).filter_map(|(argument, tensor)| {
            let device = &tensor.as_slice::<ResourceHandle>().ok()?.first()?.device;
            Some((argument.node, device_named(devices, device)?))
        });
        let placer = Placer {
            default: device_named(devices, &self.device),
            held: held.collect(),
            is_body: true,
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
            function: &self.call.name,
        };
        Plan::new(&body.graph, &ends, &options)
    }

    fn run(&self, step: &Arc<Step>, depth: u32, arguments: Vec<Tensor>) -> Result<Arc<PlanRun>> {
        // A body may be too short for its run to ask, and be called without end by a loop that never waits.
        step.check()?;
        if depth > self.call_depth {
            return Err(Error::resource_exhausted(format!(
                "function `{}` is called within {} other calls, and this session lets calls be nested no deeper: either \
                 they have no end, or it must allow more",
                self.call.name, self.call_depth
            ))
            .advise(": ", Advice::NestMoreDeeply, ""));
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

impl Drop for Body {
    fn drop(&mut self) {
        if let Some(executor) = self.executor.take() {
            drop_in_turn(executor);
        }
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        let mut outer = self.outer.take();
        while let Some(mut within) = outer.and_then(Arc::into_inner) {
            outer = within.outer.take();
        }
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

impl Instance {
    fn body(&self) -> Result<Arc<Body>> {
        match &self.body {
            Held::Owned(body) => Ok(body.clone()),
            Held::Borrowed(body) => body.upgrade().ok_or_else(outlived),
        }
    }
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
        match self.body().and_then(|body| body.run(step, depth, arguments)) {
            Ok(run) => Box::pin(async move {
                // The body lives as long: what it calls may call it.
                let _owner = self;
                RunFuture::new(run).await
            }),
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// What wants the list when it goes, as a kernel may.
    struct Asks(Arc<Mutex<Unplanned>>);

    impl FunctionLibrary for Asks {
        fn instantiate(&self, _: &FunctionRef, _: &str) -> Result<Arc<dyn Function>> {
            Err(outlived())
        }
    }

    impl Drop for Asks {
        fn drop(&mut self) {
            lock(&self.0).enough = 0;
        }
    }

    #[test]
    fn a_body_may_go_while_others_are_taken_to_plan_them() {
        let (done, ended) = mpsc::channel();
        std::thread::spawn(move || {
            let unplanned = Arc::new(Mutex::new(Unplanned::default()));
            let names = HashSet::from(["asked".to_owned()]);
            let body = |name: &str| Body {
                shared: Weak::new(),
                functions: Arc::new(Asks(unplanned.clone())),
                call: FunctionRef { name: name.to_owned(), ..FunctionRef::default() },
                device: String::new(),
                call_depth: 0,
                executor: OnceLock::new(),
                planning: Mutex::default(),
                arguments: Vec::new(),
                given: None,
                assumed: None,
            };
            std::thread::scope(|scope| {
                let made = scope.spawn(|| {
                    for name in ["asked", "other"].into_iter().cycle().take(10_000) {
                        let body = Arc::new(body(name));
                        lock(&unplanned).push(&body);
                        // Whoever looks at it would become another owner, and might be the last.
                        let is_alone = (0..100).all(|_| Arc::strong_count(&body) == 1);
                        assert!(is_alone || name == "asked");
                    }
                });
                while !made.is_finished() {
                    let taken = lock(&unplanned).take(&names);
                    assert!(taken.iter().all(|body| body.call.name == "asked"));
                }
            });
            _ = done.send(());
        });
        ended.recv_timeout(Duration::from_secs(20)).expect("it waits for itself, or has panicked");
    }
}
