//! Ops on images whatever their elements are: they end, by themselves or with the time that a run is given.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use kernlink::Code;
use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::prelude::*;
use kernlink::proto::NodeDef;
use kernlink::runtime::RunOptions;

use crate::support::{constant, graph, node};

/// How long a run may take that takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Attrs by their names.
type Attrs = Vec<(&'static str, AttrValue)>;

fn session(nodes: Vec<NodeDef>) -> Session {
    Session::new(Graph::import(&graph(nodes), &kernlink::registry().unwrap()).unwrap()).unwrap()
}

/// Denormals, the least and the greatest numbers, infinities and NaN, each next to each other one.
fn odd_elements() -> Vec<f32> {
    let odd =
        [0.0, 1.0, 3e-40, -1e-45, f32::MIN_POSITIVE, f32::MAX, f32::MIN, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    odd.iter().flat_map(|&a| odd.iter().flat_map(move |&b| [a, b, 0.3])).collect()
}

#[test]
fn ops_end_whatever_the_elements_are() {
    let odd = odd_elements();
    let image = || Tensor::from_elements([1, odd.len() / 30, 10, 3], &odd).unwrap();
    let float = || ("T", AttrValue::Type(DataType::Float));
    let sizes = || Tensor::vector(&[7i32, 13]).unwrap();
    let boxes = |width: usize| Tensor::from_elements([odd.len() / width, width], &odd).unwrap();
    let count = odd.len() / 4;
    let scalar = |value: f32| Tensor::scalar(value);
    let mut cases: Vec<(&str, Vec<Tensor>, Attrs)> = Vec::new();
    for op in ["RGBToHSV", "HSVToRGB"] {
        cases.push((op, vec![image()], vec![float()]));
    }
    for op in ["ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor"] {
        cases.push((op, vec![image(), sizes()], vec![float()]));
    }
    let kernel = || vec![float(), ("kernel_type", "lanczos3".into()), ("antialias", true.into())];
    for &value in &odd[..30] {
        for op in ["AdjustHue", "AdjustSaturation", "AdjustContrastv2"] {
            cases.push((op, vec![image(), scalar(value)], vec![float()]));
        }
        let pair = |value: f32| Tensor::vector(&[value, 1.0]).unwrap();
        cases.push(("ScaleAndTranslate", vec![image(), sizes(), pair(value), pair(0.5)], kernel()));
        cases.push(("ScaleAndTranslate", vec![image(), sizes(), pair(1.5), pair(value)], kernel()));
        cases.push(("ScaleAndTranslateGrad", vec![image(), image(), pair(value), pair(0.5)], kernel()));
        for mode in ["CONSTANT", "NEAREST", "REFLECT", "WRAP"] {
            for interpolation in ["NEAREST", "BILINEAR"] {
                let transform = [1.0, 0.5, value, value, 1.0, 2.0, value, 0.0];
                let inputs = vec![image(), Tensor::from_elements([1, 8], &transform).unwrap(), sizes(), scalar(0.0)];
                let attrs = vec![
                    ("dtype", AttrValue::Type(DataType::Float)),
                    ("interpolation", interpolation.into()),
                    ("fill_mode", mode.into()),
                ];
                cases.push(("ImageProjectiveTransformV3", inputs, attrs));
            }
        }
    }
    let indices = || Tensor::zeros(DataType::Int32, [count]).unwrap();
    let crops = || Tensor::zeros(DataType::Float, [count, 3, 4, 3]).unwrap();
    cases.push(("CropAndResize", vec![image(), boxes(4), indices(), sizes()], vec![float()]));
    cases.push(("CropAndResizeGradBoxes", vec![crops(), image(), boxes(4), indices()], vec![float()]));
    let shape = Tensor::vector(&[1i32, 10, 10, 3]).unwrap();
    cases.push(("CropAndResizeGradImage", vec![crops(), boxes(4), indices(), shape], vec![float()]));
    let of_one = Tensor::from_elements([1, count, 4], &odd).unwrap();
    cases.push(("DrawBoundingBoxes", vec![image(), of_one], vec![float()]));
    let scores = || Tensor::vector(&odd[..count]).unwrap();
    let rest = || [Tensor::scalar(50i32), scalar(0.5), scalar(0.0)];
    cases.push(("NonMaxSuppressionV3", [boxes(4), scores()].into_iter().chain(rest()).collect(), vec![float()]));
    let soft = rest().into_iter().chain([scalar(0.5)]);
    cases.push(("NonMaxSuppressionV5", [boxes(4), scores()].into_iter().chain(soft).collect(), vec![float()]));
    cases.push((
        "ExtractGlimpse",
        vec![image(), sizes(), Tensor::from_elements([1, 2], &[f32::NAN, 3e38]).unwrap()],
        vec![],
    ));
    for (op, inputs, attrs) in cases {
        let names: Vec<String> = (0..inputs.len()).map(|index| format!("x{index}")).collect();
        let mut nodes: Vec<NodeDef> =
            names.iter().zip(&inputs).map(|(name, input)| constant(name, input.clone())).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        nodes.push(node("y", op, &names, &attrs));
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            // What an op refuses has ended, too.
            let code = session(nodes).run(&[], &["y"], &[]).err().map(|error| error.code());
            sender.send(code).unwrap();
        });
        let code = receiver.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{op} of {inputs:?}: {error}"));
        assert!(matches!(code, None | Some(Code::InvalidArgument | Code::Internal)), "{op} of {inputs:?}: {code:?}");
    }
}

#[test]
fn boxes_by_lot_end_with_the_time() {
    let attrs = [
        ("T", AttrValue::Type(DataType::Int32)),
        ("max_attempts", AttrValue::Int(i32::MAX.into())),
        ("seed", AttrValue::Int(1)),
    ];
    let nodes = vec![
        constant("size", Tensor::vector(&[30i32, 40, 3]).unwrap()),
        constant("boxes", Tensor::from_elements([1, 1, 4], &[0.3f32, 0.3, 0.7, 0.8]).unwrap()),
        // No box covers five times an object.
        constant("covered", Tensor::scalar(5.0f32)),
        node("y", "SampleDistortedBoundingBoxV2", &["size", "boxes", "covered"], &attrs),
    ];
    let start = Instant::now();
    let options = RunOptions::new().timeout(Duration::from_millis(100));
    let error = session(nodes).run_with(&[], &["y"], &[], &options).unwrap_err();
    assert_eq!(error.code(), Code::DeadlineExceeded);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}
