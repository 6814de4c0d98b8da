//! Sequences of which a part of its own is turned around in each batch.

use kernlink::attr::AttrMap;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::shape::Shape;

/// Along which dimensions sequences and batches lie.
#[derive(Clone, Copy, Debug)]
pub struct ReverseSequence {
    seq: i64,
    batch: i64,
}

impl ReverseSequence {
    /// Of the attrs `seq_dim` and `batch_dim`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if one is negative.
    pub fn new(attrs: &AttrMap) -> Result<ReverseSequence> {
        let (seq, batch) = (attrs.required("seq_dim")?, attrs.required("batch_dim")?);
        for (name, dim) in [("seq_dim", seq), ("batch_dim", batch)] {
            ensure!(dim >= 0, InvalidArgument, "Invalid {name} {dim}");
        }
        Ok(ReverseSequence { seq, batch })
    }

    /// The dimensions of sequences and of batches, which have lengths of this shape.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the input does not have both, they are one, or there is not a length for each batch.
    pub fn dims(&self, input: &Shape, lengths: &Shape) -> Result<(usize, usize)> {
        let (Self { seq, batch }, rank) = (*self, input.rank());
        ensure!(lengths.rank() == 1, InvalidArgument, "seq_lengths must be 1-dim, not {}", lengths.rank());
        ensure!(batch != seq, InvalidArgument, "batch_dim == seq_dim == {seq}");
        for (name, dim) in [("seq_dim", seq), ("batch_dim", batch)] {
            ensure!(dim < rank as i64, InvalidArgument, "{name} must be < input rank ({dim} vs. {rank})");
        }
        ensure!(rank <= 5, InvalidArgument, "ReverseSequenceOp : Unhandled input dimensions: {rank}");
        let (seq, batch) = (seq as usize, batch as usize);
        ensure!(
            lengths[0] == input[batch],
            InvalidArgument,
            "Length of seq_lengths != input.dims({batch}), ({} vs. {})",
            lengths[0],
            input[batch]
        );
        Ok((seq, batch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_batch_has_a_length() {
        let of = |[seq, batch]: [i64; 2], input: &[usize], lengths: &[usize]| {
            let mut attrs = AttrMap::new();
            attrs.insert("seq_dim", seq);
            attrs.insert("batch_dim", batch);
            ReverseSequence::new(&attrs)?.dims(&Shape::from(input), &Shape::from(lengths))
        };
        assert_eq!(of([2, 0], &[3, 4, 5], &[3]).unwrap(), (2, 0));
        assert!(of([2, 0], &[3, 4, 5], &[5]).is_err());
        assert!(of([2, 0], &[3, 4, 5], &[3, 1]).is_err());
        assert!(of([1, 1], &[3, 4, 5], &[4]).is_err());
        assert!(of([3, 0], &[3, 4, 5], &[3]).is_err());
        assert!(of([-1, 0], &[3, 4, 5], &[3]).is_err());
        assert!(of([1, 0], &[3, 1, 1, 1, 1, 1], &[3]).is_err());
    }
}
