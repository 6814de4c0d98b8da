//! Kernlink's own ops, which rewrites make of several nodes, equal what these compute.

use kernlink::ops;
use kernlink::prelude::*;
use kernlink::testing;

/// Numbers from -9 to 9, and what is not finite if it is asked for.
fn numbers<T: Number>(shape: &[usize], seed: usize) -> Tensor {
    let count: usize = shape.iter().product();
    let values = (0..count).map(|i| T::from_f64(((i * 37 + seed * 61) % 181) as f64 / 10.0 - 9.0));
    Tensor::vector(&values.collect::<Vec<T>>()).unwrap().reshaped(shape).unwrap()
}

fn activations_are_composed<T: Number>(tolerance: f64) {
    let mut test = testing::cpu();
    let x = numbers::<T>(&[3, 7, 19], 1);
    let constant = |value: f64| Tensor::scalar(T::from_f64(value));
    let expected = test
        .run(|op| {
            let sigmoid = ops::sigmoid(op, &x).build()?;
            ops::mul(op, &x, sigmoid).build()
        })
        .output(ops::Mul::Z)
        .clone();
    test.run(|op| ops::__swish(op, &x).build()).expect_close(ops::Swish::ACTIVATIONS, expected, tolerance);
    let expected = test
        .run(|op| {
            let sum = ops::add_v2(op, &x, constant(3.0)).build()?;
            let bounded = ops::relu6(op, sum).build()?;
            let part = ops::real_div(op, bounded, constant(6.0)).build()?;
            ops::mul(op, &x, part).build()
        })
        .output(ops::Mul::Z)
        .clone();
    test.run(|op| ops::__hard_swish(op, &x).build()).expect_close(ops::HardSwish::ACTIVATIONS, expected, tolerance);
    for approximate in [false, true] {
        let expected = test
            .run(|op| {
                let inner = if approximate {
                    let cube = ops::pow(op, &x, constant(3.0)).build()?;
                    let cube = ops::mul(op, constant(0.044_715), cube).build()?;
                    let sum = ops::add_v2(op, &x, cube).build()?;
                    let scaled = ops::mul(op, constant(0.797_884_560_802_865_4), sum).build()?;
                    ops::tanh(op, scaled).build()?
                } else {
                    let scaled = ops::mul(op, &x, constant(std::f64::consts::FRAC_1_SQRT_2)).build()?;
                    ops::erf(op, scaled).build()?
                };
                let above = ops::add_v2(op, constant(1.0), inner).build()?;
                let half = ops::mul(op, constant(0.5), &x).build()?;
                ops::mul(op, half, above).build()
            })
            .output(ops::Mul::Z)
            .clone();
        if approximate {
            test.run(|op| ops::__gelu_approximate(op, &x).build()).expect_close(
                ops::GeluApproximate::ACTIVATIONS,
                expected,
                tolerance,
            );
        } else {
            test.run(|op| ops::__gelu_exact(op, &x).build()).expect_close(
                ops::GeluExact::ACTIVATIONS,
                expected,
                tolerance,
            );
        }
    }
}

#[test]
fn activations_are_what_their_parts_compute() {
    activations_are_composed::<f32>(2e-6);
    activations_are_composed::<f64>(1e-14);
    activations_are_composed::<f16>(1e-2);
    activations_are_composed::<bf16>(6e-2);
}

fn layer_norm_is_composed<T: Number>(tolerance: f64) {
    let mut test = testing::cpu();
    for shape in [&[2, 3, 5][..], &[4, 16], &[7, 33], &[1, 1], &[300], &[0, 4], &[2, 0]] {
        let length = shape[shape.len() - 1];
        let (x, scale, offset) = (numbers::<T>(shape, 1), numbers::<T>(&[length], 2), numbers::<T>(&[length], 3));
        let last = Tensor::vector(&[-1i32]).unwrap();
        let expected = test
            .run(|op| {
                let mean = ops::mean(op, &x, &last).keep_dims(true).build()?;
                let squares = ops::squared_difference(op, &x, &mean).build()?;
                let variance = ops::mean(op, squares, &last).keep_dims(true).build()?;
                let sum = ops::add_v2(op, variance, Tensor::scalar(T::from_f64(0.25))).build()?;
                let factor = ops::rsqrt(op, sum).build()?;
                let centred = ops::sub(op, &x, &mean).build()?;
                let normal = ops::mul(op, centred, factor).build()?;
                let scaled = ops::mul(op, normal, &scale).build()?;
                ops::add_v2(op, scaled, &offset).build()
            })
            .output(ops::AddV2::Z)
            .clone();
        test.run(|op| ops::__layer_norm(op, &x, &scale, &offset).epsilon(0.25).build()).expect_close(
            ops::LayerNorm::Y,
            expected,
            tolerance,
        );
    }
    let (x, four) = (numbers::<T>(&[2, 3], 1), numbers::<T>(&[4], 2));
    test.run(|op| ops::__layer_norm(op, &x, &four, &four).build())
        .expect_error(Code::InvalidArgument, "scale must have shape [3]");
}

#[test]
fn layer_norm_is_what_its_parts_compute() {
    layer_norm_is_composed::<f32>(1e-5);
    layer_norm_is_composed::<f64>(1e-12);
    layer_norm_is_composed::<f16>(5e-2);
    layer_norm_is_composed::<bf16>(3e-1);
}

/// A constant filter may be convolved in another way than one that is fed: the results differ in the last bits, and what is
/// not finite is where it was.
#[test]
fn constant_filters_are_convolved_as_fed_ones() {
    for (format, padding, size, infinity) in [
        ("NHWC", "SAME", [2, 13, 14, 64], None),
        ("NHWC", "VALID", [1, 17, 15, 64], Some(5)),
        ("NCHW", "SAME", [1, 64, 15, 16], None),
        ("NHWC", "SAME", [1, 14, 14, 64], Some(9000)),
    ] {
        let mut values = numbers::<f32>(&size, 3);
        if let Some(place) = infinity {
            values.as_mut_slice::<f32>().unwrap()[place] = f32::INFINITY;
        }
        let filter = numbers::<f32>(&[3, 3, 64, 48], 5);
        let run = |constant: bool| {
            let mut graph = Graph::new(&kernlink::registry().unwrap());
            let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
            let w = match constant {
                true => ops::constant(&mut graph, filter.clone()).unwrap(),
                false => ops::placeholder(&mut graph, DataType::Float).name("w").build().unwrap(),
            };
            let y = ops::conv2d(&mut graph, x, w, vec![1, 1, 1, 1], padding).data_format(format).build().unwrap();
            ops::relu(&mut graph, y).name("y").build().unwrap();
            let session = Session::new(graph).unwrap();
            let mut feeds = vec![("x", values.clone())];
            if !constant {
                feeds.push(("w", filter.clone()));
            }
            session.run(&feeds, &["y"], &[]).unwrap().remove(0)
        };
        let (constant, fed) = (run(true), run(false));
        assert_eq!(constant.shape(), fed.shape());
        for (a, b) in constant.as_slice::<f32>().unwrap().iter().zip(fed.as_slice::<f32>().unwrap()) {
            match infinity {
                None => assert!((a - b).abs() <= 2e-2, "{a} and {b}"),
                Some(_) => assert!(a == b || (a.is_nan() && b.is_nan()), "{a} and {b}"),
            }
        }
    }
}
