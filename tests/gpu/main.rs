//! The GPU in sessions: the golden cases, what a run costs, what goes wrong, and the table of docs/coverage.md that says
//! what is where, which `KERNLINK_UPDATE=1` rewrites. All of it runs on the adapter that `KERNLINK_GPU` names, or else on
//! Mesa's software one, and one test at a time ([`driver`]).

mod chains;
mod fused;
mod networks;
#[path = "../support/new_crate.rs"]
mod new_crate;
#[path = "../support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernlink::attr::AttrValue;
use kernlink::device::{CpuDevice, Device};
use kernlink::golden::{self, Report};
use kernlink::gpu::{Entry, GpuDevice, Groups, Program, Scalar, Shader};
use kernlink::graph::FunctionBuilder;
use kernlink::kernel::{CPU, ConstraintValues};
use kernlink::op::{AllowedValues, ArgType, AttrBase};
use kernlink::prelude::*;
use kernlink::registry::Registry;
use kernlink::runtime::{RunMetadata, RunOptions, without_kernel};
use kernlink::shape::PartialShape;

use support::{constant, node};

kernlink::provider!();

/// One device at a time: software drivers are not safe to start and stop at once.
fn driver() -> MutexGuard<'static, ()> {
    static DRIVER: Mutex<()> = Mutex::new(());
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of the adapter that the tests use.
fn adapter() -> String {
    std::env::var("KERNLINK_GPU").unwrap_or_else(|_| "llvmpipe".to_owned())
}

struct Opened {
    gpu: Arc<GpuDevice>,
    _guard: MutexGuard<'static, ()>,
}

fn open() -> Opened {
    open_without(&[])
}

/// A device that binds at most so many bytes at once.
fn open_with(limit: usize) -> Opened {
    let Opened { gpu, _guard } = open();
    let gpu = Arc::into_inner(gpu).expect("nobody else has it").with_binding_limit(limit);
    Opened { gpu: Arc::new(gpu), _guard }
}

/// As if the adapter lacked some capabilities.
fn open_without(capabilities: &[&str]) -> Opened {
    let guard = driver();
    let gpu = GpuDevice::open_without(0, Some(&adapter()), capabilities)
        .expect("a Vulkan driver: on Debian the package mesa-vulkan-drivers");
    Opened { gpu: Arc::new(gpu), _guard: guard }
}

impl Opened {
    fn session(&self, graph: &Graph) -> Session {
        let cpu: Arc<dyn Device> = Arc::new(CpuDevice::on_caller());
        // In the chains below two negations that follow each other would cancel, and all would be few nodes.
        let options = SessionOptions::new().without_pass("undo-twice").without_pass("fuse-element-wise");
        Session::on_devices(graph.clone(), [self.gpu.clone() as Arc<dyn Device>, cpu], &options)
    }
}

// ---- what is right ----

#[test]
fn every_case_passes_that_has_kernels_and_the_table_says_which() {
    let opened = open();
    let device: Arc<dyn Device> = opened.gpu.clone();
    let registry = kernlink::registry().unwrap();
    let mut total = Report::default();
    for file in support::golden_files() {
        let report = golden::verify(&kernlink::proto::read_graph(&file).unwrap(), &registry, &device).unwrap();
        let name = file.file_stem().unwrap().to_str().unwrap();
        println!("{name}: {} of {} cases, {} failures", report.passed(), report.cases, report.failures.len());
        total.merge(report);
    }
    let failures: BTreeSet<String> =
        total.failures.iter().map(|(case, reason)| format!("{case}: {reason}\n")).collect();
    assert!(failures.is_empty(), "{} of {} cases fail:\n{}", failures.len(), total.cases, String::from_iter(failures));
    // What has kernels depends on what the device can do.
    if ["f16", "i64"].iter().all(|capability| device.capabilities().contains(capability)) {
        support::check_coverage("gpu coverage", &table(&registry, &total), "--features cli,gpu --test gpu");
    }
}

#[test]
fn reductions_pass_without_subgroups() {
    let opened = open_without(&["subgroups"]);
    let device: Arc<dyn Device> = opened.gpu.clone();
    let registry = kernlink::registry().unwrap();
    let wanted = ["reduce", "losses"];
    for file in support::golden_files() {
        let name = file.file_stem().unwrap().to_str().unwrap();
        if wanted.contains(&name) {
            let report = golden::verify(&kernlink::proto::read_graph(&file).unwrap(), &registry, &device).unwrap();
            assert!(report.passed() > 0 && report.failures.is_empty(), "{name}: {:?}", report.failures);
        }
    }
}

#[test]
fn every_case_passes_in_windows_unless_its_kernel_takes_a_tensor_whole() {
    // The least that there is: even here many tensors are larger.
    let opened = open_with(256);
    let device: Arc<dyn Device> = opened.gpu.clone();
    let registry = kernlink::registry().unwrap();
    let (mut total, mut of_images) = (Report::default(), Report::default());
    for file in support::golden_files() {
        let report = golden::verify(&kernlink::proto::read_graph(&file).unwrap(), &registry, &device).unwrap();
        // Hardly anything but convolutions and pooling is in these.
        let is_of_images = file.ends_with("onednn.pb") || file.ends_with("fused.pb");
        if is_of_images { &mut of_images } else { &mut total }.merge(report);
    }
    // What a workgroup sorts it takes whole: with so much the steps pass, too.
    let is_sorted = |(_, reason): &(String, String)| reason.contains("`rows of a sparse step`");
    let sorted = total.failures.extract_if(.., |failure| is_sorted(failure)).count();
    assert!(sorted > 0, "no rows are sorted");
    drop((opened, device));
    let opened = open_with(8 << 10);
    let device: Arc<dyn Device> = opened.gpu.clone();
    let steps = support::golden_files().into_iter().find(|file| file.ends_with("training.pb")).unwrap();
    let report = golden::verify(&kernlink::proto::read_graph(&steps).unwrap(), &registry, &device).unwrap();
    assert!(report.passed() > sorted && report.failures.is_empty(), "{:?}", report.failures);
    let is_whole = |(_, reason): &&(String, String)| reason.contains("at most 256 at once");
    let (whole, failures): (Vec<_>, Vec<_>) = total.failures.iter().partition(is_whole);
    assert!(of_images.passed() > 0);
    let others: Vec<_> = of_images.failures.iter().filter(|failure| !is_whole(failure)).collect();
    assert!(others.is_empty(), "{} of {} cases fail: {others:?}", others.len(), of_images.cases);
    for (case, reason) in &whole {
        println!("{case}: {reason}");
    }
    assert!(failures.is_empty(), "{} of {} cases fail: {failures:?}", failures.len(), total.cases);
    // Some of them are: single images of convolutions and pooling, axes around which nothing is left to cut.
    assert!(whole.len() * 10 < total.passed(), "{} of {} cases need whole tensors", whole.len(), total.cases);
}

/// Two variables after steps of an optimiser, dense and sparse, and other updates.
fn changed(opened: &Opened) -> Vec<Vec<f32>> {
    const ROWS: usize = 3001;
    const ROW: usize = 33;
    let numbers = |rows: usize| {
        let numbers: Vec<f32> = (0..rows * ROW).map(|i| (i * 37 % 101) as f32 / 8.0).collect();
        Tensor::from_elements([rows, ROW], &numbers).unwrap()
    };
    let (float, int) = (AttrValue::Type(DataType::Float), AttrValue::Type(DataType::Int32));
    let shape = PartialShape::from_dims(&[ROWS as i64, ROW as i64]).unwrap();
    let variable = [("dtype", float.clone()), ("shape", AttrValue::Shape(shape))];
    let (dense, sparse) = ([("T", float.clone())], [("T", float), ("Tindices", int)]);
    // Some rows twice, and rows of all windows.
    let indices: Vec<i32> = (0..50).map(|i| i * 611 % ROWS as i32).chain([0, 611, 3000]).collect();
    let nodes = vec![
        constant("x", numbers(ROWS)),
        constant("some", numbers(indices.len())),
        constant("indices", Tensor::vector(&indices).unwrap()),
        constant("rate", Tensor::scalar(0.25f32)),
        node("v", "VariableV2", &[], &variable),
        node("m", "VariableV2", &[], &variable),
        node("start_v", "Assign", &["v", "x"], &dense),
        node("start_m", "Assign", &["m", "x"], &dense),
        node("step", "ApplyMomentum", &["v", "m", "rate", "x", "rate"], &dense),
        node("steps", "SparseApplyMomentum", &["v", "m", "rate", "some", "indices", "rate"], &sparse),
        node("add", "AssignAdd", &["v", "x"], &dense),
        node("scatter", "ScatterSub", &["m", "indices", "some"], &sparse),
    ];
    let graph = Graph::import(&support::graph(nodes), &kernlink::registry().unwrap()).unwrap();
    let session = opened.session(&graph);
    for targets in [&["start_v", "start_m"][..], &["step"], &["steps"], &["add"], &["scatter"]] {
        session.run(&[], &[], targets).unwrap();
    }
    let values = session.run(&[], &["v", "m"], &[]).unwrap();
    values.iter().map(|value| value.as_slice::<f32>().unwrap().to_vec()).collect()
}

#[test]
fn variables_that_are_too_large_to_bind_change_as_others_do() {
    let whole = changed(&open());
    assert!(whole == changed(&open_with(64 << 10)));
}

#[test]
fn lists_take_what_the_device_computes_and_give_it_back() {
    let opened = open();
    let (float, int) = (AttrValue::Type(DataType::Float), AttrValue::Type(DataType::Int32));
    let (dtype, element) = ([("T", float.clone())], ("element_dtype", float));
    let nodes = vec![
        constant("x", Tensor::vector(&[1.5f32, -2.0]).unwrap()),
        constant("shape", Tensor::vector(&[2i32]).unwrap()),
        constant("count", Tensor::scalar(3i32)),
        constant("one", Tensor::scalar(1i32)),
        node("list", "TensorListReserve", &["shape", "count"], &[element.clone(), ("shape_type", int)]),
        node("squares", "Mul", &["x", "x"], &dtype),
        node("set", "TensorListSetItem", &["list", "one", "squares"], std::slice::from_ref(&element)),
        node("item", "TensorListGetItem", &["set", "one", "shape"], std::slice::from_ref(&element)),
        node("rows", "TensorListStack", &["set", "shape"], std::slice::from_ref(&element)),
        node("doubled", "Add", &["item", "item"], &dtype),
        node("negated", "Neg", &["rows"], &dtype),
    ];
    let graph = Graph::import(&support::graph(nodes), &kernlink::registry().unwrap()).unwrap();
    let found = opened.session(&graph).run(&[], &["doubled", "negated"], &[]).unwrap();
    assert_eq!(found[0].as_slice::<f32>().unwrap(), [4.5, 8.0]);
    assert_eq!(found[1].as_slice::<f32>().unwrap(), [0.0, 0.0, -2.25, -4.0, 0.0, 0.0]);
}

/// What the table has a column for; other dtypes are the CPU's.
const DTYPES: [DataType; 6] =
    [DataType::Float, DataType::Half, DataType::Int32, DataType::Int64, DataType::Uint32, DataType::Bool];

/// For each op that has passed on the GPU, the dtypes with which it has, and those that the CPU has kernels for.
fn table(registry: &Registry, report: &Report) -> String {
    let mut ops: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (op, dtype) in &report.covered {
        ops.entry(op).or_default().insert(dtype);
    }
    let mut table = format!(
        "{} golden cases of {} ops in {} (op, dtype) pairs pass on a GPU that has half and int64.\n\n| op |",
        report.passed(),
        ops.len(),
        report.covered.len()
    );
    for dtype in DTYPES {
        let _ = write!(table, " {dtype} |");
    }
    table += " CPU alone |\n|---|";
    table += &"---|".repeat(DTYPES.len() + 1);
    table.push('\n');
    for (op, on_gpu) in ops {
        let on_cpu = dtypes_on_cpu(registry, op);
        let _ = write!(table, "| {op} |");
        for dtype in DTYPES {
            let name = dtype.to_string();
            let cell = match (on_gpu.contains(name.as_str()), on_cpu.contains(&dtype)) {
                (true, true) => "GPU, CPU",
                (true, false) => "GPU",
                (false, true) => "CPU",
                (false, false) => "",
            };
            let _ = write!(table, " {cell} |");
        }
        let others = on_cpu.iter().filter(|dtype| !DTYPES.contains(dtype)).map(DataType::to_string);
        let others = match on_cpu.len() == DataType::ALL.len() {
            true => "all others".to_owned(),
            false => others.collect::<Vec<_>>().join(" "),
        };
        let _ = writeln!(table, " {others} |");
    }
    table
}

/// The dtypes of an op's first type attr, or else its first output, that CPU kernels are for.
fn dtypes_on_cpu(registry: &Registry, op: &str) -> BTreeSet<DataType> {
    let def = registry.op(op).unwrap().def;
    let list = || def.attrs.iter().find(|attr| attr.ty.base == AttrBase::Type && attr.ty.list);
    let Some(attr) = golden::dtype_attr(def).or_else(list) else {
        let fixed = def.outputs.iter().filter_map(|output| match output.ty {
            ArgType::Fixed(dtype) => Some(dtype),
            _ => None,
        });
        return fixed.take(1).collect();
    };
    let allowed = match &attr.allowed {
        Some(AllowedValues::Types(types)) => &types[..],
        _ => DataType::ALL,
    };
    let kernels = registry.kernels_of(op);
    let kernels = kernels.iter().filter(|kernel| kernel.device == CPU || kernel.device.0 == "DEFAULT");
    let constraints = kernels.map(|kernel| kernel.constraints.iter().find(|constraint| constraint.attr == attr.name));
    let dtypes = constraints.flat_map(|constraint| match constraint.map(|constraint| constraint.values) {
        Some(ConstraintValues::Types(types)) => types,
        Some(_) => &[],
        None => allowed,
    });
    dtypes.copied().collect()
}

// ---- what it costs ----

/// `count` nodes, one after the other, each a short one; `y` is the square of what comes of them.
fn chain(count: usize) -> Graph {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let mut last = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    for number in 0..count {
        last = ops::neg(&mut graph, last).name(&format!("y{number}")).build().unwrap();
    }
    ops::mul(&mut graph, last, last).name("y").build().unwrap();
    graph
}

fn run(session: &Session, x: &Tensor, options: &RunOptions) -> (Tensor, RunMetadata) {
    let mut metadata = RunMetadata::default();
    let answers = session.run_with_metadata(&[("x", x.clone())], &["y"], &[], options, &mut metadata).unwrap();
    (answers[0].clone(), metadata)
}

fn count(metadata: &RunMetadata, name: &str) -> u64 {
    metadata.device_counters[0].get(name).unwrap()
}

#[test]
fn a_thousand_small_nodes_are_few_submissions() {
    let opened = open();
    let session = opened.session(&chain(999));
    let x = Tensor::vector(&[-3f32, 0.5, 2.0]).unwrap();
    let (y, metadata) = run(&session, &x, &RunOptions::new());
    assert_eq!(y.as_slice::<f32>().unwrap(), [9.0, 0.25, 4.0]);
    assert_eq!(metadata.device_counters[0].device, "/device:GPU:0");
    assert_eq!(count(&metadata, "dispatches"), 1000);
    assert!(count(&metadata, "submissions") <= 40, "{metadata:?}");
    assert_eq!((count(&metadata, "uploads"), count(&metadata, "read_backs")), (1, 1));
}

#[test]
fn the_second_run_makes_nothing_and_later_ones_keep_the_memory_level() {
    let opened = open();
    let digits = kernlink::proto::read_graph(support::path("examples/digits/digits.pb")).unwrap();
    let digits = Graph::import(&digits, &kernlink::registry().unwrap()).unwrap();
    let images = kernlink::npy::read(support::path("examples/digits/images.npy")).unwrap();
    let session = opened.session(&digits);
    let once = || {
        let mut metadata = RunMetadata::default();
        let feeds = [("images", images.clone())];
        let fetches = ["probabilities", "classes"];
        let answers = session.run_with_metadata(&feeds, &fetches, &[], &RunOptions::new(), &mut metadata).unwrap();
        let expected = kernlink::npy::read(support::path("examples/digits/probabilities.npy")).unwrap();
        golden::compare(&answers[0], &expected, Some((1e-3, 1e-3))).unwrap();
        metadata
    };
    once();
    let second = once();
    for made in ["pipelines", "bind_group_layouts", "bind_groups", "buffers"] {
        assert_eq!(count(&second, made), 0, "{made}: {second:?}");
    }
    let unused = opened.gpu.unused_memory();
    for _ in 0..20 {
        once();
    }
    assert_eq!(opened.gpu.unused_memory(), unused);
}

#[test]
fn a_trace_has_a_row_for_what_the_device_does() {
    let opened = open();
    let session = opened.session(&chain(100));
    let x = Tensor::vector(&vec![1f32; 10_000]).unwrap();
    let (_, plain) = run(&session, &x, &RunOptions::new());
    assert!(plain.step_stats.is_empty());
    let (_, metadata) = run(&session, &x, &RunOptions::new().trace(true));
    let (device, host): (Vec<_>, Vec<_>) = metadata.step_stats.iter().partition(|stats| stats.is_device_work);
    let of_gpu = host.iter().filter(|stats| stats.device == "/device:GPU:0" && !stats.op.starts_with('_'));
    assert_eq!(of_gpu.count(), 101);
    if !opened.gpu.capabilities().contains(&"timestamps") {
        return assert!(device.is_empty());
    }
    assert_eq!(device.len(), 101);
    assert!(device.iter().all(|stats| stats.device == "/device:GPU:0/stream"), "{device:?}");
    let names: BTreeSet<&str> = device.iter().map(|stats| stats.node.as_str()).collect();
    assert!(names.len() == 101 && names.contains("y7") && names.contains("y"), "{names:?}");
    // One after the other, and all of it within the run.
    for pair in device.windows(2) {
        assert!(pair[0].start + pair[0].time <= pair[1].start + std::time::Duration::from_micros(2), "{pair:?}");
    }
    let busy: std::time::Duration = device.iter().map(|stats| stats.time).sum();
    assert!(!busy.is_zero() && busy <= metadata.time, "{busy:?} of {:?}", metadata.time);
}

// ---- what goes wrong ----

/// Its shader is no WGSL.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged)]
pub(crate) struct Misspelt;

struct MisspeltKernel(Shader);

#[register_kernel(device = Gpu)]
impl OpKernel<Misspelt> for MisspeltKernel {
    fn new(_: &KernelConstruction<Misspelt>) -> Result<Self> {
        let program = Program::builder("Misspelt").read("x", Scalar::F32).write("y", Scalar::F32);
        Ok(Self(Shader::new(program.build(Entry::Elements, "fn element(i: u32) { y[i] = x[i] + true; }"))))
    }
    fn compute(&self, ctx: &mut KernelContext<Misspelt>) -> Result<()> {
        let (gpu, x) = (GpuDevice::of(ctx)?, ctx.input_at(0)?);
        let y = gpu.allocate_output(ctx, 0, x.shape().clone())?;
        gpu.dispatch(&self.0, &[x, &y], &[], Groups::Elements(x.num_elements()))?;
        ctx.set_output_at(0, y)
    }
}

/// Its output is larger than any memory.
#[register_op(input("x: float"), output("y: float"))]
pub(crate) struct Greedy;

struct GreedyKernel;

#[register_kernel(device = Gpu)]
impl OpKernel<Greedy> for GreedyKernel {
    fn new(_: &KernelConstruction<Greedy>) -> Result<Self> {
        Ok(Self)
    }
    fn compute(&self, ctx: &mut KernelContext<Greedy>) -> Result<()> {
        let y = GpuDevice::of(ctx)?.allocate_output(ctx, 0, [1 << 40])?;
        ctx.set_output_at(0, y)
    }
}

/// `x`, an op of this file as `wrong`, and `y = -x`.
fn graph_with(op: &str) -> Graph {
    let nodes = [
        support::node("x", "Placeholder", &[], &[("dtype", AttrValue::Type(DataType::Float))]),
        support::node("wrong", op, &["x"], &[]),
        support::node("y", "Neg", &["x"], &[("T", AttrValue::Type(DataType::Float))]),
    ];
    Graph::import(&support::graph(nodes), &kernlink::registry().unwrap()).unwrap()
}

#[test]
fn errors_name_the_node_and_the_device_lives_on() {
    let opened = open();
    let x = Tensor::vector(&[1f32, 2.0]).unwrap();
    for (op, code, words) in [
        ("Misspelt", Code::InvalidArgument, &["`Misspelt`", "true"][..]),
        ("Greedy", Code::ResourceExhausted, &["bytes"][..]),
    ] {
        let session = opened.session(&graph_with(op));
        for _ in 0..2 {
            let error = session.run(&[("x", x.clone())], &["wrong"], &[]).unwrap_err();
            assert_eq!(error.code(), code, "{error}");
            assert_eq!(error.node().map(|at| at.node.as_str()), Some("wrong"), "{error}");
            let text = error.to_string();
            assert!(words.iter().all(|word| text.contains(word)) && text.contains("/device:GPU:0"), "{text}");
            let (y, _) = run(&session, &x, &RunOptions::new());
            assert_eq!(y.as_slice::<f32>().unwrap(), [-1.0, -2.0]);
        }
    }
}

/// A context without a device of the host's has functions whose kernels are the host's all the same.
#[test]
fn functions_are_called_at_once_on_a_gpu_alone() {
    let opened = open();
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let function = FunctionBuilder::new("F", [DataType::Float]).build(&mut graph, |g, [x]| {
        let y = ops::neg(g, x).build()?;
        Ok([y, ops::as_string(g, y).build()?])
    });
    let gpu: Arc<dyn Device> = opened.gpu.clone();
    let context = EagerContext::on(graph.registry(), [gpu]).unwrap().with_functions(&graph);
    let found = context.call(&function.unwrap(), [Tensor::vector(&[1f32, 2.0]).unwrap()]).unwrap();
    assert_eq!(found[0].as_slice::<f32>().unwrap(), [-1.0, -2.0]);
    assert_eq!(found[1].as_slice::<TString>().unwrap(), [TString::from("-1.000000"), TString::from("-2.000000")]);
}

/// The lookup of a tf_keras model's Embedding asks to be with nodes that its function does not have.
#[test]
fn an_embedding_in_a_function_runs_on_the_gpu() {
    let opened = open();
    let class = |op: &str, name: &str, input: &str, attrs: &str| {
        format!(
            r#"node_def {{ name: "{name}" op: "{op}" {input} {attrs} attr {{ key: "_class"
               value {{ list {{ s: "loc:@embedding/embedding_lookup/1027" }} }} }} }}"#
        )
    };
    let (float, ids) = (r#"value { type: DT_FLOAT }"#, r#"attr { key: "Tindices" value { type: DT_INT32 } }"#);
    let text = format!(
        r#"node {{ name: "ids" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_INT32 }} }} }}
           node {{ name: "table" op: "VarHandleOp" attr {{ key: "dtype" {float} }} attr {{ key: "shape"
             value {{ shape {{ dim {{ size: 3 }} dim {{ size: 2 }} }} }} }} attr {{ key: "shared_name" value {{ s: "t" }} }} }}
           node {{ name: "rows" op: "Placeholder" attr {{ key: "dtype" {float} }} }}
           node {{ name: "init" op: "AssignVariableOp" input: "table" input: "rows" attr {{ key: "dtype" {float} }} }}
           node {{ name: "y" op: "StatefulPartitionedCall" input: "ids" input: "table"
             attr {{ key: "Tin" value {{ list {{ type: [DT_INT32, DT_RESOURCE] }} }} }}
             attr {{ key: "Tout" value {{ list {{ type: DT_FLOAT }} }} }} attr {{ key: "f" value {{ func {{ name: "F" }} }} }} }}
           library {{ function {{
             signature {{ name: "F" is_stateful: true input_arg {{ name: "ids" type: DT_INT32 }}
               input_arg {{ name: "table" type: DT_RESOURCE }} output_arg {{ name: "y" type: DT_FLOAT }} }}
             {} {} ret {{ key: "y" value: "same:output:0" }} }} }} versions {{ producer: 2474 }}"#,
        class(
            "ResourceGather",
            "lookup",
            r#"input: "table" input: "ids""#,
            &format!(r#"attr {{ key: "dtype" {float} }} {ids}"#)
        ),
        class("Identity", "same", r#"input: "lookup:output:0""#, &format!(r#"attr {{ key: "T" {float} }}"#)),
    );
    let def = kernlink::proto::graph_from_text(&text).unwrap();
    let session = opened.session(&Graph::import(&def, &kernlink::registry().unwrap()).unwrap());
    let rows = Tensor::from_elements([3, 2], &[0f32, 1.0, 10.0, 11.0, 20.0, 21.0]).unwrap();
    session.run(&[("rows", rows)], &[], &["init"]).unwrap();
    let found = session.run(&[("ids", Tensor::vector(&[2i32, 0]).unwrap())], &["y"], &[]).unwrap();
    assert_eq!(found[0].as_slice::<f32>().unwrap(), [20.0, 21.0, 0.0, 1.0]);
}

#[test]
fn what_is_wrong_with_elements_is_the_error_of_their_run_alone() {
    let opened = open();
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    let i = ops::placeholder(&mut graph, DataType::Int32).name("i").build().unwrap();
    let axis = ops::const_(&mut graph, Tensor::scalar(0i32), DataType::Int32).build().unwrap();
    ops::gather_v2(&mut graph, x, i, axis).name("y").build().unwrap();
    ops::neg(&mut graph, x).name("z").build().unwrap();
    let (one, other) = (opened.session(&graph), opened.session(&graph));
    let feeds = |i: [i32; 2]| [("x", Tensor::vector(&[1f32, 2.0, 3.0]).unwrap()), ("i", Tensor::vector(&i).unwrap())];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..40 {
                // Whether the gathered is fetched, something else, or nothing.
                for (fetches, targets) in [(&["y"][..], &[][..]), (&["z"], &["y"]), (&[], &["y"])] {
                    let error = one.run(&feeds([0, 3]), fetches, targets).unwrap_err();
                    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
                    assert!(error.message().contains("`y`"), "{error}");
                }
            }
        });
        for _ in 0..120 {
            let y = other.run(&feeds([2, 0]), &["y"], &[]).unwrap();
            assert_eq!(y[0].as_slice::<f32>().unwrap(), [3.0, 1.0]);
        }
    });
    assert!(one.run(&feeds([1, 1]), &[], &["y"]).is_ok());
}

#[test]
fn what_has_no_kernel_is_listed_or_refused() {
    let opened = open();
    let device: Arc<dyn Device> = opened.gpu.clone();
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Double).name("x").build().unwrap();
    let y = ops::neg(&mut graph, x).device("/device:GPU:0").name("y").build().unwrap();
    ops::neg(&mut graph, y).name("z").build().unwrap();
    let lacking = without_kernel(&graph, graph.ids(), &*device).unwrap();
    assert_eq!(lacking.into_iter().collect::<Vec<_>>(), [("Neg(T=double)".to_owned(), 2)]);
    let x = Tensor::vector(&[1f64, -2.0]).unwrap();
    let answers = opened.session(&graph).run(&[("x", x.clone())], &["z"], &[]).unwrap();
    assert_eq!(answers[0].as_slice::<f64>().unwrap(), [1.0, -2.0]);
    let strict = Session::on_devices(graph, [device], &SessionOptions::new().strict_placement(true));
    let error = strict.run(&[("x", x)], &["z"], &[]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.to_string().contains("/device:GPU:0") && error.node().is_some_and(|at| at.node == "y"), "{error}");
}

// ---- the command ----

/// What the command prints, and says besides, with the same adapter as the other tests.
fn kernlink(args: &[&str]) -> (bool, String, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_kernlink"));
    if std::env::var_os("KERNLINK_GPU").is_none() {
        command.env("KERNLINK_GPU", "llvmpipe");
    }
    let output = command.args(args).current_dir(support::path("")).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

fn good(args: &[&str]) -> (String, String) {
    let (is_good, out, err) = kernlink(args);
    assert!(is_good, "{args:?}: {out}{err}");
    (out, err)
}

#[test]
fn the_command_runs_models_on_the_gpu() {
    let _driver = driver();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gpu");
    std::fs::create_dir_all(&folder).unwrap();
    let trace = folder.join("trace.json");
    let model = ["examples/digits/digits.pb", "--input", "images=@examples/digits/images.npy", "--device", "gpu"];
    let saved = ["--save", folder.to_str().unwrap(), "--trace", trace.to_str().unwrap(), "--output", "probabilities"];
    good(&[&["run"], &model[..], &saved].concat());
    let ours = kernlink::npy::read(folder.join("probabilities.npy")).unwrap();
    let theirs = kernlink::npy::read(support::path("examples/digits/probabilities.npy")).unwrap();
    golden::compare(&ours, &theirs, Some((1e-3, 1e-3))).unwrap();
    let trace = std::fs::read_to_string(trace).unwrap();
    assert!(trace.contains("\"/device:GPU:0/stream\"") && trace.contains("\"/device:GPU:0\""), "{trace}");
    let (text, _) = good(&[&["bench"], &model[..], &["--runs", "2", "--warm-up", "2"]].concat());
    assert!(text.contains("/device:GPU:0 in a run: 0 pipelines") && text.contains("on device"), "{text}");
    let (text, _) = good(&[&["bench"], &model[..], &["--runs", "2", "--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(json["devices"]["/device:GPU:0"]["dispatches"].as_u64().unwrap() > 0, "{json}");
    let (text, _) = good(&["kernels", "--op", "Relu", "--device", "gpu"]);
    assert!(text.contains("Relu on GPU, T in [float]"), "{text}");
    let (text, _) = good(&["verify", "--device", "gpu", "--only", "Neg/", "tests/golden/data/unary.pb"]);
    assert!(text.contains("0 failed") && text.contains("skipped: Neg (") && !text.starts_with("0 passed"), "{text}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_command_says_what_runs_on_the_cpu() {
    let _driver = driver();
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Double).name("x").build().unwrap();
    ops::neg(&mut graph, x).name("y").build().unwrap();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gpu.pb");
    kernlink::proto::write_graph(&file, &graph.to_def().unwrap()).unwrap();
    let model = file.to_str().unwrap();
    let (text, _) = good(&["inspect", model, "--device", "gpu"]);
    assert!(text.contains("on the CPU, as /device:GPU:0 has no kernel for it:\n       1  Neg(T=double)"), "{text}");
    let run = ["run", model, "--input", "x=[1, 2]", "--device", "gpu"];
    let (text, said) = good(&run);
    assert!(text.contains("[-1.0 -2.0]") && said.matches("Neg(T=double)").count() == 1, "{text}{said}");
    let (is_good, _, said) = kernlink(&[&run[..], &["--no-soft-placement"]].concat());
    assert!(!is_good && said.contains("/device:GPU:0 has no kernel for Neg(T=double)"), "{said}");
    let (is_good, _, said) = kernlink(&["run", model, "--input", "x=[1, 2]", "--device", "gpu:99"]);
    assert!(!is_good && said.contains("no adapter has the number 99"), "{said}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn an_adapter_that_is_not_there_is_said_with_those_that_are() {
    let _opened = driver();
    let error = GpuDevice::open_named(0, Some("no such adapter")).map(drop).unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert!(error.message().contains("no such adapter") && error.message().contains("0: "), "{error}");
    let error = GpuDevice::open_numbered(99).map(drop).unwrap_err();
    assert!(error.code() == Code::NotFound && error.message().contains("99"), "{error}");
    // A software adapter is not taken unless it is named.
    if GpuDevice::adapters().iter().all(|adapter| adapter.is_software) {
        let error = GpuDevice::open_named(0, None).map(drop).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition);
        assert!(error.message().contains("KERNLINK_GPU"), "{error}");
    }
}

// ---- a crate of one's own ----

#[test]
fn a_new_crate_has_a_kernel_for_the_gpu() {
    let _guard = driver();
    let new = new_crate::NewCrate::write("gpu-ops", &["--gpu"]);
    new.check_format();
    let new = new.for_a_quick_build();
    let features = ["--features", "gpu"];
    let cargo = |args: &[&str]| new.cargo(&[&args[..1], &features, &args[1..]].concat());
    let tests = cargo(&["test"]);
    assert!(tests.contains("test gpu::") && tests.contains("test zero_out_keeps_one_element ... ok"), "{tests}");
    cargo(&["run", "--example", "own"]);
    let bench = ["run", "--", "bench", "own.pb", "--device", "gpu", "--no-soft-placement", "--runs", "1"];
    let text = cargo(&bench);
    assert!(text.contains("/device:GPU:0 in a run:"), "{text}");
}
