//! The ops against plain definitions, through graphs; and the program.

use custom_ops::{median_pool, polynomial, running_max, running_min, zero_out};
use kernlink::dtype::NUMBER_TYPES;
use kernlink::prelude::*;

fn session(build: impl FnOnce(&mut Graph, Output) -> Result<Output>, dtype: DataType) -> Result<(Session, String)> {
    let mut graph = Graph::new(&kernlink::registry()?);
    let x = ops::placeholder(&mut graph, dtype).name("x").build()?;
    let y = build(&mut graph, x)?;
    let fetch = graph.output_name(y);
    Ok((Session::new(graph)?, fetch))
}

#[test]
fn zero_out_keeps_one_element() -> Result<()> {
    let (session, fetch) = session(|g, x| zero_out(g, x).preserve_index(1).build(), DataType::Double)?;
    let x = Tensor::from_elements([2, 2], &[1.0f64, 2.0, 3.0, 4.0])?;
    let y = session.run(&[("x", x)], &[&fetch], &[])?;
    assert_eq!(y[0].as_slice::<f64>()?, [0.0, 2.0, 0.0, 0.0]);
    let error = session.run(&[("x", Tensor::scalar(1.0f64))], &[&fetch], &[]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    Ok(())
}

#[test]
fn ops_of_a_family_have_wrappers_kernels_and_documentation_of_their_own() -> Result<()> {
    let x = || Tensor::from_elements([2, 3], &[2i64, 1, 5, 3, 0, 9]);
    let running = |(session, fetch): (Session, String)| session.run(&[("x", x()?)], &[&fetch], &[]);
    let greatest = running(session(|g, x| running_max(g, x).build(), DataType::Int64)?)?;
    assert_eq!(greatest[0].as_slice::<i64>()?, [2, 2, 5, 5, 5, 9]);
    let least = running(session(|g, x| running_min(g, x).build(), DataType::Int64)?)?;
    assert_eq!((least[0].as_slice::<i64>()?, least[0].shape().dims()), (&[2, 1, 1, 1, 0, 0][..], &[2, 3][..]));
    let registry = kernlink::registry()?;
    let def = &registry.op("RunningMin").expect("the variant is an op").def;
    assert_eq!(def.summary, "For each element the least up to it, in row-major order.");
    assert_eq!(def.outputs[0].description, "Of the shape of `x`.");
    Ok(())
}

#[test]
fn a_polynomial_has_a_kernel_for_every_number() -> Result<()> {
    let mut eager = EagerContext::new(&kernlink::registry()?)?;
    for &dtype in NUMBER_TYPES {
        let [x, coefficients] = [[1, 2, 3], [5, 0, 2]].map(|values| ops::cast(&mut eager, values, dtype).build());
        let y = polynomial(&mut eager, x?, coefficients?).build()?;
        assert_eq!(y.dtype(), dtype);
        let y = ops::cast(&mut eager, y, DataType::Double).build()?;
        assert_eq!(y.as_slice::<f64>()?, [7.0, 13.0, 23.0], "{dtype}");
    }
    // What overflows wraps in every build.
    let y = polynomial(&mut eager, [16i8, 100], [0i8, 1, 1]).build()?;
    assert_eq!(y.as_slice::<i8>()?, [16, 116]);
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
            let build = |g: &mut Graph, input: Output| {
                median_pool(g, input, padding).ksize(k as i64).stride(stride as i64).build()
            };
            let (session, fetch) = session(build, DataType::Float)?;
            let y = session.run(&[("x", Tensor::from_elements(dims, &x)?)], &[&fetch], &[])?;
            let (shape, expected) = slow(&x, dims, k, stride, padding == "SAME");
            assert_eq!(y[0].shape().dims(), shape, "{dims:?} {k} {stride} {padding}");
            assert_eq!(y[0].as_slice::<f32>()?, expected, "{dims:?} {k} {stride} {padding}");
        }
    }
    Ok(())
}

#[test]
fn median_pool_refuses_what_it_cannot_do() -> Result<()> {
    let (session, fetch) = session(|g, x| median_pool(g, x, "VALID").ksize(5).build(), DataType::Float)?;
    for shape in [Shape::from([1, 4, 9, 1]), Shape::from([4, 4]), Shape::scalar()] {
        let x = Tensor::zeros(DataType::Float, shape)?;
        let error = session.run(&[("x", x)], &[&fetch], &[]).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    }
    let empty = Tensor::zeros(DataType::Float, [0, 5, 5, 3])?;
    assert_eq!(session.run(&[("x", empty)], &[&fetch], &[])?[0].shape().dims(), [0, 1, 1, 3]);
    Ok(())
}

#[test]
fn a_nan_in_the_window_is_its_median() -> Result<()> {
    for k in [3, 5] {
        let (session, fetch) = session(|g, x| median_pool(g, x, "SAME").ksize(k).build(), DataType::Float)?;
        let mut pixels = [1.0f32; 49];
        pixels[0] = f32::NAN;
        let y = session.run(&[("x", Tensor::from_elements([1, 7, 7, 1], &pixels)?)], &[&fetch], &[])?;
        let y = y[0].as_slice::<f32>()?;
        assert!(y[0].is_nan() && y[8].is_nan());
        assert_eq!(y[24], 1.0);
    }
    Ok(())
}

#[test]
fn the_program_shows_both() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_custom-ops")).output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for line in ["[0.0 0.0 3.0 0.0 0.0]", "without a graph:            int32 [3] [0 -2 0]", "int64 [2] [1 -1]"] {
        assert!(text.contains(line), "`{line}` is not in: {text}");
    }
}
