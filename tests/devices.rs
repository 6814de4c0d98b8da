//! Devices with memory of their own: what is where, what is brought over and how often. The device of these tests keeps
//! bytes that the host cannot make sense of, and gives them back from another thread.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use kernlink::device::{BoxFuture, CpuDevice, Device, DeviceType};
use kernlink::kernel::{GPU, RawContext};
use kernlink::prelude::*;
use kernlink::resource::Variable;
use kernlink::runtime::{EagerContext, RunMetadata, RunOptions};
use kernlink::tensor::DeviceMemory;

kernlink::provider!(ops = 2, kernels = 8);

// ---- a device ----

struct Memory {
    device: String,
    /// Each bit is turned over.
    bytes: Vec<u8>,
}

impl DeviceMemory for Memory {
    fn device(&self) -> &str {
        &self.device
    }
    fn num_bytes(&self) -> usize {
        self.bytes.len()
    }
}

struct TestDevice {
    name: String,
    capabilities: &'static [&'static str],
    /// How many tensors were taken there, and back.
    counts: Mutex<(usize, usize)>,
    most_bytes: AtomicUsize,
}

impl TestDevice {
    fn new(number: usize, capabilities: &'static [&'static str]) -> Arc<TestDevice> {
        Arc::new(TestDevice {
            name: format!("/device:GPU:{number}"),
            capabilities,
            counts: Mutex::default(),
            most_bytes: AtomicUsize::new(usize::MAX),
        })
    }

    /// How many tensors were taken there and back since the last call.
    fn moved(&self) -> (usize, usize) {
        std::mem::take(&mut self.counts.lock().unwrap())
    }

    fn tensor(&self, dtype: DataType, shape: &kernlink::shape::Shape, bytes: &[u8]) -> Tensor {
        let bytes = bytes.iter().map(|byte| !byte).collect();
        Tensor::from_device(dtype, shape.clone(), Arc::new(Memory { device: self.name.clone(), bytes }))
    }

    fn bytes(&self, tensor: &Tensor) -> Result<Vec<u8>> {
        let memory = tensor.device_memory().and_then(|memory| memory.downcast_ref::<Memory>());
        match memory.filter(|memory| memory.device == self.name) {
            Some(memory) => Ok(memory.bytes.iter().map(|byte| !byte).collect()),
            None => Err(Error::internal(format!("not in the memory of {}: {tensor}", self.name))),
        }
    }
}

impl Device for TestDevice {
    fn name(&self) -> &str {
        &self.name
    }
    fn device_type(&self) -> DeviceType {
        GPU
    }
    fn has_own_memory(&self) -> bool {
        true
    }
    fn holds(&self, dtype: DataType) -> bool {
        matches!(dtype, DataType::Float | DataType::Int32 | DataType::Int64 | DataType::Bool)
    }
    fn capabilities(&self) -> &[&'static str] {
        self.capabilities
    }
    fn to_device(&self, tensor: &Tensor) -> Result<Tensor> {
        ensure!(tensor.device_memory().is_none(), Internal, "not on the host: {tensor}");
        ensure!(self.holds(tensor.dtype()), Unimplemented, "{} is not held", tensor.dtype());
        ensure!(
            tensor.num_bytes() <= self.most_bytes.load(Ordering::SeqCst),
            ResourceExhausted,
            "{} is out of memory",
            self.name
        );
        self.counts.lock().unwrap().0 += 1;
        Ok(self.tensor(tensor.dtype(), tensor.shape(), tensor.bytes()?))
    }
    fn to_host(&self, tensor: &Tensor) -> BoxFuture<'static, Result<Tensor>> {
        let read =
            self.bytes(tensor).and_then(|bytes| Tensor::from_bytes(tensor.dtype(), tensor.shape().clone(), &bytes));
        self.counts.lock().unwrap().1 += 1;
        let state = Arc::new(Mutex::new((None, None::<Waker>)));
        let shared = state.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(1));
            let mut state = shared.lock().unwrap();
            state.0 = Some(read);
            state.1.take().into_iter().for_each(Waker::wake);
        });
        Box::pin(poll_fn(move |context| {
            let mut state = state.lock().unwrap();
            match state.0.take() {
                Some(tensor) => Poll::Ready(tensor),
                None => {
                    state.1 = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        }))
    }
}

// ---- its kernels ----

fn on_device<'a>(ctx: &RawContext<'a>) -> &'a TestDevice {
    ctx.run().device.and_then(|device| device.downcast_ref()).expect("the kernels are for this device")
}

/// The elements of an input in the device's memory.
fn elements(ctx: &RawContext<'_>, index: usize) -> Result<Vec<f32>> {
    let bytes = on_device(ctx).bytes(ctx.input_at(index)?)?;
    Ok(bytes.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect())
}

/// Computes element by element, of which either side may have but one.
fn binary<T, const N: usize>(ctx: &mut RawContext<'_>, of: fn(f32, f32) -> T, bytes: fn(T) -> [u8; N]) -> Result<()> {
    let (a, b) = (elements(ctx, 0)?, elements(ctx, 1)?);
    let longer = usize::from(b.len() > a.len());
    let shape = ctx.input_at(longer)?.shape().clone();
    let result: Vec<u8> = (0..a.len().max(b.len())).flat_map(|i| bytes(of(a[i % a.len()], b[i % b.len()]))).collect();
    let tensor = on_device(ctx).tensor(ctx.output_dtype_at(0)?, &shape, &result);
    ctx.set_output_at(0, tensor)
}

macro_rules! binaries {
    ($($kernel:ident($op:ident, $of:expr, $bytes:expr);)*) => {$(
        struct $kernel;

        #[register_kernel(device = Gpu, T = [f32])]
        impl OpKernel<ops::$op> for $kernel {
            fn new(_: &KernelConstruction<ops::$op>) -> Result<Self> {
                Ok($kernel)
            }
            fn compute(&self, ctx: &mut KernelContext<ops::$op>) -> Result<()> {
                binary(ctx, $of, $bytes)
            }
        }
    )*};
}

binaries! {
    AddKernel(AddV2, |a, b| a + b, f32::to_le_bytes);
    MulKernel(Mul, |a, b| a * b, f32::to_le_bytes);
    LessKernel(Less, |a, b| a < b, |less| [u8::from(less)]);
}

/// Adds on the host what TensorFlow, too, has there.
struct AddOnHost;

#[register_kernel(device = Gpu, T = [i32], host_memory = ["x", "y", "z"])]
impl OpKernel<ops::AddV2> for AddOnHost {
    fn new(_: &KernelConstruction<ops::AddV2>) -> Result<Self> {
        Ok(AddOnHost)
    }
    fn compute(&self, ctx: &mut KernelContext<ops::AddV2>) -> Result<()> {
        let sum = ctx.input(ops::AddV2::X)?.to_scalar::<i32>()? + ctx.input(ops::AddV2::Y)?.to_scalar::<i32>()?;
        ctx.set_output(ops::AddV2::Z, Tensor::scalar(sum))
    }
}

struct ReshapeKernel;

#[register_kernel(device = Gpu, T = [f32], host_memory = ["shape"])]
impl OpKernel<ops::Reshape> for ReshapeKernel {
    fn new(_: &KernelConstruction<ops::Reshape>) -> Result<Self> {
        Ok(ReshapeKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<ops::Reshape>) -> Result<()> {
        let shape: Vec<usize> =
            ctx.input(ops::Reshape::SHAPE)?.to_i64_vec()?.iter().map(|&size| size as usize).collect();
        let tensor = ctx.take_input(ops::Reshape::TENSOR)?;
        on_device(ctx).bytes(&tensor)?;
        ctx.set_output(ops::Reshape::OUTPUT, tensor.reshaped(shape)?)
    }
}

struct NegKernel;

#[register_kernel(device = Gpu, T = [f32], requires = ["neg"])]
impl OpKernel<ops::Neg> for NegKernel {
    fn new(_: &KernelConstruction<ops::Neg>) -> Result<Self> {
        Ok(NegKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<ops::Neg>) -> Result<()> {
        let bytes: Vec<u8> = elements(ctx, 0)?.iter().flat_map(|value| (-value).to_le_bytes()).collect();
        let tensor = on_device(ctx).tensor(DataType::Float, ctx.input(ops::Neg::X)?.shape(), &bytes);
        ctx.set_output(ops::Neg::Y, tensor)
    }
}

/// Takes what it is given apart: the even ones in the device's memory, the odd ones on the host.
#[register_op(
    attr("N: int >= 1"),
    input("even: N * float"),
    input("odd: N * float"),
    input("name: string"),
    output("sums: N * float"),
    output("total: float")
)]
pub struct SumPairs;

struct SumPairsKernel;

#[register_kernel(device = Gpu, host_memory = ["odd", "total"])]
impl OpKernel<SumPairs> for SumPairsKernel {
    fn new(ctx: &KernelConstruction<SumPairs>) -> Result<Self> {
        // What is constant is told as it is on the host.
        let mut known = ctx.constants.iter().flatten();
        ensure!(known.all(|tensor| tensor.device_memory().is_none()), Internal, "a constant is not on the host");
        Ok(SumPairsKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<SumPairs>) -> Result<()> {
        let count = ctx.output_range(SumPairs::SUMS).len();
        let mut total = 0.0;
        for index in 0..count {
            let sum = elements(ctx, index)?[0] + ctx.input_at(count + index)?.to_scalar::<f32>()?;
            total += sum;
            let tensor = on_device(ctx).tensor(DataType::Float, &[].into(), &sum.to_le_bytes());
            ctx.set_output_at(index, tensor)?;
        }
        ctx.input(SumPairs::NAME)?.as_slice::<kernlink::dtype::TString>()?;
        ctx.set_output(SumPairs::TOTAL, Tensor::scalar(total))
    }
}

/// Has a kernel on the host only.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged)]
pub struct OnHost;

struct OnHostKernel;

#[register_kernel(device = Cpu)]
impl OpKernel<OnHost> for OnHostKernel {
    fn new(_: &KernelConstruction<OnHost>) -> Result<Self> {
        Ok(OnHostKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<OnHost>) -> Result<()> {
        let x = ctx.take_input(OnHost::X)?;
        x.as_slice::<f32>()?;
        ctx.set_output(OnHost::Y, x)
    }
}

// ---- graphs ----

/// Nodes of a graph in a line each: `name = Op(inputs) @device attr=value ...`. A dtype is a type, and a Const has its
/// values as `values=1,2`, and `shape=2` if it is no scalar.
fn nodes(text: &str) -> String {
    let mut proto = String::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (name, rest) = line.split_once(" = ").unwrap();
        let (op, rest) = rest.split_once('(').unwrap();
        let (inputs, rest) = rest.split_once(')').unwrap();
        proto += &format!("node {{ name: \"{name}\" op: \"{op}\" ");
        for input in inputs.split(',').map(str::trim).filter(|input| !input.is_empty()) {
            proto += &format!("input: \"{input}\" ");
        }
        let attr = |key: &str, value: &str| format!("attr {{ key: \"{key}\" value {{ {value} }} }} ");
        let words: Vec<&str> = rest.split_whitespace().collect();
        let find = |key: &str| words.iter().find_map(|word| word.strip_prefix(key));
        if let Some(values) = find("values=") {
            let field = match find("dtype=").unwrap() {
                "float" => "float_val",
                "double" => "double_val",
                "int32" => "int_val",
                "string" => "string_val",
                _ => "bool_val",
            };
            let values: String = values.split(',').map(|value| format!("{field}: {value} ")).collect();
            let shape = find("shape=").map(|size| format!("dim {{ size: {size} }}")).unwrap_or_default();
            let dtype = find("dtype=").unwrap().to_uppercase();
            proto += &attr("value", &format!("tensor {{ dtype: DT_{dtype} tensor_shape {{ {shape} }} {values} }}"));
        }
        for word in words {
            if let Some(device) = word.strip_prefix('@') {
                proto += &format!("device: \"{device}\" ");
                continue;
            }
            let (key, value) = word.split_once('=').unwrap();
            let value = match value {
                _ if op == "Const" && matches!(key, "values" | "shape") => continue,
                "float" | "double" | "int32" | "bool" | "string" | "resource" => {
                    format!("type: DT_{}", value.to_uppercase())
                }
                "true" | "false" => format!("b: {value}"),
                "any" => "shape { unknown_rank: true }".to_owned(),
                value if value.starts_with('\'') => format!("s: {value}"),
                value if value.starts_with('&') => format!("func {{ name: \"{}\" }}", &value[1..]),
                value if value.starts_with('[') => {
                    let types = value.trim_matches(['[', ']']).split(',').filter(|word| !word.is_empty());
                    let types: String = types.map(|dtype| format!("type: DT_{} ", dtype.to_uppercase())).collect();
                    format!("list {{ {types} }}")
                }
                value => format!("i: {value}"),
            };
            proto += &attr(key, &value);
        }
        proto += "}\n";
    }
    proto
}

fn graph_with(text: &str, library: &str) -> Graph {
    let proto = nodes(text) + library + "versions { producer: 2474 }";
    let def = kernlink::proto::graph_from_text(&proto).unwrap();
    Graph::import(&def, &kernlink::registry().unwrap()).unwrap()
}

/// Runs of a graph on the host and on devices, on one thread and on several.
fn on(graph: &Graph, capabilities: &'static [&'static str], check: impl Fn(&Session, &TestDevice)) {
    for threads in [1, 3] {
        let device = TestDevice::new(0, capabilities);
        let host = Arc::new(CpuDevice::new(threads).unwrap());
        let devices: [Arc<dyn Device>; 2] = [host, device.clone()];
        let session = Session::on_devices(graph.clone(), devices, &SessionOptions::new());
        check(&session, &device);
    }
}

fn on_device_alone(text: &str, check: impl Fn(&Session, &TestDevice)) {
    on(&graph_with(text, ""), &[], check);
}

#[track_caller]
fn scalars(tensors: &[Tensor]) -> Vec<f32> {
    tensors.iter().map(|tensor| tensor.to_scalar().unwrap()).collect()
}

fn node_of(error: &Error) -> &str {
    error.node().map_or("", |node| &node.node)
}

fn one() -> (&'static str, Tensor) {
    ("x", Tensor::scalar(1f32))
}

// ---- what is brought over ----

#[test]
fn feeds_constants_and_fetches_are_brought_over_once() {
    let text = "
        x = Placeholder() dtype=float
        c = Const() dtype=float values=2
        a = AddV2(x, c) T=float
        b = Mul(a, c) T=float
        d = AddV2(b, x) T=float
        same = Identity(d) T=float
        host = OnHost(d)
        too = OnHost(same)
        back = Mul(host, too) T=float";
    on_device_alone(text, |session, device| {
        let of = |name: &str| session.device_of(session.graph().find(name).unwrap()).unwrap().to_owned();
        assert_eq!(
            ["a", "d", "host", "back"].map(of),
            ["/device:GPU:0", "/device:GPU:0", "/device:CPU:0", "/device:GPU:0"]
        );
        // One feed, one constant; one result.
        assert_eq!(scalars(&session.run(&[one()], &["d"], &[]).unwrap()), [7.0]);
        assert_eq!(device.moved(), (2, 1));
        // The constant is there.
        assert_eq!(scalars(&session.run(&[one()], &["d"], &[]).unwrap()), [7.0]);
        assert_eq!(device.moved(), (1, 1));
        // For another plan, too; what several take is brought once.
        assert_eq!(scalars(&session.run(&[one()], &["too", "host", "d", "c"], &[]).unwrap()), [7.0, 7.0, 7.0, 2.0]);
        assert_eq!(device.moved(), (1, 1));
        // There, back for the host's two, there again from each of them, and back.
        assert_eq!(scalars(&session.run(&[one()], &["back"], &[]).unwrap()), [49.0]);
        assert_eq!(device.moved(), (3, 2));
        // What is fed in the middle comes from the host.
        let feeds = [("b", Tensor::scalar(5f32)), one()];
        assert_eq!(scalars(&session.run(&feeds, &["d", "host"], &[]).unwrap()), [6.0, 6.0]);
        assert_eq!(device.moved(), (2, 1));
    });
}

#[test]
fn a_run_without_the_device_moves_nothing() {
    on_device_alone("x = Placeholder() dtype=float\n y = OnHost(x)\n z = Neg(y) T=float", |session, device| {
        assert_eq!(scalars(&session.run(&[one()], &["z", "y"], &[]).unwrap()), [-1.0, 1.0]);
        assert_eq!(device.moved(), (0, 0));
    });
}

#[test]
fn arguments_in_host_memory_stay_there() {
    let text = "
        x = Placeholder() dtype=float
        shape = Const() dtype=int32 values=1,1 shape=2
        reshaped = Reshape(x, shape) T=float Tshape=int32
        i = Placeholder() dtype=int32
        j = AddV2(i, i) T=int32
        k = Identity(j) T=int32
        four = AddV2(k, j) T=int32
        a = Const() dtype=float values=10
        name = Const() dtype=string values=\"n\"
        pairs = SumPairs(x, a, a, x, name) N=2
        total = OnHost(pairs:2)
        first = AddV2(pairs, pairs:1) T=float";
    on_device_alone(text, |session, device| {
        let answer = session.run(&[one()], &["reshaped"], &[]).unwrap();
        assert_eq!((answer[0].shape().dims(), device.moved()), (&[1, 1][..], (1, 1)));
        let answer = session.run(&[("i", Tensor::scalar(1i32))], &["four"], &[]).unwrap();
        assert_eq!((answer[0].to_scalar::<i32>().unwrap(), device.moved()), (4, (0, 0)));
        let of = session.device_of(session.graph().find("four").unwrap()).unwrap();
        assert_eq!(of, "/device:GPU:0");
        // `x` and `a` are wanted on both sides.
        assert_eq!(scalars(&session.run(&[one()], &["total", "pairs:2"], &[]).unwrap()), [22.0, 22.0]);
        assert_eq!(device.moved(), (2, 0));
        assert_eq!(scalars(&session.run(&[one()], &["first"], &[]).unwrap()), [22.0]);
        assert_eq!(device.moved(), (1, 1));
    });
}

#[test]
fn a_shape_is_known_without_the_elements() {
    let text = "
        x = Placeholder() dtype=float
        y = AddV2(x, x) T=float
        shape = Shape(y) T=float
        size = Size(y) T=float @/cpu:0
        rank = Rank(y) T=float @/gpu:0
        both = ShapeN(y, x) T=float N=2";
    on_device_alone(text, |session, device| {
        let x = Tensor::from_elements([2, 1], &[1f32, 2.0]).unwrap();
        let fetches = ["shape", "size", "rank", "both", "both:1"];
        let answers = session.run(&[("x", x)], &fetches, &[]).unwrap();
        let answers: Vec<Vec<i64>> = answers.iter().map(|answer| answer.to_i64_vec().unwrap()).collect();
        assert_eq!(answers, [&[2, 1][..], &[2], &[2], &[2, 1], &[2, 1]]);
        assert_eq!(device.moved(), (1, 0));
    });
}

#[test]
fn two_devices_hand_over_by_way_of_the_host() {
    let text = "
        x = Placeholder() dtype=float
        a = AddV2(x, x) T=float @/gpu:0
        b = Mul(a, a) T=float @/gpu:1
        c = AddV2(b, a) T=float @/gpu:1
        d = AddV2(c, a) T=float @/gpu:0";
    let (first, second) = (TestDevice::new(0, &[]), TestDevice::new(1, &[]));
    // There is no device of the host: one is added.
    let devices: [Arc<dyn Device>; 2] = [first.clone(), second.clone()];
    let session = Session::on_devices(graph_with(text, ""), devices, &SessionOptions::new().strict_placement(true));
    assert_eq!(session.devices().last().unwrap().name(), "/device:CPU:0");
    assert_eq!(scalars(&session.run(&[one()], &["d"], &[]).unwrap()), [8.0]);
    assert_eq!((first.moved(), second.moved()), ((2, 2), (1, 1)));
}

#[test]
fn partial_runs_feed_and_fetch_on_the_host() {
    let text = "
        x = Placeholder() dtype=float
        y = Placeholder() dtype=float
        a = AddV2(x, x) T=float
        b = Mul(a, y) T=float";
    on_device_alone(text, |session, device| {
        let run = session.partial_run_setup(&["x", "y"], &["a", "b"], &[]).unwrap();
        assert_eq!(scalars(&run.run(&[one()], &["a"]).unwrap()), [2.0]);
        assert_eq!(scalars(&run.run(&[("y", Tensor::scalar(3f32))], &["b"]).unwrap()), [6.0]);
        assert_eq!(device.moved(), (2, 2));
    });
}

#[test]
fn what_the_device_refuses_names_the_node_and_ends_the_run_alone() {
    let text = "
        x = Placeholder() dtype=float
        a = AddV2(x, x) T=float
        c = Const() dtype=float values=1,2,3,4 shape=4
        b = Mul(a, c) T=float";
    on_device_alone(text, |session, device| {
        device.most_bytes.store(8, Ordering::SeqCst);
        let error = session.run(&[one()], &["b"], &[]).unwrap_err();
        assert_eq!((error.code(), node_of(&error)), (Code::ResourceExhausted, "c"), "{error}");
        let many = Tensor::vector(&[1f32, 2.0, 3.0, 4.0]).unwrap();
        let error = session.run(&[("x", many.clone())], &["a"], &[]).unwrap_err();
        assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
        assert!(
            error.message().contains("/device:GPU:0 is out of memory") && error.to_string().contains("x/_Recv"),
            "{error}"
        );
        assert_eq!(scalars(&session.run(&[one()], &["a"], &[]).unwrap()), [2.0]);
        device.most_bytes.store(usize::MAX, Ordering::SeqCst);
        let answer = session.run(&[("x", many)], &["b"], &[]).unwrap();
        assert_eq!(answer[0].as_slice::<f32>().unwrap(), [2.0, 8.0, 18.0, 32.0]);
    });
}

// ---- where nodes go ----

#[test]
fn kernels_need_what_they_require() {
    let text = "x = Placeholder() dtype=float\n y = Neg(x) T=float @/gpu:0";
    let graph = graph_with(text, "");
    for (capabilities, expected, said) in [
        (&[][..], "/device:CPU:0", "requires neg, and the device has no capabilities"),
        (&["f16", "i64"], "/device:CPU:0", "requires neg, and the device has f16, i64"),
        (&["f16", "neg"], "/device:GPU:0", ""),
    ] {
        on(&graph, capabilities, |session, _| {
            assert_eq!(session.device_of(session.graph().find("y").unwrap()).unwrap(), expected);
            assert_eq!(scalars(&session.run(&[one()], &["y"], &[]).unwrap()), [-1.0]);
        });
        let strict = SessionOptions::new().strict_placement(true);
        let devices: [Arc<dyn Device>; 1] = [TestDevice::new(0, capabilities)];
        let result = Session::on_devices(graph.clone(), devices, &strict).run(&[one()], &["y"], &[]);
        match result {
            Ok(answer) => assert_eq!((scalars(&answer), said), (vec![-1.0], "")),
            Err(error) => {
                assert_eq!((error.code(), node_of(&error)), (Code::InvalidArgument, "y"));
                assert!(!said.is_empty() && error.message().contains(said), "{error}");
                assert!(error.message().contains("y (Neg) has kernels for: [ CPU ]"), "{error}");
            }
        }
    }
}

#[test]
fn of_two_devices_the_one_that_can_is_taken() {
    let graph = graph_with("x = Placeholder() dtype=float\n y = Neg(x) T=float\n z = AddV2(y, y) T=float", "");
    let devices: [Arc<dyn Device>; 2] = [TestDevice::new(0, &[]), TestDevice::new(1, &["neg"])];
    let session = Session::on_devices(graph, devices, &SessionOptions::new());
    let of = |name: &str| session.device_of(session.graph().find(name).unwrap()).unwrap().to_owned();
    assert_eq!(["y", "z"].map(of), ["/device:GPU:1", "/device:GPU:0"]);
    assert_eq!(scalars(&session.run(&[one()], &["z"], &[]).unwrap()), [-2.0]);
}

#[test]
fn what_the_device_cannot_hold_stays_on_the_host() {
    let text = "
        x = Placeholder() dtype=double
        p = Placeholder() dtype=bool
        s = Switch(x, p) T=double
        c = Const() dtype=double values=3
        m = Merge(s, c) T=double N=2
        y = AddV2(m, c) T=double
        same = StopGradient(s:1) T=double";
    on_device_alone(text, |session, device| {
        let feeds = [("x", Tensor::scalar(1f64)), ("p", Tensor::scalar(true))];
        let answers = session.run(&feeds, &["same"], &[]).unwrap();
        assert_eq!(answers[0].to_scalar::<f64>().unwrap(), 1.0);
        let of = |name: &str| session.device_of(session.graph().find(name).unwrap()).unwrap().to_owned();
        assert_eq!(["s", "m", "y", "same"].map(of), ["/device:CPU:0"; 4]);
        session.run(&feeds, &["y"], &[]).unwrap();
        assert_eq!(device.moved(), (0, 0));
    });
}

// ---- control flow ----

#[test]
fn branches_go_across_devices_and_die() {
    let text = "
        x = Placeholder() dtype=float
        p = Placeholder() dtype=bool
        a = AddV2(x, x) T=float
        s = Switch(a, p) T=float
        no = Identity(s) T=float
        yes = Identity(s:1) T=float
        ten = Const(^yes) dtype=float values=10
        one = Const(^no) dtype=float values=1
        more = Mul(yes, ten) T=float
        there = OnHost(more)
        less = AddV2(no, one) T=float
        here = OnHost(one)
        m = Merge(there, less) T=float N=2
        back = AddV2(m, x) T=float";
    on_device_alone(text, |session, device| {
        let of = |name: &str| session.device_of(session.graph().find(name).unwrap()).unwrap().to_owned();
        assert_eq!(["s", "more", "there"].map(of), ["/device:GPU:0", "/device:GPU:0", "/device:CPU:0"]);
        for (taken, expected, index) in [(true, 21.0, 0), (false, 4.0, 1)] {
            for _ in 0..2 {
                let answers = session.run(&[one(), ("p", Tensor::scalar(taken))], &["back", "m:1"], &[]).unwrap();
                assert_eq!(scalars(&answers[..1]), [expected]);
                assert_eq!(answers[1].to_scalar::<i32>().unwrap(), index);
            }
            device.moved();
            // The constants wait for their branch on either side, and are not read back.
            let here = session.run(&[one(), ("p", Tensor::scalar(taken))], &["here"], &["less"]);
            match (taken, here) {
                (true, Err(error)) => assert_eq!(error.code(), Code::InvalidArgument),
                (false, Ok(answers)) => assert_eq!(scalars(&answers), [1.0]),
                (_, other) => panic!("{other:?}"),
            }
            assert_eq!(device.moved().1, 0);
        }
    });
}

/// Doubles `x` until it reaches 100, adding up on `where`; the condition is computed at `decided`.
fn doubling(place: &str, decided: &str) -> String {
    format!(
        "
        x = Placeholder() dtype=float
        hundred = Const() dtype=float values=100
        zero = Const() dtype=int32 values=0
        one = Const() dtype=int32 values=1
        enter = Enter(x) T=float frame_name='loop'
        limit = Enter(hundred) T=float frame_name='loop' is_constant=true
        count = Enter(zero) T=int32 frame_name='loop'
        step = Enter(one) T=int32 frame_name='loop' is_constant=true
        merge = Merge(enter, next) T=float N=2
        counter = Merge(count, counted) T=int32 N=2
        less = Less(merge, limit) T=float {decided}
        cond = LoopCond(less)
        switch = Switch(merge, cond) T=float
        goes = Switch(counter, cond) T=int32
        two = Const(^switch) dtype=float values=2
        twice = Mul(switch:1, two) T=float {place}
        by_host = OnHost(twice)
        again = AddV2(goes:1, step) T=int32 {place}
        next = NextIteration(by_host) T=float
        counted = NextIteration(again) T=int32
        exit = Exit(switch) T=float
        times = Exit(goes) T=int32
        end = AddV2(exit, hundred) T=float"
    )
}

#[test]
fn loops_go_across_devices() {
    for place in ["", "@/cpu:0", "@/gpu:0"] {
        for decided in ["", "@/cpu:0", "@/gpu:0"] {
            on_device_alone(&doubling(place, decided), |session, _| {
                for _ in 0..2 {
                    let answers = session.run(&[one()], &["exit", "end", "times"], &[]).unwrap();
                    assert_eq!(scalars(&answers[..2]), [128.0, 228.0], "{place} {decided}");
                    assert_eq!(answers[2].to_scalar::<i32>().unwrap(), 7);
                }
            });
        }
    }
}

#[test]
fn a_loop_on_the_device_moves_its_condition_only() {
    let text = doubling("", "").replace("by_host = OnHost(twice)\n", "").replace("(by_host)", "(twice)");
    on_device_alone(&text, |session, device| {
        let answers = session.run(&[one()], &["exit", "times"], &[]).unwrap();
        assert_eq!((scalars(&answers[..1]), answers[1].to_scalar::<i32>().unwrap()), (vec![128.0], 7));
        // The feed and two constants; eight conditions and the end.
        assert_eq!(device.moved(), (3, 9));
    });
}

const LIBRARY: &str = r#"library {
    function {
        signature { name: "Below" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "r" type: DT_BOOL } }
        node_def { name: "limit" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
            attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 100 } } } }
        node_def { name: "less" op: "Less" input: "x" input: "limit:output:0" attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "r" value: "less:z:0" }
    }
    function {
        signature { name: "Twice" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "r" type: DT_FLOAT } }
        node_def { name: "twice" op: "AddV2" input: "x" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
        node_def { name: "host" op: "OnHost" input: "twice:z:0" }
        node_def { name: "same" op: "Identity" input: "host:y:0" attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "r" value: "same:output:0" }
    }
    function {
        signature { name: "Plus" input_arg { name: "v" type: DT_RESOURCE } input_arg { name: "x" type: DT_FLOAT }
            output_arg { name: "r" type: DT_FLOAT } is_stateful: true }
        node_def { name: "read" op: "ReadVariableOp" input: "v" attr { key: "dtype" value { type: DT_FLOAT } } }
        node_def { name: "sum" op: "AddV2" input: "read:value:0" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "r" value: "sum:z:0" }
    }
    function {
        signature { name: "More" input_arg { name: "v" type: DT_RESOURCE } input_arg { name: "x" type: DT_FLOAT }
            output_arg { name: "r" type: DT_FLOAT } is_stateful: true }
        node_def { name: "more" op: "AssignAddVariableOp" input: "v" input: "x"
            attr { key: "dtype" value { type: DT_FLOAT } } }
        node_def { name: "read" op: "ReadVariableOp" input: "v" input: "^more"
            attr { key: "dtype" value { type: DT_FLOAT } } }
        ret { key: "r" value: "read:value:0" }
        control_ret { key: "more" value: "more" }
    }
    function {
        signature { name: "Scale" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "r" type: DT_FLOAT } }
        node_def { name: "scales" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value {
            tensor { dtype: DT_FLOAT tensor_shape { dim { size: 4 } } float_val: 1 float_val: 2 float_val: 3 float_val: 4 } } } }
        node_def { name: "scaled" op: "Mul" input: "x" input: "scales:output:0"
            attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "r" value: "scaled:z:0" }
    }
}
"#;

#[test]
fn functions_run_where_their_kernels_are_best() {
    let text = "
        x = Placeholder() dtype=float
        a = AddV2(x, x) T=float
        call = PartitionedCall(a) Tin=[float] Tout=[float] f=&Twice
        loop = While(call) T=[float] cond=&Below body=&Twice
        end = AddV2(loop, loop) T=float";
    on(&graph_with(text, LIBRARY), &[], |session, _| {
        let mut metadata = RunMetadata::default();
        let options = RunOptions::new().trace(true);
        let answers = session.run_with_metadata(&[one()], &["call", "end"], &[], &options, &mut metadata).unwrap();
        assert_eq!(scalars(&answers), [4.0, 256.0]);
        let of = |node: &str| {
            let stats = metadata.step_stats.iter().find(|stats| stats.node == node && stats.depth == 1);
            stats.map(|stats| stats.device.clone()).unwrap_or_default()
        };
        assert_eq!(["twice", "less", "host"].map(of), ["/device:GPU:0", "/device:GPU:0", "/device:CPU:0"]);
    });
}

#[test]
fn a_function_that_the_device_had_no_room_for_is_tried_again() {
    let text = "
        x = Placeholder() dtype=float
        call = PartitionedCall(x) Tin=[float] Tout=[float] f=&Scale";
    on(&graph_with(text, LIBRARY), &[], |session, device| {
        device.most_bytes.store(8, Ordering::SeqCst);
        for _ in 0..2 {
            let error = session.run(&[one()], &["call"], &[]).unwrap_err();
            assert_eq!((error.code(), node_of(&error)), (Code::ResourceExhausted, "scales"), "{error}");
        }
        device.most_bytes.store(usize::MAX, Ordering::SeqCst);
        let answer = session.run(&[one()], &["call"], &[]).unwrap();
        assert_eq!(answer[0].as_slice::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    });
}

// ---- variables ----

#[test]
fn variables_live_in_the_devices_memory() {
    let text = "
        x = Placeholder() dtype=float
        v = VarHandleOp() dtype=float shape=any shared_name='v'
        assign = AssignVariableOp(v, x) dtype=float
        read = ReadVariableOp(v) dtype=float
        sum = AddV2(read, read) T=float
        set = VarIsInitializedOp(v)
        shape = VariableShape(v)
        host = OnHost(read)
        call = StatefulPartitionedCall(v, x) Tin=[resource,float] Tout=[float] f=&Plus";
    on(&graph_with(text, LIBRARY), &[], |session, device| {
        assert!(!session.run(&[], &["set"], &[]).unwrap()[0].to_scalar::<bool>().unwrap());
        let error = session.run(&[], &["sum"], &[]).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
        session.run(&[one()], &[], &["assign"]).unwrap();
        assert_eq!(device.moved(), (1, 0));
        assert_eq!(scalars(&session.run(&[], &["sum"], &[]).unwrap()), [2.0]);
        assert_eq!(device.moved(), (0, 1));
        assert_eq!(scalars(&session.run(&[], &["host"], &[]).unwrap()), [1.0]);
        assert!(session.run(&[], &["set"], &[]).unwrap()[0].to_scalar::<bool>().unwrap());
        assert_eq!(session.run(&[], &["shape"], &[]).unwrap()[0].num_elements(), 0);
        assert_eq!(device.moved(), (0, 1));
        // The function finds it where its handle says.
        assert_eq!(scalars(&session.run(&[one()], &["call"], &[]).unwrap()), [2.0]);
        assert_eq!(device.moved(), (1, 1));
    });
}

#[test]
fn what_the_host_gave_is_brought_once_until_it_changes() {
    let text = "
        v = VarHandleOp() dtype=float shape=any shared_name='v'
        read = ReadVariableOp(v) dtype=float
        sum = AddV2(read, read) T=float
        set = VarIsInitializedOp(v)
        shape = VariableShape(v)";
    on(&graph_with(text, LIBRARY), &[], |session, device| {
        let variable = Arc::new(Variable::new(DataType::Float));
        session.resources().create("", "v", variable.clone()).unwrap();
        for value in [1f32, 5.0] {
            variable.assign(Tensor::scalar(value)).unwrap();
            for uploads in [1, 0, 0] {
                assert_eq!(scalars(&session.run(&[], &["sum"], &[]).unwrap()), [2.0 * value]);
                assert_eq!(device.moved(), (uploads, 1));
                session.run(&[], &["set", "shape"], &[]).unwrap();
            }
            // It is the host's all the same.
            assert_eq!(variable.read().unwrap().to_scalar::<f32>().unwrap(), value);
        }
        if let Some(value) = variable.lock().as_mut() {
            value.as_mut_slice::<f32>().unwrap()[0] = 7.0;
        }
        assert_eq!(scalars(&session.run(&[], &["sum"], &[]).unwrap()), [14.0]);
        assert_eq!(device.moved(), (1, 1));
        // Another device does not take it for its own.
        let other = TestDevice::new(1, &[]);
        let there = variable.read_on(&*other).unwrap().unwrap();
        assert_eq!(there.device_memory().unwrap().device(), "/device:GPU:1");
    });
}

#[test]
fn what_changes_a_variable_on_the_host_alone_finds_it_there() {
    let text = "
        x = Placeholder() dtype=float
        v = VarHandleOp() dtype=float shape=any shared_name='v'
        assign = AssignVariableOp(v, x) dtype=float
        read = ReadVariableOp(v) dtype=float
        sum = AddV2(read, read) T=float
        more = StatefulPartitionedCall(v, x) Tin=[resource,float] Tout=[float] f=&More
        again = StatefulPartitionedCall(v, more) Tin=[resource,float] Tout=[float] f=&More";
    on(&graph_with(text, LIBRARY), &[], |session, device| {
        session.run(&[one()], &[], &["assign"]).unwrap();
        assert_eq!(scalars(&session.run(&[], &["sum"], &[]).unwrap()), [2.0]);
        for value in [2.0, 3.0] {
            assert_eq!(scalars(&session.run(&[one()], &["more"], &[]).unwrap()), [value]);
            assert_eq!(scalars(&session.run(&[], &["sum"], &[]).unwrap()), [2.0 * value]);
        }
        assert_eq!(scalars(&session.run(&[one()], &["again"], &[]).unwrap()), [8.0]);
        device.moved();
        assert_eq!(scalars(&session.run(&[], &["sum"], &[]).unwrap()), [16.0]);
        assert_eq!(device.moved(), (1, 1));
    });
}

#[test]
fn handles_of_one_variable_stay_together() {
    // One of them is used by what has a kernel on the host only.
    let text = "
        x = Placeholder() dtype=float
        v = VarHandleOp() dtype=float shape=any shared_name='v'
        assign = AssignVariableOp(v, x) dtype=float
        read = ReadVariableOp(v) dtype=float
        sum = AddV2(read, read) T=float
        w = VarHandleOp() dtype=float shape=any shared_name='v'
        i = Const() dtype=int32 values=0
        gather = ResourceGather(w, i) dtype=float Tindices=int32
        call = StatefulPartitionedCall(w, x) Tin=[resource,float] Tout=[float] f=&Plus";
    on(&graph_with(text, LIBRARY), &[], |session, device| {
        let x = Tensor::vector(&[3f32, 4.0]).unwrap();
        session.run(&[("x", x)], &[], &["assign"]).unwrap();
        assert_eq!(device.moved(), (0, 0));
        assert_eq!(scalars(&session.run(&[], &["gather"], &[]).unwrap()), [3.0]);
        assert_eq!(session.run(&[], &["sum"], &[]).unwrap()[0].as_slice::<f32>().unwrap(), [6.0, 8.0]);
        assert_eq!(session.run(&[one()], &["call"], &[]).unwrap()[0].as_slice::<f32>().unwrap(), [4.0, 5.0]);
    });
}

#[test]
fn references_of_the_host_are_read_before_they_go() {
    let text = "
        x = Placeholder() dtype=float
        v = VariableV2() dtype=float shape=any @/cpu:0
        assign = Assign(v, x) T=float
        y = AddV2(v, v) T=float
        after = AddV2(assign, x) T=float
        is = IsVariableInitialized(v) dtype=float";
    on_device_alone(text, |session, device| {
        let error = session.run(&[], &["y"], &[]).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
        assert_eq!(scalars(&session.run(&[one()], &["after"], &[]).unwrap()), [2.0]);
        device.moved();
        assert_eq!(scalars(&session.run(&[], &["y"], &[]).unwrap()), [2.0]);
        assert_eq!(device.moved(), (1, 1));
        assert!(session.run(&[], &["is"], &[]).unwrap()[0].to_scalar::<bool>().unwrap());
    });
}

// ---- without a graph ----

#[test]
fn ops_that_run_at_once_give_tensors_of_the_host() {
    let device = TestDevice::new(0, &[]);
    let registry = kernlink::registry().unwrap();
    let mut eager = EagerContext::on(&registry, [device.clone() as Arc<dyn Device>]).unwrap();
    let sum = ops::add_v2(&mut eager, Tensor::scalar(1f32), Tensor::scalar(2f32)).build().unwrap();
    assert_eq!((scalars(std::slice::from_ref(&sum)), device.moved()), (vec![3.0], (2, 1)));
    let shape = Tensor::vector(&[1i32, 1]).unwrap();
    let reshaped = ops::reshape(&mut eager, sum, shape).build().unwrap();
    assert_eq!((reshaped.shape().dims(), device.moved()), (&[1, 1][..], (1, 1)));
    let error = ops::neg(&mut eager, Tensor::scalar(1f32)).build().unwrap_err();
    assert!(error.message().contains("requires neg"), "{error}");
}
