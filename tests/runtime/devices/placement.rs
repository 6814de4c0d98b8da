//! Where nodes go.

use std::sync::Arc;

use kernlink::device::Device;
use kernlink::prelude::*;

use super::device::TestDevice;
use super::graphs::{graph_with, node_of, on, on_device_alone, one, scalars};

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
