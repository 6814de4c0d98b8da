//! Functions: which calls share a body and its state, and when that is freed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kernlink::attr::{AttrValue, FunctionRef};
use kernlink::graph::{Function, FunctionBuilder, NodeBuilder};
use kernlink::prelude::*;

use crate::graphs::{graph, node};
use crate::kernels::{COUNTED, counted};

#[test]
fn functions_that_call_each_other_go_with_their_session() {
    // Whether `n` is even, by way of whether `n - 1` is odd, and the other way round.
    let mut graph = graph();
    let n = ops::placeholder(&mut graph, DataType::Int32).name("n").build().unwrap();
    for (name, other, at_zero) in [("Even", "Odd", 1i32), ("Odd", "Even", 0)] {
        let other = Function::declare(other, [DataType::Int32], [DataType::Int32], false);
        let asks = FunctionBuilder::new(name, [DataType::Int32]).build(&mut graph, |g, [n]| {
            let seen = counted(g, n).build()?;
            let end = ops::equal(g, seen, 0i32).build()?;
            let less = |g: &mut Graph| {
                let less = ops::sub(g, seen, 1i32).build()?;
                Ok(ops::call(g, &other, [less]).build()?[0])
            };
            ops::cond(g, end, |g| ops::constant(g, at_zero), less).build()
        });
        ops::call(&mut graph, &asks.unwrap(), [n]).name(&name.to_lowercase()).build().unwrap();
    }
    for threads in [1, 2] {
        let session = Session::with_options(graph.clone(), &SessionOptions::new().threads(threads)).unwrap();
        let callable = session.make_callable(&["n"], &["even", "odd"], &[]).unwrap();
        let check = |n: i32| {
            let answers = callable.run(&[Tensor::scalar(n)]).unwrap();
            let answers: Vec<i32> = answers.iter().map(|answer| answer.to_scalar().unwrap()).collect();
            assert_eq!(answers, [(n + 1) % 2, n % 2]);
        };
        (0..5).for_each(check);
        // One body each, however often it is called, and from wherever.
        assert_eq!(COUNTED.load(Ordering::SeqCst), 2);
        session.run(&[("n", Tensor::scalar(3))], &["odd"], &[]).unwrap();
        assert_eq!(COUNTED.load(Ordering::SeqCst), 2);
        drop(session);
        // What was prepared goes on without the session.
        check(4);
        drop(callable);
        assert_eq!(COUNTED.load(Ordering::SeqCst), 0);
    }
}

#[test]
fn what_a_function_alone_is_given_it_may_change() {
    let text = r#"
        node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
        node { name: "n" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } }
        node { name: "own" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
        node { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
          attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 0 } } } }
        node { name: "one" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
          attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }
        node { name: "loop" op: "For" input: "zero" input: "n" input: "one" input: "own"
          attr { key: "T" value { list { type: DT_FLOAT } } } attr { key: "body" value { func { name: "Body" } } } }
        library { function {
          signature { name: "Body" input_arg { name: "i" type: DT_INT32 } input_arg { name: "x" type: DT_FLOAT }
            output_arg { name: "y" type: DT_FLOAT } }
          node_def { name: "add" op: "AddInPlace" input: "x" }
          ret { key: "y" value: "add:y:0" }
        } } versions { producer: 2474 }"#;
    let def = kernlink::proto::graph_from_text(text).unwrap();
    let graph = Graph::import(&def, &kernlink::registry().unwrap()).unwrap();
    for threads in [1, 2] {
        let session = Session::with_options(graph.clone(), &SessionOptions::new().threads(threads)).unwrap();
        let x = Tensor::vector(&[0f32; 100]).unwrap();
        for _ in 0..2 {
            let y = session.run(&[("x", x.clone()), ("n", Tensor::scalar(50i32))], &["loop"], &[]).unwrap();
            assert_eq!(y[0].as_slice::<f32>().unwrap(), [50.0; 100]);
            assert_eq!(x.as_slice::<f32>().unwrap(), [0.0; 100]);
        }
    }
}

#[test]
fn gradients_by_name_say_in_which_feature_they_are() {
    if !kernlink::gradient::registered_gradients().is_empty() {
        return;
    }
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::constant(&mut graph, 2.0f32).unwrap();
    let square = FunctionRef { name: "Square".to_owned(), attrs: [("T".to_owned(), DataType::Float.into())].into() };
    let def = graph.registry().op("SymbolicGradient").unwrap().def;
    let mut builder = NodeBuilder::new(&mut graph, def);
    builder.name("dx").input_list([x, x]).attr("f", square).attr("Tout", vec![DataType::Float]);
    builder.build().unwrap();
    let error = Session::new(graph).unwrap().run(&[], &["dx"], &[]).unwrap_err();
    assert!(error.code() == Code::NotFound && error.message().contains("feature `gradients`"), "{error}");
}

#[test]
fn functions_are_told_apart_by_all_of_their_attrs() {
    let text = r#"
        node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
        library { function {
          signature { name: "Plus" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT }
            attr { name: "addend" type: "tensor" } }
          node_def { name: "addend" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
            attr { key: "value" value { placeholder: "addend" } } }
          node_def { name: "sum" op: "AddV2" input: "x" input: "addend:output:0"
            attr { key: "T" value { type: DT_FLOAT } } }
          ret { key: "y" value: "sum:z:0" } } }
        versions { producer: 2474 }"#;
    let def = kernlink::proto::graph_from_text(text).unwrap();
    let mut graph = Graph::import(&def, &kernlink::registry().unwrap()).unwrap();
    let x = graph.output("x").unwrap();
    // They differ in the middle.
    for (name, middle) in [("a", 1f32), ("b", 2.0)] {
        let mut addend = [0f32; 99];
        addend[50] = middle;
        let attrs = [("addend".to_owned(), AttrValue::Tensor(Tensor::vector(&addend).unwrap()))].into();
        let call = FunctionRef { name: "Plus".to_owned(), attrs };
        let def = graph.registry().op("PartitionedCall").unwrap().def;
        let mut builder = NodeBuilder::new(&mut graph, def);
        builder.name(name).input_list([x]).attr("f", call).attr("Tout", vec![DataType::Float]);
        builder.build().unwrap();
    }
    let session = Session::with_options(graph, &SessionOptions::new().threads(1)).unwrap();
    let sums = session.run(&[("x", Tensor::vector(&[1f32; 99]).unwrap())], &["a", "b"], &[]).unwrap();
    let middle = |sum: &Tensor| sum.as_slice::<f32>().unwrap()[50];
    assert_eq!((middle(&sums[0]), middle(&sums[1])), (2.0, 3.0));
}

#[test]
fn a_function_that_is_missing_is_named() {
    let mut graph = graph();
    let call = FunctionRef { name: "Absent".to_owned(), ..FunctionRef::default() };
    let x = node(&mut graph, "Placeholder", "x", &[], &[("dtype", DataType::Float.into())]);
    let def = graph.registry().op("PartitionedCall").unwrap().def;
    let mut builder = NodeBuilder::new(&mut graph, def);
    builder.name("call").input_list([x]).attr("f", call).attr("Tout", vec![DataType::Float]);
    builder.build().unwrap();
    let error = Session::new(graph).unwrap().run(&[("x", Tensor::scalar(1f32))], &["call"], &[]).unwrap_err();
    assert_eq!(error.code(), kernlink::Code::NotFound);
    assert!(error.message().contains("Absent"), "{error}");
}

/// Its kernel is never made.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged)]
pub(crate) struct Refuse;

struct RefuseKernel;

#[register_kernel(device = Cpu)]
impl OpKernel<Refuse> for RefuseKernel {
    fn new(_: &KernelConstruction<Refuse>) -> Result<Self> {
        bail!(InvalidArgument, "as asked")
    }
    fn compute(&self, _: &mut KernelContext<Refuse>) -> Result<()> {
        Ok(())
    }
}

/// Forwards its input; its kernel takes a while to make.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged)]
pub(crate) struct MadeSlowly;

struct MadeSlowlyKernel;

/// How many such kernels there are, begun and made.
static SLOWLY: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

#[register_kernel(device = Cpu)]
impl OpKernel<MadeSlowly> for MadeSlowlyKernel {
    fn new(_: &KernelConstruction<MadeSlowly>) -> Result<Self> {
        SLOWLY[0].fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(100));
        SLOWLY[1].fetch_add(1, Ordering::SeqCst);
        Ok(MadeSlowlyKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<MadeSlowly>) -> Result<()> {
        let x = ctx.take_input(MadeSlowly::X)?;
        ctx.set_output(MadeSlowly::Y, x)
    }
}

#[test]
fn what_several_prepare_at_once_is_ready_for_each() {
    let mut graph = graph();
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    let slow =
        FunctionBuilder::new("Ready", [DataType::Float]).build(&mut graph, |g, [x]| made_slowly(g, x).build()).unwrap();
    ops::call(&mut graph, &slow, [x]).name("y").build().unwrap();
    // Each of them plans what is inlined for itself.
    let options = SessionOptions::new().without_pass("inline-functions");
    let session = Session::with_options(graph, &options).unwrap();
    let [begun, made] = &SLOWLY;
    std::thread::scope(|scope| {
        scope.spawn(|| session.prepare(&["x"], &["y"], &[]).unwrap());
        while begun.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        session.prepare(&["x"], &["y"], &[]).unwrap();
        assert_eq!(made.load(Ordering::SeqCst), 1);
    });
    assert_eq!(begun.load(Ordering::SeqCst), 1);
}

#[test]
fn an_error_names_the_function_whose_body_has_the_node() {
    // In both, one that calls the function at fault.
    let mut graph = graph();
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    for name in ["Made", "Run"] {
        let fault = FunctionBuilder::new(name, [DataType::Float]).build(&mut graph, |g, [x]| match name {
            "Made" => refuse(g, x).name("fault").build(),
            _ => ops::check_numerics(g, x, "as asked").name("fault").build(),
        });
        let fault = fault.unwrap();
        let calls = FunctionBuilder::new(&format!("Calls{name}"), [DataType::Float])
            .build(&mut graph, |g, [x]| Ok(ops::call(g, &fault, [x]).build()?[0]));
        ops::call(&mut graph, &calls.unwrap(), [x]).name(name).build().unwrap();
    }
    let session = Session::new(graph).unwrap();
    for name in ["Made", "Run"] {
        let error = session.run(&[("x", Tensor::scalar(f32::NAN))], &[name], &[]).unwrap_err();
        let node = error.node().unwrap();
        assert_eq!((node.node.as_str(), node.function.as_str()), ("fault", name), "{error}");
        assert!(error.message().contains("as asked"), "{error}");
        assert_eq!(error.to_string().matches("in function").count(), 1, "{error}");
    }
}

#[test]
fn an_error_that_ends_other_calls_is_not_of_their_functions() {
    let mut graph = graph();
    let n = ops::placeholder(&mut graph, DataType::Int32).name("n").build().unwrap();
    let fault = |g: &mut Graph| node(g, "FailLater", "fault", &[], &[("panics", false.into())]);
    for name in ["Waits", "Fails"] {
        let function = FunctionBuilder::new(name, [DataType::Int32]).build(&mut graph, |g, [n]| match name {
            "Waits" => Ok(vec![node(g, "WaitAtGate", "wait", &[n], &[])]),
            // What is still at work keeps it from telling of its error before the others end.
            _ => {
                let one = ops::constant(g, 1f32)?;
                Ok(vec![fault(g), node(g, "Slow", "slow", &[one], &[])])
            }
        });
        ops::call(&mut graph, &function.unwrap(), [n]).name(name).build().unwrap();
    }
    fault(&mut graph);
    for (fails, function) in [("Fails", "Fails"), ("fault", "")] {
        for threads in [1, 2, 4] {
            let session = Session::with_options(graph.clone(), &SessionOptions::new().threads(threads)).unwrap();
            for fetches in [["Waits", fails], [fails, "Waits"]] {
                let error = session.run(&[("n", Tensor::scalar(1000i32))], &fetches, &[]).unwrap_err();
                let node = error.node().unwrap();
                assert_eq!((node.node.as_str(), node.function.as_str()), ("fault", function), "{error}");
            }
        }
    }
}

#[test]
fn a_node_of_a_function_may_wait_for_an_argument() {
    let text = r#"
        node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
        node { name: "y" op: "StatefulPartitionedCall" input: "x" input: "x"
          attr { key: "Tin" value { list { type: DT_FLOAT type: DT_FLOAT } } }
          attr { key: "Tout" value { list { type: DT_FLOAT } } } attr { key: "f" value { func { name: "Second" } } } }
        library { function {
          signature { name: "Second" input_arg { name: "a" type: DT_FLOAT } input_arg { name: "b" type: DT_FLOAT }
            output_arg { name: "y" type: DT_FLOAT } }
          node_def { name: "neg" op: "Neg" input: "b" input: "^a" attr { key: "T" value { type: DT_FLOAT } } }
          ret { key: "y" value: "neg:y:0" }
        } } versions { producer: 2474 }"#;
    let def = kernlink::proto::graph_from_text(text).unwrap();
    let graph = Graph::import(&def, &kernlink::registry().unwrap()).unwrap();
    let y = Session::new(graph).unwrap().run(&[("x", Tensor::scalar(3f32))], &["y"], &[]).unwrap();
    assert_eq!(y[0].to_scalar::<f32>().unwrap(), -3.0);
}

#[test]
fn a_function_that_calls_what_it_is_given_may_call_itself_by_that() {
    // `Apply` calls what it is given, `Down` hands itself to it until `n` is 0.
    let call = |name: &str, inputs: &str, op: &str, attrs: &str| {
        format!(r#"node_def {{ name: "{name}" op: "{op}" {inputs} {attrs} }}"#)
    };
    let int = r#"type: DT_INT32"#;
    let types = format!(
        r#"attr {{ key: "Tin" value {{ list {{ {int} }} }} }} attr {{ key: "Tout" value {{ list {{ {int} }} }} }}"#
    );
    let t = format!(r#"attr {{ key: "T" value {{ {int} }} }}"#);
    let ends = format!(r#"input_arg {{ name: "n" {int} }} output_arg {{ name: "y" {int} }}"#);
    let one = format!(
        r#"attr {{ key: "dtype" value {{ {int} }} }} attr {{ key: "value" value {{ tensor {{ dtype: DT_INT32 tensor_shape {{}} int_val: 1 }} }} }}"#
    );
    let apply = call(
        "c",
        r#"input: "n""#,
        "StatefulPartitionedCall",
        &format!(r#"{types} attr {{ key: "f" value {{ placeholder: "f" }} }}"#),
    );
    let given =
        |name: &str| format!(r#"func {{ name: "Apply" attr {{ key: "f" value {{ func {{ name: "{name}" }} }} }} }}"#);
    let choice = |then: &str| {
        let branches = format!(
            r#"attr {{ key: "then_branch" value {{ {} }} }} attr {{ key: "else_branch" value {{ func {{ name: "Same" }} }} }}"#,
            given(then)
        );
        let cond = r#"attr { key: "Tcond" value { type: DT_INT32 } }"#;
        call("c", r#"input: "n" input: "less:z:0""#, "If", &format!("{cond} {types} {branches}"))
    };
    let down = [
        call("one", "", "Const", &one),
        call("less", r#"input: "n" input: "one:output:0""#, "Sub", &t),
        call("now", "", "Timestamp", ""),
        choice("Down"),
    ];
    let text = format!(
        r#"node {{ name: "n" op: "Placeholder" attr {{ key: "dtype" value {{ {int} }} }} }}
           node {{ name: "y" op: "StatefulPartitionedCall" input: "n" {types} attr {{ key: "f" value {{ func {{ name: "Down" }} }} }} }}
           library {{
             function {{ signature {{ name: "Apply" is_stateful: true {ends} attr {{ name: "f" type: "func" }} }} {apply}
               ret {{ key: "y" value: "c:output:0" }} }}
             function {{ signature {{ name: "Same" {ends} }} ret {{ key: "y" value: "n" }} }}
             function {{ signature {{ name: "Down" is_stateful: true {ends} }} {}
               ret {{ key: "y" value: "c:output:0" }} }}
           }} versions {{ producer: 2474 }}"#,
        down.concat()
    );
    let def = kernlink::proto::graph_from_text(&text).unwrap();
    let session = Session::new(Graph::import(&def, &kernlink::registry().unwrap()).unwrap()).unwrap();
    for _ in 0..2 {
        let y = session.run(&[("n", Tensor::scalar(50i32))], &["y"], &[]).unwrap();
        assert_eq!(y[0].to_scalar::<i32>().unwrap(), -1);
    }
}

/// One if its input is a constant, or else zero.
#[register_op(input("x: float"), output("is_known: float"), shape_fn = shape::unchanged)]
pub(crate) struct KnowsInput;

struct KnowsInputKernel {
    is_known: bool,
}

#[register_kernel(device = Cpu)]
impl OpKernel<KnowsInput> for KnowsInputKernel {
    fn new(ctx: &KernelConstruction<KnowsInput>) -> Result<Self> {
        Ok(KnowsInputKernel { is_known: ctx.constant(KnowsInput::X).is_some() })
    }
    fn compute(&self, ctx: &mut KernelContext<KnowsInput>) -> Result<()> {
        ctx.set_output(KnowsInput::IS_KNOWN, Tensor::scalar(if self.is_known { 1f32 } else { 0.0 }))
    }
}

/// Adds `weight` so many times to what `times` says `by`, and counts in how many iterations a node knew it.
fn counts(
    graph: &mut Graph,
    weight: Output,
    times: i32,
    by: impl Fn(&mut Graph, Output) -> Result<Output>,
) -> [Output; 2] {
    let (zero, none) = (ops::constant(graph, 0i32).unwrap(), ops::constant(graph, 0f32).unwrap());
    let body = |g: &mut Graph, (i, sum, known): (Output, Output, Output)| {
        let more = by(g, weight)?;
        let is_known = knows_input(g, weight).build()?;
        Ok((
            ops::add_v2(g, i, 1i32).build()?,
            ops::add_v2(g, sum, more).build()?,
            ops::add_v2(g, known, is_known).build()?,
        ))
    };
    let less = |g: &mut Graph, (i, _, _)| ops::less(g, i, times).build();
    let (_, sum, known) = ops::while_loop(graph, (zero, none, none), less, body).build().unwrap();
    [sum, known]
}

#[test]
fn what_a_loop_hands_on_of_constants_is_constant_in_its_functions() {
    let mut graph = graph();
    let weight = ops::const_(&mut graph, Tensor::scalar(2.5f32), DataType::Float).name("w").build().unwrap();
    let same = |_: &mut Graph, weight| Ok(weight);
    let plain = counts(&mut graph, weight, 3, same);
    let nested = counts(&mut graph, weight, 2, |g, weight| Ok(counts(g, weight, 2, same)[1]));
    // Each call that has a state has a body of its own in any case.
    let stateful = counts(&mut graph, weight, 3, |g, weight| {
        let noise = ops::random_uniform(g, Vec::<i32>::new(), DataType::Float).build()?;
        let none = ops::mul(g, noise, 0f32).build()?;
        ops::add_v2(g, weight, none).build()
    });
    // Another value in each iteration.
    let (zero, none) = (ops::constant(&mut graph, 0i32).unwrap(), ops::constant(&mut graph, 0f32).unwrap());
    let changes = ops::while_loop(
        &mut graph,
        (zero, weight, none),
        |g, (i, _, _)| ops::less(g, i, 3i32).build(),
        |g, (i, weight, known)| {
            let is_known = knows_input(g, weight).build()?;
            let known = ops::add_v2(g, known, is_known).build()?;
            Ok((ops::add_v2(g, i, 1i32).build()?, ops::neg(g, weight).build()?, known))
        },
    );
    let (_, changed, known) = changes.build().unwrap();
    let fetches: Vec<Output> = [plain, nested, stateful, [changed, known]].concat();
    let names: Vec<String> = fetches.iter().map(|&fetch| graph.output_name(fetch)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for options in [SessionOptions::new(), SessionOptions::new().threads(1).without_pass("fold-constants")] {
        let session = Session::with_options(graph.clone(), &options).unwrap();
        let run = |feeds: &[(&str, Tensor)]| -> Vec<f32> {
            let values = session.run(feeds, &names, &[]).unwrap();
            values.iter().map(|value| value.to_scalar().unwrap()).collect()
        };
        for _ in 0..2 {
            assert_eq!(run(&[]), [7.5, 3.0, 4.0, 2.0, 7.5, 0.0, -2.5, 0.0]);
            // What is fed is no constant, and a loop that was made before does not take it for one.
            assert_eq!(run(&[("w", Tensor::scalar(4f32))]), [12.0, 0.0, 0.0, 0.0, 12.0, 0.0, -4.0, 0.0]);
        }
    }
}

/// As TensorFlow's kernel has it, and as others infer it.
#[test]
fn what_stands_for_a_result_has_the_shape_that_is_said() {
    let mut test = kernlink::testing::cpu();
    let cases: [(PartialShape, &[usize]); 4] = [
        (PartialShape::from_known([Some(2), Some(3)]), &[2, 3]),
        (PartialShape::from_known([None, Some(3)]), &[0, 3]),
        (PartialShape::from_known([Some(3), None, Some(1 << 40)]), &[3, 0, 1 << 40]),
        (PartialShape::unknown(), &[]),
    ];
    for (attr, shape) in cases {
        for dtype in [DataType::Float, DataType::String, DataType::Variant] {
            test.run(|op| ops::fake_param(op, dtype, attr.clone()).build())
                .expect_shape(ops::FakeParam::OUTPUT, shape.to_vec());
        }
    }
}
