//! Kernels that have a way which takes less memory, and take it if there is not enough for the fast one.

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::device::CpuDevice;
use kernlink::dtype::DataType;
use kernlink::runtime::run_op;
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};

use crate::allocator::{watched, watched_below};

/// The gradient of a filter of 3 x 3 by an image of so many rows and columns.
fn filter_gradient(size: usize, in_depth: usize, out_depth: usize) -> impl Fn() -> Result<Vec<Tensor>> {
    // Small whole numbers, so that every order of addition gives the same sum.
    let values = |shape: [usize; 4]| {
        let values: Vec<f32> = (0..shape.iter().product()).map(|index: usize| (index * 7 % 11) as f32 - 5.0).collect();
        Tensor::from_elements(shape, &values).unwrap()
    };
    let (input, gradient) = (values([1, size, size, in_depth]), values([1, size, size, out_depth]));
    let sizes = Tensor::vector(&[3, 3, in_depth as i32, out_depth as i32]).unwrap();
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

/// `run` gives the same with memory for less than a copy of its input, and fails without memory for its result.
fn takes_the_way_without_a_copy(run: impl Fn() -> Result<Vec<Tensor>>, of_result: usize, of_copy: usize) {
    // What was granted once is kept for later: least first.
    let (answer, found) = watched_below(of_result, &run);
    assert!(found.refused && answer.unwrap_err().code() == Code::ResourceExhausted);
    let (answer, found) = watched_below(of_copy, &run);
    assert!(found.refused, "everything was granted");
    let (expected, found) = watched(None, &run);
    assert!(!found.refused);
    let (answer, expected) = (answer.unwrap(), expected.unwrap());
    assert_eq!(answer[0].as_slice::<f32>().unwrap(), expected[0].as_slice::<f32>().unwrap());
}

#[test]
#[ignore = "a process of `kernels_take_the_way_for_which_there_is_memory` runs it"]
fn filters_without_room_to_spread_pixels() {
    if std::env::var_os(crate::ALONE).is_some() {
        // The copy takes 1.1 MB, the result 0.6 MB.
        takes_the_way_without_a_copy(filter_gradient(32, 256, 64), 500_000, 900_000);
    }
}

#[test]
#[ignore = "a process of `kernels_take_the_way_for_which_there_is_memory` runs it"]
fn filters_without_room_for_padding() {
    if std::env::var_os(crate::ALONE).is_some() {
        // The copy takes 0.27 MB, the results of its parts 37 KB.
        takes_the_way_without_a_copy(filter_gradient(128, 4, 16), 20_000, 240_000);
    }
}

#[test]
fn kernels_take_the_way_for_which_there_is_memory() {
    for name in ["fallback::filters_without_room_to_spread_pixels", "fallback::filters_without_room_for_padding"] {
        let output = crate::alone(name, &[]).join().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}
