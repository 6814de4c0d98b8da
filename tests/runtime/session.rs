//! Sessions, callables and the registry, with ops of this test's own.

use std::sync::Mutex;

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::collect::OpEntry;
use kernlink::graph::NodeBuilder;
use kernlink::kernel::{CPU, KernelDef, Location, Provider};
use kernlink::op::Op;
use kernlink::prelude::*;
use kernlink::registry::{NodeQuery, Registry};

use crate::support;

// ---- ops ----

/// Panics at a negative element.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged)]
pub(crate) struct Fragile;

struct FragileKernel;

#[register_kernel(device = Cpu)]
impl OpKernel<Fragile> for FragileKernel {
    fn new(_: &KernelConstruction<Fragile>) -> Result<Self> {
        Ok(FragileKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<Fragile>) -> Result<()> {
        let x = ctx.input(Fragile::X)?.clone();
        assert!(x.as_slice::<f32>()?.iter().all(|&x| x >= 0.0), "a negative element");
        ctx.set_output(Fragile::Y, x)
    }
}

/// Says which kernel was chosen.
#[register_op(attr("T: {float, int32, double}"), output("which: int32"))]
pub(crate) struct Which;

/// Says which kernel was chosen by a list.
#[register_op(attr("types: list(type) >= 0"), output("which: int32"))]
pub(crate) struct Listed;

struct Answer<const N: i32>;

impl<const N: i32> OpKernel<Which> for Answer<N> {
    fn new(_: &KernelConstruction<Which>) -> Result<Self> {
        Ok(Answer)
    }
    fn compute(&self, ctx: &mut KernelContext<Which>) -> Result<()> {
        ctx.set_output(Which::WHICH, Tensor::scalar(N))
    }
}

impl<const N: i32> OpKernel<Listed> for Answer<N> {
    fn new(_: &KernelConstruction<Listed>) -> Result<Self> {
        Ok(Answer)
    }
    fn compute(&self, ctx: &mut KernelContext<Listed>) -> Result<()> {
        ctx.set_output(Listed::WHICH, Tensor::scalar(N))
    }
}

#[register_kernel(device = Cpu, op = Which, T = [float, int32])]
type Plain = Answer<1>;
#[register_kernel(device = Cpu, op = Which, T = [float], priority = 2)]
type Better = Answer<2>;
#[register_kernel(device = Cpu, op = Which, label = "slow")]
type Slow = Answer<3>;
#[register_kernel(device = Cpu, op = Listed, types = [float])]
type Floats = Answer<4>;
#[register_kernel(device = Cpu, op = Listed, types = [int32])]
type Ints = Answer<5>;

/// Notes that it ran.
#[register_op(attr("id: int"), stateful)]
pub(crate) struct Note;

struct NoteKernel(i64);

static NOTES: Mutex<Vec<i64>> = Mutex::new(Vec::new());

#[register_kernel(device = Cpu)]
impl OpKernel<Note> for NoteKernel {
    fn new(ctx: &KernelConstruction<Note>) -> Result<Self> {
        Ok(NoteKernel(ctx.attrs().id))
    }
    fn compute(&self, _: &mut KernelContext<Note>) -> Result<()> {
        NOTES.lock().unwrap().push(self.0);
        Ok(())
    }
}

// ---- helpers ----

fn new_graph() -> Graph {
    Graph::new(&kernlink::registry().unwrap())
}

fn input(graph: &mut Graph, name: &str) -> Output {
    ops::placeholder(graph, DataType::Float).name(name).build().unwrap()
}

fn constant(graph: &mut Graph, name: &str, value: Tensor) -> Output {
    let mut node = NodeBuilder::new(graph, ops::Const::DEF);
    node.name(name).attr("dtype", value.dtype()).attr("value", value);
    Output { node: node.build().unwrap(), index: 0 }
}

fn vector(values: &[f32]) -> Tensor {
    Tensor::vector(values).unwrap()
}

fn chosen(attrs: &[(&str, AttrValue)], op: &'static kernlink::op::OpDef) -> Result<i32> {
    let mut graph = new_graph();
    let mut node = NodeBuilder::new(&mut graph, op);
    node.name("it");
    for (name, value) in attrs {
        node.attr(name, value.clone());
    }
    node.build()?;
    Session::new(graph)?.run(&[], &["it"], &[])?[0].to_scalar()
}

// ---- runs ----

#[test]
fn one_session_serves_many_threads() {
    let mut graph = new_graph();
    let x = input(&mut graph, "x");
    let square = ops::square(&mut graph, x).build().unwrap();
    let minus = ops::neg(&mut graph, x).build().unwrap();
    ops::add_v2(&mut graph, square, minus).name("y").build().unwrap();
    let session = Session::with_options(graph, &SessionOptions::new().threads(3)).unwrap();
    let callable = session.make_callable(&["x"], &["y"], &[]).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (session, callable) = (&session, callable.clone());
            scope.spawn(move || {
                for run in 0..100 {
                    let value = (thread * 100 + run) as f32;
                    let x = vector(&vec![value; 1 + 997 * (run % 5)]);
                    let answer = match run % 2 {
                        0 => session.run(&[("x", x)], &["y"], &[]).unwrap(),
                        _ => callable.run(&[x]).unwrap(),
                    };
                    assert!(answer[0].as_slice::<f32>().unwrap().iter().all(|&y| y == value * value - value));
                }
            });
        }
    });
}

#[test]
fn deep_and_wide_graphs() {
    let mut graph = new_graph();
    let x = input(&mut graph, "x");
    let mut deep = x;
    for _ in 0..20_000 {
        deep = ops::neg(&mut graph, deep).build().unwrap();
    }
    let wide: Vec<Output> = (0..3000).map(|_| ops::abs(&mut graph, x).build().unwrap()).collect();
    let sum = ops::add_n(&mut graph, wide).build().unwrap();
    let fetches = [graph.output_name(deep), graph.output_name(sum)];
    for threads in [1, 4] {
        let session = Session::with_options(graph.clone(), &SessionOptions::new().threads(threads)).unwrap();
        for _ in 0..3 {
            let x = vector(&[-2.0, 1.0]);
            let answers = session.run(&[("x", x)], &[&fetches[0], &fetches[1]], &[]).unwrap();
            assert_eq!(answers[0].as_slice::<f32>().unwrap(), [-2.0, 1.0]);
            assert_eq!(answers[1].as_slice::<f32>().unwrap(), [6000.0, 3000.0]);
        }
    }
}

#[test]
fn as_many_threads_as_one_likes_give_the_same_bits() {
    let def = kernlink::proto::read_graph(support::path("examples/digits/digits.pb")).unwrap();
    let pixels: Vec<f32> = (0..24 * 64).map(|i| ((i * 7919) % 17) as f32 / 16.0).collect();
    let images = Tensor::from_elements([24, 8, 8, 1], &pixels).unwrap();
    let run = |threads| {
        let graph = Graph::import(&def, &kernlink::registry().unwrap()).unwrap();
        let session = Session::with_options(graph, &SessionOptions::new().threads(threads)).unwrap();
        let answers = session.run(&[("images", images.clone())], &["probabilities", "classes"], &[]).unwrap();
        (answers[0].bytes().unwrap().to_vec(), answers[1].bytes().unwrap().to_vec())
    };
    assert_eq!(run(1), run(4));
}

/// Constants of a mapped file lie at any address, of which loops over elements know nothing.
#[test]
fn constants_are_computed_with_wherever_they_lie_in_a_file() {
    let numbers: Vec<f32> = (0..20_000).map(|i| i as f32 / 8.0).collect();
    let path = std::env::temp_dir().join(format!("kernlink-anywhere-{}.pb", std::process::id()));
    for length in 1..=4 {
        let mut graph = new_graph();
        let x = input(&mut graph, "x");
        // The name stands before the elements, so that each of its letters moves them by a byte.
        let weights = Tensor::from_elements([20_000], &numbers).unwrap();
        let weights = constant(&mut graph, &"w".repeat(length), weights);
        ops::neg(&mut graph, weights).name("negative").build().unwrap();
        ops::cast(&mut graph, weights, DataType::Double).name("wide").build().unwrap();
        let sum = ops::add_v2(&mut graph, x, weights).build().unwrap();
        ops::abs(&mut graph, sum).name("sum").build().unwrap();
        kernlink::proto::write_graph(&path, &graph.to_def().unwrap()).unwrap();
        for without in [&[][..], &["fold-constants", "fuse-element-wise"]] {
            let def = kernlink::proto::read_graph(&path).unwrap();
            let graph = Graph::import(&def, graph.registry()).unwrap();
            let options = without.iter().fold(SessionOptions::new(), |options, &pass| options.without_pass(pass));
            let session = Session::with_options(graph, &options).unwrap();
            let answers = session.run(&[("x", vector(&[-1.0]))], &["negative", "wide", "sum"], &[]).unwrap();
            assert_eq!(answers[0].as_slice::<f32>().unwrap()[..3], [0.0, -0.125, -0.25], "{without:?}");
            assert_eq!(answers[1].as_slice::<f64>().unwrap()[19_999], 2499.875, "{without:?}");
            assert_eq!(answers[2].as_slice::<f32>().unwrap()[..3], [1.0, 0.875, 0.75], "{without:?}");
        }
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn control_inputs_order_and_targets_need_no_fetch() {
    let mut graph = new_graph();
    let x = input(&mut graph, "x");
    let heavy = ops::exp(&mut graph, x).name("heavy").build().unwrap();
    let mut last = heavy.node;
    for id in 0..50 {
        let mut note = NodeBuilder::new(&mut graph, Note::DEF);
        note.name(&format!("note{id}")).attr("id", id as i64).control_input(last);
        last = note.build().unwrap();
    }
    let session = Session::with_options(graph, &SessionOptions::new().threads(4)).unwrap();
    for _ in 0..5 {
        NOTES.lock().unwrap().clear();
        let x = Tensor::zeros(DataType::Float, [20_000]).unwrap();
        assert!(session.run(&[("x", x)], &[], &["note49"]).unwrap().is_empty());
        assert_eq!(*NOTES.lock().unwrap(), (0..50).collect::<Vec<i64>>());
    }
}

/// As in TensorFlow, a feed replaces the run of a placeholder also where a control input waits for it.
#[test]
fn a_fed_node_still_runs_for_who_waits_for_it() {
    let mut graph = new_graph();
    let x = input(&mut graph, "x");
    let mut first = NodeBuilder::new(&mut graph, Note::DEF);
    first.name("first").attr("id", 71i64);
    let first = first.build().unwrap();
    let mut fed = NodeBuilder::new(&mut graph, ops::Abs::DEF);
    fed.name("fed").input(x).control_input(first);
    let fed = fed.build().unwrap();
    let mut last = NodeBuilder::new(&mut graph, Note::DEF);
    last.name("last").attr("id", 72i64).control_input(fed).control_input(x.node);
    let last = last.build().unwrap();
    let fed = Output { node: fed, index: 0 };
    let names = |nodes: Vec<NodeId>| nodes.iter().map(|&id| graph.node(id).name.clone()).collect::<Vec<_>>();
    assert_eq!(names(graph.needed(&[x, fed], &[], &[last])), ["first", "fed", "last"]);
    assert_eq!(names(graph.needed(&[fed], &[], &[last])), ["x", "first", "fed", "last"]);
    assert_eq!(names(graph.needed(&[x, fed], &[fed], &[])), [""; 0]);
    let session = Session::new(graph).unwrap();
    let error = session.run(&[("fed", vector(&[1.0]))], &[], &["last"]).unwrap_err();
    assert_eq!(error.node().unwrap().node, "x");
}

/// Each kernel splits its work over the pool; a thread that waits for a part runs another node meanwhile.
#[test]
fn many_parallel_kernels_do_not_exhaust_the_stack() {
    let mut graph = new_graph();
    let x = input(&mut graph, "x");
    let wide: Vec<Output> = (0..1000).map(|_| ops::exp(&mut graph, x).build().unwrap()).collect();
    let sums: Vec<Output> = wide.iter().map(|&y| ops::sqrt(&mut graph, y).build().unwrap()).collect();
    let targets: Vec<String> = sums.iter().map(|&y| graph.output_name(y)).collect();
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    let session = Session::with_options(graph, &SessionOptions::new().threads(8)).unwrap();
    for _ in 0..2 {
        session.run(&[("x", Tensor::zeros(DataType::Float, [10_000]).unwrap())], &[], &targets).unwrap();
    }
}

#[test]
fn working_in_place_never_shows() {
    let mut graph = new_graph();
    let x = input(&mut graph, "x");
    let c = constant(&mut graph, "c", vector(&[1.0; 100]));
    let a = ops::neg(&mut graph, x).name("a").build().unwrap();
    let b = ops::add_v2(&mut graph, a, c).name("b").build().unwrap();
    ops::neg(&mut graph, b).name("d").build().unwrap();
    ops::square(&mut graph, b).name("e").build().unwrap();
    ops::neg(&mut graph, c).name("f").build().unwrap();
    let same = ops::identity(&mut graph, x).name("g").build().unwrap();
    ops::neg(&mut graph, same).name("h").build().unwrap();
    let session = Session::new(graph).unwrap();
    let x = vector(&[3.0; 100]);
    for _ in 0..3 {
        let fetches = ["a", "b", "c", "d", "e", "f", "g", "h", "a"];
        let answers = session.run(&[("x", x.clone())], &fetches, &[]).unwrap();
        for (answer, expected) in answers.iter().zip([-3.0, -2.0, 1.0, 2.0, 4.0, -1.0, 3.0, -3.0, -3.0f32]) {
            assert_eq!(answer.as_slice::<f32>().unwrap(), [expected; 100]);
        }
        assert_eq!(x.as_slice::<f32>().unwrap(), [3.0; 100]);
        // A feed may replace a node in the middle of the graph.
        let answers = session.run(&[("b", x.clone())], &["d", "e"], &[]).unwrap();
        assert_eq!(answers[0].as_slice::<f32>().unwrap(), [-3.0; 100]);
        assert_eq!(answers[1].as_slice::<f32>().unwrap(), [9.0; 100]);
    }
}

#[test]
fn a_panic_is_an_error_and_the_session_lives_on() {
    kernlink::error::watch_panics();
    let mut graph = new_graph();
    let x = input(&mut graph, "x");
    let mut node = NodeBuilder::new(&mut graph, Fragile::DEF);
    node.input(x).name("glass");
    node.build().unwrap();
    for threads in [1, 4] {
        let session = Session::with_options(graph.clone(), &SessionOptions::new().threads(threads)).unwrap();
        for _ in 0..10 {
            let error = session.run(&[("x", vector(&[-1.0]))], &["glass"], &[]).unwrap_err();
            assert_eq!(error.code(), Code::Internal);
            let text = error.to_string();
            assert!(
                text.contains("panicked at tests/runtime/session.rs:")
                    && text.contains("a negative element")
                    && text.contains("`glass`")
            );
            let answer = session.run(&[("x", vector(&[1.0]))], &["glass"], &[]).unwrap();
            assert_eq!(answer[0].to_scalar::<f32>().unwrap(), 1.0);
        }
    }
}

// ---- which kernel ----

#[test]
fn priority_label_and_ambiguity() {
    let dtype = |dtype: DataType| ("T", AttrValue::Type(dtype));
    assert_eq!(chosen(&[dtype(DataType::Int32)], Which::DEF).unwrap(), 1);
    assert_eq!(chosen(&[dtype(DataType::Float)], Which::DEF).unwrap(), 2);
    let slow = ("_kernel", AttrValue::from("slow"));
    assert_eq!(chosen(&[dtype(DataType::Double), slow], Which::DEF).unwrap(), 3);
    let types = |types: &[DataType]| ("types", AttrValue::ListType(types.to_vec()));
    assert_eq!(chosen(&[types(&[DataType::Float; 2])], Listed::DEF).unwrap(), 4);
    assert_eq!(chosen(&[types(&[DataType::Int32])], Listed::DEF).unwrap(), 5);
    let error = chosen(&[types(&[])], Listed::DEF).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("several kernels") && error.to_string().contains("`it`"), "{error}");
}

#[test]
fn missing_kernels_are_named_all_at_once() {
    let mut graph = new_graph();
    for (name, label) in [("first", ""), ("second", "fast")] {
        let mut node = NodeBuilder::new(&mut graph, Which::DEF);
        node.name(name).attr("T", DataType::Double).attr("_kernel", label);
        node.build().unwrap();
    }
    let error = Session::new(graph).unwrap().run(&[], &["first", "second"], &[]).unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    let text = error.to_string();
    for word in ["`first`", "`second`", "label \"fast\"", "T is double", "tests/runtime/session.rs"] {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

#[test]
fn what_uses_a_node_without_a_kernel_is_no_panic() {
    let mut graph = new_graph();
    let mut node = NodeBuilder::new(&mut graph, Which::DEF);
    node.name("first").attr("T", DataType::Double);
    let first = node.build().unwrap();
    let output = Output { node: first, index: 0 };
    ops::identity(&mut graph, output).name("second").build().unwrap();
    let error = Session::new(graph).unwrap().run(&[], &["second"], &[]).unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert!(error.to_string().contains("`first`"), "{error}");
}

// ---- the registry ----

fn entry(entry: &OpEntry, line: u32) -> &'static OpEntry {
    Box::leak(Box::new(OpEntry {
        def: entry.def,
        shape_fn: entry.shape_fn,
        system: entry.system,
        selected: entry.selected,
        provider: entry.provider,
        location: Location { file: "elsewhere.rs", line },
        writable: Default::default(),
    }))
}

fn kernel(kernel: &KernelDef, line: u32) -> &'static KernelDef {
    Box::leak(Box::new(KernelDef {
        op: kernel.op,
        device: kernel.device,
        constraints: kernel.constraints,
        host_memory: kernel.host_memory,
        requires: kernel.requires,
        label: kernel.label,
        priority: kernel.priority,
        system: kernel.system,
        selected: kernel.selected,
        type_name: kernel.type_name,
        provider: kernel.provider,
        location: Location { file: "elsewhere.rs", line },
        element_wise: kernel.element_wise,
        shader: kernel.shader,
        waits: kernel.waits,
        create: kernel.create,
        created: Default::default(),
    }))
}

#[test]
fn duplicates_are_reported_with_both_locations() {
    let registry = kernlink::registry().unwrap();
    let op = registry.op("Which").unwrap();
    let error = Registry::new([op, entry(op, 7)], []).err().unwrap();
    assert_eq!(error.code(), Code::AlreadyExists);
    assert!(
        error.message().contains("elsewhere.rs:7") && error.message().contains("tests/runtime/session.rs"),
        "{error}"
    );
    let first = registry.kernels_of("Which")[0];
    let error = Registry::new([op], [first, kernel(first, 9)]).err().unwrap();
    assert_eq!(error.code(), Code::AlreadyExists);
    assert!(
        error.message().contains("elsewhere.rs:9") && error.message().contains("tests/runtime/session.rs"),
        "{error}"
    );
    let error = Registry::new([], [first]).err().unwrap();
    assert_eq!(error.code(), Code::NotFound);
    assert!(error.message().contains("Which"), "{error}");
}

#[test]
fn a_broken_promise_is_explained() {
    static LOST: Provider = Provider::new("lost-crate", Location { file: "lost/src/lib.rs", line: 1 }).with_promises(
        Some(3),
        Some(0),
        Some(2),
    );
    let error = Registry::linked(&[&LOST]).err().unwrap();
    assert_eq!(error.code(), Code::FailedPrecondition);
    let numbers = "If a number in `provider!` is wrong, correct it: `gradients = 0` at lost/src/lib.rs:1, `ops = 0` at \
                   lost/src/lib.rs:1 are what was found";
    let lost = ["lost-crate", "delivered 0 of its 3 ops", "delivered 0 of its 2 gradients", "lost/src/lib.rs:1"];
    for word in lost.into_iter().chain([numbers, "--whole-archive"]) {
        assert!(error.message().contains(word), "`{word}` is not in: {error}");
    }
    assert!(Registry::linked(&[&crate::KERNLINK_PROVIDER]).is_ok());
}

#[test]
fn lookup_needs_no_graph() {
    let registry = kernlink::registry().unwrap();
    let attrs: AttrMap = [("T".to_owned(), AttrValue::Type(DataType::Float))].into_iter().collect();
    let find =
        |op: &str| registry.find_kernel(NodeQuery { node: "n", op, attrs: &attrs, device: CPU, capabilities: &[] });
    assert_eq!(find("Which").unwrap().priority, 2);
    assert_eq!(find("Whcih").unwrap_err().code(), Code::NotFound);
    assert!(find("Whcih").unwrap_err().message().contains("Which"));
}
