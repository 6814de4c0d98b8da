//! Inputs that random cases of `tests/fuzz_ops` found: they once made a kernel panic or run without end.

use kernlink::prelude::*;

#[test]
fn slices_without_elements_are_not_counted_one_by_one() {
    let mut test = kernlink::testing::cpu();
    let many = Tensor::zeros(DataType::Float, [1 << 62, 0]).unwrap();
    test.run(|op| ops::unique_v2(op, many.clone(), [0i64]).build()).expect_error(Code::ResourceExhausted, "");
    let one = Tensor::zeros(DataType::Float, [1, 1 << 62, 0]).unwrap();
    test.run(|op| ops::unique_v2(op, one.clone(), [0i64]).build())
        .expect_shape(ops::UniqueV2::Y, [1, 1 << 62, 0])
        .expect(ops::UniqueV2::IDX, [0]);
    let four = Tensor::zeros(DataType::Float, [4, 0]).unwrap();
    test.run(|op| ops::unique_v2(op, four.clone(), [0i64]).build())
        .expect_shape(ops::UniqueV2::Y, [1, 0])
        .expect(ops::UniqueV2::IDX, [0, 0, 0, 0]);
}

#[test]
fn nothing_flows_into_a_filter_without_elements() {
    let mut test = kernlink::testing::cpu();
    let image = Tensor::zeros(DataType::Float, [2, 1, 1, 3]).unwrap();
    for filter in [[2, 0, 3], [0, 2, 3], [0, 0, 3]] {
        let filter = Tensor::zeros(DataType::Float, filter).unwrap();
        let ones = [1i64; 4];
        let flow = image.clone();
        let windows = ops::Dilation2DBackpropFilterRequired { strides: &ones, rates: &ones, padding: "SAME" };
        test.run(|op| ops::dilation2d_backprop_filter(op, image.clone(), filter.clone(), flow, windows).build())
            .expect_shape(ops::Dilation2DBackpropFilter::FILTER_BACKPROP, filter.shape().clone());
    }
}

/// As TensorFlow does.
#[test]
fn the_step_of_an_accumulator_goes_on_after_the_largest_number() {
    let mut op = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let op = &mut op;
    let handle = ops::resource_conditional_accumulator(op, DataType::Float, Shape::scalar()).build().unwrap();
    ops::resource_accumulator_set_global_step(op, handle.clone(), i64::MAX).build().unwrap();
    ops::resource_accumulator_apply_gradient(op, handle.clone(), i64::MAX, 2.0f32).build().unwrap();
    let taken = ops::resource_accumulator_take_gradient(op, handle.clone(), 1i32, DataType::Float).build().unwrap();
    assert_eq!(taken.to_scalar::<f32>().unwrap(), 2.0);
    ops::resource_accumulator_apply_gradient(op, handle.clone(), i64::MIN, 2.0f32).build().unwrap();
    let count = ops::resource_accumulator_num_accumulated(op, handle).build().unwrap();
    assert_eq!(count.to_scalar::<i32>().unwrap(), 1);
}

/// Attrs of a few bytes must not ask for minutes, or for gigabytes.
#[cfg(feature = "audio")]
#[test]
fn sizes_of_spectrograms_and_cepstra_have_bounds() {
    let mut test = kernlink::testing::cpu();
    let sound = Tensor::zeros(DataType::Float, [4, 1]).unwrap();
    for (window_size, stride) in [(1 << 31, 1), (i64::MAX, 1), (i64::MIN, 1), (2, 1 << 31), (2, i64::MAX)] {
        let sizes = ops::AudioSpectrogramRequired { window_size, stride };
        test.run(|op| ops::audio_spectrogram(op, sound.clone(), sizes.clone()).build())
            .expect_error(Code::InvalidArgument, "int32");
    }
    let sizes = ops::AudioSpectrogramRequired { window_size: i64::from(i32::MAX), stride: 1 };
    test.run(|op| ops::audio_spectrogram(op, sound.clone(), sizes.clone()).build())
        .expect_error(Code::ResourceExhausted, "too long");
    let spectrogram = Tensor::zeros(DataType::Float, [1, 1, 5]).unwrap();
    let most = i64::from(i32::MAX);
    for (bands, coefficients) in [(1 << 20, 1 << 10), (most, 1), (most, most)] {
        test.run(|op| {
            ops::mfcc(op, spectrogram.clone(), 8000i32)
                .filterbank_channel_count(bands)
                .dct_coefficient_count(coefficients)
                .build()
        })
        .expect_error(Code::ResourceExhausted, "too many");
    }
}
