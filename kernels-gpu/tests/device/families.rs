//! Kernels on tensors large enough for the shaders that small ones do not reach: parts of reductions, vectors along
//! broadcast dimensions, rows that a workgroup walks in steps. The golden cases have the small ones.

use std::sync::Arc;

use kernlink_framework as kernlink;

use crate::testing::{Opened, device, without};
use kernlink::attr::{AttrMap, AttrValue};
use kernlink::device::Device as _;
use kernlink::dtype::{DataType, Element};
use kernlink::error::Result;
use kernlink::registry::Registry;
use kernlink::runtime::run_op;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;

struct Gpu {
    device: Opened,
    registry: Arc<Registry>,
}

impl Gpu {
    /// The adapter that `KERNLINK_GPU` names, or else a software one.
    fn open() -> Gpu {
        Gpu::on(device())
    }

    /// The same as if it lacked some capabilities.
    fn open_without(capabilities: &[&str]) -> Gpu {
        Gpu::on(without(capabilities))
    }

    fn on(device: Opened) -> Gpu {
        let providers = [&kernlink_ops::KERNLINK_PROVIDER, &kernlink_kernels_gpu::KERNLINK_PROVIDER];
        let registry = Arc::new(Registry::linked(&providers).expect("all registrations"));
        Gpu { device, registry }
    }

    fn run(&self, op: &str, attrs: &[(&str, AttrValue)], inputs: Vec<Tensor>) -> Result<Vec<Tensor>> {
        let attrs: AttrMap = attrs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        run_op(&self.registry, &*self.device, op, attrs, inputs)
    }

    fn one<T: Element + Copy>(&self, op: &str, attrs: &[(&str, AttrValue)], inputs: Vec<Tensor>) -> Vec<T> {
        let outputs = self.run(op, attrs, inputs).unwrap_or_else(|error| panic!("{op}: {error}"));
        outputs[0].as_slice::<T>().unwrap().to_vec()
    }
}

fn dtype(name: &'static str, dtype: DataType) -> (&'static str, AttrValue) {
    (name, AttrValue::Type(dtype))
}

fn flag(name: &'static str, value: bool) -> (&'static str, AttrValue) {
    (name, AttrValue::Bool(value))
}

/// Numbers without an order.
fn numbers(shape: &[usize]) -> (Tensor, Vec<i32>) {
    let count: usize = shape.iter().product();
    let values: Vec<i32> =
        (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 12) as i32 % 2000 - 1000).collect();
    (Tensor::from_elements(Shape::from(shape), &values).unwrap(), values)
}

/// Sums along axes, by the definition.
fn sums(shape: &[usize], axes: &[i32], values: &[i32]) -> Vec<i32> {
    let strides = Shape::from(shape).strides();
    let kept: Vec<usize> = (0..shape.len()).filter(|&axis| !axes.contains(&(axis as i32))).collect();
    let mut sums = vec![0i32; kept.iter().map(|&axis| shape[axis]).product()];
    for (i, &value) in values.iter().enumerate() {
        let place = kept.iter().fold(0, |place, &axis| place * shape[axis] + i / strides[axis] % shape[axis]);
        sums[place] = sums[place].wrapping_add(value);
    }
    sums
}

/// Runs a test as the device is, and as if it had no subgroups.
fn on_both(test: impl Fn(&Gpu)) {
    for without in [&[][..], &["subgroups"]] {
        let gpu = Gpu::open_without(without);
        assert!(without.iter().all(|name| !gpu.device.capabilities().contains(name)));
        test(&gpu);
    }
}

#[test]
fn reductions_of_all_shapes_agree_with_the_definition() {
    on_both(reductions);
}

fn reductions(gpu: &Gpu) {
    let cases: [(&[usize], &[&[i32]]); 9] = [
        (&[200_001], &[&[0]]),
        (&[3, 50_001], &[&[0], &[1], &[0, 1]]),
        (&[4, 2048], &[&[0], &[1]]),
        (&[5000, 40], &[&[0], &[1]]),
        (&[20_000, 7], &[&[0], &[1]]),
        (&[40, 60, 9], &[&[1], &[0, 2], &[0, 1]]),
        (&[8, 50, 16], &[&[1], &[0, 2]]),
        (&[2, 3, 2, 3, 2, 3, 2, 40], &[&[0, 2, 4, 6], &[1, 3, 5, 7]]),
        (&[100, 0, 4], &[&[1], &[0]]),
    ];
    for (shape, all_axes) in cases {
        let (tensor, values) = numbers(shape);
        for axes in all_axes {
            let attrs = [dtype("T", DataType::Int32), dtype("Tidx", DataType::Int32), flag("keep_dims", false)];
            let given: Vec<i32> = gpu.one("Sum", &attrs, vec![tensor.clone(), Tensor::vector(axes).unwrap()]);
            assert_eq!(given, sums(shape, axes, &values), "{shape:?} along {axes:?}");
        }
    }
}

#[test]
fn long_sums_of_floats_stay_accurate_and_are_the_same_each_time() {
    on_both(sums_of_floats);
}

fn sums_of_floats(gpu: &Gpu) {
    for (shape, axis) in [([1usize, 400_000], 1), ([400_000, 1], 0), ([100_000, 4], 0)] {
        let tensor = Tensor::from_elements(Shape::from(shape), &vec![0.1f32; shape[0] * shape[1]]).unwrap();
        let attrs = [dtype("T", DataType::Float), dtype("Tidx", DataType::Int32), flag("keep_dims", false)];
        let exact = f64::from(0.1f32) * shape[axis as usize] as f64;
        for sum in gpu.one::<f32>("Sum", &attrs, vec![tensor, Tensor::vector(&[axis]).unwrap()]) {
            assert!((f64::from(sum) / exact - 1.0).abs() < 2e-6, "{sum} for {exact}");
        }
    }
    for shape in [[1usize, 200_003], [7, 1031]] {
        let values: Vec<f32> = numbers(&shape).1.iter().map(|&value| value as f32 / 7.0).collect();
        let tensor = Tensor::from_elements(Shape::from(shape), &values).unwrap();
        let attrs = [dtype("T", DataType::Float), dtype("Tidx", DataType::Int32), flag("keep_dims", false)];
        let sums = || gpu.one::<f32>("Sum", &attrs, vec![tensor.clone(), Tensor::vector(&[1]).unwrap()]);
        let bits = |sums: Vec<f32>| sums.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        let first = bits(sums());
        (0..5).for_each(|_| assert_eq!(bits(sums()), first));
    }
}

#[test]
fn broadcasts_with_and_without_vectors_agree_with_the_definition() {
    let gpu = Gpu::open();
    let cases: [(&[usize], &[usize]); 8] = [
        (&[33, 16], &[33, 1]),
        (&[33, 16], &[16]),
        (&[33, 15], &[33, 1]),
        (&[5, 3, 8], &[3, 1]),
        (&[5, 1, 8], &[1, 7, 8]),
        (&[4, 1, 6, 1, 12], &[1, 5, 1, 2, 12]),
        (&[4, 3, 6, 2, 1], &[1, 3, 1, 2, 8]),
        (&[1], &[1003]),
    ];
    for (left, right) in cases {
        let ((x, xs), (y, ys)) = (numbers(left), numbers(right));
        let shape = x.shape().broadcast(y.shape()).unwrap();
        let given: Vec<i32> = gpu.one("Sub", &[dtype("T", DataType::Int32)], vec![x.clone(), y.clone()]);
        let strides = shape.strides();
        let place = |operand: &Shape, i: usize| {
            let missing = shape.rank() - operand.rank();
            let own = operand.strides();
            let of_axis = |axis: usize| match operand[axis] {
                1 => 0,
                _ => i / strides[axis + missing] % shape[axis + missing] * own[axis],
            };
            (0..operand.rank()).map(of_axis).sum::<usize>()
        };
        let expected: Vec<i32> =
            (0..shape.num_elements()).map(|i| xs[place(x.shape(), i)] - ys[place(y.shape(), i)]).collect();
        assert_eq!(given, expected, "{left:?} - {right:?}");
    }
}

#[test]
fn rows_that_a_workgroup_walks_in_steps_agree_with_the_definition() {
    on_both(walked_rows);
}

fn walked_rows(gpu: &Gpu) {
    let (tensor, values) = numbers(&[3, 5000]);
    let attrs = [dtype("T", DataType::Int32), dtype("Tidx", DataType::Int32)];
    for (exclusive, reverse) in [(false, false), (true, false), (false, true), (true, true)] {
        let attrs = [&attrs[..], &[flag("exclusive", exclusive), flag("reverse", reverse)]].concat();
        let given: Vec<i32> = gpu.one("Cumsum", &attrs, vec![tensor.clone(), Tensor::scalar(1i32)]);
        for (row, given) in values.chunks(5000).zip(given.chunks(5000)) {
            let mut sum = 0;
            for k in 0..5000 {
                let k = if reverse { 4999 - k } else { k };
                let before = sum;
                sum += row[k];
                assert_eq!(given[k], if exclusive { before } else { sum }, "{k} {exclusive} {reverse}");
            }
        }
    }
    let attrs = [dtype("T", DataType::Int32), dtype("Tidx", DataType::Int32), dtype("output_type", DataType::Int32)];
    let places: Vec<i32> = gpu.one("ArgMax", &attrs, vec![tensor.clone(), Tensor::scalar(1i32)]);
    for (row, place) in values.chunks(5000).zip(places) {
        let greatest = row.iter().max().unwrap();
        assert_eq!(place as usize, row.iter().position(|value| value == greatest).unwrap());
    }
    // Few are sought, some are sorted piece by piece, many as whole rows.
    for k in [1usize, 5, 20, 512, 600] {
        let attrs = [
            dtype("T", DataType::Int32),
            dtype("Tk", DataType::Int32),
            dtype("index_type", DataType::Int32),
            flag("sorted", true),
        ];
        let outputs = gpu.run("TopKV2", &attrs, vec![tensor.clone(), Tensor::scalar(k as i32)]).unwrap();
        let places = outputs[1].as_slice::<i32>().unwrap();
        for (row, places) in values.chunks(5000).zip(places.chunks(k)) {
            let mut order: Vec<i32> = (0..5000).collect();
            order.sort_by_key(|&i| std::cmp::Reverse(row[i as usize]));
            assert_eq!(places, &order[..k], "{k}");
        }
    }
}

#[test]
fn softmax_of_long_rows_sums_to_one() {
    on_both(long_softmax);
}

fn long_softmax(gpu: &Gpu) {
    let logits: Vec<f32> = numbers(&[4, 3000]).1.iter().map(|&x| x as f32 / 100.0).collect();
    let tensor = Tensor::from_elements(Shape::from([4, 3000]), &logits).unwrap();
    let attrs = [dtype("T", DataType::Float)];
    let given: Vec<f32> = gpu.one("Softmax", &attrs, vec![tensor.clone()]);
    let log: Vec<f32> = gpu.one("LogSoftmax", &attrs, vec![tensor]);
    for (row, (given, log)) in logits.chunks(3000).zip(given.chunks(3000).zip(log.chunks(3000))) {
        let most = row.iter().fold(f32::NEG_INFINITY, |most, &x| most.max(x));
        let total: f64 = row.iter().map(|&x| f64::from(x - most).exp()).sum();
        for ((&x, &y), &log) in row.iter().zip(given).zip(log) {
            let exact = f64::from(x - most).exp() / total;
            assert!((f64::from(y) - exact).abs() <= 2e-6 * exact + 1e-12, "{y} {exact}");
            assert!((f64::from(log) - exact.ln()).abs() <= 1e-5, "{log} {}", exact.ln());
        }
    }
}

#[test]
fn what_a_shader_refuses_is_an_error_of_the_read_back() {
    let gpu = Gpu::open();
    let x = Tensor::vector(&[7i32, -7, 9]).unwrap();
    let attrs = [dtype("T", DataType::Int32)];
    let error = gpu.run("FloorDiv", &attrs, vec![x.clone(), Tensor::vector(&[2, 0, 3]).unwrap()]).unwrap_err();
    assert_eq!(error.code(), kernlink::Code::InvalidArgument);
    assert!(error.message().contains("Integer division by zero"), "{error}");
    // What lies behind the last element of a vector refuses nothing, and the error is told once.
    let quotient: Vec<i32> = gpu.one("FloorDiv", &attrs, vec![x, Tensor::vector(&[2, 2, 3]).unwrap()]);
    assert_eq!(quotient, [3, -4, 3]);
}

/// Cumulative sums along a dimension before others, which lines of neighbours walk together.
#[test]
fn scans_along_outer_dimensions_agree_with_the_definition() {
    let gpu = Gpu::open();
    for (shape, axis) in
        [(vec![1000usize, 7], 0usize), (vec![2, 300, 40], 1), (vec![70, 3, 33], 0), (vec![65, 4200], 0)]
    {
        let (tensor, values) = numbers(&shape);
        let (size, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
        for (exclusive, reverse) in [(false, false), (true, true)] {
            let attrs = [
                dtype("T", DataType::Int32),
                dtype("Tidx", DataType::Int32),
                flag("exclusive", exclusive),
                flag("reverse", reverse),
            ];
            let given: Vec<i32> = gpu.one("Cumsum", &attrs, vec![tensor.clone(), Tensor::scalar(axis as i32)]);
            for line in 0..values.len() / size {
                let mut sum = 0;
                for k in 0..size {
                    let k = if reverse { size - 1 - k } else { k };
                    let place = (line / inner * size + k) * inner + line % inner;
                    let before = sum;
                    sum += values[place];
                    let expected = if exclusive { before } else { sum };
                    assert_eq!(given[place], expected, "{shape:?} along {axis}: line {line}, {k}");
                }
            }
        }
    }
}

fn top_k(gpu: &Gpu, of: DataType, tensor: Tensor, k: usize) -> [Tensor; 2] {
    let attrs =
        [dtype("T", of), dtype("Tk", DataType::Int32), dtype("index_type", DataType::Int32), flag("sorted", true)];
    gpu.run("TopKV2", &attrs, vec![tensor, Tensor::scalar(k as i32)]).unwrap().try_into().unwrap()
}

#[test]
fn whole_rows_are_sorted() {
    let gpu = Gpu::open();
    const COLUMNS: usize = 5001;
    let odd = [f32::NAN, -0.0, 0.0, f32::INFINITY, f32::NEG_INFINITY, -f32::NAN, f32::MIN_POSITIVE, -f32::MAX];
    let mut floats: Vec<f32> = numbers(&[3, COLUMNS]).1.iter().map(|&x| x as f32 / 8.0).collect();
    floats.iter_mut().step_by(7).zip(odd.iter().cycle()).for_each(|(x, &odd)| *x = odd);
    for k in [513, COLUMNS] {
        let tensor = Tensor::from_elements([3, COLUMNS], &floats).unwrap();
        let [values, places] = top_k(&gpu, DataType::Float, tensor, k);
        let (values, places) = (values.as_slice::<f32>().unwrap(), places.as_slice::<i32>().unwrap());
        for (row, (values, places)) in floats.chunks(COLUMNS).zip(values.chunks(k).zip(places.chunks(k))) {
            let mut order: Vec<i32> = (0..COLUMNS as i32).collect();
            // NaN goes last, and the zeros are equal.
            let key = |place: i32| Some(row[place as usize]).filter(|x| !x.is_nan());
            order.sort_by(|&a, &b| match (key(a), key(b)) {
                (Some(a), Some(b)) => b.partial_cmp(&a).unwrap(),
                (a, b) => a.is_none().cmp(&b.is_none()),
            });
            assert_eq!(places, &order[..k]);
            assert!(values.iter().zip(places).all(|(x, &place)| x.to_bits() == row[place as usize].to_bits()));
        }
    }
    let integers = numbers(&[2, COLUMNS]).1;
    if gpu.device.capabilities().contains(&"i64") {
        let wide: Vec<i64> = integers.iter().map(|&x| i64::from(x / 10) << 33 | i64::from(x & 7)).collect();
        let [values, places] =
            top_k(&gpu, DataType::Int64, Tensor::from_elements([2, COLUMNS], &wide).unwrap(), COLUMNS);
        let (values, places) = (values.as_slice::<i64>().unwrap(), places.as_slice::<i32>().unwrap());
        for (row, (values, places)) in wide.chunks(COLUMNS).zip(values.chunks(COLUMNS).zip(places.chunks(COLUMNS))) {
            let mut order: Vec<i32> = (0..COLUMNS as i32).collect();
            order.sort_by_key(|&place| std::cmp::Reverse(row[place as usize]));
            assert_eq!(places, order);
            assert!(values.iter().zip(places).all(|(&x, &place)| x == row[place as usize]));
        }
    }
    let unsigned: Vec<u32> = integers.iter().map(|&x| x as u32).collect();
    let tensor = Tensor::from_elements([2, COLUMNS], &unsigned).unwrap();
    let [_, places] = top_k(&gpu, DataType::Uint32, tensor, COLUMNS);
    for (row, places) in unsigned.chunks(COLUMNS).zip(places.as_slice::<i32>().unwrap().chunks(COLUMNS)) {
        let mut order: Vec<i32> = (0..COLUMNS as i32).collect();
        order.sort_by_key(|&place| std::cmp::Reverse(row[place as usize]));
        assert_eq!(places, order);
    }
}

/// What `run` gives is either right, or refused because the driver ends long loops.
fn right_or_refused<T: Element + Copy + PartialEq + std::fmt::Debug>(given: Result<Vec<Tensor>>, expected: &[T]) {
    match given {
        Ok(outputs) => assert_eq!(outputs[0].as_slice::<T>().unwrap(), expected),
        Err(error) => {
            assert_eq!(error.code(), kernlink::Code::ResourceExhausted, "{error}");
            assert!(error.message().contains("ends loops"), "{error}");
        }
    }
}

#[test]
fn no_answer_comes_of_loops_that_a_driver_ends_early() {
    let gpu = Gpu::open();
    // What can be done in another way is right.
    let (tensor, values) = numbers(&[2, 100_000]);
    let attrs = [dtype("T", DataType::Int32), dtype("index_type", DataType::Int32), flag("sorted", true)];
    let attrs = [&attrs[..], &[dtype("Tk", DataType::Int32)]].concat();
    for k in [5, 300, 500] {
        let given: Vec<i32> = gpu.one("TopKV2", &attrs, vec![tensor.clone(), Tensor::scalar(k)]);
        let first = |row: &[i32]| {
            let mut row = row.to_vec();
            row.sort_unstable_by(|a, b| b.cmp(a));
            row.truncate(k as usize);
            row
        };
        assert_eq!(given, values.chunks(100_000).flat_map(first).collect::<Vec<_>>(), "{k}");
    }
    let (rows, inner) = (70, 120_000);
    let (tensor, values) = numbers(&[inner, rows]);
    let attrs = [dtype("T", DataType::Int32), flag("transpose_a", true), flag("transpose_b", false)];
    let given: Vec<i32> = gpu.one("MatMul", &attrs, vec![tensor.clone(), tensor]);
    for (row, column) in [(0, 0), (3, 68), (69, 1)] {
        let products = values.chunks(rows).map(|line| line[row].wrapping_mul(line[column]));
        assert_eq!(given[row * rows + column], products.fold(0, i32::wrapping_add), "{row} {column}");
    }
    // Vectors, and more of them than workgroups are wanted.
    let (batches, inner, columns) = (600, 70_000, 3);
    let ones = Tensor::from_elements([batches, 1, inner], &vec![1i32; batches * inner]).unwrap();
    let lines: Vec<i32> = (0..inner * columns).map(|i| (i % columns + 1) as i32).collect();
    let lines = Tensor::from_elements([1, inner, columns], &lines).unwrap();
    let attrs = [dtype("T", DataType::Int32), flag("adj_x", false), flag("adj_y", false)];
    let given: Vec<i32> = gpu.one("BatchMatMulV2", &attrs, vec![ones, lines]);
    assert!(given.chunks(columns).all(|given| given == [70_000, 140_000, 210_000]), "{:?}", &given[..6]);
    // A window that sees all, and the way back.
    let side = 300;
    let sizes = |name: &'static str| (name, AttrValue::ListInt(vec![1, side, side, 1]));
    let text = |name: &'static str, value: &str| (name, AttrValue::from(value));
    let attrs = [dtype("T", DataType::Float), text("padding", "VALID"), text("data_format", "NHWC")];
    let attrs = [&attrs[..], &[sizes("ksize"), sizes("strides")]].concat();
    let shape = Tensor::vector(&[1, side as i32, side as i32, 1]).unwrap();
    let gradient = Tensor::from_elements([1, 1, 1, 1], &[90_000f32]).unwrap();
    let given: Vec<f32> = gpu.one("AvgPoolGrad", &attrs, vec![shape, gradient]);
    assert!(given.iter().all(|&given| given == 1.0));
    // The rest may be refused.
    let (tensor, values) = numbers(&[100_001, 7]);
    let attrs = [dtype("T", DataType::Int32), dtype("Tidx", DataType::Int32), dtype("output_type", DataType::Int32)];
    let greatest = |column: usize| {
        let places = values.iter().skip(column).step_by(7).enumerate();
        places.fold((0, i32::MIN), |best, (place, &value)| if value > best.1 { (place as i32, value) } else { best }).0
    };
    let expected: Vec<i32> = (0..7).map(greatest).collect();
    right_or_refused(gpu.run("ArgMax", &attrs, vec![tensor, Tensor::scalar(0)]), &expected);
    let image = numbers(&[1, 300, 300, 1]);
    let attrs = [dtype("T", DataType::Int32), text("padding", "VALID"), text("data_format", "NHWC")];
    let attrs = [&attrs[..], &[sizes("ksize"), sizes("strides"), ("explicit_paddings", AttrValue::ListInt(vec![]))]];
    let given = gpu.run("MaxPool", &attrs.concat(), vec![image.0]);
    right_or_refused(given, &[*image.1.iter().max().unwrap()]);
    let classes = 3_000_000;
    let zeros = Tensor::zeros(DataType::Float, [1, classes]).unwrap();
    let given = gpu.run("Softmax", &[dtype("T", DataType::Float)], vec![zeros]);
    if let Ok(outputs) = &given {
        assert!(outputs[0].as_slice::<f32>().unwrap().iter().all(|p| (p * classes as f32 - 1.0).abs() < 1e-3));
    } else {
        right_or_refused::<f32>(given, &[]);
    }
}

#[test]
fn functions_next_to_zero_keep_all_digits() {
    let gpu = Gpu::open();
    let exponents = (0..400).map(|i| -12.0 + f64::from(i) * 0.029);
    let x: Vec<f32> =
        exponents.flat_map(|exponent| [10f64.powf(exponent) as f32, -(10f64.powf(exponent) as f32)]).collect();
    type Function = (&'static str, fn(f64) -> f64);
    let functions: [Function; 5] = [
        ("Log1p", f64::ln_1p),
        ("Expm1", f64::exp_m1),
        ("Asinh", f64::asinh),
        ("Atanh", f64::atanh),
        ("Tanh", f64::tanh),
    ];
    for (op, function) in functions {
        let given: Vec<f32> = gpu.one(op, &[dtype("T", DataType::Float)], vec![Tensor::vector(&x).unwrap()]);
        for (&x, given) in x.iter().zip(given) {
            let expected = function(f64::from(x));
            assert!(
                (f64::from(given) - expected).abs() <= 1e-6 * expected.abs(),
                "{op} of {x}: {given} and not {expected}"
            );
        }
    }
}
