//! Bytes as a WAV file; what comes of it is encoded again.
#![no_main]

use kernlink::dtype::TString;
use kernlink::runtime::EagerContext;
use kernlink::tensor::Tensor;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let registry = kernlink::registry().expect("the registry is complete");
    let mut eager = EagerContext::new(&registry).expect("a context");
    let Some((&choice, file)) = bytes.split_first() else { return };
    let (channels, samples) = (i64::from(choice & 7) - 1, i64::from(choice >> 3) - 1);
    let file = Tensor::scalar(TString::from(file));
    let decoded =
        kernlink::ops::decode_wav(&mut eager, file).desired_channels(channels).desired_samples(samples).build();
    if let Ok(decoded) = decoded {
        _ = kernlink::ops::encode_wav(&mut eager, decoded.audio, decoded.sample_rate).build();
    }
});
