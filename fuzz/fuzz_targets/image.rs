//! Bytes as an image file, which each op that decodes files takes; an encoder gets what comes of it. The last byte chooses the
//! attrs, so that a whole file is a good start.
#![no_main]

mod kind;

use kernlink::dtype::TString;
use kernlink::runtime::EagerContext;
use kernlink::tensor::Tensor;
use libfuzzer_sys::{Corpus, fuzz_target};

const FORMATS: [&str; 6] = ["jpeg", "png", "gif", "bmp", "webp", "jxl"];
/// How files of each may begin.
const BEGINNINGS: [&[&[u8]]; 6] = [
    &[b"\xff\xd8\xff"],
    &[b"\x89PNG\r\n\x1a\n"],
    &[b"GIF8"],
    &[b"BM"],
    &[b"RIFF"],
    &[b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n"],
];

/// Samples of the largest picture that is encoded, which takes many times as long as to decode it.
const ENCODED: usize = 1 << 22;

fn is_of(file: &[u8], format: usize) -> bool {
    BEGINNINGS[format].iter().any(|beginning| file.starts_with(beginning))
}

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let registry = kernlink::registry().expect("the registry is complete");
    let mut eager = EagerContext::new(&registry).expect("a context");
    let Some((&choice, file)) = bytes.split_last() else { return Corpus::Reject };
    if let Some(format) = kind::kind(&FORMATS)
        && !is_of(file, format)
    {
        return Corpus::Reject;
    }
    let is_jpeg = is_of(file, 0);
    let file = Tensor::scalar(TString::from(file));
    let choice = i64::from(choice);
    let image = kernlink::ops::decode_image(&mut eager, file.clone()).expand_animations(choice & 1 == 0).build();
    if let Ok(image) = image
        && image.rank() == 3
        && image.num_elements() <= ENCODED
    {
        _ = kernlink::ops::encode_png(&mut eager, image.clone()).compression(choice % 10).build();
        _ = kernlink::ops::encode_jpeg(&mut eager, image).progressive(choice & 2 == 0).build();
    }
    if !is_jpeg {
        _ = kernlink::ops::decode_png(&mut eager, file).channels(choice >> 6).build();
        return Corpus::Keep;
    }
    _ = kernlink::ops::decode_jpeg(&mut eager, file.clone())
        .ratio(1 << (choice >> 2 & 3))
        .try_recover_truncated(choice & 16 == 0)
        .acceptable_fraction(0.1)
        .fancy_upscaling(choice & 32 == 0)
        .build();
    _ = kernlink::ops::extract_jpeg_shape(&mut eager, file).build();
    Corpus::Keep
});
