//! Loops, calls and recursion without end.

use std::time::{Duration, Instant};

use kernlink::graph::{Function, FunctionBuilder};
use kernlink::prelude::*;
use kernlink::runtime::RunOptions;
use kernlink::step::Cancellation;

use crate::graphs::endless;
use crate::support::chain::chain;

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
fn eager_ops_end_when_their_context_is_cancelled() {
    use kernlink::Code;
    use kernlink::attr::{AttrValue, FunctionRef};
    use kernlink::graph::NodeBuilder;
    let context = EagerContext::new(&kernlink::registry().unwrap()).unwrap().with_functions(&endless_calls());
    let function = |name: &str| AttrValue::Func(FunctionRef { name: name.to_owned(), attrs: Default::default() });
    let goes_round = |mut eager: EagerContext| {
        let mut node = NodeBuilder::new(&mut eager, <ops::StatelessWhile as kernlink::op::Op>::DEF);
        node.input_list([1i32]).attr("cond", function("Always")).attr("body", function("Level0"));
        node.build_outputs().map(drop)
    };
    let waits = |mut eager: EagerContext| {
        let queue = ops::fifo_queue_v2(&mut eager, [DataType::Int32]).build()?;
        ops::queue_dequeue_v2(&mut eager, queue, [DataType::Int32]).build().map(drop)
    };
    let works: [&(dyn Fn(EagerContext) -> Result<()> + Sync); 2] = [&goes_round, &waits];
    for work in works {
        let cancellation = Cancellation::new();
        let eager = context.cancelled_by(&cancellation);
        std::thread::scope(|scope| {
            let ended = scope.spawn(|| work(eager.clone()).unwrap_err());
            std::thread::sleep(Duration::from_millis(20));
            assert!(!ended.is_finished());
            cancellation.cancel(kernlink::Error::new(Code::Aborted, "enough"));
            assert_eq!(ended.join().unwrap().code(), Code::Aborted);
        });
        // What begins later does nothing; the context that it came from goes on.
        assert_eq!(ops::neg(&mut eager.clone(), 1i32).build().unwrap_err().code(), Code::Aborted);
        assert_eq!(ops::neg(&mut context.clone(), 1i32).build().unwrap().to_scalar::<i32>().unwrap(), -1);
    }
    // What fails in such a context cancels nothing else.
    let cancellation = Cancellation::new();
    let mut eager = context.cancelled_by(&cancellation);
    assert!(ops::mat_mul(&mut eager, [1.0f32], [1.0f32]).build().is_err());
    assert!(!cancellation.is_cancelled() && ops::neg(&mut eager, 1i32).build().is_ok());
}

#[test]
fn recursion_without_end_is_an_error_and_deep_recursion_none() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let n = ops::placeholder(&mut graph, DataType::Int32).name("n").build().unwrap();
    let itself = Function::declare("Down", [DataType::Int32], [DataType::Int32], false);
    let down = FunctionBuilder::new("Down", [DataType::Int32]).build(&mut graph, |g, [n]| {
        let end = ops::equal(g, n, 0i32).build()?;
        let more = |g: &mut Graph| {
            let less = ops::sub(g, n, 1i32).build()?;
            let again = ops::call(g, &itself, [less]).build()?[0];
            ops::add(g, again, 1i32).build()
        };
        ops::cond(g, end, |_| Ok(n), more).build()
    });
    ops::call(&mut graph, &down.unwrap(), [n]).name("down").build().unwrap();
    for threads in [1, 2] {
        let session = Session::with_options(graph.clone(), &SessionOptions::new().threads(threads)).unwrap();
        let down = |n: i32| session.run(&[("n", Tensor::scalar(n))], &["down"], &[]);
        for n in [0, 1, 7, 300] {
            assert_eq!(down(n).unwrap()[0].to_scalar::<i32>().unwrap(), n);
        }
        let error = down(-1).unwrap_err();
        assert_eq!(error.code(), kernlink::Code::ResourceExhausted, "{error}");
        assert!(error.message().contains("function `Down` is called within 1000 other calls"), "{error}");
        assert!(error.message().contains("SessionOptions::call_depth"), "{error}");
        assert_eq!(down(3).unwrap()[0].to_scalar::<i32>().unwrap(), 3);
    }
}

#[test]
fn calls_may_be_nested_as_deeply_as_a_session_allows() {
    const LENGTH: usize = 20_000;
    for stateful in [false, true] {
        let graph = Graph::import(&chain(LENGTH, stateful), &kernlink::registry().unwrap()).unwrap();
        for threads in if stateful { 1..2 } else { 2..3 } {
            let options = SessionOptions::new().threads(threads);
            let session = Session::with_options(graph.clone(), &options).unwrap();
            let error = session.run(&[], &["y"], &[]).unwrap_err();
            assert_eq!(error.code(), kernlink::Code::ResourceExhausted, "{error}");
            assert!(error.message().contains("is called within 1000 other calls"), "{error}");
            let session = Session::with_options(graph.clone(), &options.call_depth(LENGTH as u32)).unwrap();
            for _ in 0..2 {
                assert_eq!(session.run(&[], &["y"], &[]).unwrap()[0].to_scalar::<f32>().unwrap(), -2.0);
            }
        }
        // What is prepared has a bound, which is said.
        let session = Session::new(graph).unwrap();
        let error = session.prepare(&[], &["y"], &[]).map(drop).unwrap_err();
        assert_eq!(error.code(), kernlink::Code::ResourceExhausted, "{error}");
        assert!(error.message().contains("more than 10000 functions"), "{error}");
    }
}
