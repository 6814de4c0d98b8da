//! Networks on the GPU beside the CPU, in sizes for which shaders take elements by fours, cut sums into parts and go beyond
//! their tiles: TensorFlow's own answers are of few elements.

use std::sync::{Arc, MutexGuard};

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::device::{CpuDevice, Device};
use kernlink::dtype::{DataType, f16};
use kernlink::gpu::GpuDevice;
use kernlink::registry::Registry;
use kernlink::runtime::run_op;
use kernlink::tensor::Tensor;

/// The two devices.
pub(super) struct Both {
    registry: Arc<Registry>,
    gpu: GpuDevice,
    cpu: CpuDevice,
    _driver: MutexGuard<'static, ()>,
}

impl Both {
    pub(super) fn open() -> Both {
        let _driver = super::driver();
        let gpu = GpuDevice::open_named(0, Some(&super::adapter()));
        let gpu = gpu.expect("a Vulkan driver: on Debian mesa-vulkan-drivers");
        Both { registry: kernlink::registry().unwrap(), gpu, cpu: CpuDevice::new(0).unwrap(), _driver }
    }

    /// Fails unless all outputs of an op are, on both devices, within a share of their largest element.
    pub(super) fn compare(&self, op: &str, attrs: &AttrMap, inputs: &[Tensor]) {
        self.compare_within(1e-5, op, attrs, inputs);
    }

    /// [`Both::compare`] with attrs and inputs of 16 bits for those of 32, if the device has such.
    pub(super) fn compare_halves(&self, op: &str, attrs: &AttrMap, inputs: &[Tensor]) {
        if !self.gpu.capabilities().contains(&"f16") {
            return;
        }
        let mut attrs = attrs.clone();
        attrs.insert("T", DataType::Half);
        if let Some(AttrValue::ListType(types)) = attrs.get("TArgs").cloned() {
            attrs.insert("TArgs", AttrValue::ListType(vec![DataType::Half; types.len()]));
        }
        let narrow = |input: &Tensor| {
            let halves: Vec<f16> = input.as_slice::<f32>().unwrap().iter().map(|&x| f16::from_f32(x)).collect();
            Tensor::from_elements(input.shape().clone(), &halves).unwrap()
        };
        let inputs: Vec<Tensor> = inputs.iter().map(narrow).collect();
        // Some roundings of what is as large as the largest element, or twice of it.
        self.compare_within(4e-3, op, &attrs, &inputs);
    }

    /// Fails unless both devices refuse an op with one code.
    pub(super) fn refuse(&self, op: &str, attrs: &AttrMap, inputs: &[Tensor]) {
        let codes = [&self.gpu as &dyn Device, &self.cpu].map(|device| {
            match run_op(&self.registry, device, op, attrs.clone(), inputs.to_vec()) {
                Ok(_) => panic!("{} takes {op} {attrs:?}", device.name()),
                Err(error) => (error.code(), error.to_string()),
            }
        });
        assert_eq!(codes[0].0, codes[1].0, "{op} {attrs:?}: {codes:?}");
    }

    fn compare_within(&self, share: f32, op: &str, attrs: &AttrMap, inputs: &[Tensor]) {
        let run = |device: &dyn Device| {
            let outputs = run_op(&self.registry, device, op, attrs.clone(), inputs.to_vec());
            outputs.unwrap_or_else(|error| panic!("{op} on {}: {error}", device.name()))
        };
        let before = self.dispatches();
        let (found, expected) = (run(&self.gpu), run(&self.cpu));
        let is_empty = expected[0].num_elements() == 0;
        assert!(is_empty || self.dispatches() > before, "{op} did not run on the GPU");
        assert_eq!(found.len(), expected.len());
        for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found.shape(), expected.shape(), "{op}");
            let found = kernlink::step::block_on(self.gpu.to_host(found)).unwrap();
            let (found, expected) = (floats(&found), floats(expected));
            let largest = expected.iter().fold(0f32, |largest, x| largest.max(x.abs()));
            assert!(largest > 0.0 || expected.is_empty() || expected.len() == 1, "{op} gives nothing but zeros");
            for (place, (x, y)) in found.iter().zip(&expected).enumerate() {
                assert!(
                    (x - y).abs() <= share * largest || x.is_nan() && y.is_nan(),
                    "{op} {attrs:?}: output {index} at {place}: {x}, not {y}"
                );
            }
        }
    }

    fn dispatches(&self) -> u64 {
        self.gpu.counters().iter().find(|(name, _)| *name == "dispatches").map_or(0, |(_, count)| *count)
    }
}

/// Elements of 32 or 16 bits.
fn floats(tensor: &Tensor) -> Vec<f32> {
    match tensor.dtype() {
        DataType::Half => tensor.as_slice::<f16>().unwrap().iter().map(|x| x.to_f32()).collect(),
        _ => tensor.as_slice::<f32>().unwrap().to_vec(),
    }
}

/// Numbers in both directions without a pattern.
pub(super) fn numbers(shape: &[usize], seed: u64) -> Tensor {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let elements: Vec<f32> = (0..shape.iter().product()).map(next).collect();
    Tensor::from_elements(shape, &elements).unwrap()
}

fn sizes(shape: &[usize]) -> Tensor {
    Tensor::vector(&shape.iter().map(|&size| size as i32).collect::<Vec<_>>()).unwrap()
}

pub(super) fn attrs(pairs: &[(&str, AttrValue)]) -> AttrMap {
    let mut attrs = AttrMap::new();
    attrs.insert("T", DataType::Float);
    for (name, value) in pairs {
        attrs.insert(*name, value.clone());
    }
    attrs
}

pub(super) fn four(middle: [i64; 2]) -> AttrValue {
    vec![1, middle[0], middle[1], 1].into()
}

#[test]
fn both_devices_agree() {
    let both = Both::open();
    convolutions(&both);
    depthwise_convolutions(&both);
    normalisations(&both);
    poolings(&both);
    products(&both);
}

fn convolutions(both: &Both) {
    for (batch, size, depth, out_depth, window, stride, dilation, padding) in [
        (2, 17, 8, 36, 3, 1, 1, "SAME"),
        (2, 18, 12, 20, 3, 2, 1, "SAME"),
        (1, 19, 3, 33, 7, 2, 1, "VALID"),
        (3, 16, 20, 72, 1, 1, 1, "SAME"),
        (2, 15, 16, 24, 1, 2, 1, "VALID"),
        (1, 21, 4, 8, 3, 1, 2, "SAME"),
        (2, 5, 6, 40, 5, 1, 1, "VALID"),
        // Few elements of the filter's gradient, and much to add up.
        (8, 48, 4, 4, 1, 1, 1, "SAME"),
        (8, 48, 4, 5, 3, 1, 1, "SAME"),
    ] {
        let attrs =
            attrs(&[("strides", four([stride; 2])), ("dilations", four([dilation; 2])), ("padding", padding.into())]);
        let (x, filter) = ([batch, size, size, depth], [window, window, depth, out_depth]);
        let (input, weights) = (numbers(&x, 1), numbers(&filter, 2));
        both.compare("Conv2D", &attrs, &[input.clone(), weights.clone()]);
        let out = run_op(&both.registry, &both.cpu, "Conv2D", attrs.clone(), vec![input.clone(), weights.clone()]);
        let gradient = numbers(out.unwrap()[0].shape(), 3);
        if dilation == 1 {
            both.compare("Conv2DBackpropInput", &attrs, &[sizes(&x), weights, gradient.clone()]);
            both.compare("Conv2DBackpropFilter", &attrs, &[input, sizes(&filter), gradient]);
        }
    }
    // In groups.
    for (depth, groups, out_depth) in [(8, 2, 24), (6, 3, 9), (16, 4, 16)] {
        let attrs = attrs(&[("strides", four([1; 2])), ("padding", "SAME".into())]);
        let (input, filter) = (numbers(&[2, 9, 9, depth], 1), numbers(&[3, 3, depth / groups, out_depth], 2));
        both.compare("Conv2D", &attrs, &[input, filter]);
    }
}

fn depthwise_convolutions(both: &Both) {
    for (batch, size, depth, multiplier, window, stride) in
        [(2, 17, 8, 1, 3, 1), (1, 18, 68, 1, 5, 2), (2, 9, 5, 1, 3, 2), (1, 9, 4, 3, 3, 1), (4, 40, 4, 1, 3, 1)]
    {
        let attrs = attrs(&[("strides", four([stride; 2])), ("padding", "SAME".into())]);
        let (x, filter) = ([batch, size, size, depth], [window, window, depth, multiplier]);
        let (input, weights) = (numbers(&x, 1), numbers(&filter, 2));
        both.compare("DepthwiseConv2dNative", &attrs, &[input.clone(), weights.clone()]);
        let out = size.div_ceil(stride as usize);
        let gradient = numbers(&[batch, out, out, depth * multiplier], 3);
        both.compare("DepthwiseConv2dNativeBackpropInput", &attrs, &[sizes(&x), weights, gradient.clone()]);
        both.compare("DepthwiseConv2dNativeBackpropFilter", &attrs, &[input, sizes(&filter), gradient]);
    }
}

fn normalisations(both: &Both) {
    for (shape, format) in
        [([4, 31, 33, 8], "NHWC"), ([2, 9, 9, 70], "NHWC"), ([3, 5, 40, 41], "NCHW"), ([1, 2, 2, 3], "NHWC")]
    {
        let channels = if format == "NHWC" { shape[3] } else { shape[1] };
        let vector = |seed| numbers(&[channels], seed);
        let positive = |seed| {
            let elements: Vec<f32> = vector(seed).as_slice::<f32>().unwrap().iter().map(|x| x.abs() + 0.5).collect();
            Tensor::vector(&elements).unwrap()
        };
        let x = numbers(&shape, 1);
        for training in [true, false] {
            let attrs = attrs(&[
                ("U", DataType::Float.into()),
                ("is_training", training.into()),
                ("data_format", format.into()),
                ("exponential_avg_factor", 0.75f32.into()),
            ]);
            let inputs = [x.clone(), vector(2), vector(3), vector(4), positive(5)];
            both.compare("FusedBatchNormV3", &attrs, &inputs);
            if training || format == "NHWC" {
                let mut attrs = attrs;
                attrs.remove("exponential_avg_factor");
                let reserved = Tensor::scalar(0f32);
                let inputs = [numbers(&shape, 6), x.clone(), vector(2), vector(4), positive(5), reserved];
                both.compare("FusedBatchNormGradV3", &attrs, &inputs);
            }
        }
    }
}

fn poolings(both: &Both) {
    for (depth, window, stride, padding) in [(8, 3, 2, "SAME"), (5, 2, 2, "VALID"), (12, 3, 1, "SAME")] {
        let attrs = attrs(&[("ksize", four([window; 2])), ("strides", four([stride; 2])), ("padding", padding.into())]);
        let x = [2, 20, 21, depth];
        let input = numbers(&x, 1);
        both.compare("MaxPool", &attrs, std::slice::from_ref(&input));
        both.compare("AvgPool", &attrs, std::slice::from_ref(&input));
        let pooled = run_op(&both.registry, &both.cpu, "MaxPool", attrs.clone(), vec![input.clone()]).unwrap();
        let gradient = numbers(pooled[0].shape(), 2);
        both.compare("MaxPoolGrad", &attrs, &[input, pooled[0].clone(), gradient.clone()]);
        both.compare("AvgPoolGrad", &attrs, &[sizes(&x), gradient]);
    }
}

fn products(both: &Both) {
    for [rows, inner, columns] in
        [[1, 300, 1000], [1, 301, 77], [100, 301, 1], [64, 64, 64], [70, 1500, 66], [8, 4000, 12]]
    {
        for (a_turned, b_turned) in [(false, false), (false, true), (true, false), (true, true)] {
            let attrs = attrs(&[("transpose_a", a_turned.into()), ("transpose_b", b_turned.into())]);
            let a = numbers(&if a_turned { [inner, rows] } else { [rows, inner] }, 1);
            let b = numbers(&if b_turned { [columns, inner] } else { [inner, columns] }, 2);
            both.compare("MatMul", &attrs, &[a, b]);
        }
    }
}
