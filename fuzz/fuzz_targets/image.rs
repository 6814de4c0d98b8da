//! Bytes as an image file, which each op that decodes files takes; an encoder gets what comes of it.
#![no_main]

use kernlink::dtype::TString;
use kernlink::runtime::EagerContext;
use kernlink::tensor::Tensor;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let registry = kernlink::registry().expect("the registry is complete");
    let mut eager = EagerContext::new(&registry).expect("a context");
    let Some((&choice, file)) = bytes.split_first() else { return };
    let file = Tensor::scalar(TString::from(file));
    let choice = i64::from(choice);
    let image = kernlink::ops::decode_image(&mut eager, file.clone()).expand_animations(choice & 1 == 0).build();
    if let Ok(image) = image
        && image.rank() == 3
    {
        _ = kernlink::ops::encode_png(&mut eager, image.clone()).compression(choice % 10).build();
        _ = kernlink::ops::encode_jpeg(&mut eager, image).progressive(choice & 2 == 0).build();
    }
    _ = kernlink::ops::decode_jpeg(&mut eager, file.clone())
        .ratio(1 << (choice >> 2 & 3))
        .try_recover_truncated(choice & 16 == 0)
        .acceptable_fraction(0.1)
        .fancy_upscaling(choice & 32 == 0)
        .build();
    _ = kernlink::ops::decode_png(&mut eager, file.clone()).channels(choice >> 6).build();
    _ = kernlink::ops::extract_jpeg_shape(&mut eager, file).build();
});
