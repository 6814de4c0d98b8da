//! Kernels that have a way which takes less memory, and take it if there is not enough for the fast one.

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::device::CpuDevice;
use kernlink::dtype::DataType;
use kernlink::runtime::run_op;
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};

use crate::allocator::{watched, watched_below};

/// The gradient of a filter of few channels by an input of many, whose lines are turned all at once if there is room.
fn filter_gradient() -> impl Fn() -> Result<Vec<Tensor>> {
    const DEPTH: usize = 256;
    // Small whole numbers, so that every order of addition gives the same sum.
    let values = |shape: [usize; 4]| {
        let values: Vec<f32> = (0..shape.iter().product()).map(|index: usize| (index * 7 % 11) as f32 - 5.0).collect();
        Tensor::from_elements(shape, &values).unwrap()
    };
    let (input, gradient) = (values([1, 32, 32, DEPTH]), values([1, 32, 32, 16]));
    let sizes = Tensor::vector(&[3, 3, DEPTH as i32, 16]).unwrap();
    let registry = kernlink::registry().unwrap();
    let attrs: AttrMap = [
        ("T".to_owned(), AttrValue::Type(DataType::Float)),
        ("strides".to_owned(), AttrValue::ListInt(vec![1; 4])),
        ("padding".to_owned(), "SAME".into()),
    ]
    .into_iter()
    .collect();
    let device = CpuDevice::new(1).unwrap();
    move || {
        let inputs = vec![input.clone(), sizes.clone(), gradient.clone()];
        run_op(&registry, &device, "Conv2DBackpropFilter", attrs.clone(), inputs)
    }
}

#[test]
#[ignore = "a process of `kernels_take_the_way_for_which_there_is_memory` runs it"]
fn filters_without_room() {
    if std::env::var_os(crate::ALONE).is_none() {
        return;
    }
    let run = filter_gradient();
    // What was granted once is kept for later: least first. Without memory for either way it fails.
    let (answer, found) = watched_below(50_000, &run);
    assert!(found.refused && answer.unwrap_err().code() == Code::ResourceExhausted);
    // The turned lines take 1.2 MB, what is gathered 0.6 MB at most.
    let (answer, found) = watched_below(900_000, &run);
    assert!(found.refused, "everything was granted");
    let (expected, found) = watched(None, &run);
    assert!(!found.refused);
    let (answer, expected) = (answer.unwrap(), expected.unwrap());
    assert_eq!(answer[0].as_slice::<f32>().unwrap(), expected[0].as_slice::<f32>().unwrap());
}

#[test]
fn kernels_take_the_way_for_which_there_is_memory() {
    let output = crate::alone("fallback::filters_without_room", &[]).join().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
