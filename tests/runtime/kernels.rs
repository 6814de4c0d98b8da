//! Kernels that wait, fail, take their time, count themselves, or change what they alone own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::device::CpuDevice;
use kernlink::prelude::*;
use kernlink::resource::Resource;
use kernlink::runtime::run_op;
use kernlink::step::Waiters;

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
pub(crate) struct WaitAtGate;

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
pub(crate) struct OpenGate;

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

/// Panics or fails in its first poll.
#[register_op(attr("panics: bool"), output("never: int32"), stateful)]
pub(crate) struct FailLater;

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

/// Goes on once two nodes are at it at the same time.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged)]
pub(crate) struct Meet;

struct MeetKernel;

/// How many came, and who waits for the second.
static MET: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

#[register_kernel(device = Cpu)]
impl OpKernel<Meet> for MeetKernel {
    fn new(_: &KernelConstruction<Meet>) -> Result<Self> {
        Ok(MeetKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<Meet>) -> Result<()> {
        let (count, came) = &MET;
        let mut count = count.lock().unwrap();
        *count += 1;
        came.notify_all();
        let (_count, waited) = came.wait_timeout_while(count, Duration::from_secs(60), |count| *count < 2).unwrap();
        ensure!(!waited.timed_out(), Aborted, "nobody came");
        let x = ctx.take_input(Meet::X)?;
        ctx.set_output(Meet::Y, x)
    }
}

/// Takes a millisecond.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged)]
pub(crate) struct Slow;

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

/// Forwards its input, and counts its kernels: each plan makes its own.
#[register_op(input("x: int32"), output("y: int32"), shape_fn = shape::unchanged)]
pub(crate) struct Counted;

struct CountedKernel;

pub(crate) static COUNTED: AtomicUsize = AtomicUsize::new(0);

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

/// Adds 1 in place if it alone owns its input; otherwise forwards it.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged)]
pub(crate) struct AddInPlace;

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
fn images_of_an_empty_batch_take_no_memory_for_places() {
    let (registry, device) = (kernlink::registry().unwrap(), CpuDevice::new(1).unwrap());
    for op in ["ResizeBilinear", "ResizeNearestNeighbor"] {
        let attrs = AttrMap::from_iter([("T".to_owned(), AttrValue::Type(DataType::Float))]);
        let images = Tensor::zeros(DataType::Float, [0, 1, 1, 1]).unwrap();
        let size = Tensor::vector(&[2_000_000_000i32, 1]).unwrap();
        let resized = run_op(&registry, &device, op, attrs, vec![images, size]).unwrap();
        assert_eq!(*resized[0].shape(), Shape::from([0, 2_000_000_000, 1, 1]), "{op}");
    }
}

#[test]
fn a_node_may_ask_for_another_kernel_of_its_op() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let values = |shape: [usize; 2], from: f32| {
        Tensor::from_elements(shape, &(0..shape[0] * shape[1]).map(|i| (i % 7) as f32 - from).collect::<Vec<f32>>())
    };
    let a = ops::constant(&mut graph, values([33, 45], 3.0).unwrap()).unwrap();
    let products: Vec<Output> = ["", "matrixmultiply"]
        .into_iter()
        .flat_map(|label| [(label, false), (label, true)])
        .map(|(label, transposed)| {
            let shape = if transposed { [70, 45] } else { [45, 70] };
            let b = ops::constant(&mut graph, values(shape, 2.0).unwrap()).unwrap();
            let product = ops::mat_mul(&mut graph, a, b).transpose_b(transposed);
            if label.is_empty() { product.build().unwrap() } else { product.attr("_kernel", label).build().unwrap() }
        })
        .collect();
    let names: Vec<String> = products.iter().map(|&product| graph.output_name(product)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let found = Session::new(graph).unwrap().run(&[], &names, &[]).unwrap();
    assert_eq!(found[0].as_slice::<f32>().unwrap(), found[2].as_slice::<f32>().unwrap());
    assert_eq!(found[1].as_slice::<f32>().unwrap(), found[3].as_slice::<f32>().unwrap());
}
