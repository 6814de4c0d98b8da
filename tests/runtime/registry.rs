//! The registry while the program runs: registrations, removals, and who sees them when.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::collect::{self, OpEntry};
use kernlink::device::CpuDevice;
use kernlink::graph::NodeBuilder;
use kernlink::kernel::{CPU, DeviceType, DynKernel, GPU, KernelDef, KernelDefBuilder, RawConstruction, RawContext};
use kernlink::op::{OpDef, OpDefBuilder};
use kernlink::prelude::*;
use kernlink::registry::{KernelFilter, NodeQuery, Registry};
use kernlink::runtime::run_op;

/// A registry of the linked ops, with their kernels on the CPU that have no label, for one test alone.
fn registry() -> Arc<Registry> {
    let kernels = collect::linked_kernels().filter(|kernel| kernel.device == CPU && kernel.label.is_empty());
    Arc::new(Registry::new(collect::linked_ops(), kernels).unwrap())
}

fn named(name: &str) -> OpDef {
    OpDef { name: name.to_owned().into(), ..OpDef::EMPTY }
}

fn nothing(_: &RawConstruction<'_>) -> Result<Box<dyn DynKernel>> {
    Err(Error::unimplemented("nothing"))
}

fn query<'a>(op: &'a str, attrs: &'a AttrMap) -> NodeQuery<'a> {
    NodeQuery { node: "node", op, attrs, device: CPU, capabilities: &[] }
}

fn of(dtype: DataType) -> AttrMap {
    let mut attrs = AttrMap::new();
    attrs.insert("T", dtype);
    attrs
}

#[track_caller]
fn expect<T>(result: Result<T>, code: Code, words: &[&str]) {
    let error = result.err().expect("an error");
    assert_eq!(error.code(), code, "{error}");
    words.iter().for_each(|word| assert!(error.to_string().contains(word), "`{word}` is not in: {error}"));
}

/// Takes any two matrices to their `a`.
struct TakesA;

impl OpKernel<ops::MatMul> for TakesA {
    fn new(_: &KernelConstruction<ops::MatMul>) -> Result<Self> {
        Ok(TakesA)
    }
    fn compute(&self, ctx: &mut KernelContext<ops::MatMul>) -> Result<()> {
        let a = ctx.input(ops::MatMul::A)?.clone();
        ctx.set_output(ops::MatMul::PRODUCT, a)
    }
}

fn takes_a(priority: i32) -> &'static KernelDef {
    let builder = KernelDefBuilder::new("MatMul", CPU).types("T", &[DataType::Float]).priority(priority);
    builder.kernel::<ops::MatMul, TakesA>().unwrap()
}

// ---- ops ----

#[test]
fn ops_are_registered_while_the_program_runs() {
    let registry = registry();
    let generation = registry.generation();
    expect(registry.op("Later"), Code::NotFound, &["`Later`"]);
    registry.register_op(named("Later"), None).unwrap();
    assert_eq!(registry.op("Later").unwrap().def.name, "Later");
    assert!(registry.generation() > generation);
    assert!(registry.ops().map(|op| &*op.def.name).is_sorted());
    expect(registry.register_op(named("Later"), None), Code::AlreadyExists, &["Later", "tests/runtime/registry.rs"]);
    expect(registry.register_op(named("MatMul"), None), Code::AlreadyExists, &["kernlink-ops", "matrix.rs"]);
    let mut graph = Graph::new(&registry);
    let def = registry.op("Later").unwrap().def;
    NodeBuilder::new(&mut graph, def).build().unwrap();
}

#[test]
fn registrations_can_wait() {
    let registry = registry();
    registry.defer_registrations();
    for name in ["A1", "MatMul", "A2"] {
        registry.register_op(named(name), None).unwrap();
    }
    assert!(registry.op("A1").is_err());
    expect(registry.process_registrations(), Code::AlreadyExists, &["MatMul"]);
    assert!(registry.op("A1").is_ok() && registry.op("A2").is_err());
    registry.register_op(named("A3"), None).unwrap();
    assert!(registry.op("A3").is_ok());
    registry.defer_registrations();
    registry.register_op(named("A4"), None).unwrap();
    assert_eq!(registry.clear_deferred_registrations(), 1);
    registry.process_registrations().unwrap();
    assert!(registry.op("A4").is_err());
}

#[test]
fn watcher_and_validators() {
    let registry = registry();
    let seen = Arc::new(AtomicUsize::new(0));
    let count = seen.clone();
    let watcher = move |result: Result<()>, op: &OpDef| {
        count.fetch_add(1, Ordering::Relaxed);
        if op.name == "MatMul" { Ok(()) } else { result }
    };
    registry.set_watcher(Some(Arc::new(watcher))).unwrap();
    expect(registry.set_watcher(Some(Arc::new(|result, _| result))), Code::AlreadyExists, &["watcher"]);
    registry.add_validator(Arc::new(|op| match op.name.starts_with('B') {
        true => Err(Error::invalid_argument("no names with B")),
        false => Ok(()),
    }));
    registry.register_op(named("A"), None).unwrap();
    registry.register_op(named("MatMul"), None).unwrap();
    expect(registry.register_op(named("B"), None), Code::InvalidArgument, &["no names with B"]);
    assert!(registry.op("B").is_err());
    expect(registry.register_op(named("lower"), None), Code::InvalidArgument, &["lower"]);
    assert_eq!(seen.load(Ordering::Relaxed), 4);
    registry.set_watcher(None).unwrap();
    // A watcher may use the registry.
    let again = registry.clone();
    let watcher = move |result: Result<()>, op: &OpDef| {
        if op.name == "C" {
            again.register_op(named("D"), None)?;
        }
        result
    };
    registry.set_watcher(Some(Arc::new(watcher))).unwrap();
    registry.register_op(named("C"), None).unwrap();
    assert!(registry.op("D").is_ok());
    registry.set_watcher(None).unwrap();
    registry.set_watcher(Some(Arc::new(|result, _| result))).unwrap();
}

// ---- kernels ----

#[test]
fn kernels_are_checked_against_their_op() {
    let registry = registry();
    let new = || KernelDefBuilder::new("MatMul", CPU).priority(3);
    let refused = [
        (new().types("U", &[DataType::Float]), "no attr `U`: its attrs are"),
        (new().types("T", &[DataType::String]), "does not allow string"),
        (new().ints("T", &[1]), "is type"),
        (new().bools("T", &[true]), "is type"),
        (new().host_memory("c"), "no argument `c`"),
        (new().types("T", &[]), "no value of attr `T`"),
        (new().types("T", &[DataType::Float]).types("T", &[DataType::Half]), "constrains attr `T` twice"),
        (KernelDefBuilder::new("MatMul", DeviceType("")), "device type is empty"),
    ];
    for (builder, words) in refused {
        expect(registry.register_kernel(builder.create(nothing)), Code::InvalidArgument, &[words, "registry.rs"]);
    }
    let orphan = KernelDefBuilder::new("Nothing", CPU).create(nothing);
    expect(registry.register_kernel(orphan), Code::NotFound, &["no op Nothing"]);
    let words = ["same node", "matmul", "tests/runtime/registry.rs"];
    expect(registry.register_kernel(takes_a(0)), Code::AlreadyExists, &words);
    // Of several, none is registered if one is refused.
    expect(registry.register_kernels([takes_a(7), takes_a(0)]), Code::AlreadyExists, &["MatMul"]);
    assert_eq!(registry.kernels_of("MatMul").iter().filter(|kernel| kernel.priority == 7).count(), 0);
}

/// Waits once before it takes any two matrices to their `a`.
struct WaitsForA;

impl AsyncOpKernel<ops::MatMul> for WaitsForA {
    fn new(_: &KernelConstruction<'_, ops::MatMul>) -> Result<Self> {
        Ok(WaitsForA)
    }
    async fn compute(&self, ctx: &mut KernelContext<'_, ops::MatMul>) -> Result<()> {
        let mut polls = 0;
        std::future::poll_fn(|context| {
            polls += 1;
            context.waker().wake_by_ref();
            if polls > 1 { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
        let a = ctx.input(ops::MatMul::A)?.clone();
        ctx.set_output(ops::MatMul::PRODUCT, a)
    }
}

#[test]
fn kernels_that_wait_are_registered_while_the_program_runs() {
    let registry = registry();
    let new = || KernelDefBuilder::new("MatMul", CPU).types("T", &[DataType::Float]).priority(5);
    let kernel = new().async_kernel::<ops::MatMul, WaitsForA>().unwrap();
    assert_eq!((kernel.location.file, kernel.type_name.ends_with("WaitsForA")), (file!(), true));
    let other = KernelDefBuilder::new("Neg", CPU).async_kernel::<ops::MatMul, WaitsForA>();
    expect(other, Code::InvalidArgument, &["WaitsForA is a kernel of op MatMul, not of Neg"]);
    registry.register_kernel(kernel).unwrap();
    let mut eager = EagerContext::new(&registry).unwrap();
    let a = Tensor::from_elements([2, 2], &[3f32, 4.0, 5.0, 6.0]).unwrap();
    let b = Tensor::from_elements([2, 2], &[5f32, 6.0, 7.0, 8.0]).unwrap();
    let product = ops::mat_mul(&mut eager, a, b).build().unwrap();
    assert_eq!(product.as_slice::<f32>().unwrap(), [3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn queries() {
    let registry = registry();
    let devices = [GPU, CPU, DeviceType("TPU")];
    let float = of(DataType::Float);
    assert!(registry.has_kernel(query("MatMul", &float)));
    assert!(!registry.has_kernel(query("MatMul", &of(DataType::String))));
    assert_eq!(registry.supported_devices(query("MatMul", &float), &devices).unwrap(), [(CPU, 0)]);
    let on = |device, priority| KernelDefBuilder::new("MatMul", device).priority(priority).create(nothing);
    registry.register_kernels([on(GPU, 0), on(DeviceType("DEFAULT"), -1)]).unwrap();
    let expected = [(GPU, 0), (CPU, 0), (DeviceType("TPU"), -1)];
    assert_eq!(registry.supported_devices(query("MatMul", &float), &devices).unwrap(), expected);
    registry.register_kernel(takes_a(2)).unwrap();
    let expected = [(CPU, 2), (GPU, 0), (DeviceType("TPU"), -1)];
    assert_eq!(registry.supported_devices(query("MatMul", &float), &devices).unwrap(), expected);
    assert_eq!(registry.kernels_where(|kernel| kernel.op == "MatMul" && kernel.device == GPU).len(), 1);
    assert!(registry.kernels().map(|kernel| kernel.op).is_sorted());
}

#[test]
fn a_kernel_is_for_devices_that_can_do_what_it_requires() {
    let registry = registry();
    let float = of(DataType::Float);
    let on = |priority| KernelDefBuilder::new("MatMul", GPU).priority(priority);
    let plain = on(0).create(nothing);
    let fast = on(1).requires("subgroups").requires("f16").create(nothing);
    registry.register_kernel(fast).unwrap();
    let can =
        |capabilities: &'static [&'static str]| NodeQuery { device: GPU, capabilities, ..query("MatMul", &float) };
    expect(registry.find_kernel(can(&[])), Code::NotFound, &["requires subgroups, and the device has no capabilities"]);
    expect(
        registry.find_kernel(can(&["i64", "f16"])),
        Code::NotFound,
        &["requires subgroups, and the device has i64, f16"],
    );
    assert!(registry.find_kernel(can(&["i64"])).unwrap_err().message().contains("requires f16, and"));
    registry.register_kernel(plain).unwrap();
    assert!(std::ptr::eq(registry.find_kernel(can(&["f16"])).unwrap(), plain));
    assert!(std::ptr::eq(registry.find_kernel(can(&["f16", "i64", "subgroups"])).unwrap(), fast));
    assert_eq!(registry.find_kernel_if_any(can(&["f16", "subgroups"])).unwrap().map(|kernel| kernel.priority), Some(1));
    assert_eq!(registry.supported_devices(can(&[]), &[GPU, CPU]).unwrap(), [(GPU, 0), (CPU, 0)]);
}

#[test]
fn a_miss_says_what_nearly_fits_first() {
    let registry = registry();
    let error = registry.find_kernel(query("MatMul", &of(DataType::String))).unwrap_err();
    let (_, lines) = error.message().split_once(". Registered:\n").unwrap();
    // One for all dtypes of a registration.
    assert!(
        lines.lines().count() == 1 && lines.contains("double, float,") && lines.ends_with(": T is string"),
        "{error}"
    );
    let mut attrs = of(DataType::Float);
    attrs.insert("_kernel", "cuda");
    let error = registry.find_kernel(query("MatMul", &attrs)).unwrap_err();
    let first = error.message().lines().nth(1).unwrap();
    assert!(first.contains("double, float,") && first.contains("has label \"\""), "{error}");
    assert!(!first.contains("T is"), "{error}");
}

#[test]
fn kernels_are_removed_and_restored() {
    let registry = registry();
    let all = registry.kernels_of("MatMul").len();
    let filter = KernelFilter::op("MatMul").device("CPU").dtype(DataType::Float);
    assert_eq!(registry.remove_kernels(&filter).unwrap(), 1);
    expect(registry.remove_kernels(&filter), Code::NotFound, &["MatMul on CPU for float"]);
    expect(registry.remove_kernels(&KernelFilter::op("MatMull")), Code::NotFound, &["did you mean MatMul"]);
    expect(registry.remove_kernels(&"MatMul:cpu".parse().unwrap()), Code::NotFound, &["has kernels on CPU"]);
    expect(registry.find_kernel(query("MatMul", &of(DataType::Float))), Code::NotFound, &["was removed while"]);
    assert!(registry.has_kernel(query("MatMul", &of(DataType::Double))));
    assert_eq!(registry.kernels_of("MatMul").len(), all - 1);
    assert!(registry.remove_kernels(&KernelFilter::op("MatMul")).unwrap() >= all - 1);
    assert!(!registry.has_kernel(query("MatMul", &of(DataType::Double))));
    expect(
        registry.restore_kernels(&KernelFilter::op("MatMul").device("GPU")),
        Code::NotFound,
        &["`MatMul on GPU`", "; what was: `MatMul on CPU for float`"],
    );
    assert_eq!(registry.restore_kernels(&KernelFilter::op("MatMul")).unwrap(), 2);
    assert_eq!(registry.kernels_of("MatMul").len(), all);
    assert!(registry.has_kernel(query("MatMul", &of(DataType::Float))));
}

/// A kernel for several dtypes loses one of them.
#[test]
fn a_dtype_is_removed_from_a_kernel_for_many() {
    let registry = registry();
    let unpack = registry.kernels_of("Unpack")[0];
    assert!(unpack.constraints.iter().any(|constraint| constraint.to_string().contains("float, ")), "{unpack}");
    registry.remove_kernels(&"Unpack::float".parse().unwrap()).unwrap();
    assert!(!registry.has_kernel(query("Unpack", &of(DataType::Float))));
    assert!(registry.has_kernel(query("Unpack", &of(DataType::Half))));
    assert!(registry.kernels_of("Unpack").iter().any(|kernel| std::ptr::eq(*kernel, unpack)));
    expect(registry.find_kernel(query("Unpack", &of(DataType::Float))), Code::NotFound, &["was removed while"]);
}

/// What a build by a selection leaves of an op.
#[test]
fn an_op_that_was_left_out_may_be_registered() {
    let abs = registry().op("Abs").unwrap();
    let stub = Box::leak(Box::new(OpEntry {
        def: abs.def,
        shape_fn: None,
        system: false,
        selected: false,
        provider: abs.provider,
        location: abs.location,
        writable: AtomicBool::new(false),
    }));
    let registry = Registry::new([&*stub], []).unwrap();
    assert!(registry.is_left_out("Abs") && registry.ops().next().is_none());
    expect(registry.op("Abs"), Code::NotFound, &["left out"]);
    let kernel = KernelDefBuilder::new("Abs", CPU).types("T", &[DataType::Float]).create(nothing);
    expect(registry.register_kernel(kernel), Code::NotFound, &["left out"]);
    registry.register_op(abs.def.clone(), abs.shape_fn).unwrap();
    registry.register_kernel(kernel).unwrap();
    assert!(registry.has_kernel(query("Abs", &of(DataType::Float))));
}

#[test]
fn a_dtype_of_a_kernel_for_many_is_replaced() {
    let registry = registry();
    let floats: KernelFilter = "Unpack::float".parse().unwrap();
    let new = KernelDefBuilder::new("Unpack", CPU).types("T", &[DataType::Float]).create(nothing);
    expect(registry.register_kernel(new), Code::AlreadyExists, &["same node"]);
    assert_eq!(registry.replace_kernels(&floats, new).unwrap(), 1);
    assert!(std::ptr::eq(registry.find_kernel(query("Unpack", &of(DataType::Float))).unwrap(), new));
    assert!(!std::ptr::eq(registry.find_kernel(query("Unpack", &of(DataType::Half))).unwrap(), new));
    registry.restore_kernels(&floats).unwrap();
    assert!(!std::ptr::eq(registry.find_kernel(query("Unpack", &of(DataType::Float))).unwrap(), new));
}

/// A kernel that is replaced by one that is restored does not remove a third one.
#[test]
fn restoring_drops_no_more_than_it_must() {
    let registry = registry();
    registry.register_op(OpDef { attrs: registry.op("Abs").unwrap().def.attrs.clone(), ..named("Op") }, None).unwrap();
    let kernel = |types: &[DataType]| KernelDefBuilder::new("Op", CPU).types("T", types).create(nothing);
    let [a, b, c] =
        [vec![DataType::Float], vec![DataType::Float, DataType::Int32], vec![DataType::Int32]].map(|t| kernel(&t));
    registry.register_kernel(a).unwrap();
    registry.remove_kernels(&KernelFilter::op("Op")).unwrap();
    registry.register_kernel(b).unwrap();
    registry.remove_kernels(&KernelFilter::op("Op").device("CPU")).unwrap();
    registry.register_kernel(c).unwrap();
    registry.restore_kernels(&KernelFilter::op("Op")).unwrap();
    assert!(std::ptr::eq(registry.find_kernel(query("Op", &of(DataType::Float))).unwrap(), a));
    assert!(std::ptr::eq(registry.find_kernel(query("Op", &of(DataType::Int32))).unwrap(), c));
}

#[test]
fn a_kernel_of_another_op_is_refused() {
    let builder = KernelDefBuilder::new("Relu", CPU);
    expect(builder.kernel::<ops::MatMul, TakesA>(), Code::InvalidArgument, &["of op MatMul, not of Relu"]);
    let registry = registry();
    let double = KernelFilter::op("MatMul").dtype(DataType::Double);
    expect(
        registry.replace_kernels(&double, takes_a(0)),
        Code::InvalidArgument,
        &["MatMul for double", "none of them"],
    );
    assert!(registry.has_kernel(query("MatMul", &of(DataType::Double))));
}

#[test]
fn a_session_keeps_the_kernels_that_it_has() {
    let registry = registry();
    let mut graph = Graph::new(&registry);
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    ops::mat_mul(&mut graph, x, x).name("y").build().unwrap();
    ops::mat_mul(&mut graph, x, x).name("z").build().unwrap();
    let session = Session::new(graph).unwrap();
    let run = |fetch: &str| {
        let x = Tensor::from_elements([2, 2], &[1.0f32, 1.0, 0.0, 1.0]).unwrap();
        let answers = session.run(&[("x", x)], &[fetch], &[])?;
        answers[0].as_slice::<f32>().map(<[f32]>::to_vec)
    };
    let (product, a) = (vec![1.0, 2.0, 0.0, 1.0], vec![1.0, 1.0, 0.0, 1.0]);
    assert_eq!(run("y").unwrap(), product);
    let filter = KernelFilter::op("MatMul").dtype(DataType::Float);
    assert_eq!(registry.replace_kernels(&filter, takes_a(0)).unwrap(), 1);
    assert_eq!(run("y").unwrap(), product);
    assert_eq!(run("z").unwrap(), a);
    // The built-in kernel comes back, its replacement goes.
    assert_eq!(registry.restore_kernels(&filter).unwrap(), 1);
    assert!(!registry.find_kernel(query("MatMul", &of(DataType::Float))).unwrap().type_name.contains("TakesA"));
    registry.remove_kernels(&filter).unwrap();
    assert_eq!(
        registry.kernels_of("MatMul").iter().filter(|k| k.constraints[0].to_string() == "T in [float]").count(),
        0
    );
    let error = session.run(&[], &["y", "z"], &[]).unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
}

#[test]
fn the_op_that_removes_kernels() {
    let registry = registry();
    let mut graph = Graph::new(&registry);
    let names = ops::placeholder(&mut graph, DataType::String).name("names").build().unwrap();
    ops::remove_kernel(&mut graph, names).name("remove").build().unwrap();
    let session = Session::new(graph).unwrap();
    let names = ["MatMul:CPU:float", "MatMul:CPU:float", "Nothing", "", "Relu:CPU:floaty", "Relu:GPU", "Relu"];
    let names = Tensor::vector(&names.map(TString::from)).unwrap();
    let answers = session.run(&[("names", names)], &["remove"], &[]).unwrap();
    let statuses: Vec<_> = answers[0].as_slice::<TString>().unwrap().iter().map(|s| s.to_string_lossy()).collect();
    let codes: Vec<_> = statuses.iter().map(|status| status.split(':').next().unwrap()).collect();
    let expected = ["OK", "NOT_FOUND", "NOT_FOUND", "INVALID_ARGUMENT", "INVALID_ARGUMENT", "NOT_FOUND", "OK"];
    assert_eq!(codes, expected, "{statuses:?}");
    assert!(!registry.has_kernel(query("MatMul", &of(DataType::Float))));
    assert!(registry.kernels_of("Relu").is_empty());
    assert!(kernlink::registry().unwrap().has_kernel(query("MatMul", &of(DataType::Float))), "another registry");
    registry.allow_changes_by_graphs(false);
    let names = Tensor::vector(&["Abs"].map(TString::from)).unwrap();
    expect(session.run(&[("names", names)], &["remove"], &[]), Code::PermissionDenied, &["does not allow"]);
    assert!(!registry.kernels_of("Abs").is_empty());
}

/// A kernel that knows more than a function can: a number that a closure keeps.
struct Constant(f32);

impl DynKernel for Constant {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        ctx.set_output_at(0, Tensor::scalar(self.0))
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

#[test]
fn kernels_are_made_by_closures() {
    let registry = Arc::new(Registry::linked(&[]).unwrap());
    let op = OpDefBuilder::new("Known").attr("which: int").output("value: float").build().unwrap();
    registry.register_op(op, None).unwrap();
    for (which, value) in [(1, 1.5f32), (2, 2.5)] {
        let kernel = KernelDefBuilder::new("Known", CPU).ints("which", &[which]);
        let kernel = kernel.create_with(move |_| Ok(Box::new(Constant(value)) as Box<dyn DynKernel>));
        registry.register_kernel(kernel).unwrap();
    }
    let device = CpuDevice::new(1).unwrap();
    for (which, value) in [(1i64, 1.5f32), (2, 2.5)] {
        let attrs = AttrMap::from_iter([("which".to_owned(), AttrValue::Int(which))]);
        let outputs = run_op(&registry, &device, "Known", attrs, Vec::new()).unwrap();
        assert_eq!(outputs[0].to_scalar::<f32>().unwrap(), value);
    }
}
