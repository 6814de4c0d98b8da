//! Chains of functions of each element on the GPU: one dispatch, with the results that the nodes have one by one.

use std::sync::Arc;

use kernlink::device::{CpuDevice, Device};
use kernlink::dtype::f16;
use kernlink::prelude::*;
use kernlink::runtime::{RunMetadata, RunOptions};
use kernlink::testing::graph_from_lines;

use super::networks::numbers;
use super::{Opened, count, open, open_with};

const PASS: &str = "fuse-element-wise";

fn graph(text: &str) -> Graph {
    let text: String = text.lines().map(|line| format!("{}\n", line.trim())).collect();
    graph_from_lines(&text, &kernlink::registry().unwrap()).unwrap().0
}

/// The value of `z` with the pass and without it, and the dispatches of both.
type Both = std::result::Result<(Tensor, [u64; 2]), Code>;

fn session(opened: &Opened, graph: &Graph, options: &SessionOptions) -> Session {
    let cpu: Arc<dyn Device> = Arc::new(CpuDevice::on_caller());
    Session::on_devices(graph.clone(), [opened.gpu.clone() as _, cpu], options)
}

fn ends(session: &Session, feeds: &[(&str, Tensor)]) -> Result<(Tensor, u64)> {
    let mut metadata = RunMetadata::default();
    let found = session.run_with_metadata(feeds, &["z"], &[], &RunOptions::new(), &mut metadata)?;
    Ok((found[0].clone(), count(&metadata, "dispatches")))
}

/// Floats, as those of 32 bits; whatever else as numbers.
fn values(tensor: &Tensor) -> Vec<f64> {
    match tensor.dtype() {
        DataType::Float => tensor.as_slice::<f32>().unwrap().iter().map(|&x| f64::from(x)).collect(),
        DataType::Half => tensor.as_slice::<f16>().unwrap().iter().map(|x| f64::from(x.to_f32())).collect(),
        DataType::Bool => tensor.as_slice::<bool>().unwrap().iter().map(|&x| f64::from(u8::from(x))).collect(),
        _ => tensor.to_i64_vec().unwrap().into_iter().map(|x| x as f64).collect(),
    }
}

/// Runs a graph with the pass and without it, which must agree.
#[track_caller]
fn same(opened: &Opened, graph: &Graph, feeds: &[(&str, Tensor)]) -> Both {
    let fused = ends(&session(opened, graph, &SessionOptions::new()), feeds);
    let plain = ends(&session(opened, graph, &SessionOptions::new().without_pass(PASS)), feeds);
    let shapes: Vec<String> = feeds.iter().map(|(_, value)| value.shape().to_string()).collect();
    match (fused, plain) {
        (Ok((fused, one)), Ok((plain, many))) => {
            assert_eq!((fused.shape(), fused.dtype()), (plain.shape(), plain.dtype()), "{shapes:?}");
            let near = if fused.dtype() == DataType::Half { 2e-3 } else { 2e-6 };
            for (x, y) in values(&fused).into_iter().zip(values(&plain)) {
                let is_same = x == y || x.is_nan() && y.is_nan() || (x - y).abs() <= near * y.abs().max(1.0);
                assert!(is_same, "{shapes:?}: {x}, not {y}");
            }
            Ok((fused, [one, many]))
        }
        (Err(fused), Err(plain)) => {
            assert_eq!(fused.code(), plain.code(), "{fused}\n{plain}");
            Err(fused.code())
        }
        (fused, plain) => panic!("{shapes:?}: {fused:?}, without the pass {plain:?}"),
    }
}

const CHAIN: &str = "x = Placeholder() dtype=float
    a = Placeholder() dtype=float
    b = Placeholder() dtype=float
    y = Placeholder() dtype=float
    p = Mul(x, a)
    s = AddV2(p, b)
    t = Tanh(s)
    z = Mul(t, y)";

#[test]
fn operands_of_all_shapes_meet_in_one_dispatch() {
    let opened = open();
    let graph = graph(CHAIN);
    let shapes: [&[usize]; 9] = [&[], &[1], &[70], &[3, 68], &[3, 1], &[68], &[2, 3, 68], &[2, 1, 1], &[0]];
    let (mut succeeded, mut failed) = (0, 0);
    for (i, x) in shapes.iter().enumerate() {
        for (j, a) in shapes.iter().enumerate() {
            let (b, y) = (shapes[(i * 2 + j) % shapes.len()], shapes[(i + j * 4) % shapes.len()]);
            let feeds = [("x", numbers(x, 1)), ("a", numbers(a, 2)), ("b", numbers(b, 3)), ("y", numbers(y, 4))];
            match same(&opened, &graph, &feeds) {
                Ok((z, dispatches)) => {
                    assert_eq!(dispatches[0], u64::from(z.num_elements() > 0), "{x:?} {a:?} {b:?} {y:?}");
                    succeeded += 1;
                }
                Err(_) => failed += 1,
            }
        }
    }
    assert!(succeeded > 20 && failed > 10, "{succeeded} {failed}");
    for (x, a) in [(&[5, 7][..], &[7][..]), (&[4, 1, 5], &[3, 1]), (&[2, 1, 3, 1, 2], &[1, 2, 1, 2, 1])] {
        let feeds = [("x", numbers(x, 1)), ("a", numbers(a, 2)), ("b", numbers(&[], 3)), ("y", numbers(x, 4))];
        assert_eq!(same(&opened, &graph, &feeds).unwrap().1, [1, 4]);
    }
}

#[test]
fn values_of_several_types_are_in_one_dispatch() {
    let opened = open();
    let choice = graph(
        "x = Placeholder() dtype=float
        a = Placeholder() dtype=float
        i = Placeholder() dtype=int32
        zero = Const() dtype=float value=0.0
        one = Const() dtype=float value=1.0
        two = Const() dtype=int32 value=2
        g = Greater(x, zero)
        l = Less(i, two)
        c = LogicalAnd(g, l)
        d = Cast(i) DstT=float
        f = Mul(x, a)
        h = AddV2(f, d)
        e = Exp(x)
        m = Sub(e, one)
        z = SelectV2(c, h, m)",
    );
    for (x, i, a) in
        [(&[3, 68][..], &[3, 68][..], &[][..]), (&[70], &[70], &[70]), (&[], &[], &[]), (&[2, 5], &[5], &[2, 1])]
    {
        let count = i.iter().product::<usize>() as i32;
        let integers = Tensor::from_elements(i, &(0..count).map(|i| i % 5).collect::<Vec<_>>()).unwrap();
        let feeds = [("x", numbers(x, 1)), ("a", numbers(a, 2)), ("i", integers)];
        assert_eq!(same(&opened, &choice, &feeds).unwrap().1, [1, 9], "{x:?}");
    }
    let bools = graph(
        "x = Placeholder() dtype=float
        n = IsNan(x)
        m = LogicalNot(n)
        f = IsFinite(x)
        z = LogicalAnd(m, f)",
    );
    let x = Tensor::vector(&[1.0f32, f32::NAN, f32::INFINITY, -0.0, 3.0]).unwrap();
    let (z, dispatches) = same(&opened, &bools, &[("x", x)]).unwrap();
    assert_eq!((z.as_slice::<bool>().unwrap(), dispatches), (&[true, false, false, true, true][..], [1, 4]));
    if opened.gpu.capabilities().contains(&"f16") {
        let halves = graph(
            "x = Placeholder() dtype=float
            a = Placeholder() dtype=half
            h = Cast(x) DstT=half
            p = Mul(h, a)
            q = LeakyRelu(p) alpha=0.3
            r = LeakyRelu(q) alpha=0.7
            s = Square(r)
            z = Sub(s, a)",
        );
        let a: Vec<f16> = (0..70).map(|i| f16::from_f32(i as f32 / 16.0 - 2.0)).collect();
        let feeds = [("x", numbers(&[3, 70], 1)), ("a", Tensor::vector(&a).unwrap())];
        assert_eq!(same(&opened, &halves, &feeds).unwrap().1, [1, 6]);
    }
}

#[test]
fn what_several_take_is_computed_once_and_many_operands_are_several_nodes() {
    let opened = open();
    let diamond = graph(
        "x = Placeholder() dtype=float
        s = Sin(x)
        p = Square(s)
        q = Exp(s)
        u = Maximum(p, q)
        v = Minimum(p, s)
        z = RealDiv(v, u)",
    );
    assert_eq!(same(&opened, &diamond, &[("x", numbers(&[33, 7], 1))]).unwrap().1, [1, 6]);
    // More operands than a shader takes.
    let names: Vec<String> = (0..12).map(|k| format!("x{k}")).collect();
    let mut text: String = names.iter().map(|name| format!("{name} = Placeholder() dtype=float\n")).collect();
    text += "s1 = AddV2(x0, x1)\n";
    for k in 2..11 {
        text += &format!("s{k} = {}(s{}, x{k})\n", if k % 2 == 0 { "Mul" } else { "AddV2" }, k - 1);
    }
    text += "z = Sub(s10, x11)\n";
    let feeds: Vec<(&str, Tensor)> =
        names.iter().zip(1..).map(|(name, seed)| (name.as_str(), numbers(&[5, 9], seed))).collect();
    assert_eq!(same(&opened, &graph(&text), &feeds).unwrap().1, [2, 11]);
}

#[test]
fn what_is_more_than_broadcast_gives_what_it_gave() {
    let opened = open();
    let rows = graph(
        "x = Placeholder() dtype=float
        c = Placeholder() dtype=bool
        n = LogicalNot(c)
        t = Square(x)
        z = Select(n, t, x)",
    );
    let bools = |shape: &[usize]| {
        let all: Vec<bool> = (0..shape.iter().product()).map(|i: usize| i.is_multiple_of(3)).collect();
        Tensor::from_elements(shape, &all).unwrap()
    };
    for (condition, x, code) in [
        (&[3][..], &[3, 70][..], None),
        (&[3, 70], &[3, 70], None),
        (&[], &[3], None),
        (&[70], &[3, 70], Some(Code::InvalidArgument)),
    ] {
        let found = same(&opened, &rows, &[("x", numbers(x, 1)), ("c", bools(condition))]);
        assert_eq!(found.err(), code, "{condition:?}");
    }
    let gradient = graph(
        "y = Placeholder() dtype=float
        d = Placeholder() dtype=float
        n = Neg(d)
        z = TanhGrad(y, n)",
    );
    for (y, d, code) in
        [(&[3, 4][..], &[4, 3][..], None), (&[5], &[5], None), (&[5], &[1], Some(Code::InvalidArgument))]
    {
        let found = same(&opened, &gradient, &[("y", numbers(y, 1)), ("d", numbers(d, 2))]);
        assert_eq!(found.err(), code, "{y:?} {d:?}");
    }
    let clipped = graph(
        "x = Placeholder() dtype=float
        l = Placeholder() dtype=float
        u = Placeholder() dtype=float
        s = Square(x)
        c = ClipByValue(s, l, u)
        z = AddN([c, x])",
    );
    for bound in [&[][..], &[3, 5], &[5]] {
        let feeds = [("x", numbers(&[3, 5], 1)), ("l", numbers(bound, 2)), ("u", numbers(&[], 3))];
        assert_eq!(same(&opened, &clipped, &feeds).is_ok(), bound != [5]);
    }
}

#[test]
fn tensors_that_are_too_large_to_bind_go_by_windows() {
    let opened = open_with(256);
    let graph = graph(CHAIN);
    for (x, a, b) in [(&[301][..], &[][..], &[301][..]), (&[30, 17], &[17], &[30, 1]), (&[8, 64], &[64], &[])] {
        let feeds = [("x", numbers(x, 1)), ("a", numbers(a, 2)), ("b", numbers(b, 3)), ("y", numbers(x, 4))];
        same(&opened, &graph, &feeds).unwrap();
    }
}

#[test]
fn sizes_and_parameters_make_no_pipelines() {
    let opened = open();
    let made = |slope: f32, rows: usize| {
        let text = format!(
            "x = Placeholder() dtype=float
            a = Placeholder() dtype=float
            p = Mul(x, a)
            q = LeakyRelu(p) alpha={slope}
            z = Cos(q)"
        );
        let feeds = [("x", numbers(&[rows, 12], 1)), ("a", numbers(&[12], 2))];
        let session = session(&opened, &graph(&text), &SessionOptions::new());
        let mut metadata = RunMetadata::default();
        session.run_with_metadata(&feeds, &["z"], &[], &RunOptions::new(), &mut metadata).unwrap();
        count(&metadata, "pipelines")
    };
    assert_eq!([made(0.25, 3), made(0.25, 5), made(0.75, 30)], [1, 0, 0]);
}

#[test]
fn nodes_that_only_the_host_has_stay_by_themselves() {
    let opened = open();
    // Of this dtype the GPU has none.
    let graph = graph(
        "x = Placeholder() dtype=float
        s = Sin(x)
        d = Cast(s) DstT=double
        e = Exp(d)
        f = Cast(e) DstT=float
        t = Sin(f)
        z = Cos(t)",
    );
    let (_, dispatches) = same(&opened, &graph, &[("x", numbers(&[70], 1))]).unwrap();
    assert_eq!(dispatches, [2, 3]);
}
