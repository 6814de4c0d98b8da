//! Transfers between devices, and their number.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use kernlink::device::Device;
use kernlink::prelude::*;
use kernlink::runtime::EagerContext;

use super::device::TestDevice;
use super::graphs::{graph_with, node_of, on_device_alone, one, scalars};

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
