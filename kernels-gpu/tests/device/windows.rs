//! Tensors that are larger than what the device binds at once: every op gives what it gives where they are not.

use std::sync::Arc;

use kernlink_framework as kernlink;

use kernlink::Code;
use kernlink::attr::{AttrMap, AttrValue};
use kernlink::device::Device as _;
use kernlink::dtype::{DataType, f16};
use kernlink::registry::Registry;
use kernlink::runtime::run_op;
use kernlink::shape::Shape;
use kernlink::step::block_on;
use kernlink::tensor::Tensor;
use kernlink_kernels_gpu::{Entry, GpuDevice, Groups, Program, Scalar, Shader};

/// What the limited device binds at once: most tensors here have some of it.
const LIMIT: usize = 64 << 10;

/// Runs `work` on the adapter that `KERNLINK_GPU` names, or else a software one, which binds at most so much.
fn on_device<T>(limit: usize, work: impl FnOnce(&GpuDevice) -> T) -> T {
    work(&crate::testing::limited(limit))
}

fn dispatches(gpu: &GpuDevice) -> u64 {
    gpu.counters().into_iter().find(|(name, _)| *name == "dispatches").unwrap().1
}

/// An op, its attrs and its inputs.
struct Case {
    op: &'static str,
    attrs: Vec<(&'static str, AttrValue)>,
    inputs: Vec<Tensor>,
    /// How far answers may be from each other: sums are added in another order.
    tolerance: f64,
}

fn case(op: &'static str, attrs: &[(&'static str, AttrValue)], inputs: &[&Tensor]) -> Case {
    Case { op, attrs: attrs.to_vec(), inputs: inputs.iter().map(|&input| input.clone()).collect(), tolerance: 0.0 }
}

impl Case {
    fn within(self, tolerance: f64) -> Case {
        Case { tolerance, ..self }
    }
}

fn ty(name: &'static str, dtype: DataType) -> (&'static str, AttrValue) {
    (name, AttrValue::Type(dtype))
}

fn int(name: &'static str, value: i64) -> (&'static str, AttrValue) {
    (name, AttrValue::Int(value))
}

fn flag(name: &'static str, value: bool) -> (&'static str, AttrValue) {
    (name, AttrValue::Bool(value))
}

fn text(name: &'static str, value: &str) -> (&'static str, AttrValue) {
    (name, AttrValue::from(value))
}

fn ints(name: &'static str, values: &[i64]) -> (&'static str, AttrValue) {
    (name, AttrValue::ListInt(values.to_vec()))
}

/// Numbers from −500 to 499 without an order.
fn numbers(count: usize, seed: u32) -> Vec<i32> {
    let number = |i: u32| ((i ^ seed.wrapping_mul(0x9e37_79b9)).wrapping_mul(2_654_435_761) >> 8) as i32 % 1000 - 500;
    (0..count as u32).map(number).collect()
}

/// A tensor of a dtype with such numbers; of floats they are small.
fn tensor(dtype: DataType, shape: &[usize], seed: u32) -> Tensor {
    let numbers = numbers(shape.iter().product(), seed);
    let shape = Shape::from(shape);
    match dtype {
        DataType::Float => {
            Tensor::from_elements(shape, &numbers.iter().map(|&x| x as f32 / 64.0).collect::<Vec<_>>()).unwrap()
        }
        DataType::Half => {
            let halves: Vec<f16> = numbers.iter().map(|&x| f16::from_f32(x as f32 / 64.0)).collect();
            Tensor::from_elements(shape, &halves).unwrap()
        }
        DataType::Int32 => Tensor::from_elements(shape, &numbers).unwrap(),
        DataType::Int64 => {
            let long: Vec<i64> = numbers.iter().map(|&x| i64::from(x) * 0x1_0000_0001).collect();
            Tensor::from_elements(shape, &long).unwrap()
        }
        DataType::Bool => Tensor::from_elements(shape, &numbers.iter().map(|&x| x > 0).collect::<Vec<_>>()).unwrap(),
        other => panic!("no numbers of {other}"),
    }
}

fn f32s(shape: &[usize], seed: u32) -> Tensor {
    tensor(DataType::Float, shape, seed)
}

fn vector(values: &[i32]) -> Tensor {
    Tensor::vector(values).unwrap()
}

/// Indices below `below`.
fn indices(shape: &[usize], below: usize) -> Tensor {
    let count: usize = shape.iter().product();
    let values: Vec<i32> = numbers(count, 77).iter().map(|&x| (x + 500) * 7919 % below as i32).collect();
    Tensor::from_elements(Shape::from(shape), &values).unwrap()
}

/// An answer as numbers, so that all dtypes are compared alike.
fn as_numbers(tensor: &Tensor) -> Vec<f64> {
    match tensor.dtype() {
        DataType::Float => tensor.as_slice::<f32>().unwrap().iter().map(|&x| f64::from(x)).collect(),
        DataType::Half => tensor.as_slice::<f16>().unwrap().iter().map(|&x| f64::from(x.to_f32())).collect(),
        DataType::Int32 => tensor.as_slice::<i32>().unwrap().iter().map(|&x| f64::from(x)).collect(),
        DataType::Int64 => tensor.as_slice::<i64>().unwrap().iter().map(|&x| x as f64).collect(),
        DataType::Bool => tensor.as_slice::<bool>().unwrap().iter().map(|&x| f64::from(u8::from(x))).collect(),
        other => panic!("no answers of {other}"),
    }
}

/// Runs all cases on a device; with the number of dispatches of each.
fn answers(gpu: &GpuDevice, cases: &[Case]) -> Vec<(Vec<Tensor>, u64)> {
    let providers = [&kernlink_ops::KERNLINK_PROVIDER, &kernlink_kernels_gpu::KERNLINK_PROVIDER];
    let registry = Arc::new(Registry::linked(&providers).expect("all registrations"));
    let run = |case: &Case| {
        let attrs: AttrMap = case.attrs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let before = dispatches(gpu);
        let outputs = run_op(&registry, gpu, case.op, attrs, case.inputs.clone());
        let outputs = outputs.unwrap_or_else(|error| panic!("{}: {error}", case.op));
        (outputs, dispatches(gpu) - before)
    };
    cases.iter().map(run).collect()
}

/// Fails unless all cases have the same answers, in more dispatches, with the limit as without.
fn check(cases: &[Case]) {
    let whole = on_device(usize::MAX, |gpu| answers(gpu, cases));
    let limited = on_device(LIMIT, |gpu| answers(gpu, cases));
    for ((case, (whole, few)), (limited, many)) in cases.iter().zip(&whole).zip(&limited) {
        let shapes: Vec<String> = case.inputs.iter().map(|input| input.shape().to_string()).collect();
        let name = format!("{} of {} {}", case.op, case.inputs[0].dtype(), shapes.join(" "));
        assert!(many > few, "{name}: {many} dispatches for {few}");
        assert_eq!(whole.len(), limited.len(), "{name}");
        for (whole, limited) in whole.iter().zip(limited) {
            assert_eq!(whole.shape(), limited.shape(), "{name}");
            for (i, (a, b)) in as_numbers(whole).into_iter().zip(as_numbers(limited)).enumerate() {
                let is_near = a == b || (a - b).abs() <= case.tolerance * (1.0 + a.abs()) || (a.is_nan() && b.is_nan());
                assert!(is_near, "{name}: element {i} is {b}, not {a}");
            }
        }
    }
}

const DTYPES: [DataType; 5] = [DataType::Float, DataType::Half, DataType::Int32, DataType::Int64, DataType::Bool];

#[test]
fn element_by_element() {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        let t = [ty("T", dtype)];
        let [x, y] = [1, 2].map(|seed| tensor(dtype, &[101, 977], seed));
        cases.push(case("Equal", &[t.clone(), [flag("incompatible_shape_error", true)]].concat(), &[&x, &y]));
        cases.push(case("SelectV2", &t, &[&tensor(DataType::Bool, &[101, 1], 3), &x, &y]));
        if dtype != DataType::Bool {
            cases.push(case("Neg", &t, &[&x]));
            cases.push(case("AddV2", &t, &[&x, &y]));
            // A scalar, rows, columns, and both ways at once, in vectors or not.
            cases.push(case("Sub", &t, &[&tensor(dtype, &[], 4), &x]));
            cases.push(case("Sub", &t, &[&x, &tensor(dtype, &[977], 5)]));
            cases.push(case("Sub", &t, &[&tensor(dtype, &[300, 1, 64], 6), &tensor(dtype, &[1, 5, 1], 7)]));
            cases.push(case("Mul", &t, &[&tensor(dtype, &[3, 1, 1, 24], 8), &tensor(dtype, &[1, 1500, 2, 24], 9)]));
            cases.push(case("AddN", &[t.clone(), [int("N", 3)]].concat(), &[&x, &y, &x]));
        }
        cases.push(case("Cast", &[ty("SrcT", dtype), ty("DstT", DataType::Float)], &[&x]));
    }
    // The same dtype is no work.
    cases.retain(|case| case.op != "Cast" || case.inputs[0].dtype() != DataType::Float);
    // An operand that is too large itself, and rows of which each is.
    let t = [ty("T", DataType::Float)];
    cases.push(case("Sub", &t, &[&f32s(&[2, 3, 40_000], 1), &f32s(&[3, 40_000], 2)]));
    cases.push(case("Sub", &t, &[&f32s(&[3, 20_001], 1), &f32s(&[3, 1], 2)]));
    cases.push(case(
        "BiasAdd",
        &[ty("T", DataType::Float), text("data_format", "NHWC")],
        &[&f32s(&[5, 20, 31, 13], 1), &f32s(&[13], 2)],
    ));
    check(&cases);
}

#[test]
fn what_is_refused_is_refused_in_every_window() {
    let attrs = [ty("T", DataType::Int32)];
    let mut divisors = vec![3i32; 100_003];
    let fine = case("FloorDiv", &attrs, &[&tensor(DataType::Int32, &[100_003], 1), &vector(&divisors)]);
    check(&[fine]);
    divisors[100_002] = 0;
    on_device(LIMIT, |gpu| {
        let [x, y] = [tensor(DataType::Int32, &[100_003], 1), vector(&divisors)];
        let providers = [&kernlink_ops::KERNLINK_PROVIDER, &kernlink_kernels_gpu::KERNLINK_PROVIDER];
        let registry = Arc::new(Registry::linked(&providers).expect("all registrations"));
        let attrs = attrs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let error = run_op(&registry, gpu, "FloorDiv", attrs, vec![x, y]).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    });
}

#[test]
fn reductions() {
    let mut cases = Vec::new();
    let shapes: [(&[usize], &[&[i32]]); 9] = [
        (&[200_001], &[&[0]]),
        (&[300, 501], &[&[0], &[1], &[0, 1]]),
        (&[3, 50_001], &[&[0], &[1]]),
        (&[2, 3, 40_000], &[&[0], &[1], &[2], &[0, 2], &[0, 1]]),
        (&[40, 60, 9, 5], &[&[1], &[0, 2], &[1, 3], &[0, 1, 2]]),
        (&[60_000, 2], &[&[0], &[1]]),
        (&[2, 60_000], &[&[0]]),
        (&[16_384, 4], &[&[1]]),
        (&[7, 1, 20_000], &[&[0, 1]]),
    ];
    for (shape, axes) in shapes {
        for &axes in axes {
            for (op, dtype, tolerance) in [
                ("Sum", DataType::Int32, 0.0),
                ("Max", DataType::Half, 0.0),
                ("Mean", DataType::Float, 2e-5),
                ("Mean", DataType::Int64, 0.0),
            ] {
                let attrs = [ty("T", dtype), ty("Tidx", DataType::Int32), flag("keep_dims", false)];
                cases.push(case(op, &attrs, &[&tensor(dtype, shape, 3), &vector(axes)]).within(tolerance));
            }
        }
    }
    let attrs = [ty("Tidx", DataType::Int32), flag("keep_dims", false)];
    cases.push(case("All", &attrs, &[&tensor(DataType::Bool, &[400, 300], 1), &vector(&[1])]));
    cases.push(case("L2Loss", &[ty("T", DataType::Float)], &[&f32s(&[100_001], 1)]).within(1e-5));
    check(&cases);
}

#[test]
fn rows() {
    let mut cases = Vec::new();
    let t = [ty("T", DataType::Float)];
    for shape in [[5000, 10], [50, 1001]] {
        cases.push(case("Softmax", &t, &[&f32s(&shape, 1)]));
        cases.push(case("LogSoftmax", &t, &[&f32s(&shape, 1)]));
        let attrs = [ty("T", DataType::Float), ty("Tlabels", DataType::Int32)];
        let labels = indices(&shape[..1], shape[1]);
        cases.push(case("SparseSoftmaxCrossEntropyWithLogits", &attrs, &[&f32s(&shape, 1), &labels]));
        cases.push(case("SoftmaxCrossEntropyWithLogits", &t, &[&f32s(&shape, 1), &f32s(&[1, shape[1]], 2)]));
    }
    let attrs = [ty("T", DataType::Float), ty("Tk", DataType::Int32), ty("index_type", DataType::Int32)];
    let attrs = [&attrs[..], &[flag("sorted", true)]].concat();
    cases.push(case("TopKV2", &attrs, &[&f32s(&[50, 1001], 1), &Tensor::scalar(3i32)]));
    for (shape, axis) in [(vec![60, 501], 1), (vec![30, 40, 33], 1), (vec![500, 11, 7], 1)] {
        let x = tensor(DataType::Int32, &shape, 5);
        let attrs = [ty("T", DataType::Int32), ty("Tidx", DataType::Int32), ty("output_type", DataType::Int32)];
        cases.push(case("ArgMax", &attrs, &[&x, &Tensor::scalar(axis)]));
        let attrs = [ty("T", DataType::Int32), ty("Tidx", DataType::Int32)];
        let attrs = [&attrs[..], &[flag("exclusive", false), flag("reverse", true)]].concat();
        cases.push(case("Cumsum", &attrs, &[&x, &Tensor::scalar(axis)]));
    }
    check(&cases);
}

#[test]
fn moves() {
    let mut cases = Vec::new();
    for dtype in [DataType::Float, DataType::Half, DataType::Int64, DataType::Bool] {
        let t = [ty("T", dtype)];
        let x = tensor(dtype, &[150, 3, 131], 1);
        let wide = tensor(dtype, &[3, 40_001], 2);
        let with = |more: &[(&'static str, AttrValue)]| [&t[..], more].concat();
        let perm = |perm: &[i32]| (with(&[ty("Tperm", DataType::Int32)]), vector(perm));
        for order in [[2, 1, 0], [0, 2, 1], [1, 0, 2]] {
            let (attrs, order) = perm(&order);
            cases.push(case("Transpose", &attrs, &[&x, &order]));
        }
        let (attrs, order) = perm(&[1, 0]);
        cases.push(case("Transpose", &attrs, &[&wide, &order]));
        let attrs = with(&[ty("Index", DataType::Int32)]);
        cases.push(case("Slice", &attrs, &[&x, &vector(&[1, 0, 5]), &vector(&[149, 3, 120])]));
        cases.push(case("Slice", &attrs, &[&wide, &vector(&[0, 7]), &vector(&[3, 39_000])]));
        let attrs = with(&[int("N", 3), ty("Tidx", DataType::Int32)]);
        for axis in [0, 1, 2] {
            cases.push(case("ConcatV2", &attrs, &[&x, &x, &x, &Tensor::scalar(axis)]));
        }
        cases.push(case("Pack", &with(&[int("N", 2), int("axis", 1)]), &[&x, &x]));
        cases.push(case("Split", &with(&[int("num_split", 3)]), &[&Tensor::scalar(1i32), &x]));
        if dtype != DataType::Int64 {
            cases.push(case("Unpack", &with(&[int("num", 3), int("axis", 0)]), &[&wide]));
        }
        let attrs = with(&[ty("Tmultiples", DataType::Int32)]);
        cases.push(case("Tile", &attrs, &[&tensor(dtype, &[5, 301], 3), &vector(&[13, 4])]));
        let attrs = with(&[ty("Tidx", DataType::Int32)]);
        cases.push(case("BroadcastTo", &attrs, &[&tensor(dtype, &[1, 301], 3), &vector(&[200, 301])]));
        cases.push(case("ReverseV2", &attrs, &[&x, &vector(&[0, 2])]));
        cases.push(case("ReverseV2", &attrs, &[&wide, &vector(&[1])]));
        let attrs = with(&[ty("Tpaddings", DataType::Int32)]);
        let edges = Tensor::from_elements([3, 2], &[2i32, 1, 0, 1, 3, 0]).unwrap();
        cases.push(case("Pad", &attrs, &[&x, &edges]));
        cases.push(case("PadV2", &attrs, &[&x, &edges, &tensor(dtype, &[], 4)]));
        for mode in ["REFLECT", "SYMMETRIC"] {
            let attrs = [&attrs[..], &[text("mode", mode)]].concat();
            cases.push(case("MirrorPad", &attrs, &[&x, &edges]));
        }
        let attrs = with(&[ty("Tshift", DataType::Int32), ty("Taxis", DataType::Int32)]);
        cases.push(case("Roll", &attrs, &[&x, &vector(&[7, -3]), &vector(&[0, 2])]));
        let attrs = with(&[ty("index_type", DataType::Int32)]);
        cases.push(case("Fill", &attrs, &[&vector(&[331, 301]), &tensor(dtype, &[], 4)]));
        cases.push(case("ZerosLike", &t, &[&x]));
        let attrs = with(&[ty("TI", DataType::Int32), int("axis", -1)]);
        let [on, off] = [tensor(dtype, &[], 7), tensor(dtype, &[], 8)];
        cases.push(case("OneHot", &attrs, &[&indices(&[2000], 33), &Tensor::scalar(33i32), &on, &off]));
    }
    for dtype in [DataType::Float, DataType::Half] {
        let attrs = [ty("T", dtype), int("block_size", 2), text("data_format", "NHWC")];
        cases.push(case("SpaceToDepth", &attrs, &[&tensor(dtype, &[4, 60, 62, 6], 1)]));
        let attrs = [ty("T", dtype), ty("Tblock_shape", DataType::Int32), ty("Tpaddings", DataType::Int32)];
        let edges = Tensor::from_elements([2, 2], &[1i32, 0, 2, 2]).unwrap();
        cases.push(case("SpaceToBatchND", &attrs, &[&tensor(dtype, &[4, 61, 60, 6], 1), &vector(&[2, 2]), &edges]));
        let attrs = [ty("T", dtype), ty("Tpaddings", DataType::Int32), text("mode", "SYMMETRIC")];
        let edges = Tensor::from_elements([2, 2], &[0i32, 0, 3, 5]).unwrap();
        cases.push(case("MirrorPadGrad", &attrs, &[&tensor(dtype, &[500, 101], 1), &edges]));
    }
    for dtype in [DataType::Float, DataType::Int64] {
        let [start, limit, delta] = match dtype {
            DataType::Float => [1.5f32, 60_001.0, 1.25].map(Tensor::scalar),
            _ => [-7i64, 200_000, 3].map(Tensor::scalar),
        };
        cases.push(case("Range", &[ty("Tidx", dtype)], &[&start, &limit, &delta]));
    }
    check(&cases);
}

#[test]
fn by_indices() {
    let mut cases = Vec::new();
    for dtype in [DataType::Float, DataType::Half, DataType::Int64, DataType::Bool] {
        // A table that is too large, what is taken from it, and both; along other axes; by batches.
        let table = tensor(dtype, &[3001, 33], 1);
        let attrs =
            [ty("Tparams", dtype), ty("Tindices", DataType::Int32), ty("Taxis", DataType::Int32), int("batch_dims", 0)];
        cases.push(case("GatherV2", &attrs, &[&table, &indices(&[50], 3001), &Tensor::scalar(0i32)]));
        cases.push(case("GatherV2", &attrs, &[&table, &indices(&[4000], 3001), &Tensor::scalar(0i32)]));
        let small = tensor(dtype, &[20, 7], 2);
        cases.push(case("GatherV2", &attrs, &[&small, &indices(&[9000], 20), &Tensor::scalar(0i32)]));
        let blocks = tensor(dtype, &[200, 30, 17], 3);
        cases.push(case("GatherV2", &attrs, &[&blocks, &indices(&[11], 30), &Tensor::scalar(1i32)]));
        let attrs = [&attrs[..3], &[int("batch_dims", 1)]].concat();
        cases.push(case("GatherV2", &attrs, &[&blocks, &indices(&[200, 9], 30), &Tensor::scalar(1i32)]));
        let attrs = [ty("Tparams", dtype), ty("Tindices", DataType::Int32)];
        let pairs: Vec<i32> = (0..5000).flat_map(|i| [i * 7 % 200, i * 11 % 30]).collect();
        let pairs = Tensor::from_elements([5000, 2], &pairs).unwrap();
        cases.push(case("GatherNd", &attrs, &[&blocks, &pairs]));
        let attrs = [ty("T", dtype), ty("Tindices", DataType::Int32)];
        // No pair is there twice: which of two would stay is open.
        let some = Tensor::from_elements([150, 2], &(0..150).flat_map(|i| [i, i * 11 % 30]).collect::<Vec<i32>>());
        let (some, updates) = (some.unwrap(), tensor(dtype, &[150, 17], 4));
        cases.push(case("TensorScatterUpdate", &attrs, &[&blocks, &some, &updates]));
        if dtype != DataType::Bool && dtype != DataType::Half {
            let updates = tensor(dtype, &[5000, 17], 4);
            cases.push(case("TensorScatterAdd", &attrs, &[&blocks, &pairs, &updates]).within(1e-5));
            let shape = vector(&[200, 30, 17]);
            cases.push(case("ScatterNd", &attrs, &[&pairs, &updates, &shape]).within(1e-5));
        }
    }
    check(&cases);
}

#[test]
fn products() {
    let mut cases = Vec::new();
    for (dtype, tolerance) in [(DataType::Float, 1e-4), (DataType::Half, 2e-2), (DataType::Int32, 0.0)] {
        for turned in [[false, false], [false, true], [true, false], [true, true]] {
            for [rows, inner, columns] in
                [[700, 40, 60], [50, 3000, 21], [13, 40, 3000], [300, 200, 250], [3000, 30, 3], [64, 64, 1200]]
            {
                // Each factor, the output, and all three are too large in turn.
                let turn = |turned: bool, shape: [usize; 2]| if turned { [shape[1], shape[0]] } else { shape };
                let a = tensor(dtype, &turn(turned[0], [rows, inner]), 1);
                let b = tensor(dtype, &turn(turned[1], [inner, columns]), 2);
                let attrs = [ty("T", dtype), flag("transpose_a", turned[0]), flag("transpose_b", turned[1])];
                let elements = (rows * inner).max(inner * columns).max(rows * columns);
                let is_one_of_all = dtype == DataType::Float || inner >= 200;
                if elements * dtype.size() > LIMIT && is_one_of_all {
                    cases.push(case("MatMul", &attrs, &[&a, &b]).within(tolerance));
                }
            }
        }
        let attrs = [ty("T", dtype), flag("adj_x", false), flag("adj_y", false)];
        let x = tensor(dtype, &[50, 3, 20, 31], 1);
        cases.push(case("BatchMatMulV2", &attrs, &[&x, &tensor(dtype, &[50, 3, 31, 7], 2)]).within(tolerance));
        cases.push(case("BatchMatMulV2", &attrs, &[&x, &tensor(dtype, &[3, 31, 7], 2)]).within(tolerance));
        cases.push(case("BatchMatMulV2", &attrs, &[&x, &tensor(dtype, &[31, 1], 2)]).within(tolerance));
    }
    check(&cases);
}

#[test]
fn images() {
    let mut cases = Vec::new();
    for (dtype, tolerance) in [(DataType::Float, 1e-4), (DataType::Half, 2e-2)] {
        let t = ty("T", dtype);
        let x = tensor(dtype, &[11, 17, 19, 12], 1);
        let odd = tensor(dtype, &[11, 17, 19, 13], 1);
        let (strides, padding, format) = (ints("strides", &[1, 2, 2, 1]), text("padding", "SAME"), "NHWC");
        let conv = [t.clone(), strides.clone(), padding.clone(), text("data_format", format)];
        let filter = tensor(dtype, &[3, 3, 12, 8], 2);
        let gradient = tensor(dtype, &[11, 9, 10, 8], 3);
        cases.push(case("Conv2D", &conv, &[&x, &filter]).within(tolerance));
        cases.push(case("Conv2D", &conv, &[&odd, &tensor(dtype, &[3, 3, 13, 7], 2)]).within(tolerance));
        let sizes = vector(&[11, 17, 19, 12]);
        cases.push(case("Conv2DBackpropInput", &conv, &[&sizes, &filter, &gradient]).within(tolerance));
        let sizes = vector(&[3, 3, 12, 8]);
        cases.push(case("Conv2DBackpropFilter", &conv, &[&x, &sizes, &gradient]).within(tolerance));
        let filter = tensor(dtype, &[3, 3, 12, 1], 2);
        let gradient = tensor(dtype, &[11, 9, 10, 12], 3);
        cases.push(case("DepthwiseConv2dNative", &conv, &[&x, &filter]).within(tolerance));
        let sizes = vector(&[11, 17, 19, 12]);
        let ops = ["DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter"];
        cases.push(case(ops[0], &conv, &[&sizes, &filter, &gradient]).within(tolerance));
        cases.push(case(ops[1], &conv, &[&x, &vector(&[3, 3, 12, 1]), &gradient]).within(tolerance));
        let pool = [&conv[..], &[ints("ksize", &[1, 3, 3, 1])]].concat();
        for x in [&x, &odd] {
            cases.push(case("MaxPool", &pool, &[x]));
            cases.push(case("AvgPool", &pool, &[x]).within(tolerance));
        }
        let pooled = tensor(dtype, &[11, 9, 10, 12], 5);
        cases.push(case("MaxPoolGrad", &pool, &[&x, &pooled, &gradient]).within(tolerance));
        let size = vector(&[31, 23]);
        let attrs = [t.clone(), flag("align_corners", false), flag("half_pixel_centers", true)];
        cases.push(case("ResizeBilinear", &attrs, &[&x, &size]).within(tolerance));
        cases.push(case("ResizeNearestNeighbor", &attrs, &[&odd, &size]));
        for (training, format, x) in [(false, "NHWC", &x), (true, "NHWC", &odd), (true, "NCHW", &odd)] {
            let channels = if format == "NHWC" { x.shape()[3] } else { x.shape()[1] };
            let ones = Tensor::vector(&vec![1f32; channels]).unwrap();
            let attrs = [
                t.clone(),
                ty("U", DataType::Float),
                ("epsilon", AttrValue::Float(1e-3)),
                ("exponential_avg_factor", AttrValue::Float(1.0)),
                text("data_format", format),
                flag("is_training", training),
            ];
            let per = [f32s(&[channels], 6), f32s(&[channels], 7), f32s(&[channels], 8)];
            cases.push(case("FusedBatchNormV3", &attrs, &[x, &per[0], &per[1], &per[2], &ones]).within(tolerance));
            let attrs = [&attrs[..3], &attrs[4..]].concat();
            if training {
                cases.push(case("FusedBatchNormGradV3", &attrs, &[x, x, &per[0], &per[1], &ones, &ones]).within(1e-3));
            }
        }
    }
    check(&cases);
}

#[test]
fn what_takes_a_tensor_whole_says_how_large_it_is() {
    // The greatest of columns that are too long to be cut.
    on_device(LIMIT, |gpu| {
        let providers = [&kernlink_ops::KERNLINK_PROVIDER, &kernlink_kernels_gpu::KERNLINK_PROVIDER];
        let registry = Arc::new(Registry::linked(&providers).expect("all registrations"));
        let attrs = [ty("T", DataType::Float), ty("Tidx", DataType::Int32), ty("output_type", DataType::Int32)];
        let attrs = attrs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let inputs = vec![f32s(&[30_000, 2], 1), Tensor::scalar(0i32)];
        let error = run_op(&registry, gpu, "ArgMax", attrs, inputs).unwrap_err();
        assert_eq!(error.code(), Code::ResourceExhausted);
        for part in ["ArgMax", "[30000,2]", "240000 bytes", "65536"] {
            assert!(error.to_string().contains(part), "{error}");
        }
    });
}

/// With the device's own limit: on a device that binds 128 MiB these are windows.
#[test]
fn forty_million_elements() {
    on_device(usize::MAX, |gpu| {
        const COUNT: usize = 40_000_003;
        let double = Shader::new(
            Program::builder("double")
                .write("y", Scalar::U32)
                .param("first", "u32")
                .build(Entry::Elements, "fn element(i: u32) { y[i] = 3u * (i + params.first); }"),
        );
        let most = (gpu.limits().max_storage_buffer_binding_size as usize / 4).min(30_000_001);
        // As many workgroups in one dispatch as need to be folded, a thread for each element.
        let y = gpu.allocate(DataType::Uint32, [most]).unwrap();
        gpu.dispatch(&double, &[&y], &[5], Groups::Elements(most)).unwrap();
        let host = block_on(gpu.to_host(&y)).unwrap();
        let wrong = host.as_slice::<u32>().unwrap().iter().enumerate().find(|&(i, &x)| x != 3 * (i as u32 + 5));
        assert_eq!(wrong, None);
        drop((y, host));
        let elements: Vec<i32> = (0..COUNT as i32).collect();
        let attrs = [ty("T", DataType::Int32)];
        let (x, seven) = (Tensor::vector(&elements).unwrap(), Tensor::scalar(7i32));
        let sums = answers(gpu, &[case("AddV2", &attrs, &[&x, &seven])]);
        let wrong = sums[0].0[0].as_slice::<i32>().unwrap().iter().zip(&elements).find(|&(&y, &x)| y != x + 7);
        assert_eq!(wrong, None);
    });
}
