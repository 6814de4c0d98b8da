//! Ragged tensors in variants.

use kernlink::tensor::{Tensor, Variant, VariantValue};
use kernlink::{Result, bail, ensure};

use crate::tensors::{add_to, zeros_like};

/// A ragged tensor.
pub struct Ragged {
    /// The splits of each ragged dimension.
    pub splits: Vec<Tensor>,
    /// The values, one row of the innermost dimension after the other.
    pub values: Tensor,
}

impl VariantValue for Ragged {
    fn type_name(&self) -> &'static str {
        "RaggedTensorVariant"
    }

    fn parts(&self) -> Option<(Vec<u8>, Vec<Tensor>)> {
        Some((Vec::new(), self.splits.iter().chain([&self.values]).cloned().collect()))
    }

    fn zeros_like(&self) -> Result<Variant> {
        Ok(Variant::new(Ragged { splits: self.splits.clone(), values: zeros_like(&self.values)? }))
    }

    fn add(&self, other: &Variant) -> Result<Variant> {
        let Some(other) = other.get::<Ragged>() else {
            bail!(InvalidArgument, "a ragged tensor and a variant of type '{}' cannot be added", other.type_name());
        };
        ensure!(
            self.values.dtype() == other.values.dtype(),
            InvalidArgument,
            "Can't add RaggedTensorVariants of different dtypes. One is {} and the other is {}",
            self.values.dtype(),
            other.values.dtype()
        );
        ensure!(
            self.splits.len() == other.splits.len(),
            InvalidArgument,
            "Can't add RaggedTensorVariants of different ragged rank. One is {} and the other is {}",
            self.splits.len(),
            other.splits.len()
        );
        for (own, other) in self.splits.iter().zip(&other.splits) {
            ensure!(
                own.dtype() == other.dtype() && own.shape() == other.shape() && own.bytes()? == other.bytes()?,
                InvalidArgument,
                "Can't add RaggedTensorVariants with different row_splits."
            );
        }
        let mut values = self.values.clone();
        add_to(&mut values, &other.values)?;
        Ok(Variant::new(Ragged { splits: self.splits.clone(), values }))
    }
}
