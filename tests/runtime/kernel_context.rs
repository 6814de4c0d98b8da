//! Services of the kernel context: forwarding inputs, running on other threads, collectives, work after `compute` returns.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kernlink::attr::AttrValue;
use kernlink::device::{CpuDevice, Device, thread_pool};
use kernlink::graph::NodeBuilder;
use kernlink::kernel::MemoryType;
use kernlink::prelude::*;
use kernlink::runtime::{RunMetadata, RunOptions, run_op};
use kernlink::step::{BoxFuture, CollectiveExecutor, CollectiveKind, CollectiveRequest, Step, Waiters, block_on};
use kernlink::tensor::{Variant, VariantValue};

fn graph() -> Graph {
    Graph::new(&kernlink::registry().unwrap())
}

fn node(graph: &mut Graph, op: &str, name: &str, inputs: &[Output], attrs: &[(&str, AttrValue)]) -> Output {
    let def = graph.registry().op(op).unwrap().def;
    let mut builder = NodeBuilder::new(graph, def);
    builder.name(name);
    inputs.iter().for_each(|&input| _ = builder.input(input));
    attrs.iter().for_each(|(name, value)| _ = builder.attr(name, value.clone()));
    Output { node: builder.build().unwrap(), index: 0 }
}

fn placeholder(graph: &mut Graph, name: &str) -> Output {
    node(graph, "Placeholder", name, &[], &[("dtype", DataType::Float.into())])
}

fn vector() -> Tensor {
    Tensor::from_elements([1000], &vec![1f32; 1000]).unwrap()
}

// ---- memory ----

/// Says for outputs `y` and `z` and for a tensor of its own which input each was made of: 0, 1, or -1 for none.
#[register_op(
    attr("first: int = 0", "Which output is made first."),
    attr("temp: bool = false", "Whether to make a tensor of its own before the outputs."),
    input("a: float"),
    input("b: float"),
    input("shape: int32"),
    output("y: float"),
    output("z: float"),
    output("taken: int32")
)]
pub(crate) struct Forwards;

struct ForwardsKernel {
    first: usize,
    temp: bool,
}

#[register_kernel(device = Cpu, host_memory = ["shape"])]
impl OpKernel<Forwards> for ForwardsKernel {
    fn new(ctx: &KernelConstruction<Forwards>) -> Result<Self> {
        Ok(ForwardsKernel { first: ctx.attrs().first as usize, temp: ctx.attrs().temp })
    }
    fn compute(&self, ctx: &mut KernelContext<Forwards>) -> Result<()> {
        ensure!(ctx.input_memory_type(0) == MemoryType::Device, Internal, "`a` is on the device");
        ensure!(ctx.input_memory_type(2) == MemoryType::Host, Internal, "`shape` is on the host");
        let address = |tensor: &Tensor| tensor.bytes().map_or(0, |bytes| bytes.as_ptr().addr());
        let inputs = [address(ctx.input_named("a")?), address(ctx.input_named("b")?)];
        ensure!(ctx.input_named("c").unwrap_err().code() == Code::InvalidArgument, Internal, "there is no `c`");
        ensure!(ctx.output_range_of("z")? == (1..2), Internal, "`z` is the second output");
        let shape = ctx.input(Forwards::A)?.shape().clone();
        let mut taken = [-1; 3];
        let mut from = |slot: usize, tensor: &Tensor| {
            taken[slot] = inputs.iter().position(|&input| input == address(tensor)).map_or(-1, |input| input as i32);
        };
        let mut temp = None;
        if self.temp {
            let tensor = ctx.forward_input_or_allocate_temp_at(&[0, 1], DataType::Float, &shape)?;
            from(2, &tensor);
            temp = Some(tensor);
        }
        for output in [self.first, 1 - self.first] {
            let tensor = ctx.forward_input_or_allocate_output_at(&[0, 1], output, &shape)?;
            from(output, &tensor);
            ctx.set_output_at(output, tensor)?;
        }
        drop(temp);
        let again = ctx.allocate_output(Forwards::Y, shape).unwrap_err();
        ensure!(again.code() == Code::Internal, Internal, "an output is allocated twice");
        ctx.set_output(Forwards::TAKEN, Tensor::vector(&taken)?)
    }
}

/// Which inputs `y`, `z` and a tensor of the kernel's own are made of.
fn taken(attrs: &[(&str, AttrValue)]) -> Vec<i32> {
    let mut graph = graph();
    let x = placeholder(&mut graph, "x");
    let shape = node(&mut graph, "Shape", "shape", &[x], &[]);
    // Nobody else has what these compute.
    let (a, b) = (node(&mut graph, "Square", "a", &[x], &[]), node(&mut graph, "Neg", "b", &[x], &[]));
    node(&mut graph, "Forwards", "it", &[a, b, shape], attrs);
    let session = Session::with_options(graph, &SessionOptions::new().threads(1)).unwrap();
    let answer = session.run(&[("x", vector())], &["it:2", "it:0", "it:1"], &[]).unwrap();
    answer[0].as_slice::<i32>().unwrap().to_vec()
}

#[test]
fn an_input_that_is_kept_for_an_output_serves_no_other() {
    let list = |values: &[i64]| AttrValue::ListInt(values.to_vec());
    let second_first = ("first", AttrValue::Int(1));
    assert_eq!(taken(&[]), [0, 1, -1]);
    assert_eq!(taken(std::slice::from_ref(&second_first)), [1, 0, -1]);
    // Input 0 is kept for `y`, though `z` comes first and would take it.
    assert_eq!(taken(&[second_first.clone(), ("_forward_input", list(&[0, 0]))]), [0, 1, -1]);
    assert_eq!(taken(&[("_forward_input", list(&[0, 1, 1, 0]))]), [1, 0, -1]);
    assert_eq!(taken(&[("_forward_input", list(&[0, 1, 1, 1]))]), [-1, 0, -1]);
    assert_eq!(taken(&[("_scoped_allocator", list(&[0, 7]))]), [-1, 0, -1]);
    let temp = ("temp", AttrValue::Bool(true));
    assert_eq!(taken(std::slice::from_ref(&temp)), [1, -1, 0]);
    assert_eq!(taken(&[temp.clone(), ("_forward_input", list(&[0, 0]))]), [0, -1, 1]);
    assert_eq!(taken(&[temp, ("_forward_input", list(&[0, 0, 1, 1]))]), [0, 1, -1]);
    // What does not fit the node is no reason to refuse it.
    assert_eq!(taken(&[("_forward_input", list(&[-1, 0, 0, 9, 5, 1, 0]))]), [0, 1, -1]);
}

/// Notes memory of both kinds.
#[register_op(output("y: float"), stateful)]
pub(crate) struct Takes;

struct TakesKernel;

#[register_kernel(device = Cpu)]
impl OpKernel<Takes> for TakesKernel {
    fn new(_: &KernelConstruction<Takes>) -> Result<Self> {
        Ok(TakesKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<Takes>) -> Result<()> {
        drop(ctx.allocate_temp(DataType::Float, [1000])?);
        ctx.record_temp_memory_allocation(24);
        ctx.record_persistent_memory_allocation(500);
        ctx.record_persistent_memory_allocation(-100);
        ensure!(ctx.temp_memory_allocated() == 4024, Internal, "temporary memory is counted");
        ensure!(ctx.persistent_memory_allocated() == 400, Internal, "memory that stays is counted");
        ctx.set_output(Takes::Y, Tensor::scalar(1f32))
    }
}

#[test]
fn statistics_tell_what_memory_is_taken_for() {
    let mut graph = graph();
    node(&mut graph, "Takes", "it", &[], &[]);
    let session = Session::new(graph).unwrap();
    let mut metadata = RunMetadata::default();
    let options = RunOptions::new().trace(true);
    session.run_with_metadata(&[], &["it"], &[], &options, &mut metadata).unwrap();
    let stats = &metadata.step_stats[0];
    assert_eq!((stats.temporary_bytes, stats.persistent_bytes, stats.output_bytes), (4024, 400, 4));
}

// ---- what is known of the node ----

/// Tells what its kernel was told when it was made.
#[register_op(
    attr("k: int = 3"),
    attr("N: int"),
    input("x: float"),
    input("sizes: int32"),
    input("things: N * resource"),
    output("told: string"),
    output("y: float")
)]
pub(crate) struct Tells;

struct TellsKernel(Vec<TString>);

#[register_kernel(device = Cpu, host_memory = ["sizes", "y"])]
impl OpKernel<Tells> for TellsKernel {
    fn new(ctx: &KernelConstruction<Tells>) -> Result<Self> {
        let def = ctx.node_def()?;
        ensure!(
            (&*def.name, &*def.op, &def.input) == (ctx.node, "Tells", &ctx.requested_inputs()),
            Internal,
            "{def:?}"
        );
        ensure!(def.device == ctx.requested_device(), Internal, "{def:?}");
        ensure!(def.attr.keys().eq(["N", "k"]), Internal, "attrs without a value in the graph are there: {def:?}");
        let surroundings = ctx.surroundings()?;
        let device = surroundings.device.downcast_ref::<CpuDevice>().map(|device| device.name().to_owned());
        let inputs = (0..ctx.signature.inputs.len()).map(|i| ctx.input_memory_type(i));
        let outputs = (0..ctx.signature.outputs.len()).map(|i| ctx.output_memory_type(i));
        let memory = inputs.chain(outputs).map(|memory| format!("{memory:?}")).collect::<Vec<_>>().join(" ");
        let told = [def.input.join(" "), def.device, device.unwrap_or_default(), memory];
        Ok(TellsKernel(told.iter().map(|text| TString::from(text.as_str())).collect()))
    }
    fn compute(&self, ctx: &mut KernelContext<Tells>) -> Result<()> {
        let y = ctx.take_input(Tells::X)?;
        ctx.set_output(Tells::TOLD, Tensor::vector(&self.0)?)?;
        ctx.set_output(Tells::Y, y)
    }
    fn trace_string(&self, ctx: &KernelContext<Tells>) -> Option<String> {
        let x = ctx.input(Tells::X).ok()?.as_slice::<f32>().ok()?;
        Some(format!("largest={}", x.iter().copied().fold(0.0, f32::max)))
    }
}

#[test]
fn a_kernel_knows_its_node_when_it_is_made_and_says_what_it_likes_in_traces() {
    let mut graph = graph();
    let x = placeholder(&mut graph, "x");
    let halves = ops::split(&mut graph, 0i32, x, 2).name("halves").build().unwrap();
    let sizes = ops::placeholder(&mut graph, DataType::Int32).name("sizes").build().unwrap();
    let handle =
        ops::var_handle_op(&mut graph, DataType::Float, PartialShape::unknown()).name("thing").build().unwrap();
    let first = ops::no_op(&mut graph).name("first").build().unwrap();
    let it = tells(&mut graph, halves[1], sizes, [handle]).device("/cpu:0").control_input(first).name("it");
    it.build().unwrap();
    let session = Session::with_options(graph, &SessionOptions::new().threads(1)).unwrap();
    let mut metadata = RunMetadata::default();
    let feeds = [("x", vector()), ("sizes", Tensor::vector(&[1i32, 2]).unwrap())];
    let answer =
        session.run_with_metadata(&feeds, &["it"], &[], &RunOptions::new().trace(true), &mut metadata).unwrap();
    let told: Vec<_> = answer[0].as_slice::<TString>().unwrap().iter().map(|text| text.to_string_lossy()).collect();
    let memory = "Device Host Host Host Host";
    assert_eq!(told, ["halves:1 sizes thing ^first", "/cpu:0", "/device:CPU:0", memory]);
    let stats = metadata.step_stats.iter().find(|stats| stats.node == "it").unwrap();
    assert_eq!((stats.inputs.as_str(), stats.outputs.as_str()), ("float[500];int32[2];", "string[4];float[500]"));
    assert_eq!(stats.kernel.as_deref(), Some("largest=1"));
    // Without a graph there is nothing to be asked for.
    let mut eager = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let handle = ops::var_handle_op(&mut eager, DataType::Float, PartialShape::unknown()).build().unwrap();
    let outputs = tells(&mut eager, vector(), [1i32], [handle]).build().unwrap();
    let told: Vec<_> = outputs.told.as_slice::<TString>().unwrap().iter().map(|text| text.to_string_lossy()).collect();
    assert_eq!(told, ["", "", "/device:CPU:0", memory]);
}

// ---- lists ----

/// Gives each of a list back, the first for an output of its own, too.
#[register_op(
    attr("N: int >= 1"),
    input("first: float"),
    input("xs: N * float"),
    output("largest: float"),
    output("ys: N * float")
)]
pub(crate) struct GivesBack;

#[register_kernel(device = Cpu)]
fn give_back(ctx: &mut KernelContext<'_, GivesBack>) -> Result<()> {
    ensure!(
        ctx.input_range(GivesBack::XS) == (1..1 + ctx.input_list(GivesBack::XS).len()),
        Internal,
        "`first` is input 0"
    );
    let xs: Vec<Tensor> = ctx.input_list(GivesBack::XS).iter().cloned().collect();
    let too_few = ctx.set_output_list(GivesBack::YS, xs[1..].to_vec()).unwrap_err();
    ensure!(too_few.code() == Code::Internal, Internal, "a list is set as a whole");
    let shape = ctx.input(GivesBack::FIRST)?.shape().clone();
    let own = ctx.input(GivesBack::FIRST)?.bytes()?.as_ptr();
    let mut largest =
        ctx.forward_first_or_allocate_output(&[GivesBack::FIRST, GivesBack::FIRST], GivesBack::LARGEST, &shape)?;
    ensure!(largest.bytes()?.as_ptr() == own, Internal, "nothing else has the first input");
    let other = ctx.forward_first_or_allocate_output(&[GivesBack::FIRST], GivesBack::LARGEST, &shape)?;
    ensure!(other.bytes()?.as_ptr() != own, Internal, "it was forwarded already");
    for x in &xs {
        for (most, &x) in largest.as_mut_slice::<f32>()?.iter_mut().zip(x.as_slice::<f32>()?) {
            *most = most.max(x);
        }
    }
    ctx.set_output(GivesBack::LARGEST, largest)?;
    ctx.set_output_list(GivesBack::YS, xs)
}

#[test]
fn lists_are_read_and_set_by_their_names() {
    let mut graph = graph();
    let x = placeholder(&mut graph, "x");
    let (a, b) = (node(&mut graph, "Neg", "a", &[x], &[]), node(&mut graph, "Square", "b", &[x], &[]));
    let first = node(&mut graph, "Exp", "first", &[x], &[]);
    gives_back(&mut graph, first, [a, b]).name("it").build().unwrap();
    let session = Session::with_options(graph, &SessionOptions::new().threads(1)).unwrap();
    let answer = session.run(&[("x", vector())], &["it", "it:1", "it:2"], &[]).unwrap();
    let firsts: Vec<f32> = answer.iter().map(|tensor| tensor.as_slice::<f32>().unwrap()[0]).collect();
    assert_eq!(firsts, [1f32.exp(), -1.0, 1.0]);
}

// ---- threads ----

/// Gives the name of its thread, and of one that its runner has.
#[register_op(input("x: float"), output("names: string"))]
pub(crate) struct Thread;

struct ThreadKernel;

fn thread_name() -> String {
    std::thread::current().name().unwrap_or_default().to_owned()
}

#[register_kernel(device = Cpu)]
impl OpKernel<Thread> for ThreadKernel {
    fn new(_: &KernelConstruction<Thread>) -> Result<Self> {
        Ok(ThreadKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<Thread>) -> Result<()> {
        let (sender, receiver) = std::sync::mpsc::channel();
        ctx.runner()?.run(move || sender.send(thread_name()).unwrap());
        let other = receiver.recv().unwrap();
        let names = [TString::from(thread_name().as_str()), TString::from(other.as_str())];
        ctx.set_output(Thread::NAMES, Tensor::vector(&names)?)
    }
}

#[test]
fn a_run_takes_the_pool_that_it_asks_for() {
    let threads = |options: &SessionOptions, index: i32| -> Result<Vec<String>> {
        let mut graph = graph();
        let x = placeholder(&mut graph, "x");
        let square = node(&mut graph, "Square", "square", &[x], &[]);
        node(&mut graph, "Thread", "it", &[square], &[]);
        let session = Session::with_options(graph, options)?;
        let answer =
            session.run_with(&[("x", vector())], &["it"], &[], &RunOptions::new().inter_op_pool(index))?.remove(0);
        Ok(answer.as_slice::<TString>()?.iter().map(|name| String::from_utf8_lossy(name.as_bytes()).into()).collect())
    };
    let plain = SessionOptions::new().threads(3);
    let two =
        plain.clone().inter_op_pool(thread_pool("first", 2).unwrap()).inter_op_pool(thread_pool("second", 2).unwrap());
    for (options, index, expected) in
        [(&plain, 0, "kernlink-"), (&two, 0, "first-"), (&two, 1, "second-"), (&plain, -1, ""), (&two, -1, "")]
    {
        let names = threads(options, index).unwrap();
        if index == -1 {
            assert_eq!(names, [thread_name(), thread_name()]);
        } else {
            // The thread that calls is one of the devices' own.
            let is_expected =
                |name: &String| name.starts_with(expected) || (expected == "kernlink-" && *name == thread_name());
            assert!(names.iter().all(is_expected), "{index}: {names:?}");
        }
    }
    for (options, index) in [(&plain, 1), (&two, 2), (&plain, -2)] {
        let error = threads(options, index).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.message().contains(&format!("Invalid inter_op_thread_pool: {index}")), "{error}");
    }
    assert_eq!(thread_pool("none", 0).map(drop).unwrap_err().code(), Code::InvalidArgument);
}

/// Waits for what nobody does, as a synchronous kernel must not.
#[register_op(output("y: float"), stateful)]
pub(crate) struct Blocks;

struct BlocksKernel;

#[register_kernel(device = Cpu)]
impl OpKernel<Blocks> for BlocksKernel {
    fn new(_: &KernelConstruction<Blocks>) -> Result<Self> {
        Ok(BlocksKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<Blocks>) -> Result<()> {
        block_on(async {});
        ctx.set_output(Blocks::Y, Tensor::scalar(1f32))
    }
}

#[test]
#[cfg(debug_assertions)]
fn a_kernel_that_blocks_its_thread_is_named() {
    let mut graph = graph();
    node(&mut graph, "Blocks", "it", &[], &[]);
    let session = Session::with_options(graph, &SessionOptions::new().threads(2)).unwrap();
    for _ in 0..2 {
        let error = session.run(&[], &["it"], &[]).unwrap_err();
        assert_eq!((error.code(), error.node().unwrap().node.as_str()), (Code::Internal, "it"));
        assert!(error.message().contains("`Blocks`") && error.message().contains("AsyncOpKernel"), "{error}");
    }
    // A thread on which no kernel runs may wait.
    assert_eq!(block_on(async { 3 }), 3);
}

// ---- after the kernel's end ----

/// Goes on for a while after it has set its output, and fails then if it is asked to.
#[register_op(attr("fails: bool"), attr("panics: bool = false"), output("y: float"), stateful)]
pub(crate) struct GoesOn;

struct GoesOnKernel {
    fails: bool,
    panics: bool,
}

static WENT_ON: AtomicBool = AtomicBool::new(false);

#[register_kernel(device = Cpu)]
impl OpKernel<GoesOn> for GoesOnKernel {
    fn new(ctx: &KernelConstruction<GoesOn>) -> Result<Self> {
        Ok(GoesOnKernel { fails: ctx.attrs().fails, panics: ctx.attrs().panics })
    }
    fn compute(&self, ctx: &mut KernelContext<GoesOn>) -> Result<()> {
        ctx.set_output(GoesOn::Y, Tensor::scalar(1f32))?;
        if self.panics {
            ctx.runner()?.run(|| panic!("as asked"));
            return Ok(());
        }
        let (deferred, fails) = (ctx.defer()?, self.fails);
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            WENT_ON.store(true, Ordering::SeqCst);
            if fails {
                deferred.fail(Error::new(Code::DataLoss, "too late"));
            }
        });
        Ok(())
    }
}

#[test]
fn a_run_waits_for_what_was_deferred() {
    let mut graph = graph();
    node(&mut graph, "GoesOn", "well", &[], &[("fails", false.into())]);
    node(&mut graph, "GoesOn", "badly", &[], &[("fails", true.into())]);
    node(&mut graph, "GoesOn", "panics", &[], &[("fails", true.into()), ("panics", true.into())]);
    let session = Session::with_options(graph, &SessionOptions::new().threads(2)).unwrap();
    for (name, expected) in [("well", None), ("badly", Some(Code::DataLoss))] {
        WENT_ON.store(false, Ordering::SeqCst);
        let result = session.run(&[], &[name], &[]);
        assert!(WENT_ON.load(Ordering::SeqCst), "{name}: the run has ended too early");
        assert_eq!(result.err().map(|error| error.code()), expected);
    }
    assert_eq!(session.run(&[], &["panics"], &[]).unwrap_err().code(), Code::Internal);
    session.run(&[], &["well"], &[]).unwrap();
    // So does one whose fetches go one by one.
    for (name, expected) in [("well", None), ("badly", Some(Code::DataLoss))] {
        WENT_ON.store(false, Ordering::SeqCst);
        let run = session.partial_run_setup(&[], &[name], &[]).unwrap();
        let result = run.run(&[], &[name]);
        assert!(WENT_ON.load(Ordering::SeqCst), "{name}: the partial run has ended too early");
        assert_eq!(result.err().map(|error| error.code()), expected);
    }
    // An op that runs at once does so, too.
    let (registry, device) = (kernlink::registry().unwrap(), CpuDevice::new(2).unwrap());
    let eager = |fails: bool, panics: bool| {
        WENT_ON.store(false, Ordering::SeqCst);
        let attrs = [("fails", fails), ("panics", panics)].map(|(name, value)| (name.to_owned(), value.into()));
        run_op(&registry, &device, "GoesOn", attrs.into_iter().collect(), Vec::new())
    };
    for (fails, expected) in [(false, None), (true, Some(Code::DataLoss))] {
        let result = eager(fails, false);
        assert!(WENT_ON.load(Ordering::SeqCst), "the op has ended too early");
        assert_eq!(result.err().map(|error| error.code()), expected);
    }
    assert_eq!(eager(false, true).unwrap_err().code(), Code::Internal);
}

// ---- what is dead ----

/// Tells whether its input is dead.
#[register_op(input("x: float"), output("y: float"), stateful)]
pub(crate) struct TakesDead;

struct TakesDeadKernel;

static DEAD_SEEN: AtomicUsize = AtomicUsize::new(0);

#[register_kernel(device = Cpu)]
impl OpKernel<TakesDead> for TakesDeadKernel {
    fn new(_: &KernelConstruction<TakesDead>) -> Result<Self> {
        Ok(TakesDeadKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<TakesDead>) -> Result<()> {
        if ctx.is_input_dead() {
            DEAD_SEEN.fetch_add(1, Ordering::SeqCst);
            return Ok(());
        }
        let x = ctx.take_input(TakesDead::X)?;
        ctx.set_output(TakesDead::Y, x)
    }
    fn takes_dead_inputs(&self) -> bool {
        true
    }
}

#[test]
fn a_kernel_may_learn_that_its_input_is_dead() {
    let mut graph = graph();
    let x = placeholder(&mut graph, "x");
    let pred = node(&mut graph, "Placeholder", "pred", &[], &[("dtype", DataType::Bool.into())]);
    let switch = node(&mut graph, "Switch", "switch", &[x, pred], &[]);
    let seen = node(&mut graph, "TakesDead", "seen", &[Output { index: 1, ..switch }], &[]);
    node(&mut graph, "Neg", "neg", &[seen], &[]);
    let session = Session::with_options(graph, &SessionOptions::new().threads(2)).unwrap();
    let run = |pred: bool| session.run(&[("x", vector()), ("pred", Tensor::scalar(pred))], &["neg"], &[]);
    assert_eq!(run(true).unwrap()[0].as_slice::<f32>().unwrap()[9], -1.0);
    assert_eq!(DEAD_SEEN.load(Ordering::SeqCst), 0);
    assert_eq!(run(false).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(DEAD_SEEN.load(Ordering::SeqCst), 1);
}

// ---- together with others ----

type Key = (i32, i64, i64);

/// Adds the members' tensors up, within this process.
#[derive(Default)]
struct Sums {
    /// The sum, and how many brought something, by group, instance and step.
    state: Mutex<HashMap<Key, (f32, usize)>>,
    changed: Waiters,
    aborted: Mutex<Vec<Code>>,
}

impl CollectiveExecutor for Sums {
    fn execute<'a>(&'a self, step: &'a Step, request: CollectiveRequest) -> BoxFuture<'a, Result<Tensor>> {
        Box::pin(async move {
            ensure!(
                matches!(&request.kind, CollectiveKind::Reduce { merge_op, .. } if merge_op == "Add"),
                Unimplemented,
                "only sums are known"
            );
            let key = (request.group_key, request.instance_key, step.id());
            let own: f32 = request.input.ok_or_else(|| Error::invalid_argument("there is no input"))?.to_scalar()?;
            {
                let mut state = self.state.lock().unwrap();
                let (sum, members) = state.entry(key).or_default();
                *sum += own;
                *members += 1;
            }
            self.changed.wake_all();
            let complete =
                || Some(self.state.lock().unwrap()[&key]).filter(|(_, members)| *members >= request.group_size);
            let (sum, _) = self.changed.until(complete).await;
            Ok(Tensor::scalar(sum))
        })
    }

    fn abort(&self, _: &Step, reason: &Error) {
        self.aborted.lock().unwrap().push(reason.code());
    }
}

/// The sum of what all members of a group bring.
#[register_op(attr("group_size: int"), input("x: float"), output("sum: float"), stateful)]
pub(crate) struct AllSum;

struct AllSumKernel {
    group_size: usize,
}

#[register_kernel(device = Cpu)]
impl AsyncOpKernel<AllSum> for AllSumKernel {
    fn new(ctx: &KernelConstruction<AllSum>) -> Result<Self> {
        Ok(AllSumKernel { group_size: ctx.attrs().group_size as usize })
    }
    async fn compute(&self, ctx: &mut KernelContext<'_, AllSum>) -> Result<()> {
        let kind = CollectiveKind::Reduce { merge_op: "Add".to_owned(), final_op: "Id".to_owned() };
        let request = CollectiveRequest {
            kind,
            group_key: 1,
            group_size: self.group_size,
            instance_key: 7,
            device: ctx.device_name().to_owned(),
            dtype: DataType::Float,
            input: Some(ctx.input(AllSum::X)?.clone()),
        };
        let sum = ctx.collectives()?.execute(ctx.step()?, request).await?;
        ctx.set_output(AllSum::SUM, sum)
    }
}

#[test]
fn devices_add_up_together_through_the_sessions_executor() {
    let members = |size: i64| {
        let mut graph = graph();
        for (name, sum, device) in [("x", "a", "/cpu:0"), ("y", "b", "/cpu:1")] {
            let x = placeholder(&mut graph, name);
            let def = graph.registry().op("AllSum").unwrap().def;
            let mut builder = NodeBuilder::new(&mut graph, def);
            builder.name(sum).input(x).device(device).attr("group_size", AttrValue::Int(size));
            builder.build().unwrap();
        }
        graph
    };
    let feeds = [("x", Tensor::scalar(3f32)), ("y", Tensor::scalar(4f32))];
    for threads in [1, 2] {
        let sums = Arc::new(Sums::default());
        let options = SessionOptions::new().threads(threads).cpu_devices(2).collectives(sums.clone());
        let session = Session::with_options(members(2), &options).unwrap();
        for _ in 0..3 {
            let answer = session.run(&feeds, &["a", "b"], &[]).unwrap();
            assert!(answer.iter().all(|sum| sum.to_scalar::<f32>().unwrap() == 7.0));
        }
        assert!(sums.aborted.lock().unwrap().is_empty());
        // A member that never comes: the others are told when the time is up.
        let session = Session::with_options(members(3), &options).unwrap();
        let limit = RunOptions::new().timeout(Duration::from_secs(1));
        let error = session.run_with(&feeds, &["a", "b"], &[], &limit).unwrap_err();
        assert_eq!(error.code(), Code::DeadlineExceeded);
        assert_eq!(*sums.aborted.lock().unwrap(), [Code::DeadlineExceeded]);
    }
    let session = Session::with_options(members(2), &SessionOptions::new().cpu_devices(2)).unwrap();
    let error = session.run(&feeds, &["a", "b"], &[]).unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition);
    assert!(error.message().contains("collective executor"), "{error}");
}

// ---- panics of the runtime ----

/// Panics when it is dropped.
struct Bomb;

impl VariantValue for Bomb {
    fn type_name(&self) -> &'static str {
        "Bomb"
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Makes a value that panics when the runtime drops it.
#[register_op(output("bomb: variant"), output("y: float"), stateful)]
pub(crate) struct MakeBomb;

struct MakeBombKernel;

#[register_kernel(device = Cpu)]
impl OpKernel<MakeBomb> for MakeBombKernel {
    fn new(_: &KernelConstruction<MakeBomb>) -> Result<Self> {
        Ok(MakeBombKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<MakeBomb>) -> Result<()> {
        ctx.set_output(MakeBomb::BOMB, Tensor::scalar(Variant::new(Bomb)))?;
        ctx.set_output(MakeBomb::Y, Tensor::scalar(1f32))
    }
}

/// Waits for ever, while other nodes run.
#[register_op(input("x: float"), output("y: float"), stateful)]
pub(crate) struct Never;

struct NeverKernel;

#[register_kernel(device = Cpu)]
impl AsyncOpKernel<Never> for NeverKernel {
    fn new(_: &KernelConstruction<Never>) -> Result<Self> {
        Ok(NeverKernel)
    }
    async fn compute(&self, _: &mut KernelContext<'_, Never>) -> Result<()> {
        std::future::pending().await
    }
}

#[test]
fn a_panic_outside_of_kernels_fails_the_run_and_nothing_else() {
    let mut graph = graph();
    let bomb = node(&mut graph, "MakeBomb", "bomb", &[], &[]);
    let x = placeholder(&mut graph, "x");
    node(&mut graph, "Never", "never", &[x], &[]);
    let sum = node(&mut graph, "Neg", "after", &[Output { index: 1, ..bomb }], &[]);
    node(&mut graph, "Square", "square", &[x], &[]);
    _ = sum;
    let pools = SessionOptions::new().threads(2).inter_op_pool(thread_pool("others", 2).unwrap());
    for (options, index) in [(SessionOptions::new().threads(2), 0), (pools, 0), (SessionOptions::new().threads(1), -1)]
    {
        let session = Session::with_options(graph.clone(), &options).unwrap();
        let options = RunOptions::new().inter_op_pool(index);
        for _ in 0..3 {
            let error = session.run_with(&[("x", vector())], &["after", "never"], &[], &options).unwrap_err();
            assert_eq!(error.code(), Code::Internal);
            assert!(error.message().ends_with(": dropped"), "{error}");
            let answer = session.run_with(&[("x", vector())], &["square"], &[], &options).unwrap();
            assert_eq!(answer[0].as_slice::<f32>().unwrap()[5], 1.0);
        }
    }
}
