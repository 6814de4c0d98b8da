//! The ops against plain definitions; and the program.

#[path = "../examples/run_ops.rs"]
#[expect(dead_code, reason = "its `main` is the example's")]
mod run_ops;

use custom_ops::{MedianPool, Polynomial, RunningMax, RunningMin, SoftShrink, ZeroOut};
use custom_ops::{median_pool, polynomial, running_max, running_min, soft_shrink, zero_out};
use kernlink::dtype::NUMBER_TYPES;
use kernlink::prelude::*;
use kernlink::runtime::{RunMetadata, RunOptions};
use kernlink::testing::{self, infer_ok};

#[test]
fn zero_out_keeps_one_element() {
    let mut test = testing::cpu();
    test.run(|op| zero_out(op, [[1.0f32, 2.0], [3.0, 4.0]]).preserve_index(1).build())
        .expect(ZeroOut::ZEROED, [[0.0, 2.0], [0.0, 0.0]]);
    test.run(|op| zero_out(op, 1.0).preserve_index(1).build()).expect_error(Code::InvalidArgument, "is out of range");
    infer_ok(&testing::shapes::<ZeroOut>(), "[2,?]", "in0");
}

#[test]
fn gradients_are_those_of_differences() -> Result<()> {
    let x = Tensor::new([[1.5f64, -0.25, -2.0], [0.3, 0.75, -0.6]])?;
    let mut test = testing::cpu();
    test.compute_gradient([x.clone()], |op, [x]| zero_out(op, x).preserve_index(4).build()).expect_close(1e-8);
    test.compute_gradient([x], |op, [x]| {
        let shrunk = soft_shrink(op, x).threshold(0.5).build()?;
        ops::mul(op, shrunk, x).build()
    })
    .expect_close(1e-8);
    Ok(())
}

#[test]
fn ops_of_a_family_have_wrappers_kernels_and_documentation_of_their_own() -> Result<()> {
    let x = [[2i64, 1, 5], [3, 0, 9]];
    let mut test = testing::cpu();
    test.run(|op| running_max(op, x).build()).expect(RunningMax::Y, [[2, 2, 5], [5, 5, 9]]);
    test.run(|op| running_min(op, x).build()).expect(RunningMin::Y, [[2, 1, 1], [1, 0, 0]]);
    let registry = kernlink::registry()?;
    let def = &registry.op("RunningMin").expect("the variant is an op").def;
    assert_eq!(def.summary, "For each element the least up to it, in row-major order.");
    assert_eq!(def.outputs[0].description, "Of the shape of `x`.");
    Ok(())
}

#[test]
fn a_polynomial_has_a_kernel_for_every_number() {
    let mut test = testing::cpu();
    for &dtype in NUMBER_TYPES {
        test.run(|op| {
            let x = ops::cast(op, [1, 2, 3], dtype).build()?;
            let coefficients = ops::cast(op, [5, 0, 2], dtype).build()?;
            let y = polynomial(op, x, coefficients).build()?;
            assert_eq!(y.dtype(), dtype);
            ops::cast(op, y, DataType::Double).build()
        })
        .expect(ops::Cast::Y, [7.0, 13.0, 23.0]);
    }
    // What overflows wraps in every build.
    test.run(|op| polynomial(op, [16i8, 100], [0, 1, 1]).build()).expect(Polynomial::Y, [16, 116]);
}

#[test]
fn a_relu_becomes_part_of_the_median_pool_before_it() -> Result<()> {
    let graph = "x = Placeholder() dtype=float
        m = MedianPool(x) padding=SAME
        y = Relu(m)\n";
    let after = testing::rewritten("fuse-median-pool-relu", graph);
    assert_eq!(after, "x = Placeholder() dtype=float\ny = MedianPool(x) padding=SAME activation=Relu\n");
    // Who else takes the medians takes them as they are.
    for other in ["z = Neg(m)", "fetch m, y", "feed m\nfetch y"] {
        let after = testing::rewritten("fuse-median-pool-relu", &format!("{graph}{other}"));
        assert!(after.contains("y = Relu(m)"), "{after}");
    }
    let (graph, _) = testing::graph_from_lines(graph, &kernlink::registry()?)?;
    let x = Tensor::from_elements([1, 4, 5, 2], &(0..40).map(|i| (i * 7 % 13) as f32 - 6.0).collect::<Vec<_>>())?;
    let run = |options| Session::with_options(graph.clone(), &options)?.run(&[("x", x.clone())], &["y"], &[]);
    let with = run(SessionOptions::new())?;
    let without = run(SessionOptions::new().without_pass("fuse-median-pool-relu"))?;
    assert_eq!(with[0].as_slice::<f32>()?, without[0].as_slice::<f32>()?);
    Ok(())
}

#[test]
fn a_shrinkage_is_a_step_of_its_chain() -> Result<()> {
    let mut test = testing::cpu();
    test.run(|op| soft_shrink(op, [1.5f32, -0.25, -2.0]).threshold(0.5).build())
        .expect(SoftShrink::Y, [1.0, 0.0, -1.5]);
    let mut graph = Graph::new(&kernlink::registry()?);
    let x = ops::placeholder(&mut graph, DataType::Double).name("x").build()?;
    let sine = ops::sin(&mut graph, x).build()?;
    let shrunk = soft_shrink(&mut graph, sine).threshold(0.25).build()?;
    ops::mul(&mut graph, shrunk, x).name("y").build()?;
    let feed = Tensor::from_elements([70, 30], &(0..2100).map(|i| f64::from(i) / 300.0 - 3.0).collect::<Vec<_>>())?;
    let run = |options| -> Result<(Tensor, Vec<String>)> {
        let mut metadata = RunMetadata::default();
        let session = Session::with_options(graph.clone(), &options)?;
        let traced = RunOptions::new().trace(true);
        let y = session.run_with_metadata(&[("x", feed.clone())], &["y"], &[], &traced, &mut metadata)?;
        Ok((y[0].clone(), metadata.step_stats.iter().map(|stats| stats.op.to_string()).collect()))
    };
    let (one, ops) = run(SessionOptions::new())?;
    let (many, others) = run(SessionOptions::new().without_pass("fuse-element-wise"))?;
    assert_eq!(one.as_slice::<f64>()?, many.as_slice::<f64>()?);
    assert!(ops.iter().any(|op| op == "_FusedElementWise") && !ops.iter().any(|op| op == "SoftShrink"), "{ops:?}");
    assert!(others.iter().any(|op| op == "SoftShrink"), "{others:?}");
    Ok(())
}

/// The median by its definition.
fn slow(x: &[f32], [n, h, w, c]: [usize; 4], k: usize, stride: usize, same: bool) -> (Vec<usize>, Vec<f32>) {
    let count = |size: usize| if same { size.div_ceil(stride) } else { (size - k) / stride + 1 };
    let before = |size: usize| if same { ((count(size) - 1) * stride + k).saturating_sub(size) / 2 } else { 0 };
    let mut out = Vec::new();
    for b in 0..n {
        for oy in 0..count(h) {
            for ox in 0..count(w) {
                for channel in 0..c {
                    let mut window = Vec::new();
                    for i in 0..k * k {
                        let y = (oy * stride + i / k).wrapping_sub(before(h));
                        let x_ = (ox * stride + i % k).wrapping_sub(before(w));
                        let inside = y < h && x_ < w;
                        window.push(if inside { x[((b * h + y) * w + x_) * c + channel] } else { 0.0 });
                    }
                    window.sort_by(f32::total_cmp);
                    out.push(window[k * k / 2]);
                }
            }
        }
    }
    (vec![n, count(h), count(w), c], out)
}

#[test]
fn median_pool_equals_its_definition() -> Result<()> {
    let mut test = testing::cpu();
    let mut seed = 1u32;
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) as f32 / 65536.0 - 0.5
    };
    for (dims, k, stride) in [
        ([1, 7, 5, 3], 3, 1),
        ([2, 4, 9, 1], 3, 1),
        ([1, 3, 3, 2], 3, 1),
        ([1, 1, 1, 4], 3, 1),
        ([1, 8, 8, 2], 2, 2),
        ([2, 11, 10, 3], 5, 1),
        ([1, 9, 9, 2], 3, 2),
        ([1, 6, 7, 1], 1, 3),
        ([1, 40, 33, 16], 3, 1),
    ] {
        let x: Vec<f32> = (0..dims.iter().product::<usize>()).map(|_| random()).collect();
        for padding in ["SAME", "VALID"] {
            if padding == "VALID" && (dims[1] < k || dims[2] < k) {
                continue;
            }
            let (shape, expected) = slow(&x, dims, k, stride, padding == "SAME");
            let expected = Tensor::from_elements(shape, &expected)?;
            let x = Tensor::from_elements(dims, &x)?;
            test.run(|op| median_pool(op, x, padding).ksize(k as i64).stride(stride as i64).build())
                .expect(MedianPool::MEDIANS, expected);
        }
    }
    Ok(())
}

#[test]
fn median_pool_refuses_what_it_cannot_do() {
    let mut test = testing::cpu();
    for shape in [Shape::from([1, 4, 9, 1]), Shape::from([4, 4]), Shape::scalar()] {
        let x = Tensor::zeros(DataType::Float, shape).unwrap();
        test.run(|op| median_pool(op, x, "VALID").ksize(5).build()).expect_error(Code::InvalidArgument, "");
    }
    let empty = Tensor::zeros(DataType::Float, [0, 5, 5, 3]).unwrap();
    let ran = test.run(|op| median_pool(op, empty, "VALID").ksize(5).build());
    ran.expect_shape(MedianPool::MEDIANS, [0, 1, 1, 3]);
}

#[test]
fn a_nan_in_the_window_is_its_median() -> Result<()> {
    for k in [3, 5] {
        let mut pixels = [1.0f32; 49];
        pixels[0] = f32::NAN;
        let x = Tensor::from_elements([1, 7, 7, 1], &pixels)?;
        let y = testing::cpu().run(|op| median_pool(op, x, "SAME").ksize(k).build()).unwrap();
        let y = y.as_slice::<f32>()?;
        assert!(y[0].is_nan() && y[8].is_nan());
        assert_eq!(y[24], 1.0);
    }
    Ok(())
}

#[test]
fn the_program_shows_both() {
    let text = run_ops::lines().unwrap().join("\n");
    for line in ["[0.0 0.0 3.0 0.0 0.0]", "without a graph:            int32 [3] [0 -2 0]", "int64 [2] [1 -1]"] {
        assert!(text.contains(line), "`{line}` is not in: {text}");
    }
}
