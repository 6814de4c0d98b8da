//! Eager execution: the wrappers without a graph, and the kernels that a context keeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use kernlink::attr::{AttrValue, FunctionRef};
use kernlink::device::{CpuDevice, Device};
use kernlink::graph::{FunctionBuilder, NodeBuilder, NodeInput, NodeRequest, Operand};
use kernlink::op::Op as _;
use kernlink::prelude::*;
use kernlink::registry::{KernelFilter, Registry};
use kernlink::shape::PartialShape;

/// Counts its calls.
#[register_op(attr("step: int = 1"), attr("scale: float = 1.0"), output("count: int64"), stateful, shape_fn = shape::scalar)]
pub(crate) struct Counter;

static COUNTERS: AtomicUsize = AtomicUsize::new(0);

struct CounterKernel {
    step: i64,
    count: AtomicI64,
}

#[register_kernel(device = Cpu)]
impl OpKernel<Counter> for CounterKernel {
    fn new(ctx: &KernelConstruction<Counter>) -> Result<Self> {
        COUNTERS.fetch_add(1, Ordering::Relaxed);
        Ok(CounterKernel { step: ctx.attrs().step, count: AtomicI64::new(0) })
    }

    fn compute(&self, ctx: &mut KernelContext<Counter>) -> Result<()> {
        let count = self.count.fetch_add(self.step, Ordering::Relaxed) + self.step;
        ctx.set_output(Counter::COUNT, Tensor::scalar(count))
    }
}

/// Cannot run eagerly.
#[register_op(attr("T: type"), input("ref: Ref(T)"), output("value: T"), shape_fn = shape::unchanged)]
pub(crate) struct ReadsRef;

fn context() -> EagerContext {
    EagerContext::new(&kernlink::registry().unwrap()).unwrap()
}

fn vector(values: &[f32]) -> Tensor {
    Tensor::vector(values).unwrap()
}

/// One function for both worlds.
fn dense<S: OpScope>(scope: &mut S, x: S::Output, w: S::Output) -> Result<S::Output> {
    let y = ops::mat_mul(scope, x, w).transpose_b(true).build()?;
    let y = ops::add_v2(scope, y, [0.5f32, -0.5]).build()?;
    ops::relu(scope, y).name("activation").build()
}

#[test]
fn one_function_builds_graphs_and_computes() {
    let x = Tensor::from_elements([1, 2], &[1.0f32, 2.0]).unwrap();
    let w = Tensor::from_elements([2, 2], &[1.0f32, 1.0, -1.0, 0.0]).unwrap();

    let eager = dense(&mut context(), x.clone(), w.clone()).unwrap();
    assert_eq!(eager.as_slice::<f32>().unwrap(), [3.5, 0.0]);

    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let feed = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    let weights = ops::const_(&mut graph, w, DataType::Float).build().unwrap();
    let y = dense(&mut graph, feed, weights).unwrap();
    assert_eq!(graph.output_name(y), "activation");
    // The bias was an array: now it is a node, called after the node and its argument.
    let bias = graph.output("AddV2/y").unwrap();
    assert_eq!(graph.constant(bias).unwrap().as_slice::<f32>().unwrap(), [0.5, -0.5]);
    let session = Session::new(graph).unwrap();
    let answers = session.run(&[("x", x)], &["activation"], &[]).unwrap();
    assert_eq!(answers[0].as_slice::<f32>().unwrap(), eager.as_slice::<f32>().unwrap());
}

#[test]
fn inputs_are_tensors_numbers_strings_and_arrays() {
    let mut eager = context();
    let x = vector(&[1.0, 2.0]);
    let y = ops::mul(&mut eager, &x, 3.0f32).build().unwrap();
    assert_eq!(y.as_slice::<f32>().unwrap(), [3.0, 6.0]);
    let y = ops::reshape(&mut eager, [[1i64, 2, 3], [4, 5, 6]], [3i32, 2]).build().unwrap();
    assert_eq!(y.shape().dims(), [3, 2]);
    let y = ops::equal(&mut eager, "a", "a").build().unwrap();
    assert!(y.to_scalar::<bool>().unwrap());
    let y = ops::sum(&mut eager, &[1i64, 2, 3][..], 0i32).build().unwrap();
    assert_eq!(y.to_scalar::<i64>().unwrap(), 6);
}

#[test]
fn outputs_have_names_and_lists() {
    let mut eager = context();
    let top = ops::top_kv2(&mut eager, vector(&[3.0, 9.0, 6.0]), 2i32).build().unwrap();
    assert_eq!(top.values.as_slice::<f32>().unwrap(), [9.0, 6.0]);
    assert_eq!(top.indices.as_slice::<i32>().unwrap(), [1, 2]);
    let parts = ops::split(&mut eager, 0i32, vector(&[1.0, 2.0, 3.0]), 3).build().unwrap();
    assert_eq!(
        parts.iter().map(|part| part.to_scalar::<f32>().unwrap_or(part.as_slice().unwrap()[0])).collect::<Vec<_>>(),
        [1.0, 2.0, 3.0]
    );
    let packed = ops::pack(&mut eager, &parts).axis(1).build().unwrap();
    assert_eq!(packed.shape().dims(), [1, 3]);
    ops::no_op(&mut eager).build().unwrap();
}

#[test]
fn kernels_are_kept_by_dtypes_and_attrs() {
    let mut eager = context();
    let add = |eager: &mut EagerContext, x: Tensor| ops::add_v2(eager, x.clone(), x).build().unwrap();
    add(&mut eager, vector(&[1.0]));
    assert_eq!(eager.kernel_count(), 1);
    // Another shape, another name: the same kernel.
    add(&mut eager, Tensor::scalar(1.0f32));
    ops::add_v2(&mut eager, 1.0f32, 2.0f32).name("other").build().unwrap();
    assert_eq!(eager.kernel_count(), 1);
    add(&mut eager, Tensor::scalar(1i32));
    assert_eq!(eager.kernel_count(), 2);
    let matrix = Tensor::from_elements([1, 1], &[2.0f32]).unwrap();
    ops::mat_mul(&mut eager, &matrix, &matrix).build().unwrap();
    ops::mat_mul(&mut eager, &matrix, &matrix).transpose_a(true).build().unwrap();
    assert_eq!(eager.kernel_count(), 4);
    // Lists of other lengths are other signatures.
    ops::pack(&mut eager, [1.0f32, 2.0]).build().unwrap();
    ops::pack(&mut eager, [1.0f32, 2.0, 3.0]).build().unwrap();
    assert_eq!(eager.kernel_count(), 6);
    // A constant's value is an attr: its kernel is not worth keeping.
    for length in [1, 10_000] {
        ops::const_(&mut eager, Tensor::zeros(DataType::Float, [length]).unwrap(), DataType::Float).build().unwrap();
    }
    assert_eq!(eager.kernel_count(), 6);
    eager.clear_kernels();
    assert_eq!(eager.kernel_count(), 0);
    add(&mut eager, vector(&[1.0]));
}

/// Attrs that are new in every call fill no memory, and push no state out.
#[test]
fn kernels_without_state_are_bounded() {
    let mut eager = context();
    let count = |eager: &mut EagerContext| counter(eager).build().unwrap().to_scalar::<i64>().unwrap();
    count(&mut eager);
    let mut most = 0;
    for call in 0..10_000u16 {
        let y = ops::leaky_relu(&mut eager, -1.0f32).alpha(f32::from(call)).build().unwrap();
        assert_eq!(y.to_scalar::<f32>().unwrap(), -f32::from(call));
        most = most.max(eager.kernel_count());
    }
    assert!((1000..=4097).contains(&most), "{most} kernels are kept");
    assert_eq!(count(&mut eager), 2);
}

#[test]
fn handles_of_many_names_are_not_kept_and_their_resources_are() -> Result<()> {
    let mut eager = EagerContext::new(&kernlink::registry()?)?;
    let handle = |eager: &mut EagerContext, number: usize| {
        let name = format!("v{number}");
        ops::var_handle_op(eager, DataType::Float, PartialShape::of_rank(0)).shared_name(&name).build()
    };
    let first = handle(&mut eager, 0)?;
    ops::assign_variable_op(&mut eager, &first, 7.0f32).build()?;
    let mut most = 0;
    for number in 0..10_000 {
        handle(&mut eager, number)?;
        most = most.max(eager.kernel_count());
    }
    assert!(most < 5_000, "{most}");
    let again = handle(&mut eager, 0)?;
    let value = ops::read_variable_op(&mut eager, &again, DataType::Float).build()?;
    assert_eq!(value.to_scalar::<f32>()?, 7.0);
    Ok(())
}

#[test]
fn a_change_of_the_registry_reaches_the_next_call() {
    let registry = Arc::new(Registry::linked(&[]).unwrap());
    let mut eager = EagerContext::new(&registry).unwrap();
    let mut relu = |x: f32| ops::relu(&mut eager, x).build();
    assert_eq!(relu(-1.0).unwrap().to_scalar::<f32>().unwrap(), 0.0);
    let floats = KernelFilter::op("Relu").dtype(DataType::Float);
    registry.remove_kernels(&floats).unwrap();
    assert_eq!(relu(-1.0).unwrap_err().code(), Code::NotFound);
    registry.restore_kernels(&floats).unwrap();
    assert_eq!(relu(2.0).unwrap().to_scalar::<f32>().unwrap(), 2.0);
}

#[test]
fn functions_of_a_library_are_called() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let shift = ops::placeholder(&mut graph, DataType::Float).build().unwrap();
    let shifted = FunctionBuilder::new("Shifted", [DataType::Float])
        .build(&mut graph, |g, [x]| Ok([ops::add_v2(g, x, shift).build()?, ops::neg(g, x).build()?]))
        .unwrap();
    let counts = FunctionBuilder::new("Counts", [] as [DataType; 0])
        .build(&mut graph, |g, []| Ok([counter(g).build()?, counter(g).step(10).build()?]))
        .unwrap();
    let plain = context();
    let eager = plain.with_functions(&graph);
    let values = eager.call(&shifted, [Tensor::scalar(2.0f32), Tensor::scalar(0.5f32)]).unwrap();
    let values: Vec<f32> = values.iter().map(|value| value.to_scalar().unwrap()).collect();
    assert_eq!(values, [2.5, -2.0]);
    // A state is kept from call to call, and is another one's in another context.
    let count = |eager: &EagerContext| {
        let values = eager.call(&counts, [] as [Tensor; 0]).unwrap();
        values.iter().map(|value| value.to_scalar::<i64>().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((count(&eager), count(&eager), count(&eager.clone())), (vec![1, 10], vec![2, 20], vec![3, 30]));
    assert_eq!(count(&plain.with_functions(&graph)), [1, 10]);
    // Ops that call functions find them too.
    let loops = |g: &mut Graph, name: &str, body: fn(&mut Graph, Output, Output) -> Result<Vec<Output>>| {
        FunctionBuilder::new(name, [DataType::Int32; 2]).build(g, |g, [n, sum]| body(g, n, sum)).unwrap();
    };
    loops(&mut graph, "Below", |g, n, _| Ok(vec![ops::greater(g, n, 0i32).build()?]));
    loops(&mut graph, "Down", |g, n, sum| Ok(vec![ops::sub(g, n, 1i32).build()?, ops::add_v2(g, sum, n).build()?]));
    let mut eager = plain.with_functions(&graph);
    let mut node = NodeBuilder::new(&mut eager, <ops::StatelessWhile as kernlink::op::Op>::DEF);
    node.input_list([4, 0]).attr("cond", function("Below")).attr("body", function("Down"));
    assert_eq!(node.build_outputs().unwrap().into_vec()[1].to_scalar::<i32>().unwrap(), 10);
    for (context, arguments, code, words) in [
        (&eager, vec![1.0f32], Code::InvalidArgument, "takes 2 arguments, not 1"),
        (&plain, vec![1.0, 2.0], Code::NotFound, "the graph has no function `Shifted`"),
    ] {
        let error = context.call(&shifted, arguments).unwrap_err();
        assert!(error.code() == code && error.message().contains(words), "{error}");
    }
}

#[test]
fn functions_come_and_go() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let doubled = FunctionBuilder::new("Doubled", [DataType::Float])
        .build(&mut graph, |g, [x]| Ok([ops::add_v2(g, x, x).build()?]))
        .unwrap();
    let counts = FunctionBuilder::new("Counts", [] as [DataType; 0])
        .build(&mut graph, |g, []| Ok([counter(g).build()?]))
        .unwrap();
    let eager = context();
    let def = |name: &str| graph.function_def(name).unwrap().clone();
    let double = || eager.call(&doubled, [2.5f32])?[0].to_scalar::<f32>();
    let count = || eager.call(&counts, [] as [Tensor; 0]).unwrap()[0].to_scalar::<i64>().unwrap();
    fails(double(), Code::NotFound, "`Doubled`");
    eager.add_functions(&[def("Counts")]).unwrap();
    assert_eq!((count(), count()), (1, 2));
    // Those that were there keep their state.
    eager.add_functions(&[def("Counts"), def("Doubled")]).unwrap();
    assert_eq!((double().unwrap(), count()), (5.0, 3));
    assert_eq!(eager.function_library().function_names(), ["Counts", "Doubled"]);
    let mut other = def("Doubled");
    other.node_def.clear();
    fails(eager.add_functions(&[other]), Code::InvalidArgument, "Doubled");
    eager.remove_function("Doubled").unwrap();
    fails(eager.remove_function("Doubled"), Code::InvalidArgument, "non-existent function 'Doubled'");
    fails(double(), Code::NotFound, "`Doubled`");
    assert_eq!(count(), 1, "a kernel that called functions is made anew");
}

#[test]
fn functions_that_are_retained_keep_their_state() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let inner = FunctionBuilder::new("Inner", [DataType::Float])
        .build(&mut graph, |g, [x]| Ok([ops::mul(g, x, x).build()?]))
        .unwrap();
    for name in ["Outer", "Other"] {
        FunctionBuilder::new(name, [DataType::Float])
            .build(&mut graph, |g, [x]| {
                let op = g.registry().op("PartitionedCall")?.def;
                let mut call = NodeBuilder::new(g, op);
                call.input_list([x]).attr("f", inner.reference()).attr("Tout", vec![DataType::Float]);
                let called = call.build_output()?;
                Ok([ops::neg(g, called).build()?])
            })
            .unwrap();
    }
    let counts = FunctionBuilder::new("Counts", [] as [DataType; 0])
        .build(&mut graph, |g, []| Ok([counter(g).build()?]))
        .unwrap();
    let eager = context();
    eager.retain_functions(&[]);
    let defs: Vec<_> =
        graph.function_names().into_iter().map(|name| graph.function_def(name).unwrap().clone()).collect();
    eager.add_functions(&defs).unwrap();
    let outer = graph.function("Outer").unwrap();
    let count = || eager.call(&counts, [] as [Tensor; 0]).unwrap()[0].to_scalar::<i64>().unwrap();
    let call = || Ok(eager.call(&outer, [3.0f32])?[0].to_scalar::<f32>().unwrap());
    assert_eq!((count(), call().unwrap()), (1, -9.0));
    eager.retain_functions(&["Outer", "Counts", "none of this name"]);
    let mut names: Vec<String> = eager.function_library().function_names().into_iter().map(str::to_owned).collect();
    names.sort();
    assert_eq!(names, ["Counts", "Inner", "Outer"]);
    assert_eq!((count(), call().unwrap()), (2, -9.0));
    eager.retain_functions(&["Counts"]);
    assert_eq!(eager.function_library().function_names(), ["Counts"]);
    fails(call(), Code::NotFound, "`Outer`");
    assert_eq!(count(), 3);
    eager.add_functions(&defs).unwrap();
    assert_eq!(call().unwrap(), -9.0);
}

#[test]
fn a_request_serves_again() {
    let eager = context();
    let cast = eager.registry().op("Cast").unwrap().def;
    let mut request = NodeRequest::new(cast);
    request.attrs.insert("DstT", DataType::Int32);
    let give = |request: &mut NodeRequest<'_, Tensor>, value: f32| {
        request.inputs.push(NodeInput::Single(Operand::Value(Tensor::scalar(value))));
    };
    give(&mut request, 1.0);
    let refused = eager.execute(&mut request, |signature| {
        assert_eq!((signature.inputs.len(), signature.outputs.len()), (1, 1));
        Err(Error::new(Code::Cancelled, "not now"))
    });
    fails(refused, Code::Cancelled, "not now");
    for value in [1, 2] {
        let outputs = eager.execute(&mut request, |_| Ok(())).unwrap();
        assert_eq!(outputs[0].to_scalar::<i32>().unwrap(), value);
        assert!(request.inputs.is_empty());
        give(&mut request, 2.0);
    }
}

fn function(name: &str) -> AttrValue {
    AttrValue::Func(FunctionRef { name: name.to_owned(), ..FunctionRef::default() })
}

#[test]
fn state_lives_in_the_kernel_and_threads_share_it() {
    let made = COUNTERS.load(Ordering::Relaxed);
    let mut eager = context();
    let count = |eager: &mut EagerContext, step| counter(eager).step(step).build().unwrap().to_scalar::<i64>().unwrap();
    assert_eq!((count(&mut eager, 1), count(&mut eager, 1)), (1, 2));
    // Other attrs, another kernel.
    assert_eq!((count(&mut eager, 10), count(&mut eager, 1)), (10, 3));
    let mut other = context();
    assert_eq!(count(&mut other, 1), 1, "another context, another kernel");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let mut eager = eager.clone();
            scope.spawn(move || (0..100).for_each(|_| _ = count(&mut eager, 5)));
        }
    });
    // However many threads made the kernel at once, one was kept.
    assert_eq!(count(&mut eager, 5), 4 * 100 * 5 + 5);
    eager.clear_kernels();
    assert_eq!(count(&mut eager, 1), 1, "dropped with the kernels");
    assert!(COUNTERS.load(Ordering::Relaxed) - made >= 5);
}

#[track_caller]
fn fails<T>(result: Result<T>, code: Code, text: &str) -> Error {
    let Err(error) = result else { panic!("no error") };
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(text), "{error}");
    error
}

#[test]
fn errors_are_those_of_nodes() {
    let mut eager = context();
    let e = &mut eager;
    let error = fails(
        ops::add_v2(e, 1.0f32, 2i64).name("sum").build(),
        Code::InvalidArgument,
        "Inconsistent values for attr 'T' DT_FLOAT vs. DT_INT64: input 'x' implies the former, input 'y' the latter",
    );
    assert!(error.location().file().ends_with("eager.rs"), "{error:?}");
    assert_eq!(error.node().unwrap().node, "sum");
    fails(
        ops::add_v2(e, vector(&[1.0]), [0, 16777217]).build(),
        Code::InvalidArgument,
        "Input 'y' is given as 16777217, which is no float, the dtype of input 'x'",
    );
    fails(
        ops::add_v2(e, true, false).build(),
        Code::InvalidArgument,
        "attr `T` (the dtype of input `x`) is bool but must be one of",
    );
    fails(
        ops::relu(e, 1.0f32).device("/device:GPU:0").build(),
        Code::InvalidArgument,
        "this context has `/device:CPU:0`",
    );
    fails(
        ops::mat_mul(e, vector(&[1.0]), vector(&[1.0])).build(),
        Code::InvalidArgument,
        "in node `MatMul` (op MatMul, /device:CPU:0)",
    );
    fails(reads_ref(e, 1.0f32).build(), Code::Unimplemented, "`ref` is a reference");
    let mut few = NodeBuilder::new(e, ops::MatMul::DEF);
    few.input(1.0f32);
    fails(few.build(), Code::InvalidArgument, "1 inputs specified of 2 inputs in Op: 'b' missing");
    let mut single = NodeBuilder::new(e, ops::Pack::DEF);
    single.input(1.0f32);
    fails(single.build(), Code::InvalidArgument, "Single tensor passed to 'values', expected list");
    let mut contradicting = NodeBuilder::new(e, ops::Relu::DEF);
    contradicting.input(1.0f32).attr("T", DataType::Double);
    fails(contradicting.build(), Code::InvalidArgument, "Inconsistent values for attr 'T' DT_DOUBLE vs. DT_FLOAT");
    fails(
        ops::bias_add(e, Tensor::zeros(DataType::Float, [1, 1]).unwrap(), [1.0f32]).data_format("NHWX").build(),
        Code::InvalidArgument,
        "did you mean \"NHWC\"?",
    );
    // Errors are not kept.
    assert_eq!(eager.kernel_count(), 1, "only that of MatMul, which failed when it ran");
}

#[test]
fn devices_are_asked_for_by_name() {
    let device: Arc<dyn Device> = Arc::new(CpuDevice::new(1).unwrap());
    let mut eager = EagerContext::on(&kernlink::registry().unwrap(), [device]).unwrap();
    for name in ["/device:CPU:0", "/cpu:0", "CPU:0", "cpu", "/job:localhost/replica:0/task:0/device:CPU:0"] {
        ops::neg(&mut eager, 1.0f32).device(name).build().unwrap();
    }
    assert!(EagerContext::on(eager.registry(), []).is_err());
    assert_eq!(eager.kernel_count(), 1);
}

#[test]
fn labels_choose_kernels() {
    let mut eager = context();
    let labelled = ops::neg(&mut eager, 1.0f32).attr("_kernel", AttrValue::from("mine")).build();
    fails(labelled, Code::NotFound, "mine");
}

#[test]
fn strings_beyond_memory_are_refused() {
    let mut eager = context();
    // The elements share their bytes; the results cannot.
    let text = kernlink::dtype::TString::from(vec![b'x'; 64 << 20]);
    let many = Tensor::vector(&vec![text; 1 << 18]).unwrap();
    let beyond = "17592186044416 bytes";
    fails(ops::reduce_join(&mut eager, many.clone(), 0i32).build(), Code::ResourceExhausted, beyond);
    let ids = Tensor::vector(&vec![0i32; 1 << 18]).unwrap();
    fails(ops::unsorted_segment_join(&mut eager, many, ids, 1i32).build(), Code::ResourceExhausted, beyond);
}
