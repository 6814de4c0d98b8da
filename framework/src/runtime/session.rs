//! Sessions: run a graph, as often as wanted, from as many threads as wanted.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use smallvec::SmallVec;

use super::executor::{Executor, Nesting, PlanRun, RunFuture};
use super::functions::{CALL_DEPTH, Functions};
use super::options::{DeviceCounters, RunMetadata, RunOptions, SessionOptions};
use super::partial::PartialRun;
use super::place::{Placer, add_host};
use super::plan::layout::ROOT;
use super::plan::{Plan, PlanOptions, StatefulKernels, Uploads};
use crate::device::{CpuDevice, Device};
use crate::error::{Error, Result, shortened};
use crate::graph::{Graph, NodeId, Output};
use crate::optimize::{Ends, Optimizer};
use crate::resource::ResourceManager;
use crate::step::{self, Cancellation, EndsSession, FunctionLibrary, InterOp, SessionContext, Step, StepStats, lock};
use crate::tensor::Tensor;
use crate::threads::ThreadPool;

/// Runs a graph. Plans are kept by feeds, fetches and targets.
///
/// Variables, tables and queues belong to the session, as do the kernels of ops with state. Any number of threads may
/// run at once.
// The example needs ops: the crate `kernlink` compiles it.
#[cfg_attr(not(doctest), doc = "", doc = include_str!("../../doc/session.md"))]
pub struct Session {
    graph: Graph,
    shared: Arc<Shared>,
    made: Arc<Made>,
    /// For the first nodes, the devices on which the session that this one extends has them.
    placed: Vec<u32>,
    placement: OnceLock<Result<Vec<u32>>>,
}

/// What is made for nodes and functions as runs need them. A session and those that extend it have it in common.
struct Made {
    executors: Mutex<HashMap<Signature, Arc<Executor>>>,
    kernels: StatefulKernels,
    uploads: Uploads,
    functions: Arc<Functions>,
    is_soft: bool,
    optimizer: Result<Optimizer>,
}

/// What a session shares with its callables.
struct Shared {
    devices: Arc<[Arc<dyn Device>]>,
    context: Arc<SessionContext>,
    _ends: EndsSession,
    inter_op_pools: Vec<Arc<ThreadPool>>,
}

#[derive(PartialEq, Eq, Hash)]
struct Signature {
    is_partial: bool,
    feeds: Vec<Output>,
    fetches: Vec<Output>,
    targets: Vec<NodeId>,
}

impl Session {
    /// A session on the CPU, with one thread per processor.
    ///
    /// # Errors
    /// As [`Session::with_options`].
    pub fn new(graph: Graph) -> Result<Session> {
        Session::with_options(graph, &SessionOptions::default())
    }

    /// A session on the CPU.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for more than [`MAX_THREADS`](crate::device::MAX_THREADS) threads, or more than 256 devices.
    pub fn with_options(graph: Graph, options: &SessionOptions) -> Result<Session> {
        const MOST: usize = 256;
        if options.cpu_devices > MOST {
            let message = format!("{} CPU devices are more than {MOST}", options.cpu_devices);
            return Err(Error::invalid_argument(message));
        }
        let first = match &options.pool {
            Some(pool) => CpuDevice::on_pool(pool.clone()),
            None => CpuDevice::new(options.threads)?,
        };
        let others = (1..options.cpu_devices).map(|number| first.sibling(number)).collect::<Vec<_>>();
        let devices = std::iter::once(first).chain(others).map(|device| Arc::new(device) as Arc<dyn Device>);
        Ok(Session::on_devices(graph, devices, options))
    }

    /// A session on these devices, which several sessions may share. Of `options` all counts but the threads and how many
    /// devices there are. If none of them is of the host, one of the host's is added, without threads of its own.
    ///
    /// # Panics
    /// If there are no devices.
    pub fn on_devices(
        graph: Graph,
        devices: impl IntoIterator<Item = Arc<dyn Device>>,
        options: &SessionOptions,
    ) -> Session {
        let mut devices: Vec<_> = devices.into_iter().collect();
        assert!(!devices.is_empty(), "a session needs a device");
        add_host(&mut devices);
        let devices: Arc<[_]> = devices.into();
        let mut context = SessionContext::new(options.resources.clone().unwrap_or_default());
        if let Some(collectives) = &options.collectives {
            context = context.with_collectives(collectives.clone());
        }
        let context = Arc::new(context);
        let is_soft = !options.strict_placement;
        let optimizer = Optimizer::from_env().and_then(|optimizer| optimizer.and_without(&options.without_passes));
        let optimizer = optimizer.map(|optimizer| optimizer.with_inexact(options.inexact_rewrites));
        let depth = if options.call_depth == 0 { CALL_DEPTH } else { options.call_depth };
        let functions = Functions::library(&graph, &devices, &context, is_soft, &optimizer, depth);
        let shared = Arc::new(Shared {
            devices,
            _ends: EndsSession(context.clone()),
            context,
            inter_op_pools: options.inter_op_pools.clone(),
        });
        let made = Arc::new(Made {
            executors: Mutex::default(),
            kernels: Mutex::default(),
            uploads: Mutex::default(),
            functions,
            is_soft,
            optimizer,
        });
        Session { graph, shared, made, placed: Vec::new(), placement: OnceLock::new() }
    }

    /// A session of a graph that has grown: `graph` is a later clone of the graph that this session's was cloned from, with
    /// nodes of the same ids first and perhaps more nodes and functions.
    ///
    /// Both sessions have all in common but the graph: devices, threads, variables and other resources, the kernels of ops with
    /// state, plans, and whether they are closed. Nodes stay on the devices that they are on. Either may go first.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the first nodes are not this graph's; ALREADY_EXISTS if a function of the graph has the name of another
    /// one that the session has, such as a gradient that it made.
    pub fn extended(&self, graph: Graph) -> Result<Session> {
        if graph.nodes().len() < self.graph.nodes().len() || self.graph.ids().zip(graph.ids()).any(|(a, b)| a != b) {
            return Err(Error::invalid_argument("the graph does not begin with the nodes of the session's graph"));
        }
        self.made.functions.add_functions_of(&graph)?;
        // A call that hands out more for the sake of gradients is another node now.
        let mut kernels = lock(&self.made.kernels);
        for id in graph.superseded_since(&self.graph) {
            kernels.remove(&id);
        }
        drop(kernels);
        // A placement that fails has let nothing run.
        let placed = self.placement().map(<[u32]>::to_vec).unwrap_or_default();
        let (shared, made) = (self.shared.clone(), self.made.clone());
        Ok(Session { graph, shared, made, placed, placement: OnceLock::new() })
    }

    /// A session on a device, which several sessions may share.
    pub fn on(graph: Graph, device: Arc<dyn Device>) -> Session {
        Session::on_devices(graph, [device], &SessionOptions::default())
    }

    /// For each node, which device it runs on.
    fn placement(&self) -> Result<&[u32]> {
        let placer = || Placer { placed: &self.placed, ..Placer::new(&self.shared.devices, self.made.is_soft) };
        let place = || placer().place(&self.graph);
        self.placement.get_or_init(place).as_deref().map_err(Clone::clone)
    }

    /// The device that a node runs on.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the graph's requests cannot be met, or the node is not in the graph.
    #[track_caller]
    pub fn device_of(&self, node: NodeId) -> Result<&str> {
        self.graph.check_node(node)?;
        let device = self.placement()?.get(node.index()).copied().unwrap_or(0);
        Ok(self.shared.devices[device as usize].name())
    }

    /// The devices.
    pub fn devices(&self) -> &[Arc<dyn Device>] {
        &self.shared.devices
    }

    /// Ends what runs, with CANCELLED, and refuses what would.
    pub fn close(&self) {
        self.shared.context.closed().cancel(Error::cancelled("Session has been closed."));
    }

    /// The session's variables, tables and queues.
    pub fn resources(&self) -> &Arc<ResourceManager> {
        self.shared.context.resources()
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Runs the graph: `feeds` take the place of the outputs that they name (`node` or `node:1`), `fetches` are
    /// computed and returned in order, and the nodes in `targets` run besides. A feed may have another shape than the graph
    /// says, as with TensorFlow's sessions in C++.
    ///
    /// # Errors
    /// NOT_FOUND for a name that the graph lacks and for missing kernels (all at once); INVALID_ARGUMENT for feeds of
    /// the wrong dtype, feeds named twice, outputs that are fed and fetched, or nothing to do; and whatever a
    /// kernel meets.
    pub fn run(&self, feeds: &[(&str, Tensor)], fetches: &[&str], targets: &[&str]) -> Result<Vec<Tensor>> {
        self.run_with(feeds, fetches, targets, &RunOptions::default())
    }

    /// [`Session::run`] with options.
    ///
    /// # Errors
    /// See [`Session::run`]; DEADLINE_EXCEEDED if the time is up; CANCELLED if the session was closed, or the reason
    /// with which the run was cancelled.
    pub fn run_with(
        &self,
        feeds: &[(&str, Tensor)],
        fetches: &[&str],
        targets: &[&str],
        options: &RunOptions,
    ) -> Result<Vec<Tensor>> {
        let names: Vec<&str> = feeds.iter().map(|(name, _)| *name).collect();
        let executor = self.executor(&names, fetches, targets)?;
        let tensors: SmallVec<_> = feeds.iter().map(|(_, tensor)| tensor.clone()).collect();
        self.shared.run(&executor, tensors, options, None)
    }

    /// [`Session::run_with`] that tells what the run took, also if it fails.
    ///
    /// # Errors
    /// See [`Session::run_with`].
    pub fn run_with_metadata(
        &self,
        feeds: &[(&str, Tensor)],
        fetches: &[&str],
        targets: &[&str],
        options: &RunOptions,
        metadata: &mut RunMetadata,
    ) -> Result<Vec<Tensor>> {
        let names: Vec<&str> = feeds.iter().map(|(name, _)| *name).collect();
        let executor = self.executor(&names, fetches, targets)?;
        let tensors: SmallVec<_> = feeds.iter().map(|(_, tensor)| tensor.clone()).collect();
        self.shared.run(&executor, tensors, options, Some(metadata))
    }

    /// Prepares a run that is repeated: names are resolved and the plan laid out once.
    ///
    /// # Errors
    /// As [`Session::run`], but for what depends on the feeds' values.
    pub fn make_callable(&self, feeds: &[&str], fetches: &[&str], targets: &[&str]) -> Result<Callable> {
        Ok(Callable { executor: self.executor(feeds, fetches, targets)?, shared: self.shared.clone() })
    }

    /// [`Session::make_callable`] of outputs and nodes instead of names.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for an output or node that the graph has not; otherwise as [`Session::make_callable`].
    pub fn callable_of(&self, feeds: &[Output], fetches: &[Output], targets: &[NodeId]) -> Result<Callable> {
        feeds.iter().chain(fetches).try_for_each(|&output| self.graph.check_output(output))?;
        targets.iter().try_for_each(|&target| self.graph.check_node(target))?;
        let (feeds, fetches, targets) = (feeds.to_vec(), fetches.to_vec(), targets.to_vec());
        let executor = self.executor_for(Signature { is_partial: false, feeds, fetches, targets })?;
        Ok(Callable { executor, shared: self.shared.clone() })
    }

    /// As [`Session::make_callable`], and prepares the functions that runs can come to call, their branches and loops too:
    /// plans are laid out, kernels made and their constants packed, so that the first run finds all that the next ones do.
    ///
    /// What cannot be planned is left to the run that calls it: it may never be called. So is a function that takes
    /// variables in a session on a device with memory of its own: its plan depends on where they are, and shaders are
    /// compiled when the shapes are known. There, and where caches should be warm, a run prepares best.
    ///
    /// # Errors
    /// As [`Session::make_callable`]; RESOURCE_EXHAUSTED if there are more than 10,000 such functions.
    pub fn prepare(&self, feeds: &[&str], fetches: &[&str], targets: &[&str]) -> Result<Callable> {
        let callable = self.make_callable(feeds, fetches, targets)?;
        self.prepare_functions(feeds, fetches, targets)?;
        Ok(callable)
    }

    /// Plans the functions that a run which was planned can come to call.
    pub(crate) fn prepare_functions(&self, feeds: &[&str], fetches: &[&str], targets: &[&str]) -> Result<()> {
        let outputs = |names: &[&str]| names.iter().map(|name| self.graph.output(name)).collect::<Result<Vec<_>>>();
        let targets = targets.iter().map(|name| self.graph.find_or_suggest(name)).collect::<Result<Vec<_>>>()?;
        let needed = self.graph.needed(&outputs(feeds)?, &outputs(fetches)?, &targets);
        self.made.functions.prepare(&self.graph.functions_reached(&needed))
    }

    /// Sets up a run whose feeds come, and fetches go, in several calls of [`PartialRun::run`].
    ///
    /// # Errors
    /// As [`Session::run`], but for what depends on the feeds' values.
    pub fn partial_run_setup(&self, feeds: &[&str], fetches: &[&str], targets: &[&str]) -> Result<PartialRun> {
        let executor = self.executor_of(feeds, fetches, targets, true)?;
        self.shared.context.closed().check()?;
        let cancellation = Cancellation::new();
        let on_close = self.shared.context.closed().forward_to(&cancellation);
        let step = Arc::new(Step::new(&self.shared.context, cancellation, None));
        let run = PlanRun::new(&executor, &step, Nesting { depth: 0, stays: true }, SmallVec::new());
        let names =
            |names: &[&str]| names.iter().map(|name| name.strip_suffix(":0").unwrap_or(name).to_owned()).collect();
        Ok(PartialRun::new(names(feeds), names(fetches), (step, on_close), executor, RunFuture::new(run)))
    }

    fn executor(&self, feeds: &[&str], fetches: &[&str], targets: &[&str]) -> Result<Arc<Executor>> {
        self.executor_of(feeds, fetches, targets, false)
    }

    fn executor_of(
        &self,
        feeds: &[&str],
        fetches: &[&str],
        targets: &[&str],
        is_partial: bool,
    ) -> Result<Arc<Executor>> {
        let resolve = |names: &[&str]| names.iter().map(|name| self.graph.output(name)).collect::<Result<Vec<_>>>();
        let signature = Signature {
            is_partial,
            feeds: resolve(feeds).map_err(|error| error.context("feed"))?,
            fetches: resolve(fetches).map_err(|error| error.context("fetch"))?,
            targets: targets
                .iter()
                .map(|name| self.graph.find_or_suggest(name).map_err(|error| error.context("target")))
                .collect::<Result<_>>()?,
        };
        self.executor_for(signature)
    }

    fn executor_for(&self, signature: Signature) -> Result<Arc<Executor>> {
        let Made { executors, kernels, uploads, functions, optimizer, .. } = &*self.made;
        if signature.fetches.is_empty() && signature.targets.is_empty() {
            return Err(Error::invalid_argument("there is nothing to run: name at least one fetch or target"));
        }
        let mut seen = HashSet::new();
        if let Some(feed) = signature.feeds.iter().find(|feed| !seen.insert(**feed)) {
            return Err(Error::invalid_argument(format!(
                "`{}` is fed twice",
                shortened(&self.graph.output_name(*feed))
            )));
        }
        if let Some(fetch) = signature.fetches.iter().find(|fetch| seen.contains(*fetch)) {
            let name = self.graph.output_name(*fetch);
            return Err(Error::invalid_argument(format!("`{}` is both fed and fetched", shortened(&name))));
        }
        if let Some(executor) = lock(executors).get(&signature) {
            return Ok(executor.clone());
        }
        let Signature { is_partial, feeds, fetches, targets } = &signature;
        let mut ends = Ends::new(feeds.clone(), fetches.clone(), targets.clone());
        ends.is_partial = *is_partial;
        let optimizer = optimizer.as_ref().map_err(Clone::clone)?;
        let functions: Arc<dyn FunctionLibrary> = functions.clone();
        let options = PlanOptions {
            devices: &self.shared.devices,
            placement: self.placement()?,
            kernels,
            uploads,
            session: &self.shared.context,
            functions: &functions,
            optimizer,
            function: "",
        };
        let executor = Arc::new(Executor::new(Plan::new(&self.graph, &ends, &options)?));
        Ok(lock(executors).entry(signature).or_insert(executor).clone())
    }
}

impl Shared {
    /// Where the nodes of a run are to run.
    fn inter_op(&self, options: &RunOptions) -> Result<InterOp> {
        let index = options.inter_op_pool;
        match usize::try_from(index) {
            Err(_) if index == -1 => Ok(InterOp::Caller),
            Ok(0) if self.inter_op_pools.is_empty() => Ok(InterOp::Devices),
            Ok(index) if index < self.inter_op_pools.len() => Ok(InterOp::Pool(self.inter_op_pools[index].clone())),
            _ => Err(Error::invalid_argument(format!("Invalid inter_op_thread_pool: {index}"))),
        }
    }

    fn run(
        &self,
        executor: &Arc<Executor>,
        feeds: SmallVec<[Tensor; 4]>,
        options: &RunOptions,
        metadata: Option<&mut RunMetadata>,
    ) -> Result<Vec<Tensor>> {
        let plan = executor.plan();
        check_feeds(plan, &feeds)?;
        self.context.closed().check()?;
        let inter_op = self.inter_op(options)?;
        let counted = metadata.is_some().then(|| DeviceCounters::so_far(&self.devices));
        // What neither loops nor waits ends by itself before long.
        let ends_by_itself = !plan.waits && !plan.layout.branches;
        let cancellation = Cancellation::new();
        let on_close = (!ends_by_itself).then(|| self.context.closed().forward_to(&cancellation));
        let on_cancel = options.cancellation.as_ref().map(|outer| outer.forward_to(&cancellation));
        let deadline = options.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut step = Step::new(&self.context, cancellation, deadline).with_inter_op(inter_op);
        if options.trace {
            step = step.with_stats_in(options.stats.clone().unwrap_or_default());
        }
        let step = Arc::new(step);
        let run = PlanRun::new(executor, &step, Nesting::default(), feeds);
        let (help, is_parallel) = (run.help(), run.is_parallel());
        run.start();
        let at_once = run.take_result();
        let is_ended_elsewhere = at_once.is_none();
        let result = match at_once {
            Some(result) => {
                drop(run);
                result
            }
            None => step::block_on_until(RunFuture::begun(run), help.as_ref(), deadline, || step.time_out()),
        };
        if let Err(error) = &result
            && let Some(collectives) = self.context.collectives()
        {
            collectives.abort(&step, error);
        }
        // Others may still be about to leave the run: when it has ended nobody holds what belongs to it.
        if result.is_err() || is_ended_elsewhere || is_parallel || help.is_some() {
            step.wait_until_idle();
        }
        drop(help);
        let result = step.end_run(result, &plan.devices);
        drop((on_close, on_cancel));
        let time = step.start().elapsed();
        if options.trace {
            plan.devices.iter().for_each(|device| device.end_trace(&step));
        }
        if let (Some(metadata), Some(counted)) = (metadata, counted) {
            metadata.time = time;
            let now = DeviceCounters::so_far(&self.devices);
            metadata.device_counters = now.into_iter().zip(&counted).map(|(now, before)| now.since(before)).collect();
            metadata.step_stats = step.stats().map(StepStats::take).unwrap_or_default();
        }
        result
    }
}

/// A prepared run; see [`Session::make_callable`].
#[derive(Clone)]
pub struct Callable {
    executor: Arc<Executor>,
    shared: Arc<Shared>,
}

impl Callable {
    /// Runs with these feeds, in the order in which they were named; returns the fetches, likewise.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for feeds of the wrong number or dtype; and whatever a kernel meets.
    pub fn run(&self, feeds: &[Tensor]) -> Result<Vec<Tensor>> {
        self.run_with(feeds, &RunOptions::default())
    }

    /// [`Callable::run`] with options.
    ///
    /// # Errors
    /// See [`Callable::run`] and [`Session::run_with`].
    pub fn run_with(&self, feeds: &[Tensor], options: &RunOptions) -> Result<Vec<Tensor>> {
        self.shared.run(&self.executor, feeds.iter().cloned().collect(), options, None)
    }

    /// [`Callable::run_with`] that tells what the run took, also if it fails.
    ///
    /// # Errors
    /// See [`Callable::run_with`].
    pub fn run_with_metadata(
        &self,
        feeds: &[Tensor],
        options: &RunOptions,
        metadata: &mut RunMetadata,
    ) -> Result<Vec<Tensor>> {
        self.shared.run(&self.executor, feeds.iter().cloned().collect(), options, Some(metadata))
    }

    /// The loops of TensorFlow 1 that it has, without those of functions.
    pub fn loops(&self) -> impl Iterator<Item = LoopInfo<'_>> {
        let loops = self.executor.plan().layout.frames.iter().filter(|(index, _)| *index != ROOT);
        loops.map(|(_, frame)| LoopInfo { name: &frame.name, is_straight: frame.static_loop.is_some() })
    }
}

/// A loop of TensorFlow 1 in a prepared run; see [`Callable::loops`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopInfo<'a> {
    /// The attr `frame_name` of what leads into it.
    pub name: &'a str,
    /// Whether its iterations go straight through their nodes, in an order that the plan knows, which is the fastest way. Such
    /// a loop has the form that `tf.while_loop` gives it, an iteration of at most 256 nodes, and in it no conditional, no other
    /// loop and no kernel that waits.
    pub is_straight: bool,
}

fn check_feeds(plan: &Plan, feeds: &[Tensor]) -> Result<()> {
    if feeds.len() != plan.feeds.len() {
        return Err(Error::invalid_argument(format!("{} feeds are given, not {}", feeds.len(), plan.feeds.len())));
    }
    plan.feeds.iter().zip(feeds).try_for_each(|(info, tensor)| info.check(tensor))
}
