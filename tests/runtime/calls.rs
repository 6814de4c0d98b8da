//! Kernels are called the same way everywhere: in a run, on the pool, in a static loop, when they wait, and eagerly. Statistics
//! are taken, the node is known to devices while it is traced, a kernel that blocks its thread is found out, and a panic is an
//! error of the node.

use std::future::poll_fn;
use std::task::Poll;

use kernlink::prelude::*;
use kernlink::runtime::{RunMetadata, RunOptions};
use kernlink::step::{block_on, traced_node};

use crate::graphs::{graph, node};

/// Says which node is traced, or does what a kernel must not do.
#[register_op(attr("act: {'trace', 'block', 'panic'} = 'trace'"), output("node: string"), stateful, shape_fn = shape::scalar)]
pub(crate) struct Observe;

/// [`Observe`] by a kernel that waits before it does that.
#[register_op(attr("act: {'trace', 'block', 'panic'} = 'trace'"), output("node: string"), stateful, shape_fn = shape::scalar)]
pub(crate) struct ObserveLater;

fn do_as_asked(act: &str) -> Tensor {
    match act {
        "block" => block_on(async {}),
        "panic" => panic!("as asked"),
        _ => {}
    }
    let node = traced_node().map(|traced| format!("{} of {}", traced.node, traced.op));
    Tensor::from(node.unwrap_or_default().as_str())
}

struct ObserveKernel(String);

#[register_kernel(device = Cpu)]
impl OpKernel<Observe> for ObserveKernel {
    fn new(ctx: &KernelConstruction<Observe>) -> Result<Self> {
        Ok(ObserveKernel(ctx.attrs().act.to_string()))
    }
    fn compute(&self, ctx: &mut KernelContext<Observe>) -> Result<()> {
        ctx.set_output(Observe::NODE, do_as_asked(&self.0))
    }
}

struct ObserveLaterKernel(String);

#[register_kernel(device = Cpu)]
impl AsyncOpKernel<ObserveLater> for ObserveLaterKernel {
    fn new(ctx: &KernelConstruction<ObserveLater>) -> Result<Self> {
        Ok(ObserveLaterKernel(ctx.attrs().act.to_string()))
    }
    async fn compute(&self, ctx: &mut KernelContext<'_, ObserveLater>) -> Result<()> {
        let mut has_waited = false;
        poll_fn(|context| {
            if std::mem::replace(&mut has_waited, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        ctx.set_output(ObserveLater::NODE, do_as_asked(&self.0))
    }
}

/// The ways to call a kernel: the op, and whether eagerly.
const WAYS: [(&str, bool); 4] =
    [("Observe", false), ("ObserveLater", false), ("Observe", true), ("ObserveLater", true)];

/// Runs one node, named `it`, and tells what it gave and what is known of its run.
fn call((op, eager): (&str, bool), act: &str, trace: bool) -> (Result<Tensor>, RunMetadata) {
    if eager {
        let mut context = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
        if trace {
            context.enable_run_metadata();
        }
        let given = match op {
            "Observe" => observe(&mut context).act(act).name("it").build(),
            _ => observe_later(&mut context).act(act).name("it").build(),
        };
        return (given, context.export_run_metadata());
    }
    let mut graph = graph();
    node(&mut graph, op, "it", &[], &[("act", act.into())]);
    let session = Session::with_options(graph, &SessionOptions::new().threads(2)).unwrap();
    let mut metadata = RunMetadata::default();
    let options = RunOptions::new().trace(trace);
    let given = session.run_with_metadata(&[], &["it"], &[], &options, &mut metadata);
    (given.map(|mut values| values.remove(0)), metadata)
}

fn text(tensor: &Tensor) -> String {
    let text = tensor.to_scalar::<TString>().unwrap();
    String::from_utf8_lossy(text.as_bytes()).into_owned()
}

#[test]
fn statistics_and_traces_are_taken_however_a_kernel_is_called() {
    for way in WAYS {
        let (given, metadata) = call(way, "trace", true);
        assert_eq!(text(&given.unwrap()), format!("it of {}", way.0), "{way:?}");
        let [stats] = &metadata.step_stats[..] else { panic!("{way:?}: {:?}", metadata.step_stats) };
        assert_eq!((stats.node.as_str(), stats.op.as_str(), stats.device.as_str()), ("it", way.0, "/device:CPU:0"));
        assert_eq!((stats.is_async, stats.depth), (way.0 == "ObserveLater", 0), "{way:?}");
        assert!(stats.output_bytes > 0 && stats.start + stats.time <= metadata.time, "{way:?}: {stats:?}");

        let (given, metadata) = call(way, "trace", false);
        assert_eq!((text(&given.unwrap()).as_str(), metadata.step_stats.len()), ("", 0), "{way:?}: nobody asked");
    }
}

#[test]
fn panics_are_errors_of_the_node_however_a_kernel_is_called() {
    kernlink::error::watch_panics();
    for way in WAYS {
        let error = call(way, "panic", false).0.unwrap_err();
        assert_eq!((error.code(), error.node().unwrap().node.as_str()), (Code::Internal, "it"), "{way:?}");
        let (what, said) = error.message().split_once(": ").unwrap();
        assert!(what.starts_with("the kernel panicked at ") && what.contains(file!()), "{way:?}: {error}");
        assert_eq!(said, "as asked", "{way:?}");
        assert!(format!("{error:?}").lines().last().unwrap().contains(file!()), "{error:?}");
    }
}

#[test]
#[cfg(debug_assertions)]
fn a_kernel_that_blocks_its_thread_is_named_however_it_is_called() {
    for way in WAYS {
        let error = call(way, "block", false).0.unwrap_err();
        assert_eq!((error.code(), error.node().unwrap().node.as_str()), (Code::Internal, "it"), "{way:?}");
        let names_op = error.message().contains(&format!("`{}`", way.0));
        assert!(names_op && error.message().contains("AsyncOpKernel"), "{way:?}: {error}");
    }
}

#[test]
fn eager_statistics_are_of_all_ops_until_they_are_exported() {
    let mut context = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let add = |context: &mut EagerContext, name: &str| {
        ops::add_v2(context, 1.0f32, 2.0f32).name(name).build().unwrap();
    };
    add(&mut context, "before");
    context.enable_run_metadata();
    add(&mut context, "first");
    // A clone shares what is collected.
    add(&mut context.clone(), "second");
    let names = |metadata: RunMetadata| metadata.step_stats.into_iter().map(|stats| stats.node).collect::<Vec<_>>();
    assert_eq!(names(context.export_run_metadata()), ["first", "second"]);
    add(&mut context, "third");
    assert_eq!(names(context.export_run_metadata()), ["third"]);
    add(&mut context, "fourth");
    context.disable_run_metadata();
    add(&mut context, "fifth");
    assert!(names(context.export_run_metadata()).is_empty());
}
