//! What a session does beyond computing: kernels that wait, timeouts, cancellation, devices, functions that call
//! themselves, loops without end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kernlink::attr::{AttrValue, FunctionRef};
use kernlink::graph::{NodeBuilder, Output};
use kernlink::prelude::*;
use kernlink::resource::Resource;
use kernlink::runtime::RunOptions;
use kernlink::step::{Cancellation, Waiters};

kernlink::provider!(ops = 6, kernels = 6);

// ---- a gate that one run opens and others wait for ----

#[derive(Default)]
struct Gate {
    opened: AtomicUsize,
    waiters: Waiters,
}

impl Resource for Gate {
    fn type_name() -> &'static str {
        "Gate"
    }
}

/// Waits until the gate was opened as often as `count` says.
#[register_op(input("count: int32"), output("opened: int32"), stateful, shape_fn = shape::unchanged)]
pub struct WaitAtGate;

struct WaitKernel;

#[register_kernel(device = Cpu)]
impl AsyncOpKernel<WaitAtGate> for WaitKernel {
    fn new(_: &KernelConstruction<WaitAtGate>) -> Result<Self> {
        Ok(WaitKernel)
    }
    async fn compute(&self, ctx: &mut KernelContext<'_, WaitAtGate>) -> Result<()> {
        let count = ctx.input(WaitAtGate::COUNT)?.to_scalar::<i32>()? as usize;
        let gate = ctx.resources()?.lookup_or_create("", "gate", || Ok(Gate::default()))?;
        let enough = || Some(gate.opened.load(Ordering::SeqCst)).filter(|&opened| opened >= count);
        let opened = gate.waiters.until(enough).await;
        ctx.set_output(WaitAtGate::OPENED, Tensor::scalar(opened as i32))
    }
}

/// Opens the gate once more.
#[register_op(output("opened: int32"), stateful)]
pub struct OpenGate;

struct OpenKernel;

#[register_kernel(device = Cpu)]
impl OpKernel<OpenGate> for OpenKernel {
    fn new(_: &KernelConstruction<OpenGate>) -> Result<Self> {
        Ok(OpenKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<OpenGate>) -> Result<()> {
        let gate = ctx.resources()?.lookup_or_create("", "gate", || Ok(Gate::default()))?;
        let opened = gate.opened.fetch_add(1, Ordering::SeqCst) + 1;
        gate.waiters.wake_all();
        ctx.set_output(OpenGate::OPENED, Tensor::scalar(opened as i32))
    }
}

/// Panics, or fails, after it has waited for nothing.
#[register_op(attr("panics: bool"), output("never: int32"), stateful)]
pub struct FailLater;

struct FailKernel {
    panics: bool,
}

#[register_kernel(device = Cpu)]
impl AsyncOpKernel<FailLater> for FailKernel {
    fn new(ctx: &KernelConstruction<FailLater>) -> Result<Self> {
        Ok(FailKernel { panics: ctx.attrs().panics })
    }
    async fn compute(&self, _: &mut KernelContext<'_, FailLater>) -> Result<()> {
        assert!(!self.panics, "as asked");
        bail!(DataLoss, "as asked")
    }
}

/// Takes a millisecond.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged)]
pub struct Slow;

struct SlowKernel;

#[register_kernel(device = Cpu)]
impl OpKernel<Slow> for SlowKernel {
    fn new(_: &KernelConstruction<Slow>) -> Result<Self> {
        Ok(SlowKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<Slow>) -> Result<()> {
        std::thread::sleep(Duration::from_millis(1));
        let x = ctx.take_input(Slow::X)?;
        ctx.set_output(Slow::Y, x)
    }
}

/// Hands on its input; its kernels, of which each plan has its own, are counted.
#[register_op(input("x: int32"), output("y: int32"), shape_fn = shape::unchanged)]
pub struct Counted;

struct CountedKernel;

static COUNTED: AtomicUsize = AtomicUsize::new(0);

#[register_kernel(device = Cpu)]
impl OpKernel<Counted> for CountedKernel {
    fn new(_: &KernelConstruction<Counted>) -> Result<Self> {
        COUNTED.fetch_add(1, Ordering::SeqCst);
        Ok(CountedKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<Counted>) -> Result<()> {
        let x = ctx.take_input(Counted::X)?;
        ctx.set_output(Counted::Y, x)
    }
}

impl Drop for CountedKernel {
    fn drop(&mut self) {
        COUNTED.fetch_sub(1, Ordering::SeqCst);
    }
}

// ---- helpers ----

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

fn waiting_graph() -> Graph {
    let mut graph = graph();
    let count = node(&mut graph, "Placeholder", "count", &[], &[("dtype", DataType::Int32.into())]);
    node(&mut graph, "WaitAtGate", "wait", &[count], &[]);
    node(&mut graph, "OpenGate", "open", &[], &[]);
    node(&mut graph, "FailLater", "fail", &[], &[("panics", false.into())]);
    node(&mut graph, "FailLater", "panic", &[], &[("panics", true.into())]);
    graph
}

/// A loop that never ends.
fn endless() -> Graph {
    let text = r#"
        node { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
               attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 0 } } } }
        node { name: "true" op: "Const" attr { key: "dtype" value { type: DT_BOOL } }
               attr { key: "value" value { tensor { dtype: DT_BOOL tensor_shape {} bool_val: true } } } }
        node { name: "enter" op: "Enter" input: "zero" attr { key: "T" value { type: DT_INT32 } }
               attr { key: "frame_name" value { s: "loop" } } }
        node { name: "always" op: "Enter" input: "true" attr { key: "T" value { type: DT_BOOL } }
               attr { key: "frame_name" value { s: "loop" } } attr { key: "is_constant" value { b: true } } }
        node { name: "merge" op: "Merge" input: "enter" input: "next" attr { key: "T" value { type: DT_INT32 } }
               attr { key: "N" value { i: 2 } } }
        node { name: "switch" op: "Switch" input: "merge" input: "always" attr { key: "T" value { type: DT_INT32 } } }
        node { name: "more" op: "Add" input: "switch:1" input: "switch:1" attr { key: "T" value { type: DT_INT32 } } }
        node { name: "next" op: "NextIteration" input: "more" attr { key: "T" value { type: DT_INT32 } } }
        node { name: "exit" op: "Exit" input: "switch" attr { key: "T" value { type: DT_INT32 } } }
        versions { producer: 2474 }"#;
    let def = kernlink::proto::graph_from_text(text).unwrap();
    Graph::import(&def, &kernlink::registry().unwrap()).unwrap()
}

fn scalar(value: f32) -> Tensor {
    Tensor::scalar(value)
}

// ---- kernels that wait ----

#[test]
fn kernels_that_wait_hold_no_thread() {
    for threads in [1, 2] {
        let session = Session::with_options(waiting_graph(), &SessionOptions::new().threads(threads)).unwrap();
        let runs = 16;
        std::thread::scope(|scope| {
            for _ in 0..runs {
                scope.spawn(|| {
                    let answer = session.run(&[("count", Tensor::scalar(20i32))], &["wait"], &[]).unwrap();
                    assert_eq!(answer[0].to_scalar::<i32>().unwrap(), 20);
                });
            }
            for _ in 0..20 {
                session.run(&[], &[], &["open"]).unwrap();
            }
        });
    }
}

#[test]
fn waiting_ends_with_the_time_a_cancellation_or_the_session() {
    let session = Session::with_options(waiting_graph(), &SessionOptions::new().threads(2)).unwrap();
    let feeds = [("count", Tensor::scalar(1000i32))];
    let options = RunOptions::new().timeout(Duration::from_millis(20));
    let error = session.run_with(&feeds, &["wait"], &[], &options).unwrap_err();
    assert_eq!(error.code(), kernlink::Code::DeadlineExceeded);

    let cancellation = Cancellation::new();
    let options = RunOptions::new().cancellation(&cancellation);
    std::thread::scope(|scope| {
        let run = scope.spawn(|| session.run_with(&feeds, &["wait"], &[], &options).unwrap_err());
        std::thread::sleep(Duration::from_millis(10));
        cancellation.cancel(kernlink::Error::new(kernlink::Code::Aborted, "enough"));
        assert_eq!(run.join().unwrap().code(), kernlink::Code::Aborted);
        let run = scope.spawn(|| session.run(&feeds, &["wait"], &[]).unwrap_err());
        std::thread::sleep(Duration::from_millis(10));
        session.close();
        assert_eq!(run.join().unwrap().code(), kernlink::Code::Cancelled);
    });
    let error = session.run(&[], &["open"], &[]).unwrap_err();
    assert_eq!((error.code(), error.message()), (kernlink::Code::Cancelled, "Session has been closed."));
}

#[test]
fn what_is_cancelled_before_it_begins_does_nothing() {
    let session = Session::with_options(waiting_graph(), &SessionOptions::new().threads(2)).unwrap();
    let cancellation = Cancellation::new();
    cancellation.cancel(kernlink::Error::new(kernlink::Code::Aborted, "enough"));
    let error = session.run_with(&[], &["open"], &[], &RunOptions::new().cancellation(&cancellation)).unwrap_err();
    assert_eq!((error.code(), error.message()), (kernlink::Code::Aborted, "enough"));
    assert_eq!(session.run(&[], &["open"], &[]).unwrap()[0].to_scalar::<i32>().unwrap(), 1);
}

#[test]
fn what_fails_ends_what_waits_and_names_its_node() {
    let session = Session::with_options(waiting_graph(), &SessionOptions::new().threads(2)).unwrap();
    let feeds = [("count", Tensor::scalar(1000i32))];
    let error = session.run(&feeds, &["wait", "fail"], &[]).unwrap_err();
    assert_eq!((error.code(), error.node().unwrap().node.as_str()), (kernlink::Code::DataLoss, "fail"));
    let error = session.run(&feeds, &["wait", "panic"], &[]).unwrap_err();
    assert_eq!((error.code(), error.node().unwrap().node.as_str()), (kernlink::Code::Internal, "panic"));
    assert!(error.message().contains("as asked"), "{error}");
    // The session lives on.
    session.run(&[], &["open"], &[]).unwrap();
}

// ---- loops and functions without end ----

#[test]
fn an_endless_loop_ends_with_the_time_or_the_session() {
    for threads in [1, 2] {
        let session = Session::with_options(endless(), &SessionOptions::new().threads(threads)).unwrap();
        let start = Instant::now();
        let options = RunOptions::new().timeout(Duration::from_millis(30));
        let error = session.run_with(&[], &["exit"], &[], &options).unwrap_err();
        assert_eq!(error.code(), kernlink::Code::DeadlineExceeded);
        assert!(start.elapsed() < Duration::from_secs(5));
        std::thread::scope(|scope| {
            let run = scope.spawn(|| session.run(&[], &["exit"], &[]).unwrap_err());
            std::thread::sleep(Duration::from_millis(10));
            session.close();
            assert_eq!(run.join().unwrap().code(), kernlink::Code::Cancelled);
        });
    }
}

/// A loop over functions that never ends, and functions that call each other more often than anyone can wait for. No body
/// has many nodes, and nothing waits.
fn endless_calls() -> Graph {
    let signature = |name: &str, to: &str| {
        format!(
            r#"signature {{ name: "{name}" input_arg {{ name: "n" type: DT_INT32 }}
               output_arg {{ name: "r" type: {to} }} }}"#
        )
    };
    let int = r#"attr { key: "T" value { type: DT_INT32 } }"#;
    let mut functions = format!(
        r#"function {{ {always} node_def {{ name: "same" op: "Equal" input: "n" input: "n" {int} }}
             ret {{ key: "r" value: "same:z:0" }} }}
           function {{ {level} node_def {{ name: "sum" op: "AddV2" input: "n" input: "n" {int} }}
             ret {{ key: "r" value: "sum:z:0" }} }}"#,
        always = signature("Always", "DT_BOOL"),
        level = signature("Level0", "DT_INT32"),
    );
    // What their shapes are is not looked into.
    let call = |level: usize| {
        let int = "value { list { type: DT_INT32 } }";
        format!(
            r#"op: "PartitionedCall" input: "n" attr {{ key: "Tin" {int} }} attr {{ key: "Tout" {int} }}
               attr {{ key: "f" value {{ func {{ name: "Level{level}" }} }} }}
               attr {{ key: "_disable_call_shape_inference" value {{ b: true }} }}"#
        )
    };
    const CALLS: usize = 50;
    for level in 1..8 {
        let head = signature(&format!("Level{level}"), "DT_INT32");
        let below = call(level - 1);
        let calls: String =
            (0..CALLS).map(|number| format!(r#"node_def {{ name: "call_{number}" {below} }} "#)).collect();
        let inputs: String = (0..CALLS).map(|number| format!(r#"input: "call_{number}:output:0" "#)).collect();
        functions += &format!(
            r#"function {{ {head} {calls}
                 node_def {{ name: "sum" op: "AddN" {inputs} {int} attr {{ key: "N" value {{ i: {CALLS} }} }} }}
                 ret {{ key: "r" value: "sum:sum:0" }} }}"#
        );
    }
    let text = format!(
        r#"node {{ name: "n" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_INT32 }} }} }}
           node {{ name: "loop" op: "StatelessWhile" input: "n" attr {{ key: "T" value {{ list {{ type: DT_INT32 }} }} }}
             attr {{ key: "cond" value {{ func {{ name: "Always" }} }} }}
             attr {{ key: "body" value {{ func {{ name: "Level0" }} }} }} }}
           node {{ name: "calls" {calls} }}
           library {{ {functions} }} versions {{ producer: 2474 }}"#,
        calls = call(7)
    );
    let def = kernlink::proto::graph_from_text(&text).unwrap();
    Graph::import(&def, &kernlink::registry().unwrap()).unwrap()
}

#[test]
fn endless_calls_end_with_the_time_a_cancellation_or_the_session() {
    use kernlink::Code;
    let graph = endless_calls();
    for (threads, fetch) in [(1, "loop"), (2, "loop"), (1, "calls"), (2, "calls")] {
        let session = Session::with_options(graph.clone(), &SessionOptions::new().threads(threads)).unwrap();
        let run = |options: &RunOptions| {
            session.run_with(&[("n", Tensor::scalar(1i32))], &[fetch], &[], options).unwrap_err()
        };
        // Once as long as its kernels are new, and once when they are known to be cheap.
        for _ in 0..2 {
            let error = run(&RunOptions::new().timeout(Duration::from_millis(30)));
            assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
            assert!(error.node().is_none(), "{error}");
        }
        let cancellation = Cancellation::new();
        std::thread::scope(|scope| {
            let ended = scope.spawn(|| run(&RunOptions::new().cancellation(&cancellation)));
            std::thread::sleep(Duration::from_millis(10));
            cancellation.cancel(kernlink::Error::new(Code::Aborted, "enough"));
            assert_eq!(ended.join().unwrap().code(), Code::Aborted);
            let ended = scope.spawn(|| run(&RunOptions::new()));
            std::thread::sleep(Duration::from_millis(10));
            session.close();
            assert_eq!(ended.join().unwrap().code(), Code::Cancelled);
        });
    }
}

#[test]
fn recursion_without_end_is_an_error_and_deep_recursion_none() {
    let text = r#"
        node { name: "n" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } }
        node { name: "down" op: "Down" input: "n" }
        library {
          function {
            signature { name: "Down" input_arg { name: "n" type: DT_INT32 } output_arg { name: "r" type: DT_INT32 } }
            node_def { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
              attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 0 } } } }
            node_def { name: "end" op: "Equal" input: "n" input: "zero:output:0" attr { key: "T" value { type: DT_INT32 } } }
            node_def { name: "if" op: "StatelessIf" input: "end:z:0" input: "n"
              attr { key: "Tcond" value { type: DT_BOOL } }
              attr { key: "Tin" value { list { type: DT_INT32 } } } attr { key: "Tout" value { list { type: DT_INT32 } } }
              attr { key: "then_branch" value { func { name: "Same" } } }
              attr { key: "else_branch" value { func { name: "Less" } } } }
            ret { key: "r" value: "if:output:0" }
          }
          function {
            signature { name: "Same" input_arg { name: "n" type: DT_INT32 } output_arg { name: "r" type: DT_INT32 } }
            ret { key: "r" value: "n" }
          }
          function {
            signature { name: "Less" input_arg { name: "n" type: DT_INT32 } output_arg { name: "r" type: DT_INT32 } }
            node_def { name: "one" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
              attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }
            node_def { name: "less" op: "Sub" input: "n" input: "one:output:0" attr { key: "T" value { type: DT_INT32 } } }
            node_def { name: "again" op: "Down" input: "less:z:0" }
            node_def { name: "more" op: "Add" input: "again:r:0" input: "one:output:0" attr { key: "T" value { type: DT_INT32 } } }
            ret { key: "r" value: "more:z:0" }
          }
        }
        versions { producer: 2474 }"#;
    let def = kernlink::proto::graph_from_text(text).unwrap();
    for threads in [1, 2] {
        let graph = Graph::import(&def, &kernlink::registry().unwrap()).unwrap();
        let session = Session::with_options(graph, &SessionOptions::new().threads(threads)).unwrap();
        let down = |n: i32| session.run(&[("n", Tensor::scalar(n))], &["down"], &[]);
        for n in [0, 1, 7, 300] {
            assert_eq!(down(n).unwrap()[0].to_scalar::<i32>().unwrap(), n);
        }
        let error = down(-1).unwrap_err();
        assert_eq!(error.code(), kernlink::Code::ResourceExhausted, "{error}");
        assert_eq!(down(3).unwrap()[0].to_scalar::<i32>().unwrap(), 3);
    }
}

#[test]
fn functions_that_call_each_other_go_with_their_session() {
    let int = r#"attr { key: "T" value { type: DT_INT32 } }"#;
    let constant = |name: &str, value: i32| {
        format!(
            r#"node_def {{ name: "{name}" op: "Const" attr {{ key: "dtype" value {{ type: DT_INT32 }} }} attr {{
               key: "value" value {{ tensor {{ dtype: DT_INT32 tensor_shape {{}} int_val: {value} }} }} }} }}"#
        )
    };
    let signature = |name: &str| {
        format!(
            r#"signature {{ name: "{name}" input_arg {{ name: "n" type: DT_INT32 }}
               output_arg {{ name: "r" type: DT_INT32 }} }}"#
        )
    };
    // Whether `n` is even, by way of whether `n - 1` is odd, and the other way round.
    let asks = |name: &str, other: &str, at_zero: i32| {
        format!(
            r#"function {{ {head} {zero}
                 node_def {{ name: "seen" op: "Counted" input: "n" }}
                 node_def {{ name: "end" op: "Equal" input: "seen:y:0" input: "zero:output:0" {int} }}
                 node_def {{ name: "if" op: "StatelessIf" input: "end:z:0" input: "seen:y:0"
                   attr {{ key: "Tcond" value {{ type: DT_BOOL }} }}
                   attr {{ key: "Tin" value {{ list {{ type: DT_INT32 }} }} }}
                   attr {{ key: "Tout" value {{ list {{ type: DT_INT32 }} }} }}
                   attr {{ key: "then_branch" value {{ func {{ name: "{name}End" }} }} }}
                   attr {{ key: "else_branch" value {{ func {{ name: "{name}Less" }} }} }} }}
                 ret {{ key: "r" value: "if:output:0" }} }}
               function {{ {end_head} {end} ret {{ key: "r" value: "end:output:0" }} }}
               function {{ {less_head} {one}
                 node_def {{ name: "less" op: "Sub" input: "n" input: "one:output:0" {int} }}
                 node_def {{ name: "ask" op: "{other}" input: "less:z:0" }}
                 ret {{ key: "r" value: "ask:r:0" }} }}"#,
            head = signature(name),
            end_head = signature(&format!("{name}End")),
            less_head = signature(&format!("{name}Less")),
            zero = constant("zero", 0),
            one = constant("one", 1),
            end = constant("end", at_zero),
        )
    };
    let text = format!(
        r#"node {{ name: "n" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_INT32 }} }} }}
           node {{ name: "even" op: "Even" input: "n" }} node {{ name: "odd" op: "Odd" input: "n" }}
           library {{ {} {} }} versions {{ producer: 2474 }}"#,
        asks("Even", "Odd", 1),
        asks("Odd", "Even", 0)
    );
    let def = kernlink::proto::graph_from_text(&text).unwrap();
    for threads in [1, 2] {
        let graph = Graph::import(&def, &kernlink::registry().unwrap()).unwrap();
        let session = Session::with_options(graph, &SessionOptions::new().threads(threads)).unwrap();
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

/// Adds 1 in place, if its input is its own, or else hands it on.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged)]
pub struct AddInPlace;

struct AddInPlaceKernel;

#[register_kernel(device = Cpu)]
impl OpKernel<AddInPlace> for AddInPlaceKernel {
    fn new(_: &KernelConstruction<AddInPlace>) -> Result<Self> {
        Ok(AddInPlaceKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<AddInPlace>) -> Result<()> {
        let mut x = ctx.take_input(AddInPlace::X)?;
        if x.is_unique() {
            x.as_mut_slice::<f32>()?.iter_mut().for_each(|x| *x += 1.0);
        }
        ctx.set_output(AddInPlace::Y, x)
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

// ---- devices ----

fn placed(devices: &[(&str, &str)]) -> Graph {
    let mut graph = graph();
    let mut last = node(&mut graph, "Placeholder", "x", &[], &[("dtype", DataType::Float.into())]);
    for (name, device) in devices {
        last = ops::add_v2(&mut graph, last, 1.0f32).name(name).device(device).build().unwrap();
    }
    graph
}

#[test]
fn nodes_run_where_they_ask_and_tensors_follow() {
    let graph = placed(&[("a", "/cpu:1"), ("b", ""), ("c", "/device:CPU:2"), ("d", "/job:localhost/device:CPU:1")]);
    let options = SessionOptions::new().threads(2).cpu_devices(3).strict_placement(true);
    let session = Session::with_options(graph, &options).unwrap();
    let device = |name: &str| session.device_of(session.graph().find(name).unwrap()).unwrap().to_owned();
    assert_eq!(["a", "b", "c", "d"].map(device), ["/device:CPU:1", "/device:CPU:0", "/device:CPU:2", "/device:CPU:1"]);
    for _ in 0..3 {
        let y = session.run(&[("x", Tensor::scalar(1f32))], &["d", "a"], &[]).unwrap();
        assert_eq!((y[0].to_scalar::<f32>().unwrap(), y[1].to_scalar::<f32>().unwrap()), (5.0, 2.0));
    }
}

#[test]
fn what_cannot_be_placed_is_refused_or_goes_elsewhere() {
    let strict = SessionOptions::new().threads(1).cpu_devices(2).strict_placement(true);
    for (device, text) in
        [("/cpu:7", "available devices are [ /device:CPU:0, /device:CPU:1 ]"), ("/gpu:0", "explicitly")]
    {
        let session = Session::with_options(placed(&[("a", device)]), &strict).unwrap();
        let error = session.run(&[("x", Tensor::scalar(1f32))], &["a"], &[]).unwrap_err();
        assert_eq!(error.code(), kernlink::Code::InvalidArgument);
        assert!(error.message().contains(text), "{error}");
    }
    let soft = SessionOptions::new().threads(1).cpu_devices(2);
    for device in ["/cpu:7", "/gpu:0", "/job:ps/task:3"] {
        let session = Session::with_options(placed(&[("a", device)]), &soft).unwrap();
        let y = session.run(&[("x", Tensor::scalar(1f32))], &["a"], &[]).unwrap();
        assert_eq!(y[0].to_scalar::<f32>().unwrap(), 2.0);
    }
    for options in [&strict, &SessionOptions::new().threads(1)] {
        let session = Session::with_options(placed(&[("a", "/device:CPU:zero")]), options).unwrap();
        let error = session.run(&[("x", Tensor::scalar(1f32))], &["a"], &[]).unwrap_err();
        assert!(error.message().contains("Malformed device specification"), "{error}");
    }
}

#[test]
fn colocated_nodes_stay_together() {
    let mut graph = placed(&[("a", "/cpu:1")]);
    let class = AttrValue::ListString(vec!["loc:@a".into()]);
    let x = graph.output("x").unwrap();
    let attrs = [("_class", class.clone())];
    node(&mut graph, "Square", "with_a", &[x], &attrs);
    let strict = SessionOptions::new().threads(1).cpu_devices(2).strict_placement(true);
    let session = Session::with_options(graph.clone(), &strict).unwrap();
    assert_eq!(session.device_of(session.graph().find("with_a").unwrap()).unwrap(), "/device:CPU:1");

    let def = graph.registry().op("Square").unwrap().def;
    let mut elsewhere = NodeBuilder::new(&mut graph, def);
    elsewhere.name("elsewhere").input(x).attr("_class", class).device("/cpu:0");
    elsewhere.build().unwrap();
    let session = Session::with_options(graph, &strict).unwrap();
    let error = session.run(&[("x", Tensor::scalar(1f32))], &["a"], &[]).unwrap_err();
    assert!(error.message().contains("Cannot colocate nodes"), "{error}");
}

#[test]
fn loops_go_across_devices() {
    let mut def = endless().to_def().unwrap();
    for node in &mut def.node {
        if node.name == "always" {
            // It ends at once: what the other side of the switch does is dead on both devices.
            node.input = vec!["false".to_owned()];
        }
        node.device = match node.name.as_str() {
            "more" | "next" => "/cpu:1".to_owned(),
            _ => String::new(),
        };
    }
    let text = r#"node { name: "false" op: "Const" attr { key: "dtype" value { type: DT_BOOL } }
        attr { key: "value" value { tensor { dtype: DT_BOOL tensor_shape {} bool_val: false } } } }"#;
    def.node.extend(kernlink::proto::graph_from_text(text).unwrap().node);
    let counting = r#"
        node { name: "limit" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
               attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 50 } } } }
        node { name: "one" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
               attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }
        node { name: "c/enter" op: "Enter" input: "zero" attr { key: "T" value { type: DT_INT32 } }
               attr { key: "frame_name" value { s: "count" } } }
        node { name: "c/limit" op: "Enter" input: "limit" attr { key: "T" value { type: DT_INT32 } }
               attr { key: "frame_name" value { s: "count" } } attr { key: "is_constant" value { b: true } } }
        node { name: "c/one" op: "Enter" input: "one" device: "/cpu:1" attr { key: "T" value { type: DT_INT32 } }
               attr { key: "frame_name" value { s: "count" } } attr { key: "is_constant" value { b: true } } }
        node { name: "c/merge" op: "Merge" input: "c/enter" input: "c/next" attr { key: "T" value { type: DT_INT32 } }
               attr { key: "N" value { i: 2 } } }
        node { name: "c/less" op: "Less" input: "c/merge" input: "c/limit" device: "/cpu:1"
               attr { key: "T" value { type: DT_INT32 } } }
        node { name: "c/switch" op: "Switch" input: "c/merge" input: "c/less" attr { key: "T" value { type: DT_INT32 } } }
        node { name: "c/more" op: "Add" input: "c/switch:1" input: "c/one" device: "/cpu:1"
               attr { key: "T" value { type: DT_INT32 } } }
        node { name: "c/next" op: "NextIteration" input: "c/more" device: "/cpu:1" attr { key: "T" value { type: DT_INT32 } } }
        node { name: "c/exit" op: "Exit" input: "c/switch" attr { key: "T" value { type: DT_INT32 } } }"#;
    def.node.extend(kernlink::proto::graph_from_text(counting).unwrap().node);
    let graph = Graph::import(&def, &kernlink::registry().unwrap()).unwrap();
    for threads in [1, 2] {
        let options = SessionOptions::new().threads(threads).cpu_devices(2).strict_placement(true);
        let session = Session::with_options(graph.clone(), &options).unwrap();
        for _ in 0..3 {
            let ends = session.run(&[], &["exit", "c/exit"], &[]).unwrap();
            assert_eq!(ends[0].to_scalar::<i32>().unwrap(), 0);
            assert_eq!(ends[1].to_scalar::<i32>().unwrap(), 50);
        }
    }
}

// ---- the pool ----

#[test]
fn expensive_nodes_share_the_pool() {
    let mut graph = graph();
    let x = node(&mut graph, "Placeholder", "x", &[], &[("dtype", DataType::Float.into())]);
    let slow: Vec<Output> = (0..64).map(|i| node(&mut graph, "Slow", &format!("slow_{i}"), &[x], &[])).collect();
    ops::add_n(&mut graph, slow).name("sum").build().unwrap();
    let session = Arc::new(Session::with_options(graph, &SessionOptions::new().threads(8)).unwrap());
    session.run(&[("x", Tensor::scalar(1f32))], &["sum"], &[]).unwrap();
    let start = Instant::now();
    let sum = session.run(&[("x", Tensor::scalar(1f32))], &["sum"], &[]).unwrap();
    assert_eq!(sum[0].to_scalar::<f32>().unwrap(), 64.0);
    // One after the other they would take 64 milliseconds.
    assert!(start.elapsed() < Duration::from_millis(50), "{:?}", start.elapsed());
}

// ---- partial runs, statistics ----

#[test]
fn a_partial_run_takes_feeds_and_gives_fetches_one_by_one() {
    let mut graph = graph();
    let float = [("dtype", AttrValue::from(DataType::Float))];
    let (a, b) = (node(&mut graph, "Placeholder", "a", &[], &float), node(&mut graph, "Placeholder", "b", &[], &float));
    let square = node(&mut graph, "Square", "square", &[a], &[]);
    node(&mut graph, "AddV2", "sum", &[square, b], &[]);
    let session = Session::with_options(graph, &SessionOptions::new().threads(2)).unwrap();
    let run = session.partial_run_setup(&["a", "b"], &["square", "sum"], &[]).unwrap();
    let early = run.run(&[], &["square"]).unwrap_err();
    assert!(early.message().contains("not fed yet"), "{early}");
    let square = run.run(&[("a", scalar(3.0))], &["square"]).unwrap();
    assert_eq!(square[0].to_scalar::<f32>().unwrap(), 9.0);
    assert!(run.run(&[("a", scalar(3.0))], &[]).unwrap_err().message().contains("already been fed"));
    assert!(run.run(&[], &["square"]).unwrap_err().message().contains("already been fetched"));
    assert!(run.run(&[("c", scalar(3.0))], &[]).unwrap_err().message().contains("no feed"));
    let sum = run.run(&[("b:0", scalar(1.0))], &["sum"]).unwrap();
    assert_eq!(sum[0].to_scalar::<f32>().unwrap(), 10.0);

    // What was computed before something was missing is not lost, and a feed that does not fit ends nothing.
    let run = session.partial_run_setup(&["a", "b"], &["square", "sum"], &[]).unwrap();
    let error = run.run(&[("a", Tensor::scalar(3i32))], &[]).unwrap_err();
    assert!(error.message().contains("must be float"), "{error}");
    assert!(run.run(&[("a", scalar(3.0))], &["square", "sum"]).unwrap_err().message().contains("not fed yet"));
    let both = run.run(&[("b", scalar(1.0))], &["sum", "square"]).unwrap();
    assert_eq!((both[0].to_scalar::<f32>().unwrap(), both[1].to_scalar::<f32>().unwrap()), (10.0, 9.0));

    let run = session.partial_run_setup(&["a", "b"], &["square", "sum"], &[]).unwrap();
    session.close();
    assert_eq!(run.run(&[("a", scalar(3.0))], &["square"]).unwrap_err().code(), kernlink::Code::Cancelled);
}

#[test]
fn what_a_partial_run_feeds_is_not_computed_instead() {
    let mut graph = graph();
    let x = node(&mut graph, "Placeholder", "x", &[], &[("dtype", AttrValue::from(DataType::Float))]);
    let parts = node(&mut graph, "Unpack", "parts", &[x], &[("num", AttrValue::Int(2))]);
    let second = Output { index: 1, ..parts };
    node(&mut graph, "Sub", "less", &[parts, second], &[]);
    let session = Session::with_options(graph, &SessionOptions::new().threads(2)).unwrap();
    // The other part is needed, and so its node runs.
    let run = session.partial_run_setup(&["x", "parts:0"], &["less"], &[]).unwrap();
    let feeds = [("x", Tensor::vector(&[1f32, 2.0]).unwrap()), ("parts:0", scalar(10.0))];
    let less = run.run(&feeds, &["less"]).unwrap();
    assert_eq!(less[0].to_scalar::<f32>().unwrap(), 8.0);
}

#[test]
fn a_partial_run_ends_with_its_time_or_a_cancellation() {
    let timeout = || RunOptions::new().timeout(Duration::from_millis(20));
    let code = |result: Result<Vec<Tensor>>| result.unwrap_err().code();
    // Once it waits, and once it never comes to wait.
    let session = Session::with_options(waiting_graph(), &SessionOptions::new().threads(2)).unwrap();
    let feeds = [("count", Tensor::scalar(1000i32))];
    let run = session.partial_run_setup(&["count"], &["wait"], &[]).unwrap();
    assert_eq!(code(run.run_with(&feeds, &["wait"], &timeout())), kernlink::Code::DeadlineExceeded);
    assert_eq!(code(run.run(&[], &["wait"])), kernlink::Code::DeadlineExceeded);
    let session = Session::with_options(endless(), &SessionOptions::new().threads(2)).unwrap();
    let run = session.partial_run_setup(&[], &["exit"], &[]).unwrap();
    assert_eq!(code(run.run_with(&[], &["exit"], &timeout())), kernlink::Code::DeadlineExceeded);
    let run = session.partial_run_setup(&[], &["exit"], &[]).unwrap();
    let cancellation = Cancellation::new();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| code(run.run_with(&[], &["exit"], &RunOptions::new().cancellation(&cancellation))));
        std::thread::sleep(Duration::from_millis(10));
        cancellation.cancel(kernlink::Error::new(kernlink::Code::Aborted, "enough"));
        assert_eq!(run.join().unwrap(), kernlink::Code::Aborted);
    });
}

#[test]
fn statistics_name_every_node_that_ran() {
    let session = Session::with_options(placed(&[("a", ""), ("b", "")]), &SessionOptions::new().threads(2)).unwrap();
    let mut metadata = kernlink::runtime::RunMetadata::default();
    let options = RunOptions::new().trace(true);
    session.run_with_metadata(&[("x", Tensor::scalar(1f32))], &["b"], &[], &options, &mut metadata).unwrap();
    let names: Vec<&str> = metadata.step_stats.iter().map(|stats| stats.node.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let stats = &metadata.step_stats[1];
    assert_eq!((stats.op.as_str(), stats.device.as_str(), stats.output_bytes), ("AddV2", "/device:CPU:0", 4));
    assert!(!stats.is_async && stats.depth == 0, "{stats:?}");
    assert!(stats.start + stats.time <= metadata.time);
}
