//! Strings to numbers of buckets, and tensors to fingerprints.

use kernlink::error::shortened_bytes;
use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("num_buckets: int >= 1", "The number of buckets."),
    output("output: int64", "From 0 to `num_buckets` − 1."),
    shape_fn = shapes::unchanged,
)]
pub enum Buckets {
    /// The bucket of each string, by a hash that is kept for old graphs; [`StringToHashBucketFast`] is for new ones.
    #[op(input("string_tensor: string"))]
    StringToHashBucket,
    /// The bucket of each string, by FarmHash's 64-bit fingerprint: fast, the same everywhere, not safe from malice.
    #[op(input("input: string"))]
    StringToHashBucketFast,
    /// The bucket of each string, by SipHash with a key: who does not know the key cannot choose strings that collide.
    #[op(attr("key: list(int)", "The key, two numbers."), input("input: string"))]
    StringToHashBucketStrong,
}

/// A fingerprint of each row of `data`, eight bytes in little-endian order.
#[register_op(
    attr("T: type"),
    input("data: T", "At least one dimension; the first counts the rows."),
    input("method: string", "The algorithm, a scalar: `farmhash64` is the only one."),
    output("fingerprint: uint8", "Shape [rows, 8]."),
    shape_fn = fingerprint_shape,
)]
pub struct Fingerprint;

fn fingerprint_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let data = c.with_rank_at_least(c.input(0), 1)?;
    c.with_rank(c.input(1), 0)?;
    let size = match c.input_tensor(1) {
        None => c.unknown_dim(),
        Some(method) => {
            let method: kernlink::dtype::TString = method.to_scalar()?;
            ensure!(
                method.as_bytes() == b"farmhash64",
                InvalidArgument,
                "unsupported method: `{}`",
                shortened_bytes(&method)
            );
            c.make_dim(8)
        }
    };
    shapes::output_shape(c, c.make_shape([c.dim(data, 0), size]))
}
