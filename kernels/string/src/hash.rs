//! StringToHashBucketFast, StringToHashBucketStrong, StringToHashBucket, Fingerprint.

use std::borrow::Cow;

use kernlink::dtype::{DataType, TString};
use kernlink::error::{Result, shortened_bytes};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_kernels_common::farmhash::fingerprint64;
use kernlink_kernels_common::hash64::hash64;
use kernlink_kernels_common::siphash::siphash;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::map::{map, scalar};

/// The seed of `StringToHashBucket`.
const LEGACY_SEED: u64 = 0xDE_CAFC_AFFE;

#[register_kernel(device = Cpu, state = |ctx| Ok(ctx.attrs().num_buckets.max(1) as u64))]
fn string_to_hash_bucket_fast(&buckets: &u64, ctx: &mut KernelContext<'_, ops::StringToHashBucketFast>) -> Result<()> {
    map(ctx, 1, |text| Ok((fingerprint64(text) % buckets) as i64))
}

struct StrongKernel {
    buckets: u64,
    key: [u64; 2],
}

#[register_kernel(device = Cpu)]
impl OpKernel<ops::StringToHashBucketStrong> for StrongKernel {
    fn new(ctx: &KernelConstruction<'_, ops::StringToHashBucketStrong>) -> Result<Self> {
        let [first, second] = ctx.attrs().key[..] else { bail!(InvalidArgument, "Key must have 2 elements") };
        Ok(Self { buckets: ctx.attrs().num_buckets.max(1) as u64, key: [first as u64, second as u64] })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::StringToHashBucketStrong>) -> Result<()> {
        map(ctx, 1, |text| Ok((siphash(self.key, text) % self.buckets) as i64))
    }
}

#[register_kernel(device = Cpu, state = |ctx| Ok(ctx.attrs().num_buckets.max(1) as u64))]
fn string_to_hash_bucket(&buckets: &u64, ctx: &mut KernelContext<'_, ops::StringToHashBucket>) -> Result<()> {
    map(ctx, 1, |text| Ok((hash64(text, LEGACY_SEED) % buckets) as i64))
}

/// A tensor's bytes as TensorFlow has them in memory: the sign of narrow integers does not fill theirs.
fn memory(tensor: &Tensor) -> Result<Cow<'_, [u8]>> {
    let bytes = tensor.bytes()?;
    let used = match tensor.dtype() {
        DataType::Int4 => 0x0F,
        DataType::Int2 => 0x03,
        _ => return Ok(Cow::Borrowed(bytes)),
    };
    scratch::collected(bytes.iter().map(|&byte| byte & used)).map(Cow::Owned)
}

#[register_kernel(device = Cpu)]
fn fingerprint(ctx: &mut KernelContext<'_, ops::Fingerprint>) -> Result<()> {
    let method = scalar(ctx.input(ops::Fingerprint::METHOD)?, "`method`")?;
    ensure!(
        method.as_bytes() == b"farmhash64",
        InvalidArgument,
        "Unsupported fingerprint method: {}",
        shortened_bytes(method)
    );
    let data = ctx.input(ops::Fingerprint::DATA)?;
    let Some(&rows) = data.shape().first() else {
        bail!(InvalidArgument, "`data` should have at least one dimension");
    };
    let mut output = ctx.allocate_output(ops::Fingerprint::FINGERPRINT, [rows, 8])?;
    let row = data.num_elements().checked_div(rows).unwrap_or(0);
    let hash: &(dyn Fn(usize) -> Result<u64> + Sync) = match data.dtype() {
        DataType::String => {
            let strings = data.as_slice::<TString>()?;
            &move |index| match &strings[index * row..(index + 1) * row] {
                [text] => Ok(fingerprint64(text)),
                texts => {
                    let hashes = texts.iter().flat_map(|text| fingerprint64(text).to_le_bytes());
                    Ok(fingerprint64(&scratch::collected(hashes)?))
                }
            }
        }
        dtype => {
            ensure!(
                dtype.is_pod(),
                InvalidArgument,
                "`data` must be of strings or of a dtype that is plain bytes, not {dtype}"
            );
            let (bytes, row) = (memory(data)?, row * dtype.size());
            &move |index| Ok(fingerprint64(&bytes[index * row..(index + 1) * row]))
        }
    };
    let cost = 20 + row.saturating_mul(data.dtype().size().max(8));
    ctx.try_parallel_chunks(output.as_mut_slice::<u8>()?, 8, cost, |first, piece| {
        for (index, bytes) in piece.chunks_exact_mut(8).enumerate() {
            bytes.copy_from_slice(&hash(first / 8 + index)?.to_le_bytes());
        }
        Ok(())
    })?;
    ctx.set_output(ops::Fingerprint::FINGERPRINT, output)
}
